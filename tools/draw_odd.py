#!/usr/bin/env python3
"""Draws problems of the same classes as the suite "odd": shapes that nobody picked, to see how far its figures carry.

Usage: tools/draw_odd.py SEED [EACH] > problems.txt        EACH: problems of each class; 10 when it is not given
       mapfile -t problems < problems.txt; axisloom bench rearrange --device cuda:0 "${problems[@]}"

Arrays have 32 to 256 MB, but for those whose size is what is odd about them.
"""
import math
import random
import sys

LEAST_BYTES, MOST_BYTES = 32e6, 256e6
BYTES = {"u8": 1, "i8": 1, "u16": 2, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "c128": 16}

draw = random.Random()


def log_uniform(low, high):
    """A whole number, as likely between 2 and 4 as between 4 and 8."""
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))


def elements(dtype, least=LEAST_BYTES, most=MOST_BYTES):
    return log_uniform(least, most) // BYTES[dtype]


def split(count, axes, odd=False):
    """Extents of so many axes whose product is about `count`."""
    shares = [draw.uniform(0.5, 1.5) for _ in range(axes)]
    extents = [max(2, round(count ** (share / sum(shares)))) for share in shares]
    return [extent | 1 for extent in extents] if odd else extents


def shape(extents):
    return "x".join(map(str, extents))


def unaligned_transpose():
    dtype = draw.choice(["u8", "u16", "f32", "f64", "c128"])
    rows, columns = split(elements(dtype), 2, odd=True)
    if draw.random() < 0.5:
        return f"transpose {dtype} {rows}x{columns}"
    wider, longer = draw.choice([1, 3, 5]), draw.choice([1, 3, 5])
    return f"transpose {dtype} {rows}x{columns} in-strides={columns + wider},1 out-strides={rows + longer},1"


def unaligned_permutation():
    order = draw.choice(["0,2,1", "2,1,0", "1,2,0"])
    return f"permute u8 {shape(split(elements('u8'), 3, odd=True))} {order}"


def patches():
    dtype, side = draw.choice(["u8", "f32"]), draw.choice([2, 4, 7, 8, 14, 16, 20, 32])
    height, width = (max(1, n // side) * side for n in split(elements(dtype) // 3, 2))
    return f'rearrange {dtype} {height}x{width}x3 "(h p) (w q) c -> h w (p q c)" p={side} q={side}'


def pixel_shuffle():
    side, channels = draw.choice([2, 2, 3, 4]), draw.choice([3, 16, 32])
    images, height, width = split(elements("f32") // (channels * side * side), 3)
    return f'rearrange f32 {images}x{channels * side * side}x{height}x{width} "b (c p q) h w -> b c (h p) (w q)" p={side} q={side}'


def four_axes():
    fastest, order = draw.randint(6, 16), draw.choice(["2,0,3,1", "3,1,0,2", "1,3,2,0", "3,0,2,1"])
    return f"permute f32 {shape(split(elements('f32') // fastest, 3))}x{fastest} {order}"


def kept_runs():
    return f'rearrange f32 {shape(split(elements("f32") // 16, 3))}x16 "a b c r -> {draw.choice(["a c b", "c b a", "b c a"])} r"'


def few_lanes():
    lanes = draw.randint(5, 16)
    count = elements("f32") // lanes
    return f"transpose f32 {count}x{lanes}" if draw.random() < 0.5 else f"transpose f32 {lanes}x{count}"


def small_matrices():
    dtype, rows, columns = draw.choice(["u8", "f32"]), draw.randint(30, 110), draw.randint(30, 110)
    return f"transpose {dtype} {elements(dtype) // (rows * columns)}x{rows}x{columns}"


def few_of_a_block():
    channels, images, side = draw.randint(3, 8), draw.choice([16, 32, 64]), draw.choice([112, 160, 224])
    return f"relayout i8 {images}x1x{side}x{side}x32 NC/32HW32 NCHW channels={channels}"


def small_planes():
    height, width, channels = draw.randint(7, 32), draw.randint(7, 32), draw.choice([256, 384, 512])
    images = max(1, elements("i8") // (height * width * channels))
    if draw.random() < 0.5:
        return f"relayout i8 {images}x{channels}x{height}x{width} NCHW NHWC"
    return f"relayout i8 {images}x{height}x{width}x{channels} NHWC NCHW"


def middling_array():
    dtype = draw.choice(["f16", "f32"])
    return f"permute {dtype} {shape(split(elements(dtype, 5e6, 30e6), 3))} {draw.choice(['1,2,0', '0,2,1', '2,1,0'])}"


def rows_with_gaps():
    dtype, row = draw.choice(["u8", "f32"]), log_uniform(15, 1100)
    rows = elements(dtype) // row
    return f"copy {dtype} {rows}x{row} in-strides={row + 1},1 out-strides={row + draw.choice([1, 3])},1"


def sums_of_halves():
    dtype, (rows, columns) = draw.choice(["f16", "bf16"]), split(elements("f16"), 2)
    return f"sum {dtype} {rows}x{columns} axes={draw.choice([0, 1])}"


def sums_of_few_columns():
    columns = draw.randint(3, 16)
    return f"sum f32 {elements('f32') // columns}x{columns} axes=0"


def sums_of_short_rows():
    row = log_uniform(3, 64)
    return f"sum f32 {elements('f32') // row}x{row} axes=1"


def means_of_channels():
    dtype, side, channels = draw.choice(["f16", "f32"]), log_uniform(7, 200), draw.choice([16, 64, 256])
    images = max(2, elements(dtype) // (side * side * channels))
    return f"mean {dtype} {images}x{channels}x{side}x{side} axes=0,2,3"


def norms_of_rows():
    row = log_uniform(50, 1100)
    return f"norm f32 {elements('f32') // row}x{row} axes=1"


CLASSES = [unaligned_transpose, unaligned_permutation, patches, pixel_shuffle, four_axes, kept_runs, few_lanes, small_matrices,
           few_of_a_block, small_planes, middling_array, rows_with_gaps, sums_of_halves, sums_of_few_columns, sums_of_short_rows,
           means_of_channels, norms_of_rows]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    draw.seed(int(sys.argv[1]))
    for draw_one in CLASSES:
        for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 10):
            print(draw_one())


if __name__ == "__main__":
    main()
