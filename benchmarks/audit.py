"""How much each mechanism gives away, and how long it takes to find out.

    python benchmarks/audit.py [--runs N] [--workers N] [MECHANISM …]

Audits every mechanism at ε = 1 on the built-in pairs, and prints a table in Markdown. `certified`
must pass every pair and show at least 0.85 of its claim in some transcript; `sacofa` with rules
read off the log must be refuted with a bound of 3 or more.
"""

from __future__ import annotations

import argparse
import os
import time
from fractions import Fraction

from sacofa.audit import Finding, audit, built_in_pairs, make_minimal, persons_pair, threshold_of
from sacofa.kernel.unit import ONE_CASE
from sacofa.mechanisms.registry import MECHANISMS

PERSON = 3
SHOWN = 0.85
GIVEN_AWAY = 3


def audit_one(name: str, runs: int, workers: int) -> list[Finding]:
    """Audit one mechanism on all built-in pairs."""
    mechanism = make_minimal(name, {"epsilon": 1})
    findings: list[Finding] = []
    for pair in (*built_in_pairs(threshold_of(mechanism, ONE_CASE)), persons_pair(PERSON)):
        claims = mechanism.promise(pair.unit).epsilon is not None
        claimed = None if claims else Fraction(pair.unit.max_cases)
        findings += audit(mechanism, [pair], claimed=claimed, runs=runs, workers=workers)
    return findings


def is_as_it_should(name: str, findings: list[Finding]) -> bool:
    """Whether the outcome is the one that is known to be true."""
    most = max(finding.certified / finding.claimed for finding in findings)
    refuted = any(finding.refuted for finding in findings)
    if name == "sacofa":
        return refuted and max(finding.certified for finding in findings) >= GIVEN_AWAY
    return not refuted and most >= SHOWN


def processor_time() -> float:
    """The time that processors worked for this process, and for those it started and that ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def main() -> None:
    """Audit, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mechanisms", nargs="*", default=list(MECHANISMS))
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    for name in given.mechanisms:
        begun, worked = time.perf_counter(), processor_time()
        findings = audit_one(name, given.runs, given.workers)
        took, worked = time.perf_counter() - begun, processor_time() - worked
        print(
            f"\n**{name}**, {given.runs:,} runs on each log, {took:,.0f} s "
            f"({worked:,.0f} s of processor time, {given.workers} processes)\n"
        )
        print("| the logs differ by | seen | claimed ε | at least | verdict |")
        print("|---|---|---|---|---|")
        for one in findings:
            print(
                f"| {one.what} | {one.view} | {float(one.claimed):g} | {one.certified:.3f} "
                f"| {one.verdict} |"
            )
        print("\nAs it should be." if is_as_it_should(name, findings) else "\nNOT as it should be.")


if __name__ == "__main__":
    main()
