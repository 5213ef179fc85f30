/* SPDX-License-Identifier: Apache-2.0 */
#include "mlts/networks/trained.h"

/* The file as it stands, 16-aligned as a mapped one would be. */
#define EMBED(name)                                                                                                    \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".balign 16\n"                                                                                             \
            "nnv_trained_" #name ": .incbin \"mlts/networks/models/" #name ".tflite\"\n"                               \
            "nnv_trained_" #name "_end:\n"                                                                             \
            ".byte 0\n"                                                                                                \
            ".popsection\n");                                                                                          \
    extern const uint8_t nnv_trained_##name[], nnv_trained_##name##_end[];

EMBED(figures_float)
EMBED(figures_uint8)
EMBED(figures_int8)
EMBED(speech_float)

#define FILE_OF(id) .name = #id, .begin = nnv_trained_##id, .end = nnv_trained_##id##_end

const struct nnv_trained nnv_trained_models[] = {
    {FILE_OF(figures_float), .task = NNV_TASK_CLASSIFY, .what = "ten figures in pictures of 48x48, float32"},
    {FILE_OF(figures_uint8), .task = NNV_TASK_CLASSIFY, .what = "ten figures in pictures of 48x48, uint8"},
    {FILE_OF(figures_int8), .task = NNV_TASK_CLASSIFY, .what = "ten figures in pictures of 48x48, int8 per channel"},
    {FILE_OF(speech_float), .task = NNV_TASK_SPELL, .what = "phones of made-up speech, an LSTM, float32"},
};
const size_t nnv_trained_count = sizeof nnv_trained_models / sizeof *nnv_trained_models;
