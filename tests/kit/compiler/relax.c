/* SPDX-License-Identifier: Apache-2.0 */
/** @file relax.c Functions in Relax, and the same in Relay. */
#include <string.h>

#include "tests/kit/compiler/checks.h"
#include "tests/kit/relay_equal.h"

const struct relax_pair relax_pairs[] = {
    {X4 ", w: R.Tensor((6, 4, 3, 3), dtype=\"float32\")",
     "with R.dataflow():\n"
     "    lv: R.Tensor((1, 6, 8, 8), dtype=\"float32\") = R.nn.conv2d(x, w, strides=[1, 1], padding=[1, 1, 1, 1], "
     "dilation=[1, 1], groups=1, data_layout=\"NCHW\", kernel_layout=\"OIHW\", out_dtype=\"void\")\n"
     "    gv: R.Tensor((1, 6, 8, 8), dtype=\"float32\") = R.nn.relu(lv)\n"
     "    R.output(gv)\n"
     "return gv",
     R4 ", %w: Tensor[(6, 4, 3, 3), float32]", "nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]))"},
    {X4,
     "lv = R.nn.max_pool2d(x, pool_size=(2,), strides=[2, 2], ceil_mode=False, count_include_pad=False)\n"
     "lv1 = R.nn.avg_pool2d(lv, (2, 2), (2, 2), count_include_pad=True)\n"
     "return R.nn.adaptive_avg_pool2d(lv1, output_size=[1, 1])",
     R4,
     "nn.adaptive_avg_pool2d(nn.avg_pool2d(nn.max_pool2d(%x, pool_size=[2], strides=[2, 2]), pool_size=[2, 2], "
     "strides=[2, 2], count_include_pad=True), output_size=[1, 1])"},
    {X4,
     "lv = R.permute_dims(x, axes=[0, 2, 3, 1])\nlv1 = R.reshape(lv, R.shape([1, 64, 4]))\n"
     "lv2 = R.concat((lv1, lv1), axis=2)\nlv3 = R.split(lv2, indices_or_sections=2, axis=1)\n"
     "lv4 = lv3[1]\nlv5 = R.strided_slice(lv4, (R.prim_value(1),), (R.prim_value(0),), (R.prim_value(8),), "
     "assume_inbound=False)\nlv6 = R.expand_dims(lv5, axis=[0])\nreturn R.squeeze(lv6, axis=[0])",
     R4,
     "%0 = reshape(transpose(%x, axes=[0, 2, 3, 1]), newshape=[1, 64, 4]); %1 = split(concatenate((%0, %0), "
     "axis=2), indices_or_sections=2, axis=1); squeeze(expand_dims(strided_slice(%1.1, axes=[1], begin=[0], "
     "end=[8]), axis=0), axis=[0])"},
    {X4,
     "lv = R.mean(x, axis=[2, 3], keepdims=True)\nlv1 = R.astype(lv, dtype=\"float16\")\n"
     "lv2 = R.clip(lv1, R.prim_value(0), R.prim_value(6))\nlv3 = R.nn.leakyrelu(lv2)\n"
     "return R.nn.pad(lv3, pad_width=[0, 0, 0, 0, 1, 1, 2, 2], pad_mode=\"constant\", pad_value=0.5)",
     R4,
     "nn.pad(nn.leaky_relu(clip(cast(mean(%x, axis=[2, 3], keepdims=True), dtype=\"float16\"), a_min=0, "
     "a_max=6), alpha=0.01), 0.5f16, pad_width=[[0, 0], [0, 0], [1, 1], [2, 2]], pad_mode=\"constant\")"},
    {X4 ", s: R.Tensor((4,), dtype=\"float32\")",
     "lv = R.nn.batch_norm(x, s, s, s, s, axis=1, epsilon=1e-05, center=True, scale=True, momentum=0.1, "
     "training=False)\nlv1 = lv[0]\nlv2 = R.nn.softmax(lv1, axis=-1)\nreturn R.add(lv2, R.const(1, \"float32\"))",
     R4 ", %s: Tensor[(4), float32]",
     "%0 = nn.batch_norm(%x, %s, %s, %s, %s, axis=1, epsilon=1e-05, center=True, scale=True); "
     "add(nn.softmax(%0.0, axis=-1), 1f)"},
    {X4,
     "lv = R.quantize(x, R.const(0.5, \"float32\"), R.const(3, \"int8\"), axis=1, out_dtype=\"int8\")\n"
     "return R.dequantize(lv, R.const(0.5, \"float32\"), R.const(3, \"int8\"))",
     R4, "qnn.dequantize(qnn.quantize(%x, 0.5f, 3, axis=1, out_dtype=\"int8\"), 0.5f, 3)"},
    {X4 ", w: R.Tensor((6, 4, 3, 3), dtype=\"float32\")", "return R.nn.conv2d(x, w, strides=[2, 1], dilation=[1, 2])",
     R4 ", %w: Tensor[(6, 4, 3, 3), float32]", "nn.conv2d(%x, %w, strides=[2, 1], dilation=[1, 2])"},
};
const size_t relax_pair_count = sizeof relax_pairs / sizeof *relax_pairs;

const char *relax_module(const char *params, const char *body, struct nnv_arena *arena) {
    struct nnv_text t = {0};
    nnv_text_addf(
        &t,
        "# from tvm.script import ir as I\n# from tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n"
        "    @R.function\n    def main(%s):\n",
        params);
    for (const char *at = body; *at;) {
        size_t len = strcspn(at, "\n");
        nnv_text_add(&t, "        ");
        nnv_text_add_n(&t, at, len);
        nnv_text_add(&t, "\n");
        at += len + (at[len] == '\n');
    }
    const char *text = t.failed ? NULL : nnv_arena_strdup(arena, t.data);
    nnv_text_free(&t);
    return text;
}

static bool read(const char *text, struct nnv_arena *arena, struct nnv_relay_module **m, struct nnv_text *why) {
    struct nnv_err err = {0};
    if (text && nnv_relay_parse(text, strlen(text), "a", arena, m, &err) == NNV_OK &&
        nnv_relay_check(*m, &err) == NNV_OK)
        return true;
    nnv_text_addf(why, "%s\n%s", err.text, text ? text : "out of memory");
    return false;
}

/* Two attributes have each other's names. */
static void exchange(const struct compiler_fault *fault, struct nnv_relay_module *m, struct nnv_arena *arena) {
    struct nnv_relay_list list;
    if (nnv_relay_post_order(nnv_relay_find(m, "main"), NULL, NULL, arena, &list) != NNV_OK) return;
    for (size_t i = 0; i < list.n; i++)
        for (size_t k = 0; nnv_relay_is_op(list.exprs[i], fault->relax.op) && k < list.exprs[i]->n_attrs; k++) {
            const char **key = &list.exprs[i]->attrs[k].key;
            if (!strcmp(*key, fault->relax.one))
                *key = fault->relax.other;
            else if (!strcmp(*key, fault->relax.other))
                *key = fault->relax.one;
        }
}

bool relax_pair_holds(const struct relax_pair *pair, const struct compiler_fault *fault, struct nnv_arena *arena,
                      struct nnv_text *why) {
    const char *text = relax_module(pair->relax_params, pair->relax_body, arena);
    struct nnv_relay_module *relax, *relay;
    if (!read(text, arena, &relax, why) ||
        !read(nnv_arena_printf(arena, "def @main(%s) { %s }", pair->relay_params, pair->relay_body), arena, &relay,
              why))
        return false;
    if (fault && fault->relax.op) exchange(fault, relax, arena);
    nnv_relay_find(relax, "main")->declared = NULL;
    if (nnv_relay_module_equal(relax, relay)) return true;
    nnv_text_addf(why, "%s\nis read as\n", text);
    nnv_relay_print(relax, NNV_RELAY_PRINT_META, why);
    return false;
}
