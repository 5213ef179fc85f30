/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/datasheet/support/draw.h"

#include <math.h>
#include <string.h>

#include "randgraph/single/cover.h"
#include "reference/model/validate.h"

enum {
    VARIANT_TURNS = 4,  /* models of each variant */
    MOST_VARIANTS = 96, /* in all */
    MOST_OF_PLAN = 160,
    FRESH_PLACE = 1 << 16, /* indices of fresh models are beyond those of the first */
};

static void add(const struct nnv_probe *p, struct nnv_probe *out, size_t room, size_t *n) {
    if (*n < room) out[(*n)++] = *p;
}

/** The models of a plan, evenly spread where there are too many. */
static void add_plan(const struct nnv_single *w, enum nnv_plan plan, struct nnv_probe *out, size_t room, size_t *n) {
    const int all = nnv_single_planned(w->op, w->sig, plan), most = all < MOST_OF_PLAN ? all : MOST_OF_PLAN;
    for (int i = 0; i < most; i++) {
        struct nnv_probe p = {.what = *w};
        p.what.plan = plan;
        p.what.index = (int)((int64_t)i * all / most);
        add(&p, out, room, n);
    }
}

static void add_row(const struct nnv_single *w, const int32_t *row, int index, struct nnv_probe *out, size_t room,
                    size_t *n) {
    struct nnv_probe p = {.what = *w, .has_row = true};
    p.what.plan = NNV_PLAN_ROW;
    p.what.index = index;
    memcpy(p.row, row, w->op->nfactors * sizeof *row);
    add(&p, out, room, n);
}

size_t nnv_probes_first(const struct nnv_op *op, int sig, uint64_t seed, struct nnv_probe *out, size_t room) {
    const struct nnv_single w = {.op = op, .sig = sig, .seed = seed};
    const struct nnv_cover *cover = nnv_cover_of(op);
    const int variants = nnv_single_variants(op);
    size_t n = 0, which;
    int32_t row[NNV_MAX_FACTORS];
    for (size_t i = 0; i < cover->nrows; i++) add_row(&w, cover->values + i * op->nfactors, (int)i, out, room, &n);
    for (size_t i = 0; i < nnv_cover_sizes(op); i++) {
        nnv_cover_size_row(op, i, row, &which);
        add_row(&w, row, (int)(cover->nrows + i), out, room, &n);
    }
    add_plan(&w, NNV_PLAN_LAYER, out, room, &n);
    add_plan(&w, NNV_PLAN_INPUTS, out, room, &n);
    add_plan(&w, NNV_PLAN_SCALES, out, room, &n);
    for (int i = 0; i < VARIANT_TURNS * variants && i < MOST_VARIANTS; i++) {
        struct nnv_probe p = {.what = w};
        p.what.variant = i % variants;
        p.what.index = i / variants;
        add(&p, out, room, &n);
    }
    return n;
}

/* ------------------------------------------------------------------------- fresh */

static int32_t listed(const struct nnv_factor *f, struct nnv_rng *rng) {
    return f->values[nnv_rng_int(rng, 0, f->n - 1)];
}

/** Any number from one listed value to another; words have no numbers between. */
static int32_t between(const struct nnv_factor *f, struct nnv_rng *rng) {
    const int32_t a = listed(f, rng), b = listed(f, rng);
    if (f->words) return a;
    if (!f->pair) return (int32_t)nnv_rng_int(rng, a < b ? a : b, a < b ? b : a);
    const int32_t h[] = {nnv_pair_height(a), nnv_pair_height(b)}, w[] = {nnv_pair_width(a), nnv_pair_width(b)};
    const int32_t height = (int32_t)nnv_rng_int(rng, h[h[1] < h[0]], h[h[0] <= h[1]]);
    const int32_t width = (int32_t)nnv_rng_int(rng, w[w[1] < w[0]], w[w[0] <= w[1]]);
    return NNV_PAIR(height, width);
}

static int32_t changed(const struct nnv_factor *f, struct nnv_rng *rng) {
    const double u = nnv_rng_unit(rng);
    if (f->nsizes > 0 && u < 0.25) return f->sizes[nnv_rng_int(rng, 0, f->nsizes - 1)];
    return u < 0.6 ? listed(f, rng) : between(f, rng);
}

/** A model by a row: one that is known with one or two factors changed, or any listed values, one of them changed. */
static void draw_row(struct nnv_probe *p, struct nnv_rng *rng, const struct nnv_probe *base) {
    const struct nnv_op *op = p->what.op;
    const bool near = base && base->has_row && nnv_rng_unit(rng) < 0.7;
    const int changes = (int)nnv_rng_int(rng, 1, near ? 2 : 1);
    for (uint8_t f = 0; f < op->nfactors; f++) p->row[f] = near ? base->row[f] : listed(&op->factors[f], rng);
    for (int i = 0; i < changes; i++) {
        const int64_t f = nnv_rng_int(rng, 0, op->nfactors - 1);
        p->row[f] = changed(&op->factors[f], rng);
    }
    p->has_row = true;
    p->what.plan = NNV_PLAN_ROW;
}

static bool has_free_scale(const struct nnv_op *op, int sig) {
    return nnv_single_planned(op, sig, NNV_PLAN_SCALES) > 0 && nnv_out_slot(op->forms, 0)->quant == NNV_Q_FREE;
}

/** The same with a result of another scale, far smaller or larger. */
static struct nnv_probe stretched(const struct nnv_probe *base, struct nnv_rng *rng) {
    enum { OCTAVES = 20 };
    struct nnv_probe p = *base;
    p.stretch = exp2(nnv_rng_uniform(rng, -OCTAVES, OCTAVES));
    return p;
}

struct nnv_probe nnv_probe_fresh(const struct nnv_op *op, int sig, uint64_t seed, uint32_t round, uint32_t k,
                                 const struct nnv_probe *base) {
    struct nnv_rng rng = nnv_rng_make(seed, nnv_hash_str(op->name) + (uint64_t)sig, (uint64_t)round << 32 | k);
    struct nnv_probe p = {.what = {.op = op, .sig = sig, .seed = seed}};
    const double u = nnv_rng_unit(&rng);
    if (base && k % 6 == 4 && has_free_scale(op, sig)) return stretched(base, &rng);
    p.what.index = (int)(FRESH_PLACE + (round << 10 | k));
    if (op->nfactors > 0 && u < 0.75) {
        draw_row(&p, &rng, base);
    } else if (u > 0.92 && nnv_single_planned(op, sig, NNV_PLAN_SCALES) > 0) {
        p.what.plan = NNV_PLAN_SCALES;
    } else if (u > 0.84 && nnv_single_planned(op, sig, NNV_PLAN_INPUTS) > 0) {
        p.what.plan = NNV_PLAN_INPUTS;
    } else {
        p.what.variant = (int)nnv_rng_int(&rng, 0, nnv_single_variants(op) - 1);
    }
    return p;
}

struct nnv_spec *nnv_probe_make(const struct nnv_probe *p, struct nnv_arena *arena) {
    struct nnv_single what = p->what;
    struct nnv_spec *spec = NULL;
    what.row = p->has_row ? p->row : NULL;
    what.name = what.op->name;
    if (nnv_single_model(&what, arena, &spec, NULL) != NNV_OK) return NULL;
    if (p->stretch <= 0 && !p->has_zero) return spec;
    struct nnv_subgraph *s = &spec->model.main;
    const struct nnv_operand first = s->operands[0];
    for (uint32_t i = 0; i < s->noperands && p->has_zero; i++) {
        struct nnv_operand *o = &s->operands[i];
        if (o->type == first.type && o->scale == first.scale && o->zero_point == first.zero_point)
            o->zero_point = p->zero_point;
    }
    if (p->stretch > 0) s->operands[s->out[0]].scale *= (float)p->stretch;
    return nnv_validate(&spec->model, arena, &spec->min_version, NULL) == NNV_OK ? spec : NULL;
}

bool nnv_probe_between(const struct nnv_op *op, struct nnv_probe *p, size_t f, int part, double from, double to) {
    const struct nnv_factor *factor = &op->factors[f];
    const int32_t now = p->row[f];
    const int32_t value = !factor->pair ? now : part == 0 ? nnv_pair_height(now) : nnv_pair_width(now);
    const int32_t middle = (int32_t)floor((from + to) / 2);
    if (!p->has_row || factor->words || (value != (int32_t)from && value != (int32_t)to)) return false;
    p->row[f] = !factor->pair ? middle
                : part == 0   ? NNV_PAIR(middle, nnv_pair_width(now))
                              : NNV_PAIR(nnv_pair_height(now), middle);
    return true;
}
