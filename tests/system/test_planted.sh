#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# planted.tsv: each planted bug is caught by the suite that is for it, with the verdict that is due; and no suite raises
# an alarm on drivers without a bug.
. "$(dirname "$0")/lib.sh"
TABLE=$ROOT/tests/system/planted.tsv

suites() { grep -v '^#' "$TABLE" | cut -f 2 | sort -u; }

test_every_planted_bug_is_caught() {
    local bug suite verdict
    while IFS=$'\t' read -r bug suite verdict; do
        case $bug in '' | '#'*) continue ;; esac
        check 1 nnvts run --driver "faulty:$bug" --suite "$suite" --timeout 2 --out planted
        grep -q "\"verdict\": *\"$verdict\"" planted/journal.jsonl || fail "faulty:$bug: no $verdict in suite $suite"
    done <"$TABLE"
}
test_each_suite_catches_five() {
    local suite
    for suite in $(suites); do
        [ "$(grep -v '^#' "$TABLE" | cut -f 2 | grep -cx "$suite")" -ge 5 ] || fail "suite $suite: fewer than 5 planted bugs"
    done
}
test_no_false_alarm() {
    local driver suite
    for driver in cpu reference faulty:none; do
        for suite in $(suites); do check 0 nnvts run --driver "$driver" --suite "$suite" --out quiet; done
    done
}
run_tests
