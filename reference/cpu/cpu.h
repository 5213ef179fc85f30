/* SPDX-License-Identifier: Apache-2.0 */
/** @file cpu.h What the files of the golden executor share: the golden kernels behind the driver ABI. */
#ifndef NNVTS_REFERENCE_H
#define NNVTS_REFERENCE_H

#include <pthread.h>

#include "base/arena.h"
#include "nnvts/driver.h"
#include "reference/abi/import.h"

/* -------------------------------------------------------------------- caching */

enum { REF_CACHE_MODEL_FILES = 1, REF_CACHE_DATA_FILES = 0 };

/** Writes the model into the file; where that can't be, the file is left without a cache. */
void ref_cache_save(const struct nnv_model *model, const struct nnvts_cache *cache);
/** Reads and verifies. INVALID_ARGUMENT for a wrong number of files; GENERAL_FAILURE if they are unfit. */
enum nnvts_status ref_cache_load(const struct nnvts_cache *cache, struct nnv_arena *arena, struct nnv_model **out);

/* --------------------------------------------------------------- executions */

struct ref_device {
    struct nnvts_device base;
    pthread_mutex_t lock;       /**< guards what follows, and the buffers */
    struct ref_buffer *buffers; /**< living ones */
    uint32_t last_token;
    uint64_t prepared_count; /**< made so far */
    bool late; /**< models are right but for rules of operations, which are checked when they are executed */
};

struct ref_prepared {
    struct nnvts_prepared_model base;
    struct ref_device *device;
    uint64_t number;         /**< no two prepared models of a device have the same */
    struct nnv_arena *arena; /**< of the model */
    struct nnv_model *model;
};

/** A request bound to a prepared model: checked, its memory mapped. */
struct ref_execution;

/** INVALID_ARGUMENT for a request that breaks a rule. The request's structs are copied, its memory is not. */
enum nnvts_status ref_bind(struct ref_prepared *prepared, const struct nnvts_request *request,
                           const struct nnvts_execution_config *config, struct ref_execution **out);
/** Executes what is bound; may be repeated, one at a time. */
enum nnvts_status ref_run(struct ref_execution *execution, struct nnvts_execution_result *result);
/** NNVTS_NO_TIME: none. */
void ref_set_deadline(struct ref_execution *execution, uint64_t deadline_ns);
/** True if the request and the model leave no output shape open, and no output is empty. */
bool ref_is_fenceable(const struct ref_execution *execution);
void ref_unbind(struct ref_execution *execution);

/** A prepared model with all ways to execute; takes the arena and the model in it. NULL when out of memory. */
struct nnvts_prepared_model *ref_prepared_new(struct ref_device *device, struct nnv_arena *arena,
                                              struct nnv_model *model);
/** The same object, if it is one of this device; else NULL. */
const struct ref_prepared *ref_prepared_at(const struct ref_device *device,
                                           const struct nnvts_prepared_model *prepared);

/* -------------------------------------------------------------- device memory */

/** rank 0: unknown (or a scalar's); an extent of 0: open. */
struct ref_shape {
    uint32_t rank;
    uint32_t dims[NNV_MAX_RANK];
};
/** Takes what rank and dims know more; false if they contradict. */
bool ref_join(struct ref_shape *to, uint32_t rank, const uint32_t *dims);

struct ref_buffer;

/** nnvts_device.allocate. */
enum nnvts_status ref_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                               struct nnvts_buffer **out);
/** The buffer of a token, held; NULL if there is none, or none for this input or output. */
struct ref_buffer *ref_buffer_hold(const struct ref_prepared *prepared, uint32_t token, uint32_t io, bool input);
/** NULL is allowed. */
void ref_buffer_drop(struct ref_buffer *buffer);
/** What allocation fixed of the shape. */
const struct ref_shape *ref_buffer_shape(const struct ref_buffer *buffer);
/**
 * Copies the value; value holds the extents asked for, 0 where open. GENERAL_FAILURE if there is none,
 * INVALID_ARGUMENT if its extents are others.
 */
enum nnvts_status ref_buffer_read(struct ref_buffer *buffer, struct nnv_arena *arena, struct nnv_value *value);
bool ref_buffer_write(struct ref_buffer *buffer, const struct nnv_value *value);
/** There is no value any more. */
void ref_buffer_clear(struct ref_buffer *buffer);

#endif
