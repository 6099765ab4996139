"""Reductions of arrays that are distributed over ranks: what a rank reduces by itself, what goes around, and how it is
joined. axisloom.torch and axisloom.mpi do these steps, each on its own ranks.

What an engine adds up itself is left to it: each rank reduces its part, and the results are addends of a rearrange. Of
other reductions, and in the portable order, the parts of all ranks go to the one that has the output's element then: of
the portable order blocks (see _pairs.py), or, where these would be about as many as the elements, the elements.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from . import _native
from ._cuts import Axis, Cut, Dim, Side, parse_sides
from ._errors import EinopsError, UsageError
from ._pairs import Block, Range, Run, blocks_of, meetings, merged, runs_of
from .distributed import Mesh, Redistribution

Lengths = tuple[tuple[str, int], ...]
Shape = tuple[int, ...]

# Of each reduction, what a rank makes of its part, and what joins these. The others need all elements at once.
JOINED = {
    "sum": ("sum", "sum"),
    "mean": ("sum", "sum"),
    "count_nonzero": ("count_nonzero", "sum"),
    "prod": ("prod", "prod"),
    "min": ("min", "min"),
    "max": ("max", "max"),
    "any": ("any", "any"),
    "all": ("all", "all"),
    "norm": ("norm", "norm"),
}
_WHOLE = ("argmin", "argmax")
_MOST_RANGES = 1 << 16  # of elements side by side, over all ranks
# Of so few elements sums by the kernel of the portable order take less time: 4 x 2^28 floats took an H200 2.8 ms, not 8.5.
_FEW_ELEMENTS = 64
_FEW = 4096  # results that every rank makes for itself, rather than to be told


class Move(NamedTuple):
    """A rearrange over the ranks. What comes out of the last one is the caller's. Ranks that have copies of what comes
    out of the others do the same with it, so that gradients of these copies are copies."""

    pattern: str
    shape: Shape  # of the whole
    lengths: Lengths
    is_last: bool = False


class Steps(NamedTuple):
    """What is done, in this order. Shapes are those of this rank."""

    elements: tuple[Move, ...]  # of the elements, before all else
    shape: Shape  # of the local array: an axis for each name, neighbours that are reduced being one
    flat: str  # the pattern that puts reduced axes that are no neighbours into one
    axis: int  # which that is
    runs: tuple[Run, ...]  # of blocks that are reduced each by itself
    padding: int  # blocks that a rank sends more than it has
    first: tuple[str, ...]  # reduction and pattern: of a run of blocks, or of all; none: it stays as it is
    first_options: tuple[tuple[str, str], ...]
    part: str  # the dtype of what that makes
    moves: tuple[Move, ...]  # of what is there then, until it is joined
    slots: tuple[int, ...]  # where the blocks of all ranks are then, along the first axis
    meetings: tuple[tuple[int, int], ...]  # of the slots: how they come together
    last: tuple[str, ...]  # where that is at once: reduction and pattern
    last_options: tuple[tuple[str, str], ...]
    after: tuple[Move, ...]  # of the result
    divisor: int  # by which a mean is divided; 0: nothing is
    between: str  # the dtype to which the quotient is rounded first
    dtype: str  # of the result


class Ranks(NamedTuple):
    """Who asks."""

    mesh: str
    rank: int


class Arrays(Protocol):
    """What a library of arrays does with them. Dtypes have long names: "float32"."""

    def converted(self, x: Any, dtype: str) -> Any: ...

    def zeros(self, like: Any, shape: Shape, dtype: str) -> Any: ...

    def joined(self, arrays: list[Any]) -> Any:
        """Along the first axis."""

    def divided(self, x: Any, count: int) -> Any:
        """Quotients as IEEE 754 has them."""

    def complex_of(self, real: Any, imaginary: Any) -> Any: ...


@functools.lru_cache(maxsize=256)
def steps_of(
    pattern: str, reduction: str, order: str, ranks: Ranks, shape: Shape, lengths: Lengths, dtype: str
) -> Steps:
    """For an array of that whole shape, of which each rank has the part that the left side says."""
    return _Planner(pattern, reduction, order, ranks, shape, lengths, dtype).steps()


def reduced(x: Any, steps: Steps, move: Callable[[Any, Move], Any], arrays: Arrays) -> Any:
    """The local result for a local array."""
    for one in steps.elements:
        x = move(x, one)
    x = x.reshape(steps.shape)
    if steps.flat:
        x = _native.call("rearrange", (steps.flat,), (x,))
    if steps.runs or steps.padding:
        x = _blocks(x, steps, arrays)
    elif steps.first:
        x = _native.call("reduce", steps.first, (x,), None, dict(steps.first_options))
    for one in steps.moves:
        x = move(x, one)
    if steps.slots and steps.slots != tuple(range(x.shape[0])):
        x = arrays.joined([x[slot : slot + 1] for slot in steps.slots])
    if steps.last:
        x = _native.call("reduce", steps.last, (x,), None, dict(steps.last_options))
    elif steps.slots:
        x = _met(x, steps, arrays)
    x = _finished(x, steps, arrays)
    for one in steps.after:
        x = move(x, one)
    return x


def _blocks(x: Any, steps: Steps, arrays: Arrays) -> Any:
    """What the blocks come to, one after the other along the first axis, and as many as every rank sends."""
    made, before = [], (slice(None),) * steps.axis
    for run in steps.runs:
        part = x[(*before, slice(run.first, run.first + run.length * run.blocks))]
        options = dict(steps.first_options)
        made.append(
            _native.call("reduce", steps.first, (part,), {_LENGTH: run.length}, options) if steps.first else part
        )
    if steps.padding:
        kept = (*x.shape[: steps.axis], *x.shape[steps.axis + 1 :])
        made.append(arrays.zeros(x, (steps.padding, *kept), steps.part))
    return made[0] if len(made) == 1 else arrays.joined(made)


def _met(x: Any, steps: Steps, arrays: Arrays) -> Any:
    parts = [x[place : place + 1] for place in range(len(steps.slots))]
    total = 0
    for total, other in steps.meetings:
        if steps.first[0] == "sum":
            parts[total] = parts[total] + parts[other]
            continue
        # How complex numbers are multiplied is the library's business.
        both = arrays.joined([parts[total], parts[other]])
        product = (steps.first[0], f"{_BLOCKS} ... -> 1 ...")
        parts[total] = _native.call("reduce", product, (both,), None, {"order": "portable"})
    return parts[total][0]


def _finished(x: Any, steps: Steps, arrays: Arrays) -> Any:
    """A quotient is rounded once, from f64, as the library does it."""
    if steps.divisor:
        x = _quotient(x, steps, arrays)
        if steps.between:
            x = arrays.converted(x, steps.between)
    return arrays.converted(x, steps.dtype)


def _quotient(x: Any, steps: Steps, arrays: Arrays) -> Any:
    if not steps.dtype.startswith("complex"):
        return arrays.divided(arrays.converted(x, "float64"), steps.divisor)
    x = arrays.converted(x, "complex128")
    # What is not finite in one part is NaN in the other, as where one complex number is divided by another.
    real, imaginary = x.real + x.imag * 0, x.imag - x.real * 0
    return arrays.complex_of(arrays.divided(real, steps.divisor), arrays.divided(imaginary, steps.divisor))


# Plans ---------------------------------------------------------------------------------------------------------------

_STEM = "zaxis"
_LENGTH, _BLOCKS, _FLAT = f"{_STEM}q", f"{_STEM}r", f"{_STEM}f"


class _Planner:
    """Axes have names here, those of the ellipsis and those without a name too."""

    def __init__(
        self, pattern: str, reduction: str, order: str, ranks: Ranks, shape: Shape, lengths: Lengths, dtype: str
    ) -> None:
        if reduction not in JOINED and reduction not in _WHOLE:
            raise UsageError(f"there is no reduction {reduction!r} over ranks: use one of {', '.join(JOINED)}")
        if order not in ("fast", "portable"):
            raise UsageError(f"there is no order {order!r}: use portable or fast")
        self.reduction, self.mesh, self.rank, self.dtype = reduction, Mesh(ranks.mesh), ranks.rank, dtype
        self.left, self.right = _named_sides(pattern, len(shape))
        what = f'reduce "{pattern}" with {reduction}'
        self._check_mesh(what)
        self.extents = _extents_of(self.left, shape, dict(lengths), what)
        plain = f"{_plain(self.left)} -> {_plain(self.right)}"
        known = _in_groups(self.left, self.extents)
        # The library says what is wrong with the pattern, and which dtype comes out.
        self.result = _long_name(_native.result("reduce", (reduction, plain), ((dtype, shape),), known)[0])
        floats = dtype.startswith(("float", "bfloat", "complex"))
        matters = reduction in ("sum", "mean", "prod", "norm") and floats
        self.portable = order == "portable" and matters
        self.order = (("order", "portable"),) if self.portable else ()
        self.before: list[Move] = []
        self.axes = self._elementary(shape)
        self.kept = [axis for axis in self.axes if axis.name in self._names(self.right)]
        self.lost = [axis for axis in self.axes if axis not in self.kept]
        self.count = math.prod(self.extents[axis.name] for axis in self.lost)
        over = {name for axis in self.lost for cut in axis.cuts for name in cut.over}
        self.over = [name for name in self.mesh.axes if name in over]

    @staticmethod
    def _names(side: Side) -> set[str]:
        return {axis.name for dim in side.dims for axis in dim.axes}

    def _check_mesh(self, what: str) -> None:
        if self.right.addends:
            raise UsageError(f"{what}: the result has no addends; leave +{self.right.addends[0]} out on the right")
        if self.left.addends and self.reduction != "sum":
            raise UsageError(f"{what}: addends are summed; use sum, or let rearrange sum them first")
        named = {name for side in (self.left, self.right) for dim in side.dims for name in dim.over}
        if unknown := sorted(named.union(self.left.addends).difference(self.mesh.axes)):
            raise UsageError(f'{what}: the mesh "{self.mesh}" has no axis {unknown[0]}')

    def _elementary(self, shape: Shape) -> list[Axis]:
        """The left side without composed axes. What is cut as a whole is cut along one of its axes instead."""
        kept, axes, dims = self._names(self.right), [], []
        for dim in self.left.dims:
            if not dim.cuts or len(dim.axes) == 1:
                own = [axis._replace(cuts=(*axis.cuts, *dim.cuts)) for axis in dim.axes]
                dims.append(dim)
            elif not kept.intersection(axis.name for axis in dim.axes):
                name = "".join(axis.name for axis in dim.axes) + _STEM
                self.extents[name] = math.prod(self.extents[axis.name] for axis in dim.axes)
                own = [Axis(name, dim.cuts)]
                dims.append(Dim((own[0],)))
            else:
                most = max((axis for axis in dim.axes if axis.name in kept), key=lambda axis: self.extents[axis.name])
                own = [axis._replace(cuts=dim.cuts) if axis is most else axis for axis in dim.axes]
                dims.append(dim)
            axes += own
        if any(dim.cuts and len(dim.axes) > 1 for dim in dims):
            to = Side(tuple(Dim((axis,)) for axis in axes), self.left.addends)
            source = Side(tuple(dims), self.left.addends)
            self.before.append(Move(f"{source} -> {to}", shape, self._lengths(axes)))
        if self.left.addends:
            self.extents[_STEM] = math.prod(self.mesh.axes[name] for name in self.left.addends)
            axes.insert(0, Axis(_STEM, (Cut(self.left.addends),)))
        return axes

    def _lengths(self, axes: Sequence[Axis]) -> Lengths:
        return tuple((axis.name, self.extents[axis.name]) for axis in axes if axis.name != _STEM)

    def _move(self, left: Side, right: Side, first: int = 0) -> Move:
        """`first`: extent of an axis before those that are kept."""
        shape = tuple(self.extents[axis.name] for dim in left.dims for axis in dim.axes if axis.name != _BLOCKS)
        return Move(f"{left} -> {right}", (first, *shape) if first else shape, self._lengths(self.kept))

    # The array of this rank ------------------------------------------------------------------------------------------

    def _local(self, axes: Sequence[Axis], rank: int | None = None) -> Shape:
        shape = tuple(self.extents[axis.name] for axis in axes)
        side = _side(axes)
        plan = Redistribution(f"{side} -> {side}", self.mesh, shape)
        return plan.local_in_shape(self.rank if rank is None else rank)

    def _groups(self) -> list[list[Axis]]:
        """Axes; neighbours that are reduced together."""
        groups: list[list[Axis]] = []
        for axis in self.axes:
            if groups and axis in self.lost and groups[-1][0] in self.lost:
                groups[-1].append(axis)
            else:
                groups.append([axis])
        return groups

    def _spelled(self) -> tuple[Shape, str, list[str]]:
        """The local shape, the pattern that makes one axis of all that is reduced, and the names then."""
        local = dict(zip((axis.name for axis in self.axes), self._local(self.axes)))
        groups = self._groups()
        shape = tuple(math.prod(local[axis.name] for axis in group) for group in groups)
        names = [group[0].name for group in groups]
        lost = [name for name, group in zip(names, groups) if group[0] in self.lost]
        if len(lost) <= 1:
            return shape, "", [_FLAT if name in lost else name for name in names]
        kept = [name for name in names if name not in lost]
        pattern = f"{' '.join(names)} -> ({' '.join(lost)}) {' '.join(kept)}"
        return shape, pattern, [_FLAT, *kept]

    # Steps -----------------------------------------------------------------------------------------------------------

    def steps(self) -> Steps:
        if not self.over:
            return self._by_itself()
        if not self.count or self.reduction in _WHOLE or (self.portable and self.reduction == "norm"):
            return self._by_elements()
        if not self.portable:
            return self._by_engine() if JOINED[self.reduction][1] == "sum" else self._by_parts(None)
        blocks = self._blocks()
        return self._by_elements() if blocks is None else self._by_parts(blocks)

    def _made(self, **given: Any) -> Steps:
        after = given.pop("after", ())
        if after:
            given["after"] = (*after[:-1], after[-1]._replace(is_last=True))
        else:
            moves = given["moves"]
            given["moves"] = (*moves[:-1], moves[-1]._replace(is_last=True))
        none = Steps(
            elements=tuple(self.before), shape=(), flat="", axis=0, runs=(), padding=0, first=(), first_options=(),
            part="", moves=(), slots=(), meetings=(), last=(), last_options=(), after=(), divisor=0, between="",
            dtype=self.result,
        )  # fmt: skip
        return none._replace(**given)

    def _to_right(self, kept: Side) -> tuple[Move, ...]:
        return () if str(kept) == str(self.right) else (self._move(kept, self.right),)

    def _by_itself(self) -> Steps:
        """Each rank has all elements of its outputs."""
        kept = _side(self.kept)
        pattern = f"{_plain(_side(self.axes))} -> {_plain(kept)}"
        return self._made(
            shape=self._local(self.axes), first=(self.reduction, pattern), first_options=self.order,
            after=(self._move(kept, self.right),),
        )  # fmt: skip

    def _by_elements(self) -> Steps:
        """All elements of an output go to one rank."""
        kept = self._target()
        cut = {dim.axes[0].name: dim.axes[0] for dim in kept.dims}
        to = _side([cut.get(axis.name, Axis(axis.name)) for axis in self.axes])
        move = Move(f"{_side(self.axes)} -> {to}", tuple(self.extents[axis.name] for axis in self.axes), ())
        return self._made(
            shape=self._local(self.axes), moves=(move,), last=(self.reduction, f"{_plain(to)} -> {_plain(kept)}"),
            last_options=self.order, after=self._to_right(kept),
        )  # fmt: skip

    def _by_engine(self) -> Steps:
        """The engine adds up what each rank's part comes to."""
        shape, flat, names = self._spelled()
        kept = " ".join(name for name in names if name != _FLAT)
        first: tuple[str, ...] = (JOINED[self.reduction][0], f"{' '.join(names)} -> {kept}")
        options = self._wide()
        floats = self.reduction in ("sum", "mean") and not self.dtype.startswith(("int", "uint", "bool"))
        elements = math.prod(self._local(self.lost))
        if floats and elements == 1 and not options:  # of each sum
            shape, flat, first = self._local(self.kept), "", ()
        elif floats and elements <= _FEW_ELEMENTS:
            options = (*options, ("order", "portable"))
        return self._divided(
            shape=shape, flat=flat, first=first, first_options=options,
            moves=(self._move(_side(self.kept, self.over), self.right),),
        )  # fmt: skip

    def _by_parts(self, blocks: list[list[Block]] | None) -> Steps:
        """What each rank makes of its blocks goes to the rank of the output's element. Without blocks a rank's part is
        one."""
        shape, flat, names = self._spelled()
        kept = " ".join(name for name in names if name != _FLAT)
        parts = self._runs(blocks)
        counts = [sum(run.blocks for run in runs) for runs in parts]
        most = max(counts)
        place = self._place()
        first, last = JOINED[self.reduction]
        source = _side([Axis(_BLOCKS, (Cut(tuple(self.over)),)), *self.kept])
        direct = set(self.over) <= {name for dim in self.right.dims for name in dim.over}
        target = self.right if direct else self._target()
        to = Side((Dim((Axis(_BLOCKS),)), *target.dims))
        meeting = meetings([one for own in blocks for one in own]) if blocks and not _in_a_row(blocks) else []
        # A block of one element is that element, in the sign of a zero too once it is joined by the library.
        single = not meeting and blocks is not None and names[0] == _FLAT and not self._wide()[len(self.order) :]
        single = single and all(run.length == 1 for runs in parts for run in runs)
        blockwise = () if single else (first, f"{_with_blocks(names)} -> {_BLOCKS} {kept}")
        at_once = {} if meeting else {"last": (last, f"{_BLOCKS} ... -> ..."), "last_options": self.order}
        return self._divided(
            shape=shape, flat=flat, axis=names.index(_FLAT), runs=tuple(parts[place]), padding=most - counts[place],
            first=blockwise, first_options=self._wide(),
            part=self._part_dtype(first), moves=(self._move(source, to, len(parts) * most),),
            slots=tuple(own * most + number for own, count in enumerate(counts) for number in range(count)),
            meetings=tuple(meeting), after=() if direct else self._to_right(target), **at_once,
        )  # fmt: skip

    def _part_dtype(self, reduction: str) -> str:
        wide = dict(self._wide()).get("compute-dtype")
        return wide or _long_name(_native.result("reduce", (reduction, "a ->"), ((self.dtype, (1,)),))[0])

    def _divided(self, **given: Any) -> Steps:
        """With the division of a mean. One of 16 bits is rounded to 32 bits on the way, as the library does it."""
        if self.reduction == "mean":
            given |= {"divisor": self.count, "between": "float32" if self.result in _HALVES else ""}
        return self._made(**given)

    def _wide(self) -> tuple[tuple[str, str], ...]:
        """Parts that are to be joined in the portable order, or divided, are not rounded to 16 bits."""
        if self.dtype in _HALVES and (self.portable or self.reduction == "mean"):
            return (*self.order, ("compute-dtype", "float32"))
        return self.order

    # Blocks ----------------------------------------------------------------------------------------------------------

    def _place(self) -> int:
        """This rank's among those along the mesh axes that cut what is reduced."""
        at = self.mesh.coordinates(self.rank)
        place = 0
        for name in self.over:
            place = place * self.mesh.axes[name] + at[name]
        return place

    def _along(self) -> list[int]:
        """A rank for each such place."""
        at = dict.fromkeys(self.mesh.axes, 0)
        found = []
        for places in itertools.product(*(range(self.mesh.axes[name]) for name in self.over)):
            found.append(self.mesh.rank_at(**{**at, **dict(zip(self.over, places))}))
        return found

    def _runs(self, blocks: list[list[Block]] | None) -> list[list[Run]]:
        """Of each rank; of one without elements there are none."""
        if blocks is not None:
            return [runs_of(own, self.count) for own in blocks]
        lengths = [math.prod(self._local(self.lost, rank)) for rank in self._along()]
        return [[Run(0, length, 1)] if length else [] for length in lengths]

    def _blocks(self) -> list[list[Block]] | None:
        """Of each rank; None where they are about as many as the elements."""
        extents = tuple(self.extents[axis.name] for axis in self.lost)
        plan = Redistribution(f"{_side(self.lost)} -> ({_plain(_side(self.lost))})", self.mesh, extents)
        ranges: list[list[Range]] = []
        for rank in self._along():
            own = plan.kept(rank)
            if sum(math.prod(copy.shape[:-1]) for copy in own) * len(self._along()) > _MOST_RANGES:
                return None
            ranges.append(merged(sorted(one for copy in own for one in _ranges_of(copy))))
        blocks = [blocks_of(own, self.count) for own in ranges]
        return None if 2 * max(map(len, blocks)) * len(blocks) > self.count > len(blocks) else blocks

    def _target(self) -> Side:
        """Where results are joined: the outputs, cut over the mesh axes along which parts go around."""
        if not self.kept or math.prod(self.extents[axis.name] for axis in self.kept) <= _FEW:
            return _side(self.kept)
        longest = max(self.kept, key=lambda axis: self.extents[axis.name] // self._cut(axis))
        more = (*longest.cuts, Cut(tuple(self.over)))
        return _side([axis._replace(cuts=more) if axis is longest else axis for axis in self.kept])

    def _cut(self, axis: Axis) -> int:
        return math.prod(self.mesh.axes[name] for cut in axis.cuts for name in cut.over)


_HALVES = ("float16", "bfloat16")


def _ranges_of(copy: Any) -> Iterator[Range]:
    """Of numbers that a copy writes to, where it goes through them in steps of 1 at last."""
    axes = [(extent, step) for extent, step in zip(copy.shape, copy.to_strides) if extent != 1]
    width = 1
    if axes and axes[-1][1] == 1:
        width = axes.pop()[0]
    for at in itertools.product(*(range(extent) for extent, _ in axes)):
        begin = copy.to_offset + sum(place * step for place, (_, step) in zip(at, axes))
        yield begin, begin + width


def _side(axes: Sequence[Axis], addends: Sequence[str] = ()) -> Side:
    return Side(tuple(Dim((axis,)) for axis in axes), tuple(addends))


def _plain(side: Side) -> Side:
    """Without the mesh."""
    dims = (Dim(tuple(Axis(axis.name) for axis in dim.axes), dim.composed) for dim in side.dims)
    return Side(tuple(dims))


def _in_a_row(blocks: list[list[Block]]) -> bool:
    """Whether the blocks of all ranks are of one size and in order, so that neighbours come together at once."""
    every = [one for own in blocks for one in own]
    return all(one == (place << every[0].level, every[0].level) for place, one in enumerate(every[:-1])) and (
        every[-1].begin == (len(every) - 1) << every[0].level
    )


def _with_blocks(names: Sequence[str]) -> str:
    return " ".join(f"({_BLOCKS} {_LENGTH})" if name == _FLAT else name for name in names)


def _long_name(dtype: str) -> str:
    return _LONG.get(dtype, dtype)


_LONG = {
    "bool": "bool", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128",
    **{f"{kind}{bits}": f"{'u' if kind == 'u' else ''}int{bits}" for kind in "iu" for bits in (8, 16, 32, 64)},
}  # fmt: skip


def _named_sides(pattern: str, rank: int) -> tuple[Side, Side]:
    """Both sides with a name for each axis."""
    left, right = parse_sides(pattern)
    more = rank - len(left.dims) + 1
    numbers = itertools.count()

    def names_of(axis: Axis) -> list[Axis]:
        if axis.name == "...":
            return [Axis(f"{_STEM}e{place}") for place in range(more)]
        if axis.name.isdigit():
            return [] if axis.name == "1" else [Axis(f"{_STEM}n{next(numbers)}x{axis.name}", axis.cuts)]
        return [axis]

    def named(side: Side) -> Side:
        dims: list[Dim] = []
        for dim in side.dims:
            axes = [one for axis in dim.axes for one in names_of(axis)]
            if not dim.composed and dim.axes[0].name == "...":
                dims += [Dim((axis,)) for axis in axes]
            else:
                dims.append(Dim(tuple(axes), dim.composed or not axes, dim.cuts))
        return Side(tuple(dims), side.addends)

    return named(left), named(right)


def _extents_of(left: Side, shape: Shape, lengths: Mapping[str, int], what: str) -> dict[str, int]:
    """Of each axis of the left side, as far as shape and lengths tell them."""
    if len(left.dims) != len(shape):
        raise EinopsError(f"{what}: the pattern names {len(left.dims)} axes, and the array has shape {list(shape)}")
    found: dict[str, int] = {}
    for dim, extent in zip(left.dims, shape):
        known = {axis.name: _length_of(axis.name, lengths) for axis in dim.axes}
        unknown = [name for name, length in known.items() if length is None]
        product = math.prod(length for length in known.values() if length is not None)
        if len(unknown) > 1:
            raise EinopsError(f"{what}: give the length of {unknown[0]} or of {unknown[1]}")
        if unknown:
            known[unknown[0]] = extent // product if product else 0
            product *= known[unknown[0]] or 0
        if product != extent:
            raise EinopsError(f'{what}: "{dim}" has {product} elements, and the axis of the array {extent}')
        found.update((name, int(length or 0)) for name, length in known.items())
    return found


def named_sides(pattern: str, shape: Shape, lengths: Lengths) -> tuple[Side, Side, dict[str, int]]:
    """Both sides with a name for each axis, and the lengths of those of the left."""
    left, right = _named_sides(pattern, len(shape))
    extents = _extents_of(left, shape, dict(lengths), f'reduce "{pattern}"')
    plain = f"{_plain(left)} -> {_plain(right)}"
    _native.result("reduce", ("sum", plain), (("f32", shape),), _in_groups(left, extents))  # says what is wrong
    return left, right, extents


def _in_groups(left: Side, extents: Mapping[str, int]) -> dict[str, int]:
    """The lengths that the shape does not tell."""
    return {axis.name: extents[axis.name] for dim in left.dims if len(dim.axes) > 1 for axis in dim.axes}


@functools.lru_cache(maxsize=256)
def same_side(pattern: str, rank: int, lengths: Lengths) -> tuple[str, Lengths]:
    """The left side of a pattern with a name for each axis, and all lengths that are known of them."""
    left, _ = _named_sides(pattern, rank)
    names = [axis.name for dim in left.dims for axis in dim.axes]
    known = [(name, _length_of(name, dict(lengths))) for name in names]
    return str(left), tuple((name, length) for name, length in known if length is not None)


def _length_of(name: str, lengths: Mapping[str, int]) -> int | None:
    if name.startswith(f"{_STEM}n"):
        return int(name.rpartition("x")[2])
    return lengths.get(name)
