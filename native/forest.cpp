#include "forest.hpp"

#include <algorithm>
#include <limits>

#include "categories.hpp"

namespace planewise {

namespace {

template <class T>
void append_all(std::vector<T> &to, const std::vector<T> &from) {
    to.insert(to.end(), from.begin(), from.end());
}

// Continues a list of starts: the other's entries but its leading 0, moved on by what is there already.
void append_starts(std::vector<std::int32_t> &to, const std::vector<std::int32_t> &from) {
    const std::int32_t moved = to.back();
    for (std::size_t k = 1; k < from.size(); ++k) to.push_back(from[k] + moved);
}

}  // namespace

void Forest::append(const Tree &tree) {
    all.outputs = tree.outputs;
    append_starts(all.plane_start, tree.plane_start);
    append_starts(all.child_start, tree.child_start);
    append_starts(all.term_start, tree.term_start);
    append_starts(all.set_start, tree.set_start);
    append_all(all.set_category, tree.set_category);
    append_all(all.children, tree.children);
    append_all(all.parent, tree.parent);
    append_all(all.depth, tree.depth);
    append_all(all.rows, tree.rows);
    append_all(all.weight, tree.weight);
    append_all(all.impurity, tree.impurity);
    append_all(all.gain, tree.gain);
    append_all(all.value, tree.value);
    append_all(all.threshold, tree.threshold);
    append_all(all.missing_right, tree.missing_right);
    append_all(all.plane_gain, tree.plane_gain);
    append_all(all.term_feature, tree.term_feature);
    append_all(all.term_coefficient, tree.term_coefficient);
    append_all(all.term_weight, tree.term_weight);
    node_start.push_back(static_cast<std::int32_t>(all.parent.size()));
}

namespace {

template <int most_planes, int most_terms, bool with_sets>
class Packed final : public Predictor {
  public:
    explicit Packed(const ForestView &forest) : values_(forest.values), outputs_(forest.outputs) {
        value_.assign(forest.value, forest.value + forest.nodes * values_);
        std::vector<std::int32_t> place(forest.nodes);
        for (std::size_t tree = 0; tree < forest.trees; ++tree) {
            const std::int32_t first = forest.node_start[tree], last = forest.node_start[tree + 1];
            int levels = 0;
            // Inner nodes keep their order; a leaf is the complement of its number.
            auto next = static_cast<std::int32_t>(nodes_.size());
            for (std::int32_t node = first; node < last; ++node) {
                const bool leaf = forest.plane_start[node] == forest.plane_start[node + 1];
                place[static_cast<std::size_t>(node)] = leaf ? ~node : next++;
            }
            root_.push_back(place[static_cast<std::size_t>(first)]);
            std::vector<int> level(static_cast<std::size_t>(last - first), 0);
            for (std::int32_t node = first; node < last; ++node) {
                if (place[static_cast<std::size_t>(node)] < 0) continue;
                Node packed;
                fill(forest, node, packed);
                const std::int32_t entries = forest.child_start[node + 1] - forest.child_start[node];
                for (std::int32_t code = 0; code < (1 << most_planes); ++code) {
                    const std::int32_t child = first + forest.children[forest.child_start[node] + code % entries];
                    // A cell without training rows ends here, with the node's own value.
                    packed.child[code] = child == node ? ~node : place[static_cast<std::size_t>(child)];
                    if (child != node) {
                        auto &below = level[static_cast<std::size_t>(child - first)];
                        below = level[static_cast<std::size_t>(node - first)] + 1;
                        levels = std::max(levels, below);
                    }
                }
                nodes_.push_back(packed);
            }
            levels_.push_back(levels);
        }
        if (nodes_.empty()) nodes_.emplace_back();  // finished rows read it, and forget what they read
    }

    void add(const float *x, std::size_t rows, std::size_t columns, std::size_t first, std::size_t last,
             double *out) const override {
        for (std::size_t tree = first; tree < last; ++tree) {
            std::size_t row = 0;
            double *to = out + (values_ == 1 ? tree % outputs_ : 0);
            for (; row + together <= rows; row += together)
                descend<together>(tree, x + row * columns, columns, to + row * outputs_);
            for (; row < rows; ++row) descend<1>(tree, x + row * columns, columns, to + row * outputs_);
        }
    }

  private:
    static constexpr std::size_t together = 8;

    struct Node {
        float weight[most_planes][most_terms];
        float threshold[most_planes];
        std::int32_t feature[most_planes][most_terms];
        std::uint32_t missing_right;  // a bit a plane
        std::int32_t child[1 << most_planes];
        std::int32_t set[with_sets ? most_planes : 1];  // which set a plane on categories has; -1 for others
    };

    void fill(const ForestView &forest, std::int32_t node, Node &packed) {
        packed = Node{};
        for (std::int32_t &set : packed.set) set = -1;
        const std::int32_t first = forest.plane_start[node], count = forest.plane_start[node + 1] - first;
        for (int k = 0; k < most_planes; ++k) {
            packed.threshold[k] = std::numeric_limits<float>::infinity();  // never reached: bit 0
            if (k >= count) continue;
            const std::int32_t plane = first + k, from = forest.term_start[plane], to = forest.term_start[plane + 1];
            packed.threshold[k] = forest.threshold[plane];
            const std::int32_t set = forest.set_start[plane], set_end = forest.set_start[plane + 1];
            if (with_sets && set < set_end) {
                packed.set[k] = static_cast<std::int32_t>(sets_.size());
                sets_.emplace_back(forest.set_category + set, static_cast<std::size_t>(set_end - set));
            }
            packed.missing_right |= static_cast<std::uint32_t>(forest.missing_right[plane] != 0) << k;
            for (int t = 0; t < most_terms; ++t) {
                const bool there = from + t < to;  // else its first feature at weight zero: missing when the plane is
                packed.feature[k][t] = forest.term_feature[there ? from + t : from];
                packed.weight[k][t] = there ? forest.term_weight[from + t] : 0.0f;
            }
        }
    }

    std::int32_t step(const Node &node, const float *x) const {
        std::uint32_t code = 0;
        for (int k = 0; k < most_planes; ++k) {
            float v = node.weight[k][0] * x[node.feature[k][0]];
            for (int t = 1; t < most_terms; ++t) v += node.weight[k][t] * x[node.feature[k][t]];
            if (with_sets && node.set[k] >= 0)
                v = node.weight[k][0] * sets_[static_cast<std::size_t>(node.set[k])].read(x[node.feature[k][0]]);
            code |= (static_cast<std::uint32_t>(v >= node.threshold[k]) |
                     (static_cast<std::uint32_t>(v != v) & (node.missing_right >> k & 1u)))
                    << k;
        }
        return node.child[code];
    }

    template <std::size_t count>
    void descend(std::size_t tree, const float *x, std::size_t columns, double *out) const {
        std::int32_t at[count];
        for (std::size_t r = 0; r < count; ++r) at[r] = root_[tree];
        for (int level = 0; level < levels_[tree]; ++level)
            for (std::size_t r = 0; r < count; ++r) {
                const std::int32_t next =
                    step(nodes_[static_cast<std::size_t>(at[r] < 0 ? 0 : at[r])], x + r * columns);
                at[r] = at[r] < 0 ? at[r] : next;
            }
        for (std::size_t r = 0; r < count; ++r) {
            const float *value = &value_[static_cast<std::size_t>(~at[r]) * values_];
            for (std::size_t k = 0; k < values_; ++k) out[r * outputs_ + k] += static_cast<double>(value[k]);
        }
    }

    std::size_t values_, outputs_;
    std::vector<Node> nodes_;
    std::vector<CategorySet> sets_;
    std::vector<std::int32_t> root_;
    std::vector<int> levels_;
    std::vector<float> value_;
};

template <int most_planes, bool with_sets>
std::unique_ptr<Predictor> pack_terms(const ForestView &forest, int terms) {
    if (terms <= 1) return std::make_unique<Packed<most_planes, 1, with_sets>>(forest);
    if (terms == 2) return std::make_unique<Packed<most_planes, 2, with_sets>>(forest);
    if (terms == 3) return std::make_unique<Packed<most_planes, 3, with_sets>>(forest);
    if (terms == 4) return std::make_unique<Packed<most_planes, 4, with_sets>>(forest);
    if (terms <= 6) return std::make_unique<Packed<most_planes, 6, with_sets>>(forest);
    return nullptr;
}

template <bool with_sets>
std::unique_ptr<Predictor> pack_planes(const ForestView &forest, int planes, int terms) {
    if (planes == 1) return pack_terms<1, with_sets>(forest, terms);
    if (planes == 2) return pack_terms<2, with_sets>(forest, terms);
    if (planes == 3) return pack_terms<3, with_sets>(forest, terms);
    return nullptr;
}

// Any number of planes and terms, read where they are.
class Plain final : public Predictor {
  public:
    explicit Plain(const ForestView &forest)
        : values_(forest.values),
          outputs_(forest.outputs),
          node_start_(forest.node_start, forest.node_start + forest.trees + 1),
          plane_start_(forest.plane_start, forest.plane_start + forest.nodes + 1),
          child_start_(forest.child_start, forest.child_start + forest.nodes + 1),
          children_(forest.children, forest.children + child_start_.back()),
          term_start_(forest.term_start, forest.term_start + forest.planes + 1),
          feature_(forest.term_feature, forest.term_feature + term_start_.back()),
          weight_(forest.term_weight, forest.term_weight + term_start_.back()),
          threshold_(forest.threshold, forest.threshold + forest.planes),
          missing_right_(forest.missing_right, forest.missing_right + forest.planes),
          value_(forest.value, forest.value + forest.nodes * forest.values) {
        for (std::size_t k = 0; k < forest.planes; ++k) {
            const std::int32_t set = forest.set_start[k], end = forest.set_start[k + 1];
            by_category_.push_back(set < end);
            sets_.emplace_back(forest.set_category + set, static_cast<std::size_t>(end - set));
        }
    }

    void add(const float *x, std::size_t rows, std::size_t columns, std::size_t first, std::size_t last,
             double *out) const override {
        for (std::size_t tree = first; tree < last; ++tree)
            for (std::size_t row = 0; row < rows; ++row) {
                const float *value = &value_[leaf(tree, x + row * columns) * values_];
                double *to = out + row * outputs_ + (values_ == 1 ? tree % outputs_ : 0);
                for (std::size_t k = 0; k < values_; ++k) to[k] += static_cast<double>(value[k]);
            }
    }

  private:
    std::size_t leaf(std::size_t tree, const float *x) const {
        const std::int32_t root = node_start_[tree];
        for (std::int32_t node = root;;) {
            const auto at = static_cast<std::size_t>(node);
            std::int32_t code = 0;
            for (std::int32_t plane = plane_start_[at]; plane < plane_start_[at + 1]; ++plane)
                code |= right(static_cast<std::size_t>(plane), x) << (plane - plane_start_[at]);
            const std::int32_t next = root + children_[static_cast<std::size_t>(child_start_[at] + code)];
            if (next == node) return at;
            node = next;
        }
    }
    std::int32_t right(std::size_t plane, const float *x) const {
        auto term = static_cast<std::size_t>(term_start_[plane]);
        const auto end = static_cast<std::size_t>(term_start_[plane + 1]);
        const float first = x[feature_[term]];
        float v = weight_[term] * (by_category_[plane] ? sets_[plane].read(first) : first);
        for (++term; term < end; ++term) v += weight_[term] * x[feature_[term]];
        return v >= threshold_[plane] || (v != v && missing_right_[plane] != 0);
    }

    std::size_t values_, outputs_;
    std::vector<std::int32_t> node_start_, plane_start_, child_start_, children_, term_start_, feature_;
    std::vector<float> weight_, threshold_;
    std::vector<std::uint8_t> missing_right_;
    std::vector<float> value_;
    std::vector<char> by_category_;
    std::vector<CategorySet> sets_;
};

}  // namespace

std::unique_ptr<Predictor> pack(const ForestView &forest) {
    int planes = 1, terms = 1;
    for (std::size_t node = 0; node < forest.nodes; ++node)
        planes = std::max(planes, forest.plane_start[node + 1] - forest.plane_start[node]);
    for (std::size_t plane = 0; plane < forest.planes; ++plane)
        terms = std::max(terms, forest.term_start[plane + 1] - forest.term_start[plane]);
    const bool sets = forest.set_start[forest.planes] > 0;
    auto packed = sets ? pack_planes<true>(forest, planes, terms) : pack_planes<false>(forest, planes, terms);
    return packed ? std::move(packed) : std::make_unique<Plain>(forest);
}

}  // namespace planewise
