/* SPDX-License-Identifier: Apache-2.0 */
/** @file generate_proposals.c GENERATE_PROPOSALS. */
#include "reference/ops/detect/box.h"

enum { SCORES, DELTAS, ANCHORS, IMAGE, H_STRIDE, W_STRIDE, BEFORE, AFTER, IOU_THRESHOLD, MIN_SIZE, NCHW };
enum { OUT_SCORES, OUT_BOXES, OUT_BATCH };

#define OTHER(ID, NAME, TYPE)                                                                                          \
    { .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_##TYPE, .flags = NNV_SCALAR }
static const struct nnv_slot inputs[] = {
    {.id = SCORES, .name = "scores", .var = NNV_T, .rank_min = 4, .rank_max = 4, .lo = 0.05, .hi = 0.95},
    {.id = DELTAS, .name = "deltas", .var = NNV_T, .rank_min = 4, .rank_max = 4, .lo = -0.5, .hi = 0.5},
    {.id = ANCHORS, .name = "anchors", .var = NNV_V, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},
    {.id = IMAGE, .name = "image sizes", .var = NNV_O, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},
    NNV_SLOT_NUMBER(H_STRIDE, "height stride", NNV_POSITIVE),
    NNV_SLOT_NUMBER(W_STRIDE, "width stride", NNV_POSITIVE),
    OTHER(BEFORE, "most boxes before NMS", INT32),
    OTHER(AFTER, "most boxes of an image", INT32),
    NNV_SLOT_NUMBER(IOU_THRESHOLD, "IoU threshold", NNV_NOT_NEGATIVE),
    NNV_SLOT_NUMBER(MIN_SIZE, "least size", NNV_ANY),
    OTHER(NCHW, "nchw", BOOL),
};
static const struct nnv_slot outputs[] = {
    {.id = OUT_SCORES, .name = "scores", .var = NNV_T, .rank_min = 1, .rank_max = 1, .quant = NNV_Q_SAME},
    {.id = OUT_BOXES, .name = "boxes", .var = NNV_O, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},
    NNV_SLOT_INT_TENSOR(OUT_BATCH, "batch index", 1, 0),
};

#define SIG(LEVEL, T, ANCHOR, BOX, NUMBERS)                                                                            \
    {                                                                                                                  \
        LEVEL, {                                                                                                       \
            [NNV_T] = ANEURALNETWORKS_TENSOR_##T, [NNV_V] = ANEURALNETWORKS_TENSOR_##ANCHOR,                           \
            [NNV_O] = ANEURALNETWORKS_TENSOR_##BOX, [NNV_S] = ANEURALNETWORKS_##NUMBERS                                \
        }                                                                                                              \
    }
static const struct nnv_sig sigs[] = {
    SIG(3, FLOAT32, FLOAT32, FLOAT32, FLOAT32),
    SIG(3, FLOAT16, FLOAT16, FLOAT16, FLOAT16),
    SIG(3, QUANT8_ASYMM, QUANT16_SYMM, QUANT16_ASYMM, FLOAT32),
    SIG(4, QUANT8_ASYMM_SIGNED, QUANT16_SYMM, QUANT16_ASYMM, FLOAT32),
};

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    uint32_t two = 2, four = 4, images = nnv_dim(&nnv_in(c, SCORES)->shape, 0);
    enum nnv_status st = nnv_extent_agree(c, ANCHORS, 1, &four, err);
    if (!st) st = nnv_extent_agree(c, IMAGE, 1, &two, err);
    if (!st) st = nnv_extent_agree(c, IMAGE, 0, &images, err);
    if (!st) st = nnv_extent_agree(c, DELTAS, 0, &images, err);
    if (!st && nnv_known(c, NCHW)) {
        bool nchw = nnv_int(c, NCHW) != 0;
        uint32_t ch = nchw ? 1 : 3, h = nchw ? 2 : 1, anchors = nnv_dim(&nnv_in(c, SCORES)->shape, ch);
        uint32_t height = nnv_dim(&nnv_in(c, SCORES)->shape, h), width = nnv_dim(&nnv_in(c, SCORES)->shape, h + 1);
        st = nnv_extent_agree(c, ANCHORS, 0, &anchors, err);
        if (!st) st = nnv_extent_agree(c, DELTAS, h, &height, err);
        if (!st) st = nnv_extent_agree(c, DELTAS, h + 1, &width, err);
        uint32_t deltas = anchors > (NNV_DIM_UNKNOWN - 1) / 4 ? NNV_DIM_UNKNOWN : 4 * anchors;
        if (!st) st = nnv_extent_agree(c, DELTAS, ch, &deltas, err);
    }
    if (st) return st;
    out[OUT_SCORES] = out[OUT_BATCH] = nnv_shape_of_rank(1);
    out[OUT_BOXES] = nnv_shape_make(2, (uint32_t[]){NNV_DIM_UNKNOWN, 4});
    return NNV_OK;
}

/* ------------------------------------------------------------------ choosing */

/* What a call asks for. */
struct task {
    struct nnv_image_layout scores, deltas;
    double h_stride, w_stride, iou_threshold, min_size;
    size_t before, after;
};

static struct task task_of(struct nnv_kernel *k) {
    bool nchw = nnv_int(k->call, NCHW) != 0;
    int32_t before = nnv_int(k->call, BEFORE), after = nnv_int(k->call, AFTER);
    return (struct task){
        .scores = nnv_image_of(nnv_in_shape(k, SCORES), nchw),
        .deltas = nnv_image_of(nnv_in_shape(k, DELTAS), nchw),
        .h_stride = nnv_num(k->call, H_STRIDE),
        .w_stride = nnv_num(k->call, W_STRIDE),
        .iou_threshold = nnv_num(k->call, IOU_THRESHOLD),
        .min_size = nnv_num(k->call, MIN_SIZE),
        .before = before <= 0 ? SIZE_MAX : (size_t)before,
        .after = after < 0 ? SIZE_MAX : (size_t)after,
    };
}

/* Where the score of anchor number `item`, counted (h, w, anchor), stands. */
static size_t score_at(const struct task *t, uint32_t image, size_t item) {
    uint32_t a = (uint32_t)(item % t->scores.c), w = (uint32_t)(item / t->scores.c % t->scores.w);
    return nnv_image_at(&t->scores, image, (uint32_t)(item / t->scores.c / t->scores.w), w, a);
}

static struct nnv_box box_of(struct nnv_kernel *k, const struct task *t, uint32_t image, size_t item, bool noise) {
    uint32_t a = (uint32_t)(item % t->scores.c), w = (uint32_t)(item / t->scores.c % t->scores.w);
    uint32_t h = (uint32_t)(item / t->scores.c / t->scores.w);
    const double *d = nnv_real(k, DELTAS), *size = nnv_real(k, IMAGE);
    struct nnv_box_move m = {.from = nnv_box_at(k, ANCHORS, a), .height = size[2 * (size_t)image]};
    double x = w * t->w_stride, y = h * t->h_stride, *delta[] = {&m.dx, &m.dy, &m.dw, &m.dh};
    m.width = size[2 * (size_t)image + 1];
    for (uint32_t i = 0; i < 4; i++) {
        size_t e = nnv_image_at(&t->deltas, image, h, w, 4 * a + i);
        *delta[i] = d[e];
        if (!noise && k->noise) m.off = fmax(m.off, nnv_box_off(k, DELTAS, e));
    }
    double *corner[] = {&m.from.x1, &m.from.y1, &m.from.x2, &m.from.y2}, most = 0;
    for (int i = 0; i < 4; i++) {
        double v = *corner[i] + (i % 2 ? y : x);
        *corner[i] = noise ? nnv_box_round(k, v, 1) : v;
        most = fmax(most, fabs(v));
    }
    m.from.err += nnv_box_unit(k) * most;
    return nnv_box_moved(k, &m, noise);
}

/* Neither too small nor centred outside the image. */
static bool is_wanted(struct nnv_kernel *k, const struct task *t, const struct nnv_box *b, const double size[2]) {
    double width = nnv_box_width(2 * b->err), w = b->x2 - b->x1, h = b->y2 - b->y1;
    bool large = nnv_decide(k, w - t->min_size, width);
    large = nnv_decide(k, h - t->min_size, width) && large;
    /* a centre can lie on the rim only if both corners do */
    return large && (b->x1 + b->x2) / 2 < size[1] && (b->y1 + b->y2) / 2 < size[0];
}

static enum nnv_status choose_image(struct nnv_kernel *k, const struct task *t, uint32_t image, struct nnv_picks *p,
                                    struct nnv_err *err) {
    const double *scores = nnv_real(k, SCORES), *size = nnv_real(k, IMAGE) + 2 * (size_t)image;
    size_t n = (size_t)t->scores.h * t->scores.w * t->scores.c;
    struct nnv_picks c = {NNV_NEW(k->scratch, struct nnv_pick, n), n};
    if (!c.item) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        size_t e = score_at(t, image, i);
        double off = k->noise ? nnv_box_off(k, SCORES, e) : 0;
        c.item[i] = (struct nnv_pick){.item = i, .image = image, .score = scores[e], .off = off, .kept = true};
    }
    if (t->before < n) {
        nnv_pick_best(k, &c, t->before);
        c.count = t->before;
    }
    size_t wanted = 0;
    for (size_t i = 0; i < c.count; i++) {
        struct nnv_pick q = c.item[i];
        q.box = box_of(k, t, image, q.item, false);
        if (is_wanted(k, t, &q.box, size)) c.item[wanted++] = q;
    }
    c.count = wanted;
    nnv_pick_hard(k, &c, t->iou_threshold, t->after);
    for (size_t i = 0; i < c.count; i++) p->item[p->count++] = c.item[i];
    return NNV_OK;
}

static enum nnv_status choose_all(struct nnv_kernel *k, const struct task *t, struct nnv_picks *p,
                                  struct nnv_err *err) {
    p->item = NNV_NEW(k->scratch, struct nnv_pick, nnv_elems(k, SCORES));
    if (!p->item) return nnv_no_memory(err);
    enum nnv_status st = NNV_OK;
    for (uint32_t n = 0; !st && n < t->scores.n; n++) st = choose_image(k, t, n, p, err);
    return st;
}

/* ------------------------------------------------------------------- values */

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct task t = task_of(k);
    struct nnv_picks p = {0};
    enum nnv_status st = NNV_OK;
    if (nnv_is_float(k->call->sig->type[NNV_T])) k->rounding = NNV_ROUND_NONE; /* the boxes' last step has its hook */
    if (k->row == 0) st = choose_all(k, &t, &p, err);
    if (!st) st = nnv_pick_recall(k, &p, err);
    if (st) return st;
    uint32_t n = (uint32_t)p.count;
    const struct nnv_shape line = nnv_shape_make(1, &n), boxes = nnv_shape_make(2, (uint32_t[]){n, 4});
    for (uint32_t i = 0; !st && i <= OUT_BATCH; i++) st = nnv_give_shape(k, i, i == OUT_BOXES ? &boxes : &line, err);
    if (st) return st;
    for (size_t i = 0; i < p.count; i++) {
        const struct nnv_pick *q = &p.item[i];
        struct nnv_box b = box_of(k, &t, q->image, q->item, true);
        const double corners[] = {b.x1, b.y1, b.x2, b.y2};
        k->out[OUT_SCORES][i] = nnv_real(k, SCORES)[score_at(&t, q->image, q->item)];
        for (size_t c = 0; c < 4; c++) k->out[OUT_BOXES][4 * i + c] = corners[c];
        k->out[OUT_BATCH][i] = q->image;
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

static const struct nnv_factor factors[] = {{.name = "images", NNV_VALUES(1, 2, 3)},
                                            {.name = "extents",
                                             .pair = true,
                                             NNV_VALUES(NNV_PAIR(2, 3), NNV_PAIR(3, 3), NNV_PAIR(1, 1), NNV_PAIR(2, 2)),
                                             NNV_SIZES(NNV_PAIR(5, 7), NNV_PAIR(7, 7))},
                                            {.name = "anchors", NNV_VALUES(2, 1, 3)},
                                            {.name = "layout", NNV_WORDS("nhwc", "nchw")},
                                            {.name = "before", NNV_WORDS("all", "best")},
                                            {.name = "after", NNV_WORDS("all", "limited")},
                                            {.name = "least", NNV_WORDS("1", "small")}};

/* "best": few boxes go into NMS; "limited": few come out; "small": many are below the least size. */
static const char *const variants[] = {"nhwc", "nchw", "nhwc_best", "nchw_limited", "nhwc_small", "nchw_best_limited",
                                       NULL};

/* What a case is made of. */
struct draw {
    struct nnv_image_layout deltas; /* of its channels four an anchor */
    double *anchors, *sizes;
    double h_stride, w_stride, iou_threshold, min_size;
};

static struct nnv_box drawn_box(const struct draw *d, uint32_t n, uint32_t h, uint32_t w, uint32_t a,
                                const double delta[4]) {
    struct nnv_kernel none = {0};
    const double *v = d->anchors + 4 * (size_t)a, *size = d->sizes + 2 * (size_t)n;
    double x = w * d->w_stride, y = h * d->h_stride;
    struct nnv_box_move m = {.from = {v[0] + x, v[1] + y, v[2] + x, v[3] + y, 0},
                             .dx = delta[0],
                             .dy = delta[1],
                             .dw = delta[2],
                             .dh = delta[3],
                             .height = size[0],
                             .width = size[1]};
    return nnv_box_moved(&none, &m, true);
}

/* Deltas such that of the boxes of an image sizes and overlaps are clearly on one side of their thresholds. */
static double *sample_deltas(struct nnv_sample *s, const struct draw *d) {
    enum { TRIES = 80 };
    const struct nnv_image_layout *m = &d->deltas;
    uint32_t of_image = m->h * m->w * m->c / 4;
    double *values = NNV_NEW(s->arena, double, (size_t)m->n * m->sn), delta[4];
    struct nnv_box *boxes = NNV_NEW(s->arena, struct nnv_box, of_image);
    for (uint32_t i = 0; values && boxes && i < m->n * of_image; i++) {
        uint32_t n = i / of_image, at = i % of_image, a = at % (m->c / 4), w = at / (m->c / 4) % m->w;
        uint32_t h = at / (m->c / 4) / m->w;
        struct nnv_box *b = &boxes[at];
        for (int t = 0; t < TRIES; t++) {
            for (int e = 0; e < 4; e++) delta[e] = nnv_rng_uniform(&s->rng, -0.5, 0.5);
            *b = drawn_box(d, n, h, w, a, delta);
            bool sized = fabs(b->x2 - b->x1 - d->min_size) > 0.6 && fabs(b->y2 - b->y1 - d->min_size) > 0.6;
            if (sized && nnv_box_is_clear(b, boxes, at, d->iou_threshold, 0.08)) break;
        }
        for (uint32_t e = 0; e < 4; e++) values[nnv_image_at(m, n, h, w, 4 * a + e)] = delta[e];
    }
    return values;
}

/* Anchors around their position, images somewhat smaller than what they cover. */
static bool sample_images(struct nnv_sample *s, struct draw *d, uint32_t images, uint32_t anchors) {
    d->anchors = NNV_NEW(s->arena, double, 4 * (size_t)anchors);
    d->sizes = NNV_NEW(s->arena, double, 2 * (size_t)images);
    for (uint32_t i = 0; d->anchors && i < 4 * anchors; i++)
        d->anchors[i] = nnv_sample_int(s, 48, 140) / 8.0 * (i % 4 < 2 ? -1 : 1);
    for (uint32_t i = 0; d->sizes && i < 2 * images; i++) {
        double stride = i % 2 ? d->w_stride * d->deltas.w : d->h_stride * d->deltas.h;
        d->sizes[i] = floor(8 * stride * nnv_rng_uniform(&s->rng, 0.9, 1.3)) / 8;
    }
    return d->anchors && d->sizes;
}

static void sample(struct nnv_sample *s) {
    bool nchw = nnv_sample_is(s, "nchw");
    uint32_t n = (uint32_t)nnv_sample_int(s, 1, 3), h = (uint32_t)nnv_sample_int(s, 2, 3),
             w = (uint32_t)nnv_sample_int(s, 2, 4), a = (uint32_t)nnv_sample_int(s, 2, 3), dims[4];
    const int32_t extents = nnv_row_named(s, "extents", NNV_PAIR((int32_t)h, (int32_t)w));
    n = nnv_row_extent(s, "images", n);
    a = nnv_row_extent(s, "anchors", a);
    h = (uint32_t)nnv_pair_height(extents);
    w = (uint32_t)nnv_pair_width(extents);
    struct draw d = {.h_stride = 10 + s->index % 3 * 2,
                     .w_stride = 14 - s->index % 3 * 2,
                     .iou_threshold = 0.25 + 0.125 * (s->index % 3),
                     .min_size = nnv_sample_is(s, "small") ? 16 : 1};
    nnv_sample_image(dims, n, h, w, a, nchw);
    struct nnv_sample_arg *scores = nnv_sample_tensor(s, SCORES, 4, dims);
    scores->reals = nnv_sample_scores(s, n * h * w * a, 0.0625, 0.0078125); /* at most 108 */
    scores->scale = 0.00390625f;
    scores->zero_point = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 5 : -121;
    nnv_sample_image(dims, n, h, w, 4 * a, nchw);
    const struct nnv_shape deltas = nnv_shape_make(4, dims);
    d.deltas = nnv_image_of(&deltas, nchw);
    if (!sample_images(s, &d, n, a)) return;
    nnv_sample_tensor(s, DELTAS, 4, dims)->reals = sample_deltas(s, &d);
    nnv_sample_tensor(s, ANCHORS, 2, (uint32_t[]){a, 4})->reals = d.anchors;
    nnv_sample_tensor(s, IMAGE, 2, (uint32_t[]){n, 2})->reals = d.sizes;
    nnv_sample_scalar(s, H_STRIDE, d.h_stride);
    nnv_sample_scalar(s, W_STRIDE, d.w_stride);
    nnv_sample_scalar(s, BEFORE, nnv_sample_is(s, "best") ? nnv_sample_int(s, 5, 9) : -(s->index % 2));
    nnv_sample_scalar(s, AFTER, nnv_sample_is(s, "limited") ? nnv_sample_int(s, 2, 4) : -1);
    nnv_sample_scalar(s, IOU_THRESHOLD, d.iou_threshold);
    nnv_sample_scalar(s, MIN_SIZE, d.min_size);
    nnv_sample_scalar(s, NCHW, nchw);
}

const struct nnv_op nnv_op_GENERATE_PROPOSALS = {
    NNV_OP_NAMED(GENERATE_PROPOSALS),
    .level = 3,
    .formula = "of each image: the anchors moved to (w stride, h stride), transformed by their deltas as in "
               "AXIS_ALIGNED_BBOX_TRANSFORM; of the best those larger than the least size; takes the highest score and "
               "drops what overlaps it by IoU >= threshold",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_RESCALE,
    .sizes = true,
    .any_order = true,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
