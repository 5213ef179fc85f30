/* SPDX-License-Identifier: Apache-2.0 */
/** @file library.h Opens a third-party library when the driver opens. */
#ifndef COMMON_LIBRARY_H
#define COMMON_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/** A library that `make setup-engines` brings. */
struct common_library {
    const char *title;   /**< for messages: "TensorFlow Lite" */
    const char *file;    /**< its file in the folder */
    const char *brought; /**< the folder that it is brought to, from that of the drivers */
};

/** Opens a library by its path or name. A static string says why it can't; NULL: *handle is open, and stays so. */
const char *common_open(const char *path, void **handle);
/**
 * Opens the library at path, or (NULL) the one that was brought, or the one that the system has. A static string says
 * why it can't; NULL: *handle is open, and stays so.
 */
const char *common_open_library(const struct common_library *library, const char *path, void **handle);
/** The address of a symbol, as a pointer of the type that `function` is; false if there is none. */
#define COMMON_SYMBOL(HANDLE, NAME, FUNCTION) common_symbol(HANDLE, NAME, &(FUNCTION), sizeof(FUNCTION))
bool common_symbol(void *handle, const char *name, void *function, size_t bytes);
/** The project's libneuralnetworks.so beside the folder of this driver, as it is built, or as it is installed. False:
 * none. */
bool common_find_runtime(char *path, size_t room);
/** Writes "FOLDER/tail" into path, FOLDER being the one that this driver lies in. False: there is no such file. */
bool common_beside(const char *tail, char *path, size_t room);

#endif
