#include "route.hpp"

#include <algorithm>

#include "measure.hpp"

namespace planewise {

namespace {

int bits(unsigned code) {
    int count = 0;
    for (; code; code &= code - 1) ++count;
    return count;
}

// The common short planes get loops of their own: the columns' pointers stay in registers.
template <int terms>
void gather(const float *const *column, const float *weight, const std::uint32_t *rows, std::size_t count,
            float *values) {
    const float *first = column[0], *second = terms > 1 ? column[1] : nullptr, *third = terms > 2 ? column[2] : nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t row = rows[i];
        float v = weight[0] * first[row];
        if (terms > 1) v += weight[1] * second[row];
        if (terms > 2) v += weight[2] * third[row];
        values[i] = v;
    }
}

}  // namespace

void compute_codes(const Matrix &matrix, const NodePlanes &planes, const std::uint32_t *rows, std::size_t count,
                   std::uint8_t *code) {
    std::fill(code, code + count, std::uint8_t{0});
    std::vector<const float *> column;
    for (std::size_t k = 0; k < planes.size(); ++k) {
        const std::uint32_t first = planes.directions.begin(k);
        const std::size_t terms = planes.directions.terms(k);
        column.clear();
        for (std::size_t t = 0; t < terms; ++t)
            column.push_back(matrix.column(static_cast<std::size_t>(planes.directions.feature[first + t])));
        const float *weight = &planes.directions.weight[first];
        constexpr std::size_t block = 512;
        float values[block];
        for (std::size_t begin = 0; begin < count; begin += block) {
            const std::size_t here = std::min(block, count - begin);
            const std::uint32_t *from = rows + begin;
            if (terms == 1) {
                gather<1>(column.data(), weight, from, here, values);
            } else if (terms == 2) {
                gather<2>(column.data(), weight, from, here, values);
            } else {
                gather<3>(column.data(), weight, from, here, values);
                for (std::size_t t = 3; t < terms; ++t)
                    for (std::size_t i = 0; i < here; ++i) values[i] += weight[t] * column[t][from[i]];
            }
            mark_right(values, here, planes.threshold[k], planes.missing_right[k] != 0,
                       static_cast<std::uint8_t>(1u << k), code + begin);
        }
    }
}

std::vector<int> merge_small_cells(const std::vector<std::int64_t> &rows_in, std::int64_t least) {
    const int cells = static_cast<int>(rows_in.size());
    std::vector<int> joined(rows_in.size(), -1);
    std::vector<std::int64_t> rows = rows_in;
    for (int c = 0; c < cells; ++c)
        if (rows[static_cast<std::size_t>(c)] > 0) joined[static_cast<std::size_t>(c)] = c;
    for (;;) {
        int smallest = -1, living = 0;
        for (int c = 0; c < cells; ++c) {
            const std::int64_t here = rows[static_cast<std::size_t>(c)];
            if (here == 0) continue;
            ++living;
            if (here < least && (smallest < 0 || here < rows[static_cast<std::size_t>(smallest)])) smallest = c;
        }
        if (smallest < 0 || living < 2) return joined;
        int nearest = -1;
        for (int c = 0; c < cells; ++c) {
            if (c == smallest || rows[static_cast<std::size_t>(c)] == 0) continue;
            const auto apart = static_cast<unsigned>(c ^ smallest), best = static_cast<unsigned>(nearest ^ smallest);
            if (nearest < 0 || bits(apart) < bits(best) || (bits(apart) == bits(best) && apart > best)) nearest = c;
        }
        rows[static_cast<std::size_t>(nearest)] += rows[static_cast<std::size_t>(smallest)];
        rows[static_cast<std::size_t>(smallest)] = 0;
        for (int &to : joined)
            if (to == smallest) to = nearest;
    }
}

}  // namespace planewise
