"""Measurements as objects: the documents' schemas, what is shown, and how the program is run and ended."""

import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from axisloom import FileError, UsageError, _bench, bench, calibrate, ladder
from axisloom._bench import Benchmark, Ladder

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
TINY = {"device": "host", "peers": "none", "min_time": 0.001, "cache": "warm"}


@pytest.fixture(scope="module")
def small_bench():
    return bench("transpose", "transpose f32 256x384", **TINY)


@pytest.fixture(scope="module")
def small_ladder():
    return ladder("copy", shape="262144", dtype="u8", device="host", min_time=0.001)


def test_bench_times_and_checks_the_case(small_bench):
    (case,) = small_bench.cases
    assert (case.op, case.shapes, case.elements) == ("transpose", "f32[256,384] -> f32[384,256]", 98304)
    assert case.bytes == 2 * 4 * 256 * 384
    assert case.ours.status == "right"
    assert 0 < case.ours.call.low_ms <= case.ours.call.median_ms <= case.ours.call.high_ms
    assert {contestant.role for contestant in case.contestants if contestant.call} == {"ours", "copy"}


def test_bench_takes_several_cases_and_repeated_options():
    result = bench("transpose", ["transpose u8 512x512", "transpose f64 256x257"], config=["lines_in=4", "lines_out=8"],
                   candidate="block", **TINY)
    assert [case.case for case in result.cases] == ["transpose u8 512x512", "transpose f64 256x257"]
    assert all("lines_in=4 lines_out=8" in case.ours.how for case in result.cases)


def test_ladder_has_every_rung(small_ladder):
    (lesson,) = small_ladder.lessons
    assert small_ladder.ladder == "copy"
    assert lesson.rungs[0].name == "scalar"
    assert lesson.rungs[-1].name == "tuned" and lesson.rungs[-1].status == "right"
    assert all(rung.sentence and (rung.call or rung.reason) for rung in lesson.rungs)


@pytest.mark.parametrize("fixture", ["small_bench", "small_ladder"])
def test_documents_survive_a_round_trip(fixture, request):
    document = request.getfixturevalue(fixture)
    assert type(document).parse(document.json()) == document


def test_the_program_reads_what_is_written(small_ladder, tmp_path):
    file = tmp_path / "ladder.json"
    file.write_text(small_ladder.json())
    assert "tuned" in _bench.run(["ladder", "show", str(file)])


@pytest.mark.parametrize("fixture", ["small_bench", "small_ladder"])
def test_text_has_a_line_for_each_result(fixture, request):
    document = request.getfixturevalue(fixture)
    lines = repr(document).splitlines()
    for table in document.tables:
        first = lines.index(table.title)
        assert lines[first + 1].split()[:2] == ["time", "GB/s"]
        names = [line.split()[0] for line in lines[first + 2 : first + 2 + len(table.results)]]
        assert names == [result.name for result in table.results]
    assert lines[-1].startswith("Axisloom ") and document.before["time"] in lines[-1]


@pytest.mark.parametrize("fixture", ["small_bench", "small_ladder"])
def test_notebooks_draw_a_bar_for_each_rate(fixture, request):
    document = request.getfixturevalue(fixture)
    page = xml.etree.ElementTree.fromstring(document._repr_html_())
    bars = [float(rect.get("width")) for rect in page.iter("{http://www.w3.org/2000/svg}rect")]
    rates = [result.gb_per_second for table in document.tables for result in table.results if result.gb_per_second]
    assert len(bars) == len(rates) > 0
    assert max(zip(rates, bars))[1] == max(bars) == 240


def test_shares_of_what_is_no_reference_are_left_out(small_bench):
    (case,) = small_bench.cases
    for share, shown in ((2.0, True), (3.5, False)):
        ours = dataclasses.replace(case.ours, share_of_copy=share)
        changed = dataclasses.replace(small_bench, cases=(dataclasses.replace(case, contestants=(ours,)),))
        assert (f"{share:.0%}" in repr(changed)) == shown


def test_notebooks_say_what_a_rung_does(small_ladder):
    (lesson,) = small_ladder.lessons
    rung = dataclasses.replace(lesson.rungs[-1], sentence="Less & faster.", speed_up=1.5, over="scalar")
    changed = dataclasses.replace(small_ladder, lessons=(dataclasses.replace(lesson, rungs=(rung,)),))
    assert "<small>Less &amp; faster.</small>" in changed._repr_html_()
    assert "1.50 x scalar; " in repr(changed)


def test_html_is_escaped(small_bench):
    (case,) = small_bench.cases
    wrong = dataclasses.replace(case.ours, status="WRONG", reason="<b> & </b>", call=None, gb_per_second=None)
    shown = dataclasses.replace(small_bench, cases=(dataclasses.replace(case, contestants=(wrong,)),))
    assert "WRONG: &lt;b&gt; &amp; &lt;/b&gt;" in shown._repr_html_()
    assert "WRONG: <b> & </b>" in repr(shown)


@pytest.mark.parametrize(("kind", "file", "definitions"), [
    (Benchmark, "bench", {"case": _bench.Case, "contestant": _bench.Contestant, "times": _bench.Times}),
    (Ladder, "ladder", {"lesson": _bench.Lesson, "rung": _bench.Rung, "times": _bench.Times}),
])
def test_records_are_those_of_the_schema(kind, file, definitions):
    schema = json.loads((DOCS / f"{file}.schema.json").read_text())
    assert schema["properties"]["schema"]["const"] == kind.SCHEMA
    for record, part in [(kind, schema), *((record, schema["$defs"][name]) for name, record in definitions.items())]:
        assert {field.name for field in dataclasses.fields(record)} == set(part["properties"]), record


def test_other_documents_are_refused(small_bench):
    with pytest.raises(FileError, match="axisloom-bench 1.*axisloom-ladder 1"):
        Ladder.parse(small_bench.json())
    with pytest.raises(FileError, match="not a JSON document"):
        Benchmark.parse("{")


def test_errors_have_the_programs_text():
    with pytest.raises(ValueError, match='has no command "sideways"') as raised:
        bench("sideways")
    assert isinstance(raised.value, UsageError)
    with pytest.raises(UsageError, match="no option --colour"):
        ladder("copy", colour="red")


def test_calibrate_returns_figures_and_keeps_them(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert calibrate("host", dry_run=True)["copy_rate"] > 1e6
    assert not list(tmp_path.iterdir())
    assert calibrate("host")["copy_rate"] > 1e6
    assert [file for file in tmp_path.rglob("*") if file.is_file()]


def test_an_interrupt_ends_the_program(tmp_path):
    """As a notebook's kernel is interrupted: the signal reaches Python alone."""
    script = (
        "import subprocess\n"
        "import axisloom._bench\n"
        "class Announced(subprocess.Popen):\n"
        "    def communicate(self):\n"
        "        print(self.pid, flush=True)\n"
        "        return super().communicate()\n"
        "axisloom._bench.subprocess.Popen = Announced\n"
        "axisloom._bench.bench('transpose', 'transpose f32 16x16', device='host', min_time=60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             start_new_session=True)
    program = int(child.stdout.readline())
    os.kill(child.pid, signal.SIGINT)
    _, messages = child.communicate(timeout=30)
    assert "KeyboardInterrupt" in messages
    with pytest.raises(ProcessLookupError):
        os.kill(program, 0)
