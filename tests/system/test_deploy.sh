#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiled programs in applications: the class of the whole program, another machine, TVM's packed functions.
. "$(dirname "$0")/lib.sh"

WARNINGS="-std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
deploy() {
    check 0 nnvts compile "$ROOT/tests/relay/deploy.relay" --params "$ROOT/tests/relay/deploy.json" \
        --supported "$ROOT/tests/deploy/add.json" -o out "$@"
}

test_an_application() {
    deploy
    has "$OUT" "program                                  the whole program: 4 steps"
    g++ $WARNINGS -Iout "$ROOT/tests/deploy/application.cpp" out/*.cpp -L"$NNVTS_BUILD/lib" -lneuralnetworks -o application
    export LD_LIBRARY_PATH=$NNVTS_BUILD/lib NNVTS_DRIVERS=cpu
    check 0 ./application out nnvts-cpu 4
    has "$OUT" right
    NNVTS_DRIVERS=sample:minimal check 0 ./application out
}
# The class and the regions one by one give the same; a class that does not is told.
test_compared() {
    check 2 nnvts compile "$ROOT/tests/relay/deploy.relay" --library nothing.so -o out
    has "$ERR" "--library nothing.so: "
    deploy --library "$NNVTS_BUILD/lib/libneuralnetworks.so"
    check 0 nnvts run-compiled out --driver cpu --compare
    grep -q '^program .* 1 runs, PASS$' "$OUT" || fail "the class was not compared"
    check 0 nnvts run-compiled out --driver cpu --compare --json
    has "$OUT" '"whole": {"function": "program", "on": "nnapi"'
    check 0 nnvts run-compiled out --driver cpu
    hasnt "$OUT" program
    sed -i 's/{20, 2, 1}, {2, 1, 20}/{20, 2, 1}, {2, 1, 19}/' out/program.cpp
    (cd out && g++ -std=c++17 -O2 -fPIC -shared -fno-exceptions -I. -o libregions.so ./*.cpp)
    sed -i "s/\(\"program.cpp\": \"\)[0-9a-f]*/\1$(sha256sum <out/program.cpp | cut -d' ' -f1)/
        s/\(\"libregions.so\": \"\)[0-9a-f]*/\1$(sha256sum <out/libregions.so | cut -d' ' -f1)/" out/plan.json
    check 1 nnvts run-compiled out --driver cpu --compare
    has "$OUT" "FAIL: element 1 of output 0 is "
}
# Moves of all kinds, and casts: what the interpreter does between regions, the class does, too.
test_moves() {
    cat >moves.relay <<'END'
#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 4, 4), float32], %n: Tensor[(3, 4), int32]) {
  %0 = tanh(%x);
  %1 = nn.pad(%0, 0f, pad_width=[[0, 0], [1, 2], [0, 1], [0, 0]]);
  %2 = strided_slice(%1, begin=[0, 6, 0, 1], end=[1, 0, 5, 4], strides=[1, -2, 1, 2]);
  %3 = split(%0, indices_or_sections=2, axis=3);
  %4 = nn.depth_to_space(%3.1, block_size=1);
  %5 = stack((%3.0, %4), axis=1);
  %6 = tile(%n, reps=[2, 1]);
  %7 = cast(%6, dtype="uint8");
  %8 = reverse(%6, axis=1);
  %9 = take(%0, meta[relay.Constant][0], axis=1);
  %10 = cast(%0, dtype="float16");
  %11 = cast(%10, dtype="bool");
  %12 = cast(%11, dtype="float32");
  %13 = nn.mirror_pad(%8, pad_width=[[0, 0], [1, 1]], mode="REFLECT");
  %14 = multiply(%x, 300f);
  %15 = tile(%0, reps=[1, 20, 9, 1]);
  %16 = nn.pad(%15, 7f, pad_width=[[0, 0], [3, 1], [2, 2], [0, 0]]);
  %17 = nn.pad(%n, pad_width=[[1, 1], [0, 2]]);
  (%2, %5, %7, %8, %9, %10, %11, tanh(%12), %13, cast(%14, dtype="int8"), %16, %17, %x, 7f)
}
END
    sed -i 's/meta\[relay.Constant\]\[0\]/%i/; s/%n: Tensor\[(3, 4), int32\]/&, %i: Tensor[(2), int32]/' moves.relay
    echo '{"i": {"dtype": "int32", "shape": [2], "data": [3, 1]}}' >i.json
    echo '["tanh", "multiply"]' >s.json
    check 0 nnvts compile moves.relay --params i.json --supported s.json -o out
    has "$OUT" "the whole program: "
    g++ $WARNINGS -fsyntax-only -Iout out/program.cpp
    for seed in 1 2 3; do
        MALLOC_PERTURB_=165 check 0 nnvts run-compiled out --driver cpu --compare --seed $seed # memory is never 0
        grep -q '^program .* PASS$' "$OUT" || fail "the class was not compared"
    done
}
# What the class can't do is said, each once.
test_no_class() {
    cat >host.relay <<'END'
#[version = "0.0.5"]
def @main(%x: Tensor[(4), float32]) {
  %0 = tanh(%x);
  %1 = atan(%0);
  %2 = atan(%1);
  if (less(sum(%2), 0f)) { tanh(%2) } else { cos(%2) }
}
END
    check 0 nnvts compile host.relay -o out
    has "$OUT" "no class of the whole program: the host has atan, cos, if"
    [ ! -e out/program.cpp ] || fail "there is a class"
    grep -q '"no_class": "atan, cos, if"' out/plan.json || fail "the plan does not say why"
}
test_another_machine() {
    local tool
    for tool in aarch64-linux-gnu-g++ aarch64-linux-gnu-gcc qemu-aarch64; do
        command -v $tool >/dev/null || skip "no $tool (make setup-board)"
    done
    deploy --target aarch64-linux-gnu
    readelf -hd out/libregions.so >elf
    has elf AArch64
    has elf "Shared library: [libneuralnetworks.so]"
    [ ! -e out/.nnapi-stub.so ] || fail "the stub is still there"
    check 2 nnvts run-compiled out --driver cpu
    has "$ERR" "compiled with --target aarch64-linux-gnu: its library does not run here"
    aarch64-linux-gnu-gcc -shared -fPIC -fvisibility=default -I"$ROOT/include" -Wl,-soname,libneuralnetworks.so -o libneuralnetworks.so "$ROOT/tests/nnapi/toy.c"
    aarch64-linux-gnu-g++ -std=c++17 -Iout "$ROOT/tests/deploy/application.cpp" out/*.cpp -L. -lneuralnetworks -o application
    check 0 qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=. ./application out toy-a
    has "$OUT" right
}
test_tvm() {
    deploy --tvm
    g++ -std=c++17 -Wall -Wextra -Werror -rdynamic "$ROOT/tests/deploy/tvm.cpp" -o client
    NNVTS_DRIVERS=cpu LD_LIBRARY_PATH=$NNVTS_BUILD/lib check 0 ./client ./out/libregions.so
    has "$OUT" right
    g++ $WARNINGS -fsyntax-only -Iout out/tvm.cpp
}
# The NDK's header instead of the one that is written.
test_ndk_header() {
    deploy --no-build
    rm out/NeuralNetworks*.h
    g++ $WARNINGS -DNNAPI_REGION_NDK_HEADER -fsyntax-only -I"$ROOT/include" out/program.cpp
}
# A region of 10,000 operations is a table: a compiler takes as long for each of them.
test_ten_thousand() {
    python3 - <<'END' >long.relay
print('#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 8), float32]) {')
for i in range(15000):
    a = '%%%d' % (i - 1) if i else '%x'
    print('  %%%d = %s;' % (i, ('tanh(%s)', 'add(%s, %df)' % ('%s', i), 'nn.relu(%s)')[i % 3] % a))
print('  %14999\n}')
END
    SECONDS=0
    check 0 timeout 100 nnvts compile long.relay -o out
    has "$OUT" "1 region, "
    [ "$(grep -c "^    ANEURALNETWORKS_" out/tvmgen_default_nnapi_main_0.cpp)" -ge 10000 ] || fail "fewer operations"
}
run_tests
