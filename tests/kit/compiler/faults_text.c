/* SPDX-License-Identifier: Apache-2.0 */
/** @file faults_text.c Faults of the compiler in how JSON texts are read and written. */
#include <string.h>

#include "tests/kit/compiler/faults.h"

static void remove_from_all(json_t *members, const char *key) {
    const char *name;
    json_t *value;
    json_object_foreach(members, name, value) json_object_del(value, key);
}

/* ------------------------------------------------------------- tables, support, rules */

/* An entry with several conditions becomes one entry for each of them. */
void fault_any_condition(enum compiler_text which, json_t *doc) {
    for (size_t i = which == COMPILER_SUPPORT ? json_array_size(doc) : 0; i-- > 0;) {
        json_t *entry = json_incref(json_array_get(doc, i)), *all = json_object_get(entry, "all");
        if (json_array_size(all)) json_array_remove(doc, i);
        for (size_t k = 0; k < json_array_size(all); k++) {
            json_t *one = json_copy(json_array_get(all, k));
            json_object_set(one, "op", json_object_get(entry, "op"));
            json_array_append_new(doc, one);
        }
        json_decref(entry);
    }
}

static bool is_known(const char *key) {
    static const char *const known[] = {
        "all",         "alt",      "any",    "args",      "attr",  "attrs",   "base",     "check",  "child",
        "const",       "default",  "define", "dominates", "dtype", "get",     "id",       "in",     "index",
        "keep_if_any", "min_ops",  "name",   "node",      "op",    "operand", "optional", "parent", "path",
        "pattern",     "patterns", "rank",   "ref",       "shape", "then",    "tuple"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i], key)) return true;
    return false;
}

static void strip(json_t *v, bool any_member) {
    void *next;
    const char *key;
    json_t *member;
    for (size_t i = 0; i < json_array_size(v); i++) strip(json_array_get(v, i), false);
    json_object_foreach_safe(v, next, key, member) {
        if (!any_member && !is_known(key))
            json_object_del(v, key);
        else
            strip(member, !any_member && (!strcmp(key, "attrs") || !strcmp(key, "define")));
    }
}

void fault_unknown_members(enum compiler_text which, json_t *doc) {
    if (which == COMPILER_PATTERNS || which == COMPILER_SUPPORT || which == COMPILER_RULES)
        strip(doc, which == COMPILER_SUPPORT); /* whose members are names of targets */
}

/* ----------------------------------------------------------------------------- costs */

void fault_no_regions(enum compiler_text which, json_t *doc) {
    if (which == COMPILER_COSTS) json_object_del(doc, "regions");
}

void fault_no_noise(enum compiler_text which, json_t *doc) {
    if (which != COMPILER_COSTS) return;
    remove_from_all(json_object_get(doc, "ops"), "host_noise");
    remove_from_all(json_object_get(doc, "ops"), "target_noise");
}

void fault_no_launch(enum compiler_text which, json_t *doc) {
    if (which == COMPILER_COSTS) json_object_set_new(json_object_get(doc, "target"), "launch_us", json_integer(0));
}

void fault_no_crossing(enum compiler_text which, json_t *doc) {
    if (which == COMPILER_COSTS) json_object_set_new(json_object_get(doc, "crossing"), "us", json_integer(0));
}

void fault_one_target(enum compiler_text which, json_t *doc) {
    if (which != COMPILER_COSTS) return;
    json_object_del(doc, "targets");
    remove_from_all(json_object_get(doc, "ops"), "targets");
}

/* -------------------------------------------------------------------------- metadata */

void fault_no_span(enum compiler_text which, json_t *doc) {
    const json_t *nodes = json_object_get(doc, "nodes");
    for (size_t i = 0; which == COMPILER_METADATA && i < json_array_size(nodes); i++)
        json_object_del(json_object_get(json_array_get(nodes, i), "attrs"), "span");
}

/* The first list is that of all constants, the others are of extents. */
void fault_no_extents(enum compiler_text which, json_t *doc) {
    const json_t *nodes = json_object_get(doc, "nodes");
    bool first = true;
    for (size_t i = 0; which == COMPILER_METADATA && i < json_array_size(nodes); i++) {
        json_t *node = json_array_get(nodes, i), *list = json_object_get(node, "data");
        if (strcmp(json_string_value(json_object_get(node, "type_key")), "Array") != 0) continue;
        if (!first) json_array_clear(list);
        first = false;
    }
}

/* The list of all constants is the first that there is. */
void fault_other_constant(enum compiler_text which, json_t *doc) {
    const json_t *nodes = json_object_get(doc, "nodes");
    for (size_t i = 0; which == COMPILER_METADATA && i < json_array_size(nodes); i++) {
        json_t *node = json_array_get(nodes, i), *list = json_object_get(node, "data");
        if (strcmp(json_string_value(json_object_get(node, "type_key")), "Array") != 0) continue;
        json_array_append(list, json_array_get(list, 0));
        json_array_remove(list, 0);
        return;
    }
}
