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

/** Where a region is to run. */
struct nnapi_region_configuration {
    const char *const *devices; /**< names; a model is compiled for exactly these */
    uint32_t device_count;      /**< 0: NNAPI chooses */
    const char *cache_folder;   /**< of NNAPI's compilation cache, with a '/' at its end; NULL: none */
    const char *folder;         /**< of the file of weights; NULL: the current one */
};

/** What a region is. */
struct nnapi_region_description {
    const char *name;
    int64_t feature_level;  /**< the least that the model needs */
    const uint8_t *digest;  /**< SHA-256 of the model's description and its weights: 32 bytes */
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

#include "NeuralNetworks.h"

namespace nnapi_region {

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
    Region(const nnapi_region_configuration &configuration, const nnapi_region_description &description);
    ~Region();

    /* The model, in order: its operands, operations, inputs and outputs. After an error the rest does nothing. */

    void operand(const ANeuralNetworksOperandType &type);
    void channels(const ANeuralNetworksSymmPerChannelQuantParams &scales); ///< of the last operand
    void constant(const void *value, size_t bytes);                        ///< of the last operand; at most 128 bytes
    void weights(uint64_t offset, size_t bytes);                           ///< of the last operand, in the file
    void omitted();                                                        ///< the last operand has no value
    template <size_t I, size_t O>
    void operation(ANeuralNetworksOperationType code, const uint32_t (&in)[I], const uint32_t (&out)[O]) {
        add_operation(code, I, in, O, out);
    }
    void arguments(uint32_t input_count, const uint32_t *inputs, uint32_t output_count, const uint32_t *outputs);
    void relaxed(); ///< float32 may be computed as float16
    void compile();

  private:
    bool check(int code, const char *where);
    void add_operation(ANeuralNetworksOperationType code, uint32_t in_count, const uint32_t *in, uint32_t out_count,
                       const uint32_t *out);
    void open_weights();
    bool find_devices();
    void create_compilation();
    void set_caching();
    int compute(ANeuralNetworksExecution *execution, ANeuralNetworksBurst *burst) const;
    int start(const void *const *inputs, void *const *outputs, ANeuralNetworksBurst *burst) const;

    enum { MOST_DEVICES = 32 };

    const nnapi_region_configuration configuration_;
    const nnapi_region_description &description_;
    const ANeuralNetworksDevice *devices_[MOST_DEVICES] = {};
    uint32_t device_count_ = 0;
    ANeuralNetworksModel *model_ = nullptr;
    ANeuralNetworksCompilation *compilation_ = nullptr;
    ANeuralNetworksMemory *memory_ = nullptr;
    ANeuralNetworksBurst *burst_ = nullptr;
    int file_ = -1;
    int32_t operands_ = 0, operations_ = 0;
    int error_ = 0;
    char where_[128] = "";
};

} // namespace nnapi_region
#endif

#endif
