"""The tests of einops and NumPy with Axisloom's functions in place of their own, each in a process of its own."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

INSTALLED = {distribution.name for distribution in importlib.metadata.distributions()}
BACKENDS = [name for name in ("numpy", "torch") if name in INSTALLED]


@pytest.mark.parametrize("suite, least", (("einops_suite", 45), ("numpy_suite", 400)))
def test_suite(suite, least):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # a test of einops starts "python"
    environment = {**os.environ, "EINOPS_TEST_BACKENDS": ",".join(BACKENDS), "PATH": path}
    command = [sys.executable, str(Path(__file__).with_name(f"{suite}.py"))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(done.stdout.split(" passed")[0].split()[-1])
    assert passed >= least, done.stdout
