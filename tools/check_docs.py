#!/usr/bin/env python3
"""Checks that documents and comments tell the truth: the paths they name exist, the links lead somewhere, the shell
examples marked "sh run" work, pictures are what these examples make, examples in C and C++ stand in a test, and no source
file has grown beyond its limit. An example that is marked with the name of a file ("cpp first.cpp") is that file for the
shell examples beside it, which find an installed copy of the library.

Usage: tools/check_docs.py [--program build/axisloom]     Without a program the examples are not run.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINE_LIMIT = 600
SOURCES = {".c", ".cpp", ".hpp", ".h", ".kernel"}
SCRIPTS = {".sh", ".py", ".cmake", ".yml"}
# A path of this project starts at one of its modules; <op> and * stand for any name.
PATH = re.compile(r"(?<![\w./-])((?:src|include|harness|cli|bench|tests|tools|tuning|docs|cmake|packaging|python|\.ci)/[\w.*<>/-]*[\w*>/])")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
EXCERPT = re.compile(r"^```(?:c|cpp)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```sh run\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE_FILE = re.compile(r"^```\w+ (\w+\.\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def tracked_files():
    # A checkout may belong to someone else than the one who tests it, as in containers.
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    return [ROOT / name for name in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n") if name]


def exists(path):
    pattern = re.sub(r"<[^>]*>", "*", path).rstrip("/")
    if "*" in pattern:
        return any(ROOT.glob(pattern))
    # A file called by one letter stands for any; a name may leave out its ending.
    if re.search(r"/[a-z]\.\w+$", pattern):
        return (ROOT / pattern).parent.exists()
    return (ROOT / pattern).exists() or any(ROOT.glob(pattern + ".*"))


def comment(line, suffix):
    mark = "//" if suffix in SOURCES else "#"
    return line.partition(mark)[2] if mark in line else ""


def check_paths(file, text):
    for number, line in enumerate(text.splitlines(), 1):
        words = line if file.suffix == ".md" else comment(line, file.suffix)
        for path in PATH.findall(words):
            if not exists(path):
                yield f"{file.relative_to(ROOT)}:{number}: no such path: {path}"


def check_links(file, text):
    for target in LINK.findall(text):
        if "://" not in target and not target.startswith("mailto:") and not (file.parent / target).exists():
            yield f"{file.relative_to(ROOT)}: broken link: {target}"


def squeezed(text):
    """Lines without indentation, blank ones and includes left out: what an excerpt and its test have in common."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("#include"))


def check_excerpts(file, text):
    sources = [file for file in (ROOT / "tests").rglob("*.c*") if file.suffix in SOURCES]
    compiled = [squeezed(source.read_text(encoding="utf-8")) for source in sources]
    for excerpt in map(squeezed, EXCERPT.findall(text)):
        if not any(excerpt in source for source in compiled):
            yield f"{file.relative_to(ROOT)}: this example stands in no test: {excerpt.splitlines()[0]}"


def installed(build, prefix):
    """Installs what was built, and gives the variables by which compilers and programs find it."""
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True)
    library = next(prefix.rglob("libaxisloom.so")).parent
    return {"CMAKE_PREFIX_PATH": str(prefix), "PKG_CONFIG_PATH": str(library / "pkgconfig"), "LD_LIBRARY_PATH": str(library)}


def check_examples(file, text, program):
    """All examples of a document run in one folder, in order, with the built program first on PATH."""
    script = "\n".join(EXAMPLE.findall(text))
    if not script:
        return
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as prefix:
        env = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}", AXISLOOM=str(ROOT))
        files = EXAMPLE_FILE.findall(text)
        for name, content in files:
            pathlib.Path(folder, name).write_text(content, encoding="utf-8")
        if files:
            env |= installed(program.parent, pathlib.Path(prefix))
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=env, capture_output=True, text=True)
        if done.returncode:
            yield f"{file.relative_to(ROOT)}: an example fails ({done.returncode}): {(done.stderr or done.stdout).strip()[-800:]}"
        yield from check_pictures(file, text, pathlib.Path(folder), program)


def check_pictures(file, text, folder, program):
    """A document's own pictures, in the folder of its name, are what its examples make: the same pixels."""
    def pixels(picture):
        done = subprocess.run([program, "copy", picture, "-o", folder / "pixels.npy"], capture_output=True)
        return b"" if done.returncode else (folder / "pixels.npy").read_bytes()

    for target in LINK.findall(text):
        if target.startswith(f"images/{file.stem}/"):
            made = pixels(folder / pathlib.Path(target).name)
            if not made or made != pixels(file.parent / target):
                yield f"{file.relative_to(ROOT)}: its examples do not make this picture: {target}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path)
    arguments = parser.parse_args()
    program = arguments.program.resolve() if arguments.program else None

    files = [f for f in tracked_files() if f.exists() and (f.suffix in SOURCES | SCRIPTS | {".md"} or f.name == "CMakeLists.txt")]
    faults = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        faults += check_paths(file, text)
        if file.suffix == ".md":
            faults += check_links(file, text)
            faults += check_excerpts(file, text)
            if program:
                faults += check_examples(file, text, program)
        elif len(text.splitlines()) > LINE_LIMIT:
            faults.append(f"{file.relative_to(ROOT)}: {len(text.splitlines())} lines, more than {LINE_LIMIT}")
    print("\n".join(faults) if faults else f"{len(files)} files tell the truth")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
