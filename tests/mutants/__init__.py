"""Mutants: small changes to the trusted core, each of which some test has to notice."""
