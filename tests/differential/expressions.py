"""Random einsum expressions around one array: the axes of other operands, and the pattern in either spelling."""

NAMES = ["batch", "row", "col", "inner", "ch", "k1", "h_2", "w", "i", "j"]
LETTERS = "ijkmbACzxy"
MOST_POINTS = 30_000  # products: NumPy visits each
MOST_AXES = 8


class Expression:
    def __init__(self, rng, shape):
        self.rng = rng
        self.extents = []   # of axes 0, 1, ...
        self.operands = [[self.axis_of_first(i, shape) for i in range(len(shape))]]
        self.shapes = [list(shape)]
        self.ellipsis = None
        for _ in range(rng.choice([0] * 4 + [1] * 10 + [2] * 3 + [3, 3, rng.randint(4, 7)])):
            self.add_operand()
        used = sorted({axis for operand in self.operands for axis in operand})
        self.output = rng.sample(used, rng.randint(0, len(used)))
        if rng.random() < 0.2:
            self.hide_axes()
        self.spell()

    def axis_of_first(self, i, shape):
        same = [axis for axis, extent in enumerate(self.extents) if extent == shape[i]]
        if same and self.rng.random() < 0.15:
            return self.rng.choice(same)  # a diagonal
        self.extents.append(shape[i])
        return len(self.extents) - 1

    def add_operand(self):
        axes = self.rng.sample(range(len(self.extents)), self.rng.randint(0, min(3, len(self.extents))))
        if len(self.extents) < MOST_AXES:
            for _ in range(self.rng.choice([0, 0, 1, 1, 2])):
                self.extents.append(self.rng.choice([1, 2, 3, 4, 5, 7, 9, 16]))
                axes.append(len(self.extents) - 1)
        self.rng.shuffle(axes)
        if axes and self.rng.random() < 0.06:
            axes.append(self.rng.choice(axes))
        ones = {axis for axis in axes if self.rng.random() < 0.05}
        self.operands.append(axes)
        self.shapes.append([1 if axis in ones else self.extents[axis] for axis in axes])

    def points(self):
        total = 1
        for extent in self.extents:
            total *= max(1, extent)
        return total

    def hide_axes(self):
        """Some operands end, or begin, with unnamed axes; the first of them has all."""
        kept = self.output[:1] if self.rng.random() < 0.5 else self.output[:2]
        hidden = [axis for axis in kept if all(operand.count(axis) <= 1 for operand in self.operands)]
        places = []
        for operand in self.operands:
            inside = [axis for axis in operand if axis in hidden]
            at = operand.index(inside[0]) if inside else None
            if inside and (inside != hidden or operand[at:at + len(hidden)] != hidden):
                return  # they stand apart, or not all of them: an ellipsis would mean something else
            places.append(at if inside else None)
        if not hidden:
            return
        self.ellipsis = hidden
        for shape, at in zip(self.shapes[1:], places[1:]):
            if at is not None and self.rng.random() < 0.2:  # broadcast, by an axis that is 1 or missing
                shape[at:at + 1] = self.rng.choice([[], [1]])

    def side(self, axes, names, separator):
        words, hidden = [], False
        for axis in axes:
            if self.ellipsis and axis in self.ellipsis:
                words += [] if hidden else ["..."]
                hidden = True
            else:
                words.append(names[axis])
        return separator.join(words)

    def spell(self):
        style = self.rng.random()
        letters = self.rng.sample(LETTERS, len(LETTERS))
        if style < 0.45:
            self.text = ",".join(self.side(axes, letters, "") for axes in self.operands)
            if style >= 0.1:
                self.text += "->" + self.side(self.output, letters, "")
            return
        names = self.rng.sample(NAMES, len(NAMES)) if style < 0.8 else letters
        sides = [self.side(axes, names, " ") for axes in self.operands]
        self.text = ", ".join(sides) + " -> " + self.side(self.output, names, " ")
