/* SPDX-License-Identifier: Apache-2.0 */
/** @file draw.c Random Relay programs: what is written is remembered as a graph of its own. */
#include "tests/kit/compiler/draw.h"

#include <stdio.h>
#include <string.h>

#define FOUR "Tensor[(4), float32]"

static const struct op {
    const char *name, *attrs;
    int n_args;
    enum nnv_draw_type from, to;
} ops[] = {
    {"nn.relu", "", 1, NNV_DRAW_FOUR, NNV_DRAW_FOUR},
    {"tanh", "", 1, NNV_DRAW_FOUR, NNV_DRAW_FOUR},
    {"sigmoid", "", 1, NNV_DRAW_FOUR, NNV_DRAW_FOUR},
    {"abs", "", 1, NNV_DRAW_FOUR, NNV_DRAW_FOUR},
    {"negative", "", 1, NNV_DRAW_EIGHT, NNV_DRAW_EIGHT},
    {"add", "", 2, NNV_DRAW_FOUR, NNV_DRAW_FOUR},
    {"multiply", "", 2, NNV_DRAW_FOUR, NNV_DRAW_FOUR},
    {"subtract", "", 2, NNV_DRAW_FOUR, NNV_DRAW_FOUR},
    {"maximum", "", 2, NNV_DRAW_EIGHT, NNV_DRAW_EIGHT},
    {"concatenate", "", 1, NNV_DRAW_PAIR, NNV_DRAW_EIGHT},
    {"split", ", indices_or_sections=2", 1, NNV_DRAW_EIGHT, NNV_DRAW_PAIR},
    {"zeros", "shape=[4], dtype=\"float32\"", 0, NNV_DRAW_FOUR, NNV_DRAW_FOUR},
};
enum { OPS = sizeof ops / sizeof *ops };

struct writer {
    struct nnv_draw *d;
    struct nnv_rng rng;
    unsigned features;
    bool other;
    int visible[NNV_DRAW_NODES], n_visible;
    int left; /**< operations to be written */
    int depth, block;
    bool used[NNV_DRAW_NODES];
};

static bool chance(struct writer *w, int percent) { return nnv_rng_int(&w->rng, 0, 99) < percent; }

static int add_node(struct writer *w, enum nnv_draw_kind kind, enum nnv_draw_type type) {
    int i = w->d->n_nodes++;
    w->d->nodes[i] = (struct nnv_draw_node){.kind = kind, .type = type, .block = w->block};
    return i;
}

static int open_block(struct writer *w, int owner) {
    int b = w->d->n_blocks++;
    w->d->blocks[b] = (struct nnv_draw_block){w->block, owner, NNV_DRAW_NONE};
    return b;
}

static void indent(struct writer *w) {
    for (int i = 0; i <= w->depth; i++) nnv_text_add(&w->d->text, "  ");
}

/* A value of the type that can be seen here, or NNV_DRAW_NONE. */
static int choose(struct writer *w, enum nnv_draw_type type) {
    int fit[NNV_DRAW_NODES], n = 0;
    for (int i = 0; i < w->n_visible; i++)
        if (w->d->nodes[w->visible[i]].type == type) fit[n++] = w->visible[i];
    if (!n) return NNV_DRAW_NONE;
    int from = w->features & NNV_DRAW_FAR || n < 4 ? 0 : n - 4;
    int chosen = fit[nnv_rng_int(&w->rng, from, n - 1)];
    w->used[chosen] = true;
    return chosen;
}

static int constant(struct writer *w) {
    int i = add_node(w, NNV_DRAW_CONST, NNV_DRAW_FOUR);
    strcpy(w->d->nodes[i].name, "0.5f");
    return i;
}

/* Begins the statement that binds the node: "%3 = " or "let %v3 = ". */
static void bind(struct writer *w, int i, bool let) {
    struct nnv_draw_node *n = &w->d->nodes[i];
    const char *prefix = let ? w->other ? "other_" : "v" : "";
    snprintf(n->name, sizeof n->name, "%%%s%d", prefix, w->other && !let ? i * 3 + 7 : i);
    indent(w);
    nnv_text_addf(&w->d->text, "%s%s = ", let ? "let " : "", n->name);
}

static void show(struct writer *w, int i) { w->visible[w->n_visible++] = i; }

static bool lets(struct writer *w) { return w->features & NNV_DRAW_LETS && chance(w, 30); }

/* ------------------------------------------------------------------- statements */

static void write_tuple(struct writer *w) {
    int a = choose(w, NNV_DRAW_FOUR), b = choose(w, NNV_DRAW_FOUR), i = add_node(w, NNV_DRAW_TUPLE, NNV_DRAW_PAIR);
    w->d->nodes[i].args[0] = a;
    w->d->nodes[i].args[1] = b;
    w->d->nodes[i].n_args = 2;
    bind(w, i, lets(w));
    nnv_text_addf(&w->d->text, "(%s, %s);\n", w->d->nodes[a].name, w->d->nodes[b].name);
    show(w, i);
}

static void write_get(struct writer *w) {
    int pair = choose(w, NNV_DRAW_PAIR);
    if (pair == NNV_DRAW_NONE) return;
    int i = add_node(w, NNV_DRAW_GET, NNV_DRAW_FOUR);
    w->d->nodes[i].args[0] = pair;
    w->d->nodes[i].n_args = 1;
    w->d->nodes[i].index = (int)nnv_rng_int(&w->rng, 0, 1);
    bind(w, i, lets(w));
    nnv_text_addf(&w->d->text, "%s.%d;\n", w->d->nodes[pair].name, w->d->nodes[i].index);
    show(w, i);
}

static void write_op(struct writer *w) {
    int number = (int)nnv_rng_int(&w->rng, 0, OPS - 1), args[NNV_DRAW_ARGS];
    if (w->features & NNV_DRAW_DENSE && ops[number].n_args < 2) number = (int)nnv_rng_int(&w->rng, 0, OPS - 1);
    const struct op *op = &ops[number];
    if (op->from != NNV_DRAW_FOUR && !(w->features & NNV_DRAW_TUPLES)) return;
    if (!op->n_args && !chance(w, 30)) return;
    for (int k = 0; k < op->n_args; k++) {
        bool literal = k && op->from == NNV_DRAW_FOUR && chance(w, 15);
        if ((args[k] = literal ? constant(w) : choose(w, op->from)) == NNV_DRAW_NONE) return;
    }
    int i = add_node(w, NNV_DRAW_OP, op->to);
    struct nnv_draw_node *n = &w->d->nodes[i];
    n->op = op->name;
    n->n_args = op->n_args;
    n->index = number;
    for (int k = 0; k < op->n_args; k++) n->args[k] = args[k];
    bind(w, i, lets(w));
    nnv_text_addf(&w->d->text, "%s(", op->name);
    for (int k = 0; k < op->n_args; k++) nnv_text_addf(&w->d->text, "%s%s", k ? ", " : "", w->d->nodes[args[k]].name);
    nnv_text_addf(&w->d->text, "%s);\n", op->attrs);
    w->left--;
    show(w, i);
}

static void write_block(struct writer *w, int block, int statements);

/* One branch or body: what it shows is gone behind it. */
static void write_inner(struct writer *w, int block, int statements) {
    int visible = w->n_visible, around = w->block;
    w->block = block;
    w->depth++;
    write_block(w, block, statements);
    w->depth--;
    w->block = around;
    w->n_visible = visible;
    indent(w);
}

static void write_if(struct writer *w) {
    int i = add_node(w, NNV_DRAW_IF, NNV_DRAW_FOUR);
    w->d->nodes[i].n_args = 1;
    w->d->nodes[i].args[0] = 0; /* %c */
    int first = open_block(w, i), second = open_block(w, i);
    w->d->nodes[i].blocks[0] = first;
    w->d->nodes[i].blocks[1] = second;
    bind(w, i, lets(w));
    nnv_text_addf(&w->d->text, "if (%s) {\n", w->d->nodes[0].name);
    write_inner(w, first, (int)nnv_rng_int(&w->rng, 0, 4));
    nnv_text_add(&w->d->text, "} else {\n");
    write_inner(w, second, (int)nnv_rng_int(&w->rng, 0, 4));
    nnv_text_add(&w->d->text, "};\n");
    show(w, i);
}

static void write_closure(struct writer *w) {
    int i = add_node(w, NNV_DRAW_FN, NNV_DRAW_CLOSURE), block = open_block(w, i), around = w->block;
    w->d->nodes[i].blocks[0] = block;
    w->block = block;
    int param = add_node(w, NNV_DRAW_PARAM, NNV_DRAW_FOUR);
    w->block = around;
    snprintf(w->d->nodes[param].name, sizeof w->d->nodes[param].name, "%%%s%d", w->other ? "q" : "p", param);
    w->d->nodes[i].args[0] = param;
    bind(w, i, chance(w, 50));
    nnv_text_addf(&w->d->text, "fn (%s: " FOUR ") -> " FOUR " {\n", w->d->nodes[param].name);
    show(w, param);
    write_inner(w, block, (int)nnv_rng_int(&w->rng, 1, 4));
    w->n_visible--;
    nnv_text_add(&w->d->text, "};\n");
    show(w, i);
}

static void write_call(struct writer *w) {
    int fn = choose(w, NNV_DRAW_CLOSURE), arg = choose(w, NNV_DRAW_FOUR);
    if (fn == NNV_DRAW_NONE) return;
    int i = add_node(w, NNV_DRAW_CALL, NNV_DRAW_FOUR);
    w->d->nodes[i].n_args = 2;
    w->d->nodes[i].args[0] = fn;
    w->d->nodes[i].args[1] = arg;
    bind(w, i, lets(w));
    nnv_text_addf(&w->d->text, "%s(%s);\n", w->d->nodes[fn].name, w->d->nodes[arg].name);
    show(w, i);
}

static void write_statement(struct writer *w) {
    bool room = w->d->n_nodes < NNV_DRAW_NODES / 2 && w->d->n_blocks < NNV_DRAW_BLOCKS - 4 && w->depth < 3;
    if (w->features & NNV_DRAW_TUPLES && chance(w, 20))
        chance(w, 50) ? write_tuple(w) : write_get(w);
    else if (w->features & NNV_DRAW_BRANCHES && room && chance(w, 8))
        write_if(w);
    else if (w->features & NNV_DRAW_CLOSURES && room && chance(w, 6))
        write_closure(w);
    else if (w->features & NNV_DRAW_CLOSURES && chance(w, 15))
        write_call(w);
    else
        write_op(w);
}

static void write_block(struct writer *w, int block, int statements) {
    for (int i = 0; i < statements && w->left > 0 && w->d->n_nodes < NNV_DRAW_NODES - 16; i++) write_statement(w);
    int result = choose(w, NNV_DRAW_FOUR);
    w->d->blocks[block].result = result;
    indent(w);
    nnv_text_addf(&w->d->text, "%s\n", w->d->nodes[result].name);
}

/* ------------------------------------------------------------------- the program */

/* The last value written, some others; or all that nothing uses. */
static int choose_results(struct writer *w, int *fields) {
    int n = 0;
    for (int i = w->n_visible; i-- > 0 && n < NNV_DRAW_ARGS && !(w->features & NNV_DRAW_DEAD);) {
        int v = w->visible[i];
        bool fits = w->d->nodes[v].type == NNV_DRAW_FOUR && w->d->nodes[v].kind != NNV_DRAW_PARAM;
        if (fits && (!n || (w->features & NNV_DRAW_DENSE && !w->used[v]))) fields[n++] = v;
    }
    while (n < 3) fields[n++] = choose(w, NNV_DRAW_FOUR);
    return n;
}

static void write_body(struct writer *w) {
    int tries = 0, fields[NNV_DRAW_ARGS];
    while (w->left > 0 && tries++ < 1000 && w->d->n_nodes < NNV_DRAW_NODES - 24) write_statement(w);
    int n = choose_results(w, fields), i = add_node(w, NNV_DRAW_TUPLE, NNV_DRAW_PAIR);
    w->d->nodes[i].n_args = n;
    nnv_text_add(&w->d->text, "  (");
    for (int k = 0; k < n; k++) {
        w->d->nodes[i].args[k] = fields[k];
        nnv_text_addf(&w->d->text, "%s%s", k ? ", " : "", w->d->nodes[fields[k]].name);
    }
    nnv_text_add(&w->d->text, ")\n}\n");
    w->d->blocks[0].result = i;
}

static void write_support(struct writer *w) {
    struct nnv_draw *d = w->d;
    static const char *const names[] = {"a", "b", "c"};
    d->n_targets = w->features & NNV_DRAW_TARGETS ? (int)nnv_rng_int(&w->rng, 1, 3) : 1;
    int host = (int)nnv_rng_int(&w->rng, 10, 60);
    for (int i = 0; i < OPS; i++)
        d->target_of[i] = chance(w, host) ? NNV_DRAW_NONE : (int)nnv_rng_int(&w->rng, 0, d->n_targets - 1);
    for (int t = 0; t < d->n_targets; t++) {
        nnv_text_addf(&d->support, "%s\"%s\": [", t ? ", " : "{", names[t]);
        bool first = true;
        for (int i = 0; i < OPS; i++) { /* later targets may name it, too: the first one takes it */
            if (d->target_of[i] != t && !(d->target_of[i] >= 0 && d->target_of[i] < t && i % 2)) continue;
            nnv_text_addf(&d->support, "%s\"%s\"", first ? "" : ", ", ops[i].name);
            first = false;
        }
        nnv_text_add(&d->support, "]");
    }
    nnv_text_add(&d->support, "}");
}

void nnv_draw_program(struct nnv_draw *d, uint64_t seed, uint64_t index, int n, unsigned features, bool other) {
    struct writer w = {.d = d, .rng = nnv_rng_make(seed, index, 77), .features = features, .other = other, .left = n};
    d->n_nodes = 0;
    d->n_blocks = 1;
    d->blocks[0] = (struct nnv_draw_block){NNV_DRAW_NONE, NNV_DRAW_NONE, NNV_DRAW_NONE};
    static const char *const names[][4] = {{"%c", "%x", "%y", "%t"}, {"%cond", "%in.0", "%second", "%pair"}};
    static const enum nnv_draw_type types[] = {NNV_DRAW_BOOL, NNV_DRAW_FOUR, NNV_DRAW_FOUR, NNV_DRAW_PAIR};
    static const char *const texts[] = {"bool", FOUR, FOUR, "(" FOUR ", " FOUR ")"};
    write_support(&w);
    nnv_text_add(&d->text, "def @main(");
    for (int i = 0; i < 4; i++) {
        int node = add_node(&w, NNV_DRAW_PARAM, types[i]);
        strcpy(d->nodes[node].name, names[other][i]);
        nnv_text_addf(&d->text, "%s%s: %s", i ? ", " : "", names[other][i], texts[i]);
        show(&w, node);
    }
    nnv_text_add(&d->text, ") {\n");
    write_body(&w);
}

void nnv_draw_free(struct nnv_draw *d) {
    nnv_text_free(&d->text);
    nnv_text_free(&d->support);
}

int nnv_draw_target(const struct nnv_draw *d, int node) {
    const struct nnv_draw_node *n = &d->nodes[node];
    return n->kind == NNV_DRAW_OP && n->n_args ? d->target_of[n->index] : NNV_DRAW_NONE;
}
