#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make soak-hostile: every habit of tests/kit/drivers/hostile.c, in the cases of RELU alone where it has a case. Each run
# must end in time, leave a sound journal, JUnit and page, name a culprit or none, and harm no case of SOFTMAX.
# $HABITS: which.
set -u
: "${NNVTS_BUILD:?run through make soak-hostile}"
ROOT=$(cd "$(dirname "$0")/.." && pwd)
PATH=$NNVTS_BUILD:$PATH
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
export NNVTS_CONFIG='' NO_COLOR=1 HOSTILE_INNER=$NNVTS_BUILD/drivers/cpu.so HOSTILE_MARK=$WORK/mark
HOSTILE=$NNVTS_BUILD/tests/hostile.so
FILTER='(ops/SOFTMAX/float32/rank* | ops/RELU/float32/rank*)'
TIMEOUT=2 DEADLINES=60 # three hangs in two workers, their replays, and three attempts to open

run() { timeout -k 5 300 nnvts run --driver "$1" --filter "$FILTER" --timeout $TIMEOUT --jobs 2 --flakes 0 --out "$WORK/out" >"$WORK/o" 2>"$WORK/e" </dev/null; }
of() { sed -n 's/.*"case": *"ops.'"$1"'.*"verdict": *"\([A-Z]*\)".*/\1/p' "$WORK/out/journal.jsonl" | sort | uniq -c | awk '{printf "%s%s %s", c, $1, $2; c = ", "}'; }

start=$(date +%s%N)
run "$HOSTILE:none" || { echo "soak-hostile: the clean run fails"; cat "$WORK/e"; exit 1; }
clean_ms=$((($(date +%s%N) - start) / 1000000)) softmax=$(of SOFTMAX) bad=0 count=0
printf '%-22s %4s %8s  %s\n' habit code ms 'RELU | SOFTMAX'
for line in $(sed -n 's/.*AT("\([^"]*\)", [a-z_0-9]*, \([A-Z]*\)).*/\1:\2/p' "$ROOT/tests/kit/drivers/hostile.c"); do
    mode=${line%:*} moment=${line#*:} why=
    [[ " ${HABITS:-$mode} " = *" $mode "* ]] || continue
    of_case='' && case $moment in EXECUTE | PREPARE | RELEASE) of_case='#19' ;; esac
    rm -rf "$WORK/out" "$WORK/mark"
    start=$(date +%s%N)
    run "$HOSTILE:$mode$of_case"
    code=$? ms=$((($(date +%s%N) - start) / 1000000))
    count=$((count + 1))
    [ $code -le 2 ] || [ "$mode" = end-nnvts ] || why="$why exit code $code;"
    [ $ms -le $((3 * clean_ms + DEADLINES * 1000)) ] || why="$why took too long;"
    if [ $code -le 1 ]; then
        python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' "$WORK/out/journal.jsonl" 2>/dev/null || why="$why the journal is damaged;"
        xmllint --noout --schema "$ROOT/tests/junit.xsd" "$WORK/out/junit.xml" 2>/dev/null || why="$why the JUnit file is damaged;"
        grep -q '</html>' "$WORK/out/report.html" || why="$why no page;"
        nnvts verify "$WORK/out" >/dev/null 2>&1 || why="$why verify;"
        [ "$(sed 1d "$WORK/out/journal.jsonl" | wc -l)" = "$(wc -l <"$WORK/out/cases.tsv")" ] || why="$why records are missing;"
        case $mode:$moment in
        # *-later: the next case in the worker may pay for what a thread of the driver still does
        lose-device:* | upset-device:* | *-later:* | *:CLOSE | *:DESCRIBE) ;;
        *) [ "$(of SOFTMAX)" = "$softmax" ] || why="$why other verdicts of SOFTMAX;" ;;
        esac
        ! grep -q '"verdict":"ERROR"' "$WORK/out/journal.jsonl" || why="$why nnvts blames itself;"
    fi
    ! pgrep -f "$HOSTILE:$mode" >/dev/null || why="$why a process lives on;"
    [ -z "$why" ] || bad=$((bad + 1))
    printf '%-22s %4s %8s  %s | %s%s\n' "$mode" $code $ms "$(of RELU 2>/dev/null)" "$(of SOFTMAX 2>/dev/null)" "${why:+  WRONG:$why}"
done
echo "soak-hostile: $count habits, $bad wrong (clean run: $clean_ms ms)"
[ $bad = 0 ]
