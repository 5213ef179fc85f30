/* SPDX-License-Identifier: Apache-2.0 */
/* TVMScript of Relax: the same graph as of Relay, divided as Relay is, and written so that it reads back the same. */
#include <string.h>

#include "compiler/byoc/tables.h"
#include "compiler/nnapi/compile.h"
#include "compiler/relay/text/relax.h"
#include "tests/kit/compiler/checks.h"
#include "tests/kit/relay.h"
#include "tests/kit/relay_equal.h"

static const char *module_of(const char *params, const char *body) { return relax_module(params, body, arena); }

/* The graph of a function is that of the same in Relay: parameters, and what @main gives. */
static void same(const struct relax_pair *pair) {
    struct nnv_text why = {0};
    if (!relax_pair_holds(pair, NULL, arena, &why)) fail_msg("%s", why.data ? why.data : "");
}
static void same_as(const char *params, const char *body, const char *relay_params, const char *relay_body) {
    same(&(const struct relax_pair){params, body, relay_params, relay_body});
}

static void operators_have_the_names_of_relax(void **state) {
    (void)state;
    for (size_t i = 0; i < relax_pair_count; i++) same(&relax_pairs[i]);
}

static void products_are_those_that_relay_has(void **state) {
    (void)state;
    static const char a[] = "a: R.Tensor((2, 3, 4, 5), \"float32\"), b: R.Tensor((2, 3, 6, 5), \"float32\"), "
                            "w: R.Tensor((7, 5), \"float32\")";
    static const char r[] = "%a: Tensor[(2, 3, 4, 5), float32], %b: Tensor[(2, 3, 6, 5), float32], "
                            "%w: Tensor[(7, 5), float32]";
    same_as(a, "lv = R.permute_dims(w, axes=None)\nreturn R.matmul(a, lv, out_dtype=\"void\")", r,
            "reshape(nn.dense(reshape(%a, newshape=[24, 5]), %w), newshape=[2, 3, 4, 7])");
    same_as(a, "lv = R.permute_dims(b, axes=[0, 1, 3, 2])\nreturn R.matmul(a, lv)", r,
            "reshape(nn.batch_matmul(reshape(%a, newshape=[6, 4, 5]), reshape(%b, newshape=[6, 6, 5])), "
            "newshape=[2, 3, 4, 6])");
    same_as("a: R.Tensor((2, 3), \"float32\"), b: R.Tensor((3, 4), \"float32\")", "return R.matmul(a, b)",
            "%a: Tensor[(2, 3), float32], %b: Tensor[(3, 4), float32]", "nn.matmul(%a, %b)");
    same_as("a: R.Tensor((5, 2, 3), \"float32\"), b: R.Tensor((5, 3, 4), \"float32\")", "return R.matmul(a, b)",
            "%a: Tensor[(5, 2, 3), float32], %b: Tensor[(5, 3, 4), float32]",
            "nn.batch_matmul(%a, %b, transpose_b=False)");
}

static void values(const char *params, const char *body, const char *numbers, const char *wanted) {
    module_gives(module_of(params, body), numbers, wanted);
}

static void operators_that_relay_does_not_have_mean_what_they_mean(void **state) {
    (void)state;
    static const char x[] = "x: R.Tensor((2,), \"float64\")";
    values(x, "return R.nn.gelu(x)", "1 -2", "0.84134474606854293 -0.045500263896358389");
    values(x, "return R.nn.gelu_tanh(x)", "1 -2", "0.84119199060827672 -0.045402305912079372");
    values(x, "return R.nn.silu(x)", "1 -2", "0.7310585786300049 -0.23840584404423515");
    values(x, "return R.square(x)", "3 -2", "9 4");
    values(x, "return R.nn.relu6(x)", "7 -2", "6 0");
    values("x: R.Tensor((2, 3), \"float32\")", "return R.argmax(x, axis=1)", "1 3 2 5 4 0", "1 0");
    values("x: R.Tensor((1, 2), \"float32\")", "return R.expand_dims(x, axis=[0, -1])", "1 2", "1 2");
    values("x: R.Tensor((1, 2), \"float32\")", "return R.flatten(x)", "1 2", "1 2");
    /* two queries, two keys, one head: weights 1 / (1 + e^-1) and 1/2 */
    values("q: R.Tensor((1, 2, 1, 1), \"float64\"), k: R.Tensor((1, 2, 1, 1), \"float64\"), "
           "v: R.Tensor((1, 2, 1, 1), \"float64\")",
           "return R.nn.attention(q, k, v, scale=None, causal_mask=None, window_size=None)", "1 0 1 0 10 20",
           "12.689414213699951 15");
}

static void read_back_the_same(const struct nnv_relay_module *m) {
    struct nnv_text once = {0}, twice = {0};
    struct nnv_relay_module *again = NULL;
    if (nnv_relax_print(m, &once, &relay_err) != NNV_OK ||
        nnv_relay_parse(once.data, once.len, "again.py", arena, &again, &relay_err) != NNV_OK ||
        nnv_relay_infer(again, &relay_err) != NNV_OK || nnv_relax_print(again, &twice, &relay_err) != NNV_OK)
        fail_msg("%s\n%s", relay_err.text, once.data);
    assert_string_equal(once.data, twice.data);
    for (size_t i = 0; i < m->n_functions; i++) /* Relax says the type of each result */
        if (!m->functions[i].expr->declared) nnv_relay_find(again, m->functions[i].name)->declared = NULL;
    if (!nnv_relay_module_equal(m, again)) fail_msg("differs:\n%s", once.data);
    nnv_text_free(&once);
    nnv_text_free(&twice);
}

static void branches_and_functions(void **state) {
    (void)state;
    static const char text[] = "from tvm.script import ir as I, relax as R\n"
                               "@I.ir_module\n"
                               "class Net:\n"
                               "    I.module_attrs({\"a\": [1, 2]})\n"
                               "    @T.prim_func(private=True)\n"
                               "    def twice(a: T.handle, b: T.handle):\n"
                               "        T.evaluate(0)  # nothing\n"
                               "\n"
                               "    @R.function(private=True)\n"
                               "    def one_more(y: R.Tensor((2,), 'float32')) -> R.Tensor((2,), 'float32'):\n"
                               "        return R.add(y, R.const(1.0, 'float32'))\n"
                               "\n"
                               "    @R.function\n"
                               "    def main(x: R.Tensor((2,), 'float32'), c: R.Tensor((), 'bool')):\n"
                               "        cls = Net\n"
                               "        if c:\n"
                               "            y = cls.one_more(x)\n"
                               "        else:\n"
                               "            y = R.negative(x)\n"
                               "        @R.function\n"
                               "        def inner(z: R.Tensor((2,), 'float32')) -> R.Tensor((2,), 'float32'):\n"
                               "            return R.multiply(z, z)\n"
                               "        return (inner(y), y)\n";
    module_gives(text, "1 2 1", "4 9 2 3");
    module_gives(text, "1 2 0", "1 4 -1 -2");
    struct nnv_text again = {0};
    read_back_the_same(checked(text));
    assert_int_equal(nnv_relax_print(checked(text), &again, &relay_err), NNV_OK);
    assert_non_null(strstr(again.data, "    def twice(a: T.handle, b: T.handle):\n        T.evaluate(0)  # nothing\n"));
    nnv_text_free(&again);
}

/* ------------------------------------------------------------------ dividing */

static struct nnv_compiled *compiled(const char *text) {
    struct nnv_relay_module *m;
    struct nnv_compiled *c = NNV_NEW(arena, struct nnv_compiled, 1);
    const struct nnv_compile_options options = {0};
    relay_err = (struct nnv_err){0};
    if (nnv_compile_load(text, strlen(text), "a.py", NULL, arena, &m, &relay_err) != NNV_OK ||
        nnv_compile_module(m, &options, arena, c, &relay_err) != NNV_OK)
        fail_msg("%s\n%s", relay_err.text, text);
    return c;
}

/* Both programs are divided in the same way, and what comes of the Relax one reads back the same. */
static void divided_alike(const char *relax, const char *relay) {
    struct nnv_compiled *a = compiled(relax), *b = compiled(relay);
    struct nnv_text one = {0}, two = {0};
    nnv_partition_print(&a->partition, &one);
    nnv_partition_print(&b->partition, &two);
    assert_string_equal(one.data, two.data);
    assert_int_equal(a->n_regions, b->n_regions);
    assert_int_equal(a->weights.bytes.len, b->weights.bytes.len);
    if (a->weights.bytes.len) assert_memory_equal(a->weights.bytes.data, b->weights.bytes.data, a->weights.bytes.len);
    read_back_the_same(a->m);
    nnv_text_free(&one);
    nnv_text_free(&two);
    nnv_compiled_free(a);
    nnv_compiled_free(b);
}

static void a_mobilenet_block(void **state) {
    (void)state;
    divided_alike(
        module_of(X4 ", w: R.Tensor((8, 4, 1, 1), \"float32\"), d: R.Tensor((8, 1, 3, 3), \"float32\"), "
                     "v: R.Tensor((4, 8, 1, 1), \"float32\")",
                  "with R.dataflow():\n"
                  "    a = R.nn.conv2d(x, w)\n"
                  "    b = R.clip(a, R.prim_value(0), R.prim_value(6))\n"
                  "    c = R.nn.conv2d(b, d, padding=[1, 1, 1, 1], groups=8)\n"
                  "    e = R.nn.relu6(c)\n"
                  "    f = R.nn.conv2d(e, v)\n"
                  "    g = R.add(f, x)\n"
                  "    h = R.tan(g)\n"
                  "    gv = R.nn.relu(h)\n"
                  "    R.output(gv)\n"
                  "return gv"),
        main_of(R4 ", %w: Tensor[(8, 4, 1, 1), float32], %d: Tensor[(8, 1, 3, 3), float32], "
                   "%v: Tensor[(4, 8, 1, 1), float32]",
                "let %a = nn.conv2d(%x, %w); let %b = clip(%a, a_min=0, a_max=6); "
                "let %c = nn.conv2d(%b, %d, padding=[1, 1, 1, 1], groups=8); let %e = clip(%c, a_min=0f, a_max=6f); "
                "let %f = nn.conv2d(%e, %v); let %g = add(%f, %x); let %h = tan(%g); let %gv = nn.relu(%h); %gv"));
}

static void a_transformer_block(void **state) {
    (void)state;
    struct nnv_compiled *c;
    static const char relax[] = "n = R.nn.layer_norm(x, s, s, axes=[-1], epsilon=1e-05, center=True, scale=True)\n"
                                "q = R.matmul(n, R.permute_dims(wq, axes=None))\n"
                                "k = R.matmul(n, R.permute_dims(wk, axes=None))\n"
                                "t = R.permute_dims(k, axes=[0, 2, 1])\n"
                                "p = R.matmul(q, t)\n"
                                "m = R.multiply(p, R.const(0.25, \"float32\"))\n"
                                "e = R.nn.softmax(m, axis=-1)\n"
                                "o = R.matmul(e, n)\n"
                                "r = R.add(o, x)\n"
                                "gv = R.nn.gelu(r)\n"
                                "return gv";
    static const char relay[] =
        "let %n = nn.layer_norm(%x, %s, %s, axis=-1, epsilon=1e-05, center=True, scale=True); "
        "let %q = reshape(nn.dense(reshape(%n, newshape=[4, 16]), %wq), newshape=[1, 4, 16]); "
        "let %k = reshape(nn.dense(reshape(%n, newshape=[4, 16]), %wk), newshape=[1, 4, 16]); "
        "let %p = nn.batch_matmul(%q, %k); let %m = multiply(%p, 0.25f); let %e = nn.softmax(%m, axis=-1); "
        "let %o = nn.batch_matmul(%e, %n, transpose_b=False); let %r = add(%o, %x); "
        "let %gv = multiply(multiply(%r, 0.5f), add(erf(multiply(%r, 0.70710678118654752f)), 1f)); %gv";
    divided_alike(module_of("x: R.Tensor((1, 4, 16), \"float32\"), s: R.Tensor((16,), \"float32\"), "
                            "wq: R.Tensor((16, 16), \"float32\"), wk: R.Tensor((16, 16), \"float32\")",
                            relax),
                  main_of("%x: Tensor[(1, 4, 16), float32], %s: Tensor[(16), float32], %wq: Tensor[(16, 16), float32], "
                          "%wk: Tensor[(16, 16), float32]",
                          relay));
    c = compiled(module_of("q: R.Tensor((1, 4, 2, 8), \"float32\")", "return R.nn.attention(q, q, q)"));
    assert_int_equal(c->n_regions, 1);
    assert_int_equal(c->partition.n_host, 0);
    nnv_compiled_free(c);
}

static void quantised_operators(void **state) {
    (void)state;
    divided_alike(
        module_of(
            X4 ", w: R.Tensor((8, 4, 1, 1), \"float32\")",
            "a = R.quantize(x, R.const(0.1, \"float32\"), R.const(-3, \"int8\"), axis=0, out_dtype=\"int8\")\n"
            "b = R.dequantize(a, R.const(0.1, \"float32\"), R.const(-3, \"int8\"), axis=0, out_dtype=\"float32\")\n"
            "c = R.nn.conv2d(b, w)\n"
            "d = R.quantize(c, R.const(0.5, \"float32\"), R.const(0, \"int8\"), axis=0, out_dtype=\"int8\")\n"
            "return d"),
        main_of(R4 ", %w: Tensor[(8, 4, 1, 1), float32]",
                "let %a = qnn.quantize(%x, 0.1f, -3, axis=0, out_dtype=\"int8\"); "
                "let %b = qnn.dequantize(%a, 0.1f, -3, axis=0, out_dtype=\"float32\"); let %c = nn.conv2d(%b, %w); "
                "let %d = qnn.quantize(%c, 0.5f, 0, axis=0, out_dtype=\"int8\"); %d"));
}

/* ------------------------------------------------------------- text and back */

/* Texts of TVM: what is written reads back, in Relax and in Relay. */
static void what_is_written_reads_back(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "return x",
        "gv = (x, R.add(x, x))\nreturn gv",
        "lv = R.split(x, indices_or_sections=2, axis=0)\nreturn (lv[1], lv[0])",
        "lv: R.Tensor((4,), \"float32\") = R.nn.unheard_of(x, [1, 2], x, R.shape([3]), mode=\"fast\", "
        "alpha=0.5)\nreturn lv",
        "lv = R.call_tir(cls.scan, (x, x), out_sinfo=R.Tensor((4,), dtype=\"float32\"))\nreturn R.exp(lv)",
        "lv = R.call_tir(cls.two, x, out_sinfo=[R.Tensor((4,), dtype=\"float32\"), R.Tensor((), dtype=\"int8\")])\n"
        "return lv[0]",
        "lv = R.call_packed(\"f\", x, sinfo_args=(R.Tensor((4,), dtype=\"float32\"),))\nreturn lv",
        "lv = R.argmax(x, axis=0)\nreturn lv",
        "lv: R.Tensor(dtype=\"float32\") = R.exp(x)\nreturn lv",
        "lv: R.Tensor(dtype=\"float32\", ndim=1) = R.exp(x)\nreturn lv",
        "lv = R.reshape(x, [1, 1, 2, 2])\nreturn R.nn.pad(lv, [0, 0, 0, 0, 1, 1, 1, 1])",
        "lv = R.reshape(x, [1, 4, 1, 1])\nlv1 = R.nn.group_norm(lv, x, x, num_groups=2, channel_axis=1, axes=[2, 3])\n"
        "return R.full((2, 2), R.const(1, \"float32\"), dtype=\"float32\")",
        "return R.add(x, R.const(1e-30, \"float32\"))",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct nnv_relay_module *m = checked(module_of("x: R.Tensor((4,), dtype=\"float32\")", bodies[i]));
        struct nnv_text relay = {0};
        read_back_the_same(m);
        nnv_relay_print(m, NNV_RELAY_PRINT_META, &relay);
        if (!nnv_relay_module_equal(m, checked(relay.data))) fail_msg("%s", relay.data);
        nnv_text_free(&relay);
    }
}

static void constants_and_regions_are_written_as_tvm_does(void **state) {
    (void)state;
    const char *relay = "def @main(%x: Tensor[(1, 8, 8, 4), float32]) { let %y = nn.conv2d(%x, "
                        "meta[relay.Constant][0], padding=[1, 1], data_layout=\"NHWC\", kernel_layout=\"OHWI\"); "
                        "let %z = add(%y, meta[relay.Constant][1]); tan(nn.relu(%z)) }\n#[metadata]\n";
    struct nnv_relay_tensor w = {0}, b = {0};
    static const int64_t dims[] = {4, 3, 3, 4}, line[] = {4};
    static float weights[144] = {1, 2}, bias[4] = {3, -INFINITY};
    w = (struct nnv_relay_tensor){nnv_relay_tensor_type(arena, NNV_RELAY_FLOAT32, 4, dims), weights, sizeof weights};
    b = (struct nnv_relay_tensor){nnv_relay_tensor_type(arena, NNV_RELAY_FLOAT32, 1, line), bias, sizeof bias};
    struct nnv_relay_module *m = NULL;
    struct nnv_text out = {0};
    assert_int_equal(nnv_relay_parse(relay, strlen(relay), "a", arena, &m, &relay_err), NNV_OK);
    struct nnv_relay_list list;
    assert_int_equal(nnv_relay_post_order(nnv_relay_find(m, "main"), NULL, NULL, arena, &list), NNV_OK);
    for (size_t i = 0; i < list.n; i++)
        if (list.exprs[i]->kind == NNV_RELAY_CONSTANT) list.exprs[i]->tensor = list.exprs[i]->index ? &b : &w;
    struct nnv_compiled c = {0};
    const struct nnv_compile_options options = {0};
    assert_int_equal(nnv_relay_check(m, &relay_err), NNV_OK);
    assert_int_equal(nnv_compile_module(m, &options, arena, &c, &relay_err), NNV_OK);
    read_back_the_same(m);
    assert_int_equal(nnv_relax_print(m, &out, &relay_err), NNV_OK);
    static const char *const parts[] = {
        "metadata = tvm.ir.load_json(\"\"\"{\\\"root\\\": 1",
        "# from tvm.script import ir as I\n# from tvm.script import relax as R\n\n@I.ir_module\nclass Module:\n",
        "    @R.function\n    def tvmgen_default_nnapi_main_0(",
        "        R.func_attr({\"Codegen\": \"nnapi\", \"global_symbol\": \"tvmgen_default_nnapi_main_0\"})\n",
        "            R.func_attr({\"Composite\": \"nnapi.conv2d",
        "metadata[\"relax.expr.Constant\"][0]",
        ": R.Tensor((1, 8, 8, 4), dtype=\"float32\") = cls.tvmgen_default_nnapi_main_0(x)\n",
        "            R.output(gv)\n        return gv\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(out.data, parts[i])) fail_msg("there is no\n%s\nin\n%s", parts[i], out.data);
    nnv_text_free(&out);
    nnv_compiled_free(&c);
}

/* The form of the metadata that TVM writes since 0.21: types and data, an array in a node of its own. */
static void the_newer_metadata(void **state) {
    (void)state;
    static const int64_t two[] = {2};
    static const float numbers[] = {3, 4};
    const struct nnv_relay_tensor t = {nnv_relay_tensor_type(arena, NNV_RELAY_FLOAT32, 1, two), numbers,
                                       sizeof numbers};
    struct nnv_text bytes = {0}, text = {0};
    nnv_relay_array_write(&t, &bytes);
    nnv_text_add(&text, "metadata = tvm.ir.load_json(\"\"\"{\"root_index\": 4, \"nodes\": [\n"
                        "{\"type\": \"ffi.String\", \"data\": \"relax.expr.Constant\"},\n"
                        "{\"type\": \"ffi.Tensor\", \"data\": \"");
    nnv_text_add_base64(&text, bytes.data, bytes.len);
    nnv_text_add(&text, "\"},\n{\"type\": \"relax.expr.Constant\", \"data\": {\"data\": 1}},\n"
                        "{\"type\": \"ffi.Array\", \"data\": [2]},\n{\"type\": \"ffi.Map\", \"data\": [5, 0, 0, 3]},\n"
                        "{\"type\": \"ffi.String\", \"data\": \"a name whose value reads like another\"}]}\"\"\")\n");
    nnv_text_add(&text,
                 module_of("x: R.Tensor((2,), \"float32\")", "return R.add(x, metadata[\"relax.expr.Constant\"][0])"));
    module_gives(text.data, "1 2", "4 6");
    nnv_text_free(&bytes);
    nnv_text_free(&text);
}

/* Composites as functions of the module, as FuseOpsByPattern leaves them: the same as the literals of Relay. */
static void composites_of_the_module(void **state) {
    (void)state;
    static const char last[] = "    @R.function(private=True)\n"
                               "    def fused(a: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n"
                               "        R.func_attr({\"Composite\": \"nnapi.e\"})\n"
                               "        return R.nn.relu(R.exp(a))\n";
    const char *main_text =
        module_of("x: R.Tensor((2,), \"float32\")", "cls = Module\na: R.Tensor((2,), \"float32\") = cls.fused(x)\n"
                                                    "b: R.Tensor((2,), \"float32\") = cls.fused(a)\nreturn b");
    struct nnv_relay_module *relax = checked(nnv_arena_printf(arena, "%s\n%s", main_text, last));
    struct nnv_relay_module *relay = checked(
        "def @main(%x: Tensor[(2), float32]) { %0 = fn (%a: Tensor[(2), float32], Composite=\"nnapi.e\") -> "
        "Tensor[(2), float32] { nn.relu(exp(%a)) }; %1 = fn (%a: Tensor[(2), float32], Composite=\"nnapi.e\") -> "
        "Tensor[(2), float32] { nn.relu(exp(%a)) }; %2 = %0(%x); %1(%2) }");
    if (!nnv_relay_module_equal(relax, relay)) fail_msg("the composites are not where they are called");
    read_back_the_same(relax);
}

/* ------------------------------------------------------------------- mistakes */

static const struct {
    const char *params, *body, *message;
} mistakes[] = {
    {"x: R.Tensor((2,), \"float32\")", "return y", "a.py:8:16: y is not defined"},
    {"x: R.Tensor((2,), dtipe=\"float32\")", "return x", "a.py:7:38: R.Tensor has no parameter dtipe"},
    {"x: R.Tensor((2,), \"float32\")", "y = R.add(x, x)", "a.py:9:1: expected a return, not the end of the text"},
    {"x: R.Tensor((2,), \"float33\")", "return x", "a.py:7:32: this is no type of elements that is known"},
    {"x: R.Tensor((2,), \"float32\")", "y: R.Tensor((3,), \"float32\") = R.exp(x)\nreturn y",
     "a.py:8:9: y is not what its annotation says but Tensor[(2), float32]"},
    {"x: R.Tensor((2,), \"float32\"), y: R.Tensor((3,), \"float32\")", "return R.add(x, y)",
     "a.py:8:16: add: the operands' extents 2 and 3"},
    {"x: R.Tensor((2,), \"float32\")", "y = R.exp(x) x\nreturn y", "a.py:8:22: expected the end of the line, not 'x'"},
    {"x: R.Tensor((2,), \"float32\")", "  y = R.exp(x)\nreturn y", "a.py:9:9: "},
    {"x: R.Tensor((2,), \"float32\")", "with R.dataflow():\nreturn x", "a.py:9:9: expected an indented block"},
    {"x: R.Tensor((2,), \"float32\")", "return x\nreturn x", "a.py:9:9: expected the end of the function"},
    {"x: R.Tensor((2,), \"float32\"), x: R.Tensor((2,), \"float32\")", "return x", "parameter x is there twice"},
    {"x: R.Tensor((2,), \"float32\")", "return R.exp(x", "expected ',' or ')', not the end of the text"},
    {"x: R.Tensor((2,), \"float32\")", "return R.const([1, 2], \"float32\")", "mod.script(show_meta=True)"},
    {"x: R.Tensor((2,), \"float32\")", "return R.const(300, \"int8\")", "the number does not fit in int8"},
    {"x: R.Tensor((2,), \"float32\")", "return R.add(x, metadata[\"relax.expr.Constant\"][0])",
     "the constants' values are not in the text: print it by mod.script(show_meta=True)"},
    {"x: R.Tensor((2,), \"float32\")", "return R.nn.unheard_of(x)",
     "a.py:8:16: operator relax.nn.unheard_of is not known, and no annotation"},
    {"x: R.Tensor((2,), \"float32\")", "return R.exp(\"a string\n)", "a string that does not end"},
    {"x: R.Tensor((2,), \"float32\")", "return R.softmax x", "expected '(' and the operator's operands"},
};

static void each_mistake_has_its_place(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const char *text = module_of(mistakes[i].params, mistakes[i].body);
        struct nnv_relay_module *m;
        struct nnv_err err = {0};
        enum nnv_status st = nnv_relay_parse(text, strlen(text), "a.py", arena, &m, &err);
        if (st == NNV_OK) st = nnv_relay_check(m, &err);
        if (st == NNV_OK || !strstr(err.text, mistakes[i].message))
            fail_msg("%s\nsays: %s\nnot: %s", mistakes[i].body, err.text, mistakes[i].message);
    }
}

/* No text, however it is cut or changed, does more than be refused. */
static void cut_and_changed_texts(void **state) {
    (void)state;
    const char *text = module_of("x: R.Tensor((\"n\", 4), dtype=\"float32\")",
                                 "R.func_attr({\"a\": [1, 2], \"b\": {\"c\": 1}})\nwith R.dataflow():\n"
                                 "    a: R.Tensor((\"n\", 4), \"float32\") = R.nn.softmax(x, axis=-1)\n"
                                 "    b = R.matmul(a, R.permute_dims(x))\n    R.output(b)\nreturn (b, a)");
    static const char marks[] = "()[]{}:,='\"#@% \n.-9R\\";
    const size_t len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        for (size_t k = 0; k < sizeof marks; k++) {
            char *changed = nnv_arena_strdup(arena, text);
            struct nnv_relay_module *m;
            struct nnv_err err = {0};
            changed[i] = marks[k];
            enum nnv_status st = nnv_relay_parse(changed, k ? len : i, "a.py", arena, &m, &err);
            if (st == NNV_OK) st = nnv_relay_infer(m, &err);
            assert_true((st == NNV_OK) == (err.text[0] == '\0'));
        }
    }
}

/* Each record says of Relax what its operands and attributes allow. */
static void records_agree_with_themselves(void **state) {
    (void)state;
    const struct nnv_relay_op_row *row;
    struct nnv_relax_form form, found;
    for (size_t i = 0; (row = nnv_relay_op_at(i)); i++) {
        if (!nnv_relax_form_of(row, &form)) continue;
        size_t operands = 0;
        for (size_t k = 0; k < form.n; k++) operands += !form.params[k].attr && !form.params[k].ignored;
        if (operands < row->least || operands > row->most) fail_msg("%s: %zu operands", row->name, operands);
        const char *name = nnv_arena_printf(arena, "%.*s", (int)form.name_len, form.name);
        if (!nnv_relax_form_find(name, &found) || found.row != row) fail_msg("%s is two operators", name);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(operators_have_the_names_of_relax),
        TEST(products_are_those_that_relay_has),
        TEST(operators_that_relay_does_not_have_mean_what_they_mean),
        TEST(branches_and_functions),
        TEST(a_mobilenet_block),
        TEST(a_transformer_block),
        TEST(quantised_operators),
        TEST(what_is_written_reads_back),
        TEST(constants_and_regions_are_written_as_tvm_does),
        TEST(the_newer_metadata),
        TEST(composites_of_the_module),
        TEST(each_mistake_has_its_place),
        TEST(cut_and_changed_texts),
        TEST(records_agree_with_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
