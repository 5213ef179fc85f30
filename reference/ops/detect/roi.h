/* SPDX-License-Identifier: Apache-2.0 */
/** @file roi.h What ROI_ALIGN and ROI_POOLING share: boxes in the pixels of an image, and the feature maps they cut. */
#ifndef NNV_OPS_ROI_H
#define NNV_OPS_ROI_H

#include "reference/ops/common.h"

enum {
    NNV_ROI_INPUT,
    NNV_ROI_BOXES,
    NNV_ROI_BATCH,
    NNV_ROI_HEIGHT,
    NNV_ROI_WIDTH,
    NNV_ROI_HEIGHT_RATIO,
    NNV_ROI_WIDTH_RATIO,
    NNV_ROI_HEIGHT_SAMPLES, /**< ROI_ALIGN alone */
    NNV_ROI_WIDTH_SAMPLES,
    NNV_ROI_NCHW,
};

/** All inputs before the numbers of samples or the layout. */
#define NNV_ROI_INPUTS                                                                                                 \
    {.id = NNV_ROI_INPUT, .name = "input", .var = NNV_T, .rank_min = 4, .rank_max = 4},                                \
        {.id = NNV_ROI_BOXES, .name = "boxes", .var = NNV_V, .rank_min = 2, .rank_max = 2, .quant = NNV_Q_EIGHTH},     \
        NNV_SLOT_INT_TENSOR(NNV_ROI_BATCH, "batch indices", 1, 0),                                                     \
        NNV_SLOT_INT(NNV_ROI_HEIGHT, "output height", NNV_POSITIVE),                                                   \
        NNV_SLOT_INT(NNV_ROI_WIDTH, "output width", NNV_POSITIVE),                                                     \
        NNV_SLOT_NUMBER(NNV_ROI_HEIGHT_RATIO, "height ratio", NNV_POSITIVE),                                           \
        NNV_SLOT_NUMBER(NNV_ROI_WIDTH_RATIO, "width ratio", NNV_POSITIVE)
#define NNV_ROI_LAYOUT NNV_SLOT_BOOL(NNV_ROI_NCHW, "nchw")

enum { NNV_ROI_SIGS = 4 };
extern const struct nnv_sig nnv_roi_sigs[NNV_ROI_SIGS];

/** Boxes are [n,4], batch indices [n]. */
enum nnv_status nnv_roi_check(const struct nnv_call *c, struct nnv_err *err);
/** [n, output height, output width, C], or with C before the extents. */
enum nnv_status nnv_roi_infer(const struct nnv_call *c, struct nnv_shape *out, struct nnv_err *err);

/** One dimension of a box in the feature map's own pixels. */
struct nnv_span {
    double start, end; /**< NaN in a row in which they are not known */
    bool exact;        /**< every implementation finds these numbers: the ratio is a power of two */
};
/** A box: the image that it lies in, and its extents. */
struct nnv_roi {
    uint32_t image;
    struct nnv_span y, x;
};
/** Box i, divided by the ratios. NNV_INVALID (row 0) if it has no such image or does not lie in it. */
NNV_USE_RESULT enum nnv_status nnv_roi_box(struct nnv_kernel *k, size_t i, struct nnv_roi *roi, struct nnv_err *err);

/** Half a unit in the last place of the type that box coordinates are computed in: float32 or the input's. */
double nnv_roi_unit(const struct nnv_kernel *k);
/** The value as that type holds it. */
double nnv_roi_rounded(const struct nnv_kernel *k, double v);

/** Draws input, boxes, batch indices, output extents and ratios, and sets the layout by the variant's name. */
void nnv_roi_sample(struct nnv_sample *s);

#endif
