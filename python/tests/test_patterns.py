"""einops' functions against einops' own."""

from __future__ import annotations

import math
import warnings

import einops
import numpy as np
import pytest
from draws import DTYPES, filled, same, views
from hypothesis import given, settings
from hypothesis import strategies as st

import axisloom
from axisloom import EinopsError, _patterns

NAMES = ("a", "b", "c", "d", "e", "height", "w1", "x_y")


@st.composite
def cases(draw, added: bool = False, removed: bool = False):
    """A pattern, the array's shape, and lengths. Axes are split, merged and moved, for some operations made or lost."""
    names = list(draw(st.permutations(NAMES)))[: draw(st.integers(0, 5))]
    lengths = {name: draw(st.integers(1, 3)) for name in names}
    left, given_lengths = [], {}
    for group in draw(grouped(names)):
        left.append(spelled(group))
        for name in group[1:]:  # one length of each axis can be inferred
            given_lengths[name] = lengths[name]
    shape = tuple(math.prod(lengths[name] for name in group) for group in _groups(left))
    ellipsis = draw(st.booleans())
    more = tuple(draw(st.lists(st.integers(1, 3), max_size=2))) if ellipsis else ()
    kept = [name for name in names if not removed or draw(st.booleans())]
    new = ["new1", "new2"][: draw(st.integers(0, 2))] if added else []
    right = [spelled(group) for group in draw(grouped(draw(st.permutations(kept + new))))]
    for name in new:
        given_lengths[name] = draw(st.integers(1, 3))
    if ellipsis:
        at = draw(st.integers(0, len(left)))
        left.insert(at, "...")
        shape = shape[:at] + more + shape[at:]
        if not removed or draw(st.booleans()):
            right.insert(draw(st.integers(0, len(right))), draw(st.sampled_from(("...", "(...)"))))
    if draw(st.booleans()):
        right.insert(draw(st.integers(0, len(right))), draw(st.sampled_from(("1", "()"))))
    return f"{' '.join(left)} -> {' '.join(right)}", shape, given_lengths


@st.composite
def grouped(draw, names):
    """The names in order, one or several to an axis."""
    groups, names = [], list(names)
    while names:
        count = draw(st.integers(1, min(3, len(names))))
        groups.append(names[:count])
        names = names[count:]
    return groups


def spelled(group: list[str]) -> str:
    return group[0] if len(group) == 1 else f"({' '.join(group)})"


def _groups(words: list[str]) -> list[list[str]]:
    return [word.strip("()").split() for word in words]


@st.composite
def strided(draw, shape, dtypes=DTYPES):
    """An array of that shape with steps of any sign, its axes exchanged in memory."""
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from((1, 1, 2, -1, -3))) for _ in shape]
    memory = tuple(shape[axis] * abs(steps[axis]) for axis in order)
    x = filled(memory, draw(st.sampled_from(dtypes)), draw(st.integers(0, 2**32 - 1)))
    back = [order.index(axis) for axis in range(len(shape))]
    return x.transpose(back)[(*[slice(None, None, step) for step in steps], ...)]


class TestPatterns:
    @settings(max_examples=400, deadline=None)
    @given(st.data(), cases())
    def test_rearrange(self, data, case):
        pattern, shape, lengths = case
        x = data.draw(strided(shape))
        ours = axisloom.rearrange(x, pattern, **lengths)
        same(ours, einops.rearrange(x, pattern, **lengths))
        assert ours.flags.c_contiguous and not np.shares_memory(ours, x)

    @settings(max_examples=300, deadline=None)
    @given(st.data(), cases(added=True))
    def test_repeat(self, data, case):
        pattern, shape, lengths = case
        x = data.draw(strided(shape))
        same(axisloom.repeat(x, pattern, **lengths), einops.repeat(x, pattern, **lengths))

    @settings(max_examples=300, deadline=None)
    @given(st.data(), cases(removed=True), st.sampled_from(("sum", "mean", "min", "max", "any", "all")))
    def test_reduce(self, data, case, reduction):
        pattern, shape, lengths = case
        dtypes = ("float32", "float64") if reduction == "mean" else DTYPES
        x = data.draw(strided(shape, dtypes))
        ours = axisloom.reduce(x, pattern, reduction, **lengths)
        same(np.asarray(ours), np.asarray(reduced_by_numpy(x, pattern, reduction, lengths)), 64.0)

    @settings(max_examples=200, deadline=None)
    @given(st.data(), cases(removed=True))
    def test_reduce_by_a_function(self, data, case):
        pattern, shape, lengths = case
        x = data.draw(strided(shape, ("float64",)))

        def spread(array, axes):
            assert axes == tuple(range(array.ndim - len(axes), array.ndim))
            return array.max(axis=axes) - array.min(axis=axes)

        same(
            np.asarray(axisloom.reduce(x, pattern, spread, **lengths)),
            np.asarray(einops.reduce(x, pattern, spread, **lengths)),
        )

    @settings(max_examples=200, deadline=None)
    @given(st.data(), cases(added=True), st.integers(1, 3))
    def test_lists_in_place(self, data, case, count):
        """Large ones are not stacked: each array goes to its place. Here all are large."""
        pattern, shape, lengths = case
        left, right = pattern.split(" -> ")
        words = right.replace("(", "( ").replace(")", " )").split()
        words.insert(data.draw(st.integers(0, len(words))), "n")
        pattern = f"n {left} -> {' '.join(words)}"
        arrays = [data.draw(strided(shape, ("int16",))) for _ in range(count)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_patterns, "_large", 0)
            patch.setattr(_patterns, "_stacked", None)
            same(axisloom.repeat(arrays, pattern, **lengths), einops.repeat(arrays, pattern, **lengths))

    @settings(max_examples=100, deadline=None)
    @given(st.data(), cases(), st.integers(1, 3))
    def test_lists(self, data, case, count):
        pattern, shape, lengths = case
        left, right = pattern.split(" -> ")
        arrays = [data.draw(strided(shape, ("int16",))) for _ in range(count)]
        for pattern in (f"n {left} -> n {right}", f"n {left} -> {right} n"):
            same(axisloom.rearrange(arrays, pattern, **lengths), einops.rearrange(arrays, pattern, **lengths))
        same(axisloom.rearrange(tuple(arrays), pattern, **lengths), einops.rearrange(arrays, pattern, **lengths))

    @pytest.mark.parametrize(
        "pattern, lengths",
        (
            ("n h w -> w h", {}),
            ("n h w -> n h w x", {}),
            ("n h w -> n h", {}),
            ("n h w -> h w n", {"n": 3}),
            ("(n m) h w -> h w n m", {"m": 1}),
            ("... w -> w ...", {}),
            ("n h w, n -> n h w", {}),
            ("n n w -> w n", {}),
        ),
    )
    def test_large_lists_that_cannot_go_in_place(self, pattern, lengths):
        """They are stacked, and refused where einops refuses them."""
        arrays = [filled((300, 200), "float64", seed) for seed in range(2)]
        try:
            expected = einops.rearrange(arrays, pattern, **lengths)
        except (RuntimeError, ValueError):
            with pytest.raises(EinopsError):
                axisloom.rearrange(arrays, pattern, **lengths)
        else:
            same(axisloom.rearrange(arrays, pattern, **lengths), expected)

    def test_large_lists_with_options(self):
        arrays = [filled((300, 200), "float64", seed) for seed in range(2)]
        expected, out = np.stack(arrays, axis=2), np.zeros((300, 200, 2))
        assert axisloom.rearrange(arrays, "n h w -> h w n", out=out) is out
        same(out, expected)
        same(axisloom.rearrange(arrays, "n h w -> h w n", n=2, device="host"), expected)
        mixed = [arrays[0], arrays[1].astype("float32")]
        same(axisloom.rearrange(mixed, "n h w -> h w n"), np.stack(mixed, axis=2))
        with pytest.raises(ValueError):
            axisloom.rearrange([arrays[0], arrays[1].T], "n h w -> h w n")

    @pytest.mark.parametrize("reduction", ("sum", "max", np.max))
    def test_lists_that_are_reduced(self, reduction):
        arrays = [filled((3, 4), "int32", seed) for seed in range(5)]
        for pattern in ("n h w -> h w", "n h w -> n", "n h (w 2) -> w n"):
            ours = axisloom.reduce(arrays, pattern, reduction)
            np.testing.assert_array_equal(ours, einops.reduce(arrays, pattern, reduction))
        same(axisloom.repeat(arrays, "n h w -> (n 2) h w"), einops.repeat(arrays, "n h w -> (n 2) h w"))

    def test_empty_lists_are_refused(self):
        for call in (axisloom.rearrange, axisloom.repeat):
            with pytest.raises(TypeError, match="no arrays"):
                call([], "n h -> h n")
        with pytest.raises(TypeError, match="no arrays"):
            axisloom.reduce([], "n h -> h", "sum")

    @pytest.mark.parametrize("reduction", ("argmax", "argmin", "count_nonzero", "norm", "prod"))
    def test_reductions_that_einops_does_not_have(self, reduction):
        x = filled((2, 3, 4), "float64", 5)
        function = np.linalg.norm if reduction == "norm" else getattr(np, reduction)
        same(axisloom.reduce(x, "a b c -> c a", reduction), np.ascontiguousarray(function(x, axis=1).T), 8.0)

    @pytest.mark.parametrize("reduction", (None, 3, "median", ("sum",)))
    def test_what_is_no_reduction(self, reduction):
        with pytest.raises((TypeError, ValueError)):
            axisloom.reduce(np.ones((2, 3)), "a b -> a", reduction)

    def test_the_portable_order(self):
        x = np.array([1e8, 1.0, -1e8, 1.0, 3.0], "float32")  # neighbours first: (1e8 + -1e8) + 3
        assert axisloom.reduce(x, "a ->", "sum", order="portable") == 3
        assert axisloom.reduce(list(x), "a ->", "sum", order="portable") == 3
        assert axisloom.reduce(x, "a ->", "sum", order="fast") == axisloom.reduce(x, "a ->", "sum", order=None) == 5
        with pytest.raises(ValueError, match="portable or fast"):
            axisloom.reduce(x, "a ->", "sum", order="slow")
        with pytest.raises(ValueError, match="by name"):
            axisloom.reduce(x, "a ->", np.max, order="portable")
        with pytest.raises(TypeError):
            axisloom.rearrange(x, "a -> a", order="portable")

    def test_out(self):
        x, out = np.arange(6).reshape(2, 3), np.zeros((6, 2), int)[::2]
        assert axisloom.rearrange(x, "h w -> w h", out=out) is out
        same(out, x.T)
        out = np.zeros(2)
        assert axisloom.reduce(x * 1.0, "h w -> h", np.max, out=out) is out
        same(out, np.array([2.0, 5.0]))
        out = np.zeros((2, 3, 2), int)
        assert axisloom.rearrange([x, x + 1], "n h w -> h w n", out=out) is out
        same(out, np.stack([x, x + 1], axis=2))

    def test_axes_with_the_names_of_options(self):
        x = np.arange(6)
        for name in ("out", "device"):
            pattern = f"({name} b) -> b {name}"
            same(axisloom.rearrange(x, pattern, **{name: 2}), einops.rearrange(x, pattern, **{name: 2}))

    @pytest.mark.parametrize(
        "pattern, lengths",
        (
            ("a b", {}),
            ("a b -> a b -> b a", {}),
            ("a b -> a", {}),
            ("a -> a", {}),
            ("a b c -> a b c", {}),
            ("a b -> a b c", {}),
            ("a a -> a", {}),
            ("(a b) c -> a b c", {}),
            ("(a b) c -> a b c", {"a": 4}),
            ("a b -> b a", {"c": 3}),
            ("(a (b) c -> a b c", {}),
            ("a b) -> a b", {}),
            ("a _b -> _b a", {}),
            ("a 2b -> a 2b", {}),
            ("a b -> a ...", {}),
            ("... a ... -> a", {}),
            ("a .. -> a ..", {}),
            ("a b -> b a 3", {}),
            ("a, b -> b a", {}),
        ),
    )
    def test_refusals(self, pattern, lengths):
        x = np.ones((3, 4))
        for call in (axisloom.rearrange, einops.rearrange):
            with pytest.raises((EinopsError, einops.EinopsError, ValueError)):
                call(x, pattern, **lengths)
        with pytest.raises(EinopsError):
            axisloom.reduce(x, pattern.replace("-> a", "-> new a") if "-> a" in pattern else pattern, np.max, **lengths)

    def test_kinds_of_errors(self):
        for kind in (EinopsError, RuntimeError, ValueError, axisloom.Error):
            with pytest.raises(kind):
                axisloom.rearrange(np.ones((3, 4)), "a -> a")


def reduced_by_numpy(x, pattern: str, reduction: str, lengths):
    """By NumPy's function, since einops' own backend refuses some dtypes, and calls nothing where all axes stay."""
    function, calls = getattr(np, reduction), []

    def called(array, axes):
        calls.append(axes)
        return function(array, axis=axes)

    result = einops.reduce(x, pattern, called, **lengths)
    return result if calls else function(result, axis=())


class TestParseShape:
    @settings(max_examples=100, deadline=None)
    @given(
        views(max_rank=3, dtypes=("int8",)), st.lists(st.sampled_from((*NAMES, "_", "1", "()", "2", "...")), max_size=4)
    )
    def test_against_einops(self, x, words):
        pattern = " ".join(words)
        try:
            expected = einops.parse_shape(x, pattern)
        except RuntimeError:
            with pytest.raises(EinopsError):
                axisloom.parse_shape(x, pattern)
        else:
            assert axisloom.parse_shape(x, pattern) == expected

    @pytest.mark.parametrize("pattern", ("(a b) c", "(...) a", "a (b", "a -b", "2a b", "a. b", "0 a"))
    def test_refusals(self, pattern):
        with pytest.raises(EinopsError):
            axisloom.parse_shape(np.ones((3, 4)), pattern)

    def test_keywords_warn(self):
        with pytest.warns(RuntimeWarning):
            axisloom.parse_shape(np.ones((3, 4)), "is for")

    def test_own_arrays(self):
        assert axisloom.parse_shape(axisloom.Array(np.ones((3, 4))), "a b") == {"a": 3, "b": 4}


@st.composite
def packings(draw, least: int = 0):
    before, after = (tuple(draw(st.lists(st.integers(1, 3), max_size=2))) for _ in range(2))
    middles = draw(
        st.lists(st.lists(st.integers(least, 3), min_size=least, max_size=3).map(tuple), min_size=1, max_size=4)
    )
    names = iter(NAMES)
    words = [next(names) for _ in before] + ["*"] + [next(names) for _ in after]
    return " ".join(words), before, middles, after


class TestPacking:
    @settings(max_examples=200, deadline=None)
    @given(st.data(), packings())
    def test_there_and_back(self, data, case):
        pattern, before, middles, after = case
        arrays = [data.draw(strided(before + middle + after, ("int32",))) for middle in middles]
        with pytest.MonkeyPatch.context() as patch:
            if data.draw(st.booleans()):  # as if they were large
                patch.setattr(_patterns, "_large", 0)
                patch.setattr(_patterns, "_joined", None)
            ours, shapes = axisloom.pack(arrays, pattern)
        expected, expected_shapes = einops.pack(arrays, pattern) if all_filled(arrays) else (None, middles)
        assert shapes == list(expected_shapes)
        if expected is not None:
            same(ours, expected)
        for piece, array in zip(axisloom.unpack(ours, shapes, pattern), arrays):
            np.testing.assert_array_equal(piece, array)
            assert piece.size == 0 or np.shares_memory(piece, ours)

    @settings(max_examples=100, deadline=None)
    @given(packings(least=1), st.integers(0, 3))
    def test_a_length_that_is_left(self, case, at):
        pattern, before, middles, after = case
        at %= len(middles)
        packed = np.arange(math.prod(before) * sum(map(math.prod, middles)) * math.prod(after))
        packed = packed.reshape(*before, -1, *after)
        shapes = [(-1, *middle[1:]) if number == at else middle for number, middle in enumerate(middles)]
        for ours, expected in zip(axisloom.unpack(packed, shapes, pattern), einops.unpack(packed, shapes, pattern)):
            same(ours, expected)

    @pytest.mark.parametrize("pattern", ("a b", "a * *", "a a *", "a 2 *", "a * _b", "*b"))
    def test_patterns_that_are_none(self, pattern):
        for call in (
            lambda: axisloom.pack([np.ones((2, 3))], pattern),
            lambda: axisloom.unpack(np.ones((2, 3)), [()], pattern),
        ):
            with pytest.raises(EinopsError):
                call()

    @pytest.mark.parametrize(
        "shapes", ([(2,), (-1,), (-1,)], [(2,), (7,)], [(2,), (1,)], [(4, -1)], [(9,), (-1,)], [(-1, 0)])
    )
    def test_shapes_that_do_not_fit(self, shapes):
        with pytest.raises(EinopsError):
            axisloom.unpack(np.ones((3, 7)), shapes, "a *")

    def test_arrays_that_do_not_fit(self):
        with pytest.raises(EinopsError):
            axisloom.pack([np.ones(3)], "a * b")
        with pytest.raises(EinopsError):
            axisloom.unpack(np.ones((3, 4, 5)), [()], "a *")
        with pytest.raises(TypeError):
            axisloom.pack([3], "*")
        for length in (3, 300_000):
            with pytest.raises(ValueError):
                axisloom.pack([np.ones((2, length)), np.ones((3, length))], "a *")

    def test_keywords_warn(self):
        with pytest.warns(RuntimeWarning):
            axisloom.pack([np.ones((3, 4))], "for *")


def all_filled(arrays) -> bool:
    """einops counts elements by -1, which NumPy cannot do without any."""
    return all(array.size for array in arrays)


def test_no_warnings_of_our_own():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axisloom.rearrange(np.ones((2, 3)), "a b -> b a")
        axisloom.pack([np.ones((2, 3))], "a *")


@pytest.mark.parametrize("numbers", ([1, 2, 3, 4], (1, 2, 3, 4), [1.5, 2, 3, 4], [np.float32(1), np.float32(2)]))
def test_lists_of_numbers(numbers):
    x = np.asarray(numbers)
    same(axisloom.rearrange(numbers, "(a b) -> b a", a=2), einops.rearrange(x, "(a b) -> b a", a=2))
    same(axisloom.repeat(numbers, "a -> (2 a)"), einops.repeat(x, "a -> (2 a)"))
    assert axisloom.reduce(numbers, "a -> ", "max") == x.max()
    assert axisloom.reduce(numbers, "a -> ", np.max) == x.max()


def test_nested_lists_of_numbers():
    numbers = [[1, 2, 3], [4, 5, 6]]
    same(axisloom.rearrange(numbers, "a b -> b a"), np.ascontiguousarray(np.transpose(numbers)))
    same(axisloom.reduce(numbers, "a b -> b", "sum"), np.sum(numbers, axis=0))
    assert axisloom.parse_shape(numbers, "a b") == {"a": 2, "b": 3}


def test_no_shapes_give_no_pieces():
    for shape in ((2, 3), (2, 0)):
        assert axisloom.unpack(np.ones(shape), [], "a *") == einops.unpack(np.ones(shape), [], "a *") == []


class TestAxesThatAreCalledAsParameters:
    """Any name may be that of an axis: that of an option is one where the pattern has it and the value is a number."""

    NAMES = ("out", "device", "stream", "order", "tensor", "pattern", "reduction", "x", "name", "lengths")

    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("length", (2, np.int64(2)))
    def test_lengths(self, name, length):
        x, given = np.arange(12.0).reshape(2, 6), {name: length}
        split, joined = f"a ({name} b) -> b a {name}", f"a b -> (a {name}) b"
        wanted = x.reshape(2, 2, 3).transpose(2, 0, 1)
        same(axisloom.rearrange(x, split, **given), wanted)
        same(axisloom.rearrange([x[0], x[1]], split, **given), wanted)
        same(axisloom.repeat(x, joined, **given), x.repeat(2, 0))
        same(axisloom.repeat(list(x), joined, **given), x.repeat(2, 0))
        pattern = f"a ({name} b) -> a b"
        for reduction in ("sum", lambda array, axes: array.sum(axes)):
            same(axisloom.reduce(x, pattern, reduction, **given), x.reshape(2, 2, 3).sum(1))
            same(axisloom.reduce(list(x), pattern, reduction, **given), x.reshape(2, 2, 3).sum(1))

    @pytest.mark.parametrize("name", (*NAMES, "options", "operation"))
    def test_lengths_of_plans(self, name):
        x = np.arange(6.0)
        same(axisloom.plan("rearrange", x, f"({name} b) -> b {name}", **{name: 2})(x), x.reshape(2, 3).T)

    def test_options_stay_options(self):
        x, out = np.arange(6.0).reshape(2, 3), np.empty((3, 2))
        for option in ({"out": out}, {"device": "host"}, {"stream": 0}, {"stream": None}):
            same(axisloom.rearrange(x, "outer w -> w outer", **option), x.T)  # no axis has just that name
        assert axisloom.rearrange(x, "out w -> w out", out=out) is out
        same(out, x.T)
        same(axisloom.repeat(x, "h w -> h w out", device="host", out=3), x[..., None].repeat(3, 2))
        zero = np.zeros((), np.int64)
        assert axisloom.reduce(np.arange(4), "out -> ", "sum", out=zero) is zero and zero == 6

    @pytest.mark.parametrize("option, message", (("out", "out= is of type int"), ("device", "device= has to be a str")))
    def test_a_number_is_no_option(self, option, message):
        with pytest.raises(TypeError, match=message):
            axisloom.rearrange(np.zeros((2, 3)), "a b -> b a", **{option: 3})
        with pytest.raises(TypeError, match="device="):
            axisloom.plan("rearrange", np.zeros((2, 3)), "a b -> b a", device=3)

    def test_an_object_is_a_stream(self):
        class Stream:
            def __cuda_stream__(self):
                return 0, 0

        x = np.zeros((2, 3))
        assert axisloom.rearrange(x, "stream b -> b stream", stream=Stream()).shape == (3, 2)


def test_parameters_have_names():
    x = np.arange(6.0).reshape(2, 3)
    for tensor in (x, list(x)):
        same(axisloom.rearrange(tensor=tensor, pattern="a b -> b a"), x.T)
        same(axisloom.reduce(reduction="sum", pattern="a b -> a", tensor=tensor), x.sum(1))
