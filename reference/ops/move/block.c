/* SPDX-License-Identifier: Apache-2.0 */
/** @file block.c DEPTH_TO_SPACE and SPACE_TO_DEPTH: each is the other's inverse. */
#include "reference/ops/common.h"

enum { X, SIZE, NCHW };

static const struct nnv_slot inputs[] = {
    {.id = X, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4, .domain = NNV_DOMAIN_ALL},
    NNV_SLOT_INT(SIZE, "block size", NNV_POSITIVE),
    NNV_SLOT_FLAG(NCHW, "nchw", 1, 3),
};
static const struct nnv_slot outputs[] = {
    {.name = "output", .var = NNV_T, .rank_min = 4, .rank_max = 4, .quant = NNV_Q_SAME}};

static const struct nnv_sig sigs[] = {NNV_SIG(1, FLOAT32), NNV_SIG(1, QUANT8_ASYMM), NNV_SIG(3, FLOAT16),
                                      NNV_SIG(4, QUANT8_ASYMM_SIGNED)};

static const char *const variants[] = {"plain", "nhwc", "nchw", NULL};

/* Positions of height, width and depth. */
struct axes {
    uint32_t h, w, c;
};

static struct axes axes_of(const struct nnv_call *c) {
    return nnv_int(c, NCHW) ? (struct axes){2, 3, 1} : (struct axes){1, 2, 3};
}

static enum nnv_status multiply(uint32_t extent, uint64_t by, uint32_t *out, struct nnv_err *err) {
    if (extent == NNV_DIM_UNKNOWN) return NNV_OK;
    uint64_t v = extent * by; /* by is below 2^31 or a square checked against the depth's range */
    if (by > NNV_DIM_MAX || v > NNV_DIM_MAX)
        return nnv_fail(err, NNV_INVALID, "extent %u times %llu is too large", extent, (unsigned long long)by);
    *out = (uint32_t)v;
    return NNV_OK;
}

static enum nnv_status divide(uint32_t extent, uint64_t by, const char *what, uint32_t *out, struct nnv_err *err) {
    if (extent == NNV_DIM_UNKNOWN) return NNV_OK;
    if (extent % by != 0)
        return nnv_fail(err, NNV_INVALID, "%s %u is not a multiple of %llu", what, extent, (unsigned long long)by);
    *out = (uint32_t)(extent / by);
    return NNV_OK;
}

/* [N, H, W, C] to [N, H*b, W*b, C/(b*b)], or to [N, H/b, W/b, C*b*b]. NNV_INVALID if an extent does not divide. */
static enum nnv_status infer(const struct nnv_call *c, bool to_space, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, X)->shape;
    struct nnv_shape s = nnv_shape_of_rank(4);
    s.dims[0] = nnv_dim(x, 0);
    if (nnv_known(c, SIZE) && nnv_known(c, NCHW)) {
        uint64_t b = (uint64_t)nnv_int(c, SIZE);
        struct axes a = axes_of(c);
        enum nnv_status st;
        if (to_space) {
            if ((st = multiply(nnv_dim(x, a.h), b, &s.dims[a.h], err)) ||
                (st = multiply(nnv_dim(x, a.w), b, &s.dims[a.w], err)) ||
                (st = divide(nnv_dim(x, a.c), b * b, "the depth", &s.dims[a.c], err)))
                return st;
        } else {
            if ((st = divide(nnv_dim(x, a.h), b, "the height", &s.dims[a.h], err)) ||
                (st = divide(nnv_dim(x, a.w), b, "the width", &s.dims[a.w], err)) ||
                (st = multiply(nnv_dim(x, a.c), b * b, &s.dims[a.c], err)))
                return st;
        }
    }
    out[0] = s;
    return NNV_OK;
}

/*
 * Copies between the spatial image [N,H*b,W*b,C] and the deep one [N,H,W,C*b*b]: space[n, h*b+p, w*b+q, c] and
 * deep[n, h, w, (p*b+q)*C + c] are the same element.
 */
static void eval(struct nnv_kernel *k, bool to_space) {
    bool nchw = nnv_int(k->call, NCHW) != 0;
    uint32_t b = (uint32_t)nnv_int(k->call, SIZE);
    struct nnv_image_layout x = nnv_image_of(nnv_in_shape(k, X), nchw);
    struct nnv_image_layout y = nnv_image_of(nnv_out_shape(k, 0), nchw);
    const double *from = nnv_real(k, X);
    const struct nnv_image_layout *space = to_space ? &y : &x, *deep = to_space ? &x : &y;
    for (uint32_t n = 0; n < space->n; n++)
        for (uint32_t h = 0; h < space->h; h++)
            for (uint32_t w = 0; w < space->w; w++)
                for (uint32_t c = 0; c < space->c; c++) {
                    uint32_t depth = (h % b * b + w % b) * space->c + c;
                    size_t wide = nnv_image_at(space, n, h, w, c), tall = nnv_image_at(deep, n, h / b, w / b, depth);
                    k->out[0][to_space ? wide : tall] = from[to_space ? tall : wide];
                }
}

enum { ROW_BLOCK = NNV_IMAGE_OWN };
static const struct nnv_factor factors[] = {NNV_IMAGE_FACTORS, {.name = "block", NNV_VALUES(2, 1, 3, 4)}};

static void sample(struct nnv_sample *s, bool to_space) {
    static const uint32_t blocks[] = {2, 3, 4, 1};
    uint32_t b = blocks[s->index % 4], dims[4];
    bool nchw = nnv_sample_is(s, "nchw");
    uint32_t n = nnv_sample_dim(s, 2, 3), h = nnv_sample_dim(s, 2, 3), w = h + nnv_sample_dim(s, 1, 2);
    uint32_t c = nnv_sample_dim(s, 1, 3);
    if (s->row) { /* the spatial image is the row's, as far as it divides */
        const struct nnv_row_image g = nnv_row_image(s, 0);
        b = (uint32_t)nnv_sample_value(s, ROW_BLOCK);
        n = g.n;
        h = (g.h + b - 1) / b;
        w = (g.w + b - 1) / b;
        c = g.c;
        nchw = g.nchw;
    }
    if (to_space)
        nnv_sample_image(dims, n, h, w, c * b * b, nchw);
    else
        nnv_sample_image(dims, n, h * b, w * b, c, nchw);
    nnv_sample_tensor(s, X, 4, dims);
    nnv_sample_scalar(s, SIZE, b);
    if (s->row ? nchw || s->index % 2 : !nnv_sample_is(s, "plain")) nnv_sample_scalar(s, NCHW, nchw);
}

#define RECORD(NAME, FORMULA, TO_SPACE)                                                                                \
    static enum nnv_status infer_##NAME(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {        \
        return infer(c, TO_SPACE, out, err);                                                                           \
    }                                                                                                                  \
    static enum nnv_status eval_##NAME(struct nnv_kernel *k, struct nnv_err *err) {                                    \
        (void)err;                                                                                                     \
        eval(k, TO_SPACE);                                                                                             \
        return NNV_OK;                                                                                                 \
    }                                                                                                                  \
    static void sample_##NAME(struct nnv_sample *s) { sample(s, TO_SPACE); }                                           \
    const struct nnv_op nnv_op_##NAME = {                                                                              \
        NNV_OP_NAMED(NAME),      .level = 1,                                                                           \
        .formula = FORMULA,      NNV_OP_FORM(inputs, outputs),                                                         \
        NNV_OP_SIGS(sigs),       .rounding = NNV_ROUND_NONE,                                                           \
        .linear = true,          .moves = true,                                                                        \
        .infer = infer_##NAME,   NNV_EVAL(eval_##NAME),                                                                \
        .variants = variants,    NNV_SAMPLE(sample_##NAME),                                                            \
        NNV_OP_FACTORS(factors),                                                                                       \
    }

RECORD(DEPTH_TO_SPACE, "y[n, h*b+p, w*b+q, c] = x[n, h, w, (p*b+q)*(C/b^2) + c], 0 <= p,q < b", true);
RECORD(SPACE_TO_DEPTH, "y[n, h, w, (p*b+q)*C + c] = x[n, h*b+p, w*b+q, c], 0 <= p,q < b", false);
