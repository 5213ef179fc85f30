/* SPDX-License-Identifier: Apache-2.0 */
/* What is reached of code that counts: this program says of itself what clang's instrumentation would. */
#include <dlfcn.h>
#include <jansson.h>
#include <sys/stat.h>

#include "harness/journal/load.h"
#include "harness/runner/coverage/coverage.h"
#include "tests/kit/test.h"

void __sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *end);
void __sanitizer_cov_pcs_init(const uintptr_t *start, const uintptr_t *end);
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end);
void __sanitizer_cov_trace_pc_guard(uint32_t *guard);

enum { COUNTERS = 3, GUARDS = 2, EDGES = COUNTERS + GUARDS };
static uint8_t counter[COUNTERS];
static uint32_t guard[GUARDS];
static struct nnv_coverage_told told;

static int one(void) { return __LINE__; }
static int two(void) { return __LINE__; }

/** Under a sanitizer its own functions of these names may be meant. */
static bool are_ours(void) {
    Dl_info called, ours;
    return dladdr((void *)(uintptr_t)__sanitizer_cov_8bit_counters_init, &called) != 0 &&
           dladdr((void *)(uintptr_t)nnv_coverage_edges, &ours) != 0 && called.dli_fbase == ours.dli_fbase;
}

static int tell_of_all(void **state) {
    (void)state;
    if (!are_ours()) return 0;
    static uintptr_t table[2 * COUNTERS];
    table[0] = table[2] = (uintptr_t)one;
    table[4] = (uintptr_t)two;
    assert_int_equal(nnv_coverage_edges(), 0);
    __sanitizer_cov_8bit_counters_init(counter, counter + COUNTERS);
    __sanitizer_cov_8bit_counters_init(counter, counter + COUNTERS); /* of a second file of the same object */
    __sanitizer_cov_pcs_init(table, table + 2 * COUNTERS);
    __sanitizer_cov_trace_pc_guard_init(guard, guard + GUARDS);
    __sanitizer_cov_trace_pc_guard_init(guard, guard + GUARDS);
    __sanitizer_cov_8bit_counters_init(counter, counter);  /* nothing */
    __sanitizer_cov_pcs_init(table, table + 2 * COUNTERS); /* of the second file: not the guards', which are fewer */
    assert_int_equal(nnv_coverage_edges(), EDGES);
    return 0;
}

struct keys {
    uint64_t key[EDGES];
    int count;
};

static void see(void *context, uint64_t key) {
    struct keys *k = context;
    assert_true(k->count < EDGES);
    k->key[k->count++] = key;
}

static void tells_what_was_reached(void **state) {
    (void)state;
    struct keys first = {.count = 0}, again = {.count = 0};
    if (!are_ours()) skip();
    counter[1] = 1;
    __sanitizer_cov_trace_pc_guard(&guard[1]);
    nnv_coverage_tell(); /* nobody is told */
    nnv_coverage_tell_to(&told);
    nnv_coverage_tell();
    assert_int_equal(told.modules, 2);
    assert_int_equal(told.module[0].count, COUNTERS);
    assert_int_equal(told.module[1].first, COUNTERS);
    static const uint8_t reached[EDGES] = {0, 1, 0, 0, 1};
    assert_memory_equal(told.reached, reached, sizeof reached);
    assert_true(told.place[0] == told.place[1] && told.place[2] != told.place[0] && told.place[2] != 0);
    assert_true(told.place[3] == 0 && told.place[4] == 0); /* they have no table */
    nnv_coverage_each(see, &first);
    assert_int_equal(first.count, 2);
    assert_true(first.key[0] != first.key[1]);
    /* What is forgotten stays told. */
    nnv_coverage_forget();
    nnv_coverage_each(see, &again);
    assert_int_equal(again.count, 0);
    counter[1] = 200;
    nnv_coverage_each(see, &again);
    assert_int_equal(again.count, 1);
    assert_true(again.key[0] == first.key[0]);
    nnv_coverage_tell();
    assert_memory_equal(told.reached, reached, sizeof reached);
    nnv_coverage_tell_to(NULL);
}

static void workers_add_up(void **state) {
    (void)state;
    struct nnv_coverage c = {0};
    struct nnv_err err = {0};
    if (!are_ours()) skip();
    struct nnv_coverage_told *other = calloc(1, sizeof *other);
    assert_non_null(other);
    assert_int_equal(nnv_coverage_add(&c, &told, &err), NNV_OK);
    assert_int_equal(nnv_coverage_add(&c, &told, &err), NNV_OK);
    assert_true(c.edges == EDGES && c.reached == 2 && c.count == 2);
    /* Another worker loaded them in another order, and reached something else. */
    other->modules = 2;
    other->module[0] = told.module[1];
    other->module[0].first = 0;
    other->module[1] = told.module[0];
    other->module[1].first = GUARDS;
    other->reached[GUARDS + 2] = 1;
    other->reached[1] = 1;
    assert_int_equal(nnv_coverage_add(&c, other, &err), NNV_OK);
    assert_true(c.edges == EDGES && c.reached == 3);
    /* What a driver wrote over is left out. */
    other->modules = UINT32_MAX;
    memset(other->module, 0xff, sizeof other->module);
    assert_int_equal(nnv_coverage_add(&c, other, &err), NNV_OK);
    other->modules = 1;
    strcpy(other->module[0].path, "x");
    other->module[0].first = 1;
    other->module[0].count = NNV_COVERAGE_EDGES;
    assert_int_equal(nnv_coverage_add(&c, other, &err), NNV_OK);
    assert_true(c.edges == EDGES && c.reached == 3 && c.count == 2);
    nnv_coverage_free(&c);
    free(other);
}

static json_int_t number(const json_t *o, const char *member) { return json_integer_value(json_object_get(o, member)); }

static void writes_lines_by_file(void **state) {
    (void)state;
    char folder[] = "/tmp/nnvts-coverage-XXXXXX", path[64];
    struct nnv_coverage c = {0};
    struct nnv_err err = {0};
    if (!are_ours()) skip();
    if (system("addr2line --version >/dev/null 2>&1") != 0) skip();
    assert_int_equal(make_folder(folder), 0);
    assert_int_equal(nnv_coverage_add(&c, &told, &err), NNV_OK);
    if (nnv_coverage_write(&c, folder, &err) != NNV_OK) fail_msg("%s", err.text);
    snprintf(path, sizeof path, "%s/%s", folder, NNV_COVERAGE_FILE);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    assert_true(number(root, "edges") == EDGES && number(root, "edges_reached") == 2);
    /* The functions have lines; of the guards only the program is known. */
    const json_t *files = json_object_get(root, "files"), *source = NULL;
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *f = json_array_get(files, i);
        const char *name = json_string_value(json_object_get(f, "file")), *dot = strrchr(name, '.');
        if (dot != NULL && strcmp(dot, ".c") == 0)
            source = f;
        else
            assert_true(number(f, "edges") == GUARDS && number(f, "lines") == 0);
    }
    assert_int_equal(json_array_size(files), 2);
    assert_non_null(source);
    /* The one file of which the whole path is known is told without its folder. */
    assert_string_equal(json_string_value(json_object_get(source, "file")), "test_coverage.c");
    assert_true(number(source, "edges") == COUNTERS && number(source, "edges_reached") == 1);
    assert_true(number(source, "lines") == 2 && number(source, "lines_reached") == 1);
    const json_t *missed = json_object_get(source, "lines_missed");
    assert_int_equal(json_array_size(missed), 1);
    assert_int_equal(json_integer_value(json_array_get(missed, 0)), two());
    assert_int_equal(one() + 1, two());
    json_decref(root);
    nnv_coverage_free(&c);
    remove_folder(folder);
}

static void a_driver_that_does_not_count(void **state) {
    (void)state;
    struct nnv_err err = {0};
    struct nnv_coverage c = {0};
    assert_int_equal(nnv_coverage_begin(&c, "./npu.so", "npu.so", 7, "nowhere", &err), NNV_OK);
    assert_int_equal(nnv_coverage_begin(&c, "./npu.so", "npu.so", 0, "nowhere", &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "-fsanitize-coverage=inline-8bit-counters,pc-table"));
    err = (struct nnv_err){0};
    assert_int_equal(nnv_coverage_begin(&c, "host:cpu", "host.so", 0, "nowhere", &err), NNV_INVALID);
    assert_non_null(strstr(err.text, "another process"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_was_reached),
        cmocka_unit_test(workers_add_up),
        cmocka_unit_test(writes_lines_by_file),
        cmocka_unit_test(a_driver_that_does_not_count),
    };
    return cmocka_run_group_tests(tests, tell_of_all, NULL);
}
