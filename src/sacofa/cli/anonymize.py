"""`sacofa anonymize`: release a log through a mechanism."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypedDict

from ..base.files import identity, write_text, write_whole
from ..base.temporary import secret_folder
from ..errors import OutputError, SettingError, Statement
from ..events.bounded_file import STANDARD_INPUT
from ..release import Release, certificate_path
from ..release.formats import FORMATS, format_of, listed, only_variants
from ..release.publish import Listener, Request
from ..release.read import start_from
from ..release.rules import public_rules
from .grouped import OUTPUT, PROMISE, RULES, WHAT
from .options import (
    Chosen,
    Fields,
    LogPaths,
    Modelling,
    Reading,
    Settings,
    one_or_all,
    read_names,
)
from .show import notify, progress_bar, say, say_written, show_certificate

if TYPE_CHECKING:
    from ..rules import ModelOptions

STANDARD_OUTPUT = "standard output"


@dataclass(frozen=True, kw_only=True)
class Files:
    """Files that a release takes or makes, in addition to the log.

    Attributes:
        rules: Public rules: a file that `sacofa rules` wrote, or a model (.bpmn, .pnml, .decl).
        rules_from: Public log from which rules are mined.
        activities: Public activity names: a text file with one name per line.
        earlier: Earlier releases of the same process whose variants become candidates. Repeat for
            several.
        report: Also write an HTML report (.html), or a table of its figures (.csv, .json or
            .parquet).
        certificate: File for the certificate, if the log goes to standard output.
    """

    rules: Path | None = None
    rules_from: str | None = None
    activities: Path | None = None
    earlier: list[Path] | None = None
    report: Path | None = None
    certificate: Path | None = None

    def names(self) -> list[str] | None:
        """The public activity names."""
        return None if self.activities is None else read_names(self.activities)

    def inputs(self) -> dict[str, str | Path]:
        """What is read, by what it is."""
        named = {"the rules": self.rules, "the names": self.activities}
        named |= {f"the earlier release {path}": path for path in self.earlier or ()}
        public = {} if self.rules_from is None else {"the public log": self.rules_from}
        return {**_given(named), **public}

    def outputs(self) -> dict[str, Path]:
        """What is written, by what it is."""
        return _given({"the report": self.report, "the certificate": self.certificate})


class Requested(TypedDict, total=False):
    """The fields of a `Request` that are options as they are."""

    output: Path
    seed: int | None
    force: bool
    ledger: Path | None
    dataset: str | None
    max_released_events: int


def anonymize(
    log: LogPaths,
    chosen: Annotated[Chosen, Settings(leave_out=("rules",))],
    options: Reading,
    model: Modelling,
    files: Annotated[
        Files,
        Fields(
            panel=OUTPUT,
            panels={"rules": RULES, "rules_from": RULES, "activities": PROMISE, "earlier": WHAT},
        ),
    ],
    requested: Annotated[
        Requested,
        Fields(
            of=Request,
            panel=OUTPUT,
            panels={"seed": PROMISE, "ledger": PROMISE, "dataset": PROMISE},
            flags={"output": ("-o", "--output"), "max_released_events": ("--max-events",)},
            help={
                "output": f"The released log: {listed(FORMATS)}. - writes CSV to standard output."
            },
        ),
    ],
) -> None:
    """Anonymize a log under differential privacy, and write its certificate next to it."""
    output = requested["output"]
    streamed = str(output) == STANDARD_INPUT
    if streamed != (files.certificate is not None):
        must = "must.certificate_file" if streamed else "must.no_certificate_file"
        raise SettingError("certificate", files.certificate, Statement(must))
    names = files.names()
    mechanism = start_from(
        chosen.make(rules=_rules(files, model, one_or_all(log), options.trusted, names)),
        files.earlier or [],
    )
    if files.report is not None:
        # Most releases are made without a report, and its libraries take a while to load.
        from ..report.figures_file import is_table

        is_table(files.report)
    with ExitStack() as stack:
        if streamed:
            output = stack.enter_context(secret_folder()) / "release.csv"
        else:
            stack.enter_context(reporting_what_is_written(output))
            if chosen.settings["time"] and not (stored := format_of(output)).holds_events:
                raise SettingError("time", "yes", only_variants(stored.suffix))
        requested["output"] = output
        request = Request(
            **requested,
            log=one_or_all(log),
            mechanism=mechanism,
            options=options,
            activities=names,
            keeps_file=not streamed,
            other_outputs=files.outputs(),
            other_inputs=files.inputs(),
        )
        release = _publish(request, output, files.certificate)
        _show(release, output, files, request.force)


def _rules(
    files: Files, model: ModelOptions, log: object, trusted: bool, names: list[str] | None
) -> object:
    """The public rules; a log that is the confidential one itself is refused."""
    return public_rules(
        files.rules,
        files.rules_from,
        secret=log,
        trusted=trusted,
        model=model,
        activities=names,
        notify=notify,
    )


def _publish(request: Request, output: Path, certificate: Path | None) -> Release:
    """Make the release; write its log to standard output if the certificate has its own place."""
    with progress_bar() as stage:
        release = request.publish(
            Listener(
                stage=stage,
                ledger=lambda text: notify(Statement("cli.from_ledger", text=text)),
                holder=lambda text: notify(Statement("cli.from_log", text=text)),
            )
        )
        if certificate is not None:
            with write_whole(certificate, request.force) as part:
                part.write_bytes(certificate_path(output).read_bytes())
                # A certificate gets its name only if the whole log got out.
                _stream(output)
    return release


def _given(paths: Mapping[str, Path | None]) -> dict[str, Path]:
    """The files that were given."""
    return {what: path for what, path in paths.items() if path is not None}


def _stream(released: Path) -> None:
    """Write a released log to standard output."""
    try:
        with released.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise OutputError(STANDARD_OUTPUT, Statement("file.closed_early")) from None
    except OSError as error:
        why = Statement("file.unwritable", why=error.strerror or "")
        raise OutputError(STANDARD_OUTPUT, why) from None


def _show(release: Release, output: Path, files: Files, force: bool) -> None:
    """Report what was released, and write the report; to stderr if the log itself is on stdout."""
    from rich.console import Console

    streamed, released = files.certificate is not None, release.variants
    show_certificate(release.certificate, Console(highlight=False, markup=False, stderr=streamed))
    say("", err=streamed)
    counts = {"cases": released.cases, "variants": len(released)}
    file = STANDARD_OUTPUT if streamed else str(output)
    say(Statement("cli.released", path=file, **counts), err=streamed)
    say_written("certificate", files.certificate or certificate_path(output), err=streamed)
    if files.report is not None:
        from ..report import make_report, write_figures
        from ..report.figures_file import is_table

        title = STANDARD_OUTPUT if streamed else output.name
        if is_table(files.report):
            with write_whole(files.report, force) as part:
                write_figures(release, part)
        else:
            write_text(files.report, make_report(release, title=title), force)
        say_written("report", files.report, err=streamed)


@contextmanager
def reporting_what_is_written(output: Path) -> Iterator[None]:
    """Let an interrupt, or a terminal that takes no more, report that the release is there."""
    before = identity(output)
    try:
        yield
    except BrokenPipeError:
        raise
    except (KeyboardInterrupt, OSError) as error:
        if not output.exists() or identity(output) == before:
            raise
        written = Statement("cli.written_before", path=str(output))
        if isinstance(error, OSError):
            why = Statement("file.stopped", why=error.strerror or "", written=written)
            raise OutputError(STANDARD_OUTPUT, why) from None
        error.args = (str(written),)
        raise
