#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs in shards: who runs what, what job systems say, and what nnvts merge makes of the folders.
. "$(dirname "$0")/lib.sh"

FAULTY=(--driver faulty:dilation-ignored --suite device,ops --tier smoke --filter 'suite:device | op:CONV_2D | op:TANH')

# json FILE EXPRESSION: of what the file holds, r (a list of its lines where it has several)
json() {
    python3 - "$@" <<'P'
import json, sys
text = open(sys.argv[1], encoding="utf-8").read()
r = json.loads(text) if not sys.argv[1].endswith(".jsonl") else [json.loads(line) for line in text.splitlines()]
value = eval(sys.argv[2])
print(value if isinstance(value, str) else json.dumps(value, sort_keys=True))
P
}

# What a report says beyond times, workers' numbers, places and how it was asked for.
lasting() { sed -E -e 's/ (time|timestamp|hostname)="[^"]*"//g' -e '/<property name="argv"/d' -e "s|$1/|FOLDER/|g" "$1/junit.xml"; }
# Conditions come from comparing the cases of a run, of which a shard has a part: they are not told of merged runs.
unconditional() { sed -E 's/; ((only|mostly) where|in (nearly )?all) [^"]*"/"/'; }
# shards N options...: the run in N shards, s1 to sN
shards() {
    local i n=$1
    shift
    for i in $(seq "$n"); do
        nnvts run "$@" --shard "$i/$n" --out "s$i" >"s$i.log" 2>&1 || [ $? = 1 ] || fail "shard $i: $(cat "s$i.log")"
    done
}

test_shards_are_a_partition() {
    local i
    nnvts list --tier smoke | sort >all
    for i in 1 2 3 4 5; do nnvts list --tier smoke --shard $i/5 >part$i; done
    cmp all <(sort part?) || fail "the shards are not all cases, each once"
    for i in 1 2 3 4 5; do
        [ $((5 * $(wc -l <part$i) * 10)) -gt $((8 * $(wc -l <all))) ] || fail "shard $i is small: $(wc -l <part$i)"
    done
    # of fewer cases, each is where it was
    for i in 1 2 3 4 5; do
        cmp <(nnvts list --tier smoke --filter 'op:ADD | op:MUL' --shard $i/5) \
            <(grep -Fxf <(nnvts list --tier smoke --filter 'op:ADD | op:MUL') part$i) || fail "cases moved"
    done
}
test_merged_is_the_run_in_one_piece() {
    check 1 nnvts run "${FAULTY[@]}" --flakes 0 --out whole
    shards 3 "${FAULTY[@]}" --flakes 0
    check 1 nnvts merge s2 s3 s1 --out merged
    has "$OUT" "$(wc -l <whole/cases.tsv | tr -d ' ') cases"
    cmp whole/cases.tsv merged/cases.tsv || fail "the lists differ"
    cmp <(verdicts whole) <(verdicts merged) || fail "verdicts differ"
    # what was tried again depends on how many failed before
    cmp <(lasting whole | unconditional) <(lasting merged | unconditional) || fail "junit.xml differs"
    for key in compared cases verdicts suites bugs exit_code interrupted; do
        same "$(json merged/summary.json "r['$key']")" "$(json whole/summary.json "r['$key']")" $key
    done
    same "$(json merged/journal.jsonl "r[0]['jobs']")" \
        "$(($(json s1/journal.jsonl "r[0]['jobs']") + $(json s2/journal.jsonl "r[0]['jobs']") + $(json s3/journal.jsonl "r[0]['jobs']")))"
    local bugs="[{k: v for k, v in b.items() if k != 'where'} for b in r['failures_by_bug']]"
    same "$(json merged/summary.json "$bugs")" "$(json whole/summary.json "$bugs")" failures_by_bug
    local words="sorted((k, v['op'], v['words']) for k, v in r.items() if 'words' in v)" # the rest are conditions
    same "$(json merged/explained.json "$words")" "$(json whole/explained.json "$words")"
    cmp <(cd whole/dumps && ls | sort) <(cd merged/dumps && ls | sort) || fail "dumps differ"
    # workers of two shards have different numbers
    local i workers=0
    for i in 1 2 3; do workers=$((workers + $(json s$i/journal.jsonl 'len({c["worker"] for c in r[1:]})'))); done
    same "$(json merged/journal.jsonl 'len({c["worker"] for c in r[1:]})')" $workers
    # replay lines lead to the merged dumps
    rm -rf s1 s2 s3
    check 1 bash -c "$(json merged/journal.jsonl 'next(c["replay"] for c in r if "dump" in c)')"
    check 1 nnvts report merged
    # a merged run can be merged: it is one of one
    check 1 nnvts merge merged --out again
    cmp <(lasting merged) <(lasting again) || fail "junit.xml differs"
}
test_what_shards_tried_again() {
    shards 2 "${FAULTY[@]}" --flakes 5
    check 1 nnvts merge s1 s2 --out merged
    same "$(json merged/flakes.json 'len(r["cases"])')" \
        $(($(json s1/flakes.json 'len(r["cases"])') + $(json s2/flakes.json 'len(r["cases"])')))
    same "$(json merged/flakes.json 'r["cases"][0]["class"]')" "deterministic"
}
test_merge_refuses() {
    local run=(--driver cpu --suite device) i
    shards 3 "${run[@]}"
    refused() {
        local words=$1
        shift
        check 2 nnvts merge "$@" --out merged
        has "$ERR" "$words"
        [ ! -e merged/junit.xml ] || fail "a report was written: $words"
    }
    refused "shard 2 of 3 is missing" s1 s3
    refused "shards 2 to 3 of 3 are missing" s1
    refused "shard 1 of 3 is there twice: s1 and s1" s1 s1 s2 s3
    cp -r s1 copy
    refused "shard 1 of 3 is there twice" s1 copy s2 s3
    check 0 nnvts run "${run[@]}" --seed 2 --shard 3/3 --out other
    refused "the seed differs: '2' in other, '1' in s1" s1 s2 other
    check 0 nnvts run --driver reference --suite device --shard 3/3 --out other
    refused "the driver differs: 'reference' in other" s1 s2 other
    check 0 nnvts run "${run[@]}" --filter 'device/t*' --shard 3/3 --out other
    refused "the selection of cases differs" s1 s2 other
    check 0 nnvts run "${run[@]}" --shard 3/4 --out other
    refused "the number of shards differs: '4' in other, '3' in s1" s1 s2 other
    check 0 nnvts run "${run[@]}" --tier smoke --shard 3/3 --out other
    refused "the tier differs" s1 s2 other
    # another build of the driver, of nnvts
    for i in driver program; do
        cp -r s3 build-$i && unseal build-$i
        sed -i "1s/\"$i\":\"[0-9a-f]*\"/\"$i\":\"0000000000000000\"/" build-$i/journal.jsonl
    done
    refused "the build of the driver differs" s1 s2 build-driver
    refused "the build of nnvts differs" s1 s2 build-program
}
test_merge_refuses_damage() {
    local i
    shards 3 --driver cpu --suite device
    for i in 1 2 3; do cp -r s$i good$i; done
    refused() {
        check 2 nnvts merge s1 s2 s3 --out merged
        has "$ERR" "$1"
        rm -rf s1 s2 s3
        for i in 1 2 3; do cp -r good$i s$i; done
    }
    rm -r s2/journal.jsonl && refused "s2/journal.jsonl: No such file or directory; is 's2' the folder of a run"
    rm -r s2 && refused "s2: No such file or directory"
    sed -i '$d' s2/journal.jsonl && refused "shard 2 of 3 (s2) has not ended: 1 of its"
    truncate -s -5 s2/journal.jsonl && refused "has not ended: 1 of its"
    sed -i '2p' s2/journal.jsonl && refused "has a second record"
    tail -n 1 s1/journal.jsonl >>s2/journal.jsonl && refused "is not one of this shard"
    sed -i '2s/"case"/"case/' s2/journal.jsonl && refused "s2/journal.jsonl:2: the line does not match its checksum"
    unseal s2 && sed -i '2s/"case"/"case/' s2/journal.jsonl && refused "not a record"
    sed -i '1d' s2/cases.tsv && refused "s2/cases.tsv: not the list of cases"
    sed -i '1d' s1/selection.tsv && refused "s1/selection.tsv: not the list of cases"
    check 2 nnvts merge s1 s2 s3 --out s2
    has "$ERR" "in one folder"
    check 2 nnvts merge --out merged
    has "$ERR" "which shards?"
}
test_partial() {
    shards 3 --driver cpu --suite device
    sed -i '$d' s1/journal.jsonl
    check 1 nnvts merge s1 s3 --out merged --partial
    has "$ERR" "1 of 3 shards are missing"
    same "$(wc -l <merged/cases.tsv)" "$(nnvts list --suite device | wc -l)"
    same "$(verdict merged NOTRUN)" $(($(wc -l <s2/cases.tsv) + 1))
    has merged/junit.xml 'message="not run"'
}
# The environment of job systems.
test_environment() {
    local run=(nnvts run --driver cpu --suite device --out out)
    shard() { has "$OUT" "shard $1"; }
    check 0 env NNVTS_SHARD=2/3 "${run[@]}"
    shard "2 of 3 (NNVTS_SHARD)"
    cmp out/cases.tsv <(nnvts list --suite device --shard 2/3 -v >/dev/null && grep -Ff <(nnvts list --suite device --shard 2/3) out/selection.tsv)
    check 0 env GTEST_SHARD_INDEX=1 GTEST_TOTAL_SHARDS=3 GTEST_SHARD_STATUS_FILE=seen "${run[@]}"
    shard "2 of 3 (GTEST_SHARD_INDEX)"
    [ -e seen ] || fail "no status file"
    check 0 env SLURM_ARRAY_TASK_ID=30 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=40 SLURM_ARRAY_TASK_STEP=10 SLURM_ARRAY_TASK_COUNT=4 "${run[@]}"
    shard "3 of 4 (SLURM_ARRAY_TASK_ID)"
    check 0 env JOB_COMPLETION_INDEX=0 NNVTS_SHARD_TOTAL=2 "${run[@]}"
    shard "1 of 2 (JOB_COMPLETION_INDEX)"
    check 0 env CI_NODE_INDEX=1 CI_NODE_TOTAL=2 "${run[@]}"
    shard "1 of 2 (CI_NODE_INDEX)"
    # what every job has is no shard
    check 0 env CI_NODE_TOTAL=1 "${run[@]}"
    hasnt "$OUT" shard
    # the option wins, and none is none
    check 0 env CI_NODE_INDEX=1 CI_NODE_TOTAL=2 "${run[@]}" --shard 3/4
    shard "3 of 4  "
    check 0 env CI_NODE_INDEX=1 CI_NODE_TOTAL=2 "${run[@]}" --no-shard
    hasnt "$OUT" shard
    # what cannot be a shard is said, not guessed
    check 2 env JOB_COMPLETION_INDEX=0 "${run[@]}"
    has "$ERR" "NNVTS_SHARD_TOTAL is not set: how many shards are there?"
    check 2 env SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_COUNT=3 "${run[@]}"
    has "$ERR" "not numbered in equal steps"
    check 2 env CI_NODE_INDEX=0 CI_NODE_TOTAL=2 "${run[@]}"
    check 2 env CI_NODE_INDEX=x CI_NODE_TOTAL=2 "${run[@]}"
    local wrong
    for wrong in 0/4 5/4 1/0 1 /4 1/ 1/4/ -1/4 1/4x 1/200000 ''; do check 2 "${run[@]}" --shard "$wrong"; done
}
# Times of an earlier run make shards of equal length.
test_balance() {
    local i sums=()
    check 0 nnvts run --driver cpu --suite ops --tier smoke --filter 'op:ADD | op:CONV_2D' --out past
    # every tenth case took a hundred times as long as the others
    unseal past
    awk -F'"ms":' 'NR == 1 {print; next} {sub(/^[0-9.]*/, NR % 10 == 0 ? "100.000" : "1.000", $2); print $1 "\"ms\":" $2}' past/journal.jsonl >j
    mv j past/journal.jsonl
    for i in 1 2 3; do
        check 0 nnvts run --driver cpu --suite ops --tier smoke --filter 'op:ADD | op:CONV_2D' --shard $i/3 --balance past --out s$i
        sums+=("$(json past/journal.jsonl "sum({c['case']: c['ms'] for c in r[1:]}[line.split('\t')[0]] for line in open('s$i/cases.tsv'))")")
    done
    echo "${sums[@]}" | awk '{for (i = 1; i <= 3; i++) {m = m > $i ? m : $i; s += $i} exit !(m <= 1.05 * s / 3)}' || fail "out of balance: ${sums[*]}"
    check 0 nnvts merge s1 s2 s3 --out merged
    same "$(wc -l <merged/cases.tsv)" "$(wc -l <past/cases.tsv)"
    # divided by other times, cases would be lost
    check 0 nnvts run --driver cpu --suite ops --tier smoke --filter 'op:ADD | op:CONV_2D' --shard 3/3 --out other
    check 2 nnvts merge s1 s2 other --out merged
    has "$ERR" "how cases were divided differs: 'hash' in other"
    check 2 nnvts run --driver cpu --suite ops --tier smoke --balance past --out out
    has "$ERR" "which shard is this?"
    check 2 nnvts run --driver cpu --suite device --shard 1/2 --balance past --out out
    has "$ERR" "has none of these cases"
}
# A shard without cases, or with nothing to compare, proves nothing and breaks nothing.
test_empty_shards() {
    shards 40 --driver cpu --suite device
    local i empty=0
    for i in $(seq 40); do [ -s s$i/cases.tsv ] || empty=$((empty + 1)); done
    [ $empty -gt 0 ] || fail "no shard is empty"
    check 0 nnvts run --driver cpu --suite device --shard 1/40 --out s1
    check 0 nnvts merge s*[0-9] --out merged
    same "$(verdict merged PASS)" "$(nnvts list --suite device | wc -l)"
}
test_resume_of_a_shard() {
    check 0 nnvts run --driver cpu --suite device --shard 2/3 --out out
    sed -i '$d' out/journal.jsonl
    check 2 nnvts run --driver cpu --suite device --shard 1/3 --out out --resume
    has "$ERR" "give the same suites, filter, specs and shard"
    check 0 nnvts run --driver cpu --suite device --shard 2/3 --out out --resume
    same "$(verdicts out | wc -l)" "$(wc -l <out/cases.tsv)"
}
test_many_cases() {
    [ -x "$NNVTS_BUILD/bench/bench_journal" ] || skip "bench_journal was not built"
    check 0 "$NNVTS_BUILD/bench/bench_journal" "$NNVTS_BUILD/nnvts" 20000 5
}
run_tests
