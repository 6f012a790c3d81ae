#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_abi.py cudaTypedefs.h HEADER HOOKS.c...: for driver_abi.c.

Every hooked function of the driver with its parameters as NVIDIA's header has them:
X(cuMemFree_v2, (CUdeviceptr a0), (a0), P(CUdeviceptr, a0)).
"""
import re
import sys

header, out_path, *sources = sys.argv[1:]
signatures = {}
# What the header does not know yet, the hooks' file says.
for path in sources + [header]:
    for base, version, twin, parameters in re.findall(
            r"typedef CUresult ?\(CUDAAPI \*PFN_(cu\w+?)_v(\d+)(_pt\w+)?\)\(([^;]*?)\);",
            open(path).read()):
        signatures[base, version, twin] = parameters

rows, types = [], []
for source in sources:
    rows += re.findall(r"\tX\((\w+), (\w*), (\w*), (\d+), \w+\)", open(source).read())
    for condition, body in re.findall(r"^(#if CUDA_VERSION.*)\n((?:(?!#).*\n)*)#endif",
                                      open(source).read(), flags=re.M):
        types += [condition] + re.findall(r"^typedef (?!.*PFN_)[^;]*;", body, flags=re.M) + ["#endif"]
with open(out_path, "w") as out:
    out.write("/* Made by driver_abi.py. */\n" + "\n".join(types) + "\n#define DRIVER_FUNCTIONS(X)")
    for base, abi, twin, version in rows:
        parameters = signatures[base, version, twin]
        types = [] if parameters.strip() in ("", "void") else [
            re.sub(r"\w+$", "", one.strip()).strip() for one in parameters.split(",")]
        names = [f"a{i}" for i in range(len(types))]
        declared = ", ".join(f"{t} {n}" for t, n in zip(types, names)) or "void"
        kept = " ".join(f"P({t}, {n})" for t, n in zip(types, names))
        out.write(f" \\\n\tX({base}{abi}{twin}, ({declared}), ({', '.join(names)}), {kept})")
    out.write("\n")
