"""Whether what a program left in its buffers is what NumPy and einops make of it."""
import numpy as np

from elements import Typed, bits, is_complex, numbers
from oracle import expected
from programs import typed, view


def wrong_numbers(want, got):
    """Where a result with a bound is beyond it, component by component."""
    have = numbers(got)
    wrong = np.zeros(have.shape, bool)
    for part in (np.real, np.imag) if is_complex(got.dtype) else (np.asarray,):
        value, bound, number = part(want.values), part(want.bound), part(have)
        with np.errstate(invalid="ignore"):
            near = np.abs(number - value) <= bound
        wrong |= ~(near | (value == number) | (np.isnan(value) & np.isnan(number)) | np.isposinf(bound))
        if want.signed_zeros:
            wrong |= (value == 0) & (np.signbit(value) != np.signbit(number))
    if want.any_order:
        free = np.isposinf(want.bound.real)
        wrong = np.where(np.isfinite(want.values), wrong, np.isfinite(have) & ~free)
    return wrong


def wrong_elements(want, got):
    """Which elements of a result are wrong, in a flat array."""
    if want.bound is not None:
        return np.reshape(wrong_numbers(want, got), -1)
    size = got.data.dtype.itemsize
    first, second = (np.frombuffer(bits(data), np.uint8).reshape(-1, size) for data in (want.values, got.data))
    return np.any(first != second, axis=1)


def describe(want, got, wrong):
    at = int(np.flatnonzero(wrong)[0])
    index = np.unravel_index(at, got.data.shape)
    have = numbers(got)[index]
    text = f"{np.count_nonzero(wrong)} of {wrong.size} elements are wrong, the first [{','.join(map(str, index))}]: " \
           f"want {want.values[index]} got {have}"
    if want.bound is not None:
        text += f", off by {np.abs(have - want.values[index]):.3g} with a bound of {np.abs(want.bound[index]):.3g}"
    return text


class Judge:
    """Judges one program by its buffers at the end."""

    def __init__(self, program, content):
        self.program = program
        self.memory = program.memory_of(content)
        self.unbounded = self.rounded = 0  # elements of float results: that may be anything, and all
        self.got = [None] * len(program.arrays)
        for number in reversed(range(len(program.arrays))):
            self.got[number] = self.at_the_end(number)

    def at_the_end(self, number):
        """What an array held; one that was transposed in place is turned back."""
        array = self.program.arrays[number]
        if array.turned_into is None:
            return typed(array, self.memory)
        return Typed(array.dtype, np.swapaxes(self.got[array.turned_into].data, -1, -2))

    def wrong_step(self):
        """(step, what is wrong with its result), of the first such step; None."""
        for number, (step, want) in enumerate(zip(self.program.steps, self.program.expected)):
            got = self.got[step.output]
            if not self.as_foreseen(step.inputs):
                want = expected(step, [self.got[i] for i in step.inputs])
            wrong = wrong_elements(want, got)
            if want.bound is not None:
                self.rounded += want.bound.size
                self.unbounded += int(np.count_nonzero(np.isposinf(want.bound.real)))
            if np.any(wrong):
                return number, describe(want, got, wrong)
        return None

    def as_foreseen(self, inputs):
        """Whether arrays have the very bits that the oracles foretold, so that the oracles need not be asked again."""
        return all(bits(self.got[i].data) == bits(self.program.values[i].data) for i in inputs)

    def wrong_byte(self):
        """A byte that no step should have changed, in words; None. Results have been judged already."""
        want = [buffer.copy() for buffer in self.program.buffers]
        for step in self.program.steps:
            view(self.program.arrays[step.output], want)[...] = self.got[step.output].data
        for number, (first, second) in enumerate(zip(want, self.memory)):
            if not np.array_equal(first, second):
                at = int(np.flatnonzero(first != second)[0])
                return f"byte {at} of buffer {number} was overwritten: want {first[at]:#04x} got {second[at]:#04x}"
        return None


# What the oracles refuse alike, Axisloom's errors tell apart.
KINDS = {"usage": {"usage", "shape", "dtype", "axis", "pattern"}}


def verdict(program, outcome, content):
    """(step, what is wrong) or None, and the judge, if there was something to judge. `outcome`: the words that the
    program's line of outcomes has after its name."""
    last = len(program.steps) - 1
    if program.refusal is not None:
        if outcome[:2] == ["refused", str(last)] and outcome[2] in KINDS.get(program.refusal, {program.refusal}):
            return None, None
        return (last, f"want a {program.refusal} error, got: {' '.join(outcome)}"), None
    if outcome != ["done"]:
        step = int(outcome[1]) if outcome[0] == "refused" else last
        return (step, " ".join(outcome)), None
    judge = Judge(program, content)
    wrong = judge.wrong_step()
    if wrong is None and (byte := judge.wrong_byte()):
        wrong = last, byte
    return wrong, judge
