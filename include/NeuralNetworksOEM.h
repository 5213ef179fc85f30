/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file NeuralNetworksOEM.h
 * Codes that feature level 1 reserved for what a device's maker adds; extensions took their place.
 */
#ifndef NNVTS_NEURAL_NETWORKS_OEM_H
#define NNVTS_NEURAL_NETWORKS_OEM_H

/** Operand types of the maker. */
typedef enum {
    ANEURALNETWORKS_OEM_SCALAR = 10000,
    ANEURALNETWORKS_TENSOR_OEM_BYTE = 10001,
} OperandCodeOEM;

/** Operation of the maker. */
typedef enum {
    ANEURALNETWORKS_OEM_OPERATION = 10000,
} OperationCodeOEM;

#endif
