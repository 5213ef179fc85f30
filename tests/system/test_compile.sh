#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts compile and nnvts run-compiled: programs become libraries that run on any driver, and give the program's values.
. "$(dirname "$0")/lib.sh"

TWO="$ROOT/tests/relay/two_regions.relay --params $ROOT/tests/relay/two_regions.json"
PARTIAL=sample:float-slow,sample:minimal # convolutions on one, the rest on the other

# compiled NAME...: the examples in folders of their names
compiled() {
    local name params
    for name in "$@"; do
        params=
        [ -e "$ROOT/tests/relay/$name.json" ] && params="--params $ROOT/tests/relay/$name.json"
        check 0 nnvts compile "$ROOT/tests/relay/$name.relay" $params -o "$name"
    done
}
# passes FOLDER DRIVER...: judged and compared on each
passes() {
    local folder=$1 driver
    shift
    for driver in "$@"; do
        check 0 nnvts run-compiled "$folder" --driver "$driver" --compare
        has "$OUT" PASS
        hasnt "$OUT" "on the host"
    done
}

test_examples() {
    compiled conv flow region two_regions
    for name in conv flow region two_regions; do passes $name cpu host:cpu $PARTIAL reference; done
}
# Who stops the C++ compiler has a whole folder, without the library.
test_interrupted() {
    printf '#!/bin/sh\nsleep 20\n' >slow && chmod +x slow
    CXX=$PWD/slow check 130 timeout --preserve-status -s INT 1 nnvts compile $TWO -o out
    has "$ERR" "interrupted; out is whole but for the shared library"
    has out/plan.json '"library": null'
    check 0 nnvts compile $TWO --no-build -o like
    diff -r out like >&2 || fail "not what --no-build writes"
}
# Normalisations, attention and GELU are one region; in one of float16 inside they are not what they should be.
test_transformer() {
    compiled transformer
    has "$OUT" "1 region, "
    has "$OUT" " 0 operations on the host"
    passes transformer cpu host:cpu reference
    check 1 nnvts run-compiled transformer --driver faulty:float16-inside --compare
}
# A program of Relax is divided, and what is written of it is the same program.
test_relax() {
    check 0 nnvts compile "$ROOT/tests/relay/block.py" -o relax
    has "$OUT" "2 regions, "
    passes relax cpu reference
    nnvts partition "$ROOT/tests/relay/block.py" --text >divided.py
    has divided.py '"Codegen": "nnapi", "global_symbol": "tvmgen_default_nnapi_main_1"'
    check 0 nnvts compile divided.py -o again
    has "$OUT" "2 regions, "
    passes again cpu
    sed 's/R.tan(lv2)/R.tan(lv9)/' "$ROOT/tests/relay/block.py" >bad.py
    check 2 nnvts compile bad.py -o bad
    has "$ERR" "nnvts: bad.py:12:66: lv9 is not defined"
}
# What a root or a quotient needs goes on through lets, so that no result is NaN.
test_roles_through_let() {
    cat >let.relay <<'END'
#[version = "0.0.5"]
def @main(%v: Tensor[(4), float32], %x: Tensor[(1, 4), float32]) {
  let %a = add(%v, 1e-5f);
  let %s = sqrt(%a);
  let %d = divide(%x, %s);
  tanh(%d)
}
END
    check 0 nnvts compile let.relay -o let
    local seed
    for seed in 1 2 3 4 5 6 7 8; do
        check 0 nnvts run-compiled let --driver cpu --compare --seed $seed
        check 1 nnvts run-compiled let --driver faulty:float16-inside --compare --seed $seed
    done
}
# The other branch of an if: another input.
test_flow() {
    compiled flow
    check 0 nnvts run-compiled flow --driver cpu --compare --seed 1
    cp "$OUT" one
    check 0 nnvts run-compiled flow --driver cpu --compare --seed 2
    has "$OUT" "was not called"
}
# From level 4 on an if is NNAPI's, where need be the runtime's; below, its branches are.
test_if() {
    cat >if.relay <<'END'
#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16), float32], %w: Tensor[(8, 16), float32], %go: bool) {
  %0 = tanh(%x);
  %1 = if (%go) {
    nn.relu(nn.dense(%0, %w))
  } else {
    %2 = strided_slice(%0, begin=[0, 0], end=[1, 8]);
    if (%go) { exp(%2) } else { %2 }
  };
  negative(%1)
}
END
    check 0 nnvts compile if.relay -o four --level 4
    has "$OUT" "3 operations, feature level 4"
    has "$OUT" "the whole program: 1 step"
    has "$OUT" " 0 operations on the host"
    local seed
    for seed in 1 2 3; do
        for driver in reference cpu,reference 'cpu#auto' "$PARTIAL#auto"; do
            check 0 nnvts run-compiled four --driver "$driver" --compare --seed $seed
            hasnt "$OUT" "on the host"
        done
    done
    # a device that lacks IF has NNAPI's for it
    check 0 nnvts run-compiled four --driver cpu --compare
    has "$OUT" "1 runs, with the CPU reference for IF and WHILE, PASS"
    check 0 nnvts run-compiled four --driver cpu --compare --json
    has "$OUT" '"with_reference": true'
    check 0 nnvts run-compiled four --driver reference --compare
    hasnt "$OUT" "with the CPU reference"
    check 1 nnvts run-compiled four --driver faulty:wrong-branch --compare
    check 0 nnvts compile if.relay -o three --level 3
    has "$OUT" "no class of the whole program: the host has if"
    check 0 nnvts run-compiled three --driver cpu --compare
    check 0 nnvts partition if.relay --level 3 --json
    has "$OUT" '{"op": "if", "calls": 2, "why": "if: IF needs feature level 4 (1.3), and 3 (1.2) is the limit"}'
}
# A loop as TVM's importers write it, the smallest of a truth among it: one WHILE; below level 4 the turns are the host's.
test_while() {
    cat >while.relay <<'END'
#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32], %n: int32) {
  %0 = tanh(%x);
  %8 = (
    let %while_loop = fn (%i: int32, %state: Tensor[(2, 3), float32]) -> (int32, Tensor[(2, 3), float32]) {
      %1 = less(%i, 5);
      %2 = min(%1);
      if (%2) {
        %3 = add(%i, 1);
        %4 = multiply(%state, %y);
        %5 = if (less(%i, 2)) { exp(%4) } else { add(%4, %0) };
        %while_loop(%3, tanh(%5))
      } else {
        (%i, %state)
      }
    };
    %while_loop
  );
  %9 = clip(%n, a_min=0f, a_max=2f);
  %10 = %8(%9, %0);
  (%10.0, abs(%10.1))
}
END
    check 0 nnvts compile while.relay -o four
    has "$OUT" "1 region, "
    has "$OUT" " 0 operations on the host"
    has four/tvmgen_default_nnapi_main_0.json '"op": "WHILE"'
    local seed driver
    for seed in 1 2 3; do
        for driver in reference cpu 'cpu#auto' "$PARTIAL#auto"; do
            check 0 nnvts run-compiled four --driver "$driver" --compare --seed $seed
            hasnt "$OUT" "on the host"
        done
    done
    check 1 nnvts run-compiled four --driver faulty:last-iteration-missing --compare
    check 0 nnvts compile while.relay -o three --level 3
    has "$OUT" "no class of the whole program: the host has "
    check 0 nnvts run-compiled three --driver cpu --compare
    check 0 nnvts partition while.relay --level 3 --json
    has "$OUT" '{"op": "while", "calls": 1, "why": "'
    check 0 nnvts partition while.relay --text
    has "$OUT" 'Composite="nnapi.while"'
}
# model NAME [options]: a network of tools/relay_models.py, small, in the folder NAME
model() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || skip "python3 is not there"
    python3 "$ROOT/tools/relay_models.py" "$@" --size 32 --width 0.25 --classes 10 --out . >/dev/null
    check 0 nnvts compile "$1.relay" --params "$1.params" -o "$1"
}
test_networks() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || skip "python3 is not there"
    check 0 "$ROOT/tools/networks.py" "$NNVTS_BUILD" --size 32 --only mobilenet-v2,resnet18,encoder_int8.onnx
    has "$OUT" "resnet18                                   1    0  PASS     PASS     PASS                  PASS"
    has "$OUT" "3 of 3 networks pass on 4 drivers with finite outputs"
}
# What a million operations cost is told by make growth: here a few.
test_growth() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || skip "python3 is not there"
    check 0 "$ROOT/tools/growth.py" "$NNVTS_BUILD" 3000 30 300
    has "$OUT" "comb             3000 "
    has "$OUT" " 1 region, "
}
test_control_flow() {
    model ssd
    passes ssd cpu host:cpu cpu,sample:quant
}
# The whole network is one region, of bytes and of floats at its end. Its budget is too wide to judge by: fixed tolerances
# tell what is right, and what is not within them is not trusted.
test_quantised() {
    model mobilenet-quant
    passes mobilenet-quant cpu host:cpu reference sample:quant,sample:level-1.1 'sample:quant#auto'
    check 1 nnvts run-compiled mobilenet-quant --driver sample:quant --compare
    has "$OUT" "on the host: ANeuralNetworksCompilation_finish: BAD_DATA"
    has "$OUT" "FAIL: nothing that ran on NNAPI was compared"
    check 1 nnvts run-compiled mobilenet-quant --driver faulty:zero-point-off-by-one --compare
    has "$OUT" "UNTRUSTED"
}
test_same_bytes() {
    mkdir -p here/deeper
    check 0 nnvts compile $TWO -o one
    (cd here/deeper && check 0 nnvts compile $TWO -o two)
    diff -r one here/deeper/two || fail "another folder gives other bytes"
    check 0 nnvts compile $TWO -o one
    diff -r one here/deeper/two || fail "compiling again gives other bytes"
    strings -a one/libregions.so | grep -F "$PWD" && fail "the library holds its folder"
    readelf -d one/libregions.so >dynamic
    has dynamic "Shared library: [libneuralnetworks.so]"
    hasnt dynamic RUNPATH
    hasnt dynamic RPATH
}
# What is written compiles without a warning.
warnings() {
    command -v "$1" >/dev/null || skip "$1 is not there"
    compiled flow two_regions
    local f
    for f in */*.cpp; do
        check 0 "$1" -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -I "$ROOT/include" "$f"
    done
}
test_gcc() { warnings g++; }
test_clang() { warnings clang++; }
test_clang_builds() {
    command -v clang++ >/dev/null || skip "clang++ is not there"
    CXX=clang++ compiled two_regions
    passes two_regions cpu
}
# A driver that is wrong, dies, hangs or fails: told as such, the host does the rest.
test_bad_drivers() {
    compiled two_regions
    check 1 nnvts run-compiled two_regions --driver faulty:filter-flipped --compare
    has "$OUT" "main_0"
    has "$OUT" "values wrong; worst at"
    check 0 nnvts run-compiled two_regions --driver faulty:filter-flipped # not asked
    check 1 nnvts run-compiled two_regions --driver faulty:crash-execute
    has "$ERR" "the driver's process died with SIGSEGV, running tvmgen_default_nnapi_main_1"
    same "$(wc -l <"$ERR")" 1 "lines of error"
    check 1 nnvts run-compiled two_regions --driver faulty:crash-prepare
    has "$ERR" "the driver's process died with SIGSEGV, compiling tvmgen_default_nnapi_main_1"
    check 1 nnvts run-compiled two_regions --driver faulty:exit-0
    has "$ERR" "the driver's process called exit(0)"
    check 1 nnvts run-compiled two_regions --driver faulty:hang-execute --timeout 1
    has "$ERR" "no answer within --timeout, running tvmgen_default_nnapi_main_1"
    check 1 nnvts run-compiled two_regions --driver faulty:nonsense-status
    has "$OUT" "FAIL: execution answered"
    check 0 nnvts run-compiled two_regions --driver faulty:claims-but-fails --compare
    has "$OUT" "on the host: ANeuralNetworksCompilation_finish: OP_FAILED"
}
test_choosing_devices() {
    compiled two_regions
    check 0 nnvts run-compiled two_regions --driver 'cpu,sample:quant#nnvts-cpu'
    has "$OUT" "devices: nnvts-cpu"
    hasnt "$OUT" quant
    check 0 nnvts run-compiled two_regions --driver 'sample:minimal#auto' --compare
    has "$OUT" "devices: nnvts-sample-minimal, nnapi-reference"
    NNVTS_DRIVERS=sample:quant check 0 nnvts run-compiled two_regions --compare
    has "$OUT" "devices: nnvts-sample-quant, nnapi-reference"
    check 2 nnvts run-compiled two_regions --driver nosuch
    has "$ERR" "no driver named 'nosuch'"
    check 2 nnvts run-compiled two_regions --driver cpu,cpu
    has "$ERR" "another device has the same name"
    check 2 nnvts run-compiled two_regions --driver 'cpu#nosuch'
    has "$ERR" "there is no such device"
}
# Names of the cache's files follow the token: another model, or another weight, other files.
test_cache() {
    compiled two_regions
    mkdir cache
    check 0 nnvts run-compiled two_regions --driver sample:float-fast --cache cache --compare
    ls cache >once
    [ -s once ] || fail "nothing is in the cache"
    check 0 nnvts run-compiled two_regions --driver sample:float-fast --cache cache --compare
    ls cache >again
    diff once again || fail "the same program has other tokens"
    sed 's/-0.3125/-0.34375/' "$ROOT/tests/relay/two_regions.json" >other.json
    check 0 nnvts compile "$ROOT/tests/relay/two_regions.relay" --params other.json -o other
    check 0 nnvts run-compiled other --driver sample:float-fast --cache cache --compare
    ls cache >more
    [ "$(wc -l <more)" -gt "$(wc -l <once)" ] || fail "another weight has the same token"
}
test_inputs() {
    compiled two_regions
    head -c 432 /dev/zero >zeros
    check 0 nnvts run-compiled two_regions --driver cpu --compare --input zeros
    check 2 nnvts run-compiled two_regions --driver cpu --input zeros --input zeros
    has "$ERR" "2 files, but the program has 1 parameters"
    head -c 431 /dev/zero >short
    check 2 nnvts run-compiled two_regions --driver cpu --input short
    has "$ERR" "expected the 432 bytes of the parameter %x, got 431"
    check 2 nnvts run-compiled two_regions --driver cpu --input nothing
}
# Random inputs suit what is done with them; NaN beside NaN is no evidence.
test_evidence() {
    cat >norm.relay <<'END'
#[version = "0.0.5"]
def @main(%x: Tensor[(1, 4, 6, 6), float32], %g: Tensor[(4), float32], %b: Tensor[(4), float32], %m: Tensor[(4), float32], %v: Tensor[(4), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.batch_norm(%x, %g, %b, %m, %v);
  nn.conv2d(%0.0, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])
}
END
    check 0 nnvts compile norm.relay -o norm
    for seed in 1 2 3; do
        check 0 nnvts run-compiled norm --driver cpu --compare --seed $seed
        hasnt "$OUT" "finite"
        check 1 nnvts run-compiled norm --driver faulty:float16-inside --compare --seed $seed
        has "$OUT" "values wrong"
    done
    check 0 nnvts run-compiled norm --driver cpu --output saved
    same "$(stat -c %s saved/output_0.bin)" 576 "bytes"
    cat >nan.relay <<'END'
#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) { log(negative(abs(add(%x, 1f)))) }
END
    check 0 nnvts compile nan.relay -o nan
    check 1 nnvts run-compiled nan --driver cpu --compare
    has "$OUT" "1 runs, UNTRUSTED: "
    has "$OUT" "0 of 6 finite"
    has "$OUT" "UNTRUSTED: an output holds no finite number"
}
test_json() {
    compiled two_regions
    check 0 nnvts run-compiled two_regions --driver cpu --compare --repeat 5 --burst --json
    has "$OUT" '"passes": true'
    has "$OUT" '{"function": "tvmgen_default_nnapi_main_0", "on": "nnapi", "calls": 1, "runs": 5, "refusal": null'
    has "$OUT" '"same_top": 36'
    check 1 nnvts run-compiled two_regions --driver faulty:filter-flipped --compare --json
    has "$OUT" '"passes": false'
    has "$OUT" '"verdict": "FAIL"'
}
# Levels below keep models that older devices take; what needs more stays on the host.
test_levels() {
    local level
    for level in 1 2 3 4 7; do
        check 0 nnvts compile "$ROOT/tests/relay/conv.relay" --level $level -o level$level
        hasnt "$OUT" "feature level $((level + 1))"
        check 0 nnvts run-compiled level$level --driver cpu
    done
    grep -q '"feature_level": 3' level3/plan.json || fail "level 3 is not used"
    check 2 nnvts compile "$ROOT/tests/relay/conv.relay" --level 8
    has "$ERR" "expected a feature level from 1 to 7"
}
test_choosing_operators() {
    echo '["tanh"]' >s.json
    echo '{"min_ops": 2}' >r.json
    echo '[]' >p.json
    check 0 nnvts compile $TWO --supported s.json --patterns p.json -o some
    has "$OUT" "1 region, 0 bytes of weights, 5 operations on the host"
    passes some cpu
    check 0 nnvts compile $TWO --prune r.json -o pruned
    has "$OUT" "tvmgen_default_nnapi_main_0"
    has "$OUT" "1 region, "
    passes pruned cpu
    check 0 nnvts compile $TWO --relaxed -o relaxed
    grep -q '"relaxed": true' relaxed/*_0.json || fail "the model is not relaxed"
    passes relaxed cpu
}
# Files that are missing, changed or made up: one clear error.
test_damage() {
    compiled two_regions
    damaged() { # MESSAGE, the folder being d
        check 2 nnvts run-compiled d --driver cpu
        has "$ERR" "$1"
        same "$(wc -l <"$ERR")" 1 "lines of error"
        rm -r d
    }
    cp -r two_regions d && printf x >>d/weights.bin
    damaged "d/weights.bin: not the file that was written"
    cp -r two_regions d && printf x >>d/libregions.so
    damaged "d/libregions.so: not the file that was written"
    cp -r two_regions d && sed -i 's/TANH/RELU/' d/tvmgen_default_nnapi_main_1.json
    damaged "d/tvmgen_default_nnapi_main_1.json: not the file that was written"
    cp -r two_regions d && rm d/module.relay
    damaged "a file of the compiled program is missing: d/module.relay"
    cp -r two_regions d && rm d/plan.json
    damaged "not a folder that nnvts compile has written: d/plan.json"
    cp -r two_regions d && sed -i 's/"format": 1/"format": 2/' d/plan.json
    damaged "format: expected 1"
    cp -r two_regions d && truncate -s 200 d/plan.json
    damaged "d/plan.json:"
    cp -r two_regions d && sed -i 's|"weights.bin": |"../weights.bin": |' d/plan.json
    damaged "'../weights.bin' is not a name in this folder"
    cp -r two_regions d && sed -i 's|{"output": 0}|{"output": 7}|' d/plan.json
    damaged "regions[0]: results[0]: output: expected an integer from 0 to 0"
    cp -r two_regions d && sed -i 's|"weights": "weights.bin"|"weights": "plan.json"|' d/plan.json
    damaged "weights: expected null or one of the files"
    cp -r two_regions d && sed -i 's|nnapi_main_1", "f|nnapi_main_0", "f|' d/plan.json
    damaged "regions[1]: function: 'tvmgen_default_nnapi_main_0' is there twice"
    check 2 nnvts run-compiled nowhere --driver cpu
    has "$ERR" "not a folder that nnvts compile has written"
}
test_bad_input() {
    check 2 nnvts compile
    has "$ERR" "which program?"
    check 2 nnvts compile nothing.relay
    echo 'def @main(%x: Tensor[(2), float32]) { nn.reloo(%x) }' >typo.relay
    check 2 nnvts compile typo.relay
    has "$ERR" "typo.relay:1:"
    echo 'def @other(%x: Tensor[(2), float32]) { nn.relu(%x) }' >nomain.relay
    check 2 nnvts compile nomain.relay
    has "$ERR" "nomain.relay: there is no function @main"
    check 2 nnvts compile $TWO --target tvm
    check 2 nnvts run-compiled
    has "$ERR" "which program?"
    check 2 nnvts compile "$ROOT/tests/relay/conv.relay" --params nothing.params
    echo '{"b": {"dtype": "float32", "shape": [3], "data": [1, 2, 3]}}' >wrong.json
    check 2 nnvts compile "$ROOT/tests/relay/conv.relay" --params wrong.json
    compiled two_regions
    check 2 nnvts run-compiled two_regions --repeat 0
    echo 'def @main(%x: Tensor[(?, 2), float32]) { nn.relu(%x) }' >open.relay
    check 0 nnvts compile open.relay -o open
    check 2 nnvts run-compiled open --driver cpu
    has "$ERR" "the parameter %x: no random values of its type can be made"
}
test_no_compiler() {
    CXX=nosuch check 2 nnvts compile $TWO -o out
    has "$ERR" "CXX='nosuch': there is no such program; --no-build leaves the library out"
    [ ! -e out/plan.json ] || fail "a plan for what was not built"
    mkdir empty
    PATH=$PWD/empty CXX= check 2 "$NNVTS_BUILD/nnvts" compile $TWO -o out
    has "$ERR" "no C++ compiler: c++, g++ and clang++ are not there"
    CXX=nosuch check 0 nnvts compile $TWO --no-build -o out
    [ ! -e out/libregions.so ] || fail "it was built"
    check 2 nnvts run-compiled out --driver cpu
    has "$ERR" "compiled with --no-build"
}
# Who exchanges the library, or has a compiler that leaves the regions out, is told.
test_library_of_something_else() {
    compiled conv
    echo 'int other;' | cc -shared -fPIC -x c -o conv/libregions.so -
    check 2 nnvts run-compiled conv --driver cpu
    has "$ERR" "conv/libregions.so: not the file that was written"
    cat >hollow <<'H'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo 'int other;' | cc -shared -fPIC -x c -o "$2" -
H
    chmod +x hollow
    CXX=$PWD/hollow compiled conv
    check 2 nnvts run-compiled conv --driver cpu
    has "$ERR" "conv/libregions.so: there is no function "
}
# Nothing for NNAPI: the program runs on the host alone.
test_host_only() {
    echo 'def @main(%x: Tensor[(4), float32]) { atan(%x) }' >host.relay
    check 0 nnvts compile host.relay -o host
    has "$OUT" "0 regions, 0 bytes of weights, 1 operation on the host"
    check 0 nnvts run-compiled host --driver cpu --compare
    has "$OUT" "largest error 0"
}
run_tests
