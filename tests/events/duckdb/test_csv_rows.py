"""Rows of text tables: no quotation mark, line end or first row decides how others are read."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sacofa.audit.neighbours import distance_of
from sacofa.errors import ReadError
from sacofa.events import count_variants, open_log
from sacofa.events.duckdb import csv_rows
from sacofa.events.duckdb.csv_files import read_heads
from sacofa.events.source import Source

HEAD = "case,activity,time\n"
MIDDLE = "".join(f"{i},m,2025-01-0{i}\n" for i in range(2, 9))


def put(path: Path, text: str | bytes) -> Path:
    """Write a file as it is."""
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def checked(path: Path, block: int) -> str | None:
    """Check a file that is read in blocks of this size; give the complaint."""
    source = Source(name="log", format="csv", content=(path,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_rows, "BLOCK", block)
        try:
            csv_rows.check_rows(read_heads(source), trusted=False)
        except ReadError as error:
            return str(error)
    return None


def test_rows_are_those_of_rfc_4180(tmp_path: Path) -> None:
    """Any text is taken if the grammar has it, wherever a block ends, and no other."""
    rng = random.Random(1)
    field = r'(?:"(?:[^"]|"")*"|[^",\r\n]*)'
    seen: Counter[bool] = Counter()
    for _ in range(1_500):
        end = rng.choice(["\n", "\r\n"])
        parts, weights = ["a", ",", '"', '""', end, "\n", "\r"], [3, 3, 3, 3, 3, 0.2, 0.2]
        text = "".join(rng.choices(parts, weights, k=rng.randrange(12)))
        row = f"{field}(?:,{field})*"
        meant = re.fullmatch(f"{row}(?:{end}{row})*", text) is not None
        path = put(tmp_path / "log.csv", f"case,activity{end}{text}")
        taken = {checked(path, block) is None for block in (1, 2, 5, 1 << 20)}
        assert taken == {meant}, text
        seen[meant] += 1
    assert min(seen.values()) > 200


@pytest.mark.parametrize(
    ("first", "last", "what"),
    [
        ('1,"a,2025-01-01\n', '9,b",2025-01-09\n', "line 9 has a quotation mark inside a field"),
        ("", '9,say "x",2025-01-09\n', "line 9 has a quotation mark inside a field"),
        ('1,"a"b,2025-01-01\n', "", "line 2 has a quotation mark inside a field"),
        ('1,"a,2025-01-01\n', "", "in line 2 a quotation mark is opened and never closed"),
        ("1,a,2025-01-01\r\n", "", "line 2 ends otherwise than the first"),
        ("1,a\rb,2025-01-01\n", "", "line 2 ends otherwise than the first"),
        ("1,a\n", "", "line 2 has 2 columns, not 3"),
        ("1,a,2025-01-01,x\n", "", "line 2 has 4 columns, not 3"),
    ],
)
def test_what_is_wrong_and_where(first: str, last: str, what: str, tmp_path: Path) -> None:
    """A mark that one case leaves open would make the others part of it: one of both is refused."""
    path = put(tmp_path / "log.csv", HEAD + first + MIDDLE + last)
    if first and last:
        assert count_variants(path).cases == 1
        put(path, HEAD + MIDDLE + last)
        first = ""
    with pytest.raises(ReadError, match=what) as caught:
        count_variants(path)
    assert "\n" not in str(caught.value) and '"' not in str(caught.value).replace(str(path), "")
    put(path, HEAD + MIDDLE)
    assert count_variants(path).cases == 7


def test_lines_that_end_with_cr_alone(tmp_path: Path) -> None:
    """The message says what they are; it is no matter of encoding."""
    with pytest.raises(ReadError, match="its lines end with CR alone: save it with LF or CRLF"):
        open_log(put(tmp_path / "log.csv", (HEAD + MIDDLE).replace("\n", "\r")))


def test_line_breaks_in_a_name_say_nothing_of_lines(tmp_path: Path) -> None:
    """Neither in the header nor in the first row."""
    for text in ('case,activity,"a\r\nb"\n1,"x\r\ny",\n2,z,\n', 'case,activity,"a\nb"\r\n2,z,\r\n'):
        assert dict(count_variants(put(tmp_path / "log.csv", text)))["z",] == 1
    first = put(tmp_path / "log.csv", '1,"x\r\ny"\n2,z\n')
    assert count_variants(open_log(first, header="case,activity")).cases == 2


def test_names_of_folders_are_no_columns(tmp_path: Path) -> None:
    """A folder called c0=9 would stand for the first column."""
    folder = tmp_path / "c0=9"
    folder.mkdir()
    assert count_variants(put(folder / "log.csv", HEAD + MIDDLE)).cases == 7


def test_a_first_row_that_is_a_case_decides_nothing(tmp_path: Path) -> None:
    """Of two files without a header that differ by a row, both are read alike, or one is not."""
    rng = random.Random(2)
    fields = ["a", "b;c", "d,e", "f|g", "h;i;j", "k\tl", "Prüfung", ""]
    read = 0

    def counted(lines: list[bytes]) -> Any:
        nonlocal read
        path = put(tmp_path / "log.csv", b"\n".join([*lines, b""]))
        try:
            found = count_variants(open_log(path, header="case,activity,note", case="case"))
        except ReadError:
            return None
        read += 1
        return found

    for _ in range(150):
        lines = []
        for number in range(rng.randrange(2, 5)):
            comma = rng.choice(",,,;")
            row = comma.join([f"{number}", *rng.choices(fields, [4, 1, 1, 1, 1, 1, 1, 1], k=2)])
            lines.append(row.encode(rng.choice(["utf-8", "utf-8", "cp1252"])))
        whole = counted(lines)
        for place in range(len(lines)):
            rest = counted(lines[:place] + lines[place + 1 :])
            if whole is not None and rest is not None:
                assert distance_of(whole, rest) <= 1, lines
    assert read > 100


def test_what_the_first_row_leaves_open_can_be_said(tmp_path: Path) -> None:
    """A line `sep=,`, the format, or the encoding by its name."""
    row = "1,a;b;c,2025-01-01\n"
    names = "case,activity,time"
    with pytest.raises(ReadError, match="let it begin with a line such as sep=;"):
        open_log(put(tmp_path / "log.csv", row), header=names)
    said = put(tmp_path / "log.csv", f"sep=,\n{row}")
    assert list(count_variants(open_log(said, header=names))) == [(("a;b;c",), 1)]
    tabs = put(tmp_path / "log.tsv", "1\ta;b\t2025-01-01\n")
    assert list(count_variants(open_log(tabs, header=names))) == [(("a;b",), 1)]
    letters = put(tmp_path / "log.csv", "1,Prüfung,2025-01-01\n".encode("utf-16-le"))
    with pytest.raises(ReadError, match="is not written in utf-8: name its encoding"):
        open_log(letters, header=names)
    assert count_variants(open_log(letters, header=names, encoding="utf-16-le")).cases == 1
