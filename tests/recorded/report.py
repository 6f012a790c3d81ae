#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a report says of a recording that another tool made on a real GPU:
report.py TFSHIM FOLDER RECORDING.

Each expectation was written before the recording was first reported, from what its makers say of it
and from its JSON. Beside them, every call of the recording must be in the report, under its name.
"""

import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

# What such a recording cannot show is never said to have passed.
UNSEEN = ["TFS301", "TFS402", "TFS408", "TFS601", "TFS608", "TFS902", "TFS904", "TFS910"]
WITHOUT_OPERANDS = ["TFS301", "TFS402", "TFS408", "TFS601", "TFS910"]
# What the GPU is idle for, which is most of it in some.
IDLE = ("TFS302", "TFS701")
STEPLESS = list(IDLE) + ["TFS101", "TFS201", "TFS202", "TFS203", "TFS401"] + WITHOUT_OPERANDS

# steps: recorded and judged; ms: median of the judged; busy: the device's share of them; found: rule,
# place (None = any), called function, calls and bytes per step; states: of rules.
RECORDINGS = {
    "kineto-v100-resnet50-workers0": dict(
        device="Tesla V100-DGXS-32GB", program="python", steps=(6, 5), ms=176.5, busy=0.571,
        # Its loop loads a batch in the same thread, behind the optimiser's last launch.
        found=[("TFS101", "resnet50_profiler_api.py:44", "cudaMemcpyAsync", 2, 19267840),
               ("TFS701", "resnet50_profiler_api.py:44", "cudaMemcpyAsync", 1, 0)],
        states={"TFS401": "passed", "TFS202": "passed", "TFS203": "passed", "TFS903": "passed",
                "TFS302": "passed", "TFS104": "passed"},
        most_ms=6, explained=0.7, after="kineto-v100-resnet50-workers4"),
    "kineto-v100-resnet50-workers4": dict(
        device="Tesla V100-DGXS-32GB", program="python", steps=(6, 5), ms=126.3, busy=0.767,
        # 1,541 kernels but for the copies and the memsets, and 18 % of the step between them.
        found=[("TFS101", "resnet50_profiler_api.py:44", "cudaMemcpyAsync", 2, 19267840),
               ("TFS302", "resnet50_profiler_api.py:49", "cudaLaunchKernel", None, None)],
        states={"TFS401": "passed", "TFS202": "passed", "TFS203": "passed", "TFS903": "passed",
                "TFS701": "passed", "TFS104": "passed"},
        most_ms=10, explained=0.7),
    "kineto-a100-ddp-resnet": dict(
        device="NVIDIA A100-PG509-200", program="python3.10", steps=(3, 2), ms=222.4, busy=0.243,
        # Threads of PyTorch's that launch by turns; its own code is long between them as well, but
        # no batch is copied behind it.
        # 633 kernels of cuDNN's in three steps turn tensors round, for 8.9 % of the GPU's time.
        found=[("TFS302", None, "cudaLaunchKernel", None, None),
               ("TFS606", None, "cudaLaunchKernel", None, None)], most_ms=0.1, explained=0.6,
        states={"TFS701": "not_measurable", "TFS101": "passed", "TFS202": "passed", "TFS203": "passed", "TFS401": "passed"}),
    "kineto-v100-ddp-queue-full": dict(
        device="Tesla V100-SXM2-32GB", steps=(5, 4), ms=95.6, busy=0.988, found=[],
        states={"TFS302": "passed", "TFS701": "passed", "TFS104": "passed",
                "TFS101": "passed", "TFS201": "passed", "TFS202": "passed", "TFS203": "passed",
                "TFS401": "passed"}),
    "kineto-a100-alexnet-mallocs-syncs": dict(
        device="NVIDIA A100-PG509-200", program="python3.10", steps=(0, 0), found=[],
        # All copies go to the device. What else is there may belong to a step or not.
        states=dict(dict.fromkeys(STEPLESS, "not_measurable"), TFS203="passed"), copied=244403360),
    "kineto-a100-event-sync": dict(
        device="NVIDIA A100-PG509-200", program="python3.10", steps=(0, 0), found=[],
        # Nothing is copied, and nothing is freed.
        states=dict(dict.fromkeys(STEPLESS, "not_measurable"), TFS101="passed", TFS202="passed",
                    TFS203="passed")),
    # What the host does between steps is not seen of one.
    "kineto-h100-bert-small": dict(
        device="NVIDIA H100 80GB HBM3", program="python3", steps=(1, 1), ms=4.43, busy=0.070,
        found=[("TFS203", "aten::_local_scalar_dense", "cudaMemcpyAsync", 1, 1),
               ("TFS302", None, "cuLaunchKernel", 60, 0),
               ("TFS608", None, "cudaDeviceGetAttribute", None, None)], explained=0.7,
        states={"TFS101": "passed", "TFS401": "passed", "TFS202": "passed", "TFS701": "not_measurable"}),
    "kineto-h100-vit": dict(
        device="NVIDIA H100 80GB HBM3", program="python3", steps=(1, 1), ms=7.89, busy=0.155,
        found=[("TFS302", None, "cuLaunchKernel", 156, 0),
               ("TFS608", None, "cudaDeviceGetAttribute", None, None)], explained=0.9,
        states={"TFS701": "not_measurable", "TFS101": "passed", "TFS202": "passed", "TFS203": "passed", "TFS401": "passed"}),
}
WORK = ("Kernel", "Memcpy", "Memset", "kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("Runtime", "cuda_runtime", "cuda_driver")


def place(site):
    if site["line"]:
        return "%s:%d" % (os.path.basename(site["file"]), site["line"])
    return site["function"]


def close(one, other, share):
    return one is not None and abs(one - other) <= share * abs(other)


def steps_wrong(said, expected):
    count, judged = expected["steps"]
    if (said["count"], said["judged"]) != (count - (count > 2), judged):
        yield "%s steps and %s judged, not %d and %d" % (
            said["count"], said["judged"], count - (count > 2), judged)
    if judged and said["source"] != "nvtx":
        yield "steps are of %s" % said["source"]
    if judged and not close(said["judged_median_ns"], expected["ms"] * 1e6, 0.01):
        yield "the median step is %s ns, not %s ms" % (said["judged_median_ns"], expected["ms"])
    if judged and abs((said["gpu_busy"] or 0) - expected["busy"]) > 0.02:
        yield "the device is busy for %s, not %s" % (said["gpu_busy"], expected["busy"])


def findings_wrong(findings, expected):
    for rule, where, function, count, size in expected["found"]:
        same = [one for one in findings if one["id"] == rule and
                one["callsite"]["call"] == function and where in (None, place(one["callsite"]))]
        if not same:
            yield "no %s of %s at %s; there are %s" % (rule, function, where, [
                (one["id"], one["callsite"]["call"], place(one["callsite"])) for one in findings])
        for one in same:
            if count and (one["per_step"]["count"], one["per_step"]["bytes"]) != (count, size):
                yield "%s %s per step, not %d and %d bytes" % (rule, one["per_step"], count, size)
    for one in findings:
        if one["id"] not in IDLE and one["cost"]["ns_per_step"] and "most_ms" in expected and \
                one["cost"]["ns_per_step"] > expected["most_ms"] * 1e6:
            yield "%s is to save %s ns, more than %s ms" % (
                one["id"], one["cost"]["ns_per_step"], expected["most_ms"])


def calls_wrong(report, recording, expected):
    said = collections.Counter()
    for call in report["calls"]:
        said[call["callsite"]["call"]] += call["count"]
    there = collections.Counter(
        event["name"] for event in recording["traceEvents"] if event.get("cat") in CALLS)
    for name in said.keys() | there.keys():
        if said[name] != there[name]:
            yield "%d calls of %s, not %d" % (said[name], name, there[name])
    copied = sum(call["bytes"] for call in report["calls"]
                 if call["callsite"]["call"] == "cudaMemcpyAsync")
    if "copied" in expected and copied != expected["copied"]:
        yield "%d bytes copied, not %d" % (copied, expected["copied"])
    print("%d calls of %d functions compared" % (sum(there.values()), len(there)))


def run_sum(report, kind, call=None):
    """What the table of the whole run has in one regard, of all calls or of one function."""
    for table in report["whole_run"]:
        if table["kind"] == kind:
            rows = sum(row["amount"] for row in table["callsites"]
                       if call in (None, row["callsite"]["call"]))
            return rows + (0 if call else table["more_amount"] + table["unrecorded_amount"])
    return 0


def run_wrong(report, recording, expected):
    """Where no step is judged, the run is summed up: GPU time and the time in calls that block,
    whatever their operands."""
    if expected["steps"][1]:
        if report["whole_run"]:
            yield "steps are judged, and the run is listed as well"
        return
    long_ns = collections.Counter()
    for event in recording["traceEvents"]:
        if event.get("cat") in CALLS or event.get("cat") in WORK:
            long_ns[event["name"] if event["cat"] in CALLS else "gpu"] += event["dur"] * 1000
    for name in ("cudaFree", "cudaMalloc", "cudaDeviceSynchronize"):
        said = run_sum(report, "blocked", name)
        if abs(said - long_ns[name]) > 1000 + long_ns[name] / 1000:
            yield "%s takes %s ns of the run, not %s" % (name, said, long_ns[name])
    said = run_sum(report, "gpu")
    if not close(said, long_ns["gpu"], 0.001) or not said:
        yield "the GPU takes %s ns of the run, not %s" % (said, long_ns["gpu"])
    if run_sum(report, "bytes", "cudaMemcpyAsync") != expected.get("copied", 0):
        yield "%s bytes copied in the run" % run_sum(report, "bytes", "cudaMemcpyAsync")
    if "not judged: no training steps were found; the whole run: " not in report["verdict"]["text"]:
        yield "the verdict is %s" % report["verdict"]["text"]


def idle_ns(report):
    return report["steps"]["judged_median_ns"] * (1 - report["steps"]["gpu_busy"])


def idle_wrong(report, explained):
    """All idle time is owned: what findings explain and the largest of the rest are parts of it."""
    idle = report["idle"]
    if not report["steps"]["judged"]:
        if idle["ns_per_step"] is not None or idle["rest"]:
            yield "no step is judged, and idle time is told: %s" % idle
        return
    if idle["explained"] < explained:
        yield "findings explain %s of the idle time" % idle["explained"]
    listed = [item["ns_per_step"] for item in idle["rest"]]
    # The mean step is not the median one.
    if abs(idle["ns_per_step"] - idle_ns(report)) > 0.05 * idle["ns_per_step"] + \
            0.002 * report["steps"]["judged_median_ns"]:
        yield "%s ns idle, not %s" % (idle["ns_per_step"], idle_ns(report))
    if sum(listed) > idle["ns_per_step"] * (1.001 - idle["explained"]) or \
            listed != sorted(listed, reverse=True) or len(listed) > 3:
        yield "the rest of the idle time is %s" % idle


def pair_wrong(report, after):
    """Loader processes took the loading off the training thread: as much idle time of the device as
    went away, within 20 %, is what a step became shorter by; and TFS701 promised as much."""
    loading = next(one["cost"] for one in report["findings"] if one["id"] == "TFS701")
    gained = report["steps"]["judged_median_ns"] - after["steps"]["judged_median_ns"]
    if not close(loading["ns_per_step"], gained, 0.2) or not \
            loading["low"] <= gained <= loading["high"]:
        yield "%s was promised, and %s ns gained" % (loading, gained)
    gone = idle_ns(report) - idle_ns(after)
    print("%.1f ms of idle time gone, %.1f ms gained" % (gone / 1e6, gained / 1e6))
    if not close(gone, gained, 0.2):
        yield "%s ns of idle time went away, and %s ns of the step" % (gone, gained)


def wrong(report, recording, expected):
    states = {rule["id"]: rule["state"] for rule in report["rules"]}
    yield from steps_wrong(report["steps"], expected)
    yield from findings_wrong(report["findings"], expected)
    yield from calls_wrong(report, recording, expected)
    yield from run_wrong(report, recording, expected)
    yield from idle_wrong(report, expected.get("explained", 0))
    for rule, state in expected["states"].items():
        if states[rule] != state:
            yield "%s is %s, not %s" % (rule, states[rule], state)
    for rule in UNSEEN:
        if states[rule] == "passed" or (rule in WITHOUT_OPERANDS and states[rule] != "not_measurable"):
            yield "%s is %s, which cannot be seen here" % (rule, states[rule])
    if report["device"]["name"] != expected["device"] or report["device"]["simulated"]:
        yield "the device is %s" % report["device"]
    if report["program"]["name"] != expected.get("program", report["program"]["name"]):
        yield "the program is %s" % report["program"]["name"]
    measured = {fact["key"]: fact["text"] for fact in report["measured"]}
    if "recorded by" not in measured or "version" in measured:
        yield "it is not said who recorded it: %s" % measured
    if "exit" in measured["ended"]:
        yield "it is said to have ended: %s" % measured["ended"]


def reported(tfshim, path):
    with tempfile.TemporaryDirectory() as room:
        out = os.path.join(room, "report.json")
        done = subprocess.run([tfshim, "report", "--format", "json", "-o", out, path],
                              capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            sys.exit("report.py: ended with %d: %s" % (done.returncode, done.stderr))
        with open(out, encoding="utf-8") as file:
            return json.load(file)


def main():
    tfshim, folder, name = sys.argv[1:]
    path = os.path.join(folder, name + ".json.gz")
    if not os.path.exists(path):
        print("skipped: no recordings of real GPUs here")
        return 77
    made = reported(tfshim, path)
    with gzip.open(path) as file:
        found = list(wrong(made, json.load(file), RECORDINGS[name]))
    if "after" in RECORDINGS[name]:
        after = os.path.join(folder, RECORDINGS[name]["after"] + ".json.gz")
        found += pair_wrong(made, reported(tfshim, after))
    for line in found:
        print("report.py: %s: %s" % (name, line))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
