/* SPDX-License-Identifier: Apache-2.0 */
/** @file test.h What each unit program begins with: cmocka, and the headers that it asks for. */
#ifndef KIT_TEST_H
#define KIT_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** In an emulator (tools/port.sh): what that holds and maps in the process is counted with what the process does. */
static inline bool in_emulator(void) { return getenv("NNVTS_TEST_RUNNER") != NULL; }
/** Makes the folder of template, which ends with XXXXXX; and removes it with all that is in it. Both answer 0. */
int make_folder(char *template);
int remove_folder(const char *path);

#endif
