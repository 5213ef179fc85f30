/* SPDX-License-Identifier: Apache-2.0 */
/** @file find.h The driver that a host is to run, and how its process ended. */
#ifndef NNVTS_HOST_FIND_H
#define NNVTS_HOST_FIND_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Splits "NAME:OPTIONS" or "PATH:OPTIONS"; a name is looked for in the folders of NNVTS_DRIVER_PATH, then in `folder`.
 * *driver (a path) and *options (NULL: none) are malloc'ed. False: there is no such driver.
 */
bool host_find_driver(const char *text, const char *folder, size_t folder_length, char **driver, char **options);

enum { HOST_END_BYTES = 4096 };
/** A line that says how the process of a driver ended, by its status. */
void host_end_text(const char *driver, int status, char text[HOST_END_BYTES]);

#endif
