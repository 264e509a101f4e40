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
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from ..base.files import write_whole
from ..errors import ColumnsError, ReadError, SacofaError, advises
from ..events import ReadOptions, count_variants, inspect_variants, open_log
from ..events.inspect import shown_variants
from ..events.preview import count_disordered, preview
from ..events.profile import offered_columns
from ..mechanisms.registry import make_mechanism
from ..messages import render
from ..release import Release, certificate_path, read_release, write_release
from ..release.certificate import Certificate
from ..release.publish import Listener, Request
from ..release.rules import public_rules
from ..report.promise import explain_epsilon, say_number, say_promise
from ..report.sureness import margins_of
from ..rules import ModelOptions, Rules
from ..rules.models import MODELS
from .options import read_options
from .words import as_field, plain_numbers, plain_words

Tell = Callable[..., None]
LARGEST_RESULT = 2_000_000
"""What the app is told of a log, in bytes; names in it may be of any number and length."""
LEFT_OUT = {
    "frequent": "the most frequent variants",
    "names": "the names of the activities",
    "columns": "the names of the columns",
    "attributes": "what may be released as attributes",
}
"""What is left out of a result that is too large, in this order."""
MOST_COLUMNS = 1_000
MOST_COMPARED = 1_000_000
"""Times of more events are not compared with their order: the log is read once more for that."""
LONGEST_MESSAGE = 10_000
ENCODING = re.compile(r"^(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:\"[^\"]*\"|'[^']*')")
FIGURES = ("figures.csv", "figures.json")
"""The figures of the report with their ±, as tables."""
RELEASE = "release.parquet"
"""The release as it is kept, with its times; other formats are made of it when asked for."""


def main() -> None:
    """Do one job."""
    os.umask(0o077)
    # A crash must not leave a copy of the memory, which holds the log, on disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, _interrupt)
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tell = _Teller()
    if _is_trusted(request):
        # Checks are off: whatever the file is, it cannot take the machine's memory.
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = request["memory"] if hard == resource.RLIM_INFINITY else min(request["memory"], hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        result = JOBS[request["kind"]](request, tell)
        tell(result=result, **_preview(request))
    except ColumnsError as error:
        columns = {"missing": error.missing, "present": _few(error.present)}
        tell(refused=explain(error, request), columns=columns, **_preview(request))
    except SacofaError as error:
        full = _is_trusted(request) and _is_full(request["memory"])
        words = _too_much(request) if full else explain(error, request)
        tell(refused=words, trustable=advises(error, "trusted"))
    except MemoryError:
        if not _is_trusted(request):
            raise
        tell(refused=_too_much(request))


def _preview(request: dict[str, Any]) -> dict[str, Any]:
    """The first events of a log that is looked at, also where its columns are still to be named."""
    if request["kind"] != "inspect":
        return {}
    try:
        shown = asdict(preview(request["log"], _options(request)))
    except SacofaError:
        # What stands in the way of reading is told by the job itself.
        return {}
    return {"preview": shown} if len(json.dumps(shown)) <= LARGEST_RESULT else {}


def _few(names: Sequence[str]) -> list[str]:
    """As many names as can be chosen from."""
    few = list(names[:MOST_COLUMNS])
    return few if len(json.dumps(few)) <= LARGEST_RESULT else []


def inspect(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Say what a log contains."""
    log = open_log(request["log"], _options(request))
    notices: list[str] = []
    variants = count_variants(log, progress=partial(tell, "reading"), notify=notices.append)
    inspection = inspect_variants(variants)
    content = {**asdict(inspection), "frequent": shown_variants(inspection)}
    found = request["columns"]
    if log.columns is not None:
        found = {**found, "case": log.columns.case, "activity": log.columns.activity}
        found |= {"timestamp": log.columns.columns_of(log.columns.timestamp), "order": log.order}
    tell("comparing times with the order", 0.0)
    content |= {
        "names": list(variants.activities),
        "columns": log.reader.list_columns(log.source),
        "attributes": [asdict(column) for column in offered_columns(log, variants.cases)],
        "found": found,
        "notices": [plain_words(notice) for notice in notices],
        "disordered": count_disordered(log) if variants.events <= MOST_COMPARED else None,
    }
    for name, what in LEFT_OUT.items():
        if len(json.dumps(content)) > LARGEST_RESULT:
            content[name] = []
            content["notices"].append(f"{what} are too many or too long to be shown here")
    if len(json.dumps(content)) > LARGEST_RESULT:
        raise ReadError(request["log"], "its columns have names too long to be shown")
    return content


def anonymize(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Release a log, and make the report."""
    notices: list[str] = []
    rules = _public_rules(request, notices.append)
    mechanism = make_mechanism(request["mechanism"], {**request["settings"], "rules": rules})
    said: list[str] = []
    secret: list[str] = []
    release = Request(
        log=request["log"],
        mechanism=mechanism,
        output=RELEASE,
        options=_options(request),
        activities=request["activities"],
        seed=request["seed"],
        ledger=request["ledger"],
        dataset=request["dataset"],
        # It is passed on as a download, and goes with the app.
        keeps_file=False,
    ).publish(
        Listener(
            stage=tell,
            ledger=lambda line: said.append(plain_numbers(str(line))),
            holder=lambda line: secret.append(plain_words(line)),
        )
    )
    # Only this job makes pages, and what makes them takes a while to load.
    from ..report import Facts, make_report, write_figures

    tell("drawing", 0.0)
    with write_whole("report.html") as part:
        facts = Facts(
            dataset=request["dataset"], date=date.today(), released_by=request["released_by"]
        )
        html = make_report(release, title=request["title"], facts=facts)
        part.write_text(html, encoding="utf-8")
    for name in FIGURES:
        with write_whole(name) as part:
            write_figures(release, part)
    return {
        **summarize(release),
        "dataset": request["dataset"],
        "ledger": said,
        "notices": notices,
        "secret_notices": secret,
    }


def convert(request: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Write a release in another format, with its certificate."""
    file = Path(request["file"])
    if not file.exists():
        write_release(read_release(RELEASE), file, force=True)
    if request["packed"] is not None:
        target, name = request["packed"]
        stem = name.rpartition(".anonymized")[0]
        # Wiring point: what else belongs to a release, such as its signature, goes in here.
        pack(
            target,
            {
                name: file,
                f"{name}.certificate.json": certificate_path(file),
                f"{stem}.report.html": Path("report.html"),
                f"{stem}.figures.csv": Path("figures.csv"),
            },
        )
    return {}


def pack(target: str, files: dict[str, Path]) -> None:
    """Put files into one zip file, each under a name of its own."""
    with write_whole(target) as part, ZipFile(part, "w", ZIP_DEFLATED) as archive:
        for name, path in files.items():
            archive.write(path, name)


JOBS: dict[str, Callable[[dict[str, Any], Tell], dict[str, Any]]] = {
    "inspect": inspect,
    "anonymize": anonymize,
    "convert": convert,
}


def _options(request: dict[str, Any]) -> ReadOptions:
    """How the uploaded log is read."""
    return read_options(request["columns"])


def summarize(release: Release) -> dict[str, Any]:
    """What a page says about a release."""
    certificate: Certificate = release.certificate
    price = certificate.epsilon
    meaning = None if price is None else explain_epsilon(price)
    return {
        "promise": say_promise(certificate),
        "strength": None if meaning is None else meaning.strength,
        "level": None if meaning is None else meaning.level,
        "verdict": None if certificate.verdict is None else str(certificate.verdict),
        "cases_margin": margins_of(release).cases,
        "epsilon": None if certificate.epsilon is None else say_number(certificate.epsilon),
        "publishable": certificate.publishable,
        "cases": release.variants.cases,
        "variants": len(release.variants),
    }


def _public_rules(request: dict[str, Any], notify: Callable[[str], None]) -> Rules | None:
    file, name = None, request["rules_name"] or None
    if request["rules"] is not None:
        name = Path(request["rules_file"] or "rules.toml").name
        suffix = Path(name).suffix.lower()
        file = Path(f"rules{suffix if suffix in MODELS else '.toml'}")
        # The text came as text, whatever its first line says about bytes.
        file.write_text(ENCODING.sub(r"\1", request["rules"], count=1), encoding="utf-8")
    return public_rules(
        file,
        request["rules_log"],
        name=name,
        model=ModelOptions(**request["model"]),
        activities=request["activities"],
        notify=notify,
    )


def explain(error: SacofaError, request: dict[str, Any]) -> str:
    """The message with the user's own name of the file, and no word of the command line."""
    message = render(error.statement, wording=as_field)
    for path, name in (("log", "title"), ("rules_log", "rules_name")):
        if request.get(path) is not None:
            message = message.replace(str(Path(request[path]).absolute()), request.get(name) or "")
            message = message.replace(request[path], request.get(name) or "")
    message = message.replace(f"{Path('here').absolute().parent}{os.sep}", "")
    return plain_words(message)[:LONGEST_MESSAGE]


def _is_full(memory: int) -> bool:
    """Whether reading came near its bound: libraries then fail in words that lead astray."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used * (1 if sys.platform == "darwin" else 1024) > 0.7 * memory


def _too_much(request: dict[str, Any]) -> str:
    memory = request["memory"] // 1_000_000
    return (
        f"{request['title']}: reading it takes more than {memory:,} MB of memory: it was given up"
    )


def _is_trusted(request: dict[str, Any]) -> bool:
    return bool(request.get("columns", {}).get("trusted"))


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
