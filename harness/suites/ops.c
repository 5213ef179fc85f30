/* SPDX-License-Identifier: Apache-2.0 */
/** @file ops.c Suite `ops`: every operation with every type, variant and kind of values that its record has. */
#include "harness/suites/suites.h"

#include "base/text.h"
#include "randgraph/single/cover.h"
#include "randgraph/single/single.h"
#include "harness/suites/kit/cases.h"

/*
 * How many cases a tier takes. An operation has combinations of signature and variant, from 6 to some 200: each gets
 * its share of the budget, within bounds. thin: where there are more than that many combinations, exact, edge and
 * zero-sized cases stand only at every second one.
 */
struct tier {
    int budget, least, most; /* of a combination: normal cases */
    int special;             /* of a combination: exact, edge and zero-sized ones, each */
    int sweep;               /* of a signature */
    int refused;             /* of a signature */
    int thin;
    int stride;                  /* combinations from one normal case to the next */
    bool large;                  /* the case of a large tensor is that of all signatures, not of one */
    int planned[NNV_PLAN_COUNT]; /* a signature gets each so many-th case of a plan; 0: none */
};
static const struct tier tiers[] = {
    {.budget = 1,
     .least = 1,
     .most = 1,
     .special = 1,
     .sweep = 1,
     .refused = 1,
     .thin = 0,
     .stride = 3,
     .planned = {[NNV_PLAN_COVER] = 20, [NNV_PLAN_SCALES] = 60, [NNV_PLAN_CONSTANTS] = 40}},
    {.budget = 160,
     .least = 3,
     .most = 8,
     .special = 2,
     .sweep = 8,
     .refused = 30,
     .thin = 40,
     .stride = 1,
     .planned = {[NNV_PLAN_COVER] = 1,
                 [NNV_PLAN_SIZE] = 2,
                 [NNV_PLAN_WIDTH] = 2,
                 [NNV_PLAN_LAYER] = 1,
                 [NNV_PLAN_LARGE] = 1,
                 [NNV_PLAN_INPUTS] = 5,
                 [NNV_PLAN_SCALES] = 1,
                 [NNV_PLAN_CONSTANTS] = 2}},
    {.budget = 800,
     .least = 15,
     .most = 40,
     .special = 6,
     .sweep = 8,
     .refused = 36,
     .thin = 1000,
     .stride = 1,
     .planned = {[NNV_PLAN_COVER] = 1,
                 [NNV_PLAN_SIZE] = 1,
                 [NNV_PLAN_WIDTH] = 1,
                 [NNV_PLAN_LAYER] = 1,
                 [NNV_PLAN_NETWORK] = 1,
                 [NNV_PLAN_LARGE] = 1,
                 [NNV_PLAN_HUGE] = 1,
                 [NNV_PLAN_INPUTS] = 1,
                 [NNV_PLAN_SCALES] = 1,
                 [NNV_PLAN_CONSTANTS] = 1},
     .large = true},
};

/* What nnv_case.a and .b hold. */
static uint64_t pack(const struct nnv_single *w) {
    return (uint64_t)w->sig << 40 | (uint64_t)w->variant << 24 | (uint64_t)w->plan << 16 | (uint64_t)w->mode << 8 |
           (uint64_t)w->relaxed;
}

static struct nnv_single unpack(const struct nnv_run_config *config, const struct nnv_case *c) {
    return (struct nnv_single){.op = c->data,
                               .sig = (int)(c->a >> 40),
                               .variant = (int)(c->a >> 24 & 0xffff),
                               .plan = (enum nnv_plan)(c->a >> 16 & 0xff),
                               .mode = (enum nnv_fill_mode)(c->a >> 8 & 0xff),
                               .relaxed = c->a & 1,
                               .index = (int)c->b,
                               .seed = config->seed,
                               .name = c->name};
}

/* The case is one of the signature as a whole, not of a variant. */
static bool of_signature(const struct nnv_single *w) {
    return w->mode == NNV_FILL_SWEEP || w->mode == NNV_FILL_REFUSED ||
           (w->mode == NNV_FILL_LIMITS && nnv_single_is_elementwise(w->op));
}

/** The list on its way: words that many cases share are put together once. */
struct listing {
    struct nnv_case_list *list;
    const struct tier *tier;
    const char *sig; /**< name of the signature whose cases are added */
    struct nnv_text name, tags;
};

static void add_all_words(struct nnv_text *t, const char *const words[], size_t n) {
    for (size_t i = 0; i < n; i++) nnv_text_add(t, words[i]);
}

static enum nnv_status add(struct listing *l, const struct nnv_single *w, struct nnv_err *err) {
    char room[96];
    const char *mode = nnv_fill_mode_name(w->mode), *plan = nnv_plan_name(w->plan);
    const bool sweep = of_signature(w);
    const char *const name[] = {"ops/",
                                w->op->name,
                                "/",
                                l->sig,
                                w->relaxed ? "_relaxed" : "",
                                "/",
                                sweep ? "" : nnv_single_variant_name(w, room, sizeof room),
                                mode[0] && !sweep ? "_" : "",
                                mode,
                                "/"};
    const char *const tags[] = {plan, *plan && *mode ? " " : "", w->relaxed ? "relaxed" : mode};
    nnv_text_clear(&l->name);
    add_all_words(&l->name, name, sizeof name / sizeof *name);
    nnv_text_add_uint(&l->name, (unsigned)w->index);
    nnv_text_clear(&l->tags);
    add_all_words(&l->tags, tags, sizeof tags / sizeof *tags);
    if (l->name.failed || l->tags.failed) return nnv_no_memory(err);
    const struct nnv_case c = {.op = w->op->name,
                               .type = nnv_type(w->op->sigs[w->sig].type[NNV_T])->tag,
                               .tags = l->tags.data,
                               .a = pack(w),
                               .b = (uint64_t)w->index,
                               .data = w->op};
    return nnv_list_named(l->list, c, l->name.data, err);
}

static int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

/* Lines along the last axis, blocks along the first, all alike; limits that begin at other places, or in other layouts.
 */
enum { KINDS_OF_LINES = 3, TURNS_OF_LIMITS = 3 };

/* Cases of mistakes that a signature has: as many as the tier says, and all signatures together have each mistake. */
static int refused_of(const struct tier *t, const struct nnv_op *op) {
    const int least = t->budget > 1 ? NNV_REFUSED_GROUPS * (NNV_REFUSED_KINDS - NNV_REFUSED_STEP * (op->nsigs - 1)) : 0;
    return least > t->refused ? least : t->refused;
}

static int count_of(const struct tier *t, const struct nnv_single *w) {
    int combinations = w->op->nsigs * nnv_single_variants(w->op), place = w->sig + w->variant;
    if (!nnv_single_has(w->op, w->sig, w->mode)) return 0;
    switch (w->mode) {
    case NNV_FILL_SWEEP:
        return w->variant == 0 ? clamp(nnv_single_sweep_cases(w->op, w->sig), 0, t->sweep) : 0;
    case NNV_FILL_LIMITS:
        if (of_signature(w) && t->thin > 0) return w->variant == 0 ? TURNS_OF_LIMITS : 0;
        return of_signature(w) ? w->variant == 0 : (place + 1) % t->stride == 0;
    case NNV_FILL_NORMAL:
        return place % t->stride == 0 ? clamp(t->budget / combinations, t->least, t->most) : 0;
    case NNV_FILL_EXACT:
    case NNV_FILL_EDGE:
    case NNV_FILL_ZERO:
        if (combinations <= t->thin) return t->special;
        return (place + (int)w->mode) % (2 * t->stride) == 0 ? (t->special + 1) / 2 : 0;
    case NNV_FILL_LINES:
    case NNV_FILL_HIGH:
        if (combinations <= t->thin) return KINDS_OF_LINES;
        return (place + (int)w->mode) % (2 * t->stride) == 0;
    case NNV_FILL_RAMP:
    case NNV_FILL_IMPULSE:
        return place % (w->op->nsigs < 4 ? 3 : 5) == (int)w->mode % 3 ? 1 : 0;
    case NNV_FILL_REFUSED:
        return w->variant == 0 ? refused_of(t, w->op) : 0;
    case NNV_FILL_COUNT:
        break;
    }
    return 0;
}

/* The signature that has the huge case: the first whose elements take four bytes. */
static int huge_sig(const struct nnv_op *op) {
    for (int sig = 0; sig < op->nsigs; sig++)
        if (nnv_type(op->sigs[sig].type[NNV_T])->size == 4) return sig;
    return 0;
}

/* A large tensor costs about what it costs to write it. */
static bool is_light(const struct nnv_op *op) {
    return nnv_single_is_elementwise(op) || op->moves || op->forms->nin == 1;
}

/* Whether the case is none of a large tensor, or its signature has one: each of a light operation, else one; of many
 * rows one; the commonest, and every second of those with a filter, those of many places, too. */
static bool has_large(const struct tier *t, const struct nnv_single *w) {
    const int32_t type = w->op->sigs[w->sig].type[NNV_T];
    const bool common = type == ANEURALNETWORKS_TENSOR_FLOAT32 || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    const bool chosen = w->sig == w->op->code % w->op->nsigs;
    if (w->plan != NNV_PLAN_LARGE || t->large || chosen) return true;
    switch (nnv_cover_large_kind(w->op, (size_t)(unsigned)w->index)) {
    case NNV_LARGE_ROWS:
        return is_light(w->op) && nnv_cover_has_large(w->op, NNV_LARGE_PLACES);
    case NNV_LARGE_PLACES:
        return is_light(w->op) || (common && nnv_single_is_first(w->op, w->sig)) ||
               (nnv_op_uses(w->op, NNV_W) && w->sig % 2 == 0);
    case NNV_LARGE_ELEMENTS:
    case NNV_LARGE_KINDS:
        break;
    }
    return is_light(w->op);
}

/* From one case of a plan to the next of the same signature: not more than there are signatures, so that one has it. */
static int step_of(const struct tier *t, const struct nnv_single *w) {
    if (w->plan == NNV_PLAN_HUGE && w->sig != huge_sig(w->op)) return 0;
    const int step = t->planned[w->plan];
    return w->plan == NNV_PLAN_SIZE && step > w->op->nsigs ? w->op->nsigs : step;
}

/* Each unusual size for which is_of holds, with values of the mode. */
static enum nnv_status add_sizes(struct listing *l, struct nnv_single w, enum nnv_fill_mode mode,
                                 bool (*is_of)(const struct nnv_single *w), struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    w.plan = NNV_PLAN_SIZE;
    w.mode = mode;
    const bool has = step_of(l->tier, &w) > 0 && nnv_single_has(w.op, w.sig, w.mode);
    for (w.index = 0; !st && has && w.index < nnv_single_planned(w.op, w.sig, w.plan); w.index++)
        if (is_of(&w)) st = add(l, &w, err);
    return st;
}

/* Long sums of large numbers of one sign, in types that they may leave. */
static bool has_long_sums(const struct nnv_single *w) {
    return nnv_type(w->op->sigs[w->sig].type[NNV_T])->size < sizeof(float) && nnv_single_has_long_sums(w);
}

/* The planned cases of one operation and signature. */
static enum nnv_status add_planned(struct listing *l, struct nnv_single w, struct nnv_err *err) {
    for (w.plan = NNV_PLAN_COVER; w.plan < NNV_PLAN_COUNT; w.plan++) {
        const int step = step_of(l->tier, &w), n = step ? nnv_single_planned(w.op, w.sig, w.plan) : 0;
        for (w.index = 0; w.index < n; w.index++) {
            const bool taken = w.index % step == w.sig % step || (l->tier->thin > 0 && nnv_single_has_long_line(&w));
            enum nnv_status st = taken && has_large(l->tier, &w) ? add(l, &w, err) : NNV_OK;
            if (st) return st;
        }
    }
    const enum nnv_status st = add_sizes(l, w, NNV_FILL_HIGH, has_long_sums, err);
    return st ? st : add_sizes(l, w, NNV_FILL_LINES, nnv_single_has_uneven_lines, err);
}

/* All cases of one operation, signature, variant and mode. */
static enum nnv_status add_all(struct listing *l, struct nnv_single w, struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    int n = count_of(l->tier, &w);
    for (w.index = 0; !st && w.index < n; w.index++) st = add(l, &w, err);
    bool relaxed = w.mode == NNV_FILL_NORMAL && w.variant % 3 == 1 && nnv_single_relaxable(w.op, w.sig);
    w.relaxed = true;
    for (w.index = 0; !st && relaxed && w.index < n; w.index++) st = add(l, &w, err);
    return st;
}

static enum nnv_status list_op(struct listing *l, const struct nnv_op *op, struct nnv_err *err) {
    char name[96];
    for (int sig = 0; sig < op->nsigs; sig++) {
        l->sig = nnv_single_sig_name(op, sig, name, sizeof name);
        for (int variant = 0, n = nnv_single_variants(op); variant < n; variant++)
            for (int mode = 0; mode < NNV_FILL_COUNT; mode++) {
                struct nnv_single w = {.op = op, .sig = sig, .variant = variant, .mode = (enum nnv_fill_mode)mode};
                enum nnv_status st = add_all(l, w, err);
                if (st) return st;
            }
        enum nnv_status st = add_planned(l, (struct nnv_single){.op = op, .sig = sig}, err);
        if (st) return st;
    }
    return NNV_OK;
}

static enum nnv_status list_ops(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    enum nnv_status st = NNV_OK;
    struct listing l = {.list = list, .tier = &tiers[nnv_tier(config)]};
    for (size_t i = 0; !st && i < n; i++) st = list_op(&l, ops[i], err);
    nnv_text_free(&l.name);
    nnv_text_free(&l.tags);
    return st;
}

static enum nnv_status build_op(const struct nnv_run_config *config, const struct nnv_case *c, struct nnv_arena *arena,
                                struct nnv_spec **spec, struct nnv_err *err) {
    struct nnv_single w = unpack(config, c);
    return nnv_single_build(&w, arena, spec, err);
}

const struct nnv_suite nnv_suite_ops = {
    .name = "ops",
    .summary = "single operations, every type and variant, judged by an error budget for each element",
    .precision = NNV_PRECISION_BUDGET,
    .by_default = true,
    .list = list_ops,
    .build = build_op,
};
