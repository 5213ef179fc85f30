/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/limits.h"

#include <float.h>
#include <math.h>

/* Of both signs: denormals and the smallest normals of both formats, clamps and their neighbours, halves, where
 * exponentials vanish or overflow, the last integers of each format, the limits of integers, the largest numbers. */
static const double reals[] = {
    0,         0x1p-149, 0x1p-130, 0x1p-126, 0x1.8p-126,    1e-30,        0x1p-24,   0x1p-15,   0x1p-14,
    0x1.8p-12, 0x1p-10,  0.5,      1,        0x1.fffffep-1, 0x1.000002p0, 0x1.004p0, 1.5,       2,
    2.5,       3,        3.5,      6,        0x1.800002p2,  7.9,          9.01,      17,        20,
    87.25,     88.75,    90,       104,      120,           127.5,        255,       256,       1e4,
    32767,     32768,    65504,    65536,    0x1.fffffep23, 0x1p24,       0x1.2p24,  1e9,       0x1.fffffep30,
    0x1p31,    0x1p32,   3e10,     0x1p53,   0x1p63,        1e19,         1e30,      0x1.8p127,
};
enum { REALS = sizeof reals / sizeof *reals };

static const double integers[] = {
    0,          1,          2,          3,          127,        128,        255,       256,       32767,
    32768,      65535,      65536,      8388609,    0xffffff,   0x1000000,  0x1000001, 0x1000002, 0x1000003,
    0x10000003, 0x3fffffff, 0x40000001, 0x7fffff7f, 0x7fffff81, 0x7ffffffe, INT32_MAX,
};
enum { INTEGERS = sizeof integers / sizeof *integers };

/** A list that grows. */
struct list {
    double *to;
    size_t n;
};

static void add(struct list *l, double v) {
    if (l->n < NNV_MOST_LIMITS) l->to[l->n++] = v;
}

static void add_both(struct list *l, double v, bool positive) {
    add(l, v);
    if (!positive) add(l, -v);
}

static void add_reals(struct list *l, int32_t type, bool positive) {
    const double largest = nnv_type(type)->size == 2 ? 65504 : (double)FLT_MAX;
    for (int i = 0; i < REALS; i++)
        if (reals[i] <= largest) add_both(l, reals[i], positive);
    if (largest > 65504) add_both(l, (double)FLT_MAX, positive);
}

static void add_integers(struct list *l, enum nnv_domain domain) {
    for (int i = domain == NNV_DOMAIN_DIVISOR; i < INTEGERS; i++)
        add_both(l, integers[i], domain == NNV_DOMAIN_POSITIVE);
    if (domain == NNV_DOMAIN_ALL || domain == NNV_DOMAIN_ANY) add(l, INT32_MIN);
}

size_t nnv_limits(const struct nnv_slot *slot, int32_t type, double limits[NNV_MOST_LIMITS]) {
    const enum nnv_kind kind = nnv_type(type)->kind;
    const enum nnv_domain domain = (enum nnv_domain)slot->domain;
    struct list l = {limits, 0};
    const double largest = nnv_type(type)->size == 2 ? 65504 : (double)FLT_MAX;
    if (kind == NNV_KIND_FLOAT) {
        for (uint8_t i = 0; i < slot->nedges; i++)
            if (fabs(slot->edges[i]) <= largest) add(&l, slot->edges[i]);
        if (domain != NNV_DOMAIN_DRAWN) add_reals(&l, type, domain == NNV_DOMAIN_POSITIVE);
        if (domain == NNV_DOMAIN_ENDLESS || domain == NNV_DOMAIN_ANY) add_both(&l, INFINITY, false);
        if (domain == NNV_DOMAIN_ANY) add(&l, (double)NAN);
    } else if (type == ANEURALNETWORKS_TENSOR_INT32 && domain != NNV_DOMAIN_DRAWN) {
        add_integers(&l, domain);
    }
    return l.n;
}
