#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines that the tests of a build with -Db_coverage=true have run.

    coverage.py tests BUILD                    the tests to run: of units, of the command, of rules
    coverage.py lines BUILD SOURCE NAME=FLOOR...   lines per folder; status 1 when one is below
                                               its floor in percent
"""

import json
import os
import subprocess
import sys

AT_ONCE = 100


def tests(build):
    with open(f"{build}/meson-info/intro-tests.json", encoding="utf-8") as listing:
        for test in json.load(listing):
            suites = {suite.rpartition(":")[2] for suite in test["suite"]}
            name = test["name"]
            # Races are looked for by a sanitizer, not by lines.
            if suites & {"long", "slice"} or name.startswith("races-"):
                continue
            if suites & {"unit", "reports"} or name.startswith("rule-"):
                yield name


def notes(build):
    """What the compiler wrote about each object, whether it ever ran or not."""
    for folder, _, files in os.walk(build):
        for name in files:
            if name.endswith(".gcno"):
                yield os.path.join(folder, name)


def measure(build, source, folders):
    """For each source file, whether each of its lines ran, in any of the objects made of it."""
    ran = {}
    found = sorted(notes(build))
    for i in range(0, len(found), AT_ONCE):
        out = subprocess.run(["gcov", "--json-format", "--stdout", *found[i:i + AT_ONCE]],
                             cwd=build, check=True, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL).stdout
        for line in out.splitlines():
            report = json.loads(line)
            for file in report["files"]:
                path = os.path.join(report["current_working_directory"], file["file"])
                path = os.path.relpath(os.path.normpath(path), source)
                if path.split(os.sep)[0] not in folders:
                    continue
                lines = ran.setdefault(path, {})
                for entry in file["lines"]:
                    number = entry["line_number"]
                    lines[number] = lines.get(number, False) or entry["count"] > 0
    return ran, len(found)


def share(files):
    lines = sum(len(lines) for lines in files)
    return sum(sum(lines.values()) for lines in files), lines


def say(name, files, floor=None):
    ran, lines = share(files)
    percent = 100 * ran / lines if lines else 0
    low = floor is not None and percent < floor
    print(f"{name:28} {ran:6} of {lines:6} lines {percent:6.1f} %"
          + ("" if floor is None else f"   floor {floor} %") + ("   BELOW" if low else ""))
    return low


def lines(build, source, floors):
    ran, objects = measure(build, source, floors)
    below = 0
    for folder, floor in floors.items():
        inside = {path: found for path, found in ran.items() if path.startswith(folder + os.sep)}
        below += say(folder, inside.values(), floor)
        rooms = {}
        for path, found in inside.items():
            rooms.setdefault(os.path.dirname(path), []).append(found)
        for room in sorted(rooms):
            say("  " + room, rooms[room])
    print(f"{len(ran)} files, {objects} objects")
    return 1 if below or not ran else 0


def main(command, build, *rest):
    if command == "tests":
        print("\n".join(tests(build)))
        return 0
    source, *floors = rest
    floors = {name: float(floor) for name, _, floor in (word.partition("=") for word in floors)}
    return lines(os.path.abspath(build), os.path.abspath(source), floors)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
