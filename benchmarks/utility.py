"""How useful `certified` is beside the papers' mechanisms: medians of all measures, 10 runs each.

    python benchmarks/utility.py LOGS [FOLDER]

LOGS holds the paper's logs; the table of runs is kept in FOLDER, where work goes on if it was
stopped. At each ε, `certified` spends ε in all. The others spend it at every level: the same
number costs them more, and where rules are read off the log no finite ε holds. They have the
thresholds of the paper: "sacofa" prunes as its text says, "sacofa as published" as its program
does.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from sacofa.evaluation.claims import CERTIFIED
from sacofa.evaluation.experiment import carry_out
from sacofa.evaluation.reproduction import Reproduction, find_logs
from sacofa.evaluation.runs import Run
from sacofa.evaluation.summary import Summary
from sacofa.evaluation.table import RunTable
from sacofa.logs import count_variants

EPSILONS = ("1", "0.1")
SERIES = ("laplace", "sacofa", CERTIFIED)


def utility_runs() -> list[Run]:
    """The reproduction's runs at the two prices, with both ways of pruning."""
    runs = [run for run in Reproduction(prune_finished=True).runs() if not run.epsilon]
    for prune_finished in (True, False):
        for run in Reproduction(prune_finished=prune_finished).runs():
            if run.epsilon not in EPSILONS or run.series not in SERIES:
                continue
            if prune_finished:
                runs.append(run)
            elif run.series != CERTIFIED:
                runs.append(replace(run, series=f"{run.series} as published"))
    return runs


def main(arguments: list[str]) -> None:
    """Measure, and print the table."""
    if not arguments:
        sys.exit("usage: python benchmarks/utility.py LOGS [FOLDER]")
    folder = Path(arguments[1]) if len(arguments) > 1 else Path("utility")
    originals = {name: count_variants(path) for name, path in find_logs(Path(arguments[0])).items()}
    runs = [run for run in utility_runs() if run.log in originals]
    rows = carry_out(runs, originals, RunTable(folder / "runs.csv"), progress=_say)
    print(file=sys.stderr)
    print("\n".join(Summary(rows).table()))


def _say(done: int, total: int) -> None:
    print(f"\r{done} of {total} runs", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
