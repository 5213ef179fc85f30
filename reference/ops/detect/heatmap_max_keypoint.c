/* SPDX-License-Identifier: Apache-2.0 */
/** @file heatmap_max_keypoint.c HEATMAP_MAX_KEYPOINT. */
#include "reference/ops/common.h"

enum { HEATMAP, BOXES, NCHW };
enum { SCORE, KEYPOINT };

static const struct nnv_slot inputs[] = {
    {.id = HEATMAP, .name = "heatmap", .var = NNV_T, .rank_min = 4, .rank_max = 4},
    {.id = BOXES, .name = "boxes", .var = NNV_V, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},
    NNV_SLOT_BOOL(NCHW, "nchw"),
};
static const struct nnv_slot outputs[] = {
    {.id = SCORE, .name = "score", .var = NNV_T, .rank_min = 2, .rank_max = 2, .judged = NNV_JUDGED_CHOICE, .run = 1},
    {.id = KEYPOINT,
     .name = "keypoint",
     .var = NNV_V,
     .rank_min = 3,
     .rank_max = 3,
     .quant = NNV_Q_EIGHTH,
     .judged = NNV_JUDGED_CHOICE,
     .run = 2},
};

static const struct nnv_sig sigs[] = {
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT32, [NNV_V] = ANEURALNETWORKS_TENSOR_FLOAT32}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_FLOAT16, [NNV_V] = ANEURALNETWORKS_TENSOR_FLOAT16}},
    {3, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, [NNV_V] = ANEURALNETWORKS_TENSOR_QUANT16_ASYMM}},
    {4, {[NNV_T] = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, [NNV_V] = ANEURALNETWORKS_TENSOR_QUANT16_ASYMM}},
};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    const struct nnv_shape *x = &nnv_in(c, HEATMAP)->shape;
    uint32_t boxes = nnv_dim(x, 0), coordinates = 4;
    enum nnv_status st = nnv_extent_agree(c, BOXES, 0, &boxes, err);
    if (!st) st = nnv_extent_agree(c, BOXES, 1, &coordinates, err);
    if (st || !nnv_known(c, NCHW)) return st;
    uint32_t row = nnv_int(c, NCHW) ? 2 : 1, h = nnv_dim(x, row), w = nnv_dim(x, row + 1);
    if (!nnv_dim_agree(h, w)) return nnv_fail(err, NNV_INVALID, "heatmap: extents %u and %u are not equal", h, w);
    if (nnv_dim_merge(h, w) < 2)
        return nnv_fail(err, NNV_INVALID, "heatmap: extent %u is below 2", nnv_dim_merge(h, w));
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    (void)err;
    const struct nnv_shape *x = &nnv_in(c, HEATMAP)->shape;
    out[SCORE] = nnv_shape_of_rank(2);
    out[KEYPOINT] = nnv_shape_of_rank(3);
    out[SCORE].dims[0] = out[KEYPOINT].dims[0] = nnv_dim_merge(nnv_dim(x, 0), nnv_dim(&nnv_in(c, BOXES)->shape, 0));
    if (nnv_known(c, NCHW)) out[SCORE].dims[1] = out[KEYPOINT].dims[1] = nnv_dim(x, nnv_int(c, NCHW) ? 1 : 3);
    out[KEYPOINT].dims[2] = 2;
    return NNV_OK;
}

/* -------------------------------------------------------------------- kernel */

/* A heatmap of a box and a keypoint. */
struct map {
    const double *x; /* of the whole input */
    size_t at;       /* its first element */
    size_t rows, columns;
    uint32_t size;
};

static size_t index_of(const struct map *m, uint32_t place) {
    return m->at + place / m->size * m->rows + place % m->size * m->columns;
}

/* Beyond the border the map is mirrored. */
static double pixel(const struct map *m, int y, int x) {
    int last = (int)m->size - 1;
    y = y < 0 ? 1 : y > last ? last - 1 : y;
    x = x < 0 ? 1 : x > last ? last - 1 : x;
    return m->x[m->at + (size_t)y * m->rows + (size_t)x * m->columns];
}

/* A chosen maximum. */
struct place {
    int y, x;
    bool open; /* another one may be chosen, and nobody says which */
};

/*
 * The first maximum in row 0, or the one of the tied ones that k->choice asks for; the other rows follow row 0, so
 * that they tell what rounding does to this very keypoint.
 */
static struct place choose(struct nnv_kernel *k, const struct map *m) {
    uint32_t first = 0, cells = m->size * m->size, chosen, tied = 0;
    double least = -INFINITY; /* what the maximum is at least */
    for (uint32_t i = 0; i < cells && k->row == 0; i++) {
        double reach = nnv_reach(k, HEATMAP, index_of(m, i)), v = m->x[index_of(m, i)];
        if (v > m->x[index_of(m, first)]) first = i;
        if (v - reach > least) least = v - reach;
    }
    chosen = first;
    for (uint32_t i = 0; i < cells && k->row == 0 && k->noise; i++) {
        double reach = nnv_reach(k, HEATMAP, index_of(m, i)), v = m->x[index_of(m, i)];
        if (i == first || v + reach < least) continue;
        if (++tied == (uint32_t)(k->choice - 1)) chosen = i; /* choice 1 is the first */
    }
    if (tied > 0 && (int)tied + 1 > k->choices) k->choices = (int)tied + 1;
    bool unknown = tied > 0 && (k->choice == 0 || tied >= NNV_MOST_CHOICES);
    chosen = (uint32_t)nnv_recall(k, chosen);
    unknown = nnv_recall(k, unknown) != 0;
    return (struct place){(int)(chosen / m->size), (int)(chosen % m->size), unknown};
}

/* The result of terms whose absolute values add up to abs, computed in float32 or the type of the input. */
static double combine(struct nnv_kernel *k, double v, double abs) {
    double u = k->u_i > 0x1p-24 ? k->u_i : 0x1p-24;
    return k->noise ? nnv_noise_add(k, v, 2 * u * abs) : v;
}

/* The top of the parabola through a maximum and its neighbours: offset and value. */
struct top {
    double dx, dy, score;
};

/* A Newton step, M(d) = M + g.d + d.H.d / 2: d = -H^-1 g, at most 1.5 pixels long in each direction. */
static struct top refine(struct nnv_kernel *k, const struct map *m, const struct place *p) {
    double n[3][3], most = 0;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) {
            n[y][x] = pixel(m, p->y + y - 1, p->x + x - 1);
            most = fmax(most, fabs(n[y][x]));
        }
    double gx = combine(k, (n[1][2] - n[1][0]) / 2, most), gy = combine(k, (n[2][1] - n[0][1]) / 2, most);
    double xx = combine(k, n[1][0] - 2 * n[1][1] + n[1][2], 4 * most);
    double yy = combine(k, n[0][1] - 2 * n[1][1] + n[2][1], 4 * most);
    double xy = combine(k, (n[2][2] - n[2][0] - n[0][2] + n[0][0]) / 4, most);
    double abs = fabs(xx * yy) + xy * xy, det = combine(k, xx * yy - xy * xy, abs);
    double eps = k->call->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_FLOAT16 ? 1e-3 : 1e-5;
    double u = k->u_i > 0x1p-24 ? k->u_i : 0x1p-24;
    bool flat = nnv_noise_branch(k, eps * (1 + xx * yy) - fabs(det), 4 * u * abs) || det == 0;
    double over = det == 0 ? 1 : det;
    double dx = combine(k, (xy * gy - yy * gx) / over, (fabs(xy * gy) + fabs(yy * gx)) / fabs(over));
    double dy = combine(k, (xy * gx - xx * gy) / over, (fabs(xy * gx) + fabs(xx * gy)) / fabs(over));
    double far = fmax(fabs(dx), fabs(dy)), shrink = flat ? 0 : far > 1.5 ? 1.5 / far : 1;
    struct top t = {dx * shrink, dy * shrink, 0};
    const double terms[] = {n[1][1],          gx * t.dx,           gy * t.dy, xx * t.dx * t.dx / 2,
                            xy * t.dx * t.dy, yy * t.dy * t.dy / 2};
    double sum = 0, sum_abs = 0;
    for (int i = 0; i < 6; i++) {
        sum += terms[i];
        sum_abs += fabs(terms[i]);
    }
    t.score = combine(k, sum, sum_abs);
    return t;
}

/* The coordinate of pixel position p of `size` between the sides lo and hi of the box. */
static double in_box(struct nnv_kernel *k, double p, double size, double lo, double hi) {
    double along = (p + 0.5) / size * (hi - lo);
    return combine(k, along + lo, 2 * fabs(along) + fabs(lo) + fabs(hi));
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    (void)err;
    struct nnv_image_layout m = nnv_image_of(nnv_in_shape(k, HEATMAP), nnv_int(k->call, NCHW) != 0);
    const double *x = nnv_real(k, HEATMAP), *box = nnv_real(k, BOXES);
    double *score = k->out[SCORE], *keypoint = k->out[KEYPOINT];
    for (uint32_t b = 0; b < m.n; b++, box += 4)
        for (uint32_t c = 0; c < m.c; c++) {
            struct map map = {x, nnv_image_at(&m, b, 0, 0, c), m.sh, m.sw, m.h};
            struct place p = choose(k, &map);
            struct top t = refine(k, &map, &p);
            *score++ = nnv_hazard(k, t.score, p.open);
            *keypoint++ = nnv_hazard(k, in_box(k, p.x + t.dx, m.h, box[0], box[2]), p.open);
            *keypoint++ = nnv_hazard(k, in_box(k, p.y + t.dy, m.h, box[1], box[3]), p.open);
        }
    return NNV_OK;
}

/* ------------------------------------------------------------------- samples */

static const struct nnv_factor factors[] = {
    {.name = "boxes", NNV_VALUES(2, 1, 4), NNV_SIZES(16, 17, 33, 65, 129)},
    {.name = "size", NNV_VALUES(5, 2, 3, 8), NNV_SIZES(14, 28, 56, 57), .large = 105, .huge = 1025},
    {.name = "keypoints", NNV_VALUES(3, 1, 4, 8), NNV_SIZES(17, 33, 65)},
    {.name = "layout", NNV_WORDS("nhwc", "nchw")},
    {.name = "values", NNV_WORDS("any", "tied", "border")}};

static const char *const variants[] = {"nhwc", "nchw", "tied", "tied_nchw", "border", NULL};

/* Few different numbers, so that maxima tie. */
static const double *steps(struct nnv_sample *s, size_t n) {
    double *x = NNV_NEW(s->arena, double, n);
    for (size_t i = 0; x && i < n; i++) x[i] = nnv_sample_int(s, -2, 3);
    return x;
}

/* A rise to one of the corners or sides of each map. */
static const double *slopes(struct nnv_sample *s, uint32_t n, uint32_t size, uint32_t c) {
    double *x = NNV_NEW(s->arena, double, (size_t)n *size *size *c), *to = x;
    for (uint32_t b = 0; x && b < n; b++) {
        int dy = nnv_sample_int(s, -1, 1), dx = nnv_sample_int(s, 0, 1) ? 1 : -1;
        for (uint32_t y = 0; y < size; y++)
            for (uint32_t col = 0; col < size; col++)
                for (uint32_t i = 0; i < c; i++)
                    *to++ = 0.5 * dy * (double)y + 0.5 * dx * (double)col + nnv_rng_uniform(&s->rng, -0.4, 0.4);
    }
    return x;
}

/* Boxes as small as in tests, as in applications, and beyond 4096 pixels. */
static const int zooms[] = {1, 6, 64};

static void sample(struct nnv_sample *s) {
    const int zoom = zooms[s->index % 3];
    bool nchw = nnv_sample_is(s, "nchw");
    uint32_t dims[4], n = (uint32_t)nnv_sample_int(s, 1, 4), size = (uint32_t)nnv_sample_int(s, 2, 9),
                      c = (uint32_t)nnv_sample_int(s, 1, 5);
    n = nnv_row_extent(s, "boxes", n);
    size = nnv_row_extent(s, "size", size);
    c = nnv_row_extent(s, "keypoints", c);
    nnv_sample_image(dims, n, size, size, c, nchw);
    struct nnv_sample_arg *heatmap = nnv_sample_tensor(s, HEATMAP, 4, dims);
    if (nnv_sample_is(s, "tied")) heatmap->reals = steps(s, (size_t)n * size * size * c);
    if (nnv_sample_is(s, "border")) heatmap->reals = slopes(s, n, size, c);
    double *boxes = NNV_NEW(s->arena, double, 4 * n);
    for (uint32_t i = 0; boxes && i < 2 * n; i++) {
        uint32_t at = i / 2 * 4 + i % 2;
        boxes[at] = zoom * nnv_sample_int(s, 0, 300) / 8.0;
        boxes[at + 2] = boxes[at] + zoom * nnv_sample_int(s, 8, 500) / 8.0;
    }
    nnv_sample_tensor(s, BOXES, 2, (uint32_t[]){n, 4})->reals = boxes;
    nnv_sample_scalar(s, NCHW, nchw);
}

const struct nnv_op nnv_op_HEATMAP_MAX_KEYPOINT = {
    NNV_OP_NAMED(HEATMAP_MAX_KEYPOINT),
    .level = 3,
    .formula =
        "p = the place of the largest of a map (of equals any), H, g its second and first differences; "
        "d = -H^-1 g, at most 1.5; score = M[p] + g.d + d.H.d/2; keypoint = (p + d + 1/2)/size*(box end - start) "
        "+ start",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_RESCALE,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
