/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_tflite_file.c Reading .tflite files: what the trained models hold, and files that are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "mlts/tflite/tflite_file.h"
#include "mlts/networks/trained.h"

static int setup(void **state) {
    *state = nnv_arena_new();
    return *state == NULL;
}
static int teardown(void **state) {
    nnv_arena_free(*state);
    return 0;
}

static const struct nnv_trained *model(const char *name) {
    for (size_t i = 0; i < nnv_trained_count; i++)
        if (strcmp(nnv_trained_models[i].name, name) == 0) return &nnv_trained_models[i];
    fail_msg("no model %s", name);
    return NULL;
}

static size_t size_of(const struct nnv_trained *m) { return (size_t)(m->end - m->begin); }

static unsigned count(const struct nnv_tfl_graph *g, const char *name) {
    unsigned n = 0;
    for (uint32_t i = 0; i < g->noperators; i++) n += strcmp(nnv_tfl_operator_name(g->operators[i].code), name) == 0;
    return n;
}

static void quantised_classifier(void **state) {
    struct nnv_tfl_file f;
    struct nnv_err err = {0};
    const struct nnv_trained *m = model("figures_int8");
    if (nnv_tfl_read(m->begin, size_of(m), "m", *state, &f, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_string_equal(f.description, "figures, int8");
    assert_int_equal(f.ngraphs, 1);
    const struct nnv_tfl_graph *g = &f.graphs[0];
    assert_string_equal(g->name, "main");
    assert_int_equal(g->nin, 1);
    assert_int_equal(g->nout, 1);
    assert_int_equal(count(g, "DEPTHWISE_CONV_2D"), 5);
    assert_int_equal(count(g, "ADD"), 2);
    assert_int_equal(count(g, "SOFTMAX"), 1);
    const struct nnv_tfl_tensor *in = &g->tensors[g->in[0]], *w = &g->tensors[g->operators[0].in[1]];
    assert_int_equal(in->type, NNV_TFL_INT8);
    assert_int_equal(in->rank, 4);
    assert_int_equal(in->dims[1], 48);
    assert_int_equal(in->scale_count, 1);
    assert_int_equal(in->zero_points[0], -1);
    assert_true(in->scales[0] == (float)(1 / 127.5));
    assert_int_equal(w->scale_count, 16); /* a scale for each channel of the first filter */
    assert_int_equal(w->axis, 0);
    assert_int_equal(w->bytes, 16 * 3 * 3 * 3);
    assert_non_null(w->data);
    assert_int_equal(g->operators[0].options_type, 1);
    assert_int_equal(nnv_flat_int(g->operators[0].options, 1, 4, true, 0, "stride_w"), 2);
}

static void recurrent_model(void **state) {
    struct nnv_tfl_file f;
    struct nnv_err err = {0};
    const struct nnv_trained *m = model("speech_float");
    if (nnv_tfl_read(m->begin, size_of(m), "m", *state, &f, &err) != NNV_OK) fail_msg("%s", err.text);
    const struct nnv_tfl_operator *op = &f.graphs[0].operators[0];
    assert_string_equal(nnv_tfl_operator_name(op->code), "UNIDIRECTIONAL_SEQUENCE_LSTM");
    assert_int_equal(op->nin, 24);
    assert_int_equal(op->in[9], -1);
    assert_true(f.graphs[0].tensors[op->in[18]].variable);
    assert_null(f.graphs[0].tensors[op->in[18]].data);
}

/** Reads a copy that was changed; if it is taken, it holds together. */
static void read_damaged(struct nnv_arena *arena, const uint8_t *data, size_t size) {
    struct nnv_tfl_file f;
    struct nnv_err err = {0};
    uint8_t *copy = malloc(size); /* so that reading behind its end is seen */
    assert_non_null(copy);
    memcpy(copy, data, size);
    nnv_arena_reset(arena);
    enum nnv_status st = nnv_tfl_read(copy, size, "m.tflite", arena, &f, &err);
    if (st != NNV_OK) {
        assert_int_equal(st, NNV_INVALID);
        assert_int_equal(strncmp(err.text, "m.tflite: ", 10), 0);
    }
    for (uint32_t g = 0; st == NNV_OK && g < f.ngraphs; g++)
        for (uint32_t i = 0; i < f.graphs[g].ntensors; i++) {
            const struct nnv_tfl_tensor *t = &f.graphs[g].tensors[i];
            volatile uint8_t last = t->bytes ? t->data[t->bytes - 1] : 0;
            (void)last;
            assert_true(strlen(t->name) < size);
        }
    free(copy);
}

static void damaged_files(void **state) {
    const struct nnv_trained *m = model("figures_uint8");
    size_t size = size_of(m);
    uint8_t *copy = malloc(size);
    for (size_t n = 0; n < size; n += n < 2000 ? 1 : 997) read_damaged(*state, m->begin, n);
    for (uint64_t i = 0; i < 4000; i++) {
        struct nnv_rng rng = nnv_rng_make(5, i, 0);
        memcpy(copy, m->begin, size);
        /* tables and offsets lie all over the file: damage few places, or a run of words */
        for (int64_t k = nnv_rng_int(&rng, 1, 6); k > 0; k--) {
            size_t at = (size_t)nnv_rng_int(&rng, 0, (int64_t)size / 4 - 1) * 4;
            uint32_t word = (uint32_t)nnv_rng_u64(&rng);
            if (nnv_rng_int(&rng, 0, 1)) word = (uint32_t)nnv_rng_int(&rng, -8, 64);
            memcpy(copy + at, &word, nnv_rng_int(&rng, 0, 1) ? 4 : 1);
        }
        read_damaged(*state, copy, size);
    }
    free(copy);
}

static void refused(void **state, const uint8_t *data, size_t size, const char *words) {
    struct nnv_tfl_file f;
    struct nnv_err err = {0};
    assert_int_equal(nnv_tfl_read(data, size, "m.tflite", *state, &f, &err), NNV_INVALID);
    if (!strstr(err.text, words)) fail_msg("\"%s\" lacks \"%s\"", err.text, words);
}

static void what_is_wrong_is_said(void **state) {
    const struct nnv_trained *m = model("figures_float");
    size_t size = size_of(m);
    uint8_t *copy = malloc(size);
    refused(state, m->begin, 10, "10 bytes are too few");
    memcpy(copy, m->begin, size);
    copy[4] = 'X';
    refused(state, copy, size, "lacks the identifier TFL3 at byte 4");
    memcpy(copy, m->begin, size);
    memset(copy, 0xff, 4);
    refused(state, copy, size, "the root: offset 4294967295 at byte 0 leads to no place");
    memcpy(copy + 4, "\0\0\0\0TFL3", 8);
    refused(state, copy, size, "begins with its size");
    free(copy);
}

static uint32_t word(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/** The place of a field of a table that is there. */
static uint8_t *field(uint8_t *table, unsigned slot) {
    uint16_t offset;
    memcpy(&offset, table - (int32_t)word(table) + 4 + 2 * (size_t)slot, sizeof offset);
    assert_true(offset > 0);
    return table + offset;
}

/** The outputs of the graph may be the last words of the file. */
static void outputs_end_the_file(void **state) {
    enum { GRAPHS = 2, OUTPUTS = 2 }; /* of the schema's Model and SubGraph */
    const struct nnv_trained *m = model("figures_float");
    const size_t size = size_of(m), whole = size + 8;
    struct nnv_tfl_file f;
    struct nnv_err err = {0};
    if (nnv_tfl_read(m->begin, size, "m", *state, &f, &err) != NNV_OK) fail_msg("%s", err.text);
    const uint32_t output[] = {1, (uint32_t)f.graphs[0].out[0]};
    uint8_t *copy = malloc(whole);
    assert_non_null(copy);
    memcpy(copy, m->begin, size);
    memcpy(copy + size, output, sizeof output);
    uint8_t *graphs = field(copy + word(copy), GRAPHS);
    graphs += word(graphs); /* their count, and where each is */
    uint8_t *outputs = field(graphs + 4 + word(graphs + 4), OUTPUTS);
    const uint32_t to_end = (uint32_t)(copy + size - outputs);
    memcpy(outputs, &to_end, sizeof to_end);
    if (nnv_tfl_read(copy, whole, "m", *state, &f, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_int_equal(f.graphs[0].nout, 1);
    assert_int_equal(f.graphs[0].out[0], output[1]);
    refused(state, copy, whole - 1, "outputs: 1 elements do not fit into the file");
    free(copy);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(quantised_classifier, setup, teardown),
        cmocka_unit_test_setup_teardown(recurrent_model, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_files, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(outputs_end_the_file, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
