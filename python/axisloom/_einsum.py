"""Products: einsum in the spellings of NumPy and einops, matmul, dot, tensordot."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from . import _native
from ._arrays import Traced, adopt, array_types, converted, dtype_name, dtype_of, is_numpy, numpy_dtype, only
from ._errors import AxisError, DtypeError, ShapeError, UsageError
from ._expressions import ELLIPSIS, Expression, Path, Term, has_words, pattern_of, read, spread
from ._orders import asked_path, path_within, steps_of

__all__ = ["dot", "einsum", "matmul", "tensordot"]

_call = _native.call

# Dtypes of results ---------------------------------------------------------------------------------------------------


def _options(arrays: Sequence[Any]) -> dict[str, str] | None:
    """Of arrays of 8 bits NumPy's result has 8 bits too, where the library's own default is wider."""
    if getattr(arrays[0].dtype, "itemsize", 1) != 1:
        return None
    return _narrow_options(tuple([dtype_of(adopt(x)) for x in arrays]))


@lru_cache(maxsize=128)
def _narrow_options(dtypes: tuple[str, ...]) -> dict[str, str] | None:
    kinds = set(dtypes) - {"bool"}
    if not kinds or not kinds <= {"int8", "uint8"}:
        return None
    return {"out-dtype": kinds.pop() if len(kinds) == 1 else "int16"}


def _common_dtype(arrays: Sequence[Any]) -> str | None:
    """The long name of NumPy's result dtype; None where not all are NumPy's, or all are the same."""
    if len({x.dtype for x in arrays}) == 1 or [x for x in arrays if not is_numpy(x)]:
        return None
    import numpy

    return dtype_name(numpy.result_type(*[x.dtype for x in arrays]))


def _require_casts(sources: Sequence[Any], target: Any, casting: str) -> None:
    """NumPy's rule for arrays of NumPy: TypeError where one is not cast to that dtype."""
    import numpy

    for x in sources:
        if is_numpy(x) and not numpy.can_cast(x.dtype, target, casting):
            raise DtypeError(f"{x.dtype} is not cast to {target} with casting={casting!r}; convert it, or allow it")


def _product(
    name: str,
    arguments: tuple[str, ...],
    arrays: Sequence[Any],
    options: dict[str, str] | None,
    dtype: str | None,
    out: Any,
    device: str | None,
    stream: Any,
) -> Any:
    """A product that is computed in the dtype of that long name. Arrays are converted where the library does not."""
    if dtype is None:
        narrow = _options(arrays)
        options = {**narrow, **options} if narrow and options else narrow or options
        return _call(name, arguments, tuple(arrays), None, options, out, device, stream)
    if dtype != "bool":
        options = {**(options or {}), "out-dtype": dtype}
        try:
            return _call(name, arguments, tuple(arrays), None, options, out, device, stream)
        except DtypeError:
            if not [x for x in arrays if dtype_of(x) != dtype]:
                raise
    arrays = tuple([x if dtype_of(x) == dtype else converted(x, dtype) for x in arrays])
    return _call(name, arguments, arrays, None, options, out, device, stream)


def _product_with(
    do: Callable[[Sequence[Any], str | None, Any], Any],
    arrays: Sequence[Any],
    out: Any,
    dtype: Any,
    casting: str,
    widens: bool,
) -> Any:
    """Does a product by NumPy's rules of `dtype`, `casting` and `out`.

    `widens`: an `out` that is wider than the arrays widens what is computed in, as in einsum.
    """
    dtype = None if dtype is None else dtype_name(dtype)
    if dtype is not None and is_numpy(arrays[0]):
        _require_casts(arrays, numpy_dtype(dtype), casting)
    if out is None or not is_numpy(out):
        return do(arrays, dtype, out)
    import numpy

    if dtype is None:
        dtype = dtype_name(numpy.result_type(*[x.dtype for x in arrays], *([out.dtype] if widens else [])))
    if numpy_dtype(dtype) == out.dtype:
        return do(arrays, dtype, out)
    if not numpy.can_cast(numpy_dtype(dtype), out.dtype, casting):
        raise DtypeError(
            f"{dtype} is not cast to out's {out.dtype} with casting={casting!r}; give another, or allow it"
        )
    result = do(arrays, dtype, None)
    if result.shape != out.shape:
        raise ShapeError(f"out has the shape {out.shape}, the result {result.shape}; give one of that shape")
    numpy.copyto(out, result, casting="unsafe")
    return out


# Views ---------------------------------------------------------------------------------------------------------------


def _view(expression: Expression, x: Any) -> Any:
    """A view of x, where the pattern only reorders axes or takes diagonals; None where there is none."""
    (term,) = expression.terms
    if set(term) != set(expression.output):
        return None
    if is_numpy(x):
        import numpy

        numbers = {name: number for number, name in enumerate(dict.fromkeys(term))} | {ELLIPSIS: Ellipsis}
        return numpy.einsum(x, [numbers[name] for name in term], [numbers[name] for name in expression.output])
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return None
    more = [f"{number}." for number in range(x.ndim - len(term) + 1)] if ELLIPSIS in term else []
    term, output = (tuple(spread(names, more)) for names in (term, expression.output))
    if len(term) != x.ndim or [name for name in term if len({x.shape[i] for i in _places(term, name)}) > 1]:
        return None  # the call that follows says what is wrong
    shape = [x.shape[term.index(name)] for name in output]
    strides = [sum([x.stride(place) for place in _places(term, name)]) for name in output]
    return x.as_strided(shape, strides, x.storage_offset())


def _places(term: Term, name: str) -> list[int]:
    return [place for place, other in enumerate(term) if other == name]


# The functions -------------------------------------------------------------------------------------------------------


def einsum(
    *operands: Any,
    out: Any = None,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = True,
    copy: bool | None = True,
    memory_limit: int | str | None = None,
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Sum of products over axes: with the pattern first as in NumPy, last as in einops, or numbers of axes in lists.

    Arrays are multiplied two at a time, in the order that costs least. Parentheses in the pattern fix the order, and so
    does a path of NumPy's in `optimize`. `memory_limit` is for the bytes of all intermediate results at a time, or
    "max_input"; where no order keeps to it, OutOfMemoryError says what is needed. `copy=None` returns a view where the
    pattern only reorders axes or takes a diagonal, `copy=False` refuses where it cannot.

    >>> import numpy
    >>> a, b, c = numpy.ones((2, 3)), numpy.ones((3, 4)), numpy.ones((4, 5))
    >>> einsum("ij,jk", a, b).shape
    (2, 4)
    >>> einsum(a, b, "row inner, inner column -> column row").shape
    (4, 2)
    >>> einsum(a, [0, 1], b, [1, 2], [0, 2]).shape
    (2, 4)
    >>> einsum("(ij,jk),kl->il", a, b, c).shape
    (2, 5)
    """
    # What most calls are, with as few steps as can be: it counts where arrays are small.
    pattern = operands[0] if operands else None
    if pattern.__class__ is str:
        quick, arrays = _quick_numpy.get(pattern), operands[1:]
    else:
        pattern = operands[-1] if operands else None
        quick, arrays = _quick_einops.get(pattern) if pattern.__class__ is str else None, operands[:-1]
    plain = dtype is None and copy is True and memory_limit is None and isinstance(optimize, bool) and order == "K"
    if quick is not None and plain and casting == "safe" and quick[1] == len(arrays) and arrays[0].__class__ in array_types:
        options = None if getattr(arrays[0].dtype, "itemsize", 1) > 1 else _options(arrays)
        try:
            return _call("einsum", quick[0], arrays, None, options, out, device, stream)
        except DtypeError:  # perhaps of out alone
            if out is None:
                raise
    return _einsum_with(operands, out, dtype, order, casting, optimize, copy, memory_limit, device, stream)


# Arguments of a call and the number of its arrays, of patterns that were met, in the two spellings.
_quick_numpy: dict[str, tuple[tuple[str], int]] = {}
_quick_einops: dict[str, tuple[tuple[str], int]] = {}
_most_quick = 1024


def _remember(operands: tuple[Any, ...], expression: Expression) -> None:
    """Not what has words where NumPy has letters: read() looks at its arrays each time."""
    if isinstance(operands[0], str) and has_words(operands[0]):
        return
    for pattern, quick in ((operands[0], _quick_numpy), (operands[-1], _quick_einops)):
        if isinstance(pattern, str):
            if len(quick) >= _most_quick:
                quick.clear()
            quick[str(pattern)] = expression.arguments, expression.arrays
            return


def _einsum_with(
    operands: tuple[Any, ...],
    out: Any,
    dtype: Any,
    order: str,
    casting: str,
    optimize: Any,
    copy: bool | None,
    memory_limit: int | str | None,
    device: str | None,
    stream: Any,
) -> Any:
    """einsum with any of its options."""
    if operands and isinstance(operands[0], bytes):  # NumPy takes them
        operands = (operands[0].decode("ascii", "replace"), *operands[1:])
    try:
        expression, arrays = read(operands)
    except Traced:
        options = {"out": out, "dtype": dtype, "order": order, "casting": casting, "optimize": optimize, "copy": copy}
        options |= {"memory_limit": memory_limit, "device": device, "stream": stream}
        return Traced.call(einsum, *operands, **options)
    if not expression.path:
        _remember(operands, expression)
    _check_choices(order, casting)
    if copy is not True:
        view = _view(expression, arrays[0]) if len(arrays) == 1 and out is None and dtype is None else None
        if view is not None or copy is False:
            return _checked_view(view, expression)

    def do(arrays: Sequence[Any], dtype: str | None, out: Any) -> Any:
        dtype = dtype or _common_dtype(arrays)
        path = expression.path or asked_path(optimize, len(arrays))
        if memory_limit is not None:
            path = path_within(memory_limit, expression, arrays, dtype, path)
        return _contracted(expression, arrays, dtype, path, out, device, stream)

    return _in_order(order, arrays, _product_with(do, arrays, out, dtype, casting, widens=True))


def _check_choices(order: str, casting: str) -> None:
    if order not in ("K", "C", "F", "A", "k", "c", "f", "a"):
        raise UsageError(f"order={order!r} is none of K, C, F, A")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise UsageError(f"casting={casting!r} is none of no, equiv, safe, same_kind, unsafe")


def _checked_view(view: Any, expression: Expression) -> Any:
    if view is None:
        raise UsageError(f"einsum {expression.pattern!r} has no view of its array; leave copy=False out")
    return view


def _contracted(
    expression: Expression,
    arrays: Sequence[Any],
    dtype: str | None,
    path: Path,
    out: Any,
    device: str | None,
    stream: Any,
) -> Any:
    if not path:
        return _product("einsum", expression.arguments, arrays, None, dtype, out, device, stream)
    left = list(arrays)
    steps = steps_of(expression.terms, expression.output, path)
    for step in steps:
        taken = [adopt(left[number]) for number in step.numbers]
        left = [x for number, x in enumerate(left) if number not in step.numbers]
        into = out if step is steps[-1] else None
        left.append(_product("einsum", (step.pattern,), taken, None, dtype, into, device, stream))
        del taken
    return left[0]


def _in_order(order: str, arrays: Sequence[Any], result: Any) -> Any:
    """NumPy's arrays in Fortran's order where that is asked for."""
    fortran = order in ("F", "f") or (order in ("A", "a") and not [x for x in arrays if not x.flags.f_contiguous])
    if not fortran or not is_numpy(result) or result.ndim < 2 or result.flags.f_contiguous:
        return result
    import numpy

    return numpy.asfortranarray(result)


def matmul(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
    device: str | None = None,
    stream: Any = None,
) -> Any:
    """Product of matrices, or of batches of them, as numpy.matmul.

    >>> import numpy
    >>> matmul(numpy.ones((5, 2, 3)), numpy.ones((3, 4))).shape
    (5, 2, 4)
    """
    try:
        arrays, out = (adopt(x1), adopt(x2)), only(out)
    except Traced:
        return Traced.call(matmul, x1, x2, out=out, dtype=dtype, casting=casting, device=device, stream=stream)
    if dtype is None and casting == "same_kind":
        try:
            return _call("matmul", (), arrays, None, _options(arrays), out, device, stream)
        except DtypeError:
            if out is None:
                raise

    def do(arrays: Sequence[Any], dtype: str | None, out: Any) -> Any:
        return _product("matmul", (), arrays, None, dtype, out, device, stream)

    return _product_with(do, arrays, out, dtype, casting, widens=False)


_matmuls = {(1, 1), (1, 2), (2, 1), (2, 2)}  # numbers of axes of which dot is matmul


def dot(a: Any, b: Any, out: Any = None, *, device: str | None = None, stream: Any = None) -> Any:
    """Product over the last axis of a and the last but one of b, as numpy.dot; nothing is conjugated.

    >>> import numpy
    >>> float(dot(numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0])))
    11.0
    >>> dot(numpy.ones((2, 3, 4)), numpy.ones((5, 4, 6))).shape
    (2, 3, 5, 6)
    """
    try:
        a, b = adopt(a), adopt(b)
    except Traced:
        return Traced.call(dot, a, b, out=out, device=device, stream=stream)
    ranks = len(a.shape), len(b.shape)
    if ranks in _matmuls:
        return _call("matmul", (), (a, b), None, _options((a, b)), out, device, stream)
    if 0 in ranks:
        return _product("einsum", ("..., ... -> ...",), (a, b), None, None, out, device, stream)
    return _summed("dot", a, b, ((ranks[0] - 1,), (max(ranks[1] - 2, 0),)), out, device, stream)


def tensordot(a: Any, b: Any, axes: Any = 2, *, out: Any = None, device: str | None = None, stream: Any = None) -> Any:
    """Sum of products over axes of a with axes of b, as numpy.tensordot.

    `axes` is how many of the last axes of a go with the first ones of b, or a pair: the axes of a, and those of b.

    >>> import numpy
    >>> tensordot(numpy.ones((2, 3, 4)), numpy.ones((3, 4, 5))).shape
    (2, 5)
    >>> tensordot(numpy.ones((2, 3, 4)), numpy.ones((5, 4, 3)), axes=([1, 2], [2, 1])).shape
    (2, 5)
    """
    try:
        a, b = adopt(a), adopt(b)
    except Traced:
        return Traced.call(tensordot, a, b, axes, out=out, device=device, stream=stream)
    return _summed("tensordot", a, b, _pairs(axes, len(a.shape), len(b.shape)), out, device, stream)


_Pairs = tuple[tuple[int, ...], tuple[int, ...]]  # axes of one array, and of the other, counted from 0


def _summed(name: str, a: Any, b: Any, pairs: _Pairs, out: Any, device: str | None, stream: Any) -> Any:
    """The product summed over pairs of axes."""
    pattern = _pattern_of_axes(len(a.shape), len(b.shape), *pairs)
    try:
        return _product("einsum", pattern, (a, b), _strictly, None, out, device, stream)
    except ShapeError:
        for i, j in zip(*pairs):
            if a.shape[i] != b.shape[j]:
                raise ShapeError(
                    f"{name} of the shapes {tuple(a.shape)} and {tuple(b.shape)}: axis {i} of one has the length "
                    f"{a.shape[i]}, axis {j} of the other {b.shape[j]}; give arrays whose lengths agree"
                ) from None
        raise


def _pairs(axes: Any, rank_a: int, rank_b: int) -> _Pairs:
    try:
        pair = tuple(axes)
    except TypeError:
        count = max(operator.index(axes), 0)
        if count > min(rank_a, rank_b):
            raise AxisError(f"tensordot over {count} axes of arrays with {rank_a} and {rank_b} axes") from None
        return tuple(range(rank_a - count, rank_a)), tuple(range(count))
    if len(pair) != 2:
        raise AxisError(f"axes={axes!r} of tensordot is no number and no pair; give ([axes of a], [axes of b])")
    return _counted(pair[0], rank_a), _counted(pair[1], rank_b)


def _counted(axes: Any, rank: int) -> tuple[int, ...]:
    numbers = tuple(map(operator.index, axes)) if hasattr(axes, "__iter__") else (operator.index(axes),)
    for number in numbers:
        if not -rank <= number < rank:
            raise AxisError(f"axis {number} is out of bounds for an array of {rank} axes")
    return tuple([number % rank for number in numbers])


@lru_cache(maxsize=512)
def _pattern_of_axes(rank_a: int, rank_b: int, axes_a: tuple[int, ...], axes_b: tuple[int, ...]) -> tuple[str]:
    """The einsum that sums over pairs of axes."""
    if len(axes_a) != len(axes_b) or len(set(axes_a)) != len(axes_a) or len(set(axes_b)) != len(axes_b):
        raise AxisError(f"axes {axes_a} of one array and {axes_b} of the other are no pairs; name each once")
    a = [f"a{axis}" for axis in range(rank_a)]
    b = [f"b{axis}" for axis in range(rank_b)]
    for axis_a, axis_b in zip(axes_a, axes_b):
        b[axis_b] = a[axis_a]
    kept = [name for name in a if name not in b] + [name for name in b if name not in a]
    return (pattern_of([tuple(a), tuple(b)], tuple(kept)),)


_strictly = {"no-broadcast": ""}
