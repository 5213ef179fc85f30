/* SPDX-License-Identifier: Apache-2.0 */
/** @file rival.h What bench_layers measures beside the driver cpu: something that runs a model again and again. */
#ifndef NNV_BENCH_RIVAL_H
#define NNV_BENCH_RIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference/model/model.h"

struct rival {
    const char *name;
    /** Prepares the model, which stays; NULL: it can't be run here. */
    void *(*open)(const struct rival *r, const struct nnv_model *m);
    void (*run)(void *state);
    void (*close)(void *state);
    int threads;
    void *own;
};

/** Ends the program: a call that must not fail did. */
static inline void rival_must(bool good, const char *whose, const char *what, int status) {
    if (good) return;
    fprintf(stderr, "bench_layers: %s: %s: status %d\n", whose, what, status);
    exit(1);
}

/** Extra pixels of a SAME padding in front and behind; a filter of the whole image has none. */
static inline void rival_same(uint32_t in, uint32_t out, uint32_t filter, uint32_t *stride, uint32_t *before,
                              uint32_t *after) {
    *stride = out ? (in + out - 1) / out : 1;
    const int64_t total = ((int64_t)out - 1) * *stride + filter - in;
    *before = total > 0 ? (uint32_t)(total / 2) : 0;
    *after = total > 0 ? (uint32_t)(total - total / 2) : 0;
}

/** Operand i of an operation. */
static inline const struct nnv_operand *rival_in(const struct nnv_model *m, const struct nnv_operation *o, uint32_t i) {
    return &m->main.operands[o->in[i]];
}

/** The fused activation of an operation, its last input. */
static inline int32_t rival_activation(const struct nnv_model *m, const struct nnv_operation *o) {
    return *(const int32_t *)rival_in(m, o, o->nin - 1)->data;
}

#endif
