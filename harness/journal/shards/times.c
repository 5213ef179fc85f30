/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/shards/times.h"

#include <stdlib.h>

#include "base/rng.h"
#include "harness/journal/load.h"

struct mean {
    double us;
    size_t count;
};

struct nnv_times {
    struct nnv_report *past;
    struct nnv_id_map classes; /**< of suites, and of their operations */
    struct mean *mean;         /**< one for each class */
    struct mean all;
};

static uint64_t suite_key(const char *suite) { return nnv_hash_str(suite); }

static uint64_t operation_key(const char *suite, const char *op) {
    const uint64_t pair[] = {nnv_hash_str(suite), nnv_hash_str(op)};
    return nnv_hash_bytes(pair, sizeof pair);
}

static void add(struct mean *m, double us) { m->us += (us - m->us) / (double)++m->count; }

/** False when out of memory. */
static bool add_to(struct nnv_times *t, uint64_t key, double us) {
    const uint32_t n = nnv_id_add(&t->classes, key);
    if (n == NNV_MAP_NONE) return false;
    add(&t->mean[n], us);
    return true;
}

static bool learn(struct nnv_times *t) {
    const struct nnv_report *r = t->past;
    t->mean = calloc(2 * r->count + 1, sizeof *t->mean);
    bool ok = t->mean != NULL;
    for (size_t i = 0; ok && i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        const char *suite = r->suites.key[c->suite];
        if (c->length == 0) continue;
        add(&t->all, nnv_case_ms(c) * 1000);
        ok = add_to(t, suite_key(suite), nnv_case_ms(c) * 1000) &&
             add_to(t, operation_key(suite, r->ops.key[c->op]), nnv_case_ms(c) * 1000);
    }
    return ok;
}

enum nnv_status nnv_times_read(const char *folder, struct nnv_times **times, struct nnv_err *err) {
    struct nnv_times *t = calloc(1, sizeof *t);
    if (t == NULL) return nnv_no_memory(err);
    enum nnv_status s = nnv_report_load(folder, &t->past, err);
    if (s == NNV_OK && !learn(t)) s = nnv_no_memory(err);
    if (s == NNV_OK && t->all.count == 0) s = nnv_fail(err, NNV_INVALID, "nothing has run in %s", folder);
    if (s == NNV_OK)
        *times = t;
    else
        nnv_times_free(t);
    return s;
}

double nnv_times_of(const struct nnv_times *t, const struct nnv_case *c, bool *measured) {
    const uint32_t at = nnv_report_find(t->past, c->name);
    *measured = at != NNV_MAP_NONE && t->past->item[at].length > 0;
    if (*measured) return nnv_case_ms(&t->past->item[at]) * 1000;
    uint32_t class = nnv_id_find(&t->classes, operation_key(c->suite, c->op));
    if (class == NNV_MAP_NONE) class = nnv_id_find(&t->classes, suite_key(c->suite));
    return class == NNV_MAP_NONE ? t->all.us : t->mean[class].us;
}

void nnv_times_free(struct nnv_times *t) {
    if (t == NULL) return;
    nnv_report_free(t->past);
    nnv_id_free(&t->classes);
    free(t->mean);
    free(t);
}
