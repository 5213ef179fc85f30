/* SPDX-License-Identifier: Apache-2.0 */
#include "randgraph/single/cover.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------- pairs */

/** All pairs of values of two factors, of which some were seen. */
struct pairs {
    const struct nnv_factor *factors;
    size_t n;
    size_t first[NNV_MAX_FACTORS][NNV_MAX_FACTORS]; /**< places in seen, of factors a < b */
    size_t count, left;
    bool *seen;
};

static enum nnv_status pairs_of(const struct nnv_factor *factors, size_t n, struct nnv_arena *arena, struct pairs **out,
                                struct nnv_err *err) {
    struct pairs *t = NNV_NEW(arena, struct pairs, 1);
    if (!t) return nnv_no_memory(err);
    t->factors = factors;
    t->n = n;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            t->first[a][b] = t->count;
            t->count += (size_t)factors[a].n * factors[b].n;
        }
    t->left = t->count;
    t->seen = NNV_NEW(arena, bool, t->count + 1);
    if (!t->seen) return nnv_no_memory(err);
    *out = t;
    return NNV_OK;
}

/* Of factors a and b in any order. */
static bool *seen(const struct pairs *t, const uint8_t *row, size_t a, size_t b) {
    size_t lower = a < b ? a : b, upper = a < b ? b : a;
    return &t->seen[t->first[lower][upper] + (size_t)row[lower] * t->factors[upper].n + row[upper]];
}

static void mark_row(struct pairs *t, const uint8_t *row) {
    for (size_t a = 0; a < t->n; a++)
        for (size_t b = a + 1; b < t->n; b++) {
            t->left -= !*seen(t, row, a, b);
            *seen(t, row, a, b) = true;
        }
}

/* The unseen pairs that factor f makes with the factors that are set. */
static int gain(const struct pairs *t, const uint8_t *row, const bool *set, size_t f) {
    int n = 0;
    for (size_t g = 0; g < t->n; g++) n += g != f && set[g] && !*seen(t, row, f, g);
    return n;
}

/* -------------------------------------------------------------------------- rows */

/* Sets the factors of the first pair that no row has. */
static void begin_row(const struct pairs *t, uint8_t *row, bool *set) {
    for (size_t a = 0; a < t->n; a++)
        for (size_t b = a + 1; b < t->n; b++)
            for (row[a] = 0; row[a] < t->factors[a].n; row[a]++)
                for (row[b] = 0; row[b] < t->factors[b].n; row[b]++)
                    if (!*seen(t, row, a, b)) {
                        set[a] = set[b] = true;
                        return;
                    }
}

/* The value of factor f that adds most; of equal ones that which was used least. */
static uint8_t best_value(const struct pairs *t, uint8_t *row, const bool *set, size_t f, const size_t *used) {
    int most = -1;
    uint8_t best = 0;
    for (row[f] = 0; row[f] < t->factors[f].n; row[f]++) {
        int n = gain(t, row, set, f);
        if (n < most || (n == most && used[row[f]] >= used[best])) continue;
        most = n;
        best = row[f];
    }
    return best;
}

/* Writes the next row, as positions in the factors' values. */
static void make_row(const struct pairs *t, size_t (*used)[UINT8_MAX + 1], uint8_t *row) {
    bool set[NNV_MAX_FACTORS] = {false};
    begin_row(t, row, set);
    for (size_t f = 0; f < t->n; f++) {
        if (!set[f]) row[f] = best_value(t, row, set, f, used[f]);
        set[f] = true;
        used[f][row[f]]++;
    }
}

enum nnv_status nnv_cover_make(const struct nnv_factor *factors, size_t n, struct nnv_arena *arena,
                               struct nnv_cover *cover, struct nnv_err *err) {
    struct pairs *t;
    size_t used[NNV_MAX_FACTORS][UINT8_MAX + 1] = {{0}}, room = 0;
    int32_t *values = NULL;
    enum nnv_status st = pairs_of(factors, n, arena, &t, err);
    if (st) return st;
    *cover = (struct nnv_cover){.pairs = t->count};
    for (; t->left > 0; cover->nrows++) {
        uint8_t row[NNV_MAX_FACTORS] = {0};
        make_row(t, used, row);
        mark_row(t, row);
        if (cover->nrows == room) {
            int32_t *more = NNV_NEW(arena, int32_t, (room = 2 * room + 32) * n);
            if (!more) return nnv_no_memory(err);
            if (values) memcpy(more, values, cover->nrows * n * sizeof *more);
            values = more;
        }
        for (size_t f = 0; f < n; f++) values[cover->nrows * n + f] = factors[f].values[row[f]];
    }
    cover->values = values;
    return NNV_OK;
}

static bool position(const struct nnv_factor *f, int32_t value, uint8_t *at) {
    for (*at = 0; *at < f->n; ++*at)
        if (f->values[*at] == value) return true;
    return false;
}

void nnv_cover_count(const struct nnv_factor *factors, size_t n, const int32_t *values, size_t nrows, size_t *pairs,
                     size_t *covered) {
    struct nnv_arena *arena = nnv_arena_new();
    struct pairs *t = NULL;
    *pairs = *covered = 0;
    if (arena && pairs_of(factors, n, arena, &t, NULL) == NNV_OK) {
        for (size_t r = 0; r < nrows; r++) {
            uint8_t row[NNV_MAX_FACTORS];
            bool known = true;
            for (size_t f = 0; f < n; f++) known &= position(&factors[f], values[r * n + f], &row[f]);
            if (known) mark_row(t, row);
        }
        *pairs = t->count;
        *covered = t->count - t->left;
    }
    nnv_arena_free(arena);
}

const struct nnv_cover *nnv_cover_of(const struct nnv_op *op) {
    enum { MOST = 256 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct nnv_arena *arena;
    static struct nnv_cover covers[MOST];
    static bool made[MOST];
    static const struct nnv_cover none;
    if (op->nfactors == 0 || op->code < 0 || op->code >= MOST) return &none;
    pthread_mutex_lock(&lock);
    if (!arena) arena = nnv_arena_new();
    if (arena && !made[op->code])
        made[op->code] = nnv_cover_make(op->factors, op->nfactors, arena, &covers[op->code], NULL) == NNV_OK;
    const struct nnv_cover *c = made[op->code] ? &covers[op->code] : &none;
    pthread_mutex_unlock(&lock);
    return c;
}

size_t nnv_cover_sizes(const struct nnv_op *op) {
    size_t n = 0;
    for (uint8_t f = 0; f < op->nfactors; f++) n += op->factors[f].nsizes;
    return n;
}

void nnv_cover_size_row(const struct nnv_op *op, size_t i, int32_t row[NNV_MAX_FACTORS], size_t *which) {
    for (uint8_t f = 0; f < op->nfactors; f++) row[f] = op->factors[f].values[op->factors[f].with_sizes];
    for (*which = 0; i >= op->factors[*which].nsizes; ++*which) i -= op->factors[*which].nsizes;
    row[*which] = op->factors[*which].sizes[i];
}

/* Sizes of the factor that are widths; 0: it is no extent of many. */
static size_t widths_of(const struct nnv_factor *f) {
    enum { LEAST = 8, MOST = 129 };
    size_t n = 0;
    if (f->pair || f->words || f->nsizes < LEAST) return 0;
    while (n < f->nsizes && f->sizes[n] <= MOST) n++;
    return n;
}

/* Values of factor f that come beside widths of g. */
static size_t unusual(const struct nnv_op *op, size_t f, size_t g) { return f == g ? 0 : (size_t)op->factors[f].n - 1; }

static size_t all_unusual(const struct nnv_op *op, size_t g) {
    size_t n = 0;
    for (uint8_t f = 0; f < op->nfactors; f++) n += widths_of(&op->factors[g]) > 0 ? unusual(op, f, g) : 0;
    return n;
}

/* Widths that each value comes with: several of images, for which there are the most kernels. */
static size_t widths_beside(const struct nnv_op *op) {
    enum { OF_IMAGES = 3 };
    for (uint8_t f = 0; f < op->nfactors; f++)
        if (op->factors[f].pair) return OF_IMAGES;
    return 1;
}

size_t nnv_cover_widths(const struct nnv_op *op) {
    size_t n = 0;
    for (uint8_t g = 0; g < op->nfactors; g++) n += all_unusual(op, g);
    return n * widths_beside(op);
}

void nnv_cover_width_row(const struct nnv_op *op, size_t i, size_t turn, int32_t row[NNV_MAX_FACTORS]) {
    enum { STEP = 7 };
    const size_t at = i * STEP + turn;
    uint8_t g = 0, f = 0;
    for (i /= widths_beside(op); i >= all_unusual(op, g); g++) i -= all_unusual(op, g);
    for (; i >= unusual(op, f, g); f++) i -= unusual(op, f, g);
    for (uint8_t k = 0; k < op->nfactors; k++) row[k] = op->factors[k].values[op->factors[k].with_sizes];
    row[f] = op->factors[f].values[i + (i >= op->factors[f].with_sizes)];
    const size_t widths = widths_of(&op->factors[g]); /* some, as the factor has rows */
    row[g] = op->factors[g].sizes[widths ? at % widths : 0];
}

/* The usual value, or the one that makes a tensor large. */
static int32_t usual_or(const struct nnv_factor *f, int32_t value) { return value ? value : f->values[f->with_sizes]; }

bool nnv_cover_has_large(const struct nnv_op *op, enum nnv_large kind) {
    bool has = false;
    for (uint8_t f = 0; f < op->nfactors; f++)
        has |= kind == NNV_LARGE_ELEMENTS ? op->factors[f].large != 0
               : kind == NNV_LARGE_ROWS   ? op->factors[f].plane != 0
                                          : op->factors[f].point != 0;
    return has;
}

size_t nnv_cover_large_rows(const struct nnv_op *op) {
    size_t n = 0;
    for (enum nnv_large kind = NNV_LARGE_ELEMENTS; kind < NNV_LARGE_KINDS; kind++) n += nnv_cover_has_large(op, kind);
    return n;
}

enum nnv_large nnv_cover_large_kind(const struct nnv_op *op, size_t i) {
    enum nnv_large kind = NNV_LARGE_ELEMENTS;
    for (; kind < NNV_LARGE_PLACES; kind++)
        if (nnv_cover_has_large(op, kind) && i-- == 0) break;
    return kind;
}

void nnv_cover_large_row(const struct nnv_op *op, size_t i, int32_t row[NNV_MAX_FACTORS]) {
    const enum nnv_large kind = nnv_cover_large_kind(op, i);
    for (uint8_t f = 0; f < op->nfactors; f++) {
        const struct nnv_factor *factor = &op->factors[f];
        const bool is_layout = factor->words != NULL;
        const bool plane = factor->plane && (kind == NNV_LARGE_ROWS || (kind == NNV_LARGE_PLACES && !is_layout));
        row[f] = usual_or(factor, kind == NNV_LARGE_PLACES && factor->point ? factor->point
                                  : plane                                   ? factor->plane
                                                                            : factor->large);
    }
}

bool nnv_cover_huge_row(const struct nnv_op *op, int32_t row[NNV_MAX_FACTORS]) {
    bool any = false;
    for (uint8_t f = 0; f < op->nfactors; f++) {
        any |= op->factors[f].huge != 0;
        row[f] = usual_or(&op->factors[f], op->factors[f].huge);
    }
    return any;
}

/* -------------------------------------------------------------------------- text */

/* The number of words that the factor has: of its values, and of what sizes and large tensors give it. */
static int32_t words_of(const struct nnv_factor *f) {
    int32_t n = f->words ? f->n : 0;
    for (uint8_t i = 0; f->words && i < f->nsizes; i++) n = f->sizes[i] >= n ? f->sizes[i] + 1 : n;
    return f->words && f->plane >= n ? f->plane + 1 : n;
}

/** Appends one value: "3x3", "same", "17". */
static void cover_add_value(const struct nnv_factor *f, int32_t value, struct nnv_text *out) {
    if (value >= 0 && value < words_of(f))
        nnv_text_add(out, f->words[value]);
    else if (f->pair)
        nnv_text_addf(out, "%dx%d", nnv_pair_height(value), nnv_pair_width(value));
    else
        nnv_text_addf(out, "%d", value);
}

void nnv_cover_add_text(const struct nnv_factor *factors, size_t n, const int32_t *row, struct nnv_text *out) {
    for (size_t f = 0; f < n; f++) {
        nnv_text_addf(out, "%s%s=", f ? " " : "", factors[f].name);
        cover_add_value(&factors[f], row[f], out);
    }
}

static bool value_of(const struct nnv_factor *f, const char *s, size_t len, int32_t *value) {
    for (int32_t i = 0; i < words_of(f); i++)
        if (strlen(f->words[i]) == len && memcmp(f->words[i], s, len) == 0) {
            *value = i;
            return true;
        }
    char *end;
    long first = strtol(s, &end, 10), second = 0;
    if (f->pair && *end == 'x' && end > s)
        second = strtol(end + 1, &end, 10);
    else if (f->pair)
        return false;
    *value = f->pair ? NNV_PAIR((int32_t)first, (int32_t)second) : (int32_t)first;
    return !f->words && end == s + len && len > 0;
}

enum nnv_status nnv_cover_parse(const struct nnv_factor *factors, size_t n, const char *text,
                                int32_t row[NNV_MAX_FACTORS], struct nnv_err *err) {
    for (size_t f = 0; f < n; f++) row[f] = factors[f].values[0];
    for (const char *p = text + strspn(text, " "); *p; p += strspn(p, " ")) {
        size_t len = strcspn(p, " "), name = strcspn(p, "= "), f = 0;
        while (f < n && (strlen(factors[f].name) != name || memcmp(factors[f].name, p, name) != 0)) f++;
        if (f == n || p[name] != '=' || !value_of(&factors[f], p + name + 1, len - name - 1, &row[f]))
            return nnv_fail(err, NNV_INVALID, "no such attribute or value: %.*s", (int)len, p);
        p += len;
    }
    return NNV_OK;
}
