/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/api/model/from_spec.h"
#include "base/words.h"

#include <stdio.h>
#include <stdlib.h>

/** One call of the API after the other, until one refuses. */
struct build {
    const struct nnv_model *source;
    struct nnv_rt_spec_model *out;
    unsigned char *state; /**< of each referenced subgraph: 0 not begun, 1 being built, 2 built */
    int result;
    struct nnv_err *err;
};

/** NNV_OK, or the refusal of `function` at item `index` of what is called `what`. */
static enum nnv_status said(struct build *b, int result, const char *function, const char *what, uint32_t index) {
    char buf[32];
    if (result == ANEURALNETWORKS_NO_ERROR) return NNV_OK;
    b->result = result;
    return nnv_fail(b->err, NNV_INVALID, "%s %u: ANeuralNetworks%s answers %s", what, index, function,
                    nnv_result_name(result, buf));
}

static enum nnv_status build_graph(struct build *b, const struct nnv_subgraph *g, ANeuralNetworksModel **model);

static enum nnv_status refer(struct build *b, ANeuralNetworksModel *model, uint32_t index, uint32_t graph) {
    if (graph >= b->out->referenced_count || b->state[graph] == 1)
        return nnv_fail(b->err, NNV_INVALID, "operand %u: subgraph %u does not exist, or refers to itself", index,
                        graph);
    if (b->state[graph] == 0) {
        b->state[graph] = 1;
        enum nnv_status s = build_graph(b, &b->source->referenced[graph], &b->out->referenced[graph]);
        if (s != NNV_OK) return nnv_at(b->err, s, "referenced subgraph %u", graph);
        b->state[graph] = 2;
    }
    return said(b, ANeuralNetworksModel_setOperandValueFromModel(model, (int32_t)index, b->out->referenced[graph]),
                "Model_setOperandValueFromModel", "operand", index);
}

static enum nnv_status add_operand(struct build *b, ANeuralNetworksModel *model, uint32_t index,
                                   const struct nnv_operand *o) {
    const ANeuralNetworksOperandType type = {o->type, o->rank, o->rank ? o->dims : NULL, o->scale, o->zero_point};
    enum nnv_status s = said(b, ANeuralNetworksModel_addOperand(model, &type), "Model_addOperand", "operand", index);
    if (s == NNV_OK && o->channel.count > 0) {
        const ANeuralNetworksSymmPerChannelQuantParams channel = {o->channel.dim, o->channel.count, o->channel.scales};
        s = said(b, ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(model, (int32_t)index, &channel),
                 "Model_setOperandSymmPerChannelQuantParams", "operand", index);
    }
    if (s != NNV_OK) return s;
    if (o->lifetime == NNV_SUBGRAPH) return refer(b, model, index, o->subgraph);
    if (o->lifetime != NNV_NO_VALUE && !nnv_is_constant(o)) return NNV_OK;
    bool has_value = nnv_is_constant(o);
    return said(b,
                ANeuralNetworksModel_setOperandValue(model, (int32_t)index, has_value ? o->data : NULL,
                                                     has_value ? o->bytes : 0),
                "Model_setOperandValue", "operand", index);
}

static enum nnv_status build_graph(struct build *b, const struct nnv_subgraph *g, ANeuralNetworksModel **model) {
    enum nnv_status s = said(b, ANeuralNetworksModel_create(model), "Model_create", "model", 0);
    for (uint32_t i = 0; s == NNV_OK && i < g->noperands; i++) s = add_operand(b, *model, i, &g->operands[i]);
    for (uint32_t i = 0; s == NNV_OK && i < g->noperations; i++) {
        const struct nnv_operation *op = &g->operations[i];
        s = said(b, ANeuralNetworksModel_addOperation(*model, op->type, op->nin, op->in, op->nout, op->out),
                 "Model_addOperation", "operation", i);
    }
    if (s == NNV_OK)
        s = said(b, ANeuralNetworksModel_identifyInputsAndOutputs(*model, g->nin, g->in, g->nout, g->out),
                 "Model_identifyInputsAndOutputs", "model", 0);
    if (s == NNV_OK && b->source->relaxed)
        s = said(b, ANeuralNetworksModel_relaxComputationFloat32toFloat16(*model, true),
                 "Model_relaxComputationFloat32toFloat16", "model", 0);
    if (s == NNV_OK) s = said(b, ANeuralNetworksModel_finish(*model), "Model_finish", "model", 0);
    return s;
}

enum nnv_status nnv_rt_model_from_spec(const struct nnv_model *model, struct nnv_rt_spec_model *out, int *result,
                                       struct nnv_err *err) {
    struct build b = {.source = model, .out = out, .err = err, .result = ANEURALNETWORKS_NO_ERROR};
    enum nnv_status s = NNV_OK;
    *out = (struct nnv_rt_spec_model){.referenced_count = model->nreferenced};
    out->referenced = calloc(model->nreferenced + (size_t)1, sizeof *out->referenced);
    b.state = calloc(model->nreferenced + (size_t)1, 1);
    if (out->referenced == NULL || b.state == NULL) {
        b.result = ANEURALNETWORKS_OUT_OF_MEMORY;
        s = nnv_no_memory(err);
    }
    if (s == NNV_OK) s = build_graph(&b, &model->main, &out->model);
    free(b.state);
    if (s != NNV_OK) nnv_rt_spec_model_free(out);
    if (result != NULL) *result = s == NNV_OK || b.result != 0 ? b.result : ANEURALNETWORKS_BAD_DATA;
    return s;
}

void nnv_rt_spec_model_free(struct nnv_rt_spec_model *models) {
    ANeuralNetworksModel_free(models->model);
    for (uint32_t i = 0; models->referenced != NULL && i < models->referenced_count; i++)
        ANeuralNetworksModel_free(models->referenced[i]);
    free(models->referenced);
    *models = (struct nnv_rt_spec_model){0};
}
