/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing Relay text and TVMScript: the metadata, JSON with the values of constants. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "compiler/relay/text/params.h"
#include "compiler/relay/text/parse.h"

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
    void *data = json_is_string(text)
                     ? nnv_relay_base64(json_string_value(text), json_string_length(text), p->m->arena, &bytes)
                     : NULL;
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
