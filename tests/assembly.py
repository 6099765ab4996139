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

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "src/ops/host_kernels.txt"
OBJECTS = "CMakeFiles/axisloom_objects.dir/host_kernels"
REGISTER = {"v3": "%ymm", "v4": "%zmm"}
ON_STACK = r"^vmov.*(%[xyz]mm.*\((%rsp|%rbp)|\((%rsp|%rbp).*%[xyz]mm)"
MULTIPLY_ADD = r"vfn?m(add|sub)\S* "
ADD = r"v(p?add|sub)\S* "
GREATER = r"vp?max\S* "
TWO_SUM = r"v(add|sub|fn?madd)\S* "  # seven: four by the units that add, three by those that multiply

# Kernels, and how many of which instructions on whole registers the inner loop with most of them has at least, at v3 and v4.
# Products have none on less than that there, and no vector of theirs goes by way of the stack.
LOOPS = [
    (r"matmul_(packed|direct)_\w*_COMPLEX_0_\w*_REAL_F(32_1|64_1)", MULTIPLY_ADD, {"v3": 12, "v4": 24}),
    (r"matmul_gemv_cpu_\w*_REAL_F(32_1|64_1)", MULTIPLY_ADD, {"v3": 4, "v4": 4}),
    (r"reduce_rows_cpu_\w*_COMPENSATED_\w*_ELEMENT_PARTS_1_\w*_MAPPING_IDENTITY", TWO_SUM, {"v3": 56, "v4": 56}),
    (r"reduce_columns_cpu_\w*_COMPENSATED_\w*_ELEMENT_f32_\w*_ELEMENT_PARTS_1_\w*_MAPPING_IDENTITY", TWO_SUM, {"v3": 56, "v4": 28}),
    (r"reduce_rows_cpu_\w*_EXTREME_\w*_ELEMENT_(f32|f64|i8|i16|i32)_\w*_MAPPING_IDENTITY", GREATER, {"v3": 8, "v4": 4}),
    (r"reduce_columns_cpu_\w*_EXTREME_\w*_ELEMENT_(f32|f64|i8|i16|i32)_\w*_MAPPING_IDENTITY", GREATER, {"v3": 4, "v4": 4}),
    (r"reduce_rows_cpu_\w*_PLACE_\w*_ELEMENT_(f32|i8|i16|i32)_\w*_MAPPING_IDENTITY", GREATER, {"v3": 4, "v4": 4}),
    (r"reduce_rows_cpu_\w*_TOTAL_\w*_ELEMENT_u(8|16)_\w*_FORM_CAST_MAPPING_IDENTITY", ADD, {"v3": 24, "v4": 12}),
]
# Moves that store whole lines past the cache where they are told to.
STREAMS = [rf"rearrange_{kernel}_kernel_(?!\w*_ELEMENT_BYTES_16_)" for kernel in ("block", "slab", "rows_cpu", "runs", "interleave_cpu")]
GCC_ALONE = ("-fno-tree-loop-distribute-patterns", "-Wno-psabi", "-Werror", "-Wno-restrict")


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


def loop_faults(parts, level, operation, least):
    whole = rf"^{operation}.*{REGISTER[level]}"
    best = max((loop for part in parts for loop in inner_loops(part)), key=lambda loop: count(loop, whole), default=[])
    if count(best, whole) < least:
        yield f"at most {count(best, whole)} of '{operation}' on {REGISTER[level]} in an inner loop, want {least}"
    if operation == MULTIPLY_ADD and count(best, operation) > count(best, whole):
        yield f"'{operation}' on less than {REGISTER[level]} in the loop that has most of them"
    if operation == MULTIPLY_ADD and count(best, ON_STACK):
        yield f"{count(best, ON_STACK)} vectors go by way of the stack in the loop of {count(best, whole)} '{operation}'"


def faults_of(file, level):
    """What is wrong with an object's kernels, and how many were looked at."""
    found, faults, seen = functions(file), [], 0
    for name in [name for name in found if name.startswith(f"axl_{level}_")]:
        kernel = name.removeprefix(f"axl_{level}")
        # Helpers that were not inlined are members of the kernel's structure.
        parts = [function for other, function in found.items() if other == name or f"kernel{kernel}" in other]
        wanted = [(operation, levels[level]) for pattern, operation, levels in LOOPS if re.match("_" + pattern, kernel)]
        for operation, least in wanted:
            faults += [f"{name}: {fault}" for fault in loop_faults(parts, level, operation, least)]
        streams = any(re.match("_" + pattern, kernel) for pattern in STREAMS)
        if streams and not any(count([text for _, text in part], r"^vmovnt.*" + REGISTER[level]) for part in parts):
            faults.append(f"{name}: no store of {REGISTER[level]} past the cache")
        seen += bool(wanted or streams)
    return faults, seen


def by_other_compiler(build, folder):
    """Commands by which the other compiler makes a kernel of each kind: (level, object, commands)."""
    entries = json.loads((build / "compile_commands.json").read_text())
    flags = {}  # of a level, and of products or all else
    for entry in entries:
        if m := re.search(r"host_kernels/(v3|v4)_\w+\.cpp$", entry["file"]):
            words = [word for word in shlex.split(entry["command"]) if "ccache" not in word]
            flags[m[1], "-ffp-contract=fast" in words] = words
    ours = next(iter(flags.values()))[0]
    clang = "clang" in subprocess.run([ours, "--version"], capture_output=True, text=True).stdout
    other = shutil.which("g++" if clang else "clang++")
    for line in chosen() if other else []:
        for level in REGISTER:
            if line.split(" ", 1)[0] not in ("hot", level):
                continue
            place = folder / f"{level}_{abs(hash(line))}"
            place.with_suffix(".txt").write_text(line + "\n")
            words = [other, *(word for word in flags[level, line.endswith(" contract")][1:] if word not in GCC_ALONE), "-w"]
            words[words.index("-o") + 1], words[words.index("-c") + 1] = f"{place}.o", f"{place}.cpp"
            unit = [build / "axisloom_host_kernels", "unit", f"{place}.txt", "0", "1", level, f"{place}.cpp"]
            yield level, f"{place}.o", [unit, words]


def chosen():
    """Lines of the list of kernels, the first for each level that fits a row of the tables."""
    lines = [line for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    for pattern in [*(pattern for pattern, _, _ in LOOPS), *STREAMS]:
        for level in ("hot", *REGISTER):
            fitting = (line for line in lines if line.startswith(level + " ") and re.match(pattern, identifier(line)))
            yield from [line for line, _ in zip(fitting, range(1))]


def identifier(line):
    return re.sub(r"\W", "_", line.split(" ", 1)[1])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def made(job):
            level, target, commands = job
            for command in commands:
                subprocess.run(command, check=True, cwd=build)
            return faults_of(target, level)

        sources = {pathlib.Path(entry["file"]).name for entry in json.loads((build / "compile_commands.json").read_text())}
        objects = [(file, file.name[:2]) for file in sorted((build / OBJECTS).glob("v[34]_*.o")) if file.stem in sources]
        results = [*pool.map(lambda job: faults_of(*job), objects), *pool.map(made, by_other_compiler(build, pathlib.Path(folder)))]
    faults = [fault for found, _ in results for fault in found]
    print("\n".join(faults))
    print(f"{sum(seen for _, seen in results)} kernels looked at, {len(faults)} faults")
    return 1 if faults or not results else 0


if __name__ == "__main__":
    sys.exit(main())
