"""Columns that look like personal data are recognized by their names and by their values."""

from __future__ import annotations

import pytest

from sacofa.events.personal import personal_by_name, personal_by_values


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Patientenname", "names"), ("first_name", "names"), ("case:LastName", "names"),
        ("(case) Customer", "names"), ("Nachname", "names"), ("Prénom", "names"),
        ("Geburtsdatum", "birth"), ("date of birth", "birth"), ("BirthDate", "birth"),
        ("E-Mail", "contact"), ("Telefonnummer", "contact"), ("mobile phone", "contact"),
        ("Straße", "addresses"), ("Home Address", "addresses"),
        ("Bemerkung", "free text"), ("comments", "free text"), ("short_description", "free text"),
        ("patient_id", "identifiers"), ("PatientID", "identifiers"),
        ("Kundennummer", "identifiers"),
        ("Versicherten-Nr", "identifiers"), ("SSN", "identifiers"), ("customerid", "identifiers"),
    ],
)  # fmt: skip
def test_column_names_that_announce_personal_data_are_recognized(name: str, kind: str) -> None:
    """In several languages and spellings."""
    assert kind in (personal_by_name(name) or "")


@pytest.mark.parametrize(
    "name",
    [
        "case:channel", "org:group", "department", "Age", "Diagnose", "amount", "vehicleClass",
        "Product name", "department_id", "CustomerType", "case:AMOUNT_REQ", "LacticAcid", "Kosten",
        "points", "article", "responsible_section", "InfectionSuspected", "status", "priority",
    ],
)  # fmt: skip
def test_ordinary_column_names_are_accepted(name: str) -> None:
    """Process attributes, laboratory values, products and codes."""
    assert personal_by_name(name) is None


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["Anna Schmidt", "Peter Huber", "Ilse Bly", "Xaver Moik"], "names"),
        (["Schmidt, Anna", "Huber, P.", "Bly, Ilse"], "names"),
        (["Dr. Moik", "Frau Bly", "Hr. Kess"], "names"),
        (["a@b.org", "c.d@e.com", "f@g.de", "-"], "contact"),
        (["+49 176 1234567", "0176/1234567", "(0176) 7654321"], "contact"),
        (["20340012", "99321176", "10023345"], "identifiers"),
        (["1931-04-02", "1988-12-24", "2005-01-30"], "birth"),
        (["The patient called to say that the bill was already paid last week"] * 2
         + ["No answer after three calls, so a letter was sent to the old address",
            "Asked for a second appointment because the first one was cancelled"], "free text"),
    ],
)  # fmt: skip
def test_values_that_look_like_personal_data_are_recognized(values: list[str], kind: str) -> None:
    """Even where some values look otherwise."""
    assert kind in (personal_by_values(values) or "")


@pytest.mark.parametrize(
    "values",
    [
        ["Front Office", "Back Office", "Credit Card", "High Priority"],
        ["web", "shop", "phone"],
        ["2024-01-01", "2024-02-01", "2024-03-05"],
        ["1", "2", "3", "57"],
        ["Group 1", "Group 2", "Group 3", "EMPTY"],
        ["true", "false", "unknown"],
        ["A", "B"],
        [],
    ],
)
def test_ordinary_values_are_accepted(values: list[str]) -> None:
    """Categories, codes and dates of a log's own time."""
    assert personal_by_values(values) is None


def test_how_often_a_value_occurs_does_not_matter() -> None:
    """The set of distinct values decides, which the certificate names as public."""
    values = ["Anna Schmidt", "Front Office", "Back Office", "Desk", "Post"]
    assert personal_by_values([*values, *["Anna Schmidt"] * 100]) == personal_by_values(values)
