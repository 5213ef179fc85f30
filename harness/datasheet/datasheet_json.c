/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/json_out.h"
#include "harness/datasheet/datasheet.h"

static void add_conditions(struct nnv_json_out *j, const char *must) {
    nnv_json_open(j, "conditions", '[');
    for (const char *at = must; *at;) {
        struct nnv_text line = {0};
        const size_t n = strcspn(at, "\n");
        nnv_text_add_n(&line, at, n);
        nnv_json_string(j, NULL, line.data);
        j->text->failed = j->text->failed || line.failed;
        nnv_text_free(&line);
        at += n + (at[n] == '\n');
    }
    nnv_json_close(j, ']');
}

static void add_row(struct nnv_json_out *j, const struct nnv_sheet_row *r) {
    const struct nnv_support *s = &r->support;
    j->line = "\n    ";
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "operation", r->op->name);
    nnv_json_string(j, "types", r->types);
    nnv_json_string(j, "supported", nnv_sheet_support(s));
    add_conditions(j, s->must);
    char answers[NNV_SUPPORT_PROBES + 1];
    nnv_sheet_answers(s, answers);
    nnv_json_string(j, "answers", answers);
    nnv_json_uint(j, "asked", s->asked);
    nnv_json_uint(j, "yes", s->yes);
    nnv_json_uint(j, "no", s->no);
    nnv_json_uint(j, "broken", s->broke);
    nnv_json_uint(j, "died", s->died);
    nnv_json_uint(j, "unexplained", s->unexplained);
    nnv_json_uint(j, "verified", s->yes_yes + s->yes_no + s->no_yes + s->no_no);
    nnv_json_double(j, "precision", nnv_sheet_precision(s));
    nnv_json_double(j, "recall", nnv_sheet_recall(s));
    nnv_json_uint(j, "computed", s->claimed);
    nnv_json_uint(j, "right", s->right);
    nnv_json_uint(j, "wrong", s->wrong);
    nnv_json_uint(j, "unprepared", s->unprepared);
    if (*s->trouble) nnv_json_string(j, "trouble", s->trouble);
    if (r->ended) nnv_json_string(j, "ended", r->ended);
    if (r->unfinished) nnv_json_bool(j, "unfinished", true);
    nnv_json_close(j, '}');
}

static void add_profiles(struct nnv_json_out *j, const struct nnv_datasheet *sheet) {
    j->line = "\n  ";
    nnv_json_open(j, "profiles", '[');
    for (size_t i = 0; i < sheet->profiles; i++) {
        const struct nnv_sheet_profile *p = &sheet->profile[i];
        if (p->unknown) continue;
        j->line = "\n    ";
        nnv_json_open(j, NULL, '{');
        nnv_json_string(j, "name", p->is->name);
        nnv_json_string(j, "about", p->is->about);
        nnv_json_bool(j, "met", p->misses == 0);
        nnv_json_uint(j, "pairs", p->pairs);
        nnv_json_open(j, "missed", '[');
        for (size_t k = 0; k < p->misses; k++) {
            const struct nnv_sheet_miss *m = &p->miss[k];
            const struct nnv_sheet_row *r = &sheet->row[m->row];
            nnv_json_open(j, NULL, '{');
            nnv_json_string(j, "operation", r->op->name);
            nnv_json_string(j, "types", r->types);
            nnv_json_uint(j, "models", m->models);
            nnv_json_uint(j, "of", m->of);
            if (m->wrong) nnv_json_string(j, "wrong", m->wrong);
            if (m->models > 0) add_conditions(j, r->support.must);
            nnv_json_close(j, '}');
        }
        nnv_json_close(j, ']');
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
}

static void add_cliffs(struct nnv_json_out *j, const struct nnv_cliffs *c) {
    static const char *const kinds[] = {"support", "compile", "values", "dies", "time", "growth"};
    j->line = "\n  ";
    nnv_json_open(j, "cliffs", '[');
    for (uint32_t i = 0; i < c->count; i++) {
        const struct nnv_cliff *k = &c->item[i];
        j->line = "\n    ";
        nnv_json_open(j, NULL, '{');
        nnv_json_string(j, "about", k->about);
        nnv_json_string(j, "axis", k->axis);
        nnv_json_string(j, "kind", kinds[k->kind]);
        nnv_json_raw(j, "last", "%d", k->last);
        nnv_json_raw(j, "first", "%d", k->first);
        if (k->kind == NNV_CLIFF_TIME || k->kind == NNV_CLIFF_GROWTH) nnv_json_double(j, "factor", k->factor);
        if (k->sampled) nnv_json_uint(j, "sampled", k->sampled);
        nnv_json_string(j, "seen", k->words);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
    j->line = "\n  ";
    nnv_json_uint(j, "axes", c->done);
    nnv_json_uint(j, "sampled_axes", c->sampled);
    nnv_json_uint(j, "probes", c->probes);
}

static void add_interval(struct nnv_json_out *j, const char *name, double v, struct nnv_interval in) {
    nnv_json_open(j, name, '{');
    nnv_json_double(j, "median", v);
    nnv_json_double(j, "low", in.low);
    nnv_json_double(j, "high", in.high);
    nnv_json_close(j, '}');
}

static void add_speeds(struct nnv_json_out *j, const struct nnv_speeds *s) {
    j->line = "\n  ";
    nnv_json_open(j, "speed", '[');
    for (size_t i = 0; i < s->count; i++) {
        const struct nnv_speed *k = &s->item[i];
        j->line = "\n    ";
        nnv_json_open(j, NULL, '{');
        nnv_json_string(j, "about", k->about);
        nnv_json_string(j, "model", k->model);
        nnv_json_double(j, "operations", k->work.operations);
        nnv_json_double(j, "bytes", k->work.bytes);
        add_interval(j, "ns", k->line.ns, k->line.ns_in);
        add_interval(j, "gops", k->line.gops, k->line.gops_in);
        add_interval(j, "gbytes_per_second", k->line.gbytes, k->line.gbytes_in);
        add_interval(j, "percent", k->line.percent, k->line.percent_in);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
}

void nnv_datasheet_json(const struct nnv_datasheet *sheet, struct nnv_text *t) {
    struct nnv_json_out j = {.text = t, .spaced = true, .line = ""};
    nnv_json_open(&j, NULL, '{');
    j.line = "\n  ";
    nnv_json_open(&j, "driver", '{');
    nnv_json_string(&j, "argument", sheet->argument);
    nnv_json_string(&j, "name", sheet->driver.name);
    nnv_json_string(&j, "version", sheet->driver.version);
    nnv_json_string(&j, "type", sheet->driver.type);
    nnv_json_raw(&j, "level", "%d", sheet->driver.level);
    nnv_json_close(&j, '}');
    j.line = "\n  ";
    nnv_json_uint(&j, "seed", sheet->seed);
    j.line = "\n  ";
    nnv_json_open(&j, "support", '[');
    for (size_t i = 0; i < sheet->rows; i++) add_row(&j, &sheet->row[i]);
    nnv_json_close(&j, ']');
    add_profiles(&j, sheet);
    j.line = "\n  ";
    nnv_json_open(&j, "numeric", '[');
    for (uint32_t i = 0; i < sheet->numeric.count; i++) {
        const struct nnv_numeric_fact *f = &sheet->numeric.fact[i];
        j.line = "\n    ";
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "about", f->about);
        nnv_json_string(&j, "what", f->what);
        nnv_json_string(&j, "is", f->is);
        nnv_json_string(&j, "evidence", f->evidence);
        if (f->finding) nnv_json_bool(&j, "finding", true);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    j.line = "\n  ";
    nnv_json_string(&j, "arithmetic", sheet->arithmetic);
    if (sheet->cliffs) add_cliffs(&j, sheet->cliffs);
    if (sheet->speeds) add_speeds(&j, sheet->speeds);
    if (sheet->against) {
        j.line = "\n  ";
        nnv_json_open(&j, "changes", '[');
        for (size_t i = 0; i < sheet->changes; i++) {
            j.line = "\n    ";
            nnv_json_open(&j, NULL, '{');
            nnv_json_string(&j, "about", sheet->change[i].about);
            nnv_json_string(&j, "change", sheet->change[i].text);
            nnv_json_bool(&j, "breaks", sheet->change[i].breaks);
            nnv_json_close(&j, '}');
        }
        nnv_json_close(&j, ']');
    }
    nnv_json_close(&j, '}');
    nnv_text_add(t, "\n");
}
