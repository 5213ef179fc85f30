/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_bisect.c nnvts bisect: the first operation that goes wrong. */
#include <math.h>

#include "base/json_out.h"
#include "base/file.h"
#include "harness/debug/bisect_html.h"
#include "harness/cli/cli.h"
#include "harness/debug/bisect.h"
#include "reference/model/validate.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts bisect DUMP --driver NAME|PATH [options]",
    .summary = "Finds the operation of a failing spec that goes wrong first: makes all results outputs and judges each "
               "operation alone, from the driver's own inputs to it. Exit code 0 if one was found, 1 if none, 2 if the "
               "spec does not fail.",
    .examples = "nnvts bisect nnvts-out/dumps/x.json -d ./npu.so         the table, and the operation\n"
                "nnvts bisect nnvts-out/dumps/x.json -d ./npu.so --json  for scripts\n"
                "nnvts bisect x.json -d ./npu.so --html x.html           the error of each operation as a plot\n",
};

static const char *const kinds[] = {
    [NNV_STEP_RIGHT] = "right",
    [NNV_STEP_WRONG] = "wrong",
    [NNV_STEP_UNTRUSTED] = "untrusted",
    [NNV_STEP_UNJUDGED] = "unjudged",
};

static const char *name_of(const struct nnv_bisection *b, uint32_t operation) {
    const struct nnv_op *op = nnv_op(b->spec->model.main.operations[operation].type);
    return op != NULL ? op->name : "?";
}

/** Type and shape of the first output. */
static const char *result_text(const struct nnv_bisection *b, uint32_t operation, char *buf, size_t room) {
    const struct nnv_subgraph *m = &b->spec->model.main;
    const struct nnv_operand *o = &m->operands[m->operations[operation].out[0]];
    const struct nnv_shape shape = nnv_operand_shape(o);
    char dims[256];
    snprintf(buf, room, "%s %s", nnv_type(o->type)->tag, nnv_shape_text(&shape, dims, sizeof dims));
    return buf;
}

static void print_table(const struct nnv_bisection *b) {
    char result[320];
    if (b->step == NULL) return;
    printf("     %5s  %-24s %-26s %9s %7s %11s %11s\n", "", "operation", "result", "compared", "wrong", "error",
           "of allowed");
    for (uint32_t i = 0; i < b->spec->model.main.noperations; i++) {
        const struct nnv_step *s = &b->step[i];
        printf("   %s %5u  %-24s %-26s ", i == b->culprit ? ">" : " ", i, name_of(b, i),
               result_text(b, i, result, sizeof result));
        if (s->kind == NNV_STEP_UNJUDGED)
            printf("not judged: %s\n", s->note);
        else if (s->compared == 0)
            printf("%9d %7d %11s %11s\n", 0, 0, "-", "-");
        else
            printf("%9zu %7zu %11.4g %11.4g\n", s->compared, s->wrong, s->error, s->ratio);
    }
}

static void print_joint(const struct nnv_bisection *b) {
    const struct nnv_subgraph *m = &b->spec->model.main;
    bool any = false;
    for (uint32_t i = 0; b->joint != NULL && i < m->noperands; i++) {
        uint32_t from = b->joint[i] ? nnv_producer(m, i) : UINT32_MAX;
        if (from == UINT32_MAX) continue;
        any = true;
        printf("     operation %u (%s) only goes wrong while its result, operand %u, is no output: what reads it is "
               "computed together with it\n",
               from, name_of(b, from), i);
    }
    if (!any) puts("     no single result makes the difference: it takes several");
}

static void print_text(const struct nnv_bisection *b) {
    char text[NNV_OPINION_REASON + 32];
    printf("%s: %s\n", b->spec->name, nnv_signature_text(&b->signature, text));
    print_table(b);
    if (*b->shown) printf("     with all results as outputs it fails otherwise: %s\n", b->shown);
    if (b->vanishes) {
        puts("     with all results as outputs the failure vanishes");
        if (b->joint != NULL) print_joint(b);
    }
    if (b->culprit == UINT32_MAX) {
        puts(b->step != NULL ? "no operation goes wrong by itself: each is within its budget on the driver's own inputs"
                             : "no operation was found: none fails alone");
        return;
    }
    printf("first wrong: operation %u (%s)", b->culprit, name_of(b, b->culprit));
    switch (b->alone) {
    case NNV_ALONE_FAILS:
        puts("; it fails alone, too");
        return;
    case NNV_ALONE_PASSES:
        puts("; alone it passes");
        return;
    case NNV_ALONE_UNKNOWN:
        break;
    }
    puts("");
}

static enum nnv_status print_json(const struct nnv_bisection *b, struct nnv_err *err) {
    static const char *const alone[] = {"unknown", "fails", "passes"};
    const struct nnv_subgraph *m = &b->spec->model.main;
    char text[NNV_OPINION_REASON + 32];
    struct nnv_text t = {0};
    struct nnv_json_out j = {.text = &t};
    nnv_json_open(&j, NULL, '{');
    nnv_json_string(&j, "case", b->spec->name);
    nnv_json_string(&j, "signature", nnv_signature_text(&b->signature, text));
    if (b->culprit != UINT32_MAX) {
        nnv_json_open(&j, "culprit", '{');
        nnv_json_uint(&j, "operation", b->culprit);
        nnv_json_string(&j, "name", name_of(b, b->culprit));
        nnv_json_string(&j, "alone", alone[b->alone]);
        nnv_json_close(&j, '}');
    }
    nnv_json_bool(&j, "vanishes", b->vanishes);
    nnv_json_open(&j, "joint", '[');
    for (uint32_t i = 0; b->joint != NULL && i < m->noperands; i++)
        if (b->joint[i]) nnv_json_uint(&j, NULL, i);
    nnv_json_close(&j, ']');
    nnv_json_open(&j, "operations", '[');
    for (uint32_t i = 0; b->step != NULL && i < m->noperations; i++) {
        const struct nnv_step *s = &b->step[i];
        nnv_json_open(&j, NULL, '{');
        nnv_json_uint(&j, "operation", i);
        nnv_json_string(&j, "name", name_of(b, i));
        nnv_json_string(&j, "verdict", kinds[s->kind]);
        nnv_json_uint(&j, "compared", s->compared);
        nnv_json_uint(&j, "wrong", s->wrong);
        nnv_json_double(&j, "error", s->error);
        nnv_json_double(&j, "ratio", s->ratio);
        nnv_json_string(&j, "note", s->note);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(&t, "\n");
    return nnv_cli_print(&t, err);
}

static enum nnv_status bisect(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    struct nnv_bisection b;
    struct nnv_spec *spec = NULL;
    struct nnv_oracle oracle;
    enum nnv_status st = nnv_cli_subject(c, &spec, &oracle, err);
    if (st == NNV_OK) st = nnv_bisect(spec, &oracle, c->arena, &b, err);
    if (st != NNV_OK) return st;
    if (b.culprit == UINT32_MAX) c->code = NNVTS_EXIT_FAIL;
    if (c->json)
        st = print_json(&b, err);
    else
        print_text(&b);
    if (st != NNV_OK || c->html == NULL) return st;
    struct nnv_text page = {0};
    nnv_bisect_html(&b, &page);
    st = nnv_file_write_text(NULL, c->html, &page, err);
    nnv_text_free(&page);
    return st;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(c),
        NNV_OPTION_VIA(c),
        {'k', "filter", NNV_OPT_STRING, &c.filter, "GLOB", "the spec of a file with several", NULL},
        NNV_OPTION_TIMEOUT(c),
        NNV_OPTION_PRECISION(c),
        NNV_OPTION_ARITHMETIC(c),
        NNV_OPTION_HTML(c, "the error of each operation as a page with a plot"),
        NNV_OPTION_JSON(c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&c, table, &help, 1, argc, argv, bisect, &c);
}

const struct nnv_verb nnv_verb_bisect = {"bisect", "understand a failure", "name the operation that goes wrong first",
                                         run};
