"""Building blocks between the kernel and everything else.

* files, temporary: files that appear whole or not at all, and locks;
* epsilon, periods, domains, cells: ε, periods and public values as people write them;
* batches, distance: cases and variants laid out, joined and compared;
* described, extensions, words: docstrings, entry points and lists of words, read at run time.
"""
