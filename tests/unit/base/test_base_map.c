/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables: strings, integers and addresses, and the index beneath. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/rng.h"

enum { MANY = 5000 };

/* Own memory and an arena's: *arena is NULL in the first turn. */
static bool turn(int *i, struct nnv_arena **arena) {
    if ((*i)++ == 0) return true;
    nnv_arena_free(*arena);
    *arena = *i == 2 ? nnv_arena_new() : NULL;
    return *i == 2;
}

static void maps_number_strings(void **state) {
    (void)state;
    static char keys[MANY][8];
    struct nnv_arena *arena = NULL;
    for (int i = 0; turn(&i, &arena);) {
        struct nnv_map m = {.arena = arena};
        assert_int_equal(nnv_map_find(&m, "0"), NNV_MAP_NONE);
        for (uint32_t k = 0; k < MANY; k++) {
            snprintf(keys[k], sizeof keys[k], "%u", k);
            assert_int_equal(nnv_map_add(&m, keys[k]), k);
        }
        for (uint32_t k = 0; k < MANY; k++) {
            assert_int_equal(nnv_map_add(&m, keys[k]), k);
            assert_ptr_equal(m.key[k], keys[k]);
            assert_null(nnv_map_value(&m, k));
            assert_true(nnv_map_put(&m, keys[k], keys[k]));
            assert_ptr_equal(nnv_map_value(&m, k), keys[k]);
        }
        assert_int_equal(nnv_map_find(&m, "5000"), NNV_MAP_NONE);
        assert_int_equal(nnv_map_find(&m, ""), NNV_MAP_NONE);
        assert_int_equal(nnv_map_find_n(&m, "1234", 3), 123);
        assert_int_equal(nnv_map_find_n(&m, "1234", 0), NNV_MAP_NONE);
        assert_int_equal(m.count, MANY);
        assert_int_equal(nnv_map_add(&m, ""), MANY);
        assert_int_equal(nnv_map_find_n(&m, "1234", 0), MANY);
        nnv_map_free(&m);
        assert_int_equal(nnv_map_find(&m, "0"), NNV_MAP_NONE);
    }
}

static void room_is_kept(void **state) {
    (void)state;
    struct nnv_map m = {0};
    assert_true(nnv_map_reserve(&m, 0));
    assert_true(nnv_map_reserve(&m, MANY));
    const char **before = m.key;
    for (uint32_t k = 0; k < MANY; k++) assert_true(nnv_map_add(&m, "same") == 0);
    assert_ptr_equal(m.key, before);
    assert_false(nnv_map_reserve(&m, NNV_MAP_NONE));
    assert_int_equal(nnv_map_find(&m, "same"), 0);
    nnv_map_free(&m);
}

static void ids_keep_values(void **state) {
    (void)state;
    static int objects[MANY];
    struct nnv_arena *arena = NULL;
    for (int i = 0; turn(&i, &arena);) {
        struct nnv_id_map m = {.arena = arena};
        assert_null(nnv_id_get(&m, 0));
        for (uint32_t k = 0; k < MANY; k++) assert_true(nnv_id_put(&m, (uint64_t)k << (k % 40), &objects[k]));
        const uint32_t n = m.count; /* shifted keys may be equal */
        assert_true(n > MANY / 2);
        for (uint32_t k = 0; k < MANY; k++) assert_true(nnv_id_find(&m, (uint64_t)k << (k % 40)) < n);
        for (uint32_t k = 0; k < MANY; k++) assert_true(nnv_id_put(&m, nnv_id(&objects[k]), &objects[k]));
        assert_int_equal(m.count, n + MANY);
        for (uint32_t k = 0; k < MANY; k++) assert_ptr_equal(nnv_id_get(&m, nnv_id(&objects[k])), &objects[k]);
        assert_true(nnv_id_put(&m, nnv_id(&objects[1]), NULL)); /* the key stays */
        assert_null(nnv_id_get(&m, nnv_id(&objects[1])));
        assert_int_equal(nnv_id_add(&m, nnv_id(&objects[1])), n + 1);
        assert_int_equal(nnv_id_find(&m, UINT64_MAX), NNV_MAP_NONE);
        assert_int_equal(nnv_id_add(&m, UINT64_MAX), n + MANY);
        nnv_id_free(&m);
    }
}

/* All with one hash: the caller sees each number, and no other. */
static void equal_hashes_are_told_apart(void **state) {
    (void)state;
    struct nnv_index ix = {0};
    for (uint32_t k = 0; k < 300; k++) {
        assert_int_equal(nnv_index_add(&ix, k % 3), k);
        bool seen[300] = {false};
        size_t at = 0;
        uint32_t n = 0;
        for (uint32_t found; (found = nnv_index_next(&ix, k % 3, &at)) != NNV_MAP_NONE; n++) {
            assert_true(found <= k && found % 3 == k % 3 && !seen[found]);
            seen[found] = true;
        }
        assert_int_equal(n, k / 3 + 1);
    }
    nnv_index_free(&ix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_number_strings),
        cmocka_unit_test(room_is_kept),
        cmocka_unit_test(ids_keep_values),
        cmocka_unit_test(equal_hashes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
