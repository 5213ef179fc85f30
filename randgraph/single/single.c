/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/single.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "randgraph/control.h"
#include "randgraph/single/cover.h"
#include "randgraph/single/draft.h"
#include "randgraph/single/layers.h"
#include "randgraph/single/parts.h"
#include "randgraph/single/quant.h"
#include "randgraph/single/scales.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

enum { ATTEMPTS = 5 };

static int32_t main_type(const struct nnv_op *op, int sig) { return op->sigs[sig].type[NNV_T]; }

/* ------------------------------------------------------------------------ the spec */

/* Takes the text as the words of the case. */
static enum nnv_status set_words(struct nnv_single_draft *b, struct nnv_text *text, struct nnv_err *err) {
    b->attributes = text->data ? nnv_arena_strdup(b->arena, text->data) : NULL;
    nnv_text_free(text);
    return b->attributes ? NNV_OK : nnv_no_memory(err);
}

/* Gives the sample a row of attributes, and adds its words if they are wanted. */
static enum nnv_status take_row(struct nnv_single_draft *b, const int32_t *row, struct nnv_text *words,
                                struct nnv_err *err) {
    const uint8_t n = b->what->op->nfactors;
    if (!(b->sample->row = nnv_arena_copy(b->arena, row, n * sizeof *row))) return nnv_no_memory(err);
    if (!b->wordless) nnv_cover_add_text(b->what->op->factors, n, row, words);
    return NNV_OK;
}

/* The quantisations of the row. Where the results said nothing, the zero point of the output is usual, then there is no
 * activation, then all is usual. */
static enum nnv_status set_scales(struct nnv_single_draft *b, int attempt, struct nnv_err *err) {
    enum { FIRST_TRIES = 2, ACTIVATED = 3, TRIES = 4 };
    const struct nnv_single *w = b->what;
    struct nnv_text text = {0};
    int32_t row[NNV_SCALE_FACTORS], attributes[NNV_MAX_FACTORS];
    b->sample->variant = w->index % nnv_single_variants(w->op);
    b->scales = NULL;
    enum nnv_status st = nnv_single_scaled_row(w, attributes) ? take_row(b, attributes, &text, err) : NNV_OK;
    if (st) return st;
    if (text.data) nnv_text_add(&text, " ");
    if (attempt >= TRIES) return text.data ? set_words(b, &text, err) : NNV_OK;
    nnv_scales_row(w->op, w->sig, (size_t)(unsigned)w->index, row);
    if (attempt >= FIRST_TRIES) row[NNV_SCALE_ZERO_OUT] = NNV_ZERO_INSIDE;
    if (attempt >= ACTIVATED) row[NNV_SCALE_ACTIVATION] = ANEURALNETWORKS_FUSED_NONE;
    b->sample->fused = 1 + row[NNV_SCALE_ACTIVATION];
    b->scales = nnv_arena_copy(b->arena, row, sizeof row);
    if (!b->scales) return nnv_no_memory(err);
    nnv_scales_add_text(w->op, w->sig, row, &text);
    return set_words(b, &text, err);
}

/* Gives the sample the row, and the spec its words. */
static enum nnv_status set_row(struct nnv_single_draft *b, int attempt, struct nnv_err *err) {
    int32_t row[NNV_MAX_FACTORS];
    const struct nnv_op *op = b->what->op;
    struct nnv_text text = {0};
    if (b->what->plan == NNV_PLAN_VARIANT) return NNV_OK;
    if (b->what->plan == NNV_PLAN_INPUTS || b->what->plan == NNV_PLAN_CONSTANTS) {
        b->sample->variant = b->what->index / 2 % nnv_single_variants(op);
        return NNV_OK;
    }
    if (b->what->plan == NNV_PLAN_SCALES) return set_scales(b, attempt, err);
    enum nnv_status st = nnv_single_row(b->what, row, err);
    if (st) return st;
    st = take_row(b, row, &text, err);
    return st || b->wordless ? st : set_words(b, &text, err);
}

static enum nnv_status draw(struct nnv_single_draft *b, int attempt, struct nnv_err *err) {
    const struct nnv_single *w = b->what;
    const uint64_t key = nnv_single_key(b), place = (uint64_t)(unsigned)w->index * 64 + (uint64_t)attempt;
    struct nnv_sample *s = b->sample = NNV_NEW(b->arena, struct nnv_sample, 1);
    if (!s) return nnv_no_memory(err);
    s->op = w->op; /* one by one: it is large, and zeroed */
    s->sig = &w->op->sigs[w->sig];
    s->variant = w->mode == NNV_FILL_REFUSED ? nnv_single_refused_variant(w) : w->variant;
    s->index = w->index;
    s->exact = w->mode == NNV_FILL_EXACT;
    s->empty = w->mode == NNV_FILL_ZERO;
    s->rng = nnv_rng_make(w->seed, key, place);
    s->arena = b->arena;
    s->form = w->op->forms;
    s->fused = nnv_sweep_fused(w);
    b->rng = nnv_rng_make(w->seed, key + 1, place);
    enum nnv_status st = set_row(b, attempt, err);
    if (st) return st;
    w->op->sample(b->sample);
    if (b->sample->nout == 0) b->sample->nout = b->sample->form->nout;
    const bool sweeps = w->mode == NNV_FILL_SWEEP || w->mode == NNV_FILL_LIMITS;
    if (sweeps && nnv_single_is_elementwise(w->op)) nnv_sweep_shape(b);
    return NNV_OK;
}

static enum nnv_status start_spec(struct nnv_single_draft *b, struct nnv_err *err) {
    const struct nnv_form *f = b->sample->form;
    uint32_t nout = b->sample->nout, room = f->nin + b->sample->nrep + nout;
    struct nnv_spec *spec = b->spec = NNV_NEW(b->arena, struct nnv_spec, 1);
    b->values = NNV_NEW(b->arena, struct nnv_value, room);
    b->slots = NNV_NEW(b->arena, const struct nnv_slot *, room);
    if (!spec || !b->values || !b->slots) return nnv_no_memory(err);
    spec->name = b->what->name;
    spec->source = b->attributes;
    spec->exact = b->what->mode == NNV_FILL_EXACT;
    spec->model.relaxed = b->what->relaxed;
    b->s = &spec->model.main;
    b->s->operands = NNV_NEW(b->arena, struct nnv_operand, room);
    b->s->operations = NNV_NEW(b->arena, struct nnv_operation, 1);
    b->s->noperations = 1;
    b->s->in = NNV_NEW(b->arena, uint32_t, room);
    b->s->out = NNV_NEW(b->arena, uint32_t, nout);
    spec->inputs = NNV_NEW(b->arena, struct nnv_value, room);
    spec->outputs = NNV_NEW(b->arena, struct nnv_value, nout);
    if (!b->s->operands || !b->s->operations || !b->s->in || !b->s->out || !spec->inputs || !spec->outputs)
        return nnv_no_memory(err);
    return NNV_OK;
}

/* Gives output i the quantisation of the input that the hook named; false if it named none. */
static bool quantised_as(const struct nnv_single_draft *b, uint32_t i, struct nnv_operand *o) {
    uint8_t as = i < NNV_MAX_OUT_AS ? b->sample->out_as[i] : 0;
    return as && nnv_quant_as(as - 1, b->slots, b->s->operands, b->s->operations[0].nin, o);
}

/* Output operands of unknown shape with a quantisation that will do for the first evaluation. */
static enum nnv_status add_outputs(struct nnv_single_draft *b, struct nnv_err *err) {
    const struct nnv_form *f = b->sample->form;
    struct nnv_operation *op = b->s->operations;
    op->type = b->what->op->code;
    op->nin = b->s->noperands;
    op->in = NNV_NEW(b->arena, uint32_t, op->nin);
    op->out = b->s->out;
    op->nout = b->s->nout = b->sample->nout;
    if (!op->in) return nnv_no_memory(err);
    for (uint32_t i = 0; i < op->nin; i++) {
        op->in[i] = i;
        if (b->s->operands[i].lifetime != NNV_SUBGRAPH_INPUT) continue;
        b->spec->inputs[b->s->nin] = b->values[i];
        b->s->in[b->s->nin++] = i;
    }
    for (uint32_t i = 0; i < op->nout; i++) {
        const struct nnv_slot *slot = nnv_out_slot(f, i);
        struct nnv_operand *o = &b->s->operands[b->s->noperands];
        o->type = nnv_single_slot_type(b, slot);
        o->lifetime = NNV_SUBGRAPH_OUTPUT;
        o->ignored = slot->flags & NNV_IGNORED;
        if (!quantised_as(b, i, o)) nnv_quant_placeholder(slot, b->s->operands, o);
        b->s->out[i] = b->s->noperands++;
    }
    return NNV_OK;
}

static enum nnv_status evaluate(const struct nnv_single_draft *b, struct nnv_golden *golden, struct nnv_err *err) {
    static const struct nnv_eval_options options = {.rows = 0};
    return nnv_eval(&b->spec->model, b->spec->inputs, &options, b->arena, golden, err);
}

static void range_of(const struct nnv_golden *g, size_t n, double *lo, double *hi) {
    *lo = *hi = 0;
    for (size_t i = 0; i < n; i++) {
        if (g->exact[i] < *lo && isfinite(g->exact[i])) *lo = g->exact[i];
        if (g->exact[i] > *hi && isfinite(g->exact[i])) *hi = g->exact[i];
    }
}

/* Chooses the quantisation of the outputs from the range of the results, or (golden NULL) a likely one; *changed if it
 * differs from before. */
static void choose_outputs(struct nnv_single_draft *b, const struct nnv_golden *golden, bool *changed) {
    const struct nnv_form *f = b->sample->form;
    for (uint32_t i = 0; i < b->s->nout; i++) {
        const struct nnv_slot *slot = nnv_out_slot(f, i);
        struct nnv_operand *o = &b->s->operands[b->s->out[i]];
        if (!nnv_is_quant(o->type) || slot->quant != NNV_Q_FREE || quantised_as(b, i, o)) continue;
        struct nnv_quant_choice q = {.mode = b->what->mode,
                                     .slot = slot,
                                     .operands = b->s->operands,
                                     .linear = b->what->op->rounding == NNV_ROUND_LINEAR && b->s->operations[0].nin > 1,
                                     .index = b->what->index,
                                     .scales = b->scales,
                                     .like = {b->like[0], b->like[1]},
                                     .wanted_scale = i || nnv_single_scales_all(b) ? 0 : b->sample->out_scale,
                                     .wanted_zero_point = b->sample->out_zero_point};
        if (golden)
            range_of(&golden[i], golden[i].value.bytes / nnv_type(o->type)->size, &q.lo, &q.hi);
        else
            nnv_results_guess(b, &q.lo, &q.hi);
        nnv_quant_output(&q, &b->rng, o);
        *changed = true;
    }
}

static enum nnv_status declare_shapes(const struct nnv_single_draft *b, const struct nnv_golden *golden,
                                      struct nnv_err *err) {
    for (uint32_t i = 0; i < b->s->nout; i++) {
        struct nnv_operand *o = &b->s->operands[b->s->out[i]];
        o->rank = golden[i].value.rank;
        o->dims = nnv_arena_copy(b->arena, golden[i].value.dims, o->rank * sizeof *o->dims);
        if (!o->dims) return nnv_no_memory(err);
        if (b->what->op->sizes && b->what->index % 2) o->dims[0] = 0; /* for the driver to find out */
    }
    return NNV_OK;
}

/* Validates; a record that wants the output scale above the product of the inputs' gets it. */
static enum nnv_status settle(struct nnv_single_draft *b, struct nnv_err *err) {
    struct nnv_err first = {0};
    enum nnv_status st = nnv_validate(&b->spec->model, b->arena, &b->level, &first);
    if (st == NNV_INVALID && nnv_quant_raise(b->sample->form, b->s))
        return nnv_validate(&b->spec->model, b->arena, &b->level, err);
    return st ? nnv_fail(err, st, "%s", first.text) : NNV_OK;
}

static enum nnv_status finish(struct nnv_single_draft *b, struct nnv_golden *golden, struct nnv_err *err) {
    const bool sums = b->what->op->rounding == NNV_ROUND_LINEAR; /* others may ask for the output's quantisation */
    bool changed = false;
    enum nnv_status st = evaluate(b, golden, err);
    if (st) return st;
    choose_outputs(b, golden, &changed);
    st = declare_shapes(b, golden, err);
    if (!st) st = settle(b, err);
    if (!st && changed && sums) nnv_results_requantise(b, golden);
    if (!st && changed && !sums) st = evaluate(b, golden, err);
    for (uint32_t i = 0; !st && i < b->s->nout; i++) b->spec->outputs[i] = golden[i].value;
    if (st) return st;
    if (b->what->mode == NNV_FILL_ZERO && b->level < 3) b->level = 3; /* real extents of zero came with it */
    b->spec->min_version = b->level;
    return NNV_OK;
}

static enum nnv_status begin_control(struct nnv_single_draft *b, struct nnv_err *err) {
    struct nnv_control c = {.what = b->what, .sample = b->sample, .rng = b->rng, .magnitude = b->magnitude};
    return nnv_control_build(&c, b->arena, &b->spec, err);
}

/* Control flow comes with subgraphs, and says itself what shapes it leaves open. */
static enum nnv_status attempt_control(struct nnv_single_draft *b, struct nnv_golden **golden, struct nnv_err *err) {
    enum nnv_status st = begin_control(b, err);
    if (st) return st;
    b->s = &b->spec->model.main;
    b->spec->outputs = NNV_NEW(b->arena, struct nnv_value, b->s->nout);
    *golden = NNV_NEW(b->arena, struct nnv_golden, b->s->nout);
    if (!b->spec->outputs || !*golden) return nnv_no_memory(err);
    st = nnv_validate(&b->spec->model, b->arena, &b->spec->min_version, err);
    if (!st) st = evaluate(b, *golden, err);
    for (uint32_t i = 0; !st && i < b->s->nout; i++) b->spec->outputs[i] = (*golden)[i].value;
    return st;
}

/* The spec but for its results. */
static enum nnv_status begin(struct nnv_single_draft *b, struct nnv_err *err) {
    enum nnv_status st = start_spec(b, err);
    if (!st) st = nnv_single_add_inputs(b, err);
    return st ? st : add_outputs(b, err);
}

static enum nnv_status attempt(struct nnv_single_draft *b, int n, struct nnv_golden **golden, struct nnv_err *err) {
    enum nnv_status st = draw(b, n, err);
    if (!st && b->what->op->check_subgraphs) return attempt_control(b, golden, err);
    if (!st) st = begin(b, err);
    if (st) return st;
    *golden = NNV_NEW(b->arena, struct nnv_golden, b->s->nout);
    return *golden ? finish(b, *golden, err) : nnv_no_memory(err);
}

static int attempts_of(const struct nnv_op *op) { return op->sizes ? 4 * ATTEMPTS : ATTEMPTS; }

/* The results for the absolute values of all inputs bound every partial sum of a linear operation. */
static enum nnv_status partial_sums(const struct nnv_single_draft *b, double *most, struct nnv_err *err) {
    struct nnv_single_draft a = *b;
    struct nnv_golden *golden = NNV_NEW(b->arena, struct nnv_golden, b->s->nout);
    if (!golden) return nnv_no_memory(err);
    enum nnv_status st = nnv_exact_absolute(b->spec, b->slots, b->arena, &a.spec, err);
    if (!st) st = evaluate(&a, golden, err);
    if (st) return st;
    *most = 0;
    for (uint32_t i = 0; i < b->s->nout; i++) {
        double lo, hi;
        range_of(&golden[i], golden[i].value.bytes / nnv_type(b->s->operands[b->s->out[i]].type)->size, &lo, &hi);
        if (hi > *most) *most = hi;
    }
    return NNV_OK;
}

/* Integers up to here, and sums of them, are exact: in float16 with its 11 bits, in 8 bits beside a zero point. */
static double exact_limit(const struct nnv_single_draft *b) {
    int32_t type = b->s->operands[b->s->out[0]].type;
    if (nnv_type(type)->kind == NNV_KIND_INT) return nnv_type(type)->max;
    if (nnv_is_quant(type)) return 90;
    if (nnv_type(type)->size == 2 || b->what->relaxed) return 2048;
    return 16777216;
}

static enum nnv_status exact_case(struct nnv_single_draft *b, struct nnv_err *err) {
    struct nnv_golden *golden;
    const bool integers = nnv_type(main_type(b->what->op, b->what->sig))->kind == NNV_KIND_INT;
    for (b->magnitude = integers ? 0x7fff : 8, b->density = 1; b->density > 0.001;) {
        double most = 0;
        enum nnv_status st = attempt(b, 0, &golden, err);
        if (!st) st = partial_sums(b, &most, err);
        if (st || most <= exact_limit(b)) return st;
        /* both factors of a product shrink */
        while (most > exact_limit(b)) {
            most /= 4;
            if (b->magnitude > 1)
                b->magnitude = floor(b->magnitude / 2);
            else
                b->density /= 2;
        }
    }
    return nnv_fail(err, NNV_INTERNAL, "no exact values were found: the sample hook makes the sums too long");
}

/* It neither computes nor orders: a NaN stays what it is. NNAPI does not say what clamps and orders make of it. */
static bool only_moves(const struct nnv_single_draft *b) {
    const struct nnv_op *op = b->what->op;
    if (op->moves) return true;
    for (uint8_t i = 0; i < op->forms->nin; i++)
        if (op->forms->in[i].rule == NNV_FUSE) return false;
    return !nnv_single_is_elementwise(op) && !nnv_single_has_limits(op, b->what->sig);
}

static enum nnv_status edge_case(struct nnv_single_draft *b, struct nnv_err *err) {
    int32_t type = main_type(b->what->op, b->what->sig);
    bool half = type == ANEURALNETWORKS_TENSOR_FLOAT16 || b->what->relaxed;
    bool exact = b->what->op->rounding == NNV_ROUND_NONE || b->what->op->unary;
    b->magnitude = half ? (exact ? 60000 : 64) : 0x1p30;
    struct nnv_golden *golden;
    enum nnv_status st = NNV_OK;
    for (int n = 0; !st && n < attempts_of(b->what->op); n++, b->magnitude = floor(sqrt(b->magnitude))) {
        st = attempt(b, n, &golden, err);
        if (!st && nnv_results_finite(b) && !nnv_results_open(b) && nnv_results_comparable(b)) break;
    }
    const bool any = nnv_single_takes_any(b->what->op), exactly = any || b->what->op->rounding == NNV_ROUND_NONE;
    const bool plain = exactly && !b->what->op->check_subgraphs && !b->what->op->sizes;
    if (!st && plain && (b->what->index + b->what->variant) % 2 == 1)
        nnv_infinite_values(b->spec, any || only_moves(b), any, b->arena);
    return st;
}

/* Draws until the results say something; of sweeps and limits, what INT32 cannot hold the results of is replaced. */
static enum nnv_status telling_case(struct nnv_single_draft *b, struct nnv_err *err) {
    const enum nnv_fill_mode mode = b->what->mode;
    struct nnv_golden *golden = NULL;
    enum nnv_status st = NNV_OK;
    for (int n = 0; !st && n < attempts_of(b->what->op); n++) {
        st = attempt(b, n, &golden, err);
        bool says = st || mode != NNV_FILL_NORMAL || (nnv_results_finite(b) && !nnv_results_constant(b));
        if (!st && says && mode == NNV_FILL_NORMAL && nnv_results_few(b)) says = nnv_results_comparable(b);
        if (!st && says && !nnv_results_open(b)) break;
    }
    const bool swept = mode == NNV_FILL_LIMITS || mode == NNV_FILL_SWEEP;
    return !st && swept && nnv_sweep_tame(b, golden) ? finish(b, golden, err) : st;
}

/* Large numbers, which become smaller until their results are compared: of float16 their sums fit. Where none is,
 * as of tensors of zeros, numbers without a pattern. */
static enum nnv_status large_case(struct nnv_single_draft *b, struct nnv_err *err) {
    enum { TRIES = 12 };
    const struct nnv_type *t = nnv_type(main_type(b->what->op, b->what->sig));
    const bool half = t->kind == NNV_KIND_FLOAT && t->size == 2, lines = b->what->mode == NNV_FILL_LINES;
    struct nnv_golden *golden;
    enum nnv_status st = NNV_OK;
    b->magnitude = t->kind == NNV_KIND_INT ? 0x1000001 : lines ? (half ? 64 : 10000) : half ? 2000 : 10000;
    if (b->what->mode == NNV_FILL_LIMITS) b->magnitude = t->max;
    for (int n = 0; !st && n < TRIES; n++) {
        st = attempt(b, n, &golden, err);
        if (!st && nnv_results_comparable(b)) return st;
        b->magnitude = b->magnitude > 65536 ? 65536 : b->magnitude / 4;
    }
    struct nnv_single *plain = nnv_arena_copy(b->arena, b->what, sizeof *plain);
    if (st || b->what->mode == NNV_FILL_LIMITS) return st;
    if (!plain) return nnv_no_memory(err);
    plain->mode = NNV_FILL_NORMAL;
    b->what = plain;
    b->magnitude = 1;
    return telling_case(b, err);
}

enum nnv_status nnv_single_model(const struct nnv_single *what, struct nnv_arena *arena, struct nnv_spec **spec,
                                 struct nnv_err *err) {
    struct nnv_single_draft b = {.what = what, .arena = arena, .magnitude = 1, .density = 1};
    bool known = false, changed = false;
    if (what->op->check_subgraphs || what->op->sizes) return nnv_single_build(what, arena, spec, err);
    enum nnv_status st = draw(&b, 0, err);
    if (!st) st = begin(&b, err);
    if (!st) st = nnv_results_infer(&b, &known, err);
    if (!st && !known) return nnv_single_build(what, arena, spec, err);
    if (!st) choose_outputs(&b, NULL, &changed);
    if (!st) st = settle(&b, err);
    if (st) return nnv_at(err, st, "%s", what->name ? what->name : what->op->name);
    b.spec->min_version = b.level;
    b.spec->outputs = NULL;
    *spec = b.spec;
    return NNV_OK;
}

enum nnv_status nnv_single_build(const struct nnv_single *what, struct nnv_arena *arena, struct nnv_spec **spec,
                                 struct nnv_err *err) {
    struct nnv_single_draft b = {.what = what, .arena = arena, .magnitude = 1, .density = 1};
    enum nnv_status st = NNV_OK;
    if (what->mode == NNV_FILL_EXACT)
        st = exact_case(&b, err);
    else if (what->mode == NNV_FILL_EDGE)
        st = edge_case(&b, err);
    else if (what->mode == NNV_FILL_LINES || what->mode == NNV_FILL_HIGH ||
             (what->mode == NNV_FILL_LIMITS && !nnv_single_is_elementwise(what->op)))
        st = large_case(&b, err);
    else
        st = telling_case(&b, err);
    if (!st && what->mode == NNV_FILL_REFUSED) st = nnv_single_refuse(&b, err);
    if (st) return nnv_at(err, st == NNV_INVALID ? NNV_INTERNAL : st, "%s", what->name ? what->name : what->op->name);
    *spec = b.spec;
    return NNV_OK;
}

/* The drawn use reads a tensor of like's type and rank that it does not want as a constant. */
static bool takes(const struct nnv_single_draft *b, const struct nnv_operand *like) {
    const struct nnv_sample *s = b->sample;
    for (uint8_t i = 0; i < s->form->nin; i++) {
        const struct nnv_slot *slot = &s->form->in[i];
        const struct nnv_sample_arg *a = slot->flags & NNV_REPEAT ? &s->rep[0] : &s->arg[slot->id];
        if (!(slot->flags & NNV_SCALAR) && a->set && a->rank == like->rank &&
            nnv_single_slot_type(b, slot) == like->type && !nnv_single_is_constant(b, slot, a))
            return true;
    }
    return false;
}

uint32_t nnv_single_ranks(const struct nnv_single *what, int32_t type, struct nnv_arena *arena) {
    struct nnv_single_draft b = {.what = what, .arena = arena, .wordless = true, .magnitude = 1, .density = 1};
    struct nnv_operand like = {.type = type};
    uint32_t ranks = 0;
    if (what->op->check_subgraphs || draw(&b, 0, NULL) != NNV_OK) return UINT32_MAX;
    for (like.rank = 1; like.rank <= 8; like.rank++) ranks |= (uint32_t)takes(&b, &like) << like.rank;
    return ranks;
}

enum nnv_status nnv_single_draw(const struct nnv_single *what, const struct nnv_operand *like, struct nnv_arena *arena,
                                struct nnv_spec **spec, struct nnv_err *err) {
    enum { DRAWS = 8 };
    struct nnv_single w = *what;
    struct nnv_single_draft b = {.what = &w, .arena = arena, .wordless = true, .magnitude = 1, .density = 1};
    enum nnv_status st = NNV_OK;
    bool fits = false;
    *spec = NULL;
    for (int n = 0; n < DRAWS && !st && !fits; n++, w.index += !fits) {
        st = draw(&b, 0, err);
        fits = !st && (w.op->check_subgraphs || takes(&b, like));
    }
    if (!st && !fits) return NNV_OK;
    if (!st) st = what->op->check_subgraphs ? begin_control(&b, err) : begin(&b, err);
    if (st) return nnv_at(err, st, "%s", what->name ? what->name : what->op->name);
    *spec = b.spec;
    return NNV_OK;
}
