/* SPDX-License-Identifier: Apache-2.0 */
/** @file box_with_nms_limit.c BOX_WITH_NMS_LIMIT. */
#include "reference/ops/detect/box.h"

enum { SCORES, BOXES, BATCH, SCORE_THRESHOLD, MOST, KERNEL, IOU_THRESHOLD, SIGMA, NMS_THRESHOLD };
enum { OUT_SCORES, OUT_BOXES, OUT_CLASSES, OUT_BATCH };
enum { HARD, LINEAR, GAUSSIAN, KERNELS };

#define INTEGER(ID, NAME) NNV_SLOT_INT(ID, NAME, NNV_ANY)
static const struct nnv_slot inputs[] = {
    {.id = SCORES, .name = "scores", .var = NNV_T, .rank_min = 2, .rank_max = 2, .lo = 0.05, .hi = 0.95},
    {.id = BOXES, .name = "boxes", .var = NNV_V, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},
    NNV_SLOT_INT_TENSOR(BATCH, "batch index", 1, 0),
    NNV_SLOT_NUMBER(SCORE_THRESHOLD, "score threshold", NNV_ANY),
    INTEGER(MOST, "most boxes of an image"),
    INTEGER(KERNEL, "kernel"),
    NNV_SLOT_NUMBER(IOU_THRESHOLD, "IoU threshold", NNV_NOT_NEGATIVE),
    NNV_SLOT_NUMBER(SIGMA, "sigma", NNV_ANY),
    NNV_SLOT_NUMBER(NMS_THRESHOLD, "NMS score threshold", NNV_ANY),
};
static const struct nnv_slot outputs[] = {
    {.id = OUT_SCORES, .name = "scores", .var = NNV_T, .rank_min = 1, .rank_max = 1, .quant = NNV_Q_SAME},
    {.id = OUT_BOXES, .name = "boxes", .var = NNV_V, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},
    NNV_SLOT_INT_TENSOR(OUT_CLASSES, "classes", 1, 0),
    NNV_SLOT_INT_TENSOR(OUT_BATCH, "batch index", 1, 0),
};

#define SIG(LEVEL, T, BOX, NUMBERS)                                                                                    \
    {                                                                                                                  \
        LEVEL, {                                                                                                       \
            [NNV_T] = ANEURALNETWORKS_TENSOR_##T, [NNV_V] = ANEURALNETWORKS_TENSOR_##BOX,                              \
            [NNV_S] = ANEURALNETWORKS_##NUMBERS                                                                        \
        }                                                                                                              \
    }
static const struct nnv_sig sigs[] = {
    SIG(3, FLOAT32, FLOAT32, FLOAT32),
    SIG(3, FLOAT16, FLOAT16, FLOAT16),
    SIG(3, QUANT8_ASYMM, QUANT16_ASYMM, FLOAT32),
    SIG(4, QUANT8_ASYMM_SIGNED, QUANT16_ASYMM, FLOAT32),
};

static enum nnv_status check(const struct nnv_call *c, struct nnv_err *err) {
    if (!nnv_known(c, KERNEL)) return NNV_OK;
    int32_t kernel = nnv_int(c, KERNEL);
    if (kernel < 0 || kernel >= KERNELS)
        return nnv_fail(err, NNV_INVALID, "kernel %d is none of 0 (hard), 1 (linear), 2 (gaussian)", kernel);
    if (kernel == GAUSSIAN && nnv_known(c, SIGMA) && !(nnv_num(c, SIGMA) > 0))
        return nnv_fail(err, NNV_INVALID, "sigma %.9g is not above 0", nnv_num(c, SIGMA));
    return NNV_OK;
}

static enum nnv_status infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err) {
    const struct nnv_shape *scores = &nnv_in(c, SCORES)->shape;
    uint32_t n = nnv_dim(scores, 0), classes = nnv_dim(scores, 1), corners = NNV_DIM_UNKNOWN;
    if (classes == 0) return nnv_fail(err, NNV_INVALID, "there is no class");
    if (classes != NNV_DIM_UNKNOWN && classes > (NNV_DIM_UNKNOWN - 1) / 4)
        return nnv_fail(err, NNV_INVALID, "%u classes are too many", classes);
    if (classes != NNV_DIM_UNKNOWN) corners = 4 * classes;
    enum nnv_status st = nnv_extent_agree(c, BOXES, 0, &n, err);
    if (!st) st = nnv_extent_agree(c, BOXES, 1, &corners, err);
    if (!st) st = nnv_extent_agree(c, BATCH, 0, &n, err);
    if (st) return st;
    out[OUT_SCORES] = out[OUT_CLASSES] = out[OUT_BATCH] = nnv_shape_of_rank(1);
    out[OUT_BOXES] = nnv_shape_make(2, (uint32_t[]){NNV_DIM_UNKNOWN, 4});
    return NNV_OK;
}

/* ------------------------------------------------------------------ choosing */

/* What a call asks for. */
struct task {
    int32_t kernel;
    double score_threshold, iou_threshold, sigma, nms_threshold;
    size_t most;
    uint32_t classes;
};

static struct task task_of(struct nnv_kernel *k) {
    int32_t most = nnv_int(k->call, MOST);
    return (struct task){
        .kernel = nnv_int(k->call, KERNEL),
        .score_threshold = nnv_num(k->call, SCORE_THRESHOLD),
        .iou_threshold = nnv_num(k->call, IOU_THRESHOLD),
        .sigma = nnv_num(k->call, SIGMA),
        .nms_threshold = nnv_num(k->call, NMS_THRESHOLD),
        .most = most < 0 ? SIZE_MAX : (size_t)most,
        .classes = nnv_in_shape(k, SCORES)->dims[1],
    };
}

/* What becomes of a score beside a better box. */
static void decay(struct nnv_kernel *k, const struct task *t, const struct nnv_box *better, struct nnv_pick *p) {
    double iou = nnv_box_iou(better, &p->box), off = nnv_box_iou_off(k, better, &p->box), u = nnv_box_unit(k);
    if (isnan(iou)) return;
    if (t->kernel == GAUSSIAN) {
        double factor = exp(-iou * iou / t->sigma);
        p->off = factor * (p->off + p->score * (2 * iou / t->sigma * off + 16 * u));
        p->score *= factor;
    } else if (nnv_box_overlap(k, better, &p->box, t->iou_threshold)) {
        double factor = t->kernel == HARD ? 0 : 1 - iou;
        p->off = t->kernel == HARD ? 0 : factor * p->off + p->score * (off + 8 * u);
        p->score *= factor;
    }
}

/* One image and class: candidates in p->item from `first` on become what is chosen of them, best first. */
static void choose(struct nnv_kernel *k, const struct task *t, struct nnv_picks *p, size_t first) {
    struct nnv_picks c = {p->item + first, p->count - first};
    for (size_t taken = 0; taken < c.count; taken++) {
        if (taken == t->most) c.count = taken;
        struct nnv_picks rest = {c.item + taken, c.count - taken};
        if (rest.count == 0) break;
        nnv_pick_best(k, &rest, 1);
        size_t left = taken + 1;
        for (size_t i = left; i < c.count; i++) {
            decay(k, t, &c.item[taken].box, &c.item[i]);
            if (!nnv_decide(k, t->nms_threshold - c.item[i].score, nnv_box_width(c.item[i].off)))
                c.item[left++] = c.item[i];
        }
        c.count = left;
    }
    p->count = first + c.count;
}

/* The regions [from, to) of one image, all classes but the background. */
static void choose_class(struct nnv_kernel *k, const struct task *t, struct nnv_picks *p, size_t from, size_t to,
                         uint32_t class) {
    const double *scores = nnv_real(k, SCORES);
    size_t first = p->count;
    double step = 0x1p-22 * fabs(t->score_threshold); /* a quantised score times its scale may be rounded */
    for (size_t r = from; r < to; r++) {
        size_t e = r * t->classes + class;
        struct nnv_pick q = {.item = r, .class = class, .first = first, .score = scores[e], .kept = true};
        q.off = k->noise ? nnv_box_off(k, SCORES, e) : 0;
        double rounded = nnv_is_quant(k->call->sig->type[NNV_T]) ? step : 0;
        if (!nnv_decide(k, q.score - t->score_threshold, nnv_box_width(q.off + rounded))) continue;
        q.box = nnv_box_at(k, BOXES, e);
        p->item[p->count++] = q;
    }
    choose(k, t, p, first);
}

/* Keeps the best `most` of the picks of an image, which start at `first`. NNV_NO_MEMORY. */
static enum nnv_status limit(struct nnv_kernel *k, const struct task *t, struct nnv_picks *p, size_t first,
                             struct nnv_err *err) {
    size_t n = p->count - first;
    if (n <= t->most) return NNV_OK;
    struct nnv_picks all = {nnv_arena_copy(k->scratch, p->item + first, n * sizeof *p->item), n};
    if (!all.item) return nnv_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        all.item[i].item = first + i;
        p->item[first + i].kept = false;
    }
    nnv_pick_best(k, &all, t->most);
    for (size_t i = 0; i < t->most; i++) p->item[all.item[i].item].kept = true;
    return NNV_OK;
}

static enum nnv_status choose_all(struct nnv_kernel *k, const struct task *t, struct nnv_picks *p,
                                  struct nnv_err *err) {
    const double *batch = nnv_real(k, BATCH);
    size_t n = nnv_elems(k, BATCH), to;
    p->item = NNV_NEW(k->scratch, struct nnv_pick, nnv_elems(k, SCORES));
    if (!p->item) return nnv_no_memory(err);
    for (size_t from = 0; from < n; from = to) {
        size_t first = p->count;
        for (to = from; to < n && batch[to] == batch[from];) to++;
        for (uint32_t c = 1; c < t->classes; c++) choose_class(k, t, p, from, to, c);
        enum nnv_status st = limit(k, t, p, first, err);
        if (st) return st;
    }
    return NNV_OK;
}

/* ------------------------------------------------------------------- values */

/* The score of pick i after all better ones of its image and class. */
static double final_score(struct nnv_kernel *k, const struct task *t, const struct nnv_picks *p, size_t i) {
    const struct nnv_pick *q = &p->item[i];
    double score = nnv_real(k, SCORES)[q->item * t->classes + q->class];
    for (size_t b = q->first; b < i; b++) {
        const struct nnv_box *better = &p->item[b].box;
        double iou = nnv_box_iou(better, &q->box);
        if (nnv_recall(k, isnan(iou)) != 0) continue;
        if (t->kernel != GAUSSIAN) {
            bool beside = k->row == 0 && nnv_box_overlap(k, better, &q->box, t->iou_threshold);
            if (nnv_recall(k, beside) == 0) continue;
        }
        if (t->kernel == HARD) {
            score = 0;
            continue;
        }
        iou = nnv_box_iou_round(k, iou, better, &q->box);
        double factor = t->kernel == LINEAR ? nnv_box_round(k, 1 - iou, 1)
                                            : nnv_box_round(k, exp(-iou * iou / t->sigma), 2 * NNV_ULPS_EXP);
        score = nnv_box_round(k, score * factor, 1);
    }
    return score;
}

static void write(struct nnv_kernel *k, const struct task *t, const struct nnv_picks *p) {
    const double *batch = nnv_real(k, BATCH);
    size_t at = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct nnv_pick *q = &p->item[i];
        double score = final_score(k, t, p, i);
        if (!q->kept) continue;
        const double corners[] = {q->box.x1, q->box.y1, q->box.x2, q->box.y2};
        k->out[OUT_SCORES][at] = score;
        for (int c = 0; c < 4; c++) k->out[OUT_BOXES][4 * at + (size_t)c] = corners[c];
        k->out[OUT_CLASSES][at] = q->class;
        k->out[OUT_BATCH][at++] = batch[q->item];
    }
}

static enum nnv_status give_shapes(struct nnv_kernel *k, const struct nnv_picks *p, struct nnv_err *err) {
    uint32_t n = 0;
    for (size_t i = 0; i < p->count; i++) n += p->item[i].kept;
    const struct nnv_shape line = nnv_shape_make(1, &n), boxes = nnv_shape_make(2, (uint32_t[]){n, 4});
    enum nnv_status st = NNV_OK;
    for (uint32_t i = 0; !st && i <= OUT_BATCH; i++) st = nnv_give_shape(k, i, i == OUT_BOXES ? &boxes : &line, err);
    return st;
}

static enum nnv_status eval(struct nnv_kernel *k, struct nnv_err *err) {
    struct task t = task_of(k);
    struct nnv_picks p = {0};
    enum nnv_status st = NNV_OK;
    if (t.kernel == HARD || nnv_is_float(k->call->sig->type[NNV_T])) k->rounding = NNV_ROUND_NONE;
    if (k->row == 0) st = choose_all(k, &t, &p, err);
    if (!st) st = nnv_pick_recall(k, &p, err);
    if (!st) st = give_shapes(k, &p, err);
    if (st) return st;
    for (size_t i = 0; i < p.count; i++)
        p.item[i].box = nnv_box_at(k, BOXES, p.item[i].item * t.classes + p.item[i].class);
    write(k, &t, &p);
    return NNV_OK;
}

/* ------------------------------------------------------------------ samples */

static const struct nnv_factor factors[] = {{.name = "boxes", NNV_VALUES(9, 1, 4, 17)},
                                            {.name = "classes", NNV_VALUES(2, 3, 4)},
                                            {.name = "kernel", NNV_WORDS("hard", "linear", "gaussian")},
                                            {.name = "limit", NNV_WORDS("none", "limited", "one")},
                                            {.name = "threshold", NNV_WORDS("low", "background")},
                                            {.name = "images", NNV_VALUES(1, 2, 3)}};

/* "limited": at most so many boxes that some go; "background": hardly any score is above the threshold. */
static const char *const variants[] = {"hard",           "linear",           "gaussian",   "hard_limited",
                                       "linear_limited", "gaussian_limited", "background", NULL};

static void sample(struct nnv_sample *s) {
    int kernel = nnv_sample_is(s, "linear") ? LINEAR : nnv_sample_is(s, "gaussian") ? GAUSSIAN : HARD;
    bool half = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_FLOAT16;
    uint32_t n = s->empty ? 0 : nnv_sample_dim(s, 9, 17), classes = (uint32_t)nnv_sample_int(s, 2, 4), total;
    n = nnv_row_extent(s, "boxes", n);
    classes = nnv_row_extent(s, "classes", classes);
    const uint32_t images = nnv_row_extent(s, "images", 0);
    static const double thresholds[] = {0.3, 0.45, 0.55};
    double threshold = thresholds[s->index % 3];
    int32_t batch[17] = {0};
    for (uint32_t r = 1; r < n; r++)
        batch[r] = images ? (int32_t)(r * images / n) : batch[r - 1] + (nnv_rng_int(&s->rng, 0, 6) == 0);
    total = n * classes;
    /* steps that 8 bits can hold: 68 scores at most, between 0.1 and 0.95 */
    struct nnv_sample_arg *scores = nnv_sample_tensor(s, SCORES, 2, (uint32_t[]){n, classes});
    scores->reals = nnv_sample_scores(s, total, 0.1, 0.0125);
    scores->scale = 0.0125f / 3;
    scores->zero_point = s->sig->type[NNV_T] == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? 3 : -120;
    nnv_sample_tensor(s, BOXES, 2, (uint32_t[]){n, 4 * classes})->reals =
        nnv_sample_boxes(s, total, half ? 60 : 120, half ? 50 : 90, threshold, 0.08);
    nnv_sample_ints(s, BATCH, n, batch);
    s->arg[BATCH].input = true;
    uint32_t below = nnv_sample_is(s, "background") ? total * 7 / 8 : total < 8 ? total / 3 : 4; /* so many scores */
    nnv_sample_scalar(s, SCORE_THRESHOLD, 0.1 + 0.0125 * below + 0.006);
    nnv_sample_scalar(s, MOST,
                      nnv_sample_is(s, "limited") ? nnv_sample_int(s, 2, 4)
                      : nnv_sample_is(s, "one")   ? 1
                                                  : -1);
    nnv_sample_scalar(s, KERNEL, kernel);
    nnv_sample_scalar(s, IOU_THRESHOLD, threshold);
    nnv_sample_scalar(s, SIGMA, 0.5 + 0.25 * (s->index % 3));
    nnv_sample_scalar(s, NMS_THRESHOLD, kernel == LINEAR ? 0.053 : 0.147);
}

const struct nnv_op nnv_op_BOX_WITH_NMS_LIMIT = {
    NNV_OP_NAMED(BOX_WITH_NMS_LIMIT),
    .level = 3,
    .formula =
        "of each image and class but 0, of scores above the threshold: takes the highest and scales the others by "
        "k(IoU) until none is at or above the NMS threshold; hard k = IoU < threshold, linear "
        "k = IoU < threshold ? 1 : 1 - IoU, gaussian k = e^(-IoU^2 / sigma); of each image the best",
    NNV_OP_FORM(inputs, outputs),
    NNV_OP_SIGS(sigs),
    .rounding = NNV_ROUND_RESCALE,
    .zero = NNV_ZERO_ANY,
    .sizes = true,
    .any_order = true,
    .check = check,
    NNV_OP_HOOKS(),
    NNV_OP_FACTORS(factors),
};
