#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Meson's tests by filter, what has to be built for them, and the closing summary of a run.

    summary.py names BUILD WORD [long]   tests with WORD in their name or suite
    summary.py targets BUILD NAME...     what ninja has to build before they run
    summary.py results LOG               status 1 when one failed
"""

import json
import os
import subprocess
import sys

TAIL = 60
PASSED = ("OK", "EXPECTEDFAIL")


def introspect(build, what):
    """What meson wrote down about the build when it was configured."""
    with open(f"{build}/meson-info/intro-{what}.json", encoding="utf-8") as listing:
        return json.load(listing)


def names(tests, word, with_long=False):
    found = []
    for test in tests:
        suites = [suite.partition(":")[2] or suite for suite in test["suite"]]
        if "long" in suites and not with_long:
            continue
        if any(word in text for text in [test["name"], *suites]):
            found.append(test["name"])
    return found


def by_file(targets):
    """Targets by the full names of their files."""
    return {name: target for target in targets if target["type"] != "run"
            for name in target["filename"]}


def needed(test, files, build):
    """The files of the build that a test needs, relative to it: of the targets that it names, and
    of those that it finds by a folder: programs by their names, and all shared libraries. `files`
    is by_file(), `build` a full name."""
    def inside(*path):
        return os.path.normpath(os.path.join(build, *path))

    words = [word for word in test["cmd"] if "\n" not in word]
    folders = {inside(word) for word in words}
    folders |= {inside(folder) for value in test["env"].values() for folder in value.split(":")}
    depends = set(test["depends"])
    found = [target for target in files.values() if target["id"] in depends]
    for folder in folders & {os.path.dirname(name) for name in files}:
        found += [target for name, target in files.items()
                  if os.path.dirname(name) == folder and target["type"].startswith("shared")]
        found += [files[path] for path in (inside(folder, word) for word in words) if path in files]
    found += [files[inside(word)] for word in words if inside(word) in files]
    return {os.path.relpath(name, build) for target in {t["id"]: t for t in found}.values()
            for name in target["filename"]}


def last_line(test):
    for stream in ("stdout", "stderr"):
        lines = [line.strip() for line in test.get(stream, "").splitlines() if line.strip()]
        if lines:
            return lines[-1]
    return "no reason given"


def results(path):
    passed, skipped, failed = [], [], []
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            test = json.loads(line)
            kind = passed if test["result"] in PASSED else failed
            (skipped if test["result"] == "SKIP" else kind).append(test)
    for test in skipped:
        print(f"skipped {test['name']}: {last_line(test)}")
    for test in failed:
        print(f"\nFAILED {test['name']}: {test['result'].lower()},"
              f" status {test['returncode']}, {test['duration']:.1f} s")
        print("  " + " ".join(test["command"]))
        for stream in ("stdout", "stderr"):
            lines = test.get(stream, "").splitlines()
            if len(lines) > TAIL:
                print(f"  {stream}: the last {TAIL} of {len(lines)} lines")
            for text in lines[-TAIL:]:
                print("  | " + text)
    print(f"\n{len(passed)} passed, {len(failed)} failed"
          + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed else 0


def main(action, where, *words):
    if action == "results":
        return results(where)
    tests = introspect(where, "tests")
    if action == "names":
        found = names(tests, *words)
    else:
        files = by_file(introspect(where, "targets"))
        found = set().union(*(needed(test, files, os.path.abspath(where)) for test in tests
                              if test["name"] in words))
    print("\n".join(sorted(found) if action == "targets" else found))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
