/* SPDX-License-Identifier: Apache-2.0 */
/** @file rules.c What a vendor's program gets of libnnvts-rules.a; built by tests/system/test_new_driver.sh, exit code
 * 0. */
#include <stdio.h>
#include <string.h>

#include "nnvts/rules.h"

static int wrong;
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) wrong = 1, printf("line %d: " #condition "\n", __LINE__);                                    \
    } while (0)

/** ADD of two tensors, then RELU6, or another operation on one tensor. */
static struct nnvts_operand operands[5];
static struct nnvts_operation operations[2];
static struct nnvts_model model;
static const uint32_t dims[] = {2, 3}, add_in[] = {0, 1, 2}, add_out[] = {3}, other_in[] = {3}, other_out[] = {4};
static const uint32_t in[] = {0, 1}, out[] = {4};
static const int32_t none = 0;

static void make(int32_t other) {
    static const uint32_t lifetimes[] = {NNVTS_SUBGRAPH_INPUT, NNVTS_SUBGRAPH_INPUT, NNVTS_CONSTANT_COPY,
                                         NNVTS_TEMPORARY_VARIABLE, NNVTS_SUBGRAPH_OUTPUT};
    for (int i = 0; i < 5; i++)
        operands[i] = (struct nnvts_operand){.type = i == 2 ? ANEURALNETWORKS_INT32 : ANEURALNETWORKS_TENSOR_FLOAT32,
                                             .dimension_count = i == 2 ? 0 : 2,
                                             .dimensions = dims,
                                             .lifetime = lifetimes[i]};
    operands[2].location.length = sizeof none;
    operations[0] = (struct nnvts_operation){
        .type = ANEURALNETWORKS_ADD, .input_count = 3, .output_count = 1, .inputs = add_in, .outputs = add_out};
    operations[1] = (struct nnvts_operation){
        .type = other, .input_count = 1, .output_count = 1, .inputs = other_in, .outputs = other_out};
    model = (struct nnvts_model){.main = {.operand_count = 5,
                                          .operands = operands,
                                          .operation_count = 2,
                                          .operations = operations,
                                          .input_count = 2,
                                          .inputs = in,
                                          .output_count = 1,
                                          .outputs = out},
                                 .operand_values = (const void *)&none,
                                 .operand_values_bytes = sizeof none};
}

int main(void) {
    bool known[2] = {false, false};
    char why[200] = "?", cut[9];
    make(ANEURALNETWORKS_RELU6);
    EXPECT(nnvts_rules_check_model(&model, 1, known, why, sizeof why) == NNVTS_STATUS_NONE);
    EXPECT(known[0] && known[1] && strcmp(why, "") == 0);
    /* A rule is broken: which, and where. */
    operands[3].type = ANEURALNETWORKS_TENSOR_INT32;
    EXPECT(nnvts_rules_check_model(&model, 1, known, why, sizeof why) == NNVTS_STATUS_INVALID_ARGUMENT);
    EXPECT(strstr(why, "operation 0 (ADD)") != NULL);
    EXPECT(nnvts_rules_check_model(&model, 1, NULL, NULL, 0) == NNVTS_STATUS_INVALID_ARGUMENT);
    EXPECT(nnvts_rules_check_model(&model, 1, NULL, cut, sizeof cut) == NNVTS_STATUS_INVALID_ARGUMENT);
    EXPECT(strlen(cut) == sizeof cut - 1);
    /* An index leads nowhere. */
    make(ANEURALNETWORKS_RELU6);
    operations[0].input_count = 400;
    EXPECT(nnvts_rules_check_model(&model, 1, NULL, why, sizeof why) == NNVTS_STATUS_INVALID_ARGUMENT);
    make(ANEURALNETWORKS_RELU6);
    operands[2].location.offset = 4096;
    EXPECT(nnvts_rules_check_model(&model, 1, NULL, why, sizeof why) == NNVTS_STATUS_INVALID_ARGUMENT);
    /* ABS came with level 3: legal, and not for a driver of level 1. */
    make(ANEURALNETWORKS_ABS);
    EXPECT(nnvts_rules_check_model(&model, 3, known, why, sizeof why) == NNVTS_STATUS_NONE);
    EXPECT(nnvts_rules_check_model(&model, 1, known, why, sizeof why) == NNVTS_STATUS_GENERAL_FAILURE);
    EXPECT(known[0] && !known[1] && strcmp(why, "it needs feature level 3") == 0);
    return wrong;
}
