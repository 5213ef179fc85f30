/* SPDX-License-Identifier: Apache-2.0 */
/** @file detection_postprocessing.c DETECTION_POSTPROCESSING. */
#include "reference/ops/detect/box.h"

enum {
    SCORES,
    DELTAS,
    ANCHORS,
    Y_SCALE,
    X_SCALE,
    H_SCALE,
    W_SCALE,
    REGULAR,
    MOST,
    MOST_CLASSES,
    MOST_OF_CLASS,
    SCORE_THRESHOLD,
    IOU_THRESHOLD,
    BACKGROUND
};
enum { OUT_SCORES, OUT_BOXES, OUT_CLASSES, OUT_COUNT };

#define OTHER(ID, NAME, TYPE, RULE)                                                                                    \
    { .id = ID, .name = NAME, .var = NNV_FIXED, .type = ANEURALNETWORKS_##TYPE, .flags = NNV_SCALAR, .rule = RULE }
static const struct nnv_slot inputs[] = {
    {.id = SCORES, .name = "scores", .var = NNV_T, .rank_min = 3, .rank_max = 3, .lo = 0.05, .hi = 0.95},
    {.id = DELTAS, .name = "deltas", .var = NNV_T, .rank_min = 3, .rank_max = 3, .lo = -3, .hi = 3},
    {.id = ANCHORS, .name = "anchors", .var = NNV_T, .rank_min = 2, .rank_max = 2},
    NNV_SLOT_NUMBER(Y_SCALE, "y scale", NNV_POSITIVE),
    NNV_SLOT_NUMBER(X_SCALE, "x scale", NNV_POSITIVE),
    NNV_SLOT_NUMBER(H_SCALE, "height scale", NNV_POSITIVE),
    NNV_SLOT_NUMBER(W_SCALE, "width scale", NNV_POSITIVE),
    OTHER(REGULAR, "regular NMS", BOOL, NNV_ANY),
    OTHER(MOST, "most detections", INT32, NNV_POSITIVE),
    OTHER(MOST_CLASSES, "most classes of a detection", INT32, NNV_ANY),
    OTHER(MOST_OF_CLASS, "most detections of a class", INT32, NNV_ANY),
    NNV_SLOT_NUMBER(SCORE_THRESHOLD, "score threshold", NNV_NOT_NEGATIVE),
    NNV_SLOT_NUMBER(IOU_THRESHOLD, "IoU threshold", NNV_NOT_NEGATIVE),
    OTHER(BACKGROUND, "background in label", BOOL, NNV_ANY),
};
static const struct nnv_slot outputs[] = {
    {.id = OUT_SCORES, .name = "scores", .var = NNV_T, .rank_min = 2, .rank_max = 2},
    {.id = OUT_BOXES, .name = "boxes", .var = NNV_T, .rank_min = 3, .rank_max = 3},
    NNV_SLOT_INT_TENSOR(OUT_CLASSES, "classes", 2, 0),
    NNV_SLOT_INT_TENSOR(OUT_COUNT, "detections", 1, 0),
};

static const struct nnv_sig sigs[] = {
    NNV_SIG_SCALAR(3, FLOAT32, FLOAT32),
    NNV_SIG_SCALAR(3, FLOAT16, FLOAT16),
};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    if (!nnv_known(c, REGULAR)) return NNV_OK;
    int id = nnv_int(c, REGULAR) ? MOST_OF_CLASS : MOST_CLASSES;
    if (!nnv_known(c, id) || nnv_int(c, id) > 0) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s: %d is not above 0", inputs[id].name, nnv_int(c, id));
}

/* Detections that there is room for, of one batch. */
static enum nnv_status width_of(const struct nnv_call *c, uint32_t *width, struct nnv_err *err) {
    *width = NNV_DIM_UNKNOWN;
    if (!nnv_known(c, REGULAR) || !nnv_known(c, MOST) || !nnv_known(c, MOST_CLASSES)) return NNV_OK;
    int64_t n = nnv_int(c, MOST);
    if (!nnv_int(c, REGULAR)) n *= nnv_int(c, MOST_CLASSES);
    if (n > NNV_DIM_MAX) return nnv_fail(err, NNV_INVALID, "room for %lld detections is too much", (long long)n);
    *width = (uint32_t)n;
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *scores = &nnv_in(c, SCORES)->shape;
    uint32_t batches = nnv_dim(scores, 0), anchors = nnv_dim(scores, 1), classes = nnv_dim(scores, 2), four = 4, width;
    uint32_t deltas = nnv_dim(&nnv_in(c, DELTAS)->shape, 2);
    enum nnv_status st = nnv_extent_agree(c, DELTAS, 0, &batches, err);
    if (!st) st = nnv_extent_agree(c, DELTAS, 1, &anchors, err);
    if (!st) st = nnv_extent_agree(c, ANCHORS, 0, &anchors, err);
    if (!st) st = nnv_extent_agree(c, ANCHORS, 1, &four, err);
    if (!st) st = width_of(c, &width, err);
    if (st) return st;
    if (deltas < 4) return nnv_fail(err, NNV_INVALID, "%u deltas of an anchor: at least 4 are needed", deltas);
    if (classes < 2) return nnv_fail(err, NNV_INVALID, "there is no class beside the background");
    out[OUT_SCORES] = out[OUT_CLASSES] = nnv_shape_make(2, (uint32_t[]){batches, width});
    out[OUT_BOXES] = nnv_shape_make(3, (uint32_t[]){batches, width, 4});
    out[OUT_COUNT] = nnv_shape_make(1, &batches);
    return NNV_OK;
}

/* -------------------------------------------------------------------- boxes */

/* One direction of a box: centre and size of the anchor, delta of each and its scale. */
struct side {
    double centre, size, shift, shift_scale, growth, growth_scale, off;
};

static void move(struct nnv_kernel *k, const struct side *s, double *lo, double *hi) {
    double shift = nnv_box_round(k, nnv_quotient(k, s->shift / s->shift_scale) * s->size, 1);
    double centre = nnv_box_round(k, s->centre + shift, 1);
    double growth = nnv_box_round(k, exp(nnv_quotient(k, s->growth / s->growth_scale)), 2 * NNV_ULPS_EXP);
    double half = nnv_box_round(k, growth * s->size / 2, 1);
    *lo = nnv_box_round(k, centre - half, 1);
    *hi = nnv_box_round(k, centre + half, 1);
}

/* The same without noise. Returns how far the results may be off. */
static double move_exactly(const struct nnv_kernel *k, const struct side *s, double *lo, double *hi) {
    double shift = s->shift / s->shift_scale * s->size, growth = s->growth / s->growth_scale;
    double centre = s->centre + shift, half = exp(growth) * s->size / 2;
    *lo = centre - half;
    *hi = centre + half;
    /* the sum of the roundings in move() */
    double rounded = 4 * fabs(shift) + 2 * fabs(centre) + (2 * NNV_ULPS_EXP + 2 + 3 * fabs(growth)) * fabs(half);
    double spread = 1 + fabs(s->size / s->shift_scale) + fabs(s->shift / s->shift_scale) + exp(growth) +
                    fabs(half / s->growth_scale);
    return nnv_box_unit(k) * rounded + s->off * spread;
}

/* y before x: see nnv_box's x1, y1 as the first and the second number of either corner. */
static struct nnv_box box_of(struct nnv_kernel *k, uint32_t batch, size_t anchor, bool noise) {
    const struct nnv_shape *shape = nnv_in_shape(k, DELTAS);
    size_t at = ((size_t)batch * shape->dims[1] + anchor) * shape->dims[2];
    const double *d = nnv_real(k, DELTAS) + at, *a = nnv_real(k, ANCHORS) + 4 * anchor;
    const struct nnv_call *c = k->call;
    struct side y = {a[0], a[2], d[0], nnv_num(c, Y_SCALE), d[2], nnv_num(c, H_SCALE), 0};
    struct side x = {a[1], a[3], d[1], nnv_num(c, X_SCALE), d[3], nnv_num(c, W_SCALE), 0};
    struct nnv_box b = {0};
    if (noise) {
        move(k, &y, &b.x1, &b.x2);
        move(k, &x, &b.y1, &b.y2);
        return b;
    }
    for (size_t i = 0; k->noise && i < 4; i++)
        y.off = fmax(y.off, fmax(nnv_box_off(k, DELTAS, at + i), nnv_box_off(k, ANCHORS, 4 * anchor + i)));
    x.off = y.off;
    double off_y = move_exactly(k, &y, &b.x1, &b.x2), off_x = move_exactly(k, &x, &b.y1, &b.y2);
    b.err = fmax(off_y, off_x);
    return b;
}

/* ------------------------------------------------------------------ choosing */

/* What a call asks for, and room to choose in. */
struct task {
    uint32_t anchors, classes;
    size_t most, most_classes, most_of_class;
    double score_threshold, iou_threshold;
    struct nnv_box *box;    /* one an anchor, of this batch */
    struct nnv_picks some;  /* candidates */
    struct nnv_picks found; /* of this batch */
};

static struct nnv_pick pick_of(struct nnv_kernel *k, const struct task *t, uint32_t batch, uint32_t anchor,
                               uint32_t class) {
    size_t e = ((size_t)batch * t->anchors + anchor) * t->classes + class;
    return (struct nnv_pick){.item = anchor,
                             .image = batch,
                             .class = class,
                             .score = nnv_real(k, SCORES)[e],
                             .off = k->noise ? nnv_box_off(k, SCORES, e) : 0,
                             .box = t->box[anchor],
                             .kept = true};
}

/* A candidate, if its score is above the threshold. */
static void propose(struct nnv_kernel *k, struct task *t, const struct nnv_pick *q) {
    if (nnv_decide(k, q->score - t->score_threshold, nnv_box_width(q->off))) t->some.item[t->some.count++] = *q;
}

static void choose_regular(struct nnv_kernel *k, struct task *t, uint32_t batch) {
    for (uint32_t c = 1; c < t->classes; c++) {
        t->some.count = 0;
        for (uint32_t a = 0; a < t->anchors; a++) {
            struct nnv_pick q = pick_of(k, t, batch, a, c);
            propose(k, t, &q);
        }
        nnv_pick_hard(k, &t->some, t->iou_threshold, t->most_of_class);
        for (size_t i = 0; i < t->some.count; i++) t->found.item[t->found.count++] = t->some.item[i];
    }
    nnv_pick_best(k, &t->found, t->most);
    if (t->found.count > t->most) t->found.count = t->most;
}

static void choose_fast(struct nnv_kernel *k, struct task *t, uint32_t batch) {
    t->some.count = 0;
    for (uint32_t a = 0; a < t->anchors; a++) {
        struct nnv_pick best = pick_of(k, t, batch, a, 1);
        for (uint32_t c = 2; c < t->classes; c++) {
            struct nnv_pick q = pick_of(k, t, batch, a, c);
            if (nnv_pick_above(k, &q, &best)) best = q;
        }
        propose(k, t, &best);
    }
    nnv_pick_hard(k, &t->some, t->iou_threshold, t->most);
    size_t classes = t->classes - 1;
    for (size_t i = 0; i < t->some.count; i++) {
        struct nnv_picks own = {t->found.item + t->found.count, classes};
        for (uint32_t c = 0; c < classes; c++)
            own.item[c] = pick_of(k, t, batch, (uint32_t)t->some.item[i].item, c + 1);
        nnv_pick_best(k, &own, t->most_classes);
        t->found.count += classes < t->most_classes ? classes : t->most_classes;
    }
}

static enum nnv_status choose_all(struct nnv_kernel *k, struct nnv_picks *p, struct nnv_err *err) {
    const struct nnv_shape *s = nnv_in_shape(k, SCORES);
    const struct nnv_call *c = k->call;
    struct task t = {.anchors = s->dims[1],
                     .classes = s->dims[2],
                     .most = (size_t)nnv_int(c, MOST),
                     .most_classes = (size_t)nnv_int(c, MOST_CLASSES),
                     .most_of_class = (size_t)nnv_int(c, MOST_OF_CLASS),
                     .score_threshold = nnv_num(c, SCORE_THRESHOLD),
                     .iou_threshold = nnv_num(c, IOU_THRESHOLD)};
    t.box = NNV_NEW(k->scratch, struct nnv_box, t.anchors);
    t.some.item = NNV_NEW(k->scratch, struct nnv_pick, t.anchors);
    t.found.item = NNV_NEW(k->scratch, struct nnv_pick, (size_t)t.anchors * t.classes);
    p->item = NNV_NEW(k->scratch, struct nnv_pick, nnv_elems(k, SCORES));
    if (!t.box || !t.some.item || !t.found.item || !p->item) return nnv_no_memory(err);
    for (uint32_t b = 0; b < s->dims[0]; b++) {
        t.found.count = 0;
        for (uint32_t a = 0; a < t.anchors; a++) t.box[a] = box_of(k, b, a, false);
        nnv_int(c, REGULAR) ? choose_regular(k, &t, b) : choose_fast(k, &t, b);
        for (size_t i = 0; i < t.found.count; i++) p->item[p->count++] = t.found.item[i];
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------- values */

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    const struct nnv_shape *s = nnv_in_shape(k, SCORES);
    uint32_t width = nnv_out_shape(k, OUT_SCORES)->dims[1];
    int32_t label = nnv_int(k->call, BACKGROUND) ? 0 : 1; /* of class 1, less that */
    struct nnv_picks p = {0};
    enum nnv_status st = NNV_OK;
    if (k->row == 0) st = choose_all(k, &p, err);
    if (!st) st = nnv_pick_recall(k, &p, err);
    if (st) return st;
    for (size_t i = 0; i < p.count; i++) {
        const struct nnv_pick *q = &p.item[i];
        double *count = &k->out[OUT_COUNT][q->image];
        size_t at = (size_t)q->image * width + (size_t)*count;
        struct nnv_box b = box_of(k, q->image, q->item, true);
        const double corners[] = {b.x1, b.y1, b.x2, b.y2};
        *count += 1;
        k->out[OUT_SCORES][at] = nnv_real(k, SCORES)[((size_t)q->image * s->dims[1] + q->item) * s->dims[2] + q->class];
        for (size_t c = 0; c < 4; c++) k->out[OUT_BOXES][4 * at + c] = corners[c];
        k->out[OUT_CLASSES][at] = (double)q->class - label;
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

static const struct nnv_factor factors[] = {{.name = "batches", NNV_VALUES(1, 2, 3)},
                                            {.name = "anchors", NNV_VALUES(7, 1, 13), NNV_SIZES(16, 17, 33, 64, 65)},
                                            {.name = "classes", NNV_VALUES(3, 4, 5), NNV_SIZES(9, 17, 21, 91)},
                                            {.name = "kind", NNV_WORDS("fast", "regular")},
                                            {.name = "limit", NNV_WORDS("limited", "spare")},
                                            {.name = "deltas", NNV_WORDS("4", "long")},
                                            {.name = "labels", NNV_WORDS("plain", "background")}};

/* "limited": fewer detections than were found; "spare": room for more; "long": that, and more than four deltas. */
static const char *const variants[] = {"regular_limited", "regular_spare", "regular_background", "fast_limited",
                                       "fast_spare",      "fast_long",     "fast_background",    NULL};
static const double scales[][4] = {{10, 11, 5, 6}, {4, 3, 9, 7}};
static const double least_score[] = {0.201, 0.121, 0.161}, most_overlap[] = {0.3, 0.2, 0.4};

/* Anchors (cy, cx, h, w) that overlap, in a unit of 64. */
static double *sample_anchors(struct nnv_sample *s, uint32_t n) {
    double *a = nnv_sample_boxes(s, n, 100, 80, most_overlap[s->index % 3], 0);
    for (uint32_t i = 0; a && i < n; i++) {
        double *v = a + 4 * (size_t)i, w = v[2] - v[0], h = v[3] - v[1], x = v[0] + w / 2, y = v[1] + h / 2;
        v[0] = y / 64;
        v[1] = x / 64;
        v[2] = h / 64;
        v[3] = w / 64;
    }
    return a;
}

/* Deltas such that the boxes of a batch clearly overlap or clearly do not; numbers beyond the fourth are anything. */
static double *sample_deltas(struct nnv_sample *s, const double *anchors, const uint32_t dims[3]) {
    enum { TRIES = 60 };
    const double *by = scales[s->index % 2];
    struct nnv_kernel none = {0};
    double *deltas = NNV_NEW(s->arena, double, (size_t)dims[0] * dims[1] * dims[2]), *d = deltas;
    struct nnv_box *boxes = NNV_NEW(s->arena, struct nnv_box, dims[1]);
    for (size_t i = 0; deltas && boxes && i < (size_t)dims[0] * dims[1]; i++, d += dims[2]) {
        uint32_t anchor = (uint32_t)(i % dims[1]);
        const double *a = anchors + 4 * (size_t)anchor;
        for (int t = 0; t < TRIES; t++) {
            for (uint32_t e = 0; e < dims[2]; e++) d[e] = nnv_rng_uniform(&s->rng, -3, 3);
            const struct side y = {a[0], a[2], d[0], by[0], d[2], by[2], 0};
            const struct side x = {a[1], a[3], d[1], by[1], d[3], by[3], 0};
            move(&none, &y, &boxes[anchor].x1, &boxes[anchor].x2);
            move(&none, &x, &boxes[anchor].y1, &boxes[anchor].y2);
            if (nnv_box_is_clear(&boxes[anchor], boxes, anchor, most_overlap[s->index % 3], 0.1)) break;
        }
    }
    return deltas;
}

static void sample(struct nnv_sample *s) {
    bool regular = nnv_sample_is(s, "regular"), is_long = nnv_sample_is(s, "long");
    bool spare = nnv_sample_is(s, "spare") || (is_long && !s->row);
    uint32_t batches = (uint32_t)nnv_sample_int(s, 1, 3), anchors = nnv_sample_dim(s, 7, 13),
             classes = (uint32_t)nnv_sample_int(s, 3, 5), deltas = is_long ? 7 : 4;
    batches = nnv_row_extent(s, "batches", batches);
    anchors = nnv_row_extent(s, "anchors", anchors);
    classes = nnv_row_extent(s, "classes", classes);
    const uint32_t delta_dims[] = {batches, anchors, deltas};
    double *a = sample_anchors(s, anchors);
    if (!a) return;
    nnv_sample_tensor(s, SCORES, 3, (uint32_t[]){batches, anchors, classes})->reals =
        nnv_sample_scores(s, batches * anchors * classes, 0.05078125, 0.00390625);
    nnv_sample_tensor(s, DELTAS, 3, delta_dims)->reals = sample_deltas(s, a, delta_dims);
    nnv_sample_tensor(s, ANCHORS, 2, (uint32_t[]){anchors, 4})->reals = a;
    for (int i = 0; i < 4; i++) nnv_sample_scalar(s, Y_SCALE + i, scales[s->index % 2][i]);
    nnv_sample_scalar(s, REGULAR, regular);
    nnv_sample_scalar(s, MOST, spare ? 2 * (int)(anchors * classes) : nnv_sample_int(s, 3, 5));
    nnv_sample_scalar(s, MOST_CLASSES, nnv_sample_int(s, 1, (int)classes - 1));
    nnv_sample_scalar(s, MOST_OF_CLASS, spare ? (int)anchors : nnv_sample_int(s, 2, 4));
    nnv_sample_scalar(s, SCORE_THRESHOLD, least_score[s->index % 3]);
    nnv_sample_scalar(s, IOU_THRESHOLD, most_overlap[s->index % 3]);
    nnv_sample_scalar(s, BACKGROUND, nnv_sample_is(s, "background"));
}

const struct nnv_op nnv_op_DETECTION_POSTPROCESSING = {
    NNV_OP_NAMED(DETECTION_POSTPROCESSING),
    .level = 3,
    .formula =
        "boxes: centre' = centre + size * delta / scale, size' = size * e^(delta / scale); regular: hard NMS for "
        "each class but 0, of all the best; fast: hard NMS by the best class of each anchor, of each the best "
        "classes; by falling score, then zeros",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_NONE,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
