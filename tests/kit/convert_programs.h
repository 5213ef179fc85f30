/* SPDX-License-Identifier: Apache-2.0 */
/** @file convert_programs.h A program for each row of the converter, which converts at the row's level. */
#ifndef KIT_CONVERT_PROGRAMS_H
#define KIT_CONVERT_PROGRAMS_H

#include "tests/kit/convert.h"

struct convert_program {
    const char *op, *params, *body;
};
extern const struct convert_program programs[];
extern const size_t program_count;

/** The number of the operator's program. */
size_t program_of(const char *op);

#endif
