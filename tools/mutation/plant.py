"""Plants faults. All those of C++ go into one copy of the sources and one build: each mutated expression becomes a choice
between itself and the original, made by AXISLOOM_MUTANT. Faults in kernels are source trees of their own, from which that
build reads its kernels (AXISLOOM_SOURCE). The build also notes which faults a process comes by (AXISLOOM_MUTANTS_REACHED)."""
import re
import shutil
import subprocess

import forms
from draw import ROOT

WORK = ROOT / "build" / "mutants"
COPY = WORK / "source"
BUILD = WORK / "build"
HEADER = "mutant.hpp"

# One byte for each fault, in a file that all processes of a test map: what a child reaches counts, and what one reaches
# that crashes.
CHOICE = """#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <string_view>
constexpr int axl_most_mutants = 65536;
inline unsigned char* axl_reached() {
  static unsigned char* const bytes = [] {
    static unsigned char nowhere[axl_most_mutants];
    const char* path = std::getenv("AXISLOOM_MUTANTS_REACHED");
    const int file = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return nowhere;
    void* mapped = ::mmap(nullptr, axl_most_mutants, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    return mapped == MAP_FAILED ? nowhere : static_cast<unsigned char*>(mapped);
  }();
  return bytes;
}
inline int axl_chosen() {
  static const int number = std::getenv("AXISLOOM_MUTANT") ? std::atoi(std::getenv("AXISLOOM_MUTANT")) : 0;
  return number;
}
constexpr bool axl_mutant(int number) {
  if (__builtin_is_constant_evaluated()) return false;
  axl_reached()[number] = 1;
  return axl_chosen() == number;
}
"""

# Reading a kernel's text is where its faults are reached.
READER = "src/jit/embedded.cpp"
READER_START = re.compile(r"read_from_tree\(const fs::path& root, std::string_view name\) \{$")


# A kernel header that no device includes on which tests run.
UNUSED_HERE = "src/dialect/on_hip.h"


def text_name(file):
    """The name by which the library asks for a kernel's text."""
    return file.removeprefix("src/ops/").removeprefix("src/")


def write_if_new(path, text):
    """Untouched files keep their dates, so that little is built anew."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def copy_tree():
    tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                             capture_output=True, text=True, check=True).stdout.split("\n")
    wanted = {name for name in tracked if name and (ROOT / name).is_file()}
    for path in COPY.rglob("*"):
        if path.is_file() and str(path.relative_to(COPY)) not in wanted | {HEADER}:
            path.unlink()
    for name in wanted:
        target, source = COPY / name, ROOT / name
        if name.endswith(".cpp"):  # written by write_sources
            continue
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    write_if_new(COPY / HEADER, CHOICE)
    return {name for name in wanted if name.endswith(".cpp")}


def write_sources(names, mutants):
    """The copy's sources with all faults of C++ in them."""
    for name in names:
        lines = (ROOT / name).read_text().split("\n")
        for mutant in mutants:
            if mutant.file == name:
                lines[mutant.line] = forms.planted(mutant.before, mutant.after, f"axl_mutant({mutant.number})")
        if name == READER:
            start = next(i for i, line in enumerate(lines) if READER_START.search(line))
            lines[start] += " " + " ".join(f'if (name == "{text_name(m.file)}") axl_reached()[{m.number}] = 1;'
                                           for m in mutants if m.in_kernel())
        write_if_new(COPY / name, "\n".join(lines))


def at_fault(output, mutants):
    """The faults that the compiler's errors name; where they name other lines, the nearest above in that file."""
    found = set()
    for file, line in re.findall(r"source/([^\s:]+):(\d+):\d+: (?:fatal )?error", output):
        above = [m for m in mutants if m.file == file and m.line < int(line)]
        if above:
            found.add(max(above, key=lambda m: m.line).number)
    return found


def build(names, mutants, jobs):
    """Builds until everything compiles; returns the mutants that do."""
    # Vectors look at their indices: what reads beyond one is noticed here as in the sanitized build of the tests.
    subprocess.run(["cmake", "-G", "Ninja", "-S", COPY, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DAXISLOOM_INSTALL=OFF",
                    "-DAXISLOOM_KERNELS_FROM_DISK=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -D_GLIBCXX_ASSERTIONS",
                    "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_CXX_FLAGS=-w -include {COPY}/{HEADER}"],
                   check=True, stdout=subprocess.DEVNULL)
    while True:
        done = subprocess.run(["cmake", "--build", BUILD, "-j", str(jobs), "--", "-k", "0"], capture_output=True, text=True)
        if done.returncode == 0:
            return mutants
        bad = at_fault(done.stdout, mutants)
        if not bad:
            raise SystemExit("the mutated copy does not compile:\n" + done.stdout[-4000:])
        print(f"{len(bad)} of {len(mutants)} do not compile", flush=True)
        mutants = [mutant for mutant in mutants if mutant.number not in bad]
        write_sources(names, mutants)


def plant(mutants, jobs):
    """Copies, plants and builds; returns the mutants that compile."""
    names = copy_tree()
    write_sources(names, mutants)
    return build(names, mutants, jobs)


def kernel_tree(name, mutant=None):
    """A source tree for the kernels, of links, in which one file differs; without a mutant by an empty line, so that tests
    which look whether any does are known."""
    tree = WORK / "kernels" / str(name)
    shutil.rmtree(tree, ignore_errors=True)
    for folder in ("tuning", "bench", "docs"):
        (tree / folder).parent.mkdir(parents=True, exist_ok=True)
        (tree / folder).symlink_to(ROOT / folder)
    for source in [*ROOT.glob("src/dialect/**/*"), *ROOT.glob("src/ops/**/*")]:
        if source.is_file() and source.suffix in (".h", ".kernel"):
            target = tree / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source)
    changed = tree / (mutant.file if mutant else UNUSED_HERE)
    lines = changed.read_text().split("\n")
    if mutant:
        lines[mutant.line] = mutant.after
    else:
        lines.append("")
    changed.unlink()
    changed.write_text("\n".join(lines))
    return tree
