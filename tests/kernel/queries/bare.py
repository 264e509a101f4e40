"""Sessions to test with: a promise of one line, and noise that is none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sacofa.kernel.accounting import Spend
from sacofa.kernel.bits import SeededBits
from sacofa.kernel.cases import Cases
from sacofa.kernel.noise import Noise
from sacofa.kernel.queries.protocol import Ints
from sacofa.kernel.session import Session
from sacofa.kernel.variants import DistributedVariants, VariantCounts


class Bare(Noise):
    """No noise at all, to see what it would have been added to."""

    def laplace(self, epsilon: Fraction, size: int) -> Ints:
        """Zeros."""
        return np.zeros(size, dtype=np.int64)


def session_of(
    log: VariantCounts | DistributedVariants,
    price: Fraction = Fraction(1),
    noise: Noise | None = None,
) -> Session:
    """A session that may spend a price on the line `all`."""
    promised = (Spend(what="everything", amount=price, line="all"),)
    return Session(Cases(variants=log), promised, noise or Bare(SeededBits(1)))
