#include "complexity_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "inverse.hpp"
#include "row_loops.hpp"

namespace planewise {

namespace {

// An inversion takes as many operations as so many steps' updates of the inverse as the system has rows.
constexpr std::size_t steps_between_refactors = 100;
// Columns and rows take turns: waiting with new columns until the rows are settled took seven times the steps.
constexpr std::size_t columns_a_look = 10;
constexpr std::size_t pause_after_none = 20;  // steps without a look at columns when none was worth it

}  // namespace

ComplexityProgram::ComplexityProgram(std::vector<double> sign, std::vector<double> weight)
    : rows_(sign.size()), sign_(std::move(sign)), weight_(std::move(weight)) {
    for (std::size_t i = 0; i < rows_; ++i) {
        kink_.push_back(1 - random_shift(2 * i));
        ceiling_shift_.push_back(random_shift(2 * i + 1));
        weight_[i] *= 1 + random_shift(3 * i + 1);  // of several optima always the same one
        largest_weight_ = std::max(largest_weight_, weight_[i]);
    }
    design_ = sign_;
    penalty_.push_back(0);
    size_.push_back(1);
    is_free_.push_back(0);
    place_.resize(rows_);
    side_.resize(rows_);
    room_.resize(rows_);
    way_.resize(rows_);
    dual_.resize(rows_);
    rate_.resize(rows_);
    restart();
}

void ComplexityProgram::add_columns(const double *columns, const double *penalty, std::size_t count) {
    design_.reserve(design_.size() + count * rows_);
    for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t i = 0; i < rows_; ++i) design_.push_back(sign_[i] * columns[j * rows_ + i]);
        size_.push_back(largest_size(columns + j * rows_, rows_));
        penalty_.push_back(penalty[j]);
        is_free_.push_back(0);
    }
}

void ComplexityProgram::set_costs(double slack_cost, double coefficient_cost) {
    slack_cost_ = slack_cost;
    coefficient_cost_ = coefficient_cost;
    find_costs();
}

// All coefficients zero; the intercept takes the heavier class to its kink.
void ComplexityProgram::restart() {
    double balance = 0;
    for (std::size_t i = 0; i < rows_; ++i) balance += sign_[i] * weight_[i];
    const double majority = balance >= 0 ? 1 : -1;
    std::size_t row = 0;
    for (std::size_t i = 0; i < rows_; ++i)
        if (sign_[i] == majority) row = i;
    free_ = {0};
    free_sign_ = {1};
    std::fill(is_free_.begin(), is_free_.end(), std::uint8_t{0});
    is_free_[0] = 1;
    tight_ = {row};
    ceiling_is_free_ = false;
    ceiling_ = 1;
    value_ = {sign_[row] * kink_[row]};
    score_.assign(rows_, 0);
    for (std::size_t i = 0; i < rows_; ++i) {
        score_[i] = sign_[i] * value_[0];
        put(i, score_[i] < kink_[i] ? Place::below : Place::above);
    }
    put(row, Place::kink);
    inverse_ = {sign_[row]};
    is_exact_ = false;
    next_column_ = 0;
    find_costs();
}

// The tight row's coefficient of a variable: g for a kink, g - h for a ceiling.
double ComplexityProgram::entry(std::size_t row, Place place, std::size_t variable) const {
    if (variable == ceiling_variable) return place == Place::ceiling ? -1.0 : 0.0;
    return column(variable)[row];
}

// Inverts the tight rows' system anew, unless it is exact as it is, and places the vertex exactly.
bool ComplexityProgram::refactor() {
    if (!is_exact_) {
        const std::size_t k = free_.size();
        std::vector<double> system(k * k);
        for (std::size_t c = 0; c < k; ++c)
            for (std::size_t r = 0; r < k; ++r) system[r * k + c] = entry(tight_[r], place_[tight_[r]], free_[c]);
        if (!invert(system, k, 1e-13)) return false;
        inverse_ = std::move(system);
        is_exact_ = true;
    }
    steps_since_refactor_ = 0;
    place_primal();
    find_costs();
    return true;
}

// Values of the free variables from the tight rows, and every row's score from those.
void ComplexityProgram::place_primal() {
    const std::size_t k = free_.size();
    for (std::size_t p = 0; p < k; ++p) {
        double sum = 0;
        for (std::size_t t = 0; t < k; ++t) {
            const std::size_t row = tight_[t];
            const double level = place_[row] == Place::kink ? kink_[row]
                                 : ceiling_is_free_         ? ceiling_shift_[row]
                                                            : 1.0 + ceiling_shift_[row];
            sum += inverse_[p * k + t] * level;
        }
        value_[p] = sum;
    }
    std::fill(score_.begin(), score_.end(), 0.0);
    ceiling_ = 1;
    for (std::size_t p = 0; p < k; ++p) {
        if (free_[p] == ceiling_variable)
            ceiling_ = value_[p];
        else
            add_multiple(score_.data(), column(free_[p]), value_[p], rows_);
    }
    for (std::size_t i = 0; i < rows_; ++i)
        if (place_[i] == Place::below || place_[i] == Place::above)
            put(i, score_[i] < kink_[i] ? Place::below : Place::above);
}

// What moving each free variable costs while no row changes its place.
void ComplexityProgram::find_costs() {
    find_hinges();
    cost_.assign(free_.size(), 0.0);
    for (std::size_t p = 0; p < free_.size(); ++p) cost_[p] = cost_of(free_[p], free_sign_[p]);
}

void ComplexityProgram::find_hinges() {
    for (std::size_t i = 0; i < rows_; ++i) dual_[i] = place_[i] == Place::below ? hinge_cost(i) : 0.0;
}

double ComplexityProgram::cost_of(std::size_t variable, double sign) const {
    if (variable == ceiling_variable) return 1;
    return sign * column_cost(variable) - product(column(variable), dual_.data(), rows_);
}

void ComplexityProgram::find_multipliers() {
    const std::size_t k = free_.size();
    multiplier_.assign(k, 0.0);
    for (std::size_t p = 0; p < k; ++p) add_multiple(multiplier_.data(), &inverse_[p * k], cost_[p], k);
}

// What rounding is relative to: rows that pay for no slack have small multipliers, however large its price.
double ComplexityProgram::largest_multiplier() const {
    double largest = 0;
    for (std::size_t i = 0; i < rows_; ++i)
        if (place_[i] == Place::below) largest = std::max(largest, hinge_cost(i));
    return std::max(largest, largest_size(multiplier_.data(), multiplier_.size()));
}

// The tight row whose release promises most, measured along its edge.
ComplexityProgram::Edge ComplexityProgram::best_row_edge() const {
    const std::size_t k = free_.size();
    std::vector<double> length(k, 1e-30);
    for (std::size_t p = 0; p < k; ++p)
        for (std::size_t t = 0; t < k; ++t) length[t] += inverse_[p * k + t] * inverse_[p * k + t];
    Edge best;
    double best_score = 0;
    const double tolerance = 1e-9 * std::max(1e-3, largest_multiplier());
    for (std::size_t t = 0; t < k; ++t) {
        const double m = multiplier_[t];
        double slope = 0, direction = 1;
        if (place_[tight_[t]] == Place::ceiling) {  // may only sink under the ceiling
            slope = -m;
            direction = -1;
        } else if (m < 0) {
            slope = m;
        } else {
            slope = hinge_cost(tight_[t]) - m;
            direction = -1;
        }
        if (slope >= -tolerance) continue;
        const double score = slope * slope / length[t];
        if (score > best_score) {
            best_score = score;
            best = {true, false, t, direction, slope};
        }
    }
    return best;
}

// A variable whose leaving zero promises much: the best of the next few columns in turn (or of those after them, until
// one is worth it), or the ceiling leaving its floor 1.
ComplexityProgram::Edge ComplexityProgram::good_column_edge() {
    Edge best;
    find_hinges();
    double under_ceiling = 0;
    for (std::size_t t = 0; t < tight_.size(); ++t) {
        dual_[tight_[t]] = multiplier_[t];
        if (place_[tight_[t]] == Place::ceiling) under_ceiling -= multiplier_[t];
    }
    if (!ceiling_is_free_ && 1 - under_ceiling < -1e-9) best = {true, true, ceiling_variable, 1, 1 - under_ceiling};
    const double tolerance = 1e-10 * std::max(1e-3, largest_multiplier());
    std::size_t looked_at = 0;
    for (std::size_t k = 0; k < penalty_.size(); ++k) {
        if (looked_at >= columns_a_look && best.exists) break;
        const std::size_t j = next_column_;
        next_column_ = (next_column_ + 1) % penalty_.size();
        if (is_free_[j]) continue;
        ++looked_at;
        const double price = -product(column(j), dual_.data(), rows_);
        const double slope = column_cost(j) - std::fabs(price);
        if (slope < -tolerance - 1e-10 * column_cost(j) && slope < best.slope)
            best = {true, true, j, price < 0 ? 1.0 : -1.0, slope};
    }
    return best;
}

// How free variables and scores move along an edge, the other tight rows staying tight.
void ComplexityProgram::find_direction(const Edge &edge) {
    const std::size_t k = free_.size();
    move_.assign(k, 0.0);
    std::fill(rate_.begin(), rate_.end(), 0.0);
    if (edge.enters) {
        std::vector<double> entries(k);
        for (std::size_t t = 0; t < k; ++t) entries[t] = entry(tight_[t], place_[tight_[t]], edge.who);
        for (std::size_t p = 0; p < k; ++p) move_[p] = -edge.direction * product(&inverse_[p * k], entries.data(), k);
    } else {
        for (std::size_t p = 0; p < k; ++p) move_[p] = edge.direction * inverse_[p * k + edge.who];
    }
    ceiling_rate_ = edge.enters && edge.who == ceiling_variable ? edge.direction : 0.0;
    gross_rate_ = 0;
    std::vector<std::pair<const double *, double>> terms;
    if (edge.enters && edge.who != ceiling_variable) {
        terms.push_back({column(edge.who), edge.direction});
        gross_rate_ = size_[edge.who];
    }
    for (std::size_t p = 0; p < k; ++p) {
        if (free_[p] == ceiling_variable) {
            ceiling_rate_ = move_[p];
        } else if (move_[p] != 0) {
            terms.push_back({column(free_[p]), move_[p]});
            gross_rate_ += std::fabs(move_[p]) * size_[free_[p]];
        }
    }
    std::size_t a = 0;
    for (; a + 4 <= terms.size(); a += 4)
        add_multiples(rate_.data(), terms[a].first, terms[a].second, terms[a + 1].first, terms[a + 1].second,
                      terms[a + 2].first, terms[a + 2].second, terms[a + 3].first, terms[a + 3].second, rows_);
    for (; a < terms.size(); ++a) add_multiple(rate_.data(), terms[a].first, terms[a].second, rows_);
}

// How far the edge goes down: over kinks while the function still falls, up to the first ceiling met.
ComplexityProgram::Step ComplexityProgram::follow(const Edge &edge) {
    const double fastest = std::max(std::fabs(ceiling_rate_), largest_size(rate_.data(), rows_));
    // Below the second bound a rate is what rounding left of terms that cancel each other.
    const double least = std::max(standing * fastest, 1e-12 * gross_rate_);
    Step step = first_ceiling(least);
    step.slope = edge.slope;
    find_breaks(edge, least, step.length);
    // A heap rather than a sort: few of the kinks are reached.
    const auto later = [](const Break &a, const Break &b) { return a.at != b.at ? a.at > b.at : a.who > b.who; };
    std::make_heap(breaks_.begin(), breaks_.end(), later);
    crossed_.clear();
    while (!breaks_.empty()) {
        std::pop_heap(breaks_.begin(), breaks_.end(), later);
        const Break next = breaks_.back();
        breaks_.pop_back();
        step.slope += next.rise;
        if (step.slope < 0) {
            crossed_.push_back(next.who);
            continue;
        }
        step.length = next.at;
        step.end = next.who < rows_ ? Event::row_to_kink : Event::variable_to_zero;
        step.who = next.who < rows_ ? next.who : next.who - rows_;
        break;
    }
    return step;
}

// First how far the first ceiling lets us go, give or take a little; then, among the ceilings met by then, the one met
// fastest, which makes the best conditioned system (Harris's rule). The floor of h counts as one of them.
ComplexityProgram::Step ComplexityProgram::first_ceiling(double least) {
    Step step;
    step.length = infinity;
    ways_to_ceiling(score_.data(), rate_.data(), room_.data(), ceiling_ + leeway, ceiling_rate_, least, way_.data(),
                    rows_);
    double farthest = smallest(way_.data(), rows_);
    if (ceiling_rate_ < -least) farthest = std::min(farthest, (1 - leeway - ceiling_) / ceiling_rate_);
    if (farthest == infinity) return step;
    double fastest_end = 0;
    const auto end_with = [&](Event event, std::size_t who, double way, double speed) {
        if (way > farthest * speed || speed <= fastest_end) return;
        fastest_end = speed;
        step.length = std::max(0.0, way / speed);
        step.end = event;
        step.who = who;
    };
    for (std::size_t i = 0; i < rows_; ++i) {
        const double speed = rate_[i] - ceiling_rate_, way = ceiling_ + room_[i] - score_[i];
        // Both at once: each alone is a coin's throw, which a processor cannot foresee.
        if ((speed > least) & (way <= farthest * speed)) end_with(Event::row_to_ceiling, i, way, speed);
    }
    for (std::size_t p = 0; p < free_.size(); ++p)
        if (free_[p] == ceiling_variable && ceiling_rate_ < -least)
            end_with(Event::ceiling_to_floor, p, ceiling_ - 1, -ceiling_rate_);
    return step;
}

// Where along the edge the slope rises, before `end`: rows that meet their kink, and free variables that meet zero.
void ComplexityProgram::find_breaks(const Edge &edge, double least, double end) {
    ways_to_kink(score_.data(), rate_.data(), kink_.data(), side_.data(), least, way_.data(), rows_);
    breaks_.clear();
    for (std::size_t i = 0; i < rows_; ++i)
        if (way_[i] < end) breaks_.push_back({way_[i], hinge_cost(i) * std::fabs(rate_[i]), i});
    double fastest = edge.enters ? 1 : 0;
    for (const double speed : move_) fastest = std::max(fastest, std::fabs(speed));
    for (std::size_t p = 0; p < free_.size(); ++p) {
        if (free_[p] == ceiling_variable || penalty_[free_[p]] == 0) continue;
        if (free_sign_[p] * move_[p] >= -standing * fastest) continue;
        const double at = std::max(0.0, -value_[p] / move_[p]);
        if (at < end) breaks_.push_back({at, 2 * column_cost(free_[p]) * std::fabs(move_[p]), rows_ + p});
    }
}

void ComplexityProgram::put(std::size_t row, Place place) {
    place_[row] = place;
    side_[row] = place == Place::below ? 1.0 : place == Place::above ? -1.0 : 0.0;
    room_[row] = side_[row] == 0 ? infinity : ceiling_shift_[row];
}

// The tight row of an edge goes to its side of the kink, before a step is made.
void ComplexityProgram::release(const Edge &edge) {
    const std::size_t row = tight_[edge.who];
    const bool sinks = place_[row] == Place::kink && edge.direction < 0;
    put(row, sinks ? Place::below : Place::above);
    if (sinks) shift_cost(row, hinge_cost(row));
}

// A row's hinge starts to count (amount > 0) or no longer does.
void ComplexityProgram::shift_cost(std::size_t row, double amount) {
    for (std::size_t p = 0; p < free_.size(); ++p)
        if (free_[p] != ceiling_variable) cost_[p] -= amount * column(free_[p])[row];
}

void ComplexityProgram::move(const Step &step) {
    for (std::size_t p = 0; p < free_.size(); ++p) value_[p] += step.length * move_[p];
    add_multiple(score_.data(), rate_.data(), step.length, rows_);
    ceiling_ += step.length * ceiling_rate_;
    for (const std::size_t who : crossed_) {
        if (who >= rows_) {
            const std::size_t p = who - rows_;
            free_sign_[p] = -free_sign_[p];
            cost_[p] += 2 * free_sign_[p] * column_cost(free_[p]);
        } else if (place_[who] == Place::below) {
            put(who, Place::above);
            shift_cost(who, -hinge_cost(who));
        } else {
            put(who, Place::below);
            shift_cost(who, hinge_cost(who));
        }
    }
}

bool ComplexityProgram::pivot(const Edge &edge, const Step &step) {
    if (step.end == Event::none) return false;
    const bool by_row = step.end == Event::row_to_kink || step.end == Event::row_to_ceiling;
    const Place place = step.end == Event::row_to_ceiling ? Place::ceiling : Place::kink;
    if (by_row) {
        const std::size_t row = step.who;
        if (place_[row] == Place::below) shift_cost(row, -hinge_cost(row));
        put(row, place);
        return edge.enters ? grow(edge.who, edge.direction, step.length, row, place)
                           : replace_row(edge.who, row, place);
    }
    if (edge.enters) return replace_variable(step.who, edge.who, edge.direction, step.length);
    return shrink(edge.who, step.who);
}

bool ComplexityProgram::replace_row(std::size_t position, std::size_t row, Place place) {
    const std::size_t k = free_.size();
    std::vector<double> across(k, 0.0);
    for (std::size_t p = 0; p < k; ++p) add_multiple(across.data(), &inverse_[p * k], entry(row, place, free_[p]), k);
    const double pivot = across[position];
    if (!(std::fabs(pivot) > 1e-13)) return false;
    across[position] = pivot - 1;  // so that one formula serves all columns
    for (std::size_t p = 0; p < k; ++p) {
        const double by = inverse_[p * k + position] / pivot;
        add_multiple(&inverse_[p * k], across.data(), -by, k);
    }
    tight_[position] = row;
    return true;
}

bool ComplexityProgram::replace_variable(std::size_t position, std::size_t variable, double sign, double length) {
    const std::size_t k = free_.size();
    std::vector<double> along(k, 0.0);
    for (std::size_t p = 0; p < k; ++p) along[p] = -move_[p] * sign;  // inverse times the new column
    const double pivot = along[position];
    if (!(std::fabs(pivot) > 1e-13)) return false;
    double *own = &inverse_[position * k];
    for (std::size_t t = 0; t < k; ++t) own[t] /= pivot;
    for (std::size_t p = 0; p < k; ++p)
        if (p != position && along[p] != 0) add_multiple(&inverse_[p * k], own, -along[p], k);
    if (free_[position] == ceiling_variable) {
        ceiling_is_free_ = false;
        ceiling_ = 1;
    } else {
        is_free_[free_[position]] = 0;
    }
    free_[position] = variable;
    free_sign_[position] = sign;
    value_[position] = variable == ceiling_variable ? ceiling_ : sign * length;
    find_hinges();
    cost_[position] = cost_of(variable, sign);
    if (variable == ceiling_variable)
        ceiling_is_free_ = true;
    else
        is_free_[variable] = 1;
    return true;
}

bool ComplexityProgram::grow(std::size_t variable, double sign, double length, std::size_t row, Place place) {
    const std::size_t k = free_.size();
    std::vector<double> along(k), across(k, 0.0);
    for (std::size_t p = 0; p < k; ++p) along[p] = -move_[p] * sign;
    double corner = entry(row, place, variable);
    for (std::size_t p = 0; p < k; ++p) {
        const double own = entry(row, place, free_[p]);
        corner -= own * along[p];
        add_multiple(across.data(), &inverse_[p * k], own, k);
    }
    if (!(std::fabs(corner) > 1e-13)) return false;
    std::vector<double> bigger((k + 1) * (k + 1));
    for (std::size_t p = 0; p < k; ++p) {
        const double by = along[p] / corner;
        for (std::size_t t = 0; t < k; ++t) bigger[p * (k + 1) + t] = inverse_[p * k + t] + by * across[t];
        bigger[p * (k + 1) + k] = -by;
    }
    for (std::size_t t = 0; t < k; ++t) bigger[k * (k + 1) + t] = -across[t] / corner;
    bigger[k * (k + 1) + k] = 1 / corner;
    inverse_ = std::move(bigger);
    free_.push_back(variable);
    free_sign_.push_back(sign);
    value_.push_back(variable == ceiling_variable ? ceiling_ : sign * length);
    find_hinges();
    cost_.push_back(cost_of(variable, sign));
    tight_.push_back(row);
    if (variable == ceiling_variable)
        ceiling_is_free_ = true;
    else
        is_free_[variable] = 1;
    return true;
}

bool ComplexityProgram::shrink(std::size_t position_of_row, std::size_t position_of_variable) {
    const std::size_t k = free_.size();
    const double pivot = inverse_[position_of_variable * k + position_of_row];
    if (!(std::fabs(pivot) > 1e-13)) return false;
    const double *leaving = &inverse_[position_of_variable * k];
    for (std::size_t p = 0; p < k; ++p) {
        double *own = &inverse_[p * k];
        if (p != position_of_variable) add_multiple(own, leaving, -own[position_of_row] / pivot, k);
    }
    double *to = inverse_.data();  // closes up over the row and the column that go
    for (std::size_t p = 0; p < k; ++p) {
        if (p == position_of_variable) continue;
        const double *own = &inverse_[p * k];
        to = std::copy(own, own + position_of_row, to);
        to = std::copy(own + position_of_row + 1, own + k, to);
    }
    inverse_.resize((k - 1) * (k - 1));
    const std::size_t variable = free_[position_of_variable];
    if (variable == ceiling_variable) {
        ceiling_is_free_ = false;
        ceiling_ = 1;
    } else {
        is_free_[variable] = 0;
    }
    const auto drop = [](auto &from, std::size_t at) { from.erase(from.begin() + static_cast<std::ptrdiff_t>(at)); };
    drop(free_, position_of_variable);
    drop(free_sign_, position_of_variable);
    drop(value_, position_of_variable);
    drop(cost_, position_of_variable);
    drop(tight_, position_of_row);
    return true;
}

ComplexityProgram::Outcome ComplexityProgram::walk(std::size_t most_steps, const std::function<void()> &look_up) {
    bool is_fresh = refactor();
    if (!is_fresh) return Outcome::failed;
    std::size_t next_look = 0;
    for (std::size_t done = 0;; ++done) {
        if (done % 64 == 63) look_up();
        find_multipliers();
        Edge edge;
        if (done >= next_look) {
            edge = good_column_edge();
            next_look = done + (edge.exists ? 2 : pause_after_none);
        }
        if (!edge.exists) edge = best_row_edge();
        if (!edge.exists) edge = good_column_edge();
        if (!edge.exists && is_fresh) return Outcome::optimal;
        if (done >= most_steps) return Outcome::out_of_steps;
        if (edge.exists) {
            if (!take(edge)) return Outcome::failed;
            is_fresh = false;
        }
        if (!edge.exists || steps_since_refactor_ >= std::max(steps_between_refactors, free_.size())) {
            if (!refactor()) return Outcome::failed;
            is_fresh = true;
        }
    }
}

bool ComplexityProgram::take(const Edge &edge) {
    is_exact_ = false;
    find_direction(edge);
    if (!edge.enters) release(edge);
    const Step step = follow(edge);
    if (step.end == Event::none) return false;
    move(step);
    ++steps_;
    ++steps_since_refactor_;
    return pivot(edge, step);
}

// In the order of the columns; those without a penalty are always among them.
std::vector<std::size_t> ComplexityProgram::free_columns() const {
    std::vector<std::size_t> out;
    for (std::size_t j = 0; j < penalty_.size(); ++j)
        if (is_free_[j] || penalty_[j] == 0) out.push_back(j);
    return out;
}

ComplexityProgram ComplexityProgram::restricted() const {
    ComplexityProgram out(*this);
    const std::vector<std::size_t> kept = free_columns();
    std::vector<std::size_t> place(penalty_.size(), 0);
    for (std::size_t j = 0; j < kept.size(); ++j) {
        place[kept[j]] = j;
        std::copy_n(column(kept[j]), rows_, out.design_.begin() + static_cast<std::ptrdiff_t>(j * rows_));
        out.penalty_[j] = penalty_[kept[j]];
        out.size_[j] = size_[kept[j]];
        out.is_free_[j] = is_free_[kept[j]];
    }
    out.design_.resize(kept.size() * rows_);
    out.penalty_.resize(kept.size());
    out.size_.resize(kept.size());
    out.is_free_.resize(kept.size());
    out.next_column_ = 0;
    for (std::size_t &variable : out.free_)
        if (variable != ceiling_variable) variable = place[variable];
    return out;
}

// The vertex without the shifts of its rows.
std::vector<double> ComplexityProgram::coefficients() const {
    const std::size_t k = free_.size();
    std::vector<double> out(penalty_.size(), 0.0);
    for (std::size_t p = 0; p < k; ++p) {
        if (free_[p] == ceiling_variable) continue;
        for (std::size_t t = 0; t < k; ++t) {
            const bool at_one = place_[tight_[t]] == Place::kink || !ceiling_is_free_;
            if (at_one) out[free_[p]] += inverse_[p * k + t];
        }
    }
    return out;
}

std::vector<double> ComplexityProgram::scores() const {
    const std::vector<double> by = coefficients();
    std::vector<double> out(rows_, 0.0);
    for (std::size_t j = 0; j < by.size(); ++j)
        if (by[j] != 0) add_multiple(out.data(), column(j), by[j], rows_);
    return out;
}

std::vector<double> ComplexityProgram::multipliers() const {
    std::vector<double> out(rows_, 0.0);
    for (std::size_t i = 0; i < rows_; ++i)
        if (place_[i] == Place::below) out[i] = sign_[i] * hinge_cost(i);
    for (std::size_t t = 0; t < multiplier_.size(); ++t) out[tight_[t]] = sign_[tight_[t]] * multiplier_[t];
    return out;
}

double ComplexityProgram::dual_value() const {
    double sum = 1;
    for (std::size_t i = 0; i < rows_; ++i)
        if (place_[i] == Place::below) sum += hinge_cost(i);
    for (double m : multiplier_) sum += m;
    return sum;
}

}  // namespace planewise
