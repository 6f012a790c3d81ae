#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation testing; see mutants.sh, which sets up what this needs.

    mutants.py ROOT WORK [--count N] [--seed N] [--seconds N] [--jobs N] [--unmeasured]
        [FOLDER...]

A mutant counts when it builds, without warnings, and compiles to other machine code than the
original. It is killed when one of the tests that run its line (reach.py, in the order of asked.py)
fails or takes too long; tests for which the time does not suffice make the share lower, never
higher. A test kills only when it has passed without the mutant. Survivors are looked up
in tests/mutants.txt: lines of file, function, line, mutated line and reason, parted by tabs. A
reason that begins with "equivalent:" takes a mutant out of the score; any other only explains it.
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys

import asked
import reach
import summary

GOAL = 0.85
FOLDERS = ["shim", "cupti", "rules", "reports", "tests/sim"]
FIRST = 2  # tests that are built and run before the others; of these twice as many, and so on
PATIENCE = 20  # seconds that any test may take, besides ten times the processors' time it took


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def need(command, **more):
    done = run(command, **more)
    if done.returncode:
        sys.exit(f"mutants: {shlex.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, root, work, jobs, measure):
        """`measure`: what tests run is measured."""
        self.root, self.jobs = root, jobs
        self.top = work / "tree"
        self.build = self.top / "build"
        self.sources = need(["git", "ls-files"], cwd=root).split()
        self.copy()
        if not (self.build / "build.ninja").exists():
            need(["meson", "setup", str(self.build)], cwd=self.top)
        need(["ninja", "-C", str(self.build), "build.ninja"])
        listing = json.loads((self.build / "compile_commands.json").read_text())
        self.commands, self.objects = {}, {}
        for one in listing:
            path = os.path.normpath(os.path.join(one["directory"], one["file"]))
            self.commands.setdefault(path, shlex.split(one["command"]))
            self.objects.setdefault(path, one["output"])
        self.tests = reach.default_tests(self.build)
        self.files = summary.by_file(summary.introspect(str(self.build), "targets"))
        self.originals = {}
        self.passed = set()  # without a mutant, in this run
        self.made = asked.Made(self)
        self.reach = reach.Reach(root, work, jobs) if measure else self.made

    def copy(self):
        """Newer files only, so that a second run builds what has changed; what went, goes."""
        for name in self.sources:
            source, target = self.root / name, self.top / name
            if not source.is_file():
                continue
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
        for old in self.top.rglob("*"):
            inside = old.relative_to(self.top)
            if old.is_file() and inside.parts[0] != "build" and str(inside) not in self.sources:
                old.unlink()

    def state(self):
        """Of the sources as they were copied."""
        digest = hashlib.sha256()
        for name in self.sources:
            if (self.top / name).is_file() and name != "tests/mutants.txt":
                digest.update(name.encode() + (self.top / name).read_bytes())
        return digest.hexdigest()[:16]

    def code(self, name):
        """The machine code that a file compiles to; None when it does not, or with warnings."""
        command = self.commands[str(self.top / name)]
        out = self.build / "mutant.o"
        command = [word for word in command if word not in ("-g", "-MD")]
        command[command.index("-o") + 1] = str(out)
        for flag in ("-MF", "-MQ"):
            at = command.index(flag)
            del command[at:at + 2]
        # Lines come and go: nothing may depend on their numbers, which are defined with a warning.
        if run([*command, "-fsyntax-only"], cwd=self.build).returncode or \
                run([*command, "-w", "-g0", "-D__LINE__=0"], cwd=self.build).returncode:
            return None
        return out.read_bytes()

    def original(self, name):
        """The same without a mutant; builds what is generated for it."""
        need(["ninja", "-C", str(self.build), self.objects[str(self.top / name)]])
        return self.code(name) or sys.exit(f"mutants: {name} does not compile")

    def targets(self, names):
        """What ninja has to build for these tests."""
        return sorted(set().union(*(summary.needed(self.tests[name], self.files, str(self.build))
                                    for name in names)))

    def ask(self, name):
        limit = PATIENCE + 10 * self.reach.seconds[name]
        passed, seconds = reach.passes(self.tests[name], self.build, limit)
        if passed:
            self.made.seconds[name] = seconds
        return passed

    def failing(self, names):
        """The first of the tests that fails, "build", or None."""
        at, count = 0, FIRST
        while at < len(names):
            stage = names[at:at + count]
            at, count = at + count, 2 * count
            if run(["ninja", "-C", str(self.build), f"-j{self.jobs}",
                    *self.targets(stage)]).returncode:
                return "build"
            failed = []

            def ask(name, failed=failed):
                if not failed and not self.ask(name):
                    failed.append(name)

            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                list(pool.map(ask, stage))
            if failed:
                return failed[0]
        return None


def mutants_of(tree, work, name):
    """All mutants of a file, as texts, in the generator's order. They are kept."""
    digest = hashlib.sha256((tree.top / name).read_bytes()).hexdigest()[:16]
    kept = work / "texts" / f"{digest}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    folder = work / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    need([str(work / "venv/bin/mutate"), str(tree.top / name), "c", "--noCheck", "--mutantDir",
          str(folder)], cwd=work)
    number = re.compile(r"\.mutant\.(\d+)\.")
    files = sorted(folder.iterdir(), key=lambda file: int(number.search(file.name).group(1)))
    texts = [file.read_text() for file in files]
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(texts))
    return texts


def change(before, after):
    """The line that differs first, and what stands there instead."""
    old, new = before.splitlines(), after.splitlines()
    for at, line in enumerate(old):
        if at >= len(new) or line != new[at]:
            there = new[at] if at < len(new) else ""
            if len(new) > len(old) and new[at + 1:at + 2] == [line]:
                there += " (inserted)"
            return at + 1, line.strip(), there.strip()
    return len(old), "", ""


class Choice:
    """A folder's mutants, by a seed: files by their lengths, then any mutant of the file."""

    def __init__(self, tree, work, folder, seed):
        self.tree, self.work, self.seed = tree, work, seed
        self.random = random.Random(f"{seed} {folder}")
        self.files = [name for name in tree.sources if name.startswith(folder + "/")
                      and name.endswith(".c") and str(tree.top / name) in tree.commands]
        self.lengths = [len((tree.top / name).read_text().splitlines()) for name in self.files]
        self.cached = {}

    def __iter__(self):
        while True:
            name = self.random.choices(self.files, self.lengths)[0]
            if name not in self.cached:
                texts = mutants_of(self.tree, self.work, name)
                random.Random(f"{self.seed} {name}").shuffle(texts)
                self.cached[name] = texts
            if self.cached[name]:
                yield name, self.cached[name].pop()


def reasons(root):
    found = {}
    for line in (root / "tests/mutants.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            *key, reason = line.split("\t")
            found[tuple(key)] = reason
    return found


def function_at(lines, number):
    """The name of the function that a line is in; "-" outside of functions."""
    for line in reversed(lines[:number]):
        start = re.match(r"[a-zA-Z_].*?(\w+)\(", line)
        if start or line[:1] == "}":
            return start.group(1) if start else "-"
    return "-"


def wilson(killed, count, z=1.96):
    """The interval of a share, Wilson's score at 95 %."""
    if not count:
        return 0, 1
    share = killed / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count ** 2))
    half /= 1 + z * z / count
    return middle - half, middle + half


def known_ends(results, state):
    """Of mutants that were tried: what killed them, as long as their file is as it was; a survivor
    is one as long as nothing has changed."""
    known = {}
    if results.exists():
        for line in results.read_text().splitlines():
            *key, then, end = line.split("\t")
            if end != "survived" or then == state:
                known[tuple(key)] = end
    return known


def try_out(tree, order, name, line, text):
    """What kills the mutant; "survived", or "none" for one that does not build or changes
    nothing."""
    path = tree.top / name
    original = path.read_text()
    if name not in tree.originals:
        tree.originals[name] = tree.original(name)
    end = "again"
    while end == "again":
        path.write_text(text)
        try:
            if tree.code(name) in (None, tree.originals[name]):
                return "none"
            end = tree.failing(order.asked(name, line, original.splitlines())) or "survived"
        finally:
            path.write_text(original)
        tree.made.keep()
        if end not in ("build", "survived") and end not in tree.passed:
            if tree.failing([end]):
                print(f"{end} fails without a mutant, too: it is not asked", flush=True)
                tree.reach.failed.add(end)
                end = "again"
            else:
                tree.passed.add(end)
    return end


def judge(tree, work, folder, arguments, explained):
    results = work / f"results-{folder.replace('/', '-')}.tsv"
    known = known_ends(results, state := tree.state())
    order = asked.Order(tree, arguments.seconds)
    for (name, *_), end in known.items():
        order.note(name, end)
    killers, survivors, counted = [], [], 0
    for name, text in Choice(tree, work, folder, arguments.seed):
        if counted == arguments.count:
            break
        original = (tree.top / name).read_text()
        line, before, after = change(original, text)
        key = (name, hashlib.sha256(original.encode()).hexdigest()[:16], str(line), before, after)
        end = known.get(key)
        if end is None:
            end = try_out(tree, order, name, line, text)
            order.note(name, end)
            with results.open("a") as file:
                file.write("\t".join([*key, state, end]) + "\n")
        if end in ("none", "build"):
            continue
        function = function_at(original.splitlines(), line)
        reason = explained.get((name, function, before, after), "no reason yet")
        if end == "survived" and reason.startswith("equivalent:"):
            continue
        counted += 1
        if end != "survived":
            killers.append(end)
        else:
            survivors.append(
                f"{name}:{line}: {function}: {before}\n    -> {after}\n    {reason}")
        print(f"{folder} {counted}: {name}:{line} {end}", flush=True)
    killed = len(killers)
    low, high = wilson(killed, counted)
    print(f"{folder}: {killed} of {counted} killed, {100 * killed / max(counted, 1):.0f} % "
          f"(95 %: {100 * low:.0f}..{100 * high:.0f} %)")
    for one in survivors:
        print(f"  {one}")
    wrong = tree.failing(sorted(set(killers) - tree.passed))
    if wrong:
        print(f"{folder}: {wrong} fails without a mutant, too: what it killed does not count")
    return not wrong and killed >= GOAL * counted


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutants: stopped"))
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--unmeasured", action="store_true")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    arguments = parser.parse_intermixed_args()
    folders = [folder.rstrip("/") for folder in arguments.folders] or FOLDERS
    for folder in folders:
        if folder not in FOLDERS:
            parser.error(f"no folder '{folder}': {', '.join(FOLDERS)}")
    tree = Tree(arguments.root, arguments.work, arguments.jobs, not arguments.unmeasured)
    explained = reasons(arguments.root)
    enough = [judge(tree, arguments.work, folder, arguments, explained) for folder in folders]
    return 0 if all(enough) else 1


if __name__ == "__main__":
    sys.exit(main())
