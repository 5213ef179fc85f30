#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# planted.tsv: each planted bug is caught by the suite that is for it, with the verdict that is due and, where the table has
# some, in these words; and no suite raises an alarm on drivers without a bug.
. "$(dirname "$0")/lib.sh"
try_nothing_again
TABLE=$ROOT/tests/system/planted.tsv

suites() { grep -v '^#' "$TABLE" | cut -f 2 | sort -u; }

# caught TIER BUG SUITE VERDICT WORDS
caught() {
    local code=0
    nnvts run --driver "faulty:$2" --suite "$3" --tier "$1" --timeout 2 --max-failures 40 --out planted >"$OUT" 2>"$ERR" </dev/null || code=$?
    [ $code = 1 ] && grep "\"verdict\": *\"$4\"" planted/journal.jsonl | grep -F -- "$5" >/dev/null
}
test_every_planted_bug_is_caught() {
    local bug suite verdict words
    while IFS=$'\t' read -r bug suite verdict words; do
        case $bug in '' | '#'*) continue ;; esac
        caught smoke "$bug" "$suite" "$verdict" "$words" || caught default "$bug" "$suite" "$verdict" "$words" ||
            fail "faulty:$bug: no $verdict in suite $suite${words:+, or not: $words}"
    done <"$TABLE"
}
# The buffer that was overrun is named: of a model with one output it is that.
test_the_overrun_buffer_is_named() {
    check 1 nnvts run --driver faulty:short-overrun --filter 'shapes/one_too_small/single/0' --flakes 0 --out out
    has out/journal.jsonl "execute wrote behind the buffer of output 0, which was given as too small"
}
test_each_suite_catches_five() {
    local suite
    for suite in $(suites); do
        [ "$(grep -v '^#' "$TABLE" | cut -f 2 | grep -cx "$suite")" -ge 5 ] || fail "suite $suite: fewer than 5 planted bugs"
    done
}
# (cpu and reference: test_run.sh)
test_no_false_alarm() {
    local suite
    for suite in $(suites); do check 0 nnvts run --driver faulty:none --suite "$suite" --out quiet; done
}
# Drivers that have a part of everything: what they claim holds, the rest is honestly unsupported.
test_no_false_alarm_on_partial_drivers() {
    local driver wrong
    check 0 nnvts drivers sample --json
    words() { sed -n "s/.*\"$1\":\[\([^]]*\)\].*/\1/p" "$OUT" | tr -d '" ' | tr ',' ' '; }
    wrong=$(words faults) # on purpose
    [ -n "$wrong" ] || fail "none is said to be wrong"
    for driver in $(words options); do
        case " $wrong " in *" $driver "*) continue ;; esac
        check 0 nnvts run --driver "sample:$driver" --out quiet
        hasnt quiet/summary.json '"PASS": 0'
    done
    same "$driver" level-1.1
}
test_a_level_1_driver_is_asked_for_no_more() {
    check 1 nnvts run --driver sample:level-1.0 --suite ops --filter 'op:ABS' --out quiet # nothing is compared
    has "$OUT" skip
}
# A parameter of a single number gets another value, too.
test_a_parameter_of_one_number_is_changed() {
    check 1 nnvts run --driver faulty:parameter-kept --filter 'shapes/parameters/REVERSE/*32' --flakes 0 --out out
    same "$(verdict out FAIL) $(verdict out PASS)" '2 0'
}
# Golden values may be right where the driver contradicts itself: the line that reproduces it runs the case again, and the
# dumped graph is an ordinary spec, right on a driver without the bug.
test_a_contradiction_is_dumped_and_reproduced() {
    check 1 nnvts run --driver faulty:relu-in-place --suite relations --filter 'relations/operation_unused/*' --out out
    local line dump
    line=$(sed -n 's/.*"replay": *"\([^"]*\)".*/\1/p' out/journal.jsonl | head -n 1)
    case $line in "nnvts run "*) ;; *) fail "reproduced by: $line" ;; esac
    check 1 bash -c "$line --out again"
    dump=$(ls out/dumps/*.json | head -n 1)
    check 0 nnvts replay "$dump" --driver cpu
}
# The same seed gives the same graphs and relations, with any number of jobs.
test_relations_do_not_depend_on_jobs() {
    check 0 nnvts run --driver cpu --suite relations --tier smoke --seed 3 --jobs 1 --out one
    check 0 nnvts run --driver cpu --suite relations --tier smoke --seed 3 --jobs 3 --out three
    same "$(verdicts one)" "$(verdicts three)"
    same "$(sed -n 's/.*"case": *"\([^"]*\)".*"compared": *\([0-9]*\).*/\1 \2/p' one/journal.jsonl | sort)" \
        "$(sed -n 's/.*"case": *"\([^"]*\)".*"compared": *\([0-9]*\).*/\1 \2/p' three/journal.jsonl | sort)"
}
run_tests
