/* SPDX-License-Identifier: Apache-2.0 */
/* Which cases an operation has, and what they are called. */
#include <stdio.h>
#include <string.h>

#include "randgraph/control.h"
#include "randgraph/single/cover.h"
#include "randgraph/single/draft.h"
#include "randgraph/single/layers.h"
#include "randgraph/single/scales.h"
#include "reference/model/op_doc.h"

static int32_t main_type(const struct nnv_op *op, int sig) { return op->sigs[sig].type[NNV_T]; }

int nnv_single_variants(const struct nnv_op *op) {
    int n = 0;
    while (op->variants[n]) n++;
    return n;
}

/* Something that is usually a constant of the model, and need not be. */
static bool has_parameters(const struct nnv_op *op) {
    for (uint8_t f = 0; !op->check_subgraphs && f < op->nforms; f++)
        for (uint8_t i = 0; i < op->forms[f].nin; i++)
            if (op->forms[f].in[i].flags & (NNV_PARAM | NNV_SCALAR)) return true;
    return false;
}

int nnv_single_planned(const struct nnv_op *op, int sig, enum nnv_plan plan) {
    int32_t row[NNV_MAX_FACTORS];
    switch (plan) {
    case NNV_PLAN_COVER:
        return (int)nnv_cover_of(op)->nrows;
    case NNV_PLAN_SIZE:
        return (int)nnv_cover_sizes(op);
    case NNV_PLAN_WIDTH:
        return (int)nnv_cover_widths(op);
    case NNV_PLAN_LAYER:
    case NNV_PLAN_NETWORK:
        return (int)nnv_layer_count(op);
    case NNV_PLAN_LARGE:
        return (int)nnv_cover_large_rows(op);
    case NNV_PLAN_HUGE:
        return nnv_cover_huge_row(op, row);
    case NNV_PLAN_INPUTS:
        return has_parameters(op) ? 2 * nnv_single_variants(op) : 0;
    case NNV_PLAN_SCALES:
        return (int)nnv_scales_rows(op, sig);
    case NNV_PLAN_CONSTANTS:
        return nnv_constants_planned(op);
    case NNV_PLAN_ROW:
    case NNV_PLAN_VARIANT:
    case NNV_PLAN_COUNT:
        break;
    }
    return 0;
}

enum nnv_status nnv_single_row(const struct nnv_single *w, int32_t row[NNV_MAX_FACTORS], struct nnv_err *err) {
    const struct nnv_cover *cover;
    const int planned = nnv_single_planned(w->op, w->sig, w->plan);
    size_t which, at = planned ? (size_t)(unsigned)w->index % (size_t)planned : 0;
    switch (w->plan) {
    case NNV_PLAN_COVER:
        cover = nnv_cover_of(w->op);
        memcpy(row, cover->values + at * w->op->nfactors, w->op->nfactors * sizeof *row);
        break;
    case NNV_PLAN_SIZE:
        nnv_cover_size_row(w->op, at, row, &which);
        break;
    case NNV_PLAN_WIDTH:
        nnv_cover_width_row(w->op, at, (size_t)(unsigned)w->sig + (size_t)w->seed, row);
        break;
    case NNV_PLAN_LAYER:
    case NNV_PLAN_NETWORK:
        return nnv_layer_row(w->op, at, w->plan == NNV_PLAN_LAYER, row, err);
    case NNV_PLAN_LARGE:
        nnv_cover_large_row(w->op, at, row);
        break;
    case NNV_PLAN_HUGE:
        nnv_cover_huge_row(w->op, row);
        break;
    case NNV_PLAN_ROW:
        memcpy(row, w->row, w->op->nfactors * sizeof *row);
        break;
    case NNV_PLAN_INPUTS:
    case NNV_PLAN_SCALES:
    case NNV_PLAN_CONSTANTS:
    case NNV_PLAN_VARIANT:
    case NNV_PLAN_COUNT:
        break;
    }
    return NNV_OK;
}

bool nnv_single_scales_all(const struct nnv_single_draft *b) {
    const struct nnv_op *op = b->what->op;
    return b->scales && (op->pairs || op->forms->in[0].flags & NNV_REPEAT);
}

bool nnv_single_scaled_row(const struct nnv_single *w, int32_t row[NNV_MAX_FACTORS]) {
    enum { USUAL = 1, COVERED = 3, OF = 4, STEP = 5 };
    const struct nnv_op *op = w->op;
    const struct nnv_cover *cover = nnv_cover_of(op);
    const int turn = (w->index + w->sig) % OF;
    if (cover->nrows == 0 || (turn != USUAL && turn != COVERED)) return false;
    const size_t at = (size_t)(unsigned)(w->index * STEP + w->sig) % cover->nrows;
    for (uint8_t f = 0; f < op->nfactors; f++)
        row[f] = turn == COVERED ? cover->values[at * op->nfactors + f] : op->factors[f].values[0];
    return true;
}

const char *nnv_plan_name(enum nnv_plan plan) {
    static const char *const names[NNV_PLAN_COUNT] = {
        [NNV_PLAN_VARIANT] = "",       [NNV_PLAN_COVER] = "cover",         [NNV_PLAN_SIZE] = "size",
        [NNV_PLAN_WIDTH] = "width",    [NNV_PLAN_LAYER] = "layer",         [NNV_PLAN_NETWORK] = "network",
        [NNV_PLAN_LARGE] = "size_64k", [NNV_PLAN_HUGE] = "size_16m",       [NNV_PLAN_INPUTS] = "all_inputs",
        [NNV_PLAN_SCALES] = "scales",  [NNV_PLAN_CONSTANTS] = "constants", [NNV_PLAN_ROW] = "row",
    };
    return names[plan];
}

const char *nnv_single_variant_name(const struct nnv_single *w, char *buf, size_t room) {
    if (w->plan == NNV_PLAN_VARIANT) return w->op->variants[w->variant];
    if (w->plan != NNV_PLAN_LAYER && w->plan != NNV_PLAN_NETWORK) return nnv_plan_name(w->plan);
    snprintf(buf, room, "%s/%s", nnv_plan_name(w->plan), nnv_layer_name(w->op, (size_t)(unsigned)w->index));
    return buf;
}

/* INT32 does not hold sums of so large numbers. */
static bool has_lines(const struct nnv_op *op, int sig) {
    if (!nnv_op_has_lines(op)) return false;
    if (op->rounding == NNV_ROUND_NONE) return nnv_single_has_limits(op, sig);
    return main_type(op, sig) != ANEURALNETWORKS_TENSOR_INT32;
}

bool nnv_single_has(const struct nnv_op *op, int sig, enum nnv_fill_mode mode) {
    switch (mode) {
    case NNV_FILL_NORMAL:
    case NNV_FILL_EDGE:
    case NNV_FILL_RAMP:
    case NNV_FILL_REFUSED:
        return true;
    case NNV_FILL_IMPULSE:
        return op->code != ANEURALNETWORKS_REDUCE_PROD; /* a product with zeros says nothing */
    case NNV_FILL_EXACT:
        return op->linear;
    case NNV_FILL_SWEEP:
        return nnv_single_sweep_cases(op, sig) > 0;
    case NNV_FILL_LIMITS:
        return nnv_single_has_limits(op, sig);
    case NNV_FILL_LINES:
    case NNV_FILL_HIGH:
        return has_lines(op, sig);
    case NNV_FILL_ZERO:
        return op->zero != NNV_ZERO_REFUSED && (!op->check_subgraphs || nnv_control_has_zero(main_type(op, sig)));
    case NNV_FILL_COUNT:
        break;
    }
    return false;
}

bool nnv_single_has_long_line(const struct nnv_single *w) {
    int32_t row[NNV_MAX_FACTORS];
    size_t which;
    if (w->plan != NNV_PLAN_SIZE) return false;
    nnv_cover_size_row(w->op, (size_t)(unsigned)w->index, row, &which);
    return row[which] >= NNV_LONG_LINE && !w->op->factors[which].pair;
}

bool nnv_single_has_uneven_lines(const struct nnv_single *w) {
    enum { VECTOR = 16, LONG = 300 };
    int32_t row[NNV_MAX_FACTORS];
    size_t which;
    nnv_cover_size_row(w->op, (size_t)(unsigned)w->index, row, &which);
    return w->op->factors[which].sums && !w->op->linear && w->op->rounding != NNV_ROUND_NONE && row[which] < LONG &&
           row[which] % VECTOR != 0;
}

bool nnv_single_has_long_sums(const struct nnv_single *w) {
    int32_t row[NNV_MAX_FACTORS];
    size_t which;
    nnv_cover_size_row(w->op, (size_t)(unsigned)w->index, row, &which);
    if (row[which] >= NNV_LONG_LINE && nnv_type(main_type(w->op, w->sig))->size > 1) return false; /* out of range */
    return w->op->factors[which].sums && w->op->rounding != NNV_ROUND_NONE;
}

bool nnv_single_is_first(const struct nnv_op *op, int sig) {
    for (int k = 0; k < sig; k++)
        if (op->sigs[k].type[NNV_T] == op->sigs[sig].type[NNV_T]) return false;
    return true;
}

bool nnv_single_relaxable(const struct nnv_op *op, int sig) {
    for (int v = 0; v < NNV_VARS; v++)
        if (nnv_op_uses(op, v) && op->sigs[sig].type[v] == ANEURALNETWORKS_TENSOR_FLOAT32) return true;
    return false;
}

static bool per_channel(const struct nnv_op *op, int sig) {
    return nnv_op_uses(op, NNV_W) && nnv_type(op->sigs[sig].type[NNV_W])->per_channel;
}

/* Alike as far as the first part of the name tells. */
static bool alike(const struct nnv_op *op, int a, int b) {
    return main_type(op, a) == main_type(op, b) && per_channel(op, a) == per_channel(op, b);
}

char *nnv_single_sig_name(const struct nnv_op *op, int sig, char *buf, size_t room) {
    size_t at = (size_t)snprintf(buf, room, "%s%s", nnv_type(main_type(op, sig))->tag,
                                 per_channel(op, sig) ? "_per_channel" : "");
    for (int v = NNV_T + 1; v < NNV_VARS; v++) {
        bool tells = false;
        for (int i = 0; nnv_op_uses(op, v) && i < op->nsigs; i++)
            tells |= alike(op, i, sig) && op->sigs[i].type[v] != op->sigs[sig].type[v];
        if (tells && at < room)
            at += (size_t)snprintf(buf + at, room - at, "_%s", nnv_type(op->sigs[sig].type[v])->tag);
    }
    return buf;
}

uint64_t nnv_single_key(struct nnv_single_draft *b) {
    const struct nnv_single *w = b->what;
    char sig[96], variant[96], key[256];
    const bool by_index = w->plan == NNV_PLAN_LAYER || w->plan == NNV_PLAN_NETWORK; /* these name the variant by it */
    if (b->keyed == w && !by_index) return b->key;
    snprintf(key, sizeof key, "%s/%s/%s/%s", w->op->name, nnv_single_sig_name(w->op, w->sig, sig, sizeof sig),
             nnv_single_variant_name(w, variant, sizeof variant), nnv_fill_mode_name(w->mode));
    b->keyed = w;
    return b->key = nnv_hash_str(key);
}
