/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file before.h A library that stands before libneuralnetworks.so, which its linker names as needed: it has the
 * functions that it changes, and whoever looks up another finds the one behind it.
 */
#ifndef NNV_TESTS_BEFORE_H
#define NNV_TESTS_BEFORE_H

#include <dlfcn.h>
#include <string.h>

#include "nnvts/ndk.h"

/** The functions of the library behind. */
static struct nnvts_ndk real;

__attribute__((constructor)) static void look_up(void) {
    void *library = dlopen("libneuralnetworks.so", RTLD_NOW | RTLD_NOLOAD), *symbol;
#define NNV_LOOK_UP(function, level)                                                                                   \
    symbol = library ? dlsym(library, "ANeuralNetworks" #function) : NULL;                                             \
    memcpy(&real.function, &symbol, sizeof real.function);
    NNVTS_NDK_FUNCTIONS(NNV_LOOK_UP)
}

#endif
