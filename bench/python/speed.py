#!/usr/bin/env python3
"""Times the Python package against einops, NumPy and PyTorch: the same work, ours and theirs in turns, results compared in
the same run. Figures are ratios, above 1 where Axisloom is faster.

Usage: bench/python/speed.py [--device cuda] [--only TEXT] [--json FILE] [--large BYTES]
"""

import argparse
import json
import math
import platform
import statistics
import time

import axisloom
import einops
import numpy as np
import summary

ROUNDS = 9
SHORTEST = 2e-3  # seconds that a round takes at least, in which short calls repeat
PAUSE = 0.03  # PyTorch's threads wait awake for up to 14 ms after a call, and would take a processor from the next


def rounds_of(call, settle):
    """How often a call is repeated for a round. The first calls take longer: they plan, touch memory and wake threads."""
    repeats = 1
    while (seconds := once(call, repeats, settle) * repeats) < SHORTEST / 2:
        repeats *= 2
    return max(1, math.ceil(repeats * SHORTEST / seconds))


def once(call, repeats, settle):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    settle()
    return (time.perf_counter() - start) / repeats


def in_turns(calls, settle=lambda: None, pause=PAUSE):
    """The median seconds of each call."""
    repeats = [rounds_of(call, settle) for call in calls.values()]
    seconds = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for count, (name, call) in zip(repeats, calls.items()):
            time.sleep(pause)
            seconds[name].append(once(call, count, settle))
    return {name: statistics.median(values) for name, values in seconds.items()}


# ---- what is timed: title, shape, pattern, lengths, as functions of a number of bytes of floats


def side(elements, others):
    return max(1, round(elements / others))


def layouts(elements):
    """Changes of layout for about so many floats: title, shape, pattern, lengths."""
    hw = max(8, round(math.sqrt(elements / 64 / 4)) // 8 * 8)
    n = side(elements, 64 * hw * hw)
    edge = max(2, round(math.sqrt(elements)))
    sequence = side(elements, 512)
    return [
        ("NCHW to NHWC", (n, 64, hw, hw), "n c h w -> n h w c", {}),
        ("NHWC to NCHW", (n, hw, hw, 64), "n h w c -> n c h w", {}),
        ("patches of 8 x 8", (n * 16, hw, hw, 4), "n (h y) (w x) c -> n h w (y x c)", {"y": 8, "x": 8}),
        ("split of 8 heads", (1, sequence, 512), "b s (h d) -> b h s d", {"h": 8}),
        ("merge of 8 heads", (1, 8, sequence, 64), "b h s d -> b s (h d)", {}),
        ("transpose", (edge, edge), "h w -> w h", {}),
    ]


def random_floats(shape):
    return np.random.default_rng(1).standard_normal(shape, dtype=np.float32)


def layout_calls(case, torch):
    """Ours and the others', which make the same contiguous array."""
    _, shape, pattern, lengths = case
    array = random_floats(shape)
    calls = {
        "axisloom": lambda: axisloom.rearrange(array, pattern, **lengths),
        "einops+numpy": lambda: np.ascontiguousarray(einops.rearrange(array, pattern, **lengths)),
    }
    if torch:
        tensor = torch.from_numpy(array)
        calls["axisloom, torch"] = lambda: axisloom.rearrange(tensor, pattern, **lengths)
        calls["einops+torch"] = lambda: einops.rearrange(tensor, pattern, **lengths).contiguous()
    return calls


def sum_cases(elements):
    edge = max(2, round(math.sqrt(elements)))
    cube = max(2, round(elements ** (1 / 3)))
    return [
        ("sum of all", (elements,), None),
        ("sum of rows", (edge, edge), 1),
        ("sum of columns", (edge, edge), 0),
        ("sum of the middle axis", (cube, cube, cube), 1),
    ]


def sum_calls(case):
    _, shape, axis = case
    array = random_floats(shape)
    return {
        "axisloom": lambda: axisloom.sum(array, axis=axis),
        "numpy": lambda: array.sum(axis=axis),
    }


def out_calls():
    """A small pattern again and again, into an array that is there."""
    array = random_floats((8, 8, 8))
    out = np.empty((8, 8, 8), np.float32)

    def einops_out():
        out[...] = einops.rearrange(array, "a b c -> c a b")
        return out

    return {
        "axisloom": lambda: axisloom.rearrange(array, "a b c -> c a b", out=out),
        "einops+numpy": einops_out,
        "np.einsum": lambda: np.einsum("abc->cab", array, out=out),
    }


def small_torch_calls(torch, device):
    tensor = torch.from_numpy(random_floats((8, 8, 8))).to(device)
    return {
        "axisloom, torch": lambda: axisloom.rearrange(tensor, "a b c -> c a b"),
        "permute().contiguous()": lambda: tensor.permute(2, 0, 1).contiguous(),
    }


# ---- running


def as_numpy(result):
    return result.cpu().numpy() if hasattr(result, "cpu") else np.asarray(result)


def check(title, calls, exact=True):
    results = {name: as_numpy(call()).copy() for name, call in calls.items()}
    wanted = next(iter(results.values()))
    for name, result in results.items():
        # Sums in another order differ by less than n * eps of the sum of magnitudes, here taken for n**0.5 terms.
        same = np.array_equal(wanted, result) if exact else np.allclose(wanted, result, rtol=1e-3, atol=1e-2)
        if not same:
            raise SystemExit(f"{title}: {name} has another result")


def measure(records, kind, title, size, calls, exact=True, settle=lambda: None, pause=PAUSE):
    check(title, calls, exact)
    record(records, kind, title, size, in_turns(calls, settle, pause))


def record(records, kind, title, size, seconds):
    records.append({"kind": kind, "title": title, "bytes": size, "seconds": seconds})
    times = "  ".join(f"{name} {value * 1e6:.2f} us" for name, value in seconds.items())
    print(f"{kind:10} {title:24} {size:>12,} B  {times}", flush=True)


SIZES = [1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 25]


def on_host(records, arguments, torch):
    wanted = lambda kind: not arguments.only or arguments.only in kind
    if wanted("call"):
        measure(records, "call", "8 x 8 x 8, out=", 2048, out_calls())
        if torch:
            measure(records, "call", "8 x 8 x 8", 2048, small_torch_calls(torch, "cpu"))
    for size in SIZES + [arguments.large]:
        if wanted("layout"):
            for case in layouts(size // 4):
                measure(records, "layout", case[0], math.prod(case[1]) * 4, layout_calls(case, torch))
        if wanted("sum"):
            for case in sum_cases(size // 4):
                measure(records, "sum", case[0], math.prod(case[1]) * 4, sum_calls(case), exact=False)


CAPTURED = 20  # calls in a graph, which takes some microseconds to start


def captured(call, torch):
    """So many calls as a graph: what the card takes, without what the host does for each."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CAPTURED):
            call()
    return graph.replay


def tensor_calls(tensor, pattern, lengths):
    return {
        "axisloom, torch": lambda: axisloom.rearrange(tensor, pattern, **lengths),
        "einops+torch": lambda: einops.rearrange(tensor, pattern, **lengths).contiguous(),
    }


def on_card(records, arguments, torch):
    settle = torch.cuda.synchronize
    measure(records, "call", "8 x 8 x 8", 2048, small_torch_calls(torch, "cuda"), settle=settle, pause=0)
    for dtype in (torch.float32, torch.float16):
        for size in (1 << 20, 1 << 24, 1 << 28):
            for title, shape, pattern, lengths in layouts(size // dtype.itemsize):
                tensor = torch.from_numpy(random_floats(shape)).cuda().to(dtype)
                calls = tensor_calls(tensor, pattern, lengths)
                title = f"{title}, {str(dtype).removeprefix('torch.')}"
                measure(records, "layout", title, tensor.nbytes, calls, settle=settle, pause=0)
                graphs = {name: captured(call, torch) for name, call in calls.items()}
                seconds = in_turns(graphs, settle, 0)
                record(records, "graph", title, tensor.nbytes, {name: s / CAPTURED for name, s in seconds.items()})
                del graphs  # with the memory of its results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["host", "cuda"], default="host")
    parser.add_argument("--only", help="call, layout or sum")
    parser.add_argument("--json")
    parser.add_argument("--large", type=int, default=200_000_000, help="bytes of the largest arrays")
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        torch = None
    records = []
    (on_card if arguments.device == "cuda" else on_host)(records, arguments, torch)
    print(summary.table(records))
    if arguments.json:
        versions = {"python": platform.python_version(), "numpy": np.__version__, "einops": einops.__version__,
                    "torch": torch.__version__ if torch else None, "axisloom": axisloom.__version__}
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"machine": axisloom.devices()[0 if arguments.device == "cuda" else -1]["name"], "versions": versions, "records": records}, file, indent=1)


if __name__ == "__main__":
    main()
