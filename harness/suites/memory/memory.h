/* SPDX-License-Identifier: Apache-2.0 */
/** @file memory.h What the parts of the suite "memory" share: a fixture whose arguments may lie in device memory. */
#ifndef NNV_SUITES_MEMORY_H
#define NNV_SUITES_MEMORY_H

#include "harness/suites/kit/context.h"
#include "harness/suites/kit/fixture_models.h"

enum { NNV_MEMORY_MAX = 2 * NNV_FIXTURE_MAX_IO };

/** An argument that lies in device memory. */
struct nnv_memory_use {
    struct nnvts_buffer *buffer;
    uint32_t io;
    bool input;
};

/** What a case has at hand: a fixture that is prepared, and a request some of whose arguments are buffers. */
struct nnv_memory_fixture {
    struct nnv_context *s;
    const struct nnv_fixture_kind *kind;
    struct nnv_fixture fixture;
    struct nnvts_prepared_model *prepared;
    struct nnv_request values;
    struct nnvts_memory pools[2 + NNV_MEMORY_MAX]; /**< the request's */
    struct nnv_memory_use use[NNV_MEMORY_MAX];     /**< in effect from the next request on */
    uint32_t use_count;
    struct nnvts_buffer *owned[NNV_MEMORY_MAX]; /**< what nnv_memory_end releases */
    uint32_t owned_count;
    enum nnv_mode mode;                 /**< of nnv_memory_run */
    struct nnv_execution run;           /**< unless the mode is synchronous: open from the first to the last */
    int64_t tokens[2 + NNV_MEMORY_MAX]; /**< of the request's pools, for bursts */
    uint32_t generation;                /**< of the shared pools: how often the fixture went on with other inputs */
};

enum nnv_memory_models {
    NNV_MEMORY_FIXED, /**< all extents are known */
    NNV_MEMORY_LINK,  /**< inputs 0 and 1 and output 0 are alike, output 1 has other extents */
    NNV_MEMORY_OPEN,  /**< the first extent is known when the model is executed */
    NNV_MEMORY_TURN,  /**< both extents are, and output 0 is encoded as the inputs */
};
struct nnv_memory_case {
    const char *name;
    void (*run)(struct nnv_memory_fixture *b);
    enum nnv_memory_models fixtures;
};
extern const struct nnv_memory_case nnv_memory_refusals[];
extern const size_t nnv_memory_refusal_count;

enum { NNV_MEMORY_LINKS = 4, NNV_MEMORY_QUANTISED_LINKS = 2, NNV_MEMORY_TURNS = 4 };
/** Models of this suite alone: the fixtures of NNV_MEMORY_LINK, a type each. */
extern const struct nnv_fixture_kind nnv_memory_links[NNV_MEMORY_LINKS];
/** The fixtures of NNV_MEMORY_TURN: the sum of two inputs. */
extern const struct nnv_fixture_kind nnv_memory_turns[NNV_MEMORY_TURNS];
/** Those of the links that are quantised, by name, but for the zero point, and but for the scale. */
extern const struct nnv_fixture_kind nnv_memory_other_zero_points[NNV_MEMORY_QUANTISED_LINKS];
extern const struct nnv_fixture_kind nnv_memory_other_scales[NNV_MEMORY_QUANTISED_LINKS];

/* -------------------------------------------------------------------- buffers */

/** The description of a buffer in the making; the pointers of d point into it. */
struct nnv_memory_desc {
    struct nnvts_buffer_desc d;
    struct nnvts_prepared_model *prepared[2];
    struct nnvts_buffer_role in[4], out[4];
    uint32_t dims[NNV_MAX_RANK + 1];
};
/** Of the fixture's prepared model, without roles. */
void nnv_memory_desc_init(const struct nnv_memory_fixture *b, struct nnv_memory_desc *desc);
void nnv_memory_add_role(struct nnv_memory_desc *desc, uint32_t model, uint32_t io, bool input);
void nnv_memory_hint(struct nnv_memory_desc *desc, uint32_t rank, const uint32_t *dims);

/** allocate: the buffer must be whole; it is the fixture's. NULL: the case is over. */
struct nnvts_buffer *nnv_memory_allocate(struct nnv_memory_fixture *b, const struct nnv_memory_desc *desc);
/** A buffer for one input or output, with the extents that the fixture has in the end as a hint. */
struct nnvts_buffer *nnv_memory_for(struct nnv_memory_fixture *b, uint32_t io, bool input);
/** Releases one that is the fixture's. */
void nnv_memory_release(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer);
/** A buffer for each input (and output), inputs filled; they are used in the next request. */
bool nnv_memory_use_all(struct nnv_memory_fixture *b, bool inputs, bool outputs);
/** The argument lies in this buffer from the next request on. */
void nnv_memory_use(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, uint32_t io, bool input);

/** The value of an input, or the expected one of an output. */
const struct nnv_value *nnv_memory_value(const struct nnv_memory_fixture *b, uint32_t io, bool input);
/** copy_from of bytes; the status is the caller's to judge. */
enum nnvts_status nnv_memory_copy_from(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, const void *data,
                                       size_t bytes, const uint32_t *dims, uint32_t rank);
/** Fills the buffer with the value of input io; extents are given where the model leaves them open. */
bool nnv_memory_fill(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, uint32_t io);
/** copy_to into shared memory of this size, zeroed before; *data is where the bytes are. */
enum nnvts_status nnv_memory_copy_to(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, size_t bytes,
                                     uint8_t **data);
/** copy_to must give these bytes. */
bool nnv_memory_holds(struct nnv_memory_fixture *b, struct nnvts_buffer *buffer, const void *data, size_t bytes);

/* ------------------------------------------------------------------ executions */

/** Makes the next request: shared memory, except what is used from buffers. */
void nnv_memory_request(struct nnv_memory_fixture *b);
enum nnvts_status nnv_memory_execute(struct nnv_memory_fixture *b, struct nnvts_prepared_model *prepared);
/** Fetches outputs from their buffers and checks all values; `call` gave the status. */
bool nnv_memory_check(struct nnv_memory_fixture *b, const char *call, enum nnvts_status status);
/** nnv_memory_request, an execution of the fixture's prepared model in its mode, _check. */
bool nnv_memory_run(struct nnv_memory_fixture *b);

#endif
