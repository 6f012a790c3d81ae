# SPDX-License-Identifier: MIT
"""For programs that call CUDA: settle() returns when tfshim can take call stacks; without it at once."""
import os
import time


def thread_names():
    names = set()
    for task in os.listdir("/proc/self/task"):
        with open("/proc/self/task/%s/comm" % task, encoding="utf-8") as file:
            names.add(file.read().strip())
    return names


def settle():
    """After the process's first CUDA call."""
    while "tfshim" in os.environ.get("LD_PRELOAD", "") and "tfshim" not in thread_names():
        time.sleep(0.01)
