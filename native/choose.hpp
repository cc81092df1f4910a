// The best threshold of a candidate, and the planes of a node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <vector>

#include "bits.hpp"
#include "categories.hpp"
#include "directions.hpp"
#include "interactions.hpp"
#include "measure.hpp"

namespace planewise {

enum class PlaneChoice { joint, cosine };
enum class Bins { uniform, robust, quantile };  // robust: uniform where most rows are, wide ones for far tails

struct ChooseOptions {
    int n_bins = 16;  // B
    Bins bins = Bins::uniform;
    bool refine = true;  // search the winner's threshold between its rows, not only on bin edges
    int max_planes = 2;  // q
    PlaneChoice plane_choice = PlaneChoice::joint;
    double max_cosine = 0.7;         // theta_minimax
    double min_relative_gain = 0.5;  // 1 - rho: weaker candidates cannot become a further plane
    int max_joint = 16;              // the best that many candidates are judged together with the planes chosen
    bool exact_edges = false;        // uniform bins by comparison with their edges, not by a product that rounds
    std::int64_t min_samples_leaf = 1;
    double min_child_weight = 0;
    double min_split_gain = 0;  // what every further cell must gain
    double luck = 0;            // 2 ln(cuts tried a node): how far the largest of so many chi-squares lies above one
    double noise_margin = 0;    // ... times what the best of that many random cuts would gain
};

struct Plane {
    std::uint32_t direction;
    float threshold;
    bool missing_right;
    double gain;                    // rise of the score on the sample when this plane was added, less what follows
    double by_chance;               // what putting its categories in order gains where nothing is to be learned
    std::vector<std::int32_t> set;  // categories of the lighter side, and whether that is the right one
    bool set_right = false;
};

// A candidate's best cut: the edge, the side of missing values, and the gain.
struct Cut {
    int edge = 0;
    bool missing_right = true;
    double gain = 0;
    double balance = -1;  // weight of the lighter side

    // To 24 bits: cuts that part the rows alike must tie although their sums were rounded otherwise.
    static double roughly(double x) {
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        bits = (bits + (std::uint64_t{1} << 28)) & ~((std::uint64_t{1} << 29) - 1);
        std::memcpy(&x, &bits, sizeof bits);
        return x;
    }
    bool better_than(const Cut &other) const {
        const double mine = roughly(gain), theirs = roughly(other.gain);
        return mine > theirs || (mine == theirs && roughly(balance) > roughly(other.balance));
    }
};

template <class S>
class Chooser {
  public:
    Chooser(const S &statistics, const ChooseOptions &options) : statistics_(statistics), options_(options) {}

    // Starts a node: its sampled rows, all in one cell.
    void open(const Sample &sample) {
        const std::size_t n = sample.size();
        rows_.resize(n);
        for (std::size_t i = 0; i < n; ++i) rows_[i] = statistics_.data()[sample.row(i)];
        adder_.open(rows_.data(), n);
        cell_.assign(n, 0);
        offset_.assign(n, 0);
        if (values_.size() < n) slot_.resize(n), values_.resize(n);
        right_.resize(channels());
        measured_.clear();
        edges_.clear();
        orders_used_ = 0;
        cells_ = 1;
        sum_cells();
        total_ = totals_;
    }
    // Monotone constraints: the bounds of the node's values; values may only follow these columns' signs.
    void bound(const Bounds &bounds, const std::vector<std::int32_t> &monotone) {
        bounds_ = bounds;
        monotone_ = &monotone;
    }
    // Interaction constraints: the columns used above the node.
    void follow(const Path &path) { path_ = &path; }
    const std::int64_t *total() const { return total_.data(); }  // over all sampled rows

    // The 1-D test (DFT, RFT) of the next direction; directions are measured in their order.
    void measure(Sample &sample, const Matrix &matrix, const Directions &directions, std::size_t d) {
        const std::size_t n = rows_.size();
        const std::int32_t feature = directions.feature[directions.begin(d)];
        if (matrix.is_categorical(static_cast<std::size_t>(feature)))
            return measure_categories(sample, matrix, directions, d);
        Measured now;
        find_values(sample, directions, d, now);
        bool may_miss = false, may_be_infinite = false;
        double rounding = 0;
        for (std::uint32_t t = directions.begin(d); t < directions.end(d); ++t) {
            rounding += std::fabs(static_cast<double>(directions.weight[t])) *
                        static_cast<double>(sample.reach(directions.feature[t]));
            may_miss = may_miss || matrix.may_miss[static_cast<std::size_t>(directions.feature[t])];
            may_be_infinite =
                may_be_infinite || matrix.may_be_infinite(static_cast<std::size_t>(directions.feature[t]));
        }
        may_miss = may_miss || may_be_infinite;  // a sum of infinities of both signs is missing
        const Range range = find_range(sample, directions, d, may_miss, may_be_infinite);
        const double span = static_cast<double>(range.high) - static_cast<double>(range.low);
        now.missing = range.missing;
        // One feature is compared as it is; a sum of several is blurred by rounding.
        now.flat = !(span > (directions.terms(d) == 1 ? 0.0 : 64 * 1.1920929e-7 * rounding));
        now.sign = sign_of(directions, d);
        now.below = range.below;
        now.above = range.above;
        now.splittable = now.sign != at_odds && range.missing < n && span < 3e38 &&
                         (!now.flat || range.missing > 0 || now.infinite());
        if (now.splittable) {
            if (bins_.size() < (d + 1) * n) bins_.resize((d + 1) * n);
            now.low = range.low;
            now.high = range.high;
            if (options_.bins == Bins::robust && !matrix.body_low.empty() && now.order == nullptr && !now.flat)
                leave_tails(matrix, directions, d, now);
            put_into_bins(now, d, may_miss);
            now.cut = best_cut(d, now);
        }
        measured_.push_back(now);
    }
    // Adds up the rows by the set bits of the two-valued columns, for `measure_bit`.
    void add_bits(const Sample &sample, const TwoValued &two_valued) {
        const std::size_t width = channels();
        bit_sums_.assign(64 * two_valued.words * width, 0);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::size_t w = 0; w < two_valued.words; ++w)
                for (std::uint64_t left = sample.bits(i)[w]; left != 0; left &= left - 1)
                    statistics_.add(rows_[i], &bit_sums_[(64 * w + lowest_bit(left)) * width]);
    }
    // Quantiles may see the more frequent value only, and then part nothing.
    bool can_measure_bits() const { return options_.bins != Bins::quantile; }
    // The next direction, which is one two-valued column; its rows go into bins only if it comes to more.
    void measure_bit(const TwoValued &two_valued, const Directions &directions, std::size_t d) {
        const auto bit =
            static_cast<std::size_t>(two_valued.bit[static_cast<std::size_t>(directions.feature[directions.begin(d)])]);
        const std::size_t width = channels(), slots = static_cast<std::size_t>(stride());
        const std::int64_t *set = &bit_sums_[bit * width];
        const float weight = directions.weight[directions.begin(d)];
        const float ends[2] = {weight * two_valued.clear[bit], weight * two_valued.set[bit]};
        Measured now;
        now.binned = false;
        now.low = std::min(ends[0], ends[1]);
        now.high = std::max(ends[0], ends[1]);
        now.sign = sign_of(directions, d);
        const std::int64_t count = statistics_.rows(set), all = statistics_.rows(total());
        now.splittable = now.sign != at_odds && count > 0 && count < all && now.high - now.low < 3e38f;
        if (now.splittable) {
            sums_.assign(slots * width, 0);
            std::int64_t *low = sums_.data(), *high = sums_.data() + (slots - 2) * width;  // the first and last bin
            for (std::size_t k = 0; k < width; ++k) {
                (ends[1] > ends[0] ? high : low)[k] = set[k];
                (ends[1] > ends[0] ? low : high)[k] = total()[k] - set[k];
            }
            now.cut = best_cut(now);
        }
        measured_.push_back(now);
    }
    // The direction was measured to rank it, and is no candidate.
    void leave_out(std::size_t d) {
        measured_[d].splittable = false;
        measured_[d].cut = {};
    }
    bool splittable(std::size_t d) const { return measured_[d].splittable; }
    double gain(std::size_t d) const { return measured_[d].cut.gain; }
    float threshold(std::size_t d) const { return edge(measured_[d], measured_[d].cut.edge); }

    // The node's planes, best first; none when nothing gains. `grown` is rows in the node / rows in the sample.
    void choose(Sample &sample, const Directions &directions, double grown, std::vector<Plane> &planes) {
        planes.clear();
        if (measured_.empty()) return;
        std::size_t best = 0;
        for (std::size_t d = 1; d < measured_.size(); ++d)
            if (measured_[d].cut.better_than(measured_[best].cut)) best = d;
        const double least = measured_[best].cut.gain * options_.min_relative_gain;
        const double chance = options_.noise_margin * (statistics_.dof(total()) + options_.luck) *
                              statistics_.chance(total(), measured_[best].cut.gain, 2);
        if (!(measured_[best].cut.gain > 1e-10 * std::fabs(statistics_.impurity(total()))) ||
            !worth(measured_[best].cut.gain, grown, 1, chance))
            return;
        add_plane(sample, directions, best, measured_[best].cut, planes);
        if (options_.plane_choice == PlaneChoice::joint)
            add_jointly(sample, directions, grown, least, chance, planes);
        else
            add_by_cosine(sample, directions, grown, least, chance, planes);
    }

  private:
    struct Measured {
        bool splittable = false;
        bool flat = false;  // one value only: the missing ones can be split off, nothing else
        float low = 0, high = 0;
        bool below = false, above = false;  // whether rows are at -infinity or infinity
        std::size_t missing = 0;
        std::size_t edges = 0;                 // where its edges start, if they are no simple steps
        const CategoryOrder *order = nullptr;  // of a categorical column
        int sign = 0;                          // which side must have the larger values: 1 right, -1 left, 0 either
        bool binned = true;
        Cut cut;
        bool infinite() const { return below || above; }
        double by_chance() const { return order != nullptr ? order->by_chance() : 0.0; }
    };
    int sign_of(const Directions &directions, std::size_t d) const {
        if (!bounded()) return 0;
        return planewise::sign_of(*monotone_, &directions.feature[directions.begin(d)],
                                  &directions.coefficient[directions.begin(d)], directions.terms(d));
    }
    bool bounded() const { return monotone_ != nullptr && !monotone_->empty(); }

    bool has_edges(const Measured &now) const {
        return now.order != nullptr || options_.bins == Bins::quantile || options_.exact_edges || now.infinite();
    }

    // A categorical column, its categories in the order of their target statistics in this node. The sums by category
    // are all that its cuts need: its rows go into bins only if it comes to more.
    void measure_categories(Sample &sample, const Matrix &matrix, const Directions &directions, std::size_t d) {
        const std::int32_t feature = directions.feature[directions.begin(d)];
        const float *x = sample.column(feature);
        if (orders_used_ == orders_.size()) orders_.push_back(std::make_unique<CategoryOrder>());
        CategoryOrder &order = *orders_[orders_used_++];
        order.arrange(statistics_, adder_, x, rows_.size(), matrix.categories[static_cast<std::size_t>(feature)],
                      total());
        Measured now;
        now.binned = false;
        now.order = &order;
        now.missing = order.rows_missing(statistics_);
        now.flat = order.present().size() < 2;
        now.sign = sign_of(directions, d);
        now.splittable = now.sign != at_odds && !order.present().empty() && (!now.flat || now.missing > 0);
        if (now.splittable) {
            now.high = static_cast<float>(order.present().size() - 1);
            now.edges = edges_.size();
            find_edges(order, x, now.flat);
            order.set_bins(&edges_[now.edges], options_.n_bins);
            sums_.assign(static_cast<std::size_t>(stride()) * channels(), 0);
            order.add_up_bins(channels(), sums_.data());
            now.cut = best_cut(now);
        }
        measured_.push_back(now);
    }

    // Edges between the places of categories: one bin per category, or if they are too many, quantiles.
    void find_edges(const CategoryOrder &order, const float *x, bool flat) {
        const std::size_t levels = order.present().size(), bins = static_cast<std::size_t>(options_.n_bins);
        if (levels <= bins) {  // flat: all in the last bin, no edge parts them, but edge 0 parts them from missing ones
            for (std::size_t b = 1; b < bins; ++b) edges_.push_back(flat ? 0.0f : static_cast<float>(b) - 0.5f);
            return;
        }
        tally_.assign(levels, 0);  // of the places of at most 256 evenly spaced rows, as for numbers
        std::size_t count = 0;
        for (std::size_t i = 0, step = (rows_.size() + 255) / 256; i < rows_.size(); i += step)
            if (x[i] == x[i]) ++count, ++tally_[static_cast<std::size_t>(order.place(x[i]))];
        std::size_t place = 0, up_to = tally_[0];
        for (std::size_t b = 1; b < bins; ++b) {
            while (up_to <= b * count / bins && place + 1 < levels) up_to += tally_[++place];
            edges_.push_back(count > 0 ? static_cast<float>(place) : 0.0f);
        }
    }

    // Where the sampled rows lie along direction d: a weighted sum, or the places of their categories.
    void find_values(Sample &sample, const Directions &directions, std::size_t d, const Measured &now) {
        if (now.order == nullptr) return project(sample, directions, d, values_.data());
        const float *x = sample.column(directions.feature[directions.begin(d)]);
        for (std::size_t i = 0; i < rows_.size(); ++i)
            values_[i] = x[i] == x[i] ? static_cast<float>(now.order->place(x[i])) : x[i];
    }

    // Of the values along direction d. The range of a column is known already, and rounding keeps the order of
    // products.
    Range find_range(const Sample &sample, const Directions &directions, std::size_t d, bool may_miss,
                     bool may_be_infinite) const {
        const float weight = directions.weight[directions.begin(d)];
        const Range *known = sample.range(directions.feature[directions.begin(d)]);
        if (directions.terms(d) > 1 || known == nullptr || !(weight > 0 && std::isfinite(weight)))
            return range_of(values_.data(), rows_.size(), may_miss, may_be_infinite);
        return {weight * known->low, weight * known->high, known->missing, known->below, known->above};
    }

    float width(const Measured &now) const { return (now.high - now.low) / static_cast<float>(options_.n_bins); }

    // Edge b, between bins b - 1 and b; the outermost are the ends of the range.
    float edge(const Measured &now, int b) const {
        if (b == 0) return now.low;
        if (b == options_.n_bins) return now.high;
        if (has_edges(now)) return edges_[now.edges + static_cast<std::size_t>(b) - 1];
        return now.low + static_cast<float>(b) * width(now);
    }

    void put_into_bins(Measured &now, std::size_t d, bool may_miss) {
        const std::size_t n = rows_.size();
        std::uint8_t *bin = bins_.data() + d * n;
        if (now.infinite()) {
            add_edges_with_infinities(now);
            return assign_bins(values_.data(), n, &edges_[now.edges], options_.n_bins, may_miss, bin);
        }
        if (now.flat) {  // all in the last bin: no edge parts them, but edge 0 parts them from the missing ones
            for (std::size_t i = 0; i < n; ++i)
                bin[i] = static_cast<std::uint8_t>(values_[i] == values_[i] ? options_.n_bins - 1 : options_.n_bins);
            return;
        }
        if (options_.bins != Bins::quantile && options_.exact_edges) {
            now.edges = edges_.size();
            const double low = now.low, span = static_cast<double>(now.high) - low;
            for (int b = 1; b < options_.n_bins; ++b) {
                const double at = low + b * span / options_.n_bins;
                const auto near = static_cast<float>(at);  // f < at and f < edge are the same for every float f
                edges_.push_back(static_cast<double>(near) < at ? std::nextafter(near, now.high) : near);
            }
            assign_bins(values_.data(), n, &edges_[now.edges], options_.n_bins, may_miss, bin);
            return;
        }
        if (options_.bins != Bins::quantile) {
            assign_bins(values_.data(), n, now.low, 1.0f / width(now), options_.n_bins, may_miss, bin);
            return;
        }
        now.edges = edges_.size();
        add_quantiles(now, options_.n_bins);
        assign_bins(values_.data(), n, &edges_[now.edges], options_.n_bins, may_miss, bin);
    }

    // The edges of so many bins, by at most 256 evenly spaced rows: sorting all would cost more than the rest of the
    // test.
    void add_quantiles(const Measured &now, int bins) {
        const std::size_t n = rows_.size(), step = (n + 255) / 256;
        sorted_.clear();
        for (std::size_t i = 0; i < n; i += step)
            if (std::isfinite(values_[i])) sorted_.push_back(values_[i]);
        if (sorted_.empty()) sorted_.push_back(now.low);
        std::sort(sorted_.begin(), sorted_.end());
        for (int b = 1; b < bins; ++b)
            edges_.push_back(sorted_[static_cast<std::size_t>(b) * sorted_.size() / static_cast<std::size_t>(bins)]);
    }

    // Infinities have bins of their own at the ends, and the other values what is left.
    void add_edges_with_infinities(Measured &now) {
        const int bins = options_.n_bins - now.below - now.above;
        now.edges = edges_.size();
        if (now.below) edges_.push_back(std::numeric_limits<float>::lowest());
        if (options_.bins == Bins::quantile) add_quantiles(now, bins);
        const double low = now.low, span = static_cast<double>(now.high) - low;
        for (int b = 1; b < bins && options_.bins != Bins::quantile; ++b)
            edges_.push_back(static_cast<float>(low + b * span / bins));
        if (now.above) edges_.push_back(std::numeric_limits<float>::max());
        edges_.resize(now.edges + static_cast<std::size_t>(options_.n_bins) - 1, std::numeric_limits<float>::max());
    }

    // Where a few far values take most of the range, bins cover where the others are; the outermost take the rest.
    static void leave_tails(const Matrix &matrix, const Directions &directions, std::size_t d, Measured &now) {
        constexpr double usual = 2.4;  // of a normal distribution it is less than two
        float low = 0, high = 0;
        for (std::uint32_t t = directions.begin(d); t < directions.end(d); ++t) {
            const auto feature = static_cast<std::size_t>(directions.feature[t]);
            const float ends[2] = {directions.weight[t] * matrix.body_low[feature],
                                   directions.weight[t] * matrix.body_high[feature]};
            low += std::min(ends[0], ends[1]);
            high += std::max(ends[0], ends[1]);
        }
        const float margin = (high - low) / 8;
        low = std::max(now.low, low - margin);
        high = std::min(now.high, high + margin);
        const double body = static_cast<double>(high) - static_cast<double>(low);
        const double range = static_cast<double>(now.high) - static_cast<double>(now.low);
        if (body > 0 && range > usual * body) now.low = low, now.high = high;
    }

    std::size_t channels() const { return statistics_.channels(); }
    int stride() const { return options_.n_bins + 1; }

    bool worth(double gain, double grown, int further_cells, double chance) const {
        return gain * grown > options_.min_split_gain * further_cells && gain > chance;
    }

    void sum_cells() {
        const std::size_t width = channels();
        totals_.assign(cells_ * width, 0);
        if (cells_ == 1)
            sum_node();
        else
            adder_.add(statistics_, cell_.data(), cells_, totals_.data());
        for (std::size_t i = 0; i < rows_.size(); ++i) offset_[i] = static_cast<std::uint16_t>(cell_[i] * stride());
        base_.resize(cells_);
        for (std::size_t c = 0; c < cells_; ++c) base_[c] = statistics_.score(&totals_[c * width]);
    }

    // A whole node needs all channels.
    void sum_node() {
        if constexpr (std::is_same_v<S, Gradients>)
            Gradients::add_up(rows_.data(), rows_.size(), totals_.data());
        else
            for (const typename S::Row &row : rows_) statistics_.add(row, totals_.data());
    }

    PLANEWISE_INLINE bool admissible(const std::int64_t *sum) const {
        return statistics_.rows(sum) >= options_.min_samples_leaf &&
               (options_.min_child_weight <= 0 || statistics_.weight(sum) >= options_.min_child_weight);
    }
    // Rise of the score when cell c is cut in two; 0 when a part would be too small, for then it is not cut.
    PLANEWISE_INLINE double rise(std::size_t c, const std::int64_t *left) {
        const std::size_t width = channels();
        const std::int64_t *total = &totals_[c * width];
        for (std::size_t k = 0; k < width; ++k) right_[k] = total[k] - left[k];
        if (!admissible(left) || !admissible(right_.data())) return 0.0;
        return statistics_.score(left) + statistics_.score(right_.data()) - base_[c];
    }

    // Weight, not rows: a weight of two must break a tie as a row given twice does.
    double lighter_side(int edge, int edges) const {
        const std::size_t width = channels();
        double left = 0, all = 0;
        for (std::size_t c = 0; c < cells_; ++c) {
            left += statistics_.weight(
                &lefts_[(c * static_cast<std::size_t>(edges) + static_cast<std::size_t>(edge)) * width]);
            all += statistics_.weight(&totals_[c * width]);
        }
        return std::min(left, all - left);
    }

    void bin_rows(Sample &sample, const Directions &directions, std::size_t d) {
        Measured &now = measured_[d];
        if (now.binned) return;
        if (bins_.size() < (d + 1) * rows_.size()) bins_.resize((d + 1) * rows_.size());
        if (now.order != nullptr) {
            const float *x = sample.column(directions.feature[directions.begin(d)]);
            for (std::size_t i = 0; i < rows_.size(); ++i) bins_[d * rows_.size() + i] = now.order->bin(x[i]);
        } else {
            find_values(sample, directions, d, now);
            put_into_bins(now, d, false);
        }
        now.binned = true;
    }

    // The best edge of direction d for the cells as they are.
    Cut best_cut(std::size_t d, const Measured &now) {
        const std::size_t width = channels(), n = rows_.size();
        const auto slots = static_cast<std::size_t>(stride());
        sums_.assign(cells_ * slots * width, 0);
        if (cells_ == 1) {
            adder_.add(statistics_, bins_.data() + d * n, slots, sums_.data());
        } else {
            place_rows(offset_.data(), bins_.data() + d * n, n, slot_.data());
            adder_.add(statistics_, slot_.data(), cells_ * slots, sums_.data());
        }
        return best_cut(now);
    }

    // The same, with sums_ filled by cell and bin.
    Cut best_cut(const Measured &now) {
        const std::size_t missing = now.missing, width = channels();
        const auto slots = static_cast<std::size_t>(stride());
        Cut best;
        for (int missing_right = 1; missing_right >= (missing > 0 ? 0 : 1); --missing_right) {
            // Edge 0, with the missing values alone on the left, counts as well: that a value is missing may say much.
            const int first = missing_right, edges = options_.n_bins - first;
            gains_.assign(static_cast<std::size_t>(edges), 0.0);
            lefts_.resize(cells_ * static_cast<std::size_t>(edges) * width);
            for (std::size_t c = 0; c < cells_; ++c) {
                std::int64_t *left = &lefts_[c * static_cast<std::size_t>(edges) * width];
                const std::int64_t *bin = &sums_[c * slots * width];
                const std::int64_t *before = first == 0 ? bin + (slots - 1) * width : bin;
                for (int e = 0; e < edges; ++e, left += width) {
                    // What joins the left side at this edge: the missing values, or the bin below.
                    const std::int64_t *joins = e == 0 ? before : bin + static_cast<std::size_t>(first + e - 1) * width;
                    for (std::size_t k = 0; k < width; ++k) left[k] = joins[k] + (e == 0 ? 0 : *(left + k - width));
                }
                add_rises(c, edges, now.sign);
            }
            for (int e = 0; e < edges; ++e) {
                if (e > 0 && parts_alike(e, edges)) continue;
                Cut cut;
                cut.gain = gains_[static_cast<std::size_t>(e)];
                if (!(cut.gain > 0) || Cut::roughly(cut.gain) < Cut::roughly(best.gain)) continue;
                cut.edge = first + e;
                cut.missing_right = missing_right != 0;
                cut.balance = lighter_side(e, edges);
                if (cut.better_than(best)) best = cut;
            }
        }
        best.gain -= now.by_chance();
        return best.gain > 0 ? best : Cut{};
    }

    // Whether no row lies between this edge and the one before: where rows are few that is most of them.
    bool parts_alike(int edge, int edges) const {
        const std::size_t width = channels();
        for (std::size_t c = 0; c < cells_; ++c) {
            const auto at = c * static_cast<std::size_t>(edges) + static_cast<std::size_t>(edge);
            if (statistics_.rows(&lefts_[at * width]) != statistics_.rows(&lefts_[(at - 1) * width])) return false;
        }
        return true;
    }

    // gains_[e] += what cutting cell c at edge e gains.
    void add_rises(std::size_t c, int edges, int sign) {
        const std::size_t width = channels(), count = static_cast<std::size_t>(edges);
        const std::int64_t *left = &lefts_[c * count * width], *total = &totals_[c * width];
        if constexpr (S::can_be_bounded)
            if (bounded()) return add_bounded_rises(left, total, sign, count);
        if constexpr (std::is_same_v<S, Gradients>) {
            statistics_.add_rises(left, total, base_[c], options_.min_samples_leaf, options_.min_child_weight, count,
                                  gains_.data());
        } else {
            for (std::size_t e = 0; e < count; ++e) gains_[e] += rise(c, left + e * width);
        }
    }

    // The same with values held within bounds; nothing where the right side's value would not lie on the side that
    // `sign` asks for (1: not below the left one's, -1: not above).
    void add_bounded_rises(const std::int64_t *left, const std::int64_t *total, int sign, std::size_t edges) {
        const double whole = statistics_.bounded_score(total, bounds_);
        for (std::size_t e = 0; e < edges; ++e, left += channels()) {
            for (std::size_t k = 0; k < channels(); ++k) right_[k] = total[k] - left[k];
            if (!admissible(left) || !admissible(right_.data())) continue;
            const double rise =
                statistics_.bounded_value(right_.data(), bounds_) - statistics_.bounded_value(left, bounds_);
            if (!(sign * rise >= 0)) continue;
            gains_[e] +=
                statistics_.bounded_score(left, bounds_) + statistics_.bounded_score(right_.data(), bounds_) - whole;
        }
    }

    // Puts direction d into the node: the threshold refined if asked, every sampled row's cell extended by one bit.
    void add_plane(Sample &sample, const Directions &directions, std::size_t d, Cut cut, std::vector<Plane> &planes) {
        bin_rows(sample, directions, d);
        const Measured &now = measured_[d];
        float threshold = cut.edge == 0 ? std::numeric_limits<float>::lowest() : edge(now, cut.edge);
        find_values(sample, directions, d, now);
        if (options_.refine && cut.edge > 0) threshold = refine(now, d, cut);
        if (now.missing == 0) cut.missing_right = heavier_right(threshold);
        const auto bit = static_cast<std::uint8_t>(1u << planes.size());
        mark_right(values_.data(), rows_.size(), threshold, cut.missing_right, bit, cell_.data());
        cells_ *= 2;
        sum_cells();
        planes.push_back(
            {static_cast<std::uint32_t>(d), threshold, cut.missing_right, cut.gain, now.by_chance(), {}, false});
        if (now.order != nullptr && cut.edge > 0) name_lighter_side(now, threshold, planes.back());
    }

    // The categories of the lighter side: all others, and those nobody has seen, go to the heavier one.
    void name_lighter_side(const Measured &now, float threshold, Plane &plane) {
        plane.set_right = !heavier_right(threshold);
        const std::vector<std::int32_t> &present = now.order->present();
        for (std::size_t k = 0; k < present.size(); ++k)
            if ((static_cast<float>(k) >= threshold) == plane.set_right) plane.set.push_back(present[k]);
        std::sort(plane.set.begin(), plane.set.end());
        // All of them on one side, the missing ones on the other: a plane on numbers that every category passes alike.
        if (plane.set.empty())
            plane.threshold =
                plane.set_right ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
    }

    bool heavier_right(float threshold) {
        const std::size_t width = channels();
        for (std::size_t i = 0; i < rows_.size(); ++i)
            slot_[i] = values_[i] >= threshold ? 1 : values_[i] < threshold ? 0 : 2;  // 2: missing
        left_.assign(3 * width, 0);
        adder_.add(statistics_, slot_.data(), 3, left_.data());
        return statistics_.weight(&left_[width]) >= statistics_.weight(left_.data());
    }

    // Measures again between the neighbouring edges, then goes to the middle of the gap the best edge lies in.
    float refine(const Measured &now, std::size_t d, Cut &cut) {
        const std::size_t n = rows_.size();
        float from = edge(now, cut.edge - 1), to = edge(now, cut.edge + 1);
        if (now.infinite()) from = std::max(from, now.low), to = std::min(to, now.high);
        std::uint8_t *bin = bins_.data() + d * n;
        kept_.assign(bin, bin + n);
        Cut finer;
        if (to > from) {
            const float per_width = static_cast<float>(options_.n_bins) / (to - from);
            assign_bins(values_.data(), n, from, per_width, options_.n_bins, now.missing > 0, bin);
            finer = best_cut(d, now);
        }
        const bool use_finer = finer.edge > 0 && finer.gain >= cut.gain;
        if (use_finer) cut = finer;
        const Gap gap = gap_at(values_.data(), use_finer ? bin : kept_.data(), n, cut.edge, options_.n_bins);
        std::copy(kept_.begin(), kept_.end(), bin);
        if (now.above && !(gap.above <= std::numeric_limits<float>::max())) return std::numeric_limits<float>::max();
        if (now.below && !(gap.below >= std::numeric_limits<float>::lowest()))
            return std::numeric_limits<float>::lowest();
        const float middle = gap.below + (gap.above - gap.below) / 2;
        return middle > gap.below ? middle : gap.above;
    }

    void add_jointly(Sample &sample, const Directions &directions, double grown, double least, double chance,
                     std::vector<Plane> &planes) {
        if (options_.max_planes < 2) return;
        order_.clear();
        const Path first = path_with(directions, planes);
        for (std::size_t d = 0; d < measured_.size(); ++d)
            if (measured_[d].splittable && measured_[d].cut.gain > 0 && measured_[d].cut.gain >= least &&
                may_follow(first, directions, d))
                order_.push_back(d);
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return measured_[a].cut.better_than(measured_[b].cut); });
        if (order_.size() > static_cast<std::size_t>(options_.max_joint))
            order_.resize(static_cast<std::size_t>(options_.max_joint));
        while (planes.size() < static_cast<std::size_t>(options_.max_planes)) {
            Cut best;
            std::size_t winner = 0;
            const Path path = path_with(directions, planes);
            for (std::size_t d : order_) {
                if (!may_follow(path, directions, d)) continue;
                bin_rows(sample, directions, d);
                const Cut cut = best_cut(d, measured_[d]);
                if (cut.better_than(best)) best = cut, winner = d;
            }
            if (!(best.gain > 1e-10 * std::fabs(statistics_.impurity(total()))) ||
                !worth(best.gain, grown, static_cast<int>(cells_), chance))
                return;
            add_plane(sample, directions, winner, best, planes);
        }
    }

    // Published: the candidate whose largest |cosine| to the chosen planes is smallest, at its own threshold.
    void add_by_cosine(Sample &sample, const Directions &directions, double grown, double least, double chance,
                       std::vector<Plane> &planes) {
        worst_.assign(measured_.size(), 0.0);
        double joint = score_of_cells();
        while (planes.size() < static_cast<std::size_t>(options_.max_planes)) {
            std::size_t winner = measured_.size();
            const Path path = path_with(directions, planes);
            for (std::size_t d = 0; d < measured_.size(); ++d) {
                worst_[d] = std::max(worst_[d], cosine(directions, d, planes.back().direction));
                if (!may_follow(path, directions, d)) continue;
                if (!measured_[d].splittable || !(measured_[d].cut.gain > 0) || measured_[d].cut.gain < least) continue;
                if (winner == measured_.size() || worst_[d] < worst_[winner]) winner = d;
            }
            if (winner == measured_.size() || worst_[winner] > options_.max_cosine) return;
            const auto cells_before = cells_;
            const auto cell_before = cell_;
            const std::size_t filled = filled_cells();
            add_plane(sample, directions, winner, measured_[winner].cut, planes);
            const double score = score_of_cells(), risen = score - joint - measured_[winner].by_chance();
            planes.back().gain = risen;
            const auto further = static_cast<int>(filled_cells() - filled);
            if (further == 0 || !(risen > 0) || !worth(risen, grown, further, chance)) {
                planes.pop_back();
                cells_ = cells_before;
                cell_ = cell_before;
                sum_cells();
                return;
            }
            joint = score;
        }
    }

    // The columns used when these planes are in the node, and whether a direction may join them.
    Path path_with(const Directions &directions, const std::vector<Plane> &planes) const {
        if (path_ == nullptr || !path_->is_limited()) return {};
        Path path = *path_;
        for (const Plane &plane : planes)
            path.use(&directions.feature[directions.begin(plane.direction)], directions.terms(plane.direction));
        return path;
    }
    static bool may_follow(const Path &path, const Directions &directions, std::size_t d) {
        return path.allows(&directions.feature[directions.begin(d)], directions.terms(d));
    }

    std::size_t filled_cells() const {
        std::size_t filled = 0;
        for (std::size_t c = 0; c < cells_; ++c) filled += statistics_.rows(&totals_[c * channels()]) > 0;
        return filled;
    }
    double score_of_cells() const { return std::accumulate(base_.begin(), base_.end(), 0.0); }

    static double cosine(const Directions &directions, std::size_t a, std::size_t b) {
        double dot = 0, aa = 0, bb = 0;
        for (std::uint32_t t = directions.begin(a); t < directions.end(a); ++t) {
            aa += static_cast<double>(directions.coefficient[t]) * directions.coefficient[t];
            for (std::uint32_t u = directions.begin(b); u < directions.end(b); ++u)
                if (directions.feature[t] == directions.feature[u])
                    dot += static_cast<double>(directions.coefficient[t]) * directions.coefficient[u];
        }
        for (std::uint32_t u = directions.begin(b); u < directions.end(b); ++u)
            bb += static_cast<double>(directions.coefficient[u]) * directions.coefficient[u];
        return std::fabs(dot) / std::sqrt(aa * bb);
    }

    const S &statistics_;
    const ChooseOptions &options_;
    std::vector<typename S::Row> rows_;
    Adder<S> adder_;
    std::vector<std::uint8_t> cell_, bins_, kept_;
    std::vector<std::uint16_t> offset_, slot_;  // cell * (bins + 1), and the same + bin
    std::vector<float> values_, edges_, sorted_;
    std::vector<Measured> measured_;
    std::vector<std::unique_ptr<CategoryOrder>> orders_;
    std::size_t orders_used_ = 0;
    std::size_t cells_ = 1;
    std::vector<std::int64_t> total_, totals_, bit_sums_, sums_, lefts_, left_, right_;
    std::vector<double> gains_, base_, worst_;
    std::vector<std::size_t> order_, tally_;
    Bounds bounds_;
    const std::vector<std::int32_t> *monotone_ = nullptr;
    const Path *path_ = nullptr;
};

}  // namespace planewise
