"""einsum and the other products against NumPy's and einops' own."""

from __future__ import annotations

import math

import einops
import numpy as np
import pytest
from draws import COMPLEX, DTYPES, FLOATS, INTEGERS, filled, same
from hypothesis import given, settings
from hypothesis import strategies as st

import axisloom
from axisloom import EinopsError, OutOfMemoryError, einsum

LENGTHS = {"a": 2, "b": 3, "c": 4, "D": 5}


@st.composite
def products(draw, dtypes=DTYPES, most: int = 4, plain: bool = False):
    """A pattern in NumPy's spelling, and its arrays: diagonals, ellipses, axes of length 1, any strides."""
    count = draw(st.integers(1, most))
    dots = draw(st.booleans()) and not plain
    batch = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    dtype = draw(st.sampled_from(dtypes))
    terms, arrays = [], []
    for number in range(count):
        names = draw(st.lists(st.sampled_from("abcD"), max_size=3, unique=plain))
        shape = {name: draw(st.sampled_from((LENGTHS[name],) * 4 + (1,))) for name in names}
        dims, words = [shape[name] for name in names], list(names)
        if dots and (number == 0 or draw(st.booleans())):
            at = draw(st.integers(0, len(words)))
            words.insert(at, "...")
            more = batch[draw(st.integers(0, len(batch))) :]
            dims[at:at] = [draw(st.sampled_from((length, length, 1))) for length in more]
        terms.append(words)
        arrays.append(laid_out(draw, filled(tuple(dims), dtype, draw(st.integers(0, 2**32 - 1)))))
    names = sorted({name for words in terms for name in words if name != "..."})
    kept = draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    if dots:
        kept.insert(draw(st.integers(0, len(kept))), "...")
    return terms, kept, arrays


def laid_out(draw, x: np.ndarray) -> np.ndarray:
    """The same elements with other strides."""
    how = draw(st.sampled_from(("C", "F", "reversed", "spread")))
    if how == "reversed" and x.ndim:
        return np.ascontiguousarray(x[::-1])[::-1]
    if how == "spread" and x.ndim:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    return np.array(x, order="F") if how == "F" else x


def in_numpys_spelling(terms, kept) -> str:
    return ",".join(map("".join, terms)) + "->" + "".join(kept)


def in_einops_spelling(terms, kept) -> str:
    long = {"a": "alpha", "b": "b2", "c": "c", "D": "d_e", "...": "..."}
    sides = [" ".join(long[name] for name in words) for words in (*terms, kept)]
    return ", ".join(sides[:-1]) + " -> " + sides[-1]


def in_numbers(terms, kept, arrays) -> list:
    numbers = {"a": 7, "b": 3, "c": 51, "D": 0, "...": Ellipsis}
    lists = [[numbers[name] for name in words] for words in terms]
    return [part for pair in zip(arrays, lists) for part in pair] + [[numbers[name] for name in kept]]


class TestAgainstNumpy:
    @settings(max_examples=400, deadline=None)
    @given(products())
    def test_three_spellings(self, case):
        terms, kept, arrays = case
        expected = np.einsum(in_numpys_spelling(terms, kept), *arrays)
        rounding = 4096.0 if expected.dtype.kind in "fc" else 0.0
        expected = np.array(expected)[()]
        same(einsum(in_numpys_spelling(terms, kept), *arrays), expected, rounding)
        same(einsum(*arrays, in_einops_spelling(terms, kept)), expected, rounding)
        same(einsum(*in_numbers(terms, kept, arrays)), expected, rounding)

    @settings(max_examples=200, deadline=None)
    @given(products(dtypes=("int64",)))
    def test_without_an_output(self, case):
        terms, _, arrays = case
        pattern = ",".join(map("".join, terms))
        same(einsum(pattern, *arrays), np.array(np.einsum(pattern, *arrays))[()])
        numbers = in_numbers(terms, [], arrays)[:-1]
        same(einsum(*numbers), np.array(np.einsum(*numbers))[()])

    @settings(max_examples=100, deadline=None)
    @given(products(dtypes=("float64",), plain=True))
    def test_einops(self, case):
        terms, kept, arrays = case
        pattern = in_einops_spelling(terms, kept)
        same(np.asarray(einsum(*arrays, pattern)), np.array(einops.einsum(*arrays, pattern)), 4096.0)

    @pytest.mark.parametrize("second", DTYPES)
    @pytest.mark.parametrize("first", DTYPES)
    def test_dtypes(self, first, second):
        a, b = filled((3, 4), first, 1), filled((4, 5), second, 2)
        for pattern in ("ij,jk", "ij,jk->", "ij,kj->"):
            operands = a, b if pattern == "ij,jk" or pattern == "ij,jk->" else b[:, :4].T[:4].T.T
            if pattern == "ij,kj->":
                operands = a, filled((5, 4), second, 2)
            same(einsum(pattern, *operands), np.array(np.einsum(pattern, *operands))[()], 4096.0)
        same(axisloom.matmul(a, b), np.matmul(a, b), 4096.0)
        same(axisloom.dot(a, b), np.dot(a, b), 4096.0)

    @pytest.mark.parametrize("pattern", (" i j , j k -> i k ", "ij, jk -> ik", "i j,jk", "ij,jk  ->ki", "... j, jk"))
    def test_blanks(self, pattern):
        a, b = filled((3, 4), "int32", 1), filled((4, 5), "int32", 2)
        same(einsum(pattern, a, b), np.einsum(pattern, a, b))

    def test_letters_of_arrays_with_one_axis(self):
        """ "ij" is two axes where the pattern stands first, and a name where it stands last."""
        x = np.arange(3)
        with pytest.raises(ValueError):
            einsum("ij->", x)
        assert einsum(x, "ij ->") == 3
        assert einsum(x, x, "ij, ij ->") == 5

    def test_names_of_any_letters(self):
        a, b = filled((3, 4), "int64", 1), filled((4, 5), "int64", 2)
        same(einsum(a, b, "größe _, _ ψ -> ψ größe"), np.einsum("ij,jk->ki", a, b))

    def test_scalars_and_lists(self):
        same(einsum(",i->i", 3, np.arange(4)), np.einsum(",i->i", 3, np.arange(4)))
        same(einsum("i,i", [1, 2], [3.0, 4.0]), np.einsum("i,i", [1, 2], [3.0, 4.0]))
        same(einsum("...,...", 3, 4), np.einsum("...,...", 3, 4))
        same(einsum("ij,jk", [[1, 2]], np.ones((2, 3), bool)), np.einsum("ij,jk", [[1, 2]], np.ones((2, 3), bool)))

    @pytest.mark.parametrize("dtype", (">f8", ">i4", "<f4"))
    def test_byte_order_and_alignment(self, dtype):
        a = np.arange(12).reshape(3, 4).astype(dtype)
        unaligned = np.zeros(a.nbytes + 1, "uint8")[1:].view(a.dtype).reshape(a.shape)
        unaligned[...] = a
        unaligned.flags.writeable = False
        np.testing.assert_array_equal(einsum("ij,kj", a, unaligned), np.einsum("ij,kj", a, unaligned))
        np.testing.assert_array_equal(axisloom.matmul(unaligned, a.T), np.matmul(unaligned, a.T))

    def test_patterns_that_were_met_before(self):
        """The second call of a pattern takes another way: lists, mixed dtypes and refusals are the same there."""
        for _ in range(2):
            same(einsum("pq,qr", [[1, 2]], np.ones((2, 3), "int8")), np.array([[3, 3, 3]]))
            same(einsum("pq,qr", np.ones((1, 2), "int8"), [[1], [2]]), np.array([[3]]))
            same(einsum("pq,qr", np.ones((1, 2), "int8"), np.ones((2, 1), "uint8")), np.array([[2]], "int16"))
            with pytest.raises(ValueError):
                einsum("pq,qr", np.ones((1, 2)))
            with pytest.raises(ValueError):
                einsum("pq,qr", np.ones((1, 2)), np.ones((3, 4)))
            with pytest.raises(TypeError):
                einsum("pq,qr", np.ones((1, 2)), np.ones((2, 1), "g"))

    def test_many_axes(self):
        x = np.arange(2**10).reshape((2,) * 10)
        same(einsum("abcdefghij->jihgfedcba", x), np.ascontiguousarray(x.T))

    def test_no_elements(self):
        a, b = np.ones((3, 0)), np.ones((0, 4))
        same(einsum("ij,jk", a, b), np.einsum("ij,jk", a, b))
        same(einsum("ij,jk->", np.ones((0, 3)), np.ones((3, 0))), np.float64(0.0))


class TestOptions:
    @pytest.mark.parametrize("asked", ("bool", "int8", "int32", "int64", "float32", "float64", "complex128"))
    @pytest.mark.parametrize("dtype", ("bool", "int8", "uint16", "int64", "float16", "float32", "complex64"))
    @pytest.mark.parametrize("casting", ("no", "safe", "same_kind", "unsafe"))
    @pytest.mark.filterwarnings("ignore")
    def test_dtype_and_casting(self, dtype, asked, casting):
        a, b = (np.abs(filled(shape, dtype, 3).real).astype(dtype) for shape in ((3, 4), (4, 5)))
        try:
            expected = np.einsum("ij,jk", a, b, dtype=asked, casting=casting)
        except TypeError:
            with pytest.raises(TypeError):
                einsum("ij,jk", a, b, dtype=asked, casting=casting)
        else:
            same(einsum("ij,jk", a, b, dtype=asked, casting=casting), expected, 4096.0)

    @pytest.mark.parametrize("out_dtype", ("int8", "int64", "float32", "float64", "complex128"))
    @pytest.mark.parametrize("dtype", ("bool", "int8", "int64", "float32", "float64"))
    @pytest.mark.parametrize("casting", ("safe", "same_kind", "unsafe"))
    @pytest.mark.filterwarnings("ignore")
    def test_out(self, dtype, out_dtype, casting):
        a, b = (np.abs(filled(shape, dtype, 3).real).astype(dtype) for shape in ((3, 4), (4, 5)))
        expected, out = np.zeros((3, 5), out_dtype), np.zeros((3, 10), out_dtype)[::-1, ::2]
        try:
            np.einsum("ij,jk", a, b, out=expected, casting=casting)
        except TypeError:
            with pytest.raises(TypeError):
                einsum("ij,jk", a, b, out=out, casting=casting)
        else:
            assert einsum("ij,jk", a, b, out=out, casting=casting) is out
            same(out, expected, 4096.0)

    def test_out_that_is_an_input(self):
        a, b = filled((3, 3), "int64", 1), filled((3, 3), "int64", 2)
        expected = a @ b
        assert einsum("ij,jk", a, b, out=b) is b
        same(b, expected)

    def test_out_of_another_shape_is_refused(self):
        for dtype in ("float64", "complex128"):
            with pytest.raises(ValueError):
                einsum("ij,jk", np.ones((3, 4)), np.ones((4, 5)), out=np.zeros((5, 3), dtype))

    @pytest.mark.parametrize("order, fortran", (("C", False), ("F", True), ("A", True), ("K", False), ("f", True)))
    def test_order(self, order, fortran):
        a = np.asfortranarray(filled((3, 4), "float64", 1))
        result = einsum("ij->ji", a, order=order)
        assert result.flags.f_contiguous == fortran and result.flags.c_contiguous != fortran
        same(result, a.T)

    @pytest.mark.parametrize(
        "optimize",
        (
            True,
            False,
            None,
            "greedy",
            "optimal",
            ["einsum_path", (0, 2), (0, 1)],
            ("greedy", 1000),
            ["einsum_path", (0, 1, 2)],
        ),
    )
    def test_optimize(self, optimize):
        arrays = [filled(shape, "int64", 1) for shape in ((3, 4), (4, 5), (5, 6))]
        same(einsum("ij,jk,kl", *arrays, optimize=optimize), np.einsum("ij,jk,kl", *arrays))

    @pytest.mark.parametrize(
        "optimize, kind",
        (
            ("slowest", KeyError),
            ([(0, 1)], TypeError),
            (["einsum_path", (0, 1)], RuntimeError),
            (["einsum_path", (0, 3), (0, 1)], ValueError),
            (["einsum_path", (0, 0), (0, 1)], ValueError),
        ),
    )
    def test_paths_that_are_none(self, optimize, kind):
        with pytest.raises(kind):
            einsum("ij,jk,kl", np.ones((3, 4)), np.ones((4, 5)), np.ones((5, 6)), optimize=optimize)

    @pytest.mark.parametrize("pattern", ("ij->ji", "ii->i", "...->...", "iji->ij", "i...->...i", "...ii->i..."))
    def test_views(self, pattern):
        x = np.arange(27).reshape(3, 3, 3) if "iji" in pattern or "..." in pattern else np.arange(9).reshape(3, 3)
        for copy in (None, False):
            view = einsum(pattern, x, copy=copy)
            same(view, np.einsum(pattern, x))
            assert np.shares_memory(view, x)
        assert not np.shares_memory(einsum(pattern, x), x)

    def test_views_that_are_none(self):
        with pytest.raises(ValueError, match="no view"):
            einsum("ij->i", np.ones((3, 4)), copy=False)
        with pytest.raises(ValueError, match="no view"):
            einsum("i,i->i", np.ones(3), np.ones(3), copy=False)
        same(einsum("ij->i", np.ones((3, 4)), copy=None), np.full(3, 4.0))

    @pytest.mark.parametrize(
        "options, kind",
        (
            ({"order": "W"}, ValueError),
            ({"casting": "blah"}, ValueError),
            ({"dtype": "bad"}, TypeError),
            ({"out": "text"}, TypeError),
            ({"unknown": 0}, TypeError),
            ({"memory_limit": -1}, ValueError),
            ({"memory_limit": "all"}, TypeError),
        ),
    )
    def test_options_that_are_none(self, options, kind):
        with pytest.raises(kind):
            einsum("ij,jk", np.ones((2, 3)), np.ones((3, 4)), **options)


class TestErrors:
    @pytest.mark.parametrize(
        "pattern, shapes",
        (
            ("ij", [(3,)]),
            ("i", [(3, 4)]),
            ("ii", [(2, 3)]),
            ("ij,jk", [(3, 4), (5, 6)]),
            ("i->ij", [(3,)]),
            ("ij->ii", [(3, 4)]),
            ("i%", [(3, 4)]),
            ("i..", [(3, 4)]),
            (".i...", [(3, 4)]),
            ("i->..i", [(3,)]),
            ("...i...", [(3, 4)]),
            ("...i->i", [(3, 4)]),
            ("i,j", [(3,)]),
            ("i", [(3,), (4,)]),
            ("(i,j", [(3,), (4,)]),
            ("i,j)", [(3,), (4,)]),
            ("(i,j)k->ijk", [(3,), (4,)]),
            ("i1", [(3, 4)]),
            ("é", [(3,)]),
        ),
    )
    def test_numpys_patterns(self, pattern, shapes):
        with pytest.raises(ValueError):
            einsum(pattern, *[np.ones(shape) for shape in shapes])

    @pytest.mark.parametrize(
        "pattern, kind",
        (
            ("i () -> i", NotImplementedError),
            ("i 1 -> i", NotImplementedError),
            ("a b -> (a b)", NotImplementedError),
            ("(a b) -> a b", NotImplementedError),
            ("i 2 -> i", NotImplementedError),
            ("i 2j -> i", EinopsError),
            ("_i j -> j", EinopsError),
            ("i j", ValueError),
            ("i j -> k", EinopsError),
            ("i j -> j j", EinopsError),
            ("... ... -> ...", EinopsError),
            ("i j, k -> i", ValueError),
        ),
    )
    def test_einops_patterns(self, pattern, kind):
        with pytest.raises(kind):
            einsum(np.ones((5, 1)), pattern)

    def test_calls_that_are_none(self):
        for operands in ((), ("",), (np.ones(3),), ("i",)):
            with pytest.raises(ValueError):
                einsum(*operands)
        for operands in ((0, 0), (np.ones(3), [0.5]), (np.ones(3), "i", [0])):
            with pytest.raises((TypeError, ValueError)):
                einsum(*operands)
        for numbers in ([-1], [52], [0, 0], [Ellipsis, Ellipsis]):
            with pytest.raises(ValueError):
                einsum(np.ones(3), numbers)

    @pytest.mark.parametrize("dtype", ("longdouble", "object", "U3"))
    def test_what_is_no_number_is_refused(self, dtype):
        for call in (lambda x: einsum("i,i", x, x), lambda x: axisloom.dot(x, x), lambda x: axisloom.matmul(x, x)):
            with pytest.raises(TypeError):
                call(np.zeros(3, dtype))


class TestOrderOfProducts:
    @settings(max_examples=100, deadline=None)
    @given(st.data(), products(dtypes=("int64",), most=5))
    def test_parentheses(self, data, case):
        terms, kept, arrays = case
        parts = ["".join(words) for words in terms]
        while len(parts) > 2:
            at = data.draw(st.integers(0, len(parts) - 2))
            parts[at : at + 2] = [f"({parts[at]}, {parts[at + 1]})"]
        expected = np.array(np.einsum(in_numpys_spelling(terms, kept), *arrays))[()]
        same(einsum(f"{','.join(parts)}->{''.join(kept)}", *arrays), expected)

    def test_einops_spelling(self):
        a, b, c = (filled(shape, "int64", 1) for shape in ((3, 4), (4, 5), (5, 6)))
        for pattern in (
            "(i j, j k), k l -> i l",
            "i j, (j k, k l) -> i l",
            "((i j, j k), k l) -> i l",
            "(i j, j k, k l) -> i l",
        ):
            same(einsum(a, b, c, pattern), a @ b @ c)

    def test_they_are_obeyed(self, monkeypatch):
        """The products that are asked for, one by one."""
        called = []

        def call(name, arguments, *rest):
            called.append(arguments[0])
            return axisloom._native.call(name, arguments, *rest)

        monkeypatch.setattr(axisloom._einsum, "_call", call)
        arrays = [np.ones((2, 2), int)] * 4
        einsum("ij,(jk,(kl,lm))->im", *arrays)
        assert called == ["k l, l m -> k m", "j k, k m -> j m", "i j, j m -> i m"]
        del called[:]
        einsum("ij,jk,kl,lm", *arrays, optimize=["einsum_path", (1, 2), (0, 2), (0, 1)])
        assert called == ["j k, k l -> j l", "i j, j l -> i l", "l m, i l -> i m"]

    def test_small_integers_stay_small(self):
        arrays = [filled((3, 3), "int8", seed) for seed in range(3)]
        same(einsum("(ij,jk),kl->il", *arrays), np.einsum("ij,jk,kl->il", *arrays))

    def test_the_wider_dtype_counts_on_the_way(self):
        a, b = np.full((2, 2), 1e30, "float32"), np.full((2, 2), 1e30, "float32")
        result = einsum("(ij,jk),kl->il", a, b, np.full((2, 2), 1e-30))
        same(result, np.full((2, 2), 4e30), 4096.0 * 2**29)


class TestMemoryLimit:
    shapes = {"ij": (50, 2), "jk": (2, 60), "kl": (60, 3), "lm": (3, 40)}

    def arrays(self, dtype="float64"):
        return [filled(shape, dtype, 1) for shape in self.shapes.values()]

    def peak(self, monkeypatch, **options) -> int:
        """Bytes of all intermediate results at the worst moment, as they are made."""
        live, worst = {}, [0]

        def call(name, arguments, arrays, *rest):
            result = axisloom._native.call(name, arguments, arrays, *rest)
            if result.shape != (50, 40):
                live[id(result)] = result.nbytes
            worst[0] = max(worst[0], sum(live.values()))
            for x in arrays:
                live.pop(id(x), None)
            return result

        monkeypatch.setattr(axisloom._einsum, "_call", call)
        arrays = self.arrays()
        same(einsum("ij,jk,kl,lm->im", *arrays, **options), np.linalg.multi_dot(arrays), 1e6)
        return worst[0]

    @pytest.mark.parametrize("limit", (100_000, 24_000, 2_000, 1_000, 700))
    def test_it_is_obeyed(self, monkeypatch, limit):
        assert self.peak(monkeypatch, memory_limit=limit) <= limit

    def test_it_is_refused(self):
        with pytest.raises(OutOfMemoryError, match=r"needs \d+ bytes"):
            einsum("ij,jk,kl,lm->im", *self.arrays(), memory_limit=600)
        assert issubclass(OutOfMemoryError, MemoryError)

    def test_what_it_needs_is_what_it_says(self):
        with pytest.raises(OutOfMemoryError) as caught:
            einsum("ij,jk,kl,lm->im", *self.arrays(), memory_limit=0)
        needed = int(str(caught.value).partition("needs ")[2].partition(" bytes")[0])
        einsum("ij,jk,kl,lm->im", *self.arrays(), memory_limit=needed)
        with pytest.raises(OutOfMemoryError):
            einsum("ij,jk,kl,lm->im", *self.arrays(), memory_limit=needed - 1)

    def test_an_order_that_is_fixed(self):
        einsum("((ij,jk),kl),lm->im", *self.arrays(), memory_limit=8 * (50 * 60 + 50 * 3))
        with pytest.raises(OutOfMemoryError, match="order that was asked for"):
            einsum("((ij,jk),kl),lm->im", *self.arrays(), memory_limit=8 * (50 * 60 + 50 * 3) - 1)

    def test_one_product_needs_nothing(self):
        a, b = np.ones((30, 40)), np.ones((40, 50))
        same(einsum("ij,jk", a, b, memory_limit=0), a @ b)

    def test_axes_that_are_summed_first_count(self):
        a, b = np.ones((3, 4, 5)), np.ones((3, 6))
        same(einsum("ijk,il->l", a, b, memory_limit=24), np.full(6, 60.0))
        with pytest.raises(OutOfMemoryError):
            einsum("ijk,il->l", a, b, memory_limit=23)

    def test_the_largest_input(self):
        a, b, c = np.ones((2, 100)), np.ones((100, 2)), np.ones((2, 2))
        same(einsum("ij,jk,kl", a, b, c, memory_limit="max_input"), a @ b @ c)
        with pytest.raises(OutOfMemoryError):
            einsum("i,j,k->ijk", np.ones(9), np.ones(9), np.ones(9), memory_limit="max_input")

    def test_many_arrays(self):
        arrays = [filled((2, 2), "int64", seed) for seed in range(12)]
        pattern = ",".join("abcdefghijkl"[at] + "bcdefghijklm"[at] for at in range(12))
        same(einsum(pattern, *arrays, memory_limit=1000), np.linalg.multi_dot(arrays))
        with pytest.raises(OutOfMemoryError):
            einsum(pattern, *arrays, memory_limit=10)

    @settings(max_examples=50, deadline=None)
    @given(products(dtypes=("int64",), most=5))
    def test_results_are_the_same(self, case):
        terms, kept, arrays = case
        pattern = in_numpys_spelling(terms, kept)
        try:
            ours = einsum(pattern, *arrays, memory_limit=200)
        except OutOfMemoryError:
            ours = einsum(pattern, *arrays, memory_limit=1 << 30)
        same(ours, np.array(np.einsum(pattern, *arrays))[()])


class TestOtherProducts:
    shapes = ((), (3,), (4, 3), (2, 4, 3), (3, 5), (2, 3, 5), (1, 3, 4), (5, 1, 3))

    @pytest.mark.parametrize("b", shapes)
    @pytest.mark.parametrize("a", shapes)
    @pytest.mark.parametrize("name", ("dot", "matmul"))
    def test_shapes(self, name, a, b):
        x, y = filled(a, "int32", 1), filled(b, "int32", 2)
        try:
            expected = getattr(np, name)(x, y)
        except ValueError:
            with pytest.raises(ValueError):
                getattr(axisloom, name)(x, y)
        else:
            same(getattr(axisloom, name)(x, y), expected)

    @pytest.mark.parametrize(
        "axes",
        (0, 1, 2, -1, (0, 0), ([0, 1], [1, 0]), ([-1], [0]), ((), ()), (1, 0), ([0], 1), 3, (0, 5), ([0, 1], [0])),
    )
    def test_tensordot(self, axes):
        a, b = filled((3, 4), "int64", 1), filled((4, 3), "int64", 2)
        try:
            expected = np.tensordot(a, b, axes)
        except (ValueError, IndexError):
            with pytest.raises((ValueError, IndexError)):
                axisloom.tensordot(a, b, axes)
        else:
            same(np.asarray(axisloom.tensordot(a, b, axes)), expected)

    def test_tensordot_does_not_broadcast(self):
        with pytest.raises(ValueError):
            axisloom.tensordot(np.ones((2, 3)), np.ones((1, 3)), ([0], [0]))
        with pytest.raises(ValueError):
            axisloom.dot(np.ones((2, 3, 1)), np.ones((2, 3, 4)))

    def test_tensordot_of_one_axis_named_twice(self):
        with pytest.raises(ValueError):
            axisloom.tensordot(np.ones((3, 3)), np.ones((3, 3)), ([0, 0], [0, 1]))

    def test_out(self):
        a, b = filled((3, 4), "float64", 1), filled((4, 5), "float64", 2)
        for call in (axisloom.matmul, axisloom.dot, lambda a, b, out: axisloom.tensordot(a, b, 1, out=out)):
            out = np.zeros((3, 5))
            assert call(a, b, out=out) is out
            same(out, a @ b, 64.0)

    @pytest.mark.parametrize("casting", ("no", "same_kind", "unsafe"))
    @pytest.mark.parametrize("out", ("float32", "float64", "int64", "complex64"))
    @pytest.mark.filterwarnings("ignore")
    def test_matmul_into_another_dtype(self, out, casting):
        a, b = filled((3, 4), "float64", 1), filled((4, 5), "float64", 2)
        expected, ours = np.zeros((3, 5), out), np.zeros((3, 5), out)
        try:
            np.matmul(a, b, out=expected, casting=casting)
        except TypeError:
            with pytest.raises(TypeError):
                axisloom.matmul(a, b, out=(ours,), casting=casting)
        else:
            assert axisloom.matmul(a, b, out=(ours,), casting=casting) is ours
            same(ours, expected, 64.0)

    def test_dot_into_another_dtype_is_refused(self):
        with pytest.raises((ValueError, TypeError)):
            axisloom.dot(np.ones(3), np.ones((3, 2)), out=np.zeros(2, "float32"))

    @pytest.mark.parametrize("asked", ("float64", "complex128", "float32"))
    def test_matmul_in_a_dtype(self, asked):
        a, b = filled((3, 4), "float32", 1), filled((4, 5), "float32", 2)
        same(axisloom.matmul(a, b, dtype=asked), np.matmul(a, b, dtype=asked), 64.0)

    def test_wider_products_are_computed_wider(self):
        x = np.full(1000, 0.1, "float32")
        same(einsum("i,i", x, x, dtype="float64"), np.einsum("i,i", x, x, dtype="float64"), 64.0)

    def test_own_arrays(self):
        a, b = filled((3, 4), "int8", 1), filled((4, 5), "int8", 2)
        for ours in (
            einsum("ij,jk", axisloom.Array(a), axisloom.Array(b)),
            axisloom.matmul(axisloom.Array(a), axisloom.Array(b)),
        ):
            assert isinstance(ours, axisloom.Array)
            same(ours.numpy(), a @ b)

    def test_floats(self):
        rng = np.random.default_rng(0)
        for dtype in (*FLOATS, *COMPLEX):
            a, b = rng.random((40, 50)).astype(dtype), rng.random((50, 30)).astype(dtype)
            exact = a.astype("complex128") @ b.astype("complex128")
            bound = 2 * 50 * np.finfo(dtype).eps * math.sqrt(2) * np.abs(exact)
            assert (np.abs(axisloom.matmul(a, b) - exact) <= bound).all()

    def test_integers_wrap(self):
        for dtype in INTEGERS:
            x = np.full((2, 2), np.iinfo(dtype).max, dtype)
            same(axisloom.matmul(x, x), np.matmul(x, x))
