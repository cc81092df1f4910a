// Trees that know nothing of each other: each on its own draw of the rows, grown side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "grow.hpp"
#include "random.hpp"

namespace planewise {

struct BagOptions {
    GrowOptions grow;
    std::size_t draws = 0;  // rows drawn with replacement for each tree; 0: every tree gets all rows
    std::uint64_t seed = 0;
};

// How often each row was drawn for a tree.
inline std::vector<std::uint32_t> draw_with_replacement(std::size_t rows, std::size_t draws, std::uint64_t seed,
                                                        std::size_t tree) {
    Random random(seed, tree);
    std::vector<std::uint32_t> times(rows, 0);
    for (std::size_t k = 0; k < draws; ++k) ++times[random.below(static_cast<std::uint32_t>(rows))];
    return times;
}

// Trees first .. last-1 of a forest. `statistics_of(weight)` fills the statistics of one tree.
template <class S>
Forest grow_bag(const Matrix &matrix, const double *weight, const std::function<S(const double *)> &statistics_of,
                const BagOptions &options, std::size_t first, std::size_t last, Threads &threads,
                const std::function<bool()> &stop) {
    std::vector<Forest> trees(last - first);
    threads.each(trees.size(), Threads::large, [&](std::size_t k, int thread) {
        const std::size_t number = first + k;
        GrowOptions grow_options = options.grow;
        grow_options.seed = Random(options.seed, ~static_cast<std::uint64_t>(number)).next();
        std::vector<double> own(weight, weight + matrix.rows);
        std::vector<std::uint32_t> rows;
        if (options.draws > 0) {
            const auto times = draw_with_replacement(matrix.rows, options.draws, options.seed, number);
            for (std::size_t i = 0; i < matrix.rows; ++i) {
                own[i] *= times[i];
                if (times[i] > 0) rows.push_back(static_cast<std::uint32_t>(i));
            }
        }
        Threads alone(1);
        // Only the calling thread may ask whether to stop.
        const std::function<bool()> ask = thread == 0 ? stop : [] { return false; };
        S statistics = statistics_of(own.data());
        if (!rows.empty())
            statistics.count_drawn_rows_once(static_cast<double>(options.draws) / static_cast<double>(rows.size()));
        trees[k] = grow(matrix, statistics, grow_options, alone, ask, std::move(rows)).tree;
    });
    Forest forest;
    for (const Forest &tree : trees) forest.append(tree);
    return forest;
}

}  // namespace planewise
