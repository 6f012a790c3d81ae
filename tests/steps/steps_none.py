#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What reports of runs without a training step say: steps_none.py FOLDER, which has them as JSON."""
import json
import os
import sys

ROUNDS = 12
BYTES = 1 << 20
failures = 0


def check(held, what):
    global failures
    if not held:
        print("steps_none.py: %s" % (what,))
        failures += 1


def load(way):
    with open(os.path.join(sys.argv[1], way + ".json"), encoding="utf-8") as file:
        report = json.load(file)
    check(report["steps"]["count"] == 0 and not report["verdict"]["usable"], "%s has steps" % way)
    check(report["verdict"]["text"].startswith("not judged: no training steps were found; the whole run: "),
          report["verdict"]["text"])
    return report


def rows(report, kind):
    """Of the table of one kind, call and figures of each row; of bytes and calls all is known."""
    table = [one for one in report["whole_run"] if one["kind"] == kind]
    return {row["callsite"]["call"]: row for row in table[0]["callsites"]} if table else {}


def states(report):
    return {rule["id"]: (rule["state"], rule["reason"]) for rule in report["rules"]}


def copies(report, count, way):
    row = rows(report, "bytes").get("cudaMemcpyAsync", {})
    check((row.get("calls"), row.get("amount"), row.get("share")) == (count, count * BYTES, 1),
          "%s: copies are %s" % (way, row))
    wait = rows(report, "blocked").get("cudaDeviceSynchronize", {})
    check(wait.get("calls") == ROUNDS and 0 < wait.get("share", 0) <= 1, "%s: waits are %s" % (way, wait))


def main():
    made = load("pageable")
    copies(made, ROUNDS, "pageable")
    check("cublasSgemm_v2" in rows(made, "gpu") and
          rows(made, "gpu")["cublasSgemm_v2"]["calls"] == ROUNDS, "no GPU time of products")
    check("cudaMemcpyAsync" in rows(made, "blocked"), "pageable copies are not said to block")
    found = [one for one in made["findings"] if one["id"] == "TFS101"]
    check([(one["level"], one["in_run"]["count"], one["in_run"]["bytes"], one["per_step"]["count"])
           for one in found] == [("note", ROUNDS, ROUNDS * BYTES, None)], "TFS101: %s" % found)
    check(states(made)["TFS201"][0] == "not_measurable" and
          "whether %d calls at 1 call site (" % ROUNDS in states(made)["TFS201"][1],
          "TFS201: %s" % (states(made)["TFS201"],))
    # Of stacks_first.c, which makes sure that call stacks are recorded.
    failing = [(one["callsite"]["call"], one["in_run"]["count"]) for one in made["findings"]
               if one["id"] == "TFS910"]
    check(failing == [("curandDestroyGenerator", 1)], "TFS910: %s" % failing)
    check(not [one for one in made["findings"] if one["level"] != "note"], "more than notes")

    made = load("pinned")
    copies(made, ROUNDS, "pinned")
    check("cudaMemcpyAsync" not in rows(made, "blocked"), "pinned copies are said to block")
    check(states(made)["TFS101"][0] == "passed", "pinned: %s" % (states(made)["TFS101"],))

    # One copy may be a large part of a step, or of none: it has not passed, and is a note at most.
    made = load("once")
    copies(made, 1, "once")
    check(states(made)["TFS101"][0] != "passed", "once: %s" % (states(made)["TFS101"],))
    check(not [one for one in made["findings"] if one["level"] != "note"], "more than notes of one")

    # Where calls are only counted, nothing is said but of failures.
    made = load("counted")
    copies(made, ROUNDS, "counted")
    for rule in ("TFS101", "TFS201", "TFS301", "TFS402"):
        check(states(made)[rule][0] == "not_measurable" and "only counted" in states(made)[rule][1],
              "counted: %s" % (states(made)[rule],))
    check(states(made)["TFS910"][0] == "not_measurable" and
          "curandDestroyGenerator failed 1 time in the run" in states(made)["TFS910"][1],
          "counted: %s" % (states(made)["TFS910"],))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
