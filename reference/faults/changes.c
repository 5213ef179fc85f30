/* SPDX-License-Identifier: Apache-2.0 */
/** @file changes.c Changes of attributes, constants and lists that rows share. */
#include <math.h>
#include <string.h>

#include "reference/faults/faults.h"

/* ------------------------------------------------------- numbers of an input */

static bool put(double *v, double value) {
    bool differs = *v != value;
    *v = value;
    return differs;
}

bool nnv_numbers_set(const struct nnv_fault *f, double *v, size_t n) { return n == 1 && put(v, f->value); }
bool nnv_numbers_from_to(const struct nnv_fault *f, double *v, size_t n) {
    return n == 1 && *v == f->value && put(v, f->other);
}
bool nnv_numbers_add(const struct nnv_fault *f, double *v, size_t n) { return n == 1 && put(v, *v + f->value); }
bool nnv_numbers_toggle(const struct nnv_fault *f, double *v, size_t n) {
    (void)f;
    return n == 1 && put(v, *v == 0);
}
bool nnv_numbers_zero_one(const struct nnv_fault *f, double *v, size_t n) {
    return n > 1 && put(&v[f->value < 0 ? n - 1 : (size_t)f->value % n], 0);
}
bool nnv_numbers_times(const struct nnv_fault *f, double *v, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n; i++) any |= put(&v[i], v[i] * f->value);
    return any;
}
bool nnv_numbers_identity(const struct nnv_fault *f, double *v, size_t n) {
    bool any = false;
    (void)f;
    for (size_t i = 0; i < n; i++) any |= put(&v[i], (double)i);
    return any;
}

static bool swap_two(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
    return *a != *b;
}

bool nnv_numbers_pairs(const struct nnv_fault *f, double *v, size_t n) {
    bool any = false;
    (void)f;
    for (size_t i = 0; i + 1 < n; i += 2) any |= swap_two(&v[i], &v[i + 1]);
    return any;
}

bool nnv_numbers_reverse(const struct nnv_fault *f, double *v, size_t n) {
    bool any = false;
    (void)f;
    for (size_t i = 0; i < n / 2; i++) any |= swap_two(&v[i], &v[n - 1 - i]);
    return any;
}

bool nnv_numbers_in_float(const struct nnv_fault *f, double *v, size_t n) {
    bool any = false;
    (void)f;
    for (size_t i = 0; i < n; i++) {
        const double to = fabs(v[i]) <= 0x1p31 ? fmin((double)(float)v[i], INT32_MAX) : v[i];
        any = any || to < v[i] || to > v[i];
        v[i] = to;
    }
    return any;
}

bool nnv_numbers_inverse(const struct nnv_fault *f, double *v, size_t n) {
    double to[NNV_MAX_RANK] = {0};
    bool any = false;
    (void)f;
    if (n > NNV_MAX_RANK) return false;
    for (size_t i = 0; i < n; i++) {
        if (!(v[i] >= 0 && v[i] < (double)n)) return false;
        to[(size_t)v[i]] = (double)i;
    }
    for (size_t i = 0; i < n; i++) any |= put(&v[i], to[i]);
    return any;
}

/* ------------------------------------------------------ changes of an operation */

bool nnv_change_numbers(struct nnv_edit *e, const struct nnv_fault *f) {
    bool any = false;
    for (int i = 0; i < NNV_FAULT_SLOTS && f->slots[i]; i++) {
        int pos = nnv_edit_find(e, f->slots[i]);
        size_t n;
        double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
        if (!v || n == 0 || !f->numbers(f, v, n)) continue;
        nnv_edit_set_numbers(e, pos, v, n);
        any = true;
    }
    return any;
}

bool nnv_change_zero(struct nnv_edit *e, const struct nnv_fault *f) {
    bool any = false;
    for (int i = 0; i < NNV_FAULT_SLOTS && f->slots[i]; i++) {
        int pos = nnv_edit_find(e, f->slots[i]);
        size_t n;
        double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
        if (!v) continue;
        double zero = nnv_is_quant(nnv_edit_operand(e, pos)->type) ? nnv_edit_operand(e, pos)->zero_point : 0;
        bool differs = false;
        for (size_t k = 0; k < n; k++) differs |= put(&v[k], zero);
        if (differs) nnv_edit_set_numbers(e, pos, v, n);
        any |= differs;
    }
    return any;
}

bool nnv_change_swap(struct nnv_edit *e, const struct nnv_fault *f) {
    bool any = false;
    for (int i = 0; i + 1 < NNV_FAULT_SLOTS && f->slots[i]; i += 2) {
        int a = nnv_edit_find(e, f->slots[i]), b = nnv_edit_find(e, f->slots[i + 1]);
        uint32_t *in = nnv_edit_op(e)->in;
        if (a < 0 || b < 0 || in[a] == in[b]) continue;
        size_t na, nb;
        const double *va = nnv_edit_numbers(e, a, &na), *vb = nnv_edit_numbers(e, b, &nb);
        any = any || !va || !vb || na != nb || na != 1 || *va != *vb; /* scalars that are equal may change places */
        uint32_t kept = in[a];
        in[a] = in[b];
        in[b] = kept;
    }
    return any;
}

bool nnv_change_axis_mirrored(struct nnv_edit *e, const struct nnv_fault *f) {
    const double rank = e->call->nin && e->call->in[0].present ? e->call->in[0].shape.rank : 0;
    bool any = false;
    for (int i = 0; i < NNV_FAULT_SLOTS && f->slots[i]; i++) {
        const int pos = nnv_edit_find(e, f->slots[i]);
        size_t n;
        double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
        bool differs = false;
        for (size_t k = 0; v && k < n; k++) {
            const double from = v[k] < 0 ? v[k] + rank : v[k];
            differs |= rank - 1 - from != from;
            v[k] = rank - 1 - from;
        }
        if (differs) nnv_edit_set_numbers(e, pos, v, n);
        any |= differs;
    }
    return any;
}

bool nnv_change_signs(struct nnv_edit *e, const struct nnv_fault *f) {
    const int pos = nnv_edit_find(e, f->slots[0]);
    size_t n;
    double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
    if (!v) return false;
    const struct nnv_operand *o = nnv_edit_operand(e, pos);
    const struct nnv_type *t = nnv_type(o->type);
    const double zero = nnv_is_quant(o->type) && !o->channel.count ? o->zero_point : 0;
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        const double d = v[i] - zero, to = (f->value > 0 ? fabs(d) : f->value < 0 ? -d : fmax(d, 0)) + zero;
        const double kept = t->kind == NNV_KIND_FLOAT ? to : fmin(fmax(to, t->min), t->max);
        any = any || kept < v[i] || kept > v[i];
        v[i] = kept;
    }
    if (any) nnv_edit_set_numbers(e, pos, v, n);
    return any;
}

bool nnv_change_rotate(struct nnv_edit *e, const struct nnv_fault *f) {
    bool any = false;
    for (int i = 0; i < NNV_FAULT_SLOTS && f->slots[i]; i++) {
        int pos = nnv_edit_find(e, f->slots[i]);
        size_t n;
        double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
        const uint32_t rows = v && nnv_edit_operand(e, pos)->rank ? nnv_edit_operand(e, pos)->dims[0] : 0;
        double *turned = rows > 1 && n % rows == 0 ? NNV_NEW(e->arena, double, n) : NULL;
        for (size_t k = 0; turned && k < n; k++) turned[k] = v[(k + n / rows) % n];
        if (!turned || memcmp(turned, v, n * sizeof *v) == 0) continue;
        nnv_edit_set_numbers(e, pos, turned, n);
        any = true;
    }
    return any;
}

static bool swap_indices(uint32_t *a, uint32_t *b) {
    const uint32_t kept = *a;
    *a = *b;
    *b = kept;
    return *a != *b;
}

bool nnv_change_neighbours(struct nnv_edit *e, const struct nnv_fault *f) {
    const int pos = nnv_edit_find(e, f->slots[0]);
    struct nnv_operation *op = nnv_edit_op(e);
    if (pos < 0 || (uint32_t)pos + 1 >= op->nin) return false;
    const struct nnv_operand *a = nnv_edit_operand(e, pos), *b = nnv_edit_operand(e, pos + 1);
    return a->type == b->type && swap_indices(&op->in[pos], &op->in[pos + 1]);
}

bool nnv_change_outputs(struct nnv_edit *e, const struct nnv_fault *f) {
    struct nnv_operation *op = nnv_edit_op(e);
    (void)f;
    return op->nout > 1 && swap_indices(&op->out[0], &op->out[1]);
}

bool nnv_change_groups(struct nnv_edit *e, const struct nnv_fault *f) {
    const int at = nnv_edit_find(e, f->slots[0]), along = nnv_edit_find(e, f->slots[1]);
    size_t n;
    double *groups = at < 0 ? NULL : nnv_edit_numbers(e, at, &n);
    const double *axis = along < 0 ? NULL : nnv_edit_numbers(e, along, &n);
    const struct nnv_operand *x = e->call->in[0].operand;
    if (!groups || !axis || x->rank == 0) return false;
    const double d = *axis < 0 ? *axis + x->rank : *axis;
    if (!(d >= 0 && d < x->rank && *groups >= 1)) return false;
    const double other = floor(x->dims[(uint32_t)d] / *groups);
    if (other < 1 || !put(groups, other)) return false;
    nnv_edit_set_numbers(e, at, groups, 1);
    return true;
}

/** A number that is none of the n keys. */
static double no_key(const double *keys, size_t n) {
    double v = 0;
    for (size_t i = 0; i <= n; i++, v++) {
        bool is = false;
        for (size_t k = 0; k < n; k++) is = is || keys[k] == v;
        if (!is) break;
    }
    return v;
}

/** What is looked up of the n rising keys instead of v. */
static double looked_up(const struct nnv_fault *f, double v, const double *keys, size_t n) {
    size_t at = 0;
    while (at < n && keys[at] < v) at++;
    const bool is = at < n && keys[at] <= v;
    if ((enum nnv_fault_lookups)f->value == NNV_LOOKUPS_NEXT) return !is && at < n ? keys[at] : v;
    const size_t lost = (enum nnv_fault_lookups)f->value == NNV_LOOKUPS_FIRST_LOST ? 0 : n - 1;
    return is && at == lost ? no_key(keys, n) : v;
}

bool nnv_change_lookups(struct nnv_edit *e, const struct nnv_fault *f) {
    const int pos = nnv_edit_find(e, f->slots[0]), table = nnv_edit_find(e, f->slots[1]);
    size_t n, rows;
    double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
    const double *keys = table < 0 ? NULL : nnv_edit_numbers(e, table, &rows);
    bool any = false;
    if (!v || !keys || rows == 0) return false;
    for (size_t i = 0; i < n; i++) any |= put(&v[i], looked_up(f, v[i], keys, rows));
    if (any) nnv_edit_set_numbers(e, pos, v, n);
    return any;
}

bool nnv_change_op(struct nnv_edit *e, const struct nnv_fault *f) {
    struct nnv_operation *op = nnv_edit_op(e);
    if (f->code == f->other_code || op->type != f->code) return false;
    const struct nnv_op *other = nnv_op(f->other_code);
    uint32_t most = 0;
    for (uint8_t i = 0; i < other->nforms; i++) most = other->forms[i].nin > most ? other->forms[i].nin : most;
    if (op->nin > most) op->nin = most;
    op->type = f->other_code;
    return true;
}
