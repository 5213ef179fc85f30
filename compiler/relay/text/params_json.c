/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON form of parameter files, and the metadata section of Relay text. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "base/type.h"
#include "compiler/relay/text/params.h"
#include "compiler/relay/text/parse.h"

/* ------------------------------------------------------------ elements */

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

/* base64 text of whole bytes, decoded into memory of the arena. NULL: malformed, or out of memory. */
static void *decode(const json_t *text, struct nnv_arena *arena, size_t *bytes) {
    const char *s = json_string_value(text);
    size_t len = json_string_length(text);
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
        t->data = decode(data, arena, &bytes);
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

enum nnv_status nnv_relay_params_read_json(const void *data, size_t len, struct nnv_arena *arena,
                                           struct nnv_relay_params *params, struct nnv_err *err) {
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

/* ----------------------------------------------------------------- metadata */

/* nodes[i], i being a JSON number. */
static json_t *node_at(const json_t *nodes, const json_t *i) {
    return json_is_integer(i) && json_integer_value(i) >= 0 ? json_array_get(nodes, (size_t)json_integer_value(i))
                                                            : NULL;
}

/* The kind of a node, and what is in it: TVM writes "type" and "data" since 0.21, "type_key" and "attrs" before. */
static bool is_kind(const json_t *node, const char *kind, const char *or_kind) {
    const char *type = json_string_value(json_object_get(node, json_object_get(node, "type") ? "type" : "type_key"));
    return type && (strcmp(type, kind) == 0 || strcmp(type, or_kind) == 0);
}

/* The numbers of the nodes of the constants, in order: root is a map from the kind of a node to an array. */
static const json_t *constants_of(const json_t *root, const json_t *nodes) {
    const json_t *at = json_object_get(root, "root"),
                 *map = node_at(nodes, at ? at : json_object_get(root, "root_index"));
    const json_t *keys = json_object_get(map, "keys"), *data = json_object_get(map, "data");
    for (size_t i = 0; i < json_array_size(data); i++) {
        if (!keys && i % 2 == 0) continue; /* keys and values in turn */
        const json_t *key =
            keys ? json_array_get(keys, i) : json_object_get(node_at(nodes, json_array_get(data, i - 1)), "data");
        const char *name = json_string_value(key);
        if (name && (strcmp(name, "relay.Constant") == 0 || strcmp(name, "relax.expr.Constant") == 0))
            return json_object_get(node_at(nodes, json_array_get(data, i)), "data");
    }
    return NULL;
}

/* The array that a constant's node names: by its number among b64ndarrays, as text or number, or as a node. */
static const json_t *array_of(const json_t *root, const json_t *node) {
    const json_t *data = json_object_get(json_object_get(node, "attrs"), "data");
    const json_t *arrays = json_object_get(root, "b64ndarrays");
    json_int_t i = json_integer_value(data);
    if (data == NULL) {
        const json_t *tensor =
            node_at(json_object_get(root, "nodes"), json_object_get(json_object_get(node, "data"), "data"));
        return is_kind(tensor, "ffi.Tensor", "ffi.NDArray") ? json_object_get(tensor, "data") : NULL;
    }
    if (json_is_string(data) && sscanf(json_string_value(data), "%" JSON_INTEGER_FORMAT, &i) != 1) return NULL;
    return i >= 0 ? json_array_get(arrays, (size_t)i) : NULL;
}

static bool resolve(struct nnv_relay_parser *p, const json_t *root, struct nnv_relay_expr *e) {
    const json_t *nodes = json_object_get(root, "nodes");
    const json_t *number = json_array_get(constants_of(root, nodes), (size_t)e->index);
    struct nnv_err err = {0};
    size_t bytes = 0, used;
    const struct nnv_relay_tensor *t;
    if (json_integer_value(number) == 0) return true; /* node 0 is nothing: the constant stays opaque */
    const json_t *text = array_of(root, node_at(nodes, number));
    void *data = json_is_string(text) ? decode(text, p->m->arena, &bytes) : NULL;
    if (data == NULL)
        return nnv_relay_parse_fail(p, &e->span, "constant %" PRId64 " of the metadata is no array in base64",
                                    e->index);
    if (nnv_relay_array_read(data, bytes, p->m->arena, &t, &used, &err) != NNV_OK)
        return nnv_relay_parse_fail(p, &e->span, "constant %" PRId64 " of the metadata: %s", e->index, err.text);
    e->tensor = t;
    e->declared = NULL;
    return true;
}

bool nnv_relay_resolve_meta(struct nnv_relay_parser *p, const char *json, size_t len, bool all,
                            const struct nnv_relay_span *span) {
    json_error_t where;
    bool blank = true, ok = true;
    for (size_t i = 0; i < len && blank; i++) blank = strchr(" \t\r\n", json[i]) != NULL;
    if (blank) return true;
    json_t *root = json_loadb(json, len, 0, &where);
    if (root == NULL)
        return nnv_relay_parse_fail(p, span, "the metadata is not JSON (its line %d: %s)", where.line, where.text);
    size_t n = all ? json_array_size(constants_of(root, json_object_get(root, "nodes"))) : 0;
    for (size_t i = 0; ok && i < n; i++) ok = nnv_relay_opaque(p, (int64_t)i, NULL, *span) != NULL;
    for (size_t i = 0; ok && i < p->n_opaque; i++) ok = resolve(p, root, p->opaque[i]);
    json_decref(root);
    return ok;
}
