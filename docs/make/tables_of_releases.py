"""Tables of how useful releases of `certified` are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from measured import Figures, share, table

LOGS = {"Receipt": "CoSeLoG", "Sepsis": "Sepsis", "Traffic fines": "Traffic fines"}
FILES = {"Sepsis": "sepsis", "Receipt": "receipt", "Traffic fines": "traffic_fines"}
PUBLISHED, TEXT = "sacofa", "pruned as the text says"
TIMES = {"with times": "yes", "without times": "no"}
"""The configurations of `certified` that were measured; the first is the default."""
ASKED = {
    "similarity": "similarity of variants",
    "steps": "directly-follows edges, total variation",
    "trigrams": "3-grams, total variation",
    "activity": "share of cases with an activity, mean error",
    "repeated": "share of cases that repeat an activity, mean error",
    "length": "mean length, relative error",
    "size_error": "number of cases, relative error",
    "f_score": "F of the model mined from the whole release",
    "fitness": "fitness of that model",
    "precision": "precision of that model",
    "core_f_score": "F of the model mined from the orderly core",
    "core_share": "share of released cases in the core",
}
"""Measures of a release of `certified`, with their titles."""
COMPARED = {
    "similarity": "similarity", "steps": "edges, TV", "f_score": "F", "fitness": "fitness",
    "precision": "precision", "core_f_score": "F, core only", "core_share": "core, share of cases",
    "size_error": "size error",
}  # fmt: skip
"""Measures of releases at equal ε, with their titles."""
EQUAL = {
    "certified, with these rules": "`certified`, with these rules",
    "sacofa": "`sacofa`, with these rules",
    f"sacofa, {TEXT}": f"`sacofa`, with these rules, {TEXT}",
    "laplace": "`laplace`",
    f"laplace, {TEXT}": f"`laplace`, {TEXT}",
}  # fmt: skip
"""Series of releases at equal ε, with their titles."""
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


def equal_in_short(figures: Figures) -> Iterator[str]:
    """Similarity and F of whole releases at equal ε, with the original's own F."""

    def rows() -> Iterator[Sequence[str]]:
        for title, log in LOGS.items():
            own = figures.value(f"reproduction/{log}/-/original/f_score")
            for epsilon in ("1", "0.1"):
                places = [f"certified/{log}/{epsilon}/{one}" for one in TIMES]
                places += [f"equal/{log}/{epsilon}/{one}" for one in (PUBLISHED, "laplace")]
                yield [f"{title} ({share(own)})", epsilon, *map(both, places)]

    def both(place: str) -> str:
        if not figures.has(f"{place}/similarity"):
            return "no result"
        found = (figures.value(f"{place}/{one}") for one in ("similarity", "f_score"))
        return ", ".join(map(share, found))

    head = [
        "log (F of its own model)", "ε", "`certified`, default: with times",
        "`certified`, without times", "`sacofa`, public rules, without times",
        "`laplace`, without times",
    ]  # fmt: skip
    yield from table(head, rows())
    yield ""
    yield f"Each cell: similarity, F. {_runs(figures)}"


def equal(figures: Figures) -> Iterator[str]:
    """Every mechanism at the same ε of the whole release."""

    def rows() -> Iterator[Sequence[str]]:
        for title, log in LOGS.items():
            place = f"reproduction/{log}/-/original"
            quality = ("f_score", "fitness", "precision", "core_f_score", "core_share")
            own = {one: share(figures.value(f"{place}/{one}")) for one in quality}
            yield [title, "", "*the original log*", "", *(own.get(one, "") for one in COMPARED)]
            for epsilon in ("1", "0.1"):
                for released, told in TIMES.items():
                    default = ", default" if told == "yes" else ""
                    place = f"certified/{log}/{epsilon}/{released}"
                    yield [title, epsilon, f"`certified`{default}", told, *cells(place)]
                for series, name in EQUAL.items():
                    place = f"equal/{log}/{epsilon}/{series}"
                    yield [title, epsilon, name, "no", *cells(place)]

    def cells(place: str) -> list[str]:
        found = [f"{place}/{measure}" for measure in COMPARED]
        return [share(figures.value(one)) if figures.has(one) else "–" for one in found]

    head = ["log", "ε of the release", "mechanism", "times", *COMPARED.values()]
    yield from table(head, rows(), numbers=len(COMPARED))
    lost = [name for name in figures.entries if re.match(r"equal/.*/without result$", name)]
    told = " ".join(f"{figures.value(one):.0f} runs of {one[6:-15]} had no result." for one in lost)
    yield ""
    yield f"{_runs(figures)} {told}".strip()


def _runs(figures: Figures) -> str:
    ours = figures.entry("certified/Sepsis/1/with times/similarity")
    others = figures.entry(f"equal/Sepsis/1/{PUBLISHED}/similarity")["runs"]
    return (
        f"Medians; of `certified` {ours['runs']} runs (seeds {ours['seeds']}), of the others and "
        f"with rules {others}."
    )


def asked(figures: Figures) -> Iterator[str]:
    """What analysts ask of `certified`, with times and without."""

    def rows() -> Iterator[Sequence[str]]:
        for measure, title in ASKED.items():
            places = (f"certified/{log}/1/{one}" for log in LOGS.values() for one in TIMES)
            yield [title, *(share(figures.value(f"{place}/{measure}")) for place in places)]

    head = ["", *(f"{title}, {one}" for title in LOGS for one in TIMES)]
    yield from table(head, rows(), numbers=6)
    entry = figures.entry("certified/Sepsis/1/with times/similarity")
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
    logs = {"Receipt": "CoSeLoG"}

    def rows() -> Iterator[Sequence[str]]:
        for column, title in TIMED.items():
            cells = []
            for name, log in logs.items():
                for place in (f"times/{log}/{column}", f"pripel/original/{name}/{column}"):
                    cells.append(f"{figures.value(place):.3g}")
            yield [title, *cells]

    yield from table(["Receipt", "`certified`", "PRIPEL"], rows(), numbers=2)
    entry = figures.entry("pripel/original/Receipt/similarity")
    yield ""
    yield f"PRIPEL: medians of {entry['runs']} runs; it takes no seed."


def wide(figures: Figures) -> Iterator[str]:
    """How much of a log with hundreds of activities is left."""

    def rows() -> Iterator[Sequence[str]]:
        for title, place in (
            ("`certified`, ε = 1, without times", "wide/1"),
            ("`certified`, ε = 4, without times", "wide/4"),
            ("a second sample of the process", "wide/sample"),
        ):
            yield [title, *(share(figures.value(f"{place}/{m}")) for m in ("similarity", "steps"))]

    yield from table(["", "similarity", "edges, TV"], rows(), numbers=2)
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


def generated(figures: Figures) -> Iterator[str]:
    """Releases of generated logs, and how many times as far from the log as two of its halves."""
    measures = ("steps", "trigrams", "activities")
    names = [name.split("/")[1] for name in figures.entries if name.endswith("/halves/steps")]

    def cell(log: str, epsilon: str, measure: str) -> str:
        value = figures.value(f"generated/{log}/{epsilon}/{measure}")
        times = value / figures.value(f"generated/{log}/halves/{measure}")
        return f"{value:.3f} ({times:.1f})"

    def rows() -> Iterator[Sequence[str]]:
        for log in names:
            halves = [figures.value(f"generated/{log}/halves/{measure}") for measure in measures]
            yield [log, "halves", *(f"{value:.3f}" for value in halves)]
            for epsilon in ("1", "10", "100"):
                yield ["", epsilon, *(cell(log, epsilon, measure) for measure in measures)]

    head = ["log", "ε", "directly-follows edges, TV", "3-grams, TV", "activity shares"]
    yield from table(head, rows(), numbers=3)


def delta(figures: Figures) -> Iterator[str]:
    """Releases of pure ε → the same ε with a δ."""
    names = dict.fromkeys(n.split("/")[1] for n in figures.entries if n.startswith("delta/"))

    def cell(place: str, measure: str) -> str:
        pure, other = (figures.value(f"{place}/{delta}/{measure}") for delta in ("0", "1e-6"))
        return f"{pure:.3f} → {other:.3f}"

    def rows() -> Iterator[Sequence[str]]:
        for name in names:
            for epsilon in ("1", "0.1"):
                place = f"delta/{name}/{epsilon}"
                cells = (cell(place, one) for one in ("steps", "trigrams", "activities"))
                yield [name if epsilon == "1" else "", epsilon, *cells]

    head = ["log", "ε", "directly-follows edges, TV", "3-grams, TV", "activity shares"]
    yield from table(head, rows(), numbers=3)


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


def seconds(figures: Figures) -> Iterator[str]:
    """How long a release takes."""

    def rows() -> Iterator[Sequence[str]]:
        for title, log in LOGS.items():
            places = (f"certified/{log}/1/{released}/seconds" for released in TIMES)
            yield [title, *(f"{figures.value(place):.1f} s" for place in places)]

    yield from table(["log", *TIMES], rows(), numbers=2)
    runs = figures.entry("certified/Sepsis/1/with times/seconds")["runs"]
    yield ""
    yield f"Processor time of one release at ε = 1 from cases in memory; medians of {runs} runs."


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


KINDS_OF_MARGINS = {
    "cases": "number of cases",
    "variant": "cases of a variant",
    "activity": "events of an activity",
    "step": "directly-follows pairs",
    "wait": "median waits",
    "cycle time": "shares of cycle times",
    "begin": "shares of months",
    "attribute": "shares of values",
}
"""Kinds of released figures, with their titles."""
ALL_LOGS = "all logs"


def coverage(figures: Figures) -> Iterator[str]:
    """How often margins of error hold, and how wide they are, for each kind and log."""
    logs = dict.fromkeys(
        name.split("/")[1] for name in figures.entries if name.startswith("coverage/")
    )
    names = [*(log for log in logs if log != ALL_LOGS), *([ALL_LOGS] if ALL_LOGS in logs else [])]

    def rows() -> Iterator[list[str]]:
        for kind, title in KINDS_OF_MARGINS.items():
            for log in names:
                place = f"coverage/{log}/{kind}"
                if figures.has(f"{place}/ratio"):
                    yield [title, log, *_margins(figures, place)]

    head = ["figures", "log", "runs", "number", "coverage", "margin", "error", "ratio"]
    yield from table(head, rows(), numbers=6)


def _margins(figures: Figures, place: str) -> Iterator[str]:
    yield str(figures.entry(f"{place}/coverage")["runs"])
    yield f"{figures.value(f'{place}/figures'):,.0f}"
    yield f"{100 * figures.value(f'{place}/coverage'):.1f} %"
    for what in ("margin", "error"):
        value = figures.value(f"{place}/{what}")
        yield f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    yield f"{figures.value(f'{place}/ratio'):.2f}"
