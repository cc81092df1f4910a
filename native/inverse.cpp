#include "inverse.hpp"

#include <algorithm>
#include <cmath>

#include "row_loops.hpp"

namespace planewise {

namespace {

constexpr std::size_t panel_width =
    4;  // columns eliminated at once: every other row is read and written a quarter as often

// Brings the pivots of `width` columns from `first` on to the diagonal, by exchanging rows, and writes down with which.
bool exchange_rows(std::vector<double> &matrix, std::size_t n, std::size_t first, std::size_t width, double least_pivot,
                   std::vector<double> &panel, std::size_t *exchanged_with) {
    for (std::size_t r = first; r < n; ++r) std::copy_n(&matrix[r * n + first], width, &panel[r * panel_width]);
    for (std::size_t p = 0; p < width; ++p) {
        const std::size_t c = first + p;
        std::size_t best = c;
        for (std::size_t r = c + 1; r < n; ++r)
            if (std::fabs(panel[r * panel_width + p]) > std::fabs(panel[best * panel_width + p])) best = r;
        exchanged_with[c] = best;
        if (best != c) {
            std::swap_ranges(&matrix[c * n], &matrix[c * n] + n, &matrix[best * n]);
            std::swap_ranges(&panel[c * panel_width], &panel[c * panel_width] + panel_width,
                             &panel[best * panel_width]);
        }
        const double *own = &panel[c * panel_width];
        if (!(std::fabs(own[p]) > least_pivot)) return false;
        for (std::size_t r = c + 1; r < n; ++r) {
            double *other = &panel[r * panel_width];
            const double by = other[p] / own[p];
            for (std::size_t q = p + 1; q < width; ++q) other[q] -= by * own[q];
        }
    }
    return true;
}

// Divides the rows of a panel by its pivots, which stand on the diagonal: Gauss-Jordan elimination among these rows.
void divide(std::vector<double> &matrix, std::size_t n, std::size_t first, std::size_t width) {
    for (std::size_t c = first; c < first + width; ++c) {
        double *own = &matrix[c * n];
        const double pivot = own[c];
        own[c] = 1;  // the column that the inverse has in this one's place
        for (std::size_t j = 0; j < n; ++j) own[j] /= pivot;
        for (std::size_t r = first; r < first + width; ++r) {
            double *other = &matrix[r * n];
            const double by = other[c];
            if (r == c || by == 0) continue;
            other[c] = 0;
            add_multiple(other, own, -by, n);
        }
    }
}

}  // namespace

bool invert(std::vector<double> &matrix, std::size_t n, double least_pivot) {
    std::vector<std::size_t> exchanged_with(n);
    std::vector<double> panel(n * panel_width);
    for (std::size_t first = 0; first < n; first += panel_width) {
        const std::size_t width = std::min(panel_width, n - first);
        if (!exchange_rows(matrix, n, first, width, least_pivot, panel, exchanged_with.data())) return false;
        divide(matrix, n, first, width);
        const double *pivot_row = &matrix[first * n];
        for (std::size_t r = 0; r < n; ++r) {
            if (r >= first && r < first + width) continue;
            double *own = &matrix[r * n], by[panel_width];
            for (std::size_t p = 0; p < width; ++p) {
                by[p] = -own[first + p];
                own[first + p] = 0;
            }
            if (width == panel_width)
                add_multiples(own, pivot_row, by[0], pivot_row + n, by[1], pivot_row + 2 * n, by[2], pivot_row + 3 * n,
                              by[3], n);
            else
                for (std::size_t p = 0; p < width; ++p) add_multiple(own, pivot_row + p * n, by[p], n);
        }
    }
    for (std::size_t c = n; c-- > 0;)  // rows exchanged in the matrix are columns exchanged in its inverse
        if (exchanged_with[c] != c)
            for (std::size_t r = 0; r < n; ++r) std::swap(matrix[r * n + c], matrix[r * n + exchanged_with[c]]);
    return true;
}

}  // namespace planewise
