"""The figures of a release with their margins of error, as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

from ..errors import OutputError, Statement
from ..events.csv_injection import escape_formula
from ..events.duckdb.database import as_os_error, borrowed, literal
from ..release.anonymize import Release
from ..release.certificate import Certificate
from .attributes import describe_attributes
from .flow import count_flow, variant_margin
from .promise import margins_of
from .times import Bar, describe_times, median_waits

FORMAT = "sacofa-figures-2"
TABLES, PAGES = (".csv", ".json", ".parquet"), (".html", ".htm")
"""The formats of a table of figures and of a report."""
Kind = Literal["cases", "variant", "activity", "step", "wait", "cycle time", "begin", "attribute"]


@dataclass(frozen=True, kw_only=True)
class ReleasedFigure:
    """One figure of a release, with its margin of error (95 %)."""

    kind: Kind
    """All cases, a variant, an activity, a directly-follows pair, its median wait or a share."""
    name: str | None = None
    """The attribute; None for other figures."""
    value: str | None = None
    """The value of an attribute, the range of cycle times, or the period in which cases begin."""
    activities: tuple[str | None, ...] | None = None
    """The variant, activity or pair of activities, in which None is the start or the end."""
    finished: bool | None = None
    """For a variant: False if its cases are truncated."""
    count: int | None = None
    """The count; None if the figure was queried as a share."""
    count_margin: int | None = None
    """The margin of error of the count; None if unknown."""
    share: float | None = None
    """The share of all cases, of all events (activities, values of events) or of all pairs."""
    share_margin: float | None = None
    """The margin of error of the share; None if unknown."""
    seconds: float | None = None
    """The median wait."""
    seconds_low: float | None = None
    """The lower bound of the median wait; None if unknown."""
    seconds_high: float | None = None
    """The upper bound of the median wait; None if unknown."""
    below_margin: bool = False
    """Whether the figure does not exceed its margin: the original count may be 0."""


def list_figures(release: Release) -> list[ReleasedFigure]:
    """List the figures of a report, and all variants, from a release and its certificate."""
    variants, margins = release.variants, margins_of(release)
    if not variants.cases:
        return []
    flow, cases = count_flow(variants), variants.cases
    steps = sum(flow.steps.values())
    rows = zip(variants, variants.complete.tolist(), strict=True)
    return [
        _counted("cases", cases, cases, margins.cases),
        *(
            _counted(
                "variant", count, cases, variant_margin(margins, names, finished, count),
                names, finished,
            )
            for (names, count), finished in sorted(rows, key=lambda row: (-row[0][1], row))
        ),
        *(
            _counted("activity", count, variants.events, margins.activities.get(name), (name,))
            for name, count in sorted(flow.activities.items(), key=lambda one: (-one[1], one))
        ),
        *(
            _counted("step", count, steps, margins.steps.get(step), step)
            for step, count in flow.steps.items()
        ),
        *(
            ReleasedFigure(
                kind="wait", activities=step, seconds=wait.median, seconds_low=wait.low,
                seconds_high=wait.high, below_margin=wait.high is None,
            )
            for step, wait in median_waits(release).items()
        ),
        *(
            ReleasedFigure(
                kind=kind, name=name, value=bar.label, share=bar.share, share_margin=bar.margin,
                below_margin=bar.below_margin,
            )
            for kind, name, bar in _bars(release)
        ),
    ]  # fmt: skip


def _bars(release: Release) -> Iterator[tuple[Kind, str | None, Bar]]:
    """Return the figures from shares: cycle times, beginnings, values of attributes."""
    if (times := describe_times(release)) is not None:
        yield from (("cycle time", None, bar) for bar in times.cycle)
        yield from (("begin", None, bar) for bar in times.arrivals)
    for view in describe_attributes(release):
        yield from (("attribute", view.name, bar) for bar in view.bars)


def _counted(
    kind: Kind,
    count: int,
    total: int,
    margin: int | None,
    activities: tuple[str | None, ...] | None = None,
    finished: bool | None = None,
) -> ReleasedFigure:
    return ReleasedFigure(
        kind=kind,
        activities=activities,
        finished=finished,
        count=count,
        count_margin=margin,
        share=count / total,
        # The share of all cases is 1, whatever their number.
        share_margin=None if margin is None or kind == "cases" else min(margin / total, 1.0),
        below_margin=margin is not None and count <= margin,
    )


def is_table(path: Path) -> bool:
    """Whether a file is a table of figures, not a page."""
    suffix = path.suffix.lower()
    if suffix not in (*TABLES, *PAGES):
        raise OutputError(path, Statement("file.not_a_report", suffix=suffix, tables=TABLES))
    return suffix in TABLES


def _parquet_type(hint: object) -> str:
    """Return the type of a column in Parquet."""
    kind = next(iter(get_args(hint)), hint)
    if get_origin(kind) is tuple:
        return "VARCHAR[]"
    types: dict[object, str] = {int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
    return types.get(kind, "VARCHAR")


COLUMNS = {name: _parquet_type(hint) for name, hint in get_type_hints(ReleasedFigure).items()}
"""The columns of a table, in order, with their types in Parquet: the fields of a figure."""


def write_figures(release: Release, path: Path) -> None:
    """Write the figures of a release to a file, in the format of its suffix."""
    figures, suffix = list_figures(release), path.suffix.lower()
    if suffix == ".parquet":
        _write_parquet(figures, path)
    elif suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows([_cell(getattr(one, name)) for name in COLUMNS] for one in figures)
    else:
        path.write_text(_json(release.certificate, figures), encoding="utf-8")


def _cell(value: object) -> object:
    if isinstance(value, tuple):
        # Names may contain any separator, so they are written as JSON.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    return escape_formula(value) if isinstance(value, str) else value


def _json(certificate: Certificate, figures: Sequence[ReleasedFigure]) -> str:
    head = {
        "format": FORMAT,
        "epsilon": None if certificate.epsilon is None else str(certificate.epsilon),
        "delta": str(certificate.delta),
        "sha256": certificate.sha256,
        "verdict": None if certificate.verdict is None else str(certificate.verdict),
        "margin": str(Statement("report.margin")),
        "below_margin": str(Statement("report.below_margin")),
    }
    # Fields that do not apply to a kind of figure are omitted.
    known = ({k: v for k, v in asdict(one).items() if v is not None} for one in figures)
    lines = (f"\n  {json.dumps(content, ensure_ascii=False)}" for content in known)
    start = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    return f'{start},\n "figures": [{",".join(lines)}\n ]}}\n'


def _write_parquet(figures: Sequence[ReleasedFigure], path: Path) -> None:
    import duckdb

    listed = [[getattr(figure, name) for figure in figures] for name in COLUMNS]
    chosen = ", ".join(f'unnest(?::{kind}[]) AS "{name}"' for name, kind in COLUMNS.items())
    try:
        with borrowed(None) as database:
            database.execute(f"CREATE TABLE figures AS SELECT {chosen}", listed)
            database.execute(f"COPY figures TO {literal(path)} (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.Error as error:
        raise as_os_error(error) from None
