// One program of the minimal complexity machine along a path of its prices, solved by column generation.
//
// The program holds only the columns of the design that were ever worth a price above mu; it keeps its point from one
// set of prices to the next, so that a path costs little more than its last machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bridge_program.hpp"
#include "complexity_program.hpp"

namespace planewise {

// The prices of a machine: of the mean slack, of |x|_1, and of the norm x'K x.
struct Prices {
    double slack = 1, coefficient = 1, norm = 0;
};

// A machine with its proof: `dual` bounds the value of the program from below.
struct Machine {
    std::vector<std::size_t> chosen;   // columns, in their order
    std::vector<double> coefficients;  // of these
    std::vector<double> free_coefficients;
    double intercept = 0, h = 1, mean_slack = 0, norm = 0, objective = 1, dual = 1;
    std::size_t steps = 0, most_steps = 0;
    bool reached = false;    // the end of the walk
    bool converged = false;  // and bound and value are as close as they should be
};

struct PathData {
    std::vector<double> sign, weight;
    std::vector<double> free;      // further columns whose coefficients cost nothing, one after another
    std::vector<double> handicap;  // by column: what its price exceeds mu by, relatively, so that of several optima
                                   // always the same one is found
    // By column, the row of its centre, and by row, the column of its point: K is the design's values there. Empty: K
    // is the identity.
    std::vector<std::size_t> centre, column;
};

// A matrix of the design in memory, row by row.
struct Design {
    const double *values = nullptr;
    std::size_t rows = 0, columns = 0;

    // Some columns, one after another, each as long as there are rows.
    std::vector<double> take(const std::vector<std::size_t> &which) const;
    // The product of every column with a vector.
    std::vector<double> products(const std::vector<double> &with) const;
};

// What is worth adding to a program.
struct Dear {
    std::vector<std::size_t> columns;   // surely, the dearest first
    std::vector<std::size_t> doubtful;  // if none is sure: those that may be, as products are not exact
    double highest = 0;                 // the price of all columns, if none is worth adding
};

// Program is ComplexityProgram (the price of the norm is 0) or BridgeProgram (it is above 0).
//
// Columns come from outside: the caller sets prices, walks, prices all columns by their products with the multipliers,
// adds those that are dear, and walks again, until none is. `solve` does that for a design in memory.
template <class Program>
class ProgramPath {
  public:
    explicit ProgramPath(PathData data);

    // The optimum at these prices, from the last solution on; not converged if `most_steps` did not reach it.
    Machine solve(const Design &design, const Prices &prices, double tolerance, std::size_t most_steps,
                  const std::function<void()> &look_up);

    // The columns of `whole`, the last solution, at another price of coefficients, less drawn to zero. Objective and
    // bound are those of the program that chose the columns.
    Machine relax(const Machine &whole, const Prices &prices, std::size_t most_steps,
                  const std::function<void()> &look_up) const;

    // The parts of a solution, for designs that are not in memory.
    void charge(const Prices &prices);
    bool walk(std::size_t most_steps, const std::function<void()> &look_up);
    std::vector<double> multipliers() const { return program_.multipliers(); }
    std::size_t steps() const { return program_.steps(); }
    // By products of all columns with the multipliers, which may be off by `error`.
    Dear dear_columns(const std::vector<double> &products, double error, double tolerance) const;
    // By exact products of the doubtful ones.
    Dear dear_among(const std::vector<std::size_t> &doubtful, const std::vector<double> &products,
                    double tolerance) const;
    void add(const std::vector<std::size_t> &which, std::vector<double> block);
    // Of the present point; `products` are exact and only needed where coefficients have no price but the norm has.
    Machine machine(double highest, bool solved, std::size_t steps, std::size_t most_steps,
                    const std::vector<double> &products) const;

  private:
    struct Measured {
        double h, mean_slack, objective;
    };

    std::size_t rows() const { return data_.sign.size(); }
    void charge(Program &program, const Prices &prices) const;
    bool walk(Program &program, std::size_t most_steps, const std::function<void()> &look_up) const;
    std::vector<double> norm_slopes() const;
    void add_norm_slopes(const BridgeProgram &program, std::vector<double> &out) const;
    double limit(std::size_t column, double rounding, double tolerance) const;
    double rounding(double tolerance) const;
    std::size_t most_at_once() const;
    Measured measure(const std::vector<double> &margin, double absolute, double norm, const Prices &prices) const;
    Machine machine_of(const Program &program, const std::vector<std::size_t> &of, const Prices &prices) const;
    double least_of_norm(const std::vector<double> &products) const;

    PathData data_;
    Prices prices_;
    double total_weight_ = 0;
    std::size_t n_free_ = 0, n_columns_ = 0;
    Program program_;
    std::vector<std::size_t> known_;  // columns in the program, in its order
    std::vector<double> means_;       // by known column: what was subtracted; the intercept absorbs it
    std::vector<std::uint8_t> is_known_;
};

// Prices of slack up to the last one. Where slack is very dear compared with mu, a walk from far off meets vertices too
// close to distinguish; one from the solution at a lower price does not. The norm keeps them apart.
std::vector<double> slack_prices(const Prices &prices);

}  // namespace planewise
