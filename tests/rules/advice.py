#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What following a report's advice is worth: advice.py ID REPORT TWIN'S-REPORT, or whether two files
of numbers are the same but for rounding: advice.py near TOLERANCE FILE FILE. Of findings that have
no cost, advice.py gone ID REPORT TWIN'S-REPORT asks only whether they are gone.

The twin has no finding of the rule, nor any that the program did not have. Where the report promised
a gain, the twin's steps are shorter by no less than the interval's low end and no more than its high
one. Where a wait was needed, they are shorter, by more than was promised for what it belongs to, and
the time that the device was idle in them has gone for the larger part.
"""

import array
import json
import sys


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def step(report):
    return report["steps"]["judged_median_ns"]


def idle(report):
    return step(report) * (1 - report["steps"]["gpu_busy"])


def worth(rule, program, twin):
    gain = step(program) - step(twin)
    mine = [f for f in program["findings"] if f["id"] == rule]
    costs = [f["cost"] for f in mine if f["cost"]["ns_per_step"]]
    kept = any(f["advice"].startswith("Keep this ") for f in mine)
    if costs and not kept:
        low, high = min(c["low"] for c in costs), max(c["high"] for c in costs)
        if low <= gain <= high:
            return f"gains {gain:.0f} ns, promised {low:.0f} to {high:.0f}", []
        return "", [f"gains {gain:.0f} ns per step, not {low:.0f} to {high:.0f}"]
    if not kept:
        return f"gains {gain:.0f} ns, nothing was promised", [] if gain >= -1 else ["is slower"]
    told = f"gains {gain:.0f} ns, idle for {idle(program):.0f} ns and then {idle(twin):.0f}"
    if gain <= max((c["low"] for c in costs), default=0) or idle(twin) > idle(program) / 2:
        return "", [told]
    return told, []


def numbers(name):
    found = array.array("f")
    with open(name, "rb") as file:
        found.frombytes(file.read())
    return found


def near(tolerance, first, second):
    first, second = numbers(first), numbers(second)
    largest = max(map(abs, first))
    apart = max((abs(a - b) for a, b in zip(first, second)), default=0)
    print(f"{len(first)} numbers up to {largest:g} are up to {apart:g} apart")
    sys.exit(not len(first) == len(second) or not 0 < largest < 1e30
             or not apart <= tolerance * largest)


def main():
    if sys.argv[1] == "near":
        near(float(sys.argv[2]), *sys.argv[3:])
    gone = sys.argv[1] == "gone"
    if gone:
        del sys.argv[1]
    rule, program, twin = sys.argv[1], load(sys.argv[2]), load(sys.argv[3])
    had = {f["id"] for f in program["findings"]}
    wrong = [] if rule in had else [f"the program has no finding of {rule}"]
    wrong += [f"the twin has {f['id']} as well: {f['callsite']['call']}: {f['message']}"
              for f in twin["findings"] if f["id"] == rule or f["id"] not in had]
    state = next(line for line in twin["rules"] if line["id"] == rule)
    # Without a rewrite in shadow TFS906 has nothing to say.
    if state["state"] != "passed" and (rule, state["state"]) != ("TFS906", "not_applicable"):
        wrong.append(f"{rule} of the twin is {state['state']}: {state['reason']}")
    told, faults = ("", []) if gone else worth(rule, program, twin)
    for text in wrong + faults:
        print(f"{twin['program']['name']}: {text}")
    if told:
        print(f"{twin['program']['name']}: {told}")
    sys.exit(bool(wrong + faults))


main()
