/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file codec.h The structs of the driver ABI as parts of messages.
 *
 * put: what a caller handed over, which is borrowed. get: what a message says; memory and descriptors are the
 * message's.
 */
#ifndef NNVTS_HOST_CODEC_H
#define NNVTS_HOST_CODEC_H

#include "nnvts/driver.h"
#include "wire.h"

enum { HOST_DIMS = 64 }; /**< room for the extents of an output's shape */

void host_put_memory(struct host_out *o, const struct nnvts_memory *m);
/** A pool as a driver in this process is to see it: without a pointer. Invalid if its file does not hold it. */
struct nnvts_memory host_get_memory(struct host_in *in);
void host_put_model(struct host_out *o, const struct nnvts_model *m);
void host_get_model(struct host_in *in, struct nnvts_model *m);
/** pools: what is sent instead of the request's own. */
void host_put_request(struct host_out *o, const struct nnvts_request *r, const struct nnvts_memory *pools);
void host_get_request(struct host_in *in, struct nnvts_request *r);
void host_put_config(struct host_out *o, const struct nnvts_execution_config *c);
struct nnvts_execution_config host_get_config(struct host_in *in);
void host_put_cache(struct host_out *o, const struct nnvts_cache *c);
/** NULL where there is none. */
const struct nnvts_cache *host_get_cache(struct host_in *in);
void host_put_prepare_config(struct host_out *o, const struct nnvts_prepare_config *c);
void host_get_prepare_config(struct host_in *in, struct nnvts_prepare_config *c);

/** The caller's result as it stands before the call: what a driver finds there. `shapes` of them have room. */
void host_put_room(struct host_out *o, const struct nnvts_execution_result *r, uint32_t shapes);
/** A result with that room, and with at least `shapes` shapes. *given: how many the caller has. */
void host_get_room(struct host_in *in, uint32_t shapes, struct nnvts_execution_result *r, uint32_t *given);
/** What the driver answered; `given` shapes at most. */
void host_put_result(struct host_out *o, const struct nnvts_execution_result *r, uint32_t given);
/** Into the caller's result, of which `shapes` shapes have room. */
void host_get_result(struct host_in *in, struct nnvts_execution_result *r, uint32_t shapes);
void host_put_timing(struct host_out *o, const struct nnvts_timing *t);
struct nnvts_timing host_get_timing(struct host_in *in);

/** What the device says of itself, and which optional functions it has. */
void host_put_device(struct host_out *o, const struct nnvts_device *d);
/** Members that an object of the host has. */
enum host_has {
    HOST_HAS_CACHE = 1,
    HOST_HAS_ALLOCATE = 2,
    HOST_HAS_EXECUTE = 4,
    HOST_HAS_ASYNC = 8,
    HOST_HAS_FENCED = 16,
    HOST_HAS_BURST = 32,
    HOST_HAS_EXECUTION = 64,
    HOST_HAS_RELEASE = 128,
    HOST_HAS_FORGET = 256,
    HOST_HAS_COPY_TO = 512,
    HOST_HAS_COPY_FROM = 1024,
};
/** Data members only; *has: HOST_HAS_*. */
void host_get_device(struct host_in *in, struct nnvts_device *d, uint32_t *has);

#endif
