/* SPDX-License-Identifier: Apache-2.0 */
/** Profiles: what they demand is there, and what a datasheet misses of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fnmatch.h>
#include <string.h>

#include <cmocka.h>

#include "harness/datasheet/datasheet.h"
#include "harness/datasheet/support/draw.h"
#include "randgraph/single/layers.h"

static bool is_layer(const char *pattern) {
    size_t all;
    const struct nnv_op *const *ops = nnv_ops(&all);
    for (size_t i = 0; i < all; i++)
        for (size_t k = 0; k < nnv_layer_count(ops[i]); k++)
            if (fnmatch(pattern, nnv_layer_name(ops[i], k), 0) == 0) return true;
    return false;
}

static bool is_operation(const char *name) {
    size_t all;
    const struct nnv_op *const *ops = nnv_ops(&all);
    for (size_t i = 0; i < all; i++)
        if (strcmp(ops[i]->name, name) == 0) return true;
    return false;
}

static void assert_words(const char *list, bool (*is)(const char *)) {
    char word[64];
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        const size_t n = strcspn(at, " ");
        assert_true(n < sizeof word);
        memcpy(word, at, n);
        word[n] = '\0';
        if (!is(word)) fail_msg("'%s' is nothing", word);
        at += n;
    }
}

static size_t demanded(const struct nnv_profile *p) {
    size_t all, n = 0;
    const struct nnv_op *const *ops = nnv_ops(&all);
    for (size_t i = 0; i < all; i++)
        for (int sig = 0; sig < ops[i]->nsigs; sig++) n += nnv_profile_demands(p, ops[i], sig);
    return n;
}

/** No word of the table is in vain, no two have a name, and a level demands what those before do and more. */
static void test_table(void **state) {
    size_t count, pairs = 0, all_pairs = 0, all;
    const struct nnv_profile *p = nnv_profiles(&count);
    const struct nnv_op *const *ops = nnv_ops(&all);
    (void)state;
    for (size_t i = 0; i < all; i++) all_pairs += ops[i]->nsigs;
    for (size_t i = 0; i < count; i++) {
        const size_t n = demanded(&p[i]);
        assert_words(p[i].operations, is_operation);
        assert_words(p[i].layers, is_layer);
        assert_ptr_equal(nnv_profile_by_name(p[i].name), &p[i]);
        assert_true(n >= 3);
        if (p[i].level > 0) assert_true(n >= pairs);
        if (p[i].level > 0) pairs = n;
    }
    assert_int_equal(pairs, all_pairs);
    assert_int_equal(demanded(nnv_profile_by_name("level-1")), 49);
    assert_null(nnv_profile_by_name("level-8"));
}

static const struct nnv_sheet_profile *judged(struct nnv_datasheet *sheet, struct nnv_arena *arena, const char *name) {
    assert_int_equal(nnv_sheet_judge_profiles(sheet, arena, NULL), NNV_OK);
    for (size_t i = 0; i < sheet->profiles; i++)
        if (strcmp(sheet->profile[i].is->name, name) == 0) return &sheet->profile[i];
    fail_msg("%s was not judged", name);
    return NULL;
}

static void assert_told(struct nnv_datasheet *sheet, const struct nnv_sheet_profile *p, const char *words) {
    struct nnv_text t = {0};
    assert_int_equal(p->misses, 1);
    nnv_sheet_tell_miss(sheet, &p->miss[0], &t);
    assert_string_equal(t.data, words);
    nnv_text_free(&t);
}

/** Of all that a keyword spotter needs all is supported; then less and less of one pair. */
static void test_misses(void **state) {
    enum { ROWS = 16, FIRST = NNV_SUPPORT_FIRST };
    static struct nnv_sheet_row row[ROWS];
    static struct nnv_probe probe[FIRST];
    const struct nnv_profile *keyword = nnv_profile_by_name("keyword-float32");
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_datasheet sheet = {.row = row, .seed = 1};
    size_t all, pool = ROWS;
    const struct nnv_op *const *ops = nnv_ops(&all);
    (void)state;
    for (size_t i = 0; i < all; i++)
        for (int sig = 0; sig < ops[i]->nsigs; sig++) {
            if (!nnv_profile_demands(keyword, ops[i], sig)) continue;
            struct nnv_sheet_row *r = &row[sheet.rows++];
            *r = (struct nnv_sheet_row){.op = ops[i], .sig = sig, .types = "float32"};
            r->support.first = (uint32_t)nnv_probes_first(ops[i], sig, 1, probe, FIRST);
            for (uint32_t k = 0; k < r->support.first; k++) r->support.answer[k] = NNV_SUPPORT_YES;
            memset(r->support.level, 1, sizeof r->support.level);
            r->support.yes = 9;
            if (ops[i]->code == ANEURALNETWORKS_AVERAGE_POOL_2D) pool = (size_t)(r - row);
        }
    assert_int_equal(sheet.rows, 6);
    const struct nnv_sheet_profile *p = judged(&sheet, arena, "keyword-float32");
    assert_int_equal(p->pairs, 6);
    assert_int_equal(p->misses, 0);
    assert_false(p->unknown);
    assert_true(judged(&sheet, arena, "vision-float32")->unknown);
    /* other models than the layer are no matter */
    struct nnv_support *s = &row[pool].support;
    nnv_probes_first(row[pool].op, row[pool].sig, 1, probe, FIRST);
    for (uint32_t k = 0; k < s->first; k++) {
        const bool layer = probe[k].what.plan == NNV_PLAN_LAYER &&
                           strcmp(nnv_layer_name(row[pool].op, (size_t)probe[k].what.index), "keyword_global") == 0;
        if (!layer) s->answer[k] = NNV_SUPPORT_NO;
    }
    s->no = 3;
    assert_int_equal(judged(&sheet, arena, "keyword-float32")->misses, 0);
    for (uint32_t k = 0; k < s->first; k++) s->answer[k] = NNV_SUPPORT_NO;
    strcpy(s->must, "filter height < 4\nfilter width < 4\n");
    assert_told(&sheet, judged(&sheet, arena, "keyword-float32"),
                "AVERAGE_POOL_2D float32: 1 of 1 models are not supported; needs filter height < 4, filter width < 4");
    s->yes = 0;
    assert_told(&sheet, judged(&sheet, arena, "keyword-float32"), "AVERAGE_POOL_2D float32: not supported");
    s->no = 0;
    assert_told(&sheet, judged(&sheet, arena, "keyword-float32"), "AVERAGE_POOL_2D float32: beyond its feature level");
    for (uint32_t k = 0; k < s->first; k++) s->answer[k] = NNV_SUPPORT_YES;
    s->claimed = 12, s->right = 11;
    strcpy(s->trouble, "1 of 3 values wrong");
    assert_told(&sheet, judged(&sheet, arena, "keyword-float32"),
                "AVERAGE_POOL_2D float32: 1 of 12 results are wrong: 1 of 3 values wrong");
    row[pool].ended = "died with SIGSEGV in execute";
    assert_told(&sheet, judged(&sheet, arena, "keyword-float32"),
                "AVERAGE_POOL_2D float32: its process died with SIGSEGV in execute");
    row[pool].unfinished = true;
    assert_true(judged(&sheet, arena, "keyword-float32")->unknown);
    nnv_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_misses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
