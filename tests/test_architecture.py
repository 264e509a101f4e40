"""The shape of the package: imports point down, and the public names are these."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import sacofa

ROOT = Path(sacofa.__file__).parent

LAYERS = [
    {"kernel", "_version", "__init__"},
    {"messages"},
    {"errors"},
    {"base"},
    {"rules"},
    {"synthesis"},
    {"mechanisms", "examples"},
    {"events", "ledger"},
    {"release"},
    {"evaluate", "audit", "trace_variant_query"},
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
    return found


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
    """Random numbers come from the kernel alone; elsewhere nobody imports or calls a generator."""
    for module in MODULES:
        text = (ROOT / module).read_text(encoding="utf-8")
        if part_of(module) not in ("kernel", "evaluate"):
            for word in ("np.random", "import random", "urandom"):
                assert word not in text, f"{module} uses {word}"


KERNEL_LINES = 3_000
"""The most lines that the kernel may have (docs/decisions/kernel.md)."""


def test_the_kernel_is_small() -> None:
    """The part that a reviewer has to read stays readable."""
    lines = sum(len(p.read_text("utf-8").splitlines()) for p in (ROOT / "kernel").rglob("*.py"))
    assert lines <= KERNEL_LINES


@pytest.mark.parametrize("module", [m for m in MODULES if m.parts[0] == "kernel"], ids=str)
def test_the_kernel_imports_numpy_and_the_standard_library_only(module: Path) -> None:
    """What the guarantee rests on depends on no other part of the package and no other library."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots = {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            roots = {str(node.module).split(".")[0]}
        else:
            continue
        assert roots <= sys.stdlib_module_names | {"numpy"}, f"{module} imports {roots}"
    assert imported_parts(module) <= {"kernel"}


CONFIDENTIAL = {"session", "Cases", "noise", "bits"}
"""What holds the cases of a log, answers queries about them or draws noise."""


@pytest.mark.parametrize("module", [m for m in MODULES if m.parts[0] == "synthesis"], ids=str)
def test_post_processing_cannot_reach_confidential_data(module: Path) -> None:
    """It receives noisy answers; neither cases nor the session can be imported there."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            words = {*str(node.module).split("."), *(alias.name for alias in node.names)}
            if "kernel" in words:
                assert not words & CONFIDENTIAL, f"{module} imports {words & CONFIDENTIAL}"


MOST_PUBLIC_NAMES = 28
"""The most names at the top level: this number only falls."""


def test_the_public_names_are_few_and_documented() -> None:
    """Everything in __all__ is there, and has a docstring that says what it is."""
    assert len(sacofa.__all__) <= MOST_PUBLIC_NAMES
    for name in sacofa.__all__:
        assert name == "__version__" or getattr(sacofa, name).__doc__, name


REPLACED = (
    "look", "looks", "pile", "piles", "dice", "tally", "tallies", "booking", "booked", "ruled",
    "proposer", "scattered", "silence", "informed", "strangers", "looked",
)  # fmt: skip
"""Words that the field has better ones for (docs/reference/glossary.md): no name holds them."""


def names_in(module: Path) -> set[str]:
    """Every name that a module gives to something, in parts: `read_log` is read and log."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    given: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            given.add(node.name)
        elif isinstance(node, ast.arg):
            given.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            given.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            given.add(node.attr)
    return {part for name in given for part in re.findall("[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_replaced_words_stay_out(module: Path) -> None:
    """One word per thing: what was renamed does not come back under its old name."""
    parts = {part.lower() for part in (*names_in(module), *module.with_suffix("").parts)}
    assert not parts & set(REPLACED)


def test_no_package_hides_a_cycle() -> None:
    """Modules of one package import one another in one direction, annotations included."""
    edges = {module: _own_imports(module) for module in MODULES}
    done: set[Path] = set()

    def visit(module: Path, above: tuple[Path, ...]) -> None:
        assert module not in above, " → ".join(map(str, (*above, module)))
        if module not in done:
            for other in edges[module]:
                visit(other, (*above, module))
            done.add(module)

    for module in MODULES:
        visit(module, ())


def _own_imports(module: Path) -> set[Path]:
    """The modules of the package that a module imports at its top, also for types only."""
    tree = ast.parse((ROOT / module).read_text(encoding="utf-8"))
    tops = list(tree.body)
    for node in tree.body:
        if isinstance(node, ast.If):
            tops += node.body
    here = list(module.with_suffix("").parts)
    if here[-1] == "__init__":
        return set()
    found = set()
    for node in tops:
        if isinstance(node, ast.ImportFrom) and node.level:
            stem = here[: -node.level] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                for path in (Path(*stem, alias.name), Path(*stem) if stem else Path("__init__")):
                    if (ROOT / path.with_suffix(".py")).is_file():
                        found.add(path.with_suffix(".py"))
    return found - {module}


@pytest.mark.parametrize("package", ["certified", "flow", "audit", "queries"])
def test_a_package_names_all_its_modules(package: str) -> None:
    """The docstring of a package that is read in order lists every module of it."""
    (folder,) = (path.parent for path in ROOT.rglob("__init__.py") if path.parent.name == package)
    text = (folder / "__init__.py").read_text(encoding="utf-8").split('"""')[1]
    for module in folder.glob("*.py"):
        assert module.stem == "__init__" or re.search(rf"\b{module.stem}\b", text), module
