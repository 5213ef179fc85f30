#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make bench: how fast the driver cpu is beside every engine that is here, then what nnvts itself costs.
#   tools/bench.sh BUILD [OUT]
# OUT (BUILD/bench-report) holds report.html and bench.json of the networks, and what is printed here as page.txt.
# NETWORKS, DRIVERS and SECONDS_EACH (of a network on a driver) choose less; ONLY=networks leaves the rest out.
set -eu
build=$1 out=${2:-$1/bench-report}
kinds="float32 float16 quant8 int8"
if [ -z "${NETWORKS:-}" ]; then
    NETWORKS=
    for net in mobilenet_v1_1.0_224 mobilenet_v2_1.0_224 resnet18_224; do
        for kind in $kinds; do NETWORKS="$NETWORKS ${net}_$kind"; done
    done
    NETWORKS="$NETWORKS keyword_lstm"
fi

# Each with one thread, so that kernels are compared and not what schedules them. Engines that are not installed are left out.
found() {
    drivers=cpu:threads=1
    for engine in onednn xnnpack tflite:delegate=xnnpack ort; do
        if "$build/nnvts" bench -d "$engine" --no-latency --count 1 --out "$out/try" mobilenet_v1_0.25_32_float32 >/dev/null 2>&1; then
            drivers=$drivers,$engine
        else
            echo "  $engine is not here: make setup-engines" >&2
        fi
    done
    rm -rf "$out/try"
    echo "$drivers"
}

networks() {
    echo "WHAT IS COMPARED"
    echo "  nnvts' driver cpu with engines that others wrote, each behind the same interface, in a process of its own, one after the other."
    echo "  A latency is from the call to its end, one thread, inputs that change; the median, with its interval at 95 %."
    echo "  BEHIND: the fastest other is faster, and chance does not explain it. even: the intervals overlap."
    echo "  unsupported: the engine, or the driver over it, does not take the network. float16 and int8 are known to few."
    echo "  int8: signed bytes, filters with a scale a channel. Answers are compared with the golden ones, too."
    echo
    echo "  $("$build/nnvts" --version | head -n 1), $(uname -sr), $(grep -m1 -E '^(model name|Hardware|CPU part)' /proc/cpuinfo | cut -d: -f2-), $(nproc) processors"
    "$build/nnvts" drivers | awk -v all=",$DRIVERS," '{ if (index(all, "," $1 ",") || index(all, "," $1 ":")) print "  " $1 ": " $2 " " $3 }'
    find "$build/engines" -name "*.so.*" 2>/dev/null | sed 's|.*/|  |' | sort -u
    echo
    # shellcheck disable=SC2086 # names without blanks
    "$build/nnvts" bench -d "$DRIVERS" --time "${SECONDS_EACH:-1}" --count 2 --out "$out" $NETWORKS || true # a failed gate is told
    echo
}

# Who waits for a thread that gets no processor is slower than without it.
beside() {
    echo "two threads over one, beside a neighbour that keeps a processor busy (the goal is 1.10 at most):"
    while :; do :; done &
    neighbour=$!
    "$build/nnvts" bench -d cpu:threads=2,cpu:threads=1 --no-accuracy --time 1 --out "$out/beside" \
        mobilenet_v1_1.0_224_float32 mobilenet_v1_1.0_224_quant8 mobilenet_v2_1.0_224_float32 mobilenet_v2_1.0_224_quant8 |
        grep -E '^  (ahead|even|behind|BEHIND) '
    kill "$neighbour"
    rm -rf "$out/beside"
}

rest() {
    echo "WHAT NNVTS ITSELF COSTS"
    "$build/bench/bench_run" "$build/nnvts" cpu
    "$build/bench/bench_run" "$build/nnvts" reference
    export OPENBLAS_NUM_THREADS=1
    "$build/bench/bench_golden"
    "$build/bench/bench_mobilenet"
    "$build/bench/bench_ops"
    "$build/bench/bench_host" "$build/drivers"
    "$build/bench/bench_graph" "$build/drivers/cpu.so"
    "$build/bench/bench_plan" "$build/drivers"
    "$build/bench/bench_runtime" "$build/drivers"
    "$build/bench/bench_prepare" "$build/drivers"
    "$build/bench/bench_layers" "$build/drivers"
    "$build/bench/bench_layers" "$build/drivers" --threads 2 MobileNet
    echo "two threads over one (the goals are 1.8 for networks, 1.5 for layers), where two processors are two cores:"
    "$build/bench/bench_layers" "$build/drivers" --gain 2
    unset OPENBLAS_NUM_THREADS
    beside
    if [ -n "${NNVTS_SPECS:-}" ]; then
        run=$(mktemp -d)
        echo "public vectors, all jobs:"
        "$build/nnvts" run --driver cpu --suite spec --precision aosp --out "$run/run" | tail -n 4
        rm -rf "$run"
    fi
}

mkdir -p "$out"
[ -n "${DRIVERS:-}" ] || DRIVERS=$(found)
{
    networks
    [ "${ONLY:-}" = networks ] || rest
    echo "THE PAGE: $out/report.html"
} | tee "$out/page.txt"
