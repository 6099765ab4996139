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


def _rearrange(*given: Any, **named: Any) -> Any:
    return _move("rearrange", given, named)


def _repeat(*given: Any, **named: Any) -> Any:
    return _move("repeat", given, named)


def _move(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    (tensor, pattern), options, lengths = _taken(name, ("tensor", "pattern"), given, named)
    return _call(name, (pattern,), [_one(tensor)], lengths, **options)


def _reduce(*given: Any, **named: Any) -> Any:
    parameters = ("tensor", "pattern", "reduction")
    (tensor, pattern, reduction), options, lengths = _taken("reduce", parameters, given, named, "order")
    if not isinstance(reduction, str):
        return _patterns.reduce_slowly(_one(tensor), pattern, reduction, lengths, **options)
    order = options.pop("order", None)
    asked = None if order is None else {"order": order}
    return _call("reduce", (reduction, pattern), [_one(tensor)], lengths, asked, **options)


def _taken(
    function: str, parameters: tuple[str, ...], given: tuple[Any, ...], named: dict[str, Any], *more: str
) -> tuple[list[Any], dict[str, Any], dict[str, Any]]:
    """Parameters by place or by name, options, and lengths: told apart as the builtin does it, in words."""
    if len(given) > len(parameters):
        raise TypeError(f"{function} takes {len(parameters)} arguments, not {len(given)}")
    values, options, lengths = list(given), {}, dict(named)
    for parameter in parameters[len(given) :]:
        if parameter not in lengths:
            raise TypeError(f"{function} needs {parameter}")
        values.append(lengths.pop(parameter))
    for name in ("out", "device", "stream", *more):
        if name in lengths and not (isinstance(lengths[name], int) and _patterns.names_axis(values[1], name)):
            options[name] = lengths.pop(name)
    return values, options, lengths


def _one(tensor: Any) -> Any:
    return torch.stack(list(tensor)) if isinstance(tensor, (list, tuple)) else tensor


def _namespace(x: Any) -> Any:
    return torch if isinstance(x, torch.Tensor) else _untraced(_patterns._namespace, x)
