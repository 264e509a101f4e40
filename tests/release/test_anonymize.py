"""The door out: what a release holds, and what it never depends on."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from sacofa import (
    Certified,
    Laplace,
    Ledger,
    ReadOptions,
    Sacofa,
    Unit,
    VariantCounts,
    anonymize,
    count_variants,
    learn_rules,
    open_log,
    publish,
    write_release,
)
from sacofa.errors import OutputError, RequestError, SettingError
from sacofa.events.periods import Period
from sacofa.examples import running_example
from sacofa.kernel import Cases
from sacofa.kernel.bits import SeededBits
from sacofa.mechanisms import ADMIT_NONE, Promise
from sacofa.mechanisms.released import ReleasedLog
from sacofa.release import Certificate, certificate_path, read_release
from sacofa.release.anonymize import drop_empty_cases
from sacofa.release.certificate import PeriodStatement
from sacofa.release.publish import Listener, Request
from sacofa.rules import RuleStates
from sacofa.synthesis.released import ReleasedColumn
from tests.written import write_variants

LOG = running_example()
LAPLACE = Laplace(level_epsilon=1, max_length=6, prune=3)
SACOFA = Sacofa(level_epsilon=1, max_length=6, prune_harmless=2, prune_harmful=4)


@pytest.mark.parametrize("mechanism", [LAPLACE, SACOFA], ids=["laplace", "sacofa"])
def test_a_seed_repeats_a_release(mechanism: object) -> None:
    """The same seed gives the same release; another one does not."""
    first, again, other = (anonymize(LOG, mechanism, seed=s).variants for s in (1, 1, 2))
    assert first == again
    assert first != other


ONE_LEVEL = Laplace(level_epsilon="1/1000000", max_length=1, prune=1)


def test_releases_without_a_seed_never_repeat() -> None:
    """The noise of each of two counts has a scale of a million.

    Two of three such pairs of counts agree with a probability below 1e-12.
    """
    log = {("a",): 10**7, ("b",): 10**7}
    released = [tuple(anonymize(log, ONE_LEVEL).variants.counts.tolist()) for _ in range(3)]
    assert len(set(released)) == 3
    seeded = [anonymize(log, ONE_LEVEL, seed=seed) for seed in (0, 0, 1)]
    first, again, other = (tuple(release.variants.counts.tolist()) for release in seeded)
    assert first == again != other


@pytest.mark.parametrize(
    "mechanism", [LAPLACE, SACOFA, Certified(epsilon=1)], ids=["laplace", "sacofa", "certified"]
)
def test_the_noise_of_a_release_is_made_of_the_bytes_of_the_operating_system(
    mechanism: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system gives the words of a seed, the release is the one of that seed."""
    words = SeededBits(7)
    monkeypatch.setattr(os, "urandom", lambda size: words.words(size // 8).tobytes())
    unseeded = anonymize(LOG, mechanism)
    assert unseeded.variants == anonymize(LOG, mechanism, seed=7).variants
    assert unseeded.certificate.publishable
    assert not anonymize(LOG, mechanism, seed=7).certificate.publishable


def test_the_order_in_which_a_log_names_activities_does_not_matter() -> None:
    """The same log with its activities listed in another order gives the same release."""
    shuffled = LOG.project_onto(list(reversed(LOG.activities)))
    assert anonymize(LOG, SACOFA, seed=3).variants == anonymize(shuffled, SACOFA, seed=3).variants


def test_it_says_in_a_line_what_it_is() -> None:
    """Whoever types its name sees no arrays of thousands of numbers."""
    release = anonymize({("a", "b"): 2000}, Certified(epsilon="1/2"), seed=1)
    shown = repr(release)
    assert shown.startswith("<Release of ") and shown.endswith("ε = 0.5 (certified)>")
    assert "\n" not in shown and len(shown) < 100


def test_a_large_epsilon_gives_the_log_back() -> None:
    """With hardly any noise the release is the log."""
    exact = Laplace(level_epsilon=300, max_length=6, prune=1)
    assert anonymize(LOG, exact).variants == LOG


def test_declared_activities_are_the_alphabet() -> None:
    """Events of other activities are dropped, declared ones are there though no case has them."""
    declared = ["Register", "Release", "Zebra"]
    exact = Laplace(level_epsilon=300, max_length=6, prune=1)
    release = anonymize(LOG, exact, activities=declared)
    assert release.variants == VariantCounts.of({("Register", "Release"): 49}, declared)
    with pytest.raises(SettingError):
        anonymize(LOG, exact, activities=["a", "a"])


def test_the_paper_s_extreme_settings_work() -> None:
    """Prune only harmful prefixes; admit no new behaviour at all."""
    only_harmful = Sacofa(level_epsilon=1, max_length=6, prune_harmless=1, prune_harmful=50)
    assert anonymize(LOG, only_harmful, seed=1).variants.cases > 0
    none_new = Sacofa(level_epsilon=1, max_length=6, prune_harmless=1, prune_harmful=ADMIT_NONE)
    released = anonymize(LOG, none_new, seed=1).variants
    rules = learn_rules(LOG).project_onto(released.activities)
    assert len(released)
    judge = RuleStates(rules)
    for ids, complete in zip(released.sequences(), released.complete.tolist(), strict=True):
        assert judge.violations(ids, complete) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level_epsilon": 0}, "epsilon"),
        ({"level_epsilon": -1}, "epsilon"),
        ({"level_epsilon": "much"}, "epsilon"),
        ({"level_epsilon": float("nan")}, "epsilon"),
        ({"level_epsilon": float("inf")}, "epsilon"),
        ({"level_epsilon": "1/0"}, "epsilon"),
        ({"max_length": 0}, "max_length"),
        ({"max_length": 2.5}, "max_length"),
        ({"max_length": "many"}, "max_length"),
        ({"max_length": True}, "max_length"),
        ({"prune_harmless": 0}, "prune_harmless"),
        ({"prune_harmful": 0}, "prune_harmful"),
        ({"prune_harmful": 1.5}, "prune_harmful"),
        ({"prune_harmless": 9}, "prune_harmless"),
        ({"prune_harmless": ADMIT_NONE, "prune_harmful": ADMIT_NONE}, "prune_harmless"),
        ({"max_violations": 0}, "max_violations"),
    ],
)
def test_bad_settings_are_refused_before_any_log_is_seen(
    settings: dict[str, object], message: str
) -> None:
    """Each names the setting, its value and what it must be."""
    right = {"level_epsilon": 1, "max_length": 6, "prune_harmless": 2, "prune_harmful": 4}
    with pytest.raises(SettingError, match=message):
        Sacofa(**{**right, **settings})


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"mechanism": "certified"}, r"mechanism \(certified\)"),
        ({"mechanism": Certified}, r"mechanism \(Certified\)"),
        ({"mechanism": None}, "mechanism"),
        ({"seed": 1.5}, "seed"),
        ({"seed": True}, "seed"),
        ({"seed": "1"}, "seed"),
        ({"seed": -1}, "seed"),
        ({"activities": "abc"}, "activities"),
        ({"activities": [1, 2]}, "activities"),
        ({"activities": 3}, "activities"),
        ({"max_released_events": 2.5}, "max_released_events"),
        ({"max_released_events": "many"}, "max_released_events"),
        ({"log": {"ab": 5}}, "variant"),
        ({"log": {(1, 2): 5}}, "variant"),
        ({"log": {5: 5}}, "variant"),
        ({"log": {("a",): 5.5}}, "count"),
        ({"log": {("a",): 5.0}}, "count"),
        ({"log": {("a",): "5"}}, "count"),
        ({"log": {("a",): True}}, "count"),
        ({"log": {("a",): None}}, "count"),
    ],
)
@pytest.mark.parametrize("written", [False, True])
def test_arguments_that_cannot_be_are_refused(
    given: dict[str, Any], named: str, written: bool, tmp_path: Path
) -> None:
    """In one line that names them, whether the release is kept or written."""
    asked = {"log": LOG, "mechanism": Certified(epsilon=1), **given}
    log, mechanism = asked.pop("log"), asked.pop("mechanism")
    output = tmp_path / "released.csv" if written else None
    with pytest.raises(SettingError, match=named):
        Request(log=log, mechanism=mechanism, output=output, **asked).publish()
    assert not list(tmp_path.iterdir())


def test_numbers_of_numpy_are_numbers() -> None:
    """Counts and seeds come out of arrays as often as not."""
    counts = {("a", "b"): np.int64(50), ("a",): np.uint8(30)}
    plain = {("a", "b"): 50, ("a",): 30}
    released = anonymize(counts, Certified(epsilon=1), seed=np.int64(3))
    assert released.variants == anonymize(plain, Certified(epsilon=1), seed=3).variants


def test_nothing_in_a_release_can_be_changed(tmp_path: Path) -> None:
    """What the certificate speaks of stays what was released."""
    log = tmp_path / "log.csv"
    log.write_text(
        "case,activity,timestamp,start,ward\n"
        + "".join(
            f"{i},a,2025-01-01,2025-01-01,x\n{i},b,2025-01-03,2025-01-02,y\n" for i in range(60)
        )
    )
    opened = open_log(log, start="start", attribute="ward")
    release = anonymize(opened, Certified(epsilon=5))
    cases, variants = release.by_case, release.variants
    assert cases is not None and release.columns
    for array in (
        *(variants.activity_ids, variants.offsets, variants.counts, variants.complete),
        *(release.core, release.times, release.starts, release.columns[0].codes),
        *(cases.activity_ids, cases.offsets, cases.complete, cases.times, cases.starts),
    ):
        assert array is not None and len(array)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("suffix", [".xes", ".xes.gz", ".csv", ".parquet", ".json"])
def test_a_release_is_written_and_read_back(tmp_path: Path, suffix: str) -> None:
    """Every format holds the same variants, and the certificate lies beside it."""
    release = anonymize(LOG, SACOFA, seed=4)
    target = tmp_path / f"released{suffix}"
    certificate = write_release(release, target)
    back = count_variants(open_log(target))
    assert back.project_onto(release.variants.activities) == release.variants
    assert certificate.sha256 in certificate_path(target).read_text()


def test_what_people_have_at_hand_is_released(tmp_path: Path) -> None:
    """A path, an opened log, a frame, variants, and a mapping of variants give the same."""
    path = tmp_path / "log.csv"
    write_variants(LOG, path)
    table = {"case": [], "activity": []}
    for number, case in enumerate(variant for variant, count in LOG for _ in range(count)):
        table["case"] += [number] * len(case)
        table["activity"] += case
    expected = anonymize(LOG, SACOFA, seed=5).variants
    frame = pandas.DataFrame(table)
    for log in (path, str(path), open_log(path), frame, dict(LOG), Cases(variants=LOG)):
        assert anonymize(log, SACOFA, seed=5).variants == expected


def test_declared_names_that_do_not_fit_are_told_to_the_holder() -> None:
    """Which declared names never occur, and how many events were dropped.

    The certificate lists the public names that the release does not contain, whatever the log is.
    """
    told: list[str] = []
    exact = Laplace(level_epsilon=300, max_length=6, prune=1)
    release = anonymize(
        LOG, exact, activities=["Register", "Relaese"], notify=lambda note: told.append(str(note))
    )
    assert any('never occur in the log: "Relaese"' in line for line in told)
    dropped = LOG.events - LOG.cases
    assert any(f"{dropped} events were dropped" in line for line in told)
    assert release.certificate.missing_activities == ("Relaese",)
    assert set(release.variants.used()) == {"Register"}
    kept = Certificate.from_json(release.certificate.to_json())
    assert kept.missing_activities == ("Relaese",)


def test_nothing_is_overwritten_or_left_behind(tmp_path: Path) -> None:
    """A target that exists is refused before the log is read; force replaces both files."""
    target = tmp_path / "released.csv"
    publish(log_file(tmp_path), SACOFA, target)
    before = target.read_bytes()
    with pytest.raises(OutputError, match="force"):
        publish("there is no such log.xes", SACOFA, target)
    assert target.read_bytes() == before
    publish(log_file(tmp_path), SACOFA, target, force=True)
    with pytest.raises(OutputError, match="suffix"):
        publish(log_file(tmp_path), SACOFA, tmp_path / "released.docx")
    with pytest.raises(OutputError, match="folder"):
        publish(log_file(tmp_path), SACOFA, tmp_path / "nowhere" / "released.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "log.json", "released.csv", "released.csv.certificate.json",
    ]  # fmt: skip


@pytest.mark.parametrize("what", ["log", "mapping", "variants", "cases"])
def test_options_are_refused_where_a_log_was_read_already(what: str, tmp_path: Path) -> None:
    """A person named too late would be protected by nothing, and nobody would be told."""
    log = {
        "log": open_log(log_file(tmp_path)),
        "mapping": {("a",): 5},
        "variants": LOG,
        "cases": Cases(variants=LOG),
    }[what]
    options = ReadOptions(person="zzz", max_cases=3)
    target = tmp_path / "released.csv"
    with pytest.raises(SettingError, match=r"options .* must be left out for"):
        publish(log, SACOFA, target, options=options)
    assert not target.exists()
    publish(log, SACOFA, target)


def test_a_log_says_itself_which_period_it_is(tmp_path: Path) -> None:
    """The certificate names the period that the log was opened with, and no other."""
    path = tmp_path / "log.csv"
    path.write_text("case,activity,timestamp\n1,a,2025-01-01\n")
    assert anonymize(open_log(path), SACOFA).certificate.period is None
    release = anonymize(open_log(path, period="2026"), SACOFA)
    assert release.certificate.period == PeriodStatement(period=Period.parse("2026"))


def test_a_request_is_checked_once(tmp_path: Path) -> None:
    """A mechanism is asked for its promise before the log is read, afterwards, and when it runs."""
    asked = []

    class Counted(Laplace):
        def promise(self, unit: Unit) -> Promise:
            asked.append(unit)
            return super().promise(unit)

    counted = Counted(level_epsilon=1, max_length=3, prune=1)
    publish(log_file(tmp_path), counted, tmp_path / "released.csv")
    assert len(asked) == 3


def test_a_ledger_pays_for_a_file_only(tmp_path: Path) -> None:
    """A release that is not written could not be recorded."""
    ledger = Ledger.create(tmp_path / "budget.ledger")
    with pytest.raises(SettingError, match="output"):
        Request(log=LOG, mechanism=SACOFA, ledger=ledger, dataset="visits").publish()


def log_file(folder: Path) -> Path:
    """The running example as a file."""
    path = folder / "log.json"
    if not path.exists():
        write_variants(LOG, path)
    return path


def test_names_that_a_format_cannot_hold_are_refused_before_noise_is_drawn(tmp_path: Path) -> None:
    """XES has no control characters: the refusal comes before the mechanism runs."""
    log = tmp_path / "log.json"
    write_variants(VariantCounts.of({("a\x01",): 5}), log)
    stages: list[str] = []
    with pytest.raises(OutputError, match=r"write \.csv"):
        Request(log=log, mechanism=SACOFA, output=tmp_path / "out.xes").publish(
            Listener(stage=lambda name, done: stages.append(name))
        )
    assert set(stages) <= {"reading"}
    publish(log, SACOFA, tmp_path / "out.parquet")


@pytest.mark.parametrize("declared", [False, True])
def test_values_that_a_format_cannot_hold_are_refused_before_noise_is_drawn(
    declared: bool, tmp_path: Path
) -> None:
    """Whether they were declared or taken from the log: nothing is spent on them."""
    log = tmp_path / "log.csv"
    log.write_text("case,activity,ward\n" + "".join(f"{i},a,x\x01\n" for i in range(50)))
    values = {"attributes": {"ward": {"values": ["x\x01", "y"]}}}
    opened = open_log(log, attribute="ward", columns=values if declared else None)
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.set_budget("visits", Fraction(1))
    stages: list[str] = []
    with pytest.raises(OutputError, match=r"write \.csv"):
        Request(
            log=opened, mechanism=Certified(epsilon=1), output=tmp_path / "out.xes",
            ledger=ledger, dataset="visits",
        ).publish(Listener(stage=lambda name, done: stages.append(name)))  # fmt: skip
    # What was declared is refused before a case is read.
    assert set(stages) == (set() if declared else {"reading"})
    assert ledger.account("visits").left == 1
    output = tmp_path / "out.parquet"
    publish(opened, Certified(epsilon=1), output, ledger=ledger, dataset="visits")


def test_all_that_is_wrong_with_a_request_is_reported_at_once(tmp_path: Path) -> None:
    """Nobody corrects one mistake to hear of the next."""
    request = Request(
        log=tmp_path / "no.csv", mechanism=Certified(epsilon=1), output=tmp_path / "no" / "out.csv",
        seed=-1, max_released_events=0, dataset="visits",
    )  # fmt: skip
    with pytest.raises(RequestError) as raised:
        request.publish()
    told = str(raised.value)
    assert all(word in told for word in ("seed", "max_released_events", "folder", "ledger"))
    assert [type(error) for error in raised.value.errors].count(SettingError) == 3
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    """Ctrl-C while a release is made: neither log nor certificate nor temporary file."""

    def interrupt(name: str, done: float) -> None:
        if name == "writing":
            raise KeyboardInterrupt

    log = log_file(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        Request(log=log, mechanism=SACOFA, output=tmp_path / "released.csv").publish(
            Listener(stage=interrupt)
        )
    assert [p.name for p in tmp_path.iterdir()] == ["log.json"]


@pytest.mark.parametrize("suffix", ["xes", "csv", "parquet", "json"])
def test_a_release_holds_no_case_without_events(tmp_path: Path, suffix: str) -> None:
    """They are dropped after the noise and counted in a note; what is read back is the release."""
    log = {("a", "b"): 400, (): 300}
    release = anonymize(log, Laplace(level_epsilon=1, max_length=3, prune=3), seed=1)
    assert set(release.variants.lengths.tolist()) <= {1, 2, 3}
    (note,) = release.certificate.notes
    assert note.code == "note.empty_cases" and note.values["cases"]
    write_release(release, tmp_path / f"out.{suffix}")
    assert read_release(tmp_path / f"out.{suffix}").variants == release.variants


def test_cases_of_a_person_who_did_nothing_leave_attributes_with_their_case() -> None:
    """Values of dropped cases go, and those of others stay where they belong."""
    variants = VariantCounts.of({(): 2, ("a",): 3}, "a")
    column = ReleasedColumn(
        name="x",
        of_case=True,
        kind="int",
        texts=("0", "1"),
        codes=np.array([0, 0, 1, 1, 1], np.int32),
    )
    log = ReleasedLog(variants=variants, core=np.array([False, True]), columns=(column,))
    kept, _ = drop_empty_cases(log)
    assert dict(kept.variants) == {("a",): 3}
    assert kept.core is not None and kept.core.tolist() == [True]
    assert kept.columns[0].codes.tolist() == [1, 1, 1]
    assert drop_empty_cases(kept) == (kept, ())


def test_a_list_of_variants_spends_nothing_on_times_or_attributes(tmp_path: Path) -> None:
    """JSON holds neither: budget goes to the flow; who asks for them is refused, nothing spent."""
    rows = "".join(f"{i},a,2024-01-0{1 + i % 9},7\n{i},b,2024-02-01,8\n" for i in range(300))
    log = tmp_path / "log.csv"
    log.write_text("case,activity,time,value\n" + rows)
    release = Request(
        log=log, mechanism=Certified(epsilon=1), output=tmp_path / "out.json", seed=1
    ).publish()
    assert all("times" not in str(spend.what) for spend in release.certificate.spent)
    assert release.certificate.epsilon == 1
    assert release.times is None
    Request(log=log, mechanism=Certified(epsilon=1), output=tmp_path / "out.csv", seed=1).publish()
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.set_budget("x", Fraction(1))
    for mechanism, columns in (
        (Certified(epsilon=1, granularity="day"), {}),
        (Certified(epsilon=1), {"attribute": ("value",)}),
    ):
        with pytest.raises(SettingError, match=r"left out for \.json.*write .*\.csv"):
            Request(
                log=log,
                mechanism=mechanism,
                output=tmp_path / "no.json",
                options=ReadOptions(**columns),
                ledger=ledger,
                dataset="x",
                seed=1,
            ).publish()
    assert not (tmp_path / "no.json").exists()
    assert ledger.entries() == []
