/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/planted.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/runner/channel.h"
#include "harness/runner/process.h"

enum { LIST_BYTES = 512 << 10, TEXTS = 6 };

static const uint64_t READ_NS = 10000000000;

/** What the process tells: rows of a kind's letter and TEXTS terminated texts; a 0 behind the last. */
struct sheet {
    _Atomic uint32_t complete;
    bool fits;
    char rows[LIST_BYTES];
};

static bool put(struct sheet *s, size_t *at, const char *text) {
    size_t n = strlen(text) + 1;
    if (n > LIST_BYTES - 1 - *at) return false;
    memcpy(s->rows + *at, text, n);
    *at += n;
    return true;
}

static void fill(struct sheet *s, const char *path) {
    nnvts_planted_at_fn planted_at = NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle != NULL ? dlsym(handle, NNVTS_PLANTED_SYMBOL) : NULL;
    if (symbol == NULL) return;
    memcpy(&planted_at, &symbol, sizeof planted_at);
    const struct nnvts_planted *p;
    size_t at = 0;
    s->fits = true;
    for (uint32_t i = 0; s->fits && (p = planted_at(i)) != NULL; i++) {
        s->fits = p->struct_size >= sizeof *p && put(s, &at, p->kind == NNVTS_PLANTED_LEGAL ? "L" : "B");
        const char *texts[TEXTS] = {p->name, p->suite, p->models, p->fires, p->survives, p->spoils};
        for (size_t k = 0; k < TEXTS && s->fits; k++) s->fits = put(s, &at, texts[k] != NULL ? texts[k] : "");
    }
    atomic_store(&s->complete, 1);
}

static enum nnv_status unpack(const struct sheet *s, struct nnv_arena *arena, struct nnv_planted *out,
                              struct nnv_err *err) {
    const char *at = s->rows, *end = s->rows + LIST_BYTES;
    size_t texts = 0;
    for (const char *p = at; *p != '\0';) {
        for (size_t k = 0; k <= TEXTS && p < end; k++) p += strlen(p) + 1;
        texts += TEXTS + 1;
        if (p >= end) return nnv_fail(err, NNV_INVALID, "its list of planted bugs is damaged");
    }
    out->count = texts / (TEXTS + 1);
    out->item = NNV_NEW(arena, struct nnvts_planted, out->count + 1);
    for (size_t i = 0; out->item != NULL && i < out->count; i++) {
        const char *text[TEXTS] = {0};
        int32_t kind = *at == 'L' ? NNVTS_PLANTED_LEGAL : NNVTS_PLANTED_BUG;
        at += strlen(at) + 1;
        for (size_t k = 0; k < TEXTS; k++, at += strlen(at) + 1)
            if ((text[k] = nnv_arena_strdup(arena, at)) == NULL) return nnv_no_memory(err);
        out->item[i] = (struct nnvts_planted){sizeof *out->item,
                                              kind,
                                              text[0],
                                              text[1],
                                              text[2],
                                              text[3],
                                              *text[4] != '\0' ? text[4] : NULL,
                                              *text[5] != '\0' ? text[5] : NULL};
    }
    return out->item != NULL ? NNV_OK : nnv_no_memory(err);
}

enum nnv_status nnv_planted_read(const char *path, struct nnv_arena *arena, struct nnv_planted *out,
                                 struct nnv_err *err) {
    struct sheet *s = nnv_shared_new(sizeof *s);
    if (s == NULL) return nnv_no_memory(err);
    enum nnv_status st;
    struct nnv_end end;
    pid_t pid = nnv_process_fork();
    if (pid == 0) {
        nnv_process_sandbox(-1);
        fill(s, path);
        _exit(0);
    }
    if (pid > 0) nnv_process_wait(pid, READ_NS, &end);
    s->rows[LIST_BYTES - 1] = '\0';
    if (pid < 0)
        st = nnv_fail(err, NNV_IO, "cannot start a process: %s", strerror(errno));
    else if (!atomic_load(&s->complete))
        st = nnv_fail(err, NNV_INVALID, "driver '%s' has no list of planted bugs (" NNVTS_PLANTED_SYMBOL ")", path);
    else if (!s->fits)
        st =
            nnv_fail(err, NNV_INVALID, "driver '%s': its list of planted bugs is of another version or too long", path);
    else
        st = unpack(s, arena, out, err);
    nnv_shared_free(s, sizeof *s);
    return st;
}
