"""In which order the arrays of an einsum are multiplied, where the library does not choose it."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ._arrays import dtype_of
from ._errors import OutOfMemoryError, UsageError
from ._expressions import ELLIPSIS, Expression, Path, Term, path_of, pattern_of


class Step(NamedTuple):
    numbers: tuple[int, ...]  # of the arrays in the list, which leave it; their product goes to its end
    pattern: str


@lru_cache(maxsize=512)
def steps_of(terms: tuple[Term, ...], output: Term, path: Path) -> tuple[Step, ...]:
    """The path's products as einsums of their own. Axes stay as long as a later step has them."""
    left, steps = list(terms), []
    for at, numbers in enumerate(path):
        taken = [left[number] for number in numbers]
        left = [term for number, term in enumerate(left) if number not in numbers]
        made = output if at == len(path) - 1 else kept_of(taken, [*left, output])
        steps.append(Step(numbers, pattern_of(taken, made)))
        left.append(made)
    return tuple(steps)


def kept_of(taken: Sequence[Term], others: Sequence[Term]) -> Term:
    needed = {name for term in others for name in term}
    return tuple(dict.fromkeys(name for term in taken for name in term if name in needed))


def asked_path(optimize: Any, count: int) -> Path:
    """The path that `optimize` lists; () where it leaves the order to the library."""
    if optimize is None or isinstance(optimize, (bool, str)):
        if isinstance(optimize, str) and optimize not in ("greedy", "optimal"):
            raise KeyError(f"there is no path named {optimize!r}; use True, or list the products")
        return ()
    if len(optimize) == 2 and isinstance(optimize[0], str) and isinstance(optimize[1], (int, float)):
        return asked_path(optimize[0], count)
    if not optimize or optimize[0] != "einsum_path":
        raise TypeError(f"optimize={optimize!r} is no path; it begins with 'einsum_path'")
    path = tuple(tuple(sorted(map(operator.index, numbers))) for numbers in optimize[1:])
    left = count
    for numbers in path:
        if not numbers or len(set(numbers)) != len(numbers) or not 0 <= numbers[0] <= numbers[-1] < left:
            raise UsageError(f"the step {numbers} of optimize={optimize!r} names arrays that are not there")
        left -= len(numbers) - 1
    if left != 1:
        raise RuntimeError(f"optimize={optimize!r} leaves {left} arrays; add a step that multiplies them")
    return path


# Memory --------------------------------------------------------------------------------------------------------------

_most_searched = 8  # arrays of which every order is tried


class _Product(NamedTuple):
    """One way to multiply some of the arrays."""

    cost: float  # elements read, in all steps
    peak: int  # bytes of intermediate results at the worst moment
    tree: Any  # the number of an array, or a pair of trees, the one that is done first first


class _Memory:
    """The search for an order whose intermediate results fit into a limit."""

    def __init__(self, expression: Expression, shapes: Sequence[Sequence[int]], item: int) -> None:
        self._terms, self._output, self._item = expression.terms, expression.output, item
        self._lengths = _lengths(expression, shapes)

    def path(self, limit: int) -> Path:
        count = len(self._terms)
        ways = self._searched() if count <= _most_searched else self._greedy()
        fitting = [way for way in ways if way.peak <= limit]
        if not fitting:
            self._refuse(f" {min(way.peak for way in ways)} bytes", limit)
        best = min(fitting, key=lambda way: way[:2])
        return path_of([best.tree] if isinstance(best.tree, int) else list(best.tree), count) or (tuple(range(count)),)

    def checked(self, path: Path, limit: int) -> Path:
        """The caller's own path, where it keeps to the limit."""
        left = [1 << number for number in range(len(self._terms))]
        held = worst = sum([self._bytes(arrays) for arrays in left])
        for numbers in path:
            taken = [left[number] for number in numbers]
            left = [arrays for number, arrays in enumerate(left) if number not in numbers]
            left.append(sum(taken))
            worst = max(worst, held + self._bytes(left[-1]))
            held = sum([self._bytes(arrays) for arrays in left])
        if worst > limit:
            self._refuse(f" {worst} bytes in the order that was asked for", limit)
        return path

    def _refuse(self, needed: str, limit: int) -> None:
        raise OutOfMemoryError(
            f"einsum {pattern_of(self._terms, self._output)!r} needs{needed} for intermediate results, memory_limit is "
            f"{limit}; raise it, or multiply in another way"
        )

    def _points(self, names: set[str]) -> int:
        return math.prod([self._lengths[name] for name in names])

    def _names(self, arrays: int) -> set[str]:
        """Of the product of a set of arrays, given as bits: the axes that are needed later."""
        inside = [term for number, term in enumerate(self._terms) if arrays >> number & 1]
        outside = [term for number, term in enumerate(self._terms) if not arrays >> number & 1]
        return set(kept_of(inside, [*outside, self._output]))

    def _bytes(self, arrays: int) -> int:
        """Of an intermediate result. An array of the caller is one where axes that it has alone are summed first."""
        if arrays.bit_count() == len(self._terms):
            return 0
        names = self._names(arrays)
        if arrays.bit_count() == 1 and names == set(self._terms[arrays.bit_length() - 1]):
            return 0
        return self._item * self._points(names)

    def _joined(self, left: int, right: int, ways: tuple[_Product, _Product]) -> _Product:
        """Both orders of the two sides; the one that needs less at its worst moment."""
        a, b = ways
        held_a, held_b, made = self._bytes(left), self._bytes(right), self._bytes(left | right)
        together = held_a + held_b + made
        a_first = max(a.peak, held_a + b.peak, together)
        b_first = max(b.peak, held_b + a.peak, together)
        cost = a.cost + b.cost + self._points(self._names(left) | self._names(right))
        if b_first < a_first:
            return _Product(cost, b_first, (b.tree, a.tree))
        return _Product(cost, a_first, (a.tree, b.tree))

    def _single(self, number: int) -> _Product:
        return _Product(0.0, self._bytes(1 << number), number)

    def _searched(self) -> list[_Product]:
        """The best of all orders: those that no other beats in both cost and peak."""
        count = len(self._terms)
        best: dict[int, list[_Product]] = {1 << number: [self._single(number)] for number in range(count)}
        for arrays in range(1, 1 << count):
            if arrays in best:
                continue
            ways, left = [], (arrays - 1) & arrays
            while left > arrays ^ left:
                right = arrays ^ left
                ways += [self._joined(left, right, (a, b)) for a in best[left] for b in best[right]]
                left = (left - 1) & arrays
            best[arrays] = _unbeaten(ways)
        return best[(1 << count) - 1]

    def _greedy(self) -> list[_Product]:
        """The pair with the smallest product first."""
        left = {1 << number: self._single(number) for number in range(len(self._terms))}
        while len(left) > 1:
            pairs = [(self._bytes(a | b), a, b) for a in left for b in left if a < b]
            _, a, b = min(pairs)
            left[a | b] = self._joined(a, b, (left.pop(a), left.pop(b)))
        return list(left.values())


def _unbeaten(ways: list[_Product]) -> list[_Product]:
    kept: list[_Product] = []
    for way in sorted(ways, key=lambda way: way[:2]):
        if not kept or way.peak < kept[-1].peak:
            kept.append(way)
    return kept


def _lengths(expression: Expression, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    """The length of each axis; of an ellipsis the number of its elements."""
    lengths: dict[str, int] = {}
    for term, shape in zip(expression.terms, shapes):
        extents = list(shape)
        if ELLIPSIS in term:
            at, more = term.index(ELLIPSIS), len(extents) - len(term) + 1
            extents[at : at + more] = [math.prod(extents[at : at + more])]
        for name, extent in zip(term, extents):
            lengths[name] = extent if lengths.get(name, 1) == 1 else lengths[name]
    return lengths


def _limit_in_bytes(memory_limit: Any, arrays: Sequence[Any], item: int) -> int:
    if memory_limit == "max_input":
        return item * max(math.prod(x.shape) for x in arrays)
    wrong = f"memory_limit={memory_limit!r} is no limit; give a number of bytes, or 'max_input'"
    try:
        limit = operator.index(memory_limit)
    except TypeError:
        raise TypeError(wrong) from None
    if limit < 0:
        raise UsageError(wrong)
    return limit


def _item_bytes(dtype: str | None, x: Any) -> int:
    name = dtype or dtype_of(x)
    bits = "".join([c for c in name if c.isdigit()])
    return int(bits) // 8 if bits else 1


def path_within(
    memory_limit: Any, expression: Expression, arrays: Sequence[Any], dtype: str | None, path: Path
) -> Path:
    """A path that keeps to the limit. One that the caller fixed is refused where it does not."""
    item = _item_bytes(dtype, arrays[0])
    limit = _limit_in_bytes(memory_limit, arrays, item)
    return _found_path(expression, tuple([tuple(x.shape) for x in arrays]), item, limit, path)


@lru_cache(maxsize=256)
def _found_path(expression: Expression, shapes: tuple[tuple[int, ...], ...], item: int, limit: int, path: Path) -> Path:
    memory = _Memory(expression, shapes, item)
    return memory.checked(path, limit) if path else memory.path(limit)
