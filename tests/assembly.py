#!/usr/bin/env python3
"""Looks at the machine code of the host's hot kernels: inner loops use whole vector registers and keep what they sum in them, and
what is to pass by the cache does. Usage: tests/assembly.py BUILD_FOLDER

It takes the objects of the build, and what the other compiler of GCC and clang, where it is here, makes of the same kernels."""

import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

OBJECTS = "CMakeFiles/axisloom_objects.dir/host_kernels"
REGISTER = {"v3": "%ymm", "v4": "%zmm"}
ON_STACK = r"^vmov.*(%[xyz]mm.*\((%rsp|%rbp)|\((%rsp|%rbp).*%[xyz]mm)"
MULTIPLY_ADD = r"vfn?m(add|sub)\S* "
ADD = r"v(p?add|sub)\S* "

# What belongs to a kernel's function: of the level, how many of these instructions on whole registers the inner loop with most
# of them has at least, and whether vectors may lie on the stack there. There are 16 registers at v3, 32 at v4.
LOOPS = [
    (r"matmul_(packed|direct)_\w*_COMPLEX_0_\w*_REAL_F(32_1|64_1)", MULTIPLY_ADD, {"v3": (12, False), "v4": (24, False)}),
    (r"matmul_gemv_cpu_\w*_REAL_F(32_1|64_1)", MULTIPLY_ADD, {"v3": (4, False), "v4": (4, False)}),
    (r"reduce_rows_cpu_\w*_COMPENSATED_\w*_ELEMENT_PARTS_1_\w*_MAPPING_IDENTITY", ADD, {"v3": (56, True), "v4": (56, False)}),
    (r"reduce_columns_cpu_\w*_COMPENSATED_\w*_ELEMENT_f32_\w*_ELEMENT_PARTS_1_\w*_MAPPING_IDENTITY", ADD,
     {"v3": (56, True), "v4": (28, False)}),
    (r"reduce_rows_cpu_\w*_TOTAL_\w*_ELEMENT_u(8|16)_\w*_FORM_CAST_MAPPING_IDENTITY", ADD, {"v3": (32, True), "v4": (16, False)}),
]
# Moves that store whole lines past the cache where they are told to.
STREAMS = r"rearrange_(block|slab|rows_cpu|runs|interleave_cpu)_kernel_(?!\w*_ELEMENT_BYTES_16_)"


def functions(file):
    """The functions of an object: their instructions as (address, text)."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", file], check=True, capture_output=True, text=True).stdout
    found, function = {}, []
    for line in listing.splitlines():
        if m := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            found[m[1]] = function = []
        elif m := re.match(r"\s*([0-9a-f]+):\s+(\S.*)", line):
            function.append((int(m[1], 16), re.sub(r"\s+", " ", m[2])))
    return found


def inner_loops(function):
    """Stretches that a jump at their end repeats, and that hold no other such."""
    place = {address: i for i, (address, _) in enumerate(function)}
    loops = []
    for i, (_, text) in enumerate(function):
        target = re.match(r"j\w+ ([0-9a-f]+) <", text)
        first = place.get(int(target[1], 16)) if target else None
        if first is not None and first <= i:
            loops.append((first, i))
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return [[text for _, text in function[a:b + 1]] for a, b in inner]


def count(lines, pattern):
    return sum(bool(re.search(pattern, line)) for line in lines)


def loop_faults(parts, level, operation, least, stack):
    whole = rf"^{operation}.*{REGISTER[level]}"
    best = max((loop for part in parts for loop in inner_loops(part)), key=lambda loop: count(loop, whole), default=[])
    if count(best, whole) < least:
        yield f"at most {count(best, whole)} of '{operation.strip()}' on {REGISTER[level]} in an inner loop, want {least}"
    if count(best, rf"^{operation}.*%[xyz]mm") > count(best, whole):
        yield f"'{operation.strip()}' on less than {REGISTER[level]} in the loop that has most of them"
    if not stack and count(best, ON_STACK):
        yield f"{count(best, ON_STACK)} vectors go by way of the stack in the loop of {count(best, whole)} '{operation.strip()}'"


def faults_of(file, level):
    """What is wrong with an object's kernels, and how many were looked at."""
    found, faults, seen = functions(file), [], 0
    for name in [name for name in found if name.startswith(f"axl_{level}__")]:
        kernel = name.removeprefix(f"axl_{level}_")
        # Helpers that were not inlined are members of the kernel's structure.
        parts = [function for other, function in found.items() if other == name or f"kernel{kernel}" in other]
        wanted = [(operation, levels[level]) for pattern, operation, levels in LOOPS if re.match("_" + pattern, kernel)]
        for operation, (least, stack) in wanted:
            faults += [f"{name}: {fault}" for fault in loop_faults(parts, level, operation, least, stack)]
        streams = re.match("_" + STREAMS, kernel)
        if streams and not any(count([text for _, text in part], r"^vmovnt.*" + REGISTER[level]) for part in parts):
            faults.append(f"{name}: no store of {REGISTER[level]} past the cache")
        seen += bool(wanted or streams)
    return faults, seen


def by_other_compiler(build, folder):
    """Commands by which the other compiler makes the same objects: (level, object, command)."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        m = re.search(r"host_kernels/(v3|v4)_\w+\.cpp$", entry["file"])
        if not m or not re.search("_" + "|_".join([STREAMS, *(pattern for pattern, _, _ in LOOPS)]), names_in(entry["file"])):
            continue
        words = [word for word in shlex.split(entry["command"]) if "ccache" not in word]
        clang = "clang" in subprocess.run([words[0], "--version"], capture_output=True, text=True).stdout
        other = shutil.which("g++" if clang else "clang++")
        if other is None:
            return
        words = [other, *(word for word in words[1:] if word not in ("-fno-tree-loop-distribute-patterns", "-Wno-psabi", "-Werror",
                                                                      "-Wno-restrict"))]
        target = folder / (pathlib.Path(entry["file"]).stem + ".o")
        words[words.index("-o") + 1] = str(target)
        yield m[1], target, [*words, "-w"]


def names_in(source):
    return " ".join(re.findall(r"^#define AXL_ENTRY (\w+)", pathlib.Path(source).read_text(), re.MULTILINE))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def made(job):
            level, target, command = job
            subprocess.run(command, check=True, cwd=build)
            return faults_of(target, level)

        objects = [(file, file.name[:2]) for file in sorted((build / OBJECTS).glob("v[34]_*.o"))]
        results = [*pool.map(lambda job: faults_of(*job), objects), *pool.map(made, by_other_compiler(build, pathlib.Path(folder)))]
    faults = [fault for found, _ in results for fault in found]
    print("\n".join(faults))
    print(f"{sum(seen for _, seen in results)} kernels looked at, {len(faults)} faults")
    return 1 if faults or not results else 0


if __name__ == "__main__":
    sys.exit(main())
