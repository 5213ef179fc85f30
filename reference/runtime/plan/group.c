/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file group.c Grouping operations into steps.
 *
 * With the device of each operation given, the steps come from a list schedule: the operations whose inputs are there
 * wait in a queue for each device, a device's queue is chosen and drained as one step, and what that makes ready joins
 * the queues. Which queue is drained next decides how many steps there will be. Two rules are tried, from the inputs
 * to the outputs and the other way round, and the best of the four schedules is taken:
 *  - the last device first, which is the order that the literature gives;
 *  - the device whose waiting operations have the longest way to go, counted in changes of device. For two devices
 *    this gives the fewest steps that there can be.
 * Going backwards puts each operation as late as can be, so fewer values wait for their readers.
 */
#include "reference/runtime/plan/planning.h"

#define NONE UINT32_MAX

/** Who must come before whom, in compressed rows. */
struct edges {
    uint32_t *begin, *to;
};

struct scheduling {
    const struct nnvts_subgraph *g;
    const uint32_t *kinds;
    uint32_t kind_count, single;
    const struct edges *after; /**< in the direction of the schedule */
    const struct edges *before;
    uint32_t *pending, *next; /**< one an operation */
    uint32_t *head, *tail;    /**< queues, one a kind */
    uint32_t *tallest;        /**< one a kind: the most changes of kind that a waiting operation has before it */
    uint32_t *height;         /**< one an operation; NULL: the last kind first */
    uint32_t *step_of;        /**< one an operation */
    uint32_t step_count;
};

struct schedule {
    uint32_t *step_of;
    uint32_t step_count, crossings, unfit;
};

/* -------------------------------------------------------------------- edges */

/** The operation that writes each operand, or NONE. */
static uint32_t *producers_of(const struct nnvts_subgraph *g, struct nnv_arena *arena) {
    uint32_t *producer = NNV_NEW(arena, uint32_t, g->operand_count);
    for (uint32_t i = 0; producer != NULL && i < g->operand_count; i++) producer[i] = NONE;
    for (uint32_t i = 0; producer != NULL && i < g->operation_count; i++)
        for (uint32_t k = 0; k < g->operations[i].output_count; k++) producer[g->operations[i].outputs[k]] = i;
    return producer;
}

/** An edge for each input that another operation writes: forward from writer to reader, else from reader to writer. */
static bool edges_make(const struct nnvts_subgraph *g, const uint32_t *producer, bool forward, struct nnv_arena *arena,
                       struct edges *e) {
    uint32_t n = g->operation_count;
    e->begin = NNV_NEW(arena, uint32_t, (size_t)n + 2);
    if (e->begin == NULL) return false;
    /* Counted two places ahead, so that filling leaves begin where it belongs. */
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t k = 0; k < g->operations[i].input_count; k++) {
                uint32_t p = producer[g->operations[i].inputs[k]];
                if (p == NONE) continue;
                uint32_t from = forward ? p : i;
                if (fill)
                    e->to[e->begin[from + 1]++] = forward ? i : p;
                else
                    e->begin[from + 2]++;
            }
        }
        if (fill) break;
        for (uint32_t i = 0; i < n; i++) e->begin[i + 2] += e->begin[i + 1];
        e->to = NNV_NEW(arena, uint32_t, e->begin[n + 1]);
        if (e->to == NULL) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- schedules */

/**
 * The most changes of kind on any way from each operation to the end. Operations are visited in an order in which
 * all `after` come first: run order backwards, or for a schedule that goes backwards, run order.
 */
static void measure_heights(struct scheduling *s, bool forward) {
    uint32_t n = s->g->operation_count;
    for (uint32_t visit = 0; visit < n; visit++) {
        uint32_t i = forward ? n - 1 - visit : visit, most = 0;
        for (uint32_t e = s->after->begin[i]; e < s->after->begin[i + 1]; e++) {
            uint32_t j = s->after->to[e];
            bool changes = s->kinds[j] != s->kinds[i] || s->kinds[j] == s->single;
            if (s->height[j] + changes > most) most = s->height[j] + changes;
        }
        s->height[i] = most;
    }
}

static void wait_in_queue(struct scheduling *s, uint32_t i) {
    uint32_t kind = s->kinds[i];
    s->next[i] = NONE;
    if (s->head[kind] == NONE)
        s->head[kind] = i;
    else
        s->next[s->tail[kind]] = i;
    s->tail[kind] = i;
    if (s->height != NULL && s->height[i] > s->tallest[kind]) s->tallest[kind] = s->height[i];
}

/** The kind to take next; NONE when no operation waits. */
static uint32_t next_kind(const struct scheduling *s) {
    uint32_t best = NONE;
    for (uint32_t k = s->kind_count; k-- > 0;) {
        if (s->head[k] == NONE) continue;
        if (best == NONE || (s->height != NULL && s->tallest[k] > s->tallest[best])) best = k;
    }
    return best;
}

/** Puts the first of a queue into the current step; those that waited for it alone join their queues. */
static void take_first(struct scheduling *s, uint32_t kind) {
    uint32_t i = s->head[kind];
    s->head[kind] = s->next[i];
    s->step_of[i] = s->step_count;
    for (uint32_t e = s->after->begin[i]; e < s->after->begin[i + 1]; e++)
        if (--s->pending[s->after->to[e]] == 0) wait_in_queue(s, s->after->to[e]);
}

static int run_schedule(struct scheduling *s, bool forward) {
    uint32_t n = s->g->operation_count, placed = 0;
    for (uint32_t k = 0; k < s->kind_count; k++) {
        s->head[k] = NONE;
        s->tallest[k] = 0;
    }
    if (s->height != NULL) measure_heights(s, forward);
    for (uint32_t i = 0; i < n; i++) s->pending[i] = s->before->begin[i + 1] - s->before->begin[i];
    for (uint32_t i = 0; i < n; i++)
        if (s->pending[i] == 0) wait_in_queue(s, i);
    s->step_count = 0;
    for (uint32_t kind = next_kind(s); kind != NONE; kind = next_kind(s)) {
        do {
            take_first(s, kind);
            placed++;
        } while (s->head[kind] != NONE && kind != s->single);
        if (s->head[kind] == NONE) s->tallest[kind] = 0;
        s->step_count++;
    }
    for (uint32_t i = 0; i < n && !forward; i++) s->step_of[i] = s->step_count - 1 - s->step_of[i];
    return placed == n ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_BAD_DATA;
}

/* ------------------------------------------------------------- the best one */

/** What of a step is there. */
enum { HAS_INPUT = 1, HAS_OUTPUT = 2, IS_SINGLE = 4 };

/** Counts the operands that pass from step to step, and the steps without inputs or outputs. */
static bool judge(const struct scheduling *s, const uint32_t *producer, struct nnv_arena *arena, struct schedule *out) {
    const struct nnvts_subgraph *g = s->g;
    unsigned char *has = NNV_NEW(arena, unsigned char, s->step_count);
    bool *crosses = NNV_NEW(arena, bool, g->operand_count);
    if (has == NULL || crosses == NULL) return false;
    for (uint32_t i = 0; i < g->operation_count; i++) {
        const struct nnvts_operation *op = &g->operations[i];
        uint32_t step = s->step_of[i];
        if (s->kinds[i] == s->single) has[step] |= IS_SINGLE;
        for (uint32_t k = 0; k < op->input_count; k++) {
            uint32_t operand = op->inputs[k], p = producer[operand];
            if (g->operands[operand].lifetime == NNVTS_SUBGRAPH_INPUT) has[step] |= HAS_INPUT;
            if (p == NONE || s->step_of[p] == step) continue;
            has[step] |= HAS_INPUT;
            has[s->step_of[p]] |= HAS_OUTPUT;
            out->crossings += !crosses[operand];
            crosses[operand] = true;
        }
        for (uint32_t k = 0; k < op->output_count; k++)
            if (g->operands[op->outputs[k]].lifetime == NNVTS_SUBGRAPH_OUTPUT) has[step] |= HAS_OUTPUT;
    }
    for (uint32_t i = 0; i < s->step_count; i++)
        out->unfit += (has[i] & IS_SINGLE) == 0 && (has[i] & (HAS_INPUT | HAS_OUTPUT)) != (HAS_INPUT | HAS_OUTPUT);
    out->step_of = s->step_of;
    out->step_count = s->step_count;
    return true;
}

static bool better(const struct schedule *a, const struct schedule *b) {
    if (a->unfit != b->unfit) return a->unfit < b->unfit;
    if (a->step_count != b->step_count) return a->step_count < b->step_count;
    return a->crossings < b->crossings;
}

/** The operations by steps. */
static int gather(const struct schedule *s, uint32_t n, struct nnv_arena *arena, struct nnv_rt_grouping *out) {
    out->step_count = s->step_count;
    out->crossings = s->crossings;
    out->begin = NNV_NEW(arena, uint32_t, (size_t)s->step_count + 2);
    out->order = NNV_NEW(arena, uint32_t, n);
    if (out->begin == NULL || out->order == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < n; i++) out->begin[s->step_of[i] + 2]++;
    for (uint32_t i = 0; i < s->step_count; i++) out->begin[i + 2] += out->begin[i + 1];
    for (uint32_t i = 0; i < n; i++) out->order[out->begin[s->step_of[i] + 1]++] = i;
    return ANEURALNETWORKS_NO_ERROR;
}

int nnv_rt_group(const struct nnvts_subgraph *g, const uint32_t *kinds, uint32_t kind_count, uint32_t single,
                 struct nnv_arena *arena, struct nnv_rt_grouping *out) {
    uint32_t n = g->operation_count;
    struct edges edges[2] = {0};
    uint32_t *producer = producers_of(g, arena);
    if (producer == NULL || !edges_make(g, producer, true, arena, &edges[0]) ||
        !edges_make(g, producer, false, arena, &edges[1]))
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    struct scheduling s = {.g = g, .kinds = kinds, .kind_count = kind_count, .single = single};
    s.pending = NNV_NEW(arena, uint32_t, n);
    s.next = NNV_NEW(arena, uint32_t, n);
    s.head = NNV_NEW(arena, uint32_t, kind_count);
    s.tail = NNV_NEW(arena, uint32_t, kind_count);
    s.tallest = NNV_NEW(arena, uint32_t, kind_count);
    uint32_t *height = NNV_NEW(arena, uint32_t, n);
    if (s.pending == NULL || s.next == NULL || s.head == NULL || s.tail == NULL || s.tallest == NULL || height == NULL)
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    struct schedule best = {0};
    for (int i = 0; i < 4; i++) {
        bool forward = i < 2;
        struct schedule made = {0};
        s.after = &edges[forward ? 0 : 1];
        s.before = &edges[forward ? 1 : 0];
        s.height = i % 2 == 0 ? NULL : height;
        s.step_of = NNV_NEW(arena, uint32_t, n);
        if (s.step_of == NULL) return ANEURALNETWORKS_OUT_OF_MEMORY;
        int result = run_schedule(&s, forward);
        if (result != ANEURALNETWORKS_NO_ERROR) return result;
        if (!judge(&s, producer, arena, &made)) return ANEURALNETWORKS_OUT_OF_MEMORY;
        if (i == 0 || better(&made, &best)) best = made;
    }
    return gather(&best, n, arena, out);
}
