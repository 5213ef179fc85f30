#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Expectations: what is known to fail does not fail a run, and all reports say the same of it.
. "$(dirname "$0")/lib.sh"

junit() { xmllint --noout --schema "$ROOT/tests/junit.xsd" "$1" 2>"$WORK/xml" || fail "$(cat "$WORK/xml")"; }
xpath() { xmllint --xpath "$2" "$1" 2>/dev/null; }
outcome() { sed -n "s/.*\"outcomes\": *{.*\"$2\": *\([0-9a-z]*\).*/\1/p" "$1/summary.json" | grep . || fail "no $2 in $1/summary.json"; }
# entries MEMBERS...: known.json with these entries
entries() {
    local e list=
    for e in "$@"; do list="$list${list:+,
}$e"; done
    printf '{"format": "nnvts-expectations/1", "expectations": [\n%s\n]}\n' "$list" >known.json
}
ABS='ops/ABS/float32/rank*'
broken() { nnvts run --driver faulty:output-unwritten --suite ops --filter "$ABS" --out out "$@"; }
cpu() { nnvts run --driver cpu --suite ops --filter "$ABS" --out out "$@"; }

# Console, JUnit, HTML, summary.json and exit code agree on what was expected.
test_expected_failures_pass() {
    check 1 broken
    local n all
    n=$(verdict out FAIL)
    all=$(wc -l <out/cases.tsv)
    [ "$n" -gt 10 ] || fail "only $n failures"
    entries '{"cases": "ops/ABS/float32*", "reason": "scratch memory", "owner": "Kim", "link": "https://bugs.example/7", "message": "no byte of output * was written"}' \
        '{"cases": "ops/SQRT/*", "reason": "of another day", "owner": "Kim"}'
    check 1 broken --expect known.json # nothing was compared
    has "$OUT" "$n of these as expected"
    check 0 nnvts run --driver faulty:output-unwritten --suite ops,device --filter "$ABS | suite:device" --out out --expect known.json
    same "$(outcome out XFAIL)" "$n"
    same "$(verdict out FAIL)" "$n" "verdicts stay what was measured"
    same "$(grep -c '"outcome":"XFAIL","expectation":0' out/journal.jsonl)" "$n"
    hasnt "$OUT" "FAIL ops/"
    junit out/junit.xml
    same "$(xpath out/junit.xml 'count(//failure) + count(//error)')" 0
    same "$(xpath out/junit.xml 'count(//skipped[contains(@message, "scratch memory (Kim, https://bugs.example/7, known.json:2)")])')" "$n"
    has out/report.html '<section id="expected">'
    has out/report.html 'href="https://bugs.example/7"'
    has out/report.html "$n failed as expected"
    has out/summary.json '"exit_code": 0'
    check 0 nnvts report out
}
test_what_is_not_covered_fails() {
    local e
    for e in '"cases": "ops/ABS/float32*", "message": "another message"' '"cases": "ops/ABS/float32*", "verdict": "CRASH"' \
        '"cases": "ops/ABS/float32*", "expires": "2020-01-31"' '"cases": "ops/ABS/float32*", "when": {"driver": "npu*"}' \
        '"cases": "ops/ABS/float32*", "when": {"version": ">99.5"}' '"cases": "ops/ABS/float32*", "when": {"level": "<3"}' \
        '"cases": "ops/ABS/float32*", "when": {"type": "quant8*"}' '"cases": "ops/ABS/quant8*"'; do
        entries "{$e}"
        check 1 broken --expect known.json
        same "$(outcome out XFAIL)" 0 "$e"
    done
    for e in '"cases": "op:ABS"' '"cases": ["ops/NEG/*", "ops/ABS/*"], "when": {"driver": "faulty:*", "level": ">=1", "op": "A?S"}'; do
        entries "{$e}"
        check 1 broken --expect known.json
        same "$(outcome out XFAIL)" "$(verdict out FAIL)" "$e"
    done
}
test_unexpected_passes_fail_strict_runs() {
    entries '{"cases": "ops/ABS/float32/rank1/0", "owner": "Kim", "reason": "was broken"}'
    check 0 cpu --expect known.json
    has "$OUT" 'XPASS ops/ABS/float32/rank1/0   expected to fail: was broken (Kim, known.json:2)'
    same "$(outcome out XPASS)" 1
    same "$(xpath out/junit.xml 'count(//failure)')" 0
    check 1 cpu --expect known.json --strict
    same "$(xpath out/junit.xml 'count(//failure[@type="XPASS"])')" 1
    junit out/junit.xml
    has out/report.html '1 unexpected pass'
    has out/summary.json '"exit_code": 1'
    check 1 nnvts report out
    entries '{"cases": "ops/ABS/float32/rank1/0", "verdict": ["FAIL", "PASS"]}'
    check 0 cpu --expect known.json --strict
}
test_stale_entries_fail_strict_runs() {
    entries '{"cases": "ops/NO_SUCH/*"}' '{"cases": "op:ABS", "verdict": ["PASS", "FAIL"], "expires": "2020-02-29"}' '{"cases": "validate/no/*"}'
    check 0 cpu --expect known.json
    has "$OUT" 'STALE known.json:2: matches no case: ops/NO_SUCH/*'
    has "$OUT" 'STALE known.json:3: has expired on 2020-02-29: op:ABS'
    hasnt "$OUT" 'known.json:4' # its suite does not run
    same "$(outcome out stale)" 2
    check 1 cpu --expect known.json --strict
    same "$(xpath out/junit.xml 'count(//testcase[@classname="expectations"]/failure)')" 2
    same "$(xpath out/junit.xml '/testsuites/@tests')" " tests=\"$(xpath out/junit.xml 'count(//testcase)')\""
    same "$(xpath out/junit.xml '/testsuites/@failures')" ' failures="2"'
    junit out/junit.xml
}
test_helpful_errors() {
    local e
    entries '{"cases": "ops/ABS/*"}' '{"casse": "ops/ABS/*"}'
    check 2 cpu --expect known.json
    has "$ERR" 'known.json:3: unknown member "casse" (did you mean "cases"?)'
    while IFS='|' read -r e want; do
        entries "$e"
        check 2 cpu --expect known.json
        has "$ERR" "known.json:2: $want"
    done <<'END'
{"verdict": "FAIL"}|"cases" is to be a name, glob or selection
{"cases": "op:ABS &"}|"cases": selection 'op:ABS &': column 9
{"cases": "a/b", "verdict": "FIAL"}|"verdict": "FIAL" is to be FAIL
{"cases": "a/b", "verdict": "ERROR"}|"verdict": ERROR is a failure of nnvts itself
{"cases": "a/b", "expires": "2027-02-29"}|"expires": '2027-02-29' is to be a day
{"cases": "a/b", "when": {"version": ">=2 ~3"}}|"version": '~3'
{"cases": "a/b", "max_rate": 0}|"max_rate" is to be a number
{"cases": "a/b", "owner": 3}|"owner" is to be a text
END
    entries 7
    check 2 cpu --expect known.json
    has "$ERR" 'known.json:1: expectation 1 of the file is to be an object'
    echo '{"format": "nnvts-expectations/1", "expectations": [}' >known.json
    check 2 cpu --expect known.json
    has "$ERR" 'known.json:1: not JSON'
    check 2 cpu --expect nowhere.json
    has "$ERR" nowhere.json
    check 2 cpu --strict
    has "$ERR" '--expect FILE'
}
# update keeps what people wrote, drops what is fixed, and is stable.
test_update() {
    check 1 broken
    check 0 nnvts expect update out -o known.json
    cp known.json first.json
    check 0 nnvts expect update out -o known.json
    cmp known.json first.json || fail "update is not stable"
    check 1 broken --expect known.json --strict # nothing was compared, but all was expected
    has "$OUT" 'of these as expected'
    hasnt "$OUT" STALE
    same "$(outcome out XFAIL)" "$(verdict out FAIL)"
    check 1 nnvts expect check known.json
    has "$OUT" 'has no owner'
    sed -i 's/"verdict": "FAIL"}/"verdict": "FAIL", "owner": "Kim", "reason": "scratch", "link": "bugs\/7"}/' known.json
    check 0 nnvts expect check known.json
    # one case is repaired: it alone goes
    local one
    one=$(sed -n 's/.*"\(ops\/ABS[^"]*\)".*/\1/p' known.json | head -n 1)
    unseal out
    sed -i "s|\(.*\"case\":\"$one\".*\"verdict\":\)\"FAIL\"|\1\"PASS\"|" out/journal.jsonl
    check 0 nnvts expect update out -o known.json
    has "$OUT" '1 kept, 0 dropped, 0 added'
    hasnt known.json "\"$one\""
    has known.json '"owner": "Kim"'
    has known.json '"link": "bugs/7"'
    # all are repaired
    check 0 cpu
    check 0 nnvts expect update out -o known.json
    has "$OUT" '0 kept, 1 dropped, 0 added'
    same "$(grep -c cases known.json)" 0
}
test_check() {
    entries '{"cases": "ops/NO_SUCH/*", "owner": "a", "reason": "b"}' '{"cases": "op:ABS", "owner": "a", "reason": "b", "expires": "2020-01-01"}' \
        '{"cases": "ops/ABS/*", "owner": "a", "reason": "c"}' '{"cases": "op:CONV2D", "owner": "a", "reason": "c"}'
    check 1 nnvts expect check known.json
    has "$OUT" 'known.json:2: ops/NO_SUCH/* matches no case'
    has "$OUT" 'known.json:3: op:ABS has expired'
    has "$OUT" 'known.json:4: ops/ABS/* is about a case of known.json:3, too'
    has "$OUT" "did you mean 'CONV_2D'?"
    # of other drivers, versions or levels it is another expectation
    local when line all=() one='"cases": "op:ABS", "owner": "a", "reason": "b"'
    for when in '' '"driver": "npu"' '"version": ">=2"' '"level": ">=3"'; do all+=("{$one, \"when\": {$when}}"); done
    entries "${all[@]}"
    check 0 nnvts expect check known.json
    for line in 2 3 4 5; do
        entries "${all[@]}" "${all[line - 2]}"
        check 1 nnvts expect check known.json
        has "$OUT" "known.json:6: op:ABS is about a case of known.json:$line, too"
    done
    check 2 nnvts expect
    check 2 nnvts expect check
    check 2 nnvts expect chekc known.json
}
# A resumed run is judged by the same expectations, or not at all; a finished one by any.
test_resume_and_report() {
    entries '{"cases": "ops/ABS/float32*", "owner": "Kim", "reason": "scratch memory"}'
    check 1 broken --expect known.json
    local n
    n=$(outcome out XFAIL)
    head -n 4 out/journal.jsonl >cut && cp cut out/journal.jsonl
    check 2 broken --resume
    has "$ERR" '--resume: --expect or --strict differs'
    check 1 broken --resume --expect known.json
    same "$(outcome out XFAIL)" "$n"
    check 1 broken
    same "$(outcome out XFAIL)" 0
    check 1 nnvts report out --expect known.json
    same "$(outcome out XFAIL)" "$n"
    junit out/junit.xml
    same "$(xpath out/junit.xml 'count(//failure)')" 0
    check 1 nnvts report out
    same "$(outcome out XFAIL)" "$n" "what was expected stays so"
    # Nor is it forgotten where it can't be read.
    head -c 100 out/outcomes.json >cut && cp cut out/outcomes.json
    check 2 nnvts report out
    has "$ERR" 'out/outcomes.json:'
    check 1 broken
    same "$(outcome out XFAIL)" 0 "of a new run nothing is known"
}
run_tests
