/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/journal/shards/shard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "harness/journal/record.h"

static const char remedy[] = "give --shard I/N, or --no-shard to run everything";

/* ------------------------------------------------------------- which shard */

/** Decimal digits alone, up to a billion. */
static bool parse_number(const char *s, size_t n, uint64_t *out) {
    if (n == 0 || n > 9 || strspn(s, "0123456789") < n) return false;
    for (*out = 0; n > 0; s++, n--) *out = 10 * *out + (uint64_t)(*s - '0');
    return true;
}

static enum nnv_status set(struct nnv_shard *shard, uint64_t index, uint64_t count, const char *from,
                           struct nnv_err *err) {
    if (count == 0 || count > NNV_SHARDS_MAX || index == 0 || index > count)
        return nnv_fail(err, NNV_INVALID,
                        "%s: shard %" PRIu64 " of %" PRIu64 ": expected 1 to the number of shards, at most %d", from,
                        index, count, (int)NNV_SHARDS_MAX);
    shard->index = (uint32_t)index;
    shard->count = (uint32_t)count;
    shard->from = from;
    return NNV_OK;
}

enum nnv_status nnv_shard_parse(const char *text, const char *from, struct nnv_shard *shard, struct nnv_err *err) {
    uint64_t index, count;
    size_t n = strcspn(text, "/");
    if (text[n] != '/' || !parse_number(text, n, &index) || !parse_number(text + n + 1, strlen(text + n + 1), &count))
        return nnv_fail(err, NNV_INVALID, "%s '%s': expected I/N, such as 2/4", from, text);
    return set(shard, index, count, from, err);
}

/** The variable, or NULL where it is not set or empty. */
static const char *variable(const char *name) {
    const char *s = getenv(name);
    return s != NULL && *s != '\0' ? s : NULL;
}

/** A variable that must be a number. */
static enum nnv_status number(const char *name, uint64_t *out, struct nnv_err *err) {
    const char *s = variable(name);
    if (s == NULL) return nnv_fail(err, NNV_INVALID, "%s is not set: how many shards are there? %s", name, remedy);
    if (parse_number(s, strlen(s), out)) return NNV_OK;
    return nnv_fail(err, NNV_INVALID, "%s='%s' is not a number: %s", name, s, remedy);
}

/** Systems that tell a number and how many there are. */
static const struct {
    const char *index, *count;
    uint64_t first;     /**< number of the first shard */
    const char *status; /**< file to create, as a sign that shards are known here; NULL: none */
} systems[] = {
    {"GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", 0, "GTEST_SHARD_STATUS_FILE"},
    {"JOB_COMPLETION_INDEX", "NNVTS_SHARD_TOTAL", 0, NULL},
    {"CI_NODE_INDEX", "CI_NODE_TOTAL", 1, NULL},
};

/** An array of Slurm's: its tasks must be numbered in equal steps, else their numbers tell no place. */
static enum nnv_status find_slurm(struct nnv_shard *shard, struct nnv_err *err) {
    static const char id_name[] = "SLURM_ARRAY_TASK_ID";
    uint64_t id = 0, least = 0, most = 0, count = 0, step = 1;
    enum nnv_status s = number(id_name, &id, err);
    if (s == NNV_OK) s = number("SLURM_ARRAY_TASK_MIN", &least, err);
    if (s == NNV_OK) s = number("SLURM_ARRAY_TASK_MAX", &most, err);
    if (s == NNV_OK) s = number("SLURM_ARRAY_TASK_COUNT", &count, err);
    if (s == NNV_OK && variable("SLURM_ARRAY_TASK_STEP") != NULL) s = number("SLURM_ARRAY_TASK_STEP", &step, err);
    if (s != NNV_OK) return s;
    if (step == 0 || id < least || id > most || (id - least) % step != 0 || (most - least) / step + 1 != count)
        return nnv_fail(err, NNV_INVALID, "%s=%" PRIu64 ": the tasks of the array are not numbered in equal steps: %s",
                        id_name, id, remedy);
    return set(shard, (id - least) / step + 1, count, id_name, err);
}

static enum nnv_status find_in(size_t i, struct nnv_shard *shard, struct nnv_err *err) {
    uint64_t index = 0, count = 0;
    enum nnv_status s = number(systems[i].index, &index, err);
    if (s == NNV_OK) s = number(systems[i].count, &count, err);
    if (s == NNV_OK && index < systems[i].first)
        s = nnv_fail(err, NNV_INVALID, "%s=%" PRIu64 ": the first is %" PRIu64, systems[i].index, index,
                     systems[i].first);
    if (s == NNV_OK) s = set(shard, index - systems[i].first + 1, count, systems[i].index, err);
    const char *file = s == NNV_OK && systems[i].status != NULL ? variable(systems[i].status) : NULL;
    if (file == NULL) return s;
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return nnv_fail(err, NNV_INVALID, "%s: %s: %s", systems[i].status, file, strerror(errno));
    close(fd);
    return NNV_OK;
}

enum nnv_status nnv_shard_find(struct nnv_shard *shard, struct nnv_err *err) {
    static const char own[] = "NNVTS_SHARD";
    if (variable(own) != NULL) return nnv_shard_parse(variable(own), own, shard, err);
    if (variable(systems[0].index) != NULL) return find_in(0, shard, err);
    if (variable("SLURM_ARRAY_TASK_ID") != NULL) return find_slurm(shard, err);
    for (size_t i = 1; i < sizeof systems / sizeof *systems; i++)
        if (variable(systems[i].index) != NULL) return find_in(i, shard, err);
    return NNV_OK;
}

/* ---------------------------------------------------------------- which cases */

uint32_t nnv_shard_of(const char *name, uint32_t count) { return (uint32_t)(nnv_hash_str(name) % count) + 1; }

/** A case that is to be dealt out. */
struct load {
    uint64_t us;
    size_t i;
};

struct dealing {
    const struct nnv_case *item;
    uint64_t *sum;  /**< of a shard */
    uint32_t *heap; /**< the shards: each has less than those below it, or as much and a smaller number */
    uint32_t count;
};

static bool before(const struct dealing *d, uint32_t a, uint32_t b) {
    return d->sum[a] != d->sum[b] ? d->sum[a] < d->sum[b] : a < b;
}

/** The shard at the top has got more: it goes down to its place. */
static void sink(struct dealing *d) {
    uint32_t at = 0;
    for (;;) {
        uint32_t least = at;
        for (uint32_t below = 2 * at + 1; below <= 2 * at + 2 && below < d->count; below++)
            if (before(d, d->heap[below], d->heap[least])) least = below;
        if (least == at) return;
        uint32_t other = d->heap[least];
        d->heap[least] = d->heap[at];
        d->heap[at] = other;
        at = least;
    }
}

static int by_load(const void *pa, const void *pb, void *context) {
    const struct load *a = pa, *b = pb;
    const struct nnv_case *item = context;
    if (a->us != b->us) return a->us > b->us ? -1 : 1;
    return strcmp(item[a->i].name, item[b->i].name);
}

/** Deals out the cases, longest first. *of: malloc'ed, the number of each case's shard. */
static enum nnv_status deal(const struct nnv_case_list *list, uint32_t count, const uint64_t *us, uint32_t **of,
                            struct nnv_err *err) {
    struct dealing d = {.item = list->item, .count = count};
    struct load *loads = malloc((list->count + 1) * sizeof *loads);
    d.sum = calloc(count, sizeof *d.sum);
    d.heap = malloc(count * sizeof *d.heap);
    *of = calloc(list->count + 1, sizeof **of);
    bool ok = loads != NULL && d.sum != NULL && d.heap != NULL && *of != NULL;
    const uint64_t most = UINT64_MAX / ((uint64_t)list->count + 1);
    for (size_t i = 0; ok && i < list->count; i++) loads[i] = (struct load){us[i] < most ? us[i] : most, i};
    for (uint32_t i = 0; ok && i < count; i++) d.heap[i] = i;
    if (ok && list->count > 0) qsort_r(loads, list->count, sizeof *loads, by_load, list->item);
    for (size_t i = 0; ok && i < list->count; i++) {
        (*of)[loads[i].i] = d.heap[0] + 1;
        d.sum[d.heap[0]] += loads[i].us;
        sink(&d);
    }
    free(loads);
    free(d.sum);
    free(d.heap);
    return ok ? NNV_OK : nnv_fail(err, NNV_NO_MEMORY, "out of memory for the shards");
}

enum nnv_status nnv_shard_keep(struct nnv_shard *shard, struct nnv_case_list *list, const uint64_t *us,
                               struct nnv_err *err) {
    uint32_t *of = NULL;
    enum nnv_status s = us != NULL ? deal(list, shard->count, us, &of, err) : NNV_OK;
    shard->whole = malloc((list->count + 1) * sizeof *shard->whole);
    if (s == NNV_OK && shard->whole == NULL) s = nnv_fail(err, NNV_NO_MEMORY, "out of memory for the shards");
    if (s == NNV_OK) {
        if (list->count > 0) memcpy(shard->whole, list->item, list->count * sizeof *list->item);
        shard->cases = list->count;
        nnv_record_selection(list->item, list->count, shard->selection);
        snprintf(shard->by, sizeof shard->by, "hash");
        if (of != NULL)
            snprintf(shard->by, sizeof shard->by, "times-%016" PRIx64, nnv_hash_bytes(of, list->count * sizeof *of));
        list->count = 0;
        for (size_t i = 0; i < shard->cases; i++) {
            uint32_t owner = of != NULL ? of[i] : nnv_shard_of(shard->whole[i].name, shard->count);
            if (owner == shard->index) list->item[list->count++] = shard->whole[i];
        }
    }
    free(of);
    return s;
}

void nnv_shard_free(struct nnv_shard *shard) {
    free(shard->whole);
    shard->whole = NULL;
}
