/* SPDX-License-Identifier: Apache-2.0 */
#include "reference/runtime/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "NeuralNetworks.h"

static const char *const tags[NNV_RT_LOG_TAG_COUNT] = {
    [NNV_RT_LOG_MODEL] = "model",   [NNV_RT_LOG_COMPILATION] = "compilation", [NNV_RT_LOG_EXECUTION] = "execution",
    [NNV_RT_LOG_CPUEXE] = "cpuexe", [NNV_RT_LOG_MANAGER] = "manager",         [NNV_RT_LOG_DRIVER] = "driver",
    [NNV_RT_LOG_MEMORY] = "memory",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned mask;
static bool silent; /* of misuse */

/* The bits of one word; 0 and a message if it is none. */
static unsigned word_bits(const char *word, size_t n) {
    if ((n == 1 && *word == '1') || (n == 3 && strncmp(word, "all", n) == 0)) return (1u << NNV_RT_LOG_TAG_COUNT) - 1;
    for (unsigned i = 0; i < NNV_RT_LOG_TAG_COUNT; i++)
        if (strlen(tags[i]) == n && strncmp(word, tags[i], n) == 0) return 1u << i;
    fprintf(stderr, "nnapi: NNVTS_VLOG: unknown tag '%.*s'; known: all", (int)n, word);
    for (unsigned i = 0; i < NNV_RT_LOG_TAG_COUNT; i++) fprintf(stderr, ", %s", tags[i]);
    fputc('\n', stderr);
    return 0;
}

static void read_environment(void) {
    static const char separators[] = " ,:";
    const char *log = getenv("NNVTS_LOG");
    silent = log && strcmp(log, "0") == 0;
    const char *word = getenv("NNVTS_VLOG");
    while (word && *(word += strspn(word, separators))) {
        size_t n = strcspn(word, separators);
        mask |= word_bits(word, n);
        word += n;
    }
}

unsigned nnv_rt_vlog_mask(void) {
    pthread_once(&once, read_environment);
    return mask;
}

/* One write for the line, so that lines of several threads do not mix. */
static void write_line(const char *head, const char *fmt, va_list ap) {
    char text[2048];
    int n = snprintf(text, sizeof text, "nnapi: %s: ", head);
    size_t at = n < 0 ? 0 : (size_t)n;
    if (at < sizeof text - 1) vsnprintf(text + at, sizeof text - at, fmt, ap);
    fprintf(stderr, "%s\n", text);
}

void nnv_rt_vlog_write(enum nnv_rt_tag tag, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    write_line((unsigned)tag < NNV_RT_LOG_TAG_COUNT ? tags[tag] : "log", fmt, ap);
    va_end(ap);
}

int nnv_rt_error(int code, const char *function, const char *fmt, ...) {
    pthread_once(&once, read_environment);
    if (silent) return code;
    va_list ap;
    va_start(ap, fmt);
    write_line(function, fmt, ap);
    va_end(ap);
    return code;
}

int nnv_rt_null_pointer(const char *function) {
    return nnv_rt_error(ANEURALNETWORKS_UNEXPECTED_NULL, function, "a pointer is NULL");
}
