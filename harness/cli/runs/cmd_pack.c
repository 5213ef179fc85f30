/* SPDX-License-Identifier: Apache-2.0 */
/** @file cmd_pack.c nnvts pack: a run as one file to hand in. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/words.h"
#include "harness/journal/bundle/bundle.h"
#include "harness/journal/bundle/verify.h"
#include "harness/cli/cli.h"

struct pack {
    struct nnv_cli c;
    bool in_process;
};

static const struct nnv_verb_help help = {
    .usage = "nnvts pack RUN [--out FILE]",
    .summary =
        "Packs the folder of a run (or of a bench) into one archive to hand in: list of cases, journal, reports, "
        "dumps and expectations, with the SHA-256 of each, and of nnvts and the driver as they are now. The "
        "same folder gives the same bytes. nnvts verify checks it. A run whose driver shared a process with its judge "
        "(without run --isolate-judge, host:, remote:) could have been written by that driver, and is refused.",
    .examples = "nnvts pack nnvts-out                        writes nnvts-out.tar\n"
                "nnvts pack results/42 -o submission.tar\n"
                "nnvts verify submission.tar                 what the receiver does\n",
};

static void add_hash(json_t *to, const char *member, const char *path) {
    char hex[NNV_HEX_SHA256];
    struct nnv_err err = {0};
    if (nnv_bundle_hash(path, hex, &err) == NNV_OK) json_object_set_new(to, member, json_string(hex));
}

/** What the journal's first line says, with the hashes of the program and, where it can be found, the driver. */
static void describe(const char *folder, json_t *manifest, struct nnv_arena *arena) {
    char path[4096];
    struct nnv_err err = {0};
    snprintf(path, sizeof path, "%s/journal.jsonl", folder);
    FILE *f = fopen(path, "rb");
    json_t *header = f ? json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    if (f) fclose(f);
    json_t *driver = json_object_get(header, "driver");
    static const char *const members[] = {"driver",    "seed", "cases", "selection",
                                          "precision", "tier", "start", "build"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *value = json_object_get(header, members[i]);
        if (value) json_object_set(manifest, members[i], value);
    }
    if (header) json_object_set_new(manifest, "isolated", json_boolean(nnv_verify_apart(header)));
    const char *argument = json_string_value(json_object_get(driver, "argument")), *file, *options;
    if (argument && nnv_client_resolve(argument, arena, &file, &options, &err) == NNV_OK)
        add_hash(manifest, "driver_sha256", file);
    json_decref(header);
}

static enum nnv_status pack(void *own, struct nnv_err *err) {
    const struct pack *p = own;
    const struct nnv_cli *c = &p->c;
    char folder[4096], path[4200], journal[4200];
    struct stat st;
    if (c->positional.count == 0) return nnv_fail(err, NNV_INVALID, "which run? give its folder");
    snprintf(folder, sizeof folder, "%s", c->positional.item[0]);
    for (size_t n = strlen(folder); n > 1 && folder[n - 1] == '/'; n--) folder[n - 1] = '\0';
    snprintf(journal, sizeof journal, "%s/journal.jsonl", folder);
    snprintf(path, sizeof path, "%s/bench.json", folder);
    if (stat(journal, &st) != 0 && stat(path, &st) != 0)
        return nnv_fail(err, NNV_INVALID, "%s: not the folder of a run: it has no journal.jsonl", folder);
    snprintf(path, sizeof path, "%s.tar", folder);
    json_t *manifest = json_pack("{s:s, s:s}", "format", "nnvts-bundle/1", "nnvts", NNVTS_VERSION);
    if (!manifest) return nnv_no_memory(err);
    add_hash(manifest, "program_sha256", "/proc/self/exe");
    describe(folder, manifest, c->arena);
    const bool shared = json_is_false(json_object_get(manifest, "isolated"));
    enum nnv_status s = NNV_OK;
    if (shared && !p->in_process)
        s = nnv_fail(
            err, NNV_INVALID,
            "%s: the driver ran in the process that judged it, and could have written its own verdicts: run it "
            "with --isolate-judge, or pack it with --in-process, which says so",
            folder);
    if (s == NNV_OK) s = nnv_bundle_write(folder, manifest, c->out ? c->out : path, err);
    if (s == NNV_OK)
        printf("%s: %zu files\n", nnv_shown(c->out ? c->out : path).s,
               json_array_size(json_object_get(manifest, "files")));
    if (s == NNV_OK && shared) puts(nnv_cli_not_apart);
    json_decref(manifest);
    return s;
}

static int run(int argc, char **argv) {
    struct pack p = {.c = nnv_cli_defaults()};
    p.c.out = NULL;
    const struct nnv_opt table[] = {
        {'o', "out", NNV_OPT_OUT, &p.c.out, "FILE", "the archive; default: RUN.tar", NULL},
        {0, "in-process", NNV_OPT_FLAG, &p.in_process, NULL,
         "also a run whose driver shared a process with its judge; the archive says so", NULL},
        NNV_OPTION_END,
    };
    return nnv_cli_run(&p.c, table, &help, 1, argc, argv, pack, &p);
}

const struct nnv_verb nnv_verb_pack = {"pack", "many runs", "a run as one file to hand in", run};
