/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_op.c nnvts op: the record of an operation as documentation. */
#include "base/file.h"
#include "base/text.h"
#include "harness/cli/cli.h"
#include "reference/model/op_doc.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts op [NAME] [options]",
    .summary = "Shows what nnvts knows of an operation: inputs, types, feature levels, rules, formula and generated "
               "cases. Without a name: a line for each operation.",
    .examples = "nnvts op                    all operations\n"
                "nnvts op CONV_2D            one\n"
                "nnvts op CONV_2D --markdown  as a page of documentation\n"
                "nnvts op --markdown -o ops  a folder with a page for each operation\n",
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

/** Writes folder/name and frees the text. */
static enum nnv_status write_page(const char *folder, const char *name, struct nnv_text *page, struct nnv_err *err) {
    struct nnv_text path = {0};
    nnv_text_addf(&path, "%s/%s", folder, name);
    enum nnv_status st = page->failed || path.failed ? nnv_fail(err, NNV_NO_MEMORY, "out of memory for %s", name)
                                                     : nnv_file_write(path.data, page->data, page->len, err);
    nnv_text_free(&path);
    nnv_text_free(page);
    return st;
}

/** A page an operation, and an index, in a folder that is made if it is not there. */
static int write_pages(const char *folder) {
    struct nnv_err err = {0};
    size_t count;
    const struct nnv_op *const *ops = nnv_ops(&count);
    struct nnv_text index = {0};
    nnv_text_addf(&index,
                  "# Operations\n\nThe %zu operations of NNAPI's feature levels 1 to 7, from their records "
                  "(`nnvts op NAME`).\n\n| operation | since level | formula |\n| --- | --- | --- |\n",
                  count);
    enum nnv_status st = nnv_file_mkdir(folder, &err);
    for (size_t i = 0; st == NNV_OK && i < count; i++) {
        struct nnv_text page = {0};
        char name[128];
        snprintf(name, sizeof name, "%s.md", ops[i]->name);
        nnv_op_doc(ops[i], NNV_DOC_MARKDOWN, &page);
        nnv_text_addf(&index, "| [%s](%s) | %d | `", ops[i]->name, name, ops[i]->level);
        for (const char *f = ops[i]->formula; *f; f++) nnv_text_addf(&index, *f == '|' ? "\\%c" : "%c", *f);
        nnv_text_add(&index, "` |\n");
        st = write_page(folder, name, &page, &err);
    }
    if (st == NNV_OK)
        st = write_page(folder, "README.md", &index, &err);
    else
        nnv_text_free(&index);
    if (st != NNV_OK) return nnv_cli_error(&err);
    printf("%zu pages in %s\n", count, folder);
    return NNVTS_EXIT_PASS;
}

static int run(int argc, char **argv) {
    struct nnv_cli c;
    nnv_cli_defaults(&c);
    bool markdown = false;
    const char *folder = NULL;
    const struct nnv_opt table[] = {
        {0, "markdown", NNV_OPT_FLAG, &markdown, NULL, "as Markdown", NULL},
        {'o', "out", NNV_OPT_STRING, &folder, "DIR", "with --markdown: a page for each operation", NULL},
        NNV_OPTION_END,
    };
    int code = nnv_cli_parse(&c, table, &help, 1, argc, argv);
    if (code >= 0) return code;
    struct nnv_err err = {0};
    if (folder != NULL && (!markdown || c.positional.count > 0)) {
        nnv_fail(&err, NNV_INVALID, "--out writes the pages of all operations: use it with --markdown and no name");
        return nnv_cli_error(&err);
    }
    if (folder != NULL) return write_pages(folder);
    if (c.positional.count == 0) return list();

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
