/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/determinism.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/type.h"

static const size_t KEPT_OF_A_PASS = (size_t)256 << 20;

/* ------------------------------------------------------------------ answers */

/** In front of the bytes of an output. */
struct header {
    uint32_t output, rank, dims[NNV_MAX_RANK];
    int32_t type;
    uint32_t kept; /**< its bytes follow */
    uint64_t bytes, hash;
};

void nnv_answers_clear(struct nnv_answers *a) {
    nnv_text_clear(&a->blob);
    a->kept_all = true;
}

void nnv_answers_add(struct nnv_answers *a, uint32_t output, const struct nnv_operand *o, const struct nnv_value *v) {
    struct header h = {.output = output, .rank = v->rank, .type = o->type, .bytes = v->bytes};
    memcpy(h.dims, v->dims, v->rank * sizeof *h.dims);
    h.hash = nnv_hash_bytes(v->data, v->bytes);
    a->kept_all = a->kept_all && a->blob.len + v->bytes <= NNV_ANSWERS_BYTES;
    h.kept = a->kept_all;
    nnv_text_add_n(&a->blob, (const char *)&h, sizeof h);
    if (h.kept) nnv_text_add_n(&a->blob, (const char *)v->data, v->bytes);
}

/** Takes the next output off *b; false at the end, or if it makes no sense. */
static bool next_answer(struct nnv_bytes *b, struct header *h, const char **data) {
    if (b->len < sizeof *h) return false;
    memcpy(h, b->data, sizeof *h);
    const uint64_t more = h->kept ? h->bytes : 0;
    if (h->rank > NNV_MAX_RANK || more > b->len - sizeof *h) return false;
    *data = h->kept ? b->data + sizeof *h : NULL;
    b->data += sizeof *h + more;
    b->len -= sizeof *h + (size_t)more;
    return true;
}

static void add_dims(struct nnv_text *t, const uint32_t *dims, uint32_t rank) {
    nnv_text_add(t, "[");
    for (uint32_t i = 0; i < rank; i++) nnv_text_addf(t, "%s%u", i ? "," : "", dims[i]);
    nnv_text_add(t, "]");
}

/** Adds element i of data as it is stored. */
static void add_element(struct nnv_text *t, const struct nnv_type *type, const char *data, size_t i) {
    double v;
    nnv_load(type->code, data + i * type->size, 1, &v);
    nnv_text_addf(t, "%.9g", v);
}

/** Adds where two outputs of the same form differ. */
static void add_places(struct nnv_text *t, const struct header *h, const char *a, const char *b) {
    const struct nnv_type *type = nnv_type(h->type);
    const size_t size = type != NULL ? type->size : 0;
    if (size == 0 || a == NULL || b == NULL) {
        nnv_text_add(t, ": the bytes differ");
        return;
    }
    const size_t n = (size_t)h->bytes / size;
    size_t first = n, differ = 0;
    for (size_t i = n; i-- > 0;) {
        if (memcmp(a + i * size, b + i * size, size) == 0) continue;
        first = i;
        differ++;
    }
    uint32_t at[NNV_MAX_RANK];
    size_t left = first;
    for (uint32_t d = h->rank; d-- > 0;) {
        at[d] = (uint32_t)(left % (h->dims[d] ? h->dims[d] : 1));
        left /= h->dims[d] ? h->dims[d] : 1;
    }
    nnv_text_addf(t, ": %zu of %zu values differ, first at ", differ, n);
    add_dims(t, at, h->rank);
    nnv_text_add(t, ": ");
    if (first == n) return;
    add_element(t, type, a, first);
    nnv_text_add(t, " and ");
    add_element(t, type, b, first);
}

bool nnv_answers_differ(struct nnv_bytes a, struct nnv_bytes b, struct nnv_text *t) {
    struct header x, y;
    const char *p, *q;
    while (next_answer(&a, &x, &p) && next_answer(&b, &y, &q)) {
        const bool form = x.rank == y.rank && memcmp(x.dims, y.dims, x.rank * sizeof *x.dims) == 0 &&
                          x.type == y.type && x.bytes == y.bytes && x.output == y.output;
        if (form && x.hash == y.hash) continue;
        nnv_text_addf(t, "output %u ", x.output);
        add_dims(t, x.dims, x.rank);
        if (form) {
            add_places(t, &x, p, q);
        } else {
            nnv_text_add(t, ": has shape ");
            add_dims(t, y.dims, y.rank);
            nnv_text_add(t, " then");
        }
        return true;
    }
    return false;
}

/* ----------------------------------------------------------------- in a worker */

static struct nnv_bytes bytes_of(const struct nnv_answers *a) {
    return (struct nnv_bytes){a->blob.data, a->blob.failed ? 0 : a->blob.len};
}

static void fail(struct nnv_result *r, const char *what, const struct nnv_text *where) {
    r->verdict = NNVTS_FAIL;
    nnv_text_clear(&r->reason);
    nnv_text_addf(&r->reason, "not deterministic: other bytes %s: %s", what, where->data != NULL ? where->data : "?");
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
