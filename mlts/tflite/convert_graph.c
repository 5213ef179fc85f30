/* SPDX-License-Identifier: Apache-2.0 */
/* A file's subgraphs: operator by operator, then inputs, outputs and states. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "mlts/tflite/convert.h"
#include "mlts/tflite/tflite.h"
#include "reference/model/emit.h"
#include "reference/model/validate.h"

enum { MOST_NESTING = 16 };

static const struct nnv_converters *const tables[] = {&nnv_cv_math,   &nnv_cv_window,    &nnv_cv_move, &nnv_cv_select,
                                                      &nnv_cv_reduce, &nnv_cv_recurrent, &nnv_cv_flow};

static const struct nnv_converter *row_of(int code) {
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < tables[t]->count; i++)
            if (tables[t]->row[i].code == code) return &tables[t]->row[i];
    return NULL;
}

/* ------------------------------------------------------------------- messages */

static void place(const struct nnv_cv *c, char *text, size_t room) {
    if (c->op)
        snprintf(text, room, "subgraph %u, operator %u (%s)", c->number, c->at, nnv_tfl_operator_name(c->op->code));
    else
        snprintf(text, room, "subgraph %u", c->number);
}

static void what(const struct nnv_cv *c, char *text, size_t room) {
    const bool custom = c->op && c->op->code == NNV_TFL_CUSTOM;
    snprintf(text, room, "%s%s%.40s", c->op ? nnv_tfl_operator_name(c->op->code) : "a subgraph", custom ? " " : "",
             custom ? c->op->custom : "");
}

/** The current operator's results that are the subgraph's. */
static bool must_be_computed(const struct nnv_cv *c, uint32_t operand) {
    for (uint32_t k = 0; k < c->op->nout; k++)
        if (c->is_output[c->op->out[k]] && c->operand[c->op->out[k]] == operand) return true;
    return false;
}

static const struct nnv_cv_front front = {place, what, must_be_computed};

/* ------------------------------------------------------------------ operators */

/** Counts of inputs and outputs, the options' type, the type of the main input. */
static void check_use(struct nnv_cv *c) {
    const struct nnv_tfl_operator *op = c->op;
    const struct nnv_converter *r = c->row;
    if (op->nin < r->least_in || (op->nin > r->most_in && r->most_in != NNV_CV_MANY))
        nnv_cv_fail(c, "%u inputs, expected %u%s", op->nin, r->least_in, r->most_in > r->least_in ? " or more" : "");
    if (op->nout < r->least_out || (op->nout > r->most_out && r->most_out != NNV_CV_MANY))
        nnv_cv_fail(c, "%u outputs, expected %u%s", op->nout, r->least_out,
                    r->most_out > r->least_out ? " or more" : "");
    if (op->options_type != 0 && op->options_type != r->options)
        nnv_cv_fail(c, "its options are those of another operator (type %d)", op->options_type);
    if (op->options_type == 0 && r->options != 0 && !r->may_lack) nnv_cv_fail(c, "its options are missing");
    if (!nnv_cv_ok(c) || op->nin == 0) return;
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, r->main);
    if (t && !(r->types >> t->type & 1)) nnv_cv_refuse(c, " of %s", nnv_tfl_type_name(t->type));
}

/** An operator that reads what a refused one would have computed is not looked at. */
static bool reads_missing(const struct nnv_cv *c) {
    for (uint32_t i = 0; i < c->op->nin; i++)
        if (c->op->in[i] >= 0 && c->missing[c->op->in[i]]) return true;
    return false;
}

static void convert_operator(struct nnv_cv *c) {
    nnv_cv_resume(c);
    c->row = row_of(c->op->code);
    bool lost = false;
    if (!c->row) {
        nnv_cv_refuse(c, "%s", "");
    } else if (reads_missing(c)) {
        lost = true;
    } else {
        check_use(c);
        if (nnv_cv_ok(c)) c->row->convert(c);
    }
    for (uint32_t i = 0; i < c->op->nout; i++) {
        if (c->b.stopped || lost)
            c->missing[c->op->out[i]] = true;
        else if (nnv_cv_ok(c) && !c->operand[c->op->out[i]])
            c->missing[c->op->out[i]] = true; /* not computed by NNAPI: a scratch tensor; an error if it is read */
    }
    nnv_cv_resume(c);
}

/* --------------------------------------------------------------------- states */

void nnv_cv_state(struct nnv_cv *c, uint32_t i, uint32_t next) {
    const struct nnv_tfl_tensor *t = nnv_cv_in_tensor(c, i);
    if (!nnv_cv_ok(c)) return;
    if (!t->variable) {
        nnv_cv_fail(c, "input %u, a state, is not a variable", i);
        return;
    }
    if (c->number != 0) {
        nnv_cv_refuse(c, " with a state inside a subgraph");
        return;
    }
    for (uint32_t k = 0; k < c->nstates; k++)
        if (c->state_tensor[k] == (uint32_t)c->op->in[i]) {
            nnv_cv_refuse(c, " with a state that has a next value already");
            return;
        }
    if (c->nstates == c->graph->ntensors) return; /* never: each is one of the tensors */
    c->state_tensor[c->nstates] = (uint32_t)c->op->in[i];
    c->state_out[c->nstates++] = next;
}

/* --------------------------------------------------------------- whole graphs */

/** Operand of output number k of the subgraph: one of its own, computed. */
static uint32_t output(struct nnv_cv *c, uint32_t k, const bool *taken) {
    uint32_t x = nnv_cv_tensor(c, (uint32_t)c->graph->out[k]);
    if (!nnv_cv_ok(c)) return 0;
    if (nnv_cv_at(c, x)->lifetime == NNV_TEMPORARY_VARIABLE && !taken[x]) return x;
    const uint32_t y = nnv_cv_temp_as(c, nnv_builder_encoding(&c->b, x), x);
    nnv_cv_reshape(c, x, y);
    return y;
}

static void finish(struct nnv_cv *c, struct nnv_subgraph *s) {
    const uint32_t nin = c->graph->nin + c->nstates, nout = c->graph->nout + c->nstates;
    struct nnv_swept swept;
    c->op = NULL;
    c->folds = false;
    uint32_t *in = NNV_NEW(c->b.arena, uint32_t, nin), *out = NNV_NEW(c->b.arena, uint32_t, nout);
    /* Each output adds one operand at most. */
    bool *taken = NNV_NEW(c->b.arena, bool, c->b.noperands + 2 * nout + 2);
    if (!in || !out || !taken) c->b.failed = true;
    for (uint32_t i = 0; i < nin && nnv_cv_ok(c); i++) {
        in[i] = nnv_cv_tensor(c, i < c->graph->nin ? (uint32_t)c->graph->in[i] : c->state_tensor[i - c->graph->nin]);
        if (nnv_cv_ok(c)) c->b.operand[in[i]].lifetime = NNV_SUBGRAPH_INPUT;
    }
    for (uint32_t i = 0; i < nout && nnv_cv_ok(c); i++) {
        out[i] = i < c->graph->nout ? output(c, i, taken) : c->state_out[i - c->graph->nout];
        if (nnv_cv_ok(c)) taken[out[i]] = true;
    }
    if (!nnv_cv_ok(c)) return;
    for (uint32_t i = 0; i < nout; i++) c->b.operand[out[i]].lifetime = NNV_SUBGRAPH_OUTPUT;
    if (nnv_emit_sweep(&c->b, false, nin, in, nout, out, c->b.arena, &swept, NULL) != NNV_OK) c->b.failed = true;
    *s = (struct nnv_subgraph){.noperands = c->b.noperands,
                               .noperations = c->b.noperations,
                               .nin = nin,
                               .nout = nout,
                               .operands = c->b.operand,
                               .operations = c->b.operation,
                               .in = in,
                               .out = out};
    if (nin == 0 || nout == 0) nnv_cv_fail(c, "it has no %s", nin == 0 ? "inputs" : "outputs");
    if (s->noperations == 0) nnv_cv_fail(c, "it computes nothing");
}

/** Memory for what is kept of each tensor. */
static void open_graph(struct nnv_cv *c) {
    const uint32_t n = c->graph->ntensors;
    c->operand = NNV_NEW(c->b.arena, uint32_t, n);
    c->missing = NNV_NEW(c->b.arena, bool, n);
    c->is_output = NNV_NEW(c->b.arena, bool, n);
    c->state_tensor = NNV_NEW(c->b.arena, uint32_t, n);
    c->state_out = NNV_NEW(c->b.arena, uint32_t, n);
    nnv_cv_nothing(c);
    if (!c->operand || !c->missing || !c->is_output || !c->state_tensor || !c->state_out) c->b.failed = true;
    for (uint32_t i = 0; !c->b.failed && i < c->graph->nout; i++) c->is_output[c->graph->out[i]] = true;
}

/** Inputs that no operator reads are there nevertheless: of a type that NNAPI has. */
static void open_inputs(struct nnv_cv *c) {
    for (uint32_t i = 0; i < c->graph->nin; i++) {
        nnv_cv_resume(c);
        nnv_cv_tensor(c, (uint32_t)c->graph->in[i]);
        if (c->b.stopped) c->missing[c->graph->in[i]] = true;
    }
    nnv_cv_resume(c);
}

/** Converts one subgraph; *s is meaningful if nothing was refused. */
static void convert_graph(struct nnv_tfl_import *tfl, uint32_t number, struct nnv_subgraph *s) {
    struct nnv_cv_file *all = &tfl->all;
    struct nnv_cv c = {.all = all,
                       .tfl = tfl,
                       .graph = &tfl->file->graphs[number],
                       .number = number,
                       .folds = true,
                       .b = {.arena = all->arena}};
    open_graph(&c);
    if (nnv_cv_ok(&c)) open_inputs(&c);
    for (c.at = 0; c.at < c.graph->noperators && nnv_cv_ok(&c); c.at++) {
        c.op = &c.graph->operators[c.at];
        convert_operator(&c);
    }
    for (uint32_t i = 0; i < c.graph->nout && nnv_cv_ok(&c) && all->refused == 0; i++)
        if (c.missing[c.graph->out[i]]) {
            c.op = NULL;
            nnv_cv_fail(&c, "output %u is a tensor that is only for intermediate results", i);
        }
    if (nnv_cv_ok(&c) && all->refused == 0) finish(&c, s);
    if (c.b.failed && all->status == NNV_OK) all->status = nnv_no_memory(&all->err);
}

uint32_t nnv_cv_subgraph(struct nnv_cv *c, int32_t number) {
    struct nnv_tfl_import *tfl = c->tfl;
    if (!nnv_cv_ok(c)) return 0;
    if (number <= 0 || (uint32_t)number >= tfl->file->ngraphs) {
        nnv_cv_fail(c, "subgraph %d: expected 1 to %d", number, (int)tfl->file->ngraphs - 1);
        return 0;
    }
    struct nnv_cv_part *part = &tfl->parts[number];
    uint32_t depth = 0;
    for (uint32_t i = 0; i < tfl->file->ngraphs; i++) depth += tfl->parts[i].begun && !tfl->parts[i].done;
    if (part->begun && !part->done) {
        nnv_cv_fail(c, "subgraph %d contains itself", number);
        return 0;
    }
    if (depth >= MOST_NESTING) {
        nnv_cv_fail(c, "subgraphs are nested deeper than %d", MOST_NESTING);
        return 0;
    }
    if (!part->begun) {
        struct nnv_subgraph s = {0};
        part->begun = true;
        convert_graph(tfl, (uint32_t)number, &s);
        part->done = true;
        if (tfl->all.status != NNV_OK) c->b.stopped = true;
        part->index = tfl->nreferenced;
        tfl->referenced[tfl->nreferenced++] = s;
    }
    struct nnv_operand o = {.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = part->index};
    return nnv_cv_ok(c) ? nnv_builder_operand(&c->b, o) : 0;
}

/* ----------------------------------------------------------------- the import */

/** The names of inputs or outputs, NULL for states'. */
static const char *const *names(struct nnv_arena *arena, const struct nnv_tfl_graph *g, const int32_t *index,
                                uint32_t count, uint32_t nstates) {
    const char **n = NNV_NEW(arena, const char *, count + nstates);
    for (uint32_t i = 0; n && i < count; i++) n[i] = nnv_arena_strdup(arena, g->tensors[index[i]].name);
    return n;
}

static enum nnv_status fill_network(struct nnv_tfl_import *tfl, const struct nnv_subgraph *main,
                                    struct nnv_network *net, struct nnv_err *err) {
    const struct nnv_tfl_graph *g = &tfl->file->graphs[0];
    const uint32_t nstates = main->nin - g->nin;
    struct nnv_network_state *states = NNV_NEW(tfl->all.arena, struct nnv_network_state, nstates);
    for (uint32_t i = 0; states && i < nstates; i++) states[i] = (struct nnv_network_state){g->nin + i, g->nout + i};
    net->input_names = names(tfl->all.arena, g, g->in, g->nin, nstates);
    net->output_names = names(tfl->all.arena, g, g->out, g->nout, nstates);
    net->model = (struct nnv_model){.main = *main, .nreferenced = tfl->nreferenced, .referenced = tfl->referenced};
    net->state_count = nstates;
    net->states = states;
    if (!states || !net->input_names || !net->output_names) return nnv_no_memory(err);
    return nnv_validate(&net->model, tfl->all.arena, NULL, err);
}

static enum nnv_status convert(struct nnv_tfl_import *tfl, struct nnv_network *net, struct nnv_err *err) {
    struct nnv_subgraph main = {0};
    tfl->parts = NNV_NEW(tfl->all.arena, struct nnv_cv_part, tfl->file->ngraphs);
    tfl->referenced = NNV_NEW(tfl->all.arena, struct nnv_subgraph, tfl->file->ngraphs);
    if (!tfl->parts || !tfl->referenced) return nnv_no_memory(err);
    tfl->parts[0].begun = true;
    convert_graph(tfl, 0, &main);
    if (tfl->all.status != NNV_OK) return nnv_fail(err, tfl->all.status, "%s", tfl->all.err.text);
    if (tfl->all.refused > 0) return nnv_cv_refuse_all(&tfl->all, err);
    return fill_network(tfl, &main, net, err);
}

bool nnv_is_tflite(const char *path) { return nnv_ends_with(path, ".tflite"); }

enum nnv_status nnv_tflite_import(const void *data, size_t size, const char *where, struct nnv_arena *arena,
                                  struct nnv_network *net, struct nnv_err *err) {
    struct nnv_tfl_file file;
    *net = (struct nnv_network){0};
    enum nnv_status st = nnv_tfl_read(data, size, where, arena, &file, err);
    if (st != NNV_OK) return st;
    /* Tensors may share a buffer; int4 becomes float32; a little is filled with zeros. */
    enum { TIMES = 16, SPARE = 1 << 26 };
    struct nnv_tfl_import tfl = {
        .all = {.arena = arena, .scratch = nnv_arena_new(), .front = &front, .most_constant = TIMES * size + SPARE},
        .file = &file};
    st = tfl.all.scratch ? convert(&tfl, net, err) : nnv_no_memory(err);
    nnv_arena_free(tfl.all.scratch);
    return st == NNV_OK ? NNV_OK : nnv_at(err, st, "%s", where);
}
