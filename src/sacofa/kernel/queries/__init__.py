"""Queries: tables of cells, each with a declared sensitivity.

* protocol: the interfaces of queries and answers;
* flow: case count, lengths, activities, directly-follows pairs, nearest candidate;
* attributes: values of attributes by activity or family of cases, and in pairs;
* durations, times: public bins of durations; cycle time, gaps, elapsed times, arrivals;
* histogram: the counts of all sequences, noised without listing the sequences.
"""
