/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_man.c nnvts man: manual pages, made from the tables of options. */
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "harness/cli/cli.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts man [VERB] [--out DIR]",
    .summary = "Prints the manual page of nnvts or of a verb, as man(1) reads it; with --out writes all of them into a "
               "folder: nnvts.1, nnvts-run.1, ...",
    .examples = "nnvts man run | man -l -         read it now\n"
                "nnvts man --out share/man/man1   what make install does\n",
};

/** Text of a paragraph: backslashes, dashes and a leading dot or quote are roff's own. */
static void add(struct nnv_text *t, const char *text) {
    for (const char *p = text; *p; p++) {
        if ((p == text || p[-1] == '\n') && (*p == '.' || *p == '\'')) nnv_text_add(t, "\\&");
        if (*p == '\\')
            nnv_text_add(t, "\\e");
        else if (*p == '-')
            nnv_text_add(t, "\\-");
        else
            nnv_text_add_n(t, p, 1);
    }
}

static void add_title(struct nnv_text *t, const char *name, const char *summary) {
    nnv_text_add(t, ".TH ");
    for (const char *p = name; *p; p++) nnv_text_addf(t, "%c", *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    nnv_text_addf(t, " 1 \"\" \"nnvts %s\" \"User Commands\"\n.SH NAME\n", NNVTS_VERSION);
    add(t, name);
    nnv_text_add(t, " \\- ");
    add(t, summary);
    nnv_text_add(t, "\n");
}

static void add_default(struct nnv_text *t, const struct nnv_opt *o) {
    switch (o->kind) {
    case NNV_OPT_FLAG:
    case NNV_OPT_LIST:
        break;
    case NNV_OPT_STRING:
    case NNV_OPT_COMMAND:
    case NNV_OPT_CODE:
    case NNV_OPT_OUT:
    case NNV_OPT_KEPT:
    case NNV_OPT_OUT_DIR:
        if (*(const char *const *)o->value) {
            nnv_text_add(t, "\nDefault: ");
            add(t, *(const char *const *)o->value);
            nnv_text_add(t, ".");
        }
        break;
    case NNV_OPT_U64: /* the number of jobs is that of this machine's processors */
        if (*(const uint64_t *)o->value && strcmp(o->name, "jobs") != 0)
            nnv_text_addf(t, "\nDefault: %llu.", (unsigned long long)*(const uint64_t *)o->value);
        break;
    case NNV_OPT_SECONDS:
        if (*(const uint64_t *)o->value) nnv_text_addf(t, "\nDefault: %g.", (double)*(const uint64_t *)o->value / 1e9);
        break;
    case NNV_OPT_CHOICE:
        nnv_text_add(t, "\nOne of");
        for (int i = 0; o->choices[i]; i++) {
            nnv_text_add(t, i ? ", " : " ");
            add(t, o->choices[i]);
        }
        if (*(const int *)o->value >= 0) {
            nnv_text_add(t, "; default: ");
            add(t, o->choices[*(const int *)o->value]);
        }
        nnv_text_add(t, ".");
        break;
    }
}

static void add_option(struct nnv_text *t, const struct nnv_opt *o) {
    nnv_text_add(t, ".TP\n");
    if (o->short_name) nnv_text_addf(t, "\\fB\\-%c\\fR, ", o->short_name);
    nnv_text_add(t, "\\fB\\-\\-");
    add(t, o->name);
    nnv_text_add(t, "\\fR");
    if (o->kind != NNV_OPT_FLAG) {
        nnv_text_add(t, " \\fI");
        add(t, o->arg ? o->arg : "VALUE");
        nnv_text_add(t, "\\fR");
    }
    nnv_text_add(t, "\n");
    add(t, o->help ? o->help : "");
    nnv_text_add(t, ".");
    if (o->value) add_default(t, o);
    nnv_text_add(t, "\n");
}

/** A page in progress. */
struct page {
    struct nnv_text *t;
    const struct nnv_verb *verb;
};

static void add_verb(void *context, const struct nnv_verb_help *h, const struct nnv_opt *table) {
    const struct page *p = context;
    char name[64];
    snprintf(name, sizeof name, "nnvts-%s", p->verb->name);
    add_title(p->t, name, p->verb->summary);
    nnv_text_add(p->t, ".SH SYNOPSIS\n.nf\n");
    add(p->t, h->usage);
    nnv_text_add(p->t, "\n.fi\n.SH DESCRIPTION\n");
    add(p->t, h->summary ? h->summary : "");
    nnv_text_add(p->t, "\n.SH OPTIONS\n");
    bool listed = false;
    for (const struct nnv_opt *o = table; o->name; o++) {
        add_option(p->t, o);
        listed = listed || strcmp(o->name, "help") == 0;
    }
    if (!listed) nnv_text_add(p->t, ".TP\n\\fB\\-\\-help\\fR\nHow to use the verb.\n");
    if (h->examples) {
        nnv_text_add(p->t, ".SH EXAMPLES\n.nf\n");
        add(p->t, h->examples);
        nnv_text_add(p->t, ".fi\n");
    }
    nnv_text_add(p->t, ".SH SEE ALSO\n.BR nnvts (1)\n");
}

static void add_overview(struct nnv_text *t) {
    add_title(t, "nnvts", "tests and validates neural-network drivers");
    nnv_text_add(t, ".SH SYNOPSIS\n.B nnvts\n.I VERB\n[options]\n.SH DESCRIPTION\n"
                    "Judges drivers of the Android Neural Networks API on Linux, helps to understand their failures, "
                    "measures them on real models, and compiles models for them.\n");
    const char *task = "";
    for (size_t i = 0; i < nnv_verbs_count; i++) {
        if (strcmp(task, nnv_verbs[i]->task) != 0) nnv_text_addf(t, ".SS %s\n", task = nnv_verbs[i]->task);
        nnv_text_addf(t, ".TP\n.BR nnvts\\-%s (1)\n", nnv_verbs[i]->name);
        add(t, nnv_verbs[i]->summary);
        nnv_text_add(t, "\n");
    }
    nnv_text_add(t,
                 ".SH EXIT STATUS\n.TP\n0\nAll selected cases passed or are honestly unsupported.\n.TP\n1\nSomething "
                 "failed.\n.TP\n2\nThe command line, a file or a driver could not be used.\n.TP\n3\nnnvts itself "
                 "failed.\n.TP\n130\nInterrupted.\n.SH ENVIRONMENT\n.TP\nNNVTS_DRIVER_PATH\nFolders in which drivers "
                 "are looked for, separated by colons.\n.TP\nNNVTS_SPECS, NNVTS_MODELS, NNVTS_ONNX\nFolders of test "
                 "vectors, of .tflite models, of ONNX's node tests.\n.TP\nNNVTS_CONFIG\nThe configuration file; an "
                 "empty value: none.\n.TP\n"
                 "NO_COLOR\nNo colours.\n.SH FILES\n.TP\n.IR .nnvts ,\\ ~/.config/nnvts/config\nDefaults of "
                 "options, by verb; the first that exists is read.\n");
}

static bool make(const char *name, struct nnv_text *t) {
    const struct nnv_verb *verb = name ? nnv_verb_by_name(name) : NULL;
    if (name && !verb) return false;
    if (verb)
        nnv_cli_describe(verb, add_verb, &(struct page){t, verb});
    else
        add_overview(t);
    return true;
}

/** One page, into a file of the folder. */
static enum nnv_status write_page(const char *folder, const char *verb, struct nnv_err *err) {
    char name[64];
    struct nnv_text t = {0};
    snprintf(name, sizeof name, "nnvts%s%s.1", verb ? "-" : "", verb ? verb : "");
    make(verb, &t);
    const enum nnv_status s = nnv_file_write_text(folder, name, &t, err);
    nnv_text_free(&t);
    return s;
}

static enum nnv_status man(void *own, struct nnv_err *err) {
    const struct nnv_cli *c = own;
    const char *name = c->positional.count == 1 ? c->positional.item[0] : NULL;
    struct nnv_text t = {0};
    if (c->out == NULL && !make(name, &t))
        return nnv_fail(err, NNV_INVALID, "no verb '%s' (see them with nnvts --help)", name);
    if (c->out == NULL) return nnv_cli_print(&t, err);
    enum nnv_status s = nnv_folder_make(c->out, err);
    if (s == NNV_OK) s = write_page(c->out, NULL, err);
    for (size_t i = 0; s == NNV_OK && i < nnv_verbs_count; i++) s = write_page(c->out, nnv_verbs[i]->name, err);
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    c.out = NULL;
    const struct nnv_opt table[] = {NNV_OPTION_OUT(c), NNV_OPTION_END};
    return nnv_cli_run(&c, table, &help, 1, argc, argv, man, &c);
}

const struct nnv_verb nnv_verb_man = {"man", "nnvts itself", "manual pages", run};
