#!/usr/bin/env python3
"""Times axisloom.dask against what users of Dask write, on a cluster of two workers: reshape and transpose as Dask
rechunks for them (dask), and after a rechunk of their own with method="p2p" (p2p).

All run in turns, on arrays that lie in the workers' memory; the results are compared in the same run. Axisloom's blocks
are contiguous, and so are made the others': of a transpose alone Dask makes views, which take no time until something
reads them. Figures of the others are ratios, of time and of the larger worker's memory at its peak: above 1 where
Axisloom takes less.

Usage: bench/python/dask_speed.py [--bytes BYTES] [--rounds N] [--only TEXT] [--json FILE]
"""

import argparse
import json
import logging
import os
import statistics
import tempfile
import time

import dask
import dask.array as da
import distributed
import numpy as np

import axisloom
import axisloom.dask


def cases(elements):
    """For about so many floats: title, shape, chunks, pattern, lengths, what users write with and without p2p."""
    steps = max(16, elements // (480 * 640) // 16 * 16)
    shape, chunks, within = (steps, 480, 640), (steps // 16, 240, 640), (steps // 16, 100, 640)
    eight = {"y": 8, "x": 8}
    return [
        ("turn", shape, chunks, "t h w -> h w t", {}, turned, None),
        ("patches, cuts between them", shape, chunks, "t (h y) (w x) -> t h w (y x)", eight, patches, patches_by_p2p),
        ("patches, cuts within them", shape, within, "t (h y) (w x) -> t h w (y x)", eight, patches, patches_by_p2p),
        ("pixels below each other", shape, chunks, "t h w -> (h w) t", {}, pixels, pixels_by_p2p),
        ("frames below each other", shape, chunks, "t h w -> (t h) w", {}, frames, frames_by_p2p),
        ("parts beside each other", shape, chunks, "(a t) h w -> (a h) t w", {"a": 16}, parts, parts_by_p2p),
    ]


def turned(x, lengths):
    return x.transpose(1, 2, 0)


def patches(x, lengths):
    t, h, w = x.shape
    side = lengths["y"]
    split = x.reshape(t, h // side, side, w // side, side)
    return split.transpose(0, 1, 3, 2, 4).reshape(t, h // side, w // side, side * side)


def patches_by_p2p(x, lengths):
    side = lengths["y"]
    return patches(x.rechunk({1: x.chunks[1][0] // side * side}, method="p2p"), lengths)


def pixels(x, lengths):
    t, h, w = x.shape
    return x.transpose(1, 2, 0).reshape(h * w, t)


def pixels_by_p2p(x, lengths):
    """Chunks of all steps, which Axisloom does not need for this pattern."""
    t, _, w = x.shape
    rows = max(1, x.chunks[0][0] * x.chunks[1][0] // t)
    return pixels(x.rechunk((t, rows, w), method="p2p"), lengths)


def frames(x, lengths):
    t, h, w = x.shape
    return x.reshape(t * h, w)


def frames_by_p2p(x, lengths):
    _, h, w = x.shape
    whole = max(1, x.chunks[0][0] * x.chunks[1][0] // h)
    return frames(x.rechunk((whole, h, w), method="p2p"), lengths)


def parts(x, lengths):
    a = lengths["a"]
    t, h, w = x.shape
    return x.reshape(a, t // a, h, w).transpose(0, 2, 1, 3).reshape(a * h, t // a, w)


def parts_by_p2p(x, lengths):
    t, h, w = x.shape
    return parts(x.rechunk((t // lengths["a"], h, w), method="p2p"), lengths)


def contiguous(x):
    return x.map_blocks(np.ascontiguousarray, dtype=x.dtype, meta=x._meta)


# ---- memory of the workers, by the high-water mark that Linux keeps


def forget_peak():
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def peak():
    """Bytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        (line,) = [line for line in file if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def measured(client, make):
    """Seconds until the result lies in the workers' memory, the largest peak of a worker, and the result."""
    client.run(forget_peak)
    start = time.perf_counter()
    result = make().persist()
    distributed.wait(result)
    return time.perf_counter() - start, max(client.run(peak).values()), result


def compared(client, case, rounds):
    title, shape, chunks, pattern, lengths, plain, by_p2p = case
    lazy = da.random.default_rng(1).standard_normal(shape, dtype=np.float32, chunks=chunks).persist()
    expected = axisloom.rearrange(lazy.compute(), pattern, **lengths)
    contestants = {
        "axisloom": lambda: axisloom.dask.rearrange(lazy, pattern, **lengths),
        "dask": lambda: contiguous(plain(lazy, lengths)),
    }
    if by_p2p is not None:
        contestants["p2p"] = lambda: contiguous(by_p2p(lazy, lengths))
    seconds, peaks = ({name: [] for name in contestants} for _ in range(2))
    for turn in range(rounds + 1):
        for name in list(contestants)[:: -1 if turn % 2 else 1]:
            took, most, result = measured(client, contestants[name])
            if turn:
                seconds[name].append(took)
                peaks[name].append(most)
            elif not np.array_equal(result.compute(), expected):  # in the first turn, which warms up
                raise SystemExit(f"{title}: the result of {name} is wrong")
            del result
    return {
        "case": title,
        "pattern": pattern,
        "shape": shape,
        "chunks": chunks,
        "seconds": {name: statistics.median(values) for name, values in seconds.items()},
        "peak_bytes": {name: statistics.median(values) for name, values in peaks.items()},
    }


def row(result):
    """A line of the table: seconds, and how many times as long and as much memory the others take."""
    seconds, peaks = result["seconds"], result["peak_bytes"]
    cells = [f"{result['case']:28} {seconds['axisloom']:8.3f}"]
    for name in ("dask", "p2p"):
        if name in seconds:
            cells.append(f"{seconds[name] / seconds['axisloom']:9.2f} {peaks[name] / peaks['axisloom']:7.2f}")
    return " ".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bytes", type=int, default=256 << 20, help="of each array (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="cases whose title has this text")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    results = []
    with (
        tempfile.TemporaryDirectory() as folder,
        dask.config.set({"temporary-directory": folder}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        print(f"dask {dask.__version__}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the beginning")
        print(f"{'case':28} {'seconds':>8} {'dask':>9} {'memory':>7} {'p2p':>9} {'memory':>7}")
        for case in cases(options.bytes // 4):
            if options.only in case[0]:
                results.append(compared(client, case, options.rounds))
                print(row(results[-1]), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"dask": dask.__version__, "bytes": options.bytes, "cases": results}, file, indent=1)


if __name__ == "__main__":
    main()
