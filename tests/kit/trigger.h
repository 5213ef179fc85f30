/* SPDX-License-Identifier: Apache-2.0 */
/** @file trigger.h Models on which a planted bug of the driver faulty must show, or must not: a row each. */
#ifndef KIT_TRIGGER_H
#define KIT_TRIGGER_H

#include "tests/kit/driver_op.h"

/** A model and a bug. Values that are NULL are a pattern that repeats nowhere near. */
struct trigger {
    const char *bug;
    bool same; /**< the bug must not show */
    int32_t code;
    const struct given *in, *out;
    bool golden;                  /**< the driver cpu knows nothing of it */
    void (*model)(struct net *n); /**< instead of code, in and out: a model of several operations */
};
#define SHOWS(BUG, CODE, ...)                                                                                          \
    { .bug = (BUG), .code = ANEURALNETWORKS_##CODE, __VA_ARGS__ }
#define SPARED(BUG, CODE, ...) SHOWS(BUG, CODE, __VA_ARGS__, .same = true)
#define SHOWS_IN(BUG, MODEL)                                                                                           \
    { .bug = (BUG), .model = (MODEL) }
#define SPARED_IN(BUG, MODEL)                                                                                          \
    { .bug = (BUG), .model = (MODEL), .same = true }
#define X(...) .in = INPUTS(__VA_ARGS__)
#define Y(...) .out = OUTPUTS({__VA_ARGS__, NULL})
#define OF(...) (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), ((const uint32_t[]){__VA_ARGS__})
#define T(KIND, ...)                                                                                                   \
    { KIND, OF(__VA_ARGS__), NULL }
/** A constant. */
#define C(KIND, ...)                                                                                                   \
    { KIND, CONSTANT | OF(__VA_ARGS__), NULL }

/** The pattern as values of the type. */
const void *pattern(int32_t type);
/** A constant of the pattern. */
uint32_t patterned(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims);
/** Each bug shows over the golden driver and over the driver cpu, or it does not. */
void check_triggers(const struct trigger *t, size_t count);

#endif
