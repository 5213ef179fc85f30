/* SPDX-License-Identifier: Apache-2.0 */
/* Matching of patterns: each object stands for one expression; what a failed attempt bound is forgotten again. */
#include <string.h>

#include "compiler/byoc/pattern.h"

enum { MOST_STEPS = 200000 };

/** One match in the making, behind the struct that callers see. */
struct matcher {
    struct nnv_match out;
    const struct nnv_pattern_entry *entry;
    const struct nnv_pattern **trail; /**< bound patterns, in order */
    bool *named;                      /**< by place on the trail: its value's name was bound there, too */
    uint32_t n_trail;
    uint32_t steps;
};

enum { MOST_PATH_NODES = 4096 };

struct nnv_match *nnv_match_new(const struct nnv_pattern_entry *e, struct nnv_arena *arena) {
    struct matcher *m = NNV_NEW(arena, struct matcher, 1);
    if (!m) return NULL;
    m->entry = e;
    m->out.bound = NNV_NEW(arena, struct nnv_relay_expr *, e->n_patterns);
    m->out.ids = NNV_NEW(arena, struct nnv_relay_expr *, e->n_ids);
    m->out.path = NNV_NEW(arena, struct nnv_relay_expr *, MOST_PATH_NODES);
    m->trail = NNV_NEW(arena, const struct nnv_pattern *, e->n_patterns);
    m->named = NNV_NEW(arena, bool, e->n_patterns);
    return m->out.bound && m->out.ids && m->out.path && m->trail && m->named ? &m->out : NULL;
}

static void bind(struct matcher *m, const struct nnv_pattern *p, struct nnv_relay_expr *e) {
    m->out.bound[p->number] = e;
    m->named[m->n_trail] = p->id && !m->out.ids[p->id - 1];
    if (p->id) m->out.ids[p->id - 1] = e;
    m->trail[m->n_trail++] = p;
}

static void undo(struct matcher *m, uint32_t trail, size_t path) {
    while (m->n_trail > trail) {
        const struct nnv_pattern *p = m->trail[--m->n_trail];
        m->out.bound[p->number] = NULL;
        if (m->named[m->n_trail]) m->out.ids[p->id - 1] = NULL;
    }
    m->out.n_path = path;
}

static bool match(struct matcher *m, const struct nnv_pattern *p, struct nnv_relay_expr *e);

static bool match_parts(struct matcher *m, const struct nnv_pattern *p, const struct nnv_relay_expr *e) {
    for (size_t i = 0; i < p->n_parts; i++)
        if (!match(m, p->parts[i], e->args[i])) return false;
    return true;
}

static bool commutes(const char *op) { return !strcmp(op, "add") || !strcmp(op, "multiply"); }

static bool match_op(struct matcher *m, const struct nnv_pattern *p, struct nnv_relay_expr *e) {
    if (!nnv_relay_is_op(e, p->name)) return false;
    for (size_t i = 0; i < p->n_attrs; i++) {
        const struct nnv_relay_value *v = nnv_relay_attr(e, p->attrs[i].key);
        if (!v || !nnv_relay_value_equal(v, &p->attrs[i].value)) return false;
    }
    if (p->any_parts) return true;
    if (e->n_args != p->n_parts) return false;
    uint32_t trail = m->n_trail;
    size_t path = m->out.n_path;
    if (match_parts(m, p, e)) return true;
    undo(m, trail, path);
    return p->n_parts == 2 && commutes(p->name) && match(m, p->parts[0], e->args[1]) &&
           match(m, p->parts[1], e->args[0]);
}

/* ------------------------------------------------------------------- dominators */

static bool on_path(const struct matcher *m, const struct nnv_relay_expr *e) {
    for (size_t i = 0; i < m->out.n_path; i++)
        if (m->out.path[i] == e) return true;
    return false;
}

/* Puts the operands of e, which lead up to the parent, on the path. */
static bool climb(struct matcher *m, const struct nnv_pattern *p, const struct nnv_relay_expr *e, bool *met_parent) {
    for (size_t i = 0; i < e->n_args; i++) {
        struct nnv_relay_expr *operand = e->args[i];
        if (on_path(m, operand)) continue;
        if (match(m, p->parts[0], operand)) {
            *met_parent = true;
            continue;
        }
        uint32_t trail = m->n_trail;
        size_t path = m->out.n_path;
        if (path == MOST_PATH_NODES || !match(m, p->parts[1], operand)) return false;
        undo(m, trail, path); /* the pattern of the path stands for each node on it anew */
        m->out.path[m->out.n_path++] = operand;
    }
    return true;
}

static bool match_dominator(struct matcher *m, const struct nnv_pattern *p, struct nnv_relay_expr *e) {
    if (!match(m, p->parts[2], e)) return false;
    bool met_parent = false;
    size_t done = m->out.n_path;
    if (!climb(m, p, e, &met_parent)) return false;
    for (; done < m->out.n_path; done++)
        if (!climb(m, p, m->out.path[done], &met_parent)) return false;
    return met_parent;
}

/* ------------------------------------------------------------------ any pattern */

static bool match_alt(struct matcher *m, const struct nnv_pattern *p, struct nnv_relay_expr *e) {
    for (size_t i = 0; i < p->n_parts; i++)
        if (match(m, p->parts[i], e)) return true;
    return false;
}

static bool match_kind(struct matcher *m, const struct nnv_pattern *p, struct nnv_relay_expr *e) {
    switch (p->kind) {
    case NNV_PATTERN_ANY:
        return true;
    case NNV_PATTERN_OP:
        return match_op(m, p, e);
    case NNV_PATTERN_CONST:
        return e->kind == NNV_RELAY_CONSTANT;
    case NNV_PATTERN_VAR:
        return e->kind == NNV_RELAY_VAR;
    case NNV_PATTERN_TUPLE:
        return e->kind == NNV_RELAY_TUPLE && (p->any_parts || (e->n_args == p->n_parts && match_parts(m, p, e)));
    case NNV_PATTERN_GET:
        return e->kind == NNV_RELAY_GET && (p->index < 0 || p->index == e->index) && match_parts(m, p, e);
    case NNV_PATTERN_ALT:
        return match_alt(m, p, e);
    case NNV_PATTERN_DOMINATES:
        return match_dominator(m, p, e);
    }
    return false;
}

static bool match(struct matcher *m, const struct nnv_pattern *p, struct nnv_relay_expr *e) {
    if (m->out.bound[p->number]) return m->out.bound[p->number] == e;
    if (p->id && m->out.ids[p->id - 1] && m->out.ids[p->id - 1] != e) return false;
    if (m->steps == MOST_STEPS) {
        m->out.exhausted = true;
        return false;
    }
    m->steps++;
    uint32_t trail = m->n_trail;
    size_t path = m->out.n_path;
    if (!match_kind(m, p, e)) {
        undo(m, trail, path);
        return false;
    }
    bind(m, p, e);
    return true;
}

bool nnv_match_at(const struct nnv_pattern_entry *e, struct nnv_relay_expr *root, struct nnv_match *out) {
    struct matcher *m = (struct matcher *)out;
    undo(m, 0, 0);
    m->steps = 0;
    out->exhausted = false;
    return match(m, e->root, root) && !out->exhausted;
}

/* ------------------------------------------------------------------------ checks */

bool nnv_match_checks(const struct nnv_pattern_entry *e, const struct nnv_match *m) {
    for (size_t i = 0; i < e->n_checks; i++) {
        const struct nnv_relay_expr *value = m->ids[e->checks[i].id - 1];
        if (value && !nnv_condition_holds(&e->checks[i].condition, value)) return false;
    }
    return true;
}
