// The program of the minimal complexity machine with a price on the norm of its function, solved exactly.
//
//     min  h + C sum_i w_i [1 - g_i]_+ + mu |x|_1 + rho x'K x     where  h >= g_i and h >= 1,   g = Z x
//
// Row i of Z is the row of the design (kernel columns, ones for the intercept) times the label's sign, K the kernel
// values of the columns' centres with each other. The function is quadratic between its kinks. A face is a set of free
// variables and a set of tight rows (a kink g_i = 1, or a ceiling g_i = h), at most as many as there are free
// variables; a step goes towards the lowest point of the face, over kinks while the function still falls.
// ComplexityProgram is the same without the norm, where every face that counts is a vertex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "row_loops.hpp"

namespace planewise {

class BridgeProgram {
  public:
    // One sign (+1 or -1) and one positive weight per row. The first column, the signs themselves, is the intercept.
    BridgeProgram(std::vector<double> sign, std::vector<double> weight);

    // Adds columns of the design, one after another in memory, each as long as there are rows; what a unit of each
    // coefficient costs, in multiples of mu (0: nothing); and the kernel values of each with all columns, the old ones
    // first (0 for the intercept), one after another.
    void add_columns(const double *columns, const double *penalty, const double *gram, std::size_t count);

    // The prices of a slack, a coefficient and the norm. The point stays: solving again starts from the last solution.
    void set_costs(double slack_cost, double coefficient_cost, double norm_cost);

    enum class Outcome { optimal, out_of_steps, failed };  // failed: the numbers could not be resolved

    // Walks from face to face until none is better. look_up() is called now and then; what it throws ends the walk.
    Outcome walk(std::size_t most_steps, const std::function<void()> &look_up);

    // Back to the point without coefficients, to go another way: rows are shifted otherwise, and slow ones stand still.
    void restart();
    static constexpr std::size_t most_restarts = 3;  // that may lead to an optimum

    // The columns whose coefficients are free at this point, and the program of those alone, at the same point.
    std::vector<std::size_t> free_columns() const;
    BridgeProgram restricted() const;

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return penalty_.size(); }
    std::size_t steps() const { return steps_; }
    // Coefficients of all columns, the intercept first.
    std::vector<double> coefficients() const;
    // A column of the design, times the signs.
    const double *column(std::size_t j) const { return design_.data() + j * rows_; }
    // sign_i f_i.
    std::vector<double> scores() const;
    // The same, and x'K x, of the point that the multipliers belong to: its rows are shifted by about 1e-8.
    const std::vector<double> &shifted_coefficients() const { return value_; }
    const std::vector<double> &shifted_scores() const { return score_; }
    double shifted_norm() const;
    // sign_i (u_i - v_i): what prices a column, less twice norm_cost times (K x)_j, by a scalar product with it.
    std::vector<double> multipliers() const;
    // sum u - sum v + 1 at the present multipliers. Less norm_cost x'K x it is a lower bound once no column's price
    // exceeds its penalty.
    double dual_value() const;
    // x'K x.
    double norm() const;

  private:
    enum class Place : std::uint8_t { below, above, kink, ceiling };  // of a row: under 1, over 1, at 1, at h
    enum class Event : std::uint8_t { none, row_to_kink, row_to_ceiling, variable_to_zero, ceiling_to_floor };
    struct Step {
        double length = 0;
        Event end = Event::none;
        std::size_t who = 0;  // a row or a column
    };
    struct Edge {
        bool exists = false, enters = false;  // enters: a variable leaves zero; otherwise a tight row is let go
        std::size_t who = 0;                  // a column (or `ceiling_variable`), or a row
        double direction = 1, slope = 0;
    };
    struct Break {
        double at, rise;
        std::size_t who;  // a row, or (counted on from the rows) a column
    };
    struct Slot {  // of the face's system
        bool is_row;
        std::size_t who;  // a row, a column or `ceiling_variable`
    };

    double hinge_cost(std::size_t row) const { return slack_cost_ * weight_[row]; }
    double column_cost(std::size_t j) const { return penalty_[j] * coefficient_cost_; }
    double entry(std::size_t row, std::size_t variable) const;
    double link(const Slot &a, const Slot &b) const;

    void shift_rows(double times);
    void begin();
    bool refactor();
    void straighten();
    void place();
    void find_hinges();
    void find_costs();
    double cost_of(std::size_t j) const;
    void find_goal();
    bool find_direction();
    void find_slope();
    bool is_point() const;
    bool is_downhill() const;
    void find_rates();
    bool direction_is_sound() const;
    void polish();
    void refine_direction();
    double largest_multiplier() const;
    Edge best_row_edge() const;
    Edge good_column_edge();
    bool open(const Edge &edge);
    Step follow();
    Step first_ceiling(double least);
    void find_breaks(double least, double end);
    bool move(const Step &step);
    void put(std::size_t row, Place place);
    void shift_cost(std::size_t row, double amount);

    bool border_in(const Slot &slot);
    bool border_out(std::size_t position);
    std::size_t position_of(bool is_row, std::size_t who) const;

    std::size_t rows_;
    std::vector<double> sign_, weight_, kink_, ceiling_shift_;  // a row's kink is near 1, its ceiling h + shift
    std::vector<double> design_, penalty_, size_;  // columns; their costs in multiples of mu; their largest entries
    std::vector<std::vector<double>> gram_;        // K, by column
    double slack_cost_ = 1, coefficient_cost_ = 1, norm_cost_ = 1;

    // The point.
    std::vector<double> value_, pull_;   // by column: x and K x
    std::vector<double> free_sign_;      // by column: the side of zero whose price it pays, if it is free
    std::vector<std::uint8_t> is_free_;  // by column
    bool ceiling_is_free_ = false;
    double ceiling_ = 1;
    std::vector<Place> place_;         // by row
    std::vector<double> side_, room_;  // by row: of the kink (+1 under, -1 over), under the ceiling; 0, inf if tight
    std::vector<double> score_;        // g, by row

    // The face: the inverse of [K  A'; A  0], free variables and tight rows in the order of `slots_`.
    std::vector<Slot> slots_;
    std::vector<double> inverse_;
    bool is_exact_ = false;     // the inverse: no step has changed it since it was found
    double inverted_with_ = 0;  // the stiffness it was found with
    std::vector<double> cost_;  // by column: what moving it costs while no row changes its place, without the norm
    std::vector<double> goal_, way_there_;        // by slot: what is to be changed, and the change that does it
    std::vector<double> multiplier_;              // by row, of tight rows
    std::vector<double> dual_;                    // u - v, by row (scratch for pricing columns)
    std::vector<double> rate_, way_, pull_rate_;  // the direction by row; to the next event of a row; K d by column
    double ceiling_rate_ = 0, gross_rate_ = 0, slope_ = 0, bend_ = 0, scale_ = 1;
    double made_up_ = 0;  // what bend and stiffness make of the slope
    double stiffness_ = 0, tolerance_ = 0, standing_;
    std::vector<Break> breaks_;
    std::vector<std::size_t> crossed_;  // rows, then columns (counted on from the rows), passed by a step
    std::size_t steps_ = 0, steps_since_refactor_ = 0, next_column_ = 0, restarts_ = 0;
};

}  // namespace planewise
