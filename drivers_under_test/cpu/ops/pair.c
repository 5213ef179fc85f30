/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pair.c Operations on two tensors, value by value, which are broadcast to one shape of any rank: arithmetic,
 * comparisons, logic, MAXIMUM, MINIMUM, POW, PRELU.
 */
#include <string.h>

#include "driver/op.h"

enum { A, B, ACTIVATION, BLOCK = 256, CHUNK = 4096 };

struct pair;
/** n values; neither operand stands still. */
typedef void (*values_fn)(const struct pair *p, size_t n, const void *a, const void *b, void *y);

struct pair {
    const struct cpu_kernels *kernels;
    int32_t code;
    const struct cpu_tensor *a, *b, *out;
    values_fn values;
    size_t most; /**< values at once; 0: any number */
    struct cpu_range range;
    uint8_t from_a[256], from_b[256]; /**< codes in the result's quantisation */
};

/* ------------------------------------------------------------------ broadcast */

static bool broadcast(uint32_t a, uint32_t b, uint32_t *out) {
    if (a == 1)
        *out = b;
    else if (b == 1 || b == CPU_UNKNOWN || a == b)
        *out = a;
    else if (a == CPU_UNKNOWN)
        *out = b;
    else
        return false;
    return true;
}

/** Extent i of `rank` extents that s has when it is filled up with ones in front. */
static uint32_t extent(const struct cpu_shape *s, uint32_t i, uint32_t rank) {
    return i + s->rank < rank ? 1 : s->dims[i + s->rank - rank];
}

static bool infer(struct cpu_call *c) {
    const struct cpu_shape *a = &cpu_in(c, A)->shape, *b = &cpu_in(c, B)->shape;
    struct cpu_shape *out = &c->out_shapes[0];
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (uint32_t i = 0; i < out->rank; i++)
        if (!broadcast(extent(a, i, out->rank), extent(b, i, out->rank), &out->dims[i])) return false;
    return true;
}

/** A nest of loops; a step is 0 where an operand stands still. The innermost is a row. */
struct nest {
    const struct cpu_tensor *a, *b, *out;
    uint32_t loops;
    size_t extents[CPU_MAX_RANK], a_steps[CPU_MAX_RANK], b_steps[CPU_MAX_RANK];
    size_t chunks, chunk; /**< of a row */
    const struct pair *pair;
};

static void add_loop(struct nest *n, size_t extent_, size_t a_step, size_t b_step) {
    const uint32_t last = n->loops - 1;
    if (n->loops && n->a_steps[last] == a_step * extent_ && n->b_steps[last] == b_step * extent_) {
        n->extents[last] *= extent_;
        n->a_steps[last] = a_step;
        n->b_steps[last] = b_step;
        return;
    }
    n->extents[n->loops] = extent_;
    n->a_steps[n->loops] = a_step;
    n->b_steps[n->loops++] = b_step;
}

/** From the outermost loop in; loops over contiguous data become one. */
static void make_loops(struct nest *n) {
    const struct cpu_shape *a = &n->a->shape, *b = &n->b->shape, *out = &n->out->shape;
    size_t a_step = cpu_count(n->a), b_step = cpu_count(n->b);
    for (uint32_t i = 0; i < out->rank; i++) {
        const uint32_t ea = extent(a, i, out->rank), eb = extent(b, i, out->rank);
        a_step /= ea;
        b_step /= eb;
        if (out->dims[i] != 1) add_loop(n, out->dims[i], ea == 1 ? 0 : a_step, eb == 1 ? 0 : b_step);
    }
    if (n->loops == 0) add_loop(n, 1, 1, 1);
    const size_t row = n->extents[n->loops - 1];
    n->chunk = row < CHUNK ? row : CHUNK;
    n->chunks = (row + n->chunk - 1) / n->chunk;
}

/** A value that stands for the whole row, n times. */
static void repeat(const void *value, uint32_t element, size_t n, void *block) {
    if (element == 1)
        memset(block, *(const uint8_t *)value, n);
    else
        for (size_t i = 0; i < n; i++) memcpy((char *)block + i * element, value, element);
}

/** n neighbouring values; a step is 1, or 0 for one value that stands for the whole row. */
static void row_of(const struct pair *p, size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                   void *y) {
    float block[BLOCK];
    const bool still = !a_step || !b_step;
    const size_t most = still ? BLOCK : p->most ? p->most : n;
    if (still) repeat(a_step ? b : a, cpu_element(p->a->type), n < BLOCK ? n : BLOCK, block);
    for (size_t at = 0; at < n; at += most)
        p->values(p, n - at < most ? n - at : most, a_step ? cpu_values_at(p->a, a, at) : block,
                  b_step ? cpu_values_at(p->b, b, at) : block, cpu_values_to(p->out, y, at));
}

static void rows(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct nest *n = arg;
    const uint32_t inner = n->loops - 1;
    const size_t a_step = n->a_steps[inner], b_step = n->b_steps[inner], row = n->extents[inner];
    for (uint32_t item = begin; item < end; item++) {
        size_t index = item / n->chunks, at = item % n->chunks * n->chunk, a = at * a_step, b = at * b_step;
        const size_t to = index * row + at, count = row - at < n->chunk ? row - at : n->chunk;
        for (uint32_t i = inner; i-- > 0; index /= n->extents[i]) {
            a += index % n->extents[i] * n->a_steps[i];
            b += index % n->extents[i] * n->b_steps[i];
        }
        row_of(n->pair, count, cpu_values_at(n->a, n->a->data, a), a_step, cpu_values_at(n->b, n->b->data, b), b_step,
               cpu_values_to(n->out, n->out->data, to));
    }
}

/** setup: optional. */
static bool run_pair(const struct cpu_call *c, values_fn values, double value_ns, size_t most,
                     void (*setup)(struct pair *p)) {
    struct pair p = {
        .kernels = c->kernels,
        .code = c->node->code,
        .a = cpu_in(c, A),
        .b = cpu_in(c, B),
        .out = cpu_out(c, 0),
        .values = values,
        .most = most,
        .range = cpu_activation(cpu_int(c, ACTIVATION, ANEURALNETWORKS_FUSED_NONE), cpu_out(c, 0)),
    };
    struct nest n = {.a = p.a, .b = p.b, .out = p.out, .pair = &p};
    if (setup) setup(&p);
    make_loops(&n);
    const size_t total = cpu_count(n.out), items = total / n.extents[n.loops - 1] * n.chunks;
    cpu_threads_run(c->run->threads, (uint32_t)items, (double)total * value_ns, rows, &n);
    return true;
}

/** Defines values as EXPR of u and v. */
#define VALUES(NAME, FROM, TO, EXPR)                                                                                   \
    static void NAME(const struct pair *p, size_t n, const void *pa, const void *pb, void *py) {                       \
        (void)p;                                                                                                       \
        const FROM *a = pa, *b = pb;                                                                                   \
        TO *y = py;                                                                                                    \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const FROM u = a[i], v = b[i];                                                                             \
            y[i] = EXPR;                                                                                               \
        }                                                                                                              \
    }

/* ----------------------------------------------------------------- arithmetic */

static bool check(const struct cpu_call *c) {
    const struct cpu_tensor *a = cpu_in(c, A), *b = cpu_in(c, B), *out = cpu_out(c, 0);
    const int32_t last =
        a->type == ANEURALNETWORKS_TENSOR_INT32 ? ANEURALNETWORKS_FUSED_NONE : ANEURALNETWORKS_FUSED_RELU6;
    if (!cpu_int_within(c, ACTIVATION, ANEURALNETWORKS_FUSED_NONE, last)) return false;
    if (c->node->code != ANEURALNETWORKS_MUL || !cpu_is_quant8(a)) return true;
    return (double)out->scale > (double)a->scale * (double)b->scale;
}

/** Towards minus infinity; a quotient by 0 is 0, the one that overflows wraps. */
static uint32_t quotient(uint32_t a, uint32_t b) {
    const int64_t x = (int32_t)a, y = (int32_t)b;
    if (y == 0) return 0;
    return (uint32_t)(x / y - (x % y != 0 && (x < 0) != (y < 0)));
}
VALUES(add_i32, uint32_t, uint32_t, u + v)
VALUES(sub_i32, uint32_t, uint32_t, u - v)
VALUES(mul_i32, uint32_t, uint32_t, u *v)
VALUES(div_i32, uint32_t, uint32_t, quotient(u, v))

/** What kernels count from 0. */
static enum cpu_arithmetic arithmetic_of(int32_t code) {
    switch (code) {
    case ANEURALNETWORKS_ADD:
        return CPU_ADD;
    case ANEURALNETWORKS_SUB:
        return CPU_SUB;
    case ANEURALNETWORKS_MUL:
        return CPU_MUL;
    default:
        return CPU_DIV;
    }
}

static void compute_f32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    p->kernels->arithmetic_f32[arithmetic_of(p->code)](n, a, b, p->range.lo, p->range.hi, y);
}

static void compute_u8(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    const struct cpu_pair_u8 scales = {
        .zero = {p->a->zero_point, p->b->zero_point, p->out->zero_point},
        .scale = {(double)p->a->scale, (double)p->b->scale, (double)p->out->scale},
        .lo = p->range.qlo,
        .hi = p->range.qhi,
    };
    const bool prelu = p->code == ANEURALNETWORKS_PRELU;
    (prelu ? p->kernels->prelu_u8 : p->kernels->arithmetic_u8[arithmetic_of(p->code)])(n, a, b, &scales, y);
}

static bool run_arithmetic(struct cpu_call *c) {
    static const values_fn integers[] = {
        [CPU_ADD] = add_i32, [CPU_SUB] = sub_i32, [CPU_MUL] = mul_i32, [CPU_DIV] = div_i32};
    if (cpu_is_quant8(cpu_in(c, A))) return run_pair(c, compute_u8, 1.0, 0, NULL);
    return run_pair(c, cpu_is_float(cpu_in(c, A)) ? compute_f32 : integers[arithmetic_of(c->node->code)], 0.3, 0, NULL);
}

const struct cpu_op_fns cpu_op_arithmetic = {.check = check, .infer = infer, .run = run_arithmetic};

/* ---------------------------------------------------------------- comparisons */

/** The kernel of the code; a > b is asked as b < a. */
static enum cpu_compare comparison(int32_t code, bool *swap) {
    *swap = code == ANEURALNETWORKS_GREATER || code == ANEURALNETWORKS_GREATER_EQUAL;
    switch (code) {
    case ANEURALNETWORKS_EQUAL:
        return CPU_EQUAL;
    case ANEURALNETWORKS_NOT_EQUAL:
        return CPU_NOT_EQUAL;
    case ANEURALNETWORKS_LESS:
    case ANEURALNETWORKS_GREATER:
        return CPU_LESS;
    default:
        return CPU_LESS_EQUAL;
    }
}

static void compare_f32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    bool swap;
    const enum cpu_compare i = comparison(p->code, &swap);
    p->kernels->compare_f32[i](n, swap ? b : a, swap ? a : b, y);
}

static void compare_i32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    bool swap;
    const enum cpu_compare i = comparison(p->code, &swap);
    p->kernels->compare_i32[i](n, swap ? b : a, swap ? a : b, y);
}

/** Real numbers compare, not codes. */
static void compare_u8(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    float fa[BLOCK], fb[BLOCK];
    p->kernels->dequantize_u8(n, a, p->a->zero_point, p->a->scale, fa);
    p->kernels->dequantize_u8(n, b, p->b->zero_point, p->b->scale, fb);
    compare_f32(p, n, fa, fb, y);
}

/** false < true, whatever byte stands for true. */
static void compare_bool(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    const uint8_t *ba = a, *bb = b;
    int32_t ia[BLOCK], ib[BLOCK];
    for (size_t i = 0; i < n; i++) ia[i] = ba[i] != 0, ib[i] = bb[i] != 0;
    compare_i32(p, n, ia, ib, y);
}

static bool run_compare(struct cpu_call *c) {
    const struct cpu_tensor *a = cpu_in(c, A);
    if (cpu_is_quant8(a)) return run_pair(c, compare_u8, 0.5, BLOCK, NULL);
    if (cpu_is_float(a)) return run_pair(c, compare_f32, 0.3, 0, NULL);
    if (a->type == ANEURALNETWORKS_TENSOR_BOOL8) return run_pair(c, compare_bool, 0.3, BLOCK, NULL);
    return run_pair(c, compare_i32, 0.3, 0, NULL);
}

const struct cpu_op_fns cpu_op_compare = {.infer = infer, .run = run_compare};

/* ---------------------------------------------------------------------- logic */

VALUES(both, uint8_t, uint8_t, (u != 0) & (v != 0))
VALUES(either, uint8_t, uint8_t, (u | v) != 0)

static bool run_logic(struct cpu_call *c) {
    return run_pair(c, c->node->code == ANEURALNETWORKS_LOGICAL_AND ? both : either, 0.1, 0, NULL);
}

const struct cpu_op_fns cpu_op_logic = {.infer = infer, .run = run_logic};

/* ----------------------------------------------------------- MAXIMUM, MINIMUM */

static void extreme_f32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    (p->code == ANEURALNETWORKS_MAXIMUM ? p->kernels->max_f32 : p->kernels->min_f32)(n, a, b, y);
}

VALUES(larger_i32, int32_t, int32_t, u > v ? u : v)
VALUES(smaller_i32, int32_t, int32_t, u < v ? u : v)

/** In the result's quantisation, which keeps the order, bytes compare. */
static inline uint8_t extreme_code(const struct pair *p, uint8_t x, uint8_t z) {
    return (x > z) == (p->code == ANEURALNETWORKS_MAXIMUM) ? x : z;
}
VALUES(extreme_u8, uint8_t, uint8_t, extreme_code(p, p->from_a[u], p->from_b[v]))

static void make_tables(struct pair *p) {
    cpu_requantize_table(p->a, p->out, p->from_a);
    cpu_requantize_table(p->b, p->out, p->from_b);
}

static bool run_extreme(struct cpu_call *c) {
    const struct cpu_tensor *a = cpu_in(c, A);
    if (cpu_is_quant8(a)) return run_pair(c, extreme_u8, 1.0, 0, make_tables);
    if (cpu_is_float(a)) return run_pair(c, extreme_f32, 0.3, 0, NULL);
    return run_pair(c, c->node->code == ANEURALNETWORKS_MAXIMUM ? larger_i32 : smaller_i32, 0.3, 0, NULL);
}

const struct cpu_op_fns cpu_op_extreme = {.infer = infer, .run = run_extreme};

/* ----------------------------------------------------------------- POW, PRELU */

static void power(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    p->kernels->pow_f32(n, a, b, y);
}

static void slope_f32(const struct pair *p, size_t n, const void *a, const void *b, void *y) {
    p->kernels->prelu_f32(n, a, b, y);
}

static bool run_pow(struct cpu_call *c) { return run_pair(c, power, 5.0, 0, NULL); }

static bool run_prelu(struct cpu_call *c) {
    return cpu_is_quant8(cpu_in(c, A)) ? run_pair(c, compute_u8, 1.0, 0, NULL) : run_pair(c, slope_f32, 0.3, 0, NULL);
}

const struct cpu_op_fns cpu_op_pow = {.infer = infer, .run = run_pow};
const struct cpu_op_fns cpu_op_prelu = {.infer = infer, .run = run_prelu};
