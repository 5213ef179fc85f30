/* SPDX-License-Identifier: Apache-2.0 */
/** @file op_net.c See op_net.h. */
#include "tests/kit/op_net.h"

uint32_t operand(struct net *n, const struct arg *a) {
    switch (a->what) {
    case TENSOR:
        return input(n, a->kind, a->rank, a->dims);
    case VALUES:
        assert_int_equal(kind_bytes(a->kind, a->rank, a->dims), a->bytes);
        return constant(n, a->kind, a->values, a->bytes, a->rank, a->dims);
    case OMITTED:
        break;
    }
    return tensor(n, NNVTS_NO_VALUE, a->kind, a->rank, a->dims);
}

void build(struct net *n, int32_t code, struct arg y, const struct arg *args, size_t count) {
    uint32_t in[32];
    for (size_t i = 0; i < count; i++) in[i] = operand(n, &args[i]);
    in[count] = UINT32_MAX;
    operation(n, code, in, LIST(output(n, y.kind, y.rank, y.dims)));
    finish(n);
}

void check_bytes(int32_t code, struct arg y, const struct arg *args, size_t count, const void *x, size_t x_bytes,
                 const void *expected, size_t y_bytes) {
    struct net n = {0};
    uint8_t out[ROOM];
    assert_true(y_bytes <= sizeof out);
    build(&n, code, y, args, count);
    check_run(&n, x, (uint32_t)x_bytes, out, (uint32_t)y_bytes);
    for (size_t i = 0; i < y_bytes; i++)
        if (out[i] != ((const uint8_t *)expected)[i])
            fail_msg("operation %d: byte %zu is %d, expected %d", code, i, out[i], ((const uint8_t *)expected)[i]);
}

void check_fails(int32_t code, struct arg y, const struct arg *args, size_t count, const void *x, size_t x_bytes) {
    struct net n = {0};
    static uint8_t out[ROOM];
    build(&n, code, y, args, count);
    struct nnvts_prepared_model *p = prepare(cpu, &n);
    struct call c = {0};
    give(&c, x, (uint32_t)x_bytes);
    take(&c, out, sizeof out);
    c.out[0].location.length = ROOM;
    assert_int_equal(execute(p, &c), NNVTS_STATUS_GENERAL_FAILURE);
    p->release(p);
}

void check_refused(const char *what, int32_t code, struct arg y, const struct arg *args, size_t count) {
    struct net n = {0};
    build(&n, code, y, args, count);
    expect_refused(what, &n);
}

void check_accepted(const char *what, int32_t code, struct arg y, const struct arg *args, size_t count) {
    struct net n = {0};
    bool supported[4] = {false};
    build(&n, code, y, args, count);
    if (cpu->get_supported_operations(cpu, &n.model, supported) != NNVTS_STATUS_NONE || !supported[0])
        fail_msg("get_supported_operations refuses: %s", what);
}
