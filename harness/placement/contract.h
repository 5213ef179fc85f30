/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file contract.h What a driver must go on doing: cases that it must answer, and rightly, and how much of which
 * networks must run on it. Written from a good run, and checked on a later one.
 */
#ifndef NNV_CONTRACT_H
#define NNV_CONTRACT_H

#include "base/arena.h"
#include "base/text.h"
#include "harness/journal/load.h"

/** A network, and the share of its operations that the driver must do. */
struct nnv_contract_model {
    const char *model;
    double on_device;
};

struct nnv_contract {
    const char *driver, *tier;  /**< of the run that it was written from; may be "" */
    const char *const *cases;   /**< expressions as of --filter */
    const char *const *written; /**< where each stands: "contract.json: cases[3]"; NULL: it was not read */
    size_t count;
    struct nnv_contract_model *model;
    size_t models;
};

/** What is not kept. Strings are the arena's. */
struct nnv_contract_breach {
    const char *about, *text;
};
struct nnv_breaches {
    struct nnv_arena *arena; /**< set by the caller; the rest is zero at first */
    struct nnv_contract_breach *item;
    size_t count, room;
};
/** NNV_NO_MEMORY. */
NNV_USE_RESULT enum nnv_status nnv_breach_add(struct nnv_breaches *b, const char *about, const char *text,
                                              struct nnv_err *err);

/**
 * A contract that the run keeps: the shortest list of globs over whole levels of names, from "ops/ADD/" on, that
 * means the cases that passed, and none that was not answered. Without models.
 */
NNV_USE_RESULT enum nnv_status nnv_contract_of_run(const struct nnv_report *run, struct nnv_arena *arena,
                                                   struct nnv_contract *out, struct nnv_err *err);
/** Appends contract.json. */
void nnv_contract_write(const struct nnv_contract *c, struct nnv_text *out);
/** Reads one. NNV_INVALID: it is none, with the line. */
NNV_USE_RESULT enum nnv_status nnv_contract_read(const char *path, struct nnv_arena *arena, struct nnv_contract *out,
                                                 struct nnv_err *err);
/**
 * Finds where the run does not keep it: cases that are not answered (unsupported, not run, beyond the driver's level),
 * or go wrong without being expected to, by operation and type; and what means no case of the run. *meant: cases that
 * it means. NNV_INVALID: the run is of another tier, so that cases are missing that are no loss; or an expression is
 * malformed.
 */
NNV_USE_RESULT enum nnv_status nnv_contract_check(const struct nnv_contract *c, const struct nnv_report *run,
                                                  struct nnv_breaches *out, size_t *meant, struct nnv_err *err);

#endif
