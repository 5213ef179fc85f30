/* SPDX-License-Identifier: Apache-2.0 */
/** @file stream.h A file that is written piece by piece and appears under its name when it is whole. */
#ifndef NNV_BASE_STREAM_H
#define NNV_BASE_STREAM_H

#include <stddef.h>

#include "base/status.h"

/** A file being written. Zero-initialise with fd -1: NNV_STREAM_NONE. */
struct nnv_stream {
    int fd;
    char *path, *temporary; /**< temporary is NULL where path is no file that could be replaced */
    char *buffer;
    size_t used;
};
#define NNV_STREAM_NONE ((struct nnv_stream){.fd = -1})

/** Begins a file beside path; one that is a terminal or a pipe is written at once. */
NNV_USE_RESULT enum nnv_status nnv_stream_open(struct nnv_stream *s, const char *path, struct nnv_err *err);
NNV_USE_RESULT enum nnv_status nnv_stream_add(struct nnv_stream *s, const void *data, size_t n, struct nnv_err *err);
/** Syncs the file and gives it its name. The stream is closed in any case; after an error path is as it was. */
NNV_USE_RESULT enum nnv_status nnv_stream_end(struct nnv_stream *s, struct nnv_err *err);
/** Gives up what has not ended. */
void nnv_stream_drop(struct nnv_stream *s);

#endif
