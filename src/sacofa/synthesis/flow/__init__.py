"""Post-processing of answers about control flow, in the order in which a run uses it.

* lengths: where cases are truncated, if no length is declared;
* edits: the likely variations of a frequent sequence;
* steps: which activity may come directly after which;
* occurrences: which activities stand out from noise, and which repeat;
* frequent: which variants are published individually;
* sampler: uniform numbers for synthetic sequences;
* chain, rule_walker: sequences sampled step by step, within public rules;
* population: samples that are moved until they agree with the answers;
* candidates, earlier: the candidates that cases vote for, with those of earlier releases;
* size: the number of cases, from all answers;
* shrink: the expected content of cells, given all answers;
* evidence, estimate: the numbers of cases that explain all answers at once;
* apportion: they become whole numbers;
* medoids: which variants represent the others in the orderly core;
* orderly: which orders are dropped, and which variants are the orderly core;
* presence: activities that the released cases lack are inserted;
* margins: margins of error of the released figures.
"""
