#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whole runs on real drivers: verdicts, reports, determinism.
. "$(dirname "$0")/lib.sh"
try_nothing_again

junit() { xmllint --noout --schema "$ROOT/tests/junit.xsd" "$1" 2>"$WORK/xml" || fail "$(cat "$WORK/xml")"; }
xpath() { xmllint --xpath "$2" "$1" 2>/dev/null; }

# Every default case passes on both drivers, and the reports agree with one another.
whole_run() {
    check 0 nnvts run --driver "$1" --out out
    same "$(verdict out FAIL)" 0
    same "$(verdict out UNTRUSTED)" 0
    local cases
    cases=$(wc -l <out/cases.tsv)
    [ "$cases" -ge 6000 ] || fail "only $cases cases"
    same "$(verdicts out | wc -l)" "$cases" "records"
    junit out/junit.xml
    same "$(xpath out/junit.xml 'count(//testcase)')" "$cases"
    same "$(xpath out/junit.xml 'count(//failure) + count(//error)')" 0
    same "$(xpath out/junit.xml 'sum(/testsuites/testsuite/@tests)')" "$cases"
    has "$OUT" "0 failed"
    has out/summary.json '"failed": []}'
    has out/report.html '<h2>Clauses of NNAPI</h2>'
    same "$(grep -c 'NN-EXEC-1"' out/clauses.json)" 0 "a clause that passed is not listed"
    [ "$(stat -c %s out/report.html)" -lt $((cases * 100)) ] || fail "report.html takes more than 100 bytes a case"
    hasnt out/report.html 'http://'
    hasnt out/report.html 'https://'
}
test_cpu() { whole_run cpu; }
test_reference() { whole_run reference; }
test_template() {
    check 0 nnvts run --driver template --tier smoke --out out
    [ "$(verdict out PASS)" -gt 18 ] && [ "$(verdict out UNSUPPORTED)" -gt 100 ] || fail "$(cat out/summary.json)"
}
counts() {
    sed -n 's/.*"case": *"\([^"]*\)".*"compared": *\([0-9]*\).*/\1 \2/p' "$1/journal.jsonl" |
        grep -v '^exec/\|^qos/\|^isolation/\|^cache/' | sort | sha256sum
}
test_jobs_make_no_difference() {
    check 0 nnvts run --driver cpu --tier smoke --jobs 1 --out one
    check 0 nnvts run --driver cpu --tier smoke --jobs 4 --out four
    same "$(verdicts one | sha256sum)" "$(verdicts four | sha256sum)"
    # suites that race threads or measure time may repeat something more often on a busy machine
    same "$(counts one)" "$(counts four)"
}
test_seeds_differ() {
    check 1 nnvts run --driver faulty:beta-ignored --filter 'ops/SOFTMAX/float32/*' --out a
    check 1 nnvts run --driver faulty:beta-ignored --filter 'ops/SOFTMAX/float32/*' --out b
    check 1 nnvts run --driver faulty:beta-ignored --filter 'ops/SOFTMAX/float32/*' --seed 2 --out c
    same "$(cat a/dumps/*.json | sha256sum)" "$(cat b/dumps/*.json | sha256sum)"
    [ "$(cat a/dumps/*.json | sha256sum)" != "$(cat c/dumps/*.json | sha256sum)" ] || fail "the seed changes nothing"
}
test_other_seeds_pass() {
    for seed in 2 3; do check 0 nnvts run --driver cpu --tier smoke --seed $seed --out out; done
}
test_precision_profiles() {
    for p in nnapi aosp budget; do check 0 nnvts run --driver reference --tier smoke --precision $p --out out; done
}
test_report_again() {
    check 1 nnvts run --driver faulty:beta-ignored --filter op:SOFTMAX --out out
    cp out/junit.xml junit.before
    cp out/report.html html.before
    rm out/junit.xml out/report.html out/summary.json
    check 1 nnvts report out
    cmp junit.before out/junit.xml
    cmp html.before out/report.html
    [ -s out/summary.json ]
}
test_json() {
    check 0 nnvts run --driver cpu --suite device --json --out out
    same "$(grep -c '"case"' "$OUT")" "$(wc -l <out/cases.tsv)"
}
test_stress_and_pressure() {
    check 0 nnvts run --driver cpu --stress 1 --pressure cpu,memory --out out
    same "$(grep -c 'exec/many/stress/' out/cases.tsv)" "$(wc -l <out/cases.tsv)"
    check 2 nnvts run --driver cpu --pressure heat --out out
}
test_installed() {
    check 0 make -s -C "$ROOT" B="$NNVTS_BUILD" PREFIX="$PWD/usr" install
    check 0 env PATH=/usr/bin:/bin "$PWD/usr/bin/nnvts" run --driver cpu --suite device --out out
}
test_a_killed_run_never_reads_as_passed() {
    nnvts run --driver reference --out out --jobs 1 >/dev/null 2>&1 </dev/null &
    local pid=$!
    for _ in $(seq 200); do [ -s out/junit.xml ] && break; sleep 0.02; done
    kill -9 $pid
    wait $pid 2>/dev/null || true
    junit out/junit.xml
    [ "$(xpath out/junit.xml 'count(//error)')" -ge 6000 ] || fail "junit.xml of a killed run shows passes"
    check 1 nnvts report out
}
run_tests
