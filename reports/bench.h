/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench.h A bench as the reports see it: bench.json, and the pages made of it. What a file lacks is shown as
 * unknown, whatever it says is shown as text: the file may come from anywhere. Its form: docs/use/bench.md.
 */
#ifndef NNV_REPORTS_BENCH_H
#define NNV_REPORTS_BENCH_H

#include <jansson.h>

#include "base/text.h"
#include "nnvts/result.h"
#include "base/map.h"

/** A network on a driver. Strings live as long as the sheet; members of the file that are absent are NULL. */
struct nnv_bench_line {
    const char *network, *driver;
    const json_t *all, *latency, *accuracy, *layers;
    enum nnvts_verdict verdict; /**< PASS; FAIL: a gate; CRASH, TIMEOUT, ERROR; UNSUPPORTED */
    const char *why;            /**< of what is not PASS; "" */
    double p50;                 /**< in ns, NaN: not measured */
    uint32_t group;             /**< number of its network */
    size_t next;                /**< the next line of that network; SIZE_MAX: none */
};

struct nnv_bench_sheet {
    char *folder;
    json_t *root;
    struct nnv_bench_line *line;
    size_t count;
    struct nnv_map networks;
    size_t *first, *last; /**< line of each network */
    size_t verdicts[NNVTS_VERDICT_COUNT];
};

/** Reads bench.json of a folder. NNV_INVALID: it is not one; the error says where. */
NNV_USE_RESULT enum nnv_status nnv_bench_load(const char *folder, struct nnv_bench_sheet **sheet, struct nnv_err *err);
void nnv_bench_free(struct nnv_bench_sheet *sheet);
/** True if the folder holds bench.json and no journal. */
bool nnv_bench_is(const char *folder);
/** 1 if something failed, else 0. */
enum nnvts_exit nnv_bench_exit(const struct nnv_bench_sheet *sheet);
/** Writes report.html and junit.xml into the folder. */
NNV_USE_RESULT enum nnv_status nnv_bench_html(const struct nnv_bench_sheet *sheet, struct nnv_err *err);
NNV_USE_RESULT enum nnv_status nnv_bench_junit(const struct nnv_bench_sheet *sheet, struct nnv_err *err);

/** How the first driver stands on a network, beside the fastest of the others, by the median latency. */
struct nnv_bench_standing {
    const struct nnv_bench_line *own, *best;
    double ratio; /**< own by best: above 1 it is slower */
    int behind;   /**< 1, or -1: ahead; 0: the intervals of the medians overlap or have an open end, or they differ by
                     less than 1 % */
};

/** False if there is nothing to say: the first driver, or all others, have no latency. */
bool nnv_bench_stands(const struct nnv_bench_sheet *sheet, uint32_t network, struct nnv_bench_standing *standing);
/** Adds lines of plain text: what is compared with what, network by network, those first where the driver is behind. */
void nnv_bench_standings(const struct nnv_bench_sheet *sheet, struct nnv_text *t);
/** Adds the same as a section of the page. */
void nnv_bench_standings_html(const struct nnv_bench_sheet *sheet, struct nnv_text *t);
/** Adds facts of the page's head: what the drivers call themselves, each once, and how noisy the machine was at worst.
 */
void nnv_bench_drivers_html(const struct nnv_bench_sheet *sheet, struct nnv_text *t);

/** The number at path "latency.p50"-like members, one after the other; NaN if there is none. NULL ends the members. */
double nnv_bench_number(const json_t *object, ...) __attribute__((sentinel));
/** Adds a time with its unit: "12.3 ms"; an en dash for NaN. */
void nnv_bench_add_time(struct nnv_text *t, double ns);
/** Adds what a file says, the beginning of it. */
void nnv_bench_add_text(struct nnv_text *t, const char *s);
/**
 * Adds what of the roof a network achieves on a driver, a row of a table with these heads; and its operations as an SVG
 * and a table, where they were timed.
 */
void nnv_bench_roofline_row(const struct nnv_bench_sheet *sheet, const struct nnv_bench_line *line, struct nnv_text *t);
void nnv_bench_roofline_operations(const struct nnv_bench_sheet *sheet, const struct nnv_bench_line *line,
                                   struct nnv_text *t);
extern const char *const nnv_roofline_heads[];
extern const char *const nnv_roofline_css;
/** Adds the distribution of a network's latencies, one row of bars for each driver, as an SVG. */
void nnv_bench_plot(const struct nnv_bench_sheet *sheet, uint32_t network, struct nnv_text *t);

#endif
