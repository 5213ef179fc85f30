/* SPDX-License-Identifier: Apache-2.0 */
/* The suite `validate`: mutants are wrong, boundary cases are valid, and what a driver answers is judged. */
#include <stdlib.h>

#include "tests/kit/judging.h"
#include "harness/suites/kit/fixture_models.h"
#include "harness/suites/suites.h"
#include "harness/suites/validate/validate.h"
#include "randgraph/single/single.h"
#include "reference/model/validate.h"

static const struct nnv_run_config config = {.driver = "fake", .precision = -1, .seed = 1, .tier = 1};

/* ---------------------------------------------------------------------- models */

enum { MOST_MODELS = 1024 };
static const struct nnv_spec *models[MOST_MODELS];
static size_t nmodels;

static void add_model(const struct nnv_op *op, int sig, int variant, int index) {
    struct nnv_err err = {0};
    struct nnv_spec *spec = NULL;
    const struct nnv_single w = {.op = op, .sig = sig, .variant = variant, .index = index, .seed = 1, .name = op->name};
    if (nnv_single_build(&w, arena, &spec, &err)) fail_msg("%s", err.text);
    assert_true(nmodels < MOST_MODELS);
    models[nmodels++] = spec;
}

/* The fixtures, and of every operation models of some signatures; per-channel ones, and some that omit an input. */
static void build_models(void) {
    size_t n;
    const struct nnv_op *const *ops = nnv_ops(&n);
    nmodels = 0;
    for (size_t k = 0; k < nnv_fixture_count; k++) {
        struct nnv_err err = {0};
        struct nnv_spec *spec = NULL;
        if (nnv_fixture_build(&nnv_fixtures[k], 1, arena, &spec, &err)) fail_msg("%s", err.text);
        models[nmodels++] = spec;
    }
    for (size_t i = 0; i < n; i++) {
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            bool channels = nnv_op_uses(ops[i], NNV_W) && nnv_type(ops[i]->sigs[sig].type[NNV_W])->per_channel;
            if (sig % 3 == 0 || channels) add_model(ops[i], sig, 0, 0);
        }
        int variants = nnv_single_variants(ops[i]);
        add_model(ops[i], 0, variants - 1, 2);
        add_model(ops[i], 0, variants / 2, 2);
    }
}

static uint64_t pick_of(const char *row, size_t model) { return nnv_hash_str(row) + model; }

/* ------------------------------------------------------------------- the tables */

static int shared_edits(const struct nnv_abi_edit *e) {
    return (e->place != NULL) + (e->pool != NULL) + (e->array != 0);
}

static void test_tables(void **state) {
    (void)state;
    size_t n = 0;
    const struct nnv_model_mutator *m;
    for (; (m = nnv_model_mutator(n)); n++) {
        int own = (m->change != NULL) + (m->edit != NULL) + (m->abi_change != NULL) + (m->abi_edit != NULL);
        assert_int_equal(own + shared_edits(&m->abi), 1);
        assert_true(m->name[0] && m->rule[0] && ((!m->abi_edit && !m->abi.place) || m->abi_test));
        for (size_t i = 0; i < n; i++) assert_string_not_equal(nnv_model_mutator(i)->name, m->name);
    }
    assert_true(n >= 60);
    assert_true(nnv_request_mutator_count >= 60);
    for (size_t k = 0; k < nnv_request_mutator_count; k++) {
        const struct nnv_request_mutator *r = &nnv_request_mutators[k];
        assert_int_equal((r->change != NULL) + (r->edit != NULL) + shared_edits(&r->abi), 1);
        assert_true(r->rule[0]);
        assert_true((!r->edit && !r->abi.place && !r->abi.pool) || r->side != NNV_SIDE_NONE);
        for (size_t i = 0; i < k; i++) assert_string_not_equal(nnv_request_mutators[i].name, r->name);
    }
    assert_true(nnv_boundary_case_count >= 15);
    for (size_t k = 0; k < nnv_boundary_case_count; k++) {
        const struct nnv_boundary_case *r = &nnv_boundary_cases[k];
        assert_int_equal((r->change != NULL) + (r->abi_change != NULL) + (r->request_change != NULL), 1);
        for (size_t i = 0; i < k; i++) assert_string_not_equal(nnv_boundary_cases[i].name, r->name);
    }
}

/* What the rows on the model make is refused by nnv_validate(), whatever the model; and the model is as it was. */
static void test_mutants_are_invalid(void **state) {
    (void)state;
    const struct nnv_model_mutator *row;
    build_models();
    for (size_t i = 0; (row = nnv_model_mutator(i)); i++) {
        size_t applied = 0;
        for (size_t k = 0; k < nmodels && (row->change || row->edit); k++) {
            struct nnv_mutation m;
            enum nnv_applied how = nnv_mutation_make(&m, row, models[k], pick_of(row->name, k), case_arena);
            assert_int_not_equal(how, NNV_APPLY_FAILED);
            if (how == NNV_APPLIED && nnv_validate(m.model, case_arena, NULL, NULL) != NNV_INVALID)
                fail_msg("%s of a model with %s is legal", row->name, models[k]->name);
            applied += how == NNV_APPLIED;
            nnv_arena_reset(case_arena);
        }
        size_t least = row->abi_change || row->abi_edit || shared_edits(&row->abi) ? 0
                       : row->needs & NNV_NEEDS_NET                                ? 1
                                                                                   : 2;
        if (applied < least) fail_msg("%s can be done to %zu models only", row->name, applied);
    }
    for (size_t k = 0; k < nmodels; k++)
        assert_int_equal(nnv_validate(&models[k]->model, case_arena, NULL, NULL), NNV_OK);
}

/* --------------------------------------------------------------------- rendering */

/* The rows on the rendering change it, and nothing that nnv_validate() sees. */
static bool render_differs(const struct nnv_model_mutator *row, size_t k) {
    struct nnv_mutation m;
    struct nnvts_model abi;
    struct nnv_err err = {0};
    assert_int_equal(nnv_mutation_make(&m, row, models[k], pick_of(row->name, k), case_arena), NNV_APPLIED);
    assert_int_equal(nnv_validate(m.model, case_arena, NULL, NULL), NNV_OK);
    size_t bytes = nnv_abi_pool_bytes(m.model);
    void *mapped = nnv_arena_alloc(case_arena, bytes, 1);
    struct nnvts_memory pool = {.prot = NNVTS_PROT_READ, .fd = -1, .size = bytes, .data = mapped};
    if (nnv_abi_model_at(m.model, case_arena, &pool, mapped, &abi, &err)) fail_msg("%s", err.text);
    if (nnv_mutation_rendered(&m, &abi) != NNV_APPLIED) return false;
    const struct nnvts_model *a = &m.abi;
    bool same = memcmp(&m.config, &nnv_prepare_config, sizeof m.config) == 0;
    same = same && a->operand_values == abi.operand_values && a->operand_values_bytes == abi.operand_values_bytes;
    same = same && a->pool_count == abi.pool_count && a->pools && a->main.operands && a->main.operations;
    same = same && a->main.inputs == abi.main.inputs && a->main.outputs == abi.main.outputs;
    same = same && a->referenced_count == abi.referenced_count && a->extension_count == abi.extension_count;
    same = same && memcmp(a->main.operands, abi.main.operands, abi.main.operand_count * sizeof *m.operands) == 0;
    same =
        same && memcmp(a->main.operations, abi.main.operations, abi.main.operation_count * sizeof *m.operations) == 0;
    same = same && (!abi.pool_count || memcmp(a->pools, abi.pools, sizeof *abi.pools) == 0);
    if (same) fail_msg("%s changes nothing in a model with %s", row->name, models[k]->name);
    return true;
}

static void test_renderings_are_changed(void **state) {
    (void)state;
    build_models();
    for (size_t i = 0; i < nnv_abi_mutator_count; i++) {
        size_t applied = 0;
        for (size_t k = 0; k < nmodels; k++) {
            applied += render_differs(&nnv_abi_mutators[i], k);
            nnv_arena_reset(case_arena);
        }
        if (applied < 2) fail_msg("%s can be done to %zu models only", nnv_abi_mutators[i].name, applied);
    }
}

static void test_boundary_cases_are_valid(void **state) {
    (void)state;
    build_models();
    for (size_t i = 0; i < nnv_boundary_case_count; i++) {
        const struct nnv_boundary_case *row = &nnv_boundary_cases[i];
        size_t applied = 0;
        for (size_t k = 0; k < nmodels; k++) {
            struct nnv_mutation m;
            struct nnv_err err = {0};
            enum nnv_applied how = nnv_boundary_case_make(&m, row, models[k], pick_of(row->name, k), case_arena);
            assert_int_not_equal(how, NNV_APPLY_FAILED);
            if (how == NNV_APPLIED && nnv_validate(m.model, case_arena, NULL, &err) != NNV_OK)
                fail_msg("%s of a model with %s: %s", row->name, models[k]->name, err.text);
            applied += how == NNV_APPLIED;
            nnv_arena_reset(case_arena);
        }
        if (applied < 2) fail_msg("%s can be done to %zu models only", row->name, applied);
    }
}

/* ---------------------------------------------------------------------- requests */

static bool same_request(const struct nnv_request_mutation *m, const struct nnv_request *v) {
    const struct nnvts_request *a = &m->request, *b = &v->abi;
    for (uint32_t i = 0; m->in && i < v->model->main.nin; i++)
        if (!m->in[i].omitted && memcmp(m->in[i].data, v->in[i].data, m->in[i].bytes) != 0) return false;
    if (m->no_tokens || m->wait_for_count || m->tokens[0] != -1 || m->tokens[1] != -1) return false;
    if (a->input_count != b->input_count || a->output_count != b->output_count || a->pool_count != b->pool_count)
        return false;
    for (uint32_t i = 0; m->in && i < a->input_count; i++) {
        const struct nnv_value *was = &v->fixture->spec->inputs[i];
        if (was->bytes && memcmp(m->in[i].data, was->data, was->bytes) != 0) return false;
    }
    return a->inputs && a->outputs && a->pools && memcmp(a->pools, b->pools, sizeof v->pools) == 0 &&
           memcmp(a->inputs, b->inputs, a->input_count * sizeof *a->inputs) == 0 &&
           memcmp(a->outputs, b->outputs, a->output_count * sizeof *a->outputs) == 0;
}

/** What each row does to the request of a model; applied counts. */
static void check_rows(const struct nnv_spec *model, size_t k, size_t *applied) {
    uint32_t phase;
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = &phase};
    struct nnv_context s;
    struct nnv_fixture fixture;
    struct nnv_request v, before;
    nnv_context_begin(&s, &env, &result);
    assert_true(nnv_context_model(&s, model, &fixture));
    assert_true(nnv_context_request(&s, &fixture, NNV_POOL_WRITABLE, &v));
    before = v;
    for (size_t i = 0; i < nnv_request_mutator_count; i++) {
        const struct nnv_request_mutator *row = &nnv_request_mutators[i];
        struct nnv_request_mutation m;
        enum nnv_applied how = nnv_request_make(&m, row, &v, pick_of(row->name, k), case_arena);
        assert_int_not_equal(how, NNV_APPLY_FAILED);
        assert_memory_equal(&before, &v, sizeof v);
        if (how == NNV_APPLIED && strcmp(row->name, "open_output_fenced") != 0 && same_request(&m, &v))
            fail_msg("%s changes nothing in a request of %s", row->name, model->name);
        applied[i] += how == NNV_APPLIED;
    }
    nnv_context_end(&s);
    nnv_arena_reset(case_arena);
}

enum { MOST_ROWS = 256 };

/* Each row changes the request of some models, and never the request that it was given. */
static void test_requests_are_changed(void **state) {
    (void)state;
    size_t applied[MOST_ROWS] = {0};
    build_models();
    assert_true(nnv_request_mutator_count <= MOST_ROWS);
    for (size_t k = 0; k < nmodels; k++)
        if (k <= 40 || k % 3 == 0) check_rows(models[k], k, applied);
    for (size_t i = 0; i < nnv_request_mutator_count; i++)
        if (applied[i] < 2) fail_msg("%s can be done to %zu requests only", nnv_request_mutators[i].name, applied[i]);
}

/* No room is room enough for an empty value: a row that takes room away finds none. */
static void test_empty_values_fit(void **state) {
    (void)state;
    size_t n, checked = 0, applied[MOST_ROWS] = {0};
    const struct nnv_op *const *ops = nnv_ops(&n);
    for (size_t i = 0; i < n; i++) {
        const struct nnv_single w = {.op = ops[i], .mode = NNV_FILL_ZERO, .seed = 1, .name = ops[i]->name};
        struct nnv_err err = {0};
        struct nnv_spec *spec = NULL;
        if (!nnv_single_has(ops[i], 0, NNV_FILL_ZERO)) continue;
        if (nnv_single_build(&w, arena, &spec, &err)) fail_msg("%s", err.text);
        check_rows(spec, i, applied);
        checked++;
    }
    assert_true(checked > 10);
}

/* ----------------------------------------------------------------------- verdicts */

static struct nnv_case_list list_tier(int tier) {
    const struct nnv_run_config of_tier = {.seed = 1, .tier = tier};
    struct nnv_case_list list = {.arena = arena};
    struct nnv_err err = {0};
    if (nnv_suite_validate.list(&of_tier, &list, &err)) fail_msg("%s", err.text);
    return list;
}

/* The verdict of the fake driver, which takes everything for valid and answers what is right for the valid model. */
static int judge_mutant(const char *name, const char *fixture) {
    struct nnv_case_list list = list_tier(1);
    uint32_t phase;
    struct nnv_case_env env = {.config = &config, .client = &client, .arena = case_arena, .phase = &phase};
    struct nnv_spec *spec = NULL;
    struct nnv_err err = {0};
    if (nnv_fixture_build(nnv_fixture_by_name(fixture), config.seed, arena, &spec, &err)) fail_msg("%s", err.text);
    fake.values = spec->outputs;
    result.verdict = NNVTS_ERROR;
    nnv_text_clear(&result.reason);
    bool found = false;
    for (size_t i = 0; i < list.count && !found; i++)
        if ((found = strcmp(list.item[i].name, name) == 0)) nnv_case_run(&env, &list.item[i], &result);
    if (!found) fail_msg("there is no case %s", name);
    free(list.item);
    return result.verdict;
}

static void test_what_is_accepted_fails(void **state) {
    (void)state;
    assert_int_equal(judge_mutant("validate/model/scale_zero/add_quant8", "add_quant8"), NNVTS_FAIL);
    assert_reason("get_supported_operations of a model that breaks a rule (the scale of a quantised operand is above 0 "
                  "and finite) answered NONE, expected INVALID_ARGUMENT");
    assert_reason("prepare_model of a model that breaks a rule");
    assert_int_equal(fake.prepared, fake.released); /* what it gave out is released */
    assert_int_equal(judge_mutant("validate/model/priority_largest/add_float32", "add_float32"), NNVTS_FAIL);
    assert_reason("prepare_model of a model that breaks a rule (a priority is one of the three) answered NONE");
    assert_int_equal(judge_mutant("validate/request/input_padding_largest/add_float32", "add_float32"), NNVTS_FAIL);
    assert_reason("execute of a request that breaks a rule (offset, length and padding lie in the pool) answered NONE");
    assert_int_equal(judge_mutant("validate/near_miss/unused_scalar/add_float32", "add_float32"), NNVTS_PASS);
}

static void test_what_is_not_asked(void **state) {
    (void)state;
    fake_device.feature_level = 3;
    assert_int_equal(judge_mutant("validate/model/priority_largest/add_float32", "add_float32"), NNVTS_SKIP);
    fake.fault = UNSUPPORTED;
    assert_int_equal(judge_mutant("validate/model/scale_zero/add_quant8", "add_quant8"), NNVTS_UNSUPPORTED);
}

/* Where the valid model does not run there is no verdict on what is made of it; memory that is written over is one. */
static void test_valid_models_that_do_not_run(void **state) {
    (void)state;
    static const char name[] = "validate/model/scale_zero/add_quant8";
    fake.fault = UNSUPPORTED;
    assert_int_equal(judge_mutant(name, "add_quant8"), NNVTS_UNSUPPORTED);
    assert_int_equal(result.why, NNVTS_WHY_OPERATION);
    fake.fault = PREPARE_FAILS;
    assert_int_equal(judge_mutant(name, "add_quant8"), NNVTS_UNSUPPORTED);
    assert_int_equal(result.why, NNVTS_WHY_VALID_MODEL);
    assert_reason("the valid model does not run: prepare_model");
    fake.fault = PREPARE_CHANGES_CONSTANT;
    assert_int_equal(judge_mutant("validate/model/scale_zero/conv_quant8", "conv_quant8"), NNVTS_FAIL);
    assert_true(result.worker_damaged);
    assert_reason("prepare_model changed");
}

/* What the drivers that come with nnvts refuse, in their own process: each of these was accepted once, or was fatal. */
static void test_drivers_refuse(void **state) {
    (void)state;
    static const char *const cases[] = {
        "model/subgraph_refers_to_itself",
        "model/subgraphs_refer_to_each_other",
        "model/operation_code_past_last",
        "model/pooled_padding_behind",
        "model/pool_file_short",
        "model/location_pool",
        "model/location_length",
        "model/extension_data",
        "model/extensions_null",
        "request/input_padding_behind",
        "request/output_padding_largest",
        "request/input_without_value",
        "request/input_without_value_located",
        "request/input_pool_behind_file",
        "request/output_pool_behind_file",
        "request/input_pool_write_only",
        "request/output_pool_read_only",
        "request/burst_tokens_null",
    };
    static const char *const drivers[] = {"cpu", "reference"};
    const char *folder = getenv("NNVTS_TEST_DRIVERS");
    for (size_t d = 0; d < sizeof drivers / sizeof *drivers; d++) {
        struct nnv_err err = {0};
        nnv_client_close(&client);
        const char *path = nnv_arena_printf(arena, "%s/%s.so", folder ? folder : "build/drivers", drivers[d]);
        if (nnv_client_open(&client, path, NULL, &err) != NNV_OK) fail_msg("%s (make builds it)", err.text);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const char *name = nnv_arena_printf(arena, "validate/%s/conv_float32", cases[i]);
            if (judge_mutant(name, "conv_float32") != NNVTS_PASS)
                fail_msg("%s, %s: %s", drivers[d], name, result.reason.data ? result.reason.data : "");
        }
    }
}

/* --------------------------------------------------------------------------- list */

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct nnv_case *)a)->name, ((const struct nnv_case *)b)->name);
}

static void test_list(void **state) {
    (void)state;
    struct nnv_case_list lists[3];
    for (int tier = 0; tier < 3; tier++) {
        lists[tier] = list_tier(tier);
        qsort(lists[tier].item, lists[tier].count, sizeof *lists[tier].item, by_name);
        for (size_t i = 1; i < lists[tier].count; i++)
            assert_string_not_equal(lists[tier].item[i - 1].name, lists[tier].item[i].name);
    }
    for (int tier = 0; tier < 2; tier++)
        for (size_t i = 0; i < lists[tier].count; i++)
            assert_non_null(bsearch(&lists[tier].item[i], lists[tier + 1].item, lists[tier + 1].count,
                                    sizeof *lists[tier].item, by_name));
    /* in tier default each mutator meets several models */
    const struct nnv_model_mutator *row;
    for (size_t i = 0; (row = nnv_model_mutator(i)); i++) {
        size_t met = 0;
        for (size_t k = 0; k < lists[1].count; k++)
            met += strncmp(lists[1].item[k].name, "validate/model/", 15) == 0 && lists[1].item[k].a == i;
        if (met < (row->needs & NNV_NEEDS_NET ? 1u : 5u)) fail_msg("%s meets %zu models only", row->name, met);
    }
    for (int tier = 0; tier < 3; tier++) free(lists[tier].item);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_judging, end_judging)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_tables),
        TEST(test_mutants_are_invalid),
        TEST(test_renderings_are_changed),
        TEST(test_boundary_cases_are_valid),
        TEST(test_requests_are_changed),
        TEST(test_empty_values_fit),
        TEST(test_what_is_accepted_fails),
        TEST(test_what_is_not_asked),
        TEST(test_valid_models_that_do_not_run),
        TEST(test_drivers_refuse),
        TEST(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
