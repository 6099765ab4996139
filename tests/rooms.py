#!/usr/bin/env python3
"""Which room may know which: reads every #include and names those that break the table below. Usage: tests/rooms.py"""

import graphlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".cpp", ".hpp", ".h", ".kernel", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<(axisloom/[^>]+)>)', re.MULTILINE)
SEARCHED = ["", "src", "src/ops", "include"]  # where quoted names are looked up, after the file's own folder

# A room, and the rooms that it may include besides itself and what those may include. A file belongs to the longest name
# here that its path begins with, so a file that does more than its room, or less, is a room of its own.
ROOMS = {
    "include": [],
    "src/core": ["include"],
    "src/dialect": [],
    "src/device": ["src/core"],
    "src/device/opencl": ["src/device", "src/device/opencl/pocl.hpp"],
    "src/device/opencl/pocl.hpp": ["include"],  # what has to be known of PoCL by those who go round its faults
    "src/device/cuda": ["src/device"],
    "src/jit": ["src/device", "src/device/opencl/pocl.hpp"],
    "src/model": ["src/jit"],
    "src/planner": ["src/model"],
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
    "bench": ["harness"],
    "bench/tensor_peak.kernel": ["bench", "src/ops/nvidia"],
    # A peer asks the runtimes for their functions, and the operations how they describe a job.
    "bench/peers": ["bench", "src/device/opencl", "src/device/cuda", "src/ops/einsum"],
    "bench/bench.cpp": ["bench/peers"],
    "bench/sweep.cpp": ["bench/peers"],
    "bench/ladder": ["bench/peers"],
    "cli": ["bench/ladder"],
}


def room_of(path):
    room = max((room for room in ROOMS if path == room or path.startswith(room + "/")), key=len, default=None)
    return "src/ops/*" if room == "src/ops" and path.count("/") > 2 else room


def known_by_room():
    """Each room with all that it may include; a circle in the table is an error."""
    known = {}
    for room in graphlib.TopologicalSorter(ROOMS).static_order():
        known[room] = {room}.union(*(known[other] for other in ROOMS[room]))
    return known


def included(file, name):
    """The file of this project that an include names; the emulations of tests have names of kernels, and never win."""
    for folder in [file.parent, *(ROOT / folder for folder in SEARCHED)]:
        if (folder / name).is_file():
            return (folder / name).resolve().relative_to(ROOT).as_posix()
    return None


def main():
    known = known_by_room()
    faults = [f"the table names {room}, which is not there" for room in ROOMS if "*" not in room and not (ROOT / room).exists()]
    used, count = set(), 0
    for file in sorted(f for top in {room.split("/")[0] for room in ROOMS} for f in (ROOT / top).rglob("*")):
        if file.suffix not in SOURCES:
            continue
        path = file.relative_to(ROOT).as_posix()
        room = room_of(path)
        if room is None:
            faults.append(f"{path} belongs to no room")
            continue
        for quoted, public in INCLUDE.findall(file.read_text(encoding="utf-8")):
            target = included(file, quoted or public)
            if target is None:
                faults.append(f"{path} includes {quoted or public}, which is no file of this project")
                continue
            count += 1
            if quoted and file.suffix in {".cpp", ".hpp"} and not (ROOT / quoted).is_file() and not (ROOT / "src" / quoted).is_file():
                faults.append(f"{path} includes {quoted}: name it from the root of the project, or from src")
            used.add((room, room_of(target)))
            if room_of(target) not in known[room]:
                faults.append(f"{path} includes {target}: {room} may not know {room_of(target)}")
    for room, others in ROOMS.items():
        for other in others if "*" not in room else []:
            gained = known[other].difference(*(known[rest] for rest in others if rest != other))
            if not any((room, through) in used for through in gained):
                faults.append(f"the table lets {room} know {other}, for nothing")
    print("\n".join(faults) if faults else f"{count} includes, {len(ROOMS)} rooms")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
