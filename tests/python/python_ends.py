# SPDX-License-Identifier: MIT
"""Programs that end, fork, or are interrupted amid CUDA calls: python_ends.py WAY WORKER.

WORKER is the library of python_worker.c.
"""
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings

cuda = ctypes.CDLL("libcudart.so.13")
worker = ctypes.CDLL(sys.argv[2])
count = ctypes.c_int()


def call(times=1):
    for _ in range(times):
        cuda.cudaGetDeviceCount(ctypes.byref(count))


def forever(depth=5):
    if depth:
        forever(depth - 1)
    while True:
        call(10)


def inside(depth=8):
    if depth:
        inside(depth - 1)
    worker.worker_forever()


def daemon():
    """The interpreter ends, and releases their states, under threads that call from C code for ever.

    C code, since Python code may crash then, in taking the lock.
    """
    for _ in range(4):
        threading.Thread(target=inside, daemon=True).start()
    while worker.worker_began() < 4:
        call(10)


def work(number):
    return number * number


def workers():
    """As data loaders have: forked, and begun anew."""
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            call(20)
            print(method, pool.map(work, range(6)))


def fork():
    # Of threads in the process, of which a CUDA driver has some, and the library too.
    warnings.simplefilter("ignore", DeprecationWarning)
    call(20)
    child = os.fork()
    if child == 0:
        call(5)
        os._exit(7)
    call(20)
    print("child ended with %d" % (os.waitpid(child, 0)[1] >> 8))
    print(subprocess.run([sys.executable, "-c", "print(6 * 7)"], check=True, capture_output=True).stdout)


def interrupted():
    seen = []

    def handler(number, frame):
        call(3)
        seen.append(number)

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    while len(seen) < 20:
        call(50)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("interrupted")


def raised():
    call(20)
    raise RuntimeError("not caught")


def killed():
    call(20)
    os.kill(os.getpid(), signal.SIGTERM)


def hard():
    threading.Thread(target=forever, daemon=True).start()
    call(100)
    os._exit(5)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
