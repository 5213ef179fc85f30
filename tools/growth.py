#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make growth: what large programs and graphs cost.  growth.py BUILD [OPERATIONS [REGION [GRAPH]]]

Partitions a program of each shape, of a million operations, and compiles one region of 10,000 with its class. More than
10 and 20 seconds of processor time is a failure. Then graphs of GRAPH operations (10,000), a tenth and a
hundredth of that: drawing them, and reducing and explaining the dump of one with a mistake in its middle. What an
operation costs among ten times as many, beyond what the command costs at all, must stay below three times. Explaining
tries mistakes at each operation, as long as the work that it counts is not spent: within a minute.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

SHAPES = ("chain", "diamonds", "wide", "dense", "lets", "comb")
PARTITION_S, COMPILE_S = 10, 20
MOST_GROWTH, EXPLAIN_S, JUDGED = 3, 60, 1000


def run(*command, code=0):
    """Seconds, those of the processor, and MB of a command that must end with that code, and what it prints."""
    with tempfile.TemporaryFile("w+") as out:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        took = time.monotonic() - start
        if os.waitstatus_to_exitcode(status) != code:
            sys.exit(f"growth: {' '.join(command)} failed")
        out.seek(0)
        return took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out.read()


def chain(n, path):
    """A spec of n operations, MUL by 1 and one RELU6 in the middle: a driver that takes RELU6 for RELU answers wrong."""
    operands, operations = [], []

    def operand(lifetime, **more):
        operands.append({"type": "TENSOR_FLOAT32", "dims": [4], "lifetime": lifetime, **more})
        return len(operands) - 1

    at = begin = operand("SUBGRAPH_INPUT", data=[1, 5, 7, 9])
    one = operand("CONSTANT_COPY", data=[1, 1, 1, 1])
    operands.append({"type": "INT32", "dims": [], "lifetime": "CONSTANT_COPY", "data": [0]})
    none = len(operands) - 1
    for i in range(n):
        right = [1, 5, 6, 6] if i >= n // 2 else [1, 5, 7, 9]
        to = operand("SUBGRAPH_OUTPUT", data=right) if i == n - 1 else operand("TEMPORARY_VARIABLE")
        relu = i == n // 2
        inputs = [at] if relu else [at, one, none]
        operations.append({"type": "RELU6" if relu else "MUL", "inputs": inputs, "outputs": [to]})
        at = to
    main = {"operands": operands, "operations": operations, "inputs": [begin], "outputs": [at]}
    with open(path, "w", encoding="ascii") as f:
        json.dump({"format": "nnvts-spec/1", "name": f"chain_{n}", "main": main}, f)
    return path


def grows(what, took):
    """Whether what so many operations took, by their number, grows too fast from one number to the next."""
    least, some, most = took
    growth = max(took[most] - took[least], 0.01) / most / (max(took[some] - took[least], 0.01) / some)
    print(f"{what:10} an operation among {most} costs {growth:.2f} times what one among {some} does")
    return growth > MOST_GROWTH and most >= JUDGED  # of fewer it is the clock's noise


def graphs(nnvts, bench, folder, most):
    """Prints what large graphs cost; the commands whose cost grows too fast."""
    took = {"draw": {}, "reduce": {}, "explain": {}}
    wrong = "faulty:relu6-as-relu"
    for n in most // 100, most // 10, most:
        spec = chain(n, os.path.join(folder, f"chain_{n}.json"))
        commands = {
            "draw": (bench, "--draw", str(n)),
            "reduce": (nnvts, "reduce", spec, "-d", wrong, "-o", os.path.join(folder, "small.json"), "--timeout-total", "600"),
            "explain": (nnvts, "explain", spec, "-d", wrong),
        }
        for name, command in commands.items():
            wall, took[name][n], memory, said = run(*command, code=1 if name == "explain" else 0)
            said = said.strip().splitlines()
            print(f"{name:10} {n:>10} {wall:8.1f} {took[name][n]:10.1f} {memory:6.0f}  {said[0] if said else ''}"[:110], flush=True)
    too_fast = [name for name in ("draw", "reduce") if grows(name, took[name])]
    return too_fast + ["explain"] * (took["explain"][most] > EXPLAIN_S)


def main():
    nnvts = os.path.join(sys.argv[1], "nnvts")
    size, region, graph = [*sys.argv[2:], *("1000000", "10000", "10000")[len(sys.argv) - 2 :]]
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
        fast = graphs(nnvts, os.path.join(sys.argv[1], "bench", "bench_graph"), folder, int(graph))
    if fast:
        sys.exit(f"growth: the cost of an operation grows with their number: {', '.join(fast)}")
    sys.exit(0 if ok else f"growth: more than {PARTITION_S} s to partition, or {COMPILE_S} s to compile")


if __name__ == "__main__":
    main()
