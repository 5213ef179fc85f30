/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/determinism.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t KEPT_OF_A_PASS = (size_t)256 << 20;

/* ----------------------------------------------------------------- in a worker */

static struct nnv_bytes bytes_of(const struct nnv_answers *a) {
    return (struct nnv_bytes){a->blob.data, a->blob.failed ? 0 : a->blob.len};
}

static void fail(struct nnv_result *r, const char *what, const struct nnv_text *where) {
    nnv_text_clear(&r->reason);
    nnv_result_end(r, NNVTS_WHY_NOT_DETERMINISTIC, "not deterministic: other bytes %s: %s", what,
                   where->data != NULL ? where->data : "?");
}

void nnv_case_run_determinism(struct nnv_case_env *env, const struct nnv_case *c, uint32_t index,
                              const struct nnv_passes *passes, struct nnv_result *result) {
    struct nnv_answers first = {.kept_all = true}, second = {.kept_all = true};
    struct nnv_result again = {.verdict = NNVTS_ERROR};
    struct nnv_text where = {0};
    env->answers = &first;
    env->twice = true;
    nnv_case_run(env, c, result);
    if (result->verdict == NNVTS_PASS && first.blob.len > 0) {
        env->answers = &second;
        env->twice = false;
        if (env->serial != NULL) atomic_fetch_add(env->serial, 1);
        nnv_case_run(env, c, &again);
        result->worker_damaged = result->worker_damaged || again.worker_damaged;
        if (nnv_answers_differ(bytes_of(&first), bytes_of(&second), &where))
            fail(result, "when it is compiled again", &where);
        for (size_t i = 0; passes != NULL && i < passes->count && result->verdict == NNVTS_PASS; i++)
            if (index < passes->cases && nnv_answers_differ(bytes_of(&first), passes->pass[i].answers[index], &where))
                fail(result, passes->pass[i].what, &where);
    }
    env->answers = NULL;
    env->twice = false;
    nnv_text_free(&again.reason);
    nnv_text_free(&again.outputs);
    nnv_text_free(&again.answer);
    nnv_text_free(&first.blob);
    nnv_text_free(&second.blob);
    nnv_text_free(&where);
}

/* --------------------------------------------------------------- the passes */

static enum nnv_status on_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    struct nnv_pass *p = context;
    struct nnv_bytes *to = &p->answers[e->index];
    if (e->verdict != NNVTS_PASS || e->answer.len == 0 || p->bytes + e->answer.len > KEPT_OF_A_PASS) return NNV_OK;
    char *copy = malloc(e->answer.len);
    if (copy == NULL) return nnv_no_memory(err);
    memcpy(copy, e->answer.data, e->answer.len);
    *to = (struct nnv_bytes){copy, e->answer.len};
    p->bytes += e->answer.len;
    return NNV_OK;
}

/** "isa=avx2,threads=3", malloc'ed; NULL when out of memory. */
static char *with_threads(const char *options, const char *threads, long n) {
    struct nnv_text t = {0};
    if (options != NULL && *options != '\0') nnv_text_addf(&t, "%s,", options);
    nnv_text_addf(&t, "%s%ld", threads, n);
    if (!t.failed) return t.data;
    nnv_text_free(&t);
    return NULL;
}

/** One pass; n threads where that is not 0. */
static enum nnv_status run_pass(const struct nnv_pool_options *like, const char *what, const char *threads, long n,
                                struct nnv_passes *passes, bool *interrupted, struct nnv_err *err) {
    struct nnv_run_config config = *like->config;
    struct nnv_pool_options pool = *like;
    struct nnv_pass *p = &passes->pass[passes->count++];
    char *options = n > 0 && threads != NULL ? with_threads(config.driver_options, threads, n) : NULL;
    *p = (struct nnv_pass){.what = what, .answers = calloc(like->count + 1, sizeof *p->answers)};
    if (p->answers == NULL || (n > 0 && threads != NULL && options == NULL)) {
        free(options);
        return nnv_no_memory(err);
    }
    config.determinism = NNV_DETERMINISM_PASS;
    config.one_cpu = n == 1;
    if (options != NULL) config.driver_options = options;
    pool.config = &config;
    pool.context = p;
    enum nnv_status st = nnv_pool_run(&pool, interrupted, err);
    free(options);
    return st;
}

enum nnv_status nnv_passes_run(const struct nnv_run_config *config, const struct nnv_case *cases, size_t count,
                               const bool *skip, const char *threads, struct nnv_passes *passes, bool *interrupted,
                               struct nnv_err *err) {
    const struct nnv_pool_options like = {
        .config = config, .cases = cases, .count = count, .skip = skip, .ended = on_ended};
    const bool given = threads != NULL && config->driver_options != NULL && strstr(config->driver_options, threads);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    passes->count = 0;
    passes->cases = count;
    *interrupted = false;
    enum nnv_status st = run_pass(&like, "in another process", NULL, 0, passes, interrupted, err);
    if (st == NNV_OK && !*interrupted)
        st = run_pass(&like, "with one thread on one processor", given ? NULL : threads, 1, passes, interrupted, err);
    if (st == NNV_OK && !*interrupted && threads != NULL && !given)
        st = run_pass(&like, "with another number of threads", threads, cores > 1 && cores < 32 ? 2 * cores - 1 : 3,
                      passes, interrupted, err);
    return st;
}

void nnv_passes_free(struct nnv_passes *p) {
    for (size_t i = 0; i < p->count; i++) {
        for (size_t k = 0; p->pass[i].answers != NULL && k < p->cases; k++) free((char *)p->pass[i].answers[k].data);
        free(p->pass[i].answers);
    }
    *p = (struct nnv_passes){0};
}
