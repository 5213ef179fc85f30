/* SPDX-License-Identifier: Apache-2.0 */
/** @file legal.c No bugs: variants that differ within what the rules allow. A suite that complains is wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "faulty.h"

static void true_is_255(const struct call *c, const struct value *v) {
    (void)c;
    for (uint32_t i = 0; i < v->bytes && v->type == ANEURALNETWORKS_TENSOR_BOOL8; i++)
        if (v->data[i]) v->data[i] = 255;
}
static void odd_truth(struct call *c) { each_output(c, true_is_255); }

/** Each float32 that was rounded (all its bits are in use) one unit in the last place nearer to 0. */
static void towards_zero(const struct call *c, const struct value *v) {
    (void)c;
    for (uint32_t at = 0; at + 4 <= v->bytes && is_float32(v->type); at += 4) {
        uint32_t bits;
        memcpy(&bits, v->data + at, 4);
        const uint32_t exponent = bits & 0x7f800000;
        if (exponent != 0x7f800000 && exponent && bits & 0xff) bits--;
        memcpy(v->data + at, &bits, 4);
    }
}
static void rounds_down(struct call *c) { each_output(c, towards_zero); }

/** The real value of 8-bit element i. */
static double real_of(const struct value *v, uint32_t i) {
    double stored;
    nnv_load(v->type, v->data + i, 1, &stored);
    return (double)v->scale * (stored - v->zero_point);
}

/** A model of one QUANTIZE of float32: what lies exactly between two numbers goes to the lower one. */
static void ties_down(struct call *c) {
    const struct value *x = c->inputs, *y = c->outputs;
    const struct nnv_type *t = nnv_type(y->type);
    if (!succeeded(c) || c->request->input_count != 1 || c->request->output_count != 1 || !x->data || !y->data ||
        !is_float32(x->type) || t->kind != NNV_KIND_QUANT || t->size != 1)
        return;
    const uint8_t lowest = (uint8_t)(int)t->min;
    for (uint32_t i = 0; i < y->bytes && i < x->bytes / 4; i++) {
        float v;
        memcpy(&v, x->data + 4 * (size_t)i, 4);
        /* half a unit below what was stored: it was rounded up */
        if ((double)v == real_of(y, i) - (double)y->scale / 2 && y->data[i] != lowest) y->data[i]--;
    }
}

/** Every value of the model is the rounded result of arithmetic in float32, which another order of sums may change. */
static bool all_rounded(const struct nnvts_model *model) {
    static const int32_t arithmetic[] = {
        ANEURALNETWORKS_ADD,
        ANEURALNETWORKS_SUB,
        ANEURALNETWORKS_MUL,
        ANEURALNETWORKS_CONV_2D,
        ANEURALNETWORKS_TANH,
        ANEURALNETWORKS_DEPTHWISE_CONV_2D,
        ANEURALNETWORKS_LOGISTIC,
        ANEURALNETWORKS_BATCH_MATMUL,
        ANEURALNETWORKS_FULLY_CONNECTED,
        ANEURALNETWORKS_SOFTMAX,
        ANEURALNETWORKS_L2_POOL_2D,
        ANEURALNETWORKS_AVERAGE_POOL_2D,
        ANEURALNETWORKS_TRANSPOSE_CONV_2D,
    };
    for (uint32_t i = 0; i < model->main.operation_count; i++) {
        bool found = false;
        for (size_t k = 0; k < sizeof arithmetic / sizeof *arithmetic; k++)
            found |= model->main.operations[i].type == arithmetic[k];
        if (!found) return false;
    }
    return true;
}

static void every_other_rounds_down(struct call *c) {
    if (count_execution(c) % 2) each_output(c, towards_zero);
}

/** The thread that opened the library. */
static pthread_t opener;
__attribute__((constructor)) static void remember_opener(void) { opener = pthread_self(); }

/** As a driver that shares its sums among the processors that are left over. */
static void others_round_down(struct call *c) {
    if (!pthread_equal(pthread_self(), opener)) each_output(c, towards_zero);
}

/** An input of the model that a result follows: its sign of zero is not arithmetic's business. */
static void negative_zero(const struct call *c, const struct value *v) {
    (void)c;
    static const uint8_t zero[4], negative[4] = {0, 0, 0, 0x80};
    for (uint32_t at = 0; at + 4 <= v->bytes && is_float32(v->type); at += 4)
        if (memcmp(v->data + at, zero, 4) == 0) memcpy(v->data + at, negative, 4);
}
static void zeros_turn_negative(struct call *c) {
    if (count_execution(c) % 2) each_output(c, negative_zero);
}

/** Extents that the model leaves open are not known before the whole is computed. */
static void sizes_unknown(struct call *c) {
    if (c->status != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE) return;
    for (uint32_t i = 0; i < c->result->shape_count; i++) forget_open_extents(c->prepared, i, &c->result->shapes[i]);
}

/** Whoever asks for times gets none. */
static void measure_nothing(struct call *c) {
    struct nnvts_execution_config *own = c->execution_config ? call_alloc(c, sizeof *own) : NULL;
    if (!own) return;
    *own = *c->execution_config;
    own->measure_timing = false;
    c->execution_config = own;
}

/** A device that has become hot. */
static void after_many(struct call *c) {
    enum { COLD = 24, US = 20000 };
    uint64_t *n = (uint64_t *)state_of(c->prepared);
    if (++*n > COLD) sleep_us(US);
}

enum { WARM_MS = 300 };

/** Milliseconds that a driver has worked, until it is warm. */
static long warm_ms(void) {
    const uint64_t ms = ns_at_work() / 1000000;
    return ms < WARM_MS ? (long)ms : WARM_MS;
}

/** Slower while it gets hot, and then no more. */
static void heat_up(struct call *c) { (void)c, sleep_us(warm_ms()); }

/** A pool that grows by a page in a millisecond, until it is full. */
static void fill_pool(struct call *c) {
    enum { PAGE = 4096 };
    static void *_Atomic pool[WARM_MS + 1];
    const long at = warm_ms();
    (void)c;
    if (atomic_load(&pool[at])) return;
    void *page = calloc(1, PAGE), *none = NULL;
    if (!atomic_compare_exchange_strong(&pool[at], &none, page)) free(page);
}

/** What the first models need is kept, and serves later ones in turn. */
static void pool_models(struct call *c) {
    enum { MODELS = 1000, BYTES = 12 << 10 };
    static void *_Atomic pool[MODELS];
    static atomic_size_t count;
    if (!succeeded(c)) return;
    const size_t i = atomic_fetch_add(&count, 1);
    void *kept = i < MODELS ? malloc(BYTES) : NULL;
    if (!kept) return;
    memset(kept, 1, BYTES);
    atomic_store(&pool[i], kept);
}

#define ROUNDED .alone = true, .tamper = rounds_down, .legal = true

static const struct bug bugs[] = {
    BUG_OF(ADD, "legal-sum-commuted", "operands in the other order", "ADD: operands of one type and shape",
           .own = {.change = nnv_change_swap, .slots = {"a", "b"}}, .legal = true),
    BUG_OF(MUL, "legal-product-commuted", "operands in the other order", "MUL: operands of one type and shape",
           .own = {.change = nnv_change_swap, .slots = {"a", "b"}}, .legal = true),
    BUG_OF(MEAN, "legal-axes-reversed", "axes in the other order", "MEAN: two or more axes",
           .own = {.numbers = nnv_numbers_reverse, .slots = {"axes"}}, .legal = true),
    BUG_OF(REDUCE_SUM, "legal-reduction-order", "axes in the other order", "REDUCE_SUM: two or more axes",
           .own = {.numbers = nnv_numbers_reverse, .slots = {"axes"}}, .legal = true),
    BUG_OF(TANH, "legal-tanh-rounds-down", "the other neighbour in float32: one unit in the last place",
           "TANH alone in a model, float32 outputs", ROUNDED),
    BUG_OF(EXP, "legal-exp-rounds-down", "the other neighbour in float32: one unit in the last place",
           "EXP alone in a model, float32 outputs", ROUNDED),
    BUG_OF(LOGISTIC, "legal-logistic-rounds-down", "the other neighbour in float32: one unit in the last place",
           "LOGISTIC alone in a model, float32 outputs", ROUNDED),
    BUG_OF(CONV_2D, "legal-conv-2d-rounds-down", "the other neighbour in float32: one unit in the last place",
           "CONV_2D alone in a model, float32 outputs", ROUNDED),
    BUG_OF(FULLY_CONNECTED, "legal-fully-connected-rounds-down",
           "the other neighbour in float32: one unit in the last place",
           "FULLY_CONNECTED alone in a model, float32 outputs", ROUNDED),
    BUG_OF(BATCH_MATMUL, "legal-batch-matmul-rounds-down", "the other neighbour in float32: one unit in the last place",
           "BATCH_MATMUL alone in a model, float32 outputs", ROUNDED),
    BUG_OF(SOFTMAX, "legal-softmax-rounds-down", "the other neighbour in float32: one unit in the last place",
           "SOFTMAX alone in a model, float32 outputs", ROUNDED),
    BUG_OF(QUANTIZE, "legal-ties-round-down", "ties of a quantised number to the lower neighbour instead of the upper",
           "QUANTIZE alone in a model, float32 inputs halfway between two units", .alone = true, .tamper = ties_down,
           .legal = true),
    BUG("legal-unsteady-sums", "sums in no fixed order: every other execution one unit in the last place lower",
        "models of arithmetic alone, float32 outputs", .concerns = all_rounded, .tamper = every_other_rounds_down,
        .legal = true),
    BUG("legal-beside-others", "in threads beside the first one float32 is one unit in the last place lower",
        "models of arithmetic alone, float32 outputs", .concerns = all_rounded, .tamper = others_round_down,
        .legal = true),
    BUG("legal-negative-zero", "zeros of the other sign in every other execution",
        "models of arithmetic alone, float32 outputs", .concerns = all_rounded, .tamper = zeros_turn_negative,
        .legal = true),
    BUG("legal-sizes-unknown", "what a too small output needs is not told where the model leaves its extents open",
        "executions with a too small output", .on = ON(EXECUTE), .after = sizes_unknown, .legal = true),
    BUG_OF(ADD, "legal-slow", "20 ms for each execution of a prepared model from the 25th on", "models with an ADD",
           .on = ON(EXECUTE), .before = after_many, .legal = true),
    BUG_OF(ADD, "legal-heats-up", "slower by 1 us in each of the first 300 ms", "models with an ADD", .on = ON(EXECUTE),
           .before = heat_up, .legal = true),
    BUG("legal-pool-fills", "a pool that grows for 300 ms, and stays", "all executions", .on = ON(EXECUTE),
        .before = fill_pool, .legal = true),
    BUG("legal-pool-of-models", "memory of the first 1,000 models that is kept for later ones", "each prepared model",
        .on = ON(PREPARE), .after = pool_models, .legal = true),
    BUG("legal-true-is-255", "truth stored as another value than 1: anything but 0 is true", "TENSOR_BOOL8 outputs",
        .tamper = odd_truth, .legal = true),
    BUG("legal-untimed", "no times, which a driver need not measure", "all executions",
        .on = ON(EXECUTE) | ON(ASYNC) | ON(FENCED) | ON(REUSABLE), .before = measure_nothing,
        .burst_execute = burst_untimed, .legal = true),
    BUG_OF(TANH, "legal-prints", "much noise on standard output and standard error", WITH_TANH, .strike = strike_print,
           .on = ON(EXECUTE), .legal = true),
};
const struct bug_group bugs_legal = {bugs, sizeof bugs / sizeof *bugs};
