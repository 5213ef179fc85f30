/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/graph/fit.h"

#include <math.h>
#include <string.h>

#include "reference/model/validate.h"

enum { MOST_WEIGHTS = 8192 }; /* elements that an input may be repeated to */

/* Extents that changed. */
struct change {
    uint32_t from, to;
};
struct changes {
    struct change item[NNV_MAX_RANK];
    uint32_t count;
};

void nnv_graph_range(const struct nnv_operand *o, const struct nnv_value *v, double *lo, double *hi) {
    enum { BLOCK = 256 };
    const size_t size = nnv_type(o->type)->size, n = v->bytes / size;
    double least = 0, most = 0, x[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t count = n - at < BLOCK ? n - at : BLOCK;
        nnv_load(o->type, (const char *)v->data + at * size, count, x);
        if (at == 0) least = most = x[0];
        for (size_t i = 0; i < count; i++) {
            if (x[i] < least) least = x[i];
            if (x[i] > most) most = x[i];
        }
    }
    const bool is_quantised = o->scale > 0 && n > 0;
    const double scale = is_quantised ? (double)o->scale : 1, zero = is_quantised ? o->zero_point : 0;
    *lo = (least - zero) * scale;
    *hi = (most - zero) * scale;
}

/* --------------------------------------------------------------------- opening */

/* The slot of each input position, from the record's rules. */
static enum nnv_status find_slots(struct nnv_graph_draft *d, struct nnv_err *err) {
    const struct nnv_subgraph *s = &d->spec->model.main;
    struct nnv_shape *shapes = NNV_NEW(d->arena, struct nnv_shape, s->noperands);
    const void **data = NNV_NEW(d->arena, const void *, s->noperands);
    struct nnv_call *call;
    d->slot = NNV_NEW(d->arena, const struct nnv_slot *, d->op->nin);
    if (!shapes || !data || !d->slot) return nnv_no_memory(err);
    for (uint32_t i = 0; i < s->noperands; i++) {
        shapes[i] = nnv_operand_shape(&s->operands[i]);
        data[i] = s->operands[i].data;
    }
    enum nnv_status st = nnv_bind(s, d->op, shapes, data, NULL, d->arena, &call, NULL, err);
    if (st) return st;
    for (uint32_t i = 0, p = 0; i < call->form->nin && p < d->op->nin; i++) {
        const struct nnv_slot *slot = &call->form->in[i];
        uint32_t times = slot->flags & NNV_REPEAT ? call->repeat : 1;
        for (uint32_t k = 0; k < times && p < d->op->nin; k++) d->slot[p++] = slot;
    }
    return NNV_OK;
}

static enum nnv_status copy_arrays(struct nnv_graph_draft *d, const struct nnv_spec *spec, struct nnv_err *err) {
    const struct nnv_subgraph *s = &spec->model.main;
    d->spec = nnv_arena_copy(d->arena, spec, sizeof *spec);
    if (!d->spec) return nnv_no_memory(err);
    struct nnv_subgraph *copy = &d->spec->model.main;
    copy->operands = nnv_arena_copy(d->arena, s->operands, s->noperands * sizeof *s->operands);
    copy->operations = d->op = nnv_arena_copy(d->arena, s->operations, sizeof *s->operations);
    d->spec->inputs = nnv_arena_copy(d->arena, spec->inputs, s->nin * sizeof *spec->inputs);
    d->from = NNV_NEW(d->arena, const struct nnv_graph_value *, s->noperands);
    if (!copy->operands || !copy->operations || !d->spec->inputs || !d->from) return nnv_no_memory(err);
    for (uint32_t i = 0; i < s->noperands; i++) {
        struct nnv_operand *o = &copy->operands[i];
        o->dims = nnv_arena_copy(d->arena, o->dims, o->rank * sizeof *o->dims);
        if (!o->dims) return nnv_no_memory(err);
    }
    return NNV_OK;
}

enum nnv_status nnv_graph_draft_open(struct nnv_graph_draft *d, const struct nnv_spec *spec, struct nnv_arena *arena,
                                     struct nnv_err *err) {
    *d = (struct nnv_graph_draft){.arena = arena};
    enum nnv_status st = copy_arrays(d, spec, err);
    return st ? st : find_slots(d, err);
}

/* --------------------------------------------------------------------- fitting */

/* The value of the request that operand is the model input of, or NULL. */
static struct nnv_value *input_value(const struct nnv_graph_draft *d, uint32_t operand) {
    const struct nnv_subgraph *s = &d->spec->model.main;
    for (uint32_t i = 0; i < s->nin; i++)
        if (s->in[i] == operand) return &d->spec->inputs[i];
    return NULL;
}

/* The value lies in the range that the operation is to be tested in, or not far outside; on the same side of 0. */
static bool in_domain(const struct nnv_graph_value *v, double lo, double hi) {
    const double most = hi + 4 * (hi - lo) + 1e-3;
    if (lo > 0) return v->lo >= lo / 4 && v->hi <= most;
    if (lo == 0) return v->lo >= 0 && v->hi <= most;
    return v->lo >= lo - (most - hi) && v->hi <= most;
}

/* count elements of size bytes, the old ones one behind the other again and again. */
static void *repeat(struct nnv_arena *arena, const void *old, size_t old_bytes, size_t bytes) {
    char *data = nnv_arena_alloc(arena, bytes ? bytes : 1, 1);
    if (!data) return NULL;
    for (size_t at = 0; at < bytes; at += old_bytes)
        memcpy(data + at, old, bytes - at < old_bytes ? bytes - at : old_bytes);
    return data;
}

static bool resize_channels(struct nnv_graph_draft *d, struct nnv_operand *o) {
    const uint32_t wanted = o->dims[o->channel.dim];
    if (o->channel.count == 0 || o->channel.count == wanted) return true;
    float *scales = repeat(d->arena, o->channel.scales, o->channel.count * sizeof *scales, wanted * sizeof *scales);
    if (!scales) return false;
    o->channel.scales = scales;
    o->channel.count = wanted;
    return true;
}

/* Gives an input or constant the extents that changed, and values for them. */
static bool change_extents(struct nnv_graph_draft *d, struct nnv_operand *o, struct nnv_value *v,
                           const struct changes *changes) {
    bool changed = false;
    for (uint32_t k = 0; k < o->rank; k++)
        for (uint32_t c = 0; c < changes->count; c++)
            if (o->dims[k] == changes->item[c].from) {
                o->dims[k] = changes->item[c].to;
                changed = true;
                break;
            }
    if (!changed) return true;
    size_t elems, bytes, before = v ? v->bytes : o->bytes;
    if (before == 0 || !nnv_operand_size(o, &elems, &bytes) || elems > MOST_WEIGHTS || !resize_channels(d, o))
        return false;
    void *data = repeat(d->arena, v ? v->data : o->data, before, bytes);
    if (!data) return false;
    if (v) {
        v->data = data;
        v->bytes = bytes;
        v->rank = o->rank;
        memcpy(v->dims, o->dims, o->rank * sizeof *o->dims);
    } else {
        o->data = data;
        o->bytes = bytes;
    }
    return true;
}

/* TENSOR_INT32 attributes (axes, paddings, shapes) keep their extents: they do not follow those of the data. */
static bool is_attribute(const struct nnv_graph_draft *d, uint32_t p) {
    const struct nnv_operand *o = &d->spec->model.main.operands[d->op->in[p]];
    return !nnv_type(o->type)->tensor ||
           (o->type == ANEURALNETWORKS_TENSOR_INT32 && d->slot[p]->quant != NNV_Q_BIAS && d->slot[p]->var == NNV_FIXED);
}

static bool spread_changes(struct nnv_graph_draft *d, uint32_t p, const struct changes *changes) {
    struct nnv_subgraph *s = &d->spec->model.main;
    for (uint32_t i = 0; i < d->op->nin; i++) {
        const uint32_t operand = d->op->in[i];
        struct nnv_operand *o = &s->operands[operand];
        if (i == p || d->from[operand] || o->lifetime == NNV_NO_VALUE || is_attribute(d, i)) continue;
        struct nnv_value *v = input_value(d, operand);
        if (v && v->omitted) continue;
        if (!v && !nnv_is_constant(o)) return false;
        if (!change_extents(d, o, v, changes)) return false;
    }
    return true;
}

/* Inputs whose quantisation follows that of others. */
static void follow_quantisation(struct nnv_graph_draft *d) {
    struct nnv_subgraph *s = &d->spec->model.main;
    for (uint32_t i = 0; i < d->op->nin; i++) {
        struct nnv_operand *o = &s->operands[d->op->in[i]];
        const struct nnv_operand *x = &s->operands[d->op->in[0]];
        if (d->slot[i]->quant == NNV_Q_SAME && i > 0 && nnv_is_quant(o->type)) {
            o->scale = x->scale;
            o->zero_point = x->zero_point;
        }
        if (d->slot[i]->quant == NNV_Q_BIAS && o->type == ANEURALNETWORKS_TENSOR_INT32 && i > 1 && o->scale > 0)
            o->scale = x->scale * s->operands[d->op->in[1]].scale;
    }
}

bool nnv_graph_draft_place(struct nnv_graph_draft *d, uint32_t p, const struct nnv_graph_value *value,
                           const struct nnv_operand *like) {
    struct nnv_subgraph *s = &d->spec->model.main;
    struct nnv_operand *o = &s->operands[d->op->in[p]];
    const struct nnv_value *drawn = input_value(d, d->op->in[p]);
    double lo, hi;
    if (!drawn || drawn->omitted || o->type != like->type || o->rank != value->value.rank || is_attribute(d, p))
        return false;
    nnv_graph_range(o, drawn, &lo, &hi);
    if (nnv_type(o->type)->kind != NNV_KIND_BOOL && !in_domain(value, lo, hi)) return false;
    struct changes changes = {.count = 0};
    for (uint32_t k = 0; k < o->rank; k++) {
        if (o->dims[k] != value->value.dims[k])
            changes.item[changes.count++] = (struct change){o->dims[k], value->value.dims[k]};
        o->dims[k] = value->value.dims[k];
    }
    d->from[d->op->in[p]] = value;
    /* bodies have their own extents and scales */
    if (nnv_op(d->op->type)->check_subgraphs &&
        (changes.count > 0 || o->scale != like->scale || o->zero_point != like->zero_point))
        return false;
    o->scale = like->scale;
    o->zero_point = like->zero_point;
    if (!spread_changes(d, p, &changes)) return false;
    follow_quantisation(d);
    return true;
}
