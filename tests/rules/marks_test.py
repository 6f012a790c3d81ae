#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Marks that are none are errors, and each figure that differs is noticed: marks_test.py SOURCE...

All marks of the sources must be well formed, too.
"""

import os
import sys
import tempfile

import marks

GOOD = {
    "/* expect: TFS101 x1 196KiB legacy 400..650us */": ("TFS101", 1, 200704, "legacy", (4e5, 6.5e5)),
    "/* note: TFS201 x2 stream 13 1.5..2ms */": ("TFS201", 2, 0, "13", (1.5e6, 2e6)),
    "/* expect: TFS401 x0.5 4B 0us */": ("TFS401", 0.5, 4, None, (0, 0)),
    "/* needed: TFS202 x1 per-thread */": ("TFS202", 1, 0, "per-thread", None),
    "/* gpu: TFS405 x1 4KiB */": ("TFS405", 1, 4096, None, None),
}
BAD = ["", "TFS101", "TFS101 1 4B 1..2us", "TFS101 x1", "TFS101 x1 4B", "TFS101 x0 1..2us",
       "TFS101 x1 4KB 1..2us", "TFS101 x1 4 1..2us", "TFS101 x1 13 1..2us", "TFS101 x1 5us",
       "TFS101 x1 2..1us", "TFS101 x1 1..2s", "TFS101 x1 1-2us", "TFS101 x1 1..2us 4B",
       "TFS101 x1 legacy 4B 1..2us", "TFS101 x1 1..2us.", "TFS1 x1 1..2us", "x1 1..2us",
       "TFS101 x1 1..2us, TFS102 x1 1..2us", "TFS101 x1 1..2us TFS102", "tfs101 x1 1..2us"]
WRONG = {
    "count": [("per_step", "count", 0.9), ("per_step", "count", 2), ("per_step", "count", 1.02)],
    "bytes": [("per_step", "bytes", 100352), ("per_step", "bytes", 0), ("per_step", "bytes", 200705)],
    "stream": [(None, "stream", "13"), (None, "stream", None)],
    "cost": [("cost", "low", 390e3), ("cost", "high", 660e3), ("cost", "low", 540e3),
             ("cost", "high", 510e3), ("cost", "ns_per_step", 700e3)],
}


def read(text):
    with tempfile.NamedTemporaryFile("w", suffix=".c", delete=False) as file:
        file.write(text)
    try:
        return marks.read(file.name)
    finally:
        os.unlink(file.name)


def finding():
    return {"per_step": {"count": 1 - 1 / 50, "bytes": 200704}, "stream": "legacy",
            "cost": {"low": 480e3, "ns_per_step": 500e3, "high": 560e3}}


def good():
    for text, figures in GOOD.items():
        mark, = read(text + " call();\n")
        if (mark.rule, mark.count, mark.bytes, mark.stream, mark.cost) != figures:
            yield f"{text} is taken for {vars(mark)}"
    lines = "f(); /* trap: TFS101 TFS202 */\n/* expect: TFS201 x1 0us */\n/* Why. */\ng();\n"
    places = [(mark.kind, mark.rule, mark.where[1]) for mark in read(lines)]
    if places != [("trap", "TFS101", 1), ("trap", "TFS202", 1), ("expect", "TFS201", 4)]:
        yield f"marks of other lines: {places}"


def bad():
    for text in [f"/* expect: {text} */" for text in BAD] + [
            "/* needed: TFS101 x1 1..2us */", "/* trap: TFS101 x1 */", "/* trap: it */"]:
        try:
            yield f"taken for a mark: {text}: {[str(m) for m in read(text + ' call();')]}"
        except marks.Malformed:
            pass


def wrong():
    mark, = read("call(); /* expect: TFS101 x1 196KiB legacy 400..650us */\n")
    first = marks.wrong_figures(mark, finding(), 50)
    if first:
        yield f"wrong without a reason: {first}"
    for kind, changes in WRONG.items():
        for group, key, value in changes:
            other = finding()
            (other[group] if group else other)[key] = value
            if not marks.wrong_figures(mark, other, 50):
                yield f"not noticed: a {kind} with {key} {value}"
    less = finding()
    less["cost"] = {"low": 1, "ns_per_step": 2, "high": 3}
    needed, = read("call(); /* needed: TFS101 x1 196KiB legacy */\n")
    if not marks.wrong_figures(needed, less, 50, costs=False):
        yield "a cost is not noticed where none is promised"


def main():
    faults = [*good(), *bad(), *wrong()]
    count = sum(len(marks.read(source)) for source in sys.argv[1:])
    for fault in faults:
        print(fault)
    print(f"{len(GOOD)} good marks, {len(BAD) + 3} bad ones, {sum(map(len, WRONG.values())) + 1} wrong "
          f"figures, {count} marks in {len(sys.argv) - 1} sources")
    sys.exit(bool(faults) or count < 60)


main()
