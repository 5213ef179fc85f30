#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make mutate: which mistakes in our own source would no test notice?

Draws mutants of the C files of FOLDERS (all) with each SEED ("1") until MUTANTS (100) of them compile to other code than the
file itself; with AT ("FILE:LINE ...") of these lines alone. Works in a copy of the tree. One run of all tests with hooks in
the files drawn tells which tests reach which function; a mutant meets these, the quick and near ones first, until one fails or
DEADLINE (120) seconds have passed. Tests are the unit tests; then the system check: verdicts on a driver without bugs, and
the planted bugs of the suites drawn; then the tests of the system scripts SCRIPTS ("run resume"), one by one. Prints each survivor as a patch, and the score
by folder; with VERBOSE=1 also what killed the others. JOBS: how many trees at once. KEEP: a file in which killed mutants are
noted, so that a campaign that was interrupted, or whose survivors have new tests, goes on where it was.
"""
import argparse
import concurrent.futures
import difflib
import hashlib
import itertools
import json
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import draw  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST = 4  # tests that a mutant meets before all that it reaches is linked
DEAD = ("build", "tests", "tools", "docs")
# Before the first line of a file with hooks: sets a byte of the file $NNV_REACHED.
HOOK = (
    "extern char *getenv(const char *); extern int open(const char *, int, ...); extern int close(int); "
    "extern void *mmap(void *, __SIZE_TYPE__, int, int, int, long); extern int *__errno_location(void); "
    "__attribute__((noinline, unused)) static void nnv_reached(unsigned at) {{ static unsigned char *map; static int tried; "
    "if (!tried) {{ int e = *__errno_location(); const char *path = getenv(\"NNV_REACHED\"); tried = 1; "
    "int fd = path ? open(path, 2) : -1; void *m = fd < 0 ? (void *)-1 : mmap(0, {size}, 3, 1, fd, 0); "
    "if (fd >= 0) close(fd); if (m != (void *)-1) map = m; *__errno_location() = e; }} if (map) map[at] = 1; }}\n"
)
# Of gcc's warnings these mean that arguments do not fit.
UNFIT = re.compile(rb"-Wincompatible-pointer-types|-Wint-conversion|-Wimplicit-function")


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = pathlib.Path(folder), jobs

    def copy_sources(self):
        names = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout.split("\n")
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)
        # What is built already need not be built again: times are kept.
        for part in "obj", "rules", "lib", "drivers", "tests", "bench", "engines":
            if (ROOT / "build" / part).is_dir():
                shutil.copytree(ROOT / "build" / part, self.folder / "build" / part, symlinks=True)

    def make(self, *targets):
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES")}
        compiler = os.environ.get("CC") or "gcc"
        cached = "ccache " + compiler if shutil.which("ccache") and "ccache" not in compiler else compiler
        linker = os.environ.get("LDFLAGS") or ("-fuse-ld=mold" if shutil.which("mold") else "")
        given = [f"CC={cached}", f"LDFLAGS={linker}"]
        command = ["make", "-s", f"-j{self.jobs}", *given, "say=", "WERROR=", *targets]
        return subprocess.run(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def must_make(self, *targets):
        done = self.make(*targets)
        if done.returncode:
            sys.exit(done.stderr.decode(errors="replace")[-4000:] + "\nmutate: the tree does not build")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def code(self, name):
        """The object of a file without what debuggers read, which is where only lines and columns differ."""
        bare = self.folder / "build" / "bare.o"
        subprocess.run(["objcopy", "--strip-debug", self.folder / object_of(name), bare], check=True)
        return bare.read_bytes()

    def run(self, test, seconds, reached=None):
        """0 if the test passes or skips; anything else if it fails or does not end in time."""
        script, _, function = test.partition(":")
        env = dict(os.environ, NNVTS_BUILD=str(self.folder / "build"), NNVTS_TEST_DRIVERS=str(self.folder / "build/drivers"))
        if function:
            env["NNVTS_TEST"] = function
        if reached:
            env["NNV_REACHED"] = str(reached)
        with tempfile.TemporaryDirectory(prefix="nnvts-mutant-") as scratch:
            env["TMPDIR"] = scratch
            child = subprocess.Popen(
                [self.folder / script.split()[0], *script.split()[1:]], cwd=self.folder, env=env, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            try:
                return child.wait(seconds)
            except subprocess.TimeoutExpired:
                return -1
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()


def object_of(name):
    return "build/obj/" + name[:-2] + ".o"


def sources_of(folders):
    names = subprocess.run(["git", "ls-files", "*.c"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    for name in names:
        if name.split("/")[0] not in DEAD and (not folders or any(name == f or name.startswith(f + "/") for f in folders)):
            yield draw.Source(name, (ROOT / name).read_text())


def near_targets(tree, name):
    """What unit tests load: a driver's own file can be in that driver alone."""
    drivers = sorted(p.name for p in tree.folder.glob("build/drivers/*.so"))
    if name.startswith("drivers_under_test/"):
        own = name.split("/")[1]
        alone = [d for d in drivers if d == own + ".so"]
        return ["build/nnvts-host", "build/lib/libnnvts-core.so", *[f"build/drivers/{d}" for d in alone or drivers]]
    # The template has the rules built once more for it.
    drivers = [f"build/drivers/{d}" for d in drivers if d != "template.so"]
    return ["build/lib/libnnvts-core.so", "build/lib/libneuralnetworks.so", "build/nnvts-host", *drivers]


def system_check(files):
    """Steps of check.sh: the smoke tests of ops; of each suite drawn its own, and its planted bugs."""
    suites = {re.split(r"[/.]", name)[2] for name in files if name.startswith("harness/suites/")} - {"kit", "spec", "suites"}
    steps = [f"quiet {suite}" for suite in sorted(suites | {"ops"})]
    for kind, table in ("planted", "planted.tsv"), ("runtime", "planted_runtime.tsv"):
        path = ROOT / "tests/system" / table
        for line in path.read_text().splitlines() if path.is_file() else ():
            row = line.split("\t")
            if len(row) > 2 and row[1].split("/")[0] in suites:
                steps.append(" ".join([kind, *row[: 2 if kind == "planted" else 3]]))
    return ["tools/mutate/check.sh " + step for step in steps]


def script_tests(names):
    """The tests of system scripts: "tests/system/test_run.sh:test_help"."""
    for name in names:
        path = f"tests/system/test_{name}.sh"
        yield from (f"{path}:{test}" for test in re.findall(r"^(test_\w+)\(\)", (ROOT / path).read_text(), re.M))


class Reach:
    """Which tests reach which functions of the files drawn, and how long they take."""

    def __init__(self, tree, sources, tests):
        self.first, size = {}, 0
        for source in sources:
            self.first[source.name] = size
            size += len(source.bodies)
        size = max(size, 1)
        for source in sources:
            begin = self.first[source.name]
            hooked = source.hooked(lambda number, begin=begin: f" nnv_reached({begin + number});")
            tree.write(source.name, HOOK.format(size=size) + hooked)
        objects = [object_of(s.name) for s in sources]
        blind = []
        if tree.make("CFLAGS=-O0", "-k", *objects).returncode:
            blind = [s for s in sources if tree.make("CFLAGS=-O0", object_of(s.name)).returncode]
        for source in blind:
            tree.write(source.name, source.text)
        tree.must_make("all", "unit")
        self.seconds = {}

        def meets(test):
            with tempfile.NamedTemporaryFile(prefix="nnvts-reached-") as reached:
                reached.write(bytes(size))
                reached.flush()
                return pathlib.Path(reached.name).read_bytes() if self.passes(tree, test, reached.name) else None

        with concurrent.futures.ThreadPoolExecutor(tree.jobs) as pool:
            hits = list(pool.map(meets, tests))
        again = [test for test, hit in zip(tests, hits) if hit is None]
        self.hit = {test: hit for test, hit in zip(tests, hits) if hit is not None}
        self.blind = {s.name for s in blind}
        for source in sources:
            tree.write(source.name, source.text)
        tree.must_make("all", "unit")
        for test in again:  # some see what a hook does; these may reach everything
            if self.passes(tree, test, None):
                self.hit[test] = bytes([1]) * size
            else:
                print(f"mutate: {test} does not pass here and judges nothing", flush=True)

    def passes(self, tree, test, reached):
        start = time.monotonic()
        failed = tree.run(test, 300, reached)
        self.seconds[test] = time.monotonic() - start
        return not failed

    def of(self, mutant):
        at, words = self.first[mutant.file] + mutant.function, set(re.split(r"[/_.]", mutant.file))
        near = {test: len(words & set(re.split(r"[/_.]", test))) for test in self.hit}
        tests = [t for t in self.hit if mutant.file in self.blind or self.hit[t][at]]
        return sorted(tests, key=lambda test: (".sh" in test, self.seconds[test] / (1 + 2 * near[test])))


def judge(tree, source, mutant, reach, clean, seconds):
    """What became of a mutant: its fate, and the test that killed it or what it met."""
    tree.write(mutant.file, source.mutated(mutant))
    try:
        built = tree.make(object_of(mutant.file))
        if built.returncode or UNFIT.search(built.stderr):
            return "broken", ""
        if tree.code(mutant.file) == clean[mutant.file]:
            return "same", ""
        tests = reach.of(mutant)
        if not tests:
            return "survived", "no test reaches it"
        unit = [test for test in tests if ".sh" not in test]
        # Linking all takes longer than most tests: the first ones, with drivers as they were, kill most mutants.
        if not mutant.file.startswith("drivers_under_test/"):
            if tree.make(*unit[:FIRST]).returncode:
                return "killed", "does not link"
            for test in unit[:FIRST]:
                if tree.run(test, 5 + 4 * reach.seconds[test]):
                    return "killed", test
        if tree.make(*near_targets(tree, mutant.file), *unit).returncode:
            return "killed", "does not link"
        end = time.monotonic() + seconds
        for met, test in enumerate(tests):
            if met == len(unit) and tree.make("all", "unit").returncode:
                return "killed", "does not link"
            if time.monotonic() > end:
                return "survived", f"met {met} of {len(tests)} tests in time"
            if tree.run(test, 5 + 4 * reach.seconds[test]):
                return "killed", test
        return "survived", f"met {len(tests)} tests"
    finally:
        tree.write(mutant.file, source.text)


class Kept:
    """Mutants that were killed once, by what their files were then."""

    def __init__(self, path):
        self.path = path and pathlib.Path(path)
        known = self.path and self.path.exists()
        self.fates = {tuple(at): (fate, by) for at, fate, by in map(json.loads, self.path.open())} if known else {}

    @staticmethod
    def key(source, mutant):
        return hashlib.sha256(source.text.encode()).hexdigest(), mutant.file, mutant.start, mutant.end, mutant.new

    def fate(self, source, mutant):
        return self.fates.get(self.key(source, mutant))

    def left(self, drawn, sources, wanted):
        """Of the mutants of a campaign those that are not known; of one that was judged before, no more than were met."""
        fates = [(m, self.fate(sources[m.file], m)) for m in drawn]
        count = 0
        for mutant, known in fates:
            count += not known or known[0] == "killed"
            if not known:
                yield mutant
            if count >= wanted and any(known for _, known in fates):
                return

    def note(self, source, mutant, fate, by):
        if self.path and fate != "survived":
            with self.path.open("a") as file:
                file.write(json.dumps([self.key(source, mutant), fate, by]) + "\n")


def patch(source, mutant):
    lines = difflib.unified_diff(
        source.text.splitlines(True), source.mutated(mutant).splitlines(True), f"a/{mutant.file}", f"b/{mutant.file}", n=1
    )
    return "".join(lines)


def folder_of(name):
    parts = name.split("/")[:-1]
    return "/".join(parts[:2])


def score(fates):
    """Lines of the table by folder, and the share of survivors."""
    folders = sorted({folder_of(m.file) for m, fate, _ in fates if fate in ("killed", "survived")})
    count = lambda folder, fate: sum(1 for m, f, _ in fates if f == fate and folder in (None, folder_of(m.file)))
    yield f"{'folder':36} {'killed':>7} {'survived':>9}"
    for folder in [*folders, None]:
        killed, survived = count(folder, "killed"), count(folder, "survived")
        share = 100 * survived / (killed + survived) if killed + survived else 0
        yield f"{folder or 'all':36} {killed:7} {survived:9} {share:5.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", metavar="FILE", help="print the mutants of a C file, and do nothing else")
    listed = parser.parse_args().list
    if listed:
        source = draw.Source(listed, pathlib.Path(listed).read_text())
        for m in source.mutants:
            print(f"{m.line} {m.kind}: {source.text[m.start:m.end]} -> {m.new.strip()}")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was made is removed
    env = os.environ.get
    seeds, wanted = [int(seed) for seed in (env("SEED") or "1").split()], int(env("MUTANTS") or 100)
    seconds = float(env("DEADLINE") or 120)
    workers = int(env("JOBS") or os.cpu_count())
    lines = (env("AT") or "").split()
    folders = [line.rsplit(":", 1)[0] for line in lines] or (env("FOLDERS") or "").split()
    sources = {s.name: s for s in sources_of(folders) if s.mutants}
    if not sources:
        sys.exit("mutate: no source in these folders")
    # Some do not compile, some are the same code: more are drawn than are wanted.
    drawn = {}
    for seed in seeds:
        chosen = (m for m in draw.draw(list(sources.values()), random.Random(seed)) if not lines or f"{m.file}:{m.line}" in lines)
        drawn[seed] = list(itertools.islice(chosen, 2 * wanted))
    kept = Kept(env("KEEP"))
    open_ones = {m.file for seed in seeds for m in kept.left(drawn[seed], sources, wanted)}
    files = [sources[name] for name in sorted(open_ones)]
    for seed in seeds:
        drawn[seed] = [m for m in drawn[seed] if kept.fate(sources[m.file], m) or m.file in open_ones]
    with tempfile.TemporaryDirectory(prefix="nnvts-mutate-") as work:
        tree = Tree(f"{work}/1", workers)
        tree.copy_sources()
        tree.must_make("all", "unit")
        clean = {source.name: tree.code(source.name) for source in files}
        tests = sorted(str(p.relative_to(tree.folder)) for p in tree.folder.glob("build/tests/test_*") if "." not in p.name)
        if (tree.folder / "build/nnvts").exists():
            tests += system_check([s.name for s in files])
        tests += script_tests((env("SCRIPTS") or "").split())
        reach = Reach(tree, files, tests)
        print(f"mutate: {len(files)} files, {len(reach.hit)} tests, {sum(reach.seconds.values()):.0f} s of them", flush=True)
        trees = [tree]
        for number in range(2, workers + 1):
            shutil.copytree(tree.folder, f"{work}/{number}", symlinks=True)
            trees.append(Tree(f"{work}/{number}", 1))
        tree.jobs = 1 if workers > 1 else os.cpu_count()
        for seed in seeds:
            judged = lambda mine, mutant: judge(mine, sources[mutant.file], mutant, reach, clean, seconds)
            campaign(seed, drawn[seed], wanted, trees, judged, sources, kept)


def campaign(seed, drawn, wanted, trees, judged, sources, kept):
    """Judges mutants in the order drawn until there are as many as wanted; prints survivors and the score."""
    todo, fates, lock = queue.SimpleQueue(), [], threading.Lock()
    for mutant in drawn:
        todo.put(mutant)

    def work_off(mine):
        while sum(1 for _, fate, _ in fates if fate in ("killed", "survived")) < wanted:
            try:
                mutant = todo.get_nowait()
            except queue.Empty:
                return
            source = sources[mutant.file]
            known = kept.fate(source, mutant)
            fate, by = known or judged(mine, mutant)
            with lock:
                fates.append((mutant, fate, by))
                if not known:
                    kept.note(source, mutant, fate, by)
                if fate == "survived":
                    print(f"SURVIVED {mutant.file}:{mutant.line} {mutant.kind}: {by}")
                    print(patch(source, mutant), flush=True)
                elif os.environ.get("VERBOSE"):
                    print(f"{fate} {mutant.file}:{mutant.line} {mutant.kind}: {by}", flush=True)

    threads = [threading.Thread(target=work_off, args=(t,)) for t in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for line in score(fates):
        print(line)
    same, broken = (sum(1 for _, fate, _ in fates if fate == f) for f in ("same", "broken"))
    print(f"mutate: seed {seed}; left out: {same} of the same code, {broken} that do not compile", flush=True)


if __name__ == "__main__":
    main()
