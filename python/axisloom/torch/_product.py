"""The registered operator axisloom::product: an einsum of tensors of which each rank has a part."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import torch

from axisloom import _native
from axisloom._einsum import _narrow_options
from axisloom._errors import DtypeError, UsageError
from axisloom._product_runs import ProductCall, check_local, run
from axisloom._products import Move, Product, Shape, item_bytes

from ._calls import LIBRARY
from ._groups import Route, agreement_of, group_named, rank_of
from ._product_gradients import Gradient, gradient_of
from ._redistribute import WORKSPACE, Redistribute, moved
from ._rooms import Rooms
from ._symmetric import Shared, reach_of
from ._work import _DTYPES, _NAMES

LIBRARY.define(
    "product(Tensor[] operands, str pattern, str mesh, SymInt[] extents, str group, int[] order, int workspace, "
    "str path, bool agreed, bool copies_add) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
OPERATOR = torch.ops.axisloom.product.default


class Multiply(NamedTuple):
    """The arguments of the operator but the tensors.

    extents: of the whole operands, one after the other. The rest is as Redistribute's.
    """

    pattern: str
    mesh: str
    extents: tuple[int, ...]
    group: str
    order: tuple[int, ...]
    workspace: int = WORKSPACE
    path: str = ""
    agreed: bool = False
    copies_add: bool = True

    @property
    def route(self) -> Route:
        return Route(self.mesh, self.group, self.order)

    def shapes(self, operands: Sequence[torch.Tensor]) -> tuple[Shape, ...]:
        """Whole."""
        shapes, at = [], 0
        for x in operands:
            shapes.append(tuple(map(int, self.extents[at : at + x.dim()])))
            at += x.dim()
        return tuple(shapes)

    def asked(self, operands: Sequence[torch.Tensor], shapes: tuple[Shape, ...] | None) -> ProductCall:
        path = f", path {self.path}" if self.path else ""
        return ProductCall(
            self.pattern, self.mesh, tuple(tuple(map(int, x.shape)) for x in operands),
            name_of(result_dtype([x.dtype for x in operands])), tuple(name_of(x.dtype) for x in operands), shapes,
            self.workspace, f"on {operands[0].device.type}{path}",
        )  # fmt: skip

    def agree(self, operands: Sequence[torch.Tensor], shapes: tuple[Shape, ...] | None) -> Product:
        """All ranks come here together. Where the host would wait for a card they compare a call only once."""
        error: Exception | None = None
        device = operands[0].device
        try:
            asked = self.asked(operands, shapes)
            _check_devices(operands)
        except (DtypeError, UsageError) as wrong:
            error = wrong
            local, names = tuple(tuple(x.shape) for x in operands), tuple(name_of(x.dtype) for x in operands)
            asked = ProductCall(self.pattern, self.mesh, local, names[0], names, shapes, self.workspace)
        rank = rank_of(self.route)
        found: Product = agreement_of(self.route, device).asked(
            asked, quick=shapes is not None and device.type != "cpu", error=error,
            prepare=lambda product: _list_copies(product, rank),
        )  # fmt: skip
        return found

    def __call__(self, operands: Sequence[torch.Tensor]) -> torch.Tensor:
        result: torch.Tensor = OPERATOR(
            list(operands), self.pattern, self.mesh, list(self.extents), self.group, list(self.order), self.workspace,
            self.path, self.agreed, self.copies_add,
        )  # fmt: skip
        return result


def _call_of(
    pattern: str, mesh: str, extents: Sequence[int], group: str, order: Sequence[int], *rest: Any
) -> Multiply:
    return Multiply(pattern, mesh, tuple(map(int, extents)), group, tuple(order), *rest)


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _check_devices(operands: Sequence[torch.Tensor]) -> None:
    for x in operands:
        if x.device != operands[0].device:
            raise UsageError(f"einsum of tensors on {operands[0].device} and on {x.device}: move them to one device")


def _list_copies(product: Product, rank: int) -> None:
    """Which not every plan allows; others are not to wait then."""
    for move in (*product.way.moves, product.way.sums):
        if move is not None:
            move.plan.packs(rank)
            move.plan.unpacks(rank)


def result_dtype(dtypes: Sequence[torch.dtype]) -> torch.dtype:
    """That of einsum of one rank."""
    return _result_dtype(tuple(dtypes))


@functools.lru_cache(maxsize=256)
def _result_dtype(dtypes: tuple[torch.dtype, ...]) -> torch.dtype:
    arrays = [(_NAMES[dtype], [1]) for dtype in dtypes]
    pattern = f"{', '.join('a' * len(dtypes))} ->"
    return _DTYPES[_native.result("einsum", (pattern,), arrays, None, _options(dtypes))[0]]


def _options(dtypes: Sequence[torch.dtype]) -> dict[str, str] | None:
    narrow = all(dtype.itemsize == 1 for dtype in dtypes)
    return _narrow_options(tuple(name_of(dtype) for dtype in dtypes)) if narrow else None


# What a rank does ----------------------------------------------------------------------------------------------------


class _Engine:
    """Moves one after another. Where there are panels they go on beside what is multiplied: on a stream of their own,
    or in a thread."""

    takes_panels = True

    def __init__(self, call: Multiply, device: torch.device, beside: bool) -> None:
        self.call, self.device, self.rank = call, device, rank_of(call.route)
        self.thread = ThreadPoolExecutor(1) if beside and device.type == "cpu" else None
        self.side = _side_stream(device) if beside and device.type == "cuda" else None
        self.rooms: Rooms | None = None

    def room(self, move: Move, dtype: str) -> Shared | None:
        """Where cards reach each other. Nothing that comes into it goes by a single kernel, meetings and all."""
        call = self.call
        if self.side is None or call.path == "staged" or move.plan.summed:
            return None
        if self.rooms is None:
            reach = reach_of(group_named(call.group), self.device, most_single=0)
            if reach is None:
                return None
            self.rooms = Rooms(reach, self.side, self.rank, call.order)
        return self.rooms.room(move.plan, item_bytes(dtype), call.workspace)

    def start(
        self, move: Move, x: torch.Tensor, out: torch.Tensor | Shared | None = None
    ) -> Callable[[], torch.Tensor]:
        if isinstance(out, Shared):
            assert self.rooms is not None
            return self.rooms.start(move.plan, x, out)
        call = self.call
        one = Redistribute(
            move.pattern, move.mesh, move.shape, (), call.group, call.order, call.workspace, call.path, agreed=True
        )
        if self.thread is not None:
            return self.thread.submit(moved, x, one, out).result
        if self.side is not None:
            return self._start_on_side(move, one, x, out)
        result = moved(x, one, out)
        return lambda: result

    def _start_on_side(
        self, move: Move, one: Redistribute, x: torch.Tensor, out: torch.Tensor | None
    ) -> Callable[[], torch.Tensor]:
        """The result's memory is the stream's own. What had it before, the side waits for."""
        side = self.side
        assert side is not None
        stream = torch.cuda.current_stream(self.device)
        target = x.new_empty(move.plan.local_out_shape(self.rank)) if out is None else out
        side.wait_stream(stream)
        with torch.cuda.stream(side):
            moved(x, one, target)
        arrived = side.record_event()
        kept = [x]  # until it was read

        def finish() -> torch.Tensor:
            stream.wait_event(arrived)
            kept.clear()
            return target

        return finish

    def multiply(
        self, pattern: str, arrays: Sequence[torch.Tensor], dtype: str, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        dtypes = [x.dtype for x in arrays]
        options = _options(dtypes)
        if dtype != name_of(result_dtype(dtypes)):
            options = {"out-dtype": dtype}
        if out is None and self.device.type == "cuda":
            # CUDA graphs of torch.compile refuse a result that came by DLPack, though its memory is PyTorch's.
            told = [(_NAMES[x.dtype], x.shape) for x in arrays]
            shape = _native.result("einsum", (pattern,), told, None, options)[1]
            out = torch.empty(shape, dtype=getattr(torch, dtype), device=self.device)
        result: torch.Tensor = _native.call("einsum", (pattern,), arrays, None, options, out)
        return result

    def empty(self, shape: Shape, dtype: str) -> torch.Tensor:
        return torch.empty(shape, dtype=getattr(torch, dtype), device=self.device)

    def converted(self, x: torch.Tensor, dtype: str) -> torch.Tensor:
        return x.to(getattr(torch, dtype))

    def close(self) -> None:
        if self.thread is not None:
            self.thread.shutdown()
        if self.rooms is not None:
            self.rooms.close()


@functools.cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device, priority=-1)  # what travels needs few processors, and those soon


def _here(operands: list[torch.Tensor], *arguments: Any) -> torch.Tensor:
    call = _call_of(*arguments)
    shapes = call.shapes(operands)
    operands = [x.detach().resolve_conj().resolve_neg() for x in operands]
    product = call.asked(operands, shapes).product(shapes) if call.agreed else call.agree(operands, shapes)
    engine = _Engine(call, operands[0].device, product.panels is not None)
    try:
        result: torch.Tensor = run(product, engine.rank, operands, engine)
    finally:
        engine.close()
    return _not_an_operand(result, operands)


def _not_an_operand(result: torch.Tensor, operands: Sequence[torch.Tensor]) -> torch.Tensor:
    """An operator's result has memory of its own."""
    return result.clone() if result.data_ptr() in [x.data_ptr() for x in operands] else result.contiguous()


# Shapes and gradients ------------------------------------------------------------------------------------------------


def _fake(operands: list[torch.Tensor], *arguments: Any) -> torch.Tensor:
    call = _call_of(*arguments)
    shapes = call.shapes(operands)
    product, rank = call.asked(operands, shapes).product(shapes), rank_of(call.route)
    for number, x in enumerate(operands):
        check_local(product, number, rank, tuple(map(int, x.shape)))
    return operands[0].new_empty(product.local_out_shape(rank), dtype=getattr(torch, product.dtype))


def _setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.call, ctx.wanted = _call_of(*inputs[1:]), [x.requires_grad for x in inputs[0]]
    ctx.save_for_backward(*inputs[0])


def _backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    operands = ctx.saved_tensors
    found = [_of_operand(ctx.call, number, operands, gradient) if wanted else None
             for number, wanted in enumerate(ctx.wanted)]  # fmt: skip
    return found, *[None] * 9


def _of_operand(call: Multiply, number: int, operands: Sequence[torch.Tensor], gradient: torch.Tensor) -> torch.Tensor:
    x, shapes = operands[number], call.shapes(operands)
    way = gradient_of(call.pattern, call.mesh, shapes, number, call.copies_add)
    others = [other.conj() if other.is_complex() else other for place, other in enumerate(operands) if place != number]
    extents = tuple(extent for shape in way.shapes for extent in shape)
    again = call._replace(pattern=way.pattern, extents=extents, agreed=False)
    found = _spread(again((gradient, *others)), way, x.shape)
    if way.parted is not None:
        found = Redistribute(
            way.parted.pattern, call.mesh, way.parted.shape, (), call.group, call.order, call.workspace, call.path,
            copies_add=call.copies_add,
        )(found)  # fmt: skip
    if found.is_complex() and not x.is_complex():
        found = found.real
    return found.to(x.dtype)


def _spread(found: torch.Tensor, way: Gradient, shape: Sequence[int]) -> torch.Tensor:
    """With the axes that were left out, all of whose elements have the same gradient; but for those of a diagonal, away
    from which it is 0."""
    for place in way.left_out:
        found = found.unsqueeze(place)
    found = found.expand([way.whole.get(place, extent) for place, extent in enumerate(shape)])
    for place, again in way.diagonals:
        extent = found.shape[place]
        unit = torch.eye(extent, dtype=found.dtype, device=found.device)
        found = found * unit.reshape([extent if axis in (place, again) else 1 for axis in range(found.dim())])
    return found


for _key in ("CPU", "CUDA"):
    LIBRARY.impl("product", _here, _key)
torch.library.register_fake("axisloom::product", _fake, lib=LIBRARY)
torch.library.register_autograd("axisloom::product", _backward, setup_context=_setup, lib=LIBRARY)
