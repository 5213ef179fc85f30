/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_fuzz.c Bugs of drivers that trust what they are given. */
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

static bool has_rank_9(const struct nnvts_model *m) { return any_operand(m, is_rank_9); }
static bool has_empty_constant(const struct nnvts_model *m) { return any_operand(m, is_empty_constant); }
static bool has_negative_zero_point(const struct nnvts_model *m) { return any_operand(m, is_below_zero); }
static bool has_huge_extent(const struct nnvts_model *m) { return any_operand(m, is_huge); }

static bool has_unknown_operation(const struct nnvts_model *m) {
    for (uint32_t i = 0; i < m->main.operation_count; i++)
        if (m->main.operations[i].type < 0 || m->main.operations[i].type > 0xfff) return true;
    return false;
}

/** Reads the constants; offset plus length in 32 bits may seem to lie within the values. */
static bool reads_constants(const struct nnvts_model *m) {
    const volatile uint8_t *values = m->operand_values;
    for (uint32_t i = 0; i < m->main.operand_count; i++) {
        const struct nnvts_operand *o = &m->main.operands[i];
        if (o->lifetime != NNVTS_CONSTANT_COPY || o->location.length == 0) continue;
        uint32_t end = o->location.offset + o->location.length;
        if (end <= m->operand_values_bytes) (void)values[o->location.offset];
    }
    return false;
}

/** A prepare_model that strikes at models of a kind, and the device hook that puts it in. */
#define STRIKE_AT(name, is_bad, strike)                                                                                \
    static enum nnvts_status prepare_##name(struct nnvts_device *self, const struct nnvts_model *model,                \
                                            const struct nnvts_prepare_config *config,                                 \
                                            struct nnvts_prepared_model **out) {                                       \
        if (is_bad(model)) strike();                                                                                   \
        return faulty_prepare(self, model, config, out);                                                               \
    }                                                                                                                  \
    static void name(struct nnvts_device *device) { device->prepare_model = prepare_##name; }

STRIKE_AT(dies_of_rank, has_rank_9, strike_crash)
STRIKE_AT(dies_of_empty, has_empty_constant, strike_abort)
STRIKE_AT(dies_of_operation, has_unknown_operation, strike_exit)
STRIKE_AT(dies_of_zero_point, has_negative_zero_point, strike_crash)
STRIKE_AT(hangs_of_extent, has_huge_extent, strike_hang)
STRIKE_AT(trusts_locations, reads_constants, strike_abort)

/* --------------------------------------------------------- wrong, but alive */

static bool soured; /* of the process: a model was refused */

static enum nnvts_status prepare_sour(struct nnvts_device *self, const struct nnvts_model *model,
                                      const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    enum nnvts_status status = faulty_prepare(self, model, config, out);
    soured = soured || status == NNVTS_STATUS_INVALID_ARGUMENT;
    return status;
}

static void sours(struct nnvts_device *device) { device->prepare_model = prepare_sour; }

static enum nnvts_status answer_sour(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = 0; soured && i < t->request->output_count; i++)
        for (uint32_t k = 0; t->outputs[i].data && k < t->outputs[i].bytes; k++) t->outputs[i].data[k] ^= 0x55;
    return status;
}

static enum nnvts_status prepare_strict(struct nnvts_device *self, const struct nnvts_model *model,
                                        const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    if (model->main.operation_count > 1) return NNVTS_STATUS_GENERAL_FAILURE;
    return faulty_prepare(self, model, config, out);
}

static void one_operation(struct nnvts_device *device) { device->prepare_model = prepare_strict; }

static enum nnvts_status prepare_late(struct nnvts_device *self, const struct nnvts_model *model,
                                      const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out) {
    if (config->deadline_ns != NNVTS_NO_TIME) return (enum nnvts_status)77;
    return faulty_prepare(self, model, config, out);
}

static void late_status(struct nnvts_device *device) { device->prepare_model = prepare_late; }

/** Takes the first bytes of a cache for a number of records. */
static enum nnvts_status prepare_trusting(struct nnvts_device *self, const struct nnvts_cache *cache,
                                          uint64_t deadline_ns, struct nnvts_prepared_model **out) {
    uint32_t records = 0;
    int fd = cache->model_fd_count ? cache->model_fds[0] : cache->data_fd_count ? cache->data_fds[0] : -1;
    if (pread(fd, &records, sizeof records, 0) != sizeof records) strike_crash();
    return faulty_prepare_from_cache(self, cache, deadline_ns, out);
}

static void trusts_caches(struct nnvts_device *device) {
    if (device->prepare_from_cache) device->prepare_from_cache = prepare_trusting;
}

static const struct bug bugs[] = {
    BUG("fuzz-rank", "a list of extents on the stack that is too short", "prepare_model, an operand of rank 9",
        .device = dies_of_rank),
    BUG("fuzz-empty-constant", "a check that a constant has bytes, as an assertion",
        "prepare_model, a constant of length 0", .device = dies_of_empty),
    BUG("fuzz-unknown-operation", "a driver that gives up its process",
        "prepare_model, an operation type that does not exist", .device = dies_of_operation),
    BUG("fuzz-zero-point", "a table that is indexed by the zero point", "prepare_model, a negative zero point",
        .device = dies_of_zero_point),
    BUG("fuzz-huge-extent", "a loop over an extent", "prepare_model, an extent above INT32_MAX",
        .device = hangs_of_extent),
    BUG("fuzz-location-overflow", "offset + length computed in 32 bits",
        "prepare_model, a constant whose location wraps around", .device = trusts_locations),
    BUG("fuzz-sour", "a state that a refused model leaves behind", "execute, after a model was refused",
        .device = sours, .execute = answer_sour),
    BUG("fuzz-one-operation", "a compiler that can do less than get_supported_operations claims",
        "prepare_model, two operations", .device = one_operation),
    BUG("fuzz-short-cache", "a cache file that is read without asking how long it is",
        "prepare_from_cache, a file of fewer than 4 bytes", .device = trusts_caches),
    BUG("fuzz-late-status", "a status of the driver's own", "prepare_model with a deadline", .device = late_status),
};
const struct bug_group bugs_fuzz = {bugs, sizeof bugs / sizeof *bugs};
