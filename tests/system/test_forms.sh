#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnvts report --format and nnvts run --format, read by other programs.
. "$(dirname "$0")/lib.sh"

RUN=(nnvts run -k 'ops/CONV_2D/*' --tier smoke --out run)

# A strict reader of TAP 14: version, plan, points in order, directives, YAML blocks that are JSON scalars; nothing else.
tap() {
    python3 - "$1" <<'P'
import json, re, sys
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
assert lines[-1] == "" and lines[0] == "TAP version 14", lines[:1]
plan = int(re.fullmatch(r"1\.\.(\d+)", lines[1]).group(1))
point = re.compile(r"(not )?ok (\d+) - ((?:[^\\#]|\\[\\#])*?)(?: # (SKIP|TODO) (.+))?")
n, bad, skipped, i = 0, 0, 0, 2
while i < len(lines) - 1:
    line = lines[i]
    i += 1
    if line.startswith("# "):
        continue
    m = point.fullmatch(line)
    assert m, line
    n += 1
    assert int(m.group(2)) == n, line
    bad += bool(m.group(1) and m.group(4) != "TODO")
    skipped += m.group(4) == "SKIP"
    assert not (m.group(1) and m.group(4) == "SKIP"), line
    if lines[i] == "  ---":
        i += 1
        while lines[i] != "  ...":
            key, value = re.fullmatch(r"  (\w+): (.*)", lines[i]).groups()
            assert isinstance(json.loads(value), str), lines[i]
            i += 1
        i += 1
assert n == plan, (n, plan)
print(bad, skipped)
P
}

test_tap() {
    check 1 "${RUN[@]}" -d faulty:dilation-ignored --format tap
    cp "$OUT" live.tap
    same "$(tap live.tap)" "$(verdict run FAIL) $(($(verdict run UNSUPPORTED) + $(verdict run SKIP)))" "bad and skipped"
    check 0 nnvts report run --format tap -o later.tap
    cmp live.tap later.tap || fail "the run told another story than its folder"
    if command -v prove >/dev/null; then # of version 13, whose lines are the same
        sed '1s/14/13/' live.tap >old.tap
        prove -e cat old.tap >"$OUT" 2>&1 && fail "prove took failures for passes"
        has "$OUT" "Failed $(verdict run FAIL)/"
        hasnt "$OUT" "Parse errors"
    fi
    check 0 "${RUN[@]}" -d cpu --format tap
    [ -z "$(command -v prove)" ] || sed '1s/14/13/' "$OUT" >good.tap
    [ -z "$(command -v prove)" ] || check 0 prove -e cat good.tap
}
test_csv() {
    check 1 "${RUN[@]}" -d faulty:dilation-ignored --format csv
    python3 - "$OUT" "$(verdict run FAIL)" "$(wc -l <run/cases.tsv)" <<'P' || fail "not the CSV of the run"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert len(rows) == int(sys.argv[3])
bad = [r for r in rows if r["verdict"] == "FAIL"]
assert len(bad) == int(sys.argv[2]) > 0
assert all(float(r["ratio"]) > 1 and r["reason"] and r["dump"] for r in bad)
assert all(float(r["ratio"]) <= 1 for r in rows if r["verdict"] == "PASS" and r["ratio"])
assert all(int(r["began_us"]) > 1e15 and int(r["worker"]) > 0 for r in rows)
assert not any(None in r or None in r.values() for r in rows)
P
}
test_github() {
    check 1 "${RUN[@]}" -d faulty:dilation-ignored --format github
    grep -q '^::error title=FAIL CONV_2D float ([0-9]* cases)::ops/CONV_2D/.*%0Aagain: nnvts replay ' "$OUT" ||
        fail "no annotation"
    has "$OUT" "::notice title=nnvts::"
    [ "$(grep -c '^::error' "$OUT")" -le 10 ] || fail "more annotations than the server shows"
    ! grep -v '^::\(error\|warning\|notice\) title=[^:]*::' "$OUT" || fail "lines that are no annotations"
    check 0 "${RUN[@]}" -d cpu --format github
    hasnt "$OUT" "::error"
}
# Slices lie within the run, those of one worker do not overlap, and the driver's part lies within its case.
test_trace() {
    check 0 "${RUN[@]}" -d cpu -j 2 --format trace
    python3 - "$OUT" "$(wc -l <run/cases.tsv)" <<'P' || fail "not the trace of the run"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
cases = [e for e in events if e["ph"] == "X" and e["name"] != "driver"]
tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert len(cases) == int(sys.argv[2])
assert tracks and all(name == f"worker {tid}" for tid, name in tracks.items())
for tid in tracks:
    mine = sorted((e["ts"], e["ts"] + e["dur"]) for e in cases if e["tid"] == tid)
    assert all(a[1] <= b[0] + 2 for a, b in zip(mine, mine[1:])), "overlap"
assert max(e["ts"] + e["dur"] for e in cases) < 60e6
by_start = {(e["tid"], e["ts"]): e["dur"] for e in cases}
assert all(e["dur"] <= by_start[e["tid"], e["ts"]] for e in events if e["name"] == "driver")
P
}
test_refusals() {
    check 0 "${RUN[@]}" -d cpu -q
    check 2 nnvts report run --format yaml
    has "$ERR" "tap, csv, github, trace"
    check 2 nnvts report run -o x
    check 2 nnvts report nowhere --format csv
    check 2 nnvts report run --format csv -o /nonexistent/x
    check 2 "${RUN[@]}" -d cpu --format tap --json
    has "$ERR" "there is one stdout"
    if [ -e /dev/full ]; then
        check 3 sh -c 'nnvts report run --format csv >/dev/full'
        has "$ERR" "could not be written"
    fi
    echo old >form.csv
    check 3 sh -c 'trap "" XFSZ; ulimit -f 1; nnvts report run --format csv -o form.csv'
    has "$ERR" "could not be written"
    same "$(cat form.csv)" old "what was there stays"
}
# "-" is stdout for every file that a verb writes; files that are read again are none.
test_to_stdout() {
    check 0 "${RUN[@]}" -d cpu -q
    check 0 nnvts report run --format csv -o run.csv
    for name in - /dev/stdout; do
        check 0 nnvts report run --format csv -o $name
        cmp "$OUT" run.csv || fail "-o $name: not the form alone"
    done
    for verb in "compare run run --html" "trend run --html" "pack run --in-process -o"; do
        check 0 nnvts $verb file
        cp "$OUT" said
        check 0 nnvts $verb -
        cmp "$OUT" file || fail "$verb -: not the file alone"
        sed 's,^/dev/stdout:,file:,' "$ERR" | cmp - said || fail "$verb -: stderr has not what stdout had"
    done
    check 2 nnvts expect update run -o -
    has "$ERR" "-o '-': expected a file"
}
run_tests
