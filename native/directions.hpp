// Sparse integer directions, kept flat: direction d has the terms start[d] .. start[d+1].
#pragma once

#include <cstdint>
#include <vector>

namespace planewise {

struct Directions {
    std::vector<std::uint32_t> start{0};
    std::vector<std::int32_t> feature;  // ascending within a direction
    std::vector<std::int32_t> coefficient;
    std::vector<float> weight;  // coefficient / scale of its column: what multiplies the user's own values

    std::size_t size() const { return start.size() - 1; }
    std::uint32_t begin(std::size_t d) const { return start[d]; }
    std::uint32_t end(std::size_t d) const { return start[d + 1]; }
    std::size_t terms(std::size_t d) const { return start[d + 1] - start[d]; }

    void clear() {
        start.assign(1, 0);
        feature.clear();
        coefficient.clear();
        weight.clear();
    }
    void add_term(std::int32_t column, std::int32_t a, double scale) {
        feature.push_back(column);
        coefficient.push_back(a);
        weight.push_back(static_cast<float>(a / scale));
    }
    void add(const Directions &from, std::size_t d) {
        for (std::uint32_t t = from.begin(d); t < from.end(d); ++t) {
            feature.push_back(from.feature[t]);
            coefficient.push_back(from.coefficient[t]);
            weight.push_back(from.weight[t]);
        }
        close();
    }
    void keep(std::size_t count) {  // the first ones
        start.resize(count + 1);
        feature.resize(start[count]);
        coefficient.resize(start[count]);
        weight.resize(start[count]);
    }
    void close() { start.push_back(static_cast<std::uint32_t>(feature.size())); }
};

// Monotone constraints: which side of a plane must have the larger values: 1 right, -1 left, 0 either, or at_odds when
// some constrained terms point right and some left. `monotone` is by column: 1 rising, -1 falling, 0 free.
constexpr int at_odds = 2;
inline int sign_of(const std::vector<std::int32_t> &monotone, const std::int32_t *feature,
                   const std::int32_t *coefficient, std::size_t terms) {
    int sign = 0;
    for (std::size_t t = 0; t < terms; ++t) {
        const int wanted = monotone[static_cast<std::size_t>(feature[t])];
        if (wanted == 0) continue;
        const int here = coefficient[t] > 0 ? wanted : -wanted;
        if (sign != 0 && sign != here) return at_odds;
        sign = here;
    }
    return sign;
}

}  // namespace planewise
