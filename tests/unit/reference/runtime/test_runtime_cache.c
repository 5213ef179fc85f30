/* SPDX-License-Identifier: Apache-2.0 */
/* The compilation cache: tokens of steps, files, and what happens when a driver does not want them. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "reference/runtime/run/cache.h"
#include "reference/runtime/api/compilation.h"
#include "tests/kit/toy.h"

enum { ADD = ANEURALNETWORKS_ADD, MUL = ANEURALNETWORKS_MUL };
#define OK ANEURALNETWORKS_NO_ERROR

static struct toy_device a, b;
static struct toy t;
static char dir[64];

static int open_files(void) {
    int n = 0;
    for (int fd = 0; fd < 1024; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/** ADD, MUL, ADD: the driver a adds, b multiplies. */
static int set_up(void **state) {
    (void)state;
    setenv("NNVTS_LOG", "0", 1);
    unsetenv("NNVTS_PARTITIONING");
    strcpy(dir, "/tmp/nnvts-cache-XXXXXX");
    assert_non_null(mkdtemp(dir));
    toy_device(&a, "a", 0.5f, 0.5f);
    toy_device(&b, "b", 0.6f, 0.6f);
    toy_supports_only(&a, (const int32_t[]){ADD, -1});
    a.driver.model_cache_files = 2;
    a.driver.data_cache_files = 1;
    nnv_rt_device_override((struct nnvts_device *[]){&a.driver, &b.driver}, 2);
    toy_begin(&t, 1, 8);
    uint32_t v = toy_operand(&t, 0, NNVTS_SUBGRAPH_INPUT, 4);
    v = toy_binary(&t, 0, ADD, v, v, NNVTS_TEMPORARY_VARIABLE);
    v = toy_binary(&t, 0, MUL, v, v, NNVTS_TEMPORARY_VARIABLE);
    toy_binary(&t, 0, ADD, v, v, NNVTS_SUBGRAPH_OUTPUT);
    toy_end(&t);
    return 0;
}

/** The files of the folder; removes them if so wanted. */
static int files(bool remove) {
    DIR *d = opendir(dir);
    int n = 0;
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (e->d_name[0] == '.') continue;
        n++;
        if (remove) unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    return n;
}

static int tear_down(void **state) {
    (void)state;
    files(true);
    rmdir(dir);
    toy_free(&t);
    assert_int_equal(a.living + b.living, 0);
    return 0;
}

/* ------------------------------------------------------------------- tokens */

struct tokens {
    struct nnv_rt_plan plan;
    struct nnv_rt_step step;
    struct ANeuralNetworksDevice device;
    struct nnv_rt_prepare_options options;
    uint8_t user[32];
    uint32_t operations[2], graph;
    struct nnv_rt_attribute attribute;
};

static void token_of(const struct tokens *x, uint8_t *token) {
    nnv_rt_cache_token(&x->plan, x->graph, &x->step, &x->options, token);
}

static struct tokens *tokens_begin(struct tokens *x) {
    static char extension[] = "org.example", data[] = "data";
    *x = (struct tokens){.operations = {3, 5},
                         .device = {.name = "a", .version = "1"},
                         .options = {.preference = 1, .priority = 100},
                         .attribute = {extension, 1, data, 4}};
    x->step.device = &x->device;
    x->step.operations = x->operations;
    x->step.operation_count = 2;
    x->options.token = x->user;
    x->options.attributes = &x->attribute;
    return x;
}

/** Each thing that a step's token stands for changes it, and no two changes give the same. */
static void test_tokens_change(void **state) {
    (void)state;
    enum { WAYS = 13 };
    uint8_t tokens[WAYS][32];
    for (int way = 0; way < WAYS; way++) {
        struct tokens x, *p = tokens_begin(&x);
        if (way == 1) p->user[31] = 1;
        if (way == 2) p->device.name = "b";
        if (way == 3) p->device.version = "2";
        if (way == 4) p->options.preference = 2;
        if (way == 5) p->options.priority = 110;
        if (way == 6) p->graph = 1;
        if (way == 7) p->operations[1] = 4;
        if (way == 8) p->step.operation_count = 1;
        if (way == 9) p->plan.simple = true;
        if (way == 10) p->options.attribute_count = 1;
        if (way == 11) p->device.name = "a1", p->device.version = "";
        if (way == 12) p->options.attribute_count = 1, p->attribute.length = 3;
        token_of(p, tokens[way]);
        for (int other = 0; other < way; other++) assert_memory_not_equal(tokens[way], tokens[other], 32);
    }
}

/** And nothing else does: a simple plan's is the sum of what is written down here, whatever its operations. */
static void test_token_by_hand(void **state) {
    (void)state;
    struct tokens x;
    uint8_t expected[32], got[32];
    struct nnv_sha256 h;
    tokens_begin(&x);
    x.plan.simple = true;
    x.operations[0] = 77;
    x.graph = 1;
    static const uint8_t by_hand[] = {
        1,   0, 0, 0, 0, 0, 0, 0, 'a', 1, 0, 0, 0, 0, 0, 0, 0, '1', /* name and version, with their lengths */
        1,   0, 0, 0, 0, 0, 0, 0,                                   /* preference */
        100, 0, 0, 0, 0, 0, 0, 0,                                   /* priority */
        0,   0, 0, 0, 0, 0, 0, 0,                                   /* attributes */
    };
    nnv_sha256_begin(&h);
    nnv_sha256_add(&h, x.user, sizeof x.user);
    nnv_sha256_add(&h, by_hand, sizeof by_hand);
    nnv_sha256_end(&h, expected);
    token_of(&x, got);
    assert_memory_equal(got, expected, 32);
}

/* -------------------------------------------------------------------- files */

static const uint8_t user_token[32] = {7};

static ANeuralNetworksCompilation *compile(const char *cache_dir) {
    ANeuralNetworksCompilation *c = NULL;
    assert_int_equal(ANeuralNetworksCompilation_create(&t.model, &c), OK);
    if (cache_dir != NULL) assert_int_equal(ANeuralNetworksCompilation_setCaching(c, cache_dir, user_token), OK);
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_false(c->plan->simple);
    return c;
}

/** The first time files are made and given to prepare_model; the second, prepare_from_cache is asked. */
static void test_there_and_back(void **state) {
    (void)state;
    ANeuralNetworksCompilation_free(compile(NULL));
    int before = open_files();
    a.prepared = b.prepared = 0;
    ANeuralNetworksCompilation_free(compile(dir));
    /* Two steps of a, each with two model files and one of data; b keeps nothing. */
    assert_int_equal(a.prepared, 2);
    assert_int_equal(a.from_cache, 0);
    assert_true(a.had_cache);
    assert_int_equal(a.files, 3);
    assert_false(b.had_cache);
    assert_int_equal(files(false), 6);
    ANeuralNetworksCompilation_free(compile(dir));
    assert_int_equal(a.prepared, 2);
    assert_int_equal(a.from_cache, 2);
    assert_int_equal(b.prepared, 2);
    assert_int_equal(files(false), 6);
    assert_int_equal(open_files(), before);
}

/** DIR/ and two letters a byte, low half first; 1 and 2 for model and data; the number. Private to the user. */
static void test_file_names(void **state) {
    (void)state;
    static const char *const ends[] = {"10", "11", "20"};
    ANeuralNetworksCompilation_free(compile(dir));
    for (int i = 0; i < 3; i++) {
        char name[256];
        struct stat st;
        int n = snprintf(name, sizeof name, "%s/", dir);
        for (int k = 0; k < 32; k++)
            n += snprintf(name + n, sizeof name - (size_t)n, "%c%c", 'A' + a.token[k] % 16, 'A' + a.token[k] / 16);
        snprintf(name + n, sizeof name - (size_t)n, "%s", ends[i]);
        assert_int_equal(stat(name, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
    }
}

static void test_slash(void **state) {
    (void)state;
    char with[80];
    snprintf(with, sizeof with, "%s/", dir);
    ANeuralNetworksCompilation_free(compile(with));
    assert_int_equal(files(false), 6);
    ANeuralNetworksCompilation_free(compile(dir));
    assert_int_equal(a.from_cache, 2);
}

/** Files that do not fit: prepared anew, and kept again. */
static void test_unfit(void **state) {
    (void)state;
    ANeuralNetworksCompilation_free(compile(dir));
    a.cache_status = NNVTS_STATUS_GENERAL_FAILURE;
    ANeuralNetworksCompilation_free(compile(dir));
    assert_int_equal(a.from_cache, 2);
    assert_int_equal(a.prepared, 4);
    assert_true(a.had_cache);
}

/** Files that cannot be made: prepared without. */
static void test_no_folder(void **state) {
    (void)state;
    a.had_cache = true;
    ANeuralNetworksCompilation_free(compile("/nonexistent/folder"));
    assert_int_equal(a.prepared, 2);
    assert_false(a.had_cache);
}

static void test_no_caching(void **state) {
    (void)state;
    a.had_cache = true;
    ANeuralNetworksCompilation_free(compile(NULL));
    assert_false(a.had_cache);
    assert_int_equal(files(false), 0);
    /* A driver that announces more files than there may be keeps none. */
    a.driver.model_cache_files = NNVTS_MAX_CACHE_FILES + 1;
    ANeuralNetworksCompilation_free(compile(dir));
    assert_false(a.had_cache);
    /* One that cannot load does not load. */
    a.driver.model_cache_files = 2;
    a.driver.prepare_from_cache = NULL;
    ANeuralNetworksCompilation_free(compile(dir));
    ANeuralNetworksCompilation_free(compile(dir));
    assert_int_equal(a.from_cache, 0);
    assert_true(a.had_cache);
}

/** The token of each step is another, and another version finds nothing. */
static void test_versions_apart(void **state) {
    (void)state;
    ANeuralNetworksCompilation_free(compile(dir));
    nnv_rt_device_at(0)->version = "2";
    ANeuralNetworksCompilation_free(compile(dir));
    assert_int_equal(a.from_cache, 0);
    assert_int_equal(files(false), 12);
}

/* -------------------------------------------------------------- given files */

static void test_given_files(void **state) {
    (void)state;
    int fds[4];
    ANeuralNetworksCompilation *c = NULL, *two = NULL;
    const ANeuralNetworksDevice *devices[] = {nnv_rt_device_at(0), nnv_rt_device_at(1)};
    toy_supports_only(&a, (const int32_t[]){ADD, MUL, -1});
    for (int i = 0; i < 4; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s/%d", dir, i);
        fds[i] = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    }
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(&t.model, devices, 1, &c), OK);
    assert_int_equal(ANeuralNetworksCompilation_createForDevices(&t.model, devices, 2, &two), OK);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(NULL, fds, 2, fds + 2, 1, user_token),
                     ANEURALNETWORKS_UNEXPECTED_NULL);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(c, NULL, 2, fds + 2, 1, user_token),
                     ANEURALNETWORKS_UNEXPECTED_NULL);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(c, fds, 2, fds + 2, 1, NULL), ANEURALNETWORKS_UNEXPECTED_NULL);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(two, fds, 2, fds + 2, 1, user_token), ANEURALNETWORKS_BAD_DATA);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(c, fds, 1, fds + 2, 1, user_token), ANEURALNETWORKS_BAD_DATA);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(c, fds, 2, fds + 2, 2, user_token), ANEURALNETWORKS_BAD_DATA);
    close(fds[3]);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(c, fds, 2, fds + 3, 1, user_token), ANEURALNETWORKS_BAD_DATA);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(c, fds, 2, fds + 2, 1, user_token), OK);
    for (int i = 0; i < 3; i++) close(fds[i]);
    /* The files are there, so they are tried; what is in them does not fit. */
    a.cache_status = NNVTS_STATUS_GENERAL_FAILURE;
    assert_int_equal(ANeuralNetworksCompilation_finish(c), OK);
    assert_int_equal(a.from_cache, 1);
    assert_int_equal(a.prepared, 1);
    assert_true(a.had_cache);
    assert_int_equal(a.files, 3);
    assert_int_equal(nnv_rt_compilation_set_cache_fds(c, fds, 2, fds + 2, 1, user_token), ANEURALNETWORKS_BAD_STATE);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksCompilation_free(two);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_change),
        cmocka_unit_test(test_token_by_hand),
        TEST(test_there_and_back),
        TEST(test_file_names),
        TEST(test_slash),
        TEST(test_unfit),
        TEST(test_no_folder),
        TEST(test_no_caching),
        TEST(test_versions_apart),
        TEST(test_given_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
