"""Work for a standalone Spark cluster: a program that the tests start.

    python -m tests.logs.spark.on_cluster MASTER LOG SETTINGS

prints, as JSON, what came of it.
"""

from __future__ import annotations

import json
import os
import sys
from fractions import Fraction
from typing import Any

from sacofa import Certified, anonymize
from sacofa.logs import count_variants, distribute_variants, open_log
from sacofa.variants import VariantCounts


def where(number: int, part: VariantCounts) -> tuple[str, str]:
    """A job that tells which Python does it, and for which executor."""
    # Each executor works in a folder of its own.
    return sys.prefix, os.getcwd()


def main(master: str, log: str, settings: str) -> None:
    """Count a log after a shuffle, and release it from the cluster and from here."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for key, value in json.loads(settings).items():
        builder = builder.config(key, value)
    session: Any = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    frame = session.read.parquet(log).repartition(4)
    mechanism = Certified(epsilon=Fraction(1), max_length=3)
    here = count_variants(open_log(frame))
    with distribute_variants(open_log(frame)) as there:
        places = there.map_parts(where)
        same = (
            anonymize(there, mechanism, seed=3).variants
            == anonymize(here, mechanism, seed=3).variants
        )
    answer = {
        "variants": [[list(variant), count] for variant, count in here],
        "pythons": sorted({python for python, _ in places}),
        "executors": len({executor for _, executor in places}),
        "driver": sys.prefix,
        "same": same,
    }
    sys.stdout.write(json.dumps(answer) + "\n")
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
