"""Random einsum expressions against NumPy, all in one run of the program.

Usage: einsum_numpy.py PROGRAM [--seed S] [--count N] [--only I]     (AXISLOOM_SEED gives the seed as well)

Each expression is one line for `axisloom check`, which runs it, compares it with its own oracle and keeps the arrays;
here the kept results are held against numpy.einsum in f64 (exactly, for integers), and dtype and shape against
numpy.einsum in the arrays' own dtypes."""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("numpy is missing: apt-get install python3-numpy", file=sys.stderr)
    print("0 passed, 1 failed")
    sys.exit(1)

DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "i8": np.int8, "u8": np.uint8,
          "u16": np.uint16, "f16": np.float16, "c64": np.complex64, "bool": np.bool_}
WEIGHTS = [40, 10, 10, 5, 5, 5, 3, 6, 8, 8]
MIXED = [("f32", "i8"), ("f32", "f64"), ("i32", "f32"), ("f16", "f32"), ("c64", "f32"), ("i8", "u8"), ("bool", "f32")]
ROUNDOFF = {np.dtype(np.float16): 2.0 ** -11, np.dtype(np.float32): 2.0 ** -24, np.dtype(np.float64): 2.0 ** -53,
            np.dtype(np.complex64): 2.0 ** -24, np.dtype(np.complex128): 2.0 ** -53}
MOST_PRODUCTS = 60_000  # points of the loop nest: the oracle visits each
NAMES = ["batch", "row", "col", "inner", "ch", "k1", "h_2", "w"]
LETTERS = "ijkmbACz"


class Expression:
    """A pattern in both spellings, and the arrays' shapes, dtypes and strides."""

    def __init__(self, rng):
        while True:
            self.draw(rng)
            if self.products() <= MOST_PRODUCTS and max(len(shape) for shape in self.shapes) <= 8:
                break
        self.spell(rng)
        self.draw_dtypes(rng)
        self.strides = [random_strides(rng, shape) if rng.random() < 0.35 else None for shape in self.shapes]
        self.out_strides = random_strides(rng, self.result_shape()) if rng.random() < 0.3 else None

    def draw(self, rng):
        count = rng.choice([1, 1, 2, 2, 2, 2, 3, 3, 4, 5])
        axes = list(range(rng.randint(1, 6)))
        longest = 24 if len(axes) < 4 else 7
        self.lengths = [rng.choice([1, 2, 3, 4, 5, 7, rng.randint(1, longest)]) for _ in axes]
        if rng.random() < 0.05:
            self.lengths[rng.choice(axes)] = 0
        self.operands = [rng.sample(axes, rng.randint(0, min(4, len(axes)))) for _ in range(count)]
        self.ones = [[rng.random() < 0.04 for _ in operand] for operand in self.operands]
        for operand, ones in zip(self.operands, self.ones):
            if operand and rng.random() < 0.12:  # a diagonal
                at = rng.randrange(len(operand))
                operand.append(operand[at])
                ones.append(ones[at])
        used = sorted({axis for operand in self.operands for axis in operand})
        self.output = rng.sample(used, rng.randint(0, len(used)))
        self.ellipsis = [rng.randint(1, 4) for _ in range(rng.randint(1, 2))] if rng.random() < 0.15 else []
        self.ellipsis_at = [rng.randint(0, len(operand)) if self.ellipsis else None for operand in self.operands]
        self.ellipsis_rank = [rng.randint(0, len(self.ellipsis)) for _ in self.operands]
        self.ellipsis_rank[0] = len(self.ellipsis)
        self.ellipsis_out = rng.randint(0, len(self.output)) if self.ellipsis else None
        self.shapes = []
        for n, operand in enumerate(self.operands):
            shape = [1 if one else self.lengths[axis] for axis, one in zip(operand, self.ones[n])]
            if self.ellipsis:
                tail = self.ellipsis[len(self.ellipsis) - self.ellipsis_rank[n]:]
                tail = [1 if rng.random() < 0.15 else extent for extent in tail]
                shape[self.ellipsis_at[n]:self.ellipsis_at[n]] = tail
            self.shapes.append(shape)

    def products(self):
        total = 1
        for axis in {axis for operand in self.operands for axis in operand}:
            total *= max(1, self.lengths[axis])
        for extent in self.ellipsis:
            total *= extent
        return total

    def spell(self, rng):
        def side(axes, at, names, separator):
            words = [names[axis] for axis in axes]
            if at is not None:
                words.insert(at, "...")
            return separator.join(words)

        def whole(names, separator, comma, arrow):
            left = comma.join(side(o, at, names, separator) for o, at in zip(self.operands, self.ellipsis_at))
            return left + arrow + side(self.output, self.ellipsis_out, names, separator)

        self.compact = whole(LETTERS, "", ",", "->")
        style = rng.random()
        if style < 0.35:
            self.pattern = self.compact
        elif style < 0.45:
            self.pattern = self.compact = self.compact.split("->")[0]
        else:
            names = rng.sample(NAMES, len(NAMES)) if rng.random() < 0.5 else list(LETTERS)
            self.pattern = whole(names, " ", ", ", " -> ")
            if " " not in self.pattern.replace(", ", "").replace(" -> ", "") and not all(
                    len(shape) == 1 for shape in self.shapes):
                self.pattern = self.compact  # without blanks inside, names of several letters are letters

    def draw_dtypes(self, rng):
        if len(self.operands) > 1 and rng.random() < 0.12:
            pair = rng.choice(MIXED)
            self.dtypes = [rng.choice(pair) for _ in self.operands]
        else:
            self.dtypes = rng.choices(list(DTYPES), WEIGHTS) * len(self.operands)

    def result_shape(self):
        return np.einsum(self.compact, *[np.empty(shape, np.float32) for shape in self.shapes]).shape

    def line(self):
        shapes = ",".join("x".join(map(str, shape)) or "scalar" for shape in self.shapes)
        text = f'einsum {",".join(self.dtypes)} {shapes} "{self.pattern}"'
        for n, strides in enumerate(self.strides):
            if strides:
                text += f' in{n + 1}-strides={",".join(map(str, strides))}'
        if self.out_strides:
            text += f' out-strides={",".join(map(str, self.out_strides))}'
        return text


def random_strides(rng, shape):
    """Strides that keep elements apart: axes in any order, gaps between them, some backwards."""
    if not shape:
        return None
    order = list(range(len(shape)))
    rng.shuffle(order)
    strides, stride = [0] * len(shape), rng.choice([1, 1, 1, 2])
    for axis in order:
        strides[axis] = stride * rng.choice([1, 1, 1, -1])
        stride = stride * max(1, shape[axis]) + rng.choice([0, 0, 1, 3])
    return strides


def compare(expression, arrays, got):
    """What is wrong with a result, or nothing."""
    # NumPy refuses some mixes with scalars, whose values it looks at.
    shape = np.einsum(expression.compact, *[array.astype(np.complex128) for array in arrays]).shape
    bytes_only = all(array.dtype in (np.int8, np.uint8) for array in arrays)
    # Of dtypes, not of arrays: before version 2 NumPy looks at the values of scalars.
    dtype = np.dtype(np.int32) if bytes_only else np.result_type(*(array.dtype for array in arrays))
    if got.dtype != dtype or got.shape != shape:
        return f"is {got.dtype}{got.shape}, NumPy has {dtype}{shape}"
    if got.dtype not in ROUNDOFF:
        wide = dtype if dtype == np.bool_ else np.int64
        want = np.einsum(expression.compact, *[array.astype(wide) for array in arrays]).astype(dtype)
        return "" if np.array_equal(want, got) else "differs from NumPy"
    wide = np.complex128 if np.iscomplexobj(got) else np.float64
    want = np.einsum(expression.compact, *[array.astype(wide) for array in arrays])
    size = np.einsum(expression.compact, *[np.abs(array.astype(wide)) for array in arrays])
    # Sums of n terms in any order and by any path, sums within operands by the bound of reduce, and a rounding a step.
    stored = ROUNDOFF[got.dtype]
    added = min(stored, 2.0 ** -24)  # f16 is added up in f32
    allowed = (8 * expression.products() + 50) * added + 4 * len(arrays) * stored
    worst = np.max(np.abs(want - got) - allowed * size, initial=0)
    least = 2.0 ** -20 if got.dtype == np.float16 else 0  # below f16's normal numbers errors are absolute
    return "" if worst <= least else f"exceeds the bound by {worst:.3g}"


def check(program, expressions, numbers, folder):
    cases = os.path.join(folder, "random.cases")
    with open(cases, "w", encoding="ascii") as file:
        file.writelines(expressions[n].line() + "\n" for n in numbers)
    run = subprocess.run([program, "check", "--cases", cases, "--keep", folder, "--repeat", "0", "--max-failures", "0"],
                         capture_output=True, text=True, timeout=600)
    sys.stderr.write(run.stderr)
    print(run.stdout.strip())
    return run


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="build/axisloom")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("AXISLOOM_SEED", time.strftime("%Y%m%d"))))
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--only", type=int, help="the number of one expression")
    parser.add_argument("--list", action="store_true", help="print the cases and run nothing")
    options = parser.parse_args()
    expressions = [Expression(random.Random(f"{options.seed}/{n}")) for n in range(options.count)]
    numbers = list(range(options.count)) if options.only is None else [options.only]
    if options.list:
        print("\n".join(expressions[n].line() for n in numbers))
        return
    print(f"seed {options.seed}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        run = check(os.path.abspath(options.program), expressions, numbers, folder)
        for position, n in enumerate(numbers):
            path = os.path.join(folder, f"{position + 1}-out.npy")
            if not os.path.exists(path):
                problem = "gave no result"
            else:
                arrays = [np.load(os.path.join(folder, f"{position + 1}-in{i + 1}.npy"))
                          for i in range(len(expressions[n].operands))]
                problem = compare(expressions[n], arrays, np.load(path))
            if problem:
                failed += 1
                print(f"expression {n} {problem}: {expressions[n].line()}\n"
                      f"  repeat: python3 {sys.argv[0]} {options.program} --seed {options.seed} --count {n + 1} --only {n}")
    failed = max(failed, int(run.returncode != 0))
    print(f"NumPy: {len(numbers) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
