#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The cases of suite ops cover the attributes of operations pairwise, and nnvts list --coverage measures it.
. "$(dirname "$0")/lib.sh"

# Of each operation but IF and WHILE, which have no attributes, every type has every pair of values.
test_each_pair_has_a_case_in_every_type() {
    check 0 nnvts list --suite ops --coverage
    local all
    all=$(($(nnvts list --suite ops --json | sed 's/.*"op":"\([^"]*\)".*/\1/' | sort -u | wc -l) - 2))
    has "$OUT" "$all of $all operations: each pair of values of two attributes has a case in every type"
    awk 'NF == 7 && $5 + 0 != $6 { print "not covered: " $0; bad = 1 } END { exit bad }' "$OUT" || fail "$(cat "$OUT")"
    same "$(awk '$1 == "CONV_2D" { print $2, $3 }' "$OUT")" "10 6"
}

# What is not listed is not covered.
test_fewer_cases_cover_less() {
    check 0 nnvts list --suite ops --filter 'ops/CONV_2D/float32/cover/?' --coverage
    has "$OUT" "0 of 1 operations"
    check 0 nnvts list --suite ops --filter 'ops/CONV_2D/*/cover/*' --coverage
    has "$OUT" "1 of 1 operations"
    check 0 nnvts list --suite ops --filter 'ops/CONV_2D/*/cover/*' --coverage --json
    same "$(sed 's/.*"pairs":\([0-9]*\),"covered":\([0-9]*\).*/\1 \2/' "$OUT" | awk '{ print $1 == $2 }')" 1
}

# What a convolution of the cover or of a network has, the spec says; a driver is judged on it.
test_attributes_are_in_the_spec() {
    check 0 nnvts run --driver cpu --filter 'ops/CONV_2D/*/layer/mobilenet_first/*' --out run
    has "$OUT" "0 failed"
    check 0 nnvts list --suite ops --tier full --filter 'ops/CONV_2D/float32/network/*'
    has "$OUT" "ops/CONV_2D/float32/network/mobilenet_first/0"
    # A large tensor: one of a heavy operation, one of each type of a light one.
    check 0 nnvts list --suite ops --filter 'ops/*/size_64k/0'
    same "$(sed 's|ops/\([^/]*\)/.*|\1|' "$OUT" | uniq -d | grep -E 'CONV|POOL|RESIZE|MATMUL|CONNECTED|LSTM|RNN|SOFTMAX|NORMALIZATION|ROI|HEATMAP')" ""
    [ "$(grep -c ops/ADD/ "$OUT")" = 5 ] || fail "not one large case of each type of ADD"
    # Large planes, channels first, are for operations on images; others have many rows, in one type.
    check 0 nnvts list --suite ops --filter 'ops/*/size_64k/1'
    has "$OUT" "ops/RESIZE_BILINEAR/"
    same "$(grep -c ops/ADD/ "$OUT")" 1
}

# Cases for which no graph can be drawn cover nothing, and the others count all the same.
test_cases_without_a_graph_are_left_out() {
    check 0 nnvts list --suite fusion,relations --filter '!fusion/* | fusion/conv+relu/*' --coverage
    has "$OUT" "graphs of "
}

# Cases of edges with these numbers alone would compare nothing, and are drawn again.
test_edges_are_compared() {
    check 0 nnvts run --driver cpu --tier full --seed 2 --filter 'ops/DIV/float16/one_edge/*|ops/PRELU/float16/one_edge/*' --out edges
}

# A driver of some operations gets graphs of these; one that has nearly all gets all.
test_graphs_of_what_a_driver_has() {
    check 0 nnvts run --driver sample:float-fast --suite randgraph --out part
    has part/journal.jsonl '"graphs":"'
    has part/report.html 'operations x types, in'
    [ "$(verdict part PASS)" -gt 150 ] || fail "$(verdict part PASS) graphs were executed"
    check 0 nnvts run --driver sample:float-fast --suite randgraph --out again --jobs 1
    same "$(verdicts part)" "$(verdicts again)"
    check 0 nnvts run --driver cpu --suite randgraph --out whole
    hasnt whole/journal.jsonl '"graphs":"'
}
run_tests
