// Small trees for many rows: every plane of a tree is asked for a block of rows at once, then the answers choose the
// leaves. No row waits for the step before, and all loops run over neighbouring numbers. That is more comparisons than
// a walk makes, but each costs a fraction: a tree of forty planes takes a quarter of the time. Sums and sides are those
// of plane.hpp: the same terms in the same order, and a missing value answers no to "at least" and to "below".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "categories.hpp"
#include "forest.hpp"

namespace planewise {

class SmallTrees {
  public:
    static constexpr std::size_t block = 64;  // rows

    // None if a tree has too many planes or leaves. The forest must outlive it.
    static std::unique_ptr<const SmallTrees> of(const Forest &forest);

    // out[row * n_outputs + k] += the values of trees first .. last-1 for output k, tree by tree.
    void add(const float *x, std::size_t rows, std::size_t columns, std::size_t first, std::size_t last,
             double *out) const;

    // Sources are the columns in use, then sums; each is a list of `block` floats.
    template <std::size_t terms>
    struct Sum {
        std::uint16_t to;
        std::array<std::uint16_t, terms> column;
        std::array<float, terms> weight;
    };
    struct LongSum {  // of any number of terms
        std::uint16_t to;
        std::size_t first, last;  // in `column_` and `weight_`
    };
    struct Test {  // its answers are a list of `block` bytes; number 0 is always no
        std::uint16_t source, to;
        float threshold;
    };
    struct SetTest {
        std::uint16_t column, to;
        float weight, threshold;
        std::uint32_t missing_right;
        CategorySet set;
    };
    // Results are lists of `block` slots. Rows end here: in slot, slot + 1, + 2 or + 3, by two answers.
    struct End {
        std::uint16_t first, second, to;
        std::uint8_t slot;
    };
    struct Choice {  // one of the results `from`, by two answers
        std::uint16_t first, second, to;
        std::array<std::uint16_t, 4> from;
    };
    struct Start {  // of a tree's lists
        std::size_t twos, threes, longs, at_least, below, sets, ends, choices, slots;
    };

  private:
    friend class SmallTreesMaker;
    struct Scratch;

    explicit SmallTrees(const Forest &forest) : forest_(forest) {}
    void read_block(const float *x, std::size_t rows, std::size_t columns, Scratch &scratch) const;
    void find_slots(std::size_t tree, Scratch &scratch) const;
    void add_slots(std::size_t tree, const std::uint32_t *slot, std::size_t rows, double *out) const;

    const Forest &forest_;
    std::vector<std::size_t> used_;  // the column of each source that is one
    std::vector<Sum<2>> twos_;
    std::vector<Sum<3>> threes_;
    std::vector<LongSum> longs_;
    std::vector<std::uint16_t> column_;
    std::vector<float> weight_;
    std::vector<Test> at_least_, below_;
    std::vector<SetTest> sets_;
    std::vector<End> ends_;
    std::vector<Choice> choices_;
    std::vector<std::int32_t> slot_node_;  // counted over the forest
    std::vector<double> slot_value_;       // if a node has one value
    std::vector<Start> starts_;
    std::vector<std::uint16_t> root_;                      // the result of each tree
    std::size_t sources_ = 0, answers_ = 1, results_ = 0;  // the most that a tree has
};

}  // namespace planewise
