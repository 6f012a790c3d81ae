#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the library adds to a call from Python: python_miss.py LIBRARY SIMULATED-LIBRARIES

From lines that nothing was called from before, whose names have to be read, and from the same lines
again; in the first thread and in another. Nanoseconds, medians of interleaved rounds with the library
and without it, of the Python that runs this. All calls of a program come from one place of its
interpreter: none has the cache of C callsites to itself.
"""

import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

LINES, FUNCTIONS, ROUNDS = 100, 40, 7


def time_lines(number, call, where):
    """A call from each of its lines, for the first time and for the second."""
    names = {"call": call, "where": where}
    source = "def calls():\n" + "    call(where)\n" * LINES
    exec(compile(source, f"made_{threading.get_ident()}_{number}.py", "exec"), names)
    times = [time.perf_counter_ns()]
    for _ in range(2):
        names["calls"]()
        times.append(time.perf_counter_ns())
    return [(later - earlier) / LINES for earlier, later in zip(times, times[1:])]


def measure(out):
    call = ctypes.CDLL("libcudart.so.13").cudaDriverGetVersion
    where = ctypes.byref(ctypes.c_int())
    rounds = [time_lines(number, call, where) for number in range(FUNCTIONS)]
    out += [statistics.median(times) for times in zip(*rounds)]


def child():
    out = []
    measure([])
    time.sleep(1)  # by now the library has loaded its unwinder
    measure(out)
    other = threading.Thread(target=measure, args=(out,))
    other.start()
    other.join()
    print("result", *out)


def run(library, simulated, folder):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("TFSHIM_", "TFSIM_", "LD_"))}
    environment.update(LD_LIBRARY_PATH=simulated, TFSIM_PACE="0", TFSHIM_REWRITE="off",
                       TFSHIM_OUTPUT=f"{folder}/%n", TFSHIM_OPTIONS="report=0:quiet=1")
    if library:
        environment["LD_PRELOAD"] = library
    said = subprocess.run([os.path.realpath(sys.executable), __file__, "child"], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True)
    told = next(line for line in said.stdout.splitlines() if line.startswith("result "))
    return [float(word) for word in told.split()[1:]]


def main(library, simulated):
    with tempfile.TemporaryDirectory() as folder:
        rounds = [(run("", simulated, folder), run(library, simulated, folder))
                  for _ in range(ROUNDS)]
    plain, shimmed = ([statistics.median(times) for times in zip(*side)] for side in zip(*rounds))
    added = [one - other for one, other in zip(shimmed, plain)]
    print(f"Python {sys.version.split()[0]}     plain   with it     added   a new line more [ns]")
    for at, thread in ((0, "first"), (2, "another")):
        for line in (0, 1):
            more = f"{added[at] - added[at + 1]:12.0f}" if line == 0 else ""
            print(f"{thread + ' thread':15} {'known line' if line else 'new line':10} "
                  f"{plain[at + line]:5.0f} {shimmed[at + line]:9.0f} {added[at + line]:9.0f} {more}")


if sys.argv[1:] == ["child"]:
    child()
else:
    main(*sys.argv[1:])
