#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts bench: what it prints and writes, its gates, and drivers that are slow, wrong, or seem fast. No times are judged.
. "$(dirname "$0")/lib.sh"

SMALL=mobilenet_v2_0.25_32_float32
BYTES=mobilenet_v2_0.25_32_quant8
bench() { nnvts bench --count 6 --time 0.1 --samples 20 --out out "$@"; }
# xpath FILE EXPRESSION VALUE
xpath() { same "$(xmllint --xpath "$2" "$1")" "$3" "$2"; }
pages() {
    command -v xmllint >/dev/null || return 0
    xmllint --noout out/report.html 2>/dev/null || fail "report.html is not well-formed"
    xmllint --noout --schema "$ROOT/tests/junit.xsd" out/junit.xml 2>/dev/null || fail "junit.xml is not valid"
    [ "$(stat -c %s out/report.html)" -lt 2000000 ] || fail "report.html is large"
    hasnt out/report.html "<script"
    ! grep -oE '(src|href)="[^#"][^"]*"' out/report.html || fail "report.html refers to something outside"
}

# json_of FOLDER EXPRESSION: of the latency of its first row, as Python says it
json_of() { python3 -c 'import json, sys; bench = json.load(open(sys.argv[1] + "/bench.json")); row = bench["rows"][0]["latency"]; print(eval(sys.argv[2]))' "$@"; }

# Memory, closing, warm and cold caches, and the conditions before and after.
test_what_else_is_measured() {
    check 0 bench -d cpu --no-accuracy $SMALL
    grep -qE ' warm [0-9.]+ [mun]s, cold [0-9.]+ [mun]s  memory [0-9.]+ [mun]s  close [0-9.]+ [mun]s' "$OUT" || fail "no such line"
    same "$(json_of out 'all(row[k] > 0 for k in ("map_ns", "close_ns", "warm_ns", "cold_ns"))')" True
    same "$(json_of out 'sorted(bench["conditions"])')" "['after', 'before']"
    same "$(json_of out '(row["asked_rate"], row["overrun"])')" "(None, False)"
    has out/report.html '>Cold</th>'
}
test_prints_and_writes() {
    check 0 bench -d cpu,reference --csv table.csv $SMALL $BYTES
    has "$OUT" "$SMALL  built in code"
    has "$OUT" "p50 "
    has "$OUT" "largest error 0 "
    has "$OUT" "4 measured, 0 failed"
    has "$OUT" "cpu beside the fastest of the others, median latency by median latency: ahead on 2, behind on 0, even on 0 of 2 networks"
    has out/bench.json '"instructions": "'
    has out/bench.json '"form": "nnvts-bench-1"'
    has out/bench.json '"machine"'
    same "$(grep -c '"driver": "reference"' out/bench.json)" 2
    same "$(wc -l <table.csv)" 5 "lines of CSV"
    same "$(cut -d, -f2,3,16 table.csv | sort -u | tr '\n' ' ')" '"cpu",done,0 "reference",done,0 driver,state,failed ' "CSV"
    hasnt table.csv nan
    has out/report.html "Passed: 2 networks, 4 measured"
    pages
    [ -z "$(command -v xmllint)" ] || xpath out/junit.xml 'count(//testcase)' 4
    [ -z "$(command -v xmllint)" ] || xpath out/report.html "count(//*[local-name()='svg'])" 2
}
test_json_is_all_that_is_printed() {
    check 0 bench -d cpu --no-latency --json $SMALL
    python3 - "$OUT" <<'P' || fail "not the JSON of one row without latency"
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert len(rows) == 1 and "latency" not in rows[0] and rows[0]["accuracy"]["state"] == "done"
P
}
test_the_pages_again() {
    check 0 bench -d cpu $SMALL
    cp out/report.html before.html
    rm out/report.html out/junit.xml
    check 0 nnvts report out
    cmp before.html out/report.html || fail "report.html is another"
    [ -s out/junit.xml ] || fail "no junit.xml"
    sed -i 's/"failed": false/"failed": true/' out/bench.json
    check 1 nnvts report out
    echo '{"form": "nnvts-bench-1"' >out/bench.json
    check 2 nnvts report out
    has "$ERR" "out/bench.json: not JSON"
}
test_a_gate_of_latency() {
    check 1 bench -d cpu,reference --no-accuracy --max-latency-ratio 0.001 $SMALL
    has "$OUT" "FAIL $SMALL on reference: its median latency is"
    has out/report.html "Failed: 1 of 2 measured"
    pages
    [ -z "$(command -v xmllint)" ] || xpath out/junit.xml "count(//testcase[@name='$SMALL/reference']/failure)" 1
    check 0 bench -d cpu,reference --no-accuracy --max-latency-ratio 1e9 $SMALL
}
test_every_operation_by_itself() {
    check 0 bench -d cpu --no-latency --layers $BYTES $SMALL
    has "$OUT" "operation by operation: 66 judged, 0 out of budget"
    has out/report.html "66 operations, 66 judged, 0 out of budget"
    check 1 bench -d faulty:bias-channel0-missing@CONV_2D --no-latency --layers $SMALL
    has "$OUT" "is the first of"
    has out/report.html "The first is operation"
    pages
    python3 - out/bench.json <<'P' || fail "operations are not blamed as they are"
import json, sys
layers = json.load(open(sys.argv[1]))["rows"][0]["layers"]
wrong = [s for s in layers["steps"] if s["kind"] == "wrong"]
assert wrong and len(wrong) == layers["out_of_budget"] and wrong[0]["operation"] == layers["first"]
assert wrong[0]["alone"] == "fails"
# what is wrong begins at a convolution: what only reads its result is judged by what it read
assert {s["name"] for s in wrong} <= {"CONV_2D", "DEPTHWISE_CONV_2D"}, {s["name"] for s in wrong}
assert layers["worst"][0]["kind"] == "wrong"
P
}
# Operations and bytes a second, of the network and of each operation, and of a peak that is measured or stated.
test_roofline() {
    check 0 nnvts bench -d cpu --count 2 --time 0.1 --samples 20 --layers --roofline --out out speech_float
    has "$OUT" "roof, measured on one processor: "
    grep -qE '^  +[0-9.e+]+ Gop/s \[.*\]  .* GB/s .* op/B  [0-9.e+]+ % of the roof \[' "$OUT" || fail "no roofline of the network"
    has "$OUT" "each operation as a model of its own: "
    has out/report.html "Operations under the roof: cpu"
    pages
    python3 - out/bench.json <<'P' || fail "not the roofline"
import json, sys
bench = json.load(open(sys.argv[1]))
row, roof = bench["rows"][0], bench["roof"]
steps = row["layers"]["steps"]
assert roof["stated"] is False and roof["float32_gops"] > 0 and len(roof["bandwidth"]) > 1
assert row["work"]["operations"] == sum(s["work"]["operations"] for s in steps) > 0
line = row["latency"]["roofline"]
assert abs(line["gops"]["median"] * line["ns"]["median"] / row["work"]["operations"] - 1) < 1e-9
assert line["percent"]["low"] <= line["percent"]["median"] <= line["percent"]["high"]
assert all(s["roofline"]["ns"]["median"] > 0 for s in steps)
P
    check 0 bench -d cpu --no-accuracy --peak 1e6,1e5 $SMALL
    has "$OUT" "roof, stated: 1e+06 Gop/s float32, 1e+06 Gop/s int8; 1e+05 GB/s"
    check 2 bench -d cpu --peak 10 $SMALL
    has "$ERR" "--peak: 10: expected GFLOPS,GBPS"
    check 2 bench -d cpu --roofline --scenario multi $SMALL
    has "$ERR" "--roofline needs latencies, of the scenario single"
    check 0 bench -d cpu --no-accuracy $SMALL
    hasnt "$OUT" "Gop/s"
    same "$(json_of out '"roof" in bench, row["roofline"]["gops"]["median"] > 0, row["roofline"]["percent"]["median"]')" "(False, True, None)"
}
# A driver that cannot give all results is asked for each operation alone, and did not pass.
test_a_driver_without_intermediate_results() {
    check 1 bench -d faulty:later-outputs-lost --no-latency --layers $SMALL
    has "$OUT" "66 judged, 0 out of budget"
    has "$OUT" "with all results as outputs: FAIL: execute answered NONE, but"
    has out/report.html "as a model of its own"
    pages
}
test_a_driver_that_remembers_answers() {

    check 1 bench -d faulty:remembers-answer --no-accuracy mobilenet_v2_0.25_96_float32
    has "$OUT" "answers are remembered"
    has out/bench.json '"caches_answers": true'
    has out/report.html "answers are remembered"
    check 0 bench -d cpu --no-accuracy mobilenet_v2_0.25_96_float32
}
# Right where accuracy is asked for, and something else where it is timed.
test_a_driver_that_answers_otherwise_while_it_is_timed() {
    local fault
    for fault in answers-anything timed-kernel; do
        check 1 bench -d faulty:$fault $SMALL
        has "$OUT" "FAIL $SMALL on faulty:$fault: while it is timed its answers are up to"
        has out/report.html "while it is timed"
    done
    check 0 bench -d cpu $SMALL
    same "$(json_of out 'row["checked"] > 0')" True
}
# A detector's boxes are compared as boxes.
test_boxes() {
    grep -m 1 '"DETECTION_POSTPROCESSING"' "$ROOT/tests/conformance/boxes.jsonl" >net.json
    check 0 nnvts bench -d reference,faulty:detection-scales-swapped --no-latency --count 8 --out out net.json
    has "$OUT" " boxes, 0 others, mean IoU 1.000  largest error 0 "
    grep -q 'finds [0-9.]* % of [0-9]* boxes, [0-9]* others, mean IoU 0[.]' "$OUT" || fail "the faulty one finds the same"
    has out/report.html "boxes found, IoU 1.000"
    python3 -c 'import json; a, b = (r["accuracy"]["boxes"] for r in json.load(open("out/bench.json"))["rows"]); assert a["reference"] == a["found"] == b["reference"] > 5 and b["iou"] < 0.95 < a["iou"] == 1, (a, b)' || fail "boxes"
}
test_a_driver_that_crashes_or_hangs() {
    check 1 bench -d faulty:crash-execute@CONV_2D,cpu $SMALL
    has "$OUT" "crashed: "
    has "$OUT" "2 measured, 1 failed"
    pages
    [ -z "$(command -v xmllint)" ] || xpath out/junit.xml "count(//error[@type='CRASH'])" 1
    check 1 bench -d faulty:hang-execute@CONV_2D --timeout 1 $SMALL
    has "$OUT" "timeout: "
}
test_unsupported_is_no_failure() {
    check 0 bench -d cpu,sample:quant $SMALL
    has "$OUT" "unsupported: "
    [ -z "$(command -v xmllint)" ] || xpath out/junit.xml 'count(//skipped)' 1
}
test_scenarios_and_modes() {
    local scenario mode
    for scenario in multi offline poisson; do
        check 0 bench -d cpu --no-accuracy --scenario $scenario --streams 2 $SMALL
        has out/report.html "data random · $scenario · plain"
    done
    # a rate of its own is one that can be served; one that cannot is kept, and told
    same "$(json_of out '(row["asked_rate"] > 0, row["overrun"])')" "(True, False)"
    hasnt "$OUT" OVERRUN
    check 0 bench -d cpu --no-accuracy --scenario poisson --rate 2000000 --samples 3000 $BYTES
    has "$OUT" "OVERRUN: 2000000.0 arrivals a second are more than it could serve"
    has out/report.html "2000000.0 arrivals a second are more than it could serve"
    same "$(json_of out 'row["overrun"]')" True
    for mode in burst reusable; do check 0 bench -d cpu --no-accuracy --mode $mode $SMALL; done
}
# However little time there is, 30 executions are measured.
test_least_samples() {
    check 0 nnvts bench -d cpu --no-accuracy --time 0.000001 --out out $SMALL
    same "$(json_of out 'row["count"]')" 30
}
test_refusals() {
    check 2 nnvts bench
    has "$ERR" "which driver?"
    check 2 bench -d cpu no_such_network
    has "$ERR" "no network 'no_such_network'"
    check 2 bench -d no_such_driver $SMALL
    check 2 bench -d cpu --no-latency --no-accuracy $SMALL
    check 2 bench -d cpu --rate -1 $SMALL
    has "$ERR" "--rate -1: expected a number above 0"
    check 2 bench -d cpu --max-latency-ratio x $SMALL
    check 2 bench -d cpu --min-agreement 1.5 $SMALL
    check 2 bench -d cpu --streams 0 $SMALL
    check 2 bench -d cpu --samples 0 $SMALL
    check 2 bench -d cpu --scenario sometimes $SMALL
    check 2 bench -d cpu --data /nonexistent $SMALL
    mkdir other && echo '[]' >other/bench.json
    check 2 nnvts report other
}
# Who stops a bench has what was measured until then; a folder that cannot be made is told before.
test_interrupted() {
    local seconds
    for seconds in 1 4 16 60; do # a machine that is busy begins later
        check 130 timeout --preserve-status -s INT $seconds nnvts bench -d cpu,reference --no-accuracy --whole-time --out part
        ! grep -qs '"network"' part/bench.json || break
    done
    has "$ERR" "interrupted; the report has what was measured"
    python3 -c 'import json; assert len(json.load(open("part/bench.json"))["rows"]) >= 1' || fail "no rows"
    [ -s part/report.html ] || fail "no report"
    check 2 timeout 5 nnvts bench -d cpu --whole-time --out /proc/nnvts/none
}
# A planted bug lowers the accuracy of a trained network, and not by chance; a driver without one is as good.
test_accuracy_of_trained_networks() {
    nnvts bench --list | grep -q figures_float || skip "no trained networks in this build"
    check 0 nnvts bench -d cpu --no-latency --count 300 --min-agreement 0.99 --out out figures_float
    check 1 nnvts bench -d faulty:filter-flipped --no-latency --count 300 --out out figures_float
    has "$OUT" "WORSE than the reference"
    has "$OUT" "its accuracy is worse than the reference's, and not by chance"
    has out/report.html "worse, not by chance"
    python3 - out/bench.json <<'P' || fail "no significance"
import json, sys
a = json.load(open(sys.argv[1]))["rows"][0]["accuracy"]
assert a["worse"] and a["p"] < 0.01 and a["driver"]["top1"] < a["reference"]["top1"]
P
    check 1 nnvts bench -d cpu,faulty:filter-flipped --no-latency --count 50 --min-agreement 0.999 --out out figures_float
    pages
}
run_tests
