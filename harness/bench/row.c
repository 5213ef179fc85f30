/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double nnv_bench_quantiles[NNV_BENCH_QUANTILES] = {0.50, 0.90, 0.97, 0.99};

void nnv_bench_row_count(struct nnv_bench_row *row) {
    const struct nnv_bench_result *m = &row->measured;
    double *sorted = m->count ? malloc(m->count * sizeof *sorted) : NULL;
    for (int q = 0; q < NNV_BENCH_QUANTILES; q++) row->quantile_ns[q] = (double)NAN;
    row->rate = (double)NAN;
    if (!sorted) return;
    memcpy(sorted, m->sample_ns, m->count * sizeof *sorted);
    nnv_sort(sorted, m->count);
    for (int q = 0; q < NNV_BENCH_QUANTILES; q++) {
        row->quantile_ns[q] = nnv_quantile(sorted, m->count, nnv_bench_quantiles[q]);
        row->interval_ns[q] = nnv_quantile_interval(sorted, m->count, nnv_bench_quantiles[q], 0.95);
    }
    row->rate = m->count / m->elapsed_ns * 1e9;
    free(sorted);
}

struct nnv_roofline nnv_bench_row_roofline(const struct nnv_bench_row *row) {
    return nnv_roofline_of(row->roof, &row->work, row->quantile_ns[NNV_BENCH_P50], row->interval_ns[NNV_BENCH_P50]);
}

static void fail_gate(struct nnv_bench_row *row, const char *text) {
    row->failed = true;
    snprintf(row->gate, sizeof row->gate, "%s", text);
}

void nnv_bench_row_gate(struct nnv_bench_row *row, const struct nnv_bench_row *first,
                        const struct nnv_bench_gates *gates) {
    char text[256];
    const struct nnv_accuracy *a = &row->accuracy;
    if (row->measured.state != NNV_BENCH_DONE && row->measured.state != NNV_BENCH_UNSUPPORTED) {
        snprintf(text, sizeof text, "%s: %.200s", nnv_bench_state_name(row->measured.state), row->measured.reason);
        fail_gate(row, text);
    } else if (row->measured.caches_answers) {
        snprintf(text, sizeof text,
                 "the same input again takes %.0f %% of the time of a new one: answers are remembered",
                 100 * row->measured.repeated_ns / row->measured.unique_ns);
        fail_gate(row, text);
    } else if (row->has_accuracy && row->accuracy_state != NNV_BENCH_DONE &&
               row->accuracy_state != NNV_BENCH_UNSUPPORTED) {
        snprintf(text, sizeof text, "accuracy: %.200s", row->accuracy_reason);
        fail_gate(row, text);
    } else if (row->has_accuracy && row->accuracy_state == NNV_BENCH_DONE && row->measured.checked > 0 &&
               !(row->measured.timed_error <= 2 * a->largest_error)) {
        snprintf(text, sizeof text,
                 "while it is timed its answers are up to %.3g from the reference's, at other times %.3g",
                 row->measured.timed_error, a->largest_error);
        fail_gate(row, text);
    } else if (row->has_accuracy && row->accuracy_state == NNV_BENCH_DONE && a->worse) {
        fail_gate(row, "its accuracy is worse than the reference's, and not by chance");
    } else if (gates->least_agreement > 0 && row->has_accuracy && row->accuracy_state == NNV_BENCH_DONE &&
               a->task == NNV_TASK_CLASSIFY && a->agree < gates->least_agreement * a->items) {
        snprintf(text, sizeof text, "it agrees with the reference on %.2f %% of the items, less than %.2f %%",
                 100.0 * a->agree / a->items, 100 * gates->least_agreement);
        fail_gate(row, text);
    } else if (gates->least_agreement > 0 && row->has_accuracy && row->accuracy_state == NNV_BENCH_DONE &&
               (double)a->found < gates->least_agreement * (double)a->boxes) {
        snprintf(text, sizeof text, "it finds %.2f %% of the reference's boxes, less than %.2f %%",
                 100.0 * (double)a->found / (double)a->boxes, 100 * gates->least_agreement);
        fail_gate(row, text);
    } else if (gates->most_ratio > 0 && first && row->measured.state == NNV_BENCH_DONE &&
               first->measured.state == NNV_BENCH_DONE &&
               row->quantile_ns[NNV_BENCH_P50] > gates->most_ratio * first->quantile_ns[NNV_BENCH_P50]) {
        snprintf(text, sizeof text, "its median latency is %.2f times that of %s, above %.2f",
                 row->quantile_ns[NNV_BENCH_P50] / first->quantile_ns[NNV_BENCH_P50], first->driver, gates->most_ratio);
        fail_gate(row, text);
    }
}

void nnv_bench_row_layers(struct nnv_bench_row *row, const struct nnv_layers *l) {
    char text[256];
    row->layers = nnv_layers_json(l);
    if (row->failed || (l->out_of_budget == 0 && !nnv_is_bad(l->found.signature.verdict))) return;
    if (l->out_of_budget)
        snprintf(text, sizeof text, "operation %u (%s) is the first of %u that are out of their budgets",
                 l->found.culprit, nnv_layers_name(l, l->found.culprit), l->out_of_budget);
    else
        snprintf(text, sizeof text, "with all results as outputs: %.200s", l->found.shown);
    fail_gate(row, text);
}

static json_t *quantiles_json(const struct nnv_bench_row *row) {
    static const char *const names[NNV_BENCH_QUANTILES] = {"p50", "p90", "p97", "p99"};
    json_t *all = json_object();
    for (int q = 0; q < NNV_BENCH_QUANTILES; q++)
        json_object_set_new(all, names[q],
                            json_pack("{s:o,s:o,s:o}", "ns", nnv_bench_number_json(row->quantile_ns[q]), "low_ns",
                                      nnv_bench_number_json(row->interval_ns[q].low), "high_ns",
                                      nnv_bench_number_json(row->interval_ns[q].high)));
    return all;
}

/** At most `most` samples, taken evenly in time. */
static json_t *samples_json(const struct nnv_bench_result *m, uint32_t most) {
    json_t *all = json_array();
    uint32_t n = m->count < most ? m->count : most;
    for (uint32_t i = 0; i < n; i++) json_array_append_new(all, json_real(m->sample_ns[(uint64_t)i * m->count / n]));
    return all;
}

static json_t *latency_json(const struct nnv_bench_row *row, uint32_t samples) {
    const struct nnv_bench_result *m = &row->measured;
    json_t *j = json_pack("{s:s,s:s,s:s,s:s}", "state", nnv_bench_state_name(m->state), "reason", m->reason, "device",
                          m->device, "version", m->version);
    if (!j || m->state != NNV_BENCH_DONE) return j;
    json_object_set_new(j, "compile_ns", nnv_bench_number_json(m->compile_ns));
    json_object_set_new(j, "compile_cached_ns", nnv_bench_number_json(m->compile_cached_ns));
    json_object_set_new(j, "first_ns", nnv_bench_number_json(m->first_ns));
    json_object_set_new(j, "warm_ups", json_integer(m->warm_ups));
    json_object_set_new(j, "steady", json_boolean(m->steady));
    json_object_set_new(j, "count", json_integer(m->count));
    json_object_set_new(j, "executions_per_second", nnv_bench_number_json(row->rate));
    json_object_set_new(j, "in_driver_ns", nnv_bench_number_json(m->in_driver_ns));
    json_object_set_new(j, "on_device_ns", nnv_bench_number_json(m->on_device_ns));
    json_object_set_new(j, "map_ns", nnv_bench_number_json(m->map_ns));
    json_object_set_new(j, "close_ns", nnv_bench_number_json(m->close_ns));
    json_object_set_new(j, "warm_ns", nnv_bench_number_json(m->warm_ns));
    json_object_set_new(j, "cold_ns", nnv_bench_number_json(m->cold_ns));
    json_object_set_new(j, "joules", nnv_bench_number_json(m->joules));
    json_object_set_new(j, "asked_rate", nnv_bench_number_json(m->asked_rate));
    json_object_set_new(j, "overrun", json_boolean(m->overrun));
    json_object_set_new(j, "unique_ns", nnv_bench_number_json(m->unique_ns));
    json_object_set_new(j, "repeated_ns", nnv_bench_number_json(m->repeated_ns));
    json_object_set_new(j, "caches_answers", json_boolean(m->caches_answers));
    json_object_set_new(j, "checked", json_integer(m->checked));
    json_object_set_new(j, "timed_error", nnv_bench_number_json(m->timed_error));
    json_object_set_new(j, "noise", nnv_bench_number_json(m->noise));
    json_object_set_new(j, "noisy", json_boolean(nnv_bench_noisy(m)));
    json_object_set_new(j, "peak_bytes", json_integer((json_int_t)m->peak_bytes));
    json_object_set_new(j, "quantiles", quantiles_json(row));
    if (row->roof) {
        const struct nnv_roofline line = nnv_bench_row_roofline(row);
        json_object_set_new(j, "roofline", nnv_roofline_json(row->roof, &row->work, &line));
    }
    json_object_set_new(j, "samples_ns", samples_json(m, samples));
    return j;
}

static json_t *quality_json(const struct nnv_accuracy *a, const struct nnv_quality *q) {
    switch (a->task) {
    case NNV_TASK_NONE:
        break;
    case NNV_TASK_CLASSIFY:
        return json_pack("{s:f,s:f}", "top1", (double)q->top1 / a->judged, "top5", (double)q->top5 / a->judged);
    case NNV_TASK_SPELL:
        return json_pack("{s:f}", "phone_error_rate", (double)q->edits / (double)a->phones);
    case NNV_TASK_RESTORE:
        return json_pack("{s:o}", "mean_square_error", nnv_bench_number_json(q->error));
    }
    return json_null();
}

static json_t *accuracy_json(const struct nnv_bench_row *row) {
    const struct nnv_accuracy *a = &row->accuracy;
    json_t *j =
        json_pack("{s:s,s:s}", "state", nnv_bench_state_name(row->accuracy_state), "reason", row->accuracy_reason);
    if (!j || row->accuracy_state != NNV_BENCH_DONE) return j;
    json_object_set_new(j, "items", json_integer(a->items));
    json_object_set_new(j, "judged", json_integer(a->judged));
    if (a->judged && (a->task != NNV_TASK_SPELL || a->phones)) {
        json_object_set_new(j, "reference", quality_json(a, &a->golden));
        json_object_set_new(j, "driver", quality_json(a, &a->driver));
    }
    if (a->task == NNV_TASK_CLASSIFY) {
        json_object_set_new(j, "agreement", nnv_bench_number_json((double)a->agree / a->items));
        json_object_set_new(j, "only_reference_right", json_integer(a->only_golden));
        json_object_set_new(j, "only_driver_right", json_integer(a->only_driver));
        json_object_set_new(j, "p", nnv_bench_number_json(a->p));
    }
    if (a->task == NNV_TASK_SPELL || a->task == NNV_TASK_RESTORE)
        json_object_set_new(j, "loss",
                            json_pack("{s:o,s:o}", "low", nnv_bench_number_json(a->loss.low), "high",
                                      nnv_bench_number_json(a->loss.high)));
    if (a->boxes + a->extra > 0)
        json_object_set_new(j, "boxes",
                            json_pack("{s:I,s:I,s:I,s:o,s:o}", "reference", (json_int_t)a->boxes, "found",
                                      (json_int_t)a->found, "extra", (json_int_t)a->extra, "share",
                                      nnv_bench_number_json((double)a->found / (double)a->boxes), "iou",
                                      nnv_bench_number_json(a->iou)));
    json_object_set_new(j, "largest_error", nnv_bench_number_json(a->largest_error));
    json_object_set_new(j, "psnr_db", nnv_bench_number_json(a->psnr));
    json_object_set_new(j, "other_engine_error", nnv_bench_number_json(a->other_error));
    if (a->other_items)
        json_object_set_new(j, "other_engine_agreement",
                            nnv_bench_number_json((double)a->other_agree / a->other_items));
    json_object_set_new(j, "worse", json_boolean(a->worse));
    return j;
}

json_t *nnv_bench_row_json(const struct nnv_bench_row *row, uint32_t samples) {
    json_t *j = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:s}", "network", row->network, "origin", row->origin, "data",
                          row->data, "driver", row->driver, "scenario", row->scenario, "mode", row->mode, "failed",
                          (int)row->failed, "gate", row->gate);
    if (j) json_object_set_new(j, "work", nnv_work_json(&row->work));
    if (j && row->has_latency) json_object_set_new(j, "latency", latency_json(row, samples));
    if (j && row->has_accuracy) json_object_set_new(j, "accuracy", accuracy_json(row));
    if (j && row->layers) json_object_set(j, "layers", row->layers);
    return j;
}

/* ------------------------------------------------------------------------- CSV */

/** A number, or nothing where there is none. */
static void add_field(struct nnv_text *t, const char *format, double v) NNV_PRINTF(2, 0);
static void add_field(struct nnv_text *t, const char *format, double v) {
    char text[400];
    snprintf(text, sizeof text, format, v);
    nnv_text_addf(t, ",%s", isfinite(v) ? text : "");
}

/** In quotes, those within doubled. */
static void add_quoted(struct nnv_text *t, const char *s) {
    nnv_text_add(t, "\"");
    for (; *s; s++) nnv_text_addf(t, *s == '"' ? "\"%c" : "%c", *s);
    nnv_text_add(t, "\"");
}

static void add_csv_row(struct nnv_text *t, const struct nnv_bench_row *r) {
    const struct nnv_accuracy *a = &r->accuracy;
    const struct nnv_bench_result *m = &r->measured;
    const bool done = r->has_latency && m->state == NNV_BENCH_DONE;
    const bool judged = r->has_accuracy && r->accuracy_state == NNV_BENCH_DONE;
    const bool classes = judged && a->task == NNV_TASK_CLASSIFY;
    const double none = (double)NAN, n = classes && a->judged ? a->judged : none;
    add_quoted(t, r->network);
    nnv_text_add(t, ",");
    add_quoted(t, r->driver);
    nnv_text_addf(t, ",%s", nnv_bench_state_name(r->has_latency ? m->state : r->accuracy_state));
    add_field(t, "%.0f", done ? m->compile_ns : none);
    add_field(t, "%.0f", done ? m->first_ns : none);
    for (int q = 0; q < NNV_BENCH_QUANTILES; q++) add_field(t, "%.0f", r->quantile_ns[q]);
    add_field(t, "%.3f", r->rate);
    add_field(t, "%.0f", done ? (double)m->peak_bytes : none);
    add_field(t, "%.6f", a->driver.top1 / n);
    add_field(t, "%.6f", a->golden.top1 / n);
    add_field(t, "%.6f", classes ? (double)a->agree / a->items : none);
    add_field(t, "%.9g", judged ? a->largest_error : none);
    nnv_text_addf(t, ",%d\n", (int)r->failed);
}

void nnv_bench_csv(const struct nnv_bench_row *rows, size_t count, struct nnv_text *out) {
    nnv_text_add(out, "network,driver,state,compile_ns,first_ns,p50_ns,p90_ns,p97_ns,p99_ns,per_second,peak_bytes,"
                      "top1,reference_top1,agreement,largest_error,failed\n");
    for (size_t i = 0; i < count; i++) add_csv_row(out, &rows[i]);
}
