#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares a report with the marks of the program's sources: expect.py REPORT SEARCHED SOURCE...

"expect: ID..." in a comment names the findings of its line, "trap: ID..." those that must have
the line nowhere in their stacks, "unmeasured: ID..." those that cannot be told to be there or not. SEARCHED is 1 where a search of convolution algorithms was made;
TFS601 cannot be measured without one, and its marks do not count then. What is not a finding of
a line must not be there at all.
"""

import json
import os
import re
import sys

MARK = re.compile(r"/\*\s*(expect|trap|unmeasured):\s*((?:TFS\d+\s*)+)\*/")


def marks(sources):
    found = {"expect": set(), "trap": set(), "unmeasured": set()}
    for source in sources:
        with open(source, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                for kind, ids in MARK.findall(line):
                    found[kind] |= {(i, os.path.basename(source), number) for i in ids.split()}
    return found["expect"], found["trap"], {mark[0] for mark in found["unmeasured"]}


def place(frame):
    return os.path.basename(frame["file"] or "?"), frame["line"]


def text(mark):
    return "{0} at {1}:{2}".format(*mark)


def findings(report, expected, traps):
    wrong, seen = [], set()
    for finding in report["findings"]:
        here = (finding["id"], *place(finding["callsite"]))
        if finding["callsite"]["line"] is None:
            wrong.append(f"not of any line: {finding['id']}: {finding['message']}")
        elif here not in expected:
            wrong.append(f"not expected: {text(here)}: {finding['message']}")
        if here in seen:
            wrong.append(f"twice: {text(here)}")
        seen.add(here)
        for frame in finding["callsite"]["stack"]:
            if (finding["id"], *place(frame)) in traps:
                wrong.append(f"trapped: {text((finding['id'], *place(frame)))}")
    return wrong + [f"missing: {text(mark)}" for mark in sorted(expected - seen)]


def rules(report, expected, unmeasured):
    wrong, broken = [], {mark[0] for mark in expected}
    for rule in report["rules"]:
        want = "violated" if rule["id"] in broken else "passed"
        if rule["id"] in unmeasured:
            want = "not_measurable"
            if unmeasured[rule["id"]] not in rule["reason"]:
                wrong.append(f"{rule['id']} does not say what is missing: {rule['reason']}")
        if rule["state"] != want:
            wrong.append(f"{rule['id']} is {rule['state']}, not {want}: {rule['reason']}")
        told = re.fullmatch(r"\d+ findings?", rule["reason"] or "")
        if not rule["reason"] or bool(told) != (want == "violated"):
            wrong.append(f"{rule['id']} is {rule['state']}, as {rule['reason']!r}")
    return wrong


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    searched = sys.argv[2] == "1"
    expected, traps, opaque = marks(sys.argv[3:])
    searches = {mark for mark in expected if mark[0] == "TFS601"}
    # Why not is said in words that are not checked here.
    unmeasured = {rule: "" for rule in opaque}
    if searches and not searched:
        expected -= searches
        unmeasured["TFS601"] = "search"
    wrong = findings(report, expected, traps) + rules(report, expected, unmeasured)
    if report["steps"]["judged"] < 20 or not report["verdict"]["usable"]:
        wrong.append(f"too little was judged: {report['steps']}, {report['verdict']}")
    if not report["device"]["name"]:
        wrong.append("the report does not know the device")
    for line in wrong:
        print(line)
    sys.exit(bool(wrong))


main()
