/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cliffs.h Extents at which a driver's behaviour changes: along each axis of each operation, by doubling and
 * bisection, support, compiling, values and time; and how the time of compiling grows. Of extents whose whole result
 * would take too long, patches of the values are judged (patch.h).
 */
#ifndef NNV_DATASHEET_CLIFFS_H
#define NNV_DATASHEET_CLIFFS_H

#include "harness/judge/judge.h"
#include "reference/model/op.h"

enum { NNV_CLIFFS = 256 };

enum nnv_cliff_kind {
    NNV_CLIFF_SUPPORT, /**< not supported beyond */
    NNV_CLIFF_COMPILE, /**< supported, but not compiled or executed beyond */
    NNV_CLIFF_VALUES,  /**< wrong beyond */
    NNV_CLIFF_DIES,    /**< its process ends beyond, or does not answer in time */
    NNV_CLIFF_TIME,    /**< executing takes `factor` times as long, from one extent to the next */
    NNV_CLIFF_GROWTH,  /**< the time of compiling grows as the power `factor` of the size */
};

/** What was found along an axis. */
struct nnv_cliff {
    char about[64], axis[32]; /**< "CONV_2D float32", "image width" */
    enum nnv_cliff_kind kind;
    int32_t last, first; /**< the last extent before, and the first behind; GROWTH: the first and last measured */
    double factor;
    uint64_t sampled; /**< of the output of `first` so many elements were compared; 0: all */
    char words[160];  /**< what was seen behind */
};

/** Plain bytes: it lies in shared memory. */
struct nnv_cliffs {
    uint32_t begun;         /**< axes: where a process ends, the next one goes on with the axis that it was in */
    uint32_t done;          /**< axes, with those that the driver does not support at all */
    uint32_t probes;        /**< models that were asked about */
    int32_t trying;         /**< the extent that a process is at; 0: none */
    int32_t passed;         /**< of the axis that is being measured: the last extent that went well, */
    int32_t shorter, whole; /**< and two of which the whole result was known, if patches are judged now; else 0 */
    uint32_t sampled;       /**< axes that were followed beyond whole results, by patches */
    uint32_t count;
    struct nnv_cliff item[NNV_CLIFFS];
    bool unfinished; /**< the time was over before all axes were looked at */
};

/** What the process works with. */
struct nnv_cliff_measuring {
    struct nnv_client *client;
    const struct nnv_arithmetic *arithmetic;
    uint64_t seed;
    const char *operations; /**< a glob; NULL: all */
    uint64_t until_ns;      /**< no axis is begun after that; 0: no limit */
    volatile uint32_t *phase;
    _Atomic uint32_t *serial; /**< counts answers */
    struct nnv_arena *arena;  /**< reset between models */
    struct nnv_cliffs *out;
};

/** Measures all axes from out->begun on. */
void nnv_cliffs_measure(const struct nnv_cliff_measuring *x);
/** "not supported beyond", "wrong beyond" ... */
const char *nnv_cliff_kind_text(enum nnv_cliff_kind kind);
/** Appends "image width: wrong beyond 2048: output 0 ...". */
void nnv_cliff_tell(const struct nnv_cliff *c, struct nnv_text *t);

#endif
