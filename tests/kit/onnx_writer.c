/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kit/onnx_writer.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ the encoding */

static void add_varint(struct nnv_text *t, uint64_t v) {
    for (; v > 127; v >>= 7) nnv_text_add_n(t, &(char){(char)(v | 128)}, 1);
    nnv_text_add_n(t, &(char){(char)v}, 1);
}
static void add_number(struct nnv_text *t, unsigned field, uint64_t v) {
    add_varint(t, field << 3);
    add_varint(t, v);
}
static void add_bytes(struct nnv_text *t, unsigned field, const void *data, size_t n) {
    add_varint(t, field << 3 | 2);
    add_varint(t, n);
    nnv_text_add_n(t, data, n);
}
static void add_string(struct nnv_text *t, unsigned field, const char *s) { add_bytes(t, field, s, strlen(s)); }
static void add_message(struct nnv_text *t, unsigned field, struct nnv_text *m) {
    add_bytes(t, field, m->data ? m->data : "", m->len);
    nnv_text_free(m);
}

/* ------------------------------------------------------------------------ graphs */

void ow_begin(struct onnx_writer *w, int64_t opset) { *w = (struct onnx_writer){.opset = opset, .seed = 1}; }

void ow_free(struct onnx_writer *w) {
    nnv_text_free(&w->graph);
    nnv_text_free(&w->node);
}

static void flush(struct onnx_writer *w) {
    if (w->node.len) add_message(&w->graph, 1, &w->node);
    w->node = (struct nnv_text){0};
}

static void add_info(struct onnx_writer *w, unsigned field, const char *name, int type, uint32_t rank,
                     const int64_t *dims) {
    struct nnv_text shape = {0}, tensor = {0}, of = {0}, info = {0};
    for (uint32_t i = 0; i < rank; i++) {
        struct nnv_text dim = {0};
        if (dims[i] < 0)
            add_string(&dim, 2, "n");
        else
            add_number(&dim, 1, (uint64_t)dims[i]);
        add_message(&shape, 1, &dim);
    }
    add_number(&tensor, 1, (uint64_t)type);
    add_message(&tensor, 2, &shape);
    add_message(&of, 1, &tensor);
    add_string(&info, 1, name);
    add_message(&info, 2, &of);
    add_message(&w->graph, field, &info);
}

void ow_input(struct onnx_writer *w, const char *name, int type, uint32_t rank, const int64_t *dims) {
    add_info(w, 11, name, type, rank, dims);
}
void ow_output(struct onnx_writer *w, const char *name, int type, uint32_t rank, const int64_t *dims) {
    add_info(w, 12, name, type, rank, dims);
}

void ow_tensor(struct onnx_writer *w, const char *name, int type, uint32_t rank, const int64_t *dims, const void *data,
               size_t bytes) {
    struct nnv_text t = {0};
    for (uint32_t i = 0; i < rank; i++) add_number(&t, 1, (uint64_t)dims[i]);
    add_number(&t, 2, (uint64_t)type);
    add_string(&t, 8, name);
    add_bytes(&t, 9, data, bytes);
    add_message(&w->graph, 5, &t);
}

void ow_ints(struct onnx_writer *w, const char *name, uint32_t n, const int64_t *v) {
    ow_tensor(w, name, NNV_ONNX_INT64, 1, (const int64_t[]){n}, v, n * sizeof *v);
}
void ow_number(struct onnx_writer *w, const char *name, float v) {
    ow_tensor(w, name, NNV_ONNX_FLOAT, 0, NULL, &v, sizeof v);
}

/** Uniform numbers between -1 and 1. */
static double draw(struct onnx_writer *w) {
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(w->seed >> 40) / (1 << 23) - 1;
}

static size_t elements(uint32_t rank, const int64_t *dims) {
    size_t n = 1;
    for (uint32_t i = 0; i < rank; i++) n *= (size_t)dims[i];
    return n;
}

void ow_weights(struct onnx_writer *w, const char *name, double deviation, uint32_t rank, const int64_t *dims) {
    const size_t n = elements(rank, dims);
    float *v = malloc(n * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) v[i] = (float)(draw(w) * deviation * sqrt(3));
    ow_tensor(w, name, NNV_ONNX_FLOAT, rank, dims, v, n * sizeof *v);
    free(v);
}

void ow_codes(struct onnx_writer *w, const char *name, int type, int64_t code, uint32_t rank, const int64_t *dims) {
    const size_t n = elements(rank, dims), size = nnv_onnx_type_bits(type) / 8;
    uint8_t *v = malloc(n * size);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) {
        const int64_t one = code == INT64_MIN ? (int64_t)lround(draw(w) * 100) : code;
        memcpy(v + i * size, &one, size);
    }
    ow_tensor(w, name, type, rank, dims, v, n * size);
    free(v);
}

/* ------------------------------------------------------------------------- nodes */

static void add_names(struct nnv_text *t, unsigned field, const char *names) {
    while (*names) {
        const size_t n = strcspn(names, " ");
        add_bytes(t, field, names, n == 1 && *names == '-' ? 0 : n);
        names += n + (names[n] == ' ');
    }
}

void ow_node(struct onnx_writer *w, const char *op, const char *in, const char *out) {
    flush(w);
    add_names(&w->node, 1, in);
    add_names(&w->node, 2, out);
    add_string(&w->node, 4, op);
}

static void attribute(struct onnx_writer *w, const char *name, uint64_t type, struct nnv_text *rest) {
    struct nnv_text a = {0};
    add_string(&a, 1, name);
    nnv_text_add_n(&a, rest->data, rest->len);
    nnv_text_free(rest);
    add_number(&a, 20, type);
    add_message(&w->node, 5, &a);
}

void ow_attr_int(struct onnx_writer *w, const char *name, int64_t v) {
    struct nnv_text t = {0};
    add_number(&t, 3, (uint64_t)v);
    attribute(w, name, NNV_ONNX_A_INT, &t);
}
void ow_attr_float(struct onnx_writer *w, const char *name, float v) {
    struct nnv_text t = {0};
    add_varint(&t, 2 << 3 | 5);
    nnv_text_add_n(&t, (const char *)&v, sizeof v);
    attribute(w, name, NNV_ONNX_A_FLOAT, &t);
}
void ow_attr_string(struct onnx_writer *w, const char *name, const char *v) {
    struct nnv_text t = {0};
    add_string(&t, 4, v);
    attribute(w, name, NNV_ONNX_A_STRING, &t);
}
void ow_attr_ints(struct onnx_writer *w, const char *name, uint32_t n, const int64_t *v) {
    struct nnv_text t = {0};
    for (uint32_t i = 0; i < n; i++) add_number(&t, 8, (uint64_t)v[i]);
    attribute(w, name, NNV_ONNX_A_INTS, &t);
}

void ow_end(struct onnx_writer *w, struct nnv_text *model) {
    struct nnv_text opset = {0};
    flush(w);
    add_number(model, 1, 8);
    add_message(model, 7, &w->graph);
    w->graph = (struct nnv_text){0};
    add_string(&opset, 1, "");
    add_number(&opset, 2, (uint64_t)w->opset);
    add_message(model, 8, &opset);
    assert_false(model->failed);
}

enum nnv_status ow_import(struct onnx_writer *w, struct nnv_arena *arena, struct nnv_network *net,
                          struct nnv_err *err) {
    struct nnv_text model = {0};
    ow_end(w, &model);
    const enum nnv_status st = nnv_onnx_import(model.data, model.len, "test", NULL, arena, net, NULL, err);
    nnv_text_free(&model);
    return st;
}
