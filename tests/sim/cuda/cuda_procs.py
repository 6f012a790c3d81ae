#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""cuda_procs.py EXPORTS.txt cudaTypedefs.h OUT.c: what cuGetProcAddress finds.

The header's typedefs name each function's ABIs by the CUDA version that brought them
(PFN_cuMemAlloc_v3020), the exports by suffix (cuMemAlloc_v2). Both are in order of age, so the
newest of one is the newest of the other; exports older than every typedef date from 2.0.
"""
import re
import sys
from collections import defaultdict

exports, header, out_path = sys.argv[1:]
by_version, by_suffix = defaultdict(set), defaultdict(list)

for name, version, twin in re.findall(r"PFN_(cu\w+?)_v(\d+)(_pts[zd]|_ptds)?\)", open(header).read()):
    by_version[name, bool(twin)].add(int(version))
for line in open(exports):
    match = re.fullmatch(r"(cu[A-Z]\w*?)(?:_v(\d+))?(_ptsz|_ptds)?", line.split()[0] if line.strip() else "")
    if match:
        base, suffix, twin = match.groups()
        by_suffix[base, bool(twin)].append((int(suffix or 1), match.group(0)))

rows = []
for (base, twin), symbols in by_suffix.items():
    versions = sorted(by_version[base, twin], reverse=True)
    for i, (suffix, symbol) in enumerate(sorted(symbols, reverse=True)):
        rows.append((base, -(versions[i] if i < len(versions) else 2000), twin, symbol))
rows.sort()

with open(out_path, "w") as out:
    out.write('/* Made by cuda_procs.py. */\n#include "tests/sim/cuda/cuda_proc.h"\n\n')
    out.writelines(f"int {symbol}(void);\n" for base, version, twin, symbol in rows)
    out.write("\nconst struct sim_proc sim_procs[] = {\n")
    for base, version, twin, symbol in rows:
        out.write(f'\t{{"{base}", {-version}, {str(twin).lower()}, {symbol}}},\n')
    out.write("};\nconst unsigned sim_proc_count = sizeof(sim_procs) / sizeof(sim_procs[0]);\n")
