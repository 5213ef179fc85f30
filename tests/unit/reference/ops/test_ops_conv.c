/* SPDX-License-Identifier: Apache-2.0 */
/* CONV_2D and DEPTHWISE_CONV_2D: hand-worked values, all options against direct loops, budgets, refusals. */
#include <stdlib.h>

#include "tests/kit/op.h"

enum { PC = ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, SAME = ANEURALNETWORKS_PADDING_SAME, VALID };

/* A convolution in words of the API; scheme 0: explicit padding. */
struct conv {
    bool depthwise, nchw;
    int32_t type, filter_type;
    int n, h, w, c, fh, fw, out; /* out: channels */
    int scheme, top, bottom, left, right, sh, sw, dh, dw, act;
    bool options; /* layout and dilation are given */
};

static int multiplier(const struct conv *g) { return g->depthwise ? g->out / g->c : 1; }

static void image_dims(const struct conv *g, int h, int w, int c, uint32_t d[4]) {
    int nhwc[4] = {g->n, h, w, c}, nchw[4] = {g->n, c, h, w};
    for (int i = 0; i < 4; i++) d[i] = (uint32_t)(g->nchw ? nchw[i] : nhwc[i]);
}

/* Quantised: input 0.5 and -3 or 125, filter 0.25 and 2 or 130 or scales of (1 + c) / 8, output 2 and 1 or 129. */
static double filter_scale(const struct conv *g, int c) { return g->filter_type == PC ? (1 + c % 5) * 0.125 : 0.25; }

static void set_filter(struct use *u, const struct conv *g) {
    struct nnv_operand *o = &u->operands[u->model.main.noperands - 1];
    if (g->filter_type != PC) {
        if (nnv_is_quant(g->filter_type)) use_quant(u, 0.25, g->filter_type == Q8 ? 130 : 2);
        return;
    }
    o->channel = (struct nnv_channel_quant){.dim = g->depthwise ? 3 : 0, .count = (uint32_t)g->out};
    o->channel.scales = NNV_NEW(u->arena, float, (size_t)g->out);
    for (int c = 0; c < g->out; c++) o->channel.scales[c] = (float)filter_scale(g, c);
}

static struct use *conv_use(const struct conv *g, const double *x, const double *f, const double *b) {
    struct use *u = use_new(g->depthwise ? ANEURALNETWORKS_DEPTHWISE_CONV_2D : ANEURALNETWORKS_CONV_2D);
    uint32_t xd[4], fd[4] = {(uint32_t)g->out, (uint32_t)g->fh, (uint32_t)g->fw, (uint32_t)g->c};
    if (g->depthwise) fd[0] = 1, fd[3] = (uint32_t)g->out;
    bool quant = nnv_is_quant(g->type);
    image_dims(g, g->h, g->w, g->c, xd);
    use_in(u, g->type, 4, xd, x);
    if (quant) use_quant(u, 0.5, g->type == Q8 ? 125 : -3);
    use_in(u, g->filter_type, 4, fd, f);
    set_filter(u, g);
    use_in(u, quant ? I32 : g->type, D((uint32_t)g->out), b);
    if (quant) use_quant(u, g->filter_type == PC ? 0 : 0.125, 0);
    int pads[] = {g->left, g->right, g->top, g->bottom};
    if (g->scheme) use_scalar(u, INT, g->scheme);
    for (int i = 0; i < 4 && !g->scheme; i++) use_scalar(u, INT, pads[i]);
    use_scalar(u, INT, g->sw);
    use_scalar(u, INT, g->sh);
    if (g->depthwise) use_scalar(u, INT, multiplier(g));
    use_scalar(u, INT, g->act);
    if (g->options) {
        use_scalar(u, BOOL, g->nchw);
        use_scalar(u, INT, g->dw);
        use_scalar(u, INT, g->dh);
    }
    use_out(u, g->type);
    if (quant) use_quant(u, 2, g->type == Q8 ? 129 : 1);
    return u;
}

/* ------------------------------------------------- direct loops to compare with */

static int out_extent(const struct conv *g, int n, int f, int s, int d, int *head, int tail) {
    int eff = (f - 1) * d + 1;
    if (g->scheme == 0) return (n - eff + *head + tail) / s + 1;
    *head = 0;
    if (g->scheme != SAME) return (n - eff) / s + 1;
    int out = (n + s - 1) / s, total = (out - 1) * s + eff - n;
    *head = total > 0 ? total / 2 : 0;
    return out;
}

struct result {
    uint32_t dims[4];
    double *y;
    float *y32; /* as a float32 device gives it, terms added in order */
};

static size_t image_at(const struct conv *g, int h, int w, int c, int n, int i, int j, int k) {
    return (size_t)(g->nchw ? ((n * c + k) * h + i) * w + j : ((n * h + i) * w + j) * c + k);
}

/* One output element in real numbers, and in float32. */
static double element(const struct conv *g, const double *x, const double *f, const double *b, int n, int i, int j,
                      int k, int top, int left, float *y32) {
    double sum = b[k];
    float acc = 0;
    int m = multiplier(g);
    for (int p = 0; p < g->fh; p++)
        for (int q = 0; q < g->fw; q++) {
            int h = i * g->sh - top + p * g->dh, w = j * g->sw - left + q * g->dw;
            if (h < 0 || w < 0 || h >= g->h || w >= g->w) continue;
            for (int c = g->depthwise ? k / m : 0; c < (g->depthwise ? k / m + 1 : g->c); c++) {
                int at = g->depthwise ? (p * g->fw + q) * g->out + k : ((k * g->fh + p) * g->fw + q) * g->c + c;
                double v = x[image_at(g, g->h, g->w, g->c, n, h, w, c)];
                sum += v * f[at];
                acc += (float)v * (float)f[at];
            }
        }
    *y32 = acc + (float)b[k];
    return sum;
}

static struct result direct(const struct conv *g, const double *x, const double *f, const double *b) {
    int top = g->top, left = g->left;
    int oh = out_extent(g, g->h, g->fh, g->sh, g->dh, &top, g->bottom);
    int ow = out_extent(g, g->w, g->fw, g->sw, g->dw, &left, g->right);
    struct result r;
    size_t size = (size_t)(g->n * oh * ow * g->out);
    image_dims(g, oh, ow, g->out, r.dims);
    r.y = malloc(size * sizeof *r.y);
    r.y32 = malloc(size * sizeof *r.y32);
    assert_true(r.y && r.y32);
    for (int n = 0; n < g->n; n++)
        for (int i = 0; i < oh; i++)
            for (int j = 0; j < ow; j++)
                for (int k = 0; k < g->out; k++) {
                    size_t e = image_at(g, oh, ow, g->out, n, i, j, k);
                    r.y[e] = element(g, x, f, b, n, i, j, k, top, left, &r.y32[e]);
                }
    return r;
}

/* ------------------------------------------------------------- random geometry */

static int pick(struct nnv_rng *r, int lo, int hi) { return (int)nnv_rng_int(r, lo, hi); }

static struct conv draw(struct nnv_rng *r, bool depthwise, int32_t type, int32_t filter_type) {
    struct conv g = {.depthwise = depthwise, .type = type, .filter_type = filter_type, .dh = 1, .dw = 1};
    g.options = pick(r, 0, 2) > 0;
    if (g.options) g.nchw = pick(r, 0, 1), g.dh = pick(r, 1, 3), g.dw = pick(r, 1, 3);
    g.fh = pick(r, 1, 4), g.fw = pick(r, 1, 4), g.sh = pick(r, 1, 3), g.sw = pick(r, 1, 3);
    if (pick(r, 0, 3) == 0) g.fh = g.fw = 3, g.sh = g.sw = g.dh = g.dw = 1;
    int eff_h = (g.fh - 1) * g.dh + 1, eff_w = (g.fw - 1) * g.dw + 1;
    g.n = pick(r, 1, 3), g.h = eff_h + pick(r, 0, 6), g.w = eff_w + pick(r, 0, 6), g.c = pick(r, 1, 6);
    g.out = depthwise ? g.c * pick(r, 1, 3) : pick(r, 1, 7);
    g.scheme = pick(r, 0, 2);
    if (g.scheme == 0) {
        g.top = pick(r, 0, eff_h - 1), g.bottom = pick(r, 0, eff_h - 1);
        g.left = pick(r, 0, eff_w - 1), g.right = pick(r, 0, eff_w - 1);
    }
    return g;
}

struct tensors {
    double *x, *f, *b; /* stored numbers */
    double *real_x, *real_f, *real_b;
};

static double *numbers(struct nnv_rng *r, size_t n, int32_t type, double lo, double hi) {
    double *v = malloc(n * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < n; i++) {
        v[i] = nnv_rng_uniform(r, lo, hi);
        v[i] = nnv_round_to(type, v[i]);
    }
    return v;
}

static struct tensors draw_tensors(struct nnv_rng *r, const struct conv *g) {
    size_t nx = (size_t)(g->n * g->h * g->w * g->c), nf = (size_t)(g->fh * g->fw * (g->depthwise ? 1 : g->c) * g->out);
    size_t nb = (size_t)g->out;
    bool quant = nnv_is_quant(g->type);
    double half = g->type == Q8 ? 128 : 0, filter_half = g->filter_type == Q8 ? 128 : 0;
    struct tensors t = {
        .x = numbers(r, nx, g->type, quant ? half - 20 : -2, quant ? half + 20 : 2),
        .f = numbers(r, nf, g->filter_type, quant ? filter_half - 20 : -1, quant ? filter_half + 20 : 1),
        .b = numbers(r, nb, quant ? I32 : g->type, quant ? -100 : -1, quant ? 100 : 1),
        .real_x = malloc(nx * sizeof(double)),
        .real_f = malloc(nf * sizeof(double)),
        .real_b = malloc(nb * sizeof(double)),
    };
    assert_true(t.real_x && t.real_f && t.real_b);
    double fzp = g->filter_type == Q8 ? 130 : g->filter_type == PC ? 0 : 2;
    for (size_t i = 0; i < nx; i++) t.real_x[i] = quant ? (t.x[i] - (g->type == Q8 ? 125 : -3)) * 0.5 : t.x[i];
    for (size_t i = 0; i < nf; i++) {
        int k = (int)(g->depthwise ? i % nb : i / (nf / nb));
        t.real_f[i] = quant ? (t.f[i] - fzp) * filter_scale(g, k) : t.f[i];
    }
    for (size_t i = 0; i < nb; i++) t.real_b[i] = quant ? t.b[i] * 0.5 * filter_scale(g, (int)i) : t.b[i];
    return t;
}

static void free_tensors(struct tensors *t) {
    free(t->x), free(t->f), free(t->b), free(t->real_x), free(t->real_f), free(t->real_b);
}

static size_t elems_of(const uint32_t d[4]) { return (size_t)d[0] * d[1] * d[2] * d[3]; }

static void compare(const struct conv *g, struct use *u, const struct result *r) {
    size_t n = elems_of(r->dims);
    bool quant = nnv_is_quant(g->type);
    double zp = g->type == Q8 ? 129 : 1, tolerance = quant ? 0 : g->type == F16 ? 1e-2 : 1e-5;
    double *want = NNV_NEW(u->arena, double, n);
    for (size_t e = 0; e < n; e++)
        want[e] = nnv_round_to(g->type, quant ? nnv_round_half_away(r->y[e] / 2) + zp : r->y[e]);
    use_expect(u, 0, 4, r->dims, want, tolerance);
}

static void against_direct_loops(bool depthwise) {
    static const int32_t types[][2] = {{F32, F32}, {F16, F16}, {Q8, Q8}, {Q8, PC}, {Q8S, Q8S}, {Q8S, PC}};
    struct nnv_rng rng = nnv_rng_make(11, depthwise, 0);
    for (int t = 0; t < 6; t++)
        for (int i = 0; i < 25; i++) {
            struct conv g = draw(&rng, depthwise, types[t][0], types[t][1]);
            struct tensors v = draw_tensors(&rng, &g);
            struct result r = direct(&g, v.real_x, v.real_f, v.real_b);
            struct use *u = conv_use(&g, v.x, v.f, v.b);
            compare(&g, u, &r);
            free(r.y), free(r.y32);
            free_tensors(&v);
            use_free(u);
        }
}

static void test_conv_against_direct_loops(void **state) {
    (void)state;
    against_direct_loops(false);
}

static void test_depthwise_against_direct_loops(void **state) {
    (void)state;
    against_direct_loops(true);
}

/* A float32 device that adds in order is inside the budget; one that leaves out the last channel's bias is not. */
static void test_budget_holds_a_legal_device(void **state) {
    (void)state;
    struct nnv_rng rng = nnv_rng_make(12, 0, 0);
    size_t beyond = 0, caught = 0, cases = 0, all = 0;
    double widest = 0;
    for (int i = 0; i < 60; i++, cases++) {
        struct conv g = draw(&rng, i % 2, F32, F32);
        struct tensors v = draw_tensors(&rng, &g);
        struct result r = direct(&g, v.real_x, v.real_f, v.real_b);
        struct use *u = conv_use(&g, v.x, v.f, v.b);
        (void)use_spread(u, 0);
        const float *y = u->results[0].value.data;
        bool seen = false;
        for (size_t e = 0; e < elems_of(r.dims); e++, all++) {
            double budget = 2 * u->results[0].spread[e] + 0x1p-23 * fabs((double)y[e]);
            beyond += !(fabs((double)r.y32[e] - (double)y[e]) <= budget);
            if (budget > widest) widest = budget;
            seen = seen || fabs(v.b[g.out - 1]) > budget;
        }
        caught += seen;
        free(r.y), free(r.y32);
        free_tensors(&v);
        use_free(u);
    }
    assert_int_equal(beyond, 0);
    assert_true(caught == cases && all > 5000);
    assert_true(widest < 2e-4); /* about 100 terms that add up to 50 */
}

/* Rows whose inputs differ are summed anew: a relaxed model may round 0.1 to float16, and so its products. */
static void test_rows_with_other_inputs(void **state) {
    (void)state;
    struct conv g = {.type = F32,
                     .filter_type = F32,
                     .n = 1,
                     .h = 1,
                     .w = 1,
                     .c = 4,
                     .fh = 1,
                     .fw = 1,
                     .out = 1,
                     .scheme = VALID,
                     .sh = 1,
                     .sw = 1,
                     .dh = 1,
                     .dw = 1};
    double spread[2];
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        struct use *u = conv_use(&g, V(0.1, 0.1, 0.1, 0.1), V(100, -100, 100, -100), V(0));
        u->model.relaxed = relaxed;
        spread[relaxed] = use_spread(u, 0);
        double y;
        nnv_load(F32, u->results[0].value.data, 1, &y);
        assert_true(y == 0);
        use_free(u);
    }
    assert_true(spread[0] > 0 && spread[0] < 1e-5);
    assert_true(spread[1] > 100 * (0x1p-12 * 0.1 + 0x1p-14) && spread[1] < 0.1);
}

/* ------------------------------------------------------------- values by hand */

static struct conv plain(int h, int w, int fh, int fw) {
    return (struct conv){.type = F32,
                         .filter_type = F32,
                         .n = 1,
                         .h = h,
                         .w = w,
                         .c = 1,
                         .fh = fh,
                         .fw = fw,
                         .out = 1,
                         .scheme = VALID,
                         .sh = 1,
                         .sw = 1,
                         .dh = 1,
                         .dw = 1};
}

static void test_by_hand(void **state) {
    (void)state;
    struct conv g = plain(2, 3, 2, 2);
    struct use *u = conv_use(&g, V(1, 2, 3, 4, 5, 6), V(1, 10, 100, 1000), V(0.5));
    use_expect(u, 0, D(1, 1, 2, 1), V(5421.5, 6532.5), 0);
    assert_int_equal(u->level, 3); /* the output has no rank */
    use_free(u);
    g.scheme = SAME; /* the odd row and column are at the end */
    u = conv_use(&g, V(1, 2, 3, 4, 5, 6), V(1, 10, 100, 1000), V(0));
    use_expect(u, 0, D(1, 2, 3, 1), V(5421, 6532, 603, 54, 65, 6), 0);
    use_free(u);
    g.scheme = 0;
    g.left = 1;
    g.bottom = 1;
    g.sw = 2;
    g.act = ANEURALNETWORKS_FUSED_RELU6;
    u = conv_use(&g, V(1, -2, 3, 4, 5, 6), V(1, 1, 0, 0), V(-1));
    use_expect(u, 0, D(1, 2, 2, 1), V(0, 0, 3, 6), 0); /* 1-1, -2+3-1, 4-1, 5+6-1 */
    use_free(u);
}

static void test_quantised_by_hand(void **state) {
    (void)state;
    struct conv g = plain(1, 2, 1, 2);
    g.type = g.filter_type = Q8;
    /* (129-125)*0.5 = 2, (121-125)*0.5 = -2; (134-130)*0.25 = 1, (138-130)*0.25 = 2; bias 8*0.125 = 1: 2 - 4 + 1 */
    struct use *u = conv_use(&g, V(129, 121), V(134, 138), V(8));
    use_expect(u, 0, D(1, 1, 1, 1), V(128), 0); /* -1 / 2 is a tie: away from zero */
    assert_true(use_spread(u, 0) == 1);
    use_free(u);
    u = conv_use(&g, V(129, 121), V(134, 138), V(-8)); /* -3 / 2 */
    u->rows = 0;
    use_expect(u, 0, D(1, 1, 1, 1), V(127), 0);
    use_free(u);
}

/* The scale of the result must exceed that of the products, before level 3. */
static void test_level(void **state) {
    (void)state;
    static const uint32_t dims[4] = {1, 1, 1, 1};
    struct conv g = plain(1, 2, 1, 2);
    g.type = g.filter_type = Q8;
    for (int i = 0; i < 2; i++) {
        struct use *u = conv_use(&g, V(129, 121), V(134, 138), V(8));
        struct nnv_operand *y = &u->operands[u->out[0]];
        y->rank = 4;
        y->dims = nnv_arena_copy(u->arena, dims, sizeof dims);
        use_quant(u, i ? 0.126 : 0.125, 129);
        assert_int_equal(use_run(u), NNV_OK);
        assert_int_equal(u->level, i ? 1 : 3);
        use_free(u);
    }
}

static void test_zero_batch(void **state) {
    (void)state;
    struct conv g = plain(4, 5, 2, 3);
    g.n = 0;
    struct use *u = conv_use(&g, V(0), V(1, 2, 3, 4, 5, 6), V(0));
    u->operands[0].dims[0] = 0;
    use_expect(u, 0, D(0, 3, 3, 1), V(0), 0);
    use_free(u);
}

/* ------------------------------------------------------------------ refusals */

static void refuse(const struct conv *g, uint32_t operand, uint32_t dim, uint32_t extent, const char *words) {
    static double zeros[4096];
    struct use *u = conv_use(g, zeros, zeros, zeros);
    if (extent) {
        struct nnv_value *v = &u->values[operand];
        v->bytes = v->bytes / u->operands[operand].dims[dim] * extent;
        u->operands[operand].dims[dim] = v->dims[dim] = extent;
    }
    use_refuse(u, words);
    use_free(u);
}

static void test_refusals(void **state) {
    (void)state;
    struct conv g = plain(5, 6, 3, 2);
    g.c = 2;
    g.out = 4;
    refuse(&g, 1, 3, 3, "filter: extent 3 is 3, but the other inputs make it 2");
    refuse(&g, 2, 0, 5, "bias: extent 0 is 5, but the other inputs make it 4");
    refuse(&g, 1, 1, 7, "height: the output would be empty");
    g.scheme = 0;
    g.right = 2;
    refuse(&g, 0, 0, 0, "width: padding 2 reaches the effective filter of 2");
    g.right = -1;
    refuse(&g, 0, 0, 0, "padding right): -1 is negative");
    g.right = 0;
    g.sh = 0;
    refuse(&g, 0, 0, 0, "stride height): 0 is not above 0");
    g.sh = 1;
    g.act = 4;
    refuse(&g, 0, 0, 0, "4 is not a fuse code");
}

static void test_depthwise_refusals(void **state) {
    (void)state;
    struct conv g = plain(5, 6, 3, 2);
    g.depthwise = true;
    g.c = 2;
    g.out = 4;
    refuse(&g, 1, 0, 2, "filter: extent 0 is 2, but the other inputs make it 1");
    refuse(&g, 0, 3, 3, "3 input channels times multiplier 2 are not 4 output channels");
    g.type = Q8;
    g.filter_type = PC;
    static double zeros[256];
    struct use *u = conv_use(&g, zeros, zeros, zeros);
    u->operands[1].channel.dim = 2;
    u->operands[1].channel.count = 2;
    use_refuse(u, "filter: the scales run along dimension 2, expected 3");
    use_free(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_quantised_by_hand),
        cmocka_unit_test(test_conv_against_direct_loops),
        cmocka_unit_test(test_depthwise_against_direct_loops),
        cmocka_unit_test(test_budget_holds_a_legal_device),
        cmocka_unit_test(test_rows_with_other_inputs),
        cmocka_unit_test(test_level),
        cmocka_unit_test(test_zero_batch),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_depthwise_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
