/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file file.h Whole files and folders, with errors that name the path and the remedy; files that are written piece by
 * piece and appear under their names when they are whole.
 */
#ifndef NNV_BASE_FILE_H
#define NNV_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"

/** The path of standard output; see nnv_file_take_stdout(). */
#define NNV_FILE_STDOUT "/dev/stdout"
/** A limit for files that may be large: 4 GiB, or what a process of 32 bits may hold. */
#define NNV_FILE_LARGE ((size_t)1 << (sizeof(size_t) > 4 ? 32 : 31))

/**
 * Reads a file of at most limit bytes. *data is malloc'ed, terminated, the caller's. NNV_INVALID: the path names
 * nothing that can be read; NNV_IO: reading failed.
 */
NNV_USE_RESULT enum nnv_status nnv_file_read(const char *path, size_t limit, char **data, size_t *size,
                                             struct nnv_err *err);
/** The same into memory of the arena. */
NNV_USE_RESULT enum nnv_status nnv_file_load(const char *path, size_t limit, struct nnv_arena *arena, char **data,
                                             size_t *size, struct nnv_err *err);
/** Replaces path by data in one step (temporary file, fsync, rename): never half written. */
NNV_USE_RESULT enum nnv_status nnv_file_write(const char *path, const void *data, size_t size, struct nnv_err *err);
/** The same without waiting for the disk: for what can be made again. */
NNV_USE_RESULT enum nnv_status nnv_file_create(const char *path, const void *data, size_t size, struct nnv_err *err);
/**
 * Makes a new file in the open folder, for what is called name when it is whole: of a name of its own that nobody can
 * have prepared. The descriptor, below 0 with errno; *temporary is malloc'ed, NULL then.
 */
int nnv_file_temporary(int folder, const char *name, char **temporary);
/** True if the path names standard output, as "-" does where an option expects a file. */
bool nnv_file_is_stdout(const char *path);
/** From now on NNV_FILE_STDOUT alone is standard output; what is printed goes to stderr. Once in a process. */
NNV_USE_RESULT enum nnv_status nnv_file_take_stdout(struct nnv_err *err);
/** Writes the text by nnv_file_write() to folder/name, or to name if folder is NULL. NNV_NO_MEMORY: text failed. */
NNV_USE_RESULT enum nnv_status nnv_file_write_text(const char *folder, const char *name, const struct nnv_text *text,
                                                   struct nnv_err *err);
/**
 * Can this file be written, or files in this folder, which may not be there yet? Tries it in the nearest folder that is
 * there, and leaves nothing behind. What is neither file nor folder (a terminal) can be. NNV_INVALID: the path is no
 * place for it; NNV_IO: the machine has none.
 */
NNV_USE_RESULT enum nnv_status nnv_file_try(const char *path, bool folder, struct nnv_err *err);
/**
 * All regular files below path (or path itself if it is a file) whose name ends in one of the
 * NULL-terminated suffixes, sorted by name. *paths is malloc'ed with its strings: nnv_file_list_free().
 */
NNV_USE_RESULT enum nnv_status nnv_file_list(const char *path, const char *const *suffixes, char ***paths,
                                             size_t *count, struct nnv_err *err);
void nnv_file_list_free(char **paths, size_t count);
/**
 * The first line of the file that begins with key ("": the first line): what stands behind key and a colon, without the
 * end of the line. False, and line is "", if there is no such line or nothing in it; where there is no
 * memory to read it, nnv_text_lacked() tells. For the small files of /proc and /sys.
 */
bool nnv_file_line(const char *path, const char *key, char *line, size_t room);
/** The path of the program that runs; false, and path is "", if the system does not say. */
bool nnv_file_of_program(char *path, size_t room);
/** The folder for what is soon deleted: TMPDIR, or /tmp. */
const char *nnv_file_temp(void);
/** write() all n bytes to fd, retrying; a full disk is an error that says so. */
NNV_USE_RESULT enum nnv_status nnv_write_all(int fd, const void *data, size_t n, const char *name, struct nnv_err *err);

/* ------------------------------------------------------------ piece by piece */

/** A file being written. Zero-initialise with descriptors -1: NNV_STREAM_NONE. */
struct nnv_stream {
    int fd, folder; /**< of the file, and of the folder that it lies in */
    char *path;
    const char *name; /**< of the file in its folder: the end of path */
    char *temporary;  /**< its name there until it is whole; NULL where path is no file that could be replaced */
    char *buffer;
    size_t used;
    bool unsynced; /**< nobody waits for the disk */
};
#define NNV_STREAM_NONE ((struct nnv_stream){.fd = -1, .folder = -1})

/**
 * Begins a file beside path, see nnv_folder_of(); a terminal or a pipe is written at once, but for in a kept folder,
 * and standard output from where it is.
 */
NNV_USE_RESULT enum nnv_status nnv_stream_open(struct nnv_stream *s, const char *path, struct nnv_err *err);
NNV_USE_RESULT enum nnv_status nnv_stream_add(struct nnv_stream *s, const void *data, size_t n, struct nnv_err *err);
/** Syncs the file, unless it is `unsynced`, and gives it its name. The stream is closed in any case; after an error
 * path is as it was. */
NNV_USE_RESULT enum nnv_status nnv_stream_end(struct nnv_stream *s, struct nnv_err *err);
/** Gives up what has not ended. */
void nnv_stream_drop(struct nnv_stream *s);

/**
 * A file without a name, of so many zero bytes; `name` is for /proc. With seals (F_SEAL_*, 0: none) they are set, and
 * the file accepts more. Returns the descriptor, closed on exec, which the caller closes; -1 with errno.
 */
int nnv_memory_file(const char *name, size_t bytes, unsigned seals);

#endif
