/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/ops/detect/box.h"

#include <string.h>

/* ------------------------------------------------------------------- boxes */

double nnv_box_unit(const struct nnv_kernel *k) { return k->u_i > 0 ? k->u_i : 0x1p-24; }

double nnv_box_round(struct nnv_kernel *k, double v, double units) {
    return k->noise ? nnv_noise_add(k, v, units * nnv_box_unit(k) * fabs(v) + (v != 0 ? k->eta : 0)) : v;
}

struct nnv_box nnv_box_at(struct nnv_kernel *k, int id, size_t i) {
    const double *v = nnv_real(k, id) + 4 * i;
    struct nnv_box b = {v[0], v[1], v[2], v[3], 0};
    for (size_t c = 0; k->row == 0 && k->noise && c < 4; c++) {
        double off = nnv_box_off(k, id, 4 * i + c);
        if (!(off <= b.err)) b.err = off;
    }
    return b;
}

static double overlap(double a1, double a2, double b1, double b2) {
    double d = fmin(a2, b2) - fmax(a1, b1);
    return d > 0 ? d : 0;
}

static double area(const struct nnv_box *b) { return (b->x2 - b->x1) * (b->y2 - b->y1); }

double nnv_box_iou(const struct nnv_box *a, const struct nnv_box *b) {
    double both = overlap(a->x1, a->x2, b->x1, b->x2) * overlap(a->y1, a->y2, b->y1, b->y2);
    return both / (area(a) + area(b) - both);
}

double nnv_box_iou_off(const struct nnv_kernel *k, const struct nnv_box *a, const struct nnv_box *b) {
    double w = overlap(a->x1, a->x2, b->x1, b->x2), h = overlap(a->y1, a->y2, b->y1, b->y2), both = w * h;
    double whole = area(a) + area(b) - both, iou = both / whole, u = nnv_box_unit(k), e = a->err + b->err;
    double rim_a = fabs(a->x2 - a->x1) + fabs(a->y2 - a->y1), rim_b = fabs(b->x2 - b->x1) + fabs(b->y2 - b->y1);
    double both_off = e * (w + h + e) + 4 * u * both;
    double whole_off = both_off + 2 * (a->err * rim_a + b->err * rim_b) + 4 * u * (area(a) + area(b) + both);
    return (both_off + iou * whole_off) / whole + 2 * u * iou;
}

double nnv_box_iou_round(struct nnv_kernel *k, double iou, const struct nnv_box *a, const struct nnv_box *b) {
    if (!k->noise) return iou;
    struct nnv_box x = *a, y = *b;
    x.err = y.err = 0; /* the rows have the noise of the inputs already */
    return nnv_noise_add(k, iou, nnv_box_iou_off(k, &x, &y) / 2);
}

static uint64_t key_of(const struct nnv_box *a, const struct nnv_box *b) {
    const double v[] = {a->x1, a->y1, a->x2, a->y2, b->x1, b->y1, b->x2, b->y2};
    uint64_t key = 0;
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        uint64_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        key = (key ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        key ^= key >> 29;
    }
    return key;
}

bool nnv_box_overlap(struct nnv_kernel *k, const struct nnv_box *a, const struct nnv_box *b, double threshold) {
    double iou = nnv_box_iou(a, b);
    if (isnan(iou)) return false;
    return !nnv_decide_same(k, threshold - iou, nnv_box_width(nnv_box_iou_off(k, a, b)), key_of(a, b));
}

/* --------------------------------------------------------------- transform */

static double clip(double v, double hi) { return v < 0 ? 0 : v > hi ? hi : v; }

/* One direction of the transform. */
static void move(struct nnv_kernel *k, double v[2], double shift, double growth, double extent) {
    double size = nnv_box_round(k, v[1] - v[0], 1), centre = nnv_box_round(k, (v[0] + v[1]) / 2, 1);
    centre = nnv_box_round(k, centre + nnv_box_round(k, shift * size, 1), 1);
    size = nnv_box_round(k, size * nnv_box_round(k, exp(growth), 2 * NNV_ULPS_EXP), 1);
    v[0] = clip(nnv_box_round(k, centre - size / 2, 1), extent);
    v[1] = clip(nnv_box_round(k, centre + size / 2, 1), extent);
}

/* The same without noise. Returns how far the corners may be off. */
static double move_exactly(const struct nnv_kernel *k, double v[2], double shift, double growth, double extent,
                           double from_off, double off) {
    double size = v[1] - v[0], centre = (v[0] + v[1]) / 2, factor = exp(growth), moved = centre + shift * size;
    double grown = size * factor;
    v[0] = clip(moved - grown / 2, extent);
    v[1] = clip(moved + grown / 2, extent);
    /* the sum of the roundings in move() */
    double rounded = fabs(centre) + 2 * (fabs(shift * size) + fabs(moved)) + (NNV_ULPS_EXP + 1.5) * fabs(grown);
    return nnv_box_unit(k) * rounded + from_off * (1 + 2 * fabs(shift) + factor) + off * (fabs(size) + fabs(grown));
}

struct nnv_box nnv_box_moved(struct nnv_kernel *k, const struct nnv_box_move *m, bool noise) {
    double x[2] = {m->from.x1, m->from.x2}, y[2] = {m->from.y1, m->from.y2}, err = 0;
    if (noise) {
        move(k, x, m->dx, m->dw, m->width);
        move(k, y, m->dy, m->dh, m->height);
    } else {
        double off_x = move_exactly(k, x, m->dx, m->dw, m->width, m->from.err, m->off);
        double off_y = move_exactly(k, y, m->dy, m->dh, m->height, m->from.err, m->off);
        err = off_x > off_y ? off_x : off_y;
    }
    return (struct nnv_box){x[0], y[0], x[1], y[1], err};
}

/* ------------------------------------------------------------------- picks */

bool nnv_pick_above(struct nnv_kernel *k, const struct nnv_pick *a, const struct nnv_pick *b) {
    return nnv_decide(k, a->score - b->score, nnv_box_width(a->off + b->off));
}

/* Moves the highest score from place `at` on to that place; the others keep their order. */
static void best_to(struct nnv_kernel *k, struct nnv_picks *p, size_t at) {
    size_t best = at;
    for (size_t i = at + 1; i < p->count; i++)
        if (nnv_pick_above(k, &p->item[i], &p->item[best])) best = i;
    struct nnv_pick found = p->item[best];
    memmove(p->item + at + 1, p->item + at, (best - at) * sizeof found);
    p->item[at] = found;
}

void nnv_pick_best(struct nnv_kernel *k, struct nnv_picks *p, size_t n) {
    for (size_t i = 0; i < n && i < p->count; i++) best_to(k, p, i);
}

void nnv_pick_hard(struct nnv_kernel *k, struct nnv_picks *p, double threshold, size_t most) {
    size_t taken = 0;
    for (; taken < most && taken < p->count; taken++) {
        best_to(k, p, taken);
        size_t left = taken + 1;
        for (size_t i = left; i < p->count; i++)
            if (!nnv_box_overlap(k, &p->item[taken].box, &p->item[i].box, threshold)) p->item[left++] = p->item[i];
        p->count = left;
    }
    p->count = taken;
}

enum nnv_status nnv_pick_recall(struct nnv_kernel *k, struct nnv_picks *p, struct nnv_err *err) {
    p->count = (size_t)nnv_recall(k, (double)p->count);
    if (k->row > 0) p->item = NNV_NEW(k->scratch, struct nnv_pick, p->count);
    if (!p->item) return nnv_no_memory(err);
    for (size_t i = 0; i < p->count; i++) {
        struct nnv_pick *q = &p->item[i];
        q->item = (size_t)nnv_recall(k, (double)q->item);
        q->image = (uint32_t)nnv_recall(k, q->image);
        q->class = (uint32_t)nnv_recall(k, q->class);
        q->first = (size_t)nnv_recall(k, (double)q->first);
        q->kept = nnv_recall(k, q->kept) != 0;
    }
    return NNV_OK;
}

/* ----------------------------------------------------------------- samples */

static double eighths(double v) { return floor(v * 8 + 0.5) / 8; }

/* A box of at least 6 by 6 anywhere in the image. */
static struct nnv_box anywhere(struct nnv_sample *s, double width, double height) {
    struct nnv_box b = {0};
    double w = eighths(nnv_rng_uniform(&s->rng, 6, width / 3)), h = eighths(nnv_rng_uniform(&s->rng, 6, height / 3));
    b.x1 = eighths(nnv_rng_uniform(&s->rng, 0, width - w));
    b.y1 = eighths(nnv_rng_uniform(&s->rng, 0, height - h));
    b.x2 = b.x1 + w;
    b.y2 = b.y1 + h;
    return b;
}

/* A box near another one: each corner shifted by up to `share` of the size. */
static struct nnv_box near(struct nnv_sample *s, const struct nnv_box *a, double share, double width, double height) {
    double w = (a->x2 - a->x1) * share, h = (a->y2 - a->y1) * share;
    return (struct nnv_box){.x1 = clip(a->x1 + eighths(nnv_rng_uniform(&s->rng, -w, w)), width - 4),
                            .y1 = clip(a->y1 + eighths(nnv_rng_uniform(&s->rng, -h, h)), height - 4),
                            .x2 = clip(a->x2 + eighths(nnv_rng_uniform(&s->rng, -w, w)), width),
                            .y2 = clip(a->y2 + eighths(nnv_rng_uniform(&s->rng, -h, h)), height)};
}

bool nnv_box_is_clear(const struct nnv_box *b, const struct nnv_box *others, uint32_t n, double threshold,
                      double margin) {
    for (uint32_t i = 0; i < n; i++) {
        double iou = nnv_box_iou(b, &others[i]);
        if (fabs(iou - threshold) < margin || iou == 1) return false;
    }
    return true;
}

double *nnv_sample_boxes(struct nnv_sample *s, uint32_t n, double width, double height, double threshold,
                         double margin) {
    enum { TRIES = 60 };
    double *values = NNV_NEW(s->arena, double, 4 * (size_t)n);
    struct nnv_box *boxes = NNV_NEW(s->arena, struct nnv_box, n);
    if (!values || !boxes) return NULL;
    for (uint32_t i = 0; i < n; i++) {
        for (int t = 0; t < TRIES; t++) {
            bool beside = i > 0 && t < TRIES - 10 && nnv_rng_int(&s->rng, 0, 3) > 0;
            const struct nnv_box *a = &boxes[beside ? nnv_rng_int(&s->rng, 0, i - 1) : 0];
            double share = nnv_rng_int(&s->rng, 0, 2) ? 0.12 : 0.7;
            boxes[i] = beside ? near(s, a, share, width, height) : anywhere(s, width, height);
            bool large = boxes[i].x2 - boxes[i].x1 >= 4 && boxes[i].y2 - boxes[i].y1 >= 4;
            if (large && nnv_box_is_clear(&boxes[i], boxes, i, threshold, margin)) break;
        }
        values[4 * i] = boxes[i].x1;
        values[4 * i + 1] = boxes[i].y1;
        values[4 * i + 2] = boxes[i].x2;
        values[4 * i + 3] = boxes[i].y2;
    }
    return values;
}

double *nnv_sample_scores(struct nnv_sample *s, uint32_t n, double lo, double step) {
    double *v = NNV_NEW(s->arena, double, n);
    for (uint32_t i = 0; v && i < n; i++) { /* inserted at a random place */
        uint32_t at = (uint32_t)nnv_rng_int(&s->rng, 0, i);
        v[i] = v[at];
        v[at] = lo + step * i;
    }
    return v;
}
