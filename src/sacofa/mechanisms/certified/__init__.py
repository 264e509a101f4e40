"""`certified`: a release whose ε is true for all of it; a file per step, read in this order.

* budget: how ε is divided;
* settings: what can be set, and what follows from it;
* lengths: where cases are truncated, if nobody says;
* edits: what one change makes of a usual sequence;
* steps: the semantics, which activity may come directly after which;
* occurrences: which activities stand out, and which happen once;
* frequent: which variants can be shown as they are;
* sampler: uniform numbers for what is made of answers;
* chain, rule_walker: sequences drawn step by step, within public rules;
* candidates, earlier: the list of sequences that cases vote for, with what earlier releases showed;
* medoids: which of them are released;
* size: the number of cases, by all answers;
* apportion: votes become whole numbers of cases;
* shrink: what cells likely hold, given all answers;
* evidence, fit: the numbers of cases that explain all answers at once;
* smooth: the same where hardly two cases are alike;
* orderly: which orders are dropped, and which variants are the orderly core;
* presence: activities that the released cases lack are inserted;
* times: times of the released events, under their share of ε;
* margins, share_margins: how far released figures may be off;
* verdict: what a release is good for: predicted errors, before and after a run;
* questions: what is asked, query by query;
* run: all of it, in order;
* attributes: what cases and events have besides;
* certified: the mechanism, its promise;
* plan: what all of it costs and buys, before a log is read.
"""

from .certified import Certified
from .orderly import mark_core
from .plan import Plan, plan
from .verdict import foresee

__all__ = ["Certified", "Plan", "Verdict", "foresee", "mark_core", "plan"]
