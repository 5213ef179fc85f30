/* SPDX-License-Identifier: Apache-2.0 */
/** .tflite files as Relay programs: the programs give what the models give; and models that have no Relay form. */
#include "tests/kit/convert.h"

#include "base/file.h"
#include "compiler/nnapi/decompile/decompile.h"
#include "mlts/tflite/tflite.h"
#include "reference/model/builder.h"
#include "tests/kit/relay_equal.h"

/* A model's golden results on random inputs, and what its program gives. */
static void decompiled_gives(const struct nnv_model *model, double most, bool steps) {
    struct nnv_relay_module *m = NULL;
    struct nnv_relay_datum *args[8], *result = NULL, *fields[8];
    struct nnv_value given[8];
    struct nnv_golden golden[8];
    const struct nnv_subgraph *s = &model->main;
    if (nnv_decompile(model, NULL, arena, &m, &relay_err) != NNV_OK) fail_msg("%s", relay_err.text);
    const struct nnv_relay_expr *f = nnv_relay_find(m, "main");
    assert_true(f->n_params == s->nin && s->nin <= 8 && s->nout <= 8);
    for (size_t i = 0; i < f->n_params; i++) {
        const struct nnv_operand *o = &s->operands[s->in[i]];
        args[i] = random_datum(f->params[i], i + 1);
        given[i] = (struct nnv_value){.rank = o->rank, .bytes = args[i]->n * nnv_type(o->type)->size};
        memcpy(given[i].dims, o->dims, o->rank * sizeof *o->dims);
        given[i].data = nnv_arena_alloc(arena, given[i].bytes, 1);
        nnv_relay_datum_write(args[i], given[i].data);
    }
    const struct nnv_eval_options options = {0};
    if (nnv_relay_run(m, "main", args, f->n_params, NULL, arena, &result, &relay_err) != NNV_OK ||
        nnv_eval(model, given, &options, arena, golden, &relay_err) != NNV_OK)
        fail_msg("%s", relay_err.text);
    assert_int_equal(flat(result, fields), s->nout);
    for (size_t i = 0; i < s->nout; i++) {
        double by = difference(fields[i], &golden[i], &s->operands[s->out[i]]);
        if (!(by <= most)) fail_msg("output %zu differs by %g", i, by);
    }
    /* the program converts again, as a whole */
    const struct nnv_convert_options all = {0};
    struct nnv_converted again;
    if (nnv_convert(m, nnv_relay_find(m, "main"), &all, arena, &again, &relay_err) != NNV_OK)
        fail_msg("%s", relay_err.text);
    assert_int_equal(again.model.main.nin, s->nin);
    assert_int_equal(again.model.main.nout, s->nout);
    /* and not into more operations than it had, unless each step of a layer has its own */
    print_message("%u operations, %u when converted again\n", s->noperations, again.model.main.noperations);
    assert_true(steps || again.model.main.noperations <= s->noperations);
}

static void test_files(void **state) {
    (void)state;
    static const struct {
        const char *path;
        double most;
        bool steps;
    } files[] = {{"mlts/networks/models/figures_float.tflite", 1e-3, false},
                 {"mlts/networks/models/figures_int8.tflite", 2, false},
                 {"mlts/networks/models/figures_uint8.tflite", 2, false},
                 {"mlts/networks/models/speech_float.tflite", 1e-3, true}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct nnv_network net;
        char *data = NULL;
        size_t size;
        if (nnv_file_read(files[i].path, 1 << 26, &data, &size, &relay_err) != NNV_OK ||
            nnv_tflite_import(data, size, files[i].path, arena, &net, &relay_err) != NNV_OK)
            fail_msg("%s", relay_err.text);
        print_message("%s\n", files[i].path);
        decompiled_gives(&net.model, files[i].most, files[i].steps);
        free(data);
    }
}

/* All that has no Relay form is named at once. */
static void test_refusals(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena};
    const uint32_t dims[] = {2, 3};
    const struct nnv_encoding f32 = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};
    uint32_t x = nnv_builder_tensor(&b, f32, 2, dims, NNV_SUBGRAPH_INPUT), v[4];
    for (size_t i = 0; i < 4; i++)
        v[i] = nnv_builder_tensor(&b, f32, 2, dims, i == 3 ? NNV_SUBGRAPH_OUTPUT : NNV_TEMPORARY_VARIABLE);
    const uint32_t alpha = nnv_builder_float(&b, 0.5f), beta = nnv_builder_float(&b, 2);
    nnv_builder_add(&b, ANEURALNETWORKS_ELU, 2, (uint32_t[]){x, alpha}, v[0]);
    nnv_builder_add(&b, ANEURALNETWORKS_RELU, 1, (uint32_t[]){v[0]}, v[1]);
    nnv_builder_add(&b, ANEURALNETWORKS_ELU, 2, (uint32_t[]){v[1], alpha}, v[2]);
    nnv_builder_add(&b, ANEURALNETWORKS_SOFTMAX, 2, (uint32_t[]){v[2], beta}, v[3]);
    struct nnv_model model;
    struct nnv_relay_module *m = NULL;
    assert_int_equal(nnv_builder_end(&b, 1, &x, 1, &v[3], &model, &relay_err), NNV_OK);
    assert_int_equal(nnv_decompile(&model, NULL, arena, &m, &relay_err), NNV_UNSUPPORTED);
    assert_non_null(strstr(relay_err.text, "3 operations"));
    assert_non_null(strstr(relay_err.text, "SOFTMAX (1)"));
    assert_non_null(strstr(relay_err.text, "ELU (2)"));
}

static void test_names(void **state) {
    (void)state;
    struct nnv_builder b = {.arena = arena};
    const uint32_t dims[] = {2, 3};
    const struct nnv_encoding f32 = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};
    uint32_t in[3], out = 0;
    for (size_t i = 0; i < 3; i++) in[i] = nnv_builder_tensor(&b, f32, 2, dims, NNV_SUBGRAPH_INPUT);
    uint32_t sum = nnv_builder_tensor(&b, f32, 2, dims, NNV_TEMPORARY_VARIABLE);
    out = nnv_builder_tensor(&b, f32, 2, dims, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, (uint32_t[]){in[0], in[1], nnv_builder_int(&b, 0)}, sum);
    nnv_builder_add(&b, ANEURALNETWORKS_MUL, 3, (uint32_t[]){sum, in[2], nnv_builder_int(&b, 1)}, out);
    struct nnv_model model;
    struct nnv_relay_module *m = NULL;
    static const char *const names[] = {"serving/in:0", "serving/in:0", NULL};
    assert_int_equal(nnv_builder_end(&b, 3, in, 1, &out, &model, &relay_err), NNV_OK);
    if (nnv_decompile(&model, names, arena, &m, &relay_err) != NNV_OK) fail_msg("%s", relay_err.text);
    struct nnv_text t = {0};
    nnv_relay_print(m, NNV_RELAY_PRINT_META, &t);
    assert_non_null(strstr(t.data, "%serving_in_0: Tensor[(2, 3), float32], %serving_in_0_1: Tensor[(2, 3), float32], "
                                   "%x2: Tensor[(2, 3), float32]"));
    struct nnv_relay_module *again = NULL;
    if (nnv_relay_parse(t.data, t.len, "again", arena, &again, &relay_err) != NNV_OK)
        fail_msg("%s\n%s", relay_err.text, t.data);
    assert_true(nnv_relay_module_equal(m, again));
    nnv_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
