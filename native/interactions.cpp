#include "interactions.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace planewise {

namespace {

bool holds(const std::vector<std::int32_t> &sorted, std::int32_t value) {
    return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

Interactions::Interactions(std::size_t columns, std::size_t most, std::vector<std::vector<std::int32_t>> groups,
                           std::vector<std::int32_t> source)
    : most_(most), groups_(std::move(groups)), groups_of_(columns), source_(std::move(source)) {
    const auto check = [&](std::int32_t column) {
        if (column < 0 || static_cast<std::size_t>(column) >= columns)
            throw std::invalid_argument("interactions name a column that the table does not have");
    };
    if (!source_.empty() && source_.size() != columns)
        throw std::invalid_argument("interactions need one source per column");
    std::for_each(source_.begin(), source_.end(), check);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        std::vector<std::int32_t> &group = groups_[g];
        std::sort(group.begin(), group.end());
        group.erase(std::unique(group.begin(), group.end()), group.end());
        std::for_each(group.begin(), group.end(), check);
        for (std::int32_t column : group)
            groups_of_[static_cast<std::size_t>(column)].push_back(static_cast<std::int32_t>(g));
    }
}

Path::Path(const Interactions &rules) : rules_(&rules), groups_(rules.size()) {
    std::iota(groups_.begin(), groups_.end(), 0);
}

bool Path::allows(const std::int32_t *column, std::size_t count) const {
    if (rules_ == nullptr || count == 0) return true;
    if (rules_->most() > 0) {
        std::vector<std::int32_t> fresh;
        for (std::size_t k = 0; k < count; ++k) {
            const std::int32_t source = rules_->source(column[k]);
            if (holds(sources_, source) || std::find(fresh.begin(), fresh.end(), source) != fresh.end()) continue;
            fresh.push_back(source);
            if (sources_.size() + fresh.size() > rules_->most()) return false;
        }
    }
    if (rules_->size() == 0) return true;
    const std::vector<std::int32_t> &of_first = rules_->groups_of(column[0]);
    return std::any_of(of_first.begin(), of_first.end(), [&](std::int32_t g) {
        const std::vector<std::int32_t> &group = rules_->group(static_cast<std::size_t>(g));
        return holds(groups_, g) &&
               std::all_of(column + 1, column + count, [&](std::int32_t other) { return holds(group, other); });
    });
}

void Path::use(const std::int32_t *column, std::size_t count) {
    if (rules_ == nullptr) return;
    for (std::size_t k = 0; k < count; ++k) {
        if (rules_->most() > 0) {
            const std::int32_t source = rules_->source(column[k]);
            const auto at = std::lower_bound(sources_.begin(), sources_.end(), source);
            if (at == sources_.end() || *at != source) sources_.insert(at, source);
        }
        if (rules_->size() > 0) {
            std::vector<std::int32_t> left;
            open_groups(column[k], left);
            groups_ = std::move(left);
        }
    }
}

void Path::open_groups(std::int32_t column, std::vector<std::int32_t> &out) const {
    out.clear();
    for (std::int32_t group : rules_->groups_of(column))
        if (holds(groups_, group)) out.push_back(group);
}

}  // namespace planewise
