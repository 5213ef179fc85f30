#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ndk:PATH, sl:PATH and --via runtime: libraries with NNAPI's interface as drivers.
. "$(dirname "$0")/lib.sh"

LIBRARY=$NNVTS_BUILD/lib/libneuralnetworks.so
TOY=$NNVTS_BUILD/tests/toy.so
SUITES=device,exec,shapes,memory,qos,validate,levels,relations,randgraph

# Reasons of what the interface has no words for: inputs without elements, and models without inputs, as those of FILL.
WORDLESS='which has no elements\|operation 0 (FILL)'

# All that an interface can express holds for the project's library, by its own choice of devices and by name.
test_suites() {
    local target
    for target in "ndk:$LIBRARY" "ndk:$LIBRARY#nnapi-reference" "sl:$LIBRARY" "sl:$LIBRARY#nnapi-reference"; do
        check 0 nnvts run --driver "$target" --suite "$SUITES" --tier smoke --out any -q
        same "$(verdict any FAIL) $(verdict any CRASH) $(verdict any TIMEOUT)" "0 0 0" "$target"
        [ "$(verdict any PASS)" -gt 1000 ] || fail "$target: $(verdict any PASS) cases passed"
    done
    check 0 nnvts run --driver "ndk:$LIBRARY" --suite ops --tier smoke --out any -q
    # What the interface has no words for is told, and nothing else is left out.
    same "$(grep '"UNSUPPORTED"' any/journal.jsonl | grep -cv "$WORDLESS")" 0 "unsupported for another reason"
}
test_specs() {
    [ -n "$SPECS" ] || skip "NNVTS_SPECS is not set"
    local target
    for target in "ndk:$LIBRARY" "sl:$LIBRARY#nnapi-reference" "runtime:reference"; do
        check 0 nnvts run --driver "$target" --suite spec --specs "$SPECS" --precision aosp --out any -q
        # A named device may not support what is wrong: it is not asked to compute it then.
        same "$(grep '"UNSUPPORTED"' any/journal.jsonl | grep -cv expect_failure)" 0 "$target"
        same "$(verdict any FAIL)" 0 "$target"
    done
}
# Through the runtime a driver has the verdicts that it has without. (A model that breaks a rule ends at the runtime.)
test_via_runtime() {
    local cases=(--suite ops,exec,randgraph --filter '!tag:refused' --tier smoke -q)
    check 0 nnvts run --driver cpu "${cases[@]}" --out direct
    check 0 nnvts run --driver cpu --via runtime "${cases[@]}" --out through
    grep -o ".*\($WORDLESS\)" through/journal.jsonl | sed 's/.*"case": *"\([^"]*\)".*/\1/' | sort >empty
    [ -s empty ] || fail "no case is one that NNAPI can't be told"
    same "$(diff <(verdicts direct) <(verdicts through) | sed -n 's/^> \([^ ]*\) .*/\1/p' | comm -23 - empty)" "" "verdicts differ"
    has through/journal.jsonl '"argument":"runtime:cpu"'
    # by the runtime's own choice among several
    check 0 nnvts run --driver 'sample:float-fast,cpu#auto' --via runtime --suite randgraph --tier smoke --out auto -q
    check 0 nnvts run --driver 'runtime:sample:minimal#auto' --suite ops --filter 'ops/ADD/float32/rank* | ops/ABS/float32/rank*' --out placed
    grep -Eq '[1-9][0-9]* operations computed by nnvts-sample-minimal' "$OUT" || fail "what the driver computed is not said"
    grep -Eq '[1-9][0-9]* operations computed by nnapi-reference' "$OUT" || fail "what the CPU computed is not said"
    has placed/report.html "operations computed by nnapi-reference"
    has placed/summary.json '"devices": {"nn'
    check 0 nnvts run --driver runtime:cpu --suite device --out named
    hasnt "$OUT" "computed by"
}
# A bug of the driver is seen through the runtime, and the line that reproduces it does.
test_bugs_show_through() {
    local again
    check 1 nnvts run --driver faulty:beta-ignored --via runtime --filter 'op:SOFTMAX & type:float32' --tier smoke --out bad
    has "$OUT" "--driver runtime:faulty:beta-ignored"
    again=$(sed -n 's/.*; start with: //p' "$OUT" | head -n 1)
    [ -n "$again" ] || fail "no line that reproduces it"
    check 1 sh -c "$again"
    has "$OUT" FAIL
    check 0 sh -c "${again/faulty:beta-ignored/cpu}"
    check 1 nnvts replay "$(ls bad/dumps/*.json | head -n 1)" --driver faulty:beta-ignored --via runtime
}
test_errors() {
    check 2 nnvts run --driver ndk:./none.so --out none
    has "$ERR" "'./none.so': no such file"
    check 2 nnvts run --driver "ndk:$NNVTS_BUILD/drivers/cpu.so" --out none
    has "$ERR" "is not an NNAPI library"
    check 2 nnvts run --driver "sl:$NNVTS_BUILD/drivers/cpu.so" --out none
    has "$ERR" "is not a Support Library"
    check 2 nnvts run --driver "ndk:$TOY#toy-c" --out none
    has "$ERR" "no device 'toy-c'; its devices: toy-a, toy-b"
    check 2 nnvts run --driver ndk --out none
    has "$ERR" "it needs the path of a library"
    check 2 nnvts run --driver no-such-driver --via runtime --out none
    has "$ERR" "no driver named 'no-such-driver'"
    check 2 nnvts run --driver runtime:no-such-driver --out none
    has "$ERR" "the runtime can't use 'no-such-driver'"
    check 2 nnvts run --driver "$TOY" --out none
    has "$ERR" "try --driver ndk:"
    same "$(wc -l <"$ERR")" 1 "an error is one line"
}
# Any library will do: what it claims and can't keep fails, with a line that reproduces it.
test_another_library() {
    local again
    check 0 nnvts run --driver "ndk:$TOY#toy-a" --filter 'ops/ADD/float32/rank1/0' --out toy -q
    same "$(verdict toy PASS)" 1
    check 1 nnvts run --driver "ndk:$TOY#toy-a" --filter 'op:ADD & type:quant8*' --tier smoke --out toy
    again=$(sed -n 's/.*; start with: //p' "$OUT" | head -n 1)
    check 1 sh -c "$again"
    check 1 env TOY_LIE=finish-77 nnvts run --driver "ndk:$TOY" --filter 'ops/ADD/float32/rank1/0' --out toy
    has "$OUT" "status 1077, which does not exist"
    grep -q 'ANeuralNetworksModel_finish answered 77' toy/journal.jsonl || fail "the journal does not tell what the library answered"
    check 1 env TOY_LIE=compute-hangs nnvts run --driver "ndk:$TOY" --filter 'ops/ADD/float32/rank1/0' --timeout 1 --out toy -q
    same "$(verdict toy TIMEOUT)" 1
}
# What a device says of itself, and can't be, is told.
test_more_extensions_than_there_can_be() {
    export TOY_LIE=extensions-billions
    check 0 nnvts run --driver "sl:$TOY#toy-a" --filter device/reopen --out many -q
    has many/journal.jsonl "the device says that it has 4000000000 extensions"
}
test_listing() {
    check 0 nnvts drivers
    has "$OUT" "needs ndk:PATH[#DEVICE]"
    has "$OUT" "needs sl:PATH[#DEVICE]"
    check 0 nnvts drivers --json
    has "$OUT" '{"argument":"ndk","needs":["ndk:PATH[#DEVICE][:level=N][:pointers][:aosp]"]}'
    check 0 nnvts drivers "sl:$TOY#toy-b"
    has "$OUT" "toy-b"
    check 2 nnvts drivers ndk
    check 0 nnvts drivers "host:ndk:$TOY#toy-a"
    has "$OUT" "toy-a"
}
run_tests
