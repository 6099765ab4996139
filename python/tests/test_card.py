"""Arrays on a CUDA device, by an emulated driver on which every kernel makes zeros: where memory lies and who keeps it.
AXISLOOM_EMULATED_CARD names the folder of that driver."""

import os
import subprocess
import sys
import textwrap

import pytest

FOLDER = os.environ.get("AXISLOOM_EMULATED_CARD")

pytestmark = pytest.mark.skipif(not FOLDER, reason="AXISLOOM_EMULATED_CARD is not set")


def on_card(code):
    """What a process with that driver prints. `card` is an Array there, `zeros` the same of NumPy."""
    begin = """
        import numpy as np, axisloom
        zeros = np.zeros((4, 6), "f4")
        card = axisloom.Array(zeros, "cuda:0")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(begin) + textwrap.dedent(code)], capture_output=True, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": FOLDER, "AXISLOOM_CACHE_DIR": "off"}, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().split("\n")


def test_an_array_goes_there_and_back():
    assert on_card("""
        print(card.device, card.__dlpack_device__(), card.to("host").device, card.to("cuda:0") is card)
        print(np.array_equal(card.numpy(), zeros))
    """) == ["cuda:0 (2, 0) host True", "True"]


def test_results_stay_there():
    assert on_card("""
        turned = axisloom.rearrange(card, "h w -> w h")
        print(turned, turned.numpy().shape)
        print(axisloom.rearrange(card, "h w -> w h", stream=0).shape)
        out = axisloom.Array(np.ones((6, 4), "f4"), "cuda:0")
        print(axisloom.rearrange(card, "h w -> w h", out=out) is out, out.numpy().sum())
    """) == ["<axisloom.Array f32[6,4] on cuda:0> (6, 4)", "(6, 4)", "True 0.0"]


def test_other_libraries_can_read_it():
    assert on_card("""
        interface = card.__cuda_array_interface__
        print(interface["shape"], interface["typestr"], interface["strides"], interface["version"], interface["data"][0] != 0)
        class Other:
            def __dlpack__(self, **asked):
                print(sorted(asked))
                return card.__dlpack__(**asked)
            def __dlpack_device__(self):
                return card.__dlpack_device__()
        held = axisloom.from_dlpack(Other())
        print(held, held.numpy().sum())
        try:
            card.__array_interface__
        except AttributeError as error:
            print("host" in str(error))
        try:
            memoryview(card)
        except BufferError as error:
            print("to(" in str(error))
        try:
            np.asarray(card)
        except TypeError as error:
            print("numpy()" in str(error))
    """) == ["(4, 6) <f4 None 3 True", "['max_version', 'stream']", "<axisloom.Array f32[4,6] on cuda:0> 0.0", "True", "True", "True"]


def test_arrays_of_two_places_are_refused():
    assert on_card("""
        for call in (lambda: axisloom.einsum("i j, j k -> i k", card, np.zeros((6, 2), "f4")),
                     lambda: axisloom.rearrange(card, "h w -> w h", device="host"),
                     lambda: axisloom.rearrange(card, "h w -> w h", out=np.zeros((6, 4), "f4"))):
            try:
                call()
            except ValueError as error:
                print(error)
    """) == ["arrays of one call have to lie in one place: one is on the host, the first one on cuda:0",
             'device= is "host", but the array lies on cuda:0: take it there first',
             "arrays of one call have to lie in one place: one is on the host, the first one on cuda:0"]


def test_the_host_s_arrays_go_there_for_a_call():
    assert on_card("""
        print(type(axisloom.rearrange(zeros, "h w -> w h", device="cuda:0")).__name__)
    """) == ["ndarray"]


def test_parts_are_read_and_written_where_they_lie():
    assert on_card("""
        card = axisloom.Array(np.arange(24.0).reshape(4, 6), "cuda:0")
        print(card[2].numpy(), card[1, 1:3].numpy(), card[3, 5].item(), card[2:][1][0].item())
        part = card[1:3, ::2]
        print(part.__cuda_array_interface__["data"][0] - card.__cuda_array_interface__["data"][0], part.strides)
        print(axisloom.copy(part), axisloom.rearrange(card[3], "(a b) -> a b", a=2, out=card[0].reshape((2, 3))).shape)
        import pickle, copy
        for made in (pickle.loads(pickle.dumps(card[3])), copy.copy(card[3])):
            print(made, end=" ")
    """) == ["[12. 13. 14. 15. 16. 17.] [7. 8.] 23.0 18.0", "48 (6, 2)", "<axisloom.Array f64[2,3] on cuda:0> (2, 3)",
             "<axisloom.Array f64[6] on cuda:0> <axisloom.Array f64[6] on cuda:0>"]
