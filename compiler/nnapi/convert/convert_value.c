/* SPDX-License-Identifier: Apache-2.0 */
/* Values of the flat graph: a tensor each. */
#include "compiler/nnapi/convert/convert_in.h"

enum { MOST_FIELDS = 1 << 20 /* tensors in a tuple */ };

uint32_t nnv_rc_value(struct nnv_rc *c, const struct nnv_relay_type *type, const struct nnv_relay_expr *e) {
    if (!nnv_rc_ok(c)) return NNV_RC_NONE;
    if (!nnv_grow(c->arena, &c->values, c->n_values, &c->cap_values, sizeof *c->values)) {
        nnv_rc_no_memory(c);
        return NNV_RC_NONE;
    }
    if (!type || type->kind != NNV_RELAY_TENSOR) {
        nnv_rc_refuse_at(c, e, "a value that is no tensor; only tensors and tuples of them are converted");
        return NNV_RC_NONE;
    }
    for (size_t i = 0; i < type->n_dims; i++) {
        if (type->dims[i] > 0 && type->dims[i] <= INT32_MAX) continue;
        const char *why = type->dims[i] < 0    ? "dimension %zu is not known; give the program fixed shapes"
                          : type->dims[i] == 0 ? "dimension %zu is 0, which means unknown to NNAPI"
                                               : "dimension %zu is 2^31 or more";
        nnv_rc_refuse_at(c, e, why, i);
        return NNV_RC_NONE;
    }
    size_t elems, bytes;
    if (!nnv_relay_type_elems(type, &elems, &bytes) || bytes > UINT32_MAX) {
        nnv_rc_refuse_at(c, e, "a tensor of 4 GiB or more");
        return NNV_RC_NONE;
    }
    c->values[c->n_values] =
        (struct nnv_rc_value){.type = type, .e = e, .node = NNV_RC_NONE, .like = c->n_values, .operand = NNV_RC_NONE};
    return c->n_values++;
}

uint32_t nnv_rc_fields(const struct nnv_relay_type *type) {
    uint32_t n = 0;
    if (!type || type->kind != NNV_RELAY_TUPLE_TYPE) return 1;
    for (size_t i = 0; i < type->n_fields && n <= MOST_FIELDS; i++) n += nnv_rc_fields(type->fields[i]);
    return n;
}

static void add_fields(struct nnv_rc *c, const struct nnv_relay_type *type, const struct nnv_relay_expr *e,
                       struct nnv_rc_list *list) {
    if (type && type->kind == NNV_RELAY_TUPLE_TYPE)
        for (size_t i = 0; i < type->n_fields && nnv_rc_ok(c); i++) add_fields(c, type->fields[i], e, list);
    else
        list->v[list->n++] = nnv_rc_value(c, type, e);
}

struct nnv_rc_list nnv_rc_values(struct nnv_rc *c, const struct nnv_relay_type *type, const struct nnv_relay_expr *e) {
    const uint32_t n = nnv_rc_fields(type);
    struct nnv_rc_list list = {NULL, 0};
    if (n > MOST_FIELDS)
        nnv_rc_refuse_at(c, e, "a tuple of more than %d tensors", MOST_FIELDS);
    else if (!(list.v = NNV_NEW(c->arena, uint32_t, n)))
        nnv_rc_no_memory(c);
    else
        add_fields(c, type, e, &list);
    return list;
}
