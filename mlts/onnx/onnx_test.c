/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX's test data: a model with inputs and expected outputs as a spec. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "mlts/onnx/onnx.h"
#include "reference/eval/eval.h"
#include "reference/model/op.h"
#include "reference/model/validate.h"

enum { MOST_BYTES = 1 << 30 };

/** Where the data of a set lie: "dir/test_data_set_0/" or "dir/NAME_". arena's. */
static const char *set_of(const char *path, uint32_t set, struct nnv_arena *arena) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const int folder = (int)(name - path);
    if (strcmp(name, "model.onnx") == 0) return nnv_arena_printf(arena, "%.*stest_data_set_%u/", folder, path, set);
    return nnv_arena_printf(arena, "%.*s_", (int)(strlen(path) - strlen(".onnx")), path);
}

static bool exists(const char *prefix, const char *what, uint32_t i, struct nnv_arena *arena) {
    struct stat at;
    const char *file = prefix ? nnv_arena_printf(arena, "%s%s_%u.pb", prefix, what, i) : NULL;
    return file && stat(file, &at) == 0;
}

uint32_t nnv_onnx_test_count(const char *path) {
    enum { MOST = 1000 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct nnv_arena *arena = nnv_arena_new();
    uint32_t n = 0;
    while (arena && n < MOST && exists(set_of(path, n, arena), "output", 0, arena)) {
        n++;
        if (strcmp(name, "model.onnx") != 0) break;
    }
    nnv_arena_free(arena);
    return n;
}

static enum nnv_status read_tensor(const char *prefix, const char *what, uint32_t i, struct nnv_arena *arena,
                                   struct nnv_onnx_tensor *t, struct nnv_err *err) {
    const char *path = nnv_arena_printf(arena, "%s%s_%u.pb", prefix, what, i);
    char *data;
    size_t size;
    enum nnv_status st = path ? nnv_file_load(path, MOST_BYTES, arena, &data, &size, err) : nnv_no_memory(err);
    return st == NNV_OK ? nnv_onnx_read_tensor(data, size, path, arena, t, err) : st;
}

/** What ONNX's tests give an input that has no file: 0, 1/n, 2/n ... in the extents of the model, 1 where open. */
static enum nnv_status ramp(const struct nnv_onnx_info *in, struct nnv_arena *arena, struct nnv_onnx_tensor *t,
                            struct nnv_err *err) {
    *t = (struct nnv_onnx_tensor){.name = "", .type = NNV_ONNX_FLOAT, .rank = in->rank, .elems = 1};
    if (in->type != NNV_ONNX_FLOAT || !in->has_shape)
        return nnv_fail(err, NNV_UNSUPPORTED, "a model without test data for its input of %s",
                        nnv_onnx_type_name(in->type));
    for (uint32_t d = 0; d < in->rank; d++) {
        t->dims[d] = in->dims[d] < 0 ? 1 : (uint32_t)in->dims[d];
        t->elems *= t->dims[d];
        if (t->elems > MOST_BYTES) return nnv_fail(err, NNV_INVALID, "an input of more than %d numbers", MOST_BYTES);
    }
    float *data = NNV_NEW(arena, float, t->elems);
    if (!data) return nnv_no_memory(err);
    for (size_t i = 0; i < t->elems; i++) data[i] = (float)i / (float)t->elems;
    t->data = (const uint8_t *)data;
    t->bytes = t->elems * sizeof *data;
    return NNV_OK;
}

/** A tensor as the value of an operand. */
static enum nnv_status value_of(const struct nnv_onnx_tensor *t, const struct nnv_operand *o, struct nnv_arena *arena,
                                struct nnv_value *v, struct nnv_err *err) {
    const struct nnv_type *type = nnv_type(o->type);
    size_t elems, bytes;
    if (!nnv_operand_size(o, &elems, &bytes) || elems != t->elems || !t->data)
        return nnv_fail(err, NNV_INVALID, "%zu numbers of %s, expected %zu", t->elems, nnv_onnx_type_name(t->type),
                        elems);
    *v = (struct nnv_value){.rank = o->rank, .bytes = bytes, .data = nnv_arena_alloc(arena, elems, type->size)};
    if (!v->data) return nnv_no_memory(err);
    memcpy(v->dims, o->dims, o->rank * sizeof *o->dims);
    for (size_t i = 0; i < elems; i++) {
        const double number = nnv_onnx_number(t, i);
        if (o->type == ANEURALNETWORKS_TENSOR_INT32 && !(number >= INT32_MIN && number <= INT32_MAX))
            return nnv_fail(err, NNV_UNSUPPORTED, "a test value of %s beyond 32 bits", nnv_onnx_type_name(t->type));
    }
    if (type->kind != NNV_KIND_INT) {
        if (bytes != t->bytes) return nnv_fail(err, NNV_INVALID, "%s for %s", nnv_onnx_type_name(t->type), type->name);
        memcpy(v->data, t->data, bytes); /* NaN stays as it is */
        return NNV_OK;
    }
    for (size_t i = 0; i < elems; i++) ((int32_t *)v->data)[i] = (int32_t)nnv_onnx_int(t, i);
    return NNV_OK;
}

/* ---------------------------------------------------------- is the conversion right? */

static bool leaves_ties_open(const struct nnv_model *m) {
    for (uint32_t i = 0; i < m->main.noperations; i++) {
        const int32_t t = m->main.operations[i].type;
        if (t == ANEURALNETWORKS_TOPK_V2 || t == ANEURALNETWORKS_ARGMAX || t == ANEURALNETWORKS_ARGMIN) return true;
    }
    return false;
}

/** ONNX's own tests compare with rtol 1e-3 and atol 1e-7; float16 has 11 bits; bytes may be rounded otherwise. */
static bool agrees(int32_t type, double got, double want) {
    const bool half = type == ANEURALNETWORKS_TENSOR_FLOAT16;
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    if (got == want) return true;
    if (nnv_is_float(type)) return fabs(got - want) <= (half ? 1e-3 : 1e-7) + (half ? 5e-3 : 1e-3) * fabs(want);
    return nnv_is_quant(type) && fabs(got - want) <= 1;
}

static enum nnv_status compare(const struct nnv_model *m, uint32_t output, int32_t type, const void *got,
                               const void *want, size_t bytes, struct nnv_arena *arena, struct nnv_err *err) {
    const size_t n = bytes / nnv_type(type)->size;
    double *a = NNV_NEW(arena, double, n), *b = NNV_NEW(arena, double, n);
    if (!a || !b) return nnv_no_memory(err);
    nnv_load(type, got, n, a);
    nnv_load(type, want, n, b);
    for (size_t i = 0; i < n; i++) {
        if (agrees(type, a[i], b[i])) continue;
        if (type == ANEURALNETWORKS_TENSOR_INT32 && leaves_ties_open(m))
            return nnv_fail(err, NNV_UNSUPPORTED, "output %u: which of equal numbers is taken is open in NNAPI",
                            output);
        return nnv_fail(err, NNV_INVALID,
                        "output %u, element %zu: converted to NNAPI it is %.9g, the test data say %.9g", output, i,
                        a[i], b[i]);
    }
    return NNV_OK;
}

static enum nnv_status check_golden(const struct nnv_spec *s, const uint32_t *number, struct nnv_arena *arena,
                                    struct nnv_err *err) {
    const struct nnv_subgraph *main = &s->model.main;
    const struct nnv_eval_options options = {0};
    struct nnv_golden *golden = NNV_NEW(arena, struct nnv_golden, main->nout);
    if (!golden) return nnv_no_memory(err);
    enum nnv_status st = nnv_eval(&s->model, s->inputs, &options, arena, golden, err);
    for (uint32_t i = 0; i < main->nout && st == NNV_OK; i++)
        st = compare(&s->model, number[i], main->operands[main->out[i]].type, golden[i].value.data, s->outputs[i].data,
                     s->outputs[i].bytes, arena, err);
    return st;
}

/* ------------------------------------------------------------------------ the spec */

/** Values of the file's inputs. */
static enum nnv_status read_inputs(const struct nnv_onnx_graph *g, const char *prefix, struct nnv_arena *arena,
                                   const struct nnv_onnx_tensor **given, struct nnv_err *err) {
    const bool files = exists(prefix, "input", 0, arena);
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; i < g->nin && st == NNV_OK; i++) {
        if (strcmp(g->in[i].kind, "tensor") != 0) continue; /* the import refuses it by name */
        struct nnv_onnx_tensor *t = NNV_NEW(arena, struct nnv_onnx_tensor, 1);
        if (!t) return nnv_no_memory(err);
        st = files ? read_tensor(prefix, "input", i, arena, t, err) : ramp(&g->in[i], arena, t, err);
        given[i] = t;
    }
    return st;
}

static enum nnv_status read_outputs(const struct nnv_onnx_map *map, const char *prefix, struct nnv_arena *arena,
                                    struct nnv_spec *s, struct nnv_err *err) {
    const struct nnv_subgraph *main = &s->model.main;
    struct nnv_onnx_tensor t;
    struct nnv_value v;
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; i < main->nout && st == NNV_OK; i++) {
        st = read_tensor(prefix, "output", map->out[i], arena, &t, err);
        if (st == NNV_OK) st = value_of(&t, &main->operands[main->out[i]], arena, &s->outputs[i], err);
    }
    for (uint32_t i = 0; i < map->nknown && st == NNV_OK; i++) {
        const struct nnv_onnx_known *k = &map->known[i];
        st = read_tensor(prefix, "output", k->output, arena, &t, err);
        if (st == NNV_OK) st = value_of(&t, &k->value, arena, &v, err);
        if (st == NNV_OK) st = compare(&s->model, k->output, k->value.type, k->value.data, v.data, v.bytes, arena, err);
    }
    return st;
}

static enum nnv_status make(const char *path, const char *prefix, struct nnv_arena *arena, struct nnv_spec *s,
                            struct nnv_err *err) {
    char *data;
    size_t size;
    struct nnv_onnx_file file;
    struct nnv_network net;
    struct nnv_onnx_map map;
    enum nnv_status st = nnv_file_load(path, MOST_BYTES, arena, &data, &size, err);
    if (st == NNV_OK) st = nnv_onnx_read(data, size, path, arena, &file, err);
    if (st != NNV_OK) return st;
    const struct nnv_onnx_tensor **given = NNV_NEW(arena, const struct nnv_onnx_tensor *, file.graph.nin);
    st = given ? read_inputs(&file.graph, prefix, arena, given, err) : nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_onnx_import(data, size, path, given, arena, &net, &map, err);
    if (st != NNV_OK) return st;
    const struct nnv_subgraph *main = &net.model.main;
    *s = (struct nnv_spec){.source = nnv_arena_strdup(arena, path), .precision = "budget", .model = net.model};
    s->inputs = NNV_NEW(arena, struct nnv_value, main->nin);
    s->outputs = NNV_NEW(arena, struct nnv_value, main->nout);
    if (!s->source || !s->inputs || !s->outputs) return nnv_no_memory(err);
    for (uint32_t i = 0; i < main->nin && st == NNV_OK; i++)
        st = value_of(given[map.in[i]], &main->operands[main->in[i]], arena, &s->inputs[i], err);
    /* Networks without inputs of their own have weights that are all equal: sums without end, and budgets as large. */
    if (!exists(prefix, "input", 0, arena)) s->precision = NULL;
    if (st == NNV_OK) st = read_outputs(&map, prefix, arena, s, err);
    if (st == NNV_OK) st = nnv_validate(&s->model, arena, &s->min_version, err);
    return st == NNV_OK ? check_golden(s, map.out, arena, err) : st;
}

enum nnv_status nnv_onnx_test(const char *path, uint32_t set, struct nnv_arena *arena, struct nnv_spec *spec,
                              struct nnv_err *err) {
    const char *prefix = set_of(path, set, arena);
    enum nnv_status st = prefix ? make(path, prefix, arena, spec, err) : nnv_no_memory(err);
    return st == NNV_OK || strncmp(err->text, path, strlen(path)) == 0 ? st : nnv_at(err, st, "%s", path);
}
