/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file result.h
 * What a run may answer: verdicts, exit codes, and the names of the journal's fields.
 * Harness and reports share nothing else.
 */
#ifndef NNVTS_RESULT_H
#define NNVTS_RESULT_H

/** The verdict on one test case. A record is ERROR until proven otherwise. */
#define NNVTS_VERDICTS(X)                                                                                              \
    X(ERROR)       /* the harness failed */                                                                            \
    X(PASS)        /* everything was compared and agrees */                                                            \
    X(FAIL)        /* the driver is wrong */                                                                           \
    X(UNSUPPORTED) /* the driver said that it does not support the model, as it may */                                 \
    X(SKIP)        /* not asked, with a reason */                                                                      \
    X(UNTRUSTED)   /* nothing was compared */                                                                          \
    X(CRASH)       /* the driver ended the worker process */                                                           \
    X(TIMEOUT)     /* the case did not end before its deadline */                                                      \
    X(NOTRUN)      /* selected, but the run ended before it */

enum nnvts_verdict {
#define X(name) NNVTS_##name,
    NNVTS_VERDICTS(X)
#undef X
        NNVTS_VERDICT_COUNT
};

/** What the verdict of a case is against what was expected of it (docs/use/expectations.md). */
#define NNVTS_OUTCOMES(X)                                                                                              \
    X(NONE)  /* no expectation covers it: the verdict says all */                                                      \
    X(XFAIL) /* it went wrong as expected: this does not fail the run */                                               \
    X(XPASS) /* expected to go wrong, and did not: fails a strict run */                                               \
    X(FLAKY) /* it went wrong, is covered by nothing, and does not go wrong every time: fails the run */

enum nnvts_outcome {
#define X(name) NNVTS_OUTCOME_##name,
    NNVTS_OUTCOMES(X)
#undef X
        NNVTS_OUTCOME_COUNT
};

/** Exit codes of the nnvts command. */
enum nnvts_exit {
    NNVTS_EXIT_PASS = 0,    /**< all selected cases passed or are honestly unsupported, at least one was compared */
    NNVTS_EXIT_FAIL = 1,    /**< something failed */
    NNVTS_EXIT_USAGE = 2,   /**< the command line, a file or a driver could not be used */
    NNVTS_EXIT_ERROR = 3,   /**< the harness failed */
    NNVTS_EXIT_INVALID = 4, /**< nnvts gate: the machine is too noisy to say */
};

#endif
