/* SPDX-License-Identifier: Apache-2.0 */
/** @file type.h The operand types of the core. */
#ifndef COMMON_TYPE_H
#define COMMON_TYPE_H

#include "nnvts/driver.h"

/** Bytes of an element; 0: of a type that is not of the core. */
uint32_t common_element_bytes(int32_t type);
bool common_is_scalar(int32_t type);

#endif
