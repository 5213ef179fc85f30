/* SPDX-License-Identifier: Apache-2.0 */
/** @file fuzz.c Bugs of drivers that trust what they are given. */
#include <unistd.h>

#include "faulty.h"

/** True if any operand of the main subgraph is of the kind. */
static bool any_operand(const struct nnvts_model *m, bool (*is)(const struct nnvts_operand *o)) {
    for (uint32_t i = 0; i < m->main.operand_count; i++)
        if (is(&m->main.operands[i])) return true;
    return false;
}

static bool is_rank_9(const struct nnvts_operand *o) { return o->dimension_count == 9; }

static bool is_empty_constant(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_CONSTANT_COPY && o->location.length == 0;
}

static bool is_below_zero(const struct nnvts_operand *o) {
    return o->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM && o->zero_point < 0;
}

static bool is_huge(const struct nnvts_operand *o) {
    for (uint32_t i = 0; i < o->dimension_count; i++)
        if (o->dimensions[i] > INT32_MAX) return true;
    return false;
}

static bool has_rank_9(const struct call *c) { return any_operand(c->model, is_rank_9); }
static bool has_empty_constant(const struct call *c) { return any_operand(c->model, is_empty_constant); }
static bool has_negative_zero_point(const struct call *c) { return any_operand(c->model, is_below_zero); }
static bool has_huge_extent(const struct call *c) { return any_operand(c->model, is_huge); }

static bool has_unknown_operation(const struct call *c) {
    for (uint32_t i = 0; i < c->model->main.operation_count; i++)
        if (c->model->main.operations[i].type < 0 || c->model->main.operations[i].type > 0xfff) return true;
    return false;
}

/** Reads the constants; offset plus length in 32 bits may seem to lie within the values. */
static void read_constants(struct call *c) {
    const volatile uint8_t *values = c->model->operand_values;
    for (uint32_t i = 0; i < c->model->main.operand_count; i++) {
        const struct nnvts_operand *o = &c->model->main.operands[i];
        if (o->lifetime != NNVTS_CONSTANT_COPY || o->location.length == 0) continue;
        uint32_t end = o->location.offset + o->location.length;
        if (end <= c->model->operand_values_bytes) (void)values[o->location.offset];
    }
}

/* --------------------------------------------------------- wrong, but alive */

static bool soured; /* of the process: a model was refused */

static void note_refusal(struct call *c) { soured = soured || c->status == NNVTS_STATUS_INVALID_ARGUMENT; }

static void answer_sour(struct call *c) {
    for (uint32_t i = 0; soured && i < c->request->output_count; i++)
        for (uint32_t k = 0; c->outputs[i].data && k < c->outputs[i].bytes; k++) c->outputs[i].data[k] ^= 0x55;
}

static void refuse_two(struct call *c) {
    if (c->model->main.operation_count > 1) answer(c, NNVTS_STATUS_GENERAL_FAILURE);
}

static void refuse_deadline(struct call *c) {
    if (c->config->deadline_ns != NNVTS_NO_TIME) answer(c, (enum nnvts_status)77);
}

/** The first bytes of a cache are taken for a number of records. */
static bool has_short_cache(const struct call *c) {
    const struct nnvts_cache *cache = c->cache;
    uint32_t records = 0;
    int fd = cache->model_fd_count ? cache->model_fds[0] : cache->data_fd_count ? cache->data_fds[0] : -1;
    return pread(fd, &records, sizeof records, 0) != sizeof records;
}

#define STRIKES(condition, how) .on = ON(PREPARE), .when = condition, .strike = how

static const struct bug bugs[] = {
    BUG("fuzz-rank", "a list of extents on the stack that is too short", "prepare_model, an operand of rank 9",
        STRIKES(has_rank_9, strike_crash)),
    BUG("fuzz-empty-constant", "a check that a constant has bytes, as an assertion",
        "prepare_model, a constant of length 0", STRIKES(has_empty_constant, strike_abort)),
    BUG("fuzz-unknown-operation", "a driver that gives up its process",
        "prepare_model, an operation type that does not exist", STRIKES(has_unknown_operation, strike_exit)),
    BUG("fuzz-zero-point", "a table that is indexed by the zero point", "prepare_model, a negative zero point",
        STRIKES(has_negative_zero_point, strike_crash)),
    BUG("fuzz-huge-extent", "a loop over an extent", "prepare_model, an extent above INT32_MAX",
        STRIKES(has_huge_extent, strike_hang)),
    BUG("fuzz-location-overflow", "offset + length computed in 32 bits",
        "prepare_model, a constant whose location wraps around", .on = ON(PREPARE), .before = read_constants),
    BUG("fuzz-sour", "a state that a refused model leaves behind", "execute, after a model was refused",
        .on = ON(PREPARE), .after = note_refusal, .tamper = answer_sour),
    BUG("fuzz-one-operation", "a compiler that can do less than get_supported_operations claims",
        "prepare_model, two operations", .on = ON(PREPARE), .before = refuse_two),
    BUG("fuzz-short-cache", "a cache file that is read without asking how long it is",
        "prepare_from_cache, a file of fewer than 4 bytes", .on = ON(LOAD), .when = has_short_cache,
        .strike = strike_crash),
    BUG("fuzz-late-status", "a status of the driver's own", "prepare_model with a deadline", .on = ON(PREPARE),
        .before = refuse_deadline),
};
const struct bug_group bugs_fuzz = {bugs, sizeof bugs / sizeof *bugs};
