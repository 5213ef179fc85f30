/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file api.h What the parts of the suite "api" share: an NNAPI library's functions, objects that free themselves, and
 * expectations of its result codes.
 *
 * A case either stands in a table of refusals (api_*.def): one call at one stage of a small model's life, with the code
 * that it must be answered with; or is a function that calls the library as it likes. Objects made through the
 * functions below are freed when the case ends, the youngest first.
 */
#ifndef NNV_SUITES_API_H
#define NNV_SUITES_API_H

#include <assert.h>

#include "NeuralNetworks.h"
#include "harness/suites/kit/context.h"
#include "nnvts/ndk.h"

/** Sets of result codes. */
enum {
    NNV_API_NO_ERROR = 1 << ANEURALNETWORKS_NO_ERROR,
    NNV_API_UNEXPECTED_NULL = 1 << ANEURALNETWORKS_UNEXPECTED_NULL,
    NNV_API_BAD_DATA = 1 << ANEURALNETWORKS_BAD_DATA,
    NNV_API_OP_FAILED = 1 << ANEURALNETWORKS_OP_FAILED,
    NNV_API_BAD_STATE = 1 << ANEURALNETWORKS_BAD_STATE,
    NNV_API_OUTPUT_INSUFFICIENT_SIZE = 1 << ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE,
    NNV_API_MISSED = 1 << ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT | 1 << ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT,
    NNV_API_DONE_OR_MISSED = NNV_API_NO_ERROR | NNV_API_MISSED,
    NNV_API_ERROR = 0x7ffe, /**< whatever it is */
};

/** How far the small model is: each stage has what those before it have. */
enum nnv_api_stage {
    NNV_API_NOTHING,
    NNV_API_EMPTY,      /**< model: created */
    NNV_API_OPERANDS,   /**< operands 0, 1 (inputs), 2 (INT32), 3 (output) are added */
    NNV_API_VALUED,     /**< operand 2 is the constant FUSED_NONE */
    NNV_API_OPERATED,   /**< 3 = ADD(0, 1, 2) */
    NNV_API_IDENTIFIED, /**< inputs 0 and 1, output 3 */
    NNV_API_FINISHED,
    NNV_API_COMPILATION, /**< created for one device where the library has devices */
    NNV_API_COMPILED,
    NNV_API_EXECUTION, /**< created, nothing set */
    NNV_API_INPUT,     /**< input 0 is set */
    NNV_API_READY,     /**< all inputs and the output are set */
    NNV_API_COMPUTED,  /**< by compute, or by an event; the sum is right */
};

struct nnv_api;

struct nnv_api_case {
    const char *name; /**< behind "api/" */
    /** Runs it; NULL: a refusal, which the members below `call` describe. */
    void (*run)(struct nnv_api *a);
    uint32_t param;
    const void *data; /**< what run is to do, where a number does not say it */
    bool timed;       /**< the verdict hangs on how long something takes */
    int level;        /**< feature level, 1 to 8, of what it uses; 0: that of the functions it calls */
    /* Refusals: */
    int (*call)(struct nnv_api *a);
    const char *text; /**< the call as a person reads it */
    size_t function;  /**< where in struct nnvts_ndk */
    enum nnv_api_stage stage;
    unsigned wanted; /**< set of result codes */
    bool goes_on;    /**< the small model must then be as usable as before */
};

struct nnv_api_group {
    const struct nnv_api_case *cases;
    size_t count;
};
/** `cases` of this file as the group nnv_api_cases_NAME. */
#define NNV_API_GROUP(name)                                                                                            \
    const struct nnv_api_group nnv_api_cases_##name = {cases, sizeof cases / sizeof *cases};                           \
    static_assert(sizeof cases / sizeof *cases > 0, "a group has cases")

extern const struct nnv_api_group nnv_api_cases_refusals, nnv_api_cases_device, nnv_api_cases_graph,
    nnv_api_cases_operand, nnv_api_cases_life, nnv_api_cases_memory, nnv_api_cases_desc, nnv_api_cases_shapes,
    nnv_api_cases_unspecified, nnv_api_cases_flow, nnv_api_cases_qos, nnv_api_cases_cache, nnv_api_cases_fence,
    nnv_api_cases_padding, nnv_api_cases_threads;

enum { NNV_API_MAX_OPERATIONS = 2048 };

/** A model as it is built. The first error ends the building: nnv_api_net_end() tells. */
struct nnv_api_net {
    struct nnv_api *a;
    ANeuralNetworksModel *model;
    uint32_t operands, operations;
    bool ok;
};

struct nnv_api_object;

struct nnv_api {
    struct nnv_context s;
    const struct nnvts_ndk *nn;
    const struct nnv_api_case *c;
    const char *library;          /**< its path */
    bool is_sl;                   /**< a Support Library: no automatic choice of devices, no startCompute */
    int level;                    /**< feature level of the runtime, 1 to 8 */
    bool by_header;               /**< what only Android's runtime does is not asked */
    ANeuralNetworksDevice *named; /**< the one the driver argument names, or NULL */
    struct nnv_api_object *objects;
    /* The small model and what is made of it. */
    struct nnv_api_net net;
    ANeuralNetworksModel *model;
    ANeuralNetworksCompilation *compilation;
    ANeuralNetworksExecution *execution;
    enum nnv_api_stage stage;
    float in[2][4], out[4];
    /* Where refused calls may write what they must not. */
    struct {
        ANeuralNetworksDevice *device;
        ANeuralNetworksModel *model;
        ANeuralNetworksCompilation *compilation;
        ANeuralNetworksExecution *execution;
        ANeuralNetworksBurst *burst;
        ANeuralNetworksEvent *event;
        ANeuralNetworksMemory *memory;
        ANeuralNetworksMemoryDesc *desc;
        const char *text;
        uint64_t u64;
        int64_t i64;
        uint32_t u32, dims[8];
        int32_t i32;
        int fd;
        bool flag[NNV_API_MAX_OPERATIONS];
        uint8_t bytes[256];
    } to;
};

/* ---------------------------------------------------------------- the library */

/** The library that a driver argument names: "ndk:PATH[#DEVICE]", "sl:PATH[#DEVICE]"; "runtime:...": the project's. */
struct nnv_api_library {
    struct nnvts_ndk nn;
    char *path, *argument; /**< owned */
    const char *device;    /**< NULL if none is named; in argument */
    int level;             /**< as it was told; 0: the library's functions tell */
    bool by_header;        /**< it need not do what Android's runtime does beyond the header */
    bool is_sl;
};
/** Loads the one of config->driver; NNV_INVALID tells why it cannot be used. The library stays mapped. */
NNV_USE_RESULT enum nnv_status nnv_api_library_open(const struct nnv_run_config *config,
                                                    struct nnv_api_library *library, struct nnv_err *err);
void nnv_api_library_close(struct nnv_api_library *library);

/* --------------------------------------------------------------- expectations */

/** One comparison: "Model_finish(m) answered BAD_DATA, expected NO_ERROR". */
bool nnv_api_check(struct nnv_api *a, const char *text, int got, unsigned wanted);
/** The library has not got the function, which it may: UNSUPPORTED. Returns false. */
bool nnv_api_lacks(struct nnv_api *a, const char *function);

/* Within a function that has an `a`: the call is answered by one of a set of codes; true if so. */
#define IS(code, function, ...)                                                                                        \
    (a->nn->function ? nnv_api_check(a, #function "(" #__VA_ARGS__ ")", a->nn->function(__VA_ARGS__), NNV_API_##code)  \
                     : nnv_api_lacks(a, #function))
#define OK(function, ...) IS(NO_ERROR, function, __VA_ARGS__)

/* -------------------------------------------------------------------- objects */

/* Each makes one (NULL: the case has failed), and frees it when the case ends. */
ANeuralNetworksModel *nnv_api_model(struct nnv_api *a);
/** For one device that does all of it; UNSUPPORTED if there is none. Not finished. */
ANeuralNetworksCompilation *nnv_api_compilation(struct nnv_api_net *net);
/** The same, finished. */
ANeuralNetworksCompilation *nnv_api_compiled(struct nnv_api_net *net);
/** For the devices that the library chooses, not finished; UNSUPPORTED for a Support Library. */
ANeuralNetworksCompilation *nnv_api_automatic(struct nnv_api *a, ANeuralNetworksModel *model);
/** For two devices that do the whole model together, not finished; UNSUPPORTED if there are no two. */
ANeuralNetworksCompilation *nnv_api_for_two(struct nnv_api_net *net);
ANeuralNetworksExecution *nnv_api_execution(struct nnv_api *a, ANeuralNetworksCompilation *compilation);
ANeuralNetworksBurst *nnv_api_burst(struct nnv_api *a, ANeuralNetworksCompilation *compilation);
/** A new descriptor, not finished. */
ANeuralNetworksMemoryDesc *nnv_api_desc(struct nnv_api *a);
/** Shared memory of so many bytes; *at (may be NULL) is where the case sees it, all 0. */
ANeuralNetworksMemory *nnv_api_memory(struct nnv_api *a, size_t bytes, void **at);
/** A descriptor of so many bytes of shared memory, closed when the case ends; -1: ERROR. */
int nnv_api_file(struct nnv_api *a, size_t bytes, void **at);

/* Frees when the case ends what a call of the case's own has made; NULL is allowed. */
void nnv_api_keep_compilation(struct nnv_api *a, ANeuralNetworksCompilation *compilation);
void nnv_api_keep_event(struct nnv_api *a, ANeuralNetworksEvent *event);
void nnv_api_keep_memory(struct nnv_api *a, ANeuralNetworksMemory *memory);
void nnv_api_keep_fd(struct nnv_api *a, int fd);
/** Frees one that is kept before the case ends. */
void nnv_api_free_now(struct nnv_api *a, void *object);
/** Frees all that is kept. */
void nnv_api_free_all(struct nnv_api *a);

/* ----------------------------------------------------------------- the models */

/** An operand type; a's arena owns it. */
const ANeuralNetworksOperandType *nnv_api_type(struct nnv_api *a, int32_t code, float scale, int32_t zero_point,
                                               uint32_t rank, const uint32_t *dims);
#define NNV_API_LIST(type, ...)                                                                                        \
    (sizeof((type[]){__VA_ARGS__}) / sizeof(type)), (const type[]) { __VA_ARGS__ }
/* A tensor's type and a scalar's; OF: of a tensor without quantisation. */
#define TENSOR(code, scale, zero_point, ...)                                                                           \
    nnv_api_type(a, ANEURALNETWORKS_TENSOR_##code, scale, zero_point, NNV_API_LIST(uint32_t, __VA_ARGS__))
#define OF(code, ...) TENSOR(code, 0, 0, __VA_ARGS__)
#define SCALAR(code) nnv_api_type(a, ANEURALNETWORKS_##code, 0, 0, 0, NULL)
#define UNRANKED(code) nnv_api_type(a, ANEURALNETWORKS_TENSOR_##code, 0, 0, 0, NULL)
/* "count, list" of operands. */
#define LIST(...) NNV_API_LIST(uint32_t, __VA_ARGS__)

struct nnv_api_net nnv_api_net(struct nnv_api *a);
/** Adds an operand; its index. */
uint32_t nnv_api_add(struct nnv_api_net *net, const ANeuralNetworksOperandType *type);
/** Adds a constant. */
uint32_t nnv_api_constant(struct nnv_api_net *net, const ANeuralNetworksOperandType *type, const void *value,
                          size_t bytes);
/** Adds a constant INT32. */
uint32_t nnv_api_int(struct nnv_api_net *net, int32_t value);
/** Adds an operation: nnv_api_operate(&net, ANEURALNETWORKS_ADD, LIST(x, y, none), LIST(z)). */
void nnv_api_operate(struct nnv_api_net *net, ANeuralNetworksOperationType type, size_t nin, const uint32_t *in,
                     size_t nout, const uint32_t *out);
/** Identifies inputs and outputs, and finishes the model. False: something failed, and the case with it. */
bool nnv_api_net_end(struct nnv_api_net *net, size_t nin, const uint32_t *in, size_t nout, const uint32_t *out);
/** A finished model, out = in0 + in1 (float32, of these extents). */
bool nnv_api_net_add(struct nnv_api *a, uint32_t rank, const uint32_t *dims, struct nnv_api_net *net);
/** A finished model of one input and output of `side` squared float32, with so many additions of 1 in a row: work. */
bool nnv_api_net_chain(struct nnv_api *a, uint32_t side, uint32_t length, struct nnv_api_net *net);
enum { NNV_API_WORK_SIDE = 256, NNV_API_WORK_ELEMS = NNV_API_WORK_SIDE * NNV_API_WORK_SIDE };
/** An input, all 0, and two outputs for work. */
extern float nnv_api_squares[3][NNV_API_WORK_ELEMS];
/**
 * A finished compilation of nnv_api_net_chain() that takes some 10 ms, by the least of some measurements, so that what
 * else the machine does is not taken for work: length additions. took_ns may be NULL. NULL: the case has failed.
 */
ANeuralNetworksCompilation *nnv_api_work(struct nnv_api *a, uint32_t *length, uint64_t *took_ns);
/** An execution of it into one of the outputs, which is emptied. */
ANeuralNetworksExecution *nnv_api_work_execution(struct nnv_api *a, ANeuralNetworksCompilation *work, float *out);
/** Expects that it is done: every element is length. what: "Event_wait returned". */
bool nnv_api_work_done(struct nnv_api *a, const char *what, const float *out, uint32_t length);
/** True if a device that is to be used does all of the model; names it. */
bool nnv_api_find_device(struct nnv_api_net *net, ANeuralNetworksDevice **device);

/** Takes the small model on to a stage; every step must succeed. */
bool nnv_api_advance(struct nnv_api *a, enum nnv_api_stage stage);
/** All inputs and the output of an execution of the small model, and of any that adds two [2,2]. */
bool nnv_api_set_all(struct nnv_api *a, ANeuralNetworksExecution *execution);
/** compute, or startCompute and wait where there is none: an execution of the case, all set. */
bool nnv_api_compute(struct nnv_api *a, ANeuralNetworksExecution *execution);
/** The result of that, which may be an error. */
int nnv_api_computed(struct nnv_api *a, ANeuralNetworksExecution *execution);
/** The library has what the mode needs; else the case does not apply. There is no NNV_MODE_REUSABLE of its own. */
bool nnv_api_has_mode(struct nnv_api *a, enum nnv_mode mode);
/** Computes in the mode and waits: a result code. The burst is for NNV_MODE_BURST alone. */
int nnv_api_computed_in(struct nnv_api *a, enum nnv_mode mode, ANeuralNetworksExecution *execution,
                        ANeuralNetworksBurst *burst);
/** startCompute, or startComputeWithDependencies without any; the event is kept. */
ANeuralNetworksEvent *nnv_api_start(struct nnv_api *a, ANeuralNetworksExecution *execution);
/** The small model's output is the sum of its inputs; empties the output. */
bool nnv_api_check_sum(struct nnv_api *a);
/** Expects so many floats; what: "output 0". */
bool nnv_api_check_floats(struct nnv_api *a, const char *what, const float *got, const float *want, size_t count);

#endif
