#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a maker promises of the engine's arithmetic: it is written down, judged by, handed on, and hides nothing else.
. "$(dirname "$0")/lib.sh"
try_nothing_again

test_is_written_down() {
    check 0 nnvts run --driver cpu --suite ops --filter 'op:FULLY_CONNECTED' --tier smoke --arithmetic sums=float32,rescale=1.5,android --out out
    has "$OUT" "  arithmetic android  "
    has out/journal.jsonl '"arithmetic":"android"'
    has out/junit.xml 'name="arithmetic" value="android"'
    has out/report.html '<dt>Precision, arithmetic, tier</dt><dd>default, android, smoke'
    check 0 nnvts run --driver cpu --suite ops --filter 'op:FULLY_CONNECTED' --tier smoke --out other
    hasnt "$OUT" "arithmetic"
    has other/journal.jsonl '"arithmetic":"strict"'
    check 2 nnvts run --driver cpu --suite ops --filter 'op:FULLY_CONNECTED' --tier smoke --arithmetic functions=8 --out out --resume
    has "$ERR" "--arithmetic differs: 'android' in the journal, 'functions=8' now"
    check 0 nnvts compare out other --json
    has "$OUT" '"arithmetic"'
    check 2 nnvts run --driver cpu --suite ops --arithmetic sums=float8 --out none
    has "$ERR" "--arithmetic: sums=float8: expected float32 or float16"
}
test_shards_of_two_promises() {
    for i in 1 2; do
        local promise=strict
        [ $i = 1 ] || promise=android
        check 0 nnvts run --driver cpu --suite ops --filter 'op:RELU' --tier smoke --shard $i/2 --arithmetic $promise --out s$i
    done
    check 2 nnvts merge s1 s2 --out all
    has "$ERR" "the arithmetic"
}

# A product that is rounded down is what one key promises and no other; the dump knows which.
test_is_judged_by_and_handed_on() {
    local only='ops/FULLY_CONNECTED/quant8_asymm/*'
    check 1 nnvts run --driver faulty:requantise-truncates --suite ops --filter "$only" --arithmetic android --out out
    check 0 nnvts run --driver faulty:requantise-truncates --suite ops --filter "$only" --arithmetic requantise=1 --out other
    local dump
    dump=$(find out/dumps -name '*.json' | sort | head -n 1)
    has "$dump" '"arithmetic": "android"'
    check 1 nnvts replay "$dump" --driver faulty:requantise-truncates
    check 0 nnvts replay "$dump" --driver faulty:requantise-truncates --arithmetic requantise=1
    check 1 nnvts explain "$dump" --driver faulty:requantise-truncates
    has "$OUT" "within the budget if sums of products are requantised within one unit"
    check 0 nnvts reduce "$dump" --driver faulty:requantise-truncates --out small
    has "$(find small* -name '*.json' | head -n 1)" '"arithmetic": "android"'
}

# An engine that is exact is wrong by double rounding, though any exact scheme would do; of one operation that is no other.
test_a_scheme() {
    local only='(op:CONV_2D | op:FULLY_CONNECTED | op:MUL) & type:quant8*' op
    check 0 nnvts run --driver cpu --suite ops --filter "$only" --tier smoke --arithmetic requantise=exact-away --out own
    check 1 nnvts run --driver cpu --suite ops --filter "$only" --tier smoke --arithmetic requantise=twice --out out
    has "$OUT" "within the budget if sums of products are requantised by any exact scheme"
    for op in CONV_2D FULLY_CONNECTED MUL; do
        grep -q "\"case\":\"ops/$op/quant8_asymm/.*\"verdict\":\"FAIL\"" out/journal.jsonl || fail "$op: nothing is wrong in quant8_asymm"
        grep -q "\"case\":\"ops/$op/quant8_asymm_signed/.*\"verdict\":\"FAIL\"" out/journal.jsonl || fail "$op: nothing is wrong in quant8_asymm_signed"
    done
    local dump
    dump=$(find out/dumps -name 'ops.MUL.quant8_asymm.*.json' | sort | head -n 1)
    has "$dump" '"arithmetic": "requantise=twice"'
    check 1 nnvts replay "$dump" --driver cpu
    check 0 nnvts replay "$dump" --driver cpu --arithmetic MUL/quant8_asymm_signed=twice
    check 1 nnvts replay "$dump" --driver cpu --arithmetic requantise=exact-away,MUL/quant8_asymm=twice
    check 2 nnvts replay "$dump" --driver cpu --arithmetic requantise=thrice
    has "$ERR" "expected a number, exact-away, exact-even"
    # what the CPU of the runtime computes, and the same in other words, is of no promised scheme
    check 0 nnvts run --driver cpu --filter 'partition/quant/* | partition/conv/* | relations/through_floats/*' --arithmetic requantise=twice --out parts
}

# Each suite that compares values judges by the promise, and by the profile.
test_holds_in_every_suite() {
    local suite
    for suite in ops fusion randgraph exec memory shapes isolation levels qos cache validate; do
        check 1 nnvts run --driver faulty:requantise-truncates --suite $suite --tier smoke --specs "$ROOT/tests/conformance" --out $suite.strict
        check 0 nnvts run --driver faulty:requantise-truncates --suite $suite --tier smoke --specs "$ROOT/tests/conformance" --arithmetic requantise=1.5,rescale=1.5 --out $suite
        case $suite in ops | fusion | randgraph) continue ;; esac
        check 0 nnvts run --driver faulty:requantise-truncates --suite $suite --tier smoke --specs "$ROOT/tests/conformance" --precision nnapi --out $suite.nnapi
    done
}

# Android's own CPU reference: all that is left is not of its arithmetic.
test_android() {
    local library=${NNVTS_TARGETS:-}/aosp/libneuralnetworks.so
    [ -f "$library" ] || skip "no NNVTS_TARGETS"
    local only='(op:MEAN | op:BATCH_MATMUL | op:REDUCE_SUM | op:RESIZE_BILINEAR | op:MAX_POOL_2D) & ! ops/*/refused*'
    check 1 nnvts run --driver "ndk:$library" --suite ops --filter "$only" --tier smoke --out strict
    has "$OUT" "within the budget if sums are float16"
    has "$OUT" "within the budget if rescaled sums and averages may be off by one"
    check 0 nnvts run --driver "ndk:$library" --suite ops --filter "$only" --tier smoke --arithmetic android --out android
    # one that is off by one is no mistake where hundreds are
    check 1 nnvts run --driver "ndk:$library" --suite fusion --filter 'fusion/*mean*' --out off
    hasnt off/explained.json '"words"'
    has off/summary.json '"bugs": 1,'
}

# What android admits is all that it admits.
test_must_fail() {
    local bug
    while read -r bug op; do
        check 1 nnvts run --driver "faulty:$bug" --suite ops --filter "op:$op" --tier smoke --arithmetic android --out "$bug"
    done <<'END'
requantise-truncates CONV_2D
bias-channel0-missing FULLY_CONNECTED
bfloat16-inside MUL
beta-ignored SOFTMAX
avg-pool-counts-padding AVERAGE_POOL_2D
add-scale-ignored ADD
lstm-gates-swapped LSTM
stale-first-element BATCH_MATMUL
END
}
run_tests
