# SPDX-License-Identifier: MIT
"""The page in a browser and on paper: page.py WRITE [FOLDER_FOR_PICTURES]

Checks that it is whole without JavaScript, asks the network for nothing, shows no script that a
program's names brought along, keeps its sizes, and can be read in light and dark.
"""
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

failures = 0


def check(held, what):
    global failures
    if not held:
        print("page.py: " + what)
        failures += 1


class Page(html.parser.HTMLParser):
    """Counts elements, looks for what a page must not have, and keeps the JSON."""

    VOID = {"meta", "link", "br", "img", "input", "hr"}

    def __init__(self, text):
        super().__init__()
        self.counts = {}
        self.open = []
        self.problems = []
        self.shapes = []
        self.ids = set()
        self.data = ""
        self.feed(text)
        if self.open:
            self.problems.append("not closed: %s" % self.open)

    def handle_starttag(self, tag, attrs):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        values = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in values:
            if values["id"] in self.ids:
                self.problems.append("id twice: " + values["id"])
            self.ids.add(values["id"])
        for name, value in attrs:
            if name == "class" and not re.fullmatch(r"[-a-z0-9_ ]+", value or ""):
                self.problems.append("class %s" % value)
            if name.startswith("on"):
                self.problems.append("handler " + name)
            if name in ("src", "href", "action", "data", "srcset") and not re.match(
                    r"(#|data:,$)", value or ""):
                self.problems.append("reference %s=%s" % (name, value))
        if tag == "svg" and "chart" in values.get("class", ""):
            self.shapes.append(0)
            if values.get("role") != "img":
                self.problems.append("a chart without role")
        if tag == "title" and self.open[-2:-1] != ["head"] and self.shapes:
            self.shapes[-1] += 1

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.problems.append("</%s> closes %s" % (tag, self.open[-1:]))
            return
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script" and data.startswith("{"):
            self.data = data


def luminance(colour):
    colour = colour.lstrip("#")
    if len(colour) == 3:
        colour = "".join(c * 2 for c in colour)
    parts = []
    for i in (0, 2, 4):
        value = int(colour[i:i + 2], 16) / 255
        parts.append(value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4)
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one, two):
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def check_colours(style):
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", style)
    themes = [dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]+)", block)) for block in blocks]
    themes = [theme for theme in themes if "ink" in theme]
    check(len(themes) == 3, "not three themes but %d" % len(themes))
    check(themes[1:2] == themes[2:3], "the dark theme differs from the dark system theme")
    for number, theme in enumerate(themes):
        for ink, ground in (("ink", "card"), ("ink", "bg"), ("dim", "card"), ("dim", "bg"),
                            ("dim", "soft"), ("accent", "card"), ("error", "error-bg"),
                            ("warn", "warn-bg"), ("note", "note-bg"), ("good", "good-bg"),
                            ("warn", "card"), ("good", "card"), ("ink", "error-bg"),
                            ("ink", "warn-bg"), ("ink", "good-bg"), ("card", "error"),
                            ("card", "warn"), ("card", "good")):
            ratio = contrast(theme[ink], theme[ground])
            check(ratio >= 4.5, "theme %d: %s on %s has contrast %.2f" % (number, ink, ground, ratio))
        for lane in ("host", "sync", "compute", "h2d", "d2h", "d2d", "nccl", "overlap"):
            ratio = contrast(theme[lane], theme["card"])
            check(ratio >= 3, "theme %d: lane %s has contrast %.2f" % (number, lane, ratio))


def check_file(name, text, limit):
    page = Page(text.decode("utf-8"))
    for problem in page.problems[:5]:
        check(False, "%s: %s" % (name, problem))
    check(len(text) <= limit, "%s has %d bytes" % (name, len(text)))
    check(page.counts.get("script") == 2, "%s: %s scripts" % (name, page.counts.get("script")))
    check("img" not in page.counts, "%s has an image" % name)
    check(b"Content-Security-Policy" in text, "%s has no policy" % name)
    check(text.count(b'"tfshim-report/2"') == 1, "%s has its data not once" % name)
    check(max(page.shapes or [0]) <= 2001, "%s: %s shapes in a chart" % (name, page.shapes))
    for section in ("findings", "steps", "gpu", "memory", "lanes", "tree", "fixed", "unjudged", "rules", "method"):
        check(section in page.ids, "%s has no section %s" % (name, section))
    try:
        check(json.loads(page.data)["schema"] == "tfshim-report/2", "%s: schema" % name)
    except ValueError as error:
        check(False, "%s: its data: %s" % (name, error))
    return page


def brightness(path):
    """The mean of a PNG's first colour channel."""
    data = open(path, "rb").read()
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    packed, at = b"", 8
    while at < len(data):
        length = struct.unpack(">I", data[at:at + 4])[0]
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw = zlib.decompress(packed)
    size = {2: 3, 6: 4}[kind]
    stride = width * size
    last = bytearray(stride)
    total = 0
    for y in range(height):
        method = raw[y * (stride + 1)]
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - size] if i >= size else 0
            above = last[i]
            corner = last[i - size] if i >= size else 0
            if method == 1:
                line[i] = (line[i] + left) & 255
            elif method == 2:
                line[i] = (line[i] + above) & 255
            elif method == 3:
                line[i] = (line[i] + (left + above) // 2) & 255
            elif method == 4:
                guess = left + above - corner
                best = min((abs(guess - left), 0, left), (abs(guess - above), 1, above),
                           (abs(guess - corner), 2, corner))[2]
                line[i] = (line[i] + best) & 255
        last = line
        total += sum(line[::size])
    return total / (width * height)


class Browser:
    def __init__(self, program, profile):
        self.words = [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                      "--disable-background-networking", "--disable-component-update",
                      "--no-first-run", "--disable-sync", "--user-data-dir=" + profile,
                      "--enable-logging=stderr", "--v=0", "--virtual-time-budget=3000"]

    def run(self, path, *more):
        done = subprocess.run(self.words + list(more) + ["file://" + path], timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        errors = done.stderr.decode("utf-8", "replace")
        for line in errors.splitlines():
            check("CONSOLE" not in line, "%s: %s" % (os.path.basename(path), line[:300]))
        return done.stdout.decode("utf-8", "replace")

    def dump(self, path, *more):
        return self.run(path, "--dump-dom", *more)

    def picture(self, path, target, *more):
        self.run(path, "--screenshot=" + target, *more)
        return os.path.exists(target)


DARK = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")
LIGHT = ("--blink-settings=preferredColorScheme=1",)


def height(width, standard, tall):
    return "%s,%d" % (width, 4600 if tall else standard)


def check_in_browser(browser, folder, pictures):
    naive = os.path.join(folder, "naive.html")
    with_script = browser.dump(naive)
    check(">Save JSON</button>" in with_script, "the script did not run")
    check(with_script.count(">Whole step</button>") == 5, "not every lane chart can be zoomed")
    # The browser's own switch for scripts also switches pictures off, so they are cut out.
    bare = os.path.join(folder, "bare.html")
    with open(naive, encoding="utf-8") as page, open(bare, "w", encoding="utf-8") as out:
        out.write(re.sub(r"<script.*?</script>", "", page.read(), flags=re.S))
    check(">Save JSON</button>" not in browser.dump(bare), "a script is left")
    target = os.path.join(pictures, "noscript.png")
    if browser.picture(bare, target, "--window-size=1280,800", *LIGHT):
        mean = brightness(target)
        check(200 <= mean <= 253, "without JavaScript the page has brightness %.0f" % mean)
    else:
        check(False, "no picture without JavaScript")
    tall = pictures != folder
    hostile = browser.dump(os.path.join(folder, "hostile.html"))
    check("alert(1)" in hostile, "the hostile name is not shown at all")
    check("<img" not in hostile, "the hostile name made an element")
    for name, size, flags, low, high in (
            ("light", height("1280", 800, tall), LIGHT, 200, 253),
            ("dark", height("1280", 800, tall), DARK, 5, 70),
            ("narrow", height("500", 900, tall), LIGHT, 200, 253)):
        target = os.path.join(pictures, name + ".png")
        if not browser.picture(naive, target, "--window-size=" + size, *flags):
            check(False, "no picture of the %s page" % name)
            continue
        mean = brightness(target)
        check(low <= mean <= high, "the %s page has brightness %.0f" % (name, mean))
    browser.run(os.path.join(folder, "huge.html"), "--dump-dom")


def main():
    write = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp()
    pictures = sys.argv[2] if len(sys.argv) > 2 else folder
    try:
        for name, limit in (("naive", 1 << 20), ("clean", 1 << 20), ("hostile", 1 << 20),
                            ("huge", 5 << 20), ("most", 3 << 20)):
            text = subprocess.run([write, name, "html"], stdout=subprocess.PIPE, check=True).stdout
            with open(os.path.join(folder, name + ".html"), "wb") as out:
                out.write(text)
            check_file(name, text, limit)
            if name == "naive":
                check_colours(text.decode("utf-8"))
                markup = text.decode("utf-8").split("<script", 1)[0]
                for words in ("TFS101", "What to do", "Inside a step", "Call sites",
                              "pinned-staging", "How this was measured", "lenet_naive.c:142"):
                    check(words in markup, "without JavaScript, '%s' is missing" % words)
        browser = shutil.which("chromium") or shutil.which("chromium-browser")
        if not browser:
            print("page.py: chromium is not installed: the page was not shown")
            return 1 if failures else 77
        check_in_browser(Browser(browser, os.path.join(folder, "profile")), folder, pictures)
        return 1 if failures else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
