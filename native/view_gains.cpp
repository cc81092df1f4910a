#include "view_gains.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace planewise {

namespace {

// A grid along the diagonals: quantiles of the normal distribution.
constexpr std::array<float, 7> edges{-1.1503494f, -0.67448975f, -0.31863936f, 0.0f,
                                     0.31863936f, 0.67448975f,  1.1503494f};
constexpr std::size_t along = edges.size() + 1;

std::size_t cell_along(float x) {
    std::size_t cell = 0;
    for (const float edge : edges) cell += x > edge;
    return cell;
}

// Sums of derivatives in the cells of a grid with rows and columns.
class Cells {
  public:
    void resize(std::size_t high, std::size_t wide) {
        high_ = high, wide_ = wide;
        gradient_.assign(high * wide, 0.0), hessian_.assign(high * wide, 0.0);
    }
    std::size_t high() const { return high_; }
    std::size_t wide() const { return wide_; }
    void add(std::size_t cell, double gradient, double hessian) {
        gradient_[cell] += gradient, hessian_[cell] += hessian;
    }
    // Cells put together by the places of their rows and columns.
    void merge(const Cells &from, const std::vector<std::size_t> &row, const std::vector<std::size_t> &column) {
        resize(*std::max_element(row.begin(), row.end()) + 1, *std::max_element(column.begin(), column.end()) + 1);
        for (std::size_t r = 0; r < from.high_; ++r)
            for (std::size_t c = 0; c < from.wide_; ++c)
                add(row[r] * wide_ + column[c], from.gradient_[r * from.wide_ + c], from.hessian_[r * from.wide_ + c]);
    }
    // A constant for every cell.
    double gain(double lambda, double noise) const {
        double found = 0, filled = -1;
        for (std::size_t k = 0; k < gradient_.size(); ++k) {
            if (!(hessian_[k] > 0)) continue;
            found += gradient_[k] * gradient_[k] / (hessian_[k] + lambda);
            filled += 1;
        }
        return found - filled * noise;
    }
    // A step for every row, then one for every column: what two single columns explain together.
    double gain_of_sums(double lambda, double noise) const {
        std::vector<double> g(wide_, 0.0), h(wide_, 0.0);
        double found = 0, filled = -2;
        for (std::size_t r = 0; r < high_; ++r) {
            double of_row = 0, weight = 0;
            for (std::size_t c = 0; c < wide_; ++c)
                of_row += gradient_[r * wide_ + c], weight += hessian_[r * wide_ + c];
            const double step = of_row / (weight + lambda);
            found += of_row * step;
            filled += weight > 0;
            for (std::size_t c = 0; c < wide_; ++c) {
                g[c] += gradient_[r * wide_ + c] - step * hessian_[r * wide_ + c];
                h[c] += hessian_[r * wide_ + c];
            }
        }
        for (std::size_t c = 0; c < wide_; ++c) {
            found += g[c] * g[c] / (h[c] + lambda);
            filled += h[c] > 0;
        }
        return found - filled * noise;
    }

  private:
    std::size_t high_ = 0, wide_ = 0;
    std::vector<double> gradient_, hessian_;
};

// Where bins go when neighbours are put together in twos; the last one stays alone if it holds the missing values.
std::vector<std::size_t> in_twos(std::size_t bins, bool last_apart) {
    std::vector<std::size_t> place(bins);
    for (std::size_t b = 0; b < bins; ++b) place[b] = b / 2;
    if (last_apart && bins > 1) place[bins - 1] = place[bins - 2] + 1;
    return place;
}

std::vector<std::size_t> all_in_one(std::size_t bins) { return std::vector<std::size_t>(bins, 0); }

std::vector<std::size_t> as_they_are(std::size_t bins) {
    std::vector<std::size_t> place(bins);
    for (std::size_t b = 0; b < bins; ++b) place[b] = b;
    return place;
}

// The cell of each row in a view, and what the cells gain.
class Grid {
  public:
    Grid(const BinnedColumns &table, const Derivatives &left)
        : table_(table), left_(left), cell_(table.rows), cells_(left.outputs), merged_(left.outputs) {}

    double gain(const View &view) {
        const auto a = static_cast<std::size_t>(view.first), b = static_cast<std::size_t>(view.second);
        put_in_bins(a, b);
        const double each = total(cells_, &Cells::gain);
        if (a == b) return each;
        double found = std::max(each, total(cells_, &Cells::gain_of_sums));
        const auto coarse = [&](std::size_t j) {
            const auto bins = static_cast<std::size_t>(table_.bins[j]);
            return table_.numeric[j] ? in_twos(bins, table_.has_missing[j] != 0) : as_they_are(bins);
        };
        found = std::max(found, merged(coarse(a), coarse(b)));
        if (!table_.numeric[a] || !table_.numeric[b]) return found;
        put_along_diagonals(a, b);
        const auto every = as_they_are(along + 1), twos = in_twos(along + 1, true), one = all_in_one(along + 1);
        found = std::max(found, total(cells_, &Cells::gain));
        for (const auto &[rows, columns] : {std::pair(twos, twos), std::pair(every, one), std::pair(one, every)})
            found = std::max(found, merged(rows, columns));
        return found;
    }

  private:
    void put_in_bins(std::size_t a, std::size_t b) {
        const std::uint8_t *x = table_.bin + a * table_.rows, *y = table_.bin + b * table_.rows;
        const auto high = static_cast<std::size_t>(table_.bins[a]);
        const std::size_t wide = a == b ? 1 : static_cast<std::size_t>(table_.bins[b]);
        for (std::size_t i = 0; i < table_.rows; ++i)
            cell_[i] = static_cast<std::uint16_t>(a == b ? x[i] : x[i] * wide + y[i]);
        add_up(high, wide);
    }

    // Sums of the two scores go along one side of the grid, differences along the other; missing values to a corner.
    void put_along_diagonals(std::size_t a, std::size_t b) {
        const float *x = table_.place + a * table_.rows, *y = table_.place + b * table_.rows;
        double product = 0, squares = 0;
        for (std::size_t i = 0; i < table_.rows; ++i) {
            if (!(x[i] == x[i] && y[i] == y[i])) continue;
            const double u = x[i], v = y[i];
            product += table_.weight[i] * u * v;
            squares += table_.weight[i] * (u * u + v * v) / 2;
        }
        // In few digits: rows given twice or with a weight of two must not differ by how their sums are rounded.
        const double together = squares > 0 ? std::nearbyint(1000 * product / squares) / 1000 : 0;
        const auto sum = static_cast<float>(1 / std::sqrt(2 * std::max(1 + together, 1e-3))),
                   difference = static_cast<float>(1 / std::sqrt(2 * std::max(1 - together, 1e-3)));
        constexpr std::size_t wide = along + 1, corner = wide * wide - 1;
        for (std::size_t i = 0; i < table_.rows; ++i) {
            const bool known = x[i] == x[i] && y[i] == y[i];
            cell_[i] = static_cast<std::uint16_t>(
                known ? cell_along((x[i] + y[i]) * sum) * wide + cell_along((x[i] - y[i]) * difference) : corner);
        }
        add_up(wide, wide);
    }

    void add_up(std::size_t high, std::size_t wide) {
        for (std::size_t k = 0; k < left_.outputs; ++k) {
            cells_[k].resize(high, wide);
            const double *gradient = left_.gradient + k * table_.rows, *hessian = left_.hessian + k * table_.rows;
            for (std::size_t i = 0; i < table_.rows; ++i) cells_[k].add(cell_[i], gradient[i], hessian[i]);
        }
    }

    double merged(const std::vector<std::size_t> &row, const std::vector<std::size_t> &column) {
        for (std::size_t k = 0; k < left_.outputs; ++k) merged_[k].merge(cells_[k], row, column);
        return total(merged_, &Cells::gain);
    }

    double total(const std::vector<Cells> &cells, double (Cells::*of_cells)(double, double) const) const {
        double sum = 0;
        for (std::size_t k = 0; k < left_.outputs; ++k) sum += (cells[k].*of_cells)(left_.lambda, left_.noise[k]);
        return sum;
    }

    const BinnedColumns &table_;
    const Derivatives &left_;
    std::vector<std::uint16_t> cell_;
    std::vector<Cells> cells_, merged_;  // by output
};

}  // namespace

std::vector<double> view_gains(const BinnedColumns &table, const Derivatives &left, const std::vector<View> &views,
                               Threads &threads) {
    std::vector<double> gains(views.size());
    constexpr std::size_t together = 16;  // share one grid
    const std::size_t pieces = (views.size() + together - 1) / together;
    threads.each(pieces, views.size() * table.rows * left.outputs, [&](std::size_t piece, int) {
        Grid grid(table, left);
        const std::size_t last = std::min(views.size(), (piece + 1) * together);
        for (std::size_t v = piece * together; v < last; ++v) gains[v] = grid.gain(views[v]);
    });
    return gains;
}

}  // namespace planewise
