/* SPDX-License-Identifier: Apache-2.0 */
/** @file graph.c Mistakes in the graph: codes, indices, order, writers, lists, subgraphs. */
#include <string.h>

#include "harness/suites/validate/validate.h"

static struct nnv_operation *an_operation(struct nnv_mutation *m) {
    return &m->main->operations[m->pick % m->main->noperations];
}

static uint32_t *an_entry(struct nnv_mutation *m, uint32_t *list, uint32_t n) {
    return n ? &list[m->pick / 5 % n] : NULL;
}

/* The index that row->a asks for: the first that is none, or the largest number. */
static bool set_bad_index(struct nnv_mutation *m, uint32_t *at) {
    if (at) *at = m->a ? UINT32_MAX : m->main->noperands;
    return at != NULL;
}

/* ----------------------------------------------------------------- operations */

static bool operation_code(struct nnv_mutation *m) {
    an_operation(m)->type = m->a;
    return true;
}
static bool operation_input_index(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    return set_bad_index(m, an_entry(m, op->in, op->nin));
}
static bool operation_output_index(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    return set_bad_index(m, an_entry(m, op->out, op->nout));
}
static bool operation_without_inputs(struct nnv_mutation *m) {
    an_operation(m)->nin = 0;
    return true;
}
static bool operation_without_outputs(struct nnv_mutation *m) {
    an_operation(m)->nout = 0;
    return true;
}
static bool operation_first_input_removed(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    memmove(op->in, op->in + 1, --op->nin * sizeof *op->in);
    return true;
}
static bool operation_last_input_removed(struct nnv_mutation *m) {
    an_operation(m)->nin--;
    return true;
}
static bool operation_input_added(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    op->in[op->nin++] = nnv_edit_add_int(&m->edit, 1);
    return true;
}
static bool operation_output_removed(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    if (op->nout < 2) return false;
    op->nout--; /* what it wrote goes with it */
    m->main->nout = nnv_edit_drop(m->main->out, m->main->nout, op->out[op->nout]);
    struct nnv_operand *o = &m->main->operands[op->out[op->nout]];
    *o = nnv_mutation_scalar();
    return true;
}
static bool operation_output_added(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    struct nnv_operand like = m->main->operands[op->out[0]];
    like.lifetime = NNV_SUBGRAPH_OUTPUT;
    uint32_t added = nnv_edit_add(&m->edit, like);
    op->out[op->nout++] = added;
    m->main->out[m->main->nout++] = added;
    return true;
}
static bool operation_writes_twice(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    if (op->nout < 2) return false;
    op->out[1] = op->out[0];
    return true;
}
static bool operation_repeated(struct nnv_mutation *m) {
    nnv_edit_add_operation(&m->edit, an_operation(m));
    return true;
}
static bool operation_removed(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    uint32_t i = (uint32_t)(m->pick % s->noperations);
    memmove(&s->operations[i], &s->operations[i + 1], (--s->noperations - i) * sizeof *s->operations);
    return true;
}
static bool no_operations(struct nnv_mutation *m) {
    m->main->noperations = 0;
    return true;
}

/* ---------------------------------------------------------- writers and readers */

static bool writes_input(struct nnv_mutation *m) {
    if (m->main->nin == 0) return false;
    an_operation(m)->out[0] = m->main->in[m->pick / 3 % m->main->nin];
    return true;
}
static bool writes_constant(struct nnv_mutation *m) {
    an_operation(m)->out[0] = nnv_edit_add_int(&m->edit, 1);
    return true;
}
/* The result goes into a new temporary value; the old one is never written. */
static bool write_redirected(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    struct nnv_operand like = m->main->operands[op->out[0]];
    like.lifetime = NNV_TEMPORARY_VARIABLE;
    op->out[0] = nnv_edit_add(&m->edit, like);
    return true;
}
static bool reads_itself(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    if (op->nin == 0) return false;
    op->in[m->pick / 3 % op->nin] = op->out[0];
    return true;
}
static bool reads_unwritten(struct nnv_mutation *m) {
    struct nnv_operation *op = an_operation(m);
    uint32_t *at = an_entry(m, op->in, op->nin);
    if (!at) return false;
    struct nnv_operand like = m->main->operands[*at];
    if (like.lifetime == NNV_SUBGRAPH) return false;
    like.lifetime = NNV_TEMPORARY_VARIABLE;
    like.data = NULL;
    like.bytes = 0;
    *at = nnv_edit_add(&m->edit, like);
    return true;
}
static bool dead_value(struct nnv_mutation *m) {
    struct nnv_operand like = m->main->operands[m->main->operations[0].out[0]];
    like.lifetime = (enum nnv_lifetime)m->a;
    uint32_t added = nnv_edit_add(&m->edit, like);
    if (like.lifetime == NNV_SUBGRAPH_OUTPUT) m->main->out[m->main->nout++] = added;
    return true;
}
static bool reads(const struct nnv_operation *op, uint32_t operand) {
    for (uint32_t i = 0; i < op->nin; i++)
        if (op->in[i] == operand) return true;
    return false;
}
static void swap_operations(struct nnv_operation *a, struct nnv_operation *b) {
    struct nnv_operation c = *a;
    *a = *b;
    *b = c;
}
/* The last operation goes to the front. */
static bool reader_first(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    if (s->noperations < 2) return false;
    for (uint32_t i = s->noperations - 1; i > 0; i--) swap_operations(&s->operations[i], &s->operations[i - 1]);
    return true;
}
static bool writer_last(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    if (s->noperations < 2) return false;
    for (uint32_t i = 1; i < s->noperations; i++) swap_operations(&s->operations[i], &s->operations[i - 1]);
    return true;
}
/* The writer of a value reads what the reader of that value writes. */
static bool cycle(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    for (uint32_t i = 0; i < s->noperations; i++)
        for (uint32_t k = i + 1; k < s->noperations; k++)
            if (reads(&s->operations[k], s->operations[i].out[0])) {
                s->operations[i].in[0] = s->operations[k].out[0];
                return true;
            }
    return false;
}

/* ------------------------------------------------------------------ the lists */

static bool model_input_index(struct nnv_mutation *m) {
    return set_bad_index(m, an_entry(m, m->main->in, m->main->nin));
}
static bool model_output_index(struct nnv_mutation *m) {
    return set_bad_index(m, an_entry(m, m->main->out, m->main->nout));
}
static bool model_input_twice(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    const uint32_t *at = an_entry(m, s->in, s->nin);
    if (at) s->in[s->nin++] = *at;
    return at != NULL;
}
static bool model_output_twice(struct nnv_mutation *m) {
    struct nnv_subgraph *s = m->main;
    const uint32_t *at = an_entry(m, s->out, s->nout);
    if (at) s->out[s->nout++] = *at;
    return at != NULL;
}
static bool model_input_missing(struct nnv_mutation *m) {
    if (m->main->nin == 0) return false;
    m->main->nin--;
    return true;
}
static bool model_output_missing(struct nnv_mutation *m) {
    m->main->nout--;
    return true;
}
static bool constant_is_model_input(struct nnv_mutation *m) {
    uint32_t added = nnv_edit_add_int(&m->edit, 1);
    m->main->in[m->main->nin++] = added;
    return true;
}
static bool constant_is_model_output(struct nnv_mutation *m) {
    uint32_t added = nnv_edit_add_int(&m->edit, 1);
    m->main->out[m->main->nout++] = added;
    return true;
}
static bool input_is_model_output(struct nnv_mutation *m) {
    if (m->main->nin == 0) return false;
    m->main->out[m->main->nout++] = m->main->in[0];
    return true;
}
static bool output_is_model_input(struct nnv_mutation *m) {
    m->main->in[m->main->nin++] = m->main->out[0];
    return true;
}
static bool last_operand_removed(struct nnv_mutation *m) {
    m->main->noperands--;
    return true;
}
static bool no_operands(struct nnv_mutation *m) {
    m->main->noperands = 0;
    return true;
}

/* ------------------------------------------------------------------ subgraphs */

static struct nnv_operand reference(uint32_t subgraph) {
    return (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = subgraph};
}

static bool reference_missing(struct nnv_mutation *m) {
    nnv_edit_add(&m->edit, reference(m->a ? UINT32_MAX : m->model->nreferenced));
    return true;
}
/* A subgraph like the main one, with operand o added to it. */
static struct nnv_subgraph *add_subgraph(struct nnv_mutation *m, const struct nnv_operand *o) {
    struct nnv_subgraph *s = &m->model->referenced[m->model->nreferenced];
    *s = *m->main;
    s->operands = nnv_edit_copy(&m->edit, s->operands, s->noperands, NNV_EDIT_ROOM, sizeof *s->operands);
    if (!s->operands) return NULL;
    if (o) s->operands[s->noperands++] = *o;
    m->model->nreferenced++;
    return s;
}
/* Each of row->a new subgraphs refers to the next, the last to the first. */
static bool recursion(struct nnv_mutation *m) {
    uint32_t first = m->model->nreferenced, n = (uint32_t)m->a;
    for (uint32_t i = 0; i < n; i++) {
        struct nnv_operand next = reference(first + (i + 1) % n);
        if (!add_subgraph(m, &next)) return false;
    }
    nnv_edit_add(&m->edit, reference(first));
    return true;
}
static bool broken_subgraph(struct nnv_mutation *m) {
    struct nnv_subgraph *s = add_subgraph(m, NULL);
    if (!s) return false;
    s->operations = nnv_edit_copy(&m->edit, s->operations, s->noperations, 0, sizeof *s->operations);
    if (!s->operations) return false;
    struct nnv_operation *op = &s->operations[0];
    op->in = nnv_edit_copy(&m->edit, op->in, op->nin, 1, sizeof *op->in);
    if (!op->in) return false;
    op->in[0] = s->noperands;
    nnv_edit_add(&m->edit, reference(m->model->nreferenced - 1));
    return true;
}
static bool subgraph_without_operations(struct nnv_mutation *m) {
    struct nnv_subgraph *s = add_subgraph(m, NULL);
    if (!s) return false;
    s->noperations = 0;
    nnv_edit_add(&m->edit, reference(m->model->nreferenced - 1));
    return true;
}
static bool model_operand_lives(struct nnv_mutation *m) {
    struct nnv_operand o = reference(0);
    o.lifetime = (enum nnv_lifetime)m->a;
    uint32_t added = nnv_edit_add(&m->edit, o);
    if (o.lifetime == NNV_SUBGRAPH_INPUT) m->main->in[m->main->nin++] = added;
    return true;
}
static bool model_operand_ranked(struct nnv_mutation *m) {
    struct nnv_operand o = reference(0);
    static uint32_t one[] = {1};
    if (!add_subgraph(m, NULL)) return false;
    o.subgraph = m->model->nreferenced - 1;
    o.rank = 1;
    o.dims = one;
    nnv_edit_add(&m->edit, o);
    return true;
}

/* ----------------------------------------------------------------------- rows */

#define AN_INDEX "operand indices are below the number of operands"
#define A_CODE "an operation has one of the codes of the API"
#define INPUTS "an operation has the inputs of its documentation"
#define OUTPUTS "an operation has the outputs of its documentation"
#define LISTS "the model's inputs and outputs are exactly the operands with these lifetimes, each once"
#define ONE_WRITER "a value is written once"
#define ORDER "a value is written before it is read"

const struct nnv_model_mutator nnv_graph_mutators[] = {
    {"operation_code_negative", A_CODE, .a = -1, .change = operation_code},
    {"operation_code_past_last", A_CODE, .a = ANEURALNETWORKS_REVERSE + 1, .change = operation_code},
    {"operation_code_largest", A_CODE, .a = 0xffff, .change = operation_code},
    {"operation_code_of_no_extension", "extension operations are of extensions that the model announces",
     .a = 3 << 16 | 1, .level = 3, .change = operation_code},
    {"operation_input_index_past_last", AN_INDEX, .change = operation_input_index},
    {"operation_input_index_largest", AN_INDEX, .a = 1, .change = operation_input_index},
    {"operation_output_index_past_last", AN_INDEX, .change = operation_output_index},
    {"operation_output_index_largest", AN_INDEX, .a = 1, .change = operation_output_index},
    {"operation_without_inputs", INPUTS, .change = operation_without_inputs},
    {"operation_without_outputs", OUTPUTS, .change = operation_without_outputs},
    {"operation_first_input_removed", INPUTS, .needs = NNV_NEEDS_MATCHED, .judged = true,
     .change = operation_first_input_removed},
    {"operation_last_input_removed", INPUTS, .needs = NNV_NEEDS_MATCHED, .judged = true,
     .change = operation_last_input_removed},
    {"operation_input_added", INPUTS, .needs = NNV_NEEDS_MATCHED, .judged = true, .change = operation_input_added},
    {"operation_output_removed", OUTPUTS, .needs = NNV_NEEDS_TWO_OUTPUTS, .judged = true,
     .change = operation_output_removed},
    {"operation_output_added", OUTPUTS, .needs = NNV_NEEDS_MATCHED, .judged = true, .change = operation_output_added},
    {"operation_writes_twice", ONE_WRITER, .needs = NNV_NEEDS_TWO_OUTPUTS, .change = operation_writes_twice},
    {"operation_repeated", ONE_WRITER, .change = operation_repeated},
    {"operation_removed", "a value that is read or put out is written", .change = operation_removed},
    {"no_operations", "outputs are written", .change = no_operations},
    {"operation_writes_input", "an input of the model is not written", .needs = NNV_NEEDS_INPUT,
     .change = writes_input},
    {"operation_writes_constant", "a constant is not written", .change = writes_constant},
    {"write_redirected", "a value that is read or put out is written", .change = write_redirected},
    {"operation_reads_itself", ORDER, .change = reads_itself},
    {"operation_reads_unwritten", ORDER, .change = reads_unwritten},
    {"dead_temporary", "a temporary value is written", .a = NNV_TEMPORARY_VARIABLE, .change = dead_value},
    {"dead_output", "an output is written", .a = NNV_SUBGRAPH_OUTPUT, .change = dead_value},
    {"dead_input", LISTS, .a = NNV_SUBGRAPH_INPUT, .change = dead_value},
    {"reader_first", ORDER, .needs = NNV_NEEDS_NET, .change = reader_first},
    {"writer_last", ORDER, .needs = NNV_NEEDS_NET, .change = writer_last},
    {"cycle", ORDER, .needs = NNV_NEEDS_NET, .change = cycle},
    {"model_input_index_past_last", AN_INDEX, .needs = NNV_NEEDS_INPUT, .change = model_input_index},
    {"model_input_index_largest", AN_INDEX, .needs = NNV_NEEDS_INPUT, .a = 1, .change = model_input_index},
    {"model_output_index_past_last", AN_INDEX, .change = model_output_index},
    {"model_output_index_largest", AN_INDEX, .a = 1, .change = model_output_index},
    {"model_input_twice", LISTS, .needs = NNV_NEEDS_INPUT, .change = model_input_twice},
    {"model_output_twice", LISTS, .change = model_output_twice},
    {"model_input_missing", LISTS, .needs = NNV_NEEDS_INPUT, .change = model_input_missing},
    {"model_output_missing", LISTS, .change = model_output_missing},
    {"constant_is_model_input", LISTS, .change = constant_is_model_input},
    {"constant_is_model_output", LISTS, .change = constant_is_model_output},
    {"input_is_model_output", LISTS, .needs = NNV_NEEDS_INPUT, .change = input_is_model_output},
    {"output_is_model_input", LISTS, .change = output_is_model_input},
    {"last_operand_removed", AN_INDEX, .change = last_operand_removed},
    {"no_operands", AN_INDEX, .change = no_operands},
    {"subgraph_index_past_last", "subgraphs that are referred to exist", .level = 4, .change = reference_missing},
    {"subgraph_index_largest", "subgraphs that are referred to exist", .level = 4, .a = 1, .change = reference_missing},
    {"subgraph_refers_to_itself", "references do not go in circles", .level = 4, .a = 1, .change = recursion},
    {"subgraphs_refer_to_each_other", "references do not go in circles", .level = 4, .a = 2, .change = recursion},
    {"subgraph_is_broken", AN_INDEX ", in referenced subgraphs too", .level = 4, .change = broken_subgraph},
    {"subgraph_without_operations", "outputs are written, in referenced subgraphs too", .level = 4,
     .change = subgraph_without_operations},
    {"model_operand_is_temporary", "an operand of type MODEL refers to a subgraph", .level = 4,
     .a = NNV_TEMPORARY_VARIABLE, .change = model_operand_lives},
    {"model_operand_is_input", "an operand of type MODEL refers to a subgraph", .level = 4, .a = NNV_SUBGRAPH_INPUT,
     .change = model_operand_lives},
    {"model_operand_has_no_value", "an operand of type MODEL refers to a subgraph", .level = 4, .a = NNV_NO_VALUE,
     .change = model_operand_lives},
    {"model_operand_has_dimensions", "an operand of type MODEL has no dimensions", .level = 4,
     .change = model_operand_ranked},
};
const size_t nnv_graph_mutator_count = sizeof nnv_graph_mutators / sizeof *nnv_graph_mutators;
