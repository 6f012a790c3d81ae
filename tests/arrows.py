#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which folder may include which, and that no two of them include each other in a circle.

    arrows.py ROOT      status 1, with each include that points the wrong way
"""
import pathlib
import re
import sys

# From the ground up: a folder includes only what stands before it, and what stands in its line
# includes nothing of its neighbours there.
ORDER = [
    ["shim/trace/format", "shim/steps/loops", "shim/base"],
    ["shim/trace"],
    ["shim/trace/reader"],
    ["shim/resolve"],
    ["shim/python", "shim/contents"],
    ["shim/record"],
    ["shim/state", "shim/host", "cupti"],
    ["shim"],  # tfshim.h, for programs
    ["shim/steps"],
    ["shim/nvtx", "shim/rewrites/measure", "shim/rewrites/breaker", "shim/rewrites/memory"],
    ["shim/rewrites"],
    ["shim/rewrites/search"],
    ["shim/rewrites/common"],
    ["shim/rewrites/*"],
    ["shim/hooks"],
    ["shim/hooks/*"],
    ["shim/core", "shim/inject"],
    ["rules"],  # rule.h
    ["rules/support", "rules/replay"],
    ["rules/timeline"],
    ["rules/evidence"],
    ["rules/device"],
    ["rules/whatif"],
    ["rules/judge"],
    ["rules/catalogue"],
    ["reports/import/collected"],
    ["reports/import/*"],
    ["reports/page", "reports/symbols", "reports/import"],
    ["reports/model"],
    ["reports/patch"],
    ["reports/build"],
    ["reports/formats"],
    ["reports/formats/html"],
    ["reports/support"],
    ["reports/gate", "reports/doctor"],
    ["reports/commands"],
    ["reports"],  # tfshim.c
]
# What runs after the program sees of what ran in it the recording, and what is pure.
IN_PROGRAM = ("shim/", "cupti")
AFTER = ("rules", "reports")
SHARED = {
    "shim/trace", "shim/trace/format", "shim/steps/loops",
    "shim/rewrites/measure", "shim/rewrites/breaker",  # files that runs leave to each other
    "cupti/places.h",  # where CUPTI lies, for the doctor
    "shim/base/env_flag.h",
    "shim/nvtx/nvtx_family.h",
}
# What prints a report, or judges one, reads its model, and not what that was made of: neither itself
# nor by a header.
READERS = ("reports/formats", "reports/formats/html", "reports/gate")
MAKERS = ("shim/", "cupti/", "rules/", "reports/symbols/", "reports/patch/",
          "reports/build/")
# Except for the terms that the model speaks in, and the memory that it is in.
TERMS = {"rules/outcome.h", "rules/support/arena.h"}
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.MULTILINE)


def rank(folder):
    """The line of a folder; None where it has none."""
    for number, row in enumerate(ORDER):
        if folder in row:
            return number
    for number, row in enumerate(ORDER):
        if folder.rpartition("/")[0] + "/*" in row:
            return number
    return None


def wrong(source, target):
    """Why the file `source` may not include the file `target`; None where it may."""
    one, other = (name.rpartition("/")[0] for name in (source, target))
    if one == other:
        return None
    if rank(one) is None or rank(other) is None:
        return "a folder that has no place in the order"
    if one.startswith(AFTER) and other.startswith(IN_PROGRAM):
        return None if other in SHARED or target in SHARED else "what runs in the program"
    if rank(one) <= rank(other):
        return "upwards"
    return None


def past_model(reader, includes):
    """What a reader gets of the makers, itself or by headers: (header, header of a maker)."""
    seen, left = {reader}, [reader]
    while left:
        source = left.pop()
        for target in includes.get(source, ()):
            if target.startswith(MAKERS) and target not in TERMS:
                yield source, target
            elif target not in seen:
                seen.add(target)
                left.append(target)


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(path.relative_to(root).as_posix() for folder in ("shim", "cupti", "rules", "reports")
                   for path in (root / folder).rglob("*.[ch]"))
    includes = {name: [target for target in INCLUDE.findall((root / name).read_text())
                       if (root / target).exists() and not target.startswith("tests/")]
                for name in files}
    bad = []
    for name in files:
        for target in includes[name]:
            why = wrong(name, target)
            if why:
                bad.append(f"{name} includes {target}: {why}")
        if name.rpartition("/")[0] in READERS:
            for source, target in past_model(name, includes):
                by = "" if source == name else f" by {source}"
                bad.append(f"{name} includes {target}{by}: past the model")
    count = sum(len(targets) for targets in includes.values())
    print(*bad, f"{len(files)} files, {count} includes, {len(bad)} wrong", sep="\n")
    return 1 if bad or count < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
