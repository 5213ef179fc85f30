/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/networks.h"

#include <stdlib.h>

#include "base/words.h"
#include "harness/journal/verdict.h"

enum { MOST_OPERATIONS = 1 << 26, MOST_OF_PLACE = 16, SEEN = 1 << 7 };

/** What is known of an operation. */
enum state {
    NOT_JUDGED,
    RIGHT,
    UNSUPPORTED,
    WRONG,       /**< alone */
    WRONG_AMONG, /**< in a group all of whose operations are right alone */
};

/** A case stands at these operations, numbered over all networks. */
struct nnv_place {
    size_t item; /**< number of the case */
    uint32_t network, n, op[MOST_OF_PLACE];
};

static enum state state_of(enum nnvts_verdict v) {
    return nnv_verdict_bad(v) ? WRONG : v == NNVTS_PASS ? RIGHT : v == NNVTS_UNSUPPORTED ? UNSUPPORTED : NOT_JUDGED;
}

/** Adds a place. What the journal says of operations that the network has not is left out. */
static bool add_place(struct nnv_networks *n, uint32_t network, size_t item, const json_t *ops) {
    const struct nnv_weighed_network *of = &n->item[network];
    struct nnv_place p = {.item = item, .network = network};
    const json_t *op;
    size_t i;
    if (json_array_size(ops) == 0 || json_array_size(ops) > MOST_OF_PLACE) return true;
    json_array_foreach(ops, i, op) {
        const json_int_t at = json_integer_value(op);
        if (at < 0 || at >= of->all.operations) return true;
        p.op[p.n++] = of->first + (uint32_t)at;
    }
    if (n->places == n->room) {
        const size_t more = n->room ? 2 * n->room : 256;
        struct nnv_place *grown = realloc(n->place, more * sizeof *grown);
        if (grown == NULL) return false;
        n->place = grown;
        n->room = more;
    }
    n->place[n->places++] = p;
    return true;
}

static bool add_network(const struct nnv_report *r, struct nnv_networks *n, const char *name, const json_t *said) {
    const uint64_t operations = nnv_json_count(said, "operations");
    const uint32_t number = n->count;
    const size_t before = n->places;
    const char *of;
    json_t *places, *ops;
    size_t i;
    bool ok = true;
    if (operations == 0 || operations > MOST_OPERATIONS - n->all.operations) return true;
    n->item[number] =
        (struct nnv_weighed_network){.name = name, .all.operations = (uint32_t)operations, .first = n->all.operations};
    json_object_foreach(json_object_get(said, "cases"), of, places) {
        const uint32_t item = nnv_report_find(r, of);
        if (item == NNV_MAP_NONE) continue;
        json_array_foreach(places, i, ops) ok = ok && add_place(n, number, item, ops);
    }
    if (n->places == before) return ok;
    n->count++;
    n->all.operations += (uint32_t)operations;
    return ok;
}

static bool is_wrong(const struct nnv_networks *n, uint32_t op) { return (n->state[op] & ~SEEN) == WRONG; }

/** Some operation of the place is wrong alone. */
static bool has_wrong(const struct nnv_networks *n, const struct nnv_place *p) {
    for (uint32_t i = 0; i < p->n; i++)
        if (is_wrong(n, p->op[i])) return true;
    return false;
}

static void judge(const struct nnv_report *r, struct nnv_networks *n) {
    for (size_t i = 0; i < n->places; i++)
        if (n->place[i].n == 1)
            n->state[n->place[i].op[0]] = (unsigned char)state_of(r->item[n->place[i].item].verdict);
    for (size_t i = 0; i < n->places; i++) {
        const struct nnv_place *p = &n->place[i];
        if (p->n == 1 || !nnv_verdict_bad(r->item[p->item].verdict) || has_wrong(n, p)) continue;
        for (uint32_t k = 0; k < p->n; k++) n->state[p->op[k]] = WRONG_AMONG;
    }
}

static void count(struct nnv_networks *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        struct nnv_weighed *w = &n->item[i].all;
        for (uint32_t k = 0; k < w->operations; k++) {
            const enum state s = n->state[n->item[i].first + k];
            w->right += s == RIGHT;
            w->unsupported += s == UNSUPPORTED;
            w->wrong += s >= WRONG;
        }
        n->all.right += w->right;
        n->all.unsupported += w->unsupported;
        n->all.wrong += w->wrong;
        n->touched.networks += w->wrong > 0;
    }
    n->touched.operations = n->all.wrong;
}

enum nnv_status nnv_networks_of(const struct nnv_report *r, struct nnv_networks *out, struct nnv_err *err) {
    json_t *networks = json_object_get(r->header, "networks"), *said;
    const char *name;
    struct nnv_networks n = {.item = calloc(json_object_size(networks) + 1, sizeof *n.item)};
    bool ok = n.item != NULL;
    json_object_foreach(networks, name, said) ok = ok && add_network(r, &n, name, said);
    n.state = ok ? calloc(n.all.operations + (size_t)1, 1) : NULL;
    *out = n;
    if (n.state == NULL) {
        nnv_networks_free(out);
        return nnv_no_memory(err);
    }
    judge(r, out);
    count(out);
    return NNV_OK;
}

void nnv_networks_free(struct nnv_networks *n) {
    free(n->item);
    free(n->state);
    free(n->place);
    *n = (struct nnv_networks){0};
}

struct nnv_touched nnv_networks_touched(const struct nnv_networks *n, const struct nnv_bugs *bugs, uint32_t bug) {
    struct nnv_touched t = {0};
    uint32_t last = NNV_MAP_NONE; /* places stand network by network */
    for (size_t i = 0; i < n->places; i++) {
        const struct nnv_place *p = &n->place[i];
        if (bugs->of[p->item] != bug) continue;
        const bool wrong = has_wrong(n, p);
        for (uint32_t k = 0; k < p->n; k++) {
            unsigned char *state = &n->state[p->op[k]];
            if (wrong && !is_wrong(n, p->op[k])) continue;
            t.operations += (*state & SEEN) == 0;
            *state |= SEEN;
        }
        t.networks += p->network != last;
        last = p->network;
    }
    for (uint32_t i = 0; i < n->all.operations; i++) n->state[i] &= (unsigned char)~SEEN;
    return t;
}

static double percent(uint32_t part, uint32_t all) { return all == 0 ? 0 : 100.0 * part / all; }

void nnv_text_add_touched(struct nnv_text *t, const struct nnv_networks *n, struct nnv_touched touched,
                          const char *before, const char *behind) {
    if (touched.networks == 0) return;
    nnv_text_addf(t, "%s%.3g %% of the networks, %.2g %% of their operations%s", before,
                  percent(touched.networks, n->count), percent(touched.operations, n->all.operations), behind);
}

void nnv_text_add_networks(struct nnv_text *t, const struct nnv_networks *n, const char *before, const char *behind) {
    const struct nnv_weighed *w = &n->all;
    const uint32_t rest = w->operations - w->right - w->wrong - w->unsupported;
    if (n->count == 0) return;
    nnv_text_addf(t, "%s%s, ", before, nnv_count(n->count).s);
    nnv_text_addf(t, "of %s operations %.3g %% right, %.3g %% wrong, %.3g %% not supported", nnv_count(w->operations).s,
                  percent(w->right, w->operations), percent(w->wrong, w->operations),
                  percent(w->unsupported, w->operations));
    if (rest > 0) nnv_text_addf(t, ", %.3g %% not judged", percent(rest, w->operations));
    nnv_text_add_touched(t, n, n->touched, "; what is wrong touches ", "");
    nnv_text_add(t, behind);
}
