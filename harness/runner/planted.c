/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/planted.h"

#include <dlfcn.h>
#include <string.h>

#include "harness/runner/ask.h"

enum { LIST_BYTES = 512 << 10, TEXTS = 6 };

/** What the process tells: rows of a kind's letter and TEXTS terminated texts; a 0 behind the last. */
struct sheet {
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

static enum nnv_status fill(struct nnv_answering *in, struct nnv_err *err) {
    struct sheet *s = in->shared;
    nnvts_planted_at_fn planted_at = NULL;
    void *handle = dlopen(in->context, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle != NULL ? dlsym(handle, NNVTS_PLANTED_SYMBOL) : NULL;
    if (symbol == NULL) return nnv_fail(err, NNV_INVALID, "has no list of planted bugs (" NNVTS_PLANTED_SYMBOL ")");
    memcpy(&planted_at, &symbol, sizeof planted_at);
    const struct nnvts_planted *p;
    size_t at = 0;
    s->fits = true;
    for (uint32_t i = 0; s->fits && (p = planted_at(i)) != NULL; i++) {
        s->fits = p->struct_size >= sizeof *p && put(s, &at, p->kind == NNVTS_PLANTED_LEGAL ? "L" : "B");
        const char *texts[TEXTS] = {p->name, p->suite, p->models, p->fires, p->survives, p->spoils};
        for (size_t k = 0; k < TEXTS && s->fits; k++) s->fits = put(s, &at, texts[k] != NULL ? texts[k] : "");
    }
    return s->fits ? NNV_OK : nnv_fail(err, NNV_INVALID, "has a list of planted bugs of another version, or too long");
}

static enum nnv_status unpack(const struct sheet *s, struct nnv_arena *arena, struct nnv_planted *out,
                              struct nnv_err *err) {
    const char *at = s->rows, *end = s->rows + LIST_BYTES;
    size_t texts = 0;
    for (const char *p = at; *p != '\0';) {
        for (size_t k = 0; k <= TEXTS && p < end; k++) p += strlen(p) + 1;
        texts += TEXTS + 1;
        if (p >= end) return nnv_fail(err, NNV_INVALID, "has a damaged list of planted bugs");
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

enum nnv_status nnv_planted_read(const char *path, uint64_t timeout_ns, struct nnv_arena *arena,
                                 struct nnv_planted *out, struct nnv_err *err) {
    char *context = nnv_arena_strdup(arena, path);
    struct nnv_ask ask = {.answer = fill, .context = context, .bytes = sizeof(struct sheet), .timeout_ns = timeout_ns};
    enum nnv_status st = context != NULL ? nnv_ask(&ask, err) : nnv_no_memory(err);
    struct sheet *s = ask.shared;
    if (st == NNV_OK && !ask.complete) st = nnv_fail(err, NNV_INVALID, "%s", ask.how);
    if (st == NNV_OK) {
        s->rows[LIST_BYTES - 1] = '\0';
        st = unpack(s, arena, out, err);
    }
    nnv_ask_free(&ask);
    return st == NNV_OK ? st : nnv_at(err, st, "driver '%s'", path);
}
