#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a report with the marks of the program's sources:
expect.py REPORT SEARCHED FIGURES SOURCE...

"expect" names the findings of a line with their figures (marks.py), "small" those that weigh nothing
in the longer steps of --size wide, where FIGURES is "none", "trap" the rules whose findings
must have the line nowhere in their stacks, "unmeasured" those of which it cannot be told whether they
are there. What is not a finding of a line must not be there at all. Counts and streams are always
compared; bytes and costs where FIGURES names them ("bytes,costs"), or only the costs of one file's
lines ("bytes,costs:FILE"), for a run whose other costs are not what the marks are for.

With "gpu:FILE" the run is one on the profile a100, and marks of kind "gpu" count as well; it is
about that file: findings of other files' marks may be there or not, with other figures. "part:FILE"
is the same on another device, where costs are its own. "whole" names the rules whose findings have no
line.

SEARCHED is 1 where the shim searched convolution algorithms. What a program leaves to a search, as
marks of TFS601 say, cannot be measured without one, and its marks do not count then.
"""

import json
import os
import re
import sys

import marks


# What the host's own time decides: that is real where no costs are compared.
HOSTED = {"TFS302", "TFS701", "TFS709"}
# How much of the run evaluation is, which no window sees, hangs on the size of the steps.
UNSEEN = {"TFS709"}
# Programs are small, and leave most of a large device idle: true, and not what they are for.
SMALL = {"TFS403"}


class Marks:
    """The marks of the sources that a run is for."""

    def __init__(self, sources, figures):
        self.expected, self.traps, self.unmeasured, self.whole = {}, set(), set(), set()
        self.about = [figure.partition(":")[2] for figure in figures
                      if figure.startswith(("gpu:", "part:"))]
        self.priced = any(figure.startswith("gpu:") for figure in figures)
        left_out = set() if self.about else {"gpu", "whole"}
        left_out |= {"small"} if figures == ["none"] else set()
        for source in sources:
            for mark in marks.read(source):
                if mark.kind not in left_out:
                    self.add(mark)

    def add(self, mark):
        where = (mark.rule, *mark.where)
        if mark.kind in ("expect", "gpu", "small"):
            self.expected[where] = mark
        elif mark.kind == "trap":
            self.traps.add(where)
        elif self.is_about(mark.where[0]):
            (self.whole if mark.kind == "whole" else self.unmeasured).add(mark.rule)

    def is_about(self, file):
        """Whether what the file's marks say must be there, with their figures."""
        return not self.about or file in self.about


def place(frame):
    return os.path.basename(frame["file"] or "?"), frame["line"]


def text(mark):
    return "{0} at {1}:{2}".format(*mark)


def has_costs(figures, file=None):
    """Whether costs are compared: some, or those of a file's lines."""
    return "costs" in figures or any(
        figure.startswith("costs:") and file in (None, figure.partition(":")[2])
        for figure in figures)


def ignored(rule, found, figures):
    return (rule in SMALL and rule not in found.whole) or \
        (rule in HOSTED and not has_costs(figures) and not found.about)


def wrong_here(finding, here, found, figures, steps):
    """What is wrong with one finding, but for its stack."""
    if finding["callsite"]["line"] is None:
        if finding["id"] not in found.whole:
            yield f"not of any line: {finding['id']}: {finding['message']}"
    elif here not in found.expected:
        yield f"not expected: {text(here)}: {finding['message']}"
    elif found.is_about(here[1]):
        mark = found.expected[here]
        yield from marks.wrong_figures(mark, finding, steps, "bytes" in figures,
                                       has_costs(figures, here[1]) or
                                       (mark.kind == "gpu" and found.priced))


def findings(report, found, figures):
    wrong, seen, steps = [], set(), max(report["steps"]["judged"], 1)
    for finding in report["findings"]:
        here = (finding["id"], *place(finding["callsite"]))
        if ignored(finding["id"], found, figures):
            continue
        wrong += wrong_here(finding, here, found, figures, steps)
        if here in seen:
            wrong.append(f"twice: {text(here)}")
        seen.add(here)
        for frame in finding["callsite"]["stack"]:
            if (finding["id"], *place(frame)) in found.traps:
                wrong.append(f"trapped: {text((finding['id'], *place(frame)))}")
    return wrong + [f"missing: {text(mark)}" for mark in sorted(set(found.expected) - seen)
                    if found.is_about(mark[1])]


def quotes(report, sources):
    """Whether findings have their lines of the sources, as they are there."""
    lines, wrong = {}, []
    for source in sources:
        with open(source, encoding="utf-8") as file:
            lines[os.path.basename(source)] = file.read().split("\n")
    for finding in report["findings"]:
        file, line = place(finding["callsite"])
        if file not in lines or not line:
            continue
        source = finding["source"] or {"first": 0, "lines": []}
        quoted = source["lines"][line - source["first"]:][:1]
        if not quoted or not lines[file][line - 1].strip().startswith(quoted[0].strip()):
            wrong.append(f"{file}:{line} is quoted as {quoted}")
    return wrong


# Rules about what a program need not do, and what it then calls.
OPTIONAL = {"TFS408": ("cudaMallocAsync", "cudaMallocFromPoolAsync", "cuMemAllocAsync",
                       "cuMemAllocFromPoolAsync"), "TFS601": ("cudnn",), "TFS605": ("cudnn",),
            "TFS610": ("cublasLt",), "TFS906": ()}


def wanted(rule, report, found):
    """The states that a rule may be in."""
    broken = {mark[0] for mark in found.expected if found.is_about(mark[1])} | found.whole
    elsewhere = {mark[0] for mark in found.expected} - broken
    if rule in OPTIONAL and not any(
            (call["callsite"]["call"] or "").startswith(OPTIONAL[rule])
            for call in report["calls"]):
        return {"not_applicable"}
    if rule in found.unmeasured:
        return {"not_measurable"}
    if rule in broken:
        return {"violated"}
    return {"passed"} | ({"violated"} if rule in elsewhere else set()) | \
        ({"not_measurable"} if rule in UNSEEN else set())


def rules(report, found, figures, reasons):
    wrong = []
    for rule in report["rules"]:
        if ignored(rule["id"], found, figures):
            continue
        want = wanted(rule["id"], report, found)
        if rule["state"] == "not_measurable" and reasons.get(rule["id"], "") not in rule["reason"]:
            wrong.append(f"{rule['id']} does not say what is missing: {rule['reason']}")
        if rule["state"] not in want:
            wrong.append(f"{rule['id']} is {rule['state']}, not {' or '.join(sorted(want))}: "
                         f"{rule['reason']}")
        told = re.fullmatch(r"\d+ findings?", rule["reason"] or "")
        if not rule["reason"] or bool(told) != (rule["state"] == "violated"):
            wrong.append(f"{rule['id']} is {rule['state']}, as {rule['reason']!r}")
    return wrong


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    searched = sys.argv[2] == "1"
    figures = sys.argv[3].split(",")
    found = Marks(sys.argv[4:], figures)
    searches = {mark for mark in found.expected if mark[0] == "TFS601"}
    reasons = {}
    if searches and not searched:
        for where in searches:
            del found.expected[where]
        found.unmeasured.add("TFS601")
        reasons["TFS601"] = "search"
    wrong = findings(report, found, figures) + rules(report, found, figures, reasons) + \
        quotes(report, sys.argv[4:])
    if report["steps"]["judged"] < 20 or not report["verdict"]["usable"]:
        wrong.append(f"too little was judged: {report['steps']}, {report['verdict']}")
    if not report["device"]["name"]:
        wrong.append("the report does not know the device")
    for line in wrong:
        print(line)
    if wrong:
        print(f"steps: {report['steps']}")
    sys.exit(bool(wrong))


main()
