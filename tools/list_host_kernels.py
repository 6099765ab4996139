#!/usr/bin/env python3
"""Writes the list of kernels that are compiled with the library, src/ops/host_kernels.txt: what plans for the host ask for.

Usage: tools/list_host_kernels.py PROGRAM [--check]     PROGRAM: axisloom_texts; --check: only tells whether the list is so"""

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "src/ops/host_kernels.txt"
LESSONS = [ROOT / "tests/cases-host/lessons.cases"]  # whatever they and the ladders' rungs take is there
CASES = sorted(file for folder in ("cases", "cases-host") for file in (ROOT / "tests" / folder).glob("*.cases")
               if file not in LESSONS)

LEVELS = ["baseline", "v3", "v4"]  # of the instruction set
# Beyond these levels are instructions of which some kernels are made. Where they lack, the kernels take several steps.
BEYOND = {"v4_vnni": " DOT=4 ", "v4_bf16": " DOT=2 "}

# One kernel for each operation does everything, on any processor.
COLD = re.compile(r"(rearrange/plain|rearrange/swap|reduce/scalar|reduce/fold|reduce/places|matmul/plain|matmul/combine"
                  r"|einsum/map)\.kernel \w+ 1 ")

# Kernels that are faster, for the levels beyond the baseline: of moves and products all of them, of reductions those of
# common recipes. Sums, extremes and their places of all numbers, norms of common ones, what is counted, and products of the
# commonest numbers.
HOT = re.compile(r"(rearrange/(plain|block|slab|rows_cpu|interleave_cpu|runs)|matmul/(pack|packed|direct|gemv_cpu)|einsum/map"
                 r"|reduce/(rows|columns)_cpu)\.kernel \w+ 1 ")
COMMON = [  # how values are taken, how they are mapped before, and of which elements
    ("COMPENSATED IDENTITY", "f32 f64 u16"),
    ("COMPENSATED SQUARE", "f32 f64 u8 u16 i32 i64"),
    ("EXTREME IDENTITY", "f32 f64 u16 i8 i16 i32 i64"),
    ("PLACE IDENTITY", "f32 f64 u16 i8 u8 i16 i32 i64"),
    ("TOTAL IDENTITY", "u8 i8 u16 i16 u32 i32 i64"),
    ("TOTAL NONZERO", "u8 u16 u32 u64"),
    ("PRODUCT IDENTITY", "f32 f64 i32 i64"),
]


# What nobody plans: kernels that make and check the bench's data, and those that measure a device.
OTHERS = [("cold", f"bench/verify.kernel {kernel} 1 AXL_PARAMS_SIZE=464 ELEMENT_BYTES={size}")
          for kernel in ("fill", "verify") for size in (1, 2, 4, 8, 16)]
OTHERS += [("cold", "bench/judge.kernel " + rest) for rest in
           ("fold 1 AXL_PARAMS_SIZE=120", "thin 1 AXL_PARAMS_SIZE=120", "thin 1 AXL_PARAMS_SIZE=120 NUMBER=f64")]
OTHERS += [(levels, f"model/calibrate.kernel {kernel} 1 AXL_PARAMS_SIZE=32 {constants} contract")
           for levels, kernel, constants in (
               ("cold", "nothing", "PROPERTY=NOTHING"), ("cold", "chase", "PROPERTY=CHASE"),
               ("cold", "copy", "PACKET=u32x16 PROPERTY=COPY"), ("hot", "copy", "PACKET=u32x16 PROPERTY=COPY"),
               ("cold", "scalar", "PROPERTY=SCALAR"))]
OTHERS += [(levels, f"model/calibrate.kernel multiply 1 AXL_PARAMS_SIZE=32 CHAINS=8 LANES={lanes}{number} "
            "PROPERTY=MULTIPLY contract") for levels in ("cold", "hot")
           for lanes, number in ((16, ""), (16, " NUMBER=u32"), (8, " NUMBER=f64"), (8, " NUMBER=u64"))]


def is_common(name):
    constants = dict(part.split("=") for part in name.split() if "=" in part)
    if "MAPPING" not in constants:
        return True
    recipe = constants["ACCUMULATION"] + " " + constants["MAPPING"]
    # Number by number complex extremes along runs take little longer, those of columns ten times as long.
    by_columns = recipe == "PLACE IDENTITY" and "columns_cpu" in name
    complex_extreme = constants["ELEMENT_PARTS"] == "2" and not (recipe.startswith("COMPENSATED") or by_columns)
    widened = recipe.startswith("PRODUCT") and constants["VALUE_FLOATS"] == "1" and constants["VALUE"] != constants["ELEMENT"]
    squared_bool = recipe.endswith("SQUARE") and constants["IN_FORM"] == "FORM_BOOL"
    return not (complex_extreme or widened or squared_bool) and any(recipe == common and constants["ELEMENT"] in elements.split()
                                       for common, elements in COMMON)


def names(program, level, cases):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "host:" + level, folder, *cases], check=True, stdout=subprocess.DEVNULL)
        return set(pathlib.Path(folder, "names").read_text().splitlines())


def wanted(program):
    by_level = {level: names(program, level, CASES) for level in LEVELS}
    lines = {("cold", name) for level in by_level.values() for name in level if COLD.match(name)}
    lines |= set(OTHERS) | {("cold", name) for name in names(program, "baseline", [*LESSONS, "ladders"])}
    for level, dots in BEYOND.items():
        asked = {name for name in names(program, level, [ROOT / "tests/cases-host/products.cases"]) if dots in name}
        lines |= {(levels, name) for name in asked for levels in ("cold", level)}
    newer = [level for level in LEVELS if level != "baseline"]
    for name in set().union(*(by_level[level] for level in newer)):
        if not HOT.match(name) or not is_common(name) or any(dots in name for dots in BEYOND.values()):
            continue
        where = [level for level in newer if name in by_level[level]]
        lines |= {("hot", name)} if where == newer else {(level, name) for level in where}
    return sorted(lines)


def main():
    text = "# Written by tools/list_host_kernels.py: kernels that are compiled with the library.\n"
    text += "".join(f"{level} {name}\n" for level, name in wanted(sys.argv[1]))
    if sys.argv[2:] == ["--check"]:
        if text == LIST.read_text():
            return 0
        print(f"{LIST} is not what plans ask for; tools/list_host_kernels.py writes it")
        return 1
    LIST.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
