/* SPDX-License-Identifier: Apache-2.0 */
/** @file ndk.c See ndk.h. */
#include "tests/kit/ndk.h"

#include <dlfcn.h>
#include <unistd.h>

/* ------------------------------------------------------------------- the library */

const char *ndk_path(const char *file, const char *device) {
    static char path[4096];
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    snprintf(path, sizeof path, "%s/../tests/%s%s", folder ? folder : "build/drivers", file, device);
    return path;
}

int ndk_objects(void) {
    void *handle = dlopen(ndk_path("toy.so", ""), RTLD_NOW | RTLD_LOCAL);
    int (*count)(void);
    assert_non_null(handle);
    void *symbol = dlsym(handle, "toy_objects");
    memcpy(&count, &symbol, sizeof count);
    const int n = count();
    dlclose(handle);
    return n;
}

int ndk_no_lies(void **state) {
    (void)state;
    unsetenv("TOY_LIE");
    return 0;
}
void ndk_lie(const char *name) { setenv("TOY_LIE", name, 1); }

struct nnvts_device *ndk_open(const char *device) {
    return open_driver("ndk", ndk_path("toy.so", device));
}

/* ---------------------------------------------------------------------- a model */

float ndk_constants[NDK_N], ndk_x[NDK_N], ndk_sums[NDK_N];

void ndk_fill(void) {
    for (int i = 0; i < NDK_N; i++) {
        ndk_constants[i] = (float)i;
        ndk_x[i] = (float)(100 * i);
        ndk_sums[i] = (float)(101 * i);
    }
}

void ndk_make_add(struct net *n, struct nnvts_memory *pool) {
    const uint32_t in = input(n, F32, DIMS(NDK_N));
    const uint32_t c = constant(n, F32, ndk_constants, sizeof ndk_constants, DIMS(NDK_N));
    const uint32_t none = integer(n, ANEURALNETWORKS_FUSED_NONE), out = output(n, F32, DIMS(NDK_N));
    operation(n, ANEURALNETWORKS_ADD, LIST(in, c, none), LIST(out));
    if (!pool) return;
    n->operands[c].lifetime = NNVTS_CONSTANT_REFERENCE;
    n->operands[c].location = (struct nnvts_location){.length = sizeof ndk_constants};
    n->model.pools = pool;
    n->model.pool_count = 1;
}

struct nnvts_prepared_model *ndk_prepare_add(struct nnvts_device *device) {
    struct net n = {0};
    ndk_fill();
    ndk_make_add(&n, NULL);
    return prepare(device, &n);
}

enum nnvts_status ndk_try_prepare(struct nnvts_device *device, struct nnvts_prepared_model **out) {
    struct net n = {0};
    ndk_make_add(&n, NULL);
    *out = NULL;
    return device->prepare_model(device, finish(&n), &prepare_config, out);
}

void ndk_check_sums(const float *y) { assert_floats(y, ndk_sums, NDK_N, 0); }

void ndk_check_executes(struct nnvts_prepared_model *p) {
    float y[NDK_N] = {0};
    struct call c = {0};
    give(&c, ndk_x, sizeof ndk_x);
    take(&c, y, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    ndk_check_sums(y);
    assert_int_equal(c.result.shape_count, 1);
    assert_true(c.shapes[0].is_sufficient);
    assert_int_equal(c.shapes[0].dimension_count, 1);
    assert_int_equal(c.dims[0][0], NDK_N);
    struct nnvts_memory files[2] = {shared(ndk_x, sizeof ndk_x, 0, NNVTS_PROT_READ),
                                    shared(NULL, sizeof y, 4096, NNVTS_PROT_READ | NNVTS_PROT_WRITE)};
    memcpy(c.pools, files, sizeof files);
    memset(y, 0, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    assert_int_equal(pread(files[1].fd, y, sizeof y, 4096), (ssize_t)sizeof y);
    ndk_check_sums(y);
    close(files[0].fd);
    close(files[1].fd);
}
