/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/sample.h"

#include <string.h>

/* The name of the variant; "" where there is a row. */
static const char *variant_of(const struct nnv_sample *s) { return s->row ? "" : s->op->variants[s->variant]; }

const int32_t nnv_first_numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* True if name has word as one of its parts. */
static bool has_word(const char *name, const char *word) {
    size_t n = strlen(word);
    for (const char *p = name; *p;) {
        size_t len = strcspn(p, "_");
        if (len == n && memcmp(p, word, n) == 0) return true;
        p += len;
        if (*p) p++;
    }
    return false;
}

bool nnv_sample_is(const struct nnv_sample *s, const char *word) {
    for (uint8_t f = 0; s->row && f < s->op->nfactors; f++)
        if (s->op->factors[f].words && has_word(s->op->factors[f].words[s->row[f]], word)) return true;
    return has_word(variant_of(s), word);
}

static const struct nnv_slot *slot_of(const struct nnv_sample *s, int id) {
    for (uint8_t i = 0; i < s->form->nin; i++)
        if (s->form->in[i].id == id) return &s->form->in[i];
    return NULL;
}

struct nnv_sample_arg *nnv_sample_tensor(struct nnv_sample *s, int id, uint32_t rank, const uint32_t *dims) {
    const struct nnv_slot *slot = slot_of(s, id);
    struct nnv_sample_arg *a = &s->arg[id];
    if (slot && slot->flags & NNV_REPEAT && s->nrep < NNV_MAX_REPEAT) a = &s->rep[s->nrep++];
    a->set = true;
    a->rank = rank;
    for (uint32_t i = 0; i < rank; i++) a->dims[i] = dims[i];
    return a;
}

void nnv_sample_scalar(struct nnv_sample *s, int id, double value) {
    s->arg[id].set = true;
    s->arg[id].value = value;
}

void nnv_sample_ints(struct nnv_sample *s, int id, uint32_t n, const int32_t *values) {
    struct nnv_sample_arg *a = nnv_sample_tensor(s, id, 1, &n);
    a->ints = nnv_arena_copy(s->arena, values, n * sizeof *values);
}

int nnv_sample_int(struct nnv_sample *s, int lo, int hi) { return (int)nnv_rng_int(&s->rng, lo, hi); }

int nnv_sample_of(struct nnv_sample *s, int n, const int *values) { return values[nnv_rng_int(&s->rng, 0, n - 1)]; }

/* Sizes at which loops over vectors of 4, 8, 16 or 32 lanes have a remainder. */
static const uint32_t beside_simd[] = {3, 5, 7, 9, 11, 13, 15, 17, 31, 33, 63, 65};

uint32_t nnv_sample_dim(struct nnv_sample *s, uint32_t lo, uint32_t hi) {
    enum { N = sizeof beside_simd / sizeof *beside_simd };
    int first = 0, end = N;
    while (first < N && beside_simd[first] < lo) first++;
    while (end > first && beside_simd[end - 1] > hi) end--;
    if (end > first && nnv_rng_int(&s->rng, 0, 3) > 0) return beside_simd[nnv_rng_int(&s->rng, first, end - 1)];
    return (uint32_t)nnv_rng_int(&s->rng, lo, hi);
}

/* The largest r with r^n <= limit. */
static uint32_t root(uint32_t limit, uint32_t n) {
    uint32_t r = 1;
    for (;; r++) {
        uint64_t power = 1;
        for (uint32_t i = 0; i < n && power <= limit; i++) power *= r + 1;
        if (power > limit) return r;
    }
}

static bool contains(const uint32_t *dims, uint32_t n, uint32_t d) {
    for (uint32_t i = 0; i < n; i++)
        if (dims[i] == d) return true;
    return false;
}

void nnv_sample_dims(struct nnv_sample *s, uint32_t rank, uint32_t limit, uint32_t *dims) {
    uint32_t order = rank ? (uint32_t)nnv_rng_int(&s->rng, 0, rank - 1) : 0, left = limit;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t rest = rank - i, hi = rest == 1 ? left : root(left, rest) * (i == 0 ? 2 : 1);
        for (uint32_t reserve = rest - 1; reserve > 0 && hi > left >> reserve; reserve--) hi = left >> reserve;
        if (hi < 1) hi = 1;
        uint32_t lo = hi > 8 && rest == 1 ? hi / 3 : hi > 2 ? 2 : 1, d = nnv_sample_dim(s, lo, hi);
        for (int tries = 0; tries < 6 && contains(dims, i, d); tries++) d = nnv_sample_dim(s, lo, hi);
        for (uint32_t e = hi; contains(dims, i, d) && e > 0; e--) d = e;
        dims[i] = d;
        left /= d;
        if (left < 1) left = 1;
    }
    for (uint32_t i = 0; rank > 0 && i < order; i++) { /* so that the large extent is not always the last */
        uint32_t first = dims[0];
        memmove(dims, dims + 1, (rank - 1) * sizeof *dims);
        dims[rank - 1] = first;
    }
}

void nnv_sample_image(uint32_t dims[4], uint32_t n, uint32_t h, uint32_t w, uint32_t c, bool nchw) {
    dims[0] = n;
    dims[1] = nchw ? c : h;
    dims[2] = nchw ? h : w;
    dims[3] = nchw ? w : c;
}

const char *const nnv_outer_words[] = {"unequal", "equal", "ones", "long", "many"};

uint32_t nnv_sample_shape(const struct nnv_sample *s, uint32_t *dims) {
    enum { MOST = 4096, WIDE = 512, LONG = 131, MANY = 65537 };
    static const uint32_t small[] = {3, 2, 4, 2, 3, 2, 2};
    const uint32_t rank = (uint32_t)nnv_sample_value(s, NNV_SHAPE_RANK);
    const uint32_t inner = (uint32_t)nnv_sample_value(s, NNV_SHAPE_INNER);
    const int32_t outer = nnv_sample_value(s, NNV_SHAPE_OUTER);
    uint32_t elems = dims[rank - 1] = inner;
    for (uint32_t d = rank - 1, i = 0; d-- > 0; i++) {
        const bool room = elems * (uint64_t)inner <= MOST && i < 3;
        const bool alone = inner > WIDE && (i > 0 || inner == NNV_LONG_LINE); /* a wide row has three */
        dims[d] = alone ? 1 : small[i] == inner ? 5 : small[i];
        if (outer == NNV_OUTER_EQUAL) dims[d] = room ? inner : 1;
        if (outer == NNV_OUTER_ONES) dims[d] = 1;
        if (outer == NNV_OUTER_LONG) dims[d] = d == 0 ? LONG : i == 0 ? 2 : 1;
        if (outer == NNV_OUTER_MANY) dims[d] = d == 0 ? MANY : 1;
        elems *= dims[d];
    }
    return rank;
}

const struct nnv_factor nnv_unary_factors[NNV_SHAPE_OWN] = {NNV_SHAPE_FACTORS};
const char *const nnv_unary_variants[] = {"rank1", "rank2", "rank3", "rank4", "wide", NULL};

void nnv_sample_unary(struct nnv_sample *s) {
    uint32_t dims[NNV_MAX_RANK], rank;
    bool wide = nnv_sample_is(s, "wide");
    if (s->row) {
        rank = nnv_sample_shape(s, dims);
    } else {
        rank = wide ? (uint32_t)nnv_sample_int(s, 1, 4) : (uint32_t)s->variant + 1;
        nnv_sample_dims(s, rank, wide ? 3000 : 400, dims);
    }
    if (s->empty) dims[nnv_sample_int(s, 0, (int)rank - 1)] = 0;
    nnv_sample_tensor(s, 0, rank, dims);
}
