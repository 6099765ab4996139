"""The registered operator axisloom::run, and how calls get to it.

One operator does any operation by name. Its kernels call the library, its fake kernel gives shapes to torch.compile, and
its rules for autograd and vmap make further calls of itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._C import _after_autograd_keyset, _AutoDispatchBelowAutograd
from torch.overrides import _pop_mode_temporarily
from torch.utils._python_dispatch import _disable_current_modes

from axisloom import _native

from . import _batches
from ._gradients import Input, gradients, needed_for_gradients
from ._work import Call, result_of

_LIBRARY = torch.library.Library("axisloom", "DEF")
_LIBRARY.define(
    "run(Tensor[] tensors, str name, str[] arguments, str[] length_names, SymInt[] lengths, str[] options) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
_run = torch.ops.axisloom.run.default


def run(call: Call, *tensors: torch.Tensor) -> torch.Tensor:
    return _run(list(tensors), *map(_as_list, call))


def _as_list(part: str | tuple[Any, ...]) -> str | list[Any]:
    return list(part) if isinstance(part, tuple) else part


def dispatch(
    name: str,
    arguments: Sequence[str],
    arrays: Sequence[torch.Tensor],
    lengths: Mapping[str, int] | None = None,
    options: Mapping[str, str] | None = None,
    out: torch.Tensor | None = None,
    device: Any = None,
    stream: Any = None,
) -> torch.Tensor:
    """Any operation on tensors of any sort: those that record gradients, subclasses, wrappers of torch.func."""
    for array in arrays if out is None else (*arrays, out):
        if not isinstance(array, torch.Tensor):
            raise TypeError(f"{name} of torch tensors and a {type(array).__name__}: convert it by torch.as_tensor first")
    if device is not None:
        raise ValueError(
            f"{name} cannot go to the device {device!r} with tensors that record gradients or are being traced: move "
            "them by Tensor.to, and leave device= out"
        )
    lengths, options = lengths or {}, options or {}
    typed = [f"{option}={value}" for option, value in options.items()]
    with contextlib.nullcontext() if stream is None else torch.cuda.stream(_stream(stream)):
        result = _run(list(arrays), name, list(arguments), list(lengths), list(lengths.values()), typed)
        return result if out is None else _copied(name, result, out)


def _stream(stream: Any) -> torch.cuda.Stream:
    return torch.cuda.ExternalStream(stream) if isinstance(stream, int) else stream


def _copied(name: str, result: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    if out.shape != result.shape:
        raise ValueError(f"out= has the shape {list(out.shape)}, the result of {name} has {list(result.shape)}")
    if out.dtype != result.dtype:
        raise TypeError(f"out= has the dtype {out.dtype}, the result of {name} has {result.dtype}")
    return out.copy_(result)


def _here(
    tensors: list[torch.Tensor],
    name: str,
    arguments: list[str],
    length_names: list[str],
    lengths: list[int],
    options: list[str],
) -> torch.Tensor:
    with _no_modes():
        return _native.call(
            name,
            arguments,
            [tensor if type(tensor) is torch.Tensor else tensor.as_subclass(torch.Tensor) for tensor in tensors],
            dict(zip(length_names, lengths)),
            dict(option.split("=", 1) for option in options),
        )


@contextlib.contextmanager
def _hidden_modes() -> Iterator[None]:
    with _disable_current_modes(), contextlib.ExitStack() as modes:
        for _ in range(torch._C._len_torch_function_stack()):
            modes.enter_context(_pop_mode_temporarily())
        yield


def _no_modes() -> contextlib.AbstractContextManager[None]:
    """Modes have had their say when a kernel runs. Those that are disabled and still there would be asked again."""
    if torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack():
        return _hidden_modes()
    return contextlib.nullcontext()


def _fake(tensors: list[torch.Tensor], *call: Any) -> torch.Tensor:
    dtype, shape = result_of(_call_of(*call), tensors)
    return tensors[0].new_empty(shape, dtype=dtype)


def _call_of(name: str, *lists: list[Any]) -> Call:
    return Call(name, *map(tuple, lists))


class _Run(torch.autograd.Function):
    """Half the overhead of torch.library.register_autograd, which flattens lists by pytree."""

    @staticmethod
    def forward(ctx: Any, keyset: Any, call: tuple[Any, ...], *tensors: torch.Tensor) -> torch.Tensor:
        with _AutoDispatchBelowAutograd():
            result = _run.redispatch(keyset & _after_autograd_keyset, list(tensors), *call)
        if not (result.is_floating_point() or result.is_complex()):
            ctx.mark_non_differentiable(result)
            return result
        ctx.call = _call_of(*call)
        ctx.inputs = [Input(tensor.shape, tensor.dtype) for tensor in tensors]
        ctx.save_for_backward(*needed_for_gradients(ctx.call, tensors, result))
        return result

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        wanted = ctx.needs_input_grad[2:]
        return None, None, *gradients(run, ctx.call, ctx.inputs, ctx.saved_tensors, gradient, wanted)


def _autograd(keyset: Any, tensors: list[torch.Tensor], *call: Any) -> torch.Tensor:
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return _Run.apply(keyset, call, *tensors)
    with _AutoDispatchBelowAutograd():
        return _run.redispatch(keyset & _after_autograd_keyset, tensors, *call)


def _vmap(info: Any, in_dims: tuple[Any, ...], tensors: list[torch.Tensor], *call: Any) -> tuple[torch.Tensor, int]:
    return _batches.batched(run, _call_of(*call), info.batch_size, in_dims[0], tensors)


for _key in ("CPU", "CUDA"):
    _LIBRARY.impl("run", _here, _key)
_LIBRARY.impl("run", _autograd, "Autograd", with_keyset=True)
torch.library.register_fake("axisloom::run", _fake, lib=_LIBRARY)
torch.library.register_vmap("axisloom::run", _vmap, lib=_LIBRARY)
