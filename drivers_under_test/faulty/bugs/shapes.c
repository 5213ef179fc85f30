/* SPDX-License-Identifier: Apache-2.0 */
/** @file shapes.c Bugs of open shapes, of outputs that do not fit, and of requests that contradict the model. */
#include <stdatomic.h>
#include <string.h>

#include "faulty.h"
#include "requests.h"

/* ------------------------------------------------------------------- answers */

static bool is_short(const struct call *c) { return c->status == NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE; }

static void drop_shapes(struct call *c) {
    if (succeeded(c)) c->result->shape_count = 0;
}

/** Says the same of the size of all outputs. */
static void flag(struct call *c, bool sufficient) {
    for (uint32_t i = 0; is_short(c) && i < c->result->shape_count; i++)
        c->result->shapes[i].is_sufficient = sufficient;
}
static void flag_all(struct call *c) { flag(c, false); }
static void flag_none(struct call *c) { flag(c, true); }

/** Part of a result in a buffer that is too small for it. */
static void write_behind(struct call *c) {
    for (uint32_t i = 0; is_short(c) && i < c->request->output_count; i++)
        if (!c->result->shapes[i].is_sufficient && c->outputs[i].data) c->outputs[i].data[c->outputs[i].bytes] ^= 0xff;
}

static void truncate_silently(struct call *c) {
    flag(c, true);
    if (is_short(c)) c->status = NNVTS_STATUS_NONE;
}

/** The extents that the buffer would hold, instead of those of the result. */
static void report_less(struct call *c) {
    for (uint32_t i = 0; is_short(c) && i < c->result->shape_count; i++) {
        struct nnvts_output_shape *s = &c->result->shapes[i];
        if (!s->is_sufficient && s->dimension_count && s->dimensions[0]) s->dimensions[0]--;
    }
}

/** What an execution that fell short has found is told by the next one that has as many outputs of these ranks. */
static void tell_later(struct call *c) {
    enum { OUTPUTS = 8 };
    static _Thread_local struct nnvts_output_shape found[OUTPUTS];
    static _Thread_local uint32_t count;
    const uint32_t n = c->result->shape_count < OUTPUTS ? c->result->shape_count : OUTPUTS;
    if (is_short(c)) memcpy(found, c->result->shapes, (count = n) * sizeof *found);
    if (!succeeded(c) || n != count) return;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t d = 0;
             found[i].dimension_count == c->result->shapes[i].dimension_count && d < found[i].dimension_count; d++)
            if (found[i].dimensions[d]) c->result->shapes[i].dimensions[d] = found[i].dimensions[d];
    count = 0;
}

/** All shapes with four extents, as the hardware has them. */
static void pad_ranks(struct call *c) {
    for (uint32_t i = 0; i < c->result->shape_count; i++) {
        struct nnvts_output_shape *s = &c->result->shapes[i];
        for (; s->dimension_count < 4; s->dimension_count++) s->dimensions[s->dimension_count] = 1;
    }
}

/** Tensors without a rank are taken for a mistake. */
static bool has_open_rank(const struct call *c) {
    for (uint32_t i = 0; i < c->model->main.operand_count; i++) {
        const struct nnvts_operand *o = &c->model->main.operands[i];
        if (o->lifetime == NNVTS_TEMPORARY_VARIABLE && o->dimension_count == 0 && nnv_type(o->type) &&
            nnv_type(o->type)->size && o->type != ANEURALNETWORKS_INT32)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ requests */

/** Executes with outputs that name no extents. */
static void forget_output_shapes(struct call *c) {
    const uint32_t n = c->request->output_count;
    struct nnvts_argument *outputs = call_alloc(c, n * sizeof *outputs);
    for (uint32_t i = 0; outputs && i < n; i++) {
        outputs[i] = c->request->outputs[i];
        outputs[i].dimension_count = 0;
        outputs[i].dimensions = NULL;
    }
    own_request(c)->outputs = outputs;
}

/** 1 + the rank that the model has for output 0. */
static void note_output_rank(struct call *c) {
    const struct nnvts_subgraph *m = c->kind == CALL_PREPARE && succeeded(c) ? &c->model->main : NULL;
    if (m && m->output_count) *state_of(*c->out) = (void *)(uintptr_t)(1 + m->operands[m->outputs[0]].dimension_count);
}

/** A shape of the right rank is the right one. */
static void compare_ranks_alone(struct call *c) {
    const struct nnvts_request *r = c->request;
    if (c->kind == CALL_EXECUTE && r->output_count && r->outputs &&
        1 + r->outputs[0].dimension_count == (uintptr_t)*state_of(c->prepared))
        forget_output_shapes(c);
}

/** The extents that a request states for its inputs, as one number. */
static uint64_t stated_extents(const struct nnvts_request *r) {
    uint64_t h = 1;
    for (uint32_t i = 0; i < r->input_count && r->inputs; i++)
        for (uint32_t d = 0; d < r->inputs[i].dimension_count && r->inputs[i].dimensions; d++)
            h = h * 1000003 + r->inputs[i].dimensions[d] + 1;
    return h;
}

/** A prepared model keeps the extents of its first execution. */
static void keep_extents(struct call *c) {
    if (!differs_from_first(c, c->kind == CALL_RELEASE ? 0 : stated_extents(c->request))) return;
    c->result->shape_count = 0;
    answer(c, NNVTS_STATUS_GENERAL_FAILURE);
}

/** What a prepared model allotted for the extents of its first execution is lost when others come. */
static void lose_extents(struct call *c) {
    static _Atomic(void *) used;
    static _Atomic uint64_t first, last;
    if (c->kind == CALL_RELEASE) {
        used = NULL;
        return;
    }
    const uint64_t extents = stated_extents(c->request);
    if (used != (void *)c->prepared) {
        used = c->prepared;
        first = extents;
    } else if (extents == first && last != first) {
        c->result->shape_count = 0;
        answer(c, NNVTS_STATUS_GENERAL_FAILURE);
    }
    last = extents;
}

/** An output whose room is larger than its result. */
static bool has_room(const struct call *c, uint32_t i) {
    const struct nnvts_output_shape *s = &c->result->shapes[i];
    uint64_t bytes = c->outputs[i].elem;
    for (uint32_t d = 0; d < s->dimension_count; d++) bytes *= s->dimensions[d];
    return c->request->outputs[i].location.length > bytes;
}

static void refuse_room(struct call *c) {
    bool any = false;
    for (uint32_t i = 0; succeeded(c) && i < c->result->shape_count; i++) any |= has_room(c, i);
    if (!any) return;
    c->result->shape_count = 0;
    c->status = NNVTS_STATUS_GENERAL_FAILURE;
}

static bool is_constant(const struct nnvts_operand *o) {
    return o->lifetime == NNVTS_CONSTANT_COPY || o->lifetime == NNVTS_CONSTANT_REFERENCE;
}

/** The number of the model's input that is its operation's bias, beside a constant filter; 0: there is none. */
static uintptr_t input_bias(const struct nnvts_model *model) {
    enum { FILTER = 1, BIAS = 2 };
    const struct nnvts_subgraph *m = &model->main;
    const struct nnvts_operation *op = m->operations;
    if (m->operation_count != 1 || op->input_count <= BIAS || !is_constant(&m->operands[op->inputs[FILTER]])) return 0;
    for (uint32_t i = 1; i < m->input_count; i++)
        if (m->inputs[i] == op->inputs[BIAS]) return i;
    return 0;
}

static void note_input_bias(struct call *c) {
    if (c->kind == CALL_PREPARE && succeeded(c)) *state_of(*c->out) = (void *)input_bias(c->model);
}

/** A layer with constant weights has a constant bias, or none: 0. */
static void ignore_input_bias(struct call *c) {
    const uintptr_t i = c->kind == CALL_EXECUTE ? (uintptr_t)*state_of(c->prepared) : 0;
    if (i == 0 || i >= c->request->input_count || c->request->inputs[i].has_no_value) return;
    const uint32_t bytes = c->request->inputs[i].location.length;
    uint8_t *zeros = call_alloc(c, bytes);
    if (zeros) replace_input(c, (uint32_t)i, zeros, bytes);
}

static const struct bug bugs[] = {
    BUG("shapes-unreported", "a driver that expects all shapes to be known", "all executions that succeed",
        .tamper = drop_shapes),
    BUG("short-flags-all", "one flag for all outputs", "executions with an output that is too small",
        .tamper = flag_all),
    BUG("short-flags-none", "flags that nobody sets", "executions with an output that is too small",
        .tamper = flag_none),
    BUG("short-overrun", "a result that is written before its size is compared",
        "executions with an output that is too small", .tamper = write_behind),
    BUG("short-truncated", "as much of a result as fits, and no word of it",
        "executions with an output that is too small", .tamper = truncate_silently),
    BUG("short-extent", "the shape of the buffer instead of that of the result",
        "executions with an output that is too small", .tamper = report_less),
    BUG("short-told-later", "shapes that an execution which fell short has found, in the next answer",
        "executions behind one with an output that is too small", .tamper = tell_later),
    BUG("room-refused", "a buffer that must be as large as the result", "executions with a larger output",
        .tamper = refuse_room),
    BUG("rank-padded", "shapes as the hardware has them", "all executions", .tamper = pad_ranks),
    BUG("open-rank-refused", "a rank of 0 taken for a mistake", "models with a temporary of unknown rank",
        .on = ON(SUPPORTED), .when = has_open_rank, .to = NNVTS_STATUS_INVALID_ARGUMENT),
    BUG("output-shape-ignored", "a request whose output shapes nobody reads", "all executions", .on = ON(EXECUTE),
        .before = forget_output_shapes),
    BUG("output-extents-ignored", "a request of whose output shapes only the rank is read",
        "executions whose output 0 has its rank", .on = ON(PREPARE) | ON(EXECUTE), .before = compare_ranks_alone,
        .after = note_output_rank),
    BUG("extents-kept", "shapes that are worked out once", "executions on other extents than the one before",
        .on = ON(EXECUTE) | ON(RELEASE), .before = keep_extents),
    BUG("extents-lost", "memory for the first shapes that goes when it is grown",
        "executions on the extents of the first, behind one on others", .on = ON(EXECUTE) | ON(RELEASE),
        .before = lose_extents),
    BUG_OF(CONV_2D, "input-bias-ignored", "weights and bias taken for constants alike",
           "CONV_2D alone with a constant filter and a bias that is an input", .alone = true,
           .on = ON(PREPARE) | ON(EXECUTE), .before = ignore_input_bias, .after = note_input_bias),
    BUG("fenced-open-fails", "a missing check at the launch of a fenced execution",
        "fenced executions with outputs of unknown shape", .on = ON(FENCED), .from = WAS(INVALID_ARGUMENT),
        .to = NNVTS_STATUS_GENERAL_FAILURE),
};
const struct bug_group bugs_shapes = {bugs, sizeof bugs / sizeof *bugs};
