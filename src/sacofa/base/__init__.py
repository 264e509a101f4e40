"""Building blocks between the kernel and everything else.

* files, temporary: atomic files, private folders and locks;
* epsilon, periods, domains, cells: parsing of ε, periods and public values;
* batches, distance: conversion, concatenation and comparison of cases and variants;
* described, extensions, words: docstrings, entry points and word lists.
"""
