#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nothing is installed without a stated use, and all that is stated is installed.

    installed.py BUILD LIST     status 1 with each difference
"""
import json
import sys

build, stated = sys.argv[1:]
with open(stated, encoding="utf-8") as lines:
    rows = [line.rstrip("\n").split("|") for line in lines if line.strip() and line[0] != "#"]
uses = {row[0]: row[1].strip() if len(row) == 2 else "" for row in rows}
with open(f"{build}/meson-info/intro-install_plan.json", encoding="utf-8") as listing:
    plan = json.load(listing)
installed = {item["destination"] for kind in plan.values() for item in kind.values()}

faults = [f"{name} is installed, and nothing says what for" for name in installed - set(uses)]
faults += [f"{name} is stated, but not installed" for name in set(uses) - installed]
faults += [f"{name} has no stated use" for name, use in uses.items() if not use]
if len(uses) != len(rows):
    faults.append("a file is stated twice")
print("\n".join(sorted(faults)) or f"{len(installed)} installed files")
sys.exit(1 if faults else 0)
