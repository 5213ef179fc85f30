/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { MOST = 200 };

/* Each byte counts, and its place, and the length: at lengths around the blocks of 32 bytes, at any alignment. */
static void words_are_all_hashed(void **state) {
    unsigned char data[MOST + 8], moved[MOST + 8];
    (void)state;
    for (unsigned i = 0; i < sizeof data; i++) data[i] = (unsigned char)(i * 37 + 11);
    for (unsigned n = 0; n <= MOST; n++) {
        const uint64_t h = nnv_hash_words(data, n);
        for (unsigned shift = 1; shift < 8; shift++) {
            memcpy(moved + shift, data, n);
            assert_true(nnv_hash_words(moved + shift, n) == h);
        }
        assert_true(nnv_hash_words(data, n + 1) != h);
        for (unsigned i = 0; i < n; i++) {
            data[i] ^= 1;
            assert_true(nnv_hash_words(data, n) != h);
            data[i] ^= 1;
        }
    }
}

/* The same words in other lanes, or in another order, are other data. */
static void words_have_their_places(void **state) {
    uint64_t words[16] = {0};
    uint64_t seen[16];
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        words[i] = 1;
        seen[i] = nnv_hash_words(words, sizeof words);
        words[i] = 0;
        for (unsigned j = 0; j < i; j++) assert_true(seen[i] != seen[j]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_all_hashed),
        cmocka_unit_test(words_have_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
