/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/support/profiles.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "harness/datasheet/datasheet.h"
#include "harness/datasheet/support/draw.h"
#include "randgraph/single/layers.h"

static const struct nnv_profile profiles[] = {
#define LEVEL(N, ABOUT) {.name = "level-" #N, .about = ABOUT, .level = N},
#define SET(NAME, ABOUT, OPERATIONS, TYPES) {.name = NAME, .about = ABOUT, .operations = OPERATIONS, .types = TYPES},
#define LAYERS(NAME, ABOUT, LIST, TYPES) {.name = NAME, .about = ABOUT, .layers = LIST, .types = TYPES},
#include "harness/datasheet/support/profiles.def"
#undef LAYERS
#undef SET
#undef LEVEL
};

const struct nnv_profile *nnv_profiles(size_t *count) {
    *count = sizeof profiles / sizeof *profiles;
    return profiles;
}

const struct nnv_profile *nnv_profile_by_name(const char *name) {
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (strcmp(profiles[i].name, name) == 0) return &profiles[i];
    return NULL;
}

/** The word is in the list, or matches one of its patterns; NULL lists all. */
static bool lists(const char *list, const char *word) {
    char item[64];
    if (!list) return true;
    for (const char *at = list; *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        snprintf(item, sizeof item, "%.*s", (int)n, at);
        if (fnmatch(item, word, 0) == 0) return true;
        at += n;
    }
    return false;
}

/** The profile demands the layer of that number. */
static bool lists_layer(const struct nnv_profile *p, const struct nnv_op *op, size_t layer) {
    return lists(p->layers, nnv_layer_name(op, layer));
}

bool nnv_profile_demands(const struct nnv_profile *p, const struct nnv_op *op, int sig) {
    char types[96];
    if (p->level > 0 && op->sigs[sig].level > p->level) return false;
    if (!lists(p->operations, op->name) || !lists(p->types, nnv_single_sig_name(op, sig, types, sizeof types)))
        return false;
    bool any = p->layers == NULL;
    for (size_t i = 0; !any && i < nnv_layer_count(op); i++) any = lists_layer(p, op, i);
    return any;
}

/** Counts the models of the row that the profile demands, and those of them that are not supported. */
static void count(const struct nnv_profile *p, const struct nnv_sheet_row *r, const struct nnv_probe *probe,
                  struct nnv_sheet_miss *m) {
    const struct nnv_support *s = &r->support;
    for (uint32_t i = 0; i < s->first && i < NNV_SUPPORT_FIRST; i++) {
        const bool of_layer = p->layers && probe[i].what.plan == NNV_PLAN_LAYER &&
                              lists_layer(p, r->op, (size_t)(unsigned)probe[i].what.index);
        if (p->layers ? !of_layer : p->level > 0 && s->level[i] > p->level) continue;
        if (s->level[i] == 0) continue; /* it cannot be made */
        m->of++;
        m->models += s->answer[i] != NNV_SUPPORT_YES;
    }
    if (s->right < s->claimed) m->wrong = s->trouble;
    if (r->ended) m->wrong = r->ended;
}

static const struct nnv_sheet_row *row_of(const struct nnv_datasheet *sheet, const struct nnv_op *op, int sig) {
    for (size_t i = 0; i < sheet->rows; i++)
        if (sheet->row[i].op == op && sheet->row[i].sig == sig) return &sheet->row[i];
    return NULL;
}

static bool judge(const struct nnv_datasheet *sheet, struct nnv_probe *const *probes, struct nnv_sheet_profile *out,
                  struct nnv_arena *arena) {
    size_t all, room = 0;
    const struct nnv_op *const *ops = nnv_ops(&all);
    for (size_t i = 0; i < all; i++)
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            if (!nnv_profile_demands(out->is, ops[i], sig)) continue;
            const struct nnv_sheet_row *r = row_of(sheet, ops[i], sig);
            if (!r || r->unfinished) {
                out->unknown = true;
                continue;
            }
            struct nnv_sheet_miss m = {.row = (size_t)(r - sheet->row)};
            count(out->is, r, probes[m.row], &m);
            if (m.of == 0 && !r->ended) continue;
            out->pairs++;
            if (m.models == 0 && !m.wrong) continue;
            if (!nnv_grow(arena, &out->miss, out->misses, &room, sizeof *out->miss)) return false;
            out->miss[out->misses++] = m;
        }
    return true;
}

enum nnv_status nnv_sheet_judge_profiles(struct nnv_datasheet *sheet, struct nnv_arena *arena, struct nnv_err *err) {
    enum { PROFILES = sizeof profiles / sizeof *profiles };
    struct nnv_arena *work = nnv_arena_new();
    struct nnv_probe **probes = work ? NNV_NEW(work, struct nnv_probe *, sheet->rows) : NULL;
    sheet->profile = NNV_NEW(arena, struct nnv_sheet_profile, PROFILES);
    bool ok = probes && sheet->profile;
    for (size_t i = 0; ok && i < sheet->rows; i++) {
        const struct nnv_sheet_row *r = &sheet->row[i];
        probes[i] = NNV_NEW(work, struct nnv_probe, NNV_SUPPORT_FIRST);
        ok = probes[i] != NULL;
        if (ok) nnv_probes_first(r->op, r->sig, sheet->seed, probes[i], NNV_SUPPORT_FIRST);
    }
    for (size_t i = 0; ok && i < PROFILES; i++) {
        sheet->profile[i] = (struct nnv_sheet_profile){.is = &profiles[i]};
        ok = judge(sheet, probes, &sheet->profile[i], arena);
    }
    sheet->profiles = ok ? PROFILES : 0;
    nnv_arena_free(work);
    return ok ? NNV_OK : nnv_no_memory(err);
}

void nnv_sheet_tell_miss(const struct nnv_datasheet *sheet, const struct nnv_sheet_miss *m, struct nnv_text *t) {
    const struct nnv_sheet_row *r = &sheet->row[m->row];
    const struct nnv_support *s = &r->support;
    nnv_text_addf(t, "%s %s: ", r->op->name, r->types);
    if (r->ended)
        nnv_text_addf(t, "its process %s", r->ended);
    else if (m->models == 0)
        nnv_text_addf(t, "%u of %u results are wrong: %s", s->claimed - s->right, s->claimed, m->wrong);
    else if (s->yes + s->no == 0)
        nnv_text_add(t, s->broke > 0 ? "it answered no question" : "beyond its feature level");
    else if (s->yes == 0)
        nnv_text_add(t, "not supported");
    else
        nnv_text_addf(t, "%u of %u models are not supported", m->models, m->of);
    if (r->ended || m->models == 0 || s->yes == 0) return;
    for (const char *at = s->must, *between = "; needs "; *at; between = ", ") {
        const size_t n = strcspn(at, "\n");
        nnv_text_addf(t, "%s%.*s", between, (int)n, at);
        at += n + (at[n] == '\n');
    }
}
