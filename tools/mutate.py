#!/usr/bin/env python3
"""Plants small faults in a copy of the sources and runs the tests on each: a fault that no test notices is a gap in them.

    draw     Candidates are found by pattern in every line of code, never by line number, so the drawing survives any change
             of structure. A seed picks among them, the modules taking turns.
    plant    All faults of C++ go into one build: each mutated expression becomes a choice between itself and the original,
             made by the environment variable AXISLOOM_MUTANT. What does not compile is dropped and another one drawn.
             Faults in kernels are source trees of their own, from which the build reads its kernels (AXISLOOM_SOURCE).
    judge    The tests run in stages, those nearest to the fault first, and stop at the first that fails, crashes or
             takes far too long: the fault is dead. One that passes them all survives and is printed.

The idea, and the choice at run time ("mutant schemata"): R. H. Untch, A. J. Offutt, M. J. Harrold, ISSTA 1993.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "mutants"
COPY = WORK / "source"
BUILD = WORK / "build"

# The modules that take turns; each is a glob of sources. A header of kernels ends in .h, one of the host in .hpp.
MODULES = {
    "core": ["src/core/*.cpp"],
    "device": ["src/device/*.cpp"],
    "opencl": ["src/device/opencl/*.cpp"],
    "cuda": ["src/device/cuda/*.cpp"],
    "jit": ["src/jit/*.cpp"],
    "tune": ["src/tune/*.cpp"],
    "ops": ["src/ops/*.cpp"],
    "rearrange": ["src/ops/rearrange/*.cpp"],
    "reduce": ["src/ops/reduce/*.cpp"],
    "matmul": ["src/ops/matmul/*.cpp"],
    "einsum": ["src/ops/einsum/*.cpp"],
    "io": ["src/io/*.cpp"],
    "cli": ["cli/*.cpp", "cli/check/*.cpp"],
    "bench": ["bench/*.cpp", "bench/ladder/*.cpp"],
    "rearrange kernels": ["src/ops/rearrange/*.kernel", "src/ops/rearrange/*.h"],
    "reduce kernels": ["src/ops/reduce/*.kernel", "src/ops/reduce/*.h"],
    "matmul kernels": ["src/ops/matmul/*.kernel", "src/ops/matmul/*.h"],
    "einsum kernels": ["src/ops/einsum/*.kernel"],
    "dialect": ["src/dialect/*.h"],
}

# Left out: predictions choose between variants that all give the right result, so a fault in them is a matter of speed;
# and generated or purely declarative text.
LEFT_OUT = re.compile(r"/(cost|model)\.cpp$|/params\.h$")
LEFT_OUT_LINE = re.compile(r"seconds|efficiency|predict|#include|static_assert|\bconstexpr\b|\bcase\b.*:$|operator|template")

COMPARISONS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "}
OPERATORS = COMPARISONS | {" && ": " || ", " || ": " && ", " + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " % ": " / "}
SWAPS = {"std::min(": "std::max(", "std::max(": "std::min(", "min_index(": "max_index(", "max_index(": "min_index("}

# How long a stage may take, in seconds: ten times what it takes without a fault and on a busy machine.
STAGE_LIMIT = 600


class Mutant:
    def __init__(self, file, line, module, kind, before, after):
        self.file, self.line, self.module, self.kind = file, line, module, kind
        self.before, self.after = before, after  # the whole line, without its line end
        self.number = 0

    def __str__(self):
        return (f"{self.number:4} {self.module}, {self.kind}: {self.file}:{self.line + 1}\n"
                f"       - {self.before.strip()}\n       + {self.after.strip()}")


# --- drawing ------------------------------------------------------------------------------------------------------------

def masked(line):
    """The line with what stands in strings and comments blanked out, so that positions stay."""
    line = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', lambda m: m[0][0] + " " * (len(m[0]) - 2) + m[0][-1], line)
    return re.sub(r"//.*", lambda m: " " * len(m[0]), line)


def changes(code):
    """(kind, start, end, replacement) for every small fault that fits the text."""
    for old, new in OPERATORS.items():
        kind = "comparison" if old in COMPARISONS else "operator"
        for m in re.finditer(re.escape(old), code):
            yield kind, m.start(), m.end(), new
    for old, new in SWAPS.items():
        for m in re.finditer(re.escape(old), code):
            yield "swapped minimum and maximum", m.start(), m.end(), new
    for m in re.finditer(r"(?<![\w.])\d+(?![\w.])", code):
        yield "constant", m.start(), m.end(), str(int(m[0]) + 1)
    for m in re.finditer(r"\b\w+\((\w[\w.]*), (\w[\w.]*)\)", code):
        if m[1] != m[2]:
            yield "swapped arguments", m.start(1), m.end(2), f"{m[2]}, {m[1]}"


def dropped_check(code, following):
    """The condition of an if that refuses something."""
    m = re.match(r"\s*(?:\} else )?if \((?!const auto|auto)(.*)\)( \{| .*;)?$", code.rstrip())
    if not m or m[1].count("(") != m[1].count(")") or ";" in m[1]:
        return None
    consequence = (m[2] or "") + following
    if not re.search(r"throw|refuse|fail|complain", consequence):
        return None
    return "dropped check", m.start(1), m.end(1), "false"


def candidates_of(path, module):
    relative = str(path.relative_to(ROOT))
    lines = path.read_text().split("\n")
    kernel = path.suffix != ".cpp"
    for number, line in enumerate(lines):
        code = masked(line)
        if not code.strip() or LEFT_OUT_LINE.search(line) or (code.lstrip().startswith("#") and not kernel):
            continue
        if code.lstrip().startswith(("#if", "#elif", "#define AXL_PARAMS", "#pragma", "#error")):
            continue
        found = list(changes(code))
        if not kernel:
            check = dropped_check(code, lines[number + 1] if number + 1 < len(lines) else "")
            if check:
                found.append(check)
        for kind, start, end, new in found:
            mutant = Mutant(relative, number, module, kind, line, line[:start] + new + line[end:])
            if kernel or planted(mutant, 0):
                yield mutant


def draw(seed):
    """All candidates in the order in which they are to be tried: modules take turns, and kinds within them."""
    piles = []
    for module, globs in MODULES.items():
        chance = random.Random(f"{seed} {module}")
        by_kind = {}
        for pattern in globs:
            for path in sorted(ROOT.glob(pattern)):
                if not LEFT_OUT.search("/" + str(path.relative_to(ROOT))):
                    for mutant in candidates_of(path, module):
                        by_kind.setdefault(mutant.kind, []).append(mutant)
        kinds = sorted(by_kind)
        for kind in kinds:
            chance.shuffle(by_kind[kind])
        chance.shuffle(kinds)
        pile = []
        while any(by_kind.values()):
            pile += [by_kind[kind].pop() for kind in kinds if by_kind[kind]]
        piles.append(pile)
    order, taken = [], set()
    for turn in range(max(map(len, piles))):
        for pile in piles:
            if turn < len(pile) and (pile[turn].file, pile[turn].line) not in taken:  # one fault a line
                taken.add((pile[turn].file, pile[turn].line))
                order.append(pile[turn])
    return order


# --- planting -----------------------------------------------------------------------------------------------------------

CHOICE = """#pragma once
#include <cstdlib>
#include <type_traits>
inline const int axl_chosen = std::getenv("AXISLOOM_MUTANT") ? std::atoi(std::getenv("AXISLOOM_MUTANT")) : 0;
constexpr bool axl_mutant(int number) { return std::is_constant_evaluated() ? false : axl_chosen == number; }
"""


def planted(mutant, number):
    """The line with both the original and the fault, and the choice between them; nothing where the form is not known."""
    before, after = mutant.before, mutant.after
    code = masked(before).rstrip()
    chosen = f"axl_mutant({number})"

    def both(prefix, suffix):
        old = before[len(prefix):len(before.rstrip()) - len(suffix)]
        new = after[len(prefix):len(after.rstrip()) - len(suffix)]
        return old, new

    if m := re.match(r"\s*(?:\} else )?(?:if|while) \((?!const |auto )(.*)(\)(?: \{)?)$", code):
        if m[1].count("(") == m[1].count(")") and ";" not in m[1]:
            old, new = both(code[:m.start(1)], code[m.end(1):])
            return f"{code[:m.start(1)]}{chosen} ? ({new}) : ({old}){code[m.end(1):]}"
    if m := re.match(r"(\s*(?:\} else )?(?:if|while) \()((?!const |auto ).*)$", code):
        closing = matching(code, m.start(2))
        if closing and code.endswith(";") and ";" not in code[m.start(2):closing]:
            shift = len(after.rstrip()) - len(code)
            if after[closing + shift:].rstrip() == before[closing:].rstrip():  # the fault is in the condition
                old, new = before[m.start(2):closing], after[m.start(2):closing + shift]
                return f"{m[1]}{chosen} ? ({new}) : ({old}){before[closing:]}"
            return None
    if m := re.match(r"(\s*for \([^;]*; )([^;]*)(; [^;]*)$", code):
        old, new = both(m[1], m[3])
        if m[3] == after.rstrip()[len(after.rstrip()) - len(m[3]):] and after.startswith(m[1]):
            return f"{m[1]}{chosen} ? ({new}) : ({old}){m[3]}"
        return None
    if code.count("(") != code.count(")") or code.count("{") != code.count("}") or not code.endswith(";"):
        return None
    if re.match(r"\s*return [^{]*;$", code):
        return f"{{ if ({chosen}) {after.strip()} {before.strip()} }}"
    if m := re.match(r"(\s*(?:const )?(?:auto|bool|int|unsigned|double|std::u?int\d+_t|std::size_t) \w+ = )(.*)(;)$", code):
        if after.startswith(m[1]):
            old, new = both(m[1], ";")
            return f"{m[1]}{chosen} ? ({new}) : ({old});"
        return None
    target = r"[\w.\->\[\]:*]+"
    if re.match(rf"\s*{target} [-+*/|&]?= .*;$", code) or re.match(rf"\s*{target}\(.*\);$", code):
        return f"{{ if ({chosen}) {{ {after.strip()} }} else {{ {before.strip()} }} }}"
    return None


def matching(code, start):
    """Where the bracket that was opened before `start` is closed."""
    depth = 1
    for at in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return None


def copy_tree():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    wanted = {name for name in tracked if name and (ROOT / name).is_file()}
    for name in wanted:
        target, source = COPY / name, ROOT / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    (COPY / "mutant.hpp").write_text(CHOICE)


def write_sources(mutants):
    """The copy's files with all faults of C++ in them; untouched files keep their dates, so that little is built anew."""
    by_file = {}
    for mutant in mutants:
        if mutant.file.endswith(".cpp"):
            by_file.setdefault(mutant.file, []).append(mutant)
    for path in COPY.rglob("*.cpp"):
        name = str(path.relative_to(COPY))
        if not (ROOT / name).exists():
            continue
        lines = (ROOT / name).read_text().split("\n")
        for mutant in by_file.get(name, []):
            lines[mutant.line] = planted(mutant, mutant.number)
        text = "\n".join(lines)
        if path.read_text() != text:
            path.write_text(text)


def build(mutants):
    """Builds until everything compiles; returns the mutants that do."""
    subprocess.run(["cmake", "-G", "Ninja", "-S", COPY, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", "-DAXISLOOM_INSTALL=OFF",
                    "-DAXISLOOM_KERNELS_FROM_DISK=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
                    f"-DCMAKE_CXX_FLAGS=-w -include {COPY}/mutant.hpp"], check=True, stdout=subprocess.DEVNULL)
    while True:
        write_sources(mutants)
        done = subprocess.run(["cmake", "--build", BUILD, "--", "-k", "0"], capture_output=True, text=True)
        if done.returncode == 0:
            return mutants
        at_fault = {(m[1], int(m[2]) - 1) for m in re.finditer(rf"{re.escape(str(COPY))}/(\S+?):(\d+):\d+: error", done.stdout)}
        at_fault |= {(m[1], int(m[2]) - 1) for m in re.finditer(r"source/(\S+?):(\d+):\d+: error", done.stdout)}
        left = [mutant for mutant in mutants if (mutant.file, mutant.line) not in at_fault]
        if len(left) == len(mutants):
            sys.exit("the mutated copy does not compile:\n" + done.stdout[-4000:])
        mutants = left


def plant(seed, count):
    """The first `count` faults of the drawing that compile, planted and built; remembered for the next call."""
    memory = WORK / f"mutants-{seed}-{count}.json"
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    order = draw(seed)
    for number, mutant in enumerate(order, 1):
        mutant.number = number
    if memory.exists() and (known := json.loads(memory.read_text()))["head"] == head:
        mutants = [mutant for mutant in order if mutant.number in known["numbers"]]
        build(mutants)
        return mutants
    copy_tree()
    # A few more than wanted, since some do not compile.
    mutants = build(order[:count + count // 4])[:count]
    memory.write_text(json.dumps({"head": head, "numbers": [mutant.number for mutant in mutants]}))
    return mutants


def kernel_tree(mutant):
    """A source tree for the kernels in which one file differs; the others are links."""
    tree = WORK / "kernels" / str(mutant.number)
    shutil.rmtree(tree, ignore_errors=True)
    for folder in ("tuning", "bench", "docs"):
        (tree / folder).parent.mkdir(parents=True, exist_ok=True)
        (tree / folder).symlink_to(ROOT / folder)
    for source in [*ROOT.glob("src/dialect/**/*"), *ROOT.glob("src/ops/**/*")]:
        if source.is_file() and source.suffix in (".h", ".kernel"):
            target = tree / source.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(source)
    changed = tree / mutant.file
    lines = changed.read_text().split("\n")
    lines[mutant.line] = mutant.after
    changed.unlink()
    changed.write_text("\n".join(lines))
    return tree


# --- judging ------------------------------------------------------------------------------------------------------------

def stages(mutant):
    """Commands in the order in which they are likeliest to notice, each with its name."""
    tests, program = str(BUILD / "axisloom_tests"), str(BUILD / "axisloom")
    host = subprocess.run([str(ROOT / "tests/host_suites.sh")], capture_output=True, text=True, check=True).stdout.strip()
    slow = ":".join((ROOT / "tests/unit/slow.txt").read_text().split()) if (ROOT / "tests/unit/slow.txt").exists() else ""
    op = mutant.module.split()[0]
    own = {"rearrange": ["transpose", "permute", "relayout", "copy", "repeat", "edge", "vectors"], "reduce": ["reduce"],
           "einsum": ["einsum"], "matmul": ["einsum"]}.get(op, [])
    rest = [p.stem for p in sorted((ROOT / "tests/cases").glob("*.cases")) if p.stem not in own]

    def unit(name, wanted, without):
        return (name, [tests, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={wanted}-{without}"])

    def cases(names, *options):
        return [program, "check", "--quiet", "--max-failures", "1", *options, "--cases",
                *[str(ROOT / f"tests/cases/{name}.cases") for name in names]]

    near = [("its cases", cases(own))] if own else []
    if own:
        near.append(("its kernels", unit("", f"*{op.capitalize()}*:*Product*:*Slices*", slow)[1]))
    python = [(path.name, [os.environ.get("AXISLOOM_PYTHON", "python3"), str(path), program])
              for path in sorted((ROOT / "tests/cli").glob("*.py"))]
    program_first = mutant.module in ("io", "cli", "bench")
    return [unit("host", host, slow), *near, *(python if program_first else []), unit("unit", "*", f"{slow}:{host}"),
            ("cases", cases(rest)), *([] if program_first else python),
            ("random", [program, "check", "--quiet", "--random", "150", "--seed", "1", "--max-failures", "1"]),
            ("CHECKED", cases(own or rest, "--checked")),
            *([unit("slow", slow, host)] if slow else [])]


def run_stages(mutant, environment):
    for name, command in stages(mutant):
        try:
            # Tests look for what they need beside the sources, so each stage runs there.
            done = subprocess.run(command, cwd=ROOT, env=environment, timeout=STAGE_LIMIT, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return f"{name}: takes too long"
        if done.returncode:
            (WORK / "logs" / f"{mutant.number}.log").write_bytes(done.stdout)
            return name
    return None


def judge(mutant):
    scratch = WORK / "scratch" / str(mutant.number)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    environment = dict(os.environ, AXISLOOM_MUTANT=str(mutant.number), POCL_CACHE_DIR=str(WORK / "pocl"),
                       AXISLOOM_CACHE_DIR="off", XDG_CACHE_HOME=str(scratch), XDG_DATA_HOME=str(scratch), TMPDIR=str(scratch))
    if not mutant.file.endswith(".cpp"):
        environment["AXISLOOM_SOURCE"] = str(kernel_tree(mutant))
    start = time.time()
    killer = run_stages(mutant, environment)
    shutil.rmtree(scratch, ignore_errors=True)
    return mutant, killer, time.time() - start


def main():
    parser = argparse.ArgumentParser(description="Plants small faults and says which of them no test notices.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--part", default="1/1", help="I/K: every Kth fault from the Ith on")
    parser.add_argument("--only", type=int, nargs="*", help="faults by their numbers")
    parser.add_argument("--list", action="store_true", help="draw, and plant nothing")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    if options.list:
        for number, mutant in enumerate(draw(options.seed)[:options.count], 1):
            mutant.number = number
            print(mutant)
        return 0
    for folder in ("logs", "pocl", "scratch"):
        (WORK / folder).mkdir(parents=True, exist_ok=True)
    mutants = plant(options.seed, options.count)
    part, parts = map(int, options.part.split("/"))
    mutants = [m for m in mutants[part - 1::parts] if not options.only or m.number in options.only]
    healthy = run_stages(Mutant("none.cpp", 0, "core", "", "", ""), dict(os.environ, POCL_CACHE_DIR=str(WORK / "pocl"),
                                                                         AXISLOOM_CACHE_DIR="off"))
    if healthy:
        sys.exit(f"without a fault the tests fail already: {healthy}; see {WORK}/logs/0.log")
    survivors = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for future in concurrent.futures.as_completed([pool.submit(judge, mutant) for mutant in mutants]):
            mutant, killer, seconds = future.result()
            survivors += killer is None
            print(f"{mutant}\n       {'SURVIVES' if killer is None else 'dies: ' + killer}, {seconds:.0f} s", flush=True)
    print(f"{len(mutants) - survivors} passed, {survivors} failed")  # a fault that is noticed is a test passed
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
