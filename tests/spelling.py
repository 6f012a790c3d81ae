#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call does is told by its function's family, never by how the function is spelled.

    spelling.py ROOT    status 1, with each place in rules/, reports/ and shim/rewrites/ that goes by
                        the spelling
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CALL = re.compile(r"\b(strn?(?:case)?cmp|memcmp|bcmp)\s*\(")
SEARCH = re.compile(r"\b(strstr|strcasestr|memmem|fnmatch|regexec|sscanf|strpbrk|strtok(?:_r)?)\s*\(")
# Names of functions, not of statuses.
NAME = re.compile(r'"(?:__)?(?:cuda|cu(?=[A-Z])|cudnn|cublas|curand|nccl(?!\w*Error|Invalid|InProgress))'
                  r'[A-Z](?!rror)\w*"')
READS = re.compile(r"\btfs_trace_function\b|\bTFS_RECORD_(?:function|api)\b|\bfunction->name\b")
# What is no recorded function: frames of a call stack, files of a library that is opened, cuDNN's
# search that an advice names; columns of another tool's tables; the name of a device.
ELSEWHERE = {"reports/build/places.c", "reports/doctor/doctor.c", "reports/doctor/doctor_program.c",
             "reports/doctor/elf_file.c", "reports/import/nsight/nsight_target.c",
             "rules/evidence/sharing.c"}
# What they ask for is finer than families are, of which 64 fit a mask. What they spell begins the name
# of a function that has a hook.
FINER = {"shim/rewrites/common/work.c", "shim/rewrites/common/held.c",
         "shim/rewrites/memset_elision/fill_checks.c"}
# Which cores a library's kernel computes with is in its name alone.
KERNELS = {"rules/device/cores.c"}
PASSED = ELSEWHERE | KERNELS | FINER
TOLD = re.compile(r"\breturn\s*$")

MADE_UP = {
    "found": (
        'bool a(const char *name)\n{\n\treturn strstr(name, "Create");\n}\n',
        'bool a(const char *name)\n{\n\treturn !strcmp(name, "cudnnAddTensor");\n}\n',
        'static const char *const names[] = {"cudaMalloc", "cudaFree"};\n',
        'bool a(const struct tfs_function *function)\n{\n\treturn !strncmp(function->name, "cu", 2);\n}\n',
        'int a(void)\n{\n\treturn strncmp(tfs_trace_function(trace, id), "cu", 2);\n}\n',
        'const char *name = tfs_trace_function(trace, 1);\nbool b = !strcasecmp(\n\tname, "x");\n',
        'struct a *b = tfs_trace_find(trace, TFS_RECORD_function, 1);\nint c = memcmp("x", b + 1, 2);\n',
    ),
    "passed": (
        '/* strstr(name, "Create") */\n',
        'int a(void)\n{\n\treturn strcmp(tfs_trace_function(t, 1), tfs_trace_function(t, 2));\n}\n',
        'const char *a(void)\n{\n\treturn "cudnnFindConvolutionForwardAlgorithmEx";\n}\n',
        'static const char *const names[] = {"cudaErrorInvalidValue", "ncclInternalError"};\n',
        'bool a(const char *key)\n{\n\treturn !strcmp(key, "steps");\n}\n',
        'const char *text = "Remove cudaFree from the step.";\n',
    ),
}


def arguments(text, start):
    """What stands between the parentheses, of which the first is right before `start`."""
    depth, quoted, at = 1, False, start
    while at < len(text) and depth:
        if quoted and text[at] == "\\":
            at += 1
        elif text[at] == '"':
            quoted = not quoted
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start:at - 1]


def wrong(name, text):
    """(line, what is done there) of each place that goes by the spelling."""
    text = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    reads = READS.search(text)
    found = []
    # Elsewhere paths and options are searched through.
    if reads or not name.startswith(("reports/", "shim/")):
        found += [(call.start(), call[1]) for call in SEARCH.finditer(text)]
    for call in CALL.finditer(text) if reads else ():
        if re.search('"[^"]', arguments(text, call.end()).replace('""', "")):
            found.append((call.start(), call[1] + " with a text"))
    found += [(one.start(), one[0]) for one in NAME.finditer(text) if not TOLD.search(text[:one.start()])]
    return [(text.count("\n", 0, at) + 1, what) for at, what in sorted(found)]


def hooked(root):
    """The functions that have hooks, by their rows and lists; of a pattern what stands before its star."""
    names = set()
    for path in (root / "shim/hooks").rglob("*.c"):
        names |= {"".join(row) for row in re.findall(r"\bX\((\w+),(?: (_v\d+)?,)?", path.read_text())}
    for path in (root / "shim/hooks").rglob("*.txt"):
        names |= {line.split()[0] for line in path.read_text().splitlines() if re.match(r"c\w+\*?\w* ", line)}
    return names


def unknown(root):
    """What is spelled of functions in FINER's files, and begins no hook's name."""
    names = hooked(root)
    for path in sorted(FINER):
        for word in NAME.findall(COMMENT.sub("", (root / path).read_text())):
            if not any(name.startswith(word[1:-1]) or
                       ("*" in name and word[1:].startswith(name.partition("*")[0])) for name in names):
                yield path, word


def main():
    root = pathlib.Path(sys.argv[1])
    files = sorted(path for folder in ("rules", "reports", "shim/rewrites")
                   for path in (root / folder).rglob("*.[ch]"))
    reading, bad = 0, 0
    for path in files:
        name, text = path.relative_to(root).as_posix(), path.read_text()
        reading += bool(READS.search(text))
        for line, what in wrong(name, text) if name not in PASSED else ():
            bad += 1
            print(f"{name}:{line}: {what}: goes by a function's spelling, not its family")
    for name, word in unknown(root):
        bad += 1
        print(f"{name}: {word}: no function that has a hook begins like that")
    for kind, texts in MADE_UP.items():
        for text in texts:
            if bool(wrong("rules/made_up.c", text)) != (kind == "found"):
                bad += 1
                print(f"made up, and not {kind}: {text}")
    print(f"{len(files)} files, {reading} that read names, {sum(map(len, MADE_UP.values()))} made up, "
          f"{bad} wrong")
    return 1 if bad or len(files) < 200 or reading < 8 else 0


if __name__ == "__main__":
    sys.exit(main())
