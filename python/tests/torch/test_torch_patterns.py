"""Shapes that the bindings work out, for symbolic ones, against those of the library."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axisloom import _native

pytest.importorskip("torch")
from axisloom.torch import _patterns  # noqa: E402

NAMES = [f"n{number}" for number in range(5)]


@st.composite
def _side(draw: st.DrawFn, names: list[str], ellipsis: bool) -> list[str]:
    """Words of a pattern: names in an order of chance, some in parentheses."""
    left, words = draw(st.permutations(names)), []
    while left:
        count = draw(st.integers(1, 3))
        words.append(left[0] if count == 1 else f"({' '.join(left[:count])})")
        left = left[count:]
    if ellipsis:
        words.insert(draw(st.integers(0, len(words))), "...")
    if draw(st.booleans()):
        words.insert(draw(st.integers(0, len(words))), draw(st.sampled_from(["1", "()"])))
    return words


def _shape(words: list[str], extents: dict[str, int], unnamed: list[int]) -> list[int]:
    shape: list[int] = []
    for word in words:
        if word == "...":
            shape += unnamed
            continue
        product = 1
        for name in word.strip("()").split():
            product *= extents.get(name, 1)
        shape.append(product)
    return shape


@st.composite
def _patterns_of(draw: st.DrawFn) -> tuple[str, str, list[int], dict[str, int]]:
    operation = draw(st.sampled_from(["rearrange", "repeat", "reduce"]))
    names = NAMES[: draw(st.integers(1, 4))]
    extents = {name: draw(st.integers(0 if operation == "rearrange" else 1, 4)) for name in NAMES}
    ellipsis = draw(st.booleans())
    unnamed = draw(st.lists(st.integers(1, 3), max_size=2)) if ellipsis else []
    left = draw(_side(names, ellipsis))
    kept = names + ["n4"] if operation == "repeat" else names
    if operation == "reduce":
        kept = [name for name in names if draw(st.booleans())]
    right = draw(_side(kept, ellipsis))
    given_names = {name for name in (*names, "n4") if draw(st.booleans()) or extents[name] == 0}
    for word in left:  # all lengths of a composed axis but one at most are given
        inside = word.strip("()").split()
        given_names.update(inside[1:])
        if not all(extents.get(name, 1) for name in inside):
            given_names.update(inside)
    used = {name for word in (*left, *right) for name in word.strip("()").split()} & set(NAMES)
    new = {"n4"} if operation == "repeat" else set()
    lengths = {name: extents[name] for name in NAMES if name in used and (name in given_names or name in new)}
    return operation, f"{' '.join(left)} -> {' '.join(right)}", _shape(left, extents, unnamed), lengths


@settings(max_examples=500, deadline=None)
@given(_patterns_of())
def test_shapes_of_patterns(case: tuple[str, str, list[int], dict[str, int]]) -> None:
    operation, pattern, shape, lengths = case
    arguments = ("sum", pattern) if operation == "reduce" else (pattern,)
    _, expected = _native.result(operation, arguments, [("f32", shape)], lengths)
    bound = _patterns.bind(pattern, [shape], lengths)
    assert bound.shape(bound.output) == list(expected)
    assert bound.shape(bound.inputs[0]) == shape
    turned = _patterns.pattern_of([bound.output], bound.inputs[0])
    if not bound.removed and not bound.added:
        _, back = _native.result("rearrange", (turned,), [("f32", expected)], bound.lengths(bound.output))
        assert list(back) == shape


@st.composite
def _einsums(draw: st.DrawFn) -> tuple[str, list[list[int]]]:
    compact, ellipsis = draw(st.booleans()), draw(st.booleans())
    letters = "abcd"
    extents = {letter: draw(st.integers(1, 3)) for letter in letters}
    unnamed = draw(st.lists(st.integers(1, 3), max_size=2)) if ellipsis else []
    between = "" if compact else " "
    sides, shapes, met = [], [], []
    for _ in range(draw(st.integers(1, 3))):
        own = draw(st.lists(st.sampled_from(letters), min_size=2, max_size=3))
        words = [*own]
        shape = [1 if own.count(letter) == 1 and draw(st.integers(0, 5)) == 0 else extents[letter] for letter in own]
        if ellipsis and draw(st.booleans()):
            fewer = unnamed[draw(st.integers(0, len(unnamed))) :]
            words.insert(0, "...")
            shape = fewer + shape
        sides.append(between.join(words))
        shapes.append(shape)
        met += own
    kept = [letter for letter in draw(st.permutations(sorted(set(met)))) if draw(st.booleans())]
    if any("..." in side for side in sides):
        kept.insert(draw(st.integers(0, len(kept))), "...")
    pattern = f"{',' if compact else ', '}".join(sides)
    if compact and draw(st.integers(0, 3)) == 0:
        return pattern, shapes
    return f"{pattern}{'->' if compact else ' -> '}{between.join(kept)}", shapes


@settings(max_examples=500, deadline=None)
@given(_einsums())
def test_shapes_of_einsums(case: tuple[str, list[list[int]]]) -> None:
    pattern, shapes = case
    _, expected = _native.result("einsum", (pattern,), [("f32", shape) for shape in shapes])
    bound = _patterns.bind(pattern, shapes, {}, broadcast=True)
    assert bound.shape(bound.output) == list(expected)
