#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hooks_abi.py GENERATE.py INCLUDE_DIR HEADERS OUT.h HOOKS.c...: for hooks_abi.c.

Of the headers (a list with commas), one of the tests' own is only read.

Every hooked function that the headers (a list with commas) declare, with its parameters:
X(cudaError_t, cudaFree, (void * a0), (a0), Q(void *, a0)); Q stands for a pointer, P for the rest.
"""
import importlib.util
import re
import sys

sys.dont_write_bytecode = True
generate, folder, headers, out_path, *sources = sys.argv[1:]
spec = importlib.util.spec_from_file_location("generate", generate)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
headers = headers.split(",")
known = module.prototypes([module.place(folder, header) for header in headers])

names = [name for source in sources
         for name in re.findall(r"\bX\((\w+), \w+\)", open(source).read())]
with open(out_path, "w") as out:
    out.write("/* Made by hooks_abi.py. */\n")
    out.writelines(f"#include <{header}>\n" for header in headers
                   if not header.startswith("tests/"))
    rows = {"value": "", "void": ""}
    for name in names:
        result, parameters = known.get(re.sub(r"_pt[sd][sz]$", "", name), (None, None))
        if result is None:
            continue
        types = [type_ for type_, called in parameters]
        declared = ", ".join(f"{t} a{i}" for i, t in enumerate(types)) or "void"
        arguments = ", ".join(f"a{i}" for i in range(len(types)))
        kept = " ".join(f"{'Q' if '*' in t else 'P'}({t}, a{i})" for i, t in enumerate(types))
        rows["void" if result == "void" else "value"] += \
            f" \\\n\tX({result}, {name}, ({declared}), ({arguments}), {kept})"
    out.write(f"#define ABI_FUNCTIONS(X){rows['value']}\n#define ABI_VOID(X){rows['void']}\n")
