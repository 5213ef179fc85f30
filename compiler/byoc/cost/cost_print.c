/* SPDX-License-Identifier: Apache-2.0 */
/* What was chosen by cost, for programs and for people. */
#include <stdio.h>

#include "base/json_out.h"
#include "compiler/byoc/cost/cost.h"

/* -------------------------------------------------------------------------- JSON */

/* A member with six digits behind the point at most, the same on any machine. */
static void add(struct nnv_json_out *j, const char *name, double value) {
    char digits[64];
    int n = snprintf(digits, sizeof digits, "%.6f", value);
    while (n > 1 && digits[n - 1] == '0') n--;
    if (digits[n - 1] == '.') n--;
    nnv_json_raw(j, name, "%.*s", n, digits);
}

static void add_result(struct nnv_json_out *j, const struct nnv_cost_result *r) {
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "function", r->function);
    add(j, "us", r->us);
    add(j, "host_only_us", r->host_us);
    add(j, "lower_bound_us", r->lower_us);
    add(j, "gap", r->us > 0 ? (r->us - r->lower_us) / r->us : 0);
    add(j, "operations_us", r->operations_us);
    add(j, "launch_us", r->launch_us);
    add(j, "transfer_us", r->transfer_us);
    nnv_json_uint(j, "states", r->states);
    nnv_json_uint(j, "missing", r->missing);
    nnv_json_uint(j, "mixed", r->mixed);
    add(j, "noise_us", r->noise_us);
    add(j, "cheapest_us", r->least_us);
    j->line = "\n   ";
    nnv_json_open(j, "regions", '[');
    for (size_t i = 0; i < r->n_regions; i++) {
        j->line = "\n    ";
        nnv_json_open(j, NULL, '{');
        add(j, "us", r->regions[i].us);
        add(j, "host_us", r->regions[i].host_us);
        add(j, "saved_us", r->regions[i].saved_us);
        add(j, "break_even_launch_us", r->regions[i].break_even_us);
        nnv_json_bool(j, "measured_whole", r->regions[i].measured);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
    j->line = "\n   ";
    nnv_json_open(j, "if_supported", '[');
    for (size_t i = 0; i < r->n_gains; i++) {
        j->line = "\n    ";
        nnv_json_open(j, NULL, '{');
        nnv_json_string(j, "op", r->gains[i].op);
        nnv_json_uint(j, "calls", r->gains[i].calls);
        add(j, "gain_us", r->gains[i].us);
        nnv_json_bool(j, "proven", r->gains[i].proven);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
    nnv_json_close(j, '}');
}

void nnv_cost_print(const struct nnv_cost_selection *s, struct nnv_text *out) {
    double sum = 0, host = 0, lower = 0;
    struct nnv_json_out j = {.text = out, .spaced = true};
    for (size_t i = 0; i < s->n_results; i++) {
        sum += s->results[i].us;
        host += s->results[i].host_us;
        lower += s->results[i].lower_us;
    }
    nnv_json_open(&j, NULL, '{');
    nnv_json_string(&j, "method", nnv_cost_methods[s->method]);
    add(&j, "us", sum);
    add(&j, "host_only_us", host);
    add(&j, "lower_bound_us", lower);
    j.line = "\n  ";
    nnv_json_open(&j, "functions", '[');
    for (size_t i = 0; i < s->n_results; i++) {
        if (i) j.line = "\n   ";
        add_result(&j, &s->results[i]);
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(out, "\n");
}

/* ------------------------------------------------------------------------- lines */

static double gap_of(const struct nnv_cost_result *r) { return r->us > 0 ? 100 * (r->us - r->lower_us) / r->us : 0; }

void nnv_cost_table(const struct nnv_cost_selection *s, struct nnv_text *out) {
    for (size_t f = 0; f < s->n_results; f++) {
        const struct nnv_cost_result *r = &s->results[f];
        nnv_text_addf(out, "\ncost of @%s by %s: %.1f us (host alone %.1f us), at least %.1f us: gap %.2f %%\n",
                      r->function, nnv_cost_methods[s->method], r->us, r->host_us, r->lower_us, gap_of(r));
        nnv_text_addf(out, "  operations %.1f us, launches %.1f us, transfers %.1f us\n", r->operations_us,
                      r->launch_us, r->transfer_us);
        if (r->missing)
            nnv_text_addf(out, "  %zu operations are not in the profile: their times are the static model's\n",
                          r->missing);
        if (r->mixed)
            nnv_text_addf(out,
                          "  %zu operations were measured on the target alone: the static model's host beside them is "
                          "of another scale (profile with --host DRIVER)\n",
                          r->mixed);
        if (r->noise_us > 0) nnv_text_addf(out, "  the measurements may be wrong by %.1f us\n", r->noise_us);
        if (r->least_us < r->us)
            nnv_text_addf(
                out,
                "  the cheapest choice is %.1f us: no better beyond the noise, so that of the fewest regions is "
                "taken\n",
                r->least_us);
        for (size_t i = 0; i < r->n_regions; i++)
            nnv_text_addf(out,
                          "  region %zu: %.1f us%s (host %.1f us), saves %.1f us, pays up to a launch of %.1f us\n", i,
                          r->regions[i].us, r->regions[i].measured ? ", measured as a whole" : "",
                          r->regions[i].host_us, r->regions[i].saved_us, r->regions[i].break_even_us);
        for (size_t i = 0; i < r->n_gains; i++)
            nnv_text_addf(out, "  if %s (%zu calls) were supported: %s%.1f us less\n", r->gains[i].op,
                          r->gains[i].calls, r->gains[i].proven ? "" : "about ", r->gains[i].us);
    }
}
