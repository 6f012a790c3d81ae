# SPDX-License-Identifier: MIT
"""Exports of Nsight Systems for nsight.sh, made up, and what reports say of them.
nsight.py make: writes them here, or with make-long the one that is too long to be read whole.
nsight.py compare REPORT NAME."""
import json
import os
import shutil
import sqlite3
import struct
import sys

STEPS, STEP_NS, PID = 8, 10_000_000, 41
PROCESS = 1 << 48 | PID << 24
OTHER = 1 << 48 | 42 << 24
HELPER = 1 << 48 | 43 << 24

COMMON = "start, end, deviceId, streamId, correlationId, globalPid"
TABLES = {
    "StringIds": "id INTEGER PRIMARY KEY, value TEXT",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, end, globalTid, correlationId, nameId, returnValue, "
        "callchainId",
    "CUDA_CALLCHAINS": "id, symbol, module, unresolved, stackDepth",
    "CUPTI_ACTIVITY_KIND_KERNEL":
        COMMON + ", demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ",
    "CUPTI_ACTIVITY_KIND_MEMCPY": COMMON + ", bytes, copyKind, srcKind, dstKind",
    "CUPTI_ACTIVITY_KIND_MEMSET": COMMON + ", value, bytes",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": COMMON + ", graphId",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": COMMON + ", syncType, eventId, eventSyncId",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "deviceId, streamId, correlationId, globalPid, eventId, eventSyncId",
    "NVTX_EVENTS": "start, end, eventType, text, globalTid, textId",
    "PROCESSES": "globalPid, pid, name",
    "TARGET_INFO_GPU": "id, name, cuDevice, totalMemory, smCount, computeMajor, computeMinor",
    "TARGET_INFO_CUDA_DEVICE": "gpuId, cudaId, pid",
    "TARGET_INFO_CUDA_STREAM": "streamId, processId, flag",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs",
    "ANALYSIS_DETAILS": "startTime",
    "MPI_RANKS": "globalTid, rank",
    "TARGET_INFO_SYSTEM_ENV": "name, value",
}


class Export:
    """A file with these tables, or with some of them and some of their columns."""

    def __init__(self, path, without=(), lacking=(), versioned=False):
        if os.path.exists(path):
            os.remove(path)
        self.tables = sqlite3.connect(path)
        self.columns, self.strings, self.versioned = {}, {}, versioned
        for name, columns in TABLES.items():
            if name in without:
                continue
            kept = [one for one in columns.split(", ") if one not in lacking]
            self.columns[name] = [one.split()[0] for one in kept]
            self.tables.execute("CREATE TABLE %s (%s)" % (self.name(name), ", ".join(
                one if " " in one else '"%s"' % one for one in kept)))

    def name(self, table):
        return table + "_V2" if self.versioned and table.endswith("KERNEL") else table

    def add(self, table, **values):
        if table not in self.columns:
            return
        kept = {key: value for key, value in values.items() if key in self.columns[table]}
        self.tables.execute("INSERT INTO %s (%s) VALUES (%s)" % (
            self.name(table), ", ".join('"%s"' % key for key in kept), ", ".join("?" * len(kept))),
            list(kept.values()))

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = 1000 + len(self.strings)
            self.add("StringIds", id=self.strings[text], value=text)
        return self.strings[text]

    def stack(self, number, *frames):
        """A call stack, put down from the outermost on."""
        for depth, (module, symbol) in reversed(list(enumerate(frames))):
            self.add("CUDA_CALLCHAINS", id=number, symbol=self.string(symbol),
                     module=self.string(module), unresolved=int(symbol.startswith("0x")) or None,
                     stackDepth=depth)

    def call(self, process, name, start, length, correlation, stack=None):
        self.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=start + length,
                 globalTid=process | 7, correlationId=correlation, nameId=self.string(name), callchainId=stack)

    def work(self, kind, process, start, length, correlation, **values):
        self.add("CUPTI_ACTIVITY_KIND_" + kind, start=start, end=start + length, deviceId=0,
                 correlationId=correlation, globalPid=process, **{"streamId": 7, **values})

    def range(self, process, text, start, length, registered=False):
        self.add("NVTX_EVENTS", start=start, end=start + length, eventType=59, globalTid=process | 7,
                 **({"textId": self.string(text)} if registered and
                    "textId" in self.columns["NVTX_EVENTS"] else {"text": text}))

    def step(self, process, number, registered=False):
        at, ids = 5_000_000_000 + number * STEP_NS, number * 10
        self.range(process, "Train step %d" % (number + 3), at, STEP_NS - 50_000, registered)
        # Inside a step and called the same way, so that the longer ones are the steps.
        self.range(process, "iter:%d" % number, at + 100_000, 2_000_000)
        self.range(process, "upload %d" % number, at + 10_000, 8_000_000)
        self.range(process, "aten::copy_, seq = %d, op_id = %d" % (number, number), at + 20_000, 4_000_000)
        self.call(process, "cudaMemcpyAsync_v3020", at + 30_000, 3_000_000, ids + 1)
        self.work("MEMCPY", process, at + 40_000, 2_900_000, ids + 1, bytes=20_000_000, copyKind=1,
                  srcKind=0, dstKind=2)
        self.call(process, "cudaLaunchKernel_v7000", at + 4_100_000, 10_000, ids + 2)
        self.work("KERNEL", process, at + 4_200_000, 3_000_000, ids + 2, demangledName=self.string("k<1>"),
                  gridX=80, gridY=1, gridZ=1, blockX=256, blockY=1, blockZ=1)
        self.call(process, "cudaMalloc_v3020", at + 4_300_000, 60_000, ids + 3,
                  number + 1 if process == PROCESS else None)
        # One for each call, as Nsight may write them.
        if process == PROCESS:
            self.stack(number + 1, ("/usr/lib/libcudart.so.12.4", "cudaMalloc"), ("/app/train", "grow(int)"),
                       ("/app/train", "0x5581"), ("/app/train", "main"))
        self.call(process, "cudaStreamSynchronize_v3020", at + 9_000_000, 5_000, ids + 4)
        self.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=at + 9_001_000, end=at + 9_002_000,
                 deviceId=0, streamId=7, correlationId=ids + 4, globalPid=process, syncType=3, eventId=0)

    def behind(self, number):
        """A wait for the default stream's work in a step, and work on another stream behind it."""
        at, ids = 5_000_000_000 + number * STEP_NS, number * 10
        self.call(PROCESS, "cudaLaunchKernel_v7000", at + 7_300_000, 10_000, ids + 5)
        self.work("KERNEL", PROCESS, at + 7_310_000, 300_000, ids + 5)
        self.call(PROCESS, "cudaStreamSynchronize_v3020", at + 7_320_000, 300_000, ids + 6)
        self.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=at + 7_330_000, end=at + 7_610_000,
                 deviceId=0, streamId=7, correlationId=ids + 6, globalPid=PROCESS, syncType=3, eventId=0)
        self.call(PROCESS, "cudaLaunchKernel_v7000", at + 7_630_000, 10_000, ids + 7)
        self.work("KERNEL", PROCESS, at + 7_640_000, 300_000, ids + 7, streamId=13)

    def target(self):
        self.string("TOKEN=hunter2, as programs print it")
        self.add("TARGET_INFO_SYSTEM_ENV", name="TOKEN", value="hunter2")
        for process, name in ((PROCESS, "train"), (OTHER, "twin\n\033[31m"), (HELPER, "helper")):
            self.add("PROCESSES", globalPid=process, pid=process >> 24 & 0xffffff, name=name)
        # Not the process's first device, although it is the machine's.
        self.add("TARGET_INFO_GPU", id=0, cuDevice=0, name="Another", totalMemory=1 << 30, smCount=1)
        self.add("TARGET_INFO_GPU", id=1, name="Made up", totalMemory=1 << 34, smCount=132,
                 computeMajor=9, computeMinor=0)
        self.add("TARGET_INFO_CUDA_DEVICE", gpuId=1, cudaId=0, pid=PID)
        self.add("TARGET_INFO_CUDA_STREAM", streamId=7, processId=PID, flag=3)
        self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_000_000_000_000_000)
        self.add("ANALYSIS_DETAILS", startTime=4_000_000_000)

    def close(self):
        self.tables.commit()
        self.tables.close()


def make_one(path, **how):
    export = Export(path, **how)
    export.target()
    for number in range(STEPS):
        export.step(PROCESS, number, number % 2)
    # It asks for a device and gives none work.
    export.call(HELPER, "cudaGetDeviceCount_v3020", 5_000_000_000, 1000, 1)
    return export


def make():
    make_one("new.sqlite").close()
    make_one("old.sqlite", versioned=True, lacking=("textId", "eventId", "shortName", "returnValue", "callchainId"),
             without=("PROCESSES", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE", "ANALYSIS_DETAILS",
                      "TARGET_INFO_CUDA_STREAM", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                      "TARGET_INFO_SESSION_START_TIME")).close()
    export = make_one("two.sqlite")
    # With the same correlation ids, and other work.
    for number in range(STEPS):
        export.step(OTHER, number)
    export.tables.execute("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = 1, bytes = 7 "
                          "WHERE globalPid = ?", (OTHER,))
    export.tables.commit()
    shutil.copy("two.sqlite", "ranks.sqlite")
    export.close()
    # The ranks of MPI's programs are told by thread.
    tables = sqlite3.connect("ranks.sqlite")
    tables.executemany("INSERT INTO MPI_RANKS VALUES (?, ?)", ((OTHER | 7, 5), (PROCESS | 7, 4), (PROCESS | 9, 4)))
    tables.commit()
    tables.close()
    # Nobody says which device is the process's first: the machine's is.
    make_one("unnumbered.sqlite", lacking=("cuDevice",), without=("TARGET_INFO_CUDA_DEVICE",)).close()
    # A wait between two streams, which the first, the default stream, orders with the second, or not.
    for name, flag in (("ordered", 1), ("apart", 2)):
        export = make_one(name + ".sqlite")
        export.add("TARGET_INFO_CUDA_STREAM", streamId=13, processId=PID, flag=flag)
        export.add("TARGET_INFO_CUDA_STREAM", streamId=13, processId=PID + 1, flag=3 - flag)
        for number in range(STEPS):
            export.behind(number)
        export.close()
    # The recording ended with work queued; some of it was lost in between.
    for name, steps in (("queued", range(5, 8)), ("lost", range(2, 5))):
        export = make_one(name + ".sqlite")
        for number in steps:
            export.tables.execute("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE correlationId = ?",
                                  (number * 10 + 2,))
        export.close()
    hostile()
    refused()
    amplified()


def hostile():
    """Of rows that are whole, each field is spoilt once; nothing of that may be a report's."""
    export = make_one("hostile.sqlite")
    export.add("MPI_RANKS", globalTid=PROCESS | 7, rank=3)
    for number, event in ((1, 9), (2, 0)):
        export.add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", deviceId=0, streamId=7, correlationId=3, globalPid=PROCESS,
                   eventId=9, eventSyncId=number)
        export.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=5_000_000_000, end=5_000_000_100, deviceId=0,
                   streamId=13, correlationId=4, globalPid=PROCESS, syncType=2, eventId=event, eventSyncId=1)
    for table, columns in export.columns.items():
        rows = export.tables.execute("SELECT * FROM %s LIMIT 2" % table).fetchall()
        for row in rows if table != "StringIds" else ():
            for at in range(len(columns)):
                for value in (None, -1, -1 << 63, (1 << 63) - 1, 1.5e300, "text", b"\0blob", "", "1; DROP"):
                    export.tables.execute(
                        "INSERT INTO %s VALUES (%s)" % (table, ", ".join("?" * len(columns))),
                        row[:at] + (value,) + row[at + 1:])
    export.tables.execute("INSERT INTO StringIds VALUES (1, ?)", (b"\xff\0\x01",))
    export.tables.execute("INSERT INTO StringIds VALUES (2, cast(? AS TEXT))", (b"cuda\xff\n\033[31m",))
    export.call(PROCESS, "cudaFree_v\n\033[31m", 5_000_000_100, 10, 99)
    for name in (1, 2, -5):
        export.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=5_000_000_300, end=5_000_000_400,
                   globalTid=PROCESS | 7, correlationId=98, nameId=name)
    export.add("NVTX_EVENTS", start=5_000_000_000, end=6_000_000_000, eventType=59,
               text="</script>\n\033]0;\a\ufffd", globalTid=PROCESS | 7)
    export.close()


def refused():
    for name in ("empty", "view", "common", "long", "trigger"):
        export = Export(name + ".sqlite") if name in ("empty", "long") else make_one(
            name + ".sqlite", lacking=("globalPid",) if name == "common" else ())
        if name == "view":
            export.tables.executescript(
                "".join("DROP TABLE %s;" % table for table in TABLES if "CUPTI" in table) +
                "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE more(start) AS "
                "(SELECT 1 UNION ALL SELECT start + 1 FROM more) SELECT start, start + 1 AS end, "
                "%d AS globalTid, start AS correlationId, 1 AS nameId FROM more" % PROCESS)
        if name == "long":
            export.call(PROCESS, "cudaFree", 1, 2, 3)
            export.range(PROCESS, "x" * (17 << 20), 1, 2)
        export.close()
    # Its pages say that there is a wal, which is not with it; the wal of another is.
    export = make_one("wal.sqlite")
    export.tables.commit()
    export.tables.execute("PRAGMA journal_mode = wal")
    export.close()
    shutil.copy("wal.sqlite", "writing.sqlite")
    export = sqlite3.connect("writing.sqlite")
    export.execute("PRAGMA wal_autocheckpoint = 0")
    export.execute("DELETE FROM NVTX_EVENTS")
    export.commit()
    shutil.copy("writing.sqlite", "written.sqlite")
    shutil.copy("writing.sqlite-wal", "written.sqlite-wal")
    export.close()


def amplified():
    """A table whose pages have each other as children, many times over: it never ends."""
    page, levels = 512, 8
    if os.path.exists("endless.sqlite"):
        os.remove("endless.sqlite")
    tables = sqlite3.connect("endless.sqlite")
    tables.execute("PRAGMA page_size = %d" % page)
    tables.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId)")
    tables.execute("CREATE TABLE room (bytes)")
    for _ in range(40):
        tables.execute("INSERT INTO room VALUES (zeroblob(400))")
    tables.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, %d, 1, 1)" % PROCESS)
    root, = tables.execute("SELECT rootpage FROM sqlite_master WHERE name LIKE 'CUPTI%'").fetchone()
    tables.commit()
    tables.close()
    with open("endless.sqlite", "r+b") as file:
        whole = bytearray(file.read())
        leaf = len(whole) // page
        first = leaf - levels
        whole[(leaf - 1) * page:leaf * page] = whole[(root - 1) * page:root * page]
        for at in [root] + list(range(first, leaf)):
            child = first if at == root else at + 1
            cells = 50
            body = bytearray(page)
            struct.pack_into(">BHHHBI", body, 0, 5, 0, cells, page - cells * 5, 0, child)
            for cell in range(cells):
                start = page - (cell + 1) * 5
                struct.pack_into(">H", body, 12 + 2 * cell, start)
                struct.pack_into(">IB", body, start, child, cell + 1)
            whole[(at - 1) * page:at * page] = body
        file.seek(0)
        file.write(whole)


LONG_STEPS, LAUNCHES = 2000, 600


def make_long():
    """The device is three steps behind, so that most of the last launches ran after the last call."""
    export = Export("long_run.sqlite")
    export.target()
    rows = ("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) "
            % (LONG_STEPS * LAUNCHES))
    at = "5000000000 + i / %d * %d + i %% %d * 12000" % (LAUNCHES, STEP_NS, LAUNCHES)
    export.tables.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME " + rows +
                          "SELECT %s, %s + 6000, %d, i + 1, %d, 0, NULL FROM n" % (
                              at, at, PROCESS | 7, export.string("cudaLaunchKernel_v7000")))
    export.tables.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL " + rows +
                          "SELECT %s + %d, %s + %d, 0, 7, i + 1, %d, %d, 0, 1, 1, 1, 32, 1, 1 FROM n" % (
                              at, 3 * STEP_NS, at, 3 * STEP_NS + 8000, PROCESS, export.string("k")))
    for number in range(LONG_STEPS):
        export.range(PROCESS, "step %d" % number, 5_000_000_000 + number * STEP_NS, STEP_NS)
    export.range(PROCESS, "epoch", 5_000_000_000, LONG_STEPS * STEP_NS)
    export.close()


def long_wrong(report):
    steps = report["steps"]
    if not 1500 < steps["count"] < 1700 or abs(steps["judged_median_ns"] - STEP_NS) > 1:
        yield "other steps: %s" % steps
    states = {rule["id"]: rule["state"] for rule in report["rules"]}
    if states["TFS903"] != "passed":
        yield "work of launches is missing: %s" % states
    count, = [call["count"] for call in report["calls"]]
    stack = [frame["function"] for frame in report["calls"][0]["callsite"]["stack"]]
    if not 900000 < count < 1000000 or stack != ["epoch"]:
        yield "%d calls at %s" % (count, stack)
    origin, = [fact["text"] for fact in report["measured"] if fact["key"] == "recorded by"]
    if origin != "Nsight Systems; 16.7 of its 20.0 s, with 2.0 of 2.4 million events, are read":
        yield "it is not said what was read: %s" % origin


def wrong(report, name):
    if name == "long":
        yield from long_wrong(report)
        return
    states = {rule["id"]: rule["state"] for rule in report["rules"]}
    if name in ("queued", "lost"):
        verdict, = [(rule["state"], rule.get("reason")) for rule in report["rules"] if rule["id"] == "TFS903"]
        if verdict != {"queued": ("passed", "GPU activity was recorded: of 5 launches, 5 have a kernel record; "
                                  "3 more were still queued when the recording ended"),
                       "lost": ("violated", "1 finding")}[name]:
            yield "TFS903 %s: %s" % verdict
        return
    if name in ("ordered", "apart"):
        advice = [one["advice"].split(":")[0] for one in report["findings"] if one["id"] == "TFS201"]
        orders = [one for one in advice if one.startswith(
            "Replace this synchronisation, which only orders the work of one stream after that of another")]
        if not advice or len(orders) != (name == "apart"):
            yield "the waits' advice is %s" % advice
        return
    if name == "hostile":
        if not report["losses"].get("cupti_unknown"):
            yield "nothing is said to be lost: %s" % report["losses"]
        if not report["calls"]:
            yield "nothing is left of it"
        return
    other = name == "two:42"
    steps, program = report["steps"], report["program"]
    if (steps["warmup"], steps["judged"], steps["source"]) != (1, STEPS - 1, "nvtx"):
        yield "other steps: %s" % steps
    if abs(steps["judged_median_ns"] - STEP_NS) > 1:
        yield "a step takes %s" % steps["judged_median_ns"]
    about = {"old": ("", PID, "a GPU without a name", ""),
             "unnumbered": ("train", PID, "Another", "2023-11-14T22:13:21Z"),
             "two:42": ("twin\n\033[31m", 42, None, "2023-11-14T22:13:21Z")}.get(
                 name, ("train", PID, "Made up", "2023-11-14T22:13:21Z"))
    device = report["device"]["name"] if not other else None
    if program["finished"] is not None:
        yield "it is said to have finished: %s" % program["finished"]
    if (program["name"], program["pid"], device, program["started"]) != about:
        yield "another program: %s on %s" % (program, report["device"])
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
    if copy and [frame["function"] for frame in copy["callsite"]["stack"]][:2] != ["aten::copy_", "upload"]:
        yield "the copy is at %s" % copy["callsite"]
    churn = found.get("TFS401")
    stack = churn and [frame["function"] for frame in churn["callsite"]["stack"]]
    if stack != (["upload"] if other or name == "old" else ["grow(int)", "main"]):
        yield "the allocation is at %s" % stack
    for rule in ("TFS301", "TFS402", "TFS408", "TFS601", "TFS608", "TFS902", "TFS910"):
        if states[rule] != "not_measurable":
            yield "%s is %s" % (rule, states[rule])
    counts = {call["callsite"]["call"]: call["count"] for call in report["calls"]}
    if counts != dict.fromkeys(("cudaMemcpyAsync", "cudaLaunchKernel", "cudaMalloc",
                                "cudaStreamSynchronize"), STEPS):
        yield "other calls: %s" % counts


def main():
    if sys.argv[1] == "make":
        make()
        return 0
    if sys.argv[1] == "make-long":
        make_long()
        return 0
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = list(wrong(json.load(file), sys.argv[3]))
    for line in lines:
        print("nsight.py: %s: %s" % (sys.argv[3], line))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
