"""The mechanism as a whole: settings, rules, seeds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from sacofa import anonymize, open_log
from sacofa.errors import SettingError
from sacofa.kernel.attributes import Attribute
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.noise import Noise
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms import Outcome, perform
from sacofa.mechanisms.certified import Certified, run
from sacofa.rules import Rules, RuleStates, learn_rules

LOG = VariantCounts.of(
    {tuple("abcd"): 60, tuple("acbd"): 40, tuple("abd"): 30, tuple("ad"): 3}, tuple("abcd")
)


def test_released_cases_keep_public_rules() -> None:
    """With rules, every released case is harmless."""
    rules = learn_rules(LOG, source="a test")
    for seed in range(20):
        for epsilon in ("1/10", "1"):
            mechanism = Certified(epsilon=Fraction(epsilon), max_length=6, rules=rules)
            released = perform(mechanism, Cases(variants=LOG), Noise(SeededBits(seed))).log.variants
            count = RuleStates(rules).violations
            for ids, finished in zip(released.sequences(), released.complete, strict=True):
                assert not count(ids, bool(finished))


def test_a_seed_repeats_everything() -> None:
    """The same seed gives the same release and the same transcript; another one does not."""
    mechanism = Certified(epsilon=Fraction(1))
    one, same, other = (
        perform(mechanism, Cases(variants=LOG), Noise(SeededBits(s))) for s in (1, 1, 2)
    )
    assert one.log.variants == same.log.variants
    assert str(one.transcript) == str(same.transcript)
    assert one.log.variants != other.log.variants


@pytest.mark.parametrize(("times", "asked"), [(1, False), (100, True)], ids=["tiny", "large"])
def test_lengths_are_asked_where_noise_leaves_them(times: int, asked: bool) -> None:
    """Of a log that is tiny for ε they are not: a fallback is called one, and steps get more."""
    log = VariantCounts.of({tuple("abcd"): 100 * times, tuple("ad"): 33 * times}, tuple("abcd"))
    mechanism = Certified(epsilon=Fraction(1), time=False)
    outcome = perform(mechanism, Cases(variants=log), Noise(SeededBits(1)))
    spent = spent_on(outcome)
    assert ("lengths" in spent) == asked
    assert any(note.code == "note.truncated_fallback" for note in outcome.output.notes) != asked
    # Of what is asked they tell that cases are short.
    assert spent["steps"] == Fraction(34 - 4 if asked else 34 + 12 + 5, 100)


@pytest.mark.parametrize(
    ("number", "rules", "asked"),
    [(3, False, True), (20, False, False), (20, True, True), (120, False, True)],
    ids=["few", "hidden", "rules", "wide"],
)
def test_activities_are_not_asked_where_noise_hides_them(
    number: int, rules: bool, asked: bool
) -> None:
    """Then steps get all of their share, and no released case repeats anything.

    Of a few activities votes tell something in any log; of very many some have to be chosen, and
    rules say what may be repeated.
    """
    names = tuple(f"{i:03}" for i in range(number))
    log = VariantCounts.of({(*names[:3], *names[:2]): 150}, names)
    mechanism = Certified(
        epsilon=Fraction(1), time=False, rules=Rules.free(names) if rules else None
    )
    outcome = perform(mechanism, Cases(variants=log), Noise(SeededBits(1)))
    spent = spent_on(outcome)
    assert ("activities" in spent) == asked
    assert sum(spent.values()) == 1
    if not asked:
        assert spent["steps"] == Fraction(34 + 15 + 5, 100)
        assert all(len(set(ids)) == len(ids) for ids in outcome.log.variants.sequences())


@pytest.mark.parametrize(
    ("length", "max_length", "more"), [(3, None, -4), (10, None, 0), (60, None, 10), (60, 80, 0)]
)
def test_steps_of_long_cases_get_more(length: int, max_length: int | None, more: int) -> None:
    """The final vote gets that less; where lengths are not asked, nothing moves."""
    names = tuple(f"{i:02}" for i in range(length))
    log = VariantCounts.of({names: 3_000}, names)
    mechanism = Certified(epsilon=Fraction(1), max_length=max_length, time=False)
    spent = spent_on(perform(mechanism, Cases(variants=log), Noise(SeededBits(1))))
    assert spent["steps"] == Fraction(34 + more, 100)
    assert spent["final"] == Fraction((40 if max_length else 35) - more, 100)


def spent_on(outcome: Outcome) -> dict[str, Fraction]:
    """What each query cost, by its name."""
    return {
        answer.query.name: answer.epsilon * answer.query.sensitivity for answer in outcome.answers
    }


def test_an_order_of_many_cases_stays_however_much_noise_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fifth of the cases is no disorder; if noise alone decided, it would mostly be dropped."""
    log = VariantCounts.of({tuple("abc"): 1_620, tuple("acb"): 380}, tuple("abc"))
    mechanism = Certified(epsilon=Fraction(1, 20), time=False)

    def kept() -> int:
        outcomes = (
            perform(mechanism, Cases(variants=log), Noise(SeededBits(seed))) for seed in range(12)
        )
        return sum((0, 2, 1) in list(outcome.log.variants.sequences()) for outcome in outcomes)

    assert kept() >= 10
    monkeypatch.setattr(run, "MOST_NOISE", 1)
    assert kept() <= 5


@pytest.mark.parametrize(
    "settings",
    [
        {"epsilon": 0},
        {"epsilon": "x"},
        {"max_length": 0},
        {"max_length_bound": 0},
        {"candidates": -1},
        {"rules": learn_rules(LOG)},
        {"max_length": True},
        {"max_length": "long"},
        {"max_candidates": 2.5},
        {"calendar": "2019-01/2023-12", "time": False},
        {"granularity": "day", "time": False},
        {"time_share": "1/3", "time": False},
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object]) -> None:
    """Before any log is read, with the name of the setting."""
    with pytest.raises(SettingError, match=next(iter(settings))):
        Certified(**{"epsilon": Fraction(1), **settings})  # type: ignore[arg-type]


def test_times_and_attributes_leave_something_for_control_flow() -> None:
    """Shares that would leave nothing are refused by their name, before a log is read."""
    channel = Attribute(name="channel", of_case=True)
    assert Certified(epsilon=1, time_share="9/10", attributes=(channel,)).flow_price > 0
    with pytest.raises(SettingError, match="time_share"):
        Certified(epsilon=1, time_share="999/1000", attributes=(channel,))


def test_settings_about_times_hold_for_logs_that_have_none() -> None:
    """Whether a log has times is its own business: what was asked for is not refused by that."""
    settings = {"calendar": "2019-01/2023-12", "granularity": "day", "time_share": "1/3"}
    release = anonymize(LOG, Certified(epsilon=1, **settings))  # type: ignore[arg-type]
    assert release.certificate.settings["time_share"] == 0
    assert Certified(epsilon=1, time=False, granularity="second", time_share=0.45).price == 1


def test_a_share_for_attributes_needs_some(tmp_path: Path) -> None:
    """What is asked for is known before a case is read, and so is that it costs nothing."""
    log = tmp_path / "log.csv"
    log.write_text("case,activity,ward\n1,a,x\n")
    mechanism = Certified(epsilon=1, attribute_share=Fraction(1, 3))
    for given in (LOG, log):
        with pytest.raises(SettingError, match="attribute_share"):
            anonymize(given, mechanism)
    assert anonymize(open_log(log, attribute="ward"), mechanism).columns
