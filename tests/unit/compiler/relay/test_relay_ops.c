/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators: each can be run and is documented, and calls that do not fit its rules are refused. */
#include "base/file.h"
#include "base/rng.h"
#include "compiler/relay/ops/ops.h"
#include "tests/kit/relay.h"

static void every_operator_has_a_kernel(void **state) {
    (void)state;
    const struct nnv_relay_op_row *row;
    size_t n = 0;
    for (; (row = nnv_relay_op_at(n)); n++) {
        if (!row->run) fail_msg("%s has no kernel", row->name);
        if (!row->rule) fail_msg("%s has no rule", row->name);
        if (nnv_relay_op(row->name) != row) fail_msg("%s has two rows", row->name);
    }
    assert_true(n >= 150);
    assert_null(nnv_relay_op("nn.conv9d"));
}

static void every_operator_is_documented(void **state) {
    (void)state;
    char *text = NULL;
    size_t size;
    const struct nnv_relay_op_row *row;
    if (nnv_file_read("docs/compile/partitioning.md", 1 << 20, &text, &size, &relay_err) != NNV_OK)
        fail_msg("%s", relay_err.text);
    for (size_t i = 0; (row = nnv_relay_op_at(i)); i++)
        if (strstr(text, nnv_arena_printf(arena, "`%s`", row->name)) == NULL)
            fail_msg("not in docs/compile/partitioning.md: %s", row->name);
    free(text);
}

/* The program is refused when it is checked, with a message that holds `part`. */
static void refused(const char *params, const char *body, const char *part) {
    const char *text = main_of(params, body);
    struct nnv_relay_module *m = NULL;
    relay_err = (struct nnv_err){0};
    if (nnv_relay_parse(text, strlen(text), "a.relay", arena, &m, &relay_err) != NNV_OK) fail_msg("%s", relay_err.text);
    if (nnv_relay_check(m, &relay_err) != NNV_INVALID || strstr(relay_err.text, part) == NULL)
        fail_msg("%s\n%s", relay_err.text, text);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    const char *p = "%x: Tensor[(2, 3), float32], %i: Tensor[(2), int32], %y: Tensor[(1, 4, 6, 6), float32]";
    static const struct {
        const char *body, *part;
    } rows[] = {
        {"tile(%x)", "needs the attribute reps"},
        {"tile(%x, reps=[2, 0])", "reps has 0"},
        {"tile(%x, reps=[1073741824, 1073741824, 1073741824])", "too large"},
        {"repeat(%x, repeats=2)", "needs the attribute axis"},
        {"repeat(%x, axis=0)", "needs the attribute repeats"},
        {"reverse(%x, axis=2)", "axis 2 of a tensor of 2 dimensions"},
        {"stack((%x, %i))", "field 1 is not a tensor of the type of field 0"},
        {"broadcast_to(%x, shape=[3, 3])", "fit only if they are equal"},
        {"broadcast_to(%x, shape=[1, 3])", "can't be stretched"},
        {"broadcast_to_like(%x, %i)", "fit only if they are equal"},
        {"reshape_like(%x, %i)", "6 elements do not fit in a shape of 2"},
        {"slice_like(%x, %y, axes=[1])", "dimension 1 is 3, less than 4"},
        {"take(%x, %x)", "operand 1 must be of integers"},
        {"take(%x, %i, batch_dims=1)", "batch_dims must be 0"},
        {"gather(%x, %i)", "different numbers of dimensions"},
        {"gather_nd(%x, zeros(shape=[3], dtype=\"int32\"))", "must be at most 2"},
        {"one_hot(%i, 1f, 0f)", "needs the attribute depth"},
        {"topk(%x, k=4)", "k is 4, and there are 3 elements"},
        {"topk(%x, ret_type=\"all\")", "ret_type must be"},
        {"arange(0, 5, 0)", "the step is 0"},
        {"bitwise_and(%x, %x)", "must be of integers"},
        {"layout_transform(%y, src_layout=\"NCHW\", dst_layout=\"NCHH\")", "the same letters"},
        {"layout_transform(%y, src_layout=\"NCHWc\", dst_layout=\"NCHW\")", "a letter for each of 4"},
        {"layout_transform(%y, src_layout=\"NCHW\", dst_layout=\"NCHW7c\")", "can't be divided by the block's"},
        {"layout_transform(%y, src_layout=\"NCHW\", dst_layout=\"NCHW2d\")", "the same letters"},
        {"layout_transform(%y, src_layout=\"CHW9c\", dst_layout=\"HWC\")", "is not that of its block"},
        {"nn.depth_to_space(%y, block_size=4)", "can't be divided"},
        {"nn.space_to_depth(%y, block_size=4)", "can't be divided"},
        {"nn.space_to_batch_nd(%y, block_shape=[2], paddings=[[0, 1]])", "dimension 1 would be 5"},
        {"nn.batch_to_space_nd(%y, block_shape=[2], crops=[[0, 0]])", "can't be divided by the block"},
        {"nn.batch_to_space_nd(%y, block_shape=[2], crops=[])", "a pair for each"},
        {"nn.upsampling(%y, scale_h=0f)", "gives an extent of 0"},
        {"nn.conv2d_transpose(%y, zeros(shape=[3, 1, 1, 1]))", "4 channels in, but weights for 3"},
        {"nn.conv2d_transpose(%y, zeros(shape=[4, 1, 1, 1]), padding=[3, 3])", "leaves nothing"},
        {"nn.conv2d_transpose(%y, zeros(shape=[4, 1, 1, 1]), output_padding=[1, 1])", "less than the strides"},
        {"nn.conv1d(expand_dims(%x, axis=0), zeros(shape=[1, 2, 4]))", "does not fit"},
        {"nn.matmul(%x, %x)", "the summed extents are 3 and 2"},
        {"nn.instance_norm(%y, zeros(shape=[3]), zeros(shape=[4]))", "a value for each place along axis 1"},
        {"nn.group_norm(%y, zeros(shape=[4]), zeros(shape=[4]), num_groups=3)", "3 groups"},
        {"nn.l2_normalize(%x, axis=[2])", "axis 2 of a tensor"},
        {"vision.get_valid_counts(zeros(shape=[1, 2, 1]), 0f)", "score_index is 1, and a box has 1 numbers"},
        {"vision.non_max_suppression(zeros(shape=[1, 2, 5]), %i, %i)", "operand 2 has 1 dimensions"},
        {"qnn.tanh(%i, 1, 0, 1f, 0)", "operand 1 is a scale"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) refused(p, rows[i].body, rows[i].part);
}

static void types_within_types_are_bounded(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "%0 = (%x,);\n");
    for (int i = 1; i < 300; i++) nnv_text_addf(&t, "%%%d = (%%%d,);\n", i, i - 1);
    const char *bindings = t.data;
    refused("%x: bool", nnv_arena_printf(arena, "%s %%299", bindings), "more than 256 deep");
    gives("%x: bool", nnv_arena_printf(arena, "%s %%254", bindings), "1", "1");
    nnv_text_free(&t);
}

/* ------------------------------------------------------------- random calls */

static int64_t draw(struct nnv_rng *r, int64_t low, int64_t high) { return nnv_rng_int(r, low, high); }

static const struct nnv_relay_type *random_tensor(struct nnv_rng *r, enum nnv_relay_dtype dtype) {
    static const struct {
        size_t n;
        int64_t dims[4];
    } shapes[] = {{0, {0}},          {0, {0}},          {1, {1}},          {1, {2}},          {1, {4}},
                  {2, {2, 2}},       {2, {2, 3}},       {2, {1, 4}},       {3, {1, 2, 6}},    {3, {2, 1, 2}},
                  {4, {1, 2, 4, 4}}, {4, {1, 4, 4, 2}}, {4, {2, 2, 3, 3}}, {4, {2, 1, 2, 2}}, {2, {2, 0}}};
    size_t i = (size_t)draw(r, 0, sizeof shapes / sizeof *shapes - 1);
    return nnv_relay_tensor_type(arena, dtype, shapes[i].n, shapes[i].dims);
}

/** Shapes that operands of an operator whose name holds `part` mostly have. */
static const struct {
    const char *part;
    struct {
        size_t n;
        int64_t dims[4];
    } operands[3];
} shapes_of[] = {
    {"conv1d", {{3, {1, 2, 6}}, {3, {2, 2, 3}}}},
    {"conv2d", {{4, {1, 2, 4, 4}}, {4, {2, 2, 2, 2}}}},
    {"norm", {{4, {1, 2, 4, 4}}, {1, {2}}, {1, {2}}}},
    {"batch_matmul", {{3, {2, 1, 2}}, {3, {2, 1, 2}}}},
    {"batch_to_space", {{3, {4, 2, 2}}}},
    {"space_to_batch", {{3, {2, 4, 4}}}},
    {"gather", {{2, {2, 3}}, {2, {2, 3}}}},
    {"one_hot", {{1, {4}}, {0, {0}}, {0, {0}}}},
    {"arange", {{0, {0}}, {0, {0}}, {0, {0}}}},
    {"suppression", {{3, {1, 4, 6}}, {1, {1}}, {2, {1, 4}}}},
};

static const struct nnv_relay_type *likely_tensor(struct nnv_rng *r, const char *op, size_t i,
                                                  enum nnv_relay_dtype dtype) {
    if (strstr(op, "suppression") && i > 0 && i < 4) dtype = NNV_RELAY_INT32;
    if (strcmp(op, "gather") == 0 && i == 1) dtype = NNV_RELAY_INT32;
    if (strstr(op, "norm") && i > 2) i = 2;
    for (size_t k = 0; i < 3 && draw(r, 0, 9) && k < sizeof shapes_of / sizeof *shapes_of; k++)
        if (strstr(op, shapes_of[k].part) &&
            (i == 0 || shapes_of[k].operands[i].n || strstr(op, "arange") || strstr(op, "one_hot")))
            return nnv_relay_tensor_type(arena, dtype, shapes_of[k].operands[i].n, shapes_of[k].operands[i].dims);
    return strstr(op, "suppression") ? nnv_relay_tensor_type(arena, dtype, 0, NULL) : random_tensor(r, dtype);
}

/* Operand i of a quantised operator is a scale (1), a zero point (-1), or data (0). */
static int quantised_part(const char *op, size_t i) {
    bool zeros_first = strstr(op, "conv") || strstr(op, "dense") || strstr(op, "matmul");
    size_t data = zeros_first || strstr(op, "add") || strstr(op, "subtract") || strcmp(op, "qnn.mul") == 0 ? 2 : 1;
    if (strncmp(op, "qnn.", 4) != 0 || i < data) return 0;
    if (zeros_first) return i >= 4 ? 1 : -1;
    return (i - data) % 2 == 0 ? 1 : -1;
}

/* Mostly of one type; scales and zero points of quantised operators where they belong. */
static const struct nnv_relay_type *random_operand(struct nnv_rng *r, const char *op, size_t i,
                                                   enum nnv_relay_dtype dtype) {
    bool tuple = strstr(op, "concatenate") || strcmp(op, "stack") == 0;
    int part = quantised_part(op, i);
    if (part) dtype = part > 0 ? NNV_RELAY_FLOAT32 : NNV_RELAY_INT32;
    if (!part && draw(r, 0, 9) == 0) dtype = (enum nnv_relay_dtype)draw(r, 0, NNV_RELAY_DTYPES - 1);
    const struct nnv_relay_type *t =
        part ? nnv_relay_tensor_type(arena, dtype, draw(r, 0, 7) == 0, (int64_t[]){2}) : likely_tensor(r, op, i, dtype);
    if (!tuple || i > 2) return t;
    return nnv_relay_tuple_type(arena, 2, (const struct nnv_relay_type *[]){t, t});
}

static struct nnv_relay_value random_value(struct nnv_rng *r, enum nnv_relay_attr_kind kind) {
    static const char *const texts[] = {
        "NCHW",          "NHWC",       "OIHW",    "HWOI",   "IOHW",    "float32",
        "int8",          "int32",      "reflect", "edge",   "both",    "values",
        "TONEAREST",     "size",       "CDR",     "linear", "cubic",   "nearest_neighbor",
        "align_corners", "asymmetric", "wrap",    "fast",   "bilinear"};
    struct nnv_relay_value v = {.kind = NNV_RELAY_INT, .i = draw(r, -2, 4)};
    size_t n = (size_t)draw(r, 0, 4);
    struct nnv_relay_value *list = NNV_NEW(arena, struct nnv_relay_value, n + 1);
    switch (kind) {
    case NNV_RELAY_ATTR_NUMBER:
        return (struct nnv_relay_value){.kind = NNV_RELAY_FLOAT, .f = (double)draw(r, -4, 6) / 2};
    case NNV_RELAY_ATTR_TEXT:
        return (struct nnv_relay_value){.kind = NNV_RELAY_STRING,
                                        .text = texts[draw(r, 0, sizeof texts / sizeof *texts - 1)]};
    case NNV_RELAY_ATTR_INTS:
        for (size_t i = 0; i < n; i++) list[i] = (struct nnv_relay_value){.kind = NNV_RELAY_INT, .i = draw(r, -1, 3)};
        return draw(r, 0, 3) ? (struct nnv_relay_value){.kind = NNV_RELAY_LIST, .n = n, .list = list} : v;
    case NNV_RELAY_ATTR_PAIRS:
        for (size_t i = 0; i < n; i++) {
            struct nnv_relay_value *pair = NNV_NEW(arena, struct nnv_relay_value, 2);
            pair[0] = (struct nnv_relay_value){.kind = NNV_RELAY_INT, .i = draw(r, 0, 3)};
            pair[1] = (struct nnv_relay_value){.kind = NNV_RELAY_INT, .i = draw(r, -1, 3)};
            list[i] = (struct nnv_relay_value){.kind = NNV_RELAY_LIST, .n = 2, .list = pair};
        }
        return (struct nnv_relay_value){.kind = NNV_RELAY_LIST, .n = n, .list = list};
    case NNV_RELAY_ATTR_INT:
    case NNV_RELAY_ATTR_TRUTH:
    case NNV_RELAY_ATTR_ANY:
        break;
    }
    return v;
}

/* Whether all values are of the result's type: integers whole and in range. */
static bool well_formed(const struct nnv_relay_datum *d) {
    double low = -INFINITY, high = INFINITY;
    for (size_t i = 0; i < d->n_fields; i++)
        if (!well_formed(d->fields[i])) return false;
    if (d->type->kind != NNV_RELAY_TENSOR || nnv_relay_dtype_is_float(d->type->dtype)) return true;
    if (nnv_relay_dtype_size(d->type->dtype) < 8) nnv_interp_limits(d->type->dtype, &low, &high);
    for (size_t i = 0; i < d->n; i++)
        if (!(d->values[i] >= low && d->values[i] <= high && floor(d->values[i]) == d->values[i])) return false;
    return true;
}

/* Scales are mostly above 0, integers of 32 bits mostly small. */
static void tame(struct nnv_relay_datum *d, bool qnn, struct nnv_rng *r) {
    for (size_t i = 0; i < d->n_fields; i++) tame(d->fields[i], qnn, r);
    for (size_t i = 0; i < d->n; i++) {
        if (qnn && d->type->dtype == NNV_RELAY_FLOAT32 && draw(r, 0, 9)) d->values[i] = fabs(d->values[i]) + 0.125;
        if (d->type->dtype == NNV_RELAY_INT32 && draw(r, 0, 3)) d->values[i] = (double)draw(r, -1, 3);
    }
}

/* A call of the operator on random operands: 1 if it ran, 0 if it was refused. */
static size_t random_call(const struct nnv_relay_op_row *row, struct nnv_rng *r) {
    static const enum nnv_relay_dtype likely[] = {NNV_RELAY_FLOAT32, NNV_RELAY_FLOAT32, NNV_RELAY_INT32,
                                                  NNV_RELAY_BOOL,    NNV_RELAY_UINT8,   NNV_RELAY_INT8};
    struct nnv_relay_module *m = nnv_relay_module_new(arena);
    struct nnv_relay_expr *params[8], *call;
    struct nnv_relay_datum *args[8], *out = NULL;
    struct nnv_relay_attr attrs[NNV_RELAY_MOST_ATTRS];
    size_t n = (size_t)draw(r, row->least, row->most), n_attrs = 0;
    enum nnv_relay_dtype dtype = likely[draw(r, 0, sizeof likely / sizeof *likely - 1)];
    for (size_t i = 0; i < n; i++) {
        const struct nnv_relay_type *t = random_operand(r, row->name, i, dtype);
        params[i] = nnv_relay_var(m, nnv_arena_printf(arena, "x%zu", i), t);
        args[i] = nnv_relay_datum_random(t, nnv_rng_u64(r), arena);
        tame(args[i], strncmp(row->name, "qnn.", 4) == 0, r);
    }
    for (size_t i = 0; i < NNV_RELAY_MOST_ATTRS && row->attrs[i].key; i++)
        if (draw(r, 0, row->attrs[i].otherwise ? 3 : 1) == 0)
            attrs[n_attrs++] = (struct nnv_relay_attr){row->attrs[i].key, random_value(r, row->attrs[i].kind)};
    call = nnv_relay_call(m, nnv_relay_operator(m, row->name), n, params, n_attrs, attrs);
    assert_true(nnv_relay_define(m, "main", nnv_relay_fn(m, n, params, NULL, call, 0, NULL)));
    if (nnv_relay_check(m, NULL) != NNV_OK) return 0;
    if (nnv_relay_run(m, "main", args, n, NULL, arena, &out, &relay_err) != NNV_OK) return 0;
    assert_true(nnv_relay_type_fits(call->type, out->type) && nnv_relay_type_known(out->type));
    if (!well_formed(out)) fail_msg("%s gives numbers that are not of its type", row->name);
    return 1;
}

/* None crashes, and what runs gives values of the type that the checker found. */
static void random_calls_run_or_are_refused(void **state) {
    (void)state;
    enum { CALLS = 4000 };
    const struct nnv_relay_op_row *row;
    for (size_t i = 0; (row = nnv_relay_op_at(i)); i++) {
        size_t ran = 0;
        for (uint64_t k = 0; k < CALLS; k++) {
            struct nnv_rng r = nnv_rng_make(1, i, k);
            ran += random_call(row, &r);
            if (k % 100 == 99) nnv_arena_reset(arena);
        }
        if (ran < 5) fail_msg("%s ran %zu times", row->name, ran);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* What TVM takes is taken: roots of integers, data and weights of different integers, types without bits. */
static void legal_programs_are_taken(void **state) {
    (void)state;
    assert_non_null(checked("def @main(%x: Tensor[(2), int32]) { sqrt(%x) }"));
    assert_non_null(checked("def @main(%x: Tensor[(1, 4, 8, 8), uint8], %w: Tensor[(4, 4, 3, 3), int8]) {"
                            " nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3], out_dtype=\"int32\") }"));
    assert_non_null(checked("def @main(%x: int, %y: Tensor[(2), int32]) -> Tensor[(2), int] { add(%x, %y) }"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_operator_has_a_kernel),    TEST(every_operator_is_documented),    TEST(what_does_not_fit_is_refused),
        TEST(types_within_types_are_bounded), TEST(random_calls_run_or_are_refused), TEST(legal_programs_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
