/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/runner/worker/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/program.h"

enum {
    FRAMES = 16,
    QUESTIONS = 32,
    PLACE_BYTES = 160,
    SAID_BYTES = 300,
    NUMBER_BYTES = 20,
    ANSWER_BYTES = 1 << 10, /* on a place */
    ASKED_AT_ONCE = 1 << 12,
};
static const uint64_t DEADLINE_NS = UINT64_C(5000000000);

/** A frame of a trace: "#1 libnpu.so+0x12f0 npu_execute+0x40". */
struct frame {
    char place[PLACE_BYTES]; /* "libnpu.so+0x12f0"; "": none */
    size_t module;           /* bytes of place that name the file */
    bool returns;            /* to the address: the call is before it */
    bool mangled;            /* its function has a name of C++ */
};

static struct frame read_frame(const char *line, size_t n) {
    struct frame f = {.returns = strncmp(line, "#0 ", 3) != 0};
    const char *place = memchr(line, ' ', n), *end = line + n;
    if (*line != '#' || !place) return f;
    place++;
    const char *name = memchr(place, ' ', (size_t)(end - place));
    const size_t bytes = (size_t)((name ? name : end) - place);
    const char *plus = memmem(place, bytes, "+0x", 3);
    if (!plus || bytes >= sizeof f.place) return f;
    memcpy(f.place, place, bytes);
    f.module = (size_t)(plus - place);
    f.mangled = name && end - name > 3 && strncmp(name, " _Z", 3) == 0;
    return f;
}

/** The next line that is not empty; false: no more. */
static bool next_line(const char **at, const char *end, const char **line, size_t *n) {
    while (*at < end && **at == '\n') (*at)++;
    if (*at >= end) return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    *line = *at;
    *n = (size_t)((stop ? stop : end) - *at);
    *at += *n;
    return true;
}

/** True if nothing is to be asked of the frame. */
static bool is_known(const struct nnv_symbols *s, const struct frame *f) {
    return !*f->place || nnv_map_find(&s->places, f->place) != NNV_MAP_NONE;
}

static const char *said_of(const struct nnv_symbols *s, const struct frame *f) {
    const uint32_t n = *f->place ? nnv_map_find(&s->places, f->place) : NNV_MAP_NONE;
    return n == NNV_MAP_NONE ? "" : nnv_map_value(&s->places, n);
}

/** The path of the frame's file, from the list behind the frames; the arena's, or NULL. */
static const char *path_of(const struct frame *f, const char *trace, size_t n, struct nnv_arena *arena) {
    const char *line, *at = trace;
    size_t bytes;
    while (next_line(&at, trace + n, &line, &bytes))
        if (bytes > f->module + 2 && strncmp(line, f->place, f->module) == 0 && memcmp(line + f->module, "=/", 2) == 0)
            return nnv_arena_printf(arena, "%.*s", (int)(bytes - f->module - 1), line + f->module + 1);
    return NULL;
}

/** Asks for some of the places; false: the program did not come to its end. */
static bool ask_some(const char *path, const char *options, const uint64_t *place, size_t count, uint64_t deadline_ns,
                     struct nnv_text *answer) {
    char number[NUMBER_BYTES * (size_t)ASKED_AT_ONCE];
    char *words[ASKED_AT_ONCE + 4] = {"addr2line", (char *)(uintptr_t)options, (char *)(uintptr_t)path};
    for (size_t i = 0; i < count; i++) {
        words[3 + i] = &number[NUMBER_BYTES * i];
        snprintf(words[3 + i], NUMBER_BYTES, "0x%" PRIx64, place[i]);
    }
    const struct nnv_tool addr2line = {.words = words, .most = count * ANSWER_BYTES, .timeout_ns = deadline_ns};
    return nnv_tool_run(&addr2line, answer, NULL) == NNV_OK;
}

void nnv_symbols_ask(const char *path, const char *options, const uint64_t *place, size_t count, uint64_t deadline_ns,
                     struct nnv_text *answer) {
    for (size_t i = 0; i < count; i += ASKED_AT_ONCE) {
        const size_t n = count - i < ASKED_AT_ONCE ? count - i : ASKED_AT_ONCE;
        if (!ask_some(path, options, place + i, n, deadline_ns, answer)) return;
    }
}

/** What is said of an answer; without a line addr2line guesses that the nearest function is meant. */
static const char *told_by(const struct frame *f, const char *line, size_t n, struct nnv_arena *arena) {
    const char *at = memmem(line, n, " at ??", 6), *remark = memmem(line, n, " (discriminator", 15);
    if (n == 0 || strncmp(line, "??", 2) == 0 || (at && !f->mangled)) return "";
    if (at) n = (size_t)(at - line);
    if (!at && remark) n = (size_t)(remark - line);
    return nnv_arena_printf(arena, "%.*s", (int)(n < SAID_BYTES ? n : SAID_BYTES), line);
}

/** Asks for what is not known of the frames that are in the file of the first. */
static bool learn(struct nnv_symbols *s, const struct frame *frame, size_t count, const char *path) {
    uint64_t address[FRAMES];
    struct nnv_text answer = {0};
    size_t of[FRAMES], n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct frame *f = &frame[i];
        if (is_known(s, f) || f->module != frame->module || strncmp(f->place, frame->place, f->module) != 0) continue;
        const unsigned long at = strtoul(f->place + f->module + 1, NULL, 16);
        address[n] = at - (f->returns && at > 0);
        of[n++] = i;
    }
    nnv_symbols_ask(path, "-Cfpe", address, n, DEADLINE_NS, &answer);
    const char *line = answer.data != NULL ? answer.data : "";
    bool ok = !answer.failed;
    for (size_t i = 0; ok && i < n; i++) {
        const size_t bytes = strcspn(line, "\n");
        const char *place = nnv_arena_strdup(s->arena, frame[of[i]].place);
        const char *said = told_by(&frame[of[i]], line, bytes, s->arena);
        ok = place && said && nnv_map_put(&s->places, place, (void *)(uintptr_t)said);
        line += bytes + (line[bytes] != '\0');
    }
    nnv_text_free(&answer);
    s->asked++;
    return ok;
}

void nnv_symbols_add(struct nnv_symbols *s, const char *trace, size_t n, struct nnv_text *to) {
    struct frame frame[FRAMES];
    size_t count = 0, k = 0, bytes;
    if (!s->arena) s->arena = nnv_arena_new();
    s->places.arena = s->arena;
    const char *line, *at = trace, *end = trace + n;
    while (count < FRAMES && next_line(&at, end, &line, &bytes))
        if (*line == '#') frame[count++] = read_frame(line, bytes);
    for (size_t i = 0; s->arena && i < count && s->asked < QUESTIONS; i++) {
        const char *path = is_known(s, &frame[i]) ? NULL : path_of(&frame[i], trace, n, s->arena);
        if (path && !learn(s, frame + i, count - i, path)) break;
    }
    for (at = trace; next_line(&at, end, &line, &bytes);) {
        if (*line != '#' && memmem(line, bytes, "=/", 2)) continue;
        nnv_text_add_n(to, line, bytes);
        if (*line == '#' && k < count && *said_of(s, &frame[k++])) nnv_text_addf(to, "\t%s", said_of(s, &frame[k - 1]));
        nnv_text_add(to, "\n");
    }
}

void nnv_symbols_free(struct nnv_symbols *s) {
    nnv_map_free(&s->places);
    nnv_arena_free(s->arena);
    *s = (struct nnv_symbols){0};
}
