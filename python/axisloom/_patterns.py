"""What einops has besides the three builtins, and what these leave to Python: lists of arrays, and reductions that are
functions."""

from __future__ import annotations

import importlib
import keyword
import math
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from . import _native
from ._arrays import ArrayT, Traced, adopt, is_array, is_traced, refuse_masked
from ._errors import EinopsError, Error, ShapeError, UnsupportedError, UsageError
from ._expressions import ELLIPSIS, spread

__all__ = ["pack", "parse_shape", "unpack"]

Shape = tuple[int, ...]

# Arrays of any kind --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _module_of(kind: Any) -> Any:
    """NumPy, PyTorch or CuPy where this is a type of theirs; None for others, which have a namespace of their own."""
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root in ("numpy", "torch", "cupy"):
            return importlib.import_module(root)
    return None


def _namespace(x: Any) -> Any:
    """The module whose reshape and stack work on x."""
    module = _module_of(type(x))
    if module is not None:
        return module
    if hasattr(x, "__array_namespace__"):
        return x.__array_namespace__()
    raise TypeError(f"{type(x).__name__} is no array; give one of NumPy, PyTorch, or of a library with the array API")


def _reshaped(x: Any, shape: Sequence[int]) -> Any:
    return x.reshape(shape) if hasattr(x, "reshape") else _namespace(x).reshape(x, shape)


def _joined(xp: Any, arrays: list[Any], axis: int) -> Any:
    if hasattr(xp, "concatenate"):
        made = xp.concatenate(arrays, axis)
        if hasattr(made, "mask"):
            refuse_masked(made)
        return made
    return xp.concat(arrays, axis=axis)


def _stacked(arrays: Sequence[Any]) -> Any:
    """Along a new first axis."""
    xp = _namespace(arrays[0])
    if xp.__name__ != "numpy":
        return xp.stack(arrays)
    refuse_masked(*arrays)
    try:
        return xp.array(arrays)
    except ValueError:
        shapes = ", ".join(map(str, dict.fromkeys([xp.shape(x) for x in arrays])))
        raise ShapeError(f"arrays of a list have to have one shape, not {shapes}") from None


_large = 1 << 18  # bytes from which on the library moves arrays faster than NumPy joins them


def _is_large(xp: Any, arrays: Sequence[Any]) -> bool:
    """Whether the arrays are NumPy's, of one dtype, and large together."""
    if xp.__name__ != "numpy":
        return False
    try:
        if sum([x.nbytes for x in arrays]) < _large:
            return False
    except AttributeError:  # lists of numbers
        return False
    dtype = arrays[0].dtype
    if dtype.itemsize not in (1, 2, 4, 8, 16) or dtype.hasobject:  # which the library does not move
        return False
    return not [x for x in arrays if not isinstance(x, xp.ndarray) or x.dtype != dtype]


# Patterns ------------------------------------------------------------------------------------------------------------


class _Length(int):
    """An axis without a name: each is one of its own."""

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def _check_name(name: str, what: str) -> None:
    """einops' rule for names of axes, and its warnings."""
    if not name.isidentifier():
        raise EinopsError(f"{what}: {name!r} is no name of an axis; use letters, digits and underscores")
    if name.startswith("_") or name.endswith("_"):
        raise EinopsError(f"{what}: the name {name!r} starts or ends with an underscore; use it only within a name")
    if keyword.iskeyword(name):
        warnings.warn(
            f"{name!r} is a keyword of Python, which is no good name of an axis", RuntimeWarning, stacklevel=4
        )


def _check_pattern(pattern: Any) -> None:
    if not isinstance(pattern, str):
        raise TypeError(f"the pattern has to be a str, not {type(pattern).__name__}")


def _tokens(side: str, what: str) -> list[str]:
    """Words, parentheses and ellipses of one side of a pattern."""
    for sign in "()":
        side = side.replace(sign, f" {sign} ")
    side = side.replace(ELLIPSIS, f" {ELLIPSIS} ")
    words = side.split()
    if words.count(ELLIPSIS) > 1:
        raise EinopsError(f"{what}: an array has only one ellipsis; name the other axes")
    for word in words:
        if word not in ("(", ")", ELLIPSIS) and not all(c.isalnum() or c == "_" for c in word):
            raise EinopsError(f"{what}: {word!r} is no name of an axis; use letters, digits and underscores")
    return words


def _parsed(side: str, what: str, underscore: bool = False) -> list[Any]:
    """The axes of an array, each a list of the names and lengths that it is made of; an ellipsis stands for itself."""
    axes: list[Any] = []
    group: list[Any] | None = None
    names: set[str] = set()
    for word in _tokens(side, what):
        if word == "(":
            if group is not None:
                raise EinopsError(f"{what}: parentheses cannot be nested; compose axes on one level: (a b c)")
            group = []
        elif word == ")":
            if group is None:
                raise EinopsError(f"{what}: a parenthesis was never opened; remove it, or add '('")
            axes.append(group)
            group = None
        else:
            made = _axis(word, what, names, underscore)
            if group is not None:
                group.extend(made)
            else:
                axes.append(made[0] if made == [ELLIPSIS] else made)
    if group is not None:
        raise EinopsError(f"{what}: a parenthesis is never closed; add ')'")
    return axes


def _axis(word: str, what: str, names: set[str], underscore: bool) -> list[Any]:
    if word.isdecimal():
        if int(word) == 0:
            raise EinopsError(f"{what}: the length of an axis is 0; give 1 or more")
        return [] if int(word) == 1 else [_Length(word)]
    if word == "_" and underscore:
        return [word]
    if word != ELLIPSIS:
        _check_name(word, what)
    if word in names:
        raise EinopsError(f"{what}: the name {word!r} appears twice; give each axis its own name")
    names.add(word)
    return [word]


def parse_shape(x: Any, pattern: str) -> dict[str, int]:
    """Lengths of axes by name; those called _ are left out.

    >>> import numpy
    >>> parse_shape(numpy.zeros((2, 3, 5, 7)), "batch _ h w")
    {'batch': 2, 'h': 5, 'w': 7}
    >>> from axisloom import rearrange
    >>> lengths = parse_shape(numpy.zeros((2, 3, 5, 7)), "b _ h w")
    >>> rearrange(numpy.zeros(700), "(b c h w) -> b c h w", **lengths).shape
    (2, 10, 5, 7)
    """
    _check_pattern(pattern)
    try:
        shape = adopt(x).shape
    except Traced:
        return cast(dict[str, int], Traced.call(parse_shape, x, pattern))
    names, fixed = _names_of_axes(pattern, len(shape))
    for axis, length in fixed:
        if shape[axis] != length:
            raise EinopsError(f'parse_shape(..., "{pattern}"): axis {axis} has the length {shape[axis]}, not {length}')
    return {name: shape[axis] for axis, name in names}


@lru_cache(maxsize=256)
def _names_of_axes(pattern: str, rank: int) -> tuple[list[tuple[int, str]], list[tuple[int, int]]]:
    """Which axes have names, and which have to have a length."""
    what = f'parse_shape(..., "{pattern}") of an array with {rank} axes'
    axes = _parsed(pattern, what, underscore=True)
    if [ELLIPSIS] in axes or [axis for axis in axes if axis != ELLIPSIS and len(axis) > 1]:
        raise EinopsError(f"{what}: an axis that is composed has no single name; use one name for each axis")
    if ELLIPSIS in axes:
        at, more = axes.index(ELLIPSIS), rank - len(axes) + 1
        if more < 0:
            raise EinopsError(f"{what}: the pattern names {len(axes) - 1} of them")
        axes[at : at + 1] = [["_"]] * more
    if len(axes) != rank:
        raise EinopsError(f"{what}: the pattern has {len(axes)} of them")
    names, fixed = [], []
    for number, axis in enumerate(axes):
        if not axis or isinstance(axis[0], _Length):
            fixed.append((number, int(axis[0]) if axis else 1))
        elif axis[0] != "_":
            names.append((number, axis[0]))
    return names, fixed


# Packing -------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _around_star(pattern: str, name: str) -> tuple[int, int]:
    """How many axes stand before and after the '*' of a pattern of pack or unpack."""
    what = f'{name}(..., "{pattern}")'
    words = pattern.split()
    if len(words) != len(set(words)):
        raise EinopsError(f"{what}: a name appears twice; give each axis its own name")
    if "*" not in words:
        raise EinopsError(f"{what}: there is no '*'; put it where axes are packed")
    for word in words:
        if word != "*":
            _check_name(word, what)
    before = words.index("*")
    return before, len(words) - before - 1


def pack(tensors: Sequence[ArrayT], pattern: str) -> tuple[ArrayT, list[Shape]]:
    """Flatten the axes of several arrays where the pattern has '*', and join them there.

    >>> import numpy
    >>> arrays = [numpy.zeros((2, 3, 5)), numpy.zeros((2, 3, 7, 5)), numpy.zeros((2, 3, 7, 9, 5))]
    >>> packed, shapes = pack(arrays, "i j * k")
    >>> packed.shape, shapes
    ((2, 3, 71, 5), [(), (7,), (7, 9)])
    >>> [array.shape for array in unpack(packed, shapes, "i j * k")]
    [(2, 3, 5), (2, 3, 7, 5), (2, 3, 7, 9, 5)]
    """
    _check_pattern(pattern)
    before, after = _around_star(pattern, "pack")
    try:
        xp = _namespace(tensors[0])
    except (LookupError, TypeError):
        _check_list(tensors, "pack", pattern)  # says what is wrong with the list
        raise
    if xp.__name__ == "torch" and is_traced(tensors[0]):
        return cast(Any, Traced.call(pack, tensors, pattern))
    shapes = []
    for tensor in tensors:
        shape = tensor.shape
        end = len(shape) - after
        if end < before:
            raise EinopsError(
                f'pack(..., "{pattern}"): array {len(shapes)} has the shape {tuple(shape)}, the pattern needs '
                f"{before + after} axes or more"
            )
        shapes.append(shape[before:end])
    if _is_large(xp, tensors):
        packed = _packed_into(tensors, shapes, before)
        if packed is not None:
            return packed, shapes
    flat = []
    for tensor, packed in zip(tensors, shapes):
        if len(packed) != 1:
            shape = tensor.shape
            tensor = _reshaped(tensor, (*shape[:before], math.prod(packed), *shape[before + len(packed) :]))
        flat.append(tensor)
    return _joined(xp, flat, before), shapes


def _packed_into(tensors: Sequence[Any], shapes: list[Shape], before: int) -> Any:
    """Each array is moved to its place by the library; None where the others do not suit the first."""
    first = tensors[0]
    around = first.shape[:before], first.shape[before + len(shapes[0]) :]
    for tensor, packed in zip(tensors, shapes):
        if (tensor.shape[:before], tensor.shape[before + len(packed) :]) != around:
            return None
    made = _native.empty_numpy((*around[0], sum(map(math.prod, shapes)), *around[1]), first)
    start = 0
    for tensor, packed in zip(tensors, shapes):
        stop = start + math.prod(packed)
        place = made[(*(slice(None),) * before, slice(start, stop))]  # to split an axis of it makes a view
        _native.call("copy", (), (tensor,), None, None, place.reshape((*around[0], *packed, *around[1])))
        start = stop
    return made


def unpack(tensor: ArrayT, packed_shapes: Sequence[Sequence[int]], pattern: str) -> list[ArrayT]:
    """Cut an array along the axis that the pattern calls '*', and give each piece its own shape there.

    One length of all may be -1: it is what is left. No shapes give no pieces. The pieces are views where the library of
    the array has views.

    >>> import numpy
    >>> [piece.shape for piece in unpack(numpy.zeros((2, 9)), [(), (2, 4), (-1,)], "i *")]
    [(2,), (2, 2, 4), (2, 0)]
    """
    _check_pattern(pattern)
    before, after = _around_star(pattern, "unpack")
    try:
        if not is_array(tensor):
            raise TypeError(f'unpack(..., "{pattern}"): {type(tensor).__name__} is no array')
    except Traced:
        return cast(Any, Traced.call(unpack, tensor, packed_shapes, pattern))
    shape = tensor.shape
    if len(shape) != before + 1 + after:
        raise EinopsError(
            f'unpack(..., "{pattern}"): the array has the shape {tuple(shape)}, the pattern {before + 1 + after} axes'
        )
    if len(packed_shapes) == 0:
        return []
    lengths = [-1 if -1 in packed else math.prod(packed) for packed in packed_shapes]
    _fill_in(lengths, shape[before], f'unpack(..., "{pattern}") into {packed_shapes}')
    start, pieces, array = 0, [], cast(Any, tensor)
    whole = (slice(None),) * before
    for length, packed in zip(lengths, packed_shapes):
        try:
            piece = array[(*whole, slice(start, start + length))]
            pieces.append(_reshaped(piece, (*shape[:before], *packed, *shape[before + 1 :])))
        except Exception as error:
            raise EinopsError(
                f'unpack(..., "{pattern}"): an axis of length {shape[before]} cannot be cut into {packed_shapes}'
            ) from error
        start += length
    return pieces


def _fill_in(lengths: list[int], whole: int, what: str) -> None:
    """Puts what is left in place of -1."""
    unknown = lengths.count(-1)
    if unknown > 1:
        raise EinopsError(f"{what}: more than one length is -1; give all but one")
    if unknown:
        left = whole - sum(length for length in lengths if length != -1)
        if left < 0:
            raise EinopsError(f"{what}: an axis of length {whole} has too few elements")
        lengths[lengths.index(-1)] = left
    elif sum(lengths) != whole:
        raise EinopsError(f"{what}: the lengths have a sum of {sum(lengths)}, the axis is {whole} long")


# What the builtins leave to Python -----------------------------------------------------------------------------------


def _check_list(tensors: Any, name: str, pattern: str) -> None:
    if not hasattr(tensors, "__getitem__"):
        raise TypeError(f'{name}(..., "{pattern}"): give a list of arrays, not {type(tensors).__name__}')
    if not len(tensors):
        raise TypeError(f'{name}(..., "{pattern}"): the list has no arrays')


def _is_of_numbers(tensors: Sequence[Any]) -> bool:
    """Whether a list, also a nested one, has no arrays: NumPy makes one array of it."""
    return not hasattr(tensors[0], "shape")


def _one_array(tensors: Sequence[Any], name: str, pattern: str) -> Any:
    """Arrays as one, along a new first axis; of numbers, as NumPy makes it."""
    _check_list(tensors, name, pattern)
    return adopt(tensors) if _is_of_numbers(tensors) else _stacked(tensors)


def names_axis(pattern: str, name: str) -> bool:
    """Whether a pattern has an axis of that name."""
    for sign in ("(", ")", "->", "."):
        pattern = pattern.replace(sign, " ")
    return name in pattern.split()


def is_whole_number(value: Any) -> bool:
    """Of Python or NumPy, and no array of one."""
    return hasattr(value, "__index__") and not hasattr(value, "__len__")


def moved_together(
    name: str,
    tensors: Sequence[Any],
    pattern: str,
    lengths: dict[str, int],
    out: Any = None,
    device: Any = None,
    stream: Any = None,
) -> Any:
    """rearrange or repeat of several arrays."""
    plain = out is None and device is None and stream is None
    if plain and tensors and not _is_of_numbers(tensors) and _is_large(_namespace(tensors[0]), tensors):
        moved = _moved_apart(name, tensors, pattern, lengths)
        if moved is not None:
            return moved
    one = _one_array(tensors, name, pattern)
    return _native.call(name, (pattern,), (one,), lengths, None, out, device, stream)


def _moved_apart(name: str, arrays: Sequence[Any], pattern: str, lengths: dict[str, int]) -> Any:
    """Each array goes to its own place in the result at once, without a stack. None where that cannot be."""
    count, shape = len(arrays), arrays[0].shape
    apart = _apart(pattern, len(shape))
    if apart is None or [x for x in arrays if x.shape != shape]:
        return None
    others = {name: length for name, length in lengths.items() if name != apart.name}
    try:
        whole = _native.result(name, (pattern,), (("u8", (count, *shape)),), lengths)[1]
        part = _native.result(name, (apart.pattern,), (("u8", shape),), others)[1]
    except Error:  # the stack says what is wrong
        return None
    made, at = _native.empty_numpy(whole, arrays[0]), apart.axis
    places = made.reshape(*whole[:at], part[at], count, part[at + 1], *whole[at + 1 :])
    for number, x in enumerate(arrays):
        place = places[(*(slice(None),) * (at + 1), number)]
        _native.call(name, (apart.pattern,), (x,), others, None, place)
    return made


class _Apart(NamedTuple):
    """A pattern for arrays in a list, taken apart."""

    name: str  # of the axis along which they are stacked
    pattern: str  # of one array; what is composed with that axis is split into what stands before and after it
    axis: int  # of the result, which that is a part of


@lru_cache(maxsize=256)
def _apart(pattern: str, rank: int) -> _Apart | None:
    """None for patterns that are wrong, and for those whose first axis has no name or is not on the right."""
    try:
        left, right = (_parsed(side, pattern) for side in pattern.split("->"))
    except ValueError:
        return None
    if not left or left[0] == ELLIPSIS or len(left[0]) != 1 or isinstance(left[0][0], _Length):
        return None
    (name,), *left = left
    more = rank - len(left) + 1 if ELLIPSIS in left else 0
    axis = 0
    for number, group in enumerate(right):
        if group != ELLIPSIS and name in group:
            at = group.index(name)
            right[number : number + 1] = [group[:at], group[at + 1 :]]
            return _Apart(name, f"{_spelled(left)} -> {_spelled(right)}", axis)
        axis += more if group == ELLIPSIS else 1
    return None


def _spelled(side: list[Any]) -> str:
    return " ".join(axis if axis == ELLIPSIS else f"({' '.join(map(str, axis))})" for axis in side)


def reduce_slowly(
    tensor: Any,
    pattern: str,
    reduction: str | Callable[[Any, Shape], Any],
    lengths: dict[str, int],
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    order: Any = None,
) -> Any:
    """reduce of several arrays, and by a function of the caller: reduction(array, axes)."""
    try:
        one = _one_array(tensor, "reduce", pattern) if isinstance(tensor, (list, tuple)) else adopt(tensor)
    except Traced:
        raise UnsupportedError(
            f'reduce(..., "{pattern}"): torch.fx records no reduction by a function; name one, or use torch.compile'
        ) from None
    if isinstance(reduction, str):
        options = None if order is None else {"order": order}
        return _native.call("reduce", (reduction, pattern), (one,), lengths, options, out, device, stream)
    if not callable(reduction):
        raise TypeError(
            f'reduce(..., "{pattern}"): the reduction is of type {type(reduction).__name__}; give a name or a function'
        )
    if order is not None:
        raise UsageError(f'reduce(..., "{pattern}"): order= is for reductions by name; leave it out')
    steps = _steps(pattern, len(one.shape))
    lengths = {**lengths, **steps.lengths}
    result = _native.call("rearrange", (steps.pattern,), (one,), lengths, None, None, device, stream)
    if steps.reduced:
        result = _checked_result(reduction(result, steps.reduced), steps, f'reduce(..., "{pattern}")')
    result = _reshaped(result, steps.merged(result.shape))
    if out is None:
        return result
    return _native.call("copy", (), (result,), None, None, out, device, stream)


def _checked_result(result: Any, steps: _Steps, what: str) -> Any:
    """What a function of the caller made: an array without the axes that it had to reduce."""
    if not hasattr(result, "shape"):
        raise TypeError(f"{what}: the reduction returned {type(result).__name__}; it has to return an array")
    if len(result.shape) != sum(steps.groups):
        raise ShapeError(
            f"{what}: the reduction returned an array of shape {tuple(result.shape)}; it has to reduce the axes "
            f"{steps.reduced} and keep the {sum(steps.groups)} before them"
        )
    return result


class _Steps(NamedTuple):
    """A reduction in three steps: a rearrange that puts the reduced axes last, the reduction, and a reshape."""

    pattern: str
    lengths: dict[str, int]
    reduced: Shape
    groups: tuple[int, ...]  # of how many axes each axis of the result is made

    def merged(self, shape: Sequence[int]) -> Shape:
        lengths = iter(shape)
        return tuple(math.prod([next(lengths) for _ in range(count)]) for count in self.groups)


def _check_sides(left: list[Any], right: list[Any], what: str) -> None:
    names = {name for axis in left for name in ([axis] if axis == ELLIPSIS else axis)}
    if [ELLIPSIS] in left or [axis for axis in left if axis != ELLIPSIS and ELLIPSIS in axis]:
        raise EinopsError(f"{what}: an ellipsis on the left cannot be in parentheses; write '...' alone")
    for axis in right:
        for name in [axis] if axis == ELLIPSIS else axis:
            if name not in names:
                raise EinopsError(f"{what}: {name!r} is on the right only; a reduction makes no new axes")


@lru_cache(maxsize=256)
def _steps(pattern: str, rank: int) -> _Steps:
    what = f'reduce(..., "{pattern}")'
    sides = pattern.split("->")
    if len(sides) != 2:
        raise EinopsError(f"{what}: write the axes of the input, one '->', and those of the output")
    left, right = (_parsed(side, what) for side in sides)
    _check_sides(left, right, what)
    more = [f"ellipsis{number}x" for number in range(rank - len(left) + 1)]
    lengths: dict[str, int] = {}
    flat, words = [], []
    for axis in left:
        names = more if axis == ELLIPSIS else [_named(name, lengths) for name in axis]
        flat += names
        words.append(" ".join(names) if axis == ELLIPSIS else f"({' '.join(names)})")
    groups = []
    for axis in right:
        groups += [[name] for name in more] if axis == ELLIPSIS else [spread(axis, more)]
    kept = [name for group in groups for name in group]
    reduced = [name for name in flat if name not in kept]
    return _Steps(
        pattern=f"{' '.join(words)} -> {' '.join(kept + reduced)}",
        lengths=lengths,
        reduced=tuple(range(len(kept), len(flat))),
        groups=tuple(map(len, groups)),
    )


def _named(name: Any, lengths: dict[str, int]) -> str:
    """A name for an axis that has none, whose length is noted."""
    if not isinstance(name, _Length):
        return name
    made = f"length{len(lengths)}x"
    lengths[made] = int(name)
    return made
