// One binary: hot loops are compiled for AVX2 too, and the loader picks at run time. Contraction is off in the whole
// build, so both give the same bytes.
//
// All that not every compiler has is here and in bits.hpp, each with a way for the others; `make lint` looks for more.
#pragma once

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(PLANEWISE_ONE_TARGET)
#define PLANEWISE_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PLANEWISE_CLONES
#endif

// For the few lines that run once per edge: the compiler's own judgement left them as calls, at 15 % of a fit.
#if defined(__GNUC__)
#define PLANEWISE_INLINE inline __attribute__((always_inline))
#else
#define PLANEWISE_INLINE inline
#endif

// Before a short loop over vector lanes inside another loop: GCC would unroll it first and then vectorise the outer
// one, which took four times as long.
#if defined(__GNUC__) && !defined(__clang__)
#define PLANEWISE_LANES _Pragma("GCC unroll 1")
#else
#define PLANEWISE_LANES
#endif

// Tells the processor that a thread waits in a loop; not every processor can be told.
#if defined(__x86_64__) && defined(__GNUC__)
#define PLANEWISE_PAUSE __builtin_ia32_pause
#elif defined(_MSC_VER) && defined(_M_X64)
#define PLANEWISE_PAUSE _mm_pause
#endif
