/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/layers.h"

#include <string.h>

#include "randgraph/single/cover.h"

static const struct layer {
    int32_t code;
    const char *name, *values;
    bool heavy; /**< its weights are more than memory beside a processor holds: it is made no smaller */
} layers[] = {
#define LAYER(OP, NAME, VALUES) {ANEURALNETWORKS_##OP, NAME, VALUES, false},
#define HEAVY_LAYER(OP, NAME, VALUES) {ANEURALNETWORKS_##OP, NAME, VALUES, true},
#include "randgraph/single/layers.def"
#undef LAYER
#undef HEAVY_LAYER
};

static const struct layer *layer_of(const struct nnv_op *op, size_t i) {
    for (size_t k = 0; k < sizeof layers / sizeof *layers; k++)
        if (layers[k].code == op->code && i-- == 0) return &layers[k];
    return NULL;
}

size_t nnv_layer_count(const struct nnv_op *op) {
    size_t n = 0;
    while (layer_of(op, n)) n++;
    return n;
}

const char *nnv_layer_name(const struct nnv_op *op, size_t i) { return layer_of(op, i)->name; }

/* Factors that are numbers of channels and the like: of these a small layer has up to 64, and the same remainder. */
static bool is_width(const char *name) {
    static const char *const names[] = {"channels", "filters", "size",  "units", "inner",
                                        "input",    "batch",   "depth", "rows",  "columns"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static int32_t smaller(int32_t extent) {
    enum { MOST = 8 };
    return extent <= MOST ? extent : MOST + extent % 2;
}

/* The value of a small layer: images of at most 9x9, and windows as large as them. */
static int32_t small_value(const struct nnv_factor *f, int32_t v) {
    enum { WIDE = 64, WINDOW = 16, LANES = 8 };
    if (is_width(f->name)) return v <= WIDE ? v : WIDE + v % LANES;
    const bool window = strcmp(f->name, "window") == 0 && nnv_pair_height(v) > WINDOW;
    if (!window && strcmp(f->name, "image") != 0) return v;
    return NNV_PAIR(smaller(nnv_pair_height(v)), smaller(nnv_pair_width(v)));
}

enum nnv_status nnv_layer_row(const struct nnv_op *op, size_t i, bool small, int32_t row[NNV_MAX_FACTORS],
                              struct nnv_err *err) {
    const struct layer *l = layer_of(op, i);
    if (nnv_cover_parse(op->factors, op->nfactors, l->values, row, err) != NNV_OK) {
        nnv_at(err, NNV_INTERNAL, "layer %s", l->name);
        return NNV_INTERNAL;
    }
    for (uint8_t f = 0; small && !l->heavy && f < op->nfactors; f++) row[f] = small_value(&op->factors[f], row[f]);
    return NNV_OK;
}
