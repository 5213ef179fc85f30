/* SPDX-License-Identifier: Apache-2.0 */
/** @file suite.c The suites of the tests of the run. */
#include "tests/kit/run/run.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "harness/runner/worker/channel.h"
#include "reference/model/builder.h"

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

/* Overwrites the frames of all callers. */
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

/** What the worker tells the supervisor. */
static struct nnv_channel *channel_of(const struct nnv_case_env *env) {
    char *phase = (char *)(uintptr_t)env->phase;
    return (struct nnv_channel *)(void *)(phase - offsetof(struct nnv_channel, phase));
}

/** Writes over it: into the ring, and over its positions. */
static void write_over_channel(struct nnv_case_env *env) {
    struct nnv_channel *channel = channel_of(env);
    memset(channel->ring + 1000, 0xee, 100000);
    atomic_store(&channel->head, 0x0101010101010101u);
    atomic_store(&channel->tail, 0x0202020202020202u);
}

/** A child does, while the next case runs and the record of this one is taken. */
static void write_later(struct nnv_case_env *env) {
    struct nnv_channel *channel = channel_of(env);
    const uint32_t mine = atomic_load(&channel->current);
    if (fork() != 0) return;
    while (atomic_load(&channel->current) == mine || atomic_load(&channel->state) != NNV_WORKER_RUNNING) usleep(1000);
    usleep(100000);
    atomic_store(&channel->tail, 0x0202020202020202u);
    _exit(0);
}

/** Writes over what it tells of the case that runs, and dies. */
static void write_over_case(struct nnv_case_env *env, enum fault fault) {
    struct nnv_channel *channel = channel_of(env);
    if (fault == WRITES_CASE) atomic_fetch_xor(&channel->current, 1);
    if (fault == WRITES_START) atomic_fetch_xor(&channel->start_ns, 1);
    if (fault == WRITES_COUNTS) atomic_store(&channel->counts[NNVTS_PASS], 1000);
    abort();
}

/** True the first time. */
static bool is_first(const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* ------------------------------------------------------------- what a case does */

static void leave(int number) {
    (void)number;
    _exit(7);
}

/** A second with a word now and then. */
static void chatter(void) {
    for (int i = 0; i < 10; i++) {
        printf("still here\n");
        fflush(stdout);
        usleep(100000);
    }
}

/** A gigabyte, whoever gives it. */
static void take_memory(void) {
    volatile char *room = malloc((size_t)1 << 30);
    room[0] = 1;
}

/** So many files of a megabyte, below the folder of the tests. */
static void write_files(int files, int megabytes) {
    static const char block[1 << 20];
    char path[PATH_MAX];
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, "%s/large%d", root, i);
        const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        for (int k = 0; fd >= 0 && k < megabytes; k++)
            if (write(fd, block, sizeof block) < 0) break;
        if (fd >= 0) close(fd);
        unlink(path);
    }
}

static void fail_case(struct nnv_result *r, const char *why) {
    r->verdict = NNVTS_FAIL;
    nnv_text_add(&r->reason, why);
}

static void give_much(struct nnv_result *r) {
    nnv_text_add(&r->outputs, "[1");
    for (int i = 0; i < 1200000; i++) nnv_text_add(&r->outputs, ",234");
    nnv_text_add(&r->outputs, "]");
    fail_case(r, "much");
}

static void print(bool much) {
    for (int i = 0; much && i < 60000; i++) fprintf(stderr, "line %d of very many\n", i);
    if (much) return;
    printf("hello from the driver\n");
    fprintf(stderr, "and this is %c stderr\n", 0x80);
    printf("without newline");
}

static void crash_in_thread(struct nnv_case_env *env) {
    pthread_t thread;
    *env->phase = NNV_PHASE_BUILD;
    pthread_create(&thread, NULL, crash_thread, NULL);
    pthread_join(thread, NULL);
}

static void crash_in(struct nnv_case_env *env, enum nnv_phase phase, bool crashes) {
    *env->phase = phase;
    if (crashes) raise(SIGSEGV);
}

/* The worker's end, without a word of it. */
static void die(enum fault fault, struct nnv_result *r) {
    volatile int nowhere = 8; /* 0 would be seen by a sanitizer, and end otherwise */
    switch ((int)fault) {
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
    }
}

/* What a case says. */
static void answer(enum fault fault, struct nnv_result *r) {
    switch ((int)fault) {
    case WRONG:
        fail_case(r, "output 0 [2]: 1 of 2 values wrong\nsecond line");
        break;
    case UNTRUSTED:
        r->verdict = NNVTS_UNTRUSTED;
        break;
    case REFUSED:
        r->verdict = NNVTS_UNSUPPORTED;
        nnv_text_add(&r->reason, "the driver does not support ADD");
        break;
    case DAMAGES:
        r->verdict = NNVTS_FAIL;
        r->worker_damaged = true;
        break;
    case HUGE_RECORD:
        give_much(r);
        break;
    case ERROR_LATER:
        if (cases_before > 0) r->verdict = NNVTS_ERROR;
        break;
    case WRONG_LATER:
        if (cases_before > 0) r->verdict = NNVTS_FAIL;
        break;
    case ERROR_ALWAYS:
        r->verdict = NNVTS_ERROR;
        nnv_text_add(&r->reason, "no file");
        break;
    case BAD_OUTPUTS:
        nnv_text_add(&r->outputs, "[1,}");
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

/* What a case does to the worker and its neighbours. */
static void act(enum fault fault, struct nnv_case_env *env) {
    switch ((int)fault) {
    case THREAD_CRASH:
        crash_in_thread(env);
        break;
    case PRINTS:
    case PRINTS_MUCH:
        print(fault == PRINTS_MUCH);
        break;
    case FORKS:
        (void)!fork();
        break;
    case FORKS_AND_HANGS:
        stay_behind();
        break;
    case BUILD_CRASH:
    case BUILD_CRASH_LATER:
        crash_in(env, NNV_PHASE_BUILD, fault == BUILD_CRASH || cases_before > 0);
        break;
    case CHECK_CRASH:
        crash_in(env, NNV_PHASE_CHECK, true);
        break;
    case WRITES_CHANNEL:
        write_over_channel(env);
        break;
    case WRITES_CASE:
    case WRITES_START:
    case WRITES_COUNTS:
        write_over_case(env, fault);
        break;
    case SLOW:
        usleep(2000); /* work that takes time */
        break;
    case WRITES_LATER:
        write_later(env);
        break;
    case SLOW_CHECK:
        *env->phase = NNV_PHASE_CHECK;
        sleep(1);
        break;
    case ENDLESS_BUILD:
        *env->phase = NNV_PHASE_BUILD;
        hang();
        break;
    case DEAF_TO_TERM:
        signal(SIGTERM, SIG_IGN);
        hang();
        break;
    case TIDIES_UP:
        signal(SIGTERM, leave);
        hang();
        break;
    case WRONG_LATER:
        usleep(100000);
        break;
    case CHATTERS:
        chatter();
        break;
    case NO_MEMORY:
        take_memory();
        break;
    case ONE_LARGE_FILE:
        write_files(1, 4);
        break;
    case MANY_FILES:
        write_files(8, 1);
        break;
    }
}

static void fake_run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *r) {
    r->verdict = NNVTS_PASS;
    r->compared = 2;
    *env->phase = NNV_PHASE_EXECUTE;
    act((enum fault)c->a, env);
    answer((enum fault)c->a, r);
    die((enum fault)c->a, r);
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
    static const float values[] = {1, 2};
    static const uint32_t two[] = {2};
    const struct nnv_encoding floats = {ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0};
    struct nnv_spec *s = NNV_NEW(arena, struct nnv_spec, 1);
    struct nnv_builder b = {.arena = arena};
    const uint32_t x = nnv_builder_tensor(&b, floats, 1, two, NNV_SUBGRAPH_INPUT);
    const uint32_t y = nnv_builder_tensor(&b, floats, 1, two, NNV_SUBGRAPH_INPUT);
    const uint32_t in[] = {x, y, nnv_builder_int(&b, 0)};
    const uint32_t sum = nnv_builder_tensor(&b, floats, 1, two, NNV_SUBGRAPH_OUTPUT);
    nnv_builder_add(&b, ANEURALNETWORKS_ADD, 3, in, sum);
    s->name = c->name;
    s->inputs = NNV_NEW(arena, struct nnv_value, 2);
    s->outputs = NNV_NEW(arena, struct nnv_value, 1);
    for (int i = 0; i < 3; i++) {
        struct nnv_value *v = i < 2 ? &s->inputs[i] : s->outputs;
        *v = (struct nnv_value){.rank = 1, .dims = {2}, .bytes = sizeof values};
        v->data = nnv_arena_copy(arena, values, sizeof values);
    }
    *spec = s;
    return nnv_builder_end(&b, 2, in, 1, &sum, &s->model, err);
}

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

static const struct nnv_suite fake_suite = {
    .name = "fake", .summary = "misbehaves", .by_default = true, .list = fake_list, .run = fake_run};
static const struct nnv_suite made_suite = {.name = "made",
                                            .summary = "misbehaves, and can be built",
                                            .precision = NNV_PRECISION_BUDGET,
                                            .list = fake_list,
                                            .build = spec_build,
                                            .run = fake_run};

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
