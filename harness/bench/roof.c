/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/roof.h"

#include <math.h>
#include <stdio.h>

void nnv_roof_measure(struct nnv_roof *roof) {
    *roof = (struct nnv_roof){.known = true, .peak = nnv_peak_measure(), .levels = NNV_ROOF_LEVELS};
    size_t bytes = 32 << 10; /* to 128 MiB */
    for (int i = 0; i < roof->levels; i++, bytes *= 4) {
        roof->level[i].bytes = (double)bytes;
        roof->level[i].rate = nnv_peak_triad(bytes);
    }
}

enum nnv_status nnv_roof_state(const char *text, struct nnv_roof *roof, struct nnv_err *err) {
    double peak, rate;
    char rest;
    if (sscanf(text, "%lf,%lf%c", &peak, &rate, &rest) != 2 || !(peak > 0 && rate > 0) || !isfinite(peak + rate))
        return nnv_fail(err, NNV_INVALID, "%s: expected GFLOPS,GBPS, two numbers above 0", text);
    *roof = (struct nnv_roof){
        .known = true, .stated = true, .peak = {peak, peak}, .levels = 1, .level = {{.bytes = 0, .rate = rate}}};
    return NNV_OK;
}

double nnv_roof_peak(const struct nnv_roof *roof, int32_t type) {
    if (!roof->known) return (double)NAN;
    return nnv_is_quant(type) && nnv_type(type)->size == 1 ? roof->peak.int8 : roof->peak.float32;
}

double nnv_roof_bandwidth(const struct nnv_roof *roof, double bytes) {
    if (!roof->known) return (double)NAN;
    int i = 0;
    while (i < roof->levels - 1 && !(bytes <= roof->level[i].bytes)) i++;
    return roof->level[i].rate;
}

double nnv_roof_ns(const struct nnv_roof *roof, const struct nnv_op_work *work) {
    const double arithmetic = work->operations > 0 ? work->operations / nnv_roof_peak(roof, work->type) : 0;
    const double memory = work->bytes / nnv_roof_bandwidth(roof, work->bytes);
    return isnan(work->operations + arithmetic + memory) ? (double)NAN : fmax(arithmetic, memory);
}

/** x a nanosecond; what a sample can't bound is not known. */
static double rate(double x, double ns) { return ns > 0 && isfinite(ns) ? x / ns : (double)NAN; }
/** The longest time is the lowest rate. */
static struct nnv_interval rates(double x, struct nnv_interval ns) {
    return (struct nnv_interval){rate(x, ns.high), rate(x, ns.low)};
}

struct nnv_roofline nnv_roofline_of(const struct nnv_roof *roof, const struct nnv_op_work *work, double ns,
                                    struct nnv_interval in) {
    const double least = 100 * nnv_roof_ns(roof, work);
    return (struct nnv_roofline){.ns = ns,
                                 .gops = rate(work->operations, ns),
                                 .gbytes = rate(work->bytes, ns),
                                 .percent = rate(least, ns),
                                 .ns_in = in,
                                 .gops_in = rates(work->operations, in),
                                 .gbytes_in = rates(work->bytes, in),
                                 .percent_in = rates(least, in)};
}

/* ------------------------------------------------------------------------- JSON */

json_t *nnv_bench_number_json(double v) { return isfinite(v) ? json_real(v) : json_null(); }

static json_t *with_interval(double v, struct nnv_interval in) {
    return json_pack("{s:o,s:o,s:o}", "median", nnv_bench_number_json(v), "low", nnv_bench_number_json(in.low), "high",
                     nnv_bench_number_json(in.high));
}

json_t *nnv_roof_json(const struct nnv_roof *roof) {
    json_t *levels = json_array();
    for (int i = 0; i < roof->levels; i++)
        json_array_append_new(levels, json_pack("{s:o,s:o}", "bytes", nnv_bench_number_json(roof->level[i].bytes),
                                                "gbytes_per_second", nnv_bench_number_json(roof->level[i].rate)));
    return json_pack("{s:b,s:o,s:o,s:o}", "stated", (int)roof->stated, "float32_gops",
                     nnv_bench_number_json(roof->peak.float32), "int8_gops", nnv_bench_number_json(roof->peak.int8),
                     "bandwidth", levels);
}

json_t *nnv_work_json(const struct nnv_op_work *work) {
    return json_pack("{s:o,s:o,s:o}", "operations", nnv_bench_number_json(work->operations), "bytes",
                     nnv_bench_number_json(work->bytes), "intensity",
                     nnv_bench_number_json(work->operations / work->bytes));
}

json_t *nnv_roofline_json(const struct nnv_roof *roof, const struct nnv_op_work *work,
                          const struct nnv_roofline *line) {
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "peak_gops", nnv_bench_number_json(nnv_roof_peak(roof, work->type)), "ns",
                     with_interval(line->ns, line->ns_in), "gops", with_interval(line->gops, line->gops_in),
                     "gbytes_per_second", with_interval(line->gbytes, line->gbytes_in), "percent",
                     with_interval(line->percent, line->percent_in));
}
