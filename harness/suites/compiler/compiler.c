/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compiler.c The suite "compiler": programs worked by hand, random programs against the rules, and the values of
 * converted programs, on the driver too.
 */
#include <stdio.h>
#include <string.h>

#include "harness/suites/compiler/cases.h"
#include "harness/suites/suites.h"

enum kind { STRUCTURE, DRAW, VALUES };
enum { MOST_TARGETS = 8 };

static enum nnv_status add(struct nnv_case_list *list, const char *name, enum kind kind, size_t number, size_t index,
                           const char *op, const char *type, struct nnv_err *err) {
    const struct nnv_case c = {
        .name = name, .suite = "compiler", .op = "", .type = type, .tags = op, .a = kind, .b = number, .c = index};
    return nnv_case_add(list, &c, err);
}

/* "nn.conv2d/float32/strides": the operator is a tag, the type that of the case. */
static enum nnv_status add_values(struct nnv_case_list *list, size_t i, struct nnv_err *err) {
    char name[160], op[64], type[32];
    if (sscanf(nnv_values_cases[i].name, "%63[^/]/%31[^/]", op, type) != 2)
        return nnv_fail(err, NNV_INTERNAL, "%s: expected operator/type/name", nnv_values_cases[i].name);
    snprintf(name, sizeof name, "compiler/values/%s", nnv_values_cases[i].name);
    return add(list, name, VALUES, i, 0, op, "", err);
}

static enum nnv_status list_all(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    static const size_t tiers[] = {10, 60, 1000};
    const size_t rows = nnv_draw_row_count;
    const size_t each = config->count > 0 ? (config->count + rows - 1) / rows
                                          : tiers[config->tier < 0   ? 0
                                                  : config->tier > 2 ? 2
                                                                     : config->tier];
    enum nnv_status s = NNV_OK;
    char name[160];
    for (size_t i = 0; s == NNV_OK && i < nnv_structure_case_count; i++) {
        snprintf(name, sizeof name, "compiler/%s", nnv_structure_cases[i].name);
        s = add(list, name, STRUCTURE, i, 0, "", "", err);
    }
    for (size_t i = 0; s == NNV_OK && i < nnv_values_case_count; i++) s = add_values(list, i, err);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; s == NNV_OK && i < each; i++) {
            snprintf(name, sizeof name, "compiler/draw/%s/%zu", nnv_draw_rows[r].name, i);
            s = add(list, name, DRAW, r, i, "", "", err);
        }
    return s;
}

/* ------------------------------------------------------------------ programs by hand */

static const char *quoted(const char *text, struct nnv_arena *arena) {
    char *copy = text ? nnv_arena_strdup(arena, text) : NULL;
    for (char *p = copy; p && *p; p++)
        if (*p == '\'') *p = '"';
    return copy;
}

static void run_structure(struct nnv_session *s, const struct nnv_structure_case *c,
                          const struct nnv_compiler_bug *bug) {
    static const char head[] = "def @main(%x: Tensor[(8), float32], %y: Tensor[(8), float32], %c: bool, "
                               "%t: (Tensor[(8), float32], Tensor[(8), float32])) {\n";
    struct nnv_arena *arena = s->env->arena;
    const char *targets[MOST_TARGETS];
    struct nnv_divide d = {.patterns = quoted(c->patterns, arena),
                           .support = quoted(c->support, arena),
                           .prune = quoted(c->prune, arena),
                           .targets = targets,
                           .bug = bug};
    char *rest = c->targets ? nnv_arena_strdup(arena, c->targets) : NULL;
    for (char *name; rest && d.n_targets < MOST_TARGETS && (name = strsep(&rest, ","));) targets[d.n_targets++] = name;
    d.text = quoted(nnv_arena_printf(arena, "%s%s\n}\n", head, c->body), arena);
    struct nnv_divided divided;
    struct nnv_err err = {0};
    struct nnv_text line = {0}, why = {0};
    if (!d.text || nnv_divide(&d, arena, &divided, &err) != NNV_OK) {
        nnv_expect(s, false, "%s", err.text);
        return;
    }
    nnv_divided_line(&divided.partition, &line);
    size_t len = line.len;
    while (len && line.data[len - 1] == ' ') len--;
    size_t want = strlen(c->expected);
    while (want && c->expected[want - 1] == ' ') want--;
    nnv_expect(s, len == want && !memcmp(line.data, c->expected, want), "%.*s\ninstead of\n%s\n%s", (int)len, line.data,
               c->expected, d.text);
    /* the interpreter needs the values of constants, and an end */
    bool runs = !strstr(c->body, "meta[") && !strstr(c->body, "%loop");
    nnv_expect(s, nnv_divided_holds(&divided, runs, 1, arena, &why), "%s", why.data ? why.data : "");
    nnv_text_free(&line);
    nnv_text_free(&why);
}

static void run_draw(struct nnv_session *s, const struct nnv_case *c, const struct nnv_compiler_bug *bug) {
    struct nnv_draw_figures figures = {0};
    struct nnv_text why = {0};
    bool ok = nnv_draw_judge(&nnv_draw_rows[c->b], s->env->config->seed, c->c, bug, s->env->arena, &figures, &why);
    nnv_expect(s, ok, "%s", why.data ? why.data : "");
    nnv_text_free(&why);
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_session s;
    const struct nnv_compiler_bug *bug = nnv_compiler_bug(env->config->driver_options);
    nnv_session_begin(&s, env, result);
    if (c->a == STRUCTURE)
        run_structure(&s, &nnv_structure_cases[c->b], bug);
    else if (c->a == DRAW)
        run_draw(&s, c, bug);
    else
        nnv_values_run(&s, &nnv_values_cases[c->b], bug);
    nnv_session_end(&s);
}

const struct nnv_suite nnv_suite_compiler = {
    .name = "compiler",
    .summary = "the compiler from Relay: how programs are divided, and the values of converted ones",
    .precision = NNV_PRECISION_BUDGET,
    .list = list_all,
    .run = run,
};
