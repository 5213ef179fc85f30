/* SPDX-License-Identifier: Apache-2.0 */
/** @file console.c The lines that a person sees while a run goes on. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "base/words.h"
#include "harness/journal/causes/bug.h"
#include "harness/journal/expect/outcome.h"
#include "harness/journal/flakes.h"
#include "harness/journal/line.h"
#include "harness/journal/load.h"
#include "harness/journal/verdict.h"
#include "reports/implemented.h"
#include "reports/networks.h"
#include "reports/reached.h"
#include "reports/report.h"

enum { REASON_LINES = 12, LINE_MAX_BYTES = 400, FIRST_BYTES = 160 }; /* FIRST: of the first failure of its kind */

struct nnv_console {
    FILE *to;
    struct nnv_console_style style;
    char *folder, *driver;
    uint64_t start_ns, total, done, bad;
    bool drawn;                    /**< the live line stands on the terminal */
    bool told[NNVTS_REASON_COUNT]; /**< the first failure for this reason */
    struct nnv_networks networks;  /**< in the end */
};

static const char *const colours[NNVTS_VERDICT_COUNT] = {
    [NNVTS_ERROR] = "1;35",    [NNVTS_PASS] = "32",      [NNVTS_FAIL] = "1;31",
    [NNVTS_UNSUPPORTED] = "2", [NNVTS_SKIP] = "2",       [NNVTS_UNTRUSTED] = "1;33",
    [NNVTS_CRASH] = "1;31",    [NNVTS_TIMEOUT] = "1;33", [NNVTS_NOTRUN] = "33",
};

/** Adds the verdict, coloured where that is wanted. */
static void add_coloured(struct nnv_text *t, const struct nnv_console *c, enum nnvts_verdict v, const char *word) {
    if (c->style.colour)
        nnv_text_addf(t, "\033[%sm%s\033[m", colours[v], word);
    else
        nnv_text_add(t, word);
}

/* ---------------------------------------------------------------- live line */

static size_t width_of(FILE *to) {
    struct winsize w = {0};
    int fd = fileno(to);
    return fd >= 0 && ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

static void clear_live(struct nnv_console *c) {
    if (c->drawn) fputs("\r\033[K", c->to);
    c->drawn = false;
}

void nnv_console_tick(struct nnv_console *c) {
    if (!c->style.live) return;
    double seconds = (double)(nnv_now_ns() - c->start_ns) / 1e9;
    double rate = seconds > 0 ? (double)c->done / seconds : 0;
    struct nnv_text t = {0};
    nnv_text_addf(&t, "  %s/%s", nnv_count(c->done).s, nnv_count(c->total).s);
    if (c->done > 0 && rate > 0) {
        nnv_text_addf(&t, rate < 10 ? "  %.1f/s" : "  %.0f/s", rate);
        nnv_text_add(&t, "  ");
        nnv_text_add_seconds(&t, c->total > c->done ? (double)(c->total - c->done) / rate : 0);
        nnv_text_add(&t, " left");
    }
    nnv_text_addf(&t, "  %s failed", nnv_count(c->bad).s);
    size_t width = width_of(c->to) - 1;
    if (!t.failed) {
        fprintf(c->to, "\r\033[K%.*s", (int)(t.len < width ? t.len : width), t.data);
        fflush(c->to);
        c->drawn = true;
    }
    nnv_text_free(&t);
}

/** Prints lines that stay, and empties the text. */
static void print(struct nnv_console *c, struct nnv_text *t) {
    clear_live(c);
    if (t->len > 0) fwrite(t->data, 1, t->len, c->to);
    fflush(c->to);
    nnv_text_free(t);
}

/* -------------------------------------------------------------- opening line */

static void add_shown(struct nnv_text *t, const char *s) { nnv_text_add_shown(t, s, strlen(s), LINE_MAX_BYTES); }

static void put(struct nnv_text *t, const char *before, const char *s, const char *after) {
    nnv_text_add(t, before);
    add_shown(t, s);
    nnv_text_add(t, after);
}

/** The same with the path of a file in a folder. */
static void put_path(struct nnv_text *t, const char *before, const char *folder, const char *name, const char *after) {
    struct nnv_text path = {0};
    nnv_text_add_path(&path, folder, name);
    put(t, before, path.failed ? name : path.data, after);
    nnv_text_free(&path);
}

/** "cpu 1.0.0 (CPU, level 7)"; where the argument is not the driver's name: "./npu.so (npu 2.1, ACCELERATOR, level 6)".
 */
static void add_driver(struct nnv_text *t, const json_t *driver) {
    const char *argument = nnv_json_text(driver, "argument", "?"), *name = nnv_json_text(driver, "name", "?");
    bool same = strcmp(argument, name) == 0;
    add_shown(t, argument);
    nnv_text_add(t, " ");
    if (!same) put(t, "(", name, " ");
    add_shown(t, nnv_json_text(driver, "version", "?"));
    nnv_text_add(t, same ? " (" : ", ");
    add_shown(t, nnv_json_text(driver, "type", "?"));
    nnv_text_addf(t, ", level %" PRIu64 ")", nnv_json_count(driver, "level"));
}

/** "  shard 2 of 4 (SLURM_ARRAY_TASK_ID)": what said so, unless the user did. */
static void add_shard(struct nnv_text *t, const json_t *shard) {
    if (!json_is_object(shard)) return;
    const char *from = nnv_json_text(shard, "from", "");
    nnv_text_addf(t, "  shard %" PRIu64 " of %" PRIu64, nnv_json_count(shard, "index"), nnv_json_count(shard, "count"));
    if (*from == '\0' || *from == '-') return;
    put(t, " (", from, ")");
}

/** "  arithmetic android": where a promise was made. */
static void add_arithmetic(struct nnv_text *t, const json_t *header) {
    const char *promise = nnv_json_text(header, "arithmetic", "strict");
    if (strcmp(promise, "strict") != 0) put(t, "  arithmetic ", promise, "");
}

/** "  tier ci, no case begins after 10 min": where there is a time budget. */
static void add_budget(struct nnv_text *t, const json_t *header) {
    const json_t *seconds = json_object_get(header, "time_budget");
    if (!json_is_number(seconds)) return;
    put(t, "  tier ", nnv_json_text(header, "tier", "?"), ", no case begins after ");
    nnv_text_add_seconds(t, json_number_value(seconds));
}

static void print_opening(struct nnv_console *c, const json_t *header) {
    struct nnv_text t = {0};
    uint64_t jobs = nnv_json_count(header, "jobs");
    put(&t, "nnvts ", nnv_json_text(header, "nnvts", "?"), "  driver ");
    add_driver(&t, json_object_get(header, "driver"));
    nnv_text_addf(&t, "  %s case%s  seed ", nnv_count(c->total).s, c->total == 1 ? "" : "s");
    nnv_header_add_seed(&t, header);
    nnv_text_addf(&t, "  %" PRIu64 " job%s", jobs, jobs == 1 ? "" : "s");
    add_budget(&t, header);
    add_arithmetic(&t, header);
    add_shard(&t, json_object_get(header, "shard"));
    nnv_text_add(&t, "  out ");
    add_shown(&t, c->folder);
    nnv_text_add(&t, c->folder[0] != '\0' && c->folder[strlen(c->folder) - 1] == '/' ? "\n" : "/\n");
    if (json_object_get(header, "saturation"))
        put(&t, "random graphs: ", nnv_json_text(header, "saturation", ""), "\n");
    print(c, &t);
}

struct nnv_console *nnv_console_new(FILE *to, struct nnv_console_style style, const char *header, const char *folder) {
    json_error_t why;
    struct nnv_console *c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    json_t *run = nnv_record_parse(header, strlen(header), &why);
    c->to = to;
    c->style = style;
    c->folder = strdup(folder);
    c->driver = strdup(nnv_json_text(json_object_get(run, "driver"), "argument", "?"));
    c->start_ns = nnv_now_ns();
    c->total = nnv_json_count(run, "cases");
    if (c->folder == NULL || c->driver == NULL) {
        nnv_console_free(c);
        c = NULL;
    } else if (!style.quiet) {
        print_opening(c, run);
    }
    json_decref(run);
    return c;
}

void nnv_console_free(struct nnv_console *c) {
    if (c == NULL) return;
    clear_live(c);
    nnv_networks_free(&c->networks);
    free(c->folder);
    free(c->driver);
    free(c);
}

/* --------------------------------------------------------------------- cases */

static void add_reason(struct nnv_text *t, const char *reason) {
    for (int lines = 0; *reason != '\0'; lines++) {
        if (lines == REASON_LINES) {
            nnv_text_add(t, "     ... (more in the report)\n");
            return;
        }
        size_t n = nnv_first_line(reason);
        nnv_text_add(t, "     ");
        nnv_text_add_shown(t, reason, n, LINE_MAX_BYTES);
        nnv_text_add(t, "\n");
        reason += n;
        reason += *reason == '\r' && reason[1] == '\n' ? 2 : *reason != '\0';
    }
}

/** Adds the block of a failure. */
static void add_failure(struct nnv_text *t, const struct nnv_console *c, enum nnvts_verdict v, const char *name,
                        const json_t *record) {
    const char *dump = nnv_json_text(record, "dump", NULL), *replay = nnv_json_text(record, "replay", NULL);
    add_coloured(t, c, v, nnv_verdict_name(v));
    put(t, " ", name, "   driver ");
    add_shown(t, c->driver);
    nnv_text_add(t, "\n");
    add_reason(t, nnv_json_text(record, "reason", ""));
    if (*nnv_json_text(record, "backtrace", "") != '\0') nnv_text_add(t, "     backtrace in the report\n");
    if (dump != NULL) put_path(t, "     dump ", c->folder, dump, "\n");
    if (replay != NULL && *replay != '\0') {
        struct nnv_text tried = {0};
        nnv_text_add_tried(&tried, v, nnv_json_text(record, "again", NULL));
        nnv_text_add(t, "     again: ");
        nnv_text_add_shown(t, replay, strlen(replay), 4096);
        if (tried.len > 0) nnv_text_addf(t, "   (%s)", tried.data);
        nnv_text_add(t, "\n");
        nnv_text_free(&tried);
    }
}

/** Adds a line on the first failure for its reason: the causes come at the end, and a run may be long. */
static void add_first(struct nnv_text *t, struct nnv_console *c, enum nnvts_verdict v, const char *name,
                      const json_t *record) {
    const enum nnvts_reason why = nnv_why_parse(nnv_json_text(record, "why", ""), v);
    const char *reason = nnv_json_text(record, "reason", "");
    if (c->told[why]) return;
    c->told[why] = true;
    add_coloured(t, c, v, nnv_verdict_name(v));
    put(t, " ", name, *reason ? ": " : "");
    nnv_text_add_shown(t, reason, nnv_first_line(reason), FIRST_BYTES);
    nnv_text_add(t, "\n");
}

void nnv_console_case(struct nnv_console *c, const char *line) {
    json_error_t why;
    enum nnvts_verdict v = NNVTS_ERROR;
    struct nnv_text t = {0};
    struct nnv_line quick;
    if (!c->style.verbose && nnv_line_scan(line, strlen(line), &quick)) {
        c->done++;
        return;
    }
    json_t *record = nnv_record_parse(line, strlen(line), &why);
    const char *name = nnv_json_text(record, "case", NULL);
    c->done++;
    if (name == NULL || !nnv_verdict_parse(nnv_json_text(record, "verdict", ""), &v)) {
        c->bad++;
        nnv_text_add(&t, "ERROR a record of the journal cannot be read: ");
        nnv_text_add_shown(&t, line, strlen(line), 120);
        nnv_text_add(&t, "\n");
    } else if (nnv_verdict_bad(v) && strcmp(nnv_json_text(record, "outcome", ""), "XFAIL") != 0) {
        c->bad++;
        if (c->style.verbose)
            add_failure(&t, c, v, name, record);
        else if (!c->style.quiet)
            add_first(&t, c, v, name, record);
    } else if (c->style.verbose) {
        const char *outcome = nnv_json_text(record, "outcome", NULL);
        enum nnvts_outcome o;
        const char *word = outcome != NULL && nnv_outcome_parse(outcome, &o) ? outcome : nnv_verdict_name(v);
        size_t pad = strlen("UNSUPPORTED") - strlen(word);
        add_coloured(&t, c, v, word);
        nnv_text_addf(&t, "%*s ", (int)pad, "");
        add_shown(&t, name);
        nnv_text_addf(&t, "  %.1f ms\n", json_number_value(json_object_get(record, "ms")));
    }
    if (t.len > 0) print(c, &t);
    json_decref(record);
}

/* ------------------------------------------------------------- closing lines */

/** Adds a line a suite, the counts of a verdict below each other. */
static void add_suites(struct nnv_text *t, const struct nnv_report *r, const struct nnv_suite_counts *suites) {
    int width[NNVTS_VERDICT_COUNT] = {0}, name_width = 0;
    for (uint32_t s = 0; s < r->suites.count; s++) {
        int n = (int)strlen(r->suites.key[s]);
        if (n > name_width && n <= 40) name_width = n;
        for (int v = 0; v < NNVTS_VERDICT_COUNT; v++) {
            int digits = (int)strlen(nnv_count(suites[s].verdicts[v]).s);
            if (suites[s].verdicts[v] > 0 && digits > width[v]) width[v] = digits;
        }
    }
    for (uint32_t s = 0; s < r->suites.count; s++) {
        size_t start = t->len;
        nnv_text_add(t, "  ");
        add_shown(t, r->suites.key[s]);
        size_t used = t->len - start - 2;
        nnv_text_addf(t, "%*s", name_width > (int)used ? name_width - (int)used : 0, "");
        int blank = 0; /* of columns that are empty here; only added in front of another one */
        for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
            enum nnvts_verdict v = nnv_verdict_order[k];
            const char *word = nnv_verdict_word(v);
            size_t n = suites[s].verdicts[v];
            if (n == 0 && width[v] > 0) blank += 4 + width[v] + (int)strlen(word);
            if (n == 0) continue;
            nnv_text_addf(t, "%*s   %*s %s", blank, "", width[v], nnv_count(n).s, word);
            blank = 0;
        }
        nnv_text_add(t, "\n");
    }
}

/** Adds what of the verdicts was expected: ", 3 of them as expected". */
static void add_expected_counts(struct nnv_text *t, const struct nnv_report *r) {
    const size_t *n = r->outcomes;
    if (n[NNVTS_OUTCOME_XFAIL] > 0) nnv_text_addf(t, ", %s of these as expected", nnv_count(n[NNVTS_OUTCOME_XFAIL]).s);
    if (n[NNVTS_OUTCOME_FLAKY] > 0) nnv_text_addf(t, ", %s flaky", nnv_count(n[NNVTS_OUTCOME_FLAKY]).s);
    if (n[NNVTS_OUTCOME_XPASS] > 0)
        nnv_text_addf(t, ", %s expected to fail did not", nnv_count(n[NNVTS_OUTCOME_XPASS]).s);
}

enum { EXPECTED_SHOWN = 10 };

/** Adds the cases that were expected to fail and did not. */
static void add_unexpected_passes(struct nnv_text *t, const struct nnv_console *c, const struct nnv_report *r) {
    size_t shown = 0, all = r->outcomes[NNVTS_OUTCOME_XPASS];
    for (size_t i = 0; i < r->count && all > 0 && shown < EXPECTED_SHOWN; i++) {
        const struct nnv_report_case *k = &r->item[i];
        if (k->outcome != NNVTS_OUTCOME_XPASS) continue;
        struct nnv_text why = {0};
        nnv_outcome_add_why(&why, r, k->more->expectation);
        add_coloured(t, c, r->strict ? NNVTS_FAIL : NNVTS_NOTRUN, "XPASS");
        put(t, " ", k->name, "   expected to fail: ");
        add_shown(t, why.data != NULL ? why.data : "");
        nnv_text_add(t, "\n");
        nnv_text_free(&why);
        shown++;
    }
    if (all > shown) nnv_text_addf(t, "XPASS ... and %s more\n", nnv_count(all - shown).s);
}

/** Adds what was found out about failures that were tried again and are not the same every time. */
static void add_flakes(struct nnv_text *t, const struct nnv_console *c, const struct nnv_report *r) {
    const json_t *item;
    size_t k, shown = 0, all = 0;
    json_array_foreach(json_object_get(r->flakes, "cases"), k, item) {
        const char *words = nnv_json_text(item, "words", ""), *again = nnv_json_text(item, "command", "");
        if (!nnv_flake_is_unsteady(item) || all++ >= EXPECTED_SHOWN) continue;
        shown++;
        add_coloured(t, c, NNVTS_TIMEOUT, "FLAKY");
        put(t, " ", nnv_json_text(item, "case", "?"), "   ");
        add_shown(t, words);
        nnv_text_add(t, "\n");
        if (*again == '\0') continue;
        nnv_text_add(t, "     again: ");
        nnv_text_add_shown(t, again, strlen(again), 4096);
        nnv_text_add(t, "\n");
    }
    if (all > shown) nnv_text_addf(t, "FLAKY ... and %s more\n", nnv_count(all - shown).s);
}

/** Adds the expectations that have expired or match nothing. */
static void add_stale(struct nnv_text *t, const struct nnv_console *c, const struct nnv_report *r) {
    size_t shown = 0;
    for (uint32_t i = 0; r->stale > 0 && shown < EXPECTED_SHOWN; i++) {
        const json_t *entry = nnv_expected_entry(r, i);
        if (entry == NULL) break;
        if (!nnv_expected_stale(entry)) continue;
        add_coloured(t, c, r->strict ? NNVTS_FAIL : NNVTS_NOTRUN, "STALE");
        nnv_text_add(t, " ");
        nnv_outcome_add_stale(t, entry);
        nnv_text_add(t, "\n");
        shown++;
    }
    if (r->stale > shown) nnv_text_addf(t, "STALE ... and %s more\n", nnv_count(r->stale - shown).s);
}

static void add_totals(struct nnv_text *t, const struct nnv_console *c, const struct nnv_report *r, double seconds) {
    const char *comma = "";
    for (int k = 0; k < NNVTS_VERDICT_COUNT; k++) {
        enum nnvts_verdict v = nnv_verdict_order[k];
        if (r->verdicts[v] == 0 && v != NNVTS_PASS && v != NNVTS_FAIL) continue;
        struct nnv_text part = {0};
        nnv_text_addf(&part, "%s %s", nnv_count(r->verdicts[v]).s, nnv_verdict_done(v));
        nnv_text_add(t, comma);
        if (r->verdicts[v] > 0 && !part.failed)
            add_coloured(t, c, v, part.data);
        else
            nnv_text_add(t, part.failed ? "" : part.data);
        nnv_text_free(&part);
        comma = ", ";
    }
    add_expected_counts(t, r);
    nnv_text_addf(t, "; %s values compared in ", nnv_count(r->compared).s);
    nnv_text_add_seconds(t, seconds);
    nnv_text_add(t, "\n");
    const char *not_run = nnv_report_not_run(r);
    if (*not_run != '\0') {
        nnv_text_add(t, "not run: ");
        nnv_text_add_shown(t, not_run, strlen(not_run), 400);
        nnv_text_add(t, "\n");
    }
    if (nnv_report_too_few(r))
        nnv_text_addf(t, "%.1f %% of the cases were judged, fewer than --min-judged %" PRIu64 ": this does not pass\n",
                      nnv_report_judged(r), nnv_json_count(r->header, "min_judged"));
    nnv_text_add_untold(t, r, "", "\n");
    if (r->compared == 0 && !nnv_report_is_shard(r))
        nnv_text_add(t, "nothing was compared: this run proves nothing, so it does not pass\n");
}

/** Adds a line for each of the first bugs: how many failures of what, what the driver seems to do, under which
 * condition, and the dump of the smallest case. */
static void add_bugs(struct nnv_text *t, const struct nnv_console *c, const struct nnv_report *r,
                     const struct nnv_bugs *b) {
    enum { SHOWN = 10 };
    for (uint32_t n = 0; n < b->count && n < SHOWN; n++) {
        const struct nnv_bug *bug = &b->item[n];
        struct nnv_err ignored = {0};
        json_t *record = NULL;
        nnv_text_addf(t, "  %s x ", nnv_count(bug->count).s);
        add_shown(t, bug->ops);
        if (*bug->types) put(t, " (", bug->types, ")");
        nnv_text_add(t, *bug->ops ? ": " : "");
        nnv_text_add_shown(t, bug->words, strlen(bug->words), 200);
        if (bug->where) {
            nnv_text_add(t, "; ");
            nnv_text_add_shown(t, bug->where, strlen(bug->where), 300);
        }
        if (nnv_report_record(r, bug->smallest, &record, &ignored) == NNV_OK) {
            const char *dump = nnv_json_text(record, "dump", NULL);
            put(t, "; smallest: ", dump ? dump : r->item[bug->smallest].name, "");
        }
        nnv_text_add_touched(t, &c->networks, nnv_networks_touched(&c->networks, b, n), "; touches ", "");
        json_decref(record);
        nnv_text_add(t, "\n");
    }
    if (b->count > SHOWN) nnv_text_addf(t, "  and %s more in the report\n", nnv_count(b->count - SHOWN).s);
}

/** Adds what may be done next; replay: the command to start with. */
static void add_next(struct nnv_text *t, const struct nnv_console *c, const char *replay) {
    static const char verb[] = "nnvts replay ";
    nnv_text_add(t, "next: ");
    if (strncmp(replay, verb, strlen(verb)) == 0)
        nnv_text_add(t, "explain (which mistake), reduce (a smaller model) or bisect (which operation) in place of "
                        "replay; ");
    nnv_text_add(t, c->style.verbose ? "the report has the cases of each bug\n"
                                     : "the report has the cases of each bug, run -v prints them\n");
}

/** Adds how many bugs there are, the smallest case of the first to start with, a line for each, and what to do next. */
static void add_advice(struct nnv_text *t, const struct nnv_console *c, const struct nnv_report *r, double explaining) {
    struct nnv_bugs bugs = {0};
    struct nnv_err err = {0};
    json_t *record = NULL;
    size_t failures = 0;
    if (nnv_bugs_of(r, &bugs, &err) == NNV_OK && bugs.count > 0 &&
        nnv_report_record(r, bugs.item[0].smallest, &record, &err) == NNV_OK) {
        const uint32_t n = bugs.count;
        for (uint32_t i = 0; i < n; i++) failures += bugs.item[i].count;
        nnv_text_addf(t, "%s bug%s behind %s failure%s", nnv_count(n).s, n == 1 ? "" : "s", nnv_count(failures).s,
                      failures == 1 ? "" : "s");
        if (explaining > 0) {
            nnv_text_add(t, " (explained in ");
            nnv_text_add_seconds(t, explaining);
            nnv_text_add(t, ")");
        }
        const char *replay = nnv_json_text(record, "replay", "");
        if (*replay != '\0') {
            nnv_text_add(t, "; start with: ");
            nnv_text_add_shown(t, replay, strlen(replay), 4096);
        }
        nnv_text_add(t, "\n");
        add_bugs(t, c, r, &bugs);
        add_next(t, c, replay);
    }
    json_decref(record);
    nnv_bugs_free(&bugs);
}

void nnv_console_end(struct nnv_console *c, const struct nnv_report *r, double seconds, double explaining) {
    struct nnv_text t = {0};
    struct nnv_suite_counts *suites = nnv_suite_counts(r);
    t.failed = nnv_networks_of(r, &c->networks, &(struct nnv_err){0}) != NNV_OK;
    add_flakes(&t, c, r);
    add_unexpected_passes(&t, c, r);
    add_stale(&t, c, r);
    if (suites != NULL) add_suites(&t, r, suites);
    add_totals(&t, c, r, seconds);
    nnv_text_add_networks(&t, &c->networks, "networks: ", "\n");
    nnv_text_add_reached(&t, r, "reached of the driver's code: ", "\n");
    put_path(&t, "report: ", r->folder, "report.html", "");
    put_path(&t, "   junit: ", r->folder, "junit.xml", "\n");
    add_advice(&t, c, r, explaining);
    print(c, &t);
    free(suites);
}
