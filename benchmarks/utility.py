"""How useful releases of the paper's logs are: `certified` next to the papers' mechanisms.

Every release is measured by `sacofa.evaluate`, the same way for every mechanism: F, fitness and
precision are those of the model mined from the whole release; the orderly core is chosen by one
filter and has columns of its own.

In the paper's experiments (group `papers`), laplace and sacofa spend ε at every level, with the
thresholds of the paper. In the group `equal`, every mechanism spends the same ε for the whole
release. The paper's program, which made the published figures, never prunes finished prefixes;
"pruned as the text says" does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from figure import Figure, median

from sacofa import Certified, Laplace, Sacofa, VariantCounts, anonymize, learn_rules
from sacofa.evaluate import Evaluator
from sacofa.evaluate.comparison import default_prune
from sacofa.evaluate.evaluate import read_measured
from sacofa.evaluate.experiment import Performer
from sacofa.evaluate.measures.flow import similarity
from sacofa.evaluate.reproduction import (
    BASELINE,
    CERTIFIED,
    SACOFA,
    SETTINGS,
    Reproduction,
    find_logs,
)
from sacofa.evaluate.runs import DONE, LIMIT, Run, Summary
from sacofa.events import count_variants, open_log
from sacofa.examples import hospital, hospital_csv, hospital_model
from sacofa.kernel.cases import Cases
from sacofa.mechanisms import Mechanism
from sacofa.rules import FromPublicLog, ModelOptions, Rules, read_model

EPSILONS = ("1", "0.1")
SEEDS = range(501, 511)
"""Kept for these figures; tuning uses others."""
PENALTIES = ("0", "3", "6", "12", "24")
"""Values of `order_penalty`, from no order to a lot; 6 is the default."""
CONFIGURATIONS = {"with times": True, "without times": False}
"""Whether times are released; with times is the default."""
TEXT = "pruned as the text says"
REPEAT = 10
OWN_SEEDS = f"one for each run, 1 to {REPEAT} (`Run.seed`)"

MODEL = ("f_score", "fitness", "precision", "core_share", "core_f_score")
"""What is recorded of the mined model; the first three are of the whole release."""
ASKED = (
    "similarity", "steps", "trigrams", "activity", "repeated", "length", "size_error",
    "mass_kept", *MODEL,
)  # fmt: skip
"""What is recorded of `certified` with default settings and of releases at equal ε."""
REPRODUCED = ("generalization", "normal", "similarity", "mass_kept", "size_error", *MODEL)
"""What is recorded of the paper's experiments."""


def read_logs(folder: Path) -> dict[str, VariantCounts]:
    """The paper's logs that the folder has."""
    return {name: count_variants(path) for name, path in find_logs(folder).items()}


def measure_certified(folder: Path) -> Iterator[Figure]:
    """`certified` with default settings, and in the paper's experiments."""
    for name, path in find_logs(folder).items():
        yield from measure_defaults(name, read_measured(open_log(path)))
    runs = Reproduction(repeat=REPEAT).runs()
    yield from measure_runs(
        "reproduction", [run for run in runs if run.series == CERTIFIED], read_logs(folder)
    )


def measure_defaults(name: str, log: Cases) -> Iterator[Figure]:
    """Default settings but for ε, with times (the default) and without."""
    evaluator = Evaluator(log.variants)
    for configuration, times in CONFIGURATIONS.items():
        for epsilon in EPSILONS:
            found: dict[str, list[float]] = {}
            for seed in SEEDS:
                start = time.process_time()
                release = anonymize(log, Certified(epsilon=epsilon, time=times), seed=seed)
                found.setdefault("seconds", []).append(time.process_time() - start)
                measures = evaluator.measure(release.variants)
                for measure in ASKED:
                    found.setdefault(measure, []).append(measures[measure])
            for measure, values in found.items():
                unit = "s of the processor" if measure == "seconds" else ""
                place = f"certified/{name}/{epsilon}/{configuration}/{measure}"
                yield median(place, values, unit=unit, seeds=f"{SEEDS[0]} to {SEEDS[-1]}")


def measure_equal(folder: Path) -> Iterator[Figure]:
    """Every mechanism at the same ε of the whole release."""
    logs = read_logs(folder)
    runs = [
        Run(log=setting.log, series=series, epsilon=epsilon, mechanism=mechanism, repetition=i)
        for setting in SETTINGS
        if setting.log in logs
        for epsilon in EPSILONS
        for series, mechanism in at_equal_epsilon(
            logs[setting.log], epsilon, setting.max_length
        ).items()
        for i in range(1, REPEAT + 1)
    ]
    yield from measure_runs("equal", runs, logs, ASKED)


def at_equal_epsilon(log: VariantCounts, epsilon: str, levels: int) -> dict[str, Mechanism]:
    """The mechanisms other than `certified` by itself, each spending ε for the whole release.

    A level of the prefix tree gets ε/levels; the threshold is that of `sacofa compare`, 2.5 scales
    of the noise. Rules count as public knowledge, though they are learned from the log itself: this
    can only make releases that use them better.
    """
    rules = learn_rules(log, FromPublicLog("the log itself"))
    made: dict[str, Mechanism] = {
        f"{CERTIFIED}, with these rules": Certified(epsilon=epsilon, time=False, rules=rules)
    }
    for suffix, prune_finished in (("", False), (f", {TEXT}", True)):
        made[BASELINE + suffix] = _per_level(None, epsilon, levels, prune_finished)
        made[SACOFA + suffix] = _per_level(rules, epsilon, levels, prune_finished)
    return made


def _per_level(rules: Rules | None, epsilon: str, levels: int, prune_finished: bool) -> Mechanism:
    level = Fraction(epsilon) / levels
    prune = default_prune(level)
    if rules is None:
        return Laplace(
            level_epsilon=level, max_length=levels, prune=prune, prune_finished=prune_finished
        )
    return Sacofa(
        level_epsilon=level, max_length=levels, prune_harmless=prune, prune_harmful=prune,
        rules=rules, prune_finished=prune_finished,
    )  # fmt: skip


def measure_frontier(folder: Path) -> Iterator[Figure]:
    """Directly-follows error against F for several order penalties, without times."""
    seeds = SEEDS
    for name, log in read_logs(folder).items():
        evaluator = Evaluator(log)
        for penalty in PENALTIES:
            found: dict[str, list[float]] = {"steps": [], "f_score": [], "core_f_score": []}
            for seed in seeds:
                mechanism = Certified(epsilon=1, order_penalty=Fraction(penalty))
                measures = evaluator.measure(anonymize(log, mechanism, seed=seed).variants)
                for measure, values in found.items():
                    values.append(measures[measure])
            for measure, values in found.items():
                place = f"frontier/{name}/{penalty}/{measure}"
                yield median(place, values, seeds=f"{seeds[0]} to {seeds[-1]}")


def measure_papers(folder: Path) -> Iterator[Figure]:
    """The paper's experiments without `certified`, and the original logs themselves."""
    runs = [r for r in Reproduction(repeat=REPEAT).runs() if r.series not in (CERTIFIED, LIMIT)]
    for run in Reproduction(repeat=REPEAT, prune_finished=True).runs():
        if run.series == SACOFA and run.epsilon in EPSILONS:
            runs.append(replace(run, series=f"{SACOFA}, {TEXT}"))
    yield from measure_runs("reproduction", runs, read_logs(folder))


def measure_runs(
    group: str,
    runs: Sequence[Run],
    logs: Mapping[str, VariantCounts],
    measures: Sequence[str] = REPRODUCED,
) -> Iterator[Figure]:
    """Make runs, and give median and quartiles of those that belong together."""
    perform = Performer(logs)
    together: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        if run.log in logs:
            together.setdefault((run.log, run.epsilon, run.series), []).append(run)
    for (log, epsilon, series), same in together.items():
        place = f"{group}/{log}/{epsilon or '-'}/{series}"
        rows = [perform(run) for run in same]
        lost = sum(row.status != DONE for row in rows)
        if lost:
            yield Figure(name=f"{place}/without result", value=lost, unit="runs", runs=len(rows))
        if lost < len(rows) and (spent := rows[0].spent) is not None:
            yield Figure(name=f"{place}/spent", value=spent, unit="ε")
        summary = Summary(rows)
        for measure in measures:
            values = summary.values(measure, log, series, epsilon)
            if values:
                seeds = OWN_SEEDS if epsilon else ""
                yield median(f"{place}/{measure}", values, seeds=seeds)


def measure_hospital(folder: Path) -> Iterator[Figure]:
    """The embedded log, released with the settings of the tutorial: times included."""
    log = hospital()
    evaluator = Evaluator(log)
    with TemporaryDirectory() as made:
        path = Path(made) / "hospital.csv"
        path.write_bytes(hospital_csv())
        releases = [
            anonymize(path, Certified(epsilon=1), activities=log.activities, seed=seed)
            for seed in SEEDS
        ]
    found = [evaluator.measure(release.variants) for release in releases]
    seeds = f"{SEEDS[0]} to {SEEDS[-1]}"
    for measure in ("similarity", "mass_kept", "fitness", "f_score"):
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
