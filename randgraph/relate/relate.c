/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/relate/relate.h"

#include <string.h>

#include "reference/model/validate.h"

enum { SPARE = 192 }; /* twice the inputs of the operation that has most, and some */

const struct nnv_relation nnv_relations[] = {
    {"operands_renumbered", "numbers of operands mean nothing", NNV_RELATION_BYTES, NULL, 0, nnv_relate_renumbered},
    {"operations_reordered", "any order that respects what reads what gives the same", NNV_RELATION_BUDGETS, NULL, 0,
     nnv_relate_reordered},
    {"inputs_permuted", "the order of the model's inputs is bookkeeping", NNV_RELATION_BYTES, NULL, 0,
     nnv_relate_inputs_permuted},
    {"outputs_permuted", "the order of the model's outputs is bookkeeping", NNV_RELATION_BYTES, NULL, 0,
     nnv_relate_outputs_permuted},
    {"lifetimes", "a constant is the same one in the model and in a memory pool", NNV_RELATION_BYTES, NULL, 0,
     nnv_relate_lifetimes},
    {"extents_open", "extents that the model leaves open and the request gives are the declared ones",
     NNV_RELATION_BUDGETS, NULL, 0, nnv_relate_open},
    {"constant_fed", "a constant is what the same value is as an input, whatever was compiled before",
     NNV_RELATION_BUDGETS, NULL, 0, nnv_relate_constant_fed},
    {"input_fixed", "an input is what the same value is as a constant", NNV_RELATION_BUDGETS, NULL, 0,
     nnv_relate_input_fixed},
    {"intermediate_promoted", "outputs do not change if a value between operations is an output, too",
     NNV_RELATION_BUDGETS, NULL, 0, nnv_relate_promoted},
    {"operation_unused", "an operation whose result nobody reads changes nothing", NNV_RELATION_BUDGETS, NULL, 0,
     nnv_relate_unused},
    {"operation_repeated", "an operation done twice, for two readers, gives both the same", NNV_RELATION_BUDGETS, NULL,
     0, nnv_relate_repeated_operation},
    {"constants_alike", "a constant is not another of its shape that has the same numbers in another order",
     NNV_RELATION_BUDGETS, NULL, 0, nnv_relate_constants_alike},
    {"constants_repeated", "an operation done twice, with equal constants at two places, gives both readers the same",
     NNV_RELATION_BUDGETS, NULL, 0, nnv_relate_constants_repeated},
    {"scalar_apart", "an operation is not another that differs from it in a scalar alone", NNV_RELATION_BUDGETS, NULL,
     0, nnv_relate_scalar_apart},
    {"transposed_twice", "TRANSPOSE, and back, changes nothing", NNV_RELATION_BUDGETS, NULL, 0, nnv_relate_transposed},
    {"reshaped_twice", "RESHAPE, and back, changes nothing", NNV_RELATION_BUDGETS, NULL, 0, nnv_relate_reshaped},
    {"split_and_joined", "SPLIT, and CONCATENATION of the parts, changes nothing", NNV_RELATION_BUDGETS, NULL, 0,
     nnv_relate_split},
    {"padded_and_cut", "PAD, and SLICE of what was there, changes nothing", NNV_RELATION_BUDGETS, NULL, 0,
     nnv_relate_padded},
    {"times_one", "MUL by one changes nothing", NNV_RELATION_BUDGETS, NULL, 0, nnv_relate_times_one},
    {"quantised_again", "DEQUANTIZE, and QUANTIZE as it was, changes nothing", NNV_RELATION_BUDGETS, "quant", 0,
     nnv_relate_quantised_again},
    {"cast_twice", "CAST to a type that holds it, and back, changes nothing", NNV_RELATION_BUDGETS, NULL, 0,
     nnv_relate_cast_twice},
    {"through_floats", "an operation on codes is DEQUANTIZE, the same on floats, and QUANTIZE", NNV_RELATION_BUDGETS,
     "quant", 0, nnv_relate_through_floats},
    {"tiled", "an operand that is broadcast is the same one repeated by TILE", NNV_RELATION_BUDGETS, NULL, 0,
     nnv_relate_tiled},
    {"pad_apart", "explicit padding is PAD in front of a window without padding", NNV_RELATION_BUDGETS, NULL, 1,
     nnv_relate_pad_apart},
    {"branched", "a model is what an IF gives both of whose branches it is", NNV_RELATION_BUDGETS, NULL, 0,
     nnv_relate_branched},
    {"rows_permuted", "rows of a batch in another order give their results in that order", NNV_RELATION_BUDGETS, NULL,
     2, nnv_relate_rows_permuted},
    {"rows_repeated", "rows that stand in a batch twice give their results twice", NNV_RELATION_BUDGETS, NULL, 2,
     nnv_relate_rows_repeated},
    {"row_alone", "a row of a batch alone gives what it gives among others", NNV_RELATION_BUDGETS, NULL, 2,
     nnv_relate_row_alone},
    {"halves", "an operation on the halves of a batch, joined again, gives what it gives on the whole",
     NNV_RELATION_BUDGETS, NULL, 2, nnv_relate_halves},
};
const size_t nnv_relation_count = sizeof nnv_relations / sizeof *nnv_relations;

/* ------------------------------------------------------------------- copies */

/* An array of count entries, with SPARE more behind them. */
static void *with_room(struct nnv_arena *arena, const void *array, uint32_t count, size_t size) {
    void *copy = nnv_arena_alloc(arena, (size_t)count + SPARE, size);
    if (copy && count) memcpy(copy, array, count * size);
    return copy;
}

static bool copy_operations(struct nnv_subgraph *m, struct nnv_arena *arena) {
    for (uint32_t i = 0; i < m->noperations; i++) {
        struct nnv_operation *op = &m->operations[i];
        op->in = nnv_arena_copy(arena, op->in, op->nin * sizeof *op->in);
        op->out = nnv_arena_copy(arena, op->out, op->nout * sizeof *op->out);
        if (!op->in || !op->out) return false;
    }
    return true;
}

struct nnv_spec *nnv_relate_copy(const struct nnv_spec *spec, struct nnv_arena *arena) {
    struct nnv_spec *copy = nnv_arena_copy(arena, spec, sizeof *spec);
    if (!copy) return NULL;
    struct nnv_subgraph *m = &copy->model.main;
    m->operands = with_room(arena, m->operands, m->noperands, sizeof *m->operands);
    m->operations = with_room(arena, m->operations, m->noperations, sizeof *m->operations);
    m->in = with_room(arena, m->in, m->nin, sizeof *m->in);
    m->out = with_room(arena, m->out, m->nout, sizeof *m->out);
    copy->inputs = with_room(arena, spec->inputs, m->nin, sizeof *spec->inputs);
    copy->outputs = with_room(arena, spec->outputs, m->nout, sizeof *spec->outputs);
    if (!m->operands || !m->operations || !m->in || !m->out || !copy->inputs || !copy->outputs) return NULL;
    for (uint32_t i = 0; i < m->noperands; i++) {
        struct nnv_operand *o = &m->operands[i];
        if (!(o->dims = nnv_arena_copy(arena, o->dims, o->rank * sizeof *o->dims))) return NULL;
    }
    return copy_operations(m, arena) ? copy : NULL;
}

bool nnv_relate_is_random(const struct nnv_model *model) {
    for (uint32_t g = 0; g <= model->nreferenced; g++) {
        const struct nnv_subgraph *s = g ? &model->referenced[g - 1] : &model->main;
        for (uint32_t i = 0; i < s->noperations; i++)
            if (s->operations[i].type == ANEURALNETWORKS_RANDOM_MULTINOMIAL) return true;
    }
    return false;
}

enum nnv_status nnv_relate(const struct nnv_relation *relation, const struct nnv_spec *from, uint64_t seed,
                           struct nnv_arena *arena, struct nnv_related *r, bool *applies, struct nnv_err *err) {
    const struct nnv_subgraph *m = &from->model.main;
    struct nnv_shape *shapes = NNV_NEW(arena, struct nnv_shape, m->noperands);
    struct nnv_err why = {0};
    *r = (struct nnv_related){.arena = arena, .from = from, .shapes = shapes};
    *applies = false;
    r->rng = nnv_rng_make(seed, nnv_hash_str(relation->name), 0);
    r->to = nnv_relate_copy(from, arena);
    r->output = NNV_NEW(arena, uint32_t, m->nout + SPARE);
    if (!shapes || !r->to || !r->output) return nnv_no_memory(err);
    r->operand_room = m->noperands + SPARE;
    r->operation_room = m->noperations + SPARE;
    for (uint32_t i = 0; i < m->nout; i++) r->output[i] = i;
    if (nnv_relate_is_random(&from->model) || nnv_infer_shapes(&from->model, arena, shapes, &why) != NNV_OK)
        return NNV_OK;
    *applies = relation->relate(r) && nnv_validate(&r->to->model, arena, &r->to->min_version, &why) == NNV_OK &&
               (!r->decoy || nnv_validate(&r->decoy->model, arena, NULL, &why) == NNV_OK);
    return NNV_OK;
}

/* ------------------------------------------------------------------ editing */

/* Room is for twice the inputs of the largest operation; what exceeds it, or memory that ran out, leaves a model that
 * does not validate. */
uint32_t nnv_relate_operand(struct nnv_related *r, struct nnv_operand operand) {
    struct nnv_subgraph *m = &r->to->model.main;
    if (m->noperands == r->operand_room) return NNV_RELATED_NONE;
    m->operands[m->noperands] = operand;
    return m->noperands++;
}

uint32_t nnv_relate_tensor(struct nnv_related *r, uint32_t like, uint32_t rank, const uint32_t *dims) {
    struct nnv_operand o = r->to->model.main.operands[like];
    o.rank = rank;
    o.dims = nnv_arena_copy(r->arena, dims, rank * sizeof *dims);
    o.lifetime = NNV_TEMPORARY_VARIABLE;
    o.data = NULL;
    o.bytes = 0;
    if (!o.dims) return NNV_RELATED_NONE;
    return nnv_relate_operand(r, o);
}

uint32_t *nnv_relate_outputs(struct nnv_related *r, uint32_t at) {
    const struct nnv_subgraph *m = &r->to->model.main;
    const struct nnv_operation *op = &m->operations[at];
    uint32_t *outs = NNV_NEW(r->arena, uint32_t, op->nout);
    for (uint32_t k = 0; outs && k < op->nout; k++) {
        const struct nnv_operand *o = &m->operands[op->out[k]];
        if (o->ignored) return NULL; /* its contents are the driver's own */
        outs[k] = nnv_relate_tensor(r, op->out[k], o->rank, o->dims);
        if (outs[k] == NNV_RELATED_NONE) return NULL;
    }
    return outs;
}

uint32_t nnv_relate_ints(struct nnv_related *r, uint32_t rank, const uint32_t *dims, const int32_t *values) {
    struct nnv_operand o = {.type = rank ? ANEURALNETWORKS_TENSOR_INT32 : ANEURALNETWORKS_INT32,
                            .rank = rank,
                            .lifetime = NNV_CONSTANT_COPY,
                            .bytes = sizeof *values};
    for (uint32_t i = 0; i < rank; i++) o.bytes *= dims[i];
    o.dims = nnv_arena_copy(r->arena, dims, rank * sizeof *dims);
    o.data = nnv_arena_copy(r->arena, values, o.bytes);
    if (!o.dims || !o.data) return NNV_RELATED_NONE;
    return nnv_relate_operand(r, o);
}

uint32_t nnv_relate_int(struct nnv_related *r, int32_t value) { return nnv_relate_ints(r, 0, NULL, &value); }

void nnv_relate_insert(struct nnv_related *r, uint32_t at, int32_t code, uint32_t nin, const uint32_t *in,
                       uint32_t nout, const uint32_t *out) {
    struct nnv_subgraph *m = &r->to->model.main;
    const struct nnv_operation op = {.type = code,
                                     .nin = nin,
                                     .nout = nout,
                                     .in = nnv_arena_copy(r->arena, in, nin * sizeof *in),
                                     .out = nnv_arena_copy(r->arena, out, nout * sizeof *out)};
    if (m->noperations == r->operation_room || !op.in || !op.out) return;
    memmove(&m->operations[at + 1], &m->operations[at], (m->noperations - at) * sizeof op);
    m->operations[at] = op;
    m->noperations++;
}

bool nnv_relate_edge(struct nnv_related *r, size_t least, uint32_t *operation, uint32_t *position) {
    const struct nnv_subgraph *m = &r->from->model.main;
    int64_t found = 0;
    for (uint32_t i = 0; i < m->noperations; i++)
        for (uint32_t p = 0; p < m->operations[i].nin; p++) {
            const uint32_t at = m->operations[i].in[p];
            const struct nnv_operand *o = &m->operands[at];
            if (!nnv_type(o->type)->tensor || nnv_is_constant(o) || o->lifetime == NNV_NO_VALUE) continue;
            if (!nnv_shape_known(&r->shapes[at]) || r->shapes[at].rank == 0 || nnv_shape_elems(&r->shapes[at]) < least)
                continue;
            if (nnv_rng_int(&r->rng, 0, found++) != 0) continue;
            *operation = i;
            *position = p;
        }
    return found > 0;
}

int32_t nnv_relate_constant(const struct nnv_related *r, const struct nnv_operation *op, uint32_t position,
                            int32_t dflt) {
    if (position >= op->nin) return dflt;
    const struct nnv_operand *o = &r->from->model.main.operands[op->in[position]];
    int32_t value = dflt;
    if (!nnv_is_constant(o)) return dflt;
    if (o->type == ANEURALNETWORKS_BOOL && o->bytes == 1) value = *(const uint8_t *)o->data != 0;
    if (o->type == ANEURALNETWORKS_INT32 && o->bytes == sizeof value) memcpy(&value, o->data, sizeof value);
    return value;
}
