#include "contributions.hpp"

#include <cmath>
#include <limits>

#include "predict.hpp"

namespace planewise {

namespace {

class Walker {
  public:
    Walker(const Forest &forest, const float *mean, std::size_t columns)
        : forest_(forest), mean_(mean), columns_(columns), walk_(forest), usual_(forest.usual_values()) {}

    // `out` is outputs x (columns + 1).
    void walk(const float *x, double *out) const {
        const std::size_t width = columns_ + 1, values = forest_.n_values;
        std::vector<double> share;
        for (std::size_t tree = 0; tree < forest_.trees(); ++tree) {
            const auto root = static_cast<std::size_t>(forest_.node_start[tree]);
            double *to = out + (values == 1 ? tree % forest_.n_outputs : 0) * width;
            for (std::size_t k = 0; k < values; ++k) to[k * width + columns_] += usual_[root * values + k];
            for (std::size_t node = root;;) {
                const std::size_t next = root + static_cast<std::size_t>(walk_.child(node, x));
                const bool ends = next == node;
                if (!forest_.is_leaf(node)) {
                    find_shares(node, x, share);
                    for (std::size_t k = 0; k < values; ++k) {
                        const double now = ends ? forest_.value_at(node * values + k) : usual_[next * values + k];
                        give(node, now - usual_[node * values + k], share, to + k * width);
                    }
                }
                if (ends) break;
                node = next;
            }
        }
    }

  private:
    // The terms of all planes of a node.
    std::size_t first_term(std::size_t node) const {
        return static_cast<std::size_t>(forest_.term_start[static_cast<std::size_t>(forest_.plane_start[node])]);
    }

    // How far each term is from its usual value; a missing value or a category counts as one standard deviation.
    void find_shares(std::size_t node, const float *x, std::vector<double> &share) const {
        share.clear();
        double total = 0;
        for (std::size_t t = first_term(node); t < first_term(node + 1); ++t) {
            const auto feature = static_cast<std::size_t>(forest_.term_feature[t]);
            constexpr float most = std::numeric_limits<float>::max();  // so far away is infinity
            const float value = x[feature] > most ? most : x[feature] < -most ? -most : x[feature];
            const double apart = static_cast<double>(value) - static_cast<double>(mean_[feature]);
            const double size = apart == apart ? std::fabs(static_cast<double>(forest_.term_weight[t]) * apart)
                                               : std::abs(forest_.term_coefficient[t]);
            share.push_back(size);
            total += size;
        }
        for (double &each : share) each = total > 0 ? each / total : 1.0 / static_cast<double>(share.size());
    }
    void give(std::size_t node, double change, const std::vector<double> &share, double *to) const {
        const std::size_t first = first_term(node);
        for (std::size_t t = 0; t < share.size(); ++t) to[forest_.term_feature[first + t]] += change * share[t];
    }

    const Forest &forest_;
    const float *mean_;
    std::size_t columns_;
    PlainWalk walk_;
    std::vector<double> usual_;
};

}  // namespace

void add_contributions(const Forest &forest, const float *mean, const float *x, std::size_t rows, std::size_t columns,
                       Threads &threads, double *out) {
    const Walker walker(forest, mean, columns);
    const std::size_t width = forest.n_outputs * (columns + 1);
    constexpr std::size_t together = 256;
    threads.each((rows + together - 1) / together, 64 * rows * forest.trees(), [&](std::size_t piece, int) {
        for (std::size_t row = piece * together; row < std::min(rows, (piece + 1) * together); ++row)
            walker.walk(x + row * columns, out + row * width);
    });
}

}  // namespace planewise
