"""Plans: an operation checked, chosen and compiled once, for arrays that lie alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _native


def plan(operation: str, *texts_and_arrays: Any, options: Mapping[str, str] | None = None, device: str | None = None,
         **lengths: int) -> Plan:
    """Prepares an operation, named as the command line names it: its texts first, then arrays like those it will work on.

    >>> import numpy as np
    >>> turn = plan("rearrange", "h w -> w h", np.zeros((2, 3)))
    >>> turn(np.arange(6.0).reshape(2, 3)).shape
    (3, 2)
    >>> turn.report["shapes"]
    'f64[2,3] -> f64[3,2]'
    """
    texts = tuple(given for given in texts_and_arrays if isinstance(given, str))
    arrays = tuple(given for given in texts_and_arrays if not isinstance(given, str))
    return Plan(operation, texts, arrays, lengths, dict(options or {}), device)


class Plan:
    """What plan() returns. Calling it runs it."""

    __slots__ = ("_call", "_shapes", "report")

    def __init__(self, operation: str, texts: tuple[str, ...], arrays: tuple[Any, ...], lengths: dict[str, int],
                 options: dict[str, str], device: str | None) -> None:
        self._call = (operation, texts, lengths, options, device)
        self._shapes = [tuple(array.shape) for array in arrays]
        #: What was decided: op, shapes, device, candidate, configuration, candidates (with their predicted seconds, or why
        #: not), steps, bytes_moved, expected_seconds.
        self.report: dict[str, Any] = _native.report(operation, texts, arrays, lengths, options, device)

    def __call__(self, *arrays: Any, out: Any = None, stream: Any = None) -> Any:
        """Runs it. Arrays have the shapes that the plan was made for."""
        shapes = [tuple(array.shape) for array in arrays]
        if shapes != self._shapes:
            raise ValueError(f"this plan is for arrays of shapes {self._shapes}, not {shapes}: make another one")
        operation, texts, lengths, options, device = self._call
        return _native.call(operation, texts, arrays, lengths, options, out, device, stream)

    def __repr__(self) -> str:
        return f"<axisloom.Plan {self.report['op']} ({self.report['shapes']}) by {self.report['candidate']}>"
