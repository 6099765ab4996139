"""Whether the judge would see it: faults planted into right results, and into those of the program itself.

Usage: judge_test.py PROGRAM"""
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from differential import DEFAULTS, PLANT
from draw import draw
from elements import DTYPES, LEAST, Typed, component, stored
from judge import verdict, wrong_elements
from oracle import expected
from programs import Step, typed, view

PROGRAM = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build/axisloom")
DRIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "differential.py")
PROGRAMS = [draw(5, number, DTYPES, 0, DEFAULTS["refused"]) for number in range(150)]
RUN = [program for program in PROGRAMS if program.refusal is None]
DONE = ["done"]


def right_memory(program):
    """What a program leaves that makes no mistake."""
    memory = [buffer.copy() for buffer in program.buffers]
    for step in program.steps:
        view(program.arrays[step.output], memory)[...] = program.values[step.output].data
    return memory


def found(program, memory):
    return verdict(program, DONE, b"".join(buffer.tobytes() for buffer in memory))[0]


def out_of_bound(want, at):
    """An element of a result that is just not within its bound; None where anything is."""
    bound = want.bound.flat[at].real
    value = want.values.flat[at]
    if not np.isfinite(bound):
        return None
    if not np.isfinite(value):
        return 1.0
    return value + 4 * bound + np.abs(value) * 2.0**-6 + 4 * LEAST[component(want.dtype)]


class Planted(unittest.TestCase):
    """Each kind of fault, wherever it can be planted; `least` keeps a test from passing for lack of places."""

    def check(self, places, least):
        self.assertGreaterEqual(len(places), least)
        for program, memory in places:
            self.assertIsNotNone(found(program, memory), program.text())

    def test_right_results_pass(self):
        for program in RUN:
            self.assertIsNone(found(program, right_memory(program)), program.text())

    def test_one_wrong_element(self):
        rng, places = random.Random(1), []
        for program in RUN:
            for step, want in zip(program.steps, program.expected):
                memory = right_memory(program)
                result = view(program.arrays[step.output], memory)
                if result.size == 0 or program.arrays[step.output].turned_into is not None:
                    continue
                at = rng.randrange(result.size)
                if want.bound is None:
                    result = result.view(np.uint8) if want.dtype == "bool" else result  # or NumPy would make it 1
                    flipped = bytearray(result.flat[at].tobytes())
                    flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
                    result.flat[at] = np.frombuffer(bytes(flipped), result.dtype)[0]
                elif (value := out_of_bound(want, at)) is not None:
                    result.flat[at] = stored(want.dtype, value).data[()]
                else:
                    continue
                places.append((program, memory))
        self.check(places, 400)

    def test_a_byte_beside_the_results(self):
        rng, places = random.Random(2), []
        for program in RUN:
            results = [np.zeros(len(buffer), np.uint8) for buffer in program.buffers]
            for step in program.steps:
                array = program.arrays[step.output]
                result = view(array, results)
                result[...] = np.frombuffer(b"\xff" * result.dtype.itemsize, result.dtype)[0]
            number = rng.randrange(len(results))
            free = np.flatnonzero(results[number] == 0)
            if free.size:
                memory = right_memory(program)
                memory[number][rng.choice(free)] ^= 1 << rng.randrange(8)
                places.append((program, memory))
        self.check(places, 80)

    def test_a_step_that_did_not_wait(self):
        """Its operands are what lay there before the steps that make them."""
        places = []
        for program in RUN:
            made = {step.output for step in program.steps}
            for step, want in zip(program.steps, program.expected):
                if not made.intersection(step.inputs) or step.in_place:
                    continue
                early = expected(step, [typed(program.arrays[number], program.buffers) for number in step.inputs])
                result = Typed(want.dtype, early.values) if want.bound is None else stored(want.dtype, early.values)
                if np.any(wrong_elements(want, result)) and program.arrays[step.output].turned_into is None:
                    memory = right_memory(program)
                    view(program.arrays[step.output], memory)[...] = result.data
                    places.append((program, memory))
        self.check(places, 150)

    def test_results_of_other_steps(self):
        """What is refused runs, what runs is refused, another step or error than the right one."""
        for program in PROGRAMS:
            last = len(program.steps) - 1
            outcomes = [["accepted", str(last)], ["differs", "1"], ["refused", str(last), "device"],
                        ["refused", str(last + 1), "usage"]]
            if program.refusal:
                outcomes.append(DONE)
            for outcome in outcomes:
                self.assertIsNotNone(verdict(program, outcome, b"")[0])


class Bounds(unittest.TestCase):
    def test_a_sum_that_alpha_would_bring_back(self):
        """2 x 3e38 is beyond f32 before alpha halves it: infinity and the sum are both right."""
        operands = [stored("f32", np.full((1, 2), 3e38)), stored("f32", np.ones((2, 1)))]
        step = Step("matmul", [0, 1], options={"alpha": "0.5"}, output=2)
        self.assertTrue(np.isposinf(expected(step, operands).bound.real).all())
        step.options["alpha"] = "1"
        operands[0] = stored("f32", np.full((1, 2), 1e38))
        self.assertTrue(np.isfinite(expected(step, operands).bound.real).all())


class Driver(unittest.TestCase):
    """The whole way, with a wrong element in the results of every program."""

    def run_driver(self, *arguments, plant):
        return subprocess.run([sys.executable, DRIVER, PROGRAM, *arguments], capture_output=True, text=True,
                              check=False, timeout=300, env={**os.environ, PLANT: "1" if plant else ""})

    def test_wrong_elements_are_found_and_repeated(self):
        arguments = ["--count", "4", "--seed", "11", "--dtypes", "i32", "--refused", "0", "--jobs", "1"]
        self.assertIn("4 passed, 0 failed", self.run_driver(*arguments, plant=False).stdout)
        result = self.run_driver(*arguments, plant=True)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("0 passed, 4 failed", result.stdout)
        command = shlex.split(re.search("repeat: python3 (.*)", result.stdout)[1])[2:]
        again = self.run_driver(*command, plant=True)
        self.assertIn("0 passed, 1 failed", again.stdout, again.stderr)
        self.assertIn("1 passed, 0 failed", self.run_driver(*command, plant=False).stdout)


class Format(unittest.TestCase):
    """What is no file of programs is refused with its line."""

    def test_lines_that_cannot_be_read(self):
        for text, said in (("array 0 f32 3 1 0", "does not begin with a program"), ("program", "too short"),
                           ("program a\nbuffers x", "not a number"), ("program a\nbuffers -1", "0 bytes or more"),
                           ("program a\narray 0 f32 3 1 0", "no buffer 0"), ("program a\nwalk", "begins no line"),
                           ("program a\nbuffers 12\narray 0 f32 3 1 0\nstep 1 - 0 copy", "no array 1"),
                           ("program a\nbuffers 12\narray 0 f32 3 1 0\nstep 0 - 2 copy", "no queue 2"),
                           ("program a\nbuffers 12\narray 0 f32 3 1 0\nstep 0 - 0 fly", "fly"),
                           ("program a\nbuffers 12", "12 bytes, ")):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "programs")
                for name, content in ((path, text), (path + ".data", "")):
                    with open(name, "w", encoding="ascii") as file:
                        file.write(content)
                result = subprocess.run([PROGRAM, "check", "--programs", path, "--keep", folder], capture_output=True,
                                        text=True, check=False)
                self.assertEqual(result.returncode, 2, text + result.stderr)
                self.assertIn(said, result.stderr)


if __name__ == "__main__":
    test = unittest.main(argv=sys.argv[:1], exit=False).result
    wrong = len(test.failures) + len(test.errors)
    print(f"{test.testsRun - wrong} passed, {wrong} failed")
    sys.exit(1 if wrong else 0)
