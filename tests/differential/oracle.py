"""What each operation comes to by NumPy and einops, with a bound where results are rounded. No code of ours is in here.

An oracle takes a Step and the arrays that it is done on, and gives an Expected. What NumPy or einops refuse, raises
one of REFUSALS."""
from dataclasses import dataclass
from typing import Optional

import einops
import numpy as np

import bounds
import contractions
from elements import NAMES, NUMPY, Typed, is_complex, is_float, joined, numbers

# AxisError of NumPy is both of the first; einops divides by a length of 0.
REFUSALS = (ValueError, IndexError, einops.EinopsError, ZeroDivisionError)


@dataclass
class Expected:
    dtype: str
    values: np.ndarray            # exact results as NumPy has them, else long doubles
    bound: Optional[np.ndarray]   # None: bit for bit; complex results have a bound in each component
    signed_zeros: bool = False    # with a bound: 0 and -0 are told apart
    any_order: bool = False       # with a bound: of what is not finite only that is certain

    def __post_init__(self):  # NumPy gives numbers instead of arrays without axes
        self.values = np.asarray(self.values)
        self.bound = None if self.bound is None else np.asarray(self.bound)


# --- moves ------------------------------------------------------------------------------------------------------------

def moved(array, data):
    return Expected(array.dtype, data, None)


def numbers_of(text):
    return tuple(int(word) for word in text.split(",")) if text else ()


LAYOUTS = {"NCHW": "n c h w", "NHWC": "n h w c", "CHWN": "c h w n"}


def layout(name):
    """The einops side of a layout, and how many channels a block has (0: not in blocks)."""
    if name in LAYOUTS:
        return LAYOUTS[name], 0
    return "n c h w x", int(name[3:name.index("H")])


def relayout(step, array):
    """Through NCHW: channels beyond the true ones go, and missing ones are zeros. Between two layouts in blocks the
    smaller blocks are moved whole."""
    (side, block), (to_side, to_block) = layout(step.arguments[0]), layout(step.arguments[1])
    if block:
        data = einops.rearrange(array.data, f"{side} -> n (c x) h w", x=block)
    else:
        data = einops.rearrange(array.data, f"{side} -> n c h w")
    channels = step.lengths.get("channels", data.shape[1])
    if not data.shape[1] - max(block, 1) < channels <= data.shape[1]:
        raise ValueError("so many channels are not there")
    if block and to_block:
        channels = -(-channels // min(block, to_block)) * min(block, to_block)
    data = data[:, :channels]
    if not to_block:
        return moved(array, einops.rearrange(data, f"n c h w -> {to_side}"))
    data = np.pad(data, ((0, 0), (0, -channels % to_block), (0, 0), (0, 0)))
    return moved(array, einops.rearrange(data, "n (c x) h w -> n c h w x", x=to_block))


MOVES = {
    "copy": lambda step, x: moved(x, x.data),
    "transpose": lambda step, x: moved(x, np.swapaxes(x.data, -1, -2)),
    "permute": lambda step, x: moved(x, np.transpose(x.data, numbers_of(step.arguments[0]))),
    "rearrange": lambda step, x: moved(x, einops.rearrange(x.data, step.arguments[0], **step.lengths)),
    "repeat": lambda step, x: moved(x, einops.repeat(x.data, step.arguments[0], **step.lengths)),
    "relayout": relayout,
}


# --- reductions -------------------------------------------------------------------------------------------------------

def in_order(data, axes):
    """The reduced axes as one, the last, in their order."""
    kept = [axis for axis in range(data.ndim) if axis not in axes]
    shape = [data.shape[axis] for axis in kept]
    count = int(np.prod([data.shape[axis] for axis in axes], dtype=int))
    return np.transpose(data, [*kept, *axes]).reshape([*shape, count])


def result_dtype(name, array):
    """NumPy's own answer for one element; of bf16 by its rule for f16."""
    one = np.ones(1, NUMPY["f16" if array.dtype == "bf16" else array.dtype])
    answer = np.linalg.norm(one) if name == "norm" else getattr(np, name)(one)
    dtype = NAMES[np.asarray(answer).dtype]
    return "bf16" if array.dtype == "bf16" and dtype == "f16" else dtype


def place(name, rows):
    return getattr(np, name)(rows, axis=-1).astype(np.int64)


def extreme(name, array, rows):
    """Of complex numbers that compare alike, NaN among them, the first."""
    if not is_complex(array.dtype):
        return getattr(np, name)(rows, axis=-1)
    at = place("arg" + name, rows)
    return np.take_along_axis(rows, at[..., np.newaxis], axis=-1)[..., 0]


def exact(name, array, rows):
    """Reductions that do not round."""
    if name in ("argmin", "argmax"):
        return place(name, rows)
    if name in ("min", "max"):
        return extreme(name, array, rows)
    if name == "count_nonzero":
        return np.count_nonzero(rows, axis=-1).astype(np.int64)
    return getattr(np, name)(rows, axis=-1)


def fold(name, array, axes, order):
    """One reduction over some axes: (values, bound)."""
    rows = in_order(numbers(array), axes)
    rounds = name in ("mean", "norm") or (name in ("sum", "prod") and is_float(array.dtype))
    if rounds:
        return bounds.ROUNDED[name](array.dtype, result_dtype(name, array), rows, order)
    values = exact(name, array, rows)
    if name in ("min", "max") and is_float(array.dtype):
        zero = np.zeros(values.shape, np.longdouble)
        return values, joined(zero, zero) if is_complex(array.dtype) else zero
    return values, None


def reduce(step, array, name, order):
    """By einops, which is given the places of results to move instead of the results: so a bound moves with them."""
    results = []

    def reduced(data, axes):
        results.append(fold(name, Typed(array.dtype, data), axes, order))
        return np.arange(np.size(results[0][0])).reshape(np.shape(results[0][0]))

    places = einops.reduce(array.data, step.arguments[1], reduced, **step.lengths)
    if not results:  # einops asks for nothing where no axis is reduced: it has moved the elements themselves
        return fold(name, Typed(array.dtype, places), (), order)
    return tuple(None if part is None else np.reshape(part, -1)[places] for part in results[0])


def reduce_axes(step, array, name, order):
    axes = tuple(range(array.data.ndim))
    if "axes" in step.options:
        axes = np.lib.array_utils.normalize_axis_tuple(numbers_of(step.options["axes"]), array.data.ndim)
    results = fold(name, array, tuple(sorted(axes)), order)
    if "keepdims" not in step.options:
        return results
    return tuple(None if part is None else np.expand_dims(part, axes) for part in results)


def reduction(step, array):
    name = step.arguments[0] if step.op == "reduce" else step.op
    order = step.options.get("ord", "2")
    if name not in REDUCTIONS or order not in ("1", "2", "inf") or ("ord" in step.options and name != "norm"):
        raise ValueError("there is no such reduction")
    if step.options.get("order", "fast") not in ("fast", "portable"):
        raise ValueError("there is no such order")
    values, bound = (reduce if step.op == "reduce" else reduce_axes)(step, array, name, order)
    return Expected(result_dtype(name, array), values, bound,
                    signed_zeros=name in ("min", "max") and is_complex(array.dtype),
                    any_order=name == "prod" and is_complex(array.dtype))


REDUCTIONS = ("sum", "prod", "mean", "min", "max", "argmin", "argmax", "any", "all", "count_nonzero", "norm")


# --- all --------------------------------------------------------------------------------------------------------------

def expected(step, operands):
    """Raises one of REFUSALS where there is no result."""
    wanted = {"matmul": 2, "dot": 2, "einsum": len(operands) - ("beta" in step.options)}.get(step.op, 1)
    if len(operands) != wanted + ("beta" in step.options):
        raise ValueError("too many arrays, or too few")
    with np.errstate(all="ignore"):
        if step.op in MOVES:
            return MOVES[step.op](step, *operands)
        if step.op == "reduce" or step.op in REDUCTIONS:
            return reduction(step, *operands)
        return Expected(*contractions.contracted(step, operands))
