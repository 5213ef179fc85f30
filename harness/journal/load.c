/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/type.h"
#include "base/words.h"
#include "harness/journal/causes/bucket.h"
#include "harness/journal/reader.h"
#include "harness/journal/expect/outcome.h"

/* Reasons: beyond the first bound only what they have in common is kept, beyond the second nothing. */
enum { REASONS_WHOLE = 32 << 20, REASONS_MAX = 48 << 20 };
static const struct nnv_cause no_cause;
static const struct nnv_case_more no_more = {
    .reason = "", .cause = &no_cause, .mode = NNV_MAP_NONE, .expectation = NNV_ENTRY_NONE};
static const off_t OFFSET_MAX = ((off_t)1 << 48) - 1;
static const char no_room[] = "one of very many different reasons: journal.jsonl has it";

_Static_assert(NNVTS_VERDICT_COUNT <= 1 << 4 && NNVTS_REASON_COUNT <= 1 << 6 && NNVTS_OUTCOME_COUNT <= 1 << 3,
               "a case has bits for each");
_Static_assert(sizeof(struct nnv_report_case) <= 64, "a run has millions of cases");
_Static_assert(sizeof(struct nnv_case_more) == 2 * sizeof(void *) + 3 * 8 + 4 * 4, "its bytes are compared: no gaps");

/* ---------------------------------------------------------------- cases.tsv */

/** The number of a key, which the map gets a copy of. NNV_MAP_NONE when out of memory. */
static uint32_t number_of(struct nnv_report *r, struct nnv_map *m, const char *key) {
    const uint32_t i = nnv_map_find(m, key);
    if (i != NNV_MAP_NONE) return i;
    const char *copy = nnv_arena_strdup(r->arena, key);
    return copy != NULL ? nnv_map_add(m, copy) : NNV_MAP_NONE;
}

static uint32_t find(const struct nnv_report *r, const char *name, uint64_t hash) {
    size_t at = 0;
    uint32_t i;
    while ((i = nnv_index_next(&r->names, hash, &at)) != NNV_MAP_NONE && strcmp(r->item[i].name, name) != 0) continue;
    return i;
}

uint32_t nnv_report_find(const struct nnv_report *r, const char *name) { return find(r, name, nnv_hash_str(name)); }

uint32_t nnv_report_find_next(const struct nnv_report *r, const char *name, uint32_t *next) {
    enum { NEAR = 32 };
    const uint32_t first = *next;
    uint32_t i = first;
    while (i < r->count && i - first < NEAR && strcmp(r->item[i].name, name) != 0) i++;
    if (i >= r->count || i - first == NEAR) i = nnv_report_find(r, name);
    if (i != NNV_MAP_NONE) *next = i + 1;
    return i;
}

/** Room for one case more. */
static bool grow(struct nnv_report *r, size_t *cap) {
    if (r->count < *cap) return true;
    const size_t more = *cap ? 2 * *cap : 1024;
    struct nnv_report_case *item = realloc(r->item, more * sizeof *item);
    if (item == NULL) return false;
    r->item = item;
    *cap = more;
    return true;
}

static enum nnv_status take_case(struct nnv_report *r, const struct nnv_list_reader *l, const struct nnv_listed *c,
                                 struct nnv_err *err) {
    const uint64_t hash = nnv_hash_str(c->name);
    if (find(r, c->name, hash) != NNV_MAP_NONE)
        return nnv_fail(err, NNV_INVALID, "%s:%zu: case '%s' is listed twice", l->lines.path, l->lines.number, c->name);
    struct nnv_report_case *to = &r->item[r->count];
    *to = (struct nnv_report_case){
        .name = nnv_arena_strdup(r->arena, c->name),
        .suite = number_of(r, &r->suites, c->suite),
        .op = number_of(r, &r->ops, c->op),
        .type = number_of(r, &r->types, c->type),
        .tags = number_of(r, &r->tags, c->tags),
        .verdict = NNVTS_NOTRUN,
        .more = &no_more,
    };
    if (to->name == NULL || to->suite == NNV_MAP_NONE || to->op == NNV_MAP_NONE || to->type == NNV_MAP_NONE ||
        to->tags == NNV_MAP_NONE || nnv_index_add(&r->names, hash) == NNV_MAP_NONE)
        return nnv_no_memory(err);
    r->count++;
    return NNV_OK;
}

static enum nnv_status read_list(struct nnv_report *r, const char *folder, const char *name, struct nnv_err *err) {
    struct nnv_list_reader l;
    struct nnv_listed c;
    bool more = true;
    size_t cap = 0;
    enum nnv_status s = nnv_list_open(folder, name, &l, err);
    while (s == NNV_OK && (s = nnv_list_next(&l, &c, &more, err)) == NNV_OK && more)
        s = grow(r, &cap) ? take_case(r, &l, &c, err) : nnv_no_memory(err);
    r->selection = l.hash;
    nnv_list_close(&l);
    return s;
}

/* ------------------------------------------------------------ journal.jsonl */

/** Types that operations of the run take, though no case has them, get numbers too. False when out of memory. */
static bool add_coverage_types(struct nnv_report *r) {
    const char *op;
    json_t *types, *type;
    size_t i;
    json_object_foreach(json_object_get(r->header, "coverage"), op, types) {
        if (nnv_map_find(&r->ops, op) == NNV_MAP_NONE || !json_is_array(types)) continue;
        json_array_foreach(types, i, type) {
            const char *name = json_string_value(type);
            if (name != NULL && nnv_map_add(&r->types, name) == NNV_MAP_NONE) return false;
        }
    }
    return true;
}

static enum nnv_status check_count(struct nnv_report *r, struct nnv_err *err) {
    const json_t *cases = json_object_get(r->header, "cases");
    if (!json_is_integer(cases) || json_integer_value(cases) < 0 || (uint64_t)json_integer_value(cases) != r->count)
        return nnv_fail(err, NNV_INVALID, "the journal is of a run of %s cases, cases.tsv lists %zu",
                        json_is_integer(cases) ? nnv_count(nnv_json_count(r->header, "cases")).s : "?", r->count);
    return add_coverage_types(r) ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for the types of the run");
}

/** The kept copy of a reason; NULL when out of memory. Reasons that many cases have are kept once. */
static const char *keep_reason(struct nnv_report *r, const char *reason) {
    struct nnv_text like = {0};
    if (r->reason_bytes > REASONS_WHOLE) {
        nnv_text_add_like(&like, reason);
        reason = like.failed ? NULL : like.data != NULL ? like.data : "";
    }
    uint32_t i = reason == NULL ? NNV_MAP_NONE : nnv_map_find(&r->reasons, reason);
    const char *kept = i != NNV_MAP_NONE ? r->reasons.key[i] : NULL;
    if (kept == NULL && reason != NULL) {
        const bool room = r->reason_bytes <= REASONS_MAX;
        kept = room ? nnv_arena_strdup(r->arena, reason) : no_room;
        if (room && kept != NULL && nnv_map_add(&r->reasons, kept) == NNV_MAP_NONE) kept = NULL;
        r->reason_bytes += room && kept != NULL ? strlen(kept) + 1 : 0;
    }
    nnv_text_free(&like);
    return kept;
}

/** Keeps the first line of a reason of n bytes, cut between characters. */
static enum nnv_status take_reason(struct nnv_report *r, const char *s, size_t n, const char **out,
                                   struct nnv_err *err) {
    char cut[NNV_REPORT_REASON_MAX + 1];
    if (n > NNV_REPORT_REASON_MAX) {
        n = NNV_REPORT_REASON_MAX;
        while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80) n--;
    }
    memcpy(cut, s, n);
    cut[n] = '\0';
    *out = n == 0 ? no_more.reason : keep_reason(r, cut);
    return *out != NULL ? NNV_OK : nnv_no_memory(err);
}

static bool is_alike(const struct nnv_case_more *a, const struct nnv_case_more *b) {
    return a->reason == b->reason && a->cause == b->cause && nnv_same_bits(a->ms, b->ms) &&
           nnv_same_bits(a->driver_us, b->driver_us) && a->compared == b->compared && a->mode == b->mode &&
           a->expectation == b->expectation && a->runs == b->runs && a->bad_runs == b->bad_runs;
}

/** The kept copy of it, which cases share; NULL when out of memory. */
static const struct nnv_case_more *keep_more(struct nnv_report *r, const struct nnv_case_more *wanted) {
    if (is_alike(wanted, &no_more)) return &no_more;
    const uint64_t hash = nnv_hash_bytes(wanted, sizeof *wanted);
    size_t at = 0;
    for (uint32_t k; (k = nnv_index_next(&r->alike, hash, &at)) != NNV_MAP_NONE;)
        if (is_alike(r->more[k], wanted)) return r->more[k];
    const struct nnv_case_more *kept = nnv_arena_copy(r->arena, wanted, sizeof *wanted);
    if (kept == NULL || !nnv_grow(NULL, &r->more, r->alike.count, &r->more_cap, sizeof *r->more)) return NULL;
    r->more[r->alike.count] = kept;
    return nnv_index_add(&r->alike, hash) == NNV_MAP_NONE ? NULL : kept;
}

/** A count in 32 bits; *wide has what needs more. */
static uint32_t narrow(uint64_t n, uint64_t *wide) {
    if (n < NNV_CASE_WIDE) return (uint32_t)n;
    *wide = n;
    return NNV_CASE_WIDE;
}

/** A time in whole parts of its unit, from which it can be made again to the bit; *wide has what cannot be. */
static uint32_t narrow_time(double t, double parts, double *wide) {
    const double n = rint(t * parts);
    if (n >= 0 && n < NNV_CASE_WIDE && n / parts == t) return (uint32_t)n;
    *wide = t;
    return NNV_CASE_WIDE;
}

enum nnv_status nnv_report_take(struct nnv_report *r, uint32_t i, const struct nnv_line *l, off_t offset, size_t length,
                                struct nnv_err *err) {
    struct nnv_report_case *c = &r->item[i];
    if (c->length > 0) return nnv_fail(err, NNV_INVALID, "case '%s' has a second record", c->name);
    if (length > UINT32_MAX || offset > OFFSET_MAX)
        return nnv_fail(err, NNV_INVALID, "the record of case '%s' is too long", c->name);
    struct nnv_case_more more = no_more;
    if (l->mode != NULL && (more.mode = number_of(r, &r->modes, l->mode)) == NNV_MAP_NONE) return nnv_no_memory(err);
    more.expectation = l->expectation;
    more.runs = l->runs;
    more.bad_runs = l->bad_runs;
    c->verdict = l->verdict;
    c->why = l->why;
    c->outcome = l->outcome;
    c->drift = l->drift;
    c->values = l->values > 0;
    c->worker = l->worker;
    c->turn = l->turn;
    c->us = narrow_time(l->ms, 1000, &more.ms);
    c->driver = narrow_time(l->driver_us, 1, &more.driver_us);
    c->checked = narrow(l->compared, &more.compared);
    c->offset = (uint64_t)offset & (uint64_t)OFFSET_MAX;
    c->length = (uint32_t)length;
    enum nnv_status s = nnv_uses_add(&r->uses, c->op, l, err);
    if (s == NNV_OK && l->reason != NULL) s = take_reason(r, l->reason, l->reason_bytes, &more.reason, err);
    if (s != NNV_OK) return s;
    const struct nnv_case_more *kept = keep_more(r, &more);
    if (kept != NULL) c->more = kept;
    return kept != NULL ? NNV_OK : nnv_no_memory(err);
}

/** Gives case i something else beside it. */
static bool set_more(struct nnv_report *r, size_t i, const struct nnv_case_more *wanted) {
    const struct nnv_case_more *kept = keep_more(r, wanted);
    if (kept != NULL) r->item[i].more = kept;
    return kept != NULL;
}

bool nnv_report_expect(struct nnv_report *r, size_t i, uint32_t entry) {
    struct nnv_case_more more = *r->item[i].more;
    more.expectation = entry;
    return set_more(r, i, &more);
}

enum nnv_status nnv_report_head(struct nnv_report *r, const struct nnv_journal_reader *from, struct nnv_err *err) {
    r->header = json_incref(from->header);
    r->journal = dup(fileno(from->lines.file));
    enum nnv_status s =
        r->journal < 0 ? nnv_fail(err, NNV_IO, "%s: %s", from->lines.path, strerror(errno)) : check_count(r, err);
    return s == NNV_OK ? s : nnv_at(err, s, "%s:1", from->lines.path);
}

static enum nnv_status read_journal(struct nnv_report *r, struct nnv_err *err) {
    struct nnv_journal_reader from;
    bool more = true;
    uint32_t next = 0;
    enum nnv_status s = nnv_reader_open(r->folder, &from, err);
    if (s != NNV_OK) return s;
    s = nnv_report_head(r, &from, err);
    while (s == NNV_OK && (s = nnv_reader_next(&from, &more, err)) == NNV_OK && more) {
        const uint32_t i = nnv_report_find_next(r, from.at.name, &next);
        s = i == NNV_MAP_NONE ? nnv_fail(err, NNV_INVALID, "case '%s' is not in cases.tsv", from.at.name)
                              : nnv_report_take(r, i, &from.at, from.lines.offset, from.lines.bytes, err);
        if (s != NNV_OK) s = nnv_at(err, s, "%s:%zu", from.lines.path, from.lines.number);
    }
    nnv_reader_close(&from);
    return s;
}

/** Counts what the run as a whole needs. */
static void total(struct nnv_report *r) {
    double sum = 0, longest = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct nnv_report_case *c = &r->item[i];
        r->verdicts[c->verdict]++;
        r->whys[c->why]++;
        r->outcomes[c->outcome]++;
        r->bad += nnv_case_bad(c);
        if (__builtin_add_overflow(r->compared, nnv_case_compared(c), &r->compared)) r->compared = UINT64_MAX;
        sum += nnv_case_ms(c);
        if (nnv_case_ms(c) > longest) longest = nnv_case_ms(c);
    }
    uint64_t jobs = nnv_json_count(r->header, "jobs");
    double shared = sum / (double)(jobs == 0 ? 1 : jobs);
    r->seconds = (shared > longest ? shared : longest) / 1000;
}

enum nnv_status nnv_report_read_file(const struct nnv_report *r, const char *name, json_t **root, struct nnv_err *err) {
    struct nnv_text path = {0};
    json_error_t bad = {0};
    nnv_text_add_path(&path, r->folder, name);
    errno = 0;
    *root = path.failed ? NULL : json_load_file(path.data, 0, &bad);
    enum nnv_status s = NNV_OK;
    if (path.failed || (*root == NULL && (errno == ENOMEM || json_error_code(&bad) == json_error_out_of_memory)))
        s = nnv_no_memory(err);
    else if (*root == NULL && errno != ENOENT)
        s = bad.line > 0 ? nnv_fail(err, NNV_INVALID, "%s:%d: %s", path.data, bad.line, bad.text)
                         : nnv_fail(err, NNV_INVALID, "%s", bad.text);
    nnv_text_free(&path);
    return s;
}

json_t *nnv_report_file(const struct nnv_report *r, const char *name) {
    struct nnv_err unread = {0};
    json_t *root = NULL;
    return nnv_report_read_file(r, name, &root, &unread) == NNV_OK ? root : NULL;
}

/** A member's text in the arena; NULL: there is none, or no memory. */
static const char *kept_text(const json_t *object, const char *name, struct nnv_arena *arena) {
    const char *text = nnv_json_text(object, name, NULL);
    return text && *text ? nnv_arena_strdup(arena, text) : NULL;
}

/** NULL: nothing is said of it, or no memory. */
static const struct nnv_cause_condition *read_condition(const json_t *said, struct nnv_arena *arena) {
    const json_t *terms = json_object_get(said, "terms");
    const size_t n = json_array_size(terms);
    struct nnv_cause_condition *c = NNV_NEW(arena, struct nnv_cause_condition, 1);
    const char **term = NNV_NEW(arena, const char *, n + 1);
    if (c == NULL || term == NULL || (c->told = kept_text(said, "where", arena)) == NULL) return NULL;
    for (size_t i = 0; i < n; i++) {
        const char *text = json_string_value(json_array_get(terms, i));
        if (text == NULL || (term[c->terms++] = nnv_arena_strdup(arena, text)) == NULL) return NULL;
    }
    c->term = term;
    c->situation = kept_text(said, "situation", arena);
    c->elements = kept_text(said, "elements", arena);
    c->peculiar = json_is_true(json_object_get(said, "peculiar"));
    c->often = json_is_true(json_object_get(said, "often"));
    return c;
}

/** What explained.json says of case i. */
static bool take_explained(struct nnv_report *r, uint32_t i, const json_t *said) {
    const char *words = nnv_json_text(said, "words", ""), *promise = nnv_json_text(said, "right_if", "");
    struct nnv_cause *cause = NNV_NEW(r->arena, struct nnv_cause, 1);
    if (cause == NULL) return false;
    cause->tried = json_is_true(json_object_get(said, "tried"));
    cause->untried = json_is_false(json_object_get(said, "tried"));
    cause->where = read_condition(said, r->arena);
    cause->op = nnv_arena_strdup(r->arena, nnv_json_text(said, "op", ""));
    cause->promise = *promise != '\0';
    if (cause->op != NULL && (*words != '\0' || *promise != '\0'))
        cause->explained = *promise ? nnv_arena_printf(r->arena, "within the budget if %s", promise)
                                    : nnv_arena_strdup(r->arena, words);
    struct nnv_case_more more = *r->item[i].more;
    more.cause = cause;
    return set_more(r, i, &more);
}

/** Explanations of failures, if the folder has any: what cannot be read is left out. */
static enum nnv_status read_explained(struct nnv_report *r, struct nnv_err *err) {
    json_t *root, *value;
    const char *name;
    struct nnv_err unread = {0};
    enum nnv_status s = nnv_report_read_file(r, NNV_EXPLAINED_FILE, &root, &unread);
    if (s == NNV_INVALID) return NNV_OK; /* and nothing is told */
    if (s != NNV_OK) return nnv_no_memory(err);
    json_object_foreach(root, name, value) {
        const uint32_t i = nnv_report_find(r, name);
        if (s == NNV_OK && i != NNV_MAP_NONE && !take_explained(r, i, value)) s = nnv_no_memory(err);
    }
    json_decref(root);
    return s;
}

enum nnv_status nnv_report_begin(const char *folder, const char *from, const char *list, struct nnv_report **report,
                                 struct nnv_err *err) {
    struct nnv_report *r = calloc(1, sizeof *r);
    if (r == NULL) return nnv_no_memory(err);
    r->journal = -1;
    r->arena = nnv_arena_new();
    r->folder = strdup(folder);
    r->uses.map.arena = r->uses.devices.arena = r->arena;
    enum nnv_status s = r->arena == NULL || r->folder == NULL ? nnv_no_memory(err) : read_list(r, from, list, err);
    if (s == NNV_OK)
        *report = r;
    else
        nnv_report_free(r);
    return s;
}

enum nnv_status nnv_report_settle(struct nnv_report *r, struct nnv_err *err) {
    enum nnv_status s = read_explained(r, err);
    if (s == NNV_OK) s = nnv_outcomes_settle(r, err);
    total(r);
    return s;
}

enum nnv_status nnv_report_load(const char *folder, struct nnv_report **report, struct nnv_err *err) {
    struct nnv_report *r = NULL;
    enum nnv_status s = nnv_report_begin(folder, folder, "cases.tsv", &r, err);
    if (s != NNV_OK) return s;
    s = read_journal(r, err);
    if (s == NNV_OK) s = nnv_report_settle(r, err);
    if (s == NNV_OK)
        *report = r;
    else
        nnv_report_free(r);
    return s;
}

void nnv_report_free(struct nnv_report *r) {
    if (r == NULL) return;
    if (r->journal >= 0) close(r->journal);
    json_decref(r->header);
    json_decref(r->judged);
    json_decref(r->flakes);
    nnv_index_free(&r->names);
    nnv_map_free(&r->suites);
    nnv_map_free(&r->ops);
    nnv_map_free(&r->types);
    nnv_map_free(&r->tags);
    nnv_map_free(&r->modes);
    nnv_map_free(&r->reasons);
    nnv_index_free(&r->alike);
    free(r->more);
    nnv_arena_free(r->arena);
    free(r->item);
    free(r->folder);
    free(r);
}

enum nnv_status nnv_report_record(const struct nnv_report *r, size_t i, json_t **record, struct nnv_err *err) {
    const struct nnv_report_case *c = &r->item[i];
    if (c->length == 0) {
        *record = NULL;
        return NNV_OK;
    }
    char *line = malloc(c->length);
    if (line == NULL) return nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", r->folder);
    size_t have = 0;
    while (have < c->length) {
        ssize_t n = pread(r->journal, line + have, c->length - have, (off_t)c->offset + (off_t)have);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        have += (size_t)n;
    }
    json_error_t why;
    json_t *value = have == c->length ? nnv_record_parse(line, have, &why) : NULL;
    free(line);
    if (value == NULL) return nnv_fail(err, NNV_IO, "%s/journal.jsonl has changed while it was read", r->folder);
    *record = value;
    return NNV_OK;
}

bool nnv_report_is_shard(const struct nnv_report *r) {
    return nnv_json_count(json_object_get(r->header, "shard"), "count") > 1;
}

size_t nnv_report_count(const struct nnv_report *r, enum nnvts_verdict v) { return r->verdicts[v]; }

const char *nnv_report_not_run(const struct nnv_report *r) {
    for (size_t i = 0; i < r->count; i++)
        if (r->item[i].verdict == NNVTS_NOTRUN && *r->item[i].more->reason != '\0') return r->item[i].more->reason;
    return "";
}

double nnv_report_judged(const struct nnv_report *r) {
    const size_t not_judged = r->verdicts[NNVTS_UNSUPPORTED] + r->verdicts[NNVTS_SKIP] + r->verdicts[NNVTS_NOTRUN];
    return r->count > 0 ? floor(1000.0 * (double)(r->count - not_judged) / (double)r->count) / 10 : 0;
}

bool nnv_report_too_few(const struct nnv_report *r) {
    return !nnv_report_is_shard(r) && nnv_report_judged(r) < (double)nnv_json_count(r->header, "min_judged");
}

enum nnvts_exit nnv_report_exit(const struct nnv_report *r) {
    if (r->verdicts[NNVTS_ERROR] > r->whys[NNVTS_WHY_MALFORMED]) return NNVTS_EXIT_ERROR;
    if (r->verdicts[NNVTS_ERROR] > 0) return NNVTS_EXIT_USAGE;
    bool bad = r->verdicts[NNVTS_NOTRUN] > 0 || (r->compared == 0 && !nnv_report_is_shard(r)) || r->bad > 0;
    if (nnv_report_too_few(r)) bad = true;
    if (r->strict && (r->outcomes[NNVTS_OUTCOME_XPASS] > 0 || r->stale > 0)) bad = true;
    return bad ? NNVTS_EXIT_FAIL : NNVTS_EXIT_PASS;
}
