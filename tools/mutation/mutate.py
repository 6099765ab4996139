#!/usr/bin/env python3
"""Plants small faults in a copy of the sources and runs the tests on each: a fault that no test notices is a gap in them.

    draw     picks them by seed from all modules (draw.py); forms.py knows how a line can hold both fault and original
    plant    builds all of them at once, chosen at run time (plant.py)
    note     runs each test once without a fault and notes which faults it reaches (tests.py)
    judge    runs on each fault the tests that reach it, the nearest first, until one fails (judge.py)

The idea, and the choice at run time ("mutant schemata"): R. H. Untch, A. J. Offutt, M. J. Harrold, ISSTA 1993.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import random
import sys
import time

from draw import ROOT, Mutant, draw
from judge import STILLBORN, Verdict, judge
from plant import WORK, plant
from tests import STAGES, note_all


def relocated(mutant):
    """The mutant where its line stands now; nothing when the line has changed."""
    lines = (ROOT / mutant.file).read_text().split("\n") if (ROOT / mutant.file).exists() else []
    places = [number for number, line in enumerate(lines) if line == mutant.before]
    if not places:
        print(f"gone: {mutant}")
        return None
    return dataclasses.replace(mutant, line=min(places, key=lambda place: abs(place - mutant.line)))


def select(memory, options):
    """The faults of a drawing that compile, those of an earlier call again. More than wanted, since some kernels will not."""
    if memory.exists():
        order = [mutant for entry in json.loads(memory.read_text()) if (mutant := relocated(Mutant(**entry)))]
    else:
        order = draw(options.seed)[:options.count * 3 // 2]
    mutants = plant(order, options.jobs)
    memory.write_text(json.dumps([dataclasses.asdict(mutant) for mutant in mutants], indent=1))
    return mutants


def summary(mutants, verdicts):
    """Prints what became of the faults; returns the exit status."""
    verdicts = {mutant.number: verdicts[mutant.number] for mutant in mutants}
    killed = collections.Counter(verdict.stage for verdict in verdicts.values() if verdict.killer)
    print("killed by " + ", ".join(f"{stage} {number}" for stage, number in killed.most_common()))
    for mutant in mutants:
        if not verdicts[mutant.number].killer:
            print(f"SURVIVES, reached by {verdicts[mutant.number].reaching} tests\n{mutant}")
    minutes = sum(verdict.seconds for verdict in verdicts.values()) / 60
    print(f"{minutes:.0f} minutes of judging")
    print(f"{killed.total()} passed, {len(verdicts) - killed.total()} failed")  # a fault that is noticed is a test passed
    return killed.total() < len(verdicts)


def known_verdicts(folder, digest):
    """What earlier calls found, of all parts. A survivor is tried again once the tests are others."""
    known = [Verdict(**entry) for file in folder.glob("verdicts*.json") for entry in json.loads(file.read_text())]
    return {verdict.number: verdict for verdict in known if verdict.killer or verdict.judges == digest}


def judge_all(mutants, wanted, judges, digest, memory, jobs):
    """Judges the first `wanted` faults whose kernels compile. Each verdict is kept as it comes."""
    verdicts = known_verdicts(memory.parent, digest)

    def chosen():
        return [m for m in mutants if m.number not in verdicts or verdicts[m.number].stage != STILLBORN][:wanted]

    while missing := [mutant for mutant in chosen() if mutant.number not in verdicts]:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for future in concurrent.futures.as_completed(pool.submit(judge, m, judges, digest) for m in missing):
                mutant, verdict = future.result()
                verdicts[verdict.number] = verdict
                how = f"dies: {verdict.stage}: {verdict.killer}" if verdict.killer else "SURVIVES"
                print(f"{mutant}\n       {how}, {verdict.seconds:.0f} s, {verdict.reaching} tests reach it", flush=True)
                memory.write_text(json.dumps([dataclasses.asdict(one) for one in verdicts.values()], indent=1))
    return chosen(), verdicts


def main():
    parser = argparse.ArgumentParser(description="Plants small faults and says which of them no test notices.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, help="of an earlier run (default: a new one)")
    parser.add_argument("--part", default="1/1", help="I/K: every Kth fault from the Ith on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at a time")
    parser.add_argument("--only", type=int, nargs="*", help="faults by their numbers")
    parser.add_argument("--stages", nargs="*", default=STAGES, choices=STAGES, help="only these, for a first look")
    parser.add_argument("--list", action="store_true", help="draw, and plant nothing")
    options = parser.parse_args()
    options.seed = random.randrange(1 << 31) if options.seed is None else options.seed
    print(f"seed {options.seed}", flush=True)
    if options.list:
        print(*draw(options.seed)[:options.count], sep="\n")
        return 0
    memory, start = WORK / f"{options.seed}-{options.count}", time.time()
    for folder in (memory, WORK / "logs", WORK / "pocl"):
        folder.mkdir(parents=True, exist_ok=True)
    mutants = select(memory / "mutants.json", options)
    print(f"{len(mutants)} faults planted after {time.time() - start:.0f} s", flush=True)
    judges, digest = note_all(memory / "reached.json", options.jobs)
    print(f"{len(judges)} tests noted after {time.time() - start:.0f} s", flush=True)
    judges = [test for test in judges if test.stage in options.stages]
    digest += " ".join(sorted(options.stages))
    part, parts = map(int, options.part.split("/"))
    mine = mutants[part - 1::parts] if not options.only else [m for m in mutants if m.number in options.only]
    wanted = (options.count + parts - part) // parts
    return summary(*judge_all(mine, wanted, judges, digest, memory / f"verdicts-{part}-{parts}.json", options.jobs))


if __name__ == "__main__":
    sys.exit(main())
