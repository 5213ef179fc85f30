/* SPDX-License-Identifier: Apache-2.0 */
/** @file symbols.h Functions, files and lines of places in files, by the program addr2line. */
#ifndef NNV_HARNESS_SYMBOLS_H
#define NNV_HARNESS_SYMBOLS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/text.h"

/** What is known of places in files: each is asked for once. Zero-initialise. */
struct nnv_symbols {
    struct nnv_arena *arena;
    struct nnv_map places; /**< "libnpu.so+0x12f0"; the value: "npu_execute at npu.c:12", or "" */
    uint32_t asked;        /**< how often addr2line ran */
};

/**
 * Adds a backtrace as crash.h writes it, without its list of files. Behind a frame of which addr2line knows more stand
 * a tab and that; where there is no such program, and after some dozens of questions, frames stay as they are. The
 * program runs in a sandbox with a deadline: the files are a driver's.
 */
void nnv_symbols_add(struct nnv_symbols *s, const char *trace, size_t n, struct nnv_text *to);
void nnv_symbols_free(struct nnv_symbols *s);
/**
 * Adds what the program says of places in one file, in their order: a line each by "-e", "FUNCTION at FILE:LINE" by
 * "-Cfpe", "?" for what it does not know. Where it cannot be had, or takes longer, lines are missing at the end.
 */
void nnv_symbols_ask(const char *path, const char *options, const uint64_t *place, size_t count, uint64_t deadline_ns,
                     struct nnv_text *answer);

#endif
