/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reader.h Reads run folders line by line, for reports, merge, resume and verify. It holds one record at a time.
 */
#ifndef NNV_JOURNAL_READER_H
#define NNV_JOURNAL_READER_H

#include <stdio.h>
#include <sys/types.h>

#include "base/map.h"
#include "harness/journal/line.h"

/** A file that is read line by line. */
struct nnv_line_file {
    char *path;
    FILE *file;
    char *line; /**< the last one, without its end */
    size_t cap, bytes, number;
    off_t offset; /**< where it begins */
    off_t end;    /**< where the next one begins */
};

/** A case of a list, as the journal has it: bytes that are not UTF-8 replaced. Lives until the next call. */
struct nnv_listed {
    const char *name, *suite, *op, *type, *tags;
};

/** A list of cases that is being read: cases.tsv, or selection.tsv. Zero-initialise. */
struct nnv_list_reader {
    struct nnv_line_file lines;
    uint64_t hash;       /**< of the names so far, see nnv_selection_add() */
    json_t *replaced[5]; /**< fields that were not UTF-8 */
};
NNV_USE_RESULT enum nnv_status nnv_list_open(const char *folder, const char *name, struct nnv_list_reader *l,
                                             struct nnv_err *err);
/** The next case; *more is false behind the last. */
NNV_USE_RESULT enum nnv_status nnv_list_next(struct nnv_list_reader *l, struct nnv_listed *c, bool *more,
                                             struct nnv_err *err);
void nnv_list_close(struct nnv_list_reader *l);

/** A journal that is being read. Zero-initialise. */
struct nnv_journal_reader {
    const char *folder;
    struct nnv_line_file lines;
    struct nnv_list_reader list; /**< of nnv_reader_missing() */
    json_t *header;              /**< the first line */
    struct nnv_line at;          /**< the last record; its name is terminated */
    json_t *tree;                /**< of it; NULL: it was read quickly, or is damaged */
    bool sealed;                 /**< the first line has a checksum, so each has */
    bool damaged;                /**< the last line is no JSON object, or is not what its checksum says */
    char *name;
    size_t name_cap;
    struct nnv_id_map seen; /**< of nnv_reader_record(): hashes of the names */
};

/** Opens the journal of a folder, which is kept, and reads its first line. NNV_INVALID: it is none of a run; the error
 * says how to get one. NNV_UNSUPPORTED: of a newer nnvts. */
NNV_USE_RESULT enum nnv_status nnv_reader_open(const char *folder, struct nnv_journal_reader *r, struct nnv_err *err);
/**
 * The next record, in r->at, with a name and a known verdict; *more is false behind the last. A last line that was cut
 * short is left out. After NNV_INVALID, the next call reads the next line.
 */
NNV_USE_RESULT enum nnv_status nnv_reader_next(struct nnv_journal_reader *r, bool *more, struct nnv_err *err);
/** The last record as a tree; NULL when out of memory. Borrowed until the next call. */
const json_t *nnv_reader_tree(struct nnv_journal_reader *r);
/** The next record as a tree, each name once; NULL behind the last. Borrowed until the next call. */
NNV_USE_RESULT enum nnv_status nnv_reader_record(struct nnv_journal_reader *r, const json_t **record,
                                                 struct nnv_err *err);
/** The next line as it stands there; false behind the last. */
NNV_USE_RESULT enum nnv_status nnv_reader_raw(struct nnv_journal_reader *r, bool *more, struct nnv_err *err);
/** Behind the last record: the next case of cases.tsv that nnv_reader_record() gave none of; *more is false behind the
 * last. */
NNV_USE_RESULT enum nnv_status nnv_reader_missing(struct nnv_journal_reader *r, struct nnv_listed *c, bool *more,
                                                  struct nnv_err *err);
void nnv_reader_close(struct nnv_journal_reader *r);

/** Where two runs differ that were to be one. */
struct nnv_difference {
    const char *what, *remedy;
    struct nnv_text a, b; /**< to be freed */
};
/**
 * Compares the first lines of two runs: of shards, or of one that is resumed. False if they are of one run; else d says
 * what differs first.
 */
bool nnv_headers_differ(const json_t *a, const json_t *b, bool shards, struct nnv_difference *d);

#endif
