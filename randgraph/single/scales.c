/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/scales.h"

#include <math.h>
#include <pthread.h>

#define BOUNDS "bound_last", "bound_next", "bound_far"
static const struct nnv_factor factors[NNV_SCALE_FACTORS] = {
    [NNV_SCALE_ZERO_A] = {.name = "zero_a", NNV_WORDS("inside", "lowest", "highest")},
    [NNV_SCALE_ZERO_B] = {.name = "zero_b", NNV_WORDS("inside", "lowest", "highest")},
    [NNV_SCALE_ZERO_OUT] = {.name = "zero_out", NNV_WORDS("inside", "lowest", "highest")},
    [NNV_SCALE_RATIO] = {.name = "ratio", NNV_VALUES(0, 1, -2, 4, -4, 6, 8, -8)},
    [NNV_SCALE_BESIDE] = {.name = "beside", NNV_WORDS("exact", "above", "below", "between")},
    [NNV_SCALE_OUT] = {.name = "out",
                       NNV_WORDS("range", "power", "above", "below", "fine", "coarse", "first", "second", "shifted",
                                 BOUNDS)},
    [NNV_SCALE_CODES] = {.name = "codes", NNV_WORDS("all", "near", "extreme")},
    [NNV_SCALE_CHANNELS] = {.name = "channels", NNV_WORDS("alike", "spread", "in_turn")},
    [NNV_SCALE_ACTIVATION] = {.name = "activation", NNV_WORDS("none", "relu", "relu1", "relu6")},
    [NNV_SCALE_BOUND] = {.name = "bound", NNV_WORDS("any", BOUNDS)},
    [NNV_SCALE_FIRST] = {.name = "scale", NNV_WORDS("range", "fine", "coarse", "power")},
};

/* ----------------------------------------------------------------- what there is */

static int32_t type_of(const struct nnv_slot *slot, const struct nnv_sig *sig) {
    return slot->var == NNV_FIXED ? slot->type : sig->type[slot->var];
}

static bool is_free(const struct nnv_slot *slot, const struct nnv_sig *sig) {
    return !(slot->flags & NNV_SCALAR) && slot->quant == NNV_Q_FREE && nnv_is_quant(type_of(slot, sig));
}

static bool is_asymmetric(const struct nnv_type *t) {
    return t->code == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || t->code == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
           t->code == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM;
}

int nnv_scales_role(const struct nnv_form *form, const struct nnv_sig *sig, const struct nnv_slot *slot) {
    int role = 0;
    for (uint8_t i = 0; i < form->nin; i++) {
        const struct nnv_slot *s = &form->in[i];
        if (!is_free(s, sig) || nnv_type(type_of(s, sig))->per_channel) continue;
        if (s == slot) return role < 2 ? role : -1;
        role++;
    }
    return -1;
}

/* Inputs that repeat have both roles in turn. */
static const struct nnv_type *role_type(const struct nnv_form *form, const struct nnv_sig *sig, int role) {
    if (form->in[0].flags & NNV_REPEAT) role = 0;
    for (uint8_t i = 0; i < form->nin; i++)
        if (nnv_scales_role(form, sig, &form->in[i]) == role) return nnv_type(type_of(&form->in[i], sig));
    return NULL;
}

static bool has_channels(const struct nnv_form *form, const struct nnv_sig *sig) {
    for (uint8_t i = 0; i < form->nin; i++)
        if (is_free(&form->in[i], sig) && nnv_type(type_of(&form->in[i], sig))->per_channel) return true;
    return false;
}

static bool has_activation(const struct nnv_form *form) {
    for (uint8_t i = 0; i < form->nin; i++)
        if (form->in[i].rule == NNV_FUSE) return true;
    return false;
}

/* The activation that the operation itself is. */
static int32_t clamp_of(const struct nnv_op *op) {
    return op->code == ANEURALNETWORKS_RELU1   ? ANEURALNETWORKS_FUSED_RELU1
           : op->code == ANEURALNETWORKS_RELU6 ? ANEURALNETWORKS_FUSED_RELU6
                                               : ANEURALNETWORKS_FUSED_NONE;
}

/* Bit f: the signature has factor f. Recurrent cells and detectors have scales that belong together. */
static unsigned mask_of(const struct nnv_op *op, int at) {
    enum { MOST_INPUTS = 14 };
    const struct nnv_form *form = op->forms;
    const struct nnv_sig *sig = &op->sigs[at];
    if (op->check_subgraphs || op->sizes || op->raw || form->nin > MOST_INPUTS) return 0;
    const struct nnv_type *a = role_type(form, sig, 0), *b = role_type(form, sig, 1);
    const bool out = form->nout == 1 && is_free(form->out, sig);
    unsigned mask = 0;
    if (a) mask |= 1u << NNV_SCALE_CODES;
    if (a && is_asymmetric(a)) mask |= 1u << NNV_SCALE_ZERO_A;
    if (b && is_asymmetric(b)) mask |= 1u << NNV_SCALE_ZERO_B;
    if (b) mask |= 1u << NNV_SCALE_RATIO | 1u << NNV_SCALE_BESIDE;
    if (out) mask |= 1u << NNV_SCALE_OUT;
    if (out && is_asymmetric(nnv_type(type_of(form->out, sig)))) mask |= 1u << NNV_SCALE_ZERO_OUT;
    if (has_channels(form, sig)) mask |= 1u << NNV_SCALE_CHANNELS;
    if (has_activation(form)) mask |= 1u << NNV_SCALE_ACTIVATION;
    if (a && !out && (has_activation(form) || clamp_of(op)))
        mask |= 1u << NNV_SCALE_BOUND;
    else if (a && !b && op->rounding != NNV_ROUND_NONE)
        mask |= 1u << NNV_SCALE_FIRST;
    return (mask & (mask - 1)) != 0 ? mask : 0; /* a cover needs two */
}

/* The factors of the mask, one behind the other; how many. */
static size_t factors_of(unsigned mask, struct nnv_factor list[NNV_SCALE_FACTORS]) {
    size_t n = 0;
    for (int f = 0; f < NNV_SCALE_FACTORS; f++)
        if (mask >> f & 1) list[n++] = factors[f];
    for (size_t f = 0; f < n && !(mask >> NNV_SCALE_ACTIVATION & 1); f++)
        if (list[f].name == factors[NNV_SCALE_OUT].name) list[f].n = NNV_OUT_BOUND_LAST;
    return n;
}

/* The cover of a mask, made at the first call and kept. */
static const struct nnv_cover *cover_of(unsigned mask) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct nnv_arena *arena;
    static struct nnv_cover covers[1 << NNV_SCALE_FACTORS];
    struct nnv_factor list[NNV_SCALE_FACTORS];
    pthread_mutex_lock(&lock);
    if (!arena) arena = nnv_arena_new();
    struct nnv_cover *c = &covers[mask];
    if (arena && mask && c->nrows == 0 && nnv_cover_make(list, factors_of(mask, list), arena, c, NULL) != NNV_OK)
        *c = (struct nnv_cover){0};
    pthread_mutex_unlock(&lock);
    return c;
}

size_t nnv_scales_rows(const struct nnv_op *op, int sig) { return cover_of(mask_of(op, sig))->nrows; }

void nnv_scales_row(const struct nnv_op *op, int sig, size_t i, int32_t row[NNV_SCALE_FACTORS]) {
    const unsigned mask = mask_of(op, sig);
    const struct nnv_cover *cover = cover_of(mask);
    const int32_t *next = cover->nrows ? cover->values + i % cover->nrows * (size_t)__builtin_popcount(mask) : NULL;
    for (int f = 0; f < NNV_SCALE_FACTORS; f++) row[f] = next && mask >> f & 1 ? *next++ : factors[f].values[0];
    if (clamp_of(op)) row[NNV_SCALE_ACTIVATION] = clamp_of(op);
}

void nnv_scales_add_text(const struct nnv_op *op, int sig, const int32_t *row, struct nnv_text *text) {
    const unsigned mask = mask_of(op, sig);
    struct nnv_factor list[NNV_SCALE_FACTORS];
    int32_t values[NNV_SCALE_FACTORS];
    size_t n = 0;
    for (int f = 0; f < NNV_SCALE_FACTORS; f++)
        if (mask >> f & 1) values[n++] = row[f];
    nnv_cover_add_text(list, factors_of(mask, list), values, text);
}

/* --------------------------------------------------------------- scales and codes */

static int32_t zero_point(int32_t choice, const struct nnv_type *t, int32_t usual) {
    if (!is_asymmetric(t) || choice == NNV_ZERO_INSIDE) return usual;
    return (int32_t)(choice == NNV_ZERO_LOWEST ? t->min : t->max);
}

int32_t nnv_scales_zero(const int32_t *row, int role, const struct nnv_type *t, int32_t usual) {
    return zero_point(row[role == 0 ? NNV_SCALE_ZERO_A : NNV_SCALE_ZERO_B], t, usual);
}

/* x, or a neighbour of it. */
static float beside(double x, int32_t choice) {
    const float f = (float)x;
    switch ((enum nnv_beside)choice) {
    case NNV_BESIDE_EXACT:
        break;
    case NNV_BESIDE_ABOVE:
        return nextafterf(f, INFINITY);
    case NNV_BESIDE_BELOW:
        return nextafterf(f, 0);
    case NNV_BESIDE_BETWEEN:
        return 1.3671875f * f;
    }
    return f;
}

/*
 * The scale with which the row's activation has its upper bound on the last code of o, on the next, or far beyond;
 * where the zero point is the last code, its lower bound likewise. 0: the activation has no such bound.
 */
static double by_bound(const int32_t *row, enum nnv_bound where, const struct nnv_operand *o) {
    enum { TIMES = 3 };
    const struct nnv_type *t = nnv_type(o->type);
    const int32_t code = row[NNV_SCALE_ACTIVATION];
    const double bound = code == ANEURALNETWORKS_FUSED_RELU6 ? 6 : code == ANEURALNETWORKS_FUSED_RELU1 ? 1 : 0;
    const double above = t->max - o->zero_point,
                 below = code == ANEURALNETWORKS_FUSED_RELU1 ? o->zero_point - t->min : 0;
    const double codes = above > 0 ? above : below;
    if (codes <= 0 || where == NNV_BOUND_ANY) return 0;
    return bound / (where == NNV_BOUND_LAST ? codes : where == NNV_BOUND_NEXT ? codes + 1 : codes * TIMES);
}

/* The scale of the first, whose values would like to reach `most`. */
static double first_scale(const int32_t *row, const struct nnv_operand *o, double most) {
    enum { FINER = 32, COARSER = 16 };
    const struct nnv_type *t = nnv_type(o->type);
    const double codes = fmax(t->max - o->zero_point, o->zero_point - t->min);
    const double bounded = by_bound(row, (enum nnv_bound)row[NNV_SCALE_BOUND], o);
    const double usual = (most > 0 ? most : 1) / codes;
    switch ((enum nnv_first_scale)row[NNV_SCALE_FIRST]) {
    case NNV_FIRST_RANGE:
        break;
    case NNV_FIRST_FINE:
        return usual / FINER;
    case NNV_FIRST_COARSE:
        return usual * COARSER;
    case NNV_FIRST_POWER:
        return exp2(nearbyint(log2(usual)));
    }
    return bounded > 0 ? bounded : usual;
}

float nnv_scales_scale(const int32_t *row, int role, const struct nnv_operand *o, double most, float first) {
    if (role == 1 && first > 0) return beside(ldexp((double)first, row[NNV_SCALE_RATIO]), row[NNV_SCALE_BESIDE]);
    return (float)first_scale(row, o, most);
}

float nnv_scales_channel(const int32_t *row, uint32_t c, double base) {
    enum { SPREAD = 9, FAR = 8 };
    switch ((enum nnv_channel_scales)row[NNV_SCALE_CHANNELS]) {
    case NNV_CHANNELS_ALIKE:
        break;
    case NNV_CHANNELS_SPREAD:
        return (float)ldexp(base, -(int)(c % SPREAD));
    case NNV_CHANNELS_IN_TURN:
        return (float)ldexp(base, c % 2 ? -FAR : 0);
    }
    return (float)base;
}

/* The nearest power of two times unit. */
static double power_of_unit(double scale, double unit) {
    return unit > 0 ? ldexp(unit, (int)nearbyint(log2(scale / unit))) : scale;
}

/* As an operand of the same type is quantised. */
static bool quantise_like(const struct nnv_operand *like, struct nnv_operand *o) {
    if (!like || like->type != o->type || like->scale <= 0) return false;
    o->scale = like->scale;
    o->zero_point = like->zero_point;
    return true;
}

void nnv_scales_output(const int32_t *row, double lo, double hi, double unit, const struct nnv_operand *const like[2],
                       struct nnv_operand *o) {
    enum { FINER = 8, COARSER = 16, SHIFT = 7 };
    const struct nnv_type *t = nnv_type(o->type);
    const double share = 0.9, codes = (t->max - t->min) * share;
    const int32_t usual = o->zero_point;
    double scale = (double)o->scale, bounded;
    o->zero_point = zero_point(row[NNV_SCALE_ZERO_OUT], t, usual);
    if (o->zero_point != usual && o->zero_point == t->min && hi > 0) scale = hi / codes;
    if (o->zero_point != usual && o->zero_point == t->max && lo < 0) scale = -lo / codes;
    switch ((enum nnv_out_scale)row[NNV_SCALE_OUT]) {
    case NNV_OUT_RANGE:
        break;
    case NNV_OUT_POWER:
        scale = power_of_unit(scale, unit);
        break;
    case NNV_OUT_ABOVE:
        scale = (double)nextafterf((float)power_of_unit(scale, unit), INFINITY);
        break;
    case NNV_OUT_BELOW:
        scale = (double)nextafterf((float)power_of_unit(scale, unit), 0);
        break;
    case NNV_OUT_FINE:
        scale /= FINER;
        break;
    case NNV_OUT_COARSE:
        scale *= COARSER;
        break;
    case NNV_OUT_FIRST:
    case NNV_OUT_SECOND:
        if (quantise_like(like[row[NNV_SCALE_OUT] - NNV_OUT_FIRST], o)) return;
        break;
    case NNV_OUT_SHIFTED:
        if (!quantise_like(like[0], o)) break;
        if (is_asymmetric(t)) o->zero_point += o->zero_point + SHIFT <= t->max ? SHIFT : -SHIFT;
        return;
    case NNV_OUT_BOUND_LAST:
    case NNV_OUT_BOUND_NEXT:
    case NNV_OUT_BOUND_FAR:
        bounded = by_bound(row, (enum nnv_bound)(NNV_BOUND_LAST + row[NNV_SCALE_OUT] - NNV_OUT_BOUND_LAST), o);
        if (bounded > 0) scale = bounded;
        break;
    }
    o->scale = (float)scale;
}

void nnv_scales_fill(const int32_t *row, const struct nnv_operand *o, struct nnv_fill *f) {
    enum { NEAR = 6 };
    const double codes = row[NNV_SCALE_CODES] == NNV_CODES_NEAR ? NEAR : 65536;
    f->lo = -codes * (double)o->scale;
    f->hi = codes * (double)o->scale;
    if (row[NNV_SCALE_CODES] != NNV_CODES_EXTREME) return;
    f->mode = NNV_FILL_EDGE;
    f->lo = f->hi = 0;
}
