#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs test programs (cmocka binaries and tests/system/*.sh), as many at once as there are processors, shows what fails,
# tells it all again at the end, and closes with "N passed, N failed, N skipped". Exit code 0 only if something passed
# and nothing failed. Programs begin in the order in which they are named. Where NNVTS_TEST_UNTIL is set (seconds since
# 1970), none begins from then on, and those that run end NNVTS_TEST_GRACE seconds later (120) at the latest: what was not
# tested so counts as skipped, and is said.
#   tools/run-tests.sh BUILD PROGRAM...
#   tools/run-tests.sh --one FOLDER PROGRAM     one of them; its counts are left in FOLDER
set -u

number() { # number WORD LOG: the sum of the counts of "[  WORD  ] N test(s)", where newer cmockas say of which group
    sed -n "s/^\[ *$1 *\] \([^ ]*: \)\{0,1\}\([0-9][0-9]*\) test(s).*/\2/p" "$2" | awk '{s += $1} END {print s + 0}'
}

run_one() { # run_one FOLDER PROGRAM
    name=$(basename "$2") log=$1/$(basename "$2").log
    start=$(date +%s) limit=${NNVTS_TEST_TIMEOUT:-900} left=
    [ -z "${NNVTS_TEST_UNTIL:-}" ] || left=$((NNVTS_TEST_UNTIL + ${NNVTS_TEST_GRACE:-120} - start))
    if [ -n "$left" ] && [ "$start" -ge "$NNVTS_TEST_UNTIL" ]; then
        echo 'skipped: no time was left' >"$log"
        code=0 p=0 f=0 s=1
    else
        [ -z "$left" ] || [ "$limit" -le "$left" ] || limit=$left
        # shellcheck disable=SC2086 # a runner is a command with arguments
        timeout "$limit" ${NNVTS_TEST_RUNNER:-} "$2" >"$log" 2>&1 </dev/null
        code=$?
        p=$(number PASSED "$log") f=$(number FAILED "$log") s=$(number SKIPPED "$log")
        if [ "$code" = 124 ] && [ "$limit" = "$left" ]; then
            p=$(grep -c '^\[ *OK *\]' "$log") f=$(grep -c '^\[ *FAILED *\]' "$log") s=1
            [ "$f" != 0 ] || code=0
            echo 'skipped: all but what had ended, no time was left' >>"$log"
        fi
        # A program that died did not tell of all its tests.
        if [ "$code" != 0 ] && [ "$f" = 0 ]; then f=1; fi
        if [ "$code" = 0 ] && [ $((p + f + s)) = 0 ]; then f=1; echo "no test ran" >>"$log"; fi
    fi
    {
        printf '%-34s %4d passed %3d failed %3d skipped  %3ds\n' "$name" "$p" "$f" "$s" $(($(date +%s) - start))
        sed -n 's/^\[ *OK \] \(.*\) (\([0-9][0-9][0-9]*\) s)$/    \2 s: \1/p' "$log" # those of 10 s and more
        grep -h '^skipped: ' "$log" | sort -u | sed 's/^/    /'
        if [ "$f" != 0 ]; then
            grep -v '^\[ *\(RUN\|OK\) *\]' "$log" | tail -n 60 | sed 's/^/    /'
            [ "$code" = 0 ] || echo "    exit code $code"
        fi
    } >"$log.shown"
    cat "$log.shown"
    [ "$f" = 0 ] || cp "$log.shown" "$1/$name.failed"
    echo "$p $f $s" >"$1/$name.counts"
}

if [ "$1" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi

NNVTS_BUILD=$(cd "$1" && pwd)
export NNVTS_BUILD NNVTS_TEST_DRIVERS="$NNVTS_BUILD/drivers"
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '%s\n' "$@" | xargs -P "${NNVTS_TEST_JOBS:-$(nproc)}" -I '{}' "$0" --one "$folder" '{}'
# Whoever reads only the end of a long log sees what failed.
! ls "$folder"/*.failed >/dev/null 2>&1 || { echo 'failed:'; cat "$folder"/*.failed; }
cat "$folder"/*.counts | awk -v programs=$# '
    {p += $1; f += $2; s += $3}
    END {f += programs - NR; printf "%d passed, %d failed, %d skipped\n", p, f, s; exit !(p > 0 && f == 0)}'
