/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bench_runtime.c What the runtime adds to a small execution, side by side with calling the driver directly, and
 * how many bytes it copies. Usage: bench_runtime FOLDER_OF_DRIVERS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/driver.h"
#include "reference/runtime/api/compilation.h"
#include "reference/runtime/device.h"
#include "reference/runtime/api/memory.h"

enum { N = 16, WARM = 500, ROUNDS = 4000 };

static void die(const char *what, int code) {
    fprintf(stderr, "bench_runtime: %s: %d\n", what, code);
    exit(1);
}
#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        int code_ = (int)(call);                                                                                       \
        if (code_) die(#call, code_);                                                                                  \
    } while (0)

/* -------------------------------------------------------------------- the model */

/** a + b, of N floats. */
static ANeuralNetworksModel *make_model(void) {
    const uint32_t extent = N, in[] = {0, 1, 2}, out[] = {3};
    const ANeuralNetworksOperandType tensor = {ANEURALNETWORKS_TENSOR_FLOAT32, 1, &extent, 0, 0};
    const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0, 0};
    const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    ANeuralNetworksModel *m;
    MUST(ANeuralNetworksModel_create(&m));
    for (int i = 0; i < 4; i++) MUST(ANeuralNetworksModel_addOperand(m, i == 2 ? &scalar : &tensor));
    MUST(ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof none));
    MUST(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, in, 1, out));
    MUST(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, in, 1, out));
    MUST(ANeuralNetworksModel_finish(m));
    return m;
}

/* -------------------------------------------------------------------- the ways */

static float a[N], b[N], out[N];

struct bench {
    ANeuralNetworksCompilation *compilation;
    ANeuralNetworksExecution *reusable, *burst_reusable;
    ANeuralNetworksBurst *burst;
    struct nnvts_prepared_model *prepared;
    struct nnvts_burst *driver_burst;
    struct nnvts_execution *driver_execution;
    struct nnvts_request request;
    struct nnvts_execution_result result;
};

static ANeuralNetworksExecution *execution_new(ANeuralNetworksCompilation *c) {
    ANeuralNetworksExecution *e;
    MUST(ANeuralNetworksExecution_create(c, &e));
    MUST(ANeuralNetworksExecution_setInput(e, 0, NULL, a, sizeof a));
    MUST(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
    MUST(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof out));
    return e;
}

static const struct nnvts_execution_config config = {NNVTS_NO_TIME, NNVTS_NO_TIME, false};

static struct nnvts_execution_result *fresh(struct bench *x) {
    x->result.shapes[0].dimension_count = 4;
    return &x->result;
}

static void direct(struct bench *x) { MUST(x->prepared->execute(x->prepared, &x->request, &config, fresh(x))); }

static void direct_execution(struct bench *x) {
    MUST(x->driver_execution->execute(x->driver_execution, NNVTS_NO_TIME, fresh(x)));
}

static void direct_burst(struct bench *x) {
    static const int64_t tokens[] = {-1, -1, -1};
    MUST(x->driver_burst->execute(x->driver_burst, &x->request, tokens, &config, fresh(x)));
}

static void compute(struct bench *x) {
    ANeuralNetworksExecution *e = execution_new(x->compilation);
    MUST(ANeuralNetworksExecution_compute(e));
    ANeuralNetworksExecution_free(e);
}

static void compute_again(struct bench *x) { MUST(ANeuralNetworksExecution_compute(x->reusable)); }

static void burst(struct bench *x) {
    ANeuralNetworksExecution *e = execution_new(x->compilation);
    MUST(ANeuralNetworksExecution_burstCompute(e, x->burst));
    ANeuralNetworksExecution_free(e);
}

static void burst_again(struct bench *x) { MUST(ANeuralNetworksExecution_burstCompute(x->burst_reusable, x->burst)); }

static const struct way {
    const char *name;
    void (*run)(struct bench *x);
    int against; /**< which direct one it is compared with; -1: it is one */
} ways[] = {
    {"driver: execute", direct, -1},
    {"driver: reusable execution", direct_execution, -1},
    {"driver: burst", direct_burst, -1},
    {"compute, new executions", compute, 0},
    {"compute, one reusable", compute_again, 1},
    {"burst, new executions", burst, 2},
    {"burst, one reusable", burst_again, 2},
};
enum { WAYS = sizeof ways / sizeof *ways };

static int compare(const void *x, const void *y) {
    const uint64_t p = *(const uint64_t *)x, q = *(const uint64_t *)y;
    return (p > q) - (p < q);
}

/** All ways by turns, so that none has a better hour. */
static void measure(struct bench *x) {
    static uint64_t ns[WAYS][ROUNDS];
    double median[WAYS];
    for (int round = -WARM; round < ROUNDS; round++) {
        for (int w = 0; w < WAYS; w++) {
            const uint64_t begun = nnv_now_ns();
            ways[w].run(x);
            if (round >= 0) ns[w][round] = nnv_now_ns() - begun;
        }
    }
    for (int w = 0; w < WAYS; w++) {
        qsort(ns[w], ROUNDS, sizeof *ns[w], compare);
        median[w] = (double)ns[w][ROUNDS / 2] / 1e3;
        printf("  %-28s median %7.2f us   best tenth %7.2f us", ways[w].name, median[w],
               (double)ns[w][ROUNDS / 10] / 1e3);
        if (ways[w].against >= 0) printf("   overhead %6.2f us", median[w] - median[ways[w].against]);
        putchar('\n');
    }
}

/* ----------------------------------------------------------------- bytes copied */

/** A driver between, which looks at what it is given. */
static struct {
    struct nnvts_device base;
    struct nnvts_device *inner;
    struct nnvts_prepared_model prepared, *inner_prepared;
    const void *own[3]; /**< where the application has its arguments */
    uint64_t copied;
} spy;

static uint64_t elsewhere(const struct nnvts_request *r, const struct nnvts_argument *x, const void *own) {
    const struct nnvts_location *l = &x->location;
    return (const uint8_t *)r->pools[l->pool].data + l->offset == own ? 0 : l->length;
}

static enum nnvts_status spy_execute(struct nnvts_prepared_model *self, const struct nnvts_request *r,
                                     const struct nnvts_execution_config *how, struct nnvts_execution_result *result) {
    (void)self;
    spy.copied += elsewhere(r, &r->inputs[0], spy.own[0]) + elsewhere(r, &r->inputs[1], spy.own[1]) +
                  elsewhere(r, &r->outputs[0], spy.own[2]);
    return spy.inner_prepared->execute(spy.inner_prepared, r, how, result);
}

static void spy_release(struct nnvts_prepared_model *self) {
    (void)self;
    spy.inner_prepared->release(spy.inner_prepared);
}

static enum nnvts_status spy_prepare(struct nnvts_device *self, const struct nnvts_model *model,
                                     const struct nnvts_prepare_config *how, struct nnvts_prepared_model **to) {
    (void)self;
    spy.prepared = (struct nnvts_prepared_model){
        .struct_size = sizeof spy.prepared, .execute = spy_execute, .release = spy_release};
    *to = &spy.prepared;
    return spy.inner->prepare_model(spy.inner, model, how, &spy.inner_prepared);
}

static enum nnvts_device_status spy_status(struct nnvts_device *self) {
    (void)self;
    return NNVTS_DEVICE_AVAILABLE;
}

static enum nnvts_status spy_supported(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    (void)self;
    return spy.inner->get_supported_operations(spy.inner, model, supported);
}

static void spy_close(struct nnvts_device *self) { (void)self; }

static void run_spied(ANeuralNetworksExecution *e, const char *what, const void *x, const void *y, const void *z) {
    spy.own[0] = x;
    spy.own[1] = y;
    spy.own[2] = z;
    spy.copied = 0;
    MUST(ANeuralNetworksExecution_compute(e));
    printf("  %-28s %llu bytes copied per execution\n", what, (unsigned long long)spy.copied);
    ANeuralNetworksExecution_free(e);
}

static void count_copies(const ANeuralNetworksModel *model, struct nnvts_device *inner) {
    enum { BYTES = 4096, AT = 1024 };
    spy.inner = inner;
    spy.base = *inner; /* its description; the functions are others */
    spy.base.struct_size = sizeof spy.base;
    spy.base.get_status = spy_status;
    spy.base.get_supported_operations = spy_supported;
    spy.base.prepare_model = spy_prepare;
    spy.base.prepare_from_cache = NULL;
    spy.base.model_cache_files = spy.base.data_cache_files = 0;
    spy.base.allocate = NULL;
    spy.base.release = spy_close;
    nnv_rt_device_override((struct nnvts_device *[]){&spy.base}, 1);
    ANeuralNetworksCompilation *c;
    MUST(ANeuralNetworksCompilation_create((ANeuralNetworksModel *)(uintptr_t)model, &c));
    MUST(ANeuralNetworksCompilation_finish(c));
    run_spied(execution_new(c), "from pointers", a, b, out);
    const int fd = memfd_create("bench", 0);
    ANeuralNetworksMemory *m;
    ANeuralNetworksExecution *e;
    MUST(ftruncate(fd, BYTES));
    MUST(ANeuralNetworksMemory_createFromFd(BYTES, PROT_READ | PROT_WRITE, fd, 0, &m));
    MUST(ANeuralNetworksExecution_create(c, &e));
    MUST(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, m, 0, sizeof a));
    MUST(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, m, AT, sizeof b));
    MUST(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, m, 2 * AT, sizeof out));
    const uint8_t *data = m->memory.data;
    run_spied(e, "from a memory", data, data + AT, data + 2 * AT);
    ANeuralNetworksMemory_free(m);
    close(fd);
    ANeuralNetworksCompilation_free(c);
}

/* ------------------------------------------------------------------------- main */

static void start(struct bench *x, ANeuralNetworksModel *model) {
    static uint32_t dims[4];
    static struct nnvts_output_shape shape = {.dimension_count = 4, .dimensions = dims};
    static const struct nnvts_argument in[] = {{.location = {.pool = 0, .length = sizeof a}},
                                               {.location = {.pool = 1, .length = sizeof b}}};
    static const struct nnvts_argument to[] = {{.location = {.pool = 2, .length = sizeof out}}};
    static struct nnvts_memory pools[3];
    pools[0] = (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = -1, .size = sizeof a, .data = a};
    pools[1] = (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = -1, .size = sizeof b, .data = b};
    pools[2] =
        (struct nnvts_memory){.prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE, .fd = -1, .size = sizeof out, .data = out};
    MUST(ANeuralNetworksCompilation_create(model, &x->compilation));
    MUST(ANeuralNetworksCompilation_finish(x->compilation));
    const struct nnv_rt_plan *plan = nnv_rt_compilation_plan(x->compilation);
    if (!plan->simple || plan->on_cpu) die("the driver does not take the model", 0);
    x->prepared = plan->graphs[0].steps[0].prepared;
    x->request = (struct nnvts_request){2, 1, 3, in, to, pools};
    x->result = (struct nnvts_execution_result){.shapes = &shape};
    MUST(x->prepared->create_burst(x->prepared, &x->driver_burst));
    MUST(x->prepared->create_execution(x->prepared, &x->request, &config, &x->driver_execution));
    MUST(ANeuralNetworksBurst_create(x->compilation, &x->burst));
    x->reusable = execution_new(x->compilation);
    x->burst_reusable = execution_new(x->compilation);
    MUST(ANeuralNetworksExecution_setReusable(x->reusable, true));
    MUST(ANeuralNetworksExecution_setReusable(x->burst_reusable, true));
}

static void stop(struct bench *x) {
    ANeuralNetworksExecution_free(x->reusable);
    ANeuralNetworksExecution_free(x->burst_reusable);
    ANeuralNetworksBurst_free(x->burst);
    x->driver_execution->release(x->driver_execution);
    x->driver_burst->release(x->driver_burst);
    ANeuralNetworksCompilation_free(x->compilation);
}

int main(int argc, char **argv) {
    struct nnv_driver driver = {0};
    struct nnv_err err = {0};
    struct bench x = {0};
    char path[4096];
    if (argc != 2) {
        fprintf(stderr, "usage: bench_runtime FOLDER_OF_DRIVERS\n");
        return 2;
    }
    snprintf(path, sizeof path, "%s/cpu.so", argv[1]);
    if (nnv_driver_open(&driver, path, NULL, &err) != NNV_OK) {
        fprintf(stderr, "bench_runtime: %s\n", err.text);
        return 1;
    }
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 2;
    }
    nnv_rt_device_override(&driver.device, 1);
    ANeuralNetworksModel *model = make_model();
    start(&x, model);
    printf("libneuralnetworks, an ADD of %d values on the cpu driver:\n", N);
    measure(&x);
    if (out[3] != 5) die("a wrong result", (int)out[3]);
    stop(&x);
    count_copies(model, driver.device);
    ANeuralNetworksModel_free(model);
    nnv_rt_device_override(NULL, 0);
    return 0;
}
