/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/cli/cli.h"

enum { SETTINGS_MOST = 1 << 20, NAME_MOST = 64 };

static const char FOUND_HERE[] = ".nnvts";

const char *nnv_settings_path(void) {
    static char path[4096];
    const char *named = getenv("NNVTS_CONFIG"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (named) return *named ? named : NULL;
    if (access(FOUND_HERE, F_OK) == 0) return FOUND_HERE;
    int n = -1;
    if (config && *config)
        n = snprintf(path, sizeof path, "%s/nnvts/config", config);
    else if (home && *home)
        n = snprintf(path, sizeof path, "%s/.config/nnvts/config", home);
    return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0 ? path : NULL;
}

static char *trim(char *s) {
    s += strspn(s, " \t\r");
    size_t n = strlen(s);
    while (n > 0 && strchr(" \t\r", s[n - 1])) s[--n] = '\0';
    return s;
}

/** A "#" at the beginning or behind a blank begins a comment. */
static void cut_comment(char *s) {
    for (char *p = s; *p; p++)
        if (*p == '#' && (p == s || p[-1] == ' ' || p[-1] == '\t')) {
            *p = '\0';
            return;
        }
}

static const struct nnv_opt *option_of(const struct nnv_opt *table, const char *name) {
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0) return table;
    return NULL;
}

static enum nnv_status wrong(const struct nnv_setting *l, const char *what, const char *which, struct nnv_err *err) {
    return nnv_fail(err, NNV_INVALID, "%s:%zu: %s '%s'", l->path, l->number, what, which);
}

/** A file that lies in the working folder may be anybody's: whoever unpacks or clones it has not read it. */
static enum nnv_status check_owner(const char *path, struct nnv_err *err) {
    struct stat st;
    if (path != FOUND_HERE) return NNV_OK;
    if (stat(path, &st) != 0) return nnv_fail(err, NNV_INVALID, "%s: %s", path, strerror(errno));
    if ((st.st_uid == geteuid() || st.st_uid == 0) && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0) return NNV_OK;
    return nnv_fail(
        err, NNV_INVALID,
        "./%s belongs to another user, or others may write it (NNVTS_CONFIG=./%s uses it, NNVTS_CONFIG= not)", path,
        path);
}

/** Whether this setting makes nnvts execute a file that whoever wrote the settings may have put there. */
static bool executes(const struct nnv_opt *o, const char *value) {
    return o->kind == NNV_OPT_COMMAND || (o->kind == NNV_OPT_CODE && strchr(value, '/') != NULL);
}

/** Puts it into the table's value. */
static enum nnv_status apply(const struct nnv_setting *l, const struct nnv_opt *table, struct nnv_err *err) {
    char argument[NAME_MOST + 4096];
    const char *name = l->name, *value = l->value;
    const struct nnv_opt *o = option_of(table, name);
    if (!o) return strcmp(l->section, "*") == 0 ? NNV_OK : wrong(l, "no option", name, err);
    if (o->kind == NNV_OPT_FLAG) {
        if (value && strcmp(value, "false") == 0) return NNV_OK;
        if (value && strcmp(value, "true") != 0) return wrong(l, "expected true or false, not", value, err);
        *(bool *)o->value = true;
        return NNV_OK;
    }
    if (!value) return wrong(l, "no value for", name, err);
    if (l->path == FOUND_HERE && executes(o, value))
        return nnv_fail(err, NNV_INVALID, "%s:%zu: '%s' would execute '%s': say that you trust it by NNVTS_CONFIG=./%s",
                        l->path, l->number, name, value, l->path);
    const int n = snprintf(argument, sizeof argument, "--%s=%s", name, value);
    if (n < 0 || (size_t)n >= sizeof argument) return wrong(l, "too long a value for", name, err);
    char *kept = strdup(argument); /* the option may borrow it */
    if (!kept) return nnv_no_memory(err);
    static struct nnv_opt_list none;
    bool help;
    char verb[] = "settings";
    struct nnv_err inner = {0};
    const bool borrowed = o->kind != NNV_OPT_U64 && o->kind != NNV_OPT_SECONDS && o->kind != NNV_OPT_CHOICE;
    const enum nnv_status s = nnv_opts_parse(table, 2, (char *[]){verb, kept, NULL}, &none, &help, &inner);
    if (!borrowed || s != NNV_OK) free(kept);
    if (s != NNV_OK) return nnv_fail(err, s, "%s:%zu: %s", l->path, l->number, inner.text);
    return NNV_OK;
}

/** All lines of the file, which data holds. */
static enum nnv_status each(const char *path, char *data, nnv_setting_reader *read, void *context,
                            struct nnv_err *err) {
    char section[NAME_MOST] = "";
    struct nnv_setting l = {.path = path, .section = section};
    enum nnv_status s = NNV_OK;
    for (char *at = data; at && s == NNV_OK;) {
        char *end = strchr(at, '\n');
        if (end) *end = '\0';
        l.number++;
        cut_comment(at);
        char *text = trim(at), *equals;
        at = end ? end + 1 : NULL;
        const size_t n = strlen(text);
        if (n == 0) continue;
        l.name = l.value = NULL;
        if (*text == '[') {
            if (text[n - 1] != ']' || n < 3 || n - 2 >= sizeof section)
                return wrong(&l, "expected a section such as [run], not", text, err);
            snprintf(section, sizeof section, "%.*s", (int)n - 2, text + 1);
        } else if (!*section) {
            return wrong(&l, "a section such as [run] must come before", text, err);
        } else if ((equals = strchr(text, '=')) != NULL) {
            *equals = '\0';
            l.value = trim(equals + 1);
            l.name = trim(text);
        } else {
            l.name = text;
        }
        s = read(context, &l, err);
    }
    return s;
}

enum nnv_status nnv_settings_read(const char *path, nnv_setting_reader *read, void *context, struct nnv_err *err) {
    char *data;
    size_t size;
    enum nnv_status s = nnv_file_read(path, SETTINGS_MOST, &data, &size, err);
    if (s != NNV_OK) return s;
    if (strlen(data) != size)
        s = nnv_fail(err, NNV_INVALID, "%s: a zero byte: not a configuration file", path);
    else
        s = each(path, data, read, context, err);
    free(data);
    return s;
}

/** A verb's options. */
struct options {
    const char *verb;
    const struct nnv_opt *table;
};

static enum nnv_status apply_to_verb(void *context, const struct nnv_setting *l, struct nnv_err *err) {
    const struct options *o = context;
    const bool all = strcmp(l->section, "*") == 0;
    if (!l->name) return all || nnv_verb_by_name(l->section) ? NNV_OK : wrong(l, "no verb", l->section, err);
    return all || strcmp(l->section, o->verb) == 0 ? apply(l, o->table, err) : NNV_OK;
}

enum nnv_status nnv_settings_apply(const char *verb, const struct nnv_opt *table, struct nnv_err *err) {
    const char *path = nnv_settings_path();
    if (!path) return NNV_OK;
    const enum nnv_status s = check_owner(path, err);
    return s == NNV_OK ? nnv_settings_read(path, apply_to_verb, &(struct options){verb, table}, err) : s;
}
