/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst.c Bursts: what memory tokens mean, what is kept and for how long, one call at a time. */
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "harness/suites/exec/exec.h"

/** Two requests with other inputs each, and a burst for them. */
struct pair {
    struct nnv_fixture fixtures[2];
    struct nnv_request values[2];
    struct nnv_exec_run run;
};

/** In memory of this kind: where it has no pointer, a driver must map it, and may keep it. */
static bool make_pair(struct nnv_exec *x, enum nnv_pool_kind kind, struct pair *p) {
    p->run = (struct nnv_exec_run){.v = NULL};
    return nnv_context_needs(x->s, x->prepared, NNV_MODE_BURST) &&
           nnv_exec_variants(x, kind, 2, p->fixtures, p->values) &&
           nnv_exec_make(x, &p->run, x->prepared, NNV_MODE_BURST, &p->values[0], NULL) &&
           nnv_context_open(x->s, &p->run.x);
}

/** The next request of the burst. */
static void take(struct nnv_exec_run *run, struct nnv_request *v, const int64_t *tokens) {
    run->v = v;
    run->x.request = &v->abi;
    run->x.result = &v->result;
    run->x.tokens = tokens;
}

static bool run_one(struct nnv_exec *x, struct pair *p, int which, const int64_t *tokens) {
    take(&p->run, &p->values[which], tokens);
    return nnv_exec_once(x, &p->run);
}

static bool forget(struct nnv_exec *x, const struct pair *p, int64_t token) {
    struct nnvts_burst *burst = p->run.x.burst;
    nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
    return nnv_expect_status(x->s, "release_memory", burst->release_memory(burst, token), NNVTS_STATUS_NONE);
}

/** The request with these tokens is refused, and a good one is served after it. */
static bool refuse(struct nnv_exec *x, struct pair *p, const char *what, const int64_t *tokens, const int64_t *good) {
    take(&p->run, &p->values[0], tokens);
    return nnv_context_run(x->s, &p->run.x) && nnv_exec_refused(x, what, p->run.x.status, &p->values[0]) &&
           run_one(x, p, 0, good);
}

/* ----------------------------------------------------------------------- tokens */

/** Equal tokens mean equal memory; what lies in it may change. */
static void kept(struct nnv_exec *x) {
    static const int64_t tokens[] = {7, 8};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p);
    for (int i = 0; i < 6 && ok; i++) {
        nnv_context_fill(&p.values[0], &p.fixtures[i % 2]);
        ok = run_one(x, &p, 0, tokens);
    }
    nnv_exec_end(x, &p.run);
}

/** Several memories kept at once under tokens of their own, large and small, in turns. */
static void several_kept(struct nnv_exec *x) {
    static const int64_t tokens[2][2] = {{0, INT64_MAX}, {INT32_MAX, (int64_t)INT32_MAX + 1}};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p);
    for (int i = 0; i < 6 && ok; i++) ok = run_one(x, &p, i % 2, tokens[i % 2]);
    nnv_exec_end(x, &p.run);
}

/** A token that was released names other memory the next time: the least and the largest one, too. */
static void reuse_tokens(struct nnv_exec *x, enum nnv_pool_kind kind) {
    static const int64_t tokens[][2] = {{7, 8}, {0, INT64_MAX}, {1, 0}};
    enum { USES = 4, SETS = sizeof tokens / sizeof *tokens };
    struct pair p;
    bool ok = make_pair(x, kind, &p);
    for (int i = 0; i < USES * SETS && ok; i++) {
        const int64_t *own = tokens[i / USES];
        ok = run_one(x, &p, i % 2, own) && forget(x, &p, own[1]) && forget(x, &p, own[0]);
    }
    nnv_exec_end(x, &p.run);
}
static void token_reused(struct nnv_exec *x) { reuse_tokens(x, NNV_POOL_FD_ONLY); }
static void token_reused_mapped(struct nnv_exec *x) { reuse_tokens(x, NNV_POOL_READ_ONLY); }

/** Both requests in the same pools, one behind the other. */
static bool share_pools(struct nnv_exec *x, struct pair *p) {
    struct nnv_abi_pool pools[2];
    struct nnv_request *first = &p->values[0], *second = &p->values[1];
    for (int k = 0; k < 2; k++)
        if (!nnv_context_memory(x->s, 2 * first->bytes[k], NNV_POOL_FD_ONLY, &pools[k].memory, &pools[k].data))
            return false;
    nnv_request_place(first, &pools[0], &pools[1]);
    nnv_request_place(second, &pools[0], &pools[1]);
    for (uint32_t i = 0; i < second->model->main.nin; i++) {
        if (second->in[i].omitted) continue;
        second->inputs[i].location.offset += (uint32_t)first->bytes[0];
        second->input_at[i] += first->bytes[0];
    }
    for (uint32_t i = 0; i < second->model->main.nout; i++) {
        second->output_places[i].offset += (uint32_t)first->bytes[1];
        second->output_at[i] += first->bytes[1];
    }
    nnv_request_fill(first, first->in);
    nnv_request_fill(second, second->in);
    nnv_request_reset(second);
    return true;
}

/** A kept memory, and arguments elsewhere in it from one execution to the next. */
static void arguments_moved(struct nnv_exec *x) {
    static const int64_t tokens[] = {7, 8};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p) && share_pools(x, &p);
    for (int i = 0; i < 6 && ok; i++) ok = run_one(x, &p, i % 2, tokens);
    nnv_exec_end(x, &p.run);
}

/** A request with the inputs of one and the outputs of another. */
struct mixed {
    struct nnv_request values;
    struct nnvts_memory pools[2];
};

static void mix(const struct pair *p, int in, int out, struct mixed *m) {
    m->values = p->values[out];
    m->values.fixture = &p->fixtures[in];
    m->values.in = p->values[in].in;
    m->values.input_at = p->values[in].input_at;
    m->values.inputs = p->values[in].inputs;
    m->values.abi.inputs = p->values[in].inputs;
    m->pools[0] = p->values[in].abi.pools[0];
    m->pools[1] = p->values[out].abi.pools[1];
    m->values.abi.pools = m->pools;
}

/** Inputs and outputs take turns in being replaced; what is not released stays. */
static void one_replaced(struct nnv_exec *x) {
    static const int64_t tokens[] = {7, 8};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p);
    for (int i = 0; i < 8 && ok; i++) {
        struct mixed m;
        mix(&p, (i + 1) / 2 % 2, i / 2 % 2, &m);
        take(&p.run, &m.values, tokens);
        ok = nnv_exec_once(x, &p.run) && forget(x, &p, tokens[i % 2]);
    }
    nnv_exec_end(x, &p.run);
}

/** The tokens of inputs and outputs change places. */
static void tokens_swapped(struct nnv_exec *x) {
    static const int64_t tokens[][2] = {{7, 8}, {8, 7}};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p);
    for (int i = 0; i < 4 && ok; i++) ok = run_one(x, &p, i / 2, tokens[i % 2]) && forget(x, &p, 7) && forget(x, &p, 8);
    nnv_exec_end(x, &p.run);
}

/** Memory with the token -1 is not kept, beside such that is. */
static void never_kept(struct nnv_exec *x) {
    static const int64_t none[] = {-1, -1}, second[] = {-1, 8};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p);
    for (int i = 0; i < 4 && ok; i++) ok = run_one(x, &p, i % 2, none);
    for (int i = 0; i < 2 && ok; i++) ok = run_one(x, &p, i, second) && forget(x, &p, 8);
    nnv_exec_end(x, &p.run);
}

/** Releasing what is not kept does nothing; a token below 0 can't be released. */
static void release_unknown(struct nnv_exec *x) {
    static const int64_t tokens[] = {7, 8}, bad[] = {-1, -2, INT64_MIN};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p) && forget(x, &p, 7) && run_one(x, &p, 0, tokens) &&
              forget(x, &p, 99) && forget(x, &p, 0) && run_one(x, &p, 0, tokens) && forget(x, &p, 7) &&
              forget(x, &p, 7) && run_one(x, &p, 0, tokens);
    for (size_t i = 0; i < sizeof bad / sizeof *bad && ok; i++)
        ok = nnv_expect_status(x->s, "release_memory of a token below 0",
                               p.run.x.burst->release_memory(p.run.x.burst, bad[i]), NNVTS_STATUS_INVALID_ARGUMENT);
    if (ok) run_one(x, &p, 0, tokens);
    nnv_exec_end(x, &p.run);
}

/** Tokens below -1 are none; then the burst serves on. */
static void bad_tokens(struct nnv_exec *x) {
    static const int64_t good[] = {7, 8}, bad[][2] = {{-2, 8}, {7, -2}, {7, INT64_MIN}};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p);
    for (size_t i = 0; i < sizeof bad / sizeof *bad && ok; i++) {
        nnv_request_reset(&p.values[0]);
        ok = refuse(x, &p, "execute of a burst with a memory token below -1", bad[i], good);
    }
    nnv_exec_end(x, &p.run);
}

/** A request that breaks a rule is refused, with memory that is kept and with new memory. */
static void refused(struct nnv_exec *x) {
    static const int64_t tokens[] = {7, 8};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p);
    for (int i = 0; i < 2 && ok; i++) {
        nnv_request_reset(&p.values[0]);
        p.values[0].outputs[0].location.pool = 2;
        ok = refuse(x, &p, "execute of a burst with an output in a pool that does not exist", tokens, tokens);
    }
    nnv_exec_end(x, &p.run);
}

/* ------------------------------------------------------------------------ lives */

/** Tokens belong to a burst: another one's mean nothing. */
static void two_bursts(struct nnv_exec *x) {
    static const int64_t tokens[] = {7, 8};
    struct pair p;
    bool ok = make_pair(x, NNV_POOL_FD_ONLY, &p);
    struct nnv_exec_run first = p.run, second = {.v = NULL};
    ok = ok && nnv_exec_make(x, &second, x->prepared, NNV_MODE_BURST, &p.values[1], NULL) &&
         nnv_context_open(x->s, &second.x);
    for (int i = 0; i < 4 && ok; i++) {
        p.run = i % 2 ? second : first;
        ok = run_one(x, &p, i % 2, tokens);
    }
    nnv_exec_end(x, &first);
    p.run = second;
    if (ok) run_one(x, &p, 1, tokens);
    nnv_exec_end(x, &second);
}

/** A burst may be released behind its prepared model. */
static void outlives_model(struct nnv_exec *x) {
    static const int64_t tokens[] = {7, 8};
    struct pair p;
    if (make_pair(x, NNV_POOL_FD_ONLY, &p) && run_one(x, &p, 0, tokens)) {
        struct nnvts_prepared_model *again;
        nnv_context_release(x->s, x->prepared);
        x->prepared = NULL;
        nnv_exec_end(x, &p.run);
        if ((again = nnv_context_prepare(x->s, &x->fixture))) nnv_context_execute(x->s, again, &x->values);
        nnv_context_release(x->s, again);
        return;
    }
    nnv_exec_end(x, &p.run);
}

/* ------------------------------------------------------------------ concurrency */

/** A call from a thread of its own, of a burst that is open. */
struct call {
    struct nnv_execution x;
    struct nnv_request *v;
    uint64_t start_ns, end_ns;
};

static struct call call_of(const struct nnv_execution *open, struct nnv_request *v) {
    struct call c = {.x = *open, .v = v};
    c.x.request = &v->abi;
    c.x.result = &v->result;
    return c;
}

static void *execute(void *arg) {
    struct call *c = arg;
    nnv_execute(&c->x);
    c->start_ns = c->x.launched_ns;
    c->end_ns = c->start_ns + c->x.ns;
    return NULL;
}

/** The second call began while the first was under way, by a margin on both sides. */
static bool overlap(const struct call *a, const struct call *b, uint64_t margin_ns) {
    return b->start_ns > a->start_ns + margin_ns && b->start_ns + margin_ns < a->end_ns;
}

static bool check_call(struct nnv_exec *x, const struct call *c) {
    return nnv_context_check_memory(x->s, "execute of a burst", c->v) &&
           nnv_expect_status_in(x->s, "execute of a burst, while another call may have been under way,", c->x.status,
                                1u << NNVTS_STATUS_NONE | 1u << NNVTS_STATUS_GENERAL_FAILURE) &&
           nnv_expect(x->s, c->x.status == NNVTS_STATUS_NONE || c->v->result.shape_count == 0,
                      "a call that was refused reports shapes");
}

/** Two calls, the second a while after the first. */
static bool call_both(struct nnv_exec *x, struct call *a, struct call *b, uint64_t while_ns) {
    pthread_t thread;
    nnv_request_reset(a->v);
    nnv_request_reset(b->v);
    nnv_context_enter(x->s, NNV_PHASE_EXECUTE);
    if (pthread_create(&thread, NULL, execute, a) != 0) return nnv_context_error(x->s, "no thread");
    nnv_exec_sleep_us((unsigned)(while_ns / 1000));
    execute(b);
    pthread_join(thread, NULL);
    return check_call(x, a) && check_call(x, b) &&
           nnv_expect(x->s, a->x.status == NNVTS_STATUS_NONE || b->x.status == NNVTS_STATUS_NONE,
                      "both of two concurrent calls of a burst were refused; one must be served");
}

/**
 * One call at a time. No clock proves that two calls met within the driver; but where a second one came in the midst of
 * a first again and again, it was refused at least once.
 */
static void concurrent(struct nnv_exec *x) {
    enum { ROUNDS = 40, TIMES = 64, ENOUGH = 6, LONG_ENOUGH_NS = 400000000 };
    struct nnv_fixture fixture;
    struct nnv_request values[2];
    int overlaps = 0, refusals = 0;
    if (!nnv_exec_work(x, TIMES, &fixture, &x->prepared, &values[0]) ||
        !nnv_context_request(x->s, &fixture, NNV_POOL_READ_ONLY, &values[1]))
        return;
    struct nnv_execution burst = nnv_execution_make(NNV_MODE_BURST, x->prepared, &values[0]);
    if (!nnv_context_open(x->s, &burst)) return;
    struct call alone = call_of(&burst, &values[0]);
    uint64_t length_ns = UINT64_MAX, begin_ns = nnv_now_ns();
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++) {
        nnv_request_reset(alone.v);
        execute(&alone);
        if (alone.end_ns - alone.start_ns < length_ns) length_ns = alone.end_ns - alone.start_ns;
        ok = nnv_expect_status(x->s, "execute of a burst", alone.x.status, NNVTS_STATUS_NONE);
    }
    for (int i = 0; i < ROUNDS && ok && refusals == 0 && overlaps < ENOUGH; i++) {
        if (nnv_now_ns() - begin_ns > LONG_ENOUGH_NS) break; /* a busy machine: nothing is claimed */
        struct call a = alone, b = call_of(&burst, &values[1]);
        ok = call_both(x, &a, &b, length_ns / 3);
        overlaps += overlap(&a, &b, length_ns / 8) || overlap(&b, &a, length_ns / 8);
        refusals += (a.x.status == NNVTS_STATUS_GENERAL_FAILURE) + (b.x.status == NNVTS_STATUS_GENERAL_FAILURE);
    }
    if (ok)
        nnv_expect(x->s, refusals > 0 || overlaps < ENOUGH,
                   "%d times a burst's execute was called in the midst of another call; it must answer "
                   "GENERAL_FAILURE, but was served each time",
                   overlaps);
    nnv_context_close(x->s, &burst);
}

static const struct nnv_exec_case cases[] = {
    {.name = "kept", .run = kept},
    {.name = "several_kept", .run = several_kept},
    {.name = "arguments_moved", .run = arguments_moved},
    {.name = "token_reused", .run = token_reused},
    {.name = "token_reused_mapped", .run = token_reused_mapped},
    {.name = "one_replaced", .run = one_replaced},
    {.name = "tokens_swapped", .run = tokens_swapped},
    {.name = "never_kept", .run = never_kept},
    {.name = "release_unknown", .run = release_unknown},
    {.name = "bad_tokens", .run = bad_tokens},
    {.name = "refused", .run = refused},
    {.name = "two_bursts", .run = two_bursts},
    {.name = "outlives_model", .run = outlives_model},
    {.name = "concurrent", .run = concurrent, .alone = true},
};
const struct nnv_exec_group nnv_exec_burst = NNV_EXEC_GROUP("burst", cases);
