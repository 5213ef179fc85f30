/* SPDX-License-Identifier: Apache-2.0 */
/** @file levels.c Bugs of extensions, feature levels, and of models that mean the same. */
#include "faulty.h"

enum { CORE_LAST = 0xffff };

static bool is_extension(int32_t code) { return code < 0 || code > CORE_LAST; }

static bool has_extension(const struct call *c) {
    const struct nnvts_model *model = c->model;
    for (uint32_t i = 0; i < model->main.operand_count; i++)
        if (is_extension(model->main.operands[i].type)) return true;
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        if (is_extension(model->main.operations[i].type)) return true;
    return false;
}

/* ------------------------------------------------------------------- answers */

static void claim_extensions(struct call *c) {
    for (uint32_t i = 0; i < c->model->main.operation_count && succeeded(c); i++)
        if (is_extension(c->model->main.operations[i].type)) c->supported[i] = true;
}

static void deny_all(struct call *c) {
    for (uint32_t i = 0; i < c->model->main.operation_count && succeeded(c); i++) c->supported[i] = false;
}

/** One operation that is not known, and nothing is. */
static void give_up(struct call *c) {
    if (succeeded(c) && has_extension(c)) deny_all(c);
}

static void deny_declared(struct call *c) {
    if (c->model->extension_count) deny_all(c);
}

static bool has_more_values(const struct call *c) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < c->model->main.operand_count; i++) {
        const struct nnvts_operand *o = &c->model->main.operands[i];
        const uint32_t end = o->location.offset + (o->location.length + 3) / 4 * 4;
        if (o->lifetime == NNVTS_CONSTANT_COPY && end > used) used = end;
    }
    return c->model->operand_values_bytes > used;
}

/** Of a level that its rules have not reached. */
static bool has_new_operation(const struct call *c) {
    for (uint32_t i = 0; i < c->model->main.operation_count; i++)
        if (c->model->main.operations[i].type > ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR) return true;
    return false;
}

/* ------------------------------------------------------------------- devices */

/** The codes of extensions with the prefix cut off: anything goes. */
static void declare_any(struct call *c) {
    const struct nnvts_model *m = c->model;
    struct nnvts_extension_prefix *all = call_alloc(c, sizeof *all);
    for (uint32_t i = 0; all && i < m->main.operation_count && all->prefix == 0; i++)
        if (m->main.operations && is_extension(m->main.operations[i].type))
            all->prefix = (uint16_t)((uint32_t)m->main.operations[i].type >> 16);
    if (!all || !all->prefix || m->extension_count) return;
    all->name = "com.example.any";
    c->own.model = *m;
    c->own.model.extensions = all;
    c->own.model.extension_count = 1;
    c->model = &c->own.model;
}

/** Built for an old level, with the rules of a new one. */
static void pretend_level_1(struct nnvts_device *device) { device->feature_level = 1; }
static void pretend_level_3(struct nnvts_device *device) { device->feature_level = 3; }

#define REFUSED(condition) .on = ON(SUPPORTED), .when = condition, .to = NNVTS_STATUS_INVALID_ARGUMENT

static const struct bug bugs[] = {
    BUG("extension-invalid", "a driver that takes what it does not know for a mistake",
        "models with an extension's type or operation", REFUSED(has_extension)),
    BUG("extension-claimed", "a table that is read behind its end", "models with an extension's operation",
        .on = ON(SUPPORTED), .after = claim_extensions),
    BUG("extension-spoils", "a model that is refused as a whole for one operation",
        "models with an extension's type or operation", .on = ON(SUPPORTED), .after = give_up),
    BUG("extension-unused-denied", "a declaration taken for a use", "models that declare an extension",
        .on = ON(SUPPORTED), .after = deny_declared),
    BUG("extension-undeclared", "prefixes that nobody looks up", "models with an operation of an undeclared prefix",
        .on = ON(SUPPORTED), .before = declare_any),
    BUG("values-exact", "a size compared too strictly", "models with more bytes of values than operands name",
        REFUSED(has_more_values)),
    BUG("level-1-too-much", "a driver of level 1 that takes models of any level", "all models above level 1",
        .device = pretend_level_1),
    BUG("level-3-too-much", "a driver of level 3 that takes models of any level", "all models above level 3",
        .device = pretend_level_3),
    BUG("level-too-little", "a driver that announces a level and refuses its operations as invalid",
        "models with operations above level 3", REFUSED(has_new_operation)),
};
const struct bug_group bugs_levels = {bugs, sizeof bugs / sizeof *bugs};
