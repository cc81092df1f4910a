#include "program_path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "row_loops.hpp"

namespace planewise {

namespace {

// Columns added to the program before prices are found anew: this many, or this share of those it has. For small
// programs 5 and 100 took up to twice the time; for large ones the share took 0.7 to 0.9 of the time of 20.
constexpr std::size_t columns_a_round = 20;
constexpr double share_a_round = 0.25;
constexpr double largest_handicap = 1e-7;
constexpr double price_rounding = 1e-14;  // of a price, relative to the sum it is the result of
constexpr double dear_slack = 1e5;        // times mu: from here on the price of slack is raised in steps
constexpr double least_mu = 1e-3;
constexpr double smallest_shares[] = {1e-6, 1e-8, 1e-10, 1e-12};  // of the largest coefficient: the rest is dropped,
constexpr double worth_keeping = 1e-6;                            // unless the value of the machine rises by this share
constexpr double good_gap = 1e-6;   // between value and bound, relatively: above it, another way is tried
constexpr double worst_gap = 1e-5;  // between value and bound, relatively: above it a solution is not called one

// The places of the largest values, the largest first; among equals the first.
std::vector<std::size_t> largest(const std::vector<double> &values, std::size_t count) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    count = std::min(count, order.size());
    const auto before = [&](std::size_t a, std::size_t b) {
        return values[a] != values[b] ? values[a] > values[b] : a < b;
    };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), before);
    order.resize(count);
    return order;
}

void set_costs(ComplexityProgram &program, double slack, const Prices &prices) {
    program.set_costs(slack, prices.coefficient);
}
void set_costs(BridgeProgram &program, double slack, const Prices &prices) {
    program.set_costs(slack, prices.coefficient, prices.norm);
}
void add_columns(ComplexityProgram &program, const std::vector<double> &block, const std::vector<double> &penalty,
                 const std::vector<double> &) {
    program.add_columns(block.data(), penalty.data(), penalty.size());
}
void add_columns(BridgeProgram &program, const std::vector<double> &block, const std::vector<double> &penalty,
                 const std::vector<double> &gram) {
    program.add_columns(block.data(), penalty.data(), gram.data(), penalty.size());
}
double norm_of(const ComplexityProgram &) { return 0; }
double norm_of(const BridgeProgram &program) { return program.norm(); }
double shifted_norm_of(const ComplexityProgram &) { return 0; }
double shifted_norm_of(const BridgeProgram &program) { return program.shifted_norm(); }
constexpr bool has_norm(const ComplexityProgram &) { return false; }
constexpr bool has_norm(const BridgeProgram &) { return true; }

}  // namespace

namespace {
bool is_precise(const Machine &machine) { return machine.objective - machine.dual <= good_gap * machine.objective; }
}  // namespace

std::vector<double> slack_prices(const Prices &prices) {
    std::vector<double> out = {prices.slack};
    const double dear = dear_slack * std::max(prices.coefficient, least_mu);
    while (prices.norm == 0 && out.back() > dear) out.push_back(out.back() / 10);
    std::reverse(out.begin(), out.end());
    return out;
}

std::vector<double> Design::take(const std::vector<std::size_t> &which) const {
    std::vector<double> out(which.size() * rows);
    for (std::size_t k = 0; k < which.size(); ++k)
        for (std::size_t i = 0; i < rows; ++i) out[k * rows + i] = values[i * columns + which[k]];
    return out;
}

std::vector<double> Design::products(const std::vector<double> &with) const {
    std::vector<double> out(columns, 0.0);
    std::vector<std::size_t> counts;  // rows above 1 and below h have no multiplier
    for (std::size_t i = 0; i < rows; ++i)
        if (with[i] != 0) counts.push_back(i);
    const auto row = [&](std::size_t at) { return values + counts[at] * columns; };
    const auto by = [&](std::size_t at) { return with[counts[at]]; };
    std::size_t a = 0;
    for (; a + 4 <= counts.size(); a += 4)
        add_multiples(out.data(), row(a), by(a), row(a + 1), by(a + 1), row(a + 2), by(a + 2), row(a + 3), by(a + 3),
                      columns);
    for (; a < counts.size(); ++a) add_multiple(out.data(), row(a), by(a), columns);
    return out;
}

namespace {

// By a power of two, which changes no digit: only their ratios count, and the solver's tolerances are absolute.
PathData scaled(PathData data) {
    int exponent = 0;
    std::frexp(*std::max_element(data.weight.begin(), data.weight.end()), &exponent);
    for (double &weight : data.weight) weight = std::ldexp(weight, -exponent);
    return data;
}

}  // namespace

template <class Program>
ProgramPath<Program>::ProgramPath(PathData data)
    : data_(scaled(std::move(data))),
      total_weight_(std::accumulate(data_.weight.begin(), data_.weight.end(), 0.0)),
      n_free_(data_.free.size() / data_.sign.size()),
      n_columns_(data_.handicap.size()),
      program_(data_.sign, data_.weight),
      is_known_(n_columns_, 0) {
    if (n_free_ == 0) return;
    const std::vector<double> nothing(n_free_, 0.0), no_norm(n_free_ * (1 + n_free_), 0.0);
    add_columns(program_, data_.free, nothing, no_norm);
}

template <class Program>
void ProgramPath<Program>::charge(Program &program, const Prices &prices) const {
    set_costs(program, prices.slack / total_weight_, prices);
}

template <class Program>
void ProgramPath<Program>::charge(const Prices &prices) {
    prices_ = prices;
    charge(program_, prices);
}

// To the optimum over the program's columns, from the beginning if the numbers fail; false if not reached.
template <class Program>
bool ProgramPath<Program>::walk(Program &program, std::size_t most_steps, const std::function<void()> &look_up) const {
    const std::size_t before = program.steps();
    auto outcome = program.walk(most_steps, look_up);
    for (std::size_t k = 0; k < Program::most_restarts && outcome == Program::Outcome::failed; ++k) {
        program.restart();  // another way rarely fails too
        const std::size_t used = program.steps() - before;
        outcome = program.walk(most_steps > used ? most_steps - used : 0, look_up);
    }
    return outcome == Program::Outcome::optimal;
}

template <class Program>
bool ProgramPath<Program>::walk(std::size_t most_steps, const std::function<void()> &look_up) {
    return walk(program_, most_steps, look_up);
}

template <class Program>
Machine ProgramPath<Program>::solve(const Design &design, const Prices &prices, double tolerance,
                                    std::size_t most_steps, const std::function<void()> &look_up) {
    const std::size_t before = program_.steps();
    bool solved = false;
    Dear dear;
    std::vector<double> products;
    const auto find = [&] {
        for (const double slack : slack_prices(prices)) {
            charge({slack, prices.coefficient, prices.norm});
            for (solved = false; !solved;) {
                const std::size_t used = program_.steps() - before;
                if (!walk(most_steps > used ? most_steps - used : 0, look_up)) break;
                products = design.products(program_.multipliers());
                dear = dear_columns(products, 0.0, tolerance);
                solved = dear.columns.empty();
                if (!solved) add(dear.columns, design.take(dear.columns));
            }
        }
        return machine(dear.highest, solved, program_.steps() - before, most_steps, products);
    };
    Machine found = find();
    if (has_norm(program_) && found.reached && !is_precise(found)) {
        program_.restart();
        found = find();
    }
    return found;
}

// By column, the slope of the norm's price: 2 rho (K x)_j.
template <class Program>
std::vector<double> ProgramPath<Program>::norm_slopes() const {
    std::vector<double> out(n_columns_, 0.0);
    if constexpr (std::is_same_v<Program, BridgeProgram>) add_norm_slopes(program_, out);
    return out;
}

template <class Program>
void ProgramPath<Program>::add_norm_slopes(const BridgeProgram &program, std::vector<double> &out) const {
    const std::vector<double> &value = program.shifted_coefficients(), &score = program.shifted_scores();
    if (data_.centre.empty()) {
        for (std::size_t k = 0; k < known_.size(); ++k) out[known_[k]] = 2 * prices_.norm * value[1 + n_free_ + k];
        return;
    }
    double base = value[0];  // what a score has besides K x
    for (std::size_t k = 0; k < known_.size(); ++k) base -= value[1 + n_free_ + k] * means_[k];
    for (std::size_t j = 0; j < n_columns_; ++j) {
        const std::size_t row = data_.centre[j];
        double others = base;
        for (std::size_t f = 0; f < n_free_; ++f) others += value[1 + f] * data_.free[f * rows() + row];
        out[j] = 2 * prices_.norm * (data_.sign[row] * score[row] - others);
    }
}

template <class Program>
double ProgramPath<Program>::rounding(double tolerance) const {
    double sum = 0;
    for (const double m : program_.multipliers()) sum += std::fabs(m);
    // Where coefficients have no price but the norm has one, columns that would change nothing visible are not needed.
    return sum * (prices_.coefficient == 0 && has_norm(program_) ? tolerance : price_rounding);
}

// The price from which a column is worth adding.
template <class Program>
double ProgramPath<Program>::limit(std::size_t column, double rounding, double tolerance) const {
    return prices_.coefficient * (1 + data_.handicap[column] + tolerance) + rounding;
}

template <class Program>
std::size_t ProgramPath<Program>::most_at_once() const {
    return std::max(columns_a_round, static_cast<std::size_t>(share_a_round * static_cast<double>(known_.size())));
}

template <class Program>
Dear ProgramPath<Program>::dear_columns(const std::vector<double> &products, double error, double tolerance) const {
    const std::vector<double> slope = norm_slopes();
    const double rounded = rounding(tolerance);
    std::vector<double> excess(n_columns_);
    Dear out;
    for (std::size_t j = 0; j < n_columns_; ++j) {
        const double price = std::fabs(products[j] - slope[j]);
        out.highest = std::max(out.highest, price);
        excess[j] = is_known_[j] ? -infinity : price - limit(j, rounded, tolerance);
    }
    for (const std::size_t j : largest(excess, most_at_once()))
        if (excess[j] > error) out.columns.push_back(j);
    if (!out.columns.empty() || error == 0) return out;
    for (std::size_t j = 0; j < n_columns_; ++j)
        if (excess[j] > -error) out.doubtful.push_back(j);
    return out;
}

template <class Program>
Dear ProgramPath<Program>::dear_among(const std::vector<std::size_t> &doubtful, const std::vector<double> &products,
                                      double tolerance) const {
    const std::vector<double> slope = norm_slopes();
    const double rounded = rounding(tolerance);
    Dear out;
    // The program itself prices known columns no higher than this; the rest are below it by more than the error.
    out.highest = prices_.coefficient * (1 + largest_handicap);
    for (std::size_t k = 0; k < doubtful.size(); ++k) {
        const double price = std::fabs(products[k] - slope[doubtful[k]]);
        out.highest = std::max(out.highest, price);
        if (price > limit(doubtful[k], rounded, tolerance) && out.columns.size() < most_at_once())
            out.columns.push_back(doubtful[k]);
    }
    return out;
}

template <class Program>
void ProgramPath<Program>::add(const std::vector<std::size_t> &which, std::vector<double> block) {
    const std::size_t before = 1 + n_free_ + known_.size(), after = before + which.size();
    std::vector<double> gram, penalty;
    if (has_norm(program_)) {
        gram.assign(which.size() * after, 0.0);
        for (std::size_t k = 0; k < which.size(); ++k) {
            double *own = &gram[k * after];
            if (data_.centre.empty()) {
                own[before + k] = 1;
                continue;
            }
            for (std::size_t j = 0; j < known_.size(); ++j)
                own[1 + n_free_ + j] = block[k * rows() + data_.centre[known_[j]]];
            for (std::size_t j = 0; j < which.size(); ++j) own[before + j] = block[k * rows() + data_.centre[which[j]]];
        }
    }
    for (std::size_t k = 0; k < which.size(); ++k) {
        double *own = &block[k * rows()];
        double mean = 0;  // the intercept absorbs it, and the systems are better conditioned
        for (std::size_t i = 0; i < rows(); ++i) mean += own[i];
        mean /= static_cast<double>(rows());
        for (std::size_t i = 0; i < rows(); ++i) own[i] -= mean;
        means_.push_back(mean);
        penalty.push_back(1.0 + data_.handicap[which[k]]);
        known_.push_back(which[k]);
        is_known_[which[k]] = 1;
    }
    add_columns(program_, block, penalty, gram);
}

template <class Program>
typename ProgramPath<Program>::Measured ProgramPath<Program>::measure(const std::vector<double> &margin,
                                                                      double absolute, double norm,
                                                                      const Prices &prices) const {
    double h = 1, slack = 0;
    for (std::size_t i = 0; i < margin.size(); ++i) {
        h = std::max(h, margin[i]);
        slack += data_.weight[i] * std::max(0.0, 1 - margin[i]);
    }
    slack /= total_weight_;
    return {h, slack, h + prices.slack * slack + prices.coefficient * absolute + prices.norm * norm};
}

// What the norm takes off the bound if coefficients have no price: the least of rho x'K x - a'K x is -a'K a / (4 rho),
// whatever the columns that the program knows.
template <class Program>
double ProgramPath<Program>::least_of_norm(const std::vector<double> &products) const {
    double square = 0;
    if (data_.centre.empty()) {
        for (const double each : products) square += each * each;
    } else {
        const std::vector<double> multiplier = program_.multipliers();
        for (std::size_t i = 0; i < rows(); ++i) square += multiplier[i] * products[data_.column[i]];
    }
    return square / (4 * prices_.norm);
}

template <class Program>
Machine ProgramPath<Program>::machine(double highest, bool solved, std::size_t steps, std::size_t most_steps,
                                      const std::vector<double> &products) const {
    std::vector<std::size_t> everything(known_.size());
    std::iota(everything.begin(), everything.end(), std::size_t{0});
    Machine out = machine_of(program_, everything, prices_);
    out.steps = steps;
    out.most_steps = most_steps;
    out.reached = solved;
    if (!solved) return out;
    const double mu = prices_.coefficient, sum = program_.dual_value() - 1;
    // Multipliers scaled down until no column is priced above mu are feasible: their value is a bound.
    if (mu > 0 || !has_norm(program_)) {
        const double shrink = highest > mu && mu > 0 ? mu / highest : 1.0;
        out.dual = 1 + shrink * sum - shrink * shrink * prices_.norm * shifted_norm_of(program_);
    }
    // So is the bound of the program without mu, which is the better one where mu is lost in the rounding of prices.
    if (has_norm(program_) && !products.empty()) {
        const double without = 1 + sum - least_of_norm(products);
        out.dual = mu > 0 ? std::max(out.dual, without) : without;
    }
    out.converged = out.objective - out.dual <= worst_gap * out.objective;
    return out;
}

// What the point of a program on the known columns `of` says, without its proof.
template <class Program>
Machine ProgramPath<Program>::machine_of(const Program &program, const std::vector<std::size_t> &of,
                                         const Prices &prices) const {
    const std::vector<double> value = program.coefficients();
    const std::vector<double> margin = program.scores();
    const std::size_t first = 1 + n_free_;
    double absolute = 0, biggest = 0;
    for (std::size_t k = 0; k < of.size(); ++k) {
        absolute += std::fabs(value[first + k]);
        biggest = std::max(biggest, std::fabs(value[first + k]));
    }
    const double norm = norm_of(program);
    const Measured whole = measure(margin, absolute, norm, prices);
    Measured measured = whole;
    std::vector<std::uint8_t> kept(of.size());
    for (std::size_t k = 0; k < of.size(); ++k) kept[k] = value[first + k] != 0;
    // What rounding leaves of a zero is not a support vector; what the machine needs, however small, is one.
    for (const double share : smallest_shares) {
        std::vector<double> left = margin;
        double less = absolute;
        bool found = false;
        for (std::size_t k = 0; k < of.size(); ++k) {
            const double own = value[first + k];
            if (!kept[k] || std::fabs(own) > share * biggest) continue;
            found = true;
            less -= std::fabs(own);
            add_multiple(left.data(), program.column(first + k), -own, rows());
        }
        if (!found) break;
        const Measured without = measure(left, less, norm, prices);
        if (without.objective > whole.objective * (1 + worth_keeping)) continue;
        for (std::size_t k = 0; k < of.size(); ++k)
            if (std::fabs(value[first + k]) <= share * biggest) kept[k] = 0;
        measured = without;
        break;
    }
    Machine out;
    std::vector<std::pair<std::size_t, double>> chosen;
    out.intercept = value[0];
    for (std::size_t k = 0; k < of.size(); ++k) {
        if (!kept[k]) continue;
        chosen.push_back({known_[of[k]], value[first + k]});
        out.intercept -= value[first + k] * means_[of[k]];
    }
    std::sort(chosen.begin(), chosen.end());
    for (const auto &[column, coefficient] : chosen) {
        out.chosen.push_back(column);
        out.coefficients.push_back(coefficient);
    }
    out.free_coefficients.assign(value.begin() + 1, value.begin() + static_cast<std::ptrdiff_t>(first));
    out.h = measured.h;
    out.mean_slack = measured.mean_slack;
    out.norm = norm;
    out.objective = measured.objective;
    return out;
}

template <class Program>
Machine ProgramPath<Program>::relax(const Machine &whole, const Prices &prices, std::size_t most_steps,
                                    const std::function<void()> &look_up) const {
    Program program = program_.restricted();
    charge(program, prices);
    const std::size_t before = program.steps();
    const bool solved = walk(program, most_steps, look_up);
    std::vector<std::size_t> of;
    for (const std::size_t j : program_.free_columns())
        if (j >= 1 + n_free_) of.push_back(j - (1 + n_free_));
    Machine out = machine_of(program, of, prices);
    out.objective = whole.objective;
    out.dual = whole.dual;
    out.steps = whole.steps + program.steps() - before;
    out.most_steps = most_steps;
    out.reached = whole.reached && solved;
    out.converged = whole.converged && solved;
    return out;
}

template class ProgramPath<ComplexityProgram>;
template class ProgramPath<BridgeProgram>;

}  // namespace planewise
