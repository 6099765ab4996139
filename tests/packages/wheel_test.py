"""Uses the installed wheel where there is Python and nothing else; tests/packages/wheel.sh runs it. NumPy is there."""

import doctest
import importlib.metadata
import pathlib
import subprocess
import sys
import sysconfig

import axisloom

SCRIPT = pathlib.Path(sysconfig.get_path("scripts"), "axisloom")


def output(*command: object) -> str:
    return subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    expected = f"axisloom {importlib.metadata.version('axisloom')}"
    for command in ((sys.executable, "-m", "axisloom"), (SCRIPT,)):
        assert output(*command, "--version").startswith(expected), command
        refused = subprocess.run([*map(str, command), "no-such-command"], capture_output=True, check=False)
        assert refused.returncode == 2, refused

    output(SCRIPT, "demo", "-o", "cards", "--quiet", "--device", "host")
    output(sys.executable, "-m", "axisloom", "transpose", "cards/card.png", "-o", "transposed.png")
    assert pathlib.Path("transposed.png").read_bytes() == pathlib.Path("cards/card-transposed.png").read_bytes()
    print(output(SCRIPT, "devices").strip())

    # The program reads what it measured, by the schema that is within it.
    measured = axisloom.bench("transpose", "transpose f32 512x512", device="host", peers="none", min_time=0.001)
    pathlib.Path("measured.json").write_text(measured.json(), encoding="utf-8")
    assert "transpose f32 512x512" in output(SCRIPT, "bench", "table", "measured.json")

    examples = doctest.testfile("README.md", module_relative=False)
    assert examples.attempted and not examples.failed, examples
    print(f"{expected} on Python {sys.version.split()[0]}: {examples.attempted} examples of the README, and the program")


main()
