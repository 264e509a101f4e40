"""A worker process: reads a task from stdin, and reports to stdout line by line.

The job's folder is the working folder, so that messages contain plain file names. When stdin is
closed, the app has ended, and the process exits. It does not import the libraries of the app.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Literal
from zipfile import ZIP_DEFLATED, ZipFile

from ..base.files import write_text, write_whole
from ..errors import Argument, ColumnsError, ReadError, SacofaError, Statement, advises
from ..events import ReadOptions, count_variants, inspect_variants, open_log
from ..events.columns_file import parse_columns
from ..events.inspect import shown_variants
from ..events.profile import column_names, count_disordered, offered_columns, preview
from ..mechanisms.registry import make_mechanism
from ..messages import render
from ..release import certificate_path, read_release, write_release
from ..release.formats import FORMATS
from ..release.publish import Listener, Request
from ..release.rules import public_rules
from ..report.promise import explain_epsilon, margins_of, say_promise
from ..rules import ModelOptions, Rules
from ..rules.models import MODELS

Content = dict[str, object]
"""A JSON object."""
Tell = Callable[[str, float], None]
CERTIFICATE = ".certificate.json"
RELEASE = "log.parquet"
"""The stored release with its times, from which other formats are written on demand."""
LOGS = tuple(f"log{each.suffix}" for each in FORMATS)
"""The released log in every format."""
FIGURES = ("figures.csv", "figures.json")
"""The figures of the report with their margins of error, as tables."""
REPORT_FILES = ("report.html", *FIGURES)
"""Files about a release, whatever its format."""
FILES = (
    *LOGS,
    *(f"{name}{CERTIFICATE}" for name in LOGS),
    *REPORT_FILES,
    *(f"{n}.zip" for n in LOGS),
)
"""All files of a release. Those that end in .zip contain the other files with one format of log."""
MAX_RESULT_BYTES = 2_000_000
"""Limits on the reported content of a log: numbers and lengths of names are arbitrary."""
LEFT_OUT = ("frequent", "names", "columns", "attributes")
"""Fields that are omitted from a result that is too large, in this order."""
MAX_COLUMNS = 1_000
MAX_COMPARED = 1_000_000
"""For more events, times are not compared with the order of the file, which reads the log again."""
MAX_MESSAGE_LENGTH = 10_000
ENCODING = re.compile(r"^(\s*<\?xml\b[^>]*?)\s+encoding\s*=\s*(?:\"[^\"]*\"|'[^']*')")


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task for a worker. Fields of a request have the same names as in the API."""

    kind: Literal["inspect", "anonymize", "convert"]
    memory: int = 0
    """Maximum memory for reading a trusted log, in bytes."""
    log: str = ""
    """Path of the log."""
    title: str = ""
    """The user's name of the log."""
    columns: Content = field(default_factory=dict)
    mechanism: str = ""
    settings: Content = field(default_factory=dict)
    """The settings of the mechanism, by option."""
    seed: int | None = None
    activities: list[str] | None = None
    rules: str | None = None
    rules_file: str | None = None
    rules_log: str | None = None
    """Path of the public log whose rules are used."""
    rules_name: str = ""
    """The user's name of that log."""
    model: Content = field(default_factory=dict)
    ledger: str | None = None
    """Path of the ledger."""
    dataset: str | None = None
    released_by: str | None = None
    file: str = ""
    """The file of a release to create; names of downloads begin with `title`."""


def main() -> None:
    """Run one task."""
    os.umask(0o077)
    # Core dumps are disabled: they would copy the log to disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    task = Task(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Worded now, because later there may not be enough memory.
    values = {"name": task.title, "megabytes": task.memory // 1_000_000}
    too_much = str(Statement("web.too_much_memory", **values))
    trusted = bool(task.columns.get("trusted"))
    if trusted:
        # The checks are off, so the file may be hostile.
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        most = task.memory if hard == resource.RLIM_INFINITY else min(task.memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        outcome: Content = {**JOBS[task.kind](task, _teller()), **_preview(task)}
    except ColumnsError as error:
        columns = {"missing": error.missing, "present": _small(error.present[:MAX_COLUMNS], [])}
        outcome = {"problem": explain(error, task), "columns": columns, **_preview(task)}
    except SacofaError as error:
        words = too_much if trusted and _is_full(task.memory) else explain(error, task)
        outcome = {"problem": words, "trustable": advises(error, "trusted")}
    except MemoryError:
        if not trusted:
            raise
        outcome = {"problem": too_much}
    _write({"outcome": outcome})


def _is_full(memory: int) -> bool:
    """Whether reading came near its memory limit: libraries then fail with misleading messages."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used * (1 if sys.platform == "darwin" else 1024) > 0.7 * memory


def _small(content: object, instead: object) -> object:
    """Return the content if it is small enough to be reported."""
    return content if len(json.dumps(content)) <= MAX_RESULT_BYTES else instead


def _preview(task: Task) -> Content:
    """Return the first events of a log, also while its columns are unknown."""
    if task.kind != "inspect":
        return {}
    try:
        return {"preview": _small(asdict(preview(task.log, read_options(task.columns))), None)}
    except SacofaError:
        # The task itself reports why the log cannot be read.
        return {}


def inspect(task: Task, tell: Tell) -> Content:
    """Describe a log."""
    log = open_log(task.log, read_options(task.columns))
    notices: list[Statement] = []
    variants = count_variants(log, progress=partial(tell, "reading"), notify=notices.append)
    inspection = replace(inspect_variants(variants), warnings=())
    found = task.columns
    if log.columns is not None:
        found = {**found, "case": log.columns.case, "activity": log.columns.activity}
        found |= {"timestamp": log.columns.columns_of(log.columns.timestamp), "order": log.order}
    tell("comparing times with the order", 0.0)
    content: Content = {
        **asdict(inspection),
        "frequent": shown_variants(inspection),
        "names": list(variants.activities),
        "columns": column_names(log),
        "attributes": [asdict(column) for column in offered_columns(log, variants.cases)],
        "found": found,
        "disordered": count_disordered(log) if variants.events <= MAX_COMPARED else None,
    }
    for name in LEFT_OUT:
        if not _small(content, None):
            content[name] = []
            notices.append(Statement("web.left_out", what=Statement(f"web.list.{name}")))
    content["notices"] = _shown(notices)
    if not _small(content, None):
        raise ReadError(task.log, Statement("web.long_names"))
    return {"inspection": content}


def _shown(notices: Iterable[Statement]) -> list[str]:
    """Return notices in the form of the pages."""
    return [render(notice, wording=as_field) for notice in notices]


def anonymize(task: Task, tell: Tell) -> Content:
    """Release a log, and write the report."""
    notices: list[Statement] = []
    from_ledger: list[Statement] = []
    confidential: list[Statement] = []
    rules = _public_rules(task, notices.append)
    request = Request(
        log=task.log,
        mechanism=make_mechanism(task.mechanism, {**task.settings, "rules": rules}),
        output=RELEASE,
        options=read_options(task.columns),
        activities=task.activities,
        seed=task.seed,
        ledger=task.ledger,
        dataset=task.dataset,
        # It is passed on as a download, and deleted with the app.
        keeps_file=False,
    )
    listener = Listener(stage=tell, ledger=from_ledger.append, holder=confidential.append)
    release = request.publish(listener)
    tell("drawing", 0.0)
    # Only this task writes pages, and their libraries are slow to import.
    from ..report import Facts, make_report, write_figures

    facts = Facts(dataset=task.dataset, date=date.today(), released_by=task.released_by)
    write_text("report.html", make_report(release, title=task.title, facts=facts))
    for name in FIGURES:
        with write_whole(name) as part:
            write_figures(release, part)
    certificate = release.certificate
    meaning = (
        None
        if certificate.epsilon is None
        else explain_epsilon(certificate.epsilon, certificate.budget)
    )
    figures = {
        "promise": say_promise(certificate),
        **{
            name: getattr(meaning, name, None) for name in ("strength", "level", "epsilon", "delta")
        },
        "verdict": None if certificate.verdict is None else str(certificate.verdict),
        "cases_margin": margins_of(release).cases,
        "publishable": certificate.publishable,
        "cases": release.variants.cases,
        "variants": len(release.variants),
        "dataset": task.dataset,
        "ledger": _shown(from_ledger),
        "notices": _shown(notices),
    }
    return {"release": figures, "secret_notices": _shown(confidential)}


def _public_rules(task: Task, notify: Callable[[Statement], None]) -> Rules | None:
    file, name = None, task.rules_name or None
    if task.rules is not None:
        name = Path(task.rules_file or "rules.toml").name
        suffix = Path(name).suffix.lower()
        file = Path(f"rules{suffix if suffix in MODELS else '.toml'}")
        # The upload is decoded text, whatever encoding its first line declares.
        file.write_text(ENCODING.sub(r"\1", task.rules, count=1), encoding="utf-8")
    return public_rules(
        file,
        task.rules_log,
        name=name,
        model=ModelOptions(**task.model),  # type: ignore[arg-type]
        activities=task.activities,
        notify=notify,
    )


def convert(task: Task, tell: Tell) -> Content:
    """Write a release in another format, with its certificate, or all files into one zip."""
    log = task.file.removesuffix(".zip").removesuffix(CERTIFICATE)
    if not certificate_path(log).exists():
        write_release(read_release(RELEASE), log, force=True)
    if task.file.endswith(".zip"):
        name, stem = log.replace("log", task.title, 1), task.title.removesuffix(".anonymized")
        with write_whole(task.file) as part, ZipFile(part, "w", ZIP_DEFLATED) as archive:
            archive.write(log, name)
            archive.write(certificate_path(log), f"{name}{CERTIFICATE}")
            archive.write("report.html", f"{stem}.report.html")
            archive.write("figures.csv", f"{stem}.figures.csv")
    return {}


JOBS: dict[str, Callable[[Task, Tell], Content]] = {
    "inspect": inspect,
    "anonymize": anonymize,
    "convert": convert,
}


def explain(error: SacofaError, task: Task) -> str:
    """Return the message with the user's name of the file, without options of the command line."""
    message = render(error.statement, wording=as_field)
    for path, name in ((task.log, task.title), (task.rules_log, task.rules_name)):
        if path:
            message = message.replace(path, name)
    return message.replace(f"{os.getcwd()}{os.sep}", "")[:MAX_MESSAGE_LENGTH]


def as_field(argument: Argument) -> str:
    """Return the field of the pages for an argument in a message."""
    name = f"“{argument.name.replace('_', ' ')}”"
    if argument.value in (None, True):
        return name
    return f"{name}: {'no' if argument.value is False else argument.value}"


def read_options(chosen: Mapping[str, object]) -> ReadOptions:
    """Return the options for readers; the default is one case per person."""
    content = dict(chosen)
    if content.get("person") is not None and content.get("max_cases") is None:
        content["max_cases"] = 1
    if isinstance(columns := content.get("columns"), str):
        # The content of a columns file, never its name.
        content["columns"] = parse_columns(columns)
    return ReadOptions(**content)  # type: ignore[arg-type]


def _teller() -> Tell:
    """Return a function that reports progress to the app at a limited rate."""
    last = ("", -1.0)

    def tell(stage: str, done: float) -> None:
        nonlocal last
        if stage != last[0] or abs(done - last[1]) >= 0.01:
            last = (stage, done)
            _write({"stage": stage, "done": done})

    return tell


def _write(content: Content) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
