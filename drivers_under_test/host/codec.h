/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file codec.h The structs of the driver ABI as parts of messages: one description of each, for both directions.
 *
 * Written is what a caller handed over: a copy of the struct, as the functions may change it, but nothing that it
 * points to. Read is what a message says; memory and descriptors are the message's.
 */
#ifndef NNVTS_HOST_CODEC_H
#define NNVTS_HOST_CODEC_H

#include "nnvts/driver.h"
#include "wire.h"

enum { HOST_DIMS = 64 }; /**< room for the extents of an output's shape */

/** A message that is written, or one that is read. */
struct host_codec {
    struct host_out *out;
    struct host_in *in; /**< NULL: writes */
};
static inline struct host_codec host_writing(struct host_out *out) { return (struct host_codec){.out = out}; }
static inline struct host_codec host_reading(struct host_in *in) { return (struct host_codec){.in = in}; }

void host_model(struct host_codec c, struct nnvts_model *m);
void host_request(struct host_codec c, struct nnvts_request *r);
/** *cache: NULL where there is none. */
void host_cache(struct host_codec c, const struct nnvts_cache **cache);
void host_prepare_config(struct host_codec c, struct nnvts_prepare_config *config);
void host_config(struct host_codec c, struct nnvts_execution_config *config);
void host_timing(struct host_codec c, struct nnvts_timing *t);
/** A point of CLOCK_MONOTONIC, told as the time that is left: the other side may have another clock. */
void host_deadline(struct host_codec c, uint64_t *deadline_ns);
/** What the device says of itself: data members only. *has: bits of host_functions, from prepare_from_cache on. */
void host_device(struct host_codec c, struct nnvts_device *d, uint32_t *has);

void host_put_memory(struct host_out *o, const struct nnvts_memory *m);
/** A pool as a driver in this process is to see it: without a pointer. Invalid if its file does not hold it. */
struct nnvts_memory host_get_memory(struct host_in *in);
/** c may be NULL: the usual one. */
void host_put_config(struct host_out *o, const struct nnvts_execution_config *c);
/** pools: what is sent instead of the request's own. */
void host_put_request(struct host_out *o, const struct nnvts_request *r, const struct nnvts_memory *pools);
/** The caller's result as it stands before the call: what a driver finds there. `shapes` of them have room. */
void host_put_room(struct host_out *o, const struct nnvts_execution_result *r, uint32_t shapes);
/** A result with that room, and with at least `shapes` shapes. *given: how many the caller has. */
void host_get_room(struct host_in *in, uint32_t shapes, struct nnvts_execution_result *r, uint32_t *given);
/** What the driver answered; `given` shapes at most. */
void host_put_result(struct host_out *o, const struct nnvts_execution_result *r, uint32_t given);
/** Into the caller's result, of which `shapes` shapes have room. */
void host_get_result(struct host_in *in, struct nnvts_execution_result *r, uint32_t shapes);

/** Which of the function pointers between `first` and the end of an object are there: bits in their order. */
uint32_t host_functions(const void *object, size_t first, size_t size);
/** Makes NULL what has no bit in has. */
void host_keep_functions(void *object, size_t first, size_t size, uint32_t has);
/** The same of an object of the driver ABI, given by its type and its first function. */
#define HOST_FUNCTIONS(object, type, first) host_functions(object, offsetof(struct type, first), sizeof(struct type))
#define HOST_KEEP_FUNCTIONS(object, type, first, has)                                                                  \
    host_keep_functions(object, offsetof(struct type, first), sizeof(struct type), has)

#endif
