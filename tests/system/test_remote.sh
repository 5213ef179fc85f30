#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# remote:HOST, a driver of another machine: the same verdicts, and one clear word for all that may go wrong on the way.
. "$(dirname "$0")/lib.sh"
try_nothing_again
unset NNVTS_REMOTE_KEY

# serve ARGUMENTS...: starts nnvts-host; $SERVER is its process, $PORT where it listens
serve() {
    nnvts-host --listen 127.0.0.1:0 "$@" >listening 2>server.log &
    SERVER=$!
    PORT=$(read_port listening 's/^listening on .*:\([0-9]*\)$/\1/p')
}
# read_port FILE SCRIPT: the port, as soon as the program says it; the next program writes a file of its own
read_port() { await port_of "$@" && rm "$1"; }
port_of() { [ -s "$1" ] && sed -n "$2" "$1" | grep .; }
# line ARGUMENTS...: a line to $PORT; $LINE is its process, $AT its port
line() {
    command -v python3 >/dev/null || skip "no python3"
    python3 "$ROOT/tests/system/proxy.py" "$PORT" "$@" >line.port &
    LINE=$!
    AT=$(read_port line.port 's/^\([0-9][0-9]*\)$/\1/p')
}
stop() { kill "$@" 2>/dev/null; wait "$@" 2>/dev/null || true; }
make_key() { (umask 077 && head -c 32 /dev/urandom | base64 >"$1"); }
# compare DRIVER: the smoke tier has the verdicts of the driver itself, but for what needs a process to kill
compare() {
    check 0 nnvts run --driver cpu --tier smoke --out direct -q
    check 0 nnvts run --driver "$1" --tier smoke --out remote -q
    same "$(diff <(verdicts direct) <(verdicts remote))" "" "verdicts differ"
}

test_same_verdicts_as_direct() {
    make_key key
    serve --key-file key
    compare "remote:key=key,127.0.0.1:$PORT/cpu"
    check 0 nnvts verify remote
    hasnt "$OUT" "in the process that judged it"
    stop $SERVER
}
test_any_driver() {
    local driver
    serve
    for driver in faulty:none reference sample:quant "$NNVTS_BUILD/drivers/cpu.so:threads=1"; do
        check 0 nnvts run --driver "remote:127.0.0.1:$PORT/$driver" --suite exec --tier smoke --out any -q
        hasnt any/summary.json '"PASS": 0'
    done
    stop $SERVER
}
# refused DRIVER TEXT: it can't be opened, and the reason is told
refused() {
    check 2 nnvts run --driver "$1" --filter 'ops/ADD/float32/rank1/0' --out none
    has "$ERR" "$2"
}
test_refusals() {
    make_key key
    make_key other
    serve --key-file key
    refused "remote:127.0.0.1:$PORT/cpu" "asks for a key"
    refused "remote:key=other,127.0.0.1:$PORT/cpu" "has another key"
    refused "remote:key=missing,127.0.0.1:$PORT/cpu" "can't be read"
    refused "remote:key=key,127.0.0.1:$PORT/no-such-driver" "has no such driver"
    refused "remote:key=key,127.0.0.1:$PORT" "expected a driver"
    refused "remote:key=key,127.0.0.1:$PORT/faulty:no-such-bug" "expected BUG"
    refused "remote:key=key,127.0.0.1:notaport/cpu" "expected a machine"
    refused "remote:colour=red,127.0.0.1:$PORT/cpu" "remote takes"
    refused "remote:" "expected a machine"
    # a name that there is not is no board that starts again: an address of digits alone has no name service to ask
    SECONDS=0
    refused "remote:wait=30,999.1.2.3/cpu" "999.1.2.3"
    [ $SECONDS -lt 20 ] || fail "a machine that does not exist is waited for"
    chmod 644 key
    refused "remote:key=key,127.0.0.1:$PORT/cpu" "chmod 600"
    stop $SERVER
    refused "remote:wait=0.2,127.0.0.1:$PORT/cpu" "Connection refused"
    chmod 600 key
    serve cpu
    refused "remote:127.0.0.1:$PORT/reference" "serves another driver"
    refused "remote:key=key,127.0.0.1:$PORT/cpu" "asks for no key"
    check 0 nnvts run --driver "remote:127.0.0.1:$PORT" --filter 'ops/ADD/float32/rank1/0' --out served
    NNVTS_REMOTE_KEY=key refused "remote:127.0.0.1:$PORT" "asks for no key"
    stop $SERVER
}
test_usage() {
    check 2 nnvts-host --listen 0.0.0.0:0
    has "$ERR" "give --key-file"
    check 2 nnvts-host --listen nowhere
    has "$ERR" "is no address"
    check 2 nnvts-host --listen 127.0.0.1:0 --clients many
    check 2 nnvts-host --listen 127.0.0.1:0 --stdio
    check 2 nnvts-host --colour
    check 2 nnvts-host
    has "$ERR" "usage: nnvts-host"
    check 0 nnvts-host --help
    has "$OUT" "--key-file FILE"
    check 0 nnvts-host --version
}
# Beside the way there and back, bench shows what the driver took; its options may have commas.
test_times_of_the_driver() {
    local mode
    make_key key
    serve --key-file key
    for mode in plain burst fenced; do
        check 0 nnvts bench -d "cpu,remote:key=key,127.0.0.1:$PORT/faulty:legal-untimed" --mode $mode --no-accuracy --time 0.05 \
            --out timed mobilenet_v2_0.25_32_quant8
        same "$(grep -c '"in_driver_ns": [0-9]' timed/bench.json)" 2 "$mode"
    done
    has timed/bench.json "\"driver\": \"remote:key=key,127.0.0.1:$PORT/faulty:legal-untimed\""
    check 0 nnvts bench -d "faulty:legal-untimed" --no-accuracy --time 0.05 --out untimed mobilenet_v2_0.25_32_quant8
    has untimed/bench.json '"in_driver_ns": null'
    stop $SERVER
}
# A program of another version, and one that is something else.
test_other_programs() {
    command -v python3 >/dev/null || skip "no python3"
    local what
    for what in version garbage; do
        python3 - $what >port <<'P' &
import socket, struct, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    got = c.recv(48)
    c.sendall(got[:4] + struct.pack("<I", 999) + got[8:] if sys.argv[1] == "version" else b"HTTP/1.1 400 Bad Request\r\n" * 4)
P
        PORT=$(read_port port 's/^\([0-9][0-9]*\)$/\1/p')
        refused "remote:wait=0.2,127.0.0.1:$PORT/cpu" "$([ $what = version ] && echo 'another version' || echo 'does not speak')"
        stop $!
    done
}
test_a_death_costs_its_case() {
    local bug
    serve
    check 0 nnvts run --driver cpu --suite ops --tier smoke --filter "$FEW" --out good -q
    for bug in crash-prepare crash-execute exit-0 close-descriptors; do
        check 1 nnvts run --driver "remote:127.0.0.1:$PORT/faulty:$bug@TANH" --suite ops --tier smoke --filter "$FEW" --out bad -q
        same "$(diff <(verdicts good) <(verdicts bad) | grep '^>' | grep -v '^> ops/TANH/')" "" "$bug: verdicts of others"
        [ "$(verdicts bad | grep -c '^ops/TANH/.* FAIL$')" -gt 0 ] || fail "$bug: no failure of TANH"
    done
    check 1 nnvts run --driver "remote:127.0.0.1:$PORT/faulty:crash-execute@TANH" --filter 'op:TANH' --tier smoke --out bad
    grep -q 'was ended by signal' bad/journal.jsonl || fail "the journal does not tell how the process ended"
    stop $SERVER
}
test_a_hang_ends_at_the_deadline() {
    serve
    check 1 nnvts run --driver "remote:127.0.0.1:$PORT/faulty:hang-execute@TANH" --filter 'ops/TANH/float32/rank1/0' --timeout 1 --out hang
    same "$(verdict hang TIMEOUT)" 1
    stop $SERVER
}
# kill_while RUN HOW: calls HOW again and again while the run goes on; counts in $KILLS
kill_while() {
    KILLS=0
    while kill -0 "$1" 2>/dev/null; do
        "$2" && KILLS=$((KILLS + 1))
        sleep 0.03
    done
}
# below PROCESS: its children, and theirs
below() { local c; for c in $(pgrep -P "$1"); do echo "$c"; pgrep -P "$c"; done; }
kill_one() {
    local victim
    victim=$(below $SERVER | shuf -n 1)
    [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null
}
# nothing_lost RUN: every case has a verdict, and only as many failed as were killed
nothing_lost() {
    same "$(verdict "$1" CRASH) $(verdict "$1" ERROR)" "0 0"
    [ "$(verdict "$1" FAIL)" -le $((KILLS * 2)) ] || fail "$(verdict "$1" FAIL) failures for $KILLS kills"
    same "$(verdicts "$1" | wc -l)" "$(nnvts list --suite ops --tier smoke | wc -l)" "cases are missing"
}
# Relays and processes of drivers on the far side are killed while runs go on: each case has a verdict, that of the driver
# itself but for those that were killed. NNVTS_KILLS: so many at least (make campaigns: a thousand).
test_killed_mid_run() {
    command -v pgrep >/dev/null && command -v shuf >/dev/null || skip "no pgrep and shuf (packages procps and coreutils)"
    local wanted=${NNVTS_KILLS:-20} kills=0 paid=0 rounds=0 run code
    serve
    check 0 nnvts run --driver cpu --suite ops --tier smoke --out good -q
    while [ $kills -lt "$wanted" ]; do
        nnvts run --driver "remote:127.0.0.1:$PORT/cpu" --suite ops --tier smoke --out killed -q >"$OUT" 2>"$ERR" &
        run=$! code=0
        kill_while $run kill_one
        wait $run || code=$?
        [ $code -le 1 ] || fail "exit code $code"
        nothing_lost killed
        same "$(diff <(verdicts good) <(verdicts killed) | grep '^>' | grep -v ' FAIL$')" "" "verdicts of others"
        kills=$((kills + KILLS)) paid=$((paid + $(verdict killed FAIL))) rounds=$((rounds + 1))
        [ $kills -ge "$wanted" ] || [ $rounds -lt "$wanted" ] || skip "the runs were over before much could be killed ($kills)"
    done
    echo "    $kills kills in $rounds runs, $paid cases paid for them"
    stop $SERVER
}
# The board starts again: it is away for a while, and the run waits for it.
test_board_starts_again() {
    serve
    nnvts run --driver "remote:wait=30,127.0.0.1:$PORT/cpu" --timeout 40 --suite ops --tier smoke --out again -q >"$OUT" 2>"$ERR" &
    local run=$! code=0
    await grep -qs verdict again/journal.jsonl
    stop $SERVER
    sleep 2
    kill -0 $run 2>/dev/null || skip "the run was over before the board went away"
    nnvts-host --listen "127.0.0.1:$PORT" >listening 2>server.log &
    SERVER=$! KILLS=8
    wait $run || code=$?
    [ $code -le 1 ] || { cat "$ERR"; fail "exit code $code"; }
    nothing_lost again
    stop $SERVER
}
# Hundreds who connect and say nothing, or nonsense, take no place for long, and harm nobody who has one.
test_flooding() {
    command -v python3 >/dev/null || skip "no python3"
    make_key key
    serve --key-file key --clients 64
    python3 - "$PORT" <<'P' &
import os, socket, sys, time
kept = []
for i in range(400):
    try:
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
        if i % 2:
            s.sendall(os.urandom(4096))
        kept.append(s)
    except OSError:
        pass
    time.sleep(0.005)
time.sleep(3)
P
    check 0 nnvts run --driver "remote:key=key,wait=30,127.0.0.1:$PORT/cpu" --timeout 40 --suite ops --tier smoke --filter 'ops/A*' --out flooded -q
    wait $!
    kill -0 $SERVER 2>/dev/null || fail "the server has gone"
    stop $SERVER
}
# Who says nothing takes no place of those who have the key, be there only one.
test_silent_strangers() {
    command -v python3 >/dev/null || skip "no python3"
    make_key key
    serve --key-file key --clients 1
    python3 - "$PORT" >strangers <<'P' &
import socket, sys, time
kept = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) for _ in range(64)]
print("here", flush=True)
time.sleep(60)
P
    local crowd=$!
    await grep -qs here strangers
    check 0 nnvts run --driver "remote:key=key,wait=1,127.0.0.1:$PORT/cpu" --filter 'ops/ADD/float32/rank*' --jobs 1 --out alone -q
    kill -0 $crowd || fail "the strangers have left"
    stop $crowd $SERVER
}
test_too_many_clients() {
    serve --clients 1
    nnvts run --driver "remote:127.0.0.1:$PORT/faulty:hang-execute@TANH" --filter 'ops/TANH/float32/rank1/0' --timeout 60 --out first -q >first.out 2>&1 &
    local first=$!
    await grep -qs TANH first/running
    refused "remote:wait=0.2,127.0.0.1:$PORT/cpu" "too many clients"
    stop $first
    check 0 nnvts run --driver "remote:127.0.0.1:$PORT/cpu" --filter 'ops/ADD/float32/rank1/0' --out second -q
    stop $SERVER
}
# 5 ms of delay, 1 % of loss: nothing changes but the time.
test_slow_line() {
    serve
    line --delay 5 --loss 1
    check 0 nnvts run --driver cpu --suite exec,memory,cache --tier smoke --out direct -q
    check 0 nnvts run --driver "remote:127.0.0.1:$AT/cpu" --suite exec,memory,cache --tier smoke --jobs 16 --out slow -q
    same "$(diff <(verdicts direct) <(verdicts slow))" "" "verdicts differ"
    stop $LINE $SERVER
}
# A network namespace behind a wire of 5 ms each way that loses 1 % of the packets: TCP has to send them again.
test_lossy_wire() {
    command -v python3 >/dev/null && command -v ip >/dev/null || skip "no python3 and ip (package iproute2)"
    local space=nnvts-$$
    [ -c /dev/net/tun ] && ip netns add $space 2>/dev/null || skip "no network namespaces, or no /dev/net/tun"
    trap "ip netns del $space; kill \$(jobs -p) 2>/dev/null || :" EXIT
    python3 "$ROOT/tests/system/wire.py" $space --delay 5 --loss 1 >wire 2>wire.err &
    local wire=$!
    await eval 'grep -q ready wire || ! kill -0 $wire 2>/dev/null'
    kill -0 $wire 2>/dev/null || skip "no wire: $(tail -n 1 wire.err)"
    make_key key
    local address
    address=$(sed -n 's/^ready //p' wire)
    ip netns exec $space nnvts-host --listen $address:7557 --key-file key >listening 2>log &
    local server=$!
    await grep -q '^listening on .*:7557' listening
    check 0 nnvts run --driver cpu --suite exec --tier smoke --out near -q
    check 0 nnvts run --driver "remote:key=key,$address/cpu" --suite exec --tier smoke --jobs 16 --out wired -q
    same "$(diff <(verdicts near) <(verdicts wired))" "" "verdicts differ"
    kill $wire && wait $wire || :
    echo "    $(tail -n 1 wire) packets"
    [ "$(sed -n 's/.* lost //p' wire)" -gt 20 ] || fail "the wire lost nothing"
    stop $server
}
# What is asked costs one way there and back; what is released costs none.
test_no_way_too_many() {
    serve
    line --delay 20
    check 0 nnvts run --driver "remote:127.0.0.1:$AT/cpu" --filter 'ops/ADD/float32/rank*' --tier smoke --jobs 1 --out ways -q
    local count ms
    count=$(verdicts ways | wc -l)
    ms=$(sed -n 's/.*"ms": *\([0-9]*\).*/\1/p' ways/journal.jsonl | sort -n | sed -n "$((count / 2 + 1))p")
    # supported, prepare, execute: 120 ms, and something for the machine, which may be busy
    [ "$ms" -ge 100 ] || fail "a case takes $ms ms on a line of 40 ms there and back"
    ms=$(sed -n 's/.*"ms": *\([0-9]*\).*/\1/p' ways/journal.jsonl | sort -n | head -n 1)
    [ "$ms" -lt 260 ] || fail "no case takes less than $ms ms on a line of 40 ms there and back"
    stop $LINE $SERVER
}
# The line breaks, or falls silent: the case in progress gets its verdict, and the next ones go on.
test_broken_line() {
    local how verdict run code
    serve
    line --delay 3
    for how in USR1 USR2; do
        rm -rf broken
        nnvts run --driver "remote:127.0.0.1:$AT/cpu" --filter 'ops/A*' --tier smoke --timeout 3 --jobs 2 --out broken -q >"$OUT" 2>"$ERR" &
        run=$! code=0
        await eval '[ "$(cat broken/journal.jsonl 2>/dev/null | grep -c verdict)" -gt 20 ]'
        kill -$how $LINE
        wait $run || code=$?
        [ $code -le 1 ] || { cat "$ERR"; fail "$how: exit code $code"; }
        same "$(verdict broken CRASH) $(verdict broken ERROR)" "0 0" "$how"
        [ $(($(verdict broken FAIL) + $(verdict broken TIMEOUT))) -le 2 ] || fail "$how: more than the cases in progress"
    done
    stop $LINE $SERVER
}
# adb's: over a script that takes the words which adb takes, and runs the command here, as a phone's shell would.
test_adb() {
    mkdir bin
    cat >bin/adb <<S
#!/bin/sh
echo "\$*" >>"$PWD/words"
S
    cat >>bin/adb <<'S'
if [ "$1" = -s ]; then
    [ "$2" = emulator-5554 ] || { echo "adb: device '$2' not found" >&2; exit 1; }
    shift 2
fi
[ "$1 $2 $3 $4" = "shell -T -e none" ] || { echo "adb: usage: shell [-e ESCAPE] [-n] [-Tt] [-x] [COMMAND...]" >&2; exit 1; }
shift 4
exec sh -c "$*"
S
    chmod +x bin/adb
    local program="program=$NNVTS_BUILD/nnvts-host"
    PATH="$PWD/bin:$PATH" check 0 nnvts run --driver "remote:$program,adb://emulator-5554$NNVTS_BUILD/drivers/cpu.so" --suite exec --tier smoke --out adb-run -q
    hasnt adb-run/summary.json '"PASS": 0'
    check 0 nnvts run --driver "remote:adb=$PWD/bin/adb,$program,adb:///cpu:threads=1" --filter 'ops/ADD/float32/rank1/0' --out adb-name -q
    PATH="$PWD/bin:$PATH" refused "remote:wait=0.2,$program,adb://other/cpu" "other: "
    PATH="$PWD/bin:$PATH" refused "remote:wait=0.2,adb:///cpu" "adb: "
    has words "shell -T -e none exec '/data/local/tmp/nnvts/nnvts-host' --stdio 'cpu'"
    refused "remote:$program,adb=$PWD/bin/none,adb:///cpu" "adb: No such file or directory"
    refused "remote:adb://-s/cpu" "adb://SERIAL/DRIVER"
}
# ssh's own input and output instead of a port: over a real sshd of this machine.
test_ssh() {
    command -v ssh >/dev/null && [ -x /usr/sbin/sshd ] || skip "no ssh and sshd (packages openssh-client, openssh-server)"
    [ "$(id -u)" = 0 ] || skip "sshd starts as root only"
    ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -q -t ed25519 -N '' -f user_key
    cp user_key.pub authorized && chmod 600 authorized
    mkdir -p /run/sshd
    local port=$((20000 + $$ % 20000))
    /usr/sbin/sshd -D -e -f /dev/null -p $port -h "$PWD/host_key" -o "AuthorizedKeysFile=$PWD/authorized" -o PermitRootLogin=yes \
        -o StrictModes=no -o UsePAM=no -o PidFile=none >sshd.log 2>&1 &
    local sshd=$!
    cat >ssh <<S
#!/bin/sh
exec ssh -F none -i "$PWD/user_key" -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no -o LogLevel=ERROR "\$@"
S
    chmod +x ssh
    await eval 'grep -q "^Server listening" sshd.log || ! kill -0 $sshd 2>/dev/null'
    kill -0 $sshd 2>/dev/null || { stop $sshd; skip "sshd does not start: $(tail -n 1 sshd.log)"; }
    local at="ssh=$PWD/ssh,program=$NNVTS_BUILD/nnvts-host,ssh://$(id -un)@127.0.0.1:$port"
    check 0 nnvts run --driver "remote:$at$NNVTS_BUILD/drivers/cpu.so" --suite exec --tier smoke --out ssh-run -q
    hasnt ssh-run/summary.json '"PASS": 0'
    # An ssh that takes long to connect: no case may take the sum of the fifty devices that it opens for a hang.
    sed -i 's/^exec/sleep 0.7; exec/' ssh
    check 0 nnvts run --driver "remote:$at/cpu" --filter 'isolation/leak_devices/add_float32' --timeout 10 --out ssh-slow -q
    sed -i 's/^sleep 0.7; //' ssh
    check 0 nnvts run --driver "remote:$at/cpu:threads=1" --filter 'ops/ADD/float32/rank1/0' --out ssh-name -q
    check 2 nnvts run --driver "remote:wait=1,$at/no-such-driver" --filter 'ops/ADD/float32/rank1/0' --out ssh-none
    has "$ERR" "has no such driver"
    stop $sshd
}
run_tests
