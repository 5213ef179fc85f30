/* SPDX-License-Identifier: Apache-2.0 */
/** @file attributes_graph.c What a model of several operations is like: which there are, and what uses what. */
#include "harness/debug/separate/attribute_list.h"

#include <string.h>

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

/** Position of the filter or weights; -1: the operation has none. */
static int weights_of(const struct nnv_call *c) {
    const int filter = nnv_position_of(c, "filter");
    return filter < 0 ? nnv_position_of(c, "weights") : filter;
}

/** The operand that the operation has as its bias; NULL: none. */
static const struct nnv_operand *bias_of(const struct nnv_call *c) {
    const int i = nnv_position_of(c, "bias");
    return i < 0 ? NULL : c->in[i].operand;
}

/** Both are constants of one form that begin alike, and then differ. */
static bool almost_alike(const struct nnv_operand *a, const struct nnv_operand *b) {
    enum { BEGINNING = 8 };
    return nnv_is_constant(a) && nnv_is_constant(b) && a->type == b->type && a->bytes == b->bytes &&
           a->bytes > BEGINNING && memcmp(a->data, b->data, BEGINNING) == 0 && memcmp(a->data, b->data, a->bytes) != 0;
}

/** Whether operations share tensors that are constants, or have some that are almost alike. */
static void add_shared_constants(struct nnv_attribute_list *l, const struct nnv_subgraph *m) {
    bool shared = false, alike = false;
    for (uint32_t i = 0; i < m->noperands; i++) {
        shared = shared || (nnv_is_constant(&m->operands[i]) && m->operands[i].rank > 0 && readers_of(m, i) > 1);
        for (uint32_t k = 0; k < i; k++) alike = alike || almost_alike(&m->operands[i], &m->operands[k]);
    }
    nnv_add_flag(l, "two constants of one form begin alike, and then differ", FROM_MODEL, alike, NULL);
    nnv_add_flag(l, "a constant is read several times", FROM_MODEL, shared, "each constant is read once at most");
}

/** Whether operations have one constant as filter or weights, and what else they differ in. */
static void add_shared_weights(struct nnv_attribute_list *l, const struct nnv_subgraph *m,
                               struct nnv_call *const *calls) {
    bool shared = false, biases = false;
    for (uint32_t i = 0; i < m->noperations; i++)
        for (uint32_t k = 0; k < i; k++) {
            const int a = weights_of(calls[i]), b = weights_of(calls[k]);
            if (a < 0 || b < 0 || calls[i]->in[a].operand != calls[k]->in[b].operand ||
                !nnv_is_constant(calls[i]->in[a].operand))
                continue;
            shared = true;
            biases = biases || bias_of(calls[i]) != bias_of(calls[k]);
        }
    nnv_add_flag(l, "two operations have one constant as weights", FROM_MODEL, shared, NULL);
    nnv_add_flag(l, "two operations have one constant as weights, and different biases", FROM_MODEL, biases, NULL);
}

/** True if the operand is neither input, output nor constant of the model. */
static bool is_inner(const struct nnv_subgraph *m, uint32_t operand) {
    return m->operands[operand].lifetime == NNV_TEMPORARY_VARIABLE;
}

/** What may go wrong where memory is reused: moves between inner results, outputs that nobody reads. */
static void add_lives(struct nnv_attribute_list *l, const struct nnv_subgraph *m) {
    bool unread = false, moved = false;
    for (uint32_t i = 0; i < m->noperations; i++) {
        const struct nnv_operation *o = &m->operations[i];
        const struct nnv_op *op = nnv_op(o->type);
        const bool inner = o->nin > 0 && o->nout == 1 && is_inner(m, o->in[0]) && is_inner(m, o->out[0]);
        for (uint32_t k = 0; o->nout > 1 && k < o->nout; k++)
            unread = unread || (is_inner(m, o->out[k]) && readers_of(m, o->out[k]) == 0);
        moved = moved || (inner && op && op->moves);
        if (inner && op) nnv_add_flag(l, NNV_NAME("%s makes an inner result of one", op->name), FROM_MODEL, true, NULL);
    }
    nnv_add_flag(l, "an operation of several outputs has one that nobody reads", FROM_MODEL, unread, NULL);
    nnv_add_flag(l, "a move makes an inner result of one", FROM_MODEL, moved, NULL);
}

/** An activation behind one that is fused. */
static void add_activations(struct nnv_attribute_list *l, const struct nnv_subgraph *m, struct nnv_call *const *calls) {
    bool twice = false;
    for (uint32_t i = 0; i < m->noperations; i++) {
        const bool reads = m->operations[i].nin > 0 && is_activation(m->operations[i].type);
        const uint32_t from = reads ? nnv_producer(m, m->operations[i].in[0]) : UINT32_MAX;
        twice = twice || (from != UINT32_MAX && nnv_number_of(calls[from], "activation") > ANEURALNETWORKS_FUSED_NONE);
    }
    nnv_add_flag(l, "an activation reads what another, fused one gives", FROM_MODEL, twice, NULL);
}

void nnv_add_graph(struct nnv_attribute_list *l, const struct nnv_subgraph *m, struct nnv_call *const *calls) {
    if (m->noperations == 1) return;
    nnv_add_number(l, "number of operations", FROM_MODEL, m->noperations);
    add_uses(l, m);
    add_shared_constants(l, m);
    add_lives(l, m);
    if (calls) add_shared_weights(l, m, calls);
    if (calls) add_activations(l, m, calls);
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
