/* SPDX-License-Identifier: Apache-2.0 */
/** @file rival_driver.h What bench_layers measures: a driver, from request to answer. */
#ifndef NNV_BENCH_RIVAL_DRIVER_H
#define NNV_BENCH_RIVAL_DRIVER_H

#include <unistd.h>

#include "base/rng.h"
#include "harness/bench/stream.h"
#include "tests/bench/rival.h"

/** A driver, and the model that it runs. */
struct driver {
    struct nnv_client client;
    struct nnvts_prepared_model *prepared;
    struct nnv_bench_stream stream;
    struct nnv_arena *arena;
};

static inline size_t bytes_of(const struct nnv_operand *o) {
    size_t bytes = nnv_type(o->type)->size;
    for (uint32_t i = 0; i < o->rank; i++) bytes *= o->dims[i];
    return bytes;
}

static inline void value_of(const struct nnv_operand *o, struct nnv_value *v) {
    *v = (struct nnv_value){.rank = o->rank, .bytes = bytes_of(o)};
    memcpy(v->dims, o->dims, o->rank * sizeof *o->dims);
}

static inline enum nnv_status make_input(const struct nnv_operand *o, struct nnv_arena *a, struct nnv_value *in,
                                         struct nnv_err *err) {
    const size_t size = nnv_type(o->type)->size;
    value_of(o, in);
    in->data = nnv_arena_alloc(a, in->bytes, 1);
    if (!in->data) return nnv_no_memory(err);
    struct nnv_rng rng = nnv_rng_make(1, 2, 3);
    for (size_t i = 0; i < in->bytes / size; i++) {
        double x = nnv_rng_uniform(&rng, -1, 1);
        if (o->scale > 0) x = x / (double)o->scale + o->zero_point;
        nnv_store(o->type, &x, 1, (char *)in->data + i * size);
    }
    return NNV_OK;
}

static inline enum nnv_status make_inputs(const struct nnv_model *m, struct nnv_arena *a, struct nnv_value **values,
                                          struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    *values = NNV_NEW(a, struct nnv_value, m->main.nin);
    if (!*values) return nnv_no_memory(err);
    for (uint32_t i = 0; i < m->main.nin && !st; i++)
        st = make_input(&m->main.operands[m->main.in[i]], a, &(*values)[i], err);
    return st;
}

/** NNV_UNSUPPORTED: the driver does not take the model. */
static inline enum nnv_status driver_prepare(struct driver *d, const struct nnv_model *m, struct nnv_err *err) {
    static const struct nnvts_prepare_config config = {.deadline_ns = NNVTS_NO_TIME};
    struct nnvts_device *device = d->client.device;
    struct nnvts_model model;
    char reason[NNV_BENCH_REASON];
    struct nnv_value *in, *out = NNV_NEW(d->arena, struct nnv_value, m->main.nout);
    const struct nnv_value **inputs = NNV_NEW(d->arena, const struct nnv_value *, m->main.nin);
    if (!out || !inputs) return nnv_no_memory(err);
    enum nnv_status st = make_inputs(m, d->arena, &in, err);
    if (st) return st;
    for (uint32_t i = 0; i < m->main.nin; i++) inputs[i] = &in[i];
    for (uint32_t i = 0; i < m->main.nout; i++) value_of(&m->main.operands[m->main.out[i]], &out[i]);
    const struct nnv_bench_work work = {.model = m, .sets = 1, .inputs = inputs, .output_shapes = out};
    struct nnv_abi_pool constants = {0};
    st = nnv_abi_model(m, d->arena, NNV_POOL_FD_ONLY, &model, &constants, err);
    if (st) return st;
    const bool prepared = device->prepare_model(device, &model, &config, &d->prepared) == NNVTS_STATUS_NONE;
    nnv_abi_pool_free(&constants);
    if (!prepared) return NNV_UNSUPPORTED;
    if (nnv_bench_stream_open(&d->stream, &work, NNV_MODE_SYNC, d->prepared, d->arena, reason) != NNV_BENCH_DONE)
        return nnv_fail(err, NNV_INVALID, "%s", reason);
    if (!nnv_bench_stream_run(&d->stream, 0))
        return nnv_fail(err, NNV_INVALID, "the driver does not execute the model");
    return NNV_OK;
}

static inline void *driver_open(const struct rival *r, const struct nnv_model *m) {
    struct driver *d = r->own;
    struct nnv_err err = {0};
    d->arena = nnv_arena_new();
    rival_must(d->arena, r->name, "memory", 0);
    const enum nnv_status st = driver_prepare(d, m, &err);
    if (st == NNV_OK) return d;
    rival_must(st == NNV_UNSUPPORTED, r->name, err.text, (int)st);
    nnv_arena_free(d->arena);
    return NULL;
}

static inline void driver_run(void *state) {
    struct driver *d = state;
    rival_must(nnv_bench_stream_run(&d->stream, 0), "driver", "execute", 0);
}

static inline void driver_close(void *state) {
    struct driver *d = state;
    nnv_bench_stream_close(&d->stream);
    if (d->prepared) d->prepared->release(d->prepared);
    d->prepared = NULL;
    nnv_arena_free(d->arena);
}

/** The driver NAME.so of the folder; false where it was not built. */
static inline bool rival_driver(struct rival *r, const char *folder, const char *name, const char *options,
                                struct nnv_err *err) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    if (access(path, R_OK)) return false;
    struct driver *d = calloc(1, sizeof *d);
    rival_must(d, name, "memory", 0);
    rival_must(nnv_client_open(&d->client, path, options, err) == NNV_OK, name, err->text, 0);
    *r = (struct rival){.name = name, .open = driver_open, .run = driver_run, .close = driver_close, .own = d};
    return true;
}

#endif
