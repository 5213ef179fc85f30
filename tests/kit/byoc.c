/* SPDX-License-Identifier: Apache-2.0 */
/** @file byoc.c See byoc.h. */
#include "tests/kit/byoc.h"

#include "tests/kit/compiler/divide.h"

void byoc_end(struct byoc *b) {
    nnv_text_free(&b->json);
    nnv_arena_free(b->arena);
}

struct nnv_relay_module *byoc_parse(struct byoc *b, const char *text) {
    struct nnv_relay_module *m = NULL;
    char *kept = nnv_arena_strdup(b->arena, text);
    if (nnv_relay_parse(kept, strlen(kept), "test", b->arena, &m, &b->err) != NNV_OK) fail_msg("%s", b->err.text);
    return m;
}

struct byoc byoc_begin(const char *text) {
    struct byoc b = {.arena = nnv_arena_new()};
    assert_non_null(b.arena);
    b.m = byoc_parse(&b, text);
    return b;
}

void byoc_merge(struct byoc *b, const char *patterns) {
    struct nnv_pattern_table table;
    if (nnv_pattern_read(patterns, strlen(patterns), "P.json", b->arena, &table, &b->err) != NNV_OK ||
        nnv_merge_composite(b->m, &table, &b->err) != NNV_OK)
        fail_msg("%s", b->err.text);
}

void byoc_partition(struct byoc *b, const char *supported, const char *prune_text) {
    struct nnv_support *s = NULL;
    struct nnv_prune prune;
    if (nnv_support_read(supported, strlen(supported), "S.json", NULL, 0, b->arena, &s, &b->err) != NNV_OK)
        fail_msg("%s", b->err.text);
    if (prune_text && nnv_prune_read(prune_text, strlen(prune_text), "R.json", b->arena, &prune, &b->err) != NNV_OK)
        fail_msg("%s", b->err.text);
    struct nnv_annotator a = nnv_support_annotator(s);
    if (nnv_partition(b->m, &a, prune_text ? &prune : NULL, &b->partition, &b->err) != NNV_OK)
        fail_msg("%s", b->err.text);
    nnv_text_clear(&b->json);
    nnv_partition_print(&b->partition, &b->json);
    assert_false(b->json.failed);
    size_t n = 0;
    for (size_t i = 0; i < b->json.len; i++)
        if (b->json.data[i] != ' ' && b->json.data[i] != '\n') b->json.data[n++] = b->json.data[i];
    b->json.data[n] = 0;
}

static void trim(struct nnv_text *t) {
    while (t->len && t->data[t->len - 1] == ' ') t->data[--t->len] = '\0';
}

static void assert_line(struct nnv_text *t, const char *wanted) {
    assert_string_equal(t->data ? t->data : "", wanted);
    nnv_text_free(t);
}

void byoc_composites(struct byoc *b, const char *wanted) {
    struct nnv_text t = {0};
    byoc_partition(b, "[]", NULL);
    nnv_divided_composites(&b->partition, &t);
    trim(&t);
    assert_line(&t, wanted);
}

void byoc_regions(struct byoc *b, const char *wanted) {
    struct nnv_text t = {0};
    nnv_divided_regions(&b->partition, &t);
    trim(&t);
    nnv_text_add(&t, "|");
    nnv_divided_host(&b->partition, &t);
    assert_line(&t, wanted);
}
