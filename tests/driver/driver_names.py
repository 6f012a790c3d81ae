#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_names.py cudaTypedefs.h OUT.c: what a runtime could ask the driver for."""
import re
import sys

header, out_path = sys.argv[1:]
rows = sorted({(name, int(version)) for name, version in
               re.findall(r"PFN_(cu[A-Z]\w*?)_v(\d+)(?:_pts[zd])?\)", open(header).read())})
with open(out_path, "w") as out:
    out.write('/* Made by driver_names.py. */\n#include "tests/driver/driver_client.h"\n\n')
    out.write("const struct driver_name driver_names[] = {\n")
    out.writelines(f'\t{{"{name}", {version}}},\n' for name, version in rows)
    out.write(f"}};\nconst size_t driver_names_count = {len(rows)};\n")
