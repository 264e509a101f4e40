"""The header of a table is found below titles; files of any name are looked into."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sacofa.errors import ColumnsError, ReadError, SettingError
from sacofa.events import ReadOptions, count_variants, open_log
from sacofa.events.columns import find_header

from .test_joined_times import times_of

TABLE = "Fall-Nr.;Maßnahme;Zeit\n1;Prüfung;31.01.2024 09:30\n1;Ende;31.01.2024 12:00\n"
TIMES = ["2024-01-31T09:30:00", "2024-01-31T12:00:00"]
Cells = list[list[str | float | None]]
SHEET: Cells = [
    ["Bericht"],
    [],
    ["Erstellt am", "01.02.2024"],
    ["Ticket", "Vorgang", "Datum", "Uhrzeit"],
    ["1", "a", 45322.0, 0.5],
    ["1", "b", 45322.0, 9.5 / 24],
]


def put(path: Path, data: str | bytes) -> Path:
    """Write a file."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def xlsx(path: Path, *sheets: tuple[str, Cells]) -> Path:
    """A workbook in which the third column holds dates, and the fourth times of day."""

    def cell(place: int, value: str | float | None) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c s="{place - 1}"><v>{value}</v></c>'

    with zipfile.ZipFile(path, "w") as archive:
        names = "".join(f'<sheet name="{name}" r:id="r{i}"/>' for i, (name, _) in enumerate(sheets))
        archive.writestr("xl/workbook.xml", f'<w xmlns:r="r">{names}</w>')
        links = "".join(
            f'<Relationship Id="r{i}" Target="worksheets/s{i}.xml"/>' for i in range(len(sheets))
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f"<r>{links}</r>")
        formats = '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="21"/>'
        archive.writestr("xl/styles.xml", f"<s><cellXfs>{formats}</cellXfs></s>")
        for i, (_, rows) in enumerate(sheets):
            text = "".join(
                f'<row r="{number}">{"".join(cell(i, value) for i, value in enumerate(row))}</row>'
                for number, row in enumerate(rows, start=1)
                if row
            )
            archive.writestr(f"xl/worksheets/s{i}.xml", f"<w>{text}</w>")
    return path


def ods(path: Path, *sheets: tuple[str, Cells]) -> Path:
    """The same as LibreOffice writes it."""

    def cell(place: int, value: str | float | None) -> str:
        if value is None:
            return "<c:table-cell/>"
        if isinstance(value, str):
            return f'<c:table-cell c:value-type="string"><c:p>{value}</c:p></c:table-cell>'
        if place == 2:
            return '<c:table-cell c:value-type="date" c:date-value="2024-01-31"/>'
        minutes = round(value * 24 * 60)
        time = f"PT{minutes // 60:02}H{minutes % 60:02}M00S"
        return f'<c:table-cell c:value-type="time" c:time-value="{time}"/>'

    text = ""
    for name, rows in sheets:
        lines = "".join(
            f"<c:table-row>{''.join(cell(i, value) for i, value in enumerate(row))}</c:table-row>"
            for row in rows
        )
        text += f'<c:table c:name="{name}">{lines}</c:table>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", f'<c:s xmlns:c="c">{text}</c:s>')
    return path


WRITERS: dict[str, Callable[..., Path]] = {"xlsx": xlsx, "ods": ods}


@pytest.mark.parametrize("kind", WRITERS)
def test_a_spreadsheet_with_titles_is_read(kind: str, tmp_path: Path) -> None:
    """Its header is found, and cells with a date and with a time of day are joined."""
    path = WRITERS[kind](tmp_path / f"log.{kind}", ("Tabelle1", SHEET))
    assert times_of(path) == TIMES
    told: list[str] = []
    count_variants(open_log(path), notify=lambda note: told.append(str(note)))
    assert "2 rows above the header were skipped" in told
    assert times_of(path, skip_rows=3) == TIMES
    with pytest.raises(ColumnsError, match="columns there: 1, a, 2024-01-31"):
        open_log(path, skip_rows=4)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("sheet", ["Daten", "2", 2])
def test_a_sheet_is_chosen_by_name_or_number(kind: str, sheet: Any, tmp_path: Path) -> None:
    """Otherwise the first is read; one that is not there is refused with those that are."""
    path = WRITERS[kind](tmp_path / f"log.{kind}", ("Info", [["nothing"]]), ("Daten", SHEET))
    assert times_of(path, sheet=sheet) == TIMES
    with pytest.raises(ColumnsError, match="columns there: nothing"):
        open_log(path)
    with pytest.raises(ReadError, match='has no sheet "Date"; sheets there: "Info", "Daten"'):
        open_log(path, sheet="Date")


@pytest.mark.parametrize(
    "titles",
    [
        "",
        "Bericht Österreich\n",
        'Bericht "Wien"\n\n',
        '"Bericht\nÖsterreich"\n',
        "Bericht;;\nErstellt am;01.02.2024;\n;;\n",
        "sep=;\nBericht\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_a_text_table_with_titles_is_read(titles: str, encoding: str, tmp_path: Path) -> None:
    """In any encoding, and with any line ends."""
    text = titles + TABLE
    assert times_of(put(tmp_path / "log.csv", text.encode(encoding))) == TIMES
    crlf = text.replace("\n", "\r\n").encode(encoding)
    assert times_of(put(tmp_path / "crlf.csv", crlf)) == TIMES


def test_lines_to_skip_can_be_given(tmp_path: Path) -> None:
    """They are lines of the file; nothing is looked for then."""
    path = put(tmp_path / "log.csv", "A;B;C\n\n" + TABLE)
    assert times_of(path, skip_rows=2) == TIMES
    with pytest.raises(ColumnsError, match="columns there: A, B, C"):
        open_log(path, skip_rows=0)
    rows = put(tmp_path / "rows.csv", "Bericht\n" + TABLE.partition("\n")[2])
    assert times_of(rows, skip_rows=1, header="case,activity,time") == TIMES
    with pytest.raises(SettingError, match="skip_rows"):
        ReadOptions(skip_rows=-1)
    with pytest.raises(SettingError, match="sheet"):
        open_log(path, sheet="1")


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        ([["case", "activity"], ["1", "a"]], 0),
        ([["title"], ["case", "activity"]], 1),
        ([["title"], ["unknown", "names", "here"], ["1", "a", "b"]], 1),
        ([["by", "day", "2024"], ["Case ID", "Activity", "Time", "a", "b", "c"]], 1),
        # No row of a case is as wide as to be taken for the header of a table that has one.
        ([["x", "y", "z"], ["Case ID", "Activity", "Time"]], 0),
        ([["x", "y", "z"], ["1", "2", "3"], ["Case ID", "Activity", "Time"]], 0),
        ([["a"], ["1"], ["2"]], 0),
        ([], 0),
    ],
)
def test_rows_of_cases_are_taken_for_no_header(rows: list[list[str]], place: int) -> None:
    """Only rows above the header decide where it is."""
    assert find_header(rows) == place


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("log.txt", TABLE, None),
        ("log.dat", TABLE.replace(";", "\t"), None),
        ("log", TABLE.encode("utf-16"), None),
        ("log.xls", TABLE.replace(";", "\t"), None),
        ("log.xls", bytes.fromhex("d0cf11e0a1b11ae1"), "old format: save it as .xlsx or CSV"),
        ("log.xls", "<html><table></table></html>", "is a web page, whatever it is called"),
        ("log.bin", bytes(range(32)), 'unknown suffix ".bin"'),
    ],
)
def test_files_of_other_names_are_looked_into(
    name: str, data: str | bytes, message: str | None, tmp_path: Path
) -> None:
    """What is a log is read, and what is none is refused with the remedy."""
    path = put(tmp_path / name, data)
    if message is None:
        assert times_of(path) == TIMES
    else:
        with pytest.raises(ReadError, match=message):
            open_log(path)


def test_formats_are_told_by_how_files_begin(tmp_path: Path) -> None:
    """Spreadsheets, XES and JSON lines, too."""
    sheet = xlsx(tmp_path / "log.download", ("a", SHEET))
    assert open_log(sheet).source.format == "xlsx"
    xes = '<log><trace><event><string key="concept:name" value="a"/></event></trace></log>'
    assert open_log(put(tmp_path / "log.export", xes)).source.format == "xes"
    row = '{"case": "1", "activity": "a", "time": "2024-01-31"}\n'
    assert open_log(put(tmp_path / "log.rows", row)).source.format == "jsonl"
