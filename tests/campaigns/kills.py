#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills runs at random moments with kill -9 and goes on with --resume: kills.py BUILD [--kills N] [--seed N]
[--within S]. After each kill the folder must give valid reports (well-formed XML and HTML), every verdict that was there
must still be there, and the resumed run must come to its first new case within S seconds (1): at least one must come to it before it is
killed again, and until one does there are more than N kills. A run that ends must have the verdicts of one that was never
disturbed. Needs nothing but Python. Exit code 0: all held."""
import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as tree

# some cases pass, some fail with dumps and trials, some kill their worker
RUNS = [
    ["--driver", "faulty:crash-execute@SOFTMAX", "--suite", "device,ops", "--tier", "smoke"],
    ["--driver", "faulty:dilation-ignored", "--suite", "ops", "--tier", "smoke", "--filter", "op:CONV_2D | op:ADD"],
    ["--driver", "cpu", "--suite", "device,ops", "--tier", "smoke"],
]


class Wrong(Exception):
    pass


def need(condition, message):
    if not condition:
        raise Wrong(message)


def whole_lines(path):
    """The lines that have their end, and how many bytes they are."""
    try:
        data = open(path, "rb").read()
    except FileNotFoundError:
        return [], 0
    size = data.rfind(b"\n") + 1
    return data[:size].splitlines(), size


class Run:
    """A run that is killed again and again until it has come to its end."""

    def __init__(self, nnvts, folder, options, numbers):
        self.nnvts, self.options, self.random = nnvts, options, numbers
        self.out = os.path.join(folder, "out")
        self.journal = os.path.join(self.out, "journal.jsonl")
        self.before, self.size = [], 0
        whole = os.path.join(folder, "whole")
        start = time.monotonic()
        code = subprocess.run([nnvts, "run", *options, "--out", whole, "--quiet"], stdout=subprocess.DEVNULL).returncode
        need(code in (0, 1), f"the undisturbed run ended with exit code {code}")
        self.longest = 0.5 * (time.monotonic() - start) + 0.02  # seconds until a kill
        self.due = self.verdicts(whole_lines(os.path.join(whole, "journal.jsonl"))[0])

    @staticmethod
    def verdicts(lines):
        records = [json.loads(line) for line in lines[1:]]
        found = {r["case"]: r["verdict"] for r in records}
        need(len(found) == len(records), "a case has two records")
        return found

    def first_new_case(self, process, start, until):
        """Seconds until the journal has a new case, if that came before the kill."""
        while time.monotonic() < until and process.poll() is None:
            try:
                if self.size > 0 and os.stat(self.journal).st_size > self.size:
                    lines, size = whole_lines(self.journal)
                    if size > self.size and len(lines) > len(self.before):
                        return time.monotonic() - start
            except FileNotFoundError:
                pass
            time.sleep(0.001)
        return None

    def round(self):
        """Goes on and kills: (ended by itself, seconds to the first new case)."""
        start = time.monotonic()
        process = subprocess.Popen([self.nnvts, "run", *self.options, "--out", self.out, "--resume", "--quiet"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until = start + self.random.uniform(0, self.longest)
        first = self.first_new_case(process, start, until)
        if first is None:
            self.longest *= 1.2  # the machine has more to do than it had: a run that is always killed too early tells nothing
        if until > time.monotonic():
            time.sleep(until - time.monotonic())
        process.send_signal(signal.SIGKILL)
        said = process.communicate()[1]
        ended = process.returncode != -signal.SIGKILL
        need(not ended or process.returncode in (0, 1), f"exit code {process.returncode}: {said}")
        self.check(ended)
        return ended, first

    def check(self, ended):
        lines, size = whole_lines(self.journal)
        need(lines[:len(self.before)] == self.before or not self.before, "the journal lost or changed a line")
        found = self.verdicts(lines) if lines else {}
        for case, verdict in found.items():
            need(self.due.get(case) == verdict, f"{case}: {verdict} instead of {self.due.get(case)}")
        if ended:
            need(found == self.due, f"{len(found)} verdicts of {len(self.due)} at the end")
        self.check_reports(found, bool(lines))
        self.before, self.size = lines, size

    def check_reports(self, found, begun):
        left = os.path.join(self.out, "junit.xml")
        if os.path.exists(left):
            self.check_junit(left, None)
        done = subprocess.run([self.nnvts, "report", self.out], capture_output=True, text=True)
        if not begun:
            need(done.returncode == 2 and done.stderr.count("\n") == 1, f"report before the first line: {done.stderr}")
            return
        need(done.returncode in (0, 1), f"report: exit code {done.returncode}: {done.stderr}")
        need(done.returncode == 1 or len(found) == len(self.due), "a part of a run passed")
        self.check_junit(left, found)
        tree.parse(os.path.join(self.out, "report.html"))
        summary = json.load(open(os.path.join(self.out, "summary.json"), encoding="utf-8"))
        need(summary["verdicts"]["NOTRUN"] == len(self.due) - len(found), "summary.json counts otherwise")

    def check_junit(self, path, found):
        """Well-formed; with found: exactly those cases have a verdict."""
        cases = list(tree.parse(path).getroot().iter("testcase"))
        need(len(cases) == len(self.due), f"junit.xml has {len(cases)} cases of {len(self.due)}")
        if found is None:
            return
        ran = {c.get("name") for c in cases if c.find("error") is None or c.find("error").get("type") != "NOTRUN"}
        need(ran == set(found), "junit.xml has other cases as run than the journal")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--within", type=float, default=1, help="seconds to the first new case of a resumed run")
    asked = parser.parse_args()
    nnvts, numbers = os.path.join(os.path.abspath(asked.build), "nnvts"), random.Random(asked.seed)
    kills = ends = at = 0
    firsts = []
    try:
        while kills < asked.kills or not firsts:
            folder = tempfile.mkdtemp(prefix="nnvts-kills-")
            try:
                run, ended = Run(nnvts, folder, RUNS[at % len(RUNS)], numbers), False
                while not ended and (kills < asked.kills or not firsts):
                    ended, first = run.round()
                    kills += not ended
                    ends += ended
                    firsts += [first] if first is not None else []
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            at += 1
        firsts.sort()
        need(firsts[-1] <= asked.within, f"a resumed run took {firsts[-1]} s to its first new case")
    except Wrong as wrong:
        print(f"kills.py: after {kills} kills: {wrong}", file=sys.stderr)
        return 1
    print(f"{kills} kills in {at} runs, {ends} of which came to their end: all reports valid, no verdict lost")
    print(f"first new case after a resume: median {firsts[len(firsts) // 2]:.3f} s, 99 % within "
          f"{firsts[len(firsts) * 99 // 100]:.3f} s, at most {firsts[-1]:.3f} s ({len(firsts)} times)")
    return 0


sys.exit(main())
