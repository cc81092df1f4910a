// measure.hpp: samples, projections, bins and sums, each against the plainest way to say it.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "check.hpp"
#include "measure.hpp"
#include "tables.hpp"

using namespace planewise;
using tables::infinity;

namespace {

const std::size_t sizes[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 100, 1000};

enum class Missing { none, first, some, all };

std::vector<float> values_of(std::size_t count, Missing missing, std::uint64_t seed = 1) {
    Random random(seed, count);
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        out[i] = static_cast<float>(10 * tables::bell(random));
        if (random.below(10) == 0) out[i] = std::nearbyint(out[i]);  // ties
        const bool lost = missing == Missing::all || (missing == Missing::first && i == 0) ||
                          (missing == Missing::some && random.below(4) == 0);
        if (lost) out[i] = tables::missing;
    }
    return out;
}

const Missing with_missing[] = {Missing::none, Missing::first, Missing::some, Missing::all};

int naive_bin(float v, float low, float per_width, int bins) {
    if (v != v) return bins;
    const float at = (v - low) * per_width;
    if (!(at > 0)) return 0;
    return at >= static_cast<float>(bins - 1) ? bins - 1 : static_cast<int>(at);
}

std::vector<std::uint32_t> some_rows(std::size_t count) {
    std::vector<std::uint32_t> rows(count);
    for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(3 * i + 1);
    return rows;
}

std::vector<std::uint32_t> drawn_rows(const Sample &sample) {
    std::vector<std::uint32_t> out(sample.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = sample.row(i);
    return out;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------- Sample

TEST("a sample of a small node is all its rows in their order") {
    tables::Table table(100, 2);
    table.fill(1);
    const Matrix &matrix = table.matrix();
    Sample sample(matrix);
    const std::vector<std::uint32_t> rows{5, 3, 99, 0};
    for (std::size_t most : {4u, 5u, 1000u}) {
        sample.draw(rows.data(), rows.size(), most, 77);
        CHECK(drawn_rows(sample) == rows);
    }
}

TEST("a sample takes one row of every stratum") {
    const Matrix matrix{nullptr, 0, 0, {}, {}};
    Sample sample(matrix);
    for (std::size_t count : {2u, 17u, 100u, 1000u, 12345u})
        for (std::size_t most : {1u, 2u, 3u, 6u, 9u, 16u, 30u, 64u, 99u, 210u, 999u, 4096u}) {
            if (most >= count) continue;
            const auto rows = some_rows(count);
            sample.draw(rows.data(), count, most, 1000 * count + most);
            auto drawn = drawn_rows(sample);
            CHECK(drawn.size() == most);
            std::sort(drawn.begin(), drawn.end());
            bool one_each = true;
            for (std::size_t k = 0; k < most; ++k) {
                const std::size_t at = (drawn[k] - 1) / 3;
                one_each = one_each && (drawn[k] - 1) % 3 == 0 && at >= k * count / most && at < (k + 1) * count / most;
            }
            CHECK(one_each);
        }
}

TEST("every prefix of a sample is spread over the node") {
    const Matrix matrix{nullptr, 0, 0, {}, {}};
    Sample sample(matrix);
    for (std::size_t most : {64u, 256u, 1000u, 4096u}) {
        const std::size_t count = 10 * most;
        const auto rows = some_rows(count);
        sample.draw(rows.data(), count, most, 5);
        const auto drawn = drawn_rows(sample);
        for (std::size_t prefix = 4; prefix <= most; prefix *= 2) {
            std::vector<std::size_t> at;
            for (std::size_t i = 0; i < prefix; ++i) at.push_back((drawn[i] - 1) / 3);
            std::sort(at.begin(), at.end());
            std::size_t widest = at[0] + count - at.back();
            for (std::size_t i = 1; i < prefix; ++i) widest = std::max(widest, at[i] - at[i - 1]);
            // Three times the mean at the usual size; a step made coprime to other sizes spreads middling prefixes
            // less.
            CHECK(widest * prefix <= (most == 4096 || prefix <= 32 ? 3 : 14) * count);
        }
    }
}

TEST("other noise takes other rows, the same noise the same") {
    const Matrix matrix{nullptr, 0, 0, {}, {}};
    Sample one(matrix), other(matrix);
    const auto rows = some_rows(5000);
    one.draw(rows.data(), rows.size(), 100, 1);
    other.draw(rows.data(), rows.size(), 100, 1);
    CHECK(drawn_rows(one) == drawn_rows(other));
    other.draw(rows.data(), rows.size(), 100, 2);
    CHECK(drawn_rows(one) != drawn_rows(other));
}

TEST("columns are gathered anew for every draw") {
    tables::Table table(300, 3);
    table.fill(2);
    const Matrix &matrix = table.matrix();
    Sample sample(matrix);
    for (std::size_t count : {100u, 7u, 99u, 50u}) {
        const auto rows = some_rows(count);
        sample.draw(rows.data(), count, count, 0);
        sample.gather(tables::all_features(matrix));
        bool same = true;
        for (std::int32_t j : {2, 0}) {
            const float *column = sample.column(j);
            for (std::size_t i = 0; i < count; ++i)
                same = same && column[i] == table.at(rows[i], static_cast<std::size_t>(j));
        }
        CHECK(same);
    }
}

TEST("a projection adds weight times value, term by term in float32") {
    tables::Table table(400, 5);
    table.fill(3, 9);
    const Matrix &matrix = table.matrix();
    Sample sample(matrix);
    Directions directions;
    for (int terms = 1; terms <= 5; ++terms) {
        for (int t = 0; t < terms; ++t) directions.add_term(t, 2 * t - 3, matrix.scale[static_cast<std::size_t>(t)]);
        directions.close();
    }
    for (std::size_t count : {1u, 15u, 16u, 17u, 33u, 130u}) {
        const auto rows = some_rows(count);
        sample.draw(rows.data(), count, count, 0);
        sample.gather(tables::all_features(matrix));
        std::vector<float> got(count), wanted(count);
        for (std::size_t d = 0; d < directions.size(); ++d) {
            project(sample, directions, d, got.data());
            bool same = true;
            for (std::size_t i = 0; i < count; ++i) {
                float v = 0;
                for (std::uint32_t t = directions.begin(d); t < directions.end(d); ++t) {
                    const float part =
                        directions.weight[t] * table.at(rows[i], static_cast<std::size_t>(directions.feature[t]));
                    v = t == directions.begin(d) ? part : v + part;
                }
                same = same && (v == got[i] || (v != v && got[i] != got[i]));
            }
            CHECK(same);
        }
    }
}

// ---------------------------------------------------------------------------------------------------- values

TEST("the range is that of the values that are there") {
    for (std::size_t count : sizes)
        for (Missing missing : with_missing) {
            const auto values = values_of(count, missing);
            float low = infinity, high = -infinity;
            std::size_t lost = 0;
            for (float v : values) {
                if (v != v) {
                    ++lost;
                    continue;
                }
                low = std::min(low, v), high = std::max(high, v);
            }
            const Range range = range_of(values.data(), count, true);
            CHECK(range.low == low && range.high == high && range.missing == lost);
            if (missing != Missing::none) continue;
            const Range quick = range_of(values.data(), count, false);
            CHECK(quick.low == low && quick.high == high && quick.missing == 0);
        }
}

TEST("a range is that of the finite values, beside infinities") {
    const std::vector<float> values = {3, -infinity, 1, infinity, std::nanf(""), 2};
    const Range range = range_of(values.data(), values.size(), true, true);
    CHECK(range.low == 1 && range.high == 3 && range.missing == 1 && range.below && range.above);
    const Range none = range_of(values.data() + 3, 2, true, true);
    CHECK(none.low == 0 && none.high == 0 && none.missing == 1 && !none.below && none.above);
}

TEST("the extremes are found wherever they are") {
    for (std::size_t count : {1u, 15u, 16u, 17u, 31u, 32u, 33u, 65u}) {
        bool found = true;
        for (std::size_t at = 0; at < count; ++at) {
            std::vector<float> values(count, 1.0f);
            values[at] = -7;
            found = found && range_of(values.data(), count, false).low == -7;
            values[at] = 7;
            found = found && range_of(values.data(), count, false).high == 7;
        }
        CHECK(found);
    }
}

TEST("bins of one width are counted from the low end, none outside") {
    for (std::size_t count : sizes)
        for (Missing missing : with_missing)
            for (int bins : {2, 3, 16, 255})
                for (float low : {-20.0f, 0.0f, 3.5f})
                    for (float per_width : {0.01f, 1.0f, 300.0f}) {
                        const auto values = values_of(count, missing);
                        std::vector<std::uint8_t> got(count, 99), quick(count, 99);
                        assign_bins(values.data(), count, low, per_width, bins, true, got.data());
                        bool same = true;
                        for (std::size_t i = 0; i < count; ++i)
                            same = same && got[i] == naive_bin(values[i], low, per_width, bins);
                        CHECK(same);
                        if (missing != Missing::none) continue;
                        assign_bins(values.data(), count, low, per_width, bins, false, quick.data());
                        CHECK(quick == got);
                    }
}

TEST("values far outside the bins go to the end bins, however far") {
    const std::vector<float> values{-3e38f, -1e20f, -1.0f, 0.0f,      1e-30f,  1.0f,
                                    1e10f,  1e20f,  3e38f, -infinity, infinity};
    for (float per_width : {1e-38f, 1.0f, 1e10f, 3e38f, infinity})
        for (bool may_miss : {false, true})
            for (int bins : {2, 16, 255}) {
                std::vector<std::uint8_t> bin(values.size(), 99);
                assign_bins(values.data(), values.size(), 0.0f, per_width, bins, may_miss, bin.data());
                bool same = true;
                for (std::size_t i = 0; i < values.size(); ++i)
                    same = same && bin[i] == naive_bin(values[i], 0.0f, per_width, bins);
                CHECK(same);
            }
}

TEST("a value that became NaN where none was expected still gets a bin") {
    const std::vector<float> values(40, tables::missing);
    std::vector<std::uint8_t> bin(values.size(), 99);
    assign_bins(values.data(), values.size(), 0.0f, 1.0f, 16, false, bin.data());
    CHECK(std::all_of(bin.begin(), bin.end(), [](int b) { return b < 16; }));
}

TEST("bins by edges count the edges not above a value") {
    for (std::size_t count : sizes)
        for (Missing missing : with_missing)
            for (int bins : {2, 3, 16, 255}) {
                const auto values = values_of(count, missing);
                auto edges = values_of(static_cast<std::size_t>(bins) - 1, Missing::none, 2);
                std::sort(edges.begin(), edges.end());
                if (bins > 3) edges[1] = edges[2];  // equal edges happen
                std::vector<std::uint8_t> got(count, 99);
                assign_bins(values.data(), count, edges.data(), bins, true, got.data());
                bool same = true;
                for (std::size_t i = 0; i < count; ++i) {
                    const auto wanted = values[i] != values[i]
                                            ? bins
                                            : std::upper_bound(edges.begin(), edges.end(), values[i]) - edges.begin();
                    same = same && got[i] == wanted;
                }
                CHECK(same);
            }
}

TEST("the gap at an edge lies between the bins on both sides of it") {
    for (std::size_t count : sizes)
        for (Missing missing : with_missing)
            for (int bins : {2, 16, 255}) {
                const auto values = values_of(count, missing);
                std::vector<std::uint8_t> bin(count);
                assign_bins(values.data(), count, -20.0f, static_cast<float>(bins) / 40, bins, true, bin.data());
                for (int edge : {1, bins / 2, bins - 1}) {
                    float below = -infinity, above = infinity;
                    for (std::size_t i = 0; i < count; ++i) {
                        if (values[i] != values[i]) continue;
                        if (bin[i] < edge)
                            below = std::max(below, values[i]);
                        else
                            above = std::min(above, values[i]);
                    }
                    const Gap gap = gap_at(values.data(), bin.data(), count, edge, bins);
                    CHECK(gap.below == below && gap.above == above);
                }
            }
}

TEST("a value on the threshold is on the right, a missing one where it was told to go") {
    for (std::size_t count : sizes)
        for (Missing missing : with_missing)
            for (bool missing_right : {false, true})
                for (float threshold : {-infinity, -3.0f, 0.0f, 1e30f}) {
                    auto values = values_of(count, missing);
                    if (count > 3) values[1] = threshold, values[2] = infinity, values[3] = -infinity;
                    std::vector<std::uint8_t> code(count), wanted(count);
                    for (std::size_t i = 0; i < count; ++i) {
                        code[i] = wanted[i] = static_cast<std::uint8_t>(i % 8);
                        const bool right = values[i] != values[i] ? missing_right : values[i] >= threshold;
                        if (right) wanted[i] = static_cast<std::uint8_t>(wanted[i] | 0x80);
                    }
                    mark_right(values.data(), count, threshold, missing_right, 0x80, code.data());
                    CHECK(code == wanted);
                }
}

// ---------------------------------------------------------------------------------------------------- sums

TEST("a row's place is its cell's offset plus its bin, up to 256 cells of 256 places") {
    for (std::size_t count : sizes) {
        Random random(count, 3);
        std::vector<std::uint16_t> offset(count), slot(count, 0), wanted(count);
        std::vector<std::uint8_t> bin(count);
        for (std::size_t i = 0; i < count; ++i) {
            offset[i] = static_cast<std::uint16_t>(256 * (i == 0 ? 255 : random.below(256)));
            bin[i] = static_cast<std::uint8_t>(i == 0 ? 255 : random.below(256));
            wanted[i] = static_cast<std::uint16_t>(offset[i] + bin[i]);
        }
        place_rows(offset.data(), bin.data(), count, slot.data());
        CHECK(slot == wanted);
    }
}

TEST("sums of gradients by slot are exact") {
    // 8192 rows are too many for the packed form.
    for (std::size_t count : {0u, 1u, 2u, 15u, 16u, 17u, 33u, 1000u, 5001u, 8191u, 8192u})
        for (std::size_t slots : {1u, 2u, 17u, 160u, 161u, 65536u}) {
            Random random(count, slots);
            std::vector<double> g(count), h(count);
            for (std::size_t i = 0; i < count; ++i) g[i] = tables::bell(random), h[i] = random.uniform();
            Gradients statistics(0.0, 1.0);
            statistics.assign(g.data(), h.data(), count);
            std::vector<std::uint16_t> slot(count);
            for (auto &s : slot) s = static_cast<std::uint16_t>(random.below(static_cast<std::uint32_t>(slots)));
            if (count > 0) slot[0] = static_cast<std::uint16_t>(slots - 1);
            std::vector<std::int64_t> got(4 * slots, 5), wanted(4 * slots, 5);  // added to what is there
            Adder<Gradients> adder;
            adder.open(statistics.data(), count);
            adder.add(statistics, slot.data(), slots, got.data());
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t c = 0; c < 3; ++c) wanted[4 * slot[i] + c] += statistics.data()[i].part[c];
            for (std::size_t s = 0; s < slots; ++s) wanted[4 * s + 3] = got[4 * s + 3];  // nobody needs the last
            CHECK(got == wanted);
        }
}

TEST("sums of class counts by slot are exact") {
    for (std::size_t count : {0u, 1u, 2u, 15u, 16u, 17u, 33u, 1000u})
        for (std::size_t classes : {1u, 2u, 3u, 11u})
            for (std::size_t slots : {1u, 17u, 1000u}) {
                Random random(count, slots);
                std::vector<std::int32_t> label(count);
                std::vector<double> weight(count);
                for (std::size_t i = 0; i < count; ++i) {
                    label[i] = static_cast<std::int32_t>(random.below(static_cast<std::uint32_t>(classes)));
                    weight[i] = random.uniform();
                }
                ClassCounts statistics(classes, Criterion::entropy);
                statistics.assign(label.data(), weight.data(), count);
                std::vector<std::uint16_t> slot(count);
                for (auto &s : slot) s = static_cast<std::uint16_t>(random.below(static_cast<std::uint32_t>(slots)));
                const std::size_t width = statistics.channels();
                std::vector<std::int64_t> got(width * slots, 5), wanted(width * slots, 5);
                Adder<ClassCounts> adder;
                adder.open(statistics.data(), count);
                adder.add(statistics, slot.data(), slots, got.data());
                for (std::size_t i = 0; i < count; ++i) {
                    wanted[width * slot[i] + static_cast<std::size_t>(label[i])] += statistics.data()[i].weight;
                    wanted[width * slot[i] + classes] += 1;
                }
                CHECK(got == wanted);
            }
}
