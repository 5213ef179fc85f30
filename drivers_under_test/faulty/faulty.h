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

/* --------------------------------------------------------- editing of models */

struct edit_block;

/** A model as a copy that may be changed. */
struct edit {
    struct nnvts_model model; /**< what the other driver is given */
    struct nnvts_operand *operands;
    uint32_t operand_cap;
    struct nnvts_operation *operations;
    uint8_t *values; /**< model.operand_values */
    struct edit_block *blocks;
    bool failed; /**< memory ran out: the copy is of no use */
};

bool edit_begin(struct edit *e, const struct nnvts_model *model);
void edit_end(struct edit *e);
/** Memory that edit_end frees, zeroed; NULL (and failed set) when there is none. */
void *edit_alloc(struct edit *e, size_t bytes);
/** The operand that input pos of op names; NULL if there is no such input. Valid until an operand is added. */
struct nnvts_operand *edit_input(struct edit *e, const struct nnvts_operation *op, uint32_t pos);
struct nnvts_operand *edit_output(struct edit *e, const struct nnvts_operation *op, uint32_t pos);
/** A copy of the value of constant o, or NULL if o is none. */
void *edit_value(struct edit *e, const struct nnvts_operand *o);
/** INT32 or BOOL scalar constant at input pos; dflt if it is absent or not constant. */
int32_t edit_int(struct edit *e, const struct nnvts_operation *op, uint32_t pos, int32_t dflt);
/** Appends a constant of the type, quantisation and shape of `like`; returns its index. */
uint32_t edit_add(struct edit *e, struct nnvts_operand like, const void *value, uint32_t bytes);
uint32_t edit_add_int(struct edit *e, int32_t value);
/** Makes input pos of op a new constant, like the operand that it names now. */
void edit_replace(struct edit *e, struct nnvts_operation *op, uint32_t pos, const void *value, uint32_t bytes);
void edit_replace_int(struct edit *e, struct nnvts_operation *op, uint32_t pos, int32_t value);
void edit_set_inputs(struct edit *e, struct nnvts_operation *op, const uint32_t *inputs, uint32_t count);

/** Bytes of an element, 0 for what is unknown. */
uint32_t type_bytes(int32_t type);
bool type_is_quant8(int32_t type);
/** Elements of an operand of known shape; 0 if it is unknown. */
uint32_t operand_elems(const struct nnvts_operand *o);

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
    } * inputs, *outputs;
    uint64_t count; /**< executions of the process so far */
};

/** How a change alters an operation. Nothing happens where the operation has nothing like it. */
enum change_kind {
    CHANGE_NOTHING,
    CHANGE_INT,        /**< INT32 or BOOL scalar `at` becomes `value` */
    CHANGE_INT_BY,     /**< INT32 scalar `at` grows by `value` */
    CHANGE_FLOAT,      /**< float scalar `at`, of either type, becomes `real` */
    CHANGE_FLOAT_BY,   /**< float scalar `at` is multiplied by `real` */
    CHANGE_CODE,       /**< the operation becomes operation `value`, its inputs from `at` on dropped (0: none) */
    CHANGE_SWAP,       /**< inputs `at` and `value`, of one type and shape, change places */
    CHANGE_SWAP_OUT,   /**< outputs `at` and `value` likewise */
    CHANGE_ZERO,       /**< constant tensor `at` becomes all 0 */
    CHANGE_REVERSE,    /**< the elements of constant tensor `at` in reverse order */
    CHANGE_ROTATE,     /**< the rows (first axis) of constant tensor `at`, one further */
    CHANGE_PAIRS,      /**< the two columns of constant int tensor `at` change places */
    CHANGE_ELEMENTS,   /**< the elements of constant int tensor `at` become `value` */
    CHANGE_ZERO_POINT, /**< zero point of quantised input `at` moved by `value` */
    CHANGE_OUT_POINT,  /**< zero point of quantised output `at` moved by `value` */
    CHANGE_TAKE_SCALE, /**< quantised input `at` read with the scale and zero point of input `value` */
    CHANGE_ACTIVATION, /**< fused activation `value` becomes none; -1: any does */
    CHANGE_GROUPS,     /**< CHANNEL_SHUFFLE: groups and channels of a group change places */
    CHANGE_PAD_ZERO,   /**< quantised PAD fills with stored 0 instead of the zero point */
};
struct change {
    enum change_kind kind;
    uint32_t at;
    int32_t value;
    float real;
};

enum strike_place { STRIKE_NOWHERE, STRIKE_SUPPORTED, STRIKE_PREPARE, STRIKE_EXECUTE, STRIKE_RELEASE };
enum { ANY_OPERATION = -1 };

struct bug {
    const char *name;
    const char *models; /**< the class of bugs that it stands for */
    const char *fires;  /**< where */
    const char *over;   /**< the driver that it is planted in unless over= says another; NULL: cpu */
    int32_t op;         /**< fires only for models with this operation (unless @OP says another), or ANY_OPERATION */
    /** Changes operation op; true if it did. */
    bool (*rewrite)(struct edit *e, struct nnvts_operation *op);
    struct change change; /**< likewise, as data; without @OP it needs op */
    bool alone;           /**< fires only for models of one operation */
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
/** Code of an operation by name of len characters ("TANH"), or -1. */
int32_t operation_by_name(const char *name, size_t len);
/** The name of operation code, or NULL. */
const char *operation_name(int32_t code);

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

/* rewrite.c, window.c */
bool rewrite_bias0(struct edit *e, struct nnvts_operation *op);
bool rewrite_relu6(struct edit *e, struct nnvts_operation *op);
bool rewrite_quantised_relu(struct edit *e, struct nnvts_operation *op);
bool rewrite_no_activation(struct edit *e, struct nnvts_operation *op);
bool rewrite_beta(struct edit *e, struct nnvts_operation *op);
bool rewrite_axis(struct edit *e, struct nnvts_operation *op);
bool rewrite_align_corners(struct edit *e, struct nnvts_operation *op);
bool rewrite_half_pixel(struct edit *e, struct nnvts_operation *op);
bool rewrite_width_height(struct edit *e, struct nnvts_operation *op);
bool rewrite_first_scale(struct edit *e, struct nnvts_operation *op);
bool rewrite_concat_scale(struct edit *e, struct nnvts_operation *op);
bool rewrite_add_scale(struct edit *e, struct nnvts_operation *op);
bool rewrite_zero_point(struct edit *e, struct nnvts_operation *op);
bool rewrite_truncate(struct edit *e, struct nnvts_operation *op);
bool rewrite_forget_bias(struct edit *e, struct nnvts_operation *op);
bool rewrite_cell_clip(struct edit *e, struct nnvts_operation *op);
bool rewrite_lrn_radius(struct edit *e, struct nnvts_operation *op);
bool rewrite_dilation(struct edit *e, struct nnvts_operation *op);
bool rewrite_pads(struct edit *e, struct nnvts_operation *op);
bool rewrite_flip(struct edit *e, struct nnvts_operation *op);
bool rewrite_channel_order(struct edit *e, struct nnvts_operation *op);
bool rewrite_average(struct edit *e, struct nnvts_operation *op);
bool rewrite_max_pool(struct edit *e, struct nnvts_operation *op);

/* change.c */
bool apply_change(struct edit *e, struct nnvts_operation *op, const struct change *c);

/* control.c */
bool rewrite_branch(struct edit *e, struct nnvts_operation *op);
bool rewrite_last_iteration(struct edit *e, struct nnvts_operation *op);

/** Where the activation of op stands; -1: it has none. */
int activation_at(struct edit *e, const struct nnvts_operation *op);

/* answers.c */
enum nnvts_status tamper_stale_tail(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_batch(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_low_bit(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_half(struct tamper *t, enum nnvts_status status);
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
enum nnvts_status tamper_signed(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_bfloat(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_half_truncated(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_constant(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_plus_one(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_true_255(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_reverse(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_stale_head(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_int_as_float(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_never_negative(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_flush(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_finite(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_batches_reversed(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_overlap(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_towards_zero(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_ties_down(struct tamper *t, enum nnvts_status status);
enum nnvts_status tamper_saturation(struct tamper *t, enum nnvts_status status);

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
