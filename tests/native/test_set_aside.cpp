// set_aside.hpp: a weight of two is two rows, and every row goes by itself.
#include <cmath>

#include "check.hpp"
#include "set_aside.hpp"
#include "tables.hpp"

using namespace planewise;

TEST("about the asked share is set aside, each row wholly or not at all, another one each time") {
    tables::Table table(3000, 4);
    table.fill(1, 10);
    std::vector<double> target(3000, 1.0), part, again;
    const SetAside aside(table.matrix(), target.data(), 1, table.weight());
    aside.draw(1.0 / 3, 7, part);
    double sum = 0, both = 0;
    for (double p : part) CHECK(p == 0 || p == 1), sum += p;
    CHECK(std::fabs(sum - 1000) < 130);  // five deviations
    aside.draw(1.0 / 3, 7, again);
    CHECK(part == again);
    aside.draw(1.0 / 3, 8, again);
    for (std::size_t i = 0; i < 3000; ++i) both += part[i] * again[i];
    CHECK(std::fabs(both - 3000.0 / 9) < 90);
}

TEST("a row given twice is a row of weight two, and a zero is a zero") {
    tables::Table weighted(200, 3), repeated(400, 3);
    weighted.fill(3, 12);
    std::vector<double> target(200), twice(400), part, parts;
    for (std::size_t i = 0; i < 200; ++i) weighted.weight()[i] = 2, target[i] = static_cast<double>(i % 3);
    weighted.at(0, 0) = 0.0f;
    for (std::size_t i = 0; i < 400; ++i) {
        twice[i] = target[i / 2];
        for (std::size_t j = 0; j < 3; ++j) repeated.at(i, j) = weighted.at(i / 2, j);
    }
    repeated.at(1, 0) = -0.0f;
    SetAside(weighted.matrix(), target.data(), 1, weighted.weight()).draw(0.5, 9, part);
    SetAside(repeated.matrix(), twice.data(), 1, repeated.weight()).draw(0.5, 9, parts);
    std::size_t halves = 0;
    for (std::size_t i = 0; i < 200; ++i) CHECK(parts[2 * i] + parts[2 * i + 1] == 2 * part[i]);
    for (double p : part) halves += p == 0.5;
    CHECK(halves > 60 && halves < 140);
}

TEST("rows that differ in the target alone go their own ways, and of many alike the share goes") {
    tables::Table table(1000, 2);
    std::vector<double> target(1000), part;
    for (std::size_t i = 0; i < 1000; ++i) target[i] = static_cast<double>(i < 500);
    SetAside(table.matrix(), target.data(), 1, table.weight()).draw(0.25, 3, part);
    double first = 0, last = 0;
    for (std::size_t i = 0; i < 500; ++i) first += part[i], last += part[500 + i];
    CHECK(first != last);
    CHECK(std::fabs(first - 125) < 50 && std::fabs(last - 125) < 50);
    for (double p : part) CHECK(p == 0 || p == 1);
}
