/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_bisect.c nnvts bisect: the first operation that goes wrong. */
#include <math.h>

#include "base/json_out.h"
#include "base/file.h"
#include "harness/debug/bisect/bisect_html.h"
#include "harness/cli/cli.h"
#include "harness/debug/bisect/dumps.h"
#include "harness/debug/bisect/versions.h"
#include "reference/model/validate.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts bisect DUMP --driver NAME|PATH | --check CMD [options]",
    .summary = "Finds the operation of a failing spec that goes wrong first: makes all results outputs and judges each "
               "operation alone, from the driver's own inputs to it. With --check a command of your own says what a "
               "failure is, of operations alone and of "
               "beginnings of the model. With --against an earlier version of the driver: which operation is wrong now "
               "and was not, and whether caches of one version are refused or right in the other. With --dumps a "
               "vendor's results of single operations are judged beside the driver's. Exit code 0 if one was found, 1 "
               "if none, 2 if the "
               "spec does not fail.",
    .examples =
        "nnvts bisect nnvts-out/dumps/x.json -d ./npu.so         the table, and the operation\n"
        "nnvts bisect nnvts-out/dumps/x.json -d ./npu.so --json  for scripts\n"
        "nnvts bisect x.json -d ./npu.so --html x.html           the error of each operation as a plot\n"
        "nnvts bisect x.json -d ./npu.so --against ./old/npu.so  which operation became wrong; caches both ways\n"
        "nnvts bisect x.json -d ./npu.so --dumps layers/         a simulator's layers beside the device's\n"
        "nnvts bisect x.json --check './slow.sh {}'              from which operation on your script fails\n",
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

/* ----------------------------------------------------------------- two beside each other */

struct command {
    struct nnv_cli c;
    const char *against; /* an earlier version of the driver; NULL: none */
    const char *dumps;   /* a folder of results that somebody else computed; NULL: none */
    const char *overlay; /* a file for Model Explorer; NULL: none */
};

/** The driver's operations, and another's. */
struct pair {
    const struct nnv_bisection *driver, *other;
    const char *title, *other_title;
    uint32_t culprit; /**< that is marked; UINT32_MAX: none */
};

static const struct nnv_step *judged_step(const struct nnv_bisection *b, uint32_t i) {
    const struct nnv_step *s = b->step ? &b->step[i] : NULL;
    return s && s->kind != NNV_STEP_UNJUDGED && s->compared > 0 ? s : NULL;
}

static void print_ratio(const struct nnv_bisection *b, uint32_t i) {
    const struct nnv_step *s = judged_step(b, i);
    if (s)
        printf(" %11.4g", s->ratio);
    else
        printf(" %11s", "-");
}

static void print_pair(const struct pair *p) {
    char result[320];
    printf("%s\n     %5s  %-24s %-26s %11s %11s   (error of allowed)\n", p->driver->spec->name, "", "operation",
           "result", p->other_title, p->title);
    for (uint32_t i = 0; i < p->driver->spec->model.main.noperations; i++) {
        printf("   %s %5u  %-24s %-26s", i == p->culprit ? ">" : " ", i, name_of(p->driver, i),
               result_text(p->driver, i, result, sizeof result));
        print_ratio(p->other, i);
        print_ratio(p->driver, i);
        const struct nnv_step *other = p->other->step ? &p->other->step[i] : NULL;
        printf("%s%s\n", other && *other->note ? "   " : "", other ? other->note : "");
    }
}

static void add_ratio(struct nnv_json_out *j, const char *name, const struct nnv_bisection *b, uint32_t i) {
    const struct nnv_step *s = judged_step(b, i);
    if (s) nnv_json_double(j, name, s->ratio);
}

/** The members "case", "culprit" and "operations". */
static void add_pair(struct nnv_json_out *j, const struct pair *p) {
    nnv_json_string(j, "case", p->driver->spec->name);
    if (p->culprit != UINT32_MAX) nnv_json_uint(j, "culprit", p->culprit);
    nnv_json_open(j, "operations", '[');
    for (uint32_t i = 0; i < p->driver->spec->model.main.noperations; i++) {
        nnv_json_open(j, NULL, '{');
        nnv_json_string(j, "name", name_of(p->driver, i));
        add_ratio(j, p->other_title, p->other, i);
        add_ratio(j, p->title, p->driver, i);
        nnv_json_close(j, '}');
    }
    nnv_json_close(j, ']');
}

/** The error of each operation, of what is allowed, as Model Explorer lays it over the graph. */
static enum nnv_status write_overlay(const char *path, const struct nnv_bisection *b, struct nnv_err *err) {
    struct nnv_text t = {0};
    struct nnv_json_out j = {.text = &t};
    char key[16];
    nnv_json_open(&j, NULL, '{');
    nnv_json_open(&j, "results", '{');
    for (uint32_t i = 0; i < b->spec->model.main.noperations; i++) {
        const struct nnv_step *s = judged_step(b, i);
        if (!s) continue;
        snprintf(key, sizeof key, "%u", i);
        nnv_json_open(&j, key, '{');
        nnv_json_double(&j, "value", isfinite(s->ratio) ? s->ratio : 1e30);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, '}');
    nnv_json_open(&j, "thresholds", '[');
    static const struct {
        double value;
        const char *colour;
    } ranges[] = {{0.5, "#d8f0d8"}, {1, "#f6efc0"}, {1e31, "#f4c7c3"}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        nnv_json_open(&j, NULL, '{');
        nnv_json_double(&j, "value", ranges[i].value);
        nnv_json_string(&j, "bgColor", ranges[i].colour);
        nnv_json_close(&j, '}');
    }
    nnv_json_close(&j, ']');
    nnv_json_close(&j, '}');
    nnv_text_add(&t, "\n");
    const enum nnv_status st = nnv_file_write_text(NULL, path, &t, err);
    nnv_text_free(&t);
    return st;
}

/* -------------------------------------------------------------------------- versions */

static void print_crossings(const struct nnv_versions *v) {
    const struct nnv_crossing *const caches[] = {&v->from_before, &v->to_before};
    for (size_t k = 0; k < 2; k++)
        printf("cache written %s, read %s: %s%s%s\n", k ? "now" : "before", k ? "before" : "now",
               nnv_crossing_name(caches[k]->kind), *caches[k]->why ? ": " : "", caches[k]->why);
}

static void add_crossing(struct nnv_json_out *j, const char *name, const struct nnv_crossing *c) {
    nnv_json_open(j, name, '{');
    nnv_json_string(j, "is", nnv_crossing_name(c->kind));
    nnv_json_string(j, "why", c->why);
    nnv_json_close(j, '}');
}

static enum nnv_status compare_versions(struct command *x, const struct nnv_spec *spec, const struct nnv_oracle *now,
                                        struct nnv_err *err) {
    struct nnv_cli *c = &x->c;
    struct nnv_oracle before = *now;
    struct nnv_versions v;
    enum nnv_status st = nnv_client_resolve(x->against, c->arena, &before.path, &before.options, err);
    if (st == NNV_OK) st = nnv_compare_versions(spec, now, &before, c->arena, &v, err);
    if (st != NNV_OK) return st;
    const struct pair pair = {&v.now, &v.before, "now", "before", v.culprit};
    if (x->overlay) st = write_overlay(x->overlay, &v.now, err);
    if (st != NNV_OK) return st;
    if (v.culprit == UINT32_MAX && !nnv_crossing_bad(&v.from_before) && !nnv_crossing_bad(&v.to_before))
        c->code = NNVTS_EXIT_FAIL;
    if (c->json) {
        struct nnv_text t = {0};
        struct nnv_json_out j = {.text = &t};
        nnv_json_open(&j, NULL, '{');
        add_crossing(&j, "cache_from_before", &v.from_before);
        add_crossing(&j, "cache_to_before", &v.to_before);
        add_pair(&j, &pair);
        nnv_json_close(&j, '}');
        nnv_text_add(&t, "\n");
        return nnv_cli_print(&t, err);
    }
    print_pair(&pair);
    print_crossings(&v);
    if (v.culprit != UINT32_MAX)
        printf("first that became wrong: operation %u (%s)\n", v.culprit, name_of(&v.now, v.culprit));
    else
        puts("no operation became wrong");
    return NNV_OK;
}

/* ----------------------------------------------------------------------------- dumps */

/** The lines below the table. */
static void conclude_dumps(const struct nnv_bisection *dumps, const struct nnv_bisection *driver, size_t files) {
    const uint32_t n = dumps->spec->model.main.noperations;
    uint32_t judged = 0;
    for (uint32_t i = 0; i < n; i++) judged += dumps->step[i].kind != NNV_STEP_UNJUDGED;
    printf("%zu file%s, %u of %u operations judged; ", files, files == 1 ? "" : "s", judged, n);
    if (dumps->culprit != UINT32_MAX)
        printf("first wrong in the dumps: operation %u (%s)\n", dumps->culprit, name_of(dumps, dumps->culprit));
    else
        puts(judged > 0 ? "nothing is wrong in the dumps" : "the dumps say nothing");
    if (driver->culprit != UINT32_MAX)
        printf("first wrong on the device: operation %u (%s)\n", driver->culprit, name_of(driver, driver->culprit));
}

static enum nnv_status compare_dumps(struct command *x, const struct nnv_spec *spec, const struct nnv_oracle *oracle,
                                     struct nnv_err *err) {
    struct nnv_cli *c = &x->c;
    struct nnv_known known;
    struct nnv_bisection driver, dumps;
    size_t count = 0;
    enum nnv_status st = nnv_known_make(spec, false, c->arena, &known, err);
    struct nnv_value *given =
        st == NNV_OK ? NNV_NEW(c->arena, struct nnv_value, known.spec->model.main.noperands) : NULL;
    if (st == NNV_OK && !given) st = nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_dumps_read(x->dumps, known.spec, known.value, c->arena, given, &count, err);
    if (st == NNV_OK) st = nnv_judge_given(&known, given, c->arena, &dumps, err);
    if (st == NNV_OK) st = nnv_judge_steps(spec, oracle, c->arena, &driver, err);
    if (st != NNV_OK) return st;
    const struct pair pair = {&driver, &dumps, "device", "dumps", dumps.culprit};
    if (x->overlay) st = write_overlay(x->overlay, &dumps, err);
    if (st != NNV_OK) return st;
    if (dumps.culprit == UINT32_MAX && driver.culprit == UINT32_MAX) c->code = NNVTS_EXIT_FAIL;
    if (c->json) {
        struct nnv_text t = {0};
        struct nnv_json_out j = {.text = &t};
        nnv_json_open(&j, NULL, '{');
        nnv_json_uint(&j, "files", count);
        add_pair(&j, &pair);
        nnv_json_close(&j, '}');
        nnv_text_add(&t, "\n");
        return nnv_cli_print(&t, err);
    }
    print_pair(&pair);
    conclude_dumps(&dumps, &driver, count);
    return NNV_OK;
}

static enum nnv_status bisect(void *own, struct nnv_err *err) {
    struct command *x = own;
    struct nnv_cli *c = &x->c;
    struct nnv_bisection b;
    struct nnv_spec *spec = NULL;
    struct nnv_oracle oracle;
    enum nnv_status st = nnv_cli_subject(c, &spec, &oracle, err);
    const bool pairs = x->against != NULL || x->dumps != NULL;
    if (st == NNV_OK && pairs && (c->check != NULL || c->html != NULL || (x->against && x->dumps)))
        st = nnv_fail(err, NNV_INVALID, "--against and --dumps: one of them, and neither --check nor --html");
    if (st == NNV_OK && x->against) return compare_versions(x, spec, &oracle, err);
    if (st == NNV_OK && x->dumps) return compare_dumps(x, spec, &oracle, err);
    if (st == NNV_OK) st = nnv_bisect(spec, &oracle, c->arena, &b, err);
    if (st != NNV_OK) return st;
    if (b.culprit == UINT32_MAX) c->code = NNVTS_EXIT_FAIL;
    if (c->json)
        st = print_json(&b, err);
    else
        print_text(&b);
    if (st == NNV_OK && x->overlay) st = write_overlay(x->overlay, &b, err);
    if (st != NNV_OK || c->html == NULL) return st;
    struct nnv_text page = {0};
    nnv_bisect_html(&b, &page);
    st = nnv_file_write_text(NULL, c->html, &page, err);
    nnv_text_free(&page);
    return st;
}

static int run(int argc, char **argv) {
    struct command x = {.c = nnv_cli_defaults()};
    const struct nnv_opt table[] = {
        NNV_OPTION_DRIVER(x.c),
        NNV_OPTION_CHECK(x.c),
        {0, "dumps", NNV_OPT_STRING, &x.dumps, "FOLDER",
         "results of operations that somebody else computed, 7.npy or 7.raw of operation 7, beside the driver's", NULL},
        {0, "overlay", NNV_OPT_OUT, &x.overlay, "FILE", "the errors as Model Explorer's node data", NULL},
        {0, "against", NNV_OPT_CODE, &x.against, "DRIVER", "an earlier version: what became wrong since", NULL},
        NNV_OPTION_VIA(x.c),
        {'k', "filter", NNV_OPT_STRING, &x.c.filter, "GLOB", "the spec of a file with several", NULL},
        NNV_OPTION_TIMEOUT(x.c),
        NNV_OPTION_PRECISION(x.c),
        NNV_OPTION_ARITHMETIC(x.c),
        NNV_OPTION_HTML(x.c, "the error of each operation as a page with a plot"),
        NNV_OPTION_JSON(x.c),
        NNV_OPTION_END,
    };
    return nnv_cli_run(&x.c, table, &help, 1, argc, argv, bisect, &x);
}

const struct nnv_verb nnv_verb_bisect = {"bisect", "understand a failure", "name the operation that goes wrong first",
                                         run};
