"""axisloom.distributed: meshes, plans by what they say to copy, and what ranks agree on."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import parts
import pytest

import axisloom
from axisloom.distributed import Agreement, Copy, Mesh, RankError, Redistribution, whole_shape

MESHES = ("x=1", "x=2", "x=3", "x=4", "x=2 y=2", "x=2 y=3", "x=1 y=2")


# Meshes ---------------------------------------------------------------------------------------------------------------


def test_ranks_of_a_mesh_and_back():
    mesh = Mesh("x=2 y=3 z=2")
    assert [mesh.rank_at(**mesh.coordinates(rank)) for rank in range(mesh.ranks)] == list(range(12))
    assert str(Mesh(mesh)) == str(mesh) and {mesh: 1}[Mesh("x=2  y=3 z=2")] == 1 and mesh != "x=2 y=3 z=2"
    assert Mesh("").ranks == 1 and Mesh("").coordinates(0) == {}


@pytest.mark.parametrize("text", ("x=0", "x", "x=2 x=2", "=3", "x=2,y=3"))
def test_texts_that_are_no_meshes(text):
    with pytest.raises(axisloom.UsageError, match=re.escape(text)):
        Mesh(text)


def test_what_a_mesh_does_not_have():
    mesh = Mesh("x=2 y=3")
    with pytest.raises(axisloom.UsageError, match="rank from 0 to 5"):
        mesh.coordinates(6)
    with pytest.raises(axisloom.UsageError, match="coordinate from 0 to 2 along the axis y"):
        mesh.rank_at(x=1, y=3)
    with pytest.raises(axisloom.UsageError, match="no axis z"):
        mesh.rank_at(x=1, y=1, z=0)


# Plans ----------------------------------------------------------------------------------------------------------------


def copied(copies: tuple[Copy, ...], source: np.ndarray, target: np.ndarray) -> None:
    def view(array: np.ndarray, shape: Any, offset: int, strides: Any) -> np.ndarray:
        flat = array.reshape(-1)[offset:]
        return np.lib.stride_tricks.as_strided(flat, shape, [stride * array.itemsize for stride in strides])

    for shape, from_offset, from_strides, to_offset, to_strides in copies:
        view(target, shape, to_offset, to_strides)[...] = view(source, shape, from_offset, from_strides)


def sent(plan: Redistribution, locals_: list[np.ndarray]) -> list[np.ndarray]:
    """All ranks' outputs, by way of messages."""
    ranks = range(plan.mesh.ranks)
    buffers = []
    for rank in ranks:
        messages = plan.packs(rank)
        buffer = np.full(sum(message.elements for message in messages), -1)
        for message in messages:
            copied(message.copies, locals_[rank], buffer)
        ends = np.cumsum([message.elements for message in messages])
        buffers.append({m.rank: buffer[end - m.elements : end] for m, end in zip(messages, ends)})
    outputs = []
    for rank in ranks:
        output = np.full(plan.local_out_shape(rank), -1)
        messages = plan.unpacks(rank)
        buffer = np.concatenate([np.zeros(0, int), *(buffers[message.rank][rank] for message in messages)])
        for message in messages:
            copied(message.copies, buffer, output)
        copied(plan.kept(rank), locals_[rank], output)
        outputs.append(output)
    return outputs


@pytest.mark.parametrize("seed", range(200))
def test_plans_make_what_einops_makes(seed):
    case = parts.draw(seed, MESHES, sums=False)  # these are added by who receives them
    whole = np.arange(np.prod(case.shape, dtype=int)).reshape(case.shape)
    left, right = case.sides
    plan = Redistribution(case.pattern, case.mesh, case.shape, **case.lengths)
    locals_ = [whole[case.part(left, rank)] for rank in range(case.ranks)]
    assert [part.shape for part in locals_] == [plan.local_in_shape(rank) for rank in range(case.ranks)], case
    assert whole_shape(case.pattern, case.mesh, [part.shape for part in locals_]) == case.shape, case
    out = case.rearranged(whole)
    for rank, output in enumerate(sent(plan, locals_)):
        np.testing.assert_array_equal(output, out[case.part(right, rank)], err_msg=str(case))


def test_direct_copies_make_the_same():
    plan = Redistribution("(a b)@x c -> c@x (b a)", "x=3", (10, 7), a=2)
    whole = np.arange(70).reshape(10, 7)
    outputs = [np.full(plan.local_out_shape(rank), -1) for rank in range(3)]
    for rank in range(3):
        local = np.ascontiguousarray(whole[4 * rank : 4 * rank + 4])
        for message in plan.direct(rank):
            copied(message.copies, local, outputs[message.rank])
    np.testing.assert_array_equal(np.concatenate(outputs), whole.reshape(2, 5, 7).transpose(2, 1, 0).reshape(7, 10))


def test_strides_of_the_local_array():
    plan = Redistribution("s@x h -> h s@x", "x=2", (4, 3))
    turned = np.arange(6).reshape(3, 2)  # of a local array [2,3], column by column
    out = np.zeros(6, int)
    copied(plan.kept(0, (1, 2)), turned, out)
    np.testing.assert_array_equal(out.reshape(3, 2), turned)


def test_what_is_wrong_with_a_plan():
    with pytest.raises(axisloom.EinopsError, match="appears twice"):
        Redistribution("s s -> s", "x=2", (4, 4))
    with pytest.raises(axisloom.ShapeError, match=r"local array of rank 1 has shape \[4\].*wants \[3\]"):
        Redistribution("s@x -> s", "x=2", (7,)).check_local(1, (4,))
    with pytest.raises(axisloom.ShapeError, match="does not fit an array of 3 axes"):
        whole_shape("s@x h -> s h@x", "x=2", [(1, 2, 3), (1, 2, 3)])
    with pytest.raises(axisloom.UsageError, match="no axis y"):
        whole_shape("s@y -> s", "x=1", [(1,)])


def test_an_ellipsis_tells_its_axes():
    assert whole_shape("... s@x -> s@x ...", "x=2", [(2, 3, 4), (2, 3, 3)]) == (2, 3, 7)
    assert whole_shape("s@x ... -> ... s@x", "x=2", [(4,), (3,)]) == (7,)


# Agreement ------------------------------------------------------------------------------------------------------------


class Threads:
    """Ranks that are threads: each collective hands everyone's to everyone."""

    def __init__(self, ranks: int) -> None:
        self.barrier = threading.Barrier(ranks, timeout=20)
        self.given: list[Any] = [None] * ranks
        self.numbers = self.texts = 0
        self.agreements = [Agreement(self.gather(rank, "numbers"), self.gather(rank, "texts")) for rank in range(ranks)]

    def gather(self, rank: int, what: str) -> Callable[[Any], list[Any]]:
        def gather(own: Any) -> list[Any]:
            self.given[rank] = own
            self.barrier.wait()
            found = list(self.given)
            self.barrier.wait()
            if rank == 0:
                setattr(self, what, getattr(self, what) + 1)
            return found

        return gather

    def call(self, calls: list[dict[str, Any]]) -> list[Any]:
        """What each rank's call returns or raises."""
        found: list[Any] = [None] * len(calls)

        def run(rank: int) -> None:
            try:
                found[rank] = self.agreements[rank].plan(**calls[rank])
            except axisloom.Error as error:
                found[rank] = error

        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(len(calls))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found


def calls(*local_shapes: tuple[int, ...], **other: Any) -> list[dict[str, Any]]:
    call = {"pattern": "s@x h -> s h@x", "mesh": f"x={len(local_shapes)}", "dtype": "f32", **other}
    return [{**call, "local_shape": shape} for shape in local_shapes]


def test_shapes_are_told_and_calls_that_come_again_cost_a_number():
    ranks = Threads(3)
    for times in range(1, 4):
        plans = ranks.call(calls((3, 4), (3, 4), (1, 4)))
        assert [plan.in_shape for plan in plans] == [(7, 4)] * 3
        assert (ranks.numbers, ranks.texts) == (times, 1)
    for times in range(2):
        assert [plan.in_shape for plan in ranks.call(calls((3, 4), (3, 4), (2, 4)))] == [(8, 4)] * 3
        # Two ranks' shapes are as before: they are asked, and told anew.
        assert [plan.in_shape for plan in ranks.call(calls((3, 4), (3, 4), (1, 4)))] == [(7, 4)] * 3
    assert ranks.texts == 5


def test_a_known_shape_costs_nothing_where_that_is_asked_for():
    ranks = Threads(2)
    given = calls((4, 4), (3, 4), shape=(7, 4), each_call=False)
    for _ in range(3):
        assert [plan.in_shape for plan in ranks.call(given)] == [(7, 4)] * 2
    assert (ranks.numbers, ranks.texts) == (1, 1)


@pytest.mark.parametrize(
    ("part", "other"),
    (
        ("pattern", "s@x h -> s h"),
        ("mesh", "y=3"),
        ("dtype", "i32"),
        ("shape", (9, 4)),
        ("lengths", {"h": 4}),
        ("local_shape", (3, 4, 1)),
    ),
)
@pytest.mark.parametrize("warm", (False, True))
def test_calls_that_differ_are_named_on_all_ranks(part, other, warm):
    ranks = Threads(3)
    good = calls((3, 4), (3, 4), (3, 4))
    if warm:
        ranks.call(good)
    errors = ranks.call([*good[:2], {**good[2], part: other}])
    for error in errors:
        assert isinstance(error, RankError)
        assert "rank 0 makes" in str(error) and "rank 2 makes" in str(error) and 's@x h -> s h@x' in str(error)
        assert str(error) == str(errors[0])
    assert [plan.in_shape for plan in ranks.call(good)] == [(9, 4)] * 3


def test_local_shapes_that_do_not_fit_are_named_on_all_ranks():
    for error in Threads(3).call(calls((3, 4), (2, 4), (3, 4))):
        assert isinstance(error, axisloom.ShapeError)
        for told in ("rank 1", "[2, 4]", "[3, 4]", "s@x h -> s h@x", "x=3"):
            assert told in str(error)


def test_what_one_rank_cannot_do_is_raised_by_all():
    given = calls((3, 4), (3, 4))
    given[1]["error"] = axisloom.DtypeError("no such dtype")
    for error in Threads(2).call(given):
        assert isinstance(error, axisloom.DtypeError) and str(error) == "rank 1: no such dtype"


def test_what_one_rank_cannot_prepare_is_raised_by_all():
    def refuse(plan: Redistribution) -> None:
        raise axisloom.UnsupportedError(f"no room for {plan.local_out_shape(1)}")

    given = calls((3, 4), (3, 4), prepare=lambda plan: None)
    given[1]["prepare"] = refuse
    ranks = Threads(2)
    for error in ranks.call(given):
        assert isinstance(error, axisloom.UnsupportedError) and str(error) == "rank 1: no room for (6, 2)"
    given[1]["prepare"] = given[0]["prepare"]
    assert [plan.in_shape for plan in ranks.call(given)] == [(6, 4)] * 2


def test_what_is_wrong_with_the_call_is_raised_by_all():
    for error in Threads(2).call(calls((3, 4), (3, 4), pattern="s@x h -> s s")):
        assert isinstance(error, axisloom.EinopsError)
    for error in Threads(2).call(calls((3, 4), (3, 4), mesh="x=3")):
        assert isinstance(error, axisloom.UsageError) and "3 ranks, and there are 2" in str(error)
    for error in Threads(2).call(calls((3, 4), (3, 4), mesh="x")):
        assert isinstance(error, axisloom.UsageError)
