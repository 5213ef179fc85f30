/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tflite_writer.h Small .tflite files for tests: tensors and operators are added one by one, then written as a
 * FlatBuffer whose tables come before what they refer to.
 */
#ifndef NNV_TEST_TFLITE_WRITER_H
#define NNV_TEST_TFLITE_WRITER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mlts/tflite/convert.h"
#include "mlts/tflite/tflite.h"
#include "reference/eval/eval.h"

#define WRITER_FN __attribute__((unused)) static

enum { W_GRAPHS = 4, W_TENSORS = 64, W_OPERATORS = 16, W_INPUTS = 48, W_SLOTS = 12, W_BYTES = 1 << 16 };

struct w_tensor {
    int type;
    uint32_t rank;
    int32_t dims[8];
    const void *data; /* of a constant */
    size_t bytes;
    uint32_t nscales;
    float scales[8];
    int64_t zero;
    int axis;
    bool variable;
};

/** A field of a table: a number of 1, 4 or 8 bytes, or a vector of int32. */
struct w_field {
    unsigned bytes;
    uint64_t value;
    bool is_list;
    uint32_t count;
    int32_t list[8];
};

struct w_operator {
    int code, tag, version;
    const char *custom;
    struct w_field option[W_SLOTS];
    uint32_t nin, nout;
    int32_t in[W_INPUTS], out[8];
};

struct w_graph {
    uint32_t ntensors, noperators, nin, nout;
    struct w_tensor tensor[W_TENSORS];
    struct w_operator op[W_OPERATORS];
    int32_t in[16], out[16];
};

struct writer {
    uint32_t ngraphs;
    struct w_graph graph[W_GRAPHS];
    struct w_graph *g; /* what is being written */
    uint8_t data[W_BYTES];
    uint32_t size;
};

WRITER_FN struct writer *w_new(void) {
    struct writer *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->ngraphs = 1;
    w->g = w->graph;
    return w;
}

/** Begins another subgraph. */
WRITER_FN void w_next_graph(struct writer *w) { w->g = &w->graph[w->ngraphs++]; }

WRITER_FN int w_add(struct writer *w, int type, uint32_t rank, const int32_t *dims) {
    struct w_tensor *t = &w->g->tensor[w->g->ntensors];
    assert_true(w->g->ntensors < W_TENSORS);
    t->type = type;
    t->rank = rank;
    memcpy(t->dims, dims, rank * sizeof *dims);
    return (int)w->g->ntensors++;
}

#define W_COUNT(...) (sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t))
/** A tensor of a type with these extents; a scalar. */
#define W_TENSOR(w, type, ...) w_add((w), (type), W_COUNT(__VA_ARGS__), (const int32_t[]){__VA_ARGS__})
#define W_SCALAR(w, type) w_add((w), (type), 0, (const int32_t[]){0})

/** Gives the tensor that was added last its data. */
WRITER_FN int w_data(struct writer *w, int tensor, const void *data, size_t bytes) {
    w->g->tensor[tensor].data = data;
    w->g->tensor[tensor].bytes = bytes;
    return tensor;
}

/** Constants: the array is the test's and stays. */
#define W_CONST(w, type, values, ...) w_data((w), W_TENSOR((w), (type), __VA_ARGS__), (values), sizeof(values))
#define W_INTS(w, ...)                                                                                                 \
    w_data((w), W_TENSOR((w), NNV_TFL_INT32, (int32_t)W_COUNT(__VA_ARGS__)), (const int32_t[]){__VA_ARGS__},           \
           W_COUNT(__VA_ARGS__) * 4)
#define W_INT(w, v) w_data((w), W_SCALAR((w), NNV_TFL_INT32), (const int32_t[]){v}, 4)

/** Scale and zero point. */
WRITER_FN int w_quant(struct writer *w, int tensor, double scale, int64_t zero) {
    struct w_tensor *t = &w->g->tensor[tensor];
    t->nscales = 1;
    t->scales[0] = (float)scale;
    t->zero = zero;
    return tensor;
}

WRITER_FN int w_input(struct writer *w, int tensor) {
    w->g->in[w->g->nin++] = tensor;
    return tensor;
}

WRITER_FN int w_output(struct writer *w, int tensor) {
    w->g->out[w->g->nout++] = tensor;
    return tensor;
}

/** An operator with the tag of its options (0: none). Inputs up to the first -2. */
WRITER_FN struct w_operator *w_op(struct writer *w, int code, int tag, uint32_t nin, const int32_t *in, uint32_t nout,
                                  const int32_t *out) {
    struct w_operator *o = &w->g->op[w->g->noperators++];
    assert_true(w->g->noperators <= W_OPERATORS && nin <= W_INPUTS);
    o->code = code;
    o->tag = tag;
    o->version = 1;
    o->nin = nin;
    o->nout = nout;
    memcpy(o->in, in, nin * sizeof *in);
    memcpy(o->out, out, nout * sizeof *out);
    return o;
}
/** One output; inputs as arguments. */
#define W_OP(w, code, tag, out, ...)                                                                                   \
    w_op((w), (code), (tag), W_COUNT(__VA_ARGS__), (const int32_t[]){__VA_ARGS__}, 1, (const int32_t[]){out})

WRITER_FN struct w_operator *w_byte(struct w_operator *o, unsigned slot, int v) {
    o->option[slot] = (struct w_field){.bytes = 1, .value = (uint8_t)v};
    return o;
}
WRITER_FN struct w_operator *w_int(struct w_operator *o, unsigned slot, int32_t v) {
    o->option[slot] = (struct w_field){.bytes = 4, .value = (uint32_t)v};
    return o;
}
WRITER_FN struct w_operator *w_real(struct w_operator *o, unsigned slot, float v) {
    o->option[slot] = (struct w_field){.bytes = 4};
    memcpy(&o->option[slot].value, &v, 4);
    return o;
}

/* ------------------------------------------------------------------ the file */

WRITER_FN void w_align(struct writer *w, uint32_t to) {
    while (w->size % to) w->size++;
}
WRITER_FN void w_put(struct writer *w, const void *p, size_t n) {
    assert_true(w->size + n + 16 < W_BYTES);
    memcpy(w->data + w->size, p, n);
    w->size += (uint32_t)n;
}
WRITER_FN void w_u32(struct writer *w, uint32_t v) { w_put(w, &v, 4); }

/** The offset at `at` leads to what comes next. */
WRITER_FN void w_link(struct writer *w, uint32_t at) {
    uint32_t v = w->size - at;
    memcpy(w->data + at, &v, 4);
}

/** A table of n fields; place[i]: where field i is, for links. */
WRITER_FN void w_table(struct writer *w, uint32_t n, const struct w_field *f, uint32_t *place, uint32_t from) {
    uint16_t vtable[2 + 16] = {(uint16_t)(4 + 2 * n)};
    w_align(w, 2);
    uint32_t table = w->size + 4 + 2 * n;
    table = (table + 7) / 8 * 8;
    uint32_t at = table + 4;
    for (unsigned size = 8; size; size /= 2)
        for (uint32_t i = 0; i < n; i++)
            if (f[i].bytes == size) {
                at = (at + size - 1) / size * size;
                place[i] = at;
                vtable[2 + i] = (uint16_t)(at - table);
                at += size;
            }
    vtable[1] = (uint16_t)(at - table);
    const uint32_t v = w->size;
    w_put(w, vtable, 4 + 2 * n);
    w->size = table;
    if (from) w_link(w, from);
    w_u32(w, table - v);
    for (uint32_t i = 0; i < n; i++)
        if (f[i].bytes) memcpy(w->data + place[i], &f[i].value, f[i].bytes);
    w->size = at;
}

WRITER_FN void w_vector(struct writer *w, uint32_t from, uint32_t count, const void *data, size_t size) {
    w_align(w, 4);
    if (size == 8 && w->size % 8 == 0) w_u32(w, 0);
    w_link(w, from);
    w_u32(w, count);
    w_put(w, data, count * size);
}
WRITER_FN void w_string(struct writer *w, uint32_t from, const char *s) {
    w_vector(w, from, (uint32_t)strlen(s), s, 1);
    w_put(w, "", 1);
}
/** Room for n offsets; where the first is. */
WRITER_FN uint32_t w_offsets(struct writer *w, uint32_t from, uint32_t n) {
    w_align(w, 4);
    w_link(w, from);
    w_u32(w, n);
    const uint32_t first = w->size;
    for (uint32_t i = 0; i < n; i++) w_u32(w, 0);
    return first;
}

#define W_REF ((struct w_field){.bytes = 4})

WRITER_FN void w_write_tensor(struct writer *w, const struct w_tensor *t, uint32_t buffer, uint32_t from) {
    struct w_field f[6] = {W_REF, {.bytes = 1, .value = (uint8_t)t->type}, {.bytes = 4, .value = buffer}, W_REF};
    uint32_t p[6], q[7];
    if (t->nscales) f[4] = W_REF;
    if (t->variable) f[5] = (struct w_field){.bytes = 1, .value = 1};
    w_table(w, 6, f, p, from);
    w_vector(w, p[0], t->rank, t->dims, 4);
    w_string(w, p[3], "t");
    if (!t->nscales) return;
    const struct w_field quant[7] = {[2] = W_REF, [3] = W_REF, [6] = {.bytes = 4, .value = (uint32_t)t->axis}};
    int64_t zeros[8];
    for (uint32_t i = 0; i < 8; i++) zeros[i] = t->zero;
    w_table(w, 7, quant, q, p[4]);
    w_vector(w, q[2], t->nscales, t->scales, 4);
    w_vector(w, q[3], t->nscales, zeros, 8);
}

WRITER_FN void w_write_operator(struct writer *w, const struct w_operator *o, uint32_t code, uint32_t from) {
    const struct w_field f[5] = {{.bytes = 4, .value = code},
                                 W_REF,
                                 W_REF,
                                 {.bytes = o->tag ? 1 : 0, .value = (uint8_t)o->tag},
                                 {.bytes = o->tag ? 4 : 0}};
    uint32_t p[5], q[W_SLOTS];
    w_table(w, 5, f, p, from);
    w_vector(w, p[1], o->nin, o->in, 4);
    w_vector(w, p[2], o->nout, o->out, 4);
    if (!o->tag) return;
    w_table(w, W_SLOTS, o->option, q, p[4]);
    for (uint32_t i = 0; i < W_SLOTS; i++)
        if (o->option[i].is_list) w_vector(w, q[i], o->option[i].count, o->option[i].list, 4);
}

WRITER_FN void w_write_graph(struct writer *w, const struct w_graph *g, uint32_t *buffer, uint32_t *code,
                             uint32_t from) {
    const struct w_field f[4] = {W_REF, W_REF, W_REF, W_REF};
    uint32_t p[4];
    w_table(w, 4, f, p, from);
    uint32_t tensors = w_offsets(w, p[0], g->ntensors);
    for (uint32_t i = 0; i < g->ntensors; i++)
        w_write_tensor(w, &g->tensor[i], g->tensor[i].data ? (*buffer)++ : 0, tensors + 4 * i);
    w_vector(w, p[1], g->nin, g->in, 4);
    w_vector(w, p[2], g->nout, g->out, 4);
    uint32_t operators = w_offsets(w, p[3], g->noperators);
    for (uint32_t i = 0; i < g->noperators; i++) w_write_operator(w, &g->op[i], (*code)++, operators + 4 * i);
}

/** Writes the file to w->data: an operator code for each operator, a buffer for each constant. */
WRITER_FN void w_write(struct writer *w) {
    const struct w_field f[5] = {{.bytes = 4, .value = 3}, W_REF, W_REF, {0}, W_REF};
    uint32_t p[5], q[4], ncodes = 0, nbuffers = 1, buffer = 1, code = 0;
    w->size = 0;
    memset(w->data, 0, sizeof w->data);
    w_u32(w, 0);
    w_put(w, "TFL3", 4);
    w_table(w, 5, f, p, 0);
    uint32_t root = p[0];
    for (uint32_t i = 1; i < 5; i++)
        if (f[i].bytes && p[i] < root) root = p[i];
    root -= 4;
    memcpy(w->data, &root, 4);
    for (uint32_t i = 0; i < w->ngraphs; i++) {
        ncodes += w->graph[i].noperators;
        for (uint32_t k = 0; k < w->graph[i].ntensors; k++) nbuffers += w->graph[i].tensor[k].data != NULL;
    }
    uint32_t codes = w_offsets(w, p[1], ncodes);
    for (uint32_t i = 0; i < w->ngraphs; i++)
        for (uint32_t k = 0; k < w->graph[i].noperators; k++, codes += 4) {
            const struct w_operator *o = &w->graph[i].op[k];
            const struct w_field c[4] = {{.bytes = 1, .value = (uint8_t)(o->code < 127 ? o->code : 127)},
                                         {.bytes = o->custom ? 4 : 0},
                                         {.bytes = 4, .value = (uint32_t)o->version},
                                         {.bytes = 4, .value = (uint32_t)o->code}};
            w_table(w, 4, c, q, codes);
            if (o->custom) w_string(w, q[1], o->custom);
        }
    uint32_t graphs = w_offsets(w, p[2], w->ngraphs);
    for (uint32_t i = 0; i < w->ngraphs; i++) w_write_graph(w, &w->graph[i], &buffer, &code, graphs + 4 * i);
    uint32_t buffers = w_offsets(w, p[4], nbuffers);
    const struct w_field none[1] = {{0}}, some[1] = {W_REF};
    w_table(w, 1, none, q, buffers);
    for (uint32_t i = 0; i < w->ngraphs; i++)
        for (uint32_t k = 0; k < w->graph[i].ntensors; k++) {
            const struct w_tensor *t = &w->graph[i].tensor[k];
            if (!t->data) continue;
            buffers += 4;
            w_table(w, 1, some, q, buffers);
            w_vector(w, q[0], (uint32_t)t->bytes, t->data, 1);
        }
}

/** Writes and imports. */
WRITER_FN enum nnv_status w_import(struct writer *w, struct nnv_arena *arena, struct nnv_network *net,
                                   struct nnv_err *err) {
    w_write(w);
    uint8_t *copy = malloc(w->size); /* so that reading behind the end is seen */
    assert_non_null(copy);
    memcpy(copy, w->data, w->size);
    enum nnv_status st = nnv_tflite_import(copy, w->size, "t.tflite", arena, net, err);
    free(copy);
    return st;
}

#endif
