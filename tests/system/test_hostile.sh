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
        open-trap-float open-block-signals foreign-channels idle personality no-processes unshare timer-slack second-runtime \
        wipe-on-fork hang-in-fork seek-all truncate-all unlock-all nonblocking-all read-input; do
        hostile $mode 0
        verdicts out | cmp - none || fail "$mode: other verdicts"
    done
    for mode in round-up trap-float direction; do
        HOSTILE_LOADED=$mode hostile none 0
        verdicts out | cmp - none || fail "$mode, in a constructor: other verdicts"
    done
}

# What nnvts cannot do with the limits that a driver left is no fault of nnvts, and costs no other case.
test_lowered_limits() {
    check 1 timeout 120 nnvts run --driver "$HOSTILE:no-memory#25" --filter 'op:SOFTMAX & suite:ops | ops/ADD/float32/*' --tier smoke --jobs 2 --out out
    has out/journal.jsonl 'the driver lowered limits of the process'
    same "$(verdict out ERROR) $(verdict out CRASH)" "0 0"
    same "$(verdicts out | grep ops/ADD | grep -vc PASS)" 0
}

# Other cases sleep as long as they mean to, whatever slack a driver has given the thread.
test_timer_slack() {
    check 0 timeout 120 nnvts run --driver "$HOSTILE:timer-slack#19" --filter 'ops/RELU/float32/rank2/* | exec/fenced/*' \
        --timeout 3 --jobs 1 --out out
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

# What the workers share is written over by the cases of one operation: they fail, and nothing else does.
test_shared_memory() {
    for mode in hub-stop hub-ones hub-next-high hub-next-low shared-ones show-life; do
        check 1 timeout 120 nnvts run --driver "$HOSTILE:$mode#19" --filter 'ops/SOFTMAX/float32/* | ops/RELU/float32/rank*' \
            --timeout 3 --jobs 2 --out out
        same "$(verdicts out | grep -c 'SOFTMAX.* PASS')" "$(grep -c SOFTMAX out/cases.tsv)" "$mode"
        [ "$(grep -c 'wrote over memory of nnvts' out/journal.jsonl)" -gt 3 ] || fail "$mode: the culprits are not named"
    done
    # Each worker does it: the run ends all the same.
    check 1 timeout 120 nnvts run --driver "$HOSTILE:hub-stop" --filter 'ops/RELU/float32/rank*' --timeout 3 --out out
}

# all_ended PID: no child of it runs any more
all_ended() {
    local child
    for child in $(pgrep -P "$1"); do grep -q '^State:.Z' "/proc/$child/status" || return; done
}

# A record that waits for nnvts, which is stopped, is altered: none is kept as it came, and the cases of one operation
# fail, but perhaps the first, in which that was not done yet.
test_waiting_records() {
    export HOSTILE_MARK=$PWD/mark
    local pid code=0
    nnvts run --driver "$HOSTILE:ring-last#19" --filter 'ops/SOFTMAX/float32/* | ops/RELU/float32/rank*' --timeout 60 \
        --jobs 1 --out out >"$OUT" 2>"$ERR" </dev/null &
    pid=$!
    trap 'kill -CONT $(jobs -p) 2>/dev/null && kill $(jobs -p) || :' EXIT
    await [ -e mark ]
    kill -STOP $pid
    await grep -q '^State:.T' /proc/$pid/status
    touch mark.go
    await all_ended $pid
    kill -CONT $pid
    wait $pid || code=$?
    same $code 1
    same "$(verdicts out | grep -c 'SOFTMAX.* PASS')" "$(grep -c SOFTMAX out/cases.tsv)"
    same "$(verdicts out | grep -c 'RELU.* PASS')" 1
    same "$(grep -c 'wrote over memory of nnvts' out/journal.jsonl)" "$(($(grep -c RELU out/cases.tsv) - 1))"
    check 0 nnvts verify out
}

test_nnvts_is_out_of_reach() {
    hostile none 0
    verdicts out >none
    for mode in kill-parent stop-parent crash-parent trace-parent own-parent slow-parent kill-parent-32 kill-parent-x32; do
        hostile $mode 0
        verdicts out | cmp - none || fail "$mode: other verdicts"
    done
}

# A case that ends nnvts itself is run last and alone by --resume, and blamed when that happens twice more.
test_death_of_nnvts() {
    local run="nnvts run --driver $HOSTILE:end-nnvts#19 --filter ops/SOFTMAX/float32/*|ops/RELU/float32/rank2/0 --out out"
    check 137 timeout 60 $run --jobs 1
    grep -aq 'ops/RELU/float32/rank2/0' out/running || fail "the case is not noted"
    check 137 timeout 60 $run --jobs 1 --resume
    [ "$(verdicts out | wc -l)" -gt 100 ] || fail "it did not run last"
    check 137 timeout 60 $run --jobs 1 --resume
    check 1 timeout 60 $run --jobs 1 --resume
    same "$(verdict out CRASH)" 1
    same "$(verdict out PASS)" "$(grep -c SOFTMAX out/cases.tsv)"
    has out/journal.jsonl 'nnvts itself was killed while this case ran, and twice more'
    [ ! -e out/running ] || fail "the note stays"
}

# A driver that takes the device along is not asked 200 times more; what died comes first, and nothing passes for it.
test_lost_device() {
    export HOSTILE_MARK=$PWD/mark
    local run="timeout 100 nnvts run --driver $HOSTILE:lose-device#19 --filter ops/SOFTMAX/float32/*|ops/RELU/float32/rank* --jobs 1"
    check 1 $run --out out
    same "$(verdict out CRASH)" 1
    same "$(verdict out PASS)" "$(($(wc -l <out/cases.tsv) - 1 - $(verdict out NOTRUN)))"
    [ "$(verdict out NOTRUN)" -gt 20 ] || fail "it went on"
    has "$OUT" "not run: device lost after case ops/RELU/float32/"
    has out/report.html "device lost after case ops/RELU/float32/"
    has out/junit.xml 'type="DEVICE_LOST"'
    check 0 nnvts verify out
    # brought back by hand: --resume runs what was not run
    rm mark
    check 1 $run --out out --resume
    same "$(verdicts out | wc -l)" "$(wc -l <out/cases.tsv)"
    same "$(verdict out CRASH)" 2
    # brought back by a command
    rm -f mark
    check 1 $run --out out --reset-hook "rm -f mark; echo back after \$NNVTS_WHAT of \$NNVTS_CASE"
    same "$(verdict out NOTRUN)" 0
    [ "$(verdict out CRASH)" -gt 10 ] || fail "not all culprits died"
    has "$ERR" "back after CRASH of ops/RELU/float32/"
    # it opens, but its answers are wrong
    rm -f mark
    check 1 timeout 100 nnvts run --driver "$HOSTILE:upset-device#19" --out out --jobs 1 \
        --filter 'ops/SOFTMAX/float32/* | ops/RELU/float32/rank*'
    has "$OUT" "which had passed, does not pass now"
    rm -f mark
}

# A driver that hangs in everything costs minutes, and says so.
test_hangs() {
    check 1 timeout 100 nnvts run --driver "$HOSTILE:hang#19" --timeout 1 --out out \
        --filter 'ops/SOFTMAX/float32/* | ops/RELU/float32/rank*'
    [ "$(verdict out TIMEOUT)" -le 6 ] || fail "$(verdict out TIMEOUT) hung"
    same "$(verdicts out | grep -c 'SOFTMAX.* PASS')" "$(grep -c SOFTMAX out/cases.tsv)"
    has "$OUT" "not run: 3 cases of RELU in execute did not end"
    check 1 timeout 100 nnvts run --driver "$HOSTILE:hang" --timeout 1 --out out --suite ops --tier smoke \
        --max-timeouts 4 --jobs 2
    has "$OUT" "did not end: as many as --max-timeouts allows"
    check 1 timeout 100 nnvts run --driver "$HOSTILE:segv" --out out --suite ops --tier smoke --max-failures 5
    has "$OUT" "went wrong: as many as --max-failures allows"
}

# Results go to the folder that was opened, whatever its name leads to by then.
test_exchanged_folder() {
    export HOSTILE_OUT=$PWD/out
    mkdir victim
    hostile exchange-folder 0 --keep-passes 5 --jobs 1
    [ -L out ] && [ -z "$(ls -A victim)" ] || fail "written outside: $(ls victim)"
    for file in summary.json junit.xml report.html clauses.json; do [ -s out.stolen/$file ] || fail "no $file"; done
    same "$(verdicts out.stolen | wc -l)" "$(wc -l <out.stolen/cases.tsv)"
    [ -n "$(ls out.stolen/dumps)" ] || fail "no dumps"
}

# none_left PATTERN WHAT
none_left() {
    [ -z "$(pgrep -f -- "$1")" ] || fail "$2: a process of the driver lives on"
}

# What a driver starts ends with its worker, in whatever session it hides.
test_children() {
    for mode in daemon children; do
        check 0 timeout 60 nnvts run --driver "$HOSTILE:$mode#19" --filter 'ops/RELU/float32/rank*' --out out
        has "$ERR" "processes of the driver behind: they were ended"
        none_left "hostile.so:$mode" "$mode"
    done
}

# So does what it starts in any other process, whatever the verb: while it is loaded, opened and closed.
test_daemons() {
    local verb spec driver=$PWD/daemons.so
    cp "$HOSTILE" "$driver"
    check 0 nnvts run -d cpu -k ops/RELU/float32/rank2/0 --keep-passes 1 -o kept
    spec=$(find kept/dumps -name '*.json')
    for verb in "drivers $driver:open-daemon" "plan $spec --drivers $driver:open-daemon" \
        "run -d $driver:open-daemon -k ops/RELU/float32/rank2/0 -o out" \
        "explain $spec -d $driver:open-daemon" "bisect $spec -d $driver:open-daemon" \
        "fuzz -d $driver:open-daemon --time 0.1 -o fuzz" \
        "bench -d $driver:open-daemon --model $spec --time 0.01 -o bench" \
        "datasheet -d $driver:open-daemon --time-budget 0.01 -o sheet" \
        "run -d $driver:close-daemon -k ops/RELU/float32/rank2/0 -o out"; do
        timeout 60 nnvts $verb >"$OUT" 2>"$ERR" </dev/null || [ $? -le 2 ] || fail "$verb"
        none_left "$driver" "$verb"
        [[ $verb != run*open* ]] || has "$ERR" "the driver, when it was asked, left 1 processes behind: they were ended"
    done
    has "$ERR" "worker 1 left 1 processes of the driver behind: they were ended"
    for verb in "drivers $driver:none" "explain $spec -d $driver:none"; do
        HOSTILE_LOADED=daemon check 0 timeout 60 nnvts $verb
        none_left "$driver" "$verb"
    done
    # What a check of the user's starts serves the next one, too.
    check 2 timeout 60 nnvts bisect "$spec" --check "setsid -f tail -f $PWD/kept/journal.jsonl; sleep 0.1; true"
    pkill -f "tail -f $PWD" || fail "what a check started does not live"
}

# A driver that dies or hangs when it is closed is found, whatever was selected.
test_close() {
    check 1 timeout 60 nnvts run --driver "$HOSTILE:close-segv" --filter 'ops/RELU/float32/rank*' --out out --jobs 1
    same "$(verdict out CRASH)" 1
    has "$OUT" "driver died with SIGSEGV in close"
    check 1 timeout 60 nnvts run --driver "$HOSTILE:close-hang" --filter 'ops/RELU/float32/rank*' --out out --jobs 1 --timeout 1
    same "$(verdict out TIMEOUT)" 1
}

test_absurd_levels() {
    for mode in level-negative level-absurd; do
        check 1 timeout 60 nnvts run --driver "$HOSTILE:$mode" --suite device --out out
        has out/journal.jsonl 'is not between 1 and 8'
    done
    # What stands in nobody's way costs no other suite its word, and is no mistake of nnvts.
    check 1 timeout 60 nnvts run --driver "$HOSTILE:level-negative" --suite device,partition --out out
    same "$(verdict out ERROR) $(verdict out FAIL)" "0 1"
    has out/journal.jsonl 'the runtime leaves the driver out: its feature level is not one of 1 to 8'
    check 1 timeout 60 nnvts run --driver "$HOSTILE:cache-files" --out out \
        --filter 'suite:device | isolation/leak_caches/*'
    same "$(verdict out ERROR) $(verdict out FAIL)" "0 1"
    check 0 timeout 60 nnvts run --driver "$HOSTILE:none" --suite memory,partition,validate --out out
}

# Nothing that a driver says moves a terminal.
test_terminal() {
    local code
    for mode in name-controls version-controls open-error-controls print-controls; do
        code=0
        [ $mode = open-error-controls ] && code=2
        check $code timeout 60 nnvts run --driver "$HOSTILE:$mode" --filter 'ops/RELU/float32/rank*' --out out
        ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$OUT" "$ERR" || fail "$mode: control characters"
        check $code timeout 60 nnvts drivers "$HOSTILE:$mode"
        ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$OUT" "$ERR" || fail "$mode: control characters in drivers"
    done
}

# Nor does anything in files that others made: specs, journals, archives.
test_terminal_of_files() {
    command -v python3 >/dev/null || skip "no python3"
    local verb
    check 1 nnvts run -d faulty:beta-ignored -k 'ops/SOFTMAX/float32/rank*' -q -o run
    python3 - "$(find run/dumps -name '*.json' | sort | head -n 1)" <<'P'
import json, re, shutil, sys, tarfile
bad = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202e"
spec = json.load(open(sys.argv[1]))
shutil.copytree("run", "changed")
lines = [re.sub(r',"sum":"[0-9a-f]*"}$', "}", line) for line in open("run/journal.jsonl").read().splitlines()]
spec["name"] += bad
json.dump(spec, open("name.json", "w"))
spec["main"]["operands"][0]["type"] = bad
json.dump(spec, open("type.json", "w"))
records = [json.loads(line) for line in lines]
for record in records[1:]:
    for member in "case", "op", "type", "tags", "reason":
        record[member] = record.get(member, "") + bad
open("changed/journal.jsonl", "w").write("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in records))
with tarfile.open("bad.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
    tar.add("run/cases.tsv", "\x1b[2J\x07")
P
    for verb in "show name.json" "show type.json" "plan name.json --drivers cpu" "explain name.json -d cpu" "replay type.json -d cpu" \
        "bench -d cpu --model name.json --time 0.01 -o bench" "run -d cpu --suite spec --specs name.json -o spec" "verify changed" \
        "report changed --format csv" "report changed --format tap" "report changed" "trend changed run" "compare run changed" \
        "verify bad.tar" $'show \033[2J' $'\033[2J' "plan run/dumps/$(ls run/dumps | head -n 1) --drivers $HOSTILE:name-controls" \
        "datasheet -d $HOSTILE:version-controls --time-budget 0.01 -o sheet"; do
        nnvts $verb >"$OUT" 2>"$ERR" </dev/null || [ $? -le 2 ] || fail "$verb"
        [ -s "$OUT" ] || [ -s "$ERR" ] || fail "$verb says nothing"
        ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$OUT" "$ERR" || fail "$verb: control characters"
    done
}

# A driver that shares no process with its judge cannot write its own verdicts; verify says which it was.
test_isolated_judge() {
    check 0 nnvts run --driver cpu --filter 'ops/RELU/float32/rank*' --isolate-judge --out out
    has out/journal.jsonl '"argument":"host:cpu"'
    check 0 nnvts verify out
    hasnt "$OUT" "its word"
    check 0 nnvts verify out --json
    has "$OUT" '"isolated":true'
    check 0 nnvts run --driver cpu --filter 'ops/RELU/float32/rank*' --out out
    check 0 nnvts verify out
    has "$OUT" "that it did not write its own verdicts is its word"
}

run_tests
