/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.c The suite "device": what a driver says of itself, and how it treats the first calls. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "harness/client/abi.h"
#include "harness/suites/kit/context.h"
#include "harness/suites/suites.h"
#include "nnvts/result.h"
#include "harness/suites/kit/cases.h"

struct probe_case {
    const char *name;
    void (*run)(struct nnv_context *s);
};

/* ------------------------------------------------------------------ identity */

static bool is_text(const char *s) {
    if (!*s) return false;
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f) return false;
    return true;
}

static void identity(struct nnv_context *p) {
    nnv_expect(p, is_text(p->device->name), "the device's name is empty or holds control characters");
    nnv_expect(p, is_text(p->env->client->driver->name), "the driver's name is empty or holds control characters");
}

static void version(struct nnv_context *p) {
    nnv_expect(p, is_text(p->device->version), "the device's version is empty or holds control characters");
}

static void type(struct nnv_context *p) {
    int t = p->device->type;
    nnv_expect(p, t >= ANEURALNETWORKS_DEVICE_OTHER && t <= ANEURALNETWORKS_DEVICE_ACCELERATOR,
               "device type %d is none of OTHER (1), CPU (2), GPU (3), ACCELERATOR (4)", t);
}

static void level(struct nnv_context *p) {
    int l = p->device->feature_level;
    nnv_expect(p, l >= 1 && l <= 8, "feature level %d is not between 1 and 8", l);
}

static void struct_size(struct nnv_context *p) {
    const struct nnvts_driver *driver = p->env->client->driver;
    enum { SANE = 1 << 16 };
    nnv_expect(p, driver->struct_size >= sizeof *driver && driver->struct_size < SANE,
               "struct_size %u of the driver's table, expected at least %zu", driver->struct_size, sizeof *driver);
    nnv_expect(p, p->device->struct_size >= NNVTS_DEVICE_LEAST_BYTES && p->device->struct_size < SANE,
               "struct_size %u of the device, expected at least %zu", p->device->struct_size, NNVTS_DEVICE_LEAST_BYTES);
}

static void functions(struct nnv_context *p) {
    const struct nnvts_device *d = p->device;
    nnv_expect(p, d->get_status && d->get_supported_operations && d->prepare_model && d->release,
               "a required function of the device is missing");
    bool caches = d->model_cache_files || d->data_cache_files;
    nnv_expect(p, !caches || d->prepare_from_cache, "cache files are announced, but prepare_from_cache is missing");
}

static void status(struct nnv_context *p) {
    enum nnvts_device_status s = p->device->get_status(p->device);
    nnv_expect(p, s == NNVTS_DEVICE_AVAILABLE, "get_status answered %d, expected AVAILABLE (0)", (int)s);
}

static void cache_files(struct nnv_context *p) {
    const struct nnvts_device *d = p->device;
    nnv_expect(p, d->model_cache_files <= NNVTS_MAX_CACHE_FILES, "%u model cache files, at most %u are allowed",
               d->model_cache_files, NNVTS_MAX_CACHE_FILES);
    nnv_expect(p, d->data_cache_files <= NNVTS_MAX_CACHE_FILES, "%u data cache files, at most %u are allowed",
               d->data_cache_files, NNVTS_MAX_CACHE_FILES);
}

/* -------------------------------------------------------------- capabilities */

static void expect_performance(struct nnv_context *p, const char *what, const struct nnvts_performance *f) {
    nnv_expect(p, f->exec_time > 0 && f->exec_time <= FLT_MAX, "%s: exec_time %g is not finite and above 0", what,
               (double)f->exec_time);
    nnv_expect(p, f->power_usage > 0 && f->power_usage <= FLT_MAX, "%s: power_usage %g is not finite and above 0", what,
               (double)f->power_usage);
}

static void capabilities(struct nnv_context *p) {
    const struct nnvts_capabilities *c = &p->device->capabilities;
    expect_performance(p, "relaxed_scalar", &c->relaxed_scalar);
    expect_performance(p, "relaxed_tensor", &c->relaxed_tensor);
    expect_performance(p, "if_performance", &c->if_performance);
    expect_performance(p, "while_performance", &c->while_performance);
}

static void operand_performance(struct nnv_context *p) {
    const struct nnvts_capabilities *c = &p->device->capabilities;
    enum { SANE = 1024 };
    uint32_t n = c->operand_performance_count;
    if (!nnv_expect(p, n <= SANE, "%u operand performances: there are not so many types", n)) return;
    if (!nnv_expect(p, n == 0 || c->operand_performance, "operand_performance is NULL, its count is %u", n)) return;
    for (uint32_t i = 0; i < n; i++) {
        const struct nnvts_operand_performance *o = &c->operand_performance[i];
        const struct nnv_type *t = nnv_type(o->type);
        char what[64];
        snprintf(what, sizeof what, "operand_performance[%u]", i);
        nnv_expect(p, t && t->kind != NNV_KIND_MODEL, "%s: %d is no operand type", what, o->type);
        nnv_expect(p, i == 0 || c->operand_performance[i - 1].type < o->type,
                   "%s: type %d stands behind type %d; types must be sorted, one entry each", what, o->type,
                   i ? c->operand_performance[i - 1].type : 0);
        expect_performance(p, what, &o->info);
    }
}

static void extensions(struct nnv_context *p) {
    const struct nnvts_device *d = p->device;
    enum { SANE = 1024 };
    if (!nnv_expect(p, d->extension_count <= SANE, "%u extensions", d->extension_count)) return;
    if (!nnv_expect(p, d->extension_count == 0 || d->extensions, "extensions is NULL, its count is %u",
                    d->extension_count))
        return;
    for (uint32_t i = 0; i < d->extension_count; i++) {
        const struct nnvts_extension *e = &d->extensions[i];
        nnv_expect(p, e->name && is_text(e->name), "extension %u has no name", i);
        if (!e->name) continue;
        nnv_expect(p, strchr(e->name, '.') != NULL, "extension name '%s' names no vendor ('vendor.extension')",
                   e->name);
        for (uint32_t k = 0; k < i; k++)
            nnv_expect(p, !d->extensions[k].name || strcmp(d->extensions[k].name, e->name) != 0,
                       "two extensions are named '%s'", e->name);
        if (!nnv_expect(p, e->operand_type_count == 0 || e->operand_types, "extension '%s': operand_types is NULL",
                        e->name))
            continue;
        for (uint32_t k = 0; k < e->operand_type_count; k++) {
            nnv_expect(p, e->operand_types[k].byte_size > 0, "extension '%s': operand type %u has no size", e->name,
                       e->operand_types[k].type);
            nnv_expect(p, k == 0 || e->operand_types[k - 1].type < e->operand_types[k].type,
                       "extension '%s': operand types are not sorted, one entry each", e->name);
        }
    }
}

/* ---------------------------------------------------------------- small model */

/** c = a + b of two float32 values each, no activation. bad: input b does not exist. */
static bool make_add(struct nnv_context *p, bool bad, struct nnvts_model *model) {
    static uint32_t dims[] = {2}, in[] = {0, 1, 2}, missing[] = {0, 4, 2}, out[] = {3}, inputs[] = {0, 1};
    static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
    const struct nnv_operand tensor = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .rank = 1, .dims = dims};
    struct nnv_operand operand[4] = {tensor, tensor, {.type = ANEURALNETWORKS_INT32}, tensor};
    operand[0].lifetime = operand[1].lifetime = NNV_SUBGRAPH_INPUT;
    operand[2].lifetime = NNV_CONSTANT_COPY;
    operand[2].data = &none;
    operand[2].bytes = sizeof none;
    operand[3].lifetime = NNV_SUBGRAPH_OUTPUT;
    struct nnv_operation add = {ANEURALNETWORKS_ADD, 3, 1, bad ? missing : in, out};
    const struct nnv_model m = {.main = {4, 1, 2, 1, operand, &add, inputs, out}};
    struct nnv_err err = {0};
    if (nnv_abi_model_at(&m, p->env->arena, NULL, NULL, model, &err) == NNV_OK) return true;
    return nnv_context_error(p, "%s", err.text);
}

/** Asks whether the model is supported; false (and FAIL) if there is no proper answer. */
static bool ask(struct nnv_context *p, const struct nnvts_model *model, bool *supported) {
    uint8_t answer = 0xee;
    nnv_context_enter(p, NNV_PHASE_SUPPORTED);
    enum nnvts_status st = p->device->get_supported_operations(p->device, model, (bool *)&answer);
    if (!nnv_expect_status(p, "get_supported_operations of an ADD", st, NNVTS_STATUS_NONE)) return false;
    if (!nnv_expect(p, answer <= 1, "get_supported_operations answered NONE and nothing else")) return false;
    *supported = answer;
    return true;
}

static enum nnvts_status prepare(struct nnv_context *p, const struct nnvts_model *model,
                                 struct nnvts_prepared_model **out) {
    nnv_context_enter(p, NNV_PHASE_PREPARE);
    return p->device->prepare_model(p->device, model, &nnv_prepare_config, out);
}

static void supported_stable(struct nnv_context *p) {
    struct nnvts_model model;
    bool first, second;
    if (!make_add(p, false, &model) || !ask(p, &model, &first) || !ask(p, &model, &second)) return;
    nnv_expect(p, first == second, "asked twice, get_supported_operations claims ADD once and denies it once");
}

static void supported_prepares(struct nnv_context *p) {
    struct nnvts_model model;
    struct nnvts_prepared_model *prepared = NULL;
    bool supported;
    if (!make_add(p, false, &model) || !ask(p, &model, &supported)) return;
    enum nnvts_status st = prepare(p, &model, &prepared);
    nnv_expect_status(p, supported ? "prepare_model of a supported ADD" : "prepare_model of an unsupported ADD", st,
                      supported ? NNVTS_STATUS_NONE : NNVTS_STATUS_GENERAL_FAILURE);
    if (st != NNVTS_STATUS_NONE) {
        nnv_expect(p, !prepared, "prepare_model failed, but gave a prepared model");
        return;
    }
    nnv_expect(p, prepared != NULL, "prepare_model answered NONE without a prepared model");
    if (!prepared) return;
    if (nnv_expect(p, prepared->struct_size >= sizeof *prepared && prepared->execute && prepared->release,
                   "the prepared model is too small or lacks a required function")) {
        nnv_context_enter(p, NNV_PHASE_RELEASE);
        prepared->release(prepared);
    }
}

static void two_prepared(struct nnv_context *p) {
    struct nnvts_model model;
    struct nnvts_prepared_model *one = NULL, *two = NULL;
    bool supported;
    if (!make_add(p, false, &model) || !ask(p, &model, &supported)) return;
    if (!supported) {
        nnv_context_decline(p, NNVTS_WHY_OPERATION, "the driver does not support ADD");
        return;
    }
    nnv_expect_status(p, "prepare_model", prepare(p, &model, &one), NNVTS_STATUS_NONE);
    nnv_expect_status(p, "prepare_model, a second time,", prepare(p, &model, &two), NNVTS_STATUS_NONE);
    nnv_expect(p, one && two && one != two, "two prepared models are one object");
    nnv_context_enter(p, NNV_PHASE_RELEASE);
    if (one) one->release(one);
    if (two && two != one) two->release(two);
}

static void bad_index(struct nnv_context *p) {
    struct nnvts_model model;
    struct nnvts_prepared_model *prepared = NULL;
    bool supported = false;
    if (!make_add(p, true, &model)) return;
    nnv_context_enter(p, NNV_PHASE_SUPPORTED);
    nnv_expect_status(p, "get_supported_operations of a model with a wrong operand index",
                      p->device->get_supported_operations(p->device, &model, &supported),
                      NNVTS_STATUS_INVALID_ARGUMENT);
    nnv_expect_status(p, "prepare_model of a model with a wrong operand index", prepare(p, &model, &prepared),
                      NNVTS_STATUS_INVALID_ARGUMENT);
}

/* -------------------------------------------------------------------- opening */

static bool same_performance(const struct nnvts_performance *a, const struct nnvts_performance *b) {
    return a->exec_time == b->exec_time && a->power_usage == b->power_usage;
}

static bool same_capabilities(const struct nnvts_capabilities *a, const struct nnvts_capabilities *b) {
    return same_performance(&a->relaxed_scalar, &b->relaxed_scalar) &&
           same_performance(&a->relaxed_tensor, &b->relaxed_tensor) &&
           same_performance(&a->if_performance, &b->if_performance) &&
           same_performance(&a->while_performance, &b->while_performance) &&
           a->operand_performance_count == b->operand_performance_count &&
           a->operand_performance == b->operand_performance;
}

static void stable(struct nnv_context *p) {
    const struct nnvts_device before = *p->device;
    char name[256], ver[256];
    struct nnvts_model model;
    bool supported;
    snprintf(name, sizeof name, "%s", before.name);
    snprintf(ver, sizeof ver, "%s", before.version);
    if (!make_add(p, false, &model) || !ask(p, &model, &supported)) return;
    p->device->get_status(p->device);
    const struct nnvts_device *after = p->device;
    nnv_expect(p, strncmp(name, after->name, sizeof name - 1) == 0, "the name changed while the device was open");
    nnv_expect(p, strncmp(ver, after->version, sizeof ver - 1) == 0, "the version changed while the device was open");
    nnv_expect(p, before.type == after->type && before.feature_level == after->feature_level,
               "type or feature level changed while the device was open");
    nnv_expect(p, same_capabilities(&before.capabilities, &after->capabilities),
               "the capabilities changed while the device was open");
}

static void reopen(struct nnv_context *p) {
    struct nnv_client second = {0};
    struct nnv_err err = {0};
    nnv_context_enter(p, NNV_PHASE_OPEN);
    enum nnv_status st =
        nnv_client_attach(&second, p->env->client->driver, "opened again", p->env->config->driver_options, &err);
    if (!nnv_expect(p, st == NNV_OK, "opening a second device failed: %s", err.text)) return;
    const struct nnvts_device *a = p->device, *b = second.device;
    nnv_expect(p, strcmp(a->name, b->name) == 0, "opened again, the name is '%s' instead of '%s'", b->name, a->name);
    nnv_expect(p, strcmp(a->version, b->version) == 0, "opened again, the version is '%s' instead of '%s'", b->version,
               a->version);
    nnv_expect(p, a->type == b->type && a->feature_level == b->feature_level,
               "opened again, type or feature level is another");
    nnv_expect(p, a->model_cache_files == b->model_cache_files && a->data_cache_files == b->data_cache_files,
               "opened again, the numbers of cache files are others");
    nnv_context_enter(p, NNV_PHASE_RELEASE);
    nnv_client_close(&second);
    supported_prepares(p); /* the first device lives on */
}

static void unknown_option(struct nnv_context *p) {
    struct nnvts_device *device = NULL;
    const char *reason = NULL;
    nnv_context_enter(p, NNV_PHASE_OPEN);
    enum nnvts_status st = p->env->client->driver->open("no driver knows this option", &device, &reason);
    nnv_expect_status(p, "open with an unknown option", st, NNVTS_STATUS_INVALID_ARGUMENT);
    nnv_expect(p, st == NNVTS_STATUS_NONE || !device, "open was refused, but gave a device");
    if (st == NNVTS_STATUS_NONE && device && device->struct_size >= NNVTS_DEVICE_LEAST_BYTES && device->release)
        device->release(device);
}

/* ------------------------------------------------------------------- registry */

static const struct probe_case probes[] = {
    {"identity", identity},
    {"version", version},
    {"type", type},
    {"level", level},
    {"struct_size", struct_size},
    {"functions", functions},
    {"status", status},
    {"cache_files", cache_files},
    {"capabilities", capabilities},
    {"operand_performance", operand_performance},
    {"extensions", extensions},
    {"supported_stable", supported_stable},
    {"supported_prepares", supported_prepares},
    {"two_prepared", two_prepared},
    {"bad_index", bad_index},
    {"stable", stable},
    {"reopen", reopen},
    {"unknown_option", unknown_option},
};

static enum nnv_status list(const struct nnv_run_config *config, struct nnv_case_list *list, struct nnv_err *err) {
    (void)config;
    enum nnv_status st = NNV_OK;
    for (size_t i = 0; i < sizeof probes / sizeof *probes && !st; i++)
        st = nnv_list_case(list, (struct nnv_case){.a = i}, err, "device/%s", probes[i].name);
    return st;
}

static void run(struct nnv_case_env *env, const struct nnv_case *c, struct nnv_result *result) {
    struct nnv_context s;
    nnv_context_begin(&s, env, result);
    if (c->a < sizeof probes / sizeof *probes)
        probes[c->a].run(&s);
    else
        nnv_context_error(&s, "there is no device case %llu", (unsigned long long)c->a);
    nnv_context_end(&s);
}

const struct nnv_suite nnv_suite_device = {
    .name = "device",
    .summary = "identity, capabilities, and the first calls to a driver",
    .precision = NNV_PRECISION_NNAPI,
    .by_default = true,
    .list = list,
    .run = run,
};
