# SPDX-License-Identifier: MIT
"""Traces of PyTorch's profiler for imported.sh, and what reports say of them.
imported.py make: writes them here. imported.py compare REPORT NAME."""
import gzip
import json
import sys

STEPS, MS = 8, 10000  # each, in microseconds
MANY, PLACES = 8000, 2000  # calls, whose records are longer than a chunk, and where they are made


class Trace:
    """Events of one dialect."""

    def __init__(self, old, pid=41, device=0, late=0, memory="Pageable", size=20000000):
        self.old, self.events, self.correlation = old, [], 0
        self.pid, self.device, self.late, self.memory, self.size = pid, device, late, memory, size

    def add(self, category, name, start, length, tid=7, **arguments):
        pid = self.device if category in ("kernel", "gpu_memcpy", "gpu_memset") else self.pid
        names = {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "cuda_runtime": "Runtime",
                 "cpu_op": "Operator", "user_annotation": "Operator"}
        event = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                 "ts": 1700000000000000 + start + self.late, "dur": length, "args": arguments}
        if self.old:
            event["cat"] = names.get(category, category)
            event["tid"] = "stream 7" if pid != self.pid else str(tid)
        else:
            event["ts"] += 0.25
        self.events.append(event)

    def call(self, name, start, length, work=None, **arguments):
        """A call and, where it gave the device any, its work: category, name, start, length."""
        self.correlation += 1
        self.add("cuda_runtime", name, start, length, 41, correlation=self.correlation)
        if work:
            self.add(*work, correlation=self.correlation, device=self.device, stream=7, **arguments)

    def step(self, number):
        at = number * MS
        self.add("user_annotation", "ProfilerStep#%d" % (number + 3), at, MS - 50, 41)
        stack = {"Call stack": "train.py(12): step;train.py(30): <module>"} if self.old else {}
        if not self.old:
            self.add("python_function", "train.py(12): step", at + 10, 8000, 41)
        self.add("cpu_op", "aten::copy_", at + 20, 4000, 41, TOKEN="hunter2", **stack)
        self.call("cudaMemcpyAsync", at + 30, 3000, ("gpu_memcpy", "Memcpy HtoD (%s -> Device)" % self.memory,
                                                    at + 40, 2900), bytes=self.size)
        # At the same microsecond as the next one, and before it.
        self.call("cudaFuncGetAttributes", at + 4100, 0)
        self.call("cudaLaunchKernel", at + 4100, 10, ("kernel", "k", at + 4200, 3000),
                  grid=[80, 1, 1], block=[256, 1, 1])
        self.call("cudaMalloc", at + 4300, 60)
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]",
                            "args": {"Addr": 18446744073709551615}})

    def text(self):
        return json.dumps({
            "schemaVersion": 1, "environment": {"TOKEN": "hunter2", "deep": ["}", "\\\"", {}]},
            "deviceProperties": [{"id": 0, "name": "Made up", "computeMajor": 9, "numSms": 132}],
            "distributedInfo": {"rank": 3}, "traceEvents": self.events, "after": [[], {}, -1.5e3]})


def make():
    for name in ("new", "old"):
        trace = Trace(name == "old")
        trace.events.append({"ph": "M", "name": "process_name", "pid": 41, "args": {"name": "train"}})
        # They stand in any order.
        for number in (range(STEPS) if trace.old else reversed(range(STEPS))):
            trace.step(number)
        with open(name + ".json", "w", encoding="utf-8") as file:
            file.write(trace.text())
        if name == "new":
            with gzip.open("packed.json.gz", "wt") as file:
                file.write(trace.text())
            trace.events.append(dict(trace.events[-2], pid=42))
            with open("two.json", "w", encoding="utf-8") as file:
                file.write(trace.text())
    ranks()
    trace = Trace(False)
    for number in range(MANY):
        place = number % PLACES + 1
        trace.add("python_function", "a.py(%d): f%d" % (place, place), 20 * number, 18, 41)
        trace.call("cudaLaunchKernel", 20 * number + 1, 5, ("kernel", "k", 20 * number + 8, 5),
                   grid=[1, 1, 1], block=[32, 1, 1])
    with open("long.json", "w", encoding="utf-8") as file:
        file.write(trace.text())
    hostile()


def ranks():
    """Traces of two processes, put together: all ids of the first are the second's as well. In `ranks` the
    second has one step more and another device; in `shared` both have one device, and the same calls
    at the same time."""
    for name, device, late, more in (("ranks", 1, -70, 1), ("shared", 0, 0, 0)):
        one = Trace(False)
        other = Trace(False, 42, device, late, "Pinned", 7)
        for number in range(STEPS):
            one.step(number)
        for number in range(STEPS + more):
            other.step(number)
        one.events += other.events
        for pid, program in ((41, "train"), (42, "twin")):
            one.events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": program}})
        with open(name + ".json", "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": one, "name": "Made up", "computeMajor": 9}
                                            for one in (0, 1)], "traceEvents": one.events}, file)


def hostile():
    """One call and one kernel are whole, and each of their fields is spoilt once."""
    trace = Trace(False)
    trace.call("cudaLaunchKernel", 100, 10, ("kernel", "k", 120, 50), grid=[1, 1, 1])
    whole = list(trace.events)
    for event in whole:
        for key in ("name", "tid", "ts", "dur", "args"):
            for value in (None, [], {}, "\u0000", -1, 1e300, "stream"):
                trace.events.append(dict(event, **{key: value}))
    arguments = {"correlation": 1, "stream": 7, "device": 0, "wait_on_stream": 7,
                 "wait_on_cuda_event_id": 1, "wait_on_cuda_event_record_corr_id": 1}
    for key in arguments:
        for value in (None, [], {}, "\u0000", -1, 1e300, 4294967295, "stream"):
            trace.add("cuda_sync", "Stream Wait Event", 130, 1, **dict(arguments, **{key: value}))
    text = trace.text().replace('"grid": [1, 1, 1]', '"grid": [-1, 1e99, "x"], "rate": inf', 1)
    with open("hostile.json", "w", encoding="utf-8") as file:
        file.write(text)


def wrong(report, name):
    if name == "long":
        places = [(call["callsite"]["line"], call["count"]) for call in report["calls"]]
        if sorted(places) != [(line + 1, MANY // PLACES) for line in range(PLACES)]:
            yield "other calls at %d places: %s" % (len(places), sorted(places)[:9])
        return
    states = {rule["id"]: rule["state"] for rule in report["rules"]}
    if name == "hostile":
        if not report["losses"].get("cupti_unknown"):
            yield "nothing is said to be lost: %s" % report["losses"]
        return
    steps, other, ranks = report["steps"], name == "ranks:42", name.startswith("ranks")
    number = STEPS + 1 if other else STEPS
    if (steps["warmup"], steps["judged"], steps["source"]) != (1, number - 1, "nvtx"):
        yield "other steps: %s" % steps
    if abs(steps["judged_median_ns"] - MS * 1000) > 1:
        yield "a step takes %s" % steps["judged_median_ns"]
    if (report["program"]["name"], report["program"]["rank"], report["program"]["pid"]) != (
            "twin" if other else "train", 0 if ranks else 3, 42 if other else 41):
        yield "another program: %s" % report["program"]
    if report["device"]["name"] != "Made up":
        yield "another device: %s" % report["device"]
    found = {one["id"]: one for one in report["findings"]}
    for rule, function, size in (("TFS101", "cudaMemcpyAsync", 20000000), ("TFS401", "cudaMalloc", 0)):
        one = found.get(rule)
        if other and rule == "TFS101":
            if one:
                yield "%s in the process that copies from pinned memory" % rule
        elif not one or one["callsite"]["call"] != function or one["per_step"]["count"] != 1 or \
                one["per_step"]["bytes"] != size:
            yield "%s is %s" % (rule, one and (one["callsite"]["call"], one["per_step"]))
    copy = found.get("TFS101")
    place = copy and (copy["callsite"]["file"], copy["callsite"]["line"], copy["callsite"]["function"])
    if not other and place != ("train.py", 12, "step"):
        yield "the copy is at %s" % (place,)
    for rule in ("TFS301", "TFS402", "TFS408", "TFS601", "TFS608", "TFS902", "TFS910"):
        if states[rule] != "not_measurable":
            yield "%s is %s" % (rule, states[rule])
    counts = {call["callsite"]["call"]: call["count"] for call in report["calls"]}
    if counts != dict.fromkeys(("cudaMemcpyAsync", "cudaFuncGetAttributes", "cudaLaunchKernel",
                                "cudaMalloc"), number):
        yield "other calls: %s" % counts


def main():
    if sys.argv[1] == "make":
        make()
        return 0
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = list(wrong(json.load(file), sys.argv[3]))
    for line in lines:
        print("imported.py: %s: %s" % (sys.argv[3], line))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
