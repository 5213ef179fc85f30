/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bundle.h A run folder as one file to hand in: a tar archive (POSIX ustar) whose first member, manifest.json,
 * holds the size and SHA-256 of every other.
 */
#ifndef NNV_JOURNAL_BUNDLE_H
#define NNV_JOURNAL_BUNDLE_H

#include <jansson.h>

#include "base/arena.h"
#include "base/status.h"

enum { NNV_HEX_SHA256 = 65 };

/** SHA-256 of a file, hexadecimal. */
NNV_USE_RESULT enum nnv_status nnv_bundle_hash(const char *path, char hex[static NNV_HEX_SHA256], struct nnv_err *err);
/**
 * Writes the archive of all files below folder, sorted by name, without times and owners: equal folders give equal
 * bytes. manifest gets the member "files": [{"name", "bytes", "sha256"}].
 */
NNV_USE_RESULT enum nnv_status nnv_bundle_write(const char *folder, json_t *manifest, const char *path,
                                                struct nnv_err *err);
/**
 * Unpacks an archive into an existing, empty folder. Only plain files with names below the folder are taken; an archive
 * that holds anything else, or is cut off, is NNV_INVALID.
 */
NNV_USE_RESULT enum nnv_status nnv_bundle_unpack(const char *path, const char *folder, struct nnv_err *err);
/**
 * Compares the files of the folder with its manifest.json. wrong(context, text) is told of each difference; *manifest
 * is a new reference, NULL where there is no manifest.json.
 */
NNV_USE_RESULT enum nnv_status nnv_bundle_compare(const char *folder, void (*wrong)(void *context, const char *text),
                                                  void *context, json_t **manifest, struct nnv_err *err);

#endif
