/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps and limits: cases whose inputs go through all codes, all pairs of codes, or all numbers of a list. */
#include <math.h>
#include <string.h>

#include "randgraph/limits.h"
#include "randgraph/single/draft.h"

static int32_t main_type(const struct nnv_op *op, int sig) { return op->sigs[sig].type[NNV_T]; }

static bool is_tensor_of_t(const struct nnv_slot *slot) { return slot->var == NNV_T && !(slot->flags & NNV_SCALAR); }

bool nnv_single_is_elementwise(const struct nnv_op *op) { return op->unary || op->pairs; }

bool nnv_single_compares_bytes(const struct nnv_op *op) {
    const struct nnv_slot *y = op->forms->out;
    return op->pairs && op->nsigs > 1 && y->var == NNV_FIXED && y->type == ANEURALNETWORKS_TENSOR_BOOL8;
}

bool nnv_single_takes_any(const struct nnv_op *op) {
    for (uint8_t i = 0; i < op->forms->nin; i++)
        if (op->forms->in[i].domain == NNV_DOMAIN_ANY) return true;
    return false;
}

int nnv_single_sweep_cases(const struct nnv_op *op, int sig) {
    enum { FLOAT_CASES = 2, CODE_CASES = 3 };
    const struct nnv_type *t = nnv_type(main_type(op, sig));
    const bool byte = t->kind == NNV_KIND_BOOL || (t->kind == NNV_KIND_QUANT && t->size == 1);
    if (op->pairs) return byte && !(t->kind == NNV_KIND_BOOL && nnv_single_compares_bytes(op));
    if (!op->unary || t->per_channel) return 0;
    if (t->kind == NNV_KIND_FLOAT) return t->size == 2 ? NNV_SWEEP_PARTS : FLOAT_CASES;
    if (t->kind == NNV_KIND_QUANT) return byte ? CODE_CASES : 1;
    return byte;
}

bool nnv_single_has_limits(const struct nnv_op *op, int sig) {
    double limits[NNV_MOST_LIMITS];
    for (uint8_t i = 0; i < op->forms->nin; i++) {
        const struct nnv_slot *slot = &op->forms->in[i];
        if (is_tensor_of_t(slot) && nnv_limits(slot, main_type(op, sig), limits) > 0) return true;
    }
    return false;
}

/* The first or second tensor of type T. */
static const struct nnv_slot *tensor_of_t(const struct nnv_form *form, int which) {
    for (uint8_t i = 0; i < form->nin; i++)
        if (is_tensor_of_t(&form->in[i]) && which-- == 0) return &form->in[i];
    return NULL;
}

/* How many codes or numbers the first or second tensor goes through. */
static uint32_t count_of(const struct nnv_single_draft *b, int which) {
    double limits[NNV_MOST_LIMITS];
    const struct nnv_slot *slot = tensor_of_t(b->sample->form, which);
    if (b->what->mode == NNV_FILL_SWEEP) return UINT8_MAX + 1;
    const size_t n = slot ? nnv_limits(slot, nnv_single_slot_type(b, slot), limits) : 0;
    return n > 0 ? (uint32_t)n : 1;
}

/* Rows and columns of the tensors; of pairs, the first's numbers and the second's. */
static void shape_of(const struct nnv_single_draft *b, uint32_t dims[2]) {
    const struct nnv_type *t = nnv_type(main_type(b->what->op, b->what->sig));
    enum { ROWS = 8 };
    uint32_t n = count_of(b, 0);
    if (b->what->op->pairs) {
        dims[0] = n;
        dims[1] = count_of(b, 1);
        return;
    }
    if (b->what->mode == NNV_FILL_SWEEP && t->kind == NNV_KIND_FLOAT)
        n = t->size == 2 ? NNV_SWEEP_HALVES : NNV_SWEEP_FLOATS;
    else if (b->what->mode == NNV_FILL_SWEEP && t->size == 2)
        n = UINT16_MAX + 1;
    dims[0] = ROWS;
    dims[1] = (n + ROWS - 1) / ROWS;
}

/* How a case at the limits has its pairs. */
enum layout {
    IN_ROWS,     /**< two inputs: the first's numbers by rows, the second's by columns */
    BESIDE_ROW,  /**< the second is a constant: one row where it may be broadcast */
    IN_LONG_ROWS /**< rank 4, rows that no vector divides, and the first's numbers by columns */
};

static enum layout layout_of(const struct nnv_single *w) {
    enum { LAYOUTS = 3 };
    return w->op->pairs && w->mode == NNV_FILL_LIMITS ? (enum layout)(w->index % LAYOUTS) : IN_ROWS;
}

/* A tensor of another type has the shape of both (SELECT); what INT32 cannot hold is replaced pair by pair. */
static bool is_broadcast(const struct nnv_single_draft *b) {
    const struct nnv_form *form = b->sample->form;
    for (uint8_t i = 0; i < form->nin; i++)
        if (!(form->in[i].flags & NNV_SCALAR) && !is_tensor_of_t(&form->in[i])) return false;
    return nnv_single_slot_type(b, form->out) != ANEURALNETWORKS_TENSOR_INT32;
}

static void set_shape(struct nnv_sample_arg *a, uint32_t rank, const uint32_t *dims) {
    a->rank = rank;
    memcpy(a->dims, dims, rank * sizeof *dims);
}

/* The shape of rank 4 that holds so many pairs: of odd extents, so that no vector divides the whole either. */
static void long_rows(uint32_t pairs, uint32_t dims[4]) {
    enum { PLANES = 3, ROW = 37 };
    const uint32_t rows = (pairs + PLANES * ROW - 1) / (PLANES * ROW);
    const uint32_t shape[] = {1, PLANES, rows | 1, ROW};
    memcpy(dims, shape, sizeof shape);
}

int nnv_sweep_fused(const struct nnv_single *w) {
    static const int fused[] = {ANEURALNETWORKS_FUSED_RELU, ANEURALNETWORKS_FUSED_RELU1, ANEURALNETWORKS_FUSED_RELU6};
    enum { FUSED = sizeof fused / sizeof *fused };
    return layout_of(w) == IN_LONG_ROWS ? 1 + fused[(w->op->code + w->sig) % FUSED] : 0;
}

void nnv_sweep_shape(const struct nnv_single_draft *b) {
    const struct nnv_form *form = b->sample->form;
    const enum layout layout = layout_of(b->what);
    uint32_t dims[4], rank = 2;
    shape_of(b, dims);
    if (layout == IN_LONG_ROWS) long_rows(dims[0] * dims[1], dims), rank = 4;
    for (uint8_t i = 0; i < form->nin; i++) {
        struct nnv_sample_arg *a = &b->sample->arg[form->in[i].id];
        if (form->in[i].flags & NNV_SCALAR || !a->set) continue;
        set_shape(a, rank, dims);
        if (layout != BESIDE_ROW || &form->in[i] != tensor_of_t(form, 1)) continue;
        a->constant = true;
        if (is_broadcast(b)) set_shape(a, 1, &dims[1]);
    }
}

enum nnv_status nnv_sweep_fill(const struct nnv_single_draft *b, const struct nnv_slot *slot, struct nnv_fill *f,
                               struct nnv_err *err) {
    const struct nnv_form *form = b->sample->form;
    const bool pairs = b->what->op->pairs;
    if (f->mode == NNV_FILL_SWEEP && !is_tensor_of_t(slot)) f->mode = NNV_FILL_EDGE; /* the condition of SELECT */
    if (nnv_single_is_elementwise(b->what->op)) f->order = NNV_ORDER_EACH;
    const int slow = layout_of(b->what) == IN_LONG_ROWS;
    if (pairs && slot == tensor_of_t(form, slow)) f->order = NNV_ORDER_FIRST;
    if (pairs && slot == tensor_of_t(form, !slow)) f->order = NNV_ORDER_SECOND;
    if (pairs) f->inner = count_of(b, !slow);
    if (f->mode != NNV_FILL_LIMITS) return NNV_OK;
    double *list = NNV_NEW(b->arena, double, NNV_MOST_LIMITS);
    if (!list) return nnv_no_memory(err);
    const size_t n = nnv_limits(slot, nnv_single_slot_type(b, slot), list);
    f->list = list;
    for (size_t i = 0; i < n; i++)
        if (nnv_single_is_elementwise(b->what->op) || fabs(list[i]) <= b->magnitude) list[f->nlist++] = list[i];
    return NNV_OK;
}

/* Results of INT32 that it cannot hold are not defined, nor are casts of such numbers. */
static bool is_undefined(double v, bool cast) {
    return v > INT32_MAX || v < INT32_MIN || (cast && fabs(v) >= INT32_MAX);
}

bool nnv_sweep_tame(const struct nnv_single_draft *b, const struct nnv_golden *golden) {
    enum { SMALL = 1000 };
    const struct nnv_operand *y = &b->s->operands[b->s->out[0]];
    const size_t n = golden->value.bytes / nnv_type(y->type)->size;
    const bool cast = nnv_is_float(b->s->operands[0].type);
    bool any = false;
    if (y->type != ANEURALNETWORKS_TENSOR_INT32 || !nnv_single_is_elementwise(b->what->op)) return false;
    for (size_t e = 0; e < n; e++) {
        if (!is_undefined(golden->exact[e], cast)) continue;
        any = true;
        for (uint32_t i = 0; i < b->s->operations->nin; i++) {
            const struct nnv_operand *x = &b->s->operands[i];
            const double v = (double)(e % SMALL) + 1;
            if (is_tensor_of_t(b->slots[i]))
                nnv_store(x->type, &v, 1, (char *)b->values[i].data + e * nnv_type(x->type)->size);
        }
    }
    return any;
}
