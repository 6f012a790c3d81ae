#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the page accessible, by the rules of axe-core? axe.py WRITE

WRITE makes the pages that are looked at, in a browser, light and dark, wide and narrow. The axe-core
of a Python wheel is fetched for that, and kept in $XDG_CACHE_HOME/tfshim/axe. Which colours are told
apart, page.py computes: axe does not say where elements lie above each other.
"""

import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

WHEEL = "axe-playwright-python==0.1.8"
LEAST_PASSED = 30
DARK = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")
LIGHT = ("--blink-settings=preferredColorScheme=1",)
LOOKS = (("light", LIGHT, "1280,900"), ("dark", DARK, "1280,900"), ("narrow", LIGHT, "700,900"))
RUN = """<script>addEventListener("load", () => {
for (const part of document.querySelectorAll("details")) part.open = true;
axe.run().then(result => {
const said = document.createElement("pre");
said.id = "axe-said";
said.textContent = JSON.stringify({passed: result.passes.length,
violations: result.violations.map(v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html)]),
unsure: result.incomplete.map(i => i.id)});
document.body.append(said);
})})</script>"""


def fetch():
    """The text of axe-core, or None where it cannot be had."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                         "tfshim", "axe")
    kept = os.path.join(cache, WHEEL + ".js")
    if not os.path.exists(kept):
        with tempfile.TemporaryDirectory() as folder:
            got = subprocess.run(
                [sys.executable, "-m", "pip", "download", "-q", "--timeout", "15", "--retries", "1",
                 "--no-deps", "--only-binary=:all:", "-d", folder, WHEEL], check=False,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wheels = glob.glob(os.path.join(folder, "*.whl"))
            if got.returncode or not wheels:
                return None
            with zipfile.ZipFile(wheels[0]) as archive:
                name = next(n for n in archive.namelist() if n.endswith("/axe.min.js"))
                text = archive.read(name)
        os.makedirs(cache, exist_ok=True)
        with open(kept + ".new", "wb") as out:
            out.write(text)
        os.replace(kept + ".new", kept)
    with open(kept, encoding="utf-8") as file:
        return file.read()


class Looker:
    def __init__(self, browser, axe, folder):
        self.words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                      "--disable-background-networking", "--disable-sync",
                      "--user-data-dir=" + os.path.join(folder, "profile"),
                      "--virtual-time-budget=60000", "--dump-dom"]
        self.axe = "<script>" + axe.replace("</script", "<\\/script") + "</script>" + RUN
        self.path = os.path.join(folder, "page.html")

    def look(self, page, flags, size):
        """What axe says of the page, or None."""
        end = page.rindex("</body>")
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(page[:end] + self.axe + page[end:])
        dom = subprocess.run([*self.words, *flags, "--window-size=" + size, "file://" + self.path],
                             timeout=300, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             check=False).stdout.decode("utf-8", "replace")
        said = re.search(r'<pre id="axe-said">(.*?)</pre>', dom, re.S)
        return json.loads(html.unescape(said[1])) if said else None


def wrong_of(said):
    if not said or said["passed"] < LEAST_PASSED:
        return ["axe says next to nothing: %s" % said]
    wrong = ["%s: %s: %s" % tuple(violation) for violation in said["violations"]]
    return wrong + ["not known: " + what for what in said["unsure"] if what != "color-contrast"]


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    axe = fetch() if browser else None
    if not axe:
        print("axe.py: %s: the page was not looked at" % (
            "axe-core cannot be fetched" if browser else "chromium is not installed"))
        return 77
    failed = looked = 0
    with tempfile.TemporaryDirectory() as folder:
        looker = Looker(browser, axe, folder)
        pages = {name: subprocess.run([sys.argv[1], name, "html"], stdout=subprocess.PIPE,
                                      check=True).stdout.decode("utf-8")
                 for name in ("naive", "hostile")}
        for name, page in pages.items():
            for title, flags, size in LOOKS if name == "naive" else LOOKS[:1]:
                looked += 1
                for text in wrong_of(looker.look(page, flags, size)):
                    failed += 1
                    print("%s, %s: %s" % (name, title, text))
        # A picture that nobody describes is found.
        blind = pages["naive"].replace("<main", '<img src="data:,"><main', 1)
        said = looker.look(blind, LIGHT, "1280,900")
        if not said or "image-alt" not in [violation[0] for violation in said["violations"]]:
            failed += 1
            print("a picture without words is not found: %s" % (said and said["violations"]))
    print("%d pages looked at, %d wrong" % (looked, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
