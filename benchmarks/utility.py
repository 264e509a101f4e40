"""How useful releases of the paper's logs are: `certified` beside the papers' mechanisms.

At each ε, `certified` spends ε in all. The others spend it at every level: the same number costs
them more, and where rules are read off the log no finite ε holds. They have the thresholds of the
paper. The paper's program, which made the published figures, never prunes finished prefixes;
"sacofa, pruned as the text says" does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from figure import Figure, median

from sacofa import Certified, VariantCounts, anonymize
from sacofa.evaluation import Evaluator
from sacofa.evaluation.claims import CERTIFIED, SACOFA
from sacofa.evaluation.measures.similarity import similarity
from sacofa.evaluation.perform import Performer
from sacofa.evaluation.reproduction import Reproduction, find_logs
from sacofa.evaluation.runs import DONE, LIMIT, Row, Run
from sacofa.examples import hospital, hospital_model
from sacofa.logs import count_variants
from sacofa.semantics import ModelOptions, read_model

EPSILONS = ("1", "0.1")
SEEDS = range(501, 521)
"""Kept for these figures: whoever tunes takes others."""
PENALTIES = ("0", "3", "6", "12", "24")
"""How much order is asked for, from none to a lot: 6 is the default."""
TEXT = "sacofa, pruned as the text says"
REPEAT = 10
OWN_SEEDS = f"one for each run, 1 to {REPEAT} (`Run.seed`)"

ASKED = (
    "similarity", "steps", "trigrams", "activity", "repeated", "length", "size_error",
    "mass_kept", "f_score", "fitness", "precision",
)  # fmt: skip
"""What is recorded of `certified` at its defaults."""
REPRODUCED = (
    "f_score", "fitness", "precision", "generalization", "normal", "similarity", "mass_kept",
    "size_error",
)  # fmt: skip
"""What is recorded of the paper's experiments."""


def read_logs(folder: Path) -> dict[str, VariantCounts]:
    """The paper's logs that the folder has."""
    return {name: count_variants(path) for name, path in find_logs(folder).items()}


def measure_certified(folder: Path) -> Iterator[Figure]:
    """`certified` at its defaults, and in the paper's experiments."""
    logs = read_logs(folder)
    for name, log in logs.items():
        yield from measure_defaults(name, log)
    runs = Reproduction(repeat=REPEAT).runs()
    yield from measure_runs([run for run in runs if run.series == CERTIFIED], logs)


def measure_defaults(name: str, log: VariantCounts) -> Iterator[Figure]:
    """What analysts ask, with every setting left alone but ε."""
    evaluator = Evaluator(log)
    for epsilon in EPSILONS:
        found: dict[str, list[float]] = {}
        for seed in SEEDS:
            start = time.process_time()
            release = anonymize(log, Certified(epsilon=epsilon), seed=seed)
            found.setdefault("seconds", []).append(time.process_time() - start)
            measures = evaluator.measure(release.variants, release.core_variants)
            for measure in ASKED:
                found.setdefault(measure, []).append(measures[measure])
        seeds = f"{SEEDS[0]} to {SEEDS[-1]}"
        for measure, values in found.items():
            unit = "s of the processor" if measure == "seconds" else ""
            yield median(f"certified/{name}/{epsilon}/{measure}", values, unit=unit, seeds=seeds)


def measure_frontier(folder: Path) -> Iterator[Figure]:
    """What order costs and buys: steps that are right against a model that is precise."""
    seeds = SEEDS[:10]
    for name, log in read_logs(folder).items():
        evaluator = Evaluator(log)
        for penalty in PENALTIES:
            found: dict[str, list[float]] = {"steps": [], "f_score": [], "core_f_score": []}
            for seed in seeds:
                mechanism = Certified(epsilon=1, order_penalty=Fraction(penalty))
                release = anonymize(log, mechanism, seed=seed)
                whole = evaluator.measure(release.variants)
                core = evaluator.measure(release.variants, release.core_variants)
                found["steps"].append(whole["steps"])
                found["f_score"].append(whole["f_score"])
                found["core_f_score"].append(core["f_score"])
            for measure, values in found.items():
                place = f"frontier/{name}/{penalty}/{measure}"
                yield median(place, values, seeds=f"{seeds[0]} to {seeds[-1]}")


def measure_papers(folder: Path) -> Iterator[Figure]:
    """The paper's experiments without `certified`, and the original logs themselves."""
    logs = read_logs(folder)
    runs = [r for r in Reproduction(repeat=REPEAT).runs() if r.series not in (CERTIFIED, LIMIT)]
    for run in Reproduction(repeat=REPEAT, prune_finished=True).runs():
        if run.series == SACOFA and run.epsilon in EPSILONS:
            runs.append(replace(run, series=TEXT))
    yield from measure_runs(runs, logs)


def measure_runs(runs: Sequence[Run], logs: Mapping[str, VariantCounts]) -> Iterator[Figure]:
    """Make runs, and give median and quartiles of those that belong together."""
    perform = Performer(logs)
    together: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if run.log in logs:
            together.setdefault((run.log, run.epsilon, run.series), []).append(run)
    for (log, epsilon, series), group in together.items():
        place = f"reproduction/{log}/{epsilon or '-'}/{series}"
        rows = [row for row in map(perform, group) if row.status == DONE]
        if not rows:
            continue
        yield from _figures(place, rows, OWN_SEEDS if epsilon else "")


def _figures(place: str, rows: Sequence[Row], seeds: str) -> Iterator[Figure]:
    if rows[0].spent is not None:
        yield Figure(name=f"{place}/spent", value=rows[0].spent, unit="ε")
    for measure in REPRODUCED:
        values = [row.measures[measure] for row in rows]
        yield median(f"{place}/{measure}", values, seeds=seeds)


def measure_hospital(folder: Path) -> Iterator[Figure]:
    """The embedded log, as the tutorial releases it."""
    log = hospital()
    evaluator = Evaluator(log)
    mechanism = Certified(epsilon=1)
    releases = [
        anonymize(log, mechanism, activities=log.activities, seed=seed) for seed in SEEDS[:10]
    ]
    found = [evaluator.measure(release.variants, release.core_variants) for release in releases]
    seeds = f"{SEEDS[0]} to {SEEDS[9]}"
    for measure in ("similarity", "mass_kept", "fitness"):
        yield median(f"hospital/{measure}", [one[measure] for one in found], seeds=seeds)
    yield from measure_hospital_rules(log)


def measure_hospital_rules(log: VariantCounts) -> Iterator[Figure]:
    """The embedded log with its public model, at a small price."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hospital.bpmn"
        path.write_bytes(hospital_model())
        model = read_model(path)
    kinds = {
        "no rules": None,
        "rules": model.rules(),
        "language": model.rules(ModelOptions(deviations=0)),
        "one deviation": model.rules(ModelOptions(deviations=1)),
    }
    for kind, rules in kinds.items():
        mechanism = Certified(epsilon="0.2", rules=rules)
        releases = (anonymize(log, mechanism, seed=seed) for seed in SEEDS)
        values = [similarity(log, release.variants) for release in releases]
        yield median(f"hospital/{kind}/similarity", values, seeds=f"{SEEDS[0]} to {SEEDS[-1]}")
