/* SPDX-License-Identifier: Apache-2.0 */
/** @file value.h A value while graphs run: where it is, what is known of its shape, and what its shape has become. */
#ifndef NNV_RUNTIME_VALUE_H
#define NNV_RUNTIME_VALUE_H

#include <stdbool.h>

#include "nnvts/driver.h"
#include "reference/model/model.h"
#include "reference/runtime/api/memory.h"
#include "reference/runtime/api/model/model.h"

/** An argument of the application, a temporary, a constant or a variable of a loop. */
struct nnv_rt_value {
    int32_t type;
    bool omitted;
    bool grows;                           /**< memory is the value's own, and a larger one may replace it */
    struct nnvts_memory pool;             /**< as drivers see it */
    struct ANeuralNetworksMemory *memory; /**< behind pool; NULL: a pointer */
    uint32_t offset, room, padding;       /**< room: bytes that a value may have; device memory: 0 */
    uint32_t declared_rank;
    uint32_t declared[NNV_MAX_RANK]; /**< before anything ran; 0: unknown */
    /* Of the value that is there, or would have been had the room been enough. */
    bool sufficient;
    uint32_t length;
    uint32_t rank;
    uint32_t dims[NNV_MAX_RANK];
};

static inline bool nnv_rt_value_in_device(const struct nnv_rt_value *v) { return v->pool.kind == NNVTS_MEMORY_DEVICE; }
/** What an operand of a graph declares, with nowhere to be yet. */
void nnv_rt_value_declare(struct nnv_rt_value *v, const struct nnvts_operand *o);
/** A constant of the model. */
void nnv_rt_value_constant(struct nnv_rt_value *v, const struct nnvts_operand *o, const struct nnvts_model *model);
/** Puts it into a part of a memory. */
void nnv_rt_value_place(struct nnv_rt_value *v, struct ANeuralNetworksMemory *memory, uint64_t offset, uint64_t bytes);
/** Forgets the shape of the last run. */
void nnv_rt_value_reset(struct nnv_rt_value *v);
/** One that grows: at least so many bytes of room, what it held is lost. OUT_OF_MEMORY. */
int nnv_rt_value_grow(struct nnv_rt_value *v, uint64_t bytes);
/** Frees the memory of one that grows. */
void nnv_rt_value_release(struct nnv_rt_value *v);
/** The shape is what is declared; false if that leaves anything open. */
bool nnv_rt_value_as_declared(struct nnv_rt_value *v);
/** Bytes of a shape of a type; false above 32 bits. */
bool nnv_rt_value_bytes(int32_t type, uint32_t rank, const uint32_t *dims, uint64_t *bytes);
/** The shape agrees with what is declared. */
bool nnv_rt_value_accepts(const struct nnv_rt_value *v, uint32_t rank, const uint32_t *dims);
/**
 * The same value in shared memory: for an input its bytes, for an output room for it. shared is the caller's:
 * nnv_rt_value_release(). For device memory that another device, or the runtime, is to read or write.
 */
int nnv_rt_value_stage(const struct nnv_rt_value *v, bool is_output, struct nnv_rt_value *shared);
/** What was written to shared goes to v. */
int nnv_rt_value_unstage(const struct nnv_rt_value *shared, struct nnv_rt_value *v);
/** Copies from, which has a value, to to; OUTPUT_INSUFFICIENT_SIZE with the shape in to where it has no room. */
int nnv_rt_value_copy(const struct nnv_rt_value *from, struct nnv_rt_value *to);
/** The first byte, of a condition; OP_FAILED if there is none. */
int nnv_rt_value_read_bool(const struct nnv_rt_value *v, bool *out);

#endif
