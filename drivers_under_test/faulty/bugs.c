/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs.c All planted bugs. */
#include <string.h>

#include "faulty.h"
#include "nnvts/planted.h"

#define X(name) extern const struct bug_group bugs_##name;
#include "groups.def"
#undef X

static const struct bug_group *const groups[] = {
#define X(name) &bugs_##name,
#include "groups.def"
#undef X
};

const struct bug *bug_at(size_t i) {
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (i < groups[g]->count) return &groups[g]->bugs[i];
        i -= groups[g]->count;
    }
    return NULL;
}

/** The suite that the i-th bug is for. */
static const char *suite_of(size_t i) {
    static const char *const names[] = {
#define X(name) #name,
#define Y(name, suite) #suite,
#include "groups.def"
#undef X
    };
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (i < groups[g]->count) return names[g];
        i -= groups[g]->count;
    }
    return "";
}

const struct bug *bug_by_name(const char *name, size_t len) {
    const struct bug *bug;
    for (size_t i = 0; (bug = bug_at(i)); i++)
        if (strlen(bug->name) == len && memcmp(bug->name, name, len) == 0) return bug;
    return NULL;
}

const struct nnv_fault *bug_fault(const struct bug *bug, int i) {
    if (i == 0 && (bug->own.change || bug->own.numbers || bug->own.code != bug->own.other_code)) return &bug->own;
    return i < BUG_FAULTS && bug->fault[i] ? nnv_fault_by_name(bug->fault[i]) : NULL;
}

/** Operations whose results the bug makes wrong, or NULL. */
static const char *spoilt_by(const struct bug *bug) {
    if (bug->spoils || bug->legal || bug->op == ANY_OPERATION) return bug->spoils;
    return faulty_edits(bug) ? nnv_op(bug->op)->name : NULL;
}

const struct nnvts_planted *nnvts_planted_at(uint32_t i) {
    static struct nnvts_planted row;
    const struct bug *bug = bug_at(i);
    if (!bug) return NULL;
    row = (struct nnvts_planted){.struct_size = sizeof row,
                                 .kind = bug->legal ? NNVTS_PLANTED_LEGAL : NNVTS_PLANTED_BUG,
                                 .name = bug->name,
                                 .suite = suite_of(i),
                                 .models = bug->models,
                                 .fires = bug->fires,
                                 .survives = bug->survives,
                                 .spoils = spoilt_by(bug)};
    return &row;
}
