/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file roof.h The roofline model (Williams, Waterman and Patterson, 2009): work takes at least as long as its
 * arithmetic at the peak, and as its bytes at the bandwidth. In units of 1 a nanosecond: 10^9 a second.
 */
#ifndef NNV_BENCH_ROOF_H
#define NNV_BENCH_ROOF_H

#include <jansson.h>

#include "base/stats.h"
#include "harness/bench/peak.h"
#include "reference/model/work.h"

enum { NNV_ROOF_LEVELS = 7 };

struct nnv_roof {
    bool known;  /**< else there is none, and all that it tells is NaN */
    bool stated; /**< by the user, not measured */
    struct nnv_peak peak;
    int levels; /**< at least 1 */
    struct {
        double bytes, rate; /**< bytes a nanosecond where the data are no more than `bytes`; the last: any data */
    } level[NNV_ROOF_LEVELS];
};

/** Measures one processor of this machine: some 0.2 s, and 128 MiB. */
void nnv_roof_measure(struct nnv_roof *roof);
/** "GFLOPS,GBPS": one peak for all types, one bandwidth. NNV_INVALID. */
NNV_USE_RESULT enum nnv_status nnv_roof_state(const char *text, struct nnv_roof *roof, struct nnv_err *err);
/** The peak for arithmetic in that type (OperandCode): of 8 bits, or else float32's. */
double nnv_roof_peak(const struct nnv_roof *roof, int32_t type);
/** The bandwidth where so many bytes are worked on again and again: they stay in the caches that they fit into. */
double nnv_roof_bandwidth(const struct nnv_roof *roof, double bytes);
/** The least time of the work: the larger of operations by peak and bytes by bandwidth. */
double nnv_roof_ns(const struct nnv_roof *roof, const struct nnv_op_work *work);

/** What is achieved, with its interval, of a median time. */
struct nnv_roofline {
    double ns, gops, gbytes, percent; /**< percent: of the least time by the time */
    struct nnv_interval ns_in, gops_in, gbytes_in, percent_in;
};
struct nnv_roofline nnv_roofline_of(const struct nnv_roof *roof, const struct nnv_op_work *work, double ns,
                                    struct nnv_interval in);

/** A number, or null where it is none: JSON has no NaN and no infinity. */
json_t *nnv_bench_number_json(double v);
/** As in docs/use/bench.md; NULL when out of memory. */
json_t *nnv_roof_json(const struct nnv_roof *roof);
json_t *nnv_work_json(const struct nnv_op_work *work);
json_t *nnv_roofline_json(const struct nnv_roof *roof, const struct nnv_op_work *work, const struct nnv_roofline *line);

#endif
