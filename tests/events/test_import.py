"""Files as other programs write them: encodings, headers, packings, sheets, several at once."""

from __future__ import annotations

import bz2
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sacofa import Certified, anonymize
from sacofa.audit.neighbours import Event, EventLog, check_neighbours
from sacofa.errors import ColumnsError, ReadError, SettingError
from sacofa.events import count_variants, open_log
from sacofa.events.columns import COLUMNS_TAKEN
from sacofa.kernel.unit import ONE_CASE
from sacofa.kernel.variants import VariantCounts
from sacofa.release import verify

from .ways import columns_of, timed

TABLE = "Fall;Tätigkeit;Zeit\n1;Prüfung;2025-01-01\n1;Ende;2025-01-02\n2;Prüfung;2025-01-01\n"
NAMED: dict[str, Any] = {"case": "Fall", "activity": "Tätigkeit", "timestamp": "Zeit"}
SEEN = [(("Prüfung",), 1), (("Prüfung", "Ende"), 1)]
FOLDER = Path(__file__).parent / "libreoffice"


def seen(source: Any, **options: Any) -> list[Any]:
    """The variants of a log."""
    return sorted(count_variants(open_log(source, **options)))


def put(path: Path, data: str | bytes) -> Path:
    """Write a file."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
)
def test_encodings_are_told_by_the_first_line(encoding: str, tmp_path: Path) -> None:
    """A mark, every other byte, or letters that are no UTF-8: the header is about no case."""
    path = put(tmp_path / "log.csv", TABLE.encode(encoding))
    assert seen(path, **NAMED) == SEEN


def test_an_encoding_that_no_header_tells_is_named(tmp_path: Path) -> None:
    """Letters of a case decide nothing: the message says what to do."""
    path = put(tmp_path / "log.csv", "case,activity\n1,Prüfung\n".encode("cp1252"))
    with pytest.raises(
        ReadError, match="not written in utf-8: name its encoding with encoding, such"
    ):
        seen(path)
    assert seen(path, encoding="cp1252") == [(("Prüfung",), 1)]
    with pytest.raises(ReadError, match="not written in utf-16"):
        seen(put(tmp_path / "odd.csv", "case,activity\n1,a\n".encode("utf-16") + b"x"))
    with pytest.raises(SettingError, match=r'Did you mean "cp1252"\?'):
        open_log(path, encoding="cp125")


@pytest.mark.parametrize("name", ["log.csv", "log.tsv", "log.csv.gz", "log.parquet", "log.json"])
def test_bytes_that_are_no_log_are_called_so(name: str, tmp_path: Path) -> None:
    """Nobody is sent to look for columns in noise, or told what a library thinks of it."""
    path = tmp_path / name
    path.write_bytes(bytes(range(1, 256)) * 40)
    with pytest.raises(
        ReadError, match=r"is not a (text table|Parquet file)|not written in utf-8$"
    ):
        count_variants(open_log(path))


def test_an_encoding_that_knows_half_characters(tmp_path: Path) -> None:
    """They stop no other case; what is no encoding of texts is refused."""
    path = put(tmp_path / "log.csv", b"case,activity\n1,\\ud800\n2,b\n")
    assert seen(path, encoding="raw-unicode-escape") == [(("?",), 1), (("b",), 1)]
    for name in ("idna", "undefined", "hex"):
        with pytest.raises(SettingError, match="encoding"):
            seen(path, encoding=name)


def test_a_line_may_say_what_stands_between_columns(tmp_path: Path) -> None:
    """`sep=;` is for spreadsheets, and no row."""
    assert seen(put(tmp_path / "log.csv", "sep=;\n" + TABLE), **NAMED) == SEEN
    utf16 = ("sep=;\r\n" + TABLE.replace("\n", "\r\n")).encode("utf-16")
    assert seen(put(tmp_path / "log.csv", utf16), **NAMED) == SEEN


def test_a_file_without_a_header(tmp_path: Path) -> None:
    """Names are given, and every row is an event."""
    path = put(tmp_path / "log.csv", TABLE.partition("\n")[2])
    assert seen(path, header="case,activity,time") == SEEN
    with pytest.raises(ReadError, match="has 3 columns in its first row, not 2"):
        open_log(path, header=("case", "activity"))
    with pytest.raises(SettingError, match="different names"):
        open_log(path, header="a,a,b")


def test_headers_in_the_middle_are_no_events(tmp_path: Path) -> None:
    """Files that were put together have them."""
    path = put(tmp_path / "log.csv", TABLE + TABLE.replace("\n1", "\n3").replace("\n2", "\n4"))
    assert seen(path, **NAMED) == [(variant, 2 * count) for variant, count in SEEN]


def test_columns_in_another_order_in_the_next_file(tmp_path: Path) -> None:
    """Columns go by name, and events of one case may lie in several files."""
    one = put(tmp_path / "1.csv", "case,activity,note\n1,a,x\n")
    two = put(tmp_path / "2.csv", "sep=;\nnote;case;activity\ny;1;b\nz;2;b\n")
    assert seen([one, two]) == [(("a", "b"), 1), (("b",), 1)]
    assert seen([two, one]) == [(("b",), 1), (("b", "a"), 1)]
    assert seen(tmp_path / "*.csv") == seen([str(one), two])
    with pytest.raises(ReadError, match="named twice"):
        open_log([one, one])
    with pytest.raises(ReadError, match="other columns"):
        open_log([one, put(tmp_path / "3.csv", "case,activity\n1,a\n")])
    with pytest.raises(ReadError, match="files of one kind"):
        open_log([one, put(tmp_path / "log.xes", "<log/>")])


def test_half_a_character_stops_no_other_case(tmp_path: Path) -> None:
    """JSON can hold one; text cannot. It is a question mark, and names of fields may have it."""
    lines = [
        r'{"case": "1", "activity": "a\ud83d\ude00", "\ud800": 1}',
        r'{"case": "2", "activity": "b\ud800"}',
    ]
    path = put(tmp_path / "log.jsonl", "\n".join(lines))
    assert seen(path, order="file") == [(("a😀",), 1), (("b?",), 1)]


@pytest.mark.parametrize("name", ["log.csv", "log.xes"])
def test_one_file_by_two_names_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whatever path and link: its cases would count twice, and noise hides them once."""
    monkeypatch.chdir(tmp_path)
    xes = '<log><trace><event><string key="concept:name" value="a"/></event></trace></log>'
    put(tmp_path / name, "case,activity\n1,a\n" if name == "log.csv" else xes)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / f"symbolic-{name}").symlink_to(tmp_path / name)
    (folder / f"hard-{name}").hardlink_to(tmp_path / name)
    for other in (tmp_path / name, f"folder/../{name}", folder, *folder.iterdir()):
        with pytest.raises(ReadError, match=r"named twice.*would count twice"):
            open_log([name, other])
    with pytest.raises(ReadError, match="named twice"):
        open_log(folder)


def packed(kind: str, data: bytes) -> bytes:
    """Pack bytes."""
    if kind == "bz2":
        return bz2.compress(data[:20]) + bz2.compress(data[20:])
    if kind == "zst":
        zstandard = pytest.importorskip("zstandard", reason="the extra zstd is not installed")
        return bytes(zstandard.compress(data))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/log.csv", b"no")
        archive.writestr("inside/log.csv", data)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["bz2", "zst", "zip"])
def test_packed_files(kind: str, tmp_path: Path) -> None:
    """They are unpacked, whole or not at all."""
    data = packed(kind, TABLE.encode())
    assert seen(put(tmp_path / f"log.csv.{kind}", data), **NAMED) == SEEN
    xes = b'<log><trace><event><string key="concept:name" value="a"/></event></trace></log>'
    assert seen(put(tmp_path / f"log.xes.{kind}", packed(kind, xes))) == [(("a",), 1)]
    with pytest.raises(ReadError, match=f"log.csv.{kind}: the .* file is .*cut short"):
        seen(put(tmp_path / f"log.csv.{kind}", data[: len(data) // 2]), **NAMED)


def test_an_archive_says_by_itself_what_is_in_it(tmp_path: Path) -> None:
    """One file, whose name tells its format."""
    assert seen(put(tmp_path / "export.zip", packed("zip", TABLE.encode())), **NAMED) == SEEN
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("1.csv", "a")
        archive.writestr("2.csv", "a")
    with pytest.raises(ReadError, match="holds 2 files: unpack it"):
        open_log(tmp_path / "two.zip")


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_spreadsheets_that_libreoffice_wrote(kind: str, tmp_path: Path) -> None:
    """Dates are dates, numbers look as people write them, and the first sheet is the log."""
    log = open_log(FOLDER / f"visits.{kind}")
    assert log.columns is not None and log.columns.timestamp == "Timestamp"
    assert seen(log.source.content[0]) == [
        (("Register",), 1), (("Register", 'Said "no"'), 1), (("Register", "Triage"), 1),
    ]  # fmt: skip
    by_ward = open_log(log.source.content[0], activity="Ward")
    assert count_variants(by_ward).activities == ("A", "A, left", "B", "Grün", "Ω")
    with pytest.raises(ReadError, match=f"is not an {kind} file"):
        open_log(put(tmp_path / f"no.{kind}", TABLE))
    with pytest.raises(ReadError, match="is not a spreadsheet"):
        open_log(put(tmp_path / f"other.{kind}", packed("zip", b"")))


def workbook(path: Path, cell: str, styles: str = '<xf numFmtId="0"/><xf numFmtId="14"/>') -> Path:
    """A workbook whose second case has this cell as its time."""

    def text(value: str) -> str:
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'

    first = f'<row>{text("1")}{text("a")}<c s="1"><v>45000</v></c></row>'
    names = f"<row>{text('case')}{text('activity')}{text('time')}</row>"
    rows = f"{names}{first}<row>{text('2')}{text('b')}{cell}</row>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", '<w><sheet name="a" xmlns:r="r" r:id="r1"/></w>')
        link = '<Relationship Id="r1" Target="worksheets/sheet1.xml"/>'
        archive.writestr("xl/_rels/workbook.xml.rels", f"<r>{link}</r>")
        archive.writestr("xl/styles.xml", f"<s><cellXfs>{styles}</cellXfs></s>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<w>{rows}</w>")
    return path


@pytest.mark.parametrize("days", ["1e400", "nan", "x"])
def test_a_date_cell_without_a_number_has_no_time(days: str, tmp_path: Path) -> None:
    """One cell stops nothing: its event has no time."""
    path = workbook(tmp_path / "log.xlsx", f'<c s="1"><v>{days}</v></c>')
    assert seen(path) == [(("a",), 1), (("b",), 1)]


@pytest.mark.parametrize("days", ["2990000", "2958466", "-700000"])
def test_a_date_that_no_calendar_has_is_refused_with_its_row(days: str, tmp_path: Path) -> None:
    """It is a number next to times, which would otherwise come after all of them."""
    path = workbook(tmp_path / "log.xlsx", f'<c s="1"><v>{days}</v></c>')
    with pytest.raises(ReadError, match=r'column "time" holds a number in row 2 that cannot'):
        seen(path)


@pytest.mark.parametrize(
    ("cell", "styles"),
    [
        ('<c s="abc"><v>1</v></c>', '<xf numFmtId="0"/>'),
        ('<c s="-1"><v>1</v></c>', '<xf numFmtId="0"/>'),
        ('<c t="s"><v>-1</v></c>', '<xf numFmtId="0"/>'),
        ('<c t="s"><v>7</v></c>', '<xf numFmtId="0"/>'),
        ("<c><v>1</v></c>", '<xf numFmtId="abc"/>'),
        ("<c><v>1</v></c>", f'<xf numFmtId="{"1" * 5000}"/>'),
    ],
)
def test_a_damaged_workbook_is_refused_in_one_line(cell: str, styles: str, tmp_path: Path) -> None:
    """What must be a number and is none."""
    with pytest.raises(ReadError, match="is not an xlsx file, or is damaged"):
        seen(workbook(tmp_path / "log.xlsx", cell, styles))


def test_a_table_in_a_cell_ends_no_sheet(tmp_path: Path) -> None:
    """Its rows are none of the sheet, and those that follow are read."""

    def row(*cells: str) -> str:
        text = (f'<c:table-cell c:value-type="string">{cell}</c:table-cell>' for cell in cells)
        return f"<c:table-row>{''.join(text)}</c:table-row>"

    inner = f"<c:p>a</c:p><c:table>{row('<c:p>x</c:p>')}</c:table>"
    head, last = row("<c:p>case</c:p>", "<c:p>activity</c:p>"), row("<c:p>2</c:p>", "<c:p>b</c:p>")
    sheet = f"<c:table>{head}{row('<c:p>1</c:p>', inner)}{last}</c:table>"
    path = tmp_path / "log.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", f'<c:s xmlns:c="c">{sheet}<c:table>{last}</c:table></c:s>')
    assert seen(path) == [(("a",), 1), (("b",), 1)]


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounds hold while it is read, whatever the archive says of itself."""
    monkeypatch.setattr("sacofa.events.sheets.UNCHECKED_BYTES", 1000)
    monkeypatch.setattr("sacofa.events.sheets.MAX_EXPANSION", 0)
    with pytest.raises(ReadError, match="trusted=True"):
        seen(FOLDER / "visits.xlsx")
    assert seen(FOLDER / "visits.xlsx", trusted=True)


def test_json_lines(tmp_path: Path) -> None:
    """An object for each event; numbers and texts are names as they stand."""
    lines = [
        {"case": 1, "activity": "b", "time": "2025-01-02"},
        {"case": "1", "activity": "a", "time": "2025-01-01"},
        {"case": 1.0, "activity": 1.5, "time": "2025-01-03"},
        {"time": None, "case": "2", "activity": ""},
    ]
    path = put(tmp_path / "log.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    assert seen(path) == [(("",), 1), (("a", "b", "1.5"), 1)]


def test_the_certificate_says_that_fields_were_taken_from_the_log(tmp_path: Path) -> None:
    """The first line is a case, and its fields tell whether there are times and starts."""
    rest = '{"case": 1, "activity": "a"}\n'
    more = '{"case": 2, "activity": "a", "time": "2020-01-02", "start time": "2020-01-01"}\n'
    without = open_log(put(tmp_path / "without.jsonl", rest), order="file")
    log = open_log(put(tmp_path / "with.jsonl", more + rest), order="file")
    assert (without.has_times, log.has_times, log.has_starts) == (False, True, True)
    for each in (without, log):
        release = anonymize(each, Certified(epsilon=1), seed=1)
        assert COLUMNS_TAKEN in release.certificate.assumptions


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"case": 1', "line 1 is not JSON"),
        ("[1]", "line 1 is not an object"),
        ('{"case": 1, "activity": 2, "time": 3}\n{"case": 1, "x": 3}', "line 2 has fields .*: x"),
        ('{"case": 1, "activity": 2, "time": 3, "ts": 4}', "several fields may be the timestamp"),
        ('{"case": 1, "activity": 2}', "no column for timestamp"),
        ("", "is empty"),
    ],
)
def test_json_lines_that_one_case_could_change(lines: str, message: str, tmp_path: Path) -> None:
    """Fields are part of a case, so what they decide for others is asked for."""
    with pytest.raises(ReadError, match=message):
        seen(put(tmp_path / "log.jsonl", lines))


def test_standard_input() -> None:
    """A log comes through a pipe, once its format is said."""
    command = [sys.executable, "-m", "sacofa", "inspect", "-", "--json", "--format", "csv"]
    ran = subprocess.run(
        [*command, "--case", "Fall", "--activity", "Tätigkeit", "--timestamp", "Zeit"],
        input=TABLE.encode(), capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(ran.stdout)["cases"] == 2
    with pytest.raises(SettingError, match="given if the log is standard input"):
        open_log("-")


def test_standard_output(tmp_path: Path) -> None:
    """The log goes out through a pipe, alone; the certificate that is named fits it."""
    path = put(tmp_path / "log.csv", TABLE)
    command = [sys.executable, "-m", "sacofa", "anonymize", str(path), "-o", "-", "--epsilon", "1",
               "--case", "Fall", "--activity", "Tätigkeit", "--timestamp", "Zeit"]  # fmt: skip
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "--certificate must be given" in refused.stderr
    named = tmp_path / "out.csv.certificate.json"
    ran = subprocess.run([*command, "--certificate", str(named)], capture_output=True, check=True)
    out = put(tmp_path / "out.csv", ran.stdout)
    assert verify(out).holds and b"Certificate:" in ran.stderr
    named.unlink()
    with subprocess.Popen(
        [*command, "--certificate", str(named)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as piped:
        assert piped.stdout is not None and piped.stderr is not None
        piped.stdout.close()
        said = piped.stderr.read()
    assert said.count(b"\n") == 1 and b"standard output: was closed" in said
    assert piped.returncode == 2 and not named.exists()


def test_a_relation_of_duckdb() -> None:
    """It is a query, so its rows have no order of their own."""
    relation = duckdb.sql(
        "SELECT * FROM (VALUES (1, 'b', DATE '2025-01-01'), (1, 'a', DATE '2025-01-01'), "
        "(2, 'c', DATE '2025-01-03'), (2, 'b', DATE '2025-01-02')) AS t(case_id, activity, time)"
    )
    assert seen(relation) == [(("a", "b"), 1), (("b", "c"), 1)]
    with pytest.raises(SettingError, match="rows of a database"):
        open_log(relation, order="file")
    with pytest.raises(ColumnsError, match="no column for timestamp"):
        open_log(duckdb.sql("SELECT 1 AS case_id, 'a' AS activity"))


def read_relation(folder: Path, rows: EventLog) -> VariantCounts:
    """Rows as a relation that was shuffled by all of them."""
    table = timed(rows)
    database = duckdb.connect()
    database.register("given", table)
    return count_variants(database.sql("SELECT * FROM given ORDER BY time, hash(activity)"))


def read_jsonl(folder: Path, rows: EventLog) -> VariantCounts:
    """Rows as JSON lines in which what is missing is left out."""
    named = zip(*columns_of(rows).values(), strict=True)
    fields = [dict(zip(columns_of(rows), row, strict=True)) for row in named]
    lines = [json.dumps({k: v for k, v in row.items() if v is not None}) for row in fields]
    path = put(folder / "log.jsonl", "\n".join(lines))
    return count_variants(path)


def read_utf16(folder: Path, rows: EventLog) -> VariantCounts:
    """Rows as two files in another encoding, with other orders of columns."""
    paths = []
    for number, names in enumerate([("case", "activity", "time"), ("time", "activity", "case")]):
        half = [row for row in rows if (len(row.case) + ord(row.activity or "a")) % 2 == number]
        lines = [names, *([getattr(row, name) or "" for name in names] for row in half)]
        text = "".join(",".join(line) + "\n" for line in lines)
        paths.append(put(folder / f"{number}.csv", text.encode("utf-16")))
    return count_variants(paths)


@pytest.mark.parametrize("read", [read_relation, read_jsonl, read_utf16])
def test_neighbours_stay_neighbours(read: Callable[[Path, EventLog], VariantCounts]) -> None:
    """A case that comes or goes changes how no other is read."""
    events = st.builds(
        Event,
        case=st.sampled_from(["1", "2", "33"]),
        activity=st.sampled_from("abé"),
        time=st.sampled_from([None, "2020-01-01T00:00:00", "2020-01-02T00:00:00"]),
    )
    done = []

    @given(rows=st.lists(events, min_size=2, max_size=8))
    @settings(
        max_examples=12, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def law(rows: list[Event]) -> None:
        with TemporaryDirectory() as folder:

            def counted(log: EventLog) -> VariantCounts:
                found = read(Path(folder), log)
                done.append(found.cases)
                return found

            assert not list(check_neighbours(counted, [rows], unit=ONE_CASE, most=2))

    law()
    assert len(done) > 6
