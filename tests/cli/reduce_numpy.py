"""Reductions from the command line's point of view, compared with NumPy on the same files."""
import unittest

from support import Case, main

try:
    import numpy as np
except ImportError:
    np = None

RNG = np.random.default_rng(5) if np else None


def array(dtype, shape):
    if dtype == "bool":
        return RNG.integers(0, 2, shape).astype(bool)
    if np.issubdtype(np.dtype(dtype), np.integer):
        info = np.iinfo(dtype)
        return RNG.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    real = RNG.uniform(-1, 1, shape)
    return (real + 1j * RNG.uniform(-1, 1, shape)).astype(dtype) if np.dtype(dtype).kind == "c" else real.astype(dtype)


@unittest.skipUnless(np, "NumPy is not installed: Debian package python3-numpy")
class Reductions(Case):
    def reduced(self, x, op, *options):
        np.save(self.path("in.npy"), x)
        self.good(op, *options, self.path("in.npy"), "-o", self.path("out.npy"), "--verify")
        return np.load(self.path("out.npy"))

    def same(self, x, op, want, *options):
        got = self.reduced(x, op, *options)
        self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), f"{op} of {x.dtype}")
        if want.dtype.kind in "fc":
            # NumPy rounds every partial sum of a half; ours are rounded once.
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-2 if want.dtype == np.float16 else 1e-5)
        else:
            np.testing.assert_array_equal(got, want)

    def test_sums_and_means_over_two_axes(self):
        for dtype in ("bool", "u1", "i4", "u8", "f2", "f4", "c8"):
            x = array(dtype, (3, 40, 7))
            self.same(x, "sum", np.asarray(x.sum(axis=(0, 2))), "--axes", "0,2")
        for dtype in ("i2", "u8", "f8"):
            x = array(dtype, (3, 40, 7))
            self.same(x, "mean", np.asarray(x.mean(axis=1, keepdims=True)), "--axes", "1", "--keepdims")

    def test_products_wrap_round(self):
        x = array("i4", (6, 5))
        self.same(x, "prod", np.asarray(x.prod(axis=0)), "--axes", "0")

    def test_extremes_and_their_places(self):
        for dtype in ("i1", "f4", "c16"):
            x = array(dtype, (30, 17))
            if dtype == "f4":
                x[4, 5] = x[9, 5] = np.nan
            if dtype == "c16":  # few values, so that many are alike; NaN in either part; columns without any at the end
                x.real, x.imag = RNG.choice([0.0, -0.0, 1, np.inf], (2, 30, 17))
                x.real[:, :10][RNG.random((30, 10)) < 0.05] = np.nan
                x.imag[:, :10][RNG.random((30, 10)) < 0.05] = np.nan
            for op in ("min", "max", "argmax") if dtype == "c16" else ("min", "argmax"):
                want = np.asarray(getattr(x, op)(axis=0))
                self.same(x, op, want, "--axes", "0")
                if want.dtype.kind == "c":  # to the sign of a zero, and to the part that is NaN
                    got = np.load(self.path("out.npy"))
                    for part in (np.real, np.imag):
                        np.testing.assert_array_equal(part(got), part(want))
                        np.testing.assert_array_equal(np.signbit(part(got)), np.signbit(part(want)))

    def test_initial_values(self):
        for dtype in ("u1", "i4", "f4", "f8"):
            x = array(dtype, (30, 17))
            for op, initial in (("sum", 3), ("prod", 2), ("min", 0), ("max", 7)):
                want = np.asarray(getattr(x, op)(axis=0, initial=initial))
                self.same(x, op, want, "--axes", "0", "--initial", str(initial))
        nothing = np.zeros((0, 3), "f4")
        self.same(nothing, "max", nothing.max(axis=0, initial=-np.inf), "--axes", "0", "--initial", "-inf")
        x = array("c8", (6, 5))
        self.same(x, "sum", x.sum(axis=1, initial=1 - 2j), "--axes", "1", "--initial", "1-2j")

    def test_dtypes_to_compute_in(self):
        for dtype, asked in (("u1", "u1"), ("u1", "i2"), ("i4", "i8"), ("bool", "f4"), ("i2", "f8"), ("f4", "f8"),
                             ("c8", "c16"), ("f2", "f8")):
            x = array(dtype, (30, 17))
            name = np.dtype(asked).name
            self.same(x, "sum", x.sum(axis=0, dtype=asked), "--axes", "0", "--compute-dtype", name)
            if np.dtype(asked).kind in "fc":
                self.same(x, "mean", x.mean(axis=1, dtype=asked), "--axes", "1", "--compute-dtype", name)
        x = array("i8", (9, 4))
        self.same(x, "prod", x.prod(axis=0, dtype="u2"), "--axes", "0", "--compute-dtype", "uint16")

    def test_masks(self):
        for dtype in ("bool", "u1", "i4", "f2", "f4", "f8", "c8"):
            x = array(dtype, (20, 5, 13))
            for shape in ((20, 5, 13), (13,), (5, 1), (20, 1, 1), ()):
                mask = np.asarray(array("bool", shape))
                np.save(self.path("mask.npy"), mask)
                for op in ("sum", "mean", "any", "all", "min", "max"):
                    with np.errstate(all="ignore"):
                        extreme = {"initial": 1} if op in ("min", "max") else {}
                        want = np.asarray(getattr(np, op)(x, axis=(0, 2), where=mask, **extreme))
                    initial = ("--initial", "1") if extreme else ()
                    np.save(self.path("in.npy"), x)
                    self.good(op, "--where", "--axes", "0,2", *initial, self.path("in.npy"), self.path("mask.npy"),
                              "-o", self.path("out.npy"), "--verify")
                    got = np.load(self.path("out.npy"))
                    self.assertEqual((got.dtype, got.shape), (want.dtype, want.shape), f"{op} of {dtype} where {shape}")
                    np.testing.assert_allclose(got, want, rtol=2e-5, atol=0.1 if dtype == "f2" else 1e-5)

    def test_truth(self):
        x = array("f4", (20, 3)) * array("bool", (20, 3))
        x[:, 1] = 0
        for op in ("any", "all"):
            self.same(x, op, getattr(x, op)(axis=0), "--axes", "0")
        self.same(x, "count_nonzero", np.asarray(np.count_nonzero(x, axis=0)), "--axes", "0")

    def test_norms(self):
        x = array("f8", (6, 50))
        for order, ord in (("1", 1), ("2", 2), ("inf", np.inf)):
            self.same(x, "norm", np.linalg.norm(x, ord=ord, axis=1), "--ord", order, "--axes", "1")
        x = array("c8", (6, 50))
        self.same(x, "norm", np.linalg.norm(x, axis=1), "--axes", "1")

    def test_fortran_order_and_big_endian_files(self):
        x = np.asfortranarray(array("f4", (50, 31))).astype(">f4")
        got = self.reduced(x, "sum", "--axes", "1")
        np.testing.assert_allclose(got, x.sum(axis=1), rtol=1e-5, atol=1e-5)

    def test_patterns(self):
        x = array("f4", (2, 8, 6))
        np.save(self.path("in.npy"), x)
        self.good("reduce", "max", "c (h 2) (w 3) -> w h c", self.path("in.npy"), "-o", self.path("out.npy"))
        want = x.reshape(2, 4, 2, 2, 3).max(axis=(2, 4)).transpose(2, 1, 0)
        np.testing.assert_array_equal(np.load(self.path("out.npy")), want)

    def test_a_scalar_is_printed_in_full(self):
        np.save(self.path("in.npy"), np.full(10, 0.1))
        self.assertEqual(self.good("sum", self.path("in.npy")).out, "1\n")
        np.save(self.path("in.npy"), array("u1", 1000))
        self.assertEqual(int(self.good("sum", self.path("in.npy")).out), int(np.load(self.path("in.npy")).sum()))

    def test_what_cannot_be_reduced(self):
        np.save(self.path("in.npy"), np.zeros((0, 3), "f4"))
        self.assertIn("no elements", self.bad(2, "max", self.path("in.npy")).err)
        self.assertIn("give an initial value", self.bad(2, "max", self.path("in.npy")).err)
        np.save(self.path("in.npy"), np.zeros((2, 3), "f4"))
        np.save(self.path("mask.npy"), np.ones((2, 3), bool))
        self.assertIn("initial value", self.bad(2, "max", "--where", self.path("in.npy"), self.path("mask.npy")).err)
        self.assertIn("use one of f32, f64", self.bad(2, "sum", "--compute-dtype", "i32", self.path("in.npy")).err)
        self.assertIn("unknown reduction", self.bad(2, "reduce", "median", "a b ->", self.path("in.npy")).err)


if __name__ == "__main__":
    main()
