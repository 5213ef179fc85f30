/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_shard.c Which shard a run is, by options and environment, and which cases that are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "harness/journal/shards/shard.h"
#include "harness/journal/shards/times.h"
#include "harness/runner/run.h"
#include "harness/runner/suite.h"

static void numbers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint32_t index, count;
    } good[] = {{"1/1", 1, 1}, {"2/4", 2, 4}, {"100000/100000", 100000, 100000}, {"007/7", 7, 7}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct nnv_shard s = {0};
        struct nnv_err err = {0};
        assert_int_equal(nnv_shard_parse(good[i].text, "--shard", &s, &err), NNV_OK);
        assert_int_equal(s.index, good[i].index);
        assert_int_equal(s.count, good[i].count);
        assert_string_equal(s.from, "--shard");
    }
    static const char *const bad[] = {
        "",     "1",    "/",        "1/",  "/1",   "0/1",  "2/1",   "1/0",  "-1/2",  "1/2/",
        "1/2 ", " 1/2", "1/200000", "a/b", "+1/2", "1/2x", "1.0/2", "1//2", "0x1/2", "1/9999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nnv_shard s = {0};
        struct nnv_err err = {0};
        if (nnv_shard_parse(bad[i], "--shard", &s, &err) != NNV_INVALID) fail_msg("taken: '%s'", bad[i]);
        assert_non_null(strstr(err.text, "--shard"));
        assert_int_equal(s.count, 0);
    }
}

static const char *const variables[] = {"NNVTS_SHARD",
                                        "NNVTS_SHARD_TOTAL",
                                        "GTEST_SHARD_INDEX",
                                        "GTEST_TOTAL_SHARDS",
                                        "SLURM_ARRAY_TASK_ID",
                                        "SLURM_ARRAY_TASK_MIN",
                                        "SLURM_ARRAY_TASK_MAX",
                                        "SLURM_ARRAY_TASK_COUNT",
                                        "JOB_COMPLETION_INDEX",
                                        "SLURM_ARRAY_TASK_STEP",
                                        "CI_NODE_INDEX",
                                        "CI_NODE_TOTAL",
                                        "GTEST_SHARD_STATUS_FILE"};

/** Sets the variables "A=1 B=2" and no others. */
static void set_only(const char *text) {
    char copy[256];
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *save = NULL, *word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        setenv(word, equals + 1, 1);
    }
}

static void environments(void **state) {
    (void)state;
    static const struct {
        const char *set;
        uint32_t index, count; /**< count 0: no shard; index 0: an error */
        const char *words;     /**< the variable, or of the error */
    } table[] = {
        {"", 1, 0, ""},
        {"NNVTS_SHARD=", 1, 0, ""},
        {"NNVTS_SHARD=3/5", 3, 5, "NNVTS_SHARD"},
        {"NNVTS_SHARD=5/3", 0, 0, "NNVTS_SHARD"},
        {"GTEST_SHARD_INDEX=0 GTEST_TOTAL_SHARDS=4", 1, 4, "GTEST_SHARD_INDEX"},
        {"GTEST_SHARD_INDEX=3 GTEST_TOTAL_SHARDS=4", 4, 4, "GTEST_SHARD_INDEX"},
        {"GTEST_SHARD_INDEX=4 GTEST_TOTAL_SHARDS=4", 0, 0, "shard 5 of 4"},
        {"GTEST_SHARD_INDEX=1", 0, 0, "GTEST_TOTAL_SHARDS is not set"},
        {"CI_NODE_INDEX=1 CI_NODE_TOTAL=4", 1, 4, "CI_NODE_INDEX"},
        {"CI_NODE_INDEX=4 CI_NODE_TOTAL=4", 4, 4, "CI_NODE_INDEX"},
        {"CI_NODE_INDEX=0 CI_NODE_TOTAL=4", 0, 0, "the first is 1"},
        {"CI_NODE_TOTAL=1", 1, 0, ""},
        {"JOB_COMPLETION_INDEX=2 NNVTS_SHARD_TOTAL=3", 3, 3, "JOB_COMPLETION_INDEX"},
        {"JOB_COMPLETION_INDEX=2", 0, 0, "NNVTS_SHARD_TOTAL is not set"},
        {"JOB_COMPLETION_INDEX=two NNVTS_SHARD_TOTAL=3", 0, 0, "'two' is not a number"},
        {"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=4", 4, 4,
         "SLURM_ARRAY_TASK_ID"},
        {"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=4", 1, 4,
         "SLURM_ARRAY_TASK_ID"},
        {"SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=4 "
         "SLURM_ARRAY_TASK_STEP=2",
         3, 4, "SLURM_ARRAY_TASK_ID"},
        {"SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=5 SLURM_ARRAY_TASK_COUNT=3", 0, 0,
         "not numbered in equal steps"},
        {"SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_COUNT=4", 0, 0,
         "not numbered in equal steps"},
        {"SLURM_ARRAY_TASK_ID=1", 0, 0, "SLURM_ARRAY_TASK_MIN is not set"},
        /* of several systems, the one that is closest to the tests */
        {"NNVTS_SHARD=1/2 CI_NODE_INDEX=3 CI_NODE_TOTAL=4", 1, 2, "NNVTS_SHARD"},
        {"GTEST_SHARD_INDEX=0 GTEST_TOTAL_SHARDS=9 CI_NODE_INDEX=3 CI_NODE_TOTAL=4", 1, 9, "GTEST_SHARD_INDEX"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct nnv_shard s = {0};
        struct nnv_err err = {0};
        set_only(table[i].set);
        enum nnv_status status = nnv_shard_find(&s, &err);
        if (status != (table[i].index == 0 ? NNV_INVALID : NNV_OK)) fail_msg("%s: %s", table[i].set, err.text);
        if (status != NNV_OK) {
            if (strstr(err.text, table[i].words) == NULL) fail_msg("%s: %s", table[i].set, err.text);
            continue;
        }
        assert_int_equal(s.count, table[i].count);
        if (s.count == 0) continue;
        if (s.index != table[i].index) fail_msg("%s: shard %u", table[i].set, s.index);
        assert_string_equal(s.from, table[i].words);
    }
    set_only("");
}

static void the_status_file_is_made(void **state) {
    (void)state;
    char folder[] = "/tmp/nnvts-shard-XXXXXX", path[64], set[256];
    struct nnv_shard s = {0};
    struct nnv_err err = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/status", folder);
    snprintf(set, sizeof set, "GTEST_SHARD_INDEX=0 GTEST_TOTAL_SHARDS=2 GTEST_SHARD_STATUS_FILE=%s", path);
    set_only(set);
    assert_int_equal(nnv_shard_find(&s, &err), NNV_OK);
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
    rmdir(folder);
    assert_int_equal(nnv_shard_find(&s, &err), NNV_INVALID);
    set_only("");
}

/* ------------------------------------------------------------------- cases */

enum { MANY = 3000 };

/** A list of cases named PREFIX0, PREFIX1 ... */
static struct nnv_case_list list_of(struct nnv_arena *arena, const char *prefix, size_t count) {
    struct nnv_case_list list = {.arena = arena};
    struct nnv_err err = {0};
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%zu", prefix, i);
        const struct nnv_case c = {.name = name, .suite = "s", .op = "", .type = "", .tags = ""};
        assert_int_equal(nnv_case_add(&list, &c, &err), NNV_OK);
    }
    return list;
}

static void keep(struct nnv_shard *s, struct nnv_case_list *list, uint32_t index, uint32_t count, const uint64_t *us) {
    struct nnv_err err = {0};
    *s = (struct nnv_shard){.index = index, .count = count, .from = "--shard"};
    if (nnv_shard_keep(s, list, us, &err) != NNV_OK) fail_msg("%s", err.text);
}

/** The division is part of what folders of different builds agree on: it must stay as it is. */
static void names_alone_decide(void **state) {
    (void)state;
    assert_int_equal(nnv_shard_of("ops/ADD/float32/plain/0", 1), 1);
    /* FNV-1a of the name, mixed as SplitMix64 does: 0x36edfd965b9a30a0 */
    assert_int_equal(nnv_shard_of("ops/ADD/float32/plain/0", 7), 1);
    assert_int_equal(nnv_shard_of("ops/ADD/float32/plain/0", 1000), 393);
    struct nnv_arena *arena = nnv_arena_new();
    size_t sum = 0;
    for (uint32_t i = 1; i <= 4; i++) {
        struct nnv_case_list list = list_of(arena, "case/", MANY);
        struct nnv_shard s;
        keep(&s, &list, i, 4, NULL);
        assert_int_equal(s.cases, MANY);
        assert_string_equal(s.by, "hash");
        assert_string_equal(s.whole[17].name, "case/17");
        /* within 5 standard deviations of a quarter */
        assert_in_range(list.count, MANY / 4 - 119, MANY / 4 + 119);
        for (size_t k = 0; k < list.count; k++) assert_int_equal(nnv_shard_of(list.item[k].name, 4), i);
        sum += list.count;
        nnv_shard_free(&s);
        free(list.item);
    }
    assert_int_equal(sum, MANY);
    nnv_arena_free(arena);
}

/** Six cases of 7, 5, 4, 4, 3 and 1: the longest first, each to the shard with the least: 7+4+1 and 5+4+3. */
static void the_longest_are_dealt_first(void **state) {
    (void)state;
    static const uint64_t us[] = {4, 1, 7, 3, 5, 4};
    static const char *const due[2][4] = {{"c1", "c2", "c5", NULL}, {"c0", "c3", "c4", NULL}};
    struct nnv_arena *arena = nnv_arena_new();
    char by[2][32];
    for (uint32_t i = 0; i < 2; i++) {
        struct nnv_case_list list = list_of(arena, "c", 6);
        struct nnv_shard s;
        keep(&s, &list, i + 1, 2, us);
        size_t n = 0;
        while (due[i][n] != NULL) n++;
        assert_int_equal(list.count, n);
        for (size_t k = 0; k < n; k++) assert_string_equal(list.item[k].name, due[i][k]);
        snprintf(by[i], sizeof by[i], "%s", s.by);
        nnv_shard_free(&s);
        free(list.item);
    }
    assert_string_equal(by[0], by[1]);
    assert_memory_equal(by[0], "times-", 6);
    /* other times are another division */
    static const uint64_t others[] = {4, 1, 7, 3, 9, 4};
    struct nnv_case_list list = list_of(arena, "c", 6);
    struct nnv_shard s;
    keep(&s, &list, 1, 2, others);
    assert_string_not_equal(s.by, by[0]);
    nnv_shard_free(&s);
    free(list.item);
    nnv_arena_free(arena);
}

/** The shards of many cases differ by less than the longest. */
static void shards_of_many_are_even(void **state) {
    (void)state;
    static uint64_t us[MANY];
    uint64_t sums[7] = {0}, least = UINT64_MAX, most = 0, longest = 0;
    struct nnv_arena *arena = nnv_arena_new();
    for (size_t i = 0; i < MANY; i++) {
        us[i] = i * i % 1009 + 1;
        longest = us[i] > longest ? us[i] : longest;
    }
    size_t cases = 0;
    for (uint32_t i = 0; i < 7; i++) {
        struct nnv_case_list list = list_of(arena, "c", MANY);
        struct nnv_shard s;
        keep(&s, &list, i + 1, 7, us);
        for (size_t k = 0; k < list.count; k++) sums[i] += us[strtoul(list.item[k].name + 1, NULL, 10)];
        cases += list.count;
        least = sums[i] < least ? sums[i] : least;
        most = sums[i] > most ? sums[i] : most;
        nnv_shard_free(&s);
        free(list.item);
    }
    assert_int_equal(cases, MANY);
    assert_true(most - least <= longest);
    nnv_arena_free(arena);
}

static void empty_selections(void **state) {
    (void)state;
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_case_list list = {.arena = arena};
    struct nnv_shard s;
    const uint64_t none = 0;
    keep(&s, &list, 2, 3, NULL);
    assert_int_equal(list.count, 0);
    nnv_shard_free(&s);
    keep(&s, &list, 2, 3, &none);
    assert_int_equal(list.count, 0);
    nnv_shard_free(&s);
    nnv_arena_free(arena);
}

static void times_of_no_run(void **state) {
    (void)state;
    struct nnv_times *times = NULL;
    struct nnv_err err = {0};
    assert_int_not_equal(nnv_times_read("/nowhere", &times, &err), NNV_OK);
    assert_null(times);
    assert_non_null(strstr(err.text, "/nowhere"));
}

/* ------------------------------------------------------------------- builds */

static void builds_differ_by_a_byte(void **state) {
    (void)state;
    char path[] = "/tmp/nnvts-build-XXXXXX", first[17], second[17], data[100];
    struct nnv_err err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    memset(data, 'x', sizeof data);
    assert_int_equal(nnv_file_write(path, data, sizeof data, &err), NNV_OK);
    nnv_build_hash(path, first);
    assert_int_equal(strlen(first), 16);
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = 'y';
        assert_int_equal(nnv_file_create(path, data, sizeof data, &err), NNV_OK);
        nnv_build_hash(path, second);
        assert_string_not_equal(first, second);
        data[i] = 'x';
    }
    assert_int_equal(nnv_file_create(path, data, sizeof data - 1, &err), NNV_OK);
    nnv_build_hash(path, second);
    assert_string_not_equal(first, second);
    unlink(path);
    nnv_build_hash(path, second);
    assert_string_equal(second, "");
    nnv_build_hash("/tmp", second);
    assert_string_equal(second, "");
    nnv_build_hash(NULL, first); /* this program, which is no other file */
    nnv_build_hash("/proc/self/exe", second);
    assert_int_equal(strlen(first), 16);
    assert_int_equal(strlen(second), 16);
    nnv_build_hash(NULL, second);
    assert_string_equal(first, second);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(environments),
        cmocka_unit_test(the_status_file_is_made),
        cmocka_unit_test(names_alone_decide),
        cmocka_unit_test(the_longest_are_dealt_first),
        cmocka_unit_test(shards_of_many_are_even),
        cmocka_unit_test(empty_selections),
        cmocka_unit_test(times_of_no_run),
        cmocka_unit_test(builds_differ_by_a_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
