#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A few tests need a few targets, and those are enough: targets_test.py BUILD."""

import os
import re
import sys

import summary


def target(name, kind, *files):
    return {"id": name, "type": kind, "filename": ["/b/" + file for file in files]}


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {sorted(found)}, not {sorted(wanted)}")


def rules():
    """How each kind of need is told."""
    targets = [
        target("one", "executable", "tests/one"), target("two", "executable", "tests/two"),
        target("lib", "shared library", "shim/lib.so"), target("sim", "shared library", "sim/c.so"),
        target("made", "custom", "tests/a.c", "tests/a.h"), target("go", "run", "go"),
    ]

    def of(*cmd, depends=(), env=""):
        return summary.needed({"cmd": list(cmd), "depends": depends,
                               "env": {"LD_LIBRARY_PATH": env} if env else {}},
                              summary.by_file(targets), "/b")

    expect("nothing", of("sh", "/source/style.sh"), set())
    expect("depends", of("sh", depends=["made", "go"]), {"tests/a.c", "tests/a.h"})
    expect("a file", of("sh", "shim/lib.so", "/b/tests/one"), {"shim/lib.so", "tests/one"})
    expect("a program of a folder", of("sh", "/b/tests", "two"), {"tests/two"})
    expect("libraries of a folder", of("sh", "/b/sim"), {"sim/c.so"})
    expect("libraries on the path", of("sh", env="/b/shim:/b/sim"), {"shim/lib.so", "sim/c.so"})
    expect("a path of the system", of("sh", env="/usr/lib"), set())


def text(path):
    """A script with those that it sources."""
    with open(path, encoding="utf-8") as file:
        found = file.read()
    for name in re.findall(r'^\. \S+?/([\w./]+\.sh)"?$', found, re.M):
        sourced = os.path.join(os.path.dirname(path), name)
        found += text(sourced) if os.path.exists(sourced) else ""
    return found


def named(test):
    """Files of the build that a test's scripts may name, relative to it."""
    for script in (word for word in test["cmd"] if word.endswith(".sh") and os.path.exists(word)):
        room = os.path.basename(os.path.dirname(script))
        for folder, name in re.findall(r"(?:\.\.|build/tests|\$programs(?=/[^.]))(/\w+)?/([\w.-]+)",
                                       text(script)):
            yield f"tests/{folder[1:] or room}/{name}"


def real(build):
    """Of this build's tests, each needs what it depends on, and those of style next to nothing."""
    targets = summary.by_file(summary.introspect(build, "targets"))
    tests = summary.introspect(build, "tests")
    files = {item["id"]: {os.path.relpath(name, build) for name in item["filename"]}
             for item in targets.values()}
    total = len(set().union(*files.values()))
    for test in tests:
        found = summary.needed(test, targets, build)
        for depends in test["depends"]:
            if not files.get(depends, set()) <= found:
                sys.exit(f"{test['name']} lacks {depends}")
        for name in named(test):
            if os.path.join(build, name) in targets and name not in found:
                sys.exit(f"{test['name']} runs {name} and does not depend on it")
        if len(found) > total // 10:
            sys.exit(f"{test['name']} alone needs {len(found)} of {total} files")
    by_name = {test["name"]: test for test in tests}
    # Tests are asked by name, of another build too.
    twice = {test["name"] for test in tests if by_name[test["name"]] is not test}
    expect("names of several tests", twice, set())
    expect("replay", summary.needed(by_name["replay"], targets, build), {"tests/unit/replay/unit-replay"})
    for name in ("style", "format"):
        expect(name, summary.needed(by_name[name], targets, build), set())
    print(f"{len(tests)} tests, {total} files")


rules()
real(sys.argv[1])
