"""How calls go with threads, processes and signals."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import axisloom
import numpy as np
import pytest


def run(code, **environment):
    """What a new interpreter prints."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_threads_share_what_is_remembered():
    arrays = [np.random.default_rng(seed).random((7 + seed, 11, 13)) for seed in range(6)]
    faults = []

    def work(seed):
        for i in range(300):
            array = arrays[(seed + i) % len(arrays)]
            if not np.array_equal(axisloom.rearrange(array, "a b c -> c (b a)"), array.transpose(2, 1, 0).reshape(13, -1)):
                faults.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


@contextlib.contextmanager
def counted():
    """The steps of another thread, which runs where the lock is given up: nobody is made to."""
    steps, done = [], threading.Event()

    def count():
        while not done.is_set():
            steps.append(None)
            time.sleep(0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(100)
    thread = threading.Thread(target=count)
    try:
        thread.start()
        yield steps
    finally:
        done.set()
        sys.setswitchinterval(before)
        thread.join()


def test_others_run_while_a_large_array_moves():
    array, out = np.ones((2048, 2048)), np.empty((2048, 2048))
    with counted() as steps:
        met = len(steps)
        for _ in range(20):
            axisloom.rearrange(array, "a b -> b a", out=out)
        assert len(steps) > met


@pytest.mark.parametrize("device", [d["device"] for d in axisloom.devices() if d["device"] != "host"])
def test_others_run_while_an_array_is_taken_to_a_device_and_back(device):
    here = axisloom.Array(np.ones((2048, 2048)))
    there = here.to(device)
    for take in (lambda: here.to(device), there.numpy):
        with counted() as steps:
            met = len(steps)
            for _ in range(10):
                take()
            assert len(steps) > met


def test_a_child_after_a_fork_computes():
    array = np.arange(1 << 20, dtype="f4").reshape(1024, 1024)
    axisloom.rearrange(array, "a b -> b a")
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(axisloom.rearrange(array, "a b -> b a"), array.T) else 1)
    assert os.waitpid(child, 0)[1] == 0


FORK_IN_A_CALL = """
    import faulthandler, os, threading, axisloom, numpy as np
    array, stop = np.ones((600, 600)), []
    def work():
        while not stop:
            CALL
    CALL
    thread = threading.Thread(target=work)
    thread.start()
    codes = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(20, exit=True)
            CALL
            os._exit(0)
        codes.append(os.waitpid(child, 0)[1])
    stop.append(True)
    thread.join()
    print(codes)
"""


@pytest.mark.parametrize("call", ["axisloom.mean(array, axis=0)", "axisloom.sum(array)", "axisloom.matmul(array, array)",
                                  "axisloom.rearrange(array, 'a b -> b a')"])
def test_a_child_whose_parent_was_in_a_call_computes(call):
    assert run(FORK_IN_A_CALL.replace("CALL", call), AXISLOOM_THREADS="2") == str([0] * 8)


@pytest.mark.parametrize("call", ["axisloom.rearrange(array, 'a b -> b a')", "axisloom.mean(array, axis=0)"])
def test_a_thread_in_a_call_does_not_disturb_the_end(call):
    code = f"""
        import sys, threading, time, axisloom, numpy as np
        array = np.ones((600, 600))
        def prefetch():
            while True:
                {call}
        threading.Thread(target=prefetch, daemon=True).start()
        time.sleep(0.2)
        sys.exit(3)
    """
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (3, "")


def test_multiprocessing():
    code = """
        import multiprocessing
        import axisloom, numpy as np
        def work(seed):
            array = np.full((512, 512), seed)
            return int(axisloom.sum(axisloom.rearrange(array, "a b -> b a")))
        if __name__ == "__main__":
            axisloom.sum(np.ones(1 << 22))
            for method in ("fork", "forkserver"):
                with multiprocessing.get_context(method).Pool(2) as pool:
                    print(pool.map(work, range(3)))
    """
    path = "/tmp/axisloom_test_multiprocessing.py"
    with open(path, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(code))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
    os.unlink(path)
    assert done.stdout.split("\n")[:2] == ["[0, 262144, 524288]"] * 2, done.stderr


def test_ctrl_c_ends_a_loop():
    code = """
        import axisloom, numpy as np
        array = np.ones((1024, 1024))
        print("ready", flush=True)
        while True:
            axisloom.rearrange(array, "a b -> b a")
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGINT)
        errors = child.communicate(timeout=60)[1]
    assert b"KeyboardInterrupt" in errors


COUNT = """
    import os, axisloom, numpy as np
    axisloom.sum(np.ones(1 << 24))
    print(axisloom.get_num_threads(), len(os.listdir("/proc/self/task")))
"""


def test_variables_set_the_number_of_threads():
    alone = {"OPENBLAS_NUM_THREADS": "1"}
    assert run(COUNT, OMP_NUM_THREADS="1", **alone) == "1 1"
    assert run(COUNT, AXISLOOM_THREADS="1", **alone) == "1 1"
    assert run(COUNT, AXISLOOM_THREADS="3", OMP_NUM_THREADS="1", **alone) == "3 3"


def test_a_call_sets_the_number_of_threads():
    code = COUNT.replace("axisloom.sum", "axisloom.set_num_threads(1)\n    axisloom.sum", 1)
    assert run(code, OPENBLAS_NUM_THREADS="1", AXISLOOM_THREADS="3") == "1 1"
    with pytest.raises(ValueError):
        axisloom.set_num_threads(0)
    with pytest.raises(TypeError):
        axisloom.set_num_threads("many")


def test_the_device_comes_from_the_environment():
    code = """
        import axisloom, numpy as np
        try:
            axisloom.sum(np.ones(4))
        except axisloom.Error as error:
            print(type(error).__name__, "cuda:77" in str(error))
    """
    assert run(code, AXISLOOM_DEVICE="cuda:77") == "DeviceError True"
