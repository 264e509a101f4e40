"""Nothing that leaves depends on the log, except through noisy answers.

Every mechanism runs on logs that differ as much as logs can, with the same settings. Exit status,
messages, file names and certificates must be the same for all logs. A released file must follow
from its variants and counts alone, whatever the order or the size of the log. `certified` is also
run with noise chosen so that all logs give the same answers: then every byte that it writes must be
the same. Terminal lines for the holder of the log are marked as such and are left out.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sacofa.errors import ReadError
from sacofa.events import count_variants, open_log
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.noise import Noise
from sacofa.kernel.session import Session
from sacofa.kernel.statements import Statement
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.certified import Certified
from sacofa.mechanisms.protocol import Output, Progress
from sacofa.mechanisms.registry import MECHANISMS
from sacofa.release import certificate_path, verify
from tests.cli.conftest import Run
from tests.mechanisms.certified.outcomes import ByHand, Ints, leading_to
from tests.written import write_variants

PUBLIC = ["admit", "bill", "check", "discharge"]
CANARY = "Zebrafinch"

SETTINGS: dict[str, list[str]] = {
    # Times that are paid for may show; here it is about everything else.
    "certified": ["--epsilon", "1", "--max-length", "6", "--no-time"],
    "laplace": ["--epsilon", "1", "--max-length", "4", "--prune", "12"],
    "sacofa": ["--epsilon", "1", "--max-length", "4", "--prune", "12", "--rules", "rules.toml"],
}
"""Each mechanism as it is asked for here; `sacofa` with public rules, since else it has no ε."""

OWN = re.compile(r"(?m)^for your eyes only: .*\n")
"""What the holder of the log is told about it."""

SAID_OF_ANSWERS = ("notes", "verdict", "margins", "missing_activities")
"""The parts of a certificate that `certified` makes of noisy answers."""

FORMATS = ("csv", "xes", "xes.gz", "parquet", "json")


def logs() -> dict[str, VariantCounts]:
    """Logs over the public activities, and some that are not."""
    chance = random.Random(3)
    cases = [tuple(chance.choices(PUBLIC, k=chance.randrange(7))) for _ in range(300)]
    return {
        "one way": VariantCounts.of({("admit", "check", "discharge"): 300}),
        "another": VariantCounts.of({("discharge", "bill", "bill"): 300}),
        "any way": VariantCounts.from_cases(cases),
        "unique": VariantCounts.from_cases({tuple(case) for case in cases}),
        "long": VariantCounts.of({tuple(PUBLIC) * 50: 7}),
        "empty": VariantCounts.of({}),
        "one case": VariantCounts.of({("bill",): 1}),
        "unknown": VariantCounts.of({(f"{CANARY} {i}", "admit"): 9 for i in range(20)}),
    }


@dataclass(frozen=True)
class Seen:
    """Everything that can be seen of a run."""

    status: int
    messages: str
    words: str
    files: Mapping[str, bytes]
    """Every file with what it holds; of the log and what was declared, nothing."""
    certificate: Mapping[str, Any]


def look(run: Run, folder: Path, name: str, log: VariantCounts, suffix: str = "csv") -> Seen:
    """Run a mechanism on a log, and see what a stranger sees."""
    inside = folder / "secret"
    outside = folder / "public"
    inside.mkdir(parents=True)
    outside.mkdir()
    write_variants(log, inside / "log.json")
    (inside / "names.txt").write_text("\n".join(PUBLIC))
    (inside / "rules.toml").write_text(
        f'source = "the handbook"\nactivities = {json.dumps(PUBLIC)}\nstarts = ["admit", "bill"]\n'
    )
    settings = [inside / s if s.endswith(".toml") else s for s in SETTINGS[name]]
    target = outside / f"out.{suffix}"
    ran = run(
        "anonymize", inside / "log.json", "-o", target, "--mechanism", name,
        "--activities", inside / "names.txt", *settings,
    )  # fmt: skip
    certificate: dict[str, Any] = {}
    if target.exists():
        certificate = json.loads(certificate_path(target).read_text())
        assert list(read_log_activities(target)) == sorted(PUBLIC) or suffix != "json"
        check_canonical(target)
        for file in outside.iterdir():
            assert CANARY.encode() not in file.read_bytes()
    messages = OWN.sub("", ran.err)
    assert CANARY not in ran.out + messages
    return Seen(
        status=ran.status,
        messages=messages.replace(str(folder), ""),
        words=ran.out.replace(str(folder), ""),
        files={
            str(path.relative_to(folder)): path.read_bytes() if path.parent == outside else b""
            for path in folder.rglob("*")
            if path.is_file()
        },
        certificate=certificate,
    )


def without_answers(seen: Seen) -> Seen:
    """What is the same whatever was answered: no counts, nor what is said about them.

    `certified` divides a line of its promise among queries by earlier answers.
    """
    said = (*SAID_OF_ANSWERS, "sha256")
    certificate = {name: part for name, part in seen.certificate.items() if name not in said}
    prices = [entry["epsilon_exact"] for entry in certificate.get("spent", [])]
    certificate["spent"] = None if None in prices else sum(map(Fraction, prices), Fraction(0))
    sections = "Notes|Verdict|Missing|Margins|Spent"
    words = re.sub(rf"(?m)^({sections}) .*(\n {{16}}.*)*\n", "", seen.words)
    words = re.sub(r"Released [\d,]+ cases in [\d,]+ variants?", "Released", words)
    files = dict.fromkeys(seen.files, b"")
    return replace(seen, certificate=certificate, words=words, files=files)


def read_log_activities(path: Path) -> list[str]:
    """The activities that a JSON file names."""
    return json.loads(path.read_text())["activities"] if path.suffix == ".json" else sorted(PUBLIC)


def check_canonical(path: Path) -> None:
    """Check that a file holds its variants and counts in one order, and nothing else."""
    released = count_variants(open_log(path))
    shuffled = list(zip(released, released.complete.tolist(), strict=True))
    random.Random(8).shuffle(shuffled)
    again = VariantCounts.of(
        [entry for entry, finished in shuffled if finished],
        sorted(PUBLIC),
        [entry for entry, finished in shuffled if not finished],
    )
    copy = path.with_name(f"copy of {path.name}")
    certificate = verify(path).certificate
    # The orderly core follows from what was released.
    certified = certificate.mechanism == Certified.name and certificate.epsilon is not None
    core = (
        Certified(epsilon=certificate.epsilon, time=False).mark_core(again) if certified else None
    )
    write_variants(again, copy, core=core)
    same = copy.read_bytes() == path.read_bytes()
    copy.unlink()
    assert same, "the file depends on more than its variants and counts"


def compare(run: Run, folder: Path, name: str) -> None:
    """Run a mechanism on all logs; what is seen must be the same, but for noisy answers."""
    seen = {
        kind: without_answers(look(run, folder / str(i), name, log))
        for i, (kind, log) in enumerate(logs().items())
    }
    first = seen["any way"]
    assert first.status == 0
    for kind, other in seen.items():
        assert other == first, f"{name} tells {kind} from another log"


@contextmanager
def answering(noise: ByHand, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a release draw its noise by hand."""
    with monkeypatch.context() as changed, noise.watching():
        changed.setattr(import_module("sacofa.release.publish"), "Noise", lambda bits: noise)
        yield


def drawn(place: int, epsilon: Fraction, table: Ints) -> Ints:
    """Noise as a release draws it, the same each time."""
    return Noise(SeededBits(place)).laplace(epsilon, len(table))


def compare_with_same_answers(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """Run `certified` on all logs, so that all give the same answers; every byte must be equal."""
    noise = ByHand(drawn)
    with answering(noise, monkeypatch):
        first = look(run, folder / "first", "certified", logs()["any way"], suffix)
    assert first.status == 0
    assert all(first.certificate[name] for name in ("notes", "verdict", "margins"))
    for i, (kind, log) in enumerate(logs().items()):
        with answering(ByHand(leading_to(noise.seen)), monkeypatch):
            other = look(run, folder / str(i), "certified", log, suffix)
        assert other == first, f"certified tells {kind} from another log"


def test_every_mechanism_is_looked_at() -> None:
    """A new mechanism needs its settings here."""
    assert set(SETTINGS) == set(MECHANISMS)


@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_what_is_seen_is_the_same_for_all_logs(run: Run, tmp_path: Path, name: str) -> None:
    """Status, messages, names of files and certificate do not depend on the log."""
    compare(run, tmp_path, name)


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_the_same_answers_lead_to_the_same_bytes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """Log, certificate with verdict, margins and notes, and every word on the terminal."""
    compare_with_same_answers(run, tmp_path, monkeypatch, suffix)


@pytest.mark.parametrize("name", ["laplace", "sacofa"])
def test_the_same_output_leads_to_the_same_bytes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Of the mechanisms of the paper: what is said about an output is made of that output alone."""
    outputs: list[Output] = []

    class Repeats(MECHANISMS[name]):  # type: ignore[misc]
        def run(self, session: Session, progress: Progress | None = None) -> Output:
            """Spend what was promised, and give the first output."""
            outputs.append(super().run(session, progress))
            return outputs[0]

    monkeypatch.setitem(MECHANISMS, name, Repeats)
    first = look(run, tmp_path / "first", name, logs()["any way"])
    assert first.status == 0
    for i, (kind, log) in enumerate(logs().items()):
        other = look(run, tmp_path / str(i), name, log)
        assert other == first, f"{name} tells {kind} from another log"
    assert len(outputs) == 1 + len(logs())


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_files_hold_nothing_but_variants_and_counts(
    run: Run, tmp_path: Path, name: str, suffix: str
) -> None:
    """In every format, for a log with canaries among its names."""
    log = VariantCounts.of({("admit", "check", CANARY): 150, ("bill", "check"): 140})
    assert look(run, tmp_path, name, log, suffix).status == 0


def secret(session: Session) -> VariantCounts:
    """Reach past a session for what it protects."""
    variants = session._variants
    assert isinstance(variants, VariantCounts)
    return variants


class Refuses(Certified):
    """Fails on an empty log."""

    def run(self, session: Session, *others: Any) -> Output:
        """See without noise whether there is anything."""
        if not secret(session).cases:
            raise ReadError("log", "is empty")
        return super().run(session, *others)


class Sorts(Certified):
    """Puts first what is most frequent in the secret log."""

    def run(self, session: Session, *others: Any) -> Output:
        """Release, then sort by what is secret."""
        output = super().run(session, *others)
        return replace(output, log=replace(output.log, variants=backwards(output.log.variants)))


def backwards(variants: VariantCounts) -> VariantCounts:
    """The same variants in another order."""
    parts = [list(ids) for ids in variants.sequences()][::-1]
    return replace(
        variants,
        activity_ids=np.array([i for part in parts for i in part], dtype=np.int32),
        offsets=np.cumsum([0, *map(len, parts)]),
        counts=variants.counts[::-1].copy(),
        complete=variants.complete[::-1].copy(),
    )


class Tells(Certified):
    """Says how many cases there were."""

    def run(self, session: Session, *others: Any) -> Output:
        """Write to where progress goes."""
        sys.stderr.write(f"{secret(session).cases} cases were read\n")
        return super().run(session, *others)


@pytest.mark.parametrize("broken", [Refuses, Sorts, Tells])
def test_the_check_finds_mechanisms_that_tell(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: type
) -> None:
    """A status, an order or a message that depends on the log does not pass."""
    monkeypatch.setitem(MECHANISMS, "certified", broken)
    with pytest.raises(AssertionError, match=r"tells .* from another|depends on more than"):
        compare(run, tmp_path, "certified")


def saying(part: str, add: Callable[[Any, int], object]) -> type[Certified]:
    """A mechanism that puts the true number of cases into a part of what it says."""

    class Says(Certified):
        def run(self, session: Session, progress: Progress | None = None) -> Output:
            """Release, and add the number of cases."""
            output = super().run(session, progress)
            return replace(output, **{part: add(getattr(output, part), secret(session).cases)})

    return Says


class Marks(Certified):
    """Marks variants as the orderly core by the true number of cases."""

    def run(self, session: Session, *others: Any) -> Output:
        """Release, and mark all variants or none."""
        output = super().run(session, *others)
        core = np.full(len(output.log.variants), secret(session).cases > 99)
        return replace(output, log=replace(output.log, core=core))


BROKEN = {
    "verdict": saying("verdict", lambda said, cases: replace(said, cases_needed=cases)),
    "margins": saying("margins", lambda said, cases: replace(said, cases=cases)),
    "notes": saying("notes", lambda said, cases: (*said, Statement.plain(f"{cases} cases"))),
    "core": Marks,
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_words_about_the_true_log_are_noticed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: type
) -> None:
    """A verdict, a note or a core that is made of the log itself does not pass."""
    monkeypatch.setitem(MECHANISMS, "certified", broken)
    with pytest.raises(AssertionError, match=r"tells .* from another|depends on more than"):
        compare_with_same_answers(run, tmp_path, monkeypatch, "csv")


@pytest.mark.parametrize("suffix", ["csv", "xes"])
@pytest.mark.parametrize("name", sorted(MECHANISMS))
def test_order_names_and_times_of_cases_do_not_matter(
    run: Run, tmp_path: Path, name: str, suffix: str
) -> None:
    """The same cases under other names, in another order: the same seed gives the same bytes."""
    chance = random.Random(4)
    cases = [tuple(chance.choices(PUBLIC, k=chance.randrange(1, 5))) for _ in range(200)]
    files = []
    for turn in range(2):
        folder = tmp_path / str(turn)
        folder.mkdir()
        rows = ["case,activity,time"]
        for i, case in enumerate(cases):
            stamp = 2000 + 7 * turn
            rows += [
                f"{turn}{CANARY}{i},{name},{stamp}-01-01T00:00:{j:02}"
                for j, name in enumerate(case)
            ]
        (folder / "log.csv").write_text("\n".join(rows))
        (folder / "rules.toml").write_text(f'source = "x"\nactivities = {json.dumps(PUBLIC)}\n')
        settings = [folder / s if s.endswith(".toml") else s for s in SETTINGS[name]]
        target = folder / f"out.{suffix}"
        ran = run(
            "anonymize", folder / "log.csv", "-o", target, "--mechanism", name, *settings,
            "--seed", 5,
        )  # fmt: skip
        assert ran.status == 0, ran.err
        files.append((target.read_bytes(), certificate_path(target).read_bytes()))
        chance.shuffle(cases)
    assert files[0] == files[1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--epsilon", "0"],
        ["--epsilon", "1", "--case", "nobody"],
        ["--epsilon", "1", "--order", "time"],
        ["--epsilon", "1", "--mechanism", "laplace", "--max-length", "3", "--prune", "1"],
    ],
)
def test_errors_name_no_case_and_no_activity(
    run: Run, tmp_path: Path, arguments: list[str]
) -> None:
    """What goes wrong with a secret log is told without its contents, in one line."""
    (tmp_path / "log.csv").write_text(f"case,activity,time\n{CANARY}1,{CANARY}2,{CANARY}3\n")
    ran = run("anonymize", tmp_path / "log.csv", "-o", tmp_path / "out.csv", *arguments)
    assert CANARY not in ran.out + ran.err, ran.err
    assert "Traceback" not in ran.err


class Breaks(Certified):
    """Has a mistake that only shows on some logs."""

    def run(self, session: Session, *others: Any) -> Output:
        """Fail with what is secret in the message."""
        raise KeyError(session.activities[0])


def test_a_mistake_of_ours_does_not_tell_what_is_secret(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the kind of error and its place, and neither a traceback nor its text."""
    monkeypatch.setitem(MECHANISMS, "certified", Breaks)
    (tmp_path / "log.csv").write_text(f"case,activity\n1,{CANARY}\n")
    ran = run("anonymize", tmp_path / "log.csv", "-o", tmp_path / "out.csv", "--epsilon", "1")
    assert ran.status == 1
    assert CANARY not in ran.out + ran.err
    assert re.fullmatch(
        r"sacofa: internal error \(KeyError in .*\.py line \d+\): please report this line\n",
        ran.err,
    )
