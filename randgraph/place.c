/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/place.h"

bool nnv_is_placed(enum nnv_fill_mode mode) {
    return mode == NNV_FILL_RAMP || mode == NNV_FILL_IMPULSE || mode == NNV_FILL_LINES || mode == NNV_FILL_HIGH;
}

/* A large number with a small deviation. */
static double about(double large, struct nnv_rng *rng) { return large + (double)nnv_rng_int(rng, -1, 1); }

/* Lines of one kind each, in turn; j: place in the line. */
static double line_value(double lo, double hi, double large, size_t line, size_t j, size_t length,
                         struct nnv_rng *rng) {
    enum kind { ZERO, ONE_HOT, EQUAL, ABOUT, ALTERNATING, ONE_LOW, DRAWN, ONE_LARGE, MASKED, LAST_LARGE, KINDS };
    /* of the one that differs: also the last, which loops over whole vectors leave out */
    const size_t place = line / KINDS % 2 ? length - 1 : (line * 5 + 2) % length;
    switch ((enum kind)(line % KINDS)) {
    case ZERO:
        return 0;
    case ONE_HOT:
        return j == place ? hi : 0;
    case EQUAL:
        return lo + (hi - lo) * 0.75;
    case ABOUT:
        return about(large, rng);
    case ALTERNATING:
        return j % 2 ? lo : hi;
    case ONE_LOW:
        return j == place ? lo : hi;
    case ONE_LARGE:
        if (j == place) return large;
        break;
    case MASKED: /* as attention leaves out what stands behind a sentence */
        if (j > place) return -large;
        break;
    case LAST_LARGE: /* it outweighs all that whole vectors hold */
        if (j + 1 == length) return large;
        break;
    case DRAWN:
    case KINDS:
        break;
    }
    return nnv_rng_uniform(rng, lo, hi);
}

double nnv_place_value(const struct nnv_fill *f, double lo, double hi, double large, size_t i, size_t n,
                       struct nnv_rng *rng) {
    if (f->mode == NNV_FILL_IMPULSE) return i == n / 2 ? hi : lo > 0 ? lo : hi < 0 ? hi : 0;
    if (f->mode == NNV_FILL_LINES)
        return f->line == 0 ? about(large, rng)
                            : line_value(lo, hi, large, i / f->line + f->part, i % f->line, f->line, rng);
    if (f->mode == NNV_FILL_HIGH) return large * nnv_rng_uniform(rng, 0.75, 1);
    return n > 1 ? lo + (hi - lo) * (double)i / (double)(n - 1) : hi;
}
