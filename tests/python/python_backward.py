# SPDX-License-Identifier: MIT
"""Calls from threads without Python code: python_backward.py run ENGINE | check REPORT.json."""
import ctypes
import json
import sys

from settle import settle

COUNT = 30


def run():
    cuda = ctypes.CDLL("libcudart.so.13")
    engine = ctypes.CDLL(sys.argv[2])
    memory = ctypes.c_void_p()
    cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
    settle()
    cuda.cudaDeviceSynchronize()
    source = ctypes.create_string_buffer(4096)
    engine.engine_run(memory, source, COUNT)
    engine.engine_other(memory, COUNT)
    print("ran")


def check():
    """The engine's call sites are the backward pass, and those of another thread are C code."""
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    table = [one for one in report["whole_run"] if one["kind"] == "bytes"]
    rows = [row for one in table for row in one["callsites"]]
    sites = {row["callsite"]["call"]: row["callsite"]["function"] for row in rows}
    counts = {row["callsite"]["call"]: row["calls"] for row in rows}
    if sites.get("cudaMemcpy") != "backward" or counts.get("cudaMemcpy") != COUNT or \
            "backward" in (sites.get("cudaMemset") or ""):
        print("python_backward.py: %s %s" % (sites, counts))
        return 1
    return 0


sys.exit({"run": run, "check": check}[sys.argv[1]]())
