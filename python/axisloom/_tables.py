"""How measurements are shown: as text in a terminal, as tables with bars in a notebook."""

from __future__ import annotations

import dataclasses
import html
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from axisloom._bench import Job, Result

# Below so many milliseconds, the factor to the unit, and the unit.
_UNITS = ((1e-3, 1e6, "ns"), (1.0, 1e3, "us"), (1e3, 1.0, "ms"), (float("inf"), 1e-3, "s"))
_BAR_WIDTH = 240  # pixels of the fastest
_COLOURS = {"ours": "#c2410c", "rung": "#c2410c", "peer": "#64748b"}
_REFERENCE = "#cbd5e1"
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap"


@dataclasses.dataclass(frozen=True)
class Table:
    """A job and its results, in the order in which they are shown."""

    title: str
    job: Job
    results: Sequence[Result]

    @property
    def unit(self) -> str:
        """Of the rates: what limits the job."""
        return "GFLOP/s" if self.job.limit == "arithmetic" else "GB/s"

    def rate(self, result: Result) -> float | None:
        return result.gflop_per_second if self.job.limit == "arithmetic" else result.gb_per_second

    @property
    def _shows_shares(self) -> bool:
        """As in the program's tables: whoever is so much faster than the reference shows that it is none here."""
        return all((result.share_of_copy or result.share_of_read or 0) <= 3 and (result.share_of_peak or 0) <= 1.25
                   for result in self.results)

    def cells(self, result: Result) -> tuple[str, str, str, str, str]:
        """Name, time, rate, share and note."""
        times = result.device if self.job.clock == "device" else result.call
        rate = self.rate(result)
        share = (result.share_of_copy or result.share_of_read or result.share_of_peak) if self._shows_shares else None
        return (
            result.name,
            _duration(times.median_ms) if times else "",
            f"{rate:.1f}" if rate is not None else "",
            f"{share:.0%}" if share is not None else "",
            _gain(result) + result.how if result.status == "right" else f"{result.status}: {result.reason}",
        )

    @property
    def head(self) -> tuple[str, str, str, str, str]:
        return ("", "time", self.unit, "share", "")


def _gain(result: Result) -> str:
    """What a rung of a ladder brings over the one that it is compared with."""
    speed_up = getattr(result, "speed_up", None)
    return f"{speed_up:.2f} x {result.over}; " if speed_up is not None else ""


def _duration(milliseconds: float) -> str:
    factor, unit = next((factor, unit) for limit, factor, unit in _UNITS if milliseconds < limit)
    return f"{milliseconds * factor:.3g} {unit}"


def _origin(environment: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    device = environment["device"]
    return f"Axisloom {environment['axisloom']} on {device['name']} ({device['spec']}), {before['time']}"


def as_text(tables: Sequence[Table], environment: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """Aligned columns below a title for each job; long notes are cut."""
    lines = []
    for table in tables:
        rows = [table.head, *(table.cells(result) for result in table.results)]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines.append(table.title)
        for name, *numbers, note in rows:
            columns = [name.ljust(widths[0]), *(text.rjust(width) for text, width in zip(numbers, widths[1:]))]
            lines.append("  ".join([*columns, textwrap.shorten(note, 60, placeholder=" ...")]).rstrip())
        lines.append("")
    return "\n".join([*lines, _origin(environment, before)])


def as_html(tables: Sequence[Table], environment: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """A table for each job, with a bar for each rate; it needs nothing else, and no script."""
    parts = [_table(table) for table in tables]
    return f"<div>{''.join(parts)}<p>{html.escape(_origin(environment, before))}</p></div>"


def _table(table: Table) -> str:
    fastest = max((table.rate(result) or 0.0 for result in table.results), default=0.0)
    rows = []
    for result in table.results:
        name, *numbers, note = (html.escape(cell) for cell in table.cells(result))
        figures = "".join(f'<td style="{_NUMBER}">{number}</td>' for number in numbers)
        bar = _bar(table.rate(result), fastest, result)
        rows.append(f'<tr><td style="text-align:left;white-space:nowrap">{name}</td><td>{bar}</td>{figures}'
                    f'<td style="text-align:left">{note}{_sentence(result)}</td></tr>')
    head = "".join(f"<th>{cell}</th>" for cell in (table.head[0], "", *table.head[1:]))
    return (f'<table><caption style="text-align:left">{html.escape(table.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")


def _sentence(result: Result) -> str:
    """What a rung of a ladder does; contestants have no such sentence."""
    sentence = getattr(result, "sentence", "")
    return f"<br/><small>{html.escape(sentence)}</small>" if sentence else ""


def _bar(rate: float | None, fastest: float, result: Result) -> str:
    """An SVG as long as the rate; without one there is nothing to draw."""
    if not rate:
        return ""
    width = max(1.0, _BAR_WIDTH * rate / fastest)
    colour = _COLOURS.get(getattr(result, "role", "rung"), _REFERENCE)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{_BAR_WIDTH}" height="12" role="img" '
            f'aria-label="{rate:.1f}"><rect width="{width:.1f}" height="12" fill="{colour}"/></svg>')
