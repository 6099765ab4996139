"""Arrays that are distributed over ranks: who sends what to whom where such an array is rearranged.

Nothing here sends anything: `axisloom.torch` does on a process group of PyTorch. This is what it goes by, and what
others can go by that have ranks of their own.

>>> plan = Redistribution("s@x h -> s h@x", "x=4", (8, 16))
>>> plan.local_in_shape(0), plan.local_out_shape(0)
((2, 16), (8, 4))
>>> [(message.rank, message.elements) for message in plan.packs(0)]
[(1, 8), (2, 8), (3, 8)]
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, SupportsIndex, TypeVar

from . import _native
from ._cuts import parse_sides
from ._errors import CLASSES, Error, ShapeError, UsageError

if TYPE_CHECKING:
    from ._products import Product as Product

__all__ = [
    "Agreement", "Copy", "LostRankError", "Mesh", "Message", "Product", "RankError", "Redistribution", "whole_shape"
]  # fmt: skip

Shape = tuple[int, ...]


def __getattr__(name: str) -> Any:
    if name == "Product":  # which goes by what is here
        from ._products import Product

        return Product
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class RankError(Error, RuntimeError):
    """Calls of several ranks that do not go together. All ranks raise it."""


class LostRankError(RankError):
    """A rank that is gone, or that did not answer in time."""


# Meshes --------------------------------------------------------------------------------------------------------------


class Mesh:
    """Ranks as a grid with named axes, the first being the slowest.

    >>> mesh = Mesh("x=2 y=3")
    >>> mesh.ranks, mesh.axes, mesh.coordinates(4)
    (6, {'x': 2, 'y': 3}, {'x': 1, 'y': 1})
    >>> mesh.rank_at(x=1, y=1)
    4
    >>> Mesh({"x": 2, "y": 3}) == mesh
    True
    """

    __slots__ = ("axes", "ranks")

    def __init__(self, axes: str | Mapping[str, SupportsIndex] | Mesh) -> None:
        if isinstance(axes, Mesh):
            axes = axes.axes
        text = axes if isinstance(axes, str) else " ".join(f"{name}={int(count)}" for name, count in axes.items())
        self.ranks = _native.Redistribution("->", text, (), {}).ranks  # raises what is wrong with the text
        words = [word.partition("=") for word in text.split()]
        #: Number of ranks along each axis.
        self.axes: dict[str, int] = {name: int(count) for name, _, count in words}

    def coordinates(self, rank: int) -> dict[str, int]:
        """Where a rank is along each axis."""
        if not 0 <= rank < self.ranks:
            raise UsageError(f'the mesh "{self}" has no rank {rank}; give a rank from 0 to {self.ranks - 1}')
        found = {}
        for name, count in reversed(self.axes.items()):
            rank, found[name] = divmod(rank, count)
        return {name: found[name] for name in self.axes}

    def rank_at(self, **coordinates: int) -> int:
        """The rank at these coordinates: one for each axis."""
        rank = 0
        for name, count in self.axes.items():
            at = coordinates.get(name, -1)
            if not 0 <= at < count:
                raise UsageError(f'give a coordinate from 0 to {count - 1} along the axis {name} of the mesh "{self}"')
            rank = rank * count + at
        if unknown := [name for name in coordinates if name not in self.axes]:
            raise UsageError(f'the mesh "{self}" has no axis {unknown[0]}')
        return rank

    def __str__(self) -> str:
        return " ".join(f"{name}={count}" for name, count in self.axes.items())

    def __repr__(self) -> str:
        return f'Mesh("{self}")'

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Mesh) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))


# Plans ---------------------------------------------------------------------------------------------------------------


class Copy(NamedTuple):
    """A copy of a part: where both sides begin, and how they step along each axis. All in elements."""

    shape: Shape
    from_offset: int
    from_strides: Shape
    to_offset: int
    to_strides: Shape


class Message(NamedTuple):
    """What goes to another rank, or comes from it."""

    rank: int
    elements: int  # its length
    copies: tuple[Copy, ...]


Strides = Sequence[int] | None
_Told = TypeVar("_Told")


class Redistribution:
    """A rearrange of a distributed array: who sends what to whom. All ranks make the same one.

    pattern: as rearrange's, with cuts: "s@x" is cut over the mesh axis x. mesh: a Mesh or its text. shape: the whole
    input's. lengths: of axes that the shape does not tell.

    Strides are those of the local array, in elements; without them it is row-major. Offsets count from the element that
    is lowest in memory, which is the first one unless strides are negative.

    >>> plan = Redistribution("b s@x (h d) -> b s h@x d", "x=2", (3, 8, 12), h=4)
    >>> plan.out_shape, plan.local_in_shape(1), plan.local_out_shape(1)
    ((3, 8, 4, 3), (3, 4, 12), (3, 8, 2, 3))
    >>> plan.packs(1)[0].elements == plan.unpacks(0)[0].elements
    True
    """

    __slots__ = ("_native", "_told", "lengths", "mesh", "pattern")

    def __init__(
        self,
        pattern: str,
        mesh: str | Mapping[str, SupportsIndex] | Mesh,
        shape: Sequence[SupportsIndex],
        /,
        **lengths: SupportsIndex,
    ) -> None:
        self.pattern = pattern
        self.mesh = Mesh(mesh)
        self.lengths = {name: int(length) for name, length in lengths.items()}
        whole = tuple(int(extent) for extent in shape)
        self._native = _native.Redistribution(pattern, str(self.mesh), whole, self.lengths)
        self._told: dict[Any, Any] = {}

    @property
    def in_shape(self) -> Shape:
        """Of the whole input."""
        return self._native.in_shape

    @property
    def out_shape(self) -> Shape:
        """Of the whole output."""
        return self._native.out_shape

    @property
    def addends(self) -> int:
        """How many ranks send a receiver addends of an element; 1 where nothing is added."""
        return self._native.addends

    @property
    def summed(self) -> tuple[str, ...]:
        """Mesh axes along which ranks hold addends that are added up.

        >>> Redistribution("m n +x +y -> m n +y", "x=2 y=3", (4, 5)).summed
        ('x',)
        """
        left, right = parse_sides(self.pattern)
        return tuple(name for name in left.addends if name not in right.addends)

    def local_in_shape(self, rank: int) -> Shape:
        return self._native.local_in_shape(rank)

    def local_out_shape(self, rank: int) -> Shape:
        return self._native.local_out_shape(rank)

    def packs(self, rank: int, strides: Strides = None) -> tuple[Message, ...]:
        """What a rank sends to others, in the order of receivers: copies from its local input to a buffer that has all
        messages one after the other."""
        return self._messages("packs", rank, strides)

    def unpacks(self, rank: int, strides: Strides = None) -> tuple[Message, ...]:
        """What a rank gets from others, in the order of senders: copies from such a buffer to its local output."""
        return self._messages("unpacks", rank, strides)

    def direct(self, rank: int, strides: Strides = None) -> tuple[Message, ...]:
        """Copies from a rank's local input straight into the receivers' local outputs, which are row-major. The rank
        itself is among them."""
        return self._messages("direct", rank, strides)

    def kept(self, rank: int, in_strides: Strides = None, out_strides: Strides = None) -> tuple[Copy, ...]:
        """Copies from a rank's local input to its own local output."""
        ins, outs = _numbers(in_strides), _numbers(out_strides)
        return self._tell(("kept", rank, ins, outs), lambda: _copies(self._native.kept(rank, ins, outs)))

    def largest_load(self, element_bytes: int) -> tuple[int, int, int, int]:
        """Bytes that the busiest rank sends and receives, and messages that it sends and receives.

        >>> Redistribution("s@x h -> s h@x", "x=4", (8, 16)).largest_load(4)
        (96, 96, 3, 3)
        """
        load = self._tell("largest_load", lambda: self._native.largest_load(1))
        return load[0] * element_bytes, load[1] * element_bytes, load[2], load[3]

    def check_local(self, rank: int, shape: Sequence[int]) -> None:
        """Raises ShapeError where a rank's local input has another shape than the plan's."""
        wanted = self.local_in_shape(rank)
        if tuple(shape) != wanted:
            raise ShapeError(
                f"the local array of rank {rank} has shape {list(shape)}, and {self} wants {list(wanted)} of it: "
                f"give that part, or tell the whole shape by shape="
            )

    def check_out(self, rank: int, shape: Sequence[int]) -> None:
        """Raises ShapeError where what takes a rank's local output has another shape than the plan's."""
        wanted = self.local_out_shape(rank)
        if tuple(shape) != wanted:
            raise ShapeError(
                f"out= of rank {rank} has shape {list(shape)}, and the part that {self} leaves there has {list(wanted)}"
            )

    def __str__(self) -> str:
        return f'rearrange "{self.pattern}" of {list(self.in_shape)} over the mesh "{self.mesh}"'

    def __repr__(self) -> str:
        return f"<axisloom.distributed.Redistribution: {self}>"

    def _messages(self, name: str, rank: int, strides: Strides) -> tuple[Message, ...]:
        numbers = _numbers(strides)

        def told() -> tuple[Message, ...]:
            listed = getattr(self._native, name)(rank, numbers)
            return tuple(Message(other, elements, _copies(copies)) for other, elements, copies in listed)

        return self._tell((name, rank, numbers), told)

    def _tell(self, key: Any, make: Callable[[], _Told]) -> _Told:
        """What was told once, for calls that come again."""
        if key not in self._told:
            if len(self._told) >= _MOST_KEPT:
                self._told.clear()
            self._told[key] = make()
        found: _Told = self._told[key]
        return found


_MOST_KEPT = 64


def _numbers(strides: Strides) -> Shape | None:
    return None if strides is None else tuple(strides)


def _copies(listed: Sequence[Any]) -> tuple[Copy, ...]:
    return tuple(Copy(*copy) for copy in listed)


def whole_shape(pattern: str, mesh: str | Mesh, local_shapes: Sequence[Sequence[int]]) -> Shape:
    """The shape of the whole input, of which these are all ranks' parts.

    >>> whole_shape("s@x h -> s h@x", "x=4", [(3, 5), (3, 5), (3, 5), (1, 5)])
    (10, 5)
    """
    mesh = Mesh(mesh)
    rank = len(local_shapes[0])
    side = parse_sides(pattern)[0].spread(rank)
    if side is None:
        raise ShapeError(f'the left side of "{pattern}" does not fit an array of {rank} axes: name each of them')
    return tuple(
        sum(local_shapes[part][axis] for part in _ranks_along(mesh, dim.over)) for axis, dim in enumerate(side.dims)
    )


def _ranks_along(mesh: Mesh, names: Sequence[str]) -> Iterator[int]:
    """The ranks at coordinate 0 of all axes but these."""
    if unknown := [name for name in names if name not in mesh.axes]:
        raise UsageError(f'the mesh "{mesh}" has no axis {unknown[0]}')
    counts = [mesh.axes[name] for name in names]
    for place in range(math.prod(counts)):
        at = dict.fromkeys(mesh.axes, 0)
        for name, count in zip(reversed(names), reversed(counts)):
            place, at[name] = divmod(place, count)
        yield mesh.rank_at(**at)


# Agreement -----------------------------------------------------------------------------------------------------------


class Agreed(NamedTuple):
    """What all ranks do, and a number that stands for it."""

    digest: int
    plan: Any


class Asked(Protocol):
    """What a rank is about to do; it is hashable."""

    def told(self, error: Exception | None) -> str:
        """As JSON, for other ranks."""

    def settled(self, calls: list[dict[str, Any]]) -> Agreed:
        """Raises where the calls of all ranks, which are told here, do not go together. All ranks ask for it, with the
        same list."""


class _Call(NamedTuple):
    """What a rank does."""

    pattern: str
    mesh: str
    local: Shape
    dtype: str
    shape: Shape | None
    lengths: tuple[tuple[str, int], ...]
    how: str
    out: Shape | None

    def told(self, error: Exception | None) -> str:
        """As JSON, for other ranks."""
        said: dict[str, Any] = {**self._asdict(), "lengths": dict(self.lengths)}
        if error is not None:
            said["error"] = described(error)
        return json.dumps(said, default=int)  # of other kinds of integers

    def settled(self, calls: list[dict[str, Any]]) -> Agreed:
        return _settled(calls)


class Agreement:
    """Sees to it that all ranks of a communicator make the same call, before anything is sent. One for each
    communicator.

    gather: takes a number of 64 bits (signed) and returns those of all ranks. gather_texts: the same for a text.
    Both are called by all ranks together. A call that came before costs one number; a new one a text, too.

    >>> alone = Agreement(lambda number: [number], lambda text: [text])
    >>> alone.plan("s@x h -> s h@x", "x=1", (2, 3), "f32").out_shape
    (2, 3)
    """

    __slots__ = ("_gather", "_gather_texts", "_plans", "_rounds")

    def __init__(self, gather: Callable[[int], Sequence[int]], gather_texts: Callable[[str], Sequence[str]]) -> None:
        self._gather, self._gather_texts = gather, gather_texts
        self._plans: dict[Asked, Agreed] = {}
        self._rounds = 0

    def plan(
        self,
        pattern: str,
        mesh: str | Mesh,
        local_shape: Sequence[int],
        dtype: str,
        shape: Sequence[int] | None = None,
        lengths: Mapping[str, int] | None = None,
        *,
        how: str = "",
        out_shape: Sequence[int] | None = None,
        each_call: bool = True,
        error: Exception | None = None,
        prepare: Callable[[Redistribution], object] | None = None,
    ) -> Redistribution:
        """The plan for this call, which all ranks make with a local array of their own and the same other arguments.

        shape: of the whole array; without it the ranks tell each other their local shapes. how: what else has to be
        the same on all ranks. out_shape: of the local array that takes the result. each_call=False: a call with shape=
        that came before is taken to be made by all, and costs nothing. error: what this rank cannot do; then all ranks
        raise it. prepare: is called with a new plan, on all ranks or none; what it raises on one, all ranks raise.

        Raises RankError where the ranks' calls differ, and what is wrong with the call; on all ranks.
        """
        call = _Call(
            pattern,
            str(mesh),
            tuple(local_shape),
            dtype,
            None if shape is None else tuple(shape),
            tuple((lengths or {}).items()),
            how,
            None if out_shape is None else tuple(out_shape),
        )
        quick = shape is not None and not each_call
        found: Redistribution = self.asked(call, quick=quick, error=error, prepare=prepare)
        return found

    def asked(
        self,
        call: Asked,
        *,
        quick: bool = False,
        error: Exception | None = None,
        prepare: Callable[[Any], object] | None = None,
    ) -> Any:
        """What all ranks do that make this call. quick: one that came before is taken to be made by all. The rest is as
        plan's."""
        known = self._plans.get(call) if error is None else None
        if known is not None and quick:
            return known.plan
        digests = self._gather(known.digest if known is not None else 0)
        if known is not None and all(digest == known.digest for digest in digests):
            return known.plan
        calls = [json.loads(text) for text in self._gather_texts(call.told(error))]
        check_faults([other.get("error") for other in calls])
        check_alike(calls)
        agreed = call.settled(calls)
        if prepare is not None:
            self._prepare(prepare, agreed.plan)
        self._rounds += 1
        if self._rounds % _MOST_ROUNDS == 0:  # on all ranks in the same call
            self._plans.clear()
        self._plans[call] = agreed
        return agreed.plan

    def _prepare(self, prepare: Callable[[Any], object], plan: Any) -> None:
        fault = None
        try:
            prepare(plan)
        except Error as error:
            fault = described(error)
        check_faults([json.loads(text) for text in self._gather_texts(json.dumps(fault))])


_MOST_ROUNDS = 1024


def _settled(calls: list[dict[str, Any]]) -> Agreed:
    """For a call that is new to some rank."""
    call = calls[0]
    shapes = [other["local"] for other in calls]
    mesh = mesh_for(call["mesh"], len(calls))
    whole = call["shape"] if call["shape"] is not None else whole_shape(call["pattern"], mesh, shapes)
    plan = Redistribution(call["pattern"], mesh, whole, **call["lengths"])
    for rank, other in enumerate(calls):
        plan.check_local(rank, other["local"])
        if other["out"] is not None:
            plan.check_out(rank, other["out"])
    same = [call[part] for part in ("pattern", "dtype", "lengths", "how")]
    return Agreed(digest_of([*same, str(mesh), list(plan.in_shape)]), plan)


def mesh_for(text: str, ranks: int) -> Mesh:
    mesh = Mesh(text)
    if mesh.ranks != ranks:
        raise UsageError(f'the mesh "{mesh}" has {mesh.ranks} ranks, and there are {ranks}: give one for these')
    return mesh


def digest_of(said: Any) -> int:
    """64 bits for what JSON can say; never 0, which says that a call is new."""
    digest = hashlib.blake2b(json.dumps(said).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) or 1


def described(error: Exception) -> list[str]:
    """Its kind and its text, for other ranks."""
    return [next((code for code, kind in CLASSES.items() if isinstance(error, kind)), ""), str(error)]


def check_faults(faults: list[list[str] | None]) -> None:
    """By rank."""
    for rank, fault in enumerate(faults):
        if fault is not None:
            code, text = fault
            raise CLASSES.get(code, RankError)(f"rank {rank}: {text}")


def check_alike(calls: list[dict[str, Any]]) -> None:
    first = calls[0]
    for rank, call in enumerate(calls):
        if len(call["local"]) != len(first["local"]) or any(
            call.get(part) != first.get(part) for part in ("pattern", "mesh", "dtype", "shape", "lengths", "how", "op")
        ):
            raise RankError(
                f"the ranks make different calls: rank 0 makes {_told(first)}, and rank {rank} makes {_told(call)}; "
                f"let all make the same"
            )


def _told(call: dict[str, Any]) -> str:
    if "told" in call:
        return str(call["told"])
    lengths = "".join(f" {name}={length}" for name, length in call["lengths"].items())
    whole = "" if call["shape"] is None else f", which is a part of {call['shape']},"
    local = ",".join(map(str, call["local"]))
    how = f" ({call['how']})" if call["how"] else ""
    array = f"{call['dtype']}[{local}]{whole}"
    return f'rearrange "{call["pattern"]}"{lengths} of {array} over the mesh "{call["mesh"]}"{how}'
