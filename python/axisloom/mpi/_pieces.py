"""Parts of messages: which copies make the elements from one place of a message to another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..distributed import Copy

FROM, TO = "from_offset", "to_offset"


def is_new(copy: Copy, axis: int) -> bool:
    """Whether the axis repeats elements. A message has them once."""
    return copy.from_strides[axis] == 0 and copy.shape[axis] > 1


def elements(copy: Copy) -> int:
    """Number of elements in a message.

    >>> elements(Copy((2, 5, 3), 0, (3, 0, 1), 0, (15, 3, 1)))
    6
    """
    return math.prod(extent for axis, extent in enumerate(copy.shape) if not is_new(copy, axis))


def between(copies: Sequence[Copy], first: int, last: int) -> Iterator[Copy]:
    """The elements from number `first` to before number `last` of a message that all these copies make together.

    >>> row = Copy((2, 5), 0, (5, 1), 0, (5, 1))
    >>> [(part.shape, part.from_offset) for part in between([row, row], 3, 12)]
    [((1, 2), 3), ((1, 5), 5), ((1, 2), 0)]
    """
    start = 0
    for copy in copies:
        end = start + elements(copy)
        if first < end and start < last:
            yield from _part(copy, 0, max(first - start, 0), min(last, end) - start)
        start = end


def _part(copy: Copy, axis: int, first: int, last: int) -> Iterator[Copy]:
    """The same of one copy, of which only one index along the axes before this one is left. They come as a first row
    that is not whole, whole rows, and a last row."""
    while axis < len(copy.shape) and (copy.shape[axis] == 1 or is_new(copy, axis)):
        axis += 1
    if last - first == elements(copy):
        yield copy
        return
    row = elements(_rows(copy, axis, 0, 1))
    begin, end = -(-first // row), last // row  # whole rows
    if begin > end:
        yield from _part(_rows(copy, axis, end, 1), axis + 1, first - end * row, last - end * row)
        return
    if first < begin * row:
        yield from _part(_rows(copy, axis, begin - 1, 1), axis + 1, first - (begin - 1) * row, row)
    if begin < end:
        yield _rows(copy, axis, begin, end - begin)
    if end * row < last:
        yield from _part(_rows(copy, axis, end, 1), axis + 1, 0, last - end * row)


def _rows(copy: Copy, axis: int, begin: int, count: int) -> Copy:
    """Some steps along an axis."""
    return Copy(
        (*copy.shape[:axis], count, *copy.shape[axis + 1 :]),
        copy.from_offset + begin * copy.from_strides[axis],
        copy.from_strides,
        copy.to_offset + begin * copy.to_strides[axis],
        copy.to_strides,
    )
