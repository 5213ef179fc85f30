/* SPDX-License-Identifier: Apache-2.0 */
/* Models with control flow: refused, written, and carried to drivers. */
#include "tests/kit/control.h"

#include "base/clock.h"
#include "harness/client/abi.h"
#include "harness/runner/suite.h"
#include "nnvts/result.h"

/* ----------------------------------------------------------------- refused uses */

static void check_refused(const struct nnv_spec *spec, const char *reason) {
    struct nnv_err err = {0};
    int level = 0;
    if (nnv_validate(&spec->model, arena, &level, &err) != NNV_INVALID) fail_msg("not refused: %s", reason);
    assert_string_equal(err.text, reason);
}

/* The valid model is refused after a change to main m, its operation o, or the referenced subgraphs r. */
#define REFUSED(json, change, reason)                                                                                  \
    do {                                                                                                               \
        struct nnv_spec *spec = parse(json);                                                                           \
        struct nnv_subgraph *m = &spec->model.main, *r = spec->model.referenced;                                       \
        struct nnv_operation *o = m->operations;                                                                       \
        assert_int_equal(nnv_validate(&spec->model, arena, NULL, NULL), NNV_OK);                                       \
        (void)m, (void)r, (void)o;                                                                                     \
        change;                                                                                                        \
        check_refused(spec, reason);                                                                                   \
    } while (0)

static void test_refused_ifs(void **state) {
    (void)state;
    static const char valid[] = IF_SPEC("1", "1,2", "10,20", "11,22");
    REFUSED(valid, m->operands[0].type = ANEURALNETWORKS_TENSOR_INT32,
            "operation 0 (IF): input 0 (condition): TENSOR_INT32 is not accepted here, expected TENSOR_BOOL8");
    REFUSED(valid, m->operands[0].dims[0] = 2,
            "operation 0 (IF): input 0 (condition): a condition of shape [2], expected [1]");
    REFUSED(valid, m->operands[0].dims[0] = 0,
            "operation 0 (IF): input 0 (condition): a condition of shape [?], expected [1]");
    REFUSED(valid, m->operands[0].rank = 0,
            "operation 0 (IF): input 0 (condition): a condition of shape [?...], expected [1]");
    REFUSED(valid, (m->operands[0].rank = 2, m->operands[0].dims = m->operands[3].dims),
            "operation 0 (IF): input 0 (condition): rank 2 is above 1");
    REFUSED(valid, o->in[1] = 3,
            "operation 0 (IF): input 1 (then): TENSOR_FLOAT32 is not accepted here, expected MODEL");
    REFUSED(valid, o->nin = 2, "operation 0 (IF): 2 inputs: expected at least 3");
    REFUSED(valid, o->nin = 3, "operation 0 (IF): 0 arguments, but the then subgraph takes 2");
    REFUSED(valid, m->operands[1].subgraph = 9, "operand 1: there is no referenced subgraph 9");
    REFUSED(valid, r[1].nin = 1, "operation 0 (IF): 2 arguments, but the else subgraph takes 1");
    REFUSED(valid, r[1].nout = 0, "operation 0 (IF): 1 output, but the else subgraph gives 0");
    REFUSED(valid, r[0].operands[0].type = ANEURALNETWORKS_TENSOR_FLOAT16,
            "operation 0 (IF): input 3 as input 0 of the then subgraph: TENSOR_FLOAT32, but TENSOR_FLOAT16 in the "
            "subgraph");
    REFUSED(valid, r[1].operands[1].dims[0] = 3,
            "operation 0 (IF): input 4 as input 1 of the else subgraph: shape [2], but [3] in the subgraph");
    REFUSED(valid, r[1].operands[3].type = ANEURALNETWORKS_TENSOR_INT32,
            "operation 0 (IF): output 0 as output 0 of the else subgraph: TENSOR_FLOAT32, but TENSOR_INT32 in the "
            "subgraph");
    REFUSED(valid, r[0].in[0] = 99,
            "operation 0 (IF): input 3 as input 0 of the then subgraph: there is no operand 99 in the subgraph");
    REFUSED(valid, (m->operands[4].lifetime = NNV_NO_VALUE, m->nin = 2),
            "operation 0 (IF): input 4 (argument): has no value, but may not be omitted");
    REFUSED(valid, r[1].operations[0].in[0] = 3,
            "referenced subgraph 1: operation 0 (SUB): input 0: operand 3 is read before it is written");
}

static void test_model_is_no_argument(void **state) {
    (void)state;
    struct nnv_spec *spec = parse(IF_SPEC("1", "1,2", "10,20", "11,22"));
    struct nnv_err err = {0};
    spec->model.main.operations[0].in[3] = 1;
    assert_int_equal(nnv_validate(&spec->model, arena, NULL, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "operation 0 (IF): input 3 (argument): MODEL is not accepted here"));
}

#define QUANT(life) OPERAND("TENSOR_QUANT8_ASYMM", "2", life, ",'scale':0.5,'zero_point':9")
#define QUANT_BRANCH GRAPH(QUANT(IN) "," QUANT(OUT), USE("RELU", "0", "1"), "0", "1")
static void test_refused_quantisation(void **state) {
    (void)state;
    static const char valid[] = SPEC(
        "",
        GRAPH(BIN("1") "," MODEL("0") "," OPERAND(
                  "TENSOR_QUANT8_ASYMM", "2", IN,
                  ",'scale':0.5,'zero_point':9,'data':[1,2]") "," OPERAND("TENSOR_QUANT8_ASYMM", "2", OUT,
                                                                          ",'scale':0.5,'zero_point':9,'data':[9,9]"),
              USE("IF", "0,1,1,2", "3"), "0,2", "3"),
        QUANT_BRANCH);
    holds(valid);
    REFUSED(valid, m->operands[2].scale = 0.25f,
            "operation 0 (IF): input 3 as input 0 of the then subgraph: scale 0.25, but 0.5 in the subgraph");
    REFUSED(valid, m->operands[3].zero_point = 8,
            "operation 0 (IF): output 0 as output 0 of the then subgraph: zero point 8, but 9 in the subgraph");
}

static void test_refused_whiles(void **state) {
    (void)state;
    static const char valid[] = SUM_SPEC("", "0", "5", "100", "5", "110");
    REFUSED(valid, o->nin = 2, "operation 0 (WHILE): 2 inputs: expected at least 3");
    REFUSED(valid, r[0].operands[3].type = ANEURALNETWORKS_TENSOR_INT32,
            "operation 0 (WHILE): output 0 of the condition subgraph: a condition of type TENSOR_INT32, expected "
            "TENSOR_BOOL8");
    REFUSED(valid, r[0].operands[3].dims[0] = 2,
            "operation 0 (WHILE): output 0 of the condition subgraph: a condition of shape [2], expected [1]");
    REFUSED(valid, r[0].nout = 0, "operation 0 (WHILE): the condition subgraph gives 0 outputs, expected 1");
    REFUSED(valid, r[0].nin = 2, "operation 0 (WHILE): 3 arguments, but the condition subgraph takes 2");
    REFUSED(valid, r[1].nin = 2, "operation 0 (WHILE): 3 arguments, but the body takes 2");
    REFUSED(valid, r[1].nout = 1, "operation 0 (WHILE): 2 outputs, but the body gives only 1");
    REFUSED(valid, r[1].nin = 1, "operation 0 (WHILE): the body gives 2 values, but takes only 1");
    REFUSED(
        valid, r[0].operands[2].type = ANEURALNETWORKS_TENSOR_FLOAT32,
        "operation 0 (WHILE): input 4 as input 2 of the condition subgraph: TENSOR_INT32, but TENSOR_FLOAT32 in the "
        "subgraph");
    REFUSED(valid, r[1].operands[4].dims[0] = 2,
            "operation 0 (WHILE): output 1 as output 1 of the body: shape [1], but [2] in the subgraph");
    /* what only the next iteration would take amiss */
    static const char hidden[] = FIBONACCI("2", "2");
    REFUSED(hidden, r[1].operands[5].dims[0] = 2,
            "operation 0 (WHILE): output 1 of the body as input 1 of the body: shape [2], but [1] in the subgraph");
}

/* Shapes that no validation can know: the body gives what the condition, or itself, does not take. */
static void test_refused_at_run_time(void **state) {
    (void)state;
    struct nnv_golden out[2];
    struct nnv_err err;
    struct nnv_spec *spec = parse(GROWING("0", "3", "4", "1,5,5,5"));
    spec->model.referenced[0].operands[1].dims[0] = 3;
    spec->model.main.operands[3].dims[0] = 3; /* three numbers to begin with */
    spec->inputs[0].dims[0] = 3;
    spec->inputs[0].bytes = 12;
    spec->inputs[0].data = nnv_arena_copy(arena, (float[]){1, 2, 3}, 12);
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, out, &err), NNV_INVALID);
    assert_string_equal(err.text,
                        "operation 0 (WHILE): iteration 2: subgraph 0: input 1: its shape is [4] but the model "
                        "declares [3]");
    spec = parse(IF_SPEC("1", "1,2", "10,20", "11,22"));
    spec->inputs[2].omitted = true; /* by the request */
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, out, &err), NNV_INVALID);
    assert_string_equal(err.text, "operation 0 (IF): input 4 (argument): has no value, but may not be omitted");
    spec = parse(EITHER("1", "0", "4", "1,2,1,2"));
    spec->model.referenced[0].operands[2].rank = 0;
    spec->model.main.operands[4].dims[0] = 2;
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, out, &err), NNV_INVALID);
    assert_string_equal(err.text, "operation 0 (IF): output 0: its shape is [4] but the model declares [2]");
}

/* ------------------------------------------------------------------- recursion */

/* A chain: main refers to 0, each subgraph to the next, the last is `last`. */
static struct nnv_spec *chain(int deep, const char *last) {
    struct nnv_text t = {0};
    nnv_text_add(&t, "{'format':'nnvts-spec/1','name':'t','main':" GRAPH(
                         BIN("1") "," MODEL("0") "," OPERAND("TENSOR_BOOL8", "1", OUT, DATA("0")),
                         USE("IF", "0,1,1,0", "2"), "0", "2") ",'referenced':[");
    for (int i = 1; i < deep; i++)
        nnv_text_addf(&t, GRAPH(B(IN) "," MODEL("%d") "," B(OUT), USE("IF", "0,1,1,0", "2"), "0", "2") ",", i);
    nnv_text_addf(&t, "%s]}", last);
    struct nnv_spec *spec = parse(t.data);
    nnv_text_free(&t);
    return spec;
}

#define NOT GRAPH(B(IN) "," B(OUT), USE("LOGICAL_NOT", "0", "1"), "0", "1")
static void test_nesting(void **state) {
    (void)state;
    struct nnv_golden out;
    struct nnv_err err;
    const struct nnv_spec *spec = chain(NNV_MAX_NESTING, NOT);
    if (evaluate(spec, &(struct nnv_eval_options){.rows = 8, .k = 2}, &out, &err)) fail_msg("%s", err.text);
    assert_int_equal(*(uint8_t *)out.value.data, 0);
    spec = chain(NNV_MAX_NESTING + 1, NOT);
    assert_int_equal(evaluate(spec, &(struct nnv_eval_options){0}, &out, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "subgraphs are nested more than 64 deep"));
}

/* The depth is that of the longest way, whatever is seen first: 0 is also reached by way of all the others. */
static void test_nesting_by_a_detour(void **state) {
    (void)state;
    struct nnv_spec *spec = chain(60, NOT);
    struct nnv_model *m = &spec->model;
    struct nnv_subgraph *more = NNV_NEW(arena, struct nnv_subgraph, 65);
    memcpy(more, m->referenced, 60 * sizeof *more);
    const struct nnv_spec *before = chain(6, NOT);
    for (int i = 0; i < 5; i++) { /* 60 -> 61 -> ... -> 64 -> 0 */
        more[60 + i] = before->model.referenced[i];
        more[60 + i].operands[1].subgraph = i < 4 ? 61 + (uint32_t)i : 0;
    }
    m->referenced = more;
    m->nreferenced = 65;
    struct nnv_err err = {0};
    struct nnv_operand *added = NNV_NEW(arena, struct nnv_operand, 4); /* main refers to 0, then to 60 */
    memcpy(added, m->main.operands, 3 * sizeof *added);
    added[3] = (struct nnv_operand){.type = ANEURALNETWORKS_MODEL, .lifetime = NNV_SUBGRAPH, .subgraph = 60};
    m->main.operands = added;
    m->main.noperands = 4;
    assert_int_equal(nnv_validate(m, arena, NULL, &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "subgraphs are nested more than 64 deep"));
    added[3].subgraph = 61;
    more[60].operands[1].subgraph = 1; /* nobody runs 60; 61 to 64 and 0 to 59 are 64 */
    if (nnv_validate(m, arena, NULL, &err)) fail_msg("%s", err.text);
}

static void test_recursion(void **state) {
    (void)state;
    static const char *const self = GRAPH(B(IN) "," MODEL("0") "," B(OUT), USE("IF", "0,1,1,0", "2"), "0", "2");
    struct nnv_spec *spec = chain(1, self);
    check_refused(spec, "operand 1: referenced subgraph 0: operand 1: referenced subgraph 0 refers to itself in the "
                        "end, but recursion is not allowed");
    spec = chain(3, self); /* 0 -> 1 -> 2 -> 0 */
    check_refused(spec, "operand 1: referenced subgraph 0: operand 1: referenced subgraph 0 refers to itself in the "
                        "end, but recursion is not allowed");
    spec = chain(3, NOT); /* main does not reach 1 and 2 any more, which refer to each other */
    spec->model.referenced[0] = spec->model.referenced[2];
    spec->model.referenced[2] = spec->model.referenced[1];
    spec->model.referenced[2].operands =
        nnv_arena_copy(arena, spec->model.referenced[1].operands, 3 * sizeof *spec->model.referenced[1].operands);
    spec->model.referenced[2].operands[1].subgraph = 1;
    check_refused(spec, "referenced subgraph 1: operand 1: referenced subgraph 1 refers to itself in the end, but "
                        "recursion is not allowed");
}

static void test_malformed_texts(void **state) {
    (void)state;
    static const struct {
        const char *json, *reason;
    } cases[] = {
        {SPEC("", GRAPH(MODEL("1"), "", "", ""), NOT),
         "t: main.operands[0].data[0]: expected an index into \"referenced\", an integer from 0 to 0, got 1"},
        {SPEC("", GRAPH(MODEL("-1"), "", "", ""), NOT),
         "t: main.operands[0].data[0]: expected an index into \"referenced\", an integer from 0 to 0, got -1"},
        {SPEC("", GRAPH(MODEL("0"), "", "", ""), ""),
         "t: main.operands[0].data: expected subgraphs in \"referenced\" to refer to, got an array of 1"},
        {SPEC("", GRAPH(MODEL("0"), "", "", ""), GRAPH(MODEL("7"), "", "", "")),
         "t: referenced[0].operands[0].data[0]: expected an index into \"referenced\", an integer from 0 to 0, got 7"},
        {SPEC("", GRAPH(OPERAND("SUBGRAPH", "", "SUBGRAPH", ""), "", "", ""), NOT),
         "t: main.operands[0].data: expected an array with one index into \"referenced\", got nothing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct nnv_err err;
        parse_as(cases[i].json, NNV_INVALID, &err);
        assert_string_equal(err.text, cases[i].reason);
    }
}

/* --------------------------------------------------------------------- writing */

static void test_writers(void **state) {
    (void)state;
    struct nnv_text t = {0}, again = {0};
    const struct nnv_spec *spec = parse(CHOOSING("3", "11,22"));
    for (int pretty = 0; pretty < 2; pretty++) {
        struct nnv_spec *copy = NULL;
        nnv_text_clear(&t);
        nnv_text_clear(&again);
        nnv_spec_write_json(spec, pretty, &t);
        assert_int_equal(nnv_spec_parse(t.data, t.len, "t", arena, &copy, NULL), NNV_OK);
        nnv_spec_write_json(copy, pretty, &again);
        assert_string_equal(t.data, again.data);
        assert_int_equal(copy->model.nreferenced, 4);
        assert_int_equal(copy->model.referenced[1].operands[11].subgraph, 3);
    }
    nnv_text_clear(&t);
    nnv_spec_write_modpy(spec, &t);
    const char *branch = strstr(t.data, "sub3 = Model(\"sub3\").IdentifyInputs(sub3_op0, sub3_op1)");
    const char *body = strstr(t.data, "sub1_op11 = SubgraphReference(\"sub1_op11\", sub3)\n");
    const char *use = strstr(t.data, "model = model.Operation(\"WHILE\", op0, op1, op2, op3, op4, op5).To(op6, op7)\n");
    assert_true(branch && body && use && branch < body && body < use); /* a name stands before its uses */
    nnv_text_clear(&t);
    nnv_spec_write_dot(spec, 0, &t);
    assert_non_null(strstr(t.data, "subgraph cluster_3 {\n  label=\"subgraph 3\";\n"));
    assert_non_null(strstr(t.data, "label=\"%1\\nsubgraph 1\""));
    nnv_text_clear(&t);
    nnv_spec_write_summary(spec, &t);
    assert_non_null(strstr(t.data, "0  WHILE(%0 = subgraph 0, %1 = subgraph 1, "));
    assert_non_null(strstr(t.data, "2  IF(%9 TENSOR_BOOL8 [1], %10 = subgraph 2, %11 = subgraph 3, "));
    nnv_text_free(&t);
    nnv_text_free(&again);
}

/* --------------------------------------------------------------------- drivers */

static struct nnv_client open_client(const char *name, const char *options) {
    struct nnv_client client = {0};
    struct nnv_err err = {0};
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    const char *path = nnv_arena_printf(arena, "%s/%s.so", folder ? folder : "build/drivers", name);
    if (nnv_client_open(&client, path, options, &err) != NNV_OK) fail_msg("%s (make builds it)", err.text);
    return client;
}

static int judge(const char *driver, const char *options, const char *json) {
    struct nnv_client client = open_client(driver, options);
    struct nnv_result result = {0};
    const struct nnv_run_config config = {.precision = -1};
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = arena, .phase = NULL};
    nnv_judge(&env, parse(json), 0, NNV_PRECISION_BUDGET, &result);
    int verdict = result.verdict;
    nnv_client_close(&client);
    nnv_text_free(&result.reason);
    nnv_text_free(&result.outputs);
    return verdict;
}

/* Subgraphs, and large constants in them, come to a driver as they are. */
#define LARGE "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38"
#define HEAVY                                                                                                          \
    SPEC("",                                                                                                           \
         GRAPH(BIN("1") "," MODEL("0") "," FIN("38", LARGE) "," FOUT("38", LARGE), USE("IF", "0,1,1,2", "3"), "0,2",   \
               "3"),                                                                                                   \
         GRAPH(F("38", IN) "," OPERAND("TENSOR_FLOAT32", "38", "CONSTANT_REFERENCE", DATA(LARGE)) "," F("38", OUT),    \
               USE("MAXIMUM", "0,1", "2"), "0", "2"))
static void test_drivers(void **state) {
    (void)state;
    static const char *const specs[] = {IF_SPEC("0", "1,2", "10,20", "-9,-18"),
                                        EITHER("1", "0", "4", "1,2,1,2"),
                                        SUM_SPEC("", "0", "5", "100", "5", "110"),
                                        CHOOSING("3", "11,22"),
                                        GROWING("", "2", "3", "1,5,5"),
                                        HEAVY};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        assert_int_equal(judge("reference", NULL, specs[i]), NNVTS_PASS);
        int cpu = judge("cpu", NULL, specs[i]); /* says honestly what it can do */
        assert_true(cpu == NNVTS_UNSUPPORTED || cpu == NNVTS_PASS);
    }
}

/* An operation that nobody knows, in a subgraph: the driver must not claim the IF. */
static void test_honest_support(void **state) {
    (void)state;
    struct nnv_client client = open_client("reference", NULL);
    struct nnv_spec *spec = parse(CHOOSING("3", "11,22"));
    for (int unknown = 0; unknown < 2; unknown++) {
        struct nnvts_model model;
        struct nnv_abi_pool constants = {0};
        bool supported = !unknown;
        if (unknown) spec->model.referenced[3].operations[0].type = 10000; /* OEM_OPERATION */
        assert_int_equal(nnv_abi_model(&spec->model, arena, NNV_POOL_FD_ONLY, &model, &constants, NULL), NNV_OK);
        assert_int_equal(client.device->get_supported_operations(client.device, &model, &supported), NNVTS_STATUS_NONE);
        assert_int_equal(supported, !unknown);
    }
    nnv_client_close(&client);
}

static void test_planted_bugs(void **state) {
    (void)state;
    assert_int_equal(judge("faulty", "wrong-branch,over=reference", IF_SPEC("0", "1,2", "10,20", "-9,-18")),
                     NNVTS_FAIL);
    assert_int_equal(judge("faulty", "wrong-branch,over=reference", CHOOSING("3", "11,22")), NNVTS_PASS);
    static const char bug[] = "last-iteration-missing,over=reference";
    assert_int_equal(judge("faulty", bug, SUM_SPEC("", "0", "5", "100", "5", "110")), NNVTS_FAIL);
    assert_int_equal(judge("faulty", bug, SUM_SPEC("", "0", "1", "5", "1", "5")), NNVTS_FAIL);
    assert_int_equal(judge("faulty", bug, SUM_SPEC("", "0", "0", "5", "0", "5")), NNVTS_PASS); /* nothing is missing */
    assert_int_equal(judge("faulty", bug, FIBONACCI("6", "13")), NNVTS_FAIL);
    assert_int_equal(judge("faulty", bug, CHOOSING("3", "11,22")), NNVTS_FAIL);
}

/* The reference driver keeps to the loop timeout of the request, and says that the deadline was missed. */
static void test_loop_timeout_of_a_driver(void **state) {
    (void)state;
    struct nnv_client client = open_client("reference", NULL);
    const struct nnv_spec *spec = parse(ENDLESS(""));
    struct nnvts_model model;
    struct nnv_err err = {0};
    struct nnv_abi_pool constants = {0};
    if (nnv_abi_model(&spec->model, arena, NNV_POOL_FD_ONLY, &model, &constants, &err)) fail_msg("%s", err.text);
    const struct nnvts_prepare_config prepare = {.preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
                                                 .priority = NNVTS_PRIORITY_MEDIUM,
                                                 .deadline_ns = NNVTS_NO_TIME};
    struct nnvts_prepared_model *p = NULL;
    assert_int_equal(client.device->prepare_model(client.device, &model, &prepare, &p), NNVTS_STATUS_NONE);
    int32_t values[2] = {0, 77};
    struct nnvts_memory pool = {
        .prot = NNVTS_PROT_READ | NNVTS_PROT_WRITE, .fd = -1, .size = sizeof values, .data = values};
    struct nnvts_argument in = {.location = {.length = 4}}, out = {.location = {.offset = 4, .length = 4}};
    const struct nnvts_request request = {1, 1, 1, &in, &out, &pool};
    uint32_t dims[4];
    struct nnvts_output_shape shape = {false, 4, dims};
    struct nnvts_execution_result result = {.shapes = &shape};
    static const uint64_t timeouts[] = {0, 1000000, 20000000};
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
        const struct nnvts_execution_config config = {.deadline_ns = NNVTS_NO_TIME, .loop_timeout_ns = timeouts[i]};
        uint64_t start = nnv_now_ns();
        assert_int_equal(p->execute(p, &request, &config, &result), NNVTS_STATUS_MISSED_DEADLINE_TRANSIENT);
        uint64_t took = nnv_now_ns() - start;
        assert_true(took >= timeouts[i] && took < timeouts[i] + 1500000000);
        assert_int_equal(values[1], 77);
    }
    p->release(p);
    nnv_client_close(&client);
}

/* A loop without end that must be refused is: by the default timeout of 2 s. */
static void test_endless_loop_is_refused(void **state) {
    (void)state;
    assert_int_equal(judge("reference", NULL, ENDLESS("'expect_failure':true,")), NNVTS_PASS);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_refused_ifs),
        TEST(test_model_is_no_argument),
        TEST(test_refused_quantisation),
        TEST(test_refused_whiles),
        TEST(test_refused_at_run_time),
        TEST(test_nesting),
        TEST(test_nesting_by_a_detour),
        TEST(test_recursion),
        TEST(test_malformed_texts),
        TEST(test_writers),
        TEST(test_drivers),
        TEST(test_honest_support),
        TEST(test_planted_bugs),
        TEST(test_loop_timeout_of_a_driver),
        TEST(test_endless_loop_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
