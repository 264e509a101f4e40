"""What a command loads: what it needs, and nothing that only others do."""

from __future__ import annotations

import subprocess
import sys

from sacofa.cli.app import COMMANDS

FOR_PAGES = {"jinja2", "sacofa.report.build", "sacofa.evaluate"}
FOR_SOME_LOGS = {"lxml", "duckdb", "pandas", "polars", "pyarrow", "pyspark", "psycopg", "zstandard"}
FOR_NETWORKS = {"http.client", "urllib.request", "asyncio", "fastapi", "uvicorn"}
FOR_MEASURES = {"pm4py", "sklearn", "ot", "matplotlib", "scipy", "rapidfuzz"}
UNUSED = FOR_PAGES | FOR_SOME_LOGS | FOR_NETWORKS | FOR_MEASURES | {"rich.progress", "cryptography"}
"""What no command needs before it begins to work, but for those whose work are pages."""
MAKE_PAGES_OR_MEASURE = {"compare", "evaluate", "report", "reproduce"}


def loaded(statement: str) -> set[str]:
    """Every module that an interpreter has after a statement."""
    program = f"import sys\n{statement}\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return set(ran.stdout.split())


def commands_in(modules: set[str]) -> set[str]:
    """The commands among modules."""
    return {name for name, module in COMMANDS.items() if f"sacofa.cli.{module}" in modules}


def test_commands_load_what_they_need() -> None:
    """No library that is for other commands, for some logs or for some options."""
    most = sorted({*COMMANDS} - MAKE_PAGES_OR_MEASURE)
    modules = loaded(f"from sacofa.cli.app import make_app\nmake_app({most})")
    assert commands_in(modules) == {*most}
    assert not modules & UNUSED
    modules = loaded("from sacofa.cli.app import make_app\nmake_app()")
    assert commands_in(modules) == {*COMMANDS}
    assert not modules & (UNUSED - FOR_PAGES)


def test_the_version_loads_no_command() -> None:
    """Nor what all of them need."""
    modules = loaded("from sacofa.cli import main\ntry: main(['--version'])\nexcept SystemExit: 0")
    assert "sacofa.cli.app" in modules
    assert not commands_in(modules) and "numpy" not in modules


def test_a_line_loads_the_command_that_it_names() -> None:
    """Others stay where they are, but for those of its module and those that it builds on."""
    modules = loaded("from sacofa.cli import main\ntry: main(['inspect'])\nexcept SystemExit: 0")
    assert commands_in(modules) == {"columns", "generate", "inspect"}


def test_a_worker_loads_neither_pages_nor_schema() -> None:
    """It makes a page when it has a release; what was asked has been checked by the app."""
    assert not loaded("import sacofa.web.worker") & (UNUSED | {"pydantic", "typer", "rich"})
