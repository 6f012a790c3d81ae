# SPDX-License-Identifier: MIT
"""The marks in programs that say what a report must say about them, and their figures.

A mark is a comment of its own, `/* KIND: FINDING... */`. Behind or inside a call it is about its
own line; alone on its line it is about the next line that is not a comment.

KIND is one of FINDINGS, whose findings are named with their figures, or of BARE, whose rules are
only named (`trap: TFS201 TFS202`). A finding is

    ID xCOUNT [BYTES] [STREAM] [COST]         TFS101 x1 196KiB legacy 400..650us

COUNT   calls in a step.
BYTES   in a step, in B, KiB or MiB. Left out, the finding has none.
STREAM  that the calls work on or wait for: legacy, per-thread, "stream 13" (as CUPTI numbers them:
        the first that a program makes), or several. Left out, the call has none.
COST    what a step gains without it, LOW..HIGH in us or ms: in the modelled timeline of the profile
        slow. Worked out from the program, or from its twin, never copied from a report. 0us: that
        mending this one alone gains nothing. Left out where nothing is promised: with "needed".
        Marks of kind "gpu" are in the timeline of the profile a100, and may leave it out.

A report's count and bytes may fall short by one step's share: what lies at the edge of the recorded
steps may not be told. Its interval must lie inside of the mark's, and hold the middle of it, so that
it is neither wider than is known nor beside it.
"""

import os
import re

FINDINGS = ("expect", "gpu", "small", "note", "unsure", "perhaps", "less", "kept", "needed")
BARE = ("trap", "unmeasured", "whole")
COMMENT = re.compile(r"/\*\s*(\w+):(.*?)\*/")
ITEM = re.compile(r"""(?P<id>TFS\d{3})
    \ x(?P<count>\d+(\.\d+)?)
    (\ (?P<bytes>\d+(\.\d+)?)(?P<size>B|KiB|MiB))?
    (\ (?P<stream>legacy|per-thread|several|stream\ \d+))?
    (\ (?P<low>\d+(\.\d+)?)(\.\.(?P<high>\d+(\.\d+)?))?(?P<time>us|ms))?""", re.VERBOSE)
SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
NOTHING = 1e3  # ns
TIMES = {"us": 1e3, "ms": 1e6}


class Malformed(Exception):
    """A comment that means to be a mark and is none."""


class Mark:
    """One finding that a program deserves, or one that it must not have."""

    def __init__(self, kind, rule, where):
        self.kind, self.rule, self.where = kind, rule, where
        self.count = self.bytes = 0
        self.stream = self.cost = None

    def __str__(self):
        return f"{self.rule} at {self.where[0]}:{self.where[1]}"


def parse_figures(kind, text, where):
    match = ITEM.fullmatch(text)
    if not match:
        raise Malformed(f"{where[0]}:{where[1]}: not ID xCOUNT [BYTES] [STREAM] [COST]: {text!r}")
    mark = Mark(kind, match["id"], where)
    mark.count = float(match["count"])
    if match["bytes"]:
        mark.bytes = float(match["bytes"]) * SIZES[match["size"]]
    if match["stream"]:
        mark.stream = match["stream"].replace("stream ", "")
    if match["low"]:
        unit = TIMES[match["time"]]
        mark.cost = float(match["low"]) * unit, float(match["high"] or match["low"]) * unit
        if match["high"] is None and mark.cost[0] or mark.cost[0] > mark.cost[1]:
            raise Malformed(f"{where[0]}:{where[1]}: no range of costs: {text!r}")
    if (mark.cost is None) != (kind == "needed") and kind != "gpu":
        raise Malformed(f"{where[0]}:{where[1]}: {kind} {'without' if mark.cost is None else 'with'}"
                        f" a cost: {text!r}")
    if not mark.count:
        raise Malformed(f"{where[0]}:{where[1]}: no calls: {text!r}")
    return mark


def parse(kind, text, where):
    items = re.findall(r"TFS\d+[^T]*(?:T(?!FS)[^T]*)*", text)
    if not items or not text.strip().startswith("TFS"):
        raise Malformed(f"{where[0]}:{where[1]}: {kind} of no rule: {text!r}")
    for item in items:
        item = item.strip()
        if kind in FINDINGS:
            yield parse_figures(kind, item, where)
        elif re.fullmatch(r"TFS\d{3}", item):
            yield Mark(kind, item, where)
        else:
            raise Malformed(f"{where[0]}:{where[1]}: {kind} has no figures: {item!r}")


def read(source):
    """All marks of a file, in order."""
    marks, waiting, name = [], [], os.path.basename(source)
    with open(source, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            found = [m for m in COMMENT.findall(line) if m[0] in FINDINGS + BARE]
            here = [mark for kind, text in found for mark in parse(kind, text, (name, number))]
            if line.strip().startswith("/*") and not re.sub(r"/\*.*?\*/", "", line).strip():
                waiting += here
                continue
            for mark in waiting:
                mark.where = name, number
            marks += waiting + here
            waiting = []
    if waiting:
        raise Malformed(f"{source}: marks behind the last line")
    return marks


def of_share(figure, is_, steps):
    """Whether it is the figure, or that of all steps but one; reports round to nine digits."""
    rounding = figure * 1e-8
    return figure * (1 - 1 / steps) - rounding <= is_ <= figure + rounding


def wrong_figures(mark, finding, steps, bytes_=True, costs=True):
    """What a report says otherwise than the mark, of a finding in so many judged steps."""
    per_step, cost = finding["per_step"], finding["cost"]
    wrong = []
    if not of_share(mark.count, per_step["count"], steps):
        wrong.append(f"{mark}: {per_step['count']} calls in a step, not {mark.count:g}")
    if bytes_ and not of_share(mark.bytes, per_step["bytes"], steps):
        wrong.append(f"{mark}: {per_step['bytes']} bytes in a step, not {mark.bytes:g}")
    if finding["stream"] != mark.stream:
        wrong.append(f"{mark}: on stream {finding['stream']}, not {mark.stream}")
    low, ns, high = cost["low"] or 0, cost["ns_per_step"] or 0, cost["high"] or 0
    if not low <= ns <= high:
        wrong.append(f"{mark}: a cost of {ns:.0f} ns, and between {low:.0f} and {high:.0f}")
    if mark.cost is None:
        if ns or high:
            wrong.append(f"{mark}: costs {ns:.0f} ns, which nobody promises")
    elif costs:
        middle = sum(mark.cost) / 2
        if not (mark.cost[0] <= low and low - NOTHING <= middle <= high + NOTHING
                and high <= max(mark.cost[1], NOTHING)):
            wrong.append(f"{mark}: costs {low:.0f} to {high:.0f} ns, not within "
                         f"{mark.cost[0]:.0f} to {mark.cost[1]:.0f} around {middle:.0f}")
    return wrong
