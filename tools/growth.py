#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make growth: what large programs cost the compiler.  growth.py BUILD [OPERATIONS [REGION]]

Partitions a program of each shape, of a million operations, and compiles one region of 10,000 with its class. More than
10 and 20 seconds of processor time is a failure.
"""
import os
import subprocess
import sys
import tempfile
import time

SHAPES = ("chain", "diamonds", "wide", "dense", "lets", "comb")
PARTITION_S, COMPILE_S = 10, 20


def run(*command):
    """Seconds, those of the processor, and MB of a command that must succeed, and what it prints."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.monotonic() - start
        if status:
            sys.exit(f"growth: {' '.join(command)} failed")
        out.seek(0)
        return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()


def main():
    nnvts = os.path.join(sys.argv[1], "nnvts")
    size, region = [*sys.argv[2:], *("1000000", "10000")[len(sys.argv) - 2 :]]
    models = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay_models.py")
    ok = True
    with tempfile.TemporaryDirectory() as folder:

        def write(shape, n):
            run(sys.executable, models, shape, "--size", n, "--out", folder)
            return os.path.join(folder, shape + ".relay")

        print(f"{'':10} {'operations':>10} {'seconds':>8} {'processor':>10} {'MB':>6}")
        listed = os.path.join(folder, "supported.json")
        with open(listed, "w", encoding="ascii") as f:
            f.write('["nn.relu", "tanh", "add", "negative", "sigmoid", "maximum"]')
        for shape in SHAPES:
            program = write(shape, size)
            took, processor, memory, _ = run(nnvts, "partition", program, "--patterns", "none", "--supported", listed, "--json")
            print(f"{shape:10} {size:>10} {took:8.1f} {processor:10.1f} {memory:6.0f}", flush=True)
            ok = ok and processor < PARTITION_S
        took, processor, memory, said = run(nnvts, "compile", write("chain", region), "-o", os.path.join(folder, "out"))
        counts = said.splitlines()[-1].partition(": ")[2]
        print(f"{'compile':10} {region:>10} {took:8.1f} {processor:10.1f} {memory:6.0f}  {counts}")
        ok = ok and processor < COMPILE_S and ": 1 region, " in said
    sys.exit(0 if ok else f"growth: more than {PARTITION_S} s to partition, or {COMPILE_S} s to compile")


if __name__ == "__main__":
    main()
