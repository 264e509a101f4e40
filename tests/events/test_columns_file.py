"""Files of columns: what they say holds, and what is wrong in them is one clear line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sacofa.base.domains import Categories, Dates, Numbers, YesNo
from sacofa.errors import ReadError
from sacofa.events import ReadOptions, open_log, read_cases
from sacofa.events.columns_file import __doc__ as described
from sacofa.events.columns_file import read_columns
from sacofa.events.profile import starting_file


def test_the_file_that_the_module_shows_is_one(tmp_path: Path) -> None:
    """The example in the documentation of the module is read as it says."""
    assert described is not None
    text = described.partition("\n\n")[2]
    (tmp_path / "columns.toml").write_text(text)
    found = read_columns(tmp_path / "columns.toml")
    kinds = {name: type(declared.domain) for name, declared in found.attributes.items()}
    assert kinds == {
        "Age": Numbers,
        "case:channel": Categories,
        "org:resource": Categories,
        "urgent": YesNo,
        "birthday": Dates,
    }
    assert found.cases == 1000 and found.attributes["urgent"].of_case


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"type": "numbr"}, "Did you mean"),
        ({"type": "number", "edges": [1]}, "edges"),
        ({"type": "number", "edges": [1, "x"]}, "a number"),
        ({"type": "number", "edges": [1, float("inf")]}, "finite"),
        ({"type": "number", "edges": [1, 2], "min": 0}, "left out"),
        ({"type": "number", "min": 0}, "together"),
        ({"type": "number", "unit": 1}, "unit"),
        ({"type": "number", "min": 0, "max": 1, "unit": 0}, "unit"),
        ({"type": "date", "first": "2020-01-01"}, "last"),
        ({"type": "date", "first": "soon", "last": "later"}, "a date"),
        ({"type": "category", "values": "abc"}, "a list"),
        ({"type": "category", "values": [1.5]}, "texts"),
        ({"type": "category", "values": ["a"], "groups": {}}, "groups"),
        ({"type": "category", "values": ["a"], "edges": [1]}, "no such entry"),
        ({"of": "everybody"}, "one of case, event"),
        ("x", "a table"),
    ],
)
def test_what_cannot_be_is_named(entry: Any, words: str) -> None:
    """With the attribute, the value, and what it must be."""
    with pytest.raises(ReadError, match=words) as error:
        read_columns({"attributes": {"Age": entry}})
    assert "Age" in str(error.value)


@pytest.mark.parametrize("text", ["= nonsense", "cases = 0", "other = 1", "attributes = 1", "\x00"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    """In one line that names it."""
    path = tmp_path / "columns.toml"
    path.write_text(text)
    with pytest.raises(ReadError, match=r"columns\.toml"):
        read_columns(path)
    with pytest.raises(ReadError, match=r"missing\.toml"):
        read_columns(tmp_path / "missing.toml")


def test_a_starting_file_holds_names_and_types_alone(tmp_path: Path) -> None:
    """It can be used as it stands, and no value of the log is in it."""
    (tmp_path / "log.csv").write_text(
        'case,activity,timestamp,case:channel,order_id,enddate,org:resource,am"ount\n'
        "1,a,2020-01-01,SECRET,SECRET,SECRET,SECRET,SECRET\n"
    )
    text, notices = starting_file(tmp_path / "log.csv", ReadOptions())
    told = list(map(str, notices))
    assert "SECRET" not in text and "SECRET" not in "".join(told)
    assert [line.split(":")[0] for line in told] == ["order_id", "enddate", "org"]
    path = tmp_path / "columns.toml"
    path.write_text(text)
    assert len(read_columns(path).attributes) == 3
    log = open_log(tmp_path / "log.csv", attribute="channel", columns=path)
    assert log.attributes[0].key == "case:channel"


def test_the_type_of_objects_does_not_depend_on_them() -> None:
    """Numbers that a frame of pandas holds as objects are text, as they are beside any text."""
    pandas = pytest.importorskip("pandas")

    def domain_of(values: list[object]) -> object:
        column = pandas.Series(values, dtype="object")
        frame = pandas.DataFrame({"case": ["1", "2", "3"], "activity": ["a"] * 3, "code": column})
        columns = open_log(frame, attribute=["code"]).columns
        assert columns is not None
        return type(columns.attributes[0].domain)

    assert domain_of([1, 2, 3]) == domain_of([1, 2, "z"])


def test_the_holder_is_told_of_values_that_may_not_be(tmp_path: Path) -> None:
    """A declared value that is misspelt would lose all of its cases without a word."""
    rows = [f"{i},a,2024-05-01,{'Web' if i % 2 else 'shop'},{i},ann" for i in range(9)]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["case,activity,time,channel,amount,who", *rows]), encoding="utf-8")
    columns = tmp_path / "columns.toml"
    columns.write_text(
        "[attributes.channel]\ntype = 'category'\nvalues = ['web', 'shop']\n"
        "[attributes.amount]\ntype = 'number'\nmin = 0\nmax = 4\nunit = 1\n",
        encoding="utf-8",
    )
    told: list[str] = []
    opened = open_log(log, attribute=("channel", "amount", "who"), columns=columns)
    read_cases(opened, notify=lambda note: told.append(str(note)))
    assert told == [
        'values of channel outside its domain are released as "other": "Web"',
        'values of amount outside its domain are left out: "5", "6", "7", "8"',
    ]
