/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/suite_counts.h"

#include <stdlib.h>

struct nnv_suite_counts *nnv_suite_counts(const struct nnv_report *r) {
    struct nnv_suite_counts *suites = calloc(r->suites.count + (size_t)1, sizeof *suites);
    if (suites == NULL) return NULL;
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        struct nnv_suite_counts *s = &suites[c->suite];
        s->cases++;
        s->verdicts[c->verdict]++;
        s->compared += c->compared;
        s->not_compared += c->not_compared;
        s->ms += c->ms;
    }
    return suites;
}
