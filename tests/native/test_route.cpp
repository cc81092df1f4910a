// route.hpp: codes of rows, and cells that are too small.
#include <algorithm>

#include "check.hpp"
#include "route.hpp"
#include "tables.hpp"

using namespace planewise;

namespace {

NodePlanes random_planes(const Matrix &matrix, std::size_t planes, std::size_t terms, Random &random) {
    NodePlanes out;
    for (std::size_t k = 0; k < planes; ++k) {
        for (std::size_t t = 0; t < terms; ++t)
            out.directions.add_term(static_cast<std::int32_t>((k + t) % matrix.columns),
                                    static_cast<std::int32_t>(random.below(11)) - 5,
                                    matrix.scale[(k + t) % matrix.columns]);
        out.directions.close();
        out.set.emplace_back();
        out.threshold.push_back(static_cast<float>(tables::bell(random)));
        out.missing_right.push_back(static_cast<std::uint8_t>(random.below(2)));
        out.gain.push_back(1);
    }
    return out;
}

std::uint8_t naive_code(const tables::Table &table, const NodePlanes &planes, std::uint32_t row) {
    unsigned code = 0;
    for (std::size_t k = 0; k < planes.size(); ++k) {
        float v = 0;
        for (std::uint32_t t = planes.directions.begin(k); t < planes.directions.end(k); ++t) {
            const float part =
                planes.directions.weight[t] * table.at(row, static_cast<std::size_t>(planes.directions.feature[t]));
            v = t == planes.directions.begin(k) ? part : v + part;
        }
        const bool right = v != v ? planes.missing_right[k] != 0 : v >= planes.threshold[k];
        code |= static_cast<unsigned>(right) << k;
    }
    return static_cast<std::uint8_t>(code);
}

int bits(int code) {
    int count = 0;
    for (; code; code &= code - 1) ++count;
    return count;
}

}  // namespace

TEST("codes agree with one comparison a plane, for any number of terms and planes") {
    tables::Table table(3000, 7);
    table.fill(1, 25);
    const Matrix &matrix = table.matrix();
    Random random(1, 2);
    for (std::size_t terms = 1; terms <= 5; ++terms)
        for (std::size_t planes : {1u, 2u, 3u, 8u})
            for (std::size_t count : {0u, 1u, 511u, 512u, 513u, 2000u}) {
                const NodePlanes node = random_planes(matrix, planes, terms, random);
                std::vector<std::uint32_t> rows(count);
                for (auto &row : rows) row = random.below(3000);
                std::vector<std::uint8_t> code(count, 0xFF), wanted(count);
                compute_codes(matrix, node, rows.data(), count, code.data());
                for (std::size_t i = 0; i < count; ++i) wanted[i] = naive_code(table, node, rows[i]);
                CHECK(code == wanted);
            }
}

TEST("large enough cells stay as they are") {
    CHECK(merge_small_cells({5, 6, 0, 7}, 5) == std::vector<int>({0, 1, -1, 3}));
    CHECK(merge_small_cells({1, 1}, 1) == std::vector<int>({0, 1}));
    CHECK(merge_small_cells({0, 0}, 1) == std::vector<int>({-1, -1}));
    CHECK(merge_small_cells({9}, 1) == std::vector<int>({0}));
}

TEST("a small cell joins the filled one nearest in Hamming distance") {
    // 0b11 has one row; 0b00 is two planes away, 0b01 one.
    CHECK(merge_small_cells({9, 9, 0, 1}, 2) == std::vector<int>({0, 1, -1, 1}));
    // 0b01 and 0b10 are equally near to 0b11: the one across the latest plane, 0b01, takes it.
    CHECK(merge_small_cells({9, 9, 9, 1}, 2) == std::vector<int>({0, 1, 2, 1}));
    // Nothing but the far corner is filled.
    CHECK(merge_small_cells({9, 0, 0, 1}, 2) == std::vector<int>({0, -1, -1, 0}));
}

TEST("the smallest cell is joined first, and joined cells grow") {
    // 0b11 (1 row) joins 0b01 (2 rows): three are enough.
    CHECK(merge_small_cells({9, 2, 9, 1}, 3) == std::vector<int>({0, 1, 2, 1}));
    // 0b01 and 0b11 together are still too few and go on to 0b00.
    CHECK(merge_small_cells({9, 2, 9, 1}, 4) == std::vector<int>({0, 0, 2, 0}));
    // A single small cell has nowhere to go.
    CHECK(merge_small_cells({0, 1, 0, 0}, 5) == std::vector<int>({-1, 1, -1, -1}));
}

TEST("after merging every cell is large enough or alone, no row is lost, and the smallest went to the nearest") {
    Random random(1, 3);
    for (int turn = 0; turn < 300; ++turn) {
        const std::size_t codes = std::size_t{1} << (1 + random.below(turn < 20 ? 8 : 5));
        std::vector<std::int64_t> rows(codes);
        for (auto &n : rows) n = random.below(3) == 0 ? 0 : random.below(12);
        const auto least = static_cast<std::int64_t>(1 + random.below(15));
        const std::vector<int> joined = merge_small_cells(rows, least);
        std::vector<std::int64_t> merged(codes, 0);
        bool closed = true, empty_marked = true, large_stay = true, first_is_nearest = true;
        std::size_t smallest = codes;  // the one that is joined first
        for (std::size_t c = 0; c < codes; ++c)
            if (rows[c] > 0 && rows[c] < least && (smallest == codes || rows[c] < rows[smallest])) smallest = c;
        for (std::size_t c = 0; c < codes; ++c) {
            empty_marked = empty_marked && (joined[c] < 0) == (rows[c] == 0);
            if (joined[c] < 0) continue;
            closed = closed && joined[static_cast<std::size_t>(joined[c])] == joined[c];
            merged[static_cast<std::size_t>(joined[c])] += rows[c];
            large_stay = large_stay && (rows[c] < least || joined[c] == static_cast<int>(c));
            // A cell that is large enough and nearer than all others must be where the smallest one went.
            if (smallest == codes || c == smallest || rows[c] < least) continue;
            bool is_nearest = true;
            for (std::size_t other = 0; other < codes; ++other)
                if (other != c && other != smallest && rows[other] > 0)
                    is_nearest =
                        is_nearest && bits(static_cast<int>(c ^ smallest)) < bits(static_cast<int>(other ^ smallest));
            if (is_nearest) first_is_nearest = first_is_nearest && joined[smallest] == static_cast<int>(c);
        }
        CHECK(closed && empty_marked && large_stay && first_is_nearest);
        const auto filled = std::count_if(merged.begin(), merged.end(), [](std::int64_t n) { return n > 0; });
        const bool large =
            std::all_of(merged.begin(), merged.end(), [&](std::int64_t n) { return n == 0 || n >= least; });
        CHECK(large || filled == 1);
    }
}
