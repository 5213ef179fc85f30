/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file running.h The file `running` of a run folder: the cases that began last, a page for each worker. Workers write
 * it through memory that they map, so it costs nothing; it outlives nnvts when that is killed. A worker may begin some
 * further cases before it notices the death: those without a record are in question.
 */
#ifndef NNV_HARNESS_RUNNING_H
#define NNV_HARNESS_RUNNING_H

#include <stdbool.h>
#include <stddef.h>

/** One worker's page, in shared memory; untrusted. */
enum { NNV_RUNNING_BYTES = 1 << 16, NNV_RUNNING_ROWS = 64 };

/** Zero-initialise. Where the file can't be made, there are no pages, and nothing is noted. */
struct nnv_running {
    char *page; /**< count pages of NNV_RUNNING_BYTES, or NULL */
    size_t count;
};

/** Calls see() for each case that the file names; alone: how often nnvts was killed while nothing else ran. */
void nnv_running_read(const char *folder, void (*see)(void *context, const char *name, unsigned alone), void *context);
/** Makes the file anew, with `count` empty pages. */
void nnv_running_open(struct nnv_running *r, const char *folder, size_t count);
/** The page of a worker's place; NULL: there is none. */
char *nnv_running_page(const struct nnv_running *r, size_t place);
/**
 * The worker's case number `turn` begins, alone for the so manyth time (0: in company): writes its name to the page,
 * which may be NULL.
 */
void nnv_running_note(char *page, size_t turn, const char *name, unsigned alone);
/** The file is not needed any more where the run came to its end. */
void nnv_running_close(struct nnv_running *r, const char *folder, bool ended);

#endif
