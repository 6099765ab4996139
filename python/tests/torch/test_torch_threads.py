"""First calls from several threads at once."""

import subprocess
import sys
import textwrap

import pytest

FIRST = {
    "recording": "axisloom.rearrange(torch.ones(2, 3, requires_grad=True), 'a b -> b a')",
    "meta": "axisloom.rearrange(torch.empty(2, 3, device='meta'), 'a b -> b a')",
    "vmap": "torch.vmap(lambda x: axisloom.sum(x))(torch.ones(4, 3))",
}


@pytest.mark.parametrize("kind", FIRST)
def test_first_calls_of_threads(kind):
    code = f"""
        import threading, torch, axisloom
        def work():
            {FIRST[kind]}
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
