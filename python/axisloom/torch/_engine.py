"""Rows of bytes by a card's copy engine.

Between two H200 it moves 390 GB/s each way, from rows of 256 bytes on, where kernels that store into the other card's
memory move 366; and it leaves the card's processors to what a rank keeps.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from axisloom.distributed import Copy

LEAST_ROW = 256  # bytes
LEAST_BYTES = 1 << 20  # of the rows of a copy: what a kernel moves in about the time that an engine takes to start
MOST_CALLS = 32  # for a copy: each takes the host some microseconds
MOST_PITCH = (1 << 31) - 1  # bytes, as the driver has it


class Rows(NamedTuple):
    """`count` rows of `width` bytes, on both sides a pitch apart. All in bytes."""

    width: int
    count: int
    from_offset: int
    from_pitch: int
    to_offset: int
    to_pitch: int


def rows_of(copy: Copy, width: int) -> tuple[Rows, ...]:
    """A copy of elements of so many bytes as the engine takes it; nothing where a kernel has to do it."""
    return as_rows(copy, width) if _driver() is not None else ()


@functools.lru_cache(maxsize=1024)
def as_rows(copy: Copy, width: int) -> tuple[Rows, ...]:
    """The same wherever the engine is."""
    axes = _merged(copy)
    if not axes or axes[-1][1:] != (1, 1):
        return ()
    row = axes.pop()[0] * width
    count, from_step, to_step = axes.pop() if axes else (1, row // width, row // width)
    from_pitch, to_pitch = from_step * width, to_step * width
    calls = 1
    for extent, *_ in axes:
        calls *= extent
    fits = row <= min(from_pitch, to_pitch) and max(from_pitch, to_pitch) <= MOST_PITCH
    if not fits or row < LEAST_ROW or row * count < LEAST_BYTES or calls > MOST_CALLS:
        return ()
    starts = [(copy.from_offset * width, copy.to_offset * width)]
    for extent, from_step, to_step in axes:
        starts = [
            (begin + place * from_step * width, end + place * to_step * width)
            for begin, end in starts
            for place in range(extent)
        ]
    return tuple(Rows(row, count, begin, from_pitch, end, to_pitch) for begin, end in starts)


def _merged(copy: Copy) -> list[tuple[int, int, int]]:
    """Extent and steps of each axis; those that go on as one are one."""
    axes: list[tuple[int, int, int]] = []
    for extent, from_step, to_step in zip(copy.shape, copy.from_strides, copy.to_strides):
        if extent == 1:
            continue
        if axes and axes[-1][1:] == (extent * from_step, extent * to_step):
            axes[-1] = axes[-1][0] * extent, from_step, to_step
        else:
            axes.append((extent, from_step, to_step))
    return axes


def start(rows: Sequence[Rows], source: torch.Tensor, target: torch.Tensor, stream: torch.cuda.Stream) -> None:
    """Offsets count from the first element of both."""
    driver = _driver()
    read, written = source.data_ptr(), target.data_ptr()
    for one in rows:
        copy = driver.CUDA_MEMCPY2D()
        copy.srcMemoryType = copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcDevice, copy.dstDevice = read + one.from_offset, written + one.to_offset
        copy.srcPitch, copy.dstPitch = one.from_pitch, one.to_pitch
        copy.WidthInBytes, copy.Height = one.width, one.count
        (fault,) = driver.cuMemcpy2DAsync(copy, stream.cuda_stream)
        if fault != driver.CUresult.CUDA_SUCCESS:
            raise RuntimeError(f"cuMemcpy2DAsync: {fault.name}")


@functools.cache
def _driver() -> Any:
    """NVIDIA's own bindings, which PyTorch brings; None without them."""
    try:
        from cuda.bindings import driver
    except ImportError:
        return None
    return driver

