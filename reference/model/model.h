/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.h A model: operands, operations, subgraphs, and a spec: a model with inputs and expected outputs. */
#ifndef NNV_MODEL_H
#define NNV_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/type.h"
#include "reference/model/arithmetic.h"

enum {
    NNV_MAX_RANK = 16,
    NNV_LEVEL_MIN = 1,
    NNV_LEVEL_MAX = 7,
};

/** Numbered as in the driver ABI. */
enum nnv_lifetime {
    NNV_TEMPORARY_VARIABLE,
    NNV_SUBGRAPH_INPUT,
    NNV_SUBGRAPH_OUTPUT,
    NNV_CONSTANT_COPY,
    NNV_CONSTANT_REFERENCE,
    NNV_NO_VALUE,
    NNV_SUBGRAPH,
    NNV_LIFETIME_COUNT
};

/** Per-channel scales of TENSOR_QUANT8_SYMM_PER_CHANNEL. */
struct nnv_channel_quant {
    uint32_t dim;   /**< the dimension that the scales run along */
    uint32_t count; /**< 0: none */
    float *scales;  /**< arena's */
};

struct nnv_operand {
    int32_t type;   /**< OperandCode */
    uint32_t rank;  /**< 0 for scalars and for tensors of unknown rank */
    uint32_t *dims; /**< rank entries, 0 unknown; arena's */
    float scale;
    int32_t zero_point;
    struct nnv_channel_quant channel;
    enum nnv_lifetime lifetime;
    bool ignored;      /**< an output that is not compared */
    const void *data;  /**< constants: the value; else NULL; arena's */
    size_t bytes;      /**< of data */
    uint32_t subgraph; /**< SUBGRAPH: index into nnv_model.referenced */
};

struct nnv_operation {
    int32_t type; /**< OperationCode */
    uint32_t nin, nout;
    uint32_t *in, *out; /**< operand indices; arena's */
};

/** Operations stand in execution order. */
struct nnv_subgraph {
    uint32_t noperands, noperations, nin, nout;
    struct nnv_operand *operands;
    struct nnv_operation *operations;
    uint32_t *in, *out;
};

struct nnv_model {
    struct nnv_subgraph main;
    uint32_t nreferenced;
    struct nnv_subgraph *referenced;
    bool relaxed; /**< float32 may be computed with the range and precision of float16 */
};

/** A value of an input or output: raw little-endian elements with their actual shape. */
struct nnv_value {
    bool omitted; /**< an input passed without a value */
    uint32_t rank;
    uint32_t dims[NNV_MAX_RANK]; /**< actual extents: 0 is a real zero */
    void *data;                  /**< arena's, aligned to 64; not NULL unless omitted */
    size_t bytes;
};

/** A complete test case. All memory is of one arena. */
struct nnv_spec {
    const char *name;
    const char *source;            /**< free text or NULL */
    const char *origin;            /**< of a dump that is written: from which run, a JSON object; else NULL */
    int min_version;               /**< feature level 1 to 7; 0: not given */
    bool expect_failure;           /**< a correct driver refuses or fails this model */
    const struct nnv_model *valid; /**< the same without the mistake, where that is known; NULL: it is not */
    double multinomial_tolerance;  /**< 0: not RANDOM_MULTINOMIAL */
    bool exact; /**< every compared element must be equal (the "exact" member, an addition of nnvts to the form) */
    const char
        *precision; /**< the profile by which it is to be judged, or NULL (the "precision" member, another addition) */
    struct nnv_arithmetic arithmetic; /**< and what is promised of the driver's arithmetic ("arithmetic") */
    struct nnv_model model;
    struct nnv_value *inputs;  /**< model.main.nin entries */
    struct nnv_value *outputs; /**< expected; model.main.nout entries */
    /** What a driver answered when it failed ("actual", another addition): as outputs, or NULL. */
    struct nnv_value *actual;
    /** How far each element of an output may be from the expected one ("bounds"); NaN: not compared. Entries are NULL
     * where an output has none; NULL: no output has. */
    double **bounds;
};

/** Lifetime names of the spec form: "SUBGRAPH_INPUT"... */
const char *nnv_lifetime_name(enum nnv_lifetime l);
/** "1.0" "1.1" "1.2" "1.3" "fl5" "fl6" "fl7" for levels 1 to 7. */
const char *nnv_level_name(int level);
/** Level of such a name, or 0. */
int nnv_level_by_name(const char *name);
/** True for CONSTANT_COPY and CONSTANT_REFERENCE. */
bool nnv_is_constant(const struct nnv_operand *o);
/** The rank of a tensor, or an extent of a shape, is left to the execution. */
bool nnv_shape_is_open(bool tensor, uint32_t rank, const uint32_t *dims);
/** The same of an operand; false for types that are not known. */
bool nnv_operand_is_open(const struct nnv_operand *o);
/** Elements and bytes of an operand whose dims are all known; false if not, or on overflow. */
bool nnv_operand_size(const struct nnv_operand *o, size_t *elems, size_t *bytes);

/** The operation of a subgraph that writes the operand, or UINT32_MAX. */
uint32_t nnv_producer(const struct nnv_subgraph *s, uint32_t operand);

#endif
