/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/stream.h"
#include "base/words.h"
#include "harness/journal/journal.h"
#include "harness/journal/merge_flakes.h"
#include "harness/journal/merge_line.h"
#include "harness/journal/merge_parts.h"
#include "harness/journal/line.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"

static const size_t list_limit = (size_t)1 << 30;

/** A merge as it goes on. */
struct merge {
    const struct nnv_merge_options *o;
    struct nnv_part *parts;
    struct nnv_journal folder; /**< out */
    struct nnv_stream journal;
    char *list; /**< the whole selection, cut into lines that end behind the name */
    struct nnv_map names;
    uint32_t *owner;  /**< of each case, the number of its shard; 0: none */
    bool *done;       /**< it has a record */
    uint32_t workers; /**< numbers that are taken */
    struct nnv_text line;
    struct nnv_merged *to;
};

/* ----------------------------------------------------------------- the lists */

static void hash_name(uint64_t *h, const char *name) {
    uint64_t pair[2] = {*h, nnv_hash_str(name)};
    *h = nnv_hash_bytes(pair, sizeof pair);
}

/** True if the list of cases with this hash is the one that a first line speaks of. */
static bool is_list(uint64_t h, const char *selection) {
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, h);
    return strcmp(text, selection) == 0;
}

/** Cuts the selection into names. */
static enum nnv_status read_names(struct merge *m, const char *path, struct nnv_err *err) {
    const struct nnv_part *first = &m->parts[0];
    uint64_t hash = 0;
    for (char *line = m->list, *next; *line != '\0'; line = next) {
        size_t n = strcspn(line, "\n");
        next = line + n + (line[n] == '\n');
        line[strcspn(line, "\t\n")] = '\0';
        hash_name(&hash, line);
        uint32_t before = m->names.count;
        if (nnv_map_add(&m->names, line) == NNV_MAP_NONE) return nnv_no_memory(err);
        if (m->names.count == before) return nnv_fail(err, NNV_INVALID, "%s: case '%s' is listed twice", path, line);
    }
    if (m->names.count != first->whole || !is_list(hash, first->selection))
        return nnv_fail(err, NNV_INVALID, "%s: not the list of cases that the journal beside it is of", path);
    return NNV_OK;
}

/** The whole selection: its names, and cases.tsv of the merged run. */
static enum nnv_status take_selection(struct merge *m, struct nnv_err *err) {
    struct nnv_text from = {0}, to = {0};
    size_t size = 0;
    nnv_text_add_path(&from, m->parts[0].folder, m->parts[0].is_shard ? "selection.tsv" : "cases.tsv");
    nnv_text_add_path(&to, m->o->out, "cases.tsv");
    enum nnv_status s = from.failed || to.failed ? nnv_no_memory(err) : NNV_OK;
    if (s == NNV_OK) s = nnv_file_read(from.data, list_limit, &m->list, &size, err);
    if (s == NNV_OK && memchr(m->list, '\0', size) != NULL)
        s = nnv_fail(err, NNV_INVALID, "%s: not a list of cases: it is not text", from.data);
    if (s == NNV_OK && !nnv_map_reserve(&m->names, m->parts[0].whole + 1)) s = nnv_no_memory(err);
    if (s == NNV_OK) s = nnv_file_write(to.data, m->list, size, err);
    if (s == NNV_OK) s = read_names(m, from.data, err);
    nnv_text_free(&from);
    nnv_text_free(&to);
    return s;
}

/** One line of a shard's list. */
static enum nnv_status take_own(struct merge *m, const struct nnv_part *p, const char *name, struct nnv_err *err) {
    uint32_t i = nnv_map_find(&m->names, name);
    if (i == NNV_MAP_NONE) return nnv_fail(err, NNV_INVALID, "case '%s' is not one of the whole selection", name);
    if (m->owner[i] != 0)
        return nnv_fail(err, NNV_INVALID, "case '%s' is in shard %" PRIu32 ", too", name, m->owner[i]);
    m->owner[i] = p->index;
    return NNV_OK;
}

/** The cases of a shard. */
static enum nnv_status take_list(struct merge *m, const struct nnv_part *p, struct nnv_err *err) {
    struct nnv_text path = {0};
    char *line = NULL;
    size_t cap = 0, count = 0;
    uint64_t hash = 0;
    nnv_text_add_path(&path, p->folder, "cases.tsv");
    FILE *file = path.failed ? NULL : fopen(path.data, "re");
    enum nnv_status s =
        file == NULL ? nnv_fail(err, NNV_INVALID, "%s/cases.tsv: %s", p->folder, strerror(errno)) : NNV_OK;
    while (s == NNV_OK && getline(&line, &cap, file) > 0) {
        line[strcspn(line, "\t\n")] = '\0';
        hash_name(&hash, line);
        count++;
        s = take_own(m, p, line, err);
        if (s != NNV_OK) s = nnv_at(err, s, "%s:%zu", path.data, count);
    }
    if (s == NNV_OK && (count != p->cases || !is_list(hash, nnv_json_text(p->header, "selection", ""))))
        s = nnv_fail(err, NNV_INVALID, "%s: not the list of cases that the journal beside it is of", path.data);
    if (file != NULL) fclose(file);
    free(line);
    nnv_text_free(&path);
    return s;
}

/** Every case must be some shard's, unless shards are missing. */
static enum nnv_status check_owners(const struct merge *m, struct nnv_err *err) {
    if (m->o->count < m->parts[0].count) return NNV_OK;
    for (uint32_t i = 0; i < m->names.count; i++)
        if (m->owner[i] == 0)
            return nnv_fail(err, NNV_INVALID, "case '%s' is in no shard (were all divided by the same run's times?)",
                            m->names.key[i]);
    return NNV_OK;
}

/* --------------------------------------------------------------- the records */

/** Marks the case of a record as done. */
static enum nnv_status mark(struct merge *m, const struct nnv_part *p, const char *name, struct nnv_err *err) {
    uint32_t i = nnv_map_find(&m->names, name);
    if (i == NNV_MAP_NONE || m->owner[i] != p->index)
        return nnv_fail(err, NNV_INVALID, "case '%s' is not one of this shard", name);
    if (m->done[i]) return nnv_fail(err, NNV_INVALID, "case '%s' has a second record", name);
    m->done[i] = true;
    return NNV_OK;
}

/** A line that is read as a tree: of a case that went wrong, or with rare characters. *dump: malloc'ed, or NULL. */
static enum nnv_status mark_tree(struct merge *m, const struct nnv_part *p, const char *line, size_t n, char **dump,
                                 struct nnv_err *err) {
    json_error_t why;
    enum nnvts_verdict verdict;
    json_t *record = nnv_record_parse(line, n, &why);
    if (record == NULL)
        return nnv_fail(err, NNV_INVALID, "not a record: %s at column %d; the journal is damaged", why.text,
                        why.column);
    const char *name = nnv_json_text(record, "case", ""), *its = nnv_json_text(record, "dump", NULL);
    enum nnv_status s = mark(m, p, name, err);
    if (s == NNV_OK && !nnv_verdict_parse(nnv_json_text(record, "verdict", ""), &verdict))
        s = nnv_fail(err, NNV_INVALID, "no known verdict of case '%s'", name);
    if (s == NNV_OK && its != NULL) {
        s = nnv_merge_dump(p->folder, m->o->out, its, err);
        *dump = strdup(its);
        if (s == NNV_OK && *dump == NULL) s = nnv_no_memory(err);
    }
    json_decref(record);
    return s;
}

/** One line of a shard's journal. *most: the largest worker's number so far. */
static enum nnv_status take_record(struct merge *m, const struct nnv_part *p, char *line, size_t n, uint32_t *most,
                                   struct nnv_err *err) {
    struct nnv_line l;
    char *dump = NULL;
    uint32_t number = 0;
    enum nnv_status s;
    if (nnv_line_scan(line, n, &l)) {
        char *end = line + (l.name - line) + l.name_bytes;
        *end = '\0';
        s = mark(m, p, l.name, err);
        *end = '"';
    } else {
        s = mark_tree(m, p, line, n, &dump, err);
    }
    nnv_text_clear(&m->line);
    if (s == NNV_OK) {
        nnv_merge_line(line, n, m->workers, dump, m->o->out, &m->line, &number);
        nnv_text_add(&m->line, "\n");
        s = m->line.failed ? nnv_no_memory(err) : nnv_stream_add(&m->journal, m->line.data, m->line.len, err);
    }
    if (number > *most) *most = number;
    m->to->records++;
    m->to->dumps += dump != NULL;
    free(dump);
    return s;
}

/** The records of a shard; a last line without its end was cut short and is ignored. */
static enum nnv_status take_records(struct merge *m, const struct nnv_part *p, struct nnv_err *err) {
    char *line = NULL;
    size_t cap = 0, number = 1, before = m->to->records;
    uint32_t most = 0;
    enum nnv_status s = NNV_OK;
    while (s == NNV_OK) {
        ssize_t n = getline(&line, &cap, p->journal);
        if (n < 0 && !feof(p->journal)) s = nnv_fail(err, NNV_IO, "%s: %s", p->path, strerror(errno));
        if (n <= 0 || line[n - 1] != '\n') break;
        number++;
        s = take_record(m, p, line, (size_t)n - 1, &most, err);
        if (s != NNV_OK) s = nnv_at(err, s, "%s:%zu", p->path, number);
    }
    free(line);
    m->workers += most;
    const size_t records = m->to->records - before;
    if (s == NNV_OK && records < p->cases && !m->o->partial)
        s = nnv_fail(err, NNV_INVALID,
                     "shard %" PRIu32 " of %" PRIu32 " (%s) has not ended: %zu of its %zu cases have no verdict (go on "
                     "with --resume, or merge with --partial)",
                     p->index, p->count, p->folder, p->cases - records, p->cases);
    return s;
}

/* ----------------------------------------------------------------- the whole */

/** Makes the folder ready: nothing of an earlier run is left in it. */
static enum nnv_status clear_out(struct merge *m, struct nnv_err *err) {
    struct nnv_text dumps = {0};
    bool exists = false;
    nnv_text_add_path(&dumps, m->o->out, "dumps");
    enum nnv_status s = dumps.failed ? nnv_no_memory(err) : nnv_journal_open(m->o->out, &m->folder, &exists, err);
    if (s == NNV_OK && m->folder.file >= 0) s = nnv_journal_clear(&m->folder, err);
    if (s == NNV_OK) s = nnv_file_mkdir(dumps.data, err);
    nnv_text_free(&dumps);
    return s;
}

static enum nnv_status write_journal(struct merge *m, struct nnv_err *err) {
    struct nnv_text path = {0}, header = {0};
    nnv_text_add_path(&path, m->o->out, "journal.jsonl");
    enum nnv_status s = nnv_parts_header(m->o, m->parts, &header, err);
    nnv_text_add(&header, "\n");
    if (s == NNV_OK && (path.failed || header.failed)) s = nnv_no_memory(err);
    if (s == NNV_OK) s = nnv_stream_open(&m->journal, path.data, err);
    if (s == NNV_OK) s = nnv_stream_add(&m->journal, header.data, header.len, err);
    for (size_t i = 0; i < m->o->count && s == NNV_OK; i++) s = take_records(m, &m->parts[i], err);
    if (s == NNV_OK) s = nnv_stream_end(&m->journal, err);
    nnv_stream_drop(&m->journal);
    nnv_text_free(&path);
    nnv_text_free(&header);
    return s;
}

static enum nnv_status merge_all(struct merge *m, struct nnv_err *err) {
    enum nnv_status s = nnv_parts_open(m->o, m->parts, err);
    if (s == NNV_OK) s = nnv_parts_check(m->o, m->parts, err);
    if (s == NNV_OK) s = clear_out(m, err);
    if (s == NNV_OK) s = take_selection(m, err);
    if (s != NNV_OK) return s;
    m->owner = calloc(m->names.count + (size_t)1, sizeof *m->owner);
    m->done = calloc(m->names.count + (size_t)1, sizeof *m->done);
    if (m->owner == NULL || m->done == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < m->o->count && s == NNV_OK; i++) s = take_list(m, &m->parts[i], err);
    if (s == NNV_OK) s = check_owners(m, err);
    if (s == NNV_OK) s = write_journal(m, err);
    if (s == NNV_OK) s = nnv_merge_flakes(m->o->folders, m->o->count, m->o->out, err);
    m->to->cases = m->names.count;
    m->to->shards = m->parts[0].count;
    m->to->missing = m->to->shards - m->o->count;
    return s;
}

enum nnv_status nnv_merge(const struct nnv_merge_options *options, struct nnv_merged *merged, struct nnv_err *err) {
    if (options->count == 0)
        return nnv_fail(err, NNV_INVALID, "which shards? give the folders of their runs (nnvts run --shard I/N --out)");
    *merged = (struct nnv_merged){0};
    struct merge m = {.o = options, .folder = NNV_JOURNAL_NONE, .journal = NNV_STREAM_NONE, .to = merged};
    m.parts = calloc(options->count, sizeof *m.parts);
    enum nnv_status s = m.parts == NULL ? nnv_no_memory(err) : merge_all(&m, err);
    if (m.parts != NULL) nnv_parts_close(m.parts, options->count);
    nnv_journal_close(&m.folder);
    nnv_map_free(&m.names);
    nnv_text_free(&m.line);
    free(m.parts);
    free(m.list);
    free(m.owner);
    free(m.done);
    return s;
}
