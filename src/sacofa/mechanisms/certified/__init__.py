"""`certified`: a release whose ε is true for all of it; a file per step, read in this order.

* budget: how ε is divided;
* settings: what can be set, and what follows from it;
* questions: the queries of a run, one by one;
* run: all of it, in order;
* verdict: what a release is good for: predicted errors, before and after a run;
* certified: the mechanism, its promise;
* plan: what all of it costs and buys, before a log is read.

The answers become a release in `sacofa.synthesis`.
"""

from .certified import Certified, plan
from .plan import Plan
from .verdict import foresee

__all__ = ["Certified", "Plan", "Verdict", "foresee", "plan"]
