/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter files: TVM's binary form, little-endian, and JSON. */
#include "compiler/relay/text/params.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/type.h"

static const uint64_t array_magic = UINT64_C(0xDD5E40F096B4A13F), list_magic = UINT64_C(0xF7E58D4F05049CB7);

/** The codes of element types in the binary form. */
enum { CODE_INT, CODE_UINT, CODE_FLOAT, CODE_BFLOAT = 4, CODE_BOOL = 6 };

static const struct {
    uint8_t code, bits;
} codes[NNV_RELAY_DTYPES] = {
    [NNV_RELAY_BOOL] = {CODE_UINT, 1},        [NNV_RELAY_INT8] = {CODE_INT, 8},
    [NNV_RELAY_INT16] = {CODE_INT, 16},       [NNV_RELAY_INT32] = {CODE_INT, 32},
    [NNV_RELAY_INT64] = {CODE_INT, 64},       [NNV_RELAY_UINT8] = {CODE_UINT, 8},
    [NNV_RELAY_UINT16] = {CODE_UINT, 16},     [NNV_RELAY_UINT32] = {CODE_UINT, 32},
    [NNV_RELAY_UINT64] = {CODE_UINT, 64},     [NNV_RELAY_FLOAT16] = {CODE_FLOAT, 16},
    [NNV_RELAY_FLOAT32] = {CODE_FLOAT, 32},   [NNV_RELAY_FLOAT64] = {CODE_FLOAT, 64},
    [NNV_RELAY_BFLOAT16] = {CODE_BFLOAT, 16},
};

/* ------------------------------------------------------------------- arrays */

/** What is left to read. */
struct input {
    const uint8_t *at;
    size_t left;
};

static bool take(struct input *in, void *to, size_t n) {
    if (n > in->left) return false;
    memcpy(to, in->at, n);
    in->at += n;
    in->left -= n;
    return true;
}

static bool dtype_of(uint8_t code, uint8_t bits, enum nnv_relay_dtype *dtype) {
    *dtype = NNV_RELAY_BOOL;
    if (code == CODE_BOOL && bits == 8) return true;
    for (int i = 0; i < NNV_RELAY_DTYPES; i++) {
        *dtype = (enum nnv_relay_dtype)i;
        if (codes[i].code == code && codes[i].bits == bits) return true;
    }
    return false;
}

/* Element type and shape. */
static enum nnv_status read_type(struct input *in, struct nnv_arena *arena, const struct nnv_relay_type **type,
                                 struct nnv_err *err) {
    int32_t n_dims;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t dims[NNV_RELAY_RANK];
    enum nnv_relay_dtype dtype;
    if (!take(in, &n_dims, 4) || !take(in, &code, 1) || !take(in, &bits, 1) || !take(in, &lanes, 2))
        return nnv_fail(err, NNV_INVALID, "the array ends within its header");
    if (n_dims < 0 || n_dims > NNV_RELAY_RANK)
        return nnv_fail(err, NNV_INVALID, "an array of %" PRId32 " dimensions; at most %d", n_dims, NNV_RELAY_RANK);
    if (lanes != 1 || !dtype_of(code, bits, &dtype))
        return nnv_fail(err, NNV_INVALID, "element type (code %u, %u bits, %u lanes) is not known", (unsigned)code,
                        (unsigned)bits, (unsigned)lanes);
    if (!take(in, dims, (size_t)n_dims * 8)) return nnv_fail(err, NNV_INVALID, "the array ends within its shape");
    for (int i = 0; i < n_dims; i++)
        if (dims[i] < 0) return nnv_fail(err, NNV_INVALID, "dimension %d is negative", i);
    *type = nnv_relay_tensor_type(arena, dtype, (size_t)n_dims, dims);
    return *type ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status read_array(struct input *in, struct nnv_arena *arena, const struct nnv_relay_tensor **tensor,
                                  struct nnv_err *err) {
    uint64_t magic, reserved, device, bytes;
    struct nnv_relay_tensor t = {0};
    size_t elems;
    if (!take(in, &magic, 8) || magic != array_magic)
        return nnv_fail(err, NNV_INVALID, "this is no array: it does not begin with its mark");
    if (!take(in, &reserved, 8) || !take(in, &device, 8))
        return nnv_fail(err, NNV_INVALID, "the array ends within its header");
    enum nnv_status st = read_type(in, arena, &t.type, err);
    if (st != NNV_OK) return st;
    if (!nnv_relay_type_elems(t.type, &elems, &t.bytes)) return nnv_fail(err, NNV_INVALID, "the array is too large");
    if (!take(in, &bytes, 8) || bytes != t.bytes)
        return nnv_fail(err, NNV_INVALID, "the array's byte count does not fit its shape (%zu bytes)", t.bytes);
    if (t.bytes > in->left)
        return nnv_fail(err, NNV_INVALID, "the array ends %zu bytes before its values do", t.bytes - in->left);
    t.data = nnv_arena_copy(arena, in->at, t.bytes);
    *tensor = nnv_arena_copy(arena, &t, sizeof t);
    if (t.data == NULL || *tensor == NULL) return nnv_no_memory(err);
    in->at += t.bytes;
    in->left -= t.bytes;
    return NNV_OK;
}

enum nnv_status nnv_relay_array_read(const void *data, size_t len, struct nnv_arena *arena,
                                     const struct nnv_relay_tensor **tensor, size_t *used, struct nnv_err *err) {
    struct input in = {data, len};
    enum nnv_status st = read_array(&in, arena, tensor, err);
    if (st == NNV_OK) *used = len - in.left;
    return st;
}

static void put(struct nnv_text *out, uint64_t v, size_t bytes) {
    char le[8];
    for (size_t i = 0; i < 8; i++) le[i] = (char)(v >> 8 * i);
    nnv_text_add_n(out, le, bytes);
}

void nnv_relay_array_write(const struct nnv_relay_tensor *t, struct nnv_text *out) {
    put(out, array_magic, 8);
    put(out, 0, 8);
    put(out, 1, 4); /* the device: CPU 0 */
    put(out, 0, 4);
    put(out, t->type->n_dims, 4);
    put(out, codes[t->type->dtype].code, 1);
    put(out, codes[t->type->dtype].bits, 1);
    put(out, 1, 2);
    for (size_t i = 0; i < t->type->n_dims; i++) put(out, (uint64_t)t->type->dims[i], 8);
    put(out, t->bytes, 8);
    nnv_text_add_n(out, t->data, t->bytes);
}

/* ------------------------------------------------------------------- binary */

static enum nnv_status read_names(struct input *in, struct nnv_arena *arena, struct nnv_relay_params *params,
                                  struct nnv_err *err) {
    uint64_t n, len;
    if (!take(in, &n, 8) || n > in->left / 8)
        return nnv_fail(err, NNV_INVALID, "the number of names does not fit the file's length");
    params->n = (size_t)n;
    params->params = NNV_NEW(arena, struct nnv_relay_param, params->n);
    if (params->params == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < params->n; i++) {
        if (!take(in, &len, 8) || len > in->left) return nnv_fail(err, NNV_INVALID, "the file ends within name %zu", i);
        char *name = nnv_arena_alloc(arena, (size_t)len + 1, 1);
        if (name == NULL) return nnv_no_memory(err);
        (void)take(in, name, (size_t)len);
        params->params[i].name = name;
    }
    return NNV_OK;
}

static enum nnv_status read_binary(struct input in, struct nnv_arena *arena, struct nnv_relay_params *params,
                                   struct nnv_err *err) {
    uint64_t magic, reserved, n;
    if (!take(&in, &magic, 8) || !take(&in, &reserved, 8))
        return nnv_fail(err, NNV_INVALID, "the file ends within its header");
    enum nnv_status st = read_names(&in, arena, params, err);
    if (st != NNV_OK) return st;
    if (!take(&in, &n, 8) || n != params->n)
        return nnv_fail(err, NNV_INVALID, "there are %zu names, and not as many arrays", params->n);
    for (size_t i = 0; i < params->n && st == NNV_OK; i++) {
        st = read_array(&in, arena, &params->params[i].tensor, err);
        if (st != NNV_OK) return nnv_at(err, st, "parameter '%s'", params->params[i].name);
    }
    return in.left == 0 ? NNV_OK : nnv_fail(err, NNV_INVALID, "%zu bytes behind the last array", in.left);
}

void nnv_relay_params_write(const struct nnv_relay_params *params, struct nnv_text *out) {
    put(out, list_magic, 8);
    put(out, 0, 8);
    put(out, params->n, 8);
    for (size_t i = 0; i < params->n; i++) {
        put(out, strlen(params->params[i].name), 8);
        nnv_text_add(out, params->params[i].name);
    }
    put(out, params->n, 8);
    for (size_t i = 0; i < params->n; i++) nnv_relay_array_write(params->params[i].tensor, out);
}

/* --------------------------------------------------------------------- JSON */

bool nnv_relay_element(enum nnv_relay_dtype dtype, bool whole, int64_t i, double d, void *to) {
    size_t bytes = nnv_relay_dtype_size(dtype);
    if (!nnv_relay_dtype_is_float(dtype)) {
        bool is_signed = dtype >= NNV_RELAY_INT8 && dtype <= NNV_RELAY_INT64;
        int64_t high = bytes == 8 ? INT64_MAX : ((int64_t)1 << (8 * bytes - is_signed)) - 1;
        int64_t low = is_signed ? -high - 1 : 0;
        if (dtype == NNV_RELAY_BOOL) high = 1;
        if (!whole || i < low || i > high) return false;
        memcpy(to, &i, bytes); /* little-endian */
        return true;
    }
    float f = (float)d;
    uint16_t half = nnv_double_to_half(d);
    uint32_t word;
    memcpy(&word, &f, sizeof word);
    uint16_t brain = (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
    const void *from = dtype == NNV_RELAY_FLOAT64   ? (const void *)&d
                       : dtype == NNV_RELAY_FLOAT32 ? (const void *)&f
                       : dtype == NNV_RELAY_FLOAT16 ? (const void *)&half
                                                    : (const void *)&brain;
    memcpy(to, from, bytes);
    return true;
}

/* One number of the JSON as an element at `to`. */
static bool store(enum nnv_relay_dtype dtype, const json_t *v, void *to) {
    if (json_is_boolean(v) && dtype == NNV_RELAY_BOOL) return nnv_relay_element(dtype, true, json_is_true(v), 0, to);
    return json_is_number(v) &&
           nnv_relay_element(dtype, json_is_integer(v), json_integer_value(v), json_number_value(v), to);
}

void *nnv_relay_base64(const char *s, size_t len, struct nnv_arena *arena, size_t *bytes) {
    if (len % 4) return NULL;
    *bytes = len / 4 * 3;
    for (size_t i = 1; i <= 2 && len; i++) *bytes -= s[len - i] == '=';
    void *data = nnv_arena_alloc(arena, *bytes + 1, 1);
    return data && nnv_base64_decode(s, len, data, *bytes) ? data : NULL;
}

static enum nnv_status read_values(const json_t *data, struct nnv_relay_tensor *t, size_t elems,
                                   struct nnv_arena *arena, struct nnv_err *err) {
    if (json_is_string(data)) {
        size_t bytes = 0;
        t->data = nnv_relay_base64(json_string_value(data), json_string_length(data), arena, &bytes);
        if (t->data == NULL || bytes != t->bytes)
            return nnv_fail(err, NNV_INVALID, "data is not base64 of %zu bytes", t->bytes);
        return NNV_OK;
    }
    if (!json_is_array(data) || json_array_size(data) != elems)
        return nnv_fail(err, NNV_INVALID, "data must be a list of %zu numbers (or base64 text)", elems);
    size_t size = nnv_relay_dtype_size(t->type->dtype);
    char *values = nnv_arena_alloc(arena, elems, size);
    if (values == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < elems; i++)
        if (!store(t->type->dtype, json_array_get(data, i), values + i * size))
            return nnv_fail(err, NNV_INVALID, "data[%zu] does not fit in %s", i, nnv_relay_dtype_name(t->type->dtype));
    t->data = values;
    return NNV_OK;
}

static enum nnv_status read_tensor(const json_t *entry, struct nnv_arena *arena, const struct nnv_relay_tensor **tensor,
                                   struct nnv_err *err) {
    const json_t *dtype = json_object_get(entry, "dtype"), *shape = json_object_get(entry, "shape");
    enum nnv_relay_dtype d;
    int64_t dims[NNV_RELAY_RANK];
    if (!json_is_string(dtype) || !nnv_relay_dtype_by_name(json_string_value(dtype), json_string_length(dtype), &d))
        return nnv_fail(err, NNV_INVALID, "dtype is missing or not known");
    size_t n = json_array_size(shape), elems;
    if (!json_is_array(shape) || n > NNV_RELAY_RANK)
        return nnv_fail(err, NNV_INVALID, "shape must be a list of at most %d dimensions", NNV_RELAY_RANK);
    for (size_t i = 0; i < n; i++) {
        dims[i] = json_integer_value(json_array_get(shape, i));
        if (!json_is_integer(json_array_get(shape, i)) || dims[i] < 0)
            return nnv_fail(err, NNV_INVALID, "shape[%zu] is no dimension", i);
    }
    struct nnv_relay_tensor *t = NNV_NEW(arena, struct nnv_relay_tensor, 1);
    if (t == NULL || (t->type = nnv_relay_tensor_type(arena, d, n, dims)) == NULL) return nnv_no_memory(err);
    if (!nnv_relay_type_elems(t->type, &elems, &t->bytes)) return nnv_fail(err, NNV_INVALID, "shape is too large");
    *tensor = t;
    return read_values(json_object_get(entry, "data"), t, elems, arena, err);
}

static enum nnv_status read_json(const void *data, size_t len, struct nnv_arena *arena, struct nnv_relay_params *params,
                                 struct nnv_err *err) {
    json_error_t where;
    const char *key;
    json_t *entry, *root = json_loadb(data, len, JSON_REJECT_DUPLICATES, &where);
    enum nnv_status st = NNV_OK;
    size_t n = 0;
    if (!json_is_object(root)) {
        json_decref(root);
        return nnv_fail(err, NNV_INVALID, "neither a binary parameter file nor a JSON object%s%s", root ? "" : ": ",
                        root ? "" : where.text);
    }
    params->params = NNV_NEW(arena, struct nnv_relay_param, json_object_size(root));
    if (params->params == NULL) st = nnv_no_memory(err);
    json_object_foreach(root, key, entry) {
        if (st != NNV_OK) break;
        struct nnv_relay_param *p = &params->params[n++];
        p->name = nnv_arena_strdup(arena, key);
        st = p->name ? read_tensor(entry, arena, &p->tensor, err) : nnv_no_memory(err);
        if (st != NNV_OK) st = nnv_at(err, st, "parameter '%s'", key);
    }
    params->n = n;
    json_decref(root);
    return st;
}

/* ------------------------------------------------------------------ either */

enum nnv_status nnv_relay_params_read(const void *data, size_t len, const char *name, struct nnv_arena *arena,
                                      struct nnv_relay_params *params, struct nnv_err *err) {
    struct nnv_relay_params read = {0};
    struct input in = {data, len};
    uint64_t magic = 0;
    bool binary = len >= 8 && (memcpy(&magic, data, 8), magic == list_magic);
    enum nnv_status st = binary ? read_binary(in, arena, &read, err) : read_json(data, len, arena, &read, err);
    if (st != NNV_OK) return nnv_at(err, st, "%s", name);
    *params = read;
    return NNV_OK;
}

/* ------------------------------------------------------------------ binding */

/** What stands for the parameters: constants by the variable's id. */
struct binding {
    struct nnv_relay_expr **by_id;
    uint32_t n;
};

static struct nnv_relay_expr *replace(void *ctx, struct nnv_relay_module *m, struct nnv_relay_expr *old,
                                      struct nnv_relay_expr *now) {
    const struct binding *b = ctx;
    (void)m;
    return old->id < b->n && b->by_id[old->id] ? b->by_id[old->id] : now;
}

static const struct nnv_relay_tensor *value_of(const struct nnv_relay_params *params, const char *name) {
    for (size_t i = 0; i < params->n; i++)
        if (strcmp(params->params[i].name, name) == 0) return params->params[i].tensor;
    return NULL;
}

static enum nnv_status differs(const struct nnv_relay_module *m, const struct nnv_relay_expr *v,
                               const struct nnv_relay_tensor *t, struct nnv_err *err) {
    struct nnv_text is = {0}, wants = {0};
    nnv_relay_type_print(t->type, &is);
    nnv_relay_type_print(v->declared, &wants);
    enum nnv_status st = nnv_relay_fail(m, &v->span, err, "%%%s is %s, its value in the parameter file is %s", v->name,
                                        wants.data ? wants.data : "?", is.data ? is.data : "?");
    nnv_text_free(&is);
    nnv_text_free(&wants);
    return st;
}

enum nnv_status nnv_relay_params_bind(struct nnv_relay_module *m, const struct nnv_relay_params *params,
                                      struct nnv_err *err) {
    struct nnv_relay_expr *f = nnv_relay_find(m, "main"), *body;
    if (f == NULL) return nnv_fail(err, NNV_INVALID, "%s: there is no @main to give parameters to", m->file);
    struct binding b = {NNV_NEW(m->arena, struct nnv_relay_expr *, m->n_exprs), m->n_exprs};
    struct nnv_relay_expr **left = NNV_NEW(m->arena, struct nnv_relay_expr *, f->n_params);
    if (b.by_id == NULL || left == NULL) return nnv_no_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < f->n_params; i++) {
        struct nnv_relay_expr *v = f->params[i];
        const struct nnv_relay_tensor *t = value_of(params, v->name);
        if (t == NULL) {
            left[n++] = v;
            continue;
        }
        if (v->declared && !nnv_relay_type_equal(v->declared, t->type)) return differs(m, v, t, err);
        if ((b.by_id[v->id] = nnv_relay_constant(m, t)) == NULL) return nnv_no_memory(err);
    }
    enum nnv_status st = nnv_relay_rewrite(m, f->args[0], replace, &b, &body, err);
    if (st != NNV_OK) return st;
    struct nnv_relay_expr *bound = nnv_relay_fn(m, n, left, f->declared, body, f->n_attrs, f->attrs);
    if (bound == NULL || !nnv_relay_define(m, "main", bound)) return nnv_no_memory(err);
    bound->span = f->span;
    return NNV_OK;
}
