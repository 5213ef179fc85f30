/* SPDX-License-Identifier: Apache-2.0 */
#include "move.h"

#include <string.h>

struct cpu_move cpu_move_of(const struct cpu_tensor *t) {
    return (struct cpu_move){.element = cpu_element(t->type)};
}

void cpu_move_axis(struct cpu_move *m, size_t count, ptrdiff_t from, ptrdiff_t to) {
    m->axis[m->axes++] = (struct cpu_stride){count, from, to};
}

/** The two innermost axes. */
struct plane {
    size_t rows, cols;
    ptrdiff_t row_from, row_to, col_from, col_to;
};

/** In blocks that stay in the cache, for whatever order. */
#define PLANE(NAME, TYPE)                                                                                              \
    static void NAME(const struct plane *p, const TYPE *from, TYPE *to) {                                              \
        enum { BLOCK = 16 };                                                                                           \
        for (size_t r0 = 0; r0 < p->rows; r0 += BLOCK)                                                                 \
            for (size_t c0 = 0; c0 < p->cols; c0 += BLOCK)                                                             \
                for (size_t r = r0; r < p->rows && r < r0 + BLOCK; r++) {                                              \
                    const TYPE *x = from + (ptrdiff_t)r * p->row_from;                                                 \
                    TYPE *y = to + (ptrdiff_t)r * p->row_to;                                                           \
                    for (size_t c = c0; c < p->cols && c < c0 + BLOCK; c++)                                            \
                        y[(ptrdiff_t)c * p->col_to] = x[(ptrdiff_t)c * p->col_from];                                   \
                }                                                                                                      \
    }                                                                                                                  \
    static void NAME##_filled(const struct plane *p, const TYPE *from, TYPE *to) {                                     \
        for (size_t r = 0; r < p->rows; r++, from += p->row_from, to += p->row_to)                                     \
            for (size_t c = 0; c < p->cols; c++) to[c] = *from;                                                        \
    }
PLANE(plane_4, uint32_t)
PLANE(plane_1, uint8_t)

static void plane_runs(const struct plane *p, uint32_t element, const char *from, char *to) {
    const ptrdiff_t bytes = (ptrdiff_t)element;
    for (size_t r = 0; r < p->rows; r++, from += p->row_from * bytes, to += p->row_to * bytes)
        memcpy(to, from, p->cols * element);
}

static void move_plane(const struct plane *p, uint32_t element, const char *from, char *to) {
    const bool filled = p->col_from == 0 && p->col_to == 1;
    if (p->col_from == 1 && p->col_to == 1)
        plane_runs(p, element, from, to);
    else if (element == 4)
        (filled ? plane_4_filled : plane_4)(p, (const uint32_t *)(const void *)from, (uint32_t *)(void *)to);
    else
        (filled ? plane_1_filled : plane_1)(p, (const uint8_t *)from, (uint8_t *)to);
}

/** Axes of extent 1 go, neighbours that are one run in both arrays become one. False: nothing to copy. */
static bool merge_axes(const struct cpu_move *m, struct cpu_move *out) {
    *out = (struct cpu_move){.element = m->element};
    for (uint32_t i = 0; i < m->axes; i++) {
        const struct cpu_stride a = m->axis[i];
        struct cpu_stride *outer = out->axes ? &out->axis[out->axes - 1] : NULL;
        if (a.count == 0) return false;
        if (a.count == 1) continue;
        if (outer && outer->from == (ptrdiff_t)a.count * a.from && outer->to == (ptrdiff_t)a.count * a.to)
            *outer = (struct cpu_stride){outer->count * a.count, a.from, a.to};
        else
            out->axis[out->axes++] = a;
    }
    if (out->axes == 0) cpu_move_axis(out, 1, 1, 1);
    return true;
}

/** Where the last axis is not dense in the input, the one that is the most comes to stand beside it. */
static void pair_axes(struct cpu_move *m) {
    const uint32_t last = m->axes - 1;
    if (last < 2 || m->axis[last].from == 0 || m->axis[last].from == 1) return;
    uint32_t best = last - 1;
    for (uint32_t i = 0; i < last; i++) {
        const ptrdiff_t step = m->axis[i].from, least = m->axis[best].from;
        if (step != 0 && (least == 0 || (step < 0 ? -step : step) < (least < 0 ? -least : least))) best = i;
    }
    const struct cpu_stride chosen = m->axis[best];
    for (uint32_t i = best; i + 1 < last; i++) m->axis[i] = m->axis[i + 1];
    m->axis[last - 1] = chosen;
}

struct job {
    struct cpu_move move;
    struct plane plane;
    uint32_t outer; /**< axes around the plane */
    const char *from;
    char *to;
};

/** Items are rows of planes. */
static void move_rows(void *arg, uint32_t begin, uint32_t end, uint32_t worker) {
    (void)worker;
    const struct job *j = arg;
    while (begin < end) {
        struct plane p = j->plane;
        size_t at = begin / p.rows, row = begin % p.rows;
        ptrdiff_t from = (ptrdiff_t)row * p.row_from, to = (ptrdiff_t)row * p.row_to;
        for (uint32_t i = j->outer; i-- > 0; at /= j->move.axis[i].count) {
            const ptrdiff_t index = (ptrdiff_t)(at % j->move.axis[i].count);
            from += index * j->move.axis[i].from;
            to += index * j->move.axis[i].to;
        }
        p.rows = p.rows - row < end - begin ? p.rows - row : end - begin;
        begin += (uint32_t)p.rows;
        const ptrdiff_t bytes = (ptrdiff_t)j->move.element;
        move_plane(&p, j->move.element, j->from + from * bytes, j->to + to * bytes);
    }
}

void cpu_move_run(struct cpu_threads *threads, const struct cpu_move *m, const void *from, void *to) {
    struct job j = {.from = from, .to = to};
    if (!merge_axes(m, &j.move)) return;
    pair_axes(&j.move);
    const uint32_t last = j.move.axes - 1;
    const struct cpu_stride col = j.move.axis[last], row = last ? j.move.axis[last - 1] : (struct cpu_stride){1, 0, 0};
    j.outer = last ? last - 1 : 0;
    j.plane = (struct plane){row.count, col.count, row.from, row.to, col.from, col.to};
    size_t rows = 1;
    for (uint32_t i = 0; i < last; i++) rows *= j.move.axis[i].count;
    const double value_ns = col.from == 1 && col.to == 1 ? 0.1 * j.move.element : 0.7;
    if (threads)
        cpu_threads_run(threads, (uint32_t)rows, (double)rows * (double)col.count * value_ns, move_rows, &j);
    else
        move_rows(&j, 0, (uint32_t)rows, 0);
}

void cpu_move_view(const struct cpu_call *c, const struct cpu_tensor *out, const struct cpu_shape *as, size_t first,
                   const ptrdiff_t step[]) {
    const struct cpu_tensor *x = cpu_in(c, 0);
    struct cpu_move m = cpu_move_of(x);
    ptrdiff_t to[CPU_MAX_RANK];
    cpu_steps(as, to);
    for (uint32_t d = 0; d < as->rank; d++) cpu_move_axis(&m, as->dims[d], step[d], to[d]);
    cpu_move_run(c->run->threads, &m, cpu_values_at(x, x->data, first), out->data);
}

void cpu_steps(const struct cpu_shape *s, ptrdiff_t step[CPU_MAX_RANK]) {
    ptrdiff_t n = 1;
    for (uint32_t d = s->rank; d-- > 0; n *= (ptrdiff_t)s->dims[d]) step[d] = n;
}

/* ---------------------------------------------------------------------- lists */

int32_t cpu_list_at(const struct cpu_call *c, uint32_t input, uint32_t i) {
    int32_t value;
    memcpy(&value, (const char *)cpu_in(c, input)->data + i * sizeof value, sizeof value);
    return value;
}

bool cpu_extent_add(uint32_t extent, uint64_t more, uint32_t *out) {
    *out = extent == CPU_UNKNOWN ? CPU_UNKNOWN : (uint32_t)(extent + more);
    return extent == CPU_UNKNOWN || extent + more < CPU_UNKNOWN;
}

bool cpu_extent_mul(uint32_t extent, uint64_t by, uint32_t *out) {
    *out = extent == CPU_UNKNOWN ? CPU_UNKNOWN : (uint32_t)(extent * by);
    return extent == CPU_UNKNOWN || by == 0 || extent < (CPU_UNKNOWN + by - 1) / by;
}
