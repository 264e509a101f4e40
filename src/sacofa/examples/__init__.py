"""Logs and a model that come with the package, to try things on."""

from __future__ import annotations

from pathlib import Path

from ..kernel.variants import VariantCounts
from .hospital import hospital, hospital_csv

__all__ = ["hospital", "hospital_csv", "hospital_model", "running_example"]


def hospital_model() -> bytes:
    """The process of the fictional hospital, as BPMN."""
    return (Path(__file__).parent / "hospital.bpmn").read_bytes()


def running_example() -> VariantCounts:
    """The 49 hospital cases of Table 1 of the SaCoFa paper."""
    return VariantCounts.of(
        {
            ("Register", "Triage", "Surgery", "Release"): 20,
            ("Register", "Triage", "Surgery", "Antibiotics", "Release"): 12,
            ("Register", "Triage", "Antibiotics", "Antibiotics", "Release"): 6,
            ("Register", "Triage", "Antibiotics", "Surgery", "Release"): 5,
            ("Register", "Triage", "Consultation", "Release"): 2,
            ("Register", "Triage", "Consultation", "Surgery", "Release"): 4,
        }
    )
