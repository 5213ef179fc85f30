/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/fuzz/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/graph/graph.h"
#include "randgraph/single/single.h"

const struct nnv_fuzz_kind_info nnv_fuzz_kinds[NNV_FUZZ_KINDS] = {
#define X(name, text, indices, value, draws) [NNV_FUZZ_##name] = {text, indices, value, draws},
#include "harness/fuzz/mutations.def"
#undef X
};

/* ----------------------------------------------------------------- drawing */

static uint32_t below(struct nnv_rng *rng, size_t n) { return (uint32_t)(nnv_rng_u64(rng) % n); }
static bool one_in(struct nnv_rng *rng, unsigned n) { return below(rng, n) == 0; }

struct nnv_fuzz_base nnv_fuzz_draw_base(struct nnv_rng *rng, const struct nnv_op *op) {
    static const enum nnv_fill_mode modes[] = {NNV_FILL_NORMAL, NNV_FILL_EDGE, NNV_FILL_ZERO};
    struct nnv_fuzz_base b = {.index = (int)below(rng, 64), .seed = 1 + below(rng, 1 << 16)};
    if (op == NULL && one_in(rng, 16)) {
        b.profile = &nnv_graph_profiles[below(rng, nnv_graph_profile_count)];
        return b;
    }
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    b.op = op != NULL ? op : ops[below(rng, n)];
    b.sig = (int)below(rng, (size_t)b.op->nsigs);
    b.variant = (int)below(rng, (size_t)nnv_single_variants(b.op));
    b.mode = modes[one_in(rng, 4) ? 1 + below(rng, 2) : 0];
    if (!nnv_single_has(b.op, b.sig, b.mode)) b.mode = NNV_FILL_NORMAL;
    return b;
}

static uint32_t draw_float(struct nnv_rng *rng) {
    static const uint32_t bits[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                    0x7fc00000, 0x7f7fffff, 0xff7fffff, 1,          0x00800000, 0x3f000000};
    return one_in(rng, 8) ? (uint32_t)nnv_rng_u64(rng) : bits[below(rng, sizeof bits / sizeof *bits)];
}

static uint32_t draw_word(struct nnv_rng *rng) {
    static const uint32_t ends[] = {
        0,       1,      2,     UINT32_MAX, UINT32_MAX - 1, INT32_MAX,    0x80000000, 0x80000001, 0x40000000,
        0x10000, 0xffff, 0x100, 0xff,       0x80,           (uint32_t)-3, 0x7ffffffe, 0xfffffffc, 0x20000000};
    if (one_in(rng, 3)) return below(rng, 16);
    return one_in(rng, 10) ? (uint32_t)nnv_rng_u64(rng) : ends[below(rng, sizeof ends / sizeof *ends)];
}

static uint32_t draw_value(struct nnv_rng *rng, enum nnv_fuzz_draw draw) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    switch (draw) {
    case NNV_DRAW_NONE:
        return 0;
    case NNV_DRAW_INDEX:
        return one_in(rng, 6) ? draw_word(rng) : below(rng, 8);
    case NNV_DRAW_COUNT:
        return one_in(rng, 8) ? below(rng, NNV_FUZZ_COUNT_MAX) : below(rng, 18);
    case NNV_DRAW_WORD:
        return draw_word(rng);
    case NNV_DRAW_FLOAT:
        return draw_float(rng);
    case NNV_DRAW_TYPE:
        return one_in(rng, 8) ? draw_word(rng) : below(rng, NNV_TYPE_COUNT + 1);
    case NNV_DRAW_CODE:
        return one_in(rng, 4) ? draw_word(rng) : (uint32_t)ops[below(rng, n)]->code;
    }
    return 0;
}

void nnv_fuzz_draw_mutations(struct nnv_rng *rng, struct nnv_fuzz_input *input) {
    do {
        if (input->count == NNV_FUZZ_MUTATIONS_MAX) return;
        struct nnv_fuzz_mutation m = {.kind = (enum nnv_fuzz_kind)below(rng, NNV_FUZZ_KINDS)};
        const struct nnv_fuzz_kind_info *info = &nnv_fuzz_kinds[m.kind];
        for (int i = 0; i < info->indices; i++) m.at[i] = below(rng, 16);
        if (info->indices > 1 && one_in(rng, 2)) m.at[0] = 0;
        if (info->value) m.value = draw_value(rng, info->draw);
        input->mutation[input->count++] = m;
    } while (one_in(rng, 2));
}

enum nnv_status nnv_fuzz_base_build(const struct nnv_fuzz_base *b, struct nnv_arena *arena, struct nnv_spec **spec,
                                    struct nnv_err *err) {
    if (b->op == NULL) {
        struct nnv_graph_options options = {
            .profile = b->profile, .operations = 3, .seed = b->seed, .index = (uint64_t)b->index, .name = "fuzz"};
        return nnv_graph_build(&options, arena, spec, err);
    }
    struct nnv_single single = {.op = b->op,
                                .sig = b->sig,
                                .variant = b->variant,
                                .index = b->index,
                                .mode = b->mode,
                                .seed = b->seed,
                                .name = "fuzz"};
    return nnv_single_build(&single, arena, spec, err);
}

/* -------------------------------------------------------------------- text */

void nnv_fuzz_print(struct nnv_text *t, const struct nnv_fuzz_input *input) {
    const struct nnv_fuzz_base *b = &input->base;
    if (b->op == NULL)
        nnv_text_addf(t, "base network %s index %d seed %" PRIu64 "\n", b->profile->name, b->index, b->seed);
    else
        nnv_text_addf(t, "base operation %s sig %d variant %d mode %s index %d seed %" PRIu64 "\n", b->op->name, b->sig,
                      b->variant, b->mode == NNV_FILL_NORMAL ? "normal" : nnv_fill_mode_name(b->mode), b->index,
                      b->seed);
    for (uint32_t i = 0; i < input->count; i++) {
        const struct nnv_fuzz_mutation *m = &input->mutation[i];
        const struct nnv_fuzz_kind_info *info = &nnv_fuzz_kinds[m->kind];
        nnv_text_add(t, info->name);
        for (int k = 0; k < info->indices; k++) nnv_text_addf(t, " %" PRIu32, m->at[k]);
        if (info->value) nnv_text_addf(t, " %" PRIu32, m->value);
        nnv_text_add(t, "\n");
    }
}

static enum nnv_status parse_base(const char *line, struct nnv_fuzz_base *b, struct nnv_err *err) {
    char name[64], mode[16];
    int end = -1;
    *b = (struct nnv_fuzz_base){0};
    if (sscanf(line, "base network %63s index %9d seed %" SCNu64 "%n", name, &b->index, &b->seed, &end) == 3 &&
        line[end] == '\0') {
        b->profile = nnv_graph_profile_by_name(name);
        if (b->profile != NULL && b->index >= 0) return NNV_OK;
        return nnv_fail(err, NNV_INVALID, "there are no networks '%s' with index %d", name, b->index);
    }
    end = -1;
    if (sscanf(line, "base operation %63s sig %9d variant %9d mode %15s index %9d seed %" SCNu64 "%n", name, &b->sig,
               &b->variant, mode, &b->index, &b->seed, &end) != 6 ||
        line[end] != '\0')
        return nnv_fail(err, NNV_INVALID,
                        "expected 'base operation NAME sig N variant N mode NAME index N seed N' or 'base network NAME "
                        "index N seed N'");
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(ops[i]->name, name) == 0) b->op = ops[i];
    b->mode = NNV_FILL_COUNT;
    for (int m = 0; m < NNV_FILL_COUNT; m++)
        if (strcmp(mode, m == NNV_FILL_NORMAL ? "normal" : nnv_fill_mode_name((enum nnv_fill_mode)m)) == 0)
            b->mode = (enum nnv_fill_mode)m;
    if (b->op == NULL) return nnv_fail(err, NNV_INVALID, "there is no operation '%s' (see them with nnvts op)", name);
    if (b->mode == NNV_FILL_COUNT || b->sig < 0 || b->sig >= b->op->nsigs || b->variant < 0 || b->index < 0 ||
        b->variant >= nnv_single_variants(b->op) || !nnv_single_has(b->op, b->sig, b->mode))
        return nnv_fail(err, NNV_INVALID, "%s has no such cases: sig %d of %d, variant %d of %d, mode %s, index %d",
                        name, b->sig, b->op->nsigs, b->variant, nnv_single_variants(b->op), mode, b->index);
    return NNV_OK;
}

/** Reads a decimal number of 32 bits behind a space. */
static bool take_number(const char **at, uint32_t *value) {
    if (**at != ' ' || (*at)[1] < '0' || (*at)[1] > '9') return false;
    char *end;
    unsigned long long v = strtoull(*at + 1, &end, 10);
    *at = end;
    *value = (uint32_t)v;
    return v <= UINT32_MAX;
}

static enum nnv_status parse_mutation(const char *line, struct nnv_fuzz_mutation *m, struct nnv_err *err) {
    size_t len = strcspn(line, " ");
    *m = (struct nnv_fuzz_mutation){.kind = NNV_FUZZ_KINDS};
    for (int k = 0; k < NNV_FUZZ_KINDS; k++)
        if (strlen(nnv_fuzz_kinds[k].name) == len && strncmp(nnv_fuzz_kinds[k].name, line, len) == 0)
            m->kind = (enum nnv_fuzz_kind)k;
    if (m->kind == NNV_FUZZ_KINDS)
        return nnv_fail(err, NNV_INVALID, "unknown mutation '%.*s' (docs/use/fuzzing.md lists them)", (int)len, line);
    const struct nnv_fuzz_kind_info *info = &nnv_fuzz_kinds[m->kind];
    const char *at = line + len;
    bool ok = true;
    for (int i = 0; i < info->indices && ok; i++) ok = take_number(&at, &m->at[i]);
    if (ok && info->value) ok = take_number(&at, &m->value);
    if (ok && *at == '\0') return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "'%s' takes %d numbers of 32 bits", info->name, info->indices + info->value);
}

/** One line, without its end. */
static enum nnv_status parse_line(const char *line, struct nnv_fuzz_input **inputs, size_t *count,
                                  struct nnv_err *err) {
    if (*line == '\0' || *line == '#') return NNV_OK;
    if (strncmp(line, "base ", 5) == 0) {
        struct nnv_fuzz_input *grown = realloc(*inputs, (*count + 1) * sizeof *grown);
        if (grown == NULL) return nnv_no_memory(err);
        *inputs = grown;
        grown[*count] = (struct nnv_fuzz_input){0};
        return parse_base(line, &grown[(*count)++].base, err);
    }
    if (*count == 0) return nnv_fail(err, NNV_INVALID, "a mutation stands before the first 'base'");
    struct nnv_fuzz_input *last = &(*inputs)[*count - 1];
    if (last->count == NNV_FUZZ_MUTATIONS_MAX)
        return nnv_fail(err, NNV_INVALID, "more than %d mutations", NNV_FUZZ_MUTATIONS_MAX);
    return parse_mutation(line, &last->mutation[last->count++], err);
}

enum nnv_status nnv_fuzz_parse(const char *text, const char *where, struct nnv_fuzz_input **inputs, size_t *count,
                               struct nnv_err *err) {
    struct nnv_fuzz_input *list = NULL;
    size_t n = 0, number = 0;
    enum nnv_status st = NNV_OK;
    for (const char *at = text; *at != '\0' && st == NNV_OK;) {
        size_t len = strcspn(at, "\n");
        char line[256];
        number++;
        if (len < sizeof line || *at == '#') {
            snprintf(line, sizeof line, "%.*s", (int)(len < sizeof line ? len : 1), at);
            st = parse_line(line, &list, &n, err);
        } else {
            st = nnv_fail(err, NNV_INVALID, "the line is longer than %zu characters", sizeof line - 1);
        }
        at += len + (at[len] == '\n');
    }
    if (st != NNV_OK) st = nnv_at(err, st, "%s:%zu", where, number);
    if (st == NNV_OK && n == 0) st = nnv_fail(err, NNV_INVALID, "%s: it holds no input (a line 'base ...')", where);
    if (st != NNV_OK) {
        free(list);
        return st;
    }
    *inputs = list;
    *count = n;
    return NNV_OK;
}
