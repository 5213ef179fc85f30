/* SPDX-License-Identifier: Apache-2.0 */
/* TVMScript: types (struct info). */
#include <string.h>

#include "compiler/relay/text/relax.h"

bool nnv_relax_at_line(const struct nnv_relay_parser *p) {
    const char *at = p->m->text + p->tok.span.offset;
    while (at > p->m->text && (at[-1] == ' ' || at[-1] == '\t')) at--;
    return p->tok.kind == NNV_RELAY_END || at == p->m->text || at[-1] == '\n';
}

static const struct nnv_relay_type *unknown(struct nnv_relay_parser *p) {
    struct nnv_relay_type *t = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_type, 1));
    if (t) t->kind = NNV_RELAY_UNKNOWN;
    return t;
}

/** What R.Tensor(...) says. */
struct tensor {
    bool has_shape, has_dtype;
    enum nnv_relay_dtype dtype;
    size_t n;
    int64_t dims[NNV_RELAY_RANK];
};

/* The extents of a shape that is read already; a name is an extent that is not known. */
static bool take_shape(struct nnv_relay_parser *p, const struct nnv_relay_span *span, const struct nnv_relay_value *v,
                       struct tensor *t) {
    if (v->kind == NNV_RELAY_NONE) return true;
    if (v->kind != NNV_RELAY_LIST) return nnv_relay_parse_fail(p, span, "the shape of a tensor is a tuple of extents");
    if (v->n > NNV_RELAY_RANK)
        return nnv_relay_parse_fail(p, span, "a tensor has at most %d dimensions", NNV_RELAY_RANK);
    t->has_shape = true;
    t->n = v->n;
    for (size_t i = 0; i < v->n; i++) {
        t->dims[i] = v->list[i].kind == NNV_RELAY_INT ? v->list[i].i : NNV_RELAY_ANY;
        if (v->list[i].kind == NNV_RELAY_INT && t->dims[i] < 0)
            return nnv_relay_parse_fail(p, span, "an extent is negative");
        if (v->list[i].kind != NNV_RELAY_INT && v->list[i].kind != NNV_RELAY_STRING)
            return nnv_relay_parse_fail(p, span, "extent %zu is neither a number nor a name", i);
    }
    return true;
}

static bool take_dtype(struct nnv_relay_parser *p, const struct nnv_relay_span *span, const struct nnv_relay_value *v,
                       struct tensor *t) {
    if (v->kind == NNV_RELAY_NONE) return true;
    if (v->kind != NNV_RELAY_STRING || !nnv_relay_dtype_by_name(v->text, strlen(v->text), &t->dtype))
        return nnv_relay_parse_fail(p, span, "this is no type of elements that is known, such as \"float32\"");
    t->has_dtype = true;
    return true;
}

static bool take_ndim(struct nnv_relay_parser *p, const struct nnv_relay_span *span, const struct nnv_relay_value *v,
                      struct tensor *t) {
    if (t->has_shape || v->kind != NNV_RELAY_INT || v->i < 0) return true; /* -1: not known */
    if (v->i > NNV_RELAY_RANK)
        return nnv_relay_parse_fail(p, span, "a tensor has at most %d dimensions", NNV_RELAY_RANK);
    t->has_shape = true;
    t->n = (size_t)v->i;
    for (size_t i = 0; i < t->n; i++) t->dims[i] = NNV_RELAY_ANY;
    return true;
}

/* One argument: (shape, dtype, device), the first two also by name, or ndim instead of the shape. */
static bool take_argument(struct nnv_relay_parser *p, size_t place, struct tensor *t) {
    const char *key = place == 0 ? "shape" : place == 1 ? "dtype" : "vdevice";
    struct nnv_relay_value v;
    if (nnv_relay_at_key(p)) {
        key = nnv_relay_token_name(p);
        nnv_relay_next(p);
        nnv_relay_next(p);
    } else if (place == 0 && p->tok.kind == NNV_RELAY_QUOTED) {
        key = "dtype";
    }
    struct nnv_relay_span span = p->tok.span;
    if (key == NULL || !nnv_relay_parse_value(p, &v)) return false;
    if (strcmp(key, "shape") == 0) return take_shape(p, &span, &v, t);
    if (strcmp(key, "dtype") == 0) return take_dtype(p, &span, &v, t);
    if (strcmp(key, "ndim") == 0) return take_ndim(p, &span, &v, t);
    if (strcmp(key, "vdevice") == 0) return true;
    return nnv_relay_parse_fail(p, &span, "R.Tensor has no parameter %.40s", key);
}

static const struct nnv_relay_type *parse_tensor(struct nnv_relay_parser *p) {
    struct nnv_relay_span span = p->tok.span;
    struct tensor t = {0};
    size_t place = 0, elems, bytes;
    nnv_relay_next(p);
    if (!nnv_relay_take(p, "(")) return unknown(p);
    while (!nnv_relay_take(p, ")")) {
        if (!take_argument(p, place++, &t)) return NULL;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, ")")) return nnv_relay_expected(p, "',' or ')'");
    }
    if (!t.has_shape || !t.has_dtype) return unknown(p);
    const struct nnv_relay_type *type = nnv_relay_got(p, nnv_relay_tensor_type(p->m->arena, t.dtype, t.n, t.dims));
    if (type && nnv_relay_type_known(type) && !nnv_relay_type_elems(type, &elems, &bytes))
        return nnv_relay_parse_fail(p, &span, "the tensor is too large");
    return type;
}

/* R.Tuple(types); [types] and (types) where a call says the types of its results. */
static const struct nnv_relay_type *parse_fields(struct nnv_relay_parser *p, const char *close) {
    size_t mark = p->n_pile, n;
    while (!nnv_relay_take(p, close)) {
        const struct nnv_relay_type *t = nnv_relax_parse_type(p);
        if (t == NULL || !nnv_relay_pile(p, t)) return NULL;
        if (!nnv_relay_take(p, ",") && !nnv_relay_at(p, close)) return nnv_relay_expected(p, "',' or a bracket");
    }
    const void *fields = nnv_relay_unpile(p, mark, &n);
    return nnv_relay_got(p, nnv_relay_tuple_type(p->m->arena, n, fields));
}

static const struct nnv_relay_type *parse_deep_type(struct nnv_relay_parser *p) {
    if (nnv_relay_at(p, "R.Tensor")) return parse_tensor(p);
    if (nnv_relay_take(p, "[")) return parse_fields(p, "]");
    if (nnv_relay_take(p, "(")) return parse_fields(p, ")");
    if (nnv_relay_take(p, "R.Tuple"))
        return nnv_relay_take(p, "(") ? parse_fields(p, ")")
                                      : nnv_relay_got(p, nnv_relay_tuple_type(p->m->arena, 0, NULL));
    if (p->tok.kind != NNV_RELAY_WORD) return nnv_relay_expected(p, "a type, such as R.Tensor((1, 8), \"float32\")");
    nnv_relay_next(p); /* R.Object, R.Shape, R.Prim, R.Callable */
    if (nnv_relay_at(p, "(") && !nnv_relay_skip_brackets(p)) return NULL;
    return unknown(p);
}

const struct nnv_relay_type *nnv_relax_parse_type(struct nnv_relay_parser *p) {
    if (!nnv_relay_deeper(p)) return NULL;
    const struct nnv_relay_type *t = parse_deep_type(p);
    nnv_relay_higher(p);
    return t;
}
