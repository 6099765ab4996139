"""einsum, matmul and dot by np.einsum, np.matmul and np.dot, in long doubles or 64-bit integers.

The bound. S is the contraction of the operands' magnitudes (of a complex number |re| + |im|), K the number of products
that are added for one result, u the roundoff of the accumulator (f32's for 16-bit floats), v that of the result's
dtype, in which results between the steps are stored too. Whatever the order of the products, each of these rounds:
  an operand of another dtype is converted:                       v
  an operand is summed over axes that only it has:                (min(K, ceil(log2 K) + 40)) u + v
  two arrays are multiplied and summed (m operands: m - 1 times): 2 K u + v, of complex numbers 8 K u + v
A step that computes from arrays within a |X| and b |Y| of the exact ones is within (1+a)(1+b)(1+g) - 1 of |X||Y|, and
sums keep that: so the whole is within the product of all (1 + g), less 1, of S. alpha, beta and the addition give
4 u (|alpha| S + |beta| |addend|), the store v of the result. Below the normal numbers each stored result loses up to t,
and each product in the accumulator up to its t; later operands multiply that and sums add it up: at most K times the
product of each operand's largest magnitude (or 1).

Infinity and NaN: products of two arrays and sums over axes that both have, come out alike in any order. Otherwise
("acd,b->a") a sum may be taken before a product, which decides between infinity and NaN; then it is only certain that
the result is not finite."""
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass

import einops
import numpy as np

from bounds import LONG_ROUNDOFF, accumulator, finished, finite, terms
from elements import LEAST, LONG, NUMPY, ROUNDOFF, Typed, component, is_complex, is_float, joined, numbers, promoted

ELLIPSIS = "..."
BYTES = ("u8", "i8", "bool")


def is_einops(text, operands):
    """Whether names have several letters, by the rule that the library documents."""
    left = text.split("->")[0].split(",")
    bare = re.sub(r" *(,|->) *", r"\1", text.strip())
    if re.search(r"[ ()0-9_]", bare):
        return True
    words = [(side.strip(), array) for side, array in zip(left, operands)]
    several = [(side, array) for side, array in words if len(side) > 1 and side != "..."]
    return "->" in text and bool(several) and all(side.isalpha() and array.data.ndim == 1 for side, array in several)


@dataclass
class Reading:
    """Operands whose axes have one name each, those names, and what contracts such arrays."""
    operands: list
    sides: list
    out: list
    run: Callable

    def extents(self):
        """Of every axis that has a name, the longest."""
        extents = {}
        for side, operand in zip(self.sides, self.operands):
            named = list(side)
            if ELLIPSIS in named:
                at = named.index(ELLIPSIS)
                named[at:at + 1] = [None] * (operand.data.ndim - len(named) + 1)
            for name, extent in zip(named, operand.data.shape):
                extents[name] = max(extents.get(name, 1), extent)
        return extents

    def products(self):
        """K."""
        summed = {name for side in self.sides for name in side} - set(self.out)
        return int(np.prod([extent for name, extent in self.extents().items() if name in summed], dtype=float))

    def private(self):
        """How many operands have axes that nobody else has."""
        others = [set(self.out).union(*self.sides[:i], *self.sides[i + 1:]) for i in range(len(self.sides))]
        return sum(1 for side, other in zip(self.sides, others) if set(side) - other)

    def any_order_alike(self):
        return len(self.operands) == 1 or (len(self.operands) == 2 and not self.private())


def guarded(einsum, arrays):
    """An einsum of nothing is 0, of any shape: NumPy's own (2.4) writes beyond results that have no elements, as in
    "kjm,A" of 0x8x12 and 7, so it is asked for the shape with another extent in place of 0."""
    if all(array.size for array in arrays):
        return np.asarray(einsum(*arrays))
    extents = {extent for array in arrays for extent in array.shape}
    stand_in = next(extent for extent in itertools.count(2) if extent not in extents)
    filled = [np.zeros([extent or stand_in for extent in array.shape], np.int8) for array in arrays]
    shape = [0 if extent == stand_in else extent for extent in np.shape(einsum(*filled))]
    return np.zeros(shape, arrays[0].dtype)


def flat(side):
    return side.replace("(", " ").replace(")", " ")


def by_einops(text, operands, lengths):
    """einops' einsum, with compositions, which it lacks, resolved before and after."""
    left, right = text.split("->")
    left = left.split(",")

    def resolved(side, array):
        if "(" not in side:
            return array
        known = {name: length for name, length in lengths.items() if name in flat(side).split()}
        return Typed(array.dtype, einops.rearrange(array.data, f"{side} -> {flat(side)}", **known))

    def run(*arrays):
        result = guarded(lambda *parts: einops.einsum(*parts, plain), arrays)
        return einops.rearrange(result, f"{flat(right)} -> {right}") if "(" in right else result

    plain = ",".join(map(flat, left)) + "->" + flat(right)
    parts = [resolved(side, array) for side, array in zip(left, operands, strict=True)]
    return Reading(parts, [flat(side).split() for side in left], flat(right).split(), run)


def by_numpy(text, operands):
    sides = [re.findall(r"[A-Za-z]|\.\.\.", side) for side in re.split(",|->", text)]
    if "->" in text:
        out = sides.pop()
    else:
        every = [name for side in sides for name in side]
        out = [name for name in every if every.count(name) == 1 or name == ELLIPSIS]
    return Reading(operands, sides, out, lambda *arrays: guarded(lambda *parts: np.einsum(text, *parts), arrays))


def by_matmul(operands, options):
    turned = ["transpose-a" in options, "transpose-b" in options]
    arrays = [Typed(x.dtype, np.swapaxes(x.data, -1, -2)) if turn else x for x, turn in zip(operands, turned)]
    a = [ELLIPSIS, "i", "k"] if arrays[0].data.ndim > 1 else ["k"]
    b = [ELLIPSIS, "k", "j"] if arrays[1].data.ndim > 1 else ["k"]
    return Reading(arrays, [a, b], [name for name in (ELLIPSIS, "i", "j") if name in a + b],
                   lambda *parts: np.asarray(np.matmul(*parts)))


def by_dot(operands):
    if any(array.data.ndim != 1 for array in operands):
        raise ValueError("dot takes arrays of one axis")
    return Reading(operands, [["k"], ["k"]], [], lambda *arrays: np.asarray(np.dot(*arrays)))


def reading_of(step, operands):
    if step.op == "matmul":
        return by_matmul(operands, step.options)
    if step.op == "dot":
        return by_dot(operands)
    if is_einops(step.arguments[0], operands):
        return by_einops(step.arguments[0], operands, step.lengths)
    return by_numpy(step.arguments[0], operands)


def out_dtype(step, operands):
    common = operands[0].dtype
    for operand in operands[1:]:
        common = promoted(common, operand.dtype)
    if "out-dtype" in step.options:
        asked = step.options["out-dtype"]
        if promoted(common, asked) != asked:
            raise ValueError("that dtype does not hold the result")
        return asked
    bytes_only = common != "bool" and all(operand.dtype in BYTES for operand in operands)
    return "i32" if bytes_only else common  # NumPy's wrap round


def relative_error(reading, dtype):
    u, v = LONG(ROUNDOFF[accumulator(dtype)]), LONG(ROUNDOFF[component(dtype)])
    count, operands = reading.products(), reading.operands
    converted = sum(1 for operand in operands if operand.dtype != dtype)
    summed = terms(count) * u + v
    product = (8 if is_complex(dtype) else 2) * count * u + v
    growth = (converted * np.log1p(v) + reading.private() * np.log1p(summed) +
              (len(operands) - 1) * np.log1p(product))
    return np.expm1(growth) + 4 * len(operands) * count * LONG_ROUNDOFF


def magnitudes(values):
    """Of each number |re| + |im|, of what is finite of it."""
    return np.asarray(finite(np.abs(values.real)) + finite(np.abs(values.imag)))


def factors(step, number):
    return number(step.options.get("alpha", "1")), number(step.options.get("beta", "0"))


def integers(step, reading, addend, dtype):
    wide = np.bool_ if dtype == "bool" else np.int64  # other integers: modulo 2^64
    value = reading.run(*[numbers(operand).astype(wide) for operand in reading.operands])
    alpha, beta = factors(step, lambda text: int(float(text)))
    if dtype == "bool":
        value = value | numbers(addend) if beta else value
    else:
        value = value * np.int64(alpha)
        value = value + np.int64(beta) * numbers(addend).astype(wide) if beta else value
    value = value.astype(NUMPY[dtype])
    if "activation" in step.options:
        value = np.maximum(value, 0)
    return dtype, value, None


def floats(step, reading, addend, dtype):
    wide = np.clongdouble if is_complex(dtype) else LONG
    values = [numbers(operand).astype(wide) for operand in reading.operands]
    sizes = [magnitudes(x) for x in values]
    alpha, beta = factors(step, lambda text: LONG(float(text)))
    unscaled = reading.run(*sizes)  # may be beyond the largest number where alpha brings it back
    result, whole = scaled(alpha, reading.run(*values)), np.abs(alpha) * unscaled
    if beta != 0:
        result = result + scaled(beta, numbers(addend).astype(wide))
        whole = whole + np.abs(beta) * magnitudes(numbers(addend))
    acc = accumulator(dtype)
    relative = relative_error(reading, dtype)
    largest = [max(LONG(1), np.max(size, initial=0)) for size in sizes]
    reach = LONG(reading.products()) * np.prod(largest) * max(1, np.abs(alpha))
    tiny = (LEAST[component(dtype)] + LEAST[acc]) * reach * (2 * len(sizes) + 1)
    error = (relative + 4 * LONG(ROUNDOFF[acc]) * (1 + relative)) * whole + tiny
    if reading.any_order_alike():
        bound = finished(whole, error, np.maximum(whole, unscaled), acc, dtype)
    else:  # results between the steps are stored
        bound = finished(whole, error, np.maximum(whole, reach), component(dtype), dtype)
    if "activation" in step.options:
        bound = np.where(np.isfinite(result) | reading.any_order_alike(), bound, LONG(np.inf))
        result = np.where(result < 0, LONG(0), result)
    return (dtype, result, joined(bound, bound) if is_complex(dtype) else bound, False,
            not reading.any_order_alike())


def scaled(factor, values):
    """A real multiple, component by component."""
    if factor == 1:
        return values
    return joined(factor * values.real, factor * values.imag) if np.iscomplexobj(values) else factor * values


def check_epilogue(step, addend, shape, dtype):
    """What our own options ask for."""
    alpha, beta = factors(step, float)
    if not is_float(dtype) and (alpha != int(alpha) or beta != int(beta)):
        raise ValueError("factors of integers are whole")
    if dtype == "bool" and (alpha != 1 or beta not in (0, 1)):
        raise ValueError("factors of bools are 0 and 1")
    if "activation" in step.options and (dtype == "bool" or is_complex(dtype)):
        raise ValueError("relu is for real numbers")
    if addend is not None:
        if addend.dtype != dtype:
            raise ValueError("the addend is of another dtype")
        np.broadcast_to(addend.data, shape)


def contracted(step, operands):
    """(dtype, values, bound, ...) as Expected has them."""
    operands, addend = (operands[:-1], operands[-1]) if "beta" in step.options else (operands, None)
    reading = reading_of(step, operands)
    dtype = out_dtype(step, operands)
    shape = reading.run(*[np.zeros(operand.data.shape, np.int8) for operand in reading.operands]).shape
    check_epilogue(step, addend, shape, dtype)
    return (floats if is_float(dtype) else integers)(step, reading, addend, dtype)
