/* SPDX-License-Identifier: Apache-2.0 */
/** @file client.h nnvts as the client of a driver: open it, hand it models, execute, and check what it did to memory.
 */
#ifndef NNV_HARNESS_CLIENT_H
#define NNV_HARNESS_CLIENT_H

#include "base/driver.h"
#include "reference/model/model.h"

/** An open driver. Only worker processes hold one. Zero-initialise. */
struct nnv_client {
    void *handle; /**< dlopen's; NULL for a table that is linked in */
    const struct nnvts_driver *driver;
    struct nnvts_device *device;
    bool twice;                       /**< nnv_client_run() executes twice */
    struct nnv_client_memory *memory; /**< shared memory for values, kept from case to case; made when needed */
};

/** What a --driver argument names: as nnv_driver_resolve(); adapters ("ndk:", "sl:") are refused. */
NNV_USE_RESULT enum nnv_status nnv_client_resolve(const char *argument, struct nnv_arena *arena, const char **path,
                                                  const char **options, struct nnv_err *err);
/** As nnv_driver_open(). */
NNV_USE_RESULT enum nnv_status nnv_client_open(struct nnv_client *client, const char *path, const char *options,
                                               struct nnv_err *err);
/** As nnv_driver_attach(). */
NNV_USE_RESULT enum nnv_status nnv_client_attach(struct nnv_client *client, const struct nnvts_driver *driver,
                                                 const char *name, const char *options, struct nnv_err *err);
/** Releases the device and the memory. The shared object stays mapped. */
void nnv_client_close(struct nnv_client *client);

/** enum nnvts_limit of a device that may be older than they are. */
static inline uint32_t nnv_device_limits(const struct nnvts_device *d) {
    return d->struct_size >= sizeof *d ? d->limits : 0;
}

/** The steps of a case, for deadlines and for naming the culprit. */
enum nnv_phase {
    NNV_PHASE_NONE,
    NNV_PHASE_OPEN,
    NNV_PHASE_BUILD, /**< nnvts itself: making the case, golden result */
    NNV_PHASE_SUPPORTED,
    NNV_PHASE_PREPARE,
    NNV_PHASE_EXECUTE,
    NNV_PHASE_RELEASE,
    NNV_PHASE_CHECK, /**< nnvts itself: comparing */
    NNV_PHASE_COUNT
};
/** "get_supported_operations", "prepare_model", "execute"... */
const char *nnv_phase_name(enum nnv_phase p);

/** How it went. */
enum nnv_outcome_kind {
    NNV_OUTCOME_DONE,        /**< executed; outputs are valid */
    NNV_OUTCOME_UNSUPPORTED, /**< the driver says that it does not support an operation */
    NNV_OUTCOME_REFUSED,     /**< a status other than NONE; phase tells where, status what */
    NNV_OUTCOME_BROKEN,      /**< the driver broke a rule of the ABI; reason says which */
    NNV_OUTCOME_HARNESS,     /**< nnvts could not do it; reason says why */
};

struct nnv_outcome {
    enum nnv_outcome_kind kind;
    enum nnv_phase phase;
    enum nnvts_status status;
    char reason[512];           /**< empty for DONE */
    struct nnv_value *outputs;  /**< actual shapes and values, arena's; main.nout entries, where DONE */
    struct nnv_value *again;    /**< the outputs of the second execution, where there was one; else NULL */
    struct nnv_value *reported; /**< REFUSED or BROKEN for output shapes that are not the expected ones: what they were,
                                     rank and dims alone; arena's, main.nout entries; else NULL */
    uint64_t supported_ns, prepare_ns, execute_ns; /**< wall clock */
    bool memory_damaged; /**< the driver wrote outside its buffers, or changed inputs: the process is not to be trusted
                          */
};

/**
 * Runs the spec's model and inputs once: supported operations, prepare, execute (synchronous). Output buffers
 * have the expected size (spec outputs' bytes) in guarded, poisoned memory; inputs and constants are checked
 * to be unmodified. Constants are overwritten once the model is prepared: a driver must have copied what it needs.
 * Checks statuses, output shapes, guard zones. *phase follows the steps (may be shared memory).
 * A driver that damaged memory is not called again, not even to release the prepared model.
 */
void nnv_client_run(struct nnv_client *client, const struct nnv_spec *spec, struct nnv_arena *arena,
                    volatile uint32_t *phase, struct nnv_outcome *out);
/** True if the model leaves the shape of this tensor open, or a part of it. */
bool nnv_client_is_open(const struct nnv_operand *o);
/** What the buffer of an output, of so many bytes, holds before nnv_client_run() executes. to: room for the bytes. */
void nnv_client_poison(uint32_t output, size_t bytes, void *to);

/**
 * The model as the ABI renders it. Constants up to 128 bytes are CONSTANT_COPY in operand_values, larger ones and
 * those marked CONSTANT_REFERENCE lie in one SHARED pool (a memfd; *fd is the caller's to close, -1: none).
 * All else is arena's, or the model's, which must outlive it.
 */
NNV_USE_RESULT enum nnv_status nnv_abi_model(const struct nnv_model *model, struct nnv_arena *arena,
                                             struct nnvts_model *out, int *fd, struct nnv_err *err);
#endif
