/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/cliffs/cliffs.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "harness/client/run.h"
#include "harness/datasheet/cliffs/patch.h"
#include "harness/datasheet/numeric/repeat.h"
#include "randgraph/single/cover.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

enum {
    LEAST_LONGEST = 16,    /* the longest usual size of a factor that is an extent */
    MOST_EXTENT = 1 << 17, /* beyond 16 bits */
    MOST_BYTES = 1 << 18,  /* of the tensors of a model that is not the last of its axis */
    MOST_STEPS = 20,       /* of doubling */
    MOST_SAMPLED_EXTENT = 1 << 24,
    MOST_SAMPLED_PAIR = 32767,       /* of an extent that is one of a pair, of 16 bits each */
    MOST_SAMPLED_ELEMENTS = 3 << 20, /* of the tensors of a model of which patches are judged */
    SAMPLED_STEP = 8,                /* from one such extent to the next */
    SLOW_PROBE_NS = 1500000000,      /* of a question: longer extents would take too long */
    REPEATS = 5,                     /* of a time that decides */
    CONFIRMED = 3,                   /* times in a row that a step must show */
    DEEPEST = 64,                    /* layers of a chain, */
    CHAIN_ROWS = 4,                  /* on so many rows, */
    CHAIN_UNITS = 64,                /* so wide */
};

/* A cliff of time: executing takes so much longer from one extent to the next, and longer than the clock's noise. */
static const double suspect = 5, steep = 3, least_ns = 30000;
/* Compiling grows faster than this power of the size, over so many doublings. */
static const double super_linear = 1.5, least_compile_ns = 300000;

enum state { NONE, RIGHT, UNSUPPORTED, UNPREPARED, WRONG };

/** An axis of an operation with one combination of types. */
struct axis {
    const struct nnv_op *op;
    int sig;
    uint8_t factor;
    int part;                          /* of a pair: 0 height, 1 width */
    bool depth;                        /* instead of a factor: so many equal layers, one behind the other */
    const struct nnv_patch_rule *rule; /* patches are judged; else NULL */
    int32_t shorter;                   /* an extent by which the rule was learnt */
};

/** What became of one extent. */
struct probe {
    enum state state;
    double bytes, execute_ns, compile_ns; /* bytes: of a chain its layers */
    double elements;                      /* of all tensors */
    uint64_t took_ns, sampled;
    char words[160];
};

const char *nnv_cliff_kind_text(enum nnv_cliff_kind kind) {
    static const char *const text[] = {
        [NNV_CLIFF_SUPPORT] = "not supported beyond", [NNV_CLIFF_COMPILE] = "supported, but fails beyond",
        [NNV_CLIFF_VALUES] = "wrong beyond",          [NNV_CLIFF_DIES] = "its process ends beyond",
        [NNV_CLIFF_TIME] = "slower beyond",           [NNV_CLIFF_GROWTH] = "compiling grows faster than the size"};
    return text[kind];
}

void nnv_cliff_tell(const struct nnv_cliff *c, struct nnv_text *t) {
    nnv_text_addf(t, "%s: %s ", c->axis, nnv_cliff_kind_text(c->kind));
    if (c->kind == NNV_CLIFF_GROWTH)
        nnv_text_addf(t, "(its power %.2g, from %d to %d)", c->factor, c->last, c->first);
    else if (c->first == c->last + 1)
        nnv_text_addf(t, "%d", c->last);
    else
        nnv_text_addf(t, "%d (not at %d)", c->last, c->first);
    if (c->kind == NNV_CLIFF_TIME) nnv_text_addf(t, ", %.3g times as long", c->factor);
    if (c->sampled) nnv_text_addf(t, ", by %llu sampled elements", (unsigned long long)c->sampled);
    if (*c->words) nnv_text_addf(t, ": %s", c->words);
}

/* ------------------------------------------------------------------------- asking */

/** A chain of so many layers, with what it is to answer. */
static enum nnv_status make_chain(const struct nnv_cliff_measuring *x, const struct axis *a, int32_t depth,
                                  struct nnv_spec **out, struct nnv_err *err) {
    enum { ELEMENTS = CHAIN_ROWS * CHAIN_UNITS };
    const int32_t type = a->op->sigs[a->sig].type[NNV_T];
    struct nnv_builder b = {.arena = x->arena};
    struct nnv_rng rng = nnv_rng_make(x->seed, nnv_hash_str("depth"), 0);
    double weights[CHAIN_UNITS * CHAIN_UNITS], v[ELEMENTS];
    uint32_t in;
    nnv_repeat_weights(CHAIN_UNITS, weights);
    for (int i = 0; i < ELEMENTS; i++) v[i] = nnv_rng_uniform(&rng, 0.5, 1);
    const uint32_t y = nnv_repeat_add(&b, a->op->code, type, CHAIN_ROWS, CHAIN_UNITS, (uint32_t)depth, weights, &in);
    struct nnv_spec *spec = *out = NNV_NEW(x->arena, struct nnv_spec, 1);
    struct nnv_value *input = NNV_NEW(x->arena, struct nnv_value, 1);
    if (!spec || !input) return nnv_no_memory(err);
    *spec = (struct nnv_spec){.name = a->op->name, .inputs = input};
    enum nnv_status st = nnv_builder_end(&b, 1, &in, 1, &y, &spec->model, err);
    if (st == NNV_OK) st = nnv_validate(&spec->model, x->arena, &spec->min_version, err);
    if (st != NNV_OK) return st;
    const struct nnv_operand *o = &spec->model.main.operands[in];
    *input = (struct nnv_value){.rank = o->rank, .bytes = ELEMENTS * nnv_type(type)->size};
    for (uint32_t i = 0; i < o->rank; i++) input->dims[i] = o->dims[i];
    input->data = nnv_arena_alloc(x->arena, input->bytes, 1);
    if (!input->data) return nnv_no_memory(err);
    nnv_store(type, v, ELEMENTS, input->data);
    return nnv_single_expect(spec, x->arena, err);
}

/** A model without golden results, but outputs of their sizes. */
static enum nnv_status make_alone(const struct nnv_single *what, struct nnv_arena *arena, struct nnv_spec **out,
                                  struct nnv_err *err) {
    struct nnv_spec *spec;
    enum nnv_status st = nnv_single_model(what, arena, &spec, err);
    if (st != NNV_OK) return st;
    const struct nnv_subgraph *m = &spec->model.main;
    if (spec->outputs) return nnv_fail(err, NNV_UNSUPPORTED, "values tell the shapes");
    spec->outputs = NNV_NEW(arena, struct nnv_value, m->nout);
    if (!spec->outputs) return nnv_no_memory(err);
    for (uint32_t i = 0; i < m->nout; i++) {
        const struct nnv_operand *o = &m->operands[m->out[i]];
        size_t elems;
        spec->outputs[i].rank = o->rank;
        memcpy(spec->outputs[i].dims, o->dims, o->rank * sizeof *o->dims);
        if (!nnv_operand_size(o, &elems, &spec->outputs[i].bytes))
            return nnv_fail(err, NNV_UNSUPPORTED, "an output without a size");
    }
    *out = spec;
    return NNV_OK;
}

static struct nnv_spec *make(const struct nnv_cliff_measuring *x, const struct axis *a, int32_t extent) {
    int32_t row[NNV_MAX_FACTORS] = {0};
    const struct nnv_factor *f = &a->op->factors[a->factor];
    struct nnv_single what = {
        .op = a->op, .sig = a->sig, .plan = NNV_PLAN_ROW, .seed = x->seed, .name = a->op->name, .row = row};
    struct nnv_spec *spec = NULL;
    struct nnv_err ignored = {0};
    for (uint8_t i = 0; i < a->op->nfactors; i++) row[i] = a->op->factors[i].values[0];
    if (!a->depth)
        row[a->factor] = !f->pair       ? extent
                         : a->part == 0 ? NNV_PAIR(extent, nnv_pair_width(row[a->factor]))
                                        : NNV_PAIR(nnv_pair_height(row[a->factor]), extent);
    *x->phase = NNV_PHASE_BUILD;
    const enum nnv_status st = a->depth  ? make_chain(x, a, extent, &spec, &ignored)
                               : a->rule ? make_alone(&what, x->arena, &spec, &ignored)
                                         : nnv_single_build(&what, x->arena, &spec, &ignored);
    if (st != NNV_OK) return NULL;
    return spec->min_version <= x->client->device->feature_level ? spec : NULL;
}

/** Bytes and elements of its tensors. */
static void weigh(const struct nnv_spec *spec, struct probe *p) {
    const struct nnv_subgraph *m = &spec->model.main;
    for (uint32_t i = 0; i < m->noperands; i++) {
        double bytes = (double)m->operands[i].bytes;
        for (uint32_t k = 0; k < m->nin; k++) bytes += m->in[k] == i ? (double)spec->inputs[k].bytes : 0;
        for (uint32_t k = 0; k < m->nout; k++) bytes += m->out[k] == i ? (double)spec->outputs[k].bytes : 0;
        p->bytes += bytes;
        if (bytes > 0) p->elements += bytes / nnv_type(m->operands[i].type)->size;
    }
}

static void keep_words(struct probe *p, const char *where, const char *words) {
    snprintf(p->words, sizeof p->words, "%s%.*s", where, (int)strcspn(words, "\n"), words);
}

/** Judges the answer, or patches of it. */
static void judge(const struct nnv_cliff_measuring *x, const struct axis *a, const struct nnv_spec *spec,
                  struct nnv_value *outputs, struct probe *p) {
    struct nnv_case_env env = {.client = x->client, .arithmetic = x->arithmetic, .arena = x->arena, .phase = x->phase};
    struct nnv_result r = {0};
    struct nnv_patch wrong = {0};
    char where[64] = "";
    nnv_result_start(&r);
    const struct nnv_spec *shorter = a->rule ? make(x, a, a->shorter) : NULL;
    if (shorter)
        p->sampled = nnv_patch_judge(&env, a->rule, shorter, spec, outputs, x->seed, &wrong, &r);
    else if (!a->rule)
        nnv_judge_answer(&env, spec, NNV_PRECISION_BUDGET, outputs, &r);
    if (r.verdict == NNVTS_FAIL) p->state = WRONG;
    if (a->rule && (r.verdict == NNVTS_ERROR || p->sampled == 0)) p->state = NONE;
    const uint32_t step = a->rule ? a->rule->operand[spec->model.main.out[0]].step : 0;
    if (shorter) snprintf(where, sizeof where, "from place %llu on: ", (unsigned long long)wrong.from * step);
    if (p->state == WRONG && r.reason.data) keep_words(p, where, r.reason.data);
    nnv_text_free(&r.reason);
    nnv_text_free(&r.outputs);
    nnv_text_free(&r.answer);
}

/** Runs the model, and judges what it answers. */
static struct probe ask(const struct nnv_cliff_measuring *x, const struct axis *a, int32_t extent, int repeats) {
    struct probe p = {0};
    struct nnv_outcome o;
    const uint64_t start = nnv_now_ns();
    nnv_arena_reset(x->arena);
    x->out->trying = a->rule ? 0 : extent; /* that a large model takes long to make is not the driver's fault */
    const struct nnv_spec *spec = make(x, a, extent);
    x->out->trying = extent;
    if (spec == NULL) return p;
    x->out->probes++;
    weigh(spec, &p);
    if (a->depth) p.bytes = extent;
    p.execute_ns = p.compile_ns = INFINITY;
    for (int i = 0; i < repeats; i++) {
        nnv_client_run(x->client, spec, x->arena, x->phase, &o);
        ++*x->serial;
        if (o.kind != NNV_OUTCOME_DONE) break;
        p.execute_ns = fmin(p.execute_ns, (double)o.execute_ns);
        p.compile_ns = fmin(p.compile_ns, (double)o.prepare_ns);
    }
    p.state = o.kind == NNV_OUTCOME_UNSUPPORTED ? UNSUPPORTED
              : o.kind == NNV_OUTCOME_HARNESS   ? NONE
              : o.kind != NNV_OUTCOME_DONE      ? UNPREPARED
                                                : RIGHT;
    if (p.state == RIGHT && repeats == 1)
        judge(x, a, spec, o.outputs, &p);
    else if (p.state != RIGHT)
        keep_words(&p, "", o.reason);
    ++*x->serial;
    p.took_ns = nnv_now_ns() - start;
    if (p.state == RIGHT) x->out->passed = extent;
    return p;
}

/* -------------------------------------------------------------------------- telling */

static struct nnv_cliff *add(const struct nnv_cliff_measuring *x, const struct axis *a, enum nnv_cliff_kind kind,
                             int32_t last, int32_t first) {
    static const char *const parts[] = {" height", " width"};
    const struct nnv_factor *f = a->depth ? NULL : &a->op->factors[a->factor];
    char types[48];
    if (x->out->count == NNV_CLIFFS) return NULL;
    struct nnv_cliff *c = &x->out->item[x->out->count];
    *c = (struct nnv_cliff){.kind = kind, .last = last, .first = first};
    snprintf(c->about, sizeof c->about, "%.40s %.20s", a->op->name,
             nnv_single_sig_name(a->op, a->sig, types, sizeof types));
    snprintf(c->axis, sizeof c->axis, "%s%s", f ? f->name : "depth", f && f->pair ? parts[a->part] : "");
    return c;
}

/** Between two extents of which the first is right and the second is not. */
static void find_change(const struct nnv_cliff_measuring *x, const struct axis *a, int32_t right, int32_t other,
                        struct probe seen) {
    static const enum nnv_cliff_kind kinds[] = {
        [UNSUPPORTED] = NNV_CLIFF_SUPPORT, [UNPREPARED] = NNV_CLIFF_COMPILE, [WRONG] = NNV_CLIFF_VALUES};
    while (other - right > 1) {
        const int32_t middle = right + (other - right) / 2;
        const struct probe p = ask(x, a, middle, 1);
        if (p.state == NONE) break;
        if (p.state == RIGHT)
            right = middle;
        else
            other = middle, seen = p;
    }
    struct nnv_cliff *c = add(x, a, kinds[seen.state], right, other);
    if (c == NULL) return;
    memcpy(c->words, seen.words, sizeof c->words);
    c->sampled = seen.state == WRONG ? seen.sampled : 0;
    x->out->count++;
}

/** Both are right, and s takes much longer. */
static bool is_step(const struct probe *f, const struct probe *s) {
    return f->state == RIGHT && s->state == RIGHT && s->execute_ns >= least_ns &&
           s->execute_ns >= steep * f->execute_ns;
}

/** Between two extents of which the second takes much longer: is it one step? */
static void find_slowdown(const struct nnv_cliff_measuring *x, const struct axis *a, int32_t fast, int32_t slow) {
    struct probe f = ask(x, a, fast, REPEATS), s = ask(x, a, slow, REPEATS);
    while (slow - fast > 1) {
        if (!is_step(&f, &s)) return;
        const int32_t middle = fast + (slow - fast) / 2;
        const struct probe m = ask(x, a, middle, REPEATS);
        if (m.execute_ns < sqrt(f.execute_ns * s.execute_ns))
            fast = middle, f = m;
        else
            slow = middle, s = m;
    }
    /* Again and again, by turns: what the machine did in between is no cliff. */
    for (int i = 0; i < CONFIRMED; i++) {
        f = ask(x, a, fast, REPEATS);
        s = ask(x, a, slow, REPEATS);
        if (!is_step(&f, &s)) return;
    }
    struct nnv_cliff *c = add(x, a, NNV_CLIFF_TIME, fast, slow);
    if (c == NULL) return;
    c->factor = s.execute_ns / f.execute_ns;
    snprintf(c->words, sizeof c->words, "%.3g us, then %.3g us", f.execute_ns / 1e3, s.execute_ns / 1e3);
    x->out->count++;
}

/** The power by which the time of compiling grows from one model to a larger one: with its bytes, or with those that
 * the axis has added to `least`, if they grow faster. */
static double power(const struct probe *least, const struct probe *a, const struct probe *b) {
    const double added = (b->bytes - least->bytes) / (a->bytes - least->bytes);
    return log(b->compile_ns / a->compile_ns) / log(fmax(b->bytes / a->bytes, added));
}

/** Over the extents where the time of compiling can be measured; once is noise, so that both ends are measured again.
 * True: it grows too fast. */
static bool judge_growth(const struct nnv_cliff_measuring *x, const struct axis *a, const struct probe *p,
                         const int32_t *extent, int n) {
    int from = n;
    while (from > 1 && p[from - 1].compile_ns > least_compile_ns) from--;
    if (n - from < 3 || !(p[n - 1].bytes > 3 * p[from].bytes)) return false;
    const struct probe first = ask(x, a, extent[from], 2 * REPEATS), last = ask(x, a, extent[n - 1], REPEATS);
    const double grows = power(a->depth ? &(struct probe){0} : &p[0], &first, &last);
    if (!(grows > super_linear) || first.compile_ns < least_compile_ns / 2) return false;
    struct nnv_cliff *c = add(x, a, NNV_CLIFF_GROWTH, extent[from], extent[n - 1]);
    if (c == NULL) return true;
    c->factor = grows;
    snprintf(c->words, sizeof c->words, "%.3g ms, then %.3g ms", first.compile_ns / 1e6, last.compile_ns / 1e6);
    x->out->count++;
    return true;
}

/* ------------------------------------------------------------------------- measuring */

static int32_t usual(const struct axis *a) {
    if (a->depth) return 1;
    const struct nnv_factor *f = &a->op->factors[a->factor];
    return !f->pair ? f->values[0] : a->part == 0 ? nnv_pair_height(f->values[0]) : nnv_pair_width(f->values[0]);
}

/** The next extent of the doubling: powers of two from the first above the usual one. */
static int32_t doubled(int32_t extent) {
    int32_t next = 1;
    while (next <= extent) next *= 2;
    return next;
}

/** Learns how patches follow from stretches of the inputs, where that holds of the longest whole result. */
static bool learn_patches(const struct nnv_cliff_measuring *x, const struct axis *a, int32_t shorter, int32_t whole,
                          struct nnv_patch_rule *rule) {
    struct nnv_case_env env = {.client = x->client, .arithmetic = x->arithmetic, .arena = x->arena, .phase = x->phase};
    if (a->depth) return false;
    nnv_arena_reset(x->arena);
    const struct nnv_spec *s = make(x, a, shorter), *w = make(x, a, whole);
    const bool learnt = s && w && nnv_patch_learn(s, w, rule) && nnv_patch_verify(&env, rule, s, w, x->seed);
    ++*x->serial;
    return learnt;
}

/** Beyond extents with whole results, to the longest that patches are judged of. */
static void go_on(const struct nnv_cliff_measuring *x, const struct axis *a, int32_t shorter, int32_t whole,
                  double elements) {
    struct nnv_patch_rule rule;
    struct axis s = *a;
    const double room = whole * (MOST_SAMPLED_ELEMENTS / elements);
    const int32_t limit = !a->depth && a->op->factors[a->factor].pair ? MOST_SAMPLED_PAIR : MOST_SAMPLED_EXTENT;
    const int32_t most = room < limit ? (int32_t)room : limit;
    if (most <= whole || !learn_patches(x, a, shorter, whole, &rule)) return;
    s.rule = &rule;
    s.shorter = shorter;
    x->out->shorter = shorter;
    x->out->whole = whole;
    /* the same extent first: without a golden result the quantisation of the output may be another */
    struct probe seen = ask(x, &s, whole, 1);
    if (seen.state != RIGHT) return;
    x->out->sampled++;
    for (int32_t right = whole; right < most;) {
        /* drawing values may take as the square of how many there are */
        const int32_t fits = (int32_t)fmin(SAMPLED_STEP, sqrt((double)SLOW_PROBE_NS / (double)seen.took_ns));
        if (fits < 2) return;
        const int32_t next = right < most / fits ? right * fits : most;
        seen = ask(x, &s, next, 1);
        if (seen.state != RIGHT && seen.state != NONE) find_change(x, &s, right, next, seen);
        if (seen.state != RIGHT) return;
        right = next;
    }
}

static void measure_axis(const struct nnv_cliff_measuring *x, const struct axis *a) {
    struct probe p[MOST_STEPS];
    int32_t extent[MOST_STEPS];
    int n = 0;
    bool same = true;
    x->out->passed = x->out->shorter = x->out->whole = 0;
    for (int32_t e = usual(a); n < MOST_STEPS && e <= (a->depth ? DEEPEST : MOST_EXTENT); e = doubled(e)) {
        const struct probe seen = ask(x, a, e, 1);
        same = seen.state == RIGHT;
        if (seen.state == NONE || (n == 0 && !same)) break;
        if (!same) {
            find_change(x, a, extent[n - 1], e, seen);
            break;
        }
        extent[n] = e;
        p[n++] = seen;
        if (n > 1 && seen.execute_ns > suspect * p[n - 2].execute_ns && seen.execute_ns > least_ns)
            find_slowdown(x, a, extent[n - 2], e);
        if (seen.bytes > MOST_BYTES || seen.took_ns > SLOW_PROBE_NS) break;
    }
    const bool grows = judge_growth(x, a, p, extent, n);
    if (!grows && same && n > 1 && p[n - 1].took_ns <= SLOW_PROBE_NS)
        go_on(x, a, extent[n - 2], extent[n - 1], p[n - 1].elements);
    x->out->trying = 0;
}

/** The factor is an extent: it has long values. */
static bool is_extent(const struct nnv_factor *f) {
    int32_t longest = f->large > f->huge ? f->large : f->huge;
    for (uint8_t i = 0; i < f->nsizes; i++) {
        const int32_t s = !f->pair                                                     ? f->sizes[i]
                          : nnv_pair_height(f->sizes[i]) > nnv_pair_width(f->sizes[i]) ? nnv_pair_height(f->sizes[i])
                                                                                       : nnv_pair_width(f->sizes[i]);
        if (s > longest) longest = s;
    }
    return f->words == NULL && longest >= LEAST_LONGEST;
}

/** A process has ended at the extent `trying`: bisects between that and the last that passed. Each further end goes on
 * here, in the next process. */
static void find_end(const struct nnv_cliff_measuring *x, const struct axis *a) {
    struct nnv_patch_rule rule;
    struct axis s = *a;
    int32_t first = x->out->trying;
    s.shorter = x->out->shorter;
    if (s.shorter > 0 && learn_patches(x, a, s.shorter, x->out->whole, &rule)) s.rule = &rule;
    while (x->out->passed > 0 && first - x->out->passed > 1) {
        const int32_t middle = x->out->passed + (first - x->out->passed) / 2;
        if (ask(x, &s, middle, 1).state != RIGHT) first = middle;
    }
    struct nnv_cliff *c = x->out->passed > 0 ? add(x, a, NNV_CLIFF_DIES, x->out->passed, first) : NULL;
    if (c != NULL) x->out->count++;
    x->out->trying = 0;
}

/** Measures an axis, unless a process before has. False: the time is over. */
static bool look_at(const struct nnv_cliff_measuring *x, const struct axis *a, uint32_t number) {
    if (number < x->out->begun || (number == x->out->begun && x->out->trying == 0)) return true;
    x->out->unfinished = x->until_ns > 0 && nnv_now_ns() > x->until_ns;
    if (x->out->unfinished) return false;
    if (number == x->out->begun) {
        find_end(x, a);
    } else {
        x->out->begun = number;
        measure_axis(x, a);
    }
    x->out->done++;
    return true;
}

/** Measures all axes of an operation with one combination of types. False: the time is over. */
static bool look_at_all(const struct nnv_cliff_measuring *x, const struct nnv_op *op, int sig, uint32_t *number) {
    for (uint8_t f = 0; f < op->nfactors; f++)
        for (int part = 0; is_extent(&op->factors[f]) && part < (op->factors[f].pair ? 2 : 1); part++)
            if (!look_at(x, &(struct axis){.op = op, .sig = sig, .factor = f, .part = part}, ++*number)) return false;
    if (!nnv_repeat_has(op, op->sigs[sig].type[NNV_T])) return true;
    return look_at(x, &(struct axis){.op = op, .sig = sig, .depth = true}, ++*number);
}

void nnv_cliffs_measure(const struct nnv_cliff_measuring *x) {
    size_t all;
    const struct nnv_op *const *ops = nnv_ops(&all);
    uint32_t number = 0;
    for (size_t i = 0; i < all; i++) {
        if (x->operations && fnmatch(x->operations, ops[i]->name, 0) != 0) continue;
        for (int sig = 0; sig < ops[i]->nsigs; sig++)
            if (nnv_single_is_first(ops[i], sig) && !look_at_all(x, ops[i], sig, &number)) return;
    }
}
