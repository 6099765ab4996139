#!/usr/bin/env python3
"""Tries axisloom.torch on several NVIDIA cards of one host, and times it there.

Usage: torchrun --nproc-per-node N tools/try_distributed_on_cards.py [--json FILE] [--sizes MIB,...] [--cpu]
Needs: axisloom and einops to be importable, PyTorch with CUDA and NCCL; flashinfer is a peer where it is installed.

First a dozen patterns, by every path, bit for bit against torch's own: all parts gathered, rearranged by einops,
sliced. Then the link: every rank writes to the rank `shift` further, all at once, so each link is used both ways. Then
"b s@x h d -> b s h@x d", as sequence parallelism has it, beside permute, all_to_all_single, permute. A time is that of
the slowest rank; its bound is the largest number of bytes that a rank sends or receives, over the slowest link. What
is not right to the last bit is not timed.
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

import einops
import torch
import torch.distributed as dist

import axisloom.torch as ours
from axisloom.distributed import Redistribution
from axisloom.torch import _symmetric

# Pattern, whole shape for a unit of N ranks (N stands for their number), lengths.
PATTERNS: list[tuple[str, tuple[Any, ...], dict[str, int]]] = [
    ("b s@x h d -> b s h@x d", (2, "16N", "4N", 32), {}),
    ("b s h@x d -> b s@x h d", (2, "16N", "4N", 32), {}),
    ("m@x n -> n@x m", ("64N", "48N"), {}),
    ("m@x n -> n m", ("64N", 48), {}),
    ("m n -> n@x m", (64, "48N"), {}),
    ("(a b)@x c -> b@x (c a)", ("8N", 33), {"a": 2}),
    ("h@x w c -> c (h w)@x", ("16N", 24, 3), {}),
    ("s@x d -> s@x:4 d", ("16N", 64), {}),
    ("s@x:2 d -> d s@x", ("16N", 64), {}),
    ("a@x b -> a b r@x", ("4N", 40), {"r": 8}),
    ("m n +x -> n@x m", (64, "16N"), {}),
    ("m n +x -> n m", (64, 48), {}),
]
DTYPES = (torch.float32, torch.bfloat16)
SHORT_MIB = 64  # up to there, calls are also timed in CUDA graphs
TIMES, CALLS = 7, 30  # a time is the median of 7 runs of 30 calls


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="where the figures go")
    parser.add_argument("--sizes", default="1,16,64,256,1024", help="MiB on each card")
    parser.add_argument("--cpu", action="store_true", help="the patterns alone, on the host, by gloo")
    given = parser.parse_args()
    device = start(given.cpu)
    name = "CPU" if given.cpu else torch.cuda.get_device_name()
    direct = _symmetric.reaches(dist.group.WORLD, device)
    paths = "direct and staged" if direct else "staged only: the ranks do not reach each other's memory"
    say(f"{dist.get_world_size()} x {name}, PyTorch {torch.__version__}, {paths}")
    wrong = checks(direct, device)
    figures: dict[str, Any] = {
        "device": name,
        "ranks": dist.get_world_size(),
        "torch": torch.__version__,
        "direct": direct,
        "patterns": len(PATTERNS),
        "wrong": wrong,
    }
    if not wrong and not given.cpu:
        figures["link_bytes_per_second"] = links(device) if direct else {}
        sizes = [int(size) for size in given.sizes.split(",")]
        figures["cases"] = [case for size in sizes for dtype in DTYPES for case in timed(size, dtype, device, figures)]
    if given.json and dist.get_rank() == 0:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    dist.destroy_process_group()
    return 1 if wrong else 0


def start(cpu: bool) -> torch.device:
    if cpu:
        dist.init_process_group("gloo")
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    return device


def say(text: str) -> None:
    if dist.get_rank() == 0:
        print(text, flush=True)


# Checks --------------------------------------------------------------------------------------------------------------


def checks(direct: bool, device: torch.device) -> list[str]:
    """The patterns and paths whose result is not right to the last bit on some rank."""
    wrong = []
    for pattern, shape, lengths in PATTERNS:
        for dtype in DTYPES:
            for path in ("staged", "direct") if direct else ("staged",):
                if not is_right(pattern, whole_shape(shape), lengths, dtype, path, device):
                    wrong.append(f"{pattern}, {dtype}, {path}")
                    say(f"WRONG: {wrong[-1]}")
    say(f"{len(PATTERNS)} patterns: {'all right' if not wrong else f'{len(wrong)} wrong'}")
    return wrong


def whole_shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    ranks = dist.get_world_size()
    return tuple(int(extent[:-1]) * ranks if isinstance(extent, str) else extent for extent in shape)


def is_right(
    pattern: str, shape: tuple[int, ...], lengths: dict[str, int], dtype: torch.dtype, path: str, device: torch.device
) -> bool:
    mesh, rank = f"x={dist.get_world_size()}", dist.get_rank()
    plan = Redistribution(pattern, mesh, shape, **lengths)
    parted = "x" in pattern.partition("->")[0]
    generator = torch.Generator(device).manual_seed(rank if parted else 0)
    # Small whole numbers, so that sums have the same bits in any order.
    x = torch.randint(-8, 8, plan.local_in_shape(rank), generator=generator, device=device).to(dtype)
    want = by_torch(x, pattern, shape, lengths, rank)
    got = ours.rearrange(x, pattern, mesh=mesh, shape=shape, path=path, **lengths)
    right = got.dtype is want.dtype and torch.equal(got, want)
    if path == "direct":
        out = ours.symmetric_empty(*plan.local_out_shape(rank), dtype=dtype, device=device)
        ours.rearrange(x, pattern, mesh=mesh, shape=shape, out=out, path=path, **lengths)
        right = right and torch.equal(out, want)
    return on_all(right, device)


def on_all(right: bool, device: torch.device) -> bool:
    verdict = torch.tensor(int(right), device=device)
    dist.all_reduce(verdict, dist.ReduceOp.MIN)
    return bool(verdict)


def by_torch(
    x: torch.Tensor, pattern: str, shape: tuple[int, ...], lengths: dict[str, int], rank: int
) -> torch.Tensor:
    """This rank's part by gathering every rank's, without a plan: how the parts lie is spelled out here."""
    ranks = dist.get_world_size()
    gathered = x.new_empty((ranks * x.shape[0], *x.shape[1:]))
    dist.all_gather_into_tensor(gathered, x.contiguous())
    parts = gathered.view(ranks, *x.shape)
    left, right = pattern.split(" -> ")
    if "+x" in left:
        whole = parts.sum(0, dtype=x.dtype)
    elif "@x" not in left:
        whole = parts[0]
    else:
        whole = joined(parts, left, shape)
    plain = einops.repeat(whole, f"{uncut(left)} -> {uncut(right)}", **lengths)
    return sliced(plain, right, rank, ranks).contiguous()


def uncut(side: str) -> str:
    for text in (" +x", "@x:2", "@x:4", "@x"):
        side = side.replace(text, "")
    return side


def cut_axis(side: str) -> tuple[int, int]:
    """Which axis of the array is cut, and the length of blocks, 0 for one part each."""
    axes, depth, at = [""], 0, 0
    for sign in side:
        depth += (sign == "(") - (sign == ")")
        if sign == " " and depth == 0:
            axes.append("")
        else:
            axes[-1] += sign
    at = next(place for place, axis in enumerate(axes) if "@x" in axis)
    return at, int(axes[at].partition(":")[2] or 0)


def joined(parts: torch.Tensor, left: str, shape: tuple[int, ...]) -> torch.Tensor:
    axis, block = cut_axis(left)
    if not block:
        return torch.cat(list(parts), axis).reshape(shape)
    split = [part.unflatten(axis, (-1, block)) for part in parts]
    return torch.stack(split, axis + 1).reshape(shape)


def sliced(whole: torch.Tensor, right: str, rank: int, ranks: int) -> torch.Tensor:
    if "@x" not in right:
        return whole
    axis, block = cut_axis(right)
    if not block:
        return whole.chunk(ranks, axis)[rank]
    return whole.unflatten(axis, (-1, ranks, block)).select(axis + 1, rank).flatten(axis, axis + 1)


# Times ---------------------------------------------------------------------------------------------------------------


def median_seconds(contestants: dict[str, Callable[[], Any]], device: torch.device) -> dict[str, float]:
    """Of a call, on the slowest rank. Contestants take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for call in contestants.values():
        call()
        call()
    for _ in range(TIMES):
        for name, call in contestants.items():
            seconds[name].append(one_time(call, device))
    return {name: statistics.median(times) for name, times in seconds.items()}


class Captured:
    """All calls of a run in one graph: what the cards take, without what the host does for each call."""

    def __init__(self, call: Callable[[], Any]) -> None:
        call()
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for _ in range(CALLS):
                self.result = call()

    def __call__(self) -> Any:
        self.graph.replay()
        return self.result


def one_time(call: Callable[[], Any], device: torch.device) -> float:
    """From the end of a call on, since that comes at the same time on all cards, while hosts leave a barrier apart."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    dist.barrier()
    call()
    begin.record()
    for _ in range(1 if isinstance(call, Captured) else CALLS):
        call()
    end.record()
    end.synchronize()
    slowest = torch.tensor(begin.elapsed_time(end) / 1e3 / CALLS, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    return float(slowest)


def links(device: torch.device) -> dict[str, float]:
    """Bytes a second that every rank writes to the rank so much further, while another writes to it."""
    rank, ranks, size = dist.get_rank(), dist.get_world_size(), 512 << 20
    memory = _symmetric._symmetric()
    buffer = memory.empty(size, dtype=torch.uint8, device=device)
    handle = memory.rendezvous(buffer, dist.group.WORLD)
    source = torch.empty(size, dtype=torch.uint8, device=device)
    found = {}
    for shift in range(1, ranks):
        target = handle.get_buffer((rank + shift) % ranks, (size,), torch.uint8, 0)
        seconds = median_seconds({"copy": lambda target=target: target.copy_(source)}, device)["copy"]
        found[f"shift {shift}"] = size / seconds
        say(f"link, shift {shift}: {size / seconds / 1e9:.1f} GB/s each way")
    return found


def flashinfer_communicator(x: torch.Tensor) -> Any:
    """flashinfer's own exchange of such tensors, where it is installed: all ranks make it, and close it, together."""
    try:
        from flashinfer.comm import UlyssesCommunicator
    except ImportError:
        return None
    try:  # by its own kernel; left to choose, it takes NCCL wherever it is not sure of the link
        return UlyssesCommunicator(max_elems=x.numel(), dtype=x.dtype, backend="nvlink")
    except RuntimeError as error:
        say(f"flashinfer goes by NCCL: {error}")
        return UlyssesCommunicator(max_elems=x.numel(), dtype=x.dtype)


def timed(mib: int, dtype: torch.dtype, device: torch.device, figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Ulysses' exchange of so many MiB on each card."""
    ranks, mesh = dist.get_world_size(), f"x={dist.get_world_size()}"
    b, h, d = 2, 32, 128
    rows = (mib << 20) // (b * h * d * dtype.itemsize)  # on each card
    shape, pattern = (b, rows * ranks, h, d), "b s@x h d -> b s h@x d"
    x = torch.randn(b, rows, h, d, device=device).to(dtype)

    def by_hand() -> torch.Tensor:
        sent = x.view(b, rows, ranks, h // ranks, d).permute(2, 0, 1, 3, 4).contiguous()
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        return received.permute(1, 0, 2, 3, 4).reshape(b, rows * ranks, h // ranks, d)

    contestants: dict[str, Callable[[], Any]] = {"permute, all_to_all_single, permute": by_hand}
    paths = ("staged", "direct") if figures["direct"] else ("staged",)
    for path in paths:
        contestants[path] = lambda path=path: ours.rearrange(x, pattern, mesh=mesh, shape=shape, path=path)
    if figures["direct"]:
        out = ours.symmetric_empty(b, rows * ranks, h // ranks, d, dtype=dtype, device=device)
        contestants["direct into out"] = lambda: ours.rearrange(x, pattern, mesh=mesh, shape=shape, out=out)
    if mib <= SHORT_MIB:
        contestants |= {f"{name}, in a graph": Captured(call) for name, call in contestants.items()}
    flashinfer = flashinfer_communicator(x)
    if flashinfer:  # in no graph: nothing says that its signals may be captured
        contestants[f"flashinfer, {flashinfer.backend}"] = lambda: flashinfer.scatter_heads(x)
    want = by_hand()
    wrong = [name for name, call in contestants.items() if not on_all(torch.equal(call(), want), device)]
    sent, received, *_ = Redistribution(pattern, mesh, shape).largest_load(dtype.itemsize)
    seconds = median_seconds({name: call for name, call in contestants.items() if name not in wrong}, device)
    slowest_link = min(figures["link_bytes_per_second"].values(), default=None)
    rows_found = []
    for name, time in seconds.items():
        share = max(sent, received) / slowest_link / time if slowest_link else None
        faster = seconds["permute, all_to_all_single, permute"] / time
        rows_found.append({"mib": mib, "dtype": str(dtype), "by": name, "seconds": time, "share_of_bound": share,
                           "times_torch": faster, "bytes_of_busiest_rank": max(sent, received)})  # fmt: skip
        bound = "" if share is None else f", {share:.2f} of the bound"
        say(f"{mib:5d} MiB {str(dtype)[6:]:9s} {name:36s} {time * 1e6:10.1f} us{bound}, {faster:.2f} x torch")
    if flashinfer:
        flashinfer.close()
    for name in wrong:
        say(f"WRONG, not timed: {name}")
        rows_found.append({"mib": mib, "dtype": str(dtype), "by": name, "wrong": True})
    return rows_found


if __name__ == "__main__":
    sys.exit(main())
