/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_verify.c nnvts verify: does a run, or what was packed of it, say what its raw data say? */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/cli/cli.h"
#include "harness/journal/bundle/bundle.h"
#include "harness/journal/bundle/verify.h"
#include "harness/runner/ask.h"
#include "reference/spec/spec.h"

static const struct nnv_verb_help help = {
    .usage = "nnvts verify RUN|BUNDLE [options]",
    .summary = "Verifies the folder of a run, or an archive that nnvts pack made: nothing was changed since it was "
               "packed, the cases are the selected ones, each once, and every verdict follows from the raw data: from "
               "its comparisons, and for each dump from the tensors. Exit code 0: all is so; 1: something is not.",
    .examples = "nnvts verify submission.tar   what was handed in\n"
                "nnvts verify nnvts-out        a run of your own\n",
};

enum { SHOWN_MOST = 20 };

/** What is told of what is wrong. */
struct findings {
    size_t wrong;
    bool json;
};

static void wrong(void *context, const char *text) {
    struct findings *f = context;
    if (f->wrong++ >= SHOWN_MOST || f->json) return;
    struct nnv_text shown = {0};
    nnv_text_add_shown(&shown, text, strlen(text), 4096);
    printf("WRONG %s\n", shown.failed ? "" : shown.data);
    nnv_text_free(&shown);
}

/** In a process of its own: what is in a dump may be made to take for ever. */
static enum nnv_status judge_again(struct nnv_answering *in, struct nnv_err *err) {
    const char *path = in->context;
    struct nnv_rejudged *out = in->shared;
    struct nnv_arena *arena = in->arena;
    struct nnv_spec_file *file = NULL;
    struct nnv_spec *spec = NULL;
    struct nnv_run_config config = {.precision = -1};
    enum nnv_precision precision;
    enum nnv_status s = nnv_spec_open(path, &file, err);
    if (s == NNV_OK) s = nnv_spec_read(file, 0, arena, &spec, err);
    if (s == NNV_OK) s = nnv_case_precision(&config, nnv_suite_by_name("spec"), spec, &precision, err);
    out->answered = s == NNV_OK && spec->actual != NULL;
    if (out->answered) {
        struct nnv_case_env env = {.config = &config, .arena = arena};
        struct nnv_result result = {.verdict = NNVTS_ERROR};
        nnv_judge_answer(&env, spec, precision, spec->actual, &result);
        out->verdict = (enum nnvts_verdict)result.verdict;
        out->compared = result.compared;
        nnv_text_free(&result.reason);
        nnv_text_free(&result.outputs);
        nnv_text_free(&result.answer);
    }
    nnv_spec_close(file);
    return s;
}

/** The same spec and answer, judged now. */
static enum nnv_status rejudge(const char *path, struct nnv_rejudged *out, struct nnv_err *err) {
    struct nnv_ask ask = {
        .answer = judge_again, .context = (void *)path, .bytes = sizeof *out, .timeout_ns = UINT64_C(60000000000)};
    enum nnv_status s = nnv_ask(&ask, err);
    if (s == NNV_OK && !ask.complete) s = nnv_fail(err, NNV_INVALID, "%s: judging it %s", path, ask.how);
    if (s == NNV_OK) *out = *(const struct nnv_rejudged *)ask.shared;
    nnv_ask_free(&ask);
    return s;
}

static enum nnv_status verify_folder(const char *folder, struct findings *f, struct nnv_err *err) {
    const struct nnv_verify options = {.folder = folder, .context = f, .wrong = wrong, .rejudge = rejudge};
    struct nnv_verified found;
    const enum nnv_status s = nnv_verify_run(&options, &found, err);
    if (s != NNV_OK) return s;
    if (f->json) {
        printf("{\"verified\":%s,\"wrong\":%zu,\"verdicts\":%zu,\"from_tensors\":%zu,\"passes_from_tensors\":%zu,"
               "\"hashes\":%s,\"isolated\":%s}\n",
               f->wrong ? "false" : "true", f->wrong, found.records, found.from_tensors, found.passes_from_tensors,
               found.packed ? "true" : "false", found.apart ? "true" : "false");
        return s;
    }
    if (f->wrong > SHOWN_MOST) printf("and %zu more\n", f->wrong - SHOWN_MOST);
    printf("%s: %zu verdicts follow from their records, %zu of them from tensors (%zu passes); %s; %zu not run\n",
           f->wrong ? "NOT VERIFIED" : "verified", found.records, found.from_tensors, found.passes_from_tensors,
           found.packed ? "files are as they were packed" : "no manifest: not packed", found.verdicts[NNVTS_NOTRUN]);
    if (!found.apart) puts(nnv_cli_not_apart);
    return s;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where) {
    (void)st, (void)type, (void)where;
    return remove(path);
}

static enum nnv_status verify(void *own, struct nnv_err *err) {
    struct nnv_cli *c = own;
    struct stat st;
    const char *what = c->positional.count == 1 ? c->positional.item[0] : c->out;
    char folder[4096] = "";
    struct findings f = {.json = c->json};
    enum nnv_status s = NNV_OK;
    if (stat(what, &st) != 0) return nnv_fail(err, NNV_INVALID, "%s: there is no such folder or archive", what);
    const bool archive = S_ISREG(st.st_mode);
    if (archive) {
        snprintf(folder, sizeof folder, "%s/nnvts-verify-XXXXXX", nnv_file_temp());
        if (!mkdtemp(folder)) return nnv_fail(err, NNV_IO, "%s: no folder can be made there", folder);
        s = nnv_bundle_unpack(what, folder, err);
    }
    if (s == NNV_OK) s = verify_folder(archive ? folder : what, &f, err);
    if (archive) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (f.wrong) c->code = NNVTS_EXIT_FAIL;
    return s;
}

static int run(int argc, char **argv) {
    struct nnv_cli c = nnv_cli_defaults();
    const struct nnv_opt table[] = {NNV_OPTION_JSON(c), NNV_OPTION_END};
    return nnv_cli_run(&c, table, &help, 1, argc, argv, verify, &c);
}

const struct nnv_verb nnv_verb_verify = {"verify", "many runs", "does a run say what its raw data say?", run};
