/* SPDX-License-Identifier: Apache-2.0 */
/** @file state.c Bugs of state and order as drivers in the field have had them: what an execution leaves behind.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "requests.h"

/* -------------------------------------------------------------- past executions */

/** What is kept of the executions of a prepared model. */
struct past {
    bool failed;
    uint32_t bytes;
    uint32_t rank, dims[8];
    uint8_t *value; /**< of bytes */
};

static struct past *past_of(struct call *c) {
    void **state = state_of(c->prepared);
    if (!*state) *state = calloc(1, sizeof(struct past));
    return *state;
}

static void forget(struct call *c) {
    struct past *p = *state_of(c->prepared);
    if (p) free(p->value);
    free(p);
}

/** Keeps the value of an output; false when out of memory. */
static bool remember(struct past *p, const struct value *v) {
    uint8_t *value = realloc(p->value, v->bytes + 1u);
    if (!value) return false;
    memcpy(value, v->data, v->bytes);
    p->value = value;
    p->bytes = v->bytes;
    return true;
}

static const struct value *first_output(const struct call *c) {
    const struct value *v = c->outputs;
    return succeeded(c) && c->request->output_count && v->data && v->elem && v->bytes >= v->elem ? v : NULL;
}

/** The last number comes an execution late. */
static void late_number(struct call *c) {
    const struct value *v = first_output(c);
    struct past *p = v ? past_of(c) : NULL;
    uint8_t last[8];
    if (!p || v->elem > sizeof last) return;
    const struct value number = {.data = v->data + v->bytes - v->elem, .bytes = v->elem};
    memcpy(last, number.data, v->elem);
    if (p->bytes == v->elem) memcpy(number.data, p->value, v->elem);
    const struct value kept = {.data = last, .bytes = v->elem};
    remember(p, &kept);
}

/** A buffer for the longest result so far is not written to its end by shorter ones. */
static void longest_result(struct call *c) {
    const struct value *v = first_output(c);
    struct past *p = v ? past_of(c) : NULL;
    if (!p) return;
    if (v->bytes < p->bytes)
        memcpy(v->data + v->bytes - v->elem, p->value + v->bytes - v->elem, v->elem);
    else
        remember(p, v);
}

/** The first shape is the shape of all results. */
static void first_shape(struct call *c) {
    struct past *p = succeeded(c) && c->result->shape_count ? past_of(c) : NULL;
    struct nnvts_output_shape *s = c->result->shapes;
    if (!p || s->dimension_count > 8) return;
    if (!p->rank) memcpy(p->dims, s->dimensions, s->dimension_count * sizeof *s->dimensions);
    if (!p->rank) p->rank = s->dimension_count;
    if (p->rank == s->dimension_count) memcpy(s->dimensions, p->dims, p->rank * sizeof *p->dims);
}

/** The first parameter that is an input stays what it was in the first execution. */
static void keep_parameter(struct call *c) {
    const struct faulty_prepared *model = (const struct faulty_prepared *)c->prepared;
    if (c->kind == CALL_RELEASE) {
        forget(c);
        return;
    }
    for (uint32_t i = 1; i < model->nin && i < c->request->input_count; i++) {
        const struct nnvts_argument *a = &c->request->inputs[i];
        if (model->inputs[i].type != ANEURALNETWORKS_TENSOR_INT32 || a->has_no_value) continue;
        const struct value v = {.data = data_of(c->request, a), .bytes = a->location.length};
        struct past *p = v.data ? past_of(c) : NULL;
        if (p && !p->value)
            remember(p, &v);
        else if (p && p->bytes == v.bytes)
            replace_input(c, i, p->value, p->bytes);
        return;
    }
}

/* --------------------------------------------------------------- recurrent state */

/** What output 0, the state, was: the caller's own is not read. */
static void keep_state(struct call *c) {
    const struct value *v = first_output(c);
    struct past *p = v ? past_of(c) : NULL;
    if (p) remember(p, v);
}

static void use_state(struct call *c) {
    const struct faulty_prepared *model = (const struct faulty_prepared *)c->prepared;
    const struct past *p = *state_of(c->prepared);
    const struct nnvts_request *r = c->request;
    if (c->kind == CALL_RELEASE) {
        forget(c);
        return;
    }
    for (uint32_t i = r->input_count; p && p->value && i-- > 1;) {
        if (i >= model->nin || model->inputs[i].type != model->outputs[0].type) continue;
        if (r->inputs[i].has_no_value || r->inputs[i].location.length != p->bytes) continue;
        replace_input(c, i, p->value, p->bytes);
        return;
    }
}

/* ------------------------------------------------------------- after a failure */

static void after_failure(struct call *c) {
    if (c->kind == CALL_RELEASE) {
        forget(c);
        return;
    }
    struct past *p = past_of(c);
    if (p && !succeeded(c)) p->failed = true;
}

static void restore(const struct call *c, const struct value *v) { (void)c, memcpy(v->data, v->before, v->bytes); }

/** The next execution finds the device as the failed one left it. */
static void write_nothing(struct call *c) {
    struct past *p = past_of(c);
    if (!p || !p->failed || !succeeded(c)) return;
    each_output(c, restore);
    p->failed = false;
}

/* ------------------------------------------------------------------- neighbours */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/** Whose result was the last, and its first number. */
static struct {
    const struct nnvts_prepared_model *of;
    uint8_t number[8];
    uint32_t elem;
} head;

/** The first number of a result lies where another prepared model has left its own. */
static void shared_head(struct call *c) {
    const struct value *v = first_output(c);
    uint8_t own[sizeof head.number];
    if (!v || v->elem > sizeof own) return;
    pthread_mutex_lock(&lock);
    memcpy(own, v->data, v->elem);
    if (head.of && head.of != c->prepared && head.elem == v->elem) memcpy(v->data, head.number, v->elem);
    memcpy(head.number, own, v->elem);
    head.elem = v->elem;
    head.of = c->prepared;
    pthread_mutex_unlock(&lock);
}

static void release_head(struct call *c) {
    pthread_mutex_lock(&lock);
    if (head.of == c->prepared) head.of = NULL;
    pthread_mutex_unlock(&lock);
}

static atomic_int open_devices;
static atomic_bool context_lost;

static void open_context(struct nnvts_device *device) {
    (void)device;
    if (atomic_fetch_add(&open_devices, 1) == 0) atomic_store(&context_lost, false);
}

/** The context that devices share goes with the first that is closed. */
static void close_context(struct call *c) {
    if (c->kind == CALL_CLOSE) {
        if (atomic_fetch_sub(&open_devices, 1) > 1) atomic_store(&context_lost, true);
    } else if (atomic_load(&context_lost)) {
        flip_outputs(c);
    }
}

/** Results are counted in 8 bits: of the last number nobody waits for the end. */
static void counted_in_a_byte(struct call *c) {
    if (c->count % 256 == 255) flip_outputs(c);
}

/* --------------------------------------------------------------- other kernels */

/** The low half of each number is lost. */
static void halve(const struct call *c, const struct value *v) {
    (void)c;
    for (uint32_t i = 0; is_float32(v->type) && i + 4 <= v->bytes; i += 4) memset(v->data + i, 0, 2);
}

static void timed_kernel(struct call *c) {
    if (c->execution_config && c->execution_config->measure_timing) each_output(c, halve);
}

static char low_power;
static void note_preference(struct call *c) {
    if (succeeded(c) && c->config && c->config->preference == ANEURALNETWORKS_PREFER_LOW_POWER)
        *state_of(*c->out) = &low_power;
}
static void economise(struct call *c) {
    if (*state_of(c->prepared) == &low_power) each_output(c, halve);
}

/* -------------------------------------------------------- kernels kept by shape */

enum { SCALARS = 16, KERNELS = 512 };

/** Scalars of an operation, as they were when a kernel for its shapes was first built. */
struct kernel {
    int32_t code, type;
    uint32_t nin, in_rank, out_rank, in[4], out[4];
    double value[SCALARS];
};

static bool shapes_of(struct nnv_edit *e, struct kernel *k) {
    const struct nnv_shape *x = &e->call->in[0].shape, *y = &e->call->out[0].shape;
    if (!nnv_shape_known(x) || !nnv_shape_known(y) || x->rank > 4 || y->rank > 4) return false;
    k->in_rank = x->rank;
    k->out_rank = y->rank;
    memcpy(k->in, x->dims, x->rank * sizeof *k->in);
    memcpy(k->out, y->dims, y->rank * sizeof *k->out);
    return true;
}

/** Scalar i of the operation; NULL: it is none. */
static double *scalar(struct nnv_edit *e, uint32_t i) {
    size_t n = 0;
    const struct nnv_operand *o = nnv_edit_operand(e, (int)i);
    const struct nnv_type *type = nnv_type(o->type);
    if (!nnv_is_constant(o) || !type || type->tensor) return NULL;
    double *v = nnv_edit_numbers(e, (int)i, &n);
    return n == 1 ? v : NULL;
}

static bool kernel_by_shape(struct nnv_edit *e) {
    static struct kernel kernels[KERNELS];
    static size_t count;
    struct kernel own = {
        .code = nnv_edit_op(e)->type, .type = e->call->out[0].operand->type, .nin = nnv_edit_op(e)->nin};
    bool changed = false;
    size_t k = 0;
    if (own.nin < 2 || own.nin > SCALARS || !shapes_of(e, &own)) return false;
    for (uint32_t i = 0; i < own.nin; i++) {
        const double *v = scalar(e, i);
        if (v) own.value[i] = *v;
    }
    pthread_mutex_lock(&lock);
    while (k < count && memcmp(&kernels[k], &own, offsetof(struct kernel, value)) != 0) k++;
    if (k == count && count < KERNELS) kernels[count++] = own;
    for (uint32_t i = 0; k < count && i < own.nin; i++) {
        if (!scalar(e, i) || kernels[k].value[i] == own.value[i]) continue;
        nnv_edit_set_numbers(e, (int)i, &kernels[k].value[i], 1);
        changed = true;
    }
    pthread_mutex_unlock(&lock);
    return changed;
}

#define AND_FORGET .on = ON(RELEASE), .before = forget

static const struct bug bugs[] = {
    BUG("last-number-late", "the end of a result is written by the next execution",
        "executions behind the first of a prepared model", .tamper = late_number, AND_FORGET),
    BUG("shorter-after-longer", "a buffer that stays as long as the longest result",
        "executions of smaller extents behind larger ones", .tamper = longest_result, AND_FORGET),
    BUG("first-shape-reported", "shapes are reported as they were at first",
        "executions of other extents than the first", .tamper = first_shape, AND_FORGET),
    BUG("parameter-kept", "begins, axes and paddings that are read once",
        "executions with another value of the first such input of a model", .on = ON(EXECUTE) | ON(RELEASE),
        .before = keep_parameter),
    BUG_OF(RNN, "rnn-state-kept", "the state of the last execution instead of the caller's",
           "RNN: executions behind the first", .tamper = keep_state, .on = ON(EXECUTE) | ON(RELEASE),
           .before = use_state),
    BUG_OF(SVDF, "svdf-state-kept", "the state of the last execution instead of the caller's",
           "SVDF: executions behind the first", .tamper = keep_state, .on = ON(EXECUTE) | ON(RELEASE),
           .before = use_state),
    BUG("after-failure-unwritten", "results behind a failure are not written", "the execution behind one that failed",
        .tamper = write_nothing, .on = ON(EXECUTE) | ON(RELEASE), .after = after_failure),
    BUG("models-share-head", "the first number of another prepared model's result",
        "two prepared models executed by turns", .tamper = shared_head, .on = ON(RELEASE), .before = release_head),
    BUG("closed-by-another", "a context that goes with the first device that is closed",
        "executions after another device of the process was closed", .device = open_context,
        .on = ON(CLOSE) | ON(EXECUTE), .after = close_context),
    BUG("executions-in-a-byte", "executions counted in 8 bits", "each 256th execution of a process",
        .tamper = counted_in_a_byte),
    BUG("timed-kernel", "kernels that can be timed compute less precisely", "executions that are measured",
        .tamper = timed_kernel),
    BUG("low-power-precision", "numbers of 16 bits to save power, which nobody allowed",
        "models prepared for low power", .on = ON(PREPARE), .after = note_preference, .tamper = economise),
    BUG("kernel-by-shape", "a cache of kernels that is looked up by shapes alone",
        "an operation of shapes that were seen before with other scalars", .rewrite = kernel_by_shape),
};
const struct bug_group bugs_wild_state = {bugs, sizeof bugs / sizeof *bugs};
