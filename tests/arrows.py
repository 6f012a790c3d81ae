#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which folder may include which, and that no two of them include each other in a circle; and that
none uses what is defined in a folder above it, whichever header declares that.

    arrows.py ROOT      status 1, with each include and each use that points the wrong way
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
# Whose definitions are used from below: lists of those who want to be told, made where all of them
# are known; and the parts of one format.
FROM_BELOW = {"shim/core/listeners.c"}
IN_PARTS = {"reports/formats/html.c"}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# At the beginning of a line, with a body or as a variable: what others can link with.
DEFINED = re.compile(r"^(?!static\b|typedef\b|extern\b)[a-zA-Z_][\w \t*()]*?\b(tfs_\w+)\s*"
                     r"(?:\([^;{}]*\)\s*\{|(?:\[[^\]]*\])*(?:\s*TFS_\w+|\s*__attribute__[^;=]*)?\s*[=;])",
                     re.MULTILINE)
# In a header: no use of it.
DECLARED = re.compile(r"^(?!static\b)[a-z][\w \t*]*?\btfs_\w+\s*(?:\([^;{}]*\)|(?:\[[^\]]*\])*)[^;{}()]*;", re.MULTILINE)
NAME = re.compile(r"(?<!struct )(?<!enum )\btfs_\w+")
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


def links(root, files):
    """(number of names, what is wrong) of the uses of names that another file defines."""
    texts = {name: DIRECTIVE.sub("", COMMENT.sub("", (root / name).read_text())) for name in files}
    homes = {}
    for name, text in texts.items():
        for found in DEFINED.finditer(text) if name.endswith(".c") else ():
            homes.setdefault(found[1], set()).add(name)
    bad = []
    for name, text in texts.items():
        used = set(NAME.findall(DECLARED.sub("", text) if name.endswith(".h") else text))
        for home in sorted((word, place) for word in used & homes.keys() for place in homes[word]):
            one, other = (path.rpartition("/")[0] for path in (name, home[1]))
            if one == other or home[1] in FROM_BELOW or name in IN_PARTS:
                continue
            # A rewrite can be taken out: nothing but its row in the list of rewrites needs it.
            apart = other.startswith("shim/rewrites/") and not any(other in row for row in ORDER)
            if apart or rank(one) <= rank(other):
                bad.append(f"{name} uses {home[0]} of {home[1]}: {'a rewrite' if apart else 'upwards'}")
    return len(homes), bad


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
    names, upwards = links(root, files)
    bad += upwards
    count = sum(len(targets) for targets in includes.values())
    print(*bad, f"{len(files)} files, {count} includes, {names} names, {len(bad)} wrong", sep="\n")
    return 1 if bad or count < 1000 or names < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
