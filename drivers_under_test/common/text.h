/* SPDX-License-Identifier: Apache-2.0 */
/** @file text.h Error texts as the driver ABI wants them: static strings. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

/**
 * A copy of text that stays as it is for as long as the process lives; the same pointer for the same text. Threads may
 * call it at once. Beyond COMMON_TEXTS different texts, or without memory, a fixed text takes their place.
 */
const char *common_keep_text(const char *text);

enum { COMMON_TEXTS = 256, COMMON_TEXT_BYTES = 1024 }; /**< longer texts are cut */

#endif
