"""Which columns look like identifiers, by their names alone."""

from __future__ import annotations

import pytest

from sacofa.events.profile import why_left_out


@pytest.mark.parametrize(
    "name",
    ["orderId", "order_id", "Order ID", "patientid", "case:PatientID", "sessionUUID", "Invoice Nr"],
)
def test_identifiers_are_left_out(name: str) -> None:
    """However the words of a name are put together."""
    assert "identifier" in str(why_left_out(name, "string"))


@pytest.mark.parametrize("name", ["LacticAcid", "paid", "Fluid", "case:valid", "COVID", "amount"])
def test_other_words_may_end_so(name: str) -> None:
    """A laboratory value is no identifier."""
    assert why_left_out(name, "float") is None
