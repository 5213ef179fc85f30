/* SPDX-License-Identifier: Apache-2.0 */
/* A file's graph: node by node, then inputs and outputs. */
#include "mlts/onnx/onnx.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "mlts/onnx/ox.h"
#include "reference/model/emit.h"
#include "reference/model/validate.h"

static const struct nnv_ox_rows *const tables[] = {
    &nnv_ox_math, &nnv_ox_activate, &nnv_ox_move, &nnv_ox_shape, &nnv_ox_select,    &nnv_ox_reduce, &nnv_ox_window,
    &nnv_ox_pool, &nnv_ox_product,  &nnv_ox_norm, &nnv_ox_quant, &nnv_ox_recurrent, &nnv_ox_resize};

static const struct nnv_ox_row *row_of(const struct nnv_onnx_node *node) {
    if (*node->domain) return NULL;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t]->count; i++)
            if (strcmp(tables[t]->row[i].op, node->op) == 0) return &tables[t]->row[i];
    return NULL;
}

/* -------------------------------------------------------------------- messages */

static void place(const struct nnv_cv *c, char *text, size_t room) {
    const struct nnv_onnx_node *node = c->onnx->node;
    if (node)
        snprintf(text, room, "node %u (%.40s)", c->onnx->at, node->op);
    else
        snprintf(text, room, "graph");
}

static void what(const struct nnv_cv *c, char *text, size_t room) {
    const struct nnv_onnx_node *node = c->onnx->node;
    if (node && *node->domain)
        snprintf(text, room, "%.30s of %.30s", node->op, node->domain);
    else
        snprintf(text, room, "%.40s", node ? node->op : "a model");
}

static const struct nnv_cv_front front = {place, what, NULL};

/* ----------------------------------------------------------------------- nodes */

/** Counts and the type of the first input; that it is no sequence was found when the graph was opened. */
static void check_use(struct nnv_cv *c) {
    const struct nnv_ox *x = c->onnx;
    const struct nnv_ox_row *r = x->row;
    for (uint32_t i = 0; i < r->least_in; i++)
        if (!nnv_ox_has(c, i)) nnv_cv_fail(c, "input %u is missing", i);
    if (x->node->nin > r->most_in && r->most_in != NNV_OX_MOST) nnv_cv_refuse(c, " with %u inputs", x->node->nin);
    if (!nnv_cv_ok(c) || !nnv_ox_has(c, 0)) return;
    const int type = nnv_ox_value(c, 0)->type;
    if (!(r->types >> type & 1)) nnv_cv_refuse(c, " of %s", nnv_onnx_type_name(type));
}

/** What nobody has asked for is not done. */
static void check_attributes(struct nnv_cv *c) {
    const struct nnv_onnx_node *node = c->onnx->node;
    for (uint32_t i = 0; i < node->nattributes; i++)
        if (!c->onnx->seen[i]) nnv_cv_refuse(c, " with the attribute %.40s", node->attributes[i].name);
}

/** A node that reads what a refused one would have computed is not looked at. */
static bool reads_missing(const struct nnv_cv *c) {
    for (uint32_t i = 0; i < c->onnx->node->nin; i++)
        if (nnv_ox_has(c, i) && c->missing[c->onnx->node->in[i]]) return true;
    return false;
}

static void convert_node(struct nnv_cv *c) {
    struct nnv_ox *x = c->onnx;
    const struct nnv_onnx_node *node = x->node;
    nnv_cv_resume(c);
    x->row = row_of(node);
    x->seen = NNV_NEW(c->b.arena, bool, node->nattributes);
    if (!x->seen) c->b.failed = true;
    const bool lost = x->row && reads_missing(c);
    if (!x->row)
        nnv_cv_refuse(c, "%s", "");
    else if (!lost && nnv_cv_ok(c)) {
        check_use(c);
        if (nnv_cv_ok(c)) x->row->convert(c);
        if (nnv_cv_ok(c)) check_attributes(c);
    }
    for (uint32_t i = 0; i < node->nout; i++) {
        if (node->out[i] < 0) continue;
        if (nnv_cv_ok(c) && !lost && !c->operand[node->out[i]] && !x->constant[node->out[i]])
            nnv_cv_refuse(c, " with its output %u", i);
        if (!nnv_cv_ok(c) || lost) c->missing[node->out[i]] = true;
    }
    nnv_cv_resume(c);
}

/* ----------------------------------------------------- what is known beforehand */

/** A Constant node's tensor counts as an initialiser. */
static void open_constants(struct nnv_cv *c) {
    struct nnv_ox *x = c->onnx;
    for (uint32_t i = 0; i < x->graph->nvalues; i++) x->constant[i] = x->graph->initialiser[i];
    for (uint32_t i = 0; i < x->graph->nnodes; i++) {
        const struct nnv_onnx_node *node = &x->graph->nodes[i];
        if (strcmp(node->op, "Constant") != 0 || *node->domain || node->nout != 1 || node->out[0] < 0) continue;
        for (uint32_t k = 0; k < node->nattributes; k++)
            if (node->attributes[k].type == NNV_ONNX_A_TENSOR && strcmp(node->attributes[k].name, "value") == 0)
                x->constant[node->out[0]] = node->attributes[k].t;
    }
    for (uint32_t i = 0; i < x->graph->nvalues; i++) {
        const struct nnv_onnx_tensor *t = x->constant[i];
        if (!t) continue;
        x->value[i] = (struct nnv_ox_value){.type = t->type, .rank = t->rank};
        memcpy(x->value[i].dims, t->dims, sizeof t->dims);
    }
}

/** Types and shapes of the inputs: what is given says what the file leaves open. */
static void open_inputs(struct nnv_cv *c) {
    struct nnv_ox *x = c->onnx;
    for (uint32_t i = 0; i < x->graph->nin; i++) {
        const struct nnv_onnx_info *in = &x->graph->in[i];
        const struct nnv_onnx_tensor *t = x->given ? x->given[i] : NULL;
        struct nnv_ox_value *v = &x->value[in->value];
        x->input[in->value] = (int32_t)i;
        *v = (struct nnv_ox_value){.type = t ? t->type : in->type, .rank = t ? t->rank : in->rank};
        for (uint32_t d = 0; d < v->rank; d++)
            v->dims[d] = t ? t->dims[d] : in->dims[d] < 0 ? 1 : (uint32_t)in->dims[d];
        nnv_cv_resume(c);
        if (strcmp(in->kind, "tensor") != 0)
            nnv_cv_refuse(c, " with an input that is a%s %s", *in->kind == 'o' ? "n" : "", in->kind);
        /* ONNX's own tests hold its bits so */
        const bool bits = t && in->type == NNV_ONNX_BFLOAT16 && t->type == NNV_ONNX_UINT16;
        if (bits) nnv_cv_refuse(c, " with an input of BFLOAT16");
        if (t && in->type && t->type != in->type && !bits)
            nnv_cv_fail(c, "input %u is of %s, but its value of %s", i, nnv_onnx_type_name(in->type),
                        nnv_onnx_type_name(t->type));
        if (!t && !in->has_shape && strcmp(in->kind, "tensor") == 0) nnv_cv_refuse(c, " with an input of unknown rank");
        c->missing[in->value] = c->b.stopped;
        x->constant[in->value] = t;
    }
    nnv_cv_resume(c);
}

/** The quantisation that two known scalars (values of the graph) tell; scale 0: none. */
static struct nnv_encoding quantisation(const struct nnv_ox *x, int32_t scale, int32_t zero, int type) {
    const struct nnv_onnx_tensor *s = scale < 0 ? NULL : x->constant[scale], *z = zero < 0 ? NULL : x->constant[zero];
    const bool fits = s && s->data && s->elems == 1 && (NNV_OX_FLOAT >> s->type & 1) &&
                      (zero < 0 || (z && z->data && z->elems == 1)) &&
                      (type == NNV_ONNX_UINT8 || type == NNV_ONNX_INT8);
    if (!fits || !(nnv_onnx_number(s, 0) > 0)) return (struct nnv_encoding){0};
    return (struct nnv_encoding){type == NNV_ONNX_UINT8 ? ANEURALNETWORKS_TENSOR_QUANT8_ASYMM
                                                        : ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED,
                                 (float)nnv_onnx_number(s, 0), z ? (int32_t)nnv_onnx_int(z, 0) : 0};
}

/** Inputs and constants of 8 bits that a node reads with a scale and a zero point have these. */
static void open_quantisation(struct nnv_cv *c) {
    static const struct {
        const char *op;
        uint8_t data, scale, zero;
    } uses[] = {{"DequantizeLinear", 0, 1, 2},
                {"QLinearConv", 0, 1, 2},
                {"QLinearMatMul", 0, 1, 2},
                {"QLinearMatMul", 3, 4, 5}};
    struct nnv_ox *x = c->onnx;
    for (uint32_t i = 0; i < x->graph->nnodes; i++) {
        const struct nnv_onnx_node *n = &x->graph->nodes[i];
        for (size_t u = 0; u < sizeof uses / sizeof *uses; u++) {
            if (strcmp(n->op, uses[u].op) != 0 || *n->domain || uses[u].scale >= n->nin) continue;
            const int32_t v = n->in[uses[u].data], s = n->in[uses[u].scale];
            if (v < 0 || s < 0 || x->encoding[v].scale > 0) continue;
            const int32_t z = uses[u].zero < n->nin ? n->in[uses[u].zero] : -1;
            if (x->input[v] >= 0 || x->constant[v]) x->encoding[v] = quantisation(x, s, z, x->value[v].type);
        }
    }
}

/* -------------------------------------------------------------- the whole graph */

/** An output of the model: computed, and not another's. */
static uint32_t output(struct nnv_cv *c, uint32_t x, bool taken) {
    if (nnv_cv_at(c, x)->lifetime == NNV_TEMPORARY_VARIABLE && !taken) return x;
    const uint32_t y = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
    nnv_cv_reshape(c, x, y);
    return y;
}

/** Outputs that are computed go to out, their numbers to map->out; constants to map->known. */
static uint32_t take_outputs(struct nnv_cv *c, uint32_t *out, struct nnv_onnx_map *map) {
    const struct nnv_onnx_graph *g = c->onnx->graph;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->nout && nnv_cv_ok(c); i++) {
        const int32_t v = (int32_t)g->out[i].value;
        bool taken = false;
        if (!c->operand[v]) { /* a constant, or an input that goes straight out */
            const struct nnv_onnx_node through = {.op = "Identity", .domain = "", .name = "", .nin = 1, .in = &v};
            c->onnx->node = &through;
            nnv_ox_in(c, 0);
            c->onnx->node = NULL;
            if (!nnv_cv_ok(c)) return 0;
        }
        const uint32_t x = c->operand[v];
        if (nnv_cv_is_const(c, x)) {
            map->known[map->nknown++] = (struct nnv_onnx_known){i, *nnv_cv_at(c, x)};
            continue;
        }
        for (uint32_t k = 0; k < g->nin; k++) taken = taken || c->operand[g->in[k].value] == x;
        for (uint32_t k = 0; k < n; k++) taken = taken || out[k] == x;
        out[n] = output(c, x, taken);
        map->out[n++] = i;
    }
    return n;
}

static void finish(struct nnv_cv *c, struct nnv_subgraph *s, struct nnv_onnx_map *map) {
    const struct nnv_onnx_graph *g = c->onnx->graph;
    struct nnv_swept swept;
    uint32_t *in = NNV_NEW(c->b.arena, uint32_t, g->nin), *out = NNV_NEW(c->b.arena, uint32_t, g->nout), nin = 0;
    c->onnx->node = NULL;
    c->folds = false;
    *map = (struct nnv_onnx_map){.in = NNV_NEW(c->b.arena, uint32_t, g->nin),
                                 .out = NNV_NEW(c->b.arena, uint32_t, g->nout),
                                 .known = NNV_NEW(c->b.arena, struct nnv_onnx_known, g->nout)};
    if (!in || !out || !map->in || !map->out || !map->known) {
        c->b.failed = true;
        return;
    }
    const uint32_t nout = take_outputs(c, out, map);
    if (!nnv_cv_ok(c)) return;
    if (nnv_emit_sweep(&c->b, true, 0, NULL, nout, out, c->b.arena, &swept, NULL) != NNV_OK) {
        c->b.failed = true;
        return;
    }
    for (uint32_t i = 0; i < g->nin; i++) {
        const uint32_t x = c->operand[g->in[i].value];
        if (x == 0 || swept.number[x] == UINT32_MAX) continue;
        map->in[nin] = i;
        in[nin++] = swept.number[x];
    }
    for (uint32_t i = 0; i < nin; i++) c->b.operand[in[i]].lifetime = NNV_SUBGRAPH_INPUT;
    for (uint32_t i = 0; i < nout; i++) c->b.operand[out[i]].lifetime = NNV_SUBGRAPH_OUTPUT;
    *s = (struct nnv_subgraph){.noperands = c->b.noperands,
                               .noperations = c->b.noperations,
                               .nin = nin,
                               .nout = nout,
                               .operands = c->b.operand,
                               .operations = c->b.operation,
                               .in = in,
                               .out = out};
    if (nin == 0 || nout == 0) nnv_cv_refuse(c, " whose results are known before it runs");
}

static void convert_graph(struct nnv_cv *c, struct nnv_subgraph *s, struct nnv_onnx_map *map) {
    struct nnv_ox *x = c->onnx;
    open_constants(c);
    open_inputs(c);
    open_quantisation(c);
    if (x->graph->sparse) nnv_cv_refuse(c, " with sparse initializers");
    nnv_cv_resume(c);
    for (x->at = 0; x->at < x->graph->nnodes && nnv_cv_ok(c); x->at++) {
        x->node = &x->graph->nodes[x->at];
        convert_node(c);
    }
    x->node = NULL;
    if (nnv_cv_ok(c) && c->all->refused == 0) finish(c, s, map);
}

/** Memory for what is kept of each value. */
static bool open_graph(struct nnv_cv *c) {
    struct nnv_ox *x = c->onnx;
    const uint32_t n = x->graph->nvalues;
    c->operand = NNV_NEW(c->b.arena, uint32_t, n);
    c->missing = NNV_NEW(c->b.arena, bool, n);
    x->constant = NNV_NEW(c->b.arena, const struct nnv_onnx_tensor *, n);
    x->input = NNV_NEW(c->b.arena, int32_t, n);
    x->value = NNV_NEW(c->b.arena, struct nnv_ox_value, n);
    x->encoding = NNV_NEW(c->b.arena, struct nnv_encoding, n);
    nnv_cv_nothing(c);
    if (!c->operand || !c->missing || !x->constant || !x->input || !x->value || !x->encoding) return false;
    memset(x->input, -1, n * sizeof *x->input);
    return true;
}

/** The names of inputs or outputs. */
static const char *const *names(struct nnv_arena *arena, const struct nnv_onnx_graph *g,
                                const struct nnv_onnx_info *info, const uint32_t *index, uint32_t n) {
    const char **of = NNV_NEW(arena, const char *, n);
    for (uint32_t i = 0; of && i < n; i++) of[i] = g->names[info[index[i]].value];
    return of;
}

static enum nnv_status convert(struct nnv_cv_file *all, const struct nnv_onnx_file *file,
                               const struct nnv_onnx_tensor *const *given, struct nnv_network *net,
                               struct nnv_onnx_map *map, struct nnv_err *err) {
    struct nnv_ox ox = {.graph = &file->graph, .opset = file->opset, .given = given};
    struct nnv_cv c = {.all = all, .onnx = &ox, .folds = true, .b = {.arena = all->arena}};
    struct nnv_subgraph main = {0};
    *map = (struct nnv_onnx_map){0};
    if (!open_graph(&c)) c.b.failed = true;
    if (!c.b.failed) convert_graph(&c, &main, map);
    if (all->status != NNV_OK) return nnv_fail(err, all->status, "%s", all->err.text);
    if (c.b.failed) return nnv_no_memory(err);
    if (all->refused > 0) return nnv_cv_refuse_all(all, err);
    net->input_names = names(all->arena, &file->graph, file->graph.in, map->in, main.nin);
    net->output_names = names(all->arena, &file->graph, file->graph.out, map->out, main.nout);
    net->model = (struct nnv_model){.main = main};
    if (!net->input_names || !net->output_names) return nnv_no_memory(err);
    return nnv_validate(&net->model, all->arena, NULL, err);
}

bool nnv_is_onnx(const char *path) { return nnv_ends_with(path, ".onnx"); }

enum nnv_status nnv_onnx_import(const void *data, size_t size, const char *where,
                                const struct nnv_onnx_tensor *const *given, struct nnv_arena *arena,
                                struct nnv_network *net, struct nnv_onnx_map *map, struct nnv_err *err) {
    /* ConstantOfShape and what is folded make much of little: the weights of the largest networks, and no more. */
    enum { MOST_CONSTANT = 1 << 30, LEAST_OPSET = 7 };
    struct nnv_onnx_file file;
    struct nnv_onnx_map own;
    *net = (struct nnv_network){0};
    enum nnv_status st = nnv_onnx_read(data, size, where, arena, &file, err);
    if (st != NNV_OK) return st;
    struct nnv_cv_file all = {
        .arena = arena, .scratch = nnv_arena_new(), .front = &front, .most_constant = MOST_CONSTANT + 2 * size};
    st = all.scratch ? convert(&all, &file, given, net, map ? map : &own, err) : nnv_no_memory(err);
    nnv_arena_free(all.scratch);
    /* What is not understood may be meant as it was then. */
    if (st == NNV_INVALID && file.opset < LEAST_OPSET)
        st = nnv_at(err, NNV_UNSUPPORTED, "operator set %lld, older than %d", (long long)file.opset, LEAST_OPSET);
    return st == NNV_OK ? NNV_OK : nnv_at(err, st, "%s", where);
}
