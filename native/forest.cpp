#include "forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "directions.hpp"
#include "statistics.hpp"

namespace planewise {

namespace {

constexpr std::int32_t most_planes = 8;          // of a node: the limit of max_planes
constexpr std::int64_t most_coefficient = 1000;  // the limit of max_coef
constexpr std::int64_t most_set_bytes = 256 << 20;
constexpr std::size_t most_outputs = std::numeric_limits<std::int32_t>::max();

// Words are put together only where they are needed: this stands in loops over nodes and terms.
void require(bool holds, const char *otherwise) {
    if (!holds) throw std::invalid_argument(otherwise);
}

template <class T>
void release(std::vector<T> &list) {
    std::vector<T>().swap(list);
}

template <class T>
void append_all(std::vector<T> &to, const std::vector<T> &from) {
    to.insert(to.end(), from.begin(), from.end());
}

std::size_t count_of(const Forest &forest, Of of) {
    switch (of) {
        case Of::trees:
            return forest.trees();
        case Of::nodes:
            return forest.nodes();
        case Of::children:
            return forest.children.size();
        case Of::planes:
            return forest.planes();
        case Of::terms:
            return forest.term_feature.size();
        default:
            return forest.set_category.size();
    }
}

const char *name_of(Of of) {
    const char *const names[] = {"trees", "nodes", "children", "planes", "terms", "categories"};
    return names[static_cast<std::size_t>(of)];
}

// Which nodes, planes, ... stay when others go.
class Kept {
  public:
    explicit Kept(const Forest &forest) {
        for (Of of : {Of::nodes, Of::planes, Of::terms, Of::categories}) (*this)[of].assign(count_of(forest, of), 0);
        (*this)[Of::trees].assign(forest.trees(), 1);
    }
    std::vector<char> &operator[](Of of) { return marks_[static_cast<std::size_t>(of)]; }

    void keep_planes(const Forest &forest, std::size_t node) {
        const std::int32_t first = forest.plane_start[node], last = forest.plane_start[node + 1];
        mark(Of::planes, first, last);
        mark(Of::terms, forest.term_start[static_cast<std::size_t>(first)],
             forest.term_start[static_cast<std::size_t>(last)]);
        mark(Of::categories, forest.set_start[static_cast<std::size_t>(first)],
             forest.set_start[static_cast<std::size_t>(last)]);
    }
    // All arrays but those of children, parents and levels.
    void copy(const Forest &from, Forest &to) {
        to.n_values = from.n_values;
        to.n_outputs = from.n_outputs;
        each_array([&](auto array) {
            if (array.of == Of::children || array.into == Of::children) return;
            const auto &old = array.in(from);
            auto &now = array.in(to);
            for (std::size_t k = 0; k + array.starts < old.size(); ++k) {
                if (!(*this)[array.of][k]) continue;
                if (!array.starts) {
                    now.push_back(old[k]);
                } else {
                    const auto below = (*this)[array.into].begin();
                    const auto count = std::count(below + static_cast<std::ptrdiff_t>(old[k]),
                                                  below + static_cast<std::ptrdiff_t>(old[k + 1]), 1);
                    const auto moved = static_cast<std::decay_t<decltype(now.back())>>(count);
                    now.push_back(now.back() + moved);
                }
            }
        });
        for (std::size_t k = 0; k < from.nodes() * from.n_values; ++k) {
            if (!(*this)[Of::nodes][k / from.n_values]) continue;
            from.value.empty() ? to.value32.push_back(from.value32[k]) : to.value.push_back(from.value[k]);
        }
    }

  private:
    void mark(Of of, std::int32_t first, std::int32_t last) {
        std::fill((*this)[of].begin() + first, (*this)[of].begin() + last, char{1});
    }
    std::vector<char> marks_[6];
};

}  // namespace

std::size_t Forest::columns_used() const {
    const auto last = std::max_element(term_feature.begin(), term_feature.end());
    return last == term_feature.end() ? 0 : static_cast<std::size_t>(*last) + 1;
}

// ------------------------------------------------------------------------------------------------ forests from forests
void Forest::append(const Forest &other) {
    if (trees() == 0) n_values = other.n_values, n_outputs = other.n_outputs;
    each_array([&](auto array) {
        auto &to = array.in(*this);
        const auto &from = array.in(other);
        if (!array.starts) return append_all(to, from);
        const auto moved = to.back();  // the other's starts but its leading 0, counted on
        for (std::size_t k = 1; k < from.size(); ++k)
            to.push_back(static_cast<std::decay_t<decltype(moved)>>(from[k] + moved));
    });
    append_all(parent, other.parent);
    append_all(depth, other.depth);
    append_all(value, other.value);
    append_all(value32, other.value32);
}

Forest Forest::part(std::size_t first, std::size_t last) const {
    using Range = std::pair<std::size_t, std::size_t>;
    const auto under = [](const std::vector<std::int32_t> &starts, const Range &these) {
        return Range{starts[these.first], starts[these.second]};
    };
    const Range those{first, last}, in_nodes = under(node_start, those), in_planes = under(plane_start, in_nodes);
    const Range ranges[] = {those,
                            in_nodes,
                            under(child_start, in_nodes),
                            in_planes,
                            under(term_start, in_planes),
                            under(set_start, in_planes)};
    Forest out;
    out.n_values = n_values;
    out.n_outputs = n_values == 1 ? std::min(n_outputs, std::max<std::size_t>(last - first, 1)) : n_outputs;
    const auto copy = [](const auto &from, auto &to, const Range &range, std::size_t width = 1) {
        if (!from.empty())
            to.assign(from.begin() + static_cast<std::ptrdiff_t>(range.first * width),
                      from.begin() + static_cast<std::ptrdiff_t>(range.second * width));
    };
    each_array([&](auto array) {
        const Range &range = ranges[static_cast<std::size_t>(array.of)];
        auto &to = array.in(out);
        copy(array.in(*this), to, {range.first, range.second + array.starts});
        if (array.starts)
            for (std::size_t k = to.size(); k-- > 0;) to[k] -= to[0];
    });
    copy(parent, out.parent, in_nodes);
    copy(depth, out.depth, in_nodes);
    copy(value, out.value, in_nodes, n_values);
    copy(value32, out.value32, in_nodes, n_values);
    return out;
}

std::vector<std::int32_t> Forest::prune(const std::vector<char> &cut) {
    Kept kept(*this);
    Forest out;
    std::vector<std::int32_t> moved(nodes());
    for (std::size_t tree = 0; tree < trees(); ++tree) {
        const auto root = static_cast<std::size_t>(node_start[tree]),
                   end = static_cast<std::size_t>(node_start[tree + 1]);
        std::int32_t next = 0;
        for (std::size_t node = root; node < end; ++node) {
            const std::size_t above = node == root ? root : root + static_cast<std::size_t>(parent[node]);
            kept[Of::nodes][node] = node == root || (kept[Of::nodes][above] && !cut[above]);
            moved[node] = kept[Of::nodes][node] ? next++ : moved[above];
        }
        for (std::size_t node = root; node < end; ++node) {
            if (!kept[Of::nodes][node]) continue;
            out.parent.push_back(node == root ? -1 : moved[root + static_cast<std::size_t>(parent[node])]);
            out.depth.push_back(depth[node]);
            if (cut[node]) {
                out.children.push_back(moved[node]);
                if (!gain.empty()) gain[node] = 0;
            } else {
                kept.keep_planes(*this, node);
                for (std::int32_t k = child_start[node]; k < child_start[node + 1]; ++k)
                    out.children.push_back(
                        moved[root + static_cast<std::size_t>(children[static_cast<std::size_t>(k)])]);
            }
            out.child_start.push_back(static_cast<std::int32_t>(out.children.size()));
        }
    }
    kept.copy(*this, out);
    *this = std::move(out);
    return moved;
}

// ---------------------------------------------------------------------------------------------- checks
void Forest::check() {
    check_lengths();
    check_planes();
    find_parents();
}

void Forest::check_lengths() const {
    for (const auto *starts : {&node_start, &plane_start})  // the numbers of trees and nodes come from these
        require(!starts->empty(), "no starts at all");
    for (std::size_t t = 0; t < trees(); ++t) require(node_start[t] < node_start[t + 1], "a tree without a root");
    each_array([&](auto array) {
        const auto &list = array.in(*this);
        const auto refuse = [](const std::string &words) { throw std::invalid_argument(words); };
        if (array.optional && list.empty()) return;
        if (list.size() != count_of(*this, array.of) + array.starts)
            refuse(std::string("a ") + array.name + " of another length than it should have");
        if (!array.starts) return;
        if (list.front() != 0 || !std::is_sorted(list.begin(), list.end()))
            refuse(std::string("a ") + array.name + " that goes back");
        if (static_cast<std::size_t>(list.back()) != count_of(*this, array.into))
            refuse(std::string("another number of ") + name_of(array.into) + " than its " + array.name + " says");
    });
    require(n_values >= 1, "nodes without values");
    require(n_outputs >= 1 && (n_values == 1 || n_values == n_outputs), "another number of outputs than of values");
    require(n_outputs <= most_outputs, "more outputs than a forest can have");
    require(n_values > 1 || n_outputs <= std::max<std::size_t>(trees(), 1), "more outputs than trees");
    require(value.empty() || value32.empty(), "values of two types");
    require(value.size() + value32.size() == nodes() * n_values, "a value of another length than it should have");
    for (std::int64_t count : rows) require(count >= 1, "a node without rows");
}

void Forest::check_planes() const {
    for (std::size_t node = 0; node < nodes(); ++node) {
        const std::int32_t count = plane_start[node + 1] - plane_start[node];
        require(count <= most_planes, "a node of more planes than it can have");
        require(child_start[node + 1] - child_start[node] == 1 << count,
                "a node that has not a child for every side of its planes");
    }
    std::int64_t set_bits = 0;
    for (std::size_t plane = 0; plane < planes(); ++plane) {
        const std::int32_t terms = term_start[plane + 1] - term_start[plane];
        require(terms >= 1, "a plane without terms");
        require(missing_right[plane] <= 1, "a plane without a side for missing values");
        require(threshold[plane] == threshold[plane], "a threshold that is not a number");
        std::int64_t largest = -1;
        for (std::int32_t k = set_start[plane]; k < set_start[plane + 1]; ++k) {
            const std::int32_t category = set_category[static_cast<std::size_t>(k)];
            require(terms == 1, "a plane that mixes categories and numbers");
            require(category >= 0, "a category that its column does not have");
            largest = std::max<std::int64_t>(largest, category);
        }
        set_bits += largest + 1;
    }
    require(set_bits / 8 <= most_set_bytes, "more sets of categories than memory is for");
    for (std::int32_t feature : term_feature) require(feature >= 0, "a plane on a column that the model does not have");
    for (std::int64_t coefficient : term_coefficient)
        require(coefficient != 0 && std::llabs(coefficient) <= most_coefficient,
                "a coefficient that no plane can have");
}

// A child comes after its parent and has no other one, so that there is no way back and every walk ends.
void Forest::find_parents() {
    parent.assign(nodes(), -1);
    depth.assign(nodes(), 0);
    for (std::size_t tree = 0; tree < trees(); ++tree) {
        const std::int32_t root = node_start[tree], count = node_start[tree + 1] - root;
        for (std::int32_t node = 0; node < count; ++node) {
            const auto at = static_cast<std::size_t>(root + node);
            require((parent[at] < 0) == (node == 0), "a node that no row can reach");
            require(node == 0 || depth[at] >= depth[at - 1], "nodes that are not numbered level by level");
            for (std::int32_t k = child_start[at]; k < child_start[at + 1]; ++k) {
                const std::int32_t child = children[static_cast<std::size_t>(k)];
                require(child >= node && child < count, "a child that is no later node of its tree");
                if (child == node) continue;
                require(!is_leaf(at), "a leaf that has a child");
                const auto below = static_cast<std::size_t>(root + child);
                require(parent[below] < 0 || parent[below] == node, "a node that has two parents");
                parent[below] = node;
                depth[below] = depth[at] + 1;
            }
        }
    }
}

void Forest::check_columns(const std::vector<std::int32_t> &categories) const {
    require(columns_used() <= categories.size(), "a plane on a column that the model does not have");
    for (std::size_t plane = 0; plane < planes(); ++plane) {
        const auto column = static_cast<std::size_t>(term_feature[static_cast<std::size_t>(term_start[plane])]);
        for (std::int32_t k = set_start[plane]; k < set_start[plane + 1]; ++k)
            require(set_category[static_cast<std::size_t>(k)] < categories[column],
                    "a category that its column does not have");
    }
}

// ---------------------------------------------------------------------------------------------- values
void Forest::set_means(const double *totals, double smoothing, double centre) {
    const std::size_t width = n_values + 1;
    std::vector<double> sums(totals, totals + nodes() * width);
    for (std::size_t end = nodes(); end > 1;) {  // level by level, the lowest first
        std::size_t begin = end - 1;
        while (depth[begin - 1] == depth[end - 1]) --begin;
        for (std::size_t node = begin; node < end; ++node)
            for (std::size_t k = 0; k < width; ++k)
                sums[static_cast<std::size_t>(parent[node]) * width + k] += sums[node * width + k];
        end = begin;
    }
    for (std::size_t node = 0; node < nodes(); ++node) {
        weight[node] = sums[node * width + n_values];
        for (std::size_t k = 0; k < n_values; ++k) value[node * n_values + k] = sums[node * width + k] / weight[node];
    }
    if (smoothing > 0) smooth(smoothing);
    for (double &each : value) each += centre;
}

void Forest::smooth(double strength) {
    for (std::size_t tree = 0; tree < trees(); ++tree) {
        const auto root = static_cast<std::size_t>(node_start[tree]),
                   end = static_cast<std::size_t>(node_start[tree + 1]);
        // A weight of one is a row; weights that are smaller on average count as if they were one.
        const double prior = strength * std::min(1.0, weight[root] / static_cast<double>(rows[root]));
        for (std::size_t node = root + 1; node < end; ++node) {
            const double own = weight[node] / (weight[node] + prior);
            const std::size_t above = root + static_cast<std::size_t>(parent[node]);
            for (std::size_t k = 0; k < n_values; ++k)
                value[node * n_values + k] = own * value[node * n_values + k] + (1 - own) * value[above * n_values + k];
        }
    }
}

// From the root down: no value on the lower side of a constrained plane may pass the middle of both sides' values.
void Forest::hold_monotone(const std::vector<std::int32_t> &monotone) {
    std::vector<Bounds> bounds(nodes());
    for (std::size_t node = 0, tree = 0; node < nodes(); ++node) {
        if (static_cast<std::int32_t>(node) == node_start[tree + 1]) ++tree;
        double &here = value[(node + 1) * n_values - 1];
        here = bounds[node].held(here);
        if (n_values == 2) value[2 * node] = 1 - here;
        if (is_leaf(node)) continue;
        const auto plane = static_cast<std::size_t>(plane_start[node]),
                   first = static_cast<std::size_t>(term_start[plane]),
                   last = static_cast<std::size_t>(term_start[plane + 1]),
                   entry = static_cast<std::size_t>(child_start[node]);
        const int sign = sign_of(monotone, &term_feature[first], &term_coefficient[first], last - first);
        const auto left = static_cast<std::size_t>(node_start[tree] + children[entry]),
                   right = static_cast<std::size_t>(node_start[tree] + children[entry + 1]);
        const auto sides =
            bounds[node].parted(sign, value[(left + 1) * n_values - 1], value[(right + 1) * n_values - 1]);
        bounds[left] = sides.first;
        bounds[right] = sides.second;
    }
}

void Forest::compact(std::size_t columns) {
    value32.resize(nodes() * columns);
    for (std::size_t node = 0; node < nodes(); ++node)
        for (std::size_t k = 0; k < columns; ++k)
            value32[node * columns + k] = static_cast<float>(value[(node + 1) * n_values - columns + k]);
    for (auto *dropped : {&value, &weight, &impurity, &gain}) release(*dropped);
    n_values = columns;
    // Gains as files and pickles keep them: in float32 where that holds them all.
    const auto held = [](double gain_of) {
        const double size = std::fabs(gain_of);
        return size == 0 || (size > static_cast<double>(std::numeric_limits<float>::min()) &&
                             size < static_cast<double>(std::numeric_limits<float>::max()));
    };
    if (std::all_of(plane_gain.begin(), plane_gain.end(), held))
        for (double &each : plane_gain) each = static_cast<double>(static_cast<float>(each));
}

std::vector<double> Forest::usual_values() const {
    std::vector<double> usual(nodes() * n_values), sum(n_values);
    for (std::size_t tree = trees(); tree-- > 0;) {
        const auto root = static_cast<std::size_t>(node_start[tree]);
        for (auto node = static_cast<std::size_t>(node_start[tree + 1]); node-- > root;) {  // children first
            double below = 0;
            std::fill(sum.begin(), sum.end(), 0.0);
            std::vector<std::int32_t> found(children.begin() + child_start[node],
                                            children.begin() + child_start[node + 1]);
            std::sort(found.begin(), found.end());
            found.erase(std::unique(found.begin(), found.end()), found.end());
            for (std::int32_t child : found) {
                const std::size_t at = root + static_cast<std::size_t>(child);
                if (at == node) continue;
                const auto count = static_cast<double>(rows[at]);
                for (std::size_t k = 0; k < n_values; ++k) sum[k] += usual[at * n_values + k] * count;
                below += count;
            }
            // Rows that ended in the node itself got its own value.
            const auto count = static_cast<double>(rows[node]);
            for (std::size_t k = 0; k < n_values; ++k) {
                const double own = value_at(node * n_values + k);
                usual[node * n_values + k] = is_leaf(node) ? own : (sum[k] + (count - below) * own) / count;
            }
        }
    }
    return usual;
}

std::pair<std::vector<std::int64_t>, std::vector<std::int32_t>> Forest::paths_to(
    std::size_t tree, const std::vector<std::int32_t> &to) const {
    const auto root = static_cast<std::size_t>(node_start[tree]);
    std::vector<std::int64_t> start{0};
    std::vector<std::int32_t> path;
    for (std::int32_t end : to) {
        for (std::int32_t node = end; node >= 0; node = parent[root + static_cast<std::size_t>(node)])
            path.push_back(node);
        std::reverse(path.begin() + static_cast<std::ptrdiff_t>(start.back()), path.end());
        start.push_back(static_cast<std::int64_t>(path.size()));
    }
    return {std::move(start), std::move(path)};
}

}  // namespace planewise
