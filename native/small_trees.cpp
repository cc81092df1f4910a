#include "small_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dispatch.hpp"
#include "plane.hpp"

namespace planewise {

namespace {

constexpr std::size_t block = SmallTrees::block;
constexpr std::size_t most_planes = 128;  // on average; more are faster asked on the way down
constexpr std::size_t most_slots = 256;
constexpr std::size_t most_sources = 60'000;

// The least x with weight * x >= threshold in float32, for a positive weight; NaN if it is not found at once.
float least_reaching(float weight, float threshold) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
    float x = threshold / weight;
    if (!(weight > 0) || !std::isfinite(x)) return none;
    for (int step = 0; step < 4 && weight * x < threshold; ++step) x = std::nextafter(x, infinity);
    for (int step = 0; step < 4; ++step) {
        const float before = std::nextafter(x, -infinity);
        if (!(weight * before >= threshold)) return weight * x >= threshold ? x : none;
        x = before;
    }
    return none;
}

}  // namespace

// Takes the trees of a forest apart, one after the other.
class SmallTreesMaker {
  public:
    SmallTreesMaker(const Forest &forest, SmallTrees &out)
        : forest_(forest), out_(out), source_of_(forest.columns_used(), none), result_(forest.nodes(), none) {
        out_.starts_.reserve(forest.trees() + 1);
        out_.at_least_.reserve(forest.planes());
        out_.below_.reserve(forest.planes());
        out_.ends_.reserve(forest.nodes());
        out_.slot_node_.reserve(forest.nodes());
        find_columns();
    }

    bool make() {
        if (out_.used_.size() > most_sources) return false;
        for (std::size_t tree = 0; tree < forest_.trees(); ++tree) {
            open_tree();
            const auto first = static_cast<std::size_t>(forest_.node_start[tree]),
                       last = static_cast<std::size_t>(forest_.node_start[tree + 1]);
            for (std::size_t node = last; node-- > first;)  // children before their parents
                if (!forest_.is_leaf(node)) add_node(node, first);
            out_.root_.push_back(result_of(first));
            if (slots() > most_slots || sources_ > most_sources) return false;
            out_.sources_ = std::max(out_.sources_, sources_);
            out_.answers_ = std::max(out_.answers_, answers_);
            out_.results_ = std::max(out_.results_, results_);
        }
        open_tree();  // where the last one ends
        if (forest_.n_values == 1)
            for (std::int32_t node : out_.slot_node_)
                out_.slot_value_.push_back(forest_.value_at(static_cast<std::size_t>(node)));
        return true;
    }

  private:
    static constexpr std::int32_t none = -1;
    struct Answer {
        std::uint16_t number;
        bool flipped;  // yes is left
    };

    void find_columns() {
        for (std::int32_t feature : forest_.term_feature) {
            std::int32_t &source = source_of_[static_cast<std::size_t>(feature)];
            if (source != none) continue;
            source = static_cast<std::int32_t>(out_.used_.size());
            out_.used_.push_back(static_cast<std::size_t>(feature));
        }
    }
    void open_tree() {
        out_.starts_.push_back({out_.twos_.size(), out_.threes_.size(), out_.longs_.size(), out_.at_least_.size(),
                                out_.below_.size(), out_.sets_.size(), out_.ends_.size(), out_.choices_.size(),
                                out_.slot_node_.size()});
        sources_ = out_.used_.size();
        answers_ = 1;
        results_ = 0;
    }
    std::size_t slots() const { return out_.slot_node_.size() - out_.starts_.back().slots; }

    // ------------------------------------------------------------------------------------------------- planes
    std::uint16_t source_of(std::size_t term) const {
        return static_cast<std::uint16_t>(source_of_[static_cast<std::size_t>(forest_.term_feature[term])]);
    }
    template <std::size_t terms>
    std::uint16_t source_of_sum(std::size_t from, std::size_t first, std::vector<SmallTrees::Sum<terms>> &sums) {
        SmallTrees::Sum<terms> sum{};
        for (std::size_t t = 0; t < terms; ++t) {
            sum.column[t] = source_of(from + t);
            sum.weight[t] = forest_.term_weight[from + t];
        }
        for (std::size_t k = first; k < sums.size(); ++k)  // planes of a tree often differ only by their threshold
            if (sums[k].weight == sum.weight && sums[k].column == sum.column) return sums[k].to;
        sum.to = static_cast<std::uint16_t>(sources_++);
        sums.push_back(sum);
        return sum.to;
    }
    std::uint16_t source_of_long(std::size_t from, std::size_t to) {
        const std::size_t first = out_.column_.size();
        for (std::size_t t = from; t < to; ++t) {
            out_.column_.push_back(source_of(t));
            out_.weight_.push_back(forest_.term_weight[t]);
        }
        out_.longs_.push_back({static_cast<std::uint16_t>(sources_++), first, out_.column_.size()});
        return out_.longs_.back().to;
    }
    Answer add_plane(std::size_t plane) {
        const auto from = static_cast<std::size_t>(forest_.term_start[plane]),
                   to = static_cast<std::size_t>(forest_.term_start[plane + 1]);
        const auto number = static_cast<std::uint16_t>(answers_++);
        const bool missing_right = forest_.missing_right[plane] != 0;
        const std::int32_t set = forest_.set_start[plane], set_end = forest_.set_start[plane + 1];
        if (set < set_end) {
            out_.sets_.push_back({source_of(from),
                                  number,
                                  forest_.term_weight[from],
                                  forest_.threshold[plane],
                                  missing_right,
                                  {forest_.set_category.data() + set, static_cast<std::size_t>(set_end - set)}});
            return {number, false};
        }
        SmallTrees::Test test{0, number, forest_.threshold[plane]};
        const float alone = to - from == 1 ? least_reaching(forest_.term_weight[from], test.threshold) : std::nanf("");
        if (alone == alone) {
            test.source = source_of(from);
            test.threshold = alone;
        } else if (to - from == 2) {
            test.source = source_of_sum(from, out_.starts_.back().twos, out_.twos_);
        } else if (to - from == 3) {
            test.source = source_of_sum(from, out_.starts_.back().threes, out_.threes_);
        } else {
            test.source = source_of_long(from, to);
        }
        // A missing value answers no to both.
        (missing_right ? out_.below_ : out_.at_least_).push_back(test);
        return {number, missing_right};
    }

    // -------------------------------------------------------------------------------------------------- nodes
    std::uint16_t new_result() { return static_cast<std::uint16_t>(results_++); }
    std::uint16_t add_end(const Answer *answer, std::size_t planes, const std::size_t *ends) {
        const auto slot = static_cast<std::uint8_t>(slots());
        for (std::size_t code = 0; code < std::size_t{1} << planes; ++code)
            out_.slot_node_.push_back(static_cast<std::int32_t>(ends[code ^ flips(answer, planes)]));
        const std::uint16_t to = new_result();
        out_.ends_.push_back({number(answer, planes, 0), number(answer, planes, 1), to, slot});
        return to;
    }
    std::uint16_t add_choice(const Answer *answer, std::size_t planes, const std::uint16_t *from) {
        SmallTrees::Choice choice{number(answer, planes, 0), number(answer, planes, 1), 0, {}};
        for (std::size_t code = 0; code < 4; ++code)
            choice.from[code] = from[(code & ((1u << planes) - 1)) ^ flips(answer, planes)];
        choice.to = new_result();
        out_.choices_.push_back(choice);
        return choice.to;
    }
    static std::uint16_t number(const Answer *answer, std::size_t planes, std::size_t k) {
        return k < planes ? answer[k].number : std::uint16_t{0};
    }
    static std::size_t flips(const Answer *answer, std::size_t planes) {
        std::size_t out = 0;
        for (std::size_t k = 0; k < planes; ++k) out |= static_cast<std::size_t>(answer[k].flipped) << k;
        return out;
    }

    // The result for rows that end in a leaf, or in an inner node's own value, or go on from an inner node below.
    std::uint16_t result_of(std::size_t node) {
        if (result_[node] == none) result_[node] = add_end(nullptr, 0, &node);
        return static_cast<std::uint16_t>(result_[node]);
    }
    void add_node(std::size_t node, std::size_t root) {
        answer_.clear();
        for (std::int32_t k = forest_.plane_start[node]; k < forest_.plane_start[node + 1]; ++k)
            answer_.push_back(add_plane(static_cast<std::size_t>(k)));
        child_.clear();
        bool all_end = true;
        for (std::int32_t k = forest_.child_start[node]; k < forest_.child_start[node + 1]; ++k) {
            child_.push_back(root + static_cast<std::size_t>(forest_.children[static_cast<std::size_t>(k)]));
            all_end = all_end && (child_.back() == node || forest_.is_leaf(child_.back()));
        }
        if (all_end && answer_.size() <= 2) {
            result_[node] = add_end(answer_.data(), answer_.size(), child_.data());
            return;
        }
        from_.clear();
        for (std::size_t child : child_) from_.push_back(child == node ? add_end(nullptr, 0, &node) : result_of(child));
        result_[node] = choose(answer_.size(), from_.data());
    }
    // By the first planes of the node in hand; more than two are asked one by one, the last first.
    std::uint16_t choose(std::size_t planes, const std::uint16_t *from) {
        if (planes <= 2) return add_choice(answer_.data(), planes, from);
        const std::size_t half = std::size_t{1} << (planes - 1);
        const std::uint16_t sides[2] = {choose(planes - 1, from), choose(planes - 1, from + half)};
        return add_choice(&answer_[planes - 1], 1, sides);
    }

    const Forest &forest_;
    SmallTrees &out_;
    std::vector<std::int32_t> source_of_, result_;  // by feature; by node
    std::size_t sources_ = 0, answers_ = 1, results_ = 0;
    std::vector<Answer> answer_;
    std::vector<std::size_t> child_;
    std::vector<std::uint16_t> from_;
};

std::unique_ptr<const SmallTrees> SmallTrees::of(const Forest &forest) {
    if (forest.planes() > most_planes * forest.trees()) return nullptr;
    std::unique_ptr<SmallTrees> out(new SmallTrees(forest));
    if (!SmallTreesMaker(forest, *out).make()) return nullptr;
    return out;
}

// ---------------------------------------------------------------------------------------------------------- answers
namespace {

template <std::size_t terms>
PLANEWISE_INLINE void add_up(const SmallTrees::Sum<terms> &sum, float *sources) {
    const float *column[terms];
    float weight[terms];
    for (std::size_t t = 0; t < terms; ++t) {
        column[t] = sources + sum.column[t] * block;
        weight[t] = sum.weight[t];
    }
    float *__restrict to = sources + sum.to * block;
    for (std::size_t i = 0; i < block; ++i) {
        float v = weight[0] * column[0][i];
        for (std::size_t t = 1; t < terms; ++t) v += weight[t] * column[t][i];
        to[i] = v;
    }
}

// Answers and results are bytes, four to a word: byte k of word w belongs to row 4 w + k, whose values are in place
// k * words + w of each source. So a comparison, which fills 32 bits, only keeps the bits of its own byte.
constexpr std::size_t words = block / 4;

constexpr std::size_t place_of(std::size_t row) { return row % 4 * words + row / 4; }
PLANEWISE_INLINE std::size_t byte_of(const std::uint32_t *of, std::size_t row) {
    return of[row / 4] >> row % 4 * 8 & 255u;
}

// Yes is 255, no is 0.
template <class Compare>
PLANEWISE_INLINE void ask(const SmallTrees::Test &test, const float *sources, std::uint32_t *answers, Compare yes) {
    const float *x = sources + test.source * block, limit = test.threshold;
    std::uint32_t *__restrict to = answers + test.to * words;
    const auto all = [&](std::size_t i) { return 0u - static_cast<std::uint32_t>(yes(x[i], limit)); };
    PLANEWISE_LANES
    for (std::size_t w = 0; w < words; ++w)
        to[w] = (all(w) & 0xffu) | (all(words + w) & 0xff00u) | (all(2 * words + w) & 0xff0000u) |
                (all(3 * words + w) & 0xff000000u);
}

PLANEWISE_INLINE std::uint32_t chosen(std::uint32_t answer, std::uint32_t yes, std::uint32_t no) {
    return (answer & yes) | (~answer & no);
}

template <class T>
struct List {
    const T *begin_, *end_;
    List(const std::vector<T> &of, std::size_t first, std::size_t last)
        : begin_(of.data() + first), end_(of.data() + last) {}
    const T *begin() const { return begin_; }
    const T *end() const { return end_; }
};

PLANEWISE_CLONES void ask(const List<SmallTrees::Sum<2>> &twos, const List<SmallTrees::Sum<3>> &threes,
                          const List<SmallTrees::Test> &at_least, const List<SmallTrees::Test> &below, float *sources,
                          std::uint32_t *answers) {
    for (const auto &sum : twos) add_up(sum, sources);
    for (const auto &sum : threes) add_up(sum, sources);
    for (const auto &test : at_least) ask(test, sources, answers, [](float x, float limit) { return x >= limit; });
    for (const auto &test : below) ask(test, sources, answers, [](float x, float limit) { return x < limit; });
}

PLANEWISE_CLONES void choose(const List<SmallTrees::End> &ends, const List<SmallTrees::Choice> &choices,
                             const std::uint32_t *answers, std::uint32_t *results) {
    for (const auto &end : ends) {
        const std::uint32_t *first = answers + end.first * words, *second = answers + end.second * words;
        std::uint32_t *__restrict to = results + end.to * words;
        const std::uint32_t slot = end.slot * 0x01010101u;  // no byte overflows: the last slot is 255
        PLANEWISE_LANES
        for (std::size_t w = 0; w < words; ++w) to[w] = slot + (first[w] & 0x01010101u) + (second[w] & 0x02020202u);
    }
    for (const auto &choice : choices) {
        const std::uint32_t *first = answers + choice.first * words, *second = answers + choice.second * words;
        const std::uint32_t *a = results + choice.from[0] * words, *b = results + choice.from[1] * words,
                            *c = results + choice.from[2] * words, *d = results + choice.from[3] * words;
        std::uint32_t *__restrict to = results + choice.to * words;
        PLANEWISE_LANES
        for (std::size_t w = 0; w < words; ++w)
            to[w] = chosen(second[w], chosen(first[w], d[w], c[w]), chosen(first[w], b[w], a[w]));
    }
}

void add_up(const SmallTrees::LongSum &sum, const std::uint16_t *column, const float *weight, float *sources) {
    float *to = sources + sum.to * block;
    for (std::size_t t = sum.first; t < sum.last; ++t) {
        const float *x = sources + column[t] * block;
        for (std::size_t i = 0; i < block; ++i) to[i] = t == sum.first ? weight[t] * x[i] : to[i] + weight[t] * x[i];
    }
}

void ask(const SmallTrees::SetTest &test, const float *sources, std::uint32_t *answers) {
    std::uint32_t *to = answers + test.to * words;
    std::fill(to, to + words, 0u);
    for (std::size_t row = 0; row < block; ++row) {
        const float member = test.weight * test.set.read(sources[test.column * block + place_of(row)]);
        to[row / 4] |= side_of(member, test.threshold, test.missing_right) * 255u << row % 4 * 8;
    }
}

// Numbers that begin where a cache line does.
template <class T>
class Aligned {
  public:
    explicit Aligned(std::size_t count) : kept_(count * sizeof(T) + 64, 0) {
        const auto address = reinterpret_cast<std::uintptr_t>(kept_.data());
        data_ = reinterpret_cast<T *>(kept_.data() + (64 - address % 64) % 64);
    }
    T *data() { return data_; }

  private:
    std::vector<unsigned char> kept_;
    T *data_;
};

}  // namespace

struct SmallTrees::Scratch {
    explicit Scratch(const SmallTrees &of)
        : sources(of.sources_ * block), answers(of.answers_ * words), results(of.results_ * words) {}
    Aligned<float> sources;
    Aligned<std::uint32_t> answers, results;
};

void SmallTrees::add(const float *x, std::size_t rows, std::size_t columns, std::size_t first, std::size_t last,
                     double *out) const {
    Scratch scratch(*this);
    for (std::size_t begin = 0; begin < rows; begin += block) {
        const std::size_t here = std::min(block, rows - begin);
        read_block(x + begin * columns, here, columns, scratch);
        for (std::size_t tree = first; tree < last; ++tree) {
            find_slots(tree, scratch);
            add_slots(tree, scratch.results.data() + root_[tree] * words, here, out + begin * forest_.n_outputs);
        }
    }
}

// The columns in use, each in one piece. A last block that is not full keeps older rows in its other places.
void SmallTrees::read_block(const float *x, std::size_t rows, std::size_t columns, Scratch &scratch) const {
    float *to = scratch.sources.data();
    for (std::size_t j = 0; j < used_.size(); ++j, to += block) {
        const float *from = x + used_[j];
        for (std::size_t r = 0; r < rows; ++r) to[place_of(r)] = from[r * columns];
    }
}

void SmallTrees::find_slots(std::size_t tree, Scratch &scratch) const {
    const Start &from = starts_[tree], &to = starts_[tree + 1];
    float *sources = scratch.sources.data();
    std::uint32_t *answers = scratch.answers.data();
    for (std::size_t k = from.longs; k < to.longs; ++k) add_up(longs_[k], column_.data(), weight_.data(), sources);
    ask({twos_, from.twos, to.twos}, {threes_, from.threes, to.threes}, {at_least_, from.at_least, to.at_least},
        {below_, from.below, to.below}, sources, answers);
    for (std::size_t k = from.sets; k < to.sets; ++k) ask(sets_[k], sources, answers);
    choose({ends_, from.ends, to.ends}, {choices_, from.choices, to.choices}, answers, scratch.results.data());
}

void SmallTrees::add_slots(std::size_t tree, const std::uint32_t *slot, std::size_t rows, double *out) const {
    const std::size_t values = forest_.n_values, outputs = forest_.n_outputs, first = starts_[tree].slots;
    if (values == 1) {
        const double *value = &slot_value_[first];
        double *to = out + tree % outputs;
        for (std::size_t r = 0; r < rows; ++r) to[r * outputs] += value[byte_of(slot, r)];
        return;
    }
    const auto add_lists = [&](const auto &of) {
        for (std::size_t r = 0; r < rows; ++r) {
            const auto *value = &of[static_cast<std::size_t>(slot_node_[first + byte_of(slot, r)]) * values];
            for (std::size_t k = 0; k < values; ++k) out[r * outputs + k] += static_cast<double>(value[k]);
        }
    };
    forest_.value.empty() ? add_lists(forest_.value32) : add_lists(forest_.value);
}

}  // namespace planewise
