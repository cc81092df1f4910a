// The whole test framework: TEST("a sentence") { CHECK(...); } registers itself, main() in test_native.cpp runs all.
#pragma once

#include <cstdio>
#include <vector>

namespace check {

struct Test {
    const char *sentence;
    void (*run)();
};

inline std::vector<Test> &tests() {
    static std::vector<Test> all;
    return all;
}

struct Register {
    Register(const char *sentence, void (*run)()) { tests().push_back({sentence, run}); }
};

struct Count {
    long passed = 0, failed = 0;
    const char *sentence = "";  // of the test that runs
};

inline Count &count() {
    static Count now;
    return now;
}

// Only for the main thread: work on other threads leaves its findings in variables that are checked afterwards.
inline void note(bool good, const char *what, const char *file, int line) {
    if (good) {
        ++count().passed;
        return;
    }
    ++count().failed;
    std::printf("%s:%d: %s: not true: %s\n", file, line, count().sentence, what);
}

}  // namespace check

#define CHECK(...) check::note(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#define CHECK_JOIN_(a, b) a##b
#define CHECK_JOIN(a, b) CHECK_JOIN_(a, b)
#define TEST(sentence)                                                                                     \
    static void CHECK_JOIN(test_, __LINE__)();                                                             \
    static const check::Register CHECK_JOIN(registered_, __LINE__){sentence, CHECK_JOIN(test_, __LINE__)}; \
    static void CHECK_JOIN(test_, __LINE__)()

// Whether the statement throws that type; anything else it throws is passed on.
#define THROWS(type, ...)        \
    [&] {                        \
        try {                    \
            __VA_ARGS__;         \
        } catch (const type &) { \
            return true;         \
        }                        \
        return false;            \
    }()
