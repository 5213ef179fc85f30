/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_driver_memory.c Device memory of drivers, with values worked by hand. */
#include <pthread.h>

#include "tests/kit/driver.h"

static const char *const drivers[][2] = {{"cpu", NULL}, {"reference", NULL}, {"host", "cpu"}}; /**< and options */
enum { DRIVERS = sizeof drivers / sizeof *drivers };
static const float nothing[6];

/** y0 = x0 + x1, extents {2, 3} or, open, {0, 3}. */
static struct nnvts_prepared_model *prepare_add(struct nnvts_device *device, struct kind k, bool open) {
    struct net n = {0};
    const uint32_t rows = open ? 0 : 2;
    const uint32_t a = input(&n, k, DIMS(rows, 3)), b = input(&n, k, DIMS(rows, 3)), y = output(&n, k, DIMS(rows, 3));
    operation(&n, ANEURALNETWORKS_ADD, LIST(a, b, integer(&n, 0)), LIST(y));
    return prepare(device, &n);
}

static const struct nnvts_buffer_role role0 = {0, 0, 0.5f}, role1 = {0, 1, 1};

static enum nnvts_status allocate(struct nnvts_device *device, struct nnvts_prepared_model *p, uint32_t ins,
                                  const struct nnvts_buffer_role *in, uint32_t outs,
                                  const struct nnvts_buffer_role *out, uint32_t rank, const uint32_t *dims,
                                  struct nnvts_buffer **buffer) {
    struct nnvts_prepared_model *const prepared[] = {p};
    const struct nnvts_buffer_desc desc = {rank, dims, 1, ins, outs, prepared, in, out};
    *buffer = NULL;
    return device->allocate(device, &desc, buffer);
}

static struct nnvts_buffer *make(struct nnvts_device *device, struct nnvts_prepared_model *p, uint32_t ins,
                                 const struct nnvts_buffer_role *in, uint32_t outs,
                                 const struct nnvts_buffer_role *out) {
    struct nnvts_buffer *b;
    assert_int_equal(allocate(device, p, ins, in, outs, out, 0, NULL, &b), NNVTS_STATUS_NONE);
    assert_non_null(b);
    assert_true(b->token > 0);
    return b;
}

static enum nnvts_status put(struct nnvts_buffer *b, const void *data, uint64_t bytes, uint32_t rank,
                             const uint32_t *dims) {
    const struct nnvts_memory m = {.prot = NNVTS_PROT_READ, .fd = -1, .size = bytes, .data = (void *)(uintptr_t)data};
    return b->copy_from(b, &m, dims, rank);
}

static enum nnvts_status get(struct nnvts_buffer *b, void *data, uint64_t bytes) {
    const struct nnvts_memory m = {.prot = NNVTS_PROT_WRITE, .fd = -1, .size = bytes, .data = data};
    return b->copy_to(b, &m);
}

static uint32_t device_pool(struct call *c, const struct nnvts_buffer *b) {
    c->pools[c->request.pool_count] = (struct nnvts_memory){.kind = NNVTS_MEMORY_DEVICE, .fd = -1, .token = b->token};
    return c->request.pool_count++;
}
static void give_buffer(struct call *c, const struct nnvts_buffer *b) {
    c->in[c->request.input_count++] = (struct nnvts_argument){.location = {.pool = device_pool(c, b)}};
}
static void take_buffer(struct call *c, const struct nnvts_buffer *b) {
    c->out[c->request.output_count++] = (struct nnvts_argument){.location = {.pool = device_pool(c, b)}};
}

/* -------------------------------------------------------------------- values */

/** A running sum in one buffer that is output, then input: 1 + 10, then that + 10. */
static void test_sum(void **state) {
    (void)state;
    for (int d = 0; d < DRIVERS; d++) {
        struct nnvts_device *device = open_driver(drivers[d][0], drivers[d][1]);
        struct nnvts_prepared_model *p = prepare_add(device, F32, false);
        struct nnvts_buffer *ten = make(device, p, 1, &role1, 0, NULL), *even = make(device, p, 1, &role0, 1, &role0),
                            *odd = make(device, p, 1, &role0, 1, &role0);
        const float one[] = {1, 2, 3, 4, 5, 6}, tens[] = {10, 20, 30, 40, 50, 60};
        const float expected[] = {31, 62, 93, 124, 155, 186};
        float sum[6] = {0};
        assert_int_not_equal(even->token, odd->token);
        assert_int_equal(put(even, one, sizeof one, 0, NULL), NNVTS_STATUS_NONE);
        assert_int_equal(put(ten, tens, sizeof tens, DIMS(2, 3)), NNVTS_STATUS_NONE);
        for (int i = 0; i < 3; i++) {
            struct call c = {0};
            give_buffer(&c, i % 2 ? odd : even);
            give_buffer(&c, ten);
            take_buffer(&c, i % 2 ? even : odd);
            assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        }
        assert_int_equal(get(odd, sum, sizeof sum), NNVTS_STATUS_NONE);
        assert_floats(sum, expected, 6, 0);
        p->release(p);
        ten->release(ten);
        even->release(even);
        odd->release(odd);
        device->release(device);
    }
}

/** Signed bytes: the form in a buffer is the API's. */
static void test_signed(void **state) {
    (void)state;
    for (int d = 0; d < DRIVERS; d++) {
        struct nnvts_device *device = open_driver(drivers[d][0], drivers[d][1]);
        struct nnvts_prepared_model *p = prepare_add(device, S8(0.5f, -3), false);
        struct nnvts_buffer *x = make(device, p, 1, &role0, 0, NULL), *y = make(device, p, 0, NULL, 1, &role0);
        const int8_t a[] = {-3, -1, 0, 1, 100, -128}, b[] = {-3, -3, 1, -7, 100, -128};
        const int8_t expected[] = {-3, -1, 4, -3, 127, -128}; /* a + b + 3 */
        int8_t out[6];
        struct call c = {0};
        assert_int_equal(put(x, a, sizeof a, 0, NULL), NNVTS_STATUS_NONE);
        give_buffer(&c, x);
        give(&c, b, sizeof b);
        take_buffer(&c, y);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        assert_int_equal(get(y, out, sizeof out), NNVTS_STATUS_NONE);
        assert_memory_equal(out, expected, sizeof out);
        assert_int_equal(get(x, out, sizeof out), NNVTS_STATUS_NONE);
        assert_memory_equal(out, a, sizeof a);
        x->release(x);
        y->release(y);
        p->release(p);
        device->release(device);
    }
}

/** Extents that the model leaves open are the buffer's, and may change with each value. */
static void test_open(void **state) {
    (void)state;
    for (int d = 0; d < DRIVERS; d++) {
        struct nnvts_device *device = open_driver(drivers[d][0], drivers[d][1]);
        struct nnvts_prepared_model *p = prepare_add(device, F32, true);
        struct nnvts_buffer *x = make(device, p, 2, (struct nnvts_buffer_role[]){role0, role1}, 0, NULL),
                            *y = make(device, p, 0, NULL, 1, &role0);
        const float in[] = {1, 2, 3, 4, 5, 6}, expected[] = {2, 4, 6, 8, 10, 12};
        float out[7]; /* one more than there is */
        assert_int_equal(put(x, in, sizeof in, 0, NULL), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(put(x, in, sizeof in, DIMS(0, 3)), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(put(x, in, sizeof in, DIMS(3, 2)), NNVTS_STATUS_INVALID_ARGUMENT);
        for (uint32_t rows = 2; rows > 0; rows--) {
            struct call c = {0};
            assert_int_equal(put(x, in, rows * 12, DIMS(rows, 3)), NNVTS_STATUS_NONE);
            give_buffer(&c, x);
            give_buffer(&c, x);
            take_buffer(&c, y);
            assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
            assert_int_equal(c.result.shape_count, 1);
            assert_true(c.shapes[0].is_sufficient);
            assert_int_equal(c.shapes[0].dimension_count, 2);
            assert_int_equal(c.dims[0][0], rows);
            assert_int_equal(get(y, out, rows * 12), NNVTS_STATUS_NONE);
            assert_int_equal(get(y, out, rows * 12 + 4), NNVTS_STATUS_INVALID_ARGUMENT);
            assert_floats(out, expected, rows * 3, 0);
            c.in[0].dimensions = (const uint32_t[]){3, 3};
            c.in[0].dimension_count = 2;
            assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
        }
        x->release(x);
        y->release(y);
        p->release(p);
        device->release(device);
    }
}

/* -------------------------------------------------------------------- refusals */

static void test_refused_roles(void **state) {
    (void)state;
    static const float wrong[] = {0, -1, 1.5f, NAN};
    for (int d = 0; d < DRIVERS; d++) {
        struct nnvts_device *device = open_driver(drivers[d][0], drivers[d][1]),
                            *other = open_driver(drivers[d][0], drivers[d][1]);
        struct nnvts_prepared_model *p = prepare_add(device, F32, true), *foreign = prepare_add(other, F32, true);
        const struct nnvts_buffer_role none = {0, 2, 1}, model = {1, 0, 1}, twice[] = {role0, role0};
        struct nnvts_buffer *b;
        assert_int_equal(allocate(device, p, 0, NULL, 0, NULL, 0, NULL, &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(allocate(device, p, 1, &none, 0, NULL, 0, NULL, &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(allocate(device, p, 0, NULL, 1, &role1, 0, NULL, &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(allocate(device, p, 1, &model, 0, NULL, 0, NULL, &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(allocate(device, p, 2, twice, 0, NULL, 0, NULL, &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(allocate(device, p, 1, &role0, 0, NULL, DIMS(2), &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(allocate(device, p, 1, &role0, 0, NULL, DIMS(2, 4), &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(allocate(device, NULL, 1, &role0, 0, NULL, 0, NULL, &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(allocate(device, foreign, 1, &role0, 0, NULL, 0, NULL, &b), NNVTS_STATUS_INVALID_ARGUMENT);
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            const struct nnvts_buffer_role role = {0, 0, wrong[i]};
            assert_int_equal(allocate(device, p, 1, &role, 0, NULL, 0, NULL, &b), NNVTS_STATUS_INVALID_ARGUMENT);
        }
        /* counts of lists that are not there */
        const struct nnvts_buffer_desc absent[] = {
            {.prepared_count = 1, .input_role_count = 1, .input_roles = &role0},
            {.prepared_count = 1, .prepared = &p, .input_role_count = 1},
            {.prepared_count = 1, .prepared = &p, .output_role_count = 1},
        };
        for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
            assert_int_equal(device->allocate(device, &absent[i], &b), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_null(b);
        assert_int_equal(allocate(device, p, 1, &role0, 1, &role0, DIMS(4, 0), &b), NNVTS_STATUS_NONE);
        assert_int_equal(put(b, nothing, 24, DIMS(2, 3)), NNVTS_STATUS_INVALID_ARGUMENT); /* 4 by the hint */
        b->release(b);
        foreign->release(foreign);
        p->release(p);
        other->release(other);
        device->release(device);
    }
}

static void test_refused_uses(void **state) {
    (void)state;
    for (int d = 0; d < DRIVERS; d++) {
        struct nnvts_device *device = open_driver(drivers[d][0], drivers[d][1]);
        struct nnvts_prepared_model *p = prepare_add(device, F32, false);
        struct nnvts_buffer *x = make(device, p, 1, &role0, 0, NULL), *y = make(device, p, 1, &role0, 1, &role0);
        float out[6];
        struct call c = {0}, swapped = {0}, same = {0};
        give_buffer(&c, x);
        give(&c, nothing, sizeof nothing);
        take_buffer(&c, y);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_GENERAL_FAILURE); /* no value yet */
        assert_int_equal(get(y, out, sizeof out), NNVTS_STATUS_GENERAL_FAILURE);
        assert_int_equal(put(x, nothing, sizeof nothing - 4, 0, NULL), NNVTS_STATUS_INVALID_ARGUMENT);
        assert_int_equal(put(x, nothing, sizeof nothing, 0, NULL), NNVTS_STATUS_NONE);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_NONE);
        assert_int_equal(get(y, out, sizeof out), NNVTS_STATUS_NONE);
        c.in[0].location.length = sizeof out;
        assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
        c.in[0].location.length = 0;
        give(&swapped, nothing, sizeof nothing);
        give_buffer(&swapped, x); /* is input 0's */
        take_buffer(&swapped, y);
        assert_int_equal(execute(p, &swapped), NNVTS_STATUS_INVALID_ARGUMENT);
        give_buffer(&same, y);
        give(&same, nothing, sizeof nothing);
        take_buffer(&same, y);
        assert_int_equal(execute(p, &same), NNVTS_STATUS_INVALID_ARGUMENT);
        x->release(x);
        assert_int_equal(execute(p, &c), NNVTS_STATUS_INVALID_ARGUMENT);
        y->release(y);
        p->release(p);
        device->release(device);
    }
}

/** A reusable execution holds the buffers that it was made with, and reads them each time. */
static void test_held(void **state) {
    (void)state;
    for (int d = 0; d < DRIVERS; d++) {
        struct nnvts_device *device = open_driver(drivers[d][0], drivers[d][1]);
        struct nnvts_prepared_model *p = prepare_add(device, F32, false);
        struct nnvts_buffer *x = make(device, p, 1, &role0, 0, NULL);
        const float in[] = {1, 2, 3, 4, 5, 6}, expected[] = {2, 4, 6, 8, 10, 12};
        float out[6];
        struct call c = {0};
        struct nnvts_execution *execution = NULL;
        give_buffer(&c, x);
        give(&c, in, sizeof in);
        take(&c, out, sizeof out);
        assert_int_equal(p->create_execution(p, ready(&c), &plain, &execution), NNVTS_STATUS_NONE);
        assert_int_equal(execution->execute(execution, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_GENERAL_FAILURE);
        assert_int_equal(put(x, in, sizeof in, 0, NULL), NNVTS_STATUS_NONE);
        x->release(x);
        ready(&c);
        assert_int_equal(execution->execute(execution, NNVTS_NO_TIME, &c.result), NNVTS_STATUS_NONE);
        assert_floats(out, expected, 6, 0);
        execution->release(execution);
        p->release(p);
        device->release(device);
    }
}

/* --------------------------------------------------------------------- threads */

struct worker {
    struct nnvts_device *device;
    struct nnvts_prepared_model *p;
    struct nnvts_buffer *shared;
};

/** Makes, fills, uses and releases buffers, one of which all threads read and write. */
static void *work(void *argument) {
    const struct worker *w = argument;
    const float in[] = {1, 1, 1, 1, 1, 1};
    for (int i = 0; i < 200; i++) {
        struct nnvts_buffer *x = make(w->device, w->p, 1, &role0, 0, NULL);
        struct call c = {0};
        float out[6];
        assert_int_equal(put(x, in, sizeof in, 0, NULL), NNVTS_STATUS_NONE);
        assert_int_equal(put(w->shared, in, sizeof in, 0, NULL), NNVTS_STATUS_NONE);
        give_buffer(&c, x);
        give_buffer(&c, w->shared);
        take(&c, out, sizeof out);
        assert_int_equal(execute(w->p, &c), NNVTS_STATUS_NONE);
        assert_true(out[0] == 2 && out[5] == 2);
        x->release(x);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    enum { THREADS = 4 };
    for (int d = 0; d < DRIVERS; d++) {
        struct nnvts_device *device = open_driver(drivers[d][0], drivers[d][1]);
        struct nnvts_prepared_model *p = prepare_add(device, F32, false);
        struct worker w = {device, p, make(device, p, 1, &role1, 0, NULL)};
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, work, &w), 0);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        w.shared->release(w.shared);
        p->release(p);
        device->release(device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),           cmocka_unit_test(test_signed),       cmocka_unit_test(test_open),
        cmocka_unit_test(test_refused_roles), cmocka_unit_test(test_refused_uses), cmocka_unit_test(test_held),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
