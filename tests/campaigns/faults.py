#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Injects faults of ten kinds into a driver and checks that each is told of the case it happened in, and of no other:
faults.py BUILD [--faults N] [--seed N]. Each run has a driver that strikes in one operation and type, between cases of
others. Which cases it strikes is known from the run of a driver that prints there, and must agree with what was compared.
Needs nothing but Python. Exit code 0: all N faults were attributed right and all neighbours unharmed."""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

# name in the driver faulty, verdict that is due, words of the reason
KINDS = {
    "segv": ("crash-execute", "CRASH", "died with SIGSEGV in execute"),
    "abort": ("abort", "CRASH", "died with SIGABRT in execute"),
    "exit 0": ("exit-0", "CRASH", "called exit(0) in execute"),
    "hang": ("hang-execute", "TIMEOUT", "in execute"),
    "stop signal": ("stops-itself", "TIMEOUT", "in execute"),
    "stack smash": ("stack-smash", "CRASH", "died with SIG"),
    "out of memory": ("out-of-memory", "CRASH", "in execute"),
    "out of descriptors": ("out-of-descriptors", "FAIL", "file descriptors and left"),
    "descriptors closed": ("close-descriptors", "FAIL", "closed a file that is not the driver's"),
    "printing": ("legal-prints", None, None),
}
OPERATIONS = ("ABS ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEQUANTIZE EXP FLOOR FULLY_CONNECTED L2_NORMALIZATION LOGISTIC "
              "MAX_POOL_2D MUL NEG PAD RELU RELU6 RESHAPE SOFTMAX SQRT SUB TANH TRANSPOSE").split()
PRINTED = "printed by the driver"


class Wrong(Exception):
    pass


def need(condition, message):
    if not condition:
        raise Wrong(message)


class Campaign:
    def __init__(self, build, folder, seed):
        self.nnvts, self.out, self.seed = os.path.join(os.path.abspath(build), "nnvts"), os.path.join(folder, "out"), seed
        self.random = random.Random(seed)
        listed = subprocess.run([self.nnvts, "list", "--suite", "ops", "--tier", "smoke", "--json"], check=True,
                                capture_output=True, text=True).stdout
        self.pairs = sorted({(c["op"], c["type"]) for c in map(json.loads, listed.splitlines()) if c["op"] in OPERATIONS})

    def run(self, driver, pairs, seed):
        """Records by case of a run of these operations and types."""
        selected = " | ".join(f"ops/{op}/{kind}/*" for op, kind in pairs)
        done = subprocess.run(
            [self.nnvts, "run", "--driver", driver, "--suite", "ops", "--tier", "smoke", "--filter", selected, "--seed",
             str(seed), "--memory", "512", "--timeout", "1", "--jobs", "2", "--out", self.out, "--quiet"],
            capture_output=True, text=True)
        need(done.returncode in (0, 1), f"{driver}: exit code {done.returncode}: {done.stderr}")
        with open(os.path.join(self.out, "journal.jsonl"), encoding="utf-8") as lines:
            header = json.loads(next(lines))
            records = [json.loads(line) for line in lines]
        by_case = {r["case"]: r for r in records}
        need(len(by_case) == len(records) == header["cases"], f"{driver}: {len(records)} records of {header['cases']} cases")
        return by_case

    def check(self, kind, op, type_, good, struck, records):
        """The run of a driver that strikes, against a good one. Returns how often it struck."""
        _, verdict, words = KINDS[kind]
        where = f"{kind} in {op} {type_}"
        need(set(records) == set(good), f"{where}: other cases")
        hung = sum(record["verdict"] == "TIMEOUT" for record in records.values())
        for case, record in records.items():
            if record["verdict"] == "NOTRUN" and case.startswith(f"ops/{op}/"):
                # an operation that hung three times in a phase is not asked again
                need(hung >= 3 and "did not end" in record.get("reason", ""), f"{where}: {case} was not run")
            elif case not in struck or verdict is None:
                for member in ("verdict", "compared"):
                    need(record[member] == good[case][member],
                         f"{where}: neighbour {case}: {member} {record[member]} instead of {good[case][member]}: "
                         f"{record.get('reason')}")
            if record["verdict"] == "NOTRUN":
                continue
            if case not in struck:
                need(PRINTED not in record.get("log", ""), f"{where}: {case} has another case's log")
            elif verdict is None:
                need(PRINTED in record.get("log", ""), f"{where}: {case}: what was printed is lost")
            else:
                need(record["verdict"] == verdict and words in record.get("reason", ""),
                     f"{where}: {case}: {record['verdict']}: {record.get('reason')}")
        return len(struck)

    def strike(self, kind):
        """One run with faults of a kind among cases of other operations."""
        (op, type_), *others = self.random.sample(self.pairs, 4)
        pairs, seed = [(op, type_), *(p for p in others if p[0] != op)], self.random.randrange(1 << 30)
        good = self.run("cpu", pairs, seed)
        prints = self.run(f"faulty:legal-prints@{op}", pairs, seed)
        struck = {case for case, r in prints.items() if PRINTED in r.get("log", "")}
        compared = {case for case, r in good.items() if case.startswith(f"ops/{op}/{type_}/") and r.get("values", 0) > 0}
        need(compared <= struck, f"{op} {type_}: printed in {len(struck)} cases, compared in {len(compared)}")
        need(all(case.startswith(f"ops/{op}/{type_}/") for case in struck), f"{op} {type_}: printed elsewhere")
        return self.check(kind, op, type_, good, struck, self.run(f"faulty:{KINDS[kind][0]}@{op}", pairs, seed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="nnvts-faults-")
    try:
        campaign = Campaign(asked.build, folder, asked.seed)
        share, total = -(-asked.faults // len(KINDS)), 0
        for kind in KINDS:
            faults = runs = 0
            while faults < share:
                faults += campaign.strike(kind)
                runs += 1
            print(f"{kind:20} {faults:5} faults in {runs} runs: all attributed", flush=True)
            total += faults
        print(f"{total} faults of {len(KINDS)} kinds, each in its case; no neighbour harmed")
    except Wrong as wrong:
        print(f"faults.py: {wrong}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


sys.exit(main())
