/*
 * SLMBoostRegressor, written by planewise 0.1.0. Tables: 35 bytes (labels not counted).
 * Leaf values have two bytes, in steps of 6.1e-05; that can change a raw score by 0 at most. Thresholds are
 * rounded to 17 bits.
 * Include it in one source file; x are the columns in this order:
 *
 *     x[0]  length
 *     x[1]  colour
 *     x[2]  depth <U+002A>/ of the hole
 *
 *     float x[GOLDEN_N_FEATURES] = { ... };
 *     float y = golden_predict(x);
 *
 * NaN is a missing value and infinities are beyond all numbers, unless compiled with -ffast-math. Where the
 * processor multiplies and adds in one step, -ffp-contract=off rounds as predict does.
 * A categorical column holds the number of the category; a number beyond is a new category.
 */

#ifndef PLANEWISE_GOLDEN_H
#define PLANEWISE_GOLDEN_H

#include <stdint.h>
#include <math.h>

#define GOLDEN_N_FEATURES 3

/* the categories of x[1], colour: it holds their numbers */
static const char *const golden_categories_1[10] = {
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"
};

/* one record per node: planes, then where to go */
static const uint8_t golden_nodes[15] = {
    2, 0, 192, 63, 0, 1, 1, 3, 49, 1, 2, 1, 2, 5, 7
};

/* the column of a term */
static const uint8_t golden_term_feature[2] = {
    0, 2
};

/* its weight */
static const float golden_term_weight[2] = {
    0.5f, -3.0f
};

/* in leaves, 1 each, in steps of 6.10352e-05 */
static const int16_t golden_values[4] = {
    -8192, 4096, 2048, -16384
};

/* where each tree begins */
static const uint8_t golden_roots[2] = {
    0, 8
};

/* 3 bytes of the stream as a float, on machines of either byte order. */
static inline float golden_read_float(const uint8_t *at)
{
    const uint32_t bits = (uint32_t)at[0] << 8 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 24;
    float value;
    const uint8_t *from = (const uint8_t *)&bits;
    uint8_t *to = (uint8_t *)&value;
    to[0] = from[0];
    to[1] = from[1];
    to[2] = from[2];
    to[3] = from[3];
    return value;
}

/* The number of the value in which a row ends, from the record of a tree's root. */
static inline unsigned golden_walk(const uint8_t *node, const float *x)
{
    for (;;) {
        const uint8_t *at = node;
        unsigned head, code = 0, bit = 1, entry;
        do { /* every plane of the node gives a bit of the code */
            unsigned right;
            head = *at++;
            if (head & 32u) {
                const float category = x[at[0]];
                const unsigned bytes = (at + 1)[0];
                at += 2;
                if (category != category) { /* missing */
                    right = head & 16u;
                } else if (category >= 0.0f && category < 8.0f * (float)bytes &&
                           category == (float)(unsigned)category && /* a number between two categories is not one */
                           ((unsigned)at[(unsigned)category >> 3] >> ((unsigned)category & 7u) & 1u)) {
                    right = head & 1u;
                } else {
                    right = head & 2u;
                }
                at += bytes;
            } else {
                unsigned terms = head & 15u;
                float v = 0.0f, threshold;
                threshold = golden_read_float(at);
                at += 3;
                for (; terms; --terms) {
                    const unsigned term = at[0];
                    v += golden_term_weight[term] * x[golden_term_feature[term]];
                    at += 1;
                }
                right = v >= threshold || (v != v && (head & 16u)); /* v != v: a value is missing */
            }
            code |= right ? bit : 0u;
            bit <<= 1;
        } while (head & 64u);
        entry = at[code];
        if (entry & 1u) return entry >> 1;
        node += entry >> 1;
    }
}

/* Raw scores: what the trees say, added up. */
static inline void golden_raw(const float *x, float *raw)
{
    int32_t sum[1];
    unsigned tree, k;
    for (k = 0; k < 1u; ++k) sum[k] = 0;
    for (tree = 0; tree < 2u; ++tree) {
        const unsigned leaf = golden_walk(golden_nodes + golden_roots[tree], x);
        sum[0] += golden_values[leaf];
    }
    for (k = 0; k < 1u; ++k) raw[k] = 2.0f + (float)sum[k] * 6.1035156e-05f;
}

/* The predicted number of a row. */
static inline float golden_predict(const float *x)
{
    float raw[1];
    golden_raw(x, raw);
    return expf(raw[0]);
}

#endif /* PLANEWISE_GOLDEN_H */
