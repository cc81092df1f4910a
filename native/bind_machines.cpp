// Minimal complexity machines for Python.
#include "adam.hpp"
#include "complexity_program.hpp"
#include "python.hpp"

namespace planewise {

namespace {

using Changed = nb::ndarray<float, nb::c_contig, nb::device::cpu>;

void adam(const Changed &value, const Changed &gradient, const Changed &momentum, const Changed &squares,
          const Changed &average, float rate, float price, float momentum_memory, float squares_memory,
          float averaging_memory) {
    const std::size_t count = value.size();
    if (gradient.size() != count || momentum.size() != count || squares.size() != count || average.size() != count)
        throw std::invalid_argument("the arrays of a step must have equal sizes");
    run_native(1, [&](Threads &, const std::function<bool()> &) {
        adam_step(value.data(), gradient.data(), momentum.data(), squares.data(), average.data(), count,
                  {rate, price, momentum_memory, squares_memory, averaging_memory});
    });
}

// The linear program of the minimal complexity machine; columns come in as rows of an array, each contiguous.
class Program {
  public:
    Program(const Numbers &sign, const Numbers &weight)
        : program_(std::vector<double>(sign.data(), sign.data() + sign.size()),
                   std::vector<double>(weight.data(), weight.data() + weight.size())) {
        check_length(weight.size(), sign.size(), "weight");
        if (sign.size() == 0) throw std::invalid_argument("a program needs a row");
    }
    void add_columns(const Scores &columns, const Numbers &penalty) {
        check_length(columns.shape(1), program_.rows(), "each column");
        if (penalty.size() != columns.shape(0)) throw std::invalid_argument("penalty must have one entry per column");
        program_.add_columns(columns.data(), penalty.data(), columns.shape(0));
    }
    void set_costs(double slack_cost, double coefficient_cost) { program_.set_costs(slack_cost, coefficient_cost); }
    std::string walk(std::size_t most_steps) {
        ComplexityProgram::Outcome outcome{};
        run_native(1, [&](Threads &, const std::function<bool()> &stop) {
            outcome = program_.walk(most_steps, [&] {
                if (stop()) throw Interrupted();
            });
        });
        if (outcome == ComplexityProgram::Outcome::optimal) return "optimal";
        return outcome == ComplexityProgram::Outcome::failed ? "failed" : "out of steps";
    }
    void restart() { program_.restart(); }
    Program restricted() const { return Program(program_.restricted()); }
    Out<std::int64_t> free_columns() const {
        const std::vector<std::size_t> from = program_.free_columns();
        return array(std::vector<std::int64_t>(from.begin(), from.end()));
    }
    std::size_t steps() const { return program_.steps(); }
    double dual_value() const { return program_.dual_value(); }
    Out<double> coefficients() const { return array(program_.coefficients()); }
    Out<double> multipliers() const { return array(program_.multipliers()); }
    Out<double> scores() const { return array(program_.scores()); }

  private:
    explicit Program(ComplexityProgram program) : program_(std::move(program)) {}
    ComplexityProgram program_;
};

}  // namespace

void bind_machines(nb::module_ &m) {
    nb::class_<Program>(m, "ComplexityProgram", "The minimal complexity machine's linear program and its vertex.")
        .def(nb::init<const Numbers &, const Numbers &>(), "sign"_a, "weight"_a)
        .def("add_columns", &Program::add_columns, "columns"_a, "penalty"_a,
             "Add columns of the design, each a row of this array, with their costs in multiples of mu.")
        .def("set_costs", &Program::set_costs, "slack_cost"_a, "coefficient_cost"_a, "C and mu; the vertex stays.")
        .def("walk", &Program::walk, "most_steps"_a,
             "Walk towards the optimum over the columns there are: 'optimal', 'out of steps' or 'failed'.")
        .def("restart", &Program::restart, "Go back to the vertex without coefficients.")
        .def("free_columns", &Program::free_columns, "The columns whose coefficients are free at this vertex.")
        .def("restricted", &Program::restricted, "The program of those columns alone, at the same vertex.")
        .def("steps", &Program::steps, "Steps walked so far.")
        .def("dual_value", &Program::dual_value, "The dual objective, a bound once no column is priced above its cost.")
        .def("coefficients", &Program::coefficients, "The intercept's and every column's coefficient.")
        .def("scores", &Program::scores, "sign * f of every row.")
        .def("multipliers", &Program::multipliers, "sign * (u - v) of every row.");
    m.def("adam_step", &adam, "value"_a.noconvert(), "gradient"_a.noconvert(), "momentum"_a.noconvert(),
          "squares"_a.noconvert(), "average"_a.noconvert(), "rate"_a, "price"_a, "momentum_memory"_a,
          "squares_memory"_a, "averaging_memory"_a,
          "One step of Adam with a proximal step for absolute values; changes all arrays but the gradient.");
}

}  // namespace planewise
