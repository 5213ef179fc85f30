/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/models/bench_show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/** "12.3 ms": three digits with a unit. buf holds 24. */
const char *nnv_bench_duration(double ns, int digits, char *buf) {
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int u = 0;
    if (!isfinite(ns)) return "-";
    while (fabs(ns) >= 1000 && u < 3) ns /= 1000, u++;
    snprintf(buf, NNV_BENCH_DURATION, "%.*f %s", digits - (fabs(ns) < 10 ? 1 : fabs(ns) < 100 ? 2 : 3), ns, units[u]);
    return buf;
}

void nnv_bench_show_latency(const struct nnv_bench_row *r) {
    char a[24], b[24], c[24], d[24], e[24], f[24];
    const struct nnv_bench_result *m = &r->measured;
    if (m->state != NNV_BENCH_DONE) {
        printf("  %-16s %s: %s\n", r->driver, nnv_bench_state_name(m->state), m->reason);
        return;
    }
    printf("  %-16s p50 %s [%s, %s]  p90 %s  p99 %s  %.1f/s\n", r->driver,
           nnv_bench_duration(r->quantile_ns[NNV_BENCH_P50], 3, a),
           nnv_bench_duration(r->interval_ns[NNV_BENCH_P50].low, 3, b),
           nnv_bench_duration(r->interval_ns[NNV_BENCH_P50].high, 3, c),
           nnv_bench_duration(r->quantile_ns[NNV_BENCH_P90], 3, d),
           nnv_bench_duration(r->quantile_ns[NNV_BENCH_P99], 3, e), r->rate);
    printf("  %-16s compile %s (from cache %s)  first %s  in driver %s  peak %.1f MB  %" PRIu32 " samples%s%s\n", "",
           nnv_bench_duration(m->compile_ns, 3, a), nnv_bench_duration(m->compile_cached_ns, 3, b),
           nnv_bench_duration(m->first_ns, 3, c), nnv_bench_duration(m->in_driver_ns, 3, d),
           (double)m->peak_bytes / 1e6, m->count, m->steady ? "" : "  not steady",
           nnv_bench_noisy(m) ? "  NOISY MACHINE: read these as bounds" : "");
    printf("  %-16s warm %s, cold %s  memory %s  close %s", "", nnv_bench_duration(m->warm_ns, 3, a),
           nnv_bench_duration(m->cold_ns, 3, b), nnv_bench_duration(m->map_ns, 3, c),
           nnv_bench_duration(m->close_ns, 3, d));
    if (isfinite(m->joules)) printf("  %.3g J an execution", m->joules);
    if (isfinite(m->asked_rate)) printf("  %.1f arrivals/s", m->asked_rate);
    puts("");
    if (m->overrun)
        printf(
            "  %-16s OVERRUN: %.1f arrivals a second are more than it could serve; latencies are those of the queue\n",
            "", m->asked_rate);
    if (m->caches_answers)
        printf("  %-16s new inputs %s, the same again %s\n", "", nnv_bench_duration(m->unique_ns, 3, e),
               nnv_bench_duration(m->repeated_ns, 3, f));
}

void nnv_bench_show_accuracy(const struct nnv_bench_row *r) {
    const struct nnv_accuracy *a = &r->accuracy;
    if (!r->has_accuracy) return;
    if (r->accuracy_state != NNV_BENCH_DONE) {
        printf("  %-16s accuracy: %s: %s\n", "", nnv_bench_state_name(r->accuracy_state), r->accuracy_reason);
        return;
    }
    printf("  %-16s ", "");
    if (a->task == NNV_TASK_CLASSIFY && a->judged)
        printf("top-1 %.2f %% (reference %.2f %%)  top-5 %.2f %%  p %.3g  ", 100.0 * a->driver.top1 / a->judged,
               100.0 * a->golden.top1 / a->judged, 100.0 * a->driver.top5 / a->judged, a->p);
    if (a->task == NNV_TASK_CLASSIFY) printf("agrees on %.2f %%  ", 100.0 * a->agree / a->items);
    if (a->task == NNV_TASK_SPELL && a->phones)
        printf("phone error rate %.2f %% (reference %.2f %%)  ", 100.0 * (double)a->driver.edits / (double)a->phones,
               100.0 * (double)a->golden.edits / (double)a->phones);
    if (a->task == NNV_TASK_RESTORE && a->judged)
        printf("mean square error %.4g (reference %.4g)  ", a->driver.error, a->golden.error);
    if (a->boxes)
        printf("finds %.2f %% of %" PRIu64 " boxes, %" PRIu64 " others, mean IoU %.3f  ",
               100.0 * (double)a->found / (double)a->boxes, a->boxes, a->extra, a->iou);
    printf("largest error %.3g ", a->largest_error);
    if (r->measured.checked) printf("(%.3g in %u timed) ", r->measured.timed_error, r->measured.checked);
    printf(" %u items%s\n", a->items, a->worse ? "  WORSE than the reference" : "");
}

void nnv_bench_show_roof(const struct nnv_roof *r) {
    printf("roof, %s: %.4g Gop/s float32, %.4g Gop/s int8;", r->stated ? "stated" : "measured on one processor",
           r->peak.float32, r->peak.int8);
    for (int i = 0; i < r->levels; i++) {
        printf("%s %.3g GB/s", i ? "," : "", r->level[i].rate);
        if (i < r->levels - 1) printf(" to %.0f KiB", r->level[i].bytes / 1024);
    }
    puts("");
}

/** A number, and where it lies at 95 %; nothing of an end that too few samples do not tell. */
static void print_rate(double v, const char *unit, struct nnv_interval in) {
    printf("  %.3g %s", v, unit);
    if (isfinite(in.low) && isfinite(in.high)) printf(" [%.3g, %.3g]", in.low, in.high);
}

static void print_line(const struct nnv_roofline *l, const struct nnv_op_work *w) {
    print_rate(l->gops, "Gop/s", l->gops_in);
    print_rate(l->gbytes, "GB/s", l->gbytes_in);
    printf("  %.3g op/B", w->operations / w->bytes);
    if (isfinite(l->percent)) print_rate(l->percent, "% of the roof", l->percent_in);
    puts("");
}

void nnv_bench_show_roofline(const struct nnv_bench_row *r) {
    if (r->measured.state != NNV_BENCH_DONE) return;
    const struct nnv_roofline line = nnv_bench_row_roofline(r);
    printf("  %-16s", "");
    print_line(&line, &r->work);
}

static void print_slowest(const struct nnv_layers *l) {
    enum { TOLD = 12 };
    char result[320], a[24], b[24], c[24];
    if (!l->timed) return;
    printf("  %-16s each operation as a model of its own: %u of %u timed, the slowest:\n", "", l->timed_count,
           l->count);
    for (uint32_t i = 0; i < l->timed_count && i < TOLD; i++) {
        const uint32_t k = l->slowest[i];
        const struct nnv_roofline *line = &l->line[k];
        printf("  %-16s   %4u %-24s %-28s %s [%s, %s]", "", k, nnv_layers_name(l, k),
               nnv_layers_result(l, k, result, sizeof result), nnv_bench_duration(line->ns, 3, a),
               nnv_bench_duration(line->ns_in.low, 3, b), nnv_bench_duration(line->ns_in.high, 3, c));
        print_line(line, &l->work[k]);
    }
}

void nnv_bench_show_layers(const struct nnv_layers *l) {
    enum { TOLD = 5 };
    char result[320];
    printf("  %-16s operation by operation: %u judged, %u out of budget\n", "", l->judged, l->out_of_budget);
    if (*l->found.shown)
        printf("  %-16s   with all results as outputs: %s; each was judged as a model of its own\n", "",
               l->found.shown);
    for (uint32_t i = 0; i < l->judged && i < TOLD; i++) {
        uint32_t k = l->worst[i];
        const struct nnv_step *s = &l->found.step[k];
        const char mark = s->kind != NNV_STEP_WRONG ? ' ' : k == l->found.culprit ? '>' : '!';
        printf("  %-16s %c %4u %-24s %-28s error %-9.3g", "", mark, k, nnv_layers_name(l, k),
               nnv_layers_result(l, k, result, sizeof result), s->error);
        if (s->kind == NNV_STEP_WRONG)
            printf(" %zu of %zu values wrong%s%s\n", s->wrong, s->compared, *s->note ? ": " : "", s->note);
        else
            printf(" %.2g of the budget\n", s->ratio);
    }
    print_slowest(l);
}
