/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { BUFFER = 1 << 18 };

static enum nnv_status failed(const char *path, const char *what, struct nnv_err *err) {
    const char *remedy = errno == ENOSPC || errno == EDQUOT ? " (free some space or choose another folder)" : "";
    return nnv_fail(err, NNV_IO, "%s: %s: %s%s", path, what, strerror(errno), remedy);
}

enum nnv_status nnv_stream_open(struct nnv_stream *s, const char *path, struct nnv_err *err) {
    struct stat st;
    const bool exists = stat(path, &st) == 0, replace = !exists || S_ISREG(st.st_mode);
    *s = NNV_STREAM_NONE;
    s->path = strdup(path);
    s->buffer = malloc(BUFFER);
    bool ok = s->path != NULL && s->buffer != NULL;
    if (ok) s->fd = replace ? nnv_file_temporary(path, &s->temporary) : open(path, O_WRONLY | O_CLOEXEC);
    if (s->fd >= 0) return NNV_OK;
    enum nnv_status status =
        ok ? failed(path, "cannot create", err) : nnv_fail(err, NNV_NO_MEMORY, "%s: out of memory", path);
    nnv_stream_drop(s);
    return status;
}

static enum nnv_status flush(struct nnv_stream *s, struct nnv_err *err) {
    const size_t n = s->used;
    s->used = 0;
    return nnv_write_all(s->fd, s->buffer, n, s->path, err);
}

enum nnv_status nnv_stream_add(struct nnv_stream *s, const void *data, size_t n, struct nnv_err *err) {
    if (n > BUFFER - s->used) {
        enum nnv_status status = flush(s, err);
        if (status != NNV_OK || n > BUFFER)
            return status == NNV_OK ? nnv_write_all(s->fd, data, n, s->path, err) : status;
    }
    if (n > 0) memcpy(s->buffer + s->used, data, n);
    s->used += n;
    return NNV_OK;
}

enum nnv_status nnv_stream_end(struct nnv_stream *s, struct nnv_err *err) {
    enum nnv_status status = flush(s, err);
    if (status == NNV_OK && s->temporary != NULL && fsync(s->fd) != 0) status = failed(s->path, "cannot sync", err);
    const int fd = s->fd;
    s->fd = -1;
    if (close(fd) != 0 && status == NNV_OK) status = failed(s->path, "cannot write", err);
    if (status == NNV_OK && s->temporary != NULL) {
        if (rename(s->temporary, s->path) != 0)
            status = failed(s->path, "cannot replace", err);
        else
            *s->temporary = '\0';
    }
    nnv_stream_drop(s);
    return status;
}

void nnv_stream_drop(struct nnv_stream *s) {
    if (s->fd >= 0) close(s->fd);
    if (s->temporary != NULL && *s->temporary != '\0') unlink(s->temporary);
    free(s->path);
    free(s->temporary);
    free(s->buffer);
    *s = NNV_STREAM_NONE;
}
