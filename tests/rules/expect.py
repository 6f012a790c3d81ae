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

SEARCHED is 1 where the shim searched convolution algorithms. What a program leaves to a search, as
marks of TFS601 say, cannot be measured without one, and its marks do not count then.
"""

import json
import os
import re
import sys

import marks


# What the host's own time decides: that is real where no costs are compared.
HOSTED = {"TFS302", "TFS701"}
# How much of the run evaluation is, which no window sees, hangs on the size of the steps.
UNSEEN = {"TFS709"}
# Programs are small, and leave most of a large device idle: true, and not what they are for.
SMALL = {"TFS403"}


def marked(sources, wide):
    found = {"expect": {}, "trap": set(), "unmeasured": set()}
    for source in sources:
        for mark in marks.read(source):
            if mark.kind == "small" and wide:
                continue
            if mark.kind in ("expect", "small"):
                found["expect"][mark.rule, *mark.where] = mark
            else:
                found[mark.kind].add((mark.rule, *mark.where))
    return found["expect"], found["trap"], {mark[0] for mark in found["unmeasured"]}


def place(frame):
    return os.path.basename(frame["file"] or "?"), frame["line"]


def text(mark):
    return "{0} at {1}:{2}".format(*mark)


def has_costs(figures, file=None):
    """Whether costs are compared: some, or those of a file's lines."""
    return "costs" in figures or any(
        figure.startswith("costs:") and file in (None, figure.partition(":")[2])
        for figure in figures)


def findings(report, expected, traps, figures):
    wrong, seen, steps = [], set(), max(report["steps"]["judged"], 1)
    for finding in report["findings"]:
        here = (finding["id"], *place(finding["callsite"]))
        if finding["id"] in SMALL or (finding["id"] in HOSTED and not has_costs(figures)):
            continue
        if finding["callsite"]["line"] is None:
            wrong.append(f"not of any line: {finding['id']}: {finding['message']}")
        elif here not in expected:
            wrong.append(f"not expected: {text(here)}: {finding['message']}")
        else:
            wrong += marks.wrong_figures(expected[here], finding, steps,
                                         "bytes" in figures, has_costs(figures, here[1]))
        if here in seen:
            wrong.append(f"twice: {text(here)}")
        seen.add(here)
        for frame in finding["callsite"]["stack"]:
            if (finding["id"], *place(frame)) in traps:
                wrong.append(f"trapped: {text((finding['id'], *place(frame)))}")
    return wrong + [f"missing: {text(mark)}" for mark in sorted(set(expected) - seen)]


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


def rules(report, expected, unmeasured, figures):
    wrong, broken = [], {mark[0] for mark in expected}
    for rule in report["rules"]:
        if rule["id"] in SMALL or (rule["id"] in HOSTED and not has_costs(figures)):
            continue
        want = "violated" if rule["id"] in broken else "passed"
        if rule["id"] in OPTIONAL and not any(
                (call["callsite"]["call"] or "").startswith(OPTIONAL[rule["id"]])
                for call in report["calls"]):
            want = "not_applicable"
        elif rule["id"] in unmeasured:
            want = "not_measurable"
            if unmeasured[rule["id"]] not in rule["reason"]:
                wrong.append(f"{rule['id']} does not say what is missing: {rule['reason']}")
        unseen = rule["id"] in UNSEEN and rule["state"] == "not_measurable"
        if rule["state"] != want and not (unseen and want == "passed"):
            wrong.append(f"{rule['id']} is {rule['state']}, not {want}: {rule['reason']}")
        told = re.fullmatch(r"\d+ findings?", rule["reason"] or "")
        if not rule["reason"] or bool(told) != (want == "violated"):
            wrong.append(f"{rule['id']} is {rule['state']}, as {rule['reason']!r}")
    return wrong


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    searched = sys.argv[2] == "1"
    figures = sys.argv[3].split(",")
    expected, traps, opaque = marked(sys.argv[4:], figures == ["none"])
    searches = {mark for mark in expected if mark[0] == "TFS601"}
    # Why not is said in words that are not checked here.
    unmeasured = {rule: "" for rule in opaque}
    if searches and not searched:
        expected = {where: mark for where, mark in expected.items() if where not in searches}
        unmeasured["TFS601"] = "search"
    wrong = findings(report, expected, traps, figures) + \
        rules(report, expected, unmeasured, figures) + quotes(report, sys.argv[4:])
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
