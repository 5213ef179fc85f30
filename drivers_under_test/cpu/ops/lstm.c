/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lstm.c LSTM, one step, and UNIDIRECTIONAL_SEQUENCE_LSTM; with coupled gates, peepholes, projection and layer
 * normalisation where given.
 */
#include <string.h>

#include "recurrent.h"

enum {
    X = 0,
    INPUT_WEIGHTS = 1,     /* of gates i?, f, g, o */
    RECURRENT_WEIGHTS = 5, /* i?, f, g, o */
    PEEPHOLE_I = 9,        /* all optional */
    PEEPHOLE_F = 10,
    PEEPHOLE_O = 11,
    BIASES = 12, /* i?, f, g, o */
    PROJECTION = 16,
    PROJECTION_BIAS = 17,
    STATE = 18,
    CELL = 19,
    ACTIVATION = 20,
    CELL_CLIP = 21,
    PROJECTION_CLIP = 22,
    TIME_MAJOR = 23,   /* of a sequence: the weights below stand one further on */
    NORM_WEIGHTS = 23, /* i?, f, g, o */
};
enum { GATE_I, GATE_F, GATE_G, GATE_O, GATES };
enum { OUT_SCRATCH, OUT_STATE, OUT_CELL, OUT_Y };
enum { SEQUENCE_Y, SEQUENCE_STATE, SEQUENCE_CELL };
static const double norm_epsilon = 1e-8;

static bool is_sequence(const struct cpu_call *c) {
    return c->node->code == ANEURALNETWORKS_UNIDIRECTIONAL_SEQUENCE_LSTM;
}

static uint32_t norm_at(const struct cpu_call *c) { return NORM_WEIGHTS + (is_sequence(c) ? 1 : 0); }

/** While the model is checked, an input of the model may still turn out to be omitted. */
static bool undecided(const struct cpu_call *c, uint32_t i) {
    return !c->run && i < c->node->in_count && c->tensors[c->node->in[i]].lifetime == NNVTS_SUBGRAPH_INPUT;
}

static bool same_presence(const struct cpu_call *c, uint32_t a, uint32_t b) {
    return undecided(c, a) || undecided(c, b) || (cpu_optional(c, a) != NULL) == (cpu_optional(c, b) != NULL);
}

/** Optional inputs come in sets. */
static bool sets_complete(const struct cpu_call *c) {
    const uint32_t norm = norm_at(c);
    const bool norm_ok =
        same_presence(c, norm + GATE_F, norm + GATE_G) && same_presence(c, norm + GATE_F, norm + GATE_O);
    const bool gate_ok = same_presence(c, INPUT_WEIGHTS, RECURRENT_WEIGHTS) && same_presence(c, INPUT_WEIGHTS, BIASES);
    const bool peephole_ok = same_presence(c, PEEPHOLE_F, PEEPHOLE_O);
    if (!norm_ok || !gate_ok || !peephole_ok) return false;
    if (!undecided(c, PROJECTION) && !cpu_optional(c, PROJECTION) && !undecided(c, PROJECTION_BIAS) &&
        cpu_optional(c, PROJECTION_BIAS))
        return false;
    if (undecided(c, INPUT_WEIGHTS)) return true;
    if (cpu_optional(c, INPUT_WEIGHTS))
        return same_presence(c, PEEPHOLE_I, PEEPHOLE_F) && same_presence(c, norm, norm + GATE_F);
    return (undecided(c, PEEPHOLE_I) || !cpu_optional(c, PEEPHOLE_I)) && (undecided(c, norm) || !cpu_optional(c, norm));
}

static bool check(const struct cpu_call *c) {
    return cpu_recurrent_activation_ok(c, ACTIVATION) && cpu_float(c, CELL_CLIP, 0) >= 0 &&
           cpu_float(c, PROJECTION_CLIP, 0) >= 0 && sets_complete(c);
}

struct sizes {
    uint32_t batch, inputs, units, outputs;
    uint32_t time; /**< steps */
    bool time_major;
};

static bool read_sizes(const struct cpu_call *c, struct sizes *s) {
    const struct cpu_shape *x = &cpu_in(c, X)->shape, *w = &cpu_in(c, INPUT_WEIGHTS + GATE_F)->shape,
                           *r = &cpu_in(c, RECURRENT_WEIGHTS + GATE_F)->shape;
    const bool sequence = is_sequence(c), time_major = sequence && cpu_int(c, TIME_MAJOR, 0) != 0;
    if (x->rank != (sequence ? 3 : 2) || w->rank != 2 || r->rank != 2) return false;
    *s = (struct sizes){x->dims[time_major], x->dims[x->rank - 1], w->dims[0], r->dims[1], 1, time_major};
    if (sequence) s->time = x->dims[!time_major];
    return true;
}

static bool shapes_agree(const struct cpu_call *c, const struct sizes *s) {
    for (uint32_t g = 0; g < GATES; g++) {
        const bool ok = cpu_shape_fits(cpu_optional(c, INPUT_WEIGHTS + g), 2, s->units, s->inputs) &&
                        cpu_shape_fits(cpu_optional(c, RECURRENT_WEIGHTS + g), 2, s->units, s->outputs) &&
                        cpu_shape_fits(cpu_optional(c, BIASES + g), 1, s->units, 0) &&
                        cpu_shape_fits(cpu_optional(c, norm_at(c) + g), 1, s->units, 0);
        if (!ok) return false;
    }
    for (uint32_t p = PEEPHOLE_I; p <= PEEPHOLE_O; p++)
        if (!cpu_shape_fits(cpu_optional(c, p), 1, s->units, 0)) return false;
    if (!cpu_optional(c, PROJECTION) && !cpu_agree(s->units, s->outputs)) return false;
    return cpu_shape_fits(cpu_optional(c, PROJECTION), 2, s->outputs, s->units) &&
           cpu_shape_fits(cpu_optional(c, PROJECTION_BIAS), 1, s->outputs, 0) &&
           cpu_shape_fits(cpu_in(c, STATE), 2, s->batch, s->outputs) &&
           cpu_shape_fits(cpu_in(c, CELL), 2, s->batch, s->units);
}

static bool infer(struct cpu_call *c) {
    struct sizes s;
    if (!read_sizes(c, &s) || !shapes_agree(c, &s)) return false;
    const uint32_t gates = cpu_optional(c, INPUT_WEIGHTS) ? GATES : GATES - 1;
    const bool known = s.units != CPU_UNKNOWN && !undecided(c, INPUT_WEIGHTS);
    if (known && (uint64_t)s.units * gates >= UINT32_MAX) return false;
    c->out_shapes[OUT_SCRATCH] = (struct cpu_shape){2, {s.batch, known ? s.units * gates : CPU_UNKNOWN}};
    c->out_shapes[OUT_STATE] = c->out_shapes[OUT_Y] = (struct cpu_shape){2, {s.batch, s.outputs}};
    c->out_shapes[OUT_CELL] = (struct cpu_shape){2, {s.batch, s.units}};
    return true;
}

/** The cells of all batches, at one step. */
struct step {
    const struct cpu_call *c;
    const struct cpu_kernels *kernels;
    size_t batch, units, outputs;
    const float *state, *before; /**< output state and cells of the step before */
    float *gate[GATES];          /**< [batch, units] each: what the step's input gives; then the gate */
};

static const float *values(const struct cpu_call *c, uint32_t i) {
    const struct cpu_tensor *t = cpu_optional(c, i);
    return t ? t->data : NULL;
}

/** (z - mean) / sqrt(variance + epsilon) * weights, along the units of each batch. */
static void normalise(const struct step *s, float *z, const float *weights) {
    for (size_t b = 0; b < s->batch; b++, z += s->units) {
        double sum = 0, squares = 0;
        for (size_t u = 0; u < s->units; u++) sum += (double)z[u];
        const double mean = sum / (double)s->units;
        for (size_t u = 0; u < s->units; u++) squares += ((double)z[u] - mean) * ((double)z[u] - mean);
        const double deviation = sqrt(squares / (double)s->units + norm_epsilon);
        for (size_t u = 0; u < s->units; u++) z[u] = (float)(((double)z[u] - mean) / deviation * (double)weights[u]);
    }
}

/** What the inputs of `rows` steps and batches give to gate g; with the bias, unless that follows a normalisation. */
static void gate_input(const struct cpu_call *c, const struct cpu_kernels *kernels, uint32_t g, size_t rows,
                       const float *x, float *z) {
    const struct cpu_tensor *weights = cpu_optional(c, INPUT_WEIGHTS + g);
    const float *bias = cpu_optional(c, norm_at(c) + g) ? NULL : values(c, BIASES + g);
    if (!weights) return;
    const size_t units = weights->shape.dims[0];
    for (size_t i = 0; i < rows; i++, z += units)
        if (bias)
            memcpy(z, bias, units * sizeof *z);
        else
            memset(z, 0, units * sizeof *z);
    cpu_recurrent_product(kernels, weights, rows, x, z - rows * units);
}

/** Gate g before its activation; cell: what a peephole looks at. */
static void gate(const struct step *s, uint32_t g, const float *peephole, const float *cell) {
    const struct cpu_call *c = s->c;
    const float *bias = values(c, BIASES + g), *norm = values(c, norm_at(c) + g);
    const size_t count = s->batch * s->units;
    float *z = s->gate[g];
    cpu_recurrent_product(s->kernels, cpu_in(c, RECURRENT_WEIGHTS + g), s->batch, s->state, z);
    for (size_t i = 0; i < count && peephole; i++) z[i] += peephole[i % s->units] * cell[i];
    if (!norm) return;
    normalise(s, z, norm);
    for (size_t i = 0; i < count; i++) z[i] += bias[i % s->units];
}

static void clip(const struct step *s, uint32_t input, size_t count, float *x) {
    const float limit = cpu_float(s->c, input, 0);
    if (limit > 0) s->kernels->clamp_f32(count, x, -limit, limit, x);
}

/** The output state from the cells' output m: m itself, or its projection. */
static void project(const struct step *s, const float *m, float *y) {
    const struct cpu_tensor *projection = cpu_optional(s->c, PROJECTION);
    const float *bias = values(s->c, PROJECTION_BIAS);
    const size_t count = s->batch * s->outputs;
    if (!projection) {
        memcpy(y, m, count * sizeof *y);
        return;
    }
    for (size_t i = 0; i < count; i++) y[i] = bias ? bias[i % s->outputs] : 0;
    cpu_recurrent_product(s->kernels, projection, s->batch, m, y);
    clip(s, PROJECTION_CLIP, count, y);
}

/** cell may be s->before. m: room for the cells' outputs. */
static void compute(const struct step *s, float *cell, float *m, float *y) {
    const struct cpu_call *c = s->c;
    const struct cpu_kernels *k = s->kernels;
    const int32_t activation = cpu_int(c, ACTIVATION, 0);
    const size_t count = s->batch * s->units;
    const float *before = s->before;
    const bool coupled = !cpu_optional(c, INPUT_WEIGHTS);
    float *const *z = s->gate;
    gate(s, GATE_F, values(c, PEEPHOLE_F), before);
    k->logistic_f32(count, z[GATE_F], z[GATE_F]);
    if (!coupled) {
        gate(s, GATE_I, values(c, PEEPHOLE_I), before);
        k->logistic_f32(count, z[GATE_I], z[GATE_I]);
    }
    gate(s, GATE_G, NULL, NULL);
    cpu_recurrent_activate(k, activation, count, z[GATE_G]);
    for (size_t i = 0; i < count; i++) {
        const float in = coupled ? 1 - z[GATE_F][i] : z[GATE_I][i];
        cell[i] = z[GATE_F][i] * before[i] + in * z[GATE_G][i];
    }
    clip(s, CELL_CLIP, count, cell);
    gate(s, GATE_O, values(c, PEEPHOLE_O), cell);
    k->logistic_f32(count, z[GATE_O], z[GATE_O]);
    memcpy(m, cell, count * sizeof *m);
    cpu_recurrent_activate(k, activation, count, m);
    for (size_t i = 0; i < count; i++) m[i] *= z[GATE_O][i];
    project(s, m, y);
}

/** All steps from x, [time, batch, inputs], to y; the cells' last values come to stand in cell. */
static bool compute_steps(const struct cpu_call *c, const struct sizes *sizes, const float *x, float *cell, float *y) {
    struct step s = {
        .c = c,
        .kernels = c->run->kernels,
        .batch = sizes->batch,
        .units = sizes->units,
        .outputs = sizes->outputs,
        .state = values(c, STATE),
        .before = values(c, CELL),
    };
    const size_t count = s.batch * s.units, rows = (size_t)sizes->time * s.batch;
    float *room = cpu_scratch(c->run, (GATES * rows * s.units + count) * sizeof *room);
    if (!room) return false;
    float *m = room + GATES * rows * s.units;
    for (uint32_t g = 0; g < GATES; g++) {
        s.gate[g] = room + g * rows * s.units;
        gate_input(c, s.kernels, g, rows, x, s.gate[g]);
    }
    for (uint32_t t = 0; t < sizes->time; t++, y += s.batch * s.outputs) {
        compute(&s, cell, m, y);
        s.state = y;
        s.before = cell;
        for (uint32_t g = 0; g < GATES; g++) s.gate[g] += count;
    }
    return true;
}

/* ----------------------------------------------------------------------- LSTM */

static bool run(struct cpu_call *c) {
    struct sizes sizes;
    if (!read_sizes(c, &sizes)) return false;
    float *y = cpu_out(c, OUT_Y)->data;
    if (!compute_steps(c, &sizes, values(c, X), cpu_out(c, OUT_CELL)->data, y)) return false;
    memcpy(cpu_out(c, OUT_STATE)->data, y, (size_t)sizes.batch * sizes.outputs * sizeof *y);
    const struct cpu_tensor *scratch = cpu_out(c, OUT_SCRATCH);
    memset(scratch->data, 0, cpu_count(scratch) * sizeof *y);
    return true;
}

const struct cpu_op_fns cpu_op_lstm = {.check = check, .infer = infer, .run = run};

/* ---------------------------------------------- UNIDIRECTIONAL_SEQUENCE_LSTM */

static bool check_sequence(const struct cpu_call *c) {
    return check(c) && cpu_int(c, ACTIVATION, 0) != ANEURALNETWORKS_FUSED_RELU1;
}

static bool infer_sequence(struct cpu_call *c) {
    struct sizes s;
    if (!read_sizes(c, &s) || !shapes_agree(c, &s)) return false;
    const uint32_t outer = s.time_major ? s.time : s.batch, inner = s.time_major ? s.batch : s.time;
    c->out_shapes[SEQUENCE_Y] = (struct cpu_shape){3, {outer, inner, s.outputs}};
    c->out_shapes[SEQUENCE_STATE] = (struct cpu_shape){2, {s.batch, s.outputs}};
    c->out_shapes[SEQUENCE_CELL] = (struct cpu_shape){2, {s.batch, s.units}};
    return true;
}

static bool run_sequence(struct cpu_call *c) {
    struct sizes s;
    if (!read_sizes(c, &s)) return false;
    const size_t state = (size_t)s.batch * s.outputs;
    const bool states = c->node->out_count > 1;
    const float *x = cpu_recurrent_in(c->run, cpu_in(c, X), s.time_major);
    float *y = cpu_recurrent_out(c->run, cpu_out(c, SEQUENCE_Y), s.time_major);
    float *cell =
        states ? cpu_out(c, SEQUENCE_CELL)->data : cpu_scratch(c->run, (size_t)s.batch * s.units * sizeof *cell);
    if (!x || !y || !cell || !compute_steps(c, &s, x, cell, y)) return false;
    if (states) memcpy(cpu_out(c, SEQUENCE_STATE)->data, y + (s.time - 1) * state, state * sizeof *y);
    cpu_recurrent_done(c->run, cpu_out(c, SEQUENCE_Y), s.time_major, y);
    return true;
}

const struct cpu_op_fns cpu_op_sequence_lstm = {.check = check_sequence, .infer = infer_sequence, .run = run_sequence};
