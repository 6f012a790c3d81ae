# SPDX-License-Identifier: MIT
"""What PyTorch's wheel is linked to and the simulated device does not have.

torch_stubs.py TORCH-LIB SIMULATED FOLDER COMPILER: in FOLDER a library for each that is missing, and
rest.so, to be preloaded, with all functions that are missing; they fail.
"""
import glob
import os
import re
import subprocess
import sys

NVIDIA = re.compile(r"(cu|nccl|nv)[A-Za-z]")


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def names(paths, which):
    """Dynamic symbols of NVIDIA's: `which` is how nm chooses them."""
    found = set()
    for path in paths:
        for line in printed("nm", "-D", which, path).splitlines():
            name = line.split()[-1].split("@")[0]
            if NVIDIA.match(name):
                found.add(name)
    return found


def main():
    wheel, simulated, into, compiler = sys.argv[1:]
    compiler = compiler.split() + ["-shared", "-fPIC", "-w", "-x", "c", "-"]
    ours = glob.glob(os.path.join(wheel, "*.so*"))
    theirs = [path for path in glob.glob(os.path.join(simulated, "*.so*")) if os.path.isfile(path)]
    there = {os.path.basename(path) for path in ours + theirs}
    missing = names(ours, "--undefined-only") - names(ours + theirs, "--defined-only")
    source = "".join("int %s(void)\n{\n\treturn 1;\n}\n" % name for name in sorted(missing))
    subprocess.run(compiler + ["-o", os.path.join(into, "rest.so")], input=source, text=True, check=True)
    needed = set()
    for path in ours:
        needed.update(re.findall(r"\(NEEDED\).*\[(libcu.*|libnv.*)\]", printed("readelf", "-dW", path)))
    for name in sorted(needed - there):
        subprocess.run(compiler + ["-o", os.path.join(into, name), "-Wl,-soname," + name],
                       input="", text=True, check=True)
    print("%d functions and %d libraries are missing" % (len(missing), len(needed - there)))


if __name__ == "__main__":
    main()
