"""Where arrays lie: random strides, offsets and neighbours, and what the bytes hold at first."""
import numpy as np

from elements import NUMPY, component, is_complex, is_float, size_of, stored

MOST_GAP = 3
MOST_MARGIN = 37  # elements before and after an array: offsets that suit no vector
SMALL = [-2, -1, -1, -0.5, -0.0, 0, 0, 0.5, 1, 1, 2]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0]
EXPONENTS = {"f16": 5, "bf16": 20, "f32": 20, "f64": 100}  # so that products of a few stay in range


def strides_for(rng, shape, step=1, repeats=False):
    """Strides in elements, all multiples of `step`. `repeats`: elements may lie at one place, as inputs' may."""
    order = list(range(len(shape)))
    if rng.random() < 0.5:
        order.reverse()  # contiguous, or nearly
    else:
        rng.shuffle(order)
    gaps = rng.random() < 0.4
    strides, stride = [0] * len(shape), step
    for axis in order:
        strides[axis] = stride
        stride *= max(shape[axis], 1)
        if gaps:
            stride += step * rng.randint(0, MOST_GAP)
    if rng.random() < 0.25:
        strides = [-stride if rng.random() < 0.5 else stride for stride in strides]
    if repeats and shape and rng.random() < 0.12:
        strides[rng.randrange(len(shape))] = 0
    elif repeats and len(shape) > 1 and rng.random() < 0.06:  # windows that slide over each other
        first, second = rng.sample(range(len(shape)), 2)
        strides[first] = strides[second]
    return tuple(strides)


def reach(shape, strides):
    """(how far the lowest element lies below the first, how many elements from the lowest to beyond the highest)"""
    if 0 in shape:
        return 0, 0
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    low = -sum(step for step in steps if step < 0)
    return low, low + sum(step for step in steps if step > 0) + 1


def margin(rng):
    return rng.choice([0, 0, 0, 1, rng.randint(1, MOST_MARGIN)])


def real_numbers(dtype, style, generator, count):
    values = generator.uniform(-1, 1, count)
    if style == "small":
        return generator.choice(SMALL, count)
    if style == "special":
        return np.where(generator.random(count) < min(0.1, 3 / max(count, 1)), generator.choice(SPECIAL, count), values)
    if style == "wide":
        most = EXPONENTS[dtype]
        return np.ldexp(values.astype(np.longdouble), generator.integers(-most, most + 1, count))
    return values


def fill(dtype, generator, count):
    """Random elements: any bits, few different values, or numbers that can be added and multiplied."""
    style = generator.choice(["bits", "small", "plain", "plain", "plain", "plain", "wide", "special"])
    if dtype == "bool" and style != "bits":
        return generator.integers(0, 2, count).astype(np.bool_)
    if is_float(dtype) and style != "bits":
        real = component(dtype)
        if not is_complex(dtype):
            return stored(dtype, real_numbers(real, style, generator, count)).data
        values = np.empty(count, NUMPY[dtype])
        with np.errstate(over="ignore"):
            values.real, values.imag = (real_numbers(real, style, generator, count) for _ in range(2))
        return values
    if not is_float(dtype) and style == "small":
        return generator.integers(0, 4, count).astype(NUMPY[dtype])
    return np.frombuffer(generator.bytes(count * size_of(dtype)), NUMPY[dtype])


def as_bytes(data):
    return np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
