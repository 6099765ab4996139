"""Drawing programs: each step is done on arrays that are there or on new ones, and its result may be used by any later
step."""
import random

import numpy as np

import layout
import refusals
from elements import DTYPES, Typed, size_of, stored
from expressions import MOST_POINTS, Expression
from oracle import LAYOUTS, REDUCTIONS, REFUSALS, expected
from patterns import draw_pattern
from programs import Array, Program, Step, view

MOST_ELEMENTS = 6_000  # of an array
MOST_RANK = 6
STEPS = 3, 6
LAYOUT_NAMES = [*LAYOUTS, "NC/4HW4", "NC/8HW8", "NC/16HW16", "NC/32HW32"]

# How often each is drawn.
WEIGHTS = {"rearrange": 14, "repeat": 6, "copy": 4, "transpose": 5, "permute": 5, "relayout": 4, "axes": 22,
           "reduce": 14, "einsum": 16, "matmul": 9, "dot": 3}


class Redraw(Exception):
    """What was drawn cannot be, or is too large."""


class Drawer:
    """Draws one program. `dtypes` are those of inputs; others come of reductions and products."""

    def __init__(self, seed, name, dtypes, steps, refused_percent):
        self.rng = random.Random(f"{seed}/{name}")
        self.generator = np.random.default_rng(self.rng.getrandbits(64))
        self.dtypes = self.rng.sample(dtypes, min(len(dtypes), self.rng.choice([1, 2, 2, 3])))
        self.program = Program(str(name))
        self.steps = steps
        self.refused_percent = refused_percent

    def chance(self, percent):
        return self.rng.random() * 100 < percent

    def draw(self):
        program = self.program
        queues = 2 if self.chance(25) else 1
        steps = self.steps or self.rng.randint(*STEPS)
        self.new_input(self.shape(), self.dtype())
        while len(program.steps) < steps and program.refusal is None:
            before = [list(part) for part in (program.buffers, program.arrays, program.values)]
            try:
                last = len(program.steps) + 1 == steps
                self.add_step(self.rng.randrange(queues), last and self.chance(self.refused_percent))
            except Redraw:
                program.buffers, program.arrays, program.values = before
        return program

    # --- arrays -------------------------------------------------------------------------------------------------------

    def dtype(self):
        return self.rng.choice(self.dtypes)

    def shape(self):
        while True:
            rank = self.rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, MOST_RANK])
            longest = [70, 2000, 70, 24, 10, 6, 4][rank]
            shape = [self.rng.choice([1, 2, 3, 4, 6, 8, 12, self.rng.randint(1, longest)]) for _ in range(rank)]
            if rank and self.chance(3):
                shape[self.rng.randrange(rank)] = 0
            if np.prod(shape) <= MOST_ELEMENTS:
                return tuple(shape)

    def new_input(self, shape, dtype):
        """An input in a buffer of its own, or a view of bytes that are there already."""
        strides = layout.strides_for(self.rng, shape, self.rng.choice([1, 1, 1, 2]), repeats=True)
        low, span = layout.reach(shape, strides)
        front, back = layout.margin(self.rng), layout.margin(self.rng)
        self.program.buffers.append(layout.as_bytes(layout.fill(dtype, self.generator, front + span + back)))
        return self.add(Array(len(self.program.buffers) - 1, dtype, tuple(shape), strides, front + low))

    def add(self, array, values=None):
        self.program.arrays.append(array)
        self.program.values.append(values or Typed(array.dtype, view(array, self.program.buffers).copy()))
        return len(self.program.arrays) - 1

    def add_alias(self):
        """The bytes of an input once more, as integers of any size."""
        inputs = set(range(len(self.program.arrays))) - {step.output for step in self.program.steps}
        number = self.rng.choice(sorted(inputs))
        array, dtype = self.array(number), self.rng.choice(["u8", "i16", "u32", "i64"])
        low, span = layout.reach(array.shape, array.strides)
        begin, end = ((array.offset - low + places) * size_of(array.dtype) for places in (0, span))
        begin, count = -(-begin // size_of(dtype)), end // size_of(dtype)
        alias = Array(array.buffer, dtype, (max(0, count - begin),), (self.rng.choice([1, 1, -1]),), begin)
        if alias.strides[0] < 0:
            alias.offset += max(0, alias.shape[0] - 1)
        if array.turned_into is None and 0 < alias.shape[0] <= MOST_ELEMENTS and inputs.issuperset(
                self.overlapped(alias)):
            self.add(alias)

    def operand(self, suits=lambda array: True):
        """An array that is there, the newest most often."""
        if self.chance(3):
            self.add_alias()
        fitting = [number for number, array in enumerate(self.program.arrays)
                   if array.turned_into is None and suits(array)]
        if not fitting:
            raise Redraw
        return fitting[-1] if self.chance(55) else self.rng.choice(fitting)

    def operand_of(self, shape, dtype):
        """An array of that shape and dtype: one that is there, or a new input."""
        shape = tuple(shape)
        if self.chance(30):
            fitting = [number for number, array in enumerate(self.program.arrays)
                       if array.turned_into is None and (array.shape, array.dtype) == (shape, dtype)]
            if fitting:
                return self.rng.choice(fitting)
        if np.prod(shape) > MOST_ELEMENTS:
            raise Redraw
        return self.new_input(shape, dtype)

    def array(self, number):
        return self.program.arrays[number]

    def place_result(self, dtype, shape):
        """A place for a result: in a buffer of its own, behind or over what another holds, or between the elements of
        an array."""
        if self.chance(10) and (place := self.place_between(dtype, shape)):
            return place
        step = self.rng.choice([1, 1, 1, 2])
        strides = layout.strides_for(self.rng, shape, step)
        low, span = layout.reach(shape, strides)
        front, back = layout.margin(self.rng), layout.margin(self.rng)
        buffers, size = self.program.buffers, size_of(dtype)
        number, begin = len(buffers), 0
        if self.chance(20):
            number = self.rng.randrange(len(buffers))
            begin = -(-len(buffers[number]) // size)
            if self.chance(40):
                begin, front = self.rng.randint(0, begin), 0
        self.grow(number, (begin + front + span + back) * size)
        return Array(number, dtype, tuple(shape), strides, begin + front + low)

    def place_between(self, dtype, shape):
        """Among the elements of an array of elements as large, which leave every second place free."""
        spread = [array for array in self.program.arrays if array.shape and size_of(array.dtype) == size_of(dtype) and
                  all(stride % 2 == 0 for stride in array.strides)]
        if not spread:
            return None
        array = self.rng.choice(spread)
        strides = layout.strides_for(self.rng, shape, 2)
        low, span = layout.reach(shape, strides)
        first = array.offset - layout.reach(array.shape, array.strides)[0] + self.rng.choice([1, 1, 3])
        self.grow(array.buffer, (first + span) * size_of(dtype))
        return Array(array.buffer, dtype, tuple(shape), strides, first + low)

    def grow(self, number, needed):
        """Gives a buffer, or a new one, so many bytes or more."""
        buffers = self.program.buffers
        before = buffers[number] if number < len(buffers) else np.empty(0, np.uint8)
        more = np.frombuffer(self.generator.bytes(max(0, needed - len(before))), np.uint8)
        buffers[number:number + 1] = [np.concatenate([before, more])]

    def overlapped(self, array):
        """The arrays that share bytes with one."""
        memory = self.program.buffers
        return [number for number, other in enumerate(self.program.arrays)
                if other.buffer == array.buffer and other.turned_into is None and
                np.shares_memory(view(array, memory), view(other, memory))]

    # --- steps --------------------------------------------------------------------------------------------------------

    def add_step(self, queue, refused):
        kind = self.rng.choices(list(WEIGHTS), WEIGHTS.values())[0]
        step = getattr(self, "draw_" + kind)()
        step.queue = queue
        if refused:
            refusals.spoil(step, self)
        operands = [self.program.values[number] for number in step.inputs]
        try:
            want = expected(step, operands)
        except REFUSALS:
            if not refused:
                raise Redraw from None
            self.program.refusal = "usage"
        except (NotImplementedError, MemoryError):  # the oracles do not know, or cannot
            raise Redraw from None
        else:
            if refused or want.values.size > MOST_ELEMENTS or want.values.ndim > MOST_RANK + 2:
                raise Redraw
            self.settle(step, want)
        self.program.steps.append(step)

    def settle(self, step, want):
        """Gives a step its output; one that shares bytes with its input makes it a step that is to be refused."""
        values = stored(want.dtype, want.values) if want.bound is not None else Typed(want.dtype, want.values)
        if step.op == "transpose" and self.can_be_in_place(step):
            before = self.array(step.inputs[0])
            step.in_place = True
            step.output = self.add(Array(before.buffer, before.dtype, before.shape, before.strides, before.offset),
                                   values)
            before.turned_into = step.output
        else:
            place = self.place_result(want.dtype, want.values.shape)
            overlapped = self.overlapped(place)
            if any(number not in step.inputs for number in overlapped) or (
                    overlapped and not self.chance(self.refused_percent)):
                raise Redraw
            step.output = self.add(place, values)
            if overlapped:
                self.program.refusal = "overlap"
        self.program.expected.append(want)

    def can_be_in_place(self, step):
        array = self.array(step.inputs[0])
        if len(array.shape) < 2 or array.shape[-1] != array.shape[-2] or min(array.strides[-2:]) < 0:
            return False  # strides below 0 are refused in place
        return self.chance(70) and self.overlapped(array) == [step.inputs[0]] and not repeats(array)

    # --- one operation ------------------------------------------------------------------------------------------------

    def draw_copy(self):
        return Step("copy", [self.operand()])

    def draw_transpose(self):
        return Step("transpose", [self.operand(lambda array: len(array.shape) > 1)])

    def draw_permute(self):
        number = self.operand()
        rank = len(self.array(number).shape)
        order = self.rng.sample(range(rank), rank)
        order = [axis - rank if self.chance(20) else axis for axis in order]
        return Step("permute", [number], [",".join(map(str, order))])

    def draw_relayout(self):
        number = self.operand(lambda array: len(array.shape) in (4, 5))
        shape = self.array(number).shape
        blocked = [name for name in LAYOUT_NAMES if "/" in name and name.endswith(f"W{shape[-1]}")]
        if len(shape) == 5 and not blocked:
            raise Redraw
        start = blocked[0] if len(shape) == 5 else self.rng.choice(list(LAYOUTS))
        step = Step("relayout", [number], [start, self.rng.choice(LAYOUT_NAMES)])
        if len(shape) == 5 and self.chance(60) and shape[1]:
            step.lengths["channels"] = shape[1] * shape[4] - self.rng.randrange(shape[4])
        return step

    def by_pattern(self, op, words=()):
        number = self.operand()
        text, lengths = draw_pattern(self.rng, self.array(number).shape, op)
        return Step(op, [number], [*words, text], {}, lengths)

    def draw_rearrange(self):
        return self.by_pattern("rearrange")

    def draw_repeat(self):
        return self.by_pattern("repeat")

    def draw_reduce(self):
        name = self.rng.choice(REDUCTIONS)
        return self.with_order(self.by_pattern("reduce", [name]), name)

    def draw_axes(self):
        name = self.rng.choice(REDUCTIONS)
        number = self.operand()
        rank = len(self.array(number).shape)
        step = self.with_order(Step(name, [number]), name)
        if rank and self.chance(80):
            axes = self.rng.sample(range(rank), self.rng.randint(1, rank))
            step.options["axes"] = ",".join(str(axis - rank if self.chance(20) else axis) for axis in axes)
        if self.chance(30):
            step.options["keepdims"] = ""
        return step

    def with_order(self, step, name):
        if name == "norm" and self.chance(70):
            step.options["ord"] = self.rng.choice(["1", "2", "inf"])
        if self.chance(8):
            step.options["order"] = self.rng.choice(["portable", "fast"])
        return step

    def draw_einsum(self):
        number = self.operand()
        first = self.array(number)
        expression = Expression(self.rng, first.shape)
        if expression.points() > MOST_POINTS:
            raise Redraw
        inputs = [number] + [self.operand_of(shape, self.related(first.dtype)) for shape in expression.shapes[1:]]
        return self.with_epilogue(Step("einsum", inputs, [expression.text]))

    def related(self, dtype):
        """Mostly the same: products of several dtypes need kernels of their own."""
        return dtype if self.chance(85) else self.dtype()

    def draw_matmul(self):
        number = self.operand(lambda array: len(array.shape) > 0)
        array, options = self.array(number), {}
        if len(array.shape) > 1 and self.chance(30):
            options["transpose-a"] = ""
        inner = array.shape[-2 if options else -1]
        other = [inner]
        if self.chance(85):
            other.append(self.rng.choice([1, 2, 3, 7, 16, self.rng.randint(1, 40)]))
            if self.chance(30):
                other.reverse()
                options["transpose-b"] = ""
        if len(other) > 1 and self.chance(35):
            batch = list(array.shape[:-2]) or [self.rng.randint(1, 4)]
            other = [1 if self.chance(20) else extent for extent in batch[self.rng.randrange(len(batch)):]] + other
        if np.prod(array.shape) * np.prod(other) / max(inner, 1) > MOST_POINTS:
            raise Redraw
        inputs = [number, self.operand_of(other, self.related(array.dtype))]
        return self.with_epilogue(Step("matmul", inputs, [], options))

    def draw_dot(self):
        number = self.operand(lambda array: len(array.shape) == 1)
        array = self.array(number)
        return self.with_epilogue(Step("dot", [number, self.operand_of(array.shape, self.related(array.dtype))]))

    def with_epilogue(self, step):
        if self.chance(12):
            step.options["alpha"] = self.rng.choice(["2", "-1", "0.5", "3"])
        if self.chance(10):
            step.options["activation"] = "relu"
        if self.chance(8):
            step.options["out-dtype"] = self.rng.choice(DTYPES)
        if self.chance(12):
            self.add_addend(step)
        return step

    def add_addend(self, step):
        operands = [self.program.values[number] for number in step.inputs]
        try:
            want = expected(step, operands)
        except REFUSALS:
            raise Redraw from None
        shape = [1 if self.chance(20) else extent for extent in want.values.shape]
        step.options["beta"] = self.rng.choice(["1", "-2", "0", "1"])
        step.inputs.append(self.operand_of(shape[self.rng.randint(0, len(shape)):], want.dtype))


def repeats(array):
    """Whether two elements lie at one place."""
    places = {0}
    for extent, stride in zip(array.shape, array.strides):
        places = {place + i * stride for place in places for i in range(extent)}
    return len(places) < int(np.prod(array.shape))


def draw(seed, name, dtypes, steps, refused_percent):
    """Program `name` of a seed. `steps`: how many, or 0 for a few."""
    return Drawer(seed, name, list(dtypes), steps, refused_percent).draw()
