/* SPDX-License-Identifier: Apache-2.0 */
/* The files that the classes need, as they stand in compiler/nnapi/region and include: a part of the program. */
#include "compiler/nnapi/emit/emit.h"

#define EMBED(id, path)                                                                                                \
    __asm__(".pushsection .rodata\n"                                                                                   \
            "nnv_region_" #id ": .incbin \"" path "\"\n"                                                               \
            "nnv_region_" #id "_end:\n"                                                                                \
            ".byte 0\n"                                                                                                \
            ".popsection\n");                                                                                          \
    extern const char nnv_region_##id[], nnv_region_##id##_end[];

EMBED(header, "compiler/nnapi/region/nnapi_region.h")
EMBED(source, "compiler/nnapi/region/nnapi_region.cpp")
EMBED(program, "compiler/nnapi/region/nnapi_program.h")
EMBED(tvm, "compiler/nnapi/region/nnapi_tvm.h")
EMBED(nnapi, "include/NeuralNetworks.h")
EMBED(nnapi_types, "include/NeuralNetworksTypes.h")

const struct nnv_emit_support nnv_emit_supports[] = {
    {"nnapi_region.h", nnv_region_header, nnv_region_header_end},
    {"nnapi_region.cpp", nnv_region_source, nnv_region_source_end},
    {"nnapi_program.h", nnv_region_program, nnv_region_program_end},
    {"nnapi_tvm.h", nnv_region_tvm, nnv_region_tvm_end},
    {"NeuralNetworks.h", nnv_region_nnapi, nnv_region_nnapi_end},
    {"NeuralNetworksTypes.h", nnv_region_nnapi_types, nnv_region_nnapi_types_end},
};
const size_t nnv_emit_n_supports = sizeof nnv_emit_supports / sizeof *nnv_emit_supports;
