/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Every row of the converter: a program that converts at the row's level, gives what the interpreter gives, and is
 * refused one level below; and docs/compiler-operators.md, which says what the rows say.
 */
#include "convert_fixture.h"

#include "base/file.h"
#include "compiler/convert_in.h"
#include "compiler/lift.h"

#define M "%x: Tensor[(2, 3), float32]"
#define MM "%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]"
#define P "%p: Tensor[(2, 3), float32]"
#define T "%x: Tensor[(1, 4, 6, 4), float32]"
#define NHWC "layout=\"NHWC\""
#define Q "%x: Tensor[(2, 3), uint8]"
#define QQ "%x: Tensor[(2, 3), uint8], %y: Tensor[(2, 3), uint8]"
#define BB "%x: Tensor[(2, 3), bool], %y: Tensor[(2, 3), bool]"

static const struct {
    const char *op, *params, *body;
} programs[] = {
    {"nn.conv2d", T ", %kw: Tensor[(3, 2, 4, 5), float32]",
     "nn.conv2d(%x, %kw, channels=5, kernel_size=[3, 2], data_layout=\"NHWC\", kernel_layout=\"HWIO\")"},
    {"nn.conv2d_transpose", T ", %kw: Tensor[(4, 5, 3, 2), float32]",
     "nn.conv2d_transpose(%x, %kw, channels=5, kernel_size=[3, 2], data_layout=\"NHWC\", strides=[2, 1])"},
    {"nn.dense", M ", %kw: Tensor[(4, 3), float32]", "nn.dense(%x, %kw)"},
    {"nn.batch_matmul", "%x: Tensor[(1, 2, 3), float32], %kw: Tensor[(1, 4, 3), float32]", "nn.batch_matmul(%x, %kw)"},
    {"nn.matmul", M ", %kw: Tensor[(3, 4), float32]", "nn.matmul(%x, %kw)"},
    {"qnn.conv2d", "%x: Tensor[(1, 4, 5, 2), uint8], %kw: Tensor[(3, 2, 2, 5), uint8]",
     "%0 = qnn.conv2d(%x, %kw, 120, 130, 0.5f, 0.25f, channels=5, kernel_size=[3, 2], data_layout=\"NHWC\","
     " kernel_layout=\"HWIO\", out_dtype=\"int32\"); qnn.requantize(%0, 0.125f, 0, 128f, 7, out_dtype=\"uint8\")"},
    {"qnn.conv2d_transpose", "%x: Tensor[(1, 4, 5, 2), uint8], %kw: Tensor[(2, 5, 3, 2), uint8]",
     "%0 = qnn.conv2d_transpose(%x, %kw, 120, 130, 0.5f, 0.25f, channels=5, kernel_size=[3, 2], data_layout=\"NHWC\","
     " out_dtype=\"int32\"); qnn.requantize(%0, 0.125f, 0, 128f, 7, out_dtype=\"uint8\")"},
    {"qnn.dense", "%x: Tensor[(2, 3), uint8], %kw: Tensor[(4, 3), uint8]",
     "%0 = qnn.dense(%x, %kw, 120, 130, 0.5f, 0.25f, units=4);"
     " qnn.requantize(%0, 0.125f, 0, 64f, 7, out_dtype=\"uint8\")"},
    {"nn.max_pool2d", T, "nn.max_pool2d(%x, pool_size=[3, 2], " NHWC ")"},
    {"nn.avg_pool2d", T, "nn.avg_pool2d(%x, pool_size=[3, 2], " NHWC ")"},
    {"nn.global_max_pool2d", T, "nn.global_max_pool2d(%x, " NHWC ")"},
    {"nn.global_avg_pool2d", T, "nn.global_avg_pool2d(%x, " NHWC ")"},
    {"nn.adaptive_avg_pool2d", T, "nn.adaptive_avg_pool2d(%x, output_size=[2, 3], " NHWC ")"},
    {"nn.adaptive_max_pool2d", T, "nn.adaptive_max_pool2d(%x, output_size=[2, 3], " NHWC ")"},
    {"image.resize2d", T, "image.resize2d(%x, size=[7, 3], coordinate_transformation_mode=\"asymmetric\", " NHWC ")"},
    {"nn.upsampling", T, "nn.upsampling(%x, scale_h=2f, scale_w=3f, method=\"bilinear\", " NHWC ")"},
    {"add", MM, "add(%x, %y)"},
    {"subtract", MM, "subtract(%x, %y)"},
    {"multiply", MM, "multiply(%x, %y)"},
    {"divide", MM, "divide(%x, %y)"},
    {"floor_divide", MM, "floor_divide(%x, %y)"},
    {"power", P ", %y: Tensor[(3), float32]", "power(%p, %y)"},
    {"maximum", MM, "maximum(%x, %y)"},
    {"minimum", MM, "minimum(%x, %y)"},
    {"equal", MM, "equal(%x, %y)"},
    {"not_equal", MM, "not_equal(%x, %y)"},
    {"less", MM, "less(%x, %y)"},
    {"less_equal", MM, "less_equal(%x, %y)"},
    {"greater", MM, "greater(%x, %y)"},
    {"greater_equal", MM, "greater_equal(%x, %y)"},
    {"logical_and", BB, "logical_and(%x, %y)"},
    {"logical_or", BB, "logical_or(%x, %y)"},
    {"logical_xor", BB, "logical_xor(%x, %y)"},
    {"logical_not", "%x: Tensor[(2, 3), bool]", "logical_not(%x)"},
    {"abs", M, "abs(%x)"},
    {"negative", M, "negative(%x)"},
    {"exp", M, "exp(%x)"},
    {"log", P, "log(%p)"},
    {"sqrt", P, "sqrt(%p)"},
    {"rsqrt", P, "rsqrt(%p)"},
    {"sin", M, "sin(%x)"},
    {"floor", M, "floor(%x)"},
    {"ceil", M, "ceil(%x)"},
    {"tanh", M, "tanh(%x)"},
    {"sigmoid", M, "sigmoid(%x)"},
    {"nn.relu", M, "nn.relu(%x)"},
    {"clip", M, "clip(%x, a_min=-1f, a_max=1f)"},
    {"nn.leaky_relu", M, "nn.leaky_relu(%x, alpha=0.125f)"},
    {"nn.prelu", M ", %ka: Tensor[(3), float32]", "nn.prelu(%x, %ka)"},
    {"cast", M, "cast(%x, dtype=\"int32\")"},
    {"copy", M, "copy(%x)"},
    {"nn.dropout", M, "%0 = nn.dropout(%x); %1 = %0.0; nn.relu(%1)"},
    {"zeros", M, "%0 = zeros(shape=[2, 3], dtype=\"float32\"); add(%x, %0)"},
    {"ones", M, "%0 = ones(shape=[2, 3], dtype=\"float32\"); add(%x, %0)"},
    {"full", M, "%0 = full(0.5f, shape=[2, 3], dtype=\"float32\"); add(%x, %0)"},
    {"full_like", M, "%0 = full_like(%x, 0.5f); (%0, %x)"},
    {"zeros_like", M, "%0 = zeros_like(%x); (%0, %x)"},
    {"ones_like", M, "%0 = ones_like(%x); (%0, %x)"},
    {"reshape", M, "reshape(%x, newshape=[6])"},
    {"nn.batch_flatten", T, "nn.batch_flatten(%x)"},
    {"squeeze", T, "squeeze(%x)"},
    {"expand_dims", M, "expand_dims(%x, axis=1)"},
    {"reshape_like", M ", %y: Tensor[(6), float32]", "reshape_like(%x, %y)"},
    {"transpose", "%x: Tensor[(1, 3), float32]", "transpose(%x)"},
    {"concatenate", MM, "%0 = (%x, %y); concatenate(%0, axis=1)"},
    {"stack", MM, "%0 = (%x, %y); stack(%0, axis=1)"},
    {"split", T, "split(%x, indices_or_sections=2, axis=1)"},
    {"strided_slice", M, "strided_slice(%x, begin=[0, 1], end=[2, 3])"},
    {"nn.pad", M, "nn.pad(%x, 0f, pad_width=[[0, 1], [2, 0]])"},
    {"nn.mirror_pad", M, "nn.mirror_pad(%x, pad_width=[[0, 1], [2, 0]])"},
    {"tile", M, "tile(%x, reps=[2, 3])"},
    {"broadcast_to", M, "broadcast_to(%x, shape=[4, 2, 3])"},
    {"broadcast_to_like", M ", %y: Tensor[(4, 2, 3), float32]", "broadcast_to_like(%x, %y)"},
    {"repeat", M, "repeat(%x, repeats=2, axis=1)"},
    {"reverse", M, "reverse(%x, axis=1)"},
    {"nn.depth_to_space", T, "nn.depth_to_space(%x, block_size=2, " NHWC ")"},
    {"nn.space_to_depth", T, "nn.space_to_depth(%x, block_size=2, " NHWC ")"},
    {"nn.space_to_batch_nd", T, "nn.space_to_batch_nd(%x, block_shape=[2, 3], paddings=[[0, 0], [0, 0]])"},
    {"nn.batch_to_space_nd", "%x: Tensor[(6, 2, 2, 1), float32]",
     "nn.batch_to_space_nd(%x, block_shape=[2, 3], crops=[[0, 0], [0, 0]])"},
    {"qnn.concatenate", QQ, "%0 = (%x, %y); %1 = (0.5f, 0.5f); %2 = (3, 3); qnn.concatenate(%0, %1, %2, 0.5f, 3)"},
    {"take", M ", %i: Tensor[(4), int32]", "take(%x, %i, axis=1)"},
    {"where", "%x: Tensor[(2, 3), bool], %y: Tensor[(2, 3), float32]", "where(%x, %y, 0f)"},
    {"topk", M, "topk(%x, k=2, dtype=\"int32\")"},
    {"argmax", M, "argmax(%x, axis=1)"},
    {"argmin", M, "argmin(%x, axis=1)"},
    {"mean", M, "mean(%x, axis=[1])"},
    {"sum", M, "sum(%x, axis=[1])"},
    {"prod", M, "prod(%x, axis=[1])"},
    {"max", M, "max(%x, axis=[1])"},
    {"min", M, "min(%x, axis=[1])"},
    {"all", "%x: Tensor[(2, 3), bool]", "all(%x, axis=[1])"},
    {"any", "%x: Tensor[(2, 3), bool]", "any(%x, axis=[1])"},
    {"nn.softmax", M, "nn.softmax(%x)"},
    {"nn.log_softmax", M, "nn.log_softmax(%x)"},
    {"nn.bias_add", M ", %kb: Tensor[(3), float32]", "nn.bias_add(%x, %kb)"},
    {"nn.batch_norm",
     M ", %kg: Tensor[(3), float32], %kb: Tensor[(3), float32], %km: Tensor[(3), float32], %kpv: Tensor[(3), float32]",
     "%0 = nn.batch_norm(%x, %kg, %kb, %km, %kpv); %0.0"},
    {"nn.instance_norm", T ", %kg: Tensor[(4), float32], %kb: Tensor[(4), float32]",
     "nn.instance_norm(%x, %kg, %kb, axis=3)"},
    {"nn.lrn", T, "nn.lrn(%x, size=3, axis=3, alpha=0.75f)"},
    {"nn.l2_normalize", M, "nn.l2_normalize(%x, eps=0.25f, axis=[1])"},
    {"qnn.quantize", M, "qnn.quantize(%x, 0.03125f, 100, out_dtype=\"uint8\")"},
    {"qnn.dequantize", Q, "qnn.dequantize(%x, 0.5f, 100)"},
    {"qnn.requantize", Q, "qnn.requantize(%x, 0.5f, 100, 0.75f, 110, out_dtype=\"uint8\")"},
    {"qnn.sigmoid", Q, "qnn.sigmoid(%x, 0.0625f, 128, 0.00390625f, 0)"},
    {"qnn.tanh", Q, "qnn.tanh(%x, 0.0625f, 128, 0.0078125f, 128)"},
    {"qnn.exp", Q, "qnn.exp(%x, 0.0078125f, 128, 0.015625f, 0)"},
    {"qnn.log", Q, "qnn.log(%x, 0.0625f, 0, 0.03125f, 128)"},
    {"qnn.sqrt", Q, "qnn.sqrt(%x, 0.0625f, 0, 0.03125f, 0)"},
    {"qnn.rsqrt", Q, "qnn.rsqrt(%x, 0.0625f, 0, 0.03125f, 0)"},
    {"qnn.abs", Q, "qnn.abs(%x, 0.0625f, 128, 0.0625f, 0)"},
    {"qnn.add", QQ, "qnn.add(%x, %y, 0.5f, 100, 0.5f, 90, 1f, 110)"},
    {"qnn.subtract", QQ, "qnn.subtract(%x, %y, 0.5f, 100, 0.5f, 90, 1f, 110)"},
    {"qnn.mul", QQ, "qnn.mul(%x, %y, 0.5f, 100, 0.5f, 90, 32f, 110)"},
};

static size_t program_of(const char *op) {
    size_t i = 0, n = sizeof programs / sizeof *programs;
    while (i < n && strcmp(programs[i].op, op) != 0) i++;
    if (i == n) fail_msg("no program for %s", op);
    return i;
}

/* An operation of a model that the row does not name, beside changes of shape, which any may need; NULL: there is none.
 */
static const char *unnamed(const struct conversion *c, const char *makes) {
    for (uint32_t i = 0; i < c->out.model.main.noperations; i++) {
        const char *name = nnv_op(c->out.model.main.operations[i].type)->name, *at = strstr(makes, name);
        if (!at && strcmp(name, "RESHAPE") != 0 && strcmp(name, "TRANSPOSE") != 0) return name;
    }
    return NULL;
}

static void test_rows(void **state) {
    (void)state;
    const struct nnv_rc_row *row;
    size_t n = 0;
    for (; (row = nnv_rc_row_at(n)); n++) {
        size_t i = program_of(row->name);
        const char *text = main_of(programs[i].params, programs[i].body);
        double by = compare(text, row->level, NULL);
        bool quantised = strncmp(row->name, "qnn.", 4) == 0;
        if (!(by <= (quantised ? 1 : 1e-4))) fail_msg("%s differs by %g", row->name, by);
        struct conversion c = converted(text, row->level);
        const char *other = unnamed(&c, row->makes);
        if (row->makes[0] != '(' && other) fail_msg("%s becomes %s, which its row does not name", row->name, other);
        if (row->level == 1) continue;
        c = converted(text, row->level - 1);
        if (c.st != NNV_UNSUPPORTED || !strstr(err.text, "level"))
            fail_msg("%s at level %d: status %d, %s", row->name, row->level - 1, (int)c.st, err.text);
    }
    assert_int_equal(n, sizeof programs / sizeof *programs);
    assert_true(n >= 60);
}

static const char *replaced(const char *text, const char *old, const char *now) {
    struct nnv_text t = {0};
    for (const char *at; (at = strstr(text, old)); text = at + strlen(old)) {
        nnv_text_add_n(&t, text, (size_t)(at - text));
        nnv_text_add(&t, now);
    }
    nnv_text_add(&t, text);
    const char *kept = nnv_arena_strdup(arena, t.data);
    nnv_text_free(&t);
    return kept;
}

/* Each row takes the types that it names, and no others that the operator itself takes. */
static void test_types(void **state) {
    (void)state;
    static const enum nnv_relay_dtype types[] = {NNV_RELAY_FLOAT16, NNV_RELAY_INT32, NNV_RELAY_INT8,
                                                 NNV_RELAY_UINT8,   NNV_RELAY_INT64, NNV_RELAY_FLOAT64};
    const struct nnv_rc_row *row;
    size_t tried = 0;
    for (size_t n = 0; (row = nnv_rc_row_at(n)); n++) {
        size_t i = program_of(row->name);
        if (strstr(programs[i].params, "bool") || strstr(programs[i].params, "uint8")) continue;
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
            const char *params = replaced(programs[i].params, "float32", nnv_relay_dtype_name(types[k]));
            const char *text = main_of(params, programs[i].body);
            struct nnv_relay_module *m = NULL;
            if (nnv_relay_parse(text, strlen(text), "a.relay", arena, &m, NULL) != NNV_OK ||
                nnv_relay_check(m, NULL) != NNV_OK)
                continue; /* the operator has no such type */
            struct conversion c = converted(text, 0);
            bool named = row->types >> types[k] & 1;
            if (strstr(err.text, "bilinear means of integers")) continue; /* the row is right for the nearest */
            if ((c.st == NNV_OK) != named)
                fail_msg("%s of %s: %s", row->name, nnv_relay_dtype_name(types[k]), named ? err.text : "converts");
            tried++;
        }
    }
    assert_true(tried > 200);
}

/* The program of a row gives what its model gives as a Relay program again; false: the model has no Relay form. */
static bool lifts(size_t i, const struct nnv_rc_row *row) {
    const char *text = main_of(programs[i].params, programs[i].body);
    struct conversion c = converted(text, 0);
    struct nnv_relay_module *m = NULL;
    struct nnv_relay_datum *args[16], *before = NULL, *after = NULL, *a[32], *b[32];
    enum nnv_status st = nnv_lift(&c.out.model, NULL, arena, &m, &err);
    if (st == NNV_UNSUPPORTED) return false;
    if (st != NNV_OK) fail_msg("%s: %s", row->name, err.text);
    for (size_t k = 0; k < c.f->n_params; k++) args[k] = random_datum(c.f->params[k], k + 1);
    if (nnv_relay_run(c.m, "main", args, c.f->n_params, NULL, arena, &before, &err) != NNV_OK ||
        nnv_relay_run(m, "main", args, c.f->n_params, NULL, arena, &after, &err) != NNV_OK)
        fail_msg("%s: %s", row->name, err.text);
    size_t n = flat(before, a), outputs = flat(after, b);
    assert_int_equal(outputs, c.out.model.main.nout);
    for (size_t k = 0; k < n; k++) {
        if (c.out.from_input[k]) continue;
        const struct nnv_relay_datum *was = a[k], *is = b[c.out.output_of[k]];
        assert_int_equal(was->n, is->n);
        double most = nnv_relay_dtype_is_float(was->type->dtype) ? 1e-4 : strncmp(row->name, "qnn.", 4) == 0 ? 1 : 0;
        for (size_t j = 0; j < was->n; j++)
            if (fabs(was->values[j] - is->values[j]) > most * (1 + (most < 1 ? fabs(was->values[j]) : 0)))
                fail_msg("%s: element %zu is %g, not %g", row->name, j, is->values[j], was->values[j]);
    }
    /* and it converts again */
    const struct nnv_convert_options options = {0};
    struct nnv_converted again;
    if (nnv_convert(m, nnv_relay_find(m, "main"), &options, arena, &again, &err) != NNV_OK)
        fail_msg("%s, converted again: %s", row->name, err.text);
    return true;
}

static void test_there_and_back(void **state) {
    (void)state;
    const struct nnv_rc_row *row;
    size_t n = 0;
    for (; (row = nnv_rc_row_at(n)); n++) {
        if (!lifts(program_of(row->name), row)) fail_msg("no way back: %s: %s", row->name, err.text);
    }
    assert_true(n >= 90);
}

/* Each operator is known to the type checker and the interpreter, and has one row. */
static void test_names(void **state) {
    (void)state;
    const struct nnv_rc_row *row;
    for (size_t i = 0; (row = nnv_rc_row_at(i)); i++) {
        if (!nnv_relay_runs(row->name)) fail_msg("the interpreter does not know %s", row->name);
        assert_ptr_equal(nnv_rc_row(row->name), row);
    }
}

/* ------------------------------------------------------------- documentation */

static void types_of(struct nnv_text *t, const struct nnv_rc_row *row) {
    static const enum nnv_relay_dtype order[] = {NNV_RELAY_FLOAT32, NNV_RELAY_FLOAT16, NNV_RELAY_INT32,
                                                 NNV_RELAY_INT8,    NNV_RELAY_UINT8,   NNV_RELAY_BOOL};
    size_t start = t->len;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (row->types >> order[i] & 1)
            nnv_text_addf(t, "%s%s", t->len > start ? " " : "", nnv_relay_dtype_name(order[i]));
    if (row->flags & NNV_RC_REAL) nnv_text_add(t, t->len > start ? ", quantised" : "quantised");
    if (t->len == start) nnv_text_add(t, "float32 float16 int32 int8 uint8 bool");
}

static void test_documentation(void **state) {
    (void)state;
    struct nnv_text t = {0};
    const struct nnv_rc_row *row;
    nnv_text_add(&t, "| operator | NNAPI operations | from level | types of operand 0 |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; (row = nnv_rc_row_at(i)); i++) {
        nnv_text_addf(&t, "| `%s` | %s | %d | ", row->name, row->makes, row->level);
        types_of(&t, row);
        nnv_text_add(&t, " |\n");
    }
    size_t size;
    char *text = NULL;
    if (nnv_file_read("docs/compiler-operators.md", 1 << 20, &text, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    if (!strstr(text, t.data)) {
        fputs(t.data, stderr); /* longer than a message may be */
        fail_msg("the table of docs/compiler-operators.md must be the above");
    }
    free(text);
    nnv_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_types, setup, teardown),
        cmocka_unit_test_setup_teardown(test_there_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_documentation, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
