// A random stream per node: the same numbers whatever the order in which threads reach the nodes.
#pragma once

#include <cstdint>

namespace planewise {

// Every bit of the answer depends on every bit of z.
inline std::uint64_t mixed(std::uint64_t z) {
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

class Random {  // splitmix64
  public:
    Random(std::uint64_t seed, std::uint64_t stream) : state_(seed ^ (stream * 0xD1342543DE82EF95ull)) { next(); }

    std::uint64_t next() {
        const std::uint64_t out = mixed(state_);
        state_ += 0x9E3779B97F4A7C15ull;
        return out;
    }
    // Uniform in 0 .. bound-1 (the bias of 2^-32 does not matter here).
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
    }
    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  private:
    std::uint64_t state_;
};

}  // namespace planewise
