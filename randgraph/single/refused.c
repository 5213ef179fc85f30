/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/parts.h"

#include <string.h>

#include "randgraph/single/single.h"
#include "reference/model/validate.h"

/* A model that may be changed: the arrays of its main subgraph have room for one entry more. */
struct draft {
    struct nnv_subgraph s;
    struct nnv_operation *op;
    struct nnv_arena *arena;
};

struct mistake {
    const char *what;
    /* Makes it; false where it can't be made, or without memory. */
    bool (*make)(struct draft *d);
};

static void *larger(struct nnv_arena *a, const void *from, size_t count, size_t size) {
    void *copy = nnv_arena_alloc(a, count + 1, size);
    if (copy && count) memcpy(copy, from, count * size);
    return copy;
}

static bool open_draft(struct draft *d, const struct nnv_spec *spec, struct nnv_arena *arena) {
    const struct nnv_subgraph *s = &spec->model.main;
    *d = (struct draft){.s = *s, .arena = arena};
    d->s.operands = larger(arena, s->operands, s->noperands, sizeof *s->operands);
    d->s.in = larger(arena, s->in, s->nin, sizeof *s->in);
    d->s.out = larger(arena, s->out, s->nout, sizeof *s->out);
    d->op = d->s.operations = larger(arena, s->operations, s->noperations, sizeof *s->operations);
    if (!d->s.operands || !d->s.in || !d->s.out || !d->op) return false;
    d->op->in = larger(arena, d->op->in, d->op->nin, sizeof *d->op->in);
    d->op->out = larger(arena, d->op->out, d->op->nout, sizeof *d->op->out);
    return d->op->in && d->op->out;
}

static struct nnv_operand *input(struct draft *d, uint32_t i) { return &d->s.operands[d->op->in[i]]; }
static struct nnv_operand *output(struct draft *d) { return &d->s.operands[d->op->out[0]]; }

static bool surplus_input(struct draft *d) {
    static const int32_t value = 1;
    d->s.operands[d->s.noperands] = (struct nnv_operand){
        .type = ANEURALNETWORKS_INT32, .lifetime = NNV_CONSTANT_COPY, .data = &value, .bytes = sizeof value};
    d->op->in[d->op->nin++] = d->s.noperands++;
    return true;
}

static bool missing_input(struct draft *d) {
    d->op->nin--; /* the operand stays, and is read by nobody */
    return d->op->nin > 0;
}

static bool input_type(struct draft *d) {
    for (uint32_t i = 0; i < d->op->nin; i++) {
        struct nnv_operand *o = input(d, i);
        if (o->lifetime != NNV_SUBGRAPH_INPUT || !nnv_type(o->type)->tensor) continue;
        o->type = o->type == ANEURALNETWORKS_TENSOR_BOOL8 ? ANEURALNETWORKS_TENSOR_INT32 : ANEURALNETWORKS_TENSOR_BOOL8;
        o->scale = 0;
        o->zero_point = 0;
        o->channel.count = 0;
        return true;
    }
    return false;
}

static bool output_type(struct draft *d) {
    struct nnv_operand *o = output(d);
    o->type = o->type == ANEURALNETWORKS_TENSOR_BOOL8 ? ANEURALNETWORKS_TENSOR_FLOAT32 : ANEURALNETWORKS_TENSOR_BOOL8;
    o->scale = 0;
    o->zero_point = 0;
    return true;
}

static bool output_extent(struct draft *d) {
    struct nnv_operand *o = output(d);
    if (o->rank == 0) return false;
    o->dims = nnv_arena_copy(d->arena, o->dims, o->rank * sizeof *o->dims);
    if (!o->dims) return false;
    o->dims[o->rank - 1]++;
    return true;
}

/* A first extent of 1 more: as many values. */
static bool rank_above(struct draft *d, struct nnv_operand *o) {
    uint32_t *dims = NNV_NEW(d->arena, uint32_t, o->rank + 1);
    if (!dims || o->rank == NNV_MAX_RANK) return false;
    dims[0] = 1;
    memcpy(dims + 1, o->dims, o->rank * sizeof *dims);
    o->dims = dims;
    o->rank++;
    return true;
}

static bool output_rank(struct draft *d) { return rank_above(d, output(d)); }
static bool input_rank(struct draft *d) { return nnv_type(input(d, 0)->type)->tensor && rank_above(d, input(d, 0)); }

/* Weights twice, one behind the other, where their first extent is 1. */
static bool weights_twice(struct draft *d) {
    if (d->op->nin < 2) return false;
    struct nnv_operand *o = input(d, 1);
    uint32_t *dims = nnv_arena_copy(d->arena, o->dims, o->rank * sizeof *dims);
    char *data = NNV_NEW(d->arena, char, 2 * o->bytes + 1);
    if (!dims || !data || !nnv_type(o->type)->tensor || o->rank < 2 || dims[0] != 1 || !nnv_is_constant(o))
        return false;
    memcpy(data, o->data, o->bytes);
    memcpy(data + o->bytes, o->data, o->bytes);
    dims[0] = 2;
    o->dims = dims;
    o->data = data;
    o->bytes *= 2;
    return true;
}

static bool output_scale(struct draft *d) {
    struct nnv_operand *o = output(d);
    o->scale *= 1.5f;
    return o->scale > 0;
}

static bool surplus_output(struct draft *d) {
    d->s.operands[d->s.noperands] = *output(d);
    d->op->out[d->op->nout++] = d->s.noperands;
    d->s.out[d->s.nout++] = d->s.noperands++;
    return true;
}

/* The last INT32 or BOOL scalar gets a value that no attribute may have. */
static bool attribute(struct draft *d) {
    static const int32_t value = -77;
    for (uint32_t i = d->op->nin; i-- > 0;) {
        struct nnv_operand *o = input(d, i);
        if (o->type != ANEURALNETWORKS_INT32 || o->lifetime != NNV_CONSTANT_COPY) continue;
        o->data = &value;
        return true;
    }
    return false;
}

/* WHILE's condition as its body, and its body as its condition; IF may have its branches either way. */
static bool subgraphs_swapped(struct draft *d) {
    if (d->op->nin < 2 || input(d, 0)->lifetime != NNV_SUBGRAPH || input(d, 1)->lifetime != NNV_SUBGRAPH) return false;
    uint32_t first = d->op->in[0];
    d->op->in[0] = d->op->in[1];
    d->op->in[1] = first;
    return true;
}

static const struct mistake mistakes[] = {
    {"one input more", surplus_input},           {"one input less", missing_input},
    {"another type of input", input_type},       {"another type of output", output_type},
    {"a wrong extent of output", output_extent}, {"a rank above of output", output_rank},
    {"a rank above of input", input_rank},       {"another scale of output", output_scale},
    {"an attribute of -77", attribute},          {"one output more", surplus_output},
    {"subgraphs swapped", subgraphs_swapped},    {"weights twice", weights_twice},
};
enum { MISTAKES = sizeof mistakes / sizeof *mistakes };
_Static_assert((int)MISTAKES == (int)NNV_REFUSED_KINDS, "cases are listed for each");

enum nnv_status nnv_single_refuse(struct nnv_spec *spec, int index, struct nnv_arena *arena, struct nnv_err *err) {
    int noticed[MISTAKES], count = 0;
    struct draft drafts[MISTAKES];
    for (int i = 0; i < MISTAKES; i++) {
        struct nnv_err why = {0};
        if (!open_draft(&drafts[i], spec, arena)) return nnv_no_memory(err);
        if (!mistakes[i].make(&drafts[i])) continue;
        struct nnv_model m = spec->model;
        m.main = drafts[i].s;
        /* another number of outputs would need other expectations */
        if (nnv_validate(&m, arena, NULL, &why) == NNV_INVALID && m.main.nout == spec->model.main.nout)
            noticed[count++] = i;
    }
    if (count == 0) return nnv_fail(err, NNV_INTERNAL, "the operation's rules notice no mistake");
    const int pick = noticed[index % count];
    spec->valid = nnv_arena_copy(arena, &spec->model, sizeof spec->model);
    if (!spec->valid) return nnv_no_memory(err);
    spec->model.main = drafts[pick].s;
    spec->source = mistakes[pick].what;
    spec->expect_failure = true;
    return NNV_OK;
}
