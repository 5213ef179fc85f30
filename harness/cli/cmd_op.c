/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_op.c nnvts op: the record of an operation as documentation. */
#include "base/text.h"
#include "harness/cli/cli.h"
#include "reference/model/op_doc.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts op [NAME] [options]",
    .summary = "Shows what nnvts knows of an operation: inputs, types, feature levels, rules, formula and generated "
               "cases. Without a name: a line for each operation.",
    .examples = "nnvts op                    all operations\n"
                "nnvts op CONV_2D            one\n"
                "nnvts op CONV_2D --markdown  as a page of documentation\n",
};

/** Prints and frees the text; returns the exit code. */
static int print(struct nnv_text *out) {
    bool ok = !out->failed;
    if (ok) fwrite(out->data, 1, out->len, stdout);
    nnv_text_free(out);
    return ok ? NNVTS_EXIT_PASS : NNVTS_EXIT_ERROR;
}

static int list(void) {
    struct nnv_text out = {0};
    size_t count;
    const struct nnv_op *const *ops = nnv_ops(&count);
    for (size_t i = 0; i < count; i++) nnv_op_doc_line(ops[i], &out);
    return print(&out);
}

static int run(int argc, char **argv) {
    struct nnv_cli c;
    nnv_cli_defaults(&c);
    bool markdown = false;
    const struct nnv_opt table[] = {
        {0, "markdown", NNV_OPT_FLAG, &markdown, NULL, "as Markdown", NULL},
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, 1, argc, argv);
    if (code >= 0) return code;
    if (c.positional.count == 0) return list();

    struct nnv_err err = {0};
    const struct nnv_op *op = nnv_op_by_name(c.positional.item[0]);
    if (op == NULL) {
        nnv_fail(&err, NNV_INVALID, "no operation '%s' (see them with nnvts op)", c.positional.item[0]);
        return nnv_cli_error(&err);
    }
    struct nnv_text out = {0};
    nnv_op_doc(op, markdown ? NNV_DOC_MARKDOWN : NNV_DOC_TERMINAL, &out);
    return print(&out);
}

const struct nnv_verb nnv_verb_op = {"op", "look things up", "the record of an operation", run};
