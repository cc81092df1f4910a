// Interaction constraints: which columns may meet on a path from the root of a tree to a leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace planewise {

class Interactions {
  public:
    // `most`: how many columns may meet, 0: as many as there are. `groups`: the columns on a path lie in one of them;
    // none given: any may meet. `source`, by column: the one that it counts as; none given: itself.
    Interactions(std::size_t columns, std::size_t most, std::vector<std::vector<std::int32_t>> groups,
                 std::vector<std::int32_t> source);

    std::size_t columns() const { return groups_of_.size(); }
    std::size_t most() const { return most_; }
    std::size_t size() const { return groups_.size(); }
    const std::vector<std::int32_t> &group(std::size_t g) const { return groups_[g]; }  // ascending
    const std::vector<std::int32_t> &groups_of(std::int32_t column) const {             // ascending
        return groups_of_[static_cast<std::size_t>(column)];
    }
    std::int32_t source(std::int32_t column) const {
        return source_.empty() ? column : source_[static_cast<std::size_t>(column)];
    }

  private:
    std::size_t most_;
    std::vector<std::vector<std::int32_t>> groups_, groups_of_;
    std::vector<std::int32_t> source_;
};

// The columns that the planes from the root on have used, and so which may come next.
class Path {
  public:
    Path() = default;  // any may
    explicit Path(const Interactions &rules);

    bool is_limited() const { return rules_ != nullptr; }
    const Interactions &rules() const { return *rules_; }
    const std::vector<std::int32_t> &sources() const { return sources_; }  // used so far; kept where they are counted
    const std::vector<std::int32_t> &groups() const { return groups_; }    // that hold all columns used, ascending

    // Whether these columns may all be used from here on.
    bool allows(const std::int32_t *column, std::size_t count) const;
    bool allows(std::int32_t column) const { return allows(&column, 1); }
    void use(const std::int32_t *column, std::size_t count);
    // The groups of a column that are still open.
    void open_groups(std::int32_t column, std::vector<std::int32_t> &out) const;

  private:
    const Interactions *rules_ = nullptr;
    std::vector<std::int32_t> sources_, groups_;
};

}  // namespace planewise
