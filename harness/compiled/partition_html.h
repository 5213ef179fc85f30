/* SPDX-License-Identifier: Apache-2.0 */
/** @file partition_html.h The page of nnvts partition: a program before and after it was divided. */
#ifndef NNV_COMPILED_PARTITION_HTML_H
#define NNV_COMPILED_PARTITION_HTML_H

#include "compiler/byoc/cost/cost.h"
#include "harness/compiled/partition_graph.h"

/** An operator, or composite, of the host. */
struct nnv_host_row {
    const char *op, *reason;
    size_t calls;
    bool refused; /**< no target takes it, though one could */
    /** What there would be if the first target supported it. */
    bool tried;
    size_t regions, on_host;
};

struct nnv_partition_page {
    const char *title;
    const char *const *targets;
    size_t n_targets;
    const struct nnv_partition *partition;
    const struct nnv_cost_result *cost; /**< of @main; NULL: none */
    struct nnv_partition_graph before, after;
    size_t drawn_before, drawn_after; /**< nodes before they were joined; 0: they are drawn as they are */
    struct nnv_host_row *host;
    size_t n_host;
};

/** Appends the page: one document that needs nothing else. */
NNV_USE_RESULT enum nnv_status nnv_partition_html(const struct nnv_partition_page *p, struct nnv_text *out,
                                                  struct nnv_err *err);

#endif
