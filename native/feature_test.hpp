// The one-dimensional test of every feature alone, on all rows: the DFT (classes) and the RFT (numbers).
#pragma once

#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "choose.hpp"
#include "grow.hpp"
#include "parallel.hpp"
#include "propose.hpp"

namespace planewise {

struct FeatureTest {
    std::vector<double> loss;      // summed over both sides of the best threshold; the node's own where none helps
    std::vector<float> threshold;  // NaN where none helps
};

template <class S>
FeatureTest test_features(const Matrix &matrix, const S &statistics, ChooseOptions options, Threads &threads,
                          const std::function<bool()> &stop) {
    options.exact_edges = true;  // whole numbers lie on edges
    FeatureTest out;
    out.loss.resize(matrix.columns);
    out.threshold.assign(matrix.columns, std::numeric_limits<float>::quiet_NaN());
    std::vector<std::uint32_t> rows(matrix.rows);
    std::iota(rows.begin(), rows.end(), 0u);
    threads.each(matrix.columns, 8 * matrix.rows * matrix.columns, [&](std::size_t j, int thread) {
        if (thread == 0 && stop()) throw Interrupted{};
        Sample sample(matrix);
        sample.draw(rows.data(), rows.size(), rows.size(), 0);
        sample.gather({static_cast<std::int32_t>(j)});
        Chooser<S> chooser(statistics, options);
        chooser.open(sample);
        out.loss[j] = statistics.impurity(chooser.total());
        if (!(matrix.scale[j] > 0)) return;
        Directions axis;
        axis.add_term(static_cast<std::int32_t>(j), 1, 1.0);  // the feature itself: thresholds in its own units
        axis.close();
        chooser.measure(sample, matrix, axis, 0);
        if (!(chooser.gain(0) > 0)) return;
        out.loss[j] -= chooser.gain(0);
        out.threshold[j] = chooser.threshold(0);
    });
    return out;
}

}  // namespace planewise
