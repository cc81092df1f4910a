// matrix.hpp: the scale of every column.
#include <cfloat>
#include <cmath>
#include <limits>

#include "check.hpp"
#include "matrix.hpp"
#include "tables.hpp"

using namespace planewise;

TEST("a scale is the weighted standard deviation to eleven bits, missing values aside") {
    tables::Table table(1000, 6);
    table.fill(1, 10);
    Random random(2, 2);
    for (double &w : table.weight()) w = random.uniform();
    for (std::size_t i = 0; i < 1000; ++i) table.at(i, 3) = 1000 + table.at(i, 3), table.at(i, 4) *= 1e-20f;
    const Matrix &matrix = table.matrix();
    for (std::size_t j = 0; j < 6; ++j) {
        double total = 0, sum = 0, squares = 0;
        bool missing = false;
        for (std::size_t i = 0; i < 1000; ++i) {
            const double v = static_cast<double>(table.at(i, j)), w = table.weight()[i];
            if (v != v) {
                missing = true;
                continue;
            }
            total += w, sum += w * v;
        }
        for (std::size_t i = 0; i < 1000; ++i) {
            const double v = static_cast<double>(table.at(i, j));
            if (v == v) squares += table.weight()[i] * (v - sum / total) * (v - sum / total);
        }
        const double deviation = std::sqrt(squares / total);
        CHECK(std::fabs(matrix.scale[j] - deviation) <= deviation / 4096);
        CHECK((matrix.may_miss[j] != 0) == missing);
    }
}

TEST("constant, empty and wholly missing columns have the scale zero, half missing ones have one") {
    tables::Table table(50, 4);
    for (std::size_t i = 0; i < 50; ++i) {
        table.at(i, 0) = 3.25f;
        table.at(i, 1) = tables::missing;
        table.at(i, 2) = i < 25 ? tables::missing : -1e30f;
        table.at(i, 3) = 0.0f;
    }
    const Matrix &matrix = table.matrix();
    for (std::size_t j = 0; j < 4; ++j) CHECK(matrix.scale[j] == (j == 2 ? 1 : 0));
    tables::Table empty(0, 2);
    CHECK(empty.matrix().scale == std::vector<double>(2, 0.0));
}

TEST("infinities change neither scale nor mean nor body, and make no bits") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    tables::Table plain(200, 20), with(204, 20);
    plain.fill(5, 0);
    for (std::size_t j = 0; j < 20; ++j) {
        for (std::size_t i = 0; i < 200; ++i) with.at(i, j) = plain.at(i, j);
        for (std::size_t i = 200; i < 204; ++i) with.at(i, j) = i % 2 ? infinity : -infinity;
    }
    const Matrix &matrix = with.matrix();
    CHECK(matrix.scale == plain.matrix().scale);
    CHECK(matrix.mean == plain.matrix().mean);
    CHECK(matrix.may_be_infinite(0) && !plain.matrix().may_be_infinite(0) && !matrix.may_miss[0]);
    tables::Table two(10, 20);
    for (std::size_t i = 0; i < 10; ++i)
        for (std::size_t j = 0; j < 20; ++j) two.at(i, j) = i % 2 ? infinity : 1.0f;
    const Matrix &bits = two.matrix();
    CHECK(bits.scale[0] == 1 && bits.two_valued.words == 0);
}

TEST("a row given twice is a row of weight two, for any number of threads") {
    tables::Table weighted(200, 9), repeated(400, 9);
    weighted.fill(3, 12);
    for (std::size_t i = 0; i < 200; ++i) weighted.weight()[i] = 2;
    for (std::size_t i = 0; i < 400; ++i)
        for (std::size_t j = 0; j < 9; ++j) repeated.at(i, j) = weighted.at(i / 2, j);
    const std::vector<double> scale = weighted.matrix(1).scale;
    CHECK(scale == repeated.matrix(1).scale);
    CHECK(scale == repeated.matrix(4).scale);
}

TEST("scales of the smallest and largest floats are finite") {
    tables::Table table(4, 2);
    for (std::size_t i = 0; i < 4; ++i) {
        table.at(i, 0) = i % 2 ? FLT_MAX : -FLT_MAX;
        table.at(i, 1) = i % 2 ? 1e-45f : 0.0f;
    }
    const Matrix &matrix = table.matrix();
    CHECK(std::isfinite(matrix.scale[0]) && matrix.scale[0] > 3e38);
    CHECK(matrix.scale[1] > 0);
}

TEST("two-valued columns become bits, the rarer value set; others do not, nor do a few") {
    tables::Table table(90, 80), few(90, 12);
    table.fill(4);
    Random random(5, 5);
    for (std::size_t j = 0; j < 70; ++j)
        for (std::size_t i = 0; i < 90; ++i)
            table.at(i, j) = random.below(5) == 0 ? static_cast<float>(j) : -static_cast<float>(j % 3) - 1.0f;
    table.at(7, 3) = 99;  // a third value
    table.at(8, 4) = tables::missing;
    for (std::size_t i = 0; i < 90; ++i) table.at(i, 5) = 2.5f;
    const Matrix &matrix = table.matrix(2);
    const TwoValued &bits = matrix.two_valued;
    CHECK(bits.words == 2);
    for (std::size_t j = 0; j < 80; ++j) {
        CHECK(bits.has(j) == (j < 70 && j != 3 && j != 4 && j != 5));
        if (!bits.has(j)) continue;
        const auto bit = static_cast<std::size_t>(bits.bit[j]);
        std::size_t set = 0;
        CHECK(bits.column[bit] == static_cast<std::int32_t>(j));
        for (std::size_t i = 0; i < 90; ++i) {
            const bool is_set = bits.row(i)[bit / 64] >> bit % 64 & 1;
            set += is_set;
            CHECK(table.at(i, j) == (is_set ? bits.set : bits.clear)[bit]);
        }
        CHECK(2 * set <= 90);
    }
    for (std::size_t i = 0; i < 90; ++i)
        for (std::size_t j = 0; j < 12; ++j) few.at(i, j) = static_cast<float>(random.below(2));
    CHECK(few.matrix().two_valued.words == 0);
}
