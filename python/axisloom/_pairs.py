"""The portable order of a reduction whose elements lie on several ranks: which blocks of them a rank can bring together
by itself, and how the blocks of all ranks come together.

The elements of an output are numbered. Neighbours come together, then what these came to, until one is left; what has
no neighbour waits (`src/ops/reduce/pairs.h`). So a block of 2**level elements that begins at a multiple of that comes
to the same bits wherever it lies. A rank sends its blocks, and no elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

Range = tuple[int, int]  # of numbers: the first, and one past the last


class Block(NamedTuple):
    begin: int
    level: int  # 2**level elements, or fewer where the elements end


class Run(NamedTuple):
    """Blocks of one length, one after the other among the elements of a rank."""

    first: int  # place of the first element
    length: int
    blocks: int


def merged(ranges: Iterable[Range]) -> list[Range]:
    """Ranges in order, those that touch as one.

    >>> merged([(0, 3), (3, 5), (8, 8), (8, 9)])
    [(0, 5), (8, 9)]
    """
    found: list[Range] = []
    for begin, end in ranges:
        if begin == end:
            continue
        if found and found[-1][1] == begin:
            begin = found.pop()[0]
        found.append((begin, end))
    return found


def blocks_of(ranges: Iterable[Range], count: int) -> list[Block]:
    """The fewest blocks that these ranges of 0 ... count - 1 consist of.

    >>> blocks_of([(0, 6), (7, 10)], 10)
    [Block(begin=0, level=2), Block(begin=4, level=1), Block(begin=7, level=0), Block(begin=8, level=1)]
    >>> blocks_of([(4, 7)], 7)
    [Block(begin=4, level=2)]
    """
    return [block for one in ranges for block in _blocks_within(*one, count)]


def _blocks_within(begin: int, end: int, count: int) -> Iterator[Block]:
    while begin < end:
        # The last block of all counts as a whole one.
        most = (end - begin - 1).bit_length() if end == count else (end - begin).bit_length() - 1
        level = most if begin == 0 else min(most, (begin & -begin).bit_length() - 1)
        yield Block(begin, level)
        begin = min(begin + (1 << level), end)


def runs_of(blocks: Sequence[Block], count: int) -> list[Run]:
    """Of a rank's blocks, where its elements lie in the order of their numbers.

    >>> runs_of(blocks_of([(2, 8), (12, 16)], 19), 19)
    [Run(first=0, length=2, blocks=1), Run(first=2, length=4, blocks=2)]
    """
    runs: list[Run] = []
    place = 0
    for block in blocks:
        length = min(1 << block.level, count - block.begin)
        if runs and runs[-1].length == length:
            runs[-1] = runs[-1]._replace(blocks=runs[-1].blocks + 1)
        else:
            runs.append(Run(place, length, 1))
        place += length
    return runs


def meetings(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """How blocks that are all the elements together, in any order, come together: pairs of their indices, of which the
    first takes the second. The block that begins at 0 has it all in the end.

    >>> meetings([Block(4, 1), Block(0, 1), Block(2, 1), Block(6, 0)])
    [(1, 2), (0, 3), (1, 0)]
    """
    found = []
    waiting: list[tuple[Block, int]] = []
    for index, block in sorted(enumerate(blocks), key=lambda item: item[1]):
        waiting.append((block, index))
        while len(waiting) > 1 and _are_neighbours(waiting[-2][0], waiting[-1][0]):
            found.append(_met(waiting))
    while len(waiting) > 1:
        found.append(_met(waiting))
    return found


def _are_neighbours(one: Block, other: Block) -> bool:
    return one.level == other.level and one.begin >> one.level & 1 == 0


def _met(waiting: list[tuple[Block, int]]) -> tuple[int, int]:
    _, second = waiting.pop()
    block, first = waiting.pop()
    waiting.append((block._replace(level=block.level + 1), first))
    return first, second
