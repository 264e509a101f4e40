"""Building blocks between the kernel and everything else.

* files, locks, temporary: files that appear whole or not at all;
* epsilon, periods, domains, cells: ε, periods and public values as people write them;
* batches, distance: cases and variants laid out, joined and compared;
* described, extensions: docstrings and entry points that are read at run time.
"""
