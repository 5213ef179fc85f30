#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts-host for another processor, which runs under qemu, for another C library and for Android; used from here over TCP.
. "$(dirname "$0")/lib.sh"
CROSS=aarch64-linux-gnu-
unset NNVTS_CPU_ISA # names what this processor has

# build TARGET FOLDER ARGUMENTS...: nnvts-host needs nothing but the C library, and is small
build() {
    local what=$1 folder=$NNVTS_BUILD/$2
    shift 2
    check 0 make -C "$ROOT" --no-print-directory "$what" "$@" "B=$NNVTS_BUILD"
    [ "$(stat -c %s "$folder/nnvts-host")" -lt 1000000 ] || fail "nnvts-host has a megabyte or more"
    same "$(readelf -d "$folder/nnvts-host" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|ld-linux-aarch64)[.]' || true)" "" "libraries"
}
# serve PROGRAM...: nnvts-host listens on $PORT
serve() {
    : >listening
    "$@" --listen 127.0.0.1:0 >listening 2>log &
    await grep -q '^listening on .*:[0-9]' listening
    PORT=$(sed -n 's/^listening on .*:\([0-9]*\)$/\1/p' listening)
}
# judge_library COMPILER: an NNAPI library that is there
judge_library() {
    $1 -shared -fPIC -I"$ROOT/include" -o toy.so "$ROOT/tests/nnapi/toy.c"
    check 0 nnvts run --driver "remote:127.0.0.1:$PORT/ndk:$PWD/toy.so#toy-a" --filter 'ops/ADD/float32/rank1/*' --timeout 60 --out toy -q
    hasnt toy/summary.json '"PASS": 0'
}

needs_arm() {
    local tool
    for tool in ${CROSS}gcc qemu-aarch64 make; do
        command -v $tool >/dev/null || skip "no $tool (make setup-board)"
    done
}
test_an_arm_board() {
    needs_arm
    build board board-aarch64-linux-gnu CROSS=$CROSS
    serve qemu-aarch64 -L /usr/aarch64-linux-gnu "$NNVTS_BUILD/board-aarch64-linux-gnu/nnvts-host"
    check 0 nnvts run --driver cpu --suite ops --filter 'ops/A*' --tier smoke --out here -q
    check 0 nnvts run --driver "remote:127.0.0.1:$PORT/cpu" --suite ops --filter 'ops/A*' --tier smoke --timeout 60 --out board -q
    same "$(diff <(verdicts here) <(verdicts board))" "" "verdicts differ"
    judge_library ${CROSS}gcc
}
# Each instruction set of the driver cpu, where the processor has it: judged from here, as this machine's driver is.
test_arm_instruction_sets() {
    needs_arm
    check 0 make -C "$ROOT" --no-print-directory board CROSS=$CROSS BOARD_DRIVERS=cpu "B=$NNVTS_BUILD"
    local board=$NNVTS_BUILD/board-aarch64-linux-gnu/nnvts-host isa
    local cases='ops/*CONV* | ops/FULLY* | ops/*POOL* | ops/*MATMUL* | fusion/*'
    check 0 nnvts run --driver cpu --filter "$cases" --tier smoke --out here -q
    serve qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu "$board"
    for isa in base neon dotprod i8mm; do
        check 0 nnvts run --driver "remote:127.0.0.1:$PORT/cpu:isa=$isa" --filter "$cases" --tier smoke --timeout 60 --out $isa -q
        same "$(diff <(verdicts here) <(verdicts $isa))" "" "$isa: verdicts differ"
    done
    serve qemu-aarch64 -cpu cortex-a53 -L /usr/aarch64-linux-gnu "$board" # which has no products of bytes
    check 2 nnvts run --driver "remote:127.0.0.1:$PORT/cpu:isa=dotprod" --filter 'ops/ADD/*' --tier smoke --out none
    has "$ERR" "of Arm \"isa=neon|dotprod|i8mm\""
    check 0 nnvts run --driver "remote:127.0.0.1:$PORT/cpu" --filter 'ops/*CONV*' --tier smoke --timeout 60 --out small -q
}
test_musl() {
    command -v musl-gcc >/dev/null || skip "no musl-gcc (make setup-board)"
    build musl musl BOARD_DRIVERS=ndk MUSL_TOO=
    serve "$NNVTS_BUILD/musl/nnvts-host"
    judge_library "musl-gcc -idirafter $NNVTS_BUILD/musl/include"
}
# No NDK can be had here: what make would do with one. Android has its threads in the C library, and no library for them.
test_android() {
    local compiler=ndk/toolchains/llvm/prebuilt/linux-x86_64/bin/aarch64-linux-android30-clang
    mkdir -p "$(dirname $compiler)"
    printf '#!/bin/sh\n' >$compiler && chmod +x $compiler
    check 2 make -C "$ROOT" android NDK="$PWD/none" "B=$PWD/build"
    has "$OUT" "aarch64-linux-android30-clang here: NDK= names the folder of Android's NDK"
    check 0 make -n -C "$ROOT" android NDK="$PWD/ndk" "B=$PWD/build"
    has "$OUT" "$PWD/$compiler -std=c17"
    has "$OUT" "-o $PWD/build/android-aarch64-linux-android30/nnvts-host"
    has "$OUT" "-o $PWD/build/android-aarch64-linux-android30/drivers/ndk.so"
    hasnt "$OUT" -lpthread
}
run_tests
