"""The shape of the package: imports point down, and the public names are these."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sacofa

ROOT = Path(sacofa.__file__).parent

LAYERS = [
    {"errors", "__init__"},
    {"files", "variants"},
    {"prefixes"},
    {"logs", "privacy"},
    {"queries"},
    {"timing"},
    {"semantics"},
    {"mechanisms", "examples"},
    {"release"},
    {"evaluation", "audit", "trace_variant_query"},
    {"report"},
    {"web"},
    {"cli"},
    {"__main__"},
]
"""From the bottom up; a module imports from lower layers and from its own part only."""

HEIGHT = {part: height for height, layer in enumerate(LAYERS) for part in layer}
MODULES = sorted(p.relative_to(ROOT) for p in ROOT.rglob("*.py"))


def part_of(module: Path) -> str:
    """The part of the package that a module belongs to."""
    return module.parts[0].removesuffix(".py")


def imported_parts(module: Path) -> set[str]:
    """The parts of the package that a module imports, anywhere in it."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    here = ["sacofa", *module.with_suffix("").parts]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = here[: -node.level] if node.level else []
            stem = base + (node.module.split(".") if node.module else [])
            names = [[*stem, alias.name] for alias in node.names]
        else:
            continue
        found |= {name[1] for name in names if name[0] == "sacofa" and len(name) > 1}
    return found - {"__version__"}


@pytest.mark.parametrize("module", [m for m in MODULES if m.parts != ("__init__.py",)], ids=str)
def test_imports_point_down(module: Path) -> None:
    """A module imports from lower layers and from its own part only."""
    part = part_of(module)
    for other in imported_parts(module):
        assert other in HEIGHT, f"{module} imports {other}, which has no layer"
        assert other == part or HEIGHT[other] < HEIGHT[part], f"{module} imports {other}"


def test_every_part_has_a_layer() -> None:
    """No part of the package is outside the layers."""
    assert {part_of(module) for module in MODULES} <= set(HEIGHT)


def test_noise_is_drawn_in_one_module() -> None:
    """Random numbers come from privacy alone; elsewhere nobody imports or calls a generator."""
    for module in MODULES:
        text = (ROOT / module).read_text(encoding="utf-8")
        if part_of(module) not in ("privacy", "evaluation"):
            for word in ("np.random", "import random", "urandom"):
                assert word not in text, f"{module} uses {word}"


def test_the_public_names_exist_and_are_documented() -> None:
    """Everything in __all__ is there, and has a docstring that says what it is."""
    for name in sacofa.__all__:
        thing = getattr(sacofa, name)
        assert isinstance(thing, float) or thing.__doc__, name


def test_the_public_names_are_these() -> None:
    """Whoever changes the public interface says so here."""
    assert set(sacofa.__all__) == PUBLIC


PUBLIC = {
    "ADMIT_NONE", "BudgetError", "Certificate", "Certified", "ColumnsError", "Laplace", "Leak",
    "Ledger", "LedgerError", "Plan", "plan", "verify",
    "Log", "Mechanism", "MissingExtraError", "Noise", "Outcome", "OutputError", "Promise",
    "ReadError", "Release", "Rules", "RulesError", "Sacofa", "SacofaError", "Semantics",
    "SettingError", "Spend", "TooLargeError", "Unit", "VariantCounts", "anonymize",
    "count_variants", "inspect_variants", "learn_rules", "publish", "read_log", "read_rules",
    "scatter_variants", "write_log", "write_rules",
}  # fmt: skip
