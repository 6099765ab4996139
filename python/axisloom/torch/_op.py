"""What the operator does: kernels that call the library, shapes for torch.compile, rules for autograd and vmap; and how
calls of the library get to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._C import _after_autograd_keyset, _AutoDispatchBelowAutograd
from torch.overrides import _pop_mode_temporarily
from torch.utils._python_dispatch import _disable_current_modes

from axisloom import _native

from . import _batches
from ._calls import LIBRARY, OPERATOR, Call, operate
from ._gradients import Input, gradients, needed_for_gradients
from ._work import result_of

_OWN_TYPES = (torch.Tensor, torch.nn.Parameter)


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
    if out is None and stream is None and device is None and _only_records(arrays):
        call = Call.of(name, arguments, lengths or {}, options or {})
        return _Recorded.apply(_native.call, (name, arguments, arrays, lengths, options), call, *arrays)
    for array in arrays if out is None else (*arrays, out):
        if not isinstance(array, torch.Tensor):
            raise TypeError(f"{name} of torch tensors and a {type(array).__name__}: convert it by torch.as_tensor first")
    if device is not None:
        raise ValueError(
            f"{name} cannot go to the device {device!r} with tensors that record gradients or are being traced: move "
            "them by Tensor.to, and leave device= out"
        )
    with contextlib.nullcontext() if stream is None else torch.cuda.stream(_stream(stream)):
        result = operate(name, arguments, arrays, lengths, options)
        return result if out is None else _copied(name, result, out)


def _only_records(arrays: Sequence[torch.Tensor]) -> bool:
    """Whether gradients are all that keeps these tensors from the library. Then the operator would only cost time."""
    if torch.compiler.is_compiling() or torch._C._are_functorch_transforms_active():
        return False
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return False
    return torch.is_grad_enabled() and all(type(array) in _OWN_TYPES for array in arrays)


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


class _Recorded(torch.autograd.Function):
    """A call that is recorded. torch.library.register_autograd takes twice as long: it flattens lists by pytree."""

    @staticmethod
    def forward(
        ctx: Any, do: Callable[..., torch.Tensor], arguments: tuple[Any, ...], call: Call, *tensors: torch.Tensor
    ) -> torch.Tensor:
        result = do(*arguments)
        if not (result.is_floating_point() or result.is_complex()):
            ctx.mark_non_differentiable(result)
            return result
        ctx.call = call
        ctx.inputs = [Input(tensor.shape, tensor.dtype) for tensor in tensors]
        ctx.save_for_backward(*needed_for_gradients(call, tensors, result))
        return result

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        made = gradients(ctx.call, ctx.inputs, ctx.saved_tensors, gradient, ctx.needs_input_grad[3:])
        return None, None, None, *made


def _autograd(keyset: Any, tensors: list[torch.Tensor], *call: Any) -> torch.Tensor:
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return _Recorded.apply(_below_autograd, (keyset, tensors, *call), _call_of(*call), *tensors)
    return _below_autograd(keyset, tensors, *call)


def _below_autograd(keyset: Any, tensors: list[torch.Tensor], *call: Any) -> torch.Tensor:
    with _AutoDispatchBelowAutograd():
        return OPERATOR.redispatch(keyset & _after_autograd_keyset, tensors, *call)


def _vmap(info: Any, in_dims: tuple[Any, ...], tensors: list[torch.Tensor], *call: Any) -> tuple[torch.Tensor, int]:
    return _batches.batched(_call_of(*call), info.batch_size, in_dims[0], tensors)


for _key in ("CPU", "CUDA"):
    LIBRARY.impl("run", _here, _key)
LIBRARY.impl("run", _autograd, "Autograd", with_keyset=True)
torch.library.register_fake("axisloom::run", _fake, lib=LIBRARY)
torch.library.register_vmap("axisloom::run", _vmap, lib=LIBRARY)
