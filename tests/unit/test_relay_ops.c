/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operators: each can be run and is documented, and calls that do not fit its rules are refused. */
#include "base/file.h"
#include "compiler/relay_ops.h"
#include "relay_fixture.h"

static void every_operator_has_a_kernel(void **state) {
    (void)state;
    size_t n;
    const struct nnv_relay_op_row *rows = nnv_relay_ops(&n);
    assert_true(n >= 150);
    for (size_t i = 0; i < n; i++) {
        if (!nnv_relay_runs(rows[i].name)) fail_msg("%s has no kernel", rows[i].name);
        if (nnv_relay_op(rows[i].name) != &rows[i]) fail_msg("%s is not at its place", rows[i].name);
    }
    assert_false(nnv_relay_runs("nn.conv9d"));
}

static void every_operator_is_documented(void **state) {
    (void)state;
    char *text = NULL;
    size_t n, size;
    const struct nnv_relay_op_row *rows = nnv_relay_ops(&n);
    if (nnv_file_read("docs/relay.md", 1 << 20, &text, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    for (size_t i = 0; i < n; i++)
        if (strstr(text, nnv_arena_printf(arena, "`%s`", rows[i].name)) == NULL)
            fail_msg("not in docs/relay.md: %s", rows[i].name);
    free(text);
}

/* The program is refused when it is checked, with a message that holds `part`. */
static void refused(const char *params, const char *body, const char *part) {
    const char *text = main_of(params, body);
    struct nnv_relay_module *m = NULL;
    err = (struct nnv_err){0};
    if (nnv_relay_parse(text, strlen(text), "a.relay", arena, &m, &err) != NNV_OK) fail_msg("%s", err.text);
    if (nnv_relay_check(m, &err) != NNV_INVALID || strstr(err.text, part) == NULL) fail_msg("%s\n%s", err.text, text);
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
        {"layout_transform(%y, src_layout=\"NCHW\", dst_layout=\"NCHW4c\")", "a letter for each of 4"},
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_operator_has_a_kernel),
        TEST(every_operator_is_documented),
        TEST(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
