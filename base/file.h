/* SPDX-License-Identifier: Apache-2.0 */
/** @file file.h Whole files and folders, with errors that name the path and the remedy. */
#ifndef NNV_BASE_FILE_H
#define NNV_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/**
 * Reads a file of at most limit bytes. *data is malloc'ed, terminated, the caller's. NNV_INVALID: the path names
 * nothing that can be read; NNV_IO: reading failed.
 */
NNV_USE_RESULT enum nnv_status nnv_file_read(const char *path, size_t limit, char **data, size_t *size,
                                             struct nnv_err *err);
/** Replaces path by data in one step (temporary file, fsync, rename): never half written. */
NNV_USE_RESULT enum nnv_status nnv_file_write(const char *path, const void *data, size_t size, struct nnv_err *err);
/**
 * Makes the file that becomes path when it is whole: beside it, under a name of its own that nobody can have prepared.
 * The descriptor, below 0 with errno; *name is malloc'ed, NULL then.
 */
int nnv_file_temporary(const char *path, char **name);
/** Writes a new file, or over an old one that is no symbolic link, without waiting for the disk: for what can be made
 * again. */
NNV_USE_RESULT enum nnv_status nnv_file_create(const char *path, const void *data, size_t size, struct nnv_err *err);
/** Writes the text by nnv_file_write() to folder/name, or to name if folder is NULL. NNV_NO_MEMORY: text failed. */
NNV_USE_RESULT enum nnv_status nnv_file_write_text(const char *folder, const char *name, const struct nnv_text *text,
                                                   struct nnv_err *err);
/** Creates the folder and its parents; an existing folder is no error. */
NNV_USE_RESULT enum nnv_status nnv_file_mkdir(const char *path, struct nnv_err *err);
/**
 * All regular files below path (or path itself if it is a file) whose name ends in one of the
 * NULL-terminated suffixes, sorted by name. *paths is malloc'ed with its strings: nnv_file_list_free().
 */
NNV_USE_RESULT enum nnv_status nnv_file_list(const char *path, const char *const *suffixes, char ***paths,
                                             size_t *count, struct nnv_err *err);
void nnv_file_list_free(char **paths, size_t count);
/** write() all n bytes to fd, retrying; a full disk is an error that says so. */
NNV_USE_RESULT enum nnv_status nnv_write_all(int fd, const void *data, size_t n, const char *name, struct nnv_err *err);

#endif
