// The module: its parts, and what they share.
#include <atomic>
#include <chrono>
#include <limits>
#include <new>
#include <thread>

#include "python.hpp"

namespace planewise {

namespace {

// The GIL given away, and taken back at the end or for a moment in between.
//
// Once Python ends, a thread that asks for the GIL is ended inside that call (until Python 3.13): by pthread_exit,
// which with glibc unwinds the stack, and that must not run through the core or the bindings. Such a thread stays
// where it is instead, as it does from Python 3.14 on; Python waits for it no more, and it ends with the process.
class WithoutGil {
  public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    ~WithoutGil() { take_back(); }
    WithoutGil(const WithoutGil &) = delete;
    WithoutGil &operator=(const WithoutGil &) = delete;

    template <class Ask>
    bool with_gil(Ask ask) {
        static_assert(noexcept(ask()), "the GIL is given away again afterwards");
        take_back();
        const bool answer = ask();
        state_ = PyEval_SaveThread();
        return answer;
    }

  private:
    struct Stay {
        bool returned = false;
        ~Stay() {
            while (!returned) std::this_thread::sleep_for(std::chrono::hours(1));
        }
    };
    void take_back() {
        Stay unless;
        PyEval_RestoreThread(state_);
        unless.returned = true;
    }
    PyThreadState *state_;
};

// Kept, and not asked for at every call: Python code that runs below the core may lose the GIL, and with it the thread.
using ThreadId = decltype(PyThread_get_thread_ident());
std::atomic<ThreadId> main_thread{0};

void find_main_thread() {
    main_thread = nb::cast<ThreadId>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

// Whether Ctrl-C was pressed, looked up now and then. Python tells only its main thread, so no other asks.
class SignalCheck {
  public:
    bool operator()(WithoutGil &released) {
        if (!on_main_thread_) return false;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < std::chrono::milliseconds(20)) return false;
        last_ = now;
        return released.with_gil([]() noexcept { return PyErr_CheckSignals() != 0; });
    }

  private:
    bool on_main_thread_ = PyThread_get_thread_ident() == main_thread.load();
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

void run_native(int n_threads, const std::function<void(Threads &, const std::function<bool()> &)> &work) {
    SignalCheck signals;
    bool interrupted = false;
    {
        WithoutGil released;
        Threads threads(n_threads);
        try {
            work(threads, [&] { return signals(released); });
        } catch (const Interrupted &) {
            interrupted = true;
        }
    }
    if (interrupted) throw nb::python_error();
}

void check_length(std::size_t got, std::size_t wanted, const char *name) {
    if (got != wanted) throw std::invalid_argument(std::string(name) + " must have one entry per row");
}

std::size_t length_of(std::initializer_list<std::size_t> shape) {
    std::size_t length = 1;
    for (std::size_t each : shape) {
        if (each > 0 && length > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(double) / each)
            throw std::bad_alloc();
        length *= each;
    }
    return length;
}

}  // namespace planewise

NB_MODULE(_core, m) {
    planewise::find_main_thread();
    const nanobind::module_ os = nanobind::module_::import_("os");
    if (nanobind::hasattr(os, "register_at_fork"))  // the thread that forks is the child's main thread
        os.attr("register_at_fork")(nanobind::arg("after_in_child") =
                                        nanobind::cpp_function(planewise::find_main_thread));
    nanobind::set_leak_warnings(false);  // a daemon thread that Python leaves behind keeps what it worked on
    m.doc() = "Native core of planewise: trees of hyperplanes, minimal complexity machines, neighbours in views.";
    planewise::bind_forest(m);
    planewise::bind_trees(m);
    planewise::bind_boosting(m);
    planewise::bind_parts(m);
    planewise::bind_machines(m);
    planewise::bind_views(m);
}
