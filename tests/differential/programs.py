"""Programs: arrays in shared buffers and the steps between them, as text for `axisloom check --programs`, and back."""
from dataclasses import dataclass, field, replace
from typing import Optional

import numpy as np

from elements import NUMPY, Typed, size_of


@dataclass
class Array:
    """How an array lies in its buffer; strides and offset in elements, as the library counts them."""
    buffer: int
    dtype: str
    shape: tuple
    strides: tuple
    offset: int
    turned_into: Optional[int] = None  # the array that a transpose in place left where this one was


@dataclass
class Step:
    op: str
    inputs: list
    arguments: list = field(default_factory=list)
    options: dict = field(default_factory=dict)   # flags have the value ""
    lengths: dict = field(default_factory=dict)
    output: Optional[int] = None                  # none: it is to be refused
    queue: int = 0
    in_place: bool = False

    def text(self):
        """As it would be typed after `axisloom`, or in a case."""
        parts = [self.op, *(f'"{argument}"' for argument in self.arguments)]
        parts += [f"{name}={length}" for name, length in self.lengths.items()]
        parts += [f"{name}={value}" if value else f"--{name}" for name, value in self.options.items()]
        return " ".join(parts + ["in-place"] * self.in_place)


@dataclass
class Program:
    name: str
    buffers: list = field(default_factory=list)   # of bytes, as they are at first
    arrays: list = field(default_factory=list)
    values: list = field(default_factory=list)    # Typed: what each array holds by the oracles, floats rounded
    steps: list = field(default_factory=list)
    expected: list = field(default_factory=list)  # of each step with an output
    refusal: Optional[str] = None                 # the error that the last step must end with

    def bytes(self):
        return sum(map(len, self.buffers))

    def text(self):
        lines = [f"program {self.name}", "buffers " + " ".join(str(len(buffer)) for buffer in self.buffers)]
        for array in self.arrays:
            shape = "x".join(map(str, array.shape)) or "scalar"
            strides = ",".join(map(str, array.strides)) or "-"
            lines.append(f"array {array.buffer} {array.dtype} {shape} {strides} {array.offset}")
        for step in self.steps:
            inputs = ",".join(map(str, step.inputs))
            lines.append(f"step {inputs} {'-' if step.output is None else step.output} {step.queue} {step.text()}")
        return "\n".join(lines) + "\n"

    def without(self, dropped):
        """The program without some steps, none of them in place: their results are there from the beginning, as the
        oracles have them."""
        buffers = [buffer.copy() for buffer in self.buffers]
        steps = []
        for number, (step, value) in enumerate(zip(self.steps, self.results())):
            if number not in dropped or step.output is None:
                steps.append(step)
            else:
                view(self.arrays[step.output], buffers)[...] = value.data
        expected = [want for number, want in enumerate(self.expected) if number not in dropped]
        refusal = self.refusal if steps and steps[-1] is self.steps[-1] else None
        return replace(self, buffers=buffers, steps=steps, expected=expected, refusal=refusal)

    def results(self):
        return [self.values[step.output] if step.output is not None else None for step in self.steps]

    def memory_of(self, content):
        """The buffers in a piece of a file of results."""
        ends = np.cumsum([len(buffer) for buffer in self.buffers])
        return [np.frombuffer(content, np.uint8, len(buffer), end - len(buffer)).copy()
                for buffer, end in zip(self.buffers, ends)]


def view(array, memory):
    """An array where it lies in its buffer."""
    size = size_of(array.dtype)
    if 0 in array.shape:
        return np.empty(array.shape, NUMPY[array.dtype])
    return np.ndarray(array.shape, NUMPY[array.dtype], memory[array.buffer].data, array.offset * size,
                      [stride * size for stride in array.strides])


def typed(array, memory):
    return Typed(array.dtype, view(array, memory))


def case_of(program, step):
    """The step alone as a case of `axisloom check`, which fills its arrays itself."""
    inputs = [program.arrays[number] for number in step.inputs]
    shapes = ",".join("x".join(map(str, array.shape)) or "scalar" for array in inputs)
    text = f"{step.op} {','.join(array.dtype for array in inputs)} {shapes}{step.text()[len(step.op):]}"
    places = [(f"in{i + 1}", array) for i, array in enumerate(inputs)]
    if step.output is not None and not step.in_place:
        places.append(("out", program.arrays[step.output]))
    for name, array in places:
        if array.shape:
            text += f" {name}-strides={','.join(map(str, array.strides))}"
    return text
