/* SPDX-License-Identifier: Apache-2.0 */
/** @file partition_report.h Watches a program being divided, for the page of nnvts partition. */
#ifndef NNV_COMPILED_PARTITION_REPORT_H
#define NNV_COMPILED_PARTITION_REPORT_H

#include "compiler/nnapi/convert/convert.h"
#include "harness/compiled/partition_html.h"

/** What a report asks for and gathers. The first members are the caller's. */
struct nnv_partition_report {
    struct nnv_arena *arena;
    const struct nnv_convert_support *trial; /**< tells reasons; may be NULL */
    nnv_select_fn *select;                   /**< the choice of regions that is watched; may be NULL */
    void *select_ctx;
    const char *title;
    const struct nnv_cost_result *cost; /**< may be NULL */
    /** Divides the program anew with one more operator supported; NULL: reasons are wanted, but no page. */
    enum nnv_status (*divide_with)(void *ctx, const char *op, struct nnv_partition *result, struct nnv_err *err);
    void *ctx;
    /* gathered from here on */
    const char *function;
    const struct nnv_annotator *annotator;
    struct nnv_partition_graph before;
    const struct nnv_regions *regions;
    const char *const **nodes; /**< by region: names of its values */
    size_t *n_nodes, n_regions;
    struct nnv_host_row *host;
    size_t n_host;
    struct nnv_host_row ifs, loops; /**< those that are on the host: how many, and why the first is */
};

/** A struct nnv_prune's select: chooses as the report's own does, and remembers the first function. */
nnv_select_fn nnv_report_watch;
/** Appends the page. m has been divided. */
NNV_USE_RESULT enum nnv_status nnv_report_page(struct nnv_partition_report *r, const struct nnv_relay_module *m,
                                               const struct nnv_partition *result, struct nnv_text *out,
                                               struct nnv_err *err);

/** Appends a JSON list: each operator that is on the host in the end, how many calls of it, and why. */
NNV_USE_RESULT enum nnv_status nnv_report_reasons(struct nnv_partition_report *r, const struct nnv_partition *result,
                                                  struct nnv_text *out, struct nnv_err *err);

#endif
