/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *texts[COMMON_TEXTS]; /* guarded by lock; never freed */

const char *common_keep_text(const char *text) {
    const size_t length = strnlen(text, COMMON_TEXT_BYTES - 1);
    const char *kept = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < COMMON_TEXTS && !kept; i++) {
        if (!texts[i]) texts[i] = strndup(text, length);
        if (!texts[i]) break;
        if (strncmp(texts[i], text, length) == 0 && texts[i][length] == '\0') kept = texts[i];
    }
    pthread_mutex_unlock(&lock);
    return kept ? kept : "the driver refused, and gave more reasons before than can be kept";
}

const char *common_keep_textf(const char *format, ...) {
    char text[COMMON_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return common_keep_text(text);
}

static _Thread_local char told[COMMON_TEXT_BYTES];

void common_tell(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(told, sizeof told, format, args);
    va_end(args);
}

void common_tell_first(const char *format, va_list args) {
    if (!*told) vsnprintf(told, sizeof told, format, args);
}

void common_forget(void) { *told = '\0'; }

const char *common_told(void) { return *told ? told : NULL; }
