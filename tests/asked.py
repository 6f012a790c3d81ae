# SPDX-License-Identifier: MIT
"""Which tests mutants.py asks about a mutant, and in which order: those first from which most is to
be had for a second of a processor's time."""

import collections
import json
import os
import re
import subprocess

import summary

BUILT = 1.0  # seconds that a test takes to be linked, about
UNKNOWN = 10.0  # that one takes which never ran
ANY = 0.0005  # what a test is worth that has nothing to do with the file but that it runs it


def words_of(text):
    return set(re.findall(r"[a-z0-9]+", text.lower()))


class Made:
    """What tests are made of. Stands for reach.Reach as well, where nothing was measured: then each
    test is taken to run every line of the files that it is made of."""

    def __init__(self, tree):
        self.tests, self.build, self.top = tree.tests, tree.build, tree.top
        self.kept = tree.build.parent.parent / "made.json"
        self.times = tree.build.parent.parent / "seconds.json"
        self.seconds = collections.defaultdict(lambda: UNKNOWN)
        if self.times.exists():
            self.seconds.update(json.loads(self.times.read_text()))
        self.failed = set()
        plan = str((tree.build / "build.ninja").stat().st_mtime)
        kept = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        if kept.get("plan") != plan:
            kept = {"plan": plan, "sources": self.ask(tree.files)}
            self.kept.write_text(json.dumps(kept))
        self.sources = {name: set(made) for name, made in kept["sources"].items()}

    def ask(self, files):
        """By the tests' names: the files of the tree that go into what they run."""
        found, known = {}, {}
        for name, test in self.tests.items():
            made = set()
            for target in summary.needed(test, files, str(self.build)):
                if target not in known:
                    out = subprocess.run(["ninja", "-C", str(self.build), "-t", "inputs", target],
                                         check=False, capture_output=True, text=True).stdout
                    full = (os.path.normpath(self.build / line) for line in out.splitlines())
                    known[target] = [os.path.relpath(path, self.top) for path in full
                                     if path.endswith((".c", ".cc", ".h"))]
                made.update(known[target])
            found[name] = sorted(made)
        return found

    def keep(self):
        self.times.write_text(json.dumps(self.seconds))

    def tests_of(self, source):
        found = {name for name, made in self.sources.items() if source in made}
        return lambda line: found


class Order:
    """What a test is worth is how near it is to the file: how few files it is made of, and which
    rare words its name and the names of its files share with the file's; and which mutants it
    killed before."""

    def __init__(self, tree, budget):
        self.reach, self.made, self.budget = tree.reach, tree.made, budget
        self.kills = collections.Counter()
        self.look_up = {}
        self.words = {}
        for name, test in tree.tests.items():
            texts = [word for word in test["cmd"] if "\n" not in word and len(word) < 999]
            inside = [text.replace(str(tree.top), "") for text in texts if str(tree.top) in text]
            self.words[name] = words_of(" ".join([name, *inside]))
        self.common = collections.Counter(word for words in self.words.values() for word in words)

    def near(self, name, test):
        shared = words_of(os.path.splitext(name)[0]) & self.words[test]
        return (ANY + (1 + len(self.made.sources.get(test, ()))) ** -2 +
                sum(self.common[word] ** -2 for word in shared))

    def late(self, name, test):
        """Small for what is asked first."""
        kills = self.kills[name, test] + self.kills[os.path.dirname(name), test] / 4
        return (BUILT + self.reach.seconds[test]) / (self.near(name, test) * (1 + 4 * kills))

    def running(self, name, line):
        """The tests that run the line; of what is no code, those that are made of the file."""
        if name not in self.look_up:
            self.look_up[name] = self.reach.tests_of(name)
        found = self.look_up[name](line)
        return self.made.tests_of(name)(line) if found is None else found

    def asked(self, name, line, lines):
        running = self.running(name, line)
        # Where what a condition stands before comes or goes, it stands before something else.
        if lines[line - 2].endswith((")", "else")):
            running = running | self.running(name, line - 1)
        found, left = [], self.budget
        asked = running - self.reach.failed
        for _, test in sorted((self.late(name, test), test) for test in asked):
            left -= BUILT + self.reach.seconds[test]
            if left < 0 and found:
                break
            found.append(test)
        return found

    def note(self, name, end):
        self.kills[name, end] += 1
        self.kills[os.path.dirname(name), end] += 1
