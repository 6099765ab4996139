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
CASES = sorted((ROOT / "tests/cases").glob("*.cases")) + sorted((ROOT / "tests/cases-host").glob("*.cases"))

# Levels of the instruction set, by what PoCL calls a processor that has it.
LEVELS = {"baseline": "x86-64", "v3": "haswell", "v4": "skylake-avx512"}

# One kernel for each operation does everything, on any processor.
COLD = re.compile(r"(rearrange/plain|rearrange/swap|reduce/plain|reduce/fold|reduce/places|matmul/plain|matmul/combine"
                  r"|einsum/map)\.kernel \w+ 1 ")

# Kernels that are faster, for the levels beyond the baseline. Of reductions those of common dtypes and recipes: a sum of
# bool is as rare as the norm of a u16.
HOT = re.compile(r"(rearrange/(plain|block|rows_cpu|interleave_cpu|runs)|matmul/(pack|packed|direct)"
                 r"|reduce/(rows|columns)_cpu|einsum/map)\.kernel \w+ 1 ")
RARE = re.compile(r"reduce/.*(MAPPING=MAGNITUDE.* (ELEMENT=[iu]|IN_FORM=FORM_B)|ACCUMULATION=PRODUCT|MAPPING=SQUARE.* ELEMENT=[iu]\d+ .*FORM_CAST)")


def names(program, architecture):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "host:" + architecture, folder, *CASES], check=True, stdout=subprocess.DEVNULL)
        return set(pathlib.Path(folder, "names").read_text().splitlines())


def wanted(program):
    by_level = {level: names(program, architecture) for level, architecture in LEVELS.items()}
    lines = {("cold", name) for level in by_level.values() for name in level if COLD.match(name)}
    newer = [level for level in LEVELS if level != "baseline"]
    for name in set().union(*(by_level[level] for level in newer)):
        if not HOT.match(name) or RARE.match(name):
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
