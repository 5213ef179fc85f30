/* SPDX-License-Identifier: Apache-2.0 */
/* Operators of Relax that stand for several ones of Relay. */
#include <math.h>
#include <string.h>

#include "compiler/relay/text/relax.h"

typedef struct nnv_relay_expr *lower_fn(struct nnv_relay_parser *p, const struct nnv_relax_call *c);

/* -------------------------------------------------------------------- kit */

/* The type of operand i if it is a tensor of known extents, else NULL. */
static const struct nnv_relay_type *known(const struct nnv_relax_call *c, size_t i) {
    const struct nnv_relay_type *t = i < c->n_args ? c->args[i]->type : NULL;
    return t && t->kind == NNV_RELAY_TENSOR && nnv_relay_type_known(t) ? t : NULL;
}

/* An attribute by its name, or by its place ("arg1") if it was written without one. */
static const struct nnv_relay_value *written(const struct nnv_relax_call *c, const char *key, const char *place) {
    for (size_t i = 0; i < c->n_attrs; i++)
        if (strcmp(c->attrs[i].key, key) == 0 || strcmp(c->attrs[i].key, place) == 0) return &c->attrs[i].value;
    return NULL;
}

static struct nnv_relay_expr *unary(struct nnv_relay_parser *p, const struct nnv_relax_call *c, const char *op,
                                    struct nnv_relay_expr *x) {
    return x ? nnv_relax_make(p, &c->span, op, 1, &x, 0, NULL) : NULL;
}

static struct nnv_relay_expr *binary(struct nnv_relay_parser *p, const struct nnv_relax_call *c, const char *op,
                                     struct nnv_relay_expr *a, struct nnv_relay_expr *b) {
    struct nnv_relay_expr *const args[] = {a, b};
    return a && b ? nnv_relax_make(p, &c->span, op, 2, args, 0, NULL) : NULL;
}

/* A number of the type of operand 0. */
static struct nnv_relay_expr *number(struct nnv_relay_parser *p, const struct nnv_relax_call *c, double value) {
    const struct nnv_relay_value v = {.kind = NNV_RELAY_FLOAT, .f = value};
    return nnv_relax_number(p, &c->span, c->args[0]->type->dtype, &v);
}

/* A call with one attribute, which is a list of integers. */
static struct nnv_relay_expr *with_ints(struct nnv_relay_parser *p, const struct nnv_relax_call *c, const char *op,
                                        struct nnv_relay_expr *x, const char *key, size_t n, const int64_t *ints) {
    struct nnv_relay_value *list = nnv_relay_got(p, NNV_NEW(p->m->arena, struct nnv_relay_value, n + 1));
    if (x == NULL || list == NULL) return NULL;
    for (size_t i = 0; i < n; i++) list[i] = (struct nnv_relay_value){.kind = NNV_RELAY_INT, .i = ints[i]};
    const struct nnv_relay_attr attr = {key, {.kind = NNV_RELAY_LIST, .n = n, .list = list}};
    return nnv_relax_make(p, &c->span, op, 1, &x, 1, &attr);
}

static struct nnv_relay_expr *reshape(struct nnv_relay_parser *p, const struct nnv_relax_call *c,
                                      struct nnv_relay_expr *x, size_t n, const int64_t *dims) {
    return with_ints(p, c, "reshape", x, "newshape", n, dims);
}

static bool is_float(const struct nnv_relax_call *c) {
    const struct nnv_relay_type *t = c->n_args ? c->args[0]->type : NULL;
    return t && t->kind == NNV_RELAY_TENSOR && nnv_relay_dtype_is_float(t->dtype);
}

/* ------------------------------------------------------------- element by element */

/* x / 2 * (1 + erf(x / sqrt 2)) */
static struct nnv_relay_expr *gelu(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    if (c->n_args != 1 || !is_float(c)) return NULL;
    struct nnv_relay_expr *x = c->args[0];
    struct nnv_relay_expr *erf = unary(p, c, "erf", binary(p, c, "multiply", x, number(p, c, sqrt(0.5))));
    struct nnv_relay_expr *half = binary(p, c, "multiply", x, number(p, c, 0.5));
    return binary(p, c, "multiply", half, binary(p, c, "add", erf, number(p, c, 1)));
}

/* x / 2 * (1 + tanh(sqrt(2 / pi) * x * (1 + 0.044715 * x * x))) */
static struct nnv_relay_expr *gelu_tanh(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    if (c->n_args != 1 || !is_float(c)) return NULL;
    struct nnv_relay_expr *x = c->args[0], *square = binary(p, c, "multiply", x, x);
    struct nnv_relay_expr *curve =
        binary(p, c, "add", binary(p, c, "multiply", square, number(p, c, 0.044715)), number(p, c, 1));
    struct nnv_relay_expr *line = binary(p, c, "multiply", x, number(p, c, sqrt(2 / acos(-1))));
    struct nnv_relay_expr *tanh = unary(p, c, "tanh", binary(p, c, "multiply", line, curve));
    struct nnv_relay_expr *half = binary(p, c, "multiply", x, number(p, c, 0.5));
    return binary(p, c, "multiply", half, binary(p, c, "add", tanh, number(p, c, 1)));
}

static struct nnv_relay_expr *silu(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    if (c->n_args != 1 || !is_float(c)) return NULL;
    return binary(p, c, "multiply", c->args[0], unary(p, c, "sigmoid", c->args[0]));
}

static struct nnv_relay_expr *square(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    return c->n_args == 1 ? binary(p, c, "multiply", c->args[0], c->args[0]) : NULL;
}

static struct nnv_relay_expr *relu6(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    const struct nnv_relay_attr attrs[] = {{"a_min", {.kind = NNV_RELAY_FLOAT, .f = 0}},
                                           {"a_max", {.kind = NNV_RELAY_FLOAT, .f = 6}}};
    return c->n_args == 1 ? nnv_relax_make(p, &c->span, "clip", 1, c->args, 2, attrs) : NULL;
}

/* ----------------------------------------------------------------------- moving */

static struct nnv_relay_expr *flatten(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    static const int64_t all[] = {-1};
    return c->n_args == 1 ? reshape(p, c, c->args[0], 1, all) : NULL;
}

/* Relay adds one dimension at a time; axes count in the result. */
static struct nnv_relay_expr *expand_dims(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    const struct nnv_relay_value *axis = written(c, "axis", "arg1");
    const struct nnv_relay_type *t = c->n_args == 1 ? c->args[0]->type : NULL;
    if (!axis || !t || t->kind != NNV_RELAY_TENSOR || !nnv_relay_attr_is(axis, NNV_RELAY_ATTR_INTS)) return NULL;
    const size_t n = axis->kind == NNV_RELAY_LIST ? axis->n : 1, rank = t->n_dims + n;
    bool added[NNV_RELAY_RANK] = {false};
    struct nnv_relay_expr *x = c->args[0];
    if (rank > NNV_RELAY_RANK) return NULL;
    for (size_t i = 0; i < n; i++) {
        const int64_t at = axis->kind == NNV_RELAY_LIST ? axis->list[i].i : axis->i;
        if (at < -(int64_t)rank || at >= (int64_t)rank)
            return nnv_relay_parse_fail(p, &c->span, "expand_dims: axis %lld of a result of %zu dimensions",
                                        (long long)at, rank);
        added[at < 0 ? (size_t)(at + (int64_t)rank) : (size_t)at] = true;
    }
    for (size_t i = 0; x && i < rank; i++) {
        const struct nnv_relay_attr attr = {"axis", {.kind = NNV_RELAY_INT, .i = (int64_t)i}};
        if (added[i]) x = nnv_relax_make(p, &c->span, "expand_dims", 1, &x, 1, &attr);
    }
    return x;
}

/* Relax counts in int64, Relay in int32. */
static struct nnv_relay_expr *arg_extreme(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    static const struct nnv_relay_attr int64 = {"dtype", {.kind = NNV_RELAY_STRING, .text = "int64"}};
    const struct nnv_relay_value *axis = written(c, "axis", "arg1"), *keep = written(c, "keepdims", "arg2");
    struct nnv_relay_attr attrs[2];
    size_t n = 0;
    if (c->n_args != 1) return NULL;
    if (axis) attrs[n++] = (struct nnv_relay_attr){"axis", *axis};
    if (keep) attrs[n++] = (struct nnv_relay_attr){"keepdims", *keep};
    struct nnv_relay_expr *e = nnv_relax_make(p, &c->span, c->name, 1, c->args, n, attrs);
    return e ? nnv_relax_make(p, &c->span, "cast", 1, &e, 1, &int64) : NULL;
}

/* --------------------------------------------------------------------- products */

/* What x is the transposed of, its last two dimensions changing places; NULL: it is none. */
static struct nnv_relay_expr *transposed_of(struct nnv_relay_expr *x) {
    if (!nnv_relay_is_op(x, "transpose") || !x->type || x->type->kind != NNV_RELAY_TENSOR) return NULL;
    const struct nnv_relay_value *axes = nnv_relay_written(x, "axes");
    const size_t rank = x->type->n_dims;
    if (!axes || axes->kind == NNV_RELAY_NONE) return rank == 2 ? x->args[0] : NULL;
    if (axes->kind != NNV_RELAY_LIST || axes->n != rank || rank < 2) return NULL;
    for (size_t i = 0; i < rank; i++) {
        const int64_t at = axes->list[i].i + (axes->list[i].i < 0 ? (int64_t)rank : 0);
        if ((size_t)at != (i + 2 < rank ? i : 2 * rank - 3 - i)) return NULL;
    }
    return x->args[0];
}

static struct nnv_relay_expr *product(struct nnv_relay_parser *p, const struct nnv_relax_call *c, const char *op,
                                      struct nnv_relay_expr *a, struct nnv_relay_expr *b, const char *flag,
                                      bool value) {
    const struct nnv_relay_value *dtype = written(c, "out_dtype", "arg2");
    struct nnv_relay_attr attrs[2];
    size_t n = 0;
    struct nnv_relay_expr *const args[] = {a, b};
    if (a == NULL || b == NULL) return NULL;
    if (dtype && dtype->kind == NNV_RELAY_STRING && *dtype->text)
        attrs[n++] = (struct nnv_relay_attr){"out_dtype", *dtype};
    if (flag) attrs[n++] = (struct nnv_relay_attr){flag, {.kind = NNV_RELAY_TRUTH, .i = value}};
    return nnv_relax_make(p, &c->span, op, 2, args, n, attrs);
}

/* Two matrices: the weights of a layer are written as a transposed operand. */
static struct nnv_relay_expr *product_2d(struct nnv_relay_parser *p, const struct nnv_relax_call *c,
                                         struct nnv_relay_expr *a, struct nnv_relay_expr *b) {
    struct nnv_relay_expr *weights = b ? transposed_of(b) : NULL;
    return weights ? product(p, c, "nn.dense", a, weights, NULL, false) : product(p, c, "nn.matmul", a, b, NULL, false);
}

static struct nnv_relay_expr *product_3d(struct nnv_relay_parser *p, const struct nnv_relax_call *c,
                                         struct nnv_relay_expr *a, struct nnv_relay_expr *b) {
    struct nnv_relay_expr *turned = b ? transposed_of(b) : NULL;
    return turned ? product(p, c, "nn.batch_matmul", a, turned, NULL, false)
                  : product(p, c, "nn.batch_matmul", a, b, "transpose_b", false);
}

/* x as matrices: all dimensions but the last `kept` become one. */
static struct nnv_relay_expr *folded(struct nnv_relay_parser *p, const struct nnv_relax_call *c,
                                     struct nnv_relay_expr *x, size_t kept) {
    int64_t dims[3] = {1};
    const struct nnv_relay_type *t = x ? x->type : NULL;
    if (t == NULL) return NULL;
    for (size_t i = 0; i < t->n_dims; i++) {
        if (i + kept < t->n_dims)
            dims[0] = nnv_relay_times(dims[0], t->dims[i]);
        else
            dims[1 + i + kept - t->n_dims] = t->dims[i];
    }
    return reshape(p, c, x, kept + 1, dims);
}

/* Products of matrices in more dimensions become those of two or three. */
static struct nnv_relay_expr *matmul(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    if (c->n_args != 2) return nnv_relay_parse_fail(p, &c->span, "matmul: has %zu operands, not 2", c->n_args);
    struct nnv_relay_expr *a = c->args[0], *b = c->args[1];
    if (!a->type || !b->type || a->type->kind != NNV_RELAY_TENSOR || b->type->kind != NNV_RELAY_TENSOR) return NULL;
    const size_t ra = a->type->n_dims, rb = b->type->n_dims;
    if (ra == 2 && rb == 2) return product_2d(p, c, a, b);
    if (ra == 3 && rb == 3) return product_3d(p, c, a, b);
    const struct nnv_relay_type *ta = known(c, 0), *tb = known(c, 1);
    if (!ta || !tb || ra < 2 || rb < 2) return NULL;
    int64_t dims[NNV_RELAY_RANK];
    memcpy(dims, ta->dims, ra * sizeof *dims);
    dims[ra - 1] = tb->dims[rb - 1];
    if (rb == 2) return reshape(p, c, product_2d(p, c, folded(p, c, a, 1), b), ra, dims);
    if (ra != rb || memcmp(ta->dims, tb->dims, (ra - 2) * sizeof *dims) != 0) return NULL;
    struct nnv_relay_expr *turned = transposed_of(b);
    a = folded(p, c, a, 2);
    struct nnv_relay_expr *e = turned ? product(p, c, "nn.batch_matmul", a, folded(p, c, turned, 2), NULL, false)
                                      : product_3d(p, c, a, folded(p, c, b, 2));
    return reshape(p, c, e, ra, dims);
}

/* Heads in front: [B, S, N, H] to [B * N, S, H]. */
static struct nnv_relay_expr *heads(struct nnv_relay_parser *p, const struct nnv_relax_call *c,
                                    struct nnv_relay_expr *x) {
    static const int64_t axes[] = {0, 2, 1, 3};
    return folded(p, c, with_ints(p, c, "transpose", x, "axes", 4, axes), 2);
}

/* softmax(q k^T * scale + bias) v, of queries, keys and values as [batch, length, heads, size]. */
static struct nnv_relay_expr *attention(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    static const int64_t axes[] = {0, 2, 1, 3};
    const struct nnv_relay_type *q = known(c, 0), *k = known(c, 1), *v = known(c, 2), *bias = known(c, 3);
    const struct nnv_relay_value *scale = written(c, "scale", "arg4");
    if (!q || !k || !v || !is_float(c) || q->n_dims != 4 || k->n_dims != 4 || v->n_dims != 4) return NULL;
    if (c->n_args != 3 + (bias != NULL) || written(c, "causal_mask", "arg5") || written(c, "window_size", "arg6"))
        return NULL;
    const int64_t scores[] = {q->dims[0], q->dims[2], q->dims[1], k->dims[1]};
    const int64_t last[] = {q->dims[0], q->dims[2], q->dims[1], v->dims[3]};
    if (bias && (bias->n_dims != 4 || memcmp(bias->dims, scores, sizeof scores) != 0)) return NULL;
    const double by =
        scale ? scale->kind == NNV_RELAY_FLOAT ? scale->f : (double)scale->i : 1 / sqrt((double)q->dims[3]);
    struct nnv_relay_expr *e =
        product(p, c, "nn.batch_matmul", heads(p, c, c->args[0]), heads(p, c, c->args[1]), NULL, false);
    e = binary(p, c, "multiply", e, number(p, c, by));
    if (bias) e = binary(p, c, "add", e, folded(p, c, c->args[3], 2));
    e = product_3d(p, c, unary(p, c, "nn.softmax", e), heads(p, c, c->args[2]));
    return with_ints(p, c, "transpose", reshape(p, c, e, 4, last), "axes", 4, axes);
}

static const struct {
    const char *name;
    lower_fn *lower;
} lowered[] = {
    {"argmax", arg_extreme},
    {"argmin", arg_extreme},
    {"expand_dims", expand_dims},
    {"flatten", flatten},
    {"matmul", matmul},
    {"nn.attention", attention},
    {"nn.attention_bias", attention},
    {"nn.gelu", gelu},
    {"nn.gelu_tanh", gelu_tanh},
    {"nn.relu6", relu6},
    {"nn.silu", silu},
    {"square", square},
};

static lower_fn *find(const char *name) {
    for (size_t i = 0; i < sizeof lowered / sizeof *lowered; i++)
        if (strcmp(lowered[i].name, name) == 0) return lowered[i].lower;
    return NULL;
}

bool nnv_relax_lowers(const char *name) { return find(name) != NULL; }

struct nnv_relay_expr *nnv_relax_lower(struct nnv_relay_parser *p, const struct nnv_relax_call *c) {
    return find(c->name)(p, c);
}
