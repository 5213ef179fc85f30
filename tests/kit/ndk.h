/* SPDX-License-Identifier: Apache-2.0 */
/** @file ndk.h The driver "ndk" over a tiny library of tests (tests/nnapi/toy.c), which lies when it is told to. */
#ifndef KIT_NDK_H
#define KIT_NDK_H

#include "tests/kit/driver.h"

/** Of a file beside the tests, with a device behind it: "toy.so", "#b". */
const char *ndk_path(const char *file, const char *device);
/** Objects of the library that nobody has freed. */
int ndk_objects(void);
/** For setups: the library is honest. */
int ndk_no_lies(void **state);
/** The library tells this lie from now on. */
void ndk_lie(const char *name);

struct nnvts_device *ndk_open(const char *device);
enum { NDK_N = 40 }; /* more bytes than a library copies at once */
/** y = ndk_x + ndk_constants is ndk_sums. */
extern float ndk_constants[NDK_N], ndk_x[NDK_N], ndk_sums[NDK_N];
/** The values of the addition. */
void ndk_fill(void);
/** y = x + constants; the constants as CONSTANT_COPY, or in a pool. */
void ndk_make_add(struct net *n, struct nnvts_memory *pool);

struct nnvts_prepared_model *ndk_prepare_add(struct nnvts_device *device);

enum nnvts_status ndk_try_prepare(struct nnvts_device *device, struct nnvts_prepared_model **out);

void ndk_check_sums(const float *y);
/** The same request in memory that has a pointer, and in files. */
void ndk_check_executes(struct nnvts_prepared_model *p);

#endif
