/* SPDX-License-Identifier: Apache-2.0 */
/** @file rows.h Short words for rows of operators; included behind the functions of a family. */
#ifndef NNV_COMPILER_RELAY_ROWS_H
#define NNV_COMPILER_RELAY_ROWS_H

#include "compiler/relay/ops/rule.h"

#define VALUE(k, ...) (&(const struct nnv_relay_value){.kind = NNV_RELAY_##k, __VA_ARGS__})
#define INT(v) VALUE(INT, .i = (v))
#define NUMBER(v) VALUE(FLOAT, .f = (v))
#define TRUTH(v) VALUE(TRUTH, .i = (v))
#define TEXT(v) VALUE(STRING, .text = (v))
#define EMPTY VALUE(LIST, .n = 0)
#define PAIR(v)                                                                                                        \
    VALUE(LIST, .n = 2,                                                                                                \
          .list =                                                                                                      \
              (const struct nnv_relay_value[]){{.kind = NNV_RELAY_INT, .i = (v)}, {.kind = NNV_RELAY_INT, .i = (v)}})
#define K_INT NNV_RELAY_ATTR_INT
#define K_NUMBER NNV_RELAY_ATTR_NUMBER
#define K_TRUTH NNV_RELAY_ATTR_TRUTH
#define K_TEXT NNV_RELAY_ATTR_TEXT
#define K_INTS NNV_RELAY_ATTR_INTS
#define K_PAIRS NNV_RELAY_ATTR_PAIRS
#define K_ANY NNV_RELAY_ATTR_ANY

#endif
