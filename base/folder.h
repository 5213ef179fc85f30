/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file folder.h Folders that results go to. Each is opened once and kept open for the life of the process; what base
 * writes, reads and removes below its path goes through that descriptor and through no symbolic link, whatever the path
 * names by then. The list of them is the process's, like its working folder: not for two threads at once.
 */
#ifndef NNV_BASE_FOLDER_H
#define NNV_BASE_FOLDER_H

#include <stdbool.h>

#include "base/text.h"

/** Fails with the status and "path: what: reason" of errno's number, and with a remedy where one is known. */
NNV_USE_RESULT enum nnv_status nnv_path_refused(struct nnv_err *err, enum nnv_status status, const char *path,
                                                const char *what, int number);

/** Creates the folder and its parents, and keeps it; one that is there is no error. NNV_IO: it can't be. */
NNV_USE_RESULT enum nnv_status nnv_folder_make(const char *path, struct nnv_err *err);
/**
 * Opens the folder in which path lies, for openat() and its like; *name is the rest of path, "" for a kept folder
 * itself. *kept: it is a kept one, or below one. The descriptor, which the caller closes; below 0 with errno.
 */
int nnv_folder_of(const char *path, const char **name, bool *kept);
/** open() of what may be below a kept folder, with O_CLOEXEC and mode 0666. */
int nnv_folder_open(const char *path, int flags);
/** Closes all descriptors from this one on but those of kept folders. */
void nnv_folder_close_others(int from);
/** Removes a file, if it is there. */
NNV_USE_RESULT enum nnv_status nnv_folder_remove(const char *path, struct nnv_err *err);
/** Appends the name under which the folder is kept by nnv_folder_set_aside(): FOLDER.previous. */
void nnv_folder_previous(const char *folder, struct nnv_text *name);
/**
 * The folder, if it is there, goes to FOLDER.previous, and what was there before comes to FOLDER: nothing is deleted.
 * NNV_IO: it cannot be moved (a mount point); then nothing has changed.
 */
NNV_USE_RESULT enum nnv_status nnv_folder_set_aside(const char *folder, struct nnv_err *err);

#endif
