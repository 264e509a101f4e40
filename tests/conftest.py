"""What tests share: the public logs of the paper, where they are at hand."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Property tests try the same examples in every run, however slow the machine is: a run that fails
# says that something changed. Other examples: `pytest --hypothesis-profile=random`.
settings.register_profile(
    "random", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("fixed", settings.get_profile("random"), derandomize=True)
settings.load_profile("fixed")

# Spark's machines live for seconds here: compiling their code well takes longer than they do. What
# is compiled needs more room than Java has by itself: without, it would be thrown away and compiled
# again and again. To check that Spark's classes are well formed is not what tests are for.
os.environ.setdefault(
    "JAVA_TOOL_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m "
    "-XX:MetaspaceSize=256m -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
)
# Tests run beside each other, and hundreds of them start the program: threads of linear algebra
# would wait for work in each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests and the programs that they start are compiled once, also where the environment says that
# nothing compiled is kept: to compile takes as long as to run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

LOGS = Path(os.environ.get("SACOFA_LOGS", Path(__file__).parents[2] / "shared" / "logs"))


@pytest.fixture(scope="session")
def logs() -> Path:
    """The folder with the paper's three logs; tests that need it are skipped where it is absent."""
    if not (LOGS / "receipt.xes.gz").exists():
        pytest.skip(f"the paper's logs are not in {LOGS} (set SACOFA_LOGS to their folder)")
    return LOGS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests on Spark first, so one process alone starts it, then slow ones: none ends last."""

    def comes_later(item: pytest.Item) -> tuple[bool, bool]:
        spark = "spark" in item.nodeid or "session" in getattr(item, "fixturenames", ())
        return not spark, item.get_closest_marker("slow") is None

    items.sort(key=comes_later)


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what was loaded: it stays to the end."""
    gc.collect()
    gc.freeze()
