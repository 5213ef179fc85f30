/* SPDX-License-Identifier: Apache-2.0 */
/* The files that the classes need, as they stand in compiler/nnapi/region: a part of the program. */
#include "compiler/nnapi/emit/emit.h"

#define EMBED(id, name)                                                                                                \
    __asm__(".pushsection .rodata\n"                                                                                   \
            "nnv_region_" #id ": .incbin \"compiler/nnapi/region/" name "\"\n"                                         \
            "nnv_region_" #id "_end:\n"                                                                                \
            ".byte 0\n"                                                                                                \
            ".popsection\n");                                                                                          \
    extern const char nnv_region_##id[], nnv_region_##id##_end[];

EMBED(header, "nnapi_region.h")
EMBED(source, "nnapi_region.cpp")

const struct nnv_emit_support nnv_emit_supports[] = {
    {"nnapi_region.h", nnv_region_header, nnv_region_header_end},
    {"nnapi_region.cpp", nnv_region_source, nnv_region_source_end},
};
const size_t nnv_emit_n_supports = sizeof nnv_emit_supports / sizeof *nnv_emit_supports;
