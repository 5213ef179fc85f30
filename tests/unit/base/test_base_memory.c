/* SPDX-License-Identifier: Apache-2.0 */
/* status, arena, guard, rng and clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/guard.h"
#include "base/rng.h"

static void errors_gain_locations(void **state) {
    (void)state;
    struct nnv_err err;
    assert_int_equal(nnv_fail(&err, NNV_INVALID, "rank %d is above %d", 5, 4), NNV_INVALID);
    assert_int_equal(nnv_at(&err, NNV_INVALID, "input %d", 1), NNV_INVALID);
    assert_int_equal(nnv_at(&err, NNV_INVALID, "a.json"), NNV_INVALID);
    assert_string_equal(err.text, "a.json: input 1: rank 5 is above 4");
    assert_int_equal(err.status, NNV_INVALID);
    assert_int_equal(nnv_fail(NULL, NNV_IO, "x"), NNV_IO);
    assert_int_equal(nnv_at(NULL, NNV_IO, "x"), NNV_IO);
    assert_int_equal(nnv_no_memory(&err), NNV_NO_MEMORY);
    assert_int_equal(err.status, NNV_NO_MEMORY);
    assert_string_equal(err.text, "out of memory");
    assert_int_equal(nnv_no_memory(NULL), NNV_NO_MEMORY);
}

static void long_errors_are_cut(void **state) {
    (void)state;
    struct nnv_err err;
    char word[2 * NNV_ERR_TEXT];
    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    nnv_fail(&err, NNV_IO, "%s", word);
    assert_int_equal(strlen(err.text), NNV_ERR_TEXT - 1);
    nnv_at(&err, NNV_IO, "there");
    assert_int_equal(strlen(err.text), NNV_ERR_TEXT - 1);
    assert_memory_equal(err.text, "there: www", 10);
    nnv_at(&err, NNV_IO, "%s", word);
    assert_int_equal(strlen(err.text), NNV_ERR_TEXT - 1);
}

static void arena_gives_zeroed_aligned_memory(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    assert_non_null(a);
    assert_int_equal(nnv_arena_used(a), 0);
    for (int round = 0; round < 3; round++) {
        unsigned char *old[300];
        for (size_t i = 0; i < 300; i++) {
            size_t n = i * i * 7;
            old[i] = nnv_arena_alloc(a, i * 7, i);
            assert_non_null(old[i]);
            assert_int_equal((uintptr_t)old[i] % 64, 0);
            for (size_t k = 0; k < n; k++) assert_int_equal(old[i][k], 0);
            memset(old[i], (int)i, n);
        }
        for (size_t i = 1; i < 300; i++) assert_true(old[i][0] == (unsigned char)i && old[i] != old[i - 1]);
        assert_true(nnv_arena_used(a) >= 60000000);
        nnv_arena_reset(a);
        assert_int_equal(nnv_arena_used(a), 0);
    }
    nnv_arena_free(a);
    nnv_arena_free(NULL);
}

static void arena_refuses_overflow(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    assert_null(nnv_arena_alloc(a, SIZE_MAX, 2));
    assert_null(nnv_arena_alloc(a, SIZE_MAX / 4, 5));
    assert_null(nnv_arena_alloc(a, SIZE_MAX, 1));
    assert_null(nnv_arena_copy(a, "x", SIZE_MAX - 1));
    assert_non_null(nnv_arena_alloc(a, 0, 8));
    nnv_arena_free(a);
}

static void arena_keeps_its_memory(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    void *first = nnv_arena_alloc(a, 1000, 1), *large = nnv_arena_alloc(a, 10000000, 1);
    nnv_arena_reset(a);
    assert_ptr_equal(nnv_arena_alloc(a, 1000, 1), first);
    assert_ptr_equal(nnv_arena_alloc(a, 10000000, 1), large);
    nnv_arena_free(a);
}

static void arena_copies_and_prints(void **state) {
    (void)state;
    struct nnv_arena *a = nnv_arena_new();
    assert_memory_equal(nnv_arena_copy(a, "abc", 3), "abc", 3);
    assert_non_null(nnv_arena_copy(a, NULL, 0));
    assert_string_equal(nnv_arena_strdup(a, "tensor"), "tensor");
    char *s = nnv_arena_printf(a, "%d %05000d", 7, 8);
    assert_int_equal(strlen(s), 5002);
    assert_memory_equal(s, "7 0000", 6);
    nnv_arena_free(a);
}

static void guards_see_every_byte(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 7, 63, 64, 65, 128, 1000, 5000, 9001};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t size = sizes[s], room = nnv_guard_room(size);
        assert_int_equal(room % 64, 0);
        assert_true(room >= size + 2 * NNV_GUARD_BYTES);
        unsigned char *memory = aligned_alloc(64, room);
        unsigned char *buffer = nnv_guard_init(memory, size, (uint32_t)s);
        assert_ptr_equal(buffer, memory + NNV_GUARD_BYTES);
        int64_t at = 12345;
        assert_true(nnv_guard_check(buffer, size, (uint32_t)s, &at));
        assert_int_equal(at, 12345);
        assert_int_equal(nnv_guard_unwritten(buffer, size, (uint32_t)s), size);
        memset(buffer, 0, size);
        assert_int_equal(nnv_guard_unwritten(buffer, size, (uint32_t)s), 0);
        assert_true(nnv_guard_check(buffer, size, (uint32_t)s, &at));
        for (size_t i = 0; i < room; i++) {
            int64_t offset = (int64_t)i - NNV_GUARD_BYTES;
            if (offset >= 0 && offset < (int64_t)size) continue;
            memory[i] ^= 4;
            assert_false(nnv_guard_check(buffer, size, (uint32_t)s, &at));
            assert_int_equal(at, offset);
            memory[i] ^= 4;
        }
        free(memory);
    }
    assert_true(nnv_guard_room(SIZE_MAX - 10) == SIZE_MAX);
}

static void zeros_never_look_like_a_guard(void **state) {
    (void)state;
    unsigned char *memory = aligned_alloc(64, nnv_guard_room(64)), *other = aligned_alloc(64, nnv_guard_room(64));
    int differ = 0;
    for (uint32_t salt = 0; salt < 1000; salt++) {
        unsigned char *buffer = nnv_guard_init(memory, 64, salt);
        for (size_t i = 0; i < nnv_guard_room(64); i++) assert_int_not_equal(memory[i], 0);
        float f;
        memcpy(&f, buffer + 4, sizeof f);
        assert_true(isnan(f)); /* the poison is a NaN */
        assert_int_equal(buffer[9] & 0x7f, 0x7f);
        nnv_guard_init(other, 64, salt + 1);
        differ += memcmp(memory, other, NNV_GUARD_BYTES) != 0;
        memory[0] = 0;
        int64_t at;
        assert_false(nnv_guard_check(buffer, 64, salt, &at));
        assert_int_equal(at, -NNV_GUARD_BYTES);
    }
    assert_int_equal(differ, 1000);
    free(memory);
    free(other);
}

/* The published first outputs of SplitMix64 from 1234567. */
static void rng_is_splitmix64(void **state) {
    (void)state;
    struct nnv_rng r = {.key = 1234567};
    assert_true(nnv_rng_u64(&r) == 6457827717110365317u);
    assert_true(nnv_rng_u64(&r) == 3203168211198807973u);
    assert_true(nnv_rng_u64(&r) == 9817491932198370423u);
}

static void rng_keys_are_independent(void **state) {
    (void)state;
    uint64_t seen[125];
    int n = 0;
    for (uint64_t s = 0; s < 5; s++)
        for (uint64_t a = 0; a < 5; a++)
            for (uint64_t b = 0; b < 5; b++) {
                struct nnv_rng r = nnv_rng_make(s, a, b), again = nnv_rng_make(s, a, b);
                seen[n] = nnv_rng_u64(&r);
                assert_true(seen[n] == nnv_rng_u64(&again));
                for (int i = 0; i < n; i++) assert_true(seen[i] != seen[n]);
                n++;
            }
}

static void rng_distributions(void **state) {
    (void)state;
    enum { N = 100000 };
    struct nnv_rng r = nnv_rng_make(42, 0, 0);
    int64_t count[7] = {0};
    double mean = 0, square = 0, unit = 0;
    for (int i = 0; i < N; i++) {
        int64_t v = nnv_rng_int(&r, -3, 3);
        assert_true(v >= -3 && v <= 3);
        count[v + 3]++;
        double g = nnv_rng_normal(&r), u = nnv_rng_uniform(&r, -2, 6);
        assert_true(fabs(g) <= 6 && u >= -2 && u < 6);
        mean += g / N;
        square += g * g / N;
        unit += u / N;
    }
    for (int i = 0; i < 7; i++) assert_true(llabs(count[i] - N / 7) < 600); /* about 5 sigma */
    assert_true(fabs(mean) < 0.016 && fabs(square - 1) < 0.025 && fabs(unit - 2) < 0.037);
    assert_int_equal(nnv_rng_int(&r, 5, 5), 5);
    for (int i = 0; i < 100; i++) {
        assert_true(nnv_rng_int(&r, INT64_MAX - 1, INT64_MAX) >= INT64_MAX - 1);
        assert_true(nnv_rng_uniform(&r, 1, nextafter(1, 2)) == 1);
    }
    int negative = 0;
    for (int i = 0; i < 1000; i++) negative += nnv_rng_int(&r, INT64_MIN, INT64_MAX) < 0;
    assert_in_range(negative, 400, 600);
}

static void hashes(void **state) {
    (void)state;
    assert_true(nnv_hash_str("abc") == nnv_hash_bytes("abc", 3));
    assert_true(nnv_hash_str("abc") != nnv_hash_str("abd"));
    assert_true(nnv_hash_str("") != nnv_hash_bytes("", 1));
}

static void clocks_go_forward(void **state) {
    (void)state;
    uint64_t t = nnv_now_ns();
    assert_true(t > 0);
    volatile double x = 1;
    for (int i = 0; i < 1000000; i++) x = x * 1.0000001;
    assert_true(nnv_now_ns() > t);
}

/* On the heap and in an arena: what was there stays, what is new is zero, too much is refused and changes nothing. */
static void arrays_grow(void **state) {
    (void)state;
    struct nnv_arena *arenas[] = {NULL, nnv_arena_new()};
    for (size_t a = 0; a < 2; a++) {
        uint32_t *array = NULL;
        size_t cap = 0;
        for (uint32_t i = 0; i < 1000; i++) {
            assert_true(nnv_grow(arenas[a], &array, i, &cap, sizeof *array));
            assert_true(cap > i);
            assert_int_equal(array[i], 0);
            array[i] = i + 1;
        }
        for (uint32_t i = 0; i < 1000; i++) assert_int_equal(array[i], i + 1);
        assert_true(nnv_grow(arenas[a], &array, 5000, &cap, sizeof *array));
        assert_true(cap > 5000);
        const uint32_t *was = array;
        const size_t had = cap;
        assert_false(nnv_grow(arenas[a], &array, SIZE_MAX / 4, &cap, sizeof *array));
        assert_ptr_equal(array, was);
        assert_int_equal(cap, had);
        if (!arenas[a]) free(array);
    }
    nnv_arena_free(arenas[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(errors_gain_locations),
        cmocka_unit_test(long_errors_are_cut),
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(arena_refuses_overflow),
        cmocka_unit_test(arena_keeps_its_memory),
        cmocka_unit_test(arena_copies_and_prints),
        cmocka_unit_test(guards_see_every_byte),
        cmocka_unit_test(zeros_never_look_like_a_guard),
        cmocka_unit_test(rng_is_splitmix64),
        cmocka_unit_test(rng_keys_are_independent),
        cmocka_unit_test(rng_distributions),
        cmocka_unit_test(hashes),
        cmocka_unit_test(clocks_go_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
