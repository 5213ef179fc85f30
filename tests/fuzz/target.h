/* SPDX-License-Identifier: Apache-2.0 */
/** @file target.h What the targets for libFuzzer share: one input as terminated text of exactly its size. */
#ifndef NNV_FUZZ_TARGET_H
#define NNV_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define TARGET_FN __attribute__((unused)) static

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Ends the process, which libFuzzer reports with the input, if a rule of the reader does not hold. */
#define MUST(rule)                                                                                                     \
    do {                                                                                                               \
        if (!(rule)) {                                                                                                 \
            fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__, __LINE__, #rule);                                      \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/** A terminated copy, the caller's. */
TARGET_FN char *text_of(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    MUST(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/** An empty arena for one input; kept for the next one. */
TARGET_FN struct nnv_arena *scratch(void) {
    static struct nnv_arena *arena;
    if (arena == NULL) arena = nnv_arena_new();
    MUST(arena != NULL);
    nnv_arena_reset(arena);
    return arena;
}

#endif
