/* SPDX-License-Identifier: Apache-2.0 */
/** @file device_find.c The drivers that the environment or a file names. */
#include <dlfcn.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/driver.h"
#include "base/file.h"
#include "reference/runtime/device.h"
#include "reference/runtime/log.h"

enum { FILE_LIMIT = 1 << 20, MOST_DRIVERS = 256 };

/* The drivers opened so far. */
struct found {
    struct nnv_arena *arena;
    struct nnvts_device **devices;
    size_t count;
};

static void complain(const struct nnv_err *err) { nnv_rt_error(0, "NNVTS_DRIVERS", "%s", err->text); }

static void open_one(struct found *f, const char *argument) {
    const char *path, *options;
    struct nnv_driver opened = {0};
    struct nnv_err err = {0};
    enum nnv_status st = NNV_OK;
    if (f->count == MOST_DRIVERS) st = nnv_fail(&err, NNV_INVALID, "more than %d drivers", MOST_DRIVERS);
    if (!st) st = nnv_driver_resolve(argument, f->arena, &path, &options, &err);
    if (!st) st = nnv_driver_open(&opened, path, options, &err);
    if (!st) {
        f->devices[f->count++] = opened.device;
        return;
    }
    complain(&err);
    if (opened.handle) dlclose(opened.handle);
}

/* "cpu,host:cpu" */
static void open_listed(struct found *f, const char *list) {
    while (*list) {
        size_t n = strcspn(list, ",");
        char *argument = nnv_arena_printf(f->arena, "%.*s", (int)n, list);
        if (argument && n) open_one(f, argument);
        list += n + (list[n] == ',');
    }
}

/* An entry of a file: as on the command line, but a relative path begins at the file's folder. */
static void open_entry(struct found *f, const char *entry, const char *file) {
    const char *slash = strrchr(file, '/');
    bool relative = strcspn(entry, "/") < strcspn(entry, ":") && entry[0] != '/' && slash;
    const char *argument = relative ? nnv_arena_printf(f->arena, "%.*s/%s", (int)(slash - file), file, entry) : entry;
    if (argument) open_one(f, argument);
}

static enum nnv_status open_file(struct found *f, const char *file, struct nnv_err *err) {
    char *text;
    size_t size;
    enum nnv_status st = nnv_file_read(file, FILE_LIMIT, &text, &size, err);
    if (st) return st;
    json_error_t e;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &e);
    json_t *drivers = json_object_get(root, "drivers"), *entry;
    size_t i;
    if (!root)
        st = nnv_fail(err, NNV_INVALID, "%s:%d: %s", file, e.line, e.text);
    else if (!json_is_array(drivers))
        st = nnv_fail(err, NNV_INVALID, "%s: expected {\"drivers\": [\"cpu\", ...]}", file);
    json_array_foreach(drivers, i, entry) {
        if (json_is_string(entry))
            open_entry(f, json_string_value(entry), file);
        else if (!st)
            st = nnv_fail(err, NNV_INVALID, "%s: entry %zu of \"drivers\" is no string", file, i);
    }
    json_decref(root);
    free(text);
    return st;
}

static enum nnv_status open_default(struct found *f, struct nnv_err *err) {
    const char *path = NULL;
    enum nnv_status st = nnv_driver_file("drivers.json", f->arena, &path, err);
    if (!st && path) return open_file(f, path, err);
    if (!st) st = nnv_driver_file("cpu.so", f->arena, &path, err);
    if (!st && path) open_one(f, "cpu");
    return st;
}

size_t nnv_rt_find_drivers(struct nnvts_device ***drivers) {
    struct found f = {.arena = nnv_arena_new(), .devices = calloc(MOST_DRIVERS, sizeof(struct nnvts_device *))};
    *drivers = f.devices;
    if (f.arena && f.devices) {
        const char *env = getenv("NNVTS_DRIVERS");
        struct nnv_err err = {0};
        enum nnv_status st = NNV_OK;
        if (!env)
            st = open_default(&f, &err);
        else if (nnv_ends_with(env, ".json"))
            st = open_file(&f, env, &err);
        else
            open_listed(&f, env);
        if (st) complain(&err);
    }
    nnv_arena_free(f.arena);
    return f.count;
}
