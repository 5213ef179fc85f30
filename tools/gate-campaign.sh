#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# How often nnvts gate is wrong: a driver against itself, and one that is slower by 5 %, many times with other seeds.
#   tools/gate-campaign.sh BUILD [RUNS] [PLANTED]     100 runs without a difference, 25 with the slowdown
# Exit code 1 if more than one run in a hundred raises a false alarm, or if a valid run misses the slowdown.
set -u
build=$1 runs=${2:-100} planted=${3:-25}
network=${NNVTS_GATE_NETWORK:-mobilenet_v2_1.0_160_quant8} # a millisecond on the driver cpu

count() { # count TESTED RUNS: sets pass, slower, invalid
    pass=0 slower=0 invalid=0 seed=0
    while [ $seed -lt "$2" ]; do
        seed=$((seed + 1))
        "$build/nnvts" gate -d "$1" --against faulty:none --model "$network" --seed $seed >"$log" 2>&1
        case $? in
        0) pass=$((pass + 1)) ;;
        1) slower=$((slower + 1)) ;;
        4) invalid=$((invalid + 1)) && tail -n 1 "$log" ;;
        *) cat "$log" && exit 3 ;;
        esac
    done
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
count faulty:none "$runs"
alarms=$slower
echo "no difference:   $runs runs, $pass passed, $slower false alarms, $invalid invalid"
count faulty:slower "$planted"
echo "slower by 5 %:   $planted runs, $slower found, $pass missed, $invalid invalid"
[ $((alarms * 100)) -le "$runs" ] && [ $pass = 0 ]
