/* SPDX-License-Identifier: Apache-2.0 */
/** @file values.h The programs of the suite "compiler", and how their values are judged. */
#ifndef NNV_SUITES_COMPILER_VALUES_H
#define NNV_SUITES_COMPILER_VALUES_H

#include "compiler/byoc/byoc.h"
#include "harness/suites/kit/context.h"

/** A program whose values are in question. */
struct nnv_values_case {
    const char *name;   /**< "nn.conv2d/float32/strides": operator, type, what is in question */
    const char *params; /**< of @main; those that begin with k become constants */
    const char *body;
    double most; /**< that the model may differ from the program: relative, of integers in units; 0: the usual */
};
extern const struct nnv_values_case nnv_values_cases[];
extern const size_t nnv_values_case_count;

/** Changes between the stages of the compiler. The suite makes none; the tests of the suite plant faults by them. */
struct nnv_values_edit {
    void (*cut)(struct nnv_relay_module *m, struct nnv_partition *p); /**< the regions; may be NULL */
    /** a converted model; may be NULL */
    void (*model)(const struct nnv_values_edit *edit, struct nnv_model *m, struct nnv_arena *arena);
};

/** The models of a case's regions, with the inputs that the program gave them; of the context's arena. */
struct nnv_values_models {
    struct nnv_spec **specs;
    size_t n;
};

/** Divides, converts, and expects of the context that the values are those of the interpreter. edit may be NULL. */
void nnv_values_check(struct nnv_context *s, const struct nnv_values_case *c, const struct nnv_values_edit *edit,
                      struct nnv_values_models *out);
/** The same; then the driver is judged on the models. */
void nnv_values_run(struct nnv_context *s, const struct nnv_values_case *c);

#endif
