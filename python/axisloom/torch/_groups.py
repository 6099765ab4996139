"""Process groups as meshes: which rank is where, what ranks agree on, and the groups along a mesh axis."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

from axisloom._errors import UsageError
from axisloom.distributed import Agreement, LostRankError, Mesh


_Function = TypeVar("_Function", bound=Callable[..., Any])


def constant(function: _Function) -> _Function:
    """Dynamo calls it, and writes the result into the graph. torch.compiler.assume_constant_result marks functions
    alike, but imports Dynamo, which takes a second and keeps the process groups that are there."""
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


class Route(NamedTuple):
    """How the operator is told where ranks are: all of it can be written into a graph."""

    mesh: str
    group: str  # a process group's name
    order: tuple[int, ...]  # by rank of the mesh, the rank of the group


def route_of(mesh: Any, group: Any = None) -> Route:
    """mesh: a DeviceMesh, or with `group` a Mesh or its text."""
    if not dist.is_initialized():
        raise UsageError("there is no process group: call torch.distributed.init_process_group first")
    if isinstance(mesh, DeviceMesh):
        if group is not None:
            raise UsageError("a DeviceMesh has groups of its own: leave group= out")
        routes = _ROUTES.setdefault(dist.group.WORLD, WeakKeyDictionary())
        if mesh not in routes:
            routes[mesh] = _route_of_device_mesh(mesh)
        return routes[mesh]
    group = dist.group.WORLD if group is None else group
    if not isinstance(mesh, str):
        return _route_of_text(str(Mesh(mesh)), group)
    kept = _ROUTES_OF_TEXTS.setdefault(group, {})
    if mesh not in kept:
        kept[mesh] = _route_of_text(mesh, group)
    return kept[mesh]


def _route_of_text(mesh: str, group: Any) -> Route:
    return Route(str(Mesh(mesh)), group.group_name, tuple(range(dist.get_world_size(group))))


def names_of(mesh: DeviceMesh) -> tuple[str, ...]:
    """Its axes' names, or m0, m1, ... where it has none."""
    return mesh.mesh_dim_names or tuple(f"m{axis}" for axis in range(mesh.ndim))


def _route_of_device_mesh(mesh: DeviceMesh) -> Route:
    ranks = mesh.mesh.flatten().tolist()
    if dist.get_rank() not in ranks:
        raise UsageError(f"rank {dist.get_rank()} is not in {mesh}: call this on the ranks of the mesh alone")
    group = mesh.get_group() if mesh.ndim == 1 else _group_of(ranks)
    members = dist.get_process_group_ranks(group)
    order = tuple(members.index(rank) for rank in ranks)
    for axis in range(mesh.ndim):
        _keep_group(mesh.get_group(axis))
    text = " ".join(f"{name}={size}" for name, size in zip(names_of(mesh), mesh.shape))
    return Route(str(Mesh(text)), group.group_name, order)


# What is kept lasts as long as a group does, and keeps none: a group of gloo that outlives PyTorch's own list of groups
# ends the process with an abort.
_ROUTES: WeakKeyDictionary[Any, WeakKeyDictionary[DeviceMesh, Route]] = WeakKeyDictionary()  # of WORLD
_ROUTES_OF_TEXTS: WeakKeyDictionary[Any, dict[str, Route]] = WeakKeyDictionary()  # by group
_GROUPS: WeakKeyDictionary[Any, dict[Any, str]] = WeakKeyDictionary()  # names of groups, by their ranks: of WORLD
_AGREEMENTS: WeakKeyDictionary[Any, dict[Any, Agreement]] = WeakKeyDictionary()


def _keep_group(group: Any) -> None:
    ranks = tuple(sorted(dist.get_process_group_ranks(group)))
    _GROUPS.setdefault(dist.group.WORLD, {}).setdefault((ranks, dist.get_backend(group)), group.group_name)


def _group_of(ranks: Sequence[int], like: Any = None) -> Any:
    """The group of these ranks; a new one where there is none. Those ranks, and no others, call it together."""
    like = dist.group.WORLD if like is None else like
    ordered = sorted(ranks)
    if ordered == sorted(dist.get_process_group_ranks(like)):
        return like
    name = _GROUPS.get(dist.group.WORLD, {}).get((tuple(ordered), dist.get_backend(like)))
    if name is not None:
        return group_named(name)
    config = dist.get_backend_config(like)
    made = dist.new_group(ordered, timeout_of(like), config, use_local_synchronization=True)
    _keep_group(made)
    return made


def timeout_of(group: Any) -> Any:
    """A timedelta, where the group's backend tells."""
    with contextlib.suppress(AttributeError, RuntimeError):  # not every backend tells
        return group._get_backend(group._device_types[0]).options._timeout
    return None


def group_named(name: str) -> Any:
    return dist.distributed_c10d._resolve_process_group(name)


def group_along(route: Route, axis: str) -> Any:
    """The group of the ranks that differ from this one along a mesh axis alone."""
    group, mesh = group_named(route.group), Mesh(route.mesh)
    own = mesh.coordinates(rank_of(route))
    members = dist.get_process_group_ranks(group)
    row = [mesh.rank_at(**{**own, axis: place}) for place in range(mesh.axes[axis])]
    return _group_of([members[route.order[rank]] for rank in row], group)


def rank_of(route: Route) -> int:
    """This process's rank in the mesh. A group of another size is found when ranks agree on the call."""
    own = dist.get_rank(group_named(route.group))
    if own < 0:
        raise UsageError(f"rank {dist.get_rank()} is not in the group: call this on its ranks alone")
    return route.order.index(own)


class found_lost:  # noqa: N801  # it is used as a function; a generator would take longer
    """PyTorch says in a RuntimeError that a rank is gone, or that it waited too long."""

    __slots__ = ("_what",)

    def __init__(self, what: object) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, RuntimeError):
            raise LostRankError(
                f"{self._what}: a rank is gone, or did not come in the group's timeout: {error}; see what the other "
                f"ranks say, and start the job again"
            ) from error


# Agreement ------------------------------------------------------------------------------------------------------------


def agreement_of(route: Route, device: torch.device) -> Agreement:
    kept = _AGREEMENTS.setdefault(group_named(route.group), {})
    key = route.order, device
    if key not in kept:
        kept[key] = _agreement(route, device)
    return kept[key]


def _agreement(route: Route, device: torch.device) -> Agreement:
    name, order = route.group, route.order
    if "cpu" in {kind.type for kind in group_named(name)._device_types}:
        device = torch.device("cpu")

    def gather(number: int) -> list[int]:
        own = torch.tensor([number] * len(order), dtype=torch.int64, device=device)
        found = torch.empty_like(own)
        with found_lost("asking whether all ranks make the same call"):
            dist.all_to_all_single(found, own, group=group_named(name))  # all at once; gloo's gather goes round a ring
        numbers = found.tolist()
        return [numbers[place] for place in order]

    def gather_texts(text: str) -> list[str]:
        found: list[Any] = [None] * len(order)
        with found_lost("telling all ranks of a call"):
            dist.all_gather_object(found, text, group=group_named(name))
        return [found[place] for place in order]

    return Agreement(gather, gather_texts)
