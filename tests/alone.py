#!/usr/bin/env python3
"""Compiles headers and sources one by one, each before anything else, so that each must include what it uses: builds compile
several sources together, where one may live on what another includes.

Usage: tests/alone.py [--sources] BUILD_FOLDER [FOLDER...]     Headers; with --sources the .cpp files too, some minutes.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["include", "src", "harness", "bench", "cli", "tests/unit", "tests/fuzz", "tests/faults"]
# Written for a compiler of kernels, which has no includes of its own, or for a build that says where its headers lie.
LEFT_OUT = ("tests/unit/dialect_cpp_emulated", "tests/unit/bench_peer_declarations", "tests/fuzz/")


def command_of(build):
    """The compiler of a build with every folder that it gives to some source of the project itself, and every macro, as the
    first that has it has it."""
    compiler, flags = None, {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = [word for word in shlex.split(entry["command"]) if "ccache" not in word]
        compiler = compiler or words[0]
        for i, word in enumerate(words):
            flag = [word, words[i + 1]] if word == "-isystem" else [word]
            if word.startswith(("-D", "-I", "-isystem")) and "/tests/" not in flag[-1] and not flag[-1].endswith("/src/ops"):
                flags.setdefault(flag[-1].partition("=")[0], flag)
    return [compiler, "-std=c++20", "-fsyntax-only", "-w", *(word for flag in flags.values() for word in flag)]


def fault_of(command, name):
    done = subprocess.run([*command, "-x", "c++", "-"], input=f'#include "{ROOT / name}"\n', cwd=ROOT, capture_output=True, text=True)
    return f"{name} does not stand alone:\n{done.stderr[:1000]}" if done.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    arguments = parser.parse_args()

    listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "--cached", "--others",
                             "--exclude-standard", "--", *arguments.folders], check=True, capture_output=True, text=True)
    endings = {".hpp", ".cpp"} if arguments.sources else {".hpp"}
    names = [name for name in listed.stdout.splitlines()
             if pathlib.Path(name).suffix in endings and (ROOT / name).exists() and not name.startswith(LEFT_OUT)]
    command = command_of(arguments.build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda name: fault_of(command, name), names) if fault]
    print("\n".join(faults))
    print(f"{len(names) - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
