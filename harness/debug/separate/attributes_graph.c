/* SPDX-License-Identifier: Apache-2.0 */
/** @file attributes_graph.c What a model of several operations is like: which there are, and what uses what. */
#include "harness/debug/separate/attribute_list.h"

/** How often operations read the operand. */
static size_t readers_of(const struct nnv_subgraph *m, uint32_t operand) {
    size_t n = 0;
    for (uint32_t i = 0; i < m->noperations; i++)
        for (uint32_t k = 0; k < m->operations[i].nin; k++) n += m->operations[i].in[k] == operand;
    return n;
}

/** Operations of one input that backends fuse into the one before. */
static bool is_activation(int32_t code) {
    static const int32_t codes[] = {ANEURALNETWORKS_RELU,      ANEURALNETWORKS_RELU1,    ANEURALNETWORKS_RELU6,
                                    ANEURALNETWORKS_ELU,       ANEURALNETWORKS_LOGISTIC, ANEURALNETWORKS_TANH,
                                    ANEURALNETWORKS_HARD_SWISH};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code) return true;
    return false;
}

/** Who reads a result that is an output of the model, too, or read by another operation. */
static void add_sharing(struct nnv_attribute_list *l, const struct nnv_subgraph *m) {
    bool any = false, activation = false;
    for (uint32_t i = 0; i < m->noperations; i++) {
        const struct nnv_operation *o = &m->operations[i];
        const struct nnv_op *op = nnv_op(o->type);
        bool shares = false;
        for (uint32_t k = 0; k < o->nin; k++) {
            const bool result = nnv_producer(m, o->in[k]) != UINT32_MAX;
            const bool output = m->operands[o->in[k]].lifetime == NNV_SUBGRAPH_OUTPUT;
            shares = shares || (result && (output || readers_of(m, o->in[k]) > 1));
        }
        if (op && shares)
            nnv_add_flag(l, NNV_NAME("%s reads a result that is used elsewhere, too", op->name), FROM_MODEL, true,
                         NULL);
        any = any || shares;
        activation = activation || (shares && is_activation(o->type));
    }
    nnv_add_flag(l, "a result that is read is used elsewhere, too", FROM_MODEL, any, NULL);
    nnv_add_flag(l, "an activation reads a result that is used elsewhere, too", FROM_MODEL, activation, NULL);
}

/** What results are used for, whichever operations give and use them. */
static void add_uses(struct nnv_attribute_list *l, const struct nnv_subgraph *m) {
    bool several = false, output = false;
    size_t most = 0;
    for (uint32_t i = 0; i < m->noperations; i++)
        for (uint32_t o = 0; o < m->operations[i].nout; o++) {
            const uint32_t result = m->operations[i].out[o];
            const size_t readers = readers_of(m, result);
            most = readers > most ? readers : most;
            several = several || readers > 1;
            output = output || (readers > 0 && m->operands[result].lifetime == NNV_SUBGRAPH_OUTPUT);
        }
    nnv_add_number(l, "most uses of one result", FROM_MODEL + 1, (double)most);
    nnv_add_flag(l, "a result is used several times", FROM_MODEL, several, "each result is used once at most");
    nnv_add_flag(l, "an output of the model is used, too", FROM_MODEL, output, "no output of the model is used, too");
}

/** Whether operations share tensors that are constants. */
static void add_shared_constants(struct nnv_attribute_list *l, const struct nnv_subgraph *m) {
    bool shared = false;
    for (uint32_t i = 0; i < m->noperands && !shared; i++)
        shared = nnv_is_constant(&m->operands[i]) && m->operands[i].rank > 0 && readers_of(m, i) > 1;
    nnv_add_flag(l, "a constant is read several times", FROM_MODEL, shared, "each constant is read once at most");
}

void nnv_add_graph(struct nnv_attribute_list *l, const struct nnv_subgraph *m) {
    if (m->noperations == 1) return;
    nnv_add_number(l, "number of operations", FROM_MODEL, m->noperations);
    add_uses(l, m);
    add_shared_constants(l, m);
    add_sharing(l, m);
    for (uint32_t i = 0; i < m->noperations; i++) {
        const struct nnv_op *op = nnv_op(m->operations[i].type);
        size_t same = 0;
        if (op) nnv_add_flag(l, NNV_NAME("there is a %s", op->name), FROM_MODEL, true, NULL);
        for (uint32_t k = 0; k < i; k++) same += m->operations[k].type == m->operations[i].type;
        if (op && same == 1) nnv_add_flag(l, NNV_NAME("there are several %s", op->name), FROM_MODEL + 1, true, NULL);
        for (uint32_t o = 0; op && o < m->operations[i].nout; o++) {
            const uint32_t result = m->operations[i].out[o];
            size_t uses = 0;
            for (uint32_t k = i + 1; k < m->noperations; k++)
                for (uint32_t n = 0; n < m->operations[k].nin; n++) {
                    const struct nnv_op *user = nnv_op(m->operations[k].type);
                    if (m->operations[k].in[n] != result || !user) continue;
                    uses++;
                    nnv_add_flag(l, NNV_NAME("%s feeds %s", op->name, user->name), FROM_MODEL, true, NULL);
                }
            if (uses > 1) nnv_add_flag(l, NNV_NAME("%s has several users", op->name), FROM_MODEL + 1, true, NULL);
            if (uses > 0 && m->operands[result].lifetime == NNV_SUBGRAPH_OUTPUT)
                nnv_add_flag(l, NNV_NAME("%s gives an output that is used, too", op->name), FROM_MODEL + 1, true, NULL);
        }
    }
}
