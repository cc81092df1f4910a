// The module: its parts, and what they share.
#include <chrono>

#include "python.hpp"

namespace planewise {

namespace {

// Ctrl-C: Python's signal handlers run now and then on the calling thread.
class SignalCheck {
  public:
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return false;
        last_ = now;
        nb::gil_scoped_acquire held;
        return PyErr_CheckSignals() != 0;
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

void run_native(int n_threads, const std::function<void(Threads &, const std::function<bool()> &)> &work) {
    bool interrupted = false;
    {
        nb::gil_scoped_release released;
        Threads threads(n_threads);
        SignalCheck signals;
        try {
            work(threads, [&] { return signals(); });
        } catch (const Interrupted &) {
            interrupted = true;
        }
    }
    if (interrupted) throw nb::python_error();
}

void check_length(std::size_t got, std::size_t wanted, const char *name) {
    if (got != wanted) throw std::invalid_argument(std::string(name) + " must have one entry a row");
}

}  // namespace planewise

NB_MODULE(_core, m) {
    m.doc() = "Native core of planewise: trees of hyperplanes, minimal complexity machines, neighbours in views.";
    planewise::bind_trees(m);
    planewise::bind_boosting(m);
    planewise::bind_machines(m);
    planewise::bind_views(m);
}
