/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/dumps/keep.h"

#include <stdlib.h>

#include "base/rng.h"

/** Where the case stands in the order that the seed gives; UINT64_MAX: its dump would not say why it passed. */
static uint64_t place(uint64_t seed, const struct nnv_case *c) {
    const struct nnv_suite *suite = nnv_suite_by_name(c->suite);
    if (suite == NULL || suite->build == NULL || suite->beyond_values) return UINT64_MAX;
    const uint64_t pair[] = {seed, nnv_hash_str(c->name)};
    return nnv_hash_bytes(pair, sizeof pair);
}

static int by_size(const void *pa, const void *pb) {
    const uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return (a > b) - (a < b);
}

enum nnv_status nnv_keep_bound(uint64_t seed, const struct nnv_case *cases, size_t count, uint64_t wanted,
                               uint64_t *below, struct nnv_err *err) {
    *below = 0;
    if (wanted == 0 || count == 0) return NNV_OK;
    uint64_t *places = calloc(count + 1, sizeof *places);
    if (places == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < count; i++) places[i] = place(seed, &cases[i]);
    places[count] = UINT64_MAX;
    qsort(places, count, sizeof *places, by_size);
    *below = places[wanted < count ? wanted : count];
    free(places);
    return NNV_OK;
}

bool nnv_keeps(const struct nnv_run_config *config, const struct nnv_case *c) {
    return config->keep_below > 0 && place(config->seed, c) < config->keep_below;
}
