/* SPDX-License-Identifier: Apache-2.0 */
/** @file tflite_writer.c See tflite_writer.h. */
#include "tests/kit/tflite_writer.h"

struct writer *w_new(void) {
    struct writer *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->ngraphs = 1;
    w->g = w->graph;
    return w;
}

void w_next_graph(struct writer *w) { w->g = &w->graph[w->ngraphs++]; }

int w_add(struct writer *w, int type, uint32_t rank, const int32_t *dims) {
    struct w_tensor *t = &w->g->tensor[w->g->ntensors];
    assert_true(w->g->ntensors < W_TENSORS);
    t->type = type;
    t->rank = rank;
    memcpy(t->dims, dims, rank * sizeof *dims);
    return (int)w->g->ntensors++;
}

int w_data(struct writer *w, int tensor, const void *data, size_t bytes) {
    w->g->tensor[tensor].data = data;
    w->g->tensor[tensor].bytes = bytes;
    return tensor;
}

int w_quant(struct writer *w, int tensor, double scale, int64_t zero) {
    struct w_tensor *t = &w->g->tensor[tensor];
    t->nscales = 1;
    t->scales[0] = (float)scale;
    t->zero = zero;
    return tensor;
}

int w_input(struct writer *w, int tensor) {
    w->g->in[w->g->nin++] = tensor;
    return tensor;
}

int w_output(struct writer *w, int tensor) {
    w->g->out[w->g->nout++] = tensor;
    return tensor;
}

struct w_operator *w_op(struct writer *w, int code, int tag, uint32_t nin, const int32_t *in, uint32_t nout,
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

struct w_operator *w_byte(struct w_operator *o, unsigned slot, int v) {
    o->option[slot] = (struct w_field){.bytes = 1, .value = (uint8_t)v};
    return o;
}

struct w_operator *w_int(struct w_operator *o, unsigned slot, int32_t v) {
    o->option[slot] = (struct w_field){.bytes = 4, .value = (uint32_t)v};
    return o;
}

struct w_operator *w_real(struct w_operator *o, unsigned slot, float v) {
    o->option[slot] = (struct w_field){.bytes = 4};
    memcpy(&o->option[slot].value, &v, 4);
    return o;
}

static void w_align(struct writer *w, uint32_t to) {
    while (w->size % to) w->size++;
}

static void w_put(struct writer *w, const void *p, size_t n) {
    assert_true(w->size + n + 16 < W_BYTES);
    memcpy(w->data + w->size, p, n);
    w->size += (uint32_t)n;
}

static void w_u32(struct writer *w, uint32_t v) { w_put(w, &v, 4); }

/** The offset at `at` leads to what comes next. */
static void w_link(struct writer *w, uint32_t at) {
    uint32_t v = w->size - at;
    memcpy(w->data + at, &v, 4);
}

/** A table of n fields; place[i]: where field i is, for links. */
static void w_table(struct writer *w, uint32_t n, const struct w_field *f, uint32_t *place, uint32_t from) {
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

static void w_vector(struct writer *w, uint32_t from, uint32_t count, const void *data, size_t size) {
    w_align(w, 4);
    if (size == 8 && w->size % 8 == 0) w_u32(w, 0);
    w_link(w, from);
    w_u32(w, count);
    w_put(w, data, count * size);
}

static void w_string(struct writer *w, uint32_t from, const char *s) {
    w_vector(w, from, (uint32_t)strlen(s), s, 1);
    w_put(w, "", 1);
}

/** Room for n offsets; where the first is. */
static uint32_t w_offsets(struct writer *w, uint32_t from, uint32_t n) {
    w_align(w, 4);
    w_link(w, from);
    w_u32(w, n);
    const uint32_t first = w->size;
    for (uint32_t i = 0; i < n; i++) w_u32(w, 0);
    return first;
}

static void w_write_tensor(struct writer *w, const struct w_tensor *t, uint32_t buffer, uint32_t from) {
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

static void w_write_operator(struct writer *w, const struct w_operator *o, uint32_t code, uint32_t from) {
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

static void w_write_graph(struct writer *w, const struct w_graph *g, uint32_t *buffer, uint32_t *code, uint32_t from) {
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

/** Files before the schema had more than 127 codes know one member alone; every second code is written like that. */
static bool is_of_old_files(int code) { return code < 127 && code % 2 == 0; }

/** Writes the file to w->data: an operator code for each operator, a buffer for each constant. */
static void w_write(struct writer *w) {
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
                                         {.bytes = is_of_old_files(o->code) ? 0 : 4, .value = (uint32_t)o->code}};
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

enum nnv_status w_import(struct writer *w, struct nnv_arena *arena, struct nnv_network *net, struct nnv_err *err) {
    w_write(w);
    uint8_t *copy = malloc(w->size); /* so that reading behind the end is seen */
    assert_non_null(copy);
    memcpy(copy, w->data, w->size);
    enum nnv_status st = nnv_tflite_import(copy, w->size, "t.tflite", arena, net, err);
    free(copy);
    return st;
}
