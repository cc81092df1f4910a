// How the rows of a table lie in a view: coinciding rows together, neighbours in space near in memory.
//
// Columns are sorted once and shared by all views they are part of. The points of a view are then put in order by
// passes over those sorted columns, without comparing: first into slabs along one axis, each slab into strips along a
// second, each strip sorted along a third and cut into leaves of a few points. Two-dimensional views have one slab,
// one-dimensional ones one strip; views of more columns use the three with the most values. A heavy value (the zeros
// of a sparse column) gets a slab or strip to itself, so that a strip is never long for another reason than that its
// points differ along the sorted axis alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "neighbours.hpp"
#include "parallel.hpp"

namespace planewise {

// Some rows of a table, and their columns sorted.
class SortedColumns {
  public:
    struct Column {
        std::vector<std::int32_t> order;  // rows with a value, by value, then label, then number
        std::vector<std::int32_t> code;   // of each row: the place of its value among the distinct ones; -1: missing
        std::vector<std::int32_t> start;  // of each code in `order`, and the end
        std::vector<float> value;         // of each row

        std::size_t codes() const { return start.size() - 1; }
        float value_of(std::size_t which) const {
            return value[static_cast<std::size_t>(order[static_cast<std::size_t>(start[which])])];
        }
    };

    // Labels may be null: all the same.
    SortedColumns(const Points &points, const std::int32_t *label, std::vector<std::int32_t> rows);

    // Sorts those columns that are not sorted yet.
    void sort(const std::vector<std::int32_t> &columns, Threads &threads, const Pause &pause);

    const Column &operator[](std::int32_t column) const { return columns_[static_cast<std::size_t>(column)]; }
    const Points &points() const { return points_; }
    std::size_t count() const { return rows_.size(); }
    std::int32_t row(std::int32_t i) const { return rows_[static_cast<std::size_t>(i)]; }
    // Labels are numbered from 0 on.
    std::int32_t label(std::int32_t i) const { return labels_[static_cast<std::size_t>(i)]; }

  private:
    void sort_column(Column &column, const float *first) const;

    Points points_;
    std::vector<std::int32_t> rows_, labels_, by_label_;
    std::vector<Column> columns_;
};

// Boxes along one axis, in rising order: the box of each, and where its children begin one level below.
struct Boxes {
    std::vector<float> low, high;
    std::vector<std::size_t> start;  // one more than there are boxes

    std::size_t count() const { return low.size(); }
    void clear();
    void add(float lowest, float highest);
};

class ViewLayout {
  public:
    static constexpr std::size_t leaf_size = 16;
    enum Level { slab, strip, leaf };

    // Of coinciding rows of a label, `most_copies` become points of their own; 0: all of them are one point.
    void arrange(const SortedColumns &rows, const std::int32_t *column, std::size_t dimensions,
                 std::size_t most_copies);

    std::size_t dimensions() const { return dimensions_; }
    std::size_t points() const { return label.size(); }
    const float *coordinate(std::size_t dimension) const { return coordinate_.data() + dimension * stride_; }

    // Points, in the order of leaves.
    std::vector<std::int32_t> label, row, copies;
    std::vector<std::int32_t> point_of_row;  // -1: not in the view, for lack of a value (or a copy too many)

    std::array<Boxes, 3> boxes;              // slabs, strips, leaves; those of leaves start at points
    std::vector<std::uint64_t> leaf_labels;  // a bit for each label, modulo 64
    std::vector<std::int32_t> leaf_only;     // the label of all points; -1: several

    // The dimension along which a level is cut, if it is, and the place of that term in sums over dimensions.
    std::array<int, 3> axis, place;
    std::array<float, 3> categories;  // what categories differ by on that axis; 0: numbers
    std::vector<float> differ;        // the same for each dimension
    bool any_categories = false;

  private:
    using List = std::vector<std::int32_t>;
    void choose_axes(const SortedColumns &rows, const std::int32_t *column);
    void order_rows(const SortedColumns &rows, const std::int32_t *column);
    void merge(const SortedColumns &rows, const std::int32_t *column, std::size_t most_copies);
    std::size_t cut_slabs(const SortedColumns &rows, const std::int32_t *column);
    void cut_strips(const SortedColumns &rows, const std::int32_t *column, std::size_t slabs);
    void cut_leaves();
    void gather(const SortedColumns &rows, const std::int32_t *column);
    void cut_into_strips(std::size_t begin, std::size_t end, const SortedColumns::Column &sorted);
    template <class Key>
    void scatter(List &list, std::size_t keys, Key key, const List *start = nullptr);

    std::size_t dimensions_ = 0, stride_ = 0;
    std::vector<float> coordinate_;
    // Work space, kept from view to view.
    List order_, scattered_, position_, first_row_, first_copies_, final_, slab_of_, by_slab_, weight_, part_of_code_,
        strip_of_;
    std::vector<std::size_t> strip_size_;
};

}  // namespace planewise
