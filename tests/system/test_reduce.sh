#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a failing dump to a small one, to the operation to blame, and to a program in C.
. "$(dirname "$0")/lib.sh"
try_nothing_again

# a + b, * c, relu: operations 0 ADD, 1 MUL, 2 RELU
chain() {
    cat >chain.json <<'EOT'
{"format":"nnvts-spec/1","name":"chain","precision":"budget","main":{"operands":[
{"type":"TENSOR_FLOAT32","dims":[2,3],"lifetime":"SUBGRAPH_INPUT","data":[1,2,3,4,5,6]},
{"type":"TENSOR_FLOAT32","dims":[3],"lifetime":"CONSTANT_COPY","data":[1.5,-2,0.25]},
{"type":"INT32","dims":[],"lifetime":"CONSTANT_COPY","data":[0]},
{"type":"TENSOR_FLOAT32","dims":[2,3],"lifetime":"TEMPORARY_VARIABLE"},
{"type":"TENSOR_FLOAT32","dims":[2,3],"lifetime":"TEMPORARY_VARIABLE"},
{"type":"TENSOR_FLOAT32","dims":[2,3],"lifetime":"SUBGRAPH_OUTPUT","data":[3.75,0,0.8125,8.25,0,1.5625]}],
"operations":[
{"type":"ADD","inputs":[0,1,2],"outputs":[3]},
{"type":"MUL","inputs":[3,1,2],"outputs":[4]},
{"type":"RELU","inputs":[4],"outputs":[5]}],
"inputs":[0],"outputs":[5]},"referenced":[]}
EOT
}
joint() {
    gcc -std=c17 -Wall -Wextra -Werror -shared -fPIC -I "$ROOT/include" -o joint.so "$ROOT/tests/system/joint_driver.c" -ldl
    JOINT=./joint.so:$NNVTS_BUILD/drivers/cpu.so
}
# dump BUG: a dump of a random graph that fails
dump() {
    check 1 nnvts run -d "faulty:$1" -s randgraph --count 80 --timeout 2 --out out -q
    for DUMP in out/dumps/*.json; do return 0; done
}
program() {
    gcc -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Werror -I "$ROOT/include" -o program "$1" -ldl -lm
    ! command -v clang >/dev/null || clang -std=c17 -Wall -Wextra -Wpedantic -Werror -I "$ROOT/include" -c -o /dev/null "$1"
}

test_reduces_and_replays() {
    dump relu6-as-relu
    check 0 nnvts reduce "$DUMP" -d faulty:relu6-as-relu
    has "$OUT" "FAIL: wrong values of "
    has "$OUT" "-> 1 operations"
    again=$(sed -n 's/^ *again: //p' "$OUT")
    for suffix in json mod.py dot c; do [ -s "${DUMP%.json}.reduced.$suffix" ] || fail "no .$suffix"; done
    check 1 $again
    check 0 nnvts replay "${DUMP%.json}.reduced.json" -d cpu
    check 0 nnvts show "${DUMP%.json}.reduced.json"
    has "$OUT" "1 operation,"
}
# A dump says where it is from, and how its case is run again.
test_dumps_say_their_origin() {
    check 1 nnvts run --driver faulty:relu6-as-relu --suite ops --filter 'ops/RELU6/float32/rank*' --seed 5 --out out -q
    local dump
    dump=$(find out/dumps -name '*.json' | sort | head -n 1)
    python3 -c 'import json, sys
o = json.load(open(sys.argv[1]))["origin"]
assert o["driver"]["argument"] == "faulty:relu6-as-relu" and o["driver"]["version"] and o["nnvts"] and o["machine"]["os"]
assert o["seed"] == 5 and o["verdict"] == "FAIL" and "values wrong" in o["reason"]
print(o["run"])' "$dump" >again
    hasnt again "'"
    # shellcheck disable=SC2046
    check 1 $(cat again) --out again.out
    same "$(verdict again.out FAIL)" 1
}
test_output_and_json() {
    dump zero-point-off-by-one
    check 0 nnvts reduce "$DUMP" -d faulty:zero-point-off-by-one -o small.json --json
    has "$OUT" '"spec":"small.json"'
    has "$OUT" '"after":{"operations":1,'
    has "$OUT" '"complete":true'
    [ -s small.c ] && [ -s small.dot ] && [ -s small.mod.py ] || fail "files are missing"
}
test_programs_reproduce() {
    dump requantise-truncates
    check 0 nnvts reduce "$DUMP" -d faulty:requantise-truncates -o small.json
    program small.c
    check 1 ./program "$NNVTS_BUILD/drivers/faulty.so" requantise-truncates
    has "$OUT" "FAIL"
    has "$OUT" "expected"
    check 0 ./program "$NNVTS_BUILD/drivers/cpu.so"
    has "$OUT" "PASS"
    check 2 ./program ./no-such.so
    check 2 ./program
    nnvts show "$DUMP" --as c >whole.c
    program whole.c
    check 1 ./program "$NNVTS_BUILD/drivers/faulty.so" requantise-truncates
    check 0 ./program "$NNVTS_BUILD/drivers/cpu.so"
}
# Every form of value: NaN, infinities, float16, omitted inputs, subgraphs, unknown extents.
test_programs_of_all_kinds() {
    local f n=0
    for f in conv if while elementwise recurrent move boxes; do
        nnvts show "$ROOT/tests/conformance/$f.jsonl" --as jsonl | sed -n '1p;$p' >lines
        while read -r line; do
            echo "$line" >one.json
            check 0 nnvts show one.json --as c
            cp "$OUT" one.c
            program one.c
            check 0 ./program "$NNVTS_BUILD/drivers/reference.so"
            n=$((n + 1))
        done <lines
    done
    [ $n -ge 10 ] || fail "only $n programs"
}
# The same by the NDK alone, linked to any library that has it.
ndk_program() {
    gcc -std=c17 -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Werror -I "$ROOT/include" -o program "$1" "$2" -lm \
        -Wl,-rpath,"$(dirname "$2")"
    ! command -v clang >/dev/null || clang -std=c17 -Wall -Wextra -Wpedantic -Werror -I "$ROOT/include" -c -o /dev/null "$1"
}
test_ndk_programs() {
    local f line libraries="$NNVTS_BUILD/lib/libneuralnetworks.so" library
    [ ! -f "${NNVTS_TARGETS:-}/aosp/libneuralnetworks.so" ] || libraries="$libraries $NNVTS_TARGETS/aosp/libneuralnetworks.so"
    for f in conv if while elementwise recurrent move boxes; do
        nnvts show "$ROOT/tests/conformance/$f.jsonl" --as jsonl | sed -n '1p;$p' >lines
        while read -r line; do
            echo "$line" >one.json
            check 0 nnvts show one.json --as ndk
            cp "$OUT" one.c
            hasnt one.c nnvts_
            ndk_program one.c "$NNVTS_BUILD/lib/libneuralnetworks.so"
            check 0 ./program
            has "$OUT" PASS
        done <lines
    done
    dump requantise-truncates
    for library in $libraries; do
        check 0 nnvts reduce "$DUMP" -d faulty:requantise-truncates --ndk
        ndk_program "${DUMP%.json}.reduced.c" "$library"
        check 0 ./program
    done
    sed 's/static const double expected_0\[\] = {/&1000.0 + /' "${DUMP%.json}.reduced.c" >wrong.c
    ndk_program wrong.c "$NNVTS_BUILD/lib/libneuralnetworks.so"
    check 1 ./program
    has "$OUT" "output 0 element 0: expected 1"
    sed 's/struct operation operations_0\[\] = {/&\n{999, 0, 0, 0, 0}, /' "${DUMP%.json}.reduced.c" >refused.c
    ndk_program refused.c "$NNVTS_BUILD/lib/libneuralnetworks.so"
    check 1 ./program
    has "$OUT" "ANeuralNetworksModel_addOperation answered 3 (UNEXPECTED_NULL)"
}
# A failure of a library is written as its makers call it.
test_failures_of_libraries() {
    check 1 nnvts run --driver runtime:faulty:beta-ignored --suite ops --filter 'ops/SOFTMAX/float32/rank2/0' --out run
    has run/dumps/ops.SOFTMAX.float32.rank2.0.c 'include <android/NeuralNetworks.h>'
    check 1 nnvts run --driver faulty:beta-ignored --suite ops --filter 'ops/SOFTMAX/float32/rank2/0' --out run
    has run/dumps/ops.SOFTMAX.float32.rank2.0.c 'include "nnvts/driver.h"'
}
# Whatever goes wrong in whichever suite: the dump alone, elsewhere, shows it again, a driver without the bug passes it, and so
# says the program in C.
test_dumps_of_all_kinds() {
    local bug suite dump verdict code
    mkdir elsewhere
    while read -r bug suite verdict; do
        check 1 nnvts run -d "faulty:$bug" -s "$suite" --specs "$ROOT/tests/conformance" --tier smoke --timeout 1 --out run -q \
            -k 'suite:randgraph | suite:relations | op:ADD | op:TANH | op:IF'
        dump=$(ls run/dumps/"$suite".*.json | head -n 1)
        cp "$dump" elsewhere/dump.json
        rm -rf run
        cd elsewhere
        check 1 nnvts replay dump.json -d "faulty:$bug" --timeout 1
        has "$OUT" "$verdict"
        check 0 nnvts replay dump.json -d reference
        nnvts show dump.json --as c >dump.c
        program dump.c
        code=0
        { timeout 2 ./program "$NNVTS_BUILD/drivers/faulty.so" "$bug" >"$OUT" 2>&1; } 2>/dev/null || code=$?
        case $verdict in FAIL) same $code 1 "$bug" ;; CRASH) [ $code -gt 128 ] ;; TIMEOUT) same $code 124 "$bug" ;; esac
        check 0 ./program "$NNVTS_BUILD/drivers/reference.so"
        cd ..
    done <<'EOT'
activation-ignored ops FAIL
activation-ignored spec FAIL
activation-ignored randgraph FAIL
wrong-branch ops FAIL
relu-in-place relations FAIL
shapes-unreported ops FAIL
shapes-unreported relations FAIL
wrong-output-shape ops FAIL
shape-count-wrong ops FAIL
says-insufficient ops FAIL
guard-write-after ops FAIL
input-modified ops FAIL
constant-modified ops FAIL
output-unwritten ops FAIL
unasked-timing ops FAIL
supported-unfilled ops FAIL
claims-but-fails ops FAIL
null-prepared ops FAIL
nonsense-status spec FAIL
crash-execute spec CRASH
crash-prepare ops CRASH
hang-execute ops TIMEOUT
EOT
}
test_crashes() {
    dump crash-execute@TANH
    check 0 nnvts reduce "$DUMP" -d faulty:crash-execute@TANH -o small.json
    has "$OUT" "CRASH in execute"
    check 1 nnvts replay small.json -d faulty:crash-execute@TANH
    has "$OUT" "CRASH"
    check 0 nnvts bisect "$DUMP" -d faulty:crash-execute@TANH
    has "$OUT" "(TANH); it fails alone, too"
}
test_hangs() {
    chain
    check 0 nnvts reduce chain.json -d faulty:hang-execute@MUL --timeout 1 --timeout-total 20 -o small.json
    has "$OUT" "TIMEOUT in execute"
    check 0 nnvts bisect chain.json -d faulty:hang-execute@MUL --timeout 1
    has "$OUT" "operation 1 (MUL); it fails alone, too"
}
# Who is interrupted keeps the best so far.
test_interrupted() {
    chain
    local seconds
    for seconds in 2.5 8 24; do # a machine that is busy begins later
        check 130 timeout --preserve-status -s TERM $seconds nnvts reduce chain.json -d faulty:hang-execute@MUL --timeout 1 -o small.json
        ! grep -q 'stopped before the end' "$OUT" || break
    done
    has "$OUT" "stopped before the end"
    check 1 nnvts replay small.json -d faulty:hang-execute@MUL --timeout 1
}
test_time_is_limited() {
    chain
    check 0 nnvts reduce chain.json -d faulty:hang-execute@MUL --timeout 1 --timeout-total 2.5 -o small.json
    has "$OUT" "stopped before the end"
}
test_bisect_names_the_operation() {
    dump dilation-ignored
    check 0 nnvts bisect "$DUMP" -d faulty:dilation-ignored
    has "$OUT" "CONV_2D); it fails alone, too"
    grep -q '^   > ' "$OUT" || fail "no operation is marked"
    check 0 nnvts bisect "$DUMP" -d faulty:dilation-ignored --json
    has "$OUT" '"alone":"fails"'
    has "$OUT" '"vanishes":false'
}
# Errors before the operation do not count against it, nor do those that it passes on.
test_bisect_judges_on_the_drivers_values() {
    chain
    sed -i 's/"type":"RELU"/"type":"RELU6"/; s/8.25,0,1.5625/6,0,1.5625/' chain.json
    check 0 nnvts bisect chain.json -d faulty:relu6-as-relu --json
    has "$OUT" '"operation":0,"name":"ADD","verdict":"right"'
    has "$OUT" '"operation":1,"name":"MUL","verdict":"right"'
    has "$OUT" '"operation":2,"name":"RELU6","verdict":"wrong","compared":6,"wrong":1,"error":2.25'
}
# What became wrong since an earlier version, and what the two make of each other's caches.
test_bisect_against_a_version() {
    chain
    sed -i 's/"type":"RELU"/"type":"RELU6"/; s/8.25,0,1.5625/6,0,1.5625/' chain.json
    check 0 nnvts bisect chain.json -d faulty:relu6-as-relu --against faulty:cache-unverified
    has "$OUT" "first that became wrong: operation 2 (RELU6)"
    has "$OUT" "cache written before, read now: right"
    has "$OUT" "cache written now, read before: wrong: output 0 [2,3]: 1 of 6 values wrong"
    check 1 nnvts bisect chain.json -d cpu:isa=base --against cpu:isa=avx2
    has "$OUT" "no operation became wrong"
    has "$OUT" "cache written before, read now: refused: prepare_from_cache answered GENERAL_FAILURE"
    check 0 nnvts bisect chain.json -d faulty:relu6-as-relu --against reference --json
    has "$OUT" '"cache_from_before":{"is":"none","why":"1 and 0 files are written, 1 and 1 would be read"}'
    has "$OUT" '"culprit":2'
    check 2 nnvts bisect chain.json -d cpu --against no-such-driver
    check 2 nnvts bisect chain.json -d cpu --against reference --html page.html
}
# Results that somebody else computed, beside the driver's.
test_bisect_with_dumps() {
    chain
    mkdir layers
    python3 - <<'P' || skip "python3 is not there"
import struct
def npy(name, values, shape, form, descr, order=False):
    head = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    head += b' ' * (63 - (10 + len(head)) % 64) + b'\n'
    data = struct.pack(f'<{len(values)}{form}', *values)
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head + data)
npy('layers/0.npy', [2.5, 0, 3.25, 5.5, 3, 6.25], '(2, 3)', 'd', '<f8')
npy('layers/001_mul.npy', [3.75, 0, 0.8125, 8.25, -6, 1.5625], '(6,)', 'f', '<f4')
open('layers/2.raw', 'wb').write(struct.pack('<6f', 3.75, 0, 0.8125, 8.5, 0, 1.5625))
npy('fortran.npy', [0] * 6, '(2, 3)', 'f', '<f4', True)
P
    check 0 nnvts bisect chain.json -d cpu --dumps layers --overlay overlay.json
    has "$OUT" "3 files, 3 of 3 operations judged; first wrong in the dumps: operation 2 (RELU)"
    has overlay.json '"0":{"value":0}'
    rm layers/2.raw
    check 1 nnvts bisect chain.json -d cpu --dumps layers
    has "$OUT" "its result is not there"
    has "$OUT" "2 files, 2 of 3 operations judged; nothing is wrong in the dumps"
    mv layers/001_mul.npy layers/2.npy
    mv layers/0.npy elsewhere
    check 1 nnvts bisect chain.json -d cpu --dumps layers
    has "$OUT" "1 file, 0 of 3 operations judged; the dumps say nothing"
    mv layers/2.npy layers/001_mul.npy
    mv elsewhere layers/0.npy
    check 0 nnvts bisect chain.json -d faulty:crash-execute@RELU --dumps layers --json
    has "$OUT" '{"name":"MUL","dumps":0'
    mv fortran.npy layers/2.npy
    check 2 nnvts bisect chain.json -d cpu --dumps layers
    has "$ERR" "layers/2.npy is in Fortran's order"
    printf abc >layers/2.npy
    check 2 nnvts bisect chain.json -d cpu --dumps layers
    has "$ERR" "layers/2.npy is no .npy file"
    rm layers/*
    check 2 nnvts bisect chain.json -d cpu --dumps layers
    has "$ERR" "no file is called by the number of an operation"
}
# A bug of fusing: with the intermediate result as an output it is gone.
test_bisect_of_fused_operations() {
    chain
    joint
    check 1 nnvts replay chain.json -d "$JOINT"
    check 0 nnvts bisect chain.json -d "$JOINT"
    has "$OUT" "the failure vanishes"
    has "$OUT" "operation 0 (ADD) only goes wrong while its result, operand 3, is no output"
    has "$OUT" "operation 0 (ADD); alone it passes"
    check 0 nnvts reduce chain.json -d "$JOINT" -o small.json
    has "$OUT" "3 -> 2 operations"
    check 1 nnvts replay small.json -d "$JOINT"
}
test_bisect_where_outputs_change_the_failure() {
    chain
    joint
    check 0 nnvts bisect chain.json -d "$JOINT,shown"
    has "$OUT" "with all results as outputs it fails otherwise"
    has "$OUT" "operation 1 (MUL); alone it passes"
}
test_what_does_not_fail() {
    chain
    check 2 nnvts reduce chain.json -d cpu
    has "$ERR" "it does not fail on this driver (PASS): nothing to reduce"
    [ ! -e chain.reduced.json ] || fail "a file was written"
    check 2 nnvts bisect chain.json -d cpu
    has "$ERR" "nothing to bisect"
}
# A failure is what a command of one's own says it is.
test_check() {
    chain
    printf '#!/bin/sh\n! grep -q %s "$1"\n' "'\"MUL\"'" >no-mul.sh
    chmod +x no-mul.sh
    export TMPDIR=$PWD
    check 0 nnvts reduce chain.json --check ./no-mul.sh -o small.json
    has "$OUT" "FAIL: the check called exit(1)"
    has "$OUT" "3 -> 1 operations"
    grep -q '"MUL"' small.json || fail "not reduced to MUL"
    check 0 nnvts bisect chain.json --check './no-mul.sh {}'
    has "$OUT" "operation 1 (MUL)"
    check 0 nnvts reduce chain.json --check 'test -s {} && kill -SEGV $$' -o crash.json
    has "$OUT" "CRASH: the check died with SIGSEGV"
    # another exit code is another failure
    printf '#!/bin/sh\n[ $(grep -o %s "$1" | wc -l) -gt 1 ] && exit 3\nexit 1\n' "'\"inputs\"'" >codes.sh
    chmod +x codes.sh
    check 0 nnvts reduce chain.json --check ./codes.sh -o codes.json
    has "$OUT" "FAIL: the check called exit(3)"
    check 3 ./codes.sh codes.json
    check 2 nnvts reduce chain.json --check './nosuch.sh {}' -o none.json
    has "$ERR" "cannot be run: the shell ended with 127, command not found"
    check 2 nnvts bisect chain.json --check ./chain.json
    has "$ERR" "cannot be run: the shell ended with 126, not executable"
    [ ! -e none.json ] || fail "a file was written"
    check 2 nnvts reduce chain.json --check 'test -s'
    has "$ERR" "it does not fail by the check (PASS): nothing to reduce"
    check 2 nnvts reduce chain.json --check 'exit 125 #'
    has "$ERR" "it does not fail by the check (UNSUPPORTED"
    check 2 nnvts bisect chain.json --check 'true' -d cpu
    has "$ERR" "give --driver or --check, not both"
    ! ls nnvts-check-* 2>/dev/null || fail "files are left"
}
test_wrong_expectations() {
    chain
    sed -i 's/3.75,0/3.5,0/; s/"budget"/"nnapi"/' chain.json
    check 1 nnvts replay chain.json -d cpu
    check 2 nnvts reduce chain.json -d cpu
    has "$ERR" "against the golden values"
    check 2 nnvts bisect chain.json -d cpu
}
test_bad_input() {
    chain
    check 2 nnvts reduce
    has "$ERR" "which spec?"
    check 2 nnvts bisect chain.json
    has "$ERR" "which driver?"
    check 2 nnvts reduce nosuch.json -d cpu
    has "$ERR" "nosuch.json"
    echo '{' >broken.json
    check 2 nnvts reduce broken.json -d cpu
    check 2 nnvts bisect broken.json -d cpu
    check 2 nnvts reduce chain.json other.json -d cpu
    has "$ERR" "other.json"
    check 2 nnvts reduce chain.json -d nosuch
    cp "$ROOT/tests/conformance/conv.jsonl" many.jsonl
    check 2 nnvts reduce many.jsonl -d cpu
    has "$ERR" "choose one with --filter"
    check 2 nnvts bisect many.jsonl -d cpu -k 'no such name'
    has "$ERR" "matches 0 specs"
    sed 's/"lifetime":"TEMPORARY_VARIABLE"/"lifetime":"SUBGRAPH_INPUT"/' chain.json >invalid.json
    check 2 nnvts reduce invalid.json -d cpu
    check 2 nnvts bisect invalid.json -d cpu
    check 2 nnvts show invalid.json --as c
    dump relu6-as-relu
    check 2 nnvts replay "$DUMP" -d faulty:nosuch # that is no verdict of the case
    has "$ERR" "refused to open with option 'nosuch'"
    check 2 nnvts replay "$DUMP" -d cpu --versus faulty:nosuch
    has "$ERR" "refused to open with option 'nosuch'"
    check 2 nnvts reduce "$DUMP" -d faulty:relu6-as-relu -o /nosuch/folder/x.json
    has "$ERR" "/nosuch/folder"
    [ -e /dev/full ] || skip "/dev/full is not there"
    check 3 nnvts bisect "$DUMP" -d faulty:relu6-as-relu --overlay /dev/full
    has "$ERR" "/dev/full: "
}
run_tests
