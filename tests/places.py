#!/usr/bin/env python3
"""Where things are named: operations in their folders alone, a dtype in few places. Usage: tests/places.py

What is found elsewhere, and what a table below allows for nothing, is a fault."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".cpp", ".hpp", ".h", ".kernel", ".py", ".cu"}
COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)

# Literals outside of src/ops that are also names of operations: in a file, or a folder, which, and why.
NAMES = {
    "bench/engine.cpp": ({"copy"}, "the reference"),
    "bench/judge.cpp": ({"sum", "mean", "norm"}, "names of OpEntry::known_as"),
    "bench/judge_products.cpp": ({"sum", "matmul"}, "names of OpEntry::known_as; what went wrong"),
    "bench/judge_reductions.cpp": ({"sum", "mean", "min", "norm"}, "names of OpEntry::known_as"),
    "bench/ladder": ({"copy", "transpose", "relayout", "sum", "reduce", "matmul"}, "lessons are about operations"),
    "bench/peers": ({"copy", "sum", "mean", "min", "max", "norm", "matmul"}, "the reference; names of OpEntry::known_as"),
    "bench/python": ({"sum", "transpose"}, "what it times"),
    "bench/problem.cpp": ({"sum", "mean", "min", "max", "argmin", "argmax", "norm", "matmul"}, "names of OpEntry::known_as"),
    "cli/bench.cpp": ({"all", "rearrange", "transpose", "permute", "relayout", "copy", "reduce", "matmul"}, "suites; all peers"),
    "cli/check": ({"repeat"}, "a member of its documents"),
    "cli/demo": ({"transpose", "sum"}, "what it shows"),
    "cli/suggestions.hpp": ({"all"}, "all peers"),
    "cli/ladder.cpp": ({"all", "matmul", "relayout"}, "lessons are about operations; all peers"),
    "harness/runner.cpp": ({"all"}, "all candidates"),
    "src/distributed/exchange/plan.cpp": ({"sum"}, "what becomes of addends"),
    "src/model/calibrate.cpp": ({"copy"}, "a kernel of its own"),
}

# A dtype of arithmetic, such as bf16: what has to name it, and who may because they know hardware or libraries by it.
# Instructions of a processor (AVX512-BF16, the level v4_bf16, the property bf16_dots) are none.
DTYPE = re.compile(r"(?<!v4_)(?<!AVX512)bf16(?!_dots)", re.IGNORECASE)
PLACES = [
    "include/axisloom/array.hpp",  # the enumeration
    "src/core/dtype.cpp",          # the table: name, size, kind, format
    "src/dialect/convert.h",       # its conversions to and from f32
    "src/dialect/host_dots.h",     # its products on the host
    "src/dialect/host_conversions.h",  # the same of the host's vectors, by the names of the dialect
    "src/dialect/on_host.h",
    "src/dialect/opencl_vectors.h",  # and of OpenCL's
    "src/ops/forms.h",             # which of them a kernel's constant stands for
    "src/ops/einsum/any_from.h",   # and for a map of the host, a setting
    "src/ops/reduce/lanes.h",      # the same of CPUs' vectors
    "src/ops/reduce/packet.h",     # and of sums on GPUs, which look for no NaN
]
MAY = ["src/ops/matmul/", "src/ops/nvidia/", "src/dialect/host/nvidia/", "src/dialect/selftest/", "bench/peers/", "bench/tensor_peak.kernel"]


def text_of(file):
    text = file.read_text(encoding="utf-8")
    return text if file.suffix == ".py" else COMMENT.sub(lambda found: found[1] or "", text)


def files(*folders):
    for folder in folders:
        yield from (file for file in sorted((ROOT / folder).rglob("*")) if file.suffix in SOURCES)


def names_of_operations():
    names = set()
    for file in files("src/ops"):
        if "_entries() {" in (text := text_of(file)):
            names.update(re.findall(r'(?:\.name = |Shorthand\{)"(\w+)"', text))
    return names


def place_of(path, places):
    return max((place for place in places if path.startswith(place)), key=len, default=None)


def main():
    faults = []
    names = names_of_operations()
    literal = re.compile(r'"(' + "|".join(sorted(names)) + r')"')
    used = {place: set() for place in NAMES}
    dtype_places = set()
    for file in files("src", "harness", "bench", "cli", "include"):
        path, text = file.relative_to(ROOT).as_posix(), text_of(file)
        if DTYPE.search(text) and not place_of(path, MAY):
            dtype_places.add(path)
        if path.startswith("src/ops/"):
            continue
        place = place_of(path, NAMES)
        found = set(literal.findall(text))
        if place:
            used[place] |= found
        for word in sorted(found - (NAMES[place][0] if place else set())):
            faults.append(f'{path} names the operation "{word}": let its entry say what is to be known of it')
    for place, words in used.items():
        faults += [f'tests/places.py allows {place} the word "{word}", for nothing' for word in sorted(NAMES[place][0] - words)]
    faults += [f"{path} names bf16: ask for a property of the dtype instead" for path in sorted(dtype_places - set(PLACES))]
    faults += [f"tests/places.py says that {path} names bf16" for path in sorted(set(PLACES) - dtype_places)]
    print("\n".join(faults) if faults else f"{len(names)} operations, and a dtype in {len(PLACES)} places")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
