/* SPDX-License-Identifier: Apache-2.0 */
/** Whole programs partitioned by what the converter takes, regions converted, and the numbers compared. */
#include <time.h>

#include "tests/kit/convert.h"

/** Runs regions as the models that they became. */
struct regions {
    int level;
    int converted; /**< how many ran */
    char ops[1024];
};

static enum nnv_status run_region(void *ctx, const struct nnv_relay_module *m, const char *function,
                                  struct nnv_relay_datum *const *args, size_t n_args, struct nnv_arena *into,
                                  struct nnv_relay_datum **result, struct nnv_err *e) {
    struct regions *r = ctx;
    struct conversion c = {.f = nnv_relay_find(m, function)};
    const struct nnv_convert_options options = {.level = r->level};
    enum nnv_status st = nnv_convert(m, c.f, &options, into, &c.out, e);
    if (st != NNV_OK) fail_msg("%s: %s", function, e->text);
    r->converted++;
    snprintf(r->ops + strlen(r->ops), sizeof r->ops - strlen(r->ops), "%s%s", *r->ops ? " | " : "", operations(&c));
    const struct nnv_subgraph *s = &c.out.model.main;
    struct nnv_value given[16];
    struct nnv_golden golden[16];
    assert_true(n_args == s->nin && s->nin <= 16 && s->nout <= 16);
    for (size_t i = 0; i < n_args; i++) {
        const struct nnv_operand *o = &s->operands[s->in[i]];
        given[i] = (struct nnv_value){.rank = o->rank, .bytes = args[i]->n * nnv_type(o->type)->size};
        memcpy(given[i].dims, o->dims, o->rank * sizeof *o->dims);
        given[i].data = nnv_arena_alloc(into, given[i].bytes, 1);
        nnv_relay_datum_write(args[i], given[i].data);
    }
    const struct nnv_eval_options plain = {0};
    st = nnv_eval(&c.out.model, given, &plain, into, golden, e);
    if (st != NNV_OK) return st;
    const struct nnv_relay_type *type =
        c.f->type && c.f->type->kind == NNV_RELAY_FN_TYPE ? c.f->type->result : c.f->args[0]->type;
    struct nnv_relay_datum *d = NNV_NEW(into, struct nnv_relay_datum, 1), **fields = &d;
    *d = (struct nnv_relay_datum){.type = type};
    if (type->kind == NNV_RELAY_TUPLE_TYPE) {
        d->n_fields = type->n_fields;
        fields = d->fields = NNV_NEW(into, struct nnv_relay_datum *, d->n_fields);
    }
    for (size_t i = 0; i < c.out.n_results; i++) {
        const struct nnv_relay_type *t = type->kind == NNV_RELAY_TUPLE_TYPE ? type->fields[i] : type;
        if (c.out.from_input[i])
            fields[i] = args[c.out.output_of[i]];
        else if (nnv_relay_datum_read(t, golden[c.out.output_of[i]].value.data, into, &fields[i], e) != NNV_OK)
            return e->status;
    }
    *result = d;
    return NNV_OK;
}

static void partition_by_trial(struct nnv_relay_module *m, int level, struct nnv_partition *p) {
    struct nnv_pattern_table table;
    const struct nnv_convert_options options = {.level = level};
    if (nnv_pattern_load("compiler/byoc/tables/nnapi.json", arena, &table, &relay_err) != NNV_OK ||
        nnv_merge_composite(m, &table, &relay_err) != NNV_OK)
        fail_msg("%s", relay_err.text);
    struct nnv_convert_support *s = nnv_convert_support_new(m, &options, arena);
    assert_non_null(s);
    struct nnv_annotator a = nnv_convert_annotator(s);
    if (nnv_convert_dissolve(s, &relay_err) != NNV_OK || nnv_relay_check(m, &relay_err) != NNV_OK ||
        nnv_outline_flow(m, &a, "nnapi", &relay_err) != NNV_OK || nnv_relay_check(m, &relay_err) != NNV_OK ||
        nnv_partition(m, &a, NULL, p, &relay_err) != NNV_OK || nnv_relay_check(m, &relay_err) != NNV_OK)
        fail_msg("%s", relay_err.text);
}

/* Partitioned, the program gives what it gave before; its regions are these models. */
static void regions_are(const char *params, const char *body, int level, const char *ops, double most) {
    const char *text = main_of(params, body);
    struct conversion c = program(text);
    struct nnv_relay_datum *args[16], *before = NULL, *after = NULL, *a[32], *b[32];
    struct nnv_partition p = {0};
    struct regions r = {.level = level};
    const struct nnv_relay_external external = {run_region, &r};
    for (size_t i = 0; i < c.f->n_params; i++) args[i] = random_datum(c.f->params[i], i + 1);
    size_t n_args = c.f->n_params;
    if (nnv_relay_run(c.m, "main", args, n_args, NULL, arena, &before, &relay_err) != NNV_OK)
        fail_msg("%s", relay_err.text);
    partition_by_trial(c.m, level, &p);
    if (nnv_relay_run(c.m, "main", args, n_args, &external, arena, &after, &relay_err) != NNV_OK)
        fail_msg("%s", relay_err.text);
    if (strcmp(r.ops, ops) != 0) fail_msg("%s, not %s\n%s", r.ops, ops, text);
    size_t n = flat(before, a);
    assert_int_equal(flat(after, b), n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < a[i]->n; k++) {
            double by = fabs(a[i]->values[k] - b[i]->values[k]) / (1e-3 + fabs(a[i]->values[k]));
            if (nnv_relay_dtype_is_float(a[i]->type->dtype) ? by > most : a[i]->values[k] != b[i]->values[k])
                fail_msg("element %zu of %zu: %g, not %g\n%s", k, i, b[i]->values[k], a[i]->values[k], text);
        }
}

static void test_float(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(1, 3, 8, 8), float32], %kw: Tensor[(4, 3, 3, 3), float32], %kb: Tensor[(4), float32],"
                    " %kd: Tensor[(4, 1, 3, 3), float32], %kg: Tensor[(4), float32], %ke: Tensor[(4), float32],"
                    " %km: Tensor[(4), float32], %kpv: Tensor[(4), float32], %kf: Tensor[(5, 4), float32]";
    const char *body =
        "%0 = nn.conv2d(%x, %kw, padding=[1, 1], strides=[2, 2], channels=4, kernel_size=[3, 3]);"
        " %1 = nn.bias_add(%0, %kb); %2 = clip(%1, a_min=0f, a_max=6f);"
        " %3 = nn.conv2d(%2, %kd, padding=[1, 1], groups=4, channels=4, kernel_size=[3, 3]);"
        " %4 = nn.batch_norm(%3, %kg, %ke, %km, %kpv); %5 = %4.0; %6 = nn.relu(%5);"
        " %7 = nn.global_avg_pool2d(%6); %8 = nn.batch_flatten(%7); %9 = nn.dense(%8, %kf); nn.softmax(%9)";
    regions_are(p, body, 0, "CONV_2D DEPTHWISE_CONV_2D AVERAGE_POOL_2D RESHAPE FULLY_CONNECTED SOFTMAX", 1e-2);
    regions_are(p, body, 2,
                "TRANSPOSE CONV_2D DEPTHWISE_CONV_2D AVERAGE_POOL_2D TRANSPOSE RESHAPE FULLY_CONNECTED SOFTMAX", 1e-2);
}

static void test_host_between(void **state) {
    (void)state;
    regions_are("%x: Tensor[(2, 3), float32]", "%0 = nn.relu(%x); %1 = atan(%0); %2 = tanh(%1); (%0, %2)", 0,
                "RELU | TANH", 1e-6);
    /* a composite that does not convert gives its parts: the padding of the convolution is not symmetric in type */
    regions_are("%x: Tensor[(1, 3, 8, 8), float32], %kw: Tensor[(4, 3, 3, 3), float32]",
                "%0 = nn.conv2d(%x, %kw, out_layout=\"NHWC\", channels=4, kernel_size=[3, 3]); nn.relu(%0)", 0, "RELU",
                1e-6);
}

static void test_quantised(void **state) {
    (void)state;
    regions_are(
        "%x: Tensor[(1, 6, 6, 3), uint8], %kw: Tensor[(3, 3, 3, 4), uint8], %kb: Tensor[(4), int32],"
        " %kf: Tensor[(5, 4), uint8]",
        "%0 = nn.pad(%x, 120u8, pad_width=[[0, 0], [1, 1], [1, 1], [0, 0]]);"
        " %1 = qnn.conv2d(%0, %kw, 120, 130, 0.5f, 0.25f, channels=4, kernel_size=[3, 3],"
        " data_layout=\"NHWC\", kernel_layout=\"HWIO\", out_dtype=\"int32\"); %2 = nn.bias_add(%1, %kb, axis=3);"
        " %3 = qnn.requantize(%2, 0.125f, 0, 512f, 7, out_dtype=\"uint8\"); %4 = clip(%3, a_min=7f, a_max=255f);"
        " %5 = nn.max_pool2d(%4, pool_size=[6, 6], layout=\"NHWC\"); %6 = reshape(%5, newshape=[1, 4]);"
        " %7 = qnn.dense(%6, %kf, 7, 128, 512f, 0.25f, units=5, out_dtype=\"int32\");"
        " %8 = qnn.requantize(%7, 128f, 0, 20000f, 5, out_dtype=\"uint8\"); qnn.dequantize(%8, 20000f, 5)",
        0, "CONV_2D MAX_POOL_2D RESHAPE FULLY_CONNECTED DEQUANTIZE", 1e-6);
}

/* Both branches: %9, which comes first, holds and does not. */
static void chooses(const char *params, const char *body, const char *ops) {
    static const char *const conditions[][2] = {{"less", "LESS"}, {"greater", "GREATER"}};
    for (size_t i = 0; i < 2; i++)
        regions_are(nnv_arena_printf(arena, "%%s: Tensor[(), float32], %s", params),
                    nnv_arena_printf(arena, "%%9 = %s(%%s, 1000f); %s", conditions[i][0], body), 4,
                    nnv_arena_printf(arena, "%s %s", conditions[i][1], ops), 1e-5);
}

static void test_if(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32], %k: Tensor[(2, 3), float32]";
    chooses(p, "%0 = nn.relu(%x); %1 = if (%9) { tanh(%0) } else { %2 = exp(%0); add(%2, %y) }; abs(%1)",
            "RELU IF ABS");
    /* what a branch gives as it got it, a constant, and the same twice */
    chooses(p,
            "%0 = if (%9) { (%x, %x, %k) } else { %1 = tanh(%y); (%1, %1, %x) };"
            " %2 = %0.0; %3 = %0.1; %4 = %0.2; %5 = add(%2, %4); (%3, %5)",
            "IF ADD");
    /* one in the other; the condition is a value of a branch, too */
    chooses(p, "%0 = if (%9) { %1 = exp(%x); if (%9) { add(%1, %y) } else { %1 } } else { %y }; nn.relu(%0)",
            "IF RELU");
    /* a value that both take */
    chooses(p, "%0 = tanh(%x); if (%9) { %0 } else { multiply(%0, %y) }", "TANH IF");
    /* layers and what follows them */
    chooses("%x: Tensor[(1, 6, 6, 3), float32], %kw: Tensor[(3, 3, 3, 4), float32], %kb: Tensor[(4), float32]",
            "if (%9) { %0 = nn.conv2d(%x, %kw, channels=4, kernel_size=[3, 3], data_layout=\"NHWC\","
            " kernel_layout=\"HWIO\"); %1 = nn.bias_add(%0, %kb, axis=3); nn.relu(%1) } else {"
            " %2 = strided_slice(%x, begin=[0, 0, 0, 0], end=[1, 4, 4, 3]);"
            " nn.pad(%2, 0f, pad_width=[[0, 0], [0, 0], [0, 0], [0, 1]]) }",
            "IF");
    /* below level 4 the branches have regions of their own */
    regions_are("%c: bool, %x: Tensor[(2, 3), float32]",
                "%0 = nn.relu(%x); %1 = if (%c) { tanh(%0) } else { tanh(%0) }; abs(%1)", 3, "RELU | TANH | ABS", 1e-5);
}

/* A loop of up to n turns that begins with %x, whose body gives %40 from %i, %s and what is around it. */
static const char *loop(int n, const char *body, const char *end) {
    return nnv_arena_printf(arena,
                            "(let %%f = fn (%%i: int32, %%s: Tensor[(2, 3), float32]) -> %s { %%20 = less(%%i, %d);"
                            " if (%%20) { %%21 = add(%%i, 1); %s %%f(%%21, %%40) } else { %s } }; %%f)(0, %%x)",
                            *end == '(' ? "(int32, Tensor[(2, 3), float32])" : "Tensor[(2, 3), float32]", n, body, end);
}

static void test_while(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32], %k: Tensor[(2, 3), float32]";
    for (int n = 0; n < 3; n++) {
        /* all of its variables, one of them; values from outside and constants */
        regions_are(p,
                    nnv_arena_printf(arena, "%%0 = %s; %%1 = %%0.1; (%%0.0, abs(%%1))",
                                     loop(n, "%40 = multiply(%s, %y);", "(%i, %s)")),
                    4, "WHILE ABS", 1e-5);
        regions_are(p,
                    nnv_arena_printf(arena, "%%7 = tanh(%%y); %%0 = %s; abs(%%0)",
                                     loop(n, "%22 = add(%s, %7); %40 = multiply(%22, %k);", "%s")),
                    4, "TANH WHILE ABS", 1e-5);
        /* bound by a let of its own, an if in it, and one loop in the other */
        regions_are(p,
                    nnv_arena_printf(arena,
                                     "let %%f = fn (%%s: Tensor[(2, 3), float32], %%t: float32) ->"
                                     " (Tensor[(2, 3), float32], float32) { if (less(%%t, %df)) {"
                                     " %%1 = if (less(%%t, 1f)) { exp(%%s) } else { multiply(%%s, %%y) };"
                                     " %%f(%%1, add(%%t, 1f)) } else { (%%s, %%t) } };"
                                     " %%2 = %%f(tanh(%%x), 0f); %%2.0",
                                     n),
                    0, "TANH WHILE", 1e-5);
        regions_are(p,
                    nnv_arena_printf(arena, "%%0 = %s; abs(%%0)",
                                     loop(n,
                                          nnv_arena_printf(arena, "%%30 = tanh(%%s); %%40 = (let %%g = fn"
                                                                  " (%%j: int32, %%u: Tensor[(2, 3), float32]) ->"
                                                                  " Tensor[(2, 3), float32] { if (less(%%j, 2)) {"
                                                                  " %%g(add(%%j, 1), add(%%u, %%30)) } else"
                                                                  " { %%u } }; %%g)(%%i, %%s);"),
                                          "%s")),
                    0, "WHILE ABS", 1e-5);
    }
    /* below level 4 each turn is the host's, and what is in it a region */
    regions_are(p, loop(2, "%40 = tanh(%s);", "%s"), 3, "LESS | TANH | LESS | TANH | LESS", 1e-5);
}

/* What keeps an if or a loop on the host. */
static void test_flow_refused(void **state) {
    (void)state;
    const struct {
        const char *body, *why;
        int level;
    } programs[] = {
        {"if (%c) { tanh(%x) } else { %x }", "if: IF needs feature level 4 (1.3), and 3 (1.2) is the limit", 3},
        {"if (%c) { atan(%x) } else { %x }", "atan: the converter has no row for this operator", 0},
        {"if (%c) { meta[relay.Constant][0] /* ty=Tensor[(2, 3), float32] */ } else { nn.relu(ones(shape=[2, 3], "
         "dtype=\"float32\")) }",
         "if: its branches take nothing from outside, but each model of NNAPI has inputs", 0},
        {"%0 = if (%c) { qnn.dequantize(%b, 0.5f, 3) } else { %x }; %0",
         "if: bytes that stand for numbers with scale 0.5 and zero point 3 within it and scale 1 and zero point 0 "
         "outside; put a qnn.requantize between",
         0},
        {"if (%c) { %0 = fn (%v: Tensor[(2, 3), float32]) { tanh(%v) }; %0(%x) } else { %x }", NULL, 0},
        {loop(2, "%40 = tanh(%s);", "%s"), "while: WHILE needs feature level 4 (1.3), and 3 (1.2) is the limit", 3},
        {loop(2, "%40 = atan(%s);", "%s"), "atan: the converter has no row for this operator", 0},
        {loop(2, "%40 = tanh(%s);", "abs(%s)"),
         "while: it ends with something else than its variables, each once at most", 0},
        {loop(2, "%40 = tanh(%s);", "%x"), "while: it ends with something else than its variables, each once at most",
         0},
        {"(let %f = fn (%i: int64) -> int64 { if (less(%i, 3i64)) { %f(add(%i, 1i64)) } else { %i } }; %f)(0i64)",
         "while: operand 0 is of int64; converted are bool, int8, int32, uint8, float16, float32", 0},
        /* calls itself twice in a turn, or in both branches */
        {loop(2, "%40 = %f(%i, tanh(%s));", "%s"), NULL, 0},
        {loop(2, "%40 = tanh(%s);", "%f(%i, %s)"), NULL, 0},
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct nnv_relay_module *m =
            checked(main_of("%c: bool, %x: Tensor[(2, 3), float32], %b: Tensor[(2, 3), uint8]", programs[i].body));
        const struct nnv_convert_options options = {.level = programs[i].level};
        struct nnv_convert_support *s = nnv_convert_support_new(m, &options, arena);
        struct nnv_annotator a = nnv_convert_annotator(s);
        const struct nnv_relay_expr *choice = nnv_relay_find(m, "main")->args[0];
        struct nnv_text before = {0}, after = {0};
        nnv_relay_print(m, 0, &before);
        if (nnv_outline_flow(m, &a, "nnapi", &relay_err) != NNV_OK) fail_msg("%s", relay_err.text);
        nnv_relay_print(m, 0, &after);
        assert_string_equal(after.data, before.data);
        const char *why = nnv_convert_refusal(s, choice);
        if (!why != !programs[i].why || (why && strcmp(why, programs[i].why) != 0))
            fail_msg("program %zu: %s", i, why ? why : "taken");
        nnv_text_free(&before);
        nnv_text_free(&after);
    }
}

/* What is not on the list that narrows the target stays, and with it the if. */
static bool takes_no_tanh(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct nnv_annotator *converter = ctx;
    return !nnv_relay_is_op(call, "tanh") && converter->accepts(converter->ctx, target, call);
}

static bool takes_composite(void *ctx, size_t target, const struct nnv_relay_expr *call) {
    const struct nnv_annotator *converter = ctx;
    return converter->accepts_composite(converter->ctx, target, call);
}

static void test_if_by_list(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct nnv_relay_module *m =
            checked(main_of("%c: bool, %x: Tensor[(2, 3), float32]",
                            i ? "if (%c) { abs(%x) } else { %x }" : "if (%c) { tanh(%x) } else { %x }"));
        const struct nnv_convert_options options = {0};
        struct nnv_annotator converter = nnv_convert_annotator(nnv_convert_support_new(m, &options, arena)),
                             a = converter;
        a.accepts = takes_no_tanh;
        a.accepts_composite = takes_composite;
        a.ctx = &converter;
        assert_int_equal(nnv_outline_flow(m, &a, "nnapi", &relay_err), NNV_OK);
        assert_int_equal(nnv_composite_name(nnv_relay_find(m, "main")->args[0]) != NULL, i);
    }
}

static void test_table(void **state) {
    (void)state;
    regions_are("%x: Tensor[(1, 4, 4, 2), uint8], %kw: Tensor[(2, 3, 3, 2), uint8], %kb: Tensor[(3), int32]",
                "%0 = qnn.conv2d_transpose(%x, %kw, 120, 130, 0.5f, 0.25f, channels=3, kernel_size=[3, 2],"
                " data_layout=\"NHWC\", out_dtype=\"int32\"); %1 = nn.bias_add(%0, %kb, axis=3);"
                " %2 = qnn.requantize(%1, 0.125f, 0, 256f, 7, out_dtype=\"uint8\");"
                " qnn.dequantize(%2, 256f, 7)",
                0, "TRANSPOSE_CONV_2D DEQUANTIZE", 1e-6);
    /* windows of one element: nothing to round */
    static const char *const pools[] = {"nn.avg_pool2d(%0, layout=\"NHWC\", pool_size=[1, 1])",
                                        "nn.global_avg_pool2d(%0, layout=\"NHWC\")",
                                        "nn.adaptive_avg_pool2d(%0, layout=\"NHWC\", output_size=[1, 1])"};
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
        regions_are("%x: Tensor[(1, 1, 1, 3), uint8]",
                    nnv_arena_printf(arena,
                                     "%%0 = cast(%%x, dtype=\"int32\"); %%1 = %s; %%2 = cast(%%1, dtype=\"uint8\");"
                                     " qnn.dequantize(%%2, 0.5f, 7)",
                                     pools[i]),
                    0, "AVERAGE_POOL_2D DEQUANTIZE", 1e-6);
}

static void test_reasons(void **state) {
    (void)state;
    struct conversion c = program(main_of("%x: Tensor[(2, 3), float32]", "%0 = atan(%x); nn.relu(%0)"));
    const struct nnv_convert_options options = {.level = 1};
    struct nnv_convert_support *s = nnv_convert_support_new(c.m, &options, arena);
    struct nnv_annotator a = nnv_convert_annotator(s);
    const struct nnv_relay_expr *relu = c.f->args[0], *atan_call = relu->args[0];
    assert_null(nnv_convert_refusal(s, atan_call));
    assert_int_equal(nnv_annotate(&a, atan_call), NNV_HOST);
    assert_int_equal(nnv_annotate(&a, relu), 0);
    assert_string_equal(nnv_convert_refusal(s, atan_call), "atan: the converter has no row for this operator");
    assert_null(nnv_convert_refusal(s, relu));
}

/* Constants of equal shape but other values may be refused; calls of equal structure are tried once. */
static void test_structures(void **state) {
    (void)state;
    struct conversion c =
        program(main_of("%x: Tensor[(2, 3), uint8]", "%0 = qnn.dequantize(%x, 1f, 3); %1 = qnn.dequantize(%x, 0f, 3);"
                                                     " %2 = qnn.dequantize(%x, 1f, 3); (%0, %1, %2)"));
    const struct nnv_convert_options options = {0};
    struct nnv_convert_support *s = nnv_convert_support_new(c.m, &options, arena);
    struct nnv_annotator a = nnv_convert_annotator(s);
    const struct nnv_relay_expr *tuple = c.f->args[0];
    assert_int_equal(nnv_annotate(&a, tuple->args[0]), 0);
    assert_int_equal(nnv_annotate(&a, tuple->args[1]), NNV_HOST);
    assert_int_equal(nnv_annotate(&a, tuple->args[2]), 0);
}

static void test_long_chain(void **state) {
    (void)state;
    enum { N = 20000 };
    struct nnv_text t = {0};
    nnv_text_add(&t, "def @main(%x: Tensor[(2, 3), float32], %ky: Tensor[(2, 3), float32]) {\n %0 = nn.relu(%x);\n");
    for (int i = 1; i < N; i++)
        nnv_text_addf(&t, " %%%d = %s;\n", i,
                      i % 2 ? nnv_arena_printf(arena, "add(%%%d, %%ky)", i - 1)
                            : nnv_arena_printf(arena, "tanh(%%%d)", i - 1));
    nnv_text_addf(&t, " nn.relu(%%%d)\n}", N - 1);
    struct conversion c = program(t.data);
    const struct nnv_convert_options options = {0};
    clock_t start = clock();
    if (nnv_convert(c.m, c.f, &options, arena, &c.out, &relay_err) != NNV_OK) fail_msg("%s", relay_err.text);
    double converted_in = (double)(clock() - start) / CLOCKS_PER_SEC;
    struct nnv_partition p = {0};
    start = clock();
    partition_by_trial(c.m, 0, &p);
    double partitioned_in = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%d operations: converted in %.2f s, partitioned by trial in %.2f s\n", N, converted_in,
                  partitioned_in);
    assert_int_equal(p.n_extracted, 1);
    assert_true(converted_in < 10 && partitioned_in < 10);
    nnv_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_float, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_host_between, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_quantised, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_if, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_while, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_flow_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_if_by_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reasons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_structures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_chain, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
