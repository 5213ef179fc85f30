#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make networks: whole networks compiled, run and compared.  networks.py BUILD [--only A,B] [--size N]

Networks of relay_models.py, .tflite models (of nnvts, and below NNVTS_MODELS) and ONNX models that the tests write are
compiled and run on the drivers below; each must PASS with nothing but finite numbers in each output.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

DRIVERS = ("cpu", "host:cpu", "sample:float-fast,cpu", "sample:quant,cpu")
RELAY = {
    "mobilenet-v1": ["mobilenet-v1"],
    "mobilenet-v1-batch": ["mobilenet-v1", "--layout", "NHWC", "--norm", "batch"],
    "mobilenet-v2": ["mobilenet-v2"],
    "resnet18": ["resnet18"],
    "inception": ["inception"],
    "ssd": ["ssd"],
    "mobilenet-quant": ["mobilenet-quant"],
    "mobilenet-quant-channels": ["mobilenet-quant", "--per-channel"],
    "chain": ["chain"],
}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def find_models(build, size, folder):
    """Names and what makes the files: a command, the file, and its parameters or None."""
    for name, options in RELAY.items():
        out = os.path.join(folder, name)
        script = os.path.join(ROOT, "tools", "relay_models.py")
        command = [sys.executable, script, *options, "--size", size, "--width", "0.5", "--classes", "100", "--out", out]
        stem = os.path.join(out, options[0])
        yield name, command, stem + ".relay", stem + ".params"
    shared = os.environ.get("NNVTS_MODELS")
    if not shared:
        print("NNVTS_MODELS is not set: the .tflite models of nnvts alone")
    files = glob.glob(os.path.join(ROOT, "mlts/networks/models/*.tflite"))
    files += glob.glob(os.path.join(shared, "**/*.tflite"), recursive=True) if shared else []
    for path in sorted(files):
        folder_name, name = os.path.split(path)
        yield os.path.basename(folder_name) + ".tflite" if name == "model.tflite" else name, None, path, None
    out = os.path.join(folder, "onnx")
    os.mkdir(out)
    subprocess.run([os.path.abspath(os.path.join(build, "tests/test_onnx")), out], cwd=ROOT, check=True)
    for path in sorted(glob.glob(out + "/*.onnx")):
        yield os.path.basename(path), None, path, None


def said(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def judge(nnvts, program, driver):
    """PASS, or what is wrong; finite and all elements of the outputs."""
    p = subprocess.run([nnvts, "run-compiled", program, "--driver", driver, "--compare", "--json"], text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    try:
        result = json.loads(p.stdout)
    except ValueError:
        return (p.stderr.strip() or f"exit code {p.returncode}"), 0, 0
    finite, all_of_them = (sum(o[key] for o in result["outputs"]) for key in ("finite", "elements"))
    on_host = sum(r["on"] == "host" for r in result["regions"])
    wrong = [r["verdict"] for r in result["regions"] if r["verdict"] not in ("PASS", None)]
    verdict = wrong[0] if wrong else "ON THE HOST" if on_host else "PASS" if result["passes"] else "FAIL"
    return verdict, finite, all_of_them


def row(nnvts, name, path, params, folder):
    """Prints the line of a network; whether all is as it should be."""
    program = os.path.join(folder, "compiled")
    made = said([nnvts, "compile", path, "-o", program, *(["--params", params] if params else [])])
    counts = re.search(r": (\d+) regions?, .* (\d+) operations? on the host", made.stdout)
    if not counts:
        print(f"{name:36} {made.stdout.strip().splitlines()[0]}", flush=True)
        return False
    answers = [judge(nnvts, program, driver) for driver in DRIVERS]
    finite, elements = min(a[1] for a in answers), max(a[2] for a in answers)
    ok = all(a[0] == "PASS" for a in answers) and 0 < finite == elements
    verdicts = " ".join(f"{a[0]:{max(8, len(d))}}" for a, d in zip(answers, DRIVERS))
    print(f"{name:36} {counts[1]:>7} {counts[2]:>4}  {verdicts} {finite} of {elements}", flush=True)
    return ok


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build", help="the folder with nnvts and tests/test_onnx")
    p.add_argument("--only", help="names with commas between them")
    p.add_argument("--size", default="64", help="of the images of relay_models.py's networks (64)")
    o = p.parse_args()
    nnvts = os.path.abspath(os.path.join(o.build, "nnvts"))
    wanted = o.only.split(",") if o.only else None
    good = []
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'':36} regions host  {' '.join(f'{d:8}' for d in DRIVERS)} finite")
        for name, command, path, params in find_models(o.build, o.size, folder):
            if wanted and name not in wanted:
                continue
            if command:
                subprocess.run(command, check=True)
            good.append(row(nnvts, name, path, params, folder))
    print(f"{sum(good)} of {len(good)} networks pass on {len(DRIVERS)} drivers with finite outputs")
    sys.exit(0 if good and all(good) else 1)


if __name__ == "__main__":
    main()
