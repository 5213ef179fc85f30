/* SPDX-License-Identifier: Apache-2.0 */
/** @file text.h Error texts as the driver ABI wants them: static strings, and what was last said. */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stdarg.h>

/**
 * A copy of text that stays as it is for as long as the process lives; the same pointer for the same text. Threads may
 * call it at once. Beyond COMMON_TEXTS different texts, or without memory, a fixed text takes their place.
 */
const char *common_keep_text(const char *text);
__attribute__((format(printf, 1, 2))) const char *common_keep_textf(const char *format, ...);

/** What is behind the answer of a call, in a line: member last_error of struct nnvts_device. A thread's own. */
__attribute__((format(printf, 1, 2))) void common_tell(const char *format, ...);
/** The same, unless something was told since common_forget: what follows a first error are mostly its consequences. */
void common_tell_first(const char *format, va_list args);
void common_forget(void);
/** What was last told in this thread; NULL: nothing since common_forget. */
const char *common_told(void);

enum { COMMON_TEXTS = 256, COMMON_TEXT_BYTES = 1024 }; /**< longer texts are cut */

#endif
