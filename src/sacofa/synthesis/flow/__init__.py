"""Post-processing of answers about control flow, in the order in which a run uses it.

* tuning: the values of all parameters;
* answers: what single answers say: number and lengths of cases, activities, content of cells;
* steps: which activity may come directly after which;
* frequent: which variants are published individually;
* chain: sequences sampled step by step, within public rules;
* population: samples that are moved until they agree with the answers;
* candidates: the lists that cases vote for, with the likely changes of usual sequences;
* fit: the numbers of cases that explain all answers at once;
* release: rare disorder is dropped, numbers become whole, and the orderly core is marked.
"""
