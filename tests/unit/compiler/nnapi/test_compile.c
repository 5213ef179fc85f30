/* SPDX-License-Identifier: Apache-2.0 */
/* From a module to regions: what is converted, what is given back, and that no operand is left over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/nnapi/compile.h"
#include "compiler/nnapi/program/program.h"
#include "compiler/relay/interp/interp.h"
#include "tests/kit/emit.h"
#include "tests/kit/arena.h"

static struct nnv_compiled compiled;
static struct nnv_err err;

static int drop(void **state) {
    nnv_compiled_free(&compiled);
    compiled = (struct nnv_compiled){0};
    return tear_down(state);
}

static struct nnv_relay_module *parse(const char *text) {
    struct nnv_relay_module *m = NULL;
    if (nnv_compile_load(text, strlen(text), "test", NULL, arena, &m, &err) != NNV_OK) fail_msg("%s", err.text);
    return m;
}

static void compile(const char *text, struct nnv_compile_options options) {
    if (nnv_compile_module(parse(text), &options, arena, &compiled, &err) != NNV_OK) fail_msg("%s", err.text);
}

/** "name:operations/level" for each region. */
static void check_regions(const char *wanted) {
    struct nnv_text t = {0};
    for (size_t i = 0; i < compiled.n_regions; i++)
        nnv_text_addf(&t, "%s%s:%u/%d", i ? " " : "", compiled.regions[i].function,
                      compiled.regions[i].converted->model.main.noperations, compiled.regions[i].converted->level);
    assert_string_equal(t.data ? t.data : "", wanted);
    nnv_text_free(&t);
}

static const char sum[] = "def @main(%x: Tensor[(2, 4), float32], %y: Tensor[(2, 4), float32]) {\n"
                          "  %0 = add(%x, %y);\n"
                          "  %1 = atan(%0);\n"
                          "  nn.relu(%1)\n"
                          "}\n";

static void operators_without_conversion_stay(void **state) {
    (void)state;
    compile(sum, (struct nnv_compile_options){0});
    check_regions("tvmgen_default_nnapi_main_0:1/1 tvmgen_default_nnapi_main_1:1/1");
    assert_int_equal(compiled.partition.n_host, 1);
    assert_string_equal(compiled.partition.host[0], "atan");
    assert_int_equal(compiled.n_refused, 0);
}

/* exp is an operation of level 3. */
static void levels_limit_regions(void **state) {
    (void)state;
    static const char text[] = "def @main(%x: Tensor[(2, 4), float32]) { tanh(exp(%x)) }";
    compile(text, (struct nnv_compile_options){.level = 2});
    check_regions("tvmgen_default_nnapi_main_0:1/1");
    nnv_compiled_free(&compiled);
    compile(text, (struct nnv_compile_options){.level = 3});
    check_regions("tvmgen_default_nnapi_main_0:2/3");
}

/* A model of NNAPI has inputs: a region of constants alone is the host's, and is no region any more. */
static void regions_of_constants_are_given_back(void **state) {
    (void)state;
    compile("def @main(%x: Tensor[(2), float32]) {\n"
            "  %0 = qnn.dequantize(qnn.quantize(1f, 0.5f, 3, out_dtype=\"uint8\"), 0.5f, 3);\n"
            "  %1 = atan(%x);\n  add(%1, atan(%0))\n}\n",
            (struct nnv_compile_options){0});
    assert_int_equal(compiled.n_refused, 1);
    assert_non_null(strstr(compiled.refused[0].reason, "it has no inputs"));
    const struct nnv_relay_expr *f = nnv_relay_find(compiled.m, compiled.refused[0].function);
    assert_non_null(f);
    assert_null(nnv_relay_fn_attr(f, "Compiler"));
    for (size_t i = 0; i < compiled.n_regions; i++)
        assert_string_not_equal(compiled.regions[i].function, compiled.refused[0].function);
}

/* Functions that were regions before are converted under their own names, if these can be names of classes. */
static void regions_of_before_are_converted(void **state) {
    (void)state;
    compile(
        "def @main(%x: Tensor[(2), float32]) { @mine(@no.class(%x)) }\n"
        "def @mine(%i: Tensor[(2), float32], Compiler=\"nnapi\", Primitive=1) -> Tensor[(2), float32] { tanh(%i) }\n"
        "def @no.class(%i: Tensor[(2), float32], Compiler=\"nnapi\") -> Tensor[(2), float32] { tanh(%i) }\n",
        (struct nnv_compile_options){0});
    check_regions("mine:1/1");
    assert_int_equal(compiled.n_refused, 1);
    assert_string_equal(compiled.refused[0].reason, "its name is no C identifier");
}

/* What was divided gives the values of the program before, to the last bit: the interpreter is told of no region. */
static void the_divided_program_is_the_program(void **state) {
    (void)state;
    struct nnv_relay_datum *args[2], *before = NULL, *after = NULL;
    compile(sum, (struct nnv_compile_options){0});
    struct nnv_relay_module *m = parse(sum);
    for (size_t i = 0; i < 2; i++)
        args[i] = nnv_relay_datum_random(nnv_relay_find(m, "main")->params[i]->type, 7 + i, arena);
    assert_int_equal(nnv_relay_run(m, "main", args, 2, NULL, arena, &before, &err), NNV_OK);
    assert_int_equal(nnv_relay_run(compiled.m, "main", args, 2, NULL, arena, &after, &err), NNV_OK);
    assert_int_equal(before->n, 8);
    assert_int_equal(after->n, 8);
    assert_memory_equal(before->values, after->values, 8 * sizeof *before->values);
}

static void programs_without_main_are_refused(void **state) {
    (void)state;
    const struct nnv_compile_options options = {0};
    struct nnv_relay_module *m = parse("def @f(%x: Tensor[(2), float32]) { tanh(%x) }");
    assert_int_equal(nnv_compile_module(m, &options, arena, &compiled, &err), NNV_INVALID);
    assert_string_equal(err.text, "test: there is no function @main");
}

/* A filter whose layout is changed and a folded zero point leave no operand behind that nothing reads or writes. */
static void operands_that_nothing_reads_are_not_kept(void **state) {
    (void)state;
    compile("def @main(%x: Tensor[(1, 3, 4, 4), float32], %w: Tensor[(2, 3, 1, 1), float32]) {\n"
            "  %0 = nn.conv2d(%x, %w, channels=2, kernel_size=[1, 1]);\n"
            "  %1 = nn.relu(%0);\n"
            "  reshape(%1, newshape=[2, 16])\n"
            "}\n",
            (struct nnv_compile_options){0});
    assert_int_equal(compiled.n_regions, 1);
    const struct nnv_subgraph *s = &compiled.regions[0].converted->model.main;
    assert_true(s->noperations > 1);
    for (uint32_t o = 0; o < s->noperands; o++) {
        bool used = false;
        for (uint32_t i = 0; i < s->nin; i++) used |= s->in[i] == o;
        for (uint32_t k = 0; k < s->noperations; k++) {
            for (uint32_t i = 0; i < s->operations[k].nin; i++) used |= s->operations[k].in[i] == o;
            for (uint32_t i = 0; i < s->operations[k].nout; i++) used |= s->operations[k].out[i] == o;
        }
        if (!used) fail_msg("operand %u is not used", o);
    }
}

/* Inputs keep their numbers, types and names, however many there are; here the first and the last are the result. */
static void plans_hold_any_number_of_tensors(void **state) {
    (void)state;
    enum { MANY = 150 };
    struct nnv_text t = {0};
    struct nnv_program p;
    for (int i = 0; i < MANY; i++)
        nnv_text_addf(&t, "%s%%x%d: Tensor[(%d), float32]", i ? ", " : "def @main(", i, i + 1);
    nnv_text_addf(&t, ") { (%%x0, %%x%d) }", MANY - 1);
    if (nnv_program_plan(parse(t.data), NULL, 0, arena, &p, &err) != NNV_OK) fail_msg("%s", err.text);
    nnv_text_free(&t);
    assert_int_equal(p.n_inputs, MANY);
    for (size_t i = 0; i < MANY; i++) {
        const struct nnv_program_tensor *x = &p.tensors[p.inputs[i]];
        char name[16];
        snprintf(name, sizeof name, "%%x%zu", i);
        assert_int_equal(x->place, NNV_PROGRAM_INPUT);
        assert_int_equal(x->elems, i + 1);
        assert_non_null(x->type);
        assert_string_equal(x->name, name);
    }
    assert_int_equal(p.n_outputs, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(operators_without_conversion_stay, set_up, drop),
        cmocka_unit_test_setup_teardown(levels_limit_regions, set_up, drop),
        cmocka_unit_test_setup_teardown(regions_of_constants_are_given_back, set_up, drop),
        cmocka_unit_test_setup_teardown(regions_of_before_are_converted, set_up, drop),
        cmocka_unit_test_setup_teardown(the_divided_program_is_the_program, set_up, drop),
        cmocka_unit_test_setup_teardown(programs_without_main_are_refused, set_up, drop),
        cmocka_unit_test_setup_teardown(operands_that_nothing_reads_are_not_kept, set_up, drop),
        cmocka_unit_test_setup_teardown(plans_hold_any_number_of_tensors, set_up, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
