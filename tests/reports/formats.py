# SPDX-License-Identifier: MIT
"""Text and JSON against golden files, and with hostile names: formats.py WRITE GOLDEN [--update]"""
import difflib
import json
import os
import subprocess
import sys

failures = 0


def check(held, what):
    global failures
    if not held:
        print("formats.py: " + what)
        failures += 1


def made(sample, name):
    return subprocess.run([sys.argv[1], sample, name], stdout=subprocess.PIPE, check=True).stdout


def compare(sample, name, suffix, update):
    path = os.path.join(sys.argv[2], "report-" + sample + suffix)
    got = made(sample, name)
    if update:
        with open(path, "wb") as out:
            out.write(got)
        return
    with open(path, "rb") as file:
        want = file.read()
    if got != want:
        lines = difflib.unified_diff(want.decode().splitlines(), got.decode().splitlines(),
                                     path, "now", lineterm="")
        check(False, "%s changed:\n%s" % (path, "\n".join(list(lines)[:60])))


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    check(len(keys) == len(set(keys)), "a key is there twice: %s" % keys)
    return dict(pairs)


def check_schema():
    report = json.loads(made("naive", "json"), object_pairs_hook=no_duplicates)
    check(list(report)[0] == "schema" and report["schema"] == "tfshim-report/1", "schema")
    want = {
        "program": {"name"}, "device": {"name", "simulated"}, "visibility": {"text"},
        "steps": {"count", "warmup", "median_ns", "source", "replay_error"},
        "joint_saving": {"ns_per_step", "low", "high"}, "losses": set(),
    }
    for key, parts in want.items():
        check(parts <= set(report[key]), "%s has not all of %s" % (key, parts))
    for rule in report["rules"]:
        check({"id", "slug", "state", "reason"} == set(rule), "rule keys: %s" % set(rule))
        check(rule["state"] in ("violated", "passed", "not_measurable", "waived"), rule["state"])
    for finding in report["findings"]:
        check({"id", "level", "group", "callsite", "stream", "per_step", "cost", "advice", "rewrite"}
              <= set(finding), "finding keys: %s" % set(finding))
        check({"file", "line", "function", "stack"} <= set(finding["callsite"]), "callsite keys")
        check({"count", "bytes", "time_ns"} == set(finding["per_step"]), "per_step keys")
        check({"ns_per_step", "low", "high", "method"} == set(finding["cost"]), "cost keys")
        check({"name", "state", "reason"} == set(finding["rewrite"]), "rewrite keys")
        check(finding["rewrite"]["state"] in ("applied", "refused", "off", "none"), "state")
    for rewrite in report["rewrites"]:
        check({"name", "class", "applied", "refused", "predicted", "realised"} <= set(rewrite),
              "rewrite keys: %s" % set(rewrite))


def check_hostile():
    text = made("hostile", "text")
    text.decode("utf-8")
    bad = [byte for byte in text if (byte < 32 and byte != 10) or byte == 127]
    check(not bad, "control characters in the text: %s" % bad[:5])
    report = json.loads(made("hostile", "json").decode("utf-8"))
    check("alert(1)" in report["findings"][0]["callsite"]["stack"][0]["function"],
          "the hostile name is not in the JSON")


def main():
    update = "--update" in sys.argv
    for sample in ("naive", "clean"):
        compare(sample, "text", ".txt", update)
        compare(sample, "json", ".json", update)
    check_schema()
    check_hostile()
    return 1 if failures else 0


sys.exit(main())
