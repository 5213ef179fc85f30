/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.c Requests whose arguments lie in memory of every legal kind and place, in each mode. */
#include <string.h>
#include <unistd.h>

#include "base/guard.h"
#include "harness/suites/exec/exec.h"

/** Where the arguments of a request lie. */
struct layout {
    enum nnv_pool_kind inputs, outputs;
    enum { SPLIT, TOGETHER, APART } pools; /**< inputs and outputs, all in one pool, each in a pool of its own */
    uint32_t front_pages;                  /**< of the file before each pool */
    uint32_t shift_elems;                  /**< arguments begin so many elements behind a multiple of 64 */
    bool spare;                            /**< with pools that no argument lies in */
};

enum { MAX_POOLS = 2 * (2 * NNV_FIXTURE_MAX_IO), SLACK = 64, FRONT = 0x5a };

/** The pools of a layout, while they are laid out. */
struct placement {
    struct nnvts_memory pools[MAX_POOLS];
    uint8_t *bytes[MAX_POOLS]; /**< of the whole file, where nnvts writes */
    size_t size[MAX_POOLS], used[MAX_POOLS];
    bool output[MAX_POOLS];
    uint32_t count;
    size_t front_bytes;
};

static uint32_t pool_of(const struct layout *l, uint32_t nin, uint32_t arg) {
    const uint32_t plain = l->pools == TOGETHER ? 0 : l->pools == APART ? arg : arg >= nin;
    return l->spare ? 2 * plain + 1 : plain;
}

static size_t argument_bytes(const struct nnv_request *v, uint32_t arg) {
    const uint32_t nin = v->abi.input_count;
    return arg < nin ? v->fixture->spec->inputs[arg].bytes : v->fixture->expected[arg - nin].value->bytes;
}

static size_t element_bytes(const struct nnv_request *v, uint32_t arg) {
    const struct nnv_subgraph *main = &v->fixture->spec->model.main;
    return nnv_type(main->operands[arg < main->nin ? main->in[arg] : main->out[arg - main->nin]].type)->size;
}

/** Makes the pools, each as large as its arguments need. */
static bool make_pools(struct nnv_exec *x, const struct layout *l, const struct nnv_request *v, struct placement *p) {
    const uint32_t nin = v->abi.input_count, n = nin + v->abi.output_count;
    *p = (struct placement){.front_bytes = l->front_pages * (size_t)sysconf(_SC_PAGESIZE)};
    for (uint32_t a = 0; a < n; a++) {
        const uint32_t pool = pool_of(l, nin, a);
        p->size[pool] += nnv_guard_room(argument_bytes(v, a)) + SLACK;
        p->output[pool] = p->output[pool] || a >= nin;
        if (pool + 1 + l->spare > p->count) p->count = pool + 1 + l->spare;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        struct nnvts_memory *pool = &p->pools[i];
        if (!nnv_context_memory(x->s, p->front_bytes + p->size[i], p->output[i] ? l->outputs : l->inputs, pool,
                                &p->bytes[i]))
            return false;
        memset(p->bytes[i], FRONT, p->front_bytes);
        if (p->output[i]) pool->prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE;
        if (pool->data) pool->data = (uint8_t *)pool->data + p->front_bytes;
        pool->offset = p->front_bytes;
        pool->size = p->size[i];
    }
    return true;
}

/** Moves a request's arguments into the pools of the layout. */
static bool lay_out(struct nnv_exec *x, const struct layout *l, struct nnv_request *v, struct placement *p) {
    const uint32_t nin = v->abi.input_count, n = nin + v->abi.output_count;
    if (!make_pools(x, l, v, p)) return false;
    for (uint32_t a = 0; a < n; a++) {
        const uint32_t pool = pool_of(l, nin, a);
        const size_t at = p->used[pool] + NNV_GUARD_BYTES + l->shift_elems * element_bytes(v, a);
        const struct nnvts_location place = {
            .pool = pool, .offset = (uint32_t)at, .length = (uint32_t)argument_bytes(v, a)};
        uint8_t *data = p->bytes[pool] + p->front_bytes + at;
        p->used[pool] += nnv_guard_room(place.length) + SLACK;
        if (a < nin) {
            v->inputs[a].location = place;
            v->input_at[a] = data;
        } else {
            v->output_places[a - nin] = place;
            v->output_at[a - nin] = data;
        }
    }
    nnv_request_fill(v, v->in);
    v->abi.pools = p->pools;
    v->abi.pool_count = p->count;
    return true;
}

static bool fronts_whole(const struct placement *p) {
    for (uint32_t i = 0; i < p->count; i++)
        for (size_t at = 0; at < p->front_bytes; at++)
            if (p->bytes[i][at] != FRONT) return false;
    return true;
}

/** Two executions in each mode that the driver has. */
static bool run_modes(struct nnv_exec *x) {
    for (int mode = 0; mode < NNV_MODES; mode++)
        for (int i = 0; i < 2 && nnv_mode_offered(x->prepared, (enum nnv_mode)mode); i++)
            if (!nnv_exec_run(x, x->prepared, (enum nnv_mode)mode, &x->values, NULL)) return false;
    return true;
}

static bool run_layout(struct nnv_exec *x, struct layout l) {
    struct placement p;
    if (!lay_out(x, &l, &x->values, &p) || !run_modes(x)) return false;
    return nnv_expect(x->s, fronts_whole(&p), "the driver wrote to a pool's file before the pool's offset");
}

#define READ_ONLY NNV_POOL_READ_ONLY
#define WRITABLE NNV_POOL_WRITABLE
#define FD_ONLY NNV_POOL_FD_ONLY

static void fd_only(struct nnv_exec *x) { run_layout(x, (struct layout){.inputs = FD_ONLY, .outputs = FD_ONLY}); }
static void fd_and_pointer(struct nnv_exec *x) {
    run_layout(x, (struct layout){.inputs = FD_ONLY, .outputs = WRITABLE});
}
static void pool_offset(struct nnv_exec *x) {
    run_layout(x, (struct layout){.inputs = READ_ONLY, .outputs = WRITABLE, .front_pages = 1});
}
static void pool_offset_fd_only(struct nnv_exec *x) {
    run_layout(x, (struct layout){.inputs = FD_ONLY, .outputs = FD_ONLY, .front_pages = 3});
}
static void odd_offsets(struct nnv_exec *x) {
    if (run_layout(x, (struct layout){.inputs = READ_ONLY, .outputs = WRITABLE, .shift_elems = 1}))
        run_layout(x, (struct layout){.inputs = FD_ONLY, .outputs = FD_ONLY, .shift_elems = 7});
}
static void one_pool(struct nnv_exec *x) {
    if (run_layout(x, (struct layout){.inputs = WRITABLE, .outputs = WRITABLE, .pools = TOGETHER}))
        run_layout(x, (struct layout){.inputs = FD_ONLY, .outputs = FD_ONLY, .pools = TOGETHER, .front_pages = 2});
}
static void many_pools(struct nnv_exec *x) {
    if (run_layout(x, (struct layout){.inputs = READ_ONLY, .outputs = WRITABLE, .pools = APART}))
        run_layout(x, (struct layout){.inputs = FD_ONLY, .outputs = FD_ONLY, .pools = APART, .spare = true});
}

/** Two inputs that are one place. */
static void input_twice(struct nnv_exec *x) {
    struct nnv_spec spec = *x->fixture.spec;
    struct nnv_value inputs[2] = {spec.inputs[0], spec.inputs[1]};
    struct nnv_fixture same;
    inputs[1].data = inputs[0].data;
    spec.inputs = inputs;
    if (!nnv_context_model(x->s, &spec, &same) || !nnv_context_request(x->s, &same, READ_ONLY, &x->values)) return;
    x->values.inputs[1].location = x->values.inputs[0].location;
    run_modes(x);
}

/** What prepare_model was given is the caller's again: it is overwritten before the execution. */
static void constants_gone(struct nnv_exec *x) {
    const struct nnvts_model *m = &x->fixture.model;
    if (m->pool_count) memset(x->fixture.constants, 0xee, (size_t)m->pools[0].size);
    memset((void *)m->operand_values, 0xee, m->operand_values_bytes);
    run_modes(x);
}

/* ------------------------------------------------------------------- afterwards */

enum { OURS = 0xa5, PATIENCE_US = 30000, LOOK_US = 5000 };

/** The memory of an execution that has ended is the caller's, who writes something else there. */
static void take_over(const struct nnv_request *v) {
    for (int p = 0; p < 2; p++) memset(v->pool_data[p], OURS, v->bytes[p]);
}

/** Memory that was taken over still holds that. */
static bool is_left_alone(struct nnv_exec *x, const struct nnv_request *v) {
    static const char *const words[] = {"inputs", "outputs"};
    for (int p = 0; p < 2; p++) {
        size_t changed = 0, first = 0;
        for (size_t i = v->bytes[p]; i-- > 0;)
            if (v->pool_data[p][i] != OURS) changed++, first = i;
        x->s->result->worker_damaged |= changed > 0;
        if (!nnv_expect_why(x->s, changed == 0, NNVTS_WHY_LATE,
                            "an execution had ended, and then the driver wrote %zu bytes to the memory of its %s, from "
                            "byte %zu on: other cases may fail because of it",
                            changed, words[p], first))
            return false;
    }
    return true;
}

/** One execution in each mode; then nobody may write to the memory of any of them. */
static void left_alone(struct nnv_exec *x) {
    struct nnv_request values[NNV_MODES];
    bool ran[NNV_MODES] = {false};
    for (int mode = 0; mode < NNV_MODES; mode++) {
        if (!nnv_mode_offered(x->prepared, (enum nnv_mode)mode)) continue;
        if (!nnv_context_request(x->s, &x->fixture, NNV_POOL_WRITABLE, &values[mode]) ||
            !nnv_exec_run(x, x->prepared, (enum nnv_mode)mode, &values[mode], NULL))
            return;
        take_over(&values[mode]);
        ran[mode] = true;
    }
    for (unsigned us = 0; us < PATIENCE_US; us += LOOK_US) {
        nnv_exec_sleep_us(LOOK_US);
        for (int mode = 0; mode < NNV_MODES; mode++) {
            x->s->mode = mode + 1;
            if (ran[mode] && !is_left_alone(x, &values[mode])) return;
        }
    }
}

static const struct nnv_exec_case cases[] = {
    {.name = "fd_only", .run = fd_only},
    {.name = "fd_and_pointer", .run = fd_and_pointer},
    {.name = "pool_offset", .run = pool_offset},
    {.name = "pool_offset_fd_only", .run = pool_offset_fd_only},
    {.name = "odd_offsets", .run = odd_offsets},
    {.name = "one_pool", .run = one_pool},
    {.name = "many_pools", .run = many_pools},
    {.name = "input_twice", .run = input_twice, .only = "add_"},
    {.name = "constants_gone", .run = constants_gone},
    {.name = "left_alone", .run = left_alone, .only = "conv_"},
};
const struct nnv_exec_group nnv_exec_memory = NNV_EXEC_GROUP("memory", cases);
