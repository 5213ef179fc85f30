/* SPDX-License-Identifier: Apache-2.0 */
#include "base/opts.h"

#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"

enum { HELP_COLUMN = 30, NAME_MAX_CHARS = 48 };

/* What is being parsed: where in argv, and the option as the user wrote it. */
struct cursor {
    int argc, at;
    char **argv;
    struct nnv_err *err;
    char shown[NAME_MAX_CHARS + 4];      /* "--jobs" or "-j" */
    const void *given[NNV_OPT_LIST_MAX]; /* the values of options that name something, and are given */
    int ngiven;
};

/* ------------------------------------------------------- the nearest name */

static enum nnv_status unknown_option(const struct nnv_opt *table, const char *name, struct cursor *c) {
    struct nnv_nearest near = nnv_nearest_to(name);
    for (const struct nnv_opt *o = table; o->name; o++) nnv_nearest_see(&near, o->name);
    if (near.best) return nnv_fail(c->err, NNV_INVALID, "unknown option %s (did you mean --%s?)", c->shown, near.best);
    return nnv_fail(c->err, NNV_INVALID, "unknown option %s (--help lists the options)", c->shown);
}

/* ------------------------------------------------------------------- values */

/* Decimal digits at *s into *v, at least one; false on overflow or none. Moves *s behind them. */
static bool read_digits(const char **s, unsigned base, uint64_t *v) {
    const char *start = *s;
    *v = 0;
    for (;; (*s)++) {
        char ch = **s;
        unsigned d = ch >= '0' && ch <= '9'   ? (unsigned)(ch - '0')
                     : ch >= 'a' && ch <= 'f' ? (unsigned)(ch - 'a') + 10
                     : ch >= 'A' && ch <= 'F' ? (unsigned)(ch - 'A') + 10
                                              : 16;
        if (d >= base) return *s > start;
        if (__builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, d, v)) return false;
    }
}

static enum nnv_status set_u64(uint64_t *value, const char *text, struct cursor *c) {
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *s = hex ? text + 2 : text;
    uint64_t v;
    if (!read_digits(&s, hex ? 16 : 10, &v) || *s)
        return nnv_fail(c->err, NNV_INVALID,
                        "%s: '%s' is not a whole number from 0 to 18446744073709551615 "
                        "(decimal, or hexadecimal with 0x)",
                        c->shown, text);
    *value = v;
    return NNV_OK;
}

static enum nnv_status set_seconds(uint64_t *value, const char *text, struct cursor *c) {
    const char *s = text;
    uint64_t whole = 0, fraction = 0;
    bool good = *s == '.' || read_digits(&s, 10, &whole);
    if (good && *s == '.') {
        s++;
        good = *s >= '0' && *s <= '9';
        for (uint64_t unit = 100000000; *s >= '0' && *s <= '9'; s++, unit /= 10)
            fraction += (uint64_t)(*s - '0') * unit;
    }
    if (!good || *s || __builtin_mul_overflow(whole, 1000000000u, &whole) ||
        __builtin_add_overflow(whole, fraction, &whole))
        return nnv_fail(c->err, NNV_INVALID, "%s: '%s' is not a time in seconds (for example 2 or 0.5)", c->shown,
                        text);
    *value = whole;
    return NNV_OK;
}

static enum nnv_status set_choice(const struct nnv_opt *o, const char *text, struct cursor *c) {
    struct nnv_text all = {0};
    struct nnv_nearest near = nnv_nearest_to(text);
    for (int i = 0; o->choices[i]; i++) {
        if (strcmp(o->choices[i], text) == 0) {
            *(int *)o->value = i;
            nnv_text_free(&all);
            return NNV_OK;
        }
        nnv_nearest_see(&near, o->choices[i]);
        nnv_text_addf(&all, "%s%s", i ? ", " : "", o->choices[i]);
    }
    enum nnv_status status =
        nnv_fail(c->err, NNV_INVALID, "%s: '%s' is none of %s%s%s%s", c->shown, text,
                 all.failed ? "its choices"
                 : all.data ? all.data
                            : "its choices",
                 near.best ? " (did you mean " : "", near.best ? near.best : "", near.best ? "?)" : "");
    nnv_text_free(&all);
    return status;
}

static enum nnv_status add_item(struct nnv_opt_list *list, const char *text, const char *what, struct nnv_err *err) {
    if (list->count >= NNV_OPT_LIST_MAX)
        return nnv_fail(err, NNV_INVALID, "%s: more than %d values", what, NNV_OPT_LIST_MAX);
    list->item[list->count++] = text;
    return NNV_OK;
}

/* Of two drivers, suites or folders the last would silently win. */
static enum nnv_status set_string(const char **value, const char *text, struct cursor *c) {
    for (int i = 0; i < c->ngiven; i++)
        if (c->given[i] == value && strcmp(*value, text) != 0)
            return nnv_fail(c->err, NNV_INVALID, "%s is given twice, as '%s' and '%s': once, please", c->shown, *value,
                            text);
    if (c->ngiven < NNV_OPT_LIST_MAX) c->given[c->ngiven++] = value;
    *value = text;
    return NNV_OK;
}

/* What is found out before the work is not lost after it. */
static enum nnv_status set_output(const struct nnv_opt *o, const char *text, struct cursor *c) {
    const bool folder = o->kind == NNV_OPT_OUT_DIR, is_stdout = !folder && nnv_file_is_stdout(text);
    enum nnv_status status = set_string(o->value, is_stdout ? NNV_FILE_STDOUT : text, c);
    if (status == NNV_OK && (!*text || (is_stdout && o->kind == NNV_OPT_KEPT)))
        status = nnv_fail(c->err, NNV_INVALID, "%s '%s': expected a %s", c->shown, text, folder ? "folder" : "file");
    return status == NNV_OK ? nnv_file_try(*(const char **)o->value, folder, c->err) : status;
}

static enum nnv_status set_value(const struct nnv_opt *o, const char *text, struct cursor *c) {
    switch (o->kind) {
    case NNV_OPT_FLAG:
        *(bool *)o->value = true;
        return NNV_OK;
    case NNV_OPT_STRING:
    case NNV_OPT_COMMAND:
    case NNV_OPT_CODE:
        return set_string(o->value, text, c);
    case NNV_OPT_U64:
        return set_u64(o->value, text, c);
    case NNV_OPT_SECONDS:
        return set_seconds(o->value, text, c);
    case NNV_OPT_CHOICE:
        return set_choice(o, text, c);
    case NNV_OPT_LIST:
        return add_item(o->value, text, c->shown, c->err);
    case NNV_OPT_OUT:
    case NNV_OPT_KEPT:
    case NNV_OPT_OUT_DIR:
        return set_output(o, text, c);
    }
    return nnv_fail(c->err, NNV_INTERNAL, "%s: unknown kind of option", c->shown);
}

/* ------------------------------------------------------------------ parsing */

/* Sets o from what is attached to it, or else from the next argument. */
static enum nnv_status take_value(const struct nnv_opt *o, const char *attached, struct cursor *c) {
    if (attached) return set_value(o, attached, c);
    if (c->at + 1 >= c->argc)
        return nnv_fail(c->err, NNV_INVALID, "%s needs a value: %s %s", c->shown, c->shown, o->arg ? o->arg : "VALUE");
    return set_value(o, c->argv[++c->at], c);
}

static enum nnv_status parse_long(const struct nnv_opt *table, const char *arg, struct cursor *c) {
    const char *name = arg + 2, *equals = strchr(name, '=');
    size_t n = equals ? (size_t)(equals - name) : strlen(name);
    snprintf(c->shown, sizeof c->shown, "%.*s", (int)(n < NAME_MAX_CHARS ? n + 2 : NAME_MAX_CHARS), arg);
    for (const struct nnv_opt *o = table; o->name; o++) {
        if (strlen(o->name) != n || strncmp(o->name, name, n) != 0) continue;
        if (o->kind != NNV_OPT_FLAG) return take_value(o, equals ? equals + 1 : NULL, c);
        if (equals) return nnv_fail(c->err, NNV_INVALID, "%s takes no value (leave out '%s')", c->shown, equals);
        return set_value(o, NULL, c);
    }
    return unknown_option(table, c->shown + 2, c);
}

/* One argument of short options: flags may be joined, the last may have its value attached. */
static enum nnv_status parse_short(const struct nnv_opt *table, const char *arg, struct cursor *c) {
    for (const char *p = arg + 1; *p; p++) {
        snprintf(c->shown, sizeof c->shown, "-%c", *p);
        const struct nnv_opt *o = table;
        while (o->name && o->short_name != *p) o++;
        if (!o->name) return nnv_fail(c->err, NNV_INVALID, "unknown option %s (--help lists the options)", c->shown);
        if (o->kind != NNV_OPT_FLAG) return take_value(o, p[1] ? p + 1 : NULL, c);
        enum nnv_status status = set_value(o, NULL, c);
        if (status != NNV_OK) return status;
    }
    return NNV_OK;
}

/* Help wins over any mistake beside it. */
static bool asks_for_help(const struct nnv_opt *table, int argc, char **argv) {
    bool h_is_free = true;
    for (const struct nnv_opt *o = table; o->name; o++) h_is_free = h_is_free && o->short_name != 'h';
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || (h_is_free && strcmp(argv[i], "-h") == 0)) return true;
    return false;
}

enum nnv_status nnv_opts_parse(const struct nnv_opt *table, int argc, char **argv, struct nnv_opt_list *positional,
                               bool *help, struct nnv_err *err) {
    struct cursor c = {.argc = argc, .argv = argv, .err = err};
    *help = asks_for_help(table, argc, argv);
    if (*help) return NNV_OK;
    bool ended = false;
    for (c.at = 1; c.at < argc; c.at++) {
        const char *arg = argv[c.at];
        enum nnv_status status = NNV_OK;
        if (ended || arg[0] != '-' || !arg[1])
            status = add_item(positional, arg, "arguments", err);
        else if (strcmp(arg, "--") == 0)
            ended = true;
        else if (arg[1] == '-')
            status = parse_long(table, arg, &c);
        else
            status = parse_short(table, arg, &c);
        if (status != NNV_OK) return status;
    }
    return NNV_OK;
}

/* --------------------------------------------------------------------- help */

static void add_default(struct nnv_text *t, const struct nnv_opt *o) {
    switch (o->kind) {
    case NNV_OPT_FLAG:
    case NNV_OPT_LIST:
        return;
    case NNV_OPT_STRING:
    case NNV_OPT_COMMAND:
    case NNV_OPT_CODE:
    case NNV_OPT_OUT:
    case NNV_OPT_KEPT:
    case NNV_OPT_OUT_DIR:
        if (*(const char *const *)o->value) nnv_text_addf(t, " [%s]", *(const char *const *)o->value);
        return;
    case NNV_OPT_U64:
        if (*(const uint64_t *)o->value) nnv_text_addf(t, " [%llu]", (unsigned long long)*(const uint64_t *)o->value);
        return;
    case NNV_OPT_SECONDS:
        if (*(const uint64_t *)o->value) nnv_text_addf(t, " [%g]", (double)*(const uint64_t *)o->value / 1e9);
        return;
    case NNV_OPT_CHOICE:
        for (int i = 0; o->choices[i]; i++) nnv_text_addf(t, "%s%s", i ? ", " : ": ", o->choices[i]);
        if (*(const int *)o->value >= 0) nnv_text_addf(t, " [%s]", o->choices[*(const int *)o->value]);
        return;
    }
}

/* "  -j, --jobs N", the help from one column on, the default in brackets. */
static void add_row(struct nnv_text *t, const struct nnv_opt *o) {
    size_t start = t->len;
    if (o->short_name)
        nnv_text_addf(t, "  -%c, --%s", o->short_name, o->name);
    else
        nnv_text_addf(t, "      --%s", o->name);
    if (o->kind != NNV_OPT_FLAG) nnv_text_addf(t, " %s", o->arg ? o->arg : "VALUE");
    size_t width = t->len - start;
    if (width + 2 > HELP_COLUMN) {
        nnv_text_add(t, "\n");
        width = 0;
    }
    nnv_text_addf(t, "%*s%s", (int)(HELP_COLUMN - width), "", o->help ? o->help : "");
    if (o->value) add_default(t, o);
    nnv_text_add(t, "\n");
}

/* Each line of lines, indented by two. */
static void add_lines(struct nnv_text *t, const char *lines) {
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        nnv_text_addf(t, "%s%.*s\n", n ? "  " : "", (int)n, lines);
        lines += n + (lines[n] == '\n');
    }
}

/* A paragraph, folded between words. */
static void add_folded(struct nnv_text *t, const char *s) {
    const size_t width = 80;
    size_t column = 0;
    while (*s) {
        size_t n = strcspn(s, " ");
        if (column > 0 && column + 1 + n > width) {
            nnv_text_add(t, "\n");
            column = 0;
        }
        if (column > 0) nnv_text_add(t, " ");
        nnv_text_add_n(t, s, n);
        column += n + (column > 0);
        s += n;
        s += strspn(s, " ");
    }
    nnv_text_add(t, "\n");
}

void nnv_opts_help(FILE *to, const struct nnv_verb_help *verb, const struct nnv_opt *table) {
    static const struct nnv_opt help = {'h', "help", NNV_OPT_FLAG, NULL, NULL, "this text", NULL};
    struct nnv_text t = {0};
    nnv_text_addf(&t, "usage: %s\n", verb->usage);
    if (verb->summary) {
        nnv_text_add(&t, "\n");
        add_folded(&t, verb->summary);
    }
    nnv_text_add(&t, "\noptions:\n");
    bool listed = false;
    struct nnv_opt own_help = help;
    for (const struct nnv_opt *o = table; o->name; o++) {
        add_row(&t, o);
        listed = listed || strcmp(o->name, "help") == 0;
        if (o->short_name == 'h') own_help.short_name = 0;
    }
    if (!listed) add_row(&t, &own_help);
    if (verb->examples) {
        nnv_text_add(&t, "\nexamples:\n");
        add_lines(&t, verb->examples);
    }
    if (t.data) fwrite(t.data, 1, t.len, to);
    nnv_text_free(&t);
}
