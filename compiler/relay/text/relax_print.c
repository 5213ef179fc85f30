/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing modules as TVMScript of Relax, in the shape in which TVM's MergeCompositeFunctions leaves them: a region is
 * a function with Codegen, a composite a function within it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/relay/text/literal.h"
#include "compiler/relay/text/print.h"
#include "compiler/relay/text/relax.h"

enum { INDENT = 4 };

struct relax_printer {
    struct nnv_printer base;
    const char *unsaid; /**< an operator that Relax has no word for */
};

static void print_node(struct relax_printer *p, const struct nnv_relay_expr *e);
static void print_block(struct relax_printer *p, const struct nnv_print_block *b, int depth);

/* -------------------------------------------------------------------- operands */

static void annotate(const struct nnv_relay_expr *e, struct nnv_text *out) {
    const struct nnv_relay_type *t = e->type ? e->type : e->declared;
    if (t == NULL || t->kind == NNV_RELAY_FN_TYPE) return;
    nnv_text_add(out, ": ");
    nnv_relax_print_type(t, out);
}

/* Scalars that R.const() says in full. */
static bool is_literal(const struct nnv_relay_tensor *t) {
    return nnv_relay_is_literal(t) && (t->type->dtype != NNV_RELAY_FLOAT32 || isfinite(*(const float *)t->data));
}

/* A scalar as R.const(value, "dtype"); as: of this type instead of its own, which is an integer one. */
static void print_scalar(const struct nnv_relay_tensor *t, const char *as, struct nnv_text *out) {
    struct nnv_text value = {0};
    nnv_relay_print_literal(t, &value);
    /* Relay's suffix says the type. */
    const bool word = value.data && (*value.data == 'T' || *value.data == 'F');
    const size_t len = value.data ? word ? value.len : strcspn(value.data, "fi") : 0;
    nnv_text_add(out, "R.const(");
    if (len) nnv_text_add_n(out, value.data, len);
    nnv_text_addf(out, ", \"%s\")", as ? as : nnv_relay_dtype_name(t->type->dtype));
    out->failed = out->failed || value.failed;
    nnv_text_free(&value);
}

static void print_constant(struct relax_printer *p, const struct nnv_relay_expr *e) {
    if (is_literal(e->tensor))
        print_scalar(e->tensor, NULL, p->base.out);
    else
        nnv_text_addf(p->base.out, "metadata[\"relax.expr.Constant\"][%" PRId64 "]",
                      p->base.constant_number[e->id] - 1);
}

static struct nnv_print_place *place_of(struct relax_printer *p, const struct nnv_relay_expr *e) {
    return &p->base.places[e->id];
}

static void indent(struct relax_printer *p, int depth) {
    for (int i = 0; i < depth * INDENT; i++) nnv_text_add(p->base.out, " ");
}

/* A name, a constant, or the node itself if it has no name: a tuple that is used once. */
static void print_operand(struct relax_printer *p, const struct nnv_relay_expr *e) {
    if (e->kind == NNV_RELAY_CONSTANT)
        print_constant(p, e);
    else if (e->kind == NNV_RELAY_GLOBAL)
        nnv_text_addf(p->base.out, "cls.%s", e->name);
    else if (place_of(p, e)->name)
        nnv_text_add(p->base.out, place_of(p, e)->name);
    else
        print_node(p, e);
}

static void print_list(struct relax_printer *p, const struct nnv_relay_expr *e) {
    for (size_t i = 0; i < e->n_args; i++) {
        if (i) nnv_text_add(p->base.out, ", ");
        print_operand(p, e->args[i]);
    }
}

/* ----------------------------------------------------------------------- calls */

static bool flag(const struct nnv_relay_expr *e, const char *key) {
    const struct nnv_relay_value *v = nnv_relay_attr(e, key);
    return v && v->i;
}

/* An operand of a product, the last two dimensions changing places if it is transposed. */
static void print_factor(struct relax_printer *p, const struct nnv_relay_expr *x, bool transposed, size_t rank) {
    if (transposed) nnv_text_add(p->base.out, "R.permute_dims(");
    print_operand(p, x);
    if (transposed) nnv_text_add(p->base.out, rank == 2 ? ", axes=[1, 0])" : ", axes=[0, 2, 1])");
}

static bool is_product(const char *op) {
    return !strcmp(op, "nn.dense") || !strcmp(op, "nn.matmul") || !strcmp(op, "nn.batch_matmul");
}

static void print_product(struct relax_printer *p, const struct nnv_relay_expr *e) {
    const bool dense = nnv_relay_is_op(e, "nn.dense");
    const size_t rank = nnv_relay_is_op(e, "nn.batch_matmul") ? 3 : 2;
    const struct nnv_relay_value *dtype = nnv_relay_written(e, "out_dtype");
    nnv_text_add(p->base.out, "R.matmul(");
    print_factor(p, e->args[0], !dense && flag(e, "transpose_a"), rank);
    nnv_text_add(p->base.out, ", ");
    print_factor(p, e->args[1], dense || flag(e, "transpose_b"), rank);
    if (dtype && dtype->kind == NNV_RELAY_STRING && *dtype->text)
        nnv_text_addf(p->base.out, ", out_dtype=\"%s\"", dtype->text);
    nnv_text_add(p->base.out, ")");
}

/* A comma, if something stands behind `from` already. */
static void separate(struct nnv_text *out, size_t from) {
    if (out->len > from) nnv_text_add(out, ", ");
}

/* All dimensions but the first and that of the channels. */
static void print_axes(const struct nnv_relay_expr *e, struct nnv_text *out) {
    const struct nnv_relay_value *v = nnv_relay_attr(e, "axis");
    const struct nnv_relay_type *t = e->args[0]->type;
    const size_t rank = t && t->kind == NNV_RELAY_TENSOR ? t->n_dims : 0;
    const int64_t axis = v ? v->i + (v->i < 0 ? (int64_t)rank : 0) : 1;
    nnv_text_add(out, "axes=[");
    const size_t from = out->len;
    for (size_t i = 1; i < rank; i++) {
        if ((int64_t)i == axis) continue;
        separate(out, from);
        nnv_text_addf(out, "%zu", i);
    }
    nnv_text_add(out, "]");
}

/* from: where the call's operands begin. */
static void print_parameter(struct relax_printer *p, const struct nnv_relay_expr *e,
                            const struct nnv_relax_param *param, size_t from) {
    struct nnv_text *out = p->base.out;
    const struct nnv_relay_value *v = param->attr ? nnv_relay_written(e, param->attr->key) : NULL;
    const bool axes = param->ignored && strcmp(param->name, "axes") == 0, fixed = param->ignored && param->value;
    if (!axes && !fixed && (v == NULL || v->kind == NNV_RELAY_NONE)) return;
    separate(out, from);
    if (axes) {
        print_axes(e, out);
        return;
    }
    nnv_text_addf(out, "%s=", param->name);
    if (fixed)
        nnv_text_add_n(out, param->value, param->value_len);
    else if (param->attr->kind == NNV_RELAY_ATTR_PAIRS)
        nnv_relax_print_pairs(v, out);
    else
        nnv_relax_print_value(v, out);
}

/* A zero point is of the type of the codes beside it. */
static bool print_zero_point(struct relax_printer *p, const struct nnv_relay_expr *e,
                             const struct nnv_relay_expr *zero) {
    const bool codes_out = nnv_relay_is_op(e, "qnn.quantize");
    const struct nnv_relay_type *t = codes_out ? e->type : e->args[0]->type;
    if (zero->kind != NNV_RELAY_CONSTANT || !is_literal(zero->tensor) || !t || t->kind != NNV_RELAY_TENSOR)
        return false;
    print_scalar(zero->tensor, nnv_relay_dtype_name(t->dtype), p->base.out);
    return true;
}

static void print_form(struct relax_printer *p, const struct nnv_relay_expr *e, const struct nnv_relax_form *form) {
    struct nnv_text *out = p->base.out;
    nnv_text_addf(out, "R.%.*s(", (int)form->name_len, form->name);
    const size_t from = out->len;
    size_t n = 0;
    for (size_t i = 0; i < form->n && n < e->n_args; i++) {
        const struct nnv_relax_param *param = &form->params[i];
        if (param->attr || param->ignored) continue;
        separate(out, from);
        if (i > n) nnv_text_addf(out, "%s=", param->name); /* what stands before it follows below */
        if (strcmp(param->name, "zero_point") != 0 || !print_zero_point(p, e, e->args[n])) print_operand(p, e->args[n]);
        n++;
    }
    for (size_t i = 0; i < form->n; i++) print_parameter(p, e, &form->params[i], from);
    nnv_text_add(out, ")");
}

/* What a call of something outside the graph says of its results. */
static void print_results(const struct nnv_relay_type *t, const char *call, struct nnv_text *out) {
    const bool packed = strstr(call, "packed") && !strstr(call, "dps"), many = t->kind == NNV_RELAY_TUPLE_TYPE;
    nnv_text_add(out, packed ? ", sinfo_args=(" : many ? ", out_sinfo=[" : ", out_sinfo=");
    if (many && !packed)
        nnv_relax_print_types(t, out);
    else
        nnv_relax_print_type(t, out);
    nnv_text_add(out, packed ? ",)" : many ? "]" : "");
}

/* An operator that no record describes, as it was read: attributes without a keyword stand in their places. */
static void print_unknown(struct relax_printer *p, const struct nnv_relay_expr *e, const char *name) {
    struct nnv_text *out = p->base.out;
    size_t place = 0, arg = 0, left = e->n_args + e->n_attrs;
    char key[24];
    nnv_text_addf(out, "R.%s(", name);
    for (; left; place++, left--) {
        snprintf(key, sizeof key, "arg%zu", place);
        const struct nnv_relay_value *v = nnv_relay_written(e, key);
        if (v == NULL && arg == e->n_args) break;
        if (place) nnv_text_add(out, ", ");
        if (v)
            nnv_relax_print_value(v, out);
        else
            print_operand(p, e->args[arg++]);
    }
    for (size_t i = 0; i < e->n_attrs; i++) {
        if (strncmp(e->attrs[i].key, "arg", 3) == 0) continue;
        nnv_text_addf(out, "%s%s=", place++ ? ", " : "", e->attrs[i].key);
        nnv_relax_print_value(&e->attrs[i].value, out);
    }
    if (strncmp(name, "call_", 5) == 0 && e->declared) print_results(e->declared, name, out);
    nnv_text_add(out, ")");
}

/* Where Relax counts in int64 and Relay in int32. */
static bool is_arg(const struct nnv_relay_expr *e) {
    return nnv_relay_is_op(e, "argmax") || nnv_relay_is_op(e, "argmin");
}

static bool is_arg_as_relax(const struct relax_printer *p, const struct nnv_relay_expr *e) {
    const struct nnv_relay_value *dtype = nnv_relay_is_op(e, "cast") ? nnv_relay_written(e, "dtype") : NULL;
    return dtype && dtype->kind == NNV_RELAY_STRING && !strcmp(dtype->text, "int64") && is_arg(e->args[0]) &&
           p->base.places[e->args[0]->id].uses == 1;
}

static void print_call(struct relax_printer *p, const struct nnv_relay_expr *e) {
    struct nnv_relax_form form;
    const char *op = nnv_relay_op_name(e);
    const struct nnv_relay_op_row *row = op ? nnv_relay_op(op) : NULL;
    if (op == NULL) {
        print_operand(p, e->callee);
        nnv_text_add(p->base.out, "(");
        print_list(p, e);
        nnv_text_add(p->base.out, ")");
    } else if (is_product(op)) {
        print_product(p, e);
    } else if (is_arg_as_relax(p, e)) {
        if (nnv_relax_form_of(nnv_relay_op(e->args[0]->callee->name), &form)) print_form(p, e->args[0], &form);
    } else if (row && nnv_relax_form_of(row, &form)) {
        if (is_arg(e)) nnv_text_add(p->base.out, "R.astype(");
        print_form(p, e, &form);
        if (is_arg(e)) nnv_text_add(p->base.out, ", dtype=\"int32\")");
    } else if (strncmp(op, "relax.", 6) == 0) {
        print_unknown(p, e, op + 6);
    } else if (p->unsaid == NULL) {
        p->unsaid = op;
    }
}

static void print_node(struct relax_printer *p, const struct nnv_relay_expr *e) {
    if (e->kind == NNV_RELAY_CALL) {
        print_call(p, e);
    } else if (e->kind == NNV_RELAY_TUPLE) {
        nnv_text_add(p->base.out, "(");
        print_list(p, e);
        nnv_text_add(p->base.out, e->n_args == 1 ? ",)" : ")");
    } else if (e->kind == NNV_RELAY_GET) {
        print_operand(p, e->args[0]);
        nnv_text_addf(p->base.out, "[%" PRId64 "]", e->index);
    } else if (p->unsaid == NULL) {
        p->unsaid = "let";
    }
}

/* ------------------------------------------------------------------- functions */

static void print_attributes(struct relax_printer *p, const struct nnv_relay_expr *f, int depth) {
    struct nnv_text *out = p->base.out;
    const bool region = nnv_relay_written(f, "Compiler") != NULL;
    const char *comma = "";
    if (f->n_attrs == 0) return;
    indent(p, depth);
    nnv_text_add(out, "R.func_attr({");
    for (size_t i = 0; i < f->n_attrs; i++) {
        const char *key = f->attrs[i].key;
        if (region && (!strcmp(key, "Primitive") || !strcmp(key, "Inline"))) continue; /* Codegen says it */
        nnv_text_addf(out, "%s\"%s\": ", comma, strcmp(key, "Compiler") == 0 ? "Codegen" : key);
        nnv_relax_print_value(&f->attrs[i].value, out);
        comma = ", ";
    }
    nnv_text_add(out, "})\n");
}

/* What a dataflow block must not hold: branches, functions, calls with effects. */
static bool is_plain(const struct nnv_print_block *b) {
    bool plain = b->result->kind != NNV_RELAY_IF && b->result->kind != NNV_RELAY_FUNCTION;
    for (size_t i = 0; plain && i < b->n; i++) {
        const struct nnv_relay_expr *e = b->nodes[i];
        plain = e->kind != NNV_RELAY_IF && e->kind != NNV_RELAY_FUNCTION && !nnv_relay_is_op(e, "relax.call_packed");
    }
    return plain;
}

static void print_function(struct relax_printer *p, const struct nnv_relay_expr *f, const char *name, int depth) {
    struct nnv_text *out = p->base.out;
    const struct nnv_print_block *b = place_of(p, f)->inner[0];
    indent(p, depth);
    nnv_text_add(out, "@R.function\n");
    indent(p, depth);
    nnv_text_addf(out, "def %s(", name);
    for (size_t i = 0; i < f->n_params; i++) {
        if (i) nnv_text_add(out, ", ");
        nnv_text_add(out, place_of(p, f->params[i])->name);
        annotate(f->params[i], out);
    }
    nnv_text_add(out, ")");
    const struct nnv_relay_type *result = f->declared ? f->declared : f->args[0]->type;
    if (result) nnv_text_add(out, " -> ");
    if (result) nnv_relax_print_type(result, out);
    nnv_text_add(out, ":\n");
    print_attributes(p, f, depth + 1);
    if (depth == 1 && !nnv_relay_written(f, "Compiler")) nnv_text_add(out, "        cls = Module\n");
    const bool bound = b->n || !nnv_print_is_leaf(b->result), dataflow = bound && is_plain(b);
    if (dataflow) indent(p, depth + 1);
    if (dataflow) nnv_text_add(out, "with R.dataflow():\n");
    print_block(p, b, depth + 1 + dataflow);
    if (dataflow) indent(p, depth + 2);
    if (dataflow)
        nnv_text_addf(out, "R.output(%s)\n", place_of(p, b->result)->name ? place_of(p, b->result)->name : "");
    indent(p, depth + 1);
    nnv_text_add(out, "return ");
    print_operand(p, b->result);
    nnv_text_add(out, "\n");
}

/* if c: ... else: ..., both binding the name of the if. */
static void print_if(struct relax_printer *p, const struct nnv_relay_expr *e, const char *name, int depth) {
    struct nnv_text *out = p->base.out;
    for (size_t i = 0; i < 2; i++) {
        const struct nnv_print_block *b = place_of(p, e)->inner[i];
        indent(p, depth);
        if (i == 0) nnv_text_add(out, "if ");
        if (i == 0) print_operand(p, e->args[0]);
        nnv_text_add(out, i ? "else:\n" : ":\n");
        print_block(p, b, depth + 1);
        indent(p, depth + 1);
        nnv_text_add(out, name);
        annotate(b->result, out);
        nnv_text_add(out, " = ");
        print_operand(p, b->result);
        nnv_text_add(out, "\n");
    }
}

static bool is_inline(const struct relax_printer *p, const struct nnv_relay_expr *e) {
    return p->base.places[e->id].uses == 1 && (e->kind == NNV_RELAY_TUPLE || is_arg(e));
}

static void print_binding(struct relax_printer *p, struct nnv_relay_expr *e, const char *hint, int depth) {
    struct nnv_text *out = p->base.out;
    const char *name = nnv_print_name(&p->base, e->bound && e->bound[1] ? e->bound + 1 : hint);
    if (name == NULL) {
        out->failed = true;
        return;
    }
    if (e->kind == NNV_RELAY_FUNCTION) {
        print_function(p, e, name, depth);
    } else if (e->kind == NNV_RELAY_IF) {
        print_if(p, e, name, depth);
    } else {
        indent(p, depth);
        nnv_text_add(out, name);
        annotate(e, out);
        nnv_text_add(out, " = ");
        print_node(p, e);
        nnv_text_add(out, "\n");
    }
    place_of(p, e)->name = name;
}

/* What the block binds, its result too. */
static void print_block(struct relax_printer *p, const struct nnv_print_block *b, int depth) {
    for (size_t i = 0; i < b->n; i++) {
        struct nnv_relay_expr *e = b->nodes[i];
        if (!is_inline(p, e)) print_binding(p, e, e->kind == NNV_RELAY_FUNCTION ? "fused" : "lv", depth);
    }
    struct nnv_relay_expr *result = b->result;
    if (!nnv_print_is_leaf(result) && !place_of(p, result)->name) print_binding(p, result, "gv", depth);
}

/* --------------------------------------------------------------------- modules */

/* Functions of TIR as they were, moved to the column of the others. */
static void print_foreign(struct relax_printer *p, const struct nnv_relay_foreign *f) {
    const char *at = f->text, *end = f->text + f->len;
    nnv_text_add(p->base.out, "\n");
    for (size_t blanks = 0; at < end; blanks = f->column - 1) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        for (; blanks && at < stop && *at == ' '; blanks--) at++;
        if (at < stop) indent(p, 1);
        nnv_text_add_n(p->base.out, at, (size_t)(stop - at));
        nnv_text_add(p->base.out, "\n");
        at = stop + 1;
    }
}

static bool print_module(struct relax_printer *p) {
    struct nnv_text *out = p->base.out;
    const struct nnv_relay_module *m = p->base.m;
    if (!nnv_print_start(&p->base)) return false;
    if (p->base.n_constants) nnv_relax_print_meta(&p->base);
    nnv_text_add(out, "# from tvm.script import ir as I\n# from tvm.script import relax as R\n");
    if (m->foreign) nnv_text_add(out, "# from tvm.script import tir as T\n");
    nnv_text_add(out, "\n@I.ir_module\nclass Module:");
    for (const struct nnv_relay_foreign *f = m->foreign; f; f = f->next) print_foreign(p, f);
    for (size_t i = 0; i < m->n_functions; i++) {
        struct nnv_relay_expr *f = m->functions[i].expr;
        if (!nnv_print_blocks(&p->base, f)) return false;
        nnv_text_add(out, "\n");
        print_function(p, f, m->functions[i].name, 1);
    }
    return true;
}

enum nnv_status nnv_relax_print(const struct nnv_relay_module *m, struct nnv_text *out, struct nnv_err *err) {
    static const char *const words[] = {"False",    "I",   "None", "R",    "T",      "True",   "and",  "as", "class",
                                        "cls",      "def", "else", "for",  "if",     "import", "in",   "is", "lambda",
                                        "metadata", "not", "or",   "pass", "return", "while",  "with", NULL};
    struct relax_printer p = {
        .base = {.m = m, .out = out, .arena = nnv_arena_new(), .is_literal = is_literal, .words = words}};
    if (p.base.arena == NULL || !print_module(&p)) out->failed = true;
    nnv_arena_free(p.base.arena);
    if (p.unsaid) return nnv_fail(err, NNV_UNSUPPORTED, "Relax has no operator that says %s", p.unsaid);
    return out->failed ? nnv_no_memory(err) : NNV_OK;
}
