/* SPDX-License-Identifier: Apache-2.0 */
/** @file recurrent.c RNN, UNIDIRECTIONAL_SEQUENCE_RNN, SVDF, and what the recurrent operations share. */
#include "recurrent.h"

#include <string.h>

#include "move.h"

bool cpu_recurrent_activation_ok(const struct cpu_call *c, uint32_t input) {
    return cpu_int_within(c, input, 0, CPU_ACT_SIGMOID) && cpu_int(c, input, 0) != 5;
}

void cpu_recurrent_activate(const struct cpu_kernels *kernels, int32_t activation, size_t n, float *x) {
    switch (activation) {
    case ANEURALNETWORKS_FUSED_RELU:
        kernels->clamp_f32(n, x, 0, INFINITY, x);
        break;
    case ANEURALNETWORKS_FUSED_RELU1:
        kernels->clamp_f32(n, x, -1, 1, x);
        break;
    case ANEURALNETWORKS_FUSED_RELU6:
        kernels->clamp_f32(n, x, 0, 6, x);
        break;
    case CPU_ACT_TANH:
        kernels->tanh_f32(n, x, x);
        break;
    case CPU_ACT_SIGMOID:
        kernels->logistic_f32(n, x, x);
        break;
    default:
        break;
    }
}

void cpu_recurrent_product(const struct cpu_kernels *kernels, const struct cpu_tensor *weights, size_t batch,
                           const float *x, float *y) {
    const size_t units = weights->shape.dims[0], inputs = weights->shape.dims[1];
    const float *w = weights->data;
    for (size_t u = 0; u < units; u++, w += inputs)
        for (size_t b = 0; b < batch; b++) y[b * units + u] += kernels->dot_f32(inputs, x + b * inputs, w);
}

/* ------------------------------------------------------------------ sequences */

/** [inner, outer, values] from [outer, inner, values]. */
static void swap_outer(struct cpu_run *run, const struct cpu_tensor *t, size_t outer, size_t inner, const void *from,
                       void *to) {
    const ptrdiff_t n = (ptrdiff_t)t->shape.dims[2];
    struct cpu_move m = cpu_move_of(t);
    cpu_move_axis(&m, inner, n, (ptrdiff_t)outer * n);
    cpu_move_axis(&m, outer, (ptrdiff_t)inner * n, n);
    cpu_move_axis(&m, (size_t)n, 1, 1);
    cpu_move_run(run->threads, &m, from, to);
}

const float *cpu_recurrent_in(struct cpu_run *run, const struct cpu_tensor *t, bool time_major) {
    if (time_major) return t->data;
    float *copy = cpu_scratch(run, cpu_count(t) * sizeof *copy);
    if (copy) swap_outer(run, t, t->shape.dims[0], t->shape.dims[1], t->data, copy);
    return copy;
}

float *cpu_recurrent_out(struct cpu_run *run, const struct cpu_tensor *out, bool time_major) {
    return time_major ? out->data : cpu_scratch(run, cpu_count(out) * sizeof(float));
}

void cpu_recurrent_done(struct cpu_run *run, const struct cpu_tensor *out, bool time_major, const float *data) {
    if (!time_major) swap_outer(run, out, out->shape.dims[1], out->shape.dims[0], data, out->data);
}

/* ------------------------------------------------------------------------ RNN */

/** RNN is the sequence of one step, whose input has no time. */
enum { RNN_X, RNN_W, RNN_R, RNN_BIAS, RNN_H, RNN_ACT, RNN_TIME_MAJOR };

static bool is_sequence(const struct cpu_call *c) {
    return c->node->code == ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_RNN;
}

static bool is_time_major(const struct cpu_call *c) { return is_sequence(c) && cpu_int(c, RNN_TIME_MAJOR, 0) != 0; }

static bool check_rnn(const struct cpu_call *c) {
    return cpu_recurrent_activation_ok(c, RNN_ACT) && cpu_int_within(c, RNN_TIME_MAJOR, 0, 1) &&
           cpu_shape_fits(cpu_in(c, RNN_X), is_sequence(c) ? 3 : 2, CPU_UNKNOWN, CPU_UNKNOWN) &&
           cpu_shape_fits(cpu_in(c, RNN_W), 2, CPU_UNKNOWN, CPU_UNKNOWN);
}

static bool infer_rnn(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, RNN_X)->shape;
    const uint32_t *w = cpu_in(c, RNN_W)->shape.dims, batch = x->dims[is_time_major(c)];
    if (!cpu_agree(x->dims[x->rank - 1], w[1]) || !cpu_shape_fits(cpu_in(c, RNN_R), 2, w[0], w[0]) ||
        !cpu_shape_fits(cpu_in(c, RNN_BIAS), 1, w[0], 0) || !cpu_shape_fits(cpu_in(c, RNN_H), 2, batch, w[0]))
        return false;
    c->out_shapes[0] = *x; /* of a single step that is the hidden state: the same as the output */
    c->out_shapes[0].dims[x->rank - 1] = w[0];
    c->out_shapes[1] = (struct cpu_shape){2, {batch, w[0]}};
    return true;
}

/** What the inputs give is computed for all steps at once; then each step adds what its predecessor gives. */
static bool run_rnn(struct cpu_call *c) {
    const bool time_major = !is_sequence(c) || is_time_major(c);
    const struct cpu_tensor *in = cpu_in(c, RNN_X), *w = cpu_in(c, RNN_W);
    const size_t batch = cpu_in(c, RNN_H)->shape.dims[0], units = w->shape.dims[0];
    const size_t rows = cpu_extent(&in->shape, 0, in->shape.rank - 1); /* steps times batch */
    const float *x = cpu_recurrent_in(c->run, in, time_major), *h = cpu_in(c, RNN_H)->data;
    float *all = cpu_recurrent_out(c->run, cpu_out(c, 0), time_major), *y = all;
    if (!x || !y) return false;
    for (size_t i = 0; i < rows; i++) memcpy(y + i * units, cpu_in(c, RNN_BIAS)->data, units * sizeof *y);
    cpu_recurrent_product(c->kernels, w, rows, x, y);
    for (size_t t = 0; t < rows; t += batch, h = y, y += batch * units) {
        cpu_recurrent_product(c->kernels, cpu_in(c, RNN_R), batch, h, y);
        cpu_recurrent_activate(c->kernels, cpu_int(c, RNN_ACT, 0), batch * units, y);
    }
    if (c->node->out_count > 1) memcpy(cpu_out(c, 1)->data, h, batch * units * sizeof *y);
    cpu_recurrent_done(c->run, cpu_out(c, 0), time_major, all);
    return true;
}

const struct cpu_op_fns cpu_op_rnn = {.check = check_rnn, .infer = infer_rnn, .run = run_rnn};

/* ----------------------------------------------------------------------- SVDF */

enum { SVDF_X, SVDF_FEATURE, SVDF_TIME, SVDF_BIAS, SVDF_STATE, SVDF_RANK, SVDF_ACT };

static bool check_svdf(const struct cpu_call *c) {
    return cpu_recurrent_activation_ok(c, SVDF_ACT) && cpu_int_within(c, SVDF_RANK, 1, INT32_MAX) &&
           cpu_shape_fits(cpu_in(c, SVDF_X), 2, CPU_UNKNOWN, CPU_UNKNOWN) &&
           cpu_shape_fits(cpu_in(c, SVDF_FEATURE), 2, CPU_UNKNOWN, CPU_UNKNOWN) &&
           cpu_shape_fits(cpu_in(c, SVDF_TIME), 2, CPU_UNKNOWN, CPU_UNKNOWN);
}

static bool infer_svdf(struct cpu_call *c) {
    const struct cpu_shape *x = &cpu_in(c, SVDF_X)->shape, *feature = &cpu_in(c, SVDF_FEATURE)->shape,
                           *time = &cpu_in(c, SVDF_TIME)->shape;
    const uint32_t batch = x->dims[0], rank = (uint32_t)cpu_int(c, SVDF_RANK, 1), memory = time->dims[1];
    if (!cpu_agree(x->dims[1], feature->dims[1]) || !cpu_agree(feature->dims[0], time->dims[0])) return false;
    const uint32_t filters = cpu_merge(feature->dims[0], time->dims[0]);
    const bool known = filters != CPU_UNKNOWN;
    if (known && filters % rank != 0) return false;
    const uint32_t units = known ? filters / rank : CPU_UNKNOWN;
    const uint64_t state = known && memory != CPU_UNKNOWN ? (uint64_t)filters * memory : CPU_UNKNOWN;
    if (state > CPU_UNKNOWN) return false;
    if (!cpu_shape_fits(cpu_optional(c, SVDF_BIAS), 1, units, 0) ||
        !cpu_shape_fits(cpu_in(c, SVDF_STATE), 2, batch, (uint32_t)state))
        return false;
    c->out_shapes[0] = (struct cpu_shape){2, {batch, (uint32_t)state}};
    c->out_shapes[1] = (struct cpu_shape){2, {batch, units}};
    return true;
}

static bool run_svdf(struct cpu_call *c) {
    const struct cpu_kernels *k = c->run->kernels;
    const struct cpu_tensor *feature = cpu_in(c, SVDF_FEATURE), *time = cpu_in(c, SVDF_TIME),
                            *bias = cpu_optional(c, SVDF_BIAS);
    const size_t batch = cpu_in(c, SVDF_X)->shape.dims[0], filters = feature->shape.dims[0],
                 memory = time->shape.dims[1];
    const size_t rank = (size_t)cpu_int(c, SVDF_RANK, 1);
    if (rank == 0 || filters == 0) return false;
    const size_t units = filters / rank;
    float *state = cpu_out(c, 0)->data, *y = cpu_out(c, 1)->data;
    float *newest = cpu_scratch(c->run, batch * filters * sizeof *newest);
    if (!newest) return false;
    memset(newest, 0, batch * filters * sizeof *newest);
    cpu_recurrent_product(k, feature, batch, cpu_in(c, SVDF_X)->data, newest);
    memcpy(state, cpu_in(c, SVDF_STATE)->data, batch * filters * memory * sizeof *state);
    for (size_t b = 0; b < batch; b++)
        for (size_t u = 0; u < units; u++) y[b * units + u] = bias ? ((const float *)bias->data)[u] : 0;
    for (size_t i = 0; i < batch * filters; i++) {
        float *s = state + i * memory;
        const size_t filter = i % filters;
        s[memory - 1] = newest[i];
        y[i / filters * units + filter / rank] += k->dot_f32(memory, s, (const float *)time->data + filter * memory);
        memmove(s, s + 1, (memory - 1) * sizeof *s);
        s[memory - 1] = 0;
    }
    cpu_recurrent_activate(k, cpu_int(c, SVDF_ACT, 0), batch * units, y);
    return true;
}

const struct cpu_op_fns cpu_op_svdf = {.check = check_svdf, .infer = infer_svdf, .run = run_svdf};
