#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every function of a header has a user in another file, of the project or of its tests; and one in
the project itself, unless its comment begins with "For tests:".

    unused.py SOURCE     status 1 with each that has none: it is to be static, or to go
"""
import os
import re
import sys
from collections import Counter

ROOMS = ("shim", "cupti", "rules", "reports")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def files(root, rooms):
    for room in rooms:
        for folder, _, names in os.walk(os.path.join(root, room)):
            yield from (os.path.join(folder, name) for name in names
                        if name.endswith((".c", ".h", ".py", ".S")))


def words(path):
    with open(path, encoding="utf-8") as source:
        return COMMENT.sub("", source.read())


texts = {path: words(path) for path in files(sys.argv[1], ROOMS + ("tests",))}
product = Counter(word for path in files(sys.argv[1], ROOMS)
                  for word in re.findall(r"\btfs_\w+", texts[path]))
users = {}
for path, text in texts.items():
    for name in set(re.findall(r"\btfs_\w+", text)):
        users.setdefault(name, []).append(path)

# What stands under such a comment, up to the next empty line.
FOR_TESTS = re.compile(r"^/\* For tests:.*?\n\n", re.S | re.M)

declared, unused = 0, []
for path in files(sys.argv[1], ROOMS):
    if not path.endswith(".h"):
        continue
    with open(path, encoding="utf-8") as header:
        for_tests = "".join(FOR_TESTS.findall(header.read()))
    for name in re.findall(r"^[a-z].*?\b(tfs_\w+)\(", texts[path], re.M):
        declared += 1
        # By what else stands in the header; or beyond it and the file of the definition.
        in_header = len(re.findall(rf"\b{name}\b", texts[path])) > 1
        inlined = re.search(rf"^static inline.*?\b{name}\(", texts[path], re.M)
        if not in_header and len(users[name]) <= (1 if inlined else 2):
            unused.append(f"{os.path.relpath(path, sys.argv[1])}: {name} is used in no other file")
        # What names it, beyond its declaration and its definition.
        elif product[name] <= (1 if inlined else 2) and \
                not re.search(rf"\b{name}\(", for_tests):
            unused.append(f"{os.path.relpath(path, sys.argv[1])}: {name} is used by tests only")
print("\n".join(unused) or f"{declared} functions")
sys.exit(1 if unused or not declared else 0)
