# SPDX-License-Identifier: MIT
"""FORMAT.md's tables against the code: the record kinds and their fields against format*.h, the
facts against the calls that write them. format.py ROOT"""
import pathlib
import re
import sys


def headers(root):
    return "".join(path.read_text() for path in sorted(root.glob("shim/trace/format/*.h")))


def kinds(text):
    """Name and number of each kind, from TFS_RECORDS."""
    rows = text[text.index("#define TFS_RECORDS(X)"):text.index("enum tfs_record_kind")]
    return {name: int(number) for number, name in re.findall(r"X\((\d+), (\w+)\)", rows)}


def struct_of(kind):
    return {"call": "tfs_call", "string": "tfs_text_record", "kernel": "tfs_text_record"}.get(
        kind, "tfs_%s_record" % kind)


def fields(text, kind):
    """The fields of a kind's struct, its head and what is reserved aside."""
    body = re.search(r"struct %s \{(.*?)\n\};" % struct_of(kind), text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    names = re.findall(r"(\w+)(?:\[\w+\])?;", body)
    return [name for name in names if name != "record" and not name.startswith("reserved")]


def table(page, title):
    """The rows below a heading, cell by cell, without the table's own head."""
    section = page[page.index(title):].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def facts(root, text):
    """Number, name and key of each, and which of the names no code writes."""
    rows = re.findall(r'X\((\d+), (\w+), "([^"]+)", (?:latest|story|each)', text)
    code = "".join(path.read_text() for folder in ("shim", "cupti", "reports/import")
                   for path in sorted(root.glob(folder + "/**/*.c")))
    unused = [name for _, name, _ in rows if "TFS_FACT_" + name not in code]
    return rows, unused


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "shim/trace/FORMAT.md").read_text()
    text = headers(root)
    wrong = []
    told = {row[1].strip("`"): row for row in table(page, "## Kinds of record")}
    known = kinds(text)
    for kind in sorted(set(told) ^ set(known)):
        wrong.append("%s is a kind in %s only" % (kind, "FORMAT.md" if kind in told else "format/record.h"))
    for kind in set(told) & set(known):
        if int(told[kind][0]) != known[kind]:
            wrong.append("%s is number %d, not %s" % (kind, known[kind], told[kind][0]))
        said = re.findall(r"`(\w+)`", told[kind][2])
        if said != fields(text, kind):
            wrong.append("%s has the fields %s, not %s" % (
                kind, ", ".join(fields(text, kind)), ", ".join(said)))
    rows, unused = facts(root, text)
    said = {tuple(cell.strip("`") for cell in row[:3]) for row in table(page, "## Facts")}
    for fact in sorted(said ^ set(rows)):
        wrong.append("the fact %s is %s" % (" ".join(fact), "not in the code" if fact in said
                                            else "not in FORMAT.md"))
    wrong += ["no code states the fact %s" % name for name in unused]
    for line in wrong:
        print("format.py: " + line)
    print("%d kinds and %d facts compared" % (len(known), len(said)))
    return 1 if wrong or len(known) < 27 or len(said) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
