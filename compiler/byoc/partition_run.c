/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of the partitioner on a whole module, and what they did as JSON. */
#include <string.h>

#include "base/json_out.h"
#include "compiler/byoc/partition.h"

/* -------------------------------------------------------------------- one function */

/* The operators of a composite's body in evaluation order. */
static enum nnv_status describe_composite(const struct nnv_relay_expr *call, struct nnv_arena *arena,
                                          struct nnv_composite_use *out, struct nnv_err *err) {
    struct nnv_relay_list list;
    if (nnv_relay_post_order(call->callee->args[0], NULL, NULL, arena, &list) != NNV_OK) return nnv_no_memory(err);
    *out = (struct nnv_composite_use){.name = nnv_composite_name(call), .params = call->callee->n_params};
    if (!(out->ops = NNV_NEW(arena, const char *, list.n))) return nnv_no_memory(err);
    for (size_t i = 0; i < list.n; i++)
        if (nnv_relay_op_name(list.exprs[i])) out->ops[out->n_ops++] = nnv_relay_op_name(list.exprs[i]);
    return NNV_OK;
}

static const char *operation_name(const struct nnv_relay_expr *e) {
    const char *composite = nnv_composite_name(e);
    return composite ? composite : nnv_relay_op_name(e);
}

static bool holds_op(const struct nnv_relay_expr *e, const char *name, struct nnv_arena *arena) {
    struct nnv_composite_use inside;
    const char *own = operation_name(e);
    if (!strcmp(own, name)) return true;
    if (!nnv_composite_name(e) || describe_composite(e, arena, &inside, NULL) != NNV_OK) return false;
    for (size_t i = 0; i < inside.n_ops; i++)
        if (!strcmp(inside.ops[i], name)) return true;
    return false;
}

static bool is_kept(const struct nnv_region *r, const struct nnv_prune *p, struct nnv_arena *arena) {
    if (r->n_ops < p->min_ops) return false;
    for (size_t k = 0; k < p->n_keep; k++)
        for (size_t i = 0; i < r->n_ops; i++)
            if (holds_op(r->ops[i], p->keep_if_any[k], arena)) return true;
    return !p->n_keep;
}

/* Gives the regions that the rules do not keep back to the host. */
static void prune_regions(struct nnv_regions *regions, const struct nnv_prune *p, struct nnv_arena *arena) {
    size_t n = 0;
    for (size_t r = 0; r < regions->n; r++) {
        struct nnv_region *region = &regions->regions[r];
        bool keep = is_kept(region, p, arena);
        for (size_t i = 0; i < region->n_ops; i++) regions->of[region->ops[i]->id] = keep ? (uint32_t)n + 1 : 0;
        if (keep) regions->regions[n++] = *region;
    }
    regions->n = n;
}

/* Makes each operation of a region a region of its own. */
static enum nnv_status part_regions(struct nnv_extractor *c, struct nnv_err *err) {
    const struct nnv_relay_list *list = &c->scoped.list;
    struct nnv_regions *all = &c->regions;
    struct nnv_region *parted = NNV_NEW(c->arena, struct nnv_region, list->n);
    size_t n = 0;
    if (!parted) return nnv_no_memory(err);
    for (size_t i = 0; i < list->n; i++) {
        uint32_t *of = &all->of[list->exprs[i]->id];
        if (!*of) continue;
        parted[n] = all->regions[*of - 1];
        parted[n].ops = &list->exprs[i];
        parted[n].n_ops = 1;
        *of = (uint32_t)++n;
    }
    all->regions = parted;
    all->n = n;
    return NNV_OK;
}

/* Which composites were in a region before rules and costs gave regions back: by place in the list. */
static bool *composites_taken(const struct nnv_extractor *c) {
    const struct nnv_relay_list *list = &c->scoped.list;
    bool *taken = NNV_NEW(c->arena, bool, list->n);
    for (size_t i = 0; taken && i < list->n; i++)
        taken[i] = nnv_composite_name(list->exprs[i]) && c->regions.of[list->exprs[i]->id];
    return taken;
}

/* Composites that were given back become their operators again: on the host they mean nothing. */
static enum nnv_status dissolve_given_back(struct nnv_extractor *c, const bool *taken, struct nnv_relay_expr *function,
                                           struct nnv_err *err) {
    const struct nnv_relay_list *list = &c->scoped.list;
    const uint32_t n_ids = c->scoped.n_ids;
    bool any = false, ok = true;
    for (size_t i = 0; ok && i < list->n; i++) {
        if (!taken[i] || c->regions.of[list->exprs[i]->id]) continue;
        struct nnv_relay_list inside;
        ok = nnv_relay_post_order(list->exprs[i]->callee, NULL, NULL, c->arena, &inside) == NNV_OK;
        for (size_t k = 0; ok && k < inside.n; k++)
            if (nnv_composite_name(inside.exprs[k])) ok = nnv_composite_dissolve(inside.exprs[k], c->arena);
        ok = ok && nnv_composite_dissolve(list->exprs[i], c->arena);
        any = true;
    }
    if (!ok) return nnv_no_memory(err);
    if (!any) return NNV_OK;
    enum nnv_status s = nnv_scope_find(c->m, function, c->arena, &c->scoped, err);
    if (s == NNV_OK && c->scoped.n_ids != n_ids) return nnv_fail(err, NNV_INTERNAL, "a composite has grown");
    return s;
}

/** The result in the making, with the room of its arrays. */
struct record {
    struct nnv_partition made;
    size_t cap_composites, cap_cuts, cap_host;
};

/* Room for n more elements of an array of the result. */
static void *grown(struct nnv_arena *arena, void *old, size_t have, size_t n, size_t *cap, size_t size) {
    if (old && have + n <= *cap) return old;
    *cap = (have + n) * 2;
    char *array = nnv_arena_alloc(arena, *cap, size);
    if (array && have) memcpy(array, old, have * size);
    return array;
}

/* Adds what the function holds to the result, before it is cut. */
static enum nnv_status record(struct nnv_extractor *c, struct record *r, struct nnv_err *err) {
    struct nnv_arena *arena = c->m->arena;
    struct nnv_partition *out = &r->made;
    const struct nnv_relay_list *list = &c->scoped.list;
    size_t composites = 0, host = 0;
    for (size_t i = 0; i < list->n; i++) {
        composites += nnv_composite_name(list->exprs[i]) != NULL;
        host += operation_name(list->exprs[i]) && !c->regions.of[list->exprs[i]->id];
    }
    out->composites =
        grown(arena, out->composites, out->n_composites, composites, &r->cap_composites, sizeof *out->composites);
    out->host = grown(arena, out->host, out->n_host, host, &r->cap_host, sizeof *out->host);
    out->extracted = grown(arena, out->extracted, out->n_extracted, c->regions.n, &r->cap_cuts, sizeof *out->extracted);
    if (!out->composites || !out->host || !out->extracted) return nnv_no_memory(err);
    for (size_t i = 0; i < list->n; i++) {
        const struct nnv_relay_expr *e = list->exprs[i];
        if (nnv_composite_name(e)) {
            enum nnv_status s = describe_composite(e, arena, &out->composites[out->n_composites++], err);
            if (s != NNV_OK) return s;
        }
        if (operation_name(e) && !c->regions.of[e->id]) out->host[out->n_host++] = operation_name(e);
    }
    for (size_t i = 0; i < c->regions.n; i++) {
        const struct nnv_region *region = &c->regions.regions[i];
        struct nnv_extracted *cut = &out->extracted[out->n_extracted + i];
        cut->ops = NNV_NEW(arena, const char *, region->n_ops);
        cut->nodes = NNV_NEW(arena, const char *, region->n_ops);
        if (!cut->ops || !cut->nodes) return nnv_no_memory(err);
        for (; cut->n_ops < region->n_ops; cut->n_ops++) {
            const struct nnv_relay_expr *op = region->ops[cut->n_ops];
            cut->ops[cut->n_ops] = operation_name(op);
            cut->nodes[cut->n_ops] = op->bound ? op->bound : "%ret";
        }
    }
    return NNV_OK;
}

static enum nnv_status partition_function(struct nnv_extractor *c, struct nnv_relay_expr *function, const char *name,
                                          const struct nnv_annotator *a, const struct nnv_prune *prune,
                                          struct record *out, struct nnv_err *err) {
    enum nnv_status s = nnv_graph_form(c->m, function, err);
    if (s == NNV_OK) s = nnv_scope_find(c->m, function, c->arena, &c->scoped, err);
    if (s == NNV_OK) s = nnv_regions_find(a, &c->scoped, prune && prune->join_siblings, c->arena, &c->regions, err);
    if (s == NNV_OK && prune && prune->apart) s = part_regions(c, err);
    const bool *taken = s == NNV_OK ? composites_taken(c) : NULL;
    if (s == NNV_OK && !taken) s = nnv_no_memory(err);
    if (s == NNV_OK && prune && prune->select)
        s = prune->select(prune->select_ctx, name, a, &c->scoped, c->arena, &c->regions, err);
    if (s != NNV_OK) return s;
    if (prune) prune_regions(&c->regions, prune, c->arena);
    if (prune) s = dissolve_given_back(c, taken, function, err);
    if (s != NNV_OK) return s;
    s = record(c, out, err);
    if (s == NNV_OK) s = nnv_cut_regions(c, a, name, out->made.extracted + out->made.n_extracted, err);
    if (s != NNV_OK) return s;
    out->made.n_extracted += c->regions.n;
    return nnv_graph_form(c->m, function, err); /* a field of a tuple that left its region as a whole is the output */
}

enum nnv_status nnv_partition(struct nnv_relay_module *m, const struct nnv_annotator *a, const struct nnv_prune *prune,
                              struct nnv_partition *result, struct nnv_err *err) {
    struct record out = {0};
    size_t n = m->n_functions; /* those that are added behind are regions */
    enum nnv_status s = NNV_OK;
    for (size_t f = 0; s == NNV_OK && f < n; f++) {
        struct nnv_relay_expr *function = m->functions[f].expr;
        if (function->kind != NNV_RELAY_FUNCTION || nnv_scope_closed(function)) continue;
        struct nnv_extractor c = {.m = m, .arena = nnv_arena_new()};
        s = c.arena ? partition_function(&c, function, m->functions[f].name, a, prune, &out, err) : nnv_no_memory(err);
        nnv_arena_free(c.arena);
    }
    if (s == NNV_OK) *result = out.made;
    return s;
}

/* --------------------------------------------------------------------------- JSON */

static void print_names(struct nnv_json_out *j, const char *name, const char *const *names, size_t n) {
    nnv_json_open(j, name, '[');
    for (size_t i = 0; i < n; i++) nnv_json_string(j, NULL, names[i]);
    nnv_json_close(j, ']');
}

void nnv_partition_print(const struct nnv_partition *p, struct nnv_text *out) {
    struct nnv_json_out j = {.text = out, .spaced = true};
    nnv_json_open(&j, NULL, '{');
    nnv_json_open(&j, "composites", '[');
    for (size_t i = 0; i < p->n_composites; i++) {
        const struct nnv_composite_use *c = &p->composites[i];
        j.line = "\n  ";
        nnv_json_open(&j, NULL, '{');
        nnv_json_string(&j, "name", c->name);
        print_names(&j, "ops", c->ops, c->n_ops);
        nnv_json_uint(&j, "num_params", c->params);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    j.line = "\n ";
    nnv_json_open(&j, "regions", '[');
    for (size_t i = 0; i < p->n_extracted; i++) {
        const struct nnv_extracted *c = &p->extracted[i];
        j.line = "\n  ";
        nnv_json_open(&j, NULL, '{');
        print_names(&j, "ops", c->ops, c->n_ops);
        print_names(&j, "nodes", c->nodes, c->n_ops);
        nnv_json_string(&j, "target", c->target);
        nnv_json_uint(&j, "params", c->params);
        nnv_json_uint(&j, "outputs", c->outputs);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    j.line = "\n ";
    print_names(&j, "host_ops", p->host, p->n_host);
    nnv_json_close(&j, '}');
    nnv_text_add(out, "\n");
}
