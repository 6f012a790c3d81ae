# SPDX-License-Identifier: MIT
"""CUDA calls from Python code of every shape: python_shapes.py WORKER TABLE.

Each call tells the Python stack that it is made from, by here() on the same line. They are counted, and
written to TABLE in the form of python_sites.c. WORKER is the library of python_worker.c.
"""
import asyncio
import atexit
import collections
import ctypes
import functools
import gc
import sys
import threading

from settle import settle

MOST = 32  # frames that are recorded
cuda = ctypes.CDLL("libcudart.so.13")
worker = ctypes.CDLL(sys.argv[1])
counts = collections.Counter()
lock = threading.Lock()
memory = ctypes.c_void_p()
size = ctypes.c_size_t(64)
callback_type = ctypes.CFUNCTYPE(None)
run_type = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def here(function):
    """The memory; notes that `function` is called from where this is called."""
    frame = sys._getframe(1)
    frames = []
    while frame and len(frames) < MOST:
        code = frame.f_code
        frames.append("%s:%d %s" % (code.co_filename, frame.f_lineno,
                                    getattr(code, "co_qualname", code.co_name)))
        frame = frame.f_back
    with lock:
        counts[function, " | ".join(frames)] += 1
    return memory


def fill():
    cuda.cudaMemset(here("cudaMemset"), 0, size)


def two_lines():
    cuda.cudaMemset(here("cudaMemset"), 0, size)
    cuda.cudaMemset(here("cudaMemset"), 1, size)


def two_callers():
    fill()
    fill()


def recurse(depth):
    if depth:
        return recurse(depth - 1)
    return cuda.cudaMemset(here("cudaMemset"), 0, size)


def generate(count):
    for _ in range(count):
        yield cuda.cudaMemset(here("cudaMemset"), 0, size)


class Layer:
    def __call__(self):
        cuda.cudaMemset(here("cudaMemset"), 0, size)

    @staticmethod
    def still():
        cuda.cudaMemset(here("cudaMemset"), 0, size)

    @functools.lru_cache(maxsize=None)
    def cached(self):
        return cuda.cudaMemset(here("cudaMemset"), 0, size)


def größe():
    cuda.cudaMemset(here("cudaMemset"), 0, size)


async def awaited():
    await asyncio.sleep(0)
    cuda.cudaMemset(here("cudaMemset"), 0, size)


def made_anew():
    """Code objects that are gone before the next one is made, at the same address, if the heap wills."""
    for i in range(200):
        source = "\n" * (i % 5) + "cuda.cudaMemset(here('cudaMemset'), 0, size)"
        exec(compile(source, "made.py", "exec"))
        gc.collect(0)


def functions_anew():
    for i in range(50):
        space = dict(globals())
        exec("def made(n):\n" + "    n += 1\n" * (i % 3) +
             "    cuda.cudaMemset(here('cudaMemset'), 0, size)\n" + "    n += 1\n" * (3 - i % 3), space)
        space["made"](1)
        del space


def one_after_another():
    """Many lines in one function."""
    if "many" not in globals():
        source = "def many():\n" + "    cuda.cudaMemset(here('cudaMemset'), 0, size)\n" * 300
        exec(compile(source, "many.py", "exec"), globals())
    many()  # noqa: F821


def handled():
    try:
        raise ValueError
    except ValueError:
        cuda.cudaMemset(here("cudaMemset"), 0, size)
    finally:
        cuda.cudaMemset(here("cudaMemset"), 0, size)


def threads():
    crowd = [threading.Thread(target=loop) for _ in range(4)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()


def loop():
    for _ in range(50):
        fill()
        two_lines()


def from_c():
    called = callback_type(two_lines)
    worker.worker_call(called)
    in_thread = run_type(lambda argument: fill())
    worker.worker_in_thread(in_thread, None)
    worker.worker_fill(memory, 7)
    with lock:
        counts["cudaMemsetAsync", ""] += 7


class Last:
    """Ends with the interpreter: what it calls has no expectation, but must not fail."""

    def __del__(self):
        cuda.cudaDeviceSynchronize()


def at_exit():
    cuda.cudaMemset(here("cudaMemset"), 0, size)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        for (function, frames), count in counts.items():
            file.write("%s %d: %s\n" % (function, count, frames))


def main():
    cuda.cudaMalloc(ctypes.byref(memory), size)
    settle()
    for _ in range(30):
        fill()
        two_lines()
        two_callers()
        handled()
    for depth in (0, 3, 20, 60, 200):
        recurse(depth)
        recurse(depth)
    collections.deque(generate(20), 0)
    for one in generate(10):
        cuda.cudaMemset(here("cudaMemset"), one, size)
    layer = Layer()
    for _ in range(5):
        layer()
        layer.still()
        layer.cached()
        größe()
    list(map(lambda _: fill(), range(5)))
    [fill() for _ in range(5)]
    asyncio.run(awaited())
    made_anew()
    functions_anew()
    one_after_another()
    one_after_another()
    threads()
    from_c()
    atexit.register(at_exit)
    print("%d calls" % sum(counts.values()))


last = Last()
main()
sys.exit(3)
