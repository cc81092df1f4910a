// Which bit of a word is set: C++17 has no word for it.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(_MSC_VER) && defined(_WIN64)
#include <intrin.h>
#endif

namespace planewise {

// The lowest bit that is set; some bit must be.
inline std::size_t lowest_bit(std::uint64_t word) {
#if defined(__GNUC__)
    return static_cast<std::size_t>(__builtin_ctzll(word));
#elif defined(_MSC_VER) && defined(_WIN64)
    unsigned long at;
    _BitScanForward64(&at, word);
    return at;
#else
    std::size_t at = 0;
    for (; (word & 1) == 0; word >>= 1) ++at;
    return at;
#endif
}

}  // namespace planewise
