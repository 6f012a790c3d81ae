# SPDX-License-Identifier: MIT
"""What is reported of torch_train.py: torch_report.py REPORT.json. No number that depends on kernels."""
import json
import os
import sys

from torch_train import STEPS, __file__ as program

failures = 0


def check(held, what):
    global failures
    if not held:
        print("torch_report.py: %s" % (what,))
        failures += 1


def line_of(mark):
    with open(program, encoding="utf-8") as file:
        return [number for number, line in enumerate(file, 1) if line.endswith("# %s\n" % mark)][0]


def check_waits(findings):
    """The waits of each step are the script's lines; no finding of theirs is anywhere else."""
    waits = {}
    for one in findings:
        if one["id"] in ("TFS201", "TFS203"):
            site = one["callsite"]
            waits.setdefault((os.path.basename(site["file"] or ""), site["line"], site["function"]), one)
    lines = {("torch_train.py", line_of(mark), "train_step") for mark in ("images", "labels", "waits here")}
    check(set(waits) == lines, "waits at %s" % sorted(waits))
    for one in waits.values():
        names = [frame["function"] for frame in one["callsite"]["stack"] if frame["file"]]
        check(names[-3:] == ["train_step", "train", "main"], "called by %s" % names)
        check(one["per_step"]["count"] == 1 and one["count_total"] == STEPS, one["per_step"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    check(report["program"]["name"] == "torch_train.py" and
          "python" in os.path.basename(report["program"]["interpreter"]), report["program"])
    steps = report["steps"]
    check(steps["source"] == "loops" and steps["count"] + steps["warmup"] == STEPS and
          steps["count"] >= STEPS // 3, steps)
    check_waits(report["findings"])
    backward = [one["callsite"] for one in report["calls"] if one["callsite"]["function"] == "backward"]
    check(backward and not any(one["file"] for one in backward), "backward: %s" % backward)
    # What kernels do with their memory cannot be seen.
    for rule in report["rules"]:
        if rule["id"] in ("TFS301", "TFS402"):
            check(rule["state"] == "not_measurable", "%s is %s" % (rule["id"], rule["state"]))
    check(not any(report["losses"].values()), report["losses"])
    print("%d findings" % len(report["findings"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
