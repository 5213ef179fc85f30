/* SPDX-License-Identifier: Apache-2.0 */
/** @file NeuralNetworks.h Where the NDK has it. */
#include <NeuralNetworks.h> // IWYU pragma: export
