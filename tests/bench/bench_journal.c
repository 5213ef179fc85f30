/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What very large runs cost: writes the folders of a run of many cases in shards, has them merged and reported, and
 * fails where that takes too long, too much memory, or makes a page that no one can open.
 *   bench_journal NNVTS [CASES [SHARDS [FAILING]]]   FAILING: how many of a thousand cases fail; default: 1
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/rng.h"
#include "base/text.h"
#include "harness/journal/seal.h"

enum { CASES = 1000000, SHARDS = 8, OPERATIONS = 100, NAME = 128 };

static const double SECONDS_MAX = 60, MEMORY_MAX_MB = 300, PAGE_MAX_MB = 4;

static const char *const types[] = {"float32", "float16", "quant8_asymm", "quant8_asymm_signed", "int32", "bool8"};

struct kase {
    char name[NAME], op[24];
    const char *type;
    uint64_t hash;
};

static void make_case(size_t i, struct kase *c) {
    snprintf(c->op, sizeof c->op, "OPERATION_%zu", i % OPERATIONS);
    c->type = types[i / OPERATIONS % (sizeof types / sizeof *types)];
    snprintf(c->name, sizeof c->name, "ops/%s/%s/generated_values_of_a_kind/%zu", c->op, c->type, i);
    c->hash = nnv_hash_str(c->name);
}

/** As nnvts divides: by the hash of the name. */
static unsigned shard_of(const struct kase *c, unsigned shards) { return (unsigned)(c->hash % shards); }

/** The hash that nnvts makes of a selection. */
static uint64_t add_hash(uint64_t h, const struct kase *c) {
    uint64_t pair[2] = {h, c->hash};
    return nnv_hash_bytes(pair, sizeof pair);
}

static FILE *create(const char *folder, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (f == NULL) {
        fprintf(stderr, "bench_journal: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    return f;
}

static void put_output(struct nnv_text *f, uint64_t h, bool wrong) {
    nnv_text_addf(
        f,
        ",\"outputs\":[{\"index\":0,\"dims\":[2,3,%u],\"type\":\"TENSOR_FLOAT32\",\"compared\":360,\"wrong\":%d,"
        "\"not_compared\":0,\"rule\":\"|actual - golden| <= the budget of the operation\",\"max_ulp\":1.5,\"bias\":"
        "0.000012,\"mse\":1.25e-09,\"worst\":{\"at\":[1,2,%u],\"expected\":0.125,\"actual\":0.12500001,\"error\":"
        "7.45e-09,\"bound\":5.96e-08,\"ratio\":0.125}}]",
        60 + (unsigned)(h % 7), wrong ? 12 : 0, (unsigned)(h % 60));
}

static unsigned failing; /* of a thousand cases */

/** Some cases fail, in ways that make some hundreds of bugs; one of ten is not supported. */
static void put_record(struct nnv_text *f, const struct kase *c, size_t i) {
    const uint64_t h = nnv_hash_bytes(&c->hash, sizeof c->hash);
    const bool wrong = h % 1000 < failing, refused = !wrong && h % 10 == 3;
    nnv_text_addf(
        f, "{\"case\":\"%s\",\"suite\":\"ops\",\"op\":\"%s\",\"type\":\"%s\",\"tags\":\"edge\",\"verdict\":\"%s\"",
        c->name, c->op, c->type,
        wrong     ? "FAIL"
        : refused ? "UNSUPPORTED"
                  : "PASS");
    if (wrong)
        nnv_text_addf(f, ",\"reason\":\"output 0 [2,3,60]: %u of 360 values wrong; worst at [1,2,%u]: allowed 0\"",
                      12 + (unsigned)(h >> 32) % 300, (unsigned)(h >> 20) % 60);
    else if (refused)
        nnv_text_addf(f, ",\"reason\":\"the driver does not support operation 0 (%s)\"", c->op);
    nnv_text_addf(f, ",\"compared\":%d,\"not_compared\":0,\"ms\":%u.%03u,\"driver_us\":%u,\"worker\":%zu",
                  refused ? 0 : 360, (unsigned)(h >> 40) % 20, (unsigned)(h >> 8) % 1000, (unsigned)(h >> 16) % 9000,
                  i % 16 + 1);
    if (wrong) nnv_text_addf(f, ",\"replay\":\"nnvts run --driver cpu --filter '%s'\"", c->name);
    if (!refused) put_output(f, h, wrong);
    nnv_text_add(f, "}");
}

static void put_header(struct nnv_text *f, unsigned index, unsigned shards, size_t own, uint64_t own_hash, size_t all,
                       const char *selection) {
    nnv_text_addf(
        f,
        "{\"nnvts\":\"%s\",\"format\":\"nnvts-journal/1\",\"driver\":{\"argument\":\"cpu\",\"name\":\"cpu\","
        "\"version\":\"1.0.0\",\"type\":\"CPU\",\"level\":7},\"seed\":1,\"jobs\":4,\"precision\":\"default\","
        "\"tier\":\"full\",\"argv\":[\"run\",\"-d\",\"cpu\"],\"cases\":%zu,\"selection\":\"%016" PRIx64 "\",\"start\":"
        "\"2026-01-31T12:00:00Z\",\"machine\":{\"os\":\"Linux\",\"host\":\"node%u\",\"cpu\":\"any\",\"cores\":4},"
        "\"build\":{\"program\":\"0123456789abcdef\",\"driver\":\"fedcba9876543210\"},\"shard\":{\"index\":%u,"
        "\"count\":%u,\"by\":\"hash\",\"cases\":%zu,\"selection\":\"%s\"},\"suites\":{\"ops\":{\"summary\":\"x\","
        "\"cases\":%zu}},\"coverage\":{}}",
        NNVTS_VERSION, own, own_hash, index, index, shards, all, selection, own);
}

/** A line of the journal with its checksum, as nnvts writes it. */
static void put_line(FILE *f, struct nnv_text *t) {
    nnv_seal(t, 0);
    nnv_text_add(t, "\n");
    if (t->failed) exit(2);
    fwrite(t->data, 1, t->len, f);
    nnv_text_clear(t);
}

/** Writes the folder of one shard. */
static void make_shard(const char *root, unsigned index, unsigned shards, size_t cases, const char *selection) {
    char folder[256];
    struct nnv_err err = {0};
    struct kase c;
    size_t own = 0;
    uint64_t own_hash = 0;
    snprintf(folder, sizeof folder, "%s/shard-%u", root, index);
    if (nnv_folder_make(folder, &err) != NNV_OK) {
        fprintf(stderr, "bench_journal: %s\n", err.text);
        exit(2);
    }
    FILE *list = create(folder, "cases.tsv"), *whole = create(folder, "selection.tsv");
    for (size_t i = 0; i < cases; i++) {
        make_case(i, &c);
        fprintf(whole, "%s\tops\t%s\t%s\tedge\n", c.name, c.op, c.type);
        if (shard_of(&c, shards) != index - 1) continue;
        fprintf(list, "%s\tops\t%s\t%s\tedge\n", c.name, c.op, c.type);
        own_hash = add_hash(own_hash, &c);
        own++;
    }
    FILE *journal = create(folder, "journal.jsonl");
    struct nnv_text line = {0};
    put_header(&line, index, shards, own, own_hash, cases, selection);
    put_line(journal, &line);
    for (size_t i = 0; i < cases; i++) {
        make_case(i, &c);
        if (shard_of(&c, shards) != index - 1) continue;
        put_record(&line, &c, i);
        put_line(journal, &line);
    }
    nnv_text_free(&line);
    if (fclose(list) != 0 || fclose(whole) != 0 || fclose(journal) != 0) {
        perror("bench_journal");
        exit(2);
    }
}

/** Runs nnvts; its peak memory in MB and its time. Its exit code must be 1: some cases fail. */
static void measure(char **argv, double *seconds, double *mb) {
    struct rusage usage;
    int status = 0;
    uint64_t start = nnv_now_ns();
    pid_t pid = fork();
    if (pid == 0) {
        execv(argv[0], argv);
        perror(argv[0]);
        _exit(2);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 1) {
        fprintf(stderr, "bench_journal: %s %s did not end with exit code 1\n", argv[0], argv[1]);
        exit(2);
    }
    *seconds = (double)(nnv_now_ns() - start) / 1e9;
    *mb = (double)usage.ru_maxrss / 1024;
}

static double size_mb(const char *folder, const char *name) {
    char path[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &st) == 0 ? (double)st.st_size / (1 << 20) : -1;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_journal NNVTS [CASES [SHARDS [FAILING]]]\n");
        return 2;
    }
    const size_t cases = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : CASES;
    const unsigned shards = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : SHARDS;
    char temporary[] = "/tmp/nnvts-journal-XXXXXX", out[256], selection[17], path[64][256];
    const char *root = mkdtemp(temporary);
    failing = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1;
    if (cases == 0 || shards == 0 || shards > 64 || root == NULL) return 2;
    uint64_t h = 0;
    for (size_t i = 0; i < cases; i++) {
        struct kase c;
        make_case(i, &c);
        h = add_hash(h, &c);
    }
    snprintf(selection, sizeof selection, "%016" PRIx64, h);
    char *merge[70] = {argv[1], "merge"}, *report[] = {argv[1], "report", out, NULL};
    int n = 2;
    for (unsigned s = 1; s <= shards; s++) {
        make_shard(root, s, shards, cases, selection);
        snprintf(path[s - 1], sizeof path[0], "%s/shard-%u", root, s);
        merge[n++] = path[s - 1];
    }
    snprintf(out, sizeof out, "%s/merged", root);
    merge[n++] = "--out";
    merge[n++] = out;
    double merge_s, merge_mb, report_s, report_mb;
    measure(merge, &merge_s, &merge_mb);
    measure(report, &report_s, &report_mb);
    const double page = size_mb(out, "report.html");
    printf("%zu cases in %u shards: journal %.0f MB, junit.xml %.0f MB, report.html %.2f MB\n", cases, shards,
           size_mb(out, "journal.jsonl"), size_mb(out, "junit.xml"), page);
    printf("merged and reported in %.1f s with %.0f MB; reported again in %.1f s with %.0f MB\n", merge_s, merge_mb,
           report_s, report_mb);
    char *clean[] = {"/bin/rm", "-rf", temporary, NULL};
    pid_t pid = fork();
    if (pid == 0) execv(clean[0], clean);
    if (pid > 0) waitpid(pid, NULL, 0);
    bool ok = merge_s <= SECONDS_MAX && merge_mb <= MEMORY_MAX_MB && report_s <= SECONDS_MAX &&
              report_mb <= MEMORY_MAX_MB && page >= 0 && page <= PAGE_MAX_MB;
    if (!ok)
        fprintf(stderr, "bench_journal: beyond %.0f s, %.0f MB or a page of %.0f MB\n", SECONDS_MAX, MEMORY_MAX_MB,
                PAGE_MAX_MB);
    return ok ? 0 : 1;
}
