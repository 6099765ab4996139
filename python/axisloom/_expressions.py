"""Patterns of einsum, in the spellings of NumPy and einops: text to names of axes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ._arrays import adopt
from ._errors import EinopsError, UnsupportedError

ELLIPSIS = "..."

Term = tuple[str, ...]  # the names of an array's axes
Path = tuple[tuple[int, ...], ...]  # NumPy's: which arrays are multiplied, whose product goes to the end of the list


class Expression(NamedTuple):
    """A pattern that was read: explicit, and the order of products where the caller fixed one."""

    arguments: tuple[str]  # the pattern, as a call takes it
    arrays: int  # how many
    path: Path
    terms: tuple[Term, ...]
    output: Term

    @property
    def pattern(self) -> str:
        return self.arguments[0]


def _expression(terms: tuple[Term, ...], output: Term, path: Path = ()) -> Expression:
    """A name between blanks, where there is '->', is a name: the library reads this pattern in no other way."""
    return Expression((pattern_of(terms, output),), len(terms), path, terms, output)


def spread(names: Sequence[str], more: Sequence[str]) -> list[str]:
    """The names, with the axes of the ellipsis in place of it."""
    return [part for name in names for part in (more if name == ELLIPSIS else [name])]


def pattern_of(terms: Sequence[Term], output: Term) -> str:
    return ", ".join(map(" ".join, terms)) + " -> " + " ".join(output)


def _implicit_output(terms: Sequence[Term], order: Any = None) -> Term:
    """Without '->': the ellipsis, then every name that stands once, in alphabetical order."""
    names = [name for term in terms for name in term if name != ELLIPSIS]
    once = sorted([name for name in names if names.count(name) == 1], key=order)
    return ((ELLIPSIS,) if [term for term in terms if ELLIPSIS in term] else ()) + tuple(once)


def _check_output(terms: Sequence[Term], output: Term, text: str) -> None:
    names = {name for term in terms for name in term}
    for name in output:
        if name not in names and name != ELLIPSIS:
            raise EinopsError(f"Unknown axis {name!r} on the right of einsum {text!r}; name those of the inputs")
        if output.count(name) > 1:
            raise EinopsError(f"the axis {name!r} stands twice on the right of einsum {text!r}; name it once")


class _Inputs:
    """The left side of a pattern: arrays between commas, with parentheses around those that are multiplied first."""

    def __init__(self, text: str, read: Callable[[str, str], Term]) -> None:
        self._text, self._at, self._read = text, 0, read
        self.terms: list[Term] = []
        tree = self._items(0)
        self.path = path_of(tree, len(self.terms)) if len(tree) != len(self.terms) else ()

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


def path_of(tree: list[Any], count: int) -> Path:
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
    before, dots, after = compact.partition(ELLIPSIS)
    for letter in before + after:
        if not (letter.isascii() and letter.isalpha()):
            raise EinopsError(f"{letter!r} is no axis in einsum {whole!r}; use letters and one '...' for each array")
    return (*before, *([ELLIPSIS] if dots else []), *after)


def _names(text: str, whole: str) -> Term:
    """A term in einops' spelling: names between blanks."""
    if "(" in text or ")" in text:
        kind = "Shape rearrangement is" if text.replace("(", " ").replace(")", " ").split() else "Singleton () axes are"
        raise UnsupportedError(f"{kind} not a part of einsum ({whole!r}); use rearrange before or after")
    words = text.replace(ELLIPSIS, f" {ELLIPSIS} ").split()
    for word in words:
        if word == ELLIPSIS:
            continue
        if word.isdecimal():
            kind = "Singleton" if int(word) == 1 else "Anonymous"
            raise UnsupportedError(f"{kind} axes are not a part of einsum ({whole!r}); give the axis a name")
        if not word.isidentifier() or (word != "_" and "_" in (word[0], word[-1])):
            raise EinopsError(
                f"Invalid axis identifier: {word!r} in einsum {whole!r}; use letters, digits, underscores"
            )
    if words.count(ELLIPSIS) > 1:
        raise EinopsError(f"an array has only one ellipsis in einsum {whole!r}; name the other axes")
    return tuple(words)


def has_words(text: str) -> bool:
    """Whether a pattern looks like einops': words between blanks, where NumPy has a letter for each axis."""
    terms = [term.split() for term in text.replace("->", ",").replace(ELLIPSIS, " ").split(",")]
    return any(len(words) > 1 and max(map(len, words)) > 1 for words in terms)


_words_last = "; with the pattern first each letter is an axis: put it last for words, einsum(a, b, '...')"


@lru_cache(maxsize=512)
def _numpy_expression(text: str) -> Expression:
    try:
        return _letters_expression(text)
    except EinopsError as error:
        if has_words(text):
            raise EinopsError(f"{error}{_words_last}") from None
        raise


def _check_ranks(text: str, expression: Expression, arrays: Sequence[Any]) -> None:
    """Of a pattern that may have been meant for einops."""
    for term, x in zip(expression.terms, arrays):
        if ELLIPSIS not in term and len(term) != len(x.shape):
            raise EinopsError(
                f"einsum {text!r} has {len(term)} letters for an array of {len(x.shape)} axes{_words_last}"
            )


def _letters_expression(text: str) -> Expression:
    left, arrow, right = text.partition("->")
    inputs = _Inputs(left, _letters)
    output = _letters(right, text) if arrow else _implicit_output(inputs.terms)
    _check_output(inputs.terms, output, text)
    return _expression(tuple(inputs.terms), output, inputs.path)


@lru_cache(maxsize=512)
def _einops_expression(text: str) -> Expression:
    left, arrow, right = text.partition("->")
    if not arrow:
        raise EinopsError(f"Einsum pattern must contain '->' where it stands last: {text!r}")
    inputs = _Inputs(left, _names)
    output = _names(right, text)
    _check_output(inputs.terms, output, text)
    return _expression(*_plain_names(tuple(inputs.terms), output), inputs.path)


def _plain_names(terms: tuple[Term, ...], output: Term) -> tuple[tuple[Term, ...], Term]:
    """The same with names that the library knows, where they have other letters than ASCII's or are '_'."""
    names = {name for term in terms for name in term if name != ELLIPSIS}
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
        names.append(ELLIPSIS if number is Ellipsis else f"x{number}")
    if names.count(ELLIPSIS) > 1:
        raise EinopsError("an array has only one Ellipsis in einsum; number the other axes")
    return tuple(names)


def _sublist(numbers: Any) -> tuple[Any, ...]:
    if isinstance(numbers, str):
        raise TypeError("einsum takes its pattern first, or last")
    return tuple(number if number is Ellipsis else operator.index(number) for number in numbers)


def read(operands: tuple[Any, ...]) -> tuple[Expression, tuple[Any, ...]]:
    """The expression and the arrays of a call, in any of the three forms."""
    letters = operands[0] if operands and isinstance(operands[0], str) else None
    if letters is not None:
        expression, arrays = _numpy_expression(letters), operands[1:]
    elif operands and isinstance(operands[-1], str):
        expression, arrays = _einops_expression(operands[-1]), operands[:-1]
    elif len(operands) < 2:
        raise EinopsError("einsum takes a pattern and at least one array: einsum('ij,jk', a, b)")
    else:
        arrays = operands[: len(operands) // 2 * 2 : 2]
        try:
            terms = tuple(map(_sublist, operands[1::2]))
            output = _sublist(operands[-1]) if len(operands) % 2 else None
        except TypeError:
            raise TypeError("einsum takes a pattern, first or last, or a list of axes after each array") from None
        expression = _number_expression(terms, output)
    if len(arrays) != expression.arrays:
        raise EinopsError(
            f"einsum {expression.pattern!r} is of {expression.arrays} arrays, and {len(arrays)} were given"
        )
    arrays = tuple(map(adopt, arrays))
    if letters is not None and has_words(letters):
        _check_ranks(letters, expression, arrays)
    return expression, arrays
