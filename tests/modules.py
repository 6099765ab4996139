#!/usr/bin/env python3
"""Which module may know which: reads every #include and names those that break the table below. Usage: tests/modules.py"""

import graphlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".cpp", ".hpp", ".h", ".kernel", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<(axisloom/[^>]+)>)', re.MULTILINE)
SEARCHED = ["", "src", "src/ops", "include", "mpi/include"]  # where quoted names are looked up, after the file's own folder

# A module, and the modules that it may include besides itself and what those may include. A file belongs to the longest name
# here that its path begins with, so a file that does more than its module, or less, is a module of its own.
MODULES = {
    "include": [],
    "src/core": ["include"],
    "src/dialect": [],
    "src/device": ["src/core"],
    "src/device/opencl": ["src/device", "src/device/opencl/pocl.hpp"],
    "src/device/opencl/pocl.hpp": ["include"],  # what has to be known of PoCL by those who go round its faults
    "src/device/cuda": ["src/device"],
    "src/device/host": ["src/device"],
    "src/jit": ["src/device", "src/device/opencl/pocl.hpp"],
    "src/model": ["src/jit"],
    "src/planner": ["src/model"],
    "src/c": ["src/core"],
    "src/distributed": ["src/device"],
    "src/distributed/cards": ["src/distributed", "src/device/cuda", "src/jit"],
    "src/distributed/exchange": ["src/distributed/cards"],
    "mpi": ["include"],
    "src/ops": ["src/planner"],
    "src/ops/nvidia": ["src/device"],  # what the variants for NVIDIA's cards share
    "src/ops/rearrange": ["src/ops"],
    "src/ops/reduce": ["src/ops"],
    "src/ops/matmul": ["src/ops", "src/ops/nvidia"],
    "src/ops/einsum": ["src/ops/matmul"],
    "src/ops/lessons": ["src/ops/rearrange", "src/ops/reduce", "src/ops/matmul"],  # what ladders teach with
    "src/ops/*": ["src/ops/rearrange"],  # a new operation, before it has a line of its own
    "src/io": ["src/core"],
    "harness": ["src/ops", "src/io"],
    "bench": ["harness", "src/device/host"],
    "bench/tensor_peak.kernel": ["bench", "src/ops/nvidia"],
    # A peer asks the runtimes for their functions, and the operations how they describe a job.
    "bench/peers": ["bench", "src/device/opencl", "src/device/cuda", "src/ops/einsum"],
    "bench/bench.cpp": ["bench/peers"],
    "bench/sweep.cpp": ["bench/peers"],
    "bench/ladder": ["bench/peers"],
    "cli": ["bench/ladder", "mpi"],
}


def module_of(path):
    module = max((module for module in MODULES if path == module or path.startswith(module + "/")), key=len, default=None)
    return "src/ops/*" if module == "src/ops" and path.count("/") > 2 else module


def known_by_module():
    """Each module with all that it may include; a circle in the table is an error."""
    known = {}
    for module in graphlib.TopologicalSorter(MODULES).static_order():
        known[module] = {module}.union(*(known[other] for other in MODULES[module]))
    return known


def included(file, name):
    """The file of this project that an include names; the emulations of tests have names of kernels, and never win."""
    for folder in [file.parent, *(ROOT / folder for folder in SEARCHED)]:
        if (folder / name).is_file():
            return (folder / name).resolve().relative_to(ROOT).as_posix()
    return None


def main():
    known = known_by_module()
    faults = [f"the table names {module}, which is not there" for module in MODULES if "*" not in module and not (ROOT / module).exists()]
    used, count = set(), 0
    for file in sorted(f for top in {module.split("/")[0] for module in MODULES} for f in (ROOT / top).rglob("*")):
        if file.suffix not in SOURCES:
            continue
        path = file.relative_to(ROOT).as_posix()
        module = module_of(path)
        if module is None:
            faults.append(f"{path} belongs to no module")
            continue
        for quoted, public in INCLUDE.findall(file.read_text(encoding="utf-8")):
            target = included(file, quoted or public)
            if target is None:
                faults.append(f"{path} includes {quoted or public}, which is no file of this project")
                continue
            count += 1
            if quoted and file.suffix in {".cpp", ".hpp"} and not (ROOT / quoted).is_file() and not (ROOT / "src" / quoted).is_file():
                faults.append(f"{path} includes {quoted}: name it from the root of the project, or from src")
            used.add((module, module_of(target)))
            if module_of(target) not in known[module]:
                faults.append(f"{path} includes {target}: {module} may not know {module_of(target)}")
    for module, others in MODULES.items():
        for other in others if "*" not in module else []:
            gained = known[other].difference(*(known[rest] for rest in others if rest != other))
            if not any((module, through) in used for through in gained):
                faults.append(f"the table lets {module} know {other}, for nothing")
    print("\n".join(faults) if faults else f"{count} includes, {len(MODULES)} modules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
