#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make bench: what nnvts itself costs.  tools/bench.sh BUILD
set -eu
build=$1
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
"$build/bench/bench_layers" "$build/drivers"
"$build/bench/bench_layers" "$build/drivers" --threads 2 MobileNet
unset OPENBLAS_NUM_THREADS
if [ -n "${NNVTS_SPECS:-}" ]; then
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
    echo "public vectors, all jobs:"
    "$build/nnvts" run --driver cpu --suite spec --precision aosp --out "$out/run" | tail -n 4
fi
