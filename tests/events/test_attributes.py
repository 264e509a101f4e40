"""Which attributes are read: identifiers are not, by whatever name they are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sacofa.errors import SettingError
from sacofa.events import open_log

OF_CASES = {"attributes": {"who": {"values": ["ann"], "of": "case"}}}
XES = (
    '<log><trace><string key="who" value="ann"/><event><string key="concept:name" value="a"/>'
    '<string key="who" value="ann"/><string key="ward" value="x"/></event></trace></log>'
)


def in_table(folder: Path) -> Path:
    """A table with two columns that mean one thing."""
    row = {"case:nr": ["7"], "activity": ["a"], "case:who": ["ann"], "who": ["ann"], "ward": ["x"]}
    pd.DataFrame(row).to_csv(folder / "log.csv", index=False)
    return folder / "log.csv"


def in_xes(folder: Path) -> Path:
    """A case that says whose it is, as its event does."""
    (folder / "log.xes").write_text(XES)
    return folder / "log.xes"


def in_memory(folder: Path) -> Any:
    """The same as a log of pm4py."""
    obj = pytest.importorskip("pm4py.objects.log.obj")
    event = obj.Event({"concept:name": "a", "who": "ann", "ward": "x"})
    return obj.EventLog([obj.Trace([event], attributes={"who": "ann"})])


@pytest.mark.parametrize("source", [in_table, in_xes, in_memory])
@pytest.mark.parametrize("person", ["who", "case:who"])
@pytest.mark.parametrize("asked", ["who", "case:who"])
def test_a_person_is_no_attribute(source: Any, person: str, asked: str, tmp_path: Path) -> None:
    """With or without what says that cases have it."""
    log = source(tmp_path)
    if (source, person) == (in_xes, "case:who"):
        person = "who"
    with pytest.raises(SettingError, match="no identifier"):
        open_log(log, person=person, max_cases=1, attribute=(asked,),
                 **({"case": "case:nr"} if source is in_table else {}))  # fmt: skip


def test_a_case_is_no_attribute(tmp_path: Path) -> None:
    """Nor is one whose name, as it is declared, would be that of the case."""
    path = in_table(tmp_path)
    with pytest.raises(SettingError, match="no identifier"):
        open_log(path, case="case:nr", attribute=("nr",))
    with pytest.raises(SettingError, match="no identifier"):
        open_log(path, case="case:who", attribute=("who",), columns=OF_CASES)
    # A column of its own is no other.
    assert open_log(path, case="case:who", attribute=("who",)).attributes[0].key == "who"
    assert open_log(path, case="case:nr", attribute=("ward",)).attributes[0].key == "ward"


@pytest.mark.parametrize("asked", ["(case) Priority", "Priority", "case:Priority"])
def test_a_column_of_cases_may_be_called_as_in_disco(tmp_path: Path, asked: str) -> None:
    """A case has one value of it, however it is asked for."""
    path = tmp_path / "log.csv"
    path.write_text("case,activity,(case) Priority\n1,a,High\n1,b,Normal\n")
    (attribute,) = open_log(path, attribute=asked).attributes
    assert attribute.key == "case:Priority" and attribute.of_case


def test_the_user_decides_that_a_column_belongs_to_cases(tmp_path: Path) -> None:
    """With `case:` before the name of a column that the file has without it."""
    path = tmp_path / "log.csv"
    path.write_text("case,activity,ward\n1,a,x\n1,b,x\n")
    assert open_log(path, attribute="case:ward").attributes[0].of_case
    assert not open_log(path, attribute="ward").attributes[0].of_case
