// parallel.hpp and random.hpp: threads that end with the call, and a random stream per node.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "parallel.hpp"
#include "random.hpp"

using planewise::Random;
using planewise::Threads;

namespace {

// Long enough for waiting threads to fall asleep.
void let_threads_sleep() {
    Random random(1, 1);
    volatile std::uint64_t sink = 0;
    for (int k = 0; k < 400000; ++k) sink = sink + random.next();
}

}  // namespace

TEST("every piece is worked on exactly once, by a thread of the pool") {
    for (int count : {1, 2, 3, 8}) {
        Threads threads(count);
        CHECK(threads.count() == count);
        for (std::size_t pieces : {0u, 1u, 2u, 3u, 7u, 1000u}) {
            std::vector<std::atomic<int>> done(pieces);
            std::atomic<bool> known_threads{true};
            threads.each(pieces, Threads::large, [&](std::size_t piece, int thread) {
                done[piece].fetch_add(1);
                if (thread < 0 || thread >= count) known_threads = false;
            });
            CHECK(std::all_of(done.begin(), done.end(), [](const std::atomic<int> &n) { return n == 1; }));
            CHECK(known_threads);
        }
    }
}

TEST("no two pieces share a thread's number at the same time") {
    Threads threads(4);
    std::vector<std::atomic<int>> inside(4);
    std::atomic<bool> alone{true};
    threads.each(5000, Threads::large, [&](std::size_t, int thread) {
        auto &here = inside[static_cast<std::size_t>(thread)];
        if (here.fetch_add(1) != 0) alone = false;
        here.fetch_sub(1);
    });
    CHECK(alone);
}

TEST("what workers write is there when each() returns") {
    Threads threads(3);
    std::vector<int> plain(10000, 0);
    for (int turn = 1; turn <= 20; ++turn) {
        threads.each(100, Threads::large, [&](std::size_t piece, int) {
            for (std::size_t i = 100 * piece; i < 100 * (piece + 1); ++i) plain[i] += turn;
        });
        CHECK(std::all_of(plain.begin(), plain.end(), [&](int v) { return v == turn * (turn + 1) / 2; }));
    }
}

TEST("a pool survives many turns") {
    Threads threads(3);
    std::atomic<long> sum{0};
    for (int turn = 0; turn < 5000; ++turn)
        threads.each(4, Threads::large, [&](std::size_t piece, int) { sum += long(piece) + 1; });
    CHECK(sum == 5000 * 10);
}

TEST("sleeping threads wake up for the next turn") {
    Threads threads(3);
    std::atomic<long> sum{0};
    for (int turn = 0; turn < 20; ++turn) {
        let_threads_sleep();
        threads.each(5, Threads::large, [&](std::size_t, int) { ++sum; });
    }
    CHECK(sum == 100);
}

TEST("more threads than pieces is fine") {
    Threads threads(9);
    for (int turn = 0; turn < 100; ++turn) {
        std::atomic<int> done{0};
        threads.each(2, Threads::large, [&](std::size_t, int) { ++done; });
        CHECK(done == 2);
    }
}

TEST("an exception reaches the caller and the pool is usable afterwards") {
    for (int count : {1, 2, 4}) {
        Threads threads(count);
        for (int turn = 0; turn < 50; ++turn) {
            std::string heard;
            std::atomic<int> inside{0};
            std::vector<std::atomic<int>> begun(40);
            try {
                threads.each(40, Threads::large, [&](std::size_t piece, int) {
                    ++inside;
                    ++begun[piece];
                    if (piece == 17) {
                        --inside;
                        throw std::runtime_error("piece 17");
                    }
                    --inside;
                });
            } catch (const std::runtime_error &error) {
                heard = error.what();
            }
            CHECK(heard == "piece 17");
            CHECK(inside == 0);
            CHECK(std::all_of(begun.begin(), begun.end(), [](const std::atomic<int> &n) { return n <= 1; }));
            std::atomic<int> done{0};
            threads.each(10, Threads::large, [&](std::size_t, int) { ++done; });
            CHECK(done == 10);
        }
    }
}

TEST("when every piece throws, one exception is passed on") {
    Threads threads(4);
    for (int turn = 0; turn < 50; ++turn)
        CHECK(THROWS(int,
                     threads.each(30, Threads::large, [](std::size_t piece, int) { throw static_cast<int>(piece); })));
}

TEST("after a failure no new piece is begun by the thread that failed") {
    Threads threads(1);
    int done = 0;
    CHECK(THROWS(int, threads.each(10, Threads::large, [&](std::size_t piece, int) {
        if (piece == 4) throw 4;
        ++done;
    })));
    CHECK(done == 4);
}

TEST("a pool can end without work, at once or asleep") {
    for (int k = 0; k < 50; ++k) {
        Threads threads(1 + k % 5);
        CHECK(threads.count() == 1 + k % 5);
    }
    for (int k = 0; k < 5; ++k) {
        Threads threads(4);
        let_threads_sleep();
    }
}

TEST("no thread or one thread means the caller's own") {
    for (int count : {-1, 0, 1}) {
        Threads threads(count);
        CHECK(threads.count() == 1);
        const auto caller = std::this_thread::get_id();
        bool own = true;
        threads.each(5, Threads::large, [&](std::size_t, int thread) {
            own = own && thread == 0 && std::this_thread::get_id() == caller;
        });
        CHECK(own);
    }
}

TEST("little work is done by the caller alone") {
    Threads threads(4);
    const auto caller = std::this_thread::get_id();
    for (Threads::Cost cost : {Threads::Cost{0}, Threads::worth_waking - 1}) {
        std::vector<int> done(100, 0);
        bool own = true;
        threads.each(100, cost, [&](std::size_t piece, int thread) {
            ++done[piece];
            own = own && thread == 0 && std::this_thread::get_id() == caller;
        });
        CHECK(own);
        CHECK(std::all_of(done.begin(), done.end(), [](int n) { return n == 1; }));
    }
}

TEST("stretches are the same whatever they cost and whoever does them") {
    constexpr std::size_t rows = 3 * Threads::stretch + 17;
    std::vector<double> first;
    for (int count : {1, 2, 5})
        for (Threads::Cost cost_per_row : {0u, 1u, 1000u}) {
            Threads threads(count);
            std::vector<double> sum(rows / Threads::stretch + 1, 0.0);
            threads.stretches(rows, cost_per_row, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i)
                    sum[begin / Threads::stretch] += 1.0 / static_cast<double>(i + 1);
            });
            if (first.empty()) first = sum;
            CHECK(sum == first);
        }
}

TEST("while a worker is held up in a piece, the caller does all others") {
    Threads threads(2);
    for (int turn = 0; turn < 20; ++turn) {
        constexpr int pieces = 50;
        std::atomic<int> done{0};
        threads.each(pieces, Threads::large, [&](std::size_t, int thread) {
            while (thread == 1 && done < pieces - 1) std::this_thread::yield();
            ++done;
        });
        CHECK(done == pieces);
    }
}

TEST("the caller sleeps until a worker is done, and sees what it wrote") {
    Threads threads(2);
    for (int turn = 0; turn < 10; ++turn) {
        std::vector<int> plain(2, 0);
        std::atomic<bool> begun{false};
        threads.each(2, Threads::large, [&](std::size_t piece, int thread) {
            if (thread == 1) {
                begun = true;
                let_threads_sleep();
            } else {
                for (int look = 0; look < 1000 && !begun; ++look) std::this_thread::yield();
            }
            plain[piece] = turn + 1;
        });
        CHECK(plain[0] == turn + 1 && plain[1] == turn + 1);
    }
}

TEST("workers that come too late for a turn are there for a later one") {
    Threads threads(6);
    std::atomic<long> sum{0};
    for (int turn = 0; turn < 2000; ++turn) {
        if (turn % 100 == 0) let_threads_sleep();
        threads.each(2 + turn % 7, turn % 3 == 0 ? 0 : Threads::large, [&](std::size_t, int) { ++sum; });
    }
    long wanted = 0;
    for (int turn = 0; turn < 2000; ++turn) wanted += 2 + turn % 7;
    CHECK(sum == wanted);
}

TEST("random numbers stay below their bound and reach all of a small one") {
    Random random(3, 4);
    for (std::uint32_t bound : {1u, 2u, 3u, 7u, 1000u, 1u << 31, 0xFFFFFFFFu}) {
        bool below = true;
        for (int k = 0; k < 5000; ++k) below = below && random.below(bound) < bound;
        CHECK(below);
    }
    std::vector<int> seen(7, 0);
    for (int k = 0; k < 7000; ++k) ++seen[random.below(7)];
    CHECK(*std::min_element(seen.begin(), seen.end()) > 850 && *std::max_element(seen.begin(), seen.end()) < 1150);
}

TEST("uniform numbers lie in [0, 1) with mean and spread of a uniform") {
    Random random(5, 6);
    double sum = 0, squares = 0;
    bool inside = true;
    for (int k = 0; k < 100000; ++k) {
        const double u = random.uniform();
        inside = inside && u >= 0 && u < 1;
        sum += u, squares += u * u;
    }
    CHECK(inside);
    CHECK(sum / 1e5 > 0.495 && sum / 1e5 < 0.505);
    CHECK(squares / 1e5 > 0.328 && squares / 1e5 < 0.338);
}

TEST("a stream is repeatable, and no two streams or seeds share a number") {
    Random one(9, 2), again(9, 2);
    bool same = true;
    for (int k = 0; k < 100; ++k) same = same && one.next() == again.next();
    CHECK(same);
    std::vector<std::uint64_t> all;
    for (std::uint64_t seed : {0u, 1u, 2u, 3u})
        for (std::uint64_t stream = 0; stream < 300; ++stream) {
            Random random(seed, stream);
            for (int k = 0; k < 50; ++k) all.push_back(random.next());
        }
    std::sort(all.begin(), all.end());
    CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}
