/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/uses.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The value of the key, made with so many bytes if it is new; NULL when out of memory. */
static void *value_of(struct nnv_map *m, const char *key, size_t bytes) {
    const uint32_t i = nnv_map_find(m, key);
    if (i != NNV_MAP_NONE) return nnv_map_value(m, i);
    void *value = nnv_arena_alloc(m->arena, bytes, 1);
    const char *copy = nnv_arena_strdup(m->arena, key);
    if (value == NULL || copy == NULL || !nnv_map_put(m, copy, value)) return NULL;
    memset(value, 0, bytes);
    return value;
}

/** One word of `uses`. */
static bool add_use(struct nnv_uses *u, uint32_t op, const char *word, size_t n, const struct nnv_line *line) {
    char key[128];
    const int at = snprintf(key, sizeof key, "%" PRIu32 " ", op);
    if (n >= sizeof key - (size_t)at) return true; /* not one of ours */
    memcpy(key + at, word, n);
    key[(size_t)at + n] = '\0';
    struct nnv_use *use = value_of(&u->map, key, sizeof *use);
    if (use == NULL) return false;
    use->op = op;
    if (use->words == NULL) use->words = u->map.key[nnv_map_find(&u->map, key)] + at;
    use->verdicts[line->verdict]++;
    use->computed += line->verdict == NNVTS_PASS && line->values > 0;
    return true;
}

/** One word of `devices`, "npu=12". */
static bool add_device(struct nnv_uses *u, const char *word, size_t n) {
    char name[256];
    const char *equals = memchr(word, '=', n);
    if (equals == NULL || (size_t)(equals - word) >= sizeof name) return true;
    memcpy(name, word, (size_t)(equals - word));
    name[equals - word] = '\0';
    uint64_t *sum = value_of(&u->devices, name, sizeof *sum);
    if (sum != NULL) *sum += strtoull(equals + 1, NULL, 10);
    return sum != NULL;
}

/** The next word between blanks, of n bytes; NULL: there is none. *rest moves behind it. */
static const char *next_word(const char **rest, const char *end, size_t *n) {
    while (*rest < end && **rest == ' ') ++*rest;
    const char *word = *rest;
    while (*rest < end && **rest != ' ') ++*rest;
    *n = (size_t)(*rest - word);
    return *n > 0 ? word : NULL;
}

enum nnv_status nnv_uses_add(struct nnv_uses *u, uint32_t op, const struct nnv_line *line, struct nnv_err *err) {
    bool ok = true;
    size_t n;
    const char *word, *rest = line->uses, *end = rest == NULL ? NULL : rest + line->uses_bytes;
    while (ok && rest != NULL && (word = next_word(&rest, end, &n)) != NULL) ok = add_use(u, op, word, n, line);
    rest = line->devices;
    end = rest == NULL ? NULL : rest + line->devices_bytes;
    while (ok && rest != NULL && (word = next_word(&rest, end, &n)) != NULL) ok = add_device(u, word, n);
    return ok ? NNV_OK : nnv_no_memory(err);
}
