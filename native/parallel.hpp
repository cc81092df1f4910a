// Threads that live inside one native call: started by the constructor, joined by the destructor.
//
// Work is cut into pieces that do not depend on the number of threads, so results do not either. Growing a small tree
// takes a millisecond and a dozen turns, and waking a sleeping thread costs tens of microseconds: threads therefore
// look around for a moment before they sleep.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace planewise {

struct Interrupted {};  // thrown when the caller asked to stop

class Threads {
  public:
    explicit Threads(int count) {
        if (count > 1) workers_.reserve(static_cast<std::size_t>(count) - 1);
        try {
            for (int id = 1; id < count; ++id) workers_.emplace_back([this, id] { serve(id); });
        } catch (const std::system_error &) {
            // The system gives no more: those that are there do the work, with the same result.
        }
    }
    ~Threads() {
        if (workers_.empty()) return;
        closing_.store(true);
        turn_.fetch_add(1);
        wake();
        for (auto &worker : workers_) worker.join();
    }
    Threads(const Threads &) = delete;
    Threads &operator=(const Threads &) = delete;

    int count() const { return static_cast<int>(workers_.size()) + 1; }

    // Calls work(piece, thread) for every piece below `pieces`; the first exception is passed on.
    void each(std::size_t pieces, const std::function<void(std::size_t, int)> &work) {
        if (workers_.empty() || pieces < 2) {
            for (std::size_t piece = 0; piece < pieces; ++piece) work(piece, 0);
            return;
        }
        work_ = &work;
        pieces_ = pieces;
        failure_ = nullptr;
        next_.store(0);
        busy_.store(workers_.size());
        turn_.fetch_add(1);  // publishes all of the above
        wake();
        take_pieces(0);
        // Whoever is still at work may be waiting for this very core: after a moment it is handed over.
        for (int look = 0; busy_.load() != 0; ++look) look < patience ? rest() : std::this_thread::yield();
        if (failure_) std::rethrow_exception(failure_);
    }

    // Calls work(begin, end) for stretches of `count` rows, always the same ones.
    static constexpr std::size_t stretch = 4096;
    void stretches(std::size_t count, const std::function<void(std::size_t, std::size_t)> &work) {
        each((count + stretch - 1) / stretch,
             [&](std::size_t k, int) { work(k * stretch, std::min(count, (k + 1) * stretch)); });
    }

  private:
    static constexpr int patience = 2000;

    static void rest() {
#if defined(__x86_64__) && defined(__GNUC__)
        __builtin_ia32_pause();
#else
        std::this_thread::yield();
#endif
    }

    void wake() {
        if (asleep_.load() == 0) return;
        std::lock_guard<std::mutex> lock(mutex_);
        called_.notify_all();
    }

    void serve(int id) {
        std::size_t seen = 0;
        for (;;) {
            for (int look = 0; look < patience && turn_.load() == seen; ++look) rest();
            if (turn_.load() == seen) {
                std::unique_lock<std::mutex> lock(mutex_);
                asleep_.fetch_add(1);  // before the turn is looked at once more, so that no call is missed
                called_.wait(lock, [&] { return turn_.load() != seen; });
                asleep_.fetch_sub(1);
            }
            seen = turn_.load();
            if (closing_.load()) return;
            take_pieces(id);
            busy_.fetch_sub(1);
        }
    }

    void take_pieces(int id) {
        try {
            for (std::size_t piece; (piece = next_.fetch_add(1)) < pieces_;) (*work_)(piece, id);
        } catch (...) {
            next_.store(pieces_);
            std::lock_guard<std::mutex> lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
    }

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable called_;
    const std::function<void(std::size_t, int)> *work_ = nullptr;
    std::size_t pieces_ = 0;
    std::atomic<std::size_t> next_{0}, busy_{0}, turn_{0};
    std::atomic<int> asleep_{0};
    std::atomic<bool> closing_{false};
    std::exception_ptr failure_;
};

}  // namespace planewise
