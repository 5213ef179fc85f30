/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_harvest.c Networks taken apart: what is distinct in them, with the values that they have there. */
#include "harness/debug/harvest.h"

#include "tests/kit/tflite.h"

enum { MOST = 32 };

struct harvested {
    struct nnv_arena *arena;
    struct nnv_harvest h;
    const char *name[MOST];
    size_t outputs[MOST], count;
    size_t again; /* places of what is known */
    struct nnv_harvested last;
    uint32_t last_op;
};

/** Checks the spec: it is valid, and its own evaluation gives the values that it expects. */
static enum nnv_status see(void *own, const struct nnv_harvested *found, struct nnv_err *err) {
    struct harvested *x = own;
    const struct nnv_spec *spec = found->spec;
    struct nnv_known again;
    if (!spec) {
        x->again++;
        x->last = *found;
        x->last_op = found->op[0];
        return NNV_OK;
    }
    assert_int_equal(found->number, x->h.operations + x->h.groups - 1);
    assert_true(x->count < MOST);
    assert_string_equal(spec->precision, "budget");
    if (nnv_known_make(spec, false, x->arena, &again, err) != NNV_OK) fail_msg("%s: %s", spec->name, err->text);
    for (uint32_t i = 0; i < spec->model.main.nout; i++) {
        assert_int_equal(again.spec->outputs[i].bytes, spec->outputs[i].bytes);
        assert_memory_equal(again.spec->outputs[i].data, spec->outputs[i].data, spec->outputs[i].bytes);
    }
    x->name[x->count] = nnv_arena_strdup(x->arena, spec->name);
    x->outputs[x->count++] = spec->model.main.nout;
    return NNV_OK;
}

/** Harvests the fixture's network with some inputs; what was there before is kept. */
static void harvest(struct harvested *x, struct fixture *f) {
    struct nnv_err err = {0};
    struct nnv_known known;
    const struct nnv_subgraph *m = &f->net.model.main;
    struct nnv_spec spec = {.name = "net", .model = f->net.model};
    spec.inputs = NNV_NEW(x->arena, struct nnv_value, m->nin);
    spec.outputs = NNV_NEW(x->arena, struct nnv_value, m->nout);
    for (uint32_t i = 0; i < m->nin; i++) {
        const struct nnv_operand *o = &m->operands[m->in[i]];
        size_t elements, bytes;
        assert_true(nnv_operand_size(o, &elements, &bytes));
        spec.inputs[i] = (struct nnv_value){.rank = o->rank, .data = NNV_NEW(x->arena, char, bytes), .bytes = bytes};
        memcpy(spec.inputs[i].dims, o->dims, o->rank * sizeof *o->dims);
        for (size_t k = 0; k < elements; k++) ((float *)spec.inputs[i].data)[k] = (float)k / 4 - 0.5f;
    }
    x->count = x->again = 0;
    if (nnv_known_make(&spec, false, x->arena, &known, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_harvest_take(&x->h, &known, see, x, &err) != NNV_OK) fail_msg("%s", err.text);
}

static struct harvested begin(uint32_t group) {
    struct nnv_arena *arena = nnv_arena_new();
    assert_non_null(arena);
    return (struct harvested){.arena = arena, .h = {.arena = arena, .group = group}};
}

static bool has(const struct harvested *x, const char *name, size_t outputs) {
    for (size_t i = 0; i < x->count; i++)
        if (strcmp(x->name[i], name) == 0) return x->outputs[i] == outputs;
    return false;
}

/** a = x + c; m = a * relu(tanh(logistic(a))); y = activation(m + c). */
static void excite(struct fixture *f, int activation) {
    static const float c[] = {1, 2, 3, 4};
    struct writer *w = fresh(f);
    const int x = w_input(w, W_TENSOR(w, F, 4)), k = W_CONST(w, F, c, 4), a = W_TENSOR(w, F, 4), b = W_TENSOR(w, F, 4),
              d = W_TENSOR(w, F, 4), e = W_TENSOR(w, F, 4), m = W_TENSOR(w, F, 4), y = w_output(w, W_TENSOR(w, F, 4));
    W_OP(w, NNV_TFL_ADD, 11, a, x, k);
    W_OP(w, NNV_TFL_LOGISTIC, 0, b, a);
    W_OP(w, NNV_TFL_TANH, 0, d, b);
    W_OP(w, NNV_TFL_RELU, 0, e, d);
    W_OP(w, NNV_TFL_MUL, 21, m, a, e);
    w_byte(W_OP(w, NNV_TFL_ADD, 11, y, m, k), 0, activation);
    import_ok(f);
}

static void finds_operations_groups_and_blocks(void **state) {
    struct harvested x = begin(3);
    excite(*state, 0);
    harvest(&x, *state);
    assert_int_equal(x.h.operations, 5); /* of six: both additions are the same */
    assert_int_equal(x.again, 1);
    assert_int_equal(x.last.number, 0);
    assert_int_equal(x.last_op, 5);
    assert_true(has(&x, "ADD.0", 1));
    assert_false(has(&x, "ADD.5", 1));
    assert_true(has(&x, "ADD+LOGISTIC.0-1", 2)); /* the multiplication reads a, too */
    assert_true(has(&x, "LOGISTIC+TANH.1-2", 1));
    assert_true(has(&x, "LOGISTIC+TANH+RELU.1-3", 1));
    assert_true(has(&x, "RELU+MUL+ADD.3-5", 1));
    assert_true(has(&x, "LOGISTIC+TANH+RELU+MUL.1-4", 1)); /* the block */
    assert_false(has(&x, "ADD+MUL.0-4", 2));               /* a way leads out of it and back */
    assert_int_equal(x.h.groups, 5 + 4 + 1);
    assert_int_equal(x.count, 15);
    nnv_arena_free(x.arena);
}

static void knows_what_it_has(void **state) {
    struct harvested x = begin(3);
    excite(*state, 0);
    harvest(&x, *state);
    harvest(&x, *state);
    assert_int_equal(x.count, 0);
    assert_int_equal(x.again, 16);
    assert_int_equal(x.h.met, 32);
    excite(*state, 1); /* another attribute: of ADD, and of what ends in it */
    harvest(&x, *state);
    assert_int_equal(x.count, 3);
    assert_true(has(&x, "ADD.5", 1));
    assert_true(has(&x, "MUL+ADD.4-5", 1));
    assert_true(has(&x, "RELU+MUL+ADD.3-5", 1));
    nnv_arena_free(x.arena);
}

static void operations_alone(void **state) {
    struct harvested x = begin(1);
    excite(*state, 0);
    harvest(&x, *state);
    assert_int_equal(x.count, 5);
    assert_int_equal(x.h.groups, 0);
    nnv_arena_free(x.arena);
}

/** Scales and weights make no difference, shapes do; small integers that are no bias are attributes. */
static void what_makes_a_difference(void **state) {
    static const float one[] = {1, 2, 3, 4}, two[] = {5, 6, 7, 8};
    static const int32_t wide[] = {1, 4}, tall[] = {4, 1};
    struct harvested x = begin(1);
    size_t news[4];
    for (int i = 0; i < 4; i++) {
        struct writer *w = fresh(*state);
        const int32_t n = i == 3 ? 1 : 4;
        const int in = w_input(w, W_TENSOR(w, F, 4)), k = w_data(w, W_TENSOR(w, F, n), i ? two : one, (size_t)n * 4),
                  sum = W_TENSOR(w, F, 4), shape = w_data(w, W_TENSOR(w, I, 2), i == 2 ? tall : wide, 8),
                  y = w_output(w, w_add(w, F, 2, i == 2 ? tall : wide));
        W_OP(w, NNV_TFL_ADD, 11, sum, in, k);
        W_OP(w, NNV_TFL_RESHAPE, 0, y, sum, shape);
        import_ok(*state);
        harvest(&x, *state);
        news[i] = x.count;
    }
    assert_int_equal(news[0], 2);
    assert_int_equal(news[1], 0); /* other weights */
    assert_int_equal(news[2], 1); /* another shape to give */
    assert_int_equal(news[3], 1); /* ADD broadcasts */
    nnv_arena_free(x.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(finds_operations_groups_and_blocks),
        CASE(knows_what_it_has),
        CASE(operations_alone),
        CASE(what_makes_a_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
