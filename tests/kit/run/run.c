/* SPDX-License-Identifier: Apache-2.0 */
/** @file run.c See run.h. */
#include "tests/kit/run/run.h"

#include <unistd.h>

#include "base/file.h"

char root[] = "/tmp/nnvts-run-XXXXXX";
char driver_path[PATH_MAX];

int begin_runs(void **state) {
    (void)state;
    ssize_t len = readlink("/proc/self/exe", driver_path, sizeof driver_path - 32);
    if (len <= 0) return -1;
    driver_path[len] = '\0';
    strcpy(strrchr(driver_path, '/'), "/opening.so"); /* beside the test */
    return make_folder(root);
}

int end_runs(void **state) {
    (void)state;
    return remove_folder(root);
}

void setup_init(struct setup *s, const char *out) {
    memset(s, 0, sizeof *s);
    s->arena = nnv_arena_new();
    s->list.arena = s->arena;
    snprintf(s->out, sizeof s->out, "%s/%s", root, out);
    s->config = (struct nnv_run_config){
        .driver = "fake",
        .driver_path = driver_path,
        .out = s->out,
        .seed = 1,
        .precision = -1,
        .tier = 1,
        .timeout_ns = UINT64_C(10000000000),
        .jobs = 1,
    };
}

void setup_free(struct setup *s) {
    free(s->list.item);
    nnv_arena_free(s->arena);
}

void add_case(struct setup *s, const char *suite, enum fault fault, uint64_t b) {
    /* Cases of one operation that hang in one phase end its being asked. */
    static const char *const op[] = {
        [MANY_FILES] = NULL, [HANG_BUSY] = "SUB", [HANG_ASLEEP] = "MUL", [STOPPED] = "DIV"};
    struct nnv_err err = {0};
    const struct nnv_case c = {
        .name = nnv_arena_printf(s->arena, "%s/ADD/%d/%zu", suite, (int)fault, s->list.count),
        .suite = suite,
        .op = op[fault] != NULL ? op[fault] : "ADD",
        .type = "float32",
        .tags = "exact",
        .a = fault,
        .b = b,
    };
    assert_int_equal(nnv_case_add(&s->list, &c, &err), NNV_OK);
}

enum nnv_status run_setup(struct setup *s, const struct nnv_run_observer *observer, bool *interrupted,
                          struct nnv_err *err) {
    static char arg0[] = "nnvts", arg1[] = "run";
    static char *argv[] = {arg0, arg1, NULL};
    struct nnv_run_options o = {
        .config = &s->config,
        .cases = s->list.item,
        .count = s->list.count,
        .resume = s->resume,
        .argc = 2,
        .argv = argv,
        .observer = observer,
    };
    return nnv_run(&o, interrupted, err);
}

void run_well(struct setup *s) {
    struct nnv_err err = {0};
    bool interrupted = true;
    if (run_setup(s, NULL, &interrupted, &err) != NNV_OK) fail_msg("nnv_run: %s", err.text);
    assert_false(interrupted);
}

json_t *read_journal(const char *out) {
    char path[PATH_MAX + 16], *text = NULL;
    size_t size = 0;
    struct nnv_err err = {0};
    snprintf(path, sizeof path, "%s/journal.jsonl", out);
    if (nnv_file_read(path, 1u << 30, &text, &size, &err) != NNV_OK) fail_msg("%s", err.text);
    json_t *lines = json_array();
    for (char *at = text; *at != '\0';) {
        size_t n = strcspn(at, "\n");
        assert_int_equal(at[n], '\n');
        json_error_t why;
        json_t *value = json_loadb(at, n, JSON_REJECT_DUPLICATES, &why);
        if (value == NULL) fail_msg("%s: %s: %.200s", path, why.text, at);
        json_array_append_new(lines, value);
        at += n + 1;
    }
    free(text);
    return lines;
}

json_t *record_of(json_t *lines, const char *name) {
    json_t *found = NULL;
    for (size_t i = 1; i < json_array_size(lines); i++) {
        json_t *r = json_array_get(lines, i);
        if (strcmp(json_string_value(json_object_get(r, "case")), name) != 0) continue;
        assert_null(found);
        found = r;
    }
    if (found == NULL) fail_msg("no record of %s", name);
    return found;
}

const char *text_of(const json_t *record, const char *member) {
    const char *s = json_string_value(json_object_get(record, member));
    return s != NULL ? s : "";
}

void count_verdicts(const char *out, const char *verdict, const char *reason, size_t expected_count) {
    json_t *lines = read_journal(out);
    size_t n = 0;
    for (size_t i = 1; i < json_array_size(lines); i++) {
        const json_t *r = json_array_get(lines, i);
        n += strcmp(text_of(r, "verdict"), verdict) == 0 && strstr(text_of(r, "reason"), reason) != NULL;
    }
    assert_int_equal(n, expected_count);
    json_decref(lines);
}
