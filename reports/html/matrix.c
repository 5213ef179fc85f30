/* SPDX-License-Identifier: Apache-2.0 */
/** @file matrix.c report.html: what was tested, operation by type. */
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "harness/journal/verdict.h"
#include "reports/html/html.h"
#include "reports/html/page.h"
#include "reports/implemented.h"

enum {
    COLUMNS_MAX = 20, /**< types beyond share a column */
    DENSE = 11,       /**< more columns are written narrower */
    ROWS_MAX = 500,
};

struct matrix {
    uint32_t rows, cols;                 /**< cols: types that occur, at most COLUMNS_MAX */
    bool others;                         /**< one more column: all other types */
    uint32_t *op;                        /**< the operations in the order of their names */
    uint32_t *type;                      /**< of a column, in the order of their names */
    uint32_t *column;                    /**< of a type */
    uint32_t *suite;                     /**< of an operation: the suite of its first case */
    size_t (*cell)[NNVTS_VERDICT_COUNT]; /**< [operation * (cols + 1) + column] */
    size_t *computed;                    /**< likewise: cases that passed with values compared */
    bool *accepted;                      /**< likewise: the operation takes the type, so cases could be */
};

static int by_name(const void *a, const void *b, void *names) {
    const struct nnv_map *m = names;
    return strcmp(m->key[*(const uint32_t *)a], m->key[*(const uint32_t *)b]);
}

/** The numbers of a map in the order of its strings; malloc'ed. */
static uint32_t *sorted(const struct nnv_map *m) {
    uint32_t *order = malloc((m->count + (size_t)1) * sizeof *order);
    if (order == NULL) return NULL;
    for (uint32_t i = 0; i < m->count; i++) order[i] = i;
    if (m->count > 0) qsort_r(order, m->count, sizeof *order, by_name, (void *)(uintptr_t)m);
    return order;
}

static void matrix_free(struct matrix *m) {
    free(m->op);
    free(m->type);
    free(m->column);
    free(m->suite);
    free(m->cell);
    free(m->computed);
    free(m->accepted);
}

/** The journal's list of the types that an operation takes, or NULL. */
static const json_t *types_of(const struct nnv_report *r, const char *op) {
    const json_t *types = json_object_get(json_object_get(r->header, "coverage"), op);
    return json_is_array(types) ? types : NULL;
}

/** Marks the types of cases, and those that the operations of the cases take. */
static void mark_types(const struct nnv_report *r, bool *used) {
    for (size_t i = 0; i < r->count; i++)
        if (*r->ops.key[r->item[i].op] != '\0') used[r->item[i].type] = true;
    for (uint32_t op = 0; op < r->ops.count; op++) {
        size_t i;
        json_t *type;
        json_array_foreach(types_of(r, r->ops.key[op]), i, type) {
            uint32_t number = json_is_string(type) ? nnv_map_find(&r->types, json_string_value(type)) : NNV_MAP_NONE;
            if (number != NNV_MAP_NONE) used[number] = true;
        }
    }
}

/** Gives each type that cases of an operation have a column. False when out of memory. */
static bool choose_columns(struct matrix *m, const struct nnv_report *r) {
    bool *used = calloc(r->types.count + (size_t)1, sizeof *used);
    m->type = sorted(&r->types);
    m->column = calloc(r->types.count + (size_t)1, sizeof *m->column);
    if (used != NULL && m->type != NULL && m->column != NULL) {
        mark_types(r, used);
        for (uint32_t k = 0; k < r->types.count; k++) {
            uint32_t type = m->type[k];
            m->column[type] = m->cols;
            if (!used[type]) continue;
            if (m->cols < COLUMNS_MAX)
                m->type[m->cols++] = type;
            else
                m->others = true;
        }
    }
    bool ok = used != NULL && m->type != NULL && m->column != NULL;
    free(used);
    return ok;
}

static void mark_accepted(struct matrix *m, const struct nnv_report *r) {
    for (uint32_t op = 0; op < m->rows; op++) {
        size_t i;
        json_t *type;
        json_array_foreach(types_of(r, r->ops.key[op]), i, type) {
            uint32_t number = json_is_string(type) ? nnv_map_find(&r->types, json_string_value(type)) : NNV_MAP_NONE;
            if (number != NNV_MAP_NONE) m->accepted[(size_t)op * (m->cols + 1) + m->column[number]] = true;
        }
    }
}

static bool matrix_make(struct matrix *m, const struct nnv_report *r) {
    m->rows = r->ops.count;
    if (!choose_columns(m, r)) return false;
    m->op = sorted(&r->ops);
    m->suite = calloc(m->rows + (size_t)1, sizeof *m->suite);
    m->cell = calloc(((size_t)m->rows + 1) * (m->cols + 1), sizeof *m->cell);
    m->computed = calloc(((size_t)m->rows + 1) * (m->cols + 1), sizeof *m->computed);
    m->accepted = calloc(((size_t)m->rows + 1) * (m->cols + 1), sizeof *m->accepted);
    if (m->op == NULL || m->suite == NULL || m->cell == NULL || m->computed == NULL || m->accepted == NULL)
        return false;
    mark_accepted(m, r);
    for (size_t i = r->count; i-- > 0;) {
        const struct nnv_report_case *c = &r->item[i];
        m->suite[c->op] = c->suite;
        const size_t cell = (size_t)c->op * (m->cols + 1) + m->column[c->type];
        m->cell[cell][c->verdict]++;
        m->computed[cell] += c->verdict == NNVTS_PASS && c->values;
    }
    return true;
}

static void add_cell(struct nnv_html *h, const struct matrix *m, uint32_t op, uint32_t column) {
    struct nnv_text *t = &h->t;
    const size_t *n = m->cell[(size_t)op * (m->cols + 1) + column];
    size_t all = 0;
    for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) all += n[v];
    if (all == 0) {
        bool gap = m->accepted[(size_t)op * (m->cols + 1) + column];
        nnv_text_add(t, gap ? "<td class=\"gap\" title=\"not tested\">none</td>" : "<td class=\"z\">\xc2\xb7</td>");
        return;
    }
    enum nnvts_verdict worst = nnv_html_worst(n);
    /* what was only refused, as it must be, computes nothing */
    const size_t computed = m->computed[(size_t)op * (m->cols + 1) + column];
    const bool rules = worst == NNVTS_PASS && computed == 0;
    if (rules && n[NNVTS_UNSUPPORTED] > 0) worst = NNVTS_UNSUPPORTED;
    const char letter = rules && worst == NNVTS_PASS ? 'r' : nnv_verdict_letter(worst);
    const size_t shown = worst == NNVTS_PASS && !rules ? computed : n[worst];
    nnv_text_addf(t, "<td class=\"%c\"><a href=\"#g%u-%u\" title=\"", letter, m->suite[op], op);
    nnv_html_counts(t, n);
    nnv_text_add(t, "\" data-q=\"op:");
    nnv_text_add_xml(t, h->r->ops.key[op]);
    if (column < m->cols) {
        nnv_text_add(t, " type:");
        nnv_text_add_xml(t, h->r->types.key[m->type[column]]);
    }
    nnv_text_addf(t, "\"><b>%c</b> %s", letter, nnv_count(shown).s);
    if (shown < all) nnv_text_addf(t, "<small>/%s</small>", nnv_count(all).s);
    nnv_text_add(t, "</a></td>");
}

static void add_table(struct nnv_html *h, const struct matrix *m) {
    struct nnv_text *t = &h->t;
    nnv_text_addf(t, "<table class=\"matrix%s\"><thead><tr><th scope=\"col\">operation</th>",
                  m->cols > DENSE ? " dense" : "");
    for (uint32_t c = 0; c < m->cols; c++) {
        nnv_page_put(t, "<th scope=\"col\"><span>", nnv_html_name(h->r->types.key[m->type[c]]), 60, "</span></th>");
    }
    nnv_text_add(t, m->others ? "<th scope=\"col\"><span>other types</span></th></tr></thead>\n<tbody>\n"
                              : "</tr></thead>\n<tbody>\n");
    uint32_t shown = 0;
    for (uint32_t k = 0; k < m->rows && shown < ROWS_MAX; k++) {
        uint32_t op = m->op[k];
        if (*h->r->ops.key[op] == '\0') continue;
        nnv_page_put(t, "<tr><th scope=\"row\">", h->r->ops.key[op], 80, "</th>");
        for (uint32_t c = 0; c < m->cols + m->others; c++) add_cell(h, m, op, c);
        nnv_text_add(t, "</tr>\n");
        shown++;
    }
    nnv_text_add(t, "</tbody></table>\n");
    if (shown == ROWS_MAX && m->rows > ROWS_MAX)
        nnv_text_addf(t, "<p class=\"soft\">The first %d operations; all are under <a href=\"#cases\">Cases</a>.</p>\n",
                      (int)ROWS_MAX);
}

/** Operations that the tool knows and of which the run has no case. */
static void add_untested(struct nnv_html *h) {
    struct nnv_text *t = &h->t;
    const json_t *coverage = json_object_get(h->r->header, "coverage");
    const char *op;
    json_t *types;
    size_t n = 0;
    json_object_foreach((json_t *)(uintptr_t)coverage, op, types) n += nnv_map_find(&h->r->ops, op) == NNV_MAP_NONE;
    if (n == 0) return;
    nnv_text_addf(t, "<details><summary>%zu operation%s without any case in this run</summary><p>", n,
                  n == 1 ? "" : "s");
    json_object_foreach((json_t *)(uintptr_t)coverage, op, types) {
        if (nnv_map_find(&h->r->ops, op) != NNV_MAP_NONE) continue;
        nnv_text_add_xml(t, op);
        nnv_text_add(t, " ");
    }
    nnv_text_add(t, "</p></details>\n");
}

enum nnv_status nnv_html_matrix(struct nnv_html *h, struct nnv_err *err) {
    struct matrix m = {0};
    bool ok = matrix_make(&m, h->r);
    if (ok) {
        bool none = m.rows == 0 || (m.rows == 1 && *h->r->ops.key[0] == '\0');
        nnv_text_add(&h->t, "<section id=\"coverage\">\n<h2>Coverage</h2>\n");
        if (none) {
            nnv_text_add(&h->t, "<p class=\"lead\">No case of this run is about one operation.</p>\n");
        } else {
            nnv_text_add(&h->t,
                         "<p class=\"lead\">Operation by type of its main operand. A cell holds the worst verdict "
                         "and how many cases have it, of how many; P counts cases that computed values which were "
                         "compared, r those of rules alone, such as a refusal; \"none\": the operation takes this "
                         "type, and no case tested it; a dot: it does not take it.</p>\n");
            nnv_text_add_untold(&h->t, h->r, "<p>", "</p>\n");
            add_table(h, &m);
            ok = nnv_html_uses(h, m.op);
            add_untested(h);
        }
        nnv_text_add(&h->t, "</section>\n");
    }
    matrix_free(&m);
    return ok ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for the coverage of the run");
}
