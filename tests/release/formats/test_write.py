"""What is written can be read back, to the last letter."""

from __future__ import annotations

import gzip
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sacofa.errors import OutputError
from sacofa.events import count_variants, open_log
from sacofa.kernel.variants import VariantCounts
from sacofa.mechanisms.released import ReleasedLog
from sacofa.release.formats import FORMATS, tables
from sacofa.release.formats.blocks import START, event_blocks
from sacofa.release.formats.xes import xes_parts
from sacofa.synthesis.released import ReleasedColumn
from tests.events.nasty import NAMES, texts, variant_counts, xml_texts
from tests.written import write_variants

ALL = [each.suffix for each in FORMATS]
EVENT_LOGS = [each.suffix for each in FORMATS if each.holds_events]
few = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def again(variants: VariantCounts, path: Path) -> VariantCounts:
    write_variants(variants, path, force=True)
    return count_variants(path)


def held(variants: VariantCounts, suffix: str) -> VariantCounts:
    """What a file can hold: cases without events are in JSON alone."""
    return variants if suffix == ".json" else variants.where(variants.lengths > 0)


@pytest.mark.parametrize("suffix", ALL)
def test_nasty_names_survive_every_format(suffix: str, tmp_path: Path) -> None:
    """Every nasty name, alone and in company, comes back as it was, and so do cut cases."""
    variants = VariantCounts.of(
        {(name, "x", name): i + 1 for i, name in enumerate(NAMES)} | {(): 2},
        truncated={(): 3, ("x",): 1},
    )
    assert again(variants, tmp_path / f"log{suffix}") == held(variants, suffix)


@few
@given(variants=variant_counts(xml_texts))
@pytest.mark.parametrize("suffix", [".xes", ".xes.gz"])
def test_xes_round_trip(suffix: str, variants: VariantCounts, tmp_path: Path) -> None:
    """XES gives back any variants with events whose names XML can hold."""
    assert again(variants, tmp_path / f"log{suffix}") == held(variants, suffix)


@few
@given(variants=variant_counts(texts))
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_table_round_trip(suffix: str, variants: VariantCounts, tmp_path: Path) -> None:
    """CSV and Parquet give back any variants with events, JSON gives back any."""
    assert again(variants, tmp_path / f"log{suffix}") == held(variants, suffix)


@pytest.mark.parametrize("suffix", EVENT_LOGS)
def test_time_stamps_keep_the_order(suffix: str, tmp_path: Path) -> None:
    """Ordering a written log by its made-up time stamps changes nothing."""
    variants = VariantCounts.of({("b", "a", "b"): 70, ("a",): 3})
    write_variants(variants, tmp_path / f"log{suffix}")
    assert count_variants(open_log(tmp_path / f"log{suffix}", order="time")) == variants


@pytest.mark.parametrize("suffix", ALL)
def test_same_variants_same_bytes(suffix: str, tmp_path: Path) -> None:
    """Writing twice gives the same bytes, whatever the files are called."""
    variants = VariantCounts.of({("b", "a"): 300, ("a",): 3, (): 1}, truncated={("b",): 2})
    write_variants(variants, tmp_path / f"one{suffix}")
    write_variants(variants, tmp_path / f"two{suffix}")
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"two{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_fits_one_row_group_is_written_as_what_does_not(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With or without a file for what is on the way, the same bytes come out."""
    variants = VariantCounts.of({("a", "b"): 500, ("a",): 30}, truncated={("b",): 7})
    paths = [tmp_path / f"{most}{suffix}" for most in (10**6, 1)]
    for path in paths:
        monkeypatch.setattr(tables, "MOST_AT_HAND", int(path.stem))
        write_variants(variants, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert count_variants(open_log(paths[1])) == variants


def test_layout_tells_nothing_of_the_cases(tmp_path: Path) -> None:
    """The columns are the same whether or not a case was cut."""
    for name, variants in (
        ("none", VariantCounts.of({("a",): 1})),
        ("some", VariantCounts.of({("a",): 1}, truncated={("a",): 1})),
    ):
        write_variants(variants, tmp_path / f"{name}.csv")
    first = [(tmp_path / f"{name}.csv").read_text().splitlines()[0] for name in ("none", "some")]
    assert (
        first[0]
        == first[1]
        == ("case:concept:name,concept:name,time:timestamp,case:unfinished,sacofa:time")
    )


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1000])
def test_blocks_hold_all_events_in_order(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the blocks are, frequent variants come first, and no row lacks an activity."""
    monkeypatch.setattr("sacofa.release.formats.blocks.BLOCK", block)
    variants = VariantCounts.of({("a", "b", "c"): 3, (): 2, ("b",): 9, ("b", "b"): 1}, "abc")
    blocks = list(event_blocks(ReleasedLog(variants=variants)))
    assert all(len(b.case) <= max(block, 3) for b in blocks)
    case_ids, activity_ids, seconds = (
        np.concatenate([getattr(b, part) for b in blocks]).tolist()
        for part in ("case", "activity_id", "seconds")
    )
    start = int(START.timestamp())
    places = [time - start - case - 1 for case, time in zip(case_ids, seconds, strict=True)]
    expected, case = [], 0
    for ids, count in (((1,), 9), ((0, 1, 2), 3), ((1, 1), 1)):
        for _ in range(count):
            case += 1
            expected += [(case, p, i) for p, i in enumerate(ids)]
    assert list(zip(case_ids, places, activity_ids, strict=True)) == expected


@pytest.mark.parametrize("block", [1, 3, 1000])
def test_times_and_attributes_stay_with_their_case(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lie in the order of the variants, and files in that of frequency."""
    monkeypatch.setattr("sacofa.release.formats.blocks.BLOCK", block)
    variants = VariantCounts.of({("a", "b"): 2, (): 1, ("b",): 3}, "ab")
    assert list(variants.sequences()) == [(), (0, 1), (1,)]
    times = np.array([10, 11, 20, 21, 30, 40, 50])
    columns = tuple(
        ReleasedColumn(
            name="x", of_case=of_case, kind="int", texts=(), codes=np.arange(size, dtype=np.int32)
        )
        for of_case, size in ((True, 6), (False, 7))
    )
    log = ReleasedLog(variants=variants, times=times, columns=columns, starts=times - 5)
    blocks = list(event_blocks(log))
    rows = [
        tuple(row)
        for b in blocks
        for row in np.stack(
            [b.case, b.activity_id, b.seconds, *b.values, b.seconds - b.starts], axis=1
        ).tolist()
    ]
    assert rows == [
        (1, 1, 30, 3, 4, 5),
        (2, 1, 40, 4, 5, 5),
        (3, 1, 50, 5, 6, 5),
        (4, 0, 10, 1, 0, 5),
        (4, 1, 11, 1, 1, 5),
        (5, 0, 20, 2, 2, 5),
        (5, 1, 21, 2, 3, 5),
    ]


@pytest.mark.parametrize("suffix", ALL)
def test_no_variants_at_all(suffix: str, tmp_path: Path) -> None:
    """A release without cases is a file without cases."""
    assert again(VariantCounts.of({}), tmp_path / f"log{suffix}").cases == 0


@pytest.mark.parametrize("suffix", ALL)
def test_existing_files_are_not_overwritten(suffix: str, tmp_path: Path) -> None:
    """A file that is there stays as it is, unless forced."""
    path = tmp_path / f"log{suffix}"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        write_variants(VariantCounts.of({("a",): 1}), path)
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", [".xes", ".xes.gz"])
@pytest.mark.parametrize("name", ["a\x01", "\0", "\x0b", "\ufffe", "\ud800"])
def test_xes_refuses_what_xml_cannot_hold(suffix: str, name: str, tmp_path: Path) -> None:
    """A control character is an error that names the activity, and nothing is written."""
    with pytest.raises(OutputError, match=r"log\.xes"):
        write_variants(VariantCounts.of({(name,): 1}), tmp_path / f"log{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["log", "log.xlsx", "log.gz", "log.parquett", "log.tsv"])
def test_unknown_suffixes_are_refused(name: str, tmp_path: Path) -> None:
    """What cannot be written says what can."""
    with pytest.raises(OutputError, match=r"known are .*\.parquet"):
        write_variants(VariantCounts.of({("a",): 1}), tmp_path / name)


@pytest.mark.parametrize("suffix", [".xes", ".csv", ".parquet", ".json"])
def test_interrupt_leaves_nothing(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of writing leaves no file and no part of one."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_variants(VariantCounts.of({("a",): 1}), tmp_path / f"log{suffix}")
    assert not list(tmp_path.iterdir())


def test_gzip_names_neither_time_nor_file(tmp_path: Path) -> None:
    """The gzip header holds no time and no name."""
    write_variants(VariantCounts.of({("a",): 1}), tmp_path / "secret-name.xes.gz")
    packed = (tmp_path / "secret-name.xes.gz").read_bytes()
    assert packed[3] == 0 and packed[4:8] == b"\0\0\0\0"
    assert b"secret-name" not in packed + gzip.decompress(packed)


@pytest.mark.parametrize("name", ["org:group", "amount"])
def test_xes_declares_the_extension_that_an_attribute_is_of(name: str, tmp_path: Path) -> None:
    """Programs that know what groups are look for it."""
    column = ReleasedColumn(
        name=name, of_case=False, kind="string", texts=("x",), codes=np.zeros(2, np.int32)
    )
    write_variants(VariantCounts.of({("a",): 2}), tmp_path / "out.xes", columns=(column,))
    head = (tmp_path / "out.xes").read_text(encoding="utf-8").partition("<global")[0]
    assert ('name="Organizational" prefix="org"' in head) == name.startswith("org:")


SCHEMA = """
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"
    xmlns="http://www.xes-standard.org/" targetNamespace="http://www.xes-standard.org/">
  <xs:complexType name="any"><xs:attribute name="key" type="xs:Name" use="required"/>
    <xs:attribute name="value" type="xs:string" use="required"/></xs:complexType>
  <xs:complexType name="truth"><xs:attribute name="key" type="xs:Name" use="required"/>
    <xs:attribute name="value" type="xs:boolean" use="required"/></xs:complexType>
  <xs:complexType name="moment"><xs:attribute name="key" type="xs:Name" use="required"/>
    <xs:attribute name="value" type="xs:dateTime" use="required"/></xs:complexType>
  <xs:group name="attributes"><xs:choice>
    <xs:element name="string" type="any"/><xs:element name="boolean" type="truth"/>
    <xs:element name="date" type="moment"/></xs:choice></xs:group>
  <xs:complexType name="attributed"><xs:group ref="attributes" minOccurs="0" maxOccurs="unbounded"/>
    <xs:attribute name="scope" type="xs:NCName"/></xs:complexType>
  <xs:complexType name="extending"><xs:attribute name="name" type="xs:NCName" use="required"/>
    <xs:attribute name="prefix" type="xs:NCName" use="required"/>
    <xs:attribute name="uri" type="xs:anyURI" use="required"/></xs:complexType>
  <xs:complexType name="classifying"><xs:attribute name="name" type="xs:NCName" use="required"/>
    <xs:attribute name="keys" type="xs:token" use="required"/></xs:complexType>
  <xs:complexType name="traced"><xs:sequence>
    <xs:group ref="attributes" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="event" type="attributed" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType>
  <xs:element name="log"><xs:complexType><xs:sequence>
      <xs:element name="extension" type="extending" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="global" type="attributed" minOccurs="0" maxOccurs="2"/>
      <xs:element name="classifier" type="classifying" minOccurs="0" maxOccurs="unbounded"/>
      <xs:group ref="attributes" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="trace" type="traced" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
    <xs:attribute name="xes.version" type="xs:decimal" use="required"/>
    <xs:attribute name="xes.features" type="xs:token"/></xs:complexType></xs:element>
</xs:schema>
"""
"""What IEEE 1849 of 2016 and of 2023 both ask of a file, as far as it has such elements."""


def test_xes_follows_the_standard_and_declares_what_it_uses() -> None:
    """The order and types of elements are right, and the prefix of each key has its extension."""
    from lxml import etree

    variants = VariantCounts.of({("a", "b"): 2}, truncated={("a",): 1})
    core, begins = np.array([False, True]), np.array([5, 9, 20, 30, 40])
    group = ReleasedColumn(
        name="org:group", of_case=False, kind="string", texts=("x",), codes=np.zeros(5, np.int32)
    )
    log = ReleasedLog(
        variants=variants, times=begins, core=core, columns=(group,), starts=begins - 1
    )
    text = "".join(xes_parts(log)).encode()
    root = etree.fromstring(text)
    assert root.get("xes.version") == "1849.2023"
    etree.XMLSchema(etree.XML(SCHEMA)).assertValid(root)
    declared = {e.get("prefix"): e.get("uri") for e in root.iterchildren("{*}extension")}
    used = {key.partition(":")[0] for key in root.xpath("//@key") if ":" in key}
    assert used == set(declared)
    ours = etree.parse(str(files("sacofa.release.formats") / "sacofa.xesext")).getroot()
    assert ours.get("uri") == declared["sacofa"]
    defined = {f"sacofa:{key}" for key in ours.xpath("//@key")}
    assert defined == {key for key in root.xpath("//@key") if key.startswith("sacofa:")}
    page = Path(__file__).parents[3] / "docs" / "reference" / "formats.md"
    assert (files("sacofa.release.formats") / "sacofa.xesext").read_text() in page.read_text()


@given(st.integers(1, 200))
@settings(max_examples=10, deadline=None)
def test_xes_times_are_seconds_after_the_case(length: int) -> None:
    """The time stamp of an event is the start plus its case plus its place."""
    from datetime import datetime, timedelta

    from lxml import etree

    variants = VariantCounts.of({("a",) * length: 3})
    root = etree.fromstring("".join(xes_parts(ReleasedLog(variants=variants))).encode())
    for number, trace in enumerate(root.iterchildren("{*}trace"), start=1):
        stamps = [
            datetime.fromisoformat(date.get("value")) for date in trace.iterdescendants("{*}date")
        ]
        assert stamps == [START + timedelta(seconds=number + i + 1) for i in range(length)]
