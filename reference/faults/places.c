/* SPDX-License-Identifier: Apache-2.0 */
/** @file places.c Which element is read in the place of another. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reference/faults/generate.h"

/* ---------------------------------------------------------------- other places */

#define PLACE(name) static int64_t at_##name(const struct nnv_fault *f, int64_t i, int64_t n)

static int64_t size(const struct nnv_fault *f) { return (int64_t)f->value; }
PLACE(modulo) { return (void)n, i % size(f); }
PLACE(cut) { return (void)n, i < size(f) ? i : -1; }
PLACE(clamped) { return (void)n, i < size(f) ? i : size(f) - 1; }
PLACE(rest_again) { return i >= n - n % size(f) && i >= size(f) ? i - size(f) : i; }
PLACE(rest_from_start) { return i >= n - n % size(f) && i >= size(f) ? i - (n - n % size(f)) : i; }
PLACE(rest_lost) { return i >= n - n % size(f) ? -1 : i; }
/** A last block that is moved back so as to be whole, and takes what the aligned one before takes. */
PLACE(last_block) { return i >= n - size(f) && n > size(f) ? i - n % size(f) : i; }
PLACE(in_blocks) { return i - i % size(f) + size(f) <= n ? i - i % size(f) + (size(f) - 1 - i % size(f)) : i; }
PLACE(interleaved) { return i % size(f) * (n / size(f)) + i / size(f); }
PLACE(reversed) { return (void)f, n - 1 - i; }
PLACE(before) { return (void)f, (void)n, i > 0 ? i - 1 : 0; }
PLACE(behind) { return (void)f, i + 1 < n ? i + 1 : i; }
PLACE(before_or_zero) { return (void)f, (void)n, i - 1; }
PLACE(behind_or_zero) { return (void)f, i + 1 < n ? i + 1 : -1; }
PLACE(turned) { return (void)f, (i + 1) % n; }
PLACE(turned_back) { return (void)f, (i + n - 1) % n; }
PLACE(pairs) { return (void)f, (i ^ 1) < n ? i ^ 1 : i; }
PLACE(even) { return (void)f, (void)n, i & ~INT64_C(1); }
PLACE(first) { return (void)f, (void)i, (void)n, 0; }
PLACE(last) { return (void)f, (void)i, n - 1; }
PLACE(last_is_neighbour) { return (void)f, i == n - 1 ? i - 1 : i; }
PLACE(last_is_first) { return (void)f, i == n - 1 ? 0 : i; }
PLACE(first_is_neighbour) { return (void)f, (void)n, i == 0 ? 1 : i; }
PLACE(last_lost) { return (void)f, i == n - 1 ? -1 : i; }
PLACE(first_lost) { return (void)f, (void)n, i == 0 ? -1 : i; }
PLACE(ends_swapped) { return (void)f, i == 0 ? n - 1 : i == n - 1 ? 0 : i; }
PLACE(divided) { return (void)n, i / size(f); }

static const struct {
    int64_t (*place)(const struct nnv_fault *f, int64_t i, int64_t n);
    const char *words;
    int64_t least; /* extent from which on it is another than those before */
} simple[] = {
    {at_last_is_neighbour, "the last taken for the one before", 2},
    {at_last_lost, "the last lost", 2},
    {at_reversed, "read from the end", 2},
    {at_before, "the one before", 2},
    {at_behind, "the next one", 2},
    {at_before_or_zero, "the one before, and 0 for the first", 2},
    {at_behind_or_zero, "the next one, and 0 for the last", 2},
    {at_turned, "the next one, and the first for the last", 3},
    {at_turned_back, "the one before, and the last for the first", 3},
    {at_first, "the first for all", 2},
    {at_last, "the last for all", 2},
    {at_first_lost, "the first lost", 2},
    {at_first_is_neighbour, "the first taken for the second", 3},
    {at_last_is_first, "the last taken for the first", 3},
    {at_ends_swapped, "first and last swapped", 3},
    {at_pairs, "neighbours swapped in pairs", 3},
    {at_even, "odd ones taken for the one before", 3},
};
/* of the first so many, or of blocks of so many */
static const struct {
    int64_t (*place)(const struct nnv_fault *f, int64_t i, int64_t n);
    const char *words;
    bool divides; /* only where the size divides the extent */
    bool flat;    /* also of all elements of an input, one behind the other: what vector kernels do */
} sized[] = {
    {at_modulo, "repeated after %u", false, true},
    {at_cut, "lost from %u on", false, true},
    {at_clamped, "those from %u on taken for the last before", false, false},
    {at_rest_again, "the rest behind blocks of %u taken from the block before", false, true},
    {at_rest_from_start, "the rest behind blocks of %u taken from the start", false, true},
    {at_last_block, "the last block of %u taken from the aligned one before", false, false},
    {at_rest_lost, "the rest behind blocks of %u lost", false, true},
    {at_in_blocks, "reversed in blocks of %u", false, false},
    {at_divided, "each taken %u times", false, false},
    {at_interleaved, "rows and columns of a matrix of %u columns mixed up", true, false},
};

/** The words with blanks as '-', cut to a name. */
static const char *name_of(struct nnv_arena *arena, const char *words) {
    char name[72];
    size_t n = 0;
    for (const char *s = words; *s && n + 1 < sizeof name; s++)
        if (*s != ',' && *s != ':') name[n++] = *s == ' ' ? '-' : *s;
    name[n] = '\0';
    return nnv_arena_strdup(arena, name);
}

void nnv_generate(struct nnv_fault_list *l, struct nnv_fault f, const char *words, ...) {
    char text[200];
    va_list ap;
    va_start(ap, words);
    vsnprintf(text, sizeof text, words, ap);
    va_end(ap);
    if (l->count == l->room) {
        const size_t room = l->room ? 2 * l->room : 256;
        struct nnv_fault *grown = NNV_NEW(l->arena, struct nnv_fault, room);
        l->failed = l->failed || !grown;
        if (!grown) return;
        if (l->count) memcpy(grown, l->item, l->count * sizeof *grown);
        l->item = grown;
        l->room = room;
    }
    f.words = nnv_arena_strdup(l->arena, text);
    f.name = f.words ? name_of(l->arena, f.words) : NULL;
    f.generated = true;
    l->failed = l->failed || !f.name;
    if (f.name) l->item[l->count++] = f;
}

void nnv_generate_places(struct nnv_fault_list *l, struct nnv_fault f, uint32_t extent, const char *whose) {
    const bool merged = f.axis == NNV_FAULT_LAST_TWO, flat_input = f.axis == NNV_FAULT_FLAT && f.change;
    static const uint32_t sizes[] = {2,   3,   4,    5,    6,    7,    8,    9,     10,    11,    12,    13,   14,  15,
                                     16,  24,  32,   48,   63,   64,   65,   96,    127,   128,   129,   255,  256, 257,
                                     511, 512, 1023, 1024, 2048, 4096, 8192, 16384, 32767, 32768, 65535, 65536};
    for (size_t k = 0; k < sizeof simple / sizeof *simple; k++) {
        if (extent < simple[k].least || flat_input) continue;
        f.place = simple[k].place;
        nnv_generate(l, f, "%s: %s", whose, simple[k].words);
    }
    for (size_t k = 0; k < sizeof sized / sizeof *sized; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] < extent; s++) {
            char words[100];
            if ((sized[k].divides && extent % sizes[s] != 0) ||
                ((flat_input || merged) && (!sized[k].flat || sizes[s] > 64 || (sizes[s] & (sizes[s] - 1)) != 0)))
                continue;
            f.place = sized[k].place;
            f.value = sizes[s];
            (void)snprintf(words, sizeof words, sized[k].words, sizes[s]);
            nnv_generate(l, f, "%s: %s", whose, words);
        }
}

/** The element in the place of element i; n elements of this shape. -1: 0. */
static int64_t element_at(const struct nnv_fault *f, uint32_t rank, const uint32_t *dims, int64_t n, int64_t i) {
    int64_t step = 1;
    if (f->axis == NNV_FAULT_FLAT) return f->place(f, i, n);
    if (f->axis == NNV_FAULT_LAST_TWO) {
        const int64_t run = rank < 2 ? n : (int64_t)dims[rank - 2] * dims[rank - 1];
        const int64_t to = run > 0 ? f->place(f, i % run, run) : i;
        return to < 0 ? -1 : i - i % run + to;
    }
    if (f->axis >= (int)rank) return i;
    for (uint32_t d = (uint32_t)f->axis + 1; d < rank; d++) step *= dims[d];
    if (step == 0 || dims[f->axis] == 0) return i;
    const int64_t at = i / step % dims[f->axis], other = f->place(f, at, dims[f->axis]);
    return other < 0 ? -1 : i + (other - at) * step;
}

double nnv_element_placed(const struct nnv_fault_output *y, const struct nnv_fault *f, size_t i) {
    const int64_t at = element_at(f, y->rank, y->dims, (int64_t)y->n, (int64_t)i);
    return at >= 0 && at < (int64_t)y->n ? y->v[at] : nnv_is_quant(y->type) ? y->zero_point : 0;
}

bool nnv_change_placed(struct nnv_edit *e, const struct nnv_fault *f) {
    const int pos = nnv_edit_find(e, f->slots[0]);
    size_t n;
    const double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
    if (!v || n < 2) return false;
    const struct nnv_operand *o = nnv_edit_operand(e, pos);
    const struct nnv_shape *s = &e->call->in[pos].shape;
    double *to = NNV_NEW(e->arena, double, n);
    bool any = false;
    if (!to || !nnv_shape_known(s) || nnv_shape_elems(s) != n) return false;
    for (size_t i = 0; i < n; i++) {
        const int64_t at = element_at(f, s->rank, s->dims, (int64_t)n, (int64_t)i);
        to[i] = at >= 0 && at < (int64_t)n ? v[at] : nnv_is_quant(o->type) ? o->zero_point : 0;
        any = any || to[i] < v[i] || to[i] > v[i];
    }
    if (any) nnv_edit_set_numbers(e, pos, to, n);
    return any;
}
