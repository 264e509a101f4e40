"""`certified`: a release whose ε is true for all of it; a file per step, read in this order.

* shares: how ε is divided;
* looks: every look at the log, each through noise;
* lengths: where cases are cut, if nobody says;
* steps: the semantics, which activity may come directly after which;
* histogram: the counts of all sequences, noised without being listed;
* named: which of them can be shown by name;
* chain: sequences drawn step by step;
* distance: how far two sequences are apart;
* candidates: the list of sequences that cases vote for;
* represent: which of them are released;
* spread: votes become whole numbers of cases;
* certified: all of it;
* plan: what all of it costs and buys, before a log is read.
"""

from .certified import Certified
from .plan import Plan, plan

__all__ = ["Certified", "Plan", "plan"]
