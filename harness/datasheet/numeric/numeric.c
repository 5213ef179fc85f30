/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/numeric/numeric.h"

#include <fnmatch.h>
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

void nnv_numeric_find(const struct nnv_numeric_engine *e, const char *about, const char *what, const char *is,
                      const char *evidence) {
    const uint32_t place = e->out->count;
    nnv_numeric_say(e, about, what, is, evidence);
    if (e->out->count > place) e->out->fact[place].finding = 1;
}

/** The value that an operand has, without data. */
static struct nnv_value value_of(const struct nnv_operand *o) {
    struct nnv_value v = {.rank = o->rank};
    size_t elems;
    for (uint32_t i = 0; i < o->rank; i++) v.dims[i] = o->dims[i];
    return nnv_operand_size(o, &elems, &v.bytes) ? v : (struct nnv_value){0};
}

bool nnv_numeric_run(const struct nnv_numeric_engine *e, struct nnv_builder *b, uint32_t nin, const uint32_t *in,
                     const double *const *x, uint32_t y, double *out) {
    enum { MOST = 2 };
    struct nnv_spec spec = {.name = "designed"};
    struct nnv_value value[MOST], result, *outputs;
    if (nin > MOST || nnv_builder_end(b, nin, in, 1, &y, &spec.model, NULL) != NNV_OK) return false;
    const struct nnv_operand *operands = spec.model.main.operands;
    for (uint32_t i = 0; i < nin; i++) {
        const struct nnv_operand *o = &operands[in[i]];
        value[i] = value_of(o);
        value[i].data = nnv_arena_alloc(e->arena, value[i].bytes, 1);
        if (!value[i].data) return false;
        nnv_store(o->type, x[i], value[i].bytes / nnv_type(o->type)->size, value[i].data);
    }
    result = value_of(&operands[y]);
    spec.inputs = value;
    spec.outputs = &result;
    if (!e->execute(e->context, &spec, e->arena, &outputs)) return false;
    nnv_load(operands[y].type, outputs[0].data, result.bytes / nnv_type(operands[y].type)->size, out);
    return true;
}

static const int32_t floats[] = {ANEURALNETWORKS_TENSOR_FLOAT32, ANEURALNETWORKS_TENSOR_FLOAT16};
static const int32_t sums[] = {ANEURALNETWORKS_FULLY_CONNECTED, ANEURALNETWORKS_CONV_2D, ANEURALNETWORKS_BATCH_MATMUL,
                               ANEURALNETWORKS_REDUCE_SUM};
static const int32_t codes[] = {ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED};
/* Those that have weights with a scale for each channel first. */
static const int32_t products[] = {ANEURALNETWORKS_CONV_2D,
                                   ANEURALNETWORKS_DEPTHWISE_CONV_2D,
                                   ANEURALNETWORKS_GROUPED_CONV_2D,
                                   ANEURALNETWORKS_TRANSPOSE_CONV_2D,
                                   ANEURALNETWORKS_FULLY_CONNECTED,
                                   ANEURALNETWORKS_BATCH_MATMUL,
                                   ANEURALNETWORKS_MUL,
                                   ANEURALNETWORKS_PRELU};
enum { PRODUCTS = sizeof products / sizeof *products, CONVOLUTIONS = 4 };

static size_t functions(const struct nnv_op **out) {
    size_t all, n = 0;
    const struct nnv_op *const *ops = nnv_ops(&all);
    for (size_t i = 0; i < all; i++)
        if (ops[i]->unary && ops[i]->rounding != NNV_ROUND_NONE && ops[i]->rounding != NNV_ROUND_FLOOR)
            out[n++] = ops[i];
    return n;
}

static bool is_chosen(const struct nnv_numeric_engine *e, int32_t op) {
    return !e->operations || fnmatch(e->operations, nnv_op(op)->name, 0) == 0;
}

enum { SUMS = sizeof sums / sizeof *sums, FLOATS = 2, TYPES = 4, MEASURES = 3, LONG_SUMS = SUMS * TYPES * MEASURES };

/** What shows in many or long sums, part i of LONG_SUMS. */
static void measure_long_sums(const struct nnv_numeric_engine *e, uint32_t i) {
    static const int32_t types[TYPES] = {ANEURALNETWORKS_TENSOR_FLOAT32, ANEURALNETWORKS_TENSOR_FLOAT16,
                                         ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
                                         ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED};
    static void (*const measures[])(const struct nnv_numeric_engine *,
                                    struct nnv_sums) = {nnv_measure_drift, nnv_measure_depth, nnv_measure_overflow};
    const struct nnv_sums s = {sums[i % SUMS], types[i / SUMS % TYPES]};
    if (is_chosen(e, s.op)) measures[i / (SUMS * TYPES)](e, s);
}

/** Measures part i. False: there is no such part. */
static bool measure(const struct nnv_numeric_engine *e, uint32_t i) {
    enum { SMALL = 3, MOST = 256 };
    static const int32_t small[SMALL] = {ANEURALNETWORKS_ADD, ANEURALNETWORKS_MUL, ANEURALNETWORKS_SOFTMAX};
    const struct nnv_op *unary[MOST];
    if (i < SUMS * FLOATS) {
        const struct nnv_sums s = {sums[i % SUMS], floats[i / SUMS]};
        if (is_chosen(e, s.op)) nnv_measure_sums(e, s);
        return true;
    }
    i -= SUMS * FLOATS;
    if (i < LONG_SUMS) {
        measure_long_sums(e, i);
        return true;
    }
    i -= LONG_SUMS;
    if (i < SMALL * FLOATS) {
        if (is_chosen(e, small[i % SMALL])) nnv_measure_subnormals(e, small[i % SMALL], floats[i / SMALL]);
        return true;
    }
    i -= SMALL * FLOATS;
    if (i < 2 * (PRODUCTS + CONVOLUTIONS)) {
        const uint32_t k = i / 2;
        const struct nnv_products what = {
            .op = products[k % PRODUCTS], .type = codes[i % 2], .per_channel = k >= PRODUCTS};
        if (is_chosen(e, what.op)) nnv_measure_requantise(e, what);
        return true;
    }
    i -= 2 * (PRODUCTS + CONVOLUTIONS);
    if (i == 0) {
        if (is_chosen(e, ANEURALNETWORKS_QUANTIZE)) nnv_measure_ties(e);
        return true;
    }
    i--;
    const size_t n = functions(unary);
    if (i < n * FLOATS && is_chosen(e, unary[i % n]->code)) nnv_measure_function(e, unary[i % n]->code, floats[i / n]);
    return i < n * FLOATS;
}

void nnv_numeric_measure(const struct nnv_numeric_engine *e) {
    e->out->partial = e->operations != NULL;
    for (bool more = true; more;) {
        const uint32_t part = e->out->begun++;
        nnv_arena_reset(e->arena);
        more = measure(e, part);
    }
}

void nnv_numeric_settle(struct nnv_numeric *n) {
    nnv_settle_requantise(n);
    n->arithmetic.keep_subnormals = n->kept > 0 && !n->flushes;
}
