/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/command.h"

#include <inttypes.h>
#include <string.h>

#include "harness/journal/select.h"

static const char replay_verb[] = "nnvts replay ";

/** Adds a word of a command line, quoted for a shell where needed. */
static void add_quoted(struct nnv_text *out, const char *s) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^~";
    if (*s != '\0' && s[strspn(s, plain)] == '\0') {
        nnv_text_add(out, s);
        return;
    }
    nnv_text_add(out, "'");
    for (; *s != '\0'; s++)
        if (*s == '\'')
            nnv_text_add(out, "'\\''");
        else
            nnv_text_add_n(out, s, 1);
    nnv_text_add(out, "'");
}

static void add_option(struct nnv_text *out, const char *option, const char *value) {
    nnv_text_addf(out, " %s ", option);
    add_quoted(out, value);
}

void nnv_command_replay(const char *driver, const char *dump, struct nnv_text *out) {
    nnv_text_add(out, replay_verb);
    add_quoted(out, dump);
    add_option(out, "--driver", driver);
}

/** Behind the first word of a shell command. */
static const char *skip_word(const char *s) {
    bool quoted = false;
    for (; *s != '\0' && (quoted || *s != ' '); s++) {
        if (*s == '\\' && !quoted && s[1] != '\0')
            s++;
        else if (*s == '\'')
            quoted = !quoted;
    }
    return s;
}

void nnv_command_retarget(const char *command, const char *dump, struct nnv_text *out) {
    const size_t n = strlen(replay_verb);
    if (strncmp(command, replay_verb, n) != 0) {
        nnv_text_add(out, command);
        return;
    }
    nnv_text_add(out, replay_verb);
    add_quoted(out, dump);
    nnv_text_add(out, skip_word(command + n));
}

/** True if a case before the i-th is of its suite. */
static bool is_named(const struct nnv_case *const *cases, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (strcmp(cases[k]->suite, cases[i]->suite) == 0) return true;
    return false;
}

void nnv_command_run(const struct nnv_run_facts *facts, const struct nnv_case *const *cases, size_t count,
                     struct nnv_text *out) {
    struct nnv_text filter = {0}, suites = {0};
    bool specs = false;
    nnv_text_add(out, "nnvts run");
    add_option(out, "--driver", facts->driver);
    if (strcmp(facts->precision, "default") != 0) add_option(out, "--precision", facts->precision);
    if (*facts->arithmetic && strcmp(facts->arithmetic, "strict") != 0)
        add_option(out, "--arithmetic", facts->arithmetic);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) nnv_text_add(&filter, " | ");
        nnv_select_exactly(cases[i]->name, &filter);
        specs = specs || strcmp(cases[i]->suite, "spec") == 0;
        if (!is_named(cases, i)) nnv_text_addf(&suites, "%s%s", suites.len > 0 ? "," : "", cases[i]->suite);
    }
    add_option(out, "--suite", suites.data != NULL ? suites.data : "");
    add_option(out, "--filter", filter.data != NULL ? filter.data : "");
    if (facts->specs != NULL && specs) add_option(out, "--specs", facts->specs);
    nnv_text_addf(out, " --seed %" PRIu64 " --tier %s", facts->seed, facts->tier);
    if (facts->count > 0) nnv_text_addf(out, " --count %" PRIu64, facts->count);
    if (facts->determinism) nnv_text_add(out, " --determinism");
    if (facts->compile_only) nnv_text_add(out, " --compile-only");
    if (facts->stress_ns > 0)
        nnv_text_addf(out, " --jobs %d --stress %.15g", facts->jobs, (double)facts->stress_ns / 1e9);
    if (facts->suspend != NULL) add_option(out, "--suspend-hook", facts->suspend);
    out->failed = out->failed || filter.failed || suites.failed;
    nnv_text_free(&filter);
    nnv_text_free(&suites);
}
