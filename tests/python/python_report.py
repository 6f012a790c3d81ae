# SPDX-License-Identifier: MIT
"""What is reported of python_train.py: python_report.py REPORT.json pageable|pinned."""
import json
import os
import sys

STEPS = 120
BYTES = 1 << 20
program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_train.py")
failures = 0


def check(held, what):
    global failures
    if not held:
        print("python_report.py: %s" % (what,))
        failures += 1


def line_of(mark):
    with open(program, encoding="utf-8") as file:
        return [number for number, line in enumerate(file, 1) if line.endswith("# %s\n" % mark)][0]


def check_site(findings, rule, mark, function):
    """One finding of the rule, at the marked line, called once in each step."""
    mine = [one for one in findings if one["id"] == rule]
    check(len(mine) == 1, "%d findings of %s" % (len(mine), rule))
    for one in mine:
        site = one["callsite"]
        check((os.path.basename(site["file"]), site["line"], site["function"]) ==
              ("python_train.py", line_of(mark), function), "%s is at %s" % (rule, site))
        check(one["per_step"]["count"] == 1, "%s: %s" % (rule, one["per_step"]))
        check(one["count_total"] == STEPS, "%s: %s calls" % (rule, one["count_total"]))
        callers = [frame["function"] for frame in site["stack"] if frame["file"] and
                   frame["file"].endswith("python_train.py")]
        check(callers[-2:] == ["train_step", "main"], "%s is called by %s" % (rule, callers))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    check(report["program"]["name"] == "python_train.py" and
          "python" in os.path.basename(report["program"]["interpreter"]), report["program"])
    steps = report["steps"]
    check(steps["source"] == "loops" and steps["count"] + steps["warmup"] == STEPS and
          steps["count"] >= STEPS * 3 // 4, steps)
    states = {rule["id"]: rule["state"] for rule in report["rules"]}
    if sys.argv[2] == "pageable":
        check_site(report["findings"], "TFS101", "copied here", "load")
        copy = [one for one in report["findings"] if one["id"] == "TFS101"]
        check([one["per_step"]["bytes"] for one in copy] == [BYTES], copy)
    else:
        check(states["TFS101"] == "passed", "TFS101 is %s" % states["TFS101"])
    check_site(report["findings"], "TFS201", "waits here", "train_step")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
