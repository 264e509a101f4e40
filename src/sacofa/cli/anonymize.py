"""`sacofa anonymize`, `combine` and `demo`: releases of a log, of other releases, of an example."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ..base.files import check_apart, check_target, identity, write_whole
from ..base.temporary import secret_folder
from ..errors import OutputError, SettingError, Statement
from ..events import open_log
from ..events.bounded_file import STANDARD_INPUT
from ..examples import hospital_csv, hospital_model
from ..mechanisms import Certified
from ..mechanisms.registry import make_mechanism
from ..release import Release, certificate_path, publish, write_release
from ..release.combine import combine_files
from ..release.formats import FORMATS, format_of, listed, only_variants
from ..release.publish import Listener, Request
from ..release.read import start_from
from ..release.rules import public_rules
from .options import (
    OUTPUT,
    PROMISE,
    RULES,
    WHAT,
    Chosen,
    Fields,
    Force,
    LogPaths,
    Modelling,
    Output,
    Reading,
    Settings,
    one_or_all,
    read_names,
)
from .show import notify, progress_bar, say, say_written, show_certificate

STANDARD_OUTPUT = "standard output"
OUTPUT_HELP = f"The released log: {listed(FORMATS)}. - writes CSV to standard output."


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
        output: The released log.
    """

    rules: Path | None = None
    rules_from: str | None = None
    activities: Path | None = None
    earlier: list[Path] | None = None
    report: Path | None = None
    certificate: Path | None = None
    output: Path

    @property
    def streamed(self) -> bool:
        """Whether the log goes to standard output; only then the certificate needs a name."""
        streamed = str(self.output) == STANDARD_INPUT
        if streamed != (self.certificate is not None):
            must = "must.certificate_file" if streamed else "must.no_certificate_file"
            raise SettingError("certificate", self.certificate, Statement(must))
        return streamed

    def inputs(self) -> dict[str, str | Path]:
        """Return the files that are read, by their kind."""
        earlier = {f"the earlier release {path}": path for path in self.earlier or ()}
        read = {"the rules": self.rules, "the names": self.activities}
        return _given({**read, **earlier, "the public log": self.rules_from})


def _given(paths: Mapping[str, str | Path | None]) -> dict[str, str | Path]:
    """The files that were given."""
    return {what: path for what, path in paths.items() if path is not None}


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
            help={"output": OUTPUT_HELP},
        ),
    ],
    request: Annotated[
        partial[Request],
        Fields(
            only=("seed", "force", "ledger", "dataset", "max_released_events"),
            panel=OUTPUT,
            panels={"seed": PROMISE, "ledger": PROMISE, "dataset": PROMISE},
            flags={"max_released_events": ("--max-events",)},
        ),
    ],
) -> None:
    """Anonymize a log under differential privacy, and write its certificate next to it."""
    source, streamed, output = one_or_all(log), files.streamed, files.output
    names, certificate = read_names(files.activities), files.certificate
    rules = public_rules(
        files.rules,
        files.rules_from,
        secret=source,
        trusted=options.trusted,
        model=model,
        activities=names,
        notify=notify,
    )
    made = make_mechanism(chosen.mechanism, {**chosen.settings, "rules": rules})
    mechanism = start_from(made, files.earlier or [])
    if files.report is not None:
        # Most releases are made without a report, and its libraries take a while to load.
        from ..report.figures import is_table

        is_table(files.report)
    with ExitStack() as stack:
        if streamed:
            output = stack.enter_context(secret_folder()) / "release.csv"
        else:
            stack.enter_context(reporting_what_is_written(output))
            if chosen.settings["time"] and not (stored := format_of(output)).holds_events:
                raise SettingError("time", "yes", only_variants(stored.suffix))
        requested = request(
            log=source,
            mechanism=mechanism,
            output=output,
            options=options,
            activities=names,
            keeps_file=not streamed,
            other_outputs=_given({"the report": files.report, "the certificate": certificate}),
            other_inputs=files.inputs(),
        )
        with progress_bar() as stage:
            release = requested.publish(
                Listener(
                    stage=stage,
                    ledger=lambda text: notify(Statement("cli.from_ledger", text=text)),
                    holder=lambda text: notify(Statement("cli.from_log", text=text)),
                )
            )
            if certificate is not None:
                with write_whole(certificate, requested.force) as part:
                    part.write_bytes(certificate_path(output).read_bytes())
                    # A certificate gets its name only if the whole log got out.
                    _stream(output)
        path = STANDARD_OUTPUT if streamed else str(output)
        _show(release, "cli.released", path, certificate or certificate_path(output), err=streamed)
        if files.report is not None:
            from ..report.build import write_report

            write_report(release, files.report, title=Path(path).name, force=requested.force)
            say_written({"report": files.report}, err=streamed)


def _show(release: Release, said: str, path: str, certificate: Path, *, err: bool = False) -> None:
    """Report the files that were written; on stderr if the log is on standard output."""
    show_certificate(release.certificate, err=err)
    say(err=err)
    variants = release.variants
    say(Statement(said, path=path, cases=variants.cases, variants=len(variants)), err=err)
    say_written({"certificate": certificate}, err=err)


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


def combine(
    releases: Annotated[
        list[Path],
        typer.Argument(help="Released files, with their certificates.", metavar="FILE …"),
    ],
    output: Output,
    force: Force = False,
) -> None:
    """Combine releases into one, with a certificate that states the ε of all of them."""
    format_of(output)
    outputs = {"the output": output, "its certificate": certificate_path(output)}
    for target in outputs.values():
        check_target(target, force)
    check_apart(outputs, {f"the release {path}": path for path in releases})
    release = combine_files(releases)
    write_release(release, output, force=force)
    _show(release, "cli.combined", str(output), certificate_path(output))


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="The folder to write to.")],
    force: Force = False,
) -> None:
    """Create a fictional hospital log of 4,000 cases and anonymize it."""
    from ..report.build import write_report

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(output, Statement("file.unmakable", why=error.strerror or "")) from None
    original, model = output / "hospital.csv", output / "hospital.bpmn"
    for path, content in ((original, hospital_csv()), (model, hospital_model())):
        with write_whole(path, force) as part:
            part.write_bytes(content)
    released, page = output / "hospital.anonymized.xes", output / "report.html"
    release = publish(open_log(original), Certified(epsilon=Fraction(1)), released, force=force)
    write_report(release, page, title=released.name, force=force)
    show_certificate(release.certificate)
    say()
    files = {"original": original, "model": model, "released": released}
    say_written({**files, "certificate": certificate_path(released), "report": page})
