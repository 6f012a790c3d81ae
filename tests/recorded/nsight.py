#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a report says of a recording that Nsight Systems made on real GPUs, exported as SQLite:
nsight.py TFSHIM FOLDER RECORDING.

The expectation was written before the recording was first reported, from what SQL says of its
tables. The recording is of one second in two processes, cut out of a longer one: the work of half of
the launches comes after its end, and nothing marks a step.
"""

import collections
import gzip
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import report as kineto

PROCESSES = {
    111: dict(first=155357525002, last=156326972607),
    112: dict(first=155357602221, last=156326860799),
}
EXPECTED = dict(
    calls={"cudaLaunchKernel": 1394, "cudaMemcpyAsync": 457, "cudaLaunchKernelExC": 279,
           "cudaStreamIsCapturing": 236, "cudaStreamWaitEvent": 118, "cudaEventRecordWithFlags": 118,
           "cudaEventDestroy": 118, "cudaEventCreateWithFlags": 118, "cudaMemsetAsync": 56,
           "cudaStreamSynchronize": 4},
    # Of copies whose call is in the recording.
    copied=28811773481,
    waits={"aten::_local_scalar_dense": 2, "aten::copy_": 2},
    # Of 1673 launches, the first 816 have their kernel; then it was stopped. No memory is allocated or
    # freed, and what is copied to the host goes to pinned memory.
    states=dict(dict.fromkeys(kineto.STEPLESS, "not_measurable"), TFS202="passed",
                TFS401="passed", TFS903="passed", TFS902="not_measurable", TFS904="not_measurable",
                TFS905="violated"))
# Who exported it and from where, which no report needs.
UNASKED = ["rich-wsl", "DESKTOP-KBEMEQS", "FastVideo", "perf_h100"]


def tfshim_says(tfshim, *arguments):
    done = subprocess.run([tfshim, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.splitlines()


def choice_wrong(tfshim, path):
    """Two processes give no report, but one line that names both as they can be asked for."""
    for command in ("report", "check"):
        status, lines = tfshim_says(tfshim, command, path)
        if status != 3 or len(lines) != 1:
            yield "%s of both processes ends with %d and says %s" % (command, status, lines)
        for pid in PROCESSES:
            if not lines or "%s:%d" % (path, pid) not in lines[0] or "python3" not in lines[0]:
                yield "%s does not name process %d: %s" % (command, pid, lines)


def counted(tables, pid):
    """Calls of a process by name, without the version that CUPTI puts behind it."""
    rows = tables.execute(
        "select value, count(*) from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on id = nameId "
        "where globalTid >> 24 & 0xffffff = ? group by 1", (pid,))
    return {re.sub(r"_v\d{4,}$", "", name): count for name, count in rows}


def work_ns(tables, pid):
    """The GPU's time for a process, whether or not the call is in the recording."""
    rows = [tables.execute(
        "select sum(end - start) from CUPTI_ACTIVITY_KIND_%s where globalPid >> 24 & 0xffffff = ?" % kind,
        (pid,)).fetchone()[0] or 0 for kind in ("KERNEL", "MEMCPY", "MEMSET")]
    return sum(rows)


def run_wrong(made, tables, pid):
    """Nothing marks a step: the run is summed up."""
    waited = tables.execute(
        "select sum(end - start) from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on id = nameId "
        "where globalTid >> 24 & 0xffffff = ? and value like 'cudaStreamSynchronize%'", (pid,)).fetchone()[0]
    said = kineto.run_sum(made, "blocked", "cudaStreamSynchronize")
    if not kineto.close(said, waited, 1e-6):
        yield "the host waits for %s ns of the run, not %d" % (said, waited)
    first = made["whole_run"][0]["callsites"][0]
    if (first["callsite"]["function"], first["callsite"]["call"]) != (
            "aten::_local_scalar_dense", "cudaStreamSynchronize") or not 0.4 < first["share"] < 0.5:
        yield "the most expensive is %s" % first
    said = kineto.run_sum(made, "gpu")
    if not kineto.close(said, work_ns(tables, pid), 1e-6):
        yield "the GPU takes %s ns of the run, not %d" % (said, work_ns(tables, pid))
    if kineto.run_sum(made, "bytes", "cudaMemcpyAsync") != EXPECTED["copied"]:
        yield "%s bytes copied in the run" % kineto.run_sum(made, "bytes", "cudaMemcpyAsync")


def wrong(made, tables, pid):
    yield from run_wrong(made, tables, pid)
    said, waits, copied = collections.Counter(), collections.Counter(), 0
    for call in made["calls"]:
        site = call["callsite"]
        said[site["call"]] += call["count"]
        if site["call"] == "cudaStreamSynchronize":
            waits[site["function"]] += call["count"]
        if site["call"] == "cudaMemcpyAsync":
            copied += call["bytes"]
    for name, one in (("the recording", counted(tables, pid)), ("the report", dict(said))):
        if one != EXPECTED["calls"]:
            yield "calls in %s: %s" % (name, one)
    if dict(waits) != EXPECTED["waits"]:
        yield "waits: %s" % waits
    if copied != EXPECTED["copied"]:
        yield "%d bytes copied, not %d" % (copied, EXPECTED["copied"])
    states = {rule["id"]: rule["state"] for rule in made["rules"]}
    waits = {rule["id"]: rule["reason"] for rule in made["rules"]}["TFS201"]
    if "4 calls at 3 call sites (428 ms, 44 % of the recorded run)" not in waits and pid == 111:
        yield "TFS201 says %s" % waits
    for rule, state in EXPECTED["states"].items():
        if states[rule] != state:
            yield "%s is %s, not %s" % (rule, states[rule], state)
    program = made["program"]
    if (program["name"], program["pid"]) != ("python3", pid):
        yield "the program is %s" % program
    long_ns = PROCESSES[pid]["last"] - PROCESSES[pid]["first"]
    if abs(program["duration_ns"] - long_ns) > 1000:
        yield "it took %s ns, not %d" % (program["duration_ns"], long_ns)
    if program["started"] != "2026-05-24T13:42:15Z":
        yield "it started at %s" % program["started"]
    if made["device"]["simulated"] or made["steps"]["count"] or made["losses"]:
        yield "device %s, steps %s, losses %s" % (made["device"], made["steps"], made["losses"])
    measured = {fact["key"]: fact["text"] for fact in made["measured"]}
    if "Nsight Systems" not in measured.get("recorded by", ""):
        yield "it is not said who recorded it"
    if "exit" in measured["ended"]:
        yield "it is said to have ended: %s" % measured["ended"]
    if not made["device"]["name"]:
        yield "no device is said to be seen"


def main():
    tfshim, folder, name = sys.argv[1:]
    packed = os.path.join(folder, name + ".sqlite.gz")
    if not os.path.exists(packed):
        print("skipped: no recordings of real GPUs here")
        return 77
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "two.sqlite")
        with gzip.open(packed) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target)
        tables = sqlite3.connect("file:%s?mode=ro&immutable=1" % path, uri=True)
        found = list(choice_wrong(tfshim, path))
        for pid in PROCESSES:
            found += wrong(kineto.reported(tfshim, "%s:%d" % (path, pid)), tables, pid)
            if tfshim_says(tfshim, "report", "--quiet", "%s:%d" % (path, pid))[0]:
                found.append("no reports of %d" % pid)
        made = [one for one in os.listdir(room) if one != "two.sqlite"]
        for one in made:
            with open(os.path.join(room, one), encoding="utf-8") as file:
                text = file.read()
            found += ["%s is in %s" % (word, one) for word in UNASKED if word in text]
    print("%d processes compared, %d reports searched" % (len(PROCESSES), len(made)))
    for line in found:
        print("nsight.py: %s" % line)
    return 1 if found or len(made) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
