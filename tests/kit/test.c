/* SPDX-License-Identifier: Apache-2.0 */
/** @file test.c See test.h. */
#include "tests/kit/test.h"

#include <ftw.h>
#include <unistd.h>

int make_folder(char *template) { return mkdtemp(template) ? 0 : -1; }

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int remove_folder(const char *path) { return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS); }
