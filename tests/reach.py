#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which tests run a line: for mutants.py, which asks only those about a mutant of it.

Every test of the default suite runs once in a build with -Db_coverage=true, with a folder of its own
for the counts; again when something that it is made of has become newer.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading

import summary

ASKED = {"sim", "shim", "unit", "reports", "trainers"}
NOT_ASKED = {"long", "slice"}
PASSED = (0, 77)
LONGEST = 600  # seconds of a free processor; a test that takes more is not asked
AT_ONCE = 500  # files that one gcov reads


def suites(test):
    return {suite.partition(":")[2] or suite for suite in test["suite"]}


def default_tests(build):
    """By their names."""
    return {test["name"]: test for test in summary.introspect(str(build), "tests")
            if suites(test) & ASKED and not suites(test) & NOT_ASKED}


def end_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def end_failed(process):
    """A script says at once what failed, and goes on for long."""
    for line in process.stdout:
        if line.startswith(b"FAILED"):
            end_group(process.pid)


def passes(test, build, limit, **more):
    """Runs one as meson does, and ends what it leaves behind. Whether it passed within `limit`
    seconds, more of them the more the machine has to do, and the processors' time that it took."""
    variables = {**os.environ, "MALLOC_PERTURB_": "97", **test["env"], **more}
    limit *= max(1, os.getloadavg()[0] / os.cpu_count())
    process = subprocess.Popen(test["cmd"], cwd=test["workdir"] or build, env=variables,
                               start_new_session=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    reader = threading.Thread(target=end_failed, args=[process])
    reader.start()
    late = threading.Timer(limit, end_group, [process.pid])
    late.start()
    _, status, used = os.wait4(process.pid, 0)
    late.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    end_group(process.pid)
    reader.join()
    process.stdout.close()
    return process.returncode in PASSED, used.ru_utime + used.ru_stime


class Reach:
    """`seconds` has the processors' time that each test took, `failed` those that do not pass with counters, or
    not soon enough."""

    def __init__(self, root, work, jobs):
        self.root, self.jobs = root, jobs
        # Counts lie under the names that the compiler saw.
        self.build, self.records = (work / "coverage").resolve(), work / "reach"
        self.records.mkdir(exist_ok=True)
        if not (self.build / "build.ninja").exists():
            subprocess.run(["meson", "setup", "-Dbuildtype=debug", "-Db_coverage=true",
                            str(self.build), str(root)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ninja", "-C", str(self.build), f"-j{jobs}"], check=True,
                       stdout=subprocess.DEVNULL)
        self.tests = default_tests(self.build)
        self.files = summary.by_file(summary.introspect(str(self.build), "targets"))
        self.objects = collections.defaultdict(list)
        for one in json.loads((self.build / "compile_commands.json").read_text()):
            source = os.path.normpath(os.path.join(one["directory"], one["file"]))
            notes = (self.build / one["output"]).with_suffix(".gcno")
            self.objects[os.path.relpath(source, root)].append(notes)
        self.seconds, self.failed = {}, set()
        self.measure()

    def newest(self, test):
        """The time of the newest file that a test runs."""
        names = [self.build / name for name in summary.needed(test, self.files, str(self.build))]
        names += [self.build / word for word in test["cmd"] if "\n" not in word and len(word) < 999]
        return max(name.stat().st_mtime for name in names if name.is_file())

    def measure(self):
        old = []
        for name, test in self.tests.items():
            record = self.records / name / "record.json"
            if not record.exists() or record.stat().st_mtime < self.newest(test):
                old.append(name)
        if old:
            print(f"running {len(old)} tests with counters", flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(self.count, old))
        for name in self.tests:
            passed, seconds = json.loads((self.records / name / "record.json").read_text())
            self.seconds[name] = seconds
            if not passed:
                self.failed.add(name)

    def count(self, name):
        folder = self.records / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        end = passes(self.tests[name], self.build, LONGEST, GCOV_PREFIX=str(folder))
        (folder / "record.json").write_text(json.dumps(end))

    def counts(self, source):
        """What gcov says of the file: (test, report) for each object of it in each test."""
        found = {}
        for name in self.tests:
            for notes in self.objects[source]:
                data = pathlib.Path(f"{self.records / name}{notes.with_suffix('.gcda')}")
                if data.exists():
                    beside = data.with_suffix(".gcno")
                    if not beside.exists():
                        beside.symlink_to(notes)
                    found[str(data)] = name
        names = list(found)
        for at in range(0, len(names), AT_ONCE):
            out = subprocess.run(["gcov", "--json-format", "--stdout", *names[at:at + AT_ONCE]],
                                 cwd=self.build, check=False, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL).stdout
            for line in out.splitlines():
                report = json.loads(line)
                for file in report["files"]:
                    path = os.path.join(report["current_working_directory"], file["file"])
                    if os.path.relpath(os.path.normpath(path), self.root) == source:
                        yield found[report["data_file"]], file

    def tests_of(self, source):
        """A function from a line of the file to the names of the tests that run it; to None from one
        outside of functions, which nothing runs."""
        ran = collections.defaultdict(set)
        functions, everyone = {}, set()
        for name, file in self.counts(source):
            for function in file["functions"]:
                functions[function["start_line"]] = function["end_line"]
            for entry in file["lines"]:
                ran[entry["line_number"]].update({name} if entry["count"] else ())
                if entry["count"]:
                    everyone.add(name)

        def look_up(line):
            """A line without code belongs to the one before it in its function. What no test seems
            to run belongs to all that run the file, for it may be run by a process whose counts are
            lost, as it calls _exit() or exec()."""
            for start, end in functions.items():
                if start <= line <= end:
                    before = [at for at in ran if start <= at <= line]
                    return ran[max(before, default=start)] or everyone
            return None

        return look_up
