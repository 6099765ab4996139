"""einsum: products of blocks, added in a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da

from .. import _native
from .._arrays import dtype_name
from .._einsum import einsum as einsum_of_blocks
from .._expressions import ELLIPSIS, Expression, Term, pattern_of, read, spread
from .._orders import kept_of, path_within
from ._blocks import checked, meta_like, most_elements, one_thread, only_block, rechunked
from ._chunks import Chunks, cut, largest, ones, refined
from ._patterns import described
from ._reductions import Tree, one_element, wide_dtype

_any_memory = 1 << 62


@dataclass(frozen=True)
class Product:
    """An einsum of blocks; its result gets axes of length 1 at its end, for a tree of sums."""

    pattern: str
    dtype: str
    more_axes: int

    def __call__(self, *blocks: Any) -> Any:
        with one_thread():
            result = einsum_of_blocks(*map(only_block, blocks), self.pattern, dtype=self.dtype)
        return result.reshape((*result.shape, *ones(self.more_axes))) if self.more_axes else result


def einsum_of_operands(operands: tuple[Any, ...]) -> Any:
    """einsum in any of the library's spellings."""
    if not any(isinstance(x, da.Array) for x in operands):
        raise TypeError("axisloom.dask.einsum needs an array of Dask or xarray; axisloom.einsum takes the others")
    return einsum_of_arrays(*read(operands))


def einsum_of_arrays(expression: Expression, given: Sequence[Any]) -> Any:
    """einsum of arrays of which at least one is Dask's."""
    arrays = [checked(da.asanyarray(x)) for x in given]
    _native.result("einsum", expression.arguments, tuple(map(described, arrays)))  # refuses what is wrong
    result = einsum_of_blocks(*[one_element(x, x.ndim) for x in arrays], expression.pattern).dtype
    terms, output = _spread(expression, [x.ndim for x in arrays])
    steps = expression.path
    if not steps and len(arrays) > 2:
        steps = path_within(_any_memory, expression, arrays, None, ())
    for numbers in steps[:-1]:
        taken = [terms[number] for number in numbers]
        product = [arrays[number] for number in numbers]
        terms, arrays = (
            [part for number, part in enumerate(parts) if number not in numbers] for parts in (terms, arrays)
        )
        terms.append(kept_of(taken, [*terms, output]))
        arrays.append(_product(product, taken, terms[-1], wide_dtype(result), wide_dtype(result)))
    return _product(arrays, terms, output, wide_dtype(result), result)


def _spread(expression: Expression, ranks: Sequence[int]) -> tuple[list[Term], Term]:
    """With a name for each axis of an ellipsis; those of several arrays go together from the last on."""
    counts = [rank - len(term) + 1 if ELLIPSIS in term else 0 for term, rank in zip(expression.terms, ranks)]
    names = [f"ellipsis{number}x" for number in range(max(counts))]
    terms = [tuple(spread(term, names[len(names) - count :])) for term, count in zip(expression.terms, counts)]
    return terms, tuple(spread(expression.output, names))


def _product(arrays: Sequence[Any], terms: Sequence[Term], output: Term, dtype: Any, result: Any) -> Any:
    """One einsum: a task for each set of blocks that are multiplied, and a tree for the sums over several blocks."""
    sizes = _lengths(arrays, terms)
    chunks = _common_chunks(arrays, terms, output, sizes)
    numbers = {name: number for number, name in enumerate(chunks)}
    operands: list[Any] = []
    for x, term in zip(arrays, terms):
        repeated = [x.shape[at] != sizes[name] for at, name in enumerate(term)]  # a length of 1 that goes with all
        cuts = [(1,) if alone else chunks[name] for name, alone in zip(term, repeated)]
        fresh = len(numbers) + sum(len(part) for part in operands[1::2])
        indices = [fresh + at if alone else numbers[name] for at, (name, alone) in enumerate(zip(term, repeated))]
        operands += [rechunked(x, cuts), indices]
    summed = [name for name in chunks if name not in output and len(chunks[name]) > 1]
    product = da.blockwise(
        Product(pattern_of(terms, output), dtype_name(dtype), len(summed)),
        [numbers[name] for name in (*output, *summed)],
        *operands,
        adjust_chunks={numbers[name]: 1 for name in summed},
        align_arrays=False,
        dtype=dtype,
        meta=meta_like(arrays[0], len(output) + len(summed), dtype),
        token="axisloom-einsum",
    )
    if summed:
        options = (("compute-dtype", dtype_name(dtype)),) if dtype.kind in "iu" else ()
        tree = Tree("", "any", dtype) if dtype.kind == "b" else Tree("", "sum", dtype, options)
        return tree.joined(product, len(summed), result)
    return product if dtype == result else product.astype(result)


def _lengths(arrays: Sequence[Any], terms: Sequence[Term]) -> dict[str, int]:
    lengths: dict[str, int] = {}
    for x, term in zip(arrays, terms):
        for name, length in zip(term, x.shape):
            lengths[name] = length if lengths.get(name, 1) == 1 else lengths[name]
    return lengths


def _common_chunks(
    arrays: Sequence[Any], terms: Sequence[Term], output: Term, lengths: dict[str, int]
) -> dict[str, Chunks]:
    """How all arrays are cut: wherever one of them is, and finer where blocks of the result would be too large."""
    several: dict[str, set[Chunks]] = {name: set() for name in lengths}
    for x, term in zip(arrays, terms):
        for name, chunks, length in zip(term, x.chunks, x.shape):
            if length == lengths[name]:
                several[name].add(chunks)
    chunks = {name: refined(given) for name, given in several.items()}
    most = max(most_elements(max(x.dtype.itemsize for x in arrays)), *[largest(x.chunks) for x in arrays])
    while largest([chunks[name] for name in output]) > most:
        name = max(output, key=lambda name: max(chunks[name]))
        chunks[name] = cut(chunks[name], -(-max(chunks[name]) // 2))
    return chunks


