/* SPDX-License-Identifier: Apache-2.0 */
/** @file saturate.c --until-saturated: as many draws as it takes until the next one would hardly show anything new. */
#include <stdlib.h>

#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/suites/kit/vocabulary.h"
#include "randgraph/graph/coverage.h"
#include "randgraph/graph/graph.h"

enum { GRAPHS_MOST = 50000 };

enum nnv_status nnv_cli_chance(const char *percent, double *chance, struct nnv_err *err) {
    char *end;
    const double value = strtod(percent, &end);
    if (end != percent && *end == '\0' && value > 0 && value < 100) {
        *chance = value / 100;
        return NNV_OK;
    }
    return nnv_fail(err, NNV_INVALID,
                    "--until-saturated '%s': expected a percentage above 0 and below 100, such as 0.5", percent);
}

void nnv_cli_add_saturation(struct nnv_text *t, uint64_t draws, const char *what, double chance, double limit) {
    nnv_text_addf(t, "after %s %s the chance that the next one shows something new is ", nnv_count(draws).s, what);
    if (chance < limit)
        nnv_text_addf(t, "below %g %%", 100 * limit);
    else
        nnv_text_addf(t, "%.2g %%, not below %g %%", 100 * chance, 100 * limit);
}

enum nnv_status nnv_cli_saturate(const char *percent, struct nnv_run_config *config, struct nnv_arena *arena,
                                 struct nnv_err *err) {
    struct nnv_text t = {0};
    double limit, chance;
    uint64_t each = 0;
    if (percent == NULL) return NNV_OK;
    enum nnv_status s = nnv_cli_chance(percent, &limit, err);
    if (s == NNV_OK && config->driver_path != NULL) s = nnv_vocabulary_meet(config, &t, err);
    if (s == NNV_OK)
        s = nnv_graphs_until(config->seed, limit, config->count > 0 ? config->count : GRAPHS_MOST, &each, &chance, err);
    if (s == NNV_OK) {
        config->count = each * nnv_graph_profile_count;
        nnv_text_clear(&t);
        nnv_cli_add_saturation(&t, config->count, "graphs", chance, limit);
        config->saturation = t.failed ? NULL : nnv_arena_strdup(arena, t.data);
        if (config->saturation == NULL) s = nnv_no_memory(err);
    }
    nnv_text_free(&t);
    return s;
}
