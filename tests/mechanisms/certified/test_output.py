"""Everything that leaves a run follows from noisy answers, and from nothing else.

One log is asked with noise. Other logs, as different from it as logs can be, are then given exactly
the noise that leads them to the same answers. Post-processing sees no difference, so the queries,
the charges, the progress and every part of the output must be the same. A part that depends on the
log itself shows here, also where one case more or less would not change it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from sacofa.audit import Pair, attribute_pairs, timed_pairs
from sacofa.base.batches import concatenate
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import CaseBatch, Cases
from sacofa.kernel.noise import Noise
from sacofa.kernel.session import Session
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified.certified import Certified
from sacofa.mechanisms.protocol import Output, Progress
from sacofa.mechanisms.released import ReleasedLog
from sacofa.rules import Rules
from sacofa.synthesis.released import ReleasedColumn

from .outcomes import (
    ByHandOutcome,
    Ints,
    differences,
    largest_ratio,
    leading_to,
    parts_of,
    plain,
    run_by_hand,
)

NAMES = ("a", "b", "c")
MIXED = {("a", "b", "c"): 120, ("a", "c", "b"): 60, ("b",): 30, ("a", "b", "b", "c"): 20, (): 5}
FLOWS = [MIXED, {}, {("c",): 1}, {("b", "a"): 1_000_000}, {("a", "b", "c") * 30: 400}]
"""The first is asked; the others have to come to the same."""
FEW = Certified(epsilon=5, min_candidates=8, max_candidates=8)
FLOW = {
    "length chosen": replace(FEW, max_length_bound=8),
    "rules": replace(FEW, max_length=4, rules=Rules.free(NAMES)),
    "frequent variants": replace(FEW, max_length=2, large_log_ratio=Fraction(10**6)),
}
PAIRS = {pair.name: pair for pair in (*timed_pairs(), *attribute_pairs())}
BY_CASE = {"times": "long wait", "starts": "long work", "attributes": "rare value"}
WAYS = [*FLOW, *BY_CASE]


def noisy(place: int, epsilon: Fraction, table: Ints) -> Ints:
    """Noise as a run draws it, the same each time."""
    return Noise(SeededBits(place)).laplace(epsilon, len(table))


def many_times(pair: Pair) -> Cases:
    """Seven times the cases of a log: an odd number, where the other logs have an even one."""
    cases = pair.larger_cases
    assert isinstance(cases.by_case, CaseBatch)
    batch = concatenate([cases.by_case] * 7)
    return replace(cases, variants=batch.variants(), by_case=batch)


def nothing(pair: Pair) -> Cases:
    """A log without cases, of the same columns."""
    cases = pair.larger_cases
    assert isinstance(cases.by_case, CaseBatch)
    batch = cases.by_case.where(np.zeros(cases.by_case.cases, dtype=np.bool_))
    return replace(cases, variants=batch.variants(), by_case=batch)


@cache
def logs_of(way: str) -> list[Cases]:
    """A log that is asked in some way, and others that must come to the same."""
    if way in FLOW:
        return [Cases(variants=VariantCounts.of(flow, NAMES)) for flow in FLOWS]
    pair = PAIRS[BY_CASE[way]]
    return [many_times(pair), pair.smaller_cases, nothing(pair)]


def mechanism_of(way: str) -> Certified:
    """What asks the logs."""
    return FLOW.get(way, replace(FEW, max_length=3, time=way != "attributes"))


def runs(mechanism: Certified, way: str) -> tuple[ByHandOutcome, list[ByHandOutcome]]:
    """A run, and runs on other logs that see the same answers."""
    asked, *others = logs_of(way)
    first = run_by_hand(mechanism, asked, noisy)
    return first, [run_by_hand(mechanism, log, leading_to(first.seen)) for log in others]


@pytest.mark.parametrize("way", WAYS)
def test_the_same_answers_lead_to_the_same_output(way: str) -> None:
    """Queries, charges, progress, variants, core, times, verdict, margins and notes."""
    first, others = runs(mechanism_of(way), way)
    assert [differences(first, other) for other in others] == [[]] * len(others)


def test_the_runs_that_are_compared_have_every_part_of_an_output() -> None:
    """None of the parts is missing in all runs, and progress is reported."""
    outcomes = [run_by_hand(mechanism_of(way), logs_of(way)[0], noisy) for way in WAYS]
    for name in parts_of(outcomes[0].output):
        parts = [parts_of(outcome.output)[name] for outcome in outcomes]
        assert any(plain(part) not in (None, []) for part in parts), name
    assert all(outcome.progress[-1] == 1 for outcome in outcomes)
    assert any(outcome.shown for outcome in outcomes)


def revealing(part: object, cases: int) -> object:
    """A part of an output, changed by the true number of cases."""
    if isinstance(part, VariantCounts):
        return replace(part, counts=part.counts + cases)
    if isinstance(part, np.ndarray):
        return part ^ (cases % 2 == 1) if part.dtype == np.bool_ else part + cases
    if isinstance(part, tuple) and part and isinstance(part[0], ReleasedColumn):
        return (replace(part[0], name=f"{cases} cases"), *part[1:])
    if isinstance(part, tuple):
        return (*part, f"{cases} cases")
    return f"{part}; {cases} cases"


@dataclass(frozen=True, kw_only=True)
class Reveals(Certified):
    """Lets one part of the output depend on the true number of cases."""

    part: str

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        """Release, then change a part."""
        assert isinstance(session._variants, VariantCounts)
        cases = session._variants.cases
        if self.part == "progress" and progress is not None:
            progress(cases / 10**9)
        output = super().run(session, progress)
        if self.part == "progress":
            return output
        changed = {self.part: revealing(parts_of(output)[self.part], cases)}
        if hasattr(output, self.part):
            return replace(output, **changed)
        return replace(output, log=replace(output.log, **changed))


PARTS = [
    field.name for kind in (ReleasedLog, Output) for field in fields(kind) if field.name != "log"
] + ["progress"]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_reveals_the_number_of_cases_is_noticed(part: str) -> None:
    """Whichever part it is, by this comparison and by that of neighbours."""
    way = "starts" if part in ("times", "starts") else "attributes"
    mechanism = mechanism_of(way)
    set_as_there = {each.name: getattr(mechanism, each.name) for each in fields(mechanism)}
    broken = Reveals(**set_as_there, part=part)
    first, others = runs(broken, way)
    assert all(differences(first, other) == [part] for other in others)
    pair = PAIRS[BY_CASE[way]]
    with pytest.raises(AssertionError, match=f"more than noisy answers: {part}$"):
        largest_ratio(broken, (pair.smaller_cases, pair.larger_cases))
