#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/use/engines.md: which operations and types runs have judged.

    tools/judged.py RUN...                      prints it, a column for each run folder
    tools/judged.py --check PAGE COLUMN RUN     1 if the page's column says something else than the run

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


def heading(run):
    """Of the folder, which is called by the driver; the last part of its path alone."""
    name = os.path.basename(run)
    return "AOSP's library" if name.startswith("libneuralnetworks.so") else name.removeprefix("tflite:") or name


def column_of(page, column):
    """What the column of the page's table says of each operation."""
    with open(page, encoding="utf-8") as file:
        lines = [[c.strip() for c in line.strip().strip("|").split("|")] for line in file if line.startswith("|")]
    heads = [i for i, line in enumerate(lines) if line[0] == "" and column in line]
    if not heads:
        sys.exit(f"{page}: no table has a column '{column}'")
    rows = {}
    for line in lines[heads[0] + 4:]:  # behind the line of dashes, and two of numbers
        if line[0] == "":
            break
        rows.update({op: line[lines[heads[0]].index(column)] for op in line[0].split(", ")})
    return rows


def check(page, column, run):
    said, seen = column_of(page, column), judged(run)
    wrong = 0
    for op in sorted(set(said) | set(seen)):
        says, is_so = said.get(op, "–"), cell(seen.get(op, ()))
        wrong += says != is_so
        if says != is_so:
            print(f"{op}: '{says}' in {os.path.basename(page)}, '{is_so}' in {run}: make judged")
    return 1 if wrong else 0


def main():
    if sys.argv[1:2] == ["--check"] and len(sys.argv) == 5:
        sys.exit(check(*sys.argv[2:]))
    runs = {heading(run): run for run in sys.argv[1:]}
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
