/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/kit/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/guard.h"
#include "nnvts/result.h"

enum { ROWS = 32, INPUT_SALT = 5 << 16, OUTPUT_SALT = 6 << 16, SUPPORTED_SALT = 7 << 16, MAPPINGS = 2 };

struct nnv_session_memory {
    struct nnv_session_memory *next;
    int fd;
    void *mapped[MAPPINGS];
    size_t size;
};

const struct nnvts_prepare_config nnv_session_prepare_config = {
    .preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
    .priority = NNVTS_PRIORITY_MEDIUM,
    .deadline_ns = NNVTS_NO_TIME,
};
const struct nnvts_execution_config nnv_session_execution_config = {
    .deadline_ns = NNVTS_NO_TIME,
    .loop_timeout_ns = NNVTS_NO_TIME,
};

void nnv_session_begin(struct nnv_session *s, struct nnv_case_env *env, struct nnv_result *result) {
    *s = (struct nnv_session){.env = env, .result = result, .device = env->client->device};
    fegetenv(&s->environment);
    result->verdict = NNVTS_PASS;
    nnv_session_enter(s, NNV_PHASE_BUILD);
}

void nnv_session_end(struct nnv_session *s) {
    for (struct nnv_session_memory *m = s->memory; m; m = m->next) {
        for (int i = 0; i < MAPPINGS; i++)
            if (m->mapped[i]) munmap(m->mapped[i], m->size);
        close(m->fd);
    }
    s->memory = NULL;
    fesetenv(&s->environment);
    if (s->result->verdict != NNVTS_PASS || s->result->compared > 0) return;
    s->result->verdict = NNVTS_UNTRUSTED;
    nnv_text_add(&s->result->reason, "nothing was expected of the driver");
}

void nnv_session_enter(struct nnv_session *s, enum nnv_phase phase) {
    if (s->env->phase) *s->env->phase = (uint32_t)phase;
}

/* -------------------------------------------------------------- expectations */

static void add_line(struct nnv_session *s, const char *fmt, va_list ap) {
    if (s->result->reason.len) nnv_text_add(&s->result->reason, "\n");
    nnv_text_vaddf(&s->result->reason, fmt, ap);
}

bool nnv_expect(struct nnv_session *s, bool ok, const char *fmt, ...) {
    s->result->compared++;
    if (ok) return true;
    va_list ap;
    va_start(ap, fmt);
    add_line(s, fmt, ap);
    va_end(ap);
    if (s->result->verdict != NNVTS_ERROR) s->result->verdict = NNVTS_FAIL;
    return false;
}

bool nnv_expect_status(struct nnv_session *s, const char *call, enum nnvts_status got, enum nnvts_status want) {
    char a[32], b[32];
    return nnv_expect(s, got == want, "%s answered %s, expected %s", call, nnv_abi_status_name((int)got, a),
                      nnv_abi_status_name((int)want, b));
}

bool nnv_expect_status_in(struct nnv_session *s, const char *call, enum nnvts_status got, uint32_t wanted) {
    struct nnv_text names = {0};
    char buf[32];
    for (int st = 0; st < 32; st++)
        if (wanted & 1u << st) nnv_text_addf(&names, "%s%s", names.len ? " or " : "", nnv_abi_status_name(st, buf));
    bool ok = got >= 0 && got < 32 && (wanted & 1u << got);
    nnv_expect(s, ok, "%s answered %s, expected %s", call, nnv_abi_status_name((int)got, buf),
               names.data ? names.data : "");
    nnv_text_free(&names);
    return ok;
}

bool nnv_session_unsupported(struct nnv_session *s, const char *fmt, ...) {
    if (s->result->verdict != NNVTS_PASS) return false;
    s->result->verdict = NNVTS_UNSUPPORTED;
    va_list ap;
    va_start(ap, fmt);
    add_line(s, fmt, ap);
    va_end(ap);
    return false;
}

void nnv_session_note(struct nnv_session *s, const char *fmt, ...) {
    (void)s; /* what a worker prints is the case's log */
    va_list ap;
    va_start(ap, fmt);
    fputs("note: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

bool nnv_session_error(struct nnv_session *s, const char *fmt, ...) {
    s->result->verdict = NNVTS_ERROR;
    va_list ap;
    va_start(ap, fmt);
    add_line(s, fmt, ap);
    va_end(ap);
    return false;
}

/* -------------------------------------------------------------------- memory */

static void *map(const struct nnv_session_memory *m, int prot) {
    void *p = mmap(NULL, m->size, prot, MAP_SHARED, m->fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

bool nnv_session_memory(struct nnv_session *s, size_t size, enum nnv_session_memory_kind kind,
                        struct nnvts_memory *pool, uint8_t **writable) {
    struct nnv_session_memory *m = NNV_NEW(s->env->arena, struct nnv_session_memory, 1);
    if (!m) return nnv_session_error(s, "out of memory");
    m->size = size ? size : 1;
    m->fd = memfd_create("nnvts", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (m->fd < 0) return nnv_session_error(s, "no shared memory: %s", strerror(errno));
    m->next = s->memory;
    s->memory = m;
    if (ftruncate(m->fd, (off_t)m->size) == 0 && fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
        m->mapped[0] = map(m, PROT_READ | PROT_WRITE);
    if (m->mapped[0] && kind == NNV_SESSION_READ_ONLY) m->mapped[1] = map(m, PROT_READ);
    if (!m->mapped[0] || (kind == NNV_SESSION_READ_ONLY && !m->mapped[1]))
        return nnv_session_error(s, "no %zu bytes of shared memory", size);
    *writable = m->mapped[0];
    *pool = (struct nnvts_memory){.prot = NNVTS_PROT_READ, .fd = m->fd, .size = size};
    if (kind == NNV_SESSION_WRITABLE) pool->prot |= NNVTS_PROT_WRITE;
    if (kind != NNV_SESSION_FD_ONLY) pool->data = m->mapped[kind == NNV_SESSION_READ_ONLY];
    return true;
}

/* -------------------------------------------------------------------- models */

static bool make_expectations(struct nnv_session *s, struct nnv_subject *subject) {
    const struct nnv_spec *spec = subject->spec;
    const uint32_t n = spec->model.main.nout;
    const struct nnv_eval_options options = {.rows = ROWS, .k = 2, .seed = nnv_hash_str(spec->name)};
    struct nnv_golden *golden = NNV_NEW(s->env->arena, struct nnv_golden, n);
    struct nnv_err err = {0};
    subject->expected = NNV_NEW(s->env->arena, struct nnv_expectation, n);
    if (!golden || !subject->expected) return nnv_session_error(s, "out of memory");
    if (nnv_eval(&spec->model, spec->inputs, &options, s->env->arena, golden, &err) != NNV_OK)
        return nnv_session_error(s, "no golden result: %s", err.text);
    for (uint32_t i = 0; i < n; i++) {
        const struct nnv_operand *o = &spec->model.main.operands[spec->model.main.out[i]];
        struct nnv_value *value = NNV_NEW(s->env->arena, struct nnv_value, 1);
        if (!value) return nnv_session_error(s, "out of memory");
        *value = golden[i].value;
        subject->expected[i] = (struct nnv_expectation){.type = o->type,
                                                        .scale = o->scale,
                                                        .zero_point = o->zero_point,
                                                        .value = value,
                                                        .spread = golden[i].spread,
                                                        .exact = golden[i].exact,
                                                        .k = 2,
                                                        .low_precision = spec->model.relaxed,
                                                        .ignored = o->ignored};
    }
    return true;
}

bool nnv_session_render(struct nnv_session *s, const struct nnv_spec *spec, struct nnv_subject *subject) {
    struct nnvts_memory pool = {0};
    struct nnv_err err = {0};
    *subject = (struct nnv_subject){.spec = spec};
    nnv_session_enter(s, NNV_PHASE_BUILD);
    size_t bytes = nnv_abi_pool_bytes(&spec->model);
    if (!nnv_session_memory(s, bytes, NNV_SESSION_READ_ONLY, &pool, &subject->constants)) return false;
    if (nnv_abi_model_at(&spec->model, s->env->arena, &pool, subject->constants, &subject->model, &err) != NNV_OK)
        return nnv_session_error(s, "%s", err.text);
    return true;
}

bool nnv_session_subject(struct nnv_session *s, const struct nnv_spec *spec, struct nnv_subject *subject) {
    return nnv_session_render(s, spec, subject) && make_expectations(s, subject);
}

bool nnv_session_work(struct nnv_session *s, const struct nnv_spec *spec, struct nnv_subject *subject) {
    const uint32_t n = spec->model.main.nout;
    if (!nnv_session_render(s, spec, subject)) return false;
    subject->expected = NNV_NEW(s->env->arena, struct nnv_expectation, n);
    if (!subject->expected) return nnv_session_error(s, "out of memory");
    for (uint32_t i = 0; i < n; i++)
        subject->expected[i] = (struct nnv_expectation){.type = spec->model.main.operands[spec->model.main.out[i]].type,
                                                        .value = &spec->outputs[i]};
    return true;
}

static bool constants_whole(struct nnv_session *s, const char *call, const struct nnv_subject *subject) {
    struct nnv_breach b = {0};
    bool whole = nnv_verify_constants(&subject->spec->model, &subject->model, subject->constants, &b);
    if (!whole) s->result->worker_damaged = true;
    return nnv_expect(s, whole, "%s %s", call, b.text);
}

/* In the words in which the other suites say it, so that reports gather them. */
static bool unsupported(struct nnv_session *s, const struct nnv_subject *subject, uint32_t i) {
    const struct nnv_op *op = nnv_op(subject->model.main.operations[i].type);
    return op ? nnv_session_unsupported(s, "the driver does not support operation %u (%s)", i, op->name)
              : nnv_session_unsupported(s, "the driver does not support operation %u", i);
}

bool nnv_session_supports(struct nnv_session *s, const struct nnv_subject *subject) {
    const uint32_t n = subject->model.main.operation_count;
    void *room = nnv_arena_alloc(s->env->arena, nnv_guard_room(n), 1);
    if (!room) return nnv_session_error(s, "out of memory");
    bool *supported = nnv_guard_init(room, n, SUPPORTED_SALT);
    memset(supported, 0, n);
    nnv_session_enter(s, NNV_PHASE_SUPPORTED);
    enum nnvts_status st = s->device->get_supported_operations(s->device, &subject->model, supported);
    int64_t at;
    if (!nnv_expect(s, nnv_guard_check(supported, n, SUPPORTED_SALT, &at),
                    "get_supported_operations wrote outside the array of %u answers", n) ||
        !constants_whole(s, "get_supported_operations", subject) ||
        !nnv_expect_status(s, "get_supported_operations", st, NNVTS_STATUS_NONE))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!supported[i]) return unsupported(s, subject, i);
    return true;
}

bool nnv_session_check_prepared(struct nnv_session *s, const char *call, const struct nnvts_prepared_model *prepared) {
    if (!nnv_expect(s, prepared != NULL, "%s answered NONE without a prepared model", call)) return false;
    return nnv_expect(s, prepared->struct_size >= sizeof *prepared && prepared->execute && prepared->release,
                      "%s gave a prepared model without all required members", call);
}

struct nnvts_prepared_model *nnv_session_prepare(struct nnv_session *s, const struct nnv_subject *subject) {
    struct nnvts_prepared_model *prepared = NULL;
    if (!nnv_session_supports(s, subject)) return NULL;
    nnv_session_enter(s, NNV_PHASE_PREPARE);
    enum nnvts_status st = s->device->prepare_model(s->device, &subject->model, &nnv_session_prepare_config, &prepared);
    if (!constants_whole(s, "prepare_model", subject) ||
        !nnv_expect_status(s, "prepare_model", st, NNVTS_STATUS_NONE) ||
        !nnv_session_check_prepared(s, "prepare_model", prepared))
        return NULL;
    return prepared;
}

void nnv_session_release(struct nnv_session *s, struct nnvts_prepared_model *prepared) {
    if (!prepared || s->result->worker_damaged) return;
    nnv_session_enter(s, NNV_PHASE_RELEASE);
    prepared->release(prepared);
}

/* ------------------------------------------------------------------ requests */

static bool is_dynamic(const struct nnv_operand *o) {
    if (o->rank == 0) return nnv_type(o->type)->tensor;
    for (uint32_t i = 0; i < o->rank; i++)
        if (o->dims[i] == 0) return true;
    return false;
}

/* Where arguments lie in the two pools, one behind the other. */
static void lay_out(struct nnv_values *v) {
    const struct nnv_subgraph *main = &v->subject->spec->model.main;
    uint8_t *room = v->input_pool;
    for (uint32_t i = 0; i < main->nin; i++) {
        const struct nnv_value *value = &v->subject->spec->inputs[i];
        struct nnvts_argument *a = &v->inputs[i];
        a->has_no_value = value->omitted;
        if (value->omitted) continue;
        v->input_at[i] = room + NNV_GUARD_BYTES;
        a->location = (struct nnvts_location){.offset = (uint32_t)(v->input_at[i] - v->input_pool),
                                              .length = (uint32_t)value->bytes};
        if (is_dynamic(&main->operands[main->in[i]])) {
            a->dimension_count = value->rank;
            a->dimensions = value->dims;
        }
        room += nnv_guard_room(value->bytes);
    }
    room = v->output_pool;
    for (uint32_t i = 0; i < main->nout; i++) {
        const size_t bytes = v->subject->expected[i].value->bytes;
        v->output_at[i] = room + NNV_GUARD_BYTES;
        v->output_places[i] = (struct nnvts_location){
            .pool = 1, .offset = (uint32_t)(v->output_at[i] - v->output_pool), .length = (uint32_t)bytes};
        room += nnv_guard_room(bytes);
    }
}

void nnv_values_fill(struct nnv_values *v, const struct nnv_subject *subject) {
    v->subject = subject;
    for (uint32_t i = 0; i < subject->spec->model.main.nin; i++) {
        const struct nnv_value *value = &subject->spec->inputs[i];
        if (value->omitted) continue;
        nnv_guard_init(v->input_at[i] - NNV_GUARD_BYTES, value->bytes, INPUT_SALT + i);
        if (value->bytes) memcpy(v->input_at[i], value->data, value->bytes);
    }
}

void nnv_values_reset(struct nnv_values *v) {
    const uint32_t nout = v->subject->spec->model.main.nout;
    for (uint32_t i = 0; i < nout; i++) {
        nnv_guard_init(v->output_at[i] - NNV_GUARD_BYTES, v->subject->expected[i].value->bytes, OUTPUT_SALT + i);
        v->outputs[i].location = v->output_places[i];
        v->result.shapes[i] =
            (struct nnvts_output_shape){.dimension_count = NNV_MAX_RANK, .dimensions = v->dims + i * NNV_MAX_RANK};
    }
    v->result.shape_count = 0;
    v->result.timing = (struct nnvts_timing){NNVTS_NO_TIME, NNVTS_NO_TIME};
}

bool nnv_session_values(struct nnv_session *s, const struct nnv_subject *subject, enum nnv_session_memory_kind kind,
                        struct nnv_values *v) {
    const struct nnv_subgraph *main = &subject->spec->model.main;
    size_t in = 0, out = 0;
    *v = (struct nnv_values){.subject = subject};
    for (uint32_t i = 0; i < main->nin; i++) {
        const struct nnv_value *input = &subject->spec->inputs[i];
        if (!input->omitted && input->bytes == 0 && nnv_device_limits(s->device) & NNVTS_LIMIT_NO_EMPTY_INPUTS)
            return nnv_session_unsupported(s, "the driver can't be given input %u, which has no elements", i);
    }
    for (uint32_t i = 0; i < main->nin; i++)
        if (!subject->spec->inputs[i].omitted) in += nnv_guard_room(subject->spec->inputs[i].bytes);
    for (uint32_t i = 0; i < main->nout; i++) out += nnv_guard_room(subject->expected[i].value->bytes);
    v->inputs = NNV_NEW(s->env->arena, struct nnvts_argument, main->nin);
    v->outputs = NNV_NEW(s->env->arena, struct nnvts_argument, main->nout);
    v->result.shapes = NNV_NEW(s->env->arena, struct nnvts_output_shape, main->nout);
    v->dims = NNV_NEW(s->env->arena, uint32_t, (size_t)main->nout * NNV_MAX_RANK);
    v->input_at = NNV_NEW(s->env->arena, uint8_t *, main->nin);
    v->output_at = NNV_NEW(s->env->arena, uint8_t *, main->nout);
    v->output_places = NNV_NEW(s->env->arena, struct nnvts_location, main->nout);
    if (!v->inputs || !v->outputs || !v->result.shapes || !v->dims || !v->input_at || !v->output_at ||
        !v->output_places)
        return nnv_session_error(s, "out of memory");
    if (!nnv_session_memory(s, in, kind, &v->pools[0], &v->input_pool) ||
        !nnv_session_memory(s, out, kind == NNV_SESSION_FD_ONLY ? kind : NNV_SESSION_WRITABLE, &v->pools[1],
                            &v->output_pool))
        return false;
    v->pools[1].prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE;
    lay_out(v);
    nnv_values_fill(v, subject);
    nnv_values_reset(v);
    v->request = (struct nnvts_request){main->nin, main->nout, 2, v->inputs, v->outputs, v->pools};
    return true;
}

/* ------------------------------------------------------------------- results */

bool nnv_session_check_memory(struct nnv_session *s, const char *call, const struct nnv_values *v) {
    const struct nnv_spec *spec = v->subject->spec;
    int64_t at = 0;
    bool whole = true;
    for (uint32_t i = 0; i < spec->model.main.nout; i++) {
        const size_t bytes = v->subject->expected[i].value->bytes;
        const bool inside = nnv_guard_check(v->output_at[i], bytes, OUTPUT_SALT + i, &at);
        whole =
            nnv_expect(s, inside, "%s wrote outside output %u: at byte %lld of %zu", call, i, (long long)at, bytes) &&
            whole;
    }
    for (uint32_t i = 0; i < spec->model.main.nin; i++) {
        const struct nnv_value *value = &spec->inputs[i];
        if (value->omitted) continue;
        bool same = nnv_guard_check(v->input_at[i], value->bytes, INPUT_SALT + i, &at) &&
                    (value->bytes == 0 || memcmp(v->input_at[i], value->data, value->bytes) == 0);
        whole = nnv_expect(s, same, "%s changed input %u", call, i) && whole;
    }
    if (!whole) s->result->worker_damaged = true;
    return whole;
}

/* Neither model nor request say the whole shape. */
static bool is_left_open(const struct nnv_operand *o, const struct nnvts_argument *a) {
    if (!is_dynamic(o)) return false;
    for (uint32_t i = 0; i < a->dimension_count; i++)
        if (a->dimensions[i] == 0 && (o->rank <= i || o->dims[i] == 0)) return true;
    return a->dimension_count == 0;
}

static bool check_shapes(struct nnv_session *s, const char *call, const struct nnv_values *v) {
    const struct nnv_subgraph *main = &v->subject->spec->model.main;
    const uint32_t n = v->result.shape_count;
    bool dynamic = false;
    for (uint32_t i = 0; i < main->nout; i++)
        dynamic = dynamic || is_left_open(&main->operands[main->out[i]], &v->outputs[i]);
    if (!nnv_expect(s, n == main->nout || (n == 0 && !dynamic), "%s reports %u shapes, the model has %u outputs", call,
                    n, main->nout))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct nnvts_output_shape *got = &v->result.shapes[i];
        const struct nnv_value *want = v->subject->expected[i].value;
        if (!nnv_expect(s, got->is_sufficient, "%s answered NONE but calls the buffer of output %u too small", call, i))
            return false;
        bool same = got->dimension_count == want->rank &&
                    (want->rank == 0 || memcmp(got->dimensions, want->dims, want->rank * sizeof *want->dims) == 0);
        if (!nnv_expect(s, same || v->subject->expected[i].ignored, "%s reports a wrong shape for output %u", call, i))
            return false;
    }
    return true;
}

static bool compare(struct nnv_session *s, const char *call, const struct nnv_values *v) {
    struct nnv_comparison *c = NNV_NEW(s->env->arena, struct nnv_comparison, 1);
    bool right = true;
    if (!c) return nnv_session_error(s, "out of memory");
    for (uint32_t i = 0; i < v->subject->spec->model.main.nout; i++) {
        const struct nnv_expectation *e = &v->subject->expected[i];
        nnv_check(e, v->output_at[i], NNV_PRECISION_BUDGET, c);
        s->result->compared += c->compared;
        s->result->not_compared += c->not_compared;
        if (c->wrong == 0) continue;
        right = nnv_expect(
            s, false, "%s: output %u: %zu of %zu values wrong; element %zu: expected %.9g, got %.9g, allowed %.4g",
            call, i, c->wrong, c->compared, c->worst, c->worst_expected, c->worst_actual, c->worst_bound);
    }
    return right;
}

bool nnv_session_check_outcome(struct nnv_session *s, const char *call, enum nnvts_status status,
                               const struct nnv_values *v) {
    nnv_session_enter(s, NNV_PHASE_CHECK);
    return nnv_session_check_memory(s, call, v) && nnv_expect_status(s, call, status, NNVTS_STATUS_NONE) &&
           check_shapes(s, call, v);
}

bool nnv_session_check_values(struct nnv_session *s, const char *call, enum nnvts_status status,
                              const struct nnv_values *v) {
    return nnv_session_check_outcome(s, call, status, v) && compare(s, call, v);
}

bool nnv_session_execute(struct nnv_session *s, struct nnvts_prepared_model *prepared, struct nnv_values *v) {
    nnv_values_reset(v);
    nnv_session_enter(s, NNV_PHASE_EXECUTE);
    enum nnvts_status st = prepared->execute(prepared, &v->request, &nnv_session_execution_config, &v->result);
    return nnv_session_check_values(s, "execute", st, v);
}
