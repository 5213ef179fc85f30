/* SPDX-License-Identifier: Apache-2.0 */
#include "op.h"

#include <string.h>

/* The words of ops.def: types of a main operand, quantisation rules, flags. */
enum {
    F32 = 1,
    F16 = 2,
    U8 = 4,
    S8 = 8,
    I32 = 16,
    BOOL = 32, /**< TENSOR_BOOL8: bytes, any but 0 is true */
    SYMM8 = 64,
    SYMM16 = 128,
    U16 = 256,
    FLOATS = F32 | F16,
    QUANTS = U8 | S8,
    NUMBERS = FLOATS | QUANTS | I32,
};
enum { FREE, SAME, UNIT_256, UNIT_128 };
enum { ZERO = 1, IMAGE = 2 };

static const struct cpu_op records[] = {
#define OP(CODE, TYPES, RANK, QUANT, FLAGS, FNS, OUTS, ...)                                                            \
    {ANEURALNETWORKS_##CODE, TYPES, RANK, QUANT, FLAGS, &cpu_op_##FNS, OUTS, {__VA_ARGS__}},
#include "ops/ops.def"
#undef OP
};

const struct cpu_op *cpu_op_find(int32_t code) {
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (records[i].code == code) return &records[i];
    return NULL;
}

static uint32_t type_bit(int32_t type) {
    switch (type) {
    case ANEURALNETWORKS_TENSOR_FLOAT32:
        return F32;
    case ANEURALNETWORKS_TENSOR_FLOAT16:
        return F16;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
        return U8;
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
        return S8;
    case ANEURALNETWORKS_TENSOR_INT32:
        return I32;
    case ANEURALNETWORKS_TENSOR_BOOL8:
        return BOOL;
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
        return SYMM8;
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
        return SYMM16;
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
        return U16;
    default:
        return 0;
    }
}

/** Does the operand suit the letter, given main type T (-1: none yet)? */
static bool letter_fits(char letter, const struct cpu_tensor *t, int32_t main_type) {
    const int32_t type = t->type;
    const bool half = main_type == ANEURALNETWORKS_TENSOR_FLOAT16;
    const bool quant =
        main_type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || main_type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    switch (letter) {
    case 'x':
    case 'o':
        return type == main_type;
    case 'h':
        return type == ANEURALNETWORKS_TENSOR_FLOAT32 || type == ANEURALNETWORKS_TENSOR_FLOAT16;
    case 'i':
        return type == ANEURALNETWORKS_INT32;
    case 'b':
        return type == ANEURALNETWORKS_BOOL;
    case 's':
        return type == (half ? ANEURALNETWORKS_FLOAT16 : ANEURALNETWORKS_FLOAT32);
    case 'n':
        return type == ANEURALNETWORKS_INT32 || type == ANEURALNETWORKS_FLOAT32 || type == ANEURALNETWORKS_FLOAT16;
    case 'l':
        return type == ANEURALNETWORKS_TENSOR_BOOL8;
    case 't':
    case 'p':
    case 'P':
        return type == ANEURALNETWORKS_TENSOR_INT32;
    case 'q':
        return type_bit(type) & QUANTS || type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM ||
               type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL;
    case 'w':
        return type == main_type || (quant && type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL);
    case 'c':
        return type == (quant ? ANEURALNETWORKS_TENSOR_INT32 : main_type);
    case 'e': /* in eighths, if quantised */
        if (!quant) return type == main_type;
        return type == ANEURALNETWORKS_TENSOR_QUANT16_ASYMM && t->scale == 0.125f && t->zero_point == 0;
    case 'a':
        return cpu_is_tensor(type);
    default:
        return false;
    }
}

static bool may_be_omitted(char letter) { return letter == 'o' || letter == 'P'; }

/** The letter of input i among count inputs; 0 behind the last. */
static char letter_at(const char *form, uint32_t count, uint32_t i) {
    uint32_t at = 0;
    for (const char *l = form; *l; l++) {
        if (*l == '|') continue;
        const bool repeated = l[1] == '*';
        at += repeated ? count - at - (uint32_t)strlen(l + 2) : 1; /* what stands behind is for the last inputs */
        if (i < at) return *l;
        if (repeated) l++;
    }
    return 0;
}

/** All letters up to a '|' or the end are used; a repeated one at least once. */
static bool count_fits(const char *form, uint32_t count) {
    uint32_t letters = 0;
    for (const char *l = form; *l; l++) {
        if (*l == '*') return count + 1 >= letters + strlen(l);
        if (*l == '|' && letters == count) return true;
        letters += *l != '|';
    }
    return letters == count;
}

/** The main operand, or NULL. */
static const struct cpu_tensor *main_of(const struct cpu_node *node, const struct cpu_tensor *tensors,
                                        const char *form) {
    for (uint32_t i = 0; i < node->in_count; i++)
        if (letter_at(form, node->in_count, i) == 'x') return &tensors[node->in[i]];
    return NULL;
}

static bool operand_fits(char letter, const struct cpu_tensor *t, int32_t main_type) {
    if (t->lifetime == NNVTS_NO_VALUE && !may_be_omitted(letter)) return false;
    return letter_fits(letter, t, main_type);
}

static bool form_fits(const struct cpu_node *node, const struct cpu_tensor *tensors, const char *form, uint32_t types) {
    if (!count_fits(form, node->in_count)) return false;
    const struct cpu_tensor *main = main_of(node, tensors, form);
    if (main && !(type_bit(main->type) & types)) return false;
    for (uint32_t i = 0; i < node->in_count; i++)
        if (!operand_fits(letter_at(form, node->in_count, i), &tensors[node->in[i]], main ? main->type : -1))
            return false;
    return true;
}

bool cpu_op_bind(struct cpu_node *node, const struct cpu_tensor *tensors) {
    for (uint32_t f = 0; f < CPU_FORMS && node->op->forms[f]; f++)
        if (form_fits(node, tensors, node->op->forms[f], node->op->types)) {
            node->form = f;
            return true;
        }
    return false;
}

static char letter_of(const struct cpu_node *node, uint32_t i) {
    return letter_at(node->op->forms[node->form], node->in_count, i);
}

bool cpu_op_may_omit(const struct cpu_node *node, uint32_t tensor) {
    for (uint32_t i = 0; i < node->in_count; i++)
        if (node->in[i] == tensor && !may_be_omitted(letter_of(node, i))) return false;
    return true;
}

static bool repeats_outputs(const struct cpu_op *op) { return op->outs[1] == '*'; }

static bool output_fits(const struct cpu_call *c, uint32_t i, const struct cpu_tensor *main) {
    const struct cpu_tensor *out = cpu_out(c, i);
    const char letter = letter_at(c->node->op->outs, c->node->out_count, i);
    switch (letter) {
    case 'a':
        return cpu_is_tensor(out->type);
    case 'l':
        return out->type == ANEURALNETWORKS_TENSOR_BOOL8;
    case 'x':
        return main && out->type == main->type;
    case 'i':
        return out->type == ANEURALNETWORKS_INT32;
    case 'e':
        return main && letter_fits(letter, out, main->type);
    case 't':
        return out->type == ANEURALNETWORKS_TENSOR_INT32;
    case 'f':
        return cpu_is_float(out);
    case 'q':
        return out->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    default:
        return false;
    }
}

/** Fixed parameters are given as the API has them; a signed zero point has been raised by 128 like an unsigned one. */
static bool has_quant(const struct cpu_tensor *t, float scale, int32_t zero_point) {
    return t->scale == scale && t->zero_point == zero_point;
}

static bool quant_fits(const struct cpu_call *c, uint32_t i, const struct cpu_tensor *main) {
    const struct cpu_tensor *out = cpu_out(c, i);
    if (!cpu_is_quant8(out)) return true;
    switch (c->node->op->quant) {
    case FREE:
        return true;
    case SAME:
        return main && cpu_same_quant(main, out);
    case UNIT_256:
        return has_quant(out, 1.0f / 256, 0);
    case UNIT_128:
        return has_quant(out, 1.0f / 128, 128);
    }
    return false;
}

static bool ranks_fit(const struct cpu_call *c) {
    const struct cpu_node *n = c->node;
    for (uint32_t i = 0; i < n->in_count && n->op->max_rank; i++) {
        const struct cpu_tensor *t = &c->tensors[n->in[i]];
        if (letter_of(n, i) == 'x' && t->known_rank && t->shape.rank > n->op->max_rank) return false;
    }
    const struct cpu_tensor *first = cpu_in(c, 0);
    return !(n->op->flags & IMAGE) || !first->known_rank || first->shape.rank == 4;
}

bool cpu_op_check(const struct cpu_call *c) {
    const struct cpu_op *op = c->node->op;
    const struct cpu_tensor *main = main_of(c->node, c->tensors, op->forms[c->node->form]);
    if (!count_fits(op->outs, c->node->out_count)) return false;
    for (uint32_t i = 0; i < c->node->out_count; i++)
        if (!output_fits(c, i, main)) return false;
    for (uint32_t i = 0; i < (repeats_outputs(op) ? c->node->out_count : 1); i++)
        if (!quant_fits(c, i, main)) return false;
    return ranks_fit(c) && (!op->fns->check || op->fns->check(c));
}

const struct cpu_shape *cpu_out_shape(const struct cpu_call *c, uint32_t i) {
    return &c->out_shapes[repeats_outputs(c->node->op) ? 0 : i];
}

bool cpu_op_can_infer(const struct cpu_call *c) {
    for (uint32_t i = 0; i < c->node->in_count; i++) {
        const struct cpu_tensor *t = &c->tensors[c->node->in[i]];
        const char letter = letter_of(c->node, i);
        const bool value_needed = !cpu_is_tensor(t->type) || letter == 'p' || letter == 'P';
        if (t->present && (!t->known_rank || (value_needed && !t->data))) return false;
    }
    return true;
}

/** A zero-sized input where the operation takes none. */
static bool zero_refused(const struct cpu_call *c) {
    if (c->node->op->flags & ZERO) return false;
    for (uint32_t i = 0; i < c->node->in_count; i++) {
        const struct cpu_tensor *t = cpu_optional(c, i);
        for (uint32_t d = 0; t && d < t->shape.rank; d++)
            if (t->shape.dims[d] == 0) return true;
    }
    return false;
}

bool cpu_op_infer(struct cpu_call *c) {
    const struct cpu_op_fns *fns = c->node->op->fns;
    return !zero_refused(c) && ranks_fit(c) && (!fns->check || fns->check(c)) && fns->infer(c);
}

/* --------------------------------------------------------- for the operations */

int32_t cpu_int(const struct cpu_call *c, uint32_t i, int32_t fallback) {
    const struct cpu_tensor *t = cpu_optional(c, i);
    if (!t || !t->data) return fallback;
    if (t->type == ANEURALNETWORKS_BOOL) return *(const uint8_t *)t->data != 0;
    int32_t value;
    memcpy(&value, t->data, sizeof value);
    return value;
}

float cpu_float(const struct cpu_call *c, uint32_t i, float fallback) {
    const struct cpu_tensor *t = cpu_optional(c, i);
    float value = fallback;
    if (t && t->data) memcpy(&value, t->data, sizeof value);
    return value;
}

bool cpu_int_within(const struct cpu_call *c, uint32_t i, int32_t lo, int32_t hi) {
    int32_t value = cpu_int(c, i, lo);
    return value >= lo && value <= hi;
}

bool cpu_agree(uint32_t a, uint32_t b) { return a == b || a == CPU_UNKNOWN || b == CPU_UNKNOWN; }

uint32_t cpu_merge(uint32_t a, uint32_t b) { return a == CPU_UNKNOWN ? b : a; }

int32_t cpu_axis(int32_t axis, uint32_t rank) {
    int64_t a = axis < 0 ? (int64_t)axis + rank : axis;
    return a >= 0 && a < rank ? (int32_t)a : -1;
}

uint32_t cpu_rank(const struct cpu_tensor *t) { return t->known_rank ? t->shape.rank : CPU_UNKNOWN; }

bool cpu_values_known(const struct cpu_call *c, uint32_t first) {
    for (uint32_t i = first; i < c->node->in_count; i++)
        if (!c->tensors[c->node->in[i]].data) return false;
    return true;
}

bool cpu_shape_fits(const struct cpu_tensor *t, uint32_t rank, uint32_t first, uint32_t second) {
    if (!t || !t->known_rank) return true;
    return t->shape.rank == rank && cpu_agree(t->shape.dims[0], first) &&
           (rank < 2 || cpu_agree(t->shape.dims[1], second));
}

bool cpu_out_has_rank(const struct cpu_call *c, uint32_t rank) { return cpu_agree(cpu_rank(cpu_out(c, 0)), rank); }

const void *cpu_values_at(const struct cpu_tensor *t, const void *data, size_t values) {
    return (const char *)data + values * cpu_element(t->type);
}

void *cpu_values_to(const struct cpu_tensor *t, void *data, size_t values) {
    return (char *)data + values * cpu_element(t->type);
}

size_t cpu_extent(const struct cpu_shape *s, uint32_t from, uint32_t to) {
    size_t product = 1;
    for (uint32_t i = from; i < to; i++) product *= s->dims[i];
    return product;
}

size_t cpu_count(const struct cpu_tensor *t) { return cpu_extent(&t->shape, 0, t->shape.rank); }

bool cpu_is_quant8(const struct cpu_tensor *t) { return (type_bit(t->type) & QUANTS) != 0; }

bool cpu_is_float(const struct cpu_tensor *t) { return (type_bit(t->type) & FLOATS) != 0; }

bool cpu_same_quant(const struct cpu_tensor *a, const struct cpu_tensor *b) {
    return a->scale == b->scale && a->zero_point == b->zero_point;
}

bool cpu_infer_same(struct cpu_call *c) {
    c->out_shapes[0] = cpu_in(c, 0)->shape;
    return true;
}

int32_t cpu_round(double x) {
    if (!(x > -2147483648.0)) return INT32_MIN;
    if (x >= 2147483647.0) return INT32_MAX;
    return (int32_t)(x < 0 ? x - 0.5 : x + 0.5);
}

uint8_t cpu_quantize(double real, const struct cpu_tensor *t) {
    const double units = real / (double)t->scale;
    const int32_t q = cpu_round(units < -1024 ? -1024 : units > 1024 ? 1024 : units) + t->zero_point;
    return (uint8_t)(q < 0 ? 0 : q > 255 ? 255 : q);
}

void cpu_requantize_table(const struct cpu_tensor *from, const struct cpu_tensor *to, uint8_t *table) {
    const double scale = (double)from->scale;
    for (int32_t q = 0; q < 256; q++) table[q] = cpu_quantize((q - from->zero_point) * scale, to);
}

struct cpu_range cpu_activation(int32_t activation, const struct cpu_tensor *out) {
    struct cpu_range r = {-INFINITY, INFINITY, 0, 255};
    if (activation == ANEURALNETWORKS_FUSED_RELU) r.lo = 0;
    if (activation == ANEURALNETWORKS_FUSED_RELU1) r.lo = -1, r.hi = 1;
    if (activation == ANEURALNETWORKS_FUSED_RELU6) r.lo = 0, r.hi = 6;
    if (!cpu_is_quant8(out)) return r;
    if (isfinite(r.lo)) r.qlo = cpu_quantize((double)r.lo, out);
    if (isfinite(r.hi)) r.qhi = cpu_quantize((double)r.hi, out);
    return r;
}

void *cpu_scratch(struct cpu_run *run, size_t bytes) {
    void *data = cpu_blocks_get(&run->scratch, bytes);
    if (!data) run->no_memory = true;
    return data;
}
