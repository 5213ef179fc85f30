#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts plan: a model divided between drivers, as a table, as JSON and for Graphviz.
. "$(dirname "$0")/lib.sh"

# ADD, MUL, RELU, TANH in a row: sample:minimal does ADD and RELU, sample:level-1.0 all of them.
row() {
    cat <<'EOF' | tr -d '\n'
{"format":"nnvts-spec/1","name":"row","min_version":"1.0","expect_failure":false,"relaxed":false,"main":{"operands":[
{"type":"TENSOR_FLOAT32","dims":[2,20],"lifetime":"SUBGRAPH_INPUT","data":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},
{"type":"INT32","dims":[],"lifetime":"CONSTANT_COPY","data":[0]},
{"type":"TENSOR_FLOAT32","dims":[2,20],"lifetime":"TEMPORARY_VARIABLE"},
{"type":"TENSOR_FLOAT32","dims":[2,20],"lifetime":"TEMPORARY_VARIABLE"},
{"type":"TENSOR_FLOAT32","dims":[2,20],"lifetime":"TEMPORARY_VARIABLE"},
{"type":"TENSOR_FLOAT32","dims":[2,20],"lifetime":"SUBGRAPH_OUTPUT","data":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}],
"operations":[{"type":"ADD","inputs":[0,0,1],"outputs":[2]},{"type":"MUL","inputs":[2,0,1],"outputs":[3]},
{"type":"RELU","inputs":[3],"outputs":[4]},{"type":"TANH","inputs":[4],"outputs":[5]}],"inputs":[0],"outputs":[5]},"referenced":[]}
EOF
}
# step N DEVICE OPERATIONS...: a line of the table
step() { tr -s ' ' <"$OUT" | grep -qF -- " $1 $2 $3" || { cat "$OUT" >&2; fail "no step $1 $2 $3"; }; }

test_divided() {
    row >row.json
    check 0 nnvts plan row.json --drivers sample:minimal
    has "$OUT" "row: 4 operations"
    has "$OUT" "device 0: nnvts-sample-minimal"
    has "$OUT" "device 1: nnapi-reference"
    step 0 nnvts-sample-minimal "ADD %0 %2 0.6"
    step 1 nnapi-reference "MUL %2 %0 %3 1"
    step 2 nnvts-sample-minimal "RELU %3 %4 0.6"
    step 3 nnapi-reference "TANH %4 %5 1"
    # 160 bytes each, of which two live at a time
    has "$OUT" "cost 3.2 (on the CPU reference alone 4), 3 values cross, 384 bytes for temporaries"
}
test_one_device() {
    row >row.json
    check 0 nnvts plan row.json --drivers cpu
    step 0 nnvts-cpu "ADD, MUL, RELU, TANH %0 %5 2"
    has "$OUT" "0 values cross, 0 bytes"
}
# As many drivers as may be named are devices, with the CPU reference behind them; one more is an error.
test_most_drivers() {
    local drivers
    row >row.json
    drivers=$(awk -F '[\t@]' '!/^#/ && !seen[$1]++ { print "faulty:" $1 }' "$ROOT/tests/system/planted.tsv" |
        sed -n 1,33p | paste -sd , -)
    check 0 nnvts plan row.json --drivers "${drivers%,*}"
    has "$OUT" "device 31: nnvts-faulty-"
    has "$OUT" "device 32: nnapi-reference"
    check 2 nnvts plan row.json --drivers "$drivers"
    one_error "more than 32 drivers"
}
test_json() {
    command -v python3 >/dev/null || skip "python3 is not there"
    row >row.json
    check 0 nnvts plan row.json --drivers sample:minimal,cpu --json
    python3 - "$OUT" <<'EOF'
import json, sys
plan = json.load(open(sys.argv[1]))
assert plan["spec"] == "row" and plan["simple"] and plan["cost"] == 2, plan
assert plan["devices"] == ["nnvts-sample-minimal", "nnvts-cpu", "nnapi-reference"], plan
EOF
    check 0 nnvts plan row.json --drivers sample:minimal --json
    python3 - "$OUT" <<'EOF'
import json, sys
plan = json.load(open(sys.argv[1]))
steps = plan["graphs"][0]["steps"]
assert [s["device"] for s in steps] == ["nnvts-sample-minimal", "nnapi-reference"] * 2, steps
assert steps[1]["operations"] == [{"index": 1, "type": "MUL"}] and steps[1]["inputs"] == [2, 0], steps
assert plan["crossings"] == 3 and plan["pool_bytes"] == 384 and not plan["simple"], plan
EOF
}
test_measured() {
    row >row.json
    check 0 nnvts plan row.json --drivers sample:minimal,cpu --measure --json
    same "$(grep -o '"us":\[[0-9.e-]*,[0-9.e-]*,[0-9.e-]*\]' "$OUT" | wc -l)" 2 "ADD and RELU on three devices"
    same "$(grep -o '"us":\["NaN",[0-9.e-]*,[0-9.e-]*\]' "$OUT" | wc -l)" 2 "MUL and TANH on two"
    check 0 nnvts plan row.json --drivers sample:minimal,cpu --measure
    grep -Eq 'MUL .* [0-9.e-]+  nnvts-sample-minimal: not supported$' "$OUT" || fail "no time of MUL"
    grep -Eq 'ADD .*nnvts-sample-minimal: costs 0.6, [0-9.e-]+ us$' "$OUT" || fail "no time of ADD elsewhere"
    has "$OUT" "measured, each operation alone: "
    has "$OUT" " us on nnapi-reference"
    check 2 nnvts plan row.json --measure
    has "$ERR" "--measure: which drivers?"
}
test_preference() {
    row >row.json
    # fast: 0.3 in time, 0.8 in power; slow: 1.3 in time, 0.4 in power
    check 0 nnvts plan row.json --drivers sample:float-fast,sample:float-slow
    step 0 nnvts-sample-float-fast "ADD, MUL, RELU, TANH %0 %5 1.2"
    check 0 nnvts plan row.json --drivers sample:float-fast,sample:float-slow --preference low-power
    step 0 nnvts-sample-float-slow "ADD, MUL, RELU, TANH %0 %5 1.6"
}
test_dot() {
    row >row.json
    check 0 nnvts plan row.json --drivers sample:minimal --dot plan.dot
    has plan.dot 'label="step 1: nnapi-reference"'
    has plan.dot 'label="0 ADD", fillcolor="#8dd3c7"'
    has plan.dot 'label="1 MUL", fillcolor="#d9d9d9"'
    if command -v dot >/dev/null; then check 0 dot -Tsvg plan.dot -o plan.svg; fi
}
# A file that goes to stdout has it to itself: behind what is there, and what the verb says goes to stderr.
test_dot_to_stdout() {
    row >row.json
    check 0 nnvts plan row.json --drivers sample:minimal --dot plan.dot
    cp "$OUT" said
    for name in - /dev/stdout /dev/fd/1; do
        check 0 nnvts plan row.json --drivers sample:minimal --dot $name
        cmp "$OUT" plan.dot || fail "--dot $name: not the graph alone"
        cmp "$ERR" said || fail "--dot $name: stderr has not what stdout had"
    done
    [ ! -e - ] || fail "a file is called -"
    echo before >both
    nnvts plan row.json --drivers sample:minimal --dot - >>both 2>/dev/null || fail "exit code $?"
    echo before | cat - plan.dot | cmp - both || fail "not behind what was there"
    (echo before && nnvts plan row.json --drivers sample:minimal --dot /dev/stdout 2>/dev/null) >both
    echo before | cat - plan.dot | cmp - both || fail "written over what was there"
    check 2 nnvts plan row.json --drivers sample:minimal --json --dot -; one_error "--json or --dot -: there is one stdout"
}
test_control_flow() {
    check 0 nnvts plan "$ROOT/tests/conformance/control.jsonl" -k if_float32_then_0 --drivers sample:minimal
    has "$OUT" "runtime: graphs 1, 2"
    has "$OUT" "graph 1"
    step 0 nnvts-sample-minimal "ADD"
    step 0 nnapi-reference "SUB"
}
test_from_environment() {
    row >row.json
    NNVTS_DRIVERS=sample:minimal check 0 nnvts plan row.json
    step 0 nnvts-sample-minimal "ADD"
    NNVTS_DRIVERS='' check 0 nnvts plan row.json
    step 0 nnapi-reference "ADD, MUL, RELU, TANH"
}
# What is said of each operation, and of the share that drivers have.
test_operations() {
    row >row.json
    check 0 nnvts plan row.json --drivers sample:minimal --operations
    tr -s ' ' <"$OUT" | grep -qF ' 0 nnvts-sample-minimal ADD float32 [2,20] 0.6' || fail "no line for ADD"
    tr -s ' ' <"$OUT" | grep -qF ' 1 nnapi-reference MUL float32 [2,20] 1 nnvts-sample-minimal: not supported' || fail "no line for MUL"
    has "$OUT" "2 of 4 operations on drivers"
    check 0 nnvts plan row.json --drivers sample:float-fast,sample:float-slow --operations
    has "$OUT" "nnvts-sample-float-slow: costs 1.3"
    check 0 nnvts plan row.json --drivers cpu --only 1-2 --operations
    has "$OUT" "nnvts-cpu: not among --only"
    step 0 nnapi-reference "ADD %0 %2 1"
    step 1 nnvts-cpu "MUL, RELU %2 %0 %4 1"
}
test_min_on_device() {
    row >row.json
    check 0 nnvts plan row.json --drivers sample:minimal --min-on-device 50%
    check 1 nnvts plan row.json --drivers sample:minimal --min-on-device 51%
    has "$OUT" "FAIL: 50 % of the operations are on drivers, expected 51 %"
    check 0 nnvts plan mobilenet_v2_0.25_32_quant8 --drivers cpu --min-on-device 1
    check 2 nnvts plan row.json --drivers cpu --min-on-device 105%; one_error "expected a share"
}
# A hybrid run: a wrong step shows where it is judged by what it was given, though the network's answer is within its budget.
test_hybrid() {
    check 0 nnvts plan mobilenet_v2_0.25_32_quant8 --drivers cpu --only -3,60- --run
    has "$OUT" "executed: PASS, 1001 values compared"
    has "$OUT" "step 0, nnvts-cpu, by what it was given: PASS"
    has "$OUT" "step 2, nnvts-cpu, by what it was given: PASS, 1001 values compared"
    check 1 nnvts plan mobilenet_v2_0.25_32_quant8 --drivers faulty:requantise-truncates --only 7 --run
    has "$OUT" "executed: PASS"
    has "$OUT" "step 1, nnvts-faulty-requantise-truncates, by what it was given: FAIL"
    check 1 nnvts plan mobilenet_v2_0.25_32_quant8 --drivers faulty:requantise-truncates --only 7 --run --json
    has "$OUT" '"verdict":"FAIL"'
    check 2 nnvts plan mobilenet_v2_0.25_32_quant8 --drivers cpu --only 66; one_error "operations 0 to 65"
    check 2 nnvts plan mobilenet_v2_0.25_32_quant8 --drivers cpu --only 3,,4; one_error "expected operations such as"
}
# A result of as many numbers as expected, in another shape: [2,3] in place of [3,2].
test_another_shape() {
    cat >pack.json <<'EOF'
{"format":"nnvts-spec/1","name":"pack","main":{"operands":[
{"type":"INT32","dims":[],"lifetime":"CONSTANT_COPY","data":[1]},
{"type":"TENSOR_FLOAT32","dims":[3],"lifetime":"SUBGRAPH_INPUT","data":[0,1,2]},
{"type":"TENSOR_FLOAT32","dims":[3],"lifetime":"SUBGRAPH_INPUT","data":[3,4,5]},
{"type":"TENSOR_FLOAT32","dims":[0,0],"lifetime":"SUBGRAPH_OUTPUT","value_dims":[3,2],"data":[0,3,1,4,2,5]}],
"operations":[{"type":"PACK","inputs":[0,1,2],"outputs":[3]}],"inputs":[1,2],"outputs":[3]},"referenced":[]}
EOF
    check 0 nnvts plan pack.json --drivers cpu --run
    has "$OUT" "executed: PASS, 6 values compared"
    check 1 nnvts plan pack.json --drivers faulty:pack-axis-first --run
    has "$OUT" "output 0 has another shape than expected"
}
# A step is judged by all that it gives, in whatever order a model names its operands.
test_result_named_first() {
    cat >first.json <<'EOF'
{"format":"nnvts-spec/1","name":"first","main":{"operands":[
{"type":"TENSOR_FLOAT32","dims":[3],"lifetime":"TEMPORARY_VARIABLE"},
{"type":"TENSOR_FLOAT32","dims":[3],"lifetime":"SUBGRAPH_INPUT","data":[-1,0,2]},
{"type":"TENSOR_FLOAT32","dims":[3],"lifetime":"SUBGRAPH_OUTPUT","data":[0,0,1]}],
"operations":[{"type":"RELU","inputs":[1],"outputs":[0]},{"type":"RELU1","inputs":[0],"outputs":[2]}],
"inputs":[1],"outputs":[2]},"referenced":[]}
EOF
    check 0 nnvts plan first.json --drivers cpu --only 0 --run
    has "$OUT" "step 0, nnvts-cpu, by what it was given: PASS, 3 values compared"
}
test_models() {
    model=$(find -L "${NNVTS_MODELS:-/nowhere}" -name '*.tflite' 2>/dev/null | sort | head -n 1)
    [ -n "$model" ] || skip "no models are there: set NNVTS_MODELS"
    check 0 nnvts plan "$model" --drivers cpu --run
    has "$OUT" "executed: PASS"
}
one_error() {
    same "$(wc -l <"$ERR")" 1 "lines on stderr: $(cat "$ERR")"
    has "$ERR" "$1"
}
test_errors() {
    row >row.json
    check 2 nnvts plan; one_error "which model?"
    check 2 nnvts plan nosuch.json --drivers cpu; one_error "nosuch.json"
    check 2 nnvts plan row.json --drivers nosuch; one_error "nosuch"
    check 2 nnvts plan row.json --drivers cpu,,cpu; one_error "commas"
    check 2 nnvts plan row.json --drivers cpu,cpu; one_error "named twice"
    check 2 nnvts plan row.json --preference best --drivers cpu; one_error "low-power"
    check 2 nnvts plan row.json --drivers sample:minimal --no-cpu; one_error "operation 1 (MUL) is supported by none"
    check 2 nnvts plan "$ROOT/tests/conformance/control.jsonl" --drivers cpu; one_error "--filter"
    sed 's/"MUL","inputs":\[2,0,1\]/"MUL","inputs":[2,0]/' row.json >bad.json
    check 2 nnvts plan bad.json --drivers cpu
    has "$ERR" "ANeuralNetworksModel_addOperation answers BAD_DATA"
    check 2 nnvts plan row.json --drivers cpu --dot no/such/folder/x.dot
}
test_bad_drivers() {
    row >row.json
    check 2 nnvts plan row.json --drivers faulty:crash-supported
    has "$ERR" "a driver crashed: its process died with SIGSEGV"
    cat >hang.c <<'EOF'
#include <unistd.h>
#include "nnvts/driver.h"
static enum nnvts_status hang(const char *options, struct nnvts_device **out, const char **error) {
    (void)options, (void)out, (void)error;
    for (;;) pause();
}
static const struct nnvts_driver table = {sizeof table, NNVTS_DRIVER_ABI_VERSION, "hang", hang, 0};
const struct nnvts_driver *nnvts_driver_get(void) { return &table; }
EOF
    gcc -std=c17 -D_GNU_SOURCE -shared -fPIC -I "$ROOT/include" -o hang.so hang.c
    check 2 nnvts plan row.json --drivers ./hang.so --timeout 1
    one_error "--timeout"
}
run_tests
