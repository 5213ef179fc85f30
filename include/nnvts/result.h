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

/**
 * Why a case has the verdict that it has: the closed list behind the free text of a record. X(name, verdict, sentence);
 * the first of a verdict stands where nothing closer is known.
 */
#define NNVTS_REASONS(X)                                                                                               \
    X(NONE, PASS, "")                                                                                                  \
    X(NOT_APPLICABLE, SKIP, "what the case is about does not arise here")                                              \
    X(FEATURE_LEVEL, SKIP, "needs a higher feature level than the driver has")                                         \
    X(NO_REFERENCE, SKIP, "nnvts has no golden result for an operation or type of the model")                          \
    X(REDUNDANT, SKIP, "a smaller case tells as much")                                                                 \
    X(ARITHMETIC, SKIP, "the arithmetic that the driver promises leaves nothing to compare")                           \
    X(NOT_PROMISED, SKIP, "asks for more than NNAPI's header promises")                                                \
    X(TIME_BUDGET, SKIP, "the time budget was spent before the case could begin")                                      \
    X(SYSTEM, SKIP, "this system does not tell what the case must know")                                               \
    X(FEATURE, UNSUPPORTED, "the driver does not offer what the case needs")                                           \
    X(OPERATION, UNSUPPORTED, "the driver does not support an operation of the model")                                 \
    X(VALID_MODEL, UNSUPPORTED, "the driver does not support the same model without the mistake")                      \
    X(INTERFACE, UNSUPPORTED, "the driver's interface cannot say what the case needs said")                            \
    X(OPEN_SHAPES, UNSUPPORTED, "the driver does not execute models whose shapes are left open")                       \
    X(NO_EQUAL, UNSUPPORTED, "NNAPI has no equal for a part of the foreign model")                                     \
    X(EXPECTATION, FAIL, "does not do what the case expects")                                                          \
    X(VALUES, FAIL, "values are wrong")                                                                                \
    X(SHAPE, FAIL, "reports another shape or size of an output than it has")                                           \
    X(UNWRITTEN, FAIL, "leaves an output unwritten")                                                                   \
    X(STATUS, FAIL, "answers another status than it must")                                                             \
    X(ACCEPTED, FAIL, "accepts what it must refuse")                                                                   \
    X(REFUSED, FAIL, "refuses what it must accept")                                                                    \
    X(MEMORY, FAIL, "writes what is not its to write")                                                                 \
    X(LATE, FAIL, "writes to the memory of an execution that has ended, which other cases may pay for")                \
    X(RULE, FAIL, "breaks a rule of the driver interface")                                                             \
    X(NOT_DETERMINISTIC, FAIL, "does not answer the same bytes each time")                                             \
    X(LEAK, FAIL, "keeps what it must give back")                                                                      \
    X(KERNEL, FAIL, "makes the kernel report a fault")                                                                 \
    X(DIED, CRASH, "ended its process")                                                                                \
    X(OUT_OF_MEMORY, CRASH, "died when memory had run out, the machine's or what the run allows")                      \
    X(DISK, CRASH, "wrote more to disk than the run allows")                                                           \
    X(NO_END, TIMEOUT, "did not end before the deadline of the case")                                                  \
    X(NOTHING_COMPARED, UNTRUSTED, "nothing was compared")                                                             \
    X(HARNESS, ERROR, "nnvts could not do its part")                                                                   \
    X(MALFORMED, ERROR, "the spec is malformed")                                                                       \
    X(NOT_REACHED, NOTRUN, "the run ended before the case")                                                            \
    X(DEVICE_LOST, NOTRUN, "the driver could not be opened again after it had died or hung")                           \
    X(HANGS, NOTRUN, "cases of this operation hung three times in one phase")                                          \
    X(ENOUGH, NOTRUN, "as many cases had gone wrong, or hung, as the run allows")

enum nnvts_reason {
#define X(name, verdict, sentence) NNVTS_WHY_##name,
    NNVTS_REASONS(X)
#undef X
        NNVTS_REASON_COUNT
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
