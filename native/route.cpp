#include "route.hpp"

#include <algorithm>

#include "categories.hpp"
#include "plane.hpp"

namespace planewise {

namespace {

int bits(unsigned code) {
    int count = 0;
    for (; code; code &= code - 1) ++count;
    return count;
}

// One bit of the code. The common short planes get loops of their own.
template <int terms>
void mark(const Matrix &matrix, const std::int32_t *feature, const float *weight, std::size_t more, float threshold,
          unsigned missing_right, unsigned bit, const std::uint32_t *rows, std::size_t count, std::uint8_t *code) {
    for (std::size_t i = 0; i < count; ++i) {
        const float sum = plane_sum<terms>(feature, weight, more, matrix.row(rows[i]));
        code[i] = static_cast<std::uint8_t>(code[i] | side_of(sum, threshold, missing_right) << bit);
    }
}

// The same where every term is a two-valued column: the answers to all its cases are known beforehand, and the bits of
// a row lie closer together than its values.
class BitMarker {
  public:
    static constexpr std::size_t most = 6;

    // Whether the plane is such a one.
    bool read(const TwoValued &two_valued, const std::int32_t *feature, const float *weight, std::size_t terms,
              float threshold) {
        if (two_valued.words == 0 || terms > most) return false;
        for (std::size_t t = 0; t < terms; ++t) {
            if (!two_valued.has(static_cast<std::size_t>(feature[t]))) return false;
            bit_[t] = static_cast<std::size_t>(two_valued.bit[static_cast<std::size_t>(feature[t])]);
        }
        right_ = 0;
        for (std::size_t which = 0; which < std::size_t{1} << terms; ++which) {
            float x[most] = {};
            for (std::size_t t = 0; t < terms; ++t)
                x[t] = (which >> t & 1 ? two_valued.set : two_valued.clear)[bit_[t]];
            constexpr std::int32_t places[most] = {0, 1, 2, 3, 4, 5};
            right_ |= static_cast<std::uint64_t>(side_of(plane_sum<1>(places, weight, terms - 1, x), threshold, 0))
                      << which;
        }
        terms_ = terms;
        return true;
    }
    void mark(const TwoValued &two_valued, unsigned bit, const std::uint32_t *rows, std::size_t count,
              std::uint8_t *code) const {
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t *words = two_valued.row(rows[i]);
            std::uint64_t which = 0;
            for (std::size_t t = 0; t < terms_; ++t) which |= (words[bit_[t] / 64] >> bit_[t] % 64 & 1) << t;
            code[i] = static_cast<std::uint8_t>(code[i] | (right_ >> which & 1) << bit);
        }
    }

  private:
    std::size_t bit_[most] = {}, terms_ = 0;
    std::uint64_t right_ = 0;  // by case: whether it goes right
};

void mark_members(const Matrix &matrix, const CategorySet &set, std::int32_t feature, float weight, float threshold,
                  unsigned missing_right, unsigned bit, const std::uint32_t *rows, std::size_t count,
                  std::uint8_t *code) {
    for (std::size_t i = 0; i < count; ++i) {
        const float sum = weight * set.read(matrix.row(rows[i])[feature]);
        code[i] = static_cast<std::uint8_t>(code[i] | side_of(sum, threshold, missing_right) << bit);
    }
}

}  // namespace

void compute_codes(const Matrix &matrix, const NodePlanes &planes, const std::uint32_t *rows, std::size_t count,
                   std::uint8_t *code) {
    std::fill(code, code + count, std::uint8_t{0});
    std::vector<CategorySet> sets;
    for (const auto &set : planes.set) sets.emplace_back(set.data(), set.size());
    std::vector<BitMarker> bit_planes(planes.size());
    std::vector<char> is_bits(planes.size(), 0);
    for (std::size_t k = 0; k < planes.size(); ++k) {
        const std::uint32_t first = planes.directions.begin(k);
        is_bits[k] = planes.set[k].empty() && bit_planes[k].read(matrix.two_valued, &planes.directions.feature[first],
                                                                 &planes.directions.weight[first],
                                                                 planes.directions.terms(k), planes.threshold[k]);
    }
    // Blocks whose rows stay in the cache from one plane to the next.
    constexpr std::size_t block = 256;
    for (std::size_t begin = 0; begin < count; begin += block) {
        const std::size_t here = std::min(block, count - begin);
        for (std::size_t k = 0; k < planes.size(); ++k) {
            const std::uint32_t first = planes.directions.begin(k);
            const std::size_t terms = planes.directions.terms(k);
            if (is_bits[k]) {
                bit_planes[k].mark(matrix.two_valued, static_cast<unsigned>(k), rows + begin, here, code + begin);
                continue;
            }
            if (!planes.set[k].empty()) {
                mark_members(matrix, sets[k], planes.directions.feature[first], planes.directions.weight[first],
                             planes.threshold[k], planes.missing_right[k] != 0, static_cast<unsigned>(k), rows + begin,
                             here, code + begin);
                continue;
            }
            const auto run = terms == 1 ? mark<1> : terms == 2 ? mark<2> : mark<3>;
            run(matrix, &planes.directions.feature[first], &planes.directions.weight[first], terms > 3 ? terms - 3 : 0,
                planes.threshold[k], planes.missing_right[k] != 0, static_cast<unsigned>(k), rows + begin, here,
                code + begin);
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
