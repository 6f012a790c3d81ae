#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation testing; see mutants.sh, which sets up what this needs.

    mutants.py ROOT WORK [--count N] [--seed N] [--jobs N] [FOLDER...]

A mutant counts when it builds, without warnings, and compiles to other machine code than the
original. It is killed when one of the tests that look at its folder fails or takes too long. Survivors are looked
up in tests/mutants.txt: lines of file, line, mutated line and reason, parted by tabs. A reason that
begins with "equivalent:" takes a mutant out of the score; any other only explains it.
"""

import argparse
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys

import summary

GOAL = 0.85
QUICK_SECONDS = 3  # tests that take less run before the others
# What could notice: suites and names of tests, the quickest first. The default suite's tests only.
WATCHED = {
    "shim": [r"unit/", r"shim/(?!rule-|advice-|rewrite)", r"shim/rewrite"],
    "cupti": [r"unit/", r"shim/(activity|cupti|expect-|shim-cupti|rule-903|rule-904)"],
    "rules": [r"unit/", r"shim/(rule-|advice-)", r"(reports/|shim/expect-)"],
    "reports": [r"unit/", r"reports/"],
    "tests/sim": [r"sim/", r"unit/"],
}


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def need(command, **more):
    done = run(command, **more)
    if done.returncode:
        sys.exit(f"mutants: {shlex.join(command)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, root, work, jobs):
        self.root, self.jobs = root, jobs
        self.top = work / "tree"
        self.build = self.top / "build"
        self.sources = need(["git", "ls-files"], cwd=root).split()
        self.copy()
        if not (self.build / "build.ninja").exists():
            need(["meson", "setup", str(self.build)], cwd=self.top)
        print("building the copy", flush=True)
        need(["ninja", "-C", str(self.build), f"-j{jobs}"])
        listing = json.loads((self.build / "compile_commands.json").read_text())
        self.commands = {}
        for one in listing:
            path = os.path.normpath(os.path.join(one["directory"], one["file"]))
            self.commands.setdefault(path, shlex.split(one["command"]))
        self.tests = summary.introspect(str(self.build), "tests")
        self.files = summary.by_file(summary.introspect(str(self.build), "targets"))
        self.seconds = {}

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
        """The machine code that a file compiles to; None when it does not."""
        command = self.commands[str(self.top / name)]
        out = self.build / "mutant.o"
        command = [word for word in command if word not in ("-g", "-MD")]
        command[command.index("-o") + 1] = str(out)
        for flag in ("-MF", "-MQ"):
            at = command.index(flag)
            del command[at:at + 2]
        # __LINE__ moves where lines come and go.
        if run([*command, "-w", "-g0"], cwd=self.build).returncode:
            return None
        return out.read_bytes()

    def watching(self, folder):
        """The names of the tests for a folder, in stages; of each, the quick ones first."""
        stages, seen = [], set()
        for pattern in WATCHED[folder]:
            stage = []
            for test in self.tests:
                suites = [suite.partition(":")[2] or suite for suite in test["suite"]]
                if {"long", "slice"} & set(suites) or test["name"] in seen:
                    continue
                if any(re.match(pattern, f"{suite}/{test['name']}") for suite in suites):
                    stage.append(test["name"])
                    seen.add(test["name"])
            quick = [name for name in stage if self.seconds.get(name, 0) < QUICK_SECONDS]
            stages += [quick, [name for name in stage if name not in quick]]
        return [stage for stage in stages if stage]

    def targets(self, stage):
        """What ninja has to build for these tests."""
        tests = [test for test in self.tests if test["name"] in stage]
        return sorted(set().union(*(summary.needed(test, self.files, str(self.build))
                                    for test in tests)))

    def failing(self, folder):
        """The first test that fails, "build", or None."""
        for stage in self.watching(folder):
            built = run(["ninja", "-C", str(self.build), f"-j{self.jobs}", *self.targets(stage)],
                        timeout=3600)
            if built.returncode:
                return "build"
            done = run(["meson", "test", "-C", str(self.build), "--no-rebuild", "--maxfail", "1",
                        "--num-processes", str(self.jobs), *stage])
            self.note_times()
            if done.returncode:
                found = re.search(r"^\s*\d+/\d+ (?:\S+ / )?(\S+)\s+(FAIL|TIMEOUT|ERROR)",
                                  done.stdout, re.M)
                return found.group(1) if found else "?"
        return None

    def note_times(self):
        """How long each test takes where it passes."""
        for line in (self.build / "meson-logs/testlog.json").read_text().splitlines():
            test = json.loads(line)
            if test["result"] == "OK":
                name = test["name"].rpartition(" / ")[2]
                self.seconds.setdefault(name, test["duration"])


def mutants_of(tree, work, name):
    """All mutants of a file, as texts, in the generator's order."""
    folder = work / "generated"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    need([str(work / "venv/bin/mutate"), str(tree.root / name), "c", "--noCheck", "--mutantDir",
          str(folder)])
    number = re.compile(r"\.mutant\.(\d+)\.")
    files = sorted(folder.iterdir(), key=lambda file: int(number.search(file.name).group(1)))
    return [file.read_text() for file in files]


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
        self.lengths = [len((tree.root / name).read_text().splitlines()) for name in self.files]
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
            file, before, after, reason = line.split("\t")
            found[file, before, after] = reason
    return found


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


def judge(tree, work, folder, arguments, explained):
    results = work / f"results-{folder.replace('/', '-')}.tsv"
    known = known_ends(results, state := tree.state())
    print(f"{folder}: the tests without a mutant", flush=True)
    wrong = tree.failing(folder)
    if wrong:
        sys.exit(f"mutants: {wrong} fails without one")
    killed = counted = 0
    survivors = []
    for name, text in Choice(tree, work, folder, arguments.seed):
        if counted == arguments.count:
            break
        path = tree.top / name
        original = path.read_text()
        line, before, after = change(original, text)
        key = (name, hashlib.sha256(original.encode()).hexdigest()[:16], str(line), before, after)
        end = known.get(key)
        if end is None:
            code = tree.code(name)
            path.write_text(text)
            try:
                other = tree.code(name)
                end = "none" if other in (None, code) else tree.failing(folder) or "survived"
            finally:
                path.write_text(original)
            with results.open("a") as file:
                file.write("\t".join([*key, state, end]) + "\n")
        if end in ("none", "build"):
            continue
        reason = explained.get((name, before, after), "no reason yet")
        if end == "survived" and reason.startswith("equivalent:"):
            continue
        counted += 1
        killed += end != "survived"
        if end == "survived":
            survivors.append(f"{name}:{line}: {before}\n    -> {after}\n    {reason}")
        print(f"{folder} {counted}: {name}:{line} {end}", flush=True)
    low, high = wilson(killed, counted)
    print(f"{folder}: {killed} of {counted} killed, {100 * killed / max(counted, 1):.0f} % "
          f"(95 %: {100 * low:.0f}..{100 * high:.0f} %)")
    for one in survivors:
        print(f"  {one}")
    return killed >= GOAL * counted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    arguments = parser.parse_intermixed_args()
    folders = [folder.rstrip("/") for folder in arguments.folders] or list(WATCHED)
    for folder in folders:
        if folder not in WATCHED:
            parser.error(f"no folder '{folder}': {', '.join(WATCHED)}")
    tree = Tree(arguments.root, arguments.work, arguments.jobs)
    explained = reasons(arguments.root)
    enough = [judge(tree, arguments.work, folder, arguments, explained) for folder in folders]
    return 0 if all(enough) else 1


if __name__ == "__main__":
    sys.exit(main())
