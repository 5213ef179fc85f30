/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/shards/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/words.h"
#include "harness/journal/command.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/journal.h"
#include "harness/journal/record.h"
#include "harness/journal/seal.h"
#include "harness/journal/shards/merge_parts.h"

static const size_t list_limit = (size_t)1 << 30;

/** A merge as it goes on. */
struct merge {
    const struct nnv_merge_options *o;
    struct nnv_part *parts;
    struct nnv_journal folder; /**< out */
    struct nnv_stream journal;
    struct nnv_report *report; /**< of the whole */
    off_t end;                 /**< of the journal, where the next line begins */
    uint32_t *owner;           /**< of each case, the number of its shard; 0: none */
    uint32_t workers;          /**< numbers that are taken */
    uint32_t next;             /**< the case that is likely the next of the shard */
    struct nnv_text line;
    struct nnv_merged *to;
};

/* ----------------------------------------------------------------- the lists */

static enum nnv_status not_its_list(const char *path, struct nnv_err *err) {
    return nnv_fail(err, NNV_INVALID, "%s: not the list of cases that the journal beside it is of", path);
}

/** The whole selection: its names, and cases.tsv of the merged run. */
static enum nnv_status take_selection(struct merge *m, struct nnv_err *err) {
    struct nnv_text from = {0}, to = {0};
    const char *name = m->parts[0].is_shard ? "selection.tsv" : "cases.tsv";
    char *list = NULL;
    size_t size = 0;
    nnv_text_add_path(&from, m->parts[0].folder, name);
    nnv_text_add_path(&to, m->o->out, "cases.tsv");
    enum nnv_status s = from.failed || to.failed ? nnv_no_memory(err) : NNV_OK;
    if (s == NNV_OK) s = nnv_file_read(from.data, list_limit, &list, &size, err);
    if (s == NNV_OK) s = nnv_file_write(to.data, list, size, err);
    free(list);
    if (s == NNV_OK) s = nnv_report_begin(m->o->out, m->parts[0].folder, name, &m->report, err);
    if (s == NNV_OK &&
        !nnv_selection_is(m->report->selection, m->report->count, m->parts[0].selection, m->parts[0].whole))
        s = not_its_list(from.data, err);
    nnv_text_free(&from);
    nnv_text_free(&to);
    return s;
}

/** One line of a shard's list. */
static enum nnv_status take_own(struct merge *m, const struct nnv_part *p, const char *name, struct nnv_err *err) {
    const uint32_t i = nnv_report_find_next(m->report, name, &m->next);
    if (i == NNV_MAP_NONE) return nnv_fail(err, NNV_INVALID, "case '%s' is not one of the whole selection", name);
    if (m->owner[i] != 0)
        return nnv_fail(err, NNV_INVALID, "case '%s' is in shard %" PRIu32 ", too", name, m->owner[i]);
    m->owner[i] = p->index;
    return NNV_OK;
}

/** The cases of a shard. */
static enum nnv_status take_list(struct merge *m, const struct nnv_part *p, struct nnv_err *err) {
    struct nnv_list_reader l;
    struct nnv_listed c;
    bool more;
    enum nnv_status s = nnv_list_open(p->folder, "cases.tsv", &l, err);
    m->next = 0;
    while (s == NNV_OK && (s = nnv_list_next(&l, &c, &more, err)) == NNV_OK && more) {
        s = take_own(m, p, c.name, err);
        if (s != NNV_OK) s = nnv_at(err, s, "%s:%zu", l.lines.path, l.lines.number);
    }
    if (s == NNV_OK &&
        !nnv_selection_is(l.hash, l.lines.number, nnv_json_text(p->reader.header, "selection", ""), p->cases))
        s = not_its_list(l.lines.path, err);
    nnv_list_close(&l);
    return s;
}

/** Every case must be some shard's, unless shards are missing. */
static enum nnv_status check_owners(const struct merge *m, struct nnv_err *err) {
    if (m->o->count < m->parts[0].count) return NNV_OK;
    for (uint32_t i = 0; i < m->report->count; i++)
        if (m->owner[i] == 0)
            return nnv_fail(err, NNV_INVALID, "case '%s' is in no shard (were all divided by the same run's times?)",
                            m->report->item[i].name);
    return NNV_OK;
}

/* --------------------------------------------------------------- the records */

/** Adds a replay line, which is a JSON string, with another path of its dump. */
static void add_replay(struct nnv_json_span string, const char *dump, const char *out, struct nnv_text *text) {
    struct nnv_text path = {0}, line = {0};
    const size_t n = (size_t)(string.end - string.begin);
    json_t *value = json_loadb(string.begin, n, JSON_DECODE_ANY, NULL);
    const char *replay = json_string_value(value);
    nnv_text_addf(&path, "%s/%s", out, dump);
    if (replay != NULL && !path.failed) nnv_command_retarget(replay, path.data, &line);
    if (replay != NULL)
        nnv_text_add_json(text, line.data);
    else
        nnv_text_add_n(text, string.begin, n);
    text->failed = text->failed || path.failed || line.failed;
    json_decref(value);
    nnv_text_free(&path);
    nnv_text_free(&line);
}

/**
 * Adds the n bytes of a case line, sound JSON, with worker more to its worker's number and, if dump is not NULL (its
 * dump, relative to a run folder), with a replay line that names the dump below out. *number: the worker's old number,
 * *now the new one; 0: it has none.
 */
static void add_line(const char *line, size_t n, uint32_t worker, const char *dump, const char *out,
                     struct nnv_text *text, uint32_t *number, uint32_t *now) {
    enum { WORKER, REPLAY, MEMBERS };
    static const char *const names[MEMBERS] = {"worker", "replay"};
    struct nnv_json_span member[MEMBERS];
    const char *at = line;
    *number = *now = 0;
    nnv_json_members((struct nnv_json_span){line, line + n}, names, MEMBERS, member);
    if (member[WORKER].begin != NULL) {
        const unsigned long long its = strtoull(member[WORKER].begin, NULL, 10); /* 0 of what is no number */
        *number = its < UINT32_MAX / 2 ? (uint32_t)its : 0;
        nnv_text_add_n(text, at, (size_t)(member[WORKER].begin - at));
        *now = *number + worker;
        nnv_text_addf(text, "%" PRIu32, *now);
        at = member[WORKER].end;
    }
    if (dump != NULL && member[REPLAY].begin != NULL && member[REPLAY].begin > at) {
        nnv_text_add_n(text, at, (size_t)(member[REPLAY].begin - at));
        add_replay(member[REPLAY], dump, out, text);
        at = member[REPLAY].end;
    }
    nnv_text_add_n(text, at, (size_t)(line + n - at));
}

/** One file, if it is there. */
static enum nnv_status bring(const char *from, const char *to, struct nnv_err *err) {
    enum { LARGEST = 1 << 30 };
    char *data = NULL;
    size_t size = 0;
    const char *name;
    bool kept;
    const int at = nnv_folder_of(to, &name, &kept);
    if (at < 0) return nnv_path_refused(err, NNV_IO, to, "cannot create", errno);
    unlinkat(at, name, 0);
    const bool done = linkat(AT_FDCWD, from, at, name, 0) == 0 || errno == ENOENT;
    close(at);
    if (done) return NNV_OK;
    enum nnv_status s = nnv_file_read(from, LARGEST, &data, &size, err);
    if (s == NNV_OK) s = nnv_file_create(to, data, size, err);
    free(data);
    return s;
}

/**
 * Brings the files of a dump, "dumps/x.json" and those beside it, from one run folder to another: linked, or copied
 * where that is impossible. What is not there is left out. NNV_INVALID: a path that leads elsewhere.
 */
static enum nnv_status bring_dump(const char *from, const char *to, const char *dump, struct nnv_err *err) {
    static const char inside[] = "dumps/";
    const size_t n = strlen(dump), tail = strlen(nnv_dump_files[0]);
    if (strncmp(dump, inside, sizeof inside - 1) != 0 || strchr(dump + sizeof inside - 1, '/') != NULL ||
        n <= sizeof inside - 1 + tail || !nnv_ends_with(dump, nnv_dump_files[0]))
        return nnv_fail(err, NNV_INVALID, "'%.200s' is no path of a dump", dump);
    struct nnv_text source = {0}, target = {0};
    enum nnv_status s = NNV_OK;
    for (size_t i = 0; i < NNV_DUMP_FILES && s == NNV_OK; i++) {
        nnv_text_clear(&source);
        nnv_text_clear(&target);
        nnv_text_addf(&source, "%s/%.*s%s", from, (int)(n - tail), dump, nnv_dump_files[i]);
        nnv_text_addf(&target, "%s/%.*s%s", to, (int)(n - tail), dump, nnv_dump_files[i]);
        s = source.failed || target.failed ? nnv_no_memory(err) : bring(source.data, target.data, err);
    }
    nnv_text_free(&source);
    nnv_text_free(&target);
    return s;
}

/** The record that was read last. *most: the largest worker's number so far. */
static enum nnv_status take_record(struct merge *m, const struct nnv_part *p, uint32_t *most, struct nnv_err *err) {
    struct nnv_line l = p->reader.at;
    const uint32_t i = nnv_report_find_next(m->report, l.name, &m->next);
    if (i == NNV_MAP_NONE || m->owner[i] != p->index)
        return nnv_fail(err, NNV_INVALID, "case '%s' is not one of this shard", l.name);
    uint32_t number;
    nnv_text_clear(&m->line);
    add_line(p->reader.lines.line, p->reader.lines.bytes, m->workers, l.dump, m->o->out, &m->line, &number, &l.worker);
    if (m->parts[0].reader.sealed) nnv_seal(&m->line, 0);
    nnv_text_add(&m->line, "\n");
    if (m->line.failed) return nnv_no_memory(err);
    if (number > *most) *most = number;
    enum nnv_status s = nnv_report_take(m->report, i, &l, m->end, m->line.len - 1, err);
    if (s == NNV_OK && l.dump != NULL) s = bring_dump(p->folder, m->o->out, l.dump, err);
    if (s != NNV_OK) return s;
    m->end += (off_t)m->line.len;
    m->to->records++;
    m->to->dumps += l.dump != NULL;
    return nnv_stream_add(&m->journal, m->line.data, m->line.len, err);
}

/** The records of a shard. */
static enum nnv_status take_records(struct merge *m, struct nnv_part *p, struct nnv_err *err) {
    const size_t before = m->to->records;
    uint32_t most = 0;
    bool more;
    enum nnv_status s = NNV_OK;
    m->next = 0;
    while (s == NNV_OK && (s = nnv_reader_next(&p->reader, &more, err)) == NNV_OK && more) {
        s = take_record(m, p, &most, err);
        if (s != NNV_OK) s = nnv_at(err, s, "%s:%zu", p->reader.lines.path, p->reader.lines.number);
    }
    m->workers += most;
    const size_t records = m->to->records - before;
    if (s == NNV_OK && records < p->cases && !m->o->partial)
        s = nnv_fail(err, NNV_INVALID,
                     "shard %" PRIu32 " of %" PRIu32 " (%s) has not ended: %" PRIu64 " of its %" PRIu64
                     " cases have no verdict (go on with --resume, or merge with --partial)",
                     p->index, p->count, p->folder, p->cases - records, p->cases);
    return s;
}

/* ----------------------------------------------------------------- the whole */

/** Adds what the shard found out. What is not there, or not as nnvts writes it, adds nothing. */
static void add_flakes(json_t *all, const char *folder) {
    struct nnv_text path = {0};
    nnv_text_add_path(&path, folder, NNV_FLAKES_FILE);
    json_t *its = path.failed ? NULL : json_load_file(path.data, 0, NULL);
    nnv_text_free(&path);
    json_t *cases = json_object_get(its, "cases");
    if (json_is_array(cases)) {
        static const char *const sums[] = {"tried", "left"};
        json_array_extend(json_object_get(all, "cases"), cases);
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
            json_object_set_new(all, sums[i],
                                json_integer(json_integer_value(json_object_get(all, sums[i])) +
                                             json_integer_value(json_object_get(its, sums[i]))));
        json_object_set_new(all, "seconds",
                            json_real(json_number_value(json_object_get(all, "seconds")) +
                                      json_number_value(json_object_get(its, "seconds"))));
    }
    json_decref(its);
}

/** Writes flakes.json of the whole run, if any of the shards has one. */
static enum nnv_status merge_flakes(const struct nnv_merge_options *o, struct nnv_err *err) {
    json_t *all = json_pack("{s:[]}", "cases");
    if (all == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < o->count; i++) add_flakes(all, o->folders[i]);
    enum nnv_status s = NNV_OK;
    if (json_array_size(json_object_get(all, "cases")) > 0) {
        char *text = json_dumps(all, JSON_INDENT(1));
        s = text == NULL ? nnv_no_memory(err)
                         : nnv_file_write_text(o->out, NNV_FLAKES_FILE,
                                               &(struct nnv_text){.data = text, .len = strlen(text)}, err);
        free(text);
    }
    json_decref(all);
    return s;
}

/** Makes the folder ready: nothing of an earlier run is left in it. */
static enum nnv_status clear_out(struct merge *m, struct nnv_err *err) {
    struct nnv_text dumps = {0};
    bool exists = false;
    nnv_text_add_path(&dumps, m->o->out, "dumps");
    enum nnv_status s = dumps.failed ? nnv_no_memory(err) : nnv_journal_open(m->o->out, &m->folder, &exists, err);
    if (s == NNV_OK && m->folder.file >= 0) s = nnv_journal_clear(&m->folder, err);
    if (s == NNV_OK) s = nnv_folder_make(dumps.data, err);
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
    m->end = (off_t)header.len;
    for (size_t i = 0; i < m->o->count && s == NNV_OK; i++) s = take_records(m, &m->parts[i], err);
    if (s == NNV_OK) s = nnv_stream_end(&m->journal, err);
    nnv_stream_drop(&m->journal);
    nnv_text_free(&path);
    nnv_text_free(&header);
    return s;
}

/** The first line as it stands in the merged journal. */
static enum nnv_status take_head(struct merge *m, struct nnv_err *err) {
    struct nnv_journal_reader r;
    enum nnv_status s = nnv_reader_open(m->o->out, &r, err);
    if (s != NNV_OK) return s;
    s = nnv_report_head(m->report, &r, err);
    nnv_reader_close(&r);
    return s;
}

static enum nnv_status merge_all(struct merge *m, struct nnv_err *err) {
    enum nnv_status s = nnv_parts_open(m->o, m->parts, err);
    if (s == NNV_OK) s = nnv_parts_check(m->o, m->parts, err);
    if (s == NNV_OK) s = clear_out(m, err);
    if (s == NNV_OK) s = take_selection(m, err);
    if (s != NNV_OK) return s;
    m->owner = calloc(m->report->count + 1, sizeof *m->owner);
    if (m->owner == NULL) return nnv_no_memory(err);
    for (size_t i = 0; i < m->o->count && s == NNV_OK; i++) s = take_list(m, &m->parts[i], err);
    if (s == NNV_OK) s = check_owners(m, err);
    if (s == NNV_OK) s = write_journal(m, err);
    if (s == NNV_OK) s = take_head(m, err);
    if (s == NNV_OK) s = merge_flakes(m->o, err);
    m->to->cases = m->report->count;
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
    if (s == NNV_OK)
        merged->report = m.report;
    else
        nnv_report_free(m.report);
    if (m.parts != NULL) nnv_parts_close(m.parts, options->count);
    nnv_journal_close(&m.folder);
    nnv_text_free(&m.line);
    free(m.parts);
    free(m.owner);
    return s;
}
