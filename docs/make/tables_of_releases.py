"""Tables of how useful releases of `certified` are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from measured import Figures, share, table

LOGS = {"Receipt (CoSeLoG)": "CoSeLoG", "Sepsis": "Sepsis", "Traffic fines": "Traffic fines"}
FILES = {"Sepsis": "sepsis", "Receipt": "receipt", "Traffic fines": "traffic_fines"}
CUT = {"CoSeLoG": 10, "Sepsis": 23, "Traffic fines": 9}
PUBLISHED, TEXT = "sacofa", "sacofa, pruned as the text says"
AIMED: dict[str, tuple[str, tuple[float, float, float] | None]] = {
    "similarity": ("similarity, at least", (0.947, 0.70, 0.998)),
    "steps": ("steps, TV, at most", (0.070, 0.16, 0.004)),
    "trigrams": ("3-grams, TV", (0.100, 0.31, 0.007)),
    "activity": ("activity in % of cases", (0.014, 0.07, 0.001)),
    "repeated": ("repeated in % of cases", (0.008, 0.08, 0.001)),
    "length": ("mean length off", (0.05, 0.12, 0.004)),
    "size_error": ("number of cases off", None),
    "f_score": ("F of the model mined from it", None),
}
"""What analysts ask of `certified` at ε = 1: title, and what was aimed at on each log."""
TIMED = {
    "similarity": "similarity of variants",
    "cycle time": "cycle time, doublings",
    "mean ratio": "mean cycle time, ratio",
    "waits": "waits, doublings",
    "bottlenecks": "bottlenecks kept",
    "arrivals": "arrivals by month",
    "CTD h": "cycle time, hours (CTD)",
}
"""What is told about times, with its title."""
ATTRIBUTES = {
    "mean": "total variation, mean over attributes",
    "org:group values": "org:group",
    "org:group by activity": "org:group within each activity",
    "similarity": "similarity of variants",
    "cycle time": "cycle time, doublings",
    "waits": "waits, doublings",
    "arrivals": "arrivals by month",
}
"""What is told about attributes, with its title."""
DOCTORS = {
    'median time from "ER Registration" to first "Admission NC"':
        "hours from registration to admission, median",
    'share with time from "ER Sepsis Triage" to first "IV Antibiotics" under 1 h':
        "antibiotics within 1 h of triage",
    'share with time from "ER Sepsis Triage" to first "LacticAcid" under 3 h':
        "lactic acid within 3 h of triage",
}  # fmt: skip
"""What doctors ask of the log of sepsis patients, with its title."""
KINDS = {
    "no rules": "no rules", "learnt from that half": "rules learnt from that half",
    "rules of the model": "rules of the model", "rules, closed": "rules, closed",
    "language, closed, 0 deviations": "language, closed, 0 deviations",
    "language, closed, 1 deviations": "1 deviation",
}  # fmt: skip


def certified_and_sacofa(figures: Figures) -> Iterator[str]:
    """The table of the README."""

    def rows() -> Iterator[Sequence[str]]:
        for title, log in LOGS.items():
            ours = f"certified/{log}/1"
            cells = [
                title,
                *(share(figures.value(f"{ours}/{m}")) for m in ("similarity", "f_score")),
            ]
            for series in (PUBLISHED, TEXT):
                place = f"reproduction/{log}/1/{series}"
                both = [share(figures.value(f"{place}/{m}")) for m in ("similarity", "f_score")]
                cells.append(", ".join(both))
            yield [cells[0], f"{cells[1]}, {cells[2]}", *cells[3:]]

    head = [
        "log",
        "`certified`, ε = 1 in all",
        "`sacofa`, as published",
        "`sacofa`, as in the text",
    ]
    yield from table(head, rows())
    runs = figures.entry("certified/Sepsis/1/similarity")["runs"]
    others = figures.entry(f"reproduction/Sepsis/1/{PUBLISHED}/similarity")["runs"]
    yield ""
    yield f"Each cell: similarity, F. Medians of {runs} runs, of `sacofa` {others}."


def asked(figures: Figures) -> Iterator[str]:
    """What analysts ask of `certified`, and what was aimed at."""

    def rows() -> Iterator[Sequence[str]]:
        for measure, (title, aims) in AIMED.items():
            cells = []
            for place, log in enumerate(LOGS.values()):
                found = share(figures.value(f"certified/{log}/1/{measure}"))
                cells.append(found if aims is None else f"{found} ({aims[place]:g})")
            yield [title, *cells]

    yield from table(["", "Receipt", "Sepsis", "Traffic fines"], rows())
    entry = figures.entry("certified/Sepsis/1/similarity")
    yield ""
    yield f"Medians of {entry['runs']} runs, seeds {entry['seeds']}."


def times(figures: Figures) -> Iterator[str]:
    """Released times beside two halves of the log."""

    def rows() -> Iterator[Sequence[str]]:
        for column, title in TIMED.items():
            cells = []
            for log in LOGS.values():
                cells.append(_quartiles(figures.entry(f"times/{log}/{column}")))
                cells.append(f"{figures.value(f'times/{log}/{column}/halves'):.3g}")
            yield [title, *cells]

    head = ["", "Receipt", "halves", "Sepsis", "halves", "Traffic fines", "halves"]
    yield from table(head, rows(), numbers=6)
    entry = figures.entry("times/Sepsis/similarity")
    yield ""
    yield f"Medians of {entry['runs']} releases, seeds {entry['seeds']}; quartiles in brackets."


def pripel(figures: Figures) -> Iterator[str]:
    """Times of PRIPEL beside those released here."""
    logs = {"Receipt": "CoSeLoG", "Sepsis": "Sepsis"}

    def rows() -> Iterator[Sequence[str]]:
        for column, title in TIMED.items():
            cells = []
            for name, log in logs.items():
                for place in (f"times/{log}/{column}", f"pripel/original/{name}/{column}"):
                    cells.append(f"{figures.value(place):.3g}")
            yield [title, *cells]

    head = ["", "Receipt", "PRIPEL", "Sepsis", "PRIPEL"]
    yield from table(head, rows(), numbers=4)
    entry = figures.entry("pripel/original/Sepsis/similarity")
    yield ""
    yield f"PRIPEL: medians of {entry['runs']} runs; it takes no seed."


def wide(figures: Figures) -> Iterator[str]:
    """How much of a log with hundreds of activities is left."""

    def rows() -> Iterator[Sequence[str]]:
        for title, place, aimed in (
            ("`certified`, ε = 1", "wide/1", "0.3"),
            ("`certified`, ε = 4", "wide/4", "0.6"),
            ("a second sample of the process", "wide/sample", ""),
        ):
            cells = [share(figures.value(f"{place}/{m}")) for m in ("similarity", "steps")]
            yield [title, cells[0], aimed, cells[1]]

    yield from table(["", "similarity", "aimed at", "steps, TV"], rows())
    entry = figures.entry("wide/1/similarity")
    yield ""
    yield f"Medians of {entry['runs']} runs, seeds {entry['seeds']}."


def verdict(figures: Figures) -> Iterator[str]:
    """What verdicts predict beside what was measured."""

    def rows() -> Iterator[Sequence[str]]:
        for word in ("reliable", "rough", "unreliable"):
            place = f"verdict/{word}"
            if not figures.has(f"{place}/releases"):
                continue
            cells = [f"{figures.value(f'{place}/releases'):.0f}"]
            cells.append(f"{figures.value(f'{place}/wrong'):.0%}")
            for measure in ("edges", "activities"):
                middle = figures.value(f"{place}/{measure}")
                most = figures.value(f"{place}/{measure}/95")
                cells.append(f"{middle:.3f} ({most:.3f})")
            for measure in ("edges of predicted", "activities of predicted"):
                middle = figures.value(f"{place}/{measure}")
                most = figures.value(f"{place}/{measure}/95")
                cells.append(f"{middle:.2f} ({most:.2f})")
            yield [word, *cells]

    head = [
        "verdict", "releases", "edges off by more than 0.15 or activity shares by more than 0.05",
        "edges, TV", "activity shares", "edges ÷ predicted", "activity shares ÷ predicted",
    ]  # fmt: skip
    yield from table(head, rows(), numbers=6)
    entry = figures.entry("verdict/releases")
    yield ""
    yield (
        f"Medians of {entry['runs']} releases, in brackets the 95 % quantile; seeds "
        f"{entry['seeds']}."
    )


def attributes(figures: Figures) -> Iterator[str]:
    """Released attributes, and what they cost the rest."""

    def cell(log: str, measure: str) -> str:
        place = f"attributes/{log}/{measure}"
        if not figures.has(place):
            return ""
        found = f"{figures.value(place):.3f}"
        without = f"{place}/without"
        return f"{found} ({figures.value(without):.3f})" if figures.has(without) else found

    def rows() -> Iterator[Sequence[str]]:
        for measure, title in ATTRIBUTES.items():
            yield [title, *(cell(log, measure) for log in FILES.values())]

    yield from table(["", *FILES], rows(), numbers=len(FILES))
    entry = figures.entry("attributes/sepsis/mean")
    fewer = figures.entry("attributes/traffic_fines/mean")["runs"]
    yield ""
    yield (
        f"Medians of {entry['runs']} releases (of Traffic fines, {fewer}), seeds from "
        f"{entry['seeds'].split()[0]} on; in brackets the same without attributes."
    )


def doctors(figures: Figures) -> Iterator[str]:
    """What doctors ask, of the log and of releases."""

    def rows() -> Iterator[Sequence[str]]:
        for text, title in DOCTORS.items():
            hours = 3600 if title.startswith("hours") else 1
            true = figures.value(f"times/Sepsis/{text}/log")
            entry = figures.entry(f"times/Sepsis/{text}")
            yield [title, f"{true / hours:.2g}", _quartiles(entry, hours)]

    yield from table(["", "log", "release"], rows(), numbers=2)


def _quartiles(entry: dict[str, Any], unit: float = 1) -> str:
    """A median with its quartiles."""
    middle, low, high = (float(entry[key]) / unit for key in ("value", "low", "high"))
    return f"{middle:.3g} ({low:.3g}–{high:.3g})"


def spreads(figures: Figures) -> Iterator[str]:
    """`certified` at its defaults beside `sacofa`, with quartiles."""

    def cells(place: str) -> list[str]:
        found = []
        for measure in ("similarity", "f_score"):
            entry = figures.entry(f"{place}/{measure}")
            low, high = share(entry["low"]), share(entry["high"])
            found.append(f"{share(entry['value'])} [{low}–{high}]")
        found += [share(figures.value(f"{place}/{m}")) for m in ("fitness", "precision")]
        return [*found, f"{100 * figures.value(f'{place}/size_error'):.2g} %"]

    def rows() -> Iterator[Sequence[str]]:
        for epsilon in ("1", "0.1"):
            for log in LOGS.values():
                title = f"{'Receipt' if log == 'CoSeLoG' else log} ({CUT[log]})"
                yield [title, epsilon, "certified", *cells(f"certified/{log}/{epsilon}")]
                for series in (PUBLISHED, TEXT):
                    yield ["", "", series, *cells(f"reproduction/{log}/{epsilon}/{series}")]

    head = ["log (k)", "ε", "", "similarity", "F", "fitness", "precision", "size error"]
    yield from table(head, rows())


def seconds(figures: Figures) -> Iterator[str]:
    """How long a run takes."""
    parts = (f"{figures.value(f'certified/{log}/1/seconds'):.1f} s" for log in LOGS.values())
    receipt, sepsis, fines = parts
    yield (
        f"A run at ε = 1 takes {receipt} of processor time on Receipt, {sepsis} on Sepsis and "
        f"{fines} on Traffic fines (variants in memory, no times)."
    )


def learnt_rules(figures: Figures) -> Iterator[str]:
    """Without rules and with rules of a public half, at two prices."""

    def rows() -> Iterator[Sequence[str]]:
        for title in ("Sepsis", "Receipt"):
            for epsilon in ("0.1", "1"):
                place = f"rules/{FILES[title]}/{epsilon}"
                kinds = ("no rules", "learnt from that half")
                found = [share(figures.value(f"{place}/{kind}/median")) for kind in kinds]
                yield [title, epsilon, *found]

    yield from table(["half of", "ε", "without rules", "with rules"], rows())


def kinds_of_rules(figures: Figures) -> Iterator[str]:
    """Similarity with each kind of rules."""

    def rows() -> Iterator[Sequence[str]]:
        for title, log in FILES.items():
            places = (f"rules/{log}/0.1/{kind}/median" for kind in KINDS)
            yield [title, *(share(figures.value(place)) for place in places)]

    yield from table(["half of", *KINDS.values()], rows())


def means_of_rules(figures: Figures) -> Iterator[str]:
    """The same as means with standard errors."""

    def rows() -> Iterator[Sequence[str]]:
        for title in ("Sepsis", "Receipt"):
            entries = [figures.entry(f"rules/{FILES[title]}/0.1/{kind}/mean") for kind in KINDS]
            yield [
                title,
                *(f"{e['value']:.3f} ± {(e['high'] - e['low']) / 2:.3f}" for e in entries),
            ]

    yield from table(["half of", *KINDS.values()], rows())


def hospital(figures: Figures) -> Iterator[str]:
    """How good releases of the tutorial are."""
    similar, kept, fits = (
        figures.value(f"hospital/{measure}") for measure in ("similarity", "mass_kept", "fitness")
    )
    yield (
        f"In {figures.entry('hospital/similarity')['runs']} runs the median similarity was "
        f"{similar:.2f} (1 is the same distribution), {100 * kept:.0f} % of the original cases "
        "took a path that is in the release, and the model found in it fitted the original with "
        f"{fits:.2f}."
    )


def periods(figures: Figures) -> Iterator[str]:
    """What a year from months is worth."""
    ways = {
        "months at ε/n": "months at ε/12 each, put together",
        "months at ε": "months at ε each, put together",
        "months at ε, with earlier ones": "months at ε each, with earlier ones",
        "one release of all": "one release of all twelve at ε",
        "a month of months at ε": "*a single month* at ε",
        "a month of months at ε, with earlier ones": "*a single month* at ε, with earlier ones",
    }
    measures = ("similarity", "steps", "trigrams")

    def rows() -> Iterator[Sequence[str]]:
        for way, title in ways.items():
            places = [f"periods/{log}/{way}/{m}" for log in ("receipt", "sepsis") for m in measures]
            yield [title, *(f"{figures.value(place):.3f}" for place in places)]

    head = ["", "Receipt: similarity", "steps", "3-grams", "Sepsis: similarity", "steps", "3-grams"]
    yield from table(head, rows())


def hospital_rules(figures: Figures) -> Iterator[str]:
    """What the model of the embedded log gives at a small price."""
    free, rules, language, one = (
        f"{figures.value(f'hospital/{kind}/similarity'):.3f}"
        for kind in ("no rules", "rules", "language", "one deviation")
    )
    runs = figures.entry("hospital/rules/similarity")["runs"]
    yield (
        f"At ε = 0.2, similarity to the original is {free} without rules, {rules} with the rules "
        f"of the model and {language} with its language ({one} with one deviation; medians of "
        f"{runs} runs)."
    )
