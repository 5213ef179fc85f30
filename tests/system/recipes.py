#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a recipe for a CI system, checks its form, and runs the commands of its shards and of its merge here, with the
variables that the system would set: recipes.py FILE. Fails where the recipe is not sound or a command fails."""
import os
import re
import subprocess
import sys

import yaml


def github(doc):
    shard, report = doc["jobs"]["shard"], doc["jobs"]["report"]
    assert report["needs"] == "shard" and report["if"] == "always()"
    numbers = shard["strategy"]["matrix"]["shard"]
    assert shard["strategy"]["fail-fast"] is False and numbers == list(range(1, len(numbers) + 1))
    step = next(s for s in shard["steps"] if "run" in s)
    for n in numbers:
        def fill(text):
            return (text.replace("${{ matrix.shard }}", str(n)).replace("${{ strategy.job-total }}", str(len(numbers))))
        env = {**doc["env"], **step["env"]}
        yield "shard", n, {k: fill(str(v)) for k, v in env.items()}, fill(step["run"])
    yield "merge", 0, doc["env"], next(s for s in report["steps"] if "run" in s)["run"]


def gitlab(doc):
    shard, report, total = doc["shard"], doc["report"], doc["shard"]["parallel"]
    assert doc["stages"].index(shard["stage"]) < doc["stages"].index(report["stage"])
    for n in range(1, total + 1):
        yield "shard", n, {**doc["variables"], "CI_NODE_INDEX": n, "CI_NODE_TOTAL": total}, "\n".join(shard["script"])
    yield "merge", 0, doc["variables"], "\n".join(report["script"])


def kubernetes(doc):
    assert doc["kind"] == "Job" and doc["spec"]["completionMode"] == "Indexed"
    total, pod = doc["spec"]["completions"], doc["spec"]["template"]["spec"]["containers"][0]
    env = {e["name"]: e["value"] for e in pod["env"]}
    assert env["NNVTS_SHARD_TOTAL"] == str(total) and pod["command"] == ["/bin/sh", "-c"]
    for n in range(total):
        command = pod["args"][0].replace("/results/", "")
        yield "shard", n, {**env, "JOB_COMPLETION_INDEX": n}, command
    yield "merge", 0, env, "nnvts merge shard-* --out whole"


def jenkins(text):
    code = re.sub(r"//[^\n]*", "", text)
    depth, quote = [], None
    for at, c in enumerate(code):
        if quote:
            quote = None if c == quote and code[at - 1] != "\\" else quote
        elif c in "'\"":
            quote = c
        elif c in "{[(":
            depth.append(c)
        elif c in "}])":
            assert depth and "{[(".index(depth.pop()) == "}])".index(c), "brackets do not match"
    assert not depth and not quote, "something is not closed"
    for word in ("pipeline {", "agent none", "stages {", "parallel parts", "junit 'whole/junit.xml'"):
        assert word in code, word
    total = int(re.search(r"def shards = (\d+)", code).group(1))
    driver = re.search(r"DRIVER = '([^']*)'", code).group(1)
    run = re.search(r'sh "(nnvts run [^"]*)"', code).group(1).replace("\\$", "$")
    for n in range(1, total + 1):
        yield "shard", n, {"DRIVER": driver}, run.replace("${shard}", str(n)).replace("${shards}", str(total))
    yield "merge", 0, {}, re.search(r"sh\(script: '([^']*)'", code).group(1)


def main(path):
    text = open(path, encoding="utf-8").read()
    if path.endswith("Jenkinsfile"):
        steps = list(jenkins(text))
    else:
        kind = {"github-actions.yml": github, "gitlab-ci.yml": gitlab, "kubernetes.yml": kubernetes}
        steps = list(kind[path.rsplit("/", 1)[-1]](yaml.safe_load(text)))
    assert sum(s[0] == "shard" for s in steps) >= 2 and sum(s[0] == "merge" for s in steps) == 1
    for kind, number, env, command in steps:
        assert "nnvts " in command
        print(f"{kind} {number}: {command}", flush=True)
        subprocess.run(["sh", "-e", "-c", command], check=True, env={**os.environ, **{k: str(v) for k, v in env.items()}})


main(sys.argv[1])
