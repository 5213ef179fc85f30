/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/client/abi.h"
#include "harness/client/prepare.h"
#include "harness/datasheet/support/draw.h"
#include "harness/debug/separate/attributes.h"
#include "harness/debug/separate/rules.h"
#include "harness/runner/suite.h"

enum {
    FRESH = 64,   /* of a round */
    ROUNDS = 5,   /* of learning, at most */
    VERIFY = 72,  /* that the conditions are verified on */
    BISECT = 16,  /* steps towards a bound */
    BOUNDS = 120, /* models that are asked for bounds in all */
};

/** What learning one operation with one combination of types knows. */
struct learner {
    const struct nnv_support_asking *x;
    const struct nnv_op *op;
    int sig;
    struct nnv_support *s;
    struct nnv_arena *kept, *work; /* work: of one model */
    size_t n;                      /* models asked: places of s->answer */
    struct nnv_probe *known;       /* those that have an answer, yes or no */
    struct nnv_observation *seen;  /* failed: refused */
    size_t nknown;
    struct nnv_err *err;
};

/* ------------------------------------------------------------------------ asking */

static uint8_t ask_driver(struct learner *l, const struct nnv_spec *spec) {
    struct nnv_client *client = l->x->client;
    const size_t bytes = nnv_abi_pool_bytes(&spec->model);
    struct nnv_abi_pool pool;
    struct nnvts_model abi;
    struct nnv_text words = {0};
    if (nnv_client_pools(client, &bytes, 1, &pool, l->err) != NNV_OK) return NNV_SUPPORT_NONE;
    if (nnv_abi_model_at(&spec->model, l->work, &pool.memory, pool.data, &abi, l->err) != NNV_OK)
        return NNV_SUPPORT_NONE;
    struct nnv_preparation p = {
        .device = client->device, .abi = &abi, .model = &spec->model, .constants = pool.data, .phase = l->x->phase};
    const bool answered = nnv_ask_supported(&p, l->work);
    const bool lacks = nnv_not_implemented(&p, &words);
    nnv_text_free(&words);
    if (lacks) return NNV_SUPPORT_NO;
    return !answered ? NNV_SUPPORT_BROKE : p.refused ? NNV_SUPPORT_NO : NNV_SUPPORT_YES;
}

/** Makes the model, work's; *level is its feature level. NULL: it cannot be made, or is beyond the driver's. */
static struct nnv_spec *make(struct learner *l, const struct nnv_probe *p, int *level) {
    nnv_arena_reset(l->work);
    *l->x->phase = NNV_PHASE_BUILD;
    struct nnv_spec *spec = nnv_probe_make(p, l->work);
    *level = spec ? spec->min_version : 0;
    return spec && spec->min_version <= l->x->client->device->feature_level ? spec : NULL;
}

/** What a driver's answer may depend on: not the values of tensors. */
static const struct nnv_attribute *look(struct learner *l, const struct nnv_spec *spec, size_t *count) {
    static const struct nnv_case nameless = {.name = "", .suite = "ops", .op = "", .type = "", .tags = ""};
    struct nnv_spec seen = *spec;
    seen.inputs = NULL;
    size_t all, n = 0;
    const struct nnv_attribute *a = nnv_attributes(&nameless, &seen, l->op->code, l->work, &all);
    struct nnv_attribute *known = a ? NNV_NEW(l->work, struct nnv_attribute, all + 1) : NULL;
    for (size_t i = 0; known && i < all; i++)
        if (!a[i].of_values) known[n++] = a[i];
    *count = n;
    return known ? nnv_attributes_keep(known, n, l->kept) : NULL;
}

static void count_answer(struct nnv_support *s, uint8_t answer) {
    s->asked += answer != NNV_SUPPORT_NONE;
    s->yes += answer == NNV_SUPPORT_YES;
    s->no += answer == NNV_SUPPORT_NO;
    s->broke += answer == NNV_SUPPORT_BROKE;
    s->died += answer == NNV_SUPPORT_DIED;
}

/** Asks about the model, or takes what an earlier process was answered. False: no memory. */
static bool ask(struct learner *l, const struct nnv_probe *p, uint8_t *answer, struct nnv_observation *o) {
    *answer = NNV_SUPPORT_NONE;
    if (l->n == NNV_SUPPORT_PROBES) return true;
    const size_t at = l->n++;
    uint8_t *place = &l->s->answer[at];
    int level = 0;
    const struct nnv_spec *spec = *place == NNV_SUPPORT_NONE || *place == NNV_SUPPORT_DIED ? NULL : make(l, p, &level);
    if (level > 0 && at < NNV_SUPPORT_FIRST) l->s->level[at] = (uint8_t)level;
    if (*place == NNV_SUPPORT_UNKNOWN) {
        *place = NNV_SUPPORT_DIED;
        *place = spec ? ask_driver(l, spec) : NNV_SUPPORT_NONE;
        ++*l->x->serial;
    }
    *answer = *place;
    count_answer(l->s, *answer);
    if (!spec || (*answer != NNV_SUPPORT_YES && *answer != NNV_SUPPORT_NO)) return true;
    o->failed = *answer == NNV_SUPPORT_NO;
    o->item = look(l, spec, &o->count);
    return o->item != NULL;
}

/** The same, and learns of it. */
static bool take(struct learner *l, const struct nnv_probe *p, struct nnv_observation **seen) {
    struct nnv_observation o = {0};
    uint8_t answer;
    if (seen) *seen = NULL;
    if (!ask(l, p, &answer, &o)) return false;
    if (!o.item || l->nknown == NNV_OBSERVATIONS) return true;
    l->known[l->nknown] = *p;
    l->seen[l->nknown] = o;
    if (seen) *seen = &l->seen[l->nknown];
    l->nknown++;
    return true;
}

/* ---------------------------------------------------------------------- learning */

static double number_of(const struct nnv_observation *o, const char *name) {
    for (size_t i = 0; i < o->count; i++)
        if (o->item[i].kind == NNV_ATTRIBUTE_NUMBER && strcmp(o->item[i].name, name) == 0) return o->item[i].number;
    return NAN;
}

/** What a bound is of. */
enum bound {
    BOUND_FACTOR, /* of the operation, or another number that follows from one */
    BOUND_RATIO,  /* a scale over that of the output, which can be stretched */
    BOUND_ZERO    /* the zero point of input 0 */
};

static enum bound bound_of(const struct learner *l, const char *name) {
    static const char zero[] = "zero point of ", over[] = " / scale of the output";
    const size_t n = strlen(name);
    if (strncmp(name, zero, sizeof zero - 1) == 0 && strcmp(name + sizeof zero - 1, l->op->forms->in[0].name) == 0)
        return BOUND_ZERO;
    return n >= sizeof over && strcmp(name + n - (sizeof over - 1), over) == 0 ? BOUND_RATIO : BOUND_FACTOR;
}

/** Narrows a bound of quantisation: of a model that is supported beyond it all else stays as it is. */
static bool narrow_quantisation(struct learner *l, enum bound kind, const char *name, double value, double beyond,
                                size_t *left) {
    static const double CLOSE = 1.01; /* ratios */
    for (int step = 0; step<BISECT && * left> 0; step++) {
        const bool ratio = kind == BOUND_RATIO;
        if (ratio ? !(value > 0 && beyond > 0) || fmax(value / beyond, beyond / value) < CLOSE
                  : fabs(value - beyond) <= 1)
            return true;
        const double middle = ratio ? sqrt(value * beyond) : floor((value + beyond) / 2);
        struct nnv_probe p;
        struct nnv_observation *o = NULL;
        double at = NAN;
        for (size_t i = 0; i < l->nknown && isnan(at); i++) {
            const double v = number_of(&l->seen[i], name);
            if (l->seen[i].failed || !(fabs(v - beyond) <= 1e-6 * fabs(beyond))) continue;
            p = l->known[i];
            at = v;
        }
        if (isnan(at)) return true;
        if (ratio) {
            p.stretch = (p.stretch > 0 ? p.stretch : 1) * at / middle;
        } else {
            p.has_zero = true;
            p.zero_point = (int32_t)middle;
        }
        --*left;
        if (!take(l, &p, &o)) return false;
        if (!o || !(fabs(number_of(o, name) - middle) <= 1e-3 * fabs(middle))) return true;
        *(o->failed ? &value : &beyond) = number_of(o, name);
    }
    return true;
}

/** Asks about models whose attribute lies between the bound of the predicate and the next number that was seen. */
static bool narrow(struct learner *l, const char *name, double value, double beyond, size_t *left) {
    for (int step = 0; step<BISECT && * left> 0; step++) {
        bool found = false;
        if (!(fabs(value - beyond) > 1) || floor((value + beyond) / 2) == value) return true;
        const double middle = floor((value + beyond) / 2);
        for (size_t i = l->nknown; i-- > 0 && !found;) {
            const double at = number_of(&l->seen[i], name);
            if (at != value && at != beyond) continue;
            for (uint8_t f = 0; f < l->op->nfactors && !found && *left > 0; f++)
                for (int part = 0; part < (l->op->factors[f].pair ? 2 : 1) && !found && *left > 0; part++) {
                    struct nnv_probe p = l->known[i];
                    struct nnv_observation *o;
                    if (!nnv_probe_between(l->op, &p, f, part, value, beyond)) continue;
                    --*left;
                    if (!take(l, &p, &o)) return false;
                    if (!o || number_of(o, name) != middle) continue;
                    found = true;
                    *(o->failed ? &value : &beyond) = middle;
                }
        }
        if (!found) return true;
    }
    return true;
}

static bool narrow_all(struct learner *l, const struct nnv_rules *rules) {
    size_t left = BOUNDS;
    for (size_t i = 0; i < rules->count; i++)
        for (int k = 0; k < rules->item[i].terms; k++) {
            const struct nnv_predicate *p = rules->item[i].term[k];
            const struct nnv_column *c = &rules->about.column[p->column];
            if (c->kind != NNV_ATTRIBUTE_NUMBER || (p->relation != NNV_ABOVE && p->relation != NNV_BELOW)) continue;
            const enum bound kind = bound_of(l, c->name);
            if (kind == BOUND_FACTOR ? !narrow(l, c->name, p->value, p->beyond, &left)
                                     : !narrow_quantisation(l, kind, c->name, p->value, p->beyond, &left))
                return false;
        }
    return true;
}

/** A model near one that is supported, or near one that is not. */
static struct nnv_probe fresh(const struct learner *l, uint32_t round, uint32_t k) {
    const size_t n = l->nknown;
    size_t i = n > 0 ? ((size_t)round * FRESH + k) * 7919 % n : 0;
    for (size_t steps = 0; steps < n && l->seen[i].failed == (k % 2 == 0); steps++) i = (i + 1) % n;
    return nnv_probe_fresh(l->op, l->sig, l->x->seed, round, k, n > 0 ? &l->known[i] : NULL);
}

/** Learns rules and asks about fresh models until they say nothing wrong of a round, then narrows their bounds. */
static bool learn(struct learner *l, struct nnv_rules *rules) {
    bool narrowed = false;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        size_t wrong = 0;
        if (!nnv_rules_learn(rules, l->seen, l->nknown)) return false;
        for (uint32_t k = 0; k < FRESH; k++) {
            const struct nnv_probe p = fresh(l, round, k);
            struct nnv_observation *o;
            if (!take(l, &p, &o)) return false;
            wrong += o && nnv_rules_hold(rules, o) != o->failed;
        }
        const bool done = wrong == 0 && narrowed;
        if (wrong == 0 && !narrowed && !narrow_all(l, rules)) return false;
        narrowed = narrowed || wrong == 0;
        nnv_rules_free(rules);
        if (done) break;
    }
    if (!narrowed) {
        const bool ok = nnv_rules_learn(rules, l->seen, l->nknown) && narrow_all(l, rules);
        nnv_rules_free(rules);
        if (!ok) return false;
    }
    return nnv_rules_learn(rules, l->seen, l->nknown);
}

/** Models that nothing was learnt from: what the conditions say of them, and the driver. */
static bool verify(struct learner *l, const struct nnv_rules *rules) {
    struct nnv_support *s = l->s;
    for (uint32_t k = 0; k < VERIFY; k++) {
        const struct nnv_probe p = fresh(l, ROUNDS + 1, k);
        struct nnv_observation o = {0};
        uint8_t answer;
        if (!ask(l, &p, &answer, &o)) return false;
        if (!o.item) continue;
        const bool said = !nnv_rules_hold(rules, &o);
        s->yes_yes += said && !o.failed;
        s->yes_no += said && o.failed;
        s->no_yes += !said && !o.failed;
        s->no_no += !said && o.failed;
    }
    return true;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/** Writes the conditions in the order of their words, so that the same ones of two types read the same. */
static bool tell(struct learner *l, const struct nnv_rules *rules) {
    struct nnv_support *s = l->s;
    char *line[NNV_RULES];
    size_t at = 0;
    for (size_t i = 0; i < rules->count; i++) {
        struct nnv_text t = {0};
        nnv_rule_tell_not(rules, i, &t);
        line[i] = t.data ? nnv_arena_strdup(l->kept, t.data) : NULL;
        nnv_text_free(&t);
        if (!line[i]) return false;
    }
    qsort(line, rules->count, sizeof *line, by_text);
    for (size_t i = 0; i < rules->count && at + strlen(line[i]) + 2 <= sizeof s->must; i++) {
        at += (size_t)snprintf(s->must + at, sizeof s->must - at, "%s\n", line[i]);
        s->conditions++;
    }
    s->unexplained = (uint32_t)rules->left + s->yes_no;
    return true;
}

/* ------------------------------------------------------------------------ claims */

static uint8_t claim_of(const struct nnv_result *r) {
    if (r->verdict == NNVTS_PASS) return NNV_CLAIM_RIGHT;
    if (r->verdict == NNVTS_UNTRUSTED || r->verdict == NNVTS_SKIP) return NNV_CLAIM_SKIPPED;
    return r->why == NNVTS_WHY_REFUSED || r->verdict == NNVTS_UNSUPPORTED ? NNV_CLAIM_UNPREPARED : NNV_CLAIM_WRONG;
}

/** Computes some of the models that it claims to support, evenly spread over what was asked. */
static void compute(struct learner *l) {
    struct nnv_support *s = l->s;
    const size_t n = s->yes < NNV_SUPPORT_CLAIMS ? s->yes : NNV_SUPPORT_CLAIMS;
    struct nnv_run_config config = {0};
    size_t yes = 0, k = 0;
    int level;
    for (size_t i = 0; i < l->nknown && k < n; i++) {
        if (l->seen[i].failed || yes++ < k * s->yes / n) continue;
        uint8_t *place = &s->claim[k++];
        struct nnv_spec *spec = *place == NNV_CLAIM_UNKNOWN ? make(l, &l->known[i], &level) : NULL;
        if (spec && nnv_single_expect(spec, l->work, l->err) == NNV_OK) {
            struct nnv_result r = {0};
            struct nnv_case_env env = {.config = &config,
                                       .client = l->x->client,
                                       .arithmetic = l->x->arithmetic,
                                       .arena = l->work,
                                       .phase = l->x->phase};
            *place = NNV_CLAIM_DIED;
            nnv_result_start(&r);
            nnv_judge(&env, spec, spec->min_version, NNV_PRECISION_BUDGET, &r);
            *place = claim_of(&r);
            ++*l->x->serial;
            if (*place != NNV_CLAIM_RIGHT && *place != NNV_CLAIM_SKIPPED && !*s->trouble && r.reason.data)
                snprintf(s->trouble, sizeof s->trouble, "%.*s", (int)strcspn(r.reason.data, "\n"), r.reason.data);
            nnv_text_free(&r.reason);
            nnv_text_free(&r.outputs);
            nnv_text_free(&r.answer);
        }
        s->claimed += *place != NNV_CLAIM_SKIPPED;
        s->right += *place == NNV_CLAIM_RIGHT;
        s->wrong += *place == NNV_CLAIM_WRONG || *place == NNV_CLAIM_DIED;
        s->unprepared += *place == NNV_CLAIM_UNPREPARED;
    }
}

/** Forgets what an earlier process has counted: all is counted anew, of its answers. */
static void start(struct nnv_support *s) {
    struct nnv_support fresh = {0};
    memcpy(fresh.answer, s->answer, sizeof fresh.answer);
    memcpy(fresh.claim, s->claim, sizeof fresh.claim);
    memcpy(fresh.level, s->level, sizeof fresh.level);
    memcpy(fresh.trouble, s->trouble, sizeof fresh.trouble);
    *s = fresh;
}

static bool learn_all(struct learner *l) {
    struct nnv_probe *first = NNV_NEW(l->kept, struct nnv_probe, NNV_SUPPORT_FIRST);
    struct nnv_rules rules = {0};
    l->known = NNV_NEW(l->kept, struct nnv_probe, NNV_OBSERVATIONS);
    l->seen = NNV_NEW(l->kept, struct nnv_observation, NNV_OBSERVATIONS);
    if (!first || !l->known || !l->seen) return false;
    const size_t n = nnv_probes_first(l->op, l->sig, l->x->seed, first, NNV_SUPPORT_FIRST);
    l->s->first = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        if (!take(l, &first[i], NULL)) return false;
    for (uint32_t k = 0; l->s->yes > 0 && k < FRESH; k++) {
        const struct nnv_probe p = fresh(l, 0, k);
        if (!take(l, &p, NULL)) return false;
    }
    bool ok = l->s->yes == 0 || l->s->no == 0 || learn(l, &rules);
    if (ok && l->s->yes > 0) ok = verify(l, &rules);
    if (ok) ok = tell(l, &rules);
    nnv_rules_free(&rules);
    if (ok) compute(l);
    return ok;
}

enum nnv_status nnv_support_learn(const struct nnv_support_asking *x, const struct nnv_op *op, int sig,
                                  struct nnv_support *s, struct nnv_err *err) {
    struct learner l = {
        .x = x, .op = op, .sig = sig, .s = s, .kept = nnv_arena_new(), .work = nnv_arena_new(), .err = err};
    start(s);
    const bool ok = l.kept && l.work && learn_all(&l);
    nnv_arena_free(l.kept);
    nnv_arena_free(l.work);
    return ok ? NNV_OK : nnv_no_memory(err);
}
