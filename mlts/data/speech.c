/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/data/speech.h"

#include "base/rng.h"

/** Feature k of a phone: the same for all utterances. */
static double pattern(int32_t phone, int k) {
    struct nnv_rng rng = nnv_rng_make(0x5bee, (uint64_t)phone, (uint64_t)k);
    return phone == 0 ? 0 : nnv_rng_uniform(&rng, -1, 1);
}

/** Silence one time in six, else any phone; never the last one again. */
static int32_t next_phone(struct nnv_rng *rng, int32_t last) {
    int32_t phone;
    do phone = nnv_rng_int(rng, 0, 5) == 0 ? 0 : (int32_t)nnv_rng_int(rng, 1, NNV_SPEECH_PHONES);
    while (phone == last);
    return phone;
}

static void put_labels(struct nnv_rng *rng, struct nnv_utterance *u) {
    uint32_t at = 0;
    int32_t last = -1;
    u->phones = 0;
    while (at < NNV_SPEECH_FRAMES) {
        int32_t phone = next_phone(rng, last);
        uint32_t length = (uint32_t)nnv_rng_int(rng, 3, 7);
        if (at + length + 2 > NNV_SPEECH_FRAMES) { /* the rest is silent */
            phone = 0;
            length = NNV_SPEECH_FRAMES - at;
        }
        for (uint32_t i = 0; i < length; i++) u->label[at + i] = phone;
        if (phone) u->phone[u->phones++] = phone;
        at += length;
        last = phone;
    }
}

void nnv_speech_make(uint64_t seed, uint64_t index, struct nnv_utterance *out) {
    struct nnv_rng rng = nnv_rng_make(seed, 0x5bee, index);
    put_labels(&rng, out);
    double loudness = nnv_rng_uniform(&rng, 0.7, 1.3), noise = nnv_rng_uniform(&rng, 0.5, 1.0);
    double speaker[NNV_SPEECH_FEATURES], state[NNV_SPEECH_FEATURES] = {0};
    for (int k = 0; k < NNV_SPEECH_FEATURES; k++) speaker[k] = nnv_rng_uniform(&rng, -0.3, 0.3);
    for (uint32_t t = 0; t < NNV_SPEECH_FRAMES; t++)
        for (int k = 0; k < NNV_SPEECH_FEATURES; k++) {
            state[k] += 0.6 * (loudness * pattern(out->label[t], k) - state[k]); /* sounds run into each other */
            out->frame[t][k] = (float)(state[k] + speaker[k] + noise * nnv_rng_normal(&rng));
        }
}

uint32_t nnv_speech_spell(const int32_t *label, uint32_t frames, int32_t *phone) {
    uint32_t n = 0;
    int32_t last = 0;
    for (uint32_t t = 0; t < frames;) {
        uint32_t run = 1;
        while (t + run < frames && label[t + run] == label[t]) run++;
        if (run > 1) { /* a single frame is a slip */
            if (label[t] != last && label[t] != 0) phone[n++] = label[t];
            last = label[t];
        }
        t += run;
    }
    return n;
}
