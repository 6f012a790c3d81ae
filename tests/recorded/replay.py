#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether a profile of the simulated device makes of a recorded training what the real GPU made of it:
replay.py PROGRAM FOLDER RECORDING PROFILE.

PROGRAM makes the recording's calls on the simulated device. Kernels, fills and copies within the
device take as long as they were recorded, and so does the host between its calls; all else is the
profile's: what calls cost the host, when work starts, what lies between operations, how much fits
into the queue, what waits and copies from and to the host take. Time is modelled time, so that every
run gives the same figures on any machine.

The replay holds when
 - every step differs by at most 10 % from the recorded one,
 - the device's idle share of the steps differs by at most 10 % of the recorded share, or by at most
   2 points where that is below 20 %,
 - no figure of the profile alone is off by more than a factor of 2: the host's time in calls that
   the profile has a cost for, the median latency of work on an idle stream, and the median gap
   between queued operations (where the recording has 50 of them). In most recordings the host's own
   time makes the step, and the first two would hold with other figures too.
Of several steps the first is no evidence: it may find work on the device that was given before.
"""

import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
import kineto

MARK = object()
ALLOWED, LOW, POINTS, FACTOR, ENOUGH = 0.10, 0.20, 0.02, 2, 50


class Timing:
    """When a call and its operation were, on either side."""

    def __init__(self, call, start, end, op_start, op_end):
        self.call, self.start, self.end, self.op_start, self.op_end = call, start, end, op_start, op_end


def line_of(call):
    op = call.op
    if call.kind == "kernel":
        return f"kernel {op.stream} {op.end - op.start} {op.blocks} {op.threads}"
    if call.kind == "memset":
        return f"memset {op.stream} {op.end - op.start} {op.bytes}"
    if call.kind == "copy":
        source, target = op.between
        return f"copy {op.stream} {op.end - op.start} {op.bytes} {target} {source}"
    if call.kind == "device-sync":
        return "device-sync"
    if call.kind == "stream-sync" and call.stream is not None:
        return f"stream-sync {call.stream}"
    if call.event is not None:
        return {"record": f"record {call.event} {call.stream}",
                "wait": f"wait {call.stream} {call.event}",
                "event-sync": f"event-sync {call.event}"}[call.kind]
    return f"spend {call.end - call.start}"


def script_of(calls, steps):
    """The program's lines, each with the call that it makes, MARK or None."""
    marks = sorted(time for step in steps for time in step)
    lines, now = [], 0
    for call in calls + [None]:
        while marks and (call is None or marks[0] <= call.start):
            lines.append((f"spend {max(0, marks[0] - now)}", MARK))
            now = max(now, marks.pop(0))
        if call:
            lines += [(f"spend {max(0, call.start - now)}", None), (line_of(call), call)]
            now = max(now, call.end)
    return lines


def replay(program, profile, calls, steps):
    """The timings and steps that the simulated device makes of it."""
    lines = script_of(calls, steps)
    env = dict(os.environ, TFSIM_PROFILE=profile, TFSIM_COMPUTE="0", TFSIM_PACE="0")
    run = subprocess.run([program], env=env, text=True, stdout=subprocess.PIPE, check=False,
                         input="".join(line + "\n" for line, _ in lines))
    answers = run.stdout.splitlines()
    if run.returncode or len(answers) != len(lines):
        sys.exit(f"{program}: status {run.returncode}\n" + "\n".join(answers[-3:]))
    timings, times = [], []
    for (_, tag), answer in zip(lines, answers):
        start, end, op_start, op_end = map(int, answer.split())
        if tag is MARK:
            times.append(end)
        elif tag:
            timings.append(Timing(tag, start, end, op_start, op_end))
    return timings, list(zip(times[::2], times[1::2]))


def recorded(calls):
    return [Timing(call, call.start, call.end, call.op.start if call.op else 0,
                   call.op.end if call.op else 0) for call in calls]


def busy(timings, start, end):
    """What of a span of time has work of any stream on the device."""
    total = 0
    for t in sorted((t for t in timings if t.op_end > start), key=lambda t: t.op_start):
        if t.op_end > start and t.op_start < end:
            total += min(t.op_end, end) - max(t.op_start, start)
            start = max(start, min(t.op_end, end))
    return total


def delays(timings):
    """Latencies of work on idle streams, and gaps before work that was there in time."""
    latencies, gaps, ends = [], [], {}
    for t in timings:
        if not t.call.op:
            continue
        last = ends.get(t.call.stream)
        if last is not None and last > t.end:
            gaps.append(t.op_start - last)
        elif last is None or last <= t.start:
            latencies.append(t.op_start - t.start)
        ends[t.call.stream] = t.op_end
    return latencies, gaps


def judged(steps):
    return steps[1:] or steps


def lengths(steps):
    return [end - start for start, end in judged(steps)]


def idle(timings, steps):
    return 1 - sum(busy(timings, start, end) for start, end in steps) / sum(
        end - start for start, end in steps)


def figures(timings, steps):
    """Of one side; a figure that has too few samples is None."""
    latencies, gaps = delays(timings)
    first, last = judged(steps)[0][0], judged(steps)[-1][1]
    return {
        "step": statistics.median(lengths(steps)),
        "idle": idle(timings, judged(steps)),
        "calls": sum(t.end - t.start for t in timings
                     if t.call.kind != "other" and first <= t.start < last) / len(judged(steps)),
        "latency": statistics.median(latencies) if len(latencies) >= ENOUGH else None,
        "gap": statistics.median(gaps) if len(gaps) >= ENOUGH else None,
    }


def holds(name, theirs, ours):
    if name == "step":
        return abs(ours - theirs) <= ALLOWED * theirs
    if name == "idle":
        return abs(ours - theirs) <= (ALLOWED * theirs if theirs >= LOW else POINTS)
    return theirs / FACTOR <= ours <= theirs * FACTOR


def show(name, value):
    return f"{value * 100:10.2f} % " if name == "idle" else f"{value / 1000:10.2f} us"


def compare(theirs, ours):
    """Prints the figures of both sides; whether all that the recording has are right."""
    good = True
    for name, value in theirs.items():
        if value is None:
            print(f"{name:8} too few in the recording")
            continue
        mine = ours[name]
        right = mine is not None and holds(name, value, mine)
        good &= right
        print(f"{name:8} recorded {show(name, value)}  modelled " +
              (f"{show(name, mine)}  {(mine / value - 1) * 100:+6.1f} %" if mine is not None else "none") +
              ("" if right else "  WRONG"))
    return good


def compare_steps(theirs, steps, ours, made):
    for number, (step, mine) in enumerate(zip(steps, made)):
        print(f"step {number}   recorded {show('step', step[1] - step[0])} idle "
              f"{show('idle', idle(theirs, [step]))} modelled {show('step', mine[1] - mine[0])} idle "
              f"{show('idle', idle(ours, [mine]))}")
    return all(holds("step", a, b) for a, b in zip(lengths(steps), lengths(made)))


def main():
    program, folder, name, profile = sys.argv[1:]
    path = os.path.join(folder, name + ".json.gz")
    if not os.path.exists(path):
        print(f"skipped: no recording {name}.json.gz in {os.path.normpath(folder)}")
        return 77
    calls, steps = kineto.read(path)
    theirs = recorded(calls)
    ours, made = replay(program, profile, calls, steps)
    good = compare_steps(theirs, steps, ours, made)
    if not good:
        print("not every step holds: WRONG")
    return 0 if compare(figures(theirs, steps), figures(ours, made)) and good else 1


if __name__ == "__main__":
    sys.exit(main())
