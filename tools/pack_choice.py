#!/usr/bin/env python3
"""Adds what `axisloom bench --candidate all` measured to the times that the test of the choice compares with.

Usage: tools/pack_choice.py NAME PROFILE DOCUMENT...

docs/results/choice/NAME.json keeps of each problem and candidate the better of the times that it was given. Problems that
are in no suite any more go by hand. PROFILE names the device's file in tuning/devices.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OURS = "axisloom:"


def times_of(result):
    """Milliseconds of each candidate: of the chosen one `how` begins with its name."""
    times = {}
    for entry in result["contestants"]:
        if entry["role"] != "ours" or entry["status"] != "right":
            continue
        name = entry["name"].removeprefix(OURS) if entry["name"].startswith(OURS) else entry["how"].split()[0]
        times[name] = entry["device" if result["clock"] == "device" else "call"]["median_ms"]
    return times


def add(problems, document):
    for result in document["cases"]:
        key = (document["settings"]["suite"], result["label"])
        problem = problems.setdefault(key, {"suite": key[0], "label": key[1], "case": result["case"], "ms": {}})
        for name, time in times_of(result).items():
            problem["ms"][name] = min(time, problem["ms"].get(name, time))


def text_of(profile, device, problems):
    lines = ",\n".join("    " + json.dumps(problem) for problem in problems)
    return f'{{\n  "profile": "{profile}",\n  "device": {json.dumps(device)},\n  "problems": [\n{lines}\n  ]\n}}\n'


def main(name, profile, *documents):
    path = ROOT / "docs/results/choice" / f"{name}.json"
    known = json.loads(path.read_text())["problems"] if path.exists() else []
    problems = {(problem["suite"], problem["label"]): problem for problem in known}
    for document in map(json.loads, (pathlib.Path(file).read_text() for file in documents)):
        add(problems, document)
        device = document["environment"]["device"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(profile, device, problems.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
