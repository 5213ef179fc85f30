/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_completion.c nnvts completion: completion for bash, zsh and fish, made from the tables of options. */
#include <ctype.h>
#include <string.h>

#include "harness/cli/cli.h"
#include "harness/runner/suite.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts completion bash|zsh|fish",
    .summary =
        "Prints the completion of verbs, options and their values for a shell. make install puts all three where "
        "shells look for them.",
    .examples = "nnvts completion bash >~/.local/share/bash-completion/completions/nnvts\n"
                "source <(nnvts completion zsh)                    for this zsh\n"
                "nnvts completion fish >~/.config/fish/completions/nnvts.fish\n",
};

/* What may stand as the value of an option, or as the argument of a verb; shell commands print the words. */
#define DRIVERS "nnvts drivers 2>/dev/null | sed -n 's/^\\([a-z]*\\) *needs .*/\\1:/p; t; s/ .*//p'"
#define NETWORKS "nnvts bench --list | sed -n 's/^[* ] \\([a-z0-9_.]*\\) .*/\\1/p'"
#define OPERATIONS "nnvts op | sed 's/ .*//'"

/** The shell command for the values of an option that is no choice; NULL: file names. list: several, with commas. */
static const char *words_of(const struct nnv_opt *o, bool *list) {
    *list = strchr(o->arg ? o->arg : "", ',') != NULL;
    if (strncmp(o->name, "driver", 6) == 0) return DRIVERS;
    if (strcmp(o->name, "model") == 0) return NETWORKS;
    if (strcmp(o->name, "data") == 0) return "echo pictures speech random";
    return NULL;
}

static const char *arguments_of(const char *verb) {
    if (strcmp(verb, "op") == 0) return OPERATIONS;
    if (strcmp(verb, "bench") == 0) return NETWORKS;
    if (strcmp(verb, "drivers") == 0) return DRIVERS;
    if (strcmp(verb, "completion") == 0) return "echo bash zsh fish";
    return NULL;
}

static void add_choices(struct nnv_text *t, const struct nnv_opt *o) {
    for (int i = 0; o->choices[i]; i++) nnv_text_addf(t, "%s%s", i ? " " : "", o->choices[i]);
}

static void add_suites(struct nnv_text *t) {
    size_t n;
    const struct nnv_suite *const *suites = nnv_suites(&n);
    nnv_text_add(t, "all");
    for (size_t i = 0; i < n; i++) nnv_text_addf(t, " %s", suites[i]->name);
}

static bool is_suite(const struct nnv_opt *o) { return strcmp(o->name, "suite") == 0; }

/** A script in progress, at one verb. */
struct script {
    struct nnv_text *t;
    const struct nnv_verb *verb;
};

/* ----------------------------------------------------------------------- bash */

static void bash_values(void *context, const struct nnv_verb_help *h, const struct nnv_opt *table) {
    const struct script *s = context;
    (void)h;
    for (const struct nnv_opt *o = table; o->name; o++) {
        bool list = false;
        const char *words = words_of(o, &list);
        if (o->kind == NNV_OPT_FLAG || (o->kind != NNV_OPT_CHOICE && !is_suite(o) && !words)) continue;
        nnv_text_addf(s->t, "    %s:--%s", s->verb->name, o->name);
        if (o->short_name) nnv_text_addf(s->t, " | %s:-%c", s->verb->name, o->short_name);
        nnv_text_add(s->t, ") words=");
        if (o->kind == NNV_OPT_CHOICE || is_suite(o)) {
            nnv_text_add(s->t, "\"");
            if (is_suite(o))
                add_suites(s->t);
            else
                add_choices(s->t, o);
            nnv_text_add(s->t, "\"");
        } else {
            nnv_text_addf(s->t, "$(%s)", words);
        }
        nnv_text_addf(s->t, " list=%d ;;\n", list || is_suite(o));
    }
}

static void bash_options(void *context, const struct nnv_verb_help *h, const struct nnv_opt *table) {
    const struct script *s = context;
    (void)h;
    nnv_text_addf(s->t, "        %s) words=\"", s->verb->name);
    for (const struct nnv_opt *o = table; o->name; o++) nnv_text_addf(s->t, "--%s ", o->name);
    nnv_text_add(s->t, "--help\" ;;\n");
}

static void bash(struct nnv_text *t) {
    nnv_text_add(t, "# Completion of nnvts for bash; made by: nnvts completion bash\n"
                    "_nnvts() {\n"
                    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}\n"
                    "    local words= list=0 before=\n"
                    "    COMPREPLY=()\n"
                    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
                    "        mapfile -t COMPREPLY < <(compgen -W \"");
    for (size_t i = 0; i < nnv_verbs_count; i++) nnv_text_addf(t, "%s ", nnv_verbs[i]->name);
    nnv_text_add(t, "\" -- \"$cur\")\n        return\n    fi\n    case $verb:$prev in\n");
    for (size_t i = 0; i < nnv_verbs_count; i++)
        nnv_cli_describe(nnv_verbs[i], bash_values, &(struct script){t, nnv_verbs[i]});
    nnv_text_add(t, "    *)\n        if [[ $cur == -* ]]; then case $verb in\n");
    for (size_t i = 0; i < nnv_verbs_count; i++)
        nnv_cli_describe(nnv_verbs[i], bash_options, &(struct script){t, nnv_verbs[i]});
    nnv_text_add(t, "        esac; else case $verb in\n");
    for (size_t i = 0; i < nnv_verbs_count; i++)
        if (arguments_of(nnv_verbs[i]->name))
            nnv_text_addf(t, "        %s) words=$(%s) ;;\n", nnv_verbs[i]->name, arguments_of(nnv_verbs[i]->name));
    nnv_text_add(t, "        esac; fi ;;\n    esac\n"
                    "    if [ $list = 1 ] && [[ $cur == *,* ]]; then\n"
                    "        before=${cur%,*},\n"
                    "        words=$(printf '%s\\n' $words | sed \"s/^/$before/\")\n"
                    "    fi\n"
                    "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                    "    if [ -z \"$words\" ]; then mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); fi\n"
                    "}\ncomplete -o filenames -F _nnvts nnvts\n");
}

/* ------------------------------------------------------------------------ zsh */

/** Text between single quotes; specials: characters that a backslash must precede. */
static void add_quoted(struct nnv_text *t, const char *text, const char *specials) {
    for (; *text; text++) {
        if (strchr(specials, *text)) nnv_text_add(t, "\\");
        if (*text == '\'')
            nnv_text_add(t, "'\\''");
        else
            nnv_text_add_n(t, text, 1);
    }
}

static void zsh_verb(void *context, const struct nnv_verb_help *h, const struct nnv_opt *table) {
    const struct script *s = context;
    (void)h;
    nnv_text_addf(s->t, "    %s) _arguments '(- *)--help[how to use the verb]' \\\n", s->verb->name);
    for (const struct nnv_opt *o = table; o->name; o++) {
        bool list = false;
        const char *words = words_of(o, &list);
        nnv_text_add(s->t, "        ");
        if (o->short_name)
            nnv_text_addf(s->t, "'(-%c --%s)'{-%c,--%s}'", o->short_name, o->name, o->short_name, o->name);
        else
            nnv_text_addf(s->t, "'%s--%s", o->kind == NNV_OPT_LIST ? "*" : "", o->name);
        nnv_text_add(s->t, "[");
        add_quoted(s->t, o->help ? o->help : "", "[]:\\");
        nnv_text_add(s->t, "]");
        if (o->kind != NNV_OPT_FLAG) {
            nnv_text_add(s->t, ":");
            add_quoted(s->t, o->arg ? o->arg : "value", "[]:\\");
            nnv_text_add(s->t, ":");
            if (o->kind == NNV_OPT_CHOICE || is_suite(o)) {
                nnv_text_add(s->t, "(");
                if (is_suite(o))
                    add_suites(s->t);
                else
                    add_choices(s->t, o);
                nnv_text_add(s->t, ")");
            } else if (words) {
                nnv_text_add(s->t, "{compadd -- $(");
                add_quoted(s->t, words, "");
                nnv_text_add(s->t, ")}");
            } else if (o->kind != NNV_OPT_U64 && o->kind != NNV_OPT_SECONDS) {
                nnv_text_add(s->t, "_files");
            }
        }
        nnv_text_add(s->t, "' \\\n");
    }
    nnv_text_add(s->t, "        '*:argument:");
    if (arguments_of(s->verb->name)) {
        nnv_text_add(s->t, "{compadd -- $(");
        add_quoted(s->t, arguments_of(s->verb->name), "");
        nnv_text_add(s->t, ")}' ;;\n");
    } else {
        nnv_text_add(s->t, "_files' ;;\n");
    }
}

static void zsh(struct nnv_text *t) {
    nnv_text_add(t, "#compdef nnvts\n# Completion of nnvts for zsh; made by: nnvts completion zsh\n"
                    "_nnvts() {\n    local -a verbs\n    verbs=(\n");
    for (size_t i = 0; i < nnv_verbs_count; i++) {
        nnv_text_addf(t, "        '%s:", nnv_verbs[i]->name);
        add_quoted(t, nnv_verbs[i]->summary, ":\\");
        nnv_text_add(t, "'\n");
    }
    nnv_text_add(t, "    )\n    if (( CURRENT == 2 )); then _describe verb verbs; return; fi\n"
                    "    shift words; (( CURRENT-- ))\n    case $words[1] in\n");
    for (size_t i = 0; i < nnv_verbs_count; i++)
        nnv_cli_describe(nnv_verbs[i], zsh_verb, &(struct script){t, nnv_verbs[i]});
    nnv_text_add(t,
                 "    esac\n}\nif [ \"$funcstack[1]\" = _nnvts ]; then _nnvts \"$@\"; else compdef _nnvts nnvts; fi\n");
}

/* ----------------------------------------------------------------------- fish */

static void fish_verb(void *context, const struct nnv_verb_help *h, const struct nnv_opt *table) {
    const struct script *s = context;
    const char *name = s->verb->name, *words = arguments_of(name);
    (void)h;
    if (words) {
        nnv_text_addf(s->t, "complete -c nnvts -n '__fish_seen_subcommand_from %s' -f -a '(", name);
        add_quoted(s->t, words, "\\");
        nnv_text_add(s->t, ")'\n");
    }
    for (const struct nnv_opt *o = table; o->name; o++) {
        bool list = false;
        words = words_of(o, &list);
        nnv_text_addf(s->t, "complete -c nnvts -n '__fish_seen_subcommand_from %s' -l %s", name, o->name);
        if (o->short_name) nnv_text_addf(s->t, " -s %c", o->short_name);
        if (o->kind != NNV_OPT_FLAG) nnv_text_add(s->t, " -r");
        if (o->kind == NNV_OPT_CHOICE || is_suite(o)) {
            nnv_text_add(s->t, " -f -a '");
            if (is_suite(o))
                add_suites(s->t);
            else
                add_choices(s->t, o);
            nnv_text_add(s->t, "'");
        } else if (words) {
            nnv_text_add(s->t, " -f -a '(");
            add_quoted(s->t, words, "\\");
            nnv_text_add(s->t, ")'");
        }
        nnv_text_add(s->t, " -d '");
        add_quoted(s->t, o->help ? o->help : "", "\\");
        nnv_text_add(s->t, "'\n");
    }
}

static void fish(struct nnv_text *t) {
    nnv_text_add(t, "# Completion of nnvts for fish; made by: nnvts completion fish\n");
    for (size_t i = 0; i < nnv_verbs_count; i++) {
        nnv_text_addf(t, "complete -c nnvts -n __fish_use_subcommand -f -a %s -d '", nnv_verbs[i]->name);
        add_quoted(t, nnv_verbs[i]->summary, "\\");
        nnv_text_add(t, "'\n");
    }
    for (size_t i = 0; i < nnv_verbs_count; i++)
        nnv_cli_describe(nnv_verbs[i], fish_verb, &(struct script){t, nnv_verbs[i]});
}

/* -------------------------------------------------------------------- the verb */

static enum nnv_status completion(void *own, struct nnv_err *err) {
    static const struct {
        const char *name;
        void (*make)(struct nnv_text *t);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    const struct nnv_cli *c = own;
    struct nnv_text t = {0};
    for (size_t i = 0; c->positional.count == 1 && i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(c->positional.item[0], shells[i].name) != 0) continue;
        shells[i].make(&t);
        return nnv_cli_print(&t, err);
    }
    return nnv_fail(err, NNV_INVALID, "completion for which shell? bash, zsh or fish");
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {NNV_OPTION_END};
    return nnv_cli_run(&c, table, &help, 1, argc, argv, completion, &c);
}

const struct nnv_verb nnv_verb_completion = {"completion", "nnvts itself", "completion for a shell", run};
