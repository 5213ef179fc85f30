/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file speech.h Synthetic speech: strings of phones as frames of features, so that recurrent models can be judged by
 * their phone error rate without recordings.
 *
 * Each phone is a pattern of features; neighbours run into each other, lengths vary, a speaker shifts everything, and
 * there is noise. The basic operations of IEEE 754 alone: the same bytes on any machine.
 */
#ifndef NNV_MLTS_SPEECH_H
#define NNV_MLTS_SPEECH_H

#include <stdint.h>

enum {
    NNV_SPEECH_PHONES = 12,  /**< numbered from 1; 0 is silence */
    NNV_SPEECH_FRAMES = 64,  /**< of an utterance */
    NNV_SPEECH_FEATURES = 16 /**< of a frame */
};
enum { NNV_SPEECH_TRAINING = 1, NNV_SPEECH_HELD_OUT = 2 };

struct nnv_utterance {
    float frame[NNV_SPEECH_FRAMES][NNV_SPEECH_FEATURES];
    int32_t label[NNV_SPEECH_FRAMES]; /**< the phone of each frame */
    int32_t phone[NNV_SPEECH_FRAMES]; /**< the phones in a row: labels without silence, runs as one */
    uint32_t phones;
};

/** Makes utterance `index` of a seed. */
void nnv_speech_make(uint64_t seed, uint64_t index, struct nnv_utterance *out);
/**
 * What per-frame answers spell: runs of a phone of at least two frames become one, silence separates. phone: room for
 * `frames`. Returns how many.
 */
uint32_t nnv_speech_spell(const int32_t *label, uint32_t frames, int32_t *phone);

#endif
