"""What runs in a process of its own: one job, read from stdin, told to stdout line by line.

The job's folder is the working folder, so that names in messages are plain names. When stdin is
closed, the app is gone, and so is this process.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import ColumnsError, SacofaError, SettingError
from ..files import write_whole
from ..logs import count_variants, inspect_variants, read_log
from ..mechanisms.choose import Choice, make_mechanism
from ..privacy.ledger import Ledger
from ..privacy.unit import ONE_CASE, Unit
from ..release import Release, publish, write_log
from ..release.certificate import Certificate
from ..report import make_report, read_release
from ..report.promise import say_number, say_promise
from ..semantics import Rules, learn_rules, open_rules
from ..semantics.models import MODELS

Tell = Callable[..., None]
SETTINGS = (
    "epsilon", "max_length", "prune", "prune_harmless", "prune_harmful", "prune_finished",
    "score", "max_violations",
)  # fmt: skip
ENCODING = re.compile(r"^(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:\"[^\"]*\"|'[^']*')")
RELEASE = "release.json"
"""The release as it is kept; other formats are made of it when they are asked for."""


def main() -> None:
    """Do one job."""
    os.umask(0o077)
    # A crash must not leave a copy of the memory, which holds the log, on disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, _interrupt)
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tell = _Teller()
    try:
        tell(result=JOBS[request["kind"]](request, tell))
    except ColumnsError as error:
        columns = {"missing": error.missing, "present": error.present}
        tell(refused=_plain(error, request), columns=columns)
    except SacofaError as error:
        tell(refused=_plain(error, request))


def inspect(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Say what a log contains."""
    log = open_log(request)
    variants = count_variants(log, progress=partial(tell, "reading"))
    content = asdict(inspect_variants(variants))
    content["frequent"] = [{"activities": v, "count": n} for v, n in content["frequent"]]
    found = request["columns"]
    if log.columns is not None:
        found = {**found, "case": log.columns.case, "activity": log.columns.activity}
        found["timestamp"] = log.columns.timestamp
    return {
        **content,
        "names": variants.activities,
        "columns": _all_columns(request["log"]),
        "found": found,
    }


def anonymize(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Release a log, and make the report."""
    mechanism = make_mechanism(
        request["mechanism"],
        Choice(
            **{name: request[name] for name in SETTINGS},
            rules=_public_rules(request),
            unit=unit_of(request["columns"]),
        ),
    )
    said: list[str] = []
    release = publish(
        partial(open_log, request),
        mechanism,
        RELEASE,
        activities=request["activities"],
        seed=request["seed"],
        stage=tell,
        ledger=None if request["ledger"] is None else Ledger.open(request["ledger"]),
        dataset=request["dataset"],
        say=said.append,
    )
    tell("drawing", 0.0)
    with write_whole("report.html") as part:
        part.write_text(make_report(release, title=request["title"]), encoding="utf-8")
    return {**summarize(release), "dataset": request["dataset"], "ledger": said}


def convert(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Write a release in another format, with its certificate."""
    write_log(read_release(RELEASE), request["file"], force=True)
    return {}


JOBS: dict[str, Callable[[dict[str, Any], Tell], dict[str, Any]]] = {
    "inspect": inspect,
    "anonymize": anonymize,
    "convert": convert,
}


def unit_of(columns: dict[str, Any]) -> Unit:
    """What is protected: a case, or a person with several."""
    if columns["person"] is None:
        if columns["max_cases"] is not None:
            raise SettingError("max_cases", columns["max_cases"], "given together with person")
        return ONE_CASE
    return Unit(person=columns["person"], max_cases=columns["max_cases"] or 1)


def open_log(request: dict[str, Any]) -> Any:
    """Open the uploaded log."""
    columns = request["columns"]
    return read_log(
        request["log"],
        case=columns["case"],
        activity=columns["activity"] or None,
        timestamp=columns["timestamp"],
        order=columns["order"],
        person=columns["person"],
        max_cases=None if columns["person"] is None else columns["max_cases"] or 1,
        trusted=columns["trusted"],
    )


def summarize(release: Release) -> dict[str, Any]:
    """What a page says about a release."""
    certificate: Certificate = release.certificate
    return {
        "promise": say_promise(certificate),
        "epsilon": None if certificate.epsilon is None else say_number(certificate.epsilon),
        "publishable": certificate.publishable,
        "cases": release.variants.cases,
        "variants": len(release.variants),
    }


def _given_rules(request: dict[str, Any]) -> Rules:
    """Rules from the text of a rules file or of a model."""
    name = Path(request["rules_file"] or "rules.toml").name
    suffix = Path(name).suffix.lower()
    file = Path(f"rules{suffix if suffix in MODELS else '.toml'}")
    # The text came as text, whatever its first line says about bytes.
    file.write_text(ENCODING.sub(r"\1", request["rules"], count=1), encoding="utf-8")
    return open_rules(
        file,
        activities=request["activities"],
        source=f"the process model {name}",
        deviations=request["deviations"],
    )


def _public_rules(request: dict[str, Any]) -> Rules | None:
    if request["rules"] is not None and request["rules_log"] is not None:
        raise SettingError("rules_log", "a log", "left out where rules are given")
    if request["rules"] is not None:
        rules = _given_rules(request)
        if request["mechanism"] == "certified" and rules.source.startswith(
            f"read off the log {request['title']} "
        ):
            raise SettingError("rules", rules.source, "public, not read off this very log")
        return rules
    if request["rules_log"] is not None:
        counted = count_variants(read_log(request["rules_log"]))
        return learn_rules(counted, source=f"learnt from the public log {request['rules_name']}")
    return None


def _all_columns(path: str) -> list[str]:
    """Name all columns of a log: a reader lists them when it is asked for one that is not there."""
    try:
        read_log(path, activity="\0")
    except ColumnsError as error:
        return list(error.present)
    except SacofaError:
        pass
    return []


def _plain(error: SacofaError, request: dict[str, Any]) -> str:
    """The message without the way to the files."""
    message = str(error)
    for path in (request.get("log"), request.get("rules_log"), "here"):
        if path is not None:
            message = message.replace(f"{Path(path).absolute().parent}{os.sep}", "")
    return message


class _Teller:
    """Tells the app how far the job is, and not more often than it matters."""

    def __init__(self) -> None:
        self._last = ("", -1.0)

    def __call__(self, stage: str = "", done: float = 0.0, **more: object) -> None:
        if more:
            self._write(more)
        elif stage != self._last[0] or abs(done - self._last[1]) >= 0.01:
            self._last = (stage, done)
            self._write({"stage": stage, "done": done})

    def _write(self, content: dict[str, object]) -> None:
        sys.stdout.write(json.dumps(content) + "\n")
        sys.stdout.flush()


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
