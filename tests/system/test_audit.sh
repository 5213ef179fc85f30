#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts audit: judges the suites by planted bugs, and itself raises the alarm when they are blind or cry wolf.
. "$(dirname "$0")/lib.sh"

# audit ARGUMENTS: of the suites device and ops, with the control cpu, unless the arguments say other ones
audit() {
    local usual=()
    [[ " $* " == *" --suite "* ]] || usual+=(--suite device,ops)
    [[ " $* " == *" --controls "* ]] || usual+=(--controls cpu)
    nnvts audit --tier smoke --timeout 2 --out audit "${usual[@]}" "$@"
}

test_catches() {
    check 0 audit --bugs 'beta-ignored,nameless,crash-execute,refuses-everything,legal-sum-*' --controls cpu,faulty:none
    has "$OUT" "4 of 4 planted bugs caught (100.0 %), 0 of 3 controls raised an alarm"
    grep -q '^nameless  *FAIL [0-9]* ' "$OUT" || fail "the suite device does not catch nameless"
    grep -q '^beta-ignored  *-  *FAIL [0-9]* ' "$OUT" || fail "no row for beta-ignored"
    grep -q '^crash-execute  *-  *CRASH [0-9]* ' "$OUT" || fail "no row for crash-execute"
    grep -q '^refuses-everything .*nothing .*caught$' "$OUT" || fail "a driver that supports nothing goes unnoticed"
    has audit/audit.json '"bugs": 4, "caught": 4, "explained": 0, "controls": 3, "alarms": 0'
    has audit/audit.json '"first": "ops/SOFTMAX/'
    has audit/audit.html "4 of 4 planted bugs caught"
    xmllint --noout audit/audit.html 2>/dev/null || ! command -v xmllint >/dev/null || fail "audit.html is not well-formed"
}
test_the_count_of_cases_is_small_and_stops() {
    check 0 audit --bugs stale-tail-element --suite ops --jobs 1
    has "$OUT" " FAIL 1 "
    check 0 audit --bugs beta-ignored --suite ops --filter op:SOFTMAX --full
    [ "$(sed -n 's/.*"name": "beta-ignored".*"bad": \([0-9]*\).*/\1/p' audit/audit.json)" -gt 1 ] || fail "--full stopped"
}
test_a_bad_control_is_a_false_alarm() {
    check 1 audit --bugs beta-ignored --suite ops --filter op:SOFTMAX --controls cpu,faulty:axis-ignored
    has "$OUT" "1 of 2 controls raised an alarm"
    has "$OUT" "false alarm: faulty:axis-ignored"
}
test_a_control_that_can_not_be_opened_is_an_alarm() {
    check 1 audit --bugs beta-ignored --suite ops --filter op:SOFTMAX --controls faulty:no-such-bug
    has "$OUT" "false alarm: faulty:no-such-bug"
}
test_a_blind_suite() {
    check 1 audit --bugs beta-ignored,axis-ignored --suite ops --filter op:ADD
    has "$OUT" "survives: beta-ignored"
    has "$OUT" "0 of 2 planted bugs caught"
}
# A suite that no default run has is run for the bugs that it is for.
test_suites_beside_the_default_ones() {
    check 0 nnvts audit --own --bugs fuzz-rank --filter 'suite:fuzz | op:TANH' --controls cpu --tier smoke --out audit
    grep -q '^fuzz-rank .* CRASH [0-9]* .*caught$' "$OUT" || fail "the suite fuzz was not run"
}
# With --quick the suite that is for a bug comes first, and no other once it has caught it; survivors meet all suites.
test_quick() {
    check 0 audit --quick --bugs nameless,beta-ignored,axis-ignored --controls cpu --filter 'suite:device | op:SOFTMAX | op:ADD'
    has "$OUT" "3 of 3 planted bugs caught"
    [ "$(sed -n 's/.*"name": "beta-ignored".*"suites": {\(.*\)}}.*/\1/p' audit/audit.json | grep -o '"verdict"' | wc -l)" = 1 ] ||
        fail "beta-ignored met a suite after ops had caught it"
    hasnt <(grep '"name": "beta-ignored"' audit/audit.json) '"device":'
    check 1 audit --quick --bugs beta-ignored --filter 'suite:device | op:ADD'
    has "$OUT" "0 of 1 planted bugs caught"
    has <(grep '"name": "beta-ignored"' audit/audit.json) '"device":'
}
# What was judged before an interrupt has a report.
test_interrupted() {
    check 130 timeout --preserve-status -s INT 4 nnvts audit --tier smoke --controls cpu --filter 'op:SOFTMAX | op:ADD' --suite ops --out audit
    has "$ERR" "nnvts: interrupted; the report has the "
    has audit/audit.json '"name": "cpu"'
    has audit/audit.html '</html>'
    hasnt audit/audit.json '"suites": {}'
}
# The rules of comparison on the same graphs. docs/use/tolerances.md holds the table of all bugs: some of its rows, again,
# with the driver's instruction set that the table was made with.
test_profiles() {
    local bugs=low-bit-dropped,quant-plus-one,requantise-truncates,relu6-as-relu,add-scale-ignored row
    check 0 env NNVTS_CPU_ISA=base nnvts audit --profiles budget,aosp,aosp-graph --count 400 --bugs "$bugs"
    [ "$(grep -c '^| `[a-z]' "$OUT")" = 5 ] || fail "no row for each bug"
    grep '^| `[a-z]' "$OUT" | while read -r row; do
        has "$ROOT/docs/use/tolerances.md" "$row" || fail "docs/use/tolerances.md is not what the audit says: run make profiles"
    done
    has "$ROOT/docs/use/tolerances.md" "$(grep '^| cases that fail on a driver without a bug' "$OUT")"
    # a graph on which a bit more or less is right by AOSP's rule, and wrong by the budget
    [ "$(sed -n 's/^| `low-bit-dropped` | \(.*\) |.*|.*|/\1/p' "$OUT")" != – ] || fail "the budget does not see low-bit-dropped"
    [ "$(sed -n 's/^| \*\*bugs caught\*\* | \([0-9]*\) .*/\1/p' "$OUT")" = 5 ] || fail "the budget does not see all"
    check 2 nnvts audit --profiles budget,no-such
    has "$ERR" "expected some of nnapi,aosp,budget,aosp-graph"
    check 2 nnvts audit --profiles budget --suite ops,device --count 8
    has "$ERR" "one suite"
}
# A legal variant is of use only where it fires: half a unit lies between two numbers, either of which is right.
test_the_variant_of_ties_fires() {
    cat >tie.json <<'EOT'
{"format":"nnvts-spec/1","name":"tie","precision":"budget","main":{"operands":[
{"type":"TENSOR_FLOAT32","dims":[2],"lifetime":"SUBGRAPH_INPUT","data":[0.25,0.5]},
{"type":"TENSOR_QUANT8_ASYMM","dims":[2],"scale":0.5,"zero_point":10,"lifetime":"SUBGRAPH_OUTPUT","data":[11,11]}],
"operations":[{"type":"QUANTIZE","inputs":[0],"outputs":[1]}],"inputs":[0],"outputs":[1]},"referenced":[]}
EOT
    check 0 nnvts replay tie.json -d faulty:legal-ties-round-down
    sed 's/"name"/"exact":true,"name"/' tie.json >exact.json
    check 0 nnvts replay exact.json -d cpu
    check 1 nnvts replay exact.json -d faulty:legal-ties-round-down
    has "$OUT" "expected 11, got 10"
}
# Executions beside others may round otherwise: what is held to bytes alone would blame this.
test_beside_others() {
    check 0 nnvts run -d faulty:legal-beside-others --suite relations --filter '*parallel*' --seed 2 --tier full --out out -q
    [ "$(verdict out PASS)" -ge 10 ] || fail "only $(verdict out PASS) cases passed"
}
# Memory that grows with each of a thousand models is a pool where it grows no more with the next.
test_a_pool_is_no_leak() {
    check 0 nnvts run -d faulty:legal-pool-of-models --filter 'isolation/leak_models/add_float32' --out out -q
    check 0 nnvts run -d faulty:legal-pool-of-models --filter 'ops/ADD/float32/rank1/0' --leaks all --out out -q
}
test_refusals() {
    check 2 audit --bugs no-such-bug
    has "$ERR" "no bug is selected by 'no-such-bug'"
    check 2 audit --bugs beta-ignord
    has "$ERR" "(did you mean 'beta-ignored'?)"
    check 2 audit --driver cpu
    has "$ERR" "has no list of planted bugs"
}
# Every bug that the suites device and ops are for, and no alarm on the variants that are legal.
test_own() {
    check 0 audit --own --controls cpu,reference,faulty:none --bugs \
        "$(grep -o '"[a-z][a-z0-9-]*"' "$ROOT/drivers_under_test/faulty/bugs/ops.c" | tr -d '"' | paste -sd,),legal-*"
    has "$OUT" "(100.0 %)"
}
test_the_list() {
    check 0 nnvts audit --markdown
    diff "$OUT" "$ROOT/docs/use/planted-bugs.md" || fail "docs/use/planted-bugs.md is not what the driver says: run make docs"
    [ "$(grep -c '^| `' "$OUT")" -ge 153 ] || fail "fewer than 150 bugs and 3 legal variants"
    [ "$(grep -c '^| `legal-' "$OUT")" -ge 3 ] || fail "fewer than 3 legal variants"
    same "$(grep '^| `' "$OUT" | cut -d '`' -f 2 | sort | uniq -d)" "" "names twice"
}
run_tests
