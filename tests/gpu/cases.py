#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the tests that also run on hardware, one a line, from a build folder:
cases.py BUILD SOURCE. Columns, with tabs: name, time limit, whether it may run beside others
("beside") or not ("alone"), settings, then the command, in which @BUILD@, @SOURCE@ and @LIBRARIES@
stand for folders. What says most in a short time comes first."""
import json
import os
import sys

build, source = (os.path.realpath(folder) for folder in sys.argv[1:3])
# Settings that only the simulated device has, and tests of what is no program's behaviour.
simulated_only = {"TFSIM_PROFILE", "TFSIM_HOSTILE", "TFSIM_NAIVE", "TFSIM_CUPTI", "TFSIM_COHERENT"}
no_cases = ("names-", "gpu-", "exports", "cupti_same", "sim_poison", "sim_timeline", "sim_unsupported",
            "stubs_counted", "style", "headers", "mutants", "aarch64", "hooks_", "dlsym_jumps", "driver-asked")
# What the device itself promises comes first; whole programs, many times, last.
order = ("sim_", "lib_", "cupti", "activity", "driver", "nvtx", "shim", "inject", "host", "steps", "expect",
         "rule", "stable", "rewrite")


def place(word):
    path = word if os.path.isabs(word) else os.path.join(build, word)
    if word.startswith("-") or "/" not in word or not os.path.exists(path):
        return word
    path = os.path.normpath(path)
    if path == os.path.join(build, "tests/sim"):
        return "@LIBRARIES@"
    for folder, name in ((build, "@BUILD@"), (source, "@SOURCE@")):
        if path == folder or path.startswith(folder + "/"):
            return name + path[len(folder):]
    return word


def places(word):
    return ",".join(place(part) for part in word.split(",")) if "," in word else place(word)


with open(os.path.join(build, "meson-info/intro-tests.json"), encoding="utf-8") as file:
    tests = json.load(file)
rows = []
for test in tests:
    suites = {suite.split(":")[-1] for suite in test["suite"]}
    settings = {key: value for key, value in test["env"].items() if key != "LD_LIBRARY_PATH"}
    if "long" in suites or not suites & {"sim", "shim"} or simulated_only & set(settings):
        continue
    if test["name"].startswith(no_cases) or test["name"].endswith(("-renamed", "-a100", "-h100")):
        continue
    if any("\n" in word or "\t" in word for word in test["cmd"]):
        continue
    rank = next((i for i, prefix in enumerate(order) if test["name"].startswith(prefix)), len(order))
    text = " ".join(f"{key}={places(value)}" for key, value in settings.items())
    command = [places(word) for word in test["cmd"]]
    if os.path.basename(command[0]) in ("sh", "bash"):
        command[0] = "sh"
    rows.append((rank, test["name"], "\t".join(
        [test["name"], str(test["timeout"]), "beside" if test["is_parallel"] else "alone", text] + command)))
for row in sorted(rows):
    print(row[2])
