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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import date
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from ..base.files import write_text, write_whole
from ..errors import ColumnsError, ReadError, SacofaError, Statement, advises
from ..events import count_variants, inspect_variants, open_log
from ..events.inspect import shown_variants
from ..events.preview import count_disordered, preview
from ..events.profile import offered_columns
from ..mechanisms.registry import make_mechanism
from ..messages import render
from ..release import Release, certificate_path, read_release, write_release
from ..release.publish import Listener, Request
from ..release.rules import public_rules
from ..report.promise import explain_epsilon, say_promise
from ..report.sureness import margins_of
from ..rules import Rules
from ..rules.models import MODELS
from .tasks import Content, Task, as_field

Tell = Callable[[str, float], None]
LARGEST_RESULT = 2_000_000
"""What the app is told of a log, in bytes; names in it may be of any number and length."""
LEFT_OUT = ("frequent", "names", "columns", "attributes")
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
    task = Task.from_json(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tell = _Teller()
    # In words now: later there may be no memory left for them.
    too_much = _too_much(task)
    if task.trusted:
        _limit_memory(task.memory)
    try:
        result = JOBS[task.kind](task, tell)
        tell.write({"result": result, **_preview(task)})
    except ColumnsError as error:
        columns = {"missing": error.missing, "present": _few(error.present)}
        tell.write({"refused": explain(error, task), "columns": columns, **_preview(task)})
    except SacofaError as error:
        words = too_much if task.trusted and _is_full(task.memory) else explain(error, task)
        tell.write({"refused": words, "trustable": advises(error, "trusted")})
    except MemoryError:
        if not task.trusted:
            raise
        tell.write({"refused": too_much})


def _limit_memory(memory: int) -> None:
    """Bound the memory: the checks are off, and the file may be anything."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _preview(task: Task) -> Content:
    """The first events of a log, also while its columns are still to be named."""
    if task.kind != "inspect":
        return {}
    try:
        shown = asdict(preview(task.log, task.options))
    except SacofaError:
        # The job itself reports why the log cannot be read.
        return {}
    return {"preview": shown} if len(json.dumps(shown)) <= LARGEST_RESULT else {}


def _few(names: Sequence[str]) -> list[str]:
    """As many names as can be chosen from."""
    few = list(names[:MOST_COLUMNS])
    return few if len(json.dumps(few)) <= LARGEST_RESULT else []


def inspect(task: Task, tell: Tell) -> Content:
    """Describe a log."""
    log = open_log(task.log, task.options)
    notices: list[Statement] = []
    variants = count_variants(log, progress=partial(tell, "reading"), notify=notices.append)
    inspection = inspect_variants(variants)
    found = task.columns
    if log.columns is not None:
        found = {**found, "case": log.columns.case, "activity": log.columns.activity}
        found |= {"timestamp": log.columns.columns_of(log.columns.timestamp), "order": log.order}
    tell("comparing times with the order", 0.0)
    content = {
        **asdict(inspection),
        "frequent": shown_variants(inspection),
        "names": list(variants.activities),
        "columns": log.reader.list_columns(log.source),
        "attributes": [asdict(column) for column in offered_columns(log, variants.cases)],
        "found": found,
        "disordered": count_disordered(log) if variants.events <= MOST_COMPARED else None,
    }
    del content["warnings"]
    content["notices"] = _shown([*notices, *_shorten(content)])
    if len(json.dumps(content)) > LARGEST_RESULT:
        raise ReadError(task.log, Statement("web.long_names"))
    return content


def _shown(notices: Iterable[Statement]) -> list[str]:
    """Notices as pages show them."""
    return [render(notice, wording=as_field) for notice in notices]


def _shorten(content: Content) -> Iterator[Statement]:
    """Leave out lists until the rest is small enough, and name them."""
    for name in LEFT_OUT:
        if len(json.dumps(content)) > LARGEST_RESULT:
            content[name] = []
            yield Statement("web.left_out", what=Statement(f"web.list.{name}"))


def anonymize(task: Task, tell: Tell) -> Content:
    """Release a log, and make the report."""
    notices: list[Statement] = []
    rules = _public_rules(task, notices.append)
    said: list[Statement] = []
    confidential: list[Statement] = []
    release = Request(
        log=task.log,
        mechanism=make_mechanism(task.mechanism, {**task.settings, "rules": rules}),
        output=RELEASE,
        options=task.options,
        activities=task.activities,
        seed=task.seed,
        ledger=task.ledger,
        dataset=task.dataset,
        # It is passed on as a download, and goes with the app.
        keeps_file=False,
    ).publish(Listener(stage=tell, ledger=said.append, holder=confidential.append))
    tell("drawing", 0.0)
    _write_report(release, task)
    return {
        **summarize(release),
        "dataset": task.dataset,
        "ledger": _shown(said),
        "notices": _shown(notices),
        "secret_notices": _shown(confidential),
    }


def _write_report(release: Release, task: Task) -> None:
    """Write the report, and its figures as tables."""
    # Only this job makes pages, and their libraries take a while to load.
    from ..report import Facts, make_report, write_figures

    facts = Facts(dataset=task.dataset, date=date.today(), released_by=task.released_by)
    write_text("report.html", make_report(release, title=task.title, facts=facts))
    for name in FIGURES:
        with write_whole(name) as part:
            write_figures(release, part)


def convert(task: Task, tell: Tell) -> Content:
    """Write a release in another format, with its certificate."""
    file = Path(task.file)
    if not file.exists():
        write_release(read_release(RELEASE), file, force=True)
    if task.packed is not None:
        target, name = task.packed
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


JOBS: dict[str, Callable[[Task, Tell], Content]] = {
    "inspect": inspect,
    "anonymize": anonymize,
    "convert": convert,
}


def summarize(release: Release) -> Content:
    """The figures that a page shows of a release."""
    certificate = release.certificate
    epsilon = certificate.epsilon
    meaning = None if epsilon is None else explain_epsilon(epsilon)
    return {
        "promise": say_promise(certificate),
        "strength": None if meaning is None else meaning.strength,
        "level": None if meaning is None else meaning.level,
        "verdict": None if certificate.verdict is None else str(certificate.verdict),
        "cases_margin": margins_of(release).cases,
        "epsilon": None if meaning is None else meaning.epsilon,
        "publishable": certificate.publishable,
        "cases": release.variants.cases,
        "variants": len(release.variants),
    }


def _public_rules(task: Task, notify: Callable[[Statement], None]) -> Rules | None:
    file, name = None, task.rules_name or None
    if task.rules is not None:
        name = Path(task.rules_file or "rules.toml").name
        suffix = Path(name).suffix.lower()
        file = Path(f"rules{suffix if suffix in MODELS else '.toml'}")
        # The text came as text, whatever its first line says about bytes.
        file.write_text(ENCODING.sub(r"\1", task.rules, count=1), encoding="utf-8")
    return public_rules(
        file,
        task.rules_log,
        name=name,
        model=task.model_options,
        activities=task.activities,
        notify=notify,
    )


def explain(error: SacofaError, task: Task) -> str:
    """The message with the user's own name of the file, and no word of the command line."""
    message = render(error.statement, wording=as_field)
    for path, name in ((task.log, task.title), (task.rules_log, task.rules_name)):
        if path:
            message = message.replace(str(Path(path).absolute()), name).replace(path, name)
    message = message.replace(f"{Path('here').absolute().parent}{os.sep}", "")
    return message[:LONGEST_MESSAGE]


def _is_full(memory: int) -> bool:
    """Whether reading came near its bound: libraries then fail with misleading messages."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used * (1 if sys.platform == "darwin" else 1024) > 0.7 * memory


def _too_much(task: Task) -> str:
    megabytes = task.memory // 1_000_000
    return str(Statement("web.too_much_memory", name=task.title, megabytes=megabytes))


class _Teller:
    """Tells the app how far the job is, and not more often than it matters."""

    def __init__(self) -> None:
        self._last = ("", -1.0)

    def __call__(self, stage: str, done: float) -> None:
        if stage != self._last[0] or abs(done - self._last[1]) >= 0.01:
            self._last = (stage, done)
            self.write({"stage": stage, "done": done})

    def write(self, content: Content) -> None:
        """Report anything else."""
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
