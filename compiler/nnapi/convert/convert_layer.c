/* SPDX-License-Identifier: Apache-2.0 */
/* Layers: what their weights and biases become once all that follows them is folded in. */
#include "compiler/nnapi/convert/convert_layer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Numbers of a layer while its operands are made; all of malloc. */
struct making {
    struct nnv_rc_layer *l;
    const struct nnv_rc_weights *w;
    double *factor, *shift; /**< by channel: of the normalisation */
    double *scale;          /**< by channel: of quantised weights */
    bool per_channel;
    float in_scale;
    struct nnv_encoding encoding; /**< of the weights */
};

static void find_parts(struct nnv_rc *c, struct nnv_rc_layer *l) {
    for (const struct nnv_rc_node *n = c->root; n != c->node && n->inner != NNV_RC_NONE; n = &c->nodes[n->inner]) {
        if (strcmp(n->row->name, "qnn.requantize") == 0)
            l->requantize = n;
        else if (strcmp(n->row->name, "nn.batch_norm") == 0)
            l->norm = n;
        else if (strcmp(n->row->name, "nn.relu") == 0 || strcmp(n->row->name, "clip") == 0)
            l->clip = n;
        else
            l->bias = n;
    }
}

/* The numbers of a constant, one for each channel (a single one counts for all). */
static bool by_channel(struct nnv_rc *c, uint32_t value, uint32_t channels, const char *what, double *to) {
    struct nnv_rc_shape s = nnv_rc_shape(c, value);
    size_t n = nnv_rc_elems(&s);
    const double *v = nnv_rc_numbers(c, value, what);
    if (v && n != 1 && n != channels) nnv_rc_refuse(c, "%s has %zu values for %u channels", what, n, channels);
    if (!v || !nnv_rc_ok(c)) return false;
    for (uint32_t i = 0; i < channels; i++) to[i] = v[n == 1 ? 0 : i];
    return true;
}

/* y = factor * x + shift, of batch normalisation. */
static void find_norm(struct nnv_rc *c, struct making *k) {
    uint32_t n = k->l->channels;
    const struct nnv_rc_node *norm = k->l->norm, *anchor = c->node;
    double *gamma = k->factor, *beta = k->shift, *mean = calloc((size_t)n * 2 + 1, sizeof *mean), *var;
    if (!mean) {
        nnv_rc_no_memory(c);
        return;
    }
    var = mean + n;
    c->node = norm;
    double epsilon = nnv_rc_num_attr(c, "epsilon", 1e-5);
    bool ok = by_channel(c, nnv_rc_arg(c, 1), n, "gamma", gamma) && by_channel(c, nnv_rc_arg(c, 2), n, "beta", beta) &&
              by_channel(c, nnv_rc_arg(c, 3), n, "the mean", mean) &&
              by_channel(c, nnv_rc_arg(c, 4), n, "the variance", var);
    for (uint32_t i = 0; ok && i < n; i++) {
        double g = nnv_rc_int_attr(c, "scale", 1) ? gamma[i] : 1, b = nnv_rc_int_attr(c, "center", 1) ? beta[i] : 0;
        k->factor[i] = g / sqrt(var[i] + epsilon);
        k->shift[i] = b - mean[i] * k->factor[i];
    }
    c->node = anchor;
    free(mean);
}

/* ------------------------------------------------------------------- weights */

static size_t channel_at(const struct making *k, size_t i) {
    size_t inner = 1;
    for (uint32_t d = k->w->channel_dim + 1; d < k->w->shape.rank; d++) inner *= k->w->shape.dims[d];
    return i / inner % k->w->shape.dims[k->w->channel_dim];
}

/* A constant of the weights' shape from the numbers of another, changed one by one. */
static uint32_t remade(struct nnv_rc *c, const struct making *k, uint32_t from, struct nnv_encoding to, double add,
                       const double *times) {
    struct nnv_operand o = c->b.operand[from];
    size_t n = nnv_rc_elems(&k->w->shape);
    if (!nnv_rc_ok(c)) return 0;
    double *v = malloc((n + 1) * sizeof *v);
    if (!v) {
        nnv_rc_no_memory(c);
        return 0;
    }
    nnv_load(o.type, o.data, n, v);
    for (size_t i = 0; i < n; i++) v[i] = v[i] * (times ? times[channel_at(k, i)] : 1) + add;
    uint32_t made = nnv_rc_const(c, to, &k->w->shape, v);
    free(v);
    return made;
}

static uint32_t arranged(struct nnv_rc *c, const struct making *k, uint32_t operand) {
    return nnv_rc_reshaped(c, nnv_rc_transposed(c, operand, k->w->perm, NNV_RC_NONE), &k->w->shape, NNV_RC_NONE);
}

/* The operand as float32. */
static uint32_t widened(struct nnv_rc *c, uint32_t operand) {
    struct nnv_rc_shape shape = nnv_rc_operand_shape(c, operand);
    uint32_t wide = nnv_rc_temp(c, NNV_RC_F32_TENSOR, &shape);
    NNV_RC_EMIT(c, ANEURALNETWORKS_CAST, wide, operand);
    return wide;
}

static void float_weights(struct nnv_rc *c, struct making *k, bool widen) {
    uint32_t from = arranged(c, k, nnv_rc_in(c, 1));
    if (!nnv_rc_ok(c)) return;
    k->encoding = widen ? NNV_RC_F32_TENSOR : nnv_builder_encoding(&c->b, from);
    if (nnv_is_constant(&c->b.operand[from]) && (widen || k->l->norm))
        from = remade(c, k, from, k->encoding, 0, k->l->norm ? k->factor : NULL);
    else if (widen)
        from = widened(c, from);
    k->l->weights = from;
}

/* Scales of the sums, if there are several, must be along the channels. The current node is the requantisation. */
static void check_axis(struct nnv_rc *c, const struct making *k, const struct nnv_rc_node *anchor) {
    const struct nnv_relay_type *out = nnv_rc_type(c, k->l->requantize->out.v[0]);
    struct nnv_rc_shape scales = nnv_rc_shape(c, nnv_rc_arg(c, 1));
    uint32_t axis = nnv_rc_axis(c, nnv_rc_int_attr(c, "axis", -1), (uint32_t)out->n_dims);
    if (nnv_rc_elems(&scales) > 1 && axis != nnv_rc_channel_axis(c, anchor))
        nnv_rc_refuse(c, "scales along axis %u, which is not that of the channels", axis);
}

/* Scales of the weights such that data scale times weight scale is what the requantisation takes. */
static void find_scales(struct nnv_rc *c, struct making *k) {
    uint32_t n = k->l->channels;
    double *sums = calloc((size_t)n + 1, sizeof *sums);
    const struct nnv_rc_node *anchor = c->node;
    if (!sums) {
        nnv_rc_no_memory(c);
        return;
    }
    if (by_channel(c, nnv_rc_arg(c, 5), n, "the weights' scale", k->scale)) {
        c->node = k->l->requantize;
        if (nnv_rc_number(c, nnv_rc_arg(c, 2), "the zero point of the sums") != 0)
            nnv_rc_refuse(c, "the zero point of int32 sums must be 0");
        check_axis(c, k, anchor);
        (void)by_channel(c, nnv_rc_arg(c, 1), n, "the scale of the sums", sums);
        c->node = anchor;
    }
    for (uint32_t i = 0; i < n && nnv_rc_ok(c); i++) {
        if (k->in_scale * (float)k->scale[i] != (float)sums[i]) k->scale[i] = sums[i] / (double)k->in_scale;
        k->scale[i] = (double)(float)k->scale[i];
        k->per_channel = k->per_channel || k->scale[i] != k->scale[0];
        if (!(k->scale[i] > 0) || !isfinite(k->scale[i]))
            nnv_rc_refuse(c, "the weights' scale %g of channel %u is not above 0", k->scale[i], i);
    }
    c->node = anchor;
    free(sums);
}

/* Codes of the other signedness are shifted: the zero point moves along. */
static void quant_weights(struct nnv_rc *c, struct making *k) {
    uint32_t value = nnv_rc_arg(c, 1);
    bool data_signed = nnv_rc_type(c, k->l->data)->dtype == NNV_RELAY_INT8,
         is_signed = nnv_rc_type(c, value)->dtype == NNV_RELAY_INT8;
    find_scales(c, k);
    double zero = nnv_rc_ok(c) ? nnv_rc_number(c, nnv_rc_arg(c, 3), "the weights' zero point") : 0;
    bool want_signed = k->per_channel || data_signed;
    double shift = is_signed == want_signed ? 0 : want_signed ? -128 : 128;
    if (!nnv_rc_ok(c)) return;
    if (!nnv_rc_is_const(c, value)) {
        if (k->per_channel || shift != 0 || (float)k->scale[0] != nnv_rc_quant(c, value).scale)
            nnv_rc_refuse(c, "weights that are no constant must be of the data's type, with one scale that fits the "
                             "qnn.requantize behind");
        k->encoding = nnv_rc_encoding(c, value);
        k->l->weights = arranged(c, k, nnv_rc_use(c, value));
        return;
    }
    uint32_t from = arranged(c, k, nnv_rc_use(c, value));
    if (k->per_channel && zero + shift != 0)
        nnv_rc_refuse(c, "weights with a scale for each channel must have the zero point 0, not %g", zero + shift);
    if (!nnv_rc_ok(c)) return;
    k->encoding = (struct nnv_encoding){want_signed ? ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED
                                                    : ANEURALNETWORKS_TENSOR_QUANT8_ASYMM,
                                        (float)k->scale[0], (int32_t)(zero + shift)};
    if (k->per_channel) k->encoding = (struct nnv_encoding){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0};
    k->l->weights = remade(c, k, from, k->encoding, shift, NULL);
    if (!k->per_channel || !nnv_rc_ok(c)) return;
    float *scales = NNV_NEW(c->arena, float, k->l->channels);
    if (!scales) nnv_rc_no_memory(c);
    for (uint32_t i = 0; scales && i < k->l->channels; i++) scales[i] = (float)k->scale[i];
    c->b.operand[k->l->weights].channel =
        (struct nnv_channel_quant){k->w->channel_dim, scales ? k->l->channels : 0, scales};
}

/* -------------------------------------------------------------------- biases */

static void make_bias(struct nnv_rc *c, struct making *k, struct nnv_encoding e) {
    const struct nnv_rc_shape shape = {1, {k->l->channels}};
    const struct nnv_rc_node *bias = k->l->bias;
    if (bias && !nnv_rc_is_const(c, bias->args[1].v[0])) {
        if (k->l->norm) nnv_rc_refuse(c, "the bias before nn.batch_norm must be a constant");
        uint32_t operand = nnv_rc_use(c, bias->args[1].v[0]);
        if (nnv_rc_ok(c) && nnv_builder_encoding(&c->b, operand).type != e.type) operand = widened(c, operand);
        k->l->bias_operand = nnv_rc_reshaped(c, operand, &shape, NNV_RC_NONE);
        return;
    }
    double *v = calloc((size_t)k->l->channels + 1, sizeof *v);
    if (!v) {
        nnv_rc_no_memory(c);
        return;
    }
    if (bias) (void)by_channel(c, bias->args[1].v[0], k->l->channels, "the bias", v);
    for (uint32_t i = 0; k->l->norm && i < k->l->channels; i++) v[i] = v[i] * k->factor[i] + k->shift[i];
    k->l->bias_operand = nnv_rc_const(c, e, &shape, v);
    free(v);
}

/* ------------------------------------------------------------- what follows */

/* The fused activation that limits codes of e from low to high; -1: there is none. */
static int act_of_codes(struct nnv_encoding e, double low, double high) {
    double least, most, unit = (double)e.scale, zero = e.zero_point;
    nnv_rc_code_range(e, &least, &most);
    low = fmax(low, least);
    high = fmin(high, most);
    if (low == least && high == most) return ANEURALNETWORKS_FUSED_NONE;
    double one = nnv_round_half_away(1 / unit), six = nnv_round_half_away(6 / unit);
    if (low == fmax(least, zero) && high == most) return ANEURALNETWORKS_FUSED_RELU;
    if (low == fmax(least, zero) && high == fmin(most, zero + six)) return ANEURALNETWORKS_FUSED_RELU6;
    if (low == fmax(least, zero - one) && high == fmin(most, zero + one)) return ANEURALNETWORKS_FUSED_RELU1;
    return -1;
}

static void make_out(struct nnv_rc *c, struct nnv_rc_layer *l) {
    struct nnv_rc_shape shape = nnv_rc_shape(c, nnv_rc_out(c, 0));
    int act = ANEURALNETWORKS_FUSED_NONE;
    double low, high;
    l->out = nnv_rc_result(c, 0);
    if (!nnv_rc_ok(c)) return;
    if (l->clip && l->requantize) {
        nnv_rc_clip_bounds(l->clip, &low, &high);
        act = act_of_codes(nnv_builder_encoding(&c->b, l->out), low, high);
        if (act < 0) {
            l->out = nnv_rc_temp(c, nnv_builder_encoding(&c->b, l->out), &shape);
            act = ANEURALNETWORKS_FUSED_NONE;
        }
    } else if (l->clip) {
        act = nnv_rc_act_of(l->clip->e);
    }
    l->act = nnv_rc_int(c, act);
}

void nnv_rc_layer_end(struct nnv_rc *c, const struct nnv_rc_layer *l) {
    double low, high;
    if (!nnv_rc_ok(c) || l->out == nnv_rc_result(c, 0)) return;
    nnv_rc_clip_bounds(l->clip, &low, &high);
    nnv_rc_limited(c, l->out, nnv_rc_result(c, 0), low, high);
}

static void make_quantised(struct nnv_rc *c, struct making *k) {
    struct nnv_encoding bias = NNV_RC_I32_TENSOR;
    if (!nnv_rc_is_byte(c, nnv_rc_out(c, 0))) nnv_rc_refuse(c, "requantised to int32; only to int8 or uint8");
    if (!nnv_rc_is_byte(c, k->l->data)) nnv_rc_refuse(c, "the data must be int8 or uint8");
    if (!nnv_rc_is_byte(c, nnv_rc_arg(c, 1))) nnv_rc_refuse(c, "the weights must be int8 or uint8");
    if (nnv_rc_ok(c) && (!nnv_rc_quant(c, k->l->data).known || !nnv_rc_quant(c, nnv_rc_out(c, 0)).known))
        nnv_rc_refuse(c, "data or result with a scale for each channel: NNAPI has those for weights alone");
    if (!nnv_rc_ok(c)) return;
    k->in_scale = nnv_rc_encoding(c, k->l->data).scale;
    k->l->in = nnv_rc_use(c, k->l->data);
    quant_weights(c, k);
    if (!nnv_rc_ok(c)) return;
    if (!k->per_channel) bias.scale = k->in_scale * k->encoding.scale;
    make_bias(c, k, bias);
}

static void make_float(struct nnv_rc *c, struct making *k) {
    enum nnv_relay_dtype in = nnv_rc_type(c, k->l->data)->dtype, out = c->values[c->node->out.v[0]].type->dtype;
    bool widen = in == NNV_RELAY_FLOAT16 && out == NNV_RELAY_FLOAT32;
    if (in != out && !widen)
        nnv_rc_refuse(c, "%s data with a result of %s (out_dtype)", nnv_relay_dtype_name(in),
                      nnv_relay_dtype_name(out));
    if (k->l->norm && nnv_rc_ok(c)) find_norm(c, k);
    k->l->in = nnv_rc_use(c, k->l->data);
    if (widen && nnv_rc_ok(c)) k->l->in = widened(c, k->l->in);
    float_weights(c, k, widen);
    if (nnv_rc_ok(c)) make_bias(c, k, widen ? NNV_RC_F32_TENSOR : nnv_builder_encoding(&c->b, k->l->in));
}

struct nnv_rc_layer nnv_rc_layer(struct nnv_rc *c, uint32_t channels, const struct nnv_rc_weights *w) {
    struct nnv_rc_layer l = {.channels = channels, .data = nnv_rc_arg(c, 0)};
    struct making k = {.l = &l, .w = w};
    double *numbers = calloc((size_t)channels * 3 + 1, sizeof *numbers);
    if (!numbers) nnv_rc_no_memory(c);
    k.factor = numbers;
    if (numbers) {
        k.shift = numbers + channels;
        k.scale = numbers + (size_t)channels * 2;
    }
    find_parts(c, &l);
    if (c->node->pad != NNV_RC_NONE) l.data = c->nodes[c->node->pad].args[0].v[0];
    if ((c->node->row->flags & NNV_RC_QNN) && !l.requantize)
        nnv_rc_refuse(c, "gives int32 sums; it converts only with the qnn.requantize behind it, whose result is the "
                         "only use of the sums (composites do that: nnapi.qnn_conv2d, nnapi.qnn_dense)");
    if (nnv_rc_ok(c)) make_out(c, &l);
    if (nnv_rc_ok(c) && l.requantize) make_quantised(c, &k);
    if (nnv_rc_ok(c) && !l.requantize) make_float(c, &k);
    free(numbers);
    return l;
}
