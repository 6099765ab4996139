"""Plans: an operation checked, chosen and compiled once, for arrays that lie alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, SupportsIndex

from . import _native
from ._arrays import arrays_dtype_name
from ._errors import DtypeError, ShapeError
from ._patterns import is_whole_number, names_axis


def plan(operation: str, /, *texts_and_arrays: Any, options: Any = None, device: Any = None,
         **lengths: SupportsIndex) -> Plan:
    """Prepares an operation, named as the command line names it, for arrays like those that are given.

    Texts and arrays may stand in any order; of reduce's two texts the one with "->" is the pattern.

    >>> import numpy as np
    >>> turn = plan("rearrange", "h w -> w h", np.zeros((2, 3)))
    >>> turn(np.arange(6.0).reshape(2, 3)).shape
    (3, 2)
    >>> turn.report["shapes"]
    'f64[2,3] -> f64[3,2]'
    >>> plan("reduce", np.zeros((2, 3)), "h w -> w", "max").report["shapes"]
    'f64[2,3] -> f64[3]'
    """
    if not isinstance(operation, str):
        raise TypeError(f"the operation of a plan is named by a str, not by {type(operation).__name__}")
    texts = tuple(given for given in texts_and_arrays if isinstance(given, str))
    arrays = tuple(given for given in texts_and_arrays if not isinstance(given, str))
    if _is_length(texts, "options", options):
        lengths["options"], options = options, None
    if _is_length(texts, "device", device):
        lengths["device"], device = device, None
    if operation == "reduce":  # the library takes the reduction first
        texts = tuple(sorted(texts, key=lambda text: "->" in text))
    return Plan(operation, texts, arrays, lengths, dict(options or {}), device)


def _is_length(texts: tuple[str, ...], name: str, value: Any) -> bool:
    """Whether a keyword is the length of an axis that is called so."""
    return is_whole_number(value) and bool([text for text in texts if names_axis(text, name)])


def _described(arrays: tuple[Any, ...]) -> list[tuple[tuple[int, ...], Any]]:
    """Shape and dtype of each array. A plan is for arrays alone: a list would be read anew at each call."""
    try:
        return [(tuple(array.shape), array.dtype) for array in arrays]
    except AttributeError:
        kinds = ", ".join(type(x).__name__ for x in arrays if not (hasattr(x, "shape") and hasattr(x, "dtype")))
        raise TypeError(f"a plan is for arrays, not for {kinds}; make one by numpy.asarray") from None


class Plan:
    """What plan() returns. Calling it runs it."""

    __slots__ = ("_arrays", "_call", "report")

    def __init__(self, operation: str, texts: tuple[str, ...], arrays: tuple[Any, ...],
                 lengths: Mapping[str, SupportsIndex], options: dict[str, str], device: str | None) -> None:
        self._call = (operation, texts, lengths, options, device)
        self._arrays = _described(arrays)
        #: What was decided: op, shapes, device, candidate, configuration, candidates (with their predicted seconds, or
        #: why not), steps, bytes_moved, expected_seconds.
        self.report: dict[str, Any] = _native.report(operation, texts, arrays, lengths, options, device)

    def __call__(self, *arrays: Any, out: Any = None, stream: Any = None) -> Any:
        """Runs it. Arrays have the shapes and dtypes that the plan was made for."""
        described = _described(arrays)
        if described != self._arrays:
            self._check(described)
        operation, texts, lengths, options, device = self._call
        return _native.call(operation, texts, arrays, lengths, options, out, device, stream)

    def _check(self, described: list[tuple[tuple[int, ...], Any]]) -> None:
        """Of another library, or in another byte order, a dtype has another object and may be the same."""
        expected, shapes = [shape for shape, _ in self._arrays], [shape for shape, _ in described]
        if shapes != expected:
            raise ShapeError(f"this plan is for arrays of shapes {expected}, not {shapes}: make another one")
        names, given = ([arrays_dtype_name(dtype) for _, dtype in arrays] for arrays in (self._arrays, described))
        if given != names:
            raise DtypeError(f"this plan is for arrays of dtypes {names}, not {given}: make another one")

    def __repr__(self) -> str:
        return f"<axisloom.Plan {self.report['op']} ({self.report['shapes']}) by {self.report['candidate']}>"
