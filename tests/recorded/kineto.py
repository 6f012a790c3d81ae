# SPDX-License-Identifier: MIT
"""A recording of a real GPU in Kineto's JSON, as one chain of calls of the host.

Host threads follow each other: in training one goes on where another stopped, so all calls are put
in the order in which they began, and what lies between the latest end so far and the next start is
the host's own time. Threads that never give the device work only poll, and are left out. Times are
whole nanoseconds from the first mark of a step.
"""

import bisect
import gzip
import json
import re

# Categories, in files of 2021 and in later ones.
DEVICE = {"Kernel": "kernel", "Memcpy": "copy", "Memset": "memset",
          "kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "memset"}
MARKS = ("Operator", "user_annotation")
HOST = ("Runtime", "cuda_runtime", "cuda_driver")
CALLS = {
    "cudaEventRecord": "record",
    "cudaStreamWaitEvent": "wait",
    "cudaEventSynchronize": "event-sync",
    "cudaStreamSynchronize": "stream-sync",
    "cudaDeviceSynchronize": "device-sync",
}
MEMORY = {"Device": "device", "Pinned": "pinned", "Pageable": "pageable"}


class Op:
    """What a call gave the device."""

    def __init__(self, event, origin):
        args = event["args"]
        self.start, self.end = span(event, origin)
        self.stream = args["stream"]
        self.kind = DEVICE[event["cat"]]
        self.bytes = args.get("bytes", 0)
        self.blocks, self.threads = volume(args.get("grid")), volume(args.get("block"))
        between = re.search(r"\((\w+) -> (\w+)\)", event["name"])
        self.between = [MEMORY[name] for name in between.groups()] if self.kind == "copy" else []


class Call:
    """One call of the host, with the stream and event that it is about where it needs one."""

    def __init__(self, event, origin, op):
        self.start, self.end = span(event, origin)
        self.op = op
        # A fill or copy of nothing is over when the call is.
        self.kind = op.kind if op else CALLS.get(event["name"], "other")
        self.stream = op.stream if op else None
        self.event = None


def volume(sizes):
    return sizes[0] * sizes[1] * sizes[2] if sizes else 0


def span(event, origin):
    start = round((event["ts"] - origin) * 1000)
    return start, start + round(event["dur"] * 1000)


def read(path):
    """The chain of calls and the marked steps, as (start, end)."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    marks = [e for e in events
             if e.get("cat") in MARKS and e["name"].startswith("ProfilerStep#")]
    origin = min(e["ts"] for e in marks)
    ops = {e["args"]["correlation"]: Op(e, origin) for e in events if e.get("cat") in DEVICE}
    api = [e for e in events if e.get("cat") in HOST]
    working = {e["tid"] for e in api if e["args"]["correlation"] in ops}
    calls = sorted((Call(e, origin, ops.get(e["args"]["correlation"]))
                    for e in api if e["tid"] in working), key=lambda call: call.start)
    steps = sorted(span(e, origin) for e in marks)
    calls = [call for call in calls if 0 <= call.start < steps[-1][1]]
    name_streams(calls)
    return calls, steps


def name_streams(calls):
    """Kineto does not say which stream and event a call is about; when its work ran does.

    A record is taken to be about the stream of the latest operation. A stream that waits is that of
    the next operation, and waits for the first record after the latest operation of another
    stream: if that one had ended when the next operation began. Where it had not, the wait
    cannot have been between the two, but between streams of a library that do no work of their own
    (0 here). A wait of the host for an event is for the latest one that was over when it returned.
    """
    nexts, following = [None] * len(calls), None
    for i in reversed(range(len(calls))):
        nexts[i] = following
        following = calls[i].op or following
    last, latest, ends, records, reached = None, {}, {}, [], []
    for i, call in enumerate(calls):
        if call.op:
            latest[call.stream] = (i, call.op)
            ends[call.stream] = max(ends.get(call.stream, 0), call.op.end)
            last = call.stream
        elif call.kind == "record":
            call.stream, call.event = last or 0, len(records)
            records.append(i)
            reached.append(ends.get(last, 0))
        elif call.kind == "wait":
            settle_wait(call, nexts[i], latest, calls, records)
        elif call.kind == "stream-sync":
            call.stream = last
        elif call.kind == "event-sync":
            over = [n for n, end in enumerate(reached) if end <= call.end]
            call.event = over[-1] if over else None


def settle_wait(call, following, latest, calls, records):
    call.stream = 0
    call.event = len(records) - 1 if records else None
    if not following:
        return
    for stream, (i, op) in latest.items():
        at = bisect.bisect(records, i)
        if stream != following.stream and op.end <= following.start and at < len(records):
            call.stream, call.event = following.stream, at
            calls[records[at]].stream = stream
