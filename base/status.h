/* SPDX-License-Identifier: Apache-2.0 */
/** @file status.h Errors: a status, one message, and where it happened. */
#ifndef NNV_BASE_STATUS_H
#define NNV_BASE_STATUS_H

#include <stddef.h>

#define NNV_USE_RESULT __attribute__((warn_unused_result))
#define NNV_PRINTF(f, a) __attribute__((format(printf, f, a)))

enum nnv_status {
    NNV_OK = 0,
    NNV_INVALID,     /**< the input (file, model, argument) breaks a rule */
    NNV_UNSUPPORTED, /**< legal, but not done here */
    NNV_NO_MEMORY,
    NNV_IO,       /**< the operating system refused */
    NNV_INTERNAL, /**< a broken invariant of nnvts */
    NNV_TIMEOUT,  /**< a loop of a model did not end in time */
};

enum { NNV_ERR_TEXT = 768 };

/** The error of the first failure; set once where it is found, location added on the way up. */
struct nnv_err {
    enum nnv_status status;
    char text[NNV_ERR_TEXT]; /**< "where: where: message", cut to fit, always terminated */
};

/** Control characters, other than line ends and tabs, become question marks: text of others may reach a terminal. */
void nnv_err_plain(char *text);
/** Out-of-line parts of nnv_fail and nnv_at. */
void nnv_err_set(struct nnv_err *err, enum nnv_status status, const char *fmt, ...) NNV_PRINTF(3, 4)
    __attribute__((cold));
void nnv_err_at(struct nnv_err *err, enum nnv_status status, const char *fmt, ...) NNV_PRINTF(3, 4)
    __attribute__((cold));
static inline enum nnv_status nnv_status_is(enum nnv_status status) { return status; }

/**
 * nnv_fail(err, status, format, ...): sets err (may be NULL) to the message; its value is status. A macro, so that
 * compilers and analyzers see that a failure is returned.
 */
#define nnv_fail(err, status, ...) (nnv_err_set((err), (status), __VA_ARGS__), nnv_status_is(status))

/** The words of NNV_NO_MEMORY, where a text is kept rather than a status. */
#define NNV_OUT_OF_MEMORY "out of memory"
/** NNV_NO_MEMORY; err (may be NULL) says so. */
static inline enum nnv_status nnv_no_memory(struct nnv_err *err) {
    return nnv_fail(err, NNV_NO_MEMORY, NNV_OUT_OF_MEMORY);
}

/** nnv_at(err, status, format, ...): puts "location: " in front of err's message (may be NULL); its value is status. */
#define nnv_at(err, status, ...) (nnv_err_at((err), (status), __VA_ARGS__), nnv_status_is(status))

#endif
