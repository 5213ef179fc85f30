/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/seal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"

static const char before[] = ",\"sum\":\"", after[] = "\"}";
enum { BEFORE = sizeof before - 1, AFTER = sizeof after - 1, DIGITS = 16, SEAL = BEFORE + DIGITS + AFTER };

/** The length of what the seal is about; n where there is none. */
static size_t unsealed(const char *line, size_t n) {
    const bool is =
        n > SEAL && memcmp(line + n - SEAL, before, BEFORE) == 0 && memcmp(line + n - AFTER, after, AFTER) == 0;
    return is ? n - SEAL : n;
}

static void write_sum(char digits[DIGITS + 1], uint64_t sum) { snprintf(digits, DIGITS + 1, "%016" PRIx64, sum); }

void nnv_seal(struct nnv_text *t, size_t from) {
    char digits[DIGITS + 1];
    if (t->failed || t->len <= from) return;
    const size_t n = t->len - from, whole = unsealed(t->data + from, n);
    t->len = from + (whole < n ? whole : n - 1); /* without the brace */
    write_sum(digits, nnv_hash_words(t->data + from, t->len - from));
    nnv_text_add(t, before);
    nnv_text_add(t, digits);
    nnv_text_add(t, after);
}

enum nnv_seal nnv_seal_check(const char *line, size_t n) {
    char digits[DIGITS + 1];
    const size_t whole = unsealed(line, n);
    if (whole == n) return NNV_SEAL_NONE;
    write_sum(digits, nnv_hash_words(line, whole));
    if (memcmp(digits, line + whole + BEFORE, DIGITS) == 0) return NNV_SEAL_WHOLE;
    write_sum(digits, nnv_hash_bytes(line, whole)); /* the hash of earlier journals */
    return memcmp(digits, line + whole + BEFORE, DIGITS) == 0 ? NNV_SEAL_WHOLE : NNV_SEAL_BROKEN;
}
