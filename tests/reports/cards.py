# SPDX-License-Identifier: MIT
"""The cards of a report against its findings: cards.py REPORT.json IDS...

IDS are the rules of each card, as TFS202+TFS203, in the order of the program; cards in the order of
recoverable time.
"""
import json
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = json.load(file)
    cards, findings = report["cards"], report["findings"]
    wrong = []
    if sorted(i for card in cards for i in card["findings"]) != list(range(len(findings))):
        wrong.append("not every finding is on one card")
    of = {i: number for number, card in enumerate(cards) for i in card["findings"]}
    for i, one in enumerate(findings):
        for j, other in enumerate(findings[:i]):
            line = [(f["callsite"]["key"], f["callsite"]["line"], f["callsite"]["stack"][0])
                    if f["callsite"]["stack"] else f for f in (one, other)]
            alike = (one["group"] and one["group"] == other["group"]) or line[0] == line[1]
            if alike and of[i] != of[j]:
                wrong.append("%s and %s have one cause and two cards" % (one["id"], other["id"]))
    costs = [card["cost"]["ns_per_step"] or 0 for card in cards]
    if costs != sorted(costs, reverse=True):
        wrong.append("not by recoverable time: %s" % costs)
    for card in cards:
        levels = [findings[i]["level"] for i in card["findings"]]
        if card["level"] != max(levels, key=["note", "warn", "error"].index):
            wrong.append("%s is %s, and its findings are %s" % (card["ids"], card["level"], levels))
        if card["lead"] not in card["findings"]:
            wrong.append("%s has another card's lead" % card["ids"])
        highest = max(findings[i]["cost"]["ns_per_step"] or 0 for i in card["findings"])
        if (card["cost"]["ns_per_step"] or 0) != highest:
            wrong.append("%s costs %s, not %s" % (card["ids"], card["cost"], highest))
    got = ["+".join(card["ids"]) for card in cards]
    if got != sys.argv[2:]:
        wrong.append("the cards are %s, not %s" % (got, sys.argv[2:]))
    for text in wrong:
        print("%s: %s" % (sys.argv[1], text))
    sys.exit(bool(wrong))


main()
