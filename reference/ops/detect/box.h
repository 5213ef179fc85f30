/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file box.h What the operations on bounding boxes share: overlap, the transform by deltas, and lists of results.
 *
 * Which boxes are results is decided in row 0 alone, from values without noise; how far a correct implementation may
 * be off at that moment is estimated, and makes close decisions open (nnv_decide). The rows then recompute the values
 * of what was chosen.
 */
#ifndef NNV_OPS_BOX_H
#define NNV_OPS_BOX_H

#include "reference/ops/common.h"

/** A box by its corners. */
struct nnv_box {
    double x1, y1, x2, y2;
    double err; /**< how far each coordinate may be off */
};

/** An intermediate in float32, or in the operand's type if that is coarser: quantised operations compute in it, too. */
double nnv_box_round(struct nnv_kernel *k, double v, double ulps);
/** The unit of these intermediates: half a unit in the last place of 1. */
double nnv_box_unit(const struct nnv_kernel *k);
/** Half width of decisions between numbers that differ by at most err from what implementations have; never 0. */
static inline double nnv_box_width(double err) { return err + 0x1p-1022; }
/** How far element e of input id may be off: three spreads lie between surely ordered numbers. */
static inline double nnv_box_off(struct nnv_kernel *k, int id, size_t e) { return 3 * nnv_spread(k, id, e); }

/** Box number i of tensor input id, row-major. */
struct nnv_box nnv_box_at(struct nnv_kernel *k, int id, size_t i);
/** Area of the intersection over area of the union; NaN if both are empty. */
double nnv_box_iou(const struct nnv_box *a, const struct nnv_box *b);
/** How far the quotient of two boxes may be off. */
double nnv_box_iou_off(const struct nnv_kernel *k, const struct nnv_box *a, const struct nnv_box *b);
/** iou, the quotient of these boxes in this row, as it may be rounded. */
double nnv_box_iou_round(struct nnv_kernel *k, double iou, const struct nnv_box *a, const struct nnv_box *b);
/** Row 0: decides whether they overlap by threshold or more, for the same boxes always alike. Two empty boxes do not.
 */
bool nnv_box_overlap(struct nnv_kernel *k, const struct nnv_box *a, const struct nnv_box *b, double threshold);

/** A region, its deltas, and the extents of its image. */
struct nnv_box_move {
    struct nnv_box from;
    double dx, dy, dw, dh; /**< shift in widths and heights; logarithms of the growth */
    double off;            /**< how far the deltas may be off */
    double height, width;  /**< of the image */
};
/**
 * The centre moved by (dx, dy) sizes, the size times e^(dw, dh), clipped to the image. noise: with hooks; otherwise
 * with err instead.
 */
struct nnv_box nnv_box_moved(struct nnv_kernel *k, const struct nnv_box_move *m, bool noise);

/** A candidate or result: where its score and box come from. */
struct nnv_pick {
    size_t item;    /**< row of the region, number of the anchor */
    uint32_t image; /**< or batch */
    uint32_t class;
    size_t first;       /**< number of the first pick of this image and class */
    double score;       /**< row 0, while choosing */
    double off;         /**< how far the score may be off */
    struct nnv_box box; /**< row 0, while choosing */
    bool kept;
};
struct nnv_picks {
    struct nnv_pick *item;
    size_t count;
};

/** Row 0: true if a's score is above b's. */
bool nnv_pick_above(struct nnv_kernel *k, const struct nnv_pick *a, const struct nnv_pick *b);
/** Row 0: moves the n highest scores to the front, in falling order; of equals the first comes first. */
void nnv_pick_best(struct nnv_kernel *k, struct nnv_picks *p, size_t n);
/**
 * Row 0: hard non-maximum suppression of candidates: takes the highest score, at most `most` times, and drops what
 * overlaps it by threshold or more. Leaves what was taken, in that order.
 */
void nnv_pick_hard(struct nnv_kernel *k, struct nnv_picks *p, double threshold, size_t most);
/** In all rows: the picks as row 0 has them, but for score, off and box. NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_pick_recall(struct nnv_kernel *k, struct nnv_picks *p, struct nnv_err *err);

/* ------------------------------------------------------------------ samples */

/** For sample hooks: true if the box overlaps none of the others by about the threshold, give or take margin. */
bool nnv_box_is_clear(const struct nnv_box *b, const struct nnv_box *others, uint32_t n, double threshold,
                      double margin);
/**
 * For sample hooks: n boxes for NMS in an image of the given size, arena's, (x1,y1,x2,y2) each: many overlap, and
 * almost all overlaps are clear. Coordinates are multiples of 1/8.
 */
double *nnv_sample_boxes(struct nnv_sample *s, uint32_t n, double width, double height, double threshold,
                         double margin);
/** For sample hooks: n different scores in a random order, arena's, multiples of step from lo on. */
double *nnv_sample_scores(struct nnv_sample *s, uint32_t n, double lo, double step);

#endif
