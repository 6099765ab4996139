"""What the program that the package brings measures, as objects; a notebook draws them."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

from axisloom import _tables
from axisloom._errors import DeviceError, FileError, UsageError
from axisloom._program import program


@dataclasses.dataclass(frozen=True, kw_only=True)
class Times:
    """Median of the samples and the ends of its 95% interval, in milliseconds."""

    median_ms: float
    low_ms: float
    high_ms: float
    samples: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class Result:
    """What was measured of one way to do a job; without `call` where `status` is not "right", and `reason` says why."""

    name: str
    status: str
    how: str = ""
    reason: str = ""
    call: Times | None = None
    device: Times | None = None
    gb_per_second: float | None = None
    gflop_per_second: float | None = None
    share_of_copy: float | None = None
    share_of_read: float | None = None
    share_of_peak: float | None = None
    stopped: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Contestant(Result):
    """Axisloom, a reference or another library. Its `role` is "ours", "copy", "floor", "read", "peak" or "peer"."""

    role: str
    rank: int | None = None
    share_of_floor: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rung(Result):
    """A step of a ladder: what it does (`sentence`), and what it brings (`speed_up` over the rung `over`)."""

    case: str
    candidate: str
    configuration: Mapping[str, int]
    sentence: str
    speed_up: float | None = None
    over: str = ""
    effect: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Job:
    """What was done: `case` is its text, `bytes` are read plus written, `clock` ("call" or "device") decides."""

    case: str
    op: str
    shapes: str
    bytes: int
    operations: int = 0
    limit: str = ""
    check: str
    clock: str
    cache: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case(Job):
    """A job of a suite, in one state of the cache."""

    label: str
    elements: int
    checking_ms: float | None = None
    measuring_ms: float | None = None
    copy: str = ""
    read: str = ""
    peak: str = ""
    contestants: tuple[Contestant, ...]

    @property
    def ours(self) -> Contestant:
        """Axisloom's own result; of several candidates the first one's."""
        return next(contestant for contestant in self.contestants if contestant.role == "ours")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lesson(Job):
    """A job of a ladder: its rungs, and whom they are compared with."""

    title: str
    yardstick: str
    rungs: tuple[Rung, ...]
    beside: tuple[Contestant, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Document:
    """What the program printed as JSON. `environment`, `before`, `after` and `settings` are as in docs/bench.md."""

    SCHEMA: ClassVar[str]
    schema: str
    environment: Mapping[str, Any]
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    settings: Mapping[str, Any]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads the document from JSON. Raises FileError where it is another one."""
        try:
            document = json.loads(text)
        except ValueError as error:
            raise FileError(f"not a JSON document: {error}") from error
        found = document.get("schema") if isinstance(document, dict) else None
        if found != cls.SCHEMA:
            raise FileError(f"the document's schema is {found!r}, not {cls.SCHEMA!r}")
        return _record(cls, document)

    def json(self) -> str:
        """The document as the program reads it: `axisloom bench compare`, `axisloom ladder show`."""
        return json.dumps(_plain(self), indent=2)

    @property
    def tables(self) -> list[_tables.Table]:
        """What is shown, a table for each job."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return _tables.as_text(self.tables, self.environment, self.before)

    def _repr_html_(self) -> str:
        return _tables.as_html(self.tables, self.environment, self.before)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Benchmark(Document):
    """What `bench` measured: a row for each contestant of each case, less those that are absent."""

    SCHEMA = "axisloom-bench 1"
    cases: tuple[Case, ...]

    @property
    def tables(self) -> list[_tables.Table]:
        return [_tables.Table(f"{case.label}, {case.cache}: {case.shapes}", case, _present(case.contestants))
                for case in self.cases]


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Ladder(Document):
    """What `ladder` measured: a row for each rung of each lesson, and for whom they are compared with."""

    SCHEMA = "axisloom-ladder 1"
    ladder: str
    lessons: tuple[Lesson, ...]

    @property
    def tables(self) -> list[_tables.Table]:
        return [_tables.Table(f"{lesson.title}: {lesson.case}", lesson, (*lesson.rungs, *_present(lesson.beside)))
                for lesson in self.lessons]


def _present(contestants: Iterable[Contestant]) -> tuple[Contestant, ...]:
    return tuple(contestant for contestant in contestants if contestant.status != "absent")


# The members of a document that hold records.
_RECORDS = {"cases": Case, "contestants": Contestant, "lessons": Lesson, "rungs": Rung, "beside": Contestant,
            "call": Times, "device": Times}


def _record(kind: type, values: Mapping[str, Any]) -> Any:
    """A record of JSON's values, and the records within."""
    members = {}
    for field in dataclasses.fields(kind):
        if field.name not in values:
            continue
        value = values[field.name]
        inner = _RECORDS.get(field.name)
        if inner is not None:
            value = tuple(_record(inner, each) for each in value) if isinstance(value, list) else _record(inner, value)
        members[field.name] = value
    return kind(**members)


def _plain(value: Any) -> Any:
    """JSON's values of a record: members that were not in the document are left out."""
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(member) for field in dataclasses.fields(value)
                if (member := getattr(value, field.name)) is not None and (member != "" or field.default != "")}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def bench(suite: str = "transpose", cases: str | Iterable[str] | None = None, **options: Any) -> Benchmark:
    """Times Axisloom, a copy and other libraries, and checks every result, as `axisloom bench` does.

    `cases` are words of a case's name in the suite, or cases such as "transpose f32 4096x4096". Options are those of
    the command line, with underscores: `bench("reduce", quick=True, peers="none", min_time=0.1, device="host")`.
    """
    words = [cases] if isinstance(cases, str) else list(cases or ())
    return Benchmark.parse(run(["bench", suite, *words, *_options(options)]))


def ladder(name: str, **options: Any) -> Ladder:
    """Times an operation from the textbook's first kernel to the tuned one, as `axisloom ladder` does.

    `name` is "copy", "transpose", "relayout", "reduce" or "matmul"; options are those of the command line, with
    underscores: `ladder("copy", dtype="u8", shape="16777216")`.
    """
    return Ladder.parse(run(["ladder", name, *_options(options)]))


def calibrate(device: str | None = None, *, dry_run: bool = False) -> dict[str, float]:
    """Measures a device, as `axisloom calibrate` does; it takes some seconds.

    Returns the measured figures by name, such as "copy_rate", in bytes and seconds. They are kept, and processes that begin
    later choose kernels by them; with `dry_run` they are only returned.
    """
    figures = json.loads(run(["calibrate", *_options({"device": device, "dry_run": dry_run, "quiet": True})]))
    return {figure["figure"]: figure["measured"] for figure in figures if figure["measured"] is not None}


def _options(options: Mapping[str, Any]) -> list[str]:
    """Words of the command line: True is an option without a value, a list repeats it; False and None leave it out."""
    words = ["--format", "json"]
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not False and value is not None:
            for each in value if isinstance(value, (list, tuple)) else (value,):
                words += [option, str(each)]
    return words


# What exit codes mean that bring no document; see docs/command-line.md.
_ERRORS = {2: UsageError, 4: FileError}
_SECONDS_TO_END = 0.5


def run(arguments: list[str]) -> str:
    """What the program prints. If it fails, its messages go into the error. What interrupts the call ends the program."""
    environment = {"AXISLOOM_PYTHON": sys.executable, **os.environ}  # whose NumPy and PyTorch are timed
    with subprocess.Popen([program(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          encoding="utf-8", errors="replace", env=environment) as process:
        try:
            output, messages = process.communicate()
        except BaseException:
            _end(process)
            raise
    # A wrong result is exit code 1, and the document shows it.
    if process.returncode == 0 or (process.returncode == 1 and output):
        return output
    if process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    text = messages.strip().removeprefix("axisloom: ")
    raise _ERRORS.get(process.returncode, DeviceError)(text or f"axisloom ended with {process.returncode}")


def _end(process: subprocess.Popen[str]) -> None:
    """Interrupts the program twice: after the first time it still ends what it measures. It removes its own files."""
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_SECONDS_TO_END)
            return
        except subprocess.TimeoutExpired:
            pass
    process.kill()
    process.wait()
