"""Tables of time and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from measured import Figures, table

SCALE = {
    "10000000 events, bare DuckDB": "10 million events, bare DuckDB query (unstable)",
    "10000000 events, by time": "10 million events, `sacofa`, by time",
    "10000000 events, by file": "10 million events, `sacofa`, in file order",
    "10000000 events, pandas": "10 million events, pandas",
    "50000000 events, by time": "50 million events, `sacofa`, by time",
    "100000000 events, by time": "100 million events, `sacofa`, by time",
    "100000000 events, by file": "100 million events, `sacofa`, in file order",
    "300000000 events, by time": "300 million events, `sacofa`, by time",
    "10000000 events, cases of one event": "10 million cases of one event",
    "10000000 events, cases of two events": "5 million cases of two events",
    "100000000 events, cases of two events": "50 million cases of two events",
    "10000000 events, a single case": "one case of 10 million events",
    "writing": "50 million released events to Parquet",
    "XES": "XES of 185 MB (561,470 events), own reader",
    "XES, r4pm to a frame": "the same, r4pm to a frame",
}


def speed(figures: Figures) -> Iterator[str]:
    """Next to pm4py, in the same run and on the same input."""

    def span(values: Sequence[float], form: Callable[[float], str]) -> str:
        low, high = form(min(values)), form(max(values))
        return low if low == high else f"{low}–{high}"

    def rows() -> Iterator[Sequence[str]]:
        for title, name in (("Receipt", "receipt"), ("Sepsis", "sepsis"),
                            ("Traffic fines", "traffic_fines")):  # fmt: skip
            for query in ("SACOFA", "LAPLACE"):
                places = [f"speed/{name}/{one}/{query.lower()}" for one in ("1", "0.1", "0.01")]
                ours = [figures.value(f"{place}/sacofa") / 1000 for place in places]
                theirs = [figures.value(f"{place}/pm4py") / 1000 for place in places]
                ratios = [b / a for a, b in zip(ours, theirs, strict=True)]
                yield [
                    f"{query} on {title}, frame to frame",
                    span(ours, lambda v: f"{v:.2f}") + " s",
                    span(theirs, lambda v: f"{v:.2f}") + " s",
                    span(ratios, lambda v: f"{v:.2g}"),
                ]
        (s, m), (t, n) = (
            [figures.value(f"speed/command/{who}/{what}") for what in ("seconds", "memory")]
            for who in ("sacofa", "pm4py")
        )
        yield [
            "`traffic_fines.xes.gz` to a released XES file; pm4py reads through r4pm and does not "
            "write",
            f"{s:.1f} s, {m:,.0f} MB", f"{t:.1f} s, {n:,.0f} MB", f"{t / s:.2g}",
        ]  # fmt: skip

    yield from table(["", "sacofa", "pm4py", "pm4py / sacofa"], rows(), numbers=3)
    grown = [figures.value(n) for n in figures.entries if n.startswith("speed/growth/")]
    yield ""
    yield f"Medians of {figures.entry('speed/receipt/1/sacofa/pm4py')['runs']} runs."
    yield (
        "`laplace` alone on counted variants, with 10 to 400 activities and cases of 5 to 40 "
        f"events (up to 400^40 possible sequences): {min(grown):.0f} to {max(grown):.0f} ms."
    )


def scale(figures: Figures) -> Iterator[str]:
    """Reading and counting on one machine."""

    def rows() -> Iterator[Sequence[str]]:
        for name, title in SCALE.items():
            place = f"scale/{name}"
            time = figures.value(f"{place}/seconds")
            each = f"{figures.value(f'{place}/each'):.2f} µs" if "XES" not in name else ""
            memory = f"{figures.value(f'{place}/memory'):,.0f} MB"
            yield [title, f"{time:.0f} s" if time >= 20 else f"{time:.1f} s", each, memory]

    yield from table(["what", "processor time", "per event", "peak memory"], rows())


def cost(figures: Figures) -> Iterator[str]:
    """A release with times beside one of the flow alone."""

    def rows() -> Iterator[Sequence[str]]:
        for name, title in (
            ("few variants", "12 different variants, cases one after the other"),
            ("many variants", "73,907 different variants, cases interleaved (`sacofa generate`)"),
        ):
            cells = [title]
            for what in ("flow", "times"):
                seconds = figures.value(f"cost/{name}/{what}/seconds")
                memory = figures.value(f"cost/{name}/{what}/memory")
                cells.append(f"{seconds:.1f} s, {memory:,.0f} MB")
            yield [*cells, f"{figures.value(f'cost/{name}/ratio'):.2f}"]

    yield from table(["10 million events", "flow alone", "with times", "ratio"], rows())
