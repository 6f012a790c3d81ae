#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What fixing a finding is said to gain, against what it gains:
pairs.py LIBRARY TFSHIM BUILT-TESTS [--each N] [--seed N] [--only WORDS] [--narrow SHARE]
[--list] [--hardware ROUNDS].

Each pair is one trainer (trainer.c) in a layout that the seed draws, with a bad habit and with just
that habit repaired, both on the simulated A100 in modelled time, so that no other load moves a figure.
What is gained is the difference of the two steps' times; what is promised is the cost of the
finding, or of all findings of the habit together where they have several causes: what all findings
gain together, or the sum where others than the habit's are among these. Prints a line per habit, and
fails where too few promises hold.

With --hardware the device and the time are the machine's: a step's time is the median of so many
interleaved runs without the library, and every pair is told as it is done. No goal holds there.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

# Findings of other rules that have the same cause.
KIN = {"101": {"202"}, "202": {"203"}, "203": {"201", "202"}, "401": {"202"}, "406": {"202", "401"}}
# Kernels of a forward pass take between these, in us: what binds the step is the host, now this and
# now that, or the device.
NETS = ((2, 12), (4, 60), (8, 30), (20, 150))
# Of a step: two programs of the same cost differ by that, as what calls take varies by chance.
NOISE = 0.001
# Of all pairs, or of those that have a cost: that have one, whose gain is in the interval, whose
# interval is no wider than a tenth of the cost or a hundredth of the step to each side; and how far
# the cost is off, in the median. A fix that gains less than LEAST of the step needs no finding.
PRICED, INSIDE, NARROW, ERROR = 0.95, 0.95, 0.8, 0.05
LEAST = 0.01
# How much a fix of these gains is a guess by more than that (a copy may run beside kernels, one of
# all bytes be faster, values that are the same today be data, a buffer have another size in each step, a graph's launch be longer, its being
# destroyed take time as well, tensor cores gain small products less, others' loading take processors'
# time): their intervals say so.
GUESSED = {"102", "103", "104", "106", "302", "307", "406", "603", "604", "701"}
MIB = 1 << 20
SIZES = {"101-down": (256 << 10, 16 * MIB), "104-up": (64 << 10, MIB), "104-down": (64 << 10, MIB),
         "105-same": (128 << 10, 8 * MIB), "106-zeros": (128 << 10, 8 * MIB),
         "107-copy": (48 * MIB, 96 * MIB),
         "202-copy": (64 << 10, 16 * MIB),
         "301-scale": (24 * MIB, 64 * MIB), "401-device": (64 << 10, 64 * MIB),
         "401-pinned": (64 << 10, 4 * MIB), "402-added": (4 * MIB, 64 * MIB),
         "402-overwritten": (4 * MIB, 64 * MIB), "406-length": (6 * MIB, 64 * MIB), "408-pool": (2 * MIB, 64 * MIB),
         "603-tf32": (16 * MIB, 36 * MIB), "604-columns": (36 * MIB, 64 * MIB)}


def draw(habit, number, seed):
    """The layout of a habit's nth pair."""
    dice = random.Random(f"{seed} {habit} {number}")
    shortest, longest = NETS[number % len(NETS)]
    low, high = SIZES.get(habit, (4096, MIB))
    layout = {
        "seed": dice.randrange(1 << 30),
        "layers": dice.randint(4, 24),
        "shortest_ns": shortest * 1000,
        "longest_ns": longest * 1000,
        "between_ns": dice.choice((0, 1000, 4000, 9000)),
        "load_ns": dice.choice((30, 100, 300, 900)) * 1000,
        "batch": int(dice.choice((0.25, 1, 4, 12)) * MIB),
        # Rows of 512 floats.
        "bytes": int(low * (high / low) ** dice.random()) // 2048 * 2048,
        "at": dice.choice((0, 250, 500, 900, 1000)),
        "streams": 1 + number // 2 % 2,
        "threads": 1 + number // 4 % 2,
        # Steps that differ behind a value may do so for its sake, and are told so.
        "every": 0 if habit.startswith("203") else dice.choice((0, 0, 10, 25)),
    }
    if habit.startswith("103"):
        # The device takes longer than its host, and is held by a part of the step that is told.
        layout.update(batch=dice.randint(5, 14) * MIB, streams=1, between_ns=0, load_ns=30000, layers=dice.randint(8, 24),
                      shortest_ns=8000, longest_ns=90000)
    if habit.startswith("107"):
        # So much of the device's time that it is told.
        layout.update(layers=dice.randint(4, 12), shortest_ns=8000, longest_ns=30000)
    if habit.startswith("406"):
        # A host that is ahead again copies beside kernels too, where it has a stream for that.
        layout.update(streams=1)
    if habit.startswith("303"):
        layout["layers"] = dice.randint(10, 24)
    if habit.startswith("307"):
        # A graph is captured by one thread, and takes the host its time where that binds.
        layout.update(layers=dice.randint(10, 24), shortest_ns=1000, longest_ns=6000, threads=1,
                      load_ns=30000)
    if habit.startswith("302"):
        # Small kernels, and a framework between them; a graph is captured by one thread.
        layout.update(shortest_ns=2000, longest_ns=12000, between_ns=dice.choice((9000, 20000)),
                      load_ns=30000, threads=1)
    return layout


class Bench:
    def __init__(self, library, tfshim, tests):
        self.tfshim = tfshim
        self.trainer = f"{tests}/pairs/pair_trainer"
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("TFSHIM_", "TFSIM_"))}
        self.environment.update(
            LD_LIBRARY_PATH=f"{tests}/sim", TFSIM_PROFILE="a100", TFSIM_COMPUTE="0", TFSIM_PACE="0",
            MODELLED_THREADS="1", TFSHIM_REWRITE="off", TFSHIM_OPTIONS="report=0",
            LD_PRELOAD=f"{library}:{tests}/tools/stacks_first.so:{tests}/tools/modelled_clock.so")

    def habits(self):
        """The names of the trainer's habits."""
        return subprocess.run([self.trainer], env=dict(self.environment, LD_PRELOAD=""), check=True,
                              stdout=subprocess.PIPE, text=True, timeout=60).stdout.split()

    def run(self, folder, habit, layout, fixed):
        """The modelled time of a step, and the report."""
        arguments = [habit] + [f"{name}={value}" for name, value in layout.items()]
        base = f"{folder}/{'twin' if fixed else 'written'}"
        done = subprocess.run(
            [self.trainer] + arguments + [f"fixed={int(fixed)}"], timeout=120, text=True,
            env=dict(self.environment, TFSHIM_OUTPUT=base), stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        told = re.search(r"^step (\d+) ns$", done.stdout, re.M)
        if done.returncode or not told:
            sys.exit(f"{' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}")
        subprocess.run([self.tfshim, "report", "--quiet", f"{base}.tfs"], check=True, timeout=120)
        with open(f"{base}.json", encoding="utf-8") as file:
            return float(told.group(1)), json.load(file)

    def compare(self, folder, habit, layout):
        """Of the program as written and of its twin: the time of a step, and the report."""
        return [self.run(folder, habit, layout, fixed) for fixed in (False, True)]


class Hardware(Bench):
    """The machine's own device, and its clock."""

    def __init__(self, library, tfshim, tests, rounds):
        super().__init__(library, tfshim, tests)
        self.rounds = rounds
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("TFSHIM_")}
        self.environment.update(TFSHIM_REWRITE="off", TFSHIM_OPTIONS="report=0", LD_PRELOAD=library)

    def time(self, habit, layout, fixed):
        """The time of a step without the library."""
        arguments = [habit] + [f"{name}={value}" for name, value in layout.items()]
        said = subprocess.run([self.trainer] + arguments + [f"fixed={int(fixed)}"], timeout=120,
                              env=dict(self.environment, LD_PRELOAD=""), check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        return float(re.search(r"^step (\d+) ns$", said, re.M).group(1))

    def compare(self, folder, habit, layout):
        times = [[], []]
        for number in range(self.rounds):
            for fixed in (0, 1) if number % 2 == 0 else (1, 0):
                times[fixed].append(self.time(habit, layout, fixed))
        return [(statistics.median(times[fixed]), self.run(folder, habit, layout, fixed)[1])
                for fixed in (0, 1)]


def promise(report, habit):
    """The cost of the habit, what it is missing for otherwise, and findings that it does not explain."""
    rule = habit[:3]
    family = {f"TFS{name}" for name in KIN.get(rule, set()) | {rule}}
    mine = [one for one in report["findings"] if one["id"] in family]
    strange = {one["id"] for one in report["findings"]} - family
    costs = {one["group"] or (one["id"], one["callsite"]["call"], one["callsite"]["line"]): one["cost"]
             for one in mine if one["cost"]["ns_per_step"] is not None}
    if not any(one["id"] == f"TFS{rule}" for one in mine):
        return None, "no finding", strange
    if not costs:
        return None, mine[0]["cost"]["method"], strange
    if len(costs) == 1:
        return next(iter(costs.values())), "", strange
    if any(one["id"] in strange and one["cost"]["ns_per_step"] for one in report["findings"]):
        return {name: sum(cost[name] for cost in costs.values())
                for name in ("ns_per_step", "low", "high")}, "", strange
    return report["joint_saving"], "", strange


class Pair:
    def __init__(self, bench, habit, number, seed):
        self.habit, self.layout = habit, draw(habit, number, seed)
        with tempfile.TemporaryDirectory() as folder:
            (self.step, report), (twin_step, twin) = bench.compare(folder, habit, self.layout)
        self.gain = self.step - twin_step
        self.cost, self.why, self.strange = promise(report, habit)
        self.kept = any(one["id"] == f"TFS{habit[:3]}" for one in twin["findings"])

    def inside(self):
        return (self.cost["low"] - NOISE * self.step <= self.gain <=
                self.cost["high"] + NOISE * self.step)

    def narrow(self):
        half = (self.cost["high"] - self.cost["low"]) / 2
        return half <= max(0.1 * self.cost["ns_per_step"], 0.01 * self.step)

    def error(self):
        """As a part of the gain, or of a hundredth of the step where that is more."""
        return abs(self.cost["ns_per_step"] - self.gain) / max(abs(self.gain), 0.01 * self.step)

    def __str__(self):
        told = self.why
        if self.cost:
            told = "%.1f [%.1f, %.1f]%s%s" % (
                self.cost["ns_per_step"] / 1e3, self.cost["low"] / 1e3, self.cost["high"] / 1e3,
                "" if self.inside() else " outside", "" if self.narrow() else " wide")
        return "%s gains %.1f of %.1f us: %s%s; %s" % (
            self.habit, self.gain / 1e3, self.step / 1e3, told,
            " and " + " ".join(sorted(self.strange)) if self.strange else "",
            " ".join(f"{name}={value}" for name, value in self.layout.items()))


def shares(pairs):
    """Pairs, those with a cost, shares inside and narrow, median error."""
    priced = [pair for pair in pairs if pair.cost]
    count = max(len(priced), 1)
    sure = [pair for pair in priced if pair.habit[:3] not in GUESSED] or priced
    return (len(pairs), len(priced), sum(pair.inside() for pair in priced) / count,
            sum(pair.narrow() for pair in sure) / max(len(sure), 1),
            statistics.median([pair.error() for pair in priced] or [1]))


def faults(pairs, least_narrow):
    """Which goals are not reached, and pairs that the trainer does not lay out as is meant."""
    _, priced, inside, narrow, error = shares(pairs)
    wrong = [f"{pair}: the repaired program has the finding as well" for pair in pairs if pair.kept]
    wrong += [f"{pair}: costs nothing that is known" for pair in pairs if pair.why == "none"]
    gaining = sum(pair.cost is not None or pair.gain >= LEAST * pair.step for pair in pairs)
    if priced < PRICED * gaining:
        wrong.append(f"only {priced} of {gaining} pairs that gain have a cost")
    if inside < INSIDE or narrow < least_narrow or error > ERROR:
        wrong.append(f"goals: {INSIDE:.0%} inside, {least_narrow:.0%} narrow, error {ERROR:.0%}")
    return wrong


def row(name, pairs):
    return "%-16s %5d %6d %7.1f %% %7.1f %% %7.1f %%" % (
        (name,) + shares(pairs)[:2] + tuple(100 * share for share in shares(pairs)[2:]))


def on_hardware(bench, wanted, seed):
    """Tells each pair as it is done: the time may be over before all are."""
    for habit, number in wanted:
        pair = Pair(bench, habit, number, seed)
        kept = ", and the twin has it as well" if pair.kept else ""
        print(f"pair {pair}{kept}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("tfshim")
    parser.add_argument("tests")
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--narrow", type=float, default=NARROW)
    parser.add_argument("--list", action="store_true", help="a line for each pair")
    parser.add_argument("--hardware", type=int, metavar="ROUNDS")
    options = parser.parse_args()
    bench = (Hardware(os.path.realpath(options.library), options.tfshim, options.tests, options.hardware)
             if options.hardware else
             Bench(os.path.realpath(options.library), options.tfshim, options.tests))
    habits = bench.habits()
    wanted = [(habit, number) for habit in habits
              if any(word in habit for word in options.only.split(","))
              for number in range(options.each)]
    if options.hardware:
        on_hardware(bench, wanted, options.seed)
        return
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pairs = list(pool.map(lambda one: Pair(bench, *one, options.seed), wanted))
    if options.list:
        for pair in pairs:
            print(pair)
    print("%-16s %5s %6s %9s %9s %9s" % ("habit", "pairs", "priced", "inside", "narrow", "error"))
    for habit in habits:
        mine = [pair for pair in pairs if pair.habit == habit]
        if mine:
            print(row(habit, mine))
    print(row("all", pairs))
    wrong = faults(pairs, options.narrow)
    for text in wrong:
        print(text)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
