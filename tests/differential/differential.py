"""Random programs of chained operations against NumPy, einops and np.einsum.

Usage: differential.py PROGRAM [--count N] [--seed S] [--part I/K] [--only N [--drop 0,2]]
                       [--dtypes f32,i32] [--jobs J] [--threads T] [--option=--index=64]...

Program N of a seed is always the same, so a run is resumed by its seed and part; --drop N leaves out steps, whose
results are then what NumPy makes of them. A failure prints the command that repeats it, without the steps that do not
matter. AXISLOOM_SEED gives the seed as well; by default every run has a new one."""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import secrets
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import pocl_intrinsics
from draw import draw
from elements import DTYPES
from differences import DIFFERENCES
from judge import verdict
from programs import case_of, view

BATCH = 500  # programs that are one file
DEFAULTS = {"dtypes": ",".join(DTYPES), "steps": 0, "refused": 12}
MOST_MINIMISED = 5  # failures of a batch
TIMEOUT = 600  # seconds for one of them


PLANT = "AXISLOOM_PLANT"  # set: a wrong element in what every program left, for a test of this driver


class Settings:
    """What does not change from batch to batch."""

    def __init__(self, options):
        self.program = os.path.abspath(options.program)
        self.seed = options.seed
        self.dtypes = options.dtypes.split(",")
        if options.dtypes.isdigit():
            self.dtypes = random.Random(f"{options.seed} dtypes").sample(DTYPES, int(options.dtypes))
        self.steps, self.refused = options.steps, options.refused
        self.options = ["--threads", str(options.threads), *options.option]
        self.repeat = [f"--option={option}" for option in options.option]
        for name in ("dtypes", "steps", "refused"):
            if getattr(options, name) != DEFAULTS[name]:
                self.repeat.append(f"--{name} {getattr(options, name)}")


def run(settings, programs, folder):
    """(outcome words by name, results, the program's closing line or its error)"""
    path = os.path.join(folder, "programs")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(program.text() for program in programs)
    with open(path + ".data", "wb") as file:
        for program in programs:
            file.writelines(buffer.tobytes() for buffer in program.buffers)
    for name in ("outcomes", "results"):
        if os.path.exists(os.path.join(folder, name)):
            os.remove(os.path.join(folder, name))
    try:
        done = subprocess.run([settings.program, "check", "--programs", path, "--keep", folder, *settings.options],
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        said = (done.stdout + done.stderr).strip() or f"ended with {done.returncode} and said nothing"
    except subprocess.TimeoutExpired:
        said = f"did not end within {TIMEOUT} s"
    try:
        with open(os.path.join(folder, "outcomes"), encoding="utf-8", errors="replace") as file:
            outcomes = {line.split(" ")[0]: line.split()[1:] for line in file}
        with open(os.path.join(folder, "results"), "rb") as file:
            return outcomes, file.read(), said
    except OSError:
        return None, b"", said


def judged(settings, programs, folder, tally=None):
    """What is wrong with each program that is wrong, by name: (step, text). When the run ends without results, both
    halves are run by themselves. PoCL 5.0 ends a process by an assertion once in some thousand programs on two threads
    (pocl_release_dlhandle_cache): such ends are counted, and no program is held to be wrong for them."""
    outcomes, results, said = run(settings, programs, folder)
    if outcomes is None:
        if len(programs) == 1:
            return {programs[0].name: (len(programs[0].steps) - 1, f"no results: {said[-400:]}")}
        middle = len(programs) // 2
        wrong = judged(settings, programs[:middle], folder, tally)
        wrong.update(judged(settings, programs[middle:], folder, tally))
        if not wrong and pocl_intrinsics.own_end(said):
            if tally is not None:
                tally.ends += 1
            return wrong
        return wrong or {programs[0].name: (0, f"no results, but in halves: {said[-400:]}")}
    wrong, begin = {}, 0
    for program in programs:
        content = results[begin:begin + program.bytes()]
        begin += program.bytes()
        if os.environ.get(PLANT):
            content = planted(program, content)
        found, judge = verdict(program, outcomes[program.name], content)
        if found:
            wrong[program.name] = found
        if tally is not None:
            tally.add(program, judge)
    if tally is not None:
        tally.said.append(said)
    return wrong


def planted(program, content):
    """The buffers with one element of the last result that has any turned upside down."""
    memory = program.memory_of(content)
    for step in reversed(program.steps):
        result = view(program.arrays[step.output], memory) if step.output is not None else np.empty(0)
        if result.size:
            result = result.view(np.uint8) if result.dtype == bool else result  # or NumPy would make it 1
            upside_down = bytes(255 - byte for byte in result.flat[0].tobytes())
            result.flat[0] = np.frombuffer(upside_down, result.dtype)[0]
            break
    return b"".join(buffer.tobytes() for buffer in memory)


class Tally:
    """What a batch held: for the lines at the end."""

    def __init__(self):
        self.operations, self.refusals = collections.Counter(), collections.Counter()
        self.rounded = self.unbounded = 0
        self.ends = 0  # of processes, by PoCL itself
        self.said = []

    def add(self, program, judge):
        for step in program.steps:
            self.operations[step.op] += 1
        self.refusals[program.refusal] += 1
        if judge:
            self.rounded += judge.rounded
            self.unbounded += judge.unbounded

    def join(self, other):
        self.operations += other.operations
        self.refusals += other.refusals
        self.rounded += other.rounded
        self.unbounded += other.unbounded
        self.ends += other.ends
        self.said += other.said


def drawn(settings, number, dropped=()):
    program = draw(settings.seed, number, settings.dtypes, settings.steps, settings.refused)
    return program.without(dropped) if dropped else program


def minimised(settings, number, folder):
    """The steps that can be left out with the program still wrong, and what is wrong then."""
    dropped, found = [], None
    for step, what in reversed(list(enumerate(drawn(settings, number).steps))):
        if what.in_place:  # its operand is nowhere but under its result
            continue
        trial = drawn(settings, number, [*dropped, step])
        wrong = judged(settings, [trial], folder) if trial.steps else {}
        if wrong:
            dropped.append(step)
            found = trial, wrong[trial.name]
    return sorted(dropped), found


def failure_text(settings, number, dropped, found, folder=None):
    """`folder`: for runs that find out which steps do not matter."""
    program, (step, what) = drawn(settings, number, dropped), found
    if folder:
        more, smaller = minimised(settings, number, folder)
        if smaller:
            dropped, (program, (step, what)) = more, smaller
    lines = [f"FAILED program {number}, step {step}: {what}", *("  " + line for line in program.text().splitlines()),
             f"  that step: {case_of(program, program.steps[step])}"]
    command = f"{sys.argv[0]} {settings.program} --seed {settings.seed} --only {number}"
    if dropped:
        command += " --drop " + ",".join(map(str, dropped))
    return "\n".join([*lines, "  repeat: python3 " + " ".join([command, *settings.repeat])])


def work(task):
    """One batch: (numbers, failures as text, tally)."""
    settings, numbers, dropped = task
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        wrong = judged(settings, [drawn(settings, number, dropped) for number in numbers], folder, tally)
        failures = [failure_text(settings, int(name), dropped, found,
                                 folder if i < MOST_MINIMISED and not dropped else None)
                    for i, (name, found) in enumerate(wrong.items())]
    return len(numbers), failures, tally


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="build/axisloom")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("AXISLOOM_SEED", secrets.randbits(32))))
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--part", default="1/1", help="I/K: the I-th of K parts of the programs")
    parser.add_argument("--only", type=int, help="the number of one program")
    parser.add_argument("--drop", default="", help="numbers of steps that are left out")
    parser.add_argument("--dtypes", help="of inputs; N: that many, drawn by the seed")
    parser.add_argument("--steps", type=int, help="of each program; 0: a few")
    parser.add_argument("--refused", type=int, help="percent of programs with a step to refuse")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="batches at the same time")
    parser.add_argument("--threads", type=int, default=2, help="programs at the same time, in each batch")
    parser.add_argument("--option", action="append", default=[], help="for axisloom check, such as --option=--checked")
    parser.add_argument("--differences", action="store_true", help="say where we differ from the oracles on purpose")
    parser.set_defaults(**DEFAULTS)
    return parser.parse_args()


def batches(options):
    if options.only is not None:
        return [[options.only]]
    part, parts = map(int, options.part.split("/"))
    numbers = range(options.count * (part - 1) // parts, options.count * part // parts)
    return [numbers[at:at + BATCH] for at in range(0, len(numbers), BATCH)]


def main():
    options = parse()
    settings = Settings(options)
    if options.differences:
        for what, theirs, ours in DIFFERENCES:
            print(f"{what}\n  NumPy, einops: {theirs}\n  here: {ours}")
        return
    print(f"seed {options.seed}", flush=True)
    start, tally, programs, failed = time.monotonic(), Tally(), 0, 0
    dropped = [int(step) for step in options.drop.split(",") if step]
    tasks = [(settings, numbers, dropped) for numbers in batches(options)]
    with concurrent.futures.ProcessPoolExecutor(min(options.jobs, len(tasks))) as pool:
        for done in concurrent.futures.as_completed([pool.submit(work, task) for task in tasks]):
            count, failures, part = done.result()
            programs += count
            failed += len(failures)
            tally.join(part)
            print(f"{programs} programs after {time.monotonic() - start:.0f} s, wrong: {failed}", file=sys.stderr)
            for failure in failures:
                print(failure, flush=True)
    seconds = time.monotonic() - start
    print("steps: " + ", ".join(f"{count} {name}" for name, count in tally.operations.most_common()))
    compiles = sum(int(re.search(r"(\d+) compiles", said)[1]) for said in tally.said)
    print(f"{compiles} kernels, counted anew in each batch of {BATCH}")
    print(f"refused: {tally.refusals['usage']} usage, {tally.refusals['overlap']} overlap; of {tally.rounded} rounded "
          f"elements {tally.unbounded} had no bound; {programs / seconds:.1f} programs a second")
    if tally.ends:
        print(f"PoCL ended the process itself {tally.ends} times, and the programs were right when they were run in halves")
    print(f"{programs - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
