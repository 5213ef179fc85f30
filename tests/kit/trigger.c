/* SPDX-License-Identifier: Apache-2.0 */
/** @file trigger.c See trigger.h. */
#include "tests/kit/trigger.h"

#include "base/type.h"

enum { MOST_ARGUMENTS = 30, VALUES = 1 << 18 };

const void *pattern(int32_t type) {
    static uint8_t values[4][VALUES * 4] __attribute__((aligned(64)));
    static bool filled;
    for (size_t i = 0; i < VALUES && !filled; i++) {
        const double v = (double)(i * 7919 % 1009) - 504;
        nnv_store(ANEURALNETWORKS_TENSOR_FLOAT32, &(double){v / 64}, 1, values[0] + 4 * i);
        nnv_store(ANEURALNETWORKS_TENSOR_FLOAT16, &(double){v / 64}, 1, values[1] + 2 * i);
        nnv_store(ANEURALNETWORKS_TENSOR_INT32, &v, 1, values[2] + 4 * i);
        values[3][i] = (uint8_t)(i * 7919 % 1009);
    }
    filled = true;
    return type == ANEURALNETWORKS_TENSOR_FLOAT32   ? values[0]
           : type == ANEURALNETWORKS_TENSOR_FLOAT16 ? values[1]
           : type == ANEURALNETWORKS_TENSOR_INT32   ? values[2]
                                                    : values[3];
}

uint32_t patterned(struct net *n, struct kind k, uint32_t rank, const uint32_t *dims) {
    return constant(n, k, pattern(k.type), kind_bytes(k, rank, dims), rank, dims);
}

/** The list with the pattern in the place of values that are NULL. */
static void fill(struct given *to, const struct given *from) {
    uint32_t i = 0;
    for (; from[i].kind.type >= 0; i++) {
        assert_true(i + 1 < MOST_ARGUMENTS);
        to[i] = from[i];
        if (!to[i].data) to[i].data = pattern(to[i].kind.type);
    }
    to[i].kind.type = -1;
}

static void make(const struct trigger *t, struct net *n, struct given *in) {
    memset(n, 0, sizeof *n);
    if (!t->model) {
        fill(in, t->in);
        make_op(n, t->code, in, t->out);
        return;
    }
    t->model(n);
    uint32_t i = 0;
    for (; i < n->model.main.input_count; i++) {
        const struct nnvts_operand *o = &n->operands[n->ends_in[i]];
        in[i] = (struct given){{o->type, o->scale, o->zero_point}, o->dimension_count, o->dimensions, pattern(o->type)};
    }
    in[i].kind.type = -1;
}

/** Executes once; the bytes of all outputs. */
static size_t run(const struct trigger *t, const char *driver, const char *options, uint8_t *to) {
    static struct net n;
    struct given in[MOST_ARGUMENTS];
    struct call c = {0};
    size_t bytes = 0;
    struct nnvts_device *device = open_driver(driver, options);
    bool supported[4];
    make(t, &n, in);
    if (device->get_supported_operations(device, finish(&n), supported) != NNVTS_STATUS_NONE || !supported[0])
        fail_msg("%s: %s does not take its model", t->bug, driver);
    struct nnvts_prepared_model *p = prepare(device, &n);
    for (uint32_t i = 0; in[i].kind.type >= 0; i++)
        if (!(in[i].rank & CONSTANT)) give(&c, in[i].data, bytes_of(&in[i]));
    for (uint32_t i = 0; i < n.model.main.output_count; i++) {
        const struct nnvts_operand *o = &n.operands[n.ends_out[i]];
        const uint32_t length = kind_bytes((struct kind){o->type, 0, 0}, o->dimension_count, o->dimensions);
        assert_true(bytes + length <= MOST_BYTES);
        take(&c, to + bytes, length);
        bytes += (length + 63) / 64 * 64;
    }
    if (execute(p, &c) != NNVTS_STATUS_NONE) fail_msg("%s: %s %s fails", t->bug, driver, options ? options : "");
    p->release(p);
    device->release(device);
    return bytes;
}

void check_triggers(const struct trigger *t, size_t count) {
    static uint8_t right[MOST_BYTES] __attribute__((aligned(64))), wrong[MOST_BYTES] __attribute__((aligned(64)));
    static const char *const drivers[] = {"reference", "cpu"};
    bool failed = false;
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < (t[i].golden ? 1 : 2); k++) {
            char options[128];
            snprintf(options, sizeof options, "%s,over=%s", t[i].bug, drivers[k]);
            memset(right, 0, sizeof right);
            memset(wrong, 0, sizeof wrong);
            const size_t bytes = run(&t[i], drivers[k], NULL, right);
            assert_int_equal(run(&t[i], "faulty", options, wrong), bytes);
            if ((memcmp(right, wrong, bytes) == 0) == t[i].same) continue;
            print_error("%s over %s: %s\n", t[i].bug, drivers[k], t[i].same ? "shows" : "does not show");
            failed = true;
        }
    assert_false(failed);
}
