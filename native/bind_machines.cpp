// Minimal complexity machines for Python.
#include <algorithm>

#include "adam.hpp"
#include "calibration.hpp"
#include "program_path.hpp"
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

Scored scored(const Scores &scores, const Labels &label) {
    check_length(label.size(), scores.shape(0), "label");
    const std::size_t classes = std::max<std::size_t>(2, scores.shape(1));
    for (std::size_t i = 0; i < label.size(); ++i)
        if (label.data()[i] < 0 || static_cast<std::size_t>(label.data()[i]) >= classes)
            throw std::invalid_argument("a label has no score");
    return {scores.data(), scores.shape(0), scores.shape(1), label.data()};
}

double slope_of(const Scores &scores, const Labels &label, const Numbers &weight) {
    const Scored rows = scored(scores, label);
    check_length(weight.size(), rows.rows, "weight");
    double out = 1;
    run_native(1, [&](Threads &, const std::function<bool()> &) { out = calibration_slope(rows, weight.data()); });
    return out;
}

Out<double> losses_of(const Scores &scores, const Labels &label, double slope) {
    const Scored rows = scored(scores, label);
    std::vector<double> out(rows.rows);
    run_native(1, [&](Threads &, const std::function<bool()> &) { log_losses(rows, slope, out.data()); });
    return array(std::move(out));
}

std::vector<double> numbers(const Numbers &from) { return {from.data(), from.data() + from.size()}; }

using Places = Vector<std::int64_t>;

std::vector<std::size_t> places(const Places &from, std::size_t below) {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < from.size(); ++k) {
        if (from.data()[k] < 0 || static_cast<std::size_t>(from.data()[k]) >= below)
            throw std::invalid_argument("a place is out of range");
        out.push_back(static_cast<std::size_t>(from.data()[k]));
    }
    return out;
}

Out<std::int64_t> places_out(const std::vector<std::size_t> &from) {
    return array(std::vector<std::int64_t>(from.begin(), from.end()));
}

constexpr double wide_gap = 1e-3;  // what a machine may be off, relatively, that is only compared with others

// A program along a path of prices, with or without a price of the norm.
class Path {
  private:
    Design checked(const Scores &design) const {
        check_length(design.shape(0), rows_, "the design");
        if (design.shape(1) != columns_) throw std::invalid_argument("the design must have one column per handicap");
        return {design.data(), rows_, columns_};
    }
    Prices priced(double slack, double coefficient, double norm) const {
        if ((norm > 0) != (with_ != nullptr)) throw std::invalid_argument("a path with a norm has a price of it");
        return {slack, coefficient, norm};
    }
    template <class Work>
    auto each(const Work &work) {
        return with_ ? work(*with_) : work(*without_);
    }
    template <class Work>
    Machine native(const Work &work) {
        Machine out;
        run_native(1, [&](Threads &, const std::function<bool()> &stop) {
            const std::function<void()> look_up = [&] {
                if (stop()) throw Interrupted();
            };
            out = each([&](auto &path) { return work(path, look_up); });
        });
        return out;
    }

    std::size_t columns_, rows_;
    std::unique_ptr<ProgramPath<ComplexityProgram>> without_;
    std::unique_ptr<ProgramPath<BridgeProgram>> with_;

  public:
    Path(const Numbers &sign, const Numbers &weight, const Numbers &handicap, const Scores &free, const Places &centre,
         const Places &column, bool with_norm)
        : columns_(handicap.size()), rows_(sign.size()) {
        check_length(weight.size(), rows_, "weight");
        if (rows_ == 0) throw std::invalid_argument("a program needs a row");
        if (free.shape(0) > 0) check_length(free.shape(1), rows_, "each free column");
        PathData data{numbers(sign), numbers(weight), {}, numbers(handicap), {}, {}};
        data.free.assign(free.data(), free.data() + free.size());
        if (centre.size() > 0) {
            if (centre.size() != columns_ || column.size() != rows_)
                throw std::invalid_argument("centre must have one entry per column, column one per row");
            data.centre = places(centre, rows_);
            data.column = places(column, columns_);
        }
        if (with_norm)
            with_ = std::make_unique<ProgramPath<BridgeProgram>>(std::move(data));
        else
            without_ = std::make_unique<ProgramPath<ComplexityProgram>>(std::move(data));
    }

    Machine solve(const Scores &design, double slack, double coefficient, double norm, double tolerance,
                  std::size_t most_steps) {
        const Design held = checked(design);
        const Prices prices = priced(slack, coefficient, norm);
        return native([&](auto &path, const std::function<void()> &look_up) {
            return path.solve(held, prices, tolerance, most_steps, look_up);
        });
    }
    Machine relax(const Machine &whole, double slack, double coefficient, double norm, std::size_t most_steps) {
        const Prices prices = priced(slack, coefficient, norm);
        return native([&](auto &path, const std::function<void()> &look_up) {
            return path.relax(whole, prices, most_steps, look_up);
        });
    }
    // A whole path of prices of coefficients, falling: the machines' coefficients of all columns, one after another,
    // their intercepts and whether each is solved. It ends with the first one of more than `most_vectors` vectors.
    nb::tuple follow(const Scores &design, double slack, const Numbers &coefficient, double norm, double relaxation,
                     double tolerance, std::size_t most_steps, std::size_t most_vectors) {
        const Design held = checked(design);
        const std::vector<double> falling = numbers(coefficient);
        std::vector<double> coefficients, intercept;
        std::vector<std::uint8_t> converged;
        native([&](auto &path, const std::function<void()> &look_up) {
            for (const double price : falling) {
                const Prices prices = priced(slack, price, norm);
                Machine machine = path.solve(held, prices, tolerance, most_steps, look_up);
                const std::size_t vectors = machine.chosen.size();
                if (relaxation < 1 && price > 0 && machine.reached)
                    machine = path.relax(machine, priced(slack, relaxation * price, norm), most_steps, look_up);
                const std::size_t at = coefficients.size();
                coefficients.resize(at + columns_, 0.0);
                for (std::size_t k = 0; k < machine.chosen.size(); ++k)
                    coefficients[at + machine.chosen[k]] = machine.coefficients[k];
                intercept.push_back(machine.intercept);
                converged.push_back(machine.reached &&
                                    machine.objective - machine.dual <= wide_gap * machine.objective);
                if (vectors > most_vectors) break;
            }
            return Machine();
        });
        return nb::make_tuple(array(std::move(coefficients), columns_), array(std::move(intercept)),
                              array(std::move(converged)));
    }

    void charge(double slack, double coefficient, double norm) {
        const Prices prices = priced(slack, coefficient, norm);
        each([&](auto &path) { path.charge(prices); });
    }
    bool walk(std::size_t most_steps) {
        bool reached = false;
        native([&](auto &path, const std::function<void()> &look_up) {
            reached = path.walk(most_steps, look_up);
            return Machine();
        });
        return reached;
    }
    Out<double> multipliers() {
        return array(each([](auto &path) { return path.multipliers(); }));
    }
    std::size_t steps() {
        return each([](auto &path) { return path.steps(); });
    }
    nb::tuple dear_columns(const Numbers &products, double error, double tolerance) {
        if (products.size() != columns_) throw std::invalid_argument("products must have one entry per column");
        const Dear dear = each([&](auto &path) { return path.dear_columns(numbers(products), error, tolerance); });
        return nb::make_tuple(places_out(dear.columns), places_out(dear.doubtful), dear.highest);
    }
    nb::tuple dear_among(const Places &doubtful, const Numbers &products, double tolerance) {
        const std::vector<std::size_t> which = places(doubtful, columns_);
        if (products.size() != which.size()) throw std::invalid_argument("products must have one entry per column");
        const Dear dear = each([&](auto &path) { return path.dear_among(which, numbers(products), tolerance); });
        return nb::make_tuple(places_out(dear.columns), dear.highest);
    }
    void add(const Places &which, const Scores &block) {
        const std::vector<std::size_t> chosen = places(which, columns_);
        check_length(block.shape(1), rows_, "each column");
        if (block.shape(0) != chosen.size()) throw std::invalid_argument("each new column needs its values");
        each([&](auto &path) { path.add(chosen, {block.data(), block.data() + block.size()}); });
    }
    Machine machine(double highest, bool solved, std::size_t steps, std::size_t most_steps, const Numbers &products) {
        if (products.size() != columns_) throw std::invalid_argument("products must have one entry per column");
        return each([&](auto &path) { return path.machine(highest, solved, steps, most_steps, numbers(products)); });
    }
};

}  // namespace

void bind_machines(nb::module_ &m) {
    nb::class_<Machine>(m, "Machine", "A minimal complexity machine with its proof: dual bounds its value from below.")
        .def_prop_ro(
            "chosen", [](const Machine &own) { return places_out(own.chosen); }, nb::rv_policy::move)
        .def_prop_ro(
            "coefficients", [](const Machine &own) { return array(std::vector<double>(own.coefficients)); },
            nb::rv_policy::move)
        .def_prop_ro(
            "free_coefficients", [](const Machine &own) { return array(std::vector<double>(own.free_coefficients)); },
            nb::rv_policy::move)
        .def_ro("intercept", &Machine::intercept)
        .def_ro("h", &Machine::h)
        .def_ro("mean_slack", &Machine::mean_slack)
        .def_ro("norm", &Machine::norm)
        .def_ro("objective", &Machine::objective)
        .def_ro("dual", &Machine::dual)
        .def_ro("n_iter", &Machine::steps)
        .def_ro("max_iter", &Machine::most_steps)
        .def_ro("converged", &Machine::converged);
    nb::class_<Path>(m, "ProgramPath", "One program along a path of its prices: C, mu and rho.")
        .def(nb::init<const Numbers &, const Numbers &, const Numbers &, const Scores &, const Places &, const Places &,
                      bool>(),
             "sign"_a, "weight"_a, "handicap"_a, "free"_a, "centre"_a, "column"_a, "with_norm"_a)
        .def("solve", &Path::solve, "design"_a, "C"_a, "mu"_a, "rho"_a, "tol"_a, "max_iter"_a,
             "The optimum at these prices, from the last solution on, for a design in memory.")
        .def("relax", &Path::relax, "machine"_a, "C"_a, "mu"_a, "rho"_a, "max_iter"_a,
             "The columns of the last solution at another mu.")
        .def("follow", &Path::follow, "design"_a, "C"_a, "mus"_a, "rho"_a, "relaxation"_a, "tol"_a, "max_iter"_a,
             "most_vectors"_a,
             "The machines of falling mus, up to the first of more than so many vectors: coefficients of all columns, "
             "intercepts, and whether each is solved.")
        .def("charge", &Path::charge, "C"_a, "mu"_a, "rho"_a, "Set the prices; the point stays.")
        .def("walk", &Path::walk, "most_steps"_a, "Walk to the optimum over the columns there are; False: not reached.")
        .def("multipliers", &Path::multipliers, "sign * (u - v) of every row.")
        .def("steps", &Path::steps, "Steps walked so far.")
        .def("dear_columns", &Path::dear_columns, "products"_a, "error"_a, "tol"_a,
             "By products of all columns with the multipliers: those to add, doubtful ones, the highest price.")
        .def("dear_among", &Path::dear_among, "doubtful"_a, "products"_a, "tol"_a,
             "By exact products of the doubtful columns: those to add, the highest price.")
        .def("add", &Path::add, "which"_a, "block"_a, "Add columns, each a row of this array.")
        .def("machine", &Path::machine, "highest"_a, "solved"_a, "steps"_a, "max_iter"_a, "products"_a,
             "The machine of the present point.");
    m.def(
        "slack_prices", [](double C, double mu, double rho) { return slack_prices({C, mu, rho}); }, "C"_a, "mu"_a,
        "rho"_a, "Prices of slack up to C, to be walked in turn.");
    m.def("calibration_slope", &slope_of, "scores"_a, "label"_a, "weight"_a,
          "The slope of the logistic function (or softmax) that makes the rows' own classes most likely.");
    m.def("log_losses", &losses_of, "scores"_a, "label"_a, "slope"_a,
          "Minus the logarithm of the probability of each row's own class.");
    m.def("adam_step", &adam, "value"_a.noconvert(), "gradient"_a.noconvert(), "momentum"_a.noconvert(),
          "squares"_a.noconvert(), "average"_a.noconvert(), "rate"_a, "price"_a, "momentum_memory"_a,
          "squares_memory"_a, "averaging_memory"_a,
          "One step of Adam with a proximal step for absolute values; changes all arrays but the gradient.");
}

}  // namespace planewise
