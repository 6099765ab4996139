#!/usr/bin/env python3
"""What rearranging distributed arrays asks of each rank, by the planner's own lists: bytes, messages, and the time to plan them.

Usage: bench/python/scale.py --json FILE     plans for 8 to 1,024 ranks
       bench/python/scale.py --table FILE    what it, dask_speed.py, tools/try_distributed_on_cards.py or
                                             tools/measure_mpi.sh wrote, as a table in Markdown
"""

import argparse
import json
import pathlib
import statistics
import time

MESHES = [(8, 2), (64, 8), (512, 16), (1024, 32)]  # ranks, and how many of them the slower axis of a grid has
CASES = [  # title, pattern over x or over the grid x and y, shape, lengths, bytes of an element
    ("attention, sequence to heads, 2 bytes", "b s@x h d -> b s h@x d", (1, 131072, 1024, 64), {}, 2),
    ("matrix transposed, rows, 4 bytes", "i@x j -> j@x i", (65536, 65536), {}, 4),
    ("matrix transposed, blocks, 4 bytes", "i@x j@y -> j@x i@y", (65536, 65536), {}, 4),
    ("rows to blocks of 64 dealt in turn, 4 bytes", "i@(x y) j -> i@x:64 j@y:64", (65536, 65536), {}, 4),
    ("pixels cut anywhere, transposed, 4 bytes", "(h w)@x c -> (w h)@x c", (3001 * 4001, 64), {"h": 3001}, 4),
    ("all ranks get all, 4 bytes", "s@x h -> s h", (16384, 16384), {}, 4),
]
ASKED = 5  # ranks whose time is taken, spread evenly


def plan(pattern, ranks, rows, shape, lengths):
    from axisloom._native import Redistribution

    mesh = f"x={rows} y={ranks // rows}" if any(cut in pattern for cut in ("@y", " y)")) else f"x={ranks}"
    return Redistribution(pattern, mesh, shape, lengths)


def measured(case):
    title, pattern, shape, lengths, element = case
    for ranks, rows in MESHES:
        seconds = []
        for rank in range(0, ranks, max(1, ranks // ASKED)):
            start = time.perf_counter()
            made = plan(pattern, ranks, rows, shape, lengths)
            made.packs(rank)
            made.unpacks(rank)
            made.kept(rank)
            seconds.append(time.perf_counter() - start)
        sent, received, messages_sent, messages_received = made.largest_load(element)
        yield {"title": title, "pattern": pattern, "shape": shape, "ranks": ranks, "sent": sent, "received": received,
               "messages_sent": messages_sent, "messages_received": messages_received,
               "plan_seconds": statistics.median(seconds)}


def table(records):
    """A line for each case and number of ranks."""
    lines = ["| work | ranks | MiB sent | MiB received | messages sent | received | planned in ms |", "|---|---|---|---|---|---|---|"]
    for case in records:
        lines.append(f"| {case['title']}: `{case['pattern']}` | {case['ranks']} | {case['sent'] / 2**20:.1f} | {case['received'] / 2**20:.1f} | "
                     f"{case['messages_sent']} | {case['messages_received']} | {case['plan_seconds'] * 1e3:.2g} |")
    return "\n".join(lines)


TORCH = "permute, all_to_all_single, permute"
OURS = ("staged", "direct", "direct into out")


def cards_table(document):
    """A line for each size: microseconds, share of the bound, and how many times as long PyTorch takes."""
    found = {(case["mib"], case["dtype"], case["by"]): case for case in document["cases"] if "seconds" in case}
    ways = OURS + tuple(dict.fromkeys(by for _, _, by in found if by.startswith("flashinfer")))
    lines = [f"| a card, {document['ranks']} cards | PyTorch, us | " + " | ".join(ways) + " |", "|---|---|" + "---|" * len(ways)]
    for graph in ("", ", in a graph"):
        for mib, dtype in dict.fromkeys((mib, dtype) for mib, dtype, by in found if by == TORCH + graph):
            torch = found[mib, dtype, TORCH + graph]["seconds"]
            cells = []
            for name in ways:
                case = found.get((mib, dtype, name + graph))
                cells.append("" if case is None else f"{case['seconds'] * 1e6:.0f} us, {case['share_of_bound']:.2f}, {torch / case['seconds']:.2f} x")
            lines.append(f"| {mib} MiB, {dtype.removeprefix('torch.')}{graph} | {torch * 1e6:.0f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def ranks_table(document):
    """A line for each pattern over MPI: milliseconds, and the share of what a copy of the same bytes reaches."""
    lines = ["| over MPI, 4 ranks on 2 processors | memcpy, ms | direct | windows | messages | ScaLAPACK |", "|---|---|---|---|---|---|"]
    for case in document["cases"]:
        ways = {name: way for name, way in case.items() if isinstance(way, dict)}
        others = [ways[name] for name in ("direct", "windows", "messages")]
        others += [way for name, way in ways.items() if name in ("pdtran", "pdgemr2d")]
        cells = [f"{way['seconds'] * 1e3:.1f} ms, {way['share_of_memcpy']:.2f}" for way in others]
        lines.append(f"| `{case['pattern']}` over `{case['mesh']}` | {ways['memcpy']['seconds'] * 1e3:.1f} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def nccl_table(document):
    """A line for each size on each card, from C++: microseconds, and the share of the bound."""
    ways = ("messages", "windows", "shared")
    lines = [f"| a card, {document['ranks']} cards | NCCL alone | " + " | ".join(ways) + " |", "|---|---|" + "---|" * len(ways)]
    found = {(case["mib"], case["dtype"], case["way"]): case for case in document["cases"]}
    for mib, dtype in dict.fromkeys((mib, dtype) for mib, dtype, way in found):
        cases = [found[mib, dtype, way] for way in ways]
        alone = statistics.median(case["microseconds_of_nccl_alone"] for case in cases)
        bound = cases[0]["microseconds"] * cases[0]["share_of_bound"]
        cells = [f"{alone:.0f} us, {bound / alone:.2f}"]
        cells += [f"{case['microseconds']:.0f} us, {case['share_of_bound']:.2f}" for case in cases]
        lines.append(f"| {mib} MiB, {dtype} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def dask_table(document):
    """A line for each pattern: how many times as long, and as much memory, what users of Dask write takes."""
    lines = ["| blocks of | pattern | Dask: time | memory | `p2p` first: time | memory |", "|---|---|---|---|---|---|"]
    for case in document["cases"]:
        times, peaks = ([f"{of[name] / of['axisloom']:.2f}" if name in of else "" for name in ("dask", "p2p")]
                        for of in (case["seconds"], case["peak_bytes"]))
        cells = [" x ".join(map(str, case["chunks"])), f"`{case['pattern']}`", times[0], peaks[0], times[1], peaks[1]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_of(document):
    if "records" in document:
        return table(document["records"])
    if "dask" in document:
        return dask_table(document)
    if "nccl" in document:
        return nccl_table(document)
    return ranks_table(document) if "processors" in document else cards_table(document)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    parser.add_argument("--table")
    arguments = parser.parse_args()
    if arguments.table:
        document = json.loads(pathlib.Path(arguments.table).read_text(encoding="utf-8"))
        print(table_of(document))
        return
    records = [record for case in CASES for record in measured(case)]
    print(table(records))
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"records": records}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
