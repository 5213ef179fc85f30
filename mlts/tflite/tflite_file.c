/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/tflite/tflite_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Field ids of the schema's tables. */
enum { MODEL_VERSION, MODEL_CODES, MODEL_GRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_OLD, CODE_CUSTOM, CODE_VERSION, CODE_NEW };
enum { GRAPH_TENSORS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_OPERATORS, GRAPH_NAME };
enum {
    TENSOR_SHAPE,
    TENSOR_TYPE,
    TENSOR_BUFFER,
    TENSOR_NAME,
    TENSOR_QUANTISATION,
    TENSOR_VARIABLE,
    TENSOR_SPARSITY,
    TENSOR_SIGNATURE,
};
enum { QUANT_SCALE = 2, QUANT_ZERO = 3, QUANT_DETAILS_TYPE = 4, QUANT_AXIS = 6 };
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };
enum {
    OPERATOR_CODE,
    OPERATOR_INPUTS,
    OPERATOR_OUTPUTS,
    OPERATOR_OPTIONS_TYPE,
    OPERATOR_OPTIONS,
    OPERATOR_CUSTOM,
    OPERATOR_BETWEEN = 8,
};
enum { SCHEMA_VERSION = 3, CUSTOM = 32, DELEGATE = 51, PLACEHOLDER = 127, TABLE_BYTES = 8 /* at least */ };

/** What reading needs; the first error is the file's. */
struct reader {
    struct nnv_tfl_file *file;
    struct nnv_arena *arena;
    struct nnv_flat *flat;
    struct nnv_flat_vector codes, buffers;
    char place[192];
    bool no_memory;
};

static bool bad(const struct reader *r) { return r->no_memory || nnv_flat_failed(r->flat); }

static void at_place(struct reader *r, const char *fmt, ...) NNV_PRINTF(2, 3);
static void at_place(struct reader *r, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->place, sizeof r->place, fmt, args);
    va_end(args);
    r->flat->place = r->place;
}

/** n zeroed elements; never more than the file could describe. */
static void *room(struct reader *r, size_t n, size_t size) {
    void *p = nnv_arena_alloc(r->arena, n, size);
    if (!p) r->no_memory = true;
    return p;
}

/** A vector of tables. All may be one and the same table, so their number is bounded by what distinct ones would take.
 */
static struct nnv_flat_vector tables(struct reader *r, struct nnv_flat_table t, unsigned slot, const char *what) {
    struct nnv_flat_vector v = nnv_flat_vector_at(t, slot, 4, what);
    if (v.count > r->flat->size / TABLE_BYTES) {
        nnv_flat_fail(r->flat, "%s: %u are more than the file can hold", what, v.count);
        v.count = 0;
    }
    return v;
}

static const int32_t *ints(struct reader *r, struct nnv_flat_vector v) {
    int32_t *x = room(r, v.count, sizeof *x);
    for (uint32_t i = 0; x && i < v.count; i++) x[i] = nnv_flat_i32(v, i);
    return x;
}

/* -------------------------------------------------------------------- tensors */

static void read_shape(struct reader *r, struct nnv_flat_table table, struct nnv_tfl_tensor *t) {
    struct nnv_flat_vector shape = nnv_flat_vector_at(table, TENSOR_SHAPE, 4, "shape");
    struct nnv_flat_vector signature = nnv_flat_vector_at(table, TENSOR_SIGNATURE, 4, "shape_signature");
    uint64_t n = 1;
    if (shape.count > NNV_TFL_MOST_RANK) {
        nnv_flat_fail(r->flat, "rank %u is above %d", shape.count, NNV_TFL_MOST_RANK);
        return;
    }
    t->rank = shape.count;
    for (uint32_t i = 0; i < shape.count; i++) {
        int32_t d = nnv_flat_i32(shape, i);
        if (d < 0 || (n *= (uint64_t)d) > INT32_MAX) {
            nnv_flat_fail(r->flat, "extent %d of dimension %u is %s", d, i, d < 0 ? "negative" : "too large");
            return;
        }
        t->dims[i] = (uint32_t)d;
    }
    for (uint32_t i = 0; i < signature.count; i++) t->dynamic = t->dynamic || nnv_flat_i32(signature, i) < 0;
}

/** Extremes of the zero points of a type; false: it has no quantisation of this kind. */
static bool zero_range(int type, int64_t *least, int64_t *most) {
    switch (type) {
    case NNV_TFL_UINT8:
        *least = 0, *most = 255;
        return true;
    case NNV_TFL_INT8:
        *least = -128, *most = 127;
        return true;
    case NNV_TFL_INT4:
        *least = -8, *most = 7;
        return true;
    case NNV_TFL_INT16:
        *least = INT16_MIN, *most = INT16_MAX;
        return true;
    case NNV_TFL_INT32:
        *least = INT32_MIN, *most = INT32_MAX;
        return true;
    default:
        return false;
    }
}

static void check_scale(struct reader *r, float scale, int64_t zero, const struct nnv_tfl_tensor *t, uint32_t i) {
    int64_t least, most;
    if (!zero_range(t->type, &least, &most)) return; /* floats may carry ranges that mean nothing */
    if (!isfinite(scale) || scale < 0)
        nnv_flat_fail(r->flat, "scale %.9g (number %u) is not a finite number above 0", (double)scale, i);
    else if (zero < least || zero > most)
        nnv_flat_fail(r->flat, "zero point %lld (number %u) does not fit %s", (long long)zero, i,
                      nnv_tfl_type_name(t->type));
}

static void read_quantisation(struct reader *r, struct nnv_flat_table table, struct nnv_tfl_tensor *t) {
    struct nnv_flat_table q = nnv_flat_child(table, TENSOR_QUANTISATION, "quantization");
    struct nnv_flat_vector scale = nnv_flat_vector_at(q, QUANT_SCALE, 4, "scale");
    struct nnv_flat_vector zero = nnv_flat_vector_at(q, QUANT_ZERO, 8, "zero_point");
    t->odd_quantised = nnv_flat_int(q, QUANT_DETAILS_TYPE, 1, false, 0, "details") != 0;
    if (scale.count == 0 || bad(r)) return;
    int64_t axis = nnv_flat_int(q, QUANT_AXIS, 4, true, 0, "quantized_dimension");
    if (zero.count != scale.count && zero.count != 0) {
        nnv_flat_fail(r->flat, "%u scales but %u zero points", scale.count, zero.count);
        return;
    }
    /* Some writers give a bias the dimension of its filters: it has only one. */
    if (scale.count > 1 && axis > 0 && t->rank == 1) axis = 0;
    if (scale.count > 1 && (axis < 0 || axis >= t->rank || t->dims[axis] != scale.count)) {
        nnv_flat_fail(r->flat, "%u scales along dimension %lld, which has no such extent", scale.count,
                      (long long)axis);
        return;
    }
    float *scales = room(r, scale.count, sizeof *scales);
    int64_t *zeros = room(r, scale.count, sizeof *zeros);
    for (uint32_t i = 0; scales && zeros && i < scale.count && !bad(r); i++) {
        scales[i] = nnv_flat_f32(scale, i);
        zeros[i] = zero.count ? nnv_flat_i64(zero, i) : 0;
        check_scale(r, scales[i], zeros[i], t, i);
    }
    t->scale_count = scale.count;
    t->scales = scales;
    t->zero_points = zeros;
    t->axis = scale.count > 1 ? (uint32_t)axis : 0;
}

/** The bytes that a buffer holds, in itself or behind the tables. */
static bool buffer_data(struct reader *r, uint32_t index, const uint8_t **data, size_t *bytes) {
    struct nnv_flat_table b = nnv_flat_table_of(r->buffers, index, "buffer");
    struct nnv_flat_vector v = nnv_flat_vector_at(b, BUFFER_DATA, 1, "buffer data");
    uint64_t offset = (uint64_t)nnv_flat_int(b, BUFFER_OFFSET, 8, false, 0, "buffer offset");
    uint64_t size = (uint64_t)nnv_flat_int(b, BUFFER_SIZE, 8, false, 0, "buffer size");
    if (bad(r)) return false;
    if (v.present) {
        *data = nnv_flat_bytes(v);
        *bytes = v.count;
        return true;
    }
    if (offset <= 1) return false;
    if (offset > r->flat->size || size > r->flat->size - offset) {
        nnv_flat_fail(r->flat, "buffer %u: %llu bytes at %llu lie outside the file", index, (unsigned long long)size,
                      (unsigned long long)offset);
        return false;
    }
    *data = r->flat->data + offset;
    *bytes = (size_t)size;
    return true;
}

static void read_data(struct reader *r, struct nnv_flat_table table, struct nnv_tfl_tensor *t) {
    int64_t index = nnv_flat_int(table, TENSOR_BUFFER, 4, false, 0, "buffer");
    if (index == 0) return;
    if (index >= r->buffers.count) {
        nnv_flat_fail(r->flat, "buffer %lld of %u", (long long)index, r->buffers.count);
        return;
    }
    const uint8_t *data;
    size_t bytes, size = nnv_tfl_type_bytes(t->type), n = nnv_tfl_elements(t);
    if (!buffer_data(r, (uint32_t)index, &data, &bytes) || (bytes == 0 && n > 0)) return;
    if (t->type == NNV_TFL_INT4 ? bytes != (n + 1) / 2 : size && !t->sparse && bytes != n * size) {
        nnv_flat_fail(r->flat, "%zu bytes of data for %zu elements of %s", bytes, n, nnv_tfl_type_name(t->type));
        return;
    }
    if (t->variable) {
        nnv_flat_fail(r->flat, "a variable has no data of its own");
        return;
    }
    t->data = data;
    t->bytes = bytes;
}

static void read_tensor(struct reader *r, struct nnv_flat_table table, struct nnv_tfl_tensor *t) {
    const char *name = nnv_flat_string(table, TENSOR_NAME, "name");
    t->name = name ? name : "";
    int64_t type = nnv_flat_int(table, TENSOR_TYPE, 1, true, 0, "type");
    if (type < 0 || type >= NNV_TFL_TYPES) {
        nnv_flat_fail(r->flat, "type %lld is none of the schema's", (long long)type);
        return;
    }
    t->type = (int)type;
    t->variable = nnv_flat_int(table, TENSOR_VARIABLE, 1, false, 0, "is_variable") != 0;
    t->sparsity = nnv_flat_child(table, TENSOR_SPARSITY, "sparsity");
    t->sparse = nnv_flat_present(t->sparsity);
    read_shape(r, table, t);
    if (!bad(r)) read_quantisation(r, table, t);
    if (!bad(r)) read_data(r, table, t);
}

/* ------------------------------------------------------------------- operators */

static const int32_t *tensor_indices(struct reader *r, struct nnv_flat_vector v, const char *what, uint32_t ntensors,
                                     bool may_omit) {
    const int32_t *x = ints(r, v);
    for (uint32_t i = 0; x && i < v.count; i++)
        if ((x[i] != -1 || !may_omit) && (x[i] < 0 || (uint32_t)x[i] >= ntensors))
            nnv_flat_fail(r->flat, "%s %u is tensor %d of %u", what, i, x[i], ntensors);
    return x;
}

/** Code, name and version; false with an error. */
static bool read_code(struct reader *r, struct nnv_flat_table table, struct nnv_tfl_operator *op) {
    int64_t index = nnv_flat_int(table, OPERATOR_CODE, 4, false, 0, "opcode_index");
    if (bad(r)) return false;
    if (index >= r->codes.count) {
        nnv_flat_fail(r->flat, "operator code %lld of %u", (long long)index, r->codes.count);
        return false;
    }
    struct nnv_flat_table code = nnv_flat_table_of(r->codes, (uint32_t)index, "operator code");
    int64_t old = nnv_flat_int(code, CODE_OLD, 1, true, 0, "deprecated_builtin_code");
    int64_t new = nnv_flat_int(code, CODE_NEW, 4, true, 0, "builtin_code");
    const char *custom = nnv_flat_string(code, CODE_CUSTOM, "custom_code");
    op->version = (int)nnv_flat_int(code, CODE_VERSION, 4, true, 1, "version");
    op->code = (int)(old > new ? old : new);
    op->custom = custom ? custom : "";
    if (bad(r)) return false;
    if (op->code < 0 || !nnv_tfl_operator_name(op->code) || op->code == PLACEHOLDER || op->code == DELEGATE)
        nnv_flat_fail(r->flat, "operator code %d is none of the schema's", op->code);
    else if (op->code == CUSTOM && !custom)
        nnv_flat_fail(r->flat, "a custom operator without a name");
    else if (op->version < 1)
        nnv_flat_fail(r->flat, "version %d of an operator", op->version);
    return !bad(r);
}

static void read_operator(struct reader *r, struct nnv_flat_table table, uint32_t ntensors,
                          struct nnv_tfl_operator *op) {
    if (!read_code(r, table, op)) return;
    struct nnv_flat_vector in = nnv_flat_vector_at(table, OPERATOR_INPUTS, 4, "inputs");
    struct nnv_flat_vector out = nnv_flat_vector_at(table, OPERATOR_OUTPUTS, 4, "outputs");
    struct nnv_flat_vector between = nnv_flat_vector_at(table, OPERATOR_BETWEEN, 4, "intermediates");
    op->nin = in.count;
    op->nout = out.count;
    op->nbetween = between.count;
    op->in = tensor_indices(r, in, "input", ntensors, true);
    op->out = tensor_indices(r, out, "output", ntensors, false);
    op->between = tensor_indices(r, between, "intermediate", ntensors, true);
    op->options_type = (int)nnv_flat_int(table, OPERATOR_OPTIONS_TYPE, 1, false, 0, "builtin_options_type");
    op->options = nnv_flat_child(table, OPERATOR_OPTIONS, "builtin_options");
    op->custom_options = nnv_flat_vector_at(table, OPERATOR_CUSTOM, 1, "custom_options");
    if (!bad(r) && (op->options_type != 0) != nnv_flat_present(op->options))
        nnv_flat_fail(r->flat, "options without a type, or a type without options");
}

/* ---------------------------------------------------------------------- graphs */

/** Every tensor is written once, and before it is read; only operators' outputs are written. */
static void check_order(struct reader *r, uint32_t g, const struct nnv_tfl_graph *graph) {
    bool *known = room(r, graph->ntensors, sizeof *known);
    if (!known) return;
    for (uint32_t i = 0; i < graph->ntensors; i++) known[i] = graph->tensors[i].data || graph->tensors[i].variable;
    for (uint32_t i = 0; i < graph->nin; i++) {
        at_place(r, "subgraph %u, input %u", g, i);
        if (known[graph->in[i]])
            nnv_flat_fail(r->flat, "tensor %d is a constant, a variable or another input", graph->in[i]);
        known[graph->in[i]] = true;
    }
    for (uint32_t o = 0; o < graph->noperators && !bad(r); o++) {
        const struct nnv_tfl_operator *op = &graph->operators[o];
        at_place(r, "subgraph %u, operator %u (%s)", g, o, nnv_tfl_operator_name(op->code));
        for (uint32_t i = 0; i < op->nin; i++)
            if (op->in[i] >= 0 && !known[op->in[i]])
                nnv_flat_fail(r->flat, "input %u, tensor %d, has no value yet", i, op->in[i]);
        for (uint32_t i = 0; i < op->nout; i++) {
            if (known[op->out[i]]) nnv_flat_fail(r->flat, "output %u, tensor %d, has a value already", i, op->out[i]);
            known[op->out[i]] = true;
        }
    }
    for (uint32_t i = 0; i < graph->nout && !bad(r); i++) {
        at_place(r, "subgraph %u, output %u", g, i);
        if (!known[graph->out[i]]) nnv_flat_fail(r->flat, "tensor %d is never written", graph->out[i]);
    }
}

static void read_tensors(struct reader *r, struct nnv_flat_table table, uint32_t g, struct nnv_tfl_graph *graph) {
    struct nnv_flat_vector v = tables(r, table, GRAPH_TENSORS, "tensors");
    struct nnv_tfl_tensor *t = room(r, v.count, sizeof *t);
    graph->ntensors = v.count;
    graph->tensors = t;
    for (uint32_t i = 0; t && i < v.count && !bad(r); i++) {
        at_place(r, "subgraph %u, tensor %u", g, i);
        read_tensor(r, nnv_flat_table_of(v, i, "tensor"), &t[i]);
    }
}

static void read_operators(struct reader *r, struct nnv_flat_table table, uint32_t g, struct nnv_tfl_graph *graph) {
    struct nnv_flat_vector v = tables(r, table, GRAPH_OPERATORS, "operators");
    struct nnv_tfl_operator *op = room(r, v.count, sizeof *op);
    graph->noperators = v.count;
    graph->operators = op;
    for (uint32_t i = 0; op && i < v.count && !bad(r); i++) {
        at_place(r, "subgraph %u, operator %u", g, i);
        read_operator(r, nnv_flat_table_of(v, i, "operator"), graph->ntensors, &op[i]);
    }
}

static void read_graph(struct reader *r, struct nnv_flat_table table, uint32_t g, struct nnv_tfl_graph *graph) {
    at_place(r, "subgraph %u", g);
    const char *name = nnv_flat_string(table, GRAPH_NAME, "name");
    graph->name = name ? name : "";
    read_tensors(r, table, g, graph);
    at_place(r, "subgraph %u", g);
    struct nnv_flat_vector in = nnv_flat_vector_at(table, GRAPH_INPUTS, 4, "inputs");
    struct nnv_flat_vector out = nnv_flat_vector_at(table, GRAPH_OUTPUTS, 4, "outputs");
    graph->nin = in.count;
    graph->nout = out.count;
    graph->in = tensor_indices(r, in, "input", graph->ntensors, false);
    graph->out = tensor_indices(r, out, "output", graph->ntensors, false);
    if (!bad(r)) read_operators(r, table, g, graph);
    if (!bad(r)) check_order(r, g, graph);
}

static void read_model(struct reader *r, struct nnv_flat_table root) {
    int64_t version = nnv_flat_int(root, MODEL_VERSION, 4, false, 0, "version");
    if (!bad(r) && version != SCHEMA_VERSION)
        nnv_flat_fail(r->flat, "version %lld of the schema; only %d is known", (long long)version, SCHEMA_VERSION);
    const char *description = nnv_flat_string(root, MODEL_DESCRIPTION, "description");
    r->file->description = description ? description : "";
    r->codes = tables(r, root, MODEL_CODES, "operator_codes");
    r->buffers = nnv_flat_vector_at(root, MODEL_BUFFERS, 4, "buffers");
    struct nnv_flat_vector v = tables(r, root, MODEL_GRAPHS, "subgraphs");
    if (!bad(r) && v.count == 0) nnv_flat_fail(r->flat, "there is no subgraph");
    struct nnv_tfl_graph *graphs = bad(r) ? NULL : room(r, v.count, sizeof *graphs);
    r->file->ngraphs = v.count;
    r->file->graphs = graphs;
    for (uint32_t i = 0; graphs && i < v.count && !bad(r); i++) {
        at_place(r, "subgraph %u", i);
        read_graph(r, nnv_flat_table_of(v, i, "subgraph"), i, &graphs[i]);
    }
}

enum nnv_status nnv_tfl_read(const void *data, size_t size, const char *where, struct nnv_arena *arena,
                             struct nnv_tfl_file *out, struct nnv_err *err) {
    *out = (struct nnv_tfl_file){.description = ""};
    struct reader r = {.file = out, .arena = arena, .flat = &out->flat};
    struct nnv_flat_table root = nnv_flat_root(&out->flat, data, size, "TFL3");
    if (!bad(&r)) read_model(&r, root);
    out->flat.place = NULL;
    if (r.no_memory) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", where);
    return nnv_flat_failed(&out->flat) ? nnv_fail(err, NNV_INVALID, "%s: %s", where, out->flat.err.text) : NNV_OK;
}

/* ----------------------------------------------------------------------- names */

size_t nnv_tfl_elements(const struct nnv_tfl_tensor *t) {
    size_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) n *= t->dims[i];
    return n;
}

/** Types by number, with the bytes of an element; 0: none of their own. */
static const struct {
    const char *name;
    uint8_t bytes;
} types[NNV_TFL_TYPES] = {
    {"FLOAT32", 4},  {"FLOAT16", 2},  {"INT32", 4},     {"UINT8", 1},         {"INT64", 8},       {"STRING", 0},
    {"BOOL", 1},     {"INT16", 2},    {"COMPLEX64", 8}, {"INT8", 1},          {"FLOAT64", 8},     {"COMPLEX128", 16},
    {"UINT64", 8},   {"RESOURCE", 0}, {"VARIANT", 0},   {"UINT32", 4},        {"UINT16", 2},      {"INT4", 0},
    {"BFLOAT16", 2}, {"INT2", 0},     {"UINT4", 0},     {"FLOAT8_E4M3FN", 1}, {"FLOAT8_E5M2", 1},
};

size_t nnv_tfl_type_bytes(int type) { return types[type].bytes; }
const char *nnv_tfl_type_name(int type) { return types[type].name; }

const char *nnv_tfl_operator_name(int code) {
    switch (code) {
#define X(name, number)                                                                                                \
    case number:                                                                                                       \
        return #name;
#include "mlts/tflite/tflite_operators.def"
#undef X
    default:
        return NULL;
    }
}
