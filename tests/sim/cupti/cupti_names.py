#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cupti_names.py RUNTIME_CBID.h DRIVER_CBID.h OUT.h: the callbacks' names by number."""
import re
import sys

with open(sys.argv[3], "w") as out:
    out.write("/* Made by cupti_names.py. */\n")
    for domain, path in (("runtime", sys.argv[1]), ("driver", sys.argv[2])):
        out.write(f"static const char *const {domain}_names[] = {{\n")
        for name, number in re.findall(r"_TRACE_CBID_(\w+)\s*=\s*(\d+)", open(path).read()):
            if name not in ("INVALID", "SIZE"):
                out.write(f'\t[{number}] = "{name}",\n')
        out.write("};\n")
