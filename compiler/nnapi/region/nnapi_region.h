/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file nnapi_region.h What the classes that nnvts writes for regions of a program have in common.
 *
 * A class builds and compiles its NNAPI model when it is made, once; execute() and burst() run it; the destructor frees
 * all. Nothing is thrown: an error is kept, error() gives NNAPI's result code and where() what failed. Functions that
 * came after feature level 1 are weak references, so the library also loads where NNAPI lacks them.
 *
 * For C, and for programs that load the library, each class FUNCTION has FUNCTION_create, _error, _execute, _destroy
 * and _describe.
 */
#ifndef NNAPI_REGION_H
#define NNAPI_REGION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What NNAPI is to prefer. */
enum nnapi_region_preference {
    NNAPI_REGION_ANY,
    NNAPI_REGION_LOW_POWER,
    NNAPI_REGION_FAST_SINGLE_ANSWER,
    NNAPI_REGION_SUSTAINED_SPEED
};

/** A file of weights that is open already, such as an asset that lies in an application's package as it is. */
struct nnapi_region_file {
    int descriptor;  /**< stays the caller's, and must be open until the region is made */
    uint64_t offset; /**< of the weights in the file */
};

/** Where a region is to run, and how. Zeros leave each choice to NNAPI. */
struct nnapi_region_configuration {
    const char *const *devices;              /**< names; a model is compiled for exactly these */
    uint32_t device_count;                   /**< 0: NNAPI chooses */
    const char *cache_folder;                /**< of NNAPI's compilation cache, with a '/' at its end; NULL: none */
    const char *folder;                      /**< of the file of weights; NULL: the current one */
    const struct nnapi_region_file *weights; /**< the file of weights; NULL: it is opened in the folder */
    enum nnapi_region_preference preference;
    int32_t priority;         /**< ANEURALNETWORKS_PRIORITY_...; 0: NNAPI's own; needs feature level 4 */
    uint64_t compile_timeout; /**< nanoseconds; 0: none; needs one device by its name, and feature level 4 */
    uint64_t run_timeout;     /**< the same for each execution */
};

/** What a region is. */
struct nnapi_region_description {
    const char *name;
    int64_t feature_level;  /**< the least that the model needs */
    const uint8_t *digest;  /**< SHA-256 of the model's description and its weights: 32 bytes; NULL: of a program */
    const char *weights;    /**< name of the file of weights; NULL: there is none */
    uint64_t weights_bytes; /**< of the file */
    uint32_t input_count;
    const uint32_t *input_bytes; /**< the size of each input */
    uint32_t output_count;
    const uint32_t *output_bytes;
};

#ifdef __cplusplus
}

#include <stddef.h>

/* The header of NNAPI that is beside this one knows all feature levels; the NDK's knows those of the API level. */
#ifdef NNAPI_REGION_NDK_HEADER
#include <android/NeuralNetworks.h>
#else
#include "NeuralNetworks.h"
#endif

namespace nnapi_region {

/* ------------------------------------------------------------------- a model, as tables */

struct Type {
    ANeuralNetworksOperandType operand;
    const ANeuralNetworksSymmPerChannelQuantParams *channels; ///< nullptr: it has none
};

/** An operand: its type, and where its value is. */
struct Operand {
    enum Kind { VALUE, CONSTANT, WEIGHTS, REFERENCE };
    uint32_t type;
    Kind kind;
    size_t bytes;         ///< CONSTANT, WEIGHTS
    const void *constant; ///< CONSTANT; nullptr: the operand is left out
    uint64_t offset;      ///< WEIGHTS: in the file; REFERENCE: number of the model that it stands for
};

/** An input, an output or a value between operations. */
constexpr Operand value(uint32_t type) { return {type, Operand::VALUE, 0, nullptr, 0}; }
/** At most 128 bytes: NNAPI copies them. */
template <class T, size_t N> constexpr Operand constant(uint32_t type, const T (&values)[N]) {
    return {type, Operand::CONSTANT, sizeof values, values, 0};
}
constexpr Operand weights(uint32_t type, uint64_t offset, size_t bytes) {
    return {type, Operand::WEIGHTS, bytes, nullptr, offset};
}
constexpr Operand omitted(uint32_t type) { return {type, Operand::CONSTANT, 0, nullptr, 0}; }
/** A branch of an IF. */
constexpr Operand reference(uint32_t type, uint32_t number) { return {type, Operand::REFERENCE, 0, nullptr, number}; }

struct Model {
    const Type *types;
    const Operand *operands;
    uint32_t operand_count;
    const uint32_t *operations; ///< of each: its code, the number of its inputs, these, that of its outputs, these
    uint32_t operation_count;
    const uint32_t *inputs;
    uint32_t input_count;
    const uint32_t *outputs;
    uint32_t output_count;
    bool relaxed; ///< float32 may be computed as float16
    /** What operands of this and the other models stand for: each behind those that it refers to; of the main model. */
    const Model *const *referenced = nullptr;
    uint32_t referenced_count = 0;
};

/* ---------------------------------------------------------------------------- running */

/** The part of a region that does not depend on its model. */
class Region {
  public:
    Region(const Region &) = delete;
    Region &operator=(const Region &) = delete;

    /** A result code of NNAPI: of the first call that failed while the model was built and compiled, or 0. */
    int error() const { return error_; }
    /** What failed: "ANeuralNetworksModel_finish"; "" if nothing did. */
    const char *where() const { return where_; }

    /** Runs the model on values of the sizes that are described. A result code; several threads may run it at once. */
    int run(const void *const *inputs, void *const *outputs);
    /** The same in a burst, for many runs one after the other; one thread at a time. Without bursts it is run(). */
    int run_in_burst(const void *const *inputs, void *const *outputs);

  protected:
    /** Builds the model and compiles it; the tables are not copied. */
    Region(const nnapi_region_configuration &configuration, const nnapi_region_description &description,
           const Model &model);
    ~Region();

  private:
    friend class Execution;

    bool check(int code, const char *where);
    void open_weights();
    void add_operand(const Model &model, uint32_t i);
    const uint32_t *add_operation(uint32_t i, const uint32_t *operation);
    void build(const Model &model);
    void build_referenced(const Model &model);
    bool find_devices();
    void create_compilation();
    void configure();
    void set_caching();
    void compile();
    int start(const void *const *inputs, void *const *outputs, ANeuralNetworksBurst *burst) const;

    enum { MOST_DEVICES = 32 };

    const nnapi_region_configuration configuration_;
    const nnapi_region_description &description_;
    const ANeuralNetworksDevice *devices_[MOST_DEVICES] = {};
    uint32_t device_count_ = 0;
    ANeuralNetworksModel *model_ = nullptr;
    ANeuralNetworksModel **referenced_ = nullptr; ///< model_ must not outlive them
    uint32_t referenced_count_ = 0;
    ANeuralNetworksCompilation *compilation_ = nullptr;
    ANeuralNetworksMemory *memory_ = nullptr;
    ANeuralNetworksBurst *burst_ = nullptr;
    int file_ = -1;
    uint64_t weights_at_ = 0; ///< where they begin in what is mapped
    int error_ = 0;
    char where_[128] = "";
};

/**
 * One execution of a region, for what execute() lacks: inputs and outputs in memory objects, times, and running it
 * again without setting it up anew. All functions answer NNAPI's result codes; after an error the rest does nothing.
 * One thread at a time; the region must live longer.
 */
class Execution {
  public:
    enum Option : unsigned {
        REUSABLE = 1, ///< it may run any number of times, with the inputs and outputs that it has; feature level 5
        TIMED = 2     ///< duration() will tell; needs one device by its name, and feature level 3
    };
    explicit Execution(const Region &region, unsigned options = 0);
    ~Execution();
    Execution(const Execution &) = delete;
    Execution &operator=(const Execution &) = delete;

    /** The value of input i: as many bytes as are described, which stay the caller's and must outlive the run. */
    int input(uint32_t i, const void *value);
    int input(uint32_t i, const ANeuralNetworksMemory *memory, size_t offset = 0);
    /** Where output i is to go. */
    int output(uint32_t i, void *value);
    int output(uint32_t i, const ANeuralNetworksMemory *memory, size_t offset = 0);
    int run(ANeuralNetworksBurst *burst = nullptr);
    /** Nanoseconds of the last run: code is an ANEURALNETWORKS_DURATION_...; UINT64_MAX: not known. */
    uint64_t duration(int32_t code) const;

  private:
    int check(int code);
    template <class Set, class... Value>
    int set(Set function, uint32_t i, uint32_t count, const uint32_t *bytes, Value... value);

    const Region &region_;
    ANeuralNetworksExecution *execution_ = nullptr;
    int error_;
};

} // namespace nnapi_region
#endif

#endif
