/* SPDX-License-Identifier: Apache-2.0 */
/** @file accuracy.h How good a driver's answers are, beside the golden ones on the same data. */
#ifndef NNV_BENCH_ACCURACY_H
#define NNV_BENCH_ACCURACY_H

#include "base/stats.h"
#include "harness/bench/answers.h"

/** Right answers of one side. */
struct nnv_quality {
    uint32_t top1, top5; /**< CLASSIFY: items whose label is first, or among the first five */
    uint64_t edits;      /**< SPELL: in all */
    double error;        /**< RESTORE: mean square error from input 0 */
};

struct nnv_accuracy {
    enum nnv_task task;
    uint32_t items, judged; /**< judged: those with a known truth */
    struct nnv_quality golden, driver;
    uint64_t phones;                   /**< SPELL: that were said */
    uint32_t agree;                    /**< CLASSIFY: items on which both have the same first class */
    uint32_t only_golden, only_driver; /**< CLASSIFY: right on one side alone */
    double p;                     /**< that a difference as large as this is chance: McNemar's; NaN: nothing to test */
    struct nnv_interval loss;     /**< SPELL, RESTORE: driver's less golden error an item, at 99 % by bootstrap */
    uint64_t boxes, found, extra; /**< of detectors: golden boxes; those that the driver has, too: of the same class,
                                     IoU at least 0.5; boxes that it alone has */
    double iou;                   /**< mean over golden boxes, 0 for those that are not found */
    double largest_error;         /**< of any output from golden: real numbers for floats, units for quantised types */
    double mean_square_error, psnr; /**< of output 0 from golden, in real numbers; peak: the largest golden magnitude */
    double other_error; /**< largest error of another engine's outputs from golden, where the data has them; NaN */
    uint32_t other_agree, other_items; /**< CLASSIFY: the driver's first class is the other engine's */
    bool worse; /**< the driver is worse than golden, and chance does not explain it (p < 0.01) */
};

/**
 * Compares answers of both sides on the same items; seed: of the bootstrap. Items are read again for their truth.
 * NNV_INVALID as nnv_dataset_item().
 */
NNV_USE_RESULT enum nnv_status nnv_accuracy_compare(const struct nnv_network *net, const struct nnv_dataset *d,
                                                    const struct nnv_bench_answers *golden,
                                                    const struct nnv_bench_answers *driver, uint64_t seed,
                                                    struct nnv_accuracy *out, struct nnv_err *err);

#endif
