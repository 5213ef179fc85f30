/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file programs.c Small programs and what each pass must make of them, worked out by
 * hand. %x and %y are vectors, %c a condition, %t a pair of vectors. ' stands for ".
 */
#include "tests/kit/compiler/divide.h"

#include <string.h>

#define RULE(name, p) "{'name': 'nnapi." name "', 'pattern': " p "}"
#define OP_1(name, a) "{'op': '" name "', 'args': [" a "]}"
#define OP_2(name, a, b) "{'op': '" name "', 'args': [" a ", " b "]}"
#define OP_OF(a, b, n, ...) OP_##n
#define OP(name, ...) OP_OF(__VA_ARGS__, 2, 1, 0)(name, __VA_ARGS__)
#define ANY "'*'"
#define RELU(p) OP("nn.relu", p)
#define PAIR "[" RULE("two", RELU(RELU(ANY))) "]"
#define RELU_ADD "[" RULE("ra", RELU(OP("add", ANY, ANY))) "]"
#define USUAL "['nn.relu', 'add', 'multiply', 'subtract', 'abs', 'concatenate', 'split']"
#define HALF "%0 = cast(%x, dtype='float16'); %1 = nn.relu(%0); %2 = nn.relu(%y); (%1, %2)"
#define FOLDED "%0 = reshape(%x, newshape=[2, 4]); %1 = nn.relu(%0); %2 = nn.relu(%y); (%1, %2)"
#define THERE_AND_BACK "%0 = cast(%x, dtype='float16'); cast(%0, dtype='float32')"
#define CLIPS "%0 = clip(%x, a_min=0f, a_max=6f); clip(%0, a_min=0f, a_max=1f)"

/* The host takes 21 us for the chain: 11 for the first two operations, 9 for the last; the target 2.5 for each pair. */
#define CHAIN "%0 = abs(%x); %1 = nn.relu(%0); %2 = exp(%1); %3 = sqrt(%2); tanh(%3)"
#define CHEAP "['abs', 'nn.relu', 'sqrt', 'tanh']"
#define TWO_TARGETS "{'a': ['abs', 'nn.relu'], 'b': ['sqrt', 'tanh']}"
#define NO_REGION "| | abs,nn.relu,exp,sqrt,tanh"
#define OF_X "(float32[8])->float32[8]"
#define TIMES(op, host, target, noise)                                                                                 \
    "'" op OF_X "': {'host': " host ", 'target': " target ", 'host_noise': " noise ", 'target_noise': " noise "}"
#define PROFILE(launch, crossing, noise, more)                                                                         \
    STRUCTURE_COSTS                                                                                                    \
    "{'target': {'launch_us': " launch "}, 'crossing': {'us': " crossing ", 'gbytes': 1e12}" more                      \
    ", 'ops': {" TIMES("abs", "10", "2", noise) ", " TIMES("nn.relu", "1", "0.5", noise) ", " TIMES(                   \
        "exp", "1", "1", noise) ", " TIMES("sqrt", "8", "2", noise) ", " TIMES("tanh", "1", "0.5", noise) "}}"
/* Times of the pairs as wholes, by their keys. */
#define REGIONS(first, second)                                                                                         \
    ", 'regions': {'2 operations, 53e8481521e4fd1947c1e45db7533f2b': {'target': " first                                \
    "}, '2 operations, 5351f0c437dfb2a3b8618e3ba36c2839': {'target': " second "}}"

const struct structure_case structure_cases[] = {
    /* -------------------------------------------------------- MergeComposite */
    {"merge/last_pair_first", "%0 = nn.relu(%x); %1 = nn.relu(%0); nn.relu(%1)", PAIR, NULL, NULL, NULL,
     "nnapi.two(nn.relu,nn.relu;1) | %ret>nnapi;1/1 | nn.relu"},
    {"merge/four_in_a_row", "%0 = nn.relu(%x); %1 = nn.relu(%0); %2 = nn.relu(%1); nn.relu(%2)", PAIR, NULL, NULL, NULL,
     "nnapi.two(nn.relu,nn.relu;1) nnapi.two(nn.relu,nn.relu;1) | %1,%ret>nnapi;1/1 | "},
    {"merge/first_entry_wins", "%0 = add(%x, %y); nn.relu(%0)",
     "[" RULE("r", RELU(ANY)) "," RULE("ra", RELU(OP("add", ANY, ANY))) "]", NULL, NULL, NULL,
     "nnapi.r(nn.relu;1) | %ret>nnapi;1/1 | add"},
    {"merge/longer_entry_first", "%0 = add(%x, %y); nn.relu(%0)",
     "[" RULE("ra", RELU(OP("add", ANY, ANY))) "," RULE("r", RELU(ANY)) "]", NULL, NULL, NULL,
     "nnapi.ra(add,nn.relu;2) | %ret>nnapi;2/1 | "},
    {"merge/composites_do_not_nest", "%0 = nn.relu(%x); tanh(%0)",
     "[" RULE("r", RELU(ANY)) "," RULE("tr", OP("tanh", RELU(ANY))) "]", NULL, NULL, NULL,
     "nnapi.r(nn.relu;1) | %0>nnapi;1/1 | tanh"},
    {"merge/wildcard_meets_composite", "%0 = nn.relu(%x); tanh(%0)",
     "[" RULE("r", RELU(ANY)) "," RULE("t", OP("tanh", ANY)) "]", NULL, NULL, NULL,
     "nnapi.r(nn.relu;1) nnapi.t(tanh;1) | %0,%ret>nnapi;1/1 | "},
    {"merge/wildcard_is_one_value", "%0 = multiply(%x, %x); multiply(%0, %y)",
     "[" RULE("sq", OP("multiply", "{'any': true, 'id': 'v'}", "{'ref': 'v'}")) "]", NULL, NULL, NULL,
     "nnapi.sq(multiply;1) | %0>nnapi;1/1 | multiply"},
    {"merge/two_wildcards_in_a_diamond", "%0 = multiply(%x, %y); %1 = subtract(%x, %y); add(%0, %1)",
     "[" RULE("d", OP("add", OP("multiply", "{'any': true, 'id': 'v'}, {'any': true, 'id': 'w'}"),
                      OP("subtract", "{'ref': 'v'}, {'ref': 'w'}"))) "]",
     NULL, NULL, NULL, "nnapi.d(multiply,subtract,add;2) | %ret>nnapi;2/1 | "},
    {"merge/wildcards_in_other_order", "%0 = exp(%x); %1 = subtract(%0, %y); %2 = divide(%y, %0); add(%1, %2)",
     "[" RULE("d", OP("add", OP("subtract", "{'any': true, 'id': 'v'}, {'any': true, 'id': 'w'}"),
                      OP("divide", "{'ref': 'v'}, {'ref': 'w'}"))) "]",
     NULL, NULL, NULL, "| | exp,subtract,divide,add"},
    {"merge/escaping_value", "%0 = add(%x, %y); %1 = nn.relu(%0); %2 = tanh(%0); (%1, %2)", RELU_ADD, NULL, NULL, NULL,
     "| | add,nn.relu,tanh"},
    {"merge/escaping_to_the_result", "%0 = add(%x, %y); %1 = nn.relu(%0); (%1, %0)", RELU_ADD, NULL, NULL, NULL,
     "| | add,nn.relu"},
    {"merge/escaping_and_coming_back", "%0 = add(%x, %y); %1 = nn.relu(%0); %2 = tanh(%0); add(%1, %2)",
     "[" RULE("ara", OP("add", RELU(OP("add", ANY, ANY)), ANY)) "]", NULL, NULL, NULL, "| | add,nn.relu,tanh,add"},
    {"merge/used_twice_inside", "%0 = nn.relu(%x); add(%0, %0)",
     "[" RULE("tw", OP("add", "{'op': 'nn.relu', 'args': ['*'], 'id': 'r'}", "{'ref': 'r'}")) "]", NULL, NULL, NULL,
     "nnapi.tw(nn.relu,add;1) | %ret>nnapi;1/1 | "},
    {"merge/shared_between_matches", "%0 = add(%x, %y); %1 = nn.relu(%0); %2 = nn.relu(%0); (%1, %2)", RELU_ADD, NULL,
     NULL, NULL, "| | add,nn.relu,nn.relu"},
    {"merge/operands_of_add_change_places", "%0 = nn.relu(%x); add(%y, %0)",
     "[" RULE("c", OP("add", RELU(ANY), ANY)) "]", NULL, NULL, NULL, "nnapi.c(nn.relu,add;2) | %ret>nnapi;2/1 | "},
    {"merge/operands_of_subtract_do_not", "%0 = nn.relu(%x); subtract(%y, %0)",
     "[" RULE("c", OP("subtract", RELU(ANY), ANY)) "]", NULL, NULL, NULL, "| | nn.relu,subtract"},
    {"merge/constant_is_embedded", "add(%x, 2f)", "[" RULE("k", OP("add", ANY, "{'const': true}")) "]", NULL, NULL,
     NULL, "nnapi.k(add;1) | %ret>nnapi;1/1 | "},
    {"merge/constant_of_a_wildcard", "add(%x, 2f)", "[" RULE("k", OP("add", ANY, ANY)) "]", NULL, NULL, NULL,
     "nnapi.k(add;2) | %ret>nnapi;1/1 | "},
    {"merge/constant_wanted", "add(%x, %y)", "[" RULE("k", OP("add", ANY, "{'const': true}")) "]", NULL, NULL, NULL,
     "| | add"},
    {"merge/any_operands", "add(%x, %x)", "[" RULE("k", "{'op': 'add'}") "]", NULL, NULL, NULL,
     "nnapi.k(add;1) | %ret>nnapi;1/1 | "},
    {"merge/number_of_operands", "add(%x, %y)", "[" RULE("k", OP("add", ANY)) "]", NULL, NULL, NULL, "| | add"},
    {"merge/first_alternative", "%0 = nn.relu(%x); tanh(%0)",
     "[" RULE("a", OP("tanh", "{'alt': [" RELU(ANY) ", '*']}")) "]", NULL, NULL, NULL,
     "nnapi.a(nn.relu,tanh;1) | %ret>nnapi;1/1 | "},
    {"merge/wildcard_before_it", "%0 = nn.relu(%x); tanh(%0)",
     "[" RULE("a", OP("tanh", "{'alt': ['*', " RELU(ANY) "]}")) "]", NULL, NULL, NULL,
     "nnapi.a(tanh;1) | %ret>nnapi;1/1 | nn.relu"},
    {"merge/optional_is_there", "%0 = add(%x, %y); nn.relu(%0)",
     "[" RULE("o", "{'optional': {'base': " OP("add", ANY, ANY) ", 'then': " RELU("'@'") "}}") "]", NULL, NULL, NULL,
     "nnapi.o(add,nn.relu;2) | %ret>nnapi;2/1 | "},
    {"merge/optional_is_not_there", "%0 = add(%x, %y); tanh(%0)",
     "[" RULE("o", "{'optional': {'base': " OP("add", ANY, ANY) ", 'then': " RELU("'@'") "}}") "]", NULL, NULL, NULL,
     "nnapi.o(add;2) | %0>nnapi;2/1 | tanh"},
    {"merge/optional_would_escape", "%0 = add(%x, %y); %1 = nn.relu(%0); (%1, %0)",
     "[" RULE("o", "{'optional': {'base': " OP("add", ANY, ANY) ", 'then': " RELU("'@'") "}}") "]", NULL, NULL, NULL,
     "nnapi.o(add;2) | %0>nnapi;2/1 | nn.relu"},
    {"merge/attributes", "%0 = clip(%x, a_min=0f, a_max=6f); clip(%0, a_min=0f, a_max=1f)",
     "[" RULE("c", "{'op': 'clip', 'args': ['*'], 'attrs': {'a_max': 6}}") "]", NULL, NULL, NULL,
     "nnapi.c(clip;1) | %0>nnapi;1/1 | clip"},
    {"merge/check_takes_the_default", "%0 = nn.softmax(%x); nn.softmax(%0, axis=0)",
     "[{'name': 'nnapi.s', 'pattern': {'op': 'nn.softmax', 'args': ['*'], 'id': 's'}, "
     "'check': [{'node': 's', 'attr': 'axis', 'default': -1, 'in': [-1]}]}]",
     NULL, NULL, NULL, "nnapi.s(nn.softmax;1) | %0>nnapi;1/1 | nn.softmax"},
    {"merge/failed_check_still_blocks",
     "%0 = clip(%x, a_min=0f, a_max=6f); %1 = clip(%0, a_min=0f, a_max=1f); clip(%1, a_min=0f, a_max=6f)",
     "[{'name': 'nnapi.cc', 'pattern': {'op': 'clip', 'args': [{'op': 'clip', 'args': ['*'], 'id': 'i'}]}, "
     "'check': [{'node': 'i', 'attr': 'a_max', 'in': [6]}]}]",
     NULL, NULL, NULL, "| | clip,clip,clip"},
    {"merge/failed_check_leaves_other_entries", "%0 = clip(%x, a_min=0f, a_max=1f); clip(%0, a_min=0f, a_max=6f)",
     "[{'name': 'nnapi.cc', 'pattern': {'op': 'clip', 'args': [{'op': 'clip', 'args': ['*'], 'id': 'i'}]}, "
     "'check': [{'node': 'i', 'attr': 'a_max', 'in': [6]}]}, " RULE("c", "{'op': 'clip'}") "]",
     NULL, NULL, NULL, "nnapi.c(clip;1) nnapi.c(clip;1) | %0,%ret>nnapi;1/1 | "},
    {"merge/tuple_and_fields", "%0 = split(%x, indices_or_sections=2); %1 = %0.1; %2 = %0.0; concatenate((%1, %2))",
     "[" RULE("h", OP("concatenate", "{'tuple': [{'get': {'op': 'split', 'args': ['*'], 'id': 's'}, 'index': 1}, "
                                     "{'get': {'ref': 's'}, 'index': 0}]}")) "]",
     NULL, NULL, NULL, "nnapi.h(split,concatenate;1) | %ret>nnapi;1/1 | "},
    {"merge/fields_in_other_order",
     "%0 = split(%x, indices_or_sections=2); %1 = %0.0; %2 = %0.1; concatenate((%1, %2))",
     "[" RULE("h", OP("concatenate", "{'tuple': [{'get': {'op': 'split', 'args': ['*'], 'id': 's'}, 'index': 1}, "
                                     "{'get': {'ref': 's'}, 'index': 0}]}")) "]",
     NULL, NULL, NULL, "| | split,concatenate"},
    {"merge/any_tuple", "concatenate((%x, %y, %x))", "[" RULE("c", OP("concatenate", "{'tuple': null}")) "]", NULL,
     NULL, NULL, "nnapi.c(concatenate;2) | %ret>nnapi;2/1 | "},
    {"merge/dominator", "%0 = nn.relu(%x); %1 = tanh(%0); %2 = exp(%0); add(%1, %2)",
     "[" RULE("d", "{'dominates': {'parent': " RELU(ANY) ", 'path': {'alt': [{'op': 'tanh'}, {'op': 'exp'}]}, "
                                                         "'child': {'op': 'add'}}}") "]",
     NULL, NULL, NULL, "nnapi.d(nn.relu,tanh,exp,add;1) | %ret>nnapi;1/1 | "},
    {"merge/dominator_that_leaks", "%0 = nn.relu(%x); %1 = tanh(%0); %2 = exp(%0); %3 = add(%1, %2); (%3, %1)",
     "[" RULE("d", "{'dominates': {'parent': " RELU(ANY) ", 'path': {'alt': [{'op': 'tanh'}, {'op': 'exp'}]}, "
                                                         "'child': {'op': 'add'}}}") "]",
     NULL, NULL, NULL, "| | nn.relu,tanh,exp,add"},
    {"merge/through_a_let", "let %a = add(%x, %y); nn.relu(%a)", RELU_ADD, NULL, NULL, NULL,
     "nnapi.ra(add,nn.relu;2) | %ret>nnapi;2/1 | "},
    {"merge/dead_code", "%0 = add(%x, %y); %1 = nn.relu(%0); tanh(%x)", RELU_ADD, NULL, NULL, NULL, "| | tanh"},
    {"merge/dead_user", "%0 = add(%x, %y); %1 = tanh(%0); nn.relu(%0)", RELU_ADD, NULL, NULL, NULL,
     "nnapi.ra(add,nn.relu;2) | %ret>nnapi;2/1 | "},
    {"merge/in_a_branch", "if (%c) { %0 = add(%x, %y); nn.relu(%0) } else { %x }", RELU_ADD, NULL, NULL, NULL,
     "nnapi.ra(add,nn.relu;2) | %ret>nnapi;2/1 | "},
    {"merge/not_across_a_branch", "%0 = add(%x, %y); if (%c) { nn.relu(%0) } else { %x }", RELU_ADD, NULL, NULL, NULL,
     "| | add,nn.relu"},
    {"merge/in_a_closure", "let %f = fn (%a: Tensor[(8), float32]) { %0 = add(%a, %y); nn.relu(%0) }; %f(%x)", RELU_ADD,
     NULL, NULL, NULL, "nnapi.ra(add,nn.relu;2) | %ret>nnapi;2/1 | "},
    {"merge/other_target", "%0 = add(%x, %y); nn.relu(%0)",
     "[{'name': 'nnapix.ra', 'pattern': " RELU(OP("add", ANY, ANY)) "}]", NULL, NULL, NULL,
     "nnapix.ra(add,nn.relu;2) | | nnapix.ra"},
    /* --------------------------------------------------------------- annotate */
    {"annotate/nothing", "%0 = nn.relu(%x); tanh(%0)", NULL, "[]", NULL, NULL, "| | nn.relu,tanh"},
    {"annotate/first_target_that_accepts", "%0 = nn.relu(%x); tanh(%0)", NULL,
     "{'a': ['tanh'], 'b': ['nn.relu', 'tanh']}", NULL, NULL, "| %0>b;1/1 %ret>a;1/1 | "},
    {"annotate/order_of_targets", "%0 = nn.relu(%x); tanh(%0)", NULL, "{'a': ['tanh'], 'b': ['nn.relu', 'tanh']}",
     "b,a", NULL, "| %0,%ret>b;1/1 | "},
    {"annotate/target_without_support", "nn.relu(%x)", NULL, "{'a': [], 'b': ['nn.relu']}", "a", NULL, "| | nn.relu"},
    {"annotate/condition", "%0 = clip(%x, a_min=0f, a_max=6f); clip(%0, a_min=0f, a_max=1f)", NULL,
     "[{'op': 'clip', 'attr': 'a_max', 'in': [6, 7]}]", NULL, NULL, "| %0>nnapi;1/1 | clip"},
    {"annotate/condition_default", "%0 = nn.softmax(%x); nn.softmax(%0, axis=0)", NULL,
     "[{'op': 'nn.softmax', 'attr': 'axis', 'default': -1, 'in': [-1]}]", NULL, NULL, "| %0>nnapi;1/1 | nn.softmax"},
    {"annotate/either_condition", "%0 = clip(%x, a_min=0f, a_max=6f); clip(%0, a_min=0f, a_max=1f)", NULL,
     "[{'op': 'clip', 'attr': 'a_max', 'in': [6]}, {'op': 'clip', 'attr': 'a_max', 'in': [1]}]", NULL, NULL,
     "| %0,%ret>nnapi;1/1 | "},
    {"annotate/no_operands", "%0 = zeros(shape=[8], dtype='float32'); add(%0, %x)", NULL, "['zeros', 'add']", NULL,
     NULL, "| %ret>nnapi;2/1 | zeros"},
    {"annotate/composite_by_its_name", "%0 = add(%x, %y); %1 = nn.relu(%0); tanh(%1)",
     "[{'name': 'b.ra', 'pattern': " RELU(OP("add", ANY, ANY)) "}]", "{'a': ['tanh', 'add'], 'b': []}", NULL, NULL,
     "b.ra(add,nn.relu;2) | %1>b;2/1 %ret>a;1/1 | "},
    {"annotate/calls_are_boundaries",
     "let %f = fn (%a: Tensor[(8), float32]) { %a }; %0 = nn.relu(%x); %1 = %f(%0); "
     "add(%0, %1)",
     NULL, USUAL, NULL, NULL, "| %0>nnapi;1/1 %ret>nnapi;2/1 | "},
    /* ----------------------------------------------------------------- regions */
    {"regions/chain", "%0 = nn.relu(%x); %1 = abs(%0); %2 = exp(%1); nn.relu(%2)", NULL, USUAL, NULL, NULL,
     "| %0,%1>nnapi;1/1 %ret>nnapi;1/1 | exp"},
    {"regions/diamond", "%0 = nn.relu(%x); %1 = abs(%0); %2 = exp(%0); add(%1, %2)", NULL, USUAL, NULL, NULL,
     "| %0,%1>nnapi;1/2 %ret>nnapi;2/1 | exp"},
    {"regions/diamond_of_one_target", "%0 = nn.relu(%x); %1 = abs(%0); %2 = nn.relu(%0); add(%1, %2)", NULL, USUAL,
     NULL, NULL, "| %0,%1,%2,%ret>nnapi;1/1 | "},
    {"regions/left_operand_first",
     "%0 = nn.relu(%x); %1 = exp(%0); %2 = abs(%1); %3 = exp(%2); %4 = add(%2, %0); "
     "(%3, %4)",
     NULL, USUAL, NULL, NULL, "| %0>nnapi;1/1 %2,%4>nnapi;2/2 | exp,exp"},
    /* what one region is joined with later waits for what another one gave before */
    {"regions/stale_restrictions",
     "%0 = nn.relu(%x); %1 = exp(%0); %2 = abs(%y); %3 = tanh(%2); %4 = add(%2, %3); %5 = multiply(%4, %0); "
     "%6 = subtract(%2, %1); (%1, %5, %6)",
     NULL, USUAL, NULL, NULL, "| %0,%4,%5>nnapi;3/2 %2>nnapi;1/1 %6>nnapi;2/1 | exp,tanh"},
    /* single operations of the host do not wait for each other */
    {"regions/host_is_not_one", "%0 = nn.relu(%x); %1 = exp(%0); %2 = exp(%y); %3 = add(%0, %2); (%1, %3)", NULL, USUAL,
     NULL, NULL, "| %0,%3>nnapi;2/2 | exp,exp"},
    {"regions/siblings_stay_apart", "%0 = nn.relu(%x); %1 = abs(%x); %2 = exp(%0); %3 = exp(%1); (%2, %3)", NULL, USUAL,
     NULL, NULL, "| %0>nnapi;1/1 %1>nnapi;1/1 | exp,exp"},
    {"regions/joined_by_a_user", "%0 = nn.relu(%x); %1 = abs(%y); add(%0, %1)", NULL, USUAL, NULL, NULL,
     "| %0,%1,%ret>nnapi;2/1 | "},
    {"regions/tuple_with_a_parameter", "%0 = nn.relu(%x); %1 = (%0, %y); concatenate(%1)", NULL, USUAL, NULL, NULL,
     "| %0,%ret>nnapi;2/1 | "},
    {"regions/nested_tuples", "%0 = nn.relu(%x); %1 = (%0, %y); %2 = (%1, %x); %3 = %2.0; concatenate(%3)", NULL, USUAL,
     NULL, NULL, "| %0,%ret>nnapi;2/1 | "},
    {"regions/projection", "%0 = split(%x, indices_or_sections=2); %1 = %0.1; nn.relu(%1)", NULL, USUAL, NULL, NULL,
     "| %0,%ret>nnapi;1/1 | "},
    {"regions/projection_of_a_tuple_has_no_rest", "%0 = exp(%x); %1 = (%0, %y); %2 = %1.1; nn.relu(%2)", NULL, USUAL,
     NULL, NULL, "| %ret>nnapi;1/1 | "},
    {"regions/targets_alternate", "%0 = nn.relu(%x); %1 = tanh(%0); %2 = nn.relu(%1); %3 = tanh(%2); add(%0, %3)", NULL,
     "{'a': ['nn.relu', 'add'], 'b': ['tanh']}", NULL, NULL, "| %0>a;1/1 %1>b;1/1 %2>a;1/1 %3>b;1/1 %ret>a;2/1 | "},
    {"regions/two_targets_side_by_side", "%0 = nn.relu(%x); %1 = tanh(%0); %2 = abs(%0); %3 = tanh(%1); add(%2, %3)",
     NULL, "{'a': ['nn.relu', 'add', 'abs'], 'b': ['tanh']}", NULL, NULL, "| %0,%2>a;1/2 %1,%3>b;1/1 %ret>a;2/1 | "},
    {"regions/branches", "%0 = nn.relu(%x); if (%c) { %1 = abs(%0); nn.relu(%1) } else { add(%0, %y) }", NULL, USUAL,
     NULL, NULL, "| %0>nnapi;1/1 %1,%ret>nnapi;1/1 %ret>nnapi;2/1 | "},
    {"regions/written_outside_a_branch", "%0 = nn.relu(%x); if (%c) { abs(%0) } else { %x }", NULL, USUAL, NULL, NULL,
     "| %0>nnapi;1/1 %ret>nnapi;1/1 | "},
    {"regions/behind_an_if", "%0 = nn.relu(%x); %1 = if (%c) { exp(%0) } else { %x }; add(%0, %1)", NULL, USUAL, NULL,
     NULL, "| %0>nnapi;1/1 %ret>nnapi;2/1 | exp"},
    {"regions/beside_an_if", "%0 = nn.relu(%x); %1 = if (%c) { exp(%0) } else { %x }; %2 = abs(%0); (%1, %2)", NULL,
     USUAL, NULL, NULL, "| %0,%2>nnapi;1/2 | exp"},
    {"regions/branches_of_branches",
     "if (%c) { %0 = nn.relu(%x); if (%c) { abs(%0) } else { %1 = abs(%y); nn.relu(%1) } } else { %y }", NULL, USUAL,
     NULL, NULL, "| %0>nnapi;1/1 %ret>nnapi;1/1 %1,%ret>nnapi;1/1 | "},
    {"regions/closure_takes_from_outside",
     "%0 = nn.relu(%x); let %f = fn (%a: Tensor[(8), float32]) { %1 = abs(%a); add(%1, %0) }; %2 = %f(%0); abs(%2)",
     NULL, USUAL, NULL, NULL, "| %1,%ret>nnapi;2/1 %0>nnapi;1/1 %ret>nnapi;1/1 | "},
    {"regions/through_lets", "let %a = nn.relu(%x); let %b = exp(%y); let %d = abs(%a); (%b, %d)", NULL, USUAL, NULL,
     NULL, "| %a,%d>nnapi;1/1 | exp"},
    {"regions/recursive_closure",
     "let %loop = fn (%a: Tensor[(8), float32]) -> Tensor[(8), float32] { %0 = nn.relu(%a); %1 = abs(%0); if (%c) { "
     "%loop(%1) "
     "} else { abs(%1) } }; %2 = nn.relu(%x); %loop(%2)",
     NULL, USUAL, NULL, NULL, "| %0,%1>nnapi;1/1 %ret>nnapi;1/1 %2>nnapi;1/1 | "},
    {"regions/dead_code", "%0 = nn.relu(%x); %1 = abs(%0); %2 = exp(%0); abs(%0)", NULL, USUAL, NULL, NULL,
     "| %0,%ret>nnapi;1/1 | "},
    /* ---------------------------------------------------------------- partition */
    {"cut/equal_operands_once", "%0 = add(%x, %x); add(%0, %x)", NULL, USUAL, NULL, NULL, "| %0,%ret>nnapi;1/1 | "},
    {"cut/constants_are_bound", "%0 = add(%x, 1f); multiply(%0, 2f)", NULL, USUAL, NULL, NULL,
     "| %0,%ret>nnapi;1/1 | "},
    {"cut/constant_in_a_tuple", "%0 = reshape(%x, newshape=[8]); concatenate((%0, meta[relay.Constant][0]))", NULL,
     USUAL, NULL, NULL, "| %ret>nnapi;1/1 | reshape"},
    {"cut/one_output_for_many_uses", "%0 = nn.relu(%x); %1 = exp(%0); %2 = tanh(%0); (%0, %1, %2)", NULL, USUAL, NULL,
     NULL, "| %0>nnapi;1/1 | exp,tanh"},
    {"cut/twice_in_the_result", "%0 = nn.relu(%x); (%0, %0)", NULL, USUAL, NULL, NULL, "| %0>nnapi;1/1 | "},
    {"cut/several_outputs", "%0 = nn.relu(%x); %1 = abs(%0); (%0, %1)", NULL, USUAL, NULL, NULL,
     "| %0,%1>nnapi;1/2 | "},
    {"cut/fields_are_outputs",
     "%0 = split(%x, indices_or_sections=4); %1 = %0.0; %2 = %0.1; %3 = %0.3; %4 = abs(%3); %5 = exp(%1); %6 = "
     "exp(%2); "
     "(%4, %5, %6)",
     NULL, USUAL, NULL, NULL, "| %0,%4>nnapi;1/3 | exp,exp"},
    {"cut/whole_tuple_and_field", "%0 = split(%x, indices_or_sections=2); %1 = %0.0; %2 = exp(%1); (%0, %2)", NULL,
     USUAL, NULL, NULL, "| %0>nnapi;1/2 | exp"},
    {"cut/tuple_parameter", "concatenate(%t)", NULL, USUAL, NULL, NULL, "| %ret>nnapi;2/1 | "},
    {"cut/tuple_and_its_field", "%0 = concatenate(%t); %1 = %t.0; %2 = concatenate((%1, %1)); (%0, %2)", NULL, USUAL,
     NULL, NULL, "| %0>nnapi;2/1 %2>nnapi;1/1 | "},
    {"cut/equal_projections", "%0 = %t.0; %1 = %t.0; add(%0, %1)", NULL, USUAL, NULL, NULL, "| %ret>nnapi;1/1 | "},
    {"cut/tuple_of_another_region",
     "%0 = split(%x, indices_or_sections=2); %1 = concatenate(%0); %2 = split(%1, indices_or_sections=2); "
     "concatenate(%2)",
     NULL, "{'a': ['split'], 'b': ['concatenate']}", NULL, NULL, "| %0>a;1/2 %1>b;2/1 %2>a;1/2 %ret>b;2/1 | "},
    {"cut/prune_small", "%0 = nn.relu(%x); %1 = exp(%0); %2 = abs(%1); add(%2, %2)", NULL, USUAL, NULL,
     "{'min_ops': 2}", "| %2,%ret>nnapi;1/1 | nn.relu,exp"},
    {"cut/prune_without", "%0 = nn.relu(%x); %1 = exp(%0); %2 = abs(%1); add(%2, %2)", NULL, USUAL, NULL,
     "{'keep_if_any': ['nn.relu', 'nn.conv2d']}", "| %0>nnapi;1/1 | exp,abs,add"},
    {"cut/prune_looks_into_composites", "%0 = add(%x, %y); %1 = nn.relu(%0); %2 = exp(%1); abs(%2)", RELU_ADD,
     "['abs']", NULL, "{'keep_if_any': ['add']}", "nnapi.ra(add,nn.relu;2) | %1>nnapi;2/1 | exp,abs"},
    {"cut/composite_counts_as_one", "%0 = add(%x, %y); nn.relu(%0)", RELU_ADD, NULL, NULL, "{'min_ops': 2}",
     "| | add,nn.relu"},
    /* -------------------------------------------------- conditions on types, and several */
    {"annotate/element_type", HALF, NULL, "[{'op': 'nn.relu', 'dtype': ['float16']}]", NULL, NULL,
     "| %1>nnapi;1/1 | cast,nn.relu"},
    {"annotate/rank", FOLDED, NULL, "[{'op': 'nn.relu', 'rank': [2, 3]}]", NULL, NULL,
     "| %1>nnapi;1/1 | reshape,nn.relu"},
    {"annotate/shape", FOLDED, NULL, "[{'op': 'nn.relu', 'shape': [2, null]}]", NULL, NULL,
     "| %1>nnapi;1/1 | reshape,nn.relu"},
    {"annotate/other_shape", FOLDED, NULL, "[{'op': 'nn.relu', 'shape': [2, 3]}]", NULL, NULL,
     "| | reshape,nn.relu,nn.relu"},
    {"annotate/type_of_the_result", THERE_AND_BACK, NULL, "[{'op': 'cast', 'dtype': ['float16']}]", NULL, NULL,
     "| %0>nnapi;1/1 | cast"},
    {"annotate/type_of_an_operand", THERE_AND_BACK, NULL, "[{'op': 'cast', 'dtype': ['float16'], 'operand': 0}]", NULL,
     NULL, "| %ret>nnapi;1/1 | cast"},
    {"annotate/operand_that_is_not_there", "nn.relu(%x)", NULL, "[{'op': 'nn.relu', 'rank': [1], 'operand': 2}]", NULL,
     NULL, "| | nn.relu"},
    {"annotate/all_conditions", CLIPS, NULL,
     "[{'op': 'clip', 'all': [{'attr': 'a_min', 'in': [0]}, {'attr': 'a_max', 'in': [6]}]}]", NULL, NULL,
     "| %0>nnapi;1/1 | clip"},
    {"annotate/attribute_and_type", CLIPS, NULL, "[{'op': 'clip', 'attr': 'a_max', 'in': [6], 'dtype': ['float16']}]",
     NULL, NULL, "| | clip,clip"},
    {"merge/all_checks", CLIPS,
     "[{'name': 'nnapi.c', 'pattern': {'op': 'clip', 'id': 'c'}, 'check': [{'node': 'c', 'attr': 'a_min', 'in': [0]}, "
     "{'node': 'c', 'attr': 'a_max', 'in': [6]}]}]",
     NULL, NULL, NULL, "nnapi.c(clip;1) | %0>nnapi;1/1 | clip"},
    {"merge/check_of_a_type", HALF,
     "[{'name': 'nnapi.h', 'pattern': {'op': 'nn.relu', 'id': 'r'}, 'check': [{'node': 'r', 'dtype': ['float16']}]}]",
     NULL, NULL, NULL, "nnapi.h(nn.relu;1) | %1>nnapi;1/1 | cast,nn.relu"},
    /* ------------------------------------------------------ members that nobody knows */
    {"annotate/unknown_member", "nn.relu(%x)", NULL, "[{'op': 'add', 'dtypes': []}]", NULL, NULL,
     "! [0]: unknown member 'dtypes'"},
    {"annotate/no_element_type", "nn.relu(%x)", NULL, "[{'op': 'add', 'dtype': ['float32', 3]}]", NULL, NULL,
     "! \"dtype\" is a list of element types"},
    {"annotate/unknown_member_of_a_condition", "nn.relu(%x)", NULL,
     "[{'op': 'add', 'all': [{'attr': 'a', 'in': [], 'or': 1}]}]", NULL, NULL, "! [0].all[0]: unknown member 'or'"},
    {"annotate/empty_condition", "nn.relu(%x)", NULL, "[{'op': 'add', 'all': [{}]}]", NULL, NULL, "! a condition says"},
    {"merge/unknown_member", "nn.relu(%x)", "[{'name': 'a.b', 'pattern': '*', 'checks': []}]", NULL, NULL, NULL,
     "! [0]: unknown member 'checks'"},
    {"merge/unknown_member_of_a_pattern", "nn.relu(%x)", "[{'name': 'a.b', 'pattern': {'op': 'add', 'shape': [1]}}]",
     NULL, NULL, NULL, "! [0].pattern: unknown member 'shape'"},
    {"merge/unknown_member_of_a_table", "nn.relu(%x)", "{'patterns': [], 'defines': {}}", NULL, NULL, NULL,
     "! unknown member 'defines'"},
    {"cut/unknown_rule", "nn.relu(%x)", NULL, NULL, NULL, "{'min_opss': 9}", "! unknown member 'min_opss'"},
    /* -------------------------------------------------------------- choosing by cost */
    {"cost/two_regions_pay", CHAIN, NULL, CHEAP, NULL, PROFILE("1", "0.5", "0.25", ""),
     "| %0,%1>nnapi;1/1 %3,%ret>nnapi;1/1 | exp"},
    {"cost/less_than_the_noise", CHAIN, NULL, CHEAP, NULL, PROFILE("1", "0.5", "5", ""), NO_REGION},
    /* the first saves 3.5 and the second 1.5; the noise of each is 2 */
    {"cost/noise_of_each_region", CHAIN, NULL, CHEAP, NULL, PROFILE("4", "0.5", "0.5", ""),
     "| %0,%1>nnapi;1/1 | exp,sqrt,tanh"},
    {"cost/tensors_cross", CHAIN, NULL, CHEAP, NULL, PROFILE("1", "5", "0", ""), NO_REGION},
    {"cost/measured_regions", CHAIN, NULL, CHEAP, NULL, PROFILE("1000", "0.5", "0", REGIONS("1.5", "2")),
     "| %0,%1>nnapi;1/1 %3,%ret>nnapi;1/1 | exp"},
    {"cost/measured_regions_are_dearer", CHAIN, NULL, CHEAP, NULL, PROFILE("1", "0.5", "0", REGIONS("30", "30")),
     NO_REGION},
    {"cost/measured_region_is_refused", CHAIN, NULL, CHEAP, NULL, PROFILE("1", "0.5", "0", REGIONS("1", "null")),
     NO_REGION},
    {"cost/targets", CHAIN, NULL, TWO_TARGETS, NULL, PROFILE("1", "0.5", "0", ""), "| %0,%1>a;1/1 %3,%ret>b;1/1 | exp"},
    {"cost/launch_of_a_target", CHAIN, NULL, TWO_TARGETS, NULL,
     PROFILE("1", "0.5", "0", ", 'targets': {'b': {'launch_us': 50}}"), "| %0,%1>a;1/1 | exp,sqrt,tanh"},
    {"cost/time_of_a_target", CHAIN, NULL, "{'a': ['abs'], 'b': ['sqrt']}", NULL,
     STRUCTURE_COSTS "{'target': {'launch_us': 0}, 'crossing': {'us': 0}, 'ops': {'abs" OF_X "': {'host': 9, "
                     "'target': 1, 'targets': {'a': 20}}, 'sqrt" OF_X "': {'host': 9, 'target': 1}}}",
     "| %3>b;1/1 | abs,nn.relu,exp,tanh"},
    /* -------------------------------------------------------- values by what they are for */
    {"values/variance", "%0 = nn.batch_norm(%x, %x, %x, %x, %y, axis=0); %0.0", NULL, NULL, NULL, NULL,
     "| | nn.batch_norm"},
    {"values/root", "sqrt(%x)", NULL, NULL, NULL, NULL, "| | sqrt"},
    {"values/logarithm", "log(%y)", NULL, NULL, NULL, NULL, "| | log"},
};
const size_t structure_case_count = sizeof structure_cases / sizeof *structure_cases;

enum { MOST_TARGETS = 8 };

static const char *quoted(const char *text, struct nnv_arena *arena) {
    char *copy = text ? nnv_arena_strdup(arena, text) : NULL;
    for (char *p = copy; p && *p; p++)
        if (*p == '\'') *p = '"';
    return copy;
}

static bool same_line(const struct structure_case *c, const char *program, const struct nnv_partition *p,
                      struct nnv_text *why) {
    struct nnv_text line = {0};
    nnv_divided_line(p, &line);
    size_t len = line.len, want = strlen(c->expected);
    while (len && line.data[len - 1] == ' ') len--;
    while (want && c->expected[want - 1] == ' ') want--;
    bool same = len == want && !memcmp(line.data, c->expected, want);
    if (!same) nnv_text_addf(why, "%.*s\ninstead of\n%s\n%s", (int)len, line.data, c->expected, program);
    nnv_text_free(&line);
    return same;
}

bool structure_case_holds(const struct structure_case *c, const struct compiler_fault *fault, struct nnv_arena *arena,
                          struct nnv_text *why) {
    static const char head[] = "def @main(%x: Tensor[(8), float32], %y: Tensor[(8), float32], %c: bool, "
                               "%t: (Tensor[(8), float32], Tensor[(8), float32])) {\n";
    const char *targets[MOST_TARGETS];
    struct nnv_divide d = {.patterns = quoted(c->patterns, arena),
                           .support = quoted(c->support, arena),
                           .targets = targets,
                           .fault = fault};
    const char *prune = quoted(c->prune, arena);
    const bool by_cost = prune && !strncmp(prune, STRUCTURE_COSTS, strlen(STRUCTURE_COSTS));
    *(by_cost ? &d.costs : &d.prune) = by_cost ? prune + strlen(STRUCTURE_COSTS) : prune;
    char *rest = c->targets ? nnv_arena_strdup(arena, c->targets) : NULL;
    for (char *name; rest && d.n_targets < MOST_TARGETS && (name = strsep(&rest, ","));) targets[d.n_targets++] = name;
    d.text = quoted(nnv_arena_printf(arena, "%s%s\n}\n", head, c->body), arena);
    struct nnv_divided divided;
    struct nnv_err err = {0};
    const bool refused = d.text && nnv_divide(&d, arena, &divided, &err) != NNV_OK;
    const char *message = c->expected[0] == '!' ? c->expected + strlen("! ") : NULL;
    if (!d.text || refused != (message != NULL) || (refused && !strstr(err.text, message))) {
        nnv_text_addf(why, "%s\ninstead of\n%s", d.text ? err.text : "out of memory", c->expected);
        return false;
    }
    if (refused) return true;
    /* the interpreter needs the values of constants, and an end */
    bool runs = !strstr(c->body, "meta[") && !strstr(c->body, "%loop");
    return same_line(c, d.text, &divided.partition, why) && nnv_divided_holds(&divided, runs, 1, arena, why);
}
