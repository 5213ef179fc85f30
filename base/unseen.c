/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unseen.h"

enum { FEATURES_MAX = 1 << 20 };

/* What the value of a feature says: SEVERAL draws show it, or the number of the one that does, plus 2. */
static const uintptr_t SEVERAL = 1, FIRST = 2;

/** The draw shows one feature more, or less, that no other does. */
static bool alone(struct nnv_unseen *u, uint64_t draw, bool more) {
    const uint32_t i = nnv_id_add(&u->alone, draw + 1);
    if (i == NNV_MAP_NONE) return false;
    const uintptr_t was = (uintptr_t)u->alone.item[i].value, is = more ? was + 1 : was - 1;
    u->alone.item[i].value = (void *)is;
    if (was == 0) u->singles++;
    if (is == 0) u->singles--;
    return true;
}

bool nnv_unseen_see(struct nnv_unseen *u, uint64_t draw, uint64_t feature, bool *fresh) {
    const uint32_t known = u->features.count;
    *fresh = false;
    uint32_t i = nnv_id_find(&u->features, feature);
    if (i == NNV_MAP_NONE && known >= FEATURES_MAX) return true;
    if (i == NNV_MAP_NONE) i = nnv_id_add(&u->features, feature);
    if (i == NNV_MAP_NONE) return false;
    const uintptr_t by = (uintptr_t)u->features.item[i].value, now = (uintptr_t)draw + FIRST;
    *fresh = by == 0;
    if (by == SEVERAL || by == now) return true;
    u->features.item[i].value = (void *)(*fresh ? now : SEVERAL);
    return *fresh ? alone(u, draw, true) : alone(u, by - FIRST, false);
}

double nnv_unseen_chance(const struct nnv_unseen *u) {
    return u->draws == 0 ? 1 : (double)u->singles / (double)u->draws;
}

bool nnv_unseen_below(const struct nnv_unseen *u, double limit) {
    return (double)u->draws * limit >= 1 && nnv_unseen_chance(u) < limit;
}

void nnv_unseen_free(struct nnv_unseen *u) {
    nnv_id_free(&u->features);
    nnv_id_free(&u->alone);
    *u = (struct nnv_unseen){0};
}
