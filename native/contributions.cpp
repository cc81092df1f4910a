#include "contributions.hpp"

#include <cmath>

#include "categories.hpp"

namespace planewise {

namespace {

class Walker {
  public:
    explicit Walker(const ContributionView &view) : view_(view), forest_(view.forest) {
        for (std::size_t k = 0; k < forest_.planes; ++k) {
            const std::int32_t first = forest_.set_start[k], last = forest_.set_start[k + 1];
            sets_.emplace_back(forest_.set_category + first, static_cast<std::size_t>(last - first));
            by_category_.push_back(first < last);
        }
    }

    // `out` is outputs x (columns + 1).
    void walk(const float *x, double *out) const {
        const std::size_t width = view_.columns + 1;
        std::vector<double> share;
        for (std::size_t tree = 0; tree < forest_.trees; ++tree) {
            const std::int32_t root = forest_.node_start[tree];
            double *to = out + (forest_.values == 1 ? tree % forest_.outputs : 0) * width;
            for (std::size_t k = 0; k < forest_.values; ++k) to[k * width + view_.columns] += usual(root, k);
            for (std::int32_t node = root;;) {
                const std::int32_t next = root + child(node, x);
                const bool ends = next == node;
                if (forest_.plane_start[node] < forest_.plane_start[node + 1]) {
                    find_shares(node, x, share);
                    for (std::size_t k = 0; k < forest_.values; ++k)
                        give(node, (ends ? value(node, k) : usual(next, k)) - usual(node, k), share, to + k * width);
                }
                if (ends) break;
                node = next;
            }
        }
    }

  private:
    double usual(std::int32_t node, std::size_t k) const {
        return view_.usual[static_cast<std::size_t>(node) * forest_.values + k];
    }
    double value(std::int32_t node, std::size_t k) const {
        return static_cast<double>(forest_.value[static_cast<std::size_t>(node) * forest_.values + k]);
    }

    std::int32_t child(std::int32_t node, const float *x) const {
        std::int32_t code = 0;
        const std::int32_t first = forest_.plane_start[node], last = forest_.plane_start[node + 1];
        for (std::int32_t plane = first; plane < last; ++plane) {
            float v = 0;
            for (std::int32_t t = forest_.term_start[plane]; t < forest_.term_start[plane + 1]; ++t) {
                const float at = x[forest_.term_feature[t]];
                const float read = by_category_[static_cast<std::size_t>(plane)]
                                       ? sets_[static_cast<std::size_t>(plane)].read(at)
                                       : at;
                v = t == forest_.term_start[plane] ? forest_.term_weight[t] * read : v + forest_.term_weight[t] * read;
            }
            const bool right = v >= forest_.threshold[plane] || (v != v && forest_.missing_right[plane] != 0);
            code |= static_cast<std::int32_t>(right) << (plane - first);
        }
        return forest_.children[forest_.child_start[node] + code];
    }

    // How far each term is from its usual value; a missing value or a category counts as one standard deviation.
    void find_shares(std::int32_t node, const float *x, std::vector<double> &share) const {
        share.clear();
        double total = 0;
        const std::int32_t first = forest_.term_start[forest_.plane_start[node]],
                           last = forest_.term_start[forest_.plane_start[node + 1]];
        for (std::int32_t t = first; t < last; ++t) {
            const auto feature = static_cast<std::size_t>(forest_.term_feature[t]);
            const double apart = static_cast<double>(x[feature]) - static_cast<double>(view_.mean[feature]);
            const double size = apart == apart ? std::fabs(static_cast<double>(forest_.term_weight[t]) * apart)
                                               : std::abs(view_.term_coefficient[t]);
            share.push_back(size);
            total += size;
        }
        for (double &each : share) each = total > 0 ? each / total : 1.0 / static_cast<double>(share.size());
    }
    void give(std::int32_t node, double change, const std::vector<double> &share, double *to) const {
        const std::int32_t first = forest_.term_start[forest_.plane_start[node]];
        for (std::size_t t = 0; t < share.size(); ++t)
            to[forest_.term_feature[first + static_cast<std::int32_t>(t)]] += change * share[t];
    }

    const ContributionView &view_;
    const ForestView &forest_;
    std::vector<CategorySet> sets_;
    std::vector<char> by_category_;
};

}  // namespace

void add_contributions(const ContributionView &view, const float *x, std::size_t rows, Threads &threads, double *out) {
    const Walker walker(view);
    const std::size_t width = view.forest.outputs * (view.columns + 1);
    constexpr std::size_t together = 256;
    threads.each((rows + together - 1) / together, [&](std::size_t piece, int) {
        for (std::size_t row = piece * together; row < std::min(rows, (piece + 1) * together); ++row)
            walker.walk(x + row * view.columns, out + row * width);
    });
}

}  // namespace planewise
