/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dump.h Specs of cases that went wrong, and of passes that are kept (keep.h), written to dumps/ by processes
 * without a driver, one after the other, while the run goes on. The first few of each operation, type and verdict are
 * also replayed (replay.h).
 */
#ifndef NNV_HARNESS_DUMP_H
#define NNV_HARNESS_DUMP_H

#include "harness/runner/pool/pool.h"

enum {
    NNV_DUMPS_MAX = 2000, /**< of a run; from half of them on, a few of each operation, type and reason */
    NNV_DUMPS_MORE = 100, /**< of them that are written in further forms, the first ones */
};

struct nnv_dumper;

/** What became of a case. */
struct nnv_dumped {
    const char *dump;   /**< relative to the folder; NULL: none */
    const char *remark; /**< why there is no dump; NULL: nothing to say */
    const char *again;  /**< the verdict that the dump was replayed with; NULL: it was not replayed */
};

struct nnv_dumper_options {
    const struct nnv_run_config *config;
    const struct nnv_case *cases;
    const struct nnv_driver_info *driver;
    const char *folder; /**< of the run */
    size_t before;      /**< dumps that the run has already */
    void *context;
    /** A case is dumped, or not. */
    enum nnv_status (*dumped)(void *context, const struct nnv_ended *e, const struct nnv_dumped *dumped,
                              struct nnv_err *err);
    /**
     * Writes the spec of a dump in further forms, to path with a suffix. Called in a process without a driver. May be
     * NULL.
     */
    enum nnv_status (*also)(const char *path, const char *driver, const struct nnv_spec *spec,
                            enum nnv_precision precision, struct nnv_arena *arena, struct nnv_err *err);
    /** Called again and again while nnv_dumper_finish() waits. */
    enum nnv_status (*idle)(void *context, struct nnv_err *err);
};

/** NULL when out of memory. options are copied, what they point to is borrowed. */
struct nnv_dumper *nnv_dumper_new(const struct nnv_dumper_options *options);
/** Kills what still runs. NULL is allowed. */
void nnv_dumper_free(struct nnv_dumper *d);
/**
 * Takes over a case that has ended: calls dumped at once for one that is not to be dumped (it did not go wrong, its
 * suite has no specs, or there are dumps enough), else later from nnv_dumper_step().
 */
NNV_USE_RESULT enum nnv_status nnv_dumper_take(struct nnv_dumper *d, const struct nnv_ended *e, struct nnv_err *err);
/** True while there is something left to dump or to replay. */
bool nnv_dumper_busy(const struct nnv_dumper *d);
/** Goes on as far as possible without waiting. Once the user has interrupted, nothing is replayed any more. */
NNV_USE_RESULT enum nnv_status nnv_dumper_step(struct nnv_dumper *d, struct nnv_err *err);
/**
 * True if a replay has the driver open now. Then a worker that could not open it is no reason to give up the driver,
 * but to replay nothing any more: it may be one that can be opened only once at a time.
 */
bool nnv_dumper_opens(struct nnv_dumper *d);
/**
 * Waits until nothing is left. interrupted, or once the user interrupts: nothing is replayed, and what is left after
 * two seconds is not dumped. Takes the process's signals meanwhile.
 */
NNV_USE_RESULT enum nnv_status nnv_dumper_finish(struct nnv_dumper *d, bool interrupted, struct nnv_err *err);
/**
 * The name of a case as a file name without suffix, '/' becomes '.', into buf (room for 256): of plain characters; a
 * hash is added where anything else had to be replaced or the name was cut to 200 bytes.
 */
void nnv_dump_name(const char *name, char *buf);
/** Writes a spec in all forms: path.mod.py, path.dot and, last, path.json. */
NNV_USE_RESULT enum nnv_status nnv_dump_write(const char *path, const struct nnv_spec *spec, struct nnv_err *err);

#endif
