/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file driver.h
 * The driver ABI, version 1: what a neural-network driver offers to nnvts.
 *
 * It renders the Android NN HAL 1.0 to 1.3 (and the members that later levels added) in C.
 * A driver is a shared object that exports one function, nnvts_driver_get(). The function
 * returns a table; the table opens a device; the device compiles models into prepared models;
 * a prepared model executes requests.
 *
 * Rules that hold everywhere
 *  - Threads: every function may be called from several threads at once, on one object too,
 *    unless its comment says otherwise.
 *  - Ownership: whatever the caller passes in is borrowed for the duration of the call, unless
 *    the comment says otherwise. What the driver returns in an object belongs to that object.
 *  - Versions: every table begins with struct_size. A caller must not read a member that lies
 *    beyond struct_size; a driver sets it to sizeof of the struct it was compiled with.
 *    "Optional" members may be NULL; "required" ones may not.
 *  - A driver must check what it is given. A model or request that breaks a rule is refused with
 *    NNVTS_STATUS_INVALID_ARGUMENT; the driver must not crash and must stay usable.
 *  - Times are nanoseconds. Deadlines are absolute points of CLOCK_MONOTONIC.
 *    NNVTS_NO_TIME means "none" or "not available".
 *  - Operand, operation, result and other codes are those of NeuralNetworksTypes.h.
 */
#ifndef NNVTS_DRIVER_H
#define NNVTS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "NeuralNetworksTypes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NNVTS_DRIVER_ABI_VERSION 1u
#define NNVTS_NO_TIME UINT64_MAX
#define NNVTS_CACHE_TOKEN_BYTES 32u
#define NNVTS_MAX_CACHE_FILES 32u
#define NNVTS_LOOP_TIMEOUT_DEFAULT_NS UINT64_C(2000000000)
#define NNVTS_LOOP_TIMEOUT_MAX_NS UINT64_C(15000000000)

/** What a call answers (HAL ErrorStatus). Any other value is a bug of the driver. */
enum nnvts_status {
    NNVTS_STATUS_NONE = 0,
    NNVTS_STATUS_DEVICE_UNAVAILABLE = 1,
    NNVTS_STATUS_GENERAL_FAILURE = 2,
    NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE = 3,
    NNVTS_STATUS_INVALID_ARGUMENT = 4,
    NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT = 5,
    NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT = 6,
    NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT = 7,
    NNVTS_STATUS_RESOURCE_EXHAUSTED_PERSISTENT = 8,
    NNVTS_STATUS_DEAD_OBJECT = 9, /**< the process that held the object has died; only from drivers that have one */
};

/** HAL DeviceStatus. */
enum nnvts_device_status {
    NNVTS_DEVICE_AVAILABLE = 0,
    NNVTS_DEVICE_BUSY = 1,
    NNVTS_DEVICE_OFFLINE = 2,
    NNVTS_DEVICE_STATUS_UNKNOWN = 3,
};

enum nnvts_priority { NNVTS_PRIORITY_LOW = 0, NNVTS_PRIORITY_MEDIUM = 1, NNVTS_PRIORITY_HIGH = 2 };

/** Where the value of an operand comes from. */
enum nnvts_lifetime {
    NNVTS_TEMPORARY_VARIABLE = 0,
    NNVTS_SUBGRAPH_INPUT = 1,
    NNVTS_SUBGRAPH_OUTPUT = 2,
    NNVTS_CONSTANT_COPY = 3,      /**< location.offset and length in nnvts_model.operand_values; pool is 0 */
    NNVTS_CONSTANT_REFERENCE = 4, /**< location in one of nnvts_model.pools */
    NNVTS_NO_VALUE = 5,           /**< an omitted optional input */
    NNVTS_SUBGRAPH = 6,           /**< location.offset is an index into nnvts_model.referenced */
};

/* ------------------------------------------------------------------ memory */

enum nnvts_memory_kind {
    NNVTS_MEMORY_SHARED = 0, /**< size bytes at offset of the file descriptor fd */
    NNVTS_MEMORY_DEVICE = 1, /**< a buffer of the driver, named by token */
};

enum { NNVTS_PROT_READ = 1, NNVTS_PROT_WRITE = 2 };

/** A memory pool. */
struct nnvts_memory {
    uint32_t kind;   /**< enum nnvts_memory_kind */
    uint32_t prot;   /**< NNVTS_PROT_* the driver may use; writing to a read-only pool is a bug */
    int fd;          /**< SHARED: may be mapped; -1 where there is only a pointer */
    uint32_t token;  /**< DEVICE: of nnvts_device.allocate; else 0 */
    uint64_t offset; /**< SHARED: of the pool in fd, a multiple of the page size */
    uint64_t size;   /**< bytes */
    void *data;      /**< SHARED: the pool as it is mapped in this process, or NULL: then map fd */
};

/** A part of a pool. For a DEVICE pool offset and length are 0: the whole buffer. */
struct nnvts_location {
    uint32_t pool;
    uint32_t offset;  /**< bytes from the start of the pool; a multiple of 4 for data of 4-byte elements */
    uint32_t length;  /**< bytes of the value */
    uint32_t padding; /**< bytes behind the value that may be read (inputs) or overwritten (outputs) */
};

/* ------------------------------------------------------------------- model */

/** Scales of a TENSOR_QUANT8_SYMM_PER_CHANNEL operand. */
struct nnvts_channel_quant {
    uint32_t channel_dim; /**< the dimension that the scales run along */
    uint32_t scale_count; /**< the operand's extent in channel_dim; 0: the operand has no per-channel scales */
    const float *scales;
};

struct nnvts_operand {
    int32_t type;               /**< OperandCode, or (prefix << 16) | code of an extension */
    uint32_t dimension_count;   /**< 0 for scalars, and for tensors of unknown rank */
    const uint32_t *dimensions; /**< 0: an unknown extent */
    float scale;
    int32_t zero_point;
    uint32_t lifetime; /**< enum nnvts_lifetime */
    struct nnvts_location location;
    struct nnvts_channel_quant channel_quant;
    const void *extension_data; /**< extension operands only, else NULL */
    uint32_t extension_data_bytes;
};

struct nnvts_operation {
    int32_t type; /**< OperationCode, or (prefix << 16) | code of an extension */
    uint32_t input_count, output_count;
    const uint32_t *inputs; /**< operand indices */
    const uint32_t *outputs;
};

/** Operations stand in execution order. */
struct nnvts_subgraph {
    uint32_t operand_count, operation_count, input_count, output_count;
    const struct nnvts_operand *operands;
    const struct nnvts_operation *operations;
    const uint32_t *inputs; /**< operand indices */
    const uint32_t *outputs;
};

/** Maps the prefix used in this model to the name of an extension. */
struct nnvts_extension_prefix {
    const char *name; /**< not NULL, not empty */
    uint16_t prefix;  /**< not 0, and another for each extension of the model; below 0x8000 */
};

struct nnvts_model {
    struct nnvts_subgraph main;
    const struct nnvts_subgraph *referenced; /**< bodies and conditions of IF and WHILE */
    uint32_t referenced_count;
    const void *operand_values; /**< the CONSTANT_COPY values */
    uint32_t operand_values_bytes;
    uint32_t pool_count;
    const struct nnvts_memory *pools; /**< the CONSTANT_REFERENCE values */
    uint32_t extension_count;
    const struct nnvts_extension_prefix *extensions;
    bool relax_float32_to_float16; /**< float32 may be computed with the range and precision of float16 */
};

/* ----------------------------------------------------------------- request */

struct nnvts_argument {
    bool has_no_value; /**< an omitted optional argument; all else is 0 then */
    struct nnvts_location location;
    uint32_t dimension_count;   /**< 0: as in the model */
    const uint32_t *dimensions; /**< 0: as in the model; for outputs, unknown */
};

/**
 * Outputs have no memory in common with inputs or with each other. A driver refuses a request in which they have, or
 * leaves the outputs unspecified.
 */
struct nnvts_request {
    uint32_t input_count, output_count, pool_count;
    const struct nnvts_argument *inputs;
    const struct nnvts_argument *outputs;
    const struct nnvts_memory *pools;
};

/** The shape of one output. The caller provides the dimension array. */
struct nnvts_output_shape {
    bool is_sufficient;       /**< the output's buffer was large enough */
    uint32_t dimension_count; /**< in: room in dimensions; out: the rank */
    uint32_t *dimensions;     /**< caller's */
};

struct nnvts_timing {
    uint64_t on_device_ns; /**< <= in_driver_ns; NNVTS_NO_TIME where not available */
    uint64_t in_driver_ns; /**< <= wall clock */
};

/** How one execution is to be done. */
struct nnvts_execution_config {
    uint64_t deadline_ns;     /**< NNVTS_NO_TIME: none; past: MISSED_DEADLINE_*, or carried on with */
    uint64_t loop_timeout_ns; /**< of each WHILE; NNVTS_NO_TIME: the default */
    bool measure_timing;
};

/**
 * What one execution answers; the caller fills shapes with room for each output.
 * On NONE: shape_count is 0 (only where the model and request specify all outputs fully) or the
 * number of outputs, all sufficient. On OUTPUT_INSUFFICIENT_SIZE: the number of outputs, at least
 * one insufficient. On any other status: shape_count is 0.
 */
struct nnvts_execution_result {
    uint32_t shape_count;
    struct nnvts_output_shape *shapes;
    struct nnvts_timing timing; /**< both NNVTS_NO_TIME unless measure_timing was set and the driver can */
};

/* ----------------------------------------------------------------- objects */

/** The driver's own; the driver embeds them as the first member of its structs. */
struct nnvts_device;
struct nnvts_prepared_model;
struct nnvts_buffer;
struct nnvts_burst;
struct nnvts_execution;

/** Called exactly once if the launch returned NONE, never otherwise; may run on any thread. */
typedef void (*nnvts_execute_callback)(void *context, enum nnvts_status status,
                                       const struct nnvts_execution_result *result);

/** What a fenced execution reports once its fence has signalled. */
struct nnvts_fenced_result {
    enum nnvts_status status;
    struct nnvts_timing launched; /**< from the launch */
    struct nnvts_timing fenced;   /**< from the moment all wait_for fences had signalled */
};

/** Fenced execution: returned by execute_fenced, freed by the caller through release. */
struct nnvts_fenced_execution {
    int sync_fence; /**< pollable (POLLIN when the execution has ended), owned by this object; -1: already signalled */
    void *context;
    /** Required. Blocks until the fence has signalled; may be asked again. */
    enum nnvts_status (*get_result)(void *context, struct nnvts_fenced_result *result);
    /** Required. Frees the object and closes sync_fence; may block until the execution has ended. */
    void (*release)(void *context);
};

/** A reusable execution (HAL AIDL v4): one request bound once, executed many times, one at a time. */
struct nnvts_execution {
    uint32_t struct_size;
    /** Required. As nnvts_prepared_model.execute on the bound request. */
    enum nnvts_status (*execute)(struct nnvts_execution *self, uint64_t deadline_ns,
                                 struct nnvts_execution_result *result);
    /** Required. */
    void (*release)(struct nnvts_execution *self);
};

/** A burst: many executions in a row on one thread, which lets the driver keep memory mapped. */
struct nnvts_burst {
    uint32_t struct_size;
    /**
     * Required; one call at a time. memory_tokens has one entry a pool of the request: -1 for
     * "do not keep", else >= 0, and equal tokens mean equal memory until released.
     * A concurrent call returns GENERAL_FAILURE.
     */
    enum nnvts_status (*execute)(struct nnvts_burst *self, const struct nnvts_request *request,
                                 const int64_t *memory_tokens, const struct nnvts_execution_config *config,
                                 struct nnvts_execution_result *result);
    /** Required. Forgets a kept memory; unknown tokens >= 0 are ignored. INVALID_ARGUMENT below 0. */
    enum nnvts_status (*release_memory)(struct nnvts_burst *self, int64_t memory_token);
    /** Required. */
    void (*release)(struct nnvts_burst *self);
};

/** A buffer in the driver's own memory. */
struct nnvts_buffer {
    uint32_t struct_size;
    uint32_t token; /**< > 0, unique among the device's living buffers */
    /** Required. Copies the buffer to SHARED memory of equal size. GENERAL_FAILURE while uninitialised. */
    enum nnvts_status (*copy_to)(struct nnvts_buffer *self, const struct nnvts_memory *destination);
    /** Required. Fills the buffer; dimensions may be empty (dimension_count 0) if the buffer's are known. */
    enum nnvts_status (*copy_from)(struct nnvts_buffer *self, const struct nnvts_memory *source,
                                   const uint32_t *dimensions, uint32_t dimension_count);
    /** Required. */
    void (*release)(struct nnvts_buffer *self);
};

/** A compiled model. */
struct nnvts_prepared_model {
    uint32_t struct_size;
    /** Required (1.2). Executes and returns when done. Outputs that are not written have unspecified values. */
    enum nnvts_status (*execute)(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                 const struct nnvts_execution_config *config, struct nnvts_execution_result *result);
    /**
     * Optional (1.0). Returns at once and calls back when done. The request and its memory stay valid
     * until the callback; request and config structs themselves only during the call.
     */
    enum nnvts_status (*execute_async)(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                       const struct nnvts_execution_config *config, nnvts_execute_callback callback,
                                       void *context);
    /**
     * Optional (1.3). Starts when all wait_for fences (pollable, borrowed for the call; the driver
     * duplicates what it keeps, polls them and never reads) have signalled; a descriptor below 0 is
     * INVALID_ARGUMENT. Outputs must be fully specified and not zero-sized,
     * else INVALID_ARGUMENT. duration_ns bounds the time after the fences. A wait_for fence that
     * signals an error (POLLERR) makes the execution fail.
     */
    enum nnvts_status (*execute_fenced)(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                        const int *wait_for, uint32_t wait_for_count,
                                        const struct nnvts_execution_config *config, uint64_t duration_ns,
                                        struct nnvts_fenced_execution *out);
    /** Optional (1.2). */
    enum nnvts_status (*create_burst)(struct nnvts_prepared_model *self, struct nnvts_burst **out);
    /** Optional (level 8). The request's memory stays valid until the execution is released. */
    enum nnvts_status (*create_execution)(struct nnvts_prepared_model *self, const struct nnvts_request *request,
                                          const struct nnvts_execution_config *config, struct nnvts_execution **out);
    /** Required. All executions have ended; bursts and buffers made from it may still be released later. */
    void (*release)(struct nnvts_prepared_model *self);
};

/** Relative to the CPU reference: below 1 is better. FLT_MAX: worst. */
struct nnvts_performance {
    float exec_time;
    float power_usage;
};

struct nnvts_operand_performance {
    int32_t type; /**< OperandCode */
    struct nnvts_performance info;
};

struct nnvts_capabilities {
    struct nnvts_performance relaxed_scalar; /**< float32 as float16, scalars */
    struct nnvts_performance relaxed_tensor;
    struct nnvts_performance if_performance;
    struct nnvts_performance while_performance;
    uint32_t operand_performance_count;
    const struct nnvts_operand_performance *operand_performance; /**< sorted by type, one a type; device's */
};

struct nnvts_extension_operand_type {
    uint16_t type;
    bool is_tensor;
    uint32_t byte_size; /**< of an element */
};

struct nnvts_extension {
    const char *name;
    uint32_t operand_type_count;
    const struct nnvts_extension_operand_type *operand_types;
};

/** A file for the compilation cache: open for reading and writing, borrowed for the call. */
struct nnvts_cache {
    const int *model_fds; /**< security sensitive: a change must be noticed */
    uint32_t model_fd_count;
    const int *data_fds;
    uint32_t data_fd_count;
    uint8_t token[NNVTS_CACHE_TOKEN_BYTES];
};

struct nnvts_prepare_config {
    uint32_t preference;             /**< PreferenceCode */
    uint32_t priority;               /**< enum nnvts_priority; a hint */
    uint64_t deadline_ns;            /**< NNVTS_NO_TIME: none */
    const struct nnvts_cache *cache; /**< NULL: do not cache; a wrong number of files: do not cache, do not fail */
};

/** The part that an input or output of a prepared model plays for a buffer. */
struct nnvts_buffer_role {
    uint32_t model;    /**< index into the prepared models given to allocate */
    uint32_t io;       /**< index of the input or output */
    float probability; /**< how likely it is used so, in (0, 1] */
};

struct nnvts_buffer_desc {
    uint32_t dimension_count; /**< 0: as the roles say */
    const uint32_t *dimensions;
    uint32_t prepared_count, input_role_count, output_role_count;
    struct nnvts_prepared_model *const *prepared;
    const struct nnvts_buffer_role *input_roles;
    const struct nnvts_buffer_role *output_roles;
};

/** What an adapter can't put into the words of the interface behind it. A driver that is none has no limits. */
enum nnvts_limit {
    NNVTS_LIMIT_NO_EMPTY_INPUTS = 1, /**< an input with an extent of 0 counts as one of unknown extent */
    NNVTS_LIMIT_LATE_OMISSIONS = 2,  /**< an omitted argument is refused when it is executed, not when it is launched */
    NNVTS_LIMIT_NO_UNKNOWN_EXTENSIONS = 4, /**< beside an extension that it does not know nothing is supported */
    NNVTS_LIMIT_PARTIAL_SHAPES = 8,   /**< where one output is too small, others may be left unknown: several devices */
    NNVTS_LIMIT_CANNOT_BE_ASKED = 16, /**< to ask what is supported is to try it: a refusal may mean either */
    NNVTS_LIMIT_LATE_REFUSALS = 32,   /**< a model that breaks a rule may be refused as late as when it is executed */
};

/** What a device behind this one has computed so far. */
struct nnvts_computed {
    const char *device;
    uint64_t operations; /**< of models that it has executed, counted in each execution */
};

/** An open device. Name, version, type, level, capabilities and extensions never change while it is open. */
struct nnvts_device {
    uint32_t struct_size;
    int32_t feature_level; /**< 1 to 8: the highest NNAPI feature level whose rules it knows */
    int32_t type;          /**< DeviceTypeCode */
    const char *name;      /**< unique on a machine, for example "acme-npu" */
    const char *version;   /**< changes with every release that may change results or cache files */
    struct nnvts_capabilities capabilities;
    uint32_t extension_count;
    const struct nnvts_extension *extensions;
    uint32_t model_cache_files; /**< 0 and 0: no compilation caching; each at most NNVTS_MAX_CACHE_FILES */
    uint32_t data_cache_files;

    /** Required. */
    enum nnvts_device_status (*get_status)(struct nnvts_device *self);
    /**
     * Required. supported has one entry an operation of the main subgraph; IF and WHILE are supported
     * only with all that they refer to. INVALID_ARGUMENT for a model that breaks a rule.
     */
    enum nnvts_status (*get_supported_operations)(struct nnvts_device *self, const struct nnvts_model *model,
                                                  bool *supported);
    /**
     * Required. Compiles. The model, its values and pools are the caller's and may be freed after the
     * call: the driver copies what it needs. On NONE *out is not NULL; otherwise it is not touched.
     * GENERAL_FAILURE for a valid model of which an operation is not supported.
     */
    enum nnvts_status (*prepare_model)(struct nnvts_device *self, const struct nnvts_model *model,
                                       const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out);
    /** Optional; required where cache files are announced. GENERAL_FAILURE if the files are unfit. */
    enum nnvts_status (*prepare_from_cache)(struct nnvts_device *self, const struct nnvts_cache *cache,
                                            uint64_t deadline_ns, struct nnvts_prepared_model **out);
    /** Optional (1.3). Conflicting or doubled roles: INVALID_ARGUMENT. */
    enum nnvts_status (*allocate)(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                  struct nnvts_buffer **out);
    /** Required. All objects of the device have been released. */
    void (*release)(struct nnvts_device *self);
    uint32_t limits; /**< optional: enum nnvts_limit; 0 for a driver that has all that this file tells */
    /**
     * Optional. What was behind the last status other than NONE, or behind an operation that was last said not to be
     * supported, in a line of the driver's own words. NULL: nothing to tell. Valid until this thread asks again.
     */
    const char *(*last_error)(struct nnvts_device *self);
    /**
     * Optional. For a device that divides models between others: what each of these has computed since the process
     * began, *count entries, this thread's until it asks again.
     */
    const struct nnvts_computed *(*computed)(struct nnvts_device *self, uint32_t *count);
};

/** A device as it was before limits came. */
#define NNVTS_DEVICE_LEAST_BYTES offsetof(struct nnvts_device, limits)

/** What nnvts_driver_get returns: static, never freed. */
struct nnvts_driver {
    uint32_t struct_size;
    uint32_t abi_version; /**< NNVTS_DRIVER_ABI_VERSION */
    const char *name;     /**< as on the command line */
    /**
     * Required. Opens the device. options is what followed the driver's name and a colon on the command
     * line ("faulty:crash" gives "crash"), or NULL. INVALID_ARGUMENT for options it does not know; then
     * it may set *error to a static string that says what it expects.
     */
    enum nnvts_status (*open)(const char *options, struct nnvts_device **out, const char **error);
    /** Optional. A NULL-terminated list of the values that options may take, for listings and tests. */
    const char *const *options;
    /** Optional. Those of options, NULL-terminated, with which the driver is wrong on purpose: for tests of a test. */
    const char *const *faults;
};

/** The one symbol of a driver. Returns NULL on failure. */
#define NNVTS_DRIVER_SYMBOL "nnvts_driver_get"
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const struct nnvts_driver *
nnvts_driver_get(void);
typedef const struct nnvts_driver *(*nnvts_driver_get_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
