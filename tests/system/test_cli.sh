#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What bad input gets: one clear error, the right exit code, nothing lost.
. "$(dirname "$0")/lib.sh"

# one_error TEXT: stderr is one line that begins with nnvts and contains TEXT
one_error() {
    same "$(wc -l <"$ERR")" 1 "lines on stderr: $(cat "$ERR")"
    has "$ERR" "nnvts"
    has "$ERR" "$1"
}

test_help() {
    check 0 nnvts --help
    same "$(grep -E '^[a-z]' "$OUT" | sort | uniq -d)" "" # each task once, its verbs together
    has "$OUT" "judge a driver"
    check 2 nnvts
    for verb in $(nnvts --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
        check 0 nnvts $verb --help
        has "$OUT" "nnvts $verb"
        has "$OUT" "xamples"
    done
    check 0 nnvts --version
}
# complete WORD...: what bash would offer for the last word
complete() {
    bash -c '. <(nnvts completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _nnvts; echo "${COMPREPLY[*]}"' nnvts "$@"
}
test_completion() {
    same "$(complete nnvts re)" "replay reduce report"
    same "$(complete nnvts run --tier f)" "full"
    same "$(complete nnvts run --suite ops,ran)" "ops,randgraph"
    same "$(complete nnvts completion z)" "zsh"
    same "$(complete nnvts reduce --timeout-t)" "--timeout-total"
    same "$(complete nnvts bi)" "bisect"
    same "$(complete nnvts run --prec)" "--precision"
    same "$(complete nnvts run -d tem)" "template"
    same "$(complete nnvts op SOF)" "SOFTMAX"
    same "$(complete nnvts im)" "import"
    same "$(complete nnvts pl)" "plan"
    same "$(complete nnvts part)" "partition"
    same "$(complete nnvts plan --pref)" "--preference"
    same "$(complete nnvts plan --drivers temp)" "template"
    same "$(complete nnvts plan --drivers cpu,temp)" "cpu,template"
    same "$(complete nnvts import --o)" "--out"
    same "$(complete nnvts bench mobilenet_v1_0.25_128_q)" "mobilenet_v1_0.25_128_quant8"
    same "$(complete nnvts gate --model mobilenet_v1_0.25_128_q)" "mobilenet_v1_0.25_128_quant8"
    same "$(complete nnvts bench -d cpu,temp)" "cpu,template"
    same "$(complete nnvts bench --mode b)" "burst"
    same "$(complete nnvts bench --lay)" "--layers"
}
test_unknown_verb() { check 2 nnvts rum; one_error "did you mean 'run'"; }
test_unknown_option() { check 2 nnvts run --drivr cpu; one_error "--driver"; }
test_bad_number() { check 2 nnvts run --driver cpu --seed 12x; one_error "12x"; }
test_zero_jobs() { check 2 nnvts run --driver cpu --jobs 0; one_error "jobs"; }
test_no_driver() { check 2 nnvts run; one_error "--driver"; }
test_missing_driver() { check 2 nnvts run --driver nosuch; one_error "nosuch"; has "$ERR" "cpu"; }
test_missing_path() { check 2 nnvts run --driver ./nosuch.so; one_error "./nosuch.so"; }
test_not_a_shared_object() {
    echo "not an ELF file" >fake.so
    check 2 nnvts run --driver ./fake.so
    one_error "./fake.so"
}
compile() { gcc -std=c17 -shared -fPIC -I "$ROOT/include" -o "$1" -x c -; }
test_no_symbol() {
    echo 'int nothing;' | compile none.so
    check 2 nnvts run --driver ./none.so
    one_error "no symbol nnvts_driver_get"
}
test_wrong_abi() {
    compile old.so <<'EOF'
#include "nnvts/driver.h"
static const struct nnvts_driver table = {sizeof table, 99, "old", 0, 0};
const struct nnvts_driver *nnvts_driver_get(void) { return &table; }
EOF
    check 2 nnvts run --driver ./old.so
    one_error "99"
}
test_driver_crashes_in_open() {
    compile crash.so <<'EOF'
#include "nnvts/driver.h"
static enum nnvts_status crash(const char *o, struct nnvts_device **d, const char **e) {
    (void)o; (void)d; (void)e;
    __builtin_trap();
}
static const struct nnvts_driver table = {sizeof table, NNVTS_DRIVER_ABI_VERSION, "crash", crash, 0};
const struct nnvts_driver *nnvts_driver_get(void) { return &table; }
EOF
    check 2 nnvts run --driver ./crash.so
    one_error "died"
}
test_unknown_driver_option() { check 2 nnvts run --driver faulty:nosuchbug; one_error "nosuchbug"; }
test_unknown_suite() { check 2 nnvts run --driver cpu --suite opps; one_error "opps"; }
test_unknown_operation() { check 2 nnvts run --driver cpu --filter op:CONF_2D; one_error "CONV_2D"; }
test_syntax_of_filter() { check 2 nnvts list --filter 'op:CONV_2D & ('; one_error "column"; }
test_empty_selection() { check 2 nnvts run --driver cpu --filter 'ops/ADD/*' --suite device; one_error "no case"; }
test_missing_specs() { check 2 nnvts run --driver cpu --suite spec --specs ./nosuch; one_error "nosuch"; }
# What a case is for; what is in a folder that is no run's stays.
test_what_a_case_is_for() {
    check 0 nnvts explain ops/ADD/float32/rank1/0
    has "$OUT" "ops/ADD/float32/rank1/0: single operations, every type"
    grep -q '^  NN-ADD-' "$OUT" || fail "no rule"
    check 2 nnvts explain ops/ADD/float32/rank1/77777; has "$ERR" "has no case"
}
test_folders_of_others_are_spared() {
    mkdir mine && echo kept >mine/report.html
    check 2 nnvts run --driver cpu --suite device --out mine; has "$ERR" "mine holds report.html, but no run"
    same "$(cat mine/report.html)" kept
    mkdir empty && check 0 nnvts run --driver cpu --suite device --out empty -q
}
# Names that nobody knows are answered with the nearest; what is given twice is no silent choice.
test_did_you_mean() {
    check 2 nnvts run --driver cpx; has "$ERR" "did you mean 'cpu'?"
    check 2 nnvts run --driver faulty:beta-ignord; has "$ERR" "did you mean 'beta-ignored'?"
    check 2 nnvts run --driver cpu --filter 'ops/COVN_2D/*'; has "$ERR" "(did you mean 'ops/CONV_2D'? see all "
    has "$ERR" " with nnvts list)"
    check 2 nnvts run --driver cpu --filter 'exec/sink/*'; has "$ERR" "(did you mean 'exec/sync'? see all "
    check 2 nnvts op CONV2D; has "$ERR" "did you mean 'CONV_2D'?"
    check 2 nnvts bench --driver cpu --model figures_flot; has "$ERR" "did you mean 'figures_float'?"
    check 2 nnvts run -d cpu -d reference --suite device; has "$ERR" "-d is given twice, as 'cpu' and 'reference'"
    check 2 nnvts list -k '~(a'; has "$ERR" "regular expression '(a': Unmatched"
    check 0 nnvts list --suites; grep -q '^device  *18  ' "$OUT" || fail "no line for the suite device"
}
# How long cases will take, by a run of some of them; tiers, and what they say of their time.
test_estimates() {
    check 0 nnvts run --driver cpu --suite device,ops --filter 'device/* | op:ADD' --tier ci --out past
    has "$OUT" "  tier ci, no case begins after 10 min 0 s  "
    has past/journal.jsonl '"tier":"ci","time_budget":600.000,'
    hasnt past/journal.jsonl '"verdict":"SKIP","why":"TIME_BUDGET"'
    check 0 nnvts run --driver cpu --suite device --tier ci --time-budget 30 --out own
    has "$OUT" "  tier ci, no case begins after 30.0 s  "
    check 0 nnvts list --suite device,ops --filter 'op:ADD | op:SUB' --times past --json
    same "$(grep -c '"op":"ADD".*"seconds":[0-9.]*,"measured":true' "$OUT")" "$(grep -c '"op":"ADD"' past/journal.jsonl)"
    # what did not run counts as the mean of what is like it
    same "$(grep '"op":"SUB"' "$OUT" | sed 's/.*"seconds":\([0-9.]*\),"measured":false.*/\1/' | sort -u | wc -l)" 1
    # ... and what is like nothing there as the mean of all, within a microsecond
    check 0 nnvts list --suite memory --times past --json
    same "$(sed 's/.*"seconds":\([0-9.]*\),"measured":false.*/\1/' "$OUT" | sort -u | wc -l)" 1
    sed -n 's/^{"case":.*"ms":\([0-9.]*\),.*/\1/p' past/journal.jsonl |
        awk -v told="$(sed -n '1s/.*"seconds":\([0-9.]*\),.*/\1/p' "$OUT")" '{ sum += $1 / 1000 }
            END { d = sum / NR - told; exit !(NR > 100 && d * d < 1.1e-6 ^ 2) }' || fail "not the mean of all"
    check 0 nnvts list --suite ops --filter op:SUB --times past
    same "$(awk '{print NF}' "$OUT" | sort -u)" 2
    # one worker takes as long as all cases together, but for what is rounded
    check 0 nnvts list --tiers --suite device,ops --filter 'device/* | op:ADD' --json --times past
    sed -n 's/^{"case":.*"ms":\([0-9.]*\),.*/\1/p' past/journal.jsonl |
        awk -v told="$(sed -n 's/^{"tier":"ci".*"seconds":\([0-9.]*\),.*/\1/p' "$OUT")" '{ sum += $1 / 1000 }
            END { d = sum - told; exit !(told > 0 && d * d < (0.0005 + NR * 1e-6) ^ 2) }' || fail "not the sum of all"
    check 0 nnvts list --tiers --suite device,ops,randgraph --json --times past
    same "$(sed 's/.*"tier":"\([a-z]*\)".*/\1/' "$OUT" | tr '\n' ' ')" "smoke default full ci soak "
    local full soak
    full=$(sed -n 's/.*"full","cases":\([0-9]*\),.*/\1/p' "$OUT") soak=$(sed -n 's/.*"soak","cases":\([0-9]*\),.*/\1/p' "$OUT")
    same "$(sed -n 's/.*"default","cases":\([0-9]*\),.*/\1/p' "$OUT")" "$(sed -n 's/.*"ci","cases":\([0-9]*\),.*/\1/p' "$OUT")"
    [ "$soak" -gt $((full + 100000)) ] || fail "soak has $soak cases, full $full"
    has "$OUT" '"time_budget":28800.000'
    check 0 nnvts list --tiers --suite device
    grep -q '^ci  *18  *10 min 0 s  those of default' "$OUT" || fail "no line for ci"
    check 2 nnvts list --times nowhere; has "$ERR" "--times: "
}
# A spec that cannot be read is a usage error in every verb, and its bytes do nothing to a terminal.
test_malformed_spec() {
    printf '\033[31m\200{' >garbage.relay
    printf '{"name":' >bad.json
    check 2 nnvts run --driver cpu --suite spec --specs bad.json --out out
    has out/journal.jsonl '"why":"MALFORMED"'
    check 2 nnvts run --driver cpu --suite device,validate,spec --filter 'suite:device | spec/* | validate/spec/*' --specs bad.json --out out
    same "$(verdict out ERROR)" 2
    hasnt "$ERR" 'in nnvts itself'
    check 2 nnvts list --suite spec --specs bad.json
    has "$OUT" "spec/bad/line1"; has "$ERR" "bad.json:1: no spec can be read here"
    check 2 nnvts replay bad.json --driver cpu
    check 2 nnvts explain bad.json --driver cpu
    check 2 nnvts show garbage.relay
    ! LC_ALL=C grep -q "$(printf '[\033\200]')" "$ERR" || fail "raw bytes"
}
# What a spec is called and selected by is read from its text: members in any order, the last of a name, escapes, space.
test_traits_of_specs() {
    cat >odd.jsonl <<'END'
{"name":"a\u0062","min_version":"1.2","main":{"operands":[{"type":"TENSOR_INT32"},{"dims":[],"type":"TENSOR_FLOAT16"}],"operations":[{"inputs":[1],"type":"ADD"}],"inputs":[1],"outputs":[0]},"relaxed":true}
  {"name":"\ud83d\ude00 b", "expect_failure" : true, "main":{"outputs":[0],"inputs":[],"operands":[{"type":"TENSOR_INT32"}],"operations":[]}}
{"name":"x","name":7,"main":{"outputs":[-1],"inputs":[],"operands":[{"type":"TENSOR_INT32"}],"operations":{"type":"MUL"}}}
{"name":"twice","main":{"operations":[{"type":"ADD"}]},"main":{"operations":[{"type":"SUB","type":"M\u0055L"},{"type":"DIV"}],"inputs":[3],"operands":[{"type":"TENSOR_INT32"}]}}
{"name":"twice","relaxed":true,"relaxed":1,"main":[]}
{"name":"cut"
[1]
{"name":"junk"} x
END
    printf '\n {\n "name" : "pretty",\n\t"main": {\r\n "operations" : [ { "type" : "RELU" } ], "inputs" : [ 0 ], "operands" : [ { "type" : "TENSOR_QUANT8_ASYMM" } ] } }\n\n' >pretty.json
    check 2 nnvts list --suite spec --specs odd.jsonl --json
    cat >wanted <<'END'
{"case":"spec/odd/ab","suite":"spec","op":"ADD","type":"float16","tags":"relaxed","level":3}
{"case":"spec/odd/_____b","suite":"spec","op":"","type":"int32","tags":"expect_failure","level":0}
{"case":"spec/odd/line3","suite":"spec","op":"","type":"","tags":"","level":0}
{"case":"spec/odd/twice","suite":"spec","op":"MUL","type":"","tags":"","level":0}
{"case":"spec/odd/twice~2","suite":"spec","op":"","type":"","tags":"","level":0}
{"case":"spec/odd/line6","suite":"spec","op":"","type":"","tags":"malformed","level":0}
{"case":"spec/odd/line7","suite":"spec","op":"","type":"","tags":"malformed","level":0}
{"case":"spec/odd/line8","suite":"spec","op":"","type":"","tags":"malformed","level":0}
END
    cmp "$OUT" wanted
    has "$ERR" 'odd.jsonl:6: no spec can be read here'
    check 0 nnvts list --suite spec --specs pretty.json --json
    same "$(cat "$OUT")" '{"case":"spec/pretty/pretty","suite":"spec","op":"RELU","type":"quant8_asymm","tags":"","level":0}'
}
# Cases by a list of names, or those that failed last; and the same on another driver.
test_cases_and_failed() {
    nnvts list --filter 'ops/ADD/float32/rank1/*' >cases.txt
    check 0 nnvts run --driver cpu --cases cases.txt --out listed -q
    same "$(verdict listed PASS)" "$(wc -l <cases.txt)"
    echo no/such/case >>cases.txt
    check 2 nnvts run --driver cpu --cases cases.txt --out listed; has "$ERR" "such as 'no/such/case'"
    check 2 nnvts run --driver cpu --failed listed --out again; has "$ERR" "nothing failed"
    check 1 nnvts run --driver faulty:beta-ignored --filter 'op:SOFTMAX & type:float16' -s ops --tier smoke --out bad -q
    check 0 nnvts run --driver cpu --failed bad -s ops --tier smoke --out again -q
    same "$(verdict again PASS)" "$(verdict bad FAIL)"
    check 1 nnvts replay "$(find bad/dumps -name '*.json' | head -n 1)" --driver faulty:beta-ignored --versus cpu
    grep -q '^faulty:beta-ignored: FAIL ' "$OUT" || fail "no line of the driver"
    grep -q '^cpu: PASS ' "$OUT" || fail "no line of the other"
}
# labels.txt has a line for each class, in the order of their numbers: what the models' outputs stand for.
test_data_pictures() {
    check 0 nnvts data pictures --count 3 -o figures
    has "$OUT" "3 pictures of 10 classes in figures"
    same "$(tr '\n' ' ' <figures/labels.txt)" "disc ring square triangle cross star crescent arrow bars corner "
    same "$(cut -f 1 figures/index.tsv | tr '\n' ' ')" "000000.png 000001.png 000002.png "
    local name class
    while IFS=$'\t' read -r name class; do
        [ -s "figures/$name" ] || fail "no $name"
        grep -qx "$class" figures/labels.txt || fail "$name is a $class"
    done <figures/index.tsv
}
test_unwritable_folder() { check 2 nnvts run --driver cpu --suite device --out /proc/nnvts; one_error "/proc/nnvts"; }
test_foreign_journal() {
    mkdir out
    echo hello >out/journal.jsonl
    check 2 nnvts run --driver cpu --suite device --out out
    one_error "journal.jsonl"
    has out/journal.jsonl hello
}
test_full_disk() {
    [ "$(id -u)" = 0 ] || skip "needs root to mount a small file system"
    mkdir small
    mount -t tmpfs -o size=64k tmpfs small 2>/dev/null || skip "cannot mount"
    check 3 nnvts run --driver reference --filter op:ADD --out small/out || { umount small; exit 1; }
    cp "$ERR" "$WORK/full"
    umount small
    has "$WORK/full" "space"
}
# A run may be killed before it has written anything: --resume starts it then.
test_resume_without_a_run() { check 0 nnvts run --driver cpu --suite device --resume --out none; [ -s none/junit.xml ]; }
test_resume_of_another_run() {
    check 0 nnvts run --driver reference --suite device --out out
    check 2 nnvts run --driver reference --suite device --out out --resume --seed 7
    one_error "seed"
}
test_report_of_nothing() { check 2 nnvts report nosuch; one_error "nosuch"; }
# Of a crash: where, with the lines of its source; what the driver printed.
test_replay_shows_a_crash() {
    check 1 nnvts run --driver faulty:crash-execute@ADD --suite ops --filter ops/ADD/float32/rank1/0 --out crash
    check 1 nnvts replay crash/dumps/*.json --driver faulty:crash-execute@ADD
    has "$OUT" "     backtrace:"
    has "$OUT" "address 0x8"
    if addr2line --version >/dev/null 2>&1; then has "$OUT" "strikes.c:"; fi
    hasnt "$OUT" "faulty.so=/"
    check 1 nnvts replay crash/dumps/*.json --driver faulty:crash-execute@ADD --json
    hasnt "$OUT" "     backtrace:"
}
test_replay_nothing() { check 2 nnvts replay ./nosuch.json --driver cpu; one_error "nosuch.json"; }
test_malicious_specs() {
    local i=0 text
    while IFS= read -r text; do
        i=$((i + 1))
        printf '%s' "$text" >"bad$i.json"
        check 2 nnvts show "bad$i.json"
        one_error "bad$i.json"
    done <<'EOF'
{
[]
{"format":"nnvts-spec/2"}
{"format":"nnvts-spec/1","name":"x","main":{"operands":[{"type":"TENSOR","dims":[]}],"operations":[],"inputs":[],"outputs":[]},"referenced":[]}
{"format":"nnvts-spec/1","name":"x","main":{"operands":[{"type":"TENSOR_FLOAT32","dims":[4294967295,4294967295],"lifetime":"CONSTANT_COPY","data":[1]}],"operations":[],"inputs":[],"outputs":[]},"referenced":[]}
{"format":"nnvts-spec/1","name":"x","main":{"operands":[],"operations":[{"type":"ADD","inputs":[0],"outputs":[1]}],"inputs":[0],"outputs":[1]},"referenced":[]}
EOF
    head -c 100000 /dev/zero | tr '\0' '[' >deep.json
    check 2 nnvts show deep.json
    one_error "deep.json"
}
# Where nobody names a folder, the run before is kept once; a folder that is no run's is left alone.
test_the_run_before_is_kept() {
    local run="nnvts run --driver cpu --suite device -q" first second
    check 0 $run
    first=$(cksum <nnvts-out/journal.jsonl)
    [ ! -e nnvts-out.previous ] || fail "something is kept of nothing"
    check 2 $run --filter 'nosuch*' && check 2 nnvts run --driver nosuch
    same "$(cksum <nnvts-out/journal.jsonl)" "$first" "a run that never began"
    check 0 $run --seed 2
    same "$(cksum <nnvts-out.previous/journal.jsonl)" "$first" "the run before"
    second=$(cksum <nnvts-out/journal.jsonl)
    check 0 $run --seed 2 --resume
    same "$(cksum <nnvts-out.previous/journal.jsonl)" "$first" "resumed: the same run"
    check 0 $run --seed 3
    same "$(cksum <nnvts-out.previous/journal.jsonl)" "$second" "the run before"
    check 0 nnvts report nnvts-out.previous
    check 0 $run --out nnvts-out # named: it is what is meant
    same "$(cksum <nnvts-out.previous/journal.jsonl)" "$second" "not kept"
    rm -r nnvts-out.previous && mkdir nnvts-out.previous && echo mine >nnvts-out.previous/report.html
    check 0 $run
    has "$ERR" "nnvts-out.previous holds report.html, but no run"
    same "$(cat nnvts-out.previous/report.html)" mine
}
# A place that cannot be written to is told before anything is done, in every verb that has one.
test_out_is_tried_first() {
    echo '{"format":"nnvts-spec/1"}' >x.json
    mkdir file.d && touch file
    local verb
    for verb in 'fuzz -d cpu' 'bench -d cpu' 'audit' 'datasheet -d cpu' 'compile x.relay' 'run -d cpu' 'harvest x.json' 'run-compiled x --output'; do
        case $verb in *--output) check 2 nnvts $verb file/x ;; *) check 2 timeout 5 nnvts $verb --out file/x ;; esac
        has "$ERR" "file/x: cannot create: Not a directory"
    done
    for verb in 'reduce x.json -d cpu' 'profile x.relay -d cpu' 'pack run' 'report run --format csv' 'expect update' 'contract write'; do
        check 2 timeout 5 nnvts $verb --out file.d
        has "$ERR" "file.d: cannot write: Is a directory"
    done
    check 2 nnvts compare a b --html none/x.html
    has "$ERR" "none/x.html: cannot create: No such file"
    same "$(ls | tr '\n' ' ')" "file file.d x.json " "nothing is left behind"
}
test_interrupt() {
    # a shell starts background commands with SIGINT ignored
    env --default-signal=INT nnvts run --driver reference --tier full --out out >"$OUT" 2>"$ERR" </dev/null &
    local pid=$! code=0
    await eval '[ "$(grep -cs verdict out/journal.jsonl)" -gt 50 ]'
    kill -INT $pid
    wait $pid || code=$?
    same $code 130
    has "$ERR" "--resume"
    [ -s out/junit.xml ] && [ -s out/report.html ] || fail "no reports after an interrupt"
    has out/junit.xml "not run"
}
run_tests
