/* SPDX-License-Identifier: Apache-2.0 */
/** @file bugs_levels.c Bugs of extensions, feature levels, and of models that mean the same. */
#include <stdlib.h>

#include "faulty.h"

enum { CORE_LAST = 0xffff };

static bool is_extension(int32_t code) { return code < 0 || code > CORE_LAST; }

static bool has_extension(const struct nnvts_model *model) {
    for (uint32_t i = 0; i < model->main.operand_count; i++)
        if (is_extension(model->main.operands[i].type)) return true;
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        if (is_extension(model->main.operations[i].type)) return true;
    return false;
}

/* ------------------------------------------------------------------- answers */

static enum nnvts_status refuse_extensions(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    (void)supported;
    return has_extension(model) ? NNVTS_STATUS_INVALID_ARGUMENT : status;
}

static enum nnvts_status claim_extensions(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        if (is_extension(model->main.operations[i].type)) supported[i] = true;
    return status;
}

/** One operation that is not known, and nothing is. */
static enum nnvts_status give_up(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    for (uint32_t i = 0; i < model->main.operation_count && has_extension(model); i++) supported[i] = false;
    return status;
}

static enum nnvts_status deny_declared(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    for (uint32_t i = 0; i < model->main.operation_count && model->extension_count; i++) supported[i] = false;
    return status;
}

static enum nnvts_status deny_more_values(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    (void)supported;
    uint32_t used = 0;
    for (uint32_t i = 0; i < model->main.operand_count; i++) {
        const struct nnvts_operand *o = &model->main.operands[i];
        const uint32_t end = o->location.offset + (o->location.length + 3) / 4 * 4;
        if (o->lifetime == NNVTS_CONSTANT_COPY && end > used) used = end;
    }
    return model->operand_values_bytes > used ? NNVTS_STATUS_INVALID_ARGUMENT : status;
}

/* ------------------------------------------------------------------- devices */

/** The codes of extensions with the prefix cut off: anything goes. */
static enum nnvts_status ask_cut(struct nnvts_device *self, const struct nnvts_model *model, bool *supported) {
    struct nnvts_device *inner = faulty_inner_device(self);
    struct nnvts_model m = *model;
    const uint32_t count = model->main.operation_count;
    struct nnvts_extension_prefix *all = calloc(1, sizeof *all);
    if (!all) return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    for (uint32_t i = 0; i < count && all->prefix == 0; i++)
        if (model->main.operations && is_extension(model->main.operations[i].type))
            all->prefix = (uint16_t)((uint32_t)model->main.operations[i].type >> 16);
    all->name = "com.example.any";
    if (all->prefix && m.extension_count == 0) {
        m.extensions = all;
        m.extension_count = 1;
    }
    enum nnvts_status st = inner->get_supported_operations(inner, &m, supported);
    free(all);
    return st;
}
static void take_undeclared(struct nnvts_device *device) { device->get_supported_operations = ask_cut; }

/** Built for an old level, with the rules of a new one. */
static void pretend_level_1(struct nnvts_device *device) { device->feature_level = 1; }
static void pretend_level_3(struct nnvts_device *device) { device->feature_level = 3; }

/** Of a level that its rules have not reached. */
static enum nnvts_status refuse_new(const struct nnvts_model *model, bool *supported, enum nnvts_status status) {
    (void)supported;
    for (uint32_t i = 0; i < model->main.operation_count; i++)
        if (model->main.operations[i].type > ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR)
            return NNVTS_STATUS_INVALID_ARGUMENT;
    return status;
}

static const struct bug bugs[] = {
    BUG("extension-invalid", "a driver that takes what it does not know for a mistake",
        "models with an extension's type or operation", .supported = refuse_extensions),
    BUG("extension-claimed", "a table that is read behind its end", "models with an extension's operation",
        .supported = claim_extensions),
    BUG("extension-spoils", "a model that is refused as a whole for one operation",
        "models with an extension's type or operation", .supported = give_up),
    BUG("extension-unused-denied", "a declaration taken for a use", "models that declare an extension",
        .supported = deny_declared),
    BUG("extension-undeclared", "prefixes that nobody looks up", "models with an operation of an undeclared prefix",
        .device = take_undeclared),
    BUG("values-exact", "a size compared too strictly", "models with more bytes of values than operands name",
        .supported = deny_more_values),
    BUG("level-1-too-much", "a driver of level 1 that takes models of any level", "all models above level 1",
        .device = pretend_level_1),
    BUG("level-3-too-much", "a driver of level 3 that takes models of any level", "all models above level 3",
        .device = pretend_level_3),
    BUG("level-too-little", "a driver that announces a level and refuses its operations as invalid",
        "models with operations above level 3", .supported = refuse_new),
};
const struct bug_group bugs_levels = {bugs, sizeof bugs / sizeof *bugs};
