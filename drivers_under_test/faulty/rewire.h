/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rewire.h Operations put before or behind the one in hand: how a bug of values or of places becomes a model.
 *
 * A wire begins at an input or an output of the operation in hand; each step adds an operation and its result, and
 * wire_end() connects the last result. Values that a bug does not concern come through unchanged, bit for bit.
 */
#ifndef NNVTS_FAULTY_REWIRE_H
#define NNVTS_FAULTY_REWIRE_H

#include "faulty.h"

/** A function of a bug: changes the operation in hand, true if it did. */
#define CHANGE(name) static bool name(struct nnv_edit *e, const struct nnv_fault *f)
/** In the row of a bug: the function is all that it does. */
#define OWN(function) .own = {.change = (function)}

struct wire {
    struct nnv_edit *e;
    int pos;                 /**< the input that is replaced in the end; -1: an output is */
    uint32_t next;           /**< where the next operation goes */
    uint32_t value;          /**< the last result */
    uint32_t result;         /**< behind: the operand that it becomes */
    uint32_t steps;          /**< operations added */
    struct nnv_operand like; /**< type and encoding of results, unless they are given */
    struct nnv_shape shape;  /**< likewise */
};

struct wire wire_before(struct nnv_edit *e, int pos);
struct wire wire_behind(struct nnv_edit *e, uint32_t out);
/** True if it changed anything. */
bool wire_end(struct wire *w);
/** An operation with these inputs; the result, of the wire's type and shape, is its value from now on. */
uint32_t wire_op(struct wire *w, int32_t code, uint32_t n, const uint32_t *in);
#define WIRE(w, code, ...)                                                                                             \
    wire_op((w), ANEURALNETWORKS_##code, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                         \
            (uint32_t[]){__VA_ARGS__})
/** Results are of this type from now on; of quantised ones the encoding is to be set in like. */
void wire_type(struct wire *w, int32_t type);
/** A constant tensor of the wire's type. */
uint32_t wire_tensor(struct wire *w, uint32_t rank, const uint32_t *dims, const double *v);
/** One of a single number, which is broadcast; and one of the wire's shape, which is known. */
uint32_t wire_number(struct wire *w, double v);
uint32_t wire_full(struct wire *w, double v);
/** Constant INT32s, shaped rank and dims. */
uint32_t wire_ints(struct wire *w, uint32_t rank, const uint32_t *dims, const int32_t *v);
/** Where mask holds, v, else the wire's value; the shape is known. */
void wire_where(struct wire *w, uint32_t mask, double v);
/** The mask: comparison code of operand x with a number. */
uint32_t wire_mask(struct wire *w, int32_t code, uint32_t x, double bound);

/* ------------------------------------------------------------------- elements */

/** An element of a tensor. */
struct spot {
    struct nnv_edit *e;
    const struct nnv_shape *shape;
    uint32_t at[NNV_MAX_RANK], i; /**< coordinates, and its number */
    const int32_t *p;             /**< the bug's own */
};
/** The number of the element whose value stands there instead; A_ZERO: the real number 0. */
typedef uint32_t (*place_fn)(const struct spot *s);
enum { A_ZERO = -1 };
/** The number of the element with another coordinate on an axis. */
uint32_t spot_at(const struct spot *s, uint32_t axis, int64_t to);
/** Elements of output 0, or of an input, come from other places. False where they are where they should be. */
bool move_output(struct nnv_edit *e, place_fn place, const int32_t *p);
bool move_input(struct nnv_edit *e, int pos, place_fn place, const int32_t *p);
/** The same, and the input takes another shape: place is asked for each of its elements. */
bool expand_input(struct nnv_edit *e, int pos, const struct nnv_shape *shape, place_fn place, const int32_t *p);

/* ------------------------------------------------------------------ attributes */

/** A scalar constant; dflt where it is absent or unknown. */
int32_t attribute(struct nnv_edit *e, const char *name, int32_t dflt);
/** Gives a constant scalar another value; false if it is the same. */
bool set_attribute(struct nnv_edit *e, const char *name, double v);
/** Known constants of an input by name, n of them; NULL: it is none. */
double *constants(struct nnv_edit *e, const char *name, int *pos, size_t *n);
/** The operation gets these inputs. */
void set_inputs(struct nnv_edit *e, int32_t code, uint32_t n, const uint32_t *in);
/** Type of output 0. */
int32_t type_of(struct nnv_edit *e);
/** The shape of an input. */
const struct nnv_shape *shape_of(struct nnv_edit *e, int pos);
const struct nnv_shape *output_shape(struct nnv_edit *e);
/** Of element i of a tensor with these numbers from elsewhere: writes what differs. */
bool set_constants(struct nnv_edit *e, int pos, const double *was, const double *is, size_t n);

#endif
