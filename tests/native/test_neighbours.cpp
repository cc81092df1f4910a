// neighbours.hpp and point_layout.hpp: what is found equals looking at every row, and how points lie.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "neighbours.hpp"
#include "point_layout.hpp"
#include "random.hpp"

using namespace planewise;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float missing = std::numeric_limits<float>::quiet_NaN();

struct Table {
    std::size_t rows, columns;
    std::vector<float> value, categorical;
    std::vector<std::int32_t> label;

    Points points() const { return {value.data(), rows, columns, categorical.empty() ? nullptr : categorical.data()}; }
};

// Columns of all kinds in turn: continuous, with few values, mostly zero, with an outlier, with gaps, constant.
Table mixed(std::size_t rows, std::size_t columns, int labels) {
    Table table{rows, columns, std::vector<float>(rows * columns), {}, {}};
    Random random(7, rows);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            float x = static_cast<float>(random.uniform());
            if (j % 6 == 1) x = std::floor(5 * x);
            if (j % 6 == 2 && random.uniform() < 0.8) x = random.uniform() < 0.5 ? 0.0f : -0.0f;
            if (j % 6 == 3 && i == rows / 2) x = 1e9f;
            if (j % 6 == 4 && random.uniform() < 0.1) x = missing;
            if (j % 6 == 5) x = 2.5f;
            table.value[i * columns + j] = x;
        }
        table.label.push_back(static_cast<std::int32_t>(random.uniform() * labels));
    }
    return table;
}

// Every view of up to three columns.
Views all_views(std::size_t columns) {
    Views views{{0}, {}};
    const auto add = [&](std::vector<std::size_t> view) {
        for (const std::size_t j : view) views.column.push_back(static_cast<std::int32_t>(j));
        views.start.push_back(views.column.size());
    };
    for (std::size_t a = 0; a < columns; ++a) {
        add({a});
        for (std::size_t b = a + 1; b < columns; ++b) {
            add({a, b});
            for (std::size_t c = b + 1; c < columns; ++c) add({a, b, c});
        }
    }
    return views;
}

// By the rule in neighbours.hpp; NaN where a value is missing.
float distance(const Table &table, const Views &views, std::size_t v, const float *a, const float *b) {
    float sum = 0;
    for (std::size_t d = 0; d < views.dimensions(v); ++d) {
        const auto j = static_cast<std::size_t>(views.columns(v)[d]);
        float difference = a[j] - b[j];
        if (!table.categorical.empty() && table.categorical[j] > 0 && !std::isnan(difference))
            difference = difference != 0 ? table.categorical[j] : 0.0f;
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

bool equal(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

float kth(std::vector<float> &distances, std::size_t k) {
    if (distances.size() < k) return infinity;
    std::sort(distances.begin(), distances.end());
    return distances[k - 1];
}

std::size_t wrong_distances(const Table &table, const Views &views, const std::vector<std::int32_t> &queries,
                            std::size_t k, int n_threads) {
    std::vector<float> same(views.count() * queries.size()), other(same.size());
    Threads threads(n_threads);
    OwnAndOther search(table.points(), table.label.data());
    search.distances(views, queries, k, same.data(), other.data(), threads, [] {});
    std::size_t wrong = 0;
    for (std::size_t v = 0; v < views.count(); ++v)
        for (std::size_t q = 0; q < queries.size(); ++q) {
            const auto i = static_cast<std::size_t>(queries[q]);
            const float *own = table.points().row(i);
            std::vector<float> of_same, of_other;
            for (std::size_t r = 0; r < table.rows; ++r) {
                const float far = distance(table, views, v, own, table.points().row(r));
                if (r != i && !std::isnan(far)) (table.label[r] == table.label[i] ? of_same : of_other).push_back(far);
            }
            const bool lacks = std::isnan(distance(table, views, v, own, own));
            const std::size_t at = v * queries.size() + q;
            wrong += !equal(same[at], lacks ? missing : kth(of_same, k));
            wrong += !equal(other[at], lacks ? missing : kth(of_other, k));
        }
    return wrong;
}

std::vector<std::int32_t> every(std::size_t count, std::size_t step = 1) {
    std::vector<std::int32_t> rows;
    for (std::size_t i = 0; i < count; i += step) rows.push_back(static_cast<std::int32_t>(i));
    return rows;
}

}  // namespace

TEST("distances to own and other labels are those of looking at every row") {
    const Table table = mixed(300, 6, 3);
    const Views views = all_views(6);
    for (const std::size_t k : {1u, 3u})
        for (const int n_threads : {1, 3}) CHECK(wrong_distances(table, views, every(300), k, n_threads) == 0);
    CHECK(wrong_distances(table, views, every(300, 40), 1, 1) == 0);
    CHECK(wrong_distances(mixed(90, 6, 80), views, every(90), 1, 1) == 0);
}

TEST("categories differ by their number, whatever their codes") {
    Table table = mixed(200, 6, 2);
    table.categorical = {0.0f, 0.3f, 0.0f, 0.0f, 0.0f, 2.0f};
    for (const std::size_t k : {1u, 2u}) CHECK(wrong_distances(table, all_views(6), every(200), k, 2) == 0);
}

TEST("a view in which no row is complete has no neighbours") {
    Table gaps{40, 2, {}, {}, std::vector<std::int32_t>(40, 0)};
    for (std::size_t i = 0; i < 40; ++i) gaps.value.insert(gaps.value.end(), {static_cast<float>(i), missing});
    CHECK(wrong_distances(gaps, all_views(2), every(40), 1, 1) == 0);
    std::vector<float> query(80, 1.0f), far(3 * 40);
    std::vector<std::int32_t> row(3 * 40);
    Threads threads(1);
    class_neighbours(gaps.points(), nullptr, all_views(2), {query.data(), 40, nullptr, 1, 1, row.data(), far.data()},
                     threads, [] {});
    for (std::size_t q = 0; q < 40; ++q) {
        CHECK(row[q] == 1 && far[q] == 0);
        CHECK(row[40 + q] == -1 && far[40 + q] == infinity);
        CHECK(row[80 + q] == -1 && far[80 + q] == infinity);
    }
}

TEST("views of many columns are searched as well, by any number of threads") {
    const Table table = mixed(150, 9, 2);
    const Views wide{{0, 5, 13}, {0, 1, 2, 3, 6, 0, 1, 2, 3, 5, 6, 7, 8}};
    for (const int n_threads : {1, 4}) CHECK(wrong_distances(table, wide, every(150), 1, n_threads) == 0);
}

TEST("the nearest rows of each class are those of looking at every row, equal ones by number") {
    const Table table = mixed(250, 6, 3);
    const Views views = all_views(6);
    const std::size_t k = 3, classes = 3;
    for (const std::size_t queries : {5u, 60u}) {  // few and many are answered differently
        std::vector<std::int32_t> exclude(queries);
        for (std::size_t q = 0; q < queries; ++q) exclude[q] = q % 3 == 0 ? -1 : static_cast<std::int32_t>(q);
        std::vector<std::int32_t> row(views.count() * queries * classes * k);
        std::vector<float> far(row.size());
        Threads threads(2);
        class_neighbours(table.points(), table.label.data(), views,
                         {table.value.data(), queries, exclude.data(), classes, k, row.data(), far.data()}, threads,
                         [] {});
        std::size_t wrong = 0, at = 0;
        for (std::size_t v = 0; v < views.count(); ++v)
            for (std::size_t q = 0; q < queries; ++q)
                for (std::size_t c = 0; c < classes; ++c) {
                    std::vector<std::pair<float, std::int32_t>> all;
                    for (std::size_t r = 0; r < table.rows; ++r) {
                        const float d = distance(table, views, v, table.points().row(q), table.points().row(r));
                        const auto number = static_cast<std::int32_t>(r);
                        if (table.label[r] == static_cast<std::int32_t>(c) && number != exclude[q] && !std::isnan(d))
                            all.push_back({d, number});
                    }
                    std::sort(all.begin(), all.end());
                    all.resize(std::max(all.size(), k), {infinity, -1});
                    for (std::size_t place = 0; place < k; ++place, ++at)
                        wrong += far[at] != all[place].first || row[at] != all[place].second;
                }
        CHECK(wrong == 0);
    }
}

TEST("weights of the nearest rows are those of looking at every row, equally far ones sharing places") {
    const Table table = mixed(250, 6, 3);
    const Views views = all_views(6);
    std::vector<double> weight(table.rows);
    for (std::size_t i = 0; i < table.rows; ++i) weight[i] = static_cast<double>(1 + i % 4) / 2;
    NearestWeights search(table.points(), table.label.data(), weight.data());
    for (const std::size_t queries : {5u, 60u})  // few and many are answered differently
        for (const std::size_t k : {1u, 20u}) {
            std::vector<float> own(views.count() * queries), other(own.size());
            std::vector<double> by_class(own.size() * 3);
            std::vector<std::int32_t> chosen(queries), nearer(own.size()), tied(own.size());
            std::iota(chosen.begin(), chosen.end(), 0);
            Threads threads(2);
            search.own_and_other(views, chosen, k, own.data(), other.data(), threads, [] {});
            search.by_class(
                views, {table.value.data(), queries, chosen.data(), 3, k, by_class.data(), nearer.data(), tied.data()},
                threads, [] {});
            std::size_t wrong = 0;
            for (std::size_t at = 0; at < own.size(); ++at) {
                const std::size_t v = at / queries, q = at % queries;
                std::vector<std::pair<float, std::size_t>> all;
                for (std::size_t r = 0; r < table.rows; ++r) {
                    const float d = distance(table, views, v, table.points().row(q), table.points().row(r));
                    if (r != q && !std::isnan(d)) all.push_back({d, r});
                }
                std::sort(all.begin(), all.end());
                const float last = all.size() < k ? infinity : all[k - 1].first;
                double whole[3] = {}, shared[3] = {};
                std::int32_t closer = 0, equal_far = 0;
                for (const auto &[d, r] : all) {
                    const bool before = d < last * (1 - 1e-5f);
                    if (d > last * (1 + 1e-5f)) continue;
                    (before ? closer : equal_far) += 1;
                    (before ? whole : shared)[table.label[r]] += weight[r];
                }
                wrong += closer != nearer[at] || equal_far != tied[at];
                const auto mine = static_cast<std::size_t>(table.label[q]);
                double others = 0;
                for (std::size_t c = 0; c < 3; ++c) {
                    if (equal_far > 0) whole[c] += shared[c] * (static_cast<double>(k) - closer) / equal_far;
                    wrong += std::abs(whole[c] - by_class[at * 3 + c]) > 1e-12;
                    if (c != mine) others += whole[c];
                }
                wrong += all.empty() ? !std::isnan(own[at]) || !std::isnan(other[at])
                                     : std::abs(own[at] - whole[mine]) > 1e-5 || std::abs(other[at] - others) > 1e-5;
            }
            CHECK(wrong == 0);
        }
}

TEST("a pause that throws ends the search") {
    const Table table = mixed(50, 3, 2);
    struct Stop {};
    for (const int n_threads : {1, 2}) {
        Threads threads(n_threads);
        OwnAndOther search(table.points(), table.label.data());
        std::vector<float> same(7 * 50), other(7 * 50);
        CHECK(THROWS(Stop, search.distances(all_views(3), every(50), 1, same.data(), other.data(), threads,
                                            [] { throw Stop{}; })));
    }
}

TEST("columns are sorted by value, label and number, and both zeros are one value") {
    const std::vector<float> value = {0.0f, 3.0f, -0.0f, missing, -1.0f, 0.0f};
    const std::vector<std::int32_t> label = {9, 0, 4, 0, 0, 4};
    SortedColumns columns({value.data(), 6, 1, nullptr}, label.data(), every(6));
    Threads threads(1);
    columns.sort({0}, threads, [] {});
    CHECK(columns[0].order == std::vector<std::int32_t>{4, 2, 5, 0, 1});
    CHECK(columns[0].code == std::vector<std::int32_t>{1, 2, 1, -1, 0, 1});
}

TEST("coinciding rows of a label are one point, or as many as are asked for") {
    const Table table{6, 2, {1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, missing}, {}, {0, 1, 0, 0, 0, 0}};
    SortedColumns columns(table.points(), table.label.data(), every(6));
    Threads threads(1);
    const std::vector<std::int32_t> view = {0, 1};
    columns.sort(view, threads, [] {});
    ViewLayout layout;
    layout.arrange(columns, view.data(), 2, 0);
    CHECK(layout.points() == 3);
    CHECK(layout.point_of_row[0] == layout.point_of_row[2] && layout.point_of_row[2] == layout.point_of_row[4]);
    CHECK(layout.point_of_row[0] != layout.point_of_row[1]);
    CHECK(layout.point_of_row[5] == -1);
    CHECK(layout.copies[static_cast<std::size_t>(layout.point_of_row[0])] == 3);
    layout.arrange(columns, view.data(), 2, 2);
    CHECK(layout.points() == 4);
    std::vector<std::int32_t> rows = layout.row;
    std::sort(rows.begin(), rows.end());
    CHECK(rows == std::vector<std::int32_t>{0, 1, 2, 3});  // row 4 would be a third copy
}

TEST("leaves hold every point once, within their boxes, and a heavy value has a strip to itself") {
    const Table table = mixed(5000, 6, 2);
    SortedColumns columns(table.points(), table.label.data(), every(5000));
    Threads threads(1);
    const Views views = all_views(6);
    columns.sort(views.column, threads, [] {});
    ViewLayout layout;
    for (std::size_t v = 0; v < views.count(); ++v) {
        layout.arrange(columns, views.columns(v), views.dimensions(v), 0);
        const Boxes &leaves = layout.boxes[ViewLayout::leaf], &strips = layout.boxes[ViewLayout::strip];
        CHECK(leaves.start.back() == layout.points() && strips.start.back() == leaves.count());
        std::size_t outside = 0, oversized = 0;
        const float *along = layout.coordinate(static_cast<std::size_t>(layout.axis[ViewLayout::leaf]));
        for (std::size_t leaf = 0; leaf < leaves.count(); ++leaf) {
            oversized += leaves.start[leaf + 1] - leaves.start[leaf] > ViewLayout::leaf_size;
            for (std::size_t g = leaves.start[leaf]; g < leaves.start[leaf + 1]; ++g)
                outside += !(along[g] >= leaves.low[leaf] && along[g] <= leaves.high[leaf]);
        }
        CHECK(outside == 0 && oversized == 0);
    }
    const std::vector<std::int32_t> sparse = {0, 2};  // continuous, and mostly zero
    layout.arrange(columns, sparse.data(), 2, 0);
    const Boxes &strips = layout.boxes[ViewLayout::strip];
    bool alone = false;
    for (std::size_t s = 0; s < strips.count(); ++s) alone |= strips.low[s] == 0 && strips.high[s] == 0;
    CHECK(alone);
}
