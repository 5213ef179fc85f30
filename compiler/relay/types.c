/* SPDX-License-Identifier: Apache-2.0 */
/* Types of Relay: making, comparing, and printing them. */
#include <inttypes.h>
#include <string.h>

#include "compiler/relay/relay.h"

static const struct {
    const char *name;
    uint8_t size;
    bool is_float;
} dtypes[NNV_RELAY_DTYPES] = {
    [NNV_RELAY_BOOL] = {"bool", 1, false},        [NNV_RELAY_INT8] = {"int8", 1, false},
    [NNV_RELAY_INT16] = {"int16", 2, false},      [NNV_RELAY_INT32] = {"int32", 4, false},
    [NNV_RELAY_INT64] = {"int64", 8, false},      [NNV_RELAY_UINT8] = {"uint8", 1, false},
    [NNV_RELAY_UINT16] = {"uint16", 2, false},    [NNV_RELAY_UINT32] = {"uint32", 4, false},
    [NNV_RELAY_UINT64] = {"uint64", 8, false},    [NNV_RELAY_FLOAT16] = {"float16", 2, true},
    [NNV_RELAY_FLOAT32] = {"float32", 4, true},   [NNV_RELAY_FLOAT64] = {"float64", 8, true},
    [NNV_RELAY_BFLOAT16] = {"bfloat16", 2, true},
};

const char *nnv_relay_dtype_name(enum nnv_relay_dtype dtype) { return dtypes[dtype].name; }

size_t nnv_relay_dtype_size(enum nnv_relay_dtype dtype) { return dtypes[dtype].size; }

bool nnv_relay_dtype_is_float(enum nnv_relay_dtype dtype) { return dtypes[dtype].is_float; }

bool nnv_relay_dtype_by_name(const char *name, size_t len, enum nnv_relay_dtype *dtype) {
    /* TVM's own words: one bit is bool, and what names no bits has 32 */
    static const struct {
        const char *name;
        enum nnv_relay_dtype dtype;
    } others[] = {
        {"uint1", NNV_RELAY_BOOL}, {"int", NNV_RELAY_INT32}, {"uint", NNV_RELAY_UINT32}, {"float", NNV_RELAY_FLOAT32}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strlen(others[i].name) != len || memcmp(others[i].name, name, len) != 0) continue;
        *dtype = others[i].dtype;
        return true;
    }
    for (int i = 0; i < NNV_RELAY_DTYPES; i++) {
        if (strlen(dtypes[i].name) != len || memcmp(dtypes[i].name, name, len) != 0) continue;
        *dtype = (enum nnv_relay_dtype)i;
        return true;
    }
    return false;
}

static struct nnv_relay_type *new_type(struct nnv_arena *a, enum nnv_relay_type_kind kind) {
    struct nnv_relay_type *t = NNV_NEW(a, struct nnv_relay_type, 1);
    if (t) t->kind = kind;
    return t;
}

const struct nnv_relay_type *nnv_relay_tensor_type(struct nnv_arena *a, enum nnv_relay_dtype dtype, size_t n_dims,
                                                   const int64_t *dims) {
    struct nnv_relay_type *t = new_type(a, NNV_RELAY_TENSOR);
    if (t == NULL) return NULL;
    t->dtype = dtype;
    t->n_dims = n_dims;
    t->dims = nnv_arena_copy(a, dims, n_dims * sizeof *dims); /* also of a scalar: dims are never NULL */
    return t->dims ? t : NULL;
}

static const struct nnv_relay_type *of_fields(struct nnv_arena *a, enum nnv_relay_type_kind kind, size_t n,
                                              const struct nnv_relay_type *const *fields,
                                              const struct nnv_relay_type *result) {
    struct nnv_relay_type *t = new_type(a, kind);
    if (t == NULL) return NULL;
    t->n_fields = n;
    t->result = result;
    t->depth = result ? result->depth + 1 : 1;
    for (size_t i = 0; i < n; i++)
        if (fields[i] && fields[i]->depth >= t->depth) t->depth = fields[i]->depth + 1;
    if (n && (t->fields = nnv_arena_copy(a, fields, n * sizeof *fields)) == NULL) return NULL;
    return t;
}

const struct nnv_relay_type *nnv_relay_tuple_type(struct nnv_arena *a, size_t n,
                                                  const struct nnv_relay_type *const *fields) {
    return of_fields(a, NNV_RELAY_TUPLE_TYPE, n, fields, NULL);
}

const struct nnv_relay_type *nnv_relay_fn_type(struct nnv_arena *a, size_t n,
                                               const struct nnv_relay_type *const *params,
                                               const struct nnv_relay_type *result) {
    return of_fields(a, NNV_RELAY_FN_TYPE, n, params, result);
}

bool nnv_relay_type_equal(const struct nnv_relay_type *a, const struct nnv_relay_type *b) {
    if (a == b) return true;
    if (a == NULL || b == NULL || a->kind != b->kind) return false;
    if (a->kind == NNV_RELAY_TENSOR)
        return a->dtype == b->dtype && a->n_dims == b->n_dims &&
               (a->n_dims == 0 || memcmp(a->dims, b->dims, a->n_dims * sizeof *a->dims) == 0);
    if (a->n_fields != b->n_fields) return false;
    for (size_t i = 0; i < a->n_fields; i++)
        if (!nnv_relay_type_equal(a->fields[i], b->fields[i])) return false;
    return nnv_relay_type_equal(a->result, b->result);
}

bool nnv_relay_type_fits(const struct nnv_relay_type *wanted, const struct nnv_relay_type *is) {
    if (wanted == is) return true;
    if (wanted == NULL || is == NULL || wanted->kind == NNV_RELAY_UNKNOWN || is->kind == NNV_RELAY_UNKNOWN) return true;
    if (wanted->kind != is->kind) return false;
    if (wanted->kind == NNV_RELAY_TENSOR) {
        if (wanted->dtype != is->dtype || wanted->n_dims != is->n_dims) return false;
        for (size_t i = 0; i < is->n_dims; i++)
            if (wanted->dims[i] != is->dims[i] && wanted->dims[i] >= 0 && is->dims[i] >= 0) return false;
        return true;
    }
    if (wanted->n_fields != is->n_fields) return false;
    for (size_t i = 0; i < is->n_fields; i++)
        if (!nnv_relay_type_fits(wanted->fields[i], is->fields[i])) return false;
    return nnv_relay_type_fits(wanted->result, is->result);
}

bool nnv_relay_type_known(const struct nnv_relay_type *t) {
    if (t == NULL || t->kind == NNV_RELAY_UNKNOWN) return false;
    for (size_t i = 0; i < t->n_dims; i++)
        if (t->dims[i] < 0) return false;
    for (size_t i = 0; i < t->n_fields; i++)
        if (!nnv_relay_type_known(t->fields[i])) return false;
    return true;
}

bool nnv_relay_type_elems(const struct nnv_relay_type *t, size_t *elems, size_t *bytes) {
    uint64_t most = UINT64_C(1) << 62, n = 1;
    if (t->kind != NNV_RELAY_TENSOR) return false;
    bool empty = false;
    for (size_t i = 0; i < t->n_dims; i++) {
        if (t->dims[i] < 0) return false;
        empty = empty || t->dims[i] == 0;
    }
    for (size_t i = 0; i < t->n_dims && !empty; i++)
        if (__builtin_mul_overflow(n, (uint64_t)t->dims[i], &n) || n > most) return false;
    if (empty) n = 0;
    if (n > most / dtypes[t->dtype].size) return false;
    *elems = (size_t)n;
    *bytes = (size_t)n * dtypes[t->dtype].size;
    return true;
}

static void print_tensor(const struct nnv_relay_type *t, struct nnv_text *out) {
    if (t->n_dims == 0) {
        nnv_text_add(out, dtypes[t->dtype].name);
        return;
    }
    nnv_text_add(out, "Tensor[(");
    for (size_t i = 0; i < t->n_dims; i++) {
        if (i) nnv_text_add(out, ", ");
        if (t->dims[i] < 0)
            nnv_text_add(out, "?");
        else
            nnv_text_addf(out, "%" PRId64, t->dims[i]);
    }
    nnv_text_addf(out, "), %s]", dtypes[t->dtype].name);
}

static void print_fields(const struct nnv_relay_type *t, struct nnv_text *out) {
    nnv_text_add(out, "(");
    for (size_t i = 0; i < t->n_fields; i++) {
        if (i) nnv_text_add(out, ", ");
        nnv_relay_type_print(t->fields[i], out);
    }
    nnv_text_add(out, t->kind == NNV_RELAY_TUPLE_TYPE && t->n_fields == 1 ? ",)" : ")");
}

void nnv_relay_type_print(const struct nnv_relay_type *t, struct nnv_text *out) {
    if (t == NULL) {
        nnv_text_add(out, "_");
        return;
    }
    switch (t->kind) {
    case NNV_RELAY_TENSOR:
        print_tensor(t, out);
        break;
    case NNV_RELAY_TUPLE_TYPE:
        print_fields(t, out);
        break;
    case NNV_RELAY_FN_TYPE:
        nnv_text_add(out, "fn ");
        print_fields(t, out);
        nnv_text_add(out, " -> ");
        nnv_relay_type_print(t->result, out);
        break;
    case NNV_RELAY_UNKNOWN:
        nnv_text_add(out, "_");
        break;
    }
}
