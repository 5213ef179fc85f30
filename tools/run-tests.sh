#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs test programs (cmocka binaries and tests/system/*.sh), shows what fails, and closes with
# "N passed, N failed, N skipped". Exit code 0 only if something passed and nothing failed.
#   tools/run-tests.sh BUILD PROGRAM...
set -u
NNVTS_BUILD=$(cd "$1" && pwd)
export NNVTS_BUILD NNVTS_TEST_DRIVERS="$NNVTS_BUILD/drivers"
shift
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

number() { # number WORD: the sum of the counts of "[  WORD  ] N test(s)"
    sed -n "s/^\[ *$1 *\] \([0-9][0-9]*\) test(s).*/\1/p" "$log" | awk '{s += $1} END {print s + 0}'
}

for program in "$@"; do
    start=$(date +%s)
    timeout "${NNVTS_TEST_TIMEOUT:-900}" "$program" >"$log" 2>&1 </dev/null
    code=$?
    p=$(number PASSED) f=$(number FAILED) s=$(number SKIPPED)
    # A program that died did not tell of all its tests.
    if [ "$code" != 0 ] && [ "$f" = 0 ]; then f=1; fi
    if [ "$code" = 0 ] && [ $((p + f + s)) = 0 ]; then f=1; echo "no test ran" >>"$log"; fi
    printf '%-34s %4d passed %3d failed %3d skipped  %3ds\n' "$(basename "$program")" "$p" "$f" "$s" $(($(date +%s) - start))
    grep -h '^skipped: ' "$log" | sort -u | sed 's/^/    /'
    if [ "$f" != 0 ]; then
        grep -v '^\[ *\(RUN\|OK\) *\]' "$log" | tail -n 60 | sed 's/^/    /'
        [ "$code" = 0 ] || echo "    exit code $code"
    fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
