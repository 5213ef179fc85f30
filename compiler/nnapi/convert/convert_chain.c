/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations become one: a layer, then its bias, its batch normalisation or requantisation, its activation; a
 * padding before it; and what stands between qnn.dequantize and qnn.quantize. What lies inside has one use.
 */
#include <math.h>
#include <string.h>

#include "compiler/nnapi/convert/convert_in.h"

static bool named(const struct nnv_rc_node *n, const char *name) { return strcmp(n->row->name, name) == 0; }

/* The node that computes operand i, if that is its only use; or NULL. */
static struct nnv_rc_node *behind(const struct nnv_rc *c, const struct nnv_rc_node *n, size_t i) {
    if (n->args[i].n != 1) return NULL;
    const struct nnv_rc_value *v = &c->values[n->args[i].v[0]];
    return v->node != NNV_RC_NONE && v->uses == 1 && v->field == 0 ? &c->nodes[v->node] : NULL;
}

static uint32_t number_of(const struct nnv_rc *c, const struct nnv_rc_node *n) { return (uint32_t)(n - c->nodes); }

static enum nnv_relay_dtype dtype_of(const struct nnv_rc *c, const struct nnv_rc_node *n) {
    return c->values[n->out.v[0]].type->dtype;
}

static double attr_number(const struct nnv_relay_expr *e, const char *key) {
    const struct nnv_relay_value *v = nnv_relay_attr(e, key);
    return v == NULL ? (double)NAN : v->kind == NNV_RELAY_FLOAT ? v->f : (double)v->i;
}

int nnv_rc_act_of(const struct nnv_relay_expr *e) {
    const char *op = nnv_relay_op_name(e);
    if (strcmp(op, "nn.relu") == 0) return ANEURALNETWORKS_FUSED_RELU;
    if (strcmp(op, "clip") != 0) return -1;
    double low = attr_number(e, "a_min"), high = attr_number(e, "a_max");
    if (low == 0 && high == 6) return ANEURALNETWORKS_FUSED_RELU6;
    if (low == -1 && high == 1) return ANEURALNETWORKS_FUSED_RELU1;
    return low == 0 && high >= 3.4028234e38 ? ANEURALNETWORKS_FUSED_RELU : -1;
}

/* ------------------------------------------------------------------- biases */

uint32_t nnv_rc_channel_axis(const struct nnv_rc *c, const struct nnv_rc_node *layer) {
    const struct nnv_relay_value *v = nnv_relay_attr(layer->e, "data_layout");
    uint32_t rank = (uint32_t)c->values[layer->out.v[0]].type->n_dims;
    if (v && v->kind == NNV_RELAY_STRING && strchr(v->text, 'C')) return (uint32_t)(strchr(v->text, 'C') - v->text);
    return rank ? rank - 1 : 0;
}

/* True if v, which has no more dimensions than out, has at most one value for each place along the axis of out, and
 * one for all else. */
static bool is_along(const struct nnv_relay_type *v, const struct nnv_relay_type *out, uint32_t axis) {
    for (size_t i = 0; i < v->n_dims; i++) {
        size_t at = out->n_dims - v->n_dims + i;
        if (v->dims[i] != 1 && at != axis) return false;
    }
    return true;
}

/* A bias of the layer: nn.bias_add along its channels, or an addition of a constant for each. */
static bool is_bias(const struct nnv_rc *c, const struct nnv_rc_node *n, const struct nnv_rc_node *layer) {
    const struct nnv_relay_type *out = c->values[n->out.v[0]].type;
    if (!(layer->row->flags & NNV_RC_BIAS)) return false;
    uint32_t axis = nnv_rc_channel_axis(c, layer);
    if (named(n, "nn.bias_add")) {
        const struct nnv_relay_value *v = nnv_relay_attr(n->e, "axis");
        int64_t at = v ? v->i : 1;
        if (at < 0) at += (int64_t)out->n_dims;
        bool constant = nnv_rc_is_const(c, n->args[1].v[0]) || out->dtype != NNV_RELAY_INT32;
        return at == axis && constant;
    }
    return named(n, "add") && nnv_rc_is_const(c, n->args[1].v[0]) &&
           is_along(c->values[n->args[1].v[0]].type, out, axis) &&
           nnv_relay_type_equal(out, c->values[layer->out.v[0]].type);
}

static bool is_norm(const struct nnv_rc *c, const struct nnv_rc_node *n, const struct nnv_rc_node *layer) {
    const struct nnv_relay_value *v = nnv_relay_attr(n->e, "axis");
    int64_t at = v ? v->i : 1;
    if (!named(n, "nn.batch_norm") || !(layer->row->flags & NNV_RC_BIAS)) return false;
    for (size_t i = 1; i < 5; i++)
        if (!nnv_rc_is_const(c, n->args[i].v[0])) return false;
    if (at < 0) at += (int64_t)c->values[n->out.v[0]].type->n_dims;
    return at == nnv_rc_channel_axis(c, layer) && nnv_rc_is_const(c, layer->args[1].v[0]) &&
           !c->values[n->out.v[1]].uses && !c->values[n->out.v[2]].uses;
}

/* ------------------------------------------------------------------- chains */

static void absorb(struct nnv_rc *c, struct nnv_rc_node *outer, struct nnv_rc_node *inner) {
    outer->inner = number_of(c, inner);
    inner->absorbed = true;
}

/* An addition has its constant as operand 1. */
static void order_operands(const struct nnv_rc *c, struct nnv_rc_node *n) {
    if (!named(n, "add") || !nnv_rc_is_const(c, n->args[0].v[0])) return;
    struct nnv_rc_list first = n->args[0];
    n->args[0] = n->args[1];
    n->args[1] = first;
}

/* A padding with zeros of height and width alone that the layer can do itself. */
static void absorb_pad(struct nnv_rc *c, struct nnv_rc_node *layer) {
    struct nnv_rc_node *pad = behind(c, layer, 0);
    const struct nnv_relay_value *layout = nnv_relay_attr(layer->e, "data_layout"), *mode, *width;
    if (!pad || !named(pad, "nn.pad") || !(strcmp(layer->row->name + strlen(layer->row->name) - 6, "conv2d") == 0))
        return;
    mode = nnv_relay_attr(pad->e, "pad_mode");
    width = nnv_relay_attr(pad->e, "pad_width");
    if (!layout || !mode || strcmp(mode->text, "constant") != 0 || !width || width->n != 4) return;
    if (pad->e->n_args > 1 && !nnv_rc_is_const(c, pad->args[1].v[0])) return;
    for (size_t i = 0; i < 4; i++)
        if ((layout->text[i] == 'N' || layout->text[i] == 'C') &&
            (width->list[i].list[0].i || width->list[i].list[1].i))
            return;
    const struct nnv_rc_node *was = c->node;
    double zero = layer->row->flags & NNV_RC_QNN && nnv_rc_is_const(c, layer->args[2].v[0])
                      ? nnv_rc_number(c, layer->args[2].v[0], "the zero point")
                      : 0;
    double value = pad->e->n_args > 1 ? nnv_rc_number(c, pad->args[1].v[0], "the padding's value") : 0;
    c->node = was;
    nnv_arena_reset(c->scratch);
    if (!nnv_rc_ok(c) || value != zero) return;
    layer->pad = number_of(c, pad);
    pad->absorbed = true;
}

/* From the last operation of a chain inwards. Only a chain that ends in a layer that takes it is kept. */
static void find_chain(struct nnv_rc *c, struct nnv_rc_node *root) {
    struct nnv_rc_node *parts[8], *n = root, *in;
    size_t count = 0;
    bool bytes = nnv_rc_is_byte(c, root->out.v[0]), quantised = false;
    bool clip = named(root, "clip") || named(root, "nn.relu");
    if (clip && (bytes || nnv_rc_act_of(root->e) >= 0) && (in = behind(c, n, 0))) {
        parts[count++] = n;
        n = in;
    }
    if (named(n, "qnn.requantize") && c->values[n->args[0].v[0]].type->dtype == NNV_RELAY_INT32 &&
        (in = behind(c, n, 0))) {
        parts[count++] = n;
        n = in;
        quantised = true;
    }
    if (!quantised && bytes) return;
    if (!quantised && named(n, "nn.batch_norm") && (in = behind(c, n, 0))) {
        parts[count++] = n;
        n = in;
    }
    if (named(n, "nn.bias_add") || named(n, "add")) {
        order_operands(c, n);
        in = behind(c, n, 0);
        if (in && is_bias(c, n, in)) {
            parts[count++] = n;
            n = in;
        }
    }
    bool fits = (n->row->flags & NNV_RC_FUSES) && quantised == ((n->row->flags & NNV_RC_QNN) != 0);
    for (size_t i = 0; i < count; i++) {
        if (named(parts[i], "nn.batch_norm")) fits = fits && is_norm(c, parts[i], n);
        fits = fits &&
               (quantised || (dtype_of(c, parts[i]) == dtype_of(c, n) && nnv_relay_dtype_is_float(dtype_of(c, n))));
    }
    if (!fits || n->absorbed) return;
    for (size_t i = 0; i < count; i++) absorb(c, parts[i], i + 1 < count ? parts[i + 1] : n);
    if (n->row->flags & NNV_RC_BIAS) absorb_pad(c, n);
}

struct nnv_rc_node *nnv_rc_code_pool(struct nnv_rc *c, const struct nnv_rc_node *cast) {
    struct nnv_rc_node *pool, *inner;
    if (!named(cast, "cast") || !nnv_rc_is_byte(c, cast->out.v[0])) return NULL;
    pool = behind(c, cast, 0);
    if (!pool || !(pool->row->flags & NNV_RC_REAL) || !strstr(pool->row->name, "avg_pool2d")) return NULL;
    inner = behind(c, pool, 0);
    bool fits = inner && named(inner, "cast") && dtype_of(c, pool) == NNV_RELAY_INT32 &&
                nnv_rc_type(c, inner->args[0].v[0])->dtype == dtype_of(c, cast);
    return fits ? pool : NULL;
}

static void absorb_code_pool(struct nnv_rc *c, struct nnv_rc_node *cast) {
    struct nnv_rc_node *pool = nnv_rc_code_pool(c, cast);
    if (!pool) return;
    cast->real = true;
    absorb(c, cast, pool);
    c->nodes[c->values[pool->args[0].v[0]].node].absorbed = true;
}

/* True if all operands are dequantised from bytes of one scale. */
static bool reads_dequantized(struct nnv_rc *c, const struct nnv_rc_node *n) {
    for (size_t i = 0; i < n->e->n_args; i++)
        for (uint32_t k = 0; k < n->args[i].n; k++) {
            const struct nnv_rc_value *v = &c->values[n->args[i].v[k]];
            if (v->node == NNV_RC_NONE || !named(&c->nodes[v->node], "qnn.dequantize") ||
                !nnv_rc_quant(c, c->nodes[v->node].args[0].v[0]).known)
                return false;
        }
    return n->e->n_args > 0;
}

/* qnn.quantize of an operation whose operands are all qnn.dequantize: perhaps one quantised operation. */
static void find_real(struct nnv_rc *c, struct nnv_rc_node *root) {
    struct nnv_rc_node *n = behind(c, root, 0), *before = n ? behind(c, n, 0) : NULL;
    const uint8_t both = NNV_RC_REAL | NNV_RC_FUSES;
    bool limits = n && (named(n, "nn.relu") || named(n, "clip")) && nnv_rc_act_of(n->e) > 0;
    if (!n || n->absorbed || n->inner != NNV_RC_NONE || !nnv_rc_quant(c, root->out.v[0]).known) return;
    if (limits && before && (before->row->flags & both) == both && reads_dequantized(c, before)) {
        absorb(c, n, before);
        n = before;
    } else if (!(n->row->flags & NNV_RC_REAL) || !reads_dequantized(c, n)) {
        return;
    }
    root->real = true;
    absorb(c, root, behind(c, root, 0));
    for (size_t i = 0; i < n->e->n_args; i++)
        for (uint32_t k = 0; k < n->args[i].n; k++) {
            struct nnv_rc_value *v = &c->values[n->args[i].v[k]];
            if (++v->real_uses == v->uses) c->nodes[v->node].absorbed = true;
        }
}

void nnv_rc_find_chains(struct nnv_rc *c) {
    for (uint32_t i = c->n_nodes; i-- > 0 && nnv_rc_ok(c);) {
        struct nnv_rc_node *n = &c->nodes[i];
        c->node = c->root = n;
        if (n->absorbed) continue;
        if (named(n, "qnn.quantize"))
            find_real(c, n);
        else if (named(n, "cast"))
            absorb_code_pool(c, n);
        else
            find_chain(c, n);
    }
}

/* --------------------------------------------------------------- conversion */

static void convert_node(struct nnv_rc *c, struct nnv_rc_node *root);

static void refuse_types(struct nnv_rc *c) {
    uint32_t value = c->node->e->n_args && c->node->args[0].n ? nnv_rc_arg(c, 0) : NNV_RC_NONE;
    if (value == NNV_RC_NONE || c->real) return;
    enum nnv_relay_dtype dtype = nnv_rc_type(c, value)->dtype;
    if (c->node->row->types >> dtype & 1) return;
    struct nnv_text t = {0};
    for (int i = 0; i < NNV_RELAY_DTYPES; i++)
        if (c->node->row->types >> i & 1)
            nnv_text_addf(&t, "%s%s", t.len ? ", " : "", nnv_relay_dtype_name((enum nnv_relay_dtype)i));
    nnv_rc_refuse(c, "operand 0 is of %s; converted are %s", nnv_relay_dtype_name(dtype), t.data ? t.data : "none");
    nnv_text_free(&t);
}

/* The anchor of a root, with its operands ready. */
static void convert_anchor(struct nnv_rc *c, const struct nnv_rc_node *root, const struct nnv_rc_node *anchor) {
    c->root = root;
    c->node = anchor;
    refuse_types(c);
    if (nnv_rc_ok(c)) anchor->row->convert(c);
}

/* As one quantised operation: the operand of each qnn.dequantize instead of its result. */
static bool convert_real(struct nnv_rc *c, const struct nnv_rc_node *root) {
    struct nnv_rc_node n = c->nodes[root->inner];
    c->act = n.inner == NNV_RC_NONE ? ANEURALNETWORKS_FUSED_NONE : nnv_rc_act_of(n.e);
    if (n.inner != NNV_RC_NONE) n = c->nodes[n.inner];
    struct nnv_rc_list *args = NNV_NEW(c->arena, struct nnv_rc_list, n.e->n_args);
    if (!args) nnv_rc_no_memory(c);
    for (size_t i = 0; args && i < n.e->n_args; i++) {
        args[i] = (struct nnv_rc_list){NNV_NEW(c->arena, uint32_t, n.args[i].n), n.args[i].n};
        if (!args[i].v) nnv_rc_no_memory(c);
        for (uint32_t k = 0; args[i].v && k < n.args[i].n; k++)
            args[i].v[k] = c->nodes[c->values[n.args[i].v[k]].node].args[0].v[0];
    }
    if (!nnv_rc_ok(c)) return false;
    n.args = args;
    struct nnv_rc_mark mark = nnv_rc_mark(c);
    c->real = true;
    convert_anchor(c, root, &n);
    c->real = false;
    if (nnv_rc_ok(c)) return true;
    nnv_rc_back(c, mark);
    return false;
}

/* The operations that a quantised one would have replaced, one by one. */
static void convert_apart(struct nnv_rc *c, struct nnv_rc_node *inner) {
    const struct nnv_rc_node *n = inner->inner == NNV_RC_NONE ? inner : &c->nodes[inner->inner];
    for (size_t i = 0; i < n->e->n_args; i++)
        for (uint32_t k = 0; k < n->args[i].n; k++) convert_node(c, &c->nodes[c->values[n->args[i].v[k]].node]);
    convert_node(c, inner);
}

static void convert_node(struct nnv_rc *c, struct nnv_rc_node *root) {
    if (root->done || !nnv_rc_ok(c)) return;
    root->done = true;
    if (root->real) {
        if (convert_real(c, root)) return;
        if (!nnv_rc_ok(c)) return;
        convert_apart(c, &c->nodes[root->inner]);
        convert_anchor(c, root, root);
        return;
    }
    const struct nnv_rc_node *anchor = root;
    while (anchor->inner != NNV_RC_NONE) anchor = &c->nodes[anchor->inner];
    convert_anchor(c, root, anchor);
}

void nnv_rc_convert_nodes(struct nnv_rc *c) {
    for (uint32_t i = 0; i < c->n_nodes && nnv_rc_ok(c); i++)
        if (!c->nodes[i].absorbed) convert_node(c, &c->nodes[i]);
}
