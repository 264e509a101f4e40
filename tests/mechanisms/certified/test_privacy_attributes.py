"""The ε of `certified` is true with attributes, too: exact ratios of outcomes.

The pairs are those of the audit: a case with values that no other has, one with two values that no
other has together, one of many events, one without values, and a person with three cases. As in
test_privacy.py the ratio is exact for the outcomes that are tried.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction

import pytest

from sacofa.audit import Finding, Pair, attribute_pairs, attribute_persons_pair, audit, make_minimal
from sacofa.kernel.session import Session
from sacofa.mechanisms.certified.certified import Certified
from sacofa.mechanisms.protocol import Output, Progress

from . import outcomes
from .outcomes import ForgetsCases, breaks, listed, run_by_hand

SHORT = Certified(
    epsilon=Fraction(3, 2), max_length=2, min_candidates=3, max_candidates=3, time=False
)
PAIRS = {pair.name: pair for pair in (*attribute_pairs(), attribute_persons_pair(3))}
ASKED = ["attribute case:colour", "attribute who", "attributes 'case:colour' and 'who'"]


def largest_ratio(pair: Pair, session: type[Session] = Session, noises: int = 1) -> float:
    """The largest ratio of a pair."""
    return outcomes.largest_ratio(SHORT, (pair.smaller_cases, pair.larger_cases), session, noises)


def test_attributes_are_among_what_is_tried() -> None:
    """Every question about attributes is asked, each with noise of its own, and values come out."""
    outcome = run_by_hand(SHORT, PAIRS["rare value"].larger_cases, listed([]))
    assert [query.name for query in outcome.asked_for][-3:] == ASKED  # type: ignore[attr-defined]
    assert len(outcome.epsilons) == len(outcome.seen)
    assert len(outcome.output.log.columns) == 2


@pytest.mark.parametrize("name", PAIRS)
def test_no_outcome_gives_a_case_away(name: str) -> None:
    """Every ratio is at most e^ε, and much of it is used."""
    PAIRS[name].check_neighbours()
    worst = largest_ratio(PAIRS[name])
    assert 0.4 < worst <= 1 + 1e-9
    if name in ("rare value", "person with values"):
        assert worst > 0.99


@pytest.mark.parametrize("name", ASKED)
def test_a_table_of_values_without_noise_is_noticed(name: str) -> None:
    """Whichever of the tables is given as it is."""
    pair = PAIRS["rare value"]
    assert largest_ratio(pair, breaks(name, lambda noisy, true: true)) > 1.2


def test_too_little_noise_for_a_person_is_noticed() -> None:
    """A person whose cases are taken for one is given away."""
    assert largest_ratio(PAIRS["person with values"], ForgetsCases) > 1.2


def worst(findings: tuple[Finding, ...]) -> Finding:
    """The finding with the highest bound."""
    return max(findings, key=lambda finding: finding.certified)


@dataclass(frozen=True, kw_only=True)
class Unnoised(Certified):
    """Answers about one attribute are given as they are."""

    def run(self, session: Session, progress: Progress | None = None) -> Output:
        kind = breaks("attribute who", lambda noisy, true: true)
        asking = kind.__new__(kind)
        vars(asking).update(vars(session))
        return super().run(asking, progress)


def test_an_audit_finds_a_table_without_noise() -> None:
    """The attacker who knows both logs sees attributes, and leaves what holds alone."""
    small = make_minimal("certified", {"epsilon": 1, "time": False})
    broken = Unnoised(**{each.name: getattr(small, each.name) for each in fields(small)})
    for mechanism, refuted in ((small, False), (broken, True)):
        finding = worst(audit(mechanism, [PAIRS["rare value"]], runs=100, seed=1))
        assert finding.claimed == 1 and finding.refuted == refuted
