#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Drivers with one hostile habit each (tests/kit/drivers/hostile.c): what they change, write over, kill or leave behind
# is their own loss.
. "$(dirname "$0")/lib.sh"
try_nothing_again
export HOSTILE_INNER=$NNVTS_BUILD/drivers/cpu.so
HOSTILE=$NNVTS_BUILD/tests/hostile.so
CASES='op:SOFTMAX & suite:ops'

# hostile MODE CODE [options]: a run of $CASES must end with this code
hostile() {
    local mode=$1 code=$2
    shift 2
    check "$code" timeout 120 nnvts run --driver "$HOSTILE:$mode" --filter "$CASES" --tier smoke --timeout 2 --jobs 2 --out out "$@"
}

test_process_is_put_back() {
    hostile none 0
    verdicts out >none
    for mode in round-up round-to-zero flush-to-zero trap-float direction alignment block-signals ignore-signals folder \
        umask clear-environment change-environment prepare-round-up release-direction open-round-up open-folder \
        open-trap-float open-block-signals foreign-channels; do
        hostile $mode 0
        verdicts out | cmp - none || fail "$mode: other verdicts"
    done
    for mode in round-up trap-float direction; do
        HOSTILE_LOADED=$mode hostile none 0
        verdicts out | cmp - none || fail "$mode, in a constructor: other verdicts"
    done
}

test_decimal_comma() {
    command -v localedef >/dev/null || skip "no localedef"
    localedef -c -i de_DE -f UTF-8 "$PWD/de_DE.UTF-8" >made 2>&1 || [ -f de_DE.UTF-8/LC_NUMERIC ] || skip "no locale de_DE"
    export LOCPATH=$PWD LC_ALL=de_DE.UTF-8
    for mode in locale thread-locale prepare-locale open-locale; do
        hostile $mode 0
        hasnt out/journal.jsonl 'came damaged'
    done
    HOSTILE_LOADED=locale hostile none 0
}

run_tests
