#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a rule says about the program that breaks it, its clean twin and its traps:
rule.py [--counts] ID SOURCES REPORTS [TRAP...], the second and third being folders.

The first has the findings that its source marks, at their lines and with their figures (marks.py),
and no others; the twins have none. Further traps have what their own sources mark, where "note" is a
finding of no more than that level, "needed" one that says so and promises no gain, "kept" one that
says so and has the gain of the one it belongs to, "unsure" one whose advice begins with a condition, "perhaps" need not be there, "less" costs clearly less than the
first program's does, and "unmeasured" is no finding and no pass. A cost that was found by replay is
borne out by the clean twin: its steps are shorter by as much as the report's interval says. Costs
are not compared with --counts, where the host's own time is real.
"""

import json
import os
import sys

import marks

# Findings about the whole program: those of the rules on what a report can vouch for. What is
# missing makes other rules unmeasurable, and may break another of its kind.
WHOLE = {"TFS403": set(), "TFS404": set(), "TFS707": set(), "TFS902": {"TFS904"}, "TFS903": set(), "TFS904": set(), "TFS905": set(),
         "TFS907": set()}
# What the host's own time decides, which is real where only counts are compared, or no cost is.
HOSTED = {"TFS302", "TFS701"}
# Programs are small, and leave most of a device idle: true, and not what they are for.
SMALL = {"TFS403"}
# What programs of a rule do besides, and truly: they give kernels the same input again by a copy, or
# their allocations fail, and come and go; or their floats need no tensor cores to be misaligned, to
# keep a device busy, or to be computed by the slower of two algorithms.
BESIDE = {"TFS103": {"TFS603"}, "TFS201": {"TFS603"}, "TFS301": {"TFS107"},
          "TFS402": {"TFS107", "TFS603"}, "TFS406": {"TFS202", "TFS401"}, "TFS408": {"TFS603"},
          "TFS409": {"TFS202", "TFS401", "TFS404", "TFS910"}, "TFS604": {"TFS603"}, "TFS610": {"TFS603"},
          "TFS910": {"TFS107"}}
# And where a device is quick, and its steps short, their pageable copies are no longer too little to
# be told.
QUICK = {"TFS105": {"TFS101"}, "TFS106": {"TFS101"}}
# What a failing call costs is what it does not do, and memory that runs out later costs nothing yet;
# on the profile slow a graph takes no time to be instantiated, nor cuBLASLt to choose; and a pause is
# no part of a step.
COSTLESS = {"TFS307", "TFS405", "TFS610", "TFS709", "TFS910"}
# Nothing to judge: a program without device work cannot miss any, and has no steps.
UNMEASURED = {"TFS903"}


def marked(source):
    return {(mark.rule, *mark.where): mark for mark in marks.read(source) if mark.kind != "trap"}


def place(finding):
    site = finding["callsite"]
    return finding["id"], os.path.basename(site["file"] or "?"), site["line"]


def state(report, rule):
    return next(line for line in report["rules"] if line["id"] == rule)


def cost_of(finding):
    return finding["cost"]["ns_per_step"] or 0


def most_recoverable(report, rule):
    return max((f for f in report["findings"] if f["id"] == rule), key=cost_of, default=None)


def check_figures(report, expected, costs):
    steps = max(report["steps"]["judged"], 1)
    wrong = [f"costs more than the step: {place(finding)}" for finding in report["findings"]
             if (finding["cost"]["high"] or 0) > (report["steps"]["written_ns"] or 0)]
    return wrong + [text for finding in report["findings"] if place(finding) in expected
                    for text in marks.wrong_figures(expected[place(finding)], finding, steps,
                                                    costs=costs)]


def check_bad(report, rule, source, costs):
    found = {place(finding) for finding in report["findings"] if finding["callsite"]["line"]}
    whole = {finding["id"] for finding in report["findings"] if not finding["callsite"]["line"]}
    expected = marked(source)
    wrong = check_figures(report, expected, costs)
    wrong += [f"missing: {mark}" for mark in sorted(set(expected) - found)]
    wrong += [f"not expected: {mark}" for mark in sorted(found - set(expected))]
    if rule in WHOLE and rule not in whole:
        wrong.append(f"no finding of {rule}")
    wrong += [f"not expected: {other}" for other in sorted(
        whole - {rule} - WHOLE.get(rule, set()) - BESIDE.get(rule, set()))]
    if state(report, rule)["state"] != "violated":
        wrong.append(f"{rule} is {state(report, rule)}")
    return wrong


def check_twin(report, rule, idle):
    wrong = [f"not expected: {place(finding)}: {finding['message']}"
             for finding in report["findings"] if not (idle and finding["id"] == "TFS905")]
    want = "not_measurable" if idle else "passed"
    if state(report, rule)["state"] != want:
        wrong.append(f"{rule} is not {want}: {state(report, rule)}")
    return wrong


def check_trap(report, rule, source, bad):
    expected = {where: mark.kind for where, mark in marked(source).items()}
    unmeasured = {mark for mark, kind in expected.items() if kind == "unmeasured"}
    expected = {mark: kind for mark, kind in expected.items() if mark not in unmeasured}
    found = {place(finding): finding for finding in report["findings"]
             if finding["callsite"]["line"] or finding["id"] == rule}
    needed = {mark for mark, kind in expected.items() if kind != "perhaps"}
    wrong = check_figures(report, marked(source), bad is not None)
    wrong += [f"missing: {mark}" for mark in sorted(needed - set(found))]
    wrong += [f"not expected: {mark}: {found[mark]['message']}"
              for mark in sorted(set(found) - set(expected))]
    wrong += [f"more than a note: {mark}" for mark, kind in sorted(expected.items())
              if kind != "expect" and mark in found and found[mark]["level"] != "note"]
    wrong += [f"not told as needed: {mark}: {found[mark]}"
              for mark, kind in sorted(expected.items()) if kind in ("needed", "kept") and
              mark in found and ((kind == "needed" and cost_of(found[mark])) or
                                 not found[mark]["advice"].startswith("Keep this "))]
    wrong += [f"advised without a condition: {mark}: {found[mark]['advice']}"
              for mark, kind in sorted(expected.items()) if kind == "unsure" and mark in found and
              not found[mark]["advice"].startswith("If ")]
    costs = [cost_of(found[mark]) / cost_of(most_recoverable(bad, rule))
             for mark, kind in expected.items() if bad and kind == "less" and mark in found]
    wrong += [f"costs {cost:.2f} of what the broken program's does" for cost in costs
              if not 0.4 <= cost <= 0.85]
    broken = any(mark[0] == rule for mark in needed | set(found))
    want = "violated" if broken else "not_measurable" if unmeasured else "passed"
    if state(report, rule)["state"] != want:
        wrong.append(f"{rule} is not {want}: {state(report, rule)}")
    return wrong


def check_cost(bad, clean, rule):
    gain = bad["steps"]["judged_median_ns"] - clean["steps"]["judged_median_ns"]
    finding = most_recoverable(bad, rule)
    if not finding or not cost_of(finding):
        return [f"no cost of {rule}"]
    low, high = finding["cost"]["low"], finding["cost"]["high"]
    if low <= gain <= high:
        return []
    return [f"the clean twin gains {gain:.0f} ns per step, not {low:.0f} to {high:.0f}"]


def load(folder, name, hidden):
    with open(f"{folder}/{name}.json", encoding="utf-8") as file:
        report = json.load(file)
    report["findings"] = [f for f in report["findings"] if f["id"] not in hidden]
    return report


def main():
    counts = sys.argv[1] == "--counts"
    if counts:
        del sys.argv[1]
    rule = "TFS" + sys.argv[1]
    names = ["bad", "clean", "trap"] + ["trap_" + trap for trap in sys.argv[4:]]
    sources = [f"{sys.argv[2]}/rule_{sys.argv[1]}_{name}.c" for name in names]
    hidden = BESIDE.get(rule, set()) | SMALL - {rule} | (HOSTED - {rule} if counts or rule in WHOLE else set())
    if counts:
        hidden |= QUICK.get(rule, set())
    reports = [load(sys.argv[3], name, hidden) for name in names]
    bad, clean, trap = reports[:3]
    wrong = [f"bad: {text}" for text in check_bad(bad, rule, sources[0], not counts)]
    wrong += [f"clean: {text}" for text in check_twin(clean, rule, False)]
    wrong += [f"trap: {text}" for text in check_twin(trap, rule, rule in UNMEASURED)]
    for name, report, source in zip(names[3:], reports[3:], sources[3:]):
        wrong += [f"{name}: {text}" for text in check_trap(report, rule, source, None if counts else bad)]
    if rule not in set(WHOLE) | COSTLESS and not counts:
        wrong += check_cost(bad, clean, rule)
    for text in wrong:
        print(text)
    for name, report in zip(names, reports):
        if wrong:
            print(f"  {name}: {report['steps']}")
    sys.exit(bool(wrong))


main()
