/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file test_cpu_driver_kernels.c The driver "cpu" against sums worked out one by one, on every instruction set that
 * the processor has: shapes that leave remainders of channels and pixels, padding, strides, dilation, zero points at
 * the ends, results halfway between two steps. Quantised results must be exact; floats are small integers, whose sums
 * are.
 */
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/kit/op_net.h"

static const char *const levels[] = {"threads=1", "threads=3",   "isa=avx512vnni", "isa=avx512", "isa=avx2",
                                     "isa=i8mm",  "isa=dotprod", "isa=neon",       "isa=base"};

/** A convolution, or with depthwise set one filter a channel. A fully connected layer is one of 1x1 on one pixel. */
struct layer {
    uint32_t n, h, w, depth, channels, filter_h, filter_w;
    int32_t stride_h, stride_w, dilation, pad[4]; /**< left, right, top, bottom */
    bool depthwise;
    int32_t activation;
};

/** How the numbers are meant; all 0: floats. */
struct coding {
    int32_t type, x_zero, w_zero, y_zero;
    float y_scale;    /**< x's is 0.5, w's is 0.25 */
    bool per_channel; /**< scales of w: 0.25, 0.125, ... */
    int extreme;      /**< 1: all values at their ends, 2: weights of 255 above their zero point */
};

static uint32_t next_random(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 8; }

/** Integers behind a tensor, and their bytes as the request has them. */
struct values {
    int32_t *centred;
    void *data;
    uint32_t count, bytes;
};

static struct values draw(uint32_t count, const struct coding *q, bool weights, uint32_t *seed) {
    struct values v = {calloc(count, sizeof(int32_t)), NULL, count, count * (q->type ? 1 : 4)};
    v.data = malloc(v.bytes);
    assert_true(v.centred && v.data);
    const bool symmetric = weights && q->per_channel, is_signed = q->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    const int32_t least = is_signed || symmetric ? -128 : 0, zero = symmetric ? 0 : weights ? q->w_zero : q->x_zero;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t r = next_random(seed);
        if (!q->type) {
            v.centred[i] = (int32_t)(r % 17) - 8;
            ((float *)v.data)[i] = (float)v.centred[i];
            continue;
        }
        int32_t stored = least + (int32_t)(r % 256);
        if (q->extreme == 1) stored = r % 2 ? least : least + 255;
        if (q->extreme == 2) stored = least + 255;
        if (symmetric && stored == -128) stored = -127; /* symmetric */
        ((uint8_t *)v.data)[i] = (uint8_t)stored;
        v.centred[i] = stored - zero;
    }
    return v;
}

static void values_free(struct values *v) {
    free(v->centred);
    free(v->data);
}

static uint32_t extent(uint32_t in, uint32_t filter, int32_t stride, int32_t dilation, int32_t pads) {
    return (uint32_t)((int32_t)in + pads - (((int32_t)filter - 1) * dilation + 1)) / (uint32_t)stride + 1;
}

/** The sum of one output value. */
static int64_t sum_of(const struct layer *l, const int32_t *x, const int32_t *w, uint32_t n, int32_t y0, int32_t x0,
                      uint32_t k) {
    int64_t sum = 0;
    for (uint32_t p = 0; p < l->filter_h; p++)
        for (uint32_t q = 0; q < l->filter_w; q++) {
            const int32_t y = y0 + (int32_t)p * l->dilation, col = x0 + (int32_t)q * l->dilation;
            if (y < 0 || col < 0 || y >= (int32_t)l->h || col >= (int32_t)l->w) continue;
            const int32_t *pixel = x + ((size_t)(n * l->h + (uint32_t)y) * l->w + (uint32_t)col) * l->depth;
            const size_t tap = (size_t)p * l->filter_w + q, taps = (size_t)l->filter_h * l->filter_w;
            if (l->depthwise) {
                sum += (int64_t)pixel[k / (l->channels / l->depth)] * w[tap * l->channels + k];
                continue;
            }
            for (uint32_t c = 0; c < l->depth; c++) sum += (int64_t)pixel[c] * w[(k * taps + tap) * l->depth + c];
        }
    return sum;
}

static float weight_scale(const struct coding *q, uint32_t k) {
    return q->per_channel ? 0.25f / (float)(1 + k % 3) : 0.25f;
}

/** The byte or float that stands for a sum. */
static double result_of(const struct layer *l, const struct coding *q, int64_t sum, uint32_t k) {
    const double top = l->activation == ANEURALNETWORKS_FUSED_RELU6 ? 6 : INFINITY;
    if (!q->type) return l->activation ? fmin(fmax((double)sum, 0), top) : (double)sum;
    const bool is_signed = q->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED;
    const double multiplier = 0.5 * (double)weight_scale(q, k) / (double)q->y_scale;
    double lo = is_signed ? -128 : 0, hi = is_signed ? 127 : 255;
    if (l->activation) lo = fmax(lo, q->y_zero);
    if (l->activation) hi = fmin(hi, q->y_zero + round(top / (double)q->y_scale));
    return fmin(fmax(q->y_zero + round((double)sum * multiplier), lo), hi);
}

static void add_model(struct net *n, const struct layer *l, const struct coding *q, const struct values *w,
                      const struct values *bias, const float *scales, uint32_t out_h, uint32_t out_w,
                      struct nnvts_memory *pool) {
    const struct kind kx = q->type ? (struct kind){q->type, 0.5f, q->x_zero} : F32;
    const struct kind ky = q->type ? (struct kind){q->type, q->y_scale, q->y_zero} : F32;
    struct kind kw = q->type ? (struct kind){q->type, 0.25f, q->w_zero} : F32;
    if (q->per_channel) kw = (struct kind){ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0};
    const struct kind kb = q->type ? (struct kind){ANEURALNETWORKS_TENSOR_INT32, q->per_channel ? 0 : 0.125f, 0} : F32;
    uint32_t list[16], used = 0;
    list[used++] = input(n, kx, DIMS(l->n, l->h, l->w, l->depth));
    list[used++] = l->depthwise
                       ? tensor(n, NNVTS_CONSTANT_REFERENCE, kw, DIMS(1, l->filter_h, l->filter_w, l->channels))
                       : tensor(n, NNVTS_CONSTANT_REFERENCE, kw, DIMS(l->channels, l->filter_h, l->filter_w, l->depth));
    n->operands[list[1]].location.length = w->bytes;
    if (q->per_channel)
        n->operands[list[1]].channel_quant = (struct nnvts_channel_quant){l->depthwise ? 3 : 0, l->channels, scales};
    list[used++] = constant(n, kb, bias->data, bias->bytes, DIMS(l->channels));
    for (int i = 0; i < 4; i++) list[used++] = integer(n, l->pad[i]);
    list[used++] = integer(n, l->stride_w);
    list[used++] = integer(n, l->stride_h);
    if (l->depthwise) list[used++] = integer(n, (int32_t)(l->channels / l->depth));
    list[used++] = integer(n, l->activation);
    list[used++] = boolean(n, 0);
    list[used++] = integer(n, l->dilation);
    list[used++] = integer(n, l->dilation);
    list[used] = UINT32_MAX;
    operation(n, l->depthwise ? ANEURALNETWORKS_DEPTHWISE_CONV_2D : ANEURALNETWORKS_CONV_2D, list,
              LIST(output(n, ky, DIMS(l->n, out_h, out_w, l->channels))));
    *pool = (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = -1, .size = w->bytes, .data = w->data};
    n->model.pools = pool;
    n->model.pool_count = 1;
}

/** A layer with its values. */
struct trial {
    const struct layer *l;
    const struct coding *q;
    struct values x, w, bias;
    float *scales;
    uint32_t out_h, out_w, count;
    double *expected;
};

static void check_level(const char *options, const struct trial *t) {
    const struct layer *l = t->l;
    const struct coding *q = t->q;
    const uint32_t count = t->count;
    struct net net = {0};
    struct nnvts_memory pool;
    struct nnvts_device *device = NULL;
    const char *error = NULL;
    if (load("cpu")->open(options, &device, &error) != NNVTS_STATUS_NONE) return; /* not on this processor */
    const uint32_t bytes = count * (q->type ? 1 : 4);
    uint8_t *y = malloc(bytes); /* of the exact size: the sanitizers see what is read or written beyond */
    add_model(&net, l, q, &t->w, &t->bias, t->scales, t->out_h, t->out_w, &pool);
    struct nnvts_prepared_model *p = prepare(device, &net);
    struct call c = {0};
    assert_non_null(y);
    give(&c, t->x.data, t->x.bytes);
    take(&c, y, bytes);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    for (uint32_t i = 0; i < count; i++) {
        const double got = q->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ? ((int8_t *)y)[i]
                           : q->type                                             ? y[i]
                                                                                 : (double)((float *)(void *)y)[i];
        if (got != t->expected[i])
            fail_msg("%s: %s [%u,%u,%u,%u] to %u channels, filter %ux%u, stride %dx%d, dilation %d, zero points %d %d: "
                     "value %u is %g, expected %g",
                     options, l->depthwise ? "depthwise" : "conv", l->n, l->h, l->w, l->depth, l->channels, l->filter_h,
                     l->filter_w, l->stride_h, l->stride_w, l->dilation, q->x_zero, q->w_zero, i, got, t->expected[i]);
    }
    free(y);
    p->release(p);
    device->release(device);
}

static void check(const struct layer *l, const struct coding *q) {
    uint32_t seed = l->h * 31 + l->w * 7 + l->channels;
    struct trial t = {.l = l, .q = q};
    t.out_h = extent(l->h, l->filter_h, l->stride_h, l->dilation, l->pad[2] + l->pad[3]);
    t.out_w = extent(l->w, l->filter_w, l->stride_w, l->dilation, l->pad[0] + l->pad[1]);
    t.count = t.out_h * t.out_w * l->n * l->channels;
    t.x = draw(l->n * l->h * l->w * l->depth, q, false, &seed);
    t.w = draw(l->filter_h * l->filter_w * l->channels * (l->depthwise ? 1 : l->depth), q, true, &seed);
    t.bias = (struct values){calloc(l->channels, 4), malloc(l->channels * 4), l->channels, l->channels * 4};
    t.scales = malloc(l->channels * sizeof *t.scales);
    t.expected = malloc(t.count * sizeof *t.expected);
    assert_true(t.bias.centred && t.bias.data && t.scales && t.expected);
    for (uint32_t k = 0; k < l->channels; k++) {
        t.bias.centred[k] = (int32_t)(next_random(&seed) % 201) - 100;
        t.scales[k] = weight_scale(q, k);
        if (q->type)
            ((int32_t *)t.bias.data)[k] = t.bias.centred[k];
        else
            ((float *)t.bias.data)[k] = (float)t.bias.centred[k];
    }
    for (uint32_t i = 0; i < t.count; i++) {
        const uint32_t k = i % l->channels, pixel = i / l->channels, row = pixel / t.out_w;
        const int32_t y = (int32_t)(row % t.out_h) * l->stride_h - l->pad[2];
        const int32_t x = (int32_t)(pixel % t.out_w) * l->stride_w - l->pad[0];
        const int64_t sum = sum_of(l, t.x.centred, t.w.centred, row / t.out_h, y, x, k);
        t.expected[i] = result_of(l, q, sum + t.bias.centred[k], k);
    }
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) check_level(levels[i], &t);
    free(t.expected);
    free(t.scales);
    values_free(&t.x);
    values_free(&t.w);
    values_free(&t.bias);
}

enum { U = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, S = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED };

/** Results of some hundred output steps at most; powers of two make every second to 64th sum a tie. */
static const struct coding codings[] = {
    {0},
    {.type = U, .x_zero = 128, .w_zero = 128, .y_zero = 100, .y_scale = 64},
    {.type = U, .x_zero = 0, .w_zero = 120, .y_zero = 3, .y_scale = 37.7f},
    {.type = U, .x_zero = 255, .w_zero = 0, .y_zero = 255, .y_scale = 256},
    {.type = U, .x_zero = 77, .w_zero = 255, .y_zero = 0, .y_scale = 211.3f},
    {.type = S, .x_zero = -128, .w_zero = 5, .y_zero = -3, .y_scale = 50.1f},
    {.type = S, .x_zero = 127, .y_zero = -128, .y_scale = 128, .per_channel = true},
    {.type = U, .x_zero = 140, .y_zero = 128, .y_scale = 16, .per_channel = true},
    {.type = U, .x_zero = 1, .w_zero = 128, .y_zero = 128, .y_scale = 1, .extreme = 1}, /* far outside */
    {.type = U, .x_zero = 0, .w_zero = 0, .y_zero = 1, .y_scale = 4096, .extreme = 2},
    {.type = U, .x_zero = 128, .w_zero = 128, .y_zero = 128, .y_scale = 0x1p-14f}, /* too large for fixed point */
};

static void check_all(const struct layer *layers, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t q = 0; q < sizeof codings / sizeof *codings; q++) check(&layers[i], &codings[q]);
}
#define CHECK_ALL(LAYERS) check_all(LAYERS, sizeof LAYERS / sizeof *LAYERS)

#define NO_PADS                                                                                                        \
    { 0, 0, 0, 0 }
#define PADS                                                                                                           \
    { 1, 1, 1, 1 }

/** Remainders of pixels (tiles have 14, 12, 6 or 4), of channels (panels have 32, 16 or 8), and of depth (fours). */
static void test_pointwise(void **state) {
    (void)state;
    static const struct layer layers[] = {
        {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, NO_PADS, false, 0},        {1, 1, 13, 2, 17, 1, 1, 1, 1, 1, NO_PADS, false, 3},
        {1, 1, 25, 3, 33, 1, 1, 1, 1, 1, NO_PADS, false, 0},      {2, 5, 5, 4, 16, 1, 1, 1, 1, 1, NO_PADS, false, 1},
        {1, 1, 1, 133, 71, 1, 1, 1, 1, 1, NO_PADS, false, 0},     {1, 3, 7, 65, 31, 1, 1, 1, 1, 1, NO_PADS, false, 3},
        {1, 16, 17, 7, 5, 1, 1, 1, 1, 1, NO_PADS, false, 0},      {1, 9, 19, 6, 40, 1, 1, 2, 2, 1, NO_PADS, false, 0},
        {1, 4, 9, 36, 64, 1, 1, 1, 1, 1, {0, 0, 0, 0}, false, 0},
    };
    CHECK_ALL(layers);
}

/** Tiles of any height, of panels and half panels; few panels at once, or all of them. */
static void test_heights(void **state) {
    (void)state;
    for (uint32_t rows = 1; rows <= 29; rows++) {
        const struct layer layers[] = {
            {1, 1, rows, 9, 40, 1, 1, 1, 1, 1, NO_PADS, false, 0},
            {1, 1, rows, 130, 76, 1, 1, 1, 1, 1, NO_PADS, false, 0},
        };
        CHECK_ALL(layers);
    }
}

/**
 * Where bytes are multiplied in tiles of 16 rows of 64 values: rows that fill two tiles, leave one row or overlap;
 * whole tiles of depth, a rest, both; runs of each; more rows than go through all panels at once.
 */
static void test_tiles(void **state) {
    (void)state;
    static const struct layer layers[] = {
        {1, 2, 2, 64, 16, 1, 1, 1, 1, 1, NO_PADS, false, 0},
        {1, 1, 5, 32, 33, 1, 1, 1, 1, 1, NO_PADS, false, 3},
        {1, 1, 31, 128, 7, 1, 1, 1, 1, 1, NO_PADS, false, 0},
        {1, 1, 33, 100, 72, 1, 1, 1, 1, 1, NO_PADS, false, 0},
        {1, 7, 7, 200, 48, 1, 1, 1, 1, 1, NO_PADS, false, 3},
        {1, 17, 18, 68, 41, 1, 1, 1, 1, 1, NO_PADS, false, 0},
        {2, 7, 40, 32, 40, 3, 3, 1, 1, 1, PADS, false, 0},
        {1, 9, 29, 12, 20, 3, 3, 1, 1, 2, PADS, false, 0},
        {1, 6, 23, 68, 36, 3, 3, 1, 1, 2, PADS, false, 0},
        {1, 2, 300, 16, 33, 2, 3, 1, 1, 1, PADS, false, 0},
        {1, 9, 41, 16, 17, 3, 3, 2, 2, 1, {0, 1, 0, 1}, false, 3},
    };
    CHECK_ALL(layers);
}

/** Runs of 9, 3, 15 and more values; all sides padded, or some; wide enough for the direct way, or not. */
static void test_filters(void **state) {
    (void)state;
    static const struct layer layers[] = {
        {1, 11, 23, 3, 20, 3, 3, 2, 2, 1, {0, 1, 0, 1}, false, 3},
        {2, 6, 18, 5, 33, 3, 3, 1, 1, 1, PADS, false, 0},
        {1, 7, 31, 1, 9, 5, 5, 1, 1, 1, {2, 2, 2, 2}, false, 0},
        {1, 9, 29, 6, 16, 3, 3, 1, 1, 2, {2, 1, 1, 2}, false, 0},
        {1, 5, 5, 4, 8, 3, 3, 1, 1, 1, PADS, false, 1},
        {1, 8, 40, 2, 17, 3, 3, 1, 3, 1, PADS, false, 0},
        {1, 4, 21, 3, 40, 1, 7, 1, 1, 1, {3, 3, 0, 0}, false, 0},
        {2, 21, 14, 3, 18, 7, 1, 2, 1, 1, {0, 0, 3, 3}, false, 0},
        {1, 10, 12, 3, 7, 3, 3, 1, 1, 3, NO_PADS, false, 0},
        {1, 3, 26, 16, 48, 3, 3, 1, 1, 1, PADS, false, 3},
    };
    CHECK_ALL(layers);
}

/** Channels that fill vectors, are fewer, or leave a rest; odd numbers of rows; 3x3 filters and others. */
static void test_depthwise(void **state) {
    (void)state;
    static const struct layer layers[] = {
        {1, 9, 14, 32, 32, 3, 3, 1, 1, 1, PADS, true, 3},
        {2, 5, 7, 64, 64, 3, 3, 1, 1, 1, PADS, true, 0},
        {1, 7, 13, 144, 144, 3, 3, 1, 1, 1, PADS, true, 0},
        {1, 8, 15, 96, 96, 3, 3, 2, 2, 1, {0, 1, 0, 1}, true, 3},
        {1, 6, 9, 17, 17, 3, 3, 1, 1, 1, PADS, true, 0},
        {1, 4, 11, 3, 3, 3, 3, 1, 1, 1, PADS, true, 1},
        {1, 5, 5, 20, 20, 3, 3, 2, 2, 1, PADS, true, 0},
        {1, 1, 1, 65, 65, 3, 3, 1, 1, 1, PADS, true, 0},
        {1, 6, 10, 40, 40, 3, 3, 2, 1, 1, NO_PADS, true, 0},
        {1, 6, 10, 40, 40, 3, 3, 1, 2, 1, PADS, true, 0},
        {1, 9, 9, 24, 24, 5, 5, 1, 1, 1, {2, 2, 2, 2}, true, 0},
        {1, 9, 12, 16, 16, 3, 3, 1, 1, 2, {2, 2, 2, 2}, true, 0},
        {1, 6, 6, 8, 24, 3, 3, 1, 1, 1, PADS, true, 0},
        {1, 6, 8, 16, 16, 3, 3, 1, 1, 1, {2, 2, 2, 2}, true, 0},
        {1, 7, 12, 48, 48, 3, 3, 1, 3, 1, PADS, true, 0},
        {1, 3, 2, 128, 128, 3, 3, 1, 1, 1, PADS, true, 3},
        {1, 5, 10, 512, 512, 3, 3, 1, 1, 1, PADS, true, 3},
        {1, 3, 14, 1024, 1024, 3, 3, 1, 1, 1, PADS, true, 0},
        {1, 7, 15, 512, 512, 3, 3, 2, 2, 1, {0, 1, 0, 1}, true, 0},
        {1, 4, 12, 1024, 1024, 3, 3, 2, 2, 1, PADS, true, 1},
        {2, 6, 15, 256, 256, 3, 3, 2, 2, 1, PADS, true, 0},
        {1, 5, 8, 512, 512, 3, 3, 2, 1, 1, NO_PADS, true, 0},
    };
    CHECK_ALL(layers);
}

/** Half a step a unit of the sum: halves go away from zero. */
static void test_ties(void **state) {
    (void)state;
    static const struct {
        int32_t sum, zero, byte;
    } cases[] = {{15, 0, 8},    {-15, 8, 0},    {13, 0, 7},     {-13, 8, 1},   {14, 0, 7},       {-14, 8, 1},
                 {1, 0, 1},     {-1, 8, 7},     {16, 0, 8},     {255, 0, 128}, {-255, 255, 127}, {509, 0, 255},
                 {511, 0, 255}, {-511, 255, 0}, {-509, 255, 0}, {0, 77, 77},   {-1, 0, 0},       {1, 255, 255}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            struct nnvts_device *device = NULL;
            const char *error = NULL;
            if (load("cpu")->open(levels[i], &device, &error) != NNVTS_STATUS_NONE) continue;
            const uint8_t weight[] = {1}, x[] = {9}; /* which is x's zero point: the bias is the sum */
            const struct arg args[] = {T(U8(0.5f, 9), 1, 1), C(U8(0.25f, 0), weight, 1, 1),
                                       C(((struct kind){ANEURALNETWORKS_TENSOR_INT32, 0.125f, 0}), &cases[k].sum, 1),
                                       I(0)};
            struct arg list[4];
            memcpy(list, args, sizeof list);
            list[2].bytes = sizeof(int32_t);
            struct net n = {0};
            build(&n, ANEURALNETWORKS_FULLY_CONNECTED, T(U8(0.25f, cases[k].zero), 1, 1), list, 4);
            struct nnvts_prepared_model *p = prepare(device, &n);
            uint8_t y[1];
            struct call c = {0};
            give(&c, x, 1);
            take(&c, y, 1);
            assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
            if (y[0] != cases[k].byte)
                fail_msg("%s: sum %d is %d, expected %d", levels[i], cases[k].sum, y[0], cases[k].byte);
            p->release(p);
            device->release(device);
        }
}

enum { UNITS = 500, SCALES = 60, MOST_ROWS = 37, MOST_INPUTS = 32, TILED_UNITS = 150 };

/** Rows of a product whose sums are the biases: all inputs are their zero point. */
static void check_near_ties(const char *level, uint32_t rows, uint32_t inputs, uint32_t units, float y_scale,
                            const int32_t *bias, const uint8_t *expected) {
    static uint8_t weights[UNITS * MOST_INPUTS], x[MOST_ROWS * MOST_INPUTS], y[MOST_ROWS * UNITS];
    memset(weights, 3, sizeof weights);
    memset(x, 9, sizeof x);
    const struct arg args[] = {T(U8(0.5f, 9), rows, inputs), C(U8(0.25f, 2), weights, units, inputs),
                               C(((struct kind){ANEURALNETWORKS_TENSOR_INT32, 0.125f, 0}), bias, units), I(0)};
    struct arg list[4];
    memcpy(list, args, sizeof list);
    list[1].bytes = units * inputs;
    list[2].bytes = units * sizeof *bias;
    struct nnvts_device *device = NULL;
    const char *error = NULL;
    if (load("cpu")->open(level, &device, &error) != NNVTS_STATUS_NONE) return;
    struct net n = {0};
    build(&n, ANEURALNETWORKS_FULLY_CONNECTED, T(U8(y_scale, 100), rows, units), list, 4);
    struct nnvts_prepared_model *p = prepare(device, &n);
    struct call c = {0};
    give(&c, x, rows * inputs);
    take(&c, y, rows * units);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    for (uint32_t i = 0; i < rows * units; i++)
        if (y[i] != expected[i % units])
            fail_msg("%s: row %u: sum %d is %d, expected %d", level, i / units, bias[i % units], y[i],
                     expected[i % units]);
    p->release(p);
    device->release(device);
}

/** Sums beside the middle of two steps, for odd multipliers: rounding is that of the exact product. */
static void test_near_ties(void **state) {
    (void)state;
    uint32_t seed = 5;
    for (int i_scale = 0; i_scale < SCALES; i_scale++) {
        const float y_scale = ldexpf(1 + (float)next_random(&seed) * 0x1p-24f, 6 + i_scale % 12); /* 2^-9 to 2^-21 */
        const double multiplier = 0.125 / (double)y_scale;
        int32_t bias[UNITS];
        uint8_t expected[UNITS];
        for (int i = 0; i < UNITS; i++) {
            const double middle = (double)(next_random(&seed) % 256) - 100.5;
            bias[i] = (int32_t)floor(middle / multiplier) + (int32_t)(next_random(&seed) % 2);
            expected[i] = (uint8_t)fmin(fmax(100 + round(bias[i] * multiplier), 0), 255);
        }
        for (size_t l = 0; l < sizeof levels / sizeof *levels; l++) {
            check_near_ties(levels[l], 1, 1, UNITS, y_scale, bias, expected);
            check_near_ties(levels[l], MOST_ROWS, MOST_INPUTS, TILED_UNITS, y_scale, bias, expected);
        }
    }
}

static bool opens(const char *options) {
    struct nnvts_device *device = NULL;
    const char *error = NULL;
    if (load("cpu")->open(options, &device, &error) != NNVTS_STATUS_NONE) return false;
    device->release(device);
    return true;
}

/** A level can be had where the processor has its instructions, and nowhere else: none is left out above. */
static void test_levels(void **state) {
    (void)state;
    const struct {
        const char *options;
        bool there;
    } expected[] = {
        {"isa=base", true},
#if defined(__x86_64__)
        {"isa=avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")},
        {"isa=avx512", __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vl")},
        {"isa=avx512vnni", __builtin_cpu_supports("avx512vnni")},
        {"isa=neon", false},
        {"isa=i8mm", false},
#elif defined(__aarch64__)
        {"isa=neon", true},
        {"isa=dotprod", getauxval(AT_HWCAP) >> 20 & 1},
        {"isa=i8mm", getauxval(AT_HWCAP2) >> 13 & 1},
        {"isa=avx2", false},
        {"isa=amx", false},
#endif
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (opens(expected[i].options) != expected[i].there)
            fail_msg("%s: it %s", expected[i].options, expected[i].there ? "is not there" : "is there");
}

/**
 * A signal stack without room for tiles: the system refuses them, and the driver opens all the same. In a process of
 * its own, before any other has asked.
 */
static void test_small_signal_stack(void **state) {
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static char stack[8192];
        const bool set = sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL) == 0;
        _exit(!set ? 2 : opens("isa=amx") ? 3 : opens(NULL) ? 0 : 4);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_signal_stack),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_pointwise),
        cmocka_unit_test(test_heights),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_depthwise),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_near_ties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
