#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of meson's tests by filter, and the closing summary of a run of them."""

import json
import subprocess
import sys

TAIL = 60
PASSED = ("OK", "EXPECTEDFAIL")


def names(word, with_long):
    listing = subprocess.run(["meson", "introspect", "build", "--tests"], check=True,
                             stdout=subprocess.PIPE).stdout
    for test in json.loads(listing):
        suites = [suite.partition(":")[2] or suite for suite in test["suite"]]
        if "long" in suites and not with_long:
            continue
        if any(word in text for text in [test["name"], *suites]):
            print(test["name"])


def last_line(test):
    for stream in ("stdout", "stderr"):
        lines = [line.strip() for line in test.get(stream, "").splitlines() if line.strip()]
        if lines:
            return lines[-1]
    return "no reason given"


def results(path):
    passed, skipped, failed = [], [], []
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            test = json.loads(line)
            kind = passed if test["result"] in PASSED else failed
            (skipped if test["result"] == "SKIP" else kind).append(test)
    for test in skipped:
        print(f"skipped {test['name']}: {last_line(test)}")
    for test in failed:
        print(f"\nFAILED {test['name']}: {test['result'].lower()},"
              f" status {test['returncode']}, {test['duration']:.1f} s")
        print("  " + " ".join(test["command"]))
        for stream in ("stdout", "stderr"):
            lines = test.get(stream, "").splitlines()
            if len(lines) > TAIL:
                print(f"  {stream}: the last {TAIL} of {len(lines)} lines")
            for text in lines[-TAIL:]:
                print("  | " + text)
    print(f"\n{len(passed)} passed, {len(failed)} failed"
          + (f", {len(skipped)} skipped" if skipped else ""))
    return 1 if failed else 0


if sys.argv[1] == "names":
    names(sys.argv[2], len(sys.argv) > 3)
else:
    sys.exit(results(sys.argv[2]))
