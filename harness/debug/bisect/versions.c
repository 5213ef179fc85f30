/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/debug/bisect/versions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "harness/client/abi.h"
#include "harness/client/run.h"
#include "harness/runner/ask.h"
#include "harness/runner/run.h"

enum { FILES = 2 * NNVTS_MAX_CACHE_FILES, PATH_MOST = 4096 };

const char *nnv_crossing_name(enum nnv_crossing_kind kind) {
    static const char *const names[] = {"none", "refused", "right", "wrong", "ended"};
    return names[kind];
}

/* -------------------------------------------------------------------------- caches */

/** One version is asked: it compiles and writes the files in the folder, or reads them. */
struct question {
    const struct nnv_oracle *o;
    const struct nnv_spec *spec;
    const char *folder;
    uint32_t models, datas;
    bool reads;
};

static const char *file_of(const char *folder, uint32_t i, char path[PATH_MOST]) {
    snprintf(path, PATH_MOST, "%s/%u", folder, i);
    return path;
}

static bool open_files(const struct question *q, int *fd) {
    char path[PATH_MOST];
    for (uint32_t i = 0; i < q->models + q->datas; i++)
        if ((fd[i] = open(file_of(q->folder, i, path), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0) return false;
    return true;
}

/** In the new process. */
static enum nnv_status answer(struct nnv_answering *in, struct nnv_err *err) {
    const struct question *q = in->context;
    struct nnv_crossing *c = in->shared;
    int fd[FILES];
    struct nnv_outcome out;
    struct nnv_opinion opinion = {.verdict = NNVTS_PASS};
    if (!open_files(q, fd)) return nnv_fail(err, NNV_IO, "%s: no cache files: %s", q->folder, strerror(errno));
    const struct nnvts_cache cache = {
        .model_fds = fd, .model_fd_count = q->models, .data_fds = fd + q->models, .data_fd_count = q->datas};
    in->client->cache = &cache;
    in->client->from_cache = q->reads;
    nnv_client_run(in->client, q->spec, in->arena, in->phase, &out);
    *in->phase = NNV_PHASE_CHECK;
    if (out.kind == NNV_OUTCOME_DONE && q->reads)
        nnv_oracle_compare(q->spec, q->o->precision, out.outputs, in->arena, &opinion);
    const bool refused = out.kind == NNV_OUTCOME_UNSUPPORTED || out.kind == NNV_OUTCOME_REFUSED;
    c->kind = refused                        ? NNV_CROSSING_REFUSED
              : out.kind != NNV_OUTCOME_DONE ? NNV_CROSSING_WRONG
              : nnv_is_bad(opinion.verdict)  ? NNV_CROSSING_WRONG
                                             : NNV_CROSSING_RIGHT;
    char status[32];
    if (refused && q->reads)
        snprintf(c->why, sizeof c->why, "prepare_from_cache answered %s", nnv_abi_status_name((int)out.status, status));
    else
        snprintf(c->why, sizeof c->why, "%s", out.kind == NNV_OUTCOME_DONE ? opinion.reason : out.reason);
    return NNV_OK;
}

static enum nnv_status ask(const struct question *of, const char *folder, struct nnv_crossing *out,
                           struct nnv_err *err) {
    struct question q = *of;
    q.folder = folder;
    struct nnv_ask a = {.answer = answer,
                        .context = &q,
                        .bytes = sizeof *out,
                        .driver = q.o->path,
                        .driver_options = q.o->options,
                        .timeout_ns = q.o->timeout_ns};
    const enum nnv_status st = nnv_ask(&a, err);
    if (st == NNV_OK && a.complete) {
        *out = *(const struct nnv_crossing *)a.shared;
        out->why[sizeof out->why - 1] = '\0';
    } else if (st == NNV_OK) {
        *out = (struct nnv_crossing){.kind = NNV_CROSSING_ENDED};
        snprintf(out->why, sizeof out->why, "%s", a.how);
    }
    nnv_ask_free(&a);
    return st;
}

/** Numbers of files that a version announces. */
static enum nnv_status count_files(const struct nnv_oracle *o, struct nnv_arena *arena, struct question *q,
                                   struct nnv_err *err) {
    struct nnv_driver_info info;
    const enum nnv_status st =
        nnv_driver_probe(o->path, o->options, nnv_opening_ns(o->timeout_ns, 0), arena, &info, err);
    if (st == NNV_OK) q->models = info.model_cache_files, q->datas = info.data_cache_files;
    return st;
}

/** One version writes, the other reads. */
static enum nnv_status cross(const struct question *writes, const struct question *reads, struct nnv_crossing *out,
                             struct nnv_err *err) {
    char folder[PATH_MOST / 2], path[PATH_MOST];
    *out = (struct nnv_crossing){.kind = NNV_CROSSING_NONE};
    if (writes->models + writes->datas == 0 || reads->models + reads->datas == 0) {
        snprintf(out->why, sizeof out->why, "%s has no caches",
                 writes->models + writes->datas ? "the reader" : "the writer");
        return NNV_OK;
    }
    if (writes->models != reads->models || writes->datas != reads->datas || writes->models + writes->datas > FILES) {
        snprintf(out->why, sizeof out->why, "%u and %u files are written, %u and %u would be read", writes->models,
                 writes->datas, reads->models, reads->datas);
        return NNV_OK;
    }
    snprintf(folder, sizeof folder, "%s/nnvts-cache-XXXXXX", nnv_file_temp());
    if (!mkdtemp(folder)) return nnv_fail(err, NNV_IO, "%s: %s", folder, strerror(errno));
    enum nnv_status st = ask(writes, folder, out, err);
    if (st == NNV_OK && out->kind == NNV_CROSSING_RIGHT)
        st = ask(reads, folder, out, err);
    else
        out->kind = NNV_CROSSING_NONE;
    for (uint32_t i = 0; i < writes->models + writes->datas; i++) unlink(file_of(folder, i, path));
    rmdir(folder);
    return st;
}

static enum nnv_status cross_both_ways(const struct nnv_spec *spec, const struct nnv_oracle *now,
                                       const struct nnv_oracle *before, struct nnv_arena *arena,
                                       struct nnv_versions *out, struct nnv_err *err) {
    struct question write_now = {.o = now, .spec = spec}, write_before = {.o = before, .spec = spec};
    enum nnv_status st = count_files(now, arena, &write_now, err);
    if (st == NNV_OK) st = count_files(before, arena, &write_before, err);
    struct question read_now = write_now, read_before = write_before;
    read_now.reads = read_before.reads = true;
    if (st == NNV_OK) st = cross(&write_before, &read_now, &out->from_before, err);
    if (st == NNV_OK) st = cross(&write_now, &read_before, &out->to_before, err);
    return st;
}

/* ---------------------------------------------------------------------- operations */

enum nnv_status nnv_compare_versions(const struct nnv_spec *spec, const struct nnv_oracle *now,
                                     const struct nnv_oracle *before, struct nnv_arena *arena, struct nnv_versions *out,
                                     struct nnv_err *err) {
    out->culprit = UINT32_MAX;
    enum nnv_status st = nnv_judge_steps(spec, before, arena, &out->before, err);
    if (st == NNV_OK) st = nnv_judge_steps(spec, now, arena, &out->now, err);
    if (st != NNV_OK) return st;
    for (uint32_t i = 0; i < out->now.spec->model.main.noperations && out->culprit == UINT32_MAX; i++) {
        const bool wrong = out->now.step && out->now.step[i].kind == NNV_STEP_WRONG;
        if (wrong && !(out->before.step && out->before.step[i].kind == NNV_STEP_WRONG)) out->culprit = i;
    }
    return cross_both_ways(out->now.spec, now, before, arena, out, err);
}
