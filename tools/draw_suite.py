#!/usr/bin/env python3
"""Draws the problems of the suite "drawn", on which the choice of candidates is tested.

Usage: tools/draw_suite.py > bench/suites/drawn.cases

Sides, channels, dtypes and sizes are drawn by fixed seeds, so that nobody picks problems that a model does well on. Arrays
have 4 to 64 MiB. Models may be fitted to the open problems, never to those held out: once somebody has looked into how a
model does on one of them, all of that draw are open, and a new seed draws others.
"""
import math
import random

DRAWS = [("open", 20261123, 8), ("held out", 20261124, 4)]  # a seed, and how many problems of each family it draws
LEAST_BYTES, MOST_BYTES = 4 << 20, 64 << 20  # of the largest array
DTYPES = {"u8": 1, "i8": 1, "u16": 2, "f16": 2, "f32": 4, "i32": 4, "f64": 8, "c64": 8}

draw = random.Random()


def log_uniform(low, high):
    """A whole number, as likely between 2 and 4 as between 4 and 8."""
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))


def dtype_and_elements(dtypes):
    dtype = draw.choice(dtypes)
    return dtype, log_uniform(LEAST_BYTES, MOST_BYTES) // DTYPES[dtype]


def sides(elements, ratio=3):
    """Height and width of so many pixels."""
    height = round(math.sqrt(elements) * math.exp(draw.uniform(-math.log(ratio), math.log(ratio)) / 2))
    return max(1, height), max(1, elements // max(1, height))


def photo_transposed():
    dtype, elements = dtype_and_elements(["u8", "u8", "u16", "f16", "f32"])
    channels = draw.choice([3, 3, 3, 4, 5])
    height, width = sides(elements // channels)
    return f'rearrange {dtype} {height}x{width}x{channels} "h w c -> w h c"'


def patches():
    dtype, elements = dtype_and_elements(["u8", "f16", "f32"])
    side, channels = draw.choice([2, 4, 7, 8, 14, 16]), draw.choice([1, 3, 4])
    height, width = (max(1, n // side) * side for n in sides(elements // channels))
    last = draw.choice(["(h p) (w q) c -> h w (p q c)", "(h p) (w q) c -> h w (c p q)"])
    if draw.random() < 0.5:
        return f'rearrange {dtype} {height}x{width}x{channels} "{last}" p={side} q={side}'
    return f'rearrange {dtype} {channels}x{height}x{width} "c (h p) (w q) -> (h w) (c p q)" p={side} q={side}'


def pixel_shuffle():
    dtype, elements = dtype_and_elements(["u8", "f16", "f32"])
    side, channels = draw.choice([2, 2, 3, 4]), draw.choice([1, 3, 16, 64])
    height, width = sides(elements // (channels * side * side), 1.5)
    if draw.random() < 0.5:
        shape = f"{channels * side * side}x{height}x{width}"
        return f'rearrange {dtype} {shape} "(c r s) h w -> c (h r) (w s)" r={side} s={side}'
    shape = f"{channels}x{height * side}x{width * side}"
    return f'rearrange {dtype} {shape} "c (h r) (w s) -> (c r s) h w" r={side} s={side}'


def few_lanes():
    dtype, elements = dtype_and_elements(["u8", "i8", "u16", "f16", "f32", "f64"])
    lanes = draw.randint(2, 12)
    height, width = sides(elements // lanes)
    if draw.random() < 0.5:
        return f'rearrange {dtype} {height}x{width}x{lanes} "h w c -> c h w"'
    return f'rearrange {dtype} {lanes}x{height}x{width} "c h w -> h w c"'


def odd_extents():
    dtype, elements = dtype_and_elements(["u8", "u16", "f32", "f64"])
    rank = draw.randint(2, 5)
    shares = [draw.uniform(0.5, 1.5) for _ in range(rank)]
    extents = [max(3, round(elements ** (share / sum(shares)))) | 1 for share in shares]
    order = list(range(rank))
    while order == sorted(order):
        draw.shuffle(order)
    return f"permute {dtype} {'x'.join(map(str, extents))} {','.join(map(str, order))}"


def small_matrices():
    m, n, k = (log_uniform(4, 64) for _ in range(3))
    dtype, elements = dtype_and_elements(["f32", "f32", "f64", "f16", "c64"])
    batch = max(1, elements // 2 // max(m * k, k * n, m * n))
    return f"matmul {dtype} {batch}x{m}x{k},{batch}x{k}x{n}"


def narrow_columns():
    dtype, elements = dtype_and_elements(["u8", "i32", "f16", "f32", "f64"])
    columns = log_uniform(2, 100)
    return f"{draw.choice(['sum', 'sum', 'max'])} {dtype} {elements // columns}x{columns} axes=0"


def short_rows():
    dtype, elements = dtype_and_elements(["u8", "i32", "f16", "f32", "f64"])
    row = log_uniform(2, 200)
    return f"{draw.choice(['sum', 'sum', 'argmax'])} {dtype} {elements // row}x{row} axes=1"


def thin_product():
    dtype, elements = dtype_and_elements(["f32", "f32", "f64", "f16"])
    thin = log_uniform(1, 32)
    rows, columns = sides(elements // 2)
    return draw.choice([f"matmul {dtype} {rows}x{columns},{columns}x{thin}",
                        f"matmul {dtype} {thin}x{rows},{rows}x{columns}",
                        f"matmul {dtype} {rows}x{thin},{thin}x{columns}"])


FAMILIES = [photo_transposed, patches, pixel_shuffle, few_lanes, odd_extents, small_matrices, narrow_columns, short_rows,
            thin_product]


def main():
    print("# Problems that are in no other suite, drawn by seeds: tools/draw_suite.py writes this file. The choice of candidates is\n"
          "# tested on them. Models may be fitted to those called \"open\"; the others are held out.")
    first = 0
    for half, seed, each in DRAWS:
        draw.seed(seed)
        for family in FAMILIES:
            print()
            for number in range(first, first + each):
                quick = "quick" if number == 0 else "full "
                print(f'any {quick} "{family.__name__.replace("_", " ")} {number}, {half}": {family()}')
        first += each


if __name__ == "__main__":
    main()
