#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does what the documents name exist?

    documents.py ROOT BUILD TFSHIM    status 1, with each name that leads nowhere

Looked at are pieces of code, in backticks or in blocks: paths (in the tree, or outputs of the
build), functions and other names of the sources (in a table row, of the file that its first cell
names), scripts and their options, sub-commands of tfshim and their options, TFSHIM_ and TFSIM_
variables, keys of TFSHIM_OPTIONS, rewrites, rules, targets, tests. And of docs/options.md: are all
keys in it? Of ARCHITECTURE.md: are all locks of what runs in the program in its tables?
"""
import fnmatch
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# What a run makes, and what is the user's.
ELSEWHERE = ("./trainer", "./cuda", "ci/baseline", "tfshim-out/", "tests/gpu/results/", "/usr/local/cuda",
             "/path/to/", "build/meson-logs/")
FOLDERS = ("shim", "cupti", "rules", "reports", "tests", "docs", "build")
SOURCE = re.compile(r"[\w./*<>-]+\.(c|h|S|py|sh|md|txt|build|cu|css|js|awk)")
WORD = re.compile(r"[A-Za-z_]\w*")
LOCK = re.compile(r"^\s*(?:static )?(?:struct tfs_spin|pthread_mutex_t) (\w+)\b", re.MULTILINE)
MADE_UP = (
    "`shim/record/freme.h`", "`freme.h`", "`rules/catalogue/<id>.cc`", "[x](reports/page/none.png)",
    "`build/shim/libtfshim_no.so`", "`tfs_hook_enter_nowhere()`", "`staging_minimum`",
    "`sh tests/demos.sh`", "`sh tests/demo.sh --gqu`", "`tfshim judge x.tfs`", "`tfshim --verbose`",
    "`tfshim check --lenient x.tfs`", "`tfshim run --lenient -- ./trainer`", "`--lenient`",
    "`TFSHIM_OUTPTU`", "`TFSIM_PROFIEL=a100 ./trainer`", "`TFSHIM_OPTIONS=report=0:recrod=all`",
    "`TFSHIM_REWRITE=safe,pinned-stagin`", "`recrod=all`", "`TFS999`", "`-Djemaloc=disabled`",
    "`ninja -C build shim/libtfshims.so`", "`meson test -C build sorts`",
    "`meson test -C build --suite stile`", "| `shim/hooks/copy.h` | `tfs_hook_details_always()` |",
    "`tfs_hook_details()` in `shim/hooks/copy.h`")


class Tree:
    """What there is to name."""

    def __init__(self, root, build, tfshim):
        self.root, self.tfshim = root, tfshim
        self.outputs = set()
        for line in (build / "build.ninja").read_text().splitlines():
            if line.startswith("build "):
                self.outputs.update("build/" + name for name in line[6:].split(":")[0].split())
        top = [root / name for name in FOLDERS if name != "build"]
        self.files = [path for folder in top for path in folder.rglob("*")
                      if "__pycache__" not in path.parts and "corpus" not in path.parts]
        self.names = {path.name for path in self.files} | {path.name for path in root.iterdir()}
        self.text = {path: path.read_text(errors="replace") for path in self.files
                     if path.suffix in (".c", ".h", ".py", ".sh", ".build", ".txt", ".S", ".cu")
                     and path.is_file() and path.name != "documents.py"}
        self.words = {word for text in self.text.values() for word in WORD.findall(text)}
        options = self.text[root / "shim/base/env_options.h"]
        self.keys = set(re.findall(r'X\("(\w+)"', options))
        self.mutants = set(re.findall(r"X\((\w+), \"", options))
        listed = (root / "shim/rewrites/meson.build").read_text().split("]")[0]
        self.rewrites = {name.replace("_", "-") for name in re.findall(r"'(\w+)'", listed)}
        self.rewrites |= {"off", "report", "exact", "safe", "all", "shadow", "apply"}
        self.helps = {None: self.help()}
        for command in re.findall(r"^  (\w+)  ", self.helps[None], re.MULTILINE):
            self.helps[command] = self.help(command)
        scripts = "\n".join(text for path, text in self.text.items() if path.suffix == ".sh")
        self.options = set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", scripts))
        for text in self.helps.values():
            self.options |= options_of(text)
        self.variables = self.read_variables(scripts)
        tests = json.loads((build / "meson-info/intro-tests.json").read_text())
        self.tests = {test["name"] for test in tests}
        self.suites = {suite.rpartition(":")[2] for test in tests for suite in test["suite"]}
        self.settings = set(re.findall(r"option\('(\w+)'", (root / "meson_options.txt").read_text()))

    def help(self, *command):
        return subprocess.run([self.tfshim, *command, "--help"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def read_variables(self, scripts):
        """Those that something reads: the shim, tfshim.h, the simulated device, a script."""
        found = set(re.findall(r"\bTFSHIM_[A-Z_]+", scripts))
        for path, text in self.text.items():
            if "tests/sim" in path.as_posix():
                found |= set(re.findall(r'"(TFSIM_[A-Z_]+)', text))
            elif path.suffix in (".c", ".h"):
                found |= set(re.findall(r'\("(TFSHIM_[A-Z_]+)"', text))
                found |= set(re.findall(r'\{"(TFSHIM_[A-Z_]+)"', text))
        return found | set(re.findall(r"#define (TFSHIM_\w+)\(", self.text[self.root / "shim/tfshim.h"]))


def options_of(text):
    return set(re.findall(r"(?:^|\s)(--?[a-z][\w-]*)", text))


def path_wrong(tree, name):
    """Why this is no path; None where it is one, or not meant as one."""
    name = name.rstrip(".,:;")
    if name.startswith(ELSEWHERE) or not re.fullmatch(r"[\w./*<>-]+", name):
        return None
    pattern = re.sub(r"<\w+>", "*", name).rstrip("/")
    if "/" not in name:
        named = not SOURCE.fullmatch(name) or fnmatch.filter(tree.names, pattern)
        return None if named else f"no file {name}"
    if name.startswith("build/"):
        made = fnmatch.filter(tree.outputs, pattern) or fnmatch.filter(tree.outputs, pattern + "/*")
        return None if made else f"the build does not make {name}"
    if name.split("/")[0] not in FOLDERS and not SOURCE.fullmatch(name):
        return None
    return None if any(tree.root.glob(pattern)) else f"no path {name}"


def build_wrong(tree, words):
    """Of ninja -C build TARGET and meson test -C build TEST: do they exist?"""
    operands = words[words.index("-C") + 2:]
    if words[0] == "ninja":
        return next((f"no target {name}" for name in operands if "build/" + name not in tree.outputs), None)
    while operands and operands[0].startswith("-"):
        known = {"--suite": tree.suites, "--list": None, "--no-rebuild": None}
        if operands[0] not in known:
            return f"an option that is not known here: {operands[0]}"
        if known[operands[0]] and not {operands[1]} & known[operands[0]]:
            return f"no suite {operands[1]}"
        operands = operands[2 if known[operands[0]] else 1:]
    return next((f"no test {name}" for name in operands if name not in tree.tests | {"NAME"}), None)


def command_wrong(tree, words):
    """Of a command line that begins with tfshim: what is wrong with it."""
    words = words[:words.index("--")] if "--" in words else words
    rest = words[1:]
    if not rest or rest[0].isupper():
        return None
    if rest[0].startswith("-"):
        return None if rest[0] in ("--help", "--version") else f"tfshim has no option {rest[0]}"
    if rest[0] not in tree.helps:
        return f"tfshim has no command {rest[0]}"
    for word in rest[1:]:
        option = word.split("=")[0]
        if option.startswith("-") and option not in options_of(tree.helps[rest[0]]):
            return f"tfshim {rest[0]} has no option {option}"
    return None


def script_wrong(tree, words):
    """Of `sh tests/X.sh --option`: does the script know its options?"""
    script = tree.root / words[1]
    if not script.is_file():
        return None  # said as a path
    known = script.read_text()
    for word in words[2:]:
        if word.startswith("-") and not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", known):
            return f"{words[1]} knows no {word}"
    return None


def settings_wrong(tree, name, value):
    """Of NAME=VALUE in front of a program."""
    if name == "TFSHIM_OPTIONS":
        for part in value.split(":"):
            key = part.split("=")[0]
            if key not in tree.keys | tree.mutants:
                return f"TFSHIM_OPTIONS has no key {key}"
    if name == "TFSHIM_REWRITE":
        for part in re.split("[,=]", value):
            if part not in tree.rewrites:
                return f"no rewrite {part}"
    return None


def line_wrong(tree, line):
    """All that is wrong with one piece of code."""
    try:
        words = shlex.split(line.replace("…", ""), comments=True)
    except ValueError:
        words = line.split()
    words = [word.strip("[]") for word in words]
    for variable in re.findall(r"\b(?:TFSHIM|TFSIM)_[A-Z_]*[A-Z]", line):
        if variable not in tree.variables:
            yield f"nothing reads {variable}"
    for identifier in re.findall(r"TFS\d{3}\b", line):
        if not any(tree.root.glob(f"rules/catalogue/{identifier.lower()}_*.c")):
            yield f"no rule {identifier}"
    # What follows there is named from the folder of the build, or is no path.
    of_build = len(words) > 3 and words[0] in ("ninja", "meson") and "-C" in words
    for word in [] if of_build else words:
        name, equals, value = word.partition("=")
        if equals and name.startswith("-D"):
            yield None if name[2:] in tree.settings else f"the build has no option {name[2:]}"
        elif equals and re.fullmatch(r"[A-Z_0-9]+", name):
            yield settings_wrong(tree, name, value)
        elif equals and re.fullmatch("[a-z_]+", name) and name not in tree.keys | {"key"}:
            yield f"no option {name}"
        elif not equals:
            yield path_wrong(tree, word)
    while words and "=" in words[0]:
        words = words[1:]
    if words and words[0].rpartition("/")[2] == "tfshim":
        yield command_wrong(tree, words)
    elif of_build and words[1] != "install":
        yield build_wrong(tree, words)
    elif len(words) > 1 and words[0] == "sh":
        yield script_wrong(tree, words)
    elif words and re.fullmatch(r"--[a-z][\w-]*", words[0]) and words[0] not in tree.options:
        yield f"nothing has the option {words[0]}"
    for name in re.findall(r"\b(\w+)\(\)", line):
        if name not in tree.words:
            yield f"no function {name}"
    if re.fullmatch(r"[a-z]+(_[a-z0-9]+)+", line) and line not in tree.words:
        yield f"no name {line}"


def prose_wrong(tree, line):
    """Of "`name` in `file`", and of a table row whose first cell is a source: that file has them."""
    for names, file in re.findall(r"((?:`\w+(?:\(\))?`,? )+)(?:in|of) `([\w./]+)`", line):
        words = set(WORD.findall(tree.text.get(tree.root / file, "")))
        for name in WORD.findall(names):
            if words and name not in words:
                yield f"{file} has no {name}"
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    first = re.fullmatch(r"`([\w./]+)`", cells[0])
    if not line.startswith("|") or not first or (tree.root / first[1]) not in tree.text or len(cells) < 2:
        return
    words = set(WORD.findall(tree.text[tree.root / first[1]]))
    for name in re.findall(r"`(\w+)\(\)`", cells[1]):
        if name not in words:
            yield f"{first[1]} has no {name}"


def locks_missing(tree):
    """(how many locks the program's side has, those that no table of ARCHITECTURE.md has)"""
    section = (tree.root / "ARCHITECTURE.md").read_text().split("\n## Locks\n")[1].split("\n## ")[0]
    rows = [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in section.splitlines() if line.startswith("|")]
    locks = [(path.relative_to(tree.root).as_posix(), name) for path, text in tree.text.items()
             if path.suffix in (".c", ".h") for name in LOCK.findall(text)]
    locks = [(file, name) for file, name in locks if file.startswith(("shim/", "cupti/"))]
    return len(locks), [f"ARCHITECTURE.md has no lock `{name}` in `{file}`" for file, name in locks
                        if not any(name in row and any(fnmatch.fnmatch(file, word) for word in row)
                                   for row in rows)]


def pieces(text):
    """(line number, code) of every block's line and every span."""
    block, joined = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            block = not block
        elif block:
            joined += line.rstrip("\\")
            if not line.endswith("\\"):
                yield number, joined
                joined = ""
        else:
            for code in re.findall(r"`([^`]+)`", line):
                yield number, code
            for target in re.findall(r"\]\(([^)]+)\)", line):
                yield number, target


def unseen(tree):
    """Of names that are made up: those that are not found to be."""
    for line in MADE_UP:
        said = [why for _, code in pieces(line) for why in line_wrong(tree, code) if why]
        if not said and not list(prose_wrong(tree, line)):
            yield f"made up, and taken for right: {line}"


def wheels_wrong(root):
    """The script that builds nothing says so, and at once."""
    with tempfile.TemporaryDirectory() as empty:
        run = subprocess.run(["sh", root / "tests/wheels.sh", empty], text=True, timeout=60,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 2 or "is not built; run: " not in run.stdout:
        yield f"tests/wheels.sh without a build: status {run.returncode}: {run.stdout[:200]}"


def main():
    root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tree = Tree(root, build, sys.argv[3])
    documents = [root / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
    documents += sorted((root / "docs").glob("*.md"))
    wrong = list(wheels_wrong(root)) + list(unseen(tree))
    count = 0
    for document in documents:
        text = document.read_text()
        where = document.relative_to(root)
        for number, code in pieces(text):
            count += 1
            wrong += [f"{where}:{number}: {why}" for why in line_wrong(tree, code) if why]
        for number, line in enumerate(text.splitlines(), 1):
            wrong += [f"{where}:{number}: {why}" for why in prose_wrong(tree, line)]
    told = set(re.findall(r"^\| `(\w+)` \|", (root / "docs/options.md").read_text(), re.MULTILINE))
    wrong += [f"docs/options.md does not have the key {key}" for key in sorted(tree.keys - told)]
    locks, missing = locks_missing(tree)
    wrong += missing
    for why in wrong:
        print(why)
    print(f"{len(documents)} documents, {count} pieces of code, {len(tree.keys)} keys, {locks} locks, "
          f"{len(MADE_UP)} made-up names, {len(wrong)} wrong")
    few = count < 300 or len(tree.keys) < 20 or len(tree.helps) < 6 or locks < 30
    return 1 if wrong or few else 0


if __name__ == "__main__":
    sys.exit(main())
