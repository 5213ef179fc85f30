/* SPDX-License-Identifier: Apache-2.0 */
/* IF and WHILE: subgraphs of the file are referenced models. */
#include "mlts/tflite/convert.h"

/** As many inputs and outputs as are passed. */
static void check_counts(struct nnv_cv *c, int32_t number, uint32_t nin, uint32_t nout) {
    if (!nnv_cv_ok(c) || number <= 0 || (uint32_t)number >= c->tfl->file->ngraphs) return;
    const struct nnv_tfl_graph *g = &c->tfl->file->graphs[number];
    if (g->nin != nin || g->nout != nout)
        nnv_cv_fail(c, "subgraph %d has %u inputs and %u outputs, expected %u and %u", number, g->nin, g->nout, nin,
                    nout);
}

/** The operation with the models first; the condition of IF before them. */
static void emit_flow(struct nnv_cv *c, int32_t code, uint32_t head, int32_t first, int32_t second) {
    const uint32_t nin = c->op->nin + 2, nout = c->op->nout;
    uint32_t *in = NNV_NEW(c->b.arena, uint32_t, nin), *out = NNV_NEW(c->b.arena, uint32_t, nout), n = 0;
    if (!in || !out) c->b.failed = true;
    if (!nnv_cv_ok(c)) return;
    for (uint32_t i = 0; i < head; i++) in[n++] = nnv_cv_in(c, i);
    in[n++] = nnv_cv_subgraph(c, first);
    in[n++] = nnv_cv_subgraph(c, second);
    for (uint32_t i = head; i < c->op->nin; i++) in[n++] = nnv_cv_in(c, i);
    for (uint32_t i = 0; i < nout; i++) out[i] = nnv_cv_out(c, i);
    if (c->all->refused == 0) nnv_cv_emit_n(c, code, nin, in, nout, out);
}

static void choose(struct nnv_cv *c) {
    const int32_t yes = nnv_cv_option(c, 0, 0, "then_subgraph_index"),
                  no = nnv_cv_option(c, 1, 0, "else_subgraph_index");
    check_counts(c, yes, c->op->nin - 1, c->op->nout);
    check_counts(c, no, c->op->nin - 1, c->op->nout);
    emit_flow(c, ANEURALNETWORKS_IF, 1, yes, no);
}

static void loop(struct nnv_cv *c) {
    const int32_t cond = nnv_cv_option(c, 0, 0, "cond_subgraph_index"),
                  body = nnv_cv_option(c, 1, 0, "body_subgraph_index");
    check_counts(c, cond, c->op->nin, 1);
    check_counts(c, body, c->op->nin, c->op->nin);
    if (c->op->nout != c->op->nin) nnv_cv_fail(c, "%u inputs, but %u outputs", c->op->nin, c->op->nout);
    emit_flow(c, ANEURALNETWORKS_WHILE, 0, cond, body);
}

static const struct nnv_converter rows[] = {
    {NNV_TFL_IF, 92, false, 1, NNV_CV_MANY, 1, NNV_CV_MANY, 0, NNV_CV_BOOL, choose, 0},
    {NNV_TFL_WHILE, 93, false, 1, NNV_CV_MANY, 1, NNV_CV_MANY, 0, NNV_CV_ANY, loop, 0},
};
const struct nnv_converters nnv_cv_flow = {rows, sizeof rows / sizeof *rows};
