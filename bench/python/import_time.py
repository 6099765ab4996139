#!/usr/bin/env python3
"""How long `import axisloom` takes: what a Python process needs with it and without, in turns, the smallest of each.

Usage: PYTHONPATH=build/python bench/python/import_time.py [RUNS]      exit status 1: it takes more than 40 ms
"""

import os
import subprocess
import sys
import time

LIMIT_MS = 40.0
# With bytecode of an earlier run, as an installed package has it.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def milliseconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, env=ENVIRONMENT)
    return (time.perf_counter() - start) * 1e3


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    statements = ("pass", "import axisloom")
    bare, imported = (min(times) for times in zip(*[[milliseconds(each) for each in statements] for _ in range(runs)]))
    print(f"python {bare:.1f} ms, with axisloom {imported:.1f} ms: {imported - bare:.1f} ms more, of {LIMIT_MS:.0f}")
    return imported - bare > LIMIT_MS


if __name__ == "__main__":
    sys.exit(main())
