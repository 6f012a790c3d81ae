# SPDX-License-Identifier: MIT
"""Turns files into C strings: embed.py OUTPUT NAME=FILE..."""
import sys

with open(sys.argv[1], "w", encoding="ascii") as out:
    out.write('#include "reports/formats/page.h"\n')
    for pair in sys.argv[2:]:
        name, path = pair.split("=", 1)
        with open(path, "rb") as file:
            data = file.read()
        out.write(f"const char {name}[] = {{\n")
        for start in range(0, len(data), 20):
            out.write(",".join(str(b) for b in data[start:start + 20]) + ",\n")
        out.write("0};\n")
