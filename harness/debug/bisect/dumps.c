/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/bisect/dumps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { BYTES_MOST = 1 << 30, RANK_MOST = 8 };

/** The numbers in a file, and their shape where it tells. */
struct numbers {
    double *v;
    size_t n;
    uint32_t rank, dims[RANK_MOST];
    bool whole; /**< of an integer type */
};

/* ----------------------------------------------------------------------------- .npy */

/** Element types of NumPy in little-endian order; those of NNAPI have the same bytes. */
static const struct element {
    const char *descr;
    int32_t type; /**< of nnv_load(); -1: of 8 bytes */
    size_t size;
    bool whole;
} elements[] = {{"<f4", ANEURALNETWORKS_TENSOR_FLOAT32, 4, false},
                {"<f2", ANEURALNETWORKS_TENSOR_FLOAT16, 2, false},
                {"<f8", -1, 8, false},
                {"|i1", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, 1, true},
                {"|u1", ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, 1, true},
                {"|b1", ANEURALNETWORKS_TENSOR_BOOL8, 1, true},
                {"<i2", ANEURALNETWORKS_TENSOR_QUANT16_SYMM, 2, true},
                {"<u2", ANEURALNETWORKS_TENSOR_QUANT16_ASYMM, 2, true},
                {"<i4", ANEURALNETWORKS_TENSOR_INT32, 4, true},
                {"<i8", -1, 8, true}};

static void load(const struct element *e, const char *from, size_t n, double *to) {
    if (e->type >= 0) {
        nnv_load(e->type, from, n, to);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        int64_t whole;
        memcpy(&to[i], from + 8 * i, 8);
        memcpy(&whole, from + 8 * i, 8);
        if (e->whole) to[i] = (double)whole;
    }
}

/** The text behind 'key': in the header; NULL: it is not there. */
static const char *member(const char *header, const char *key) {
    const char *at = strstr(header, key);
    at = at ? strchr(at, ':') : NULL;
    return at ? at + 1 + strspn(at + 1, " ") : NULL;
}

/** "(1, 4, 4, 3)" */
static bool read_shape(const char *s, struct numbers *out) {
    char *end;
    if (!s || *s != '(') return false;
    out->rank = 0;
    out->n = 1;
    for (s++; *s && *s != ')'; s += strspn(s, ", ")) {
        const unsigned long d = strtoul(s, &end, 10);
        if (end == s || out->rank == RANK_MOST || d > UINT32_MAX || __builtin_mul_overflow(out->n, d, &out->n))
            return false;
        out->dims[out->rank++] = (uint32_t)d;
        s = end;
    }
    return *s == ')';
}

static const char *read_npy(const char *data, size_t size, struct nnv_arena *arena, struct numbers *out) {
    static const char magic[] = "\x93NUMPY";
    const unsigned char *b = (const unsigned char *)data;
    if (size < 12 || memcmp(data, magic, sizeof magic - 1) != 0) return "is no .npy file";
    const size_t start = b[6] == 1 ? 10 : 12;
    const size_t length = b[6] == 1 ? b[8] + 256u * b[9] : b[8] + 256u * b[9] + 65536u * b[10] + 16777216u * b[11];
    if (b[6] > 3 || length > size - start) return "has a header that is cut off";
    const char *header = nnv_arena_printf(arena, "%.*s", (int)length, data + start);
    const char *descr = header ? member(header, "'descr'") : NULL,
               *order = header ? member(header, "'fortran_order'") : NULL;
    const struct element *e = NULL;
    for (size_t i = 0; descr && *descr == '\'' && i < sizeof elements / sizeof *elements; i++)
        if (strncmp(descr + 1, elements[i].descr, 3) == 0) e = &elements[i];
    if (!e) return "has elements of a type that is not read";
    if (!order || strncmp(order, "False", 5) != 0) return "is in Fortran's order";
    if (!read_shape(member(header, "'shape'"), out) || (size - start - length) / e->size < out->n)
        return "has fewer elements than its shape";
    out->whole = e->whole;
    out->v = NNV_NEW(arena, double, out->n + 1);
    if (!out->v) return NNV_OUT_OF_MEMORY;
    load(e, data + start + length, out->n, out->v);
    return NULL;
}

/** Bytes of the operand's type, or float32. */
static const char *read_raw(const struct nnv_operand *o, size_t elems, const char *data, size_t size,
                            struct nnv_arena *arena, struct numbers *out) {
    const size_t own = nnv_type(o->type)->size;
    out->n = elems;
    out->v = NNV_NEW(arena, double, elems + 1);
    if (!out->v) return NNV_OUT_OF_MEMORY;
    out->whole = size == elems * own && !nnv_is_float(o->type);
    if (size == elems * own)
        nnv_load(o->type, data, elems, out->v);
    else if (size == elems * 4)
        nnv_load(ANEURALNETWORKS_TENSOR_FLOAT32, data, elems, out->v);
    else
        return "has another number of bytes than the result";
    return NULL;
}

/* ------------------------------------------------------------------------- a result */

static bool is_nchw(const struct numbers *n, const struct nnv_value *like) {
    const uint32_t *d = like->dims;
    return n->rank == 4 && like->rank == 4 && n->dims[0] == d[0] && n->dims[1] == d[3] && n->dims[2] == d[1] &&
           n->dims[3] == d[2] && !(d[1] == d[3] && d[2] == d[1]);
}

static double *to_nhwc(const struct numbers *n, struct nnv_arena *arena) {
    const size_t area = (size_t)n->dims[2] * n->dims[3], channels = n->dims[1];
    double *v = NNV_NEW(arena, double, n->n + 1);
    for (size_t i = 0; v && i < n->n; i++)
        v[i / (area * channels) * area * channels + i % area * channels + i / area % channels] = n->v[i];
    return v;
}

static const char *take(const struct nnv_operand *o, const struct numbers *n, const struct nnv_value *like,
                        struct nnv_arena *arena, struct nnv_value *out) {
    const size_t elems = like->bytes / nnv_type(o->type)->size;
    if (n->n != elems) return "has another number of elements than the result";
    double *v = is_nchw(n, like) ? to_nhwc(n, arena) : n->v;
    void *data = nnv_arena_alloc(arena, like->bytes + 1, 64);
    if (!v || !data) return NNV_OUT_OF_MEMORY;
    if (nnv_is_quant(o->type) && !nnv_type(o->type)->per_channel && !n->whole)
        for (size_t i = 0; i < elems; i++) v[i] = v[i] / (double)o->scale + o->zero_point;
    nnv_store(o->type, v, elems, data);
    *out = *like;
    out->data = data;
    return NULL;
}

/** The operand that a file of this name, which begins with a digit, holds; else why there is none. */
static const char *find_operand(const struct nnv_subgraph *m, const char *name, uint32_t *operand) {
    char *end;
    unsigned long output = 0;
    const unsigned long operation = strtoul(name, &end, 10);
    if (*end == '.' && isdigit((unsigned char)end[1])) output = strtoul(end + 1, &end, 10);
    if (operation >= m->noperations) return "is called by the number of an operation that the model does not have";
    if (output >= m->operations[operation].nout) return "is of a result that its operation does not have";
    *operand = m->operations[operation].out[output];
    return NULL;
}

static const char *read_file(const char *path, const struct nnv_operand *o, const struct nnv_value *like,
                             struct nnv_arena *arena, struct nnv_value *out) {
    struct numbers n = {0};
    char *data;
    size_t size;
    if (nnv_file_read(path, BYTES_MOST, &data, &size, NULL) != NNV_OK) return "cannot be read";
    const char *why = nnv_ends_with(path, ".npy")
                          ? read_npy(data, size, arena, &n)
                          : read_raw(o, like->bytes / nnv_type(o->type)->size, data, size, arena, &n);
    if (!why) why = take(o, &n, like, arena, out);
    free(data);
    return why;
}

enum nnv_status nnv_dumps_read(const char *folder, const struct nnv_spec *spec, const struct nnv_value *like,
                               struct nnv_arena *arena, struct nnv_value *given, size_t *count, struct nnv_err *err) {
    static const char *const suffixes[] = {".npy", ".raw", ".bin", NULL};
    const struct nnv_subgraph *m = &spec->model.main;
    char **paths;
    size_t n;
    *count = 0;
    enum nnv_status st = nnv_file_list(folder, suffixes, &paths, &n, err);
    if (st != NNV_OK) return st;
    for (size_t i = 0; i < n && st == NNV_OK; i++) {
        const char *slash = strrchr(paths[i], '/'), *name = slash ? slash + 1 : paths[i];
        uint32_t operand = 0;
        if (!isdigit((unsigned char)*name)) continue;
        const char *why = find_operand(m, name, &operand);
        if (!why && !like[operand].data) continue;
        if (!why) why = read_file(paths[i], &m->operands[operand], &like[operand], arena, &given[operand]);
        if (why) st = nnv_fail(err, NNV_INVALID, "%s %s", paths[i], why);
        ++*count;
    }
    nnv_file_list_free(paths, n);
    if (st == NNV_OK && *count == 0)
        st = nnv_fail(err, NNV_INVALID, "%s: no file is called by the number of an operation, as 7.npy is", folder);
    return st;
}
