/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/implemented.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"

/** What a case says of its operation and type. */
static enum nnv_has says(const struct nnv_report_case *c) {
    const bool wrong = c->verdict == NNVTS_FAIL && c->why == NNVTS_WHY_VALUES;
    if (wrong || (c->verdict == NNVTS_PASS && c->values)) return NNV_HAS;
    return c->verdict == NNVTS_UNSUPPORTED && c->why == NNVTS_WHY_OPERATION ? NNV_HAS_NOT : NNV_HAS_NOT_ASKED;
}

enum nnv_status nnv_implemented(const struct nnv_report *r, struct nnv_implemented *out, struct nnv_err *err) {
    static const char untold[] = "not implemented";
    *out = (struct nnv_implemented){.types = r->types.count};
    out->has = calloc((size_t)r->ops.count * r->types.count + 1, sizeof *out->has);
    if (out->has == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        enum nnv_has *has = &out->has[(size_t)c->op * out->types + c->type];
        if (*r->ops.key[c->op] == '\0' || *r->types.key[c->type] == '\0') continue;
        if (says(c) > *has) *has = says(c);
        out->untold =
            out->untold || (says(c) == NNV_HAS_NOT && strncmp(c->more->reason, untold, sizeof untold - 1) == 0);
    }
    for (uint32_t op = 0; op < r->ops.count; op++) {
        const uint32_t before = out->pairs;
        for (uint32_t type = 0; type < out->types; type++) {
            out->pairs += out->has[(size_t)op * out->types + type] == NNV_HAS;
            out->of += out->has[(size_t)op * out->types + type] != NNV_HAS_NOT_ASKED;
        }
        out->operations += out->pairs > before;
    }
    return NNV_OK;
}

void nnv_implemented_free(struct nnv_implemented *x) { free(x->has); }

static void add_devices(struct nnv_text *t, const struct nnv_report *r, const char *before, const char *behind) {
    const struct nnv_uses *u = &r->uses;
    for (uint32_t i = 0; i < u->devices.count; i++) {
        nnv_text_add(t, i == 0 ? before : ", ");
        nnv_text_addf(t, "%s operations computed by ", nnv_count(nnv_uses_computed(u, i)).s);
        nnv_text_add_shown(t, u->devices.key[i], strlen(u->devices.key[i]), 80);
    }
    if (u->devices.count > 0) nnv_text_add(t, behind);
}

void nnv_text_add_untold(struct nnv_text *t, const struct nnv_report *r, const char *before, const char *behind) {
    struct nnv_implemented x = {0};
    struct nnv_err ignored = {0};
    if (nnv_implemented(r, &x, &ignored) != NNV_OK) t->failed = true;
    if (x.untold)
        nnv_text_addf(t,
                      "%sit cannot be asked what it supports: it computes %u operations, %u of %u tested pairs of "
                      "operation and type (summary.json lists them: implemented, not_implemented)%s",
                      before, x.operations, x.pairs, x.of, behind);
    nnv_implemented_free(&x);
    add_devices(t, r, before, behind);
}
