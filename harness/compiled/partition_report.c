/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/compiled/partition_report.h"

#include <string.h>

#include "base/json_out.h"

enum { MOST_DRAWN = 400, MOST_TRIED = 12 };

static bool region_before(void *ctx, const struct nnv_relay_expr *e, size_t *region, int *target) {
    const struct nnv_regions *r = ctx;
    if (e->id >= r->n_ids || !r->of[e->id]) return false;
    *region = r->of[e->id] - 1;
    *target = r->regions[*region].target;
    return true;
}

/* refused: support for the operator alone would change it. */
static struct nnv_host_row why_on_host(const struct nnv_partition_report *r, const struct nnv_annotator *a,
                                       const struct nnv_relay_expr *e) {
    const char *why = r->trial ? nnv_convert_refusal(r->trial, e) : NULL;
    bool composite = nnv_composite_name(e) != NULL;
    struct nnv_host_row row = {.op = composite ? nnv_composite_name(e) : nnv_relay_op_name(e)};
    row.refused = !composite && e->n_args;
    if (why)
        row.reason = nnv_arena_strdup(r->arena, why);
    else if (nnv_annotate(a, e) != NNV_HOST)
        row = (struct nnv_host_row){.op = row.op, .reason = "supported, but its region was given back"};
    else if (composite)
        row.reason = "no target has the composite's name";
    else if (!e->n_args)
        row.reason = "it has no operands: it is a value like a constant";
    else
        row.reason = r->trial && !e->type ? "nothing tells its type" : "no target lists it";
    return row;
}

/* Ifs and functions that call themselves: what is left of them is on the host. */
static void remember_flow(struct nnv_partition_report *r, const struct nnv_relay_expr *e) {
    const bool is_loop = e->kind == NNV_RELAY_LET || (e->kind == NNV_RELAY_CALL && e->callee->kind == NNV_RELAY_LET);
    struct nnv_host_row *row = is_loop ? &r->loops : &r->ifs;
    if (!is_loop && e->kind != NNV_RELAY_IF) return;
    const char *why = r->trial ? nnv_convert_refusal(r->trial, e) : NULL;
    row->calls += e->kind != NNV_RELAY_CALL;
    if (why && !row->reason) row->reason = nnv_arena_strdup(r->arena, why);
}

static bool remember_host(struct nnv_partition_report *r, const struct nnv_annotator *a, const struct nnv_scoped *f) {
    r->host = NNV_NEW(r->arena, struct nnv_host_row, f->list.n);
    for (size_t i = 0; r->host && i < f->list.n; i++) {
        const struct nnv_relay_expr *e = f->list.exprs[i];
        const char *name = nnv_composite_name(e) ? nnv_composite_name(e) : nnv_relay_op_name(e);
        remember_flow(r, e);
        if (!name || r->regions->of[e->id]) continue;
        size_t k = 0;
        while (k < r->n_host && strcmp(r->host[k].op, name) != 0) k++;
        if (k == r->n_host) r->host[r->n_host++] = why_on_host(r, a, e);
        r->host[k].calls++;
    }
    if (!r->ifs.reason) r->ifs.reason = "a branch has something that stays on the host";
    if (!r->loops.reason) r->loops.reason = "it has something that stays on the host, or is no loop as WHILE is one";
    return r->host != NULL;
}

/* The names of the values of each region: the rules may still give regions back. */
static bool remember_regions(struct nnv_partition_report *r, const struct nnv_regions *regions) {
    r->n_regions = regions->n;
    r->nodes = NNV_NEW(r->arena, const char *const *, regions->n);
    r->n_nodes = NNV_NEW(r->arena, size_t, regions->n);
    for (size_t i = 0; r->nodes && r->n_nodes && i < regions->n; i++) {
        const struct nnv_region *region = &regions->regions[i];
        const char **names = NNV_NEW(r->arena, const char *, region->n_ops);
        if (!names) return false;
        for (size_t k = 0; k < region->n_ops; k++) names[k] = region->ops[k]->bound ? region->ops[k]->bound : "%ret";
        r->nodes[i] = names;
        r->n_nodes[i] = region->n_ops;
    }
    return r->nodes && r->n_nodes;
}

enum nnv_status nnv_report_watch(void *ctx, const char *function, const struct nnv_annotator *a,
                                 const struct nnv_scoped *f, struct nnv_arena *arena, struct nnv_regions *regions,
                                 struct nnv_err *err) {
    struct nnv_partition_report *r = ctx;
    enum nnv_status s = r->select ? r->select(r->select_ctx, function, a, f, arena, regions, err) : NNV_OK;
    if (s != NNV_OK || r->function) return s;
    r->function = function;
    r->annotator = a;
    r->regions = regions;
    if (!remember_regions(r, regions) || !remember_host(r, a, f)) return nnv_no_memory(err);
    return r->divide_with ? nnv_graph_make(f, region_before, regions, r->arena, &r->before, err) : NNV_OK;
}

/* ----------------------------------------------------------------------- afterwards */

/* Numbers the regions before as those that were cut; regions that were given back are of the host again. */
static bool number_regions(struct nnv_partition_report *r, const struct nnv_partition *result) {
    size_t *number = NNV_NEW(r->arena, size_t, r->n_regions), at = 0;
    for (size_t i = 0; number && i < r->n_regions; i++) {
        const struct nnv_extracted *c = at < result->n_extracted ? &result->extracted[at] : NULL;
        bool same = c && c->n_ops == r->n_nodes[i];
        for (size_t k = 0; same && k < c->n_ops; k++) same = !strcmp(c->nodes[k], r->nodes[i][k]);
        number[i] = same ? at++ : SIZE_MAX;
    }
    for (size_t i = 0; number && i < r->before.n_nodes; i++) {
        struct nnv_graph_node *n = &r->before.nodes[i];
        if (n->kind != NNV_GRAPH_TARGET) continue;
        n->region = number[n->region];
        if (n->region == SIZE_MAX) n->kind = NNV_GRAPH_HOST;
    }
    return number != NULL;
}

/** What knows which call is of which region. */
struct calls {
    const struct nnv_partition *result;
    const struct nnv_annotator *annotator;
};

static bool region_after(void *ctx, const struct nnv_relay_expr *e, size_t *region, int *target) {
    const struct calls *c = ctx;
    if (e->kind != NNV_RELAY_CALL || e->callee->kind != NNV_RELAY_GLOBAL) return false;
    for (size_t i = 0; i < c->result->n_extracted; i++) {
        if (strcmp(c->result->extracted[i].function, e->callee->name) != 0) continue;
        *region = i;
        for (size_t t = 0; t < c->annotator->n_targets; t++)
            if (!strcmp(c->annotator->targets[t], c->result->extracted[i].target)) *target = (int)t;
        return true;
    }
    return false;
}

static enum nnv_status graph_after(const struct nnv_partition_report *r, const struct nnv_relay_module *m,
                                   const struct nnv_partition *result, struct nnv_partition_graph *out,
                                   struct nnv_err *err) {
    struct calls calls = {result, r->annotator};
    struct nnv_scoped f;
    enum nnv_status s = nnv_scope_find(m, nnv_relay_find(m, r->function), r->arena, &f, err);
    if (s == NNV_OK) s = nnv_graph_make(&f, region_after, &calls, r->arena, out, err);
    for (size_t i = 0; s == NNV_OK && i < out->n_nodes; i++) { /* what the region does says more than its name */
        struct nnv_graph_node *n = &out->nodes[i];
        if (n->kind != NNV_GRAPH_TARGET) continue;
        const struct nnv_extracted *c = &result->extracted[n->region];
        n->more = n->label;
        n->label = c->n_ops == 1 ? c->ops[0] : nnv_arena_printf(r->arena, "%zu operations", c->n_ops);
        if (!n->label) return nnv_no_memory(err);
    }
    return s;
}

static enum nnv_status try_more(struct nnv_partition_report *r, struct nnv_err *err) {
    enum nnv_status s = NNV_OK;
    for (size_t i = 0; s == NNV_OK && i < r->n_host && i < MOST_TRIED; i++) {
        struct nnv_partition with;
        if (r->cost || !r->host[i].refused) continue; /* what it would cost is told by the choice by cost */
        s = r->divide_with(r->ctx, r->host[i].op, &with, err);
        if (s != NNV_OK) return s;
        r->host[i].tried = true;
        r->host[i].regions = with.n_extracted;
        r->host[i].on_host = with.n_host;
    }
    return s;
}

/* Counts what is on the host in the end: the rules may have given regions back. */
static bool count_host(struct nnv_partition_report *r, const struct nnv_partition *result) {
    struct nnv_host_row *rows = NNV_NEW(r->arena, struct nnv_host_row, r->n_host + result->n_host);
    if (!rows) return false;
    if (r->n_host) memcpy(rows, r->host, r->n_host * sizeof *rows);
    r->host = rows;
    for (size_t i = 0; i < r->n_host; i++) rows[i].calls = 0;
    for (size_t i = 0; i < result->n_host; i++) {
        size_t k = 0;
        while (k < r->n_host && strcmp(rows[k].op, result->host[i]) != 0) k++;
        if (k == r->n_host)
            rows[r->n_host++] =
                (struct nnv_host_row){.op = result->host[i], .reason = "supported, but its region was given back"};
        rows[k].calls++;
    }
    return true;
}

static void print_reason(struct nnv_json_out *j, const char *op, const struct nnv_host_row *row) {
    if (!row->calls) return;
    j->line = "\n  ";
    nnv_json_open(j, NULL, '{');
    nnv_json_string(j, "op", op);
    nnv_json_uint(j, "calls", row->calls);
    nnv_json_string(j, "why", row->reason);
    nnv_json_close(j, '}');
}

enum nnv_status nnv_report_reasons(struct nnv_partition_report *r, const struct nnv_partition *result,
                                   struct nnv_text *out, struct nnv_err *err) {
    struct nnv_json_out j = {.text = out, .spaced = true};
    if (!count_host(r, result)) return nnv_no_memory(err);
    nnv_json_open(&j, NULL, '[');
    for (size_t i = 0; i < r->n_host; i++) print_reason(&j, r->host[i].op, &r->host[i]);
    print_reason(&j, "if", &r->ifs);
    print_reason(&j, "while", &r->loops);
    nnv_json_close(&j, ']');
    return NNV_OK;
}

enum nnv_status nnv_report_page(struct nnv_partition_report *r, const struct nnv_relay_module *m,
                                const struct nnv_partition *result, struct nnv_text *out, struct nnv_err *err) {
    if (!r->function) return nnv_fail(err, NNV_INVALID, "%s: all functions are of a target already", r->title);
    struct nnv_partition_page page = {.title = r->title,
                                      .targets = r->annotator->targets,
                                      .n_targets = r->annotator->n_targets,
                                      .partition = result,
                                      .cost = r->cost};
    if (!number_regions(r, result) || !count_host(r, result)) return nnv_no_memory(err);
    enum nnv_status s = graph_after(r, m, result, &page.after, err);
    if (s == NNV_OK) s = try_more(r, err);
    if (s != NNV_OK) return s;
    page.host = r->host;
    page.n_host = r->n_host;
    page.before = r->before;
    page.drawn_before = nnv_graph_visible(&page.before) > MOST_DRAWN ? nnv_graph_visible(&page.before) : 0;
    page.drawn_after = nnv_graph_visible(&page.after) > MOST_DRAWN ? nnv_graph_visible(&page.after) : 0;
    s = nnv_graph_collapse(&page.before, page.drawn_before ? MOST_DRAWN / 4 : MOST_DRAWN, page.targets, page.n_targets,
                           r->arena, err);
    if (s == NNV_OK)
        s = nnv_graph_collapse(&page.after, page.drawn_after ? MOST_DRAWN / 4 : MOST_DRAWN, page.targets,
                               page.n_targets, r->arena, err);
    return s == NNV_OK ? nnv_partition_html(&page, out, err) : s;
}
