/* SPDX-License-Identifier: Apache-2.0 */
/** @file ndk_results.h The result codes of the NNAPI NDK by name: one list for all that speak of them. */
#ifndef NNVTS_NDK_RESULTS_H
#define NNVTS_NDK_RESULTS_H

#include "NeuralNetworksTypes.h"

/** X(NAME) for each code ANEURALNETWORKS_NAME. */
#define NNVTS_NDK_RESULTS(X)                                                                                           \
    X(NO_ERROR)                                                                                                        \
    X(OUT_OF_MEMORY)                                                                                                   \
    X(INCOMPLETE)                                                                                                      \
    X(UNEXPECTED_NULL)                                                                                                 \
    X(BAD_DATA)                                                                                                        \
    X(OP_FAILED)                                                                                                       \
    X(BAD_STATE)                                                                                                       \
    X(UNMAPPABLE)                                                                                                      \
    X(OUTPUT_INSUFFICIENT_SIZE)                                                                                        \
    X(UNAVAILABLE_DEVICE)                                                                                              \
    X(MISSED_DEADLINE_TRANSIENT)                                                                                       \
    X(MISSED_DEADLINE_PERSISTENT)                                                                                      \
    X(RESOURCE_EXHAUSTED_TRANSIENT)                                                                                    \
    X(RESOURCE_EXHAUSTED_PERSISTENT)                                                                                   \
    X(DEAD_OBJECT)

#endif
