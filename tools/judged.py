#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/use/engines.md: which operations and types runs have judged.

    tools/judged.py RUN...      prints it, a column for each run folder

An operation and type counts if a case of the suite ops was computed and compared.
"""
import collections
import json
import os
import re
import sys

SHORT = [  # the longer ones first
    ("float32", "f32"), ("float16", "f16"), ("int32", "i32"), ("bool8", "b8"),
    ("quant8_asymm_per_channel", "q8 pc"), ("quant8_asymm_signed_per_channel", "q8s pc"),
    ("quant8_symm_per_channel", "q8 symm pc"), ("quant8_asymm_signed", "q8s"), ("quant8_asymm", "q8"),
    ("quant8_symm", "q8 symm"), ("quant16_symm", "q16"), ("quant16_asymm", "q16a"),
]
ORDER = [  # in a cell
    "f32", "f16", "i32", "b8", "q8", "q8s", "q8 pc", "q8s pc",
]


def short(signature):
    signature = signature.replace("_relaxed", "")
    for long, name in SHORT:
        signature = re.sub(rf"(?<![a-z0-9]){long}(?![a-z0-9])", name, signature)
    return signature.replace("_", " to ")


def judged(run):
    types = collections.defaultdict(set)
    with open(f"{run}/journal.jsonl", encoding="utf-8") as journal:
        for line in journal:
            case = json.loads(line)
            if case.get("suite") == "ops" and (case["verdict"] == "FAIL" or case["verdict"] == "PASS" and case["compared"]):
                types[case["op"]].add(short(case["case"].split("/")[2]))
    return types


def cell(types):
    return ", ".join(sorted(types, key=lambda t: (ORDER.index(t) if t in ORDER else len(ORDER), t))) or "–"


def cases(run):
    with open(f"{run}/summary.json", encoding="utf-8") as summary:
        n = json.load(summary)["verdicts"]
    died = n.get("CRASH", 0) + n.get("TIMEOUT", 0)
    return f"{n['PASS']:,}; {n.get('FAIL', 0):,}{f' and {died:,} died' if died else ''}; {n.get('UNSUPPORTED', 0):,}"


def main():
    runs = {os.path.basename(run): run for run in sys.argv[1:]}
    table = {name: judged(run) for name, run in runs.items()}
    print("| |", *(f"{name} |" for name in table))
    print("|" + " --- |" * (len(table) + 1))
    print("| operations; operations x types |", *(f"{len(t)}; {sum(map(len, t.values()))} |" for t in table.values()))
    print("| cases of the default run: passed; failed; unsupported |", *(f"{cases(run)} |" for run in runs.values()))
    rows = collections.defaultdict(list)
    for op in sorted({op for types in table.values() for op in types}):
        rows[tuple(cell(types[op]) for types in table.values())].append(op)
    for cells, ops in rows.items():
        print(f"| {', '.join(ops)} |", *(f"{c} |" for c in cells))


main()
