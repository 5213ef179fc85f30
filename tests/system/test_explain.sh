#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts explain names the planted numerical bugs from their dumps (explain.tsv), and tells what it cannot explain.
. "$(dirname "$0")/lib.sh"
try_nothing_again
TABLE=$ROOT/tests/system/explain.tsv
MOST=12 # dumps of a bug

# explanations BUG FILTER: a line "kind names" for each dump: the mistakes that give the driver's values
explanations() {
    check 1 nnvts run --driver "faulty:$1" --suite ops --tier smoke --filter "$2" --timeout 5 --out out
    find out/dumps -name '*.json' | sort | head -n $MOST >dumps
    [ -s dumps ] || fail "$1: no dumps"
    # shellcheck disable=SC2046
    check 1 nnvts explain $(cat dumps) --driver "faulty:$1" --json
    same "$(wc -l <"$OUT")" "$(wc -l <dumps)" "$1: explanations"
    local line kind
    while IFS= read -r line; do
        kind=${line#*\"explained\":\"}
        echo "${kind%%\"*}" "$(grep -o '"name":"[^"]*","words":"[^"]*","matched":[0-9]*,"same_values":true' <<<"$line" | cut -d '"' -f 4 | tr '\n' ' ')"
    done <"$OUT"
}
# Of all explanations at least 70 % are right and at most 5 % name something else; each bug is named at least once.
test_planted_bugs_are_named() {
    local bug filter names kind found name all=0 right=0 wrong=0 once
    while IFS=$'\t' read -r bug filter names; do
        case $bug in '' | '#'*) continue ;; esac
        explanations "$bug" "$filter" >told
        once=0
        while read -r kind found; do
            all=$((all + 1))
            for name in $names; do
                case " $kind $found " in *" $name "*) right=$((right + 1)) once=1 kind=right && break ;; esac
            done
            [ "$kind" != mistake ] || wrong=$((wrong + 1))
        done <told
        [ $once = 1 ] || fail "$bug: never called one of: $names ($(sort told | uniq -c | tr '\n' ';'))"
        rm -rf out
    done <"$TABLE"
    echo "    $right of $all explanations right, $wrong wrong"
    [ $((100 * right)) -ge $((70 * all)) ] || fail "only $right of $all are right"
    [ $((100 * wrong)) -le $((5 * all)) ] || fail "$wrong of $all are wrong"
}
# Random graphs that fail: reduced, bisected and explained, all of these; a loop with an iteration too few is not.
test_rates_on_random_graphs() {
    check 0 "$ROOT/tools/debug-rates.sh" -b "$NNVTS_BUILD" -o "$PWD/rates" -n 1 -c 320 \
        relu6-as-relu norm-gamma-ignored add-scale-ignored constant-output lstm-gates-swapped split-order
    has "$OUT" "| **6 bugs** | 6 | 6 (100.0 %) | 6 (100.0 %) | 6 (100.0 %) | 0 (0.0 %) |"
    check 1 "$ROOT/tools/debug-rates.sh" -b "$NNVTS_BUILD" -o "$PWD/rates" -n 1 -c 320 last-iteration-missing
}
# What others make of a wrong result does not hide which mistake it is.
test_one_operation_is_isolated() {
    check 1 nnvts run --driver faulty:argmin-as-argmax --suite randgraph --count 200 --filter '!randgraph/single/*' --out out
    check 1 nnvts explain out/dumps/*.json --driver faulty:argmin-as-argmax --json
    grep '"isolated":{"operation":[0-9]*,"name":"ARGMIN"}' "$OUT" >isolated || fail "no operation was isolated"
    hasnt <(grep -v '"name":"largest-for-least"' isolated) isolated
    check 1 nnvts explain out/dumps/*.json --driver faulty:argmin-as-argmax
    has "$OUT" "(ARGMIN) is the first that goes wrong; alone, on the same inputs, "
}
# A run says under which condition a bug shows: on the console, in the reports, and of a dump of it.
test_the_condition_is_told() {
    local bug filter words
    while IFS='|' read -r bug filter words; do
        check 1 nnvts run --driver "faulty:$bug" --suite ops --filter "$filter" --out "out.$bug"
        grep -qE -- "$words" "$OUT" || fail "$bug: '$words' is not in $(tail -n 4 "$OUT")"
    done <<'END'
padding-undilated|op:CONV_2D|only where dilation is not 1x1 and (padding scheme is )?SAME
depthwise-bias-by-input|op:DEPTHWISE_CONV_2D|only where multiplier > 1
odd-groups-last|op:GROUPED_CONV_2D|input, axis 3: repeated after 6; only where groups > 2( and groups != 4| \()
argmin-as-argmax|op:ARGMIN|position of the largest for that of the least; only where extent along the axis > 1( \(|;)
large-filter-cut|op:CONV_2D|filter, axis 1: lost from 7 on; only where height of filter > ([789]|10) \(
END
    has out.odd-groups-last/summary.json '"where": "only where groups > 2'
    has out.odd-groups-last/report.html '<p>Fails only where groups &gt; 2'
    has out.padding-undilated/summary.json '"where": "only where dilation is not 1x1 and '
    has out.padding-undilated/report.html 'Fails only where dilation is not 1x1 and '
    has out.odd-groups-last/junit.xml 'GROUPED_CONV_2D'
    grep 'property name="bug.1"' out.odd-groups-last/junit.xml | grep 'only where groups &gt; 2' >/dev/null || fail "no property"
    # a dump says it, too, but for those of failures that stand alone
    local dump told=
    for dump in out.odd-groups-last/dumps/*.json; do
        check 1 nnvts explain "$dump" --driver faulty:odd-groups-last
        ! grep -q "in its run it failed only where groups > 2" "$OUT" || told=1
        [ -z "$told" ] || break
    done
    [ -n "$told" ] || fail "no dump tells the condition"
}
# What is wrong in some kinds of executions alone, whatever is computed, is one bug, and says in which.
test_the_steps_are_told() {
    check 1 nnvts run --driver faulty:pool-offset-ignored --suite exec --tier smoke --out out
    has "$OUT" "1 bug behind"
    grep -E "values are wrong; bytes # to # of # were never written; only in exec/memory/(one_pool and exec/memory/pool_offset_fd_only|pool_offset_fd_only and exec/memory/one_pool)" "$OUT" >told ||
        fail "does not say in which steps, but: $(grep " x " "$OUT")"
    check 1 nnvts run --driver faulty:rnn-state-kept --filter 'suite:exec & !exec/at_once/*' --tier smoke --out out
    has "$OUT" "values are wrong; only where the case is exec/again/RNN"
}
# The first fault of a pair may make another operation of the one in hand: its inputs are not where they were.
test_pairs_of_faults_that_replace_the_operation() {
    check 1 nnvts run --driver faulty:pool-divisor-byte --filter 'suite:ops & op:AVERAGE_POOL_2D & tag:size' --flakes 0 -q --out out
}
test_right_answers_need_none() {
    check 0 nnvts explain "$ROOT/tests/conformance/example.json" --driver cpu
    has "$OUT" "nothing to explain: all 4 values are right"
    check 0 nnvts explain "$ROOT/tests/conformance/conv.jsonl" --driver cpu --json
    hasnt "$OUT" '"explained":"mistake"'
    has "$OUT" '"explained":"right"'
}
# Where no operation fails by itself there is none to be explained alone.
test_wrong_only_together() {
    check 1 nnvts run -d faulty:operations-merged -k 'fusion/add_channel+add_channel/float16/shared/0' --flakes 0 -q --out out
    check 1 nnvts explain out/dumps/*.json -d faulty:operations-merged
    has "$OUT" "no known mistake explains it"
}
test_says_it_in_words() {
    check 1 nnvts explain "$ROOT/tests/conformance/example.json" --driver faulty:activation-ignored
    has "$OUT" "1 of 4 values are wrong"
    has "$OUT" "activation-ignored           fused activation ignored (operation 0, ADD)"
    check 1 nnvts explain "$ROOT/tests/conformance/example.json" --driver faulty:activation-ignored --json
    has "$OUT" '"operation":0,"op":"ADD"}'
}
test_a_driver_that_dies() {
    check 1 nnvts explain "$ROOT/tests/conformance/example.json" --driver faulty:crash-execute@ADD
    has "$OUT" "no values to explain: the driver died with SIGSEGV in execute"
    check 1 nnvts explain "$ROOT/tests/conformance/example.json" --driver faulty:hang-execute@ADD --timeout 1
    has "$OUT" "did not end within 1 s in execute"
    check 1 nnvts explain "$ROOT/tests/conformance/example.json" --driver faulty:guard-write-after --json
    has "$OUT" '"explained":"no-answer"'
}
test_bad_input() {
    check 2 nnvts explain
    has "$ERR" "which spec?"
    check 2 nnvts explain "$ROOT/tests/conformance/example.json"
    has "$ERR" "which driver?"
    check 2 nnvts explain ./nosuch.json --driver cpu
    has "$ERR" "nosuch.json"
    check 2 nnvts explain "$ROOT/tests/conformance/example.json" --driver nosuch
    has "$ERR" "nosuch"
    check 2 nnvts explain "$ROOT/tests/conformance/example.json" --driver cpu --filter 'nothing*'
    has "$ERR" "no spec matches 'nothing*'"
    echo '{"format": "nnvts-spec/1"' >cut.json
    check 2 nnvts explain cut.json --driver cpu
    has "$ERR" "cut.json"
    sed 's/"expect_failure": false/"expect_failure": true/' "$ROOT/tests/conformance/example.json" >refused.json
    check 2 nnvts explain refused.json --driver cpu
    has "$ERR" "must refuse"
    sed 's/"dims": \[2\], "lifetime": "CONSTANT_COPY", "data": \[0.5, 1.25\]/"dims": [3], "lifetime": "CONSTANT_COPY", "data": [1, 2, 3]/' \
        "$ROOT/tests/conformance/example.json" >invalid.json
    check 2 nnvts explain invalid.json --driver cpu
    has "$ERR" "the model is not valid"
}
test_lists_the_bank() {
    check 0 nnvts explain --list
    [ "$(wc -l <"$OUT")" -ge 60 ] || fail "only $(wc -l <"$OUT") mistakes"
    same "$(cut -d ' ' -f 1 "$OUT" | sort | uniq -d)" ""
}
run_tests
