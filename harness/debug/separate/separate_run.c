/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/separate/separate_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "harness/debug/separate/attributes.h"
#include "reference/model/op.h"

enum {
    FAILING = 160,   /* cases of a cause that are looked at, at most */
    EXCEPTIONS = 20, /* one passing case in which a mistake would show for so many failing ones refutes nothing */
    LEAST = 2,       /* failing ones without which nothing is said */
    ASKED = 96,      /* passing cases that are asked whether a mistake would show in them, of each cause */
    HELD = 3,        /* one case in so many is held: conditions are not learnt from it */
    SHARES = 12,     /* the work left is for so many causes, or for all if they are fewer */
    CASE = 4096,     /* the work of making a case, beside that of its values: bytes */
    WORK = 1 << 26   /* in all: two seconds or so */
};

/** What the comparison of one cause knows. */
struct comparing {
    const struct nnv_report *r;
    const struct nnv_run_cases *cases;
    const struct nnv_case **case_of; /* of each case of the report; NULL: it is not in the list */
    struct nnv_rng rng;              /* which cases are looked at first */
    struct nnv_arena *kept, *work;   /* kept: of one cause; work: of one case */
    size_t *failing, *passing;       /* cases of the report */
    size_t nfailing, npassing;
    const struct nnv_showing *showing; /* NULL: mistakes are not looked at */
    struct nnv_observation *seen;
    bool *shows;                   /* of each that is seen: it passes, and the mistake would show */
    size_t nseen, asked, drawn[2]; /* drawn: passing and failing ones */
    uint64_t left; /* work, in bytes of values: it is counted, not timed, so that each machine says the same */
};

/** The work of making a case: its values, and the golden ones. */
static uint64_t work_of(const struct nnv_spec *spec) {
    uint64_t bytes = CASE;
    for (uint32_t i = 0; spec && i < spec->model.main.nin; i++) bytes += spec->inputs[i].bytes;
    for (uint32_t i = 0; spec && i < spec->model.main.noperands; i++) bytes += spec->model.main.operands[i].bytes;
    for (uint32_t i = 0; spec && spec->outputs && i < spec->model.main.nout; i++) bytes += spec->outputs[i].bytes;
    return bytes;
}

bool nnv_is_telling(const struct nnv_spec *spec) {
    const struct nnv_subgraph *main = &spec->model.main;
    bool empty = spec->expect_failure;
    for (uint32_t i = 0; i < main->nin; i++)
        for (uint32_t d = 0; spec->inputs && !spec->inputs[i].omitted && d < spec->inputs[i].rank; d++)
            empty = empty || spec->inputs[i].dims[d] == 0;
    return !empty;
}

static void spend(struct comparing *x, uint64_t work) { x->left -= work < x->left ? work : x->left; }

/** Makes the case again; a case that has no spec has the attributes of its name. False when out of memory. */
static bool look(struct comparing *x, size_t i, bool failed, const struct nnv_separation *cause, int32_t op) {
    const struct nnv_case *c = x->case_of[i];
    const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
    struct nnv_spec *spec = NULL;
    struct nnv_err ignored = {0};
    size_t n;
    nnv_arena_reset(x->work);
    if (!suite || !suite->build || suite->build(x->cases->config, c, x->work, &spec, &ignored) != NNV_OK) spec = NULL;
    spend(x, work_of(spec));
    if (spec && !failed && !nnv_is_telling(spec)) return true;
    const struct nnv_attribute *a = nnv_attributes(c, spec, op, x->work, &n);
    const struct nnv_attribute *item = a ? nnv_attributes_keep(a, n, x->kept) : NULL;
    if (!item) return false;
    const bool ask = spec && !failed && cause->mistake && x->showing && x->asked < ASKED;
    x->asked += ask;
    x->shows[x->nseen] = ask && x->showing->shows(x->showing->context, c, spec, cause->mistake);
    x->seen[x->nseen++] = (struct nnv_observation){failed, x->drawn[failed]++ % HELD == HELD - 1, item, n};
    return true;
}

/* ----------------------------------------------------------------- kinds of steps */

/** Cases of one kind of steps: "exec/fenced/signalled_after", or "exec/again" of all operations. */
struct steps {
    const char *name;
    size_t length, failing, passing;
};

enum { STEPS = 64, STEPS_TOLD = 6 };

/** So much of a case's name tells its kind of steps: three parts, or two where an operation follows. */
static size_t length_of_steps(const char *name) {
    enum { PARTS = 3, NAME = 64 };
    size_t length = 0;
    for (int part = 0; part < PARTS && name[length]; part++) {
        const size_t more = strcspn(name + length, "/");
        char op[NAME];
        snprintf(op, sizeof op, "%.*s", (int)more, name + length);
        if (part == PARTS - 1 && nnv_op_by_name(op)) return length - 1;
        length += more + (part < PARTS - 1);
    }
    return length;
}

/** Counts a case of a suite that goes by steps; false: there are too many kinds. */
static bool count_steps(struct steps *list, size_t *n, const char *name, bool failed) {
    const size_t length = length_of_steps(name);
    size_t i = 0;
    while (i < *n && (list[i].length != length || strncmp(list[i].name, name, length) != 0)) i++;
    if (i == STEPS) return false;
    if (i == *n) list[(*n)++] = (struct steps){.name = name, .length = length};
    list[i].failing += failed;
    list[i].passing += !failed;
    return true;
}

/** Says in which kinds of steps all failures are, where these are few, and most of their cases fail. False: no memory.
 */
static bool find_steps(const struct comparing *x, struct nnv_where *where, struct nnv_arena *arena) {
    struct steps list[STEPS];
    size_t n = 0, kinds = 0, passing = 0, told = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < x->nfailing; i++) ok = count_steps(list, &n, x->r->item[x->failing[i]].name, true);
    for (size_t i = 0; ok && i < x->npassing; i++) ok = count_steps(list, &n, x->r->item[x->passing[i]].name, false);
    for (size_t i = 0; i < n; i++) {
        kinds += list[i].failing > 0;
        passing += list[i].failing > 0 ? list[i].passing : 0;
    }
    if (!ok || kinds == 0 || kinds > STEPS_TOLD || 2 * kinds > n || passing > x->nfailing) return true;
    const char **steps = NNV_NEW(arena, const char *, kinds);
    for (size_t i = 0; steps && i < n; i++) {
        if (list[i].failing == 0) continue;
        steps[told] = nnv_arena_printf(arena, "%.*s", (int)list[i].length, list[i].name);
        if (!steps[told++]) return false;
    }
    *where = (struct nnv_where){.kind = NNV_WHERE_STEPS, .steps = steps, .count = told};
    return steps != NULL;
}

/* -------------------------------------------------------------------- comparing */

enum { FAMILIES = 3 };

/** Cases of one suite, operation and family of types have the same number. */
static size_t kind_of(const struct nnv_report *r, const struct nnv_report_case *c) {
    const char *type = r->types.key[c->type];
    const size_t family = strncmp(type, "float", 5) == 0 ? 0 : strncmp(type, "quant", 5) == 0 ? 1 : 2;
    return ((size_t)c->suite * r->ops.count + c->op) * FAMILIES + family;
}

/** Lists the cause's failing cases, and the passing ones of the same kinds; of steps, of the suite. False: no memory.
 */
static bool gather(struct comparing *x, const uint32_t *of, uint32_t cause, bool steps) {
    const struct nnv_report *r = x->r;
    bool *alike = calloc(r->ops.count * r->suites.count * FAMILIES + 1, sizeof *alike), values = false;
    if (!alike) return false;
    x->nfailing = x->npassing = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (of[i] != cause || !x->case_of[i]) continue;
        values = values || r->item[i].values;
        x->failing[x->nfailing++] = i;
        alike[kind_of(r, &r->item[i])] = true;
        for (size_t k = 0; steps && k < r->ops.count * FAMILIES; k++)
            alike[(size_t)r->item[i].suite * r->ops.count * FAMILIES + k] = true;
    }
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        if (c->verdict != NNVTS_PASS || !x->case_of[i] || !alike[kind_of(r, c)]) continue;
        if (c->values || !values) x->passing[x->npassing++] = i; /* no values compared: none can be wrong */
    }
    free(alike);
    return true;
}

static void shuffle(size_t *list, size_t n, struct nnv_rng *rng) {
    for (size_t i = n; i > 1; i--) {
        const size_t k = (size_t)nnv_rng_int(rng, 0, (int64_t)i - 1);
        const size_t kept = list[k];
        list[k] = list[i - 1];
        list[i - 1] = kept;
    }
}

/** Keeps the failing cases, and the passing ones in which the mistake would show. */
static void keep_showing(struct comparing *x) {
    size_t n = 0;
    for (size_t i = 0; i < x->nseen; i++)
        if (x->seen[i].failed || x->shows[i]) x->seen[n++] = x->seen[i];
    x->nseen = n;
}

/** Says what separates the cases that were seen. False: no memory. */
static bool tell(struct comparing *x, struct nnv_separation *cause, bool all, struct nnv_arena *arena) {
    struct nnv_where *where = &cause->where;
    size_t showing = 0;
    for (size_t i = 0; i < x->nseen; i++) showing += x->shows[i];
    const bool contrary = EXCEPTIONS * showing > x->drawn[true];
    if (contrary) keep_showing(x);
    bool ok = nnv_separate(x->seen, x->nseen,
                           contrary ? NNV_SHOWING_CASES
                           : all    ? NNV_ALL_CASES
                                    : NNV_SOME_CASES,
                           arena, &where->cases);
    if (where->cases.terms > 0)
        where->kind = NNV_WHERE_CONDITION;
    else if (contrary)
        cause->refuted = true;
    else if (cause->steps)
        ok = ok && find_steps(x, where, arena);
    if (where->kind == NNV_WHERE_UNKNOWN && !contrary && x->nfailing >= LEAST && 3 * x->npassing <= 2 * x->nfailing)
        *where = (struct nnv_where){.kind = NNV_WHERE_NEARLY, .part = x->nfailing, .whole = x->nfailing + x->npassing};
    return ok;
}

/** Looks at cases until the work is done, a failing and some passing ones in turn, and says what separates them. */
static enum nnv_status compare(struct comparing *x, struct nnv_separation *cause, uint64_t keep,
                               struct nnv_arena *arena, struct nnv_err *err) {
    const struct nnv_op *op = *cause->op ? nnv_op_by_name(cause->op) : NULL;
    size_t failing = 0, passing = 0;
    bool ok = true;
    x->nseen = x->asked = x->drawn[0] = x->drawn[1] = 0;
    nnv_arena_reset(x->kept);
    if (x->nfailing < LEAST && !cause->mistake) return NNV_OK;
    if (x->npassing == 0) {
        if (x->nfailing >= LEAST) cause->where = (struct nnv_where){.kind = NNV_WHERE_ALL, .whole = x->nfailing};
        return NNV_OK;
    }
    x->seen = NNV_NEW(x->kept, struct nnv_observation, NNV_OBSERVATIONS);
    x->shows = NNV_NEW(x->kept, bool, NNV_OBSERVATIONS);
    if (!x->seen || !x->shows) return nnv_no_memory(err);
    while (ok && x->nseen < NNV_OBSERVATIONS && x->left > keep) {
        const bool more = failing < x->nfailing && failing < FAILING;
        if (!more && passing == x->npassing) break;
        if (more && (passing == x->npassing || 2 * failing <= passing))
            ok = look(x, x->failing[failing++], true, cause, op ? op->code : 0);
        else
            ok = look(x, x->passing[passing++], false, cause, op ? op->code : 0);
    }
    const bool all = failing == x->nfailing && passing == x->npassing;
    return ok && tell(x, cause, all, arena) ? NNV_OK : nnv_no_memory(err);
}

/* --------------------------------------------------------------------- together */

/** The condition of cases that a cause has; NULL: none. */
static const struct nnv_case_condition *condition_of(const struct nnv_separation *c) {
    return c->where.kind == NNV_WHERE_CONDITION ? &c->where.cases : NULL;
}

/** True if the cause's condition is about the quantity that `like` is about: both bound it. */
static bool is_about(const struct nnv_separation *c, const struct nnv_case_condition *like) {
    const struct nnv_case_condition *own = condition_of(c);
    return own && nnv_conditions_bound_the_same(own, like);
}

/** It holds for all failures, and for hardly any case that passes. */
static bool is_clean(const struct nnv_case_condition *c) {
    enum { EXCEPTIONS_OF = 10 };
    return c->failed == c->failures && EXCEPTIONS_OF * c->passed <= c->failed + c->passed;
}

/** Causes that may be one: wrong values that nothing explains, of one operation each. */
static bool may_be_shared(const struct nnv_separation *c) { return !c->known && !c->steps && !c->mistake && *c->op; }

/**
 * Operations whose conditions are about one quantity, with bounds of their own, and, if `more`, others of which too few
 * cases fail for a condition: what holds for all their failing cases together, if it is about that quantity, too, is
 * the condition of each; *told then.
 */
static enum nnv_status compare_together(struct comparing *x, const uint32_t *of, struct nnv_separation *causes,
                                        uint32_t count, const struct nnv_case_condition *like, bool more, bool *told,
                                        struct nnv_arena *arena, struct nnv_err *err) {
    struct nnv_separation all = {.op = ""};
    uint32_t *pooled = malloc((x->r->count + 1) * sizeof *pooled);
    bool *chosen = calloc((size_t)count + 1, sizeof *chosen), *shown = calloc((size_t)count + 1, sizeof *shown);
    enum nnv_status st = pooled && chosen && shown ? NNV_OK : nnv_no_memory(err);
    for (uint32_t i = 0; st == NNV_OK && i < count; i++)
        chosen[i] =
            may_be_shared(&causes[i]) && (is_about(&causes[i], like) || (more && !nnv_where_is(&causes[i].where)));
    for (size_t i = 0; st == NNV_OK && i < x->r->count; i++) {
        const bool is_in = of[i] != NNV_MAP_NONE && chosen[of[i]] && x->r->item[i].why == NNVTS_WHY_VALUES;
        pooled[i] = is_in ? 0 : NNV_MAP_NONE;
        if (is_in) shown[of[i]] = true;
    }
    if (st == NNV_OK) st = gather(x, pooled, 0, false) ? NNV_OK : nnv_no_memory(err);
    x->left = WORK / SHARES;
    shuffle(x->failing, x->nfailing, &x->rng);
    shuffle(x->passing, x->npassing, &x->rng);
    if (st == NNV_OK) st = compare(x, &all, 0, arena, err);
    *told = st == NNV_OK && is_about(&all, like) && is_clean(&all.where.cases);
    for (uint32_t i = 0; *told && i < count; i++)
        if (shown[i]) causes[i].where = all.where;
    free(pooled);
    free(chosen);
    free(shown);
    return st;
}

/** Looks for such a quantity: that of the first condition that several causes have, with unlike bounds. */
static enum nnv_status tell_together(struct comparing *x, const uint32_t *of, struct nnv_separation *causes,
                                     uint32_t count, struct nnv_arena *arena, struct nnv_err *err) {
    enum { SEVERAL = 3 };
    for (uint32_t i = 0; i < count; i++) {
        const struct nnv_case_condition *own = may_be_shared(&causes[i]) ? condition_of(&causes[i]) : NULL;
        size_t alike = 0;
        for (uint32_t k = 0; own && k < count; k++) alike += may_be_shared(&causes[k]) && is_about(&causes[k], own);
        if (alike < SEVERAL) continue;
        const struct nnv_case_condition like = *own; /* the cause's own may be replaced */
        bool told = false;
        enum nnv_status st = compare_together(x, of, causes, count, &like, true, &told, arena, err);
        if (st == NNV_OK && !told) st = compare_together(x, of, causes, count, &like, false, &told, arena, err);
        return st;
    }
    return NNV_OK;
}

enum nnv_status nnv_separate_run(const struct nnv_report *r, const struct nnv_run_cases *cases, const uint32_t *of,
                                 struct nnv_separation *causes, uint32_t count, const struct nnv_showing *showing,
                                 struct nnv_arena *arena, struct nnv_err *err) {
    struct comparing x = {.rng = nnv_rng_make(1, nnv_hash_str("separate"), 0),
                          .r = r,
                          .cases = cases,
                          .showing = showing,
                          .kept = nnv_arena_new(),
                          .work = nnv_arena_new(),
                          .left = WORK};
    x.case_of = calloc(r->count + 1, sizeof *x.case_of);
    x.failing = calloc(r->count + 1, sizeof *x.failing);
    x.passing = calloc(r->count + 1, sizeof *x.passing);
    enum nnv_status st = x.kept && x.work && x.case_of && x.failing && x.passing ? NNV_OK : nnv_no_memory(err);
    for (size_t i = 0; st == NNV_OK && i < cases->count; i++) {
        const uint32_t k = nnv_report_find(r, cases->item[i].name);
        if (k != NNV_MAP_NONE) x.case_of[k] = &cases->item[i];
    }
    for (uint32_t i = 0; st == NNV_OK && i < count; i++) {
        if (causes[i].known) continue;
        const uint32_t shares = count - i < SHARES ? count - i : SHARES;
        const uint64_t keep = x.left - x.left / shares;
        st = gather(&x, of, i, causes[i].steps) ? NNV_OK : nnv_no_memory(err);
        shuffle(x.failing, x.nfailing, &x.rng);
        shuffle(x.passing, x.npassing, &x.rng);
        if (st == NNV_OK) st = compare(&x, &causes[i], keep, arena, err);
    }
    if (st == NNV_OK) st = tell_together(&x, of, causes, count, arena, err);
    free(x.case_of);
    free(x.failing);
    free(x.passing);
    nnv_arena_free(x.kept);
    nnv_arena_free(x.work);
    return st;
}
