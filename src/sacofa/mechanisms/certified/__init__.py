"""`certified`: a release whose ε is true for all of it; a file per step, read in this order.

* budget: how ε is divided;
* settings: what can be set, and what follows from it;
* lengths: where cases are truncated, if nobody says;
* steps: the semantics, which activity may come directly after which;
* frequent: which variants can be shown as they are;
* sampler: uniform numbers for what is made of answers;
* chain, rule_walker: sequences drawn step by step, within public rules;
* candidates: the list of sequences that cases vote for;
* medoids: which of them are released;
* apportion: votes become whole numbers of cases;
* run: all of it, query by query;
* certified: the mechanism, its promise;
* plan: what all of it costs and buys, before a log is read.
"""

from .certified import Certified
from .plan import Plan, plan

__all__ = ["Certified", "Plan", "plan"]
