/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_drivers_extensions.c What our drivers make of extensions, and old ones of new uses of operations. */
#include "tests/kit/driver.h"

enum { EXTENSION = 5 << 16 | 3 };

static const char *const drivers[] = {"cpu", "reference", "sample", "template"};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

/** y = a + b, z = a vendor's operation of y. */
static void mix(struct net *n) {
    const uint32_t a = input(n, F32, DIMS(2)), b = input(n, F32, DIMS(2)), act = integer(n, 0);
    const uint32_t y = tensor(n, NNVTS_TEMPORARY_VARIABLE, F32, DIMS(2)), z = output(n, F32, DIMS(2));
    operation(n, ANEURALNETWORKS_ADD, LIST(a, b, act), LIST(y));
    operation(n, EXTENSION, LIST(y), LIST(z));
    finish(n);
}

static enum nnvts_status ask(const char *name, const struct net *n, bool *supported) {
    struct nnvts_device *d = open_driver(name, NULL);
    enum nnvts_status st = d->get_supported_operations(d, &n->model, supported);
    struct nnvts_prepared_model *p = NULL;
    enum nnvts_status prepared = d->prepare_model(d, &n->model, &prepare_config, &p);
    assert_int_equal(prepared, st == NNVTS_STATUS_NONE ? NNVTS_STATUS_GENERAL_FAILURE : st);
    assert_null(p);
    d->release(d);
    return st;
}

static void test_declared(void **state) {
    (void)state;
    for (int i = 0; i < DRIVERS; i++) {
        const struct nnvts_extension_prefix one[] = {{"com.example.x", 5}};
        struct net n = {0};
        bool supported[2] = {true, true};
        mix(&n);
        n.model.extensions = one;
        n.model.extension_count = 1;
        assert_int_equal(ask(drivers[i], &n, supported), NNVTS_STATUS_NONE);
        assert_false(supported[1]);
        if (strcmp(drivers[i], "template") != 0) assert_true(supported[0]);
    }
}

/** Beside an extension, too, core operations are checked. */
static void test_wrong_beside(void **state) {
    (void)state;
    for (int i = 0; i < DRIVERS; i++) {
        const struct nnvts_extension_prefix one[] = {{"com.example.x", 5}};
        struct net n = {0};
        bool supported[2];
        mix(&n);
        n.model.extensions = one;
        n.model.extension_count = 1;
        n.operands[1].type = ANEURALNETWORKS_TENSOR_INT32;
        assert_int_equal(ask(drivers[i], &n, supported), NNVTS_STATUS_INVALID_ARGUMENT);
    }
}

static void test_invalid(void **state) {
    (void)state;
    static const struct nnvts_extension_prefix lists[][2] = {
        {{"com.example.x", 6}, {"com.example.y", 7}}, /* neither is 5 */
        {{"com.example.x", 5}, {"com.example.y", 5}},
        {{"com.example.x", 5}, {"com.example.y", 0}},
        {{"com.example.x", 5}, {NULL, 6}},
    };
    for (int i = 0; i < DRIVERS; i++)
        for (size_t k = 0; k <= sizeof lists / sizeof *lists; k++) {
            struct net n = {0};
            bool supported[2];
            mix(&n);
            n.model.extensions = k < sizeof lists / sizeof *lists ? lists[k] : NULL;
            n.model.extension_count = n.model.extensions ? 2 : 0;
            assert_int_equal(ask(drivers[i], &n, supported), NNVTS_STATUS_INVALID_ARGUMENT);
        }
}

static void test_data_on_core_type(void **state) {
    (void)state;
    static const char more[] = "more";
    for (int i = 0; i < DRIVERS; i++) {
        struct net n = {0};
        bool supported[1];
        const uint32_t a = input(&n, F32, DIMS(2)), b = input(&n, F32, DIMS(2)), act = integer(&n, 0),
                       y = output(&n, F32, DIMS(2));
        operation(&n, ANEURALNETWORKS_ADD, LIST(a, b, act), LIST(y));
        n.operands[a].extension_data = more;
        n.operands[a].extension_data_bytes = 4;
        finish(&n);
        assert_int_equal(ask(drivers[i], &n, supported), NNVTS_STATUS_INVALID_ARGUMENT);
    }
}

/* ------------------------------------------------------------------ old levels */

static bool supports(const char *option, struct net *n) {
    struct nnvts_device *d = open_driver("sample", option);
    bool supported[4] = {false};
    assert_int_equal(d->get_supported_operations(d, finish(n), supported), NNVTS_STATUS_NONE);
    d->release(d);
    return supported[0];
}

static bool supports_unary(const char *option, int32_t code, struct kind x, struct kind y, uint32_t rank,
                           const uint32_t *dims) {
    struct net n = {0};
    const uint32_t in = input(&n, x, rank, dims), out = output(&n, y, rank, dims);
    operation(&n, code, LIST(in), LIST(out));
    return supports(option, &n);
}

static bool supports_softmax(const char *option, uint32_t rank, const uint32_t *dims) {
    struct net n = {0};
    const uint32_t x = input(&n, F32, rank, dims), beta = real(&n, 1), y = output(&n, F32, rank, dims);
    operation(&n, ANEURALNETWORKS_SOFTMAX, LIST(x, beta), LIST(y));
    return supports(option, &n);
}

static bool supports_concatenation(const char *option, float scale) {
    struct net n = {0};
    const uint32_t a = input(&n, U8(0.5f, 3), DIMS(2)), b = input(&n, U8(scale, 3), DIMS(2)), axis = integer(&n, 0),
                   y = output(&n, U8(0.5f, 3), DIMS(4));
    operation(&n, ANEURALNETWORKS_CONCATENATION, LIST(a, b, axis), LIST(y));
    return supports(option, &n);
}

static bool supports_pad(const char *option, int32_t zero) {
    static const int32_t cells[] = {1, 1};
    struct net n = {0};
    const uint32_t x = input(&n, U8(0.5f, zero), DIMS(2)), p = constant(&n, I32, cells, sizeof cells, DIMS(1, 2)),
                   y = output(&n, U8(0.5f, zero), DIMS(4));
    operation(&n, ANEURALNETWORKS_PAD, LIST(x, p), LIST(y));
    return supports(option, &n);
}

static void test_old_uses(void **state) {
    (void)state;
    static const char *const old[] = {"level-1.0", "level-1.1"};
    for (int i = 0; i < 2; i++) {
        assert_true(supports_unary(old[i], ANEURALNETWORKS_TANH, F32, F32, DIMS(2, 3)));
        assert_false(supports_unary(old[i], ANEURALNETWORKS_TANH, U8(1, 0), U8(0.0078125f, 128), DIMS(2, 3)));
        assert_true(supports_unary(old[i], ANEURALNETWORKS_L2_NORMALIZATION, F32, F32, DIMS(1, 1, 2, 3)));
        assert_false(supports_unary(old[i], ANEURALNETWORKS_L2_NORMALIZATION, F32, F32, DIMS(2, 3)));
        assert_true(supports_unary(old[i], ANEURALNETWORKS_RELU, F32, F32, DIMS(0, 3)));
        assert_false(supports_unary(old[i], ANEURALNETWORKS_RELU, F32, F32, 0, NULL)); /* unknown rank */
        assert_true(supports_softmax(old[i], DIMS(2, 3)));
        assert_false(supports_softmax(old[i], DIMS(1, 2, 3)));
        assert_true(supports_concatenation(old[i], 0.5f));
        assert_false(supports_concatenation(old[i], 0.25f));
    }
    assert_true(supports_pad("level-1.1", 0));
    assert_false(supports_pad("level-1.1", 3));
    assert_true(supports_pad("quant", 3));
    assert_true(supports_concatenation("quant", 0.25f));
    assert_true(supports_softmax("float-fast", DIMS(1, 2, 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declared),          cmocka_unit_test(test_wrong_beside), cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_data_on_core_type), cmocka_unit_test(test_old_uses),
    };
    return cmocka_run_group_tests_name("extensions and levels of our drivers", tests, open_cpu, close_cpu);
}
