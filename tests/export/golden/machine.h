/*
 * MCMClassifier, written by planewise 0.1.0. Tables: 102 bytes (labels not counted).
 * Include it in one source file; x are the columns in this order:
 *
 *     x[0]  width
 *     x[1]  height
 *
 *     float x[GOLDEN_N_FEATURES] = { ... };
 *     int k = golden_predict(x);    // the label is golden_classes[k]
 *     float p[GOLDEN_N_CLASSES];
 *     golden_predict_proba(x, p);
 *
 * Missing values and infinities are not allowed.
 */

#ifndef PLANEWISE_GOLDEN_H
#define PLANEWISE_GOLDEN_H

#include <stdint.h>
#include <math.h>

#define GOLDEN_N_FEATURES 2
#define GOLDEN_N_CLASSES 3

/* the label of each class */
static const char *const golden_classes[3] = {
    "a", "b", "c"
};

/* by column */
static const float golden_mean[2] = {
    1.0f, -2.0f
};

/* by column: one over its spread */
static const float golden_over_spread[2] = {
    0.5f, 2.0f
};

/* by column, after long tails are compressed */
static const float golden_tail_mean[2] = {
    0.125f, 0.0f
};

/* by column */
static const float golden_over_tail_spread[2] = {
    1.0f, 0.5f
};

/* vectors, in standard units, 2 numbers each */
static const float golden_vectors[4] = {
    0.5f, 1.0f, -1.0f, 0.25f
};

/* of the vectors, 3 each */
static const float golden_coefficients[6] = {
    1.0f, 0.5f, 0.0f, -2.0f, 0.0f, 3.0f
};

/* of each machine */
static const float golden_intercept[3] = {
    0.25f, -0.5f, 1.0f
};

/* the two classes of a machine */
static const uint8_t golden_duels[6] = {
    0, 1, 0, 2, 1, 2
};

/* of the conformal factor */
static const float golden_cores[2] = {
    0.0f, 1.0f
};

/* of the cores */
static const float golden_core_weights[1] = {
    0.75f
};

/* Raw scores of a row: weighted kernel values with the vectors. */
static inline void golden_raw(const float *x, float *raw)
{
    float z[2];
    unsigned j, v, m;
    float score[3];
    for (j = 0; j < 2u; ++j) {
        z[j] = (x[j] - golden_mean[j]) * golden_over_spread[j];
        z[j] = (asinhf(2 * z[j]) - golden_tail_mean[j]) * golden_over_tail_spread[j];
    }
    for (m = 0; m < 3u; ++m) score[m] = 0;
    for (v = 0; v < 2u; ++v) {
        float s = 0;
        for (j = 0; j < 2u; ++j) {
            const float c = golden_vectors[2u * v + j];
            const float d = z[j] - c;
            s += d * d;
        }
        s = expf(-0.5f * s);
        for (m = 0; m < 3u; ++m) score[m] += golden_coefficients[3u * v + m] * s;
    }
    { /* the conformal factor r(x) */
        float r = 0.5f;
        for (v = 0; v < 1u; ++v) {
            float s = 0;
            for (j = 0; j < 2u; ++j) {
                const float d = z[j] - golden_cores[2u * v + j];
                s += d * d;
            }
            r += golden_core_weights[v] * expf(-2.0f * s);
        }
        r = 0.5f + 0.5f * r;
        for (m = 0; m < 3u; ++m) score[m] *= r;
    }
    for (m = 0; m < 3u; ++m) score[m] += golden_intercept[m];
    { /* every machine is a duel of two classes: won duels count, margins only part equal counts */
        float margin[3];
        for (m = 0; m < 3u; ++m) raw[m] = margin[m] = 0;
        for (m = 0; m < 3u; ++m) {
            const unsigned a = golden_duels[2u * m], b = golden_duels[2u * m + 1u];
            raw[score[m] >= 0 ? a : b] += 1;
            margin[a] += score[m];
            margin[b] -= score[m];
        }
        for (m = 0; m < 3u; ++m)
            raw[m] += margin[m] / (3 * ((margin[m] < 0 ? -margin[m] : margin[m]) + 1));
    }
}

/* The number of a row's class, 0 to 2. */
static inline int golden_predict(const float *x)
{
    float raw[3];
    int k, best = 0;
    golden_raw(x, raw);
    for (k = 1; k < 3; ++k)
        if (raw[k] > raw[best] + 4e-6f) best = k;
    return best;
}

/* The probability of each class. */
static inline void golden_predict_proba(const float *x, float *probability)
{
    float raw[3], largest;
    float total = 0.0f;
    unsigned k;
    golden_raw(x, raw);
    largest = raw[0];
    for (k = 1; k < 3u; ++k)
        if (raw[k] > largest) largest = raw[k];
    for (k = 0; k < 3u; ++k) {
        probability[k] = expf(1.5f * (raw[k] - largest));
        total += probability[k];
    }
    for (k = 0; k < 3u; ++k) probability[k] /= total;
}

#endif /* PLANEWISE_GOLDEN_H */
