#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts audit: judges the suites by planted bugs, and itself raises the alarm when they are blind or cry wolf.
. "$(dirname "$0")/lib.sh"

audit() { nnvts audit --suite device,ops --tier smoke --controls cpu --timeout 2 --out audit "$@"; }

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
    check 0 audit --bugs stale-tail-element --suite ops
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
test_refusals() {
    check 2 audit --bugs no-such-bug
    has "$ERR" "no bug is selected by 'no-such-bug'"
    check 2 audit --driver cpu
    has "$ERR" "has no list of planted bugs"
}
# Every bug that the suites device and ops are for, and no alarm on the variants that are legal.
test_own() {
    check 0 audit --own --controls cpu,reference,faulty:none --bugs \
        "$(grep -o '"[a-z][a-z0-9-]*"' "$ROOT/drivers_under_test/faulty/bugs_ops.c" | tr -d '"' | paste -sd,),legal-*"
    has "$OUT" "(100.0 %)"
}
test_the_list() {
    check 0 nnvts audit --markdown
    diff "$OUT" "$ROOT/docs/planted-bugs.md" || fail "docs/planted-bugs.md is not what the driver says: run make docs"
    [ "$(grep -c '^| `' "$OUT")" -ge 153 ] || fail "fewer than 150 bugs and 3 legal variants"
    [ "$(grep -c '^| `legal-' "$OUT")" -ge 3 ] || fail "fewer than 3 legal variants"
    same "$(grep '^| `' "$OUT" | cut -d '`' -f 2 | sort | uniq -d)" "" "names twice"
}
run_tests
