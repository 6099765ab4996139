"""The compiled module: arrays of all kinds that it knows go in, results of the first one's kind come out."""

from collections.abc import Mapping, Sequence
from typing import Any

def call(
    name: str,
    arguments: Sequence[str],
    arrays: Sequence[Any],
    lengths: Mapping[str, int] | None = None,
    options: Mapping[str, str] | None = None,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
) -> Any:
    """Any operation by name, as the command line spells it: call("sum", (), (x,), None, {"axes": "0,-1", "keepdims": ""}).

    Arrays are numpy.ndarray, torch.Tensor, Array, or whatever else _kinds.py can adapt. The result is of the first one's kind.
    """

def result(
    name: str,
    arguments: Sequence[str],
    arrays: Sequence[tuple[str, Sequence[int]]],
    lengths: Mapping[str, int] | None = None,
    options: Mapping[str, str] | None = None,
) -> tuple[str, tuple[int, ...]]:
    """Dtype ("f32") and shape of the result for arrays of these dtypes and shapes, without any array."""

def report(
    name: str,
    arguments: Sequence[str],
    arrays: Sequence[Any],
    lengths: Mapping[str, int] | None = None,
    options: Mapping[str, str] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """What a plan for this call decides: op, shapes, device, candidate, configuration, candidates (with their predicted
    seconds, or why not), steps, bytes_moved, expected_seconds."""

def empty_numpy(shape: Sequence[int], like: Any) -> Any:
    """A new array of NumPy whose elements are not set, of the dtype of another, in memory that large results share."""

def rearrange(tensor: Any, pattern: str, /, *, out: Any = None, device: Any = None, stream: Any = None, **lengths: int) -> Any: ...
def repeat(tensor: Any, pattern: str, /, *, out: Any = None, device: Any = None, stream: Any = None, **lengths: int) -> Any: ...
def reduce(tensor: Any, pattern: str, reduction: Any, /, *, out: Any = None, device: Any = None, stream: Any = None, **lengths: int) -> Any: ...

class Array:
    """An array that Axisloom owns or borrows, on the host or on a device."""

    def __init__(self, array: Any, device: Any = None) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
    @property
    def dtype(self) -> str:
        """As Axisloom names it: "f32"."""
    @property
    def device(self) -> str:
        """As the grammar of devices spells it: "host", "cuda:0"."""
    def numpy(self) -> Any: ...
    def to(self, device: Any) -> Array: ...
    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

def from_dlpack(array: Any, stream: Any = None) -> Array: ...
def devices() -> list[dict[str, Any]]: ...
def set_num_threads(count: int) -> None: ...
def get_num_threads() -> int: ...
def empty_cache() -> None: ...
