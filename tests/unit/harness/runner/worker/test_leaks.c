/* SPDX-License-Identifier: Apache-2.0 */
/* What a case leaves behind: growth that goes on is a leak, a cache that fills up is none. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/runner/worker/leaks.h"
#include "harness/runner/worker/resources.h"
#include "nnvts/result.h"
#include "tests/kit/test.h"

enum { ROOM = 4096, PAGE = 4096 };

/** A driver that takes something of a kind in each of its first `most` runs. */
struct taker {
    enum nnv_held kind;
    int most, runs;
    int bytes;                  /* of memory, at a time; 0: some */
    struct nnv_result *damages; /* the result of the case, which the second run damages; or NULL */
    int fd[ROOM];
    void *heap[ROOM];
};

static const char *name_of_object(int i) {
    static char name[64];
    snprintf(name, sizeof name, "/nnvts-test-%ld-%d", (long)getpid(), i);
    return name;
}

static bool run(void *context) {
    struct taker *t = context;
    const int i = t->runs++;
    if (t->damages != NULL && i == 2) return false;
    if (i >= t->most) return true;
    if (t->kind == NNV_HELD_DESCRIPTORS) t->fd[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (t->kind == NNV_HELD_OBJECTS) close(t->fd[i] = shm_open(name_of_object(i), O_RDWR | O_CREAT, 0600));
    if (t->kind == NNV_HELD_HEAP) t->heap[i] = malloc(t->bytes != 0 ? (size_t)t->bytes : 3000);
    if (t->kind == NNV_HELD_MAPPED) t->heap[i] = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return true;
}

static void give_back(struct taker *t) {
    for (int i = 0; i < t->runs && i < t->most; i++) {
        if (t->kind == NNV_HELD_DESCRIPTORS) close(t->fd[i]);
        if (t->kind == NNV_HELD_OBJECTS) shm_unlink(name_of_object(i));
        if (t->kind == NNV_HELD_HEAP) free(t->heap[i]);
        if (t->kind == NNV_HELD_MAPPED) munmap(t->heap[i], PAGE);
    }
}

/** A case of that driver, which has ended with a verdict. */
static struct nnv_result judge(struct nnv_leaks *l, struct taker *t, enum nnvts_verdict verdict) {
    struct nnv_result r = {.verdict = verdict};
    nnv_text_add(&r.reason, "its own");
    nnv_leaks_begin(l);
    run(t);
    nnv_leaks_end(l, UINT64_C(100000000000), run, t, &r);
    give_back(t);
    return r;
}

static void test_growth_that_goes_on(void **state) {
    (void)state;
    static const struct {
        enum nnv_held kind;
        const char *reason;
    } kinds[] = {
        {NNV_HELD_DESCRIPTORS, "the driver keeps file descriptors: the case 32 times more took 32 of them; a driver "
                               "must close what it opens"},
        {NNV_HELD_OBJECTS,
         "objects of shared memory in /dev/shm: the case 32 times more took 32 of them; a driver must "
         "unlink what it makes"},
        {NNV_HELD_HEAP, "a driver must free what it allocates"},
        {NNV_HELD_MAPPED, "a driver must unmap what it maps"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].kind > NNV_HELD_OBJECTS && (!nnv_held_memory_tells() || in_emulator())) continue;
        struct nnv_leaks l = {.known = 0};
        struct taker t = {.kind = kinds[i].kind, .most = ROOM};
        struct nnv_result r = judge(&l, &t, NNVTS_PASS);
        assert_int_equal(r.verdict, NNVTS_FAIL);
        assert_int_equal(r.why, NNVTS_WHY_LEAK);
        assert_non_null(strstr(r.reason.data, kinds[i].reason));
        assert_int_equal(t.runs, 1 + (kinds[i].kind <= NNV_HELD_OBJECTS ? 32 : 2048));
        assert_false(r.worker_damaged);
        nnv_text_free(&r.reason);
    }
}

/** One that is filled by the first runs: the case is run no more as soon as it is full. */
static void test_a_cache(void **state) {
    (void)state;
    for (int most = 0; most < 30; most += 7) {
        struct nnv_leaks l = {.known = 0};
        struct taker t = {.kind = NNV_HELD_DESCRIPTORS, .most = most};
        struct nnv_result r = judge(&l, &t, NNVTS_PASS);
        assert_int_equal(r.verdict, NNVTS_PASS);
        assert_string_equal(r.reason.data, "its own");
        assert_int_equal(t.runs, most + 1);
        nnv_text_free(&r.reason);
    }
}

/** What is wrong already, or can't be run again, has its own reason. */
static void test_others(void **state) {
    (void)state;
    struct nnv_leaks l = {.known = 0};
    struct taker t = {.kind = NNV_HELD_DESCRIPTORS, .most = ROOM};
    struct nnv_result r = judge(&l, &t, NNVTS_CRASH);
    assert_int_equal(r.verdict, NNVTS_CRASH);
    assert_int_equal(t.runs, 1);
    nnv_text_free(&r.reason);
    t = (struct taker){.kind = NNV_HELD_DESCRIPTORS, .most = ROOM, .damages = &r};
    r = judge(&l, &t, NNVTS_PASS);
    assert_int_equal(r.verdict, NNVTS_PASS);
    assert_int_equal(t.runs, 3);
    nnv_text_free(&r.reason);
}

/** A refusal may leave something behind, too; and a worker that has lost much is replaced. */
static void test_worker_is_replaced(void **state) {
    (void)state;
    struct nnv_leaks l = {.known = 100};
    for (int i = 1; i <= 16; i++) {
        struct taker t = {.kind = NNV_HELD_DESCRIPTORS, .most = ROOM};
        struct nnv_result r = judge(&l, &t, NNVTS_UNSUPPORTED);
        assert_int_equal(r.verdict, NNVTS_FAIL);
        assert_int_equal(r.worker_damaged, i == 16);
        nnv_text_free(&r.reason);
    }
}

/** Memory must grow for longer, unless it is much, or the driver is known to leak; one that fills pools is not asked
 * for long. */
static void test_memory(void **state) {
    (void)state;
    if (!nnv_held_memory_tells() || in_emulator()) skip();
    struct nnv_leaks l = {.known = 0};
    struct taker t = {.kind = NNV_HELD_MAPPED, .most = 1500};
    for (int i = 0; i < 10; i++) {
        t.runs = 0;
        struct nnv_result r = judge(&l, &t, NNVTS_PASS);
        assert_int_equal(r.verdict, NNVTS_PASS);
        assert_int_equal(t.runs, i < 8 ? 1501 : 33);
        nnv_text_free(&r.reason);
    }
    static const struct {
        unsigned known;
        int bytes, runs;
    } rows[] = {{3, 0, 33}, {0, 64 << 10, 513}, {0, 32 << 10, 1025}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        l = (struct nnv_leaks){.known = rows[i].known};
        t = (struct taker){.kind = NNV_HELD_HEAP, .most = ROOM, .bytes = rows[i].bytes};
        struct nnv_result r = judge(&l, &t, NNVTS_PASS);
        assert_int_equal(r.verdict, NNVTS_FAIL);
        assert_in_range(t.runs, rows[i].runs - 2, rows[i].runs); /* malloc gives a little more than it is asked for */
        nnv_text_free(&r.reason);
    }
}

static void test_which(void **state) {
    (void)state;
    enum { FEW = 20, MANY = 5000, COUNT = FEW + MANY };
    static struct nnv_case cases[COUNT];
    static char names[COUNT][32];
    static bool watched[COUNT], of_part[COUNT];
    struct nnv_err err;
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "case/%d", i);
        cases[i] = (struct nnv_case){.name = names[i],
                                     .suite = i < FEW ? "few" : "many",
                                     .op = i < FEW     ? ""
                                           : i / 2 % 2 ? "ADD"
                                                       : "MUL"};
    }
    struct nnv_run_config config = {.leaks = NNV_LEAKS_SOME};
    assert_int_equal(nnv_leaks_choose(&config, cases, COUNT, watched, &err), NNV_OK);
    int of_few = 0, of_many = 0;
    for (int i = 0; i < COUNT; i++) *(i < FEW ? &of_few : &of_many) += watched[i];
    assert_int_equal(of_few, FEW);
    assert_true(watched[FEW] && watched[FEW + 2]);
    assert_in_range(of_many, 5, MANY / 64);
    /* Of a part of the cases, such as a shard, the same, and the first of each operation. */
    assert_int_equal(nnv_leaks_choose(&config, cases + FEW + 100, MANY - 100, of_part, &err), NNV_OK);
    for (int i = 4; i < MANY - 100; i++) assert_int_equal(of_part[i], watched[FEW + 100 + i]);
    config.leaks = NNV_LEAKS_ALL;
    assert_int_equal(nnv_leaks_choose(&config, cases, COUNT, watched, &err), NNV_OK);
    for (int i = 0; i < COUNT; i++) assert_true(watched[i]);
    config.leaks = NNV_LEAKS_OFF;
    assert_int_equal(nnv_leaks_choose(&config, cases, COUNT, watched, &err), NNV_OK);
    for (int i = 0; i < COUNT; i++) assert_false(watched[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growth_that_goes_on), cmocka_unit_test(test_a_cache), cmocka_unit_test(test_others),
        cmocka_unit_test(test_worker_is_replaced),  cmocka_unit_test(test_which),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
