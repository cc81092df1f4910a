// Threads that live inside one native call: started when there is work enough for them, joined by the destructor.
//
// Work is cut into pieces that do not depend on the number of threads, so results do not either. Cores may be shared
// with other processes, and a thread may then get no core for milliseconds. So no thread is called for less work than
// waking it costs, none waits for another one for more than microseconds without sleeping, and the caller waits only
// for threads that have begun: pieces that nobody has taken are its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "dispatch.hpp"

namespace planewise {

struct Interrupted {};  // thrown when the caller asked to stop

class Threads {
  public:
    // What all pieces together cost, roughly, in nanoseconds: about as many values as they read.
    using Cost = std::size_t;
    static constexpr Cost large = std::numeric_limits<Cost>::max();
    static constexpr Cost worth_waking = 50'000;

    explicit Threads(int count) : count_(std::max(count, 1)) {}
    ~Threads() {
        if (workers_.empty()) return;
        state_.store(closing);
        wake(workers_.size());
        for (auto &worker : workers_) worker.join();
    }
    Threads(const Threads &) = delete;
    Threads &operator=(const Threads &) = delete;

    int count() const { return count_; }  // at most

    // Calls work(piece, thread) for every piece below `pieces`; the first exception is passed on.
    void each(std::size_t pieces, Cost cost, const std::function<void(std::size_t, int)> &work) {
        const bool worthwhile = pieces > 1 && cost >= worth_waking;
        if (worthwhile) start();
        if (!worthwhile || workers_.empty()) {
            for (std::size_t piece = 0; piece < pieces; ++piece) work(piece, 0);
            return;
        }
        work_ = &work;
        pieces_ = pieces;
        failure_ = nullptr;
        next_.store(0);
        state_.store((turn_ += one_turn) | open);  // publishes all of the above
        wake(std::min(pieces - 1, workers_.size()));
        take_pieces(0);
        close();
        if (failure_) std::rethrow_exception(failure_);
    }

    // Calls work(begin, end) for stretches of `count` rows, always the same ones.
    static constexpr std::size_t stretch = 4096;
    void stretches(std::size_t count, Cost cost_per_row, const std::function<void(std::size_t, std::size_t)> &work) {
        each((count + stretch - 1) / stretch, count * cost_per_row,
             [&](std::size_t k, int) { work(k * stretch, std::min(count, (k + 1) * stretch)); });
    }

  private:
    // The state is the number of the turn, whether it is open to workers, and how many of them are inside.
    using State = std::uint64_t;
    static constexpr State open = 1 << 15, one_turn = 1 << 16, inside = open - 1, closing = ~State{0};
    static constexpr int patience = 200;  // looks before a thread sleeps: a few microseconds

    static void rest() {
#if defined(PLANEWISE_PAUSE)
        PLANEWISE_PAUSE();
#else
        std::this_thread::yield();
#endif
    }

    void start() {
        if (!workers_.empty() || count_ == 1) return;
        workers_.reserve(static_cast<std::size_t>(count_) - 1);
        try {
            for (int id = 1; id < count_; ++id) workers_.emplace_back([this, id] { serve(id); });
        } catch (const std::system_error &) {
            // The system gives no more: those that are there do the work, with the same result.
        }
    }

    void wake(std::size_t wanted) {
        if (asleep_.load() == 0) return;
        {
            std::lock_guard<std::mutex> lock(mutex_);
        }  // whoever is about to sleep does so before it is called
        for (std::size_t k = 0; k < wanted; ++k) called_.notify_one();
    }

    // No worker may begin any more; those inside are waited for.
    void close() {
        state_.fetch_and(~open);
        const auto empty = [&] { return (state_.load() & inside) == 0; };
        for (int look = 0; look < patience && !empty(); ++look) rest();
        if (empty()) return;
        std::unique_lock<std::mutex> lock(mutex_);
        caller_waits_.store(true);  // before the state is looked at once more, so that no worker's end is missed
        left_.wait(lock, empty);
        caller_waits_.store(false);
    }

    void serve(int id) {
        State seen = 0;  // the turn that this worker was in last
        const auto called = [&] {
            const State now = state_.load();
            return (now & open) != 0 && (now & ~inside) != seen;
        };
        for (;;) {
            for (int look = 0; look < patience && !called(); ++look) rest();
            if (!called()) {
                std::unique_lock<std::mutex> lock(mutex_);
                asleep_.fetch_add(1);  // before the state is looked at once more, so that no call is missed
                called_.wait(lock, called);
                asleep_.fetch_sub(1);
            }
            State now = state_.load();
            if (now == closing) return;
            if ((now & open) == 0 || !state_.compare_exchange_strong(now, now + 1)) continue;  // too late, or again
            seen = now & ~inside;
            take_pieces(id);
            state_.fetch_sub(1);
            if (!caller_waits_.load()) continue;
            {
                std::lock_guard<std::mutex> lock(mutex_);
            }
            left_.notify_one();
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

    const int count_;
    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable called_, left_;
    const std::function<void(std::size_t, int)> *work_ = nullptr;
    std::size_t pieces_ = 0;
    State turn_ = 0;
    std::atomic<std::size_t> next_{0};
    std::atomic<State> state_{0};
    std::atomic<int> asleep_{0};
    std::atomic<bool> caller_waits_{false};
    std::exception_ptr failure_;
};

}  // namespace planewise
