# SPDX-License-Identifier: MIT
"""Traces of two dialects in which a stream waits for another one, for order.sh: order.py makes them here.

In each step of 10 ms the host waits for a copy of 6 ms on stream 20, beside it one of 4 ms on stream 17 and
behind that, as an event orders, a kernel of 4 ms on stream 13. If the copy on stream 17 took half of
its time, the step would be 2 ms shorter: the other one is over long before. `known` has the event's
record and wait, `through` has the order go through stream 30, which has no work of its own, `older` is of
a schema in which waits do not name the record by a number of its own, and `unknown` has neither."""
import json
import os
import sqlite3

STEPS, STEP = 8, 10000  # each, in microseconds
WORK = ((20, 200, 6000), (17, 200, 4000), (13, 4210, 4000))  # stream, start, length
PID = 41
PROCESS = 1 << 48 | PID << 24

TABLES = {
    "StringIds": "id INTEGER PRIMARY KEY, value TEXT",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, end, globalTid, correlationId, nameId",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start, end, deviceId, streamId, correlationId, globalPid, demangledName",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start, end, deviceId, streamId, correlationId, globalPid, "
                                           "syncType, eventId, eventSyncId",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "deviceId, streamId, correlationId, globalPid, eventId, eventSyncId",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start, end, deviceId, streamId, correlationId, globalPid, bytes, copyKind, "
                                  "srcKind, dstKind",
    "NVTX_EVENTS": "start, end, eventType, text, globalTid",
}


def steps(way):
    """Of each step: its start, and the calls as (name, start, length, what), in microseconds. `what` is
    work, or the streams of a record and a wait, or None."""
    for number in range(STEPS):
        at = number * STEP
        calls = [("cudaMemcpyAsync", at + 100, 10, WORK[0]), ("cudaMemcpyAsync", at + 120, 10, WORK[1]),
                 ("cudaEventRecord", at + 140, 2, 17)]
        if way == "through":
            calls += [("cudaStreamWaitEvent", at + 144, 2, (30, 17)), ("cudaEventRecord", at + 148, 2, 30),
                      ("cudaStreamWaitEvent", at + 152, 2, (13, 30))]
        else:
            calls += [("cudaStreamWaitEvent", at + 152, 2, (13, 17))]
        calls += [("cudaLaunchKernel", at + 160, 10, WORK[2]),
                  ("cudaDeviceSynchronize", at + 200, 8020, None)]
        yield number, at, calls


def kineto(way):
    events, correlation = [], 0

    def add(category, name, start, length, pid, tid, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                       "ts": 1700000000000000 + start, "dur": length, "args": arguments})

    for number, at, calls in steps(way):
        add("user_annotation", "ProfilerStep#%d" % number, at, STEP, PID, PID)
        recorded = {}
        for name, start, length, what in calls:
            correlation += 1
            add("cuda_runtime", name, start, length, PID, PID, correlation=correlation)
            if name in ("cudaLaunchKernel", "cudaMemcpyAsync"):
                stream, begin, long = what
                kind, text = ("kernel", "k") if name == "cudaLaunchKernel" else (
                    "gpu_memcpy", "Memcpy DtoH (Device -> Pinned)")
                add(kind, text, at + begin, long, 0, stream, device=0, stream=stream, bytes=1000,
                    correlation=correlation)
            elif name == "cudaEventRecord":
                recorded[what] = correlation
            elif name == "cudaStreamWaitEvent" and way != "unknown":
                add("cuda_sync", "Stream Wait Event", start + 1, 1, 0, what[0], stream=what[0], device=0,
                    correlation=correlation, wait_on_stream=what[1], wait_on_cuda_event_id=9,
                    wait_on_cuda_event_record_corr_id=recorded[what[1]])
            elif name == "cudaDeviceSynchronize":
                add("cuda_sync", "Context Sync", start + 1, length - 2, 0, -1, stream=-1, device=0,
                    correlation=correlation)
    with open(way + ".json", "w", encoding="utf-8") as file:
        json.dump({"deviceProperties": [{"id": 0, "name": "Made up"}], "traceEvents": events}, file)


def nsight(way):
    path = way + ".sqlite"
    if os.path.exists(path):
        os.remove(path)
    tables = sqlite3.connect(path)
    names = ["k", "cudaLaunchKernel_v7000", "cudaEventRecord_v3020", "cudaStreamWaitEvent_v3020",
             "cudaDeviceSynchronize_v3020", "cudaMemcpyAsync_v3020"]
    dropped = {"older": (", eventSyncId",), "unknown": ()}.get(way, ())
    for table, columns in TABLES.items():
        for one in dropped:
            columns = columns.replace(one, "")
        if table.endswith("CUDA_EVENT") and way == "unknown":
            continue
        tables.execute("CREATE TABLE %s (%s)" % (table, columns.replace("end", '"end"')))
    tables.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(names))

    def add(table, *values):
        tables.execute("INSERT INTO %s VALUES (%s)" % (table, ", ".join("?" * len(values))), values)

    correlation, number_of = 0, 0
    for number, at, calls in steps(way):
        origin = 5_000_000_000
        add("NVTX_EVENTS", origin + at * 1000, origin + (at + STEP) * 1000 - 1000, 59, "step %d" % number, PROCESS | 7)
        recorded = {}
        for name, start, length, what in calls:
            correlation += 1
            begin, end = origin + start * 1000, origin + (start + length) * 1000
            add("CUPTI_ACTIVITY_KIND_RUNTIME", begin, end, PROCESS | 7, correlation,
                [one.split("_v")[0] for one in names].index(name))
            numbers = lambda one: () if dropped else (one,)
            if name in ("cudaLaunchKernel", "cudaMemcpyAsync"):
                first = origin + (at + what[1]) * 1000
                kind, more = ("KERNEL", (0,)) if name == "cudaLaunchKernel" else ("MEMCPY", (1000, 2, 2, 1))
                add("CUPTI_ACTIVITY_KIND_" + kind, first, first + what[2] * 1000, 0, what[0], correlation,
                    PROCESS, *more)
            elif name == "cudaEventRecord":
                number_of += 1
                # One handle for all, as programs use them again.
                recorded[what] = number_of
                if way != "unknown":
                    add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", 0, what, correlation, PROCESS, 7, *numbers(number_of))
            elif name == "cudaStreamWaitEvent":
                add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", begin, end, 0, what[0], correlation, PROCESS, 2, 7,
                    *numbers(recorded[what[1]]))
            elif name == "cudaDeviceSynchronize":
                add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", begin, end, 0, 0xffffffff, correlation, PROCESS, 4, 0,
                    *numbers(0))
    tables.commit()
    tables.close()


def main():
    for way in ("known", "through", "unknown"):
        kineto(way)
    for way in ("known", "through", "older", "unknown"):
        nsight(way)


if __name__ == "__main__":
    main()
