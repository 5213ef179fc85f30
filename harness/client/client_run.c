/* SPDX-License-Identifier: Apache-2.0 */
/** @file client_run.c One model, once, on a driver that may break any rule. */
#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/guard.h"
#include "base/text.h"
#include "harness/client/abi.h"
#include "harness/client/client_memory.h"
#include "reference/model/op.h"

/** What a run knows. Inputs, outputs and constants are pools of one file. */
struct run {
    struct nnv_client *client;
    const struct nnv_spec *spec;
    struct nnv_arena *arena;
    volatile uint32_t *phase;
    struct nnv_outcome *out;
    uint8_t *input_pool, *output_pool, *constant_pool;
    struct nnvts_memory input_memory, output_memory, constant_memory;
    struct nnvts_model model;
    struct nnvts_prepared_model *prepared;
    struct nnvts_argument *inputs, *outputs;
    struct nnvts_execution_result result;
};

enum { INPUT_SALT = 1 << 16, OUTPUT_SALT = 2 << 16, SUPPORTED_SALT = 3 << 16, UNFILLED = 0xee };

/** Ends the run with this outcome; returns false. */
NNV_PRINTF(3, 4) static bool stop(struct run *r, enum nnv_outcome_kind kind, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->out->reason, sizeof r->out->reason, fmt, ap);
    va_end(ap);
    r->out->kind = kind;
    return false;
}

static bool harness_failed(struct run *r, const struct nnv_err *err) {
    return stop(r, NNV_OUTCOME_HARNESS, "%s", err->text);
}

static bool out_of_memory(struct run *r) { return stop(r, NNV_OUTCOME_HARNESS, "out of memory"); }

static void enter(struct run *r, enum nnv_phase phase) {
    r->out->phase = phase;
    if (r->phase) *r->phase = (uint32_t)phase;
}

/** True if the driver answered NONE; otherwise the outcome says what it answered. */
static bool status_is_none(struct run *r, enum nnvts_status status) {
    char buf[32];
    const char *call = nnv_phase_name(r->out->phase);
    r->out->status = status;
    if (status == NNVTS_STATUS_NONE) return true;
    const char *name = nnv_abi_status_name((int)status, buf);
    if (name == buf)
        return stop(r, NNV_OUTCOME_BROKEN, "%s answered status %d, which does not exist", call, (int)status);
    return stop(r, NNV_OUTCOME_REFUSED, "%s answered %s%s", call, name,
                r->out->phase == NNV_PHASE_SUPPORTED ? "" : " although the driver had claimed to support the model");
}

/* -------------------------------------------------------------------- memory */

static size_t pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static size_t values_bytes(const struct nnv_value *values, uint32_t n) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!values[i].omitted) bytes += nnv_guard_room(values[i].bytes);
    return bytes;
}

/** Lays out the three pools. */
static bool make_pools(struct run *r) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    size_t in = values_bytes(r->spec->inputs, main->nin), out = values_bytes(r->spec->outputs, main->nout);
    size_t constants = nnv_abi_pool_bytes(&r->spec->model);
    struct nnv_err err = {0};
    if (in > UINT32_MAX || out > UINT32_MAX)
        return stop(r, NNV_OUTCOME_HARNESS, "the values take more than 4 GiB, which a request can't hold");
    uint8_t *base;
    int fd;
    if (nnv_client_memory_get(r->client, pages(in) + pages(out) + pages(constants), &base, &fd, &err) != NNV_OK)
        return harness_failed(r, &err);
    r->input_pool = base;
    r->output_pool = base + pages(in);
    r->constant_pool = r->output_pool + pages(out);
    r->input_memory = (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = fd, .size = in, .data = r->input_pool};
    r->output_memory = (struct nnvts_memory){
        .prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE, .fd = fd, .offset = pages(in), .size = out, .data = r->output_pool};
    r->constant_memory = (struct nnvts_memory){.prot = NNVTS_PROT_READ,
                                               .fd = fd,
                                               .offset = pages(in) + pages(out),
                                               .size = constants,
                                               .data = r->constant_pool};
    return true;
}

/** An extent of the operand is unknown in the model. */
bool nnv_client_is_open(const struct nnv_operand *o) {
    const struct nnv_type *t = nnv_type(o->type);
    if (o->rank == 0) return t && t->tensor;
    for (uint32_t i = 0; i < o->rank; i++)
        if (o->dims[i] == 0) return true;
    return false;
}

static void put_inputs(struct run *r) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    uint8_t *room = r->input_pool;
    for (uint32_t i = 0; i < main->nin; i++) {
        const struct nnv_value *v = &r->spec->inputs[i];
        if (v->omitted) {
            r->inputs[i].has_no_value = true;
            continue;
        }
        uint8_t *data = nnv_guard_init(room, v->bytes, INPUT_SALT + i);
        if (v->bytes) memcpy(data, v->data, v->bytes);
        r->inputs[i].location = (struct nnvts_location){
            .pool = 0, .offset = (uint32_t)(data - r->input_pool), .length = (uint32_t)v->bytes};
        if (nnv_client_is_open(&main->operands[main->in[i]])) {
            r->inputs[i].dimension_count = v->rank;
            r->inputs[i].dimensions = v->dims;
        }
        room += nnv_guard_room(v->bytes);
    }
}

/** Output buffers, and room for the shapes. */
static bool put_outputs(struct run *r) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    uint8_t *room = r->output_pool;
    struct nnvts_output_shape *shapes = NNV_NEW(r->arena, struct nnvts_output_shape, main->nout);
    uint32_t *dims = NNV_NEW(r->arena, uint32_t, (size_t)main->nout * NNV_MAX_RANK);
    if (!shapes || !dims) return out_of_memory(r);
    for (uint32_t i = 0; i < main->nout; i++) {
        size_t bytes = r->spec->outputs[i].bytes;
        uint8_t *data = nnv_guard_init(room, bytes, OUTPUT_SALT + i);
        r->outputs[i].location =
            (struct nnvts_location){.pool = 1, .offset = (uint32_t)(data - r->output_pool), .length = (uint32_t)bytes};
        shapes[i].dimension_count = NNV_MAX_RANK;
        shapes[i].dimensions = dims + (size_t)i * NNV_MAX_RANK;
        room += nnv_guard_room(bytes);
    }
    r->result = (struct nnvts_execution_result){.shapes = shapes, .timing = {NNVTS_NO_TIME, NNVTS_NO_TIME}};
    return true;
}

static bool damaged(struct run *r, const char *what, uint32_t i, size_t size, int64_t offset) {
    r->out->memory_damaged = true;
    const char *call = nnv_phase_name(r->out->phase);
    if (offset < 0)
        return stop(r, NNV_OUTCOME_BROKEN, "%s wrote %lld bytes before the start of %s %u", call, (long long)-offset,
                    what, i);
    return stop(r, NNV_OUTCOME_BROKEN, "%s wrote behind the end of %s %u: byte %lld of a buffer of %zu", call, what, i,
                (long long)offset, size);
}

/** Guard zones of all values, and unmodified inputs. */
static bool values_whole(struct run *r) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    int64_t at;
    for (uint32_t i = 0; i < main->nout; i++) {
        const uint8_t *data = r->output_pool + r->outputs[i].location.offset;
        size_t size = r->spec->outputs[i].bytes;
        if (!nnv_guard_check(data, size, OUTPUT_SALT + i, &at)) return damaged(r, "output", i, size, at);
    }
    for (uint32_t i = 0; i < main->nin; i++) {
        const struct nnv_value *v = &r->spec->inputs[i];
        if (v->omitted) continue;
        const uint8_t *data = r->input_pool + r->inputs[i].location.offset;
        if (!nnv_guard_check(data, v->bytes, INPUT_SALT + i, &at)) return damaged(r, "input", i, v->bytes, at);
        if (v->bytes && memcmp(data, v->data, v->bytes) != 0) {
            r->out->memory_damaged = true;
            return stop(r, NNV_OUTCOME_BROKEN, "%s changed the value of input %u", nnv_phase_name(r->out->phase), i);
        }
    }
    return true;
}

static bool constants_whole(struct run *r) {
    char what[128];
    if (nnv_abi_constants_whole(&r->spec->model, &r->model, r->constant_pool, what, sizeof what)) return true;
    r->out->memory_damaged = true;
    return stop(r, NNV_OUTCOME_BROKEN, "%s %s", nnv_phase_name(r->out->phase), what);
}

static bool files_whole(struct run *r) {
    if (nnv_client_memory_whole(r->client)) return true;
    r->out->memory_damaged = true;
    return stop(r, NNV_OUTCOME_BROKEN, "%s closed a file that is not the driver's", nnv_phase_name(r->out->phase));
}

/** The driver has copied what it needs: whoever still reads the caller's constants shall notice. */
static void forget_constants(struct run *r) {
    memset(r->constant_pool, UNFILLED, r->constant_memory.size);
    if (r->model.operand_values_bytes) memset((void *)r->model.operand_values, UNFILLED, r->model.operand_values_bytes);
}

/* --------------------------------------------------------------------- steps */

static bool build(struct run *r) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    struct nnv_err err = {0};
    enter(r, NNV_PHASE_BUILD);
    r->inputs = NNV_NEW(r->arena, struct nnvts_argument, main->nin);
    r->outputs = NNV_NEW(r->arena, struct nnvts_argument, main->nout);
    if (!r->inputs || !r->outputs) return out_of_memory(r);
    if (!make_pools(r)) return false;
    if (nnv_abi_model_at(&r->spec->model, r->arena, &r->constant_memory, r->constant_pool, &r->model, &err) != NNV_OK)
        return harness_failed(r, &err);
    return true;
}

/** "operation 0 (CONV_2D), operation 3 (ADD)". */
static bool unsupported(struct run *r, const uint8_t *supported) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    struct nnv_text t = {0};
    for (uint32_t i = 0; i < main->noperations; i++) {
        if (supported[i]) continue;
        const struct nnv_op *op = nnv_op(main->operations[i].type);
        nnv_text_addf(&t, "%soperation %u (", t.len ? ", " : "", i);
        if (op)
            nnv_text_add(&t, op->name);
        else
            nnv_text_addf(&t, "code %d", main->operations[i].type);
        nnv_text_add(&t, ")");
    }
    stop(r, NNV_OUTCOME_UNSUPPORTED, "the driver does not support %s", t.data ? t.data : "an operation");
    nnv_text_free(&t);
    return false;
}

static bool ask_supported(struct run *r) {
    uint32_t n = r->spec->model.main.noperations;
    void *room = nnv_arena_alloc(r->arena, nnv_guard_room(n), 1);
    if (!room) return out_of_memory(r);
    uint8_t *supported = nnv_guard_init(room, n, SUPPORTED_SALT);
    memset(supported, UNFILLED, n);
    enter(r, NNV_PHASE_SUPPORTED);
    uint64_t start = nnv_now_ns();
    enum nnvts_status status =
        r->client->device->get_supported_operations(r->client->device, &r->model, (bool *)supported);
    r->out->supported_ns = nnv_now_ns() - start;
    int64_t at;
    if (!nnv_guard_check(supported, n, SUPPORTED_SALT, &at)) {
        r->out->memory_damaged = true;
        return stop(r, NNV_OUTCOME_BROKEN, "get_supported_operations wrote outside the array of %u answers", n);
    }
    if (!constants_whole(r) || !status_is_none(r, status)) return false;
    bool all = true;
    for (uint32_t i = 0; i < n; i++) {
        if (supported[i] > 1)
            return stop(r, NNV_OUTCOME_BROKEN, "get_supported_operations answered NONE but left entry %u unfilled", i);
        all = all && supported[i];
    }
    return all || unsupported(r, supported);
}

static bool check_prepared(struct run *r) {
    const struct nnvts_prepared_model *p = r->prepared;
    if (!p) return stop(r, NNV_OUTCOME_BROKEN, "prepare_model answered NONE without a prepared model");
    if (p->struct_size < sizeof *p)
        return stop(r, NNV_OUTCOME_BROKEN, "struct_size %u of the prepared model is too small, expected %zu",
                    p->struct_size, sizeof *p);
    if (p->execute && p->release) return true;
    return stop(r, NNV_OUTCOME_BROKEN, "the prepared model has no %s, which is required",
                p->execute ? "release" : "execute");
}

static bool prepare(struct run *r) {
    const struct nnvts_prepare_config config = {.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
                                                .priority = NNVTS_PRIORITY_MEDIUM,
                                                .deadline_ns = NNVTS_NO_TIME};
    enter(r, NNV_PHASE_PREPARE);
    uint64_t start = nnv_now_ns();
    enum nnvts_status status = r->client->device->prepare_model(r->client->device, &r->model, &config, &r->prepared);
    r->out->prepare_ns = nnv_now_ns() - start;
    if (!constants_whole(r) || !files_whole(r)) return false;
    if (!status_is_none(r, status)) {
        if (r->prepared && r->out->kind == NNV_OUTCOME_REFUSED) {
            char buf[32];
            stop(r, NNV_OUTCOME_BROKEN, "prepare_model answered %s and a prepared model",
                 nnv_abi_status_name((int)status, buf));
        }
        r->prepared = NULL;
        return false;
    }
    if (!check_prepared(r)) {
        r->prepared = NULL;
        return false;
    }
    forget_constants(r);
    return true;
}

/* ---------------------------------------------------------------- the answer */

/** Keeps the reported shapes, if they are whole. */
static void keep_reported(struct run *r) {
    uint32_t n = r->spec->model.main.nout;
    struct nnv_value *v = r->result.shape_count == n ? NNV_NEW(r->arena, struct nnv_value, n) : NULL;
    for (uint32_t i = 0; v && i < n; i++) {
        const struct nnvts_output_shape *s = &r->result.shapes[i];
        if (s->dimension_count > NNV_MAX_RANK) return;
        v[i].rank = s->dimension_count;
        memcpy(v[i].dims, s->dimensions, s->dimension_count * sizeof *s->dimensions);
    }
    r->out->reported = v;
}

/** Reported shape i against the rules and the expected extents. */
static bool check_shape(struct run *r, uint32_t i) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    const struct nnvts_output_shape *s = &r->result.shapes[i];
    const struct nnv_value *expected = &r->spec->outputs[i];
    if (!s->is_sufficient)
        return stop(r, NNV_OUTCOME_BROKEN, "execute answered NONE but says that the buffer of output %u is too small",
                    i);
    if (s->dimension_count > NNV_MAX_RANK)
        return stop(r, NNV_OUTCOME_BROKEN, "execute reports rank %u for output %u, room was for %d", s->dimension_count,
                    i, NNV_MAX_RANK);
    if (main->operands[main->out[i]].ignored) return true;
    if (s->dimension_count == expected->rank &&
        (expected->rank == 0 || memcmp(s->dimensions, expected->dims, expected->rank * sizeof *s->dimensions) == 0))
        return true;
    char got[256], want[256];
    keep_reported(r);
    struct nnv_shape a = nnv_shape_make(s->dimension_count, s->dimensions);
    struct nnv_shape b = nnv_shape_make(expected->rank, expected->dims);
    return stop(r, NNV_OUTCOME_BROKEN, "execute reports shape %s for output %u, expected %s",
                nnv_shape_text(&a, got, sizeof got), i, nnv_shape_text(&b, want, sizeof want));
}

static bool check_shapes(struct run *r) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    uint32_t n = r->result.shape_count;
    if (n == main->nout) {
        for (uint32_t i = 0; i < n; i++)
            if (!check_shape(r, i)) return false;
        return true;
    }
    if (n != 0)
        return stop(r, NNV_OUTCOME_BROKEN, "execute reports %u shapes, the model has %u outputs", n, main->nout);
    for (uint32_t i = 0; i < main->nout; i++)
        if (nnv_client_is_open(&main->operands[main->out[i]]))
            return stop(r, NNV_OUTCOME_BROKEN,
                        "execute reports no shapes, but the model leaves the shape of output %u open", i);
    return true;
}

/** Shapes that go with a status other than NONE. */
static bool check_failure_shapes(struct run *r, enum nnvts_status status) {
    char buf[32];
    uint32_t n = r->result.shape_count, nout = r->spec->model.main.nout;
    if (status != NNVTS_STATUS_OUTPUT_INSUFFICIENT_SIZE)
        return n == 0 || stop(r, NNV_OUTCOME_BROKEN, "execute answered %s and %u shapes, expected none",
                              nnv_abi_status_name((int)status, buf), n);
    if (n != nout)
        return stop(r, NNV_OUTCOME_BROKEN, "execute answered OUTPUT_INSUFFICIENT_SIZE and %u shapes, expected %u", n,
                    nout);
    for (uint32_t i = 0; i < n; i++)
        if (!r->result.shapes[i].is_sufficient) {
            keep_reported(r);
            return true;
        }
    return stop(r, NNV_OUTCOME_BROKEN, "execute answered OUTPUT_INSUFFICIENT_SIZE, but says that all buffers suffice");
}

static bool check_unwritten(struct run *r) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    for (uint32_t i = 0; i < main->nout; i++) {
        /* Fewer bytes may equal the poison by chance; comparing their values will tell. */
        size_t size = r->spec->outputs[i].bytes;
        if (size < 8 || main->operands[main->out[i]].ignored) continue;
        if (nnv_guard_unwritten(r->output_pool + r->outputs[i].location.offset, size, OUTPUT_SALT + i) == size)
            return stop(r, NNV_OUTCOME_BROKEN, "execute answered NONE, but no byte of output %u was written", i);
    }
    return true;
}

static bool take_outputs(struct run *r) {
    uint32_t nout = r->spec->model.main.nout;
    struct nnv_value *values = NNV_NEW(r->arena, struct nnv_value, nout);
    if (!values) return out_of_memory(r);
    for (uint32_t i = 0; i < nout; i++) {
        values[i] = r->spec->outputs[i];
        values[i].data = nnv_arena_copy(r->arena, r->output_pool + r->outputs[i].location.offset, values[i].bytes);
        if (!values[i].data) return out_of_memory(r);
    }
    r->out->outputs = values;
    r->out->kind = NNV_OUTCOME_DONE;
    return true;
}

void nnv_client_poison(uint32_t output, size_t bytes, void *to) { nnv_guard_poison(to, bytes, OUTPUT_SALT + output); }

/** The input is there, but has no elements. */
static bool is_empty(const struct nnv_value *v) { return !v->omitted && v->bytes == 0; }

/** Where the driver's interface has no words for the inputs. */
static bool can_be_told(struct run *r) {
    if (!(nnv_device_limits(r->client->device) & NNVTS_LIMIT_NO_EMPTY_INPUTS)) return true;
    for (uint32_t i = 0; i < r->spec->model.main.nin; i++)
        if (is_empty(&r->spec->inputs[i]))
            return stop(r, NNV_OUTCOME_UNSUPPORTED, "the driver can't be given input %u, which has no elements", i);
    return true;
}

static bool execute(struct run *r) {
    const struct nnv_subgraph *main = &r->spec->model.main;
    put_inputs(r);
    if (!put_outputs(r)) return false;
    const struct nnvts_memory pools[] = {r->input_memory, r->output_memory};
    const struct nnvts_request request = {main->nin, main->nout, 2, r->inputs, r->outputs, pools};
    const struct nnvts_execution_config config = {.deadline_ns = NNVTS_NO_TIME, .loop_timeout_ns = NNVTS_NO_TIME};
    enter(r, NNV_PHASE_EXECUTE);
    uint64_t start = nnv_now_ns();
    enum nnvts_status status = r->prepared->execute(r->prepared, &request, &config, &r->result);
    r->out->execute_ns = nnv_now_ns() - start;
    if (!values_whole(r) || !files_whole(r)) return false;
    if (!status_is_none(r, status)) {
        if (r->out->kind == NNV_OUTCOME_REFUSED) check_failure_shapes(r, status);
        return false;
    }
    if (r->result.timing.in_driver_ns != NNVTS_NO_TIME || r->result.timing.on_device_ns != NNVTS_NO_TIME)
        return stop(r, NNV_OUTCOME_BROKEN, "execute reports a time although none was asked for");
    return check_shapes(r) && check_unwritten(r) && take_outputs(r);
}

void nnv_client_run(struct nnv_client *client, const struct nnv_spec *spec, struct nnv_arena *arena,
                    volatile uint32_t *phase, struct nnv_outcome *out) {
    fenv_t environment;
    fegetenv(&environment); /* a driver may change rounding and flushing of this thread */
    *out = (struct nnv_outcome){.kind = NNV_OUTCOME_HARNESS};
    struct run r = {.client = client, .spec = spec, .arena = arena, .phase = phase, .out = out};
    if (build(&r) && ask_supported(&r) && can_be_told(&r) && prepare(&r) && execute(&r) && client->twice) {
        struct nnv_value *first = out->outputs;
        if (execute(&r)) {
            out->again = out->outputs;
            out->outputs = first;
        }
    }
    if (r.prepared && !out->memory_damaged) {
        if (phase) *phase = NNV_PHASE_RELEASE;
        r.prepared->release(r.prepared);
    }
    fesetenv(&environment);
}
