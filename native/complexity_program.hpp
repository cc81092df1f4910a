// The linear program of the minimal complexity machine, solved exactly by a primal simplex method of its own.
//
//     min  h + C sum_i w_i q_i + mu sum_j |x_j|    s.t.  g_i + q_i >= 1,  g_i + q_i <= h,  q >= 0,   g = Z x
//
// Row i of Z is the row of the design (kernel columns, ones for the intercept) times the label's sign. q and h's lower
// bound are known once x is: the program is the minimum of a convex function with kinks,
//
//     h + C sum_i w_i [1 - g_i]_+ + mu |x|_1    where  h >= g_i and h >= 1,
//
// and a vertex is a small square system: as many tight rows (a kink g_i = 1, or a ceiling g_i = h) as there are free
// variables. Its size is about the number of support vectors, not of rows, and a step may run over many kinks before
// the function rises again. A general solver sees 2 n rows and n slacks instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace planewise {

class ComplexityProgram {
  public:
    // One sign (+1 or -1) and one positive weight per row. The first column, the signs themselves, is the intercept.
    ComplexityProgram(std::vector<double> sign, std::vector<double> weight);

    // Adds columns of the design, one after another in memory, each as long as there are rows, and what a unit of each
    // coefficient costs, in multiples of mu (0: nothing).
    void add_columns(const double *columns, const double *penalty, std::size_t count);

    // The price of a slack and of a coefficient. The vertex stays: solving again starts where the last solution was.
    void set_costs(double slack_cost, double coefficient_cost);

    enum class Outcome { optimal, out_of_steps, failed };  // failed: the numbers could not be resolved

    // Walks from vertex to vertex until none is better. look_up() is called now and then; what it throws ends the walk.
    Outcome walk(std::size_t most_steps, const std::function<void()> &look_up);

    // Back to the vertex without coefficients.
    void restart();
    static constexpr std::size_t most_restarts = 1;  // that may lead to an optimum

    // The columns whose coefficients are free at this vertex, and the program of those alone, at the same vertex.
    std::vector<std::size_t> free_columns() const;
    ComplexityProgram restricted() const;

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return penalty_.size(); }
    std::size_t steps() const { return steps_; }
    // Coefficients of all columns, the intercept first.
    std::vector<double> coefficients() const;
    // A column of the design, times the signs.
    const double *column(std::size_t j) const { return design_.data() + j * rows_; }
    // sign_i f_i.
    std::vector<double> scores() const;
    // sign_i (u_i - v_i): what prices a column by a scalar product with it.
    std::vector<double> multipliers() const;
    // sum u - sum v + 1 at the present multipliers: a lower bound once no column's price exceeds its penalty.
    double dual_value() const;

  private:
    enum class Place : std::uint8_t { below, above, kink, ceiling };  // of a row: under 1, over 1, at 1, at h
    enum class Event : std::uint8_t { none, row_to_kink, row_to_ceiling, variable_to_zero, ceiling_to_floor };
    struct Step {
        double length = 0, slope = 0;
        Event end = Event::none;
        std::size_t who = 0;  // a row, or a position among the free variables
    };
    struct Edge {
        bool exists = false, enters = false;  // enters: a variable leaves zero; otherwise a tight row is let go
        std::size_t who = 0;                  // a column (or `ceiling_variable`), or a position among the tight rows
        double direction = 1, slope = 0;
    };
    struct Break {
        double at, rise;
        std::size_t who;  // a row, or (counted on from the rows) a position among the free variables
    };

    double hinge_cost(std::size_t row) const { return slack_cost_ * weight_[row]; }
    double column_cost(std::size_t j) const { return penalty_[j] * coefficient_cost_; }
    double entry(std::size_t row, Place place, std::size_t variable) const;

    bool refactor();
    void place_primal();
    void find_costs();
    void find_hinges();
    double cost_of(std::size_t variable, double sign) const;
    void find_multipliers();
    double largest_multiplier() const;
    Edge best_row_edge() const;
    Edge good_column_edge();
    bool take(const Edge &edge);
    void find_direction(const Edge &edge);
    void put(std::size_t row, Place place);
    void release(const Edge &edge);
    Step follow(const Edge &edge);
    Step first_ceiling(double least);
    void find_breaks(const Edge &edge, double least, double end);
    void move(const Step &step);
    bool pivot(const Edge &edge, const Step &step);
    void shift_cost(std::size_t row, double amount);

    bool replace_row(std::size_t position, std::size_t row, Place place);
    bool replace_variable(std::size_t position, std::size_t variable, double sign, double length);
    bool grow(std::size_t variable, double sign, double length, std::size_t row, Place place);
    bool shrink(std::size_t position_of_row, std::size_t position_of_variable);

    std::size_t rows_;
    std::vector<double> sign_, weight_, kink_, ceiling_shift_;  // a row's kink is near 1, its ceiling h + shift
    std::vector<double> design_, penalty_, size_;  // columns; their costs in multiples of mu; their largest entries
    double slack_cost_ = 1, coefficient_cost_ = 1, largest_weight_ = 0;

    // The vertex: variables that are free (columns, or the ceiling h), and as many tight rows.
    std::vector<std::size_t> free_, tight_;
    std::vector<double> value_, free_sign_;  // of the free variables; the side of zero whose price they pay
    std::vector<std::uint8_t> is_free_;      // by column
    bool ceiling_is_free_ = false;
    double ceiling_ = 1;
    std::vector<Place> place_;         // by row
    std::vector<double> side_, room_;  // by row: of the kink (+1 under, -1 over), under the ceiling; 0, inf if tight
    std::vector<double> score_;        // g, by row
    std::vector<double> inverse_;      // of the tight rows' system: free variables x tight rows
    bool is_exact_ = false;            // the inverse: no step has changed it since it was found
    std::vector<double> cost_, multiplier_;  // by free variable; by tight row
    std::vector<double> dual_;               // u - v, by row (scratch for pricing columns)
    std::vector<double> move_, rate_, way_;  // the edge: by free variable; by row; as far as the next event of a row
    double ceiling_rate_ = 0, gross_rate_ = 0;
    std::vector<Break> breaks_;
    std::vector<std::size_t> crossed_;  // rows, then free variables (counted on from the rows), passed by a step
    std::size_t steps_ = 0, steps_since_refactor_ = 0, next_column_ = 0;
};

}  // namespace planewise
