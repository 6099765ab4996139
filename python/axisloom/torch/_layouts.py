"""What is to be known of the layouts of a relayout: "NCHW", "NHWC", "CHWN", "NC/32HW32"."""

from __future__ import annotations

from collections.abc import Sequence

from ._patterns import Extent


def batch_axis(layout: str) -> int:
    return layout.index("N")


def channels_of(layout: str, shape: Sequence[Extent]) -> Extent:
    """How many channels a tensor of that shape has room for."""
    if "/" in layout:
        return shape[1] * shape[-1]
    return shape[layout.index("C")]
