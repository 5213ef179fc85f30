#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes harness/runner/priority.def: which cases find bugs, from an audit, and what they cost, from a run of all suites.

    tools/priority.py AUDIT.json RUN >harness/runner/priority.def
"""
import collections
import json
import sys

audit = json.load(open(sys.argv[1], encoding="utf-8"))
bugs, cost, cases = collections.Counter(), collections.Counter(), collections.Counter()
operation = {}
for line in open(sys.argv[2] + "/journal.jsonl", encoding="utf-8"):
    record = json.loads(line)
    if "case" in record:
        operation[record["case"]] = record["op"]
        cost[record["suite"]] += record["ms"]
        cases[record["suite"]] += 1
for subject in audit["subjects"]:
    for suite, cell in subject["suites"].items():
        if subject["kind"] == "bug" and "first" in cell:
            bugs[suite, operation.get(cell["first"], "")] += 1
print("/* SPDX-License-Identifier: Apache-2.0 */")
print("/* Made by tools/priority.py. COST: mean microseconds of a case of a suite. BUGS: planted bugs that are first seen in")
print(" * a case of the suite and the operation. */")
for suite in sorted(cost):
    print(f'COST("{suite}", {max(1, round(1000 * cost[suite] / cases[suite]))})')
for suite, op in sorted(bugs):
    print(f'BUGS("{suite}", "{op}", {bugs[suite, op]})')
