/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/suites/kit/cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SOAK = 50 };

static enum nnv_amount amount_of(const struct nnv_run_config *config) { return nnv_tiers[config->tier].amount; }

int nnv_tier(const struct nnv_run_config *config) {
    return amount_of(config) == NNV_AMOUNT_SOAK ? NNV_AMOUNT_FULL : (int)amount_of(config);
}

uint64_t nnv_share(const struct nnv_run_config *config, uint64_t sources, const uint64_t tiers[3]) {
    if (config->count > 0) return (config->count + sources - 1) / sources;
    return tiers[nnv_tier(config)] * (amount_of(config) == NNV_AMOUNT_SOAK ? SOAK : 1);
}

enum nnv_status nnv_list_named(struct nnv_case_list *list, struct nnv_case c, const char *name, struct nnv_err *err) {
    char suite[32];
    size_t n = 0;
    for (; n < sizeof suite - 1 && name[n] != '\0' && name[n] != '/'; n++) suite[n] = name[n];
    suite[n] = '\0';
    c.name = name;
    c.suite = suite;
    c.op = c.op ? c.op : "";
    c.type = c.type ? c.type : "";
    c.tags = c.tags ? c.tags : "";
    return nnv_case_add(list, &c, err);
}

enum nnv_status nnv_list_case(struct nnv_case_list *list, struct nnv_case c, struct nnv_err *err, const char *fmt,
                              ...) {
    char name[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    return nnv_list_named(list, c, name, err);
}

enum nnv_status nnv_list_fixtures(struct nnv_case_list *list, const char *row, struct nnv_case c, const char *prefix,
                                  struct nnv_err *err) {
    enum nnv_status st = NNV_OK;
    for (size_t k = 0; k < nnv_fixture_count && !st; k++) {
        const struct nnv_fixture_kind *kind = &nnv_fixtures[k];
        if (prefix && strncmp(kind->name, prefix, strlen(prefix)) != 0) continue;
        c.op = kind->op;
        c.type = kind->type;
        c.d = k;
        st = nnv_list_case(list, c, err, "%s/%s", row, kind->name);
    }
    return st;
}

bool nnv_context_drawn(struct nnv_context *s, const struct nnv_fixture_kind *kind, uint64_t seed,
                       struct nnv_fixture *fixture) {
    struct nnv_spec *spec;
    struct nnv_err err = {0};
    if (nnv_fixture_build(kind, seed, s->env->arena, &spec, &err) != NNV_OK)
        return nnv_context_error(s, "%s", err.text);
    return nnv_result_level(s->env, spec->min_version, s->result) && nnv_context_model(s, spec, fixture);
}

bool nnv_context_ready(struct nnv_context *s, const struct nnv_fixture *fixture, struct nnvts_prepared_model **prepared,
                       struct nnv_request *values) {
    return (*prepared = nnv_context_prepare(s, fixture)) != NULL &&
           nnv_context_request(s, fixture, NNV_POOL_READ_ONLY, values);
}

bool nnv_has_order(const struct nnv_op *op) {
    switch (op->code) {
    case ANEURALNETWORKS_HASHTABLE_LOOKUP:
    case ANEURALNETWORKS_ROI_ALIGN:
    case ANEURALNETWORKS_ROI_POOLING:
    case ANEURALNETWORKS_AXIS_ALIGNED_BBOX_TRANSFORM:
        return true;
    }
    return false;
}
