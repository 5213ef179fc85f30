/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "harness/cli/settings.h"
#include "reports/compare/columns.h"

enum { SETTINGS_MOST = 64, COLUMN_NAME_MOST = 40 };

struct column {
    const char *name, *folder;
    const char *option[SETTINGS_MOST];   /* "tier" */
    const char *argument[SETTINGS_MOST]; /* "--tier=smoke" */
    const char *variable[SETTINGS_MOST]; /* "OMP_NUM_THREADS", its value in value */
    const char *value[SETTINGS_MOST];
    int arguments, variables;
    const char *settings; /* all of these, as they stand in the file */
};

struct matrix {
    struct nnv_cli *c;
    struct column *column;
    size_t columns, room;
};

/* --------------------------------------------------------------------- the file */

static enum nnv_status refuse(const struct nnv_setting *s, const char *what, struct nnv_err *err) {
    return nnv_fail(err, NNV_INVALID, "%s:%zu: %s", s->path, s->number, what);
}

static enum nnv_status begin_column(struct matrix *m, const struct nnv_setting *s, struct nnv_err *err) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const size_t n = strlen(s->section);
    if (n > COLUMN_NAME_MOST || strspn(s->section, letters) != n)
        return refuse(s, "a column is named by letters, digits, _ and -, at most 40", err);
    for (size_t i = 0; i < m->columns; i++)
        if (strcmp(m->column[i].name, s->section) == 0) return refuse(s, "a column of this name was there", err);
    if (m->columns == NNV_COLUMNS_MOST) return refuse(s, "too many columns", err);
    if (!nnv_grow(m->c->arena, &m->column, m->columns, &m->room, sizeof *m->column)) return nnv_no_memory(err);
    struct column *column = &m->column[m->columns++];
    *column = (struct column){.name = nnv_arena_strdup(m->c->arena, s->section),
                              .settings = "",
                              .folder = nnv_arena_printf(m->c->arena, "%s/%s", m->c->out, s->section)};
    return column->name && column->folder ? NNV_OK : nnv_no_memory(err);
}

static enum nnv_status take_setting(void *context, const struct nnv_setting *s, struct nnv_err *err) {
    static const char *const own[] = {"matrix", "out", "resume", "json", "format"};
    struct matrix *m = context;
    if (!s->name) return begin_column(m, s, err);
    struct column *column = &m->column[m->columns - 1];
    column->settings = nnv_arena_printf(m->c->arena, "%s%s%s%s%s", column->settings, *column->settings ? ", " : "",
                                        s->name, s->value ? "=" : "", s->value ? s->value : "");
    if (!column->settings) return nnv_no_memory(err);
    if (column->arguments == SETTINGS_MOST || column->variables == SETTINGS_MOST)
        return refuse(s, "too many settings", err);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(s->name, own[i]) == 0) return refuse(s, "this option is that of all columns", err);
    if (strncmp(s->name, "env.", 4) == 0) {
        if (!s->value || !s->name[4]) return refuse(s, "expected env.NAME = value", err);
        column->variable[column->variables] = nnv_arena_strdup(m->c->arena, s->name + 4);
        column->value[column->variables] = nnv_arena_strdup(m->c->arena, s->value);
        const bool kept = column->variable[column->variables] && column->value[column->variables];
        column->variables++;
        return kept ? NNV_OK : nnv_no_memory(err);
    }
    const bool flag = !s->value || strcmp(s->value, "true") == 0;
    const char *argument = flag ? nnv_arena_printf(m->c->arena, "--%s", s->name)
                                : nnv_arena_printf(m->c->arena, "--%s=%s", s->name, s->value);
    column->option[column->arguments] = nnv_arena_strdup(m->c->arena, s->name);
    column->argument[column->arguments] = argument;
    const bool kept = argument && column->option[column->arguments++];
    return kept ? NNV_OK : nnv_no_memory(err);
}

/* -------------------------------------------------------------------- the columns */

/** The option that an argument gives; NULL: it is none. *more: its value is the next argument. */
static const struct nnv_opt *option_of(const struct nnv_opt *table, const char *argument, bool *more) {
    const bool longer = argument[0] == '-' && argument[1] == '-';
    const char *name = argument + 2;
    const size_t n = strcspn(name, "=");
    if (argument[0] != '-') return NULL;
    for (; table->name; table++) {
        const bool is = longer ? strlen(table->name) == n && strncmp(table->name, name, n) == 0
                               : table->short_name != 0 && table->short_name == argument[1];
        *more = table->kind != NNV_OPT_FLAG && (longer ? name[n] == '\0' : argument[2] == '\0');
        if (is) return table;
    }
    return NULL;
}

/** Whether an option of the run's command line is not the column's. */
static bool is_replaced(const struct column *column, const char *name) {
    static const char *const own[] = {"matrix", "out", "json", "quiet"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0) return true;
    for (int i = 0; i < column->arguments; i++)
        if (strcmp(name, column->option[i]) == 0) return true;
    return false;
}

/** The command line of a column: the run's, but for what the column has itself, and its own. */
static char **command_line(const struct nnv_cli *c, const struct column *column, int *argc) {
    char **argv = NNV_NEW(c->arena, char *, (size_t)c->argc + SETTINGS_MOST + 5);
    int n = 0;
    for (int i = 0; argv && i < c->argc; i++) {
        bool more = false;
        const struct nnv_opt *o = i > 0 ? option_of(c->table, c->argv[i], &more) : NULL;
        if (!o || !is_replaced(column, o->name))
            argv[n++] = c->argv[i];
        else if (more)
            i++;
    }
    for (int i = 0; argv && i < column->arguments; i++) argv[n++] = (char *)(uintptr_t)column->argument[i];
    char *out = nnv_arena_printf(c->arena, "--out=%s", column->folder);
    char *quiet = nnv_arena_strdup(c->arena, "--quiet"), *one = nnv_arena_strdup(c->arena, "--matrix=");
    if (!argv || !out || !quiet || !one) return NULL;
    argv[n++] = out;
    argv[n++] = one; /* also where the configuration has a matrix */
    if (!c->verbose) argv[n++] = quiet;
    *argc = n;
    return argv;
}

/** In the new process. */
static _Noreturn void become(const struct nnv_cli *c, const struct column *column, int argc, char **argv) {
    for (int i = 0; i < column->variables; i++) setenv(column->variable[i], column->value[i], 1);
    const int nowhere = c->json ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    const int code = nnv_verb_by_name(argv[0])->run(argc, argv);
    fflush(stdout);
    _exit(code);
}

/** Runs the column; *code is its exit code. */
static enum nnv_status run_column(const struct nnv_cli *c, const struct column *column, int *code,
                                  struct nnv_err *err) {
    int argc, status;
    char **argv = command_line(c, column, &argc);
    if (!argv) return nnv_no_memory(err);
    if (!c->json) printf("== %s\n", column->name);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid < 0) return nnv_fail(err, NNV_IO, "no process for column %s: %s", column->name, strerror(errno));
    if (pid == 0) become(c, column, argc, argv);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return nnv_fail(err, NNV_IO, "column %s: %s", column->name, strerror(errno));
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : NNVTS_EXIT_ERROR;
    return NNV_OK;
}

static enum nnv_status show(const struct matrix *m, struct nnv_err *err) {
    struct nnv_matrix_column columns[NNV_COLUMNS_MOST];
    json_t *j = NULL;
    struct nnv_text words = {0}, text = {0}, page = {0};
    for (size_t i = 0; i < m->columns; i++)
        columns[i] = (struct nnv_matrix_column){m->column[i].name, m->column[i].folder, m->column[i].settings};
    enum nnv_status st = nnv_columns(columns, m->columns, &j, err);
    if (st != NNV_OK) return st;
    char *dump = json_dumps(j, JSON_INDENT(1));
    nnv_text_addf(&text, "%s\n", dump ? dump : "");
    text.failed = text.failed || !dump;
    free(dump);
    nnv_columns_html(j, &page);
    st = nnv_file_write_text(m->c->out, "matrix.json", &text, err);
    if (st == NNV_OK) st = nnv_file_write_text(m->c->out, "matrix.html", &page, err);
    nnv_text_free(&page);
    if (m->c->json) {
        if (st == NNV_OK) st = nnv_cli_print(&text, err);
    } else {
        nnv_columns_print(j, &words);
        nnv_text_addf(&words, "%s/matrix.html\n", m->c->out);
        nnv_text_free(&text);
        if (st == NNV_OK) st = nnv_cli_print(&words, err);
    }
    json_decref(j);
    return st;
}

enum nnv_status nnv_cli_matrix(struct nnv_cli *c, const char *file, struct nnv_err *err) {
    struct matrix m = {.c = c};
    enum nnv_status st = nnv_settings_read(file, take_setting, &m, err);
    if (st == NNV_OK && m.columns < 2) st = nnv_fail(err, NNV_INVALID, "%s: a matrix has two columns or more", file);
    if (st == NNV_OK) st = nnv_folder_make(c->out, err);
    for (size_t i = 0; i < m.columns && st == NNV_OK; i++) {
        int code;
        st = run_column(c, &m.column[i], &code, err);
        if (st != NNV_OK) return st;
        if (code > c->code) c->code = code;
        if (code > NNVTS_EXIT_FAIL) return NNV_OK; /* it has said why */
    }
    return st == NNV_OK ? show(&m, err) : st;
}
