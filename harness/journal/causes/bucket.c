/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/causes/bucket.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/words.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"

enum { LIKE_MAX = 240 };

/** The family of a type tag: all floats are one, all quantised types are one. */
static const char *family_of(const char *type) {
    if (strncmp(type, "float", 5) == 0) return "float";
    if (strncmp(type, "quant", 5) == 0) return "quant";
    return type;
}

/** Length of the number at s: digits with a fraction and an exponent, or 0x and hexadecimal digits. */
static size_t number_length(const char *s) {
    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) return 2 + strspn(s + 2, "0123456789abcdefABCDEF");
    size_t n = strspn(s, "0123456789");
    if (s[n] == '.' && isdigit((unsigned char)s[n + 1])) n += 1 + strspn(s + n + 1, "0123456789");
    if (s[n] == 'e' || s[n] == 'E') {
        size_t sign = s[n + 1] == '-' || s[n + 1] == '+';
        size_t digits = strspn(s + n + 1 + sign, "0123456789");
        if (digits > 0) n += 1 + sign + digits;
    }
    return n;
}

/** Puts '#' for a number; a list of numbers becomes one '#', so that shapes of any rank are alike. */
static void add_number(struct nnv_text *t) {
    static const char *const joints[] = {"#,", "#, "};
    for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
        size_t n = strlen(joints[i]);
        if (t->len >= n && strcmp(t->data + t->len - n, joints[i]) == 0) {
            t->len -= n;
            t->data[t->len] = '\0';
            break;
        }
    }
    nnv_text_add(t, "#");
}

/** Length of the word for what is no finite number at s; 0: it is none. */
static size_t no_number_length(const char *s) {
    static const char *const words[] = {"nan", "inf", "NaN"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(s, words[i], 3) == 0 && !isalnum((unsigned char)s[3]) && s[3] != '_') return 3;
    return 0;
}

void nnv_text_add_like(struct nnv_text *t, const char *reason) {
    size_t end = nnv_first_line(reason), start = t->len;
    bool in_word = false;
    for (size_t i = 0; i < end && t->len - start < LIKE_MAX;) {
        const bool sign = reason[i] == '-' || reason[i] == '+';
        const char *number = reason + i + sign;
        const size_t length = isdigit((unsigned char)*number) ? number_length(number) : no_number_length(number);
        if (!in_word && length > 0) {
            i += sign + length;
            add_number(t);
            continue;
        }
        in_word = isalnum((unsigned char)reason[i]) || reason[i] == '_';
        nnv_text_add_n(t, reason + i, 1);
        i++;
    }
}

/** Room for bucket number n. */
static bool grow(struct nnv_buckets *b, size_t n) {
    if (b->arena == NULL) b->arena = nnv_arena_new();
    if (b->arena == NULL) return false;
    if (n < b->cap) return true;
    size_t cap = b->cap == 0 ? 16 : 2 * b->cap;
    struct nnv_bucket *item = realloc(b->item, cap * sizeof *item);
    if (item == NULL) return false;
    b->item = item;
    b->cap = cap;
    return true;
}

/** Adds the bucket named by key, with c as its first case. */
static uint32_t new_bucket(struct nnv_buckets *b, const struct nnv_bucket_case *c, const char *key, size_t like) {
    const char *kept = nnv_arena_strdup(b->arena, key);
    const char *op = nnv_arena_strdup(b->arena, c->explained && *c->explained_op ? c->explained_op : c->op);
    const char *family = nnv_arena_strdup(b->arena, c->explained ? "" : family_of(c->type));
    if (kept == NULL || op == NULL || family == NULL) return NNV_MAP_NONE;
    uint32_t n = nnv_map_add(&b->map, kept);
    if (n != NNV_MAP_NONE)
        b->item[n] = (struct nnv_bucket){.verdict = c->verdict,
                                         .why = c->why,
                                         .stepwise = c->mode != NULL,
                                         .op = op,
                                         .family = family,
                                         .like = kept + like,
                                         .explained = c->explained != NULL,
                                         .promise = c->promise,
                                         .first = c->id,
                                         .smallest = c->id,
                                         .smallest_compared = c->compared};
    return n;
}

uint32_t nnv_buckets_add(struct nnv_buckets *b, const struct nnv_bucket_case *c) {
    struct nnv_text key = {0};
    if (c->explained)
        nnv_text_addf(&key, "%s\t%s\t=\t", nnv_verdict_name(c->verdict), *c->explained_op ? c->explained_op : c->op);
    else
        /* What could not be tried may have the cause of what is explained: it is not what was tried in vain. */
        nnv_text_addf(&key, "%s\t%s\t%s\t%s", nnv_verdict_name(c->verdict), c->op, family_of(c->type),
                      c->untried ? "untried\t" : "");
    size_t like = key.len;
    if (c->explained)
        nnv_text_add(&key, c->explained);
    else
        nnv_text_add_like(&key, c->reason);
    uint32_t n = NNV_MAP_NONE;
    if (!key.failed && grow(b, b->map.count)) {
        n = nnv_map_find(&b->map, key.data);
        if (n == NNV_MAP_NONE) n = new_bucket(b, c, key.data, like);
    }
    nnv_text_free(&key);
    if (n == NNV_MAP_NONE) return n;

    struct nnv_bucket *bucket = &b->item[n];
    bucket->count++;
    if (c->tried && c->explained_op) bucket->suspect = nnv_arena_strdup(b->arena, c->explained_op);
    bucket->tried += c->tried;
    if (!bucket->where) bucket->where = c->where;
    if (c->compared < bucket->smallest_compared) {
        bucket->smallest = c->id;
        bucket->smallest_compared = c->compared;
    }
    return n;
}

static int fuller(const void *pa, const void *pb) {
    const struct nnv_bucket *a = pa, *b = pb;
    if (a->count != b->count) return a->count > b->count ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

enum nnv_status nnv_buckets_of(const struct nnv_report *report, struct nnv_buckets *b, uint32_t *of,
                               struct nnv_err *err) {
    for (size_t i = 0; i < report->count; i++) {
        if (of != NULL) of[i] = NNV_MAP_NONE;
        const struct nnv_report_case *c = &report->item[i];
        if (!nnv_case_bad(c)) continue;
        const struct nnv_cause *cause = c->more->cause;
        const char *mode = c->more->mode == NNV_MAP_NONE ? NULL : report->modes.key[c->more->mode];
        uint32_t n = nnv_buckets_add(
            b, &(struct nnv_bucket_case){c->verdict, c->why, report->ops.key[c->op], report->types.key[c->type],
                                         c->more->reason, nnv_case_compared(c), i, cause->explained, cause->op,
                                         cause->where, cause->tried, cause->untried, mode, cause->promise});
        if (n == NNV_MAP_NONE) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for the failures of the run");
        if (of != NULL) of[i] = n;
    }
    uint32_t count = b->map.count;
    if (count > 0) qsort(b->item, count, sizeof *b->item, fuller);
    if (of == NULL) return NNV_OK;

    /* The first case of a bucket tells where its old number went. */
    uint32_t *rank = malloc((count + (size_t)1) * sizeof *rank);
    if (rank == NULL) return nnv_fail(err, NNV_NO_MEMORY, "out of memory for the failures of the run");
    for (uint32_t k = 0; k < count; k++) rank[of[b->item[k].first]] = k;
    for (size_t i = 0; i < report->count; i++)
        if (of[i] != NNV_MAP_NONE) of[i] = rank[of[i]];
    free(rank);
    return NNV_OK;
}

void nnv_buckets_free(struct nnv_buckets *b) {
    nnv_arena_free(b->arena);
    nnv_map_free(&b->map);
    free(b->item);
    *b = (struct nnv_buckets){0};
}
