/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/explain/told.h"

#include <string.h>

#include "reference/model/validate.h"
#include "reference/spec/spec.h"

enum { ELEMENTS = 1 << 16 }; /* of a dump; more are not remembered */

/* Of one dump about a second. It is counted, so that each machine explains the same. */
static const uint64_t CASE_WORK = UINT64_C(1) << 30;

/** The operation that a finding is about; "" if it is none in particular. */
static const char *op_of(const struct nnv_spec *spec, const struct nnv_finding *f) {
    const struct nnv_subgraph *m = &spec->model.main;
    const struct nnv_op *op = NULL;
    if (f->at >= 0 && (uint32_t)f->at < m->noperations) op = nnv_op(m->operations[f->at].type);
    if (f->at < 0 && f->kind >= 0) op = nnv_op(f->kind);
    return op ? op->name : "";
}

bool nnv_told_may_be(const struct nnv_told *told, const char *mistake) {
    for (size_t i = 0; i < told->mistakes; i++)
        if (strcmp(told->mistake[i], mistake) == 0) return true;
    return false;
}

bool nnv_told_would_do(const struct nnv_told *told, const char *promise) {
    for (size_t i = 0; i < told->weaker; i++)
        if (strcmp(told->right_if[i], promise) == 0) return true;
    return false;
}

struct nnv_spec *nnv_told_read(const char *path, struct nnv_arena *arena, enum nnv_precision *precision) {
    struct nnv_spec_file *file = NULL;
    struct nnv_spec *spec = NULL;
    struct nnv_err why = {0};
    const struct nnv_run_config config = {.precision = -1};
    const bool ok = nnv_spec_open(path, &file, &why) == NNV_OK && nnv_spec_count(file) == 1 &&
                    nnv_spec_read(file, 0, arena, &spec, &why) == NNV_OK && spec->actual &&
                    nnv_validate(&spec->model, arena, NULL, &why) == NNV_OK &&
                    nnv_case_precision(&config, nnv_suite_by_name("spec"), spec, precision, &why) == NNV_OK;
    nnv_spec_close(file);
    return ok ? spec : NULL;
}

void nnv_told_operations(const struct nnv_spec *spec, struct nnv_arena *kept, struct nnv_told *told) {
    const struct nnv_subgraph *main = &spec->model.main;
    told->code = NNV_NEW(kept, int32_t, main->noperations);
    for (uint32_t i = 0; told->code && i < main->noperations; i++) told->code[told->count++] = main->operations[i].type;
}

/** Keeps how the elements of the answer were judged. */
static void keep_elements(const struct nnv_explanation *x, struct nnv_arena *kept, struct nnv_told *told) {
    if (x->elements && x->nelements <= ELEMENTS)
        told->elements = nnv_arena_copy(kept, x->elements, x->nelements * sizeof *x->elements);
}

bool nnv_told_explain(const struct nnv_spec *spec, enum nnv_precision precision, uint64_t *left,
                      struct nnv_arena *arena, struct nnv_arena *kept, struct nnv_told *told) {
    struct nnv_err why = {0};
    struct nnv_explanation *x = NNV_NEW(arena, struct nnv_explanation, 1);
    const struct nnv_explain_answers answers = {.count = 1, .outputs = {spec->actual}};
    const uint64_t most = *left < CASE_WORK ? *left : CASE_WORK;
    const bool explained = x && nnv_explain(spec, precision, &answers, most, arena, x, &why) == NNV_OK;
    nnv_told_operations(spec, kept, told);
    if (x) *left -= x->work < *left ? x->work : *left;
    if (!explained) return true;
    for (int i = 0; i < x->findings; i++) {
        const char *words = nnv_arena_strdup(kept, x->finding[i].fault->words);
        if (!words) return false;
        if (nnv_told_may_be(told, words)) continue;
        told->op[told->mistakes] = op_of(spec, &x->finding[i]);
        told->mistake[told->mistakes++] = words;
    }
    keep_elements(x, kept, told);
    told->weaker = x->weaker;
    memcpy(told->right_if, x->right_if, sizeof told->right_if);
    return true;
}

size_t nnv_told_by_mistake(const struct nnv_told_list *l, const char *mistake) {
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++) n += nnv_told_may_be(l->item[i], mistake);
    return n;
}

int nnv_told_likeliest(const struct nnv_told_list *l, const struct nnv_told *told) {
    size_t most = 0;
    int best = -1;
    for (size_t i = 0; i < told->mistakes; i++) {
        const size_t n = nnv_told_by_mistake(l, told->mistake[i]);
        if (n > most) most = n, best = (int)i;
    }
    return best;
}

size_t nnv_told_by_promise(const struct nnv_told_list *l, const char *promise) {
    size_t n = 0;
    for (size_t i = 0; i < l->count; i++) n += l->item[i]->mistakes == 0 && nnv_told_would_do(l->item[i], promise);
    return n;
}

bool nnv_told_share_operation(const struct nnv_told *a, const struct nnv_told *b) {
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count; k++)
            if (a->code[i] == b->code[k]) return true;
    return false;
}

bool nnv_told_is_corroborated(const struct nnv_told_list *l, const struct nnv_told *told, const char *words,
                              bool (*says)(const struct nnv_told *told, const char *words), size_t part) {
    size_t alike = 0, same = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (!nnv_told_share_operation(told, l->item[i])) continue;
        alike++;
        same += says(l->item[i], words);
    }
    return part * same >= alike;
}
