/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file line.h The quick way through a journal: most lines are of cases that passed, and of those a few members are
 * all that anyone asks for.
 */
#ifndef NNV_REPORTS_LINE_H
#define NNV_REPORTS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnvts/result.h"

/** What a line says of its case. The texts are parts of the line, as they stand there: they hold no escapes. */
struct nnv_line {
    const char *name, *reason; /**< reason: NULL if there is none */
    size_t name_bytes, reason_bytes;
    enum nnvts_verdict verdict; /**< PASS, UNSUPPORTED or SKIP */
    uint64_t compared, not_compared;
    uint32_t worker, turn; /**< 0: not said */
    double ms, driver_us;
};

/**
 * Reads the n bytes of a line. True for the sound line of a case that is PASS, UNSUPPORTED or SKIP, of which
 * nothing else was expected, that was run once, and has no escapes in what is taken; a false line is for
 * nnv_record_parse(), which also knows what is wrong with it. A member that is not taken is only passed over.
 */
bool nnv_line_scan(const char *line, size_t n, struct nnv_line *out);

#endif
