/* SPDX-License-Identifier: Apache-2.0 */
/** @file burst.c Bugs of bursts: a burst around the other driver's, with one function changed each. */
#include <stdlib.h>

#include "faulty.h"

enum { KEPT = 16 };

struct burst {
    struct nnvts_burst base;
    const struct bug *bug;
    struct nnvts_burst *inner;
    struct nnvts_prepared_model *prepared; /**< the other driver's */
    struct kept {
        int64_t token;
        struct nnvts_memory memory;
    } kept[KEPT];
    uint32_t count;
};

/** An execution of a burst. */
struct burst_call {
    const struct nnvts_request *request;
    const int64_t *tokens;
    const struct nnvts_execution_config *config;
    struct nnvts_execution_result *result;
};

static enum nnvts_status pass(struct burst *b, const struct burst_call *k) {
    return b->inner->execute(b->inner, k->request, k->tokens, k->config, k->result);
}

static enum nnvts_status execute(struct nnvts_burst *self, const struct nnvts_request *request, const int64_t *tokens,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result) {
    struct burst *b = (struct burst *)self;
    const struct burst_call k = {request, tokens, config, result};
    return b->bug->burst_execute ? b->bug->burst_execute(b, &k) : pass(b, &k);
}

static enum nnvts_status release_memory(struct nnvts_burst *self, int64_t token) {
    struct burst *b = (struct burst *)self;
    return b->bug->burst_release ? b->bug->burst_release(b, token) : b->inner->release_memory(b->inner, token);
}

static void release(struct nnvts_burst *self) {
    struct nnvts_burst *inner = ((struct burst *)self)->inner;
    inner->release(inner);
    free(self);
}

void faulty_wrap_burst(const struct bug *bug, struct call *c) {
    struct burst *b = calloc(1, sizeof *b);
    if (!b) return;
    b->base = (struct nnvts_burst){sizeof b->base, execute, release_memory, release};
    b->bug = bug;
    b->inner = *c->burst;
    b->prepared = c->inner;
    *c->burst = &b->base;
}

enum nnvts_status burst_untimed(struct burst *b, const struct burst_call *k) {
    struct nnvts_execution_config config = {NNVTS_NO_TIME, NNVTS_NO_TIME, false};
    struct burst_call own = *k;
    if (k->config) config = *k->config;
    config.measure_timing = false;
    own.config = &config;
    return pass(b, &own);
}

/* ----------------------------------------------------------------------- bugs */

/** As if it were done. */
static enum nnvts_status idle(struct burst *b, const struct burst_call *k) {
    (void)b;
    k->result->shape_count = 0;
    return NNVTS_STATUS_NONE;
}

/** The memory that is kept under the token; what is not kept becomes it. */
static struct nnvts_memory keep(struct burst *b, int64_t token, struct nnvts_memory memory) {
    for (uint32_t i = 0; i < b->count; i++)
        if (b->kept[i].token == token) return b->kept[i].memory;
    if (b->count < KEPT) b->kept[b->count++] = (struct kept){token, memory};
    return memory;
}

/** Executes in the memories that were first seen under the tokens; those from `least` on are kept. */
static enum nnvts_status execute_kept(struct burst *b, const struct burst_call *k, int64_t least) {
    struct nnvts_memory pools[KEPT];
    struct nnvts_request r = *k->request;
    int64_t none[KEPT];
    if (!k->tokens || r.pool_count > KEPT) return pass(b, k);
    for (uint32_t i = 0; i < r.pool_count; i++)
        if (k->tokens[i] < -1) return pass(b, k);
    for (uint32_t i = 0; i < r.pool_count; i++) {
        none[i] = -1;
        pools[i] = k->tokens[i] < least ? r.pools[i] : keep(b, k->tokens[i], r.pools[i]);
    }
    r.pools = pools;
    return b->inner->execute(b->inner, &r, none, k->config, k->result);
}

static enum nnvts_status keep_named(struct burst *b, const struct burst_call *k) { return execute_kept(b, k, 0); }
static enum nnvts_status keep_all(struct burst *b, const struct burst_call *k) { return execute_kept(b, k, -1); }

/** Forgets the last memory instead of the one that is named. */
static enum nnvts_status release_last(struct burst *b, int64_t token) {
    if (token < 0) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (b->count) b->count--;
    return NNVTS_STATUS_NONE;
}

/** A token is 32 bits wide here. */
static enum nnvts_status cut_tokens(struct burst *b, const struct burst_call *k) {
    int64_t narrow[KEPT] = {0};
    struct burst_call cut = *k;
    if (!k->tokens || k->request->pool_count > KEPT) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < k->request->pool_count; i++) narrow[i] = (int32_t)(uint32_t)((uint64_t)k->tokens[i]);
    cut.tokens = narrow;
    return keep_named(b, &cut);
}

static enum nnvts_status take_any_token(struct burst *b, const struct burst_call *k) {
    int64_t tokens[KEPT];
    if (!k->tokens || k->request->pool_count > KEPT) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < k->request->pool_count; i++) tokens[i] = k->tokens[i] < 0 ? -1 : k->tokens[i];
    return b->inner->execute(b->inner, k->request, tokens, k->config, k->result);
}

static enum nnvts_status release_any_token(struct burst *b, int64_t token) {
    return token < 0 ? NNVTS_STATUS_NONE : b->inner->release_memory(b->inner, token);
}

/** Unknown tokens are no matter of course. */
static enum nnvts_status refuse_release(struct burst *b, int64_t token) {
    (void)b, (void)token;
    return NNVTS_STATUS_INVALID_ARGUMENT;
}

/** Takes a while, so that calls meet. */
static enum nnvts_status at_any_time(struct burst *b, const struct burst_call *k) {
    for (uint32_t i = 0; i < k->request->pool_count; i++)
        if (k->tokens[i] < -1) return NNVTS_STATUS_INVALID_ARGUMENT;
    sleep_us(6000);
    return b->prepared->execute(b->prepared, k->request, k->config, k->result);
}

/** Neither deadlines nor times. */
static enum nnvts_status ignore_config(struct burst *b, const struct burst_call *k) {
    struct burst_call own = *k;
    own.config = NULL;
    return pass(b, &own);
}

static const struct bug bugs[] = {
    BUG("burst-idle", "a burst that computes nothing", "all bursts", .burst_execute = idle),
    BUG("burst-keeps-released", "a released memory that is used on", "all bursts", .burst_execute = keep_named),
    BUG("burst-keeps-unnamed", "memory kept that has no token", "all bursts", .burst_execute = keep_all,
        .burst_release = release_last),
    BUG("burst-releases-other", "another memory released than the one named", "all bursts", .burst_execute = keep_named,
        .burst_release = release_last),
    BUG("burst-narrow-tokens", "tokens cut to 32 bits", "all bursts", .burst_execute = cut_tokens,
        .burst_release = release_last),
    BUG("burst-any-token", "tokens that are none, accepted", "all bursts", .burst_execute = take_any_token,
        .burst_release = release_any_token),
    BUG("burst-unknown-token", "release of an unknown token refused", "all bursts", .burst_release = refuse_release),
    BUG("burst-config-ignored", "deadlines and measuring that bursts do not know", "all bursts",
        .burst_execute = ignore_config),
    BUG("burst-concurrent", "calls of one burst served at the same time", "all bursts", .burst_execute = at_any_time),
};
const struct bug_group bugs_burst = {bugs, sizeof bugs / sizeof *bugs};
