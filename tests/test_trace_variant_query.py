"""The way in for pm4py users: the same call, a frame that pm4py accepts."""

from __future__ import annotations

import inspect
from pathlib import Path

import pandas
import pm4py
import pytest
from pm4py.algo.anonymization.trace_variant_query import algorithm as theirs
from pm4py.algo.anonymization.trace_variant_query.variants import laplace

from sacofa import VariantCounts, count_variants, trace_variant_query
from sacofa.errors import SettingError
from sacofa.trace_variant_query import to_frame


@pytest.fixture(scope="module")
def receipt(logs: Path) -> pandas.DataFrame:
    """The receipt log as pm4py reads it."""
    return pm4py.read_xes(str(logs / "receipt.xes.gz"))


def variants_of(frame: pandas.DataFrame) -> dict[tuple[str, ...], int]:
    """Variants as pm4py counts them."""
    return dict(pm4py.get_variants(frame))


@pytest.mark.parametrize("variant", [theirs.Variants.SACOFA, "LAPLACE", theirs.Variants.LAPLACE])
def test_the_same_call_gives_a_frame_that_pm4py_accepts(
    receipt: pandas.DataFrame, variant: object
) -> None:
    """pm4py mines, filters and counts what comes back."""
    frame = trace_variant_query.apply(receipt, variant, {"epsilon": 1.0, "k": 10, "p": 3})
    assert {"case:concept:name", "concept:name", "time:timestamp"} <= set(frame.columns)
    net, start, end = pm4py.discover_petri_net_inductive(frame)
    assert net.transitions and start and end
    most = max(variants_of(frame).items(), key=lambda item: item[1])
    original = max(variants_of(receipt).items(), key=lambda item: item[1])
    assert most[0] == original[0]
    assert abs(most[1] - original[1]) < 40


def test_their_parameters_and_event_logs_are_understood(receipt: pandas.DataFrame) -> None:
    """pm4py's own Parameters and EventLog work as they do there."""
    from pm4py.algo.anonymization.trace_variant_query.variants.sacofa import Parameters

    log = pm4py.convert_to_event_log(receipt)
    settings = {Parameters.EPSILON: 100.0, Parameters.K: 30, Parameters.P: 1}
    frame = trace_variant_query.apply(log, theirs.Variants.LAPLACE, settings)
    assert variants_of(frame) == variants_of(receipt)


def test_a_frame_holds_the_variants_it_was_made_of() -> None:
    """Cases are numbered and ordered in time; pm4py counts the same variants."""
    variants = VariantCounts.of({("a", "b"): 2, ("b",): 1})
    frame = to_frame(variants)
    assert variants_of(frame) == {("a", "b"): 2, ("b",): 1}
    assert frame["case:concept:name"].tolist() == ["1", "1", "2", "2", "3"]
    assert frame.groupby("case:concept:name")["time:timestamp"].is_monotonic_increasing.all()
    assert len(to_frame(VariantCounts.of({}))) == 0


def test_certified_comes_with_its_certificate(receipt: pandas.DataFrame) -> None:
    """One call gives a frame for pm4py and what is promised of it."""
    frame, certificate = trace_variant_query.apply(
        receipt, "CERTIFIED", {"epsilon": 1.0, "return_certificate": True}
    )
    assert certificate.epsilon == 1 and certificate.mechanism == "certified"
    assert set(frame["sacofa:time"]) == {"private"} and "case:unfinished" in frame.columns
    with pytest.raises(SettingError, match="left out for CERTIFIED"):
        trace_variant_query.apply(receipt, "CERTIFIED", {"epsilon": 1.0, "p": 3})


def test_an_event_log_of_pm4py_is_a_log() -> None:
    """It is counted as the XES file would be that it came from."""
    frame = to_frame(VariantCounts.of({("a", "b"): 2, ("b",): 1}))
    log = pm4py.convert_to_event_log(frame)
    assert count_variants(log) == count_variants(frame)
    # Two traces of one name are two cases, and the order of a trace is meant.
    for trace in log:
        trace.attributes["concept:name"] = "same"
        trace._list.reverse()
    assert dict(count_variants(log)) == {("b", "a"): 2, ("b",): 1}
    assert count_variants(pm4py.convert_to_event_stream(frame)).cases == 3


def test_the_module_has_the_signature_and_the_members_of_pm4pys() -> None:
    """Whatever is reached from pm4py's module is reached from this one, with the same defaults."""
    ours, original = (inspect.signature(module.apply) for module in (trace_variant_query, theirs))
    assert list(ours.parameters) == list(original.parameters)
    assert trace_variant_query.DEFAULT_VARIANT.name == theirs.DEFAULT_VARIANT.name
    assert original.parameters["parameters"].default is ours.parameters["parameters"].default
    for variant in theirs.Variants:
        mine = trace_variant_query.Variants[variant.name].value
        keys = {each.name: each.value for each in variant.value.Parameters}
        assert {each.name: each.value for each in mine.Parameters} == keys
        assert list(inspect.signature(mine.apply).parameters) == list(
            inspect.signature(variant.value.apply).parameters
        )


PROGRAM = """
import warnings
import pm4py
from {module} import {name} as algorithm
frame = pm4py.format_dataframe(frame)
results = []
for log in (frame, pm4py.convert_to_event_log(frame)):
    for variant in (algorithm.Variants.SACOFA, algorithm.Variants.SACOFA.value):
        keys = algorithm.Variants.SACOFA.value.Parameters
        settings = {{keys.EPSILON: 10.0, "k": 4, keys.P: 2, "show_progress_bar": False, "x": 1}}
        results.append(algorithm.apply(log, variant=variant, parameters=settings))
empty = [{{"epsilon": 1.0}}, {{"epsilon": 5.0, "k": 3, "p": 10**6}}, {{"k": 3, "p": 10**6}}]
for settings in empty:
    try:
        algorithm.apply(frame, parameters=settings)
    except ValueError:
        results.append("ValueError")
"""


@pytest.mark.filterwarnings("ignore")
def test_to_replace_the_import_line_is_enough() -> None:
    """The same program runs with pm4py and with this package, to the same kind of result."""
    results = []
    for module, name in (
        ("pm4py.algo.anonymization.trace_variant_query", "algorithm"),
        ("sacofa", "trace_variant_query"),
    ):
        names = {"frame": to_frame(VariantCounts.of({("a", "b"): 300, ("a", "c", "b"): 200}))}
        exec(PROGRAM.format(module=module, name=name), names)
        results.append(names["results"])
    original, ours = results
    assert len(ours) == len(original) == 7
    for frame, expected in zip(ours[:4], original[:4], strict=True):
        assert set(expected.columns) <= set(frame.columns)
        assert max(variants_of(frame).items(), key=lambda item: item[1])[0] == ("a", "b")
    assert ours[4:] == original[4:] == ["ValueError"] * 3


def test_modules_of_pm4py_are_variants() -> None:
    """As pm4py takes them, and so does this package's own counterpart."""
    frame = to_frame(VariantCounts.of({("a", "b"): 300}))
    for variant in (laplace, trace_variant_query.laplace, trace_variant_query.Variants.LAPLACE):
        found = trace_variant_query.apply(frame, variant, {"epsilon": 10.0, "k": 4, "p": 9})
        assert set(variants_of(found)) == {("a", "b")}


def test_wrong_names_are_refused() -> None:
    """A misspelt variant is an error; a misspelt parameter is ignored as in pm4py, and named."""
    frame = to_frame(VariantCounts.of({("a",): 1}))
    with pytest.raises(SettingError, match="Did you mean"):
        trace_variant_query.apply(frame, "LAPLAC", {"k": 3})
    with pytest.warns(UserWarning, match="without effect: epsilom"):
        trace_variant_query.apply(frame, "CERTIFIED", {"epsilom": 1, "epsilon": 50})
    with pytest.raises(ValueError, match="epsilon"):
        trace_variant_query.apply(frame, "LAPLACE", {"epsilon": -1, "k": 3})
    with pytest.raises(ValueError, match="set k"):
        trace_variant_query.apply(frame, "LAPLACE", {"epsilon": 1})
