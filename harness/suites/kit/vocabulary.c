/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/kit/vocabulary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "harness/client/run.h"
#include "harness/runner/ask.h"
#include "randgraph/graph/catalogue.h"
#include "randgraph/single/single.h"

static const uint64_t ASKING_NS = 3000000000; /* of one question */
enum {
    SPREAD = 24, /* questions that tell whether a driver has nearly all */
    DEATHS = 40, /* processes that may be lost on the way */
};

/** What the process fills; a driver may have written over it. */
struct answers {
    uint32_t asked;
    uint8_t has[];
};

/** Questions: uses of the catalogue, by their numbers. */
struct asking {
    const struct nnv_graph_catalogue *all;
    const uint32_t *list;
    uint32_t count, first;
};

/** True if the driver says that it has the use, in its first case; a library that cannot be asked compiles it. */
static bool has_use(struct nnv_answering *in, const struct nnv_graph_use *u) {
    const struct nnv_single what = {.op = u->op, .sig = u->sig, .variant = u->variant, .name = u->op->name};
    struct nnv_spec *spec;
    struct nnv_text words = {0};
    enum nnvts_status ignored;
    if (u->op->sigs[u->sig].level > in->client->device->feature_level) return false;
    if (nnv_single_build(&what, in->arena, &spec, NULL) != NNV_OK) return false;
    if (spec->min_version > in->client->device->feature_level) return false;
    const bool has = nnv_client_supports(in->client, &spec->model, in->arena, in->phase, &ignored, &words);
    nnv_text_free(&words);
    return has;
}

static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    const struct asking *asking = in->context;
    struct answers *out = in->shared;
    (void)err;
    for (uint32_t i = asking->first; i < asking->count; i++) {
        out->asked = i + 1;
        ++*in->progress; /* the time begins anew with each question */
        out->has[i] = has_use(in, &asking->all->use[asking->list[i]]);
        nnv_arena_reset(in->arena);
    }
    return NNV_OK;
}

/**
 * Asks all of the list and sets has[use] where the answer is yes. A question that ends the process is a no; behind one
 * that hangs nothing is asked.
 */
static enum nnv_status ask_all(const struct nnv_run_config *config, struct asking asking, bool *has,
                               struct nnv_err *err) {
    for (int deaths = 0; asking.first < asking.count && deaths < DEATHS; deaths++) {
        struct nnv_ask ask = {.answer = answer,
                              .context = &asking,
                              .bytes = sizeof(struct answers) + asking.count,
                              .driver = config->driver_path,
                              .driver_options = config->driver_options,
                              .timeout_ns = ASKING_NS < config->timeout_ns ? ASKING_NS : config->timeout_ns};
        const enum nnv_status st = nnv_ask(&ask, err);
        const struct answers *told = ask.shared;
        const uint32_t from = asking.first;
        if (st == NNV_OK && told) {
            const uint32_t asked = told->asked > from && told->asked <= asking.count ? told->asked : from + 1;
            for (uint32_t i = from; i < asked; i++)
                has[asking.list[i]] = told->has[i] == 1 && (ask.complete || i + 1 < asked);
            asking.first = ask.complete || ask.end.timed_out ? asking.count : asked;
        }
        nnv_ask_free(&ask);
        if (st != NNV_OK || !told) return st;
    }
    return NNV_OK;
}

static uint32_t count_of(const struct asking *a, const bool *has) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->count; i++) count += has[a->list[i]];
    return count;
}

static bool is_same(const struct nnv_graph_use *a, const struct nnv_graph_use *b) {
    return a->op == b->op && nnv_graph_use_type(a) == nnv_graph_use_type(b);
}

/** The first use of each operation and type; those of one stand side by side in the catalogue. */
static uint32_t list_first(const struct nnv_graph_catalogue *c, uint32_t *list) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (i == 0 || !is_same(&c->use[i], &c->use[i - 1])) list[n++] = i;
    return n;
}

/** The other uses of each operation and type that the driver has. */
static uint32_t list_others(const struct nnv_graph_catalogue *c, const bool *has, uint32_t *list) {
    uint32_t n = 0, first = 0;
    for (uint32_t i = 1; i < c->count; i++) {
        if (!is_same(&c->use[i], &c->use[first]))
            first = i;
        else if (has[first])
            list[n++] = i;
    }
    return n;
}

static enum nnv_status restrict_to(const struct nnv_run_config *config, const struct nnv_graph_catalogue *c,
                                   uint32_t *list, bool *has, struct nnv_text *said, struct nnv_err *err) {
    struct asking ask = {.all = c, .list = list, .count = list_first(c, list)};
    const uint32_t all = ask.count;
    /* Some of them first: who has nearly all is not asked for the others. */
    struct asking some = {.all = c, .list = list + all};
    for (uint32_t i = 0; i < SPREAD; i++) list[all + some.count++] = list[(size_t)i * all / SPREAD];
    enum nnv_status st = ask_all(config, some, has, err);
    if (st != NNV_OK || count_of(&some, has) * 4 >= SPREAD * 3) return st;
    st = ask_all(config, ask, has, err);
    const uint32_t known = count_of(&ask, has);
    ask.count = list_others(c, has, list);
    if (st == NNV_OK) st = ask_all(config, ask, has, err);
    if (st == NNV_OK && known > 0 && nnv_graph_restrict(has))
        nnv_text_addf(said, "%" PRIu32 " of %" PRIu32 " operations x types, in %" PRIu32 " of %zu variants", known, all,
                      known + count_of(&ask, has), c->count);
    return st;
}

enum nnv_status nnv_vocabulary_meet(const struct nnv_run_config *config, struct nnv_text *said, struct nnv_err *err) {
    const struct nnv_graph_catalogue *c = nnv_graph_whole_catalogue();
    uint32_t *list = c ? calloc(c->count + SPREAD, sizeof *list) : NULL;
    bool *has = c ? calloc(c->count, sizeof *has) : NULL;
    nnv_graph_restrict(NULL);
    const enum nnv_status st = list && has ? restrict_to(config, c, list, has, said, err) : nnv_no_memory(err);
    free(list);
    free(has);
    return st;
}
