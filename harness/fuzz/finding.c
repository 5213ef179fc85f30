/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/fuzz/finding.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "harness/runner/worker/channel.h"
#include "harness/client/memory.h"
#include "reference/spec/spec.h"

/* -------------------------------------------------------------------- ended */

static char *copy(const struct nnv_bytes *b) { return strndup(b->data != NULL ? b->data : "", b->len); }

static bool fuzz_ended_copy(struct nnv_fuzz_ended *to, const struct nnv_ended *from) {
    *to = (struct nnv_fuzz_ended){
        .ended = true,
        .verdict = from->verdict,
        .phase = from->phase,
        .signal = from->signal,
        .reason = copy(&from->reason),
        .lines = copy(&from->outputs),
        .backtrace = copy(&from->backtrace),
        .log = copy(&from->log),
    };
    return to->reason && to->lines && to->backtrace && to->log;
}

void nnv_fuzz_ended_free(struct nnv_fuzz_ended *e) {
    free(e->reason);
    free(e->lines);
    free(e->backtrace);
    free(e->log);
    *e = (struct nnv_fuzz_ended){0};
}

void nnv_fuzz_finding_free(struct nnv_fuzz_finding *f) {
    free(f->detail);
    free(f->inputs);
    *f = (struct nnv_fuzz_finding){0};
}

/* ----------------------------------------------------------------- signature */

/** Hash of a line without its numbers: addresses and sizes differ from input to input. */
static uint64_t hash_words(const char *line, size_t len) {
    char words[256];
    size_t n = 0;
    for (size_t i = 0; i < len && n < sizeof words - 1; i++)
        if (!isdigit((unsigned char)line[i])) words[n++] = line[i];
    words[n] = '\0';
    return nnv_hash_str(words);
}

/** Where a process crashed: a sanitizer's summary, else the innermost frame that is not the C library's. */
static uint64_t crash_place(const struct nnv_fuzz_ended *e) {
    static const char *const summaries[] = {"SUMMARY: ", "runtime error: "};
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; i++) {
        const char *summary = strstr(e->log, summaries[i]);
        if (summary != NULL) return nnv_hash_bytes(summary, strcspn(summary, "\n"));
    }
    for (const char *frame = strchr(e->backtrace, '#'); frame != NULL; frame = strchr(frame + 1, '#')) {
        const char *name = strchr(frame, ' ');
        if (name == NULL) break;
        if (strncmp(name, " libc.", 6) == 0 || strncmp(name, " libasan", 8) == 0) continue;
        return nnv_hash_bytes(name, strcspn(name, "\t\n"));
    }
    return 0;
}

/** What a batch with process e came to, when the process did not live to tell. */
static bool process_ended(const struct nnv_fuzz_batch *b, const struct nnv_fuzz_ended *e, struct nnv_fuzz_finding *f,
                          uint32_t *first, uint32_t *last) {
    /* nnvts died while it built the next input: what the driver did before is to blame. */
    bool own = e->verdict == NNVTS_ERROR && e->signal != 0;
    if (e->verdict != NNVTS_CRASH && e->verdict != NNVTS_TIMEOUT && !own) return false;
    uint32_t current = b->current;
    bool unchanged = current >= b->count;
    f->kind = e->verdict == NNVTS_TIMEOUT ? NNV_WRONG_HANG : NNV_WRONG_CRASH;
    uint64_t key[4] = {f->kind, e->phase, (uint64_t)e->signal, f->kind == NNV_WRONG_CRASH ? crash_place(e) : 0};
    f->signature = nnv_hash_bytes(key, sizeof key);
    snprintf(f->text, sizeof f->text, "%s%s", e->reason,
             unchanged ? " (with the model as it was before mutations)" : "");
    struct nnv_text detail = {0};
    nnv_text_addf(&detail, "%s%s%s", e->backtrace, *e->log ? "printed:\n" : "", e->log);
    f->detail = detail.data;
    *first = unchanged || own ? b->first : current;
    *last = unchanged ? b->count : current + 1;
    return true;
}

/** A line "w KIND INPUT TEXT". */
static bool line_of(const char *line, struct nnv_fuzz_finding *f, uint32_t *input) {
    char kind[16];
    int text = 0;
    if (sscanf(line, "w %15s %" SCNu32 " %n", kind, input, &text) != 2 || text == 0) return false;
    f->kind = NNV_WRONG_COUNT;
    for (int k = 0; k < NNV_WRONG_COUNT; k++)
        if (strcmp(kind, nnv_fuzz_wrong_name((enum nnv_fuzz_wrong)k)) == 0) f->kind = (enum nnv_fuzz_wrong)k;
    size_t len = strcspn(line + text, "\n");
    snprintf(f->text, sizeof f->text, "%.*s", (int)len, line + text);
    uint64_t key[2] = {f->kind, f->kind == NNV_WRONG_VALUES ? 0 : hash_words(line + text, len)};
    f->signature = nnv_hash_bytes(key, sizeof key);
    return f->kind < NNV_WRONG_COUNT;
}

bool nnv_fuzz_next_wrong(const struct nnv_fuzz_batch *b, const struct nnv_fuzz_ended *e, const char **at,
                         struct nnv_fuzz_finding *f) {
    uint32_t first = 0, last = 0;
    bool found = false;
    *f = (struct nnv_fuzz_finding){.times = 1};
    if (*at == NULL) {
        *at = e->lines;
        found = process_ended(b, e, f, &first, &last);
    }
    while (!found && **at != '\0') {
        const char *line = *at;
        *at += strcspn(line, "\n");
        *at += **at == '\n';
        found = line_of(line, f, &first);
        bool all = f->kind == NNV_WRONG_VALUES; /* any of them may have done it */
        last = found && !all ? first + 1 : b->count;
        if (all) first = b->first;
    }
    if (!found) return false;
    if (last > b->count) last = b->count;
    f->inputs = first < last ? calloc(last - first, sizeof *f->inputs) : calloc(1, sizeof *f->inputs);
    if (f->inputs == NULL) {
        nnv_fuzz_finding_free(f);
        return false;
    }
    for (uint32_t i = first; i < last; i++) f->inputs[f->count++] = nnv_fuzz_batch_input(b, i);
    if (f->count == 0) f->inputs[f->count++].base = b->parent.base;
    return true;
}

/* ------------------------------------------------------------------- running */

struct gathering {
    struct nnv_fuzz_ended *ended;
    uint64_t until_ns;
};

static enum nnv_status on_ended(void *context, const struct nnv_ended *e, struct nnv_err *err) {
    struct gathering *g = context;
    if (!fuzz_ended_copy(&g->ended[e->index], e)) return nnv_no_memory(err);
    if (e->verdict == NNVTS_ERROR && e->signal == 0)
        return nnv_fail(err, NNV_INTERNAL, "%.*s", (int)e->reason.len, e->reason.data);
    return NNV_OK;
}

static enum nnv_status on_idle(void *context, struct nnv_err *err) {
    const struct gathering *g = context;
    if (g->until_ns == 0 || nnv_now_ns() < g->until_ns) return NNV_OK;
    return nnv_fail(err, NNV_TIMEOUT, "the time is over");
}

enum nnv_status nnv_fuzz_run_batches(const struct nnv_run_config *config, struct nnv_fuzz_batch *batches, size_t count,
                                     struct nnv_fuzz_ended *ended, uint64_t until_ns, bool *interrupted,
                                     struct nnv_err *err) {
    size_t bytes = (count ? count : 1) * sizeof(struct nnv_fuzz_board);
    struct nnv_fuzz_board *boards = nnv_shared_new(bytes);
    struct nnv_case *cases = calloc(count ? count : 1, sizeof *cases);
    struct gathering g = {ended, until_ns};
    enum nnv_status st = NNV_OK;
    if (boards == NULL || cases == NULL) st = nnv_no_memory(err);
    for (size_t i = 0; st == NNV_OK && i < count; i++) {
        batches[i].board = &boards[i];
        atomic_store(&boards[i].current, batches[i].first);
        cases[i] =
            (struct nnv_case){.name = "fuzz", .suite = "fuzz", .op = "", .type = "", .tags = "", .data = &batches[i]};
    }
    const struct nnv_pool_options options = {
        .config = config, .cases = cases, .count = count, .context = &g, .ended = on_ended, .idle = on_idle};
    if (st == NNV_OK) st = nnv_pool_run(&options, interrupted, err);
    for (size_t i = 0; boards != NULL && cases != NULL && i < count; i++) {
        batches[i].current = atomic_load(&boards[i].current);
        batches[i].done = atomic_load(&boards[i].done);
        batches[i].board = NULL;
    }
    free(cases);
    nnv_shared_free(boards, bytes);
    return st;
}

/* ------------------------------------------------------------------ reducing */

static enum nnv_status replay(const struct nnv_run_config *config, const struct nnv_fuzz_input *inputs, size_t count,
                              struct nnv_fuzz_finding *f, bool *wrong, bool *interrupted, struct nnv_err *err) {
    struct nnv_fuzz_batch b = {.parent = inputs[0], .given = inputs, .count = (uint32_t)count};
    struct nnv_fuzz_ended e = {0};
    struct nnv_run_config one = *config;
    const char *at = NULL;
    one.jobs = 1;
    enum nnv_status st = nnv_fuzz_run_batches(&one, &b, 1, &e, 0, interrupted, err);
    *wrong = st == NNV_OK && e.ended && nnv_fuzz_next_wrong(&b, &e, &at, f);
    nnv_fuzz_ended_free(&e);
    return st;
}

enum nnv_status nnv_fuzz_replay(const struct nnv_run_config *config, const struct nnv_fuzz_input *inputs, size_t count,
                                struct nnv_fuzz_finding *finding, bool *wrong, struct nnv_err *err) {
    bool interrupted = false;
    *wrong = false;
    enum nnv_status st = replay(config, inputs, count, finding, wrong, &interrupted, err);
    if (st == NNV_OK && interrupted) st = nnv_fail(err, NNV_INVALID, "interrupted");
    return st;
}

/** Is the finding still the same with these inputs? Then they are its inputs. */
static enum nnv_status try_inputs(const struct nnv_run_config *config, struct nnv_fuzz_finding *f,
                                  const struct nnv_fuzz_input *inputs, size_t count, bool *same, struct nnv_err *err) {
    struct nnv_fuzz_finding got = {0};
    enum nnv_status st = nnv_fuzz_replay(config, inputs, count, &got, same, err);
    *same = st == NNV_OK && *same && got.signature == f->signature;
    if (*same) {
        memmove(f->inputs, inputs, count * sizeof *inputs);
        f->count = count;
        memcpy(f->text, got.text, sizeof f->text);
        char *detail = f->detail;
        f->detail = got.detail;
        got.detail = detail;
    }
    nnv_fuzz_finding_free(&got);
    return st;
}

/** Drops `part` inputs at a time, from the end; a single one is tried alone first. */
static enum nnv_status reduce_inputs(const struct nnv_run_config *config, struct nnv_fuzz_finding *f,
                                     struct nnv_err *err) {
    struct nnv_fuzz_input *fewer = calloc(f->count, sizeof *fewer);
    enum nnv_status st = fewer != NULL ? NNV_OK : nnv_no_memory(err);
    bool same = false;
    if (st == NNV_OK) {
        fewer[0] = f->inputs[f->count - 1];
        st = try_inputs(config, f, fewer, 1, &same, err);
    }
    for (size_t part = f->count / 2; st == NNV_OK && !same && part > 0; part /= 2)
        for (size_t at = f->count; st == NNV_OK && at >= part && f->count > part; at -= part) {
            size_t from = at - part, rest = f->count - at;
            memcpy(fewer, f->inputs, from * sizeof *fewer);
            memcpy(fewer + from, f->inputs + at, rest * sizeof *fewer);
            bool gone = false;
            st = try_inputs(config, f, fewer, from + rest, &gone, err);
        }
    free(fewer);
    return st;
}

enum nnv_status nnv_fuzz_reduce(const struct nnv_run_config *config, struct nnv_fuzz_finding *f, struct nnv_err *err) {
    enum nnv_status st = f->count > 1 ? reduce_inputs(config, f, err) : NNV_OK;
    bool shorter = f->count == 1;
    while (st == NNV_OK && shorter) {
        shorter = false;
        for (uint32_t i = f->inputs[0].count; st == NNV_OK && i-- > 0;) {
            struct nnv_fuzz_input fewer = f->inputs[0];
            memmove(&fewer.mutation[i], &fewer.mutation[i + 1], (fewer.count - i - 1) * sizeof *fewer.mutation);
            fewer.count--;
            bool same = false;
            st = try_inputs(config, f, &fewer, 1, &same, err);
            shorter = shorter || same;
        }
    }
    return st;
}

/* ------------------------------------------------------------------- writing */

/** Appends text as lines of a comment. */
static void add_comment(struct nnv_text *t, const char *text) {
    while (text != NULL && *text != '\0') {
        size_t len = strcspn(text, "\n");
        nnv_text_add(t, "# ");
        nnv_text_add_n(t, text, len);
        nnv_text_add(t, "\n");
        text += len + (text[len] == '\n');
    }
}

enum nnv_status nnv_fuzz_spec(const struct nnv_fuzz_input *input, struct nnv_arena *arena, struct nnv_spec **out,
                              struct nnv_err *err) {
    struct nnv_client client = {0};
    struct nnv_fuzz_image image = {0};
    struct nnv_spec *base = NULL, *made = NNV_NEW(arena, struct nnv_spec, 1);
    enum nnv_status st = made != NULL ? NNV_OK : nnv_no_memory(err);
    if (st == NNV_OK) st = nnv_fuzz_base_build(&input->base, arena, &base, err);
    if (st == NNV_OK) st = nnv_fuzz_image_begin(&image, &client, base, arena, err);
    if (st == NNV_OK) nnv_fuzz_apply(&image, input);
    if (st == NNV_OK) *out = !image.failed && nnv_fuzz_to_spec(&image, arena, made) ? made : NULL;
    nnv_fuzz_image_end(&image);
    nnv_client_memory_free(client.memory);
    return st;
}

static enum nnv_status write_text(const struct nnv_text *t, const char *folder, const char *name, const char *suffix,
                                  struct nnv_err *err) {
    struct nnv_text path = {0};
    nnv_text_addf(&path, "%s/%s%s", folder, name, suffix);
    enum nnv_status st =
        t->failed || path.failed ? nnv_no_memory(err) : nnv_file_write(path.data, t->data, t->len, err);
    nnv_text_free(&path);
    return st;
}

enum nnv_status nnv_fuzz_finding_write(const struct nnv_fuzz_finding *f, const char *folder, const char *driver,
                                       struct nnv_err *err) {
    struct nnv_arena *arena = nnv_arena_new();
    struct nnv_spec *spec = NULL;
    struct nnv_text t = {0}, json = {0};
    nnv_text_addf(&t, "# nnvts fuzz --driver %s --replay %s.fuzz\n", driver, f->file);
    nnv_text_addf(&t, "# %s: ", nnv_fuzz_wrong_name(f->kind));
    nnv_text_addf(&t, "%.*s\n", (int)strcspn(f->text, "\n"), f->text);
    add_comment(&t, f->detail);
    for (size_t i = 0; i < f->count; i++) nnv_fuzz_print(&t, &f->inputs[i]);
    enum nnv_status st = arena != NULL ? write_text(&t, folder, f->file, ".fuzz", err) : nnv_no_memory(err);
    if (st == NNV_OK && f->count == 1) st = nnv_fuzz_spec(&f->inputs[0], arena, &spec, err);
    if (st == NNV_OK && spec != NULL) {
        spec->name = f->file;
        nnv_spec_write_json(spec, true, &json);
        nnv_text_add(&json, "\n");
        st = write_text(&json, folder, f->file, ".json", err);
    }
    nnv_text_free(&t);
    nnv_text_free(&json);
    nnv_arena_free(arena);
    return st;
}
