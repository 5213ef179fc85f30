/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/shards/merge_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "harness/journal/load.h"
#include "harness/journal/seal.h"

/* ------------------------------------------------------------------- opening */

/** Refuses a folder that a run writes to, and the one that the merged run is to be in. */
static enum nnv_status check_folder(const char *folder, const char *out, struct nnv_err *err) {
    struct stat mine, its;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return nnv_fail(err, NNV_INVALID, "%s: %s", folder, strerror(errno));
    const bool busy = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const bool same =
        fstat(fd, &mine) == 0 && stat(out, &its) == 0 && mine.st_dev == its.st_dev && mine.st_ino == its.st_ino;
    close(fd);
    if (same)
        return nnv_fail(err, NNV_INVALID, "%s: a shard and the merged run in one folder (give --out another)", folder);
    return busy ? nnv_fail(err, NNV_INVALID, "%s: a run still writes to this folder (wait for its end)", folder)
                : NNV_OK;
}

/** Takes what the first line says of the shard; a run that is whole is one of one. */
static enum nnv_status take_header(struct nnv_part *p, struct nnv_err *err) {
    const json_t *header = p->reader.header, *shard = json_object_get(header, "shard");
    p->is_shard = json_is_object(shard);
    p->cases = nnv_json_count(header, "cases");
    p->index = p->count = 1;
    p->whole = p->cases;
    p->by = "hash";
    p->selection = nnv_json_text(header, "selection", "");
    if (!p->is_shard) return NNV_OK;
    uint64_t index = nnv_json_count(shard, "index"), count = nnv_json_count(shard, "count");
    p->whole = nnv_json_count(shard, "cases");
    p->selection = nnv_json_text(shard, "selection", "");
    p->by = nnv_json_text(shard, "by", "");
    if (index == 0 || index > count || count > UINT32_MAX || p->whole >= UINT32_MAX / 4 || p->cases > p->whole)
        return nnv_fail(err, NNV_INVALID, "%s:1: the first line tells no sound shard; the journal is damaged",
                        p->reader.lines.path);
    p->index = (uint32_t)index;
    p->count = (uint32_t)count;
    return NNV_OK;
}

static enum nnv_status open_part(struct nnv_part *p, const char *folder, const char *out, struct nnv_err *err) {
    p->folder = folder;
    enum nnv_status s = check_folder(folder, out, err);
    if (s == NNV_OK) s = nnv_reader_open(folder, &p->reader, err);
    return s == NNV_OK ? take_header(p, err) : s;
}

enum nnv_status nnv_parts_open(const struct nnv_merge_options *o, struct nnv_part *parts, struct nnv_err *err) {
    memset(parts, 0, o->count * sizeof *parts);
    enum nnv_status s = NNV_OK;
    for (size_t i = 0; i < o->count && s == NNV_OK; i++) s = open_part(&parts[i], o->folders[i], o->out, err);
    return s;
}

void nnv_parts_close(struct nnv_part *parts, size_t count) {
    for (size_t i = 0; i < count; i++) nnv_reader_close(&parts[i].reader);
}

/* ------------------------------------------------------------------ checking */

static int by_index(const void *pa, const void *pb) {
    const struct nnv_part *a = pa, *b = pb;
    return a->index < b->index ? -1 : a->index > b->index;
}

static enum nnv_status differs(const struct nnv_part *p, const struct nnv_part *first, const char *what,
                               const char *its, const char *firsts, struct nnv_err *err) {
    return nnv_fail(err, NNV_INVALID, "%s differs: '%s' in %s, '%s' in %s (shards of one run only)", what, its,
                    p->folder, firsts, first->folder);
}

static enum nnv_status compare(const struct nnv_part *p, const struct nnv_part *first, struct nnv_err *err) {
    enum nnv_status s = NNV_OK;
    struct nnv_difference d = {0};
    if (nnv_headers_differ(p->reader.header, first->reader.header, true, &d))
        s = d.a.failed || d.b.failed ? nnv_no_memory(err) : differs(p, first, d.what, d.a.data, d.b.data, err);
    nnv_text_free(&d.a);
    nnv_text_free(&d.b);
    if (s == NNV_OK && (strcmp(p->selection, first->selection) != 0 || p->whole != first->whole))
        s = differs(p, first, "the selection of cases", p->selection, first->selection, err);
    char its[16], firsts[16];
    snprintf(its, sizeof its, "%" PRIu32, p->count);
    snprintf(firsts, sizeof firsts, "%" PRIu32, first->count);
    if (s == NNV_OK && p->count != first->count) s = differs(p, first, "the number of shards", its, firsts, err);
    if (s == NNV_OK && strcmp(p->by, first->by) != 0)
        s = differs(p, first, "how cases were divided", p->by, first->by, err);
    return s;
}

/** Names the shards that are not there: "shards 2, 4 to 6 of 8 are missing". */
static enum nnv_status missing(const struct nnv_part *parts, size_t count, struct nnv_err *err) {
    enum { SHOWN = 8 };
    struct nnv_text t = {0};
    uint32_t expected = 1, gaps = 0, absent = parts[0].count - (uint32_t)count;
    for (size_t i = 0; i <= count; i++) {
        uint32_t here = i < count ? parts[i].index : parts[0].count + 1;
        if (here > expected && gaps++ < SHOWN) {
            nnv_text_addf(&t, "%s%" PRIu32, gaps > 1 ? ", " : "", expected);
            if (here - 1 > expected) nnv_text_addf(&t, " to %" PRIu32, here - 1);
        }
        expected = here + 1;
    }
    enum nnv_status s =
        nnv_fail(err, NNV_INVALID, "shard%s %s%s of %" PRIu32 " %s missing (give %s folder%s, or --partial)",
                 absent == 1 ? "" : "s", t.data != NULL ? t.data : "", gaps > SHOWN ? " ..." : "", parts[0].count,
                 absent == 1 ? "is" : "are", absent == 1 ? "its" : "their", absent == 1 ? "" : "s");
    nnv_text_free(&t);
    return s;
}

enum nnv_status nnv_parts_check(const struct nnv_merge_options *o, struct nnv_part *parts, struct nnv_err *err) {
    enum nnv_status s = NNV_OK;
    for (size_t i = 1; i < o->count && s == NNV_OK; i++) s = compare(&parts[i], &parts[0], err);
    if (s != NNV_OK) return s;
    qsort(parts, o->count, sizeof *parts, by_index);
    for (size_t i = 1; i < o->count; i++)
        if (parts[i].index == parts[i - 1].index)
            return nnv_fail(err, NNV_INVALID, "shard %" PRIu32 " of %" PRIu32 " is there twice: %s and %s",
                            parts[i].index, parts[i].count, parts[i - 1].folder, parts[i].folder);
    return o->count < parts[0].count && !o->partial ? missing(parts, o->count, err) : NNV_OK;
}

/* ------------------------------------------------------------ the first line */

/** Adds the cases that a part counts for each suite to those of all. */
static bool add_suites(json_t *all, const struct nnv_part *p) {
    const char *name;
    json_t *suite;
    json_object_foreach(json_object_get(p->reader.header, "suites"), name, suite) {
        json_t *sum = json_object_get(all, name);
        if (sum == NULL) {
            if (json_object_set_new(all, name, json_deep_copy(suite)) != 0) return false;
            continue;
        }
        const uint64_t n = nnv_json_count(sum, "cases") + nnv_json_count(suite, "cases");
        if (json_object_set_new(sum, "cases", json_integer((json_int_t)n)) != 0) return false;
    }
    return true;
}

/** A name from outside: what is not UTF-8 in it is replaced. */
static json_t *clean_string(const char *s) {
    struct nnv_text t = {0};
    nnv_text_add_legal(&t, s);
    json_t *value = t.failed ? NULL : json_string(t.data != NULL ? t.data : "");
    nnv_text_free(&t);
    return value;
}

/** Where a part was run. */
static json_t *origin(const struct nnv_part *p) {
    const json_t *machine = json_object_get(p->reader.header, "machine");
    return json_pack("{s:I,s:o,s:s,s:s,s:I,s:I}", "shard", (json_int_t)p->index, "folder", clean_string(p->folder),
                     "host", nnv_json_text(machine, "host", ""), "start", nnv_json_text(p->reader.header, "start", ""),
                     "jobs", (json_int_t)nnv_json_count(p->reader.header, "jobs"), "cases", (json_int_t)p->cases);
}

/** The members that a merged run has of its own. */
static bool fill_header(json_t *header, const struct nnv_merge_options *o, const struct nnv_part *parts) {
    json_t *suites = json_object(), *merged = json_array(), *argv = json_array();
    uint64_t jobs = 0;
    const char *start = nnv_json_text(parts[0].reader.header, "start", "");
    bool ok = suites != NULL && merged != NULL && argv != NULL;
    for (size_t i = 0; i < o->count && ok; i++) {
        const char *its = nnv_json_text(parts[i].reader.header, "start", "");
        if (strcmp(its, start) < 0) start = its;
        jobs += nnv_json_count(parts[i].reader.header, "jobs");
        ok = add_suites(suites, &parts[i]) && json_array_append_new(merged, origin(&parts[i])) == 0;
    }
    for (int i = 0; i < o->argc && ok; i++) ok = json_array_append_new(argv, clean_string(o->argv[i])) == 0;
    json_object_del(header, "shard");
    json_object_del(header, "sum");
    ok = ok && json_object_set_new(header, "start", json_string(start)) == 0 &&
         json_object_set_new(header, "jobs", json_integer((json_int_t)jobs)) == 0 &&
         json_object_set_new(header, "cases", json_integer((json_int_t)parts[0].whole)) == 0 &&
         json_object_set_new(header, "selection", json_string(parts[0].selection)) == 0 &&
         json_object_set(header, "suites", suites) == 0 && json_object_set(header, "argv", argv) == 0 &&
         json_object_set(header, "merged", merged) == 0;
    json_decref(suites);
    json_decref(merged);
    json_decref(argv);
    return ok;
}

enum nnv_status nnv_parts_header(const struct nnv_merge_options *o, const struct nnv_part *parts, struct nnv_text *out,
                                 struct nnv_err *err) {
    json_t *header = json_copy(parts[0].reader.header);
    char *text = header != NULL && fill_header(header, o, parts) ? json_dumps(header, JSON_COMPACT) : NULL;
    if (text != NULL) nnv_text_add(out, text);
    if (parts[0].reader.sealed) nnv_seal(out, 0);
    const bool ok = text != NULL && !out->failed;
    free(text);
    json_decref(header);
    return ok ? NNV_OK : nnv_no_memory(err);
}
