"""Opening of logs and counting of their variants. Opening reads column names only."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from ..errors import Argument, SettingError, Statement
from ..kernel.cases import Cases
from ..kernel.variants import VariantCounts
from .attributes import pairs_of, tell_unnamed
from .bounded_file import Progress
from .columns import Columns
from .find_source import find_source
from .formats import TABLES, Engine, Format
from .notices import Notify
from .options import Order, ReadOptions
from .source import Log, Reader

if TYPE_CHECKING:
    from .spark.distributed import SparkVariants


def open_log(source: object, options: ReadOptions | None = None, **more: object) -> Log:
    """Open a log: files (XES, tables, spreadsheets, JSON), a frame or a database.

    A path may be a pattern (`logs/*.parquet`) or a folder, whose files are taken in the order of
    their names, as one log; so are the files of a list, in its order; `-` is standard input.
    Frames are those of pandas, polars, pyarrow and Spark, relations of DuckDB, and logs of pm4py. A
    database is `postgresql://…` with a query. Columns are found by names in common use unless they
    are given.

    `options`, or the fields of `ReadOptions` as keywords, control how it is read. With `person` and
    `max_cases`, at most max_cases cases of each person are kept; which ones depends on that
    person's cases alone. A missing source is refused here, before anything is read.
    """
    options = replace(options or ReadOptions(), **more)  # type: ignore[arg-type]
    opened = find_source(source, options)
    form = opened.declared
    engine = _choose_engine(form, options)
    if not form.is_ordered:
        if options.order == "file":
            raise SettingError("order", "file", Statement("read.must.time_order"))
        options = replace(options, order="time")
    columns = _reader_of(engine).find(opened, options)
    if engine.distributes and _asks_more(columns, options):
        engine = TABLES
    has_times = columns is not None and columns.timestamp is not None
    order: Order = "time" if has_times and not form.order_is_meant else "file"
    _check_columns(form, options, columns)
    return Log(
        source=opened,
        columns=columns,
        order=options.order or order,
        options=options,
        engine=engine,
        reader=_reader_of(engine),
    )


def _check_columns(form: Format, options: ReadOptions, columns: Columns | None) -> None:
    """Refuse options that ask for columns which a log does not have."""
    if options.attribute and (columns is None or not columns.attributes):
        must = Statement("read.must.no_attributes", what=form.name)
        raise SettingError("attribute", options.attribute[0], must)
    if options.period is not None and (columns is None or columns.timestamp is None):
        must = Statement("read.must.times_for_period", argument=Argument("timestamp"))
        raise SettingError("period", options.period, must)


def _asks_more(columns: Columns | None, options: ReadOptions) -> bool:
    """Whether the request exceeds what a server counts itself."""
    if columns is None:
        return False
    return any((columns.start, columns.lifecycle, columns.joined, options.time_format))


def _choose_engine(form: Format, options: ReadOptions) -> Engine:
    """Return the requested engine; refuse options that it does not support."""
    name = options.engine
    if name is not None and (options.encoding or options.header):
        named = (Argument("encoding"), Argument("header"))
        raise SettingError("engine", name, Statement("read.must.left_out_with", arguments=named))
    engines = [each for each in form.engines if name in (None, each.name)]
    if not engines:
        raise SettingError("engine", name, Statement("read.must.left_out_for", what=form.name))
    _check_able(form, engines[0], options)
    return engines[0]


def _check_able(form: Format, engine: Engine, options: ReadOptions) -> None:
    what, has_periods = options.engine or form.name, engine.reads_periods and form.has_periods
    if options.time_format is not None and not engine.reads_time_formats:
        must = Statement("read.must.left_out_for", what=what)
        raise SettingError("time_format", options.time_format, must)
    if options.period is not None and not has_periods:
        raise SettingError("period", options.period, Statement("read.must.no_period", what=what))


def _reader_of(engine: Engine) -> Reader:
    return cast(Reader, import_module(f".{engine.module}", __package__))


def _opened(source: object, notify: Notify | None) -> Log:
    """Open a log unless it is open, and notify its holder how its times are parsed."""
    log = source if isinstance(source, Log) else open_log(source)
    if notify is not None and log.columns is not None:
        for note in log.columns.notes(log.options):
            notify(note)
    return log


def count_variants(
    source: object, *, progress: Progress | None = None, notify: Notify | None = None
) -> VariantCounts:
    """Count the cases of each variant of a log, or of anything that `open_log` accepts.

    The result and the notices are confidential: they are for the holder of the log.
    """
    log = _opened(source, notify)
    return log.reader.count(log, progress, notify)


def read_cases(
    source: object, *, progress: Progress | None = None, notify: Notify | None = None
) -> Cases:
    """Read the cases of a log with their times: variants, and the same cases one by one.

    They have the attributes that the log was opened with. The result is confidential. Only releases
    with times or attributes need this, because it takes longer than counting, and disk space until
    `by_case` is closed or no longer referenced.
    """
    log = _opened(source, notify)
    by_case = log.reader.cases(log, progress, notify)
    if notify is not None:
        tell_unnamed(by_case.attributes, by_case.outside, notify)
    variants = by_case.variants()
    return Cases(
        variants=variants,
        by_case=by_case.project_onto(variants.activities),
        has_times=log.has_times,
        has_starts=log.has_starts,
        attributes=by_case.attributes,
        pairs=pairs_of(by_case.attributes, log.options.pair),
        assumptions=log.assumptions,
    )


def distribute_variants(
    source: object, *, progress: Progress | None = None, notify: Notify | None = None
) -> SparkVariants:
    """Count the variants of a log with Spark, and keep them on the cluster.

    The result is confidential. It is a context manager; at its end, the cluster drops the variants.
    """
    log = source if isinstance(source, Log) else open_log(source)
    if not is_distributed(log):
        raise SettingError("engine", log.source.format, Statement("read.must.on_cluster"))
    from .spark.reader import distribute

    return distribute(_opened(log, notify), progress, notify)


def is_distributed(log: Log) -> bool:
    """Whether the variants of a log can stay on the cluster that counts them."""
    return log.engine.distributes
