/* SPDX-License-Identifier: Apache-2.0 */
/** @file driver.c Opening: another driver's device, with the bug in between. Option: BUG[@OPERATION][,over=DRIVER]. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

/** What follows the bug's name. */
struct option {
    const struct bug *bug;
    int32_t op;
    char over[64];
};

static const char *read_option(const char *text, struct option *out) {
    static const char *const usage = "expected BUG[@OPERATION][,over=DRIVER]";
    if (!text) text = "none";
    size_t n = strcspn(text, "@,");
    out->bug = bug_by_name(text, n);
    if (!out->bug) return usage;
    for (int i = 0; i < BUG_FAULTS; i++)
        if (out->bug->fault[i] && !nnv_fault_by_name(out->bug->fault[i])) return "the catalogue has no such fault";
    out->op = out->bug->op;
    text += n;
    if (*text == '@') {
        n = strcspn(++text, ",");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)n, text);
        const struct nnv_op *op = nnv_op_by_name(name);
        if (!op || n >= sizeof name) return "expected the name of an operation behind '@'";
        out->op = op->code;
        text += n;
    }
    snprintf(out->over, sizeof out->over, "%s", out->bug->over ? out->bug->over : "cpu");
    if (*text == 0) return NULL;
    if (strncmp(text, ",over=", 6) != 0 || !text[6] || strlen(text + 6) >= sizeof out->over) return usage;
    snprintf(out->over, sizeof out->over, "%s", text + 6);
    return NULL;
}

/** Loads the driver `name` from the folder that this one lies in. */
static const char *open_inner(const char *name, struct nnvts_device **out) {
    Dl_info here;
    char path[4096];
    const char *error = NULL;
    if (!dladdr((void *)(uintptr_t)nnvts_driver_get, &here) || !here.dli_fname) return "it can't find its own file";
    const char *slash = strrchr(here.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - here.dli_fname) : 0;
    int n = snprintf(path, sizeof path, "%.*s%s.so", folder, here.dli_fname, name);
    void *handle = n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!handle) return "the driver to plant the bug in can't be loaded from this one's folder";
    nnvts_driver_get_fn get = NULL;
    void *symbol = dlsym(handle, NNVTS_DRIVER_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    const struct nnvts_driver *driver = get ? get() : NULL;
    if (!driver || driver->abi_version != NNVTS_DRIVER_ABI_VERSION) return "what over= names is no driver of this ABI";
    if (driver->open(NULL, out, &error) == NNVTS_STATUS_NONE) return NULL;
    return error ? error : "the driver to plant the bug in refused to open";
}

static enum nnvts_status open_device(const char *options, struct nnvts_device **out, const char **error) {
    struct option option;
    struct nnvts_device *inner = NULL;
    const char *reason = read_option(options, &option);
    if (!reason) reason = open_inner(option.over, &inner);
    if (reason) {
        *error = reason;
        return NNVTS_STATUS_INVALID_ARGUMENT;
    }
    struct faulty_device *d = calloc(1, sizeof *d);
    if (!d) {
        inner->release(inner);
        return NNVTS_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    d->base = *inner;
    d->inner = inner;
    d->bug = option.bug;
    d->op = option.op;
    snprintf(d->name, sizeof d->name, "nnvts-faulty-%s", option.bug->name);
    d->base.struct_size = sizeof d->base;
    d->base.name = d->name;
    faulty_device_calls(d);
    if (d->bug->device) d->bug->device(&d->base);
    *out = &d->base;
    return NNVTS_STATUS_NONE;
}

const struct nnvts_driver *nnvts_driver_get(void) {
    enum { NAMES = 512 };
    static const char *names[NAMES];
    static struct nnvts_driver driver = {.struct_size = sizeof driver,
                                         .abi_version = NNVTS_DRIVER_ABI_VERSION,
                                         .name = "faulty",
                                         .open = open_device,
                                         .options = names};
    const struct bug *bug;
    for (size_t i = 0; i + 1 < NAMES && (bug = bug_at(i)); i++) names[i] = bug->name;
    return &driver;
}
