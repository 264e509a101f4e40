"""Jobs: from an uploaded log to a release that may be published, for several people at once."""

from __future__ import annotations

import gzip
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from sacofa.events import count_variants, open_log
from sacofa.examples import hospital_model, running_example
from sacofa.kernel.variants import VariantCounts
from sacofa.ledger import Ledger
from sacofa.release import read_release, verify
from sacofa.release.formats import FORMATS
from sacofa.rules import FromSecretLog, learn_rules, write_rules
from sacofa.web.settings import ServeSettings
from tests.written import write_variants

from ..report.releases import HOSTILE
from .clients import Person, example, person, serving

App = tuple[Any, ServeSettings]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, forked: Path) -> Iterator[App]:
    """An app with a ledger, for all who are somebody new and pay nothing."""
    with _with_ledger(tmp_path_factory.mktemp("shared"), forked) as running:
        yield running


@pytest.fixture
def own_app(tmp_path: Path, forked: Path) -> Iterator[App]:
    """An app with a ledger, for one test."""
    with _with_ledger(tmp_path, forked) as running:
        yield running


@pytest.fixture
def whole_app(tmp_path: Path) -> Iterator[App]:
    """An app with a ledger and with processes of its own, for one test."""
    with _with_ledger(tmp_path) as running:
        yield running


@contextmanager
def _with_ledger(folder: Path, python: Path | None = None) -> Iterator[App]:
    Ledger.create(folder / "ledger").set_budget("visits", Fraction(1))
    with serving(folder / "app", python, ledger=folder / "ledger") as running:
        yield running


Uploaded = tuple[Person, dict[str, Any]]


@pytest.fixture(scope="module")
def uploaded(app: App, tmp_path_factory: pytest.TempPathFactory) -> Uploaded:
    """Somebody with the running example."""
    return _upload(app, tmp_path_factory)


@pytest.fixture(scope="module")
def unused(app: App, tmp_path_factory: pytest.TempPathFactory) -> Uploaded:
    """Somebody else with it, who never gets to release anything."""
    return _upload(app, tmp_path_factory)


@pytest.fixture(scope="module")
def released(uploaded: Uploaded) -> Uploaded:
    """The first of them, with a release."""
    anna, log = uploaded
    return anna, anna.wait(f"/api/jobs/{anna.start(log['id'])['id']}")


def _upload(app: App, tmp_path_factory: pytest.TempPathFactory) -> Uploaded:
    anna = person(*app)
    log = anna.upload(example(tmp_path_factory.mktemp("example")), "Besuche M\u00e4rz.csv")
    anna.wait(f"/api/logs/{log['id']}")
    return anna, log


def _files(settings: ServeSettings, folder: str) -> list[str]:
    return [path.name for path in (settings.folder / folder).rglob("*") if path.is_file()]


@pytest.mark.parametrize("suffix", ["csv", "xes.gz"])
def test_a_log_becomes_a_release(own_app: App, tmp_path: Path, suffix: str) -> None:
    """What it contains is right, every format is the release; log and counts go when asked."""
    anna = person(*own_app)
    log = anna.upload(example(tmp_path, suffix), f"visits.{suffix}")
    inspection = anna.wait(f"/api/logs/{log['id']}")["inspection"]
    original = running_example()
    assert (inspection["cases"], inspection["variants"]) == (original.cases, len(original))
    assert inspection["frequent"][0]["count"] == 20
    job = anna.wait(f"/api/jobs/{anna.start(log['id'], max_length=6, delete_log=True)['id']}")
    assert job["state"] == "done", job
    assert job["release"]["epsilon"] == "1"
    assert "a factor of at most 2.72" in job["release"]["promise"]
    released = []
    for ending in [each.suffix for each in FORMATS]:
        path = tmp_path / f"out{ending}"
        for file, target in ((f"log{ending}", path), (f"log{ending}.certificate.json", None)):
            answer = anna.ask("GET", f"/api/jobs/{job['id']}/files/{file}")
            assert answer.status_code == 200
            assert file in job["files"]
            name = answer.headers["content-disposition"]
            assert name == f'attachment; filename="visits.anonymized{file[3:]}"'
            (target or path.with_name(f"{path.name}.certificate.json")).write_bytes(answer.content)
        assert verify(path).holds
        variants = count_variants(open_log(path))
        released.append(sorted(zip(variants, variants.complete.tolist(), strict=True)))
    assert all(variants == released[0] for variants in released)
    assert sum(count for (_, count), _ in released[0]) == job["release"]["cases"]
    page = anna.client.get(f"/jobs/{job['id']}/report")
    assert "sandbox allow-scripts" in page.headers["content-security-policy"]
    assert job["release"]["strength"] == "strong"
    assert _files(own_app[1], "logs") == []
    assert anna.ask("GET", f"/api/logs/{log['id']}").status_code == 404
    assert anna.ask("GET", f"/api/jobs/{log['inspection']['id']}").status_code == 404
    anna.ask("DELETE", f"/api/jobs/{job['id']}")
    assert _files(own_app[1], "jobs") == []


SETTINGS: list[dict[str, Any]] = [
    {"mechanism": "laplace", "max_length": 5, "prune": 3},
    {"mechanism": "laplace", "max_length": 5, "prune": 3, "prune_finished": False},
    {"mechanism": "sacofa", "max_length": 5, "prune": 3},
    {"mechanism": "sacofa", "max_length": 5, "prune_harmless": 1, "prune_harmful": "inf"},
    {
        "mechanism": "sacofa", "max_length": 5, "prune_harmless": 2, "prune_harmful": "4",
        "max_violations": 3,
    },
    {"activities": ["Register", "Triage"]},
    {"seed": 7},
    {"columns": {"order": "time", "person": "case:concept:name", "max_cases": 2}},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=json.dumps)
def test_every_mechanism_and_setting_can_be_reached(
    uploaded: Uploaded, settings: dict[str, Any]
) -> None:
    """As on the command line; the certificate repeats them."""
    anna, log = uploaded
    job = anna.wait(f"/api/jobs/{anna.start(log['id'], **settings)['id']}")
    assert job["state"] == "done", job
    file = "log.parquet.certificate.json"
    certificate = anna.ask("GET", f"/api/jobs/{job['id']}/files/{file}").json()
    assert certificate["mechanism"] == settings.get("mechanism", "certified")
    for name, value in settings.items():
        if name in certificate["settings"]:
            assert str(certificate["settings"][name]) == str(value)
    assert certificate["publishable"] == ("seed" not in settings) == job["release"]["publishable"]
    assert ("person" in settings.get("columns", {})) == (
        "at most 2 cases" in certificate["protects"]
    )


def test_what_only_the_holder_may_know_goes_with_the_log(
    uploaded: Uploaded, tmp_path: Path
) -> None:
    """A declared name that never occurs is told, in no file, and only while the log is there."""
    anna, _ = uploaded
    log = anna.upload(example(tmp_path))
    names = [*running_example().activities, "Regster"]
    job = anna.start(log["id"], activities=names)
    ended = anna.wait(f"/api/jobs/{job['id']}")
    assert any("Regster" in notice for notice in ended["secret_notices"]), ended
    assert not any("Regster" in notice for notice in ended["release"]["notices"])
    anna.ask("DELETE", f"/api/logs/{log['id']}")
    kept = anna.ask("GET", f"/api/jobs/{job['id']}").json()
    assert kept["secret_notices"] == [] and kept["state"] == "done"


def test_an_empty_price_is_asked_for_in_plain_words(uploaded: Uploaded) -> None:
    """Not in those of a library."""
    anna, log = uploaded
    answer = anna.ask("POST", "/api/jobs", json={"log": log["id"], "epsilon": ""})
    assert (answer.status_code, answer.json()["detail"]) == (422, "epsilon must be given")


def test_a_model_is_taken_in_place_of_rules(uploaded: Uploaded) -> None:
    """Its rules or its language; the certificate names the file, and what is wrong is told."""
    anna, log = uploaded
    drawn = hospital_model().decode().replace("UTF-8", "ISO-8859-1")
    for more in ({}, {"model": {"deviations": 1, "source": "the ward's manual"}}):
        job = anna.start(log["id"], rules=drawn, rules_file="ward.bpmn", **more)
        ended = anna.wait(f"/api/jobs/{job['id']}")
        assert ended["state"] == "done", ended
        told = anna.ask("GET", f"/api/jobs/{job['id']}/files/log.parquet.certificate.json").text
        assert "ward.bpmn" in told
        said = " ".join(ended["release"]["notices"])
        assert "share a name" in said and ("assumed to be public" in said) is not bool(more)
        assert ("the ward's manual" if more else "assumed to be public") in told
    job = anna.start(log["id"], rules="<definitions/>", rules_file="ward.bpmn")
    assert "no process" in anna.wait(f"/api/jobs/{job['id']}")["problem"]


def test_public_rules_come_as_a_file_or_from_another_log(
    uploaded: Uploaded, tmp_path: Path
) -> None:
    """With them `sacofa` has a price; this very log, or its rules, are no public ones."""
    anna, log = uploaded
    other = tmp_path / "other.csv"
    write_variants(VariantCounts.of({("Register", "Triage", "Release"): 9}), other)
    public = anna.upload(other.read_bytes(), "public.csv")
    paper = {"mechanism": "sacofa", "max_length": 5, "prune": 3}
    job = anna.start(log["id"], rules_log=public["id"], **paper)
    assert anna.wait(f"/api/jobs/{job['id']}")["release"]["epsilon"] == "5"
    again = anna.upload(example(tmp_path))
    answer = anna.ask(
        "POST", "/api/jobs", json={"log": log["id"], "epsilon": "1", "rules_log": again["id"]}
    )
    assert (answer.status_code, "one that is public" in answer.text) == (422, True)
    job = anna.start(log["id"], rules="activities = [", **paper)
    ended = anna.wait(f"/api/jobs/{job['id']}")
    assert ended["state"] == "refused"
    assert ended["problem"].startswith("rules.toml: ")
    rules = tmp_path / "rules.toml"
    write_rules(learn_rules(running_example(), FromSecretLog("log.csv")), rules)
    ended = anna.wait(f"/api/jobs/{anna.start(log['id'], rules=rules.read_text())['id']}")
    assert "must be public" in ended["problem"]
    job = anna.start(log["id"], rules=rules.read_text(), **paper)
    assert anna.wait(f"/api/jobs/{job['id']}")["state"] == "done"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"epsilon": "0"}, "epsilon (0) must be above 0"),
        ({"epsilon": "many"}, "epsilon (many) must be"),
        ({"mechanism": "sakofa"}, 'Did you mean "sacofa"?'),
        ({"mechanism": "laplace"}, "max_length must be given"),
        ({"prune": 3}, "certified has no such setting"),
        (
            {"columns": {"max_cases": 2}},
            "columns.person must be given together with columns.max_cases",
        ),
        ({"dataset": 3}, "dataset must be text"),
        ({"time": False, "calendar": "2019-01/2023-12"}, "calendar (2019-01/2023-12) must be left"),
        ({"attribute_share": "1/3"}, "attribute_share (1/3) must be left out"),
        ({"columns": {"employees": True}}, "employees (given) must be left out"),
        ({"unknown": 3}, "unknown is unknown: leave it out"),
    ],
)
def test_settings_that_cannot_be_are_refused_at_once(
    unused: Uploaded, settings: dict[str, Any], words: str
) -> None:
    """One line; no job is begun, and the log stays for another try."""
    anna, log = unused
    answer = anna.ask("POST", "/api/jobs", json={"log": log["id"], "epsilon": "1", **settings})
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert anna.ask("GET", "/api/jobs").json() == []
    assert anna.ask("GET", f"/api/logs/{log['id']}").status_code == 200


def test_columns_that_were_not_recognised_are_asked_for(app: App) -> None:
    """The answer names them, and with them the log can be looked at again."""
    anna = person(*app)
    log = anna.upload(b"patient,what,when\n1,a,1\n1,b,2\n2,a,3\n")
    job = anna.wait(f"/api/logs/{log['id']}")
    assert job["state"] == "refused"
    assert job["columns"] == {
        "missing": ["case", "activity"],
        "present": ["patient", "what", "when"],
    }
    assert str(app[1].folder) not in job["problem"]
    columns = {"case": "patient", "activity": ["what"]}
    answer = anna.ask("POST", f"/api/logs/{log['id']}/inspection", json=columns)
    assert answer.status_code == 202
    inspection = anna.wait(f"/api/logs/{log['id']}")["inspection"]
    assert (inspection["cases"], inspection["events"]) == (2, 3)
    job = anna.wait(f"/api/jobs/{anna.start(log['id'], columns=columns)['id']}")
    assert job["state"] == "done"


@pytest.mark.parametrize("content", [b" ", b"\x1f\x8b broken", b"<log><trace>", b"\xff\xfe\x00"])
def test_a_broken_log_is_a_plain_message(app: App, content: bytes) -> None:
    """Not a crash, and no path of the machine."""
    anna = person(*app)
    for name in ("x.xes", "x.xes.gz", "x.csv", "x.parquet", "x.json"):
        log = anna.upload(content, name)
        job = anna.wait(f"/api/logs/{log['id']}")
        assert job["state"] in ("refused", "done"), (name, job)
        assert str(app[1].folder) not in json.dumps(job)


def test_two_people_do_not_see_each_other(app: App, uploaded: Uploaded, tmp_path: Path) -> None:
    """Neither logs nor jobs nor files, by list or by id, and nobody ends another's job."""
    anna, log = uploaded
    ben = person(*app)
    job = anna.start(log["id"])
    assert ben.ask("GET", "/api/logs").json() == []
    assert ben.ask("GET", "/api/jobs").json() == []
    for method, path in (
        ("GET", f"/api/logs/{log['id']}"),
        ("DELETE", f"/api/logs/{log['id']}"),
        ("GET", f"/api/jobs/{job['id']}"),
        ("DELETE", f"/api/jobs/{job['id']}"),
        ("POST", f"/api/jobs/{job['id']}/cancel"),
        ("GET", f"/api/jobs/{job['id']}/files/report.html"),
        ("GET", f"/jobs/{job['id']}/report"),
    ):
        assert ben.ask(method, path).status_code == 404
    stolen = {"log": log["id"], "epsilon": "1"}
    assert ben.ask("POST", "/api/jobs", json=stolen).status_code == 404
    own = ben.upload(example(tmp_path))
    borrowed = {"log": own["id"], "epsilon": "1", "rules_log": log["id"]}
    assert ben.ask("POST", "/api/jobs", json=borrowed).status_code == 404
    assert anna.wait(f"/api/jobs/{job['id']}")["state"] == "done"
    assert ben.ask("GET", f"/api/jobs/{job['id']}/files/log.csv").status_code == 404


def _endless(folder: Path) -> bytes:
    """A log that takes a while to read."""
    names = [f"activity {i}" for i in range(40)]
    path = folder / "long.xes"
    if not path.exists():
        counts = {tuple(names[(i * j) % 40] for j in range(60)): 40 for i in range(1, 40)}
        write_variants(VariantCounts.of(counts), path)
    return path.read_bytes()


def test_a_job_can_be_cancelled(whole_app: App, tmp_path: Path) -> None:
    """Its process ends, what it wrote is gone, the log stays, and the price is given back."""
    anna = person(*whole_app)
    log = anna.upload(_endless(tmp_path), "long.xes")
    job = anna.start(log["id"], dataset="visits")
    while anna.ask("GET", f"/api/jobs/{job['id']}").json()["stage"] != "reading":
        time.sleep(0.02)
    process = whole_app[0].state.jobs._jobs[job["id"]].process
    ended = anna.ask("POST", f"/api/jobs/{job['id']}/cancel").json()
    assert ended["state"] == "cancelled"
    assert process.returncode is not None
    assert _files(whole_app[1], "jobs") == []
    assert anna.ask("GET", f"/api/logs/{log['id']}").status_code == 200
    (entry,) = Ledger.open(tmp_path / "ledger").entries("visits")
    assert entry.state == "returned"
    anna.ask("DELETE", f"/api/logs/{log['id']}")
    assert _files(whole_app[1], "logs") == []


def test_a_job_that_crashes_says_so_and_leaves_nothing(whole_app: App, tmp_path: Path) -> None:
    """Killed from outside, as by a machine without memory; the ledger counts it as spent."""
    anna = person(*whole_app)
    log = anna.upload(_endless(tmp_path), "long.xes")
    job = anna.start(log["id"], dataset="visits")
    while anna.ask("GET", f"/api/jobs/{job['id']}").json()["stage"] != "reading":
        time.sleep(0.02)
    os.kill(whole_app[0].state.jobs._jobs[job["id"]].process.pid, signal.SIGKILL)
    ended = anna.wait(f"/api/jobs/{job['id']}")
    assert ended["state"] == "crashed"
    assert "ended unexpectedly, by signal 9" in ended["problem"]
    assert _files(whole_app[1], "jobs") == []
    inspecting = whole_app[0].state.jobs._jobs.get(log["inspection"]["id"])
    if inspecting is not None:
        anna.wait(f"/api/jobs/{inspecting.id}")
    (entry,) = Ledger.open(tmp_path / "ledger").entries("visits")
    assert entry.state == "reserved"
    for left in anna.ask("GET", "/api/logs").json():
        anna.ask("DELETE", f"/api/logs/{left['id']}")
    assert _files(whole_app[1], "logs") == []


def test_jobs_wait_for_a_free_place_and_the_app_answers_meanwhile(
    tmp_path: Path, forked: Path
) -> None:
    """With one place, the second job waits; asking is answered all the time."""
    with serving(tmp_path / "app", forked, workers=1) as (app, settings):
        anna = person(app, settings)
        log = anna.upload(example(tmp_path))
        anna.wait(f"/api/logs/{log['id']}")
        first, second = (anna.start(log["id"])["id"] for _ in range(2))
        states = set()
        while True:
            jobs = {job["id"]: job["state"] for job in anna.ask("GET", "/api/jobs").json()}
            states.add((jobs[first], jobs[second]))
            if jobs[first] == "done":
                break
            time.sleep(0.02)
        assert ("running", "waiting") in states
        assert ("running", "running") not in states
        assert anna.wait(f"/api/jobs/{second}")["state"] == "done"


def test_downloads_do_not_wait_for_jobs(tmp_path: Path, forked: Path) -> None:
    """While jobs take all places, finished files come at once, and new formats are still made."""
    with serving(tmp_path / "app", forked, workers=1) as (app, settings):
        anna = person(app, settings)
        log = anna.upload(example(tmp_path))
        job = anna.wait(f"/api/jobs/{anna.start(log['id'])['id']}")
        slots, portal = app.state.jobs._slots, app.state.portal
        portal.call(slots.acquire)
        waited = threading.Event()
        # Whoever waits for a place gets it in the end, so that the test fails and does not hang.
        guard = threading.Timer(60, lambda: (waited.set(), portal.call(slots.release)))
        guard.start()
        for file in ("log.parquet", "log.csv", "log.csv.certificate.json", "log.csv.zip"):
            answer = anna.ask("GET", f"/api/jobs/{job['id']}/files/{file}")
            assert answer.status_code == 200
        guard.cancel()
        assert not waited.is_set()
        # A file that is there does not even wait for a conversion.
        portal.call(app.state.jobs._conversion_slot.acquire)
        guard = threading.Timer(60, waited.set)
        guard.start()
        assert anna.ask("GET", f"/api/jobs/{job['id']}/files/log.csv").status_code == 200
        guard.cancel()
        assert not waited.is_set()


def test_the_ledger_pays_and_refuses(own_app: App, tmp_path: Path) -> None:
    """The price is taken before the log is read; what does not fit is refused in one line."""
    anna = person(*own_app)
    log = anna.upload(example(tmp_path))
    job = anna.wait(f"/api/jobs/{anna.start(log['id'], epsilon='0.75', dataset='visits')['id']}")
    assert job["release"]["dataset"] == "visits"
    assert "0.25 of 1 left" in job["release"]["ledger"][0]
    assert anna.ask("GET", "/api/ledger").json()["datasets"] == [
        {"dataset": "visits", "budget": "1", "spent": "0.75", "left": "0.25", "delta": None}
    ]
    # A second price needs no second upload.
    job = anna.wait(f"/api/jobs/{anna.start(log['id'], epsilon='0.5', dataset='visits')['id']}")
    assert job["state"] == "refused"
    assert "visits" in job["problem"]
    entries = anna.ask("GET", "/api/ledger/visits").json()
    assert [(e["price"], e["state"]) for e in entries] == [("0.75", "released")]
    # The app's own folder goes with the app: no row names a file in it.
    assert {entry.file for entry in Ledger.open(tmp_path / "ledger").entries()} == {None}
    assert anna.ask("GET", "/api/ledger/others").status_code == 404


def test_without_a_ledger_nothing_can_be_paid(tmp_path: Path, forked: Path) -> None:
    """A dataset is refused, and the interface says that there is none."""
    with serving(tmp_path / "app", forked) as (app, settings):
        anna = person(app, settings)
        log = anna.upload(example(tmp_path))
        wish = {"log": log["id"], "epsilon": "1", "dataset": "visits"}
        assert anna.ask("POST", "/api/jobs", json=wish).status_code == 422
        assert anna.ask("GET", "/api/ledger").json() == {"datasets": None}


def test_markup_in_names_stays_text(app: App, tmp_path: Path) -> None:
    """From the log through the interface to the report."""
    anna = person(*app)
    path = tmp_path / "markup.json"
    write_variants(VariantCounts.of({HOSTILE: 5000}), path)
    log = anna.upload(path.read_bytes(), '<img src=x onerror="alert(1)">.json')
    inspection = anna.wait(f"/api/logs/{log['id']}")["inspection"]
    assert inspection["frequent"] == [{"activities": [*HOSTILE], "count": 5000}]
    job = anna.wait(f"/api/jobs/{anna.start(log['id'], max_length=7)['id']}")
    page = anna.client.get(f"/jobs/{job['id']}/report").text
    assert "<img" not in page
    assert "owned'</script>" not in page
    for shell in (f"/logs/{log['id']}", f"/jobs/{job['id']}"):
        assert "<img" not in anna.client.get(shell).text


def test_a_format_that_cannot_hold_a_name_says_so(app: App, tmp_path: Path) -> None:
    """XES has no control characters; the other formats are still there."""
    anna = person(*app)
    path = tmp_path / "control.json"
    write_variants(VariantCounts.of({("a\x01",): 5000}), path)
    log = anna.upload(path.read_bytes(), "control.json")
    job = anna.wait(f"/api/jobs/{anna.start(log['id'], max_length=3)['id']}")
    answer = anna.ask("GET", f"/api/jobs/{job['id']}/files/log.xes")
    assert answer.status_code == 409
    assert "write .csv or .parquet" in answer.json()["detail"]
    assert anna.ask("GET", f"/api/jobs/{job['id']}/files/log.parquet").status_code == 200


def test_downloads_keep_times(uploaded: Uploaded, tmp_path: Path) -> None:
    """Every format that has times has those of the release, and marks its core."""
    anna, log = uploaded
    job = anna.wait(f"/api/jobs/{anna.start(log['id'], time=True)['id']}")
    times = []
    for ending in (".xes", ".xes.gz", ".csv", ".parquet"):
        path = tmp_path / f"out{ending}"
        for file in (path, path.with_name(f"{path.name}.certificate.json")):
            name = file.name.replace("out", "log")
            file.write_bytes(anna.ask("GET", f"/api/jobs/{job['id']}/files/{name}").content)
        release = read_release(path)
        assert release.times is not None
        assert release.core is not None
        times.append(release.times.tolist())
    assert all(found == times[0] for found in times)


def test_files_have_fixed_names(released: Uploaded) -> None:
    """What is not on the list does not exist, though it lies in the folder."""
    anna, job = released
    for name in (
        "rules.toml",
        "%2e%2e",
        "log.exe",
        "log.csv.certificate",
        "report",
    ):
        assert anna.ask("GET", f"/api/jobs/{job['id']}/files/{name}").status_code == 404


def test_a_plan_explains_the_price(app: App) -> None:
    """Numbers follow the price; what has none says so."""
    anna = person(*app)

    def plan(**settings: Any) -> dict[str, Any]:
        answer = anna.ask("POST", "/api/plan", json={"epsilon": "1", **settings})
        assert answer.status_code == 200, answer.text
        content: dict[str, Any] = answer.json()
        return content

    cheap, dear = plan(epsilon="0.1", activities=16), plan(epsilon="1", activities=16)
    assert (cheap["factor"], dear["factor"]) == ("1.11", "2.72")
    timed, untimed = (plan(activities=16, cases=600, timed=each) for each in (True, False))
    assert len(timed["shares"]) == len(untimed["shares"]) + 1
    assert "would be rough" in timed["lines"][-1] and "would be rough" in untimed["lines"][-1]
    assert timed["lines"][-1] != untimed["lines"][-1]
    assert dear["beliefs"][1] == pytest.approx(
        {"before": 0.1, "least": 0.0393, "most": 0.232}, abs=1e-3
    )
    assert sum(share["epsilon"] for share in dear["shares"]) == pytest.approx(1)
    assert any("once about" in line for line in dear["lines"])
    paper = {"mechanism": "sacofa", "max_length": 5, "prune": 3}
    assert plan(**paper)["epsilon"] is None
    assert plan(**paper, public_rules=True)["epsilon"] == "5"
    assert "must not be published" in plan(seed=1)["promise"]
    assert "one person" in plan(person="who", max_cases=3)["promise"]


def test_a_plan_shows_what_attributes_cost(app: App) -> None:
    """Together their share, from that of flow and times; what is refused later is refused here."""
    anna = person(*app)

    def plan(*names: str, **more: Any) -> Any:
        attributes = [{"name": name} for name in names]
        wish = {"epsilon": "1", "timed": True, "attributes": attributes, **more}
        return anna.ask("POST", "/api/plan", json=wish)

    def prices(answer: Any) -> dict[str, float]:
        return {share["what"]: share["epsilon"] for share in answer.json()["shares"]}

    text = '[attributes.b]\nvalues = ["x", "y"]\n'
    none = prices(plan())
    one, two = (prices(plan(*names, columns=text)) for names in (("a",), ("a", "b")))
    assert one["attribute a"] == pytest.approx(0.2)
    assert two["attribute a"] + two["attribute b"] == pytest.approx(0.2)
    assert two["attribute b"] < two["attribute a"] < one["attribute a"]
    pairs = "directly-follows pairs"
    assert one["times"] < none["times"] and one[pairs] < none[pairs]
    for sum_of in (none, one, two):
        assert sum(sum_of.values()) == pytest.approx(1)
    for refused in (plan("case:concept:name"), plan("org:resource"), plan("a", columns="no = [")):
        assert refused.status_code == 422
    for about_nothing in ({"columns": text}, {"employees": True}, {"attribute_share": "1/3"}):
        assert "left out" in plan(**about_nothing).json()["detail"]
    # A text is never the name of a file of this machine.
    assert "TOML" in plan("a", columns="/etc/passwd").json()["detail"]
    assert plan("org:resource", employees=True).status_code == 200


def test_with_a_ledger_somebody_pays_or_nobody_on_purpose(uploaded: Uploaded) -> None:
    """Leaving the dataset out is no way around the ledger."""
    anna, log = uploaded[0], uploaded[1]["id"]
    for wish in ({}, {"dataset": "visits", "not_charged": True}):
        answer = anna.ask("POST", "/api/jobs", json={"log": log, "epsilon": 1, **wish})
        assert answer.status_code == 422
        assert "not_charged" in answer.json()["detail"]
    assert anna.ask("GET", "/api/ledger/visits").json() == []
    assert anna.wait(f"/api/jobs/{anna.start(log, not_charged=True)['id']}")["state"] == "done"
    assert anna.ask("GET", "/api/ledger/visits").json() == []


def test_a_plan_says_what_would_be_left(app: App) -> None:
    """Exactly, and whether it is enough."""
    anna = person(*app)

    def afford(epsilon: object) -> Any:
        wish = {"epsilon": epsilon, "dataset": "visits"}
        return anna.ask("POST", "/api/plan", json=wish).json()["afford"]

    assert afford("0.3") == {"dataset": "visits", "left": "1", "after": "0.7", "enough": True}
    assert afford(1)["after"] == "0"
    assert afford("1.0000000001") == {
        "dataset": "visits", "left": "1", "after": None, "enough": False,
    }  # fmt: skip
    unknown = anna.ask("POST", "/api/plan", json={"epsilon": 1, "dataset": "visit"})
    assert unknown.status_code == 422
    assert unknown.json()["detail"].endswith('Did you mean "visits"?')


@pytest.mark.parametrize(
    ("said", "meant"), [(1, "1"), (0.25, "0.25"), ("0,5", "0.5"), (" 0,5 ", "0.5"), ("1/3", "1/3")]
)
def test_numbers_are_taken_as_people_write_them(app: App, said: object, meant: str) -> None:
    """As numbers, as text, with a comma."""
    answer = person(*app).ask("POST", "/api/plan", json={"epsilon": said})
    assert answer.json()["epsilon"] == meant


@pytest.mark.parametrize("said", [True, None, [1], "1,5,2", "", 1e300, "1" * 60])
def test_what_is_no_number_is_refused(app: App, said: object) -> None:
    """In one line."""
    answer = person(*app).ask("POST", "/api/plan", json={"epsilon": said})
    assert answer.status_code == 422
    assert "epsilon" in answer.json()["detail"]


CONTRADICTING = (
    b"case,activity,time,ward\n"
    b"1,a,2025-01-02 10:00,N\n1,b,2025-01-02 09:00,N\n"
    b"2,a,2025-01-01 10:00,S\n2,b,2025-01-01 11:00,S\n"
)


def test_a_log_is_previewed_and_counted_again(app: App) -> None:
    """First rows, types, cases whose times contradict their order; each time it is read anew."""
    anna = person(*app)
    log = anna.upload(CONTRADICTING, "M\u00e4rz.csv")["id"]
    found = anna.wait(f"/api/logs/{log}")
    assert found["inspection"]["disordered"] == 1
    assert [(c["name"], c["type"]) for c in found["preview"]["columns"]] == [
        ("case", "number"), ("activity", "text"), ("time", "time"), ("ward", "text"),
    ]  # fmt: skip
    assert found["preview"]["rows"][1] == ["1", "b", "2025-01-02 09:00", "N"]
    assert found["inspection"]["frequent"][0]["count"] == 1
    anna.ask("POST", f"/api/logs/{log}/inspection", json={"order": "file", "activity": ["ward"]})
    again = anna.wait(f"/api/logs/{log}")
    assert (again["inspection"]["disordered"], again["inspection"]["activities"]) == (1, 2)
    assert anna.ask("GET", f"/api/logs/{log}").json()["reading"]["order"] == "file"
    anna.ask("POST", f"/api/logs/{log}/inspection", json={"timestamp": "ward"})
    refused = anna.wait(f"/api/logs/{log}")
    assert refused["problem"].startswith("M\u00e4rz.csv: ")
    assert "--" not in refused["problem"]


def test_what_was_chosen_is_kept_with_the_log(app: App) -> None:
    """And with nobody else's."""
    anna, ben = person(*app), person(*app)
    log = anna.upload(CONTRADICTING)["id"]
    draft = {"epsilon": "0,5", "unit": "case"}
    assert anna.ask("PUT", f"/api/logs/{log}/draft", json=draft).status_code == 204
    assert anna.ask("GET", f"/api/logs/{log}").json()["draft"] == draft
    assert ben.ask("PUT", f"/api/logs/{log}/draft", json=draft).status_code == 404
    assert anna.ask("PUT", f"/api/logs/{log}/draft", json={"x": 1}).status_code == 422


def test_one_file_holds_all(released: Uploaded, tmp_path: Path) -> None:
    """Log, certificate, report and figures, under the user's own name, and it can be verified."""
    anna, job = released
    answer = anna.ask("GET", f"/api/jobs/{job['id']}/files/log.csv.zip")
    (tmp_path / "all.zip").write_bytes(answer.content)
    with ZipFile(tmp_path / "all.zip") as archive:
        archive.extractall(tmp_path / "all")
    stem = "Besuche M\u00e4rz"
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == [
        f"{stem}.anonymized.csv", f"{stem}.anonymized.csv.certificate.json", f"{stem}.figures.csv",
        f"{stem}.report.html",
    ]  # fmt: skip
    assert verify(tmp_path / "all" / f"{stem}.anonymized.csv").holds
    figures = anna.ask("GET", f"/api/jobs/{job['id']}/files/figures.json").json()
    assert figures["verdict"] == job["release"]["verdict"]
    assert figures["figures"][0]["count_margin"] == job["release"]["cases_margin"]


def test_a_bomb_that_is_trusted_takes_no_more_than_its_share(tmp_path: Path) -> None:
    """It is refused first; trusted, it is given up at the bound, and other jobs go on."""
    event = b'<event><string key="concept:name" value="a"/></event>'
    head = b'<?xml version="1.0"?><log xes.version="1.0"><trace>'
    bomb = gzip.compress(head + event * 4_000_000 + b"</trace></log>", 1)
    with serving(tmp_path / "app", max_memory=500) as (app, settings):
        anna = person(app, settings)
        log = anna.upload(bomb, "big.xes.gz")["id"]
        first = anna.wait(f"/api/logs/{log}")
        assert (first["state"], first["trustable"]) == ("refused", True)
        anna.ask("POST", f"/api/logs/{log}/inspection", json={"trusted": True})
        second = anna.wait(f"/api/logs/{log}")
        assert "more than 500 MB of memory" in second["problem"]
        # A file that is none is read as ever.
        log = anna.upload(example(tmp_path))["id"]
        anna.ask("POST", f"/api/logs/{log}/inspection", json={"trusted": True})
        assert anna.wait(f"/api/logs/{log}")["state"] == "done"
