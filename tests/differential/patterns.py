"""Random einops patterns for an array: compositions, an ellipsis, ones, anonymous lengths."""

NAMES = ["a", "b", "c", "h", "w", "n", "x1", "row", "c_in", "Batch", "k2", "t", "u", "depth", "y", "z", "s0", "Q"]
MOST_AXES = 10  # elementary ones; 16 are allowed


class Pattern:
    """One pattern under construction. `kind`: rearrange, repeat or reduce."""

    def __init__(self, rng, shape, kind):
        self.rng, self.kind = rng, kind
        self.names = rng.sample(NAMES, len(NAMES))
        self.lengths = {}
        self.extents = {}
        self.room = MOST_AXES - len(shape)
        self.left, self.units = [], []  # text of each array axis; what the right side has to hold
        self.dropped = set()
        self.draw_left(list(shape))
        self.draw_right()

    def chance(self, percent):
        return self.rng.random() * 100 < percent

    def text(self):
        blank = "  " if self.chance(3) else " "
        return blank.join(self.left) + " -> " + blank.join(self.right)

    def draw_left(self, shape):
        hidden = range(0)
        if self.chance(20):
            first = self.rng.randint(0, len(shape))
            hidden = range(first, self.rng.randint(first, len(shape)))
            if not hidden:
                hidden = range(first, first)
        ellipsis_at = hidden.start if hidden or (self.chance(20) and not hidden and shape) else None
        for axis in range(len(shape) + 1):
            if axis == ellipsis_at:
                self.left.append("...")
                self.units.append("...")
            if axis < len(shape) and axis not in hidden:
                self.draw_axis(shape[axis])
        if self.kind == "reduce" and "..." in self.units and self.chance(25):
            self.units.remove("...")

    def draw_axis(self, extent):
        if extent == 1 and self.chance(40):
            self.left.append(self.rng.choice(["1", "()", "1", "(1)"]))
            return
        parts = self.factors(extent)
        words = [self.part(part, len(parts) > 1) for part in parts]
        self.give_lengths(parts, words)
        if len(parts) > 1 and self.chance(5):
            words.insert(self.rng.randint(0, len(words)), "1")
        self.left.append(words[0] if len(words) == 1 and not self.chance(4) else f"({' '.join(words)})")

    def factors(self, extent):
        parts = [extent]
        while self.room > 0 and self.chance(35 if len(parts) == 1 else 15):
            at = self.rng.randrange(len(parts))
            divisors = [d for d in range(1, min(parts[at], 40) + 1) if parts[at] % d == 0] or [self.rng.randint(1, 3)]
            divisor = self.rng.choice(divisors)
            parts[at:at + 1] = self.rng.sample([divisor, parts[at] // divisor], 2)
            self.room -= 1
        return parts

    def part(self, extent, composed):
        drop = self.kind == "reduce" and self.chance(45)
        if drop and extent > 1 and self.chance(30 if composed else 10):
            return str(extent)
        name = self.names.pop()
        self.extents[name] = extent
        if not drop:
            self.units.append(name)
        return name

    def give_lengths(self, parts, words):
        """All of a composition but one have to be known; more may be given."""
        names = [name for name in words if not name.isdigit()]
        spare = self.rng.choice(names) if names else None
        if parts.count(0):  # what is not known cannot follow from a length of 0
            spare = None
        for name in names:
            if name != spare or self.chance(10):
                if len(names) > 1 or len(parts) > 1 or self.chance(10):
                    self.lengths[name] = self.extents[name]

    def draw_right(self):
        units = list(self.units)
        if self.kind == "repeat":
            self.add_new(units)
        if self.chance(70):
            self.rng.shuffle(units)
        self.right = []
        while units:
            count = self.rng.choice([1, 1, 1, 2, 2, 3])
            group, units = units[:count], units[count:]
            self.right.append(group[0] if len(group) == 1 and not self.chance(5) else f"({' '.join(group)})")
        if self.chance(12):
            self.right.insert(self.rng.randint(0, len(self.right)), self.rng.choice(["1", "()"]))

    def add_new(self, units):
        for _ in range(self.rng.choice([0, 1, 1, 1, 2])):
            length = self.rng.choice([1, 2, 2, 3, 4, 5])
            if self.chance(25):
                units.append(str(length))
                continue
            name = self.names.pop()
            self.lengths[name] = length
            units.append(name)


def draw_pattern(rng, shape, kind):
    """(text, lengths)"""
    pattern = Pattern(rng, shape, kind)
    return pattern.text(), pattern.lengths
