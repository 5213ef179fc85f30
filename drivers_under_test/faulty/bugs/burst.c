/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_burst.c Bugs of bursts: a burst around the other driver's, with one change each. */
#include <stdlib.h>
#include <time.h>

#include "faulty.h"

enum { KEPT = 16 };

struct burst {
    struct nnvts_burst base;
    struct nnvts_burst *inner;
    struct nnvts_prepared_model *prepared; /**< the other driver's */
    struct kept {
        int64_t token;
        struct nnvts_memory memory;
    } kept[KEPT];
    uint32_t count;
};

static enum nnvts_status pass_release_memory(struct nnvts_burst *self, int64_t memory_token) {
    struct nnvts_burst *inner = ((struct burst *)self)->inner;
    return inner->release_memory(inner, memory_token);
}

static void burst_release(struct nnvts_burst *self) {
    struct nnvts_burst *inner = ((struct burst *)self)->inner;
    inner->release(inner);
    free(self);
}

typedef enum nnvts_status execute_function(struct nnvts_burst *self, const struct nnvts_request *request,
                                           const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                           struct nnvts_execution_result *result);
typedef enum nnvts_status release_function(struct nnvts_burst *self, int64_t memory_token);

static enum nnvts_status make_burst(struct nnvts_prepared_model *self, execute_function *execute,
                                    release_function *release_memory, struct nnvts_burst **out) {
    struct nnvts_prepared_model *inner = faulty_inner(self);
    struct burst *b = calloc(1, sizeof *b);
    if (!b) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    b->base = (struct nnvts_burst){sizeof b->base, execute, release_memory, burst_release};
    b->prepared = inner;
    enum nnvts_status st = inner->create_burst(inner, &b->inner);
    if (st == NNVTS_STATUS_NONE)
        *out = &b->base;
    else
        free(b);
    return st;
}

/* ----------------------------------------------------------------------- bugs */

static enum nnvts_status execute_idle(struct nnvts_burst *self, const struct nnvts_request *request,
                                      const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result) {
    (void)self, (void)request, (void)memory_tokens, (void)config; /* as if it were done */
    result->shape_count = 0;
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
static enum nnvts_status execute_kept(struct nnvts_burst *self, const struct nnvts_request *request,
                                      const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result, int64_t least) {
    struct burst *b = (struct burst *)self;
    struct nnvts_memory pools[KEPT];
    struct nnvts_request r = *request;
    int64_t none[KEPT];
    for (uint32_t i = 0; i < r.pool_count && memory_tokens; i++)
        if (r.pool_count > KEPT || memory_tokens[i] < -1)
            return b->inner->execute(b->inner, request, memory_tokens, config, result);
    for (uint32_t i = 0; i < r.pool_count; i++) {
        none[i] = -1;
        pools[i] = memory_tokens[i] < least ? r.pools[i] : keep(b, memory_tokens[i], r.pools[i]);
    }
    r.pools = pools;
    return b->inner->execute(b->inner, &r, none, config, result);
}

static enum nnvts_status execute_after_release(struct nnvts_burst *self, const struct nnvts_request *request,
                                               const int64_t *memory_tokens,
                                               const struct nnvts_execution_config *config,
                                               struct nnvts_execution_result *result) {
    return execute_kept(self, request, memory_tokens, config, result, 0);
}

static enum nnvts_status execute_keep_all(struct nnvts_burst *self, const struct nnvts_request *request,
                                          const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                          struct nnvts_execution_result *result) {
    return execute_kept(self, request, memory_tokens, config, result, -1);
}

/** Forgets the last memory instead of the one that is named. */
static enum nnvts_status release_last(struct nnvts_burst *self, int64_t memory_token) {
    struct burst *b = (struct burst *)self;
    if (memory_token < 0) return NNVTS_STATUS_INVALID_ARGUMENT;
    if (b->count) b->count--;
    return NNVTS_STATUS_NONE;
}

/** A token is 32 bits wide here. */
static enum nnvts_status execute_narrow(struct nnvts_burst *self, const struct nnvts_request *request,
                                        const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                        struct nnvts_execution_result *result) {
    int64_t narrow[KEPT];
    if (!memory_tokens || request->pool_count > KEPT) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < request->pool_count; i++) narrow[i] = (int32_t)(uint32_t)((uint64_t)memory_tokens[i]);
    return execute_after_release(self, request, narrow, config, result);
}

static enum nnvts_status execute_any_token(struct nnvts_burst *self, const struct nnvts_request *request,
                                           const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                           struct nnvts_execution_result *result) {
    struct nnvts_burst *inner = ((struct burst *)self)->inner;
    int64_t tokens[KEPT];
    if (!memory_tokens || request->pool_count > KEPT) return NNVTS_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < request->pool_count; i++) tokens[i] = memory_tokens[i] < 0 ? -1 : memory_tokens[i];
    return inner->execute(inner, request, tokens, config, result);
}

static enum nnvts_status release_any_token(struct nnvts_burst *self, int64_t memory_token) {
    return memory_token < 0 ? NNVTS_STATUS_NONE : pass_release_memory(self, memory_token);
}

/** Unknown tokens are no matter of course. */
static enum nnvts_status release_known_only(struct nnvts_burst *self, int64_t memory_token) {
    (void)self, (void)memory_token;
    return NNVTS_STATUS_INVALID_ARGUMENT;
}

/** Takes a while, so that calls meet. */
static enum nnvts_status execute_at_any_time(struct nnvts_burst *self, const struct nnvts_request *request,
                                             const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                             struct nnvts_execution_result *result) {
    struct burst *b = (struct burst *)self;
    for (uint32_t i = 0; i < request->pool_count; i++)
        if (memory_tokens[i] < -1) return NNVTS_STATUS_INVALID_ARGUMENT;
    nanosleep(&(struct timespec){0, 6000000}, NULL);
    return b->prepared->execute(b->prepared, request, config, result);
}

static enum nnvts_status pass_execute(struct nnvts_burst *self, const struct nnvts_request *request,
                                      const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                      struct nnvts_execution_result *result) {
    struct nnvts_burst *inner = ((struct burst *)self)->inner;
    return inner->execute(inner, request, memory_tokens, config, result);
}

#define BURST(name, execute, release_memory)                                                                           \
    static enum nnvts_status create_##name(struct nnvts_prepared_model *self, struct nnvts_burst **out) {              \
        return make_burst(self, execute, release_memory, out);                                                         \
    }                                                                                                                  \
    static void name(struct nnvts_prepared_model *prepared) {                                                          \
        if (prepared->create_burst) prepared->create_burst = create_##name;                                            \
    }
BURST(idle, execute_idle, pass_release_memory)
BURST(keep_released, execute_after_release, pass_release_memory)
BURST(keep_unnamed, execute_keep_all, release_last)
BURST(release_other, execute_after_release, release_last)
BURST(narrow_tokens, execute_narrow, release_last)
BURST(any_token, execute_any_token, release_any_token)
BURST(unknown_token, pass_execute, release_known_only)
BURST(at_any_time, execute_at_any_time, pass_release_memory)

static const struct bug bugs[] = {
    BUG("burst-idle", "a burst that computes nothing", "all bursts", .prepared = idle),
    BUG("burst-keeps-released", "a released memory that is used on", "all bursts", .prepared = keep_released),
    BUG("burst-keeps-unnamed", "memory kept that has no token", "all bursts", .prepared = keep_unnamed),
    BUG("burst-releases-other", "another memory released than the one named", "all bursts", .prepared = release_other),
    BUG("burst-narrow-tokens", "tokens cut to 32 bits", "all bursts", .prepared = narrow_tokens),
    BUG("burst-any-token", "tokens that are none, accepted", "all bursts", .prepared = any_token),
    BUG("burst-unknown-token", "release of an unknown token refused", "all bursts", .prepared = unknown_token),
    BUG("burst-concurrent", "calls of one burst served at the same time", "all bursts", .prepared = at_any_time),
};
const struct bug_group bugs_burst = {bugs, sizeof bugs / sizeof *bugs};
