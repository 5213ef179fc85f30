/* SPDX-License-Identifier: Apache-2.0 */
/** @file oracle.h What a driver does with a spec, asked in a process of its own, one after the other. */
#ifndef NNV_DEBUG_ORACLE_H
#define NNV_DEBUG_ORACLE_H

#include "harness/judge/judge.h"
#include "nnvts/result.h"

enum {
    NNV_OPINION_OUTPUTS = 512, /**< outputs of which more is told than the verdict */
    NNV_OPINION_REASON = 512,
};

/** Who is asked, and how. */
struct nnv_oracle {
    const char *path, *options; /**< of the driver; see nnv_client_resolve() */
    enum nnv_precision precision;
    uint64_t timeout_ns; /**< of one question */
    const char *check;   /**< a command that is asked in place of a driver, see nnv_check_judge(); NULL: none */
};

/** How one output was. */
struct nnv_output_opinion {
    size_t compared, wrong;
    double ratio;    /**< worst error over its bound; infinity where the bound is 0 */
    double error;    /**< of the worst element */
    bool not_finite; /**< the worst element should be finite and is not, or the other way round */
};

/** The answer. */
struct nnv_opinion {
    enum nnvts_verdict verdict;
    enum nnv_phase phase; /**< of a CRASH or TIMEOUT */
    int signal;           /**< of a CRASH; 0: none */
    uint64_t ns;          /**< that it took */
    char reason[NNV_OPINION_REASON];
    bool of_check;    /**< a check's: the reason says how it ended */
    bool has_outputs; /**< values were compared */
    struct nnv_output_opinion output[NNV_OPINION_OUTPUTS];
};

/** Runs and judges a spec as nnvts replay does, or has the check judge it. NNV_INVALID: the driver can't be opened. */
NNV_USE_RESULT enum nnv_status nnv_oracle_judge(const struct nnv_oracle *o, const struct nnv_spec *spec,
                                                struct nnv_opinion *opinion, struct nnv_err *err);
/**
 * Runs a spec and brings back what the driver computed: outputs are spec->model.main.nout values of the expected
 * shapes, arena's. opinion->verdict is PASS if it did, else what became of it (FAIL, UNSUPPORTED, CRASH, TIMEOUT ...).
 */
NNV_USE_RESULT enum nnv_status nnv_oracle_run(const struct nnv_oracle *o, const struct nnv_spec *spec,
                                              struct nnv_arena *arena, struct nnv_value **outputs,
                                              struct nnv_opinion *opinion, struct nnv_err *err);
/** Judges outputs that are given, without a driver, in this process. Their shapes must be the expected ones. */
void nnv_oracle_compare(const struct nnv_spec *spec, enum nnv_precision precision, struct nnv_value *outputs,
                        struct nnv_arena *arena, struct nnv_opinion *opinion);
/** True if the verdict is one that a dump is made of: FAIL, UNTRUSTED, CRASH or TIMEOUT. */
bool nnv_is_bad(enum nnvts_verdict verdict);

#endif
