#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/rules.md is what `tfshim rules` prints, laid out as a page.

    catalogue.py ROOT TFSHIM            status 1 where it is not
    catalogue.py ROOT TFSHIM --write    writes it
"""
import difflib
import pathlib
import re
import subprocess
import sys

HEAD = """# Rules

Made from the rules themselves by `python3 tests/catalogue.py . build/reports/tfshim --write`; `tfshim rules ID`
prints the same. `rules/rule.h` says how to add one.

| rule | | level | rewrite | |
| --- | --- | --- | --- | --- |
"""
ROW = re.compile(r"(TFS\d+)  (\w+) +(\S+) +(\S+) +(.+)")
FIRST = re.compile(r"^(TFS\d+) (\S+): (.+)\n(.+)\n\n", re.MULTILINE)
SECTION = re.compile(r"^([A-Z].*):\n((?:.+\n)+)", re.MULTILINE)


def ask(tfshim, *ids):
    return subprocess.run([tfshim, "rules", "--color", "never", *ids], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def capital(title):
    """A title as a sentence begins; a name such as cuBLASLt stays as it is."""
    return title if re.match(r"[a-z]+[A-Z]", title) else title[0].upper() + title[1:]


def one(text):
    """The section of a rule, of what is printed of it."""
    first = FIRST.match(text)
    sections = SECTION.findall(text[first.end():])
    why = " ".join(text[first.end():].split("\n\n")[0].split())
    lines = [f"## {first[1]} {first[2]}", "", f"**{capital(first[3])}.** {why}", "",
             re.sub(r"rewrite: (?!none)(\S+)", r"rewrite: `\1`", first[4]).replace("   ", "; ") + "."]
    for title, body in sections:
        body = " ".join(body.split())
        lines.append(f"{title}: `{body}`" if body.startswith("tfshim ") else f"{title}: {body}")
    return lines[:4] + ["- " + line for line in lines[4:]]


def page(tfshim):
    rows = ROW.findall(ask(tfshim))
    ids = [row[0] for row in rows]
    printed = ask(tfshim, *ids)
    starts = [match.start() for match in FIRST.finditer(printed)] + [len(printed)]
    told = [one(printed[start:end]) for start, end in zip(starts, starts[1:])]
    if len(told) != len(ids) or len(ids) < 10:
        sys.exit(f"{len(ids)} rules listed, {len(told)} told of")
    text = HEAD
    for identifier, level, slug, rewrite, title in rows:
        anchor = f"[{identifier}](#{identifier.lower()}-{slug})"
        text += f"| {anchor} | {slug} | {level} | {'' if rewrite == '-' else rewrite} | {title} |\n"
    for lines in told:
        text += "\n" + "\n".join(lines) + "\n"
    left = ask(tfshim).partition("\nnot looked for")[2].partition("\n")[2]
    return text + "\n## Not looked for\n\n" + " ".join(left.split()) + ".\n", len(ids)


def main():
    root, tfshim, *rest = sys.argv[1:]
    path = pathlib.Path(root) / "docs/rules.md"
    made, count = page(tfshim)
    if rest == ["--write"]:
        path.write_text(made)
        return 0
    kept = path.read_text() if path.exists() else ""
    wrong = list(difflib.unified_diff(kept.splitlines(), made.splitlines(), "docs/rules.md", "tfshim rules",
                                      lineterm=""))
    print("\n".join(wrong + [f"{count} rules, {len(wrong)} lines differ"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
