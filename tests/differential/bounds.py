"""Sums, means, products and norms in long doubles, each with how far a right result may be from it.

Every bound is that of one step, for the operands that the step had: they are read back with the results. So nothing has
to be carried through a program: if each step is within its bound of what its operands come to, the whole is within the
bounds of the steps taken together, and a step that is wrong is seen by itself, unblurred by those before it.

Write u for the roundoff of what is accumulated (f32 for f16, bf16, f32 and c64; f64 for f64, c128 and integers), v for
that of the result, S for the sum of magnitudes of n elements, t for the smallest number above 0.

sum      Added one after the other in any order, n numbers are n u S off (Higham, "Accuracy and Stability of Numerical
         Algorithms", 4.2, to first order; the second is in the 1 % below). Promised are (ceil(log2 n) + 40) u S, which
         is less for many. Integers of 64 bits become f64 first: u S more.
mean     That of the sum by n, and roundings of n and of the quotient: 2 u S / n. Sums of integers that fit are exact.
prod     n - 1 roundings: (1 + u)^(n-1) - 1 times |P|; a complex product has four roundings and two additions, together
         below 4 u times the moduli. Below the normal numbers a rounding loses up to t, which later factors multiply:
         n t G, where G is the product of all factors above 1.
norm 1   As a sum; a complex modulus is 4 u off.
norm 2   Squares are not negative, so their sum Q is (terms + 3) u Q off, and n t where squares underflow; the root
         turns an error E of Q into at most sqrt(Q) - sqrt(Q - E), and is rounded itself.
norm inf One of the elements; a complex modulus is 4 u off.

What is stored is rounded once more: v of the result, t at least. Where a sum of magnitudes, or a product with its
largest part, may exceed the largest number of the accumulator or of the result, the result may be anything, and the
bound is infinite. Magnitudes are those of finite elements: infinity and NaN come out as in long doubles, whatever the
order, and need no bound. Long doubles round too: n 2^-64 S."""
import numpy as np

from elements import LARGEST, LEAST, LONG, ROUNDOFF, component, is_complex, is_float, joined, promoted

SECOND_ORDER = LONG(1.01)  # what products of roundoffs add; holds up to n = 10,000 for f32
LONG_ROUNDOFF = LONG(2) ** -64
COMPENSATED_TERMS = 40  # promised besides log2 n
COMPLEX = 4  # roundoffs of a complex modulus, or of a complex product in its modulus


def accumulator(dtype):
    """The real dtype in which sums and products of a dtype are taken together."""
    if not is_float(dtype):
        return "f64"
    return component(promoted(dtype, "f32"))


def terms(count):
    """Roundoffs of S by which a sum of so many is off."""
    return LONG(min(count, np.ceil(np.log2(max(count, 1))) + COMPENSATED_TERMS))


def finite(magnitudes, otherwise=0):
    return np.where(np.isfinite(magnitudes), magnitudes, LONG(otherwise))


def finished(sizes, error, reach, accumulated, out):
    """The bound of results of such magnitudes with an error, once they are stored as `out`. `reach`: the largest number
    on the way."""
    out = component(out)
    bound = error * (1 + LONG(ROUNDOFF[out])) + LONG(ROUNDOFF[out]) * sizes + LEAST[out]
    too_large = (reach * SECOND_ORDER >= LARGEST[accumulated]) | (sizes + bound >= LARGEST[out])
    return np.where(too_large, LONG(np.inf), bound)


def by_components(dtype, rows, real_case):
    """The same for the real and the imaginary parts of complex numbers."""
    if not is_complex(dtype):
        return real_case(rows)
    real, imag = real_case(rows.real), real_case(rows.imag)
    return joined(real[0], imag[0]), joined(real[1], imag[1])


def sum_error(dtype, rows, extra=0):
    """(sum, its error, the sum of magnitudes) of real numbers."""
    rows = rows.astype(LONG)
    total, magnitude = np.sum(rows, axis=-1), np.sum(finite(np.abs(rows)), axis=-1)
    count = rows.shape[-1]
    u = LONG(ROUNDOFF[accumulator(dtype)])
    return total, ((terms(count) + extra) * u * SECOND_ORDER + count * LONG_ROUNDOFF) * magnitude, magnitude


def rounded_sum(dtype, out, rows, _):
    def real_case(real):
        total, error, magnitude = sum_error(dtype, real)
        return total, finished(finite(np.abs(total)), error, magnitude, accumulator(dtype), out)
    return by_components(dtype, rows, real_case)


def rounded_mean(dtype, out, rows, _):
    count = LONG(rows.shape[-1])
    u = LONG(ROUNDOFF[accumulator(dtype)])

    def real_case(real):
        total, error, magnitude = sum_error(dtype, real, extra=0 if is_float(dtype) else 1)
        size = magnitude / count
        return total / count, finished(size, error / count + 2 * u * size, magnitude, accumulator(dtype), out)

    values, bound = by_components(dtype, rows, real_case)
    if is_complex(dtype):  # a quotient of complex numbers: what is not finite in one part is NaN in the other
        lost = joined(np.where(np.isfinite(values.imag), 0, LONG(np.nan)), np.where(np.isfinite(values.real), 0,
                                                                                   LONG(np.nan)))
        values = joined(values.real + lost.real, values.imag + lost.imag)
        unsure = np.isposinf(bound.real) | np.isposinf(bound.imag)  # a part that may overflow may make the other NaN
        bound = joined(np.where(unsure, LONG(np.inf), bound.real), np.where(unsure, LONG(np.inf), bound.imag))
    return values, bound


def rounded_prod(dtype, out, rows, _):
    moduli = finite(np.abs(rows), 1)
    count = rows.shape[-1]
    acc = accumulator(dtype)
    u = LONG(ROUNDOFF[acc])
    growth = np.prod(np.maximum(moduli, 1), axis=-1)
    product = np.prod(moduli, axis=-1)
    relative = np.expm1((COMPLEX if is_complex(dtype) else 1) * count * np.log1p(u)) + 8 * count * LONG_ROUNDOFF
    error = relative * product + 2 * count * LEAST[acc] * growth
    values = np.prod(rows, axis=-1)
    shrunk = np.prod(np.minimum(moduli, 1), axis=-1) < LEAST[acc]  # 0 in one order, and times an infinity NaN
    bound = finished(product, error, growth, acc, out)
    unsure = shrunk & ~np.all(np.isfinite(rows), axis=-1)
    bound = np.where(unsure, LONG(np.inf), bound)
    return values, joined(bound, bound) if is_complex(dtype) else bound


def rounded_norm(dtype, out, rows, order):
    rows = rows if is_complex(dtype) else rows.astype(LONG)
    moduli = np.abs(rows)
    acc = accumulator(dtype)
    u = LONG(ROUNDOFF[acc])
    off = COMPLEX if is_complex(dtype) else 0
    if order == "inf":
        largest = np.max(finite(moduli), axis=-1)
        return np.max(moduli, axis=-1), finished(largest, (off + 1) * u * largest, largest, acc, out)
    if order == "1":
        values, error, magnitude = sum_error(dtype, moduli, extra=off + 1)
        return values, finished(magnitude, error, magnitude, acc, out)
    squares = np.sum(finite(moduli)**2, axis=-1)
    error = (terms(rows.shape[-1]) + 4) * u * SECOND_ORDER * squares + rows.shape[-1] * LEAST[acc]
    root = np.sqrt(squares)
    root_error = root - np.sqrt(np.maximum(squares - error, 0)) + 4 * u * root
    return np.linalg.norm(rows, axis=-1), finished(root, root_error, squares, acc, out)


ROUNDED = {"sum": rounded_sum, "mean": rounded_mean, "prod": rounded_prod, "norm": rounded_norm}
