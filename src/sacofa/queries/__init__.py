"""Questions to the secret log, as values, and the session that answers them through noise.

* protocol: what a query is, and what an answer is;
* flow: case count, lengths, activities, directly-follows votes, nearest candidate;
* attributes: which values attributes have, by activity or family, and in pairs;
* durations, times: public bins of durations; cycle time, gaps, elapsed times, arrivals;
* distance: how far two sequences are apart;
* cells, histogram: the counts of all sequences, noised without being listed;
* session: charges for a query, then answers it.
"""

from .flow import ActivityVotes, CaseCount, CaseLengths, NearestCandidate, StepVotes
from .histogram import AllSequences, Histogram
from .protocol import Answer, Query, SparseQuery
from .session import Session

__all__ = [
    "ActivityVotes",
    "AllSequences",
    "Answer",
    "CaseCount",
    "CaseLengths",
    "Histogram",
    "NearestCandidate",
    "Query",
    "Session",
    "SparseQuery",
    "StepVotes",
]
