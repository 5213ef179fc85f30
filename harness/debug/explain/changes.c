/* SPDX-License-Identifier: Apache-2.0 */
/** @file changes.c Changes of attributes and constants that rows of the bank share. */
#include <math.h>
#include <string.h>

#include "harness/debug/explain/mistakes.h"

/** Calls work for each input of the row that is there and known; true if one of them changed. */
static bool each_slot(struct nnv_edit *e, const struct nnv_mistake *m,
                      bool (*work)(const struct nnv_mistake *m, double *v, size_t n)) {
    bool any = false;
    for (int i = 0; i < NNV_MISTAKE_SLOTS && m->slots[i]; i++) {
        int pos = nnv_edit_find(e, m->slots[i]);
        size_t n;
        double *v = pos < 0 ? NULL : nnv_edit_numbers(e, pos, &n);
        if (!v || n == 0 || !work(m, v, n)) continue;
        nnv_edit_set_numbers(e, pos, v, n);
        any = true;
    }
    return any;
}

static bool put(double *v, double value) {
    bool differs = *v != value;
    *v = value;
    return differs;
}

static bool set(const struct nnv_mistake *m, double *v, size_t n) { return n == 1 && put(v, m->value); }
static bool add(const struct nnv_mistake *m, double *v, size_t n) { return n == 1 && put(v, *v + m->value); }
static bool from_to(const struct nnv_mistake *m, double *v, size_t n) {
    return n == 1 && *v == m->value && put(v, m->other);
}
static bool toggle(const struct nnv_mistake *m, double *v, size_t n) {
    (void)m;
    return n == 1 && put(v, *v == 0);
}
static bool zero_one(const struct nnv_mistake *m, double *v, size_t n) {
    return n > 1 && put(&v[m->value < 0 ? n - 1 : (size_t)m->value % n], 0);
}
static bool first(const struct nnv_mistake *m, double *v, size_t n) {
    bool any = false;
    (void)m;
    for (size_t i = 1; i < n; i++) any |= put(&v[i], v[0]);
    return any;
}
static bool times(const struct nnv_mistake *m, double *v, size_t n) {
    bool any = false;
    for (size_t i = 0; i < n; i++) any |= put(&v[i], v[i] * m->value);
    return any;
}
static bool identity(const struct nnv_mistake *m, double *v, size_t n) {
    bool any = false;
    (void)m;
    for (size_t i = 0; i < n; i++) any |= put(&v[i], (double)i);
    return any;
}

static bool swap_two(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
    return *a != *b;
}

static bool pairs(const struct nnv_mistake *m, double *v, size_t n) {
    bool any = false;
    (void)m;
    for (size_t i = 0; i + 1 < n; i += 2) any |= swap_two(&v[i], &v[i + 1]);
    return any;
}

static bool reverse(const struct nnv_mistake *m, double *v, size_t n) {
    bool any = false;
    (void)m;
    for (size_t i = 0; i < n / 2; i++) any |= swap_two(&v[i], &v[n - 1 - i]);
    return any;
}

static bool inverse(const struct nnv_mistake *m, double *v, size_t n) {
    double to[NNV_MAX_RANK] = {0};
    bool any = false;
    (void)m;
    if (n > NNV_MAX_RANK) return false;
    for (size_t i = 0; i < n; i++) {
        if (!(v[i] >= 0 && v[i] < (double)n)) return false;
        to[(size_t)v[i]] = (double)i;
    }
    for (size_t i = 0; i < n; i++) any |= put(&v[i], to[i]);
    return any;
}

bool nnv_change_set(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, set); }
bool nnv_change_add(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, add); }
bool nnv_change_toggle(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, toggle); }
bool nnv_change_zero_one(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, zero_one); }
bool nnv_change_first(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, first); }
bool nnv_change_times(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, times); }
bool nnv_change_pairs(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, pairs); }
bool nnv_change_reverse(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, reverse); }
bool nnv_change_identity(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, identity); }
bool nnv_change_inverse(struct nnv_edit *e, const struct nnv_mistake *m) { return each_slot(e, m, inverse); }

bool nnv_change_zero(struct nnv_edit *e, const struct nnv_mistake *m) {
    bool any = false;
    for (int i = 0; i < NNV_MISTAKE_SLOTS && m->slots[i]; i++) {
        int pos = nnv_edit_find(e, m->slots[i]);
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

bool nnv_change_swap(struct nnv_edit *e, const struct nnv_mistake *m) {
    bool any = false;
    for (int i = 0; i + 1 < NNV_MISTAKE_SLOTS && m->slots[i]; i += 2) {
        int a = nnv_edit_find(e, m->slots[i]), b = nnv_edit_find(e, m->slots[i + 1]);
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

bool nnv_change_rotate(struct nnv_edit *e, const struct nnv_mistake *m) {
    bool any = false;
    for (int i = 0; i < NNV_MISTAKE_SLOTS && m->slots[i]; i++) {
        int pos = nnv_edit_find(e, m->slots[i]);
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

bool nnv_change_neighbours(struct nnv_edit *e, const struct nnv_mistake *m) {
    const int pos = nnv_edit_find(e, m->slots[0]);
    struct nnv_operation *op = nnv_edit_op(e);
    if (pos < 0 || (uint32_t)pos + 1 >= op->nin) return false;
    const struct nnv_operand *a = nnv_edit_operand(e, pos), *b = nnv_edit_operand(e, pos + 1);
    return a->type == b->type && swap_indices(&op->in[pos], &op->in[pos + 1]);
}

bool nnv_change_outputs(struct nnv_edit *e, const struct nnv_mistake *m) {
    struct nnv_operation *op = nnv_edit_op(e);
    (void)m;
    return op->nout > 1 && swap_indices(&op->out[0], &op->out[1]);
}

bool nnv_change_groups(struct nnv_edit *e, const struct nnv_mistake *m) {
    const int at = nnv_edit_find(e, m->slots[0]), along = nnv_edit_find(e, m->slots[1]);
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

bool nnv_change_op(struct nnv_edit *e, const struct nnv_mistake *m) {
    if (m->code == m->other_code || nnv_edit_op(e)->type != m->code) return false;
    nnv_edit_op(e)->type = m->other_code;
    return true;
}

bool nnv_change_from_to(struct nnv_edit *e, const struct nnv_mistake *m) {
    return nnv_change_op(e, m) || each_slot(e, m, from_to);
}
