"""What the operator does: kernels that call the library, shapes for torch.compile, rules for autograd and vmap; and how
calls of the library get to it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._C import _after_autograd_keyset, _AutoDispatchBelowAutograd
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.overrides import _pop_mode_temporarily
from torch.utils._python_dispatch import _disable_current_modes

from axisloom import _native
from axisloom._errors import EinopsError, ShapeError, UnsupportedError, UsageError

from . import _batches
from ._calls import LIBRARY, OPERATOR, Call, operate
from ._gradients import gradients, needed_for_gradients, tangent
from ._work import Input, result_of

_OWN_TYPES = (torch.Tensor, torch.nn.Parameter)
_OF_EINOPS = ("rearrange", "repeat", "reduce")  # which has one kind of error for patterns and shapes


def _require_exchange(kind: type) -> None:
    if not hasattr(kind, "__dlpack_c_exchange_api__"):
        raise UnsupportedError(f"PyTorch {torch.__version__} cannot hand its tensors over: use 2.10 or newer")


_require_exchange(torch.Tensor)


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
    try:
        if out is None and stream is None and device is None and _only_records(arrays):
            call = Call.of(name, arguments, lengths or {}, options or {})
            return _Recorded.apply(_native.call, (name, arguments, arrays, lengths, options), call, *arrays)
        _check_tensors(name, arrays if out is None else (*arrays, out), device)
        with contextlib.nullcontext() if stream is None else torch.cuda.stream(_stream(stream)):
            return operate_into(out, name, arguments, arrays, lengths, options)
    except ShapeError as error:
        if name in _OF_EINOPS:
            raise EinopsError(*error.args) from None
        raise


def operate_into(out: torch.Tensor | None, name: str, *call: Any) -> torch.Tensor:
    """The result of a call, in `out` where there is one. Dynamo traces this."""
    if out is None:
        return operate(name, *call)
    if out.requires_grad and torch.is_grad_enabled():
        raise RuntimeError(
            f"{name}: out= requires grad, and what is written over it has no gradient: call it under torch.no_grad(), "
            "or give out.detach(), which has the same memory"
        )
    result = operate(name, *call)
    if out.shape != result.shape:
        raise ValueError(f"out= has the shape {list(out.shape)}, the result of {name} has {list(result.shape)}")
    if out.dtype != result.dtype:
        raise TypeError(f"out= has the dtype {out.dtype}, the result of {name} has {result.dtype}")
    return out.copy_(result)


def _check_tensors(name: str, arrays: Sequence[Any], device: Any) -> None:
    for array in arrays:
        if isinstance(array, torch.Tensor):
            _check_memory(name, array)
        elif not isinstance(array, torch.fx.Proxy):
            raise TypeError(
                f"{name} of torch tensors and a {type(array).__name__}: convert it by torch.as_tensor first"
            )
    if device is not None:
        raise UsageError(
            f"{name} cannot go to the device {device!r} with tensors that record gradients or are being traced: move "
            "them by Tensor.to, and leave device= out"
        )


def _check_memory(name: str, tensor: torch.Tensor) -> None:
    if tensor.is_nested:
        raise UnsupportedError(f"{name} cannot read nested tensors: call it for each of Tensor.unbind()")
    if tensor.layout is not torch.strided:
        raise UnsupportedError(f"{name} cannot read tensors of {tensor.layout}: make them dense by Tensor.to_dense()")
    if tensor.is_quantized:
        raise UnsupportedError(f"{name} cannot read quantised tensors: make them numbers by Tensor.dequantize()")


def _only_records(arrays: Sequence[torch.Tensor]) -> bool:
    """Whether gradients are all that keeps these tensors from the library. Then the operator would only cost time."""
    if torch._C._are_functorch_transforms_active():
        return False
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return False
    return torch.is_grad_enabled() and not [array for array in arrays if type(array) not in _OWN_TYPES]


def _stream(stream: Any) -> torch.cuda.Stream:
    return torch.cuda.ExternalStream(stream) if isinstance(stream, int) else stream


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
            # CUDA graphs of torch.compile refuse a result that came by DLPack, though its memory is PyTorch's.
            _fake(tensors, name, arguments, length_names, lengths, options) if tensors[0].is_cuda else None,
        )


def _no_modes() -> contextlib.AbstractContextManager[None]:
    """Modes and tangents have had their say when a kernel runs. Those that are still there would be asked again."""
    if torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack() or forward_ad._current_level >= 0:
        return _hidden_modes()
    return contextlib.nullcontext()


@contextlib.contextmanager
def _hidden_modes() -> Iterator[None]:
    with _disable_current_modes(), forward_ad._set_fwd_grad_enabled(False), contextlib.ExitStack() as modes:
        for _ in range(torch._C._len_torch_function_stack()):
            modes.enter_context(_pop_mode_temporarily())
        yield


def _fake(tensors: list[torch.Tensor], *call: Any) -> torch.Tensor:
    dtype, shape = result_of(_call_of(*call), tensors)
    return tensors[0].new_empty(shape, dtype=dtype)


def _call_of(name: str, *lists: list[Any]) -> Call:
    return Call(name, *map(tuple, lists))


class _Rules:
    """How a call is recorded, and what its gradients are."""

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
        if needed := needed_for_gradients(call, tensors, result):
            ctx.save_for_backward(*needed)
            ctx.save_for_forward(*needed)
        return result

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor | None) -> torch.Tensor | None:
        return _tangent(ctx, ctx.saved_tensors, tangents)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        made = gradients(ctx.call, ctx.inputs, ctx.saved_tensors, gradient, ctx.needs_input_grad[3:])
        return None, None, None, *made


class _Recorded(_Rules, torch.autograd.Function):
    """torch.library.register_autograd takes twice as long, by flattening lists, and knows nothing of torch.func."""


class _RecordedForOneLevel(_Rules, torch.autograd.function._SingleLevelFunction):
    """Of the transforms of torch.func, the dispatcher meets one after another."""

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor | None) -> torch.Tensor | None:
        """Outer levels follow their tangents through this one's. PyTorch turns that off, as this level must not."""
        with forward_ad._set_fwd_grad_enabled(True):
            return _tangent(ctx, [saved if saved is None else _primal(saved) for saved in ctx.saved_tensors], tangents)


def _tangent(ctx: Any, saved: Sequence[Any], tangents: Sequence[torch.Tensor | None]) -> torch.Tensor | None:
    return tangent(ctx.call, ctx.inputs, saved, tangents[3:]) if hasattr(ctx, "call") else None


def _primal(tensor: torch.Tensor) -> torch.Tensor:
    """Without this level's tangent."""
    return forward_ad.unpack_dual(tensor).primal


def _autograd(keyset: Any, tensors: list[torch.Tensor], *call: Any) -> torch.Tensor:
    if not (_wants_gradient(tensors) or _has_tangent(tensors)):
        return _below_autograd(keyset, tensors, *call)
    arguments = (keyset, tensors, *call)
    if not torch._C._are_functorch_transforms_active():
        return _Recorded.apply(_below_autograd, arguments, _call_of(*call), *tensors)
    with enable_single_level_autograd_function():
        return _RecordedForOneLevel.apply(_at_outer_levels(), arguments, _call_of(*call), *tensors)


def _wants_gradient(tensors: list[torch.Tensor]) -> bool:
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _has_tangent(tensors: list[torch.Tensor]) -> bool:
    """In forward mode."""
    if forward_ad._current_level < 0:
        return False
    return any(forward_ad.unpack_dual(tensor).tangent is not None for tensor in tensors)


def _below_autograd(keyset: Any, tensors: list[torch.Tensor], *call: Any) -> torch.Tensor:
    with _AutoDispatchBelowAutograd():
        return OPERATOR.redispatch(keyset & _after_autograd_keyset, tensors, *call)


def _at_outer_levels() -> Callable[..., torch.Tensor]:
    """A function records nothing while its forward runs. The outer levels of torch.func record as they did before."""
    backward, forward = torch.is_grad_enabled(), torch._C._is_fwd_grad_enabled()

    def do(*arguments: Any) -> torch.Tensor:
        with torch.set_grad_enabled(backward), forward_ad._set_fwd_grad_enabled(forward):
            return _below_autograd(*arguments)

    return do


def _vmap(info: Any, in_dims: tuple[Any, ...], tensors: list[torch.Tensor], *call: Any) -> tuple[torch.Tensor, int]:
    return _batches.batched(_call_of(*call), info.batch_size, in_dims[0], tensors)


def _older_vmap(tensors: list[torch.Tensor], *call: Any) -> torch.Tensor:
    """The vmap of is_grads_batched= and vectorize=, from before torch.func. It tells neither the size of the batch nor
    who has one: those that have none are given one of 1."""
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    tensors = [torch._remove_batch_dim(tensor, level, 1, 0) for tensor in tensors]
    size = next((tensor.shape[0] for tensor in tensors if tensor.shape[0] != 1), 1)
    dims = [0 if tensor.shape[0] == size else None for tensor in tensors]
    tensors = [tensor.squeeze(0) if dim is None else tensor for tensor, dim in zip(tensors, dims)]
    result, dim = _batches.batched(_call_of(*call), size, dims, tensors)
    return torch._add_batch_dim(result.movedim(dim, 0).contiguous(), 0, level)  # its views need it in front


for _key in ("CPU", "CUDA"):
    LIBRARY.impl("run", _here, _key)
LIBRARY.impl("run", _autograd, "Autograd", with_keyset=True)
LIBRARY.impl("run", _older_vmap, "Batched")
torch.library.register_fake("axisloom::run", _fake, lib=LIBRARY)
torch.library.register_vmap("axisloom::run", _vmap, lib=LIBRARY)
