#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Partitions by cost: recorded profiles, live ones over loopback, a connection that breaks in the middle.
. "$(dirname "$0")/lib.sh"

CHAIN=$ROOT/tests/relay/chain.relay PROFILE=$ROOT/tests/relay/chain.profile.json
SERVER=
# serve ADDRESS OPTIONS...: nnvts-host; $ADDRESS is where it listens
serve() {
    rm -f "$WORK/address"
    nnvts-host --listen "$@" >"$WORK/address" 2>/dev/null &
    SERVER=$!
    trap '[ -z "$SERVER" ] || kill "$SERVER" 2>/dev/null; rm -rf "$WORK"' EXIT
    await test -s "$WORK/address"
    ADDRESS=$(sed 's/.* //' "$WORK/address")
    [ -n "$ADDRESS" ] || fail "no server"
}
stop() {
    kill "$SERVER" 2>/dev/null
    wait "$SERVER" 2>/dev/null || true
    SERVER=
}
keys() { sed -n 's/^  "\(.*\)": {$/\1/p' "$1" | sort; }

test_recorded() {
    check 0 nnvts partition "$CHAIN" --cost "$PROFILE" --json
    cp "$OUT" first
    has first '"us": 20.5,'
    has first '"host_ops": ["exp", "sqrt", "tanh"]'
    has first '"break_even_launch_us": 7.5'
    has first '"missing": 0'
    check 0 nnvts partition "$CHAIN" --cost "$PROFILE" --json
    cmp "$OUT" first || fail "not the same bytes"
    sed 's/"launch_us": 7/"launch_us": 1/' "$PROFILE" >cheap.json
    local m
    for m in greedy dp exact; do
        check 0 nnvts partition "$CHAIN" --cost cheap.json --select $m
        has "$OUT" "by $m: 10.0 us (host alone 21.0 us)"
        has "$OUT" "4 of 5 operations in 2 regions; on the host: exp"
    done
    # fewer operators, no cheaper
    echo '["abs", "sqrt"]' >s.json
    check 0 nnvts partition "$CHAIN" --cost cheap.json --supported s.json
    has "$OUT" "abs"
    hasnt "$OUT" "by exact: 10.0 us"
    # one key less: the static model, and a word about it
    grep -v '"sqrt' cheap.json >less.json
    check 0 nnvts partition "$CHAIN" --cost less.json
    has "$OUT" "1 operations are not in the profile"
}
test_bad_models() {
    echo '{"target": {"launch": 3}}' >m.json
    check 2 nnvts partition "$CHAIN" --cost m.json
    has "$ERR" "m.json: target: unknown member 'launch'; known: gflops gbytes op_us launch_us"
    check 2 nnvts partition "$CHAIN" --cost nowhere.json
    check 2 nnvts partition "$CHAIN" --cost default --select best
    check 2 nnvts profile "$CHAIN"
    has "$ERR" "--driver"
    check 2 nnvts profile "$CHAIN" --driver remote:
}
test_here() {
    check 0 nnvts profile "$CHAIN" --driver cpu --host cpu --time 0.02 -o p.json
    has "$OUT" "p.json: 6 measured, 0 impossible"
    check 0 nnvts profile "$CHAIN" --driver cpu --host cpu --time 0.02 -o p.json --resume
    has "$OUT" "p.json: 0 measured, 0 impossible, 6 known before"
    check 0 nnvts partition "$CHAIN" --cost p.json --json
    has "$OUT" '"missing": 0'
    # a profile of another device is not gone on with
    check 2 nnvts profile "$CHAIN" --driver reference --time 0.02 -o p.json --resume
    has "$ERR" "another device"
}
# A device beside itself saves nothing: what differs is noise.
test_same_device_saves_nothing() {
    local i
    for i in 1 2 3 4 5; do
        check 0 nnvts profile "$CHAIN" --driver cpu --host cpu --time 0.02 -o p.json
        check 0 nnvts partition "$CHAIN" --cost p.json
        has "$OUT" "0 of 5 operations in 0 regions"
        check 0 nnvts compile "$CHAIN" --cost p.json -o same --no-build
        has "$OUT" "same: 0 regions"
    done
    check 0 nnvts profile "$CHAIN" --driver cpu --time 0.02 -o p.json
    check 0 nnvts partition "$CHAIN" --cost p.json
    has "$OUT" "of another scale (profile with --host DRIVER)"
}
# compile takes the regions that partition chose.
test_compiled_as_chosen() {
    check 0 nnvts compile "$CHAIN" --cost "$PROFILE" -o chosen
    has "$OUT" "cost of @main by exact: 20.5 us"
    has "$OUT" "chosen: 1 region, 0 bytes of weights, 3 operations on the host"
    check 0 nnvts run-compiled chosen --driver cpu --compare
    check 2 nnvts compile "$CHAIN" --cost nowhere.json -o chosen
}
# What a driver can not do, or crashes on, stays on the host.
test_impossible() {
    check 0 nnvts profile "$CHAIN" --driver faulty:crash-execute@EXP --time 0.02 -o p.json
    has "$OUT" "exp(float32[4])->float32[4]: the driver died with SIG"
    has p.json '"target": null'
    check 0 nnvts partition "$CHAIN" --cost p.json --json
    has "$OUT" '"host_ops": '
    sed -n '/host_ops/p' "$OUT" | grep -q '"exp"' || fail "exp is not on the host"
}
# On another machine the driver's own time counts: with 4 ms there and back, none of them are in it.
test_on_another_machine() {
    command -v python3 >/dev/null || skip "no python3"
    (umask 077 && head -c 32 /dev/urandom | base64 >key)
    serve 127.0.0.1:0 --key-file key --clients 1
    python3 "$ROOT/tests/system/proxy.py" "${ADDRESS##*:}" --delay 2 >line.port &
    local line=$! at
    await test -s line.port
    at=127.0.0.1:$(head -n 1 line.port)
    check 2 nnvts profile "$CHAIN" --driver "remote:$at/cpu" -o p.json
    has "$ERR" "asks for a key"
    check 0 nnvts profile "$CHAIN" --driver "remote:key=key,$at/faulty:legal-untimed" --time 0.1 -o p.json
    has "$OUT" "6 measured"
    has "$OUT" "  (there and back "
    kill $line
    wait $line 2>/dev/null || true
    stop
    has p.json '"device": "nnvts-faulty'
    python3 - p.json <<'P' || { cat p.json; fail "not the driver's own times"; }
import json, sys
p = json.load(open(sys.argv[1]))
for r in list(p["ops"].values()) + list(p["regions"].values()):
    own = r.get("alone", r["target"])
    assert 0 < own < r["round_trip"] - 3900 and r["low"] <= own <= r["high"], r
assert p["basics"]["way_us"] > 3900 and p["target"]["launch_us"] > 0
P
    check 0 nnvts partition "$CHAIN" --cost p.json --json
    has "$OUT" '"missing": 0'
}
# What dies of a model twice can not do it; where nobody answers any more, what was measured is kept.
test_broken_connection() {
    serve 127.0.0.1:0
    local driver="remote:wait=0.5,$ADDRESS/faulty:crash-execute@EXP" client code=0
    check 0 nnvts profile "$CHAIN" --driver "$driver" --time 0.02 -o whole.json
    has "$OUT" "exp(float32[4])->float32[4]: execute answered DEAD_OBJECT"
    nnvts profile "$CHAIN" --driver "$driver" --time 0.3 -o p.json >said 2>error &
    client=$!
    await test -s said
    stop
    wait $client || code=$?
    same $code 3
    has error "p.json: measured so far is kept; --resume goes on"
    [ "$(keys p.json | wc -l)" -lt "$(keys whole.json | wc -l)" ] || fail "the connection broke too late"
    serve "$ADDRESS"
    check 0 nnvts profile "$CHAIN" --driver "$driver" --time 0.02 -o p.json --resume
    hasnt "$OUT" " 0 known before"
    same "$(keys p.json)" "$(keys whole.json)"
    stop
}
run_tests
