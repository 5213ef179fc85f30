/* SPDX-License-Identifier: Apache-2.0 */
/* Models in messages, and what is asked and answered of them. */
#include <string.h>

#include "harness/bench/remote_wire.h"
#include "reference/model/validate.h"

#define MOST_VALUES (UINT64_C(1) << 30)

/* ---------------------------------------------------------------------- writing */

static void put_list(struct nnv_text *out, const uint32_t *list, uint32_t n) {
    nnv_remote_put_u32(out, n);
    for (uint32_t i = 0; i < n; i++) nnv_remote_put_u32(out, list[i]);
}

static uint32_t bits_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void put_operand(struct nnv_text *out, const struct nnv_operand *o, bool with_data) {
    nnv_remote_put_u32(out, (uint32_t)o->type);
    put_list(out, o->dims, o->rank);
    nnv_remote_put_u32(out, bits_of(o->scale));
    nnv_remote_put_u32(out, (uint32_t)o->zero_point);
    nnv_remote_put_u32(out, o->channel.dim);
    nnv_remote_put_u32(out, o->channel.count);
    for (uint32_t i = 0; i < o->channel.count; i++) nnv_remote_put_u32(out, bits_of(o->channel.scales[i]));
    nnv_remote_put_u32(out, o->lifetime);
    nnv_remote_put_u32(out, o->subgraph);
    nnv_remote_put_u64(out, o->data ? o->bytes : 0);
    if (o->data && with_data) nnv_text_add_n(out, o->data, o->bytes);
}

static void put_subgraph(struct nnv_text *out, const struct nnv_subgraph *s, bool with_data) {
    nnv_remote_put_u32(out, s->noperands);
    for (uint32_t i = 0; i < s->noperands; i++) put_operand(out, &s->operands[i], with_data);
    nnv_remote_put_u32(out, s->noperations);
    for (uint32_t i = 0; i < s->noperations; i++) {
        nnv_remote_put_u32(out, (uint32_t)s->operations[i].type);
        put_list(out, s->operations[i].in, s->operations[i].nin);
        put_list(out, s->operations[i].out, s->operations[i].nout);
    }
    put_list(out, s->in, s->nin);
    put_list(out, s->out, s->nout);
}

void nnv_remote_put_model(struct nnv_text *out, const struct nnv_model *m, bool with_data) {
    nnv_remote_put_u32(out, m->relaxed);
    put_subgraph(out, &m->main, with_data);
    nnv_remote_put_u32(out, m->nreferenced);
    for (uint32_t i = 0; i < m->nreferenced; i++) put_subgraph(out, &m->referenced[i], with_data);
}

/* ---------------------------------------------------------------------- reading */

struct reader {
    struct nnv_remote_in *in;
    struct nnv_arena *arena;
    bool no_memory;
};

/* A count of things that take at least so many bytes each. */
static uint32_t get_count(struct reader *r, size_t least) {
    uint32_t n = nnv_remote_get_u32(r->in);
    if (n > (r->in->bytes - r->in->at) / least) r->in->failed = true;
    return r->in->failed ? 0 : n;
}

static void *new_array(struct reader *r, size_t n, size_t size) {
    void *array = nnv_arena_alloc(r->arena, n, size);
    if (!array) r->no_memory = r->in->failed = true;
    return array;
}

static uint32_t *get_list(struct reader *r, uint32_t *n) {
    *n = get_count(r, 4);
    uint32_t *list = new_array(r, *n, sizeof *list);
    for (uint32_t i = 0; list && i < *n; i++) list[i] = nnv_remote_get_u32(r->in);
    if (!list) *n = 0;
    return list;
}

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void get_operand(struct reader *r, struct nnv_operand *o) {
    o->type = (int32_t)nnv_remote_get_u32(r->in);
    o->dims = get_list(r, &o->rank);
    o->scale = float_of(nnv_remote_get_u32(r->in));
    o->zero_point = (int32_t)nnv_remote_get_u32(r->in);
    o->channel.dim = nnv_remote_get_u32(r->in);
    o->channel.count = get_count(r, 4);
    o->channel.scales = new_array(r, o->channel.count, sizeof(float));
    for (uint32_t i = 0; o->channel.scales && i < o->channel.count; i++)
        o->channel.scales[i] = float_of(nnv_remote_get_u32(r->in));
    uint32_t lifetime = nnv_remote_get_u32(r->in);
    if (lifetime >= NNV_LIFETIME_COUNT) r->in->failed = true;
    o->lifetime = (enum nnv_lifetime)lifetime;
    o->subgraph = nnv_remote_get_u32(r->in);
    uint64_t bytes = nnv_remote_get_u64(r->in);
    if (!bytes || r->in->failed) return;
    const void *data = bytes <= SIZE_MAX ? nnv_remote_get_bytes(r->in, (size_t)bytes) : NULL;
    void *copy = data ? nnv_arena_copy(r->arena, data, (size_t)bytes) : NULL;
    r->no_memory |= data && !copy;
    r->in->failed |= !copy;
    o->data = copy;
    o->bytes = (size_t)bytes;
}

static void get_subgraph(struct reader *r, struct nnv_subgraph *s) {
    enum { OPERAND = 44, OPERATION = 12 }; /* bytes at least */
    s->noperands = get_count(r, OPERAND);
    s->operands = new_array(r, s->noperands, sizeof *s->operands);
    for (uint32_t i = 0; !r->in->failed && i < s->noperands; i++) get_operand(r, &s->operands[i]);
    s->noperations = get_count(r, OPERATION);
    s->operations = new_array(r, s->noperations, sizeof *s->operations);
    for (uint32_t i = 0; !r->in->failed && i < s->noperations; i++) {
        struct nnv_operation *op = &s->operations[i];
        op->type = (int32_t)nnv_remote_get_u32(r->in);
        op->in = get_list(r, &op->nin);
        op->out = get_list(r, &op->nout);
    }
    s->in = get_list(r, &s->nin);
    s->out = get_list(r, &s->nout);
}

static bool add_bytes(const struct nnv_subgraph *s, uint64_t *sum) {
    for (uint32_t i = 0; i < s->noperands; i++) {
        const struct nnv_type *t = nnv_type(s->operands[i].type);
        size_t elems, bytes;
        if (s->operands[i].lifetime == NNV_NO_VALUE || s->operands[i].lifetime == NNV_SUBGRAPH || !t) continue;
        if (!nnv_operand_size(&s->operands[i], &elems, &bytes) || bytes > UINT64_C(1) << 62) return false;
        if (__builtin_add_overflow(*sum, bytes, sum)) return false;
    }
    return true;
}

bool nnv_model_bytes(const struct nnv_model *model, uint64_t *bytes) {
    *bytes = 0;
    bool known = add_bytes(&model->main, bytes);
    for (uint32_t i = 0; known && i < model->nreferenced; i++) known = add_bytes(&model->referenced[i], bytes);
    return known;
}

enum nnv_status nnv_remote_get_model(struct nnv_remote_in *in, struct nnv_arena *arena, struct nnv_model *out,
                                     struct nnv_err *err) {
    enum { SUBGRAPH = 16 };
    struct reader r = {.in = in, .arena = arena};
    struct nnv_model m = {.relaxed = nnv_remote_get_u32(in) == 1};
    uint64_t bytes = 0;
    int level = 0;
    get_subgraph(&r, &m.main);
    m.nreferenced = get_count(&r, SUBGRAPH);
    m.referenced = new_array(&r, m.nreferenced, sizeof *m.referenced);
    for (uint32_t i = 0; !in->failed && i < m.nreferenced; i++) get_subgraph(&r, &m.referenced[i]);
    if (r.no_memory) return nnv_no_memory(err);
    if (!nnv_remote_in_done(in)) return nnv_fail(err, NNV_INVALID, "the message is no model");
    enum nnv_status s = nnv_validate(&m, arena, &level, err);
    if (s != NNV_OK) return nnv_at(err, s, "the model");
    if (!nnv_model_bytes(&m, &bytes)) return nnv_fail(err, NNV_UNSUPPORTED, "the model has shapes that are not known");
    if (bytes > MOST_VALUES) return nnv_fail(err, NNV_UNSUPPORTED, "the model's values take more than a GiB");
    *out = m;
    return NNV_OK;
}

/* -------------------------------------------------------------- question and answer */

void nnv_remote_put_measure(struct nnv_text *out, uint64_t time_ns, const struct nnv_model *m) {
    nnv_remote_put_u64(out, time_ns);
    nnv_remote_put_model(out, m, true);
}

enum nnv_status nnv_remote_get_measure(struct nnv_remote_in *in, struct nnv_arena *arena, uint64_t *time_ns,
                                       struct nnv_model *m, struct nnv_err *err) {
    *time_ns = nnv_remote_get_u64(in);
    return nnv_remote_get_model(in, arena, m, err);
}

void nnv_remote_put_times(struct nnv_text *out, const struct nnv_timed *t) {
    nnv_remote_put_u32(out, t->state);
    nnv_remote_put_text(out, t->reason);
    nnv_remote_put_f64(out, t->us);
    nnv_remote_put_f64(out, t->low_us);
    nnv_remote_put_f64(out, t->high_us);
    nnv_remote_put_u32(out, t->samples);
    nnv_remote_put_u32(out, t->steady);
    nnv_remote_put_f64(out, t->noise);
}

bool nnv_remote_get_times(struct nnv_remote_in *in, struct nnv_timed *t) {
    uint32_t state = nnv_remote_get_u32(in);
    nnv_remote_get_text(in, t->reason, sizeof t->reason);
    t->state = (enum nnv_bench_state)state;
    t->us = nnv_remote_get_f64(in);
    t->low_us = nnv_remote_get_f64(in);
    t->high_us = nnv_remote_get_f64(in);
    t->samples = nnv_remote_get_u32(in);
    t->steady = nnv_remote_get_u32(in) == 1;
    t->noise = nnv_remote_get_f64(in);
    bool sane = t->us >= 0 && t->us <= 1e12 && t->low_us >= 0 && t->high_us >= t->low_us && t->high_us <= 1e12;
    return nnv_remote_in_done(in) && state <= NNV_BENCH_ERROR && (sane || state != NNV_BENCH_DONE);
}
