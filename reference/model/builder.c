/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/model/builder.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

/* Room for one more entry; false (and b->failed) without memory. */
static bool grow(struct nnv_builder *b, void *array, uint32_t count, size_t *room, size_t size) {
    if (nnv_builder_ok(b) && !nnv_grow(b->arena, array, count, room, size)) b->failed = true;
    return nnv_builder_ok(b);
}

struct nnv_encoding nnv_builder_encoding(const struct nnv_builder *b, uint32_t operand) {
    if (operand >= b->noperands) return (struct nnv_encoding){ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};
    const struct nnv_operand *o = &b->operand[operand];
    return (struct nnv_encoding){o->type, o->scale, o->zero_point};
}

uint32_t nnv_builder_operand(struct nnv_builder *b, struct nnv_operand o) {
    if (!grow(b, &b->operand, b->noperands, &b->operand_room, sizeof *b->operand)) return 0;
    b->operand[b->noperands] = o;
    return b->noperands++;
}

uint32_t nnv_builder_tensor(struct nnv_builder *b, struct nnv_encoding encoding, uint32_t rank, const uint32_t *dims,
                            enum nnv_lifetime lifetime) {
    struct nnv_operand o = {.type = encoding.type,
                            .scale = encoding.scale,
                            .zero_point = encoding.zero_point,
                            .rank = rank,
                            .lifetime = lifetime};
    o.dims = nnv_arena_copy(b->arena, dims, rank * sizeof *dims);
    if (!o.dims) b->failed = true;
    return nnv_builder_operand(b, o);
}

static size_t elements(uint32_t rank, const uint32_t *dims) {
    size_t n = 1;
    for (uint32_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(n, (size_t)dims[i], &n)) return SIZE_MAX;
    return n;
}

uint32_t nnv_builder_constant(struct nnv_builder *b, struct nnv_encoding e, uint32_t rank, const uint32_t *dims,
                              const void *data) {
    enum { COPIED = 128 }; /* bytes of the largest constant that NNAPI copies */
    uint32_t i = nnv_builder_tensor(b, e, rank, dims, NNV_CONSTANT_REFERENCE);
    if (!nnv_builder_ok(b)) return 0;
    struct nnv_operand *o = &b->operand[i];
    o->data = data;
    o->bytes = elements(rank, dims) * nnv_type(e.type)->size;
    if (o->bytes <= COPIED) o->lifetime = NNV_CONSTANT_COPY;
    return i;
}

/* Bytes for n elements; NULL (and b->failed) without memory. */
static char *room_for(struct nnv_builder *b, struct nnv_encoding e, size_t n) {
    char *data = nnv_builder_ok(b) ? nnv_arena_alloc(b->arena, n, nnv_type(e.type)->size) : NULL;
    if (!data && !b->stopped) b->failed = true;
    return data;
}

uint32_t nnv_builder_numbers(struct nnv_builder *b, struct nnv_encoding e, uint32_t rank, const uint32_t *dims,
                             const double *v) {
    size_t n = elements(rank, dims);
    char *data = room_for(b, e, n);
    if (data) nnv_store(e.type, v, n, data);
    return nnv_builder_constant(b, e, rank, dims, data);
}

uint32_t nnv_builder_filled(struct nnv_builder *b, struct nnv_encoding e, uint32_t rank, const uint32_t *dims,
                            double v) {
    size_t n = elements(rank, dims), size = nnv_type(e.type)->size;
    char *data = room_for(b, e, n);
    for (size_t i = 0; data && i < n; i++) nnv_store(e.type, &v, 1, data + i * size);
    return nnv_builder_constant(b, e, rank, dims, data);
}

uint32_t nnv_builder_scalar(struct nnv_builder *b, int32_t type, double value) {
    return nnv_builder_numbers(b, (struct nnv_encoding){type, 0, 0}, 0, NULL, &value);
}

uint32_t nnv_builder_int(struct nnv_builder *b, int32_t value) {
    return nnv_builder_scalar(b, ANEURALNETWORKS_INT32, value);
}

uint32_t nnv_builder_float(struct nnv_builder *b, float value) {
    return nnv_builder_scalar(b, ANEURALNETWORKS_FLOAT32, (double)value);
}

uint32_t nnv_builder_bool(struct nnv_builder *b, bool value) {
    return nnv_builder_scalar(b, ANEURALNETWORKS_BOOL, value);
}

uint32_t nnv_builder_ints(struct nnv_builder *b, uint32_t count, const int32_t *values) {
    void *data = nnv_arena_copy(b->arena, values, count * sizeof *values);
    if (!data) b->failed = true;
    return nnv_builder_constant(b, (struct nnv_encoding){ANEURALNETWORKS_TENSOR_INT32, 0, 0}, 1, &count, data);
}

uint32_t nnv_builder_weights(struct nnv_builder *b, struct nnv_encoding encoding, uint32_t rank, const uint32_t *dims,
                             double deviation) {
    uint32_t i = nnv_builder_tensor(b, encoding, rank, dims, NNV_CONSTANT_REFERENCE);
    if (!nnv_builder_ok(b)) return 0;
    struct nnv_operand *o = &b->operand[i];
    size_t elems;
    void *data = nnv_operand_size(o, &elems, &o->bytes) ? nnv_arena_alloc(b->arena, o->bytes, 1) : NULL;
    if (!data) {
        b->failed = true;
        return 0;
    }
    struct nnv_rng rng = nnv_rng_make(b->seed, i, 0);
    double chunk[256];
    const size_t size = nnv_type(o->type)->size;
    for (size_t at = 0; at < elems; at += 256) {
        size_t n = elems - at < 256 ? elems - at : 256;
        for (size_t e = 0; e < n; e++) {
            chunk[e] = nnv_rng_normal(&rng) * deviation;
            if (o->scale > 0) chunk[e] = round(chunk[e] / (double)o->scale) + o->zero_point;
        }
        nnv_store(o->type, chunk, n, (char *)data + at * size);
    }
    o->data = data;
    return i;
}

void nnv_builder_add(struct nnv_builder *b, int32_t code, uint32_t nin, const uint32_t *in, uint32_t out) {
    nnv_builder_operation(b, code, nin, in, 1, &out);
}

void nnv_builder_operation(struct nnv_builder *b, int32_t code, uint32_t nin, const uint32_t *in, uint32_t nout,
                           const uint32_t *out) {
    if (!grow(b, &b->operation, b->noperations, &b->operation_room, sizeof *b->operation)) return;
    struct nnv_operation *o = &b->operation[b->noperations++];
    *o = (struct nnv_operation){.type = code,
                                .nin = nin,
                                .nout = nout,
                                .in = nnv_arena_copy(b->arena, in, nin * sizeof *in),
                                .out = nnv_arena_copy(b->arena, out, nout * sizeof *out)};
    if (!o->in || !o->out) b->failed = true;
}

enum nnv_status nnv_builder_end(struct nnv_builder *b, uint32_t nin, const uint32_t *in, uint32_t nout,
                                const uint32_t *out, struct nnv_model *model, struct nnv_err *err) {
    struct nnv_subgraph main = {
        .noperands = b->noperands,
        .noperations = b->noperations,
        .nin = nin,
        .nout = nout,
        .operands = b->operand,
        .operations = b->operation,
        .in = nnv_arena_copy(b->arena, in, nin * sizeof *in),
        .out = nnv_arena_copy(b->arena, out, nout * sizeof *out),
    };
    if (b->failed || !main.in || !main.out) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for the model");
    *model = (struct nnv_model){.main = main};
    return NNV_OK;
}
