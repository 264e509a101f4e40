"""Try all mutants, print a table and the score: `python -m tests.mutants [PART_OF_A_NAME ...]`.

Names are those of the table, such as `core 12`, or parts of a file's path. The status is 1 where
too few mutants are noticed, where one survives for no stated reason, or where one does not apply.
"""

from __future__ import annotations

import sys

from .run import ROOT, SCORE, MutantError, Result, read_mutants, score, try_all


def main(wanted: list[str]) -> int:
    """Try the mutants that are named, or all."""
    mutants = [
        mutant
        for mutant in read_mutants()
        if not wanted or any(part in (mutant.name, mutant.file) for part in wanted)
    ]
    results: list[Result] = []
    try:
        for result in try_all(ROOT, mutants):
            results.append(result)
            word = "killed  " if result.killed else "SURVIVED"
            line = f"{result.mutant.name:<10} {word} {result.mutant.title}\n{'':<20}{result.how}"
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    except MutantError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    killed = sum(result.killed for result in results)
    sys.stdout.write(f"{killed} of {len(results)} mutants killed: {score(results):.1%}\n")
    unexplained = [r for r in results if not r.killed and not r.mutant.survives]
    return 1 if unexplained or score(results) < SCORE else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
