/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file run_fixture.h
 * For the tests of the run: a driver built on the spot, a suite whose cases misbehave in every way a driver can, and
 * runs into temporary folders.
 */
#ifndef NNV_TEST_RUN_FIXTURE_H
#define NNV_TEST_RUN_FIXTURE_H

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "harness/runner/channel.h"
#include "harness/runner/run.h"

/* ------------------------------------------------------------------- driver */

static char root[] = "/tmp/nnvts-run-XXXXXX"; /* of all that these tests write */
static char driver_path[PATH_MAX];

/** A driver that does nothing; its option says how it opens. */
static const char driver_source[] =
    "#include \"nnvts/driver.h\"\n"
    "#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n#include <unistd.h>\n#include <fcntl.h>\n"
    "#include <sys/file.h>\n#include <signal.h>\n"
    "static enum nnvts_device_status status(struct nnvts_device *d) { (void)d; return NNVTS_DEVICE_AVAILABLE; }\n"
    "static enum nnvts_status supported(struct nnvts_device *d, const struct nnvts_model *m, bool *s) {\n"
    "  (void)d; (void)m; (void)s; return NNVTS_STATUS_GENERAL_FAILURE; }\n"
    "static enum nnvts_status prepare(struct nnvts_device *d, const struct nnvts_model *m,\n"
    "  const struct nnvts_prepare_config *c, struct nnvts_prepared_model **o) {\n"
    "  (void)d; (void)m; (void)c; (void)o; return NNVTS_STATUS_GENERAL_FAILURE; }\n"
    "static int crash_on_close;\n"
    "static void release(struct nnvts_device *d) { (void)d; if (crash_on_close) raise(SIGSEGV); }\n"
    "static const struct nnvts_operand_performance performance[] = {{3, {0.5f, 0.25f}}};\n"
    "static struct nnvts_device device = {.struct_size = sizeof device, .feature_level = 7, .type = 2,\n"
    "  .name = \"fake\", .version = \"1.2\", .get_status = status, .get_supported_operations = supported,\n"
    "  .prepare_model = prepare, .release = release,\n"
    "  .capabilities = {.operand_performance_count = 1, .operand_performance = performance}};\n"
    /* counts the opens in a file; -1 when the number is reached */
    "static int count(const char *path) { char c[16] = {0}; int n = 0, fd = open(path, O_RDWR | O_CREAT, 0600);\n"
    "  if (read(fd, c, sizeof c - 1) > 0) n = atoi(c);\n"
    "  snprintf(c, sizeof c, \"%d\", n + 1); if (pwrite(fd, c, strlen(c), 0) < 0) abort(); close(fd); return n; }\n"
    "static enum nnvts_status do_open(const char *o, struct nnvts_device **out, const char **error) {\n"
    "  if (o && !strcmp(o, \"segv\")) raise(SIGSEGV);\n"
    "  if (o && !strcmp(o, \"exit\")) exit(3);\n"
    "  if (o && !strcmp(o, \"refuse\")) { *error = \"the device is on fire\"; return NNVTS_STATUS_DEVICE_UNAVAILABLE; "
    "}\n"
    "  if (o && !strncmp(o, \"thrice\", 6) && count(o + 6) >= 3) raise(SIGSEGV);\n"
    "  if (o && !strncmp(o, \"alone\", 5)) { int fd = open(o + 5, O_RDWR | O_CREAT, 0600);\n"
    "    if (flock(fd, LOCK_EX | LOCK_NB)) { *error = \"in use\"; return NNVTS_STATUS_DEVICE_UNAVAILABLE; } }\n"
    "  if (o && !strcmp(o, \"badclose\")) crash_on_close = 1;\n"
    "  if (o && !strcmp(o, \"slow\")) usleep(700000);\n"
    "  *out = &device; return NNVTS_STATUS_NONE; }\n"
    "static const char *const options[] = {\"segv\", \"exit\", \"refuse\", 0};\n"
    "static const struct nnvts_driver driver = {.struct_size = sizeof driver,\n"
    "  .abi_version = NNVTS_DRIVER_ABI_VERSION, .name = \"fake\", .open = do_open, .options = options};\n"
    "const struct nnvts_driver *nnvts_driver_get(void) { return &driver; }\n";

/** Builds the driver in a new temporary folder. */
static int build_driver(void **state) {
    (void)state;
    char source[PATH_MAX], command[3 * PATH_MAX];
    if (mkdtemp(root) == NULL) return -1;
    snprintf(source, sizeof source, "%s/driver.c", root);
    snprintf(driver_path, sizeof driver_path, "%s/driver.so", root);
    struct nnv_err err = {0};
    if (nnv_file_write(source, driver_source, strlen(driver_source), &err) != NNV_OK) return -1;
    const char *cc = getenv("CC");
    snprintf(command, sizeof command, "%s -Iinclude -shared -fPIC -o %s %s", cc != NULL ? cc : "cc", driver_path,
             source);
    return system(command) == 0 ? 0 : -1;
}

static int remove_all(void **state) {
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) == 0 ? 0 : -1;
}

/* -------------------------------------------------------------------- suite */

enum fault {
    FINE,
    WRONG, /* a result that is not PASS */
    UNTRUSTED,
    REFUSED,
    NULL_POINTER,
    ABORT,
    EXIT_0,
    EXIT_3,
    SIGKILL_SELF,
    DIVISION,
    ILLEGAL,
    STACK_SMASH,
    STACK_OVERFLOW,
    FREE_GARBAGE,
    THREAD_CRASH,
    HANG_BUSY,
    HANG_ASLEEP,
    STOPPED,
    CLOSES_ALL,
    PRINTS,
    PRINTS_MUCH,
    FORKS,           /* the child goes on as if it were the worker */
    FORKS_AND_HANGS, /* the child stays behind */
    DAMAGES,
    HUGE_RECORD,
    BUILD_CRASH,       /* always, while nnvts builds */
    BUILD_CRASH_LATER, /* only in a worker that ran another case */
    CHECK_CRASH,
    ERROR_LATER, /* nnvts fails, but only in a worker that ran another case */
    ERROR_ALWAYS,
    BAD_OUTPUTS,
    WRITES_CHANNEL, /* over the ring */
    SLOW,
    FAULTS,
    WRONG_ONCE, /* only the first time, as a file tells */
    WRONG_THEN_HANGS,
};

static int cases_before; /* run in this worker */

static void *crash_thread(void *unused) {
    (void)unused;
    raise(SIGSEGV);
    return NULL;
}

static __attribute__((noinline)) int overflow(int n) {
    volatile char room[4096];
    room[0] = (char)n;
    int deeper = n == INT_MAX ? 0 : overflow(n + 1);
    return deeper + room[0];
}

/** Overwrites the frames of all callers. */
static __attribute__((noinline)) void smash(void) {
    volatile char *frame = __builtin_frame_address(0);
    for (int i = 0; i < 4096; i++) frame[i] = 0x41;
}

/** Leaves a child, whose number stands in the file "child". */
static void stay_behind(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/child", root);
    pid_t pid = fork();
    while (pid == 0) pause();
    FILE *f = fopen(path, "w");
    if (f == NULL) abort();
    fprintf(f, "%d", (int)pid);
    fclose(f);
}

static void hang(void) {
    for (volatile int forever = 1; forever;) {}
}

/** Writes over what the worker tells the supervisor: into the ring, and over its positions. */
static void write_over_channel(struct nnv_case_env *env) {
    char *phase = (char *)(uintptr_t)env->phase;
    struct nnv_channel *channel = (struct nnv_channel *)(void *)(phase - offsetof(struct nnv_channel, phase));
    memset(channel->ring + 1000, 0xee, 100000);
    atomic_store(&channel->head, 0x0101010101010101u);
    atomic_store(&channel->tail, 0x0202020202020202u);
}

/** True the first time. */
static bool is_first(const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static void misbehave(enum fault fault, struct nnv_case_env *env, struct nnv_result *r) {
    pthread_t thread;
    volatile int nowhere = 8; /* 0 would be seen by a sanitizer, and end otherwise */
    switch (fault) {
    case FINE:
        break;
    case WRONG:
        r->verdict = NNVTS_FAIL;
        nnv_text_add(&r->reason, "output 0 [2]: 1 of 2 values wrong\nsecond line");
        break;
    case UNTRUSTED:
        r->verdict = NNVTS_UNTRUSTED;
        break;
    case REFUSED:
        r->verdict = NNVTS_UNSUPPORTED;
        nnv_text_add(&r->reason, "the driver does not support ADD");
        break;
    case NULL_POINTER:
        *(volatile int *)(uintptr_t)nowhere = 1;
        break;
    case ABORT:
        abort();
    case EXIT_0:
        exit(0);
    case EXIT_3:
        _exit(3);
    case SIGKILL_SELF:
        raise(SIGKILL);
        break;
    case DIVISION:
        raise(SIGFPE);
        break;
    case ILLEGAL:
        raise(SIGILL);
        break;
    case STACK_SMASH:
        smash();
        break;
    case STACK_OVERFLOW:
        r->compared += (size_t)overflow(1);
        break;
    case FREE_GARBAGE:
        free((void *)((uintptr_t)r + 24));
        break;
    case THREAD_CRASH:
        *env->phase = NNV_PHASE_BUILD;
        pthread_create(&thread, NULL, crash_thread, NULL);
        pthread_join(thread, NULL);
        break;
    case HANG_BUSY:
        hang();
        break;
    case HANG_ASLEEP:
        for (;;) pause();
    case STOPPED:
        raise(SIGSTOP);
        break;
    case CLOSES_ALL:
        for (int i = 0; i < 1024; i++) close(i);
        break;
    case PRINTS:
        printf("hello from the driver\n");
        fprintf(stderr, "and this is %c stderr\n", 0x80);
        printf("without newline");
        break;
    case PRINTS_MUCH:
        for (int i = 0; i < 60000; i++) fprintf(stderr, "line %d of very many\n", i);
        break;
    case FORKS:
        (void)!fork();
        break;
    case FORKS_AND_HANGS:
        stay_behind();
        break;
    case DAMAGES:
        r->verdict = NNVTS_FAIL;
        r->worker_damaged = true;
        break;
    case HUGE_RECORD:
        nnv_text_add(&r->outputs, "[1");
        for (int i = 0; i < 1200000; i++) nnv_text_add(&r->outputs, ",234");
        nnv_text_add(&r->outputs, "]");
        r->verdict = NNVTS_FAIL;
        nnv_text_add(&r->reason, "much");
        break;
    case BUILD_CRASH:
        *env->phase = NNV_PHASE_BUILD;
        raise(SIGSEGV);
        break;
    case BUILD_CRASH_LATER:
        *env->phase = NNV_PHASE_BUILD;
        if (cases_before > 0) raise(SIGSEGV);
        break;
    case CHECK_CRASH:
        *env->phase = NNV_PHASE_CHECK;
        raise(SIGSEGV);
        break;
    case ERROR_LATER:
        if (cases_before > 0) r->verdict = NNVTS_ERROR;
        break;
    case ERROR_ALWAYS:
        r->verdict = NNVTS_ERROR;
        nnv_text_add(&r->reason, "no file");
        break;
    case BAD_OUTPUTS:
        nnv_text_add(&r->outputs, "[1,}");
        break;
    case WRITES_CHANNEL:
        write_over_channel(env);
        break;
    case SLOW:
        usleep(2000);
        break;
    case FAULTS:
        break;
    case WRONG_ONCE:
        if (is_first("once")) r->verdict = NNVTS_FAIL;
        break;
    case WRONG_THEN_HANGS:
        if (!is_first("then")) hang();
        r->verdict = NNVTS_FAIL;
        break;
    }
}

static void fake_run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *r) {
    r->verdict = NNVTS_PASS;
    r->compared = 2;
    *env->phase = NNV_PHASE_EXECUTE;
    misbehave((enum fault)c->a, env, r);
    cases_before++;
}

static enum nnv_status fake_list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    (void)config;
    struct nnv_case c = {.name = "fake/one", .suite = "fake", .op = "ADD", .type = "float32", .tags = "edge"};
    return nnv_case_add(list, &c, err);
}

/** Fills spec with one ADD; case b decides whether that works. */
static enum nnv_status spec_build(const struct nnv_run_config *config, const struct nnv_case *c,
                                  struct nnv_arena *arena, struct nnv_spec **spec, struct nnv_err *err) {
    (void)config;
    if (c->b == 1) return nnv_fail(err, NNV_INVALID, "it can't be made");
    if (c->b == 2) raise(SIGSEGV);
    struct nnv_spec *s = NNV_NEW(arena, struct nnv_spec, 1);
    struct nnv_model *m = &s->model;
    s->name = c->name;
    m->main.noperands = 4;
    m->main.operands = NNV_NEW(arena, struct nnv_operand, 4);
    static const int32_t types[] = {ANEURALNETWORKS_TENSOR_FLOAT32, ANEURALNETWORKS_TENSOR_FLOAT32,
                                    ANEURALNETWORKS_INT32, ANEURALNETWORKS_TENSOR_FLOAT32};
    static const enum nnv_lifetime lifetimes[] = {NNV_SUBGRAPH_INPUT, NNV_SUBGRAPH_INPUT, NNV_CONSTANT_COPY,
                                                  NNV_SUBGRAPH_OUTPUT};
    static const int32_t none = 0;
    static const float values[] = {1, 2};
    for (int i = 0; i < 4; i++) {
        struct nnv_operand *o = &m->main.operands[i];
        o->type = types[i];
        o->lifetime = lifetimes[i];
        if (i == 2) {
            o->data = &none;
            o->bytes = sizeof none;
            continue;
        }
        o->rank = 1;
        o->dims = NNV_NEW(arena, uint32_t, 1);
        o->dims[0] = 2;
    }
    m->main.noperations = 1;
    m->main.operations = NNV_NEW(arena, struct nnv_operation, 1);
    struct nnv_operation *op = m->main.operations;
    op->type = ANEURALNETWORKS_ADD;
    op->nin = 3;
    op->nout = 1;
    op->in = NNV_NEW(arena, uint32_t, 3);
    op->out = NNV_NEW(arena, uint32_t, 1);
    for (uint32_t i = 0; i < 3; i++) op->in[i] = i;
    op->out[0] = 3;
    m->main.nin = 2;
    m->main.nout = 1;
    m->main.in = NNV_NEW(arena, uint32_t, 2);
    m->main.in[1] = 1;
    m->main.out = NNV_NEW(arena, uint32_t, 1);
    m->main.out[0] = 3;
    s->inputs = NNV_NEW(arena, struct nnv_value, 2);
    s->outputs = NNV_NEW(arena, struct nnv_value, 1);
    for (int i = 0; i < 3; i++) {
        struct nnv_value *v = i < 2 ? &s->inputs[i] : s->outputs;
        *v = (struct nnv_value){.rank = 1, .dims = {2}, .bytes = sizeof values};
        v->data = nnv_arena_copy(arena, values, sizeof values);
    }
    *spec = s;
    return NNV_OK;
}

static const struct nnv_suite fake_suite = {
    .name = "fake", .summary = "misbehaves", .by_default = true, .list = fake_list, .run = fake_run};
static const struct nnv_suite made_suite = {.name = "made",
                                            .summary = "misbehaves, and can be built",
                                            .precision = NNV_PRECISION_BUDGET,
                                            .list = fake_list,
                                            .build = spec_build,
                                            .run = fake_run};

/** Lists the case that a dump is of: "DIR/made.ADD.FAULT.NUMBER.json". */
static enum nnv_status replayed_list(const struct nnv_run_config *config, struct nnv_case_list *list,
                                     struct nnv_err *err) {
    if (config->specs == NULL) return NNV_OK;
    const char *name = strrchr(config->specs, '/');
    int fault = -1;
    if (access(config->specs, R_OK) != 0 || name == NULL || sscanf(name, "/made.ADD.%d.", &fault) != 1)
        return nnv_fail(err, NNV_IO, "%s: no dump", config->specs);
    struct nnv_case c = {.name = "spec/one", .suite = "spec", .op = "", .type = "", .tags = "", .a = (uint64_t)fault};
    return nnv_case_add(list, &c, err);
}

static const struct nnv_suite replayed_suite = {
    .name = "spec", .summary = "misbehaves again", .list = replayed_list, .run = fake_run};
static const struct nnv_suite *const suites[] = {&fake_suite, &made_suite, &replayed_suite};

const struct nnv_suite *const *nnv_suites(size_t *count) {
    *count = sizeof suites / sizeof *suites;
    return suites;
}

const struct nnv_suite *nnv_suite_by_name(const char *name) {
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (strcmp(suites[i]->name, name) == 0) return suites[i];
    return NULL;
}

/* --------------------------------------------------------------------- runs */

/** A run to be made. */
struct setup {
    struct nnv_run_config config;
    struct nnv_arena *arena;
    struct nnv_case_list list;
    char out[PATH_MAX];
    bool resume;
};

static inline void setup_init(struct setup *s, const char *out) {
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

static inline void setup_free(struct setup *s) {
    free(s->list.item);
    nnv_arena_free(s->arena);
}

static inline void add_case(struct setup *s, const char *suite, enum fault fault, uint64_t b) {
    struct nnv_err err = {0};
    const struct nnv_case c = {
        .name = nnv_arena_printf(s->arena, "%s/ADD/%d/%zu", suite, (int)fault, s->list.count),
        .suite = suite,
        .op = "ADD",
        .type = "float32",
        .tags = "exact",
        .a = fault,
        .b = b,
    };
    assert_int_equal(nnv_case_add(&s->list, &c, &err), NNV_OK);
}

static inline enum nnv_status run_setup(struct setup *s, const struct nnv_run_observer *observer, bool *interrupted,
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

/** Runs, and fails the test if that does not work. */
static inline void run_well(struct setup *s) {
    struct nnv_err err = {0};
    bool interrupted = true;
    if (run_setup(s, NULL, &interrupted, &err) != NNV_OK) fail_msg("nnv_run: %s", err.text);
    assert_false(interrupted);
}

/** The journal as an array of its lines; the last one must be whole. */
static inline json_t *read_journal(const char *out) {
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

/** The record of the case, which must be the only one. */
static inline json_t *record_of(json_t *lines, const char *name) {
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

static inline const char *text_of(const json_t *record, const char *member) {
    const char *s = json_string_value(json_object_get(record, member));
    return s != NULL ? s : "";
}

#endif
