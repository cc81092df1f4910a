#include "predict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dispatch.hpp"

namespace planewise {

PlainWalk::PlainWalk(const Forest &forest) : forest_(forest) {
    if (forest.set_category.empty()) return;
    for (std::size_t k = 0; k < forest.planes(); ++k) {
        const std::int32_t first = forest.set_start[k], last = forest.set_start[k + 1];
        sets_.emplace_back(forest.set_category.data() + first, static_cast<std::size_t>(last - first));
    }
}

namespace {

constexpr std::size_t together = 8;  // rows that wait for memory side by side

template <int most_planes, int most_terms, bool with_sets>
class Packed final : public Predictor::Walk {
  public:
    explicit Packed(const Forest &forest) {
        std::vector<std::int32_t> place(forest.nodes());
        for (std::size_t tree = 0; tree < forest.trees(); ++tree) {
            const std::int32_t first = forest.node_start[tree], last = forest.node_start[tree + 1];
            // Inner nodes keep their order; a leaf is the complement of its number.
            auto next = static_cast<std::int32_t>(nodes_.size());
            for (std::int32_t node = first; node < last; ++node) {
                const auto at = static_cast<std::size_t>(node);
                place[at] = forest.is_leaf(at) ? ~node : next++;
            }
            root_.push_back(place[static_cast<std::size_t>(first)]);
            levels_.push_back(forest.depth[static_cast<std::size_t>(last) - 1]);
            for (std::int32_t node = first; node < last; ++node)
                if (place[static_cast<std::size_t>(node)] >= 0) nodes_.push_back(packed(forest, first, node, place));
        }
        if (nodes_.empty()) nodes_.emplace_back();  // finished rows read it, and forget what they read
    }

    void find(std::size_t tree, const float *x, std::size_t rows, std::size_t columns,
              std::int32_t *node) const override {
        std::size_t row = 0;
        for (; row + together <= rows; row += together) descend<together>(tree, x + row * columns, columns, node + row);
        for (; row < rows; ++row) descend<1>(tree, x + row * columns, columns, node + row);
    }

  private:
    struct Node {
        float weight[most_planes][most_terms];
        float threshold[most_planes];
        std::int32_t feature[most_planes][most_terms];
        std::uint32_t missing_right;  // one bit per plane
        std::int32_t child[1 << most_planes];
        std::int32_t set[with_sets ? most_planes : 1];  // which set a plane on categories has; -1 for others
    };

    Node packed(const Forest &forest, std::int32_t root, std::int32_t node, const std::vector<std::int32_t> &place) {
        const auto at = static_cast<std::size_t>(node);
        Node out{};
        for (std::int32_t &set : out.set) set = -1;
        const auto first = static_cast<std::size_t>(forest.plane_start[at]),
                   count = static_cast<std::size_t>(forest.plane_start[at + 1]) - first;
        for (std::size_t k = 0; k < most_planes; ++k) {
            out.threshold[k] = std::numeric_limits<float>::infinity();  // never reached: bit 0
            if (k < count) fill(forest, first + k, k, out);
        }
        const std::int32_t entries = forest.child_start[at + 1] - forest.child_start[at];
        for (std::int32_t code = 0; code < (1 << most_planes); ++code) {
            const std::int32_t child =
                root + forest.children[static_cast<std::size_t>(forest.child_start[at] + code % entries)];
            // A cell without training rows ends here, with the node's own value.
            out.child[code] = child == node ? ~node : place[static_cast<std::size_t>(child)];
        }
        return out;
    }
    void fill(const Forest &forest, std::size_t plane, std::size_t k, Node &out) {
        const auto from = static_cast<std::size_t>(forest.term_start[plane]),
                   to = static_cast<std::size_t>(forest.term_start[plane + 1]);
        out.threshold[k] = forest.threshold[plane];
        out.missing_right |= static_cast<std::uint32_t>(forest.missing_right[plane]) << k;
        for (std::size_t t = 0; t < most_terms; ++t) {
            const bool there = from + t < to;  // else its first feature at weight zero: missing when the plane is
            out.feature[k][t] = forest.term_feature[there ? from + t : from];
            out.weight[k][t] = there ? forest.term_weight[from + t] : 0.0f;
        }
        const std::int32_t set = forest.set_start[plane], set_end = forest.set_start[plane + 1];
        if (with_sets && set < set_end) {
            out.set[k] = static_cast<std::int32_t>(sets_.size());
            sets_.emplace_back(forest.set_category.data() + set, static_cast<std::size_t>(set_end - set));
        }
    }

    std::int32_t step(const Node &node, const float *x) const {
        std::uint32_t code = 0;
        for (int k = 0; k < most_planes; ++k) {
            float v = plane_sum<most_terms>(node.feature[k], node.weight[k], x);
            if (with_sets && node.set[k] >= 0)
                v = node.weight[k][0] * sets_[static_cast<std::size_t>(node.set[k])].read(x[node.feature[k][0]]);
            code |= side_of(v, node.threshold[k], node.missing_right >> k & 1u) << k;
        }
        return node.child[code];
    }

    template <std::size_t count>
    void descend(std::size_t tree, const float *x, std::size_t columns, std::int32_t *node) const {
        std::int32_t at[count];
        for (std::size_t r = 0; r < count; ++r) at[r] = root_[tree];
        for (int level = 0; level < levels_[tree]; ++level) {
            std::int32_t ended = -1;
            for (std::size_t r = 0; r < count; ++r) {
                const std::int32_t next =
                    step(nodes_[static_cast<std::size_t>(at[r] < 0 ? 0 : at[r])], x + r * columns);
                at[r] = at[r] < 0 ? at[r] : next;
                ended &= at[r];
            }
            if (ended < 0) break;  // all of them
        }
        for (std::size_t r = 0; r < count; ++r) node[r] = ~at[r];
    }

    std::vector<Node> nodes_;
    std::vector<CategorySet> sets_;
    std::vector<std::int32_t> root_, levels_;
};

// Nodes of more planes or terms than would be packed.
class Plain final : public Predictor::Walk {
  public:
    explicit Plain(const Forest &forest) : forest_(forest), walk_(forest) {}

    void find(std::size_t tree, const float *x, std::size_t rows, std::size_t columns,
              std::int32_t *node) const override {
        const std::int32_t root = forest_.node_start[tree];
        for (std::size_t begin = 0; begin < rows; begin += together) {
            const std::size_t here = std::min(together, rows - begin);
            std::fill(node + begin, node + begin + here, root);
            for (bool moved = true; moved;) {
                moved = false;
                for (std::size_t row = begin; row < begin + here; ++row) {
                    const std::int32_t next =
                        root + walk_.child(static_cast<std::size_t>(node[row]), x + row * columns);
                    moved |= next != node[row];
                    node[row] = next;
                }
            }
        }
    }

  private:
    const Forest &forest_;
    PlainWalk walk_;
};

template <int most_planes, bool with_sets>
std::unique_ptr<Predictor::Walk> pack_terms(const Forest &forest, int terms) {
    if (terms <= 1) return std::make_unique<Packed<most_planes, 1, with_sets>>(forest);
    if (terms == 2) return std::make_unique<Packed<most_planes, 2, with_sets>>(forest);
    if (terms == 3) return std::make_unique<Packed<most_planes, 3, with_sets>>(forest);
    if (terms == 4) return std::make_unique<Packed<most_planes, 4, with_sets>>(forest);
    if (terms <= 6) return std::make_unique<Packed<most_planes, 6, with_sets>>(forest);
    return std::make_unique<Plain>(forest);
}

template <bool with_sets>
std::unique_ptr<Predictor::Walk> pack_planes(const Forest &forest, int planes, int terms) {
    if (planes == 1) return pack_terms<1, with_sets>(forest, terms);
    if (planes == 2) return pack_terms<2, with_sets>(forest, terms);
    if (planes == 3) return pack_terms<3, with_sets>(forest, terms);
    return std::make_unique<Plain>(forest);
}

PLANEWISE_CLONES bool any_infinite(const float *x, std::size_t count) {
    constexpr float most = std::numeric_limits<float>::max();
    int found = 0;
    for (std::size_t i = 0; i < count; ++i) found |= std::fabs(x[i]) > most;
    return found != 0;
}

std::unique_ptr<Predictor::Walk> pack(const Forest &forest) {
    int planes = 1, terms = 1;
    for (std::size_t node = 0; node < forest.nodes(); ++node)
        planes = std::max(planes, forest.plane_start[node + 1] - forest.plane_start[node]);
    for (std::size_t plane = 0; plane < forest.planes(); ++plane)
        terms = std::max(terms, forest.term_start[plane + 1] - forest.term_start[plane]);
    return forest.set_category.empty() ? pack_planes<false>(forest, planes, terms)
                                       : pack_planes<true>(forest, planes, terms);
}

}  // namespace

const Predictor::Walk &Predictor::walk(const float *x, std::size_t rows, std::size_t columns) const {
    if (any_infinite(x, rows * columns)) {
        std::call_once(plain_made_, [&] { plain_ = std::make_unique<Plain>(forest_); });
        return *plain_;
    }
    std::call_once(walk_made_, [&] { walk_ = pack(forest_); });
    return *walk_;
}

const SmallTrees *Predictor::small_trees() const {
    std::call_once(small_trees_made_, [&] { small_trees_ = SmallTrees::of(forest_); });
    return small_trees_.get();
}

void Predictor::apply(const float *x, std::size_t rows, std::size_t columns, Threads &threads,
                      std::int32_t *node) const {
    constexpr std::size_t chunk = 4096;
    const std::size_t trees = forest_.trees();
    threads.each((rows + chunk - 1) / chunk, 8 * rows * trees, [&](std::size_t k, int) {
        const std::size_t begin = k * chunk, count = std::min(rows, begin + chunk) - begin;
        const Walk &way = walk(x + begin * columns, count, columns);
        if (trees == 1) return way.find(0, x + begin * columns, count, columns, node + begin);
        std::vector<std::int32_t> found(count);
        for (std::size_t tree = 0; tree < trees; ++tree) {
            way.find(tree, x + begin * columns, count, columns, found.data());
            for (std::size_t i = 0; i < count; ++i)
                node[(begin + i) * trees + tree] = found[i] - forest_.node_start[tree];
        }
    });
}

void Predictor::add(const float *x, std::size_t rows, std::size_t columns, std::size_t first, std::size_t last,
                    Threads &threads, double *out) const {
    constexpr std::size_t few = 16;  // rows for which a walk is faster
    if (const SmallTrees *small = rows < few ? nullptr : small_trees()) {
        constexpr std::size_t chunk = 8 * SmallTrees::block;
        threads.each((rows + chunk - 1) / chunk, 4 * rows * (last - first), [&](std::size_t k, int) {
            const std::size_t begin = k * chunk, count = std::min(rows, begin + chunk) - begin;
            small->add(x + begin * columns, count, columns, first, last, out + begin * forest_.n_outputs);
        });
        return;
    }
    // Rows that stay near while the trees pass; large trees should pass seldom.
    const std::size_t chunk = forest_.nodes() > 256 * forest_.trees() ? 8192 : 512;
    threads.each((rows + chunk - 1) / chunk, 8 * rows * (last - first), [&](std::size_t k, int) {
        const std::size_t begin = k * chunk, count = std::min(rows, begin + chunk) - begin;
        const float *from = x + begin * columns;
        double *to = out + begin * forest_.n_outputs;
        forest_.value.empty() ? add_values(forest_.value32, from, count, columns, first, last, to)
                              : add_values(forest_.value, from, count, columns, first, last, to);
    });
}

// All rows go through one tree before the next.
template <class Value>
void Predictor::add_values(const std::vector<Value> &value, const float *x, std::size_t rows, std::size_t columns,
                           std::size_t first, std::size_t last, double *out) const {
    constexpr std::size_t most = 64;
    std::int32_t node[most];
    const std::size_t values = forest_.n_values, outputs = forest_.n_outputs;
    const Walk &way = walk(x, rows, columns);
    for (std::size_t tree = first; tree < last; ++tree) {
        double *to = out + (values == 1 ? tree % outputs : 0);
        for (std::size_t begin = 0; begin < rows; begin += most) {
            const std::size_t here = std::min(most, rows - begin);
            way.find(tree, x + begin * columns, here, columns, node);
            for (std::size_t r = 0; r < here; ++r) {
                const Value *of = &value[static_cast<std::size_t>(node[r]) * values];
                for (std::size_t k = 0; k < values; ++k) to[(begin + r) * outputs + k] += static_cast<double>(of[k]);
            }
        }
    }
}

Trace Predictor::trace(const float *x, std::size_t tree) const {
    const PlainWalk walk(forest_);
    const auto root = static_cast<std::size_t>(forest_.node_start[tree]);
    Trace out;
    for (std::size_t node = root;;) {
        for (std::int32_t k = forest_.plane_start[node]; k < forest_.plane_start[node + 1]; ++k) {
            const auto plane = static_cast<std::size_t>(k);
            const float sum = walk.sum(plane, x);
            const std::int32_t column = forest_.term_feature[static_cast<std::size_t>(forest_.term_start[plane])];
            out.node.push_back(static_cast<std::int32_t>(node - root));
            out.plane.push_back(k);
            out.value.push_back(walk.by_category(plane) ? x[column] : sum);
            out.right.push_back(static_cast<std::uint8_t>(walk.side(plane, sum)));
        }
        const std::size_t next = root + static_cast<std::size_t>(walk.child(node, x));
        if (next == node) return out;
        node = next;
    }
}

}  // namespace planewise
