/* SPDX-License-Identifier: Apache-2.0 */
/* Values for parameters by what is done with them, so that no result is undefined unless the program makes it so. */
#include <math.h>
#include <string.h>

#include "compiler/relay/interp/interp.h"

enum role {
    ANY,
    POSITIVE, /**< a variance, a scale, what a root or a logarithm is taken of */
    UNIT,     /**< between -1 and 1 */
    INDEX,    /**< of an axis */
    WEIGHT,   /**< of a sum of products, whose deviation it leaves as it is */
};

struct need {
    enum role role;
    int64_t limit; /**< INDEX: the extent; WEIGHT: the terms of a sum */
};

static const struct {
    const char *op;
    size_t arg;
    enum role role;
} needs[] = {
    {"nn.batch_norm", 1, POSITIVE},
    {"nn.batch_norm", 4, POSITIVE},
    {"sqrt", 0, POSITIVE},
    {"rsqrt", 0, POSITIVE},
    {"log", 0, POSITIVE},
    {"log2", 0, POSITIVE},
    {"log10", 0, POSITIVE},
    {"power", 0, POSITIVE},
    {"divide", 1, POSITIVE},
    {"mod", 1, POSITIVE},
    {"floor_mod", 1, POSITIVE},
    {"floor_divide", 1, POSITIVE},
    {"asin", 0, UNIT},
    {"acos", 0, UNIT},
    {"atanh", 0, UNIT},
    {"nn.conv2d", 1, WEIGHT},
    {"nn.conv2d_transpose", 1, WEIGHT},
    {"nn.conv1d", 1, WEIGHT},
    {"nn.dense", 1, WEIGHT},
    {"take", 1, INDEX},
    {"qnn.quantize", 1, POSITIVE},
    {"qnn.dequantize", 1, POSITIVE},
    {"acosh", 0, POSITIVE},
    {"qnn.requantize", 1, POSITIVE},
    {"qnn.requantize", 3, POSITIVE},
    {"qnn.conv2d", 4, POSITIVE},
    {"qnn.conv2d", 5, POSITIVE},
    {"qnn.dense", 4, POSITIVE},
    {"qnn.dense", 5, POSITIVE},
};

/** Operators whose result is positive if their arguments are, and those that move values. */
static const char *const passes[] = {"add",  "multiply",     "maximum",   "minimum",      "exp",
                                     "copy", "reshape",      "transpose", "squeeze",      "expand_dims",
                                     "cast", "broadcast_to", "tile",      "strided_slice"};

static bool passes_on(const char *op) {
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (strcmp(passes[i], op) == 0) return true;
    return false;
}

/** The extent that an index of take must stay below. */
static int64_t extent_of(const struct nnv_relay_expr *e) {
    const struct nnv_relay_type *t = e->args[0]->type;
    const struct nnv_relay_value *axis = nnv_relay_attr(e, "axis");
    int64_t n = 1;
    if (!t || t->kind != NNV_RELAY_TENSOR) return 1;
    if (axis && axis->kind == NNV_RELAY_INT) {
        const int64_t a = axis->i < 0 ? axis->i + (int64_t)t->n_dims : axis->i;
        return a >= 0 && a < (int64_t)t->n_dims ? t->dims[a] : 1;
    }
    for (size_t i = 0; i < t->n_dims; i++) n *= t->dims[i];
    return n;
}

/** How many products of weights one result adds up. */
static int64_t terms_of(const struct nnv_relay_expr *e, size_t arg) {
    const struct nnv_relay_type *t = e->args[arg]->type;
    const struct nnv_relay_value *layout = nnv_relay_attr(e, "kernel_layout");
    const bool outputs_last = layout && layout->kind == NNV_RELAY_STRING && layout->text[0] == 'H';
    int64_t n = 1;
    if (!t || t->kind != NNV_RELAY_TENSOR || t->n_dims < 2) return 1;
    for (size_t i = 0; i < t->n_dims; i++)
        if (i != (outputs_last ? t->n_dims - 1 : 0) && t->dims[i] > 0) n *= t->dims[i];
    return n;
}

static void hand_on(struct need *of, const struct nnv_relay_expr *from, const struct nnv_relay_expr *to) {
    if (of[to->id].role == ANY) of[to->id] = of[from->id];
}

/** What the result of e must be goes on to its arguments, together with what e itself asks of them. */
static void ask(const struct nnv_relay_expr *e, struct need *of) {
    const char *op = e->kind == NNV_RELAY_CALL ? nnv_relay_op_name(e) : NULL;
    if (!op) return;
    for (size_t k = 0; k < e->n_args; k++) {
        struct need *to = &of[e->args[k]->id];
        for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
            if (to->role == ANY && needs[i].arg == k && strcmp(needs[i].op, op) == 0)
                *to = (struct need){needs[i].role, needs[i].role == INDEX    ? extent_of(e)
                                                   : needs[i].role == WEIGHT ? terms_of(e, k)
                                                                             : 0};
        if (passes_on(op)) hand_on(of, e, e->args[k]);
    }
}

static void bend(struct nnv_relay_datum *d, struct need need) {
    const enum nnv_relay_dtype dtype = d->type->dtype;
    for (size_t i = 0; i < d->n; i++) {
        double v = d->values[i];
        switch (need.role) {
        case ANY: /* products of two integers stay within their type */
            if (dtype == NNV_RELAY_INT32 || dtype == NNV_RELAY_INT64) v = fmod(v, 1000);
            break;
        case POSITIVE:
            v = fabs(v) + (nnv_relay_dtype_is_float(dtype) ? 0.25 : 1);
            break;
        case UNIT:
            v = v / (1 + fabs(v));
            break;
        case WEIGHT:
            if (nnv_relay_dtype_is_float(dtype)) v /= sqrt((double)(need.limit > 0 ? need.limit : 1));
            break;
        case INDEX:
            v = fmod(fabs(floor(v * (nnv_relay_dtype_is_float(dtype) ? 1000 : 1))),
                     (double)(need.limit > 0 ? need.limit : 1));
            break;
        }
        d->values[i] = nnv_interp_round(dtype, v);
    }
    for (size_t i = 0; i < d->n_fields; i++) bend(d->fields[i], need);
}

enum nnv_status nnv_relay_arguments(struct nnv_relay_expr *function, uint64_t seed, struct nnv_arena *arena,
                                    struct nnv_relay_datum **args, struct nnv_err *err) {
    struct nnv_relay_list list;
    uint32_t most = 0;
    if (nnv_relay_post_order(function, NULL, NULL, arena, &list) != NNV_OK) return nnv_no_memory(err);
    for (size_t i = 0; i < list.n; i++) most = list.exprs[i]->id > most ? list.exprs[i]->id : most;
    for (size_t i = 0; i < function->n_params; i++)
        most = function->params[i]->id > most ? function->params[i]->id : most;
    for (size_t i = 0; i < list.n; i++)
        if (list.exprs[i]->kind == NNV_RELAY_LET && list.exprs[i]->var->id > most) most = list.exprs[i]->var->id;
    struct need *of = NNV_NEW(arena, struct need, (size_t)most + 1);
    const struct nnv_relay_expr **bound = NNV_NEW(arena, const struct nnv_relay_expr *, (size_t)most + 1);
    if (!of || !bound) return nnv_no_memory(err);
    for (size_t i = 0; i < list.n; i++)
        if (list.exprs[i]->kind == NNV_RELAY_LET) bound[list.exprs[i]->var->id] = list.exprs[i]->args[0];
    for (size_t i = list.n; i-- > 0;) { /* a variable comes behind all that use it, and before its value */
        const struct nnv_relay_expr *e = list.exprs[i];
        if (bound[e->id]) hand_on(of, e, bound[e->id]);
        ask(e, of);
    }
    for (size_t i = 0; i < function->n_params; i++) {
        const struct nnv_relay_expr *p = function->params[i];
        args[i] = nnv_relay_datum_random(p->type, seed + i, arena);
        if (!args[i])
            return nnv_fail(err, NNV_INVALID, "the parameter %%%s: no random values of its type can be made", p->name);
        bend(args[i], of[p->id]);
    }
    return NNV_OK;
}
