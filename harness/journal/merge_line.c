/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/merge_line.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "harness/journal/command.h"

enum { DEPTH = 16 };

/**
 * The value of a member that no object inside the line has, from *begin to *end; false if it has none. In JSON the
 * sequence ,"name": can only be a member: within a string its quotes would be escaped.
 */
static bool find_member(const char *line, size_t n, const char *member, const char **begin, const char **end) {
    char key[32];
    int k = snprintf(key, sizeof key, ",\"%s\":", member);
    const char *at = memmem(line, n, key, (size_t)k);
    if (at == NULL) return false;
    *begin = at + k;
    *end = nnv_json_skip(*begin, line + n, DEPTH);
    return *end != NULL;
}

/** Adds the replay line from begin to end, a JSON string, with another path of its dump. */
static void add_replay(const char *begin, const char *end, const char *dump, const char *out, struct nnv_text *text) {
    struct nnv_text path = {0}, line = {0};
    json_t *value = json_loadb(begin, (size_t)(end - begin), JSON_DECODE_ANY, NULL);
    const char *replay = json_string_value(value);
    nnv_text_addf(&path, "%s/%s", out, dump);
    if (replay != NULL && !path.failed) nnv_command_retarget(replay, path.data, &line);
    if (replay != NULL)
        nnv_text_add_json(text, line.data);
    else
        nnv_text_add_n(text, begin, (size_t)(end - begin));
    text->failed = text->failed || path.failed || line.failed;
    json_decref(value);
    nnv_text_free(&path);
    nnv_text_free(&line);
}

void nnv_merge_line(const char *line, size_t n, uint32_t worker, const char *dump, const char *out,
                    struct nnv_text *text, uint32_t *number) {
    const char *begin = NULL, *end = NULL, *at = line;
    *number = 0;
    if (find_member(line, n, "worker", &begin, &end)) {
        unsigned long long its = *begin >= '0' && *begin <= '9' ? strtoull(begin, NULL, 10) : 0;
        *number = its < UINT32_MAX / 2 ? (uint32_t)its : 0;
        nnv_text_add_n(text, at, (size_t)(begin - at));
        nnv_text_addf(text, "%" PRIu64, (uint64_t)*number + worker);
        at = end;
    }
    if (dump != NULL && find_member(at, (size_t)(line + n - at), "replay", &begin, &end)) {
        nnv_text_add_n(text, at, (size_t)(begin - at));
        add_replay(begin, end, dump, out, text);
        at = end;
    }
    nnv_text_add_n(text, at, (size_t)(line + n - at));
}

/* --------------------------------------------------------------------- dumps */

/** One file, if it is there. */
static enum nnv_status bring(const char *from, const char *to, struct nnv_err *err) {
    enum { LARGEST = 1 << 30 };
    char *data = NULL;
    size_t size = 0;
    unlink(to);
    if (link(from, to) == 0 || errno == ENOENT) return NNV_OK;
    enum nnv_status s = nnv_file_read(from, LARGEST, &data, &size, err);
    if (s == NNV_OK) s = nnv_file_create(to, data, size, err);
    free(data);
    return s;
}

enum nnv_status nnv_merge_dump(const char *from, const char *to, const char *dump, struct nnv_err *err) {
    static const char *const suffixes[] = {".json", ".mod.py", ".dot", ".c"};
    static const char inside[] = "dumps/";
    const size_t n = strlen(dump), tail = strlen(suffixes[0]);
    if (strncmp(dump, inside, sizeof inside - 1) != 0 || strchr(dump + sizeof inside - 1, '/') != NULL ||
        n <= sizeof inside - 1 + tail || strcmp(dump + n - tail, suffixes[0]) != 0)
        return nnv_fail(err, NNV_INVALID, "'%.200s' is no path of a dump", dump);
    struct nnv_text source = {0}, target = {0};
    enum nnv_status s = NNV_OK;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && s == NNV_OK; i++) {
        nnv_text_clear(&source);
        nnv_text_clear(&target);
        nnv_text_addf(&source, "%s/%.*s%s", from, (int)(n - tail), dump, suffixes[i]);
        nnv_text_addf(&target, "%s/%.*s%s", to, (int)(n - tail), dump, suffixes[i]);
        s = source.failed || target.failed ? nnv_no_memory(err) : bring(source.data, target.data, err);
    }
    nnv_text_free(&source);
    nnv_text_free(&target);
    return s;
}
