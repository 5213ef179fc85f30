/* SPDX-License-Identifier: Apache-2.0 */
/** @file place.h Where a driver is:
 * "[key=FILE,][wait=SECONDS,][ssh=PROGRAM,][adb=PROGRAM,][program=PATH,]PLACE[/DRIVER]". */
#ifndef NNVTS_REMOTE_PLACE_H
#define NNVTS_REMOTE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { REMOTE_TEXT_BYTES = 1024 };

struct remote_place {
    char text[REMOTE_TEXT_BYTES]; /**< of which key, ssh, adb and program are parts */
    const char *key;              /**< file; NULL: there is none */
    const char *ssh, *adb;        /**< of this machine */
    const char *program;          /**< nnvts-host on the other one */
    uint64_t wait_ns;             /**< for a board that does not answer yet */
    enum remote_transport { REMOTE_TCP, REMOTE_SSH, REMOTE_ADB } transport; /**< all but TCP start nnvts-host there */
    char host[256], port[8]; /**< host: of ssh with the user, of adb a serial, empty: the only one; port empty: ssh's
                                own choice */
    char
        driver[REMOTE_TEXT_BYTES]; /**< name or path on the other machine, and options; empty: the one that it serves */
};

/** What messages call it. */
static inline const char *remote_place_name(const struct remote_place *p) { return *p->host ? p->host : "adb"; }

/** NULL, or what is wrong. */
const char *remote_place_read(const char *text, struct remote_place *place);

/**
 * A stream to the place: a descriptor, or -1 and *error; *again: it may be there a little later. *child: the process
 * behind it, 0: none.
 */
int remote_reach(const struct remote_place *place, pid_t *child, const char **error, bool *again);

#endif
