/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.h A driver as a plug-in, small models for it, and requests. Nothing of nnvts is linked. */
#ifndef KIT_DRIVER_H
#define KIT_DRIVER_H

#include "nnvts/driver.h"
#include "tests/kit/test.h"

/* -------------------------------------------------------------------- drivers */

const struct nnvts_driver *load(const char *name);

struct nnvts_device *open_driver(const char *name, const char *options);

extern struct nnvts_device *cpu; /**< set up once for all tests */

#ifndef CPU_DRIVER
#define CPU_DRIVER "cpu", "threads=2"
#endif

int open_as_cpu(const char *name, const char *options);
static inline int open_cpu(void **state) {
    (void)state;
    return open_as_cpu(CPU_DRIVER);
}

int close_cpu(void **state);

uint64_t now_ns(void);

/* --------------------------------------------------------------------- models */

enum { MOST = 40, ROOM = 8192 };

/** A model in the making. */
struct net {
    struct nnvts_operand operands[MOST];
    uint32_t dims[MOST][8];
    struct nnvts_operation operations[4];
    uint32_t inputs[4][32], outputs[4][8];
    uint32_t ends_in[MOST], ends_out[MOST];
    uint8_t values[ROOM];
    struct nnvts_model model;
};

/** The types that tests use, with their quantisation. */
struct kind {
    int32_t type;
    float scale;
    int32_t zero_point;
};
#define F32 ((struct kind){ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0})
#define F16 ((struct kind){ANEURALNETWORKS_TENSOR_FLOAT16, 0, 0})
#define I32 ((struct kind){ANEURALNETWORKS_TENSOR_INT32, 0, 0})
#define U8(SCALE, ZERO) ((struct kind){ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, SCALE, ZERO})
#define S8(SCALE, ZERO) ((struct kind){ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED, SCALE, ZERO})
#define INT ((struct kind){ANEURALNETWORKS_INT32, 0, 0})
#define DIMS(...)                                                                                                      \
    (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)), (const uint32_t[]) { __VA_ARGS__ }

uint32_t tensor(struct net *n, uint32_t lifetime, struct kind k, uint32_t rank, const uint32_t *dims);

uint32_t input(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims);

uint32_t output(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims);

uint32_t constant(struct net *n, struct kind k, const void *data, uint32_t bytes, uint32_t rank, const uint32_t *dims);

uint32_t integer(struct net *n, int32_t value);

uint32_t real(struct net *n, float value);

uint32_t boolean(struct net *n, uint8_t value);

/** inputs: ends with UINT32_MAX; outputs likewise. */
void operation(struct net *n, int32_t code, const uint32_t *inputs, const uint32_t *outputs);
#define LIST(...) ((const uint32_t[]){__VA_ARGS__, UINT32_MAX})

const struct nnvts_model *finish(struct net *n);

extern const struct nnvts_prepare_config prepare_config;
extern const struct nnvts_execution_config plain;

struct nnvts_prepared_model *prepare(struct nnvts_device *device, struct net *n);

/* ------------------------------------------------------------------- requests */

/** Each argument has a pool of its own. */
struct call {
    struct nnvts_argument in[8], out[8];
    struct nnvts_memory pools[16];
    struct nnvts_request request;
    uint32_t dims[8][8];
    struct nnvts_output_shape shapes[8];
    struct nnvts_execution_result result;
};

uint32_t pool(struct call *c, void *data, uint64_t size, uint32_t prot);

void give(struct call *c, const void *data, uint32_t bytes);

void take(struct call *c, void *data, uint32_t bytes);

const struct nnvts_request *ready(struct call *c);

enum nnvts_status execute(struct nnvts_prepared_model *p, struct call *c);

/** One model, one input, one output. */
void check_run(struct net *n, const void *x, uint32_t x_bytes, void *y, uint32_t y_bytes);

void assert_floats(const float *actual, const float *expected, size_t n, double relative);
#define ULPS(N) ((N)*0x1p-23)

/** y = relu(x), x of the given extents. */
struct nnvts_prepared_model *prepare_relu(struct kind k, uint32_t rank, const uint32_t *dims);

/** A memfd with bytes at offset; data stays NULL, so that the driver must map it. */
struct nnvts_memory shared(const void *data, uint64_t size, uint64_t offset, uint32_t prot);

/** The files of a cache: one of the model, and one of data. */
struct cache_files {
    int fd[2];
    struct nnvts_cache cache;
};
enum { MODEL_FILE = 0, DATA_FILE = 1 };

/** Empty ones, for a token of its own. */
struct cache_files open_cache_files(const struct nnvts_device *device);
/** The cache, until the files are moved. */
const struct nnvts_cache *cache_view(struct cache_files *f);
void close_cache_files(const struct cache_files *f);

/** Both calls refuse the model as invalid; what: its name if one does not. */
void expect_refused(const char *what, struct net *n);
/** Of the values of an operand. */
uint32_t kind_bytes(struct kind k, uint32_t rank, const uint32_t *dims);

#endif
