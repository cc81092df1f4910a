// One classification tree for a web page: what SLMClassifier does with its default parameters, on two columns.
//
// The page fills `points` and `labels`, calls fit(), and reads the arrays of the tree. All memory belongs to this
// module and stays valid until the next call.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "grow.hpp"
#include "matrix.hpp"
#include "parallel.hpp"
#include "statistics.hpp"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace {

using namespace planewise;

constexpr std::size_t n_columns = 2;
constexpr double smoothing = 4;  // as the default of SLMClassifier

std::vector<float> point_values;
std::vector<std::int32_t> label_values;
Grown<ClassCounts> grown;

GrowOptions options_of(std::uint32_t seed, int max_planes, int max_depth) {
    GrowOptions options;  // those not named here have the defaults of SLMClassifier
    options.seed = seed;
    options.max_depth = max_depth;
    options.prune_margin = 0.75;
    options.draw.n_projections = 200;
    options.draw.rounds = {DrawRound{2, 0.0, 0.1}};
    options.choose.max_planes = max_planes;
    return options;
}

// Class counts of each leaf, then their sum: what the values of the nodes are made from.
std::vector<double> totals_of(std::size_t n_classes) {
    std::vector<double> totals(grown.tree.nodes() * (n_classes + 1), 0.0);
    for (std::size_t i = 0; i < label_values.size(); ++i) {
        double *own = &totals[static_cast<std::size_t>(grown.leaf[i]) * (n_classes + 1)];
        own[label_values[i]] += 1;
        own[n_classes] += 1;
    }
    return totals;
}

}  // namespace

// Room for so many training points, x and y of each; and for their classes 0, 1, ...
EXPORT(points) float *points(std::size_t count) {
    point_values.resize(count * n_columns);
    return point_values.data();
}
EXPORT(labels) std::int32_t *labels(std::size_t count) {
    label_values.resize(count);
    return label_values.data();
}

// Grows the tree on the points given; the number of its nodes, or 0 if there are no points, another number of labels,
// or a label beyond the classes.
EXPORT(fit) std::size_t fit(std::size_t n_classes, std::uint32_t seed, int max_planes, int max_depth) {
    const std::size_t rows = label_values.size();
    if (rows == 0 || point_values.size() != rows * n_columns) return 0;
    for (const std::int32_t label : label_values)
        if (label < 0 || static_cast<std::size_t>(label) >= n_classes) return 0;
    Threads threads(1);
    const std::vector<double> weight(rows, 1.0);
    Matrix matrix{point_values.data(), rows, n_columns, {}, {}};
    matrix.find_scales(weight.data(), threads);
    ClassCounts statistics(n_classes, Criterion::entropy);
    statistics.assign(label_values.data(), weight.data(), rows);
    grown = grow(matrix, statistics, options_of(seed, max_planes, max_depth), threads, [] { return false; });
    grown.tree.set_means(totals_of(n_classes).data(), smoothing, 0.0);
    return grown.tree.nodes();
}

// The leaf of each training point, then the arrays of the tree as slm/fitted.py describes them.
EXPORT(leaf) const std::int32_t *leaf() { return grown.leaf.data(); }
EXPORT(n_planes) std::size_t n_planes() { return grown.tree.planes(); }
EXPORT(n_terms) std::size_t n_terms() { return grown.tree.term_feature.size(); }
EXPORT(n_children) std::size_t n_children() { return grown.tree.children.size(); }
EXPORT(plane_start) const std::int32_t *plane_start() { return grown.tree.plane_start.data(); }
EXPORT(child_start) const std::int32_t *child_start() { return grown.tree.child_start.data(); }
EXPORT(children) const std::int32_t *children() { return grown.tree.children.data(); }
EXPORT(depth) const std::int32_t *depth() { return grown.tree.depth.data(); }
EXPORT(value) const double *value() { return grown.tree.value.data(); }
EXPORT(threshold) const float *threshold() { return grown.tree.threshold.data(); }
EXPORT(term_start) const std::int32_t *term_start() { return grown.tree.term_start.data(); }
EXPORT(term_feature) const std::int32_t *term_feature() { return grown.tree.term_feature.data(); }
EXPORT(term_weight) const float *term_weight() { return grown.tree.term_weight.data(); }

// This compiler has no exceptions for WebAssembly. The core throws nothing on input that fit() accepts; if it did, the
// module would stop with an error that the page shows.
extern "C" {
void *__cxa_allocate_exception(std::size_t) { __builtin_trap(); }
void __cxa_throw(void *, void *, void *) { __builtin_trap(); }
}
