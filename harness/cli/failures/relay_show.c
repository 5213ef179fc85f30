/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/failures/relay_show.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/relay/interp/interp.h"
#include "compiler/relay/ops/ops.h"
#include "harness/compiled/relay_model.h"

enum { MOST_PARAMS = 8, MOST_SHAPES = 3 };

bool nnv_cli_is_relay(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".relay") == 0 || strcmp(dot, ".py") == 0);
}

/* By operator, in the order of the program. */
static int by_name(const void *a, const void *b) {
    const struct nnv_relay_expr *x = *(struct nnv_relay_expr *const *)a, *y = *(struct nnv_relay_expr *const *)b;
    int order = strcmp(nnv_relay_op_name(x), nnv_relay_op_name(y));
    return order ? order : x->id < y->id ? -1 : x->id > y->id;
}

static void write_signature(const struct nnv_relay_function *f, struct nnv_text *out) {
    const char *compiler = nnv_relay_fn_attr(f->expr, "Compiler");
    nnv_text_addf(out, "@%s%s%s\n", f->name, compiler ? ", compiled for " : "", compiler ? compiler : "");
    for (size_t i = 0; i < f->expr->n_params && i < MOST_PARAMS; i++) {
        nnv_text_addf(out, "  %%%s: ", f->expr->params[i]->name);
        nnv_relay_type_print(f->expr->params[i]->type, out);
        nnv_text_add(out, "\n");
    }
    if (f->expr->n_params > MOST_PARAMS)
        nnv_text_addf(out, "  and %zu more parameters\n", f->expr->n_params - MOST_PARAMS);
    nnv_text_add(out, "  gives ");
    nnv_relay_type_print(f->expr->args[0]->type, out);
    nnv_text_add(out, "\n");
}

/* n calls of one operator: how many, and the types of their results, each once. */
static void write_operator(struct nnv_relay_expr *const *calls, size_t n, struct nnv_text *out) {
    const char *name = nnv_relay_op_name(calls[0]);
    size_t kinds = 0;
    nnv_text_addf(out, "  %6zu  %s", n, name);
    if (nnv_relay_op(name) == NULL) nnv_text_add(out, "  (not known)");
    for (size_t i = 0; i < n && kinds <= MOST_SHAPES; i++) {
        bool first = true;
        for (size_t k = 0; k < i && first; k++) first = !nnv_relay_type_equal(calls[i]->type, calls[k]->type);
        if (!first) continue;
        if (++kinds > MOST_SHAPES) break;
        nnv_text_add(out, "  ");
        nnv_relay_type_print(calls[i]->type, out);
    }
    nnv_text_add(out, kinds > MOST_SHAPES ? "  ..\n" : "\n");
}

static enum nnv_status write_function(const struct nnv_relay_function *f, struct nnv_arena *arena,
                                      struct nnv_text *out) {
    struct nnv_relay_list list;
    size_t n = 0, constants = 0, bytes = 0;
    enum nnv_status st = nnv_relay_post_order(f->expr, NULL, NULL, arena, &list);
    if (st != NNV_OK) return st;
    write_signature(f, out);
    for (size_t i = 0; i < list.n; i++) {
        struct nnv_relay_expr *e = list.exprs[i];
        if (e->kind == NNV_RELAY_CONSTANT) constants++, bytes += e->tensor->bytes;
        if (nnv_relay_op_name(e)) list.exprs[n++] = e;
    }
    if (n) qsort(list.exprs, n, sizeof(struct nnv_relay_expr *), by_name);
    nnv_text_addf(out, "  %zu operations, %zu constants of %zu bytes\n", n, constants, bytes);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && strcmp(nnv_relay_op_name(list.exprs[end]), nnv_relay_op_name(list.exprs[i])) == 0;)
            end++;
        write_operator(list.exprs + i, end - i, out);
    }
    return NNV_OK;
}

enum nnv_status nnv_cli_relay_summary(const char *path, struct nnv_arena *arena, struct nnv_text *out,
                                      struct nnv_err *err) {
    struct nnv_relay_program p;
    enum nnv_status st = nnv_relay_program_read(path, NULL, arena, &p, err);
    if (st == NNV_OK) st = nnv_relay_check(p.m, err);
    for (size_t i = 0; st == NNV_OK && i < p.m->n_functions; i++) {
        st = write_function(&p.m->functions[i], arena, out);
        if (st != NNV_OK) st = nnv_fail(err, st, "%s: out of memory", path);
    }
    return st;
}
