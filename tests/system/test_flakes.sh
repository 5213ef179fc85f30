#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Failures that do not show every time: found, classified, and traced to the cases that they follow.
. "$(dirname "$0")/lib.sh"

class() { sed -n 's/.*"class": "\([^"]*\)".*/\1/p' out/flakes.json | sort -u | tr '\n' ' '; }
junit() { xmllint --noout --schema "$ROOT/tests/junit.xsd" "$1" 2>"$WORK/xml" || fail "$(cat "$WORK/xml")"; }
outcome() { sed -n "s/.*\"outcomes\": *{.*\"$2\": *\([0-9a-z]*\).*/\1/p" "$1/summary.json"; }
FLOAT='ops/ABS/float32/rank1/*'

# 5 % and 60 repeats of 8 cases: that none shows has a chance of 2 in 10^11; that fewer than 5 do, of 10^-5.
test_repeats_find_a_flake() {
    check 1 nnvts run --driver faulty:flake-5-percent --suite ops --filter "$FLOAT" --repeat 60 --out out
    same "$(grep -c '"repeats":{"runs":60,' out/journal.jsonl)" "$(wc -l <out/cases.tsv)"
    [ "$(verdict out FAIL)" -ge 5 ] || fail "a flake of 5 % showed in $(verdict out FAIL) of $(wc -l <out/cases.tsv) cases"
    same "$(outcome out FLAKY)" "$(verdict out FAIL)"
    has "$OUT" "$(verdict out FAIL) flaky"
    grep -q 'in [0-9]* of 60 runs' out/journal.jsonl
    [ ! -e out/flakes.json ] || fail "what --repeat tells is tried again"
    check 0 nnvts run --driver cpu --suite ops --filter "$FLOAT" --repeat 60 --out out
    hasnt "$OUT" flaky
    check 2 nnvts run --driver cpu --repeat 0
    check 2 nnvts run --driver cpu --repeat 2 --determinism
}
test_a_crash_in_a_repeat() {
    check 1 nnvts run --driver faulty:crash-execute@ABS --suite ops --filter ops/ABS/float32/rank1/0 --repeat 9 --flakes 0 --out out
    has out/journal.jsonl '"repeats":{"runs":1,"bad":1,"CRASH":1}'
}
# A rate that was agreed on is no failure; a higher one is.
rated() {
    printf '{"format": "nnvts-expectations/1", "expectations": [{"cases": "%s", "max_rate": %s}]}' "$FLOAT" "$1" >known.json
    nnvts run --driver faulty:flake-5-percent --suite ops --filter "$FLOAT" --repeat 200 --expect known.json --strict --flakes 0 --out out
}
test_known_flakes_have_a_rate() {
    check 0 rated 0.3
    same "$(outcome out XFAIL)" "$(verdict out FAIL)"
    same "$(outcome out XPASS)" 0
    check 1 rated 0.001
    [ "$(outcome out FLAKY)" -gt 0 ] || fail "above its rate a flake is none"
}
test_update_writes_rates() {
    check 1 nnvts run --driver faulty:flake-5-percent --suite ops --filter "$FLOAT" --repeat 60 --out out
    check 0 nnvts expect update out -o known.json
    same "$(grep -c '"max_rate": 0\.' known.json)" "$(verdict out FAIL)"
    check 0 nnvts report out --expect known.json
}
test_a_deterministic_failure() {
    check 1 nnvts run --driver faulty:output-unwritten --suite ops --filter "$FLOAT" --out out
    same "$(class)" "deterministic "
    has out/flakes.json '"alone": {"runs": 5, "bad": 5, "low": 0.478176, "high": 1.000000}'
    hasnt "$OUT" FLAKY
    same "$(outcome out FLAKY)" 0
    check 1 nnvts run --driver faulty:output-unwritten --suite ops --filter "$FLOAT" --flakes 0 --out out
    [ ! -e out/flakes.json ] || fail "an old flakes.json is left"
}
# ABS goes wrong after a FLOOR: of all that ran before, that pair is named, and the command shows it.
test_order_dependence_is_bisected_to_a_pair() {
    check 1 nnvts run --driver faulty:state-left-behind --suite ops --filter 'op:FLOOR | op:ADD | ops/ABS/float32/rank1/0' --jobs 1 --flakes 20 --out out
    same "$(class)" "order-dependent "
    has out/flakes.json '"minimal": true'
    grep -q '"after": \["ops/FLOOR/[^"]*"\]' out/flakes.json || fail "not one FLOOR: $(cat out/flakes.json)"
    has "$OUT" 'FLAKY ops/ABS/float32'
    has "$OUT" 'fails after ops/FLOOR/'
    junit out/junit.xml
    has out/junit.xml 'tried again: order-dependent'
    has out/report.html 'order-dependent'
    [ "$(outcome out FLAKY)" -gt 0 ]
    local command
    command=$(sed -n 's/.*"command": "\([^"]*\)".*/\1/p' out/flakes.json | head -n 1)
    check 1 bash -c "$command --out pair"
    same "$(verdict pair FAIL)" 1
    same "$(verdict pair PASS)" 1
}
test_flakes_of_a_finished_run() {
    local args=(--driver faulty:state-left-behind --suite ops --filter 'op:FLOOR | ops/ABS/float32/rank2/0' --jobs 1 --out out)
    check 1 nnvts run "${args[@]}" --flakes 0
    [ ! -e out/flakes.json ]
    check 1 nnvts run "${args[@]}" --resume --flakes 20
    same "$(class)" "order-dependent "
}
# A worker's history is one list, also in a resumed run.
test_turns_are_unique() {
    local args=(--driver faulty:output-unwritten --suite ops --filter 'op:ABS' --jobs 2 --flakes 0 --out out)
    check 1 nnvts run "${args[@]}"
    head -n 100 out/journal.jsonl >cut && cp cut out/journal.jsonl
    check 1 nnvts run "${args[@]}" --resume
    local n
    n=$(wc -l <out/cases.tsv)
    same "$(grep -o '"worker":[0-9]*,"turn":[0-9]*' out/journal.jsonl | sort -u | wc -l)" "$n"
}
# determinism BUG WHAT: passes but for --determinism, which says what makes the difference
determinism() {
    local cases=(--driver "faulty:$1" --suite ops --filter 'ops/LOGISTIC/float32/rank2/*')
    check 0 nnvts run "${cases[@]}" --out out
    check 1 nnvts run "${cases[@]}" --determinism --out out
    grep -q "not deterministic: other bytes $2: output 0 .* values differ, first at \[" out/journal.jsonl || fail "no '$2': $(cat "$OUT")"
    has out/journal.jsonl '"determinism":true'
}
test_by_execution() { determinism low-bit-by-execution "when it is executed again"; }
test_by_model() { determinism low-bit-by-model "when it is compiled again"; }
test_by_process() { determinism low-bit-by-process "in another process"; }
test_by_threads() {
    [ "$(nproc)" -gt 1 ] || skip "one processor"
    determinism low-bit-by-threads "with one thread on one processor"
}
test_deterministic_drivers() {
    local driver
    for driver in cpu reference cpu:threads=2; do
        check 0 nnvts run --driver $driver --tier smoke --suite ops,spec,randgraph --filter 'suite:spec | suite:randgraph | op:CONV_2D | op:SOFTMAX | op:RANDOM_MULTINOMIAL' --specs "$ROOT/tests/conformance/example.json" --determinism --out out
    done
}
run_tests
