#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stubs.py LIST OUT.c OUT.map: the rest of a simulated library.

LIST names everything that the real library exports, one name a line, after two lines
"node NAME" (the version node, - for none) and "status NUMBER" (the library's own "not
supported"). A second word on a name's line says what its stub answers instead: another
number, "zero" (nothing, or a null pointer), "real" (0.0) or "text" (a string).

OUT.c holds a weak function for each name, so that an implementation replaces it without
being listed here; OUT.map exports exactly these names under the node.
"""
import sys

BODIES = {
    "zero": ("void *", "(void *)0"),
    "real": ("double ", "0.0"),
    "text": ("const char *", '"not supported by the simulated device"'),
}


def read(path):
    words = [line.split() for line in open(path) if line.strip() and line[0] != "#"]
    head, rows = dict(words[:2]), words[2:]
    return head["node"], head["status"], [(row[0], row[1] if len(row) > 1 else None) for row in rows]


def main():
    source, code, version_map = sys.argv[1:]
    node, status, rows = read(source)
    with open(code, "w") as out:
        # No header: the true prototypes would contradict these.
        out.write("/* Made by stubs.py. */\nvoid tfsim_not_supported(const char *name);\n")
        for name, answer in rows:
            kind, value = BODIES.get(answer, ("int ", answer or status))
            out.write(f"""
__attribute__((weak, visibility("default"))) {kind}{name}(void);
{kind}{name}(void)
{{
	tfsim_not_supported("{name}");
	return {value};
}}
""")
    with open(version_map, "w") as out:
        out.write(("" if node == "-" else node + " ") + "{\nglobal:\n")
        out.writelines(f"\t{name};\n" for name, answer in rows)
        out.write("local:\n\t*;\n};\n")


main()
