/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/numeric.h"

#include <stdio.h>
#include <string.h>

#include "reference/model/op.h"

void nnv_numeric_say(const struct nnv_numeric_engine *e, const char *about, const char *what, const char *is,
                     const char *evidence) {
    struct nnv_numeric *n = e->out;
    if (n->count >= NNV_NUMERIC_FACTS) return;
    struct nnv_numeric_fact *f = &n->fact[n->count];
    snprintf(f->about, sizeof f->about, "%s", about);
    snprintf(f->what, sizeof f->what, "%s", what);
    snprintf(f->is, sizeof f->is, "%s", is);
    snprintf(f->evidence, sizeof f->evidence, "%s", evidence);
    n->count++;
}

static const int32_t floats[] = {ANEURALNETWORKS_TENSOR_FLOAT32, ANEURALNETWORKS_TENSOR_FLOAT16};
static const int32_t sums[] = {ANEURALNETWORKS_FULLY_CONNECTED, ANEURALNETWORKS_CONV_2D, ANEURALNETWORKS_BATCH_MATMUL,
                               ANEURALNETWORKS_REDUCE_SUM};
static const int32_t codes[] = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED};

static size_t functions(const struct nnv_op **out) {
    size_t all, n = 0;
    const struct nnv_op *const *ops = nnv_ops(&all);
    for (size_t i = 0; i < all; i++)
        if (ops[i]->unary && ops[i]->rounding != NNV_ROUND_NONE && ops[i]->rounding != NNV_ROUND_FLOOR)
            out[n++] = ops[i];
    return n;
}

/** Measures part i. False: there is no such part. */
static bool measure(const struct nnv_numeric_engine *e, uint32_t i) {
    enum { SUMS = sizeof sums / sizeof *sums, FLOATS = 2, MOST = 256 };
    const struct nnv_op *unary[MOST];
    if (i < SUMS * FLOATS) {
        nnv_measure_sums(e, (struct nnv_sums){sums[i % SUMS], floats[i / SUMS]});
        return true;
    }
    i -= SUMS * FLOATS;
    if (i < FLOATS) {
        nnv_measure_subnormals(e, floats[i]);
        return true;
    }
    i -= FLOATS;
    if (i < FLOATS) {
        nnv_measure_requantise(e, codes[i]);
        return true;
    }
    i -= FLOATS;
    if (i == 0) {
        nnv_measure_ties(e);
        return true;
    }
    i--;
    const size_t n = functions(unary);
    if (i < n * FLOATS) nnv_measure_function(e, unary[i % n]->code, floats[i / n]);
    return i < n * FLOATS;
}

void nnv_numeric_measure(const struct nnv_numeric_engine *e) {
    for (bool more = true; more;) {
        const uint32_t part = e->out->begun++;
        nnv_arena_reset(e->arena);
        more = measure(e, part);
    }
    e->out->arithmetic.keep_subnormals = e->out->kept > 0 && !e->out->flushes;
}
