"""Products: einsum in the spellings of NumPy and einops, matmul, dot, tensordot."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from . import _native
from ._errors import AxisError, DtypeError, EinopsError, OutOfMemoryError, ShapeError
from ._functions import adopt, converted, dtype_name, dtype_of, is_numpy, numpy_dtype

__all__ = ["dot", "einsum", "matmul", "tensordot"]

_call = _native.call
_ellipsis = "..."

# Patterns ------------------------------------------------------------------------------------------------------------

Term = tuple[str, ...]  # the names of an array's axes
Path = tuple[tuple[int, ...], ...]  # NumPy's: which arrays are multiplied, whose product goes to the end of the list


class Expression(NamedTuple):
    """A pattern that was read: explicit, and the order of products where the caller fixed one."""

    arguments: tuple[str]  # the pattern, as a call takes it
    count: int  # of arrays
    path: Path
    terms: tuple[Term, ...]
    output: Term

    @property
    def pattern(self) -> str:
        return self.arguments[0]


def _expression(terms: tuple[Term, ...], output: Term, path: Path = ()) -> Expression:
    """A name between blanks, where there is '->', is a name: the library reads this pattern in no other way."""
    return Expression((_pattern(terms, output),), len(terms), path, terms, output)


def _pattern(terms: Sequence[Term], output: Term) -> str:
    return ", ".join(map(" ".join, terms)) + " -> " + " ".join(output)


def _implicit_output(terms: Sequence[Term], order: Any = None) -> Term:
    """Without '->': the ellipsis, then every name that stands once, in alphabetical order."""
    names = [name for term in terms for name in term if name != _ellipsis]
    once = sorted([name for name in names if names.count(name) == 1], key=order)
    return ((_ellipsis,) if [term for term in terms if _ellipsis in term] else ()) + tuple(once)


def _check_output(terms: Sequence[Term], output: Term, text: str) -> None:
    names = {name for term in terms for name in term}
    for name in output:
        if name not in names and name != _ellipsis:
            raise EinopsError(f"Unknown axis {name!r} on the right of einsum {text!r}; name those of the inputs")
        if output.count(name) > 1:
            raise EinopsError(f"the axis {name!r} stands twice on the right of einsum {text!r}; name it once")


class _Inputs:
    """The left side of a pattern: arrays between commas, with parentheses around those that are multiplied first."""

    def __init__(self, text: str, read: Callable[[str, str], Term]) -> None:
        self._text, self._at, self._read = text, 0, read
        self.terms: list[Term] = []
        tree = self._items(0)
        self.path = _path_of(tree, len(self.terms)) if len(tree) != len(self.terms) else ()

    def _items(self, depth: int) -> list[Any]:
        """Everything up to the end, or up to the parenthesis that closes this group."""
        items = [self._item(depth)]
        while self._at < len(self._text) and self._text[self._at] == ",":
            self._at += 1
            items.append(self._item(depth))
        return items

    def _item(self, depth: int) -> Any:
        blanks = len(self._text[self._at :]) - len(self._text[self._at :].lstrip())
        if self._is_group(self._at + blanks):
            self._at += blanks + 1
            items = self._items(depth + 1)
            rest = self._text[self._at + 1 :].lstrip()
            if rest and rest[0] not in ",)":
                raise EinopsError(f"a comma is missing after a group of {self._text!r}; write '(i j, j k), k l'")
            self._at = len(self._text) - len(rest)
            return items
        begin, open_groups = self._at, 0
        while self._at < len(self._text):
            sign = self._text[self._at]
            if sign == "," or (sign == ")" and not open_groups):
                break
            open_groups += (sign == "(") - (sign == ")")
            self._at += 1
        if self._text[self._at : self._at + 1] == ")" and not depth:
            raise EinopsError(f"a parenthesis of {self._text!r} was never opened; remove it, or add '('")
        self.terms.append(self._read(self._text[begin : self._at], self._text))
        return len(self.terms) - 1

    def _is_group(self, at: int) -> bool:
        """Whether the parenthesis here, if there is one, is around arrays and not around axes."""
        if self._text[at : at + 1] != "(":
            return False
        depth, comma = 0, False
        for end in range(at, len(self._text)):
            sign = self._text[end]
            depth += (sign == "(") - (sign == ")")
            comma |= sign == ","
            if not depth:
                return comma
        raise EinopsError(f"a parenthesis of {self._text!r} is never closed; add ')'")


def _path_of(tree: list[Any], count: int) -> Path:
    """The path that multiplies inner groups first."""
    open_arrays: list[Any] = list(range(count))
    path = []

    def multiply(node: Any) -> int:
        """The number of the array that a node becomes."""
        if isinstance(node, int):
            return node
        numbers = [multiply(child) for child in node]
        if len(numbers) == 1:
            return numbers[0]
        path.append(tuple(sorted(open_arrays.index(number) for number in numbers)))
        for number in numbers:
            open_arrays.remove(number)
        open_arrays.append(count + len(path))
        return open_arrays[-1]

    multiply(tree)
    return tuple(path)


def _letters(text: str, whole: str) -> Term:
    """A term in NumPy's spelling: every letter is an axis."""
    compact = "".join(text.split())
    before, dots, after = compact.partition(_ellipsis)
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            raise EinopsError(f"{letter!r} is no axis in einsum {whole!r}; use letters and one '...' for each array")
    return (*before, *([_ellipsis] if dots else []), *after)


def _names(text: str, whole: str) -> Term:
    """A term in einops' spelling: names between blanks."""
    if "(" in text or ")" in text:
        kind = "Shape rearrangement is" if text.replace("(", " ").replace(")", " ").split() else "Singleton () axes are"
        raise NotImplementedError(f"{kind} not a part of einsum ({whole!r}); use rearrange before or after")
    words = text.replace(_ellipsis, f" {_ellipsis} ").split()
    for word in words:
        if word == _ellipsis:
            continue
        if word.isdecimal():
            kind = "Singleton" if int(word) == 1 else "Anonymous"
            raise NotImplementedError(f"{kind} axes are not a part of einsum ({whole!r}); give the axis a name")
        if not word.isidentifier() or (word != "_" and "_" in (word[0], word[-1])):
            raise EinopsError(f"Invalid axis identifier: {word!r} in einsum {whole!r}; use letters, digits, underscores")
    if words.count(_ellipsis) > 1:
        raise EinopsError(f"an array has only one ellipsis in einsum {whole!r}; name the other axes")
    return tuple(words)


@lru_cache(maxsize=512)
def _numpy_expression(text: str) -> Expression:
    left, arrow, right = text.partition("->")
    inputs = _Inputs(left, _letters)
    output = _letters(right, text) if arrow else _implicit_output(inputs.terms)
    _check_output(inputs.terms, output, text)
    return _expression(tuple(inputs.terms), output, inputs.path)


@lru_cache(maxsize=512)
def _einops_expression(text: str) -> Expression:
    left, arrow, right = text.partition("->")
    if not arrow:
        raise ValueError(f"Einsum pattern must contain '->' where it stands last: {text!r}")
    inputs = _Inputs(left, _names)
    output = _names(right, text)
    _check_output(inputs.terms, output, text)
    return _expression(*_plain_names(tuple(inputs.terms), output), inputs.path)


def _plain_names(terms: tuple[Term, ...], output: Term) -> tuple[tuple[Term, ...], Term]:
    """The same with names that the library knows, where they have other letters than ASCII's or are '_'."""
    names = {name for term in terms for name in term if name != _ellipsis}
    odd = [name for name in names if name == "_" or not name.isascii()]
    if not odd:
        return terms, output
    plain = {name: f"x{number}y" + "x" * max(map(len, names)) for number, name in enumerate(odd)}
    renamed = [tuple(plain.get(name, name) for name in term) for term in (*terms, output)]
    return tuple(renamed[:-1]), renamed[-1]


@lru_cache(maxsize=512)
def _number_expression(terms: tuple[tuple[Any, ...], ...], output: tuple[Any, ...] | None) -> Expression:
    """NumPy's form with lists of numbers in place of letters."""
    named = tuple(map(_numbered, terms))
    made = _implicit_output(named, lambda name: int(name[1:])) if output is None else _numbered(output)
    _check_output(named, made, str(terms))
    return _expression(named, made)


def _numbered(numbers: tuple[Any, ...]) -> Term:
    names = []
    for number in numbers:
        if number is not Ellipsis and not 0 <= number < 52:
            raise EinopsError(f"the axis {number} of einsum is out of range; use numbers from 0 to 51")
        names.append(_ellipsis if number is Ellipsis else f"x{number}")
    if names.count(_ellipsis) > 1:
        raise EinopsError("an array has only one Ellipsis in einsum; number the other axes")
    return tuple(names)


def _sublist(numbers: Any) -> tuple[Any, ...]:
    if isinstance(numbers, str):
        raise TypeError("einsum takes its pattern first, or last")
    return tuple(number if number is Ellipsis else operator.index(number) for number in numbers)


def _read(operands: tuple[Any, ...]) -> tuple[Expression, tuple[Any, ...]]:
    """The expression and the arrays of a call, in any of the three forms."""
    if operands and isinstance(operands[0], str):
        expression, arrays = _numpy_expression(operands[0]), operands[1:]
    elif operands and isinstance(operands[-1], str):
        expression, arrays = _einops_expression(operands[-1]), operands[:-1]
    elif len(operands) < 2:
        raise ValueError("einsum takes a pattern and at least one array: einsum('ij,jk', a, b)")
    else:
        arrays = operands[: len(operands) // 2 * 2 : 2]
        terms = tuple(map(_sublist, operands[1::2]))
        expression = _number_expression(terms, _sublist(operands[-1]) if len(operands) % 2 else None)
    if len(arrays) != expression.count:
        raise ValueError(f"einsum {expression.pattern!r} is of {expression.count} arrays, and {len(arrays)} were given")
    return expression, tuple(map(adopt, arrays))


# Dtypes of results ---------------------------------------------------------------------------------------------------


def _options(arrays: Sequence[Any]) -> dict[str, str] | None:
    """Of arrays of 8 bits NumPy's result has 8 bits too, where the library's own default is wider."""
    if getattr(arrays[0].dtype, "itemsize", 1) != 1:
        return None
    return _narrow_options(tuple([dtype_of(x) for x in arrays]))


@lru_cache(maxsize=128)
def _narrow_options(dtypes: tuple[str, ...]) -> dict[str, str] | None:
    kinds = set(dtypes) - {"bool"}
    if not kinds or not kinds <= {"int8", "uint8"}:
        return None
    return {"out-dtype": kinds.pop() if len(kinds) == 1 else "int16"}


def _common_dtype(arrays: Sequence[Any]) -> str | None:
    """The long name of NumPy's result dtype; None where not all are NumPy's, or all are the same."""
    if len({x.dtype for x in arrays}) == 1 or not [x for x in arrays if is_numpy(x)]:
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
    device: Any,
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
    do: Callable[[Sequence[Any], str | None, Any], Any], arrays: Sequence[Any], out: Any, dtype: Any, casting: str, widens: bool
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
        raise DtypeError(f"{dtype} is not cast to out's {out.dtype} with casting={casting!r}; give another, or allow it")
    result = do(arrays, dtype, None)
    if result.shape != out.shape:
        raise ShapeError(f"out has the shape {out.shape}, the result {result.shape}; give one of that shape")
    numpy.copyto(out, result, casting="unsafe")
    return out


# The order of products -----------------------------------------------------------------------------------------------


class _Step(NamedTuple):
    numbers: tuple[int, ...]  # of the arrays in the list, which leave it; their product goes to its end
    pattern: str


@lru_cache(maxsize=512)
def _steps(terms: tuple[Term, ...], output: Term, path: Path) -> tuple[_Step, ...]:
    """The path's products as einsums of their own. Axes stay as long as a later step has them."""
    left, steps = list(terms), []
    for at, numbers in enumerate(path):
        taken = [left[number] for number in numbers]
        left = [term for number, term in enumerate(left) if number not in numbers]
        made = output if at == len(path) - 1 else _kept(taken, [*left, output])
        steps.append(_Step(numbers, _pattern(taken, made)))
        left.append(made)
    return tuple(steps)


def _kept(taken: Sequence[Term], others: Sequence[Term]) -> Term:
    needed = {name for term in others for name in term}
    return tuple(dict.fromkeys(name for term in taken for name in term if name in needed))


def _asked_path(optimize: Any, count: int) -> Path:
    """The path that `optimize` lists; () where it leaves the order to the library."""
    if optimize is None or isinstance(optimize, (bool, str)):
        if isinstance(optimize, str) and optimize not in ("greedy", "optimal"):
            raise KeyError(f"there is no path named {optimize!r}; use True, or list the products")
        return ()
    if len(optimize) == 2 and isinstance(optimize[0], str) and isinstance(optimize[1], (int, float)):
        return _asked_path(optimize[0], count)
    if not optimize or optimize[0] != "einsum_path":
        raise TypeError(f"optimize={optimize!r} is no path; it begins with 'einsum_path'")
    path = tuple(tuple(sorted(map(operator.index, numbers))) for numbers in optimize[1:])
    left = count
    for numbers in path:
        if not numbers or len(set(numbers)) != len(numbers) or not 0 <= numbers[0] <= numbers[-1] < left:
            raise ValueError(f"the step {numbers} of optimize={optimize!r} names arrays that are not there")
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
        return _path_of([best.tree] if isinstance(best.tree, int) else list(best.tree), count) or (tuple(range(count)),)

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
            f"einsum {_pattern(self._terms, self._output)!r} needs{needed} for intermediate results, memory_limit is "
            f"{limit}; raise it, or multiply in another way"
        )

    def _points(self, names: set[str]) -> int:
        return math.prod([self._lengths[name] for name in names])

    def _names(self, arrays: int) -> set[str]:
        """Of the product of a set of arrays, given as bits: the axes that are needed later."""
        inside = [term for number, term in enumerate(self._terms) if arrays >> number & 1]
        outside = [term for number, term in enumerate(self._terms) if not arrays >> number & 1]
        return set(_kept(inside, [*outside, self._output]))

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
        if _ellipsis in term:
            at, more = term.index(_ellipsis), len(extents) - len(term) + 1
            extents[at : at + more] = [math.prod(extents[at : at + more])]
        for name, extent in zip(term, extents):
            lengths[name] = extent if lengths.get(name, 1) == 1 else lengths[name]
    return lengths


def _limit_in_bytes(memory_limit: Any, arrays: Sequence[Any], item: int) -> int:
    if memory_limit == "max_input":
        return item * max(math.prod(x.shape) for x in arrays)
    limit = operator.index(memory_limit)
    if limit < 0:
        raise ValueError(f"memory_limit is {limit}; give a number of bytes, or 'max_input'")
    return limit


def _item_bytes(dtype: str | None, x: Any) -> int:
    name = dtype or dtype_of(x)
    bits = "".join([c for c in name if c.isdigit()])
    return int(bits) // 8 if bits else 1


# Views ---------------------------------------------------------------------------------------------------------------


def _view(expression: Expression, x: Any) -> Any:
    """A view of x, where the pattern only reorders axes or takes diagonals; None where there is none."""
    (term,) = expression.terms
    if set(term) != set(expression.output):
        return None
    if is_numpy(x):
        import numpy

        numbers = {name: number for number, name in enumerate(dict.fromkeys(term))} | {_ellipsis: Ellipsis}
        return numpy.einsum(x, [numbers[name] for name in term], [numbers[name] for name in expression.output])
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return None
    more = [f"{number}." for number in range(x.ndim - len(term) + 1)] if _ellipsis in term else []
    term, output = (tuple(_spread(names, more)) for names in (term, expression.output))
    if len(term) != x.ndim or [name for name in term if len({x.shape[i] for i in _places(term, name)}) > 1]:
        return None  # the call that follows says what is wrong
    shape = [x.shape[term.index(name)] for name in output]
    strides = [sum([x.stride(place) for place in _places(term, name)]) for name in output]
    return x.as_strided(shape, strides, x.storage_offset())


def _spread(names: Term, more: list[str]) -> list[str]:
    return [part for name in names for part in (more if name == _ellipsis else [name])]


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
    device: Any = None,
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
    plain = dtype is None and copy is True and memory_limit is None and optimize is True and order == "K"
    if quick is not None and plain and casting == "safe" and quick[1] == len(arrays):
        try:
            options = None if arrays[0].dtype.itemsize > 1 else _options(arrays)
            return _call("einsum", quick[0], arrays, None, options, out, device, stream)
        except (AttributeError, DtypeError):  # no array, or an out of another dtype
            pass
    return _einsum_with(operands, out, dtype, order, casting, optimize, copy, memory_limit, device, stream)


# Arguments of a call and the number of its arrays, of patterns that were met, in the two spellings.
_quick_numpy: dict[str, tuple[tuple[str], int]] = {}
_quick_einops: dict[str, tuple[tuple[str], int]] = {}
_most_quick = 1024


def _remember(operands: tuple[Any, ...], expression: Expression) -> None:
    for pattern, quick in ((operands[0], _quick_numpy), (operands[-1], _quick_einops)):
        if isinstance(pattern, str):
            if len(quick) >= _most_quick:
                quick.clear()
            quick[str(pattern)] = expression.arguments, expression.count
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
    device: Any,
    stream: Any,
) -> Any:
    """einsum with any of its options."""
    expression, arrays = _read(operands)
    if not expression.path:
        _remember(operands, expression)
    _check_choices(order, casting)
    if copy is not True:
        view = _view(expression, arrays[0]) if len(arrays) == 1 and out is None and dtype is None else None
        if view is not None or copy is False:
            return _checked_view(view, expression)

    def do(arrays: Sequence[Any], dtype: str | None, out: Any) -> Any:
        dtype = dtype or _common_dtype(arrays)
        path = expression.path or _asked_path(optimize, len(arrays))
        if memory_limit is not None:
            path = _path_within(memory_limit, expression, arrays, dtype, path)
        return _contracted(expression, arrays, dtype, path, out, device, stream)

    return _in_order(order, arrays, _product_with(do, arrays, out, dtype, casting, widens=True))


def _check_choices(order: str, casting: str) -> None:
    if order not in ("K", "C", "F", "A", "k", "c", "f", "a"):
        raise ValueError(f"order={order!r} is none of K, C, F, A")
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError(f"casting={casting!r} is none of no, equiv, safe, same_kind, unsafe")


def _checked_view(view: Any, expression: Expression) -> Any:
    if view is None:
        raise ValueError(f"einsum {expression.pattern!r} has no view of its array; leave copy=False out")
    return view


def _path_within(memory_limit: Any, expression: Expression, arrays: Sequence[Any], dtype: str | None, path: Path) -> Path:
    """A path that keeps to the limit. One that the caller fixed is refused where it does not."""
    item = _item_bytes(dtype, arrays[0])
    limit = _limit_in_bytes(memory_limit, arrays, item)
    memory = _Memory(expression, [x.shape for x in arrays], item)
    return memory.checked(path, limit) if path else memory.path(limit)


def _contracted(
    expression: Expression, arrays: Sequence[Any], dtype: str | None, path: Path, out: Any, device: Any, stream: Any
) -> Any:
    if not path:
        return _product("einsum", expression.arguments, arrays, None, dtype, out, device, stream)
    left = list(arrays)
    steps = _steps(expression.terms, expression.output, path)
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
    device: Any = None,
    stream: Any = None,
) -> Any:
    """Product of matrices, or of batches of them, as numpy.matmul.

    >>> import numpy
    >>> matmul(numpy.ones((5, 2, 3)), numpy.ones((3, 4))).shape
    (5, 2, 4)
    """
    arrays = adopt(x1), adopt(x2)
    if out is None and dtype is None:
        return _call("matmul", (), arrays, None, _options(arrays), None, device, stream)

    def do(arrays: Sequence[Any], dtype: str | None, out: Any) -> Any:
        return _product("matmul", (), arrays, None, dtype, out, device, stream)

    return _product_with(do, arrays, _only(out), dtype, casting, widens=False)


def _only(out: Any) -> Any:
    """The output of a tuple of one, as ufuncs take it."""
    if isinstance(out, tuple):
        (out,) = out
    return out


def dot(a: Any, b: Any, out: Any = None, *, device: Any = None, stream: Any = None) -> Any:
    """Product over the last axis of a and the last but one of b, as numpy.dot; nothing is conjugated.

    >>> import numpy
    >>> float(dot(numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0])))
    11.0
    >>> dot(numpy.ones((2, 3, 4)), numpy.ones((5, 4, 6))).shape
    (2, 3, 5, 6)
    """
    a, b = adopt(a), adopt(b)
    ranks = len(a.shape), len(b.shape)
    if ranks == (2, 2) or ranks == (1, 1):
        return _product("matmul", (), (a, b), None, None, out, device, stream)
    if 0 in ranks:
        return _product("einsum", ("..., ... -> ...",), (a, b), None, None, out, device, stream)
    pattern = _pattern_of_axes(*ranks, (ranks[0] - 1,), (max(ranks[1] - 2, 0),))
    return _product("einsum", pattern, (a, b), _strictly, None, out, device, stream)


def tensordot(a: Any, b: Any, axes: Any = 2, *, out: Any = None, device: Any = None, stream: Any = None) -> Any:
    """Sum of products over axes of a with axes of b, as numpy.tensordot.

    `axes` is how many of the last axes of a go with the first ones of b, or a pair: the axes of a, and those of b.

    >>> import numpy
    >>> tensordot(numpy.ones((2, 3, 4)), numpy.ones((3, 4, 5))).shape
    (2, 5)
    >>> tensordot(numpy.ones((2, 3, 4)), numpy.ones((5, 4, 3)), axes=([1, 2], [2, 1])).shape
    (2, 5)
    """
    a, b = adopt(a), adopt(b)
    ranks = len(a.shape), len(b.shape)
    pattern = _pattern_of_axes(*ranks, *_pairs(axes, *ranks))
    return _product("einsum", pattern, (a, b), _strictly, None, out, device, stream)


def _pairs(axes: Any, rank_a: int, rank_b: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of both arrays, counted from 0."""
    try:
        of_a, of_b = axes
    except TypeError:
        count = max(operator.index(axes), 0)
        if count > min(rank_a, rank_b):
            raise AxisError(f"tensordot over {count} axes of arrays with {rank_a} and {rank_b} axes") from None
        return tuple(range(rank_a - count, rank_a)), tuple(range(count))
    return _counted(of_a, rank_a), _counted(of_b, rank_b)


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
    return (_pattern([tuple(a), tuple(b)], tuple(kept)),)


_strictly = {"no-broadcast": ""}
