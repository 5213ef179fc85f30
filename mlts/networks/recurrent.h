/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file recurrent.h Recurrent speech models, built in code with seeded weights: what streaming recognition and
 * synthesis ask of a driver. One execution is one step; what the cells keep are inputs and outputs, listed as states.
 *
 * Sources: Sak et al., "Long short-term memory recurrent neural network architectures for large scale acoustic
 * modeling", 2014 (stacked cells with projection); Shen et al., "Natural TTS synthesis by conditioning WaveNet on mel
 * spectrogram predictions", 2018 (the decoder: pre-net, attention, two cells).
 */
#ifndef NNV_MLTS_RECURRENT_H
#define NNV_MLTS_RECURRENT_H

#include "mlts/networks/network.h"

/** A stack of cells over frames of features. */
struct nnv_acoustic {
    uint32_t layers;     /**< 1 to 16 */
    uint32_t features;   /**< of a frame */
    uint32_t units;      /**< of a cell */
    uint32_t projection; /**< of what a cell puts out; 0: as wide as the cell */
    uint32_t phones;     /**< classes of the softmax */
    uint64_t seed;       /**< of the weights */
};

/** A decoder that looks at encoded text and puts out a frame of a spectrogram. */
struct nnv_decoder {
    uint32_t positions; /**< of the text */
    uint32_t text;      /**< numbers of a position */
    uint32_t units;     /**< of each of the two cells */
    uint32_t bands;     /**< of a frame */
    uint64_t seed;
};

/** An LSTM over the frames of a short piece of speech, which says what word it is. */
struct nnv_keyword {
    uint32_t frames;   /**< of the piece */
    uint32_t features; /**< of a frame */
    uint32_t units;    /**< of the cell */
    uint32_t words;    /**< classes of the softmax */
    uint64_t seed;
};

/**
 * Input [1, features], then output and cell state of each layer; output [1, phones], then the states. All memory is
 * arena's. NNV_INVALID names the member that is out of range.
 */
NNV_USE_RESULT enum nnv_status nnv_acoustic_build(const struct nnv_acoustic *what, struct nnv_arena *arena,
                                                  struct nnv_network *net, struct nnv_err *err);
/**
 * Inputs: the frame before [1, bands], the text [1, positions, text]; then states: the text that was looked at [1,
 * text] and those of both cells. Outputs: the frame [1, bands], whether it is the last [1, 1]; then the states.
 */
NNV_USE_RESULT enum nnv_status nnv_decoder_build(const struct nnv_decoder *what, struct nnv_arena *arena,
                                                 struct nnv_network *net, struct nnv_err *err);
/**
 * Input [1, frames, features], output [1, words]; the cell begins with zeros, and keeps nothing. The source is Zhang et
 * al., "Hello edge: keyword spotting on microcontrollers", 2017.
 */
NNV_USE_RESULT enum nnv_status nnv_keyword_build(const struct nnv_keyword *what, struct nnv_arena *arena,
                                                 struct nnv_network *net, struct nnv_err *err);

#endif
