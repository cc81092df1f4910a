#include "bridge_program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "inverse.hpp"

namespace planewise {

namespace {

// Added to the diagonal of K in the face's system: variables that bend the function hardly (columns nearly alike) or
// not at all (the intercept) would make it singular. Directions are a little shorter for it; slopes and the search
// along a direction are exact, so that the optimum is the same. It grows where numbers fail.
constexpr double least_stiffness = 1e-10, most_stiffness = 1e-4;
constexpr double inexact = 1e-4;              // what a direction may be off, relatively
constexpr double unexplained = 0.05;          // of a slope, by bend and stiffness
constexpr double too_little = 1e-9;           // of the value: a slope that is not worth a doubt
constexpr double rounding_of_slopes = 1e-14;  // relative to the value
constexpr double rounding_of_rates = 1e-11;   // of a rate, relative to the terms that it is the sum of
constexpr std::size_t steps_between_refactors = 100;
constexpr std::size_t columns_a_look = 10;
constexpr double nothing_left = 1e-4;    // times the tolerance, of the value: what a step must promise
constexpr double least_progress = 1e-8;  // of the value, when it is looked at again
// How much a multiplier or a price must be off, relatively, to be worth a step. It grows where steps lead nowhere.
constexpr double least_tolerance = 1e-9, most_tolerance = 1e-5;
constexpr std::size_t most_looks = 3;
// What moves slower than this, compared with the fastest, does not move. After a restart it is the larger one, and rows
// are shifted by other amounts: those that nearly coincide could not be told apart.
constexpr double least_standing = 1e-9, most_standing = 1e-6;
constexpr double shifts_after_restart[] = {0.1, 10, 100};  // times those at first; small ones make better proofs

}  // namespace

BridgeProgram::BridgeProgram(std::vector<double> sign, std::vector<double> weight)
    : rows_(sign.size()), sign_(std::move(sign)), weight_(std::move(weight)), standing_(least_standing) {
    kink_.resize(rows_);
    ceiling_shift_.resize(rows_);
    for (std::size_t i = 0; i < rows_; ++i) weight_[i] *= 1 + random_shift(3 * i + 1);
    shift_rows(1);
    design_ = sign_;
    penalty_.push_back(0);
    size_.push_back(1);
    gram_.push_back({0.0});
    is_free_.push_back(0);
    place_.resize(rows_);
    side_.resize(rows_);
    room_.resize(rows_);
    way_.resize(rows_);
    dual_.resize(rows_);
    rate_.resize(rows_);
    multiplier_.assign(rows_, 0.0);
    begin();
}

void BridgeProgram::shift_rows(double times) {
    for (std::size_t i = 0; i < rows_; ++i) {
        kink_[i] = 1 - times * random_shift(2 * i);
        ceiling_shift_[i] = times * random_shift(2 * i + 1);
    }
}

void BridgeProgram::restart() {
    standing_ = most_standing;
    shift_rows(shifts_after_restart[std::min(restarts_++, most_restarts - 1)]);
    begin();
}

void BridgeProgram::add_columns(const double *columns, const double *penalty, const double *gram, std::size_t count) {
    const std::size_t before = penalty_.size(), after = before + count;
    design_.reserve(design_.size() + count * rows_);
    for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t i = 0; i < rows_; ++i) design_.push_back(sign_[i] * columns[j * rows_ + i]);
        size_.push_back(largest_size(columns + j * rows_, rows_));
        penalty_.push_back(penalty[j]);
        is_free_.push_back(0);
        const double *own = gram + j * after;
        gram_.emplace_back(own, own + after);
        for (std::size_t k = 0; k < before; ++k) gram_[k].push_back(own[k]);
        value_.push_back(0);
        free_sign_.push_back(1);
        cost_.push_back(0);
    }
    for (std::size_t j = before; j < after; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < before; ++k) sum += gram_[j][k] * value_[k];
        pull_.push_back(sum);
    }
}

void BridgeProgram::set_costs(double slack_cost, double coefficient_cost, double norm_cost) {
    slack_cost_ = slack_cost;
    coefficient_cost_ = coefficient_cost;
    norm_cost_ = norm_cost;
    find_costs();
}

// All coefficients zero; the intercept takes the heavier class to its kink.
void BridgeProgram::begin() {
    double balance = 0;
    for (std::size_t i = 0; i < rows_; ++i) balance += sign_[i] * weight_[i];
    const double majority = balance >= 0 ? 1 : -1;
    std::size_t row = 0;
    for (std::size_t i = 0; i < rows_; ++i)
        if (sign_[i] == majority) row = i;
    const std::size_t n = penalty_.size();
    value_.assign(n, 0.0);
    pull_.assign(n, 0.0);
    cost_.assign(n, 0.0);
    free_sign_.assign(n, 1.0);
    std::fill(is_free_.begin(), is_free_.end(), std::uint8_t{0});
    is_free_[0] = 1;
    value_[0] = sign_[row] * kink_[row];
    ceiling_is_free_ = false;
    ceiling_ = 1;
    score_.assign(rows_, 0);
    for (std::size_t i = 0; i < rows_; ++i) {
        score_[i] = sign_[i] * value_[0];
        put(i, score_[i] < kink_[i] ? Place::below : Place::above);
    }
    put(row, Place::kink);
    slots_ = {{false, 0}, {true, row}};
    inverse_.clear();
    is_exact_ = false;
    next_column_ = 0;
}

// The tight row's coefficient of a variable: g for a kink, g - h for a ceiling.
double BridgeProgram::entry(std::size_t row, std::size_t variable) const {
    if (variable == ceiling_variable) return place_[row] == Place::ceiling ? -1.0 : 0.0;
    return column(variable)[row];
}

// An entry of the face's system.
double BridgeProgram::link(const Slot &a, const Slot &b) const {
    if (a.is_row) return b.is_row ? 0.0 : entry(a.who, b.who);
    if (b.is_row) return entry(b.who, a.who);
    const double stiff = a.who == b.who ? stiffness_ : 0.0;
    if (a.who == ceiling_variable || b.who == ceiling_variable) return stiff;
    return stiff + gram_[a.who][b.who];
}

// Inverts the face's system anew, unless it is exact as it is, and finds everything that steps keep up to date.
bool BridgeProgram::refactor() {
    place();
    if (!is_exact_ || inverted_with_ != stiffness_) {
        const std::size_t k = slots_.size();
        std::vector<double> system(k * k);
        for (std::size_t r = 0; r < k; ++r)
            for (std::size_t c = 0; c <= r; ++c) system[r * k + c] = system[c * k + r] = link(slots_[r], slots_[c]);
        if (!invert(system, k, 1e-300)) return false;
        inverse_ = std::move(system);
        is_exact_ = true;
        inverted_with_ = stiffness_;
    }
    steps_since_refactor_ = 0;
    straighten();
    return true;
}

// Takes tight rows back to their levels, from which rounding and leeway have moved them.
void BridgeProgram::straighten() {
    const std::size_t k = slots_.size();
    std::vector<double> off(k, 0.0);
    for (std::size_t s = 0; s < k; ++s) {
        if (!slots_[s].is_row) continue;
        const std::size_t row = slots_[s].who;
        off[s] = (place_[row] == Place::kink ? kink_[row] : ceiling_ + ceiling_shift_[row]) - score_[row];
    }
    for (std::size_t s = 0; s < k; ++s) {
        if (slots_[s].is_row) continue;
        const double by = product(&inverse_[s * k], off.data(), k);
        (slots_[s].who == ceiling_variable ? ceiling_ : value_[slots_[s].who]) += by;
    }
    place();
    find_costs();
}

// Every row's score, and K x, from the values of the free variables.
void BridgeProgram::place() {
    std::fill(score_.begin(), score_.end(), 0.0);
    std::fill(pull_.begin(), pull_.end(), 0.0);
    double value = ceiling_;
    for (std::size_t j = 0; j < value_.size(); ++j) {
        if (value_[j] == 0) continue;
        add_multiple(score_.data(), column(j), value_[j], rows_);
        add_multiple(pull_.data(), gram_[j].data(), value_[j], pull_.size());
        value += column_cost(j) * std::fabs(value_[j]);
    }
    for (std::size_t i = 0; i < rows_; ++i) {
        if (place_[i] == Place::below || place_[i] == Place::above)
            put(i, score_[i] < kink_[i] ? Place::below : Place::above);
        if (place_[i] == Place::below) value += hinge_cost(i) * (kink_[i] - score_[i]);
    }
    scale_ = value + norm_cost_ * shifted_norm();
}

double BridgeProgram::shifted_norm() const { return product(value_.data(), pull_.data(), value_.size()); }

void BridgeProgram::find_hinges() {
    for (std::size_t i = 0; i < rows_; ++i) dual_[i] = place_[i] == Place::below ? hinge_cost(i) : 0.0;
}

void BridgeProgram::find_costs() {
    find_hinges();
    for (std::size_t j = 0; j < cost_.size(); ++j)
        if (is_free_[j]) cost_[j] = cost_of(j);
}

double BridgeProgram::cost_of(std::size_t j) const {
    return free_sign_[j] * column_cost(j) - product(column(j), dual_.data(), rows_);
}

// The slopes that are to be made zero on the way to the lowest point of the face; tight rows stay where they are.
void BridgeProgram::find_goal() {
    goal_.assign(slots_.size(), 0.0);
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const std::size_t who = slots_[s].who;
        if (!slots_[s].is_row) {
            const double cost = who == ceiling_variable ? 1.0 : cost_[who];
            goal_[s] = -cost / (2 * norm_cost_) - (who == ceiling_variable ? 0.0 : pull_[who]);
        }
    }
}

// The way to the lowest point of the face, and the tight rows' multipliers there; false if it is here, or nearer than
// numbers can tell.
bool BridgeProgram::find_direction() {
    const std::size_t k = slots_.size();
    find_goal();
    way_there_.resize(k);
    for (std::size_t s = 0; s < k; ++s) way_there_[s] = product(&inverse_[s * k], goal_.data(), k);
    find_slope();
    if (is_point() || !is_downhill()) return false;
    find_rates();
    if (direction_is_sound()) return true;
    refine_direction();
    return is_downhill();
}

// Whether as many rows are tight as variables are free: what looks like a direction is rounding.
bool BridgeProgram::is_point() const {
    const auto tight = std::count_if(slots_.begin(), slots_.end(), [](const Slot &slot) { return slot.is_row; });
    return 2 * static_cast<std::size_t>(tight) >= slots_.size();
}

bool BridgeProgram::is_downhill() const { return slope_ < -nothing_left * tolerance_ * scale_; }

void BridgeProgram::find_slope() {
    slope_ = 0;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        if (slots_[s].is_row)
            multiplier_[slots_[s].who] = -2 * norm_cost_ * way_there_[s];
        else
            slope_ -= 2 * norm_cost_ * goal_[s] * way_there_[s];
    }
}

void BridgeProgram::find_rates() {
    std::fill(rate_.begin(), rate_.end(), 0.0);
    pull_rate_.assign(value_.size(), 0.0);
    ceiling_rate_ = gross_rate_ = 0;
    std::vector<std::pair<std::size_t, double>> terms;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        if (slots_[s].is_row) continue;
        if (slots_[s].who == ceiling_variable) {
            ceiling_rate_ = way_there_[s];
        } else if (way_there_[s] != 0) {
            terms.push_back({slots_[s].who, way_there_[s]});
            gross_rate_ += std::fabs(way_there_[s]) * size_[slots_[s].who];
        }
    }
    std::size_t a = 0;
    for (; a + 4 <= terms.size(); a += 4) {
        const auto &[i, by_i] = terms[a];
        const auto &[j, by_j] = terms[a + 1];
        const auto &[l, by_l] = terms[a + 2];
        const auto &[m, by_m] = terms[a + 3];
        add_multiples(rate_.data(), column(i), by_i, column(j), by_j, column(l), by_l, column(m), by_m, rows_);
        add_multiples(pull_rate_.data(), gram_[i].data(), by_i, gram_[j].data(), by_j, gram_[l].data(), by_l,
                      gram_[m].data(), by_m, pull_rate_.size());
    }
    for (; a < terms.size(); ++a) {
        add_multiple(rate_.data(), column(terms[a].first), terms[a].second, rows_);
        add_multiple(pull_rate_.data(), gram_[terms[a].first].data(), terms[a].second, pull_rate_.size());
    }
    bend_ = 0;
    for (const auto &[j, by] : terms) bend_ += by * pull_rate_[j];
    bend_ = std::max(0.0, 2 * norm_cost_ * bend_);
    double square = 0;
    for (std::size_t s = 0; s < slots_.size(); ++s)
        if (!slots_[s].is_row) square += way_there_[s] * way_there_[s];
    made_up_ = bend_ + 2 * norm_cost_ * stiffness_ * square;
}

// Once more, with what the direction lacks as the goal: takes off most of its error.
void BridgeProgram::refine_direction() {
    const std::size_t k = slots_.size();
    std::vector<double> lack(k);
    for (std::size_t s = 0; s < k; ++s) {
        const std::size_t who = slots_[s].who;
        if (slots_[s].is_row) {
            lack[s] = place_[who] == Place::ceiling ? ceiling_rate_ - rate_[who] : -rate_[who];
            continue;
        }
        double sum = stiffness_ * way_there_[s] + (who == ceiling_variable ? 0.0 : pull_rate_[who]);
        for (std::size_t t = 0; t < k; ++t)
            if (slots_[t].is_row) sum += entry(slots_[t].who, who) * way_there_[t];
        lack[s] = goal_[s] - sum;
    }
    for (std::size_t s = 0; s < k; ++s) way_there_[s] += product(&inverse_[s * k], lack.data(), k);
    find_slope();
    find_rates();
}

// What rounding is relative to.
double BridgeProgram::largest_multiplier() const {
    double largest = 0;
    for (std::size_t i = 0; i < rows_; ++i)
        if (place_[i] == Place::below) largest = std::max(largest, hinge_cost(i));
    for (const Slot &slot : slots_)
        if (slot.is_row) largest = std::max(largest, std::fabs(multiplier_[slot.who]));
    return largest;
}

// The tight row whose release promises most.
BridgeProgram::Edge BridgeProgram::best_row_edge() const {
    const std::size_t k = slots_.size();
    Edge best;
    double best_score = 0;
    const double tolerance = tolerance_ * std::max(1e-3, largest_multiplier());
    for (std::size_t s = 0; s < k; ++s) {
        if (!slots_[s].is_row) continue;
        const std::size_t row = slots_[s].who;
        const double m = multiplier_[row];
        double slope = 0, direction = 1;
        if (place_[row] == Place::ceiling) {  // may only sink under the ceiling
            slope = -m;
            direction = -1;
        } else if (m < 0) {
            slope = m;
        } else {
            slope = hinge_cost(row) - m;
            direction = -1;
        }
        if (slope >= -tolerance) continue;
        const double score = slope * slope / (std::fabs(inverse_[s * k + s]) + 1e-12);
        if (score > best_score) {
            best_score = score;
            best = {true, false, row, direction, slope};
        }
    }
    return best;
}

// A variable whose leaving zero promises much: the best of the next few columns in turn (or of those after them, until
// one is worth it), or the ceiling leaving its floor 1.
BridgeProgram::Edge BridgeProgram::good_column_edge() {
    Edge best;
    find_hinges();
    double under_ceiling = 0;
    for (const Slot &slot : slots_) {
        if (!slot.is_row) continue;
        dual_[slot.who] = multiplier_[slot.who];
        if (place_[slot.who] == Place::ceiling) under_ceiling -= multiplier_[slot.who];
    }
    if (!ceiling_is_free_ && 1 - under_ceiling < -tolerance_)
        best = {true, true, ceiling_variable, 1, 1 - under_ceiling};
    const double tolerance = 0.1 * tolerance_ * std::max(1e-3, largest_multiplier());
    std::size_t looked_at = 0;
    for (std::size_t k = 0; k < penalty_.size(); ++k) {
        if (looked_at >= columns_a_look && best.exists) break;
        const std::size_t j = next_column_;
        next_column_ = (next_column_ + 1) % penalty_.size();
        if (is_free_[j]) continue;
        ++looked_at;
        const double price = 2 * norm_cost_ * pull_[j] - product(column(j), dual_.data(), rows_);
        const double slope = column_cost(j) - std::fabs(price);
        if (slope < -tolerance - 0.1 * tolerance_ * column_cost(j) && slope < best.slope)
            best = {true, true, j, price < 0 ? 1.0 : -1.0, slope};
    }
    return best;
}

std::size_t BridgeProgram::position_of(bool is_row, std::size_t who) const {
    for (std::size_t s = 0; s < slots_.size(); ++s)
        if (slots_[s].is_row == is_row && slots_[s].who == who) return s;
    return slots_.size();
}

// A face with one dimension more: a variable leaves zero, or a tight row its level.
bool BridgeProgram::open(const Edge &edge) {
    if (edge.enters) {
        if (edge.who == ceiling_variable) {
            ceiling_is_free_ = true;
        } else {
            is_free_[edge.who] = 1;
            free_sign_[edge.who] = edge.direction;
            find_hinges();
            cost_[edge.who] = cost_of(edge.who);
        }
        return border_in({false, edge.who});
    }
    const bool sinks = place_[edge.who] == Place::kink && edge.direction < 0;
    const std::size_t position = position_of(true, edge.who);
    put(edge.who, sinks ? Place::below : Place::above);
    if (sinks) shift_cost(edge.who, hinge_cost(edge.who));
    return border_out(position);
}

// How far to go: to the lowest point along the direction, over kinks while the function still falls, up to the first
// ceiling met.
BridgeProgram::Step BridgeProgram::follow() {
    const double fastest = std::max(std::fabs(ceiling_rate_), largest_size(rate_.data(), rows_));
    const double least = std::max(standing_ * fastest, 1e-12 * gross_rate_);
    Step step = first_ceiling(least);
    find_breaks(least, step.length);
    const auto later = [](const Break &a, const Break &b) { return a.at != b.at ? a.at > b.at : a.who > b.who; };
    std::make_heap(breaks_.begin(), breaks_.end(), later);
    crossed_.clear();
    double slope = slope_;  // at the beginning, of the function that continues the piece reached
    // No farther than bend and stiffness explain: the rest of a slope is rounding.
    const auto lowest = [&] { return bend_ > 0 ? std::min(-slope, 2 * made_up_) / bend_ : infinity; };
    while (!breaks_.empty()) {
        std::pop_heap(breaks_.begin(), breaks_.end(), later);
        const Break next = breaks_.back();
        breaks_.pop_back();
        if (lowest() <= next.at) break;
        slope += next.rise;
        if (slope + bend_ * next.at < 0) {
            crossed_.push_back(next.who);
            continue;
        }
        step.length = next.at;
        step.end = next.who < rows_ ? Event::row_to_kink : Event::variable_to_zero;
        step.who = next.who < rows_ ? next.who : next.who - rows_;
        return step;
    }
    if (lowest() < step.length) {
        step.length = lowest();
        step.end = Event::none;
    }
    return step;
}

// First how far the first ceiling lets us go, give or take a little; then, among the ceilings met by then, the one met
// fastest, which makes the best conditioned system (Harris's rule). The floor of h counts as one of them.
BridgeProgram::Step BridgeProgram::first_ceiling(double least) {
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
        if ((speed > least) & (way <= farthest * speed)) end_with(Event::row_to_ceiling, i, way, speed);
    }
    if (ceiling_is_free_ && ceiling_rate_ < -least)
        end_with(Event::ceiling_to_floor, ceiling_variable, ceiling_ - 1, -ceiling_rate_);
    return step;
}

// Where along the direction the slope rises, before `end`: rows that meet their kink, and free variables that meet
// zero.
void BridgeProgram::find_breaks(double least, double end) {
    ways_to_kink(score_.data(), rate_.data(), kink_.data(), side_.data(), least, way_.data(), rows_);
    breaks_.clear();
    for (std::size_t i = 0; i < rows_; ++i)
        if (way_[i] < end) breaks_.push_back({way_[i], hinge_cost(i) * std::fabs(rate_[i]), i});
    double fastest = 0;
    for (std::size_t s = 0; s < slots_.size(); ++s)
        if (!slots_[s].is_row) fastest = std::max(fastest, std::fabs(way_there_[s]));
    for (std::size_t s = 0; s < slots_.size(); ++s) {
        const std::size_t j = slots_[s].who;
        if (slots_[s].is_row || j == ceiling_variable || column_cost(j) == 0) continue;
        const double speed = way_there_[s];
        if (free_sign_[j] * speed >= -standing_ * fastest) continue;
        const double at = std::max(0.0, -value_[j] / speed);
        if (at < end) breaks_.push_back({at, 2 * column_cost(j) * std::fabs(speed), rows_ + j});
    }
}

void BridgeProgram::put(std::size_t row, Place place) {
    place_[row] = place;
    side_[row] = place == Place::below ? 1.0 : place == Place::above ? -1.0 : 0.0;
    room_[row] = side_[row] == 0 ? infinity : ceiling_shift_[row];
}

// A row's hinge starts to count (amount > 0) or no longer does.
void BridgeProgram::shift_cost(std::size_t row, double amount) {
    for (const Slot &slot : slots_)
        if (!slot.is_row && slot.who != ceiling_variable) cost_[slot.who] -= amount * column(slot.who)[row];
}

bool BridgeProgram::move(const Step &step) {
    if (step.length == infinity) return false;
    for (std::size_t s = 0; s < slots_.size(); ++s)
        if (!slots_[s].is_row && slots_[s].who != ceiling_variable)
            value_[slots_[s].who] += step.length * way_there_[s];
    add_multiple(score_.data(), rate_.data(), step.length, rows_);
    add_multiple(pull_.data(), pull_rate_.data(), step.length, pull_.size());
    ceiling_ += step.length * ceiling_rate_;
    for (const std::size_t who : crossed_) {
        if (who >= rows_) {
            const std::size_t j = who - rows_;
            free_sign_[j] = -free_sign_[j];
            cost_[j] += 2 * free_sign_[j] * column_cost(j);
        } else if (place_[who] == Place::below) {
            put(who, Place::above);
            shift_cost(who, -hinge_cost(who));
        } else {
            put(who, Place::below);
            shift_cost(who, hinge_cost(who));
        }
    }
    if (step.end == Event::none) return true;
    if (step.end == Event::row_to_kink || step.end == Event::row_to_ceiling) {
        if (place_[step.who] == Place::below) shift_cost(step.who, -hinge_cost(step.who));
        put(step.who, step.end == Event::row_to_kink ? Place::kink : Place::ceiling);
        return border_in({true, step.who});
    }
    const std::size_t position = position_of(false, step.who);
    if (step.end == Event::ceiling_to_floor) {
        ceiling_is_free_ = false;
        ceiling_ = 1;
    } else {
        is_free_[step.who] = 0;
        value_[step.who] = 0;
    }
    return border_out(position);
}

// The system with one more row and column.
bool BridgeProgram::border_in(const Slot &slot) {
    const std::size_t k = slots_.size();
    std::vector<double> links(k), along(k);
    for (std::size_t s = 0; s < k; ++s) links[s] = link(slots_[s], slot);
    for (std::size_t s = 0; s < k; ++s) along[s] = product(&inverse_[s * k], links.data(), k);
    const double corner = link(slot, slot) - product(links.data(), along.data(), k);
    slots_.push_back(slot);
    is_exact_ = false;
    if (!(std::fabs(corner) > 1e-300)) return false;
    inverse_.resize((k + 1) * (k + 1));
    for (std::size_t s = k; s-- > 0;) {  // the last row first: each moves to make room for the new column
        double *own = &inverse_[s * (k + 1)];
        std::copy_backward(&inverse_[s * k], &inverse_[s * k] + k, own + k);
        add_multiple(own, along.data(), along[s] / corner, k);
        own[k] = inverse_[k * (k + 1) + s] = -along[s] / corner;
    }
    inverse_[k * (k + 1) + k] = 1 / corner;
    return true;
}

// The system without one of its rows and columns.
bool BridgeProgram::border_out(std::size_t position) {
    const std::size_t k = slots_.size();
    const double pivot = inverse_[position * k + position];
    slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(position));
    is_exact_ = false;
    if (!(std::fabs(pivot) > 1e-300)) return false;
    const std::vector<double> leaving(&inverse_[position * k], &inverse_[position * k] + k);
    double *to = inverse_.data();  // closes up over the row and the column that go
    for (std::size_t s = 0; s < k; ++s) {
        if (s == position) continue;
        double *own = &inverse_[s * k];
        add_multiple(own, leaving.data(), -leaving[s] / pivot, k);
        to = std::copy(own, own + position, to);
        to = std::copy(own + position + 1, own + k, to);
    }
    inverse_.resize((k - 1) * (k - 1));
    return true;
}

// Whether the direction is what it should be: tight rows stay tight, and the slope is made up by the bend and the
// stiffness. Where it is not, tight rows nearly coincide: what holds them costs more than the step gains.
bool BridgeProgram::direction_is_sound() const {
    const double fastest = std::max(std::fabs(ceiling_rate_), largest_size(rate_.data(), rows_));
    const double standing_still = std::max(inexact * fastest, rounding_of_rates * gross_rate_);
    for (const Slot &slot : slots_) {
        if (!slot.is_row) continue;
        const double rate = place_[slot.who] == Place::ceiling ? rate_[slot.who] - ceiling_rate_ : rate_[slot.who];
        if (!(std::fabs(rate) <= standing_still)) return false;
    }
    return bend_ <= -slope_ * (1 + inexact) + rounding_of_slopes * scale_ &&
           -slope_ <= made_up_ * (1 + unexplained) + too_little * scale_;
}

// At the optimal face, what is left of the way to its lowest point: too little to lead to another face, but multipliers
// are as exact as the point is.
void BridgeProgram::polish() {
    for (int step = 0; step < 3; ++step) {
        find_direction();
        if (!(slope_ < 0)) return;
        find_rates();
        if (!direction_is_sound()) return;
        Step whole = follow();
        if (whole.end != Event::none || !crossed_.empty() || whole.length < 0.5) return;
        whole.length = 1;  // no farther where the function is nearly flat: what is left there is rounding
        move(whole);
    }
    find_direction();
}

BridgeProgram::Outcome BridgeProgram::walk(std::size_t most_steps, const std::function<void()> &look_up) {
    stiffness_ = least_stiffness;
    tolerance_ = least_tolerance;
    std::size_t since = 0;  // steps since the value was last looked at
    std::size_t looks = 0;  // of the smallest tolerance at what a larger one left
    bool is_fresh = refactor();
    if (!is_fresh) return Outcome::failed;
    double value = scale_;
    for (std::size_t done = 0;; ++done) {
        if (done % 64 == 63) look_up();
        bool sound = true;
        if (find_direction()) {
            if (done >= most_steps) return Outcome::out_of_steps;
            if (direction_is_sound()) {
                sound = move(follow());
                ++steps_;
                ++steps_since_refactor_;
            } else {
                sound = false;
                if (is_fresh) stiffness_ *= 100;
                if (stiffness_ > most_stiffness) return Outcome::failed;
            }
            is_fresh = false;
        } else {
            Edge edge = best_row_edge();
            if (!edge.exists) edge = good_column_edge();
            if (!edge.exists && is_fresh) {
                if (tolerance_ == least_tolerance || looks == most_looks) {
                    polish();
                    return Outcome::optimal;
                }
                tolerance_ = least_tolerance;  // what led nowhere before may now lead on
                ++looks;
                continue;
            }
            if (done >= most_steps) return Outcome::out_of_steps;
            sound = edge.exists && open(edge);  // or looks again with an exact system
            if (edge.exists) {
                ++steps_;
                ++steps_since_refactor_;
            }
            is_fresh = false;
        }
        ++since;
        if (!sound || steps_since_refactor_ >= std::max(steps_between_refactors, slots_.size())) {
            if (!refactor()) return Outcome::failed;
            is_fresh = true;
            if (since >= steps_between_refactors) {
                if (scale_ > value * (1 - least_progress)) {
                    if (tolerance_ >= most_tolerance) return Outcome::optimal;  // or in circles: the gap tells
                    tolerance_ *= 10;
                }
                value = std::min(value, scale_);
                since = 0;
            }
        }
    }
}

// In the order of the columns; those without a penalty are always among them.
std::vector<std::size_t> BridgeProgram::free_columns() const {
    std::vector<std::size_t> out;
    for (std::size_t j = 0; j < penalty_.size(); ++j)
        if (is_free_[j] || penalty_[j] == 0) out.push_back(j);
    return out;
}

BridgeProgram BridgeProgram::restricted() const {
    BridgeProgram out(*this);
    const std::vector<std::size_t> kept = free_columns();
    std::vector<std::size_t> place(penalty_.size(), 0);
    for (std::size_t j = 0; j < kept.size(); ++j) {
        place[kept[j]] = j;
        std::copy_n(column(kept[j]), rows_, out.design_.begin() + static_cast<std::ptrdiff_t>(j * rows_));
        out.penalty_[j] = penalty_[kept[j]];
        out.size_[j] = size_[kept[j]];
        out.is_free_[j] = is_free_[kept[j]];
        out.value_[j] = value_[kept[j]];
        out.pull_[j] = pull_[kept[j]];
        out.cost_[j] = cost_[kept[j]];
        out.free_sign_[j] = free_sign_[kept[j]];
        std::vector<double> own(kept.size());
        for (std::size_t i = 0; i < kept.size(); ++i) own[i] = gram_[kept[j]][kept[i]];
        out.gram_[j] = std::move(own);
    }
    out.design_.resize(kept.size() * rows_);
    for (std::vector<double> *each : {&out.penalty_, &out.size_, &out.value_, &out.pull_, &out.cost_, &out.free_sign_})
        each->resize(kept.size());
    out.is_free_.resize(kept.size());
    out.gram_.resize(kept.size());
    out.next_column_ = 0;
    for (Slot &slot : out.slots_)
        if (!slot.is_row && slot.who != ceiling_variable) slot.who = place[slot.who];
    return out;
}

// The point without the shifts of its rows.
std::vector<double> BridgeProgram::coefficients() const {
    const std::size_t k = slots_.size();
    std::vector<double> out = value_;
    if (inverse_.size() != k * k) return out;
    std::vector<double> off(k, 0.0);
    for (std::size_t s = 0; s < k; ++s) {
        if (!slots_[s].is_row) continue;
        const std::size_t row = slots_[s].who;
        off[s] = place_[row] == Place::kink ? 1 - kink_[row] : -ceiling_shift_[row];
    }
    for (std::size_t s = 0; s < k; ++s)
        if (!slots_[s].is_row && slots_[s].who != ceiling_variable)
            out[slots_[s].who] += product(&inverse_[s * k], off.data(), k);
    return out;
}

std::vector<double> BridgeProgram::scores() const {
    const std::vector<double> by = coefficients();
    std::vector<double> out(rows_, 0.0);
    for (std::size_t j = 0; j < by.size(); ++j)
        if (by[j] != 0) add_multiple(out.data(), column(j), by[j], rows_);
    return out;
}

double BridgeProgram::norm() const {
    const std::vector<double> by = coefficients();
    double sum = 0;
    for (std::size_t j = 0; j < by.size(); ++j)
        if (by[j] != 0) sum += by[j] * product(gram_[j].data(), by.data(), by.size());
    return sum;
}

std::vector<double> BridgeProgram::multipliers() const {
    std::vector<double> out(rows_, 0.0);
    for (std::size_t i = 0; i < rows_; ++i)
        if (place_[i] == Place::below) out[i] = sign_[i] * hinge_cost(i);
    for (const Slot &slot : slots_)
        if (slot.is_row) out[slot.who] = sign_[slot.who] * multiplier_[slot.who];
    return out;
}

double BridgeProgram::dual_value() const {
    double sum = 1;
    for (std::size_t i = 0; i < rows_; ++i)
        if (place_[i] == Place::below) sum += hinge_cost(i);
    for (const Slot &slot : slots_)
        if (slot.is_row) sum += multiplier_[slot.who];
    return sum;
}

}  // namespace planewise
