"""torch.compile: Dynamo traces the registered operator where a program calls a builtin of the library."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from axisloom import _arrays, _einsum, _expressions, _functions, _native, _orders, _patterns

from ._op import operate_into


@functools.cache
def register() -> None:
    for function, traced in (
        (_native.call, _call),
        (_native.rearrange, _rearrange),
        (_native.repeat, _repeat),
        (_native.reduce, _reduce),
        (_patterns._namespace, _namespace),
    ):
        torch.compiler.substitute_in_graph(function, skip_signature_check=True)(traced)
    for module in (_arrays, _einsum, _expressions, _functions, _orders, _patterns):
        for function in filter(_is_cached, vars(module).values()):
            _trace_without_warning(function)


def _is_cached(value: Any) -> bool:
    return isinstance(value, functools._lru_cache_wrapper)


def _trace_without_warning(function: Any) -> None:
    """Dynamo warns of each cache that it does without. Ours only save time."""
    allow = getattr(torch._dynamo.utils, "allow_lru_cache_wrapper_trace_without_warning", None)
    if allow is not None:  # PyTorch has had it since it needed it for einops
        allow(function)


@torch.compiler.disable
def _untraced(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Arrays of other kinds, and other devices: the graph ends there."""
    return function(*arguments, **named)


def _call(
    name: str,
    arguments: Any,
    arrays: Any,
    lengths: Any = None,
    options: Any = None,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
) -> Any:
    if device is None and stream is None and all(isinstance(array, torch.Tensor) for array in arrays):
        return operate_into(out, name, arguments, arrays, lengths, options)
    return _untraced(_native.call, name, arguments, arrays, lengths, options, out, device, stream)


def _rearrange(
    tensor: Any, pattern: str, /, *, out: Any = None, device: Any = None, stream: Any = None, **lengths: int
) -> Any:
    return _call("rearrange", (pattern,), [_one(tensor)], lengths, None, out, device, stream)


def _repeat(
    tensor: Any, pattern: str, /, *, out: Any = None, device: Any = None, stream: Any = None, **lengths: int
) -> Any:
    return _call("repeat", (pattern,), [_one(tensor)], lengths, None, out, device, stream)


def _reduce(
    tensor: Any,
    pattern: str,
    reduction: Any,
    /,
    *,
    out: Any = None,
    device: Any = None,
    stream: Any = None,
    **lengths: int,
) -> Any:
    if not isinstance(reduction, str):
        return _patterns.reduce_slowly(
            _one(tensor), pattern, reduction, out=out, device=device, stream=stream, **lengths
        )
    return _call("reduce", (reduction, pattern), [_one(tensor)], lengths, None, out, device, stream)


def _one(tensor: Any) -> Any:
    return torch.stack(list(tensor)) if isinstance(tensor, (list, tuple)) else tensor


def _namespace(x: Any) -> Any:
    return torch if isinstance(x, torch.Tensor) else _untraced(_patterns._namespace, x)
