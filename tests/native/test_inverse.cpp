// inverse.hpp.
#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "inverse.hpp"

using namespace planewise;

namespace {

// Entries between -1 and 1; the diagonal is small, so that rows have to be exchanged.
std::vector<double> some_matrix(std::size_t n) {
    std::vector<double> out(n * n);
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c < n; ++c)
            out[r * n + c] = (r == c ? 1e-9 : 1.0) * std::sin(static_cast<double>(1 + 7 * r * r + 13 * c + r * c));
    return out;
}

double farthest_from_identity(const std::vector<double> &a, const std::vector<double> &b, std::size_t n) {
    double farthest = 0;
    for (std::size_t r = 0; r < n; ++r)
        for (std::size_t c = 0; c < n; ++c) {
            double sum = r == c ? -1 : 0;
            for (std::size_t k = 0; k < n; ++k) sum += a[r * n + k] * b[k * n + c];
            farthest = std::max(farthest, std::fabs(sum));
        }
    return farthest;
}

TEST("the product with the inverse is the identity") {
    for (const std::size_t n : {1, 2, 3, 4, 5, 7, 8, 9, 30}) {
        const std::vector<double> matrix = some_matrix(n);
        std::vector<double> inverse = matrix;
        CHECK(invert(inverse, n, 1e-13));
        CHECK(farthest_from_identity(matrix, inverse, n) < 1e-9);
        CHECK(farthest_from_identity(inverse, matrix, n) < 1e-9);
    }
}

TEST("a matrix with equal rows has no inverse") {
    for (const std::size_t n : {2, 5, 9}) {
        std::vector<double> matrix = some_matrix(n);
        std::copy_n(matrix.begin(), n, matrix.end() - static_cast<std::ptrdiff_t>(n));
        CHECK(!invert(matrix, n, 1e-13));
    }
}

}  // namespace
