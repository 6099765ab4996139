#!/usr/bin/env python3
"""Tries axisloom.torch.einsum on several NVIDIA cards of one host, and times it there beside one card.

Usage: torchrun --nproc-per-node N tools/try_products_on_cards.py [--json FILE] [--side LENGTH] [--profile] [--cpu]
Needs: axisloom to be importable, PyTorch with CUDA and NCCL.

First some products of whole numbers, exactly, against the product of the whole arrays by float64; also under
torch.compile, and their gradients. Then products of matrices of 16384 a side, of float32 and bfloat16, whose rows or
columns lie on the cards, beside the same product of whole matrices on one card by axisloom's own kernels. A time is
that of the slowest rank, the median of several runs in turns. What is not right is not timed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable
from typing import Any

# Multicast on NVLink needs rights that hosts do not always grant, and nothing here uses it.
os.environ.setdefault("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1")
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")

import torch
import torch.distributed as dist

import axisloom
import axisloom.torch as ours
from axisloom._cuts import parse_side
from axisloom.distributed import Product

# Pattern, and shapes for a unit of N ranks (N stands for their number).
CHECKED: list[tuple[str, list[tuple[Any, ...]]]] = [
    ("i@x k, k@x j -> i@x j", [("64N", "32N"), ("32N", 256)]),
    ("i k@x, k@x j -> i@x j", [("64N", "32N"), ("32N", 256)]),
    ("i k@x, k@x j -> i j", [(128, "256N"), ("256N", 128)]),
    ("b i@x k, b k@x j -> b i j@x", [(3, "33N", "20N"), (3, "20N", "10N")]),
    ("i@x k, j@x k -> i@x j", [("64N", 128), ("64N", 128)]),
    ("i k@x, k j -> i j +x", [(64, "32N"), ("32N", 96)]),
    ("i k +x, k j -> i@x j", [("64N", 64), (64, 96)]),
    ("b h@x q d, b h@x k d -> b h@x q k", [(2, "4N", 64, 32), (2, "4N", 64, 32)]),
]
PATTERNS = ("i@x k, k@x j -> i@x j", "i k@x, k@x j -> i@x j")
DTYPES = (torch.float32, torch.bfloat16)
TIMES = 5
CALLS = {torch.float32: 3, torch.bfloat16: 20}  # for a time, so that what comes before and behind is little of it


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="where the figures go")
    parser.add_argument("--side", type=int, default=16384, help="of the matrices that are timed")
    parser.add_argument("--profile", action="store_true", help="also say where the time of a call goes")
    parser.add_argument("--cpu", action="store_true", help="the checks alone, on the host, by gloo")
    given = parser.parse_args()
    if given.cpu:
        device = torch.device("cpu")
        dist.init_process_group("gloo")
    else:
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
        dist.init_process_group("nccl", device_id=device)
    name = "CPU" if given.cpu else torch.cuda.get_device_name()
    say(f"{dist.get_world_size()} x {name}, PyTorch {torch.__version__}")
    wrong = checks(device)
    figures: dict[str, Any] = {
        "device": name, "ranks": dist.get_world_size(), "torch": torch.__version__, "patterns": len(CHECKED),
        "wrong": wrong, "cases": [],
    }  # fmt: skip
    if not wrong and not given.cpu:
        for dtype in DTYPES:
            figures["cases"] += timed(given.side, dtype, device, given.profile)
    if given.json and dist.get_rank() == 0:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    dist.destroy_process_group()
    return 1 if wrong else 0


def say(text: str) -> None:
    if dist.get_rank() == 0:
        print(text, flush=True)


# Checks --------------------------------------------------------------------------------------------------------------


def checks(device: torch.device) -> list[str]:
    wrong = []
    for pattern, shapes in CHECKED:
        for dtype in DTYPES:
            for how in ("einsum", "workspace", *(["compiled"] if pattern in PATTERNS else [])):
                if not is_right(pattern, [whole_shape(shape) for shape in shapes], dtype, device, how):
                    wrong.append(f"{pattern}, {dtype}, {how}")
                    say(f"WRONG: {wrong[-1]}")
    say(f"{len(CHECKED)} patterns: {'all right' if not wrong else f'{len(wrong)} wrong'}")
    return wrong


def whole_shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    ranks = dist.get_world_size()
    return tuple(int(extent[:-1]) * ranks if isinstance(extent, str) else extent for extent in shape)


def is_right(pattern: str, shapes: list[tuple[int, ...]], dtype: torch.dtype, device: torch.device, how: str) -> bool:
    """Whole numbers, and sums that every dtype here holds exactly."""
    mesh, rank, ranks = f"x={dist.get_world_size()}", dist.get_rank(), dist.get_world_size()
    generator = torch.Generator(device).manual_seed(1)
    wholes = [torch.randint(-1, 2, shape, generator=generator, device=device) for shape in shapes]
    sides = pattern.partition("->")[0].split(",")
    locals_ = [local_part(x, side.strip(), rank).to(dtype) for x, side in zip(wholes, sides)]
    workspace = 1 << 12 if how == "workspace" else 256 << 20

    def call(*arrays: torch.Tensor) -> torch.Tensor:
        return ours.einsum(pattern, *arrays, mesh=mesh, shapes=shapes, workspace=workspace)

    if how == "compiled":
        call = torch.compile(call, fullgraph=True, backend="aot_eager")
    got = call(*[x.requires_grad_() for x in locals_])
    plain = ",".join(letters(side) for side in sides) + "->" + letters(pattern.partition("->")[2])
    # Where ranks hold addends, each has the whole as its own.
    sums = [x * ranks if "+x" in side else x for x, side in zip(wholes, sides)]
    wants = [x.double().requires_grad_() for x in sums]
    want = torch.einsum(plain, *wants)
    output = pattern.partition("->")[2].strip()
    right = torch.equal(summed(got, output), local_part(want, output, rank).to(dtype))
    # The result's gradient is 1 everywhere; of copies the gradients are added.
    grads = torch.autograd.grad(got.sum(), locals_)
    copies = ranks if "x" not in output else 1
    used = torch.autograd.grad(want.sum() * copies, wants)
    for grad, whole, side in zip(grads, used, sides):
        right = right and torch.equal(grad, local_part(whole, side.strip(), rank).to(dtype))
    verdict = torch.tensor(int(right), device=device)
    dist.all_reduce(verdict, dist.ReduceOp.MIN)
    return bool(verdict)


def letters(side: str) -> str:
    return "".join(dim.axes[0].name for dim in parse_side(side).dims)


def local_part(whole: torch.Tensor, side: str, rank: int) -> torch.Tensor:
    """Lengths here divide evenly."""
    dims = parse_side(side).dims
    for place, dim in enumerate(dims):
        if dim.over:
            whole = whole.chunk(dist.get_world_size(), place)[rank]
    return whole.contiguous()


def summed(local: torch.Tensor, output: str) -> torch.Tensor:
    if "+x" not in output:
        return local.detach()
    total = local.detach().clone()
    dist.all_reduce(total)
    return total


# Times ---------------------------------------------------------------------------------------------------------------


def timed(side: int, dtype: torch.dtype, device: torch.device, profile: bool) -> list[dict[str, Any]]:
    ranks, rank = dist.get_world_size(), dist.get_rank()
    generator = torch.Generator(device).manual_seed(3)
    a, b = (torch.randn(side, side, generator=generator, device=device).to(dtype) for _ in range(2))
    shapes = [(side, side)] * 2
    contestants: dict[str, Callable[[], torch.Tensor]] = {"one card": lambda: axisloom.einsum(a, b, "i k, k j -> i j")}
    whole = contestants["one card"]()
    rows = slice(side * rank // ranks, side * (rank + 1) // ranks)
    found, wrong = [], []
    for pattern in PATTERNS:
        parts = [local_part(x, text.strip(), rank) for x, text in zip((a, b), pattern.partition("->")[0].split(","))]

        def call(pattern: str = pattern, parts: list[torch.Tensor] = parts) -> torch.Tensor:
            return ours.einsum(pattern, *parts, mesh=f"x={ranks}", shapes=shapes)

        say(str(Product(pattern, f"x={ranks}", shapes, str(dtype)[6:])))
        error = (call().float() - whole[rows].float()).abs().max() / whole.float().abs().max()
        dist.all_reduce(error, dist.ReduceOp.MAX)
        if float(error) > (1e-5 if dtype is torch.float32 else 1e-2):
            wrong.append(pattern)
            say(f"WRONG, not timed: {pattern}, {float(error):.2g}")
        else:
            contestants[pattern] = call
    del whole
    seconds = median_seconds(contestants, device, CALLS[dtype])
    for name, time in seconds.items():
        share = seconds["one card"] / time / ranks
        found.append({"side": side, "dtype": str(dtype), "by": name, "seconds": time, "of_all_cards": share})
        say(f"{side} {str(dtype)[6:]:9s} {name:24s} {time * 1e3:9.3f} ms, {2 * side**3 / time / 1e12:7.1f} TFLOP/s, "
            f"{share * ranks:.2f} x one card, {share:.3f} of {ranks} cards")  # fmt: skip
    if profile and dtype is torch.bfloat16:
        for pattern in [name for name in contestants if name != "one card"]:
            show_profile(pattern, contestants[pattern])
    return [*found, *({"dtype": str(dtype), "by": name, "wrong": True} for name in wrong)]


def median_seconds(contestants: dict[str, Callable[[], Any]], device: torch.device, calls: int) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for call in contestants.values():
        call()
        call()
    for _ in range(TIMES):
        for name, call in contestants.items():
            seconds[name].append(one_time(call, device, calls))
    return {name: statistics.median(times) for name, times in seconds.items()}


def one_time(call: Callable[[], Any], device: torch.device, calls: int) -> float:
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    dist.barrier()
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    slowest = torch.tensor(begin.elapsed_time(end) / 1e3 / calls, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return float(slowest)


def show_profile(name: str, call: Callable[[], Any]) -> None:
    """What the card does in one call, in its order: start, length, stream, kernel."""
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.synchronize()
    dist.barrier()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        call()
        torch.cuda.synchronize()
    events = sorted((e for e in seen.events() if e.device_type.name == "CUDA"), key=lambda e: e.time_range.start)
    say(f"profile: {name}")
    for event in events:
        begin = event.time_range.start - events[0].time_range.start
        say(f"  {begin:9.1f} us {event.time_range.elapsed_us():8.1f} us  "
            f"stream {event.device_resource_id}  {event.name[:60]}")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
