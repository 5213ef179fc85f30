/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_shapes.c Bugs of open shapes, of outputs that do not fit, and of requests that contradict the model. */
#include <stdlib.h>
#include <string.h>

#include "faulty.h"

/* ------------------------------------------------------------------- answers */

static enum nnvts_status drop_shapes(struct tamper *t, enum nnvts_status status) {
    if (status == NNVTS_STATUS_NONE) t->result->shape_count = 0;
    return status;
}

/** Says the same of the size of all outputs. */
static enum nnvts_status flag(struct tamper *t, enum nnvts_status status, bool sufficient) {
    for (uint32_t i = 0; status == NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE && i < t->result->shape_count; i++)
        t->result->shapes[i].is_sufficient = sufficient;
    return status;
}
static enum nnvts_status flag_all(struct tamper *t, enum nnvts_status status) { return flag(t, status, false); }
static enum nnvts_status flag_none(struct tamper *t, enum nnvts_status status) { return flag(t, status, true); }

/** Part of a result in a buffer that is too small for it. */
static enum nnvts_status write_behind(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = 0; status == NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE && i < t->request->output_count; i++)
        if (!t->result->shapes[i].is_sufficient && t->outputs[i].data) t->outputs[i].data[t->outputs[i].bytes] ^= 0xff;
    return status;
}

static enum nnvts_status truncate_silently(struct tamper *t, enum nnvts_status status) {
    if (status != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE) return status;
    flag(t, status, true);
    return NNVTS_STATUS_NONE;
}

/** The extents that the buffer would hold, instead of those of the result. */
static enum nnvts_status report_less(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = 0; status == NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE && i < t->result->shape_count; i++) {
        struct nnvts_output_shape *s = &t->result->shapes[i];
        if (!s->is_sufficient && s->dimension_count && s->dimensions[0]) s->dimensions[0]--;
    }
    return status;
}

/** All shapes with four extents, as the hardware has them. */
static enum nnvts_status pad_ranks(struct tamper *t, enum nnvts_status status) {
    for (uint32_t i = 0; i < t->result->shape_count; i++) {
        struct nnvts_output_shape *s = &t->result->shapes[i];
        for (; s->dimension_count < 4; s->dimension_count++) s->dimensions[s->dimension_count] = 1;
    }
    return status;
}

/** Tensors without a rank are taken for a mistake. */
static enum nnvts_status refuse_open_ranks(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    (void)supported;
    for (uint32_t i = 0; i < model->main.operand_count; i++) {
        const struct nnvts_operand *o = &model->main.operands[i];
        if (o->lifetime == NNVTS_TEMPORARY_VARIABLE && o->dimension_count == 0 && nnv_type(o->type) &&
            o->type != ANEURALNETWORKS_INT32)
            return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    return status;
}

/* ------------------------------------------------------------------ requests */

/** Executes with arguments that name no extents but where the first input needs them. */
static enum nnvts_status execute_unshaped(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config,
                                          struct nnvts_execution_result *result) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct nnvts_request r = *request;
    struct nnvts_argument *outputs = calloc((size_t)r.output_count + 1, sizeof *outputs);
    if (!outputs) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (uint32_t i = 0; i < r.output_count; i++) {
        outputs[i] = r.outputs[i];
        outputs[i].dimension_count = 0;
        outputs[i].dimensions = NULL;
    }
    r.outputs = outputs;
    enum nnvts_status st = inner->execute(inner, &r, config, result);
    free(outputs);
    return st;
}

static void forget_output_shapes(struct nnvts_prepared_model *prepared) { prepared->execute = execute_unshaped; }

/** Outputs of unknown shape fail when it is too late to say that they are not allowed. */
static enum nnvts_status fail_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const int *wait_for, uint32_t wait_for_count,
                                     const struct nnvts_execution_config *config, uint64_t duration_ns,
                                     struct nnvts_fenced_execution *out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    enum nnvts_status st = inner->execute_fenced(inner, request, wait_for, wait_for_count, config, duration_ns, out);
    return st == NNVTS_STATUS_INVALID_ARGUMENT ? NNVTS_STATUS_GENERAL_FAILURE : st;
}

static void fenced_fails(struct nnvts_prepared_model *prepared) {
    if (prepared->execute_fenced) prepared->execute_fenced = fail_fenced;
}

static const struct bug bugs[] = {
    BUG("shapes-unreported", "a driver that expects all shapes to be known", "all executions that succeed",
        .execute = drop_shapes),
    BUG("short-flags-all", "one flag for all outputs", "executions with an output that is too small",
        .execute = flag_all),
    BUG("short-flags-none", "flags that nobody sets", "executions with an output that is too small",
        .execute = flag_none),
    BUG("short-overrun", "a result that is written before its size is compared",
        "executions with an output that is too small", .execute = write_behind),
    BUG("short-truncated", "as much of a result as fits, and no word of it",
        "executions with an output that is too small", .execute = truncate_silently),
    BUG("short-extent", "the shape of the buffer instead of that of the result",
        "executions with an output that is too small", .execute = report_less),
    BUG("rank-padded", "shapes as the hardware has them", "all executions", .execute = pad_ranks),
    BUG("open-rank-refused", "a rank of 0 taken for a mistake", "models with a temporary of unknown rank",
        .supported = refuse_open_ranks),
    BUG("output-shape-ignored", "a request whose output shapes nobody reads", "all executions",
        .prepared = forget_output_shapes),
    BUG("fenced-open-fails", "a missing check at the launch of a fenced execution",
        "fenced executions with outputs of unknown shape", .prepared = fenced_fails),
};
const struct bug_group bugs_shapes = {bugs, sizeof bugs / sizeof *bugs};
