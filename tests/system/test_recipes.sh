#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The recipes for job systems (tools/recipes): those for CI servers are read, and their commands run; those for Slurm and
# ssh are run as they are, where the tools are installed.
. "$(dirname "$0")/lib.sh"

# An nnvts that judges little: the recipes do not say what to judge.
small_nnvts() {
    mkdir bin
    printf '#!/bin/sh\n[ "$1" = run ] && set -- "$@" --suite device,ops --tier smoke --filter "suite:device | op:ADD"\nexec "%s" "$@"\n' \
        "$NNVTS_BUILD/nnvts" >bin/nnvts
    chmod +x bin/nnvts
    PATH=$PWD/bin:$PATH
}
runs_as_one() {
    python3 -c 'import yaml' 2>/dev/null || skip "python3 has no yaml (Debian: apt-get install python3-yaml)"
    small_nnvts
    check 0 python3 "$ROOT/tests/system/recipes.py" "$ROOT/tools/recipes/$1"
    [ "$(find . -maxdepth 1 -name 'shard-*' | wc -l)" -ge 2 ] || fail "no shards"
    same "$(wc -l <whole/cases.tsv)" "$(nnvts list --suite device,ops --tier smoke --filter 'suite:device | op:ADD' | wc -l)"
    same "$(verdict whole NOTRUN)" 0
}
test_github() { runs_as_one github-actions.yml; }
test_gitlab() { runs_as_one gitlab-ci.yml; }
test_jenkins() { runs_as_one Jenkinsfile; }
test_kubernetes() { runs_as_one kubernetes.yml; }

# recipe NAME [options of nnvts run...]
recipe() {
    local name=$1 code=0
    shift
    timeout 120 "$ROOT/tools/recipes/$name" "$NNVTS_BUILD" out "$@" >"$OUT" 2>"$ERR" </dev/null || code=$?
    [ $code != 77 ] || skip "$(sed -n 's/^recipe: skipped: //p' "$OUT")"
    [ $code = 0 ] || fail "exit code $code: $(tail -n 5 "$OUT" "$ERR")"
    has "$OUT" "the merged report of 4 shards is that of the run in one piece"
}
test_slurm() {
    recipe slurm.sh
    has "$OUT" "shard 4 of 4 (SLURM_ARRAY_TASK_ID)"
}
# Failures with dumps and replay lines come home, too.
test_parallel_of_a_faulty_driver() {
    recipe parallel.sh --driver faulty:dilation-ignored --suite device,ops --tier smoke --filter 'suite:device | op:CONV_2D'
    [ -n "$(ls out/merged/dumps)" ] || fail "no dumps"
}
run_tests
