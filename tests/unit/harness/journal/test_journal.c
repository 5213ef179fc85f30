/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the journal, and the shared memory that results come through. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tests/kit/asleep.h"
#include "tests/kit/run/run.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/mman.h>

#include "base/file.h"
#include "harness/runner/worker/channel.h"
#include "harness/journal/command.h"
#include "harness/journal/journal.h"
#include "harness/journal/verdict.h"
#include "base/process.h"
#include "base/clock.h"
#include "harness/journal/record.h"
#include "harness/runner/run.h"

/* ------------------------------------------------------------------- record */

static const struct nnv_case one_case = {
    .name = "made/ADD/1", .suite = "made", .op = "ADD", .type = "float32", .tags = "exact edge", .level = 1};

static struct nnv_bytes bytes(const char *s) { return (struct nnv_bytes){s, strlen(s)}; }

static json_t *record(const struct nnv_ended *e, const struct nnv_record_extra *extra) {
    struct nnv_text t = {0};
    nnv_record_case(&one_case, e, extra, &t);
    assert_false(t.failed);
    assert_null(strchr(t.data, '\n'));
    json_t *r = json_loads(t.data, JSON_REJECT_DUPLICATES, NULL);
    if (r == NULL) fail_msg("no JSON: %s", t.data);
    nnv_text_free(&t);
    return r;
}

static void test_record(void **state) {
    (void)state;
    struct nnv_ended e = {.verdict = NNVTS_CRASH,
                          .compared = 3,
                          .not_compared = 4,
                          .start_ns = nnv_now_ns() - 3000000,
                          .ns = 1234567,
                          .driver_ns = 89000,
                          .worker = 5,
                          .phase = NNV_PHASE_PREPARE,
                          .signal = SIGSEGV,
                          .reason = bytes("it\nbroke"),
                          .outputs = bytes("[{\"index\":0}]"),
                          .backtrace = bytes("#0 x\n"),
                          .log = {"a\0b", 3}};
    json_t *r = record(&e, &(struct nnv_record_extra){.phase = "prepare_model",
                                                      .dump = "dumps/x.json",
                                                      .replay = "nnvts replay",
                                                      .remark = "a remark",
                                                      .again = "PASS",
                                                      .outcome = NNVTS_OUTCOME_XFAIL,
                                                      .expectation = 3});
    assert_string_equal(text_of(r, "outcome"), "XFAIL");
    assert_int_equal(json_integer_value(json_object_get(r, "expectation")), 3);
    assert_string_equal(text_of(r, "case"), "made/ADD/1");
    assert_string_equal(text_of(r, "tags"), "exact edge");
    assert_string_equal(text_of(r, "verdict"), "CRASH");
    assert_string_equal(text_of(r, "why"), "DIED");
    assert_string_equal(text_of(r, "reason"), "it\nbroke\na remark");
    assert_string_equal(text_of(r, "phase"), "prepare_model");
    assert_string_equal(text_of(r, "signal"), "SIGSEGV");
    assert_string_equal(text_of(r, "log"), "a\xef\xbf\xbd"
                                           "b");
    assert_string_equal(text_of(r, "dump"), "dumps/x.json");
    assert_string_equal(text_of(r, "again"), "PASS");
    assert_float_equal(json_real_value(json_object_get(r, "ms")), 1.234, 1e-9);
    assert_int_equal(json_integer_value(json_object_get(r, "driver_us")), 89);
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    double began_s = (double)json_integer_value(json_object_get(r, "began_us")) / 1e6;
    double ago_s = (double)wall.tv_sec + (double)wall.tv_nsec / 1e9 - began_s;
    assert_true(ago_s > 0.0029 && ago_s < 60); /* 3 ms and what the test took */
    assert_int_equal(json_array_size(json_object_get(r, "outputs")), 1);
    json_decref(r);
    e = (struct nnv_ended){.verdict = NNVTS_PASS, .reason = bytes("not for a PASS")};
    r = record(&e, &(struct nnv_record_extra){0});
    static const char *const absent[] = {"why",   "reason",   "phase",   "signal",     "backtrace",
                                         "log",   "dump",     "replay",  "outputs",    "worker",
                                         "again", "began_us", "outcome", "expectation"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) assert_null(json_object_get(r, absent[i]));
    json_decref(r);
    /* damaged comparisons never reach the journal, and never pass */
    e = (struct nnv_ended){.verdict = NNVTS_PASS, .outputs = bytes("[1]}\n{")};
    r = record(&e, &(struct nnv_record_extra){0});
    assert_string_equal(text_of(r, "verdict"), "ERROR");
    assert_string_equal(text_of(r, "why"), "HARNESS");
    assert_non_null(strstr(text_of(r, "reason"), "damaged"));
    assert_null(json_object_get(r, "outputs"));
    json_decref(r);
}

/* The list of reasons is closed, and the page has all of it. */
static void test_reasons(void **state) {
    (void)state;
    char *page = NULL;
    size_t bytes;
    FILE *f = fopen("docs/use/journal.md", "r");
    assert_non_null(f);
    assert_true(getdelim(&page, &bytes, '\0', f) > 0);
    fclose(f);
    for (int i = NNVTS_WHY_NONE + 1; i < NNVTS_REASON_COUNT; i++) {
        const enum nnvts_reason why = (enum nnvts_reason)i;
        const enum nnvts_verdict v = nnv_why_verdict(why);
        char row[256];
        assert_int_equal(nnv_why_parse(nnv_why_name(why), v), why);
        assert_int_equal(nnv_why_of(v, why), why);
        assert_int_not_equal(nnv_why_parse(nnv_why_name(why), NNVTS_PASS), why); /* that verdict has none */
        snprintf(row, sizeof row, "| `%s` | %s | %s |\n", nnv_why_name(why), nnv_verdict_name(v), nnv_why_words(why));
        if (!strstr(page, row)) fail_msg("docs/use/journal.md lacks %s", row);
    }
    free(page);
    for (int v = 0; v < NNVTS_NOTRUN; v++) /* a record of each verdict has a reason */
        assert_true((nnv_why_of((enum nnvts_verdict)v, NNVTS_WHY_NONE) == NNVTS_WHY_NONE) == (v == NNVTS_PASS));
    assert_int_equal(nnv_why_parse("MADE_UP", NNVTS_FAIL), NNVTS_WHY_EXPECTATION);
}

static void test_json(void **state) {
    (void)state;
    static const char *const good[] = {"[]",
                                       "[ ]",
                                       "[1]",
                                       "[-1.5e+10,0.1E-3]",
                                       "[{}]",
                                       "[{\"a\":[true,false,null],\"b\":\"x\"}]",
                                       "[\"\\u00e9\\n\\\\\\\"\"]",
                                       "[\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"]",
                                       "[[[[[1]]]]]"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!nnv_json_is_array(good[i], strlen(good[i]))) fail_msg("refused: %s", good[i]);
        json_t *v = json_loads(good[i], 0, NULL);
        assert_non_null(v);
        json_decref(v);
    }
    static const char *const bad[] = {"",
                                      "{}",
                                      "1",
                                      "[",
                                      "[1",
                                      "[1,]",
                                      "[,1]",
                                      "[1]]",
                                      "[1] ",
                                      "[1}",
                                      "[tru]",
                                      "[-]",
                                      "[1.]",
                                      "[1e]",
                                      "[\"]",
                                      "[\"\\x\"]",
                                      "[\"\\u12\"]",
                                      "[\"\\ud800\"]",
                                      "[\"a\nb\"]",
                                      "[\"\xc3\"]",
                                      "[\"\xff\"]",
                                      "[\"\xc0\x80\"]",
                                      "[\"\xed\xa0\x80\"]",
                                      "[{\"a\"}]",
                                      "[{\"a\":}]",
                                      "[{1:2}]",
                                      "[1 2]",
                                      "[1\n]",
                                      "[\"\\",
                                      "[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (nnv_json_is_array(bad[i], strlen(bad[i]))) fail_msg("taken: %s", bad[i]);
    assert_false(nnv_json_is_array("[\"a\0b\"]", 7));
    enum { DEEPEST = 16 };
    char nested[2 * (DEEPEST + 2)];
    for (size_t depth = 1; depth <= DEEPEST + 2; depth++) {
        memset(nested, '[', depth);
        memset(nested + depth, ']', depth);
        assert_int_equal(nnv_json_is_array(nested, 2 * depth), depth <= DEEPEST);
    }
}

static void test_commands(void **state) {
    (void)state;
    const struct nnv_run_config config = {.driver = "cpu", .precision = -1, .seed = 7, .tier = 2, .specs = "v"};
    struct nnv_run_facts facts;
    struct nnv_text t = {0};
    nnv_command_replay("./my driver.so:a'b", "out/x y.json", &t);
    assert_string_equal(t.data, "nnvts replay 'out/x y.json' --driver './my driver.so:a'\\''b'");
    struct nnv_text other = {0};
    nnv_command_retarget(t.data, "z.json", &other);
    assert_string_equal(other.data, "nnvts replay z.json --driver './my driver.so:a'\\''b'");
    nnv_text_clear(&t);
    nnv_config_facts(&config, &facts);
    struct nnv_case c = one_case;
    const struct nnv_case *cases[] = {&c};
    c.suite = "fake";
    c.name = "odd name/*";
    nnv_command_run(&facts, cases, 1, &t);
    assert_string_equal(t.data, "nnvts run --driver cpu --suite fake --filter 'odd\\ name/\\*' --seed 7 --tier full");
    nnv_text_clear(&other);
    nnv_command_retarget(t.data, "z.json", &other);
    assert_string_equal(other.data, t.data);
    const struct nnv_run_config soak = {
        .driver = "cpu", .precision = -1, .seed = 7, .stress_ns = 5400500000000, .suspend_hook = "sleep 1", .jobs = 3};
    nnv_config_facts(&soak, &facts);
    nnv_text_clear(&t);
    nnv_command_run(&facts, cases, 1, &t);
    assert_non_null(strstr(t.data, " --tier smoke --jobs 3 --stress 5400.5 --suspend-hook 'sleep 1'"));
    nnv_text_free(&t);
    nnv_text_free(&other);
}

static void test_check(void **state) {
    (void)state;
    struct nnv_case two[2] = {one_case, one_case};
    struct nnv_err err = {0};
    assert_int_equal(nnv_journal_check(two, 2, &err), NNV_INVALID);
    assert_string_equal(err.text, "two cases have the name 'made/ADD/1'");
    static const char *const bad[] = {"", "a\tb", "a\nb", "a\x7f", "a\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        two[1].name = bad[i];
        assert_int_equal(nnv_journal_check(two, 2, &err), NNV_INVALID);
    }
    two[1].name = "caf\xc3\xa9";
    assert_int_equal(nnv_journal_check(two, 2, &err), NNV_OK);
    assert_int_equal(nnv_journal_check(NULL, 0, &err), NNV_OK);
}

/* ------------------------------------------------------------------ journal */

static void test_appending(void **state) {
    (void)state;
    struct nnv_journal j = NNV_JOURNAL_NONE, second = NNV_JOURNAL_NONE;
    struct nnv_err err = {0};
    char folder[PATH_MAX], *big = malloc(100001);
    bool there = true;
    snprintf(folder, sizeof folder, "%s/a/b", root);
    assert_int_equal(nnv_journal_open(folder, &j, &there, &err), NNV_OK);
    assert_false(there);
    assert_int_equal(nnv_journal_cases(&j, "cases.tsv", &one_case, 1, &err), NNV_OK);
    assert_int_equal(nnv_journal_begin(&j, "{\"nnvts\":\"x\"}", &err), NNV_OK);
    memset(big, 'x', 100000);
    memcpy(big, "{\"", 2);
    memcpy(big + 99996, "\":1}", 5);
    assert_int_equal(nnv_journal_append(&j, "{\"a\":1}", 7, false, &err), NNV_OK);
    assert_int_equal(nnv_journal_append(&j, big, 100000, true, &err), NNV_OK);
    j.synced_ns = nnv_now_ns(); /* what is urgent does not wait */
    assert_int_equal(nnv_journal_tend(&j, false, &err), NNV_OK);
    assert_false(j.dirty);
    assert_int_equal(j.lines, 2);
    assert_int_equal(nnv_journal_open(folder, &second, &there, &err), NNV_INVALID);
    nnv_journal_close(&second);
    nnv_journal_close(&j);
    json_t *lines = read_journal(folder);
    assert_int_equal(json_array_size(lines), 3);
    json_decref(lines);
    assert_int_equal(nnv_journal_open(folder, &j, &there, &err), NNV_OK);
    assert_true(there);
    assert_int_equal(nnv_journal_clear(&j, &err), NNV_OK);
    nnv_journal_close(&j);
    assert_int_equal(nnv_journal_open(folder, &j, &there, &err), NNV_OK);
    assert_false(there); /* empty: nnvts's, but nothing was run */
    assert_int_not_equal(nnv_journal_tell(&j, &(struct nnv_run_observer){.record = NULL}, &err), NNV_OK);
    nnv_journal_close(&j);
    free(big);
}

/* write() of all that is tested here; to `stubborn` it writes nothing, and says so. */
static int stubborn = -1;
static int refusals;

ssize_t write(int fd, const void *data, size_t n) {
    if (fd != stubborn) return syscall(SYS_write, fd, data, n);
    errno = ++refusals < 100 ? EINTR : ENOSPC; /* left behind by an earlier call */
    return refusals < 100 ? 0 : -1;
}

static void test_nothing_is_written(void **state) {
    (void)state;
    struct nnv_journal j = NNV_JOURNAL_NONE;
    struct nnv_err err = {0};
    char folder[PATH_MAX];
    bool there;
    snprintf(folder, sizeof folder, "%s/stubborn", root);
    assert_int_equal(nnv_journal_open(folder, &j, &there, &err), NNV_OK);
    assert_int_equal(nnv_journal_begin(&j, "{\"nnvts\":\"x\"}", &err), NNV_OK);
    stubborn = j.file;
    const enum nnv_status st = nnv_journal_append(&j, "{\"a\":1}", 7, false, &err);
    stubborn = -1;
    assert_int_equal(st, NNV_IO);
    assert_int_equal(refusals, 1);
    assert_int_equal(nnv_journal_append(&j, "{\"a\":1}", 7, false, &err), NNV_OK);
    nnv_journal_close(&j);
    json_t *lines = read_journal(folder);
    assert_int_equal(json_array_size(lines), 2);
    json_decref(lines);
}

/* Records of cases that were not run are taken out of a journal that is resumed; all others stay as they are. */
static void test_what_was_not_run(void **state) {
    (void)state;
    static const char header[] = "{\"nnvts\":\"x\",\"format\":\"nnvts-journal/1\",\"cases\":3}",
                      first[] = "{\"case\":\"a\",\"verdict\":\"PASS\",\"worker\":4}",
                      second[] = "{\"case\":\"b\",\"verdict\":\"NOTRUN\"}",
                      third[] = "{\"case\":\"c\",\"verdict\":\"FAIL\",\"dump\":\"dumps/c.json\",\"worker\":2}",
                      again[] = "{\"case\":\"b\",\"verdict\":\"PASS\"}";
    const struct nnv_case cases[] = {{.name = "a", .suite = "s", .op = "", .type = "", .tags = ""},
                                     {.name = "b", .suite = "s", .op = "", .type = "", .tags = ""},
                                     {.name = "c", .suite = "s", .op = "", .type = "", .tags = ""}};
    struct nnv_journal j = NNV_JOURNAL_NONE;
    struct nnv_journal_past past = {0};
    struct nnv_err err = {0};
    char folder[PATH_MAX], path[2 * PATH_MAX], expected[512], *text = NULL;
    size_t size;
    bool there;
    snprintf(folder, sizeof folder, "%s/not-run", root);
    assert_int_equal(nnv_journal_open(folder, &j, &there, &err), NNV_OK);
    assert_int_equal(nnv_journal_cases(&j, "cases.tsv", cases, 3, &err), NNV_OK);
    assert_int_equal(nnv_journal_begin(&j, header, &err), NNV_OK);
    assert_int_equal(nnv_journal_append(&j, first, strlen(first), false, &err), NNV_OK);
    assert_int_equal(nnv_journal_append(&j, second, strlen(second), false, &err), NNV_OK);
    assert_int_equal(nnv_journal_append(&j, third, strlen(third), false, &err), NNV_OK);
    if (nnv_journal_resume(&j, header, cases, 3, &past, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_true(past.done[0] && !past.done[1] && past.done[2]);
    assert_int_equal(past.not_run, 1);
    assert_int_equal(past.dumps, 1);
    assert_int_equal(past.workers, 4);
    assert_int_equal(j.lines, 2);
    assert_int_equal(j.size, strlen(header) + strlen(first) + strlen(third) + 3);
    assert_int_equal(nnv_journal_append(&j, again, strlen(again), false, &err), NNV_OK);
    nnv_journal_past_free(&past);
    nnv_journal_close(&j);
    assert_int_equal(nnv_journal_open(folder, &j, &there, &err), NNV_OK);
    if (nnv_journal_resume(&j, header, cases, 3, &past, &err) != NNV_OK) fail_msg("%s", err.text);
    assert_true(past.done[0] && past.done[1] && past.done[2] && past.not_run == 0);
    assert_int_equal(j.lines, 3);
    nnv_journal_past_free(&past);
    nnv_journal_close(&j);
    snprintf(path, sizeof path, "%s/journal.jsonl", folder);
    snprintf(expected, sizeof expected, "%s\n%s\n%s\n%s\n", header, first, third, again);
    assert_int_equal(nnv_file_read(path, 1 << 20, &text, &size, &err), NNV_OK);
    assert_string_equal(text, expected);
    free(text);
}

/* ------------------------------------------------------------------ channel */

static char *filled(size_t n, char c) {
    char *p = malloc(n + 1);
    memset(p, c, n);
    p[n] = '\0';
    return p;
}

static struct nnv_record sized(uint32_t index, const char *text, size_t reason, size_t outputs) {
    return (struct nnv_record){.index = index,
                               .verdict = 1,
                               .compared = index,
                               .reason = text,
                               .reason_bytes = (uint32_t)reason,
                               .outputs = text,
                               .outputs_bytes = (uint32_t)outputs};
}

/* Records of all sizes, around the end of the ring again and again. */
static void test_ring(void **state) {
    (void)state;
    struct nnv_channel *c = nnv_shared_new(sizeof *c);
    struct nnv_hub *hub = nnv_shared_new(sizeof *hub);
    struct nnv_record r;
    char *buffer = NULL, *text = filled(1 << 20, 'q');
    size_t cap = 0;
    assert_int_equal(nnv_channel_pop(c, &r, &buffer, &cap), 0);
    for (uint32_t i = 0; i < 400; i++) {
        struct nnv_record in = sized(i, text, (i * 7919) % 5000, (i * 104729) % (1 << 20));
        in.devices = "npu=3";
        in.devices_bytes = 5;
        in.drift = "[{}]";
        in.drift_bytes = 4 * (i % 2);
        in.answer = "abc";
        in.answer_bytes = 3;
        nnv_channel_push(c, hub, &in);
        nnv_channel_push(c, hub, &in);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(nnv_channel_pop(c, &r, &buffer, &cap), 1);
            assert_int_equal(r.index, i);
            assert_int_equal(r.reason_bytes, in.reason_bytes);
            assert_int_equal(r.outputs_bytes, in.outputs_bytes);
            if (r.outputs_bytes > 0) assert_memory_equal(r.outputs, text, r.outputs_bytes);
            assert_int_equal(r.drift_bytes, in.drift_bytes);
            assert_memory_equal(r.devices, i % 2 ? "npu=3[{}]abc" : "npu=3abc", i % 2 ? 12 : 8);
            assert_ptr_equal(r.drift, r.devices + 5);
            assert_ptr_equal(r.answer, r.drift + r.drift_bytes);
        }
        assert_int_equal(nnv_channel_pop(c, &r, &buffer, &cap), 0);
    }
    assert_true(atomic_load(&hub->wake) >= 800);
    free(text);
    free(buffer);
    nnv_shared_free(c, sizeof *c);
    nnv_shared_free(hub, sizeof *hub);
}

static void test_too_large(void **state) {
    (void)state;
    struct nnv_channel *c = nnv_shared_new(sizeof *c);
    struct nnv_hub *hub = nnv_shared_new(sizeof *hub);
    struct nnv_record r, in;
    char *buffer = NULL, *text = filled(NNV_CHANNEL_RING, 'q');
    size_t cap = 0;
    in = sized(3, text, NNV_CHANNEL_RING - 1000, NNV_CHANNEL_RING);
    nnv_channel_push(c, hub, &in);
    assert_int_equal(nnv_channel_pop(c, &r, &buffer, &cap), 1);
    assert_int_equal(r.outputs_bytes, 0);
    assert_true(r.reason_bytes > NNV_CHANNEL_CUT && r.reason_bytes < NNV_CHANNEL_CUT + 200);
    assert_memory_equal(r.reason + NNV_CHANNEL_CUT, "\n(too long", 10);
    free(text);
    free(buffer);
    nnv_shared_free(c, sizeof *c);
    nnv_shared_free(hub, sizeof *hub);
}

/* A producer in another process waits while the ring is full, and loses nothing. */
static void test_full_ring(void **state) {
    (void)state;
    enum { RECORDS = 3000 };
    struct nnv_channel *c = nnv_shared_new(sizeof *c);
    struct nnv_hub *hub = nnv_shared_new(sizeof *hub);
    struct nnv_record r;
    char *buffer = NULL, *text = filled(20000, 'q');
    size_t cap = 0;
    pid_t pid = nnv_process_fork();
    if (pid == 0) {
        for (uint32_t i = 0; i < RECORDS; i++) {
            struct nnv_record in = sized(i, text, 10, i % 20000);
            nnv_channel_push(c, hub, &in);
        }
        _exit(0);
    }
    await_asleep(pid); /* the ring is full */
    for (uint32_t i = 0; i < RECORDS;) {
        uint32_t seen = atomic_load(&hub->wake);
        int got = nnv_channel_pop(c, &r, &buffer, &cap);
        assert_true(got >= 0);
        if (got == 0) nnv_hub_wait(hub, seen, 1000000000);
        if (got == 1) assert_int_equal(r.index, i++);
    }
    struct nnv_end end;
    nnv_process_wait(pid, 5000000000, &end);
    assert_false(end.timed_out);
    free(text);
    free(buffer);
    nnv_shared_free(c, sizeof *c);
    nnv_shared_free(hub, sizeof *hub);
}

/* Whatever a driver writes over a channel: no crash, no record out of nothing. */
static void test_damaged_channel(void **state) {
    (void)state;
    struct nnv_channel *c = nnv_shared_new(sizeof *c);
    struct nnv_hub *hub = nnv_shared_new(sizeof *hub);
    struct nnv_record r, in = sized(1, "text", 4, 4);
    char *buffer = NULL;
    size_t cap = 0;
    static const uint64_t heads[] = {1, 7, 40, UINT64_MAX, NNV_CHANNEL_RING, NNV_CHANNEL_RING + 1ull, UINT64_MAX / 2};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        atomic_store(&c->tail, 0);
        atomic_store(&c->head, heads[i]);
        assert_int_equal(nnv_channel_pop(c, &r, &buffer, &cap), -1);
    }
    for (int at = 0; at < 32; at++) {
        memset(c->ring, 0, 256);
        atomic_store(&c->tail, 0);
        atomic_store(&c->head, 0);
        nnv_channel_push(c, hub, &in);
        c->ring[at] = 0xff;
        int got = nnv_channel_pop(c, &r, &buffer, &cap);
        assert_true(got == -1 || (got == 1 && r.reason_bytes + r.outputs_bytes + r.log_bytes <= 8));
    }
    free(buffer);
    nnv_shared_free(c, sizeof *c);
    nnv_shared_free(hub, sizeof *hub);
}

/* The pages around shared memory are not to be touched. */
static void test_guard_pages(void **state) {
    (void)state;
    for (int side = 0; side < 2; side++) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        char *p = nnv_shared_new(page);
        p[0] = p[page - 1] = 1;
        pid_t pid = nnv_process_fork();
        if (pid == 0) {
            nnv_process_sandbox(-1);
            *(volatile char *)(side == 0 ? p - 1 : p + page) = 1;
            _exit(0);
        }
        struct nnv_end end;
        char text[64];
        nnv_process_wait(pid, 5000000000, &end);
        assert_string_equal(nnv_end_text(&end, text), "died with SIGSEGV");
        nnv_shared_free(p, page);
    }
}

static void test_process_deadline(void **state) {
    (void)state;
    pid_t pid = nnv_process_fork();
    if (pid == 0)
        for (;;) pause();
    struct nnv_end end;
    nnv_process_wait(pid, 50000000, &end);
    assert_true(end.timed_out);
    assert_int_equal(end.status, SIGKILL);
    assert_int_equal(kill(pid, 0), -1);
}

/* Lines of a list: neighbours share all but the name, or differ in one field each, or in the string's place alone. */
static void test_list(void **state) {
    (void)state;
    static const char s[] = "s", op[] = "op", type[] = "t", tags[] = "x y", same[] = "s";
    const struct nnv_case cases[] = {
        {.name = "a", .suite = s, .op = op, .type = type, .tags = tags},
        {.name = "b", .suite = s, .op = op, .type = type, .tags = tags},
        {.name = "c", .suite = s, .op = op, .type = type, .tags = ""},
        {.name = "d", .suite = s, .op = op, .type = "u", .tags = ""},
        {.name = "e", .suite = s, .op = "", .type = "u", .tags = ""},
        {.name = "f", .suite = "z", .op = "", .type = "u", .tags = ""},
        {.name = "g", .suite = same, .op = op, .type = type, .tags = tags},
    };
    struct nnv_journal j = NNV_JOURNAL_NONE;
    struct nnv_err err = {0};
    char folder[PATH_MAX], path[2 * PATH_MAX], *text = NULL;
    size_t size;
    bool there;
    snprintf(folder, sizeof folder, "%s/list", root);
    snprintf(path, sizeof path, "%s/cases.tsv", folder);
    assert_int_equal(nnv_journal_open(folder, &j, &there, &err), NNV_OK);
    assert_int_equal(nnv_journal_cases(&j, "cases.tsv", cases, sizeof cases / sizeof *cases, &err), NNV_OK);
    assert_int_equal(nnv_file_read(path, 1 << 20, &text, &size, &err), NNV_OK);
    assert_string_equal(text, "a\ts\top\tt\tx y\nb\ts\top\tt\tx y\nc\ts\top\tt\t\nd\ts\top\tu\t\ne\ts\t\tu\t\n"
                              "f\tz\t\tu\t\ng\ts\top\tt\tx y\n");
    free(text);
    nnv_journal_close(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_appending),
        cmocka_unit_test(test_nothing_is_written),
        cmocka_unit_test(test_what_was_not_run),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_full_ring),
        cmocka_unit_test(test_damaged_channel),
        cmocka_unit_test(test_guard_pages),
        cmocka_unit_test(test_process_deadline),
    };
    return cmocka_run_group_tests(tests, begin_runs, end_runs);
}
