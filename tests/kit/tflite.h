/* SPDX-License-Identifier: Apache-2.0 */
/** @file tflite.h A file that is written, imported and evaluated. */
#ifndef KIT_TFLITE_H
#define KIT_TFLITE_H

#include "mlts/networks/networks.h"
#include "reference/model/validate.h"
#include "tests/kit/tflite_writer.h"

#define F NNV_TFL_FLOAT32
#define Q NNV_TFL_INT8
#define U NNV_TFL_UINT8
#define I NNV_TFL_INT32
#define B NNV_TFL_BOOL

struct fixture {
    struct nnv_arena *arena;
    struct writer *w;
    struct nnv_network net;
};

int setup(void **state);
int teardown(void **state);

/** Another file. */
struct writer *fresh(struct fixture *f);

void import_ok(struct fixture *f);

/** The import fails with this status and these words. */
void import_bad(struct fixture *f, enum nnv_status status, const char *words);

bool uses(const struct fixture *f, int32_t code);

/** Runs the model: the inputs' stored numbers one behind the other; output o must be these stored numbers. */
void expect_output(struct fixture *f, const double *in, uint32_t o, size_t n, const double *out);

#define NUMBERS(...)                                                                                                   \
    sizeof((double[]){__VA_ARGS__}) / sizeof(double), (const double[]) { __VA_ARGS__ }
#define GIVEN(...) ((const double[]){__VA_ARGS__})

/** y = op(x) of a vector of three with one option. */
struct w_operator *with_option(struct fixture *f, int code, int tag);

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
