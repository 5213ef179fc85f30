/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_recurrent.c Recurrent speech models built in code: valid, alive, and their states matter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mlts/networks/networks.h"
#include "mlts/networks/recurrent.h"
#include "reference/eval/eval.h"
#include "reference/model/validate.h"

static int setup(void **state) {
    *state = nnv_arena_new();
    return *state == NULL;
}
static int teardown(void **state) {
    nnv_arena_free(*state);
    return 0;
}

static void valid(const struct nnv_network *net, struct nnv_arena *a, int level) {
    struct nnv_err err = {0};
    int l = 0;
    if (nnv_validate(&net->model, a, &l, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(l, level);
    for (uint32_t i = 0; i < net->state_count; i++) { /* a value fits where it comes back */
        const struct nnv_subgraph *s = &net->model.main;
        const struct nnv_operand *in = &s->operands[s->in[net->states[i].input]];
        const struct nnv_operand *out = &s->operands[s->out[net->states[i].output]];
        assert_int_equal(in->rank, out->rank);
        assert_memory_equal(in->dims, out->dims, in->rank * sizeof *in->dims);
        assert_int_equal(in->type, out->type);
    }
}

static size_t weights(const struct nnv_network *net) {
    size_t n = 0, elems, bytes;
    for (uint32_t i = 0; i < net->model.main.noperands; i++) {
        const struct nnv_operand *o = &net->model.main.operands[i];
        if (o->lifetime == NNV_CONSTANT_REFERENCE && nnv_operand_size(o, &elems, &bytes)) n += elems;
    }
    return n;
}

/** Runs a step on inputs that are all the same number; states are those of the step before (NULL: zeros). */
static struct nnv_golden *step(const struct nnv_network *net, float x, const struct nnv_golden *before,
                               struct nnv_arena *a) {
    const struct nnv_subgraph *s = &net->model.main;
    const struct nnv_eval_options options = {0};
    struct nnv_value *in = NNV_NEW(a, struct nnv_value, s->nin);
    struct nnv_golden *out = NNV_NEW(a, struct nnv_golden, s->nout);
    struct nnv_err err = {0};
    for (uint32_t i = 0; i < s->nin; i++) {
        const struct nnv_operand *o = &s->operands[s->in[i]];
        size_t n;
        assert_true(nnv_operand_size(o, &n, &in[i].bytes));
        in[i].rank = o->rank;
        memcpy(in[i].dims, o->dims, o->rank * sizeof *o->dims);
        float *v = NNV_NEW(a, float, n);
        for (size_t k = 0; k < n && !nnv_network_is_state(net, i); k++) v[k] = x;
        in[i].data = v;
    }
    for (uint32_t i = 0; before && i < net->state_count; i++)
        in[net->states[i].input].data = before[net->states[i].output].value.data;
    if (nnv_eval(&net->model, in, &options, a, out, &err) != NNV_OK) fail_msg("%s", err.text);
    return out;
}

static void acoustic_model(void **state) {
    const struct nnv_acoustic what = {3, 10, 16, 6, 5, 1};
    struct nnv_network net = {0};
    struct nnv_err err = {0};
    assert_int_equal(nnv_acoustic_build(&what, *state, &net, &err), NNV_OK);
    valid(&net, *state, 1);
    assert_int_equal(net.state_count, 6);
    assert_int_equal(net.states[5].input, 6);
    assert_int_equal(net.states[5].output, 6);
    /* a layer: 4 gates of 16 x (input + 6) + 16, and 6 x 16; then 5 x 6 + 5 */
    assert_int_equal(weights(&net), (4 * 16 * (10 + 6 + 1) + 96) + 2 * (4 * 16 * (6 + 6 + 1) + 96) + 35);
    const struct nnv_golden *one = step(&net, 0.5f, NULL, *state), *two = step(&net, 0.5f, one, *state);
    const float *p = one[0].value.data, *q = two[0].value.data;
    double sum = 0, change = 0;
    for (int i = 0; i < 5; i++) {
        sum += (double)p[i];
        change += fabs((double)p[i] - (double)q[i]);
    }
    assert_true(fabs(sum - 1) < 1e-6);
    assert_true(change > 1e-4); /* the same frame again is not the same to a cell that remembers */
}

static void decoder(void **state) {
    const struct nnv_decoder what = {7, 12, 16, 9, 1};
    struct nnv_network net = {0};
    struct nnv_err err = {0};
    assert_int_equal(nnv_decoder_build(&what, *state, &net, &err), NNV_OK);
    valid(&net, *state, 3);
    assert_int_equal(net.state_count, 5);
    assert_int_equal(net.model.main.nin, 7);
    const struct nnv_golden *one = step(&net, 0.5f, NULL, *state), *two = step(&net, 0.5f, one, *state);
    /* all positions hold the same: so does what is looked at, since the weights add up to 1 */
    const float *context = one[net.states[0].output].value.data;
    for (int i = 0; i < 12; i++) assert_true(fabs((double)context[i] - 0.5) < 1e-6);
    assert_int_equal(one[0].value.bytes, 9 * sizeof(float));
    assert_memory_not_equal(one[0].value.data, two[0].value.data, one[0].value.bytes);
    const float last = *(const float *)one[1].value.data;
    assert_true(last > 0 && last < 1);
}

/* A piece is heard as a whole: no states come in or go out, and the same piece is the same word. */
static void keyword_model(void **state) {
    const struct nnv_keyword what = {9, 4, 6, 5, 1};
    struct nnv_network net = {0};
    struct nnv_err err = {0};
    assert_int_equal(nnv_keyword_build(&what, *state, &net, &err), NNV_OK);
    valid(&net, *state, 3);
    assert_int_equal(net.state_count, 0);
    assert_int_equal(net.model.main.nin, 1);
    /* 4 gates of 6 x (4 + 6) + 6, both states, then 5 x 6 + 5 */
    assert_int_equal(weights(&net), 4 * 6 * (4 + 6 + 1) + 35);
    const struct nnv_golden *one = step(&net, 0.5f, NULL, *state), *two = step(&net, 0.5f, NULL, *state);
    const struct nnv_golden *other = step(&net, -0.5f, NULL, *state);
    const float *p = one[0].value.data, *q = other[0].value.data;
    double sum = 0, change = 0;
    for (int i = 0; i < 5; i++) {
        sum += (double)p[i];
        change += fabs((double)p[i] - (double)q[i]);
    }
    assert_true(fabs(sum - 1) < 1e-6);
    assert_true(change > 1e-3);
    assert_memory_equal(one[0].value.data, two[0].value.data, one[0].value.bytes);
}

static void wrong_sizes(void **state) {
    struct nnv_acoustic a = {17, 10, 16, 0, 5, 1};
    struct nnv_decoder d = {7, 0, 16, 9, 1};
    const struct nnv_keyword k = {9, 4, 6, 1, 1};
    struct nnv_network net = {0};
    struct nnv_err err = {0};
    assert_int_equal(nnv_keyword_build(&k, *state, &net, &err), NNV_INVALID);
    assert_string_equal(err.text, "words 1: expected 2 to 8192");
    assert_int_equal(nnv_acoustic_build(&a, *state, &net, &err), NNV_INVALID);
    assert_string_equal(err.text, "layers 17: expected 1 to 16");
    assert_int_equal(nnv_decoder_build(&d, *state, &net, &err), NNV_INVALID);
    assert_string_equal(err.text, "text 0: expected 1 to 8192");
}

/** All that --list shows can be opened, and is what the list says. */
static void whole_list(void **state) {
    for (size_t i = 0; i < nnv_network_count; i++) {
        const struct nnv_network_entry *e = &nnv_networks[i];
        struct nnv_network net;
        struct nnv_err err = {0};
        const char *data;
        nnv_arena_reset(*state);
        if (nnv_network_open(e->name, *state, &net, &data, &err) != NNV_OK) fail_msg("%s", err.text);
        assert_string_equal(net.name, e->name);
        assert_string_equal(data, e->data);
        assert_int_equal(net.task, e->task);
        assert_non_null(net.origin);
        /* output and cell of 4 layers; what was looked at, output and cell of 2 */
        if (strcmp(e->name, "acoustic_lstm") == 0) assert_int_equal(net.state_count, 4 * 2);
        if (strcmp(e->name, "speech_decoder") == 0) assert_int_equal(net.state_count, 1 + 2 * 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(acoustic_model, setup, teardown),
        cmocka_unit_test_setup_teardown(decoder, setup, teardown),
        cmocka_unit_test_setup_teardown(keyword_model, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(whole_list, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
