/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ndk.h The driver "ndk": any library with NNAPI's interface, as a driver. "sl" is the same for Support
 * Libraries.
 *
 * Models, requests and memory of the driver ABI become objects of the library; its result codes become statuses. What
 * the interface has no words for (a value that is read before it is written, memory that the file does not hold) is
 * refused here; all other rules are the library's to check. Nothing here knows whose library it is, and nothing that it
 * hands out is believed: each answer that breaks the interface's rules is told on stderr, one line each.
 */
#ifndef NDK_H
#define NDK_H

#include <pthread.h>

#include "NeuralNetworksSupportLibraryImpl.h"
#include "common/pool.h"
#include "nnvts/driver.h"
#include "nnvts/ndk.h"

/* ------------------------------------------------------------------- libraries */

/** An open library. It stays loaded for good: threads of its own may still run. */
struct ndk_library {
    struct nnvts_ndk fn;               /**< NULL where the library lacks a function */
    const NnApiSLDriverImplFL5 *table; /**< of a Support Library, which has more functions; else NULL */
    bool takes_first;                  /**< the first device where none is named; else the library chooses */
    bool pointers;                     /**< values are given by pointers, never in memories */
    int level;                         /**< 1 to 8 */
    char missing[768]; /**< "3: _getDeviceCount, ...": functions that are not there, though the next level has them */
    const char *name;  /**< of the file, without folders; the caller's text */
    const struct nnvts_computed *(*computed)(uint32_t *count); /**< of the project's own library; else NULL */
};

/** Fills library->fn and the rest from the shared object at path. NULL, or what is wrong in one line. */
typedef const char *(*ndk_load_fn)(const char *path, struct ndk_library *library);
/** The functions of the NDK by their names. */
const char *ndk_load(const char *path, struct ndk_library *library);
/** The functions in the table of a Support Library. */
const char *ndk_load_table(const char *path, struct ndk_library *library);
/** 1 to 8 for a FeatureLevelCode; 0 for what is none. */
int ndk_level(int64_t code);

/* --------------------------------------------------------------------- devices */

struct ndk_buffer;

struct ndk_device {
    struct nnvts_device base;
    struct ndk_library lib;
    ANeuralNetworksDevice *device; /**< NULL: the library chooses */
    char name[256], version[1024];
    struct nnvts_operand_performance *performance;
    struct nnvts_extension *extensions;
    pthread_mutex_t lock; /**< guards what follows */
    struct ndk_buffer *buffers;
    uint32_t last_token;
};

/** Opens PATH[#DEVICE]. As nnvts_driver.open. */
enum nnvts_status ndk_open(const char *options, ndk_load_fn load, struct nnvts_device **out, const char **error);

/**
 * The status of a result code of the named function. Codes that do not exist become statuses that do not exist, and
 * are told on stderr.
 */
enum nnvts_status ndk_status(const char *function, int code);
/** The same of a call for one of several: an operand, an operation, an input, an output. */
enum nnvts_status ndk_status_at(const char *function, uint32_t index, int code);
/** Calls a function of the library; its value is a status. */
#define NDK_CALL(lib, function, ...) ndk_status(#function, (lib)->fn.function(__VA_ARGS__))
#define NDK_CALL_AT(index, lib, function, ...) ndk_status_at(#function, index, (lib)->fn.function(__VA_ARGS__))
/** The same for a function that makes an object at *out: without one, the library lied. */
#define NDK_MAKE(lib, function, out, ...) ndk_made(#function, (lib)->fn.function(__VA_ARGS__), (out))
enum nnvts_status ndk_made(const char *function, int code, const void *out);
/** The last call that failed since ndk_forget(): "ANeuralNetworksExecution_setInput(0) answered BAD_DATA"; NULL: none.
 */
const char *ndk_last_error(struct nnvts_device *device);
void ndk_forget(void);
/** Says on stderr what the library did wrong. */
void ndk_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** The time from now until a deadline; at least 1. */
uint64_t ndk_time_left(uint64_t deadline_ns);

/* ---------------------------------------------------------------------- memory */

/** A memory of the library for a SHARED pool with a descriptor; *out is to be freed with Memory_free. */
enum nnvts_status ndk_memory_new(const struct ndk_library *lib, const struct nnvts_memory *m,
                                 ANeuralNetworksMemory **out);
/**
 * A memory of the library that holds a copy of a pool, or is as large. *fd is to be closed when the memory was freed.
 * data: size bytes to copy, or NULL.
 */
enum nnvts_status ndk_memory_copy(const struct ndk_library *lib, const void *data, size_t size, int *fd,
                                  ANeuralNetworksMemory **out);

/* ---------------------------------------------------------------------- models */

/** The models of the library: main, then one for each referenced subgraph that is in use (else NULL). */
struct ndk_model {
    const struct ndk_library *lib;
    uint32_t built, memory_count;
    uint32_t *order; /**< the models that were built: what is referred to first */
    ANeuralNetworksModel **models;
    ANeuralNetworksMemory **memories; /**< copies of the pools */
    char **copies;                    /**< of the pools, where values are given by pointers */
    int *fds;                         /**< of memories */
    void *values;                     /**< a copy of the model's values */
    bool beyond_words;                /**< the library can't be told of it: an extension it does not know, no inputs */
};
/** INVALID_ARGUMENT where the model could not be put into words: indices, order, lifetimes, locations. */
enum nnvts_status ndk_model_check(const struct nnvts_model *model);
/** *out is to be freed whatever comes of it. */
enum nnvts_status ndk_model_build(const struct ndk_library *lib, const struct nnvts_model *model,
                                  struct ndk_model *out);
/** The library's own code for an operand type or operation of the model; INVALID_ARGUMENT: it does not know it. */
enum nnvts_status ndk_model_code(const struct ndk_library *lib, const struct nnvts_model *from,
                                 ANeuralNetworksModel *model, int32_t code, bool operation, int32_t *out);
void ndk_model_free(struct ndk_model *model);

/* ------------------------------------------------------------- compiled models */

/** An input or output of the main subgraph, as the library knows it. */
struct ndk_end {
    ANeuralNetworksOperandType type;
    uint32_t element_bytes; /**< 0: not known here */
};

struct ndk_prepared {
    struct nnvts_prepared_model base;
    struct ndk_device *device;
    int references; /**< the caller's, and one for each burst and buffer; guarded by device->lock */
    struct ndk_model model;
    ANeuralNetworksCompilation *compilation;
    uint32_t input_count, output_count;
    struct ndk_end *inputs, *outputs;
    uint32_t *dimensions; /**< of all ends */
};
enum nnvts_status ndk_prepare(struct ndk_device *d, const struct nnvts_model *model,
                              const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out);
/** Whether the library compiles a finished model. */
enum nnvts_status ndk_try_compile(struct ndk_device *d, ANeuralNetworksModel *model);
void ndk_prepared_ref(struct ndk_prepared *p);
void ndk_prepared_unref(struct ndk_prepared *p);

/* ------------------------------------------------------------------ executions */

/** Memories of a burst, by token: borrowed by executions. */
struct ndk_kept {
    struct ndk_kept *next;
    int64_t token;
    ANeuralNetworksMemory *memory;
};

/** One execution of the library, its arguments set. */
struct ndk_run {
    struct ndk_prepared *prepared;
    ANeuralNetworksExecution *execution;
    uint32_t pool_count;
    struct common_mapping *mappings;  /**< one a pool: where its values are given by pointers */
    ANeuralNetworksMemory **memories; /**< one a pool; NULL where none was needed */
    bool *borrowed;                   /**< one a pool: its memory is a burst's or a buffer's */
    struct ndk_buffer **written;      /**< one an output; NULL: it is in no buffer */
    uint8_t *spare;                   /**< one an output: written to where the caller gave no room */
    bool *without_room;               /**< one an output */
    bool timing;                      /**< is measured */
};
struct ndk_run_options {
    const int64_t *tokens; /**< NULL: none; else one a pool */
    struct ndk_kept **kept;
    bool reusable;
};
/** Makes the execution; ndk_run_end() on NONE only. options may be NULL. */
enum nnvts_status ndk_run_begin(struct ndk_prepared *p, const struct nnvts_request *request,
                                const struct nnvts_execution_config *config, const struct ndk_run_options *options,
                                struct ndk_run *run);
/** Takes the shapes and times of an execution that ended so; returns the status that the caller is told. */
enum nnvts_status ndk_run_take(struct ndk_run *run, enum nnvts_status status, struct nnvts_execution_result *result);
struct nnvts_timing ndk_run_timing(struct ndk_run *run, int32_t on_device, int32_t in_driver);
void ndk_run_end(struct ndk_run *run);

enum nnvts_status ndk_execute(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                              const struct nnvts_execution_config *config, struct nnvts_execution_result *result);
enum nnvts_status ndk_execute_async(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                    const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                    void *context);
enum nnvts_status ndk_execute_fenced(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                     const int *wait_for, uint32_t wait_for_count,
                                     const struct nnvts_execution_config *config, uint64_t duration_ns,
                                     struct nnvts_fenced_execution *out);
enum nnvts_status ndk_create_burst(struct nnvts_prepared_model *self, struct nnvts_burst **out);
enum nnvts_status ndk_create_execution(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, struct nnvts_execution **out);

/* --------------------------------------------------------------------- buffers */

enum nnvts_status ndk_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                               struct nnvts_buffer **out);
/** The buffer of a token, and its memory; NULL: there is none. */
struct ndk_buffer *ndk_buffer_find(struct ndk_device *d, uint32_t token, ANeuralNetworksMemory **memory);
/** It was written with a value of this shape (rank 0: unknown), or, where whole is false, lost its value. */
void ndk_buffer_written(struct ndk_buffer *buffer, bool whole, uint32_t rank, const uint32_t *dims);
/** The extents of its value; returns their number, at most room, or 0 where they are not known. */
uint32_t ndk_buffer_shape(struct ndk_buffer *buffer, uint32_t *dims, uint32_t room);

#endif
