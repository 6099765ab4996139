#!/usr/bin/env python3
"""What bench/python/speed.py measured, as a table in Markdown. Usage: bench/python/summary.py FILE.json"""

import json
import pathlib
import statistics
import sys

PAIRS = [
    ("axisloom", "einops+numpy"),
    ("axisloom", "np.einsum"),
    ("axisloom", "numpy"),
    ("axisloom, torch", "einops+torch"),
    ("axisloom, torch", "permute().contiguous()"),
]
KINDS = {"call": "a small pattern, again and again", "layout": "changes of layout", "graph": "changes of layout in a CUDA graph",
         "sum": "sums"}


def ratios(records, ours, theirs):
    """How many times as long the others take, by case."""
    return {
        (record["title"], record["bytes"]): record["seconds"][theirs] / record["seconds"][ours]
        for record in records
        if ours in record["seconds"] and theirs in record["seconds"]
    }


def size(count):
    for unit, name in ((1e6, "MB"), (1e3, "KB")):
        if count >= unit:
            return f"{count / unit:.0f} {name}"
    return f"{count} B"


def sizes(counts):
    least, most = size(min(counts)), size(max(counts))
    return least if least == most else f"{least} to {most}"


def line(kind, records, ours, theirs):
    found = ratios(records, ours, theirs)
    least = min(found, key=found.get)
    return (f"| {KINDS[kind]}, {sizes([count for _, count in found])} | {theirs} | {len(found)} | "
            f"{statistics.geometric_mean(found.values()):.2f} | {found[least]:.2f} ({least[0]}, {size(least[1])}) |")


def table(records):
    """A line for each kind of work and each of the others: how many times as long they take."""
    lines = ["| work | beside | cases | geometric mean | least |", "|---|---|---|---|---|"]
    for kind in KINDS:
        of_kind = [record for record in records if record["kind"] == kind]
        largest = max((record["bytes"] for record in of_kind), default=0)
        for part in ([r for r in of_kind if r["bytes"] > largest / 2] if kind != "call" else [], of_kind):
            lines += [line(kind, part, ours, theirs) for ours, theirs in PAIRS if ratios(part, ours, theirs)]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["records"]))
