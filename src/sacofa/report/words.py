"""Terms that only the program knows, said so that everybody understands them."""

from __future__ import annotations

import re

TERMS = (
    ("The upper bound on max_length", "The upper bound on the length of cases"),
    ("the number of empty cells that reach a threshold too", "also for what no case ever did"),
    (r"With max_length given", "Where a greatest length is given"),
    (r"\bmax_length\b", "the greatest length"),
)
"""What texts of certificates say, and what pages say instead."""
LABELS = {
    "max_length": "greatest length of a case",
    "epsilon": "ε asked for",
    "level_epsilon": "ε of one level",
    "time_share": "part of ε for times",
    "attribute_share": "part of ε for attributes",
    "granularity": "times are written as",
    "calendar": "months in which cases begin",
    "order_penalty": "how frequent an order must be",
    "rules": "public rules",
}
"""What settings are called on pages; others by their own name."""
VOTES = (
    "Votes: each case has one vote, however long it is, and divides it over what it did; rare "
    "behaviour can weigh more than common behaviour. One case changes all totals together by one "
    "at most."
)
"""Explains what the account calls votes."""


def plain_terms(text: str) -> str:
    """Replace terms in a sentence."""
    for pattern, words in TERMS:
        text = re.sub(pattern, words, text)
    return text


def label_of(setting: str) -> str:
    """What a setting is called on pages."""
    return LABELS.get(setting, setting.replace("_", " "))
