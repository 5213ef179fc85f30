/* SPDX-License-Identifier: Apache-2.0 */
/** @file row.h One network on one driver: what was measured, judged, and made of it. A line of bench.json. */
#ifndef NNV_BENCH_ROW_H
#define NNV_BENCH_ROW_H

#include <jansson.h>

#include "base/text.h"
#include "harness/bench/accuracy.h"
#include "harness/bench/layers.h"

/** Percentiles that are told. */
enum { NNV_BENCH_P50, NNV_BENCH_P90, NNV_BENCH_P97, NNV_BENCH_P99, NNV_BENCH_QUANTILES };
extern const double nnv_bench_quantiles[NNV_BENCH_QUANTILES];

struct nnv_bench_row {
    const char *network, *origin, *data, *driver; /**< as on the command line */
    const char *scenario, *mode;
    struct nnv_bench_result measured;
    double quantile_ns[NNV_BENCH_QUANTILES];
    struct nnv_interval interval_ns[NNV_BENCH_QUANTILES]; /**< at 95 % */
    double rate;                                          /**< executions a second */
    bool has_latency, has_accuracy;
    enum nnv_bench_state accuracy_state; /**< DONE: accuracy holds */
    char accuracy_reason[NNV_BENCH_REASON];
    struct nnv_accuracy accuracy;
    const struct nnv_roof *roof; /**< for latencies of one execution after the other; else NULL */
    struct nnv_op_work work;     /**< of one execution */
    json_t *layers;              /**< operation by operation; owned, NULL: not judged */
    bool failed;                 /**< a gate is not passed */
    char gate[256];              /**< which */
};

/** Gates; 0: none. */
struct nnv_bench_gates {
    double most_ratio;      /**< of the median to that of the first driver on the same network */
    double least_agreement; /**< share of items with golden's first class, in [0, 1] */
};

/** Fills quantiles and rate from the samples. */
void nnv_bench_row_count(struct nnv_bench_row *row);
/** What the median latency achieves, where there is a roof. */
struct nnv_roofline nnv_bench_row_roofline(const struct nnv_bench_row *row);
/** Sets failed and gate; first: the row of the first driver on the same network, or NULL for that itself. */
void nnv_bench_row_gate(struct nnv_bench_row *row, const struct nnv_bench_row *first,
                        const struct nnv_bench_gates *gates);
/**
 * Keeps what was found operation by operation, after the other gates: one out of its budget fails the row,
 * and so does a driver that can't give all results. */
void nnv_bench_row_layers(struct nnv_bench_row *row, const struct nnv_layers *layers);
/** The row as JSON, samples thinned out to at most `samples`; NULL when out of memory. */
json_t *nnv_bench_row_json(const struct nnv_bench_row *row, uint32_t samples);
/** Appends the rows as CSV, under a line of headings; a field without a number is empty. */
void nnv_bench_csv(const struct nnv_bench_row *rows, size_t count, struct nnv_text *out);

#endif
