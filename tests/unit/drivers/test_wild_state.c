/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_wild_state.c Planted bugs of state, order and requests show in the course of events they need. */
#include "tests/kit/trigger.h"

enum { ROOM_OF_RECORD = 1 << 20 };

/** What a driver answered, one after the other. */
struct record {
    uint8_t *at, bytes[ROOM_OF_RECORD];
};

static void note(struct record *r, const void *data, size_t bytes) {
    assert_true(r->at + bytes <= r->bytes + sizeof r->bytes);
    memcpy(r->at, data, bytes);
    r->at += bytes;
}

static float numbers[1 << 16];

static void count_from(float first) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) numbers[i] = first + (float)(i % 1000) * 1.0078125f;
}

/** y = abs(x) of n numbers; n 0: an open extent. */
static struct nnvts_prepared_model *abs_of(struct nnvts_device *d, uint32_t n) {
    struct net net = {0};
    const uint32_t x = input(&net, F32, OF(n, 1)), y = output(&net, F32, OF(n, 1));
    operation(&net, ANEURALNETWORKS_ABS, LIST(x), LIST(y));
    return prepare(d, &net);
}

/** Executes with n numbers, and notes all. */
static void run(struct nnvts_prepared_model *p, uint32_t n, float first, bool timed, struct record *r) {
    static float y[1 << 16];
    const struct nnvts_execution_config config = {NNVTS_NO_TIME, NNVTS_NO_TIME, timed};
    struct call c = {0};
    const uint32_t dims[] = {n, 1};
    count_from(first);
    memset(y, 0, sizeof y);
    give(&c, numbers, 4 * n);
    take(&c, y, 4 * n);
    c.in[0].dimensions = dims;
    c.in[0].dimension_count = 2;
    const enum nnvts_status st = p->execute(p, ready(&c), &config, &c.result);
    note(r, &st, sizeof st);
    note(r, c.shapes[0].dimensions, 8);
    note(r, y, 4 * n);
}

/* ---------------------------------------------------------------------- courses */

static void once(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    run(p, 4, 1, false, r);
    p->release(p);
}

static void twice(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    run(p, 4, 1, false, r);
    run(p, 4, 100, false, r);
    p->release(p);
}

static void other_extents(struct nnvts_device *d, struct record *r, uint32_t first, uint32_t second) {
    struct nnvts_prepared_model *p = abs_of(d, 0);
    run(p, first, 1, false, r);
    run(p, second, 100, false, r);
    p->release(p);
}
static void shorter(struct nnvts_device *d, struct record *r) { other_extents(d, r, 8, 4); }
static void longer(struct nnvts_device *d, struct record *r) { other_extents(d, r, 4, 8); }
static void of_one(struct nnvts_device *d, struct record *r) { other_extents(d, r, 1, 1); }

static void timed(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    run(p, 4, 1, true, r);
    p->release(p);
}

static void by_turns(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepared_model *p = abs_of(d, 4), *q = abs_of(d, 4);
    run(p, 4, 1, false, r);
    run(q, 4, 100, false, r);
    run(p, 4, 1, false, r);
    p->release(p);
    q->release(q);
}

static void many(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    for (int i = 0; i < 256; i++) run(p, 4, (float)i, false, r);
    p->release(p);
}
static void few(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    for (int i = 0; i < 255; i++) run(p, 4, (float)i, false, r);
    p->release(p);
}

/** An execution with an output that is too small, and a good one. */
static void after_failure(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    struct call c = {0};
    give(&c, numbers, 16);
    take(&c, numbers + 8, 8);
    const enum nnvts_status st = execute(p, &c);
    note(r, &st, sizeof st);
    run(p, 4, 1, false, r);
    p->release(p);
}

static void low_power(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepare_config config = prepare_config;
    struct nnvts_prepared_model *p = NULL;
    struct net net = {0};
    const uint32_t x = input(&net, F32, OF(4, 1)), y = output(&net, F32, OF(4, 1));
    operation(&net, ANEURALNETWORKS_ABS, LIST(x), LIST(y));
    config.preference = ANEURALNETWORKS_PREFER_LOW_POWER;
    assert_int_equal(d->prepare_model(d, finish(&net), &config, &p), NNVTS_STATUS_NONE);
    run(p, 4, 1, false, r);
    p->release(p);
}

static void softmax(struct nnvts_device *d, struct record *r, uint32_t n, float beta) {
    struct net net = {0};
    struct call c = {0};
    float y[8] = {0};
    const uint32_t x = input(&net, F32, OF(1, n)), b = real(&net, beta), to = output(&net, F32, OF(1, n));
    operation(&net, ANEURALNETWORKS_SOFTMAX, LIST(x, b), LIST(to));
    struct nnvts_prepared_model *p = prepare(d, &net);
    count_from(0);
    give(&c, numbers, 4 * n);
    take(&c, y, 4 * n);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    note(r, y, sizeof y);
    p->release(p);
}
static void other_scalars(struct nnvts_device *d, struct record *r) {
    softmax(d, r, 5, 1);
    softmax(d, r, 5, 0.5f);
}
static void other_shapes(struct nnvts_device *d, struct record *r) {
    softmax(d, r, 6, 1);
    softmax(d, r, 7, 0.5f);
}

/** x + c, c a tensor of one number: which is no scalar. */
static void other_numbers(struct nnvts_device *d, struct record *r) {
    for (int i = 1; i <= 2; i++) {
        struct net net = {0};
        struct call c = {0};
        float y[4] = {0};
        const uint32_t x = input(&net, F32, OF(4)), k = constant(&net, F32, FLOATS((float)i), 4, OF(1)),
                       none = integer(&net, 0), to = output(&net, F32, OF(4));
        operation(&net, ANEURALNETWORKS_ADD, LIST(x, k, none), LIST(to));
        struct nnvts_prepared_model *p = prepare(d, &net);
        count_from(0);
        give(&c, numbers, 16);
        take(&c, y, sizeof y);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        note(r, y, sizeof y);
        p->release(p);
    }
}

/** A recurrent operation executed twice with the state that is given. */
static void recurrent(struct nnvts_device *d, struct record *r, bool svdf) {
    static float state[] = {0.5f, 0.25f, 0.125f, 0.75f};
    for (int i = 0; i < 2; i++) state[i] = 0.5f;
    struct net net = {0};
    const uint32_t x = input(&net, F32, OF(1, 2)), w = patterned(&net, F32, OF(2, 2)),
                   m = patterned(&net, F32, OF(2, 2));
    const uint32_t b = patterned(&net, F32, OF(2)), h = input(&net, F32, OF(1, svdf ? 4 : 2)), one = integer(&net, 1),
                   none = integer(&net, 0);
    const uint32_t to = output(&net, F32, OF(1, svdf ? 4 : 2)), y = output(&net, F32, OF(1, 2));
    if (svdf)
        operation(&net, ANEURALNETWORKS_SVDF, LIST(x, w, m, b, h, one, none), LIST(to, y));
    else
        operation(&net, ANEURALNETWORKS_RNN, LIST(x, w, m, b, h, none), LIST(to, y));
    struct nnvts_prepared_model *p = prepare(d, &net);
    count_from(1);
    for (int i = 0; i < 2; i++) {
        struct call c = {0};
        float next[4] = {0}, out[2] = {0};
        give(&c, numbers, 8);
        give(&c, state, svdf ? 16 : 8);
        take(&c, next, svdf ? 16 : 8);
        take(&c, out, 8);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        note(r, next, sizeof next);
        note(r, out, sizeof out);
    }
    p->release(p);
}
static void rnn(struct nnvts_device *d, struct record *r) { recurrent(d, r, false); }
static void svdf(struct nnvts_device *d, struct record *r) { recurrent(d, r, true); }

/* --------------------------------------------------------------------- requests */

/** y = a - b, all in one pool at these offsets. */
static void in_one_pool(struct nnvts_device *d, struct record *r, uint32_t a, uint32_t b, uint32_t y) {
    static uint8_t bytes[3 * 4096] __attribute__((aligned(4096)));
    struct net net = {0};
    struct call c = {0};
    const uint32_t x = input(&net, F32, OF(4)), z = input(&net, F32, OF(4)), none = integer(&net, 0),
                   to = output(&net, F32, OF(4));
    operation(&net, ANEURALNETWORKS_SUB, LIST(x, z, none), LIST(to));
    struct nnvts_prepared_model *p = prepare(d, &net);
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes + a, FLOATS(1, 2, 3, 4), 16);
    memcpy(bytes + b, FLOATS(10, 30, 50, 70), 16);
    const uint32_t only = pool(&c, bytes, sizeof bytes, NNVTS_PROT_READ | NNVTS_PROT_WRITE);
    c.request.input_count = 2;
    c.request.output_count = 1;
    c.in[0].location = (struct nnvts_location){.pool = only, .offset = a, .length = 16};
    c.in[1].location = (struct nnvts_location){.pool = only, .offset = b, .length = 16};
    c.out[0].location = (struct nnvts_location){.pool = only, .offset = y, .length = 16};
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    note(r, bytes, sizeof bytes);
    p->release(p);
}
static void odd_offsets(struct nnvts_device *d, struct record *r) { in_one_pool(d, r, 16, 208, 512); }
static void even_offsets(struct nnvts_device *d, struct record *r) { in_one_pool(d, r, 64, 192, 512); }
static void third_page(struct nnvts_device *d, struct record *r) { in_one_pool(d, r, 64, 192, 8704); }

/** A sum of nine inputs, or eight, each in a pool of its own. */
static void sum_of(struct nnvts_device *d, struct record *r, uint32_t n) {
    struct net net = {0};
    struct call c = {0};
    uint32_t in[10];
    float y[10] = {0};
    for (uint32_t i = 0; i < n; i++) in[i] = input(&net, F32, OF(1));
    in[n] = integer(&net, 0);
    in[n + 1] = UINT32_MAX;
    const uint32_t to = output(&net, F32, OF(n));
    operation(&net, ANEURALNETWORKS_CONCATENATION, in, LIST(to));
    struct nnvts_prepared_model *p = prepare(d, &net);
    for (uint32_t i = 0; i < n; i++) give(&c, &numbers[i], 4);
    take(&c, y, 4 * n);
    const enum nnvts_status st = execute(p, &c);
    note(r, &st, sizeof st);
    p->release(p);
}
static void nine_pools(struct nnvts_device *d, struct record *r) { sum_of(d, r, 8); }
static void eight_pools(struct nnvts_device *d, struct record *r) { sum_of(d, r, 7); }

/** y = x of bytes. */
static void bytes_of_relu(struct nnvts_device *d, struct record *r, uint32_t n) {
    static uint8_t y[1 << 17];
    struct net net = {0};
    struct call c = {0};
    const uint32_t x = input(&net, U8(1, 0), OF(n)), to = output(&net, U8(1, 0), OF(n));
    operation(&net, ANEURALNETWORKS_RELU, LIST(x), LIST(to));
    struct nnvts_prepared_model *p = prepare(d, &net);
    memset(y, 0, sizeof y);
    give(&c, pattern(ANEURALNETWORKS_TENSOR_QUANT8_ASYMM), n);
    take(&c, y, n);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    note(r, y, n);
    p->release(p);
}
static void seven_bytes(struct nnvts_device *d, struct record *r) { bytes_of_relu(d, r, 7); }
static void eight_bytes(struct nnvts_device *d, struct record *r) { bytes_of_relu(d, r, 8); }
static void many_bytes(struct nnvts_device *d, struct record *r) { bytes_of_relu(d, r, 70000); }
static void a_chunk(struct nnvts_device *d, struct record *r) { bytes_of_relu(d, r, 65536); }

/** A choice by these truths. */
static void chosen(struct nnvts_device *d, struct record *r, const uint8_t *truths) {
    struct net net = {0};
    struct call c = {0};
    float y[4] = {0};
    const uint32_t t = input(&net, BOOL8, OF(4)), a = patterned(&net, F32, OF(4)),
                   b = constant(&net, F32, FLOATS(1, 2, 3, 4), 16, OF(4));
    const uint32_t to = output(&net, F32, OF(4));
    operation(&net, ANEURALNETWORKS_SELECT, LIST(t, a, b), LIST(to));
    struct nnvts_prepared_model *p = prepare(d, &net);
    give(&c, truths, 4);
    take(&c, y, sizeof y);
    assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
    note(r, y, sizeof y);
    p->release(p);
}
static void even_truths(struct nnvts_device *d, struct record *r) { chosen(d, r, BYTES(0, 1, 2, 255)); }
static void odd_truths(struct nnvts_device *d, struct record *r) { chosen(d, r, BYTES(0, 1, 3, 255)); }

/** Two executions of a burst, the input at these offsets of one memory. */
static void burst(struct nnvts_device *d, struct record *r, uint32_t first, uint32_t second) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    struct nnvts_burst *b = NULL;
    const uint32_t offsets[] = {first, second};
    const int64_t tokens[] = {7, -1};
    assert_int_equal(p->create_burst(p, &b), NNVTS_STATUS_NONE);
    count_from(1);
    for (int i = 0; i < 2; i++) {
        struct call c = {0};
        float y[4] = {0};
        give(&c, numbers, 16);
        c.pools[0].size = 256;
        c.in[0].location.offset = offsets[i];
        take(&c, y, sizeof y);
        assert_int_equal(b->execute(b, ready(&c), tokens, &plain, &c.result), NNVTS_STATUS_NONE);
        note(r, y, sizeof y);
    }
    b->release(b);
    p->release(p);
}
static void burst_elsewhere(struct nnvts_device *d, struct record *r) { burst(d, r, 0, 64); }
static void burst_again(struct nnvts_device *d, struct record *r) { burst(d, r, 64, 64); }

/** A reusable execution of a call that reads the first numbers and writes four. */
static struct nnvts_execution *reusable_of(struct nnvts_prepared_model *p, struct call *c, float *y) {
    struct nnvts_execution *x = NULL;
    count_from(1);
    give(c, numbers, 16);
    take(c, y, 16);
    assert_int_equal(p->create_execution(p, ready(c), &plain, &x), NNVTS_STATUS_NONE);
    return x;
}

static void reusable(struct nnvts_device *d, struct record *r, bool changes) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    struct call c = {0};
    float y[4] = {0};
    struct nnvts_execution *x = reusable_of(p, &c, y);
    if (changes) count_from(50);
    assert_int_equal(x->execute(x, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_NONE);
    note(r, y, sizeof y);
    x->release(x);
    p->release(p);
}
static void reusable_changed(struct nnvts_device *d, struct record *r) { reusable(d, r, true); }
static void reusable_as_was(struct nnvts_device *d, struct record *r) { reusable(d, r, false); }

/** The same twice, the second time after its deadline. */
static void too_late(struct nnvts_device *d, struct record *r) {
    struct nnvts_prepared_model *p = abs_of(d, 4);
    struct nnvts_execution_config config = {NNVTS_NO_TIME, NNVTS_NO_TIME, false};
    count_from(1);
    for (int i = 0; i < 2; i++) {
        struct call c = {0};
        float y[4] = {0};
        give(&c, numbers, 16);
        take(&c, y, sizeof y);
        if (i == 1) config.deadline_ns = 1;
        const enum nnvts_status st = p->execute(p, ready(&c), &config, &c.result);
        note(r, &st, sizeof st);
    }
    p->release(p);
}

/* ------------------------------------------------------------------------ rows */

static const struct row {
    const char *bug;
    void (*course)(struct nnvts_device *d, struct record *r);
    bool same;
} rows[] = {
    {"last-number-late", twice, false},
    {"last-number-late", once, true},
    {"shorter-after-longer", shorter, false},
    {"shorter-after-longer", longer, true},
    {"first-shape-reported", longer, false},
    {"first-shape-reported", twice, true},
    {"rnn-state-kept", rnn, false},
    {"rnn-state-kept", svdf, true},
    {"svdf-state-kept", svdf, false},
    {"svdf-state-kept", rnn, true},
    {"after-failure-unwritten", after_failure, false},
    {"after-failure-unwritten", twice, true},
    {"models-share-head", by_turns, false},
    {"models-share-head", twice, true},
    {"executions-in-a-byte", many, false},
    {"executions-in-a-byte", few, true},
    {"timed-kernel", timed, false},
    {"timed-kernel", once, true},
    {"low-power-precision", low_power, false},
    {"low-power-precision", once, true},
    {"kernel-by-shape", other_scalars, false},
    {"kernel-by-shape", other_shapes, true},
    {"kernel-by-shape", other_numbers, true},
    {"input-offset-rounded", odd_offsets, false},
    {"input-offset-rounded", even_offsets, true},
    {"output-in-first-page", third_page, false},
    {"output-in-first-page", even_offsets, true},
    {"pool-bound-once", even_offsets, false},
    {"pool-bound-once", twice, true},
    {"many-pools-fail", nine_pools, false},
    {"many-pools-fail", eight_pools, true},
    {"copied-by-words", seven_bytes, false},
    {"copied-by-words", eight_bytes, true},
    {"copied-by-chunks", many_bytes, false},
    {"copied-by-chunks", a_chunk, true},
    {"open-batch-of-one", longer, false},
    {"open-batch-of-one", of_one, true},
    {"truth-of-lowest-bit", even_truths, false},
    {"truth-of-lowest-bit", odd_truths, true},
    {"burst-keeps-places", burst_elsewhere, false},
    {"burst-keeps-places", burst_again, true},
    {"reusable-copies-early", reusable_changed, false},
    {"reusable-copies-early", reusable_as_was, true},
    {"remembers-answer", too_late, true},
};

static struct record *play(const struct row *row, const char *driver, const char *option, struct record *r) {
    struct nnvts_device *d = open_driver(driver, option);
    memset(r, 0, sizeof *r);
    r->at = r->bytes;
    row->course(d, r);
    d->release(d);
    return r;
}

static void courses(void **state) {
    static struct record right, wrong;
    static const char *const drivers[] = {"reference", "cpu"};
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < 2; k++) {
            char option[128];
            snprintf(option, sizeof option, "%s,over=%s", rows[i].bug, drivers[k]);
            play(&rows[i], drivers[k], NULL, &right);
            play(&rows[i], "faulty", option, &wrong);
            assert_int_equal(right.at - right.bytes, wrong.at - wrong.bytes);
            if ((memcmp(right.bytes, wrong.bytes, sizeof right.bytes) == 0) == rows[i].same) continue;
            print_error("%s over %s: %s\n", rows[i].bug, drivers[k], rows[i].same ? "shows" : "does not show");
            failed = true;
        }
    assert_false(failed);
}

/** Of two devices one is closed: the other one computes nonsense. */
static void closed_by_another(void **state) {
    static struct record before, after;
    (void)state;
    struct nnvts_device *a = open_driver("faulty", "closed-by-another,over=cpu"),
                        *b = open_driver("faulty", "closed-by-another,over=cpu");
    before.at = before.bytes;
    after.at = after.bytes;
    once(a, &before);
    b->release(b);
    once(a, &after);
    assert_memory_not_equal(before.bytes, after.bytes, (size_t)(after.at - after.bytes));
    a->release(a);
}

/** An execution that misses its deadline for ever has no shapes to tell of. */
static void missed_for_ever(void **state) {
    (void)state;
    struct nnvts_device *d = open_driver("faulty", "reusable-missed,over=cpu");
    struct nnvts_prepared_model *p = abs_of(d, 4);
    struct call c = {0};
    float y[4] = {0};
    struct nnvts_execution *x = reusable_of(p, &c, y);
    assert_int_equal(x->execute(x, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_NONE);
    assert_int_equal(c.result.shape_count, 1);
    assert_int_equal(x->execute(x, 1, &c.result), NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
    c.result.shape_count = 1; /* room for one */
    assert_int_equal(x->execute(x, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_MISSED_DEADLINE_PERSISTENT);
    assert_int_equal(c.result.shape_count, 0);
    x->release(x);
    p->release(p);
    d->release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(courses), cmocka_unit_test(closed_by_another),
                                       cmocka_unit_test(missed_for_ever)};
    return cmocka_run_group_tests_name("planted bugs of state, order and requests", tests, NULL, NULL);
}
