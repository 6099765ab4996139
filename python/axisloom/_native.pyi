"""The compiled module: arrays of all kinds that it knows go in, results of the first one's kind come out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NoReturn, SupportsIndex, overload

from ._arrays import ArrayT

__version__: str

def call(
    name: str,
    arguments: Sequence[str],
    arrays: Sequence[Any],
    lengths: Mapping[str, SupportsIndex] | None = None,
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
    lengths: Mapping[str, SupportsIndex] | None = None,
    options: Mapping[str, str] | None = None,
) -> tuple[str, tuple[int, ...]]:
    """Dtype ("f32") and shape of the result for arrays of these dtypes and shapes, without any array."""

def report(
    name: str,
    arguments: Sequence[str],
    arrays: Sequence[Any],
    lengths: Mapping[str, SupportsIndex] | None = None,
    options: Mapping[str, str] | None = None,
    device: Any = None,
) -> dict[str, Any]:
    """What a plan for this call decides: op, shapes, device, candidate, configuration, candidates (with their predicted
    seconds, or why not), steps, bytes_moved, expected_seconds."""

def empty_numpy(shape: Sequence[int], like: Any) -> Any:
    """A new array of NumPy whose elements are not set, of the dtype of another, in memory that large results share."""

def empty(dtype: str, shape: int | Sequence[int], device: str | None = None) -> Array:
    """A new array whose elements are not set, of a dtype as Axisloom names it."""

# What goes in comes out: an array, or several arrays in a list. Of lists of numbers NumPy makes an array.
# `device` is Any: mypy would take the lengths in **lengths for it.
@overload
def rearrange(
    tensor: ArrayT,
    pattern: str,
    *,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    **lengths: SupportsIndex,
) -> ArrayT: ...
@overload
def rearrange(
    tensor: Sequence[ArrayT],
    pattern: str,
    *,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    **lengths: SupportsIndex,
) -> ArrayT: ...
@overload
def rearrange(
    tensor: Any,
    pattern: str,
    *,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    **lengths: SupportsIndex,
) -> Any: ...
@overload
def repeat(
    tensor: ArrayT,
    pattern: str,
    *,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    **lengths: SupportsIndex,
) -> ArrayT: ...
@overload
def repeat(
    tensor: Sequence[ArrayT],
    pattern: str,
    *,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    **lengths: SupportsIndex,
) -> ArrayT: ...
@overload
def repeat(
    tensor: Any,
    pattern: str,
    *,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    **lengths: SupportsIndex,
) -> Any: ...
def reduce(
    tensor: Any,
    pattern: str,
    reduction: str | Callable[[Any, tuple[int, ...]], Any],
    *,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    order: Any = None,
    **lengths: SupportsIndex,
) -> Any:
    """An array, or of NumPy a scalar where no axis is left."""

class Array:
    """An array that Axisloom owns, on the host or on a device, or that it holds for another library."""

    def __init__(self, array: Any, device: str | None = None) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]:
        """In elements."""
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> str:
        """As Axisloom names it: "f32"."""
    @property
    def device(self) -> str:
        """As the grammar of devices spells it: "host", "cuda:0"."""
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def numpy(self) -> Any:
        """As an array of NumPy: the same memory, or a copy where it is on a device."""
    def to(self, device: str | None) -> Array:
        """The same elements on that device; itself where it is there."""
    def reshape(self, *shape: SupportsIndex | Sequence[int]) -> Array:
        """The same elements in another shape; a copy where they have gaps."""
    def astype(self, dtype: Any, *, copy: bool = True) -> Array:
        """The elements as another dtype, on the same device; with copy=False itself where it has that dtype."""
    def item(self) -> Any:
        """The only element, as a number of Python."""
    def __getitem__(self, key: Any, /) -> Array:
        """A part of the array in its memory: by integers, slices, ... and None."""
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __iter__(self) -> Iterator[Array]: ...
    def __contains__(self, item: Any, /) -> NoReturn: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __copy__(self) -> Array: ...
    def __deepcopy__(self, memo: Any, /) -> Array: ...
    def __array_namespace__(self, api_version: str | None = None) -> ModuleType: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...

def from_bytes(dtype: str, shape: Sequence[int], elements: bytes) -> Array:
    """A new array on the host whose elements, in row-major order, are these bytes."""

def from_dlpack(array: Any, stream: Any = None) -> Array:
    """An array of another library, in its memory."""

def devices() -> list[dict[str, Any]]: ...
def set_num_threads(count: SupportsIndex, /) -> None: ...
def get_num_threads() -> int: ...
def empty_cache() -> None: ...

# A copy of a part: its shape, and the offset and the strides on both sides, in elements.
_Copy = tuple[tuple[int, ...], int, tuple[int, ...], int, tuple[int, ...]]

class Redistribution:
    """Who sends what to whom where a distributed array is rearranged.

    packs and unpacks tell of each other rank its number, the length of the message to it or from it, and the copies between
    the local array and a buffer that has all messages one after the other. direct has the copies into the receivers' local
    arrays, row-major ones, the rank itself included. kept is what a rank has itself. Strides are the local array's, in elements;
    without them it is row-major. Offsets count from its lowest element, the first one unless strides are negative.
    """

    def __init__(self, pattern: str, mesh: str, shape: Sequence[int], lengths: Mapping[str, int]) -> None: ...
    @property
    def ranks(self) -> int: ...
    @property
    def addends(self) -> int: ...
    @property
    def in_shape(self) -> tuple[int, ...]: ...
    @property
    def out_shape(self) -> tuple[int, ...]: ...
    def local_in_shape(self, rank: int) -> tuple[int, ...]: ...
    def local_out_shape(self, rank: int) -> tuple[int, ...]: ...
    def packs(self, rank: int, strides: Sequence[int] | None = None) -> list[tuple[int, int, list[_Copy]]]: ...
    def unpacks(self, rank: int, strides: Sequence[int] | None = None) -> list[tuple[int, int, list[_Copy]]]: ...
    def direct(self, rank: int, strides: Sequence[int] | None = None) -> list[tuple[int, int, list[_Copy]]]: ...
    def kept(
        self, rank: int, in_strides: Sequence[int] | None = None, out_strides: Sequence[int] | None = None
    ) -> list[_Copy]: ...
    def largest_load(self, element_bytes: int) -> tuple[int, int, int, int]:
        """Bytes that the busiest rank sends and receives, messages that it sends and receives."""

SINGLE_LAUNCH: int  # bytes that go by one kernel at most
LEAST_ROUND: int  # bytes; more goes by buffers in rounds, at most MOST_ROUNDS
MOST_ROUNDS: int

class CardGroup:
    """What the launches of a rank share: its card, the flags by which cards meet, and how many seconds one waits.

    flags: by rank, the address of 2 * ranks + 2 numbers of 32 bits that are zero, as this card reaches them. most_bytes: so
    many, sent and kept, go by a single kernel at most.
    """

    def __init__(self, device: int, rank: int, flags: Sequence[int], patience: float, most_bytes: int) -> None: ...

_SlotCopy = tuple[int, int, _Copy]
_Stage = tuple[Sequence[_SlotCopy], Sequence[_SlotCopy], bool, bool]

class CardLaunches:
    """Copies between slots: 0 is the input of a run, 1 its output, and those from 2 on have the addresses `fixed`.

    width: bytes of an element. alignments: bytes to which input and output are aligned. stages: what goes to other cards, what
    stays, and whether all cards meet before and behind it. apart: runs of a group on several streams come one after the other.
    """

    def __init__(
        self, group: CardGroup, width: int, fixed: Sequence[int], alignments: Sequence[int], stages: Sequence[_Stage]
    ) -> None: ...
    @property
    def calls(self) -> int: ...
    def run(self, device: int, stream: int, input: int, output: int, apart: bool) -> None: ...
