/* SPDX-License-Identifier: Apache-2.0 */
/* What a partition did, as a table to be read. */
#include <string.h>

#include "compiler/byoc/byoc.h"

enum { MOST_NAMES = 8 };

/* "add, nn.relu x 3, ...": equal neighbours together. */
static void add_names(const char *const *names, size_t n, struct nnv_text *out) {
    size_t shown = 0;
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && !strcmp(names[k], names[i]);) k++;
        if (shown++ == MOST_NAMES) {
            nnv_text_addf(out, ", and %zu more", n - i);
            return;
        }
        nnv_text_addf(out, "%s%s", i ? ", " : "", names[i]);
        if (k - i > 1) nnv_text_addf(out, " x %zu", k - i);
    }
}

static void add_composites(const struct nnv_partition *p, struct nnv_text *out) {
    if (!p->n_composites) return;
    nnv_text_addf(out, "%-32s %10s  %s\n", "composite", "parameters", "operators");
    for (size_t i = 0; i < p->n_composites; i++) {
        nnv_text_addf(out, "%-32s %10zu  ", p->composites[i].name, p->composites[i].params);
        add_names(p->composites[i].ops, p->composites[i].n_ops, out);
        nnv_text_add(out, "\n");
    }
    nnv_text_add(out, "\n");
}

void nnv_partition_table(const struct nnv_partition *p, struct nnv_text *out) {
    size_t gathered = 0;
    add_composites(p, out);
    if (p->n_extracted)
        nnv_text_addf(out, "%-12s %-32s %10s %8s %11s  %s\n", "target", "function", "parameters", "outputs",
                      "operations", "which");
    for (size_t i = 0; i < p->n_extracted; i++) {
        const struct nnv_extracted *c = &p->extracted[i];
        nnv_text_addf(out, "%-12s %-32s %10zu %8zu %11zu  ", c->target, c->function, c->params, c->outputs, c->n_ops);
        add_names(c->ops, c->n_ops, out);
        nnv_text_add(out, "\n");
        gathered += c->n_ops;
    }
    nnv_text_addf(out, "%zu of %zu operations in %zu region%s", gathered, gathered + p->n_host, p->n_extracted,
                  p->n_extracted == 1 ? "" : "s");
    if (p->n_host) {
        nnv_text_add(out, "; on the host: ");
        add_names(p->host, p->n_host, out);
    }
    nnv_text_add(out, "\n");
}
