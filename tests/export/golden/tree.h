/*
 * SLMClassifier, written by planewise 0.1.0. Tables: 37 bytes (labels not counted).
 * Include it in one source file; x are the columns in this order:
 *
 *     x[0]  x0
 *     x[1]  x1
 *
 *     float x[GOLDEN_N_FEATURES] = { ... };
 *     int k = golden_predict(x);    // the label is golden_classes[k]
 *     float p[GOLDEN_N_CLASSES];
 *     golden_predict_proba(x, p);
 *
 * NaN is a missing value and infinities are beyond all numbers, unless compiled with -ffast-math. Where the
 * processor multiplies and adds in one step, -ffp-contract=off rounds as predict does.
 */

#ifndef PLANEWISE_GOLDEN_H
#define PLANEWISE_GOLDEN_H

#include <stdint.h>

#define GOLDEN_N_FEATURES 2
#define GOLDEN_N_CLASSES 2

/* the label of each class */
static const char *const golden_classes[2] = {
    "in", "out"
};

/* one record per node: planes, then where to go */
static const uint8_t golden_nodes[17] = {
    82, 0, 0, 0, 63, 3, 10, 1, 0, 0, 160, 191, 6, 1, 5, 3, 1
};

/* by column: weights of coefficients */
static const float golden_scale[2] = {
    0.5f, 1.5f
};

/* in leaves, 1 each */
static const float golden_values[3] = {
    0.75f, 0.5f, 0.125f
};

/* 4 bytes of the stream as a float, on machines of either byte order. */
static inline float golden_read_float(const uint8_t *at)
{
    const uint32_t bits = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
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
            unsigned terms = head & 15u;
            float v = 0.0f, threshold;
            threshold = golden_read_float(at);
            at += 4;
            for (; terms; --terms) {
                const unsigned term = at[0];
                const unsigned feature = term / 6u;
                const int side = (int)(term % 6u) - 3;
                const float coefficient = (float)(side < 0 ? side : side + 1);
                v += coefficient * golden_scale[feature] * x[feature];
                at += 1;
            }
            right = v >= threshold || (v != v && (head & 16u)); /* v != v: a value is missing */
            code |= right ? bit : 0u;
            bit <<= 1;
        } while (head & 64u);
        entry = at[code];
        if (entry & 1u) return entry >> 1;
        node += entry >> 1;
    }
}

/* Raw scores: what the tree says. */
static inline void golden_raw(const float *x, float *raw)
{
    const unsigned leaf = golden_walk(golden_nodes, x);
    unsigned k;
    for (k = 0; k < 1u; ++k) raw[k] = golden_values[leaf];
}

/* The number of a row's class, 0 or 1. */
static inline int golden_predict(const float *x)
{
    float raw[1];
    golden_raw(x, raw);
    return raw[0] > 0.5f;
}

/* The probabilities of both classes. */
static inline void golden_predict_proba(const float *x, float *probability)
{
    float raw[1];
    golden_raw(x, raw);
    probability[1] = raw[0];
    probability[0] = (1 - raw[0]);
}

#endif /* PLANEWISE_GOLDEN_H */
