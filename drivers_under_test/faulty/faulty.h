/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file faulty.h The driver "faulty": another driver with one planted bug, to test the tests.
 *
 * A bug is a row of a table in bugs/. It plants a fault of the catalogue in a model or in values, or it comes between
 * the other driver and its caller: which call, under which condition, and what it changes before or after.
 */
#ifndef NNVTS_FAULTY_H
#define NNVTS_FAULTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnvts/driver.h"
#include "reference/faults/faults.h"

/* -------------------------------------------------------------------- bugs */

/** Calls that a bug may come between. */
enum call_kind {
    CALL_SUPPORTED,
    CALL_PREPARE,
    CALL_LOAD, /**< prepare_from_cache */
    CALL_ALLOCATE,
    CALL_EXECUTE,
    CALL_ASYNC,
    CALL_FENCED,
    CALL_BURST,    /**< create_burst */
    CALL_REUSABLE, /**< create_execution */
    CALL_RELEASE,  /**< of a prepared model */
    CALL_CLOSE,    /**< of the device */
};
#define ON(kind) (1u << CALL_##kind)

/** An input or output of an execution. */
struct value {
    uint8_t *data; /**< NULL where it can't be reached */
    uint32_t bytes, elem;
    int32_t type;
    float scale; /**< of a quantised operand, and its zero point */
    int32_t zero_point;
    const uint8_t *before; /**< outputs: what the buffer held before */
    uint32_t batches;      /**< the first extent, 0 where unknown */
    uint32_t rank;
    const uint32_t *dims; /**< where batches are known */
};

/** A call under way. What a bug changes before, it puts into `own` and has the pointer point there. */
struct call {
    enum call_kind kind;
    struct nnvts_device *device, *inner_device;            /**< this driver's, and the other's */
    struct nnvts_prepared_model *prepared, *inner;         /**< likewise, of executions */
    bool answered;                                         /**< before: status stands, the other driver is not asked */
    enum nnvts_status status;                              /**< after: the other driver's */
    void *note;                                            /**< the bug's own, from before to after */
    const struct nnvts_model *model;                       /* SUPPORTED, PREPARE */
    bool *supported;                                       /* SUPPORTED */
    const struct nnvts_prepare_config *config;             /* PREPARE */
    const struct nnvts_cache *cache;                       /* LOAD */
    uint64_t deadline_ns;                                  /* LOAD */
    struct nnvts_prepared_model **out;                     /* PREPARE, LOAD */
    const struct nnvts_buffer_desc *desc;                  /* ALLOCATE */
    struct nnvts_buffer **buffer;                          /* ALLOCATE */
    const struct nnvts_request *request;                   /* executions */
    const struct nnvts_execution_config *execution_config; /* executions */
    struct nnvts_execution_result *result;                 /* EXECUTE */
    struct value *inputs, *outputs;                        /* EXECUTE, for bugs that tamper */
    uint64_t count;                                        /* EXECUTE, likewise: executions of the process so far */
    nnvts_execute_callback callback;                       /* ASYNC */
    void *context;                                         /* ASYNC */
    const int *wait_for;                                   /* FENCED */
    uint32_t wait_for_count;                               /* FENCED */
    uint64_t duration_ns;                                  /* FENCED */
    struct nnvts_fenced_execution *fenced;                 /* FENCED */
    struct nnvts_burst **burst;                            /* BURST */
    struct nnvts_execution **reusable;                     /* REUSABLE */
    struct {
        struct nnvts_model model;
        struct nnvts_prepare_config config;
        struct nnvts_cache cache;
        struct nnvts_buffer_desc desc;
        struct nnvts_request request;
    } own;
    struct call_block *blocks;
};

struct burst;
struct burst_call;
enum { ANY_OPERATION = -1, BUG_FAULTS = 2 };

struct bug {
    const char *name;
    const char *models; /**< the class of bugs that it stands for */
    const char *fires;  /**< where */
    const char *over;   /**< the driver that it is planted in unless over= says another; NULL: cpu */
    int32_t op;         /**< fires only for models with this operation (unless @OP says another), or ANY_OPERATION */
    bool alone;         /**< fires only for models of one operation */
    bool (*concerns)(const struct nnvts_model *model); /**< fires only for these models; NULL: all */
    /** Faults of the catalogue: the first that can happen. Edits of operation op, or of those that spoils lists. */
    const char *fault[BUG_FAULTS];
    struct nnv_fault own;                /**< instead: a fault that the catalogue does not have */
    bool (*type)(int32_t type);          /**< of outputs that the fault concerns; NULL: all */
    bool resized;                        /**< the output takes the extents that the edit gives it */
    bool (*rewrite)(struct nnv_edit *e); /**< changes the operation in hand; true if it did */
    unsigned on;                         /**< ON(): the calls that what follows is for */
    bool (*when)(const struct call *c);  /**< NULL: always */
    void (*before)(struct call *c);
    void (*after)(struct call *c);
    void (*tamper)(struct call *c); /**< after each execution whose values can be reached */
    uint32_t from;                  /**< bits of statuses that become `to`; 0: of NONE, if `to` is another */
    enum nnvts_status to;           /**< what was made is given back then */
    void (*strike)(void);           /**< ends or blocks the process: before, or else after, the other driver is asked */
    void (*device)(struct nnvts_device *device); /**< changes what the device says of itself, when it is opened */
    struct nnvts_buffer buffer;                  /**< functions that replace those of buffers */
    /** Of bursts: what replaces execute and release_memory; burst.c. */
    enum nnvts_status (*burst_execute)(struct burst *b, const struct burst_call *k);
    enum nnvts_status (*burst_release)(struct burst *b, int64_t memory_token);
    bool legal;           /**< no bug: it differs within what the rules allow */
    const char *survives; /**< why no suite can see it; NULL: one must */
    const char *spoils;   /**< see planted.h; edits for one operation need not say it */
};

/* Rows: what else there is to say stands behind. */
#define BUG(label, class, where, ...)                                                                                  \
    { .name = (label), .models = (class), .fires = (where), .op = ANY_OPERATION, __VA_ARGS__ }
#define BUG_OF(operation, label, class, where, ...)                                                                    \
    { .name = (label), .models = (class), .fires = (where), .op = ANEURALNETWORKS_##operation, __VA_ARGS__ }
#define WAS(status) (1u << NNVTS_STATUS_##status)
#define MISSED (WAS(MISSED_DEADLINE_TRANSIENT) | WAS(MISSED_DEADLINE_PERSISTENT))
#define WITH_TANH "models with a TANH, unless @OP says another"

/** The bugs that one suite is for. */
struct bug_group {
    const struct bug *bugs;
    size_t count;
};
/** The i-th bug of all, or NULL behind the last. */
const struct bug *bug_at(size_t i);
/** The bug by name of len characters, or NULL. */
const struct bug *bug_by_name(const char *name, size_t len);
/** The i-th fault of the bug, or NULL. */
const struct nnv_fault *bug_fault(const struct bug *bug, int i);

/* ----------------------------------------------------------------- for hooks */

/** Zeroed memory until the call is over; NULL (and the call is answered) when there is none. */
void *call_alloc(struct call *c, size_t bytes);
/** The request, to be changed in this call alone. */
struct nnvts_request *own_request(struct call *c);
struct nnvts_prepare_config *own_config(struct call *c);
struct nnvts_cache *own_cache(struct call *c);
struct nnvts_buffer_desc *own_desc(struct call *c);
/** Answers instead of the other driver. */
void answer(struct call *c, enum nnvts_status status);
bool succeeded(const struct call *c);
bool was_missed(const struct call *c);
/** Calls work for each output that can be reached, after an execution that went well. */
void each_output(struct call *c, void (*work)(const struct call *c, const struct value *v));
/** The value of an argument, or NULL where it is not mapped. */
uint8_t *data_of(const struct nnvts_request *r, const struct nnvts_argument *a);
/** Flips a high bit of each output of an execution that went well. */
void flip_outputs(struct call *c);
/** An execution of a burst that is never timed. */
enum nnvts_status burst_untimed(struct burst *b, const struct burst_call *k);
/** The functions of the other driver's buffers, of which a bug replaces some. */
extern struct nnvts_buffer their_buffer;
/** What a bug keeps of a prepared model of this driver. */
void **state_of(struct nnvts_prepared_model *prepared);
/** Makes those extents of output i 0 that its model leaves open. */
void forget_open_extents(const struct nnvts_prepared_model *prepared, uint32_t i, struct nnvts_output_shape *shape);
/** Executions of this process so far, for bugs that show now and then; counts this one. */
uint64_t count_execution(struct call *c);
/** prepare_from_cache as this driver does it without the bug. */
enum nnvts_status faulty_load(struct nnvts_device *self, const struct nnvts_cache *cache, uint64_t deadline_ns,
                              struct nnvts_prepared_model **out);
uint64_t clock_ns(void); /**< monotonic */
/**
 * Of calls to execute and release: true if the first execution of the model that was executed last had another number.
 */
bool differs_from_first(const struct call *c, uint64_t number);
uint64_t ns_at_work(void); /**< since this was first called in the process */
void sleep_us(long us);
/** Room for the shapes of a few outputs. */
struct room {
    struct nnvts_execution_result result;
    struct nnvts_output_shape shapes[8];
    uint32_t dims[8][8];
};
struct nnvts_execution_result *make_room(struct room *r);
bool is_float32(int32_t type);

/* model.c */
/** True if the bug works by editing models. */
bool faulty_edits(const struct bug *bug);
/** Prepares the model as the bug changes it, at op or at all operations. False: nothing to change, or it won't do. */
bool faulty_prepare_edited(struct nnvts_device *inner, const struct bug *bug, int32_t op,
                           const struct nnvts_model *model, const struct nnvts_prepare_config *config,
                           struct nnvts_prepared_model **out);
/** Of one type, encoding, rank and extents. */
bool alike(const struct nnv_operand *a, const struct nnv_operand *b);
/** Spoils an output as the bug's fault would. */
void faulty_spoil(const struct bug *bug, const struct value *v);

/* control.c */
bool rewrite_last_iteration(struct nnv_edit *e);

/* bugs/burst.c */
/** Puts a burst with the bug's functions round the one that was made. */
void faulty_wrap_burst(const struct bug *bug, struct call *c);

/* strikes.c */
void strike_crash(void);
void strike_abort(void);
void strike_exit(void);
void strike_hang(void);
void strike_close(void);
void strike_stack(void);
void strike_heap(void);
void strike_stop(void);
void strike_memory(void);
void strike_descriptors(void);
void strike_print(void);

#endif
