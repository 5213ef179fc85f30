/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/sensitivity.h"

#include <stdio.h>

#include "base/json_out.h"
#include "base/words.h"
#include "nnvts/result.h"
#include "reports/html/page.h"

static const char *const words[NNV_PLANTED_IN_COUNT] = {"one element", "one channel", "all"};

static const char *step_text(const struct nnv_sensitivity *s, int in, char buf[16]) {
    if (s->step[in])
        snprintf(buf, 16, "%u", s->step[in]);
    else
        snprintf(buf, 16, "-");
    return buf;
}

static void add_page_head(struct nnv_text *t) {
    nnv_text_add(
        t,
        "# How small an error the suite notices\n\n"
        "Written by `nnvts audit --sensitivity --markdown`. Golden answers of the cases that are judged by an error "
        "budget get an error\nplanted: in one element, in one channel (all elements of one last index), or in all; of "
        "element and channel those that are\njudged most leniently, so that the error is noticed wherever it is. The "
        "error grows until a verdict is FAIL: by units of\nthe type, or of floating point by doubled units in the last "
        "place (ULP). A row shows the case that notices the smallest one.\n`exact`: cases that must be answered "
        "exactly, which notice one unit. `-`: no value is compared by a budget, or nothing up\nto 2^20 was "
        "noticed.\n\n| operation | type | unit | one element | one channel | all | exact cases | case |\n"
        "|---|---|---|---:|---:|---:|---:|---|\n");
}

void nnv_sensitivity_text(const struct nnv_sensitivity_table *table, bool markdown, struct nnv_text *t) {
    char buf[NNV_PLANTED_IN_COUNT][16];
    if (markdown)
        add_page_head(t);
    else
        nnv_text_addf(t, "%-30s %-20s %-5s %11s %11s %8s %6s  %s\n", "operation", "type", "unit", words[0], words[1],
                      words[2], "exact", "case");
    for (size_t i = 0; i < table->count; i++) {
        const struct nnv_sensitivity *s = &table->row[i];
        nnv_text_addf(
            t, markdown ? "| %s | %s | %s | %s | %s | %s | %u | %s |\n" : "%-30s %-20s %-5s %11s %11s %8s %6u  %s\n",
            s->op, s->type, s->is_float ? "ULP" : "unit", step_text(s, 0, buf[0]), step_text(s, 1, buf[1]),
            step_text(s, 2, buf[2]), s->exact, s->best ? s->best : "-");
    }
    if (!markdown) nnv_text_addf(t, "%zu operations and types in %.1f s\n", table->count, table->seconds);
}

void nnv_sensitivity_json(const struct nnv_sensitivity_table *table, struct nnv_text *t) {
    static const char *const names[NNV_PLANTED_IN_COUNT] = {"element", "channel", "all"};
    struct nnv_json_out j = {.text = t, .spaced = true};
    nnv_json_open(&j, NULL, '{');
    nnv_json_double(&j, "seconds", table->seconds);
    nnv_json_open(&j, "rows", '[');
    for (size_t i = 0; i < table->count; i++) {
        const struct nnv_sensitivity *s = &table->row[i];
        j.line = "\n  ";
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "op", s->op);
        nnv_json_string(&j, "type", s->type);
        nnv_json_string(&j, "unit", s->is_float ? "ulp" : "unit");
        for (int in = 0; in < NNV_PLANTED_IN_COUNT; in++)
            if (s->step[in]) nnv_json_uint(&j, names[in], s->step[in]);
        nnv_json_uint(&j, "cases", s->cases);
        nnv_json_uint(&j, "exact", s->exact);
        nnv_json_string(&j, "case", s->best);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(t, "\n");
}

void nnv_sensitivity_html(const struct nnv_sensitivity_table *table, struct nnv_text *t) {
    static const char *const heads[] = {"operation",    "type", "unit", "#one element", "#one channel", "#all",
                                        "#exact cases", "case", NULL};
    char buf[16];
    nnv_page_begin(t, &(struct nnv_page){.title = "Sensitivity",
                                         .kicker = "nnvts " NNVTS_VERSION " \xc2\xb7 the judge judged",
                                         .heading = "The smallest errors that cases notice"});
    nnv_text_add(t, "</header>\n<main>\n<section>\n");
    nnv_page_table(t, heads);
    for (size_t i = 0; i < table->count; i++) {
        const struct nnv_sensitivity *s = &table->row[i];
        nnv_page_text(t, "<tr><th scope=\"row\">", s->op, "</th>");
        nnv_page_text(t, "<td>", s->type, "</td>");
        nnv_text_addf(t, "<td>%s</td>", s->is_float ? "ULP" : "unit");
        for (int in = 0; in < NNV_PLANTED_IN_COUNT; in++)
            nnv_text_addf(t, "<td class=\"n\">%s</td>", step_text(s, in, buf));
        nnv_text_addf(t, "<td class=\"n\">%u</td>", s->exact);
        nnv_page_text(t, "<td>", s->best ? s->best : "-", "</td></tr>\n");
    }
    nnv_page_table_end(t);
    nnv_text_add(t, "</section>\n");
    nnv_page_end(t, &(struct nnv_page){0});
}
