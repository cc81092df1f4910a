// The k nearest rows in many low-dimensional views of one table: a view is a few of its columns.
//
// One rule for distances, everywhere: differences in float32, their squares added up in float32 in the order of the
// columns, the square root in float32. A categorical column has a number of its own, by which two different categories
// differ. Rows without a value in one of the view's columns are nobody's neighbours there. Results are exact, so they
// depend neither on the number of threads nor on how work is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "parallel.hpp"

namespace planewise {

struct Points {
    const float *value;  // row-major; NaN: missing
    std::size_t rows, columns;
    const float *categorical;  // per column: 0 for numbers, else what two different categories differ by; may be null

    const float *row(std::size_t i) const { return value + i * columns; }
    float difference_of_categories(std::size_t column) const { return categorical ? categorical[column] : 0.0f; }
};

// The columns of many views, one after another; those of a view are increasing.
struct Views {
    std::vector<std::size_t> start;  // one more than there are views
    std::vector<std::int32_t> column;

    std::size_t count() const { return start.size() - 1; }
    std::size_t dimensions(std::size_t view) const { return start[view + 1] - start[view]; }
    const std::int32_t *columns(std::size_t view) const { return column.data() + start[view]; }
};

// Called now and then on the calling thread; may throw to end the work.
using Pause = std::function<void()>;

class SortedColumns;

// Distances of rows to others of their own label and of other labels. What views share is kept between calls.
class OwnAndOther {
  public:
    // Points and labels must outlive this.
    OwnAndOther(const Points &points, const std::int32_t *label);
    ~OwnAndOther();

    // For each view and each query, a row of the table: the distance to the k-th nearest other row of its label, and of
    // any other label (both views x queries). Infinite where there are fewer, NaN where the query lacks a value.
    void distances(const Views &views, const std::vector<std::int32_t> &queries, std::size_t k, float *same,
                   float *other, Threads &threads, const Pause &pause);

  private:
    std::unique_ptr<SortedColumns> rows_;
};

// For each view, query and class: the k nearest rows, by distance and then by number. -1 and infinity where there are
// fewer, or the query lacks a value.
struct ClassNeighbours {
    const float *query;  // queries x columns
    std::size_t queries;
    const std::int32_t *exclude;  // per query a row that is not its neighbour; may be null
    std::size_t classes, k;
    std::int32_t *row;  // views x queries x classes x k
    float *distance;
};
// Without labels all rows are of class 0.
void class_neighbours(const Points &points, const std::int32_t *label, const Views &views,
                      const ClassNeighbours &wanted, Threads &threads, const Pause &pause);

// Of the k nearest rows, whatever their label, the weights by label. Rows that are as far away as the k-th share the
// places that nearer rows leave, in equal parts: each counts as often as it would on average if lots were drawn. The
// weights of the labels are sums of whole numbers (of a fixed unit), so that they depend on no order of rows.
class NearestWeights {
  public:
    // Points and labels must outlive this; labels are 0 and up.
    NearestWeights(const Points &points, const std::int32_t *label, const double *weight);
    ~NearestWeights();

    // For each view and each query, a row of the table: the weight of those of its k nearest other rows that have its
    // label, and of the others (both views x queries). NaN where it has no neighbour.
    void own_and_other(const Views &views, const std::vector<std::int32_t> &queries, std::size_t k, float *own,
                       float *other, Threads &threads, const Pause &pause);

    struct ByClass {
        const float *query;  // queries x columns
        std::size_t queries;
        const std::int32_t *exclude;  // per query a row that is not its neighbour; may be null
        std::size_t classes, k;
        double *weight;               // views x queries x classes
        std::int32_t *nearer, *tied;  // views x queries: how many rows are nearer than the k-th, and as far away
    };
    // Labels are below the number of classes. Without k neighbours, all are nearer; there are none where a value is
    // lacking.
    void by_class(const Views &views, const ByClass &wanted, Threads &threads, const Pause &pause);

  private:
    struct Search;
    template <class Answer>
    void search(const Views &views, const Search &wanted, Threads &threads, const Pause &pause, Answer answer);
    template <class Answer>
    void look_at_every_row(const Views &views, const Search &wanted, Threads &threads, const Pause &pause,
                           Answer answer);
    template <class Answer>
    void search_layouts(const Views &views, const Search &wanted, Threads &threads, const Pause &pause, Answer answer);

    Points points_;
    const std::int32_t *label_;
    std::size_t labels_ = 0;
    std::vector<std::int64_t> weight_;  // in units
    double unit_;
    std::unique_ptr<SortedColumns> rows_;  // once there are many queries
};

}  // namespace planewise
