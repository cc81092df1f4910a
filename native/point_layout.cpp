#include "point_layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace planewise {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Unsigned numbers that rise with the floats; both zeros are one.
std::uint32_t rising(float value) {
    value += 0.0f;
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

}  // namespace

SortedColumns::SortedColumns(const Points &points, const std::int32_t *label, std::vector<std::int32_t> rows)
    : points_(points),
      rows_(std::move(rows)),
      labels_(rows_.size()),
      by_label_(rows_.size()),
      columns_(points.columns) {
    std::iota(by_label_.begin(), by_label_.end(), 0);
    if (!label) return;
    const auto given = [&](std::int32_t i) { return label[row(i)]; };
    std::stable_sort(by_label_.begin(), by_label_.end(),
                     [&](std::int32_t a, std::int32_t b) { return given(a) < given(b); });
    for (std::size_t k = 1; k < by_label_.size(); ++k) {
        const std::int32_t before = by_label_[k - 1], now = by_label_[k];
        labels_[static_cast<std::size_t>(now)] = this->label(before) + (given(before) != given(now));
    }
}

void SortedColumns::sort(const std::vector<std::int32_t> &columns, Threads &threads, const Pause &pause) {
    std::vector<std::int32_t> wanted;
    for (const std::int32_t j : columns)
        if (columns_[static_cast<std::size_t>(j)].start.empty()) wanted.push_back(j);
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    threads.each(wanted.size(), 64 * wanted.size() * count(), [&](std::size_t piece, int thread) {
        if (thread == 0) pause();
        sort_column(columns_[static_cast<std::size_t>(wanted[piece])], points_.value + wanted[piece]);
    });
}

void SortedColumns::sort_column(Column &column, const float *first) const {
    std::vector<std::uint64_t> keys;  // the value, then the place by label
    keys.reserve(count());
    column.value.resize(count());
    for (std::size_t place = 0; place < count(); ++place) {
        const std::int32_t i = by_label_[place];
        const float x = first[static_cast<std::size_t>(row(i)) * points_.columns];
        column.value[static_cast<std::size_t>(i)] = x;
        if (x == x) keys.push_back(std::uint64_t{rising(x)} << 32 | place);
    }
    std::sort(keys.begin(), keys.end());
    column.order.resize(keys.size());
    column.code.assign(count(), -1);
    for (std::size_t k = 0; k < keys.size(); ++k) {
        const std::int32_t i = by_label_[keys[k] & 0xffffffffu];
        if (k == 0 || keys[k] >> 32 != keys[k - 1] >> 32) column.start.push_back(static_cast<std::int32_t>(k));
        column.order[k] = i;
        column.code[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(column.start.size()) - 1;
    }
    column.start.push_back(static_cast<std::int32_t>(keys.size()));
}

void Boxes::clear() {
    low.clear();
    high.clear();
    start.assign(1, 0);
}

void Boxes::add(float lowest, float highest) {
    low.push_back(lowest);
    high.push_back(highest);
}

void ViewLayout::arrange(const SortedColumns &rows, const std::int32_t *column, std::size_t dimensions,
                         std::size_t most_copies) {
    dimensions_ = dimensions;
    choose_axes(rows, column);
    order_rows(rows, column);
    merge(rows, column, most_copies);
    for (Boxes &level : boxes) level.clear();
    strip_size_.clear();
    if (!final_.empty()) cut_strips(rows, column, cut_slabs(rows, column));
    cut_leaves();
    gather(rows, column);
}

// The three columns with the most values: leaves along the first, strips along the second, slabs along the third.
void ViewLayout::choose_axes(const SortedColumns &rows, const std::int32_t *column) {
    differ.resize(dimensions_);
    any_categories = false;
    for (std::size_t d = 0; d < dimensions_; ++d) {
        differ[d] = rows.points().difference_of_categories(static_cast<std::size_t>(column[d]));
        any_categories |= differ[d] > 0;
    }
    std::vector<int> richest(dimensions_);
    std::iota(richest.begin(), richest.end(), 0);
    std::stable_sort(richest.begin(), richest.end(),
                     [&](int a, int b) { return rows[column[a]].codes() > rows[column[b]].codes(); });
    for (const int level : {leaf, strip, slab}) {
        const auto rank = static_cast<std::size_t>(leaf - level), at = static_cast<std::size_t>(level);
        axis[at] = rank < dimensions_ ? richest[rank] : -1;
        categories[at] = axis[at] < 0 ? 0.0f : differ[static_cast<std::size_t>(axis[at])];
    }
    for (std::size_t a = 0; a < 3; ++a) {
        place[a] = 0;
        for (std::size_t b = 0; b < 3; ++b) place[a] += axis[b] < axis[a] || (axis[b] == axis[a] && b < a);
    }
}

// A stable counting sort of `list`; those with a negative key fall out. `start`: where each key begins, if known.
template <class Key>
void ViewLayout::scatter(List &list, std::size_t keys, Key key, const List *start) {
    if (start) {
        position_ = *start;
    } else {
        position_.assign(keys + 1, 0);
        for (const std::int32_t i : list) {
            const std::int32_t k = key(i);
            if (k >= 0) ++position_[static_cast<std::size_t>(k) + 1];
        }
        for (std::size_t k = 0; k < keys; ++k) position_[k + 1] += position_[k];
    }
    scattered_.resize(static_cast<std::size_t>(position_[keys]));
    for (const std::int32_t i : list) {
        const std::int32_t k = key(i);
        if (k >= 0) scattered_[static_cast<std::size_t>(position_[static_cast<std::size_t>(k)]++)] = i;
    }
    list.swap(scattered_);
}

// Rows by the leaves' axis; equal ones by the other columns, then label, then number.
void ViewLayout::order_rows(const SortedColumns &rows, const std::int32_t *column) {
    const int last = axis[leaf];
    int first = last;
    for (int d = 0; d < static_cast<int>(dimensions_); ++d)
        if (d != last && (first == last || d == axis[strip])) first = d;
    order_ = rows[column[first]].order;
    const auto pass = [&](int d) {
        const SortedColumns::Column &sorted = rows[column[d]];
        const bool whole = order_.size() == rows.count() && sorted.order.size() == rows.count();
        scatter(
            order_, sorted.codes(), [&](std::int32_t i) { return sorted.code[static_cast<std::size_t>(i)]; },
            whole ? &sorted.start : nullptr);
    };
    for (int d = 0; d < static_cast<int>(dimensions_); ++d)
        if (d != first && d != last) pass(d);
    if (last != first) pass(last);
}

void ViewLayout::merge(const SortedColumns &rows, const std::int32_t *column, std::size_t most_copies) {
    if (std::any_of(column, column + dimensions_,
                    [&](std::int32_t j) { return rows[j].codes() == rows[j].order.size(); })) {  // all differ
        first_row_ = order_;
        first_copies_.assign(order_.size(), 1);
        final_.resize(order_.size());
        std::iota(final_.begin(), final_.end(), 0);
        if (order_.size() < rows.count()) point_of_row.assign(rows.count(), -1);
        point_of_row.resize(rows.count());
        for (std::size_t g = 0; g < order_.size(); ++g)
            point_of_row[static_cast<std::size_t>(order_[g])] = static_cast<std::int32_t>(g);
        return;
    }
    point_of_row.assign(rows.count(), -1);
    first_row_.clear();
    first_copies_.clear();
    std::int32_t before = -1;
    for (const std::int32_t i : order_) {
        bool coincides = before >= 0 && rows.label(before) == rows.label(i);
        for (std::size_t d = 0; coincides && d < dimensions_; ++d) {
            const auto &code = rows[column[d]].code;
            coincides = code[static_cast<std::size_t>(before)] == code[static_cast<std::size_t>(i)];
        }
        before = i;
        // With copies kept apart, `copies` counts those seen so far.
        const bool known =
            coincides && (most_copies == 0 || static_cast<std::size_t>(first_copies_.back()) >= most_copies);
        if (known) {
            ++first_copies_.back();
        } else {
            first_row_.push_back(i);
            first_copies_.push_back(coincides ? first_copies_.back() + 1 : 1);
        }
        if (!known || most_copies == 0)
            point_of_row[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(first_row_.size()) - 1;
    }
    final_.resize(first_row_.size());
    std::iota(final_.begin(), final_.end(), 0);
}

namespace {

// Cuts values, of which weight[code] points have each, into parts of about `target` points; heavy values are alone.
// Parts are numbered from `part` on; each is told as done(first code, last code, points).
template <class Done>
void cut(const std::vector<std::int32_t> &weight, double target, std::vector<std::int32_t> &part_of_code,
         std::int32_t part, Done done) {
    part_of_code.resize(weight.size());
    const auto full = static_cast<std::int32_t>(std::ceil(target)), too_full = full + full / 2;
    std::int32_t filled = 0;
    std::size_t first = 0, last = 0;
    for (std::size_t code = 0; code < weight.size(); ++code) {
        if (weight[code] == 0) continue;
        if (filled >= full || (filled > 0 && filled + weight[code] > too_full)) {
            done(first, last, filled);
            ++part;
            filled = 0;
        }
        if (filled == 0) first = code;
        part_of_code[code] = part;
        filled += weight[code];
        last = code;
    }
    if (filled > 0) done(first, last, filled);
}

}  // namespace

// Slabs of equal size along their axis; the answer is their number.
std::size_t ViewLayout::cut_slabs(const SortedColumns &rows, const std::int32_t *column) {
    if (axis[slab] < 0) {
        boxes[slab].add(-infinity, infinity);
        return 1;
    }
    const SortedColumns::Column &sorted = rows[column[axis[slab]]];
    const auto code = [&](std::size_t g) {
        return static_cast<std::size_t>(sorted.code[static_cast<std::size_t>(first_row_[g])]);
    };
    weight_.assign(sorted.codes(), 0);
    for (std::size_t g = 0; g < final_.size(); ++g) ++weight_[code(g)];
    const double leaves = static_cast<double>(final_.size()) / leaf_size;
    const double target = static_cast<double>(final_.size()) / std::max(1.0, std::round(std::cbrt(leaves)));
    cut(weight_, target, part_of_code_, 0, [&](std::size_t first, std::size_t last, std::int32_t) {
        boxes[slab].add(sorted.value_of(first), sorted.value_of(last));
    });
    slab_of_.resize(final_.size());
    for (std::size_t g = 0; g < final_.size(); ++g) slab_of_[g] = part_of_code_[code(g)];
    return boxes[slab].count();
}

// Strips of each slab.
void ViewLayout::cut_strips(const SortedColumns &rows, const std::int32_t *column, std::size_t slabs) {
    if (axis[strip] < 0) {  // one strip
        boxes[strip].add(-infinity, infinity);
        boxes[slab].start.push_back(1);
        strip_size_.assign(1, final_.size());
        return;
    }
    by_slab_ = final_;
    if (slabs > 1) scatter(by_slab_, slabs, [&](std::int32_t g) { return slab_of_[static_cast<std::size_t>(g)]; });
    strip_of_.resize(final_.size());
    const std::size_t count = final_.size();
    for (std::size_t begin = 0, end; begin < count; begin = end) {
        end = count;
        if (slabs > 1) {
            const std::int32_t own = slab_of_[static_cast<std::size_t>(by_slab_[begin])];
            for (end = begin; end < count && slab_of_[static_cast<std::size_t>(by_slab_[end])] == own;) ++end;
        }
        cut_into_strips(begin, end, rows[column[axis[strip]]]);
        boxes[slab].start.push_back(strip_size_.size());
    }
    scatter(final_, strip_size_.size(), [&](std::int32_t g) { return strip_of_[static_cast<std::size_t>(g)]; });
}

// One slab, begin .. end-1 of by_slab_: as many strips as make its leaves about as wide as long.
void ViewLayout::cut_into_strips(std::size_t begin, std::size_t end, const SortedColumns::Column &sorted) {
    const auto code = [&](std::size_t k) {
        const auto g = static_cast<std::size_t>(by_slab_[k]);
        return static_cast<std::size_t>(sorted.code[static_cast<std::size_t>(first_row_[g])]);
    };
    weight_.assign(sorted.codes(), 0);
    for (std::size_t k = begin; k < end; ++k) ++weight_[code(k)];
    const double size = static_cast<double>(end - begin);
    const double target = size / std::max(1.0, std::round(std::sqrt(size / leaf_size)));
    cut(weight_, target, part_of_code_, static_cast<std::int32_t>(strip_size_.size()),
        [&](std::size_t first, std::size_t last, std::int32_t points) {
            boxes[strip].add(sorted.value_of(first), sorted.value_of(last));
            strip_size_.push_back(static_cast<std::size_t>(points));
        });
    for (std::size_t k = begin; k < end; ++k) strip_of_[static_cast<std::size_t>(by_slab_[k])] = part_of_code_[code(k)];
}

void ViewLayout::cut_leaves() {
    std::size_t at = 0;
    for (const std::size_t size : strip_size_) {
        for (const std::size_t end = at + size; at < end;) {
            at = std::min(at + leaf_size, end);
            boxes[leaf].start.push_back(at);
        }
        boxes[strip].start.push_back(boxes[leaf].start.size() - 1);
    }
}

void ViewLayout::gather(const SortedColumns &rows, const std::int32_t *column) {
    const std::size_t count = final_.size();
    stride_ = count + leaf_size;  // a leaf may be read as if it were full
    coordinate_.assign(stride_ * dimensions_, 0.0f);
    label.resize(count);
    row.resize(count);
    copies.resize(count);
    List &place_of = scattered_;
    place_of.resize(count);
    for (std::size_t k = 0; k < count; ++k) {
        const auto g = static_cast<std::size_t>(final_[k]);
        place_of[g] = static_cast<std::int32_t>(k);
        row[k] = first_row_[g];
        copies[k] = first_copies_[g];
        label[k] = rows.label(row[k]);
    }
    for (std::int32_t &point : point_of_row)
        if (point >= 0) point = place_of[static_cast<std::size_t>(point)];
    for (std::size_t d = 0; d < dimensions_; ++d) {
        const SortedColumns::Column &sorted = rows[column[d]];
        float *to = coordinate_.data() + d * stride_;
        for (std::size_t k = 0; k < count; ++k) to[k] = sorted.value[static_cast<std::size_t>(row[k])];
    }
    const std::size_t leaves = boxes[leaf].start.size() - 1;
    leaf_labels.resize(leaves);
    leaf_only.resize(leaves);
    const float *along = leaves > 0 ? coordinate(static_cast<std::size_t>(axis[leaf])) : nullptr;
    for (std::size_t l = 0; l < leaves; ++l) {
        const std::size_t begin = boxes[leaf].start[l], end = boxes[leaf].start[l + 1];
        boxes[leaf].add(along[begin], along[end - 1]);
        std::uint64_t bits = 0;
        bool one = true;
        for (std::size_t k = begin; k < end; ++k) {
            bits |= std::uint64_t{1} << (static_cast<std::uint32_t>(label[k]) & 63u);
            one &= label[k] == label[begin];
        }
        leaf_labels[l] = bits;
        leaf_only[l] = one ? label[begin] : -1;
    }
}

}  // namespace planewise
