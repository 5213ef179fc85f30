/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/bench/lane.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

enum { ALIGN = 64, SLACK = 64 /* behind a value: drivers may read whole vectors */ };

static const struct nnvts_execution_config plain = {
    .deadline_ns = NNVTS_NO_TIME, .loop_timeout_ns = NNVTS_NO_TIME, .measure_timing = true};

/** Room for a value; the place where it begins is the old total. */
static size_t place(size_t *total, size_t bytes) {
    size_t at = *total;
    *total += (bytes + SLACK + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static bool share(size_t bytes, uint32_t prot, struct nnvts_memory *pool) {
    int fd = memfd_create("nnvts-bench", MFD_CLOEXEC);
    void *data = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0
                     ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                     : MAP_FAILED;
    if (data == MAP_FAILED) {
        if (fd >= 0) close(fd);
        return false;
    }
    *pool = (struct nnvts_memory){.prot = prot, .fd = fd, .size = bytes, .data = data};
    return true;
}

/** The inputs of one set, which lie from `at` on in pool 0. */
static bool put_inputs(struct nnv_lane *lane, const struct nnv_bench_work *work, uint32_t set, size_t at,
                       struct nnvts_argument *in) {
    uint32_t n = work->model->main.nin;
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_value *v = &work->inputs[set][i];
        in[i] = (struct nnvts_argument){.has_no_value = v->omitted};
        if (v->omitted) continue;
        size_t offset = place(&at, v->bytes);
        in[i].location = (struct nnvts_location){.offset = (uint32_t)offset, .length = (uint32_t)v->bytes};
        in[i].dimension_count = v->rank;
        in[i].dimensions = v->dims;
        memcpy((uint8_t *)lane->pools[0].data + offset, v->data, v->bytes);
    }
    return true;
}

static size_t input_bytes(const struct nnv_bench_work *work, uint32_t set) {
    size_t total = 0;
    for (uint32_t i = 0; i < work->model->main.nin; i++)
        if (!work->inputs[set][i].omitted) place(&total, work->inputs[set][i].bytes);
    return total;
}

static bool build(struct nnv_lane *lane, const struct nnv_bench_work *work, struct nnv_arena *arena) {
    uint32_t nin = work->model->main.nin, nout = work->model->main.nout;
    size_t in_bytes = 0, out_bytes = 0;
    for (uint32_t s = 0; s < work->sets; s++) in_bytes += input_bytes(work, s);
    struct nnvts_argument *out = NNV_NEW(arena, struct nnvts_argument, nout);
    lane->request = NNV_NEW(arena, struct nnvts_request, work->sets);
    lane->execution = NNV_NEW(arena, struct nnvts_execution *, work->sets);
    lane->result.shapes = NNV_NEW(arena, struct nnvts_output_shape, nout);
    uint32_t *dims = NNV_NEW(arena, uint32_t, (size_t)nout * NNV_MAX_RANK);
    if (!out || !lane->request || !lane->execution || !lane->result.shapes || !dims) return false;
    for (uint32_t i = 0; i < nout; i++) {
        const struct nnv_value *v = &work->output_shapes[i];
        size_t offset = place(&out_bytes, v->bytes);
        out[i].location = (struct nnvts_location){.pool = 1, .offset = (uint32_t)offset, .length = (uint32_t)v->bytes};
        lane->result.shapes[i].dimensions = dims + (size_t)i * NNV_MAX_RANK;
    }
    if (in_bytes > UINT32_MAX || out_bytes > UINT32_MAX) return false;
    if (!share(in_bytes ? in_bytes : ALIGN, NNVTS_PROT_READ, &lane->pools[0])) return false;
    if (!share(out_bytes ? out_bytes : ALIGN, NNVTS_PROT_READ | NNVTS_PROT_WRITE, &lane->pools[1])) return false;
    size_t at = 0;
    for (uint32_t s = 0; s < work->sets; s++) {
        struct nnvts_argument *in = NNV_NEW(arena, struct nnvts_argument, nin);
        if (!in || !put_inputs(lane, work, s, at, in)) return false;
        at += input_bytes(work, s);
        lane->request[s] = (struct nnvts_request){.input_count = nin,
                                                  .output_count = nout,
                                                  .pool_count = 2,
                                                  .inputs = in,
                                                  .outputs = out,
                                                  .pools = lane->pools};
    }
    return true;
}

static void ready(struct nnv_lane *lane) {
    struct nnvts_execution_result *r = &lane->result;
    r->shape_count = 0;
    r->timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
    for (uint32_t i = 0; i < lane->request[0].output_count; i++) r->shapes[i].dimension_count = NNV_MAX_RANK;
}

static enum nnv_bench_state failed(const char *call, enum nnvts_status status, char *reason) {
    char name[32];
    snprintf(reason, NNV_BENCH_REASON, "%s answered %s", call, nnv_abi_status_name((int)status, name));
    return NNV_BENCH_FAILED;
}

enum nnv_bench_state nnv_lane_prepare(struct nnvts_device *d, const struct nnvts_model *model,
                                      const struct nnvts_prepare_config *config, struct nnv_arena *arena,
                                      struct nnvts_prepared_model **prepared, double *compile_ns, char *reason) {
    uint32_t n = model->main.operation_count, refused = 0, first = 0;
    bool *supported = NNV_NEW(arena, bool, n);
    if (!supported) {
        snprintf(reason, NNV_BENCH_REASON, "out of memory");
        return NNV_BENCH_ERROR;
    }
    enum nnvts_status status = d->get_supported_operations(d, model, supported);
    if (status != NNVTS_STATUS_NONE) return failed("get_supported_operations", status, reason);
    for (uint32_t i = 0; i < n; i++)
        if (!supported[i] && refused++ == 0) first = i;
    if (refused) {
        snprintf(reason, NNV_BENCH_REASON, "%u of %u operations are not supported, first %u", refused, n, first);
        return NNV_BENCH_UNSUPPORTED;
    }
    uint64_t begin = nnv_now_ns();
    status = d->prepare_model(d, model, config, prepared);
    if (status != NNVTS_STATUS_NONE) return failed("prepare_model", status, reason);
    *compile_ns = (double)(nnv_now_ns() - begin);
    return NNV_BENCH_DONE;
}

enum nnv_bench_state nnv_lane_open(struct nnv_lane *lane, const struct nnv_bench_work *work, enum nnv_bench_way way,
                                   struct nnvts_prepared_model *prepared, struct nnv_arena *arena, char *reason) {
    *lane = (struct nnv_lane){.prepared = prepared, .sets = work->sets};
    lane->pools[0].fd = lane->pools[1].fd = -1;
    if (!build(lane, work, arena)) {
        snprintf(reason, NNV_BENCH_REASON, "memory for inputs and outputs can't be had");
        return NNV_BENCH_ERROR;
    }
    if (way == NNV_BENCH_BURST &&
        (!prepared->create_burst || prepared->create_burst(prepared, &lane->burst) != NNVTS_STATUS_NONE)) {
        lane->burst = NULL;
        snprintf(reason, NNV_BENCH_REASON, "the driver has no bursts");
        return NNV_BENCH_UNSUPPORTED;
    }
    for (uint32_t s = 0; way == NNV_BENCH_REUSABLE && s < work->sets; s++)
        if (!prepared->create_execution ||
            prepared->create_execution(prepared, &lane->request[s], &plain, &lane->execution[s]) != NNVTS_STATUS_NONE) {
            lane->execution[s] = NULL;
            snprintf(reason, NNV_BENCH_REASON, "the driver has no reusable executions");
            return NNV_BENCH_UNSUPPORTED;
        }
    return NNV_BENCH_DONE;
}

enum nnvts_status nnv_lane_run(struct nnv_lane *lane, uint32_t set) {
    static const int64_t tokens[2] = {0, 1};
    ready(lane);
    if (lane->burst) return lane->burst->execute(lane->burst, &lane->request[set], tokens, &plain, &lane->result);
    if (lane->execution[set]) return lane->execution[set]->execute(lane->execution[set], NNVTS_NO_TIME, &lane->result);
    return lane->prepared->execute(lane->prepared, &lane->request[set], &plain, &lane->result);
}

void nnv_lane_close(struct nnv_lane *lane) {
    if (lane->burst) lane->burst->release(lane->burst);
    for (uint32_t s = 0; lane->execution && s < lane->sets; s++)
        if (lane->execution[s]) lane->execution[s]->release(lane->execution[s]);
    for (int i = 0; i < 2; i++) {
        if (lane->pools[i].data) munmap(lane->pools[i].data, lane->pools[i].size);
        if (lane->pools[i].fd >= 0) close(lane->pools[i].fd);
    }
}
