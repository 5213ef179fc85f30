/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_op.c nnvts op: the record of an operation as documentation. */
#include "base/file.h"
#include "base/folder.h"
#include "base/nearest.h"
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

/** A page an operation, and an index, in a folder that is made if it is not there. */
static enum nnv_status write_pages(const char *folder, struct nnv_err *err) {
    size_t count;
    const struct nnv_op *const *ops = nnv_ops(&count);
    struct nnv_text index = {0};
    nnv_text_addf(&index,
                  "# Operations\n\nThe %zu operations of NNAPI's feature levels 1 to 7, from their records "
                  "(`nnvts op NAME`).\n\n| operation | since level | formula |\n| --- | --- | --- |\n",
                  count);
    enum nnv_status st = nnv_folder_make(folder, err);
    for (size_t i = 0; st == NNV_OK && i < count; i++) {
        struct nnv_text page = {0};
        char name[128];
        snprintf(name, sizeof name, "%s.md", ops[i]->name);
        nnv_op_doc(ops[i], NNV_DOC_MARKDOWN, &page);
        nnv_text_addf(&index, "| [%s](%s) | %d | `", ops[i]->name, name, ops[i]->level);
        for (const char *f = ops[i]->formula; *f; f++) nnv_text_addf(&index, *f == '|' ? "\\%c" : "%c", *f);
        nnv_text_add(&index, "` |\n");
        st = nnv_file_write_text(folder, name, &page, err);
    }
    if (st == NNV_OK) st = nnv_file_write_text(folder, "README.md", &index, err);
    nnv_text_free(&index);
    if (st == NNV_OK) printf("%zu pages in %s\n", count, folder);
    return st;
}

static enum nnv_status op(void *own, struct nnv_err *err) {
    const struct nnv_cli *c = own;
    const char *name = c->positional.count > 0 ? c->positional.item[0] : NULL;
    struct nnv_text out = {0};
    size_t count;
    const struct nnv_op *const *ops = nnv_ops(&count);
    if (c->out != NULL && (!c->markdown || name != NULL))
        return nnv_fail(err, NNV_INVALID,
                        "--out writes the pages of all operations: use it with --markdown and no name");
    if (c->out != NULL) return write_pages(c->out, err);
    const struct nnv_op *one = name != NULL ? nnv_op_by_name(name) : NULL;
    if (name != NULL && one == NULL) {
        struct nnv_nearest near = nnv_nearest_to(name);
        for (size_t i = 0; i < count; i++) nnv_nearest_see(&near, ops[i]->name);
        return nnv_fail(err, NNV_INVALID, "no operation '%s' (%s%s%ssee them with nnvts op)", name,
                        near.best ? "did you mean '" : "", near.best ? near.best : "", near.best ? "'? " : "");
    }
    if (one != NULL) nnv_op_doc(one, c->markdown ? NNV_DOC_MARKDOWN : NNV_DOC_TERMINAL, &out);
    for (size_t i = 0; one == NULL && i < count; i++) nnv_op_doc_line(ops[i], &out);
    return nnv_cli_print(&out, err);
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    c.out = NULL;
    const struct nnv_opt table[] = {
        {0, "markdown", NNV_OPT_FLAG, &c.markdown, NULL, "as Markdown", NULL},
        {'o', "out", NNV_OPT_OUT_DIR, &c.out, "DIR", "with --markdown: a page for each operation", NULL},
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, 1, argc, argv, op, &c);
}

const struct nnv_verb nnv_verb_op = {"op", "look things up", "the record of an operation", run};
