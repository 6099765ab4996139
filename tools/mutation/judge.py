"""Judges a fault: the tests that reach it run in stages, those nearest to it first, and stop at the first that fails,
crashes or takes far too long: the fault is dead. One that passes them all survives."""
import dataclasses
import json
import re
import shlex
import shutil
import subprocess
import time

import tests
from plant import BUILD, COPY, WORK, kernel_tree

# A kernel that does not compile proves nothing about tests, so another fault takes its place.
STILLBORN = "does not compile"
COMPILER = re.compile(r"cannot compile |NVRTC_ERROR_COMPILATION|\berror: ")
# Seconds that the first batches of unit tests take; the rest is the last batch.
BATCHES = (5, 60)
QUICK = 1


@dataclasses.dataclass
class Verdict:
    number: int
    killer: str    # nothing for a survivor
    stage: str
    seconds: float
    reaching: int  # tests that come by it
    judges: str    # a digest of the tests that it was tried on


def emulated_objects():
    """The objects of tests that compile kernels as C++, each with the files that it depends on."""
    found = {}
    listing = subprocess.run(["ninja", "-t", "deps"], cwd=BUILD, capture_output=True, text=True, check=True).stdout
    for block in listing.split("\n\n"):
        head, *files = block.strip().split("\n")
        if m := re.match(r"(\S+_emulated_test\.cpp\.o):", head):
            found[m[1]] = {str((BUILD / file.strip()).resolve()) for file in files}
    return found


def emulated_program(mutant, scratch, tree):
    """The unit tests linked again, with the fault in the kernels that they hold as C++, and those tests' names; nothing
    where no test includes the file. A kernel that does not compile is its compiler's to notice."""
    changed = {name for name, files in emulated_objects().items() if str(COPY / mutant.file) in files}
    if not changed:
        return None
    sources = set()
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        place = words.index("-o") + 1
        if words[place] in changed:
            sources.add(entry["file"])
            words[place] = str(scratch / words[place].rsplit("/", 1)[1])
            first = next(i for i, word in enumerate(words) if word.startswith("-I"))
            words[first:first] = [f"-I{tree}/src", f"-I{tree}/src/ops"]
            if subprocess.run(words, cwd=BUILD, capture_output=True).returncode:
                return None
    link = subprocess.run(["ninja", "-t", "commands", "axisloom_tests"], cwd=BUILD, capture_output=True, text=True,
                          check=True).stdout.strip().split("\n")[-1]
    for name in changed:
        link = link.replace(f" {name} ", f" {scratch / name.rsplit('/', 1)[1]} ")
    program = scratch / "axisloom_tests"
    subprocess.run(link.replace("-o axisloom_tests ", f"-o {program} "), shell=True, cwd=BUILD, check=True, capture_output=True)
    return str(program), sources


def only_compiles(test):
    """Tests that do little but compile kernels for CUDA: the quick ones notice kernels that do not compile, and the others
    would notice no more of a fault in one."""
    return bool(re.search(r"Cuda\.|NvrtcCompile\.|DialectCompile\.", test.name)) and test.seconds > QUICK


def batches(unit):
    """Unit tests a few at a time: first those that reach few faults besides, and are quick."""
    unit = sorted(unit, key=lambda test: len(test.reached) * (test.seconds + 0.2))
    for end in (*BATCHES, float("inf")):
        batch, seconds = [], 0.0
        while unit and (not batch or seconds + unit[0].seconds < end):
            seconds += unit[0].seconds
            batch.append(unit.pop(0))
        if batch:
            names = ":".join(test.name for test in batch)
            command = [batch[0].command[0], "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={names}"]
            yield tests.Test(f"{len(batch)} unit tests", "unit", "", command, seconds)


def failed_test(output):
    """The name that GoogleTest gives the first failure."""
    m = re.search(r"^\[  FAILED  \] ([^\s,]+)", output, re.M)
    return m[1] if m else ""


def steps(mutant, scratch, tree, judges):
    """The commands that judge a fault, in order."""
    reaching = [test for test in judges if mutant.number in test.reached and not (test.whole and mutant.in_kernel())]
    unit = [test for test in reaching if test.stage == "unit" and not (mutant.in_kernel() and only_compiles(test))]
    if mutant.in_kernel() and (emulated := emulated_program(mutant, scratch, tree)):
        program, sources = emulated
        names = [test for test in judges if test.source in sources]
        yield tests.Test("emulated", "unit", "", [program, "--gtest_brief=1", "--gtest_fail_fast",
                                                  "--gtest_filter=" + ":".join(test.name for test in names)],
                         sum(test.seconds for test in names))
    # A kernel is compiled anew for each fault: whole operations run it soonest.
    stages = sorted(tests.STAGES, key=lambda stage: stage != "cases") if mutant.in_kernel() else tests.STAGES
    for stage in stages:
        if stage == "unit":
            yield from batches(unit)
            continue
        yield from sorted((test for test in reaching if test.stage == stage), key=lambda test: test.seconds)


def judge(mutant, judges, digest):
    scratch = tests.new_scratch()
    tree = kernel_tree(mutant.number, mutant) if mutant.in_kernel() else ""
    env = tests.environment(scratch, mutant.number, tree)
    start, killer, stage = time.time(), "", ""
    for step in steps(mutant, scratch, tree, judges):
        status, output = tests.run(step.command, env, step.limit())
        if status != 0:
            (WORK / "logs" / f"{mutant.number}.log").write_text(output)
            how = "takes too long" if status is None else f"ends with signal {-status}" if status < 0 else ""
            killer, stage = " ".join(filter(None, [failed_test(output) or step.name, how])), step.stage
            if mutant.in_kernel() and COMPILER.search(output):
                stage = STILLBORN
            break
    shutil.rmtree(scratch, ignore_errors=True)
    if mutant.in_kernel():
        shutil.rmtree(tree)
    reaching = sum(mutant.number in test.reached for test in judges)
    return mutant, Verdict(mutant.number, killer, stage, round(time.time() - start, 1), reaching, digest)
