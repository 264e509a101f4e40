"""XES is read as a stream, as it is meant, and hostile files are refused."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sacofa.errors import ColumnsError, ReadError, SettingError
from sacofa.events import count_variants, open_log
from sacofa.kernel.unit import Unit
from sacofa.kernel.variants import VariantCounts

NAMESPACE = ' xmlns="http://www.xes-standard.org/"'


def xes(*traces: str, namespace: str = NAMESPACE, before: str = "") -> str:
    return f"{before}<log{namespace}>{''.join(traces)}</log>"


def trace(*events: str, own: str = "") -> str:
    return f"<trace>{own}{''.join(events)}</trace>"


def event(name: str | None, time: str | None = None, more: str = "") -> str:
    parts = [more]
    if name is not None:
        parts.append(f'<string key="concept:name" value="{name}"/>')
    if time is not None:
        parts.append(f'<date key="time:timestamp" value="{time}"/>')
    return f"<event>{''.join(parts)}</event>"


def write(tmp_path: Path, text: str | bytes, name: str = "log.xes") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("namespace", [NAMESPACE, "", ' xmlns="http://code.deckfour.org/xes"'])
def test_namespaces_make_no_difference(namespace: str, tmp_path: Path) -> None:
    """Files with the standard's namespace, another one or none are read alike."""
    path = write(tmp_path, xes(trace(event("a"), event("b")), trace(), namespace=namespace))
    assert count_variants(path) == VariantCounts.of({("a", "b"): 1, (): 1})


def test_a_prefixed_namespace(tmp_path: Path) -> None:
    """A namespace may also have a prefix."""
    text = (
        '<x:log xmlns:x="http://www.xes-standard.org/"><x:trace><x:event>'
        '<x:string key="concept:name" value="a"/></x:event></x:trace></x:log>'
    )
    assert count_variants(write(tmp_path, text)) == VariantCounts.of({("a",): 1})


def test_only_an_events_own_attributes_count(tmp_path: Path) -> None:
    """Attributes inside attributes, of the trace and of the log are not activities."""
    nested = (
        '<string key="x" value="y"><string key="concept:name" value="inner"/></string>'
        '<list key="l"><values><string key="concept:name" value="listed"/></values></list>'
    )
    own = '<string key="concept:name" value="case 1"/>'
    text = xes(
        '<global scope="event"><string key="concept:name" value="default"/></global>',
        '<string key="concept:name" value="the log"/>',
        trace(event("a", more=nested), event("b"), own=own),
    )
    assert count_variants(write(tmp_path, text)) == VariantCounts.of({("a", "b"): 1})


def test_cases_of_one_name_are_two_cases(tmp_path: Path) -> None:
    """Every trace is a case, also where names repeat or are missing."""
    own = '<string key="concept:name" value="same"/>'
    path = write(tmp_path, xes(trace(event("a"), own=own), trace(event("a"), own=own), trace()))
    assert count_variants(path) == VariantCounts.of({("a",): 2, (): 1})


def test_activities_from_several_attributes(tmp_path: Path) -> None:
    """Parts are joined with a plus sign; parts that would run together are refused."""

    def two(name: str, step: str) -> str:
        return event(name, more=f'<string key="lifecycle:transition" value="{step}"/>')

    both = ("concept:name", "lifecycle:transition")
    path = write(tmp_path, xes(trace(two("a", "start"), two("a", "complete"))))
    found = count_variants(open_log(path, activity=both))
    assert found == VariantCounts.of({("a+start", "a+complete"): 1})
    assert count_variants(path) == VariantCounts.of({("a",): 1})
    path = write(tmp_path, xes(trace(two("a+b", "c"), two("a", "b+c"))))
    with pytest.raises(ReadError, match="both be called"):
        count_variants(open_log(path, activity=both))


def test_order_by_time_keeps_ties_as_they_are(tmp_path: Path) -> None:
    """Time stamps are compared as times, whatever their zone, and ties stay in file order."""
    path = write(
        tmp_path,
        xes(
            trace(
                event("d", "2020-01-02T00:00:00Z"),
                event("c", "2020-01-01T12:00:00.500+00:00"),
                event("z", "2020-01-01T10:00:00+00:00"),
                event("a", "2020-01-01T12:00:00+02:00"),
                event("y", "2020-01-01T10:00:00"),
            )
        ),
    )
    assert count_variants(open_log(path, order="time")) == VariantCounts.of(
        {("z", "a", "y", "c", "d"): 1}
    )
    assert count_variants(path) == VariantCounts.of({("d", "c", "z", "a", "y"): 1})


def test_surplus_cases_of_a_person_are_dropped(tmp_path: Path) -> None:
    """The first cases of each person are kept; the unknown are persons of their own."""

    def own(person: str | None) -> str:
        return "" if person is None else f'<string key="who" value="{person}"/>'

    who = '<string key="who" value="ann"/>'
    path = write(
        tmp_path,
        xes(
            trace(event("a"), own=own("ann")),
            trace(event("b"), own=own("bob")),
            trace(event("c", more=who), event("c")),
            trace(event("d"), own=own("ann")),
            *[trace(event("e"))] * 4,
        ),
    )
    kept = count_variants(open_log(path, person="who", max_cases=2))
    assert kept == VariantCounts.of(
        {("a",): 1, ("b",): 1, ("c", "c"): 1, ("e",): 4}, unit=Unit(person="who", max_cases=2)
    )


def test_the_person_of_a_case_is_the_first_that_is_not_blank(tmp_path: Path) -> None:
    """The case says it, or else its events in their order; blanks name nobody."""

    def who(person: str) -> str:
        return f'<string key="who" value="{person}"/>'

    path = write(
        tmp_path,
        xes(
            trace(event("a", "2020-01-02", who("bob")), event("b", "2020-01-01", who("ann"))),
            trace(event("c", more=who("ann")), own=who("&#9; ")),
            trace(event("d", more=who("ann")), own=who("bob")),
        ),
    )
    told: list[str] = []
    log = open_log(path, person="who", max_cases=1)
    assert dict(count_variants(log, notify=lambda note: told.append(str(note)))) == {
        ("a", "b"): 1,
        ("c",): 1,
    }
    assert [line.split(":")[0] for line in told] == [
        "the time stamps of 1 case contradict the order of the events, which is kept",
        "2 cases with more than one person",
        "1 case left out, of persons with more than 1",
    ]
    timed = open_log(path, person="who", max_cases=1, order="time")
    assert dict(count_variants(timed)) == {("b", "a"): 1, ("d",): 1}


@pytest.mark.parametrize(
    ("stamps", "disordered"),
    [
        (["2020-01-01T10:00:00Z", "2020-01-01T10:00:00Z", "2020-01-02T00:00:00Z"], 0),
        (["2020-01-01T10:00:01.000+02:00", "2020-01-01T10:00:00.000+02:00"], 1),
        (["2020-01-01T12:00:00+02:00", "2020-01-01T11:00:00+00:00"], 0),
        (["2020-01-01T11:00:00+00:00", "2020-01-01T12:00:00+02:00"], 1),
        (["2020-01-01T10:00:00.5Z", "2020-01-01T10:00:00.25Z"], 1),
        (["2020-01-01T10:00:00.25Z", "2020-01-01T10:00:00.5Z"], 0),
        (["2020-01-02", None, "2020-01-01"], 1),
        (["2020-01-01", None, "2020-01-02"], 0),
        ([None, None], 0),
    ],
)
def test_times_that_contradict_the_file_are_told(
    stamps: list[str | None], disordered: int, tmp_path: Path
) -> None:
    """The order of the file is kept, and cases whose times go back are counted."""
    case = trace(*(event("abc"[i], stamp) for i, stamp in enumerate(stamps)))
    path = write(tmp_path, xes(case, trace(event("x", "2020-01-01"))))
    told: list[str] = []
    count_variants(path, notify=lambda note: told.append(str(note)))
    assert len(told) == disordered and all("of 1 case contradict" in line for line in told)
    told.clear()
    # Who asks for the order of time is told nothing of that kind.
    if any(stamps):
        count_variants(open_log(path, order="time"), notify=lambda note: told.append(str(note)))
        assert [line for line in told if "contradict" in line] == []


BOMB = '<!DOCTYPE log [<!ENTITY a "aaaaaaaaaa">{}]>'.format(
    "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
    )
)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        ("case,activity\n1,a\n", "broken XML"),
        ("<html><body/></html>", "not XES: it begins with <html>"),
        (xes(trace(event("a")))[:-10], "broken XML"),
        (xes(trace(event("a")), before='<!DOCTYPE log SYSTEM "file:///etc/passwd">'), "DOCTYPE"),
        (xes(trace(event("&x;")), before='<!DOCTYPE log [<!ENTITY x "y">]>'), "DOCTYPE"),
        (xes(trace(event("&j;")), before=BOMB), "DOCTYPE|broken XML"),
        (xes(trace(event("&unknown;"))), "broken XML"),
        (xes(trace(event("a"), event(None))), "case 1 has an event without concept:name"),
        (xes(trace(), trace(event("a")), trace(event("\x01"))), "broken XML"),
        (b"\xff\xfe\x00", "broken XML"),
        (xes(trace(event("a")), xes(trace(event("b")))), "has a log inside the log"),
    ],
)  # fmt: skip
def test_bad_files(text: str | bytes, what: str, tmp_path: Path) -> None:
    """What is no XES, or no safe XES, is one clear line."""
    path = write(tmp_path, text)
    with pytest.raises(ReadError, match=what) as caught:
        count_variants(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_attributes_are_found_at_once(tmp_path: Path) -> None:
    """What is asked for must be there: activities at the first event, others anywhere."""
    path = write(tmp_path, xes(trace(), trace(event("a"))))
    with pytest.raises(ColumnsError, match=r'"name".*there: concept:name'):
        open_log(path, activity="name")
    with pytest.raises(ColumnsError, match="time:timestamp"):
        open_log(path, order="time")
    with pytest.raises(ColumnsError, match=r'"when"'):
        open_log(path, timestamp="when")
    with pytest.raises(ColumnsError, match=r'"who"'):
        open_log(path, person="who", max_cases=1)
    # Starts would be paid for that nobody can read.
    with pytest.raises(ColumnsError, match=r'"stage"'):
        open_log(path, lifecycle="stage")
    with pytest.raises(SettingError, match="each trace is a case"):
        open_log(path, case="concept:name")
    late = trace(event("a", "2020-01-01", '<string key="who" value="x"/>'))
    path = write(tmp_path, xes(*[trace(event("a"))] * 50, late))
    log = open_log(path, person="who", max_cases=1, order="time")
    assert count_variants(log).cases == 51


def test_wrong_time_stamps(tmp_path: Path) -> None:
    """Events without a time that can be read come last; a file without any time is refused."""
    path = write(tmp_path, xes(trace(event("a", "yesterday"))))
    assert count_variants(path).cases == 1
    with pytest.raises(ReadError, match=r"no time stamp.*can be read.*order='file'"):
        count_variants(open_log(path, order="time"))
    some = (event("c"), event("b", "soon"), event("a", "2020-01-01"))
    told: list[str] = []
    log = open_log(write(tmp_path, xes(trace(*some))), order="time")
    assert dict(count_variants(log, notify=lambda note: told.append(str(note)))) == {
        ("a", "c", "b"): 1
    }
    assert told == ["2 events have no time stamp that can be read: they come last in their case"]


def test_gzip_is_told_by_its_bytes(tmp_path: Path) -> None:
    """A packed file is unpacked whatever it is called, also one in several members."""
    text = xes(trace(event("a"))).encode()
    packed = gzip.compress(text[:20]) + gzip.compress(text[20:]) + b"\0" * 7
    assert count_variants(write(tmp_path, packed)).cases == 1
    assert count_variants(write(tmp_path, text, "log.xes.gz")).cases == 1


def test_truncated_and_damaged_gzip(tmp_path: Path) -> None:
    """A packed file that is cut short anywhere is never taken for a whole one."""
    text = xes(*[trace(event(f"a{i}")) for i in range(2000)]).encode()
    packed = gzip.compress(text)
    for size in (11, 50, len(packed) // 2, len(packed) - 1):
        with pytest.raises(ReadError, match="cut short"):
            count_variants(write(tmp_path, packed[:size]))
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0xFF
    with pytest.raises(ReadError, match=r"damaged|broken XML"):
        count_variants(write(tmp_path, bytes(broken)))


def test_gzip_bombs_are_stopped_unless_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that unpacks beyond belief is refused; whoever trusts it can read it."""
    monkeypatch.setattr("sacofa.events.bounded_file.UNCHECKED_BYTES", 1 << 16)
    path = write(tmp_path, gzip.compress((xes(trace(event("a"))) + " " * 10_000_000).encode()))
    with pytest.raises(ReadError, match="unpacks to more than"):
        count_variants(path)
    assert count_variants(open_log(path, trusted=True)).cases == 1


def test_a_single_case_beyond_belief_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A case that would fill memory is refused; whoever trusts the file can read it."""
    monkeypatch.setattr("sacofa.events.xes_form.MAX_CASE_BYTES", 100_000)
    path = write(tmp_path, xes(trace(*[event("a")] * 10_000)))
    with pytest.raises(ReadError, match="single case"):
        count_variants(path)
    assert count_variants(open_log(path, trusted=True)).events == 10_000
    many = write(tmp_path, xes(*[trace(*[event("a")] * 100)] * 100))
    assert count_variants(many).events == 10_000


def test_progress_runs_from_nought_to_one(tmp_path: Path) -> None:
    """Progress never goes back and ends at one, over several files too."""
    for name in ("a.xes", "b.xes"):
        write(tmp_path, xes(*[trace(event("a"))] * 3000), name)
    seen: list[float] = []
    count_variants(open_log(tmp_path / "*.xes"), progress=seen.append)
    assert seen == sorted(seen) and seen[-1] == 1.0 and len(set(seen)) > 4


# The largest memory by getrusage() would count that of the parent process, too.
PEAK = """
import sys
from pathlib import Path
from sacofa.events import count_variants
cases = count_variants(sys.argv[1]).cases
print(cases, Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Thirty times the file takes about the same memory."""
    if not Path("/proc/self/status").exists():
        pytest.skip("measuring memory needs /proc")
    one = trace(*[event(f"step {i}", "2020-01-01T00:00:00Z") for i in range(20)])
    peaks = {}
    for cases in (1_000, 30_000):
        path = write(tmp_path, xes(*[one] * cases), f"log{cases}.xes")
        answer = subprocess.run(
            [sys.executable, "-c", PEAK, str(path)],
            capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout.split()  # fmt: skip
        assert int(answer[0]) == cases
        peaks[cases] = int(answer[1]) / 1024
    size = path.stat().st_size / 2**20
    assert size > 60
    assert peaks[30_000] - peaks[1_000] < 8
