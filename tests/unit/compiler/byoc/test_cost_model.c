/* SPDX-License-Identifier: Apache-2.0 */
/* Cost models, keys, recorded tables, and choosing the regions of Relay programs by cost. */
#include <math.h>
#include <time.h>

#include "compiler/byoc/cost/cost.h"
#include "tests/kit/byoc.h"

#define assert_near(a, b, within) assert_true(fabs((double)(a) - (double)(b)) <= (within))

static struct nnv_cost_model read_model(struct byoc *b, const char *text) {
    struct nnv_cost_model m;
    if (nnv_cost_read(text, text ? strlen(text) : 0, "M.json", b->arena, &m, &b->err) != NNV_OK)
        fail_msg("%s", b->err.text);
    return m;
}

static struct byoc check_begin(const char *text) {
    struct byoc b = byoc_begin(text);
    if (nnv_relay_check(b.m, &b.err) != NNV_OK) fail_msg("%s", b.err.text);
    return b;
}

static struct nnv_relay_expr *body(const struct byoc *b) { return nnv_relay_find(b->m, "main")->args[0]; }

/* ------------------------------------------------------------------------ work */

static void expect_work(const char *program, double flops, double bytes) {
    struct byoc b = check_begin(program);
    struct nnv_cost_model m = read_model(&b, NULL);
    struct nnv_cost_work w;
    assert_true(nnv_cost_work(&m, body(&b), b.arena, &w));
    if (w.flops != flops || w.bytes != bytes)
        fail_msg("%s: %g flops and %g bytes, not %g and %g", program, w.flops, w.bytes, flops, bytes);
    byoc_end(&b);
}

static void test_work(void **state) {
    (void)state;
    /* 2 * N*OH*OW*O * I/groups * KH*KW */
    expect_work("def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(6, 4, 3, 3), float32]) {"
                " nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=6, kernel_size=[3, 3]) }",
                2. * 8 * 8 * 6 * 4 * 9, 4. * (256 + 216 + 384));
    expect_work("def @main(%x: Tensor[(1, 8, 8, 4), float16], %w: Tensor[(3, 3, 4, 1), float16]) {"
                " nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=4, channels=4, kernel_size=[3, 3],"
                " data_layout=\"NHWC\", kernel_layout=\"HWOI\") }",
                2. * 8 * 8 * 4 * 9, 2. * (256 + 36 + 256));
    expect_work("def @main(%x: Tensor[(2, 10), float32], %w: Tensor[(5, 10), float32]) { nn.dense(%x, %w) }",
                2. * 2 * 5 * 10, 4. * (20 + 50 + 10));
    expect_work("def @main(%x: Tensor[(3, 4, 5), float32], %w: Tensor[(3, 6, 5), float32]) {"
                " nn.batch_matmul(%x, %w) }",
                2. * 3 * 4 * 6 * 5, 4. * (60 + 90 + 72));
    expect_work("def @main(%x: Tensor[(1, 2, 4, 4), float32]) {"
                " nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2]) }",
                8 * 4, 4. * (32 + 8));
    expect_work("def @main(%x: Tensor[(1, 2, 4, 4), float32]) { nn.global_avg_pool2d(%x) }", 32, 4. * (32 + 2));
    expect_work("def @main(%x: Tensor[(7), float32]) { nn.relu(%x) }", 7, 56);
    expect_work("def @main(%x: Tensor[(7), float32]) { exp(%x) }", 70, 56);
    expect_work("def @main(%x: Tensor[(6), float32]) { reshape(%x, newshape=[2, 3]) }", 0, 0);
    expect_work("def @main(%x: Tensor[(2, 3), float32]) { transpose(%x, axes=[1, 0]) }", 0, 48);
    expect_work("def @main(%x: Tensor[(2), float32]) { concatenate((%x, %x, %x)) }", 0, 48);
}

static void test_static_time(void **state) {
    (void)state;
    struct byoc b = check_begin("def @main(%x: Tensor[(1000), int8]) { abs(%x) }");
    struct nnv_cost_model m = read_model(
        &b, "{\"host\": {\"gflops\": {\"int8\": 0.5}, \"gbytes\": 4, \"op_us\": 3}, \"target\": {\"gbytes\": 0.1}}");
    struct nnv_cost_work w;
    assert_true(nnv_cost_work(&m, body(&b), b.arena, &w));
    assert_near(nnv_cost_static_us(&m.host, &w), 2 + 3, 1e-12);    /* 1000 at 0.5 G/s */
    assert_near(nnv_cost_static_us(&m.target, &w), 20 + 5, 1e-12); /* 2000 bytes at 0.1 GB/s */
    assert_near(m.host.gflops[NNV_RELAY_FLOAT32], 20, 0);          /* the default stays */
    byoc_end(&b);
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"[]", "M.json: the cost model: expected an object"},
        {"{\"hots\": {}}", "unknown member 'hots'"},
        {"{\"host\": {\"gbyte\": 1}}", "M.json: host: unknown member 'gbyte'"},
        {"{\"host\": {\"gbytes\": 0}}", "host.gbytes: expected a number above 0"},
        {"{\"target\": {\"launch_us\": -1}}", "target.launch_us: expected a number from 0"},
        {"{\"target\": {\"launch_us\": 1e300}}", "at most 1e12"},
        {"{\"target\": {\"gflops\": {\"float33\": 1}}}", "'float33' is no element type"},
        {"{\"crossing\": 3}", "crossing: expected an object"},
        {"{\"views\": 3}", "views: expected a list"},
        {"{\"flops_per_element\": {\"exp\": true}}", "flops_per_element.exp"},
        {"{\"ops\": {\"k\": 3}}", "for 'k'"},
        {"{\"ops\": {\"k\": {\"target\": \"x\"}}}", "ops.target: expected a number"},
        {"{\"ops\": {\"k\": {}, \"k\": {}}}", "M.json:1:"},
    };
    struct nnv_arena *arena = nnv_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nnv_cost_model m;
        struct nnv_err err = {0};
        assert_int_equal(nnv_cost_read(rows[i].text, strlen(rows[i].text), "M.json", arena, &m, &err), NNV_INVALID);
        if (!strstr(err.text, rows[i].error)) fail_msg("%s: %s", rows[i].text, err.text);
    }
    nnv_arena_free(arena);
}

/* ------------------------------------------------------------------------ keys */

static const char *key_of(struct nnv_arena *arena, const char *program, const char *patterns) {
    struct byoc b = check_begin(program);
    if (patterns) byoc_merge(&b, patterns);
    const char *key = nnv_cost_key(body(&b), arena);
    assert_non_null(key);
    byoc_end(&b);
    return key;
}

#define CONV(attributes, weight)                                                                                       \
    "def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[" weight ", float32]) { nn.conv2d(%x, %w, " attributes    \
    "channels=6, kernel_size=[3, 3]) }"

static void test_keys(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    const char *conv = key_of(a, CONV("", "(6, 4, 3, 3)"), NULL);
    assert_string_equal(
        conv, "nn.conv2d{channels=6,kernel_size=[3, 3]}(float32[1,4,8,8],float32[6,4,3,3])->float32[1,6,6,6]");
    /* a default that is written is not another structure */
    assert_string_equal(conv, key_of(a, CONV("groups=1, strides=[1, 1], ", "(6, 4, 3, 3)"), NULL));
    assert_string_not_equal(conv, key_of(a, CONV("padding=[1, 1, 1, 1], ", "(6, 4, 3, 3)"), NULL));
    assert_string_equal(key_of(a, "def @main(%x: Tensor[(2), float32]) { add(%x, 1f) }", NULL),
                        "add(float32[2],float32[]!)->float32[2]");
    static const char patterns[] =
        "[{\"name\": \"nnapi.a\", \"pattern\": {\"op\": \"nn.relu\", \"args\": [{\"op\": \"add\", \"args\": "
        "[\"*\", \"*\"]}]}}]";
    const char *one =
        key_of(a, "def @main(%x: Tensor[(2), float32], %y: Tensor[(2), float32]) { nn.relu(add(%x, %y)) }", patterns);
    assert_string_equal(one, "nnapi.a{add(#0,#1);nn.relu(%0)}(float32[2],float32[2])->float32[2]");
    nnv_arena_free(a);
}

/* ------------------------------------------------------------------- recorded tables */

#define T "Tensor[(4), float32]"
#define SHAPE "(float32[4])->float32[4]"
static const char chain[] = "def @main(%x: " T ") {\n"
                            "  %0 = abs(%x);\n  %1 = nn.relu(%0);\n  %2 = exp(%1);\n  %3 = sqrt(%2);\n  tanh(%3)\n}\n";
#define TABLE(launch)                                                                                                  \
    "{\"target\": {\"launch_us\": " launch "}, \"crossing\": {\"us\": 0.5, \"gbytes\": 1e12}, \"ops\": {"              \
    "\"abs" SHAPE "\": {\"host\": 10, \"target\": 2}, \"nn.relu" SHAPE "\": {\"host\": 1, \"target\": 0.5},"           \
    "\"exp" SHAPE "\": {\"host\": 1, \"target\": null}, \"sqrt" SHAPE "\": {\"host\": 8, \"target\": 2},"              \
    "\"tanh" SHAPE "\": {\"host\": 1, \"target\": 0.5}}}"
static const char all[] = "[\"abs\", \"nn.relu\", \"exp\", \"sqrt\", \"tanh\"]";

/* Partitions b's module by cost. */
static struct nnv_cost_selection by_cost(struct byoc *b, const struct nnv_cost_model *m, enum nnv_cost_method method,
                                         const char *supported, bool gains) {
    struct nnv_cost_selection selection = {.model = m, .method = method, .gains = gains, .arena = b->arena};
    struct nnv_prune prune = {.select = nnv_cost_select, .select_ctx = &selection};
    struct nnv_support *s = NULL;
    if (nnv_support_read(supported, strlen(supported), "S.json", NULL, 0, b->arena, &s, &b->err) != NNV_OK)
        fail_msg("%s", b->err.text);
    struct nnv_annotator a = nnv_support_annotator(s);
    if (nnv_partition(b->m, &a, &prune, &b->partition, &b->err) != NNV_OK) fail_msg("%s", b->err.text);
    return selection;
}

static void test_worked_example(void **state) {
    (void)state;
    static const struct {
        const char *table, *regions;
        double us;
    } rows[] = {{TABLE("1"), "%0,%1>nnapi;1/1 %3,%ret>nnapi;1/1|exp", 10},
                {TABLE("7"), "%0,%1>nnapi;1/1|exp,sqrt,tanh", 20.5},
                {TABLE("1e9"), "|abs,nn.relu,exp,sqrt,tanh", 21}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int method = 0; method < NNV_COST_METHODS; method++) {
            struct byoc b = check_begin(chain);
            struct nnv_cost_model m = read_model(&b, rows[i].table);
            struct nnv_cost_selection s = by_cost(&b, &m, (enum nnv_cost_method)method, all, false);
            byoc_regions(&b, rows[i].regions);
            assert_int_equal(s.n_results, 1);
            assert_near(s.results[0].us, rows[i].us, 1e-6);
            assert_near(s.results[0].host_us, 21, 1e-6);
            assert_int_equal(s.results[0].missing, 0);
            assert_int_equal(s.results[0].n_regions, b.partition.n_extracted);
            if (method != NNV_COST_GREEDY) assert_true(s.results[0].lower_us == s.results[0].us);
            byoc_end(&b);
        }
}

static void test_missing_keys(void **state) {
    (void)state;
    struct byoc b = check_begin("def @main(%x: " T ") { floor(sqrt(ceil(%x))) }");
    struct nnv_cost_model m = read_model(&b, TABLE("1"));
    struct nnv_cost_selection s = by_cost(&b, &m, NNV_COST_EXACT, "[\"sqrt\"]", false);
    assert_int_equal(s.results[0].missing, 2);
    byoc_end(&b);
}

/* Alone in the model, each region of the worked example pays up to a launch of what it saves. */
static void test_break_even(void **state) {
    (void)state;
    struct byoc b = check_begin(chain);
    struct nnv_cost_model m = read_model(&b, TABLE("1"));
    struct nnv_cost_selection s = by_cost(&b, &m, NNV_COST_EXACT, all, false);
    assert_int_equal(s.results[0].n_regions, 2);
    const struct nnv_cost_region *r = s.results[0].regions;
    /* a, b: 11 on the host, 2.5 on the target, in and out 1 */
    assert_near(r[0].break_even_us, 7.5, 1e-6);
    assert_near(r[0].saved_us, 6.5, 1e-6);
    assert_near(r[0].us, 4.5, 1e-6);
    assert_near(r[0].host_us, 11, 1e-6);
    assert_near(r[1].break_even_us, 5.5, 1e-6);
    byoc_end(&b);
    /* and so the optimum has both below 5.5, one below 7.5, none above */
    static const struct {
        const char *table;
        size_t regions;
    } rows[] = {{TABLE("5.49"), 2}, {TABLE("5.51"), 1}, {TABLE("7.49"), 1}, {TABLE("7.51"), 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        b = check_begin(chain);
        m = read_model(&b, rows[i].table);
        by_cost(&b, &m, NNV_COST_EXACT, all, false);
        assert_int_equal(b.partition.n_extracted, rows[i].regions);
        byoc_end(&b);
    }
}

/* The gain of a refused operator is what the cost falls by once it is accepted. */
static void test_gains(void **state) {
    (void)state;
    struct byoc b = check_begin(chain);
    struct nnv_cost_model m =
        read_model(&b, "{\"host\": {\"op_us\": 100}, \"target\": {\"op_us\": 1, \"launch_us\": 20},"
                       "\"crossing\": {\"us\": 3, \"gbytes\": 1e12}}");
    struct nnv_cost_selection s = by_cost(&b, &m, NNV_COST_EXACT, "[\"abs\", \"nn.relu\", \"tanh\"]", true);
    const struct nnv_cost_result *r = &s.results[0];
    assert_int_equal(r->n_gains, 2);
    static const char *const more[] = {"[\"abs\", \"nn.relu\", \"tanh\", \"sqrt\"]",
                                       "[\"abs\", \"nn.relu\", \"tanh\", \"exp\"]"};
    for (size_t i = 0; i < 2; i++) {
        struct byoc again = check_begin(chain);
        struct nnv_cost_selection t =
            by_cost(&again, &m, NNV_COST_EXACT, more[strcmp(r->gains[i].op, "exp") == 0], false);
        assert_near(r->gains[i].us, r->us - t.results[0].us, 1e-6);
        assert_true(r->gains[i].us > 0 && r->gains[i].proven);
        assert_int_equal(r->gains[i].calls, 1);
        byoc_end(&again);
    }
    assert_true(r->gains[0].us >= r->gains[1].us);
    byoc_end(&b);
}

/* An operand that is passed twice, tuples, a branch: what crosses is counted by tensor. */
static void test_tensors(void **state) {
    (void)state;
    static const char program[] = "def @main(%x: " T ", %c: bool) {\n"
                                  "  %0 = split(%x, indices_or_sections=2);\n"
                                  "  %1 = %0.0;\n  %2 = %0.1;\n"
                                  "  %3 = add(%1, %1);\n"
                                  "  if (%c) { nn.relu(%3) } else { nn.relu(%2) }\n}\n";
    static const struct {
        const char *gbytes; /* of what crosses in a microsecond, thousands of bytes */
        double us;
    } rows[] = {{"1e9", 70}, {"0.001", 70 + 16 + 6 * 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct byoc b = check_begin(program);
        struct nnv_cost_model m = read_model(
            &b, nnv_arena_printf(b.arena,
                                 "{\"host\": {\"op_us\": 1000},"
                                 "\"target\": {\"gflops\": 1e9, \"gbytes\": 1e9, \"op_us\": 0, \"launch_us\": 1},"
                                 "\"crossing\": {\"us\": 10, \"gbytes\": %s}}",
                                 rows[i].gbytes));
        struct nnv_cost_selection s = by_cost(&b, &m, NNV_COST_EXACT, "[\"split\", \"add\", \"nn.relu\"]", false);
        /* three regions; x, 16 bytes, in; of 8 bytes each: %3 out, in; %2 out, in; both results out */
        assert_int_equal(b.partition.n_extracted, 3);
        assert_near(s.results[0].launch_us, 3, 1e-6);
        assert_near(s.results[0].transfer_us, rows[i].us, 1e-3);
        byoc_end(&b);
    }
}

/* -------------------------------------------------------------------- networks */

struct net {
    struct nnv_text text, params;
    int n, channels, size;
};

/* conv, batch norm, relu, each an operator; %n is the last one. */
static void conv_block(struct net *t, int channels, int kernel, int stride, bool depthwise, bool relu) {
    int from = t->n, pad = kernel / 2, w = t->n;
    t->size /= stride;
    nnv_text_addf(&t->params, ", %%w%d: Tensor[(%d, %d, %d, %d), float32]", w, channels, depthwise ? 1 : t->channels,
                  kernel, kernel);
    for (int k = 0; k < 4; k++) nnv_text_addf(&t->params, ", %%b%d_%d: Tensor[(%d), float32]", w, k, channels);
    nnv_text_addf(&t->text,
                  "  %%%d = nn.conv2d(%%%d, %%w%d, strides=[%d, %d], padding=[%d, %d, %d, %d], groups=%d, channels=%d,"
                  " kernel_size=[%d, %d]);\n",
                  from + 1, from, w, stride, stride, pad, pad, pad, pad, depthwise ? channels : 1, channels, kernel,
                  kernel);
    nnv_text_addf(&t->text, "  %%%d = nn.batch_norm(%%%d, %%b%d_0, %%b%d_1, %%b%d_2, %%b%d_3);\n  %%%d = %%%d.0;\n",
                  from + 2, from + 1, w, w, w, w, from + 3, from + 2);
    if (relu) nnv_text_addf(&t->text, "  %%%d = clip(%%%d, a_min=0f, a_max=6f);\n", from + 4, from + 3);
    t->n = from + 3 + relu;
    t->channels = channels;
}

static char *finish(struct net *t) {
    nnv_text_addf(&t->text,
                  "  %%%d = nn.global_avg_pool2d(%%%d);\n  %%%d = nn.batch_flatten(%%%d);\n"
                  "  %%%d = nn.dense(%%%d, %%wd, units=1000);\n  nn.softmax(%%%d)\n}\n",
                  t->n + 1, t->n, t->n + 2, t->n + 1, t->n + 3, t->n + 2, t->n + 3);
    struct nnv_text all_of = {0};
    nnv_text_addf(&all_of,
                  "def @main(%%data: Tensor[(1, 3, 224, 224), float32]%s, %%wd: Tensor[(1000, %d), float32]) {\n%s",
                  t->params.data, t->channels, t->text.data);
    nnv_text_free(&t->text);
    nnv_text_free(&t->params);
    return all_of.data;
}

static char *mobilenet_v1(void) {
    static const int rows[][2] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    struct net t = {.channels = 3, .size = 224};
    nnv_text_add(&t.text, "  %0 = nn.relu(%data);\n");
    conv_block(&t, 32, 3, 2, false, true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        conv_block(&t, t.channels, 3, rows[i][1], true, true);
        conv_block(&t, rows[i][0], 1, 1, false, true);
    }
    return finish(&t);
}

static char *mobilenet_v2(void) {
    static const int rows[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                  {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    struct net t = {.channels = 3, .size = 224};
    nnv_text_add(&t.text, "  %0 = nn.relu(%data);\n");
    conv_block(&t, 32, 3, 2, false, true);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int k = 0; k < rows[i][2]; k++) {
            int from = t.n, in = t.channels, stride = k ? 1 : rows[i][3];
            if (rows[i][0] > 1) conv_block(&t, in * rows[i][0], 1, 1, false, true);
            conv_block(&t, t.channels, 3, stride, true, true);
            conv_block(&t, rows[i][1], 1, 1, false, false);
            if (stride == 1 && in == rows[i][1]) {
                nnv_text_addf(&t.text, "  %%%d = add(%%%d, %%%d);\n", t.n + 1, from, t.n);
                t.n++;
            }
        }
    conv_block(&t, 1280, 1, 1, false, true);
    return finish(&t);
}

/* With every kind of support and launch, the exact search proves its answer, soon. */
static void prove(char *text, size_t least_ops) {
    static const char *const supports[] = {
        "[\"nn.conv2d\", \"nn.batch_norm\", \"clip\", \"add\", \"nn.relu\", \"nn.dense\", \"nn.global_avg_pool2d\"]",
        "[\"nn.conv2d\", \"clip\", \"add\"]", "[\"nn.conv2d\", \"nn.batch_norm\", \"add\"]",
        "[\"nn.conv2d\", \"nn.batch_norm\", {\"op\": \"clip\", \"attr\": \"a_max\", \"in\": [1]}, \"add\"]"};
    static const char *const models[] = {NULL, "{\"target\": {\"launch_us\": 50}}",
                                         "{\"target\": {\"launch_us\": 1500}}",
                                         "{\"target\": {\"gflops\": 30, \"launch_us\": 5}, \"crossing\": {\"us\": 5}}"};
    for (size_t i = 0; i < 16; i++) {
        struct byoc b = check_begin(text);
        struct nnv_cost_model m = read_model(&b, models[i / 4]);
        clock_t begin = clock();
        struct nnv_cost_selection s = by_cost(&b, &m, NNV_COST_EXACT, supports[i % 4], false);
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        assert_true(b.partition.n_host + s.results[0].n_regions >= 1);
        size_t ops = b.partition.n_host;
        for (size_t r = 0; r < b.partition.n_extracted; r++) ops += b.partition.extracted[r].n_ops;
        assert_true(ops >= least_ops);
        if (s.results[0].lower_us != s.results[0].us) fail_msg("case %d: a gap", (int)i);
        if (seconds > 5) fail_msg("case %d: %.1f s", (int)i, seconds);
        byoc_end(&b);
    }
    free(text);
}

static void test_mobilenet_v1(void **state) {
    (void)state;
    prove(mobilenet_v1(), 80);
}

static void test_mobilenet_v2(void **state) {
    (void)state;
    prove(mobilenet_v2(), 150);
}

/* The same input gives the same bytes, for any method. */
static void test_deterministic(void **state) {
    (void)state;
    char *text = mobilenet_v2();
    for (int method = 0; method < NNV_COST_METHODS; method++) {
        struct nnv_text out[2] = {{0}};
        for (int k = 0; k < 2; k++) {
            struct byoc b = check_begin(text);
            struct nnv_cost_model m = read_model(&b, NULL);
            struct nnv_cost_selection s = by_cost(&b, &m, (enum nnv_cost_method)method,
                                                  "[\"nn.conv2d\", \"add\", \"clip\"]", k == 0 || method == 0);
            s.results[0].n_gains = 0;
            nnv_cost_print(&s, &out[k]);
            nnv_partition_print(&b.partition, &out[k]);
            json_t *json = json_loadb(out[k].data, out[k].len, JSON_DISABLE_EOF_CHECK, NULL);
            assert_non_null(json);
            assert_int_equal(json_array_size(json_object_get(json, "functions")), 1);
            json_decref(json);
            byoc_end(&b);
        }
        assert_string_equal(out[0].data, out[1].data);
        nnv_text_free(&out[0]);
        nnv_text_free(&out[1]);
    }
    free(text);
}

/* Ten thousand operations on a chain with skips. */
static void test_large(void **state) {
    (void)state;
    struct nnv_text t = {0};
    nnv_text_add(&t, "def @main(%x: Tensor[(64, 1024), float32]) {\n  %0 = abs(%x);\n  %1 = abs(%0);\n");
    for (int i = 2; i < 10000; i++)
        nnv_text_addf(&t, i % 7 ? "  %%%d = %s(%%%d);\n" : "  %%%d = %s(%%%d, %%%d);\n", i,
                      i % 7 == 0    ? "add"
                      : i % 11 == 0 ? "erf"
                                    : "nn.relu",
                      i - 1, i - 2);
    nnv_text_add(&t, "  abs(%9999)\n}\n");
    for (int method = 0; method < NNV_COST_METHODS; method++) {
        struct byoc b = check_begin(t.data);
        struct nnv_cost_model m = read_model(&b, NULL);
        clock_t begin = clock();
        struct nnv_cost_selection s =
            by_cost(&b, &m, (enum nnv_cost_method)method, "[\"nn.relu\", \"add\", \"abs\"]", false);
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (seconds > 10) fail_msg("%s: %.1f s", nnv_cost_methods[method], seconds);
        assert_true(s.results[0].lower_us <= s.results[0].us && s.results[0].us <= s.results[0].host_us);
        if (method == NNV_COST_EXACT) assert_true(s.results[0].lower_us == s.results[0].us);
        byoc_end(&b);
    }
    nnv_text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work),           cmocka_unit_test(test_static_time),
        cmocka_unit_test(test_errors),         cmocka_unit_test(test_keys),
        cmocka_unit_test(test_worked_example), cmocka_unit_test(test_missing_keys),
        cmocka_unit_test(test_break_even),     cmocka_unit_test(test_gains),
        cmocka_unit_test(test_tensors),        cmocka_unit_test(test_mobilenet_v1),
        cmocka_unit_test(test_mobilenet_v2),   cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
