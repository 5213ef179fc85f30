/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file faulty.h The driver "faulty": another driver with one planted bug, to test the tests.
 *
 * A bug is a row of the table in bugs.c. It works by rewriting the model before the other driver prepares it, by
 * tampering with memory and answers, or by misbehaving as a process.
 */
#ifndef NNVTS_FAULTY_H
#define NNVTS_FAULTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnvts/driver.h"
#include "reference/faults/faults.h"

/* -------------------------------------------------------------------- bugs */

/** One execution, after the other driver has done it. */
struct tamper {
    const struct nnvts_request *request;
    struct nnvts_execution_result *result;
    struct tamper_value {
        uint8_t *data; /**< NULL where it can't be reached */
        uint32_t bytes, elem;
        int32_t type;
        float scale; /**< of a quantised operand, and its zero point */
        int32_t zero_point;
        const uint8_t *before; /**< outputs: what the buffer held before */
        uint32_t batches;      /**< outputs: the first extent, 0 where unknown */
        uint32_t rank;
        const uint32_t *dims; /**< where batches are known */
    } * inputs, *outputs;
    uint64_t count; /**< executions of the process so far */
};

enum strike_place { STRIKE_NOWHERE, STRIKE_SUPPORTED, STRIKE_PREPARE, STRIKE_EXECUTE, STRIKE_RELEASE };
enum { ANY_OPERATION = -1, BUG_FAULTS = 2 };

struct bug {
    const char *name;
    const char *models; /**< the class of bugs that it stands for */
    const char *fires;  /**< where */
    const char *over;   /**< the driver that it is planted in unless over= says another; NULL: cpu */
    int32_t op;         /**< fires only for models with this operation (unless @OP says another), or ANY_OPERATION */
    /** Faults of the catalogue: the first that can happen. Edits of operation op, or of those that spoils lists. */
    const char *fault[BUG_FAULTS];
    struct nnv_fault own;                /**< instead: a fault that the catalogue does not have */
    bool (*type)(int32_t type);          /**< of outputs that the fault concerns; NULL: all */
    bool resized;                        /**< the output takes the extents that the edit gives it */
    bool (*rewrite)(struct nnv_edit *e); /**< changes the operation in hand; true if it did */
    bool alone;                          /**< fires only for models of one operation */
    /** Each gets the other driver's answer and returns what is answered instead. */
    enum nnvts_status (*supported)(const struct nnvts_model *model, bool *supported, enum nnvts_status status);
    enum nnvts_status (*prepare)(const struct nnvts_model *model, enum nnvts_status status);
    enum nnvts_status (*execute)(struct tamper *t, enum nnvts_status status);
    /**
     * Changes what the device says of itself, or its functions: one that is put in reaches what it stands for through
     * faulty_inner_device().
     */
    void (*device)(struct nnvts_device *device);
    /** Changes functions of a prepared model of which the bug fires; they reach the other's through faulty_inner(). */
    void (*prepared)(struct nnvts_prepared_model *prepared);
    void (*strike)(void); /**< ends or blocks the process */
    enum strike_place place;
    bool no_prepared;     /**< prepare_model answers NONE without a prepared model */
    bool legal;           /**< no bug: it differs within what the rules allow */
    const char *survives; /**< why no suite can see it; NULL: one must */
    const char *spoils;   /**< see planted.h; rewrites and changes for one operation need not say it */
};

/* Rows: what else there is to say stands behind. */
#define BUG(label, class, where, ...)                                                                                  \
    { .name = (label), .models = (class), .fires = (where), .op = ANY_OPERATION, __VA_ARGS__ }
#define BUG_OF(operation, label, class, where, ...)                                                                    \
    { .name = (label), .models = (class), .fires = (where), .op = ANEURALNETWORKS_##operation, __VA_ARGS__ }
#define WITH_TANH "models with a TANH, unless @OP says another"

/** The bugs that one suite is for. */
struct bug_group {
    const struct bug *bugs;
    size_t count;
};
/** The i-th bug of all, or NULL behind the last. */
const struct bug *bug_at(size_t i);
/** The suite that the i-th bug is for. */
const char *bug_suite(size_t i);
/** The bug by name of len characters, or NULL. */
const struct bug *bug_by_name(const char *name, size_t len);
/** The i-th fault of the bug, or NULL. */
const struct nnv_fault *bug_fault(const struct bug *bug, int i);

/* ------------------------------------------------------------ the other driver */

/** The other driver's device and prepared model behind those of this driver. */
struct nnvts_device *faulty_inner_device(struct nnvts_device *device);
struct nnvts_prepared_model *faulty_inner(struct nnvts_prepared_model *prepared);
/** Executions of this process so far, for bugs that show now and then; counts this one. */
uint64_t faulty_count(struct nnvts_prepared_model *prepared);
/**
 * What this driver would do without the bug: a function that is put into the device calls these. faulty_prepare also
 * makes prepared models of this driver.
 */
enum nnvts_status faulty_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                 const struct nnvts_prepare_config *config, struct nnvts_prepared_model **out);
enum nnvts_status faulty_prepare_from_cache(struct nnvts_device *self, const struct nnvts_cache *cache,
                                            uint64_t deadline_ns, struct nnvts_prepared_model **out);
enum nnvts_status faulty_allocate(struct nnvts_device *self, const struct nnvts_buffer_desc *desc,
                                  struct nnvts_buffer **out);

/* model.c */
/** True if the bug works by editing models. */
bool faulty_edits(const struct bug *bug);
/** Prepares the model as the bug changes it, at op or at all operations. False: nothing to change, or it won't do. */
bool faulty_prepare_edited(struct nnvts_device *inner, const struct bug *bug, int32_t op,
                           const struct nnvts_model *model, const struct nnvts_prepare_config *config,
                           struct nnvts_prepared_model **out);
/** Spoils the outputs as the bug's fault would. */
enum nnvts_status faulty_spoil(const struct bug *bug, struct tamper *t, enum nnvts_status status);

/* control.c */
bool rewrite_last_iteration(struct nnv_edit *e);

/* answers.c */
enum nnvts_status tamper_shape(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_behind(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_before(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_input(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_unwritten(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_nonsense(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_nan(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_unsteady(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_insufficient(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_shape_count(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_time(struct tamper *t, enum nnvts_status status);
enum nnvts_status answer_unsupported(const struct nnvts_model *model, bool *supported, enum nnvts_status status);
enum nnvts_status answer_unfilled(const struct nnvts_model *model, bool *supported, enum nnvts_status status);
enum nnvts_status answer_invalid(const struct nnvts_model *model, bool *supported, enum nnvts_status status);
enum nnvts_status prepare_fails(const struct nnvts_model *model, enum nnvts_status status);
enum nnvts_status prepare_writes(const struct nnvts_model *model, enum nnvts_status status);
void device_nameless(struct nnvts_device *device);
void device_unsorted(struct nnvts_device *device);
void device_greedy(struct nnvts_device *device);

/* values.c */
enum nnvts_status tamper_true_255(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_towards_zero(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_ties_down(struct tamper *t, enum nnvts_status status);

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
