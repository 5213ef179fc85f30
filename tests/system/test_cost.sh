#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Partitions by cost: recorded profiles, live ones over loopback, a connection that breaks in the middle.
. "$(dirname "$0")/lib.sh"

CHAIN=$ROOT/tests/relay/chain.relay PROFILE=$ROOT/tests/relay/chain.profile.json
SERVER=
# serve OPTIONS...: a server on any port; its address is in $ADDRESS
serve() {
    rm -f "$WORK/address"
    nnvts serve --listen 127.0.0.1:0 "$@" >"$WORK/address" 2>/dev/null &
    SERVER=$!
    trap '[ -z "$SERVER" ] || kill "$SERVER" 2>/dev/null; rm -rf "$WORK"' EXIT
    for _ in $(seq 200); do [ -s "$WORK/address" ] && break || sleep 0.05; done
    ADDRESS=$(sed 's/.* //' "$WORK/address")
    [ -n "$ADDRESS" ] || fail "no server"
}
stop() {
    kill "$SERVER" 2>/dev/null
    wait "$SERVER" 2>/dev/null
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
    has "$ERR" "--connect"
    check 2 nnvts profile "$CHAIN" --connect 127.0.0.1
    check 2 nnvts serve --driver cpu --listen 0.0.0.0:0
    has "$ERR" "--key-file"
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
# What a driver can not do, or crashes on, stays on the host.
test_impossible() {
    check 0 nnvts profile "$CHAIN" --driver faulty:crash-execute@EXP --time 0.02 -o p.json
    has "$OUT" "exp(float32[4])->float32[4]: the driver died with SIG"
    has p.json '"target": null'
    check 0 nnvts partition "$CHAIN" --cost p.json --json
    has "$OUT" '"host_ops": '
    sed -n '/host_ops/p' "$OUT" | grep -q '"exp"' || fail "exp is not on the host"
}
test_live() {
    head -c 32 /dev/urandom | base64 >key
    chmod 600 key
    serve --driver cpu --key-file "$PWD/key"
    check 2 nnvts profile "$CHAIN" --connect "$ADDRESS" -o p.json
    has "$ERR" "--key-file"
    check 0 nnvts profile "$CHAIN" --connect "$ADDRESS" --key-file key --time 0.02 -o p.json
    has "$OUT" "6 measured"
    has p.json '"device": "nnvts-cpu"'
    stop
}
test_broken_connection() {
    serve --driver cpu
    check 0 nnvts profile "$CHAIN" --connect "$ADDRESS" --time 0.02 -o whole.json
    nnvts profile "$CHAIN" --connect "$ADDRESS" --time 0.3 -o p.json >said 2>error &
    local client=$! code=0
    for _ in $(seq 400); do [ -s said ] && break || sleep 0.02; done
    stop
    wait $client || code=$?
    same $code 3
    has error "p.json: measured so far is kept; --resume goes on"
    [ "$(keys p.json | wc -l)" -lt "$(keys whole.json | wc -l)" ] || fail "the connection broke too late"
    serve --driver cpu
    check 0 nnvts profile "$CHAIN" --connect "$ADDRESS" --time 0.02 -o p.json --resume
    hasnt "$OUT" " 0 known before"
    same "$(keys p.json)" "$(keys whole.json)"
    stop
}
run_tests
