/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scales and zero points. Relay's bytes have none in their type: qnn operators say what the bytes that they read and
 * write stand for, and operators that only move elements hand it on. Bytes of which nobody says anything are integers:
 * scale 1, zero point 0.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"

static uint32_t root_of(struct nnv_rc *c, uint32_t v) {
    while (c->values[v].like != v) v = c->values[v].like = c->values[c->values[v].like].like;
    return v;
}

static void differ(struct nnv_rc *c, struct nnv_rc_quant a, struct nnv_rc_quant b) {
    nnv_rc_refuse(c,
                  "bytes that stand for numbers with scale %g and zero point %" PRId32
                  " in one place and scale %g and zero point %" PRId32 " in another; put a qnn.requantize between",
                  (double)a.scale, a.zero, (double)b.scale, b.zero);
}

static void set(struct nnv_rc *c, uint32_t v, struct nnv_rc_quant q) {
    if (!nnv_rc_ok(c) || !q.known || !nnv_rc_is_byte(c, v)) return;
    struct nnv_rc_quant *is = &c->values[root_of(c, v)].quant;
    if (is->known && (is->scale != q.scale || is->zero != q.zero))
        differ(c, *is, q);
    else
        *is = q;
}

static void join(struct nnv_rc *c, uint32_t a, uint32_t b) {
    if (!nnv_rc_ok(c) || !nnv_rc_is_byte(c, a) || !nnv_rc_is_byte(c, b)) return;
    a = root_of(c, a);
    b = root_of(c, b);
    if (a == b || nnv_rc_type(c, a)->dtype != nnv_rc_type(c, b)->dtype) return;
    struct nnv_rc_quant qa = c->values[a].quant, qb = c->values[b].quant;
    if (qa.known && qb.known && (qa.scale != qb.scale || qa.zero != qb.zero)) {
        differ(c, qa, qb);
        return;
    }
    c->values[b].like = a;
    if (qb.known) c->values[a].quant = qb;
}

/* Scale and zero point from operands of the node; not known if they are no single constants. */
static struct nnv_rc_quant said(struct nnv_rc *c, uint32_t scale, uint32_t zero, enum nnv_relay_dtype dtype) {
    struct nnv_rc_quant q = {0};
    struct nnv_rc_shape s = nnv_rc_shape(c, scale), z = nnv_rc_shape(c, zero);
    if (nnv_rc_elems(&s) != 1 || nnv_rc_elems(&z) != 1) return q; /* of channels: the row decides */
    double scale_is = nnv_rc_number(c, scale, "a scale"), zero_is = nnv_rc_number(c, zero, "a zero point");
    double least = dtype == NNV_RELAY_INT8 ? -128 : 0;
    if (!nnv_rc_ok(c)) return q;
    if (!(scale_is > 0) || !isfinite(scale_is))
        nnv_rc_refuse(c, "a scale of %g; it must be above 0", scale_is);
    else if (zero_is < least || zero_is > least + 255)
        nnv_rc_refuse(c, "a zero point of %g, which %s does not have", zero_is, nnv_relay_dtype_name(dtype));
    q = (struct nnv_rc_quant){true, (float)scale_is, (int32_t)zero_is};
    nnv_arena_reset(c->scratch);
    return q;
}

/* Operand or result `v` has scale and zero point in operands `scale` and `scale + 1`. */
static void say(struct nnv_rc *c, uint32_t v, size_t scale, size_t zero) {
    if (nnv_rc_ok(c) && nnv_rc_is_byte(c, v))
        set(c, v, said(c, nnv_rc_arg(c, scale), nnv_rc_arg(c, zero), nnv_rc_type(c, v)->dtype));
}

static void say_qnn(struct nnv_rc *c, const char *op) {
    uint32_t first = nnv_rc_arg(c, 0), out = nnv_rc_out(c, 0);
    if (strcmp(op, "quantize") == 0) {
        say(c, out, 1, 2);
    } else if (strcmp(op, "dequantize") == 0) {
        say(c, first, 1, 2);
    } else if (strcmp(op, "requantize") == 0) {
        say(c, first, 1, 2);
        say(c, out, 3, 4);
    } else if (strcmp(op, "add") == 0 || strcmp(op, "subtract") == 0 || strcmp(op, "mul") == 0) {
        say(c, first, 2, 3);
        say(c, nnv_rc_arg(c, 1), 4, 5);
        say(c, out, 6, 7);
    } else if (strcmp(op, "concatenate") == 0) {
        struct nnv_rc_list values = nnv_rc_args(c, 0), scales = nnv_rc_args(c, 1), zeros = nnv_rc_args(c, 2);
        for (uint32_t i = 0; i < values.n && nnv_rc_ok(c) && nnv_rc_is_byte(c, values.v[i]); i++)
            set(c, values.v[i], said(c, scales.v[i], zeros.v[i], nnv_rc_type(c, values.v[i])->dtype));
        say(c, out, 3, 4);
    } else if (c->node->e->n_args == 5) { /* functions of one operand */
        say(c, first, 1, 2);
        say(c, out, 3, 4);
    } else if (c->node->e->n_args == 6) { /* conv2d, conv2d_transpose, dense: zero points, then scales */
        say(c, first, 4, 2);
        if (!nnv_rc_is_const(c, nnv_rc_arg(c, 1))) say(c, nnv_rc_arg(c, 1), 5, 3);
    }
}

static void join_all(struct nnv_rc *c) {
    uint32_t out = nnv_rc_out(c, 0);
    for (uint32_t i = 1; i < c->root->out.n; i++) join(c, out, nnv_rc_out(c, i));
    for (size_t i = 0; i < c->node->e->n_args; i++)
        for (uint32_t k = 0; k < c->node->args[i].n; k++) join(c, out, c->node->args[i].v[k]);
}

void nnv_rc_find_quant(struct nnv_rc *c) {
    const struct nnv_rc_node *pool;
    for (uint32_t i = 0; i < c->n_nodes && nnv_rc_ok(c); i++) {
        c->node = c->root = &c->nodes[i];
        if (strncmp(c->node->row->name, "qnn.", 4) == 0)
            say_qnn(c, c->node->row->name + 4);
        else if (c->node->row->flags & NNV_RC_MOVES)
            join_all(c);
        else if (c->node->row->flags & NNV_RC_LIKE)
            join(c, nnv_rc_out(c, 0), nnv_rc_arg(c, 0));
        else if ((pool = nnv_rc_code_pool(c, c->node)))
            join(c, nnv_rc_out(c, 0), c->nodes[c->values[pool->args[0].v[0]].node].args[0].v[0]);
    }
}
