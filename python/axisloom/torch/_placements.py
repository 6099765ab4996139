"""Placements of a DTensor as cuts of a pattern, and cuts as placements.

Both are read as digits: an axis that is cut n times is n digits for the mesh, slowest first, and one for what is
local. A placement is Shard where its digit is the slowest of those that are still to be dealt out, mesh axis by mesh
axis; else it is strided, by the product of those that are slower.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch.distributed.tensor import Partial, Placement, Replicate, Shard
from torch.distributed.tensor.placement_types import _StridedShard

from axisloom._cuts import Axis, Cut, Dim, Side
from axisloom._errors import UnsupportedError


class Spelled(NamedTuple):
    """A dim of a pattern, and the extents of its axes."""

    dim: Dim
    extents: dict[str, int]


class _Shards(NamedTuple):
    """How a mesh axis cuts an axis of the tensor."""

    over: str
    ranks: int
    slower: int  # the split factor


def addends_of(placements: Sequence[Placement], names: Sequence[str]) -> tuple[str, ...]:
    """The mesh axes along which ranks hold addends."""
    for placement in placements:
        # A type of its own may add up in a way of its own.
        if placement.is_partial() and (type(placement) is not Partial or placement.reduce_op != "sum"):
            raise UnsupportedError(f'{placement} is no sum over ranks: let DTensor.redistribute make it whole first')
    return tuple(name for name, placement in zip(names, placements) if placement.is_partial())


def spelled_dims(
    placements: Sequence[Placement], mesh: Mapping[str, int], shape: Sequence[int], stem: str
) -> list[Spelled]:
    """A dim for each axis of the tensor: "d0@x", or "(d0a d0b@x)" of one that is cut within. Names begin with stem."""
    cuts: list[list[_Shards]] = [[] for _ in shape]
    for (name, ranks), placement in zip(mesh.items(), placements):
        if isinstance(placement, (Shard, _StridedShard)):
            slower = placement.split_factor if isinstance(placement, _StridedShard) else 1
            cuts[placement.dim].append(_Shards(name, ranks, int(slower)))
    return [_spelled(f"{stem}{place}", extent, cuts[place]) for place, extent in enumerate(shape)]


def _spelled(name: str, extent: int, cuts: list[_Shards]) -> Spelled:
    order = _chained(cuts)
    if order is not None:
        return Spelled(Dim((Axis(name, tuple(Cut((cut.over,)) for cut in order)),)), {name: extent})
    digits = [_Digit(extent, (), extent)]
    for place, cut in enumerate(cuts):
        if not _deal(digits, cut, place == len(cuts) - 1):
            said = ", ".join(f"{one.over} with split factor {one.slower}" for one in cuts)
            raise UnsupportedError(
                f"an axis of {extent} elements is cut over {said}, which leaves parts that a pattern cannot say: "
                f"let DTensor.redistribute make it whole first"
            )
    axes = tuple(Axis(f"{name}{chr(97 + place)}", digit.cuts) for place, digit in enumerate(digits))
    return Spelled(Dim(axes, True), {axis.name: digit.extent for axis, digit in zip(axes, digits)})


def _chained(cuts: list[_Shards]) -> list[_Shards] | None:
    """The cuts slowest first, each of what the one before it left; None where one falls within what is local."""
    order: list[_Shards] = []
    for cut in reversed(cuts):
        place = next((at for at in range(len(order) + 1) if _ranks(order[:at]) == cut.slower), None)
        if place is None:
            return None
        order.insert(place, cut)
    return order


def _ranks(cuts: Sequence[_Shards]) -> int:
    return math.prod(cut.ranks for cut in cuts)


class _Digit(NamedTuple):
    """An elementary axis: its whole extent, its cuts, and what they leave."""

    extent: int
    cuts: tuple[Cut, ...]
    local: int


def _deal(digits: list[_Digit], cut: _Shards, last: bool) -> bool:
    """Cuts behind the local digits whose product is the split factor. False where the parts would not be equal."""
    slower, place = cut.slower, 0
    while slower > 1 and place < len(digits) and slower % max(digits[place].local, 1) == 0:
        slower //= max(digits[place].local, 1)
        place += 1
    if place == len(digits):
        return False
    digit = digits[place]
    if slower > 1:
        if digit.local % slower:
            return False
        rest = digit.local // slower
        digits[place : place + 1] = [_Digit(digit.extent // max(rest, 1), digit.cuts, slower), _Digit(rest, (), rest)]
        place, digit = place + 1, digits[place + 1]
    if digit.local % cut.ranks and not (last and place == len(digits) - 1):
        return False
    digits[place] = _Digit(digit.extent, (*digit.cuts, Cut((cut.over,))), digit.local // cut.ranks)
    return True


# And back ------------------------------------------------------------------------------------------------------------


def placements_of(side: Side, extents: Mapping[str, int], mesh: Mapping[str, int]) -> tuple[Placement, ...]:
    """Of an array that lies as this side of a pattern says."""
    found: dict[str, Placement] = dict.fromkeys(mesh, Replicate())
    for name in side.addends:
        found[name] = Partial()
    for place, dim in enumerate(side.dims):
        if dim.over:
            for name, slower in _factors(dim, extents, mesh).items():
                found[name] = Shard(place) if slower == 1 else _StridedShard(place, split_factor=slower)
    return tuple(found.values())


def _factors(dim: Dim, extents: Mapping[str, int], mesh: Mapping[str, int]) -> dict[str, int]:
    """The split factor of each mesh axis that cuts a dim."""
    if dim.cuts:
        parts = [(math.prod(extents[axis.name] for axis in dim.axes), dim.cuts)]
    else:
        parts = [(extents[axis.name], axis.cuts) for axis in dim.axes]
    digits: list[Any] = []  # names of mesh axes, and local extents
    even = True
    for extent, cuts in parts:
        for cut in cuts:
            parted = _parted(extent, cut, math.prod(mesh[name] for name in cut.over))
            if parted is None:
                even = False
                digits += cut.over
                continue
            before, extent = parted
            digits += [*([before] if before > 1 else []), *cut.over]
        digits.append(extent)
    if not even and not _is_exact(dim, parts):
        raise UnsupportedError(
            f'placements of a DTensor cannot say "{dim}" where it leaves parts that are not equal: give lengths that '
            f"divide evenly, or use local tensors and mesh="
        )
    dealt: set[str] = set()
    found = {}
    for name in [name for name in mesh if name in digits]:
        slower = [digit for digit in digits[: digits.index(name)] if digit not in dealt]
        found[name] = math.prod(mesh[digit] if isinstance(digit, str) else digit for digit in slower)
        dealt.add(name)
    return found


def _parted(extent: int, cut: Cut, ranks: int) -> tuple[int, int] | None:
    """What is local before and behind the cut, where all parts are equal."""
    if cut.deal.isdigit() and extent % (int(cut.deal) * ranks) == 0:
        return extent // (int(cut.deal) * ranks), int(cut.deal)
    if extent % ranks == 0 and not cut.deal.isdigit():
        return 1, extent // ranks
    return None


def _is_exact(dim: Dim, parts: list[tuple[int, tuple[Cut, ...]]]) -> bool:
    """Whether parts that are not equal are those of torch.chunk. Then the cuts are of the whole dim, or one is of its
    fastest axis."""
    if any(cut.deal or len(cut.over) > 1 for _, cuts in parts for cut in cuts):
        return False
    return len(parts) == 1 or (len(parts[-1][1]) == 1 and not any(cuts for _, cuts in parts[:-1]))
